// SPDX-License-Identifier: Apache-2.0
// gpu_sure_columns.cu - exact sums of outputs side by side, and of long rows as single columns, by levels alone (gpu_exact_sure.cuh): a lane has rows of a column, or of two of 16-bit floats, and no accumulator.
//
// Neighbours read neighbours, EACH rows of a lane at a time, the next ones asked for meanwhile. -DALONE=1: a lane has all rows of its outputs. Else a block has `across` lanes side by side and as many
// rows of them as it has threads for; their levels rise to one field and add up, some blocks share a set's rows, and `sure_finish` takes their sums in as numbers. What levels leave in
// doubt is added up again with digits: of up to -DMOST rows by a warp, of more by gpu_exact_columns.cu, for which a word for those of a block of `sure_finish` says whether some are.
#include "ops/reduce/gpu_exact_sure.cuh"

enum {
    EACH = IN == T_F16 ? 16 : 8, // rows of a lane at a time
    MOST_LOG = 20                // a block's sums are below so many of its numbers
};

struct columns {
    i64 log, block_log, merge_log;                    // of what a lane takes in, a block of a column, and `sure_finish` of it
    i64 k, step;                                      // rows, elements from one to the next
    i64 outputs, width, across, strips;               // outputs; lanes side by side; of a block, such strips
    i64 pieces, rows;                                 // blocks that share a strip's rows; rows of each
    i64 out_step;                                     // from one column's output to the next
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first; of strips without the last
};

#if SIDE == 2
typedef unsigned several;
__device__ __forceinline__ element column_of(several x, int c) { return (element)(c ? x >> 16 : x & 0xffff); }
#else
typedef element several;
__device__ __forceinline__ element column_of(several x, int) { return x; }
#endif

// A column's rows, `apart` bytes from one to the next.
struct a_column {
    const char *at;
    i64 apart;
    int k;
    __device__ element operator[](int i) const { return *(const element *)(at + i * apart); }
};

// Of arrays that begin between two words, too.
template <bool WORDS> __device__ __forceinline__ several load_of(const char *at) {
#if SIDE == 2
    if (!WORDS)
        return *(const unsigned short *)at | (unsigned)*(const unsigned short *)(at + 2) << 16;
#endif
    return *(const several *)at;
}

// Up to `most` rows of a lane, `mine` of which are there and `sure` for all lanes of its warp, `apart` bytes from one to the next.
template <bool WORDS> __device__ __forceinline__ void take_rows(const char *at, i64 apart, int sure, int most, int mine, int log, sure_levels (&l)[SIDE], int (&count)[SIDE]) {
    several ahead[EACH];
    const auto load = [&](int from) {
        if (from + EACH <= sure) {
#pragma unroll
            for (int j = 0; j < EACH; j++)
                ahead[j] = load_of<WORDS>(at + j * apart);
        } else {
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                ahead[j] = 0;
                if (from + j < mine)
                    ahead[j] = load_of<WORDS>(at + j * apart);
                else if (OMIT)
                    for (int c = 0; c < SIDE; c++)
                        count[c]--;
            }
        }
        at += EACH * apart;
    };
    load(0);
    for (int i = 0; i < most; i += EACH) {
        several here[EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++)
            here[j] = ahead[j];
        if (i + EACH < most)
            load(i + EACH);
#pragma unroll
        for (int c = 0; c < SIDE; c++) {
            double x[EACH];
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                bool counts;
                x[j] = value_of_part(column_of(here[j], c), 0, &counts);
                if (OMIT)
                    count[c] += counts;
            }
#if IN == T_F16
#pragma unroll
            for (int j = 0; j < EACH; j++)
                l[c].all[0] += x[j];
#else
            take_in(l[c], x, log);
#endif
        }
    }
#pragma unroll
    for (int c = 0; c < SIDE; c++) {
        if (!OMIT)
            count[c] = mine;
#if IN == T_F16
        if (!(fabs(l[c].all[0]) < 0x1p1023 * 2))
            l[c].met = l[c].all[0] != l[c].all[0] ? IS_NAN : l[c].all[0] > 0 ? PLUS : MINUS;
#endif
    }
}

__device__ __forceinline__ void begin(sure_levels &l, int log) {
    open(l, 1, log);
    if (IN == T_F16)
        l.all[0] = 0;
    l.met = 0;
}

#if ALONE
extern "C" __global__ void __launch_bounds__(BLOCK, AT_LEAST) sure_columns(const element *in, result *out, const columns p) {
    __shared__ i64 limbs[BLOCK / 32][1][LIMBS];
    __shared__ int flags[BLOCK / 32];
    const i64 number = ((i64)blockIdx.x * BLOCK + threadIdx.x) * SIDE;
    const bool there = number < p.outputs;
    const int k = (int)p.k, log = (int)p.log;
    sure_levels l[SIDE];
    int count[SIDE] = {};
    i64 at_in, at_out;
    place_of(p, there ? number : p.outputs - SIDE, at_in, at_out);
#pragma unroll
    for (int c = 0; c < SIDE; c++)
        begin(l[c], log);
    const char *from = (const char *)(in + at_in);
    if (SIDE == 1 || (u64)in % 4 == 0)
        take_rows<true>(from, p.step * (i64)sizeof(element), k, k, k, log, l, count);
    else
        take_rows<false>(from, p.step * (i64)sizeof(element), k, k, k, log, l, count);
#pragma unroll
    for (int c = 0; c < SIDE; c++) {
        double s[SURE_LEVELS];
        double value;
#pragma unroll
        for (int i = 0; i < SURE_LEVELS; i++)
            s[i] = IN != T_F16 ? sum_of_level(l[c], log, i) : i ? 0 : l[c].all[0];
        const bool sure = settle(s, l[c].met & DROPPED ? doubt_of(l[c].field, log) : 0, IN != T_F16 && l[c].great(), l[c].met, count[c], value);
        if (there && sure)
            out[at_out + c * p.out_step] = exact_result(value, 0);
        for (unsigned left = __ballot_sync(ALL, there && !sure); left; left &= left - 1) {
            const int whose = __ffs(left) - 1;
            const char *its = (const char *)__shfl_sync(ALL, (u64)from, whose) + c * sizeof(element);
            result *to = (result *)__shfl_sync(ALL, (u64)(out + at_out), whose) + c * p.out_step;
            put_alone(a_column{its, p.step * (i64)sizeof(element), k}, limbs[threadIdx.x / 32], &flags[threadIdx.x / 32], to);
        }
    }
}
#else
// What threads `across` apart have of one column, `rows` of them: afterwards the first `across` have all of it.
struct merging {
    double sums[SURE_LEVELS][BLOCK];
    int top[BLOCK], met[BLOCK], counts[BLOCK], doubts[BLOCK];
};

__device__ __forceinline__ void merge(sure_levels &l, double (&s)[SURE_LEVELS], int &count, int &doubt, int own_log, int log, bool idle, int across, int rows, merging &m) {
    const int t = threadIdx.x, c = t % across, row = t / across;
    __syncthreads();
    m.top[t] = m.met[t] = m.counts[t] = m.doubts[t] = 0;
    __syncthreads();
    if (!idle)
        atomicMax(&m.top[c], l.field);
    __syncthreads();
    if (!idle && (m.top[c] > l.field || log > own_log))
        rise(l, m.top[c], own_log, log);
    if (!idle) {
        atomicOr(&m.met[c], l.met);
        atomicAdd(&m.counts[c], count);
        atomicMax(&m.doubts[c], doubt);
    }
#pragma unroll
    for (int i = 0; i < SURE_LEVELS; i++)
        m.sums[i][t] = s[i] = idle ? 0 : sum_of_level(l, log, i);
    __syncthreads();
#pragma unroll 1
    for (int half = rows > 1 ? 1 << (31 - __clz(rows - 1)) : 0; half > 0; half /= 2) {
        if (row < half && row + half < rows)
#pragma unroll
            for (int i = 0; i < SURE_LEVELS; i++)
                m.sums[i][t] = s[i] += m.sums[i][half * across + t];
        __syncthreads();
    }
    if (t < across) {
        l.met = m.met[t];
        l.field = m.top[t];
        count = m.counts[t];
        doubt = m.doubts[t];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, AT_LEAST) sure_columns(const element *in, i64 *partial, const columns p) {
    __shared__ merging room;
    const int t = threadIdx.x, log = (int)p.log, across = (int)p.across, tall = BLOCK / across;
    const i64 block = blockIdx.x / p.pieces, first = blockIdx.x % p.pieces * p.rows, lane = block % p.strips * across;
    const int n = (int)(p.k - first < p.rows ? p.k - first : p.rows);
    sure_levels l[SIDE];
    int count[SIDE] = {};
    i64 at_in, at_out;
    place_of(p, block / p.strips, at_in, at_out);
    const bool idle = t >= tall * across || lane + t % across >= p.width; // works on what thread 0 does
    const int row = idle ? 0 : t / across, mine = (n - row + tall - 1) / tall;
    const char *from = (const char *)(in + at_in + (lane + (idle ? 0 : t % across)) * SIDE + (first + row) * p.step);
    const i64 apart = p.step * tall * (i64)sizeof(element);
#pragma unroll
    for (int c = 0; c < SIDE; c++)
        begin(l[c], log);
    if (SIDE == 1 || (u64)in % 4 == 0)
        take_rows<true>(from, apart, n / tall, (n + tall - 1) / tall, mine, log, l, count);
    else
        take_rows<false>(from, apart, n / tall, (n + tall - 1) / tall, mine, log, l, count);
#pragma unroll
    for (int c = 0; c < SIDE; c++) {
        double s[SURE_LEVELS];
        int doubt = 0;
#if IN == T_F16
        double sum[1] = {l[c].met ? 0 : l[c].all[0]};
        open(l[c], 1, log);
        take_in(l[c], sum, log);
#endif
        merge(l[c], s, count[c], doubt, log, (int)p.block_log, idle, across, tall, room);
        if (t >= across)
            continue;
        i64 *to = partial + blockIdx.x * (i64)SURE_LEFT * across * SIDE + t * SIDE + c;
#pragma unroll
        for (int i = 0; i < SURE_LEVELS; i++)
            to[i * across * SIDE] = __double_as_longlong(s[i]);
        to[SURE_LEVELS * across * SIDE] = (i64)count[c] << 16 | l[c].field << 4 | l[c].met;
    }
}

// `side` threads side by side have a column each, the others of a block the next pieces.
extern "C" __global__ void __launch_bounds__(BLOCK) sure_finish(const element *in, const i64 *partial, result *out, unsigned *marks, unsigned *arrived, const columns p, const int side) {
    __shared__ merging room;
    __shared__ i64 limbs[BLOCK / 32][1][LIMBS];
    __shared__ int flags[BLOCK / 32];
    __shared__ unsigned doubtful;
    const int t = threadIdx.x, log = (int)p.merge_log, c = t % side, rows = BLOCK / side, across = (int)p.across * SIDE;
    const i64 groups = (across + side - 1) / side, block = blockIdx.x / groups, first = blockIdx.x % groups * side, column = block % p.strips * across + first;
    const bool there = first + c < across && column + c < p.width * SIDE;
    sure_levels l;
    double s[SURE_LEVELS];
    int count = 0, doubt = 0;
    i64 at_in, at_out;
    place_of(p, block / p.strips, at_in, at_out);
    open(l, 1, log);
    l.met = 0;
    for (i64 turn = 0; turn < p.pieces; turn += rows) {
        const i64 piece = turn + t / side;
        double x[SURE_LEVELS] = {};
        i64 beside = 0;
        if (there && piece < p.pieces) {
            const i64 *its = partial + (block * p.pieces + piece) * SURE_LEFT * across + first + c;
#pragma unroll
            for (int i = 0; i < SURE_LEVELS; i++)
                x[i] = __longlong_as_double(its[i * across]);
            beside = its[SURE_LEVELS * across];
        }
        const int field = (int)(beside >> 4 & 0xfff), met = (int)beside & (IS_NAN | PLUS | MINUS);
        count += (int)(beside >> 16);
        l.met |= met;
        if (beside & DROPPED)
            doubt = max(doubt, doubt_of(field, (int)p.block_log));
#pragma unroll
        for (int i = 0; i < SURE_LEVELS; i++)
            x[i] = met ? 0 : x[i];
        take_in(l, x, log, GREATEST + MOST_LOG, !met && field > GREAT);
    }
    merge(l, s, count, doubt, log, log, !there, side, rows, room);
    bool unsure = false;
    if (t < side && there) {
        double value;
        const int pieces = doubt ? doubt + log : 0, own = l.met & DROPPED ? doubt_of(l.field, log) : 0, most = max(pieces, own);
        unsure = !settle(s, most ? most + 1 : 0, l.great(), l.met, count, value);
        if (!unsure)
            out[at_out + (column + c) * p.out_step] = exact_result(value, 0);
    }
    const unsigned those = __ballot_sync(ALL, unsure); // of up to 32 columns, which are the first warp's
    if (t == 0)
        doubtful = those;
    __syncthreads();
    if (p.k <= MOST) {
        int number = 0;
        for (unsigned left = doubtful; left; left &= left - 1, number++)
            if (number % (BLOCK / 32) == t / 32) {
                const i64 its = column + __ffs(left) - 1;
                const char *from = (const char *)(in + at_in + its);
                put_alone(a_column{from, p.step * (i64)sizeof(element), (int)p.k}, limbs[t / 32], &flags[t / 32], out + at_out + its * p.out_step);
            }
        return;
    }
    if (t == 0)
        marks[blockIdx.x] = doubtful != 0;
    if (t == 0 && first == 0)
        arrived[block] = 0; // for blocks of exact_columns, of which the last one of a strip rounds
}
#endif

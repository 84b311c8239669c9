// SPDX-License-Identifier: Apache-2.0
// gpu_exact_columns.cu - exact sums of outputs side by side: a lane has rows of one column, with levels and digits of its own (gpu_exact_levels.cuh).
//
// -DMARKED=1: made are the outputs whose words in `marks` are not 0 (gpu_sure_columns.cu), of `side` columns of a strip each. Neighbours read neighbours, -DOWN_EACH rows of a lane at a time, the
// next ones asked for meanwhile. -DALONE=1: a lane has all of an output, of whatever set of columns, and a sum that two levels hold is rounded from them: no digit is touched. Else a block has `across` columns and as many rows side by side as it has threads for, some blocks
// share a set's rows, and each leaves its columns' limbs, which `finish` adds and rounds, up to 32 columns a block.
#include "ops/reduce/gpu_exact_group.cuh"
#include "ops/reduce/gpu_exact_levels.cuh"

enum { THREADS = OWN, HERE = DIGITS / 2, LEFT = HERE + 2 }; // limbs of a column; words that a block leaves of it, with what is not finite and how many count

struct columns {
    i64 k, step;                                      // rows, elements from one to the next
    i64 outputs, width, across, strips;               // outputs; side by side; of a block, such strips
    i64 pieces, rows;                                 // blocks that share a strip's rows; rows of each
    i64 out_step;                                     // from one column's output to the next
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first; of strips without the last
};

// Up to `most` rows of a lane, `mine` of which are there and `sure` for all lanes of its warp, `apart` bytes from one to the next.
__device__ __forceinline__ void take_rows(const char *at, i64 apart, int sure, int most, int mine, levels_of_lane &l, int *digits, int *flags, i64 &count) {
    element ahead[EACH];
    int drained = DRAINED;
    const auto load = [&](int from) {
        if (from + EACH <= sure) {
#pragma unroll
            for (int j = 0; j < EACH; j++)
                ahead[j] = *(const element *)(at + j * apart);
        } else {
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                ahead[j] = 0;
                if (from + j < mine)
                    ahead[j] = *(const element *)(at + j * apart);
                else if (OMIT)
                    count--;
            }
        }
        at += EACH * apart;
    };
    load(0);
    for (int i = 0; i < most; i += EACH) {
        double x[EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            bool counts;
            x[j] = value_of_part(ahead[j], 0, &counts);
            if (OMIT)
                count += counts;
        }
        if (i + EACH < most)
            load(i + EACH);
        take_numbers(x, l, digits, flags);
        if (--drained == 0) {
            if (l.cleared)
                carry_digits(digits);
            drained = DRAINED;
        }
    }
    if (!OMIT)
        count = mine;
}

// A warp's outputs by their digits, one after another.
__device__ __noinline__ void put_by_digits(const int *digits, int *flags, i64 count, bool there, result *to, i64 (*limbs)[LIMBS]) {
    const int lane = threadIdx.x % 32;
    for (int c = 0; c < 32; c++) {
        __syncwarp();
        for (int i = lane; i < LIMBS; i += 32) {
            const int at = 2 * i - FIRST_DIGIT;
            limbs[0][i] = at >= 0 && at < DIGITS ? digits[at * COPIES + c] + (i64)digits[(at + 1) * COPIES + c] * 65536 : 0;
        }
        __syncwarp();
        result *its = (result *)__shfl_sync(ALL, (u64)to, c);
        if (__shfl_sync(ALL, there, c))
            put_rounded(its, limbs, flags + c, __shfl_sync(ALL, count, c));
    }
}

// A lane's levels and digits before its first row.
__device__ __forceinline__ void begin(levels_of_lane &l, int *flags) {
    l.field = l.turns = l.aside = 0;
    l.fresh = true;
    l.cleared = false;
    l.open();
    *flags = 0;
}

#if ALONE
__device__ __forceinline__ void put_outputs(const element *in, result *out, const columns &p, i64 number, int *room, int *flags, i64 (*limbs)[LIMBS]) {
    const int t = threadIdx.x, k = (int)p.k;
    int *digits = room + t - FIRST_DIGIT * COPIES;
    levels_of_lane l;
    i64 at_in, at_out, count = 0;
    const bool there = number < p.outputs;
    begin(l, flags + t);
    place_of(p, there ? number : p.outputs - 1, at_in, at_out);
    take_rows((const char *)(in + at_in), p.step * (i64)sizeof(element), k, k, k, l, digits, flags + t, count);
    const bool more = (LEVELS > 2 && l.sum(LEVELS - 1) != 0) || flags[t];
    if (!l.cleared && !__any_sync(ALL, more)) {
        double s[2] = {l.sum(0), 0}, part = s[0];
        if (!PLAIN) {
            s[1] = l.sum(LEVELS > 1);
            part = rounded_sum(s);
        }
        if (OPERATION == OP_MEAN)
            part /= (double)count;
        if (there)
            out[at_out] = exact_result(part, 0);
        return;
    }
    want_digits(l, digits);
    close(l, digits, flags + t);
    carry_digits(digits);
    put_by_digits(room + t / 32 * 32, flags + t / 32 * 32, count, there, out + at_out, limbs);
    __syncwarp();
}

extern "C" __global__ void __launch_bounds__(THREADS, AT_LEAST) exact_columns(const element *in, result *out, const columns p) {
    extern __shared__ __align__(16) int room[]; // digits
    __shared__ int flags[THREADS];
    __shared__ i64 limbs[THREADS / 32][1][LIMBS];
    put_outputs(in, out, p, (i64)blockIdx.x * THREADS + threadIdx.x, room, flags, limbs[threadIdx.x / 32]);
}
#else
__device__ __forceinline__ void put_limbs(const element *in, i64 *out, const columns &p, i64 number, i64 strip, int *room, int *flags, i64 *counts, int *reached) {
    const int t = threadIdx.x;
    int *digits = room + t - FIRST_DIGIT * COPIES;
    levels_of_lane l;
    i64 at_in, at_out, count = 0;
    begin(l, flags + t);
    const int across = (int)p.across, tall = THREADS / across;
    const i64 first = number % p.pieces * p.rows, column = strip % p.strips * across;
    const int n = (int)(p.k - first < p.rows ? p.k - first : p.rows);
    place_of(p, strip / p.strips, at_in, at_out);
    const bool idle = t >= tall * across || column + t % across >= p.width; // works on what thread 0 does
    const int row = idle ? 0 : t / across, mine = (n - row + tall - 1) / tall;
    const element *from = in + at_in + column + (idle ? 0 : t % across) + (first + row) * p.step;
    take_rows((const char *)from, p.step * tall * (i64)sizeof(element), n / tall, (n + tall - 1) / tall, mine, l, digits, flags + t, count);
    // Of digits those that some lane's levels reach, few of the 132 that f64 have.
    if (t == 0) {
        reached[0] = DIGITS;
        reached[1] = 0;
    }
    __syncthreads();
    const int least = l.exponent(LEVELS - 1) - 53, low = PLAIN || l.cleared || least < 0 ? 0 : (least >> 4) - FIRST_DIGIT & ~1,
              high = PLAIN || l.cleared ? DIGITS - 1 : (l.exponent(0) >> 4) + 4 - FIRST_DIGIT | 1;
    const int lowest = __reduce_min_sync(ALL, low), highest = __reduce_max_sync(ALL, high);
    if (t % 32 == 0) {
        atomicMin(&reached[0], lowest < 0 ? 0 : lowest);
        atomicMax(&reached[1], highest < DIGITS ? highest : DIGITS - 1);
    }
    counts[t] = count;
    __syncthreads();
    const int from_digit = reached[0], to_digit = reached[1];
    if (!l.cleared)
#pragma unroll 2
        for (int i = from_digit; i <= to_digit; i++)
            room[i * COPIES + t] = 0;
    l.cleared = true;
    close(l, digits, flags + t);
    carry_digits(digits, FIRST_DIGIT + from_digit, FIRST_DIGIT + to_digit);
    __syncthreads();
    out += number * p.across * LEFT;
    for (int i = t; i < across * LEFT; i += THREADS) {
        const int c = i % across, word = i / across;
        i64 sum = 0;
        for (int r = 0; r < tall; r++) {
            const int at = r * across + c;
            if (word < HERE && 2 * word >= from_digit && 2 * word < to_digit)
                sum += room[2 * word * COPIES + at] + (i64)room[(2 * word + 1) * COPIES + at] * 65536;
            else if (word >= HERE)
                sum = word == HERE ? sum | flags[at] : sum + counts[at];
        }
        out[i] = sum;
    }
}

// What a block has of up to 32 columns that it rounds.
struct rounding {
    i64 limbs[32][1][LIMBS];
    u64 met[32][2];
};

// `side` threads side by side of a block of COLUMN_THREADS have a column of a strip's group each, the others the next pieces.
template <int COLUMN_THREADS> __device__ __forceinline__ void put_group(const i64 *partial, result *out, const columns &p, i64 strip, i64 group, int side, rounding &m) {
    enum { AT_ONCE = LEFT % 17 == 0 ? 17 : LEFT };
    const int t = threadIdx.x, c = t % side;
    const i64 first = group * side, column = strip % p.strips * p.across + first;
    i64 at_in, at_out;
    place_of(p, strip / p.strips, at_in, at_out);
    const int here = (int)min(min(p.across - first, p.width - column), (i64)side);
    for (int i = t; i < 32 * LIMBS; i += COLUMN_THREADS)
        m.limbs[0][0][i] = 0;
    if (t < 64)
        m.met[t / 2][t % 2] = 0;
    __syncthreads();
#pragma unroll 1
    for (int word = 0; word < LEFT; word += AT_ONCE) {
        i64 sum[AT_ONCE] = {};
        if (c < here)
#pragma unroll 1
            for (i64 piece = t / side; piece < p.pieces; piece += COLUMN_THREADS / side) {
                const i64 *from = partial + ((strip * p.pieces + piece) * LEFT + word) * p.across + first + c;
#pragma unroll
                for (int i = 0; i < AT_ONCE; i++) {
                    const i64 its = __ldcg(&from[i * p.across]);
                    sum[i] = word + i == HERE ? sum[i] | its : sum[i] + its;
                }
            }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (sum[i] && word + i < HERE)
                atomicAdd((u64 *)&m.limbs[c][0][FIRST_DIGIT / 2 + word + i], (u64)sum[i]);
            else if (sum[i] && word + i == HERE)
                atomicOr((unsigned *)&m.met[c][0], (unsigned)sum[i]);
            else if (sum[i])
                atomicAdd(&m.met[c][1], (u64)sum[i]);
    }
    __syncthreads();
    for (int number = t / 32; number < here; number += COLUMN_THREADS / 32)
        put_rounded(out + at_out + (column + number) * p.out_step, m.limbs[number], (const int *)&m.met[number][0], (i64)m.met[number][1]);
}

#if MARKED
// Whether some column of a strip was left.
__device__ bool is_wanted(const unsigned *marks, i64 strip, i64 groups) {
    bool wanted = false;
    for (i64 i = 0; i < groups; i++)
        wanted = wanted || marks[strip * groups + i];
    return wanted;
}

// Of strips with marks; `arrived` says how many pieces of one are there, and the last block of them rounds.
extern "C" __global__ void __launch_bounds__(THREADS, AT_LEAST)
    exact_columns(const element *in, i64 *partial, result *out, const unsigned *marks, unsigned *arrived, const columns p, const int side) {
    static_assert(sizeof(rounding) <= sizeof(int) * DIGITS * THREADS, "what is rounded lies where digits were");
    extern __shared__ __align__(16) int room[]; // digits, and then what is rounded
    __shared__ int flags[THREADS], reached[2];
    __shared__ i64 counts[THREADS];
    const i64 groups = (p.across + side - 1) / side, all = p.outputs / p.width * p.strips;
    bool some = false;
    for (i64 i = threadIdx.x; i < all * groups; i += THREADS)
        some = some || marks[i];
    if (!__syncthreads_or(some))
        return;
    for (i64 number = blockIdx.x; number < all * p.pieces; number += gridDim.x) {
        const i64 strip = number / p.pieces;
        if (!is_wanted(marks, strip, groups))
            continue;
        put_limbs(in, partial, p, number, strip, room, flags, counts, reached);
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            reached[0] = atomicAdd(&arrived[strip], 1) == p.pieces - 1;
        __syncthreads();
        const bool last = reached[0];
        __threadfence();
        __syncthreads();
        for (i64 group = 0; last && group < groups; group++) {
            put_group<THREADS>(partial, out, p, strip, group, side, *(rounding *)room);
            __syncthreads();
        }
    }
}
#else
extern "C" __global__ void __launch_bounds__(THREADS, AT_LEAST) exact_columns(const element *in, i64 *partial, const columns p) {
    extern __shared__ __align__(16) int room[]; // digits
    __shared__ int flags[THREADS], reached[2];
    __shared__ i64 counts[THREADS];
    put_limbs(in, partial, p, blockIdx.x, blockIdx.x / p.pieces, room, flags, counts, reached);
}

extern "C" __global__ void __launch_bounds__(256) finish(const i64 *partial, result *out, const columns p, const int side) {
    __shared__ rounding m;
    const i64 groups = (p.across + side - 1) / side;
    put_group<256>(partial, out, p, blockIdx.x / groups, blockIdx.x % groups, side, m);
}
#endif
#endif

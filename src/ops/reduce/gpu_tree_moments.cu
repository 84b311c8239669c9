// SPDX-License-Identifier: Apache-2.0
// gpu_tree_moments.cu - production, variances of outputs side by side: a leaf of some columns comes to shared memory once, where both looks find it.
//
// A variance looks at a leaf twice, and along a slow axis a leaf of one column is spread over as many sectors as it has elements. So a block copies a tile, all rows of a leaf
// of ACROSS columns, past the registers: what is on its way is what a multiprocessor's shared memory holds, and nothing comes a second time. -DRUN=1: the columns are
// all there are and their rows follow one another, so a tile is one run, and a block may have several of them (-DAT_ONCE). Else it comes row by row, -DPITCH bytes
// apart in the tile. Copies are of -DVECTOR bytes; -DSHIFTED=1: where none fit, a tile or a row lies within so many bytes as it does in memory, and comes with what is around it.
//
// A thread has every ROWS-th row of one column, so neighbours read neighbours whatever the width, and -DEACH lanes of the tree, which it halves -DHELD at a time; what the
// ROWS threads of a column come to meets in shared memory. Elements lie a number of bytes apart that the compiler knows: a load is one instruction. Of outputs with more
// leaves than one (-DMANY=1) `finish` pairs them.
#include "ops/reduce/gpu_finish.cuh"
#include "ops/reduce/gpu_lanes.cuh"

enum {
    SIZE = (int)sizeof(element),
    OF_TILE = ROWS * ACROSS, // threads
    COLUMNS = AT_ONCE * ACROSS,
    APART = EACH / HELD,
    UNROLLED = HELD < 4 ? 4 / HELD : 1,
    MET = ROWS < 8 ? ROWS : 8, // rows of a column that a thread brings together, and threads that do so
    MEET = ROWS / MET
};

struct moments {
    i64 k, leaves, outputs;
    double ddof;
    i64 low, high; // bytes from the first element of `in` to where the array begins and ends
    i64 step;      // elements from row to row
    int width, strips, units, unused;                 // outputs side by side, tiles of them, tiles in all
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first, the last of them that of the width
};

// What a tile is of.
struct tile {
    unsigned set;
    i64 leaf, at_in, at_out; // of the set's first column
    int column, across, rows;
    __device__ tile(const moments &p, unsigned unit) : leaf(0), at_in(0), at_out(0) {
        column = unit % (unsigned)p.strips * ACROSS;
        unit /= (unsigned)p.strips;
        across = p.width - column < ACROSS ? p.width - column : ACROSS;
#if MANY
        leaf = unit % (unsigned)p.leaves;
        unit /= (unsigned)p.leaves;
#endif
        set = unit;
        rows = (int)(p.k - leaf * 8192 < 8192 ? p.k - leaf * 8192 : 8192);
#pragma unroll
        for (int d = KEPT - 2; d >= 0; d--) {
            const unsigned at = d > 0 ? unit % (unsigned)p.shape[d] : unit;
            at_in += at * p.in[d];
            at_out += at * p.out[d];
            unit /= (unsigned)(d > 0 ? p.shape[d] : 1);
        }
    }
};

// Where a tile lies in memory: what is around it may come with it where that is the array's.
struct region {
    const char *from, *low, *high; // the first element; where the array begins and ends
    i64 step;                      // bytes from row to row
    int rows, bytes;               // bytes of a row
    bool inside;                   // whatever comes with it is the array's
    __device__ region(const element *in, const moments &p, const tile &t)
        : from((const char *)(in + t.at_in + t.leaf * 8192 * p.step + t.column)), low((const char *)in + p.low), high((const char *)in + p.high),
          step(RUN ? PITCH : p.step * SIZE), rows(t.rows), bytes(t.across * SIZE) {
        const i64 last = (rows - 1) * step, lowest = last < 0 ? last : 0, highest = last < 0 ? 0 : last;
        inside = from + lowest - low >= VECTOR - 1 && high - from - highest - bytes >= VECTOR - 1;
    }
    // Thread t's share: use(where VECTOR bytes go, where they lie, where those that are wanted begin and end).
    template <int UNROLL, typename F> __device__ __forceinline__ void for_copies(char *to, int t, const F &use) const {
#if RUN
        const int before = SHIFTED ? (int)((u64)from % VECTOR) : 0, end = before + rows * PITCH;
        const char *at = from - before + t * VECTOR;
        to += t * VECTOR - before;
#pragma unroll UNROLL
        for (int i = t * VECTOR; i < end; i += OF_TILE * VECTOR, at += OF_TILE * VECTOR, to += OF_TILE * VECTOR)
            use(to, at, from, from - before + end);
#else
        enum { COPIES = SHIFTED ? (ACROSS * SIZE + VECTOR - 2) / VECTOR + 1 : ACROSS * SIZE / VECTOR, ROWS_AT_ONCE = OF_TILE / COPIES };
        static_assert(ROWS_AT_ONCE > 0, "as many threads as a row has copies");
        const int first = t / COPIES, in_row = t % COPIES * VECTOR;
        const char *row = from + first * step;
        to += first * PITCH + in_row;
        if (first < ROWS_AT_ONCE)
#pragma unroll UNROLL
            for (int r = first; r < rows; r += ROWS_AT_ONCE, row += ROWS_AT_ONCE * step, to += ROWS_AT_ONCE * PITCH) {
                const int before = SHIFTED ? (int)((u64)row % VECTOR) : 0;
                if (in_row < before + bytes)
                    use(to - before, row + (in_row - before), row, row + bytes);
            }
#endif
    }
    // `to` is where the first element goes, as far from a multiple of VECTOR as it lies in memory.
    __device__ __forceinline__ void bring(char *to, int t) const {
        if (!SHIFTED || inside)
            for_copies<4>(to, t, [](char *to, const char *at, const char *, const char *) { copy<VECTOR>(to, at); });
        else
            for_copies<1>(to, t, [&](char *to, const char *at, const char *begin, const char *end) {
                if (at >= low && at + VECTOR <= high)
                    copy<VECTOR>(to, at);
                else
                    for (int i = 0; i < VECTOR; i += SIZE)
                        if (at + i >= begin && at + i < end)
                            *(element *)(to + i) = *(const element *)(at + i);
            });
    }
};

// The halving tree over a thread's lanes: of the elements from `first` on, every ROWS-th row, `count` of them. take(element, a number that the compiler knows).
template <typename T, typename F> __device__ __forceinline__ T look(const char *first, int count, const F &take) {
    enum { STEP = ROWS * PITCH };
    const int full = count / EACH, rest = count % EACH; // elements of all lanes, and lanes that have one more
    return subtree<0, 1, APART, T>([&](int m) {
        const char *at = first + m * STEP;
        T lane[HELD] = {};
#pragma unroll UNROLLED
        for (int r = 0; r < full; r++, at += EACH * STEP)
#pragma unroll
            for (int h = 0; h < HELD; h++)
                lane[h] += take(*(const element *)(at + h * APART * STEP), h);
#pragma unroll
        for (int h = 0; h < HELD; h++)
            if (m + h * APART < rest)
                lane[h] += take(*(const element *)(at + h * APART * STEP), h);
        return subtree<0, 1, HELD, T>([&](int h) { return lane[h]; });
    });
}

// What the threads of each column have: use(number of a column, the halving tree over their sums, the sum of what they count), by one thread.
template <typename F> __device__ __forceinline__ void for_columns(const double *room, const int *counts, const F &use) {
    for (int i = threadIdx.x; i < (COLUMNS * MEET + 31) / 32 * 32; i += BLOCK) {
        const int c = i / MEET < COLUMNS ? i / MEET : COLUMNS - 1, g = i % MEET, at = c / ACROSS * OF_TILE + c % ACROSS + g * ACROSS;
        double sum = subtree<0, 1, MET, double>([&](int m) { return room[at + m * MEET * ACROSS]; });
        int count = 0;
#pragma unroll
        for (int m = 0; OMIT && m < MET; m++)
            count += counts[at + m * MEET * ACROSS];
#pragma unroll
        for (int across = MEET / 2; across > 0; across /= 2) {
            sum += __shfl_xor_sync(ALL, sum, across);
            count += OMIT ? __shfl_xor_sync(ALL, count, across) : 0;
        }
        if (g == 0 && i < COLUMNS * MEET)
            use(c, sum, count);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, AT_LEAST) tree_moments(const element *in, result *out, node *partial, const moments p) {
    extern __shared__ words<16> tiles[];
    __shared__ double room[BLOCK], mean[COLUMNS];
    __shared__ int counts[OMIT ? BLOCK : 1];
    const int number = threadIdx.x / OF_TILE, t = threadIdx.x % OF_TILE, row = t / ACROSS, column = t % ACROSS;
    const unsigned unit = blockIdx.x * AT_ONCE + number;
    const bool here = number < AT_ONCE && unit < p.units;
    const char *first = (const char *)tiles;
    int elements = 0, count = 0;
    if (here) {
        const tile mine(p, unit);
        const region where(in, p, mine);
        char *to = (char *)tiles + number * TILE + (SHIFTED ? (int)((u64)where.from % VECTOR) : 0);
        where.bring(to, t);
        first = to + row * PITCH + column * SIZE;
        elements = column < mine.across ? (mine.rows - row + ROWS - 1) / ROWS : 0;
    }
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    room[threadIdx.x] = look<first_sum>(first, elements, [&](element e, int) { return first_look(e, true, count); });
    if (OMIT)
        counts[threadIdx.x] = count;
    __syncthreads();
    for_columns(room, counts, [&](int c, double sum, int all) {
        mean[c] = mean_of(sum, OMIT ? all : tile(p, blockIdx.x * AT_ONCE + c / ACROSS).rows);
    });
    __syncthreads();
    const double middle = mean[here ? number * ACROSS + column : 0];
    room[threadIdx.x] = look<double>(first, elements, [&](element e, int j) { return second_look(wide_of(e, j), true, middle); });
    __syncthreads();
    for_columns(room, counts, [&](int c, double sum, int all) {
        const unsigned unit = blockIdx.x * AT_ONCE + c / ACROSS;
        const tile its(p, unit);
        const int column = its.column + c % ACROSS;
        if (unit >= p.units || column >= p.width)
            return;
        const node whole = moments_of(mean[c], sum, OMIT ? all : its.rows);
#if MANY
        partial[((i64)its.set * p.width + column) * p.leaves + its.leaf] = whole;
#else
        out[its.at_out + column * p.out[KEPT - 1]] = finished(whole, p.k, p.ddof);
#endif
    });
}

extern "C" __global__ void __launch_bounds__(256) pair_leaves(node *paired, const node *partial, i64 groups, const moments p) {
    pair_neighbours(paired, partial, groups, p.leaves, p.outputs);
}

extern "C" __global__ void __launch_bounds__(256) finish(result *out, const node *partial, i64 count, const moments p) {
    finish_outputs<FEW, true>(out, partial, count, p);
}

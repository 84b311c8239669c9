// SPDX-License-Identifier: Apache-2.0
// gpu_boxes.cu - axes that are short on both sides: a block takes a box of as many of them as make long runs of memory in `in` and in `out`.
//
// A tile along the fastest axis of either array is mostly not there where those are short. But the axes that follow them there lie without a gap, too: 2 x N x 11 of
// `in` are two rows, of which N' x 11 elements follow each other, 11 x N x 2 of `out` eleven rows of N' x 2. A box is a stretch of the last axis of each such
// chain and all of the axes before it. Its runs of `in` come to shared memory as they lie, a row each; a lane makes a word of `out`, whose elements stand where
// a table says: an element of a run of `out` lies as far from the run's first one in every run.
//
// A and B are the axes that the box cuts, in in's chain and in out's; they may be one (COMMON). -DLONG_A, -DLONG_B: elements of them in a box. -DIN_RUN elements of
// a run of `in` for each one of A, -DIN_RUNS of them (FREE_B: for each one of B); -DOUT_RUN, -DOUT_RUNS (FREE_A) likewise. -DTABLE entries, for one of the common axis.
// -DA_AXIS, -DB_AXIS: which axis of the blocks counts boxes along them, -1: none. -DPITCH bytes from row to row, -DSPREAD=1: a vector is left free after every eight rows.
// -DACROSS runs of `out` a warp. -DWORD bytes, -DSIZE, -DTHREADS, -DAXES.
#include "ops/transpose/gpu_piece.cuh"

typedef piece<SIZE>::type element;

enum {
    E = WORD / SIZE,
    VECTORS = (IN_RUN * LONG_A * SIZE + 16 - SIZE + 15) / 16,         // that hold a run of in
    WORDS = (OUT_RUN * LONG_B * SIZE + 32 - SIZE + WORD - 1) / WORD,  // of a run of out, from a sector on
    ROWS = IN_RUNS * (FREE_B ? LONG_B : 1),
    ALONG = 32 / ACROSS,
    TURNS = (WORDS + ALONG - 1) / ALONG, // for a run
    STEP = IN_RUN * SIZE                 // along the common axis
};

struct boxes {
    i64 low, high;      // bytes of in that exist, from its first element on
    i64 size_a, size_b; // of the axes
    i64 shape[AXES + 1], in[AXES + 1], out[AXES + 1]; // of the blocks, slowest first; bytes
    i64 rows[ROW_AXES + 1], lines[LINE_AXES + 1];     // steps from run to run of in, of out
};
// Sizes of the axes that count rows, lines and places in a line, fastest first; where an element of a line is, by the row and in the row, goes by steps along them.
__device__ constexpr int row_sizes[] = {ROW_SIZES}, line_sizes[] = {LINE_SIZES}, line_steps[] = {LINE_STEPS};
__device__ constexpr int spot_sizes[] = {SPOT_SIZES}, spot_rows[] = {SPOT_ROWS}, spot_steps[] = {SPOT_STEPS};

union word {
    element one[E];
    piece<WORD>::type all;
};

__device__ i64 from(const boxes &m, unsigned row) {
    i64 at = 0;
#pragma unroll
    for (int i = 0; i < ROW_AXES; row /= row_sizes[i++])
        at += row % row_sizes[i] * m.rows[i];
    return at;
}

// How far a line begins from the box's first element in out, in two words, and in a row.
__device__ uint4 line_of(const boxes &m, unsigned number) {
    i64 to = 0;
    unsigned at = 0;
#pragma unroll
    for (int i = 0; i < LINE_AXES; number /= line_sizes[i++]) {
        to += number % line_sizes[i] * m.lines[i];
        at += number % line_sizes[i] * line_steps[i];
    }
    return make_uint4((unsigned)to, (unsigned)(to >> 32), at, 0);
}

__device__ int row_at(int row) { return row * PITCH + (SPREAD ? row / 8 * 16 : 0); }

extern "C" __global__ void __launch_bounds__(THREADS) turn_boxes(const char *in, char *out, const boxes m) {
    extern __shared__ uint4 room[]; // rows, and behind them the tables: of lines, of places in one
    uint4 *lines = (uint4 *)((char *)room + row_at(ROWS - 1) + PITCH);
    int *table = (int *)(lines + OUT_RUNS * (FREE_A ? LONG_A : 1));
    const char *low = in + m.low, *high = in + m.high;
    unsigned number = blockIdx.x;
    int along_a = LONG_A, along_b = LONG_B;
#pragma unroll
    for (int d = AXES - 1; d >= 0; d--) {
        const unsigned size = (unsigned)m.shape[d], at = number % size;
        number /= size;
        in += at * m.in[d];
        out += at * m.out[d];
        if (d == A_AXIS && m.size_a - (i64)at * LONG_A < LONG_A)
            along_a = (int)(m.size_a - (i64)at * LONG_A);
        if (d == B_AXIS && m.size_b - (i64)at * LONG_B < LONG_B)
            along_b = (int)(m.size_b - (i64)at * LONG_B);
    }
    const int rows = FREE_B ? IN_RUNS * along_b : IN_RUNS, bytes = IN_RUN * SIZE * along_a;
#pragma unroll 1 // lanes stay together
    for (int n = threadIdx.x; n < rows * VECTORS; n += THREADS) {
        const int row = n / VECTORS;
        const char *begin = in + from(m, row), *end = begin + bytes;
        const int skip = (int)((unsigned)(unsigned long long)begin & 15);
        const char *vector = begin - skip + n % VECTORS * 16;
        const int to = row_at(row) + n % VECTORS * 16;
        if (vector >= low && vector + 16 <= high) {
            if (vector < end)
                asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared((char *)room + to)), "l"(vector) : "memory");
        } else {
            for (int b = 0; b < 16; b += SIZE)
                if (vector + b >= begin && vector + b < end)
                    *(element *)((char *)room + to + b) = *(const element *)(vector + b);
        }
    }
#pragma unroll 1
    for (int n = threadIdx.x; n < OUT_RUNS * (FREE_A ? LONG_A : 1); n += THREADS)
        lines[n] = line_of(m, n);
#pragma unroll 1
    for (int n = threadIdx.x; n < TABLE; n += THREADS) {
        unsigned number = n, row = 0;
        int at = 0;
#pragma unroll
        for (int i = 0; i < SPOT_AXES; number /= spot_sizes[i++]) {
            row += number % spot_sizes[i] * spot_rows[i];
            at += (int)(number % spot_sizes[i]) * spot_steps[i];
        }
        table[n] = row_at((int)row) + (int)((unsigned)(unsigned long long)(in + from(m, row)) & 15) + at;
    }
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    const int count = FREE_A ? OUT_RUNS * along_a : OUT_RUNS, length = OUT_RUN * along_b, turns = (count + ACROSS - 1) / ACROSS * TURNS;
    const int only = table[0]; // where there is one place
#pragma unroll(E <= 2 ? 2 : 1)
    for (int n = threadIdx.x / 32; n < turns; n += THREADS / 32) {
        const int number = n / TURNS * ACROSS + threadIdx.x % 32 / ALONG;
        if (number >= count)
            continue;
        const uint4 line = lines[number];
        char *to = out + (i64)((unsigned long long)line.y << 32 | line.x);
        const int e = ((n % TURNS * ALONG + (int)threadIdx.x % ALONG) * WORD - (int)((unsigned)(unsigned long long)to & 31)) / SIZE;
        const char *base = (const char *)room + line.z;
        if (e >= 0 && e + E <= length) {
            word x;
            int at = e;
            if (COMMON) {
                at = (int)((unsigned)e % TABLE);
                base += (unsigned)e / TABLE * STEP;
            }
#pragma unroll
            for (int k = 0; k < E; k++) {
                x.one[k] = *(const element *)(base + (TABLE == 1 ? only : table[at]));
                if (++at == TABLE) {
                    at = 0;
                    base += STEP;
                }
            }
            *(piece<WORD>::type *)(to + e * SIZE) = x.all;
        } else {
#pragma unroll 1
            for (int k = 0; k < E; k++)
                if (e + k >= 0 && e + k < length) {
                    const unsigned one = COMMON ? (unsigned)(e + k) % TABLE : (unsigned)(e + k), turn = COMMON ? (unsigned)(e + k) / TABLE : 0;
                    *(element *)(to + (e + k) * SIZE) = *(const element *)(base + turn * STEP + (TABLE == 1 ? only : table[one]));
                }
        }
    }
}

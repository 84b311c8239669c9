// SPDX-License-Identifier: Apache-2.0
// gpu_patch.cu - production: small masks, where memory binds. A thread has V columns of R rows in registers, its neighbour lanes the rest.
//
// The tile kernels moved every element to shared memory and back, and met barriers. Here a thread loads its R + KY - 1 rows of V elements at once, as one
// vector each; what lies left and right of them stands in the registers of the lanes beside it; the first and last lane of a warp load
// theirs (H elements). Each row is then read once, and adds to every output that it concerns: sums grow in the order of the mask, row by row. Blocks are small and many, and follow each other along rows: on an H200 that is faster than any form that stays and loops.
//
// DIRECT=1: what lies beside is loaded too, as vectors of V, and no lane asks another. That costs more of the first-level cache and less of everything
// else: better for single rows; and with V=1 for rows that begin anywhere, whose elements can only be loaded one by one.
//
// Warps whose elements all lie inside take loads without tests; the others resolve each index by the boundary's rule where it is needed.
//
// -DKY; -DV, -DR; -DWX, -DWY: warps of a block along x and y.
#include "ops/correlate/gpu_window.cuh"

__host__ __device__ constexpr int power_above(int n) { return n <= 1 ? 1 : 2 * power_above((n + 1) / 2); }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }
const int ROWS = R + KY - 1, VW = V * SIZE / 4;
const bool VECTORS = WHOLE || V == 1; // a row may be loaded in vectors of V
#if DIRECT
const int BESIDE_LEFT = (LEFT + V - 1) / V, BESIDE_RIGHT = (RIGHT + V - 1) / V; // vectors
const int COUNT = (BESIDE_LEFT + 1 + BESIDE_RIGHT) * V, REACH = larger(BESIDE_LEFT, BESIDE_RIGHT) * V, FIRST = BESIDE_LEFT * V - LEFT;
static_assert(V * SIZE % 4 == 0, "vectors are whole words");
#else
const int H = LEFT + RIGHT == 0 ? 0 : larger(power_above(larger(LEFT, RIGHT)), 4 / SIZE), REACH = H;
const int LW = (LEFT * SIZE + 3) / 4, RW = (RIGHT * SIZE + 3) / 4, FIRST = LW * 4 / SIZE - LEFT; // of the window's words: the first element's place
const int COUNT = V + H;                                                                         // elements that a lane loads: its own, and edges
static_assert(V * SIZE % 4 == 0 && LEFT <= V && RIGHT <= V, "a lane's neighbours do not hold its window");
#endif

struct row_words {
    unsigned word[COUNT * SIZE / 4];
};

template <int N> __device__ __forceinline__ void load_words(unsigned *word, const char *at) {
    words<N> w;
    load_now(w, at);
#pragma unroll
    for (int i = 0; i < N / 4; i++)
        word[i] = w.word[i];
}

// Where a lane's elements lie: its own from column x on, and (not DIRECT) the edge of its warp that is nearer to it.
struct columns {
    int x, edge;
};

// The row at `at` inside the array.
__device__ __forceinline__ void load_inside(row_words &row, const char *own, const char *edge) {
#if DIRECT
#pragma unroll
    for (int g = 0; g < COUNT / V; g++)
        load_words<V * SIZE>(row.word + g * VW, own + (g - BESIDE_LEFT) * (V * SIZE));
#else
    load_words<V * SIZE>(row.word, own);
    if (H)
        load_words<larger(H, 1) * SIZE>(row.word + VW, edge);
#endif
}

// N elements from column x on, resolved; a row that is not there is of constants.
template <int N> __device__ __forceinline__ void load_resolved(unsigned *word, const element *row, bool there, const frame &f, int x) {
    if (VECTORS && there && x >= 0 && x + N <= (int)f.n_x && N % V == 0) {
        load_words<N * SIZE>(word, (const char *)(row + x));
    } else {
        const element ghost = ghost_of(f);
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int at = resolve_x(x + i, (int)f.n_x, f.edge);
            const element e = row[at < 0 ? 0 : at];
            put(word, i, there && at >= 0 ? e : ghost);
        }
    }
}

__device__ __forceinline__ void load_anywhere(row_words &row, const element *in, const frame &f, int y, const columns &c) {
    y = resolve(y, (int)f.n_y, f.edge);
    const element *at = in + (i64)(y < 0 ? 0 : y) * f.in_y;
    const bool there = y >= 0;
#if DIRECT
#pragma unroll
    for (int g = 0; g < COUNT / V; g++)
        load_resolved<V>(row.word + g * VW, at, there, f, c.x + (g - BESIDE_LEFT) * V);
#else
    load_resolved<V>(row.word, at, there, f, c.x);
    if (H)
        load_resolved<larger(H, 1)>(row.word + VW, at, there, f, c.edge);
#endif
}

// A row's window: the lane's own elements, and those beside.
__device__ __forceinline__ void open(work (&value)[LEFT + V + RIGHT], const row_words &row, int lane) {
#if DIRECT
    const unsigned *word = row.word;
#else
    unsigned word[LW + VW + RW];
#pragma unroll
    for (int i = 0; i < VW; i++)
        word[LW + i] = row.word[i];
#pragma unroll
    for (int i = 0; i < LW; i++) {
        unsigned beside = __shfl_up_sync(0xffffffff, row.word[VW - LW + i], 1);
        word[i] = lane == 0 ? row.word[COUNT * SIZE / 4 - LW + i] : beside;
    }
#pragma unroll
    for (int i = 0; i < RW; i++) {
        unsigned beside = __shfl_down_sync(0xffffffff, row.word[i], 1);
        word[LW + VW + i] = lane == 31 ? row.word[VW + i] : beside;
    }
#endif
#pragma unroll
    for (int i = 0; i < LEFT + V + RIGHT; i++)
        value[i] = cell(word, FIRST + i);
}

// R rows of outputs at column c.x, row y.
template <bool INSIDE>
__device__ __forceinline__ void compute(const element *in, result *out, const frame &f, const tap_list<KX * KY> &taps, int y, const columns &c,
                                        int lane) {
    row_words rows[ROWS];
    work sum[R][V];
    const int top = y - f.before_y;
    if (INSIDE) {
        const char *own = (const char *)(in + (i64)top * f.in_y + c.x), *edge = own + (c.edge - c.x) * SIZE;
        const i64 step = f.in_y * SIZE;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            load_inside(rows[r], own, edge);
            own += step;
            edge += step;
        }
    }
    char *to = (char *)(out + (i64)y * f.out_y + c.x);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (!INSIDE)
            load_anywhere(rows[r], in, f, top + r, c);
        work value[LEFT + V + RIGHT];
        open(value, rows[r], lane);
#pragma unroll
        for (int o = 0; o < R; o++) {
            const int ky = r - o;
            if (ky < 0 || ky >= KY)
                continue;
#pragma unroll
            for (int kx = 0; kx < KX; kx++)
#pragma unroll
                for (int i = 0; i < V; i++)
                    sum[o][i] = multiply_add(value[i + kx * GROUP], taps.w[ky * KX + kx], ky + kx == 0 ? (work)0 : sum[o][i]);
        }
        const int done = r - KY + 1;
        if (done >= 0) {
            if (INSIDE || y + done < (int)f.m_y)
                write<V, INSIDE>((result *)to, c.x, (int)f.m_x, sum[done < 0 ? 0 : done]);
            to += f.out_y * (i64)sizeof(result);
        }
    }
}

extern "C" __global__ void __launch_bounds__(32 * WX * WY, BLOCKS)
    patch(const element *in, result *out, const frame f, const tap_list<KX * KY> taps) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = (blockIdx.x * WX + warp % WX) * 32 * V;
    const int y = (blockIdx.y * WY + warp / WX) * R, top = y - f.before_y;
    // Votes, so that the compiler knows that a warp goes one way.
    if (__all_sync(0xffffffff, first >= (int)f.m_x || y >= (int)f.m_y))
        return;
    find_array(f, blockIdx.z, in, out);
    columns c;
    c.x = first + lane * V;
    c.edge = lane < 16 ? first - REACH : first + 32 * V;
    const bool all_in = VECTORS && first >= REACH && first + 32 * V + REACH <= (int)f.n_x && top >= 0 && top + ROWS <= (int)f.n_y;
    const bool all_out = first + 32 * V <= (int)f.m_x && y + R <= (int)f.m_y;
    if (__all_sync(0xffffffff, all_in && all_out))
        compute<true>(in, out, f, taps, y, c, lane);
    else
        compute<false>(in, out, f, taps, y, c, lane);
}

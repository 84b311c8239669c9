// SPDX-License-Identifier: Apache-2.0
// gpu_patch.cuh - rows in registers, for small masks: a thread has V columns of ROWS rows as words, its neighbour lanes the rest of its windows.
//
// DIRECT=1: what lies beside is loaded too, as vectors of V, and no lane asks another. That costs more of the first-level cache and less of everything
// else: better for single rows; and with V=1 for rows that begin anywhere, whose elements can only be loaded one by one.
//
// LAPPED=1, where results of a first pass are what neighbours ask for: warps overlap, and a lane whose neighbours do not hold its window writes nothing. No lane
// has anything but its own V columns, so that nobody computes a warp's edges in all of its lanes.
//
// -DKY; -DV, -DR columns and rows of outputs a thread; -DDIRECT; -DWX, -DWY: warps of a block along x and y.
#include "ops/correlate/gpu_window.cuh"

#ifndef LAPPED
#define LAPPED 0
#endif

__host__ __device__ constexpr int power_above(int n) { return n <= 1 ? 1 : 2 * power_above((n + 1) / 2); }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }
const int ROWS = R + KY - 1, VW = V * SIZE / 4;
const bool VECTORS = WHOLE || V == 1;                                                               // a row may be loaded in vectors of V
const int LAP_LEFT = LAPPED ? (LEFT + V - 1) / V : 0, LAP_RIGHT = LAPPED ? (RIGHT + V - 1) / V : 0; // lanes at a warp's ends that write nothing
const int OWN = (32 - LAP_LEFT - LAP_RIGHT) * V;                                                    // columns that a warp writes
#if DIRECT
const int BESIDE_LEFT = (LEFT + V - 1) / V, BESIDE_RIGHT = (RIGHT + V - 1) / V; // vectors
const int COUNT = (BESIDE_LEFT + 1 + BESIDE_RIGHT) * V, REACH = larger(BESIDE_LEFT, BESIDE_RIGHT) * V, FIRST = BESIDE_LEFT * V - LEFT;
const int WORDS = COUNT * SIZE / 4; // of a window
static_assert(V * SIZE % 4 == 0, "vectors are whole words");
#else
const int H = LAPPED || LEFT + RIGHT == 0 ? 0 : larger(power_above(larger(LEFT, RIGHT)), 4 / SIZE), REACH = H;
const int LW = LAPPED ? 0 : (LEFT * SIZE + 3) / 4, RW = LAPPED ? 0 : (RIGHT * SIZE + 3) / 4,
          FIRST = LW * 4 / SIZE - LEFT; // of the window's words: the first element's place
const int COUNT = V + H;                // elements that a lane loads: its own, and edges
const int WORDS = LW + VW + RW;
static_assert(V * SIZE % 4 == 0 && (LAPPED || (LEFT <= V && RIGHT <= V)), "a lane's neighbours do not hold its window");
#endif

struct row_words {
    unsigned word[COUNT * SIZE / 4];
};

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

// Where the elements of a row stand that a lane loads, each by the boundary's rule: the same in every row. -1: a constant.
struct resolved {
    int at[COUNT];
};
__device__ __forceinline__ resolved resolve_columns(const frame &f, const columns &c) {
    resolved found;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
#if DIRECT
        const int x = c.x - BESIDE_LEFT * V + i;
#else
        const int x = i < V ? c.x + i : c.edge + i - V;
#endif
        found.at[i] = resolve_x(x, (int)f.n_x, f.edge);
    }
    return found;
}

// N elements from column x on, which stand at at[0], at[1], ... ; a row that is not there is of constants.
template <int N> __device__ __forceinline__ void load_resolved(unsigned *word, const element *row, bool there, const frame &f, int x, const int *at) {
    if (VECTORS && there && x >= 0 && x + N <= (int)f.n_x && N % V == 0) {
        load_words<N * SIZE>(word, (const char *)(row + x));
    } else {
        const element ghost = ghost_of(f);
#pragma unroll
        for (int i = 0; i < N; i++) {
            const element e = row[at[i] < 0 ? 0 : at[i]];
            put(word, i, there && at[i] >= 0 ? e : ghost);
        }
    }
}

__device__ __forceinline__ void load_anywhere(row_words &row, const element *in, const frame &f, int y, const columns &c, const resolved &found) {
    y = resolve(y, (int)f.n_y, f.edge);
    const element *at = in + (i64)(y < 0 ? 0 : y) * f.in_y;
    const bool there = y >= 0;
#if DIRECT
#pragma unroll
    for (int g = 0; g < COUNT / V; g++)
        load_resolved<V>(row.word + g * VW, at, there, f, c.x + (g - BESIDE_LEFT) * V, found.at + g * V);
#else
    load_resolved<V>(row.word, at, there, f, c.x, found.at);
    if (H)
        load_resolved<larger(H, 1)>(row.word + VW, at, there, f, c.edge, found.at + V);
#endif
}

// The words of a row's window: the lane's own, and those beside.
__device__ __forceinline__ void gather(unsigned (&word)[WORDS], const row_words &row, int lane) {
#if DIRECT
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        word[i] = row.word[i];
#else
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
}

// What a warp does: R rows of outputs from row y on, 32 * V columns from `first` on, OWN of which come out.
struct place {
    int lane, first, y;
    columns c;
};
__device__ __forceinline__ place place_of_warp() {
    place p;
    const int warp = threadIdx.x / 32;
    p.lane = threadIdx.x % 32;
    p.first = (int)(blockIdx.x * WX + warp % WX) * OWN - LAP_LEFT * V;
    p.y = (blockIdx.y * WY + warp / WX) * R;
    p.c.x = p.first + p.lane * V;
    p.c.edge = p.lane < 16 ? p.first - REACH : p.first + 32 * V;
    return p;
}
__device__ __forceinline__ bool writes(int lane) { return !LAPPED || (lane >= LAP_LEFT && lane < 32 - LAP_RIGHT); }
// Votes, so that the compiler knows that a warp goes one way.
__device__ __forceinline__ bool is_idle(const place &p, const frame &f) {
    return __all_sync(0xffffffff, p.first + LAP_LEFT * V >= (int)f.m_x || p.y >= (int)f.m_y);
}
__device__ __forceinline__ bool is_inside(const place &p, const frame &f) {
    const int top = p.y - f.before_y;
    const bool all_in = VECTORS && p.first >= REACH && p.first + 32 * V + REACH <= (int)f.n_x && top >= 0 && top + ROWS <= (int)f.n_y;
    const bool all_out = p.first + (32 - LAP_RIGHT) * V <= (int)f.m_x && p.y + R <= (int)f.m_y;
    return __all_sync(0xffffffff, all_in && all_out);
}

// All rows of a patch that lies inside, at once.
__device__ __forceinline__ void load_all(row_words (&rows)[ROWS], const element *in, const frame &f, const place &p) {
    const char *own = (const char *)(in + (i64)(p.y - f.before_y) * f.in_y + p.c.x), *edge = own + (p.c.edge - p.c.x) * SIZE;
    const i64 step = f.in_y * SIZE;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        load_inside(rows[r], own, edge);
        own += step;
        edge += step;
    }
}

// Rows one after another: each is read once, and adds to every output that it concerns, so that sums grow in the order of the mask. What a kernel keeps of
// a row's words is its RULE's window; rule.add() gives V sums what row ky of the mask makes of one, the first time with ky = 0.
template <bool INSIDE, typename RULE>
__device__ __forceinline__ void compute_rows(const element *in, result *out, const frame &f, const RULE &rule, const place &p) {
    row_words rows[ROWS];
    work sum[R][V];
    resolved found;
    if (INSIDE)
        load_all(rows, in, f, p);
    else
        found = resolve_columns(f, p.c);
    char *to = (char *)(out + (i64)p.y * f.out_y + p.c.x);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (!INSIDE)
            load_anywhere(rows[r], in, f, p.y - f.before_y + r, p.c, found);
        unsigned word[WORDS];
        gather(word, rows[r], p.lane);
        const typename RULE::window window(word);
#pragma unroll
        for (int o = 0; o < R; o++) {
            const int ky = r - o;
            if (ky >= 0 && ky < KY)
                rule.add(sum[o], window, ky);
        }
        const int done = r - KY + 1;
        if (done >= 0) {
            if (INSIDE || p.y + done < (int)f.m_y)
                write<V, INSIDE>((result *)to, p.c.x, (int)f.m_x, sum[done < 0 ? 0 : done]);
            to += f.out_y * (i64)sizeof(result);
        }
    }
}

// The whole of a kernel.
template <typename RULE> __device__ __forceinline__ void compute_patch(const element *in, result *out, const frame &f, const RULE &rule) {
    const place p = place_of_warp();
    if (is_idle(p, f))
        return;
    find_array(f, blockIdx.z, in, out);
    if (is_inside(p, f))
        compute_rows<true>(in, out, f, rule, p);
    else
        compute_rows<false>(in, out, f, rule, p);
}

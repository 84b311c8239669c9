// SPDX-License-Identifier: Apache-2.0
// gpu_fft_passes.cu - production: the same transforms for tiles larger than shared memory, three launches a share of the tiles, through the workspace.
//
// Columns forward: a block has STRIPE columns of a tile's grid, whose elements come from the array through the boundary, and writes points to the workspace. Rows:
// a block has BUNDLE rows there; they are transformed forward, multiplied with the spectrum, pieces added, transformed backward, and take the place of the first piece's.
// Columns back: a stripe again; the results are the outputs. Where columns beyond a tile's outputs would be thrown away, none of them is written or read.
// In the workspace as in the array lanes lie along a row; in shared memory the passes between lie as gpu_fft_tile.cu says.
//
// -DSTRIPE, -DSTRIPE_THREADS, -DBUNDLE, -DBUNDLE_THREADS; -DSTRIPE_BLOCKS, -DBUNDLE_BLOCKS: that a
// multiprocessor should hold
#include "ops/correlate/gpu_fft.cuh"

static_assert(columns::HEAD && rows::HEAD, "a tile of few rows or columns fits shared memory");
// Lanes of a phase that is served at once, 128 bytes, meet no bank twice: where a stripe or a bundle is narrower, what a tail takes begins after a gap, so that the next
// one's points fall between.
template <int ACROSS, int LAST, int STEP> __device__ __forceinline__ constexpr int gap_after(int along) {
    return ACROSS * (int)sizeof(point) < 128 ? along / LAST * STEP : 0;
}
__device__ __forceinline__ constexpr int down(int r) { // a stripe's row
    return r * STRIPE + gap_after<STRIPE, columns::LAST, STRIPE>(r);
}
__device__ __forceinline__ constexpr int along(int c) { // in a bundle's row
    return c + gap_after<BUNDLE, rows::LAST, 1>(c);
}
const int SHIFT = BUNDLE * (int)sizeof(point) < 128 ? 128 / (int)sizeof(point) / BUNDLE : 1,
          PITCH = WIDE + gap_after<BUNDLE, rows::LAST, 1>(WIDE) + SHIFT;
extern __shared__ point grid[];
__shared__ tile pair[2];

__device__ __forceinline__ void find_pair(const transform &t, i64 number, i64 piece) {
    if (threadIdx.x < 2)
        pair[threadIdx.x] = find_tile(t, 2 * number + threadIdx.x, piece);
    __syncthreads();
}

// A tile at the array's edge has stripes that lie inside all the same, and a neighbour that does. Asked for each stripe and tile, f32 planes have fewer points
// whose place the boundary is asked for.
const bool EACH = PLANE && sizeof(work) == 4;
__device__ __forceinline__ void find_pair_of_stripe(const transform &t, i64 number, i64 piece, int left) {
    if (threadIdx.x < 2) {
        tile at = find_tile(t, 2 * number + threadIdx.x, piece);
        const int end = left + STRIPE < at.across ? left + STRIPE : at.across; // columns beyond are 0
        if (!at.ghost && at.y >= 0 && at.y + at.down <= t.y.n)
            at.inside = at.x + left >= 0 && at.x + end <= t.x.n;
        pair[threadIdx.x] = at;
    }
    __syncthreads();
}
template <int N> __device__ __forceinline__ void fetch_each(point (&x)[N], const transform &t, const in_element *in, int r, int step, int c) {
    work re[N], im[N];
    if (pair[0].inside)
        fetch_inside(re, t, pair[0], in, r, step, c);
    else
        fetch_any(re, t, pair[0], in, r, step, c);
    if (pair[1].inside)
        fetch_inside(im, t, pair[1], in, r, step, c);
    else
        fetch_any(im, t, pair[1], in, r, step, c);
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = {re[i], im[i]};
}

template <int N> __device__ __forceinline__ void get(point (&x)[N], const point *from, int step) {
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = from[i * step];
}
template <int N> __device__ __forceinline__ void put(const point (&x)[N], point *to, int step) {
#pragma unroll
    for (int i = 0; i < N; i++)
        to[i * step] = x[i];
}
// To memory as what is used once: what the launch reads, the rows that several stripes share, stays in the second-level cache.
template <int N> __device__ __forceinline__ void put_once(const point (&x)[N], point *to, int step) {
#pragma unroll
    for (int i = 0; i < N; i++)
#if WORK == T_F64
        __stcs((double2 *)(to + i * step), make_double2(x[i].re, x[i].im));
#else
        __stcs((float2 *)(to + i * step), make_float2(x[i].re, x[i].im));
#endif
}

// A level between head and tail, of columns that stand in a stripe, of rows in a bundle.
template <bool BACK> __device__ __forceinline__ void column_middles(const point *roots, int left, int wanted) {
    if constexpr (columns::MIDDLE) {
        for (int item = threadIdx.x; item < STRIPE * columns::M; item += STRIPE_THREADS) {
            const int c = item % STRIPE, j = item / STRIPE;
            point x[8], *at = grid + down(columns::place(j)) + c;
            if (left + c >= wanted)
                continue;
            get(x, at, down(columns::STEP));
            columns::template middle<BACK>(x, roots, j, side_of(left + c));
            put(x, at, down(columns::STEP));
        }
        __syncthreads();
    }
}
template <bool BACK> __device__ __forceinline__ void row_middles(const point *roots) {
    if constexpr (rows::MIDDLE) {
        for (int item = threadIdx.x; item < BUNDLE * rows::M; item += BUNDLE_THREADS) {
            const int r = item % BUNDLE, j = item / BUNDLE;
            point x[8], *at = grid + r * PITCH + along(rows::place(j));
            get(x, at, along(rows::STEP));
            rows::template middle<BACK>(x, roots, j, 0);
            put(x, at, along(rows::STEP));
        }
        __syncthreads();
    }
}

// turn: which share of the pairs of tiles; a share has t.pairs, as many as the workspace holds.
extern "C" __global__ void __launch_bounds__(STRIPE_THREADS, STRIPE_BLOCKS)
    columns_forward(const in_element *__restrict__ in, point *__restrict__ room, const point *__restrict__ roots, const i64 turn,
                    const __grid_constant__ transform t) {
    const int STRIPES = WIDE / STRIPE, left = blockIdx.x % STRIPES * STRIPE;
    const i64 rest = blockIdx.x / STRIPES;
    i64 slot = rest;
    const i64 piece = SEVERAL ? divide(slot, t.pieces) : 0;
    const i64 number = turn * t.pairs + slot;
    if (2 * number >= t.tiles)
        return;
    if constexpr (EACH)
        find_pair_of_stripe(t, number, piece, left);
    else
        find_pair(t, number, piece);
    for (int item = threadIdx.x; item < STRIPE * columns::M; item += STRIPE_THREADS) {
        const int c = item % STRIPE, j = item / STRIPE;
        point x[8];
        if constexpr (EACH)
            fetch_each(x, t, in, j, columns::M, left + c);
        else
            fetch(x, t, pair, in, j, columns::M, left + c);
        columns::template head<false>(x, roots, j, side_of(left + c));
        put(x, grid + down(j) + c, down(columns::M));
    }
    __syncthreads();
    column_middles<false>(roots, left, WIDE);
    point *to = room + rest * (HIGH * WIDE) + left;
    for (int item = threadIdx.x; item < STRIPE * (HIGH / columns::LAST); item += STRIPE_THREADS) {
        const int c = item % STRIPE, k = item / STRIPE;
        point x[columns::LAST];
        get(x, grid + down(k * columns::LAST) + c, STRIPE);
        columns::tail(x, roots, side_of(left + c));
        put_once(x, to + k * columns::LAST * WIDE + c, WIDE);
    }
}

// Columns of the tiles that outputs come from.
__device__ __forceinline__ int columns_wanted(const transform &t) { return PLANE ? (int)t.outputs_x : WIDE; }

// Butterflies whose points a thread asks for at once: where a multiprocessor holds one block, nothing else hides how far memory is.
const int AHEAD = BUNDLE_BLOCKS > 1 ? 1 : 2;

extern "C" __global__ void __launch_bounds__(BUNDLE_THREADS, BUNDLE_BLOCKS)
    rows_through(point *__restrict__ room, const point *__restrict__ roots, const point *__restrict__ spectrum, const i64 turn,
                 const __grid_constant__ transform t) {
    const int BUNDLES = HIGH / BUNDLE, top = blockIdx.x % BUNDLES * BUNDLE;
    const i64 slot = blockIdx.x / BUNDLES;
    if (2 * (turn * t.pairs + slot) >= t.tiles)
        return;
    point *to = room + slot * (SEVERAL ? t.pieces : 1) * (HIGH * WIDE) + top * WIDE;
    for (i64 piece = 0; piece < (SEVERAL ? t.pieces : 1); piece++) {
        const point *from = to + piece * (HIGH * WIDE), *w = spectrum + piece * (HIGH * WIDE) + top;
#pragma unroll AHEAD
        for (int item = threadIdx.x; item < BUNDLE * rows::M; item += BUNDLE_THREADS) {
            const int j = item % rows::M, r = item / rows::M;
            point x[8];
            get(x, from + r * WIDE + j, rows::M);
            rows::template head<false>(x, roots, j, 0);
            put(x, grid + r * PITCH + along(j), along(rows::M));
        }
        __syncthreads();
        row_middles<false>(roots);
        for (int item = threadIdx.x; item < BUNDLE * (WIDE / rows::LAST); item += BUNDLE_THREADS) {
            const int r = item % BUNDLE, k = item / BUNDLE, at = r * PITCH + along(k * rows::LAST);
            point x[rows::LAST];
            get(x, grid + at, 1);
            rows::tail(x, roots, 0);
#pragma unroll
            for (int i = 0; i < rows::LAST; i++) {
                const point s = w[(k * rows::LAST + i) * HIGH + r];
                x[i] = SEVERAL && piece > 0 ? add_product(grid[BUNDLE * PITCH + at + i], x[i], s) : x[i] * s;
            }
            const bool last = !SEVERAL || piece == t.pieces - 1;
            if (last) {
#pragma unroll
                for (int i = 0; i < rows::LAST; i++)
                    x[i] = {x[i].im, x[i].re};
                rows::tail_back(x, roots, 0);
            }
            put(x, grid + (last ? 0 : BUNDLE * PITCH) + at, 1);
        }
        __syncthreads();
    }
    row_middles<true>(roots);
    const int wanted = columns_wanted(t);
    for (int item = threadIdx.x; item < BUNDLE * rows::M; item += BUNDLE_THREADS) {
        const int j = item % rows::M, r = item / rows::M;
        point x[8];
        get(x, grid + r * PITCH + along(j), along(rows::M));
        rows::template head<true>(x, roots, j, 0);
#pragma unroll
        for (int q = 0; q < 8; q++)
            if (j + q * rows::M < wanted)
                to[r * WIDE + j + q * rows::M] = x[q];
    }
}

extern "C" __global__ void __launch_bounds__(STRIPE_THREADS, STRIPE_BLOCKS)
    columns_back(const point *__restrict__ room, out_element *__restrict__ out, const point *__restrict__ roots, const i64 turn,
                 const __grid_constant__ transform t) {
    const int wanted = columns_wanted(t), stripes = (wanted + STRIPE - 1) / STRIPE, left = blockIdx.x % stripes * STRIPE;
    const i64 slot = blockIdx.x / stripes, number = turn * t.pairs + slot;
    if (2 * number >= t.tiles)
        return;
    find_pair(t, number, 0);
    const point *from = room + slot * (SEVERAL ? t.pieces : 1) * (HIGH * WIDE) + left;
    for (int item = threadIdx.x; item < STRIPE * (HIGH / columns::LAST); item += STRIPE_THREADS) {
        const int c = item % STRIPE, k = item / STRIPE;
        point x[columns::LAST];
        if (left + c >= wanted)
            continue;
        get(x, from + k * columns::LAST * WIDE + c, WIDE);
        columns::tail_back(x, roots, side_of(left + c));
        put(x, grid + down(k * columns::LAST) + c, STRIPE);
    }
    __syncthreads();
    column_middles<true>(roots, left, wanted);
    for (int item = threadIdx.x; item < STRIPE * columns::M; item += STRIPE_THREADS) {
        const int c = item % STRIPE, j = item / STRIPE;
        point x[8];
        if (left + c >= wanted)
            continue;
        get(x, grid + down(j) + c, down(columns::M));
        columns::template head<true>(x, roots, j, side_of(left + c));
        give(x, t, pair, out, j, columns::M, left + c);
    }
}

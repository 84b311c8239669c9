// SPDX-License-Identifier: Apache-2.0
// gpu_fft_tile.cu - production: correlation by Fourier transforms, overlap and save, a pair of tiles a block.
//
// The whole grid of points stands in shared memory from the first butterfly, whose operands come straight from the array through the boundary, to the last one,
// whose results are the outputs: memory is read and written once. In column passes lanes lie along a row of the grid, in row passes along a
// column, rows being an odd number of points apart: no access meets a bank twice, and rows' roots are the same in all lanes. The last forward pass, the product with the spectrum and
// the first backward pass happen in registers. Several pieces of a mask add up in a second grid.
//
// -DTHREADS, -DBLOCKS (that a multiprocessor should hold)
#include "ops/correlate/gpu_fft.cuh"

const int PITCH = WIDE + 1;
extern __shared__ point grid[];
__shared__ tile pair[2];

// A pass over the grid by items: lanes along a row, and along a column.
#define COLUMN_PASS(c, number, each)                                                                 \
    for (int item = threadIdx.x, c = item % WIDE, number = item / WIDE; item < WIDE * (HIGH / each); \
         item += THREADS, c = item % WIDE, number = item / WIDE)
#define ROW_PASS(r, number, each)                                                                    \
    for (int item = threadIdx.x, r = item % HIGH, number = item / HIGH; item < HIGH * (WIDE / each); \
         item += THREADS, r = item % HIGH, number = item / HIGH)

template <int N> __device__ __forceinline__ void get(point (&x)[N], int at, int step) {
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = grid[at + i * step];
}
template <int N> __device__ __forceinline__ void put(const point (&x)[N], int at, int step) {
#pragma unroll
    for (int i = 0; i < N; i++)
        grid[at + i * step] = x[i];
}

__device__ __forceinline__ void columns_forward(const transform &t, const in_element *in, const point *roots) {
    if constexpr (columns::HEAD) {
        COLUMN_PASS(c, j, 8) {
            point x[8];
            fetch(x, t, pair, in, j, columns::M, c);
            columns::template head<false>(x, roots, j, side_of(c));
            put(x, j * PITCH + c, columns::M * PITCH);
        }
        __syncthreads();
    }
    if constexpr (columns::MIDDLE) {
        COLUMN_PASS(c, j, 8) {
            point x[8];
            get(x, columns::place(j) * PITCH + c, columns::STEP * PITCH);
            columns::template middle<false>(x, roots, j, side_of(c));
            put(x, columns::place(j) * PITCH + c, columns::STEP * PITCH);
        }
        __syncthreads();
    }
    COLUMN_PASS(c, k, columns::LAST) {
        point x[columns::LAST];
        if constexpr (columns::HEAD)
            get(x, k * columns::LAST * PITCH + c, PITCH);
        else
            fetch(x, t, pair, in, 0, 1, c);
        columns::tail(x, roots, side_of(c));
        put(x, k * columns::LAST * PITCH + c, PITCH);
    }
    __syncthreads();
}

template <bool BACK> __device__ __forceinline__ void row_heads(const point *roots) {
    if constexpr (rows::HEAD) {
        ROW_PASS(r, j, 8) {
            point x[8];
            get(x, r * PITCH + j, rows::M);
            rows::template head<BACK>(x, roots, j, 0);
            put(x, r * PITCH + j, rows::M);
        }
        __syncthreads();
    }
}
template <bool BACK> __device__ __forceinline__ void row_middles(const point *roots) {
    if constexpr (rows::MIDDLE) {
        ROW_PASS(r, j, 8) {
            point x[8];
            get(x, r * PITCH + rows::place(j), rows::STEP);
            rows::template middle<BACK>(x, roots, j, 0);
            put(x, r * PITCH + rows::place(j), rows::STEP);
        }
        __syncthreads();
    }
}

// The last forward pass along rows, the product; and, after the last piece, the first backward one.
__device__ __forceinline__ void products(const point *roots, const point *spectrum, bool first, bool last) {
    ROW_PASS(r, k, rows::LAST) {
        point x[rows::LAST];
        const int at = r * PITCH + k * rows::LAST;
        get(x, at, 1);
        rows::tail(x, roots, 0);
#pragma unroll
        for (int i = 0; i < rows::LAST; i++) {
            const point w = spectrum[(k * rows::LAST + i) * HIGH + r];
            x[i] = SEVERAL && !first ? add_product(grid[HIGH * PITCH + at + i], x[i], w) : x[i] * w;
        }
        if (SEVERAL && !last) {
            put(x, HIGH * PITCH + at, 1);
        } else {
#pragma unroll
            for (int i = 0; i < rows::LAST; i++)
                x[i] = {x[i].im, x[i].re};
            rows::tail_back(x, roots, 0);
            put(x, at, 1);
        }
    }
    __syncthreads();
}

__device__ __forceinline__ void columns_back(const transform &t, out_element *out, const point *roots) {
    const int wanted = PLANE ? max(pair[0].columns, pair[1].columns) : WIDE;
    COLUMN_PASS(c, k, columns::LAST) {
        point x[columns::LAST];
        if (c >= wanted)
            continue;
        get(x, k * columns::LAST * PITCH + c, PITCH);
        columns::tail_back(x, roots, side_of(c));
        if constexpr (columns::HEAD)
            put(x, k * columns::LAST * PITCH + c, PITCH);
        else
            give(x, t, pair, out, 0, 1, c);
    }
    if constexpr (columns::MIDDLE) {
        __syncthreads();
        COLUMN_PASS(c, j, 8) {
            point x[8];
            if (c >= wanted)
                continue;
            get(x, columns::place(j) * PITCH + c, columns::STEP * PITCH);
            columns::template middle<true>(x, roots, j, side_of(c));
            put(x, columns::place(j) * PITCH + c, columns::STEP * PITCH);
        }
    }
    if constexpr (columns::HEAD) {
        __syncthreads();
        COLUMN_PASS(c, j, 8) {
            point x[8];
            if (c >= wanted)
                continue;
            get(x, j * PITCH + c, columns::M * PITCH);
            columns::template head<true>(x, roots, j, side_of(c));
            give(x, t, pair, out, j, columns::M, c);
        }
    }
}

// column_roots, row_roots: tables of the axes; spectrum: of each piece, column by column.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    transform_tiles(const in_element *__restrict__ in, out_element *__restrict__ out, const point *__restrict__ column_roots,
                    const point *__restrict__ row_roots, const point *__restrict__ spectrum, const __grid_constant__ transform t) {
    for (i64 piece = 0; piece < (SEVERAL ? t.pieces : 1); piece++) {
        if (threadIdx.x < 2)
            pair[threadIdx.x] = find_tile(t, 2 * (i64)blockIdx.x + threadIdx.x, piece);
        __syncthreads();
        columns_forward(t, in, column_roots);
        row_heads<false>(row_roots);
        row_middles<false>(row_roots);
        products(row_roots, spectrum + piece * HIGH * WIDE, piece == 0, piece == t.pieces - 1);
    }
    row_middles<true>(row_roots);
    row_heads<true>(row_roots);
    columns_back(t, out, column_roots);
}

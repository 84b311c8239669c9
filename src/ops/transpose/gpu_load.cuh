// SPDX-License-Identifier: Apache-2.0
// gpu_load.cuh - tiles whose rows begin anywhere: their sizes, rows in the aligned vectors that hold them, and where the turned tile lies.
//
// What else lies in those vectors is not used. Loads ask L2 for whole lines: what is left of one belongs to the tile beside this one.
//
// -DLANES vectors of a row are loaded, by as many neighbours; a row begins somewhere in the first, so LANES - 1 come out. -DNV groups of V rows make a tile.
#ifndef TESS_TRANSPOSE_LOAD_CUH
#define TESS_TRANSPOSE_LOAD_CUH
#include "ops/transpose/gpu_piece.cuh"
#include "ops/transpose/gpu_turn.cuh"

enum {
    MARGIN = 32 / SIZE, // rows before the tile: a row of `out` may begin with them, at the start of a sector
    GROUPS = NV + 2,    // of V rows: the margin's and the tile's
    P = (LANES - 1) * V,
    Q = NV * V,
    THREADS = GROUPS * LANES
};
static_assert(THREADS % 32 == 0 && 32 % LANES == 0, "neighbours stand in a warp");

// A vector as it lies.
__device__ void load_vector(vector &x, const char *at) {
    asm volatile("ld.global.nc.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.word[0]), "=r"(x.word[1]), "=r"(x.word[2]), "=r"(x.word[3])
                 : "l"(at));
}

// The same where some of it may lie outside of low to high.
__device__ void load_inside(vector &x, const char *at, const char *low, const char *high) {
    if (at >= low && at + 16 <= high) {
        load_vector(x, at);
        return;
    }
    for (int i = 0; i < 4; i++) {
        unsigned word = 0;
        for (int b = 0; b < 4; b += SIZE < 4 ? SIZE : 4)
            if (at + 4 * i + b >= low && at + 4 * i + b < high)
                word |= (unsigned)*(const piece<SIZE>::type *)(at + 4 * i + b) << 8 * b;
        x.word[i] = word;
    }
}

// Vector g of row p of the turned tile. One is left free after every V rows: no bank conflicts where columns are laid down.
__device__ int place_in_tile(int p, int g) { return p * GROUPS + p / V + g; }

// A thread's columns, row by row of the turned tile. The last lane's are its neighbour's first: they are not wanted.
__device__ void lay_down(uint4 *tile, const vector (&column)[V], int across, int group) {
    if (across < LANES - 1)
#pragma unroll
        for (int c = 0; c < V; c++)
            tile[place_in_tile(across * V + c, group)] = column[c].all;
}
#endif

// SPDX-License-Identifier: Apache-2.0
// gpu_load.cuh - rows that begin anywhere come to registers in the aligned vectors that hold them. What else lies in those is not used.
//
// Loads ask L2 for whole lines: what is left of one belongs to the tile beside this one.
#ifndef TESS_TRANSPOSE_LOAD_CUH
#define TESS_TRANSPOSE_LOAD_CUH
#include "ops/transpose/gpu_piece.cuh"
#include "ops/transpose/gpu_turn.cuh"

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
#endif

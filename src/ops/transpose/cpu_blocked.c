/* SPDX-License-Identifier: Apache-2.0
 * cpu_blocked.c - the straightforward way, for any layout: blocks small enough that their lines of in and of out stay in the first-level cache
 * together. */
#include <string.h>

#include "ops/transpose/transpose.h"

tess_status TESS_ISA_NAME(tess_transpose_blocked)(const tess_problem *base, const tess_run *run);

typedef struct {
    uint64_t half[2];
} bytes16;

#define BLOCK(size, type)                                                                                                     \
    static void block_##size(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) { \
        const transpose_plane *plane = argument;                                                                              \
        (void)p;                                                                                                              \
        (void)q;                                                                                                              \
        for (int64_t i = 0; i < np; i++) {                                                                                    \
            const char *from = in + i * plane->p_in;                                                                          \
            char *to = out + i * plane->p_out;                                                                                \
            for (int64_t k = 0; k < nq; k++) {                                                                                \
                type v;                                                                                                       \
                memcpy(&v, from + k * plane->q_in, sizeof v);                                                                 \
                memcpy(to + k * plane->q_out, &v, sizeof v);                                                                  \
            }                                                                                                                 \
        }                                                                                                                     \
    }
BLOCK(1, uint8_t)
BLOCK(2, uint16_t)
BLOCK(4, uint32_t)
BLOCK(8, uint64_t)
BLOCK(16, bytes16)

tess_status TESS_ISA_NAME(tess_transpose_blocked)(const tess_problem *base, const tess_run *run) {
    const transpose_problem *problem = (const transpose_problem *)base;
    transpose_plane plane;
    tess_transpose_plane_of(&plane, problem, false);
    int64_t side = problem->size == 1 ? 64 : 32, q_block = plane.p_size > 1 ? side : 16384;
    transpose_block block = problem->size == 1   ? block_1
                            : problem->size == 2 ? block_2
                            : problem->size == 4 ? block_4
                            : problem->size == 8 ? block_8
                                                 : block_16;
    return tess_transpose_blocks(problem, run, &plane, side, q_block, 1, problem->size, block, &plane);
}

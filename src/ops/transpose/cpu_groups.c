/* SPDX-License-Identifier: Apache-2.0
 * cpu_groups.c - a short axis of 2, 3 or 4 beside a long one, as in pictures: planes to pixels and back.
 *
 * Tiles waste most of a line here. With the length of the short axis a constant, the plain loops below are interleavings that compilers turn into
 * loads, permutes and stores of whole vectors. */
#include <string.h>

#include "ops/transpose/transpose.h"

tess_status TESS_ISA_NAME(tess_transpose_groups)(const tess_problem *base, const tess_run *run);
transpose_turn_groups TESS_ISA_NAME(tess_transpose_turn_groups);

/* Pixels of G elements to G planes, and planes to pixels. */
#define GROUPS(S, type, G)                                                                                                                         \
    static void split_##S##_##G(const void *argument, const char *restrict in, char *restrict out, int64_t p, int64_t np, int64_t q, int64_t nq) { \
        const transpose_plane *plane = argument;                                                                                                   \
        (void)p;                                                                                                                                   \
        (void)np;                                                                                                                                  \
        (void)q;                                                                                                                                   \
        for (int64_t g = 0; g < G; g++) {                                                                                                          \
            char *restrict to = out + g * plane->p_out;                                                                                            \
            for (int64_t i = 0; i < nq; i++) {                                                                                                     \
                type v;                                                                                                                            \
                memcpy(&v, in + (i * G + g) * S, S);                                                                                               \
                memcpy(to + i * S, &v, S);                                                                                                         \
            }                                                                                                                                      \
        }                                                                                                                                          \
    }                                                                                                                                              \
    static void join_##S##_##G(const void *argument, const char *restrict in, char *restrict out, int64_t p, int64_t np, int64_t q, int64_t nq) {  \
        const transpose_plane *plane = argument;                                                                                                   \
        const int64_t step = plane->q_in;                                                                                                          \
        (void)p;                                                                                                                                   \
        (void)q;                                                                                                                                   \
        (void)nq;                                                                                                                                  \
        for (int64_t i = 0; i < np; i++)                                                                                                           \
            for (int64_t g = 0; g < G; g++) {                                                                                                      \
                type v;                                                                                                                            \
                memcpy(&v, in + g * step + i * S, S);                                                                                              \
                memcpy(out + (i * G + g) * S, &v, S);                                                                                              \
            }                                                                                                                                      \
    }
#define GROUPS_OF(S, type) GROUPS(S, type, 2) GROUPS(S, type, 3) GROUPS(S, type, 4)
GROUPS_OF(1, uint8_t)
GROUPS_OF(2, uint16_t)
GROUPS_OF(4, uint32_t)
GROUPS_OF(8, uint64_t)

#define ROW(kind, S) \
    { kind##_##S##_2, kind##_##S##_3, kind##_##S##_4 }
static const transpose_block split[9][3] = {[1] = ROW(split, 1), [2] = ROW(split, 2), [4] = ROW(split, 4), [8] = ROW(split, 8)};
static const transpose_block join[9][3] = {[1] = ROW(join, 1), [2] = ROW(join, 2), [4] = ROW(join, 4), [8] = ROW(join, 8)};

bool TESS_ISA_NAME(tess_transpose_turn_groups)(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t np, int64_t nq, int64_t size) {
    const transpose_plane plane = {.p_out = dst_step, .q_in = src_step};
    if (size > 8 || !split[size][0])
        return false;
    if (np >= 2 && np <= 4 && src_step == np * size)
        split[size][np - 2](&plane, src, dst, 0, np, 0, nq);
    else if (nq >= 2 && nq <= 4 && dst_step == nq * size)
        join[size][nq - 2](&plane, src, dst, 0, np, 0, nq);
    else
        return false;
    return true;
}

tess_status TESS_ISA_NAME(tess_transpose_groups)(const tess_problem *base, const tess_run *run) {
    enum { BLOCK_BYTES = 1 << 13 };
    const transpose_problem *problem = (const transpose_problem *)base;
    transpose_plane plane;
    tess_transpose_plane_of(&plane, problem, false);
    int64_t length = BLOCK_BYTES / problem->size;
    if (plane.q_in == plane.p_size * problem->size && plane.p_size <= 4)
        return tess_transpose_blocks(problem, run, &plane, 4, length, 1, problem->size, split[problem->size][plane.p_size - 2], &plane);
    return tess_transpose_blocks(problem, run, &plane, length, 4, 1, problem->size, join[problem->size][plane.q_size - 2], &plane);
}

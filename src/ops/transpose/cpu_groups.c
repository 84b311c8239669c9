/* SPDX-License-Identifier: Apache-2.0
 * cpu_groups.c - a short axis of 2, 3 or 4 beside a long one, as in pictures: planes to pixels and back.
 *
 * Tiles waste most of a line here. Whole vectors of groups become whole vectors of planes by permutes of bytes (simd/groups.h); plain loops take what is
 * left over, and everything where there are no such permutes. Large results are put together in L1 and go past the caches from there, in whole lines: a
 * plain store would read the line that it overwrites. */
#include <string.h>

#include "ops/transpose/put_lines.h"
#include "ops/transpose/transpose.h"
#include "simd/groups.h"

tess_status TESS_ISA_NAME(tess_transpose_groups)(const tess_problem *base, const tess_run *run);
transpose_turn_groups TESS_ISA_NAME(tess_transpose_turn_groups);

typedef struct groups groups;
/* n elements of each plane; planes lie `step` bytes apart, groups without gaps. */
typedef void turn(const groups *g, const char *restrict in, char *restrict out, int64_t step, int64_t n);
struct groups {
    turn *turn;
    int64_t size, step; /* bytes of an element, between planes */
    bool tabled;
    v_groups tables;
};

#if TESS_HAS_GROUPS
enum { VECTOR = TESS_VECTOR_BYTES, AHEAD = 8192 }; /* bytes: the processor's own prefetchers stop where stores come between the loads */
/* The bytes of each plane that were turned: whole vectors. */
TESS_INLINE int64_t split_vectors(const int G, const groups *g, const char *restrict in, char *restrict out, int64_t step, int64_t bytes) {
    int64_t at = 0;
    for (; g->tabled && at + VECTOR <= bytes; at += VECTOR) {
        v_bytes from[4];
        for (int j = 0; j < G; j++) {
            tess_prefetch_l2(in + at * G + j * 64 + AHEAD);
            from[j] = v_groups_load(G, in + at * G, j);
        }
        for (int k = 0; k < G; k++)
            v_bytes_store(out + k * step + at, v_groups_turn(G, &g->tables, k, from));
    }
    return at;
}
TESS_INLINE int64_t join_vectors(const int G, const groups *g, const char *restrict in, char *restrict out, int64_t step, int64_t bytes) {
    int64_t at = 0;
    for (; g->tabled && at + VECTOR <= bytes; at += VECTOR) {
        v_bytes from[4];
        for (int j = 0; j < G; j++) {
            tess_prefetch_l2(in + j * step + at + AHEAD);
            from[j] = v_bytes_load(in + j * step + at);
        }
        for (int k = 0; k < G; k++)
            v_groups_store(G, out + at * G, k, v_groups_turn(G, &g->tables, k, from));
    }
    return at;
}
#else
#define split_vectors(G, g, in, out, step, bytes) 0
#define join_vectors(G, g, in, out, step, bytes) 0
#endif

typedef struct sixteen {
    uint64_t half[2];
} sixteen;

#define GROUPS(S, type, G)                                                                                               \
    static void split_##S##_##G(const groups *g, const char *restrict in, char *restrict out, int64_t step, int64_t n) { \
        const int64_t done = split_vectors(G, g, in, out, step, n * S) / S;                                              \
        (void)g;                                                                                                         \
        for (int k = 0; k < G; k++)                                                                                      \
            for (int64_t i = done; i < n; i++) {                                                                         \
                type v;                                                                                                  \
                memcpy(&v, in + (i * G + k) * S, S);                                                                     \
                memcpy(out + k * step + i * S, &v, S);                                                                   \
            }                                                                                                            \
    }                                                                                                                    \
    static void join_##S##_##G(const groups *g, const char *restrict in, char *restrict out, int64_t step, int64_t n) {  \
        const int64_t done = join_vectors(G, g, in, out, step, n * S) / S;                                               \
        (void)g;                                                                                                         \
        for (int64_t i = done; i < n; i++)                                                                               \
            for (int k = 0; k < G; k++) {                                                                                \
                type v;                                                                                                  \
                memcpy(&v, in + k * step + i * S, S);                                                                    \
                memcpy(out + (i * G + k) * S, &v, S);                                                                    \
            }                                                                                                            \
    }
#define GROUPS_OF(S, type) GROUPS(S, type, 2) GROUPS(S, type, 3) GROUPS(S, type, 4)
GROUPS_OF(1, uint8_t)
GROUPS_OF(2, uint16_t)
GROUPS_OF(4, uint32_t)
GROUPS_OF(8, uint64_t)
GROUPS_OF(16, sixteen)

#define ROW(kind, S) \
    { kind##_##S##_2, kind##_##S##_3, kind##_##S##_4 }
static turn *const split[17][3] = {[1] = ROW(split, 1), [2] = ROW(split, 2), [4] = ROW(split, 4), [8] = ROW(split, 8), [16] = ROW(split, 16)};
static turn *const join[17][3] = {[1] = ROW(join, 1), [2] = ROW(join, 2), [4] = ROW(join, 4), [8] = ROW(join, 8), [16] = ROW(join, 16)};

/* bytes: of each plane. Tables take as long as the turning of some KiB. */
static void prepare(groups *g, bool joins, int64_t count, int64_t size, int64_t step, int64_t bytes) {
    enum { LEAST = 4096 };
    g->turn = (joins ? join : split)[size][count - 2];
    g->size = size;
    g->step = step;
    g->tabled = TESS_HAS_GROUPS && bytes >= LEAST;
    if (g->tabled)
        v_groups_make(&g->tables, (int)count, (int)size, joins);
}

bool TESS_ISA_NAME(tess_transpose_turn_groups)(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t np, int64_t nq, int64_t size) {
    groups g;
    const bool splits = np >= 2 && np <= 4 && src_step == np * size, joins = nq >= 2 && nq <= 4 && dst_step == nq * size;
    if (size > 16 || !split[size][0] || !(splits || joins))
        return false;
    if (splits)
        prepare(&g, false, np, size, dst_step, nq * size);
    else
        prepare(&g, true, nq, size, src_step, np * size);
    g.turn(&g, src, dst, g.step, splits ? nq : np);
    return true;
}

/* ---- blocks ---- */

static void split_block(const void *argument, const char *restrict in, char *restrict out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const groups *g = argument;
    (void)p;
    (void)np;
    (void)q;
    g->turn(g, in, out, g->step, nq);
}
static void join_block(const void *argument, const char *restrict in, char *restrict out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const groups *g = argument;
    (void)p;
    (void)q;
    (void)nq;
    g->turn(g, in, out, g->step, np);
}

/* Bytes of a plane that are turned in L1 at a time, up to LINE bytes before them that wait for the rest of their line, and bytes between planes, which then do
 * not begin in the same sets. */
enum { STAGE = 1024, APART = LINE + STAGE + 64, PIECES = 64 };

static void split_past(const void *argument, const char *restrict in, char *restrict out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const groups *g = argument;
    const int64_t size = g->size, most = STAGE / size;
    _Alignas(64) char stage[4 * APART];
    int64_t waits[4] = {0};
    (void)p;
    (void)q;
    for (int64_t done = 0, n; done < nq; done += n) {
        n = tess_min64(nq - done, most);
        g->turn(g, in + done * np * size, stage + LINE, APART, n);
        for (int64_t k = 0; k < np; k++)
            waits[k] = tess_put_lines(out + k * g->step + done * size, stage + k * APART, waits[k], n * size, done + n == nq);
    }
}
static void join_past(const void *argument, const char *restrict in, char *restrict out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const groups *g = argument;
    const int64_t size = g->size, most = STAGE / size;
    _Alignas(64) char stage[LINE + 4 * STAGE];
    int64_t waits = 0;
    (void)p;
    (void)q;
    for (int64_t done = 0, n; done < np; done += n) {
        n = tess_min64(np - done, most);
        g->turn(g, in + done * size, stage + LINE, g->step, n);
        waits = tess_put_lines(out + done * nq * size, stage, waits, n * nq * size, done + n == np);
    }
}

tess_status TESS_ISA_NAME(tess_transpose_groups)(const tess_problem *base, const tess_run *run) {
    enum { BLOCK = 1 << 13 };
    const transpose_problem *problem = (const transpose_problem *)base;
    const int64_t size = problem->size;
    const bool large = problem->base.bytes / 2 >= TRANSPOSE_LARGE;
    transpose_plane plane;
    groups g;
    tess_transpose_plane_of(&plane, problem, false);
    const int64_t length = (large ? PIECES * STAGE : BLOCK) / size;
    if (plane.q_in == plane.p_size * size && plane.p_size <= 4) {
        prepare(&g, false, plane.p_size, size, plane.p_out, problem->in.count * size);
        return tess_transpose_blocks(problem, run, &plane, 4, length, 1, size, large ? split_past : split_block, &g);
    }
    prepare(&g, true, plane.q_size, size, plane.q_in, problem->in.count * size);
    return tess_transpose_blocks(problem, run, &plane, length, 4, 1, size, large ? join_past : join_block, &g);
}

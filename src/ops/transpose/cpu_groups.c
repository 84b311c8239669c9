/* SPDX-License-Identifier: Apache-2.0
 * cpu_groups.c - a short axis beside a long one, as in pictures and in sound of several channels: planes to pixels and back.
 *
 * Tiles waste most of a line here. Whole vectors of groups become whole vectors of planes by permutes of bytes (simd/groups.h); plain loops take what is
 * left over, and everything where there are no such permutes. Large results are put together in L1 and go past the caches from there, in whole lines: a
 * plain store would read the line that it overwrites. */
#include <stdlib.h>
#include <string.h>

#include "ops/transpose/put_lines.h"
#include "ops/transpose/transpose.h"
#include "simd/groups.h"

tess_status TESS_ISA_NAME(tess_transpose_groups)(const tess_problem *base, const tess_run *run);
tess_status TESS_ISA_NAME(tess_transpose_turned_groups)(const tess_problem *base, const tess_run *run);
transpose_turn_groups TESS_ISA_NAME(tess_transpose_turn_groups);
transpose_turn TESS_ISA_NAME(tess_transpose_turn);

enum { MOST = TRANSPOSE_GROUP };

typedef struct groups groups;
/* The bytes of each plane that were turned: whole vectors. Planes lie `step` bytes apart, groups without gaps. */
typedef int64_t turn_vectors(const v_groups *tables, const char *restrict in, char *restrict out, int64_t step, int64_t bytes, int64_t ahead);
/* n elements of each plane. */
typedef void turn(const groups *g, const char *restrict in, char *restrict out, int64_t step, int64_t n);
struct groups {
    turn *turn;
    turn_vectors *vectors;     /* NULL if all goes element by element */
    int64_t ahead;             /* bytes to the lines that are asked for */
    int64_t count, size, step; /* elements of a group; bytes of an element, between planes */
    v_groups tables;
};

#if TESS_HAS_GROUPS
enum { VECTOR = TESS_VECTOR_BYTES };
TESS_INLINE int64_t split_vectors(const int G, const v_groups *tables, const char *restrict in, char *restrict out, int64_t step, int64_t bytes,
                                  int64_t ahead) {
    int64_t at = 0;
    for (; at + VECTOR <= bytes; at += VECTOR) {
        v_bytes from[TESS_GROUPS_MOST];
        TESS_UNROLL for (int j = 0; j < G; j++) {
            tess_prefetch_l2(in + at * G + j * 64 + ahead);
            from[j] = v_groups_load(G, in + at * G, j);
        }
        for (int k = 0; k < G; k++)
            v_bytes_store(out + k * step + at, v_groups_turn(G, tables, k, from));
    }
    return at;
}
TESS_INLINE int64_t join_vectors(const int G, const v_groups *tables, const char *restrict in, char *restrict out, int64_t step, int64_t bytes,
                                 int64_t ahead) {
    int64_t at = 0;
    for (; at + VECTOR <= bytes; at += VECTOR) {
        v_bytes from[TESS_GROUPS_MOST];
        TESS_UNROLL for (int j = 0; j < G; j++) {
            tess_prefetch_l2(in + j * step + at + ahead);
            from[j] = v_bytes_load(in + j * step + at);
        }
        for (int k = 0; k < G; k++)
            v_groups_store(G, out + at * G, k, v_groups_turn(G, tables, k, from));
    }
    return at;
}
#define VECTORS(kind, G)                                                                                                                         \
    static int64_t kind##_##G(const v_groups *tables, const char *restrict in, char *restrict out, int64_t step, int64_t bytes, int64_t ahead) { \
        return kind##_vectors(G, tables, in, out, step, bytes, ahead);                                                                           \
    }
#define UP_TO_8(X, kind) X(kind, 2) X(kind, 3) X(kind, 4) X(kind, 5) X(kind, 6) X(kind, 7) X(kind, 8)
#define UP_TO_16(X, kind) X(kind, 9) X(kind, 10) X(kind, 11) X(kind, 12) X(kind, 13) X(kind, 14) X(kind, 15) X(kind, 16)
#define ENTRY(kind, G) [G] = kind##_##G,
UP_TO_8(VECTORS, split)
UP_TO_8(VECTORS, join)
#if TESS_VECTOR_BYTES == 64
UP_TO_16(VECTORS, split)
UP_TO_16(VECTORS, join)
static turn_vectors *const split_by[MOST + 1] = {UP_TO_8(ENTRY, split) UP_TO_16(ENTRY, split)};
static turn_vectors *const join_by[MOST + 1] = {UP_TO_8(ENTRY, join) UP_TO_16(ENTRY, join)};
#else
static turn_vectors *const split_by[MOST + 1] = {UP_TO_8(ENTRY, split)};
static turn_vectors *const join_by[MOST + 1] = {UP_TO_8(ENTRY, join)};
#endif
#else
static turn_vectors *const split_by[MOST + 1], *const join_by[MOST + 1];
#endif

typedef struct sixteen {
    uint64_t half[2];
} sixteen;

/* What is left over of the vectors, or all. Compilers make more of a length of 2 to 4 that they know. */
#define GROUPS(S, type)                                                                                                                    \
    TESS_INLINE void split_rest_##S(const int64_t G, const char *restrict in, char *restrict out, int64_t step, int64_t done, int64_t n) { \
        for (int64_t k = 0; k < G; k++)                                                                                                    \
            for (int64_t i = done; i < n; i++) {                                                                                           \
                type v;                                                                                                                    \
                memcpy(&v, in + (i * G + k) * S, S);                                                                                       \
                memcpy(out + k * step + i * S, &v, S);                                                                                     \
            }                                                                                                                              \
    }                                                                                                                                      \
    TESS_INLINE void join_rest_##S(const int64_t G, const char *restrict in, char *restrict out, int64_t step, int64_t done, int64_t n) {  \
        for (int64_t i = done; i < n; i++)                                                                                                 \
            for (int64_t k = 0; k < G; k++) {                                                                                              \
                type v;                                                                                                                    \
                memcpy(&v, in + k * step + i * S, S);                                                                                      \
                memcpy(out + (i * G + k) * S, &v, S);                                                                                      \
            }                                                                                                                              \
    }                                                                                                                                      \
    EACH(split, S) EACH(join, S)
#define EACH(kind, S)                                                                                                    \
    static void kind##_each_##S(const groups *g, const char *restrict in, char *restrict out, int64_t step, int64_t n) { \
        const int64_t done = g->vectors ? g->vectors(&g->tables, in, out, step, n * S, g->ahead) / S : 0;                \
        switch (g->count) {                                                                                              \
        case 2: kind##_rest_##S(2, in, out, step, done, n); break;                                                       \
        case 3: kind##_rest_##S(3, in, out, step, done, n); break;                                                       \
        case 4: kind##_rest_##S(4, in, out, step, done, n); break;                                                       \
        default: kind##_rest_##S(g->count, in, out, step, done, n); break;                                               \
        }                                                                                                                \
    }
GROUPS(1, uint8_t)
GROUPS(2, uint16_t)
GROUPS(4, uint32_t)
GROUPS(8, uint64_t)
GROUPS(16, sixteen)

static turn *const split_each[17] = {[1] = split_each_1, [2] = split_each_2, [4] = split_each_4, [8] = split_each_8, [16] = split_each_16};
static turn *const join_each[17] = {[1] = join_each_1, [2] = join_each_2, [4] = join_each_4, [8] = join_each_8, [16] = join_each_16};

/* bytes: of each plane; tables take as long as the turning of some KiB, and the processor's own prefetchers stop where stores come between the loads. */
enum { FEW = 4, LEAST = 4096, AHEAD = 8192 };
static void prepare(groups *g, bool joins, int64_t count, int64_t size, int64_t step, int64_t bytes) {
    g->turn = (joins ? join_each : split_each)[size];
    g->vectors = bytes >= LEAST ? (joins ? join_by : split_by)[count] : NULL;
    g->count = count;
    g->size = size;
    g->step = step;
    g->ahead = AHEAD;
    if (g->vectors)
        v_groups_make(&g->tables, (int)count, (int)size, joins);
}

bool TESS_ISA_NAME(tess_transpose_turn_groups)(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t np, int64_t nq, int64_t size) {
    groups g;
    const bool splits = src_step == np * size && np <= MOST;
    const int64_t count = splits ? np : nq, length = splits ? nq : np;
    if (count < 2 || size > 16 || !split_each[size] || !(splits || dst_step == nq * size))
        return false;
    if (count > FEW && (count > TESS_GROUPS_MOST || count > tess_transpose_group_most(size) || count * size % LINE == 0 || length * size < LEAST))
        return false;
    prepare(&g, !splits, count, size, splits ? dst_step : src_step, length * size);
    g.turn(&g, src, dst, g.step, length);
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

/* Bytes of a plane that are turned in L1 at a time, by planes; up to LINE bytes before them wait for the rest of their line. Planes do not begin in the same sets. */
enum { STAGE = 1024, STAGE_OF_MANY = 512, PIECES = 64 };
TESS_INLINE int64_t stage_of(int64_t planes) { return planes <= FEW ? STAGE : STAGE_OF_MANY; }

static void split_past(const void *argument, const char *restrict in, char *restrict out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const groups *g = argument;
    const int64_t size = g->size, most = stage_of(np) / size, apart = LINE + stage_of(np) + LINE;
    _Alignas(64) char stage[MOST * (LINE + STAGE_OF_MANY + LINE)];
    int64_t waits[MOST] = {0};
    (void)p;
    (void)q;
    for (int64_t done = 0, n; done < nq; done += n) {
        n = tess_min64(nq - done, most);
        g->turn(g, in + done * np * size, stage + LINE, apart, n);
        for (int64_t k = 0; k < np; k++)
            waits[k] = tess_put_lines(out + k * g->step + done * size, stage + k * apart, waits[k], n * size, done + n == nq);
    }
}
static void join_past(const void *argument, const char *restrict in, char *restrict out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const groups *g = argument;
    const int64_t size = g->size, most = stage_of(nq) / size;
    _Alignas(64) char stage[LINE + MOST * STAGE_OF_MANY];
    int64_t waits = 0;
    (void)p;
    (void)q;
    for (int64_t done = 0, n; done < np; done += n) {
        n = tess_min64(np - done, most);
        g->turn(g, in + done * size, stage + LINE, g->step, n);
        waits = tess_put_lines(out + done * nq * size, stage, waits, n * nq * size, done + n == np);
    }
}

/* Whether the result's rows all begin and end with a line, or long ones all at the same place in it. */
static bool in_whole_lines(const transpose_problem *problem, const char *out, int64_t row) {
    enum { LONG = 512 };
    int64_t steps = row;
    for (int d = 0; d < problem->ndim; d++)
        if (llabs(problem->stride[TRANSPOSE_OUT][d]) >= row)
            steps |= problem->stride[TRANSPOSE_OUT][d];
    return ((uintptr_t)out % LINE == 0 || row >= LONG) && steps % LINE == 0;
}

/* Past the caches go rows of a result that are long: short ones leave most of their lines to be filled up one by one, at both ends, unless they are whole lines (16 MiB in such rows, Zen 4;
 * notes-cpu.md). */
tess_status TESS_ISA_NAME(tess_transpose_groups)(const tess_problem *base, const tess_run *run) {
    enum { BLOCK = 1 << 13, LEAST_SPLIT = 1024, LEAST_JOINED = 1536, LEAST_OF_FOUR = 768 };
    const transpose_problem *problem = (const transpose_problem *)base;
    const int64_t size = problem->size;
    transpose_plane plane;
    groups g;
    tess_transpose_plane_of(&plane, problem, false);
    const bool splits = tess_transpose_splits(problem, &plane);
    const int64_t count = splits ? plane.p_size : plane.q_size, row = (splits ? plane.q_size : plane.p_size * plane.q_size) * size;
    const bool large = problem->base.bytes / 2 >= TRANSPOSE_LARGE && (row >= (splits      ? LEAST_SPLIT
                                                                              : count < 4 ? LEAST_JOINED
                                                                                          : LEAST_OF_FOUR) ||
                                                                      in_whole_lines(problem, run->out, row));
    const int64_t length = (large ? PIECES * stage_of(count) : BLOCK) / size;
    prepare(&g, !splits, count, size, splits ? plane.p_out : plane.q_in, problem->in.count / count * size);
    if (splits)
        return tess_transpose_blocks(problem, run, &plane, MOST, length, 1, size, large ? split_past : split_block, &g);
    return tess_transpose_blocks(problem, run, &plane, length, MOST, 1, size, large ? join_past : join_block, &g);
}

/* ---- groups in rows that are turned, too: a picture of columns of pixels to planes of rows, and back ---- */

/* Bytes of a block's rows, plane by plane, along the groups and across them; of the buffer in L2 between the two steps; rows of groups to the one that is asked for. */
enum { TURNED_WIDE = 512, TURNED_HIGH = 256, TURNED_STAGE = 192 << 10, ROWS_AHEAD = 12 };

typedef struct turned {
    groups g;
    int64_t wide, high;   /* a block: elements of a plane */
    int64_t pitch, plane; /* of the buffer: between rows and planes */
    int64_t c_in, c_out;  /* between a group's elements, or planes */
    int64_t w_out, w_in;
    bool ahead;
} turned;

/* Columns q of nq rows, np groups each, to the buffer by planes, and each plane from there to the result. */
static void split_turned(const void *argument, const char *restrict in, char *restrict out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const turned *t = argument;
    const groups *g = &t->g;
    _Alignas(64) char stage[TURNED_STAGE];
    (void)p;
    (void)q;
    for (int64_t i = 0; i < nq; i++)
        g->turn(g, in + i * t->w_in, stage + i * t->pitch, t->plane, np);
    for (int64_t k = 0; k < g->count; k++)
        TESS_ISA_NAME(tess_transpose_turn)(out + k * t->c_out, t->w_out, stage + k * t->plane, t->pitch, np, nq, g->size, false);
}
static void join_turned(const void *argument, const char *restrict in, char *restrict out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const turned *t = argument;
    const groups *g = &t->g;
    _Alignas(64) char stage[TURNED_STAGE];
    (void)p;
    (void)q;
    for (int64_t k = 0; k < g->count; k++)
        TESS_ISA_NAME(tess_transpose_turn)(stage + k * t->plane, t->pitch, in + k * t->c_in, t->w_in, np, nq, g->size, t->ahead);
    for (int64_t i = 0; i < np; i++)
        g->turn(g, stage + i * t->pitch, out + i * t->w_out, t->plane, nq);
}

tess_status TESS_ISA_NAME(tess_transpose_turned_groups)(const tess_problem *base, const tess_run *run) {
    const transpose_problem *problem = (const transpose_problem *)base;
    const int64_t size = problem->size;
    transpose_turned axes;
    transpose_plane plane;
    turned t;
    tess_transpose_turned_of(&axes, &plane, problem);
    const int64_t count = problem->shape[axes.group];
    for (int64_t wide = TURNED_WIDE / size, high = TURNED_HIGH / size;; wide > high ? (wide /= 2) : (high /= 2)) {
        t.wide = wide;
        t.high = high;
        t.pitch = (axes.splits ? wide : high) * size + LINE;
        t.plane = t.pitch * (axes.splits ? high : wide) + LINE;
        if (count * t.plane <= TURNED_STAGE)
            break;
    }
    t.c_in = problem->stride[TRANSPOSE_IN][axes.group];
    t.c_out = problem->stride[TRANSPOSE_OUT][axes.group];
    t.w_in = plane.q_in;
    t.w_out = plane.p_out;
    t.ahead = problem->base.bytes / 2 >= TRANSPOSE_LARGE;
    prepare(&t.g, !axes.splits, count, size, t.plane, problem->in.count / count * size);
    t.g.ahead = axes.splits ? ROWS_AHEAD * t.w_in : 0;
    return tess_transpose_blocks(problem, run, &plane, t.wide, t.high, 1, count * size, axes.splits ? split_turned : join_turned, &t);
}

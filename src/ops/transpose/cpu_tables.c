/* SPDX-License-Identifier: Apache-2.0
 * cpu_tables.c - single elements, in blocks over as many axes as it takes to fill lines on both sides.
 *
 * A block of two axes (cpu_blocked.c) is as small as the axes are: of 7 x 11 elements, or of 2 x 2, the walk from block to block costs more than the elements. Here a
 * block has a group of axes for each side: out's fastest ones, and of the others those that step least in in, each group until it has SIDE elements. Where elements of a
 * group lie is written down once, in tables; a block is two loops over them. An axis that would be too much is cut, the last of its pieces is the head of the table. */
#include <string.h>

#include "core/parallel.h"
#include "ops/transpose/transpose.h"

tess_status TESS_ISA_NAME(tess_transpose_tables)(const tess_problem *base, const tess_run *run);

/* AREA: elements of a block, which a short group leaves to the other one. */
enum { SIDE = 64, SIDE_OF_16 = 32, FEW = 8, AREA = 2048, MOST = 1024 };

/* A side of the block: its elements, and the axis that was cut, -1 if none. */
typedef struct group {
    int64_t count, inner; /* inner: elements of a step along the axis that was cut */
    int64_t each, length; /* of that axis: steps in a block, in all */
    int axis;             /* where it stands among the axes between blocks */
    int64_t in[MOST], out[MOST];
} group;

typedef struct tables {
    const char *in;
    char *out;
    int64_t size;
    int ndim; /* axes between blocks */
    int64_t shape[TESS_MAX_NDIM];
    int64_t stride[2][TESS_MAX_NDIM];
    int64_t step; /* between elements of q in out, 0 if they are not alike */
    group p, q;
} tables;

typedef struct sixteen {
    uint64_t half[2];
} sixteen;

/* Four loads before four stores, at steps that the compiler does not know: its own vectors of single elements take twice as long. */
#define MOVE(type)                                                                                \
    static void move_##type(const tables *t, const char *in, char *out, int64_t np, int64_t nq) { \
        const int64_t step = t->step;                                                             \
        for (int64_t i = 0; i < np; i++) {                                                        \
            const char *from = in + t->p.in[i];                                                   \
            const int64_t *at = t->q.in;                                                          \
            char *to = out + t->p.out[i];                                                         \
            int64_t k = 0;                                                                        \
            type a, b, c, d;                                                                      \
            for (; step != 0 && k + 4 <= nq; k += 4, to += 4 * step) {                            \
                memcpy(&a, from + at[k], sizeof a);                                               \
                memcpy(&b, from + at[k + 1], sizeof a);                                           \
                memcpy(&c, from + at[k + 2], sizeof a);                                           \
                memcpy(&d, from + at[k + 3], sizeof a);                                           \
                memcpy(to, &a, sizeof a);                                                         \
                memcpy(to + step, &b, sizeof a);                                                  \
                memcpy(to + 2 * step, &c, sizeof a);                                              \
                memcpy(to + 3 * step, &d, sizeof a);                                              \
            }                                                                                     \
            for (to = out + t->p.out[i]; k < nq; k++)                                             \
                memcpy(to + t->q.out[k], from + at[k], sizeof a);                                 \
        }                                                                                         \
    }
MOVE(uint8_t)
MOVE(uint16_t)
MOVE(uint32_t)
MOVE(uint64_t)
MOVE(sixteen)

/* How much of a group there is in the block at `at`. */
static int64_t elements_at(const group *g, const int64_t *at) {
    return g->axis < 0 ? g->count : tess_min64(g->each, g->length - at[g->axis] * g->each) * g->inner;
}

static void blocks(void *argument, int64_t begin, int64_t end, int worker) {
    tables *t = argument;
    tess_index at;
    (void)worker;
    tess_index_start(&at, t->ndim, t->shape, 2, t->stride, begin);
    for (int64_t k = begin; k < end; k++, tess_index_next(&at)) {
        const char *in = t->in + at.offset[TRANSPOSE_IN];
        char *out = t->out + at.offset[TRANSPOSE_OUT];
        const int64_t np = elements_at(&t->p, at.at), nq = elements_at(&t->q, at.at);
        switch (t->size) {
        case 1: move_uint8_t(t, in, out, np, nq); break;
        case 2: move_uint16_t(t, in, out, np, nq); break;
        case 4: move_uint32_t(t, in, out, np, nq); break;
        case 8: move_uint64_t(t, in, out, np, nq); break;
        default: move_sixteen(t, in, out, np, nq); break;
        }
    }
}

/* Takes the elements of axis `d`, or as many of them as `most` elements allow, into the group. Returns how many; the group is full when not all were. */
static int64_t take(group *g, const transpose_problem *problem, int d, int64_t most) {
    const int64_t n = problem->shape[d], some = tess_min64(n, tess_max64(1, most / g->count));
    for (int64_t k = 1; k < some; k++)
        for (int64_t i = 0; i < g->count; i++) {
            g->in[k * g->count + i] = g->in[i] + k * problem->stride[TRANSPOSE_IN][d];
            g->out[k * g->count + i] = g->out[i] + k * problem->stride[TRANSPOSE_OUT][d];
        }
    g->inner = g->count;
    g->count *= some;
    return some;
}

/* The axis in which a step in in is least, of those that are not taken; -1 if all are. A broadcast one is no direction to read in. */
static int finest_left(const transpose_problem *problem, const int64_t *taken) {
    int best = -1;
    int64_t least = INT64_MAX;
    for (int d = problem->ndim - 1; d >= 0; d--) {
        const int64_t in = problem->stride[TRANSPOSE_IN][d], step = in == 0 ? INT64_MAX - 1 : tess_max64(in, -in);
        if (taken[d] == 0 && step < least) {
            best = d;
            least = step;
        }
    }
    return best;
}

/* Fills a group with axes; taken: how much of each axis is in a block, 0 for those that are in no group. */
static void fill(group *g, const transpose_problem *problem, int64_t *taken, int64_t most, bool of_out) {
    g->count = g->inner = 1;
    g->axis = -1;
    g->in[0] = g->out[0] = 0;
    while (g->axis < 0 && g->count <= most / 2) {
        int d = problem->ndim - 1;
        while (of_out && d >= 0 && taken[d] != 0)
            d--;
        if (!of_out)
            d = finest_left(problem, taken);
        if (d < 0)
            return;
        taken[d] = take(g, problem, d, most);
        if (taken[d] < problem->shape[d]) {
            g->axis = d;
            g->each = taken[d];
            g->length = problem->shape[d];
        }
    }
}

tess_status TESS_ISA_NAME(tess_transpose_tables)(const tess_problem *base, const tess_run *run) {
    enum { PIECE = 1 << 17 }; /* bytes that a thread takes at a time */
    const transpose_problem *problem = (const transpose_problem *)base;
    int64_t taken[TESS_MAX_NDIM] = {0}, count = 1;
    if (problem->in.count == 0)
        return TESS_OK;
    tables t;
    t.in = run->in + problem->first[TRANSPOSE_IN];
    t.out = run->out + problem->first[TRANSPOSE_OUT];
    t.size = problem->size;
    t.ndim = 0;
    t.p.count = 1;
    t.p.axis = -1;
    t.p.in[0] = t.p.out[0] = 0;
    const int finest = finest_left(problem, taken);
    const int64_t step = finest < 0 ? 0 : problem->stride[TRANSPOSE_IN][finest], width = step < 0 ? -step : step;
    const bool along = finest == problem->ndim - 1 && width < 64; /* rows of out lie along rows of in */
    const int64_t side = along ? MOST : width > t.size && t.size >= 8 ? AREA / FEW : t.size == 16 ? SIDE_OF_16 : SIDE;
    fill(&t.q, problem, taken, side, true);
    if (!along)
        fill(&t.p, problem, taken, AREA / side, false);
    if (!along && t.p.count < FEW) { /* nothing else steps in small steps: longer rows */
        memset(taken, 0, sizeof taken);
        fill(&t.q, problem, taken, tess_min64(MOST, AREA / t.p.count), true);
        fill(&t.p, problem, taken, AREA / t.q.count, false);
    }
    t.step = t.q.count > 1 ? t.q.out[1] : t.size;
    for (int64_t k = 1; k < t.q.count; k++)
        t.step = t.q.out[k] == k * t.step ? t.step : 0;
    for (int d = 0; d < problem->ndim; d++) {
        const int64_t each = tess_max64(1, taken[d]);
        if (each == problem->shape[d])
            continue;
        for (int list = 0; list < 2; list++)
            t.stride[list][t.ndim] = each * problem->stride[list][d];
        t.shape[t.ndim] = tess_ceil_div(problem->shape[d], each);
        count *= t.shape[t.ndim];
        if (t.q.axis == d)
            t.q.axis = t.ndim;
        else if (t.p.axis == d)
            t.p.axis = t.ndim;
        t.ndim++;
    }
    return tess_parallel(run->context, run->threads, count, tess_max64(1, PIECE / (t.p.count * t.q.count * t.size)), blocks, &t);
}

/* SPDX-License-Identifier: Apache-2.0
 * pack.c - a box of the caller's memory, whatever its strides, to a compact image and back, by the context's threads. */
#include "core/parallel.h"
#include "gpu/slots.h"

typedef struct copying {
    tess_array walked; /* the caller's side, collapsed, without the run */
    int64_t strides[2][TESS_MAX_NDIM];
    char *caller, *slot;
    int64_t run, piece; /* bytes of a run; of a task, when there is one run only */
    bool out;
} copying;

static void copy_runs(void *argument, int64_t begin, int64_t end, int worker) {
    copying *c = argument;
    tess_index index;
    (void)worker;
    if (c->piece > 0) {
        int64_t at = begin * c->piece, n = tess_min64(end * c->piece, c->run) - at;
        tess_move((c->out ? c->caller : c->slot) + at, (c->out ? c->slot : c->caller) + at, (size_t)n);
        return;
    }
    tess_index_start(&index, c->walked.ndim, c->walked.shape, 2, c->strides, begin);
    for (int64_t i = begin; i < end; i++) {
        char *theirs = c->caller + index.offset[0], *ours = c->slot + index.offset[1];
        tess_move(c->out ? theirs : ours, c->out ? ours : theirs, (size_t)c->run);
        tess_index_next(&index);
    }
}

tess_status tess_gpu_pack(const tess_plan *plan, const tess_array *array, char *caller, char *image, bool out) {
    enum { PIECE = 1 << 20 };
    copying c = {.walked = *array, .caller = caller, .slot = image, .run = array->itemsize, .out = out};
    tess_array compact = tess_array_compact(NULL, array->type, array->ndim, array->shape);
    int64_t runs = 1;
    if (array->count == 0)
        return TESS_OK;
    for (int d = 0; d < array->ndim; d++) {
        c.strides[0][d] = array->stride[d];
        c.strides[1][d] = compact.stride[d] / compact.itemsize * array->itemsize; /* an element may be a run of the type's */
    }
    c.walked.ndim = tess_collapse(c.walked.ndim, c.walked.shape, 2, c.strides);
    int last = c.walked.ndim - 1;
    if (last >= 0 && c.strides[0][last] == array->itemsize && c.strides[1][last] == array->itemsize) {
        c.run *= c.walked.shape[last];
        c.walked.ndim--;
    }
    for (int d = 0; d < c.walked.ndim; d++)
        runs *= c.walked.shape[d];
    if (c.walked.ndim == 0) {
        c.piece = PIECE;
        runs = tess_ceil_div(c.run, PIECE);
    }
    int64_t grain = c.piece ? 1 : tess_max64(1, PIECE / 4 / c.run);
    return tess_parallel(plan->context, atomic_load(&plan->context->threads), runs, grain, copy_runs, &c);
}

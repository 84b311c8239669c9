/* SPDX-License-Identifier: Apache-2.0
 * slabs.h - how correlate/separable cuts the output: into slabs of so many rows of the slab axis that what lies between passes stays in a core's
 * cache. */
#ifndef TESS_OPS_CORRELATE_SLABS_H
#define TESS_OPS_CORRELATE_SLABS_H

#include "ops/correlate/window.h"

typedef struct tess_correlate_slabs {
    bool whole;         /* no cut: a row of the slab axis is too large, or there is none */
    int64_t rows;       /* of the output */
    int64_t height;     /* rows of a slab */
    int64_t reach;      /* rows that the passes before the one along the slab axis have to make on top */
    int64_t between[2]; /* bytes of the buffers between passes: of one thread, or of whole arrays */
    size_t scratch;     /* bytes that one pass needs on one thread */
} tess_correlate_slabs;

void tess_correlate_slabs_of(tess_correlate_slabs *slabs, const tess_correlate_problem *problem);
size_t tess_correlate_slabs_workspace(const tess_correlate_problem *problem, int threads);

#endif

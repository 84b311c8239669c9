/* SPDX-License-Identifier: Apache-2.0
 * packed_passes.h - integer masks that are a row times a column, over images of bytes: correlate/packed_passes makes both passes in packed integers
 * (cpu_packed_passes.c).
 *
 * The sums of the row mask are kept in 16 bits where they are proven to fit, less a number that makes them fit if need be: the column mask makes a constant
 * of it, which is subtracted. Integer sums do not depend on their order, so the row mask may come first whatever the list says. */
#ifndef TESS_OPS_CORRELATE_PACKED_PASSES_H
#define TESS_OPS_CORRELATE_PACKED_PASSES_H

#include "ops/correlate/gather.h"

enum {
    TESS_PACKED_PASSES_ROWS = 6,   /* most output rows that are made together */
    TESS_PACKED_PASSES_BLOCK = 64, /* columns come in multiples of so many elements */
};

typedef struct tess_correlate_packed_passes {
    const tess_correlate_pass *row;   /* the pass along rows */
    tess_correlate_axis across, down; /* sizes and masks of the two axes; strides of rows */
    int64_t group;                    /* colours of a pixel */
    bool bytes, pairs_fit;            /* as in packed.h, of the row mask */
    int32_t start[2];                 /* what sums of the row mask, and of the column mask, begin from */
    int64_t fours, twos, pairs;       /* weights: groups of 4 and 2 taps of the row mask; pairs of the column mask */
    int32_t *weights;                 /* fours, twos, and two for every pair: taps that the first and the second output row of a pair meet there */
    int64_t strip, reach;             /* elements: of a strip of columns, and what its taps reach beyond it */
    int64_t ring, pair_bytes;         /* pairs of rows that are kept, bytes of one */
    int64_t table_bytes, copy_bytes;  /* of the table of pairs, of a copy of an input row */
    size_t scratch;                   /* bytes for one thread */
} tess_correlate_packed_passes;

/* Fills problem->packed_passes, or leaves it NULL where such passes do not serve. masks: the two that problem->passes are made of. */
tess_status tess_correlate_pack_passes(tess_correlate_problem *problem, const tess_correlate_mask *masks, double largest);
void tess_correlate_packed_passes_free(tess_correlate_problem *problem);

#endif

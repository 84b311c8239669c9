/* SPDX-License-Identifier: Apache-2.0
 * padded.h - short rows, copied with their ghost cells one after another: how correlate/padded cuts an array into blocks, and the scratch that a block takes. */
#ifndef TESS_OPS_CORRELATE_PADDED_H
#define TESS_OPS_CORRELATE_PADDED_H

#include "ops/correlate/correlate.h"

/* A block has `band` outputs along the axis `first`, and all positions of the axes behind it; the axes before it have no mask. Of axis d it has met[d] positions,
 * ghost cells among them, which stand pitch[d] elements apart; so a tap is a distance, the same for all outputs. */
enum { TESS_MAX_BOX = 3, TESS_LONGEST_BOX = 512 }; /* masks of a list, and elements of a row, that are computed like this */

typedef struct tess_correlate_padded {
    int first;
    int64_t band;
    int64_t met[TESS_MAX_NDIM], pitch[TESS_MAX_NDIM];
    int64_t elements;                 /* of a block */
    double useful;                    /* the share of its sums that are outputs */
    int64_t taps_bytes, places_bytes; /* distances of taps; where ghost cells are copied from */
    int64_t block_bytes;              /* of elements as they were, of the block, of its sums */
    size_t scratch;                   /* for one thread */
} tess_correlate_padded;

/* false: the pass has no such form; *why says which. */
bool tess_correlate_padded_of(tess_correlate_padded *padded, const tess_correlate_problem *problem, const tess_correlate_pass *pass,
                              const char **why);

#endif

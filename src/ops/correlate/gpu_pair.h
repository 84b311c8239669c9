/* SPDX-License-Identifier: Apache-2.0
 * gpu_pair.h - a list of two masks, one of them along rows, as one pass over both axes, which the rows that make both in one launch share. */
#ifndef TESS_OPS_CORRELATE_GPU_PAIR_H
#define TESS_OPS_CORRELATE_GPU_PAIR_H

#include "ops/correlate/gpu_fast.h"

/* The list as one pass over both axes, in the caller's axes. */
typedef struct tess_correlate_pair {
    tess_correlate_pass pass;
    tess_correlate_frame frame;
    int rows; /* which mask of the list runs along rows: the first or the second */
    bool whole;
} tess_correlate_pair;

bool tess_correlate_pair_of(tess_correlate_pair *two, const tess_problem *base, bool whole, const char **why);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * reduce_layouts.h - arrays of three axes with steps of any sign, of which some are reduced, as tests of the order of elements lay them out. */
#ifndef TESS_TESTS_REDUCE_LAYOUTS_H
#define TESS_TESTS_REDUCE_LAYOUTS_H

#include <stdlib.h>

#include "tessera.h"

typedef struct layout {
    int64_t shape[3], step[3]; /* in elements; what is negative runs backwards */
    int axes[3], count;        /* reduced */
} layout;

typedef struct laid_out {
    layout of;
    int64_t all, first; /* elements of memory, and which of them is the array's first */
    int64_t kept[3];    /* sizes of the result */
    int left;           /* how many */
} laid_out;

static inline laid_out lay_out(const layout *l) {
    laid_out at = {.of = *l, .all = 1};
    for (int d = 0; d < 3; d++) {
        at.all += (l->shape[d] - 1) * llabs(l->step[d]);
        at.first += l->step[d] < 0 ? (1 - l->shape[d]) * l->step[d] : 0;
        bool reduced = false;
        for (int i = 0; i < l->count; i++)
            reduced |= l->axes[i] == d;
        if (!reduced)
            at.kept[at.left++] = l->shape[d];
    }
    return at;
}

/* The array in memory that begins at `memory`. */
static inline DLTensor laid_out_view(laid_out *at, void *memory, tess_type type) {
    DLTensor view = tess_view(memory, type, 3, at->of.shape, at->of.step);
    view.byte_offset = (uint64_t)(at->first * (int64_t)tess_type_size(type));
    return view;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * overlap.c - whether two views share memory. */
#include "core/tensor.h"

bool tess_arrays_overlap(const tess_array *a, const tess_array *b) {
    int64_t alow, ahigh, blow, bhigh;
    if (a->count == 0 || b->count == 0)
        return false;
    tess_array_extent(a, &alow, &ahigh);
    tess_array_extent(b, &blow, &bhigh);
    uintptr_t abase = (uintptr_t)a->data, bbase = (uintptr_t)b->data;
    return abase + (uintptr_t)alow < bbase + (uintptr_t)bhigh && bbase + (uintptr_t)blow < abase + (uintptr_t)ahigh;
}

bool tess_array_self_overlaps(const tess_array *array) {
    (void)array;
    return false;
}

/* SPDX-License-Identifier: Apache-2.0
 * boundary.h - which element stands at an index outside an axis.
 *
 * A boundary cuts the integers into runs on which the index moves through the axis with one step: +1, -1 (reflected) or 0 (nearest). Rows are
 * copied run by run, so a mask a thousand times as long as the array costs no more a tap than one that fits. */
#ifndef TESS_OPS_CORRELATE_BOUNDARY_H
#define TESS_OPS_CORRELATE_BOUNDARY_H

#include "core/base.h"

typedef struct tess_boundary_run {
    int64_t at;     /* the element that stands at the index; -1: none, the constant */
    int64_t step;   /* the next index has element at + step */
    int64_t length; /* indices for which that holds, >= 1 */
} tess_boundary_run;

/* index may be anything; n >= 0. An axis without elements has the constant everywhere (callers refuse the other boundaries there). */
tess_boundary_run tess_boundary_run_at(tess_boundary boundary, int64_t n, int64_t index);

TESS_INLINE int64_t tess_boundary_index(tess_boundary boundary, int64_t n, int64_t index) {
    return TESS_LIKELY(index >= 0 && index < n) ? index : tess_boundary_run_at(boundary, n, index).at;
}

#endif

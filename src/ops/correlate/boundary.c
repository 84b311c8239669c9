/* SPDX-License-Identifier: Apache-2.0
 * boundary.c - the runs of the boundaries, each found by one division. */
#include "ops/correlate/boundary.h"

/* index = *quotient * period + remainder, 0 <= remainder < period. */
static int64_t floor_modulo(int64_t index, int64_t period, int64_t *quotient) {
    int64_t remainder = index % period;
    *quotient = index / period - (remainder < 0);
    return remainder < 0 ? remainder + period : remainder;
}

tess_boundary_run tess_boundary_run_at(tess_boundary boundary, int64_t n, int64_t index) {
    int64_t turn, r;
    if (index >= 0 && index < n)
        return (tess_boundary_run){index, 1, n - index};
    if (n <= 0 || boundary == TESS_BOUNDARY_ZERO || boundary == TESS_BOUNDARY_CONSTANT)
        return (tess_boundary_run){-1, 0, index < 0 && n > 0 ? -index : INT64_MAX};
    if (boundary == TESS_BOUNDARY_NEAREST)
        return index < 0 ? (tess_boundary_run){0, 0, -index} : (tess_boundary_run){n - 1, 0, INT64_MAX};
    if (n == 1)
        return (tess_boundary_run){0, 0, index < 0 ? -index : INT64_MAX};
    if (boundary == TESS_BOUNDARY_MIRROR) { /* legs of n - 1 steps: forth on even turns, back on odd ones */
        r = floor_modulo(index, n - 1, &turn);
        return turn & 1 ? (tess_boundary_run){n - 1 - r, -1, n - 1 - r} : (tess_boundary_run){r, 1, n - 1 - r};
    }
    r = floor_modulo(index, n, &turn);
    if (boundary == TESS_BOUNDARY_REFLECT && turn & 1)
        return (tess_boundary_run){n - 1 - r, -1, n - r};
    return (tess_boundary_run){r, 1, n - r};
}

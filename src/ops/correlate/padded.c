/* SPDX-License-Identifier: Apache-2.0
 * padded.c - the sizes of the blocks of correlate/padded. They do not depend on the instruction set, so that one plan serves all. */
#include "ops/correlate/padded.h"

/* A block, what it is made from and its sums should stay near; one of which most would be met again by the next is larger, up to the share of a second-level
 * cache. */
enum { BLOCK_BYTES = 12 << 10, MOST_BYTES = 192 << 10, BAND_WIDTHS = 4, MOST_TAPS = 4096, SLACK = 64 };

static int64_t round_up(int64_t n) { return tess_ceil_div(n, 64) * 64; }

/* Whether a block has every element of an axis, of which its ghost cells are copies. */
static bool holds_all(const tess_correlate_axis *a) { return a->before >= 0 && a->n <= a->m + a->width - 1 - a->before; }

bool tess_correlate_padded_of(tess_correlate_padded *p, const tess_correlate_problem *problem, const tess_correlate_pass *pass, const char **why) {
    *why = "takes one mask, of arrays of two axes and more";
    if (!pass || pass->ndim < 2)
        return false;
    *why = "works in floats, complex numbers and integers that floats hold exactly";
    if (problem->work == tess_u64 || problem->work == tess_i64)
        return false;
    *why = "the positions that such a mask meets do not fit a block";
    if (pass->taps > MOST_TAPS || pass->outputs == 0 || pass->inputs == 0)
        return false;
    const int64_t size = (int64_t)tess_type_size(problem->work);
    int masked = 0;
    while (masked < pass->ndim - 2 && pass->axis[masked].width == 1)
        masked++;
    p->useful = 1;
    p->places_bytes = 0;
    int64_t inner = pass->group;
    for (int d = pass->ndim - 1; d >= 0; d--) {
        const tess_correlate_axis *a = &pass->axis[d];
        const int64_t more = a->width - 1;
        int64_t band = a->m, most = a->m + more;
        if (most > BLOCK_BYTES / size ||
            most * inner * size > BLOCK_BYTES) { /* else a block has the whole axis, and small calls are spared two divisions */
            most = MOST_BYTES / (inner * size);
            band = tess_min64(tess_min64(tess_max64(BLOCK_BYTES / (inner * size) - more, more * BAND_WIDTHS), most - more), a->m);
        }
        const bool goes_on = d > masked || (d > 0 && band == a->m && holds_all(a) && inner * size * (a->m + more) <= BLOCK_BYTES / 2);
        if (band < 1 || (goes_on && (a->m > most - more || !holds_all(a))))
            return false;
        p->first = d;
        p->band = band;
        p->pitch[d] = inner;
        p->met[d] = (goes_on ? a->m : band) + more;
        inner *= p->met[d];
        if (!goes_on)
            break;
        p->useful *= (double)a->m / (double)p->met[d];
    }
    p->elements = inner;
    p->taps_bytes = round_up(pass->taps * (int64_t)sizeof(int64_t));
    for (int d = p->first + 1; d < pass->ndim; d++)
        p->places_bytes += p->met[d] * (int64_t)sizeof(int32_t);
    p->places_bytes = round_up(p->places_bytes);
    p->block_bytes = round_up(p->elements * size + SLACK);
    p->scratch = (size_t)(p->taps_bytes + p->places_bytes + 3 * p->block_bytes);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0
 * rolling.h - whether sums can roll along the rows of an output (roll.h), and which of them: cpu_fused.c makes the others, at the ends, by tiles. */
#ifndef TESS_OPS_CORRELATE_ROLLING_H
#define TESS_OPS_CORRELATE_ROLLING_H

#include "ops/correlate/fused.h"
#include "ops/correlate/roll.h"

enum { TESS_ROLL_LINE = 64 }; /* bytes */

/* How a row of output is shared out. */
typedef struct tess_rolling {
    tess_roll roll;   /* NULL: sums do not roll */
    int tall;         /* output rows that are made together */
    int64_t from, to; /* output columns that it makes, whole lines; tiles make those at the ends */
    int64_t at;       /* column between the passes over which the first line stands */
    int64_t reach;    /* lines to either side that outputs meet */
    bool near;        /* lines are asked for shortly before they are met, not a group of rows before: long masks take longer than the next line */
    bool narrow;      /* outputs are stored as u8 by the kernel */
    int64_t piece;    /* bytes of a row of sums that are made before a storer takes them */
    bool left, right; /* ghost cells stand before the first line, behind the last */
    int64_t made, made_at_last; /* columns of the rows between that tiles make: those before `made`, those from `made_at_last` on */
} tess_rolling;

/* `woven` are for masks that `kernels` lacks, and for pixels of several colours. `phase`: elements up to the first line of output, where it is stored past
 * the caches. */
TESS_INLINE bool tess_rolling_of(tess_rolling *rolling, const tess_correlate_problem *problem, const tess_correlate_fused *fused,
                                 const tess_roll_kernels *kernels, const tess_roll_kernels *woven, int64_t phase) {
    const tess_correlate_axis *down = &problem->passes[0].axis[0], *across = &problem->passes[1].axis[1];
    const int64_t taps = across->width, group = problem->passes[1].group, length = across->m * group, n = fused->length;
    const int64_t before = across->before * group, behind = (taps - 1) * group - before, shift = taps / 2 * group - before;
    const int64_t lanes = TESS_ROLL_LINE / (int64_t)tess_type_size(problem->work);
    if (taps != down->width || taps > TESS_ROLL_TAPS)
        return false;
    const bool narrow = fused->bytes && problem->passes[1].to == tess_u8 && (group > 1 || across->out_stride == 1);
    const bool weaves = group > 1 || kernels->rows[taps] == 0 || (narrow && woven->bytes[taps]);
    const tess_roll_kernels *k = weaves ? woven : kernels;
    const tess_roll *rolls = group > 1 ? (fused->bytes ? k->pixel_bytes : k->pixels) : fused->bytes ? k->bytes : k->roll;
    tess_rolling r = {.roll = rolls[taps], .tall = k->rows[taps], .from = phase, .reach = tess_ceil_div(taps / 2 * group, lanes)};
    if (!r.roll || r.reach > TESS_ROLL_REACH || r.tall > down->m)
        return false;
    r.left = r.from + shift == 0;
    if (!r.left) /* whole lines of columns are there before the first */
        r.from += tess_ceil_div(tess_max64(r.reach * lanes - shift - r.from, 0), lanes) * lanes;
    r.at = r.from + shift;
    r.right = (n - r.at) % lanes == 0 && n - shift <= length;
    const int64_t lines = (n - r.at) / lanes - (r.right ? 0 : r.reach); /* without: and behind the last */
    r.to = r.from + tess_min64(lines, (length - r.from) / lanes) * lanes;
    r.right &= r.to + shift == n;
    if (r.to - r.from < 4 * lanes)
        return false;
    const bool folds = problem->boundary != TESS_BOUNDARY_CONSTANT; /* ghost cells are copies of the columns at either end */
    const int64_t before_tile = r.to < length ? tess_min64(r.to, length - lanes) : n + before;
    r.made = r.from > 0 ? tess_ceil_div(r.from, lanes) * lanes + behind : 0;
    r.made = tess_min64(folds ? tess_max64(r.made, taps * group) : r.made, n);
    r.made_at_last = tess_max64(tess_min64(before_tile - before, folds ? n - taps * group : n), 0);
    r.near = weaves && group == 1 && fused->in_place && !fused->bytes;
    r.narrow = narrow;
    r.piece = taps > TESS_ROLL_SHORT ? TESS_FUSED_SUMS : TESS_FUSED_SUMS / 4; /* long masks begin and end a piece slowly */
    *rolling = r;
    return true;
}

#endif

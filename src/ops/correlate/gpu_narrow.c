/* SPDX-License-Identifier: Apache-2.0
 * gpu_narrow.c - which production rows leave many small arrays, or short rows, to others. A strip, a tile or a warp is wider than such a row, and most of its lanes have nothing to do or wait for the ends;
 * rows by which several rows or arrays share a block are up to 25 times as quick. Columns as measured on an H200 (notes-gpu.md); few elements in all fill no card either way. */
#include "ops/correlate/gpu_brick.h"
#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_pair.h"

enum { WIDE = 64, WIDE_NARROW = 96 /* columns, of elements of 1 and 2 bytes */ };

/* Elements from which on a list's launches are not what it takes; of three masks fewer, for what the others do there takes up to 19 times as long (measured: 2000 x 16 x 16 x 16 by 9 + 9 + 9). */
static bool is_many(const tess_correlate_problem *p) { return p->out.count >= (p->count > 2 ? TESS_CORRELATE_MANY / 8 : TESS_CORRELATE_MANY); }

bool tess_correlate_list_is_narrow(const tess_correlate_problem *p) {
    int colours;
    const int x = tess_correlate_gpu_row(p->masks, p->count, &p->in, &p->out, &colours);
    const int64_t columns = x < 0 ? WIDE : p->out.shape[x] * (colours < 0 ? 1 : p->out.shape[colours]);
    return columns < WIDE && is_many(p);
}

/* Whether a list is taken mask by mask, or in parts, and is worth it. */
static bool parts_pay(const tess_problem *base, bool whole) {
    const char *why;
    const bool each = whole ? tess_correlate_separable_each_fits(base, &why) && tess_correlate_separable_each_pays(base, &why)
                            : tess_correlate_separable_each_odd_fits(base, &why) && tess_correlate_separable_each_odd_pays(base, &why);
    return each || (tess_correlate_mixed_fits(base, &why) && tess_correlate_mixed_pays(base, &why));
}

bool tess_correlate_strips_pay(const tess_correlate_frame *f, const tess_problem *base, bool whole, const char **why) {
    *why = "many rows of few columns leave most of a strip over";
    return f->x.m >= (f->in > 2 ? WIDE : WIDE_NARROW) || !is_many(tess_correlate_gpu_of(base)) || !parts_pay(base, whole);
}

static bool pair_pays(const tess_problem *base, bool whole, const char **why) {
    tess_correlate_pair two;
    return tess_correlate_pair_of(&two, base, whole, why) && tess_correlate_strips_pay(&two.frame, base, whole, why);
}
bool tess_correlate_separable2d_pays(const tess_problem *base, const char **why) { return pair_pays(base, true, why); }
bool tess_correlate_separable2d_odd_pays(const tess_problem *base, const char **why) { return pair_pays(base, false, why); }

static bool planes_pay(const tess_problem *base, bool whole, const char **why) {
    enum { COLUMNS = 40, NARROW = 128 };
    const tess_correlate_frame f = known_frame(base, 2);
    const char *other;
    *why = "many small volumes come by bricks";
    return f.x.m >= (f.in > 2 ? COLUMNS : NARROW) || !tess_correlate_frame_many(&f) ||
           !(tess_correlate_brick_fits(base, &other) || (!whole && tess_correlate_brick_odd_fits(base, &other)));
}
bool tess_correlate_march3d_pays(const tess_problem *base, const char **why) { return planes_pay(base, true, why); }
bool tess_correlate_march3d_odd_pays(const tess_problem *base, const char **why) { return planes_pay(base, false, why); }

bool tess_correlate_tile1d_is_quicker(const tess_correlate_frame *f, int64_t work, bool whole) {
    const int64_t columns = f->in == 4 ? 2048 : 8192;
    if (f->y.width > 1 || work != 4 || f->in > 4 || f->pass->group > 1 || tess_correlate_patch_shared_takes(f) || !tess_correlate_frame_many(f))
        return false;
    if (!whole)
        return f->x.m < (f->in == 1 ? 1024 : f->in == 2 ? 512 : 0);
    return f->x.m < columns && (f->in > 1 || (f->x.m != 256 && f->x.m != 512)); /* whole warps of bytes have no more ends than they need */
}

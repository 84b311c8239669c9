/* SPDX-License-Identifier: Apache-2.0
 * slabs.c - the sizes of correlate/separable. */
#include "ops/correlate/slabs.h"

#include <math.h>

#include "ops/correlate/fused.h"

/* Both buffers of a slab should stay in a second-level cache beside the input that streams by; where a single row is larger, up to the limit. */
enum { SLAB_BYTES = 640 << 10, SLAB_LIMIT = 8 << 20, SLAB_ROWS = 128 };

static size_t pass_scratch(const tess_correlate_problem *problem, const tess_correlate_pass *pass) {
    const size_t scratch = tess_correlate_window_scratch(problem, pass);
    return scratch ? scratch : tess_correlate_rows_scratch(problem, pass, 1);
}

static int64_t up_to_band(int64_t n) { return tess_ceil_div(n, TESS_WINDOW_BAND) * TESS_WINDOW_BAND; }

void tess_correlate_slabs_of(tess_correlate_slabs *s, const tess_correlate_problem *problem) {
    const int last = problem->passes_count - 1, buffers = problem->passes_count > 2 ? 2 : 1;
    double row_bytes = 64;
    *s = (tess_correlate_slabs){.between = {problem->between[0], problem->between[1]}};
    for (int k = 0; k <= last; k++) {
        const tess_correlate_pass *pass = &problem->passes[k];
        size_t scratch = pass_scratch(problem, pass);
        s->scratch = scratch > s->scratch ? scratch : s->scratch;
        s->whole |= pass->slab < 0 || pass->slab == pass->row || pass->axis[pass->slab < 0 ? 0 : pass->slab].m == 0;
        if (k < last && !s->whole)
            row_bytes = fmax(row_bytes, (double)pass->axis[pass->slab].out_stride);
    }
    if (s->whole)
        return;
    if (problem->slab_pass > 0)
        s->reach = problem->passes[problem->slab_pass].axis[problem->passes[problem->slab_pass].slab].width - 1;
    s->rows = problem->passes[last].axis[problem->passes[last].slab].m;
    if (s->reach > SLAB_LIMIT || row_bytes > SLAB_LIMIT) {
        s->whole = true;
        return;
    }
    int64_t fits = (int64_t)(SLAB_BYTES / (buffers * row_bytes)) - s->reach;
    int64_t least = tess_max64(TESS_WINDOW_BAND, up_to_band(s->reach / 4)); /* rows of the reach are moved once for each slab */
    s->height = tess_min64(tess_max64(fits / TESS_WINDOW_BAND * TESS_WINDOW_BAND, least), tess_max64(SLAB_ROWS, least));
    s->height = tess_min64(s->height, s->rows);
    double bytes = (double)(s->height + s->reach) * row_bytes;
    if (bytes * buffers > SLAB_LIMIT) {
        s->whole = true;
        return;
    }
    s->between[0] = ((int64_t)bytes + 63) & ~(int64_t)63;
    s->between[1] = buffers > 1 ? s->between[0] : 0;
}

size_t tess_correlate_slabs_workspace(const tess_correlate_problem *problem, int threads) {
    tess_correlate_slabs s;
    tess_correlate_fused fused;
    if (tess_correlate_fused_of(&fused, problem))
        return (size_t)threads * fused.scratch;
    tess_correlate_slabs_of(&s, problem);
    size_t buffers = (size_t)(s.between[0] + s.between[1]);
    return s.whole ? buffers + (size_t)threads * s.scratch : (size_t)threads * (buffers + s.scratch);
}

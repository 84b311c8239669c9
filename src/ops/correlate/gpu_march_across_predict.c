/* SPDX-License-Identifier: Apache-2.0
 * gpu_march_across_predict.c - what correlate/march_across will count: a plane's copies, ghost cells, windows and results are walked for each kind of tile.
 *
 * Predicted for arrays that begin at a sector. */
#include "ops/correlate/gpu_march_across.h"
#include "ops/correlate/gpu_planes_predict.h"

typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const across_shape *s;
    const tess_correlate_frame *f;
    int64_t x, y; /* of the tile's first output */
} walk;

/* Byte of the element at x, y of the plane that begins at byte `plane`, each by the boundary's rule. */
static int64_t byte_of(const walk *w, int64_t plane, int64_t x, int64_t y) {
    const int64_t at_x = tess_correlate_frame_resolve(w->f, x, w->f->x.n), at_y = tess_correlate_frame_resolve(w->f, y, w->f->y.n);
    return plane + (at_x * w->s->step + at_y) * w->f->in;
}

static bool outside(int64_t i, int64_t n) { return i < 0 || i >= n; }

/* Warps stand two along y, and their lanes eight by four. */
static void copy_plane(const walk *w, int64_t plane) {
    const across_shape *s = w->s;
    const tess_correlate_frame *f = w->f;
    const int64_t warps = s->march.threads / 32, step = 4 * (warps / 2), first_x = w->x - f->x.before, first_y = w->y - f->y.before;
    for (int64_t warp = 0; warp < warps; warp++)
        for (int64_t k = 0; k < s->wide; k += step)
            for (int64_t j = -s->shift; j < s->high; j += 16) {
                int64_t from[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t x = warp / 2 * 4 + lane / 8 + k, y = warp % 2 * 8 + lane % 8 + j;
                    const bool there = x < s->wide && y >= 0 && y < s->high && !outside(first_x + x, f->x.n) && !outside(first_y + y, f->y.n);
                    from[lane] = there ? byte_of(w, plane, first_x + x, first_y + y) : -1;
                }
                tess_gpu_count_global(w->sum, w->times, from, f->in, false);
            }
}

/* Columns beside the array, then rows above and below it. */
static void copy_ghosts(const walk *w, int64_t plane) {
    const across_shape *s = w->s;
    const tess_correlate_frame *f = w->f;
    const int64_t first_x = w->x - f->x.before, first_y = w->y - f->y.before, columns = 2 * (f->x.width - 1) * s->high,
                  all = columns + 2 * (f->y.width - 1) * s->wide;
    for (int64_t first = 0; first < all; first += 32) {
        int64_t from[32];
        for (int lane = 0; lane < 32; lane++) {
            const bool column = first + lane < columns;
            const int64_t g = first + lane - (column ? 0 : columns), length = column ? s->high : s->wide, line = g / length, along = g % length;
            const int64_t half = (column ? f->x.width : f->y.width) - 1, outer = (line < half ? 0 : column ? f->x.n : f->y.n) + line - half;
            const int64_t x = column ? outer : first_x + along, y = column ? first_y + along : outer;
            const bool mine = first + lane < all && x >= first_x && x < first_x + s->wide && y >= first_y && y < first_y + s->high &&
                              x < f->x.m + f->x.width - 1 - f->x.before && y < f->y.m + f->y.width - 1 - f->y.before &&
                              (!column || !outside(y, f->y.n));
            from[lane] = mine ? byte_of(w, plane, x, y) : -1;
        }
        tess_gpu_count_global(w->sum, w->times, from, f->in, false);
    }
}

/* Constants, side by side. */
static void lay_down(const walk *w, double times, int64_t elements) {
    w->sum->shared_st_requests += times * (double)tess_ceil_div(elements, 32);
    w->sum->shared_st_wavefronts += times * (double)tess_ceil_div(elements, 32);
}

static void read_plane(const walk *w) {
    const across_shape *s = w->s;
    for (int64_t thread = 0; thread < s->march.threads; thread += 32)
        for (int64_t r = 0; r < s->march.rows + w->f->y.width - 1; r++)
            for (int64_t i = 0; i < s->march.columns + w->f->x.width - 1; i += 4) {
                int64_t at[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t along = (thread + lane) % s->march.along, down = (thread + lane) / s->march.along;
                    at[lane] = ((down * s->march.rows + r) * s->pitch + along * s->march.columns + i) * w->f->in;
                }
                tess_gpu_count_shared(w->sum, w->times, at, 16, false);
            }
}

static void one_tile(walk *w, const planes_of_chunks *all, double tiles) {
    const across_shape *s = w->s;
    const tess_correlate_frame *f = w->f;
    const int64_t first_x = w->x - f->x.before, first_y = w->y - f->y.before, warps = s->march.threads / 32;
    const bool reached = first_x < 0 || first_y < 0 || first_x + s->wide > f->x.n || first_y + s->high > f->y.n;
    for (int i = 0; i < FRAME_LINE; i++) {
        w->times = tiles * all->in[i];
        if (w->times > 0)
            copy_plane(w, TESS_GPU_ORIGIN + i);
        if (w->times > 0 && reached && f->boundary != TESS_BOUNDARY_CONSTANT)
            copy_ghosts(w, TESS_GPU_ORIGIN + i);
        w->times = tiles * all->out[i];
        if (w->times > 0)
            tess_correlate_march_write(&s->march, f, w->x, w->y, TESS_GPU_ORIGIN + i, w->sum, w->times);
    }
    w->times = tiles * all->turns;
    read_plane(w);
    w->sum->barriers += w->times * (double)warps;
    lay_down(w, tiles * all->constant, s->high * s->pitch);
    if (reached) {
        lay_down(w, tiles * all->chunks, s->march.stages * s->high * s->pitch);
        w->sum->barriers += tiles * all->chunks * (double)warps;
    }
}

void tess_correlate_predict_march_across(const tess_problem *base, tess_gpu_prediction *out) {
    const char *why;
    across_shape s;
    planes_of_chunks all;
    tess_correlate_march_across_of(&s, base, device_meant(out), &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &s.frame;
    const march3d_shape *m = &s.march;
    walk w = {.sum = out, .s = &s, .f = f};
    const int64_t wide = m->along * m->columns, high = m->down * m->rows, across = tess_ceil_div(f->x.m, wide), down = tess_ceil_div(f->y.m, high);
    tess_correlate_planes_of(&all, f, m->depth, false);
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind i = {0}; tess_gpu_next_kind(&i, across, 1, 3, 1);)
        for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, down, 1, 3, 1);) {
            w.x = i.at * wide;
            w.y = j.at * high;
            one_tile(&w, &all, i.times * j.times);
        }
    out->constant_requests = -1;
    out->flops = (double)(across * down * m->threads * f->arrays * f->z.m) * (double)(2 * s.pass.taps * m->rows * m->columns);
    if (f->x.width % 4 == 2) /* of the last vector one element is used, and the compiler loads that */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
}

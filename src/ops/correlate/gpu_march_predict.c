/* SPDX-License-Identifier: Apache-2.0
 * gpu_march_predict.c - what correlate/march3d, march3d_odd and march_kept will count: a plane is walked for each kind of tile (gpu_planes_predict.c).
 *
 * Predicted for arrays that begin at a line, and of march3d_odd for
 * elements of 4 and 8 bytes. */
#include <stdlib.h>

#include "ops/correlate/gpu_planes_predict.h"

enum { LINE = FRAME_LINE };

typedef struct walk {
    planes_walk planes;
    march3d_shape s;
} walk;

/* ---- a turn ---- */

/* The last threads of a block that is not whole warps do the last ones' work again. */
static int64_t down_of(const walk *w, int64_t thread) { return tess_min64(thread / w->s.along, w->s.down - 1); }

/* Windows of all threads. */
static void read_plane(const walk *w, const tess_correlate_frame *f) {
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t i = 0; i < w->s.rows + f->y.width - 1; i++) {
            int64_t row[32], along[32];
            for (int lane = 0; lane < 32; lane++) {
                along[lane] = (thread + lane) % w->s.along;
                row[lane] = down_of(w, thread + lane) * w->s.rows + i;
            }
            tess_correlate_ring_read(&w->planes.ring, row, along);
        }
}

/* Of threads whose rows and columns all exist, then of the others. */
void tess_correlate_march_write(const march3d_shape *s, const tess_correlate_frame *f, int64_t x0, int64_t y0, int64_t plane,
                                tess_gpu_prediction *sum, double times) {
    for (int64_t thread = 0; thread < s->threads; thread += 32)
        for (int whole = 1; whole >= 0; whole--)
            for (int64_t i = 0; i < s->rows; i++) {
                int64_t x[32], to[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t row = y0 + (thread + lane) / s->along * s->rows;
                    x[lane] = x0 + (thread + lane) % s->along * s->columns;
                    const bool all = row + s->rows <= f->y.m && x[lane] + s->columns <= f->x.m;
                    to[lane] = all == whole && row + i < f->y.m ? plane + (row + i) * f->y.out_stride + x[lane] * f->out : -1;
                }
                tess_correlate_frame_write(sum, times, f, s->columns, x, to);
            }
}

static void write_plane(const walk *w, int64_t plane) {
    const ring_walk *r = &w->planes.ring;
    tess_correlate_march_write(&w->s, r->f, w->planes.x, w->planes.y, plane, r->sum, r->times);
}

/* Element by element; a column a thread that has all of its rows goes before the others. */
static void write_odd_plane(const walk *w, int64_t plane) {
    const tess_correlate_frame *f = w->planes.ring.f;
    const bool single = w->s.columns == 1;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int whole = single; whole >= 0; whole--)
            for (int64_t i = 0; i < w->s.rows; i++)
                for (int64_t c = 0; c < w->s.columns; c++) {
                    int64_t to[32];
                    for (int lane = 0; lane < 32; lane++) {
                        const int64_t row = w->planes.y + down_of(w, thread + lane) * w->s.rows,
                                      x = w->planes.x + (thread + lane) % w->s.along * w->s.columns;
                        const bool all = single && row + w->s.rows <= f->y.m && x < f->x.m;
                        to[lane] = all == whole && row + i < f->y.m && x + c < f->x.m ? plane + (row + i) * f->y.out_stride + (x + c) * f->out : -1;
                    }
                    tess_gpu_count_global(w->planes.ring.sum, w->planes.ring.times, to, f->out, true);
                }
}

/* ---- all of them ---- */

static void one_tile(walk *w, const planes_of_chunks *all, double tiles) {
    const tess_correlate_frame *f = w->planes.ring.f;
    ring_walk *r = &w->planes.ring;
    tess_correlate_planes_bring(&w->planes, all, tiles);
    for (int i = 0; i < LINE; i++) {
        r->times = tiles * all->out[i];
        if (r->times > 0)
            (r->whole ? write_plane : write_odd_plane)(w, TESS_GPU_ORIGIN + i);
    }
    r->times = tiles * all->turns;
    read_plane(w, f);
    r->sum->barriers += r->times * (double)(w->s.threads / 32);
}

/* `sums`: of how many turns sums are made, 0: of all. */
static void predict_tiles(const tess_problem *base, const march3d_shape *shape, double sums, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const tess_correlate_frame f = known_frame(base, 2);
    walk w = {.s = *shape};
    w.planes = (planes_walk){.ring = tess_correlate_ring_of(&f, w.s.columns, w.s.along, w.s.threads, whole, out),
                             .threads = w.s.threads,
                             .along = w.s.along,
                             .stages = w.s.stages,
                             .rows = w.s.down * w.s.rows + f.y.width - 1};
    planes_of_chunks all;
    tess_correlate_planes_of(&all, &f, w.s.depth, whole);
    const int64_t line = whole ? LINE : 32, high = w.s.down * w.s.rows, across = tess_ceil_div(f.x.m, w.planes.ring.tile),
                  down = tess_ceil_div(f.y.m, high);
    const int64_t period = line / tess_gcd(line, tess_gcd(llabs(high * f.y.in_stride), llabs(high * f.y.out_stride))),
                  ends = 1 + tess_ceil_div(f.y.width, high);
    const double conversions = tess_correlate_frame_conversions(&f, p->work, (w.s.rows + f.y.width - 1) * (before(&f) + w.s.columns + after(&f)));
    if (!whole && f.in < 4) /* which pass through registers */
        return;
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind i = {0}; tess_gpu_next_kind(&i, across, 2, 3, 1);)
        for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, down, ends, ends + 1, period);) {
            w.planes.x = i.at * w.planes.ring.tile;
            w.planes.y = j.at * high;
            one_tile(&w, &all, i.times * j.times);
        }
    out->constant_requests = -1;
    out->flops = (double)(across * down * w.s.threads) *
                 ((sums > 0 ? sums : all.turns) * (double)(2 * f.x.width * f.y.width * f.z.width * w.s.rows * w.s.columns) + all.turns * conversions);
    if ((conversions > 0 && f.pass->group > w.s.columns) || f.x.width * f.y.width == 1) /* some of a window, or of the terms, are used by none */
        out->flops = -1;
    if (f.in == 2 ||
        f.pass->group > w.s.columns) /* of some masks the compiler loads words of a window, and not vectors; of far taps no more than is used */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
}

static void predict_march3d(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_frame f = known_frame(base, 2);
    const march3d_shape s = tess_correlate_march3d_of(&f, work_size(base), whole, device_meant(out));
    predict_tiles(base, &s, 0, out, whole);
}
void tess_correlate_predict_march3d(const tess_problem *base, tess_gpu_prediction *out) { predict_march3d(base, out, true); }
void tess_correlate_predict_march3d_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_march3d(base, out, false); }
void tess_correlate_predict_march_kept(const tess_problem *base, tess_gpu_prediction *out) {
    const tess_correlate_frame f = known_frame(base, 2);
    const march3d_shape s = tess_correlate_march_kept_of(&f, work_size(base), device_meant(out));
    predict_tiles(base, &s, (double)(f.arrays * f.z.m), out, true);
}

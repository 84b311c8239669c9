/* SPDX-License-Identifier: Apache-2.0
 * gpu_march_predict.c - what correlate/march3d and march3d_odd will count: a plane of a block's tile is walked for each kind of tile and for each place that planes have within a line.
 *
 * Planes are brought alike whether they lie inside the array or stand for one beyond it; those of constants are another matter. Predicted for arrays that begin at a line, and of march3d_odd for
 * elements of 4 and 8 bytes. */
#include <stdlib.h>

#include "ops/correlate/gpu_ring_predict.h"

enum { LINE = FRAME_LINE };
static const int64_t origin = (int64_t)1 << 40; /* before both arrays: addresses are positive */

/* A tile of gpu_planes.cuh. */
typedef struct walk {
    ring_walk ring;
    march3d_shape s;
    int64_t rows; /* in shared memory */
    int64_t x, y; /* its first output */
} walk;

/* ---- planes on their way in: tile_feed of gpu_ring.cuh ---- */

/* Byte of the plane at which row `number` of the tile begins, -1: there is none, or it is one of constants. */
static int64_t row_of(const walk *w, int64_t plane, int64_t number) {
    const tess_correlate_frame *f = w->ring.f;
    const int64_t at = number < w->rows ? tess_correlate_frame_resolve(f, w->y - f->y.before + number, f->y.n) : -1;
    return at < 0 ? -1 : plane + at * f->y.in_stride;
}

/* Threads stand `across` by `high`, but for the last ones. */
static void copy_plane(const walk *w, int64_t plane) {
    const ring_walk *r = &w->ring;
    const int64_t vectors = r->row / r->vector, across = tess_min64(vectors, r->size < 4 ? w->s.threads : w->s.along), high = w->s.threads / across;
    const int64_t loose = r->left + r->copy + r->left + r->right, begin = w->x - r->pad_left;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t number = 0; number < w->rows; number += high) {
            int64_t from[32], to[32], row[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t down = (thread + lane) / across;
                row[lane] = down < high ? row_of(w, plane, number + down) : -1;
            }
            for (int64_t g = 0; g < vectors; g += across) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t at = (g + (thread + lane) % across) * r->vector, down = (thread + lane) / across;
                    const bool inside = row[lane] >= 0 && at < r->row && begin + at >= 0 && begin + at + r->vector <= r->f->x.n;
                    from[lane] = inside ? row[lane] + (begin + at) * r->size : -1;
                    to[lane] = ((number + down) * r->row + at) * r->size;
                }
                tess_gpu_count_copies(r->sum, r->times, from, to);
            }
            for (int64_t e = 0; e < loose; e += across) {
                for (int lane = 0; lane < 32; lane++) {
                    int64_t column;
                    tess_correlate_ring_loose(r, w->x, e + (thread + lane) % across, &column, &to[lane]);
                    const bool there = row[lane] >= 0 && column >= 0;
                    from[lane] = there ? row[lane] + column * r->size : -1;
                    to[lane] = there ? ((number + (thread + lane) / across) * r->row + to[lane]) * r->size : -1;
                }
                tess_correlate_ring_copy_elements(r, from, to);
            }
        }
}

/* Where rows begin anywhere a warp copies a row, element by element; where it begins stands in shared memory. */
static void copy_odd_plane(const walk *w, int64_t plane) {
    const ring_walk *r = &w->ring;
    const int64_t loose = r->left + r->copy + r->left + r->right, begin = w->x - r->pad_left;
    for (int64_t number = 0; number < w->rows; number++) {
        const int64_t row = row_of(w, plane, number);
        int64_t from[32], to[32];
        r->sum->shared_ld_requests += r->times;
        r->sum->shared_ld_wavefronts += r->times;
        for (int64_t at = 0; at < r->row && row >= 0; at += 32) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t column = begin + at + lane;
                from[lane] = at + lane < r->row && column >= 0 && column < r->f->x.n ? row + column * r->size : -1;
            }
            tess_gpu_count_global(r->sum, r->times, from, r->size, false);
        }
        for (int64_t e = 0; e < loose && row >= 0; e += 32) {
            for (int lane = 0; lane < 32; lane++) {
                int64_t column;
                tess_correlate_ring_loose(r, w->x, e + lane, &column, &to[lane]);
                from[lane] = column >= 0 ? row + column * r->size : -1;
            }
            tess_gpu_count_global(r->sum, r->times, from, r->size, false);
        }
    }
}

/* Before the first plane; and a barrier. */
static void begin_odd(const walk *w) {
    const ring_walk *r = &w->ring;
    r->sum->shared_st_requests += r->times * (double)tess_ceil_div(w->rows, 32);
    r->sum->shared_st_wavefronts += r->times * (double)tess_ceil_div(w->rows, 32);
    r->sum->barriers += r->times * (double)(w->s.threads / 32);
}

/* A plane of constants: a vector's elements one after another. */
static void constant_plane(const walk *w) {
    const ring_walk *r = &w->ring;
    const int64_t step = r->whole ? r->vector : 1, vectors = w->rows * r->row / step;
    for (int64_t first = 0; first < vectors; first += 32)
        for (int64_t i = 0; i < step; i++) {
            int64_t to[32];
            for (int lane = 0; lane < 32; lane++)
                to[lane] = first + lane < vectors ? ((first + lane) * step + i) * r->size : -1;
            tess_gpu_count_shared(r->sum, r->times, to, r->size, true);
        }
}

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
            tess_correlate_ring_read(&w->ring, row, along);
        }
}

/* Results of a plane at byte `to`: of threads whose rows and columns all exist, then of the others. */
static void write_plane(const walk *w, int64_t plane) {
    const tess_correlate_frame *f = w->ring.f;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int whole = 1; whole >= 0; whole--)
            for (int64_t i = 0; i < w->s.rows; i++) {
                int64_t x[32], to[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t row = w->y + (thread + lane) / w->s.along * w->s.rows;
                    x[lane] = w->x + (thread + lane) % w->s.along * w->s.columns;
                    const bool all = row + w->s.rows <= f->y.m && x[lane] + w->s.columns <= f->x.m;
                    to[lane] = all == whole && row + i < f->y.m ? plane + (row + i) * f->y.out_stride + x[lane] * f->out : -1;
                }
                tess_correlate_frame_write(w->ring.sum, w->ring.times, w->ring.f, w->ring.columns, x, to);
            }
}

/* Element by element; a column a thread that has all of its rows goes before the others. */
static void write_odd_plane(const walk *w, int64_t plane) {
    const tess_correlate_frame *f = w->ring.f;
    const bool single = w->s.columns == 1;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int whole = single; whole >= 0; whole--)
            for (int64_t i = 0; i < w->s.rows; i++)
                for (int64_t c = 0; c < w->s.columns; c++) {
                    int64_t to[32];
                    for (int lane = 0; lane < 32; lane++) {
                        const int64_t row = w->y + down_of(w, thread + lane) * w->s.rows, x = w->x + (thread + lane) % w->s.along * w->s.columns;
                        const bool all = single && row + w->s.rows <= f->y.m && x < f->x.m;
                        to[lane] = all == whole && row + i < f->y.m && x + c < f->x.m ? plane + (row + i) * f->y.out_stride + (x + c) * f->out : -1;
                    }
                    tess_gpu_count_global(w->ring.sum, w->ring.times, to, f->out, true);
                }
}

/* ---- all of them ---- */

/* Planes that chunks bring, by where they begin, and that they make. */
typedef struct planes {
    double in[LINE], constant, out[LINE], turns, chunks;
} planes;

static void planes_of(planes *all, const tess_correlate_frame *f, int64_t depth) {
    double in[LINE], out[LINE];
    *all = (planes){.turns = 0};
    tess_correlate_frame_places(f, false, in);
    tess_correlate_frame_places(f, true, out);
    for (int64_t z = 0; z < f->z.m; z += depth) {
        const int64_t turns = tess_min64(depth, f->z.m - z) + f->z.width - 1;
        all->turns += (double)turns * (double)f->arrays;
        all->chunks += (double)f->arrays;
        for (int64_t i = 0; i < turns; i++) {
            const int64_t at = tess_correlate_frame_resolve(f, z - f->z.before + i, f->z.n);
            if (at < 0)
                all->constant += (double)f->arrays;
            else
                tess_correlate_frame_add_places(all->in, in, at * f->z.in_stride);
        }
    }
    for (int64_t z = 0; z < f->z.m; z++)
        tess_correlate_frame_add_places(all->out, out, z * f->z.out_stride);
}

static void one_tile(walk *w, const planes *all, double tiles) {
    const tess_correlate_frame *f = w->ring.f;
    ring_walk *r = &w->ring;
    for (int i = 0; i < LINE; i++) {
        r->times = tiles * all->in[i];
        if (r->times > 0)
            (r->whole ? copy_plane : copy_odd_plane)(w, origin + i);
        r->times = tiles * all->out[i];
        if (r->times > 0)
            (r->whole ? write_plane : write_odd_plane)(w, origin + i);
    }
    r->times = tiles * all->constant;
    if (r->times > 0)
        constant_plane(w);
    r->times = tiles * all->chunks;
    if (!r->whole)
        begin_odd(w);
    if (tess_correlate_ring_reaches_edge(r, w->x) || w->y < f->y.before || w->y - f->y.before + w->rows > f->y.n)
        tess_correlate_ring_prepare(r, w->s.stages * w->rows);
    r->times = tiles * all->turns;
    read_plane(w, f);
    r->sum->barriers += r->times * (double)(w->s.threads / 32);
}

/* Without copies of whole vectors only sectors matter. */
static void fold(double *places) {
    for (int i = 32; i < LINE; i++) {
        places[i % 32] += places[i];
        places[i] = 0;
    }
}

static void predict_tiles(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const tess_correlate_frame f = known_frame(base, 2);
    walk w = {.s = tess_correlate_march3d_of(&f, work_size(base), whole, device_meant(out))};
    w.ring = tess_correlate_ring_of(&f, w.s.columns, w.s.along, w.s.threads, whole, out);
    w.rows = w.s.down * w.s.rows + f.y.width - 1;
    planes all;
    planes_of(&all, &f, w.s.depth);
    if (!whole) {
        fold(all.in);
        fold(all.out);
    }
    const int64_t line = whole ? LINE : 32, high = w.s.down * w.s.rows, across = tess_ceil_div(f.x.m, w.ring.tile), down = tess_ceil_div(f.y.m, high);
    const int64_t period = line / tess_gcd(line, tess_gcd(llabs(high * f.y.in_stride), llabs(high * f.y.out_stride))),
                  ends = 1 + tess_ceil_div(f.y.width, high);
    const double conversions = tess_correlate_frame_conversions(&f, p->work, (w.s.rows + f.y.width - 1) * (before(&f) + w.s.columns + after(&f)));
    if (!whole && f.in < 4) /* which pass through registers */
        return;
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind i = {0}; tess_gpu_next_kind(&i, across, 2, 3, 1);)
        for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, down, ends, ends + 1, period);) {
            w.x = i.at * w.ring.tile;
            w.y = j.at * high;
            one_tile(&w, &all, i.times * j.times);
        }
    out->constant_requests = -1;
    out->flops =
        (double)(across * down * w.s.threads) * all.turns * ((double)(2 * f.x.width * f.y.width * f.z.width * w.s.rows * w.s.columns) + conversions);
    if ((conversions > 0 && f.pass->group > w.s.columns) || f.x.width * f.y.width == 1) /* some of a window, or of the terms, are used by none */
        out->flops = -1;
    if (f.in == 2) /* of some masks the compiler loads words of a window, and not vectors */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
}

void tess_correlate_predict_march3d(const tess_problem *base, tess_gpu_prediction *out) { predict_tiles(base, out, true); }
void tess_correlate_predict_march3d_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_tiles(base, out, false); }

/* SPDX-License-Identifier: Apache-2.0
 * gpu_planes_predict.c - what the rows of gpu_planes.cuh have in common in their predictions: a plane of a block's tile is walked for each place that planes have within a line.
 *
 * Planes are brought alike whether they lie inside the array or stand for one beyond it; those of constants are another matter. Where rows begin anywhere: elements of 4 and 8 bytes. */
#include "ops/correlate/gpu_planes_predict.h"

enum { LINE = FRAME_LINE };

/* ---- planes on their way in: tile_feed of gpu_ring.cuh ---- */

/* Byte of the plane at which row `number` of the tile begins, -1: there is none, or it is one of constants. */
static int64_t row_of(const planes_walk *w, int64_t plane, int64_t number) {
    const tess_correlate_frame *f = w->ring.f;
    const int64_t at = number < w->rows ? tess_correlate_frame_resolve(f, w->y - f->y.before + number, f->y.n) : -1;
    return at < 0 ? -1 : plane + at * f->y.in_stride;
}

/* Threads stand `across` by `high`, but for the last ones. */
static void copy_plane(const planes_walk *w, int64_t plane) {
    const ring_walk *r = &w->ring;
    const int64_t vectors = r->row / r->vector, across = tess_min64(vectors, r->size < 4 ? w->threads : w->along), high = w->threads / across;
    const int64_t loose = r->left + r->copy + r->left + r->right, begin = w->x - r->pad_left;
    for (int64_t thread = 0; thread < w->threads; thread += 32)
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
static void copy_odd_plane(const planes_walk *w, int64_t plane) {
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
static void begin_odd(const planes_walk *w) {
    const ring_walk *r = &w->ring;
    r->sum->shared_st_requests += r->times * (double)tess_ceil_div(w->rows, 32);
    r->sum->shared_st_wavefronts += r->times * (double)tess_ceil_div(w->rows, 32);
    r->sum->barriers += r->times * (double)(w->threads / 32);
}

/* A plane of constants: a vector's elements one after another. */
static void constant_plane(const planes_walk *w) {
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

/* ---- all planes ---- */

/* Without copies of whole vectors only sectors matter. */
static void fold(double *places) {
    for (int i = 32; i < LINE; i++) {
        places[i % 32] += places[i];
        places[i] = 0;
    }
}

void tess_correlate_planes_of(planes_of_chunks *all, const tess_correlate_frame *f, int64_t depth, bool whole) {
    double in[LINE], out[LINE];
    *all = (planes_of_chunks){.turns = 0};
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
    if (!whole) {
        fold(all->in);
        fold(all->out);
    }
}

void tess_correlate_planes_bring(planes_walk *w, const planes_of_chunks *all, double tiles) {
    const tess_correlate_frame *f = w->ring.f;
    ring_walk *r = &w->ring;
    for (int i = 0; i < LINE; i++) {
        r->times = tiles * all->in[i];
        if (r->times > 0)
            (r->whole ? copy_plane : copy_odd_plane)(w, TESS_GPU_ORIGIN + i);
    }
    r->times = tiles * all->constant;
    if (r->times > 0)
        constant_plane(w);
    r->times = tiles * all->chunks;
    if (!r->whole)
        begin_odd(w);
    if (tess_correlate_ring_reaches_edge(r, w->x) || w->y < f->y.before || w->y - f->y.before + w->rows > f->y.n)
        tess_correlate_ring_prepare(r, w->stages * w->rows);
}

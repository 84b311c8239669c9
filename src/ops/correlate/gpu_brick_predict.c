/* SPDX-License-Identifier: Apache-2.0
 * gpu_brick_predict.c - what correlate/brick will count: a brick's requests are walked for each kind of brick along each axis and for each place within a sector at which arrays beside begin.
 *
 * Predicted for arrays that begin at a sector. Not predicted: constant requests. */
#include <stdlib.h>
#include <string.h>

#include "ops/correlate/boundary.h"
#include "ops/correlate/gpu_brick.h"

enum { SECTOR = 32 };

typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    tess_correlate_brick_shape b;
    tess_boundary boundary;
    int64_t size, in, out, threads; /* of a sum, of elements; of a block */
    int64_t first[3];               /* output of the brick */
    double places_in[SECTOR], places_out[SECTOR];
} walk;

/* ---- a brick ---- */

/* Element number e of a brick, in the order in which lanes read. */
static void place_of(const walk *w, int64_t e, int64_t *at) {
    const int fine = w->b.turned, coarse = !w->b.turned;
    at[fine] = e % w->b.length[fine];
    at[coarse] = e / w->b.length[fine] % w->b.length[coarse];
    at[2] = e / w->b.length[fine] / w->b.length[coarse];
}

static bool is_inside(const walk *w) {
    for (int i = 0; i < 3; i++) {
        const tess_correlate_axis *a = &w->b.axis[i];
        const int64_t first = w->first[i] - a->before;
        if (first < 0 || first + w->b.length[i] > a->n)
            return false;
    }
    return true;
}

static void bring(const walk *w, int64_t from) {
    const int64_t all = w->b.length[0] * w->b.length[1] * w->b.length[2];
    for (int64_t e = 0; e < all; e += 32) {
        int64_t address[32];
        for (int lane = 0; lane < 32; lane++) {
            int64_t at[3], element = e + lane < all ? from : -1;
            place_of(w, e + lane, at);
            for (int i = 0; i < 3 && element >= 0; i++) {
                const int64_t j = tess_boundary_index(w->boundary, w->b.axis[i].n, w->first[i] - w->b.axis[i].before + at[i]);
                element = j < 0 ? -1 : element + j * w->b.axis[i].in_stride;
            }
            address[lane] = element;
        }
        tess_gpu_count_global(w->sum, w->times, address, w->in, false);
    }
}

/* The same in all bricks. */
static void lay_down(const walk *w) {
    const int64_t all = w->b.length[0] * w->b.length[1] * w->b.length[2];
    for (int64_t e = 0; e < all; e += 32) {
        int64_t address[32];
        for (int lane = 0; lane < 32; lane++) {
            int64_t at[3];
            place_of(w, e + lane, at);
            address[lane] = e + lane < all ? (at[0] + (at[1] + at[2] * w->b.length[1]) * w->b.pitch) * w->size : -1;
        }
        tess_gpu_count_shared(w->sum, w->times, address, w->size, true);
    }
}

/* The places of coordinates, in bricks that do not lie inside: each is found once, and read by each element. */
static void find_places(const walk *w) {
    const int64_t all = w->b.length[0] * w->b.length[1] * w->b.length[2];
    int64_t address[32], first = 0;
    for (int i = 0; i < 3; first += w->b.length[i++])
        for (int64_t j = 0; j < w->b.length[i]; j += 32) {
            for (int lane = 0; lane < 32; lane++)
                address[lane] = j + lane < w->b.length[i] ? (first + j + lane) * 8 : -1;
            tess_gpu_count_shared(w->sum, w->times, address, 8, true);
        }
    first = 0;
    for (int i = 0; i < 3; first += w->b.length[i++])
        for (int64_t e = 0; e < (i == 2 && w->b.length[i] == 1 ? w->threads : all); e += 32) { /* of the only layer once a thread */
            for (int lane = 0; lane < 32; lane++) {
                int64_t at[3];
                place_of(w, e + lane, at);
                address[lane] = i == 2 && w->b.length[i] == 1 ? first * 8 : e + lane < all ? (first + at[i]) * 8 : -1;
            }
            tess_gpu_count_shared(w->sum, w->times, address, 8, false);
        }
    w->sum->barriers += w->times * (double)(w->threads / 32);
}

/* Where a thread's part of the brick begins. */
static void thread_of(const walk *w, int64_t thread, int64_t *at) {
    at[0] = thread % w->b.threads[0];
    at[1] = thread / w->b.threads[0] % w->b.threads[1] * (w->b.split ? 1 : w->b.outputs);
    at[2] = thread / w->b.threads[0] / w->b.threads[1];
}

static void store(const walk *w, int64_t to) {
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int64_t r = 0; r < w->b.outputs; r++) {
            int64_t address[32];
            for (int lane = 0; lane < 32; lane++) {
                int64_t at[3];
                thread_of(w, thread + lane, at);
                at[!w->b.split] += r * (w->b.split ? w->b.threads[0] : 1);
                address[lane] = to;
                for (int i = 0; i < 3 && address[lane] >= 0; i++)
                    address[lane] = w->first[i] + at[i] < w->b.axis[i].m ? address[lane] + (w->first[i] + at[i]) * w->b.axis[i].out_stride : -1;
            }
            tess_gpu_count_global(w->sum, w->times, address, w->out, true);
        }
}

/* Each element that a thread's outputs meet once, and every tap of all of them, if the first of its column is there; `each`: operations of a tap. */
static void add_up(const walk *w, double each) {
    const double met = (double)(w->b.axis[0].width * (w->b.axis[1].width + w->b.outputs - 1) * w->b.axis[2].width);
    for (int64_t thread = 0; thread < w->threads; thread += 32) {
        int64_t address[32];
        for (int lane = 0; lane < 32; lane++) {
            int64_t at[3];
            thread_of(w, thread + lane, at);
            const bool there = w->first[0] + at[0] < w->b.axis[0].m && w->first[2] + at[2] < w->b.axis[2].m;
            address[lane] = there ? (at[0] + (at[1] + at[2] * w->b.length[1]) * w->b.pitch) * w->size : -1;
            w->sum->flops += there ? w->times * each * (double)(w->b.outputs * w->b.pass->taps) : 0;
        }
        tess_gpu_count_shared(w->sum, w->times * met, address, w->size, false);
    }
}

/* ---- all of them ---- */

/* How many of the arrays beside begin at each place within a sector. */
static void places_of(const walk *w, double *places, bool out) {
    for (int i = 0; i < SECTOR; i++)
        places[i] = i == 0;
    for (int d = 0; d < w->b.pass->ndim; d++) {
        const tess_correlate_axis *a = &w->b.pass->axis[d];
        double next[SECTOR] = {0};
        if (!tess_correlate_brick_is_batch(&w->b, d))
            continue;
        for (int64_t j = 0; j < tess_min64(a->m, SECTOR); j++)
            for (int i = 0; i < SECTOR; i++) {
                const int64_t byte = i + j * (out ? a->out_stride : a->in_stride);
                next[(byte % SECTOR + SECTOR) % SECTOR] += places[i] * (double)tess_ceil_div(a->m - j, SECTOR);
            }
        memcpy(places, next, sizeof next);
    }
}

/* Bricks along an axis: those near an end one by one, the others by where they begin. */
static bool next_kind(const walk *w, int i, tess_gpu_kind *kind) {
    const tess_correlate_axis *a = &w->b.axis[i];
    const int64_t ends = 1 + tess_ceil_div(w->b.length[i] + a->width, w->b.tile[i]);
    return tess_gpu_next_kind(kind, tess_ceil_div(a->m, w->b.tile[i]), ends, ends,
                              SECTOR / tess_gcd(SECTOR, tess_gcd(llabs(w->b.tile[i] * a->in_stride), llabs(w->b.tile[i] * a->out_stride))));
}

static void add_bricks(walk *w, double each) {
    double arrays = 0;
    places_of(w, w->places_in, false);
    places_of(w, w->places_out, true);
    for (int i = 0; i < SECTOR; i++)
        arrays += w->places_out[i];
    for (tess_gpu_kind x = {0}; next_kind(w, 0, &x);)
        for (tess_gpu_kind y = {0}; next_kind(w, 1, &y);)
            for (tess_gpu_kind z = {0}; next_kind(w, 2, &z);) {
                w->first[0] = x.at * w->b.tile[0];
                w->first[1] = y.at * w->b.tile[1];
                w->first[2] = z.at * w->b.tile[2];
                w->times = x.times * y.times * z.times * arrays;
                add_up(w, each);
                for (int i = 0; i < SECTOR; i++) {
                    w->times = x.times * y.times * z.times * w->places_in[i];
                    if (w->times > 0)
                        bring(w, TESS_GPU_ORIGIN + i);
                    if (w->times > 0 && !is_inside(w))
                        find_places(w);
                    w->times = x.times * y.times * z.times * w->places_out[i];
                    if (w->times > 0)
                        store(w, TESS_GPU_ORIGIN + i);
                }
            }
    w->times = (double)(w->b.grid[0] * w->b.grid[1] * w->b.grid[2]);
    lay_down(w);
    w->sum->barriers += w->times * (double)(w->threads / 32);
}

void tess_correlate_predict_brick(const tess_problem *base, tess_gpu_prediction *out) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const double each = p->work == tess_f32 || p->work == tess_f64 ? 2 : tess_is_complex(p->work) ? 8 : 0;
    const char *why;
    bool repeats = false;
    int count;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    tess_gpu_count_from_zero(out);
    for (int k = 0; k < count; k++) {
        walk w = {.sum = out, .boundary = p->boundary, .size = (int64_t)tess_type_size(p->work)};
        tess_correlate_brick_of(&w.b, p, &pass[k], &why); /* true, because `fits` was */
        w.in = (int64_t)tess_type_size(pass[k].from);
        w.out = (int64_t)tess_type_size(pass[k].to);
        w.threads = w.b.threads[0] * w.b.threads[1] * w.b.threads[2];
        add_bricks(&w, each);
        const int64_t line = w.b.length[w.b.turned]; /* where all turns meet the same coordinate, its place is read once */
        repeats = repeats || w.threads % line == 0;
    }
    out->constant_requests = -1;
    if (repeats)
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
}

/* SPDX-License-Identifier: Apache-2.0
 * gpu_lanes3d_predict.c - what correlate/lanes3d and lanes3d_odd will count: a warp of each kind is walked for one plane of each place that planes may begin at; where it reads up to the array's ends and
 * rows begin anywhere, for each plane.
 *
 * Predicted for arrays that begin at a line. */
#include <stdlib.h>

#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_planes_predict.h"
#include "ops/correlate/gpu_triple.h"

enum { V = LANES3D_COLUMNS, WORD = 4 };

/* The names of gpu_lanes3d.cu. */
typedef struct walk {
    tess_gpu_prediction *sum;
    const tess_correlate_frame *f;
    lanes3d_shape s;
    int64_t rows, x[32], y[32]; /* of each lane's piece: its first column and row of outputs */
    bool whole, writes[32], inside, ends;
} walk;

static void find_warp(walk *w, int64_t number) {
    const tess_correlate_frame *f = w->f;
    const int64_t begin = number * w->s.own - w->s.lap;
    w->inside = true;
    w->ends = false;
    for (int lane = 0; lane < 32; lane++) {
        const int64_t at = tess_min64(tess_max64(begin + lane, 0), w->s.pieces - 1);
        w->x[lane] = at % w->s.along * V;
        w->y[lane] = at / w->s.along * w->s.rows;
        w->writes[lane] = lane >= w->s.lap && lane < 32 - w->s.lap && begin + lane < w->s.pieces;
        const int64_t top = w->y[lane] - f->y.before, beside = w->whole ? 0 : 1;
        w->inside &= top >= beside && top + w->rows <= f->y.n - beside;
        w->ends |= w->x[lane] == 0 || w->x[lane] + 2 * V > f->x.m;
    }
}

/* Number r of each lane's rows of the plane at byte `plane`; -1: constants. */
static void find_rows(const walk *w, int64_t r, int64_t plane, int64_t *at) {
    const tess_correlate_frame *f = w->f;
    for (int lane = 0; lane < 32; lane++) {
        const int64_t y = tess_correlate_frame_resolve(f, w->y[lane] - f->y.before + r, f->y.n);
        at[lane] = y < 0 ? -1 : plane + y * f->y.in_stride + w->x[lane] * f->in;
    }
}

/* A plane's rows, whole pieces or whole words. */
static void read_plane(const walk *w, double times, int64_t plane) {
    const int64_t bytes = V * w->f->in, width = w->whole ? bytes : WORD;
    for (int64_t r = 0; r < w->rows; r++)
        for (int64_t b = 0; b < bytes; b += width) {
            int64_t at[32];
            find_rows(w, r, plane, at);
            for (int lane = 0; lane < 32; lane++)
                at[lane] = at[lane] < 0 ? -1 : at[lane] / width * width + b;
            tess_gpu_count_global(w->sum, times, at, width, false);
        }
}

/* The same of words as far as they lie in the array at `in`, and elements. */
static void read_within(const walk *w, double times, int64_t in, int64_t plane) {
    const tess_correlate_frame *f = w->f;
    const int64_t y = (f->y.n - 1) * f->y.in_stride, z = (f->z.n - 1) * f->z.in_stride;
    const int64_t begin = in + tess_min64(y, 0) + tess_min64(z, 0), end = in + f->x.n * f->in + tess_max64(y, 0) + tess_max64(z, 0);
    for (int64_t r = 0; r < w->rows; r++)
        for (int64_t b = 0; b < V * f->in; b += WORD) {
            int64_t row[32], at[32];
            find_rows(w, r, in + plane, row);
            for (int lane = 0; lane < 32; lane++) {
                row[lane] = row[lane] < 0 ? -1 : row[lane] / WORD * WORD + b;
                at[lane] = row[lane] >= begin && row[lane] + WORD <= end ? row[lane] : -1;
            }
            tess_gpu_count_global(w->sum, times, at, WORD, false);
            for (int64_t i = 0; i < WORD; i += f->in) {
                for (int lane = 0; lane < 32; lane++) {
                    const bool alone = row[lane] >= 0 && (row[lane] < begin || row[lane] + WORD > end);
                    at[lane] = alone && row[lane] + i >= begin && row[lane] + i < end ? row[lane] + i : -1;
                }
                tess_gpu_count_global(w->sum, times, at, f->in, false);
            }
        }
}

static void write_plane(const walk *w, double times, int64_t plane) {
    const tess_correlate_frame *f = w->f;
    const int64_t bytes = w->whole ? tess_min64(V * f->out, 16) : WORD, end = f->x.m * f->out, each = f->out < WORD ? f->out : 0;
    for (int64_t r = 0; r < w->s.rows; r++)
        for (int64_t b = 0; b < V * f->out; b += bytes) {
            int64_t at[32], begin[32], some[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t to = plane + (w->y[lane] + r) * f->y.out_stride + w->x[lane] * f->out, behind = w->whole ? 0 : to % WORD;
                const bool mine = w->writes[lane] && w->y[lane] + r < f->y.m;
                begin[lane] = w->x[lane] * f->out + b - behind;
                at[lane] = mine ? to + b - behind : -1;
                some[lane] = !w->whole && w->ends && (begin[lane] < 0 || begin[lane] + WORD > end) ? at[lane] : -1;
                at[lane] = some[lane] >= 0 ? -1 : at[lane];
            }
            tess_gpu_count_global(w->sum, times, at, bytes, true);
            for (int64_t i = 0; each && i < WORD; i += each) {
                for (int lane = 0; lane < 32; lane++)
                    at[lane] = some[lane] >= 0 && begin[lane] + i >= 0 && begin[lane] + i < end ? some[lane] + i : -1;
                tess_gpu_count_global(w->sum, times, at, each, true);
            }
        }
}

/* The planes that the chunks ask for, each chunk one more than it has turns, of constants the first. */
static int64_t plane_of(const walk *w, int64_t z, int64_t turn) {
    return tess_max64(tess_correlate_frame_resolve(w->f, z - w->f->z.before + turn, w->f->z.n), 0) * w->f->z.in_stride;
}
/* A warp's first plane, and what it asks for while its plane is one of constants, as if it were at an end. */
static bool is_careful(const walk *w, int64_t z, int64_t turn) {
    return turn == 0 || tess_correlate_frame_resolve(w->f, z - w->f->z.before + turn - 1, w->f->z.n) < 0;
}
static int64_t planes_of(const walk *w, int64_t z) { return tess_min64(w->s.depth, w->f->z.m - z) + w->f->z.width - 1; }

static void predict_as(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    tess_correlate_triple three;
    tess_correlate_triple_of(&three, base, whole, &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &three.frame;
    walk w = {.sum = out, .f = f, .s = tess_correlate_lanes3d_of(&three, device_meant(out)), .whole = whole};
    double arrays[FRAME_LINE], results[FRAME_LINE], in[FRAME_LINE] = {0}, to[FRAME_LINE] = {0}, turns = 0;
    float raised[LANES3D_LONGEST];
    w.rows = w.s.rows + f->y.width - 1;
    tess_correlate_frame_places(f, false, arrays);
    tess_correlate_frame_places(f, true, results);
    for (int64_t z = 0; z < f->z.m; z += w.s.depth) {
        for (int64_t turn = 0; turn <= planes_of(&w, z); turn++)
            if (whole || !is_careful(&w, z, turn))
                tess_correlate_frame_add_places(in, arrays, plane_of(&w, z, turn));
        turns += (double)planes_of(&w, z);
    }
    for (int64_t z = 0; z < f->z.m; z++)
        tess_correlate_frame_add_places(to, results, z * f->z.out_stride);
    tess_gpu_count_from_zero(out);
    /* Warps are alike that are so many groups of rows apart that these begin alike; those near the first and the last row are not. */
    const int64_t warps = tess_ceil_div(w.s.pieces, w.s.own), common = tess_gcd(w.s.along, w.s.own), groups = w.s.own / common * w.s.rows;
    const int64_t period =
        w.s.along / common * (FRAME_LINE / tess_gcd(FRAME_LINE, tess_gcd(llabs(groups * f->y.in_stride), llabs(groups * f->y.out_stride))));
    const int64_t ends = tess_ceil_div((tess_ceil_div(w.rows + 1, w.s.rows) + 1) * w.s.along, w.s.own) + 1;
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, warps, ends, ends, period);) {
        find_warp(&w, n.at);
        for (int i = 0; i < FRAME_LINE; i++) {
            if (in[i] > 0 && (whole || w.inside))
                read_plane(&w, n.times * in[i], TESS_GPU_ORIGIN + i);
            if (to[i] > 0)
                write_plane(&w, n.times * to[i], TESS_GPU_ORIGIN + i);
            for (int64_t z = 0; z < f->z.m && arrays[i] > 0 && !whole; z += w.s.depth)
                for (int64_t turn = 0; turn <= planes_of(&w, z); turn++)
                    if (!w.inside || is_careful(&w, z, turn))
                        read_within(&w, n.times * arrays[i], TESS_GPU_ORIGIN + i, plane_of(&w, z, turn));
        }
    }
    const bool is_raised = f->pass->from == tess_u8 && raise_weights(p->passes[three.y].weights, f->y.width, tess_u8, raised);
    const double conversions = is_raised ? 0 : tess_correlate_frame_conversions(f, tess_f32, V * w.rows), chains = (double)(2 * V * w.s.rows);
    out->flops = (double)(32 * warps * f->arrays) *
                 (turns * (conversions + chains * (double)(f->y.width + f->z.width)) + (double)f->z.m * chains * (double)f->x.width);
    out->constant_requests = -1;
}

void tess_correlate_predict_lanes3d(const tess_problem *base, tess_gpu_prediction *out) { predict_as(base, out, true); }
void tess_correlate_predict_lanes3d_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_as(base, out, false); }

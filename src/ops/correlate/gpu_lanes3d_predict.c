/* SPDX-License-Identifier: Apache-2.0
 * gpu_lanes3d_predict.c - what correlate/lanes3d will count: a warp of each kind is walked for one plane of each place that planes may begin at.
 *
 * Predicted for arrays that begin at a line. */
#include <stdlib.h>

#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_planes_predict.h"
#include "ops/correlate/gpu_triple.h"

enum { V = LANES3D_COLUMNS, OWN = LANES3D_OWN };

/* The names of gpu_lanes3d.cu. */
typedef struct walk {
    tess_gpu_prediction *sum;
    const tess_correlate_frame *f;
    lanes3d_shape s;
    int64_t begin;
} walk;

static void piece_of(const walk *w, int lane, int64_t *x, int64_t *y) {
    const int64_t at = tess_min64(tess_max64(w->begin + lane, 0), w->s.pieces - 1);
    *x = at % w->s.along * V;
    *y = at / w->s.along * w->s.rows;
}

/* A plane's rows, of planes that begin at byte `plane`. */
static void read_plane(const walk *w, double times, int64_t plane) {
    const tess_correlate_frame *f = w->f;
    for (int64_t r = 0; r < w->s.rows + f->y.width - 1; r++) {
        int64_t at[32];
        for (int lane = 0; lane < 32; lane++) {
            int64_t x, y;
            piece_of(w, lane, &x, &y);
            y = tess_correlate_frame_resolve(f, y - f->y.before + r, f->y.n);
            at[lane] = y < 0 ? -1 : plane + y * f->y.in_stride + x * f->in;
        }
        tess_gpu_count_global(w->sum, times, at, V * f->in, false);
    }
}

static void write_plane(const walk *w, double times, int64_t plane) {
    const tess_correlate_frame *f = w->f;
    const int64_t bytes = tess_min64(V * f->out, 16);
    for (int64_t r = 0; r < w->s.rows; r++)
        for (int64_t b = 0; b < V * f->out; b += bytes) {
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++) {
                int64_t x, y;
                piece_of(w, lane, &x, &y);
                const bool mine = lane >= 1 && lane <= OWN && w->begin + lane < w->s.pieces && y + r < f->y.m;
                at[lane] = mine ? plane + (y + r) * f->y.out_stride + x * f->out + b : -1;
            }
            tess_gpu_count_global(w->sum, times, at, bytes, true);
        }
}

void tess_correlate_predict_lanes3d(const tess_problem *base, tess_gpu_prediction *out) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    tess_correlate_triple three;
    tess_correlate_triple_of(&three, base, true, &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &three.frame;
    walk w = {.sum = out, .f = f, .s = tess_correlate_lanes3d_of(&three, device_meant(out))};
    double arrays[FRAME_LINE], results[FRAME_LINE], in[FRAME_LINE] = {0}, to[FRAME_LINE] = {0}, turns = 0;
    float raised[LANES3D_LONGEST];
    tess_correlate_frame_places(f, false, arrays);
    tess_correlate_frame_places(f, true, results);
    /* The planes that a chunk asks for: one more than it has turns, of constants the first. */
    for (int64_t z = 0; z < f->z.m; z += w.s.depth) {
        const int64_t planes = tess_min64(w.s.depth, f->z.m - z) + f->z.width - 1;
        for (int64_t turn = 0; turn <= planes; turn++) {
            const int64_t at = tess_correlate_frame_resolve(f, z - f->z.before + turn, f->z.n);
            tess_correlate_frame_add_places(in, arrays, tess_max64(at, 0) * f->z.in_stride);
        }
        turns += (double)planes;
    }
    for (int64_t z = 0; z < f->z.m; z++)
        tess_correlate_frame_add_places(to, results, z * f->z.out_stride);
    tess_gpu_count_from_zero(out);
    const int64_t rows = w.s.rows + f->y.width - 1, warps = tess_ceil_div(w.s.pieces, OWN);
    const bool is_raised = f->pass->from == tess_u8 && raise_weights(p->passes[three.y].weights, f->y.width, tess_u8, raised);
    const double conversions = is_raised ? 0 : tess_correlate_frame_conversions(f, tess_f32, V * rows);
    const double chains = (double)(2 * V * w.s.rows);
    for (int64_t n = 0; n < warps; n++) {
        w.begin = n * OWN - 1;
        for (int i = 0; i < FRAME_LINE; i++) {
            if (in[i] > 0)
                read_plane(&w, in[i], TESS_GPU_ORIGIN + i);
            if (to[i] > 0)
                write_plane(&w, to[i], TESS_GPU_ORIGIN + i);
        }
    }
    const double lanes = (double)(32 * warps * f->arrays);
    out->flops = lanes * (turns * (conversions + chains * (double)(f->y.width + f->z.width)) + (double)f->z.m * chains * (double)f->x.width);
    out->constant_requests = -1;
}

/* SPDX-License-Identifier: Apache-2.0
 * gpu_patch_list_predict.c - what correlate/patch_separable will count where gpu_patch_list.cu takes the list: a block of each kind is walked, for each place within a sector at which arrays begin.
 *
 * Predicted for arrays that begin at a sector. */
#include <stdlib.h>

#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_pair.h"
#include "ops/correlate/gpu_ring_predict.h"

enum { SECTOR = 32, VECTOR = 16 /* bytes */ };

/* The names of gpu_patch_list.cu; elements. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    patch_pair_shape s;
    int64_t each, warps, own, wide, across, row, rows, before, left, right;
    bool constant, few;       /* SHORT */
    int64_t x, y, first, top; /* of a block */
} walk;

static bool is_inside(const walk *w) { return w->top >= 0 && w->top + w->rows <= w->f->y.n && w->first >= 0 && w->first + w->row <= w->f->x.n; }

/* What lies across a row's end, and what lanes beyond it want, element by element. */
static void bring_loose(const walk *w, int64_t in) {
    const tess_correlate_frame *f = w->f;
    const int64_t tail = tess_max64(w->first, f->x.n / w->each * w->each), beyond = tess_min64(f->x.m + w->right, w->first + w->row);
    w->sum->barriers += w->times * (double)w->warps;
    for (int64_t e = 0; e < w->left + w->each + w->right; e += 32)
        for (int64_t r = 0; r < w->rows; r++) {
            const int64_t y = tess_correlate_frame_resolve(f, w->top + r, f->y.n);
            int64_t from[32], to[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t i = e + lane, at = i < w->left ? i - w->left : tail + i - w->left, column = tess_correlate_frame_resolve_x(f, at);
                const bool mine = y >= 0 && i < w->left + w->each + w->right && at >= w->first && at < beyond && column >= 0;
                from[lane] = mine ? in + y * f->y.in_stride + column * f->in : -1;
                to[lane] = mine ? (r * w->row + at - w->first) * f->in : -1;
            }
            tess_gpu_count_global(w->sum, w->times, from, f->in, false);
            tess_gpu_count_shared(w->sum, w->times, to, f->in, true);
        }
}

static void bring(const walk *w, int64_t in) {
    const tess_correlate_frame *f = w->f;
    const int64_t all = w->rows * w->across;
    for (int64_t begin = 0; begin < all; begin += 32) {
        int64_t from[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t number = begin + lane, column = w->first + number % w->across * w->each;
            const int64_t y = number < all ? tess_correlate_frame_resolve(f, w->top + number / w->across, f->y.n) : -1;
            from[lane] = y >= 0 && column >= 0 && column + w->each <= f->x.n ? in + y * f->y.in_stride + column * f->in : -1;
            to[lane] = number < all ? number * VECTOR : -1;
        }
        tess_gpu_count_global(w->sum, w->times, from, VECTOR, false);
        tess_gpu_count_shared(w->sum, w->times, to, VECTOR, true);
    }
    if (!is_inside(w) && !((w->s.alone || w->constant) && f->x.n % w->each == 0))
        bring_loose(w, in);
}

/* Of pixels a warp lays a finished row down, by vectors of all lanes, and each lane reads of it what is not its own (gpu_laid_rows.cuh). */
void tess_correlate_predict_laid_rows(tess_gpu_prediction *sum, double times, const tess_correlate_frame *f, const patch_pair_shape *s) {
    const int64_t vectors = s->columns / 4, first = tess_ceil_div(before(f) - s->near, 4), last = tess_ceil_div(s->near + s->columns + after(f), 4);
    int64_t at[32];
    const int64_t beside = 2 * s->laps, zeros = 2 * beside * vectors;
    for (int64_t lane = 0; lane < 32; lane++)
        at[lane] = lane < zeros ? (lane / beside * (32 + beside) + lane % beside + (2 * (lane % beside) < beside ? 0 : 32)) * VECTOR : -1;
    tess_gpu_count_shared(sum, times, at, VECTOR, true);
    for (int lane = 0; lane < 32; lane++)
        at[lane] = lane * VECTOR;
    for (int64_t r = 0; r < s->rows; r++) {
        for (int64_t n = 0; n < vectors; n++)
            tess_gpu_count_shared(sum, times, at, VECTOR, true);
        for (int64_t n = -first; n < last; n++)
            if (n < 0 || n >= vectors)
                tess_gpu_count_shared(sum, times, at, VECTOR, false);
    }
}

/* Whether a warp has outputs; its first column, its first row of outputs in the block. */
static bool is_busy(const walk *w, int64_t warp, int64_t *begins, int64_t *row) {
    *begins = w->x + warp % w->s.across * w->own - w->before;
    *row = warp / w->s.across * w->s.rows;
    return w->f->y.m - w->y - *row > 0 && *begins + (w->s.alone && *begins > 0 ? w->s.columns : w->before) < w->f->x.m;
}

static void read_rows(const walk *w, int64_t begins, int64_t row) {
    const int64_t v = w->s.columns, size = w->f->in;
    for (int64_t r = 0; r < w->s.rows + w->f->y.width - 1; r++) {
        int64_t at[32];
        for (int lane = 0; lane < 32; lane++)
            at[lane] = ((row + r) * w->row + begins + lane * v - w->first) * size;
        tess_gpu_count_shared(w->sum, w->times, at, v * size, false);
    }
}

static void write_rows(const walk *w, int64_t out, int64_t begins, int64_t row) {
    const tess_correlate_frame *f = w->f;
    const int64_t v = w->s.columns, bytes = tess_min64(v * f->out, VECTOR);
    for (int64_t r = 0; r < w->s.rows && w->y + row + r < f->y.m; r++)
        for (int64_t b = 0; b < v * f->out; b += bytes) {
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t own = begins + lane * v;
                const bool least = w->s.alone && own == 0, last = w->s.alone && own + v >= f->x.m;
                const bool writes = (lane >= w->s.laps || least) && (lane < 32 - w->s.laps || last) && own < f->x.m;
                at[lane] = writes ? out + (w->y + row + r) * f->y.out_stride + own * f->out + b : -1;
            }
            tess_gpu_count_global(w->sum, w->times, at, bytes, true);
        }
}

/* A block, of arrays that begin at byte `place` of a sector. */
static void one_block(walk *w, double times, const double *in, const double *out, double each) {
    int64_t begins, row;
    for (int i = 0; i < SECTOR; i++) {
        w->times = times * in[i];
        if (w->times > 0)
            bring(w, TESS_GPU_ORIGIN + i);
        for (int64_t warp = 0; warp < w->warps; warp++) {
            const bool busy = is_busy(w, warp, &begins, &row);
            w->times = times * in[i];
            if (busy && w->times > 0) {
                read_rows(w, begins, row);
                if (w->s.laid)
                    tess_correlate_predict_laid_rows(w->sum, w->times, w->f, &w->s);
            }
            w->sum->flops += busy ? w->times * 32 * each : 0;
            w->sum->barriers += w->times;
            w->times = times * out[i];
            if (busy && w->times > 0)
                write_rows(w, TESS_GPU_ORIGIN + i, begins, row);
        }
    }
}

static void fold(double *places) {
    for (int i = SECTOR; i < FRAME_LINE; i++) {
        places[i % SECTOR] += places[i];
        places[i] = 0;
    }
}

void tess_correlate_predict_patch_list(const tess_correlate_pair *two, const patch_pair_shape *s, tess_gpu_prediction *out) {
    const tess_correlate_frame *f = &two->frame;
    const int64_t v = s->columns;
    walk w = {.sum = out, .f = f, .s = *s, .each = VECTOR / f->in, .warps = s->across * s->down, .left = before(f), .right = after(f)};
    double in[FRAME_LINE], results[FRAME_LINE];
    w.own = (32 - 2 * s->laps) * v;
    w.wide = s->across * w.own;
    w.across = tess_ceil_div(w.wide + 2 * s->laps * v + w.each - v, w.each);
    w.row = w.across * w.each;
    w.rows = s->down * s->rows + f->y.width - 1;
    w.before = s->alone ? 0 : s->laps * v;
    w.constant = f->boundary == TESS_BOUNDARY_CONSTANT;
    w.few = f->y.m < s->rows * s->down;
    const int64_t high = s->down * s->rows, along = tess_max64(1, tess_ceil_div(f->x.m - (s->alone ? 2 * v : 0), w.wide)),
                  down = tess_ceil_div(f->y.m, high);
    const int64_t step = tess_gcd(w.wide * f->in, w.wide * f->out), rows = tess_gcd(llabs(high * f->y.in_stride), llabs(high * f->y.out_stride)),
                  ends = 1 + tess_ceil_div(f->y.width, high);
    const double conversions = s->raised ? 0 : tess_correlate_frame_conversions(f, tess_f32, v * (s->rows + f->y.width - 1));
    tess_correlate_frame_places(f, false, in);
    tess_correlate_frame_places(f, true, results);
    fold(in);
    fold(results);
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind i = {0}; tess_gpu_next_kind(&i, along, 2, 3, SECTOR / tess_gcd(SECTOR, step));)
        for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, down, ends, ends + 1, SECTOR / tess_gcd(SECTOR, rows));) {
            w.x = i.at * w.wide;
            w.y = w.few ? 0 : tess_min64(j.at * high, f->y.m - high);
            w.first = w.x - w.before < 0 ? -up_to(w.before - w.x, w.each) : (w.x - w.before) / w.each * w.each;
            w.top = w.y - f->y.before;
            one_block(&w, i.times * j.times, in, results, (double)(2 * v * s->rows * (f->y.width + f->x.width)) + conversions);
        }
    out->constant_requests = -1;
    if (conversions > 0) /* some of which the compiler makes twice */
        out->flops = -1;
    if (f->in == 2) /* of some masks the compiler loads words of a window, and not vectors */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
}

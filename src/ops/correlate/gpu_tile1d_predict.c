/* SPDX-License-Identifier: Apache-2.0
 * gpu_tile1d_predict.c - what correlate/tile1d will count: a block of each kind is walked, for each place within a line at which its first row begins.
 *
 * Predicted for arrays that begin at a line. Not predicted: loads of windows from shared memory, of which the compiler loads words alone that are used alone, or once more. */
#include <stdlib.h>

#include "ops/correlate/gpu_ring_predict.h"

enum { EACH = TILE1D_EACH, PIECE = 64, LONG = 128 };

/* The names of gpu_tile1d.cu; of a block with so many rows, the first of which begins at byte `row`. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    tile1d_shape s;
    int64_t tile, pad_left, wide, unit, back, room;
    int64_t x, outputs, rows, row, step;
} walk;

static int64_t place(int64_t element, int64_t size) { return element * size + element / EACH * (size == 1 ? 0 : 16); }

/* A request of each warp for each turn: `unit` elements of each thread that has a turn, from number `from` of those below `end` on. Bytes of the rows, of shared memory. */
typedef struct request {
    int64_t global[32], shared[32], e[32];
} request;
static void place_lanes(const walk *w, request *r, int64_t thread, int64_t turn, int64_t unit, int64_t from, int64_t end, int64_t size) {
    for (int lane = 0; lane < 32; lane++) {
        const int64_t part = (thread + lane) / w->s.along, e = from + ((thread + lane) % w->s.along + turn * w->s.along) * unit;
        const bool there = part < w->rows && e + unit <= end;
        r->e[lane] = there ? e : -1;
        r->global[lane] = there ? w->row + part * w->step : -1;
        r->shared[lane] = there ? part * w->room + place(e, size) : -1;
    }
}

/* ---- the tile on its way in ---- */

static void bring(const walk *w) {
    const int64_t size = w->f->in, begin = w->x - w->pad_left, first = tess_max64(0, -begin), end = tess_min64(w->f->x.n - begin, w->wide);
    request r;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t turn = 0; turn * w->s.along * w->unit < w->wide; turn++) {
            place_lanes(w, &r, thread, turn, w->unit, 0, w->wide, size);
            for (int lane = 0; lane < 32; lane++)
                r.global[lane] = r.e[lane] >= first && r.e[lane] + w->unit <= end ? r.global[lane] + (begin + r.e[lane]) * size : -1;
            tess_gpu_count_global(w->sum, w->times, r.global, w->unit * size, false);
            tess_gpu_count_shared(w->sum, w->times, r.shared, w->unit * size, true);
        }
    if ((first == 0 && end == w->wide) || (w->f->boundary == TESS_BOUNDARY_CONSTANT && end % w->unit == 0))
        return;
    w->sum->barriers += w->s.threads == 32 ? 0 : w->times * (double)(w->s.threads / 32);
    const int64_t start = w->pad_left - before(w->f), left = tess_max64(0, first - start), from = tess_max64(end / w->unit * w->unit, start),
                  count = left + tess_max64(0, w->pad_left + w->outputs + after(w->f) - from);
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t turn = 0; turn * w->s.along < count; turn++) {
            place_lanes(w, &r, thread, turn, 1, 0, count, size);
            for (int lane = 0; lane < 32; lane++)
                if (r.e[lane] >= 0) {
                    const int64_t i = r.e[lane], e = i < left ? start + i : from + i - left, at = tess_correlate_frame_resolve_x(w->f, begin + e);
                    r.shared[lane] += place(e, size) - place(i, size);
                    r.global[lane] = at < 0 ? -1 : r.global[lane] + at * size;
                }
            tess_gpu_count_global(w->sum, w->times, r.global, size, false);
            tess_gpu_count_shared(w->sum, w->times, r.shared, size, true);
        }
}

/* ---- results on their way out ---- */

static void lay_down(const walk *w) {
    const int64_t size = w->f->out;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t b = 0; b < EACH * size; b += 16) {
            request r;
            place_lanes(w, &r, thread, 0, EACH, 0, w->tile, size);
            for (int lane = 0; lane < 32; lane++)
                r.shared[lane] += r.shared[lane] < 0 ? 0 : b;
            tess_gpu_count_shared(w->sum, w->times, r.shared, 16, true);
        }
}

/* Units of results from number `from` of the tile on. */
static void take_units(const walk *w, int64_t unit, int64_t from) {
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t turn = 0; from + turn * w->s.along * unit < w->outputs; turn++) {
            request r;
            place_lanes(w, &r, thread, turn, unit, from, w->outputs, w->f->out);
            for (int lane = 0; lane < 32; lane++)
                r.global[lane] += r.e[lane] < 0 ? 0 : (w->x + r.e[lane]) * w->f->out;
            tess_gpu_count_global(w->sum, w->times, r.global, unit * w->f->out, true);
        }
}

static void take_up(const walk *w) {
    take_units(w, w->back, 0);
    if (w->back > 1 && w->outputs % w->back)
        take_units(w, 1, w->outputs / w->back * w->back);
}

/* ---- all of them ---- */

/* Each kind of block of one row, by where in a line rows begin; or of several rows a block, `step` bytes apart, by where the first of them begins. */
static void count_rows(walk *w, double tiles, int64_t step, const double *places, void (*count)(const walk *)) {
    const int64_t blocks = tess_ceil_div(w->f->arrays, w->s.rows);
    w->step = step;
    if (w->s.rows == 1) {
        w->rows = 1;
        for (int i = 0; i < FRAME_LINE; i++) {
            w->times = tiles * places[i];
            w->row = TESS_GPU_ORIGIN + i;
            if (w->times > 0)
                count(w);
        }
        return;
    }
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, blocks, 0, 1, FRAME_LINE / tess_gcd(FRAME_LINE, llabs(w->s.rows * step)));) {
        w->times = tiles * n.times;
        w->row = TESS_GPU_ORIGIN + ((n.at * w->s.rows * step) & (FRAME_LINE - 1));
        w->rows = tess_min64(w->s.rows, w->f->arrays - n.at * w->s.rows);
        count(w);
    }
}

void tess_correlate_tile1d_predict(const tess_correlate_frame *given, tess_type work, bool whole, tess_gpu_prediction *out) {
    const tess_correlate_frame f = *given;
    walk w = {.sum = out, .f = &f, .s = tess_correlate_tile1d_of(&f, whole), .unit = whole ? 16 / f.in : 1, .back = whole ? 16 / f.out : 1};
    double in[FRAME_LINE], results[FRAME_LINE];
    w.tile = w.s.along * EACH;
    w.pad_left = up_to(before(&f), EACH);
    w.wide = up_to(w.pad_left + w.tile + after(&f), EACH);
    w.room = tess_max64(place(w.wide, f.in), place(w.tile, f.out));
    tess_correlate_frame_places(&f, false, in);
    tess_correlate_frame_places(&f, true, results);
    const int64_t blocks = tess_ceil_div(f.x.m, w.tile), reach = tess_ceil_div(w.wide, w.tile), taps = f.x.width,
                  pieces = taps > LONG ? tess_ceil_div(taps, PIECE) : 1;
    const tess_correlate_axis *rows = f.batch == 1 ? &f.pass->axis[f.batch_axis[0]] : NULL;
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, blocks, reach, reach + 1, 1);) {
        w.x = n.at * w.tile;
        w.outputs = tess_min64(w.tile, f.x.m - w.x);
        count_rows(&w, n.times, rows ? rows->in_stride : 0, in, bring);
        count_rows(&w, n.times, rows ? rows->out_stride : 0, results, lay_down);
        count_rows(&w, n.times, rows ? rows->out_stride : 0, results, take_up);
    }
    out->barriers += w.s.threads == 32 ? 0 : (double)(3 * blocks * tess_ceil_div(f.arrays, w.s.rows) * (w.s.threads / 32));
    out->flops =
        (double)(blocks * f.arrays * w.s.along) *
        ((double)(2 * taps * EACH) + tess_correlate_frame_conversions(&f, work, (taps - pieces) * tess_min64(f.pass->group, EACH) + pieces * EACH));
    out->constant_requests = -1;
    out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    if (w.s.rows > 1 && f.batch > 1) /* rows of a block lie any steps apart */
        out->global_ld_sectors = out->global_st_sectors = -1;
}

static void predict_tiles(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_frame f = known_frame(base, 0);
    tess_correlate_tile1d_predict(&f, tess_correlate_gpu_of(base)->work, whole, out);
}

void tess_correlate_predict_tile1d(const tess_problem *base, tess_gpu_prediction *out) { predict_tiles(base, out, true); }
void tess_correlate_predict_tile1d_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_tiles(base, out, false); }

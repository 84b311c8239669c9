/* SPDX-License-Identifier: Apache-2.0
 * gpu_flat_list_predict.c - what correlate/patch_separable and its twin for rows that begin anywhere will count where gpu_flat_list.cu takes the list: a warp's way in is walked for each place at
 * which its first row begins, its way out for each at which its first result does.
 *
 * Predicted for arrays that begin at a line. */
#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_pair.h"
#include "ops/correlate/gpu_ring_predict.h"

enum { LINE = FRAME_LINE, SECTOR = 32, VECTOR = 16, COPIES_AT_ONCE = 8, STORES_AT_ONCE = 4 };

/* The names of gpu_flat_list.cu. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    int64_t v, r, row, rows, size, lanes;
} walk;

/* Elements from number `begin` on, before `end`, one a lane, of those that begin at byte `from` of memory and byte `to` of shared memory (or the other way); the lanes are `most`. */
static void some(const walk *w, int64_t begin, int64_t end, int64_t memory, int64_t shared, int64_t size, int64_t most, bool out) {
    int64_t at[32], room[32];
    for (int lane = 0; lane < 32; lane++) {
        const bool mine = lane < most && begin + lane < end;
        at[lane] = mine ? memory + (begin + lane) * size : -1;
        room[lane] = mine ? shared + (begin + lane) * size : -1;
    }
    tess_gpu_count_global(w->sum, w->times, at, size, out);
    tess_gpu_count_shared(w->sum, w->times, room, size, !out);
}

/* The same of whole vectors of 16 bytes; the compiler takes some at a time, those left over before. */
static void vectors(const walk *w, int64_t from, int64_t to, int64_t memory, int64_t shared, int64_t size, bool out) {
    const int64_t count = (to - from) / (VECTOR / size), at_a_time = out ? STORES_AT_ONCE : COPIES_AT_ONCE;
    for (int left = 1; left >= 0; left--)
        for (int64_t j = 0; j * 32 < count; j++) {
            int64_t at[32], room[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t turn = tess_gpu_turn_of(count > lane ? tess_ceil_div(count - lane, 32) : 0, at_a_time, true, left, j),
                              byte = from * size + (lane + 32 * turn) * VECTOR;
                at[lane] = turn < 0 ? -1 : memory + byte;
                room[lane] = turn < 0 ? -1 : shared + byte;
            }
            if (out) {
                tess_gpu_count_shared(w->sum, w->times, room, VECTOR, false);
                tess_gpu_count_global(w->sum, w->times, at, VECTOR, true);
            } else {
                tess_gpu_count_copies(w->sum, w->times, at, room);
            }
        }
}

/* Constants to `count` elements of shared memory from byte `at` on. */
static void ghosts(const walk *w, int64_t at, int64_t count) {
    int64_t to[32];
    for (int lane = 0; lane < 32; lane++)
        to[lane] = lane < count ? at + lane * w->size : -1;
    tess_gpu_count_shared(w->sum, w->times, to, w->size, true);
}

/* Rows from `top` on of the image at byte `in`. */
static void bring(const walk *w, int64_t in, int64_t top) {
    const tess_correlate_frame *f = w->f;
    const int64_t low = tess_max64(0, -top), high = tess_min64(w->rows, f->y.n - top), begin = low * w->row, end = high * w->row;
    const int64_t run = in + top * w->row * w->size, own = run % VECTOR, away = own / w->size, each = VECTOR / w->size;
    const int64_t from = up_to(begin + away, each) - away, to = (end + away) / each * each - away;
    vectors(w, from, to, run, own, w->size, false);
    ghosts(w, own - away * w->size, away);
    some(w, begin, from, run, own, w->size, each, false);
    some(w, to, end, run, own, w->size, each, false);
    for (int64_t r = low > 0 ? 0 : high; r < w->rows; r = r + 1 == low ? high : r + 1) {
        const int64_t y = tess_correlate_frame_resolve(f, top + r, f->y.n);
        for (int64_t first = 0; first < w->row; first += 32) {
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++)
                at[lane] = y < 0 ? -1 : in + (y * w->row + tess_min64(first + lane, w->row - 1)) * w->size;
            tess_gpu_count_global(w->sum, w->times, at, w->size, false);
            ghosts(w, own + (r * w->row + first) * w->size, w->row - first);
        }
    }
    ghosts(w, own + w->rows * w->row * w->size, w->v + 4 / w->size);
}

/* Words of all rows, of which the first begins at byte `own`. */
static void read_rows(const walk *w, int64_t own) {
    for (int64_t r = 0; r < w->rows; r++)
        for (int64_t i = 0; i <= w->v * w->size / 4; i++) {
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++)
                at[lane] = (own + r * w->row * w->size + tess_min64(lane, w->lanes - 1) * w->v * w->size) / 4 * 4 + 4 * i;
            tess_gpu_count_shared(w->sum, w->times, at, 4, false);
        }
}

/* Results, the first of which belongs to byte `out`. */
static void send(const walk *w, int64_t out) {
    const int64_t size = w->f->out, own = out % VECTOR, away = own / size, each = VECTOR / size, count = w->r * w->row;
    const int64_t from = up_to(away, each) - away, to = (count + away) / each * each - away;
    for (int64_t r = 0; r < w->r; r++)
        for (int64_t i = 0; i < w->v; i++) {
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++)
                at[lane] = lane < w->lanes ? own + (r * w->row + lane * w->v + i) * size : -1;
            tess_gpu_count_shared(w->sum, w->times, at, size, true);
        }
    vectors(w, from, to, out, own, size, true);
    some(w, 0, from, out, own, size, each, true);
    some(w, to, count, out, own, size, each, true);
}

void tess_correlate_predict_flat_list(const tess_correlate_pair *two, const patch_pair_shape *s, tess_gpu_prediction *out) {
    const tess_correlate_frame *f = &two->frame;
    walk w = {.sum = out, .f = f, .v = s->columns, .r = s->rows, .row = f->x.m, .rows = s->rows + f->y.width - 1, .size = f->in};
    double in[LINE], results[LINE], inside[LINE] = {0}, begin[LINE] = {0}, sent[LINE] = {0}, warps = 0;
    w.lanes = tess_ceil_div(w.row, w.v);
    tess_correlate_frame_places(f, false, in);
    tess_correlate_frame_places(f, true, results);
    tess_gpu_count_from_zero(out);
    for (int64_t band = 0; band < tess_ceil_div(f->y.m, w.r); band++) {
        const int64_t y = tess_min64(band * w.r, f->y.m - w.r), top = y - f->y.before;
        const bool whole = top >= 0 && top + w.rows <= f->y.n;
        tess_correlate_frame_add_places(begin, in, top * w.row * w.size);
        tess_correlate_frame_add_places(sent, results, y * w.row * f->out);
        warps += (double)f->arrays;
        if (whole)
            tess_correlate_frame_add_places(inside, in, top * w.row * w.size);
        for (int i = 0; i < LINE && !whole; i++) {
            w.times = in[i];
            if (w.times > 0)
                bring(&w, TESS_GPU_ORIGIN + i, top);
        }
    }
    for (int i = 0; i < LINE; i++) {
        begin[i % VECTOR] += i < VECTOR ? 0 : begin[i];
        sent[i % SECTOR] += i < SECTOR ? 0 : sent[i];
        w.times = inside[i];
        if (w.times > 0)
            bring(&w, TESS_GPU_ORIGIN + i, 0);
    }
    for (int i = 0; i < SECTOR; i++) {
        w.times = i < VECTOR ? begin[i] : 0;
        if (w.times > 0)
            read_rows(&w, i);
        w.times = sent[i];
        if (w.times > 0)
            send(&w, TESS_GPU_ORIGIN + i);
    }
    const int64_t taps = f->y.width, pushed = taps * (taps - 1) / 2 + w.r * taps;
    const double conversions = s->raised ? 0 : tess_correlate_frame_conversions(f, tess_f32, w.rows * w.v);
    out->flops = 32 * warps * ((double)(2 * w.v * (pushed + w.r * f->x.width)) + conversions);
    out->constant_requests = -1;
    if (conversions > 0) /* some of which the compiler may make twice, as in gpu_patch_list.cu */
        out->flops = -1;
}

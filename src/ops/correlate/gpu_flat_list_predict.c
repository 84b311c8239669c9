/* SPDX-License-Identifier: Apache-2.0
 * gpu_flat_list_predict.c - what correlate/patch_separable and its twin for rows that begin anywhere will count where gpu_flat_list.cu takes the list: a block's way in is walked for each place at
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
    int64_t v, r, row, rows, size, lanes, warps, bands, room, read, grain;
} walk;

static int64_t threads_of(const walk *w) { return 32 * w->warps; }

/* A thread's band, its place in a row, which may lie beyond it, and whether its results are its own. */
static int64_t band_of(const walk *w, int64_t thread) { return w->warps == 1 ? tess_min64(thread / w->lanes, w->bands - 1) : 0; }
static int64_t number_of(const walk *w, int64_t thread) {
    return w->warps == 1 ? thread - band_of(w, thread) * w->lanes : thread / 32 * FLAT_LIST_OWN + thread % 32 - 1;
}
static bool writes(const walk *w, int64_t thread) {
    return number_of(w, thread) < w->lanes && (w->warps == 1 || (thread % 32 > 0 && thread % 32 <= FLAT_LIST_OWN));
}

/* Where a thread's first column lies in shared memory, or its first result (of `size` bytes), if the bands' first ones lie at bytes `own` of their rooms. */
static int64_t byte_of(const walk *w, int64_t thread, const int64_t *own, int64_t size) {
    const int64_t band = band_of(w, thread);
    return band * w->room + own[band] + tess_max64(0, tess_min64(number_of(w, thread), w->lanes - 1)) * w->v * size;
}

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

/* Whole vectors of 16 bytes of one warp; the compiler takes some at a time, those left over before. */
static void vectors_of(int64_t warp, const walk *w, int64_t from, int64_t to, int64_t memory, int64_t shared, int64_t size, bool out) {
    const int64_t count = (to - from) / (VECTOR / size), at_a_time = out ? STORES_AT_ONCE : COPIES_AT_ONCE;
    for (int left = 1; left >= 0; left--)
        for (int64_t j = 0; j * threads_of(w) < count; j++) {
            int64_t at[32], room[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t thread = 32 * warp + lane, over = count - thread,
                              turn = tess_gpu_turn_of(over > 0 ? tess_ceil_div(over, threads_of(w)) : 0, at_a_time, true, left, j),
                              byte = from * size + (thread + threads_of(w) * turn) * VECTOR;
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

static void vectors(const walk *w, int64_t from, int64_t to, int64_t memory, int64_t shared, int64_t size, bool out) {
    for (int64_t warp = 0; warp < w->warps; warp++)
        vectors_of(warp, w, from, to, memory, shared, size, out);
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
    const int64_t run = in + top * w->row * w->size, own = run % SECTOR, away = run % VECTOR / w->size, each = VECTOR / w->size;
    const int64_t from = up_to(begin + away, each) - away, to = (end + away) / each * each - away;
    vectors(w, from, to, run, own, w->size, false);
    ghosts(w, own - away * w->size, away);
    some(w, begin, from, run, own, w->size, each, false);
    some(w, to, end, run, own, w->size, each, false);
    for (int64_t r = low > 0 ? 0 : high; r < w->rows; r = r + 1 == low ? high : r + 1) {
        const int64_t y = tess_correlate_frame_resolve(f, top + r, f->y.n);
        for (int64_t first = 0; first < up_to(w->row, threads_of(w)); first += 32) {
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++)
                at[lane] = y < 0 ? -1 : in + (y * w->row + tess_min64(first + lane, w->row - 1)) * w->size;
            tess_gpu_count_global(w->sum, w->times, at, w->size, false);
            ghosts(w, own + (r * w->row + first) * w->size, w->row - first);
        }
    }
    ghosts(w, own + w->rows * w->row * w->size, w->v + w->read / w->size);
}

/* What all rows are read by. */
static void read_rows(const walk *w, const int64_t *own) {
    for (int64_t warp = 0; warp < w->warps; warp++)
        for (int64_t r = 0; r < w->rows; r++)
            for (int64_t i = 0; i <= w->v * w->size / w->read; i++) {
                int64_t at[32];
                for (int lane = 0; lane < 32; lane++)
                    at[lane] = (byte_of(w, 32 * warp + lane, own, w->size) + r * w->row * w->size) / w->read * w->read + w->read * i;
                tess_gpu_count_shared(w->sum, w->times, at, w->read, false);
            }
}

/* Row number r of results to shared memory. Of several warps a word that two rows share goes by elements. */
static void put_row(const walk *w, const int64_t *own, int64_t r) {
    const int64_t size = w->f->out, end = (w->v - (w->lanes * w->v - w->row)) * size;
    for (int64_t warp = 0; warp < w->warps; warp++) {
        int64_t at[32], edge[32], low[32], high[32];
        for (int64_t i = 0; i < w->v * size; i += w->grain) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t number = number_of(w, 32 * warp + lane), to = byte_of(w, 32 * warp + lane, own, size) + r * w->row * size,
                              away = to % 4;
                const bool first = w->warps > 1 && number == 0, last = w->warps > 1 && number == w->lanes - 1;
                const bool there = writes(w, 32 * warp + lane) && !(first && i == 0 && away > 0) && !(last && i + 4 > end + away);
                at[lane] = there ? to / w->grain * w->grain + i : -1;
                edge[lane] = to / 4 * 4 + (last ? (end + away) / 4 * 4 : 0);
                low[lane] = first ? away : 0;
                high[lane] = last ? (end + away) % 4 : first && away > 0 ? 4 : 0;
            }
            tess_gpu_count_shared(w->sum, w->times, at, w->grain, true);
        }
        for (int64_t i = 0; i < 4; i += size) {
            for (int lane = 0; lane < 32; lane++)
                at[lane] = i >= low[lane] && i < high[lane] ? edge[lane] + i : -1;
            tess_gpu_count_shared(w->sum, w->times, at, size, true);
        }
    }
}

/* All of them. */
static void put_rows(const walk *w, const int64_t *own) {
    const int64_t size = w->f->out;
    for (int64_t r = 0; r < w->r; r++)
        put_row(w, own, r);
    if (w->warps == 1) { /* what the last row leaves of its last grain */
        int64_t at[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t band = band_of(w, lane);
            at[lane] = number_of(w, lane) == w->lanes - 1 ? (band * w->room + own[band] + w->r * w->row * size) / w->grain * w->grain : -1;
        }
        tess_gpu_count_shared(w->sum, w->times, at, w->grain, true);
    }
}

/* Results of a band, the first of which belongs to byte `out`. */
static void send(const walk *w, int64_t out) {
    const int64_t size = w->f->out, own = out % VECTOR, away = own / size, each = VECTOR / size, count = w->r * w->row;
    const int64_t from = up_to(away, each) - away, to = (count + away) / each * each - away;
    vectors(w, from, to, out, own, size, true);
    some(w, 0, from, out, own, size, each, true);
    some(w, to, count, out, own, size, each, true);
}

/* Lanes of a block whose first band's first row of outputs is number `first` of those of an image that begins at byte `in`, its results at byte `out`. */
static void compute(const walk *w, int64_t first, int64_t in, double times_in, int64_t out, double times_out) {
    walk one = *w;
    int64_t own[32], results[32];
    for (int64_t band = 0; band < w->bands; band++) {
        const int64_t y = tess_min64(first + band * w->r, w->f->y.m - w->r);
        own[band] = (TESS_GPU_ORIGIN + in + (y - w->f->y.before) * w->row * w->size) % SECTOR;
        results[band] = (TESS_GPU_ORIGIN + out + y * w->row * w->f->out) % VECTOR;
    }
    one.times = times_in;
    if (times_in > 0)
        read_rows(&one, own);
    one.times = times_out;
    if (times_out > 0)
        put_rows(&one, results);
}

void tess_correlate_predict_flat_list(const tess_correlate_pair *two, const patch_pair_shape *s, tess_gpu_prediction *out) {
    const tess_correlate_frame *f = &two->frame;
    walk w = {.sum = out,
              .f = f,
              .v = s->columns,
              .r = s->rows,
              .row = f->x.m,
              .rows = s->rows + f->y.width - 1,
              .size = f->in,
              .warps = s->across,
              .read = s->read};
    double in[LINE], results[LINE], inside[LINE] = {0}, begin[LINE] = {0}, sent[LINE] = {0}, ways[LINE] = {0}, blocks = 0;
    w.lanes = tess_ceil_div(w.row, w.v);
    w.bands = w.warps == 1 ? 32 / w.lanes : 1;
    w.room = s->room / w.bands;
    w.grain = w.warps == 1 && w.v * f->out >= 32 ? 8 : 4; /* GRAIN */
    tess_correlate_frame_places(f, false, in);
    tess_correlate_frame_places(f, true, results);
    tess_gpu_count_from_zero(out);
    const int64_t high = w.bands * w.r;
    for (int64_t first = 0; first < f->y.m; first += high) {
        blocks += (double)f->arrays;
        if (first + high <= f->y.m) { /* all bands lie as in the first block, but from another place on */
            tess_correlate_frame_add_places(begin, in, first * w.row * w.size);
            tess_correlate_frame_add_places(sent, results, first * w.row * f->out);
        }
        for (int i = 0; i < LINE && first + high > f->y.m; i++)
            compute(&w, first, i, in[i], i, results[i]);
        for (int64_t band = 0; band < w.bands; band++) {
            const int64_t y = tess_min64(first + band * w.r, f->y.m - w.r), top = y - f->y.before;
            tess_correlate_frame_add_places(ways, results, y * w.row * f->out);
            if (top >= 0 && top + w.rows <= f->y.n)
                tess_correlate_frame_add_places(inside, in, top * w.row * w.size);
            for (int i = 0; i < LINE && !(top >= 0 && top + w.rows <= f->y.n); i++) {
                w.times = in[i];
                if (w.times > 0)
                    bring(&w, TESS_GPU_ORIGIN + i, top);
            }
        }
    }
    for (int i = 0; i < LINE; i++) {
        begin[i % SECTOR] += i < SECTOR ? 0 : begin[i];
        sent[i % VECTOR] += i < VECTOR ? 0 : sent[i];
        ways[i % SECTOR] += i < SECTOR ? 0 : ways[i];
        w.times = inside[i];
        if (w.times > 0)
            bring(&w, TESS_GPU_ORIGIN + i, 0);
    }
    for (int i = 0; i < SECTOR; i++) {
        w.times = ways[i];
        if (w.times > 0)
            send(&w, TESS_GPU_ORIGIN + i);
        compute(&w, 0, i, begin[i], i, i < VECTOR ? sent[i] : 0);
    }
    const int64_t taps = f->y.width, pushed = taps * (taps - 1) / 2 + w.r * taps, together = taps >= 5 ? 4 : taps >= 3 ? 2 : 1; /* TOGETHER */
    const double conversions = s->raised ? 0 : tess_correlate_frame_conversions(f, tess_f32, w.rows * w.v);
    out->barriers = w.warps > 1 ? blocks * (double)(w.warps * (2 + tess_ceil_div(w.r, together))) : 0;
    out->flops = (double)threads_of(&w) * blocks * ((double)(2 * w.v * (pushed + w.r * f->x.width)) + conversions);
    out->constant_requests = -1;
    if (conversions > 0) /* some of which the compiler may make twice, as in gpu_patch_list.cu */
        out->flops = -1;
}

/* SPDX-License-Identifier: Apache-2.0
 * gpu_separable_predict.c - what correlate/separable2d will count: turns of rows of a block's tile are walked for each place that rows have within a line, and for each kind of block along the row.
 *
 * A turn's rows that all lie inside the array are brought row by row, and those that begin at the same place of a line count alike; a turn that meets an end is walked by itself. Predicted for
 * arrays that begin at a line. */
#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_pair.h"
#include "ops/correlate/gpu_ring_predict.h"

enum { LINE = FRAME_LINE, MOST_TURN = 4, LATER = 2 /* as in gpu_separable2d.cu */ };

/* The names of gpu_separable2d.cu. */
typedef struct walk {
    ring_walk ring;
    const tess_correlate_problem *p;
    separable2d_shape s;
    bool rows_first;
    int64_t work, mid_left, mid_right;
    double in[LINE]; /* where arrays begin */
} walk;

/* Turns that meet no end by where their rows begin, the others by their first row; results by where they begin; all turns, and blocks' shares of a column of blocks. */
typedef struct rows {
    double inside[LINE], out[LINE], turns, strips;
} rows;

/* ---- rows on their way in ---- */

static int64_t turns_of(const walk *w, int64_t y) {
    return tess_ceil_div(tess_min64(w->s.height, w->ring.f->y.m - y) + w->ring.f->y.width - 1, w->s.turn);
}

/* Turns of the strip from row y of outputs on whose rows are all there: from number `low` to before `high`. */
static void inside_of(const walk *w, int64_t y, int64_t *low, int64_t *high) {
    const tess_correlate_frame *f = w->ring.f;
    const int64_t top = y - f->y.before, turns = turns_of(w, y);
    *low = top < 0 ? tess_min64(turns, tess_ceil_div(-top, w->s.turn)) : 0;
    *high = tess_max64(*low, tess_min64(turns, top < f->y.n ? (f->y.n - top) / w->s.turn : 0));
}

/* Rows from number `from` on, `step` bytes apart, of arrays that begin at `places`: after as many as a line has bytes they begin at the same places again. */
static void add_rows(double *sum, const double *places, int64_t from, int64_t count, int64_t step) {
    for (int64_t i = 0; i < tess_min64(count, LINE); i++) {
        double some[LINE];
        for (int k = 0; k < LINE; k++)
            some[k] = places[k] * (double)tess_ceil_div(count - i, LINE);
        tess_correlate_frame_add_places(sum, some, (from + i) * step);
    }
}

static void rows_of(rows *all, const walk *w) {
    const tess_correlate_frame *f = w->ring.f;
    double out[LINE];
    *all = (rows){.turns = 0};
    tess_correlate_frame_places(f, true, out);
    for (int64_t y = 0; y < f->y.m; y += w->s.height) {
        int64_t low, high;
        inside_of(w, y, &low, &high);
        all->turns += (double)(turns_of(w, y) * f->arrays);
        all->strips += (double)f->arrays;
        add_rows(all->inside, w->in, y - f->y.before + low * w->s.turn, (high - low) * w->s.turn, f->y.in_stride);
    }
    add_rows(all->out, out, 0, f->y.m, f->y.out_stride);
}

/* A thread's own columns of rows that begin at bytes from[0], ... (-1: of constants), where they are no copies: gpu_own_rows.cuh. */
static void own_anywhere(const walk *w, int64_t x, const int64_t *from, bool rows_inside) {
    const ring_walk *r = &w->ring;
    const int64_t v = r->columns, n = r->f->x.n;
    for (int64_t thread = 0; thread < r->threads; thread += 32)
        for (int64_t t = 0; t < w->s.turn; t++)
            for (int64_t i = 0; i < v; i++) {
                int64_t element[32], to[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t own = (thread + lane) * v, column = x + own;
                    const bool inside = column >= 0 && column + v <= n;
                    element[lane] = !rows_inside && inside && from[t] >= 0 ? from[t] + (column + i) * r->size : -1;
                    to[lane] = rows_inside ? -1 : (t * r->tile + own + i) * r->size;
                }
                tess_gpu_count_global(r->sum, r->times, element, r->size, false);
                tess_gpu_count_shared(r->sum, r->times, to, r->size, true);
            }
}

static void own_inside(const walk *w, int64_t x, int64_t from) {
    const ring_walk *r = &w->ring;
    const int64_t v = r->columns, bytes = v * r->size;
    for (int64_t thread = 0; thread < r->threads; thread += 32) {
        int64_t copy[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t own = (thread + lane) * v, column = x + own;
            copy[lane] = column >= 0 && column + v <= r->f->x.n ? from + column * r->size : -1;
            to[lane] = own * r->size;
        }
        if (bytes == 16)
            tess_gpu_count_copies(r->sum, r->times, copy, to);
        else
            tess_gpu_count_global(r->sum, r->times, copy, bytes, false);
    }
}

/* Constants in the rows of threads whose columns stand outside. */
static void own_prepare(const walk *w, int64_t x) {
    const ring_walk *r = &w->ring;
    for (int64_t thread = 0; thread < r->threads; thread += 32)
        for (int64_t i = 0; i < r->columns; i++) {
            int64_t to[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t own = (thread + lane) * r->columns, column = x + own;
                to[lane] = column >= 0 && column + r->columns <= r->f->x.n ? -1 : (own + i) * r->size;
            }
            for (int64_t row = 0; row < w->s.stages * w->s.turn; row++)
                tess_gpu_count_shared(r->sum, r->times, to, r->size, true);
        }
}

static void bring(walk *w, const rows *all, int64_t x, double times) {
    const tess_correlate_frame *f = w->ring.f;
    for (int i = 0; i < LINE; i++) {
        w->ring.times = times * all->inside[i];
        if (w->ring.times > 0 && w->s.apart)
            own_inside(w, x, TESS_GPU_ORIGIN + i);
        else if (w->ring.times > 0)
            tess_correlate_ring_row_inside(&w->ring, x, TESS_GPU_ORIGIN + i);
    }
    for (int64_t y = 0; y < f->y.m; y += w->s.height) {
        int64_t low, high;
        inside_of(w, y, &low, &high);
        for (int64_t turn = low > 0 ? 0 : high; turn < turns_of(w, y); turn = turn + 1 == low ? high : turn + 1) {
            const int64_t top = y - f->y.before + turn * w->s.turn;
            for (int i = 0; i < LINE; i++) {
                int64_t from[MOST_TURN];
                for (int64_t t = 0; t < w->s.turn; t++) {
                    const int64_t at = tess_correlate_frame_resolve(f, top + t, f->y.n);
                    from[t] = at < 0 ? -1 : TESS_GPU_ORIGIN + i + at * f->y.in_stride;
                }
                w->ring.times = times * w->in[i];
                if (w->ring.times > 0 && w->s.apart)
                    own_anywhere(w, x, from, false);
                else if (w->ring.times > 0)
                    tess_correlate_ring_rows_anywhere(&w->ring, x, from, w->s.turn);
            }
        }
    }
    w->ring.times = times * all->strips;
    if (w->s.apart)
        own_prepare(w, x);
    else if (tess_correlate_ring_reaches_edge(&w->ring, x))
        tess_correlate_ring_prepare(&w->ring, w->s.stages * w->s.turn);
}

/* ---- between the passes ---- */

/* Whether results of the thread's columns are made; x: of the block's first result. */
static bool makes(const walk *w, int64_t x, int64_t thread) {
    return w->rows_first || (thread < w->s.finished / w->s.columns && x + thread * w->s.columns < w->ring.f->x.m);
}

/* So many bytes of a thread's sums of a row to shared memory, from byte `at` on. */
static void lay(const walk *w, double times, int64_t at, int64_t bytes) {
    for (int64_t thread = 0; thread < w->s.threads; thread += 32) {
        int64_t to[32];
        for (int lane = 0; lane < 32; lane++)
            to[lane] = (thread + lane) * w->s.columns * w->work + at;
        tess_gpu_count_shared(w->ring.sum, times, to, bytes, true);
    }
}

/* A turn's sums, and windows of them. Of f64 the compiler lays the first vector down as one element and two words, but where its instruction is written out; where one of a vector's f32 is
 * used, it loads that alone. */
static void between(const walk *w, int64_t x) {
    const ring_walk *r = &w->ring;
    const int64_t v = r->columns, words = 16 / w->work, begin = w->mid_left - r->left, end = begin + r->left + v + r->right;
    for (int64_t i = 0; i < w->s.turn * v; i += words) {
        const int64_t at = i % v * w->work;
        if (i == 0 && w->work == 8 && !w->s.apart) {
            lay(w, r->times, at, 8);
            lay(w, r->times, at + 8, 4);
            lay(w, r->times, at + 12, 4);
        } else {
            lay(w, r->times, at, 16);
        }
    }
    for (int64_t thread = 0; thread < r->threads; thread += 32)
        for (int64_t i = begin / words * words; i < end; i += words) {
            const int64_t first = tess_max64(i, begin);
            const bool alone = tess_min64(i + words, end) - first == 1 && w->work == 4;
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++)
                at[lane] = makes(w, x, thread + lane) ? ((thread + lane) * v + (alone ? first : i)) * w->work : -1;
            tess_gpu_count_shared(r->sum, r->times * (double)w->s.turn, at, alone ? 4 : 16, false);
        }
}

/* ---- results ---- */

static void write_row(const walk *w, int64_t x, int64_t to) {
    for (int64_t first = 0; first < w->ring.threads; first += 32) {
        int64_t column[32], at[32];
        for (int lane = 0; lane < 32; lane++) {
            column[lane] = x + (first + lane) * w->ring.columns;
            at[lane] = makes(w, x, first + lane) ? to + column[lane] * w->ring.f->out : -1;
        }
        tess_correlate_frame_write(w->ring.sum, w->ring.times, w->ring.f, w->ring.columns, column, at);
    }
}

/* ---- all of them ---- */

/* Barriers of a warp each, of a strip of so many turns. */
static double barriers_of(const walk *w, int64_t turns) {
    const int64_t warps = w->s.threads / 32;
    int64_t met = 0;
    if (!w->s.apart)
        return (double)((turns + !w->rows_first) * warps);
    for (int64_t warp = 0; warp < warps; warp++)
        met += (warps % 2 == 0 || (warp | 1) < warps) + (((warp + 1) & ~1) > 0 && ((warp + 1) & ~1) < warps);
    return (double)(met * tess_ceil_div(turns + LATER, LATER));
}

static void one_tile(walk *w, const rows *all, int64_t number, double times) {
    const tess_correlate_frame *f = w->ring.f;
    const int64_t x = number * w->s.finished, first = w->rows_first ? x : x - w->mid_left, v = w->s.columns, taps_y = f->y.width, taps_x = f->x.width;
    int64_t row[32] = {0}, along[32], made = 0;
    tess_gpu_prediction *sum = w->ring.sum;
    bring(w, all, first, times);
    for (int lane = 0; lane < 32; lane++)
        along[lane] = lane;
    w->ring.times = times * all->turns * (double)(w->s.turn * (w->s.threads / 32));
    tess_correlate_ring_read(&w->ring, row, along);
    w->ring.times = times * all->turns;
    if (!w->rows_first)
        between(w, x);
    for (int i = 0; i < LINE; i++) {
        w->ring.times = times * all->out[i];
        if (w->ring.times > 0 && w->ring.whole)
            write_row(w, x, TESS_GPU_ORIGIN + i);
        else if (w->ring.times > 0)
            tess_correlate_ring_spread(&w->ring, x, w->s.finished, TESS_GPU_ORIGIN + i);
    }
    w->ring.times = times * (all->turns * (double)w->s.turn - (double)(f->y.m * f->arrays)); /* rows before a strip's first one, and after its last */
    if (!w->ring.whole)
        tess_correlate_ring_spread(&w->ring, x, w->s.finished, -1);
    for (int64_t thread = 0; thread < w->s.threads; thread++)
        made += makes(w, x, thread);
    const double read = tess_correlate_frame_conversions(f, w->p->work, v + (w->rows_first ? w->ring.left + w->ring.right : 0));
    sum->flops += times * all->turns * (double)w->s.turn * ((double)(2 * v * (taps_y * w->s.threads + taps_x * made)) + read * (double)w->s.threads);
    for (int64_t y = 0; y < f->y.m; y += w->s.height)
        sum->barriers += times * (double)f->arrays * barriers_of(w, turns_of(w, y));
}

/* Beside outputs as BESIDE of gpu_separable2d.cu says. */
static int64_t beside(const separable2d_shape *s, int64_t size, bool whole) {
    const int64_t bytes = s->columns * size;
    return whole && size >= 4 && bytes < 32 ? 32 / size : bytes < 16 ? 16 / size : s->columns;
}

void tess_correlate_separable2d_predict(const tess_correlate_problem *p, int number, const tess_array *from, const tess_array *to, bool whole,
                                        tess_gpu_prediction *out) {
    const char *why;
    tess_correlate_pair two;
    tess_correlate_pair_between(&two, p, number, from, to, whole, &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &two.frame;
    walk w = {.p = p, .rows_first = two.rows == 0, .work = (int64_t)tess_type_size(p->work)};
    w.s = tess_correlate_separable2d_of(&two, w.work, device_meant(out));
    const int64_t unit = beside(&w.s, f->in, whole);
    w.mid_left = w.rows_first ? 0 : up_to(before(f), unit);
    w.mid_right = w.rows_first ? 0 : up_to(after(f), unit);
    w.ring = w.rows_first ? tess_correlate_ring_of(f, w.s.columns, w.s.threads, w.s.threads, whole, out)
                          : tess_correlate_ring_of_own(f, w.s.columns, w.s.threads, w.s.threads, whole, w.mid_left, out);
    if (w.s.apart)
        w.ring.row = w.ring.tile;
    tess_correlate_frame_places(f, false, w.in);
    rows all;
    rows_of(&all, &w);
    const int64_t across = tess_ceil_div(f->x.m, w.s.finished), reach = w.mid_left + w.ring.pad_left + w.ring.tile + w.ring.pad_right;
    const int64_t head = 1 + tess_ceil_div(w.mid_left + w.ring.pad_left, w.s.finished), tail = 1 + tess_ceil_div(reach, w.s.finished),
                  period = LINE / tess_gcd(LINE, tess_gcd(w.s.finished * f->in, w.s.finished * f->out));
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, across, head, tail, period);)
        one_tile(&w, &all, n.at, n.times);
    out->constant_requests = -1;
    if (f->in == 2 || f->pass->group > 1) /* of some masks the compiler loads words of a window, and not vectors; over pixels some words twice */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    if (f->pass->group > w.s.columns && w.rows_first && tess_correlate_frame_conversions(f, p->work, 1) > 0) /* some of a window are used by none */
        out->flops = -1;
    if (!whole && f->out == 8) /* which the compiler lays down by halves or whole, as it likes */
        out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = -1;
}

static void predict_pair(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    tess_correlate_separable2d_predict(p, 0, &p->in, &p->out, whole, out);
}

void tess_correlate_predict_separable2d(const tess_problem *base, tess_gpu_prediction *out) { predict_pair(base, out, true); }
void tess_correlate_predict_separable2d_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_pair(base, out, false); }

/* SPDX-License-Identifier: Apache-2.0
 * gpu_patch_list_odd_predict.c - what correlate/patch_separable_odd will count where gpu_patch_list_odd.cu takes the list: blocks inside count alike where their rows begin alike, those at an end are each walked.
 *
 * Predicted for arrays that begin at a sector, whose rows are not nearer than vectors reach. */
#include <stdlib.h>

#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_pair.h"
#include "ops/correlate/gpu_ring_predict.h"

enum { SECTOR = 32, VECTOR = 16 /* bytes */, UNROLLED = 4, FAR = 64 /* bytes */ };

/* The names of gpu_patch_list_odd.cu; elements. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    patch_pair_shape s;
    int64_t each, warps, threads, left, right, near, first_lane, end, own, wide, lead, part, span, across, rows, at_once, turns, pitch, room;
    bool constant, few;       /* SHORT */
    int64_t x, y, first, top; /* of a block */
} walk;

static int64_t down_to(int64_t n, int64_t step) { return n / step * step; }
static bool is_row(const walk *w, int64_t r) { return w->top + r >= 0 && w->top + r < w->f->y.n; }

/* Element `column` of row r of the block, which begins at byte `begin`, to its place, in each lane; r < 0: none. The row that stands for it is `y`. */
static void move(const walk *w, int64_t begin, const int64_t *r, const int64_t *y, const int64_t *column, const int64_t *source) {
    int64_t from[32], to[32];
    for (int lane = 0; lane < 32; lane++) {
        from[lane] = r[lane] < 0 ? -1 : begin + (y[lane] - w->top) * w->f->y.in_stride + (source[lane] - w->first) * w->f->in;
        to[lane] = r[lane] < 0 ? -1 : begin % VECTOR + r[lane] * w->pitch + (column[lane] - w->first) * w->f->in;
    }
    tess_gpu_count_global(w->sum, w->times, from, w->f->in, false);
    tess_gpu_count_shared(w->sum, w->times, to, w->f->in, true);
}

static void bring_loose(const walk *w, int64_t begin, int64_t low, int64_t high) {
    const tess_correlate_frame *f = w->f;
    const int64_t n = f->x.n, beside = w->left + w->right + tess_max64(0, f->x.m - n), all = w->rows * beside;
    int64_t r[32], y[32], column[32], source[32];
    for (int64_t row = 0; row < w->rows; row++) {
        const int64_t from = tess_correlate_frame_resolve(f, w->top + row, f->y.n);
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = lane < w->each ? lane : n - 2 * w->each + lane,
                          vector = down_to(begin + row * f->y.in_stride + (at - w->first) * f->in, VECTOR);
            const bool mine = is_row(w, row) && lane < 2 * w->each && at >= 0 && at < n && at >= w->first && at < w->first + w->span &&
                              (vector < low || vector + VECTOR > high);
            r[lane] = mine ? row : -1;
            y[lane] = w->top + row;
            column[lane] = source[lane] = at;
        }
        move(w, begin, r, y, column, source);
        for (int left = 1; left >= 0 && !is_row(w, row) && !w->constant; left--)
            for (int64_t j = 0; j * 32 < w->span; j++) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t turn = tess_gpu_turn_of(tess_ceil_div(tess_max64(0, w->span - lane), 32), UNROLLED, true, left, j);
                    r[lane] = turn < 0 ? -1 : row;
                    y[lane] = from;
                    column[lane] = w->first + lane + 32 * turn;
                    source[lane] = tess_correlate_frame_resolve_x(f, column[lane]);
                }
                move(w, begin, r, y, column, source);
            }
    }
    if (w->constant || (w->first >= 0 && w->first + w->span <= n))
        return;
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int left = 1; left >= 0; left--)
            for (int64_t j = 0; j * w->threads < all; j++) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t over = all - thread - lane,
                                  turn = tess_gpu_turn_of(over > 0 ? tess_ceil_div(over, w->threads) : 0, UNROLLED, true, left, j),
                                  number = thread + lane + turn * w->threads, e = turn < 0 ? 0 : number % beside;
                    column[lane] = e < w->left ? e - w->left : n + e - w->left;
                    r[lane] = turn < 0 ? -1 : number / beside;
                    y[lane] = w->top + r[lane];
                    source[lane] = tess_correlate_frame_resolve_x(f, column[lane]);
                    if (r[lane] >= 0 && (column[lane] < w->first || column[lane] >= w->first + w->span || !is_row(w, r[lane])))
                        r[lane] = -1;
                }
                move(w, begin, r, y, column, source);
            }
}

/* Rows of which the first one's first column has its place at byte `begin`. */
static void bring(const walk *w, int64_t begin) {
    const tess_correlate_frame *f = w->f;
    const int64_t array = begin - w->top * f->y.in_stride - w->first * f->in, last = array + (f->y.n - 1) * f->y.in_stride;
    const int64_t low = tess_min64(array, last), high = tess_max64(array, last) + f->x.n * f->in;
    const bool inside = w->top >= 0 && w->top + w->rows <= f->y.n && w->first - (w->each - 1) >= 0 && w->first + w->across * w->each <= f->x.n;
    bool loose = false;
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int64_t i = 0; i < w->turns; i++) {
            int64_t from[32], to[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t own = (thread + lane) / w->across, r = own + i * w->at_once, across = (thread + lane) % w->across * VECTOR;
                const int64_t vector = down_to(begin + r * f->y.in_stride, VECTOR) + across;
                const bool mine = own < w->at_once && r < w->rows, there = mine && is_row(w, r), whole = vector >= low && vector + VECTOR <= high;
                loose = loose || (there && !whole);
                from[lane] = there && whole ? vector : -1;
                to[lane] = mine ? down_to(begin % VECTOR + r * w->pitch, VECTOR) + across : -1;
            }
            tess_gpu_count_global(w->sum, w->times, from, VECTOR, false);
            tess_gpu_count_shared(w->sum, w->times, to, VECTOR, true);
        }
    w->sum->barriers += w->times * (double)(w->warps * (inside ? 1 : 2));
    if (!inside && (loose || !w->constant))
        bring_loose(w, begin, low, high);
}

/* ---- sums ---- */

/* Column of a lane's first output; whether it writes. */
static int64_t output_of(const walk *w, int64_t warp, int lane, bool *writes) {
    const int64_t x = w->first + warp % w->s.across * w->own + lane * w->s.columns + w->near;
    *writes = lane >= w->first_lane && lane < w->end && x - (w->s.columns - 1) < w->f->x.m;
    return x;
}
static bool is_busy(const walk *w, int64_t warp) {
    bool any = false, writes;
    for (int lane = 0; lane < 32; lane++) {
        output_of(w, warp, lane, &writes);
        any = any || writes;
    }
    return any && w->f->y.m - w->y - warp / w->s.across * w->s.rows > 0;
}

static void read_rows(const walk *w, int64_t warp, int64_t begin) {
    const int64_t own = w->s.columns * w->f->in, read = w->s.read;
    for (int64_t r = 0; r < w->s.rows + w->f->y.width - 1; r++)
        for (int64_t i = 0; i <= own / read; i++) {
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++)
                at[lane] =
                    down_to(begin % VECTOR + warp % w->s.across * w->own * w->f->in + lane * own + (warp / w->s.across * w->s.rows + r) * w->pitch,
                            read) +
                    read * i;
            tess_gpu_count_shared(w->sum, w->times, at, read, false);
        }
}

/* What is left of a warp's rows at an end: vectors in shared memory, element by element. */
static void store_parts(const walk *w, int64_t warp, int64_t to, bool right) {
    const tess_correlate_frame *f = w->f;
    const int64_t v = w->s.columns, size = f->out, vector = tess_min64(v * size, VECTOR), m = f->x.m, row = w->y + warp / w->s.across * w->s.rows,
                  rows = tess_min64(w->s.rows, f->y.m - row), x = w->first + warp % w->s.across * w->own + w->near;
    for (int64_t first = 0; first < rows * v; first += 32) {
        int64_t from[32], at[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t number = first + lane, o = number / v, i = number % v, line = to + o * f->y.out_stride, begin = x - line % vector / size;
            const int64_t column = right ? m - ((m - begin) & (v - 1)) : (begin & (v - 1)) - v, owner = (column - begin) / v;
            const bool mine =
                number < rows * v && column + i >= 0 && column + i < m && (!right || column >= 0) && owner >= w->first_lane && owner < w->end;
            from[lane] = mine ? w->room + warp * w->s.rows * w->part + o * w->part + (right * v + i) * size : -1;
            at[lane] = mine ? line + (column + i - x) * size : -1;
        }
        tess_gpu_count_shared(w->sum, w->times, from, size, false);
        tess_gpu_count_global(w->sum, w->times, at, size, true);
    }
}

/* Results of a warp, whose first lane's first one has its place at byte `to`. */
static void write_rows(const walk *w, int64_t warp, int64_t to) {
    const tess_correlate_frame *f = w->f;
    const int64_t v = w->s.columns, size = f->out, vector = tess_min64(v * size, VECTOR), row = w->y + warp / w->s.across * w->s.rows, m = f->x.m;
    const int64_t begin = w->first + warp % w->s.across * w->own + w->near;
    bool writes, clipped = begin - (v - 1) < 0 || begin + 32 * v > m;
    for (int64_t r = 0; r < w->s.rows; r++) {
        int64_t place[32], part[32], at[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t x = output_of(w, warp, lane, &writes), own = to + r * f->y.out_stride + lane * v * size, first = x - own % vector / size;
            const bool whole = writes && (!w->few || f->y.m - row - r > 0), passes = clipped && (first < 0 || first + v > m);
            part[lane] = whole && passes && first > -v && first < m ? w->room + (warp * w->s.rows + r) * w->part + (first < 0 ? 0 : v * size) : -1;
            place[lane] = whole && !passes ? down_to(own, vector) : -1;
        }
        for (int64_t b = 0; b < v * size; b += vector) {
            for (int lane = 0; lane < 32; lane++)
                at[lane] = part[lane] < 0 ? -1 : part[lane] + b;
            tess_gpu_count_shared(w->sum, w->times, at, vector, true);
            for (int lane = 0; lane < 32; lane++)
                at[lane] = place[lane] < 0 ? -1 : place[lane] + b;
            tess_gpu_count_global(w->sum, w->times, at, vector, true);
        }
    }
    if (clipped && begin + w->first_lane * v - (v - 1) < 0)
        store_parts(w, warp, to, false);
    if (clipped && begin + w->end * v > m)
        store_parts(w, warp, to, true);
}

/* ---- all of them ---- */

static void set_block(walk *w, int64_t i, int64_t j) {
    const int64_t high = w->s.down * w->s.rows;
    w->x = i * w->wide;
    w->y = w->few ? 0 : tess_min64(j * high, w->f->y.m - high);
    w->first = w->x - w->lead;
    w->top = w->y - w->f->y.before;
}

/* Blocks of two kinds, by where their rows and their results begin. */
static void one_kind(walk *w, const tess_gpu_kind *along, const tess_gpu_kind *down, const double *in, const double *out, double each) {
    const tess_correlate_frame *f = w->f;
    double begin[FRAME_LINE] = {0}, to[FRAME_LINE] = {0};
    for (int64_t i = 0; i < (int64_t)along->times; i++)
        for (int64_t j = 0; j < (int64_t)down->times; j++) {
            set_block(w, along->at + i, down->at + j);
            tess_correlate_frame_add_places(begin, in, w->top * f->y.in_stride + w->first * f->in);
            tess_correlate_frame_add_places(to, out, w->y * f->y.out_stride + w->first * f->out);
        }
    set_block(w, along->at, down->at);
    for (int i = FRAME_LINE - 1; i >= 0; i--) { /* sectors matter */
        begin[i % SECTOR] += i < SECTOR ? 0 : begin[i];
        to[i % SECTOR] += i < SECTOR ? 0 : to[i];
    }
    for (int i = 0; i < SECTOR; i++) {
        w->times = begin[i];
        if (w->times > 0)
            bring(w, TESS_GPU_ORIGIN + i);
        for (int64_t warp = 0; warp < w->warps; warp++) {
            if (!is_busy(w, warp))
                continue;
            w->times = begin[i];
            if (w->times > 0) {
                read_rows(w, warp, TESS_GPU_ORIGIN + i);
                if (w->s.laid)
                    tess_correlate_predict_laid_rows(w->sum, w->times, w->f, &w->s);
            }
            w->sum->flops += w->times * 32 * each;
            w->times = to[i];
            if (w->times > 0)
                write_rows(w, warp,
                           TESS_GPU_ORIGIN + i + (warp % w->s.across * w->own + w->near) * f->out + warp / w->s.across * w->s.rows * f->y.out_stride);
        }
    }
}

void tess_correlate_predict_patch_list_odd(const tess_correlate_pair *two, const patch_pair_shape *s, tess_gpu_prediction *out) {
    const tess_correlate_frame *f = &two->frame;
    const int64_t v = s->columns, taps = f->y.width;
    walk w = {.sum = out, .f = f, .s = *s, .each = VECTOR / f->in, .warps = s->across * s->down, .left = before(f), .right = after(f)};
    double in[FRAME_LINE], results[FRAME_LINE];
    w.threads = 32 * w.warps;
    w.near = s->near;
    w.first_lane = (tess_max64(1, w.left - w.near) + 2 * (v - 1)) / v;
    w.end = 32 - tess_ceil_div(tess_max64(1, w.right + w.near), v);
    w.own = (w.end - w.first_lane) * v;
    w.wide = s->across * w.own;
    w.lead = up_to(w.first_lane * v + w.near, v);
    w.part = 2 * v * f->out;
    w.span = w.wide - w.own + 32 * v;
    w.across = (w.span * f->in + 30) / 16;
    w.rows = s->down * s->rows + taps - 1;
    w.at_once = w.threads / w.across;
    w.turns = tess_ceil_div(w.rows, w.at_once);
    w.pitch = w.across * 16 + (f->y.in_stride & 15);
    w.room = up_to(w.rows * (w.across * 16 + 15) + 16, 16);
    w.constant = f->boundary == TESS_BOUNDARY_CONSTANT;
    w.few = f->y.m < s->rows * s->down;
    const int64_t high = s->down * s->rows, more = up_to(w.near, v) - w.near + v - 1, ends = 2 + tess_ceil_div(taps, high);
    const double conversions = s->raised ? 0 : tess_correlate_frame_conversions(f, tess_f32, v * (s->rows + taps - 1));
    const int64_t fewer = f->pass->group == 1 ? 0
                          : taps >= 6         ? 4
                                              : 2,
                  without = tess_max64(0, taps - fewer),
                  trimmed = fewer / 2 * (without + tess_max64(0, taps - fewer + 1)); /* multiply-adds of the last rows that are left out */
    const double each = (double)(2 * v * (taps * (taps - 1) / 2 + s->rows * (taps + f->x.width) - trimmed)) + conversions;
    if (llabs(f->y.in_stride) < FAR)
        return;
    tess_correlate_frame_places(f, false, in);
    tess_correlate_frame_places(f, true, results);
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind i = {0}; tess_gpu_next_kind(&i, tess_max64(1, tess_ceil_div(f->x.m + more, w.wide)), 2, 3, 1);)
        for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, tess_ceil_div(f->y.m, high), ends, ends, 1);)
            one_kind(&w, &i, &j, in, results, each);
    out->constant_requests = -1;
    if (conversions > 0) /* some of which the compiler makes twice */
        out->flops = -1;
}

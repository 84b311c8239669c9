/* SPDX-License-Identifier: Apache-2.0
 * gpu_patch_shared_predict.c - what correlate/patch and patch_bytes will count where they go through shared memory (gpu_patch_shared.cu): a block of each kind along rows and down them is walked, for each kind of arrays.
 *
 * Predicted for arrays that begin at a line. */
#include <stdlib.h>

#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_ring_predict.h"

enum { SECTOR = 32, KINDS = 64, VECTOR_BYTES = 16 };

/* Arrays of a block, where they begin: the first one modulo a sector. */
typedef struct arrays {
    int64_t in[2], out[2];
    double times;
} arrays;

/* The names of gpu_patch_shared.cu; elements. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    patch_shared_shape s;
    int64_t vector, wide, across, row, rows, at_once, turns, share, left_words, right_words;
    int64_t x, y; /* the block's first output */
    arrays at;
} walk;

static void find_array(const tess_correlate_frame *f, int64_t number, int64_t *in, int64_t *out) {
    *in = *out = 0;
    for (int d = f->batch - 1; d >= 0; d--) {
        const tess_correlate_axis *a = &f->pass->axis[f->batch_axis[d]];
        *in += (d > 0 ? number % a->m : number) * a->in_stride;
        *out += (d > 0 ? number % a->m : number) * a->out_stride;
        number /= a->m;
    }
}

static int64_t from_sector(int64_t at) { return (at % SECTOR + SECTOR) % SECTOR; }

/* How many kinds there are, 0: too many. */
static int arrays_of(arrays *list, const tess_correlate_frame *f, int64_t each) {
    int count = 0;
    for (int64_t first = 0; first < f->arrays; first += each) {
        arrays one = {.times = 1};
        int k = 0;
        for (int64_t a = 0; a < each; a++)
            find_array(f, tess_min64(first + a, f->arrays - 1), &one.in[a], &one.out[a]);
        for (int a = 1; a >= 0; a--) {
            one.in[a] = TESS_GPU_ORIGIN + one.in[a] - one.in[0] + from_sector(one.in[0]);
            one.out[a] = TESS_GPU_ORIGIN + one.out[a] - one.out[0] + from_sector(one.out[0]);
        }
        while (k < count && (memcmp(list[k].in, one.in, sizeof one.in) || memcmp(list[k].out, one.out, sizeof one.out)))
            k++;
        if (k == KINDS)
            return 0;
        if (k == count)
            list[count++] = one;
        else
            list[k].times++;
    }
    return count;
}

/* ---- rows on their way to shared memory ---- */

static int64_t row_at(const walk *w, int64_t r) { return tess_correlate_frame_resolve(w->f, w->y - w->f->y.before + r, w->f->y.n); }
static int64_t byte_of(const walk *w, int64_t a, int64_t y, int64_t column) { return w->at.in[a] + y * w->f->y.in_stride + column * w->f->in; }

/* Vectors to shared memory at those bytes, and those that come from the array. */
static void move(const walk *w, const int64_t *from, const int64_t *to) {
    tess_gpu_count_global(w->sum, w->times, from, VECTOR_BYTES, false);
    tess_gpu_count_shared(w->sum, w->times, to, VECTOR_BYTES, true);
}

/* Elements `least` .. `most` - 1 of a vector from column[lane] on of row y[lane] (< 0: of constants), where lanes are active. */
static void elements(const walk *w, const int64_t *array, const int64_t *y, const int64_t *column, int64_t least, int64_t most) {
    for (int64_t e = least; e < most; e++) {
        int64_t from[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = y[lane] < 0 ? -1 : tess_correlate_frame_resolve_x(w->f, column[lane] + e);
            from[lane] = at < 0 ? -1 : byte_of(w, array[lane], y[lane], at);
        }
        tess_gpu_count_global(w->sum, w->times, from, w->f->in, false);
    }
}

/* Blocks whose columns pass a row's end. */
static void bring_anywhere(const walk *w) {
    const tess_correlate_frame *f = w->f;
    const int64_t each = w->across + 2, all = w->rows * each, end = f->x.m + after(f);
    for (int64_t first = 0; first < all; first += 32) {
        int64_t copy[32], to[32], zero[32], single[32], y[32], column[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t number = first + lane;
            column[lane] = w->x + (number % each - 1) * w->vector;
            y[lane] = number < all ? row_at(w, number / each) : -1;
            const bool inside = y[lane] >= 0 && column[lane] >= 0 && column[lane] + w->vector <= f->x.n;
            to[lane] = number * VECTOR_BYTES;
            copy[lane] = inside ? byte_of(w, 0, y[lane], column[lane]) : -1;
            single[lane] = number < all && !inside && column[lane] < end ? to[lane] : -1;
            zero[lane] = number < all && !inside && column[lane] >= end ? to[lane] : -1;
        }
        tess_gpu_count_copies(w->sum, w->times, copy, to);
        tess_gpu_count_shared(w->sum, w->times, zero, VECTOR_BYTES, true);
        for (int64_t e = 0; e < w->vector; e++) {
            int64_t from[32], place[32];
            for (int lane = 0; lane < 32; lane++) {
                const bool met = single[lane] >= 0 && y[lane] >= 0 && column[lane] + e < end;
                const int64_t at = met ? tess_correlate_frame_resolve_x(f, column[lane] + e) : -1;
                from[lane] = at < 0 ? -1 : byte_of(w, 0, y[lane], at);
                place[lane] = single[lane] < 0 ? -1 : single[lane] + e * f->in;
            }
            tess_gpu_count_global(w->sum, w->times, from, f->in, false);
            tess_gpu_count_shared(w->sum, w->times, place, f->in, true);
        }
    }
}

/* A thread's vectors of the rows of array number `array`; those that are not there are of constants, or (`only`) left out. */
static void bring_rows(const walk *w, int64_t array, bool only) {
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t i = 0; i < w->turns; i++) {
            int64_t from[32], to[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t begin = (thread + lane) / w->across, across = (thread + lane) % w->across, r = begin + i * w->at_once,
                              top = w->y - w->f->y.before;
                const bool outside = top + r < 0 || top + r >= w->f->y.n, mine = begin < w->at_once && r < w->rows && !(only && outside);
                const int64_t y = mine ? row_at(w, r) : -1;
                from[lane] = y < 0 ? -1 : byte_of(w, array, y, w->x + across * w->vector);
                to[lane] = mine ? (r * w->row + w->vector + across * w->vector) * w->f->in : -1;
            }
            move(w, from, to);
        }
}

/* What lies beside them, a vector or each element by the boundary's rule; between: all are vectors, left and right in turns. */
static void bring_sides(const walk *w, bool between) {
    const tess_correlate_frame *f = w->f;
    static const int64_t first_array[32];
    for (int64_t warp = 0; warp < w->s.threads / 32; warp++)
        for (int64_t i = 0; i * 32 < w->share; i++) {
            int64_t load[32], to[32], y[2][32], column[2][32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t number = warp * w->share + i * 32 + lane;
                const bool mine = i * 32 + lane < w->share && number < 2 * w->rows, right = between ? number & 1 : number >= w->rows;
                const int64_t r = between ? number / 2
                                  : right ? number - w->rows
                                          : number,
                              at = right ? w->x + w->wide : w->x - w->vector, row = mine ? row_at(w, r) : -1;
                const bool whole = row >= 0 && at >= 0 && at + w->vector <= f->x.n;
                load[lane] = whole ? byte_of(w, 0, row, at) : -1;
                to[lane] = mine ? (r * w->row + (right ? w->vector + w->wide : 0)) * f->in : -1;
                y[0][lane] = right || whole ? -1 : row;
                y[1][lane] = !right || whole ? -1 : row;
                column[0][lane] = column[1][lane] = at;
            }
            move(w, load, to);
            elements(w, first_array, y[1], column[1], 0, after(f));
            elements(w, first_array, y[0], column[0], w->vector - before(f), w->vector);
        }
}

/* Blocks as wide as the array. */
static void bring_full(const walk *w) {
    const tess_correlate_frame *f = w->f;
    const int64_t top = w->y - f->y.before, all = w->s.arrays * w->rows, above = tess_max64(0, -top),
                  beyond = above + tess_max64(0, top + w->rows - f->y.n);
    for (int64_t a = 0; a < w->s.arrays; a++)
        bring_rows(w, a, true);
    w->sum->barriers += w->times * (double)(w->s.threads / 32);
    for (int64_t first = 0; first < all && before(f) + after(f) > 0; first += 32) {
        int64_t array[32], y[32], column[2][32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t number = first + lane;
            array[lane] = w->s.arrays > 1 && number >= w->rows;
            y[lane] = number < all ? row_at(w, number - array[lane] * w->rows) : -1;
            column[0][lane] = -before(f);
            column[1][lane] = w->wide;
        }
        elements(w, array, y, column[0], 0, before(f));
        elements(w, array, y, column[1], 0, after(f));
        for (int side = 0; side < 2; side++)
            for (int64_t i = 0; i < (side ? w->right_words : w->left_words); i++) {
                for (int lane = 0; lane < 32; lane++)
                    to[lane] =
                        first + lane < all ? ((first + lane) * w->row + w->vector + side * w->wide) * f->in + 4 * (side ? i : i - w->left_words) : -1;
                tess_gpu_count_shared(w->sum, w->times, to, 4, true);
            }
    }
    for (int64_t first = 0; first < w->s.arrays * beyond * w->across; first += 32) {
        int64_t from[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t number = first + lane, each = number / w->across, at = number % w->across * w->vector,
                          a = w->s.arrays > 1 && each >= beyond, b = each - a * beyond, r = b < above ? b : w->rows - beyond + b;
            const bool mine = number < w->s.arrays * beyond * w->across;
            const int64_t y = mine ? row_at(w, r) : -1;
            from[lane] = y < 0 ? -1 : byte_of(w, a, y, at);
            to[lane] = mine ? ((a * w->rows + r) * w->row + w->vector + at) * f->in : -1;
        }
        move(w, from, to);
    }
}

static void bring(const walk *w) {
    const tess_correlate_frame *f = w->f;
    const int64_t top = w->y - f->y.before;
    if (w->s.full) {
        bring_full(w);
    } else if (w->x + w->wide > f->x.n) {
        bring_anywhere(w);
    } else {
        bring_rows(w, 0, false);
        if (before(f) + after(f) > 0)
            bring_sides(w, top >= 0 && top + w->rows <= f->y.n && w->x >= w->vector && w->x + w->wide + w->vector <= f->x.n);
    }
}

/* ---- sums ---- */

/* Lanes that have outputs: byte of the first element of their first row in shared memory, and of their first result, of the block's at `out`. */
static int lane_of(const walk *w, int64_t thread, int64_t *room, int64_t *to) {
    const tess_correlate_frame *f = w->f;
    const int64_t strip = thread / w->s.lanes, lane = thread % w->s.lanes, array = w->s.arrays > 1 ? strip / w->s.down : 0,
                  column = w->x + lane * w->s.columns, row = w->y + (strip - array * w->s.down) * w->s.rows;
    *room = *to = -1;
    if (column >= f->x.m || strip >= w->s.down * w->s.arrays)
        return 0;
    *room = ((strip * w->s.rows + array * (w->rows - w->s.down * w->s.rows)) * w->row + w->vector + lane * w->s.columns) * f->in;
    *to = w->at.out[array] + row * f->y.out_stride + column * f->out;
    return 1;
}

static void read_words(const walk *w, const int64_t *room, int64_t offset, int64_t bytes) {
    int64_t at[32];
    for (int lane = 0; lane < 32; lane++)
        at[lane] = room[lane] < 0 ? -1 : room[lane] + offset;
    tess_gpu_count_shared(w->sum, w->times, at, bytes, false);
}

static void compute(const walk *w, double each) {
    const tess_correlate_frame *f = w->f;
    const int64_t own = w->s.columns * f->in, results = w->s.columns * f->out, in = tess_min64(own, 16), out = tess_min64(results, 16);
    for (int64_t thread = 0; thread < w->s.threads; thread += 32) {
        int64_t room[32], to[32], at[32];
        int lanes = 0;
        for (int lane = 0; lane < 32; lane++)
            lanes += lane_of(w, thread + lane, &room[lane], &to[lane]);
        for (int64_t r = 0; r < w->s.rows + f->y.width - 1; r++) {
            const int64_t offset = r * w->row * f->in;
            for (int64_t i = 0; i < w->left_words; i++)
                read_words(w, room, offset + 4 * (i - w->left_words), 4);
            for (int64_t b = 0; b < own; b += in)
                read_words(w, room, offset + b, in);
            for (int64_t i = 0; i < w->right_words; i++)
                read_words(w, room, offset + own + 4 * i, 4);
        }
        for (int64_t r = 0; r < w->s.rows; r++)
            for (int64_t b = 0; b < results; b += out) {
                for (int lane = 0; lane < 32; lane++)
                    at[lane] = to[lane] < 0 ? -1 : to[lane] + r * f->y.out_stride + b;
                tess_gpu_count_global(w->sum, w->times, at, out, true);
            }
        w->sum->flops += w->times * lanes * each;
    }
}

/* ---- all of them ---- */

/* `each`: operations of a lane. */
static void predict(const tess_correlate_frame *given, const patch_shared_shape *shape, double each, tess_gpu_prediction *out) {
    const tess_correlate_frame f = *given;
    walk w = {.sum = out, .f = &f, .s = *shape};
    arrays list[KINDS];
    w.vector = VECTOR_BYTES / f.in;
    w.wide = w.s.lanes * w.s.columns;
    w.across = w.wide / w.vector;
    w.row = w.wide + 2 * w.vector;
    w.rows = w.s.down * w.s.rows + f.y.width - 1;
    w.at_once = w.s.threads / w.across;
    w.turns = tess_ceil_div(w.rows, w.at_once);
    w.share = tess_ceil_div(2 * w.rows * 32, w.s.threads);
    w.left_words = tess_ceil_div(before(&f) * f.in, 4);
    w.right_words = tess_ceil_div(after(&f) * f.in, 4);
    const int kinds = arrays_of(list, &f, w.s.arrays);
    const int64_t high = w.s.down * w.s.rows, along = tess_ceil_div(f.x.m, w.wide), down = tess_ceil_div(f.y.m, high), last = f.x.m - w.wide;
    const int64_t step = tess_gcd(w.wide * f.in, w.wide * f.out), rows = tess_gcd(llabs(high * f.y.in_stride), llabs(high * f.y.out_stride)),
                  ends = 1 + tess_ceil_div(f.y.width, high);
    if (kinds == 0)
        return;
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind i = {0}; tess_gpu_next_kind(&i, along, 1, 2, SECTOR / tess_gcd(SECTOR, step));)
        for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, down, ends, ends + 1, SECTOR / tess_gcd(SECTOR, rows));)
            for (int k = 0; k < kinds; k++) {
                w.x = w.s.full ? 0 : last >= 0 && last % w.vector == 0 ? tess_min64(i.at * w.wide, last) : i.at * w.wide;
                w.y = tess_min64(j.at * high, f.y.m - high);
                w.at = list[k];
                w.times = i.times * j.times * list[k].times;
                bring(&w);
                out->barriers += w.times * (double)(w.s.threads / 32);
                compute(&w, each);
            }
    out->constant_requests = -1;
    if (f.in >= 2) /* of some masks the compiler loads words of a window, and not vectors, which the assembler puts together again */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
}

void tess_correlate_predict_patch_shared(const tess_problem *base, tess_gpu_prediction *out) {
    const tess_correlate_frame f = known_frame(base, 1);
    patch_shared_shape s;
    tess_correlate_patch_shared_of(&s, &f, device_meant(out)); /* true, because `takes` was */
    const double conversions =
        f.pass->from == tess_u8 ? 0 : tess_correlate_frame_conversions(&f, tess_f32, (s.rows + f.y.width - 1) * (before(&f) + s.columns + after(&f)));
    predict(&f, &s, (double)(2 * s.rows * s.columns * f.x.width * f.y.width) + conversions, out);
    if (conversions > 0 && f.pass->group > s.columns) /* some of a window are used by none */
        out->flops = -1;
}

void tess_correlate_predict_patch_dots(const tess_correlate_frame *f, const patch_shared_shape *shape, tess_gpu_prediction *out) {
    predict(f, shape, 0, out);
    out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts =
        -1; /* here and there the compiler loads two words for a vector */
}

/* SPDX-License-Identifier: Apache-2.0
 * gpu_ring_predict.c - what the rows of gpu_ring.cuh have in common in their predictions: tiles of rows in shared memory, what is brought there, what is read. */
#include <stdlib.h>

#include "ops/correlate/gpu_ring_predict.h"

enum { LINE = FRAME_LINE };

static ring_walk ring_of(const tess_correlate_frame *f, int64_t columns, int64_t along, int64_t threads, bool whole, bool own, int64_t away,
                         tess_gpu_prediction *out) {
    ring_walk w = {
        .sum = out, .times = 1, .f = f, .columns = columns, .threads = threads, .whole = whole, .size = f->in, .left = before(f), .right = after(f)};
    w.reach_left = own ? 0 : w.left;
    w.reach_right = own ? 0 : w.right;
    w.vector = 16 / w.size;
    w.copy = whole ? w.vector : w.size < 4 ? 4 / w.size : 1;
    w.spare = whole || w.size >= 4 ? 0 : w.copy;
    w.read = tess_min64(columns, w.vector);
    w.near_left = up_to(w.reach_left, w.read);
    w.near_right = up_to(w.reach_right, w.read);
    w.pad_left = up_to(w.near_left + away, whole ? 2 * w.vector : w.vector) - away;
    w.tile = along * columns;
    w.row = tess_correlate_frame_ring(f, whole, w.tile, columns, w.reach_left, w.reach_right, away);
    w.pad_right = w.row - w.pad_left - w.tile;
    return w;
}

ring_walk tess_correlate_ring_of(const tess_correlate_frame *f, int64_t columns, int64_t along, int64_t threads, bool whole,
                                 tess_gpu_prediction *out) {
    return ring_of(f, columns, along, threads, whole, false, 0, out);
}

ring_walk tess_correlate_ring_of_own(const tess_correlate_frame *f, int64_t columns, int64_t along, int64_t threads, bool whole, int64_t away,
                                     tess_gpu_prediction *out) {
    return ring_of(f, columns, along, threads, whole, true, away, out);
}

int64_t tess_correlate_frame_resolve(const tess_correlate_frame *f, int64_t i, int64_t n) {
    const bool below = i < 0;
    if (i >= 0 && i < n)
        return i;
    switch (f->boundary) {
    case TESS_BOUNDARY_NEAREST: i = below ? 0 : n - 1; break;
    case TESS_BOUNDARY_REFLECT: i = below ? -1 - i : 2 * n - 1 - i; break;
    case TESS_BOUNDARY_MIRROR: i = below ? -i : 2 * n - 2 - i; break;
    case TESS_BOUNDARY_WRAP: i = below ? i + n : i - n; break;
    default: return -1;
    }
    return tess_max64(0, tess_min64(i, n - 1));
}

int64_t tess_correlate_frame_resolve_x(const tess_correlate_frame *f, int64_t i) {
    const int64_t group = f->pass->group, pixel = i >= 0 ? i / group : -((group - 1 - i) / group),
                  at = tess_correlate_frame_resolve(f, pixel, f->x.n / group);
    return at < 0 ? -1 : at * group + (i - pixel * group);
}

void tess_correlate_ring_copy_elements(const ring_walk *w, const int64_t *from, const int64_t *to) {
    tess_gpu_count_global(w->sum, w->times, from, w->size, false);
    if (w->size < 4)
        tess_gpu_count_shared(w->sum, w->times, to, w->size, true);
}

bool tess_correlate_ring_reaches_edge(const ring_walk *w, int64_t x) { return x < w->pad_left || x + w->tile + w->pad_right > w->f->x.n; }

void tess_correlate_ring_loose(const ring_walk *w, int64_t x, int64_t number, int64_t *from, int64_t *to) {
    const int64_t n = w->f->x.n, begin = x - w->pad_left, end = tess_min64(x + w->tile + w->pad_right, w->f->x.m + w->right);
    const int64_t uncovered = w->spare ? tess_max64(n / w->copy * w->copy - w->spare, 0) : n / w->copy * w->copy;
    const int64_t column = number < w->left ? number - w->left : tess_max64(uncovered, begin) + number - w->left;
    const bool there = number < w->left + w->copy + w->spare + w->left + w->right && column >= begin && column < end;
    *from = there ? tess_correlate_frame_resolve_x(w->f, column) : -1;
    *to = column - begin;
}

void tess_correlate_ring_row_inside(const ring_walk *w, int64_t x, int64_t from) {
    const int64_t n = w->f->x.n, begin = x - w->pad_left, loose = w->left + w->copy + w->spare + w->left + w->right;
    for (int64_t first = 0; first * w->copy < w->row; first += 32) {
        int64_t copy[32], to[32], next[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = (first + lane) * w->copy;
            const bool inside = at < w->row && begin + at >= 0 && begin + at + w->copy + w->spare <= n;
            copy[lane] = inside ? from + (begin + at) * w->size : -1;
            to[lane] = inside ? at * w->size : -1;
            if (w->spare) { /* a word made of the two that it lies across */
                copy[lane] = inside ? copy[lane] / 4 * 4 : -1;
                next[lane] = inside ? copy[lane] + 4 : -1;
            }
        }
        if (w->whole) {
            tess_gpu_count_copies(w->sum, w->times, copy, to);
        } else {
            tess_gpu_count_global(w->sum, w->times, copy, w->spare ? 4 : w->size, false);
            if (w->spare) {
                tess_gpu_count_global(w->sum, w->times, next, 4, false);
                tess_gpu_count_shared(w->sum, w->times, to, 4, true);
            }
        }
    }
    for (int64_t first = 0; first < loose; first += 32) {
        int64_t element[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            int64_t column;
            tess_correlate_ring_loose(w, x, first + lane, &column, &to[lane]);
            element[lane] = column >= 0 ? from + column * w->size : -1;
            to[lane] = column >= 0 ? to[lane] * w->size : -1;
        }
        tess_correlate_ring_copy_elements(w, element, to);
    }
}

void tess_correlate_ring_rows_anywhere(const ring_walk *w, int64_t x, const int64_t *from, int64_t n) {
    const int64_t step = w->whole ? w->vector : 1, each = w->row / step;
    for (int64_t first = 0; first < n * each; first += 32) {
        int64_t copy[32], to[32], row[32], column[32], element[32], place[32], ghost[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t g = first + lane;
            const bool mine = g < n * each;
            row[lane] = mine ? from[g / each] : -1;
            column[lane] = x - w->pad_left + g % each * step;
            const bool inside = w->whole && row[lane] >= 0 && column[lane] >= 0 && column[lane] + step <= w->f->x.n;
            copy[lane] = inside ? row[lane] + column[lane] * w->size : -1;
            to[lane] = mine ? g * step * w->size : -1;
        }
        tess_gpu_count_copies(w->sum, w->times, copy, to);
        for (int64_t i = 0; i < step; i++) {
            for (int lane = 0; lane < 32; lane++) {
                const bool single = to[lane] >= 0 && copy[lane] < 0;
                const int64_t at = single && row[lane] >= 0 ? tess_correlate_frame_resolve_x(w->f, column[lane] + i) : -1;
                element[lane] = at >= 0 ? row[lane] + at * w->size : -1;
                place[lane] = at >= 0 ? to[lane] + i * w->size : -1;
                ghost[lane] = single && at < 0 ? to[lane] + i * w->size : -1;
            }
            tess_correlate_ring_copy_elements(w, element, place);
            tess_gpu_count_shared(w->sum, w->times, ghost, w->size, true);
        }
    }
}

void tess_correlate_ring_prepare(const ring_walk *w, int64_t rows) {
    const int64_t all = rows * w->row;
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, tess_ceil_div(all, 32), 0, 1, 1);) {
        int64_t to[32];
        for (int lane = 0; lane < 32; lane++)
            to[lane] = n.at * 32 + lane < all ? (n.at * 32 + lane) * w->size : -1;
        tess_gpu_count_shared(w->sum, w->times * n.times, to, w->size, true);
    }
    w->sum->barriers += w->times * (double)(w->threads / 32);
}

void tess_correlate_ring_read(const ring_walk *w, const int64_t *row, const int64_t *along) {
    const int64_t window = w->near_left + w->columns + w->near_right, vector = w->read * w->size;
    const int64_t begin = (w->near_left - w->reach_left) * w->size / 4,
                  end = tess_ceil_div((w->near_left + w->columns + w->reach_right) * w->size, 4);
    for (int64_t i = 0; i < window * w->size; i += vector) {
        const int64_t first = tess_max64(begin, i / 4), used = tess_min64(end, (i + vector) / 4) - first;
        int64_t from[32];
        for (int lane = 0; lane < 32; lane++)
            from[lane] = along[lane] < 0
                             ? -1
                             : (row[lane] * w->row + w->pad_left + along[lane] * w->columns - w->near_left) * w->size + (used == 1 ? first * 4 : i);
        tess_gpu_count_shared(w->sum, w->times, from, used == 1 ? 4 : vector, false);
    }
}

void tess_correlate_frame_write(tess_gpu_prediction *sum, double times, const tess_correlate_frame *f, int64_t v, const int64_t *x,
                                const int64_t *to) {
    const int64_t size = f->out, m = f->x.m, bytes = tess_min64(16, v * size);
    int64_t at[32];
    for (int64_t b = 0; b < v * size; b += bytes) {
        for (int lane = 0; lane < 32; lane++)
            at[lane] = to[lane] >= 0 && x[lane] + v <= m ? to[lane] + b : -1;
        tess_gpu_count_global(sum, times, at, bytes, true);
    }
    for (int64_t i = 0; i < v; i++) {
        for (int lane = 0; lane < 32; lane++)
            at[lane] = to[lane] >= 0 && x[lane] + v > m && x[lane] + i < m ? to[lane] + i * size : -1;
        tess_gpu_count_global(sum, times, at, size, true);
    }
}

void tess_correlate_ring_spread(const ring_walk *w, int64_t x, int64_t finished, int64_t to) {
    const int64_t v = w->columns, size = w->f->out, end = tess_min64(x + finished, w->f->x.m),
                  bytes = v * size % 4 == 0 ? tess_min64(16, v * size) : size;
    int64_t at[32], from[32];
    for (int64_t first = 0; first < w->threads; first += 32) {
        for (int64_t b = 0; b < v * size; b += bytes) {
            for (int lane = 0; lane < 32; lane++)
                at[lane] = lane * v * size + b;
            tess_gpu_count_shared(w->sum, w->times, at, bytes, true);
        }
        for (int64_t i = 0; i < v && to >= 0; i++) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t column = x + first * v + i * 32 + lane;
                at[lane] = column < end ? to + column * size : -1;
                from[lane] = column < end ? (i * 32 + lane) * size : -1;
            }
            tess_gpu_count_shared(w->sum, w->times, from, size, false);
            tess_gpu_count_global(w->sum, w->times, at, size, true);
        }
    }
}

void tess_correlate_frame_places(const tess_correlate_frame *f, bool out, double *times) {
    for (int i = 0; i < LINE; i++)
        times[i] = i == 0;
    for (int b = 0; b < f->batch; b++) {
        const tess_correlate_axis *axis = &f->pass->axis[f->batch_axis[b]];
        const int64_t step = out ? axis->out_stride : axis->in_stride;
        double next[LINE] = {0};
        for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, axis->m, 0, 0, LINE / tess_gcd(LINE, llabs(step)));)
            for (int i = 0; i < LINE; i++)
                next[(i + n.at * step) & (LINE - 1)] += times[i] * n.times;
        for (int i = 0; i < LINE; i++)
            times[i] = next[i];
    }
}

void tess_correlate_frame_add_places(double *sum, const double *places, int64_t byte) {
    for (int i = 0; i < LINE; i++)
        sum[(i + byte) & (LINE - 1)] += places[i];
}

double tess_correlate_frame_conversions(const tess_correlate_frame *f, tess_type work, int64_t elements) {
    const tess_type from = f->pass->from;
    return work == tess_f32 && (from == tess_u8 || from == tess_i8 || from == tess_u16 || from == tess_i16) ? (double)elements : 0;
}

/* SPDX-License-Identifier: Apache-2.0
 * gpu_records_predict.c - what transpose/records, short_runs and long_runs will count: a block of each kind is walked, warp by warp and request by request.
 *
 * A block is as another one if it is as far from its row's ends and its matrix begins at the same places of a sector. Predicted for arrays whose first element
 * begins at a sector. */
#include <stdlib.h>

#include "ops/transpose/gpu_predict.h"

/* One access of a warp, lane by lane: -1 where there is none. */
typedef int64_t lanes[32];

typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    int64_t in, out; /* where the matrix begins */
    int64_t size, v; /* bytes of an element, elements of a vector */
} walk;

enum { MOST = 4096 }; /* matrices, or pieces, that are walked each by itself: they begin anywhere */

static void begin_matrix(walk *w, const int64_t *first, const transpose_plane *m, int64_t matrix) {
    w->in = TESS_GPU_ORIGIN + first[TRANSPOSE_IN];
    w->out = TESS_GPU_ORIGIN + first[TRANSPOSE_OUT];
    for (int d = m->ndim - 1; d >= 0; matrix /= m->shape[d--]) {
        w->in += matrix % m->shape[d] * m->stride[TRANSPOSE_IN][d];
        w->out += matrix % m->shape[d] * m->stride[TRANSPOSE_OUT][d];
    }
}

static void read_shared(const walk *w, const lanes at, int64_t bytes) { tess_gpu_count_shared(w->sum, w->times, at, bytes, false); }
static void write_shared(const walk *w, const lanes at, int64_t bytes) { tess_gpu_count_shared(w->sum, w->times, at, bytes, true); }
static void read_global(const walk *w, const lanes at, int64_t bytes) { tess_gpu_count_global(w->sum, w->times, at, bytes, false); }
static void write_global(const walk *w, const lanes at, int64_t bytes) { tess_gpu_count_global(w->sum, w->times, at, bytes, true); }

/* Where byte b of the records is in shared memory. */
static int64_t spot(const transpose_gpu_records *r, int64_t b) { return r->spare ? b + (b >> 7) * 16 : b; }

/* ---- gpu_split.cu ---- */

static void split_in(const walk *w, const transpose_gpu_records *r, int64_t begin, int64_t end, int64_t skip) {
    const int64_t low = w->in, high = w->in + r->length * r->c * w->size;
    begin -= skip;
    for (int64_t turn = 0; turn < end - begin; turn += r->threads * 16)
        for (int64_t warp = 0; warp < r->threads * 16; warp += 512) {
            lanes from, to, at;
            for (int lane = 0; lane < 32; lane++) {
                const int64_t i = turn + warp + lane * 16;
                from[lane] = i < end - begin && begin + i >= low && begin + i + 16 <= high ? begin + i : -1;
                to[lane] = from[lane] < 0 ? -1 : spot(r, i);
            }
            tess_gpu_count_copies(w->sum, w->times, from, to);
            for (int64_t b = 0; b < 16; b += w->size) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t i = turn + warp + lane * 16;
                    const bool there = i < end - begin && from[lane] < 0 && begin + i + b >= low && begin + i + b < high;
                    at[lane] = there ? begin + i + b : -1;
                    to[lane] = there ? spot(r, i + b) : -1;
                }
                read_global(w, at, w->size);
                write_shared(w, to, w->size);
            }
        }
}

/* Which row and which vector of it each lane of a warp has in turn n; rows that are not there: -1. */
static void places_of_turn(const transpose_gpu_records *r, int64_t n, lanes row, lanes vector) {
    const int64_t along = 32 / r->across, across = r->vectors / along;
    for (int lane = 0; lane < 32; lane++) {
        row[lane] = n / across * r->across + lane / along;
        vector[lane] = n % across * along + lane % along;
        if (row[lane] >= r->c)
            row[lane] = -1;
    }
}
static int64_t turns_of(const transpose_gpu_records *r) { return tess_ceil_div(r->c, r->across) * (r->vectors / (32 / r->across)); }

static void split(const walk *w, const transpose_gpu_records *r, int64_t p_out, int64_t tile) {
    const int64_t record = r->c * w->size, records = r->vectors * w->v, more = 32 / w->size, first = tile * records;
    const bool even = (w->out | p_out) % 32 == 0;
    const int64_t from = first > 0 && !even ? first - more : first, to = tess_min64(first + records, r->length);
    if (from >= to)
        return;
    const int64_t skip = (w->in + from * record) % 16;
    split_in(w, r, w->in + from * record, w->in + to * record, skip);
    for (int64_t n = 0; n < turns_of(r); n++) {
        lanes row, vector, load, store;
        places_of_turn(r, n, row, vector);
        for (int64_t pass = 0; pass < 2; pass++) /* whole vectors, then others element by element */
            for (int64_t i = 0; i < w->v; i++) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t line = w->out + row[lane] * p_out, ahead = vector[lane] * w->v - line % 32 / w->size, e = first + ahead;
                    const bool whole = e >= 0 && e + w->v <= r->length, there = pass == 0 ? whole : !whole && e + i >= 0 && e + i < r->length;
                    load[lane] = row[lane] >= 0 && there ? spot(r, skip + (first - from + ahead + i) * record + row[lane] * w->size) : -1;
                    store[lane] = row[lane] >= 0 && there ? line + (e + i) * w->size : -1;
                }
                read_shared(w, load, w->size);
                if (pass == 1)
                    write_global(w, store, w->size);
                else if (i == 0)
                    write_global(w, store, 16);
            }
    }
    w->sum->barriers += w->times * (double)r->threads / 32;
}

/* ---- gpu_merge.cu ---- */

static void merge(const walk *w, const transpose_gpu_records *r, int64_t q_in, int64_t tile) {
    const int64_t record = r->c * w->size, bytes = (r->vectors - 2) * w->v * record, lead = tess_ceil_div(16 * r->c + record, 16) * 16,
                  all = r->length * record, piece = tile * bytes - w->out % 32, begin = tess_max64(piece, 0), end = tess_min64(piece + bytes, all);
    if (begin >= end)
        return;
    const int64_t first = begin / record, base = lead + first * record - piece;
    for (int64_t n = 0; n < turns_of(r); n++) {
        lanes row, vector, e, at;
        places_of_turn(r, n, row, vector);
        for (int lane = 0; lane < 32; lane++) {
            const int64_t line = w->in + row[lane] * q_in;
            e[lane] = first + vector[lane] * w->v - (line + first * w->size) % 16 / w->size;
            at[lane] = row[lane] >= 0 && e[lane] >= 0 && e[lane] + w->v <= r->length ? line + e[lane] * w->size : -1;
        }
        read_global(w, at, 16);
        for (int64_t i = 0; i < w->v; i++) {
            lanes one, to;
            for (int lane = 0; lane < 32; lane++) {
                const bool there = row[lane] >= 0 && at[lane] < 0 && e[lane] + i >= 0 && e[lane] + i < r->length;
                one[lane] = there ? w->in + row[lane] * q_in + (e[lane] + i) * w->size : -1;
                to[lane] = row[lane] >= 0 ? spot(r, base + (e[lane] - first + i) * record + row[lane] * w->size) : -1;
            }
            read_global(w, one, w->size);
            write_shared(w, to, w->size);
        }
    }
    for (int64_t turn = 0; turn < end - piece; turn += r->threads * 16)
        for (int64_t warp = 0; warp < r->threads * 16; warp += 512) {
            lanes whole, load, to;
            for (int lane = 0; lane < 32; lane++) {
                const int64_t i = turn + warp + lane * 16;
                whole[lane] = i < end - piece && piece + i >= begin && piece + i + 16 <= end ? w->out + piece + i : -1;
                load[lane] = whole[lane] < 0 ? -1 : spot(r, lead + i);
            }
            read_shared(w, load, 16);
            write_global(w, whole, 16);
            for (int64_t b = 0; b < 16; b += w->size) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t i = turn + warp + lane * 16;
                    const bool there = i < end - piece && whole[lane] < 0 && piece + i + b >= begin && piece + i + b < end;
                    load[lane] = there ? spot(r, lead + i) + b : -1;
                    to[lane] = there ? w->out + piece + i + b : -1;
                }
                read_shared(w, load, w->size);
                write_global(w, to, w->size);
            }
        }
    w->sum->barriers += w->times * (double)r->threads / 32;
}

void tess_transpose_predict_records_matrices(const transpose_gpu_matrices *of, const transpose_gpu_records *how, tess_gpu_prediction *out) {
    const transpose_gpu_matrices m = *of;
    const transpose_gpu_records r = *how;
    walk w = {.sum = out, .times = 1, .size = m.size, .v = 16 / m.size};
    const int64_t tiles = tess_transpose_gpu_records_tiles(&r, m.size);
    if (m.plane.count > MOST) {
        out->flops = 0;
        return;
    }
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    for (int64_t matrix = 0; matrix < m.plane.count; matrix++)
        for (tess_gpu_kind t = {0}; tess_gpu_next_kind(&t, tiles, 1, 3, 1);) {
            begin_matrix(&w, m.first, &m.plane, matrix);
            w.times = t.times;
            if (r.split)
                split(&w, &r, m.plane.p_out, t.at);
            else
                merge(&w, &r, m.plane.q_in, t.at);
        }
}

void tess_transpose_predict_records(const tess_problem *base, tess_gpu_prediction *out) {
    const char *why;
    transpose_gpu_records r;
    const transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    if (tess_transpose_gpu_records_of(base, &r, &why))
        tess_transpose_predict_records_matrices(&m, &r, out);
}

/* ---- gpu_runs.cu ---- */

static void runs_tile(const walk *w, const transpose_gpu_short_runs *r, int64_t p0, int64_t q0) {
    const transpose_plane *m = &r->plane;
    const int64_t wide = r->run * r->size, more = r->more, warps = r->threads / 32;
    const int64_t lead = tess_ceil_div(more * wide, 4) * 4, line = tess_transpose_gpu_short_runs_line(r);
    const int64_t np = tess_min64(m->p_size - p0, r->along_p), to = w->out + p0 * m->p_out + q0 * wide;
    const bool even = (to | m->p_out) % 32 == 0;
    const int64_t before = q0 > 0 && !even ? more : 0, nq = tess_min64(m->q_size - q0, r->along_q) + before;
    for (int64_t q = 0; q < nq; q++)
        for (int64_t i = 0; i < r->run; i++) {
            lanes load, store;
            for (int lane = 0; lane < 32; lane++) {
                const int64_t back = (to + lane * m->p_out) % 32;
                load[lane] = lane < np ? w->in + (q0 - before + q) * m->q_in + (p0 + lane) * wide + i * r->size : -1;
                store[lane] = lane < np ? lane * line + lead + back + (q - before) * wide + i * r->size : -1;
            }
            read_global(w, load, r->size);
            write_shared(w, store, r->size);
        }
    w->sum->barriers += w->times * (double)warps;
    for (int64_t p = 0; p < np; p++) {
        const int64_t row = to + p * m->p_out, back = row % 32, start = q0 * wide - back, end = m->q_size * wide - start;
        for (int64_t turn = 0; turn < r->along_q * wide; turn += 128)
            for (int64_t k = -1; k < 4; k += k < 0 ? 1 : r->size) { /* words, then elements of those that are not whole */
                lanes load, store;
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t b = turn + lane * 4, one = b + tess_max64(k, 0);
                    const bool mine = b < r->along_q * wide, whole = start + b >= 0 && b + 4 <= end;
                    const bool there = mine && (k < 0 ? whole : !whole && start + one >= 0 && one < end);
                    load[lane] = there ? p * line + lead + one : -1;
                    store[lane] = there ? row - back + one : -1;
                }
                read_shared(w, load, k < 0 ? 4 : r->size);
                write_global(w, store, k < 0 ? 4 : r->size);
            }
    }
}

/* gpu_pixels.cu: 4 pixels of a lane, of row q. */
static void pixels_row(const walk *w, const transpose_gpu_short_runs *r, int64_t p0, int64_t q, int64_t np, bool ends, bool there) {
    const transpose_plane *m = &r->plane;
    const int64_t low = w->in, high = low + (m->q_size - 1) * m->q_in + m->p_size * 3;
    for (int64_t k = -4; k < 12; k++) { /* words, then bytes of those that are not whole */
        lanes load;
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = low + q * m->q_in + (p0 + lane * 4) * 3, skip = at % 4, pixels = np - lane * 4;
            const bool whole = !ends || (there && pixels >= 4 && at - 3 >= low && at + 16 <= high);
            load[lane] = -1;
            if (k < 0 && whole && (k < -1 || skip > 0))
                load[lane] = at - skip + (k + 4) * 4;
            if (k >= 0 && !whole && there && k < pixels * 3)
                load[lane] = at + k;
        }
        read_global(w, load, k < 0 ? 4 : 1);
    }
}

static void pixels_tile(const walk *w, const transpose_gpu_short_runs *r, int64_t p0, int64_t q0) {
    const transpose_plane *m = &r->plane;
    const int64_t line = tess_transpose_gpu_short_runs_line(r), np = tess_min64(m->p_size - p0, r->along_p), to = w->out + p0 * m->p_out + q0 * 3;
    const bool even = (to | m->p_out) % 32 == 0;
    const int64_t before = q0 > 0 && !even ? r->more : 0, nq = tess_min64(m->q_size - q0, r->along_q) + before;
    const int64_t first = (q0 - before) * m->q_in + p0 * 3, all = (m->q_size - 1) * m->q_in + m->p_size * 3;
    const bool ends = np < r->along_p || nq < r->along_q + before || first < 3 || first + (nq - 1) * m->q_in + r->along_p * 3 + 4 > all;
    for (int64_t q = 0; q < nq; q += 4) {
        for (int64_t i = 0; i < 4; i++)
            pixels_row(w, r, p0, q0 - before + q + i, np, ends, q + i < nq);
        for (int64_t k = 0; k < 12; k++) {
            lanes store;
            for (int lane = 0; lane < 32; lane++)
                store[lane] = (k / 3 * 32 + lane) * line + q * 3 + k % 3 * 4;
            write_shared(w, store, 4);
        }
    }
    w->sum->barriers += w->times * (double)r->threads / 32;
    for (int64_t p = 0; p < np; p++) {
        const int64_t row = to + p * m->p_out, back = row % 32, start = q0 * 3 - back, begin = tess_max64(0, -start);
        const int64_t stop = tess_min64(m->q_size * 3 - start, r->along_q * 3), from = (p % 4 * 32 + p / 4) * line + before * 3 - back;
        lanes one, two, store;
        for (int64_t k = 0; k < r->along_q * 3; k += 128) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t b = k + lane * 4;
                const bool whole = b >= begin && b + 4 <= stop;
                one[lane] = whole ? (from + b) / 4 * 4 : -1;
                two[lane] = whole && !even ? (from + b + 3) / 4 * 4 : -1;
                store[lane] = whole ? row - back + b : -1;
            }
            read_shared(w, one, 4);
            read_shared(w, two, 4);
            write_global(w, store, 4);
        }
        for (int tail = 0; tail < 2; tail++) { /* bytes of words that are not whole */
            for (int lane = 0; lane < 32; lane++) {
                const int64_t b = lane + (tail ? stop & ~3 : begin);
                const bool there = b >= begin && b < stop && (tail || b < tess_ceil_div(begin, 4) * 4);
                one[lane] = there ? from + b : -1;
                store[lane] = there ? row - back + b : -1;
            }
            read_shared(w, one, 1);
            write_global(w, store, 1);
        }
    }
}

void tess_transpose_predict_short_runs(const tess_problem *base, tess_gpu_prediction *out) {
    const char *why;
    transpose_gpu_short_runs r;
    if (!tess_transpose_gpu_short_runs_of(base, &r, &why))
        return;
    transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    m.plane = r.plane;
    walk w = {.sum = out, .size = r.size};
    const int64_t tiles_p = tess_ceil_div(r.plane.p_size, r.along_p), tiles_q = tess_ceil_div(r.plane.q_size + r.more, r.along_q);
    const transpose_gpu_places begin = tess_transpose_gpu_places_of(&m);
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    for (int place = 0; place < 32 * 32; place++)
        for (tess_gpu_kind i = {0}; begin.times[place / 32][place % 32] > 0 && tess_gpu_next_kind(&i, tiles_p, r.pixels, 1 + r.pixels, 1);)
            for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, tiles_q, 1, 2, 32);) {
                w.times = begin.times[place / 32][place % 32] * i.times * j.times;
                w.in = TESS_GPU_ORIGIN + place / 32;
                w.out = TESS_GPU_ORIGIN + place % 32;
                (r.pixels ? pixels_tile : runs_tile)(&w, &r, i.at * r.along_p, j.at * r.along_q);
            }
}

/* ---- gpu_long_runs.cu ---- */

/* word_at() of the words at `at`, -1 = none. */
static void words_at(const walk *w, const lanes at, int64_t low, int64_t high) {
    lanes one, two, rest;
    if (w->size == 4) {
        read_global(w, at, 4);
        return;
    }
    for (int lane = 0; lane < 32; lane++) {
        const int64_t shift = at[lane] % 4, aligned = at[lane] - shift;
        const bool whole = at[lane] >= 0 && aligned >= low && aligned + 8 <= high;
        one[lane] = whole ? aligned : -1;
        two[lane] = whole ? aligned + (shift ? 4 : 0) : -1;
    }
    read_global(w, one, 4);
    read_global(w, two, 4);
    for (int64_t b = 0; b < 4; b += w->size) {
        for (int lane = 0; lane < 32; lane++)
            rest[lane] = at[lane] >= 0 && one[lane] < 0 && at[lane] + b >= low && at[lane] + b < high ? at[lane] + b : -1;
        read_global(w, rest, w->size);
    }
}

static void long_runs_piece(const walk *w, const transpose_gpu_long_runs *r, int64_t p, int64_t piece) {
    enum { THREADS = TRANSPOSE_GPU_RUNS_THREADS, PIECE = TRANSPOSE_GPU_RUNS_PIECE };
    const transpose_plane *m = &r->plane;
    const int64_t all = m->q_size * r->run, to = w->out + p * m->p_out, start = piece * PIECE - to % 4;
    const int64_t low = TESS_GPU_ORIGIN + r->low, high = TESS_GPU_ORIGIN + r->high;
    for (int64_t warp = 0; warp < PIECE; warp += 128) {
        lanes mine, next, store, one;
        for (int lane = 0; lane < 32; lane++) {
            const int64_t b = start + warp + lane * 4, run = b < 0 ? 0 : b / r->run, inside = b - run * r->run;
            const int64_t at = w->in + p * r->plane.p_in + run * m->q_in + inside;
            mine[lane] = b < all ? at : -1;
            next[lane] = b < all && w->size < 4 && inside + 4 > r->run ? at + m->q_in - r->run : -1;
            store[lane] = b >= 0 && b + 4 <= all ? to + b : -1;
        }
        words_at(w, mine, low, high);
        words_at(w, next, low, high);
        write_global(w, store, 4);
        for (int64_t k = 0; k < 4 && w->size < 4; k += w->size) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t b = start + warp + lane * 4 + k;
                one[lane] = store[lane] < 0 && b >= 0 && b < all ? to + b : -1;
            }
            write_global(w, one, w->size);
        }
    }
}

void tess_transpose_predict_long_runs(const tess_problem *base, tess_gpu_prediction *out) {
    const char *why;
    transpose_gpu_long_runs r;
    if (!tess_transpose_gpu_long_runs_of(base, &r, &why))
        return;
    const transpose_plane *m = &r.plane;
    walk w = {.sum = out, .times = 1, .size = r.size};
    out->flops = out->barriers = 0;
    if (r.blocks > MOST)
        return;
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    const int64_t pieces = r.blocks / (m->p_size * m->count);
    for (int64_t block = 0; block < r.blocks; block++) {
        begin_matrix(&w, ((const transpose_problem *)base)->first, m, block / pieces / m->p_size);
        long_runs_piece(&w, &r, block / pieces % m->p_size, block % pieces);
    }
}

/* SPDX-License-Identifier: Apache-2.0
 * gpu_shifted_predict.c - what transpose/shifted and transpose/joined will count: a tile of each kind is walked, warp by warp and request by request.
 *
 * A tile is as another one if it is as far from the matrix's ends, and its rows begin at the same places of a sector. Tiles along q begin at sectors, tiles along p at one of two places of them; where
 * axes are joined, rows begin anywhere, and every tile is walked, if there are not too many. Predicted for arrays whose first element begins at a sector. */
#include <stdlib.h>

#include "ops/transpose/gpu_predict.h"

enum { LANES = TRANSPOSE_GPU_LANES, MOST = 4096 };

typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const transpose_plane *m;
    int64_t size;
    int64_t in, out;            /* where the matrix begins */
    int64_t p, q, p_left;       /* the tile */
    int64_t v, groups, threads; /* elements of a vector; groups of V rows, the margin's among them */
} walk;

/* ---- elements of 8 bytes: gpu_shifted.cu ---- */

enum { ALONG_P = 64, ALONG_Q = 32, BEFORE = 4, ROWS = ALONG_Q + BEFORE, PITCH = ROWS + 1 };

static void one_by_one(const walk *w) {
    const transpose_plane *m = w->m;
    for (int first = 0; first < ALONG_P * ROWS; first += 32) {
        int64_t load[32], store[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t p = (first + lane) % ALONG_P, row = (first + lane) / ALONG_P, q = w->q + row - BEFORE;
            const bool there = p < w->p_left && q >= 0 && q < m->q_size;
            load[lane] = there ? w->in + q * m->q_in + (w->p + p) * w->size : -1;
            store[lane] = there ? (p * PITCH + row) * w->size : -1;
        }
        tess_gpu_count_global(w->sum, w->times, load, w->size, false);
        tess_gpu_count_shared(w->sum, w->times, store, w->size, true);
    }
    for (int64_t p = 0; p < w->p_left; p++) {
        const int64_t row = w->out + (w->p + p) * m->p_out + w->q * w->size, back = row % 32 / w->size;
        int64_t load[32], store[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t q = lane - back;
            const bool there = w->q + q >= 0 && w->q + q < m->q_size;
            store[lane] = there ? row + q * w->size : -1;
            load[lane] = there ? (p * PITCH + BEFORE + q) * w->size : -1;
        }
        tess_gpu_count_shared(w->sum, w->times, load, w->size, false);
        tess_gpu_count_global(w->sum, w->times, store, w->size, true);
    }
    w->sum->barriers += w->times * 256 / 32;
}

/* ---- vectors: gpu_load.cuh ---- */

/* Vector g of row p of the turned tile. */
static int64_t place_in_tile(const walk *w, int64_t p, int64_t g) { return (p * w->groups + p / w->v + g) * 16; }

/* load_inside() of the vectors at `at`, -1 = none: those that are not whole between low and high element by element. */
static void load_inside(const walk *w, const int64_t *at, int64_t low, int64_t high) {
    const int64_t each = w->size < 4 ? w->size : 4;
    int64_t load[32];
    for (int lane = 0; lane < 32; lane++)
        load[lane] = at[lane] >= low && at[lane] + 16 <= high ? at[lane] : -1;
    tess_gpu_count_global(w->sum, w->times, load, 16, false);
    for (int64_t b = 0; b < 16; b += each) {
        for (int lane = 0; lane < 32; lane++) {
            const bool whole = at[lane] >= low && at[lane] + 16 <= high;
            load[lane] = at[lane] >= 0 && !whole && at[lane] + b >= low && at[lane] + b < high ? at[lane] + b : -1;
        }
        tess_gpu_count_global(w->sum, w->times, load, each, false);
    }
}

static void lay_down(const walk *w) {
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int64_t c = 0; c < w->v; c++) {
            int64_t store[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t across = (thread + lane) % LANES, group = (thread + lane) / LANES;
                store[lane] = across < LANES - 1 ? place_in_tile(w, across * w->v + c, group) : -1;
            }
            tess_gpu_count_shared(w->sum, w->times, store, 16, true);
        }
}

/* Vectors of a warp's rows of out, the first of their elements at `at`, -1 = none; begin to end: which of the V are the tile's. */
static void store_inside(const walk *w, const int64_t *at, const int64_t *begin, const int64_t *end) {
    int64_t store[32];
    for (int lane = 0; lane < 32; lane++)
        store[lane] = begin[lane] <= 0 && end[lane] >= w->v ? at[lane] : -1;
    tess_gpu_count_global(w->sum, w->times, store, 16, true);
    for (int64_t e = 0; e < w->v; e++) {
        for (int lane = 0; lane < 32; lane++) {
            const bool whole = begin[lane] <= 0 && end[lane] >= w->v;
            store[lane] = at[lane] >= 0 && !whole && e >= begin[lane] && e < end[lane] ? at[lane] + e * w->size : -1;
        }
        tess_gpu_count_global(w->sum, w->times, store, w->size, true);
    }
}

/* ---- gpu_shifted_vectors.cu ---- */

static void vectors_in(const walk *w, bool ends) {
    const transpose_plane *m = w->m;
    const int64_t last = (m->q_size - 1) * m->q_in, low = ends ? w->in + tess_min64(0, last) : 0,
                  high = ends ? w->in + tess_max64(0, last) + m->p_size * w->size : INT64_MAX;
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int64_t r = 0; r < w->v; r++) {
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t across = (thread + lane) % LANES, q = w->q + ((thread + lane) / LANES - 2) * w->v + r;
                const int64_t row = w->in + q * m->q_in + w->p * w->size;
                at[lane] = row / 16 * 16 + across * 16;
                if (ends && (q < 0 || q >= m->q_size || at[lane] >= row + w->p_left * w->size))
                    at[lane] = -1;
            }
            load_inside(w, at, low, high);
        }
}

/* Rows of one class that a warp has. */
static void vectors_out(const walk *w, int64_t number) {
    const transpose_plane *m = w->m;
    const int64_t nv = w->groups - 2, warps = w->threads / 32, each = LANES - 1, at_once = 32 / nv, sets = tess_max64(1, warps / w->v),
                  of_set = tess_ceil_div(each, sets), c = number % w->v;
    const int64_t exist = tess_min64(each, (w->p_left - c + w->v - 1) / w->v);
    for (int64_t s = 0; s < tess_ceil_div(of_set, at_once); s++) {
        int64_t one[32], two[32], to[32], begin[32], end[32];
        int64_t word = 0; /* of the first vector at which what is wanted begins; so for all rows of the class */
        for (int lane = 0; lane < 32; lane++) {
            const int64_t k = number / w->v * of_set + lane / nv + s * at_once, v = lane % nv;
            const int64_t line = w->out + (w->p + c + k * w->v) * m->p_out + w->q * w->size, back = line % 32, g = v + (32 - back) / 16;
            const bool there = lane < at_once * nv && k < exist;
            const int64_t q = w->q + v * w->v - back / w->size;
            word = (16 - line % 16) % 16 / 4;
            one[lane] = there ? place_in_tile(w, c + k * w->v, g) + (word == 3) * 12 : -1;
            two[lane] = there ? place_in_tile(w, c + k * w->v, tess_min64(g + 1, w->groups - 1)) : -1;
            to[lane] = there ? line - back + v * 16 : -1;
            begin[lane] = -q;
            end[lane] = m->q_size - q;
        }
        /* where of a vector one word is used, it is loaded alone */
        tess_gpu_count_shared(w->sum, w->times, one, word == 3 ? 4 : 16, false);
        tess_gpu_count_shared(w->sum, w->times, two, word == 0 ? 4 : 16, false);
        store_inside(w, to, begin, end);
    }
}

static void by_vectors(const walk *w) {
    const transpose_plane *m = w->m;
    const int64_t along_p = (LANES - 1) * w->v, along_q = (w->groups - 2) * w->v, margin = 2 * w->v, warps = w->threads / 32,
                  sets = tess_max64(1, warps / w->v);
    bool whole = w->p_left == along_p && w->q > margin && w->q + along_q <= m->q_size;
    if (w->p < w->v || w->p + along_p + 2 * w->v > m->p_size)
        whole = whole && m->q_in >= (along_p + 2 * w->v) * w->size && w->q + along_q < m->q_size;
    vectors_in(w, !whole);
    lay_down(w);
    for (int64_t i = 0; i < w->v * sets; i++)
        vectors_out(w, i);
    w->sum->barriers += w->times * (double)warps;
}

/* ---- where matrices begin ---- */

transpose_gpu_places tess_transpose_gpu_places_of(const transpose_gpu_matrices *m) {
    transpose_gpu_places all = {0};
    all.times[m->first[TRANSPOSE_IN] & 31][m->first[TRANSPOSE_OUT] & 31] = 1;
    for (int d = 0; d < m->plane.ndim; d++) {
        const int64_t in = m->plane.stride[TRANSPOSE_IN][d], out = m->plane.stride[TRANSPOSE_OUT][d];
        transpose_gpu_places next = {0};
        for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, m->plane.shape[d], 0, 0, 32 / tess_gcd(32, tess_gcd(llabs(in), llabs(out))));)
            for (int i = 0; i < 32; i++)
                for (int j = 0; j < 32; j++)
                    next.times[(i + n.at * in) & 31][(j + n.at * out) & 31] += all.times[i][j] * n.times;
        all = next;
    }
    return all;
}

void tess_transpose_predict_shifted_matrices(const transpose_gpu_matrices *of, tess_gpu_prediction *out) {
    const transpose_plane *m = &of->plane;
    walk w = {.sum = out, .m = m, .size = of->size};
    const bool vectors = of->size < 8;
    w.v = 16 / of->size;
    w.groups = vectors ? tess_transpose_gpu_shifted_groups(of) + 2 : 0;
    w.threads = w.groups * LANES;
    const int64_t along_p = vectors ? (LANES - 1) * w.v : ALONG_P, along_q = vectors ? (w.groups - 2) * w.v : ALONG_Q, margin = 32 / of->size;
    const int64_t tiles_p = tess_ceil_div(m->p_size, along_p), tiles_q = tess_ceil_div(m->q_size + margin - 1, along_q);
    const transpose_gpu_places begin = tess_transpose_gpu_places_of(of);
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    for (int64_t place = 0; place < 32 * 32; place++) {
        const double matrices = begin.times[place / 32][place % 32];
        if (matrices == 0)
            continue;
        w.in = TESS_GPU_ORIGIN + place / 32;
        w.out = TESS_GPU_ORIGIN + place % 32;
        for (tess_gpu_kind i = {0}; tess_gpu_next_kind(&i, tiles_p, 1, 2, 2);)
            for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, tiles_q, 1, 3, 1);) {
                w.times = matrices * i.times * j.times;
                w.p = i.at * along_p;
                w.q = j.at * along_q;
                w.p_left = tess_min64(along_p, m->p_size - w.p);
                (vectors ? by_vectors : one_by_one)(&w);
            }
    }
}

void tess_transpose_predict_shifted(const tess_problem *base, tess_gpu_prediction *out) {
    const transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    tess_transpose_predict_shifted_matrices(&m, out);
}

/* ---- gpu_joined.cu ---- */

static void rows_in(const walk *w, const transpose_gpu_joined *j) {
    const transpose_plane *m = w->m;
    const int64_t size = w->size, along_p = (LANES - 1) * w->v, along_q = (w->groups - 2) * w->v;
    const bool inside = w->p <= w->v || w->p + along_p + w->v > m->p_size, tests = inside || w->q + along_q > m->q_size || (w->q == 0 && !j->follow);
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int64_t r = 0; r < w->v; r++) {
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t across = (thread + lane) % LANES, first = w->q + ((thread + lane) / LANES - 2) * w->v;
                const bool before = first < 0;
                const int64_t v = (before ? first + m->q_size : first) + r, count = before ? j->follow ? w->v : 0 : m->q_size - first;
                const int64_t row = w->in + (w->p - before) * size + v % j->q_inner * m->q_in + v / j->q_inner * j->q_outer * size;
                at[lane] = row / 16 * 16 + across * 16;
                if (tests && (r >= count || across * 16 >= w->p_left * size + row % 16))
                    at[lane] = -1;
            }
            load_inside(w, at, inside ? w->in + j->low * size : 0, inside ? w->in + j->high * size : INT64_MAX);
        }
}

/* Row p of the tile on its way out: where it begins, and which of its elements are the tile's. */
static int64_t way_of(const walk *w, const transpose_gpu_joined *j, int64_t p, int64_t *low, int64_t *high) {
    const transpose_plane *m = w->m;
    const int64_t n = w->p + p, along_q = (w->groups - 2) * w->v;
    const int64_t line = w->out + w->q * w->size + n % j->p_inner * m->p_out + n / j->p_inner * j->p_outer * w->size, back = line % 32;
    *low = w->q == 0 && !(j->follow && n > 0) ? back / w->size : 0;
    *high = m->q_size - w->q + back / w->size;
    if (j->follow && n + 1 < m->p_size)
        *high -= (line + (m->q_size - w->q) * w->size) % 32 / w->size;
    *high = tess_max64(0, tess_min64(*high, along_q));
    return line;
}

static void rows_out(const walk *w, const transpose_gpu_joined *j) {
    const int64_t nv = w->groups - 2;
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int left = 0; left < 2; left++)
            for (int64_t turn = 0; turn * w->threads < w->p_left * nv; turn++) {
                int64_t way[32], more[32], one[32], two[32], to[32], begin[32], end[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t left_over = w->p_left * nv - thread - lane, turns = left_over > 0 ? tess_ceil_div(left_over, w->threads) : 0;
                    const int64_t t = tess_gpu_turn_of(turns, 4, true, left, turn), n = thread + lane + t * w->threads, p = n / nv, i = n % nv;
                    way[lane] = more[lane] = one[lane] = two[lane] = to[lane] = begin[lane] = end[lane] = -1;
                    if (t < 0)
                        continue;
                    int64_t low, high;
                    const int64_t line = way_of(w, j, p, &low, &high), back = line % 32;
                    way[lane] = p * 16;
                    more[lane] = p * 16 + 8;
                    one[lane] = place_in_tile(w, p, (32 - back) / 16 + i);
                    two[lane] = one[lane] + (back % 16 != 0) * 16;
                    to[lane] = line - back + i * 16;
                    begin[lane] = low - i * w->v;
                    end[lane] = high - i * w->v;
                }
                tess_gpu_count_shared(w->sum, w->times, way, 8, false);
                tess_gpu_count_shared(w->sum, w->times, more, 8, false);
                tess_gpu_count_shared(w->sum, w->times, one, 16, false);
                tess_gpu_count_shared(w->sum, w->times, two, 16, false);
                store_inside(w, to, begin, end);
            }
}

static void by_joined(const walk *w, const transpose_gpu_joined *j) {
    const int64_t at_a_time = !j->follow && w->q > 0 ? 4 : 2;   /* there rows all begin in the tile */
    for (int64_t thread = 0; thread < w->threads; thread += 32) /* what rows need on their way out */
        for (int left = 0; left < 2; left++)
            for (int64_t turn = 0; turn * w->threads < w->p_left; turn++) {
                int64_t way[32], more[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t over = w->p_left - thread - lane,
                                  t = tess_gpu_turn_of(over > 0 ? tess_ceil_div(over, w->threads) : 0, at_a_time, true, left, turn);
                    way[lane] = t < 0 ? -1 : (thread + lane + t * w->threads) * 16;
                    more[lane] = t < 0 ? -1 : way[lane] + 8;
                }
                tess_gpu_count_shared(w->sum, w->times, way, 8, true);
                tess_gpu_count_shared(w->sum, w->times, more, 8, true);
            }
    rows_in(w, j);
    lay_down(w);
    rows_out(w, j);
    w->sum->barriers += w->times * (double)(w->threads / 32);
}

void tess_transpose_predict_joined(const tess_problem *base, tess_gpu_prediction *out) {
    const transpose_problem *p = (const transpose_problem *)base;
    const char *why;
    transpose_gpu_joined j;
    if (!tess_transpose_gpu_joined_of(base, &j, &why))
        return;
    const transpose_plane *m = &j.plane;
    walk w = {.sum = out, .times = 1, .m = m, .size = p->size, .v = 16 / p->size};
    w.groups = tess_transpose_gpu_joined_groups(&j, p->size) + 2;
    w.threads = w.groups * LANES;
    const int64_t along_p = (LANES - 1) * w.v, along_q = (w.groups - 2) * w.v, tiles_p = tess_ceil_div(m->p_size, along_p),
                  tiles_q = tess_ceil_div(m->q_size + 2 * w.v - 1, along_q);
    if (tiles_p * tiles_q * m->count > MOST) {
        out->barriers = (double)(tiles_p * tiles_q * m->count * w.threads / 32);
        out->flops = 0;
        return;
    }
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    for (int64_t matrix = 0; matrix < m->count; matrix++) {
        int64_t rest = matrix;
        w.in = TESS_GPU_ORIGIN + p->first[TRANSPOSE_IN];
        w.out = TESS_GPU_ORIGIN + p->first[TRANSPOSE_OUT];
        for (int d = m->ndim - 1; d >= 0; rest /= m->shape[d--]) {
            w.in += rest % m->shape[d] * m->stride[TRANSPOSE_IN][d];
            w.out += rest % m->shape[d] * m->stride[TRANSPOSE_OUT][d];
        }
        for (int64_t tile = 0; tile < tiles_p * tiles_q; tile++) {
            w.p = tile / tiles_q * along_p;
            w.q = tile % tiles_q * along_q;
            w.p_left = tess_min64(along_p, m->p_size - w.p);
            by_joined(&w, &j);
        }
    }
}

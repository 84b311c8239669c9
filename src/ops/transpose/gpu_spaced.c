/* SPDX-License-Identifier: Apache-2.0
 * gpu_spaced.c - the row transpose/spaced: arrays whose elements lie apart on either side; its launches (gpu_spaced.cu), and what they count. */
#include <stdlib.h>

#include "ops/transpose/gpu_predict.h"

extern const char tess_kernel_transpose_gpu_spaced_cu[];
static const tess_gpu_text gpu_spaced = {"transpose/gpu_spaced.cu", tess_kernel_transpose_gpu_spaced_cu};

enum { THREADS = 256, SECTOR = 32, LINE = 128 };

typedef struct spaced {
    transpose_plane plane;
    int64_t size, along_p, along_q; /* elements of a tile */
    bool turn;                      /* read along p */
} spaced;

/* The widest rows of a block of which at most an eighth is not there. */
static void fit_rows(spaced *s) {
    int64_t each = s->size > 4 ? 4 : 8, wide = THREADS;
    while (each * wide > 32 && tess_ceil_div(s->plane.q_size, each * wide) * each * wide - s->plane.q_size > s->plane.q_size / 8) {
        if (wide > 32)
            wide /= 2;
        else
            each /= 2;
    }
    s->along_p = THREADS / wide;
    s->along_q = each * wide;
}

void tess_transpose_gpu_rows_beside(transpose_plane *m) {
    if (m->p_size != 1 || m->ndim == 0)
        return;
    m->ndim--;
    m->p_size = m->shape[m->ndim];
    m->p_in = m->stride[TRANSPOSE_IN][m->ndim];
    m->p_out = m->stride[TRANSPOSE_OUT][m->ndim];
    m->count = m->p_size > 0 ? m->count / m->p_size : 0;
}

static bool spaced_of(const tess_problem *base, spaced *s, const char **why) {
    const transpose_problem *p = (const transpose_problem *)base;
    transpose_plane *m = &s->plane;
    *why = "works between two arrays, not in place";
    if (p->place != TRANSPOSE_ELSEWHERE)
        return false;
    *why = "needs an axis";
    if (p->ndim == 0)
        return false;
    tess_transpose_plane_of(m, p, false);
    *why = "needs steps that are whole elements";
    s->size = p->size;
    if (!tess_transpose_gpu_whole_steps(p, m, s->size))
        return false;
    s->turn = m->p_size > 1 && llabs(m->q_in) > SECTOR;
    if (s->turn) {
        s->along_p = s->size <= 2 ? 64 : 32;
        s->along_q = s->size <= 4 ? 64 : 32;
        return true;
    }
    tess_transpose_gpu_rows_beside(m);
    fit_rows(s);
    return true;
}

bool tess_transpose_gpu_spaced_fit(const tess_problem *base, const char **why) {
    spaced s;
    return spaced_of(base, &s, why);
}

bool tess_transpose_gpu_spaced_pay(const tess_problem *base, const char **why) {
    spaced s;
    if (!spaced_of(base, &s, why))
        return false;
    const transpose_plane *m = &s.plane;
    if (s.turn) {
        *why = "needs matrices of half a tile each way, and elements that stand in lines together in in: others have sectors of their own";
        return llabs(m->p_in) <= LINE && 2 * m->p_size >= s.along_p && 2 * m->q_size >= s.along_q;
    }
    *why = "needs rows of 32 elements, and as many of them as a block takes";
    return m->q_size >= 32 && (m->p_size >= s.along_p || m->q_size >= THREADS);
}

static void lay_spaced(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const char *why;
    spaced s;
    (void)device;
    if (!spaced_of(base, &s, &why))
        return;
    transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    m.plane = s.plane;
    const int64_t more[] = {s.plane.p_in / s.size, s.plane.q_out / s.size};
    const int64_t blocks = tess_ceil_div(s.plane.p_size, s.along_p) * tess_ceil_div(s.plane.q_size, s.along_q) * s.plane.count;
    tess_gpu_unit(layout, &gpu_spaced);
    tess_gpu_option(layout, "-DSIZE=%d", (int)s.size);
    tess_gpu_option(layout, "-DBATCH=%d", s.plane.ndim);
    tess_gpu_option(layout, "-DTURN=%d", s.turn);
    tess_gpu_option(layout, "-DP=%d", (int)s.along_p);
    tess_gpu_option(layout, "-DQ=%d", (int)s.along_q);
    tess_gpu_step *step = tess_gpu_launch_of(layout, s.turn ? "spaced_tiles" : "spaced_rows", blocks, 1, 1, THREADS, 0);
    tess_transpose_gpu_pass(layout, step, &m, more, TESS_COUNT(more));
    layout->alignment = s.size;
}

/* A tile that begins at byte `in` and byte `out`, of which np x nq elements exist; `times` of them. */
static void count_tile(tess_gpu_prediction *sum, double times, const spaced *s, int64_t in, int64_t out, int64_t np, int64_t nq) {
    const transpose_plane *m = &s->plane;
    const int64_t elements = s->along_p * s->along_q, line = s->along_p * s->size + tess_max64(4, s->size);
    const int64_t each = elements / THREADS, wide = s->along_q / each;
    int64_t load[32], store[32], laid[32], taken[32];
    for (int64_t first = 0; first < elements; first += 32) {
        for (int lane = 0; lane < 32; lane++) {
            const int64_t n = first + lane, thread = n % THREADS, turn = n / THREADS;
            int64_t p = n % s->along_p, q = n / s->along_p;
            if (!s->turn) {
                p = thread / wide;
                q = thread % wide + turn * wide;
            }
            const bool there = p < np && q < nq;
            load[lane] = there ? in + p * m->p_in + q * m->q_in : -1;
            store[lane] = there ? out + p * m->p_out + q * m->q_out : -1;
            laid[lane] = there ? q * line + p * s->size : -1;
            if (s->turn) {
                p = n / s->along_q;
                q = n % s->along_q;
                store[lane] = p < np && q < nq ? out + p * m->p_out + q * m->q_out : -1;
                taken[lane] = p < np && q < nq ? q * line + p * s->size : -1;
            }
        }
        tess_gpu_count_global(sum, times, load, s->size, false);
        tess_gpu_count_global(sum, times, store, s->size, true);
        if (s->turn) {
            tess_gpu_count_shared(sum, times, laid, s->size, true);
            tess_gpu_count_shared(sum, times, taken, s->size, false);
        }
    }
    if (s->turn)
        sum->barriers += times * THREADS / 32;
}

/* Tiles are 32 elements and more along q, and along p too where they turn: they begin at the same byte of a sector. */
void tess_transpose_predict_spaced(const tess_problem *base, tess_gpu_prediction *out) {
    const char *why;
    spaced s;
    if (!spaced_of(base, &s, &why))
        return;
    const transpose_plane *m = &s.plane;
    transpose_gpu_matrices of = tess_transpose_gpu_matrices_of(base);
    of.plane = s.plane;
    const transpose_gpu_places begin = tess_transpose_gpu_places_of(&of);
    const int64_t tiles_p = tess_ceil_div(m->p_size, s.along_p), tiles_q = tess_ceil_div(m->q_size, s.along_q);
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    for (int place = 0; place < 32 * 32; place++)
        for (tess_gpu_kind i = {0}; begin.times[place / 32][place % 32] > 0 && tess_gpu_next_kind(&i, tiles_p, 0, 1, 32);)
            for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, tiles_q, 0, 1, 1);) {
                const int64_t p = i.at * s.along_p, q = j.at * s.along_q;
                count_tile(out, begin.times[place / 32][place % 32] * i.times * j.times, &s, TESS_GPU_ORIGIN + place / 32 + p * m->p_in + q * m->q_in,
                           TESS_GPU_ORIGIN + place % 32 + p * m->p_out + q * m->q_out, m->p_size - p, m->q_size - q);
            }
}

const tess_gpu_row tess_transpose_gpu_spaced_row = {
    .headers = tess_transpose_gpu_headers, .production = true, .least_arch = 80, .lay_out = lay_spaced, .predict = tess_transpose_predict_spaced};

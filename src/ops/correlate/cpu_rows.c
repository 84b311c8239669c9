/* SPDX-License-Identifier: Apache-2.0
 * cpu_rows.c - correlate/rows: any rank, layout and type, a stretch of one output row at a time.
 *
 * A stretch of output (4 KiB of f32) stays in L1 as accumulators. For each line of the mask along the row, the stretch of input that it meets is used
 * where it lies, or gathered into scratch with the boundary applied and the type converted; then groups of vectors take all taps of the line while
 * they sit in registers. Taps come in the mask's order for every output, whatever the grouping. */
#include "core/parallel.h"
#include "ops/correlate/gather.h"
#include "simd/here.h"
#include "simd/pairs.h"

enum { STRETCH = TESS_CORRELATE_STRETCH, LINE = TESS_CORRELATE_LINE };

typedef struct job {
    const tess_correlate_problem *problem;
    const tess_correlate_pass *pass;
    const char *in;
    char *out, *scratch;
    size_t scratch_each;
    tess_correlate_source source;
    tess_correlate_outer outer;
    tess_row_storer store;
    int64_t stretches, length, out_stride; /* a row's stretches, elements, bytes from element to element */
} job;

/* ---- acc[i] = fma(x[i + j * step], w[j], acc[i]) for all taps j in order ---- */

static void line_f32(float *acc, const char *x, const float *w, int64_t taps, int64_t step, int64_t n) {
    enum { L = TESS_F32_LANES };
    int64_t i = 0;
    for (; i + 8 * L <= n; i += 8 * L) {
        v_f32 a[8];
        for (int k = 0; k < 8; k++)
            a[k] = v_f32_load(acc + i + k * L);
        const char *p = x + 4 * i;
        for (int64_t j = 0; j < taps; j++, p += 4 * step) {
            v_f32 wj = v_f32_all(w[j]);
            for (int k = 0; k < 8; k++)
                a[k] = v_f32_fma(v_f32_load(p + 4 * k * L), wj, a[k]);
        }
        for (int k = 0; k < 8; k++)
            v_f32_store(acc + i + k * L, a[k]);
    }
    for (; i + L <= n; i += L) {
        v_f32 a = v_f32_load(acc + i);
        const char *p = x + 4 * i;
        for (int64_t j = 0; j < taps; j++, p += 4 * step)
            a = v_f32_fma(v_f32_load(p), v_f32_all(w[j]), a);
        v_f32_store(acc + i, a);
    }
    for (; i < n; i++)
        for (int64_t j = 0; j < taps; j++) {
            float v;
            memcpy(&v, x + 4 * (i + j * step), 4);
            acc[i] = fmaf(v, w[j], acc[i]);
        }
}

static void line_f64(double *acc, const char *x, const double *w, int64_t taps, int64_t step, int64_t n) {
    enum { L = TESS_F64_LANES };
    int64_t i = 0;
    for (; i + 8 * L <= n; i += 8 * L) {
        v_f64 a[8];
        for (int k = 0; k < 8; k++)
            a[k] = v_f64_load(acc + i + k * L);
        const char *p = x + 8 * i;
        for (int64_t j = 0; j < taps; j++, p += 8 * step) {
            v_f64 wj = v_f64_all(w[j]);
            for (int k = 0; k < 8; k++)
                a[k] = v_f64_fma(v_f64_load(p + 8 * k * L), wj, a[k]);
        }
        for (int k = 0; k < 8; k++)
            v_f64_store(acc + i + k * L, a[k]);
    }
    for (; i + L <= n; i += L) {
        v_f64 a = v_f64_load(acc + i);
        const char *p = x + 8 * i;
        for (int64_t j = 0; j < taps; j++, p += 8 * step)
            a = v_f64_fma(v_f64_load(p), v_f64_all(w[j]), a);
        v_f64_store(acc + i, a);
    }
    for (; i < n; i++)
        for (int64_t j = 0; j < taps; j++) {
            double v;
            memcpy(&v, x + 8 * (i + j * step), 8);
            acc[i] = fma(v, w[j], acc[i]);
        }
}

static void line_u64(uint64_t *restrict acc, const char *restrict x, const uint64_t *restrict w, int64_t taps, int64_t step, int64_t n) {
    for (int64_t j = 0; j < taps; j++) {
        const char *p = x + 8 * j * step;
        uint64_t wj = w[j];
        for (int64_t i = 0; i < n; i++) {
            uint64_t v;
            memcpy(&v, p + 8 * i, 8);
            acc[i] += v * wj;
        }
    }
}

/* Complex elements, pairs everywhere (simd/pairs.h), K vectors at once; then one after the other, the last of them with what is left. */
#define COMPLEX_LINE(name, vector, real, LANES)                                                                                             \
    TESS_INLINE int64_t name##_of(const int K, real *acc, const char *x, const real *w, int64_t taps, int64_t step, int64_t i, int64_t n) { \
        enum { PAIR = 2 * (int)sizeof(real), L = LANES / 2 };                                                                               \
        for (; i + K * L <= n; i += K * L) {                                                                                                \
            vector a[4];                                                                                                                    \
            for (int k = 0; k < K; k++)                                                                                                     \
                a[k] = vector##_load(acc + 2 * (i + k * L));                                                                                \
            const char *p = x + PAIR * i;                                                                                                   \
            for (int64_t j = 0; j < taps; j++, p += PAIR * step) {                                                                          \
                const vector##_weight wj = vector##_weight_of(w + 2 * j);                                                                   \
                for (int k = 0; k < K; k++)                                                                                                 \
                    a[k] = vector##_fma_pairs(vector##_load(p + PAIR * k * L), &wj, a[k]);                                                  \
            }                                                                                                                               \
            for (int k = 0; k < K; k++)                                                                                                     \
                vector##_store(acc + 2 * (i + k * L), a[k]);                                                                                \
        }                                                                                                                                   \
        return i;                                                                                                                           \
    }                                                                                                                                       \
    static void name(real *acc, const char *x, const real *w, int64_t taps, int64_t step, int64_t n) {                                      \
        enum { PAIR = 2 * (int)sizeof(real) };                                                                                              \
        const int64_t i = name##_of(1, acc, x, w, taps, step, name##_of(4, acc, x, w, taps, step, 0, n), n), some = 2 * (n - i);            \
        if (some == 0)                                                                                                                      \
            return;                                                                                                                         \
        vector a = vector##_load_first(acc + 2 * i, some);                                                                                  \
        const char *p = x + PAIR * i;                                                                                                       \
        for (int64_t j = 0; j < taps; j++, p += PAIR * step) {                                                                              \
            const vector##_weight wj = vector##_weight_of(w + 2 * j);                                                                       \
            a = vector##_fma_pairs(vector##_load_first(p, some), &wj, a);                                                                   \
        }                                                                                                                                   \
        memcpy(acc + 2 * i, &a, (size_t)some * sizeof(real));                                                                               \
    }
COMPLEX_LINE(line_c64, v_f32, float, TESS_F32_LANES)
COMPLEX_LINE(line_c128, v_f64, double, TESS_F64_LANES)

static void line(tess_type work, void *acc, const char *x, const void *w, int64_t taps, int64_t step, int64_t n) {
    switch (work) {
    case tess_f32: line_f32(acc, x, w, taps, step, n); break;
    case tess_f64: line_f64(acc, x, w, taps, step, n); break;
    case tess_c64: line_c64(acc, x, w, taps, step, n); break;
    case tess_c128: line_c128(acc, x, w, taps, step, n); break;
    default: line_u64(acc, x, w, taps, step, n); break;
    }
}

/* ---- one stretch ---- */

static void one_stretch(const job *j, char *scratch, const int64_t *at, char *out, int64_t first, int64_t n) {
    const tess_correlate_pass *pass = j->pass;
    const int64_t width = j->source.width, group = pass->group;
    const tess_correlate_axis *row = &pass->axis[pass->row];
    char *acc = scratch, *room = scratch + STRETCH * width;
    const char *w = pass->weights;
    int64_t tap[TESS_MAX_NDIM] = {0}, fixed = 0; /* taps by axis; the offset of the axes without a mask */
    int walked = pass->masked - (pass->row_last && row->width > 1);
    const int64_t taps = pass->row_last ? row->width : 1;
    memset(acc, 0, (size_t)(n * width));
    for (int k = 0; k < j->outer.ndim; k++)
        if (pass->axis[j->outer.axis[k]].width == 1)
            fixed += at[j->outer.axis[k]] * pass->axis[j->outer.axis[k]].in_stride;
    for (;;) {
        const char *from = j->in + fixed;
        for (int k = 0; k < walked && from; k++) {
            int d = pass->order[k];
            if (d == pass->row)
                continue;
            const tess_correlate_axis *a = &pass->axis[d];
            int64_t i = tess_boundary_index(j->source.boundary, a->n, at[d] - a->before + tap[d]);
            from = i < 0 ? NULL : from + i * a->in_stride;
        }
        for (int64_t t = 0; t < taps; t += LINE) {
            int64_t some = tess_min64(taps - t, LINE), start = first + (tap[pass->row] + t - row->before) * group;
            /* Taps of groups further apart than a line is long are gathered one at a time. */
            int64_t at_once = some * group <= LINE ? some : tess_max64(LINE / group, 1);
            for (int64_t s = 0; s < some; s += at_once) {
                int64_t now = tess_min64(some - s, at_once);
                const char *x = tess_correlate_stretch(&j->source, room, from, start + s * group, n + (now - 1) * group);
                line(j->problem->work, acc, x, w, now, group, n);
                w += now * width;
            }
        }
        int k = walked - 1;
        for (; k >= 0 && ++tap[pass->order[k]] == pass->axis[pass->order[k]].width; k--)
            tap[pass->order[k]] = 0;
        if (k < 0)
            break;
    }
    j->store(out, j->out_stride, acc, n);
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    const job *j = argument;
    char *scratch = j->scratch + (size_t)worker * j->scratch_each;
    int64_t at[TESS_MAX_NDIM] = {0}, out_stride[1][TESS_MAX_NDIM];
    tess_index index;
    memcpy(out_stride, j->outer.out_stride, sizeof out_stride);
    tess_index_start(&index, j->outer.ndim, j->outer.m, 1, out_stride, begin / j->stretches);
    int64_t stretch = begin % j->stretches;
    for (int64_t t = begin; t < end; t++) {
        for (int k = 0; k < j->outer.ndim; k++)
            at[j->outer.axis[k]] = index.at[k];
        int64_t first = stretch * STRETCH, n = tess_min64(j->length - first, STRETCH);
        one_stretch(j, scratch, at, j->out + index.offset[0] + first * j->out_stride, first, n);
        if (++stretch == j->stretches) {
            stretch = 0;
            tess_index_next(&index);
        }
    }
}

tess_status TESS_ISA_NAME(tess_correlate_rows_pass)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                    const char *in, char *out, char *scratch);
tess_status TESS_ISA_NAME(tess_correlate_rows_pass)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                    const char *in, char *out, char *scratch) {
    job j = {.problem = problem, .pass = pass, .in = in, .out = out, .scratch = scratch};
    const tess_correlate_axis *row = &pass->axis[pass->row];
    if (pass->outputs == 0)
        return TESS_OK;
    tess_correlate_source_of(&j.source, problem, pass, run->slot);
    tess_correlate_outer_of(&j.outer, pass, -1, -1);
    j.store = tess_storer(run->slot, problem->work, pass->to);
    j.scratch_each = tess_correlate_rows_scratch(problem, pass, 1);
    j.length = row->m * pass->group;
    j.out_stride = pass->group > 1 ? (int64_t)tess_type_size(pass->to) : row->out_stride;
    j.stretches = tess_ceil_div(j.length, STRETCH);
    if (run->threads == 0) {
        task(&j, 0, j.outer.rows * j.stretches, 0);
        return TESS_OK;
    }
    int64_t cost = tess_min64(j.length, STRETCH) * tess_min64(pass->taps, 1 << 20); /* of one task; a piece should take some 20 microseconds */
    return tess_parallel(run->context, run->threads, j.outer.rows * j.stretches, tess_max64(1, 65536 / cost), task, &j);
}

tess_status TESS_ISA_NAME(tess_correlate_rows)(const tess_problem *base, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_rows)(const tess_problem *base, const tess_run *run) {
    const tess_correlate_problem *problem = (const tess_correlate_problem *)base;
    return TESS_ISA_NAME(tess_correlate_rows_pass)(problem, problem->direct, run, tess_correlate_input(problem, run), run->out, run->workspace);
}

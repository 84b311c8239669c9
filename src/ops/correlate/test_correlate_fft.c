/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_fft.c - that correlations by Fourier transforms keep the stated error bound, give the bits of fft_reference.c on every instruction set
 * and thread count whatever the layout, keep what is not finite within its pair of tiles, allocate nothing, and run when and only when the header
 * says. */
#include "correlate_contexts.h"
#include "hostile.h"

#include <math.h>

#include "ops/correlate/fft.h"

static int64_t out_size(tess_extent extent, int64_t n, int64_t width) {
    return extent == TESS_EXTENT_SAME ? n : extent == TESS_EXTENT_FULL ? n + width - 1 : n >= width ? n - width + 1 : 0;
}

typedef struct sample {
    int ndim, naxes, axes[8];
    int64_t shape[8], out_shape[8], mask_shape[8], origin[8];
    hostile_array in, mask, out;
    tess_correlate_options options;
} sample;

static tess_status call(const sample *s, tess_context *context, const DLTensor *out, const char *strategy) {
    tess_correlate_options options = s->options;
    options.call.strategy = strategy;
    return options.flip ? tess_convolve(context, &s->in.tensor, &s->mask.tensor, out, &options)
                        : tess_correlate(context, &s->in.tensor, &s->mask.tensor, out, &options);
}

static void drop(sample *s) {
    hostile_free(&s->in);
    hostile_free(&s->mask);
    hostile_free(&s->out);
}

/* Arrays of the sample's shapes, filled. */
static void make(sample *s, uint64_t *random, tess_type from, tess_type weights, tess_type to, int layout) {
    s->options.struct_size = sizeof s->options;
    s->options.axes = s->axes;
    s->options.naxes = s->naxes;
    s->options.origin = s->origin;
    memcpy(s->out_shape, s->shape, sizeof s->out_shape);
    for (int k = 0; k < s->naxes; k++)
        s->out_shape[s->axes[k]] = out_size(s->options.extent, s->shape[s->axes[k]], s->mask_shape[k]);
    hostile_make(&s->in, random, from, s->ndim, s->shape, layout);
    hostile_make(&s->mask, random, weights, s->naxes, s->mask_shape, layout);
    hostile_make(&s->out, random, to, s->ndim, s->out_shape, layout);
    hostile_fill(&s->in, random, 1);
    hostile_fill(&s->mask, random, 1);
}

/* correlate/fft on every instruction set and some numbers of threads against the reference, bit for bit. */
static int compare(const sample *s, uint64_t *random, int layout, int counts) {
    int ran = 0;
    assert_tess_ok(call(s, contexts[0][0], &s->out.tensor, "correlate/reference"));
    assert_true(hostile_intact(&s->out));
    for (int i = 0; i < ISAS; i++)
        for (int t = 0; t < counts; t++) {
            hostile_array out;
            if (!contexts[i][t])
                continue;
            hostile_make(&out, random, tess_type_of(s->out.tensor.dtype), s->ndim, s->out_shape, layout);
            tess_status status = call(s, contexts[i][t], &out.tensor, "correlate/fft");
            if (status == TESS_OK) {
                const int64_t at = hostile_differs(&out, &s->out);
                if (at >= 0)
                    fail_msg("isa %d, %d threads: element %lld differs", isas[i], thread_counts[t], (long long)at);
                assert_true(hostile_intact(&out));
                ran++;
            } else {
                assert_int_equal(status, TESS_ERR_STRATEGY);
            }
            hostile_free(&out);
        }
    return ran;
}

/* Any problem: small arrays with masks up to several tiles long, every boundary, extent, origin, order of axes, type. */
static void any_problem(void **state) {
    (void)state;
    uint64_t random = 31;
    int ran = 0;
    for (int i = 0; i < 150; i++) {
        sample s = {.ndim = (int)hostile_between(&random, 1, 4)};
        const int layout = (int)hostile_between(&random, 0, HOSTILE_LAYOUTS - 1);
        const bool line = s.ndim == 1 || hostile_between(&random, 0, 3) == 0;
        hostile_shape(&random, s.ndim, s.shape, 3000);
        for (int d = 0; d < s.ndim; d++)
            s.axes[d] = d;
        hostile_shuffle(&random, s.ndim, s.axes);
        s.naxes = line ? 1 : (int)hostile_between(&random, 1, s.ndim);
        s.options.boundary = (tess_boundary)hostile_between(&random, 0, TESS_BOUNDARY_WRAP);
        s.options.extent = (tess_extent)hostile_between(&random, 0, TESS_EXTENT_FULL);
        s.options.constant = 1.5;
        s.options.flip = hostile_between(&random, 0, 1);
        s.options.accuracy = TESS_ACCURACY_FFT;
        for (int k = 0; k < s.naxes; k++) {
            s.mask_shape[k] = hostile_between(&random, 1, s.naxes == 1 ? 300 : s.naxes == 2 ? 40 : 5);
            if (s.options.extent == TESS_EXTENT_SAME)
                s.origin[k] = hostile_between(&random, -(s.mask_shape[k] / 2), (s.mask_shape[k] - 1) / 2);
            if (s.shape[s.axes[k]] == 0 && s.options.extent == TESS_EXTENT_FULL)
                s.options.boundary = TESS_BOUNDARY_ZERO;
        }
        static const tess_type types[] = {tess_f32, tess_f64, tess_f32, tess_u8, tess_f16, tess_i16};
        const tess_type from = types[hostile_between(&random, 0, 5)], to = types[hostile_between(&random, 0, 5)];
        make(&s, &random, from, hostile_between(&random, 0, 4) ? tess_f32 : tess_f64, to, layout);
        ran += compare(&s, &random, layout, i % 10 == 0 ? THREADS : 1) > 0;
        drop(&s);
    }
    assert_true(ran > 100); /* of 150, however many instruction sets there are */
}

/* Sizes at which the tiles are those of large arrays, with batches for several threads, in place and past the caches. */
static void large_arrays(void **state) {
    (void)state;
    static const struct {
        int ndim, naxes;
        int64_t shape[3], mask[3];
        tess_type type;
    } cases[] = {
        {1, 1, {300007}, {129}, tess_f32},           {1, 1, {400000}, {1500}, tess_f64},     {1, 1, {150000}, {20000}, tess_f32},
        {2, 2, {600, 501}, {31, 31}, tess_f32},      {2, 2, {300, 401}, {90, 17}, tess_f64}, {2, 1, {90, 2000}, {257}, tess_f32},
        {3, 3, {20, 70, 64}, {3, 20, 21}, tess_f32},
    };
    uint64_t random = 32;
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        sample s = {.ndim = cases[i].ndim, .naxes = cases[i].naxes};
        memcpy(s.shape, cases[i].shape, sizeof cases[i].shape);
        memcpy(s.mask_shape, cases[i].mask, sizeof cases[i].mask);
        for (int k = 0; k < s.naxes; k++)
            s.axes[k] = s.ndim - s.naxes + k;
        s.options.boundary = TESS_BOUNDARY_MIRROR;
        s.options.accuracy = TESS_ACCURACY_FFT;
        make(&s, &random, cases[i].type, cases[i].type, cases[i].type, HOSTILE_COMPACT);
        assert_true(compare(&s, &random, HOSTILE_COMPACT, 2) > 0);
        drop(&s);
    }
}

static const tess_correlate_fft *chosen_tiles(const sample *s, tess_plan **plan);

/* Tiles that are transformed a pair at a time: lines and planes, one piece and several, boundaries, types and layouts that have to be gathered. */
static void single_pairs(void **state) {
    (void)state;
    static const struct {
        int ndim, naxes;
        int64_t shape[3], mask[3];
        tess_type from, type, to;
        int layout;
        tess_extent extent;
    } cases[] = {
        {2, 2, {500, 460}, {200, 180}, tess_f32, tess_f32, tess_f32, HOSTILE_COMPACT, TESS_EXTENT_SAME},
        {2, 2, {700, 330}, {150, 131}, tess_f64, tess_f64, tess_f64, HOSTILE_COMPACT, TESS_EXTENT_FULL},
        {2, 2, {300, 420}, {120, 150}, tess_u8, tess_f32, tess_f16, HOSTILE_COMPACT, TESS_EXTENT_SAME},
        {2, 2, {480, 500}, {101, 160}, tess_f32, tess_f32, tess_f32, HOSTILE_STRIDED, TESS_EXTENT_VALID},
        {2, 2, {200, 190}, {900, 800}, tess_f32, tess_f32, tess_f32, HOSTILE_COMPACT, TESS_EXTENT_SAME},
        {3, 3, {4, 300, 280}, {2, 120, 110}, tess_f32, tess_f32, tess_f32, HOSTILE_COMPACT, TESS_EXTENT_SAME},
        {1, 1, {400000}, {90000}, tess_f32, tess_f32, tess_f32, HOSTILE_COMPACT, TESS_EXTENT_SAME},
        {1, 1, {150001}, {90000}, tess_f64, tess_f64, tess_f64, HOSTILE_STRIDED, TESS_EXTENT_FULL},
        {2, 1, {2, 350000}, {70000}, tess_i16, tess_f32, tess_f32, HOSTILE_COMPACT, TESS_EXTENT_SAME},
    };
    uint64_t random = 39;
    int several = 0;
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        if (hostile_spared(i, 4))
            continue;
        sample s = {.ndim = cases[i].ndim, .naxes = cases[i].naxes};
        memcpy(s.shape, cases[i].shape, sizeof cases[i].shape);
        memcpy(s.mask_shape, cases[i].mask, sizeof cases[i].mask);
        for (int k = 0; k < s.naxes; k++)
            s.axes[k] = s.ndim - s.naxes + k;
        s.options.boundary = (tess_boundary)(i % 6);
        s.options.constant = 1.5;
        s.options.extent = cases[i].extent;
        s.options.flip = i % 2;
        s.options.accuracy = TESS_ACCURACY_FFT;
        make(&s, &random, cases[i].from, cases[i].type, cases[i].to, cases[i].layout);
        tess_plan *plan;
        const tess_correlate_fft *fft = chosen_tiles(&s, &plan);
        if (!tess_correlate_fft_single(fft))
            fail_msg("case %d: tiles of %lld x %lld", i, (long long)fft->a, (long long)fft->b);
        several += fft->pieces > 1;
        tess_plan_free(plan);
        assert_true(compare(&s, &random, cases[i].layout, 3) > 0);
        drop(&s);
    }
    assert_true(several >= (TESS_SANITIZED ? 1 : 2));
}

/* The same values in another layout: the same bits. */
static void layouts(void **state) {
    (void)state;
    uint64_t random = 33;
    for (int i = 0; i < 20; i++) {
        sample s = {.ndim = 3, .naxes = 1 + i % 2, .shape = {7, 30, 33}, .axes = {i % 3, (i + 1) % 3}, .mask_shape = {9, 8}};
        s.options.accuracy = TESS_ACCURACY_FFT;
        s.options.boundary = (tess_boundary)(i % 6);
        make(&s, &random, tess_f32, tess_f32, tess_f32, HOSTILE_COMPACT);
        assert_tess_ok(call(&s, NULL, &s.out.tensor, NULL));
        hostile_array in = s.in, out;
        hostile_make(&s.in, &random, tess_f32, 3, s.shape, HOSTILE_STRIDED);
        in.tensor.shape = in.shape; /* the copy points into itself again */
        in.tensor.strides = in.strides;
        hostile_copy(&s.in, &in);
        hostile_make(&out, &random, tess_f32, 3, s.out_shape, HOSTILE_STRIDED);
        assert_tess_ok(call(&s, NULL, &out.tensor, NULL));
        assert_int_equal(hostile_differs(&out, &s.out), -1);
        hostile_free(&in);
        hostile_free(&out);
        drop(&s);
    }
}

/* ---- error ---- */

static const tess_correlate_fft *chosen_tiles(const sample *s, tess_plan **plan) {
    const DLTensor *mask = &s->mask.tensor;
    assert_tess_ok(tess_plan_correlate(plan, NULL, &s->in.tensor, &mask, 1, &s->out.tensor, &s->options));
    return ((const tess_correlate_problem *)(*plan)->problem)->fft;
}

/* One axis, f32 or f64, compact. Errors of every pair of tiles (of every so many outputs) against sums in long double (f32: double), in the 2-norm, which
 * bounds every single error:
 *     (c log2 N + 2 P + 3) u * sum|w| * sqrt(sum x^2), x what the pair of tiles meets, c = 6 for f32 and 11 for f64 (docs/numerics.md). */
static void check_bound(bool f32, int64_t n, int64_t taps, int kind, int64_t every, double least) {
    uint64_t random = 34;
    sample s = {.ndim = 1, .naxes = 1, .shape = {n}, .mask_shape = {taps}};
    const tess_type type = f32 ? tess_f32 : tess_f64;
    s.options.accuracy = TESS_ACCURACY_FFT;
    make(&s, &random, type, type, type, HOSTILE_COMPACT);
    double norm1 = 0, worst = 0;
    for (int64_t i = 0; i < n; i++) { /* noise; all alike; a step of many magnitudes; one spike */
        double x = kind == 0   ? (double)(hostile_random(&random) >> 11) * 0x1p-53 - 0.5
                   : kind == 1 ? 0.7
                   : kind == 2 ? (i > n / 2 ? 1e6 : 1e-6)
                               : i == n / 3;
        char *to = hostile_element(&s.in, i);
        f32 ? memcpy(to, &(float){(float)x}, 4) : memcpy(to, &x, 8);
    }
    for (int64_t j = 0; j < taps; j++) {
        double w = kind == 0 ? (double)(hostile_random(&random) >> 11) * 0x1p-53 - 0.5 : 1.0 / (double)taps;
        char *to = hostile_element(&s.mask, j);
        f32 ? memcpy(to, &(float){(float)w}, 4) : memcpy(to, &w, 8);
        norm1 += fabs(w);
    }
    tess_plan *plan;
    const tess_correlate_fft *fft = chosen_tiles(&s, &plan);
    assert_tess_ok(tess_execute(plan, hostile_first(&s.in), NULL, hostile_first(&s.out), NULL));
    const double factor = ((f32 ? 6 : 11) * log2((double)(fft->a * fft->b)) + 2 * (double)fft->pieces + 3) * (f32 ? 0x1p-24 : 0x1p-53);
    for (int64_t first = 0; first < n; first += 2 * fft->outputs_x) {
        long double error2 = 0, norm2 = 0;
        const int64_t last = first + 2 * fft->outputs_x < n ? first + 2 * fft->outputs_x : n;
        for (int64_t i = first - taps / 2 - 1; i < last + taps; i++)
            if (i >= 0 && i < n) {
                const double x = f32 ? *(float *)(void *)hostile_element(&s.in, i) : *(double *)(void *)hostile_element(&s.in, i);
                norm2 += x * x * 2; /* an element that both tiles meet counts twice; here all do, which only widens the bound */
            }
        for (int64_t i = first; i < last; i += every) {
            long double sum = 0;
            for (int64_t j = 0; j < taps; j++) {
                const int64_t at = i - taps / 2 + j;
                if (at < 0 || at >= n)
                    continue;
                const char *x = hostile_element(&s.in, at), *w = hostile_element(&s.mask, j);
                if (f32)
                    sum += (long double)*(const float *)(const void *)x * *(const float *)(const void *)w;
                else
                    sum += (long double)*(const double *)(const void *)x * *(const double *)(const void *)w;
            }
            const char *got = hostile_element(&s.out, i);
            const long double off = (f32 ? *(const float *)(const void *)got : *(const double *)(const void *)got) - sum;
            error2 += off * off;
        }
        const double bound = factor * norm1 * (double)sqrtl(norm2), error = (double)sqrtl(error2);
        if (error > bound)
            fail_msg("f32 %d, n %lld, %lld taps, kind %d: error %g at %lld, bound %g", f32, (long long)n, (long long)taps, kind, error,
                     (long long)first, bound);
        worst = bound > 0 && error / bound > worst ? error / bound : worst;
    }
    assert_true(worst > least); /* the bound says something: errors are seen */
    tess_plan_free(plan);
    drop(&s);
}

static void error_bound(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++)
        for (int f32 = 0; f32 < 2; f32++) {
            check_bound(f32, 6000, 65, kind, 1, 1e-6);
            check_bound(f32, 20000, 700, kind, 1, 1e-7);
        }
    check_bound(true, 3000, 9000, 0, 1, 1e-8); /* a mask in several pieces */
    for (int f32 = 0; f32 < 2; f32++)          /* tiles of 2^17 points */
        check_bound(f32, 400000, 90000, 0, 3001, 1e-8);
}

/* ---- what is not finite ---- */

static void not_finite(void **state) {
    (void)state;
    uint64_t random = 35;
    sample s = {.ndim = 1, .naxes = 1, .shape = {20000}, .mask_shape = {101}};
    s.options.accuracy = TESS_ACCURACY_FFT;
    make(&s, &random, tess_f32, tess_f32, tess_f32, HOSTILE_COMPACT);
    tess_plan *plan;
    const tess_correlate_fft *fft = chosen_tiles(&s, &plan);
    assert_true(fft->tiles_x > 8);
    const int64_t pair = 2 * fft->outputs_x, at = 2 * pair + pair / 3; /* far enough inside that only the third pair of tiles meets it */
    float *before = malloc(20000 * 4), value = NAN;
    assert_tess_ok(tess_execute(plan, hostile_first(&s.in), NULL, hostile_first(&s.out), NULL));
    memcpy(before, hostile_first(&s.out), 20000 * 4);
    for (int k = 0; k < 2; k++, value = -INFINITY) {
        memcpy(hostile_element(&s.in, at), &value, 4);
        assert_tess_ok(tess_execute(plan, hostile_first(&s.in), NULL, hostile_first(&s.out), NULL));
        for (int64_t i = 0; i < 20000; i++) {
            uint32_t bits;
            memcpy(&bits, hostile_element(&s.out, i), 4);
            if (i / pair == 2)
                assert_int_equal(bits, 0x7fc00000); /* all of the pair, not only the 101 outputs */
            else
                assert_memory_equal(&bits, &before[i], 4);
        }
    }
    free(before);
    tess_plan_free(plan);
    /* a weight that is not finite: the direct sum */
    value = INFINITY;
    memcpy(hostile_element(&s.mask, 5), &value, 4);
    assert_null(chosen_tiles(&s, &plan));
    tess_plan_free(plan);
    drop(&s);
}

/* ---- allocations ---- */

static int allocations;
static void *counted(void *user, size_t size, size_t alignment) {
    (void)user;
    allocations++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
static void released(void *user, void *memory, size_t size) {
    (void)user, (void)size;
    free(memory);
}

static void allocates_nothing(void **state) {
    (void)state;
    uint64_t random = 36;
    tess_context *context;
    assert_tess_ok(tess_open(
        &context, &(tess_context_options){.struct_size = sizeof(tess_context_options), .threads = 1, .allocate = counted, .release = released}));
    sample s = {.ndim = 2, .naxes = 2, .shape = {150, 170}, .axes = {0, 1}, .mask_shape = {20, 21}};
    s.options.accuracy = TESS_ACCURACY_FFT;
    make(&s, &random, tess_f32, tess_f32, tess_f32, HOSTILE_COMPACT);
    const DLTensor *mask = &s.mask.tensor;
    tess_plan *plan;
    assert_tess_ok(tess_plan_correlate(&plan, context, &s.in.tensor, &mask, 1, &s.out.tensor, &s.options));
    const size_t size = tess_plan_workspace(plan);
    void *workspace = aligned_alloc(64, (size + 63) / 64 * 64);
    allocations = 0;
    assert_tess_ok(
        tess_execute(plan, hostile_first(&s.in), NULL, hostile_first(&s.out), &(tess_call){.workspace = workspace, .workspace_size = size}));
    assert_int_equal(allocations, 0);
    free(workspace);
    tess_plan_free(plan);
    drop(&s);
    tess_close(context);
}

/* ---- selection ---- */

static const char *row_for(tess_context *context, tess_accuracy accuracy, tess_type type, tess_type weights, int ndim, int64_t n, int64_t width,
                           bool rank1) {
    static tess_report report;
    int64_t shape[2] = {ndim == 2 ? n : 1, n}, mask_shape[2] = {ndim == 2 ? width : 1, width};
    const int64_t count = shape[0] * shape[1], taps = mask_shape[0] * mask_shape[1];
    char *in = calloc((size_t)count, tess_type_size(type)), *out = calloc((size_t)count, tess_type_size(type));
    char *mask = calloc((size_t)taps, tess_type_size(weights));
    uint64_t random = 37;
    if (weights == tess_f32)
        for (int64_t i = 0; i < taps; i++)
            ((float *)(void *)mask)[i] = rank1 ? 1 : (float)hostile_between(&random, 1, 1000);
    DLTensor i = tess_view(in, type, 2, shape, NULL), o = tess_view(out, type, 2, shape, NULL), m = tess_view(mask, weights, 2, mask_shape, NULL);
    report.struct_size = sizeof report;
    tess_correlate_options options = {.struct_size = sizeof options, .accuracy = accuracy, .call.report = &report};
    assert_tess_ok(tess_correlate(context, &i, &m, &o, &options));
    free(in);
    free(out);
    free(mask);
    return report.strategy;
}

static void selection(void **state) {
    (void)state;
    for (int i = 0; i < ISAS; i++) { /* the same on every instruction set and for any number of threads */
        tess_context *c = contexts[i][i % THREADS];
        if (!c)
            continue;
        assert_string_equal(row_for(c, TESS_ACCURACY_DIRECT, tess_f32, tess_f32, 1, 60000, 300, false), "correlate/window");
        assert_string_equal(row_for(c, TESS_ACCURACY_FAST, tess_f32, tess_f32, 1, 60000, 31, false), "correlate/window");
        assert_string_equal(row_for(c, TESS_ACCURACY_FAST, tess_f32, tess_f32, 1, 60000, 300, false), "correlate/fft");
        assert_string_equal(row_for(c, TESS_ACCURACY_FAST, tess_f64, tess_f32, 1, 60000, 300, false), "correlate/fft");
        assert_string_equal(row_for(c, TESS_ACCURACY_FAST, tess_f32, tess_f32, 1, 1000, 100, false), "correlate/window"); /* tables would not pay */
        assert_string_equal(row_for(c, TESS_ACCURACY_FAST, tess_f32, tess_f32, 2, 400, 7, false), "correlate/window");
        assert_string_equal(row_for(c, TESS_ACCURACY_FAST, tess_f32, tess_f32, 2, 400, 31, false), "correlate/fft");
        assert_string_equal(row_for(c, TESS_ACCURACY_FAST, tess_f32, tess_f32, 2, 400, 31, true), "correlate/separable");
        assert_string_equal(row_for(c, TESS_ACCURACY_FFT, tess_f32, tess_f32, 2, 400, 31, true), "correlate/fft");
        assert_string_equal(row_for(c, TESS_ACCURACY_FFT, tess_f32, tess_f32, 1, 1000, 2, false), "correlate/fft");
        assert_string_not_equal(row_for(c, TESS_ACCURACY_FFT, tess_f32, tess_f32, 1, 1000, 1, false), "correlate/fft");
        assert_string_not_equal(row_for(c, TESS_ACCURACY_FFT, tess_c64, tess_f32, 1, 1000, 9, false), "correlate/fft");
        assert_string_not_equal(row_for(c, TESS_ACCURACY_FFT, tess_u8, tess_i8, 1, 1000, 9, false), "correlate/fft");
    }
    uint64_t random = 38;
    sample s = {.ndim = 1, .naxes = 1, .shape = {500}, .mask_shape = {40}};
    make(&s, &random, tess_f32, tess_f32, tess_f32, HOSTILE_COMPACT);
    assert_tess_fails(call(&s, NULL, &s.out.tensor, "correlate/fft"), TESS_ERR_STRATEGY);
    s.options.accuracy = TESS_ACCURACY_FFT;
    assert_tess_fails(call(&s, NULL, &s.out.tensor, "correlate/window"), TESS_ERR_STRATEGY);
    assert_tess_fails(call(&s, NULL, &s.out.tensor, "correlate/rows"), TESS_ERR_STRATEGY);
    s.options.accuracy = (tess_accuracy)(TESS_ACCURACY_FFT + 1);
    assert_tess_fails(call(&s, NULL, &s.out.tensor, NULL), TESS_ERR_ARGUMENT);
    drop(&s);
}

/* What FAST costs by its own count rises gently with the mask: no size costs over a fifth more than one a twelfth larger. Transforms begin near 75 taps, 11 x 11 in
 * two dimensions, as they were measured to (notes-cpu.md). No choice costs less than what is said to be the least. */
static void no_cliff(void **state) {
    (void)state;
    for (int ndim = 1; ndim <= 2; ndim++) {
        double before = 0;
        int64_t narrowest = INT64_MAX;
        for (int64_t width = ndim == 1 ? 65536 : 512; width >= 1; width = width * 11 / 12) {
            int64_t shape[2] = {ndim == 1 ? 1 : 8192, ndim == 1 ? 1 << 26 : 8192}, mask_shape[2] = {ndim == 1 ? 1 : width, width};
            float *mask = calloc((size_t)(mask_shape[0] * width), 4);
            for (int64_t i = 0; i < mask_shape[0] * width; i++)
                mask[i] = (float)(i * i % 97);
            DLTensor in = tess_view(NULL, tess_f32, 2, shape, NULL), m = tess_view(mask, tess_f32, 2, mask_shape, NULL);
            const DLTensor *masks = &m;
            tess_plan *plan;
            assert_tess_ok(
                tess_plan_correlate(&plan, NULL, &in, &masks, 1, &in,
                                    &(tess_correlate_options){.struct_size = sizeof(tess_correlate_options), .accuracy = TESS_ACCURACY_FAST}));
            const tess_correlate_problem *problem = (const tess_correlate_problem *)plan->problem;
            const double cost = problem->fft ? problem->fft->cost : tess_correlate_direct_cost(problem, NULL, 0);
            if (before > 0)
                assert_true(cost < 1.2 * before);
            tess_correlate_fft chosen = {0};
            if (width > 1)
                tess_correlate_fft_choose(&chosen, problem);
            assert_true(width == 1 || tess_correlate_fft_least_cost(problem) < chosen.cost);
            narrowest = problem->fft ? width : narrowest;
            assert_true(cost <= tess_correlate_direct_cost(problem, NULL, 0));
            before = cost;
            tess_plan_free(plan);
            free(mask);
        }
        assert_in_range(narrowest, ndim == 1 ? 70 : 10, ndim == 1 ? 80 : 11);
    }
}

int main(void) {
    setenv("TESSERA_WISDOM", "/dev/null", 1); /* the table's own choice is what is tested */
    unsetenv("TESSERA_STRATEGY");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_problem),       cmocka_unit_test(large_arrays), cmocka_unit_test(single_pairs),
        cmocka_unit_test(layouts),           cmocka_unit_test(error_bound),  cmocka_unit_test(not_finite),
        cmocka_unit_test(allocates_nothing), cmocka_unit_test(selection),    cmocka_unit_test(no_cliff),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

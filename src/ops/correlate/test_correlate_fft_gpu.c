/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_fft_gpu.c - proves: correlations by Fourier transforms on a GPU give the bytes of correlate/reference: every boundary, extent, origin, types in
 * and out, one to four axes in any order, tiles of every shape, masks in pieces, more pairs of tiles than the workspace holds; nothing else is written; the planner takes
 * them; what the rows predict is what the virtual GPU counts. On a card when there is one, else on the virtual GPU under its checkers. */
#include "gpu_counts.h"
#include "ops/correlate/fft.h"

static tess_context *context;
static tess_engine engine;

static const char *const rows[] = {NULL, "correlate/fft_tile", "correlate/fft_passes"};
static int ran[TESS_COUNT(rows)], compared[64]; /* compared: predictions, by row of the table */

typedef struct sample {
    int ndim, naxes, axes[8];
    int64_t shape[8], mask[8], origin[8];
    tess_type in, weights, out;
    int layout, fill;
    bool flip;
    tess_boundary boundary;
    tess_extent extent;
} sample;

static int64_t out_size(tess_extent extent, int64_t n, int64_t width) {
    return extent == TESS_EXTENT_SAME ? n : extent == TESS_EXTENT_FULL ? n + width - 1 : n >= width ? n - width + 1 : 0;
}

static tess_status call(const sample *s, const hostile_array *in, const hostile_array *mask, const DLTensor *out,
                        const tess_correlate_options *options) {
    return s->flip ? tess_convolve(context, &in->tensor, &mask->tensor, out, options)
                   : tess_correlate(context, &in->tensor, &mask->tensor, out, options);
}

static void compare(const sample *s, uint64_t *random) {
    static int number;
    if (hostile_spared(number++, 12))
        return;
    hostile_array in, mask, expected, out;
    int64_t out_shape[8];
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .axes = s->axes,
                                      .naxes = s->naxes,
                                      .boundary = s->boundary,
                                      .constant = 1.5,
                                      .extent = s->extent,
                                      .origin = s->extent == TESS_EXTENT_SAME ? s->origin : NULL,
                                      .flip = s->flip,
                                      .accuracy = TESS_ACCURACY_FFT};
    memcpy(out_shape, s->shape, sizeof out_shape);
    for (int k = 0; k < s->naxes; k++)
        out_shape[s->axes[k]] = out_size(s->extent, s->shape[s->axes[k]], s->mask[k]);
    hostile_make(&in, random, s->in, s->ndim, s->shape, s->layout);
    hostile_make(&mask, random, s->weights, s->naxes, s->mask, s->layout);
    hostile_fill(&in, random, s->fill);
    hostile_fill(&mask, random, 1);
    uint64_t again = *random;
    hostile_make(&expected, random, s->out, s->ndim, out_shape, s->layout);
    options.call.strategy = "correlate/reference";
    assert_tess_ok(call(s, &in, &mask, &expected.tensor, &options));
    options.call.engine = engine;
    for (int r = 0; r < TESS_COUNT(rows); r++) {
        uint64_t same = again; /* the layout of `expected` */
        hostile_make(&out, &same, s->out, s->ndim, out_shape, s->layout);
        options.call.strategy = rows[r];
        tess_status status = call(s, &in, &mask, &out.tensor, &options);
        if (status == TESS_OK)
            ran[r]++;
        else if (r == 0 || status != TESS_ERR_STRATEGY)
            fail_msg("%s: %s", rows[r] ? rows[r] : "choosing", tess_detail());
        if (status == TESS_OK && memcmp(out.block, expected.block, out.block_size))
            fail_msg(
                "%s differs at element %lld: %s to %s, %d axes, %lld x %lld ..., mask of %d axes, %lld x %lld ..., boundary %d, extent %d, layout %d",
                rows[r] ? rows[r] : "the chosen row", (long long)hostile_differs(&out, &expected), tess_type_name(s->in), tess_type_name(s->out),
                s->ndim, (long long)s->shape[0], (long long)s->shape[1], s->naxes, (long long)s->mask[0], (long long)s->mask[1], (int)s->boundary,
                (int)s->extent, s->layout);
        hostile_free(&out);
    }
    hostile_free(&expected);
    hostile_free(&mask);
    hostile_free(&in);
}

#define F32 .in = tess_f32, .weights = tess_f32, .out = tess_f32, .fill = 1
#define F64 .in = tess_f64, .weights = tess_f64, .out = tess_f64, .fill = 1

/* Lines: tiles from 256 points on, incomplete ones, ones that do not exist, at both ends of every boundary. */
static void lines(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int64_t cases[][2] = {{700, 9}, {3000, 65}, {9000, 400}, {20, 300}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = i % 2; boundary <= TESS_BOUNDARY_WRAP; boundary += i < 2 ? 1 : 2) {
            if (hostile_spared(i + boundary, 8))
                continue;
            sample s = {F32, .ndim = 1, .naxes = 1, .shape = {cases[i][0]}, .mask = {cases[i][1]}, .boundary = (tess_boundary)boundary};
            s.extent = (tess_extent)((i + boundary) % 3);
            s.layout = i % 4 == 3 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
            compare(&s, &random);
        }
}

static void images(void **state) {
    (void)state;
    uint64_t random = 2;
    static const int64_t cases[][4] = {
        {40, 50, 5, 5}, {150, 20, 33, 2}, {90, 140, 31, 31}, {600, 640, 63, 61}}; /* the last: tiles that lie inside, or in part */
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = i % 3; boundary <= TESS_BOUNDARY_WRAP; boundary += i < 2 ? 1 : i == 2 ? 3 : 6) {
            if (hostile_spared(boundary / 3, 4))
                continue;
            sample s = {F32, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {cases[i][0], cases[i][1]}, .mask = {cases[i][2], cases[i][3]}};
            s.boundary = (tess_boundary)boundary;
            s.extent = (tess_extent)((i + boundary) % 3);
            s.origin[0] = i % 2;
            s.flip = i % 2;
            compare(&s, &random);
        }
}

/* Real sums into complex outputs: real parts with gaps, and zeros. */
static void complex_outputs(void **state) {
    (void)state;
    uint64_t random = 5;
    const sample cases[] = {
        {F32, .ndim = 1, .naxes = 1, .shape = {3000}, .mask = {65}},
        {F64, .ndim = 1, .naxes = 1, .shape = {700}, .mask = {90}, .layout = HOSTILE_STRIDED, .boundary = TESS_BOUNDARY_WRAP},
        {F32, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {600, 640}, .mask = {63, 61}},
        {F32, .ndim = 3, .naxes = 2, .axes = {2, 0}, .shape = {40, 3, 50}, .mask = {9, 11}, .extent = TESS_EXTENT_FULL, .flip = true},
        {F32, .ndim = 2, .naxes = 1, .axes = {0}, .shape = {300, 2}, .mask = {301}, .extent = TESS_EXTENT_VALID}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int wide = 0; wide < 2; wide++) {
            if (hostile_spared(i + wide, 8))
                continue;
            sample s = cases[i];
            s.out = wide ? tess_c128 : tess_c64;
            compare(&s, &random);
        }
}

/* Any problem. */
static void any(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 8; i++) {
        static const tess_type types[] = {tess_f32, tess_f64, tess_f32, tess_u8, tess_f16, tess_i16, tess_bf16, tess_f64};
        sample s = {.ndim = (int)hostile_between(&random, 1, 4)};
        s.layout = (int)hostile_between(&random, 0, HOSTILE_LAYOUTS - 1);
        hostile_shape(&random, s.ndim, s.shape, 2000);
        for (int d = 0; d < s.ndim; d++)
            s.axes[d] = d;
        hostile_shuffle(&random, s.ndim, s.axes);
        s.naxes = s.ndim == 1 || hostile_between(&random, 0, 3) == 0 ? 1 : (int)hostile_between(&random, 1, s.ndim);
        s.boundary = (tess_boundary)hostile_between(&random, 0, TESS_BOUNDARY_WRAP);
        s.extent = (tess_extent)hostile_between(&random, 0, TESS_EXTENT_FULL);
        s.flip = hostile_between(&random, 0, 1);
        for (int k = 0; k < s.naxes; k++) {
            s.mask[k] = hostile_between(&random, k == 0 ? 2 : 1, s.naxes == 1 ? 300 : s.naxes == 2 ? 30 : 3);
            if (s.extent == TESS_EXTENT_SAME)
                s.origin[k] = hostile_between(&random, -(s.mask[k] / 2), (s.mask[k] - 1) / 2);
            if (s.shape[s.axes[k]] == 0 && s.extent == TESS_EXTENT_FULL)
                s.boundary = TESS_BOUNDARY_ZERO;
        }
        s.in = types[hostile_between(&random, 0, 7)];
        s.out = types[hostile_between(&random, 0, 7)];
        s.weights = hostile_between(&random, 0, 4) ? tess_f32 : tess_f64;
        s.fill = hostile_between(&random, 0, 5) ? 1 : 2; /* 2: infinities and NaNs too */
        compare(&s, &random);
    }
}

/* ---- tiles of large arrays on small ones ---- */

static void split(tess_fft_levels *levels, int64_t n) {
    levels->count = 0;
    for (int64_t rest = n; rest > 1; levels->m[levels->count++] = rest) {
        levels->radix[levels->count] = rest == 4 || rest == 16 ? 4 : 8;
        rest /= levels->radix[levels->count];
    }
}

/* Makes a plan's tiles others than fft.c would choose: grids of a rows of b points, pieces of ty by tx taps. */
static void reshape(tess_plan *plan, int64_t a, int64_t b, int64_t ty, int64_t tx) {
    tess_correlate_problem *p = (tess_correlate_problem *)plan->problem;
    const tess_correlate_mask *mask = &p->masks[0];
    tess_correlate_fft *fft = p->fft;
    tess_free(p->base.context, fft->tables, fft->size);
    tess_free(p->base.context, fft->device_tables, fft->device_size);
    fft->device_tables = NULL;
    fft->a = a;
    fft->b = b;
    fft->row_points = b + 1;
    split(&fft->column, a);
    split(&fft->row, b);
    fft->x = mask->axes[fft->mask_x = mask->ndim - 1];
    fft->plane = mask->ndim > 1;
    fft->y = fft->plane ? mask->axes[fft->mask_y = mask->ndim - 2] : -1;
    fft->taps_x = tx;
    fft->taps_y = ty;
    fft->pieces = 1;
    for (int k = 0; k < mask->ndim; k++) {
        fft->piece_step[k] = k == fft->mask_x ? tx : fft->plane && k == fft->mask_y ? ty : 1;
        fft->piece_count[k] = tess_ceil_div(mask->shape[k], fft->piece_step[k]);
        fft->pieces *= fft->piece_count[k];
    }
    fft->outputs_x = tess_min64((fft->plane ? b : a * b) - tx + 1, p->out.shape[fft->x]);
    fft->outputs_y = fft->plane ? tess_min64(a - ty + 1, p->out.shape[fft->y]) : 1;
    fft->tiles_x = tess_ceil_div(p->out.shape[fft->x], fft->outputs_x);
    fft->tiles_y = fft->plane ? tess_ceil_div(p->out.shape[fft->y], fft->outputs_y) : 1;
    fft->outer = 1;
    fft->outer_ndim = 0;
    for (int d = 0; d < p->out.ndim; d++)
        if (d != fft->x && d != fft->y) {
            fft->outer_axis[fft->outer_ndim] = d;
            fft->outer_mask[fft->outer_ndim] = -1;
            for (int k = 0; k < mask->ndim; k++)
                if (mask->axes[k] == d)
                    fft->outer_mask[fft->outer_ndim] = k;
            fft->outer_shape[fft->outer_ndim++] = p->out.shape[d];
            fft->outer *= p->out.shape[d];
        }
    fft->tiles = fft->outer * fft->tiles_x * fft->tiles_y;
    assert_tess_ok(tess_correlate_fft_tables(fft, p));
}

static tess_plan *plan_of(const sample *s, hostile_array *in, hostile_array *mask, hostile_array *out, tess_engine on, const char *row) {
    const DLTensor *masks[] = {&mask->tensor};
    tess_plan *plan;
    tess_correlate_options options = {.struct_size = sizeof options, .axes = s->axes, .naxes = s->naxes, .boundary = s->boundary};
    options.constant = 1.5;
    options.accuracy = TESS_ACCURACY_FFT;
    options.call.engine = on;
    options.call.strategy = row;
    assert_tess_ok(tess_plan_correlate(&plan, context, &in->tensor, masks, 1, &out->tensor, &options));
    return plan;
}

typedef struct tiling {
    sample s;
    int64_t a, b, ty, tx;
    int l2; /* not 0: the workspace is that of a card with so large a cache, so that pairs of tiles take turns */
} tiling;

static void compare_tiling(const tiling *t, uint64_t *random) {
    static const tess_call nothing;
    hostile_array in, mask, expected, out;
    hostile_make(&in, random, t->s.in, t->s.ndim, t->s.shape, HOSTILE_COMPACT);
    hostile_make(&mask, random, t->s.weights, t->s.naxes, t->s.mask, HOSTILE_COMPACT);
    hostile_make(&expected, random, t->s.out, t->s.ndim, t->s.shape, HOSTILE_COMPACT);
    hostile_make(&out, random, t->s.out, t->s.ndim, t->s.shape, HOSTILE_COMPACT);
    hostile_fill(&in, random, 1);
    hostile_fill(&mask, random, 1);
    tess_plan *plan = plan_of(&t->s, &in, &mask, &expected, TESS_ENGINE_CPU, "correlate/fft");
    reshape(plan, t->a, t->b, t->ty, t->tx);
    plan->workspace = (size_t)plan->threads * tess_correlate_fft_scratch(((tess_correlate_problem *)plan->problem)->fft);
    assert_tess_ok(tess_execute(plan, hostile_element(&in, 0), NULL, hostile_element(&expected, 0), NULL));
    tess_plan_free(plan);

    plan = plan_of(&t->s, &in, &mask, &out, engine, NULL);
    tess_gpu_device *device = ((tess_gpu_plan *)plan->prepared)->device;
    const int l2 = device->l2;
    tess_gpu_plan_release(plan);
    reshape(plan, t->a, t->b, t->ty, t->tx);
    for (int r = 0; r < tess_correlate_op.gpu_count; r++) { /* the choice depends on the tiles */
        const char *why;
        plan->row = &tess_correlate_op.gpu_rows[r];
        if (plan->row->applicable(plan->problem, &why))
            break;
    }
    device->l2 = t->l2 ? t->l2 : l2;
    if (engine == TESS_ENGINE_VIRTUAL)
        gpu_counts_begin(context);
    assert_tess_ok(tess_gpu_plan_prepare(plan, &nothing));
    device->l2 = l2;
    const tess_gpu_layout *layout = &((tess_gpu_plan *)plan->prepared)->layout;
    if (t->l2 && layout->turns < 2)
        fail_msg("%lld turns", (long long)layout->turns);
    for (int r = 0; r < TESS_COUNT(rows); r++)
        ran[r] += r == 0 || strcmp(plan->row->name, rows[r]) == 0;
    if (engine == TESS_ENGINE_VIRTUAL) {
        char what[128];
        snprintf(what, sizeof what, "tiles of %lld x %lld, pieces of %lld x %lld taps", (long long)t->a, (long long)t->b, (long long)t->ty,
                 (long long)t->tx);
        compared[plan->row - tess_correlate_op.gpu_rows] += gpu_counts_check(plan, hostile_element(&in, 0), NULL, hostile_element(&out, 0), what);
        gpu_counts_end(context);
    } else {
        assert_tess_ok(tess_execute(plan, hostile_element(&in, 0), NULL, hostile_element(&out, 0), NULL));
    }
    const int64_t at = hostile_differs(&out, &expected);
    if (at >= 0 || !hostile_intact(&out))
        fail_msg("%s, tiles of %lld x %lld: element %lld", plan->row->name, (long long)t->a, (long long)t->b, (long long)at);
    tess_plan_free(plan);
    hostile_free(&in);
    hostile_free(&mask);
    hostile_free(&expected);
    hostile_free(&out);
}

static void tilings(void **state) {
    (void)state;
    uint64_t random = 4;
    const tiling cases[] = {
        {{F32, .ndim = 1, .naxes = 1, .shape = {70000}, .mask = {20000}, .boundary = TESS_BOUNDARY_MIRROR}, 256, 256, 1, 20000, 0},
        {{F32, .ndim = 1, .naxes = 1, .shape = {20000}, .mask = {7000}, .boundary = TESS_BOUNDARY_WRAP}, 64, 256, 1, 7000, 0},
        {{F32, .ndim = 1, .naxes = 1, .shape = {20000}, .mask = {1023}, .boundary = TESS_BOUNDARY_REFLECT}, 64, 128, 1, 1023, 0},
        {{F64, .ndim = 1, .naxes = 1, .shape = {30000}, .mask = {3000}, .boundary = TESS_BOUNDARY_WRAP}, 64, 256, 1, 3000, 0},
        {{F32, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {300, 290}, .mask = {129, 127}, .boundary = TESS_BOUNDARY_CONSTANT},
         256,
         256,
         129,
         127,
         1},
        {{F32, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {200, 150}, .mask = {200, 300}, .boundary = TESS_BOUNDARY_REFLECT},
         256,
         256,
         100,
         150,
         0},
        {{F64, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {240, 100}, .mask = {20, 31}, .boundary = TESS_BOUNDARY_NEAREST}, 128, 128, 20, 31, 1},
        {{F32, .ndim = 2, .naxes = 2, .axes = {1, 0}, .shape = {100, 240}, .mask = {20, 31}, .boundary = TESS_BOUNDARY_NEAREST}, 128, 128, 20, 31, 0},
        {{F64, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {70, 100}, .mask = {15, 15}, .boundary = TESS_BOUNDARY_MIRROR}, 32, 64, 15, 15, 0},
        {{F32, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {300, 600}, .mask = {100, 280}, .boundary = TESS_BOUNDARY_REFLECT},
         256,
         512,
         100,
         280,
         0},
        {{F64, .ndim = 2, .naxes = 2, .axes = {1, 0}, .shape = {130, 700}, .mask = {700, 130}, .boundary = TESS_BOUNDARY_MIRROR},
         1024,
         256,
         350,
         65,
         0},
        {{F32, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {70, 1500}, .mask = {20, 511}, .boundary = TESS_BOUNDARY_WRAP}, 128, 1024, 20, 511, 1},
        {{F32, .ndim = 1, .naxes = 1, .shape = {300000}, .mask = {120000}, .boundary = TESS_BOUNDARY_NEAREST}, 512, 512, 1, 120000, 0},
        {{F64, .ndim = 1, .naxes = 1, .shape = {250000}, .mask = {50000}, .boundary = TESS_BOUNDARY_CONSTANT}, 256, 512, 1, 50000, 1},
        {{F32, .ndim = 1, .naxes = 1, .shape = {90000}, .mask = {600000}, .boundary = TESS_BOUNDARY_WRAP}, 1024, 1024, 1, 300000, 0},
        {{F32, .ndim = 3, .naxes = 3, .axes = {0, 1, 2}, .shape = {5, 70, 60}, .mask = {3, 9, 9}, .boundary = TESS_BOUNDARY_MIRROR}, 64, 64, 9, 9, 0},
        {{F32, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {90, 300}, .mask = {9, 9}, .boundary = TESS_BOUNDARY_MIRROR}, 16, 128, 9, 9, 0},
        {{F32, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {90, 300}, .mask = {5, 9}, .boundary = TESS_BOUNDARY_CONSTANT}, 8, 16, 5, 9, 0},
        {{F64, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {150, 300}, .mask = {40, 15}, .boundary = TESS_BOUNDARY_NEAREST}, 128, 32, 20, 15, 0},
        {{F32, .ndim = 1, .naxes = 1, .shape = {3000}, .mask = {100}, .boundary = TESS_BOUNDARY_MIRROR}, 16, 32, 1, 100, 0},
        {{F32, .ndim = 2, .naxes = 2, .axes = {0, 1}, .shape = {500, 1070}, .mask = {30, 300}, .boundary = TESS_BOUNDARY_WRAP}, 64, 1024, 30, 150, 0},
        {{.in = tess_u8,
          .weights = tess_f32,
          .out = tess_u8,
          .fill = 1,
          .ndim = 2,
          .naxes = 2,
          .axes = {0, 1},
          .shape = {150, 300},
          .mask = {15, 40},
          .boundary = TESS_BOUNDARY_REFLECT},
         64,
         64,
         15,
         40,
         0},
    };
    for (int i = 0; i < TESS_COUNT(cases); i++)
        compare_tiling(&cases[i], &random);
    for (int r = 0; engine == TESS_ENGINE_VIRTUAL && r < tess_correlate_op.gpu_count; r++)
        if (strncmp(tess_correlate_op.gpu_rows[r].name, "correlate/fft_", 14) == 0 && compared[r] < 5 * 12)
            fail_msg("%s: %d counts were compared", tess_correlate_op.gpu_rows[r].name, compared[r]);
}

static void every_row_was_compared(void **state) {
    (void)state;
    for (int r = 0; r < TESS_COUNT(rows); r++)
        if (ran[r] < 5)
            fail_msg("%s ran %d times only", rows[r] ? rows[r] : "the chosen row", ran[r]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(images),  cmocka_unit_test(complex_outputs),
                                       cmocka_unit_test(any),   cmocka_unit_test(tilings), cmocka_unit_test(every_row_was_compared)};
    engine = gpu_test_engine();
    if (engine == TESS_ENGINE_VIRTUAL && !gpu_test_compiler()) {
        printf("no compiler for kernels here: %s\n", tess_detail());
        return 77;
    }
    if (tess_open(&context, NULL) != TESS_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tess_close(context);
    return failed;
}

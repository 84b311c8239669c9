/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_mixed_gpu.c - proves: lists that go in parts, each by the row that takes it (correlate/mixed), have the reference's bits: axes shorter than their masks and of one element, in any place of the
 * list, two to four masks, every boundary and extent, sums of integers, arrays between parts of other sizes than the output's; and which problems are given to it. */
#include "correlate_parts.h"

static tess_context *context;
static tess_engine engine;
static int ran;

static const part_case cases[] = {
    {F16, 3, {2, 59, 131}, 3, {0, 1, 2}, {9, 7, 3}, true, {0, 1, 2}, {0, 1, 2}, 0, 0}, /* few planes */
    {I8, 2, {8, 3001}, 2, {0, 1}, {10, 3}, true, {0, 1}, {0, 1}, 0, 0},                /* few rows */
    {tess_i8, tess_f32, tess_f32, 2, {8, 3008}, 2, {1, 0}, {3, 10}, true, {0, 1}, {0, 1}, 0, 0},
    {F32, 3, {14, 1041, 1}, 2, {1, 2}, {3, 5}, true, {0, 1, 2}, {0, 1, 2}, 0, 0}, /* an axis of one element: the list's last, first, middle */
    {F16, 3, {1, 3009, 1}, 3, {0, 1, 2}, {3, 7, 1}, true, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {F32, 3, {39, 1, 264}, 3, {0, 1, 2}, {3, 7, 5}, true, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {U8, 3, {1500, 4, 6}, 2, {1, 2}, {5, 3}, true, {0, 1, 2}, {0, 1, 2}, 0, 0}, /* a stack of small images */
    {F32, 3, {700, 20, 6}, 3, {0, 1, 2}, {28, 3, 17}, true, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {F16, 3, {22, 301, 2}, 3, {0, 1, 2}, {7, 9, 7}, true, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {F32, 3, {1, 900, 32}, 3, {0, 1, 2}, {5, 7, 7}, true, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {F32, 2, {3, 2131}, 2, {0, 1}, {5, 30}, true, {0, 1}, {0, 1}, 0, 0},
    {F32, 3, {30, 70, 140}, 3, {2, 1, 0}, {3, 5, 7}, true, {0, 1, 2}, {0, 1, 2}, 0, 0}, /* what others take as a whole */
    {tess_i16, tess_i8, tess_i16, 3, {701, 5, 1}, 3, {0, 1, 2}, {9, 5, 7}, true, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {tess_i32, tess_i32, tess_i64, 2, {5, 300}, 2, {0, 1}, {9, 3}, true, {0, 1}, {0, 1}, 0, 0}, /* sums of 64 bits between parts */
    {tess_f64, tess_f64, tess_f64, 3, {300, 2, 1}, 2, {1, 2}, {5, 7}, true, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {tess_c64, tess_f32, tess_c64, 3, {500, 1, 3}, 2, {0, 1}, {3, 3}, true, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {F32, 3, {131, 343, 1}, 3, {0, 1, 2}, {7, 3, 5}, true, {2, 1, 0}, {2, 1, 0}, 0, 0}, /* Fortran's order */
    {F16, 3, {2, 59, 131}, 3, {0, 1, 2}, {9, 7, 3}, true, {0, 1, 2}, {0, 1, 2}, 3, 0},  /* gaps, backwards */
    {U8, 2, {4, 1500}, 2, {0, 1}, {7, 3}, true, {0, 1}, {0, 1}, 0, 1},
};

static void any_parts(void **state) {
    (void)state;
    uint64_t random = 511;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int k = 0; k < 3; k++)
            if (!gpu_test_spared(engine, i + k, 2, 6))
                ran += parts_compare(context, engine, "correlate/mixed", &cases[i], (tess_boundary)(TESS_BOUNDARY_ZERO + (2 * i + k) % 6),
                                     k < 2 ? TESS_EXTENT_SAME : (tess_extent)(i % 3), &random);
    if (ran < (TESS_SANITIZED ? 4 : 20))
        fail_msg("mixed ran %d times", ran);
}

/* Whatever list of whatever axes, short ones among them. */
static void anything(void **state) {
    (void)state;
    uint64_t random = 512;
    static const tess_type types[][3] = {
        {U8}, {F16}, {F32}, {tess_bf16, tess_f32, tess_f32}, {tess_i16, tess_i8, tess_i16}, {tess_f64, tess_f64, tess_f64}};
    for (int i = 0; i < (TESS_SANITIZED ? 4 : 24); i++) {
        part_case c = {types[i % 6][0], types[i % 6][1], types[i % 6][2], .ndim = (int)hostile_between(&random, 2, 4), .list = true};
        int axis[4];
        for (int d = 0; d < c.ndim; d++) {
            axis[d] = c.order_in[d] = c.order_out[d] = d;
            c.shape[d] = hostile_between(&random, 0, 2) ? hostile_between(&random, 1, 60) : hostile_between(&random, 1, 5);
        }
        hostile_shuffle(&random, c.ndim, axis);
        c.masked = (int)tess_min64(c.ndim, 3);
        for (int k = 0; k < c.masked; k++) {
            c.axes[k] = axis[k];
            c.width[k] = hostile_between(&random, 1, 9);
        }
        parts_compare(context, engine, "correlate/mixed", &c, (tess_boundary)(i % 6), (tess_extent)(i / 6 % 3), &random);
    }
}

static void chosen(void **state) {
    (void)state;
    static struct {
        tess_type type;
        int64_t shape[3], width[3];
        const char *row;
    } picks[] = {{tess_f16, {2, 139, 8131}, {9, 7, 3}, "mixed"},
                 {tess_f32, {1, 1408, 1001}, {5, 3, 3}, "mixed"},
                 {tess_u8, {60000, 4, 6}, {1, 5, 3}, "mixed"},
                 {tess_f32, {128, 128, 128}, {3, 3, 3}, "separable3d"},
                 {tess_f16, {2, 13, 8131}, {9, 7, 3}, "brick"}};
    char *from = calloc(3 << 20, 4), *to = calloc(3 << 20, 4);
    float weights[32] = {1};
    for (int i = 0; i < TESS_COUNT(picks); i++) {
        DLTensor in = tess_view(from, picks[i].type, 3, picks[i].shape, NULL), out = tess_view(to, picks[i].type, 3, picks[i].shape, NULL), mask[3];
        const DLTensor *masks[] = {&mask[0], &mask[1], &mask[2]};
        int axes[] = {0, 1, 2};
        for (int k = 0; k < 3; k++)
            mask[k] = tess_view(weights, tess_f32, 1, &picks[i].width[k], NULL);
        const tess_correlate_options options = {
            .struct_size = sizeof options, .axes = axes, .naxes = 3, .boundary = TESS_BOUNDARY_REFLECT, .call.engine = engine};
        tess_plan *plan;
        assert_tess_ok(tess_plan_correlate(&plan, context, &in, masks, 3, &out, &options));
        gpu_test_chosen(plan, picks[i].row, i);
    }
    free(from);
    free(to);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_parts), cmocka_unit_test(anything), cmocka_unit_test(chosen)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

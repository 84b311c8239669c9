/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_turned_gpu.c - proves: correlations from one order of axes to another by way of the workspace (correlate/turned) have the reference's bits: any two orders of up to four axes, the input
 * turned or the output, masks and lists along any axes, every boundary and extent, arrays that begin anywhere, axes that run backwards; nothing beside the output's elements is written; and which
 * problems are given to it. */
#include "correlate_parts.h"

static tess_context *context;
static tess_engine engine;
static int ran;

static void compare(const part_case *c, tess_boundary boundary, tess_extent extent, uint64_t *random) {
    ran += parts_compare(context, engine, "correlate/turned", c, boundary, extent, random);
}

static const part_case cases[] = {
    {F16, 2, {150, 141}, 2, {0, 1}, {3, 3}, false, {1, 0}, {0, 1}, 0, 0}, /* from Fortran's order to C's, and back */
    {U8, 2, {203, 130}, 2, {0, 1}, {3, 5}, false, {0, 1}, {1, 0}, 0, 0},
    {F32, 2, {64, 272}, 2, {0, 1}, {3, 3}, false, {1, 0}, {0, 1}, 0, 0},
    {tess_f32, tess_f32, tess_u8, 2, {140, 96}, 2, {0, 1}, {5, 3}, false, {1, 0}, {0, 1}, 0, 0}, /* the output is turned */
    {tess_f64, tess_f64, tess_f32, 2, {61, 97}, 1, {0}, {9}, false, {1, 0}, {0, 1}, 0, 0},
    {F16, 3, {40, 13, 16}, 1, {2}, {16}, false, {2, 1, 0}, {0, 1, 2}, 0, 0},
    {F32, 3, {44, 32, 71}, 1, {1}, {9}, false, {2, 1, 0}, {0, 1, 2}, 0, 0},
    {F32, 3, {21, 35, 40}, 3, {0, 1, 2}, {3, 3, 3}, false, {2, 0, 1}, {0, 1, 2}, 0, 0}, /* other permutations */
    {F16, 3, {21, 35, 40}, 2, {2, 0}, {3, 5}, false, {0, 2, 1}, {2, 1, 0}, 0, 0},
    {U8, 4, {3, 25, 40, 3}, 2, {1, 2}, {3, 3}, false, {0, 3, 1, 2}, {0, 1, 2, 3}, 0, 0}, /* planes of colours to pixels */
    {U8, 4, {3, 25, 40, 3}, 2, {1, 2}, {5, 5}, true, {0, 1, 2, 3}, {0, 3, 1, 2}, 0, 0},
    {I8, 3, {95, 31, 40}, 3, {0, 1, 2}, {3, 5, 5}, true, {2, 1, 0}, {0, 1, 2}, 0, 0}, /* lists */
    {F16, 2, {1500, 5}, 2, {0, 1}, {3, 7}, true, {1, 0}, {0, 1}, 0, 0},
    {I8, 2, {301, 98}, 2, {0, 1}, {5, 7}, true, {1, 0}, {0, 1}, 0, 0},
    {F32, 2, {90, 170}, 2, {1, 0}, {7, 7}, true, {1, 0}, {0, 1}, 0, 0},
    {tess_i16, tess_i8, tess_i16, 3, {70, 5, 9}, 3, {0, 1, 2}, {9, 5, 7}, true, {2, 1, 0}, {0, 1, 2}, 0, 0},
    {tess_u8, tess_i8, tess_i32, 2, {75, 66}, 2, {0, 1}, {3, 3}, false, {1, 0}, {0, 1}, 0, 0}, /* sums of integers */
    {tess_i32, tess_i32, tess_i64, 2, {35, 66}, 2, {0, 1}, {3, 2}, false, {1, 0}, {0, 1}, 0, 0},
    {F16, 2, {70, 90}, 2, {0, 1}, {3, 3}, false, {1, 0}, {0, 1}, 3, 0}, /* gaps */
    {F32, 2, {70, 92}, 2, {0, 1}, {5, 5}, false, {1, 0}, {0, 1}, 4, 0},
    {F16, 2, {70, 90}, 2, {0, 1}, {3, 3}, false, {1, 0}, {0, 1}, 0, 1}, /* backwards */
    {U8, 2, {70, 90}, 2, {0, 1}, {3, 3}, false, {1, 0}, {0, 1}, 0, 2},
    {tess_c64, tess_f32, tess_c64, 2, {40, 61}, 2, {0, 1}, {3, 3}, false, {1, 0}, {0, 1}, 0, 0},
    {tess_c64, tess_f32, tess_c64, 2, {40, 61}, 2, {0, 1}, {3, 3}, true, {0, 1}, {1, 0}, 0, 0},
    {tess_i16, tess_i8, tess_i16, 3, {701, 5, 1}, 3, {0, 1, 2}, {9, 5, 7}, true, {2, 1, 0}, {0, 1, 2}, 0, 0}, /* a list that goes in parts then */
    {F32, 3, {70, 1, 45}, 3, {0, 1, 2}, {3, 3, 3}, false, {2, 1, 0}, {0, 1, 2}, 0, 0},                        /* an axis of one element */
};

static void any_two_orders(void **state) {
    (void)state;
    uint64_t random = 407;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int k = 0; k < 3; k++)
            if (!gpu_test_spared(engine, i + k, 2, 6))
                compare(&cases[i], (tess_boundary)(TESS_BOUNDARY_ZERO + (2 * i + k) % 6), k < 2 ? TESS_EXTENT_SAME : (tess_extent)(i % 3), &random);
    if (ran < (TESS_SANITIZED ? 5 : 25))
        fail_msg("turned ran %d times", ran);
}

/* Whatever lies in two orders of which the finest axes differ. */
static void anything(void **state) {
    (void)state;
    uint64_t random = 408;
    static const tess_type types[][3] = {
        {U8}, {F16}, {F32}, {tess_bf16, tess_f32, tess_f32}, {tess_i16, tess_i8, tess_i16}, {tess_f64, tess_f64, tess_f64}};
    for (int i = 0; i < (TESS_SANITIZED ? 4 : 24); i++) {
        part_case c = {types[i % 6][0], types[i % 6][1], types[i % 6][2], .ndim = (int)hostile_between(&random, 2, 4)};
        int axis[4];
        for (int d = 0; d < c.ndim; d++) {
            axis[d] = c.order_in[d] = c.order_out[d] = d;
            c.shape[d] = hostile_between(&random, 1, c.ndim == 2 ? 120 : c.ndim == 3 ? 40 : 14);
        }
        hostile_shuffle(&random, c.ndim, axis);
        hostile_shuffle(&random, c.ndim, c.order_in);
        hostile_shuffle(&random, c.ndim, c.order_out);
        c.masked = (int)hostile_between(&random, 1, tess_min64(c.ndim, 3));
        c.list = hostile_between(&random, 0, 1) && c.masked > 1;
        for (int k = 0; k < c.masked; k++) {
            c.axes[k] = axis[k];
            c.width[k] = hostile_between(&random, 1, 5);
        }
        compare(&c, (tess_boundary)(i % 6), (tess_extent)(i / 6 % 3), &random);
    }
}

/* What selection gives to it: narrow elements, lists, what bricks would bring several times; not what they bring once, nor few elements. */
static void chosen(void **state) {
    (void)state;
    static struct {
        tess_type type;
        int64_t shape[3], width[3];
        bool list;
        int turned;
        const char *row;
    } picks[] = {{tess_u8, {1, 1200, 1100}, {1, 3, 3}, false, 1, "turned"},        {tess_f16, {1, 1200, 1100}, {1, 3, 3}, false, 1, "turned"},
                 {tess_f32, {1, 1200, 1100}, {1, 3, 3}, false, 1, "brick"},        {tess_f32, {1, 1200, 1104}, {1, 3, 3}, false, 3, "brick"},
                 {tess_u8, {1, 120, 110}, {1, 3, 3}, false, 1, "brick"},           {tess_i8, {400, 60, 50}, {3, 5, 5}, true, 1, "turned"},
                 {tess_f32, {44, 32, 1001}, {1, 9, 1}, false, 1, "turned"},        {tess_f16, {1, 300001, 5}, {1, 3, 7}, true, 1, "turned"},
                 {tess_f32, {128, 128, 128}, {3, 3, 3}, false, 1, "march_across"}, {tess_u8, {1, 1200, 1100}, {1, 3, 3}, false, 2, "turned"}};
    char *from = calloc(3 << 20, 4), *to = calloc(3 << 20, 4);
    float weights[32] = {1};
    for (int i = 0; i < TESS_COUNT(picks); i++) {
        int64_t strides[2][3];
        DLTensor array[2], mask[3] = {tess_view(weights, tess_f32, 3, picks[i].width, NULL)};
        const DLTensor *masks[] = {&mask[0], &mask[1], &mask[2]};
        int axes[] = {0, 1, 2}, first = picks[i].width[0] > 1 || !picks[i].list ? 0 : 1;
        for (int a = 0; a < 2; a++) {
            int64_t step = 1;
            for (int k = 2; k >= 0; k--) {
                const int d = picks[i].turned >> a & 1 ? 2 - k : k;
                strides[a][d] = step;
                step *= picks[i].shape[d];
            }
            array[a] = tess_view(a ? to : from, picks[i].type, 3, picks[i].shape, strides[a]);
        }
        for (int k = 0; k < 3 && picks[i].list; k++)
            mask[k] = tess_view(weights, tess_f32, 1, &picks[i].width[k], NULL);
        const tess_correlate_options options = {.struct_size = sizeof options, .axes = axes + first, .naxes = 3 - first, .call.engine = engine};
        tess_plan *plan;
        assert_tess_ok(
            tess_plan_correlate(&plan, context, &array[0], masks + (picks[i].list ? first : 0), picks[i].list ? 3 - first : 1, &array[1], &options));
        gpu_test_chosen(plan, picks[i].row, i);
    }
    free(from);
    free(to);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_two_orders), cmocka_unit_test(anything), cmocka_unit_test(chosen)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

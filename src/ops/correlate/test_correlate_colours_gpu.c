/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_colours_gpu.c - proves: lists of two short masks over pixels of narrow elements, by columns first, have the CPU's bits by correlate/patch_separable and, of rows that begin anywhere, by
 * correlate/patch_separable_odd: two to seven colours, windows that reach one lane and two, every boundary, extents, origins, batches, images lower than a block and narrower than a warp; and that such
 * lists are given to them. */
#include "correlate_lists.h"

static tess_context *context;
static tess_engine engine;
static int compared;

typedef struct list_case {
    tess_type in, mask, out;
    int64_t shape[4]; /* a batch, rows, pixels, colours */
    int64_t y, x;     /* taps */
    int64_t origin[2];
} list_case;

static const list_case cases[] = {
    {tess_u8, tess_f32, tess_u8, {1, 75, 192, 3}, 7, 7, {0, 0}},    {tess_u8, tess_f32, tess_u8, {2, 41, 112, 3}, 3, 3, {0, 0}},
    {tess_u8, tess_f32, tess_f32, {1, 39, 96, 3}, 5, 5, {-2, 1}},   {tess_u8, tess_f32, tess_u8, {1, 90, 64, 4}, 9, 9, {0, 0}},
    {tess_u8, tess_f32, tess_u8, {3, 30, 48, 3}, 4, 6, {1, -2}},    {tess_u8, tess_f32, tess_u8, {1, 11, 16, 3}, 7, 7, {0, 0}},
    {tess_i8, tess_f32, tess_i8, {1, 50, 80, 2}, 2, 9, {0, 3}},     {tess_u8, tess_f32, tess_u8, {1, 160, 32, 4}, 9, 3, {4, 0}},
    {tess_f16, tess_f32, tess_f16, {1, 47, 128, 3}, 7, 7, {0, 0}},  {tess_f16, tess_f32, tess_f16, {2, 31, 40, 3}, 3, 5, {0, 0}},
    {tess_bf16, tess_f32, tess_bf16, {1, 33, 72, 4}, 5, 9, {0, 0}}, {tess_i16, tess_f32, tess_i16, {1, 44, 200, 2}, 9, 7, {0, 0}},
    {tess_u16, tess_f32, tess_f32, {1, 29, 64, 3}, 5, 3, {0, 0}},   {tess_u8, tess_f32, tess_f16, {1, 60, 128, 5}, 3, 7, {1, 0}},
    {tess_u8, tess_f32, tess_u8, {1, 40, 304, 3}, 2, 7, {0, 0}},    {tess_u8, tess_f32, tess_u8, {1, 40, 160, 3}, 6, 2, {0, 0}},
};

/* Of any width. */
static const list_case odd_cases[] = {
    {tess_u8, tess_f32, tess_u8, {1, 75, 335, 3}, 7, 7, {0, 0}},    {tess_u8, tess_f32, tess_u8, {2, 41, 111, 3}, 3, 3, {0, 0}},
    {tess_u8, tess_f32, tess_f32, {1, 39, 97, 3}, 5, 5, {-2, 1}},   {tess_u8, tess_f32, tess_u8, {1, 90, 63, 4}, 9, 9, {0, 0}},
    {tess_u8, tess_f32, tess_u8, {3, 30, 49, 3}, 4, 6, {1, -2}},    {tess_u8, tess_f32, tess_u8, {1, 11, 17, 3}, 7, 7, {0, 0}},
    {tess_i8, tess_f32, tess_i8, {1, 50, 81, 2}, 2, 9, {0, 3}},     {tess_u8, tess_f32, tess_u8, {1, 160, 31, 7}, 9, 3, {4, 0}},
    {tess_f16, tess_f32, tess_f16, {1, 47, 331, 3}, 7, 7, {0, 0}},  {tess_f16, tess_f32, tess_f16, {2, 31, 41, 3}, 3, 5, {0, 0}},
    {tess_bf16, tess_f32, tess_bf16, {1, 33, 71, 4}, 5, 9, {0, 0}}, {tess_i16, tess_f32, tess_i16, {1, 44, 201, 2}, 9, 7, {0, 0}},
    {tess_u16, tess_f32, tess_f32, {1, 29, 65, 3}, 5, 3, {0, 0}},   {tess_u8, tess_f32, tess_f16, {1, 60, 127, 5}, 3, 7, {1, 0}},
    {tess_u8, tess_f32, tess_u8, {1, 40, 303, 3}, 2, 7, {0, 0}},    {tess_u8, tess_f32, tess_u8, {1, 40, 161, 3}, 6, 2, {0, 0}},
    {tess_f16, tess_f32, tess_u8, {2, 131, 90, 3}, 8, 4, {0, 1}},   {tess_u8, tess_f32, tess_u8, {1, 99, 168, 3}, 7, 1, {2, 0}},
    {tess_u8, tess_f32, tess_u8, {1, 12, 3, 3}, 3, 3, {0, 0}},      {tess_f16, tess_f32, tess_f32, {1, 200, 701, 3}, 7, 6, {0, -2}},
    {tess_i8, tess_f32, tess_u8, {1, 25, 50, 3}, 1, 7, {0, 0}},
};

static void compare(const char *row, const list_case *c, int number, tess_boundary boundary, tess_extent extent, uint64_t *random) {
    const int64_t width[] = {c->y, c->x};
    const list_problem p = {row, c->in, c->mask, c->out, 4, 2, c->shape, width, c->origin, 1, boundary, extent};
    const bool ran = lists_agree(context, engine, &p, random);
    compared += ran;
    if (!ran && extent == TESS_EXTENT_SAME) /* rows of other extents need not be whole vectors */
        fail_msg("%s: case %d, boundary %d: %s to %s, %d + %d taps: %s", row, number, (int)boundary, tess_type_name(c->in), tess_type_name(c->out),
                 (int)c->y, (int)c->x, tess_detail());
}

static void run(const char *row, const list_case *list, int count, uint64_t random) {
    compared = 0;
    for (int i = 0; i < count; i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
            if (gpu_test_spared(engine, i + boundary, 3, 5))
                continue;
            compare(row, &list[i], i, (tess_boundary)boundary, TESS_EXTENT_SAME, &random);
            for (int extent = TESS_EXTENT_SAME; boundary % 3 == i % 3 && extent <= TESS_EXTENT_FULL; extent++)
                if (extent != TESS_EXTENT_SAME && (extent != TESS_EXTENT_VALID || (list[i].shape[1] >= list[i].y && list[i].shape[2] >= list[i].x)))
                    compare(row, &list[i], i, (tess_boundary)boundary, (tess_extent)extent, &random);
        }
    assert_true(compared >= count);
}

static void lists(void **state) {
    (void)state;
    run("correlate/patch_separable", cases, TESS_COUNT(cases), 2911);
}

static void rows_that_begin_anywhere(void **state) {
    (void)state;
    run("correlate/patch_separable_odd", odd_cases, TESS_COUNT(odd_cases), 2912);
    run("correlate/patch_separable_odd", cases, 4, 2913);
}

/* Planned only. */
static void chosen(void **state) {
    (void)state;
    struct {
        tess_type type;
        int64_t shape[3], taps;
        const char *row;
    } plans[] = {{tess_u8, {1080, 1920, 3}, 7, "patch_separable"},     {tess_u8, {1080, 1920, 3}, 3, "patch_separable"},
                 {tess_f16, {1080, 1920, 3}, 5, "patch_separable"},    {tess_u8, {1080, 1920, 4}, 9, "patch_separable"},
                 {tess_f32, {1080, 1920, 3}, 7, "separable2d"},        {tess_u8, {1080, 1921, 3}, 7, "patch_separable_odd"},
                 {tess_u8, {1080, 1920, 3}, 13, "separable2d"},        {tess_f16, {1080, 1919, 3}, 3, "patch_separable_odd"},
                 {tess_u8, {2160, 3839, 4}, 9, "patch_separable_odd"}, {tess_u8, {98304, 33, 3}, 7, "short_rows"},
                 {tess_f32, {1080, 1921, 3}, 7, "separable2d_odd"}};
    float weights[16] = {1, 2, 3, 4, 3, 2, 1};
    char *from = calloc(1 << 25, 1), *to = calloc(1 << 25, 1);
    assert_non_null(from);
    assert_non_null(to);
    for (int i = 0; i < TESS_COUNT(plans); i++) {
        const int axes[] = {0, 1};
        tess_correlate_options options = {.struct_size = sizeof options, .axes = axes, .naxes = 2, .call = {.engine = engine}};
        DLTensor in = tess_view(from, plans[i].type, 3, plans[i].shape, NULL), out = tess_view(to, plans[i].type, 3, plans[i].shape, NULL);
        DLTensor mask = tess_view(weights, tess_f32, 1, &plans[i].taps, NULL);
        const DLTensor *masks[] = {&mask, &mask};
        tess_plan *plan;
        assert_tess_ok(tess_plan_correlate(&plan, context, &in, masks, 2, &out, &options));
        gpu_test_chosen(plan, plans[i].row, i);
    }
    free(from);
    free(to);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(rows_that_begin_anywhere), cmocka_unit_test(chosen)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

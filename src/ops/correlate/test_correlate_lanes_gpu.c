/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_lanes_gpu.c - proves: lists of three short masks over volumes of narrow elements have the CPU's bits by correlate/lanes3d: warps that hold the ends of one
 * group of rows and the begins of the next, rows of one lane and of many warps, rows left over, every boundary, origins, batches, chunks of planes, every narrow
 * type; and that such lists are given to it. */
#include "correlate_lists.h"

static tess_context *context;
static tess_engine engine;
static int compared;

typedef struct list_case {
    tess_type in, mask, out;
    int64_t shape[4], width[3], origin[3]; /* shape[0]: a batch */
} list_case;

static const list_case cases[] = {
    {tess_u8, tess_f32, tess_u8, {1, 9, 11, 208}, {7, 7, 7}, {0}},       {tess_u8, tess_f32, tess_u8, {2, 13, 6, 16}, {3, 3, 3}, {0, 1, -1}},
    {tess_u8, tess_f32, tess_f32, {1, 7, 9, 48}, {5, 5, 5}, {1, -1, 2}}, {tess_u8, tess_f32, tess_u8, {1, 10, 9, 128}, {9, 9, 9}, {0}},
    {tess_u8, tess_f32, tess_u8, {1, 7, 8, 512}, {7, 3, 5}, {0, 0, 2}},  {tess_u8, tess_f32, tess_i16, {3, 8, 5, 32}, {4, 2, 6}, {-2, 0, 1}},
    {tess_i8, tess_f32, tess_i8, {1, 17, 7, 144}, {5, 7, 3}, {0}},       {tess_f16, tess_f32, tess_f16, {1, 9, 12, 120}, {7, 7, 7}, {0}},
    {tess_f16, tess_f32, tess_f16, {2, 6, 10, 8}, {3, 5, 8}, {0, 2, 0}}, {tess_f16, tess_f32, tess_u8, {1, 11, 9, 256}, {3, 3, 3}, {0}},
    {tess_bf16, tess_f32, tess_bf16, {1, 14, 10, 72}, {9, 8, 9}, {0}},   {tess_i16, tess_f32, tess_i16, {1, 9, 8, 80}, {5, 5, 5}, {0}},
    {tess_u16, tess_f32, tess_f32, {2, 4, 9, 64}, {1, 4, 2}, {0}},       {tess_u16, tess_f32, tess_u8, {1, 6, 30, 16}, {2, 9, 1}, {0, 4, 0}},
    {tess_u8, tess_f32, tess_u8, {1, 3, 70, 32}, {3, 7, 7}, {0}},        {tess_u8, tess_f32, tess_u8, {1, 40, 4, 16}, {6, 3, 4}, {0}},
};

static void compare(const list_case *c, tess_boundary boundary, uint64_t *random) {
    const list_problem p = {"correlate/lanes3d", c->in, c->mask, c->out, 4, 3, c->shape, c->width, c->origin, 1, boundary, TESS_EXTENT_SAME};
    const bool ran = lists_agree(context, engine, &p, random);
    compared += ran;
    const bool far = c->width[2] >= 8 || c->origin[2]; /* perhaps further than a mirror is taken */
    if (!ran && boundary != TESS_BOUNDARY_WRAP && (boundary != TESS_BOUNDARY_MIRROR || !far))
        fail_msg("case %d, boundary %d: %s", (int)(c - cases), (int)boundary, tess_detail());
}

static void lists(void **state) {
    (void)state;
    uint64_t random = 2911;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++)
            if (!gpu_test_spared(engine, i + boundary, 3, 5))
                compare(&cases[i], (tess_boundary)boundary, &random);
    assert_true(compared >= TESS_COUNT(cases));
}

/* Planned only. */
static void chosen(void **state) {
    (void)state;
    static const struct {
        tess_type type;
        int64_t shape[3], taps;
        tess_boundary boundary;
        const char *row;
    } plans[] = {{tess_u8, {256, 256, 256}, 7, TESS_BOUNDARY_ZERO, "lanes3d"},     {tess_f16, {256, 256, 256}, 7, TESS_BOUNDARY_REFLECT, "lanes3d"},
                 {tess_u8, {64, 64, 64}, 3, TESS_BOUNDARY_MIRROR, "lanes3d"},      {tess_u8, {256, 256, 256}, 9, TESS_BOUNDARY_NEAREST, "lanes3d"},
                 {tess_u8, {256, 256, 256}, 7, TESS_BOUNDARY_WRAP, "separable3d"}, {tess_u8, {256, 256, 256}, 11, TESS_BOUNDARY_ZERO, "separable3d"},
                 {tess_f32, {256, 256, 256}, 7, TESS_BOUNDARY_ZERO, "separable3d"}};
    float weights[16] = {1, 2, 3, 4, 3, 2, 1};
    char *from = calloc(1 << 26, 1), *to = calloc(1 << 26, 1);
    assert_non_null(from);
    assert_non_null(to);
    for (int i = 0; i < TESS_COUNT(plans); i++) {
        tess_correlate_options options = {.struct_size = sizeof options, .boundary = plans[i].boundary, .call = {.engine = engine}};
        int64_t shape[3];
        memcpy(shape, plans[i].shape, sizeof shape);
        DLTensor in = tess_view(from, plans[i].type, 3, shape, NULL), out = tess_view(to, plans[i].type, 3, shape, NULL);
        int64_t taps = plans[i].taps;
        DLTensor mask = tess_view(weights, tess_f32, 1, &taps, NULL);
        const DLTensor *masks[] = {&mask, &mask, &mask};
        tess_plan *plan;
        assert_tess_ok(tess_plan_correlate(&plan, context, &in, masks, 3, &out, &options));
        gpu_test_chosen(plan, plans[i].row, i);
    }
    free(from);
    free(to);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(chosen)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_pairs_gpu.c - proves: lists of two short masks, along columns and then along rows, have the CPU's bits by correlate/patch_separable and by
 * correlate/separable2d: of elements of every size, by every boundary and extent, with origins; images smaller and larger than a block, and batches of them. And bytes
 * by weights that the kernel takes times 2^24, as far as that is a number; and that short rows go to the one row, long ones to the other. */
#include <float.h>
#include <math.h>

#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;

typedef struct pair_case {
    tess_type in, mask, out;
    int64_t shape[3], width[2], origin[2]; /* shape[0]: a batch */
    const float *weights;                  /* along columns; NULL: random */
} pair_case;

static void compare(const pair_case *c, tess_boundary boundary, tess_extent extent, uint64_t *random) {
    static int number;
    if (hostile_spared(number++, 8))
        return;
    static const char *const rows[] = {"correlate/patch_separable", "correlate/separable2d"};
    hostile_array in, mask[2], expected, out;
    const DLTensor *masks[2];
    int64_t shape[3] = {c->shape[0]};
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .boundary = boundary,
                                      .constant = boundary == TESS_BOUNDARY_CONSTANT ? 3 : 0,
                                      .extent = extent,
                                      .origin = extent == TESS_EXTENT_SAME ? c->origin : NULL};
    hostile_make(&in, random, c->in, 3, c->shape, HOSTILE_COMPACT);
    hostile_fill(&in, random, 1);
    for (int k = 0; k < 2; k++) {
        hostile_make(&mask[k], random, c->mask, 1, &c->width[k], HOSTILE_COMPACT);
        hostile_fill(&mask[k], random, 0);
        masks[k] = &mask[k].tensor;
        shape[k + 1] = c->shape[k + 1] + (extent == TESS_EXTENT_FULL ? c->width[k] - 1 : extent == TESS_EXTENT_VALID ? 1 - c->width[k] : 0);
    }
    if (c->weights)
        memcpy((char *)mask[0].tensor.data + mask[0].tensor.byte_offset, c->weights, sizeof(float) * (size_t)c->width[0]);
    hostile_make(&expected, random, c->out, 3, shape, HOSTILE_COMPACT);
    hostile_make(&out, random, c->out, 3, shape, HOSTILE_COMPACT);
    options.call.engine = TESS_ENGINE_CPU;
    assert_tess_ok(tess_correlate_separable(context, &in.tensor, masks, 2, &expected.tensor, &options));
    options.call.engine = engine;
    for (int r = 0; r < TESS_COUNT(rows); r++) {
        options.call.strategy = rows[r];
        if (tess_correlate_separable(context, &in.tensor, masks, 2, &out.tensor, &options) != TESS_OK)
            fail_msg("%s, %s, rows of %d, boundary %d, extent %d: %s", rows[r], tess_type_name(c->in), (int)c->shape[2], (int)boundary, (int)extent,
                     tess_detail());
        if (hostile_differs(&out, &expected) >= 0 || !hostile_intact(&out))
            fail_msg("%s: %s by %s to %s, %d x %d x %d by %d + %d, boundary %d, extent %d: other bits than the CPU's", rows[r], tess_type_name(c->in),
                     tess_type_name(c->mask), tess_type_name(c->out), (int)c->shape[0], (int)c->shape[1], (int)c->shape[2], (int)c->width[0],
                     (int)c->width[1], (int)boundary, (int)extent);
        hostile_fill(&out, random, 1);
    }
    for (int k = 0; k < 2; k++)
        hostile_free(&mask[k]);
    hostile_free(&in);
    hostile_free(&expected);
    hostile_free(&out);
}

static void pairs(void **state) {
    (void)state;
    static const pair_case cases[] = {
        {tess_u8, tess_f32, tess_u8, {1, 90, 992}, {7, 7}, {0}, NULL},
        {tess_u8, tess_f32, tess_u8, {3, 41, 256}, {7, 7}, {0}, NULL},
        {tess_u8, tess_f32, tess_u8, {1, 93, 480}, {7, 7}, {0}, NULL},
        {tess_u8, tess_f32, tess_f32, {1, 55, 496}, {3, 5}, {0}, NULL},
        {tess_u8, tess_f32, tess_f16, {2, 29, 144}, {5, 9}, {1, -2}, NULL},
        {tess_u8, tess_f32, tess_u8, {2, 9, 16}, {9, 9}, {-4, 4}, NULL},
        {tess_u8, tess_f32, tess_u8, {1, 44, 528}, {8, 8}, {0, 1}, NULL},
        {tess_u8, tess_i8, tess_u8, {1, 30, 512}, {4, 6}, {0}, NULL},
        {tess_i8, tess_f32, tess_i8, {2, 33, 304}, {7, 3}, {0}, NULL},
        {tess_i8, tess_f32, tess_f16, {1, 60, 1040}, {2, 9}, {0}, NULL},
        {tess_f16, tess_f32, tess_f16, {1, 97, 512}, {7, 7}, {0}, NULL},
        {tess_f16, tess_f32, tess_f32, {2, 85, 240}, {5, 5}, {2, -1}, NULL},
        {tess_bf16, tess_f32, tess_bf16, {1, 45, 736}, {3, 9}, {0}, NULL},
        {tess_i16, tess_f32, tess_i16, {2, 21, 8}, {7, 5}, {0}, NULL},
        {tess_u16, tess_f32, tess_u8, {1, 99, 496}, {9, 8}, {0}, NULL},
        {tess_f32, tess_f32, tess_f32, {3, 50, 256}, {7, 7}, {0}, NULL},
        {tess_f32, tess_f32, tess_u8, {1, 29, 304}, {3, 9}, {0, -3}, NULL},
        {tess_f64, tess_f64, tess_f64, {2, 31, 130}, {7, 5}, {0}, NULL},
        /* Rows of just as many lanes as one warp holds, or two; and of fewer. */
        {tess_u8, tess_f32, tess_u8, {2, 60, 128}, {7, 7}, {0}, NULL},
        {tess_u8, tess_f32, tess_f32, {1, 57, 256}, {7, 9}, {0}, NULL},
        {tess_u8, tess_f32, tess_u8, {1, 150, 112}, {9, 9}, {0}, NULL},
        {tess_u8, tess_f32, tess_u8, {2, 60, 208}, {5, 5}, {0, 1}, NULL},
        {tess_i8, tess_f32, tess_u8, {1, 61, 240}, {3, 3}, {0}, NULL},
        {tess_u8, tess_f32, tess_f32, {1, 45, 144}, {3, 5}, {0}, NULL},
        {tess_f16, tess_f32, tess_f16, {1, 70, 128}, {5, 7}, {0}, NULL},
        {tess_u8, tess_f32, tess_u8, {1, 53, 496}, {7, 7}, {0}, NULL},
    };
    uint64_t random = 1523;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
            if (gpu_test_spared(engine, i + boundary, 4, 8))
                continue;
            const bool keeps = (cases[i].width[1] - 1) * (int64_t)tess_type_size(cases[i].out) % 16 == 0; /* whole vectors in rows of other lengths */
            tess_extent extent = keeps ? (tess_extent)((i + boundary) % 3) : TESS_EXTENT_SAME;
            compare(&cases[i], (tess_boundary)boundary, extent, &random);
        }
}

static void weights_of_any_size(void **state) {
    (void)state;
    static const float masks[][7] = {{0x1p-149f, 0x1p-126f, -0x1.8p-140f, 0x1.fffffep-127f, -0.0f, 0x1p-148f, 0x1.234568p-125f},
                                     {0x1.fffffep+103f, -0x1.fffffep+103f, 1, 0x1p-100f, -0x1p+103f, 0.1f, -7e-30f},
                                     {0x1p+104f, 1, 2, 3, 4, 5, 6},
                                     {0.5f, INFINITY, 3, -INFINITY, 6, 7, 8},
                                     {1, 2, 3, FLT_MAX, NAN, 5, 6}};
    static const tess_type results[] = {tess_f32, tess_u8, tess_f16};
    uint64_t random = 25;
    for (int i = 0; i < TESS_COUNT(masks); i++)
        for (int r = 0; r < TESS_COUNT(results); r++) {
            const pair_case c = {tess_u8, tess_f32, results[r], {1, 49, 512}, {7, 7}, {0}, masks[i]};
            compare(&c, TESS_BOUNDARY_MIRROR, TESS_EXTENT_SAME, &random);
        }
}

/* Planned only: too many elements for the virtual GPU. Masks along the axes from number `first` on. */
static void choose(tess_type type, const int64_t *sizes, int64_t width, bool list, int first, const char *row, int i) {
    static float weights[49] = {1, 2, 3, 4, 3, 2, 1};
    static char from[1 << 27], to[1 << 27];
    const int axes[] = {first, first + 1};
    tess_correlate_options options = {.struct_size = sizeof options, .axes = axes, .naxes = 2, .call = {.engine = engine}};
    int64_t widths[] = {width, width}, shape[3];
    memcpy(shape, sizes, sizeof shape);
    DLTensor in = tess_view(from, type, 3, shape, NULL), out = tess_view(to, type, 3, shape, NULL);
    DLTensor line = tess_view(weights, tess_f32, 1, widths, NULL), square = tess_view(weights, tess_f32, 2, widths, NULL);
    const DLTensor *lines[] = {&line, &line}, *one[] = {&square};
    tess_plan *plan;
    assert_tess_ok(tess_plan_correlate(&plan, context, &in, list ? lines : one, list ? 2 : 1, &out, &options));
    gpu_test_chosen(plan, row, i);
}

static void chosen(void **state) {
    (void)state;
    static const struct {
        tess_type type;
        int64_t shape[3], width;
        bool list;
        const char *row;
    } cases[] = {{tess_f32, {128, 256, 256}, 7, true, "separable2d"},
                 {tess_f32, {4, 1100, 1920}, 7, true, "separable2d"},
                 {tess_f32, {2, 2200, 4096}, 7, true, "patch_separable"},
                 {tess_f32, {1, 2048, 2048}, 7, true, "patch_separable"},
                 {tess_f32, {4, 1100, 1920}, 3, true, "patch_separable"},
                 {tess_u8, {128, 256, 256}, 7, true, "patch_separable"},
                 {tess_u8, {128, 256, 256}, 9, true, "patch_separable"},
                 {tess_u8, {4096, 48, 48}, 7, true, "short_rows"},
                 {tess_f16, {128, 256, 256}, 7, true, "patch_separable"},
                 {tess_f16, {1024, 112, 112}, 7, true, "patch_separable"},
                 {tess_f16, {256, 224, 224}, 7, true, "patch_separable"},
                 {tess_f16, {1, 600, 16384}, 7, true, "patch_separable"},
                 {tess_f32, {128, 256, 256}, 5, false, "strip2d"},
                 {tess_f32, {1, 256, 256}, 5, false, "patch"},
                 {tess_f32, {2, 2200, 4096}, 5, false, "patch"},
                 {tess_f16, {128, 256, 256}, 3, false, "patch"},
                 {tess_u8, {128, 256, 256}, 5, false, "patch"},
                 {tess_u8, {128, 256, 256}, 7, false, "flat"},
                 {tess_u8, {128, 255, 253}, 7, true, "patch_separable_odd"},
                 {tess_f16, {128, 255, 253}, 5, true, "patch_separable_odd"},
                 {tess_u8, {2048, 80, 79}, 7, true, "patch_separable_odd"},
                 {tess_f16, {1024, 101, 99}, 7, true, "patch_separable_odd"},
                 {tess_u8, {4096, 48, 47}, 7, true, "short_rows"},
                 {tess_u8, {4, 1100, 1920}, 3, false, "patch"}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        choose(cases[i].type, cases[i].shape, cases[i].width, cases[i].list, 1, cases[i].row, i);
}

/* Lists along the first two axes: over images of colours, and beside rows. */
static void chosen_beside_rows(void **state) {
    (void)state;
    static const struct {
        tess_type type;
        int64_t shape[3], width;
        const char *row;
    } cases[] = {{tess_u8, {2200, 1920, 3}, 7, "patch_separable"}, {tess_f16, {1100, 1919, 3}, 7, "patch_separable_odd"},
                 {tess_f32, {1100, 1919, 4}, 3, "separable2d"},    {tess_f32, {64, 256, 512}, 7, "separable3d"},
                 {tess_f32, {64, 255, 511}, 3, "separable3d_odd"}, {tess_u8, {256, 256, 64}, 7, "separable3d"},
                 {tess_f32, {64, 256, 512}, 13, "separable_each"}, {tess_f32, {64, 255, 511}, 15, "separable_each_odd"}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        choose(cases[i].type, cases[i].shape, cases[i].width, true, 0, cases[i].row, i);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs), cmocka_unit_test(weights_of_any_size), cmocka_unit_test(chosen),
                                       cmocka_unit_test(chosen_beside_rows)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

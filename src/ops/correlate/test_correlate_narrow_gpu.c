/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_narrow_gpu.c - proves: results narrower than what is summed, of 1 and 2 bytes, and bytes summed in 8, have the CPU's bits on the GPU in
 * every kernel whose threads have few columns: fewer than a word of elements is no shape of theirs, fewer than a word of results is stored as it is. And
 * bytes by weights that the kernel takes times 2^24, as far as that is a number. And that elements of 1 and 2 bytes have them along rows of all lengths. */
#include <float.h>
#include <math.h>

#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;

typedef struct narrow_case {
    tess_type in, mask, out;
    int ndim, list; /* list: so many masks of one axis, else one mask of all axes */
    int64_t shape[3], width;
    bool row_only;   /* the mask lies along the last axis */
    const char *row; /* NULL: chosen */
} narrow_case;

static void compare(const narrow_case *c, uint64_t *random) {
    hostile_array in, mask, expected, out;
    int64_t widths[3] = {c->width, c->width, c->width};
    const int axes = c->list || c->row_only ? 1 : c->ndim;
    hostile_make(&in, random, c->in, c->ndim, c->shape, HOSTILE_COMPACT);
    hostile_make(&mask, random, c->mask, axes, widths, HOSTILE_COMPACT);
    hostile_make(&expected, random, c->out, c->ndim, c->shape, HOSTILE_COMPACT);
    hostile_make(&out, random, c->out, c->ndim, c->shape, HOSTILE_COMPACT);
    hostile_fill(&in, random, 1);
    hostile_fill(&mask, random, 0);
    const DLTensor *masks[3] = {&mask.tensor, &mask.tensor, &mask.tensor};
    tess_report report = {.struct_size = sizeof report};
    tess_correlate_options options = {.struct_size = sizeof options, .boundary = TESS_BOUNDARY_REFLECT, .call.report = &report};
    for (int e = 0; e < 2; e++) {
        options.call.engine = e ? engine : TESS_ENGINE_CPU;
        options.call.strategy = e ? c->row : NULL;
        const DLTensor *to = e ? &out.tensor : &expected.tensor;
        tess_status status = c->list ? tess_correlate_separable(context, &in.tensor, masks, c->list, to, &options)
                                     : tess_correlate(context, &in.tensor, &mask.tensor, to, &options);
        if (status != TESS_OK)
            fail_msg("%s by %s to %s: %s", tess_type_name(c->in), tess_type_name(c->mask), tess_type_name(c->out), tess_detail());
    }
    if (hostile_differs(&out, &expected) >= 0 || !hostile_intact(&out))
        fail_msg("%s: %s by %s to %s, %d axes, %d masks of %d, rows of %d: other bits than the CPU's", report.strategy, tess_type_name(c->in),
                 tess_type_name(c->mask), tess_type_name(c->out), c->ndim, c->list, (int)c->width, (int)c->shape[c->ndim - 1]);
    hostile_free(&in);
    hostile_free(&mask);
    hostile_free(&expected);
    hostile_free(&out);
}

static void fewer_bytes_than_a_word(void **state) {
    (void)state;
    static const narrow_case cases[] = {
        {tess_f32, tess_f32, tess_u8, 2, 0, {37, 41}, 3, false, NULL},
        {tess_f32, tess_f32, tess_f16, 2, 0, {37, 41}, 3, false, NULL},
        {tess_f64, tess_f64, tess_i16, 2, 0, {30, 33}, 5, false, NULL},
        {tess_f64, tess_f64, tess_u8, 2, 0, {30, 64}, 3, false, NULL},
        {tess_f64, tess_f64, tess_i8, 2, 0, {30, 64}, 9, false, NULL},
        {tess_f64, tess_f64, tess_bf16, 2, 0, {30, 31}, 3, true, NULL},
        {tess_f32, tess_f32, tess_bool, 3, 0, {6, 9, 21}, 3, false, NULL},
        {tess_f64, tess_f64, tess_i8, 3, 0, {6, 9, 32}, 3, false, NULL},
        {tess_f64, tess_f64, tess_u8, 2, 2, {33, 48}, 3, false, NULL},
        {tess_f16, tess_f64, tess_u8, 2, 2, {33, 48}, 15, false, NULL},
        {tess_i32, tess_i8, tess_u8, 2, 2, {33, 47}, 15, false, NULL},
        {tess_u8, tess_f64, tess_f16, 3, 3, {6, 9, 33}, 3, false, NULL},
        {tess_f16, tess_f64, tess_u8, 3, 3, {6, 9, 32}, 3, false, NULL},
        {tess_i32, tess_i8, tess_i8, 3, 3, {6, 9, 33}, 3, false, NULL},
        {tess_f32, tess_f32, tess_i8, 2, 2, {33, 47}, 7, false, NULL},
        {tess_f32, tess_f32, tess_u8, 2, 0, {37, 141}, 3, false, "correlate/patch_odd"},
        {tess_f32, tess_f32, tess_i16, 2, 0, {37, 141}, 5, false, "correlate/patch_odd"},
        {tess_f32, tess_f32, tess_bf16, 2, 0, {9, 1041}, 3, true, "correlate/patch_odd"},
        {tess_f64, tess_f64, tess_i8, 2, 0, {21, 75}, 3, false, "correlate/patch_odd"},
        {tess_f64, tess_f64, tess_u8, 2, 0, {30, 176}, 3, false, "correlate/patch"},
        {tess_f64, tess_f64, tess_f16, 2, 0, {30, 176}, 3, true, "correlate/patch"},
        {tess_f64, tess_f64, tess_i8, 2, 2, {33, 176}, 3, false, "correlate/patch_separable"},
        {tess_f16, tess_f64, tess_u8, 3, 3, {6, 9, 64}, 3, false, "correlate/separable3d"},
        {tess_f16, tess_f64, tess_i8, 3, 3, {8, 9, 65}, 7, false, "correlate/separable3d_odd"},
        {tess_f64, tess_f64, tess_u8, 3, 3, {6, 9, 33}, 3, false, "correlate/separable3d_odd"},
        {tess_u8, tess_f32, tess_u8, 1, 0, {9000}, 9, true, "correlate/line"},
        {tess_u8, tess_f32, tess_i8, 1, 0, {8195}, 3, true, "correlate/line"},
        {tess_u8, tess_i8, tess_u8, 1, 0, {4099}, 9, true, "correlate/line"},
        {tess_i8, tess_i8, tess_i8, 2, 0, {3, 4112}, 16, true, "correlate/line"},
        {tess_i8, tess_f32, tess_u8, 1, 0, {2051}, 5, true, "correlate/line"},
        {tess_bool, tess_f32, tess_u8, 1, 0, {4097}, 15, true, "correlate/line"},
        {tess_f16, tess_f32, tess_f16, 1, 0, {3001}, 9, true, "correlate/line"},
        {tess_i16, tess_f32, tess_bf16, 2, 0, {2, 2056}, 17, true, "correlate/line"},
        {tess_u16, tess_f32, tess_i16, 1, 0, {20}, 11, true, "correlate/line"},
        {tess_u8, tess_f32, tess_u8, 1, 0, {66000}, 8, true, NULL},
    };
    uint64_t random = 1123;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        compare(&cases[i], &random);
}

/* Weights that go to the kernel times 2^24, some of which that would make infinite; results of f32, so that every bit is seen. */
static void weights_of_any_size(void **state) {
    (void)state;
    static const float masks[][9] = {{0x1p-149f, 0x1p-126f, -0x1.8p-140f, 0x1.fffffep-127f, -0.0f, 0, 0x1p-148f, -0x1p-149f, 0x1.234568p-125f},
                                     {0x1.fffffep+103f, -0x1.fffffep+103f, 1, 0x1p-100f, 3.3e7f, -0x1p+103f, 0x1.8p+102f, 0.1f, -7e-30f},
                                     {0x1p+104f, 1, 2, 3, 4, 5, 6, 7, 8},
                                     {1, -2, 3, -FLT_MAX, 4, 5, 6, FLT_MAX, 8},
                                     {0.5f, INFINITY, 3, 4, 5, -INFINITY, 6, 7, 8},
                                     {1, 2, 3, 4, NAN, 5, 6, 7, 8}};
    static const tess_type results[] = {tess_f32, tess_u8, tess_f16};
    const int64_t shape[] = {97, 1040}, widths[] = {3, 3};
    uint64_t random = 24;
    for (int i = 0; i < TESS_COUNT(masks) * TESS_COUNT(results); i++) {
        hostile_array in, mask, expected, out;
        hostile_make(&in, &random, tess_u8, 2, shape, HOSTILE_COMPACT);
        hostile_make(&mask, &random, tess_f32, 2, widths, HOSTILE_COMPACT);
        hostile_make(&expected, &random, results[i % 3], 2, shape, HOSTILE_COMPACT);
        hostile_make(&out, &random, results[i % 3], 2, shape, HOSTILE_COMPACT);
        hostile_fill(&in, &random, 0);
        memcpy((char *)mask.tensor.data + mask.tensor.byte_offset, masks[i / 3], sizeof masks[0]);
        tess_correlate_options options = {.struct_size = sizeof options, .boundary = TESS_BOUNDARY_MIRROR};
        options.call.engine = TESS_ENGINE_CPU;
        assert_tess_ok(tess_correlate(context, &in.tensor, &mask.tensor, &expected.tensor, &options));
        options.call.engine = engine;
        for (int odd = 0; odd < 2; odd++) {
            options.call.strategy = odd ? "correlate/patch_odd" : "correlate/patch";
            assert_tess_ok(tess_correlate(context, &in.tensor, &mask.tensor, &out.tensor, &options));
            if (hostile_differs(&out, &expected) >= 0 || !hostile_intact(&out))
                fail_msg("%s, mask %d to %s: other bits than the CPU's", options.call.strategy, i / 3, tess_type_name(results[i % 3]));
            hostile_fill(&out, &random, 0);
        }
        hostile_free(&in);
        hostile_free(&mask);
        hostile_free(&expected);
        hostile_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fewer_bytes_than_a_word), cmocka_unit_test(weights_of_any_size)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_narrow_gpu.c - proves: results narrower than what is summed, of 1 and 2 bytes, and bytes summed in 8, have the CPU's bits on the GPU in
 * every kernel whose threads have few columns: fewer than a word of results or elements is no shape of theirs. */
#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;

typedef struct narrow_case {
    tess_type in, mask, out;
    int ndim, list; /* list: so many masks of one axis, else one mask of all axes */
    int64_t shape[3], width;
    bool row_only; /* the mask lies along the last axis */
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
        {tess_f32, tess_f32, tess_u8, 2, 0, {37, 41}, 3, false},     {tess_f32, tess_f32, tess_f16, 2, 0, {37, 41}, 3, false},
        {tess_f64, tess_f64, tess_i16, 2, 0, {30, 33}, 5, false},    {tess_f64, tess_f64, tess_u8, 2, 0, {30, 64}, 3, false},
        {tess_f64, tess_f64, tess_i8, 2, 0, {30, 64}, 9, false},     {tess_f64, tess_f64, tess_bf16, 2, 0, {30, 31}, 3, true},
        {tess_f32, tess_f32, tess_bool, 3, 0, {6, 9, 21}, 3, false}, {tess_f64, tess_f64, tess_i8, 3, 0, {6, 9, 32}, 3, false},
        {tess_f64, tess_f64, tess_u8, 2, 2, {33, 48}, 3, false},     {tess_f16, tess_f64, tess_u8, 2, 2, {33, 48}, 15, false},
        {tess_i32, tess_i8, tess_u8, 2, 2, {33, 47}, 15, false},     {tess_u8, tess_f64, tess_f16, 3, 3, {6, 9, 33}, 3, false},
        {tess_f16, tess_f64, tess_u8, 3, 3, {6, 9, 32}, 3, false},   {tess_i32, tess_i8, tess_i8, 3, 3, {6, 9, 33}, 3, false},
        {tess_f32, tess_f32, tess_i8, 2, 2, {33, 47}, 7, false},
    };
    uint64_t random = 1123;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        compare(&cases[i], &random);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fewer_bytes_than_a_word)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_shifted_gpu.c - proves: lists of three masks whose last runs along rows have the CPU's bits by correlate/shifted3d: rows and planes at every step
 * modulo a vector and a sector, on either side, by every boundary and extent, with origins, of every kind of element; several tiles along every axis, and arrays smaller
 * than one. */
#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;

typedef struct list_case {
    tess_type in, mask, out;
    int64_t shape[4], width[3], origin[3]; /* shape[0]: a batch */
} list_case;

static void compare(const list_case *c, tess_boundary boundary, tess_extent extent, uint64_t *random) {
    hostile_array in, mask[3], expected, out;
    const DLTensor *masks[3];
    int64_t shape[4] = {c->shape[0]};
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .boundary = boundary,
                                      .constant = boundary == TESS_BOUNDARY_CONSTANT ? 3 : 0,
                                      .extent = extent,
                                      .origin = extent == TESS_EXTENT_SAME ? c->origin : NULL};
    hostile_make(&in, random, c->in, 4, c->shape, HOSTILE_COMPACT);
    hostile_fill(&in, random, 1);
    for (int k = 0; k < 3; k++) {
        hostile_make(&mask[k], random, c->mask, 1, &c->width[k], HOSTILE_COMPACT);
        hostile_fill(&mask[k], random, 0);
        masks[k] = &mask[k].tensor;
        shape[k + 1] = c->shape[k + 1] + (extent == TESS_EXTENT_FULL ? c->width[k] - 1 : extent == TESS_EXTENT_VALID ? 1 - c->width[k] : 0);
    }
    hostile_make(&expected, random, c->out, 4, shape, HOSTILE_COMPACT);
    hostile_make(&out, random, c->out, 4, shape, HOSTILE_COMPACT);
    options.call.engine = TESS_ENGINE_CPU;
    assert_tess_ok(tess_correlate_separable(context, &in.tensor, masks, 3, &expected.tensor, &options));
    options.call.engine = engine;
    options.call.strategy = "correlate/shifted3d";
    if (tess_correlate_separable(context, &in.tensor, masks, 3, &out.tensor, &options) != TESS_OK)
        fail_msg("%s, rows of %d, boundary %d, extent %d: %s", tess_type_name(c->in), (int)c->shape[3], (int)boundary, (int)extent, tess_detail());
    if (hostile_differs(&out, &expected) >= 0 || !hostile_intact(&out))
        fail_msg("%s by %s to %s, %d x %d x %d x %d by %d + %d + %d, boundary %d, extent %d: other bits than the CPU's", tess_type_name(c->in),
                 tess_type_name(c->mask), tess_type_name(c->out), (int)c->shape[0], (int)c->shape[1], (int)c->shape[2], (int)c->shape[3],
                 (int)c->width[0], (int)c->width[1], (int)c->width[2], (int)boundary, (int)extent);
    for (int k = 0; k < 3; k++)
        hostile_free(&mask[k]);
    hostile_free(&in);
    hostile_free(&expected);
    hostile_free(&out);
}

static void lists(void **state) {
    (void)state;
    static const list_case cases[] = {
        {tess_f32, tess_f32, tess_f32, {1, 9, 37, 213}, {7, 7, 7}, {0}},
        {tess_f32, tess_f32, tess_f32, {3, 7, 9, 61}, {3, 4, 5}, {1, -1, 2}},
        {tess_f32, tess_f32, tess_f32, {2, 5, 6, 7}, {5, 3, 7}, {-1, 1, -3}},
        {tess_f32, tess_f32, tess_u8, {1, 6, 19, 131}, {1, 3, 2}, {0}},
        {tess_f64, tess_f64, tess_f64, {1, 8, 21, 95}, {5, 7, 7}, {0, 2, 0}},
        {tess_f64, tess_f64, tess_f32, {2, 12, 11, 33}, {11, 9, 11}, {0}},
        {tess_u8, tess_f32, tess_u8, {1, 9, 18, 203}, {7, 7, 7}, {0}},
        {tess_u8, tess_f32, tess_f32, {2, 6, 9, 45}, {3, 5, 9}, {0, 0, 4}},
        {tess_i8, tess_f32, tess_i16, {1, 5, 7, 51}, {3, 3, 3}, {0}},
        {tess_f16, tess_f32, tess_f16, {1, 9, 33, 187}, {7, 7, 7}, {0}},
        {tess_bf16, tess_f32, tess_bf16, {2, 5, 17, 77}, {5, 5, 5}, {1, 0, 0}},
        {tess_i16, tess_f32, tess_i16, {1, 11, 12, 70}, {11, 10, 9}, {0}},
        {tess_f16, tess_f32, tess_f16, {1, 9, 17, 256}, {7, 7, 7}, {0}},
        {tess_u8, tess_f32, tess_u8, {2, 8, 35, 208}, {7, 7, 7}, {0, 1, -2}},
        {tess_u8, tess_f32, tess_u8, {1, 5, 9, 16}, {3, 5, 3}, {0}},
        {tess_f32, tess_f32, tess_f32, {1, 9, 20, 204}, {9, 9, 9}, {0}},
        {tess_f64, tess_f64, tess_f64, {1, 7, 18, 104}, {7, 7, 7}, {0}},
        {tess_u8, tess_f32, tess_u8, {1, 12, 45, 129}, {5, 5, 5}, {0}},
        {tess_f32, tess_f32, tess_f32, {1, 14, 27, 130}, {6, 5, 6}, {2, 0, -2}},
        {tess_u8, tess_f64, tess_f64, {1, 6, 13, 83}, {3, 7, 5}, {0}},
        {tess_f32, tess_f32, tess_f32, {2, 6, 9, 302}, {3, 3, 3}, {0}},
    };
    uint64_t random = 1512;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
            if (gpu_test_spared(engine, i + boundary, 3, 6))
                continue;
            tess_extent extent = (tess_extent)((i + boundary) % 3);
            for (int k = 0; k < 3; k++) /* nothing would come out, or rows of one element, which are none */
                extent = extent == TESS_EXTENT_VALID && cases[i].shape[k + 1] <= cases[i].width[k] ? TESS_EXTENT_SAME : extent;
            compare(&cases[i], (tess_boundary)boundary, extent, &random);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

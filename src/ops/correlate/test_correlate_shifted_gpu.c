/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_shifted_gpu.c - proves: lists of three masks whose last runs along rows have the CPU's bits by correlate/shifted3d: rows and planes at every step
 * modulo a vector and a sector, on either side, by every boundary and extent, with origins, of every kind of element; several tiles along every axis, and arrays smaller
 * than one. */
#include "correlate_lists.h"

static tess_context *context;
static tess_engine engine;

typedef struct list_case {
    tess_type in, mask, out;
    int64_t shape[4], width[3], origin[3]; /* shape[0]: a batch */
} list_case;

static void compare(const list_case *c, tess_boundary boundary, tess_extent extent, uint64_t *random) {
    const list_problem p = {"correlate/shifted3d", c->in, c->mask, c->out, 4, 3, c->shape, c->width, c->origin, 1, boundary, extent};
    if (!lists_agree(context, engine, &p, random))
        fail_msg("%s, rows of %d, boundary %d, extent %d: %s", tess_type_name(c->in), (int)c->shape[3], (int)boundary, (int)extent, tess_detail());
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
            if (gpu_test_spared(engine, i + boundary, 4, 8))
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

/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_apart_gpu.c - proves: lists of two long masks by columns first, whose warps wait for their neighbours only, have the CPU's bits: tiles of 2 to
 * 12 warps, edges within a copy, every boundary, extents, origins, batches, elements of 1 to 8 bytes. The virtual GPU looks for races meanwhile. */
#include "correlate_lists.h"

static tess_context *context;
static tess_engine engine;

typedef struct apart_case {
    tess_type in, mask, out;
    int ndim;
    int64_t shape[3], y, x; /* taps */
    int64_t origin[2];
} apart_case;

static void compare(const apart_case *c, tess_boundary boundary, tess_extent extent, uint64_t *random) {
    const int64_t width[] = {c->y, c->x};
    const list_problem p = {"correlate/separable2d", c->in, c->mask, c->out, c->ndim, 2, c->shape, width, c->origin, c->ndim - 2, boundary, extent};
    if (!lists_agree(context, engine, &p, random))
        fail_msg("%s to %s, %d + %d taps: %s", tess_type_name(c->in), tess_type_name(c->out), (int)c->y, (int)c->x, tess_detail());
}

static const apart_case cases[] = {
    {tess_f32, tess_f32, tess_f32, 2, {70, 1536}, 31, 31, {0, 0}},   {tess_f32, tess_f32, tess_f32, 2, {47, 516}, 31, 5, {-3, 1}},
    {tess_f32, tess_f32, tess_f32, 2, {33, 136}, 18, 33, {2, -4}},   {tess_f32, tess_f32, tess_f32, 3, {3, 41, 1000}, 21, 8, {0, 0}},
    {tess_f32, tess_f32, tess_u8, 2, {40, 80}, 19, 16, {0, 5}},      {tess_u8, tess_f32, tess_u8, 2, {45, 1040}, 15, 15, {0, 0}},
    {tess_i8, tess_f32, tess_f32, 3, {2, 30, 400}, 11, 9, {1, 1}},   {tess_f16, tess_f32, tess_f16, 2, {50, 1544}, 15, 14, {0, 0}},
    {tess_i16, tess_f32, tess_bf16, 2, {33, 264}, 10, 31, {-2, 9}},  {tess_f64, tess_f64, tess_f64, 2, {44, 770}, 17, 15, {0, 0}},
    {tess_f64, tess_f64, tess_u8, 2, {40, 96}, 12, 7, {0, 0}},       {tess_u8, tess_f64, tess_f64, 2, {40, 528}, 13, 17, {3, -3}},
    {tess_f32, tess_f64, tess_f16, 3, {2, 37, 232}, 16, 3, {-1, 0}},
};

static void neighbours_meet(void **state) {
    (void)state;
    uint64_t random = 2311;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
            if (gpu_test_spared(engine, i + boundary, 3, 3)) /* what they look into does not depend on the boundary */
                continue;
            compare(&cases[i], (tess_boundary)boundary, TESS_EXTENT_SAME, &random);
            const bool whole = (cases[i].x - 1) * (int64_t)tess_type_size(cases[i].out) % 16 == 0; /* rows of other extents, too */
            for (int extent = TESS_EXTENT_SAME; whole && boundary % 3 == i % 3 && extent <= TESS_EXTENT_FULL; extent++)
                if (extent != TESS_EXTENT_SAME)
                    compare(&cases[i], (tess_boundary)boundary, (tess_extent)extent, &random);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours_meet)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

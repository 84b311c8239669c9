/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_shared_gpu.c - proves: small masks over narrow elements in rows of whole vectors, which go through shared memory, have the reference's bits under every boundary: images
 * of one block and of many, whose last blocks begin before the end, of rows that no block's width divides or that are shorter than a block, with gaps and upside
 * down, in batches, of several colours, with origins; nothing beside the rows is met or written. */
#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;

typedef struct shared_case {
    tess_type in, mask, out;
    int64_t arrays, rows, columns, colours, gap; /* gap: elements behind each row, on both sides */
    int64_t down, along, origin[2];
    bool upside_down;
} shared_case;

/* Axes: array, row, column, colour; the masked ones are the middle two. */
static void make(hostile_array *a, uint64_t *random, tess_type type, const shared_case *c) {
    const int64_t shape[] = {c->arrays, c->rows, c->columns + c->gap, c->colours};
    hostile_make(a, random, type, 4, shape, HOSTILE_COMPACT);
    hostile_fill(a, random, 1);
    a->shape[2] = c->columns;
    if (c->upside_down) {
        a->tensor.byte_offset += (uint64_t)((c->rows - 1) * a->strides[1] * a->itemsize);
        a->strides[1] = -a->strides[1];
    }
}

static void compare(const shared_case *c, tess_boundary boundary, uint64_t *random) {
    static const int axes[] = {1, 2};
    hostile_array in, mask, expected, out;
    const int64_t widths[] = {c->down, c->along};
    make(&in, random, c->in, c);
    hostile_make(&mask, random, c->mask, 2, widths, HOSTILE_COMPACT);
    hostile_fill(&mask, random, 0);
    uint64_t same = *random;
    make(&expected, &same, c->out, c);
    make(&out, random, c->out, c);
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .boundary = boundary,
                                      .constant = boundary == TESS_BOUNDARY_CONSTANT ? 1 : 0,
                                      .origin = c->origin,
                                      .axes = axes,
                                      .naxes = 2};
    for (int e = 0; e < 2; e++) {
        options.call.engine = e ? engine : TESS_ENGINE_CPU;
        options.call.strategy = e ? "correlate/patch" : "correlate/reference";
        if (tess_correlate(context, &in.tensor, &mask.tensor, e ? &out.tensor : &expected.tensor, &options) != TESS_OK)
            fail_msg("%s to %s: %s", tess_type_name(c->in), tess_type_name(c->out), tess_detail());
    }
    if (memcmp(out.block, expected.block, out.block_size))
        fail_msg("%s to %s, %d x %d of %d x %d x %d, boundary %d: other bits than the reference's", tess_type_name(c->in), tess_type_name(c->out),
                 (int)c->down, (int)c->along, (int)c->arrays, (int)c->rows, (int)c->columns, (int)boundary);
    hostile_free(&in);
    hostile_free(&mask);
    hostile_free(&expected);
    hostile_free(&out);
}

#define U8 tess_u8, tess_f32, tess_u8
#define F16 tess_f16, tess_f32, tess_f16

static void squares(void **state) {
    (void)state;
    static const shared_case cases[] = {
        {U8, 1, 41, 1040, 1, 0, 3, 3, {0}, false},
        {U8, 2, 35, 1920, 1, 0, 3, 3, {0}, false},
        {U8, 1, 67, 528, 1, 32, 3, 3, {0}, true},
        {U8, 1, 33, 624, 1, 0, 2, 3, {0}, false},
        {U8, 1, 33, 272, 1, 0, 3, 2, {0, -1}, false},
        {U8, 1, 33, 272, 1, 0, 1, 3, {0}, false},
        {U8, 2, 41, 240, 4, 0, 3, 3, {0}, false},
        {U8, 3, 53, 256, 1, 0, 5, 5, {0}, false},
        {U8, 1, 99, 1040, 1, 0, 5, 5, {0}, false},
        {U8, 1, 57, 1920, 1, 0, 5, 5, {0}, false},
        {U8, 1, 50, 656, 1, 16, 5, 3, {-1, 1}, true},
        {U8, 1, 50, 296, 1, 8, 4, 4, {0}, false}, /* rows of no whole number of vectors */
        {U8, 1, 35, 144, 1, 0, 3, 5, {0, 2}, false},
        {U8, 1, 35, 128, 2, 0, 5, 5, {0}, false},
        {U8, 2, 77, 224, 1, 0, 3, 3, {0}, false}, /* lanes left over */
        {U8, 1, 131, 224, 1, 0, 5, 5, {0}, true},
        {U8, 2, 70, 64, 1, 0, 5, 5, {0}, false},
        {U8, 1, 66, 64, 1, 0, 3, 3, {0}, false},
        {U8, 1, 4, 1920, 1, 0, 3, 3, {0}, false},
        {U8, 1, 70, 1280, 1, 0, 3, 3, {0}, false},
        {U8, 2, 61, 112, 1, 16, 3, 3, {1, -1}, true}, /* as wide as a block */
        {U8, 2, 40, 64, 4, 0, 3, 3, {0}, false},
        {F16, 2, 61, 112, 1, 0, 3, 3, {0}, false},
        {F16, 1, 35, 72, 3, 0, 5, 3, {-1, 0}, false},
        {F16, 1, 77, 224, 1, 0, 5, 5, {0}, false},
        {F16, 1, 9, 240, 1, 0, 5, 5, {0}, false},
        {tess_u8, tess_f32, tess_f32, 1, 55, 528, 1, 0, 5, 5, {0}, false},
        {tess_u8, tess_f32, tess_i16, 1, 55, 528, 1, 0, 2, 5, {0}, false},
        {tess_i8, tess_f32, tess_i8, 1, 35, 400, 1, 0, 5, 4, {0}, false},
        {tess_bool, tess_f32, tess_u8, 1, 35, 400, 1, 0, 3, 3, {0}, false},
        {F16, 1, 43, 520, 1, 0, 3, 3, {0}, false},
        {F16, 2, 29, 960, 1, 0, 3, 3, {0}, false},
        {F16, 1, 43, 520, 1, 8, 5, 5, {0}, true},
        {F16, 2, 37, 256, 1, 0, 5, 5, {0}, false},
        {F16, 1, 37, 968, 1, 0, 4, 5, {1, -1}, false},
        {tess_bf16, tess_f32, tess_bf16, 1, 37, 392, 1, 0, 5, 5, {0}, false},
        {tess_i16, tess_f32, tess_u8, 1, 37, 400, 1, 0, 3, 5, {0}, false},
        {tess_u16, tess_f32, tess_u16, 1, 21, 136, 3, 0, 3, 3, {0}, false},
    };
    uint64_t random = 1124;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++)
            if (!gpu_test_spared(engine, i + boundary, 4, 16))
                compare(&cases[i], (tess_boundary)boundary, &random);
}

/* Waves of blocks that leave no row over; of two arrays each, the last of one. */
static void many(void **state) {
    (void)state;
    static const shared_case cases[] = {{U8, 924, 112, 112, 1, 0, 3, 3, {0}, false},
                                        {U8, 1055, 112, 112, 1, 0, 3, 3, {0}, false},
                                        {U8, 791, 112, 112, 1, 0, 5, 5, {0}, false},
                                        {U8, 198, 224, 224, 1, 0, 5, 5, {0}, false},
                                        {F16, 791, 112, 112, 1, 0, 5, 5, {0}, false}};
    uint64_t random = 1125;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        if (!gpu_test_spared(engine, i, 2, 8))
            compare(&cases[i], TESS_BOUNDARY_REFLECT, &random);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(squares), cmocka_unit_test(many)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

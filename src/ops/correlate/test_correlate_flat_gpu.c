/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_flat_gpu.c - proves: small masks over small images without gaps have the reference's bits by correlate/flat: images of one band and of several, that begin
 * anywhere in a vector, of widths that lie on either side of whole vectors and as far from them as can be, of several colours, under every boundary, with origins, of every
 * kind of element and of results, and images too wide for one block, in tiles; and lists of a column and a row over them by correlate/patch_separable_odd; what stands between images is neither met nor written. It is chosen where it was measured to be
 * faster. */
#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;

typedef struct flat_case {
    tess_type in, mask, out;
    int64_t arrays, rows, columns, colours, gap_in, gap_out; /* gaps: rows between images */
    int64_t down, along, origin[2];
} flat_case;

/* Axes: array, row, column, colour; the masked ones are the middle two. */
static void make(hostile_array *a, uint64_t *random, tess_type type, const flat_case *c, int64_t gap) {
    const int64_t shape[] = {c->arrays, c->rows + gap, c->columns, c->colours};
    hostile_make(a, random, type, 4, shape, HOSTILE_COMPACT);
    hostile_fill(a, random, 1);
    a->shape[1] = c->rows;
}

/* One mask, or a list: a column and then a row. */
static void compare(const flat_case *c, bool list, tess_boundary boundary, uint64_t *random) {
    static const int axes[] = {1, 2};
    hostile_array in, mask, along, expected, out;
    const char *row = list ? "correlate/patch_separable_odd" : "correlate/flat";
    const int64_t widths[] = {c->down, c->along};
    make(&in, random, c->in, c, c->gap_in);
    hostile_make(&mask, random, c->mask, list ? 1 : 2, widths, HOSTILE_COMPACT);
    hostile_make(&along, random, c->mask, 1, &widths[1], HOSTILE_COMPACT);
    hostile_fill(&mask, random, 0);
    hostile_fill(&along, random, 0);
    const DLTensor *masks[] = {&mask.tensor, &along.tensor};
    uint64_t same = *random;
    make(&expected, &same, c->out, c, c->gap_out);
    make(&out, random, c->out, c, c->gap_out);
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .boundary = boundary,
                                      .constant = boundary == TESS_BOUNDARY_CONSTANT ? 1 : 0,
                                      .origin = c->origin,
                                      .axes = axes,
                                      .naxes = 2};
    for (int e = 0; e < 2; e++) {
        options.call.engine = e ? engine : TESS_ENGINE_CPU;
        options.call.strategy = e ? row : "correlate/reference";
        const DLTensor *to = e ? &out.tensor : &expected.tensor;
        if (e && list) {
            tess_plan *plan;
            assert_tess_ok(tess_plan_correlate(&plan, context, &in.tensor, masks, 2, to, &options));
            const bool wraps = boundary == TESS_BOUNDARY_WRAP && c->columns > 16 * 32; /* from one warp to another */
            if (strcmp(gpu_test_kernel(plan), wraps ? "patch_list_odd" : "flat_list") != 0)
                fail_msg("%s to %s, %d x %d over rows of %d: by %s", tess_type_name(c->in), tess_type_name(c->out), (int)c->down, (int)c->along,
                         (int)c->columns, gpu_test_kernel(plan));
            tess_plan_free(plan);
        }
        const tess_status status = list ? tess_correlate_separable(context, &in.tensor, masks, 2, to, &options)
                                        : tess_correlate(context, &in.tensor, &mask.tensor, to, &options);
        if (status != TESS_OK)
            fail_msg("%s: %s to %s, rows of %d: %s", row, tess_type_name(c->in), tess_type_name(c->out), (int)c->columns, tess_detail());
    }
    if (memcmp(out.block, expected.block, out.block_size))
        fail_msg("%s: %s to %s, %d x %d of %d x %d x %d, boundary %d: other bits than the reference's", row, tess_type_name(c->in),
                 tess_type_name(c->out), (int)c->down, (int)c->along, (int)c->arrays, (int)c->rows, (int)c->columns, (int)boundary);
    hostile_free(&in);
    hostile_free(&mask);
    hostile_free(&along);
    hostile_free(&expected);
    hostile_free(&out);
}

#define U8 tess_u8, tess_f32, tess_u8
#define F16 tess_f16, tess_f32, tess_f16
#define F32 tess_f32, tess_f32, tess_f32

static void images(void **state) {
    (void)state;
    static const flat_case cases[] = {
        {U8, 3, 255, 253, 1, 0, 0, 3, 3, {0}},
        {U8, 2, 70, 253, 1, 0, 0, 5, 5, {0}},
        {U8, 3, 47, 248, 1, 0, 0, 3, 3, {0}},
        {U8, 3, 41, 247, 1, 0, 0, 5, 5, {0}},
        {U8, 2, 61, 224, 1, 0, 0, 3, 3, {0}},
        {U8, 2, 33, 256, 1, 0, 0, 4, 5, {1, -2}},
        {U8, 3, 31, 131, 1, 1, 1, 2, 3, {-1, 1}},
        {U8, 3, 9, 65, 1, 16, 0, 5, 4, {2, 1}},
        {U8, 2, 35, 101, 1, 0, 0, 3, 2, {0}},
        {U8, 3, 5, 77, 1, 0, 0, 5, 5, {0}},
        {U8, 2, 33, 71, 3, 0, 0, 3, 3, {0}},
        {U8, 2, 19, 1999, 1, 0, 0, 3, 3, {0}},
        {tess_u8, tess_i8, tess_u8, 3, 101, 253, 1, 0, 0, 3, 3, {0}},
        {tess_u8, tess_i8, tess_i16, 2, 40, 251, 1, 0, 0, 5, 5, {-2, 2}},
        {tess_i8, tess_i8, tess_i8, 2, 40, 117, 1, 0, 0, 4, 4, {0}},
        {tess_u8, tess_i8, tess_i32, 2, 21, 90, 1, 0, 0, 3, 5, {0}},
        {tess_u8, tess_f32, tess_f32, 2, 33, 203, 1, 0, 0, 3, 3, {0}},
        {tess_i8, tess_f32, tess_i8, 2, 33, 203, 1, 0, 0, 3, 5, {0}},
        {tess_bool, tess_f32, tess_u8, 2, 33, 150, 1, 0, 0, 3, 3, {0}},
        {U8, 3, 112, 112, 1, 0, 0, 3, 3, {0}}, /* 64 threads */
        {F16, 3, 99, 253, 1, 0, 0, 3, 3, {0}}, /* by way of registers, as all of 2 and 4 bytes by 3 x 3 */
        {F16, 3, 47, 252, 1, 0, 0, 5, 5, {0}},
        {F16, 2, 60, 85, 1, 2, 2, 5, 3, {0, -1}},
        {tess_f16, tess_f32, tess_f32, 2, 30, 129, 1, 0, 0, 3, 3, {0}},
        {tess_bf16, tess_f32, tess_bf16, 2, 37, 63, 1, 0, 0, 5, 5, {0}},
        {tess_i16, tess_f32, tess_u8, 2, 37, 255, 1, 0, 0, 3, 5, {0}},
        {tess_u16, tess_f32, tess_u16, 2, 21, 67, 3, 0, 0, 3, 3, {0}},
        {U8, 17, 255, 253, 1, 0, 0, 5, 5, {0}}, /* few images in many blocks */
        {F32, 9, 601, 203, 1, 0, 0, 3, 3, {0}},
        {U8, 1, 21, 4093, 1, 0, 0, 3, 3, {0}},
        {U8, 1, 21, 4807, 1, 0, 0, 3, 3, {0}}, /* in tiles, from here on */
        {tess_u8, tess_i8, tess_u8, 1, 19, 4300, 1, 0, 0, 4, 5, {0}},
        {U8, 1, 61, 4201, 1, 0, 0, 3, 3, {0}}, /* of them some that lie inside */
        {U8, 1, 131, 4151, 1, 0, 0, 5, 5, {0}},
        {F16, 2, 13, 2309, 1, 0, 0, 5, 4, {0, 1}},
        {F16, 1, 83, 2203, 1, 0, 0, 4, 3, {-1, 0}},
        {tess_u8, tess_f32, tess_f32, 1, 55, 1101, 1, 0, 0, 3, 5, {0}},
        {F16, 1, 83, 2203, 1, 0, 0, 3, 3, {0}},
        {tess_f16, tess_f32, tess_f32, 1, 67, 1101, 1, 0, 0, 3, 3, {0}},
        {F32, 1, 27, 1031, 1, 0, 0, 5, 5, {0}},
        {F32, 1, 61, 1101, 1, 0, 0, 3, 3, {0}},
        {F32, 2, 5, 1498, 1, 0, 0, 3, 3, {-1, 1}},
        {F32, 3, 99, 253, 1, 0, 0, 3, 3, {0}},
        {F32, 3, 41, 254, 1, 0, 0, 5, 5, {0}},
        {F32, 2, 41, 511, 1, 0, 0, 5, 4, {2, -1}},
        {F32, 2, 23, 57, 3, 1, 1, 3, 3, {0}},
        {tess_f32, tess_f32, tess_f16, 2, 30, 97, 1, 0, 0, 3, 3, {0}},
        {U8, 1, 131, 4151, 1, 0, 0, 7, 7, {0}}, /* from here on more than 5 rows or columns */
        {U8, 2, 70, 253, 1, 0, 0, 7, 7, {0}},
        {U8, 3, 41, 247, 1, 1, 1, 6, 7, {1, -1}},
        {U8, 2, 23, 133, 1, 0, 0, 3, 6, {0}},
        {tess_u8, tess_i8, tess_i16, 2, 40, 251, 1, 0, 0, 7, 7, {-2, 2}},
        {F16, 2, 47, 251, 1, 0, 0, 7, 7, {0}},
        {F16, 1, 83, 2203, 1, 0, 0, 7, 6, {-1, 0}},
        {F32, 1, 41, 1101, 1, 0, 0, 7, 7, {0}},
        {F32, 2, 41, 254, 1, 0, 0, 6, 7, {0}},
    };
    uint64_t random = 1140;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++)
            if (!gpu_test_spared(engine, i + boundary, 4, 8))
                compare(&cases[i], false, (tess_boundary)boundary, &random);
}

/* Lists by gpu_flat_list.cu under every boundary: lanes of 4, 8, 12 and 16 columns, the last one's with more to spare than the mask reaches and with less; rows that are a part of a
 * warp, a warp, several. */
static void lists(void **state) {
    (void)state;
    static const flat_case cases[] = {
        {U8, 3, 255, 253, 1, 0, 0, 7, 7, {0}},
        {U8, 2, 61, 509, 1, 0, 0, 7, 7, {0}},
        {U8, 2, 45, 255, 1, 1, 1, 7, 7, {1, -2}},
        {U8, 3, 33, 251, 1, 0, 0, 3, 3, {0}},
        {U8, 2, 10, 201, 1, 0, 2, 5, 4, {-1, 1}},
        {U8, 3, 29, 377, 1, 0, 0, 5, 7, {0}},
        {U8, 3, 47, 125, 1, 3, 0, 2, 7, {0, 1}},
        {U8, 3, 35, 79, 1, 0, 0, 7, 1, {0}},
        {tess_i8, tess_f32, tess_i8, 2, 37, 247, 1, 0, 0, 6, 5, {0}},
        {tess_u8, tess_i8, tess_u8, 2, 37, 254, 1, 0, 0, 7, 7, {0}},
        {tess_i16, tess_f32, tess_u8, 3, 31, 211, 1, 0, 0, 7, 6, {0}},
        {tess_bf16, tess_f32, tess_bf16, 2, 23, 379, 1, 0, 0, 7, 7, {0}},
        {F16, 3, 127, 253, 1, 0, 0, 7, 7, {0}},
        {F16, 2, 40, 255, 1, 0, 0, 5, 5, {1, 1}},
        {F16, 2, 21, 383, 1, 1, 1, 3, 3, {0}},
        {F16, 2, 21, 121, 1, 1, 0, 7, 3, {0}},
        {U8, 3, 40, 256, 1, 0, 0, 7, 7, {0}}, /* rows that begin at multiples of 16 bytes */
        {U8, 3, 33, 112, 1, 0, 0, 3, 5, {0}},
        {F16, 2, 45, 256, 1, 0, 0, 7, 7, {0}},
        {F16, 3, 33, 128, 1, 0, 0, 5, 5, {0}},
        {U8, 3, 27, 249, 1, 0, 0, 7, 7, {0}},    /* one column in the last lane */
        {U8, 2, 25, 250, 1, 0, 0, 3, 7, {1, 3}}, /* as far to one side as can be */
        {U8, 2, 25, 97, 1, 0, 0, 3, 5, {0, 2}},
        {U8, 2, 25, 97, 1, 0, 0, 3, 5, {0, -2}},
        {F16, 2, 25, 255, 1, 0, 0, 4, 7, {0, -3}},
        {U8, 3, 52, 79, 1, 0, 0, 7, 7, {0}}, /* three bands a warp, two of 12 columns a lane */
        {U8, 2, 33, 179, 1, 0, 0, 7, 7, {0}},
        {F16, 2, 31, 509, 1, 0, 0, 7, 7, {0}},
        {F16, 3, 25, 487, 1, 0, 1, 3, 5, {1, 0}},
        {U8, 2, 41, 1918, 1, 0, 0, 7, 7, {0}}, /* from here on several warps a row */
        {U8, 3, 33, 943, 1, 1, 0, 7, 5, {1, -2}},
        {U8, 2, 25, 957, 1, 0, 0, 5, 7, {0, 1}}, /* every lane that writes */
        {U8, 3, 35, 713, 1, 0, 0, 3, 3, {0}},
        {tess_i8, tess_f32, tess_i8, 2, 27, 714, 1, 0, 1, 2, 6, {0}},
        {tess_i16, tess_f32, tess_u8, 2, 23, 1435, 1, 0, 0, 4, 3, {0}},
        {F16, 2, 25, 717, 1, 0, 0, 7, 7, {0}},
        {tess_bf16, tess_f32, tess_bf16, 3, 21, 715, 1, 1, 0, 6, 4, {0}},
    };
    uint64_t random = 1141;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++)
            if (!gpu_test_spared(engine, i + boundary, 4, 8))
                compare(&cases[i], true, (tess_boundary)boundary, &random);
}

/* Planned only: too many elements for the virtual GPU. */
static void chosen(void **state) {
    (void)state;
    struct {
        tess_type type, mask;
        int64_t shape[3], width;
        const char *row;
    } cases[] = {{tess_u8, tess_f32, {256, 255, 253}, 3, "flat"},       {tess_u8, tess_i8, {256, 255, 253}, 3, "flat"},
                 {tess_f16, tess_f32, {256, 255, 253}, 5, "flat"},      {tess_f32, tess_f32, {256, 255, 253}, 3, "flat"},
                 {tess_f32, tess_f32, {8, 1600, 3001}, 3, "patch_odd"}, {tess_f32, tess_f32, {8, 1600, 3001}, 5, "flat"},
                 {tess_u8, tess_f32, {1, 2000, 8191}, 5, "flat"},       {tess_u8, tess_f32, {1, 2000, 8191}, 3, "flat"},
                 {tess_u8, tess_i8, {1, 2000, 8191}, 3, "flat"},        {tess_u8, tess_i8, {1, 1000, 16381}, 3, "patch_bytes_odd"},
                 {tess_u8, tess_i8, {256, 256, 256}, 3, "flat"},        {tess_u8, tess_f32, {256, 256, 256}, 3, "patch"},
                 {tess_u8, tess_f32, {256, 224, 224}, 3, "patch"},      {tess_u8, tess_f32, {1024, 112, 112}, 3, "patch"},
                 {tess_u8, tess_f32, {256, 208, 208}, 3, "flat"},       {tess_f16, tess_f32, {1024, 112, 112}, 3, "flat"},
                 {tess_f32, tess_f32, {256, 256, 256}, 3, "flat"},      {tess_f32, tess_f32, {256, 288, 288}, 3, "strip2d"},
                 {tess_f32, tess_f32, {1024, 112, 112}, 7, "flat"},     {tess_f32, tess_f32, {256, 224, 224}, 7, "strip2d"},
                 {tess_u8, tess_f32, {256, 224, 224}, 5, "patch"},      {tess_f16, tess_f32, {256, 224, 224}, 3, "patch"},
                 {tess_u8, tess_f32, {15, 255, 253}, 3, "patch_odd"},   {tess_u8, tess_f32, {32, 255, 253}, 3, "flat"},
                 {tess_f32, tess_f32, {1, 1999, 3001}, 5, "patch_odd"}, {tess_u8, tess_f32, {32768, 29, 31}, 3, "short_rows"},
                 {tess_u8, tess_f32, {256, 255, 253}, 7, "flat"},       {tess_f32, tess_f32, {8, 1600, 3001}, 7, "flat"},
                 {tess_u8, tess_i8, {256, 255, 253}, 7, "flat"},        {tess_u8, tess_i8, {1, 1000, 16381}, 7, "patch_bytes_odd"},
                 {tess_u8, tess_f32, {256, 256, 256}, 7, "flat"},       {tess_u8, tess_f32, {1, 1024, 16384}, 7, "flat"},
                 {tess_f16, tess_f32, {256, 256, 256}, 7, "flat"},      {tess_f16, tess_f32, {1, 1024, 16384}, 7, "strip2d"},
                 {tess_f32, tess_f32, {256, 256, 256}, 7, "strip2d"}};
    char weights[49 * 4] = {1, 2, 3, 4, 3, 2, 1, 2, 5};
    char *from = calloc(1 << 28, 1), *to = calloc(1 << 28, 1);
    assert_non_null(from);
    assert_non_null(to);
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        tess_correlate_options options = {.struct_size = sizeof options, .call = {.engine = engine}};
        int64_t widths[] = {cases[i].width, cases[i].width};
        DLTensor in = tess_view(from, cases[i].type, 3, cases[i].shape, NULL), out = tess_view(to, cases[i].type, 3, cases[i].shape, NULL);
        DLTensor mask = tess_view(weights, cases[i].mask, 2, widths, NULL);
        const DLTensor *masks[] = {&mask};
        tess_plan *plan;
        assert_tess_ok(tess_plan_correlate(&plan, context, &in, masks, 1, &out, &options));
        gpu_test_chosen(plan, cases[i].row, i);
    }
    free(from);
    free(to);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(images), cmocka_unit_test(lists), cmocka_unit_test(chosen)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

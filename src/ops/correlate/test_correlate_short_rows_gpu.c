/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_short_rows_gpu.c - proves: arrays with an axis of few elements have the reference's bits in correlate/short_rows: pixels, images of few columns and of few rows, stacks of small images, volumes, axes of one element, masks longer than the axis they
 * run along, in either order of the mask's axes, every boundary, extent and many types, batches that begin anywhere, lists; nothing beside the output's elements is written; and which problems are given to it. */
#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;
static int ran;

typedef struct short_case {
    tess_type in, mask, out;
    int ndim;
    int64_t shape[4];
    int masked;
    int axes[3];
    int64_t width[3];
    int list;
    int64_t pad; /* rows of the second axis that are not the array's: arrays apart */
} short_case;

static void make(hostile_array *a, uint64_t *random, tess_type type, const short_case *c, const int64_t *shape) {
    int64_t there[4];
    memcpy(there, shape, sizeof there);
    there[1] += c->pad;
    hostile_make(a, random, type, c->ndim, there, HOSTILE_COMPACT);
    a->shape[1] = shape[1];
    a->tensor.byte_offset -= a->tensor.byte_offset % 16;
}

static void compare(const short_case *c, tess_boundary boundary, tess_extent extent, uint64_t *random) {
    hostile_array in, mask[3], expected, out;
    const DLTensor *masks[3];
    int64_t shape[4], origin[3];
    memcpy(shape, c->shape, sizeof shape);
    for (int k = 0; k < c->masked; k++) {
        const int64_t more = c->width[k] - 1;
        shape[c->axes[k]] += extent == TESS_EXTENT_FULL ? more : extent == TESS_EXTENT_VALID ? -tess_min64(more, shape[c->axes[k]]) : 0;
        origin[k] = c->width[k] > 2 ? hostile_between(random, -1, 1) : 0;
    }
    make(&in, random, c->in, c, c->shape);
    hostile_fill(&in, random, c->in == tess_u8 ? 0 : 1);
    for (int k = 0; k < (c->list ? c->masked : 1); k++) {
        hostile_make(&mask[k], random, c->mask, c->list ? 1 : c->masked, c->list ? &c->width[k] : c->width, HOSTILE_COMPACT);
        hostile_fill(&mask[k], random, c->mask == tess_f32 || c->mask == tess_c64 ? 1 : 0);
        masks[k] = &mask[k].tensor;
    }
    const uint64_t begun = *random;
    uint64_t same = begun;
    make(&expected, &same, c->out, c, shape);
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .axes = c->axes,
                                      .naxes = c->masked,
                                      .boundary = boundary,
                                      .constant = boundary == TESS_BOUNDARY_CONSTANT ? 1.5 : 0,
                                      .extent = extent,
                                      .origin = extent == TESS_EXTENT_SAME ? origin : NULL};
    for (int e = 0; e < 2; e++) {
        *random = begun;
        make(&out, random, c->out, c, shape);
        options.call.engine = e ? engine : TESS_ENGINE_CPU;
        options.call.strategy = e ? "correlate/short_rows" : "correlate/reference";
        const DLTensor *to = e ? &out.tensor : &expected.tensor;
        const tess_status status = c->list ? tess_correlate_separable(context, &in.tensor, masks, c->masked, to, &options)
                                           : tess_correlate(context, &in.tensor, masks[0], to, &options);
        if (status != TESS_OK && (!e || status != TESS_ERR_STRATEGY))
            fail_msg("%s by %s, %d axes: %s", tess_type_name(c->in), tess_type_name(c->mask), c->ndim, tess_detail());
        ran += e && status == TESS_OK;
        if (e && status == TESS_OK && memcmp(out.block, expected.block, out.block_size))
            fail_msg("%s by %s to %s, %d x %d x %d, %d axes masked by %d x %d, boundary %d, extent %d: other bits than the reference's",
                     tess_type_name(c->in), tess_type_name(c->mask), tess_type_name(c->out), (int)c->shape[0], (int)c->shape[1],
                     c->ndim > 2 ? (int)c->shape[2] : 0, c->masked, (int)c->width[0], (int)c->width[1], (int)boundary, (int)extent);
        hostile_free(&out);
    }
    hostile_free(&in);
    for (int k = 0; k < (c->list ? c->masked : 1); k++)
        hostile_free(&mask[k]);
    hostile_free(&expected);
}

#define F32 tess_f32, tess_f32, tess_f32
#define C64 tess_c64, tess_c64, tess_c64

static const short_case cases[] = {
    {F32, 2, {1000, 12}, 2, {0, 1}, {7, 7}, 0, 0},
    {F32, 2, {500, 24}, 2, {0, 1}, {5, 7}, 0, 0},
    {F32, 2, {300, 13}, 2, {0, 1}, {3, 3}, 0, 0},
    {F32, 2, {301, 6}, 2, {1, 0}, {3, 5}, 0, 0}, /* taps along rows first */
    {F32, 2, {900, 5}, 2, {1, 0}, {9, 2}, 0, 0},
    {F32, 2, {200, 60}, 2, {0, 1}, {3, 9}, 0, 0},
    {tess_i8, tess_f32, tess_i8, 2, {300, 34}, 2, {0, 1}, {1, 7}, 0, 0},
    {tess_u8, tess_f32, tess_u8, 2, {700, 12}, 2, {0, 1}, {3, 5}, 0, 0},
    {tess_u16, tess_f32, tess_i16, 2, {700, 11}, 2, {0, 1}, {3, 5}, 0, 0},
    {tess_i16, tess_f32, tess_u16, 2, {700, 16}, 2, {0, 1}, {3, 2}, 0, 0},
    {tess_bf16, tess_f32, tess_f32, 2, {4000, 1}, 2, {0, 1}, {5, 7}, 0, 0},
    {tess_f16, tess_f32, tess_f16, 2, {1, 3001}, 1, {0}, {9}, 0, 0},
    {tess_f16, tess_f32, tess_f16, 3, {2001, 1, 2}, 1, {2}, {5}, 0, 0},
    {tess_i8, tess_f32, tess_i8, 3, {3, 1033, 1}, 1, {2}, {6}, 0, 0},
    {tess_u16, tess_i8, tess_u16, 3, {5, 1, 520}, 1, {1}, {9}, 0, 0},
    {tess_u8, tess_f32, tess_u8, 3, {2500, 1, 1}, 2, {0, 1}, {9, 7}, 0, 0},
    {tess_i32, tess_f64, tess_i32, 3, {7, 433, 2}, 1, {2}, {3}, 0, 0},
    {tess_bf16, tess_f32, tess_f32, 3, {1000, 4, 2}, 2, {0, 1}, {3, 9}, 0, 0}, /* pixels of two */
    {tess_u8, tess_f32, tess_u8, 3, {601, 7, 3}, 2, {0, 1}, {5, 3}, 0, 0},
    {tess_f64, tess_f64, tess_f64, 2, {700, 3}, 2, {0, 1}, {3, 3}, 0, 0},
    {tess_f64, tess_f64, tess_u8, 2, {700, 10}, 2, {1, 0}, {2, 3}, 0, 0},
    {C64, 2, {600, 9}, 2, {0, 1}, {3, 3}, 0, 0},
    {tess_c64, tess_f32, tess_c64, 2, {600, 4}, 1, {1}, {5}, 0, 0},
    {tess_i64, tess_i64, tess_u64, 2, {600, 4}, 2, {0, 1}, {2, 3}, 0, 0},
    {tess_bool, tess_f32, tess_bool, 2, {600, 9}, 2, {0, 1}, {2, 3}, 0, 0},
    {F32, 3, {3, 500, 12}, 2, {1, 2}, {3, 5}, 0, 1}, /* arrays apart */
    {tess_u8, tess_f32, tess_u8, 3, {4, 500, 12}, 2, {1, 2}, {3, 5}, 0, 4},
    {tess_f16, tess_f32, tess_f32, 4, {2, 3, 400, 7}, 2, {2, 3}, {4, 3}, 0, 0},
    {F32, 3, {200, 10, 14}, 2, {1, 2}, {3, 3}, 0, 0}, /* stacks of small images */
    {F32, 3, {21, 28, 28}, 2, {1, 2}, {5, 5}, 0, 0},
    {F32, 3, {13, 32, 32}, 2, {2, 1}, {3, 3}, 0, 0},
    {tess_u8, tess_f32, tess_u8, 3, {29, 28, 28}, 2, {1, 2}, {3, 3}, 0, 0},
    {tess_u8, tess_f32, tess_u8, 3, {301, 5, 9}, 2, {1, 2}, {3, 3}, 0, 0}, /* blocks of whole images that are no whole vectors */
    {tess_f16, tess_f32, tess_f16, 3, {50, 95, 3}, 2, {1, 2}, {3, 3}, 0, 0},
    {tess_u16, tess_f32, tess_u16, 3, {40, 10, 58}, 2, {1, 2}, {3, 7}, 0, 0},
    {tess_f16, tess_f32, tess_f16, 4, {50, 9, 8, 3}, 2, {1, 2}, {11, 3}, 0, 0},
    {F32, 4, {3, 20, 5, 16}, 2, {2, 3}, {2, 4}, 0, 1},
    {tess_f64, tess_f64, tess_f64, 3, {61, 1, 12}, 2, {1, 2}, {3, 3}, 0, 0},
    {F32, 2, {700, 16}, 2, {0, 1}, {3, 3}, 0, 0}, /* lines of an even number of vectors */
    {F32, 2, {300, 64}, 2, {0, 1}, {3, 3}, 0, 0},
    {tess_u8, tess_f32, tess_f32, 2, {500, 32}, 2, {0, 1}, {3, 3}, 0, 0},
    {F32, 2, {3, 2003}, 2, {0, 1}, {9, 3}, 0, 0}, /* few rows */
    {F32, 2, {7, 1500}, 2, {0, 1}, {9, 5}, 0, 0},
    {F32, 2, {5, 1501}, 2, {1, 0}, {3, 5}, 0, 0},
    {tess_u8, tess_f32, tess_u8, 2, {2, 3001}, 2, {0, 1}, {3, 5}, 0, 0},
    {tess_f16, tess_f32, tess_f16, 2, {4, 2002}, 1, {0}, {5}, 0, 0},
    {tess_f64, tess_f64, tess_i16, 2, {2, 901}, 2, {0, 1}, {5, 5}, 0, 0},
    {C64, 2, {2, 900}, 2, {0, 1}, {3, 3}, 0, 0},
    {tess_u16, tess_f32, tess_f32, 3, {3, 2, 901}, 2, {1, 2}, {3, 4}, 0, 1},
    {F32, 2, {1500, 12}, 2, {0, 1}, {7, 5}, 1, 0}, /* lists */
    {C64, 2, {600, 9}, 2, {0, 1}, {3, 3}, 1, 0},
    {tess_u8, tess_f32, tess_u8, 3, {601, 7, 3}, 2, {1, 0}, {5, 3}, 1, 0},
    {tess_u8, tess_f32, tess_u8, 3, {90, 28, 28}, 2, {1, 2}, {5, 3}, 1, 0}, /* of images of few rows */
    {tess_f16, tess_f32, tess_f32, 3, {31, 40, 80}, 2, {2, 1}, {3, 5}, 1, 0},
    {tess_i16, tess_f32, tess_i16, 4, {40, 16, 24, 4}, 2, {1, 2}, {5, 5}, 1, 0},
    {F32, 3, {40, 31, 93}, 2, {2, 1}, {5, 3}, 1, 0},
    {F32, 2, {4, 3001}, 2, {0, 1}, {3, 5}, 1, 0},
    {F32, 3, {17, 96, 96}, 2, {1, 2}, {3, 3}, 0, 0}, /* rows as long as there are, and more than the mask's taps times them */
    {tess_u8, tess_f32, tess_u8, 4, {33, 28, 28, 3}, 2, {1, 2}, {5, 5}, 0, 0},
};

static void few_elements(void **state) {
    (void)state;
    uint64_t random = 301;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int k = 0; k < 2 && !hostile_spared(i + k, 6); k++)
            compare(&cases[i], (tess_boundary)(TESS_BOUNDARY_ZERO + (2 * i + k + i / 3) % 6), k ? TESS_EXTENT_SAME : (tess_extent)(i % 3), &random);
    if (ran < (TESS_SANITIZED ? 5 : 80))
        fail_msg("it ran %d times", ran);
}

static void anything(void **state) {
    (void)state;
    uint64_t random = 302;
    static const tess_type types[][3] = {{F32},
                                         {tess_u8, tess_f32, tess_u8},
                                         {tess_f16, tess_f32, tess_f16},
                                         {tess_i16, tess_f32, tess_f32},
                                         {tess_f64, tess_f64, tess_f64},
                                         {tess_i8, tess_i8, tess_i8}};
    ran = 0;
    for (int i = 0; i < (TESS_SANITIZED ? 8 : 60); i++) {
        short_case c = {types[i % 6][0],  types[i % 6][1], types[i % 6][2], .ndim = 2, .masked = 2, .axes = {i / 6 % 2, 1 - i / 6 % 2},
                        .list = i % 5 < 2};
        c.shape[0] = hostile_between(&random, 1, 1200);
        c.shape[1] = hostile_between(&random, 1, 40);
        c.width[0] = hostile_between(&random, 1, 6);
        c.width[1] = hostile_between(&random, 1, 6);
        compare(&c, (tess_boundary)(TESS_BOUNDARY_ZERO + i % 6), i % 4 ? TESS_EXTENT_SAME : (tess_extent)(i / 4 % 3), &random);
    }
    if (ran < (TESS_SANITIZED ? 4 : 40))
        fail_msg("it ran %d times", ran);
}

/* Stacks of so many images that a thread has several rows of one: two, and as many as an image has. */
static void stacks(void **state) {
    (void)state;
    uint64_t random = 303;
    static const short_case all[] = {{tess_u8, tess_f32, tess_u8, 3, {8200, 8, 8}, 2, {1, 2}, {3, 5}, 0, 0},
                                     {F32, 3, {8200, 8, 4}, 2, {1, 2}, {5, 3}, 1, 0},
                                     {tess_f16, tess_f32, tess_f16, 3, {7300, 9, 5}, 2, {2, 1}, {3, 3}, 1, 0},
                                     {tess_u8, tess_f32, tess_u8, 3, {40000, 5, 3}, 2, {1, 2}, {3, 3}, 0, 0},
                                     {tess_u8, tess_f32, tess_u8, 3, {4100, 16, 16}, 2, {2, 1}, {3, 3}, 0, 0}};
    ran = 0;
    for (int i = 0; i < TESS_COUNT(all); i++)
        if (!hostile_spared(i, 10))
            compare(&all[i], (tess_boundary)(TESS_BOUNDARY_ZERO + i % 6), TESS_EXTENT_SAME, &random);
    if (ran < (TESS_SANITIZED ? 1 : 5))
        fail_msg("it ran %d times", ran);
}

/* Volumes: blocks of several, of one, of some planes; alone, behind each other and apart; of one plane and of planes of one row; masks longer than they are deep, along two of the axes, with origins. */
static void volumes(void **state) {
    (void)state;
    uint64_t random = 304;
    static const short_case all[] = {{F32, 3, {9, 12, 10}, 3, {0, 1, 2}, {3, 3, 3}, 0, 0},
                                     {F32, 4, {5, 20, 16, 16}, 3, {1, 2, 3}, {3, 3, 3}, 0, 0},
                                     {F32, 4, {70, 8, 8, 8}, 3, {1, 2, 3}, {3, 5, 3}, 0, 0},
                                     {F32, 3, {40, 36, 36}, 3, {0, 1, 2}, {3, 3, 3}, 0, 0},
                                     {tess_u8, tess_f32, tess_u8, 4, {3, 40, 12, 20}, 3, {1, 2, 3}, {3, 5, 3}, 0, 0},
                                     {tess_u8, tess_f32, tess_f32, 3, {70, 30, 28}, 3, {0, 1, 2}, {7, 3, 3}, 0, 0},
                                     {tess_u8, tess_f32, tess_u8, 4, {301, 3, 5, 9}, 3, {1, 2, 3}, {3, 3, 3}, 0, 0},
                                     {tess_f16, tess_f32, tess_f16, 4, {2, 9, 30, 7}, 3, {1, 2, 3}, {2, 3, 3}, 0, 3},
                                     {tess_i16, tess_f32, tess_i16, 4, {3, 120, 11, 13}, 3, {1, 2, 3}, {5, 2, 3}, 0, 0},
                                     {tess_f64, tess_f64, tess_f64, 3, {50, 9, 6}, 2, {0, 2}, {3, 3}, 0, 0},
                                     {tess_f64, tess_f64, tess_f32, 4, {4, 60, 9, 6}, 2, {1, 2}, {3, 3}, 0, 0},
                                     {C64, 3, {90, 7, 5}, 3, {0, 1, 2}, {3, 3, 3}, 0, 0},
                                     {F32, 4, {9, 1, 12, 9}, 3, {1, 2, 3}, {5, 3, 3}, 0, 0},
                                     {F32, 4, {9, 30, 1, 9}, 3, {1, 2, 3}, {3, 3, 3}, 0, 0},
                                     {tess_u8, tess_f32, tess_u8, 4, {2, 90, 16, 16}, 3, {1, 2, 3}, {4, 3, 3}, 0, 5},
                                     {F32, 4, {7, 20, 16, 16}, 3, {1, 2, 3}, {3, 5, 3}, 1, 0}, /* lists */
                                     {F32, 4, {70, 8, 8, 8}, 3, {1, 2, 3}, {5, 3, 5}, 1, 0},
                                     {tess_u8, tess_f32, tess_u8, 3, {70, 30, 28}, 3, {0, 1, 2}, {5, 5, 5}, 1, 0},
                                     {tess_f16, tess_f32, tess_f16, 4, {3, 17, 12, 20}, 3, {1, 2, 3}, {7, 3, 2}, 1, 2},
                                     {tess_f64, tess_f64, tess_f64, 3, {40, 9, 12}, 3, {0, 1, 2}, {3, 3, 3}, 1, 0},
                                     {C64, 3, {60, 7, 5}, 3, {0, 1, 2}, {3, 2, 3}, 1, 0},
                                     {tess_i16, tess_f32, tess_f32, 3, {30, 40, 48}, 3, {0, 1, 2}, {3, 3, 3}, 1, 0}};
    ran = 0;
    for (int i = 0; i < TESS_COUNT(all); i++)
        for (int k = 0; k < 3 && !hostile_spared(i + k, 6); k++)
            compare(&all[i], (tess_boundary)(TESS_BOUNDARY_ZERO + (2 * i + k + i / 3) % 6), TESS_EXTENT_SAME, &random);
    if (ran < (TESS_SANITIZED ? 2 : 50))
        fail_msg("it ran %d times", ran);
}

static void chosen(void **state) {
    (void)state;
    static const struct {
        tess_type type;
        int64_t shape[3], widths[2];
        const char *row;
        int list;
    } all[] = {{tess_f32, {1, 100000, 12}, {7, 7}, "short_rows", 0}, {tess_i8, {1, 100000, 34}, {1, 7}, "short_rows", 0},
               {tess_f16, {1, 1, 1000000}, {9, 1}, "short_rows", 0}, {tess_f32, {1, 40000, 60}, {3, 9}, "short_rows", 0},
               {tess_f32, {1, 1000, 12}, {7, 7}, "strip2d", 0},      {tess_f32, {1, 200000, 64}, {3, 3}, "flat", 0},
               {tess_u8, {1, 100000, 80}, {1, 9}, "short_rows", 0},  {tess_f32, {1000, 64, 64}, {3, 3}, "short_rows", 0},
               {tess_u8, {1000, 80, 80}, {3, 3}, "patch", 0},        {tess_f32, {1000, 75, 75}, {3, 3}, "flat", 0},
               {tess_u8, {1000, 28, 28}, {5, 5}, "short_rows", 1},   {tess_u8, {1000, 80, 80}, {5, 5}, "patch_separable", 1},
               {tess_f32, {1000, 80, 80}, {5, 5}, "short_rows", 1},  {tess_f32, {1, 100000, 12}, {5, 5}, "short_rows", 1},
               {tess_i32, {1000, 100, 100}, {3, 3}, "strip2d", 0}};
    char *from = calloc(200000 * 64, 4), *to = calloc(200000 * 64, 4), *weights = calloc(64, 8);
    for (int i = 0; i < TESS_COUNT(all); i++) {
        int64_t shape[3], widths[] = {all[i].widths[0], all[i].widths[1]};
        memcpy(shape, all[i].shape, sizeof shape);
        DLTensor in = tess_view(from, all[i].type, 3, shape, NULL), out = tess_view(to, all[i].type, 3, shape, NULL),
                 mask = tess_view(weights, tess_f32, all[i].list ? 1 : 2, widths, NULL);
        const DLTensor *masks[] = {&mask, &mask};
        const tess_correlate_options options = {.struct_size = sizeof options, .call.engine = engine, .axes = (int[]){1, 2}, .naxes = 2};
        tess_plan *plan;
        assert_tess_ok(tess_plan_correlate(&plan, context, &in, masks, all[i].list ? 2 : 1, &out, &options));
        gpu_test_chosen(plan, all[i].row, i);
    }
    free(from);
    free(to);
    free(weights);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_elements), cmocka_unit_test(anything), cmocka_unit_test(stacks),
                                       cmocka_unit_test(volumes), cmocka_unit_test(chosen)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

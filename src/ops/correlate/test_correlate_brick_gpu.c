/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_brick_gpu.c - proves: arrays whose elements lie in any order of axes, at any steps of either sign, and complex ones, have the reference's bits in correlate/brick and brick_odd: input and
 * output in orders of their own, by whole vectors and one by one, every boundary, extent and type, batches, lists; nothing beside the output's elements is written; and which problems are given to it. */
#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;
static int ran_odd, ran_turned;

typedef struct brick_case {
    tess_type in, mask, out;
    int ndim;
    int64_t shape[4];
    int masked;  /* axes with a mask */
    int axes[3]; /* those, in the mask's order */
    int64_t width[3];
    int list;                      /* a mask for each axis */
    int order_in[4], order_out[4]; /* axes from coarse to fine in memory; all 0: any */
    int64_t step_in, step_out;     /* of the finest; 0: any steps, of either sign */
} brick_case;

/* An array whose axes lie so in memory. */
static void make(hostile_array *a, uint64_t *random, tess_type type, int ndim, const int64_t *shape, const int *order, int64_t step) {
    int64_t there[4], strides[4];
    int axis[4];
    for (int d = 0; d < ndim; d++)
        axis[d] = order[0] == order[1] ? d : order[d];
    if (order[0] == order[1])
        hostile_shuffle(random, ndim, axis);
    for (int d = 0; d < ndim; d++)
        there[d] = shape[axis[d]] * (d == ndim - 1 ? (step ? step : hostile_between(random, 1, 3)) : step ? 1 : hostile_between(random, 1, 2));
    hostile_make(a, random, type, ndim, there, HOSTILE_COMPACT);
    if (step == 1 && hostile_between(random, 0, 2)) /* vectors */
        a->tensor.byte_offset -= a->tensor.byte_offset % 16;
    memcpy(strides, a->strides, sizeof strides);
    for (int d = 0; d < ndim; d++) {
        const int64_t n = shape[axis[d]], gap = n > 0 ? there[d] / n : 1, one = strides[d] * gap;
        const bool back = step == 0 && hostile_between(random, 0, 3) == 0;
        a->shape[axis[d]] = n;
        a->strides[axis[d]] = back ? -one : one;
        a->tensor.byte_offset += back && n > 0 ? (uint64_t)((n - 1) * one * a->itemsize) : 0;
    }
}

static void compare(const brick_case *c, tess_boundary boundary, tess_extent extent, uint64_t *random) {
    hostile_array in, mask[3], expected, out;
    const DLTensor *masks[3];
    int64_t shape[4], origin[3];
    memcpy(shape, c->shape, sizeof shape);
    for (int k = 0; k < c->masked; k++) {
        const int64_t more = c->width[k] - 1;
        shape[c->axes[k]] += extent == TESS_EXTENT_FULL ? more : extent == TESS_EXTENT_VALID ? -tess_min64(more, shape[c->axes[k]]) : 0;
        origin[k] = c->width[k] > 2 ? hostile_between(random, -1, 1) : 0;
    }
    make(&in, random, c->in, c->ndim, c->shape, c->order_in, c->step_in);
    hostile_fill(&in, random, c->in == tess_u8 ? 0 : 1);
    for (int k = 0; k < (c->list ? c->masked : 1); k++) {
        hostile_make(&mask[k], random, c->mask, c->list ? 1 : c->masked, c->list ? &c->width[k] : c->width, HOSTILE_COMPACT);
        hostile_fill(&mask[k], random, c->mask == tess_f32 || c->mask == tess_c64 ? 1 : 0);
        masks[k] = &mask[k].tensor;
    }
    const int odd = (int)hostile_between(random, 0, 1); /* each second time */
    const uint64_t begun = *random;
    uint64_t same = begun;
    make(&expected, &same, c->out, c->ndim, shape, c->order_out, c->step_out);
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .axes = c->axes,
                                      .naxes = c->masked,
                                      .boundary = boundary,
                                      .constant = boundary == TESS_BOUNDARY_CONSTANT ? 1.5 : 0,
                                      .extent = extent,
                                      .origin = extent == TESS_EXTENT_SAME ? origin : NULL};
    static const char *const rows[] = {"correlate/reference", "correlate/brick",      "correlate/brick_odd",
                                       "correlate/patch",     "correlate/march_kept", "correlate/march_across"};
    for (int e = 0; e < TESS_COUNT(rows); e += e == 1 && !odd ? 2 : 1) {
        *random = begun;
        make(&out, random, c->out, c->ndim, shape, c->order_out, c->step_out);
        options.call.engine = e ? engine : TESS_ENGINE_CPU;
        options.call.strategy = rows[e];
        const DLTensor *to = e ? &out.tensor : &expected.tensor;
        tess_status status = c->list ? tess_correlate_separable(context, &in.tensor, masks, c->masked, to, &options)
                                     : tess_correlate(context, &in.tensor, masks[0], to, &options);
        if (status != TESS_OK &&
            (e < 2 || status != TESS_ERR_STRATEGY)) /* brick_odd takes what brick asks to be aligned, the others what lies in whole rows */
            fail_msg("%s by %s, %d axes: %s", tess_type_name(c->in), tess_type_name(c->mask), c->ndim, tess_detail());
        ran_odd += e == 2 && status == TESS_OK;
        ran_turned += e > 2 && status == TESS_OK;
        if (e && status == TESS_OK && memcmp(out.block, expected.block, out.block_size))
            fail_msg("%s of %s by %s to %s, %d axes, %d x %d, boundary %d, extent %d: other bits than the reference's", rows[e],
                     tess_type_name(c->in), tess_type_name(c->mask), tess_type_name(c->out), c->ndim, (int)c->shape[0], (int)c->shape[1],
                     (int)boundary, (int)extent);
        hostile_free(&out);
    }
    hostile_free(&in);
    for (int k = 0; k < (c->list ? c->masked : 1); k++)
        hostile_free(&mask[k]);
    hostile_free(&expected);
}

#define F32 tess_f32, tess_f32, tess_f32
#define C64 tess_c64, tess_c64, tess_c64

/* What the row is for, in bricks that lie inside and others: each with two boundaries. */
static void orders_and_steps(void **state) {
    (void)state;
    uint64_t random = 91;
    static const brick_case cases[] = {
        {F32, 2, {150, 71}, 2, {0, 1}, {3, 3}, 0, {1, 0}, {1, 0}, 1, 1}, /* Fortran's order */
        {F32, 2, {75, 140}, 2, {0, 1}, {3, 5}, 0, {1, 0}, {0, 1}, 1, 1}, /* and back to C's */
        {F32, 2, {75, 140}, 2, {0, 1}, {5, 3}, 0, {0, 1}, {1, 0}, 1, 1},
        {F32, 2, {73, 150}, 2, {0, 1}, {3, 3}, 0, {0, 1}, {0, 1}, 2, 1},                        /* every second column */
        {tess_u8, tess_f32, tess_u8, 2, {73, 150}, 2, {0, 1}, {3, 3}, 0, {0, 1}, {0, 1}, 3, 1}, /* one of three colours */
        {tess_u8, tess_f32, tess_f16, 2, {150, 71}, 2, {0, 1}, {4, 2}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_f16, tess_f32, tess_f16, 2, {150, 71}, 2, {1, 0}, {3, 3}, 0, {0, 1}, {0, 1}, 1, 1}, /* the mask's axes named in turned order */
        {C64, 2, {73, 140}, 2, {0, 1}, {3, 3}, 0, {0, 1}, {0, 1}, 1, 1},
        {tess_c64, tess_f32, tess_c64, 2, {73, 140}, 2, {0, 1}, {3, 3}, 0, {0, 1}, {0, 1}, 1, 1},
        {tess_c128, tess_c64, tess_c64, 2, {73, 80}, 2, {0, 1}, {5, 5}, 0, {1, 0}, {0, 1}, 1, 1},
        {tess_f32, tess_c64, tess_c64, 2, {40, 91}, 2, {0, 1}, {3, 2}, 0, {0, 1}, {0, 1}, 1, 1},
        {tess_f32, tess_f32, tess_c128, 2, {40, 91}, 2, {0, 1}, {3, 2}, 0, {0, 1}, {0, 1}, 1, 1},
        {F32, 3, {70, 19, 21}, 3, {0, 1, 2}, {3, 3, 3}, 0, {2, 1, 0}, {2, 1, 0}, 1, 1}, /* volumes in Fortran's order */
        {F32, 3, {40, 45, 39}, 3, {0, 1, 2}, {3, 2, 4}, 0, {2, 1, 0}, {0, 1, 2}, 1, 1},
        {F32, 3, {40, 45, 39}, 3, {0, 1, 2}, {2, 3, 3}, 0, {0, 2, 1}, {1, 0, 2}, 1, 1},
        {tess_i32, tess_i32, tess_i64, 3, {19, 35, 41}, 3, {2, 0, 1}, {3, 3, 2}, 0, {1, 2, 0}, {2, 0, 1}, 1, 1},
        {F32, 3, {5, 70, 75}, 2, {1, 2}, {3, 3}, 0, {0, 2, 1}, {0, 2, 1}, 1, 1}, /* a batch */
        {F32, 3, {70, 35, 5}, 2, {0, 1}, {3, 3}, 0, {0, 1, 2}, {2, 0, 1}, 1, 1}, /* pixels to planes */
        {C64, 1, {5000}, 1, {0}, {9}, 0, {0}, {0}, 1, 1},
        {F32, 1, {5001}, 1, {0}, {5}, 0, {0}, {0}, 2, 1}, /* one of two channels */
        {C64, 2, {9, 1000}, 1, {1}, {31}, 0, {0, 1}, {0, 1}, 1, 1},
        {C64, 2, {90, 70}, 1, {0}, {31}, 0, {0, 1}, {0, 1}, 1, 1},
        {C64, 3, {40, 31, 3}, 2, {0, 1}, {3, 3}, 0, {0, 1, 2}, {0, 1, 2}, 1, 1},
        {C64, 2, {90, 75}, 2, {0, 1}, {7, 5}, 2, {0, 1}, {0, 1}, 1, 1}, /* a list */
        {tess_f64, tess_f64, tess_f64, 3, {20, 43, 40}, 3, {0, 1, 2}, {3, 1, 3}, 3, {2, 1, 0}, {2, 1, 0}, 2, 1},
        {F32, 2, {99, 97}, 2, {0, 1}, {15, 15}, 0, {1, 0}, {1, 0}, 1, 1}, /* fewer outputs a thread */
        {C64, 2, {60, 97}, 2, {0, 1}, {11, 11}, 0, {0, 1}, {0, 1}, 1, 1},
        {F32, 2, {280, 71}, 2, {0, 1}, {3, 5}, 0, {1, 0}, {1, 0}, 1, 1}, /* lines of whole vectors */
        {F32, 2, {143, 280}, 2, {1, 0}, {7, 4}, 0, {0, 1}, {0, 1}, 1, 1},
        {F32, 2, {70, 140}, 2, {0, 1}, {3, 4}, 0, {0, 1}, {0, 1}, 2, 1},
        {F32, 2, {140, 70}, 2, {0, 1}, {7, 1}, 2, {1, 0}, {1, 0}, 1, 1},
        {tess_u8, tess_f32, tess_u8, 2, {276, 75}, 2, {0, 1}, {3, 3}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_i8, tess_f32, tess_i8, 2, {276, 75}, 2, {0, 1}, {4, 5}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_u8, tess_f32, tess_f32, 2, {148, 75}, 2, {0, 1}, {5, 2}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_f16, tess_f32, tess_u8, 2, {276, 75}, 2, {0, 1}, {3, 3}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_u16, tess_f32, tess_bf16, 2, {140, 75}, 2, {0, 1}, {2, 3}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_f64, tess_f64, tess_f32, 2, {140, 75}, 2, {0, 1}, {2, 3}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_u8, tess_f32, tess_u8, 3, {76, 39, 21}, 3, {0, 1, 2}, {3, 3, 2}, 0, {2, 1, 0}, {2, 1, 0}, 1, 1},
        {F32, 3, {76, 39, 21}, 3, {1, 0, 2}, {3, 4, 3}, 0, {2, 1, 0}, {2, 1, 0}, 1, 1},
        {F32, 3, {76, 39, 21}, 3, {1, 2, 0}, {2, 3, 5}, 0, {2, 1, 0}, {2, 1, 0}, 1, 1},
        {tess_f64, tess_f64, tess_f64, 3, {44, 39, 21}, 3, {0, 2, 1}, {3, 3, 3}, 0, {2, 1, 0}, {2, 1, 0}, 1, 1},
        {F32, 1, {4096}, 1, {0}, {9}, 0, {0}, {0}, 1, 1},
        {tess_u8,
         tess_f32,
         tess_u8,
         2,
         {288, 75},
         2,
         {0, 1},
         {3, 3},
         0,
         {1, 0},
         {1, 0},
         1,
         1}, /* rows that patches take: the mask's last axis is theirs or is not */
        {tess_u8, tess_f32, tess_f32, 2, {592, 70}, 2, {0, 1}, {2, 3}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_i8, tess_f32, tess_i8, 2, {256, 70}, 2, {0, 1}, {5, 4}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_u8, tess_f32, tess_u8, 3, {3, 112, 112}, 2, {2, 1}, {3, 5}, 0, {0, 1, 2}, {0, 1, 2}, 1, 1},
        {tess_f16, tess_f32, tess_f16, 2, {264, 75}, 2, {0, 1}, {3, 3}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_f16, tess_f32, tess_f16, 2, {1032, 45}, 2, {0, 1}, {5, 5}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_u16, tess_f32, tess_u8, 2, {3088, 20}, 2, {0, 1}, {3, 2}, 0, {1, 0}, {1, 0}, 1, 1},
        {F32, 2, {532, 75}, 2, {0, 1}, {7, 7}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_i32, tess_f32, tess_f32, 2, {128, 90}, 2, {0, 1}, {6, 7}, 0, {1, 0}, {1, 0}, 1, 1},
        {tess_f32, tess_f32, tess_u8, 2, {260, 33}, 2, {0, 1}, {7, 6}, 0, {1, 0}, {1, 0}, 1, 1},
        {F32, 3, {136, 21, 19}, 3, {0, 1, 2}, {3, 3, 3}, 0, {2, 1, 0}, {2, 1, 0}, 1, 1}, /* volumes that march_kept takes */
        {F32, 3, {9, 21, 268}, 3, {2, 0, 1}, {3, 2, 4}, 0, {0, 1, 2}, {0, 1, 2}, 1, 1},
        {F32, 3, {37, 6, 132}, 3, {1, 2, 0}, {2, 3, 3}, 0, {1, 0, 2}, {1, 0, 2}, 1, 1},
        {tess_f64, tess_f64, tess_f64, 3, {34, 43, 11}, 3, {0, 2, 1}, {3, 3, 3}, 0, {2, 1, 0}, {2, 1, 0}, 1, 1},
        {tess_u8, tess_f32, tess_u8, 3, {272, 17, 12}, 3, {0, 1, 2}, {3, 3, 3}, 0, {2, 1, 0}, {2, 1, 0}, 1, 1},
        {tess_f16, tess_f32, tess_f16, 3, {72, 35, 12}, 3, {0, 1, 2}, {3, 3, 2}, 0, {2, 1, 0}, {2, 1, 0}, 1, 1},
        {F32, 3, {70, 9, 136}, 3, {0, 1, 2}, {3, 3, 3}, 0, {2, 1, 0}, {0, 1, 2}, 1, 1}, /* and march_across */
        {F32, 3, {131, 13, 72}, 3, {1, 0, 2}, {2, 3, 4}, 0, {2, 1, 0}, {0, 1, 2}, 1, 1},
        {F32, 3, {140, 70, 5}, 3, {0, 1, 2}, {3, 2, 3}, 0, {0, 2, 1}, {2, 1, 0}, 1, 1},
        {tess_f32, tess_f32, tess_u8, 3, {5, 67, 80}, 3, {2, 1, 0}, {3, 3, 3}, 0, {0, 2, 1}, {1, 0, 2}, 1, 1},
        {tess_i32, tess_f32, tess_f32, 3, {33, 4, 64}, 3, {2, 0, 1}, {3, 3, 3}, 0, {2, 1, 0}, {1, 0, 2}, 1, 1},
        {tess_u8, tess_f32, tess_u8, 3, {70, 96, 3}, 2, {1, 0}, {3, 3}, 0, {0, 1, 2}, {0, 1, 2}, 1, 1},
        {C64, 1, {6000}, 1, {0}, {8}, 0, {0}, {0}, 1, 1},
    };
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int k = 0; k < 2 && !hostile_spared(i + k, 6); k++)
            compare(&cases[i], (tess_boundary)(TESS_BOUNDARY_ZERO + (2 * i + k + i / 3) % 6), k ? TESS_EXTENT_SAME : (tess_extent)(i % 3), &random);
    if (ran_odd < (TESS_SANITIZED ? 3 : 15) || ran_turned < (TESS_SANITIZED ? 2 : 15))
        fail_msg("brick_odd ran %d times, the rows for whole rows %d times", ran_odd, ran_turned);
}

/* Any orders, steps and sizes, one type after the other; axes shorter than their masks among them. */
static void anything(void **state) {
    (void)state;
    uint64_t random = 92;
    static const tess_type types[][3] = {{F32},
                                         {C64},
                                         {tess_u8, tess_f32, tess_i16},
                                         {tess_bf16, tess_f32, tess_f32},
                                         {tess_c128, tess_f64, tess_c128},
                                         {tess_i64, tess_i64, tess_u64}};
    for (int i = 0; i < (TESS_SANITIZED ? 8 : 40); i++) {
        brick_case c = {types[i % 6][0], types[i % 6][1], types[i % 6][2], .ndim = (int)hostile_between(&random, 1, 4)};
        int axis[4] = {0, 1, 2, 3};
        for (int d = 0; d < c.ndim; d++)
            c.shape[d] = hostile_between(&random, 1, c.ndim == 1 ? 3000 : c.ndim == 2 ? 90 : c.ndim == 3 ? 30 : 12);
        hostile_shuffle(&random, c.ndim, axis);
        c.masked = (int)hostile_between(&random, 1, tess_min64(c.ndim, c.ndim == 4 ? 1 : 2));
        for (int k = 0; k < c.masked; k++) {
            c.axes[k] = axis[k];
            c.width[k] = hostile_between(&random, 1, 5);
        }
        compare(&c, (tess_boundary)(i % 6), (tess_extent)(i / 6 % 3), &random);
    }
}

/* Rows of whole vectors, of masks whose last axis is another: any sizes, one type after the other. */
static void whole_rows(void **state) {
    (void)state;
    uint64_t random = 93;
    static const tess_type types[][3] = {{tess_u8, tess_f32, tess_u8},   {F32}, {tess_f16, tess_f32, tess_f16}, {tess_i8, tess_f32, tess_f32},
                                         {tess_f64, tess_f64, tess_f64}, {F32}, {tess_bf16, tess_f32, tess_u8}, {tess_u16, tess_f32, tess_u16}};
    ran_turned = 0;
    for (int i = 0; i < (TESS_SANITIZED ? 6 : 24); i++) {
        const tess_type *type = types[i % 8];
        brick_case c = {type[0],      type[1],      type[2], .ndim = type[0] == tess_f32 || type[0] == tess_f64 || i >= 24 ? 3 : 2,
                        .step_in = 1, .step_out = 1};
        for (int d = 0; d < c.ndim; d++) {
            c.order_in[d] = c.order_out[d] = c.axes[d] = d;
            c.width[d] = hostile_between(&random, 2, c.ndim == 3 ? 3 : 5);
        }
        hostile_shuffle(&random, c.ndim, c.order_in);
        memcpy(c.order_out, c.order_in, sizeof c.order_in);
        c.order_in[3] = c.order_out[3] = 3;
        for (int k = 0; k < c.ndim; k++) /* the finest one anywhere but last */
            hostile_shuffle(&random, c.ndim - k > 1 && c.axes[c.ndim - 1] == c.order_in[c.ndim - 1] ? c.ndim : 0, c.axes);
        for (int d = 0; d < c.ndim; d++)
            c.shape[c.order_in[d]] = d == c.ndim - 1 ? 16 * hostile_between(&random, 4, 30) : hostile_between(&random, 4, c.ndim == 3 ? 20 : 90);
        c.masked = c.ndim;
        compare(&c, (tess_boundary)(i % 6), TESS_EXTENT_SAME, &random);
    }
    assert_true(ran_turned >= (TESS_SANITIZED ? 1 : 8));
}

/* What selection gives to it. */
static void chosen(void **state) {
    (void)state;
    static struct {
        tess_type type;
        int64_t strides[2][2], widths[2];
        const char *row;
    } cases[] = {{tess_f32, {{1, 64}, {1, 64}}, {3, 3}, "brick"}, {tess_f32, {{1, 64}, {80, 1}}, {3, 3}, "brick"},
                 {tess_f16, {{1, 64}, {1, 64}}, {3, 3}, "patch"}, {tess_f32, {{200, 2}, {80, 1}}, {3, 3}, "brick"},
                 {tess_c64, {{80, 1}, {80, 1}}, {3, 3}, "brick"}, {tess_c64, {{80, 1}, {80, 1}}, {64, 64}, "general"},
                 {tess_f32, {{1, 64}, {1, 64}}, {1, 3}, "tile1d"}};
    float *from = calloc(64 * 512, 8), *to = calloc(64 * 512, 8), *weights = calloc(64 * 64, 8);
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        int64_t shape[] = {64, 80};
        DLTensor in = tess_view(from, cases[i].type, 2, shape, cases[i].strides[0]),
                 out = tess_view(to, cases[i].type, 2, shape, cases[i].strides[1]),
                 mask = tess_view(weights, cases[i].type, 2, cases[i].widths, NULL);
        const DLTensor *masks[] = {&mask};
        const tess_correlate_options options = {.struct_size = sizeof options, .call.engine = engine};
        tess_plan *plan;
        assert_tess_ok(tess_plan_correlate(&plan, context, &in, masks, 1, &out, &options));
        gpu_test_chosen(plan, cases[i].row, i);
    }
    free(from);
    free(to);
    free(weights);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders_and_steps), cmocka_unit_test(anything), cmocka_unit_test(whole_rows),
                                       cmocka_unit_test(chosen)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

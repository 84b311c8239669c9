/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_gpu.c - proves: every GPU row gives the reference's bytes: every boundary, extent, origin, types in, out and in between, masks of one to
 * four axes, even widths, masks longer than the array, lists, colours, batches, gaps and negative steps; nothing else is written; every row was compared.
 * On a card when there is one, else on the virtual GPU under its checkers. */
#include "gpu_rows.h"
#include "ops/correlate/correlate.h"

static tess_context *context;
static tess_engine engine;
static int ran[64], rests[64];

typedef struct work {
    tess_type in, mask, out;
    int ndim;
    int64_t shape[4];
    int masks, mask_ndim; /* masks > 1: a list of 1-D masks of widths width[] */
    int64_t width[4];
    int axes[4]; /* used when named is set */
    bool named, flip;
    int64_t origin[4];
    tess_boundary boundary;
    tess_extent extent;
    tess_type compute;
    int layout, fill;
    bool far; /* the first axis, of one element, has a step that needs 64 bits */
} work;

static int64_t out_size(const work *w, int d) {
    int64_t n = w->shape[d];
    int count = w->masks > 1 ? w->masks : w->mask_ndim;
    for (int k = 0; k < count; k++) {
        int axis = w->named ? w->axes[k] : w->ndim - count + k;
        if (axis == d && w->extent == TESS_EXTENT_VALID)
            n = n >= w->width[k] ? n - w->width[k] + 1 : 0;
        else if (axis == d && w->extent == TESS_EXTENT_FULL)
            n += w->width[k] - 1;
    }
    return n;
}

static tess_status call(const work *w, const hostile_array *in, const DLTensor *const *masks, const DLTensor *out, tess_correlate_options *options) {
    if (w->masks > 1)
        return w->flip ? tess_convolve_separable(context, &in->tensor, masks, w->masks, out, options)
                       : tess_correlate_separable(context, &in->tensor, masks, w->masks, out, options);
    return w->flip ? tess_convolve(context, &in->tensor, masks[0], out, options) : tess_correlate(context, &in->tensor, masks[0], out, options);
}

/* Whether another test compares the row, over arrays in other orders (test_correlate_brick_gpu.c, test_correlate_turned_gpu.c, test_correlate_mixed_gpu.c). */
static bool is_elsewhere(const tess_strategy *row) {
    return strncmp(row->name, "correlate/brick", 15) == 0 || strcmp(row->name, "correlate/march_kept") == 0 ||
           strcmp(row->name, "correlate/march_across") == 0 || strcmp(row->name, "correlate/turned") == 0 ||
           strcmp(row->name, "correlate/mixed") == 0;
}

/* Whether selection would pass the row over, or another test compares it. Compiling it for every case all the same would take minutes; each
 * eighth time it is run. */
static bool unwise(int number, const work *w, const hostile_array *in, const DLTensor *const *masks, const DLTensor *out,
                   tess_correlate_options options) {
    static int times[TESS_COUNT(ran)];
    const tess_strategy *row = &tess_correlate_op.gpu_rows[number];
    const char *why;
    tess_plan *plan;
    const bool elsewhere = is_elsewhere(row);
    if ((!row->sensible && !elsewhere) || !row->gpu->production)
        return false;
    options.call.strategy = "correlate/general";
    options.flip = w->flip;
    assert_tess_ok(tess_plan_correlate(&plan, context, &in->tensor, masks, w->masks > 1 ? w->masks : 1, out, &options));
    bool is = row->applicable(plan->problem, &why) && (elsewhere || !row->sensible(plan->problem, &why));
    tess_plan_free(plan);
    return is && times[number]++ % 8 != 0;
}

/* Every row that takes the problem, and the one that is chosen, against the CPU's reference. */
static void compare(const work *w, uint64_t *random) {
    hostile_array in, mask[4], expected, out;
    const DLTensor *masks[4];
    int64_t out_shape[4];
    const int list = w->masks > 1 ? w->masks : 1;
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .boundary = w->boundary,
                                      .constant = w->boundary == TESS_BOUNDARY_CONSTANT ? -1.5 : 0,
                                      .extent = w->extent,
                                      .origin = w->extent == TESS_EXTENT_SAME ? w->origin : NULL,
                                      .compute = w->compute};
    if (w->named) {
        options.axes = w->axes;
        options.naxes = w->masks > 1 ? w->masks : w->mask_ndim;
    }
    for (int d = 0; d < w->ndim; d++)
        out_shape[d] = out_size(w, d);
    hostile_make(&in, random, w->in, w->ndim, w->shape, w->layout);
    if (w->far)
        in.strides[0] = (int64_t)1 << 40;
    hostile_fill(&in, random, w->fill);
    uint64_t weights = 7; /* the same for every boundary: what has its mask in __constant__ memory is compiled for it */
    for (int k = 0; k < list; k++) {
        hostile_make(&mask[k], &weights, w->mask, w->masks > 1 ? 1 : w->mask_ndim, w->masks > 1 ? &w->width[k] : w->width, w->layout);
        hostile_fill(&mask[k], &weights, w->fill);
        masks[k] = &mask[k].tensor;
    }
    uint64_t again = *random;
    hostile_make(&expected, random, w->out, w->ndim, out_shape, w->layout);
    options.call.strategy = "correlate/reference";
    assert_tess_ok(call(w, &in, masks, &expected.tensor, &options));
    options.call.engine = engine;
    for (int r = -1; r < tess_correlate_op.gpu_count; r++) {
        uint64_t same = again; /* the layout of `expected` */
        const char *name = r < 0 ? NULL : tess_correlate_op.gpu_rows[r].name;
        if (r >= 0 && (gpu_test_rests(engine, ran[r], 4, &rests[r]) || unwise(r, w, &in, masks, &expected.tensor, options)))
            continue;
        hostile_make(&out, &same, w->out, w->ndim, out_shape, w->layout);
        options.call.strategy = name;
        tess_status status = call(w, &in, masks, &out.tensor, &options);
        if (status == TESS_OK) {
            if (r >= 0)
                ran[r]++;
            if (memcmp(out.block, expected.block, out.block_size))
                fail_msg(
                    "%s differs: %s with %s to %s, %d axes, %lld x %lld ..., %d masks of %d axes, %lld x %lld ..., boundary %d, extent %d, layout %d",
                    name ? name : "the chosen row", tess_type_name(w->in), tess_type_name(w->mask), tess_type_name(w->out), w->ndim,
                    (long long)w->shape[0], (long long)w->shape[1], list, w->mask_ndim, (long long)w->width[0], (long long)w->width[1],
                    (int)w->boundary, (int)w->extent, w->layout);
        } else if (r < 0 || status != TESS_ERR_STRATEGY) {
            fail_msg("%s: %s", name ? name : "choosing", tess_detail());
        }
        hostile_free(&out);
    }
    hostile_free(&expected);
    for (int k = 0; k < list; k++)
        hostile_free(&mask[k]);
    hostile_free(&in);
}

#define F32 .in = tess_f32, .mask = tess_f32, .out = tess_f32, .fill = 1

/* Lengths that leave blocks incomplete, masks from one tap to longer than the array, every boundary. */
static void rows_of_f32(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int64_t cases[][2] = {{1, 1}, {3, 9}, {40, 4}, {300, 33}, {1000, 63}, {5000, 127}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
            if (gpu_test_spared(engine, i + boundary, 4, 4))
                continue;
            work w = {F32, .ndim = 1, .shape = {cases[i][0]}, .mask_ndim = 1, .width = {cases[i][1]}, .boundary = (tess_boundary)boundary};
            w.extent = (tess_extent)(i % 3 == 2 ? boundary % 3 : TESS_EXTENT_SAME);
            w.layout = i % 4 == 3 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
            compare(&w, &random);
        }
}

static void images_of_f32(void **state) {
    (void)state;
    uint64_t random = 2;
    static const int64_t cases[][4] = {{5, 7, 3, 3}, {40, 140, 5, 5}, {70, 37, 7, 7}, {2, 3, 5, 9}, {31, 64, 2, 4}, {50, 130, 11, 11}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
            if (gpu_test_spared(engine, i + boundary, 4, 4))
                continue;
            work w = {F32,
                      .ndim = 2,
                      .shape = {cases[i][0], cases[i][1]},
                      .mask_ndim = 2,
                      .width = {cases[i][2], cases[i][3]},
                      .boundary = (tess_boundary)boundary};
            w.extent = (tess_extent)(i % 3 == 1 ? boundary % 3 : TESS_EXTENT_SAME);
            w.flip = i % 2;
            w.origin[0] = cases[i][2] > 2 && i % 2 ? 1 : 0;
            w.origin[1] = i % 2 ? -1 : 0;
            compare(&w, &random);
        }
}

static void volumes_batches_and_axes(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
        const work cases[] = {
            {F32, .ndim = 3, .shape = {5, 21, 200}, .mask_ndim = 1, .width = {7}, .named = true, .axes = {1}}, /* pixels of many elements */
            {.in = tess_u8,
             .mask = tess_f32,
             .out = tess_u8,
             .fill = 1,
             .ndim = 3,
             .shape = {5, 21, 48},
             .mask_ndim = 1,
             .width = {4},
             .named = true,
             .axes = {1}},

            {F32, .ndim = 3, .shape = {5, 9, 36}, .mask_ndim = 3, .width = {3, 3, 3}},
            {F32, .ndim = 3, .shape = {7, 6, 40}, .mask_ndim = 3, .width = {5, 5, 5}},
            {.in = tess_f16, .mask = tess_f32, .out = tess_f16, .fill = 1, .ndim = 3, .shape = {5, 37, 272}, .mask_ndim = 3, .width = {3, 3, 3}},
            {.in = tess_u8, .mask = tess_f32, .out = tess_u8, .ndim = 3, .shape = {4, 21, 288}, .mask_ndim = 3, .width = {3, 3, 3}},
            {.in = tess_f16, .mask = tess_f32, .out = tess_f16, .fill = 1, .ndim = 3, .shape = {9, 29, 176}, .masks = 3, .width = {7, 7, 7}},
            {.in = tess_u8, .mask = tess_f32, .out = tess_u8, .ndim = 3, .shape = {9, 25, 160}, .masks = 3, .width = {7, 7, 7}},
            {F32, .ndim = 3, .shape = {3, 20, 33}, .mask_ndim = 2, .width = {3, 3}},                                     /* a batch of images */
            {F32, .ndim = 2, .shape = {9, 130}, .mask_ndim = 1, .width = {9}},                                           /* of rows */
            {F32, .ndim = 3, .shape = {11, 13, 3}, .mask_ndim = 2, .width = {3, 5}, .named = true, .axes = {0, 1}},      /* colours */
            {F32, .ndim = 3, .shape = {8, 9, 10}, .mask_ndim = 2, .width = {5, 3}, .named = true, .axes = {2, 0}},       /* axes in turned order */
            {F32, .ndim = 2, .shape = {50, 40}, .mask_ndim = 1, .width = {7}, .named = true, .axes = {0}, .layout = 1}}; /* columns */
        for (int i = 0; i < TESS_COUNT(cases); i++) {
            if (gpu_test_spared(engine, i + boundary, 4, 4))
                continue;
            work w = cases[i];
            w.boundary = (tess_boundary)boundary;
            compare(&w, &random);
        }
    }
}

/* Rows that begin at multiples of 16 bytes, wide enough for warps and blocks without an edge. */
static void inner_blocks(void **state) {
    (void)state;
    uint64_t random = 8;
    for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
        const work cases[] = {
            {F32, .ndim = 2, .shape = {37, 776}, .mask_ndim = 2, .width = {3, 3}},
            {F32, .ndim = 2, .shape = {45, 1544}, .mask_ndim = 2, .width = {7, 7}},
            {F32, .ndim = 3, .shape = {9, 13, 516}, .mask_ndim = 3, .width = {3, 3, 3}},
            {F32, .ndim = 3, .shape = {11, 10, 260}, .mask_ndim = 3, .width = {5, 5, 5}},
            {F32, .ndim = 2, .shape = {40, 1032}, .masks = 2, .width = {7, 7}},
            {F32, .ndim = 2, .shape = {33, 1028}, .masks = 2, .width = {7, 7}, .named = true, .axes = {1, 0}},
            {.in = tess_u8, .mask = tess_f32, .out = tess_u8, .ndim = 2, .shape = {30, 1040}, .masks = 2, .width = {7, 7}},
            {.in = tess_f16, .mask = tess_f32, .out = tess_f16, .fill = 1, .ndim = 2, .shape = {41, 1032}, .masks = 2, .width = {7, 6}},
            {.in = tess_f64, .mask = tess_f64, .out = tess_f64, .fill = 1, .ndim = 2, .shape = {42, 262}, .masks = 2, .width = {6, 9}},
            {.in = tess_f16, .mask = tess_f32, .out = tess_bf16, .fill = 2, .ndim = 2, .shape = {19, 552}, .mask_ndim = 2, .width = {3, 1}},
            {.in = tess_u8, .mask = tess_i8, .out = tess_u8, .ndim = 2, .shape = {37, 1552}, .mask_ndim = 2, .width = {3, 3}},
            {.in = tess_i8, .mask = tess_i8, .out = tess_i8, .ndim = 2, .shape = {40, 784}, .mask_ndim = 2, .width = {5, 9}},
            {.in = tess_u8, .mask = tess_f32, .out = tess_u8, .ndim = 2, .shape = {95, 1536}, .mask_ndim = 2, .width = {3, 3}, .origin = {1, -1}},
            {.in = tess_i8, .mask = tess_f32, .out = tess_i8, .ndim = 3, .shape = {2, 90, 1616}, .mask_ndim = 2, .width = {2, 3}},
            {.in = tess_u8,
             .mask = tess_f32,
             .out = tess_f32,
             .ndim = 2,
             .shape = {51, 1040},
             .mask_ndim = 2,
             .width = {1, 2},
             .extent = TESS_EXTENT_VALID},
            {.in = tess_u8,
             .mask = tess_f32,
             .out = tess_u8,
             .ndim = 3,
             .shape = {49, 528, 3},
             .mask_ndim = 2,
             .width = {3, 3},
             .named = true,
             .axes = {0, 1}}, /* three colours a pixel */
            {F32, .ndim = 3, .shape = {30, 40, 264}, .masks = 3, .width = {7, 5, 7}},
            {F32, .ndim = 3, .shape = {23, 21, 264}, .masks = 3, .width = {9, 5, 3}, .named = true, .axes = {2, 0, 1}},
            {F32, .ndim = 2, .shape = {3, 2064}, .mask_ndim = 1, .width = {33}}};
        for (int i = 0; i < TESS_COUNT(cases); i++) {
            if (gpu_test_spared(engine, i + boundary, 4, 8))
                continue;
            work w = cases[i];
            w.boundary = (tess_boundary)boundary;
            compare(&w, &random);
        }
    }
}

/* Rows that begin anywhere, whose blocks lie inside: elements of all sizes are copied and stored by other ways there. */
static void inner_blocks_of_odd_rows(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
        const work cases[] = {
            {F32, .ndim = 3, .shape = {17, 23, 135}, .masks = 3, .width = {7, 5, 7}},
            {F32, .ndim = 3, .shape = {19, 21, 131}, .masks = 3, .width = {9, 5, 3}, .named = true, .axes = {2, 0, 1}},
            {F32, .ndim = 3, .shape = {13, 29, 133}, .masks = 3, .width = {3, 4, 7}, .named = true, .axes = {0, 2, 1}},
            {F32, .ndim = 2, .shape = {29, 1037}, .mask_ndim = 2, .width = {7, 7}},
            {F32, .ndim = 3, .shape = {9, 17, 521}, .mask_ndim = 3, .width = {3, 3, 3}},
            {F32, .ndim = 3, .shape = {8, 103, 133}, .mask_ndim = 3, .width = {3, 3, 3}},
            {F32, .ndim = 3, .shape = {13, 70, 9}, .mask_ndim = 3, .width = {2, 1, 9}},
            {F32, .ndim = 3, .shape = {11, 21, 131}, .mask_ndim = 3, .width = {5, 5, 5}},
            {.in = tess_f64, .mask = tess_f64, .out = tess_f64, .fill = 1, .ndim = 3, .shape = {7, 19, 75}, .mask_ndim = 3, .width = {3, 3, 3}},
            {F32, .ndim = 2, .shape = {40, 833}, .masks = 2, .width = {11, 15}},
            {F32, .ndim = 2, .shape = {40, 833}, .masks = 2, .width = {15, 7}, .named = true, .axes = {1, 0}},
            {.in = tess_f64, .mask = tess_f64, .out = tess_f64, .fill = 1, .ndim = 3, .shape = {9, 17, 133}, .masks = 3, .width = {3, 5, 5}},
            {.in = tess_f32, .mask = tess_f32, .out = tess_u8, .ndim = 3, .shape = {9, 17, 133}, .masks = 3, .width = {3, 5, 5}},
            {.in = tess_u8, .mask = tess_f32, .out = tess_f16, .ndim = 3, .shape = {9, 17, 133}, .masks = 3, .width = {3, 5, 5}},
            {.in = tess_u8, .mask = tess_f32, .out = tess_u8, .ndim = 2, .shape = {19, 1133}, .mask_ndim = 2, .width = {7, 7}},
            {.in = tess_f16, .mask = tess_f32, .out = tess_f16, .fill = 1, .ndim = 3, .shape = {7, 33, 75}, .mask_ndim = 3, .width = {3, 3, 3}}};
        for (int i = 0; i < TESS_COUNT(cases); i++) {
            work w = cases[i];
            w.boundary = (tess_boundary)boundary;
            if ((i + boundary) % 3 == 0) /* each with two boundaries */
                compare(&w, &random);
        }
    }
}

/* Bytes by masks of floats with a second wave of few blocks: what a card of 132 multiprocessors has for large images only. */
static void few_rows_a_thread(void **state) {
    (void)state;
    uint64_t random = 12;
    tess_gpu *gpu;
    assert_tess_ok(tess_gpu_get_engine(&gpu, context, engine));
    assert_tess_ok(tess_gpu_open(gpu));
    const int sms = gpu->devices[0].sms;
    gpu->devices[0].sms = 1;
    const work w = {.in = tess_u8, .mask = tess_f32, .out = tess_u8, .ndim = 2, .shape = {249, 512}, .mask_ndim = 2, .width = {3, 3}};
    compare(&w, &random);
    gpu->devices[0].sms = sms;
}

static void lists(void **state) {
    (void)state;
    uint64_t random = 4;
    for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
        const work cases[] = {{F32, .ndim = 2, .shape = {37, 70}, .masks = 2, .width = {7, 7}},
                              {F32, .ndim = 2, .shape = {70, 133}, .masks = 2, .width = {15, 15}},
                              {F32, .ndim = 2, .shape = {20, 45}, .masks = 2, .width = {3, 4}, .named = true, .axes = {1, 0}},
                              {F32, .ndim = 3, .shape = {6, 11, 40}, .masks = 3, .width = {3, 5, 3}},
                              {F32, .ndim = 2, .shape = {21, 52}, .masks = 2, .width = {1, 5}}, /* one tap: a factor */
                              {F32, .ndim = 2, .shape = {21, 52}, .masks = 2, .width = {5, 1}},
                              {.in = tess_u8, .mask = tess_i8, .out = tess_u8, .ndim = 2, .shape = {19, 33}, .masks = 2, .width = {5, 3}}};
        for (int i = 0; i < TESS_COUNT(cases); i++) {
            if (gpu_test_spared(engine, i + boundary, 4, 4))
                continue;
            work w = cases[i];
            w.boundary = (tess_boundary)boundary;
            w.extent = (tess_extent)((i + boundary) % 3);
            compare(&w, &random);
        }
    }
}

/* By a boundary, each extent in turns, some with strides. */
static void compare_lists(const work *cases, int count, int boundary, uint64_t *random) {
    for (int i = 0; i < count; i++) {
        if (gpu_test_spared(engine, i + boundary, 4, 8))
            continue;
        work w = cases[i];
        w.boundary = (tess_boundary)boundary;
        w.extent = (tess_extent)((i + boundary) % 3);
        w.layout = i % 4 == 1 && boundary % 3 == 2 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        w.named = true;
        compare(&w, random);
    }
}

/* Lists along the axes of images of pixels: every size of element, rows that begin anywhere, either order, batches, long masks, tiles that are left incomplete. */
static void lists_of_pixels(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
        const work cases[] = {
            {.in = tess_u8,
             .mask = tess_f32,
             .out = tess_u8,
             .fill = 1,
             .ndim = 3,
             .shape = {37, 353, 3},
             .masks = 2,
             .width = {7, 7},
             .axes = {0, 1}},
            {.in = tess_u8, .mask = tess_i8, .out = tess_u8, .ndim = 3, .shape = {29, 64, 4}, .masks = 2, .width = {5, 6}, .axes = {1, 0}},
            {.in = tess_f16,
             .mask = tess_f32,
             .out = tess_f16,
             .fill = 1,
             .ndim = 4,
             .shape = {3, 20, 101, 3},
             .masks = 2,
             .width = {3, 5},
             .axes = {1, 2}},
            {.in = tess_f16,
             .mask = tess_f32,
             .out = tess_f32,
             .fill = 1,
             .ndim = 3,
             .shape = {45, 144, 2},
             .masks = 2,
             .width = {13, 15},
             .axes = {0, 1}},
            {F32, .ndim = 3, .shape = {41, 100, 3}, .masks = 2, .width = {7, 9}, .axes = {0, 1}},
            {F32, .ndim = 4, .shape = {2, 23, 61, 3}, .masks = 2, .width = {4, 7}, .axes = {2, 1}, .origin = {-1, 1}},
            {F32, .ndim = 3, .shape = {40, 128, 3}, .masks = 2, .width = {31, 31}, .axes = {0, 1}},
            {F32, .ndim = 3, .shape = {40, 200, 4}, .masks = 2, .width = {25, 35}, .axes = {0, 1}},
            {F32, .ndim = 3, .shape = {9, 33, 35}, .masks = 2, .width = {3, 3}, .axes = {0, 1}},
            {F32, .ndim = 3, .shape = {9, 33, 300}, .masks = 2, .width = {3, 3}, .axes = {0, 1}},
            {F32, .ndim = 3, .shape = {21, 52, 3}, .masks = 2, .width = {5, 1}, .axes = {1, 0}},
            {F32, .ndim = 4, .shape = {9, 14, 40, 3}, .masks = 3, .width = {5, 3, 7}, .axes = {0, 1, 2}},
            {.in = tess_u8,
             .mask = tess_f32,
             .out = tess_u8,
             .fill = 1,
             .ndim = 4,
             .shape = {7, 13, 45, 2},
             .masks = 3,
             .width = {3, 4, 5},
             .axes = {2, 1, 0}},
            {.in = tess_f64, .mask = tess_f64, .out = tess_f64, .ndim = 3, .shape = {17, 90, 3}, .masks = 2, .width = {5, 3}, .axes = {0, 1}},
            {.in = tess_f64, .mask = tess_f64, .out = tess_f32, .ndim = 3, .shape = {17, 48, 4}, .masks = 2, .width = {15, 13}, .axes = {0, 1}}};
        compare_lists(cases, TESS_COUNT(cases), boundary, &random);
    }
}

/* Lists of which none goes along rows: each by itself, along the slow axes of a volume, between batches, beside rows too long to be pixels; one tap; four of them. */
static void lists_beside_rows(void **state) {
    (void)state;
    uint64_t random = 12;
    for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
        const work cases[] = {
            {F32, .ndim = 3, .shape = {19, 23, 300}, .masks = 2, .width = {7, 5}, .axes = {0, 1}},
            {F32, .ndim = 3, .shape = {13, 26, 64}, .masks = 2, .width = {5, 9}, .axes = {1, 0}, .origin = {1, -2}},
            {.in = tess_u8,
             .mask = tess_f32,
             .out = tess_u8,
             .fill = 1,
             .ndim = 4,
             .shape = {2, 14, 9, 272},
             .masks = 2,
             .width = {3, 4},
             .axes = {1, 2}},
            {.in = tess_f16,
             .mask = tess_f32,
             .out = tess_f16,
             .fill = 1,
             .ndim = 4,
             .shape = {9, 3, 21, 75},
             .masks = 2,
             .width = {4, 7},
             .axes = {0, 2}},
            {F32, .ndim = 3, .shape = {9, 14, 65}, .masks = 3, .width = {3, 1, 5}, .axes = {0, 2, 1}},
            {F32, .ndim = 4, .shape = {7, 8, 9, 33}, .masks = 4, .width = {3, 2, 4, 5}, .axes = {0, 1, 2, 3}},
            {F32, .ndim = 2, .shape = {60, 140}, .masks = 2, .width = {41, 45}, .axes = {0, 1}},
            {.in = tess_f64, .mask = tess_f64, .out = tess_f32, .ndim = 3, .shape = {12, 17, 48}, .masks = 2, .width = {5, 6}, .axes = {0, 1}}};
        compare_lists(cases, TESS_COUNT(cases), boundary, &random);
    }
}

/* Three masks over volumes: every order of the axes, edges in every direction, tiles and chunks that are left incomplete, what takes the place of the mask along rows. */
static void lists_of_three(void **state) {
    (void)state;
    uint64_t random = 10;
    static const int orders[][4] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const tess_type types[][2] = {{tess_f32, tess_f32}, {tess_u8, tess_f32}, {tess_f16, tess_f32}, {tess_f64, tess_f64}};
    for (int i = 0; i < TESS_COUNT(orders); i++)
        for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
            const tess_type *type = types[(i + boundary) % 4];
            const work cases[] = {
                {F32, .ndim = 3, .shape = {12, 13, 140}, .masks = 3, .width = {7, 7, 7}},
                {F32, .ndim = 4, .shape = {2, 9, 11, 37}, .masks = 3, .width = {3, 4, 5}, .origin = {0, -1, 1}},
                {.in = type[0], .mask = type[1], .out = type[0], .fill = 1, .ndim = 3, .shape = {11, 34, 48}, .masks = 3, .width = {5, 9, 3}}};
            for (int k = 0; k < TESS_COUNT(cases); k++) {
                if (gpu_test_spared(engine, i + boundary + k, 4, 8))
                    continue;
                work w = cases[k];
                w.boundary = (tess_boundary)boundary;
                w.extent = (tess_extent)(k == 1 ? (i + boundary) % 3 : TESS_EXTENT_SAME);
                w.layout = k == 2 && boundary % 3 == 2 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
                w.named = true;
                for (int d = 0; d < 3; d++)
                    w.axes[d] = orders[i][d] + w.ndim - 3;
                compare(&w, &random);
            }
        }
}

/* More tiles along y than a grid has blocks along its own y. Planned only: too many for the virtual GPU. */
static void tall_planes(void **state) {
    (void)state;
    int64_t shape[] = {4, 1200000, 8}, cube[] = {3, 3, 3};
    float weights[27] = {1, 2, 3}, *from = calloc((size_t)(shape[0] * shape[1] * shape[2]), 4),
          *to = calloc((size_t)(shape[0] * shape[1] * shape[2]), 4);
    assert_non_null(from);
    assert_non_null(to);
    DLTensor in = tess_view(from, tess_f32, 3, shape, NULL), out = tess_view(to, tess_f32, 3, shape, NULL);
    DLTensor whole = tess_view(weights, tess_f32, 3, cube, NULL), line = tess_view(weights, tess_f32, 1, cube, NULL);
    const DLTensor *masks[][3] = {{&whole}, {&line, &line, &line}};
    const char *rows[] = {"correlate/march3d", "correlate/separable3d"};
    for (int k = 0; k < 2; k++) {
        tess_correlate_options options = {.struct_size = sizeof options, .call = {.engine = engine, .strategy = rows[k]}};
        tess_plan *plan;
        assert_tess_ok(tess_plan_correlate(&plan, context, &in, masks[k], k ? 3 : 1, &out, &options));
        tess_plan_free(plan);
    }
    free(from);
    free(to);
}

static void every_type(void **state) {
    (void)state;
    uint64_t random = 5;
    static const struct {
        tess_type in, mask, out, compute;
        int fill;
    } cases[] = {{tess_u8, tess_i8, tess_u8, tess_no_type, 0},      {tess_u8, tess_f32, tess_u8, tess_no_type, 1},
                 {tess_i16, tess_f32, tess_i16, tess_no_type, 1},   {tess_f16, tess_f32, tess_f16, tess_no_type, 1},
                 {tess_bf16, tess_f32, tess_bf16, tess_no_type, 1}, {tess_f64, tess_f64, tess_f64, tess_no_type, 1},
                 {tess_f32, tess_f64, tess_f32, tess_no_type, 1},   {tess_i32, tess_i32, tess_i64, tess_no_type, 2},
                 {tess_u64, tess_u16, tess_u64, tess_no_type, 2},   {tess_bool, tess_bool, tess_u32, tess_no_type, 0},
                 {tess_u16, tess_u8, tess_f32, tess_f64, 0},        {tess_c64, tess_c64, tess_c64, tess_no_type, 1},
                 {tess_f32, tess_c128, tess_c64, tess_no_type, 1},  {tess_c128, tess_f64, tess_c128, tess_no_type, 2},
                 {tess_f32, tess_f32, tess_c64, tess_no_type, 1},   {tess_i8, tess_i8, tess_bf16, tess_no_type, 0},
                 {tess_f32, tess_f32, tess_f32, tess_no_type, 2},   {tess_f16, tess_bf16, tess_i8, tess_no_type, 2}};
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        work w = {cases[i].in, cases[i].mask, cases[i].out, .ndim = 2, .shape = {21, 67}, .mask_ndim = 2, .width = {3, 3}};
        w.boundary = (tess_boundary)(i % 6);
        w.compute = cases[i].compute;
        w.fill = cases[i].fill;
        compare(&w, &random);
        w.layout = HOSTILE_STRIDED;
        w.boundary = (tess_boundary)((i + 1) % 6);
        compare(&w, &random);
    }
}

static void places_of_64_bits(void **state) {
    (void)state;
    uint64_t random = 8;
    const work cases[] = {
        {F32, .ndim = 2, .shape = {1, 300}, .mask_ndim = 2, .width = {3, 5}, .far = true},
        {.in = tess_u8, .mask = tess_c64, .out = tess_c128, .ndim = 3, .shape = {1, 20, 31}, .mask_ndim = 3, .width = {2, 3, 3}, .far = true}};
    for (int boundary = TESS_BOUNDARY_ZERO; boundary <= TESS_BOUNDARY_WRAP; boundary++)
        for (int i = 0; i < TESS_COUNT(cases); i++) {
            work w = cases[i];
            w.boundary = (tess_boundary)boundary;
            compare(&w, &random);
        }
}

/* Masks that are not written out: rows and planes of many taps, bands of a tile, more axes, what lies along the columns, the types of sums. */
static void large_masks(void **state) {
    (void)state;
    uint64_t random = 9;
    const work cases[] = {
        {F32, .ndim = 2, .shape = {50, 70}, .mask_ndim = 2, .width = {101, 41}, .boundary = TESS_BOUNDARY_MIRROR},
        {F32, .ndim = 1, .shape = {3000}, .mask_ndim = 1, .width = {1023}, .boundary = TESS_BOUNDARY_CONSTANT},
        {F32, .ndim = 2, .shape = {90, 45}, .mask_ndim = 1, .width = {33}, .named = true, .axes = {0}, .boundary = TESS_BOUNDARY_WRAP},
        {F32, .ndim = 4, .shape = {4, 5, 9, 40}, .mask_ndim = 4, .width = {2, 2, 3, 3}, .boundary = TESS_BOUNDARY_REFLECT},
        {F32, .ndim = 3, .shape = {21, 23, 3}, .mask_ndim = 2, .width = {19, 21}, .named = true, .axes = {0, 1}, .boundary = TESS_BOUNDARY_NEAREST},
        {F32, .ndim = 3, .shape = {12, 25, 140}, .masks = 3, .width = {9, 12, 21}, .boundary = TESS_BOUNDARY_REFLECT},
        {.in = tess_u8, .mask = tess_f32, .out = tess_u8, .fill = 1, .ndim = 2, .shape = {40, 300}, .masks = 2, .width = {9, 7}, .layout = 1},
        {.in = tess_u8, .mask = tess_f32, .out = tess_u8, .fill = 1, .ndim = 2, .shape = {40, 61}, .mask_ndim = 2, .width = {17, 19}},
        {.in = tess_f64, .mask = tess_f64, .out = tess_f32, .fill = 1, .ndim = 2, .shape = {37, 140}, .mask_ndim = 2, .width = {9, 22}, .layout = 1},
        {.in = tess_i32, .mask = tess_i32, .out = tess_i64, .fill = 2, .ndim = 2, .shape = {20, 33}, .mask_ndim = 2, .width = {5, 20}}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int extent = TESS_EXTENT_SAME; extent <= (i < 2 ? TESS_EXTENT_FULL : TESS_EXTENT_SAME); extent++) {
            work w = cases[i];
            w.extent = (tess_extent)extent;
            compare(&w, &random);
        }
}

/* Nothing in, ghost cells out; nothing out. */
static void empty_arrays(void **state) {
    (void)state;
    uint64_t random = 6;
    const work cases[] = {
        {F32, .ndim = 1, .shape = {0}, .mask_ndim = 1, .width = {4}, .extent = TESS_EXTENT_FULL, .boundary = TESS_BOUNDARY_CONSTANT},
        {F32, .ndim = 1, .shape = {3}, .mask_ndim = 1, .width = {4}, .extent = TESS_EXTENT_VALID},
        {F32, .ndim = 2, .shape = {0, 5}, .mask_ndim = 1, .width = {3}},
        {F32, .ndim = 0, .mask_ndim = 0}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        compare(&cases[i], &random);
    static double in[2 * 88], weights[81]; /* of strips, whose rows lie without gaps: a mask higher than the array */
    for (int k = 0; k < 81; k++)
        weights[k] = k % 7 + 0.5 * (k % 2);
    const DLTensor x = tess_view(in, tess_f64, 2, (int64_t[]){2, 88}, NULL), m = tess_view(weights, tess_f64, 2, (int64_t[]){9, 9}, NULL),
                   y = tess_view(NULL, tess_f64, 2, (int64_t[]){0, 80}, NULL);
    const tess_correlate_options options = {.struct_size = sizeof options, .extent = TESS_EXTENT_VALID, .call.engine = engine};
    assert_tess_ok(tess_correlate(context, &x, &m, &y, &options));
}

static void every_row_was_compared(void **state) {
    (void)state;
    for (int r = 0; r < tess_correlate_op.gpu_count; r++)
        if (ran[r] < (engine == TESS_ENGINE_VIRTUAL ? 2 : 4) &&
            strncmp(tess_correlate_op.gpu_rows[r].name, "correlate/fft_", 14) != 0 && /* those: test_correlate_fft_gpu.c */
            !is_elsewhere(&tess_correlate_op.gpu_rows[r]) &&
            strcmp(tess_correlate_op.gpu_rows[r].name, "correlate/line") != 0) /* test_correlate_narrow_gpu.c: of few types, and for long rows */
            fail_msg("%s was compared %d times only", tess_correlate_op.gpu_rows[r].name, ran[r]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_f32),
                                       cmocka_unit_test(images_of_f32),
                                       cmocka_unit_test(volumes_batches_and_axes),
                                       cmocka_unit_test(inner_blocks),
                                       cmocka_unit_test(inner_blocks_of_odd_rows),
                                       cmocka_unit_test(few_rows_a_thread),
                                       cmocka_unit_test(lists),
                                       cmocka_unit_test(lists_of_pixels),
                                       cmocka_unit_test(lists_beside_rows),
                                       cmocka_unit_test(lists_of_three),
                                       cmocka_unit_test(tall_planes),
                                       cmocka_unit_test(every_type),
                                       cmocka_unit_test(places_of_64_bits),
                                       cmocka_unit_test(large_masks),
                                       cmocka_unit_test(empty_arrays),
                                       cmocka_unit_test(every_row_was_compared)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

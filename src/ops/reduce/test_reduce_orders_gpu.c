/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_orders_gpu.c - proves: arrays whose axes memory has in another order give the reference's bytes when reduce/tree_turned turns them first, or reduce/tree_spread turns the outputs: whole
 * vectors and odd sizes, elements of every size, narrow and wide matrices, several of them, kept axes among them; sums, places, variances, complex elements and exact sums; what the rows refuse
 * and are taken for. On a card when there is one, else on the virtual GPU. */
#include "gpu_rows.h"
#include "ops/reduce/reduce.h"

static tess_context *context;
static tess_engine engine;
static int ran;

typedef struct layout {
    int ndim, order[4]; /* axes from the fastest in memory on */
    int64_t shape[4];
    int naxes, axes[4];
} layout;

static const layout turned[] = {{2, {0, 1}, {300, 64}, 2, {0, 1}},          /* a matrix in Fortran's order, whole vectors */
                                {2, {0, 1}, {131, 257}, 2, {0, 1}},         /* odd sizes, leaves that columns do not fill */
                                {2, {0, 1}, {17, 1001}, 2, {0, 1}},         /* records */
                                {3, {0, 1, 2}, {14, 2, 900}, 2, {0, 2}},    /* one matrix of all columns, kept ones too */
                                {3, {0, 1, 2}, {20, 5, 333}, 3, {0, 1, 2}}, /* several matrices */
                                {4, {0, 1, 2, 3}, {9, 7, 6, 50}, 3, {0, 2, 3}},
                                {3, {1, 0, 2}, {8, 70, 48}, 3, {0, 1, 2}}, /* some other order */
                                {3, {1, 2, 0}, {130, 65, 3}, 2, {0, 2}},   /* kept elements are neighbours */
                                {2, {0, 1}, {2, 9000}, 2, {0, 1}}};        /* pairs */

static const layout spread[] = {{3, {0, 1, 2}, {3, 40, 50}, 1, {2}}, /* planes of pixels, along their rows */
                                {3, {0, 1, 2}, {64, 7, 9}, 1, {2}},     {4, {1, 3, 2, 0}, {4, 3, 31, 17}, 1, {2}}, /* pictures, one after another */
                                {3, {0, 1, 2}, {11, 2, 333}, 1, {1}},                                              /* few elements of each */
                                {3, {0, 1, 2}, {5, 300, 6}, 1, {1}},    {4, {0, 1, 2, 3}, {6, 5, 4, 33}, 2, {1, 3}},
                                {4, {2, 0, 1, 3}, {9, 8, 7, 6}, 1, {3}}}; /* three of them, in any order */

static const struct {
    tess_reduction operation;
    tess_type in, out;
    tess_nan nan;
} works[] = {{TESS_SUM, tess_f32, tess_f32, TESS_NAN_PROPAGATE},   {TESS_MEAN, tess_f16, tess_f32, TESS_NAN_OMIT},
             {TESS_ARGMAX, tess_u8, tess_i64, TESS_NAN_PROPAGATE}, {TESS_VAR, tess_f32, tess_f32, TESS_NAN_PROPAGATE},
             {TESS_SUM, tess_c64, tess_c64, TESS_NAN_PROPAGATE},   {TESS_STD, tess_f64, tess_f64, TESS_NAN_OMIT},
             {TESS_PROD, tess_f64, tess_f64, TESS_NAN_PROPAGATE},  {TESS_ARGMIN, tess_f32, tess_i32, TESS_NAN_OMIT},
             {TESS_SUM, tess_c128, tess_c128, TESS_NAN_PROPAGATE}, {TESS_VAR, tess_i16, tess_f32, TESS_NAN_PROPAGATE}};

/* Strides of a view, and the shape of the result; returns how many elements there are. */
static int64_t lay(const layout *l, int64_t *shape, int64_t *steps, int64_t *kept, int *count) {
    int64_t all = 1;
    *count = 0;
    for (int i = 0; i < l->ndim; i++) {
        steps[l->order[i]] = all;
        all *= l->shape[l->order[i]];
    }
    for (int d = 0; d < l->ndim; d++) {
        bool reduced = false;
        shape[d] = l->shape[d];
        for (int a = 0; a < l->naxes; a++)
            reduced |= l->axes[a] == d;
        if (!reduced)
            kept[(*count)++] = shape[d];
    }
    return all;
}

static void compare(const char *row, const layout *l, int w, int64_t from, uint64_t *random) {
    int64_t shape[4], steps[4], kept[4];
    int count;
    hostile_array memory, expected, out;
    const int64_t all = lay(l, shape, steps, kept, &count) + from;
    hostile_make(&memory, random, works[w].in, 1, &all, HOSTILE_COMPACT);
    hostile_fill(&memory, random, w % 3);
    DLTensor in = memory.tensor;
    in.ndim = l->ndim;
    in.shape = shape;
    in.strides = steps;
    in.byte_offset += (uint64_t)(from * (int64_t)tess_type_size(works[w].in));
    tess_reduce_options options = {.struct_size = sizeof options, .nan = works[w].nan, .ddof = 1, .axes = l->axes, .naxes = l->naxes};
    uint64_t again = 5;
    hostile_make(&expected, &again, works[w].out, count, kept, HOSTILE_STRIDED);
    options.call.strategy = "reduce/reference";
    assert_tess_ok(tess_reduce(context, works[w].operation, &in, &expected.tensor, &options));
    again = 5;
    hostile_make(&out, &again, works[w].out, count, kept, HOSTILE_STRIDED);
    options.call = (tess_call){.engine = engine, .strategy = row};
    assert_tess_ok(tess_reduce(context, works[w].operation, &in, &out.tensor, &options));
    if (memcmp(out.block, expected.block, out.block_size))
        fail_msg("%s: %lld x %lld .., %s of %s from element %lld on", row, (long long)l->shape[0], (long long)l->shape[1],
                 tess_reduction_name(works[w].operation), tess_type_name(works[w].in), (long long)from);
    ran++;
    hostile_free(&out);
    hostile_free(&expected);
    hostile_free(&memory);
}

static void every_layout(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int w = 0; w < TESS_COUNT(works); w++) {
        for (int l = 0; l < TESS_COUNT(turned); l++)
            if (!gpu_test_spared(engine, l + w, 3, 6))
                compare("reduce/tree_turned", &turned[l], w, (l + w) % 5 == 0, &random);
        for (int l = 0; l < TESS_COUNT(spread); l++)
            if (!gpu_test_spared(engine, l + w, 3, 6))
                compare("reduce/tree_spread", &spread[l], w, (l + w) % 5 == 0, &random);
    }
}

static void chosen(void **state) {
    (void)state;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        layout l;
        const char *row;
    } cases[] = {{TESS_SUM, tess_c64, tess_c64, {3, {0, 1, 2}, {14, 2, 2189964}, 2, {0, 2}}, "tree_turned"},
                 {TESS_MEAN, tess_f16, tess_f32, {2, {0, 1}, {87778, 704}, 2, {0, 1}}, "tree_turned"},
                 {TESS_STD, tess_f32, tess_f32, {2, {0, 1}, {31477, 2048}, 2, {0, 1}}, "tree_turned"},
                 {TESS_VAR, tess_f64, tess_f64, {4, {0, 1, 2, 3}, {90, 21, 68, 247}, 3, {0, 2, 3}}, "tree_turned"},
                 {TESS_SUM, tess_f32, tess_f32, {3, {0, 1, 2}, {3, 2000, 3000}, 1, {2}}, "tree_spread"},
                 {TESS_MAX, tess_u8, tess_u8, {3, {0, 1, 2}, {3, 2000, 3000}, 1, {2}}, "tree_spread"},
                 {TESS_SUM, tess_bf16, tess_f32, {3, {0, 1, 2}, {118, 2, 182883}, 1, {1}}, "tree_spread"},
                 {TESS_SUM, tess_f32, tess_f32, {3, {1, 0, 2}, {3, 2000, 3000}, 1, {2}}, "tree_columns"}, /* out as memory has it */
                 {TESS_SUM, tess_f32, tess_f32, {3, {0, 1, 2}, {3, 20, 3000}, 1, {2}}, "tree_lanes"},     /* little */
                 {TESS_SUM, tess_i32, tess_i64, {2, {0, 1}, {31477, 2048}, 2, {0, 1}}, "tree_rows"},      /* no order matters */
                 {TESS_STD, tess_f32, tess_f32, {2, {1, 0}, {31477, 2048}, 2, {0, 1}}, "tree_leaves"},    /* memory's order */
                 {TESS_SUM, tess_f32, tess_f32, {2, {0, 1}, {1 << 22, 10}, 2, {0, 1}}, "tree_leaves"},    /* a leaf has neighbours */
                 {TESS_STD, tess_f32, tess_f32, {2, {0, 1}, {314, 2048}, 2, {0, 1}}, "tree_leaves"}};     /* little */
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        int64_t shape[4], steps[4], kept[4];
        int count;
        const layout *l = &cases[i].l;
        lay(l, shape, steps, kept, &count);
        const DLTensor in = tess_view(NULL, cases[i].in, l->ndim, shape, steps), out = tess_view(NULL, cases[i].out, count, kept, NULL);
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = l->axes, .naxes = l->naxes, .call = {.engine = engine}};
        tess_plan *plan;
        assert_tess_ok(tess_plan_reduce(&plan, context, cases[i].operation, &in, &out, &options));
        gpu_test_chosen(plan, cases[i].row, i);
    }
}

/* No neighbours, elements that are shared, and few elements. */
static void refused(void **state) {
    (void)state;
    int64_t shapes[][2] = {{100, 64}, {100, 64}, {5, 50}}, steps[][2] = {{2, 200}, {1, 0}, {1, 5}};
    for (int i = 0; i < TESS_COUNT(shapes); i++) {
        const DLTensor in = tess_view(NULL, tess_f32, 2, shapes[i], steps[i]), out = tess_view(NULL, tess_f32, 0, NULL, NULL);
        const tess_reduce_options options = {.struct_size = sizeof options, .call = {.engine = engine, .strategy = "reduce/tree_turned"}};
        tess_plan *plan = NULL;
        assert_int_equal(tess_plan_reduce(&plan, context, TESS_SUM, &in, &out, &options), TESS_ERR_STRATEGY);
    }
}

static void all_ran(void **state) {
    (void)state;
    assert_true(ran >= 15);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_layout), cmocka_unit_test(chosen), cmocka_unit_test(refused),
                                       cmocka_unit_test(all_ran)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_counts_gpu.c - proves: tree_groups, tree_few, tree_patches, tree_rows, tree_block, tree_columns, tree_sets, tree_leaves, tree_lanes, tree_moments and tree_twice count what their formulas say, on the virtual GPU: lengths, numbers of outputs and layouts that leave warps and
 * blocks incomplete and begin rows anywhere, elements and results of every size. */
#include "gpu_counts.h"
#include "ops/reduce/gpu_reduce.h"

static tess_context *context;
static tess_engine engine;

typedef struct counted {
    tess_reduction operation;
    tess_type in, out;
    int ndim;
    int64_t shape[5], pitch[5]; /* pitch: of the array that the elements are a part of, 0: the same, negative: taken backwards */
    int axes, axis[2];
    tess_nan nan;
} counted;

/* Returns how many numbers were compared. */
static int check(const char *row, const counted *c, bool exact) {
    int64_t shape[5], strides[5], bytes = 0, kept[5];
    int ndim = 0;
    char what[128], *in, *out;
    int64_t step = 1, first = 0;
    for (int d = c->ndim - 1; d >= 0; d--) {
        strides[d] = c->pitch[d] < 0 ? -step : step;
        first += c->pitch[d] < 0 ? (c->shape[d] - 1) * step : 0;
        step *= c->pitch[d] ? llabs(c->pitch[d]) : c->shape[d];
    }
    bytes = step * (int64_t)tess_type_size(c->in);
    memcpy(shape, c->shape, sizeof shape);
    for (int d = 0; d < c->ndim; d++)
        if (d != c->axis[0] && (c->axes == 1 || d != c->axis[1]))
            kept[ndim++] = c->shape[d];
    int64_t outputs = 1;
    for (int d = 0; d < ndim; d++)
        outputs *= kept[d];
    in = malloc((size_t)bytes);
    out = calloc((size_t)outputs, 16);
    assert_true(in && out);
    for (int64_t i = 0; i < bytes; i++) /* finite in every type */
        in[i] = (char)((i * 37 + i / 251) % 60);
    const DLTensor from = tess_view(in + first * (int64_t)tess_type_size(c->in), c->in, c->ndim, shape, strides),
                   to = tess_view(out, c->out, ndim, kept, NULL);
    const tess_reduce_options options = {
        .struct_size = sizeof options, .axes = c->axis, .naxes = c->axes, .nan = c->nan, .exact = exact, .call = {.engine = engine, .strategy = row}};
    tess_plan *plan;
    assert_tess_ok(tess_plan_reduce(&plan, context, c->operation, &from, &to, &options));
    snprintf(what, sizeof what, "%s of %lld x %lld x %lld x %lld %s along %d", tess_reduction_name(c->operation), (long long)c->shape[0],
             (long long)c->shape[1], (long long)c->shape[2], (long long)c->shape[3], tess_type_name(c->in), c->axis[0]);
    const int compared = gpu_counts_check(plan, from.data, NULL, out, what);
    tess_plan_free(plan);
    free(in);
    free(out);
    return compared;
}

static void check_all(const char *row, const counted *cases, int count, bool exact, int numbers) {
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    gpu_counts_begin(context);
    for (int i = 0; i < count; i++)
        assert_true(check(row, &cases[i], exact) >= numbers);
    gpu_counts_end(context);
}

/* Threads of a group side by side and turned; rounds of one output and of 32; outputs along one, two and three axes; elements along two; two looks. */
static void tree_groups(void **state) {
    (void)state;
    static const counted cases[] = {{TESS_SUM, tess_f32, tess_f32, 2, {1000, 9}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {777, 31}, {0, 33}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {31, 1777}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {100, 1777}, {0, 1800}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f64, 2, {200, 333}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 2, {777, 13}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 2, {7, 1001}, {0}, 1, {0}, 0},
                                    {TESS_MAX, tess_f16, tess_f16, 2, {300, 70}, {0, 75}, 1, {1}, 0},
                                    {TESS_ARGMAX, tess_f16, tess_i64, 3, {41, 11, 37}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 3, {1000, 8, 3}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f64, tess_f32, 3, {70, 5, 300}, {0, 0, 301}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 4, {9, 14, 10, 33}, {0, 0, 0, 37}, 2, {0, 2}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 4, {9, 14, 10, 33}, {0}, 2, {1, 3}, 0},
                                    {TESS_MEAN, tess_i16, tess_f64, 4, {5, 6, 7, 8}, {0}, 1, {2}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 2, {99, 100}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 2, {5, 99}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f64, tess_f64, 2, {13, 700}, {0, 701}, 1, {1}, 0},
                                    {TESS_STD, tess_u8, tess_f64, 2, {600, 45}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f64, 2, {11, 1025}, {0, 1027}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {11, 1025}, {0, 1027}, 1, {1}, 0},
                                    {TESS_PROD, tess_f64, tess_f64, 2, {513, 21}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_c64, tess_c64, 2, {345, 7}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_c128, tess_c128, 2, {7, 345}, {0}, 1, {0}, 0},
                                    {TESS_PROD, tess_c64, tess_c128, 2, {33, 111}, {0}, 1, {1}, 0},
                                    {TESS_NORM2, tess_f32, tess_f32, 2, {50, 300}, {0}, 1, {1}, 0},
                                    {TESS_MIN, tess_f64, tess_f64, 2, {50, 300}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_COUNT_NONZERO, tess_bool, tess_i64, 2, {1, 300}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {999, 16}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {16, 64}, {0, 65}, 1, {1}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 2, {16, 128}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_c64, tess_c64, 2, {128, 112}, {0}, 1, {0}, 0},
                                    {TESS_MEAN, tess_f32, tess_f32, 2, {256, 112}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {512, 9}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 2, {32, 2}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_bf16, tess_f64, 2, {1, 64}, {0}, 1, {0}, 0},
                                    {TESS_MEAN, tess_c64, tess_c64, 2, {64, 64}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 1, {30}, {0}, 1, {0}, 0}};
    check_all("reduce/tree_groups", cases, TESS_COUNT(cases), false, 11);
    const counted one = {TESS_ARGMAX, tess_f16, tess_i64, 1, {1}, {0}, 1, {0}, 0};
    check_all("reduce/tree_groups", &one, 1, false, 0);
}

/* Columns alone and by words, rows that begin anywhere, the last warp without some outputs, sets one after another and apart, two looks. */
static void tree_few(void **state) {
    (void)state;
    static const counted cases[] = {{TESS_SUM, tess_f32, tess_f32, 2, {19, 1777}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {9, 31, 65}, {0, 0, 67}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {3, 64, 200}, {0}, 1, {1}, 0},
                                    {TESS_MEAN, tess_f32, tess_f32, 2, {12, 333}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f16, tess_f16, 3, {7, 19, 66}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 3, {7, 19, 33}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_bf16, tess_f64, 2, {5, 1000}, {0, 1002}, 1, {0}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 3, {5, 21, 97}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_c64, tess_c64, 2, {17, 333}, {0}, 1, {0}, 0},
                                    {TESS_MEAN, tess_c128, tess_c128, 2, {7, 345}, {0}, 1, {0}, 0},
                                    {TESS_PROD, tess_c64, tess_c128, 3, {4, 9, 111}, {0}, 1, {1}, 0},
                                    {TESS_PROD, tess_f32, tess_f32, 2, {20, 500}, {0}, 1, {0}, 0},
                                    {TESS_NORM2, tess_f32, tess_f32, 3, {3, 19, 129}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 3, {3, 19, 129}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f64, tess_f64, 2, {24, 700}, {0, 701}, 1, {0}, 0},
                                    {TESS_STD, tess_u8, tess_f64, 3, {5, 45, 64}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f16, tess_f32, 2, {19, 901}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 3, {5, 13, 100}, {0}, 1, {1}, 0},
                                    {TESS_MEAN, tess_i16, tess_f64, 4, {5, 6, 7, 8}, {0}, 1, {2}, 0},
                                    {TESS_MAX, tess_f32, tess_f32, 2, {19, 1023}, {0}, 1, {0}, 0},
                                    {TESS_ARGMAX, tess_f32, tess_i64, 2, {19, 1023}, {0}, 1, {0}, 0},
                                    {TESS_MIN, tess_f64, tess_f64, 2, {13, 300}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {13, 300}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {4, 1778}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f16, tess_f16, 3, {7, 8, 76}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 3, {3, 6, 104}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 3, {3, 16, 104}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 2, {40, 300}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {77, 31}, {0, 33}, 1, {1}, 0}};
    check_all("reduce/tree_few", cases, TESS_COUNT(cases), false, 11);
}

/* Sets that are one run, cut and whole, several a block; strips of long rows, the last one narrower; rows by 16, 8 and 4 bytes and where no vectors fit. */
static void tree_patches(void **state) {
    (void)state;
    static const counted cases[] = {{TESS_SUM, tess_f32, tess_f32, 2, {200, 33}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {50, 40, 7}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {50, 200, 31}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f64, tess_f32, 3, {33, 100, 3}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 3, {21, 64, 13}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_f16, tess_f16, 3, {21, 100, 17}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {100, 1000}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {256, 515}, {0, 517}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f64, 2, {77, 514}, {0, 518}, 1, {0}, 0},
                                    {TESS_SUM, tess_f16, tess_f16, 2, {130, 1001}, {0}, 1, {0}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 2, {70, 3001}, {0}, 1, {0}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 2, {250, 4096}, {0}, 1, {0}, 0},
                                    {TESS_ARGMAX, tess_i16, tess_i64, 3, {3, 90, 600}, {0, 0, 604}, 1, {1}, 0},
                                    {TESS_ARGMIN, tess_f64, tess_i64, 2, {130, 600}, {0}, 1, {0}, 0},
                                    {TESS_COUNT_NONZERO, tess_f32, tess_i64, 2, {200, 333}, {0}, 1, {0}, 0},
                                    {TESS_MEAN, tess_i32, tess_f64, 2, {200, 333}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 3, {9, 100, 20}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {100, 777}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_c64, tess_c64, 2, {100, 333}, {0}, 1, {0}, 0},
                                    {TESS_PROD, tess_c128, tess_c128, 3, {9, 100, 5}, {0}, 1, {1}, 0},
                                    {TESS_NORM2, tess_f32, tess_f32, 3, {4, 100, 200}, {0, 0, 256}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {4, 100, 200}, {0, 0, 256}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {50, 33, 9}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {51, 64, 8}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 3, {51, 45, 9}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_f64, tess_f64, 3, {57, 47, 10}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_f32, tess_f32, 3, {51, 47, 11}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 3, {51, 47, 11}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_c64, tess_c64, 3, {57, 47, 7}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_c128, tess_c128, 3, {57, 47, 7}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_c64, tess_c64, 3, {57, 40, 16}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_i16, tess_i64, 3, {57, 33, 16}, {0}, 1, {1}, 0},
                                    {TESS_ARGMAX, tess_f32, tess_i64, 3, {57, 64, 16}, {0}, 1, {1}, 0},
                                    {TESS_PROD, tess_c64, tess_c64, 3, {9, 100, 5}, {0}, 1, {1}, 0},
                                    {TESS_PROD, tess_c64, tess_c128, 3, {9, 100, 5}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_c128, tess_c128, 3, {9, 100, 5}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_c64, tess_c128, 3, {9, 100, 5}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_c64, tess_c64, 3, {9, 200, 5}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 3, {9, 200, 5}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {9, 200, 5}, {0}, 1, {1}, 0},
                                    {TESS_PROD, tess_f32, tess_f32, 3, {9, 200, 5}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f64, 3, {9, 200, 5}, {0}, 1, {1}, 0},
                                    {TESS_NORM1, tess_c64, tess_f32, 3, {9, 200, 5}, {0}, 1, {1}, 0},
                                    {TESS_NORM_INF, tess_c64, tess_f32, 3, {9, 200, 5}, {0}, 1, {1}, 0},
                                    {TESS_MEAN, tess_c64, tess_c64, 3, {9, 200, 5}, {0}, 1, {1}, 0},
                                    {TESS_STD, tess_f64, tess_f64, 3, {9, 200, 5}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_u64, tess_u64, 3, {9, 200, 5}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 3, {91, 200, 11}, {0}, 1, {1}, 0},
                                    {TESS_ARGMIN, tess_u8, tess_i64, 3, {9, 240, 41}, {0}, 1, {1}, 0},
                                    {TESS_ARGMIN, tess_f16, tess_i64, 3, {9, 240, 41}, {0}, 1, {1}, 0},
                                    {TESS_ANY, tess_f32, tess_bool, 3, {9, 200, 11}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {8, 100000}, {0}, 1, {0}, 0}};
    check_all("reduce/tree_patches", cases, TESS_COUNT(cases), false, 5);
}

/* Leaves cut and whole, one, two to four and more of them a block, by a last block and by a launch of their own; rows that begin anywhere, of every size of elements; runs that lie apart. */
static void tree_rows(void **state) {
    (void)state;
    static const counted cases[] = {{TESS_SUM, tess_f32, tess_f32, 1, {100003}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 1, {70001}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 1, {700001}, {0}, 1, {0}, 0},
                                    {TESS_MAX, tess_f32, tess_f32, 1, {700001}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {5, 1003}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {5, 8192}, {0, 8196}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f64, 2, {3, 20000}, {0, 20002}, 1, {1}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 2, {7, 3001}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 2, {2, 30000}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_bf16, tess_f32, 2, {3, 9001}, {0}, 1, {1}, 0},
                                    {TESS_PROD, tess_f64, tess_f64, 2, {3, 9001}, {0}, 1, {1}, 0},
                                    {TESS_MEAN, tess_f32, tess_f32, 3, {3, 5, 777}, {0, 0, 780}, 1, {2}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 2, {9, 2501}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_i32, tess_i64, 2, {3, 40001}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_f16, tess_f16, 2, {9, 777}, {0, 800}, 1, {1}, 0},
                                    {TESS_MIN, tess_f64, tess_f64, 2, {2, 70001}, {0}, 1, {1}, 0},
                                    {TESS_ARGMAX, tess_f32, tess_i64, 2, {2, 70001}, {0}, 1, {1}, 0},
                                    {TESS_COUNT_NONZERO, tess_u8, tess_i64, 1, {200001}, {0}, 1, {0}, 0},
                                    {TESS_MEAN, tess_i16, tess_f64, 2, {30, 301}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {4, 20000}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_f64, tess_f64, 2, {5, 301}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f16, tess_f16, 2, {40, 258}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_c64, 2, {40, 258}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 2, {4, 17000}, {0, 17001}, 1, {1}, 0},
                                    {TESS_ARGMIN, tess_u8, tess_i64, 1, {150001}, {0}, 1, {0}, 0},
                                    {TESS_ARGMAX, tess_f32, tess_i64, 2, {35, 9}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_u8, tess_u64, 2, {2, 17100001}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {30, 3, 700}, {0}, 2, {0, 2}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 2, {20, 9002}, {0, 9004}, 2, {0, 1}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 4, {9, 14, 10, 36}, {0}, 2, {1, 3}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 3, {30, 3, 720}, {0}, 2, {0, 2}, 0},
                                    {TESS_ARGMAX, tess_f32, tess_i64, 3, {200, 3, 700}, {0}, 2, {0, 2}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 4, {9, 14, 10, 33}, {0, 0, 0, 37}, 2, {1, 3}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {70, 5, 36}, {0, 0, 38}, 2, {0, 2}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 3, {33, 3, 500}, {-33, 0, 501}, 2, {0, 2}, 0}};
    check_all("reduce/tree_rows", cases, TESS_COUNT(cases), false, 5);
}

static void tree_block(void **state) {
    (void)state;
    static const counted cases[] = {{TESS_SUM, tess_f32, tess_f32, 1, {1003}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 1, {8192}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 1, {100001}, {0}, 1, {0}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 1, {3001}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_i32, tess_i64, 1, {400001}, {0}, 1, {0}, 0},
                                    {TESS_ARGMAX, tess_f64, tess_i64, 1, {20001}, {0}, 1, {0}, 0},
                                    {TESS_NORM2, tess_f32, tess_f32, 1, {31}, {0}, 1, {0}, 0},
                                    {TESS_MEAN, tess_f32, tess_f32, 1, {9000}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_MEAN, tess_f64, tess_f64, 1, {9000}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_COUNT_NONZERO, tess_f32, tess_i64, 1, {300}, {0}, 1, {0}, TESS_NAN_OMIT}};
    check_all("reduce/tree_block", cases, TESS_COUNT(cases), false, 5);
}

/* Strips cut and whole, of one column and up to eight a thread; 8 and 32 warps; one leaf and several; sets that begin anywhere, backwards too; pairs of f32, which are read one by one behind the others; rows along two axes. */
static void tree_columns(void **state) {
    (void)state;
    static const counted cases[] = {{TESS_SUM, tess_f32, tess_f32, 2, {300, 128}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {1473, 66}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {3, 2500, 70}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {5, 300, 71}, {0, -300, 0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f64, 2, {9001, 132}, {0, 136}, 1, {0}, 0},
                                    {TESS_MEAN, tess_f32, tess_f32, 3, {3, 8193, 33}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 2, {300, 70}, {-300, 0}, 1, {0}, 0},
                                    {TESS_PROD, tess_f64, tess_f64, 3, {2, 17000, 9}, {0, 0, 10}, 1, {1}, 0},
                                    {TESS_NORM2, tess_f32, tess_f64, 3, {3, 449, 5}, {0}, 1, {1}, 0},
                                    {TESS_NORM2, tess_f32, tess_f32, 2, {300, 260}, {0}, 1, {0}, 0},
                                    {TESS_PROD, tess_c64, tess_c64, 2, {300, 64}, {0}, 1, {0}, 0},
                                    {TESS_NORM1, tess_bf16, tess_f32, 2, {257, 258}, {0}, 1, {0}, 0},
                                    {TESS_MEAN, tess_f16, tess_f16, 4, {2, 3, 129, 45}, {0, 0, 0, 47}, 1, {2}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 2, {2049, 128}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 2, {300, 700}, {0}, 1, {0}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 3, {2, 130, 259}, {0}, 1, {0}, 0},
                                    {TESS_MIN, tess_i8, tess_i8, 2, {8200, 256}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 2, {300, 1037}, {0}, 1, {0}, 0},
                                    {TESS_ARGMAX, tess_u8, tess_i64, 3, {3, 256, 515}, {0, 259, 0}, 1, {1}, 0},
                                    {TESS_COUNT_NONZERO, tess_i8, tess_i64, 3, {2, 129, 513}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_f16, tess_f16, 2, {320, 270}, {0, 275}, 1, {0}, 0},
                                    {TESS_ARGMIN, tess_f16, tess_i64, 2, {2000, 1037}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_MAX, tess_i16, tess_i16, 2, {600, 132}, {0}, 1, {0}, 0},
                                    {TESS_MIN, tess_f32, tess_f32, 2, {777, 64}, {0}, 1, {0}, 0},
                                    {TESS_MAX, tess_f64, tess_f64, 2, {20000, 37}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_i32, tess_i64, 2, {513, 90}, {0}, 1, {0}, 0},
                                    {TESS_MEAN, tess_i64, tess_f64, 2, {200, 40}, {0}, 1, {0}, 0},
                                    {TESS_ARGMAX, tess_f32, tess_i64, 3, {2, 9000, 70}, {0}, 1, {1}, 0},
                                    {TESS_ARGMIN, tess_f64, tess_i64, 2, {300, 65}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {2, 9000, 33}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_COUNT_NONZERO, tess_f32, tess_i64, 2, {9000, 70}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_ANY, tess_bool, tess_bool, 2, {400, 128}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 4, {2, 3, 300, 33}, {0, 4, 0, 0}, 1, {2}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 5, {3, 2, 5, 300, 33}, {0, 3, 6, 0, 0}, 1, {3}, 0},
                                    {TESS_SUM, tess_f32, tess_c64, 2, {9000, 33}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_c64, tess_c64, 2, {300, 70}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_c128, tess_c128, 3, {2, 9000, 33}, {0}, 1, {1}, 0},
                                    {TESS_PROD, tess_c64, tess_c128, 2, {257, 64}, {0}, 1, {0}, 0},
                                    {TESS_NORM2, tess_c64, tess_f32, 2, {449, 33}, {0}, 1, {0}, 0},
                                    {TESS_MEAN, tess_c128, tess_c128, 2, {130, 40}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_f32, tess_f32, 4, {7, 3, 50, 132}, {0}, 2, {0, 2}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {50, 200, 33}, {0, 203, 35}, 2, {0, 1}, 0},
                                    {TESS_MAX, tess_f16, tess_f16, 4, {7, 2, 50, 264}, {0}, 2, {0, 2}, 0},
                                    {TESS_COUNT_NONZERO, tess_f32, tess_i64, 4, {40, 2, 50, 41}, {0}, 2, {0, 2}, 0},
                                    {TESS_ARGMAX, tess_f32, tess_i64, 3, {845, 17, 129}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 3, {4224, 9, 256}, {0}, 1, {1}, 0},
                                    {TESS_COUNT_NONZERO, tess_f32, tess_i64, 3, {845, 17, 129}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_ALL, tess_f32, tess_bool, 3, {845, 17, 129}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_ARGMAX, tess_u8, tess_i64, 3, {2112, 17, 521}, {0}, 1, {1}, 0}};
    check_all("reduce/tree_columns", cases, TESS_COUNT(cases), false, 6);
}

/* Sets that begin and end at vectors and within them, several a block, a block in more rows of sets than one; one leaf and several, more than a warp pairs and more than a block; vectors that end behind the array; whole rounds
 * of sums, whose flops are predicted, and others; words of small elements; nodes of one field and two. */
static void tree_sets(void **state) {
    (void)state;
    static const counted cases[] = {{TESS_SUM, tess_f32, tess_f32, 3, {7, 300, 4}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {100, 301, 3}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {9, 512, 10}, {0}, 1, {1}, 0},
                                    {TESS_NORM2, tess_f32, tess_f64, 3, {3, 512, 16}, {0}, 1, {1}, 0},
                                    {TESS_MEAN, tess_f64, tess_f64, 3, {3, 1000, 33}, {0, 1001, 0}, 1, {1}, 0},
                                    {TESS_PROD, tess_f64, tess_f32, 2, {2048, 64}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f16, tess_f16, 4, {5, 40, 33, 7}, {0, 41, 35, 0}, 1, {2}, 0},
                                    {TESS_SUM, tess_bf16, tess_f32, 3, {5, 2049, 31}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 3, {332, 5, 2}, {0, 22, 0}, 1, {1}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 4, {323, 107, 5, 2}, {0, 108, 0, 0}, 1, {2}, 0},
                                    {TESS_SUM, tess_i16, tess_i64, 4, {10, 333, 9, 5}, {0, 334, 10, 0}, 1, {2}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 3, {3, 300, 4}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 3, {40, 300, 13}, {0}, 1, {1}, 0},
                                    {TESS_MAX, tess_i8, tess_i8, 4, {3, 100, 7, 2}, {0, 0, 8, 0}, 1, {2}, 0},
                                    {TESS_MIN, tess_f16, tess_f16, 3, {21, 600, 5}, {0, 601, 0}, 1, {1}, 0},
                                    {TESS_MAX, tess_f64, tess_f64, 2, {777, 66}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_ARGMAX, tess_u8, tess_i64, 3, {5, 1000, 9}, {0}, 1, {1}, 0},
                                    {TESS_ARGMIN, tess_f32, tess_i64, 3, {31, 257, 5}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_ARGMAX, tess_f64, tess_i64, 3, {3, 9000, 3}, {0}, 1, {1}, 0},
                                    {TESS_ARGMIN, tess_i64, tess_i64, 3, {5, 300, 7}, {0}, 1, {1}, 0},
                                    {TESS_COUNT_NONZERO, tess_f32, tess_i64, 3, {11, 300, 6}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_ALL, tess_f16, tess_bool, 3, {3, 300, 6}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_MEAN, tess_i16, tess_f64, 3, {13, 300, 70}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {13, 300, 7}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_c64, tess_c64, 3, {11, 257, 9}, {0}, 1, {1}, 0},
                                    {TESS_MEAN, tess_c64, tess_c64, 3, {3, 512, 8}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_c128, tess_c128, 3, {3, 9000, 5}, {0}, 1, {1}, 0},
                                    {TESS_PROD, tess_c64, tess_c128, 3, {3, 300, 5}, {0}, 1, {1}, 0},
                                    {TESS_NORM_INF, tess_c64, tess_f64, 3, {5, 333, 6}, {0}, 1, {1}, 0},
                                    {TESS_COUNT_NONZERO, tess_c128, tess_i64, 2, {300, 29}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_f32, tess_f32, 3, {5, 9001, 3}, {0}, 1, {1}, 0},
                                    {TESS_MEAN, tess_f32, tess_f32, 3, {2, 20000, 7}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {20001, 3}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 3, {2, 9000, 33}, {0, 9001, 0}, 1, {1}, 0},
                                    {TESS_NORM2, tess_f32, tess_f32, 2, {4096, 16}, {0}, 1, {0}, 0},
                                    {TESS_MAX, tess_i32, tess_i32, 2, {50001, 7}, {0}, 1, {0}, 0},
                                    {TESS_ARGMAX, tess_u8, tess_i64, 2, {30000, 31}, {0}, 1, {0}, 0},
                                    {TESS_ARGMAX, tess_f16, tess_i64, 2, {2200001, 2}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_u8, tess_u64, 2, {17000001, 2}, {0}, 1, {0}, 0}};
    check_all("reduce/tree_sets", cases, TESS_COUNT(cases), false, 5);
}

/* Elements side by side, apart and backwards, along one axis and two; one leaf and several, more than a warp pairs and more than a block; complex elements; moments, of small elements by words that begin
 * and end within leaves, down to some within one word. */
static void tree_leaves(void **state) {
    (void)state;
    static const counted cases[] = {{TESS_SUM, tess_f32, tess_f32, 2, {5, 1003}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {3, 2048}, {0}, 1, {1}, 0},
                                    {TESS_MEAN, tess_f64, tess_f64, 2, {9001, 7}, {-9001, 9}, 1, {0}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 3, {3, 20001, 3}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 4, {9, 14, 10, 33}, {0}, 2, {1, 3}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 2, {3, 20001}, {0, 20005}, 1, {1}, 0},
                                    {TESS_ARGMIN, tess_f32, tess_i64, 2, {3, 9001}, {0}, 1, {1}, 0},
                                    {TESS_MEAN, tess_f32, tess_f32, 2, {3, 9001}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_c64, tess_c64, 2, {5, 1003}, {0}, 1, {1}, 0},
                                    {TESS_MEAN, tess_c64, tess_c64, 2, {3, 2048}, {0}, 1, {1}, 0},
                                    {TESS_PROD, tess_c64, tess_c128, 2, {9001, 3}, {0}, 1, {0}, 0},
                                    {TESS_SUM, tess_c128, tess_c128, 2, {3, 9001}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_c128, tess_c128, 1, {2200001}, {0}, 1, {0}, 0},
                                    {TESS_NORM2, tess_c64, tess_f32, 2, {300, 7}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 2, {5, 1003}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f64, tess_f64, 2, {9001, 5}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_STD, tess_f16, tess_f32, 2, {9, 8195}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_VAR, tess_bf16, tess_f32, 2, {9, 301}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f16, tess_f64, 2, {301, 9}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_i32, tess_f64, 2, {3, 9001}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {9, 8191}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {9, 3}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {9, 2}, {0, 5}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {3, 1280}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {3, 9216}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_i8, tess_f64, 2, {19, 133}, {0, 135}, 1, {1}, 0},
                                    {TESS_STD, tess_i16, tess_f64, 2, {5, 257}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 3, {5, 30, 40}, {0, 31, 41}, 2, {1, 2}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 1, {17000001}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f16, tess_f32, 2, {3, 65537}, {0, 65544}, 1, {1}, 0},
                                    {TESS_VAR, tess_bf16, tess_f32, 2, {2, 60003}, {0, 60004}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_VAR, tess_i16, tess_f64, 1, {81920}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f16, tess_f32, 3, {20, 3, 3136}, {0}, 2, {0, 2}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 3, {30, 3, 300}, {0}, 2, {0, 2}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 3, {2, 3, 8192}, {0}, 2, {0, 2}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 1, {2200001}, {0}, 1, {0}, 0}};
    check_all("reduce/tree_leaves", cases, TESS_COUNT(cases), false, 4);
}

/* Elements side by side and apart, outputs that begin anywhere, one leaf and several. */
static void tree_lanes(void **state) {
    (void)state;
    static const counted cases[] = {{TESS_SUM, tess_f32, tess_f32, 2, {5, 1003}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f64, tess_f64, 2, {9001, 3}, {0}, 1, {0}, 0},
                                    {TESS_MAX, tess_u8, tess_u8, 2, {20000, 7}, {0, 9}, 1, {0}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 2, {3, 70001}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_i32, tess_i64, 3, {7, 300, 3}, {0}, 1, {1}, 0},
                                    {TESS_ARGMAX, tess_f32, tess_i64, 2, {3, 9000}, {0}, 1, {1}, 0},
                                    {TESS_PROD, tess_f32, tess_f64, 1, {38071}, {0}, 1, {0}, TESS_NAN_OMIT},
                                    {TESS_SUM, tess_u8, tess_u64, 2, {2, 520001}, {0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f32, tess_f32, 2, {5, 1003}, {-5, 0}, 1, {1}, 0},
                                    {TESS_SUM, tess_f16, tess_f32, 2, {3, 9001}, {0, -9001}, 1, {1}, 0},
                                    {TESS_MEAN, tess_f32, tess_f32, 2, {4, 33}, {0}, 1, {1}, TESS_NAN_OMIT}};
    check_all("reduce/tree_lanes", cases, TESS_COUNT(cases), false, 5);
}

/* Tiles of several sets, that follow one another and lie apart, of one set and of strips, the last one narrower; words that begin within a tile's vector; what is kept in registers; leaves that come in stages, a last one that is
 * not whole; backwards; NaNs left out. */
static void tree_moments(void **state) {
    (void)state;
    static const counted cases[] = {{TESS_VAR, tess_f32, tess_f32, 3, {70, 300, 4}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 3, {100, 301, 3}, {0}, 1, {1}, 0},
                                    {TESS_STD, tess_u8, tess_f64, 3, {100, 301, 3}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f16, tess_f32, 3, {9, 1000, 33}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f64, tess_f64, 3, {21, 20, 5}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_i16, tess_f64, 3, {31, 100, 16}, {0, 101, 0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 3, {3, 1000, 33}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 2, {1000, 1001}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 2, {200, 4096}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {300, 1001}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {300, 1004}, {-300, 0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 3, {3, 4096, 8}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f32, tess_f64, 2, {20000, 24}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f32, tess_f64, 2, {8192, 24}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {16384, 96}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 3, {9, 1024, 33}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_i8, tess_f64, 2, {256, 1001}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 3, {3, 4096, 8}, {0}, 1, {1}, 0},
                                    {TESS_VAR, tess_f32, tess_f64, 2, {6000, 40}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f16, tess_f64, 2, {10000, 32}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {9000, 64}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {9000, 3}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f64, tess_f64, 2, {8192, 12}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f64, tess_f64, 2, {9001, 3}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f32, tess_f64, 2, {10000, 33}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f16, tess_f64, 2, {8192, 33}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {8192, 33}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f64, tess_f64, 2, {8192, 9}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f16, tess_f64, 2, {8192, 34}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f32, tess_f64, 2, {8192, 20}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {8192, 100}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f32, tess_f64, 2, {8192, 5}, {0}, 1, {0}, 0},
                                    {TESS_VAR, tess_f32, tess_f32, 3, {5, 700, 7}, {0}, 1, {1}, TESS_NAN_OMIT},
                                    {TESS_VAR, tess_u8, tess_f64, 2, {17000001, 2}, {0}, 1, {0}, 0}};
    check_all("reduce/tree_moments", cases, TESS_COUNT(cases), false, 5);
}

/* Leaves of one class and of many, whole, short and both, sets that begin within vectors, last classes that are not full. */
static void tree_twice(void **state) {
    (void)state;
    static const counted cases[] = {
        {TESS_VAR, tess_f32, tess_f32, 3, {3, 1000, 33}, {0}, 1, {1}, 0}, {TESS_VAR, tess_f32, tess_f64, 3, {2, 10000, 9}, {0}, 1, {1}, 0},
        {TESS_STD, tess_f64, tess_f64, 2, {8192, 12}, {0}, 1, {0}, 0},    {TESS_VAR, tess_f64, tess_f64, 3, {3, 2501, 7}, {0}, 1, {1}, 0},
        {TESS_VAR, tess_f16, tess_f32, 3, {2, 9001, 10}, {0}, 1, {1}, 0}, {TESS_VAR, tess_u16, tess_f64, 3, {2, 8193, 11}, {0}, 1, {1}, 0},
        {TESS_VAR, tess_i16, tess_f64, 2, {16384, 5}, {0}, 1, {0}, 0},    {TESS_VAR, tess_i16, tess_f64, 3, {3, 3000, 17}, {0}, 1, {1}, 0},
        {TESS_VAR, tess_i32, tess_f64, 3, {3, 700, 33}, {0}, 1, {1}, 0},  {TESS_VAR, tess_bf16, tess_f32, 3, {5, 14001, 3}, {0}, 1, {1}, 0},
        {TESS_VAR, tess_f32, tess_f32, 3, {5, 7, 2}, {0}, 1, {1}, 0}};
    const int threads = tess_threads(context);
    assert_tess_ok(tess_set_threads(context, 1)); /* blocks come one after another, so none waits */
    check_all("reduce/tree_twice", cases, TESS_COUNT(cases), false, 9);
    assert_tess_ok(tess_set_threads(context, threads));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tree_groups),  cmocka_unit_test(tree_few),    cmocka_unit_test(tree_patches),
                                       cmocka_unit_test(tree_rows),    cmocka_unit_test(tree_block),  cmocka_unit_test(tree_columns),
                                       cmocka_unit_test(tree_sets),    cmocka_unit_test(tree_leaves), cmocka_unit_test(tree_lanes),
                                       cmocka_unit_test(tree_moments), cmocka_unit_test(tree_twice)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

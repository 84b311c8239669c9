/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_tiny.c - proves that sums, means and extremes of rows of 1 to 9 elements without gaps have the reference's bits on every context: of finite numbers, with NaNs and zeros of
 * both signs here and there, into outputs with and without gaps, and past the caches, of which lines begin where they are stored whole and elsewhere; other kinds past
 * the caches. */
#include "cpu_contexts.h"

#include <math.h>

static const tess_reduction operations[] = {TESS_SUM, TESS_MEAN, TESS_MIN, TESS_MAX};

/* Finite numbers of some size; every so many one is a NaN, an infinity or a zero. odd: 0, none; else one of so many. */
static void fill(void *to, tess_type type, int64_t count, uint64_t *random, int64_t odd) {
    static const double specials[] = {NAN, -INFINITY, 0.0, -0.0, -0.0, 0.0};
    for (int64_t i = 0; i < count; i++) {
        double x = (double)hostile_between(random, -1000000, 1000000) / 128;
        if (odd && hostile_between(random, 0, odd) == 0)
            x = specials[hostile_between(random, 0, TESS_COUNT(specials) - 1)];
        if (type == tess_f32)
            ((float *)to)[i] = (float)x;
        else
            ((double *)to)[i] = x;
    }
}

/* rows x k elements by the reference, the row for short rows and whatever is chosen; results lie `gap` elements apart. */
static void compare(tess_type type, int64_t rows, int64_t k, int64_t gap, uint64_t *random, int64_t odd, int from_context) {
    const size_t size = tess_type_size(type);
    char *in = aligned_alloc(64, ((size_t)(rows * k) * size + 63) / 64 * 64), *out = aligned_alloc(64, ((size_t)(rows * gap) * size + 63) / 64 * 64);
    char *expected = malloc((size_t)rows * size);
    assert_true(in && out && expected);
    fill(in, type, rows * k, random, odd);
    const DLTensor x = tess_view(in, type, 2, (int64_t[]){rows, k}, NULL), y = tess_view(out, type, 1, &rows, &gap),
                   e = tess_view(expected, type, 1, &rows, NULL);
    static int number;
    for (int o = 0; o < TESS_COUNT(operations); o++) {
        if (hostile_spared(number++, 6))
            continue;
        tess_reduce_options options = {.struct_size = sizeof options, .axes = (int[]){1}, .naxes = 1, .call.strategy = "reduce/reference"};
        assert_tess_ok(tess_reduce(contexts[0], operations[o], &x, &e, &options));
        for (int c = from_context; c < context_count; c++)
            for (int chosen = 0; chosen < 2; chosen++) {
                memset(out, 0x5a, (size_t)(rows * gap) * size);
                options.call.strategy = chosen ? NULL : "reduce/short";
                assert_tess_ok(tess_reduce(contexts[c], operations[o], &x, &y, &options));
                for (int64_t i = 0; i < rows; i++)
                    if (memcmp(out + i * gap * (int64_t)size, expected + i * (int64_t)size, size) != 0)
                        fail_msg("%s of %lld rows of %lld %s, context %d: result %lld differs", tess_reduction_name(operations[o]), (long long)rows,
                                 (long long)k, tess_type_name(type), c, (long long)i);
            }
    }
    free(in);
    free(out);
    free(expected);
}

static void few_elements(void **state) {
    uint64_t random = 31;
    (void)state;
    for (int round = 0; round < 300; round++)
        compare(round % 2 ? tess_f64 : tess_f32, hostile_between(&random, 1, round % 5 ? 300 : 5000), hostile_between(&random, 1, 9),
                1 + (round % 7 == 0), &random,
                round % 3 == 0   ? 0
                : round % 3 == 1 ? 400
                                 : 6,
                0);
}

/* Results of 8 MiB and more. */
static void past_the_caches(void **state) {
    uint64_t random = 32;
    (void)state;
    compare(tess_f32, (2 << 20) + 100, 3, 1, &random, 50000, context_count - 1);
    compare(tess_f64, (1 << 20) + 100, 4, 1, &random, 50000, context_count - 1);
}

/* The other kinds, whose results are converted on their way; rows of some few elements, which are turned as whole vectors, and of others. */
static void other_kinds_past_the_caches(void **state) {
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        int64_t k;
    } cases[] = {{TESS_NORM2, tess_f32, tess_f32, 3},         {TESS_NORM2, tess_f64, tess_f64, 4},   {TESS_VAR, tess_f32, tess_f64, 8},
                 {TESS_NORM1, tess_f32, tess_f32, 2},         {TESS_ARGMAX, tess_f32, tess_i64, 4},  {TESS_ARGMIN, tess_f64, tess_i64, 2},
                 {TESS_COUNT_NONZERO, tess_f32, tess_i64, 5}, {TESS_SUM, tess_u8, tess_u64, 16},     {TESS_SUM, tess_i32, tess_i64, 8},
                 {TESS_SUM, tess_u32, tess_u64, 4},           {TESS_SUM, tess_i64, tess_i64, 3},     {TESS_MAX, tess_i32, tess_i32, 4},
                 {TESS_MEAN, tess_u16, tess_f64, 7},          {TESS_NORM_INF, tess_f32, tess_f32, 3}};
    uint64_t random = 33;
    (void)state;
    for (int c = 0; c < TESS_COUNT(cases); c++) {
        if (hostile_spared(c, 12))
            continue;
        int64_t size = (int64_t)tess_type_size(cases[c].out), rows = (8 << 20) / size + 100, count = rows * cases[c].k;
        const int64_t bytes = count * (int64_t)tess_type_size(cases[c].in);
        char *in = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64), *out = aligned_alloc(64, (size_t)(rows * size + 63) / 64 * 64);
        char *expected = malloc((size_t)(rows * size));
        assert_true(in && out && expected);
        if (cases[c].in == tess_f32 || cases[c].in == tess_f64)
            fill(in, cases[c].in, count, &random, 50000);
        else
            for (int64_t i = 0; i < bytes; i += 8) /* the allocation is whole lines */
                memcpy(in + i, &(uint64_t){hostile_random(&random)}, 8);
        const DLTensor x = tess_view(in, cases[c].in, 2, (int64_t[]){rows, cases[c].k}, NULL), y = tess_view(out, cases[c].out, 1, &rows, NULL),
                       e = tess_view(expected, cases[c].out, 1, &rows, NULL);
        tess_reduce_options options = {.struct_size = sizeof options, .axes = (int[]){1}, .naxes = 1, .ddof = 1, .call.strategy = "reduce/reference"};
        assert_tess_ok(tess_reduce(contexts[0], cases[c].operation, &x, &e, &options));
        for (int n = 0; n<context_count; n += context_count> 1 ? context_count - 1 : 1) {
            memset(out, 0x5a, (size_t)(rows * size));
            options.call.strategy = "reduce/short";
            assert_tess_ok(tess_reduce(contexts[n], cases[c].operation, &x, &y, &options));
            if (memcmp(out, expected, (size_t)(rows * size)) != 0)
                fail_msg("%s of rows of %lld %s, context %d, differs", tess_reduction_name(cases[c].operation), (long long)cases[c].k,
                         tess_type_name(cases[c].in), n);
        }
        free(in);
        free(out);
        free(expected);
    }
}

/* The same in planes, after each of which `gap` elements stay as they are: results of a plane begin at a line only where those are whole lines. */
static void compare_planes(tess_type type, int64_t planes, int64_t rows, int64_t k, int64_t gap, uint64_t *random) {
    const int64_t size = (int64_t)tess_type_size(type), step = (rows + gap) * size;
    char *in = malloc((size_t)(planes * rows * k * size)), *out = aligned_alloc(64, (size_t)(planes * step + 63) / 64 * 64);
    char *expected = malloc((size_t)(planes * rows * size));
    assert_true(in && out && expected);
    fill(in, type, planes * rows * k, random, 0);
    memset(out, 0x5a, (size_t)(planes * step));
    int64_t shape[2] = {planes, rows}, strides[2] = {rows + gap, 1};
    const DLTensor x = tess_view(in, type, 3, (int64_t[]){planes, rows, k}, NULL), y = tess_view(out, type, 2, shape, strides),
                   e = tess_view(expected, type, 2, shape, NULL);
    tess_reduce_options options = {.struct_size = sizeof options, .axes = (int[]){2}, .naxes = 1, .call.strategy = "reduce/reference"};
    assert_tess_ok(tess_reduce(contexts[0], TESS_SUM, &x, &e, &options));
    options.call.strategy = "reduce/short";
    assert_tess_ok(tess_reduce(contexts[context_count - 1], TESS_SUM, &x, &y, &options));
    for (int64_t i = 0; i < planes; i++) {
        assert_memory_equal(out + i * step, expected + i * rows * size, (size_t)(rows * size));
        for (int64_t b = rows * size; b < step; b++)
            assert_int_equal(out[i * step + b], 0x5a);
    }
    free(in);
    free(out);
    free(expected);
}

static void planes_past_the_caches(void **state) {
    uint64_t random = 33;
    (void)state;
    compare_planes(tess_f32, 2048, 1040, 3, 1, &random);
    compare_planes(tess_f64, 1024, 1040, 2, 1, &random);
    if (TESS_SANITIZED) /* which looks at the same code for the others */
        return;
    compare_planes(tess_f32, 2048, 1040, 3, 16, &random);
    compare_planes(tess_f32, 2048, 1040, 16, 1, &random);
    compare_planes(tess_f64, 1024, 1040, 8, 1, &random);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_elements), cmocka_unit_test(past_the_caches),
                                       cmocka_unit_test(other_kinds_past_the_caches), cmocka_unit_test(planes_past_the_caches)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_tiny.c - proves that sums, means and extremes of rows of 1 to 9 elements without gaps have the reference's bits on every context: of finite numbers, with NaNs and zeros of
 * both signs here and there, into outputs with and without gaps, and past the caches. */
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
    for (int o = 0; o < TESS_COUNT(operations); o++) {
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_elements), cmocka_unit_test(past_the_caches)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

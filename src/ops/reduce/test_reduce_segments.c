/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_segments.c - proves: sums, means, norms, extremes, places, counts and moments of many segments that follow one another (leaf_segments.c) are the reference's, byte by byte: empty ones and ones of any
 * length up to some leaves, sixteen and more and fewer of them, beside each other in arrays of two axes, results at any step, by one and by several threads, on every instruction set, and
 * with nothing read beyond the last element. */
#include "cpu_contexts.h"

#include <math.h>

#include "core/dtype.h"

/* Lengths mostly below `usual`; some none where that may be, a few long. */
static int64_t length_of(uint64_t *random, int64_t usual, bool empty) {
    const int64_t kind = hostile_between(random, 0, 60);
    const int64_t least = empty ? 0 : 1;
    return kind == 0   ? hostile_between(random, least, 600)
           : kind == 1 ? hostile_between(random, 8000, 8500)
           : kind < 8  ? least
                       : hostile_between(random, least, usual);
}

static void put(char *to, tess_type type, uint64_t *random) {
    const uint64_t bits = hostile_random(random);
    const double x = bits >> 58 == 0 ? -0.0 : bits >> 50 == 77 ? NAN : (double)(int64_t)bits * 0x1p-60;
    const float narrow = (float)x;
    const uint16_t half = hostile_half(type == tess_bf16 ? type : tess_f16, narrow);
    memcpy(to,
           type == tess_f64                        ? (const void *)&x
           : type == tess_f32                      ? (const void *)&narrow
           : type == tess_f16 || type == tess_bf16 ? (const void *)&half
                                                   : (const void *)&bits,
           tess_type_size(type));
}

static void compare(uint64_t *random, int number) {
    static const tess_type types[] = {tess_f32, tess_f64, tess_f16, tess_bf16, tess_u8, tess_i8, tess_u16, tess_i32, tess_u64, tess_bool};
    static const tess_reduction operations[] = {TESS_SUM, TESS_MEAN, TESS_MAX,    TESS_NORM2,         TESS_VAR,    TESS_MIN, TESS_NORM1,
                                                TESS_STD, TESS_ANY,  TESS_ARGMAX, TESS_COUNT_NONZERO, TESS_ARGMIN, TESS_SUM};
    const tess_reduction operation = operations[number % TESS_COUNT(operations)];
    const tess_type type = types[hostile_between(random, 0, TESS_COUNT(types) - 1)];
    const bool extreme = operation == TESS_MAX || operation == TESS_MIN, floats = tess_is_float(type),
               place = operation == TESS_ARGMAX || operation == TESS_ARGMIN, count = operation == TESS_ANY || operation == TESS_COUNT_NONZERO;
    const int64_t size = (int64_t)tess_type_size(type), rows = hostile_between(random, 1, 3),
                  segments = hostile_between(random, 1, number % 9 == 0 ? 3000 : 200), usual = hostile_between(random, 1, number % 4 == 0 ? 300 : 20),
                  step = hostile_between(random, 1, 2);
    int64_t *offsets = malloc(sizeof(int64_t) * (size_t)(segments + 1));
    assert_non_null(offsets);
    offsets[0] = hostile_between(random, 0, 3);
    for (int64_t i = 0; i < segments; i++)
        offsets[i + 1] = offsets[i] + length_of(random, usual, !extreme && !place);
    const int64_t length = offsets[segments], outputs = (rows * segments - 1) * step + 1;
    char *memory = malloc((size_t)(tess_max64(1, rows * length) * size)), *expected = malloc((size_t)(outputs * 8)),
         *out = malloc((size_t)(outputs * 8));
    assert_true(memory && expected && out);
    for (int64_t i = 0; i < rows * length; i++)
        put(memory + i * size, type, random);
    for (int64_t i = 0; type == tess_bool && i < rows * length; i++)
        memory[i] = memory[i] & 1;
    const tess_type to = place || count                                                ? tess_i64
                         : operation == TESS_SUM || extreme || operation == TESS_NORM1 ? (floats || extreme ? type : tess_i64)
                         : floats                                                      ? type
                                                                                       : tess_f64;
    const DLTensor in = tess_view(memory, type, 2, (int64_t[]){rows, length}, NULL);
    DLTensor result = tess_view(expected, to, 2, (int64_t[]){rows, segments}, (int64_t[]){segments * step, step});
    const DLTensor ends = tess_view(offsets, tess_i64, 1, (int64_t[]){segments + 1}, NULL);
    tess_reduce_options options = {.struct_size = sizeof options, .axes = (int[]){1}, .naxes = 1, .offsets = &ends, .ddof = (double)(number % 2)};
    options.nan = floats && number % 5 == 0 ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE;
    options.call.strategy = "reduce/reference";
    memset(expected, HOSTILE_POISON, (size_t)(outputs * 8));
    assert_tess_ok(tess_reduce(contexts[0], operation, &in, &result, &options));
    result.data = out;
    for (int c = 0; c < context_count; c++) {
        options.call.strategy = number % 2 ? NULL : "reduce/lanes";
        memset(out, HOSTILE_POISON, (size_t)(outputs * 8));
        assert_tess_ok(tess_reduce(contexts[c], operation, &in, &result, &options));
        if (memcmp(out, expected, (size_t)(outputs * 8)))
            fail_msg("case %d: %s of %s, %lld x %lld segments of some %lld, context %d", number, tess_reduction_name(operation), tess_type_name(type),
                     (long long)rows, (long long)segments, (long long)usual, c);
    }
    free(memory);
    free(expected);
    free(out);
    free(offsets);
}

static void segments(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int number = 0; number < (TESS_SANITIZED ? 150 : 1000); number++)
        compare(&random, number);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(segments)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

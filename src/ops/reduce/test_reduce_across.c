/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_across.c - proves: whatever the order, direction and gaps of an array's axes in memory, places (leaf_places.c), moments, products and sums (leaf_window.c) of all elements and of
 * some axes' are the reference's, byte by byte: with many equal elements, NaNs of both policies and zeros of both signs, boxes and windows cut anywhere, last axes of a few elements, on
 * every instruction set, by one and by several threads, and with nothing read beyond the elements. */
#include "cpu_contexts.h"

#include <math.h>

#include "core/dtype.h"

typedef struct drawn {
    int ndim;
    int64_t shape[5], stride[5], first, all; /* in elements */
} drawn;

/* Axes in any order of memory, some backwards, some with gaps; the last one often short. */
static drawn draw(uint64_t *random, int64_t elements) {
    drawn d = {.ndim = (int)hostile_between(random, 2, 5), .all = 1};
    int order[5];
    int64_t step = 1, left = elements;
    for (int k = d.ndim - 1; k >= 0; k--) {
        const bool few = hostile_between(random, 0, k == d.ndim - 1 ? 1 : 4) == 0;
        d.shape[k] = k == 0 ? left : hostile_between(random, 1, tess_max64(1, tess_min64(left, few ? 16 : 400)));
        left = tess_max64(1, left / d.shape[k]);
        order[k] = k;
    }
    const bool fortran = hostile_between(random, 0, 1);
    if (!fortran)
        hostile_shuffle(random, d.ndim, order);
    for (int k = 0; k < d.ndim; k++) {
        const int axis = order[k];
        d.stride[axis] = step;
        step *= d.shape[axis];
        if (hostile_between(random, 0, 5) == 0)
            step += hostile_between(random, 1, 9);
        if (hostile_between(random, 0, 5) == 0) {
            d.first += (d.shape[axis] - 1) * d.stride[axis];
            d.stride[axis] = -d.stride[axis];
        }
    }
    for (int k = 0; k < d.ndim; k++)
        d.all += (d.shape[k] - 1) * (d.stride[k] < 0 ? -d.stride[k] : d.stride[k]);
    return d;
}

static void put(char *to, tess_type type, int values, uint64_t *random) {
    static const double f64s[] = {1.5, -0.0, 0, -1.5, 2, NAN, 1e4, -1e4};
    static const uint16_t f16s[] = {0x3e00, 0x8000, 0, 0xbe00, 0x4000, 0x7e00, 0x70e2, 0xf0e2};
    const uint64_t bits = hostile_random(random), which = bits >> 60 ? (bits & 7) % (uint64_t)values : 4;
    const double x = values > 8 ? (double)(int64_t)bits * 0x1p-62 : f64s[which & 7];
    const float narrow = (float)x;
    const uint16_t half = values > 8 ? hostile_half(type, narrow) : f16s[which & 7];
    if (type == tess_c64)
        memcpy(to + 4, &(float){0.75F}, 4);
    memcpy(to,
           type == tess_f64                       ? (const void *)&x
           : type == tess_f32 || type == tess_c64 ? (const void *)&narrow
           : type == tess_f16                     ? (const void *)&half
                                                  : (const void *)&bits,
           type == tess_c64 ? 4 : tess_type_size(type));
    if (values <= 8 && !tess_is_float(type) && type != tess_c64)
        memset(to, (int)which, tess_type_size(type));
}

static void compare(uint64_t *random, int number) {
    static const tess_type types[] = {tess_f32, tess_f64, tess_u8, tess_i16, tess_f16, tess_i32};
    static const tess_reduction operations[] = {TESS_ARGMAX, TESS_STD, TESS_ARGMIN, TESS_SUM, TESS_ARGMAX, TESS_PROD};
    const tess_reduction operation = operations[number % TESS_COUNT(operations)];
    const bool place = operation == TESS_ARGMAX || operation == TESS_ARGMIN;
    const tess_type type =
        !place && hostile_between(random, 0, 6) == 0 && operation != TESS_STD ? tess_c64 : types[hostile_between(random, 0, TESS_COUNT(types) - 1)];
    const int64_t size = (int64_t)tess_type_size(type);
    const drawn d = draw(random, hostile_between(random, 4096, number % 8 == 0 ? 300000 : 40000));
    const int values = (int)hostile_between(random, 1, 9), most = (int)hostile_between(random, 0, 2);
    int64_t outputs = 1, left[5], steps[5];
    int axes[5], count = 0, kept = 0;
    for (int k = 0; k < d.ndim; k++)
        if (kept < most && d.shape[k] * outputs < 4000 && hostile_between(random, 0, 1)) {
            left[kept++] = d.shape[k];
            outputs *= d.shape[k];
        } else {
            axes[count++] = k;
        }
    const bool turned = hostile_between(random, 0, 1);
    for (int64_t k = 0, step = 1; k < kept; k++) {
        const int64_t at = turned ? k : kept - 1 - k;
        steps[at] = step;
        step *= left[at];
    }
    if (count == 0)
        return;
    char *memory = malloc((size_t)(d.all * size)), *expected = malloc((size_t)(outputs * 16)), *out = malloc((size_t)(outputs * 16));
    assert_true(memory && expected && out);
    for (int64_t i = 0; i < d.all; i++)
        put(memory + i * size, type, values, random);
    DLTensor in = tess_view(memory, type, d.ndim, (int64_t *)(uintptr_t)d.shape, (int64_t *)(uintptr_t)d.stride);
    in.byte_offset = (uint64_t)(d.first * size);
    tess_reduce_options options = {.struct_size = sizeof options, .axes = axes, .naxes = count};
    const bool omit = tess_is_float(type) && hostile_between(random, 0, 2) == 0 && !(place && values < 6);
    options.nan = omit ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE;
    const tess_type to = place ? tess_i64 : operation == TESS_STD ? tess_f64 : type == tess_c64 || tess_is_float(type) ? type : tess_i64;
    DLTensor result = tess_view(expected, to, kept, left, steps);
    options.call.strategy = "reduce/reference";
    memset(expected, HOSTILE_POISON, (size_t)(outputs * 16));
    assert_tess_ok(tess_reduce(contexts[0], operation, &in, &result, &options));
    result.data = out;
    for (int c = 0; c < context_count; c++)
        for (int r = 0; r < 2; r++) {
            options.call.strategy = r == 0 ? NULL : "reduce/gather";
            memset(out, HOSTILE_POISON, (size_t)(outputs * 16));
            assert_tess_ok(tess_reduce(contexts[c], operation, &in, &result, &options));
            if (memcmp(out, expected, (size_t)(outputs * 16)))
                fail_msg("case %d: %s of %s, %d axes %lld x %lld x %lld .., steps %lld, %lld, %lld .., %d kept, %d values, row %s, context %d",
                         number, tess_reduction_name(operation), tess_type_name(type), d.ndim, (long long)d.shape[0], (long long)d.shape[1],
                         (long long)d.shape[2], (long long)d.stride[0], (long long)d.stride[1], (long long)d.stride[2], kept, values,
                         r == 0 ? "chosen" : "gather", c);
        }
    free(memory);
    free(expected);
    free(out);
}

static void any_order(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int number = 0; number < (TESS_SANITIZED ? 200 : 2000); number++)
        compare(&random, number);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_order)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

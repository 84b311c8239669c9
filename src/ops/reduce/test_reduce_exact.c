/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_exact.c - exact sums by vectors give the bits of the reference, which adds element by element to the long accumulator: every float type, runs
 * of every length around a block, magnitudes from all of a type's range to one binade, cancellation, subnormals, the greatest numbers, infinities and
 * NaNs among them; on every instruction set, with one thread and several. */
#include "hostile.h"

#include <math.h>

#include "ops/reduce/reduce.h"

enum { MOST = 9000, KINDS = 8 };

/* What a block meets: see the cases. */
static double element(uint64_t *random, int kind, int64_t i, int lowest, int highest) {
    const double sign = hostile_between(random, 0, 1) ? 1 : -1, fraction = 1 + (double)hostile_between(random, 0, ((int64_t)1 << 52) - 1) * 0x1p-52;
    switch (kind) {
    case 0: return sign * ldexp(fraction, -1);                                              /* one binade: nothing is left over */
    case 1: return sign * ldexp(fraction, (int)hostile_between(random, -60, 0));            /* a rest of some bits */
    case 2: return sign * ldexp(fraction, (int)hostile_between(random, lowest, highest));   /* more than all passes take */
    case 3: return sign * ldexp(fraction, lowest + (int)hostile_between(random, 0, 40));    /* subnormals */
    case 4: return sign * ldexp(fraction, highest - (int)hostile_between(random, 0, 3));    /* no room above */
    case 5: return i % 2 ? -ldexp(1.5, (int)(i / 2 % 50)) : ldexp(1.5, (int)(i / 2 % 50));  /* sums to nothing but the last */
    case 6: return i % 1000 == 999 ? sign * ldexp(fraction, lowest + 60) : sign * fraction; /* a few far below the rest */
    default: return 0 * sign;
    }
}

static void fill(void *data, tess_type type, int64_t n, int kind, uint64_t *random) {
    for (int64_t i = 0; i < n; i++) {
        if (type == tess_f64 || type == tess_c128)
            ((double *)data)[i] = element(random, kind, i, -1074, 1023);
        else if (type == tess_f32 || type == tess_c64)
            ((float *)data)[i] = (float)element(random, kind, i, -149, 127);
        else if (type == tess_bf16)
            ((uint16_t *)data)[i] = (uint16_t)hostile_between(random, 0, 0x7f7f) | (uint16_t)(hostile_between(random, 0, 1) << 15);
        else
            ((uint16_t *)data)[i] = (uint16_t)(kind < 3 ? hostile_between(random, 0, 0x7bff) : hostile_between(random, 0, 0x3ff)) |
                                    (uint16_t)(hostile_between(random, 0, 1) << 15);
    }
}

static void compare(tess_context **contexts, int count, tess_reduction operation, tess_type type, const void *data, int64_t n, tess_nan nan) {
    DLTensor in = tess_view((void *)(uintptr_t)data, type, 1, &n, NULL);
    const tess_type to = tess_is_complex(type) && operation != TESS_NORM1 ? tess_c128 : tess_f64;
    double expected[2] = {0, 0};
    DLTensor out = tess_view(expected, to, 0, NULL, NULL);
    tess_reduce_options how = {.struct_size = sizeof how, .exact = true, .nan = nan, .call.strategy = "reduce/reference"};
    assert_int_equal(tess_reduce(contexts[0], operation, &in, &out, &how), TESS_OK);
    how.call.strategy = "reduce/exact";
    for (int c = 0; c < count; c++) {
        double got[2] = {0, 0};
        out.data = got;
        assert_int_equal(tess_reduce(contexts[c], operation, &in, &out, &how), TESS_OK);
        if (memcmp(got, expected, sizeof got) != 0)
            fail_msg("%s of %lld %s: %a %a, the reference has %a %a (context %d)", tess_reduction_name(operation), (long long)n, tess_type_name(type),
                     got[0], got[1], expected[0], expected[1], c);
    }
}

static void same_bits(void **state) {
    static const tess_type types[] = {tess_f16, tess_bf16, tess_f32, tess_f64, tess_c64, tess_c128};
    static const int64_t sizes[] = {1, 2, 31, 32, 33, 2047, 2048, 2049, 5000};
    static const tess_isa isas[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    static double data[2 * MOST + 1];
    tess_context *contexts[5];
    int count = 0;
    uint64_t random = 7;
    (void)state;
    for (int i = 0; i < 4; i++) {
        tess_context_options options = {.struct_size = sizeof options, .isa = isas[i], .threads = 1};
        count += tess_open(&contexts[count], &options) == TESS_OK;
    }
    tess_context_options several = {.struct_size = sizeof several, .threads = 3};
    count += tess_open(&contexts[count], &several) == TESS_OK;
    for (int t = 0; t < TESS_COUNT(types); t++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int s = 0; s < TESS_COUNT(sizes); s++) {
                const int parts = tess_is_complex(types[t]) ? 2 : 1;
                char *at = (char *)data + (s % 2) * 4; /* any address */
                fill(data, types[t], parts * sizes[s] + 1, kind, &random);
                memmove(at, data, (size_t)(parts * sizes[s]) * (types[t] == tess_f64 || types[t] == tess_c128 ? 8 : types[t] >= tess_f32 ? 4 : 2));
                compare(contexts, count, kind % 3 == 1 && types[t] != tess_c128 ? TESS_NORM1 : TESS_SUM, types[t], at, sizes[s], TESS_NAN_PROPAGATE);
            }
    /* what no sum holds, at the end of a block and behind it */
    static const double special[] = {INFINITY, -INFINITY, NAN};
    for (int k = 0; k < 3; k++)
        for (int64_t place = 2047; place < 2049; place++) {
            fill(data, tess_f64, 5000, 0, &random);
            data[place] = special[k];
            compare(contexts, count, TESS_SUM, tess_f64, data, 5000, TESS_NAN_PROPAGATE);
            compare(contexts, count, TESS_MEAN, tess_f64, data, 5000, TESS_NAN_OMIT);
            fill(data, tess_f32, 5000, 0, &random);
            ((float *)data)[place] = (float)special[k];
            compare(contexts, count, TESS_SUM, tess_f32, data, 5000, TESS_NAN_PROPAGATE);
            fill(data, tess_f16, 5000, 0, &random);
            ((uint16_t *)data)[place] = (uint16_t)(0x7c00 | (k == 1) << 15 | (k == 2));
            compare(contexts, count, TESS_SUM, tess_f16, data, 5000, TESS_NAN_PROPAGATE);
        }
    /* integers of 64 bits, whose mean is exact too */
    for (int i = 0; i < 5000; i++)
        ((uint64_t *)data)[i] = (uint64_t)hostile_between(&random, INT64_MIN / 2, INT64_MAX / 2) * 3;
    compare(contexts, count, TESS_MEAN, tess_i64, data, 5000, TESS_NAN_PROPAGATE);
    compare(contexts, count, TESS_MEAN, tess_u64, data, 4999, TESS_NAN_PROPAGATE);
    for (int c = 0; c < count; c++)
        tess_close(contexts[c]);
}

/* The one rounding, which the reference shares, against the compiler's conversion of 128-bit integers to f64 and f32. */
static void rounded_once(void **state) {
    tess_context *context;
    uint64_t random = 11;
    (void)state;
    assert_int_equal(tess_open(&context, NULL), TESS_OK);
    for (int round = 0; round < 4000; round++) {
        double terms[64];
        int64_t n = hostile_between(&random, 1, 64);
        tess_i128 sum = 0;
        const int spread = (int)hostile_between(&random, 0, 66);
        for (int64_t i = 0; i < n; i++) {
            const int64_t part = hostile_between(&random, -((int64_t)1 << 53), (int64_t)1 << 53) >> hostile_between(&random, 0, 53);
            const int shift = (int)hostile_between(&random, 0, spread);
            terms[i] = ldexp((double)part, shift);
            sum += (tess_i128)part * ((tess_i128)1 << shift);
        }
        double as64;
        float as32;
        DLTensor in = tess_view(terms, tess_f64, 1, &n, NULL), to64 = tess_view(&as64, tess_f64, 0, NULL, NULL),
                 to32 = tess_view(&as32, tess_f32, 0, NULL, NULL);
        tess_reduce_options how = {.struct_size = sizeof how, .exact = true};
        assert_int_equal(tess_reduce(context, TESS_SUM, &in, &to64, &how), TESS_OK);
        assert_int_equal(tess_reduce(context, TESS_SUM, &in, &to32, &how), TESS_OK);
        assert_true(as64 == (double)sum && as32 == (float)sum);
    }
    tess_close(context);
}

/* Neighbouring outputs of a slow axis, which are turned: each has the bits of its own sum. */
static void columns(void **state) {
    static const tess_type types[] = {tess_f16, tess_f32, tess_f64, tess_c64};
    enum { ROWS = 2100, COLUMNS = 70 };
    static double data[ROWS * COLUMNS];
    static const tess_isa isas[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    uint64_t random = 5;
    (void)state;
    for (int t = 0; t < TESS_COUNT(types); t++)
        for (int kind = 0; kind < 3; kind++)
            for (int c = 0; c < 8; c++) {
                tess_context_options options = {.struct_size = sizeof options, .isa = isas[c % 4], .threads = c < 4 ? 1 : 3};
                tess_context *context;
                if (tess_open(&context, &options) != TESS_OK)
                    continue;
                int64_t shape[] = {ROWS, COLUMNS - 1 - c}, strides[] = {COLUMNS, 1};
                int axis = 0;
                double expected[2 * COLUMNS] = {0}, got[2 * COLUMNS] = {0};
                const tess_type to = types[t] == tess_c64 ? tess_c128 : tess_f64;
                fill(data, types[t], ROWS * COLUMNS, kind, &random);
                DLTensor in = tess_view(data, types[t], 2, shape, strides), out = tess_view(expected, to, 1, shape + 1, NULL);
                tess_reduce_options how = {.struct_size = sizeof how, .exact = true, .axes = &axis, .naxes = 1, .call.strategy = "reduce/reference"};
                assert_int_equal(tess_reduce(context, TESS_SUM, &in, &out, &how), TESS_OK);
                out.data = got;
                how.call.strategy = "reduce/exact";
                assert_int_equal(tess_reduce(context, TESS_SUM, &in, &out, &how), TESS_OK);
                assert_memory_equal(got, expected, sizeof got);
                tess_close(context);
            }
}

/* A sum without an error has no order: elements are taken as they lie, whatever the order of the axes. */
static void any_order_of_axes(void **state) {
    (void)state;
    static char why[1 << 14];
    tess_context *context;
    tess_plan *plan;
    float data[4 * 5 * 6] = {0}, sum;
    int64_t shape[] = {4, 5, 6}, turned[] = {1, 4, 20};
    assert_tess_ok(tess_open(&context, NULL));
    DLTensor in = tess_view(data, tess_f32, 3, shape, turned), out = tess_view(&sum, tess_f32, 0, NULL, NULL);
    for (int exact = 0; exact < 2; exact++) {
        assert_tess_ok(tess_plan_reduce(&plan, context, TESS_SUM, &in, &out,
                                        &(tess_reduce_options){.struct_size = sizeof(tess_reduce_options), .exact = exact}));
        assert_tess_ok(tess_explain(plan, TESS_TEXT, why, sizeof why, NULL));
        assert_int_equal(strstr(why, "reduced 120x4 kept") != NULL, exact);
        tess_plan_free(plan);
    }
    tess_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(rounded_once), cmocka_unit_test(columns),
                                       cmocka_unit_test(any_order_of_axes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

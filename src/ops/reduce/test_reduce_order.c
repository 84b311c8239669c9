/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_order.c - the kernels for contiguous runs against the keys of their elements, one by one: the greatest, where it stands first, and both at
 * once; the sums of integers; sums and means of many short rows. Every type and instruction set, lengths around vectors, groups of them and 4 KiB pages, few values (so that many are equal),
 * both orders, NaNs of both policies and zeros of both signs. Each run is a block of its own size, so that AddressSanitizer sees reads beside it. */
#include <math.h>

#include "hostile.h"

#include "core/context.h"
#include "core/maker.h"
#include "ops/reduce/reduce.h"

static const reduce_kernels *tables[TESS_SLOTS];

static int open_tables(void **state) {
    static const tess_isa isas[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    int found = 0;
    (void)state;
    for (int i = 0; i < 4; i++) {
        tess_context_options options = {.struct_size = sizeof options, .isa = isas[i]};
        tess_context *context;
        if (tess_open(&context, &options) != TESS_OK)
            continue;
        tables[context->slot] = tess_reduce_kernels_for(context->slot);
        found++;
        tess_close(context);
    }
    return found > 0 ? 0 : -1;
}

/* An element of one of a few values, or of any. */
static void put(char *to, tess_type type, int which, uint64_t *random) {
    static const double f64s[] = {1.5, -1.5, 0, -0.0, INFINITY, -INFINITY, NAN, 2};
    static const uint16_t f16s[] = {0x3e00, 0xbe00, 0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x4000};
    static const uint16_t bf16s[] = {0x3fc0, 0xbfc0, 0, 0x8000, 0x7f80, 0xff80, 0x7fc0, 0x4000};
    const uint64_t integers[] = {1, UINT64_MAX, 0, 3, INT64_MAX, (uint64_t)INT64_MIN, hostile_random(random), 2};
    if (type == tess_f64) {
        memcpy(to, &f64s[which], 8);
    } else if (type == tess_f32) {
        const float x = (float)f64s[which];
        memcpy(to, &x, 4);
    } else if (type == tess_f16 || type == tess_bf16) {
        memcpy(to, type == tess_f16 ? &f16s[which] : &bf16s[which], 2);
    } else {
        memcpy(to, (const char *)&integers[which] + (8 - tess_type_size(type)) * (which == 4 || which == 5),
               tess_type_size(type)); /* little endian */
    }
}

/* An element as what a sum adds. Not inlined: gcc 13.3 with -O3 takes the choice of type out of the loop of check and then adds a bool's byte as it is. */
static TESS_NOINLINE uint64_t term(tess_type type, const char *at) {
    const int64_t size = (int64_t)tess_type_size(type);
    uint64_t x = 0;
    memcpy(&x, at, (size_t)size);
    if (type == tess_bool)
        return x != 0;
    const bool negative = (type == tess_i8 || type == tess_i16 || type == tess_i32) && x >> (8 * size - 1);
    return negative ? x | UINT64_MAX << (8 * size - 1) : x;
}

static void check(tess_type type, int64_t n, reduce_order order, int values, int rare, uint64_t *random) {
    const int64_t size = (int64_t)tess_type_size(type), shift = hostile_between(random, 0, 7);
    char *block = malloc((size_t)(n * size + shift)), *run = block + shift;
    int64_t *keys = malloc((size_t)n * sizeof *keys);
    for (int64_t i = 0; i < n; i++)
        put(run + i * size, type,
            hostile_between(random, 0, rare) == 0 ? (int)hostile_between(random, 0, 7) : (int)(hostile_random(random) % (uint64_t)values), random);
    for (int slot = 0; slot < TESS_SLOTS; slot++) {
        if (!tables[slot])
            continue;
        const reduce_order_kernels *k = tables[slot]->order;
        int64_t best = 0, key = 0;
        uint64_t sum = 0;
        k->keys[type](keys, run, size, n, order);
        for (int64_t i = 1; i < n; i++)
            best = keys[i] > keys[best] ? i : best;
        assert_int_equal(k->greatest[type](run, size, n, order), keys[best]);
        assert_int_equal(k->find[type](run, size, n, order, keys[best]), best);
        if (k->place[type]) {
            assert_int_equal(k->place[type](run, n, order, &key), best);
            assert_int_equal(key, keys[best]);
        }
        if (!tables[slot]->lane->integers[type])
            continue;
        for (int64_t i = 0; i < n; i++)
            sum += term(type, run + i * size);
        assert_true(tables[slot]->lane->integers[type](run, size, n, n & 1) == sum);
    }
    free(keys);
    free(block);
}

static void runs(void **state) {
    uint64_t random = 12;
    (void)state;
    for (int type = tess_bool; type <= tess_f64; type++) {
        if (tess_is_complex((tess_type)type) || !tables[TESS_SLOT_BASELINE + (tables[0] == NULL) * TESS_SLOT_NEON]->order->greatest[type])
            continue;
        for (int k = 0; k < 400; k++) {
            const int64_t n = k < 200 ? hostile_between(&random, 1, 600) : hostile_between(&random, 1, 5000);
            const reduce_order order = {.smallest = k & 1,
                                        .numeric = k & 2,
                                        .magnitude = k % 32 == 4,
                                        .omit = tess_is_float((tess_type)type) && k & 8,
                                        .cached = k & 16,
                                        .huge = k & 32};
            check((tess_type)type, n, order, k % 3 == 0 ? 1 : k % 3 == 1 ? 3 : 6, (int)(k % 5 == 0 ? 3 : n), &random);
        }
        for (int k = 0; k < 4; k++) /* more than are taken in one go */
            check((tess_type)type, hostile_between(&random, 300000, 301000), (reduce_order){.smallest = k & 1, .numeric = k & 2}, 1, 100000, &random);
    }
}

/* The one greatest element anywhere in a run: every vector, lane and group finds it. */
static void anywhere(void **state) {
    (void)state;
    enum { N = 700 };
    static const tess_type types[] = {tess_i32, tess_u32, tess_f32, tess_i64, tess_u64, tess_f64};
    for (int t = 0; t < (int)TESS_COUNT(types); t++)
        for (int64_t n = N - 40; n <= N; n += 13)
            for (int64_t at = 0; at < n; at++) {
                char run[N * 8] = {0};
                uint64_t random = 1;
                const int64_t size = (int64_t)tess_type_size(types[t]);
                put(run + at * size, types[t], 0, &random);
                for (int slot = 0; slot < TESS_SLOTS; slot++) {
                    int64_t key = 0;
                    if (!tables[slot])
                        continue;
                    assert_int_equal(tables[slot]->order->place[types[t]](run, n, (reduce_order){.numeric = true}, &key), at);
                    assert_int_equal(tables[slot]->order->place[types[t]](run, n, (reduce_order){.numeric = true, .smallest = true}, &key), at == 0);
                }
            }
}

/* Sum or mean of a row as docs/numerics.md says: as many lanes as terms halve, +0 is added, and NaN is the canonical one. */
static void row_sum(void *to, tess_type type, const char *row, int64_t k, bool mean) {
    double lane[256], sum; /* f32 sums round once more below: to the same, for two f32 a double is wide enough */
    for (int64_t i = 0; i < k; i++) {
        float x;
        memcpy(type == tess_f32 ? (void *)&x : (void *)&lane[i], row + i * (int64_t)tess_type_size(type), tess_type_size(type));
        lane[i] = type == tess_f32 ? (double)x : lane[i];
    }
    for (int64_t w = k / 2; w > 0; w /= 2)
        for (int64_t i = 0; i < w; i++)
            lane[i] = type == tess_f32 ? (double)(float)(lane[i] + lane[i + w]) : lane[i] + lane[i + w];
    sum = (lane[0] + 0) / (mean ? (double)k : 1);
    const float narrow = isnan(sum) ? NAN : (float)sum;
    const double wide = isnan(sum) ? (double)NAN : sum;
    memcpy(to, type == tess_f32 ? (const void *)&narrow : (const void *)&wide, tess_type_size(type));
}

/* Every length there is a loop for, rows with and without gaps, from any address; sums that go past the caches are whole, others may be any NaN. */
static void whole_rows(void **state) {
    enum { MOST = 64 };
    uint64_t random = 5;
    (void)state;
    for (int t = 0; t < 2; t++)
        for (int round = 0; round < 600; round++) {
            const tess_type type = t ? tess_f64 : tess_f32;
            const int64_t size = (int64_t)tess_type_size(type), k = (int64_t)8 << hostile_between(&random, 0, 5),
                          count = 16 * hostile_between(&random, 1, MOST / 16);
            const int64_t step = k * size + (round % 3 == 0 ? hostile_between(&random, 0, 2000) : 0), bytes = (count - 1) * step + k * size;
            char *block = malloc((size_t)bytes);
            _Alignas(64) char sums[(MOST + 16) * sizeof(double)], expected[sizeof sums];
            for (int64_t r = 0; r < count; r++)
                for (int64_t i = 0; i < k; i++) {
                    const float any = (float)(int32_t)hostile_random(&random) * 0x1p-20f, tiny = (float)(hostile_random(&random) >> 40) * 0x1p-149f;
                    const double wide =
                        round % 5 == 1 ? (double)(hostile_random(&random) >> 12) * 0x1p-1074 : (double)any; /* means of tiny ones are rounded */
                    char *at = block + r * step + i * size;
                    if (round % 4 == 0 && hostile_between(&random, 0, 3 * k) == 0)
                        put(at, type, (int)hostile_between(&random, 0, 7), &random);
                    else if (round % 4 == 1)
                        put(at, type, 3, &random); /* -0 */
                    else
                        memcpy(at, t ? (const void *)&wide : round % 5 == 1 ? (const void *)&tiny : (const void *)&any, (size_t)size);
                }
            for (int slot = 0; slot < TESS_SLOTS; slot++)
                for (int way = 0; way < 4; way++) {
                    memset(sums, 0x5a, sizeof sums);
                    memcpy(expected, sums, sizeof sums);
                    if (!tables[slot] || !tables[slot]->brief->whole[type] ||
                        !tables[slot]->brief->whole[type](sums, block, step, count, k, way & 1,
                                                          way & 2 ? REDUCE_SHORT_PAST : (reduce_short_size)(round & 1)))
                        continue;
                    for (int64_t r = 0; r < count; r++) {
                        double canonical = NAN, wide = 0;
                        float narrow = 0;
                        row_sum(expected + r * size, type, block + r * step, k, way & 1);
                        memcpy(t ? (void *)&wide : (void *)&narrow, sums + r * size, (size_t)size);
                        if (!(way & 2) && (t ? isnan(wide) : isnan(narrow))) {
                            const float canonical_f32 = NAN;
                            memcpy(sums + r * size, t ? (const void *)&canonical : (const void *)&canonical_f32, (size_t)size);
                        }
                    }
                    assert_memory_equal(sums, expected, sizeof sums);
                }
            free(block);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs), cmocka_unit_test(anywhere), cmocka_unit_test(whole_rows)};
    int failed = 0;
    for (int generation = 3; generation <= 5; generation++) { /* from two places in turns, from one, and asking ahead (core/maker.h) */
        tess_cpu_pretend_zen(generation);
        failed += cmocka_run_group_tests(tests, open_tables, NULL);
    }
    return failed;
}

/* SPDX-License-Identifier: Apache-2.0
 * test_lookup.c - proves that every row gives the reference's bytes for every instruction set, by the processor's gather and by loads, for thread counts
 * 1 to 8, index types, element sizes, policies and hostile layouts. What the reference gives: test_lookup_values.c. */
#include "lookup_rows.h"

#include <math.h>

static void gathers(void **state) {
    (void)state;
    uint64_t random = 21;
    static const tess_type index_types[] = {tess_u8, tess_i8, tess_u16, tess_i16, tess_u32, tess_i32, tess_u64, tess_i64};
    static const tess_type table_types[] = {tess_u8, tess_bf16, tess_f32, tess_c64, tess_c128, tess_bool, tess_i16};
    int ran[LOOKUP_ROWS] = {0}, refused = 0;
    for (int round = 0; round < 900; round++) {
        hostile_array table, index, out;
        tess_lookup_options options = {.outside = (tess_outside)(round % 4), .fill = (double)hostile_between(&random, -3, 300)};
        tess_type index_type = index_types[round / 4 % 8], table_type = table_types[round % 7];
        int64_t n = hostile_between(&random, 0, 9) == 0 ? 256 : hostile_between(&random, 1, hostile_between(&random, 0, 1) ? 20 : 600);
        make_case(&random, &table, &index, &out, &options.axis, table_type, index_type, table_type, n, round % 11 ? 300 : 5000,
                  table_type == tess_bool ? 0 : 2);
        int64_t count = hostile_count(&index);
        bool good = hostile_between(&random, 0, 2) == 0 || (options.outside == TESS_OUTSIDE_ERROR && hostile_between(&random, 0, 2));
        const bool few = !good && round / 32 % 2; /* one outside by one, far inside what is checked together */
        int64_t high = index.itemsize == 1 ? (index_type == tess_i8 ? 127 : 255) : n + 3, low = index_type % 2 == tess_i8 % 2 ? -n - 3 : 0;
        for (int64_t i = 0; i < count; i++)
            set_integer(&index, i, good || few ? hostile_between(&random, 0, n - 1 < high ? n - 1 : high) : hostile_between(&random, low, high));
        if (few && count > 0 && n <= high)
            set_integer(&index, hostile_between(&random, 0, count - 1), n);
        if (!good && !few && count > 0 && round % 3 == 0) /* the far ends of the type */
            set_integer(&index, hostile_between(&random, 0, count - 1), hostile_between(&random, 0, 1) ? INT64_MIN : -1);
        if (options.outside == TESS_OUTSIDE_FILL && round % 5 == 0)
            options.fill = NAN;
        refused += every_row(&table, &index, &out, options, ran) == TESS_ERR_INDEX;
        free_case(&table, &index, &out);
    }
    assert_true(ran_of(ran, "bytes") > 100 && ran_of(ran, "gather") > 200 && ran_of(ran, "slices") > 600 && refused > 25);
}

static void interpolations(void **state) {
    (void)state;
    uint64_t random = 22;
    static const tess_type index_types[] = {tess_f16, tess_bf16, tess_f32, tess_f64};
    int ran[LOOKUP_ROWS] = {0}, refused = 0;
    for (int round = 0; round < 900; round++) {
        hostile_array table, index, out;
        tess_lookup_options options = {.outside = (tess_outside)(round % 4),
                                       .fill = (double)hostile_between(&random, -3, 300),
                                       .interpolation = (tess_interpolation)(round / 4 % 4)};
        tess_type table_type = (tess_type)hostile_between(&random, tess_bool, tess_c128),
                  out_type = (tess_type)hostile_between(&random, tess_bool, tess_c128);
        if (table_type >= tess_c64 && out_type < tess_c64)
            out_type = table_type;
        int64_t n = hostile_between(&random, 1, hostile_between(&random, 0, 1) ? 4 : 100);
        make_case(&random, &table, &index, &out, &options.axis, table_type,
                  index_types[round % 16 / 4 == round % 4 ? 2 : hostile_between(&random, 0, 3)], out_type, n, round % 11 ? 300 : 5000, 1 + round % 2);
        int64_t count = hostile_count(&index);
        bool good = options.outside == TESS_OUTSIDE_ERROR ? hostile_between(&random, 0, 2) != 0 : hostile_between(&random, 0, 2) == 0;
        for (int64_t i = 0; i < count; i++) {
            double x = (double)(hostile_random(&random) >> 11) * 0x1p-53 * (double)(n - 1);
            if (hostile_between(&random, 0, 5) == 0)
                x = floor(x);
            if (!good && hostile_between(&random, 0, 3) == 0) {
                static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, -1e-30, -0.5, -1, 1e30, -1e30, 0x1p31, 0x1p62, 0x1p63};
                int64_t which = hostile_between(&random, 0, 20);
                x = which < TESS_COUNT(odd) ? odd[which] : (double)hostile_between(&random, -5 * n, 5 * n) + 0.25;
            }
            set_real(&index, i, x);
        }
        refused += every_row(&table, &index, &out, options, ran) == TESS_ERR_INDEX;
        free_case(&table, &index, &out);
    }
    assert_true(ran_of(ran, "interpolate") > 600 && ran_of(ran, "interpolate_records") > 400 && ran_of(ran, "interpolate_slices") > 600 &&
                refused > 25);
}

/* Long enough for threads, whole vectors and stores past the caches. */
static void large(void **state) {
    (void)state;
    uint64_t random = 23;
    static const struct {
        tess_type table, index;
        int64_t n, count;
    } cases[] = {{tess_u8, tess_u8, 256, 9000037},     {tess_f32, tess_u8, 256, 2200003},   {tess_i16, tess_u8, 200, 4300007},
                 {tess_f32, tess_i32, 256, 300007},    {tess_f32, tess_i32, 4096, 2300001}, {tess_f64, tess_u16, 4096, 1100003},
                 {tess_u8, tess_i64, 100, 200003},     {tess_c128, tess_i32, 5000, 600003}, {tess_f32, tess_i32, 4200001, 70003},
                 {tess_f64, tess_i64, 2100001, 50021}, {tess_u8, tess_u16, 4096, 8500019},  {tess_i16, tess_i32, 60000, 4300013}};
    for (int k = 0; k < TESS_COUNT(cases); k++) {
        int64_t size = (int64_t)tess_type_size(cases[k].table), wide = (int64_t)tess_type_size(cases[k].index), count = cases[k].count,
                n = cases[k].n;
        char *table = malloc((size_t)(n * size)), *index = malloc((size_t)(count * wide)),
             *out = aligned_alloc(64, (size_t)(count * size + 128) / 64 * 64);
        assert_true(table && index && out);
        for (int64_t i = 0; i < n * size; i++)
            table[i] = (char)hostile_random(&random);
        for (int64_t i = 0; i < count; i++) {
            int64_t v = (int64_t)(hostile_random(&random) % (uint64_t)n);
            memcpy(index + i * wide, &v, (size_t)wide);
        }
        DLTensor t = tess_view(table, cases[k].table, 1, (int64_t[]){n}, NULL), x = tess_view(index, cases[k].index, 1, (int64_t[]){count}, NULL);
        DLTensor o = tess_view(out, cases[k].table, 1, (int64_t[]){count}, NULL);
        for (int way = 0; way < 2 * context_count; way++) {
            const int c = way / 2;
            tess_cpu_pretend_gathers(way % 2);
            memset(out, HOSTILE_POISON, (size_t)(count * size));
            assert_tess_ok(tess_lookup(contexts[c], &t, &x, &o, NULL));
            for (int64_t i = 0; i < count; i++) {
                int64_t v = 0;
                memcpy(&v, index + i * wide, (size_t)wide);
                if (memcmp(out + i * size, table + v * size, (size_t)size) != 0)
                    fail_msg("case %d, context %d: element %lld is wrong", k, c, (long long)i);
            }
        }
        if (n > 1 << 20) { /* tables beyond the caches take runs of indices two at a time: a fill and an error in the later one */
            const int64_t at = count - 5, beyond = n + 3;
            const tess_lookup_options fill = {.struct_size = sizeof fill, .outside = TESS_OUTSIDE_FILL};
            memcpy(index + at * wide, &beyond, (size_t)wide);
            for (int c = 0; c < context_count; c++) {
                char zeros[16] = {0}, message[100];
                assert_tess_ok(tess_lookup(contexts[c], &t, &x, &o, &fill));
                assert_memory_equal(out + at * size, zeros, (size_t)size);
                assert_tess_fails(tess_lookup(contexts[c], &t, &x, &o, NULL), TESS_ERR_INDEX);
                snprintf(message, sizeof message, "index[%lld] is %lld,", (long long)at, (long long)beyond);
                assert_non_null(strstr(tess_detail(), message));
            }
        }
        free(table);
        free(index);
        free(out);
    }
}

/* Results that go past the caches: out begins at any element of a line, and now and then a point lies outside. */
static void large_interpolations(void **state) {
    (void)state;
    enum { COUNT = 2200019, N = 700 };
    uint64_t random = 24;
    for (int k = 0; k < 18; k++) {
        if (hostile_spared(k, 6))
            continue;
        const bool wide = k % 2;
        const int64_t size = wide ? 8 : 4, count = wide ? COUNT / 2 : COUNT, bytes = count * size,
                      shift = hostile_between(&random, 0, 63) / size * size;
        tess_lookup_options options = {.struct_size = sizeof options,
                                       .interpolation = (tess_interpolation)(TESS_INTERPOLATE_NEAREST + k / 2 % 3),
                                       .outside = (tess_outside)(TESS_OUTSIDE_CLIP + k / 6),
                                       .fill = -3};
        double *table = malloc(N * sizeof *table);
        char *index = malloc((size_t)bytes), *out = aligned_alloc(64, (size_t)(bytes + 255) / 64 * 64), *expected = malloc((size_t)bytes);
        assert_true(table && index && out && expected);
        for (int i = 0; i < N; i++) /* for WRAP a line that is not plain */
            table[i] = k / 6 == 1 && i % 97 == 5   ? (double)INFINITY
                       : k / 6 == 1 && i % 89 == 3 ? -0.0
                                                   : (double)(int64_t)hostile_random(&random) * 0x1p-60;
        for (int64_t i = 0; i < count; i++) {
            double x = (double)(hostile_random(&random) >> 11) * 0x1p-53 * (N - 1);
            if (i % 5003 == 18)
                x = i % 2 ? -0.0 : floor(x);
            if (i % 5003 == 17)
                x = i % 3 == 0 ? (double)NAN : (double)hostile_between(&random, -2 * N, 3 * N) + 0.5;
            if (wide)
                memcpy(index + 8 * i, &x, 8);
            else
                memcpy(index + 4 * i, &(float){(float)x}, 4);
        }
        const tess_type type = wide ? tess_f64 : tess_f32;
        DLTensor t = tess_view(table, tess_f64, 1, (int64_t[]){N}, NULL), x = tess_view(index, type, 1, (int64_t[]){count}, NULL);
        DLTensor o = tess_view(out, type, 1, (int64_t[]){count}, NULL), e = tess_view(expected, type, 1, (int64_t[]){count}, NULL);
        o.byte_offset = (uint64_t)shift;
        options.call.strategy = "lookup/reference";
        assert_tess_ok(tess_lookup(contexts[0], &t, &x, &e, &options));
        options.call.strategy = "lookup/interpolate";
        for (int way = 0; way < 2 * context_count; way++) {
            tess_cpu_pretend_gathers(way % 2);
            memset(out, HOSTILE_POISON, (size_t)bytes + 128);
            assert_tess_ok(tess_lookup(contexts[way / 2], &t, &x, &o, &options));
            assert_memory_equal(out + shift, expected, (size_t)bytes);
            for (int64_t i = 0; i < 128; i++)
                assert_int_equal((unsigned char)(i < shift ? out[i] : out[bytes + i]), HOSTILE_POISON);
        }
        free(table);
        free(index);
        free(out);
        free(expected);
    }
}

/* Rows of many lengths: with and without gaps in out, results that go past the caches, tables that are asked for ahead, indices outside. */
static void rows(void **state) {
    (void)state;
    static const int64_t lengths[] = {1, 3, 5, 7, 9, 12, 17, 24, 33, 40, 63, 65, 100, 129, 260, 3000, 9001};
    uint64_t random = 25;
    for (int k = 0; k < 2 * TESS_COUNT(lengths); k++) {
        const int64_t bytes = lengths[k / 2], large = k % 2, n = (large ? 1500000 : 20000) / bytes + 2, count = (large ? 9000000 : 40000) / bytes + 3,
                      gap = large ? 0 : k % 5, shift = hostile_between(&random, 0, 63);
        char *table = malloc((size_t)(n * bytes)), *out = aligned_alloc(64, (size_t)(count * (bytes + gap) + 191) / 64 * 64);
        int32_t *index = malloc((size_t)count * sizeof *index);
        assert_true(table && out && index);
        for (int64_t i = 0; i < n * bytes; i++)
            table[i] = (char)hostile_random(&random);
        for (int64_t i = 0; i < count; i++)
            index[i] = (int32_t)hostile_between(&random, 0, n - 1);
        index[count / 2] = (int32_t)n + 1;
        index[count / 3] = -1;
        int64_t strides[2] = {bytes + gap, 1};
        DLTensor t = tess_view(table, tess_u8, 2, (int64_t[]){n, bytes}, NULL), x = tess_view(index, tess_i32, 1, (int64_t[]){count}, NULL);
        DLTensor o = tess_view(out + shift, tess_u8, 2, (int64_t[]){count, bytes}, strides);
        for (int way = 0; way < 4 * context_count; way++) {
            tess_lookup_options options = {
                .struct_size = sizeof options, .outside = (tess_outside)(way % 4), .fill = 7, .call.strategy = "lookup/slices"};
            const char *const filled = options.outside == TESS_OUTSIDE_FILL ? (char[]){7} : NULL;
            memset(out, HOSTILE_POISON, (size_t)(count * (bytes + gap) + 128));
            tess_status status = tess_lookup(contexts[way / 4], &t, &x, &o, &options);
            if (options.outside == TESS_OUTSIDE_ERROR) {
                assert_tess_fails(status, TESS_ERR_INDEX);
                continue;
            }
            assert_tess_ok(status);
            for (int64_t i = 0; i < count; i++) {
                const bool outside = index[i] < 0 || index[i] >= n;
                const int64_t entry = !outside ? index[i] : options.outside == TESS_OUTSIDE_WRAP ? (index[i] + n) % n : index[i] < 0 ? 0 : n - 1;
                const char *row = out + shift + i * (bytes + gap);
                bool right = filled && outside ? row[0] == 7 && row[bytes - 1] == 7 && memcmp(row, row + 1, (size_t)(bytes - 1)) == 0
                                               : memcmp(row, table + entry * bytes, (size_t)bytes) == 0;
                for (int64_t at = bytes; right && at < bytes + gap; at++)
                    right = (unsigned char)row[at] == HOSTILE_POISON;
                if (!right)
                    fail_msg("%lld bytes, context %d, outside %d: row %lld is wrong", (long long)bytes, way / 4, way % 4, (long long)i);
            }
            for (int64_t i = 0; i < shift; i++)
                assert_int_equal((unsigned char)out[i], HOSTILE_POISON);
        }
        free(table);
        free(index);
        free(out);
    }
}

/* Few indices for each of many rows, which are looked up several at a time: numbers of rows that fill the last turn and do not, more indices than go together, elements and
 * runs, rows read backwards and again and again, every policy with indices outside. */
static void few_indices(void **state) {
    (void)state;
    static const tess_type types[] = {tess_u8, tess_i16, tess_f32, tess_f64, tess_c128}, index_types[] = {tess_i64, tess_u8, tess_i32, tess_i16};
    static const int64_t counts[] = {1, 2, 3, 5, 16, 33, 100, 511, 512, 513}, runs[] = {1, 1, 3, 1, 9, 40};
    uint64_t random = 29;
    int ran[LOOKUP_ROWS] = {0};
    for (int k = 0; k < 240; k++) {
        hostile_array table, index, out;
        tess_lookup_options options = {.axis = 2, .outside = (tess_outside)(k / 2 % 4), .fill = 7};
        const int64_t count = counts[k % TESS_COUNT(counts)], run = runs[k % TESS_COUNT(runs)], a = hostile_between(&random, 1, 3),
                      b = hostile_between(&random, 1, tess_max64(3, 4000 / (count * run))), n = hostile_between(&random, 1, 60);
        const bool bad = k % 3 == 1, single = count == 1 && k % 20 == 0;
        hostile_make(&table, &random, types[k % 5], 4, (int64_t[]){a, b, n, run}, k % 7 == 3);
        hostile_make(&index, &random, index_types[k % 4], single ? 0 : 1, &count, k % 2);
        hostile_make(&out, &random, types[k % 5], single ? 3 : 4, single ? (int64_t[]){a, b, run} : (int64_t[]){a, b, count, run},
                     k % 11 == 5 ? HOSTILE_STRIDED : HOSTILE_COMPACT);
        hostile_fill(&table, &random, 2);
        if (k % 5 == 2) { /* from the axis' end */
            table.tensor.byte_offset += (uint64_t)((n - 1) * table.strides[2] * table.itemsize);
            table.strides[2] = -table.strides[2];
        }
        if (k % 8 == 6)
            table.strides[1] = 0;
        for (int64_t i = 0; i < count; i++)
            set_integer(&index, i, hostile_between(&random, 0, n - 1));
        if (bad)
            set_integer(&index, hostile_between(&random, 0, count - 1), k % 2 || k % 4 == 1 ? n + 1 : -1);
        const tess_status status = every_row(&table, &index, &out, options, ran);
        assert_int_equal(status, bad && options.outside == TESS_OUTSIDE_ERROR ? TESS_ERR_INDEX : TESS_OK);
        free_case(&table, &index, &out);
    }
    assert_true(ran_of(ran, "gather") > 50 && ran_of(ran, "slices") > 150);
}

/* Tuning runs every row on indices of its own making, which must lie inside tables of any size also where the index' type rounds them. */
static void tuned(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 2, 4, 257, 2050, 4100, 70000};
    static const tess_type types[] = {tess_i8, tess_i64, tess_f16, tess_bf16, tess_f32, tess_f64};
    tess_context *context;
    assert_tess_ok(tess_open(&context, &(tess_context_options){.struct_size = sizeof(tess_context_options), .threads = 1}));
    for (int s = 0; s < TESS_COUNT(sizes); s++)
        for (int t = 0; t < TESS_COUNT(types); t++) {
            int64_t n = sizes[s], m = 3000;
            DLTensor table = tess_view(NULL, tess_f32, 1, &n, NULL), index = tess_view(NULL, types[t], 1, &m, NULL);
            DLTensor out = tess_view(NULL, tess_f32, 1, &m, NULL);
            tess_plan *plan;
            assert_tess_ok(tess_plan_lookup(&plan, context, &table, &index, &out, NULL));
            assert_tess_ok(tess_tune(plan, 0));
            tess_plan_free(plan);
        }
    tess_close(context);
}

/* Slices of many widths without gaps, in more points than a block has, some of them nowhere: small tables, whose records are prepared, and tables of more
 * entries than points pay for. */
static void interpolated_slices(void **state) {
    (void)state;
    static const int64_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 40, 300, 512, 513};
    static const tess_type types[] = {tess_f32, tess_u8, tess_f64, tess_f16, tess_i32, tess_c64}, places[] = {tess_f32, tess_f64, tess_f16};
    uint64_t random = 31;
    int ran[LOOKUP_ROWS] = {0};
    for (int round = 0; round < 14 * 12; round++) {
        const int64_t wide = widths[round % 14], kind = round / 14 % 4, n = kind == 3 ? 5000 : (int64_t[]){1, 3, 40}[kind],
                      count = wide > 40   ? 70
                              : kind == 3 ? 1100
                                          : 1500;
        const tess_type type = types[hostile_between(&random, 0, 5)];
        hostile_array table, index, out;
        tess_lookup_options options = {.outside = (tess_outside)hostile_between(&random, 0, 3),
                                       .fill = -7.5,
                                       .interpolation = (tess_interpolation)(TESS_INTERPOLATE_NEAREST + round / 14 % 3)};
        hostile_make(&table, &random, type, 2, (int64_t[]){n, wide}, HOSTILE_COMPACT);
        hostile_make(&index, &random, places[hostile_between(&random, 0, n > 2000 ? 1 : 2)], 1, &count, HOSTILE_COMPACT);
        hostile_make(&out, &random, round % 3 ? type : tess_c128, 2, (int64_t[]){count, wide}, round % 5 ? HOSTILE_COMPACT : 1);
        hostile_fill(&table, &random, 1 + round % 2);
        for (int64_t i = 0; i < count; i++) {
            const double x = (double)(hostile_random(&random) >> 11) * 0x1p-53 * (double)(n - 1);
            const bool odd = options.outside != TESS_OUTSIDE_ERROR && hostile_between(&random, 0, 40) == 0;
            set_real(&index, i, odd ? (i % 3 ? (double)n + 2.25 : (double)NAN) : i % 7 == 0 ? floor(x) : i == 600 ? -0.0 : x);
        }
        if (options.outside == TESS_OUTSIDE_ERROR && round % 2)
            set_real(&index, count - 3, -1);
        every_row(&table, &index, &out, options, ran);
        free_case(&table, &index, &out);
    }
    assert_true(ran_of(ran, "interpolate_records") > 120 &&
                ran_of(ran, "interpolate_slices") == 14 * 12); /* of complex elements 300 are too wide, too */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tuned),          cmocka_unit_test(gathers),
        cmocka_unit_test(interpolations), cmocka_unit_test(large),
        cmocka_unit_test(rows),           cmocka_unit_test(large_interpolations),
        cmocka_unit_test(few_indices),    cmocka_unit_test(interpolated_slices),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

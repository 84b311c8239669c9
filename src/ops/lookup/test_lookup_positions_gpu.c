/* SPDX-License-Identifier: Apache-2.0
 * test_lookup_positions_gpu.c - proves that the GPU's rows for interpolation among positions give the reference's bytes and sentence: positions of any
 * distribution and number, equal ones too, places on them, beside them, beyond both ends, infinite and NaN, all types, policies, methods and layouts, and nothing else
 * is written; that what the rows predict is counted; that nothing to do is no trouble; and that positions which decrease do no harm. */
#include "lookup_gpu_rows.h"
#include "lookup_positions.h"

/* Among positions: every type, policy and method, hostile layouts and compact ones, positions of any distribution and number, backwards as well. */
static void positions(void **state) {
    (void)state;
    uint64_t random = 40;
    static const struct {
        tess_type table, index, out;
    } types[] = {{tess_f32, tess_f32, tess_f32},   {tess_f64, tess_f64, tess_f64}, {tess_u8, tess_f16, tess_u8},   {tess_f16, tess_bf16, tess_f16},
                 {tess_f32, tess_f64, tess_bf16},  {tess_i32, tess_f32, tess_i16}, {tess_c64, tess_f32, tess_c64}, {tess_c128, tess_f32, tess_c64},
                 {tess_bool, tess_f32, tess_bool}, {tess_u64, tess_f64, tess_f32}, {tess_f32, tess_f16, tess_u64}, {tess_i16, tess_f32, tess_c128}};
    static const tess_outside policies[] = {TESS_OUTSIDE_ERROR, TESS_OUTSIDE_CLIP, TESS_OUTSIDE_FILL};
    static const int64_t most[] = {1, 2, 3, 17, 40, 900, 30000, 100000};
    for (int round = 0; round < 96; round++) {
        hostile_array table, index, out;
        const int t = round % 12, kind = (int)hostile_between(&random, 0, KINDS - 1), cycle = round / 12;
        tess_lookup_options options = {.outside = policies[(round + cycle % 4) % 3],
                                       .fill = (double)hostile_between(&random, -3, 300),
                                       .interpolation = (tess_interpolation)(1 + (round + cycle / 4) % 2)};
        const bool compact = cycle % 2 == 0, lines = cycle == 6;
        const int64_t largest = most[hostile_between(&random, 0, compact ? 7 : 5)];
        int64_t n = hostile_between(&random, largest / 2 + 1, largest);
        const bool as_many = hostile_between(&random, 0, 1);
        if (!compact) {
            make_case(&random, &table, &index, &out, &options.axis, types[t].table, types[t].index, types[t].out, n, round % 11 ? 300 : 5000,
                      1 + round % 2);
        } else {
            int64_t count = as_many ? hostile_between(&random, n, n + 3000) : hostile_between(&random, 1, 3000), table_shape[] = {3, n},
                    out_shape[] = {3, count};
            if (lines && round % 2) /* lines of out that begin at whole vectors */
                out_shape[1] = count = (count + 15) / 16 * 16;
            options.axis = lines;
            hostile_make(&table, &random, types[t].table, 1 + lines, table_shape + !lines, HOSTILE_COMPACT);
            hostile_make(&index, &random, types[t].index, 1, &count, HOSTILE_COMPACT);
            hostile_make(&out, &random, types[t].out, 1 + lines, out_shape + !lines, HOSTILE_COMPACT);
            hostile_fill(&table, &random, 1 + round % 2);
        }
        double *at = malloc((size_t)n * sizeof *at), *spread = malloc((size_t)n * 3 * sizeof *at);
        assert_true(at && spread);
        make_positions(&random, at, n, kind);
        for (int64_t i = 0; i < n; i++)
            spread[3 * i] = at[n - 1 - i];
        int64_t backwards = -3;
        const DLTensor places = round % 5 ? tess_view(at, tess_f64, 1, &n, NULL) : tess_view(spread + 3 * (n - 1), tess_f64, 1, &n, &backwards);
        options.positions = &places;
        set_places(&random, &index, at, n,
                   options.outside == TESS_OUTSIDE_ERROR ? hostile_between(&random, 0, 2) != 0 : hostile_between(&random, 0, 2) == 0);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
        free(at);
        free(spread);
    }
}

/* What the rows predict: vectors and what is left, lines, axes apart, one entry, all positions in one place. */
static void rows_count_as_predicted(void **state) {
    (void)state;
    static const struct {
        counted_case lookup;
        double apart;
    } cases[] = {{{tess_f32, tess_f32, 1, {300}, 5003, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_ERROR}, 0.3},
                 {{tess_f64, tess_f64, 1, {4096}, 5003, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_CLIP}, 0.3},
                 {{tess_u8, tess_f32, 2, {3, 33}, 4096, 1, TESS_INTERPOLATE_NEAREST, TESS_OUTSIDE_FILL}, 3},
                 {{tess_f64, tess_f32, 2, {50, 7}, 200, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_ERROR}, 0.3},
                 {{tess_f32, tess_f64, 1, {33}, 501, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_CLIP}, 0},
                 {{tess_f16, tess_f16, 1, {33}, 500, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_CLIP}, 1},
                 {{tess_c64, tess_f32, 1, {33}, 300, 0, TESS_INTERPOLATE_NEAREST, TESS_OUTSIDE_CLIP}, 0.3},
                 {{tess_f32, tess_f32, 1, {2}, 77, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_CLIP}, 0.3},
                 {{tess_f32, tess_f64, 1, {1}, 2, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_ERROR}, 1}};
    int compared[32] = {0};
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    gpu_counts_begin(context);
    for (int k = 0; k < TESS_COUNT(cases); k++)
        count_case(&cases[k].lookup, k, &cases[k].apart, compared);
    gpu_counts_end(context);
    for (int r = 0; r < tess_lookup_op.gpu_count; r++)
        if (takes_positions(&tess_lookup_op.gpu_rows[r]) && compared[r] < 4)
            fail_msg("%s: %d predictions were compared", tess_lookup_op.gpu_rows[r].name, compared[r]);
}

/* Places are looked at when there is nothing to write, and no places are nothing to do. */
static void nothing_there(void **state) {
    (void)state;
    uint64_t random = 44;
    double at[] = {1, 2, 4, 8, 16};
    int64_t n = TESS_COUNT(at);
    const DLTensor places = tess_view(at, tess_f64, 1, &n, NULL);
    for (int empty = 0; empty < 2; empty++) {
        hostile_array table, index, out;
        int64_t table_shape[] = {n, empty ? 2 : 0}, index_shape[] = {empty ? 0 : 300}, out_shape[] = {index_shape[0], table_shape[1]};
        const tess_lookup_options options = {.positions = &places};
        hostile_make(&table, &random, tess_f32, 2, table_shape, HOSTILE_COMPACT);
        hostile_make(&index, &random, tess_f32, 1, index_shape, HOSTILE_COMPACT);
        hostile_make(&out, &random, tess_f32, 2, out_shape, HOSTILE_COMPACT);
        for (int i = 0; i < index_shape[0]; i++)
            set_real(&index, i, i == 299 ? 17 : 1);
        const int before = refused;
        compare(&table, &index, &out, options);
        assert_int_equal(refused - before, !empty);
        free_case(&table, &index, &out);
    }
}

/* Nothing is promised of positions that decrease but that no memory is touched which is not the call's: the virtual GPU's checkers see it. */
static void disorder(void **state) {
    (void)state;
    enum { MOST = 300, COUNT = 700 };
    uint64_t random = 43;
    for (int round = 0; round < 20; round++) {
        double at[MOST], y[MOST] = {0}, x[COUNT], out[COUNT];
        int64_t n = hostile_between(&random, 1, round % 2 ? MOST : 20), count = round % 3 ? COUNT : 5;
        for (int64_t i = 0; i < n; i++)
            at[i] = hostile_between(&random, 0, 9) ? (double)hostile_between(&random, -1000, 1000) : (double)NAN;
        for (int64_t i = 0; i < count; i++)
            x[i] = (double)hostile_between(&random, -1100, 1100);
        const DLTensor t = tess_view(y, tess_f64, 1, &n, NULL), a = tess_view(at, tess_f64, 1, &n, NULL), i = tess_view(x, tess_f64, 1, &count, NULL),
                       o = tess_view(out, tess_f64, 1, &count, NULL);
        for (int r = 0; r < tess_lookup_op.gpu_count; r++) {
            const tess_strategy *row = &tess_lookup_op.gpu_rows[r];
            const tess_lookup_options options = {
                .struct_size = sizeof options, .outside = TESS_OUTSIDE_CLIP, .positions = &a, .call = {.engine = engine, .strategy = row->name}};
            if (takes_positions(row))
                assert_tess_ok(tess_lookup(context, &t, &i, &o, &options));
        }
    }
}

static void every_row_was_compared(void **state) {
    (void)state;
    assert_true(refused > 5);
    for (int r = 0; r < tess_lookup_op.gpu_count; r++)
        if (takes_positions(&tess_lookup_op.gpu_rows[r]) ? ran[r] < 15 : ran[r] > 0)
            fail_msg("%s was compared %d times", tess_lookup_op.gpu_rows[r].name, ran[r]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(positions), cmocka_unit_test(rows_count_as_predicted), cmocka_unit_test(nothing_there),
                                       cmocka_unit_test(disorder), cmocka_unit_test(every_row_was_compared)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

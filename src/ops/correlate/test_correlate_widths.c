/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_widths.c - proves: rows of up to 200 elements, in several bands of rows, under masks of every common size, have the same bits by each row of the table as by correlate/rows.
 * What a strategy rounds up - strips, copies of rows, ghost cells - depends on the width by steps that random shapes meet too seldom: of 7 x 7 taps over f32 columns 0 to 5 of every
 * 24th row were wrong for widths of 97 to 128, and no test met them. */
#include "correlate_samples.h"

enum { WIDEST = 200, LEAST_ROWS = 25 /* two bands */, MOST_ROWS_HERE = 60 };

typedef struct kind {
    tess_type in, mask, out;
    int64_t colours; /* 1: no axis of colours */
    bool list;
} kind;

static const kind kinds[] = {
    {tess_f32, tess_f32, tess_f32, 1, false}, {tess_f64, tess_f64, tess_f64, 1, false}, {tess_u8, tess_f32, tess_u8, 1, false},
    {tess_u8, tess_i8, tess_u8, 1, false},    {tess_i16, tess_f32, tess_i16, 1, false}, {tess_f16, tess_f32, tess_f32, 1, false},
    {tess_f32, tess_f32, tess_f32, 3, false}, {tess_u8, tess_i8, tess_i32, 3, false},   {tess_i16, tess_i8, tess_i32, 1, false},
    {tess_f32, tess_f32, tess_f32, 1, true},  {tess_u8, tess_f32, tess_u8, 3, true}};
static const int64_t masks[][2] = {{3, 3}, {5, 5}, {7, 7}, {9, 9}, {11, 11}, {15, 15}, {3, 9}, {9, 3}, {1, 9}, {9, 1}, {2, 7}, {1, 3}, {21, 21}};

/* The best instruction set's; the reference takes a hundred times as long. */
static tess_context *quickest(void) {
    tess_context *found = NULL;
    for (int i = 0; i < ISAS; i++)
        found = contexts[i][0] ? contexts[i][0] : found;
    return found;
}

static void check(const kind *k, const int64_t mask[2], int64_t width, int64_t number) {
    uint64_t random = (uint64_t)number;
    hostile_array out;
    sample s;
    memset(&s, 0, sizeof s);
    s.ndim = k->colours > 1 ? 3 : 2;
    s.count = k->list ? 2 : 1;
    s.naxes = 2;
    s.axes[1] = 1;
    /* Constants, zero among them, in three of four: theirs are whole rows of ghost cells. */
    s.options = (tess_correlate_options){.struct_size = sizeof s.options, .axes = s.axes, .naxes = 2};
    s.options.boundary = hostile_between(&random, 0, 3) ? TESS_BOUNDARY_CONSTANT : (tess_boundary)hostile_between(&random, 0, 5);
    s.options.constant = s.options.boundary == TESS_BOUNDARY_CONSTANT ? (double)hostile_between(&random, 0, 3) : 0;
    s.out_shape[0] = s.shape[0] = hostile_between(&random, LEAST_ROWS, MOST_ROWS_HERE);
    s.out_shape[1] = s.shape[1] = width;
    s.out_shape[2] = s.shape[2] = k->colours;
    hostile_make(&s.in, &random, k->in, s.ndim, s.shape, HOSTILE_COMPACT);
    hostile_fill(&s.in, &random, 1);
    for (int m = 0; m < s.count; m++) {
        hostile_make(&s.masks[m], &random, k->mask, k->list ? 1 : 2, k->list ? &mask[m] : mask, HOSTILE_COMPACT);
        hostile_fill(&s.masks[m], &random, 1);
    }
    hostile_make(&s.out, &random, k->out, s.ndim, s.out_shape, HOSTILE_COMPACT);
    if (call(&s, quickest(), &s.out.tensor, "correlate/rows") != TESS_OK)
        assert_tess_ok(call(&s, contexts[0][0], &s.out.tensor, "correlate/reference"));
    for (int r = -1; r < tess_strategy_count(); r++) {
        tess_strategy_info row = {.name = NULL};
        if (r >= 0)
            assert_true(tess_strategy_get(r, &row));
        if (r >= 0 && (strcmp(row.operation, "correlate") != 0 || strcmp(row.target, "cpu") != 0 || strcmp(row.name, "correlate/reference") == 0 ||
                       strcmp(row.name, "correlate/rows") == 0 || strcmp(row.name, "correlate/fft") == 0))
            continue;
        for (int i = 0; i < ISAS; i++) {
            if (!contexts[i][0])
                continue;
            hostile_make(&out, &random, k->out, s.ndim, s.out_shape, HOSTILE_COMPACT);
            const tess_status status = call(&s, contexts[i][0], &out.tensor, row.name);
            if (status == TESS_OK) {
                ran_by_row[r + 1][i]++;
                if (hostile_differs(&out, &s.out) >= 0 || !hostile_intact(&out))
                    fail_msg("%s, isa %d: element %lld differs (%s)", r < 0 ? "the chosen row" : row.name, isas[i],
                             (long long)hostile_differs(&out, &s.out), describe(&s));
            } else if (r < 0 || status != TESS_ERR_STRATEGY) {
                fail_msg("%s: %s (%s)", r < 0 ? "choosing" : row.name, tess_detail(), describe(&s));
            }
            hostile_free(&out);
        }
    }
    drop(&s);
}

static void widths(void **state) {
    (void)state;
    int64_t number = 0;
    for (int k = 0; k < TESS_COUNT(kinds); k++)
        for (int m = 0; m < TESS_COUNT(masks); m++)
            for (int64_t width = masks[m][1] > 1 ? (masks[m][1] + 1) / 2 : 1; width <= WIDEST / kinds[k].colours; width++)
                if (!hostile_left_out(number++, TESS_SANITIZED ? 60 : 3))
                    check(&kinds[k], masks[m], width, number);
}

static void rows_ran(void **state) {
    (void)state;
    for (int r = 0; r < tess_strategy_count(); r++) {
        tess_strategy_info row;
        assert_true(tess_strategy_get(r, &row));
        if (strcmp(row.name, "correlate/window") == 0 || strcmp(row.name, "correlate/padded") == 0 || strcmp(row.name, "correlate/packed") == 0)
            assert_true(ran_by_row[r + 1][0] > (TESS_SANITIZED ? 1 : 20));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(widths), cmocka_unit_test(rows_ran)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

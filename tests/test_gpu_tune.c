/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_tune.c - proves, on a card when there is one, else on the virtual GPU: tuning a plan times the planner's GPU rows that can run it, whatever its
 * layout, and no others; plans for that device then take the fastest, with the same bytes as before; the CPU's plans and other devices' are not touched;
 * lines of rows that run by name only are not understood. */
#include "gpu_rows.h"

static tess_context *context;
static tess_engine engine;

enum { ROWS = 96, COLUMNS = 160 };
static float values[ROWS * COLUMNS], out[ROWS * COLUMNS], expected[ROWS * COLUMNS];

static tess_plan *plan_on(tess_engine on, int64_t gap) {
    tess_plan *plan;
    DLTensor from = tess_view(values, tess_f32, 2, (int64_t[]){ROWS, COLUMNS - gap}, (int64_t[]){COLUMNS, 1}),
             to = tess_view(out, tess_f32, 2, (int64_t[]){COLUMNS - gap, ROWS}, NULL);
    const tess_transpose_options options = {.struct_size = sizeof options, .call.engine = on};
    assert_tess_ok(tess_plan_transpose(&plan, context, &from, &to, &options));
    return plan;
}

static char *wisdom(void) {
    static char text[1 << 16];
    assert_tess_ok(tess_wisdom_export(context, text, sizeof text, NULL));
    return text;
}

static void rows_are_timed(void **state) {
    (void)state;
    tess_wisdom_forget(context);
    for (int64_t gap = 0; gap <= 3; gap += 3) {
        tess_plan *plan = plan_on(engine, gap), *again;
        const tess_op *op = plan->problem->op;
        char line[128];
        const char *why;
        assert_null(strstr(plan->reason, "wisdom"));
        assert_tess_ok(tess_tune(plan, 0));
        for (int r = 0; r < op->gpu_count; r++) {
            const tess_strategy *row = &op->gpu_rows[r];
            bool wanted = row->gpu->production && row->applicable(plan->problem, &why);
            snprintf(line, sizeof line, "1 %s sm_", row->name);
            bool found = false;
            for (const char *at = wisdom(); (at = strstr(at, line)) != NULL; at++)
                found |= strncmp(strchr(at, '\n') - strlen(plan->problem->key), plan->problem->key, strlen(plan->problem->key)) == 0;
            if (found != wanted)
                fail_msg("%s is %s the wisdom of %s", row->name, found ? "in" : "not in", plan->problem->key);
        }
        assert_non_null(again = plan_on(engine, gap));
        assert_non_null(strstr(again->reason, "fastest in wisdom"));
        tess_plan_free(again);
        assert_non_null(again = plan_on(TESS_ENGINE_CPU, gap));
        assert_null(strstr(again->reason, "wisdom"));
        tess_plan_free(again);
        tess_plan_free(plan);
    }
}

/* Imports "1 ROW ISA 1 MACHINE 0.000000001 KEY" for the row that was not chosen, and says which the planner takes. */
static const tess_strategy *chosen_with(const char *row, uint64_t machine, const char *isa, bool understood) {
    tess_plan *plan = plan_on(engine, 0);
    char line[512];
    tess_wisdom_forget(context);
    snprintf(line, sizeof line, "1 %s %s 1 %016llx 0.000000001 %s\n", row, isa, (unsigned long long)machine, plan->problem->key);
    tess_plan_free(plan);
    assert_int_equal(tess_wisdom_import(context, line), understood ? TESS_OK : TESS_ERR_ARGUMENT);
    assert_non_null(plan = plan_on(engine, 0));
    const tess_strategy *chosen = plan->row;
    assert_tess_ok(tess_execute(plan, values, NULL, out, NULL));
    assert_memory_equal(out, expected, sizeof out);
    tess_plan_free(plan);
    return chosen;
}

static void the_fastest_is_taken(void **state) {
    (void)state;
    tess_wisdom_forget(context);
    tess_plan *plan = plan_on(engine, 0);
    tess_wisdom_place place;
    assert_tess_ok(tess_gpu_plan_place(plan, &place));
    const tess_strategy *first = plan->row;
    tess_plan_free(plan);
    assert_string_equal(first->name, "transpose/micro");
    assert_string_equal(chosen_with("transpose/elements", place.machine, place.isa, true)->name, "transpose/elements");
    assert_ptr_equal(chosen_with("transpose/elements", place.machine + 1, place.isa, true), first);
    assert_ptr_equal(chosen_with("transpose/elements", place.machine, "sm_70", true), first);
    assert_ptr_equal(chosen_with("transpose/elements", place.machine, "avx2", false), first);
    assert_ptr_equal(chosen_with("transpose/naive_read", place.machine, place.isa, false), first);
    tess_wisdom_forget(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_timed), cmocka_unit_test(the_fastest_is_taken)};
    setenv("TESSERA_WISDOM", "/nonexistent/wisdom", 1);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            expected[k * ROWS + i] = values[i * COLUMNS + k] = (float)(i * COLUMNS + k);
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

/* SPDX-License-Identifier: Apache-2.0
 * explain.c - a plan in words: the row that runs, and what every other row lost by; and the list of all rows. */
#include <stdio.h>
#include <string.h>

#include "core/engine.h"

static const char *verdict(const tess_plan *plan, const tess_strategy *row, const char **why) {
    const tess_problem *problem = plan->problem;
    *why = "";
    if (row == plan->row) {
        *why = plan->reason;
        return "chosen";
    }
    if (!tess_plan_can_run(plan, row, why))
        return "not applicable";
    if (row->sensible && !row->sensible(problem, why))
        return "not sensible";
    *why = row < plan->row ? "passed over for the chosen row" : "later in the table than the chosen row";
    return "possible";
}

/* The rows of the plan's engine. */
static const tess_strategy *rows_of(const tess_plan *plan, int *count) {
    const tess_op *op = plan->problem->op;
    bool on_cpu = plan->engine == TESS_ENGINE_CPU;
    *count = on_cpu ? op->count : op->gpu_count;
    return on_cpu ? op->rows : op->gpu_rows;
}

/* "avx512, up to 4 threads", "sm_90 of the cuda engine" */
static const char *runner(const tess_plan *plan, char *text, size_t size) {
    const tess_engine_hooks *hooks = tess_engine_find(plan->engine);
    if (hooks)
        hooks->name(plan, text, size);
    else
        snprintf(text, size, "%s", tess_slot_name(plan->slot));
    return text;
}

static double row_value(const tess_problem *problem, double (*of)(const tess_problem *), double otherwise) { return of ? of(problem) : otherwise; }

static void explain_text(const tess_plan *plan, tess_text *text) {
    const tess_problem *problem = plan->problem;
    char isa[16];
    tess_text_add(text, "problem    %s\n", problem->key);
    tess_text_add(text, "strategy   %s, %s", plan->row->name, runner(plan, isa, sizeof isa));
    if (plan->engine == TESS_ENGINE_CPU)
        tess_text_add(text, ", up to %d thread%s\n", plan->threads, plan->threads == 1 ? "" : "s");
    else
        tess_text_add(text, ", %s engine\n", tess_engine_name(plan->engine));
    tess_text_add(text, "because    %s\n", plan->reason);
    tess_text_add(text, "bytes      %.0f in and out once; this row moves %.0f\n", problem->bytes,
                  row_value(problem, plan->row->bytes, problem->bytes));
    tess_text_add(text, "flops      %.0f\n", row_value(problem, plan->row->flops, problem->flops));
    tess_text_add(text, "workspace  %zu bytes\n", plan->workspace);
    const tess_engine_hooks *hooks = tess_engine_find(plan->engine);
    if (hooks)
        hooks->explain(plan, TESS_TEXT, text);
    int count;
    for (const tess_strategy *row = rows_of(plan, &count), *end = row + count; row < end; row++) {
        const char *why, *what = verdict(plan, row, &why);
        tess_text_add(text, "  %-24s %-15s %s\n", row->name, what, why);
    }
}

static void explain_json(const tess_plan *plan, tess_text *text) {
    const tess_problem *problem = plan->problem;
    char isa[16];
    tess_text_add(text, "{\"problem\": ");
    tess_text_json(text, problem->key);
    tess_text_add(text, ", \"strategy\": ");
    tess_text_json(text, plan->row->name);
    tess_text_add(text, ", \"engine\": \"%s\", \"isa\": \"%s\", \"threads\": %d, \"because\": ", tess_engine_name(plan->engine),
                  runner(plan, isa, sizeof isa), plan->threads);
    tess_text_json(text, plan->reason);
    tess_text_add(text, ", \"bytes\": %.0f, \"bytes_moved\": %.0f, \"flops\": %.0f, \"workspace\": %zu, \"candidates\": [", problem->bytes,
                  row_value(problem, plan->row->bytes, problem->bytes), row_value(problem, plan->row->flops, problem->flops), plan->workspace);
    int count;
    for (const tess_strategy *row = rows_of(plan, &count), *first = row, *end = row + count; row < end; row++) {
        const char *why, *what = verdict(plan, row, &why);
        tess_text_add(text, "%s{\"strategy\": ", row > first ? ", " : "");
        tess_text_json(text, row->name);
        tess_text_add(text, ", \"verdict\": \"%s\", \"why\": ", what);
        tess_text_json(text, why);
        tess_text_add(text, "}");
    }
    tess_text_add(text, "]");
    const tess_engine_hooks *hooks = tess_engine_find(plan->engine);
    if (hooks)
        hooks->explain(plan, TESS_JSON, text);
    tess_text_add(text, "}\n");
}

tess_status tess_explain(const tess_plan *plan, tess_format format, char *at, size_t capacity, size_t *length) {
    tess_text text = {.at = at, .capacity = capacity};
    if (length)
        *length = 0;
    if (!plan)
        return tess_fail(TESS_ERR_ARGUMENT, "plan is NULL");
    if (!at && capacity > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "text is NULL with a capacity of %zu", capacity);
    if (capacity > 0)
        *at = 0;
    if (format != TESS_TEXT && format != TESS_JSON)
        return tess_fail(TESS_ERR_ARGUMENT, "format is %d, it must be TESS_TEXT or TESS_JSON", (int)format);
    (format == TESS_JSON ? explain_json : explain_text)(plan, &text);
    return tess_text_end(&text, length);
}

int tess_strategy_count(void) {
    int count = 0;
    for (int o = 0; o < tess_ops_count; o++)
        count += tess_ops[o]->count + tess_ops[o]->gpu_count;
    return count;
}

bool tess_strategy_get(int index, tess_strategy_info *info) {
    /* The builds of a row as words, one for each set of slots. */
    static const char *const isa_words[1 << TESS_SLOTS] = {
        [0] = "",
        [1] = "baseline",
        [1 + 2] = "baseline avx2",
        [1 + 4] = "baseline avx512",
        [1 + 2 + 4] = "baseline avx2 avx512",
        [2] = "avx2",
        [2 + 4] = "avx2 avx512",
        [4] = "avx512",
        [1 + 8] = "baseline neon",
        [8] = "neon",
    };
    for (int o = 0; o < tess_ops_count && index >= 0; o++) {
        int rows = tess_ops[o]->count + tess_ops[o]->gpu_count;
        if (index >= rows) {
            index -= rows;
            continue;
        }
        const tess_strategy *row = tess_op_row(tess_ops[o], index);
        int slots = 0;
        bool usable = false;
        for (int s = 0; s < TESS_SLOTS; s++)
            if (row->run[s]) {
                slots |= 1 << s;
                usable |= tess_cpu_has_slot((tess_isa_slot)s);
            }
        if (info)
            *info = (tess_strategy_info){
                row->name, tess_ops[o]->name, row->idea, row->source, row->target == TESS_TARGET_CPU ? "cpu" : "gpu", isa_words[slots],
                usable,    tess_gpu_rung(row)};
        return true;
    }
    return false;
}

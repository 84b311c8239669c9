/* SPDX-License-Identifier: Apache-2.0
 * explain.c - a plan in words: the row that runs, and what every other row lost by; and the list of all rows. */
#include "core/strategy.h"

#include <string.h>

static const char *verdict(const tess_plan *plan, const tess_strategy *row, const char **why) {
    const tess_problem *problem = plan->problem;
    *why = "";
    if (row == plan->row) {
        *why = plan->reason;
        return "chosen";
    }
    if (row->target != TESS_TARGET_CPU || tess_strategy_slot(row, problem->context->slot) < 0) {
        *why = row->target != TESS_TARGET_CPU ? "runs on a GPU only" : "not built for an instruction set that is allowed here";
        return "not usable";
    }
    if (!row->applicable(problem, why))
        return "not applicable";
    if (row->sensible && !row->sensible(problem, why))
        return "not sensible";
    *why = row < plan->row ? "passed over for the chosen row" : "later in the table than the chosen row";
    return "possible";
}

static double row_value(const tess_problem *problem, double (*of)(const tess_problem *), double otherwise) { return of ? of(problem) : otherwise; }

static void explain_text(const tess_plan *plan, tess_text *text) {
    const tess_problem *problem = plan->problem;
    tess_text_add(text, "problem    %s\n", problem->key);
    tess_text_add(text, "strategy   %s, %s, up to %d thread%s\n", plan->row->name, tess_slot_name(plan->slot), plan->threads,
                  plan->threads == 1 ? "" : "s");
    tess_text_add(text, "because    %s\n", plan->reason);
    tess_text_add(text, "bytes      %.0f in and out once; this row moves %.0f\n", problem->bytes,
                  row_value(problem, plan->row->bytes, problem->bytes));
    tess_text_add(text, "flops      %.0f\n", row_value(problem, plan->row->flops, problem->flops));
    tess_text_add(text, "workspace  %zu bytes\n", plan->workspace);
    for (int r = 0; r < problem->op->count; r++) {
        const char *why, *what = verdict(plan, &problem->op->rows[r], &why);
        tess_text_add(text, "  %-24s %-15s %s\n", problem->op->rows[r].name, what, why);
    }
}

static void explain_json(const tess_plan *plan, tess_text *text) {
    const tess_problem *problem = plan->problem;
    tess_text_add(text, "{\"problem\": ");
    tess_text_json(text, problem->key);
    tess_text_add(text, ", \"strategy\": ");
    tess_text_json(text, plan->row->name);
    tess_text_add(text, ", \"isa\": \"%s\", \"threads\": %d, \"because\": ", tess_slot_name(plan->slot), plan->threads);
    tess_text_json(text, plan->reason);
    tess_text_add(text, ", \"bytes\": %.0f, \"bytes_moved\": %.0f, \"flops\": %.0f, \"workspace\": %zu, \"candidates\": [", problem->bytes,
                  row_value(problem, plan->row->bytes, problem->bytes), row_value(problem, plan->row->flops, problem->flops), plan->workspace);
    for (int r = 0; r < problem->op->count; r++) {
        const char *why, *what = verdict(plan, &problem->op->rows[r], &why);
        tess_text_add(text, "%s{\"strategy\": ", r ? ", " : "");
        tess_text_json(text, problem->op->rows[r].name);
        tess_text_add(text, ", \"verdict\": \"%s\", \"why\": ", what);
        tess_text_json(text, why);
        tess_text_add(text, "}");
    }
    tess_text_add(text, "]}\n");
}

tess_status tess_explain(const tess_plan *plan, tess_format format, char *at, size_t capacity, size_t *length) {
    tess_text text = {.at = at, .capacity = capacity};
    if (length)
        *length = 0;
    if (!plan)
        return tess_fail(TESS_ERR_ARGUMENT, "plan is NULL");
    if (!at && capacity > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "text is NULL with a capacity of %zu", capacity);
    (format == TESS_JSON ? explain_json : explain_text)(plan, &text);
    return tess_text_end(&text, length);
}

int tess_strategy_count(void) {
    int count = 0;
    for (int o = 0; o < tess_ops_count; o++)
        count += tess_ops[o]->count;
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
        if (index >= tess_ops[o]->count) {
            index -= tess_ops[o]->count;
            continue;
        }
        const tess_strategy *row = &tess_ops[o]->rows[index];
        int slots = 0;
        bool usable = false;
        for (int s = 0; s < TESS_SLOTS; s++)
            if (row->run[s]) {
                slots |= 1 << s;
                usable |= tess_cpu_has_slot((tess_isa_slot)s);
            }
        if (info)
            *info = (tess_strategy_info){
                row->name, tess_ops[o]->name, row->idea, row->source, row->target == TESS_TARGET_CPU ? "cpu" : "gpu", isa_words[slots], usable};
        return true;
    }
    return false;
}

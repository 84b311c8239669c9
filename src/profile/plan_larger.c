/* SPDX-License-Identifier: Apache-2.0
 * plan_larger.c - the time of a plan too large to run here, from two runs of smaller ones.
 *
 * The work of a kernel on regular data is a line in the number of elements: a share for each and something that stays. Two runs give that line for every
 * kernel of the strategy and every amount of the model, and the large problem's own plan gives its launches. What the strategy's formulas say of
 * the large problem is written beside the counts on the line, so each vouches for the other. Where the formulas of the three problems are no line themselves - a row may share a large
 * problem among larger blocks, or among as many as a card holds -, those of the two runs have to be their counts. */
#include <string.h>

#include "profile/plan_counts.h"

enum { KERNELS = TESS_GPU_STEPS };
static const double TOLERANCE = 0.05; /* of a line's counts against a formula's: borders grow with the root of an image's size */

typedef struct kernel_amounts {
    char name[64];
    tess_amounts amounts[2];
} kernel_amounts;

typedef struct listener {
    kernel_amounts kernel[KERNELS];
    int kernels, run;
    tess_gpu_prediction total[2];
    bool lost;
} listener;

static kernel_amounts *kernel_named(listener *l, const char *name, size_t length) {
    for (int i = 0; i < l->kernels; i++)
        if (strlen(l->kernel[i].name) == length && memcmp(l->kernel[i].name, name, length) == 0)
            return &l->kernel[i];
    if (l->kernels == KERNELS || length >= sizeof l->kernel[0].name)
        return NULL;
    kernel_amounts *made = &l->kernel[l->kernels++];
    memcpy(made->name, name, length);
    return made;
}

static void launched(void *user, const tess_vgpu_launch_record *record) {
    listener *l = user;
    tess_amounts amounts;
    tess_vgpu_counters counters;
    kernel_amounts *k = kernel_named(l, record->kernel, (size_t)record->kernel_length);
    tess_profile_amounts(record->run, &amounts);
    tess_vgpu_total(record->run, &counters);
    tess_gpu_prediction counted = tess_profile_counted(&counters);
    l->lost = l->lost || !k;
    if (k) {
#define X(name) k->amounts[l->run].name += amounts.name;
        TESS_AMOUNT_LIST(X)
#undef X
    }
#define X(name) l->total[l->run].name += counted.name;
    TESS_GPU_PREDICTION_LIST(X)
#undef X
}

static tess_status run(const tess_profile_run *r, listener *l, int number) {
    const tess_vgpu_watch_options options = {.count = true, .no_check = true, .sample = true, .launched = launched, .user = l};
    l->run = number;
    TESS_TRY(tess_vgpu_watch(r->plan->context, &options));
    tess_status status = tess_execute(r->plan, r->in, r->second, r->out, NULL);
    tess_vgpu_watch(r->plan->context, NULL);
    return status;
}

/* The line through (x0, y0) and (x1, y1) at x. Work does not shrink with the problem: a line that falls is taken as level. */
static double line_at(double x0, double y0, double x1, double y1, double x) {
    double y = y1 + (y1 - y0) / (x1 - x0) * (x - x1);
    return y > y1 ? y : y1;
}

typedef struct time_of {
    int launches;
    int64_t grid; /* blocks of the largest launch */
    tess_prediction prediction;
} time_of;

/* All launches of one kernel as if they were its largest one. */
static time_of time_kernel(const tess_plan *plan, const kernel_amounts *k, const double *x, const tess_card *card) {
    const tess_gpu_plan *made = plan->prepared;
    time_of t = {0};
    tess_amounts amounts;
    int64_t threads = 1, shared = 0;
    for (int s = 0; s < made->layout.steps; s++) {
        const tess_gpu_grid *g = &made->layout.step[s].grid;
        int64_t blocks = g->grid[0] * g->grid[1] * g->grid[2];
        if (strcmp(made->layout.step[s].entry, k->name) != 0 || blocks == 0)
            continue;
        t.launches++;
        if (blocks > t.grid) {
            t.grid = blocks;
            threads = g->block[0] * g->block[1] * g->block[2];
            shared = g->shared + made->kernel[s].static_shared;
        }
    }
#define X(name) amounts.name = line_at(x[0], k->amounts[0].name, x[1], k->amounts[1].name, x[2]);
    TESS_AMOUNT_LIST(X)
#undef X
    if (t.launches > 0)
        tess_profile_time(&amounts, card, threads, t.grid, shared, &t.prediction);
    return t;
}

static bool near(double said, double counted) { return counted - said <= TOLERANCE * said && said - counted <= TOLERANCE * said; }

/* One counter: its formula for the large problem, those for the runs, and the runs' counts. */
static bool counter_agrees(const double *x, double all, double small, double medium, double small_counted, double medium_counted) {
    if (small >= 0 && medium >= 0 && !near(all, line_at(x[0], small, x[1], medium, x[2])))
        return small == small_counted && medium == medium_counted;
    return near(all, line_at(x[0], small_counted, x[1], medium_counted, x[2]));
}

static bool agrees(const listener *l, const double *x, const tess_gpu_prediction *all, const tess_gpu_prediction *runs) {
    bool agree = true;
#define X(name) agree = agree && (all->name < 0 || counter_agrees(x, all->name, runs[0].name, runs[1].name, l->total[0].name, l->total[1].name));
    TESS_GPU_PREDICTION_LIST(X)
#undef X
    return agree;
}

static void write(const tess_plan *plan, const tess_profile_run *small, const tess_profile_run *medium, const listener *l, const double *x,
                  const tess_card *card, tess_text *text) {
    tess_gpu_prediction counted = {0}, formulas = tess_gpu_plan_predict(plan),
                        runs[] = {tess_gpu_plan_predict(small->plan), tess_gpu_plan_predict(medium->plan)};
    double seconds = 0, most = -1;
    const char *limiter = "nothing";
    int launches = 0;
    for (int i = 0; i < l->kernels; i++) {
        time_of t = time_kernel(plan, &l->kernel[i], x, card);
        double work = t.prediction.seconds - t.prediction.launch_seconds;
        launches += t.launches;
        if (t.launches == 0)
            continue;
        seconds += work + t.launches * t.prediction.launch_seconds;
        if (work > most) {
            most = work;
            limiter = tess_term_title(t.prediction.limiter);
        }
    }
    tess_text_add(text, "{\"strategy\": ");
    tess_text_json(text, plan->row->name);
    tess_text_add(text, ", \"card\": ");
    tess_text_json(text, card->name);
    tess_text_add(text, ", \"elements\": %.0f, \"bytes\": %.0f, \"seconds\": ", x[2], plan->problem->bytes);
    tess_text_real(text, seconds);
    tess_text_add(text, ", \"limiter\": \"%s\", \"launches\": %d, \"counters\": {", limiter, launches);
    bool any = false;
#define X(name)                                                                   \
    counted.name = line_at(x[0], l->total[0].name, x[1], l->total[1].name, x[2]); \
    tess_text_add(text, "%s\"" #name "\": %.0f", any ? ", " : "", counted.name);  \
    any = true;
    TESS_GPU_PREDICTION_LIST(X)
#undef X
    tess_text_add(text, "}, ");
    tess_profile_write_formulas(&formulas, agrees(l, x, &formulas, runs), "prediction_agrees", text);
    tess_text_add(text, ", \"kernels\": [");
    any = false;
    for (int i = 0; i < l->kernels; i++) {
        time_of t = time_kernel(plan, &l->kernel[i], x, card);
        if (t.launches == 0)
            continue;
        tess_text_add(text, "%s\n {\"kernel\": ", any ? "," : "");
        tess_text_json(text, l->kernel[i].name);
        tess_text_add(text, ", \"launches\": %d, \"blocks\": %lld, \"seconds\": ", t.launches, (long long)t.grid);
        tess_text_real(text, t.prediction.seconds - t.prediction.launch_seconds);
        tess_text_add(text, ", \"limiter\": \"%s\", \"terms\": {", tess_term_title(t.prediction.limiter));
        for (int k = 0; k < TESS_TERMS; k++) {
            tess_text_add(text, "%s\"%s\": ", k ? ", " : "", tess_term_title((tess_term_name)k));
            tess_text_real(text, t.prediction.term[k].seconds);
        }
        tess_text_add(text, "}}");
        any = true;
    }
    tess_text_add(text, "]}\n");
}

tess_status tess_profile_larger(const tess_plan *plan, const tess_profile_run *small, const tess_profile_run *medium, const char *card, char *at,
                                size_t capacity, size_t *length) {
    tess_text text = {.at = at, .capacity = capacity};
    tess_card facts;
    TESS_TRY(tess_profile_plan_arguments(plan, at, capacity, length));
    if (!small || !medium)
        return tess_fail(TESS_ERR_ARGUMENT, "%s is NULL", small ? "medium" : "small");
    TESS_TRY(tess_profile_plan_arguments(small->plan, NULL, 0, NULL));
    TESS_TRY(tess_profile_plan_arguments(medium->plan, NULL, 0, NULL));
    if (small->plan->row != plan->row || medium->plan->row != plan->row)
        return tess_fail(TESS_ERR_ARGUMENT, "the plans are of strategies %s, %s and %s, they must be one", small->plan->row->name,
                         medium->plan->row->name, plan->row->name);
    const double x[] = {small->plan->problem->elements, medium->plan->problem->elements, plan->problem->elements};
    if (!(x[0] < x[1] && x[1] <= x[2]))
        return tess_fail(TESS_ERR_ARGUMENT, "the problems have %.0f, %.0f and %.0f elements, small must be smaller than medium, and medium than plan",
                         x[0], x[1], x[2]);
    TESS_TRY(tess_profile_card(NULL, card, &facts));
    listener *l = tess_allocate_zeroed(plan->context, sizeof *l);
    if (!l)
        return TESS_ERR_MEMORY;
    tess_status status = run(small, l, 0);
    if (status == TESS_OK)
        status = run(medium, l, 1);
    if (status == TESS_OK && l->lost)
        status = tess_fail(TESS_ERR_INTERNAL, "strategy %s launches more kernels than are kept apart", plan->row->name);
    if (status == TESS_OK) {
        write(plan, small, medium, l, x, &facts, &text);
        status = tess_text_end(&text, length);
    }
    tess_free(plan->context, l, sizeof *l);
    return status;
}

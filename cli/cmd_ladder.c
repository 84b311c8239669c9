/* SPDX-License-Identifier: Apache-2.0
 * cmd_ladder.c - every strategy as a rung, compared with the reference bit for bit: those of the CPU timed here; those of a GPU timed on a card, or, without
 * one, counted on the virtual GPU, with the model's time for a large problem beside the one that was measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ladder.h"

typedef struct engines {
    cli_session *session;
    cli_session cpu, gpu; /* with contexts of their own */
    bool card;            /* gpu's context is of the CUDA engine */
} engines;

/* The last row of the operation's table for the CPU. */
static const char *reference_of(const char *operation) {
    const char *name = NULL;
    tess_strategy_info row;
    for (int i = 0; tess_strategy_get(i, &row); i++)
        if (strcmp(row.operation, operation) == 0 && strcmp(row.target, "cpu") == 0)
            name = row.name;
    return name;
}

static void why_not(cli_rung *rung, tess_status status, bool planning) {
    const char *why = strstr(tess_detail(), "cannot run here: "); /* the name stands before it anyway */
    if (rung->no_engine && status == TESS_ERR_STRATEGY)           /* another work could have been run, had there been a compiler */
        return;
    rung->no_engine = status == TESS_ERR_ENGINE;
    rung->state = planning && (status == TESS_ERR_STRATEGY || status == TESS_ERR_ENGINE) ? CLI_RUNG_CANNOT : CLI_RUNG_FAILED;
    snprintf(rung->why, sizeof rung->why, "%s", why ? why : tess_detail());
}

/* A copy of a block; NULL with the line printed. */
static void *copy_of(const tess_io_array *array, const char *what) {
    void *copy = malloc(array->block_size + 1);
    if (copy)
        memcpy(copy, array->block, array->block_size);
    else
        cli_fail(CLI_FAILED, "%zu bytes for %s could not be allocated", array->block_size, what);
    return copy;
}

/* The reference's result on the problem; NULL with the line printed. */
static void *reference(const engines *e, const cli_trial *trial) {
    tess_plan *plan = NULL;
    tess_status status = cli_trial_plan(&e->cpu, trial, reference_of(trial->workload->operation), &plan);
    if (status == TESS_OK)
        status = tess_execute(plan, trial->in.block, trial->second.block, trial->out.block, NULL);
    tess_plan_free(plan);
    if (status != TESS_OK) {
        cli_fail_library();
        return NULL;
    }
    return copy_of(&trial->out, "the reference's result");
}

/* Of the operation's strategies those for the target. */
static int collect(cli_climb *climb, const char *target) {
    tess_strategy_info row;
    climb->count = 0;
    for (int i = 0; tess_strategy_get(i, &row); i++)
        climb->count += strcmp(row.operation, climb->operation) == 0 && strcmp(row.target, target) == 0;
    climb->rungs = calloc((size_t)climb->count + 1, sizeof *climb->rungs);
    if (!climb->rungs)
        return cli_fail(CLI_FAILED, "no memory for %d rungs", climb->count);
    int n = 0;
    for (int i = 0; tess_strategy_get(i, &row); i++)
        if (strcmp(row.operation, climb->operation) == 0 && strcmp(row.target, target) == 0)
            climb->rungs[n++].row = row;
    return CLI_OK;
}

/* ---- the CPU ---- */

/* start: what the arrays of a work in place hold before it, else NULL. */
static void time_here(const engines *e, const cli_trial *trial, const void *start, const void *expected, const tess_limits *limits, cli_rung *rung) {
    tess_plan *plan = NULL;
    cli_timing timing;
    const cli_effort effort = {.least = 3, .seconds = cli_seconds(e->session)};
    if (start)
        memcpy(trial->in.block, start, trial->in.block_size);
    else
        memset(trial->out.block, 0xa5, trial->out.block_size);
    tess_status status = cli_trial_plan(&e->cpu, trial, rung->row.name, &plan);
    bool planning = status != TESS_OK;
    if (!planning)
        status = tess_execute(plan, trial->in.block, trial->second.block, trial->out.block, NULL);
    rung->same_bits = status == TESS_OK && memcmp(expected, trial->out.block, trial->out.block_size) == 0;
    if (status == TESS_OK)
        status = cli_trial_time(trial, plan, &effort, NULL, &timing);
    tess_plan_free(plan);
    if (status != TESS_OK) {
        why_not(rung, status, planning);
        return;
    }
    rung->state = CLI_RUNG_RAN;
    rung->seconds = timing.seconds;
    rung->bytes = timing.report.bytes;
    rung->flops = timing.report.flops;
    rung->threads = timing.report.threads;
    rung->fraction = cli_trial_bound(trial, limits).seconds / timing.seconds;
    snprintf(rung->isa, sizeof rung->isa, "%s", timing.report.isa);
}

static int climb_here(const engines *e, const cli_workload *workload, const tess_limits *limits, cli_climb *climb) {
    cli_trial trial;
    *climb = (cli_climb){.name = workload->name, .operation = workload->operation};
    int code = collect(climb, "cpu");
    if (code != CLI_OK || (code = cli_trial_make(&trial, workload, CLI_PAGES_HUGE)) != CLI_OK)
        return code;
    void *start = workload->inplace ? copy_of(&trial.in, "the array") : NULL;
    void *expected = start || !workload->inplace ? reference(e, &trial) : NULL;
    for (int i = 0; expected && i < climb->count / 2; i++) { /* the reference first: a ladder is climbed */
        cli_rung last = climb->rungs[climb->count - 1 - i];
        climb->rungs[climb->count - 1 - i] = climb->rungs[i];
        climb->rungs[i] = last;
    }
    for (int i = 0; expected && i < climb->count; i++)
        time_here(e, &trial, start, expected, limits, &climb->rungs[i]);
    code = expected ? CLI_OK : CLI_FAILED;
    free(expected);
    free(start);
    cli_trial_free(&trial);
    return code;
}

/* ---- a GPU ---- */

static void time_on_card(const engines *e, const cli_trial *check, const cli_trial *large, const void *expected, const tess_limits *limits,
                         cli_rung *rung) {
    tess_plan *small = NULL, *plan = NULL;
    memset(check->out.block, 0xa5, check->out.block_size);
    tess_status status = cli_trial_plan(&e->gpu, check, rung->row.name, &small);
    if (status == TESS_OK)
        status = cli_trial_plan(&e->gpu, large, rung->row.name, &plan);
    bool planning = status != TESS_OK;
    if (!planning)
        status = tess_execute(small, check->in.block, check->second.block, check->out.block, NULL);
    if (status == TESS_OK)
        status = tess_time_plan(plan, large->in.block, large->second.block, large->out.block, cli_seconds(e->session), &rung->seconds);
    tess_plan_free(small);
    tess_plan_free(plan);
    if (status != TESS_OK) {
        why_not(rung, status, planning);
        return;
    }
    cli_bound bound = cli_trial_bound(large, limits);
    rung->state = CLI_RUNG_RAN;
    rung->same_bits = memcmp(expected, check->out.block, check->out.block_size) == 0;
    rung->bytes = bound.bytes;
    rung->flops = bound.flops;
    rung->fraction = bound.seconds / rung->seconds;
    snprintf(rung->isa, sizeof rung->isa, "cuda");
}

typedef struct trials {
    cli_trial check, small, medium, large;
} trials;

static void free_trials(trials *t) {
    cli_trial_free(&t->check);
    cli_trial_free(&t->small);
    cli_trial_free(&t->medium);
    cli_trial_free(&t->large);
}

static int make_trials(const engines *e, const cli_ladder_work *work, trials *t) {
    memset(t, 0, sizeof *t);
    int code = cli_trial_make(&t->check, &work->check, CLI_PAGES_HUGE);
    if (code == CLI_OK && !e->card)
        code = cli_trial_make(&t->small, &work->small, CLI_PAGES_HUGE);
    if (code == CLI_OK && !e->card)
        code = cli_trial_make(&t->medium, &work->medium, CLI_PAGES_HUGE);
    if (code == CLI_OK)
        code = cli_trial_make(&t->large, &work->large, e->card ? CLI_PAGES_HUGE : CLI_PAGES_UNTOUCHED);
    return code;
}

/* All rungs of the climb that cannot run on the works before. */
static int climb_work(const engines *e, const cli_ladder_work *work, const tess_limits *limits, cli_climb *climb) {
    trials t;
    int code = make_trials(e, work, &t);
    void *expected = code == CLI_OK ? reference(e, &t.check) : NULL;
    for (int i = 0; expected && i < climb->count; i++) {
        cli_rung *rung = &climb->rungs[i];
        if (rung->state != CLI_RUNG_CANNOT)
            continue;
        if (e->card)
            time_on_card(e, &t.check, &t.large, expected, limits, rung);
        else
            cli_ladder_on_virtual_gpu(&e->gpu, &t.check, &t.small, &t.medium, &t.large, expected, rung);
        rung->work = work->large.name;
        rung->check = work->check.name;
        cli_ladder_measured(rung->work, rung->row.name, &rung->measured_seconds, &rung->measured_fraction);
    }
    free(expected);
    free_trials(&t);
    return expected ? CLI_OK : CLI_FAILED;
}

/* By number, then what is no rung. */
static int by_rung(const void *a, const void *b) {
    const cli_rung *x = a, *y = b;
    int of_x = x->row.rung > 0 ? x->row.rung : 1 << 20, of_y = y->row.rung > 0 ? y->row.rung : 1 << 20;
    return of_x != of_y ? (of_x > of_y) - (of_x < of_y) : strcmp(x->row.name, y->row.name);
}

static double gain_over(const cli_rung *before, const cli_rung *r) {
    if (r->seconds > 0 && before->seconds > 0)
        return before->seconds / r->seconds;
    if (r->measured_seconds > 0 && before->measured_seconds > 0)
        return before->measured_seconds / r->measured_seconds;
    return r->model_seconds > 0 && before->model_seconds > 0 ? before->model_seconds / r->model_seconds : 0;
}

static int climb_gpu(const engines *e, const cli_ladder *ladder, const tess_limits *limits, cli_climb *climb) {
    *climb = (cli_climb){.name = ladder->name, .operation = ladder->operation};
    int code = collect(climb, "gpu");
    for (int w = 0; w < ladder->count && code == CLI_OK; w++)
        code = climb_work(e, &ladder->works[w], limits, climb);
    if (code != CLI_OK)
        return code;
    qsort(climb->rungs, (size_t)climb->count, sizeof *climb->rungs, by_rung);
    const cli_rung *before = NULL;
    for (int i = 0; i < climb->count; i++) {
        cli_rung *r = &climb->rungs[i];
        if (r->state != CLI_RUNG_RAN || r->row.rung == 0)
            continue;
        r->gain = before && before->work == r->work ? gain_over(before, r) : 0;
        before = r;
    }
    return CLI_OK;
}

/* ---- the whole ---- */

/* A rung that no climb of its operation could run; those that another climb could are left out where they cannot. */
static int settle(cli_climbs *all) {
    for (int c = 0; c < all->count; c++) {
        cli_climb *climb = &all->at[c];
        int kept = 0;
        for (int i = 0; i < climb->count; i++) {
            bool elsewhere = false;
            for (int d = 0; d < all->count && climb->rungs[i].state == CLI_RUNG_CANNOT; d++)
                for (int k = 0; k < all->at[d].count; k++)
                    elsewhere = elsewhere || (strcmp(all->at[d].rungs[k].row.name, climb->rungs[i].row.name) == 0 &&
                                              (all->at[d].rungs[k].state != CLI_RUNG_CANNOT || d < c));
            if (!elsewhere)
                climb->rungs[kept++] = climb->rungs[i];
        }
        climb->count = kept;
    }
    return CLI_OK;
}

/* A rung that failed, was not run or has other bits or counts is a failure of the whole: nothing may be hidden in a table. Without a compiler for its kernel a
 * rung says so. */
static int judge(const cli_climbs *all) {
    for (int c = 0; c < all->count; c++)
        for (int i = 0; i < all->at[c].count; i++) {
            const cli_rung *r = &all->at[c].rungs[i];
            if (r->state == CLI_RUNG_FAILED)
                return cli_fail(CLI_FAILED, "%s failed: %s", r->row.name, r->why);
            if (r->state == CLI_RUNG_CANNOT && r->row.rung > 0 && !r->no_engine)
                return cli_fail(CLI_FAILED, "%s was not run: no problem of the ladder is one for it: %s", r->row.name, r->why);
            if (r->state != CLI_RUNG_RAN)
                continue;
            if (r->predicted && !r->holds)
                return cli_fail(CLI_FAILED, "%s has other counts than its formula predicts for %s", r->row.name, r->check);
            if (r->predicted && !r->agrees)
                return cli_fail(CLI_FAILED, "%s: its formula and the counts extrapolated to %s differ by more than 5 %%", r->row.name, r->work);
            if (!r->same_bits)
                return cli_fail(CLI_FAILED, "%s gives other bits than the reference", r->row.name);
        }
    return CLI_OK;
}

static int open_context(const engines *e, tess_engine engine, tess_context **context) {
    const cli_options *o = &e->session->options;
    tess_context_options options = {.struct_size = sizeof options, .threads = o->threads, .isa = (tess_isa)o->isa, .engine = engine};
    return tess_open(context, &options) == TESS_OK ? CLI_OK : cli_fail_library();
}

/* The engines that were asked for; auto takes the card when there is one. */
static int open_engines(engines *e, cli_climbs *all) {
    tess_engine asked = (tess_engine)e->session->options.engine;
    double seconds = cli_seconds(e->session);
    int code = open_context(e, TESS_ENGINE_CPU, &e->cpu.context);
    all->limits.struct_size = all->card_limits.struct_size = sizeof all->limits;
    all->cpu = asked == TESS_ENGINE_AUTO || asked == TESS_ENGINE_CPU;
    if (code == CLI_OK && all->cpu && tess_measure_limits(e->cpu.context, 4 * seconds, &all->limits) != TESS_OK)
        code = cli_fail_library();
    if (code == CLI_OK && (asked == TESS_ENGINE_AUTO || asked == TESS_ENGINE_CUDA)) {
        code = open_context(e, TESS_ENGINE_CUDA, &e->gpu.context);
        all->card = e->card = code == CLI_OK && tess_measure_limits(e->gpu.context, 2 * seconds, &all->card_limits) == TESS_OK;
        if (code == CLI_OK && !e->card && asked == TESS_ENGINE_CUDA)
            code = cli_fail_library();
        if (!e->card) {
            tess_close(e->gpu.context);
            e->gpu.context = NULL;
        }
    }
    all->counted = !e->card && (asked == TESS_ENGINE_AUTO || asked == TESS_ENGINE_VIRTUAL);
    if (code == CLI_OK && all->counted)
        code = open_context(e, TESS_ENGINE_VIRTUAL, &e->gpu.context);
    return code;
}

static int climb_all(const engines *e, const char *only, cli_climbs *all) {
    int code = CLI_OK;
    for (int k = 0; k < cli_workload_count && all->cpu && code == CLI_OK; k++) {
        const cli_workload *w = &cli_workloads[k];
        if (w->use & CLI_FOR_LADDER && (!only || strcmp(only, w->operation) == 0))
            code = climb_here(e, w, &all->limits, &all->at[all->count++]);
    }
    for (int k = 0; k < cli_ladder_count && (all->card || all->counted) && code == CLI_OK; k++)
        if (!only || strcmp(only, cli_ladders[k].operation) == 0)
            code = climb_gpu(e, &cli_ladders[k], &all->card_limits, &all->at[all->count++]);
    return code;
}

int cli_run_ladder(cli_session *session) {
    const char *only;
    engines e = {.session = session, .cpu = *session, .gpu = *session};
    cli_climbs all = {.count = 0};
    e.cpu.context = e.gpu.context = NULL;
    int code = cli_operation(session, &only);
    if (code == CLI_OK && !(all.at = calloc((size_t)(cli_workload_count + cli_ladder_count), sizeof *all.at)))
        code = cli_fail(CLI_FAILED, "no memory for the ladders");
    if (code == CLI_OK)
        code = open_engines(&e, &all);
    if (code == CLI_OK)
        code = climb_all(&e, only, &all);
    cli_progress_end();
    if (code == CLI_OK)
        code = settle(&all);
    if (code == CLI_OK && session->options.json)
        code = cli_ladder_json(&all);
    else if (code == CLI_OK && session->options.html)
        cli_ladder_html(&all);
    else if (code == CLI_OK)
        cli_ladder_text(&all);
    if (code == CLI_OK)
        code = cli_flush();
    if (code == CLI_OK)
        code = judge(&all);
    for (int c = 0; c < all.count; c++) {
        for (int i = 0; i < all.at[c].count; i++)
            cli_ladder_counts_free(&all.at[c].rungs[i]);
        free(all.at[c].rungs);
    }
    free(all.at);
    tess_close(e.cpu.context);
    tess_close(e.gpu.context);
    return code;
}

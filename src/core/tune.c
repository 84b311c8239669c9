/* SPDX-License-Identifier: Apache-2.0
 * tune.c - timing every row that can run a plan, on scratch arrays of the plan's own geometry, and recording the times; timing one plan. */
#include <string.h>

#include "core/convert.h"
#include "core/engine.h"
#include "core/strategy.h"

/* Values that are safe and not alike: least <= v < limit (least when that is the same), whole numbers for an index of integers. Timing on zeros would flatter (streaming stores
 * of zero lines ran three times as fast on one machine). */
static tess_status fill(tess_context *context, tess_scratch *s, double least, double limit, int64_t period) {
    enum { ROW = 1024 };
    double row[2 * ROW];
    tess_type compute = tess_is_complex(s->view.type) ? tess_c128 : tess_f64;
    tess_row_storer store = tess_storer(context->slot, compute, s->view.type);
    bool whole = tess_is_integer(s->view.type);
    uint64_t state = 1;
    int64_t n = (int64_t)(s->size / (size_t)s->view.itemsize);
    if (!store)
        return tess_fail(TESS_ERR_INTERNAL, "no storer for %s", tess_type_name(s->view.type));
    for (int64_t at = 0; at < n; at += ROW) {
        if (period && at >= period) {
            memcpy((char *)s->block + at * s->view.itemsize, (char *)s->block + (at - period) * s->view.itemsize,
                   (size_t)(tess_min64(period, n - at) * s->view.itemsize));
            at += period - ROW;
            continue;
        }
        for (int i = 0; i < 2 * ROW; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
            double v = least + (double)(state >> 11) * 0x1p-53 * (limit - least);
            row[i] = whole ? (double)(int64_t)v : v;
        }
        store((char *)s->block + at * s->view.itemsize, s->view.itemsize, row, tess_min64(ROW, n - at));
    }
    return TESS_OK;
}

tess_status tess_scratch_make(tess_context *context, tess_scratch *s, const tess_array *like, double least, double limit, int64_t period) {
    int64_t low, high;
    s->view = *like;
    tess_array_extent(like, &low, &high);
    s->size = (size_t)(high - low);
    s->size += (size_t)like->itemsize - s->size % (size_t)like->itemsize;
    s->block = tess_allocate(context, s->size);
    if (!s->block)
        return TESS_ERR_MEMORY;
    s->view.data = (char *)s->block - low;
    return fill(context, s, least, limit, period);
}

void tess_scratch_free(tess_context *context, tess_scratch *s) { tess_free(context, s->block, s->size); }

/* Median of at least three runs after one that is not counted, of more while time allows. */
static tess_status time_row(const tess_plan *plan, const tess_run *run, const tess_strategy *row, tess_isa_slot slot, double budget,
                            double *seconds) {
    enum { RUNS = 15, LEAST = 3 };
    double times[RUNS], start = tess_seconds();
    int n = 0;
    TESS_TRY(row->run[slot](plan->problem, run));
    while (n < RUNS && (n < LEAST || tess_seconds() - start < budget)) {
        double before = tess_seconds(), took;
        TESS_TRY(row->run[slot](plan->problem, run));
        took = tess_seconds() - before;
        int at = n++;
        for (; at > 0 && times[at - 1] > took; at--)
            times[at] = times[at - 1];
        times[at] = took;
    }
    *seconds = times[n / 2];
    return TESS_OK;
}

static tess_status time_rows(const tess_plan *plan, tess_run *run, double seconds) {
    const tess_op *op = plan->problem->op;
    const char *why;
    for (int r = 0; r < op->count; r++) {
        const tess_strategy *row = &op->rows[r];
        int slot = row->target == TESS_TARGET_CPU ? tess_strategy_slot(row, plan->context->slot) : -1;
        double took;
        /* The last row is the reference: right and slow, never worth its time. */
        if (slot < 0 || r == op->count - 1 || !row->applicable(plan->problem, &why))
            continue;
        size_t size = row->workspace ? row->workspace(plan->problem, plan->threads) : 0;
        run->workspace = tess_allocate(plan->context, size);
        if (!run->workspace)
            return TESS_ERR_MEMORY;
        run->slot = (tess_isa_slot)slot;
        tess_status status = time_row(plan, run, row, run->slot, seconds / op->count, &took);
        tess_free(plan->context, run->workspace, size);
        TESS_TRY(status);
        TESS_TRY(tess_wisdom_record_time(plan->context, plan->problem, row, plan->threads, took));
    }
    return TESS_OK;
}

/* An engine's rows of the planner's choice, each prepared as a plan of its own; those that cannot be (a kernel that is not there) are passed over. */
static tess_status time_engine_rows(const tess_plan *plan, const tess_engine_hooks *hooks, const tess_run *run, double seconds) {
    const tess_op *op = plan->problem->op;
    tess_wisdom_place place;
    const char *why;
    double took;
    if (!hooks->time || !hooks->place)
        return tess_fail(TESS_ERR_ENGINE, "the %s engine measures nothing", tess_engine_name(plan->engine));
    TESS_TRY(hooks->place(plan, &place));
    for (int r = 0; r < op->gpu_count; r++) {
        const tess_call call = {.strategy = op->gpu_rows[r].name};
        tess_plan trial = *plan;
        trial.row = &op->gpu_rows[r];
        trial.prepared = NULL;
        if (!tess_gpu_production(trial.row) || !trial.row->applicable(plan->problem, &why))
            continue;
        tess_status status = hooks->prepare(&trial, &call);
        bool ready = status == TESS_OK;
        if (ready)
            status = hooks->time(&trial, run->in, run->second, run->out, seconds / op->gpu_count, &took);
        hooks->release(&trial);
        if (status == TESS_OK)
            status = tess_wisdom_record_on(plan->context, plan->problem, trial.row, &place, took);
        if (status != TESS_OK && (ready || status == TESS_ERR_MEMORY))
            return status;
    }
    return TESS_OK;
}

tess_status tess_tune(const tess_plan *plan, double seconds) {
    if (!plan)
        return tess_fail(TESS_ERR_ARGUMENT, "plan is NULL");
    if (!(seconds >= 0 && seconds <= 86400))
        return tess_fail(TESS_ERR_ARGUMENT, "seconds is %g, the limits are 0 and 86400", seconds);
    const tess_op *op = plan->problem->op;
    const tess_array *in = op->array(plan->problem, TESS_ARRAY_IN), *second = op->array(plan->problem, TESS_ARRAY_SECOND),
                     *out = op->array(plan->problem, TESS_ARRAY_OUT);
    tess_scratch ins = {0}, seconds_ = {0}, outs = {0};
    tess_run run = {.context = plan->context, .threads = plan->threads};
    tess_status status = tess_scratch_make(plan->context, &ins, in, 0, 100, 0);
    if (status == TESS_OK && second) {
        double least, limit;
        op->index_range(plan->problem, &least, &limit);
        status = tess_scratch_make(plan->context, &seconds_, second, least, limit, 0);
    }
    if (status == TESS_OK && out != in) /* equal: in place */
        status = tess_scratch_make(plan->context, &outs, out, 0, 100, 0);
    if (status == TESS_OK) {
        run.in = ins.view.data;
        run.second = second ? seconds_.view.data : NULL;
        run.out = out != in ? outs.view.data : ins.view.data;
        const tess_engine_hooks *hooks = tess_engine_find(plan->engine);
        status = hooks ? time_engine_rows(plan, hooks, &run, seconds) : time_rows(plan, &run, seconds);
    }
    tess_scratch_free(plan->context, &ins);
    tess_scratch_free(plan->context, &seconds_);
    tess_scratch_free(plan->context, &outs);
    return status;
}

static tess_status time_on_cpu(const tess_plan *plan, const void *in, const void *second, void *out, double budget, double *median) {
    enum { RUNS = 101, LEAST = 15, WARM = 3 };
    double times[RUNS], spent = 0;
    int n = -WARM;
    for (; n < LEAST || (n < RUNS && spent < budget); n++) {
        double before = tess_seconds(), took;
        TESS_TRY(tess_execute(plan, in, second, out, NULL));
        took = tess_seconds() - before;
        spent += took;
        int at = n;
        for (; at > 0 && times[at - 1] > took; at--)
            times[at] = times[at - 1];
        if (at >= 0)
            times[at] = took;
    }
    *median = times[n / 2];
    return TESS_OK;
}

tess_status tess_time_plan(const tess_plan *plan, const void *in, const void *second, void *out, double seconds, double *median) {
    if (!plan || !median)
        return tess_fail(TESS_ERR_ARGUMENT, "%s is NULL", plan ? "median" : "plan");
    *median = 0;
    if (!(seconds >= 0 && seconds <= 86400))
        return tess_fail(TESS_ERR_ARGUMENT, "seconds is %g, the limits are 0 and 86400", seconds);
    if (plan->device.device_type != kDLCPU)
        return tess_fail(TESS_ERR_ARGUMENT, "the plan's arrays are on a device: plans for arrays in host memory are timed");
    const tess_engine_hooks *hooks = tess_engine_find(plan->engine);
    return hooks && hooks->time ? hooks->time(plan, in, second, out, seconds, median) : time_on_cpu(plan, in, second, out, seconds, median);
}

/* SPDX-License-Identifier: Apache-2.0
 * workload.c - making the arrays of a built-in problem, planning it, timing it. */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool cli_workload_chosen(const cli_session *session, const cli_workload *w, const char *operation) {
    const cli_options *o = &session->options;
    if (operation && strcmp(operation, w->operation) != 0)
        return false;
    if (o->only)
        return strstr(w->name, o->only) != NULL;
    return o->all ? !(w->use & CLI_FOR_LADDER) : w->use & CLI_FOR_QUICK;
}

int cli_check_only(const cli_session *session, const char *operation) {
    for (int k = 0; k < cli_workload_count; k++)
        if (cli_workload_chosen(session, &cli_workloads[k], operation))
            return CLI_OK;
    return cli_fail(CLI_USAGE, "--only: no workload%s%s has \"%s\" in its name; `tessera list workloads` tells them", operation ? " of " : "",
                    operation ? operation : "", session->options.only);
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t random64(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static uint32_t random_below(uint64_t *state, int64_t below) { return (uint32_t)((random64(state) >> 32) * (uint64_t)below >> 32); }

/* below > 0: indices and coordinates, 0 .. below-1, and weights of 8 bits around 0; else integers over their whole range and floats in -1 .. 1. */
static void fill(tess_io_array *a, int64_t below) {
    uint64_t state = 1;
    tess_type type = tess_io_type(a);
    int64_t count = tess_io_count(&a->tensor);
    if (type == tess_f32) {
        float *p = a->block;
        for (int64_t i = 0; i < count; i++)
            p[i] = below > 0 ? (float)(random64(&state) >> 40) * 0x1p-24f * (float)(below - 1) : (float)(int32_t)random64(&state) * 0x1p-31f;
    } else if (type == tess_f64 || type == tess_c128) {
        double *p = a->block;
        for (int64_t i = 0; i < (int64_t)(a->block_size / sizeof *p); i++)
            p[i] = below > 0 ? (double)(random64(&state) >> 11) * 0x1p-53 * (double)(below - 1) : (double)(int64_t)random64(&state) * 0x1p-63;
    } else if (type == tess_i32 && below > 0) {
        for (int64_t i = 0; i < count; i++)
            ((int32_t *)a->block)[i] = (int32_t)random_below(&state, below);
    } else if (type == tess_u16 && below > 0) {
        for (int64_t i = 0; i < count; i++)
            ((uint16_t *)a->block)[i] = (uint16_t)random_below(&state, below);
    } else if (type == tess_u8 && below > 0) {
        for (int64_t i = 0; i < count; i++)
            ((uint8_t *)a->block)[i] = (uint8_t)random_below(&state, below);
    } else if (type == tess_i8 && below > 0) {
        for (int64_t i = 0; i < count; i++)
            ((int8_t *)a->block)[i] = (int8_t)(random_below(&state, below) - (uint32_t)below / 2);
    } else {
        for (size_t at = 0; at < a->block_size; at += 8) {
            uint64_t r = random64(&state);
            memcpy((char *)a->block + at, &r, a->block_size - at < 8 ? a->block_size - at : 8);
        }
    }
}

typedef struct maker {
    cli_pages pages;
    tess_io_status status;
    tess_io_message message;
} maker;

static void make(maker *m, tess_io_array *a, tess_type type, int ndim, const int64_t *shape, int64_t below) {
    if (m->status != TESS_IO_OK)
        return;
    m->status = tess_io_make(a, type, ndim, shape, "a workload's array", &m->message);
    if (m->status == TESS_IO_OK && a->block_size > 0) /* advice: where it is not taken, the ones of tess_io_make stay */
        madvise(a->block, a->block_size, m->pages == CLI_PAGES_ORDINARY ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    if (m->status == TESS_IO_OK && below >= 0 && m->pages != CLI_PAGES_UNTOUCHED)
        fill(a, below);
}

static tess_type result_type(const cli_workload *w) {
    bool real = w->type == tess_f32 || w->type == tess_f64;
    if (strcmp(w->operation, "reduce") != 0)
        return w->type;
    if (w->reduction == TESS_ARGMAX || w->reduction == TESS_ARGMIN)
        return tess_i64;
    return w->reduction != TESS_SUM || real ? w->type : w->type == tess_i32 ? tess_i64 : tess_u64;
}

/* out as another view of in's block. */
static void share(cli_trial *trial, const int64_t *shape) {
    trial->out = trial->in;
    memcpy(trial->out.shape, shape, sizeof *shape * (size_t)trial->in.tensor.ndim);
    trial->out.tensor.shape = trial->out.shape;
    trial->out.tensor.strides = NULL;
}

int cli_trial_make(cli_trial *trial, const cli_workload *w, cli_pages pages) {
    maker m = {.pages = pages};
    int64_t shape[4];
    int ndim = w->ndim;
    memset(trial, 0, sizeof *trial);
    trial->workload = w;
    memcpy(shape, w->shape, sizeof shape);
    if (strcmp(w->operation, "lookup") == 0) {
        make(&m, &trial->in, w->type, 1, &w->table, 0);
        make(&m, &trial->second, w->index, w->ndim, w->shape, w->table);
    } else {
        /* Of bytes none is the greatest, behind which no more would be read. */
        make(&m, &trial->in, w->type, w->ndim, w->shape, strcmp(w->operation, "reduce") == 0 && w->type == tess_u8 ? UINT8_MAX : 0);
    }
    const tess_type weights = w->weights != tess_no_type ? w->weights : w->type == tess_f64 ? tess_f64 : tess_f32;
    const int64_t small = weights == tess_i8 ? 17 : 0; /* -8 .. 8 */
    m.pages = CLI_PAGES_HUGE;                          /* masks are looked at when a plan is made */
    if (w->separable)
        for (int k = 0; k < w->mask_ndim; k++)
            make(&m, &trial->masks[k], weights, 1, &w->mask[k], small);
    else if (w->mask_ndim > 0)
        make(&m, &trial->masks[0], weights, w->mask_ndim, w->mask, small);
    if (strcmp(w->operation, "reduce") == 0) {
        ndim = 0;
        for (int d = 0; d < w->ndim && w->axis != CLI_ALL_AXES; d++)
            if (d != w->axis)
                shape[ndim++] = w->shape[d];
    } else if (strcmp(w->operation, "transpose") == 0) {
        for (int d = 0; d < ndim; d++)
            shape[d] = w->shape[w->perm[d]];
    }
    m.pages = pages;
    if (w->inplace)
        share(trial, shape);
    else
        make(&m, &trial->out, result_type(w), ndim, shape, -1);
    if (m.status == TESS_IO_OK)
        return CLI_OK;
    cli_trial_free(trial);
    return cli_fail_io(m.status, &m.message);
}

void cli_trial_free(cli_trial *trial) {
    if (trial->out.block != trial->in.block)
        tess_io_free(&trial->out);
    tess_io_free(&trial->in);
    tess_io_free(&trial->second);
    for (int k = 0; k < 3; k++)
        tess_io_free(&trial->masks[k]);
}

tess_status cli_trial_plan(const cli_session *session, const cli_trial *t, const char *strategy, tess_plan **plan) {
    const cli_workload *w = t->workload;
    const DLTensor *in = &t->in.tensor, *out = &t->out.tensor;
    if (strcmp(w->operation, "correlate") == 0) {
        const DLTensor *list[3] = {&t->masks[0].tensor, &t->masks[1].tensor, &t->masks[2].tensor};
        static const int first[3] = {0, 1, 2};
        tess_correlate_options options = {.struct_size = sizeof options, .boundary = w->boundary, .accuracy = w->accuracy, .call.strategy = strategy};
        if (w->pixels) {
            options.axes = first;
            options.naxes = w->mask_ndim;
        }
        return tess_plan_correlate(plan, session->context, in, list, w->separable ? w->mask_ndim : 1, out, &options);
    }
    if (strcmp(w->operation, "reduce") == 0) {
        tess_reduce_options options = {.struct_size = sizeof options, .exact = w->exact, .call.strategy = strategy};
        if (w->axis != CLI_ALL_AXES) {
            options.axes = &w->axis;
            options.naxes = 1;
        }
        return tess_plan_reduce(plan, session->context, w->reduction, in, out, &options);
    }
    if (strcmp(w->operation, "transpose") == 0) {
        tess_transpose_options options = {.struct_size = sizeof options, .perm = w->perm, .nperm = w->ndim, .call.strategy = strategy};
        return tess_plan_transpose(plan, session->context, in, out, &options);
    }
    tess_lookup_options options = {.struct_size = sizeof options, .call.strategy = strategy};
    enum { MOST_POSITIONS = 1000 };
    double at[MOST_POSITIONS]; /* from 0 to n */
    int64_t n = w->table;
    const DLTensor positions = tess_view(at, tess_f64, 1, &n, NULL);
    for (int64_t k = 0; w->positions && k < n; k++) {
        const double share = (double)k / (double)(n - 1);
        at[k] = (double)n * (share + share * share) / 2;
    }
    options.positions = w->positions ? &positions : NULL;
    return tess_plan_lookup(plan, session->context, in, &t->second.tensor, out, &options);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

/* One run; where it is short and a meter has the caches, as many after it as take a millisecond, and the mean of those. */
static tess_status run_round(const cli_trial *trial, const tess_plan *plan, bool metered, cli_timing *timing, double *seconds) {
    const double short_seconds = 1e-3;
    tess_call call = {.report = &timing->report};
    double spent = 0;
    for (int run = -metered;; run++) {
        tess_status status = tess_execute(plan, trial->in.block, trial->second.block, trial->out.block, &call);
        if (status != TESS_OK)
            return status;
        double took = timing->report.seconds;
        if (run < 0 && took < short_seconds)
            continue;
        run += run < 0;
        spent += took;
        timing->runs++;
        *seconds = spent / (run + 1);
        if (!metered || spent >= short_seconds)
            return TESS_OK;
    }
}

tess_status cli_trial_time(const cli_trial *trial, const tess_plan *plan, const cli_effort *effort, cli_meter *meter, cli_timing *timing) {
    enum { MOST = 1001 };
    double times[MOST], limits[MOST] = {0}, shares[MOST] = {0}, before = 0, after = 0, spent = 0;
    int rounds = 0;
    memset(timing, 0, sizeof *timing);
    timing->report.struct_size = sizeof timing->report;
    tess_status status = run_round(trial, plan, false, timing, &times[0]); /* touches the pages and is not counted */
    timing->runs = 0;
    if (status == TESS_OK && meter)
        status = cli_meter_read(meter, trial, &before);
    while (status == TESS_OK && rounds < MOST) {
        bool enough = rounds >= effort->least && spent >= effort->seconds;
        if (rounds > 0 && (enough || (effort->most_seconds > 0 && spent >= effort->most_seconds)))
            break;
        status = run_round(trial, plan, meter != NULL, timing, &times[rounds]);
        if (status == TESS_OK && meter)
            status = cli_meter_read(meter, trial, &after);
        limits[rounds] = (before + after) / 2;
        shares[rounds] = limits[rounds] / times[rounds];
        before = after;
        spent += times[rounds++];
    }
    cli_progress_end(); /* before anything is printed beside the bar */
    if (status != TESS_OK)
        return status;
    timing->seconds = median(times, rounds);
    timing->least = times[0];
    timing->limit = median(limits, rounds);
    timing->fraction = median(shares, rounds);
    return TESS_OK;
}

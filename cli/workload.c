/* SPDX-License-Identifier: Apache-2.0
 * workload.c - the built-in problems. The list is a choice of those on which other libraries have been measured: streams that only memory can limit,
 * masks that only arithmetic can, and the awkward cases - odd sizes, short rows, reversed axes - on which most libraries fall far behind. */
#include "workload.h"

#include <stdlib.h>
#include <string.h>

#define Mi *1048576
#define BENCH CLI_FOR_BENCH
#define LADDER CLI_FOR_LADDER

const cli_workload cli_workloads[] = {
    {"correlate f32 16 Mi, 9 taps", "correlate", BENCH, tess_f32, 1, {16 Mi}, .mask_ndim = 1, .mask = {9}},
    {"correlate f32 16 Mi, 63 taps", "correlate", BENCH, tess_f32, 1, {16 Mi}, .mask_ndim = 1, .mask = {63}},
    {"correlate f32 509 x 521, 5 x 5", "correlate", LADDER, tess_f32, 2, {509, 521}, .mask_ndim = 2, .mask = {5, 5}},
    {"correlate f32 4096 x 4096, 3 x 3", "correlate", BENCH, tess_f32, 2, {4096, 4096}, .mask_ndim = 2, .mask = {3, 3}},
    {"correlate f32 4096 x 4096, 7 x 7", "correlate", BENCH, tess_f32, 2, {4096, 4096}, .mask_ndim = 2, .mask = {7, 7}},
    {"separable f32 4096 x 4096, 15 + 15", "correlate", BENCH, tess_f32, 2, {4096, 4096}, .mask_ndim = 2, .mask = {15, 15}, .separable = true},
    {"correlate u8 4096 x 4096, 3 x 3", "correlate", BENCH, tess_u8, 2, {4096, 4096}, .mask_ndim = 2, .mask = {3, 3}},
    {"correlate f32 256^3, 3 x 3 x 3", "correlate", BENCH, tess_f32, 3, {256, 256, 256}, .mask_ndim = 3, .mask = {3, 3, 3}},
    {"sum f32 64 Mi", "reduce", BENCH, tess_f32, 1, {64 Mi}, .reduction = TESS_SUM, .axis = CLI_ALL_AXES},
    {"sum f32 4 Mi", "reduce", LADDER, tess_f32, 1, {4 Mi}, .reduction = TESS_SUM, .axis = CLI_ALL_AXES},
    {"argmax f32 64 Mi", "reduce", BENCH, tess_f32, 1, {64 Mi}, .reduction = TESS_ARGMAX, .axis = CLI_ALL_AXES},
    {"sum u8 256 Mi", "reduce", BENCH, tess_u8, 1, {256 Mi}, .reduction = TESS_SUM, .axis = CLI_ALL_AXES},
    {"max i32 64 Mi", "reduce", BENCH, tess_i32, 1, {64 Mi}, .reduction = TESS_MAX, .axis = CLI_ALL_AXES},
    {"sum f32 8192 x 8192, axis 0", "reduce", BENCH, tess_f32, 2, {8192, 8192}, .reduction = TESS_SUM, .axis = 0},
    {"sum f32 8192 x 8192, axis 1", "reduce", BENCH, tess_f32, 2, {8192, 8192}, .reduction = TESS_SUM, .axis = 1},
    {"sum f32 4 Mi x 16, axis 1", "reduce", BENCH, tess_f32, 2, {4 Mi, 16}, .reduction = TESS_SUM, .axis = 1},
    {"transpose f32 1021 x 1019", "transpose", LADDER, tess_f32, 2, {1021, 1019}, .perm = {1, 0}},
    {"transpose f32 8192 x 8192", "transpose", BENCH, tess_f32, 2, {8192, 8192}, .perm = {1, 0}},
    {"transpose u8 8192 x 8192", "transpose", BENCH, tess_u8, 2, {8192, 8192}, .perm = {1, 0}},
    {"transpose f32 7001 x 6997", "transpose", BENCH, tess_f32, 2, {7001, 6997}, .perm = {1, 0}},
    {"transpose f32 32 x 64 x 128 x 128, (3, 2, 1, 0)", "transpose", BENCH, tess_f32, 4, {32, 64, 128, 128}, .perm = {3, 2, 1, 0}},
    {"transpose f32 32 x 64 x 128 x 128, (0, 2, 3, 1)", "transpose", BENCH, tess_f32, 4, {32, 64, 128, 128}, .perm = {0, 2, 3, 1}},
    {"lookup f32[4096] by i32 2 Mi", "lookup", LADDER, tess_f32, 1, {2 Mi}, .table = 4096, .index = tess_i32},
    {"lookup f32[4096] by i32 32 Mi", "lookup", BENCH, tess_f32, 1, {32 Mi}, .table = 4096, .index = tess_i32},
    {"lookup f32[65536] by u16 32 Mi", "lookup", BENCH, tess_f32, 1, {32 Mi}, .table = 65536, .index = tess_u16},
    {"lookup u8[256] by u8 64 Mi", "lookup", BENCH, tess_u8, 1, {64 Mi}, .table = 256, .index = tess_u8},
    {"interpolate f32[1024] at f32 32 Mi", "lookup", BENCH, tess_f32, 1, {32 Mi}, .table = 1024, .index = tess_f32},
};
const int cli_workload_count = (int)(sizeof cli_workloads / sizeof cli_workloads[0]);

/* SplitMix64 (Steele, Lea, Flood 2014), in blocks: each 64 bits serve as many elements as they hold. */
static uint64_t random64(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* below > 0: whole numbers 0 .. below-1 (indices, coordinates); else integers over their whole range and floats in -1 .. 1. */
static void fill(tess_io_array *a, int64_t below) {
    uint64_t state = 1;
    tess_type type = tess_io_type(a);
    int64_t count = tess_io_count(&a->tensor);
    if (type == tess_f32) {
        float *p = a->block;
        for (int64_t i = 0; i < count; i++)
            p[i] = below > 0 ? (float)(random64(&state) >> 40) * 0x1p-24f * (float)(below - 1) : (float)(int32_t)random64(&state) * 0x1p-31f;
    } else if (type == tess_i32 && below > 0) {
        for (int64_t i = 0; i < count; i++)
            ((int32_t *)a->block)[i] = (int32_t)(random64(&state) % (uint64_t)below);
    } else { /* u8 and u16 indices meet tables of 256 and 65536 */
        for (size_t at = 0; at < a->block_size; at += 8) {
            uint64_t r = random64(&state);
            memcpy((char *)a->block + at, &r, a->block_size - at < 8 ? a->block_size - at : 8);
        }
    }
}

static tess_io_status make(tess_io_array *a, tess_type type, int ndim, const int64_t *shape, int64_t below, tess_io_message *message) {
    tess_io_status status = tess_io_make(a, type, ndim, shape, "a workload's array", message);
    if (status == TESS_IO_OK && below >= 0)
        fill(a, below);
    return status;
}

int cli_trial_make(cli_trial *trial, const cli_workload *w) {
    tess_io_message message;
    tess_io_status status;
    int64_t shape[4];
    int ndim = w->ndim;
    memset(trial, 0, sizeof *trial);
    trial->workload = w;
    memcpy(shape, w->shape, sizeof shape);
    if (strcmp(w->operation, "lookup") == 0) {
        status = make(&trial->in, w->type, 1, &w->table, 0, &message);
        if (status == TESS_IO_OK)
            status = make(&trial->second, w->index, w->ndim, w->shape, w->table, &message);
    } else {
        status = make(&trial->in, w->type, w->ndim, w->shape, 0, &message);
    }
    if (w->separable)
        for (int k = 0; k < w->mask_ndim && status == TESS_IO_OK; k++)
            status = make(&trial->masks[k], tess_f32, 1, &w->mask[k], 0, &message);
    else if (w->mask_ndim > 0 && status == TESS_IO_OK)
        status = make(&trial->masks[0], tess_f32, w->mask_ndim, w->mask, 0, &message);
    tess_type type = w->type;
    if (strcmp(w->operation, "reduce") == 0) {
        ndim = 0;
        for (int d = 0; d < w->ndim && w->axis != CLI_ALL_AXES; d++)
            if (d != w->axis)
                shape[ndim++] = w->shape[d];
        type = w->reduction == TESS_ARGMAX ? tess_i64 : w->reduction == TESS_SUM && w->type != tess_f32 ? tess_u64 : w->type;
    } else if (strcmp(w->operation, "transpose") == 0) {
        for (int d = 0; d < ndim; d++)
            shape[d] = w->shape[w->perm[d]];
    }
    if (status == TESS_IO_OK)
        status = make(&trial->out, type, ndim, shape, -1, &message);
    if (status == TESS_IO_OK)
        return CLI_OK;
    cli_trial_free(trial);
    return cli_fail_io(status, &message);
}

void cli_trial_free(cli_trial *trial) {
    tess_io_free(&trial->in);
    tess_io_free(&trial->second);
    for (int k = 0; k < 3; k++)
        tess_io_free(&trial->masks[k]);
    tess_io_free(&trial->out);
}

tess_status cli_trial_plan(const cli_session *session, const cli_trial *t, const char *strategy, tess_plan **plan) {
    const cli_workload *w = t->workload;
    if (strcmp(w->operation, "correlate") == 0) {
        const DLTensor *list[3] = {&t->masks[0].tensor, &t->masks[1].tensor, &t->masks[2].tensor};
        tess_correlate_options options = {.struct_size = sizeof options, .boundary = TESS_BOUNDARY_REFLECT, .call.strategy = strategy};
        return tess_plan_correlate(plan, session->context, &t->in.tensor, list, w->separable ? w->mask_ndim : 1, &t->out.tensor, &options);
    }
    if (strcmp(w->operation, "reduce") == 0) {
        tess_reduce_options options = {.struct_size = sizeof options, .call.strategy = strategy};
        if (w->axis != CLI_ALL_AXES) {
            options.axes = &w->axis;
            options.naxes = 1;
        }
        return tess_plan_reduce(plan, session->context, w->reduction, &t->in.tensor, &t->out.tensor, &options);
    }
    if (strcmp(w->operation, "transpose") == 0) {
        tess_transpose_options options = {.struct_size = sizeof options, .perm = w->perm, .nperm = w->ndim, .call.strategy = strategy};
        return tess_plan_transpose(plan, session->context, &t->in.tensor, &t->out.tensor, &options);
    }
    tess_lookup_options options = {.struct_size = sizeof options, .call.strategy = strategy};
    return tess_plan_lookup(plan, session->context, &t->in.tensor, &t->second.tensor, &t->out.tensor, &options);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

tess_status cli_trial_time(const cli_trial *trial, const tess_plan *plan, int least, double seconds, double *median, tess_report *report) {
    enum { MOST = 1001 };
    double times[MOST], spent = 0;
    int n = 0;
    tess_call call = {.report = report};
    report->struct_size = sizeof *report;
    const void *second = trial->second.block;
    do { /* the first run touches the pages and is not counted */
        tess_status status = tess_execute(plan, trial->in.block, second, trial->out.block, &call);
        if (status != TESS_OK)
            return status;
        if (n > 0) {
            times[n - 1] = report->seconds;
            spent += report->seconds;
        }
        n++;
    } while (n - 1 < least || (spent < seconds && n - 1 < MOST));
    n--;
    cli_progress_end(); /* before anything is printed beside the bar */
    qsort(times, (size_t)n, sizeof *times, ascending);
    *median = times[n / 2];
    return TESS_OK;
}

double cli_limit_seconds(const cli_workload *workload, const tess_report *report, const tess_limits *limits) {
    bool reads = strcmp(workload->operation, "reduce") == 0;
    double bytes = report->bytes / (reads ? limits->read_bytes_per_s : limits->copy_bytes_per_s);
    double flops = report->flops / limits->f32_flops_per_s;
    return bytes > flops ? bytes : flops;
}

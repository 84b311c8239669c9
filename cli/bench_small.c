/* SPDX-License-Identifier: Apache-2.0
 * bench_small.c - `bench small`: what a call costs when there is next to no work, for one element and for a thousand: with a plan at hand, and as one simple call,
 * which checks, chooses, executes and forgets. What a call on one element takes is what every call spends above its arithmetic. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "workload.h"

enum { MOST = 1024, TAPS = 3, ENTRIES = 256 };

typedef struct small {
    cli_session *session;
    int64_t count;
    float in[MOST], out[MOST], mask[TAPS];
    uint8_t index[MOST];
    DLTensor in_view, out_view, mask_view, table_view, index_view, one_view;
    int64_t shape[2], turned[2], taps[1], entries[1];
    tess_plan *plan;
    tess_status status;
} small;

static void views(small *s, int rank) {
    s->shape[0] = rank == 1 ? s->count : s->count == 1 ? 1 : 25;
    s->shape[1] = s->turned[0] = s->count / s->shape[0];
    s->turned[1] = s->shape[0];
    s->taps[0] = TAPS;
    s->entries[0] = ENTRIES;
    s->in_view = tess_view(s->in, tess_f32, rank, s->shape, NULL);
    s->out_view = tess_view(s->out, tess_f32, rank, rank == 1 ? s->shape : s->turned, NULL);
    s->one_view = tess_view(s->out, tess_f32, 0, NULL, NULL);
    s->mask_view = tess_view(s->mask, tess_f32, 1, s->taps, NULL);
    s->table_view = tess_view(s->in, tess_f32, 1, s->entries, NULL);
    s->index_view = tess_view(s->index, tess_u8, 1, s->shape, NULL);
}

/* The four simple calls, and their plans. */
static tess_status correlate(small *s) { return tess_correlate(s->session->context, &s->in_view, &s->mask_view, &s->out_view, NULL); }
static tess_status reduce(small *s) { return tess_reduce(s->session->context, TESS_SUM, &s->in_view, &s->one_view, NULL); }
static tess_status transpose(small *s) { return tess_transpose(s->session->context, &s->in_view, &s->out_view, NULL); }
static tess_status lookup(small *s) { return tess_lookup(s->session->context, &s->table_view, &s->index_view, &s->out_view, NULL); }
static tess_status plan_correlate(small *s) {
    const DLTensor *mask = &s->mask_view;
    return tess_plan_correlate(&s->plan, s->session->context, &s->in_view, &mask, 1, &s->out_view, NULL);
}
static tess_status plan_reduce(small *s) { return tess_plan_reduce(&s->plan, s->session->context, TESS_SUM, &s->in_view, &s->one_view, NULL); }
static tess_status plan_transpose(small *s) { return tess_plan_transpose(&s->plan, s->session->context, &s->in_view, &s->out_view, NULL); }
static tess_status plan_lookup(small *s) {
    return tess_plan_lookup(&s->plan, s->session->context, &s->table_view, &s->index_view, &s->out_view, NULL);
}
static tess_status execute(small *s) { return tess_execute(s->plan, s->in, NULL, s->out, NULL); }
static tess_status execute_lookup(small *s) { return tess_execute(s->plan, s->in, s->index, s->out, NULL); }

static const struct {
    const char *name;
    int rank;
    tess_status (*call)(small *), (*plan)(small *), (*execute)(small *);
} kinds[] = {{"correlate f32, 3 taps", 1, correlate, plan_correlate, execute},
             {"sum f32", 1, reduce, plan_reduce, execute},
             {"transpose f32", 2, transpose, plan_transpose, execute},
             {"lookup f32[256] by u8", 1, lookup, plan_lookup, execute_lookup}};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over rounds of BATCH calls, a clock's reading being too long for one of them. */
static double time_of(small *s, tess_status (*call)(small *), double seconds) {
    enum { BATCH = 200, ROUNDS = 201, LEAST = 5 };
    double times[ROUNDS], start = now();
    int n = 0;
    for (int round = -1; round < ROUNDS && (round < LEAST || now() - start < seconds) && s->status == TESS_OK; round++) {
        double before = now();
        for (int k = 0; k < BATCH && s->status == TESS_OK; k++)
            s->status = call(s);
        if (round >= 0)
            times[n++] = (now() - before) / BATCH;
    }
    qsort(times, (size_t)n, sizeof *times, ascending);
    return n ? times[n / 2] : 0;
}

int cli_bench_small(cli_session *session) {
    static const int64_t counts[] = {1, 1000};
    small *s = calloc(1, sizeof *s);
    json_t *results = json_array();
    if (!s)
        return cli_fail(CLI_FAILED, "%zu bytes could not be allocated", sizeof *s);
    s->session = session;
    for (int i = 0; i < MOST; i++) {
        s->in[i] = (float)(i % 37) - 18;
        s->index[i] = (uint8_t)(i * 7);
    }
    s->mask[0] = s->mask[1] = s->mask[2] = 0.25f;
    if (!session->options.json)
        printf("%-24s %10s %14s %14s\n", "microseconds a call", "elements", "with a plan", "simple call");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] && s->status == TESS_OK; k++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0] && s->status == TESS_OK; c++) {
            s->count = counts[c];
            views(s, kinds[k].rank);
            s->status = kinds[k].plan(s);
            double with_plan = time_of(s, kinds[k].execute, cli_seconds(session) / 8), simple = time_of(s, kinds[k].call, cli_seconds(session) / 8);
            tess_plan_free(s->plan);
            s->plan = NULL;
            json_array_append_new(results, json_pack("{s:s, s:I, s:f, s:f}", "workload", kinds[k].name, "elements", (json_int_t)s->count,
                                                     "plan_seconds", with_plan, "call_seconds", simple));
            if (!session->options.json)
                printf("%-24s %10lld %14.3f %14.3f\n", kinds[k].name, (long long)s->count, with_plan * 1e6, simple * 1e6);
        }
    tess_status status = s->status;
    free(s);
    if (status == TESS_OK && session->options.json) {
        json_dumpf(results, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        printf("\n");
    }
    json_decref(results);
    return status == TESS_OK ? cli_flush() : cli_fail_library();
}

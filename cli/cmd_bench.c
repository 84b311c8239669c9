/* SPDX-License-Identifier: Apache-2.0
 * cmd_bench.c - bench: the machine's limits, then the workloads against them.
 *
 * The limit of a workload is measured in turns with it: on a machine with other guests memory is up to twice as fast one second as the next, and a
 * share of a limit of another minute says nothing. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

static json_t *limits_json(const tess_limits *l) {
    const struct {
        const char *name;
        double value;
    } list[] = {{"read_bytes_per_s", l->read_bytes_per_s},
                {"copy_bytes_per_s", l->copy_bytes_per_s},
                {"write_bytes_per_s", l->write_bytes_per_s},
                {"plain_copy_bytes_per_s", l->plain_copy_bytes_per_s},
                {"plain_write_bytes_per_s", l->plain_write_bytes_per_s},
                {"cached_read_bytes_per_s", l->cached_read_bytes_per_s},
                {"cached_copy_bytes_per_s", l->cached_copy_bytes_per_s},
                {"random_reads_per_s", l->random_reads_per_s},
                {"f32_flops_per_s", l->f32_flops_per_s},
                {"f64_flops_per_s", l->f64_flops_per_s}};
    json_t *object = json_pack("{s:i, s:I}", "threads", l->threads, "array_bytes", (json_int_t)l->array_bytes);
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++)
        json_object_set_new(object, list[k].name, json_real(list[k].value));
    return object;
}

static void print_limits(const tess_limits *l) {
    printf("limits of this machine, %d thread%s: read %.2f GB/s, copy %.2f GB/s, write %.2f GB/s, f32 %.1f GFLOP/s, f64 %.1f GFLOP/s\n"
           "with ordinary stores: copy %.2f GB/s, write %.2f GB/s; in a core's cache: read %.1f GB/s, copy %.1f GB/s; random reads: %.0f M/s\n",
           l->threads, l->threads == 1 ? "" : "s", l->read_bytes_per_s * 1e-9, l->copy_bytes_per_s * 1e-9, l->write_bytes_per_s * 1e-9,
           l->f32_flops_per_s * 1e-9, l->f64_flops_per_s * 1e-9, l->plain_copy_bytes_per_s * 1e-9, l->plain_write_bytes_per_s * 1e-9,
           l->cached_read_bytes_per_s * 1e-9, l->cached_copy_bytes_per_s * 1e-9, l->random_reads_per_s * 1e-6);
}

typedef struct bench {
    cli_session *session;
    tess_limits limits; /* measured first */
    cli_meter *meter;
    json_t *results; /* NULL: text */
} bench;

static void tell(const bench *b, const cli_trial *trial, const cli_timing *t, bool chosen) {
    const cli_workload *w = trial->workload;
    cli_bound bound = cli_trial_bound(trial, &b->limits);
    double gb = bound.bytes / t->seconds * 1e-9, gflops = bound.flops / t->seconds * 1e-9;
    if (b->results)
        json_array_append_new(b->results,
                              json_pack("{s:s, s:s, s:b, s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:s, s:f}", "workload", w->name, "operation",
                                        w->operation, "chosen", chosen, "strategy", t->report.strategy, "isa", t->report.isa, "threads",
                                        t->report.threads, "runs", t->runs, "seconds", t->seconds, "least_seconds", t->least, "gb_per_s", gb,
                                        "gflops_per_s", gflops, "limit_seconds", t->limit, "bound", bound.name, "fraction_of_limit", t->fraction));
    else
        printf("%-48s %10.3f ms %8.2f GB/s %8.1f GFLOP/s %5.0f %% of %-8s %s %s\n", chosen ? w->name : "", t->seconds * 1e3, gb, gflops,
               100 * t->fraction, bound.name, t->report.strategy, t->report.isa);
    fflush(stdout);
}

/* One strategy, NULL: the chosen one. One that cannot run here is no failure, and has no runs. */
static int bench_row(const bench *b, const cli_trial *trial, const char *strategy, cli_timing *timing) {
    const cli_options *o = &b->session->options;
    tess_plan *plan = NULL;
    cli_effort effort = {.least = o->rounds > 0 ? o->rounds : 5, .seconds = cli_seconds(b->session)};
    effort.most_seconds = strategy ? 4 * effort.seconds : 0;
    timing->runs = 0;
    tess_status status = cli_trial_plan(b->session, trial, strategy, &plan);
    if (status == TESS_ERR_STRATEGY)
        return CLI_OK;
    if (status == TESS_OK)
        status = cli_trial_time(trial, plan, &effort, b->meter, timing);
    tess_plan_free(plan);
    return status == TESS_OK ? CLI_OK : cli_fail_library();
}

static bool is_reference(const char *name) {
    const char *slash = strchr(name, '/');
    return slash && strcmp(slash, "/reference") == 0;
}

static int bench_trial(bench *b, const cli_trial *trial, cli_timing *timings) {
    int count = 1, code = bench_row(b, trial, NULL, &timings[0]);
    tess_strategy_info row;
    for (int i = 0; code == CLI_OK && b->session->options.rows && tess_strategy_get(i, &row); i++)
        if (strcmp(row.operation, trial->workload->operation) == 0 && strcmp(row.name, timings[0].report.strategy) != 0 && !is_reference(row.name))
            code = bench_row(b, trial, row.name, &timings[count++]);
    for (int k = 0; code == CLI_OK && k < count; k++)
        if (timings[k].runs > 0)
            tell(b, trial, &timings[k], k == 0);
    return code;
}

static int bench_workload(bench *b, const cli_workload *workload) {
    cli_trial trial;
    cli_timing *timings = calloc((size_t)tess_strategy_count() + 1, sizeof *timings);
    if (!timings)
        return cli_fail(CLI_FAILED, "no memory for the times of %d strategies", tess_strategy_count());
    int code = cli_trial_make(&trial, workload, (cli_pages)b->session->options.pages);
    if (code == CLI_OK) {
        code = bench_trial(b, &trial, timings);
        cli_trial_free(&trial);
    }
    free(timings);
    return code;
}

static int bench_all(bench *b, const char *only) {
    int code = CLI_OK;
    b->meter = cli_meter_make(b->session, &b->limits);
    if (!b->meter)
        return cli_fail(CLI_FAILED, "no memory for the arrays that limits are measured with");
    if (!b->results)
        printf("medians; the percentage is of the least time that the limit named beside it, measured in turns with each work, allows for the bytes "
               "or the direct "
               "method's flops\n");
    for (int k = 0; k < cli_workload_count && code == CLI_OK; k++)
        if (cli_workload_chosen(b->session, &cli_workloads[k], only))
            code = bench_workload(b, &cli_workloads[k]);
    cli_meter_free(b->meter);
    return code;
}

int cli_run_bench(cli_session *session) {
    const char *only = NULL;
    bench b = {.session = session, .limits.struct_size = sizeof b.limits};
    if (session->count == 1 && strcmp(session->operands[0], "small") == 0)
        return cli_bench_small(session);
    /* `bench limits`: the limits and nothing else */
    bool limits_only = session->count == 1 && strcmp(session->operands[0], "limits") == 0;
    int code = limits_only ? CLI_OK : cli_operation(session, &only);
    if (code == CLI_OK && !limits_only)
        code = cli_check_only(session, only);
    if (code == CLI_OK && tess_measure_limits(session->context, 4 * cli_seconds(session), &b.limits) != TESS_OK)
        code = cli_fail_library();
    if (code != CLI_OK)
        return code;
    if (session->options.json)
        b.results = json_array();
    else
        print_limits(&b.limits);
    if (!limits_only)
        code = bench_all(&b, only);
    if (b.results) {
        json_t *all = json_pack("{s:o, s:s, s:o}", "limits", limits_json(&b.limits), "pages",
                                session->options.pages == CLI_PAGES_HUGE ? "huge" : "ordinary", "results", b.results);
        if (code == CLI_OK) {
            json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
            printf("\n");
        }
        json_decref(all);
    }
    return code == CLI_OK ? cli_flush() : code;
}

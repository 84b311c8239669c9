/* SPDX-License-Identifier: Apache-2.0
 * cmd_bench.c - bench and tune: the machine's limits, then the workloads against them. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "workload.h"

static json_t *limits_json(const tess_limits *l) {
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f}", "threads", l->threads, "read_bytes_per_s", l->read_bytes_per_s, "copy_bytes_per_s",
                     l->copy_bytes_per_s, "write_bytes_per_s", l->write_bytes_per_s, "f32_flops_per_s", l->f32_flops_per_s, "f64_flops_per_s",
                     l->f64_flops_per_s);
}

static int bench_one(cli_session *session, const cli_workload *workload, const tess_limits *limits, json_t *results) {
    cli_trial trial;
    tess_plan *plan;
    tess_report report;
    double seconds;
    int code = cli_trial_make(&trial, workload);
    if (code != CLI_OK)
        return code;
    if (cli_trial_plan(session, &trial, NULL, &plan) != TESS_OK) {
        cli_trial_free(&trial);
        return cli_fail_library();
    }
    tess_status status = cli_trial_time(&trial, plan, 5, cli_seconds(session), &seconds, &report);
    if (status == TESS_OK) {
        double fraction = cli_limit_seconds(workload, &report, limits) / seconds;
        if (results)
            json_array_append_new(results, json_pack("{s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:f, s:f}", "workload", workload->name, "operation",
                                                     workload->operation, "strategy", report.strategy, "isa", report.isa, "threads", report.threads,
                                                     "seconds", seconds, "gb_per_s", report.bytes / seconds * 1e-9, "gflops_per_s",
                                                     report.flops / seconds * 1e-9, "fraction_of_limit", fraction));
        else
            printf("%-48s %10.3f ms %8.2f GB/s %8.1f GFLOP/s %5.0f %%  %s %s\n", workload->name, seconds * 1e3, report.bytes / seconds * 1e-9,
                   report.flops / seconds * 1e-9, 100 * fraction, report.strategy, report.isa);
        fflush(stdout);
    }
    tess_plan_free(plan);
    cli_trial_free(&trial);
    return status == TESS_OK ? CLI_OK : cli_fail_library();
}

int cli_run_bench(cli_session *session) {
    const char *only = NULL;
    tess_limits limits = {.struct_size = sizeof limits};
    /* `bench limits`: the limits and nothing else */
    bool limits_only = session->count == 1 && strcmp(session->operands[0], "limits") == 0;
    int code = limits_only ? CLI_OK : cli_operation(session, &only);
    if (code != CLI_OK)
        return code;
    if (tess_measure_limits(session->context, 4 * cli_seconds(session), &limits) != TESS_OK)
        return cli_fail_library();
    json_t *results = session->options.json ? json_array() : NULL;
    if (!results)
        printf("limits of this machine, %d thread%s: read %.2f GB/s, copy %.2f GB/s, write %.2f GB/s, f32 %.1f GFLOP/s, f64 %.1f GFLOP/s\n"
               "medians; the percentage is of the time that copying (reducing: reading) the bytes, or the flops, would take at least\n",
               limits.threads, limits.threads == 1 ? "" : "s", limits.read_bytes_per_s * 1e-9, limits.copy_bytes_per_s * 1e-9,
               limits.write_bytes_per_s * 1e-9, limits.f32_flops_per_s * 1e-9, limits.f64_flops_per_s * 1e-9);
    for (int k = 0; k < cli_workload_count && code == CLI_OK && !limits_only; k++)
        if ((cli_workloads[k].use & CLI_FOR_BENCH) && (!only || strcmp(only, cli_workloads[k].operation) == 0))
            code = bench_one(session, &cli_workloads[k], &limits, results);
    if (results) {
        json_t *all = json_pack("{s:o, s:o}", "limits", limits_json(&limits), "results", results);
        if (code == CLI_OK) {
            json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
            printf("\n");
        }
        json_decref(all);
    }
    return code == CLI_OK ? cli_flush() : code;
}

static int tune_one(cli_session *session, const cli_workload *workload) {
    cli_trial trial;
    tess_plan *plan = NULL;
    int code = cli_trial_make(&trial, workload);
    if (code != CLI_OK)
        return code;
    if (cli_trial_plan(session, &trial, NULL, &plan) != TESS_OK || tess_tune(plan, cli_seconds(session)) != TESS_OK)
        code = cli_fail_library();
    tess_plan_free(plan);
    plan = NULL;
    tess_report report;
    double seconds;
    if (code == CLI_OK &&
        (cli_trial_plan(session, &trial, NULL, &plan) != TESS_OK || cli_trial_time(&trial, plan, 1, 0, &seconds, &report) != TESS_OK))
        code = cli_fail_library();
    if (code == CLI_OK && !session->options.quiet && !session->options.json)
        printf("%-48s %s\n", workload->name, report.strategy);
    fflush(stdout);
    tess_plan_free(plan);
    cli_trial_free(&trial);
    return code;
}

static tess_status write_wisdom(void *context, tess_format format, char *text, size_t capacity, size_t *length) {
    (void)format;
    return tess_wisdom_export(context, text, capacity, length);
}

int cli_run_tune(cli_session *session) {
    const char *only;
    if (!session->context) { /* a whole command: it is planned, tuned and saved as it would have run */
        const cli_command *command = cli_command_named(session->operands[0]);
        if (!command || !(command->bit & (CLI_CORRELATE | CLI_CONVOLVE | CLI_REDUCE | CLI_TRANSPOSE | CLI_LOOKUP)))
            return cli_fail(CLI_USAGE, "tune: an operation or a whole command is needed, such as `tessera tune reduce sum x.npy`");
        return cli_start(command, CLI_MODE_TUNE, session->count, session->operands);
    }
    if (session->count > 1)
        return cli_fail(CLI_USAGE, "tune: options follow the operation or come before it; `tessera help tune`");
    int code = cli_operation(session, &only);
    for (int k = 0; k < cli_workload_count && code == CLI_OK; k++)
        if (!only || strcmp(only, cli_workloads[k].operation) == 0)
            code = tune_one(session, &cli_workloads[k]);
    if (code == CLI_OK)
        code = cli_save_wisdom(session);
    if (code == CLI_OK && session->options.json)
        return cli_print_text(write_wisdom, session->context, TESS_TEXT);
    return code == CLI_OK ? cli_flush() : code;
}

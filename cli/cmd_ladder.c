/* SPDX-License-Identifier: Apache-2.0
 * cmd_ladder.c - every strategy as a rung: whether its bits are the reference's; its time and how far it gets, or, for one of a GPU, its counts on the
 * virtual GPU and the time that the model gives it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

enum { COUNTS = 131072 };

/* The last row of the operation's table for the CPU, which is the reference. */
static const char *reference_of(const char *operation) {
    const char *name = NULL;
    tess_strategy_info row;
    for (int i = 0; tess_strategy_get(i, &row); i++)
        if (strcmp(row.operation, operation) == 0 && strcmp(row.target, "cpu") == 0)
            name = row.name;
    return name;
}

/* One rung as an object. expected: the reference's result. */
static json_t *rung(cli_session *session, const cli_trial *trial, const tess_strategy_info *row, const void *expected, const tess_limits *limits) {
    tess_plan *plan = NULL;
    cli_timing timing;
    const cli_effort effort = {.least = 3, .seconds = cli_seconds(session)};
    json_t *object = json_pack("{s:s, s:s, s:s}", "strategy", row->name, "idea", row->idea, "source", row->source);
    size_t size = trial->out.block_size;
    memset(trial->out.block, 0xa5, size);
    tess_status status = cli_trial_plan(session, trial, row->name, &plan);
    if (status == TESS_OK)
        status = cli_trial_time(trial, plan, &effort, &timing);
    if (status != TESS_OK) {
        const char *why = strstr(tess_detail(), "cannot run here: "); /* the name stands before it anyway */
        json_object_set_new(object, status == TESS_ERR_STRATEGY ? "cannot" : "failed", json_string(why ? why : tess_detail()));
    } else {
        json_object_set_new(object, "same_bits", json_boolean(memcmp(expected, trial->out.block, size) == 0));
        double seconds = timing.seconds;
        json_object_set_new(object, "isa", json_string(timing.report.isa));
        json_object_set_new(object, "threads", json_integer(timing.report.threads));
        json_object_set_new(object, "seconds", json_real(seconds));
        json_object_set_new(object, "gb_per_s", json_real(timing.report.bytes / seconds * 1e-9));
        json_object_set_new(object, "gflops_per_s", json_real(timing.report.flops / seconds * 1e-9));
        json_object_set_new(object, "fraction_of_limit", json_real(cli_trial_bound(trial, limits).seconds / seconds));
    }
    tess_plan_free(plan);
    return object;
}

/* A strategy of a GPU, counted on the virtual one. session: with a context of that engine, or none, and then tess_detail says why. */
static json_t *counted_rung(const cli_session *session, const cli_trial *trial, const tess_strategy_info *row, const void *expected) {
    tess_plan *plan = NULL;
    json_t *object = json_pack("{s:s, s:s, s:s}", "strategy", row->name, "idea", row->idea, "source", row->source), *counted = NULL;
    char *counts = malloc(COUNTS);
    size_t size = trial->out.block_size, length;
    memset(trial->out.block, 0xa5, size);
    tess_status status = !session->context ? TESS_ERR_ENGINE : counts ? cli_trial_plan(session, trial, row->name, &plan) : TESS_ERR_MEMORY;
    bool planned = status == TESS_OK;
    if (planned)
        status = tess_profile_plan(plan, trial->in.block, trial->second.block, trial->out.block, NULL, counts, COUNTS, &length);
    if (status == TESS_OK && !(counted = json_loads(counts, 0, NULL)))
        status = TESS_ERR_INTERNAL;
    if (status != TESS_OK) {
        const char *why = strstr(tess_detail(), "cannot run here: ");
        json_object_set_new(object, !planned && (status == TESS_ERR_STRATEGY || status == TESS_ERR_ENGINE) ? "cannot" : "failed",
                            json_string(why ? why : tess_detail()));
    } else {
        json_object_set_new(object, "same_bits", json_boolean(memcmp(expected, trial->out.block, size) == 0));
        json_object_set_new(object, "counted", counted);
    }
    tess_plan_free(plan);
    free(counts);
    return object;
}

/* All rungs of one workload; NULL with the line printed when it cannot be run at all. */
static json_t *climb(cli_session *session, const cli_session *virtual_gpu, const cli_workload *workload, const tess_limits *limits) {
    cli_trial trial;
    tess_plan *plan = NULL;
    tess_strategy_info row;
    const cli_effort once = {.least = 1};
    cli_timing timing;
    if (cli_trial_make(&trial, workload, CLI_PAGES_HUGE) != CLI_OK)
        return NULL;
    void *expected = malloc(trial.out.block_size);
    json_t *rungs = json_array();
    if (!expected) {
        cli_fail(CLI_FAILED, "%zu bytes for the reference's result could not be allocated", trial.out.block_size);
    } else if (cli_trial_plan(session, &trial, reference_of(workload->operation), &plan) != TESS_OK ||
               cli_trial_time(&trial, plan, &once, &timing) != TESS_OK) {
        cli_fail_library();
        free(expected);
        expected = NULL;
    }
    tess_plan_free(plan);
    if (!expected) {
        json_decref(rungs);
        cli_trial_free(&trial);
        return NULL;
    }
    memcpy(expected, trial.out.block, trial.out.block_size);
    for (int i = 0; tess_strategy_get(i, &row); i++) {
        if (strcmp(row.operation, workload->operation) != 0)
            continue;
        if (strcmp(row.target, "cpu") == 0)
            json_array_insert_new(rungs, 0, rung(session, &trial, &row, expected, limits)); /* the reference first: a ladder is climbed */
        else
            json_array_append_new(rungs, counted_rung(virtual_gpu, &trial, &row, expected));
    }
    free(expected);
    cli_trial_free(&trial);
    return json_pack("{s:s, s:s, s:o}", "workload", workload->name, "operation", workload->operation, "rungs", rungs);
}

static double number(const json_t *object, const char *key) { return json_real_value(json_object_get(object, key)); }
static const char *text(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

/* What stands where the numbers would. */
static const char *verdict(const json_t *rung_object) {
    return json_object_get(rung_object, "failed") ? text(rung_object, "failed") : text(rung_object, "cannot");
}

static double count(const json_t *counted, const char *key) {
    return (double)json_integer_value(json_object_get(json_object_get(counted, "counters"), key));
}
static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

/* Of a counted rung, in one line. */
static void describe_counts(const json_t *counted, char *line, size_t size) {
    const json_t *holds = json_object_get(counted, "prediction_holds");
    double shared = count(counted, "shared_ld_requests") + count(counted, "shared_st_requests");
    snprintf(line, size, "%.2f us on the %s by the model, limited by %s; sectors a load %.1f, a store %.1f; wavefronts a shared access %.1f%s",
             number(counted, "seconds") * 1e6, text(counted, "card"), text(counted, "limiter"),
             ratio(count(counted, "global_ld_sectors"), count(counted, "global_ld_requests")),
             ratio(count(counted, "global_st_sectors"), count(counted, "global_st_requests")),
             ratio(count(counted, "shared_ld_wavefronts") + count(counted, "shared_st_wavefronts"), shared),
             json_is_true(holds)    ? "; counts as predicted"
             : json_is_false(holds) ? "; COUNTS OTHER THAN PREDICTED"
                                    : "");
}

static void print_text(const json_t *all) {
    size_t w, r;
    json_t *work, *step;
    char line[400];
    printf("small problems, so that the reference can run; what stays in the caches passes 100 %% of the limit, which is memory's\n\n");
    json_array_foreach(json_object_get(all, "ladders"), w, work) {
        printf("%s%s\n", w ? "\n" : "", text(work, "workload"));
        json_array_foreach(json_object_get(work, "rungs"), r, step) {
            if (json_object_get(step, "seconds"))
                printf("  %-24s %-14s %10.3f ms %8.2f GB/s %8.1f GFLOP/s %5.0f %%  %s, %d threads\n", text(step, "strategy"),
                       json_is_true(json_object_get(step, "same_bits")) ? "same bits" : "OTHER BITS", number(step, "seconds") * 1e3,
                       number(step, "gb_per_s"), number(step, "gflops_per_s"), 100 * number(step, "fraction_of_limit"), text(step, "isa"),
                       (int)json_integer_value(json_object_get(step, "threads")));
            else if (json_object_get(step, "counted")) {
                describe_counts(json_object_get(step, "counted"), line, sizeof line);
                printf("  %-24s %-14s %s\n", text(step, "strategy"), json_is_true(json_object_get(step, "same_bits")) ? "same bits" : "OTHER BITS",
                       line);
            } else
                printf("  %-24s %s\n", text(step, "strategy"), verdict(step));
            printf("  %-24s %s\n", "", text(step, "idea"));
        }
    }
}

static void print_escaped(const char *s) {
    for (; *s; s++)
        if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
            printf("&#%d;", *s);
        else
            putchar(*s);
}

static void print_html(const json_t *all) {
    size_t w, r;
    json_t *work, *step;
    char line[400];
    printf("<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Tessera's ladder</title>\n<style>body{font:15px "
           "sans-serif;margin:2em;max-width:70em}"
           "table{border-collapse:collapse;width:100%%}td,th{padding:.3em .6em;text-align:left;border-bottom:1px solid #ccc;vertical-align:top}"
           ".n{text-align:right;white-space:nowrap}.bar{background:#4a7;height:.6em}.bad{color:#b00;font-weight:bold}small{color:#555}</style>\n"
           "<h1>Tessera's ladder</h1>\n<p>Each strategy on one problem: checked against the reference bit for bit, timed (median), and compared with "
           "the limit that "
           "was measured on this machine.</p>\n");
    json_array_foreach(json_object_get(all, "ladders"), w, work) {
        printf("<h2>");
        print_escaped(text(work, "workload"));
        printf("</h2>\n<table><tr><th>strategy<th>bits<th class=n>time<th class=n>GB/s<th class=n>GFLOP/s<th class=n>of limit<th "
               "style=\"width:20%%\"></tr>\n");
        json_array_foreach(json_object_get(work, "rungs"), r, step) {
            double percent = 100 * number(step, "fraction_of_limit");
            printf("<tr><td>");
            print_escaped(text(step, "strategy"));
            printf("<br><small>");
            print_escaped(text(step, "idea"));
            printf("</small>");
            if (json_object_get(step, "counted")) {
                describe_counts(json_object_get(step, "counted"), line, sizeof line);
                bool same = json_is_true(json_object_get(step, "same_bits"));
                printf("<td%s>%s<td colspan=5>", same ? "" : " class=bad", same ? "same" : "OTHER");
                print_escaped(line);
                printf("</tr>\n");
                continue;
            }
            if (!json_object_get(step, "seconds")) {
                printf("<td colspan=6>");
                print_escaped(verdict(step));
                printf("</tr>\n");
                continue;
            }
            bool same = json_is_true(json_object_get(step, "same_bits"));
            printf("<td%s>%s<td class=n>%.3f ms<td class=n>%.2f<td class=n>%.1f<td class=n>%.0f %%<td><div class=bar "
                   "style=\"width:%.0f%%\"></div></tr>\n",
                   same ? "" : " class=bad", same ? "same" : "OTHER", number(step, "seconds") * 1e3, number(step, "gb_per_s"),
                   number(step, "gflops_per_s"), percent, percent > 100 ? 100 : percent);
        }
        printf("</table>\n");
    }
    printf("</html>\n");
}

/* A rung that failed or has other bits is a failure of the whole: nothing may be hidden in a table. */
static int judge(const json_t *all) {
    size_t w, r;
    json_t *work, *step;
    json_array_foreach(json_object_get(all, "ladders"), w, work) json_array_foreach(json_object_get(work, "rungs"), r, step) {
        if (json_object_get(step, "failed"))
            return cli_fail(CLI_FAILED, "%s failed: %s", text(step, "strategy"), text(step, "failed"));
        if (json_is_false(json_object_get(json_object_get(step, "counted"), "prediction_holds")))
            return cli_fail(CLI_FAILED, "%s has other counts than its formula predicts", text(step, "strategy"));
        if (json_is_false(json_object_get(step, "same_bits")))
            return cli_fail(CLI_FAILED, "%s gives other bits than the reference", text(step, "strategy"));
    }
    return CLI_OK;
}

int cli_run_ladder(cli_session *session) {
    const char *only;
    tess_limits limits = {.struct_size = sizeof limits};
    int code = cli_operation(session, &only);
    if (code != CLI_OK)
        return code;
    if (tess_measure_limits(session->context, 4 * cli_seconds(session), &limits) != TESS_OK)
        return cli_fail_library();
    cli_session virtual_gpu = *session;
    tess_context_options engine = {.struct_size = sizeof engine, .threads = session->options.threads, .engine = TESS_ENGINE_VIRTUAL};
    tess_open(&virtual_gpu.context, &engine); /* without one, each strategy that needs it says why it cannot run */
    json_t *ladders = json_array();
    for (int k = 0; k < cli_workload_count; k++) {
        const cli_workload *w = &cli_workloads[k];
        if (!(w->use & CLI_FOR_LADDER) || (only && strcmp(only, w->operation) != 0))
            continue;
        json_t *one = climb(session, &virtual_gpu, w, &limits);
        if (!one) {
            json_decref(ladders);
            tess_close(virtual_gpu.context);
            return CLI_FAILED;
        }
        json_array_append_new(ladders, one);
    }
    tess_close(virtual_gpu.context);
    json_t *all = json_pack("{s:f, s:f, s:f, s:o}", "read_bytes_per_s", limits.read_bytes_per_s, "copy_bytes_per_s", limits.copy_bytes_per_s,
                            "f32_flops_per_s", limits.f32_flops_per_s, "ladders", ladders);
    if (session->options.json) {
        json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        printf("\n");
    } else if (session->options.html) {
        print_html(all);
    } else {
        print_text(all);
    }
    code = cli_flush();
    if (code == CLI_OK)
        code = judge(all);
    json_decref(all);
    return code;
}

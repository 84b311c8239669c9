/* SPDX-License-Identifier: Apache-2.0
 * cmd_tune.c - tune: the built-in workloads, or a whole command as it would have run, timed and remembered. */
#include <stdio.h>
#include <string.h>

#include "workload.h"

static int tune_one(cli_session *session, const cli_workload *workload) {
    cli_trial trial;
    tess_plan *plan = NULL;
    int code = cli_trial_make(&trial, workload, CLI_PAGES_HUGE);
    if (code != CLI_OK)
        return code;
    if (cli_trial_plan(session, &trial, NULL, &plan) != TESS_OK || tess_tune(plan, cli_seconds(session)) != TESS_OK)
        code = cli_fail_library();
    tess_plan_free(plan);
    plan = NULL;
    const cli_effort once = {.least = 1};
    cli_timing result;
    if (code == CLI_OK && (cli_trial_plan(session, &trial, NULL, &plan) != TESS_OK || cli_trial_time(&trial, plan, &once, NULL, &result) != TESS_OK))
        code = cli_fail_library();
    if (code == CLI_OK && !session->options.quiet && !session->options.json)
        printf("%-48s %s\n", workload->name, result.report.strategy);
    fflush(stdout);
    tess_plan_free(plan);
    cli_trial_free(&trial);
    return code;
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
        return cli_fail(CLI_USAGE,
                        "tune: %d words where one operation was expected; the options of a whole command stand behind it, such as `tessera tune "
                        "reduce sum x.npy --seconds 1`",
                        session->count);
    int code = cli_operation(session, &only);
    if (code == CLI_OK)
        code = cli_check_only(session, only);
    for (int k = 0; k < cli_workload_count && code == CLI_OK; k++)
        if (cli_workload_chosen(session, &cli_workloads[k], only))
            code = tune_one(session, &cli_workloads[k]);
    if (code == CLI_OK)
        code = cli_save_wisdom(session);
    if (code == CLI_OK && session->options.json)
        return cli_print_wisdom(session);
    return code == CLI_OK ? cli_flush() : code;
}

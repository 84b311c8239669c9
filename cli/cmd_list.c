/* SPDX-License-Identifier: Apache-2.0
 * cmd_list.c - list, devices, explain: what there is and what would happen. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "workload.h"

int cli_run_list(cli_session *session) {
    const char *only, *last = "";
    tess_strategy_info row;
    if (session->count == 1 && strcmp(session->operands[0], "workloads") == 0)
        return cli_list_workloads(session);
    int code = cli_operation(session, &only);
    if (code != CLI_OK)
        return code;
    json_t *all = json_array();
    for (int i = 0; tess_strategy_get(i, &row); i++) {
        if (only && strcmp(only, row.operation) != 0)
            continue;
        if (session->options.json) {
            json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "name", row.name, "operation", row.operation, "idea",
                                                 row.idea, "source", row.source, "target", row.target, "isas", row.isas, "usable", row.usable));
            continue;
        }
        if (strcmp(last, row.operation) != 0)
            printf("%s%s\n", *last ? "\n" : "", row.operation);
        last = row.operation;
        printf("  %-24s %s%s\n  %-24s %s; %s%s%s\n", row.name, row.idea, row.usable ? "" : " (not on this machine)", "", row.target, row.isas,
               strcmp(row.source, "-") == 0 ? "" : "; ", strcmp(row.source, "-") == 0 ? "" : row.source);
    }
    if (session->options.json) {
        json_dumpf(all, stdout, JSON_INDENT(1));
        printf("\n");
    }
    json_decref(all);
    return cli_flush();
}

static tess_status write_devices(void *context, tess_format format, char *text, size_t capacity, size_t *length) {
    return tess_devices(context, format, text, capacity, length);
}

int cli_run_devices(cli_session *session) { return cli_print_text(write_devices, session->context, session->options.json ? TESS_JSON : TESS_TEXT); }

int cli_run_explain(cli_session *session) {
    const cli_command *command = session->count > 0 ? cli_command_named(session->operands[0]) : NULL;
    if (!command || !(command->bit & (CLI_CORRELATE | CLI_CONVOLVE | CLI_REDUCE | CLI_TRANSPOSE | CLI_LOOKUP)))
        return cli_fail(CLI_USAGE, "explain: a whole command is needed, such as `tessera explain reduce sum x.npy`");
    return cli_start(command, CLI_MODE_EXPLAIN, session->count, session->operands);
}

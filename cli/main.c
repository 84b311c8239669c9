/* SPDX-License-Identifier: Apache-2.0
 * main.c - the table of commands, and the start of one. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "io/output.h"

int main(int argc, char **argv) {
    tess_io_guard_signals(CLI_INPUT);
    if (argc < 2)
        return cli_fail(CLI_USAGE, "a command is needed: correlate, convolve, reduce, transpose, lookup, ...; `tessera help` lists them");
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        int version = tess_version();
        printf("tessera %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
        return cli_flush();
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    const cli_command *command = cli_command_named(name);
    if (!command)
        return cli_fail(CLI_USAGE, "there is no command \"%s\"; `tessera help` lists them", name);
    return cli_start(command, CLI_RUN, argc - 1, argv + 1);
}

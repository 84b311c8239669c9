/* SPDX-License-Identifier: Apache-2.0
 * help.c - the command's own words: help texts and the option table as JSON. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int cli_flush(void) {
    int error = 0;
    if (ferror(stdout)) { /* an earlier part did not go out, and why is forgotten: another byte is asked */
        error = EIO;
        putchar('\n');
    }
    if (fflush(stdout) != 0)
        error = errno;
    return error ? cli_fail(CLI_OUTPUT, "standard output cannot be written: %s", strerror(error)) : CLI_OK;
}

void cli_help_all(void) {
    printf("usage: tessera COMMAND ...\n\nFour operations on arrays in files, at the speed of memory, with the same bits everywhere.\n\n");
    for (const cli_command *c = cli_commands; c->name; c++)
        printf("  %-10s %-24s %s\n", c->name, c->operands, c->summary);
    printf("\nFiles: .npy (versions 1 to 3; mapped), PNG, TIFF, WAV, FLAC, told apart by content; - is standard input or output (.npy).\n"
           "`tessera help COMMAND` explains one; `tessera --version` tells the version; tessera(1) is the manual.\n\n"
           "Exit status: 0 done; 1 the work could not be done; 2 wrong use; 3 an input file is not there, damaged or beyond a limit;\n"
           "4 the output cannot be written; 5 a profiled kernel has faults or an output other than the one expected.\n");
}

static void print_wrapped(const char *text, int indent, int width) {
    int column = indent;
    for (const char *at = text; *at;) {
        int length = (int)strcspn(at, " ");
        if (column + 1 + length > width && column > indent)
            column = printf("\n%*s", indent, "") - 1;
        column += printf("%s%.*s", column > indent ? " " : "", length, at);
        at += length + (at[length] == ' ');
    }
    printf("\n");
}

void cli_help_command(const cli_command *command) {
    printf("usage: tessera %s%s%s\n\n%s: %s.\n%s%s\nOptions\n", command->name, command->operands[0] ? " " : "", command->operands, command->name,
           command->summary, command->about, command->about[0] ? "\n" : "");
    for (int r = 0; r < cli_option_count; r++) {
        const cli_option *o = &cli_option_table[r];
        if (!(o->commands & command->bit))
            continue;
        char left[64], letter[8] = "    ";
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->argument ? " " : "", o->argument ? o->argument : "");
        printf("  %-24s ", left);
        print_wrapped(o->help, 27, 140);
    }
}

int cli_help_json(void) {
    json_t *all = json_object();
    for (const cli_command *c = cli_commands; c->name; c++) {
        json_t *options = json_array();
        for (int r = 0; r < cli_option_count; r++) {
            const cli_option *o = &cli_option_table[r];
            if (!(o->commands & c->bit))
                continue;
            char letter[2] = {o->letter, 0};
            json_t *words = json_array();
            for (int w = 0; o->words && o->words[w]; w++)
                json_array_append_new(words, json_string(o->words[w]));
            json_array_append_new(options, json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", o->name, "letter", letter, "argument",
                                                     o->argument ? o->argument : "", "words", words, "help", o->help));
        }
        json_object_set_new(all, c->name, json_pack("{s:s, s:s, s:o}", "operands", c->operands, "summary", c->summary, "options", options));
    }
    json_dumpf(all, stdout, JSON_INDENT(1));
    json_decref(all);
    printf("\n");
    return cli_flush();
}

int cli_run_help(cli_session *session) {
    if (session->options.json)
        return cli_help_json();
    if (session->count == 0) {
        cli_help_all();
        return cli_flush();
    }
    const cli_command *command = cli_command_named(session->operands[0]);
    if (!command)
        return cli_fail(CLI_USAGE, "there is no command \"%s\"; `tessera help` lists them", session->operands[0]);
    cli_help_command(command);
    return cli_flush();
}

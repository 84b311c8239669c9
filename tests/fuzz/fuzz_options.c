/* SPDX-License-Identifier: Apache-2.0
 * fuzz_options.c - any words as a command line, one word a line, the first naming the command: options within their limits, or the usage exit code.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { WORDS = 64 };
    char *words[WORDS + 1] = {NULL}, *text = malloc(size + 1);
    int count = 0;
    memcpy(text, data, size);
    text[size] = 0;
    for (char *word = strtok(text, "\n"); word && count < WORDS; word = strtok(NULL, "\n"))
        words[count++] = word;
    const cli_command *command = count > 0 ? cli_command_named(words[0]) : NULL;
    if (command) {
        cli_session session = {.command = command};
        int code = cli_options_parse(&session, count, words);
        if (code != CLI_OK && code != CLI_USAGE)
            abort();
        if (code == CLI_OK && (session.options.naxes < 0 || session.options.naxes > TESS_MAX_NDIM || session.count < 0 || session.count > count ||
                               session.options.threads < 0))
            abort();
    }
    free(text);
    return 0;
}

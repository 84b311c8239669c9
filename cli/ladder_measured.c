/* SPDX-License-Identifier: Apache-2.0
 * ladder_measured.c - times that a card was measured to take, built in: the lines that `tessera ladder --engine cuda` prints, and bench/gpu too.
 *
 *     card NAME          date DATE          for the heading
 *     WORK | STRATEGY | MS ms | GB/s | TFLOP/s | PERCENT % ...          blanks around the bars; other lines are passed over */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ladder.h"

/* The file's bytes, by the assembler, with a 0 behind them; the build runs in the folder of the sources. */
__asm__(".pushsection .rodata\n"
        ".hidden cli_ladder_file\n"
        ".globl cli_ladder_file\n"
        "cli_ladder_file:\n"
        ".incbin \"bench/results/2026-11-20-h200-ladder-64mi.txt\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char cli_ladder_file[] __attribute__((visibility("hidden")));

enum { FIELDS = 6 };
typedef struct field {
    const char *at;
    int length;
} field;

/* The fields of a line that has FIELDS of them at least. */
static bool split(const char *line, int length, field *fields) {
    const char *end = line + length;
    for (int i = 0; i < FIELDS; i++) {
        const char *bar = memchr(line, '|', (size_t)(end - line)), *stop = bar ? bar : end;
        while (line < stop && *line == ' ')
            line++;
        fields[i].at = line;
        while (stop > line && stop[-1] == ' ')
            stop--;
        fields[i].length = (int)(stop - line);
        if (!bar && i < FIELDS - 1)
            return false;
        line = bar ? bar + 1 : end;
    }
    return true;
}

static bool is(field f, const char *text) { return (int)strlen(text) == f.length && memcmp(f.at, text, (size_t)f.length) == 0; }

bool cli_ladder_measured(const char *work, const char *strategy, double *seconds, double *fraction) {
    bool found = false;
    field fields[FIELDS];
    for (const char *line = cli_ladder_file; *line;) {
        int length = (int)strcspn(line, "\n");
        if (split(line, length, fields) && is(fields[0], work) && is(fields[1], strategy)) {
            *seconds = strtod(fields[2].at, NULL) * 1e-3;
            *fraction = strtod(fields[5].at, NULL) / 100;
            found = *seconds > 0;
        }
        line += length + (line[length] == '\n');
    }
    return found;
}

static void take(const char *word, char *to, size_t size) {
    const char *at = cli_ladder_file;
    size_t n = strlen(word);
    *to = 0;
    while (at && strncmp(at, word, n) != 0)
        at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    if (at)
        snprintf(to, size, "%.*s", (int)strcspn(at + n, "(\n") - (at[n + strcspn(at + n, "(\n") - 1] == ' '), at + n);
}

void cli_ladder_measured_on(char *text, size_t size) {
    char card[80], date[24];
    take("card      ", card, sizeof card);
    take("date      ", date, sizeof date);
    snprintf(text, size, "%s, %s", card, date);
}

/* SPDX-License-Identifier: Apache-2.0
 * progress.c - a bar on the terminal for work that takes over a second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static struct {
    double start, drawn; /* seconds */
    bool shown, coloured;
} bar;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int draw(void *user, double fraction) {
    enum { WIDTH = 40 };
    char done[WIDTH + 1];
    double t = now();
    (void)user;
    if (t - bar.start < 1.0 || t - bar.drawn < 0.1)
        return 0;
    bar.drawn = t;
    bar.shown = true;
    fraction = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
    for (int i = 0; i < WIDTH; i++)
        done[i] = (double)i < fraction * WIDTH ? '=' : ' ';
    done[WIDTH] = 0;
    fprintf(stderr, "\r[%s%s%s] %3.0f %%", bar.coloured ? "\033[36m" : "", done, bar.coloured ? "\033[0m" : "", 100 * fraction);
    fflush(stderr);
    return 0;
}

void cli_progress_start(tess_context_options *options, const cli_options *given) {
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bar.start = now();
    bar.coloured = !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0;
    if (!given->quiet && isatty(STDERR_FILENO))
        options->progress = draw;
}

void cli_progress_end(void) {
    if (bar.shown)
        fprintf(stderr, "\r%50s\r", "");
    bar.shown = false;
}

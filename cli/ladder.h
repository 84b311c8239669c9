/* SPDX-License-Identifier: Apache-2.0
 * ladder.h - what the files of `tessera ladder` share.
 *
 *   ladder_works.c --problems--> cmd_ladder.c --each strategy--> ladder_counts.c (virtual GPU), ladder_measured.c (times committed earlier)
 *                                --climbs--> ladder_text.c, ladder_json.c, ladder_html.c */
#ifndef TESS_CLI_LADDER_H
#define TESS_CLI_LADDER_H

#include "workload.h"

/* One problem in four sizes. check: small and odd, all checkers on, compared with the CPU. small, medium: counted, so that large can be extrapolated.
 * large: timed on a card. */
typedef struct cli_ladder_work {
    cli_workload check, small, medium, large;
} cli_ladder_work;

/* A strategy climbs on the first of the works that it can run. */
typedef struct cli_ladder {
    const char *name, *operation;
    const cli_ladder_work *works;
    int count;
} cli_ladder;
extern const cli_ladder cli_ladders[];
extern const int cli_ladder_count;

typedef enum cli_rung_state { CLI_RUNG_CANNOT = 0, CLI_RUNG_FAILED, CLI_RUNG_RAN } cli_rung_state;

struct json_t;

typedef struct cli_rung {
    tess_strategy_info row;
    cli_rung_state state;
    char why[400]; /* it cannot or failed */
    const char *work, *check;
    bool no_engine; /* what would run it is not there */
    bool same_bits;
    /* Timed, here or on the card. */
    double seconds, bytes, flops, fraction;
    char isa[16];
    int threads;
    /* Counted: the texts of tess_profile_plan and tess_profile_larger, and what the reports take from them. */
    struct json_t *counted, *larger;
    bool predicted, holds, agrees; /* counts by formula: there are some; at check they are exact; at large within 5 % of the line */
    double load_sectors, store_sectors, wavefronts, barriers; /* a request, a request, an access to shared memory; in all */
    double conflicts;
    char limiter[40];
    double model_seconds;
    /* On the card of the committed file; 0 = not there. */
    double measured_seconds, measured_fraction;
    double gain; /* how many times faster than the rung before: measured where both were, else by the model; 0 = unknown */
} cli_rung;

typedef struct cli_climb {
    const char *name, *operation;
    cli_rung *rungs; /* as they are climbed */
    int count;
} cli_climb;

typedef struct cli_climbs {
    cli_climb *at;
    int count;
    bool cpu, card, counted; /* what there is in it */
    tess_limits limits, card_limits;
} cli_climbs;

/* ladder_counts.c: the rung's strategy on the virtual GPU. virtual_gpu: a session whose context has that engine. */
void cli_ladder_on_virtual_gpu(const cli_session *virtual_gpu, const cli_trial *check, const cli_trial *small, const cli_trial *medium,
                               const cli_trial *large, const void *expected, cli_rung *rung);
void cli_ladder_counts_free(cli_rung *rung);

/* ladder_measured.c: seconds and fraction of the limit that the strategy was measured to take for the work; false when it was not. */
bool cli_ladder_measured(const char *work, const char *strategy, double *seconds, double *fraction);
void cli_ladder_measured_on(char *text, size_t size); /* "NVIDIA H200, 2026-11-20" */

/* Why the model is more than a quarter off, or NULL when it is not. */
const char *cli_ladder_unmodelled(const cli_rung *rung);

void cli_ladder_text(const cli_climbs *climbs);
int cli_ladder_json(const cli_climbs *climbs); /* an exit code */
void cli_ladder_html(const cli_climbs *climbs);

#endif

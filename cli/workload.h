/* SPDX-License-Identifier: Apache-2.0
 * workload.h - the built-in problems of ladder, bench and tune, and how they are timed. */
#ifndef TESS_CLI_WORKLOAD_H
#define TESS_CLI_WORKLOAD_H

#include "cli.h"

enum { CLI_FOR_BENCH = 1, CLI_FOR_LADDER = 2 };

typedef struct cli_workload {
    const char *name;      /* "sum f32 64 Mi" */
    const char *operation; /* "reduce" */
    unsigned use;
    tess_type type; /* of the input; lookup: of the table */
    int ndim;
    int64_t shape[4]; /* of the input; lookup: of the index */
    /* correlate: sizes of the mask, or of the factors */
    int mask_ndim;
    int64_t mask[3];
    bool separable;
    /* reduce */
    tess_reduction reduction;
    int axis; /* ALL_AXES or one */
    /* transpose */
    int perm[4];
    /* lookup */
    int64_t table;
    tess_type index;
} cli_workload;
enum { CLI_ALL_AXES = -1 };

extern const cli_workload cli_workloads[];
extern const int cli_workload_count;

/* The arrays of one workload: inputs filled with values that repeat from run to run, none of them a page of zeros. */
typedef struct cli_trial {
    const cli_workload *workload;
    tess_io_array in, second, masks[3], out;
} cli_trial;

int cli_trial_make(cli_trial *trial, const cli_workload *workload);
void cli_trial_free(cli_trial *trial);
/* The plan with a strategy pinned (NULL: the library chooses). */
tess_status cli_trial_plan(const cli_session *session, const cli_trial *trial, const char *strategy, tess_plan **plan);
/* Executes the plan at least `least` times and until `seconds` have passed; the median time, and what the last run reported. */
tess_status cli_trial_time(const cli_trial *trial, const tess_plan *plan, int least, double seconds, double *median, tess_report *report);
/* The time that the limits of the machine allow: bytes at read speed (reductions) or copy speed, or flops, whichever takes longer. */
double cli_limit_seconds(const cli_workload *workload, const tess_report *report, const tess_limits *limits);

#endif

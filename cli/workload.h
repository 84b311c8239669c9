/* SPDX-License-Identifier: Apache-2.0
 * workload.h - the built-in problems of ladder, bench and tune, and how they are timed. */
#ifndef TESS_CLI_WORKLOAD_H
#define TESS_CLI_WORKLOAD_H

#include "cli.h"

/* QUICK: the choice that bench and tune take unless they are asked for all. LADDER: small ones, for the reference's sake; nothing but the ladder and tune
 * takes them. */
enum { CLI_FOR_QUICK = 1, CLI_FOR_LADDER = 2 };

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
    tess_type weights; /* its type; none: f64 for f64, else f32. Integers are small ones */
    bool separable;
    bool pixels; /* the last axis, the colours of a pixel, has no mask */
    tess_boundary boundary;
    tess_accuracy accuracy;
    /* reduce */
    tess_reduction reduction;
    int axis; /* ALL_AXES or one */
    bool exact;
    /* transpose */
    int perm[4];
    bool inplace;
    /* lookup */
    int64_t table;
    tess_type index;
    bool positions; /* the index' values are places among positions, nearer to each other at the beginning */
    bool cached;    /* its arrays stay in a core's cache: the limits are the cache's */
} cli_workload;
enum { CLI_ALL_AXES = -1 };

extern const cli_workload cli_workloads[];
extern const int cli_workload_count;

/* Whether the session's words choose the workload: --only and --all, else the quick ones. operation may be NULL. */
bool cli_workload_chosen(const cli_session *session, const cli_workload *workload, const char *operation);
int cli_check_only(const cli_session *session, const char *operation); /* CLI_USAGE, and a line is printed, when none is chosen */
/* `list workloads` */
int cli_list_workloads(cli_session *session);
/* `bench small` */
int cli_bench_small(cli_session *session);

/* The arrays of one workload: inputs filled with values that repeat from run to run, none of them a page of zeros. */
typedef struct cli_trial {
    const cli_workload *workload;
    tess_io_array in, second, masks[3], out; /* out has in's block where the work is done in place */
} cli_trial;

int cli_trial_make(cli_trial *trial, const cli_workload *workload, cli_pages pages);
void cli_trial_free(cli_trial *trial);
/* The plan with a strategy pinned (NULL: the library chooses). */
tess_status cli_trial_plan(const cli_session *session, const cli_trial *trial, const char *strategy, tess_plan **plan);

/* How often: `least` rounds and until `seconds` have passed; but where most_seconds is not 0, no longer than about that. */
typedef struct cli_effort {
    int least;
    double seconds, most_seconds;
} cli_effort;
typedef struct cli_timing {
    double seconds, least; /* the median, the shortest */
    int runs;
    double limit,
        fraction;       /* medians: the least time that the limits allowed, and its share of the work's time in the same round; 0 without a meter */
    tess_report report; /* of the last run */
} cli_timing;

/* What the machine's limits allow at best. bound: "memory", "cache", "random reads", "fma". */
typedef struct cli_bound {
    double seconds, bytes, flops; /* of the problem, whatever method runs; an fma counts 2 */
    const char *name;
} cli_bound;
cli_bound cli_trial_bound(const cli_trial *trial, const tess_limits *limits);

/* Measures the limits that bind a work in turns with it (limit.c). */
typedef struct cli_meter cli_meter;
/* Its arrays have pages of the kind and the size that `limits`, measured before, tells. NULL: no memory. */
cli_meter *cli_meter_make(const cli_session *session, const tess_limits *limits);
void cli_meter_free(cli_meter *meter);
/* The least time that the limits allow the work now, measured once. */
tess_status cli_meter_read(cli_meter *meter, const cli_trial *trial, double *seconds);

/* Executes the plan once, uncounted, and then as often as `effort` says. meter: NULL, or the limit is measured before and after each round. */
tess_status cli_trial_time(const cli_trial *trial, const tess_plan *plan, const cli_effort *effort, cli_meter *meter, cli_timing *timing);

#endif

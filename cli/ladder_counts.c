/* SPDX-License-Identifier: Apache-2.0
 * ladder_counts.c - a strategy of a GPU on the virtual one: checked and counted on a small problem, extrapolated to a large one. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ladder.h"

enum { COUNTS = 131072 };

static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }
static double count(const json_t *counted, const char *key) { return number(json_object_get(counted, "counters"), key); }
static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

/* The failure that tess_detail() tells. */
static void fail(cli_rung *rung, tess_status status, bool planning) {
    const char *why = strstr(tess_detail(), "cannot run here: "); /* the name stands before it anyway */
    if (rung->no_engine && status == TESS_ERR_STRATEGY)           /* another work could have been run, had there been a compiler */
        return;
    rung->no_engine = status == TESS_ERR_ENGINE;
    rung->state = planning && (status == TESS_ERR_STRATEGY || status == TESS_ERR_ENGINE) ? CLI_RUNG_CANNOT : CLI_RUNG_FAILED;
    snprintf(rung->why, sizeof rung->why, "%s", why ? why : tess_detail());
}

static void take_counts(cli_rung *rung) {
    const json_t *c = rung->counted, *holds = json_object_get(c, "prediction_holds");
    rung->predicted = json_is_boolean(holds);
    rung->holds = json_is_true(holds);
    rung->load_sectors = ratio(count(c, "global_ld_sectors"), count(c, "global_ld_requests"));
    rung->store_sectors = ratio(count(c, "global_st_sectors"), count(c, "global_st_requests"));
    rung->wavefronts =
        ratio(count(c, "shared_ld_wavefronts") + count(c, "shared_st_wavefronts"), count(c, "shared_ld_requests") + count(c, "shared_st_requests"));
    rung->conflicts = count(c, "shared_ld_conflicts") + count(c, "shared_st_conflicts");
    rung->barriers = count(c, "barriers");
    rung->agrees = !json_is_false(json_object_get(rung->larger, "prediction_agrees"));
    rung->model_seconds = number(rung->larger, "seconds");
    rung->bytes = number(rung->larger, "bytes");
    const char *limiter = json_string_value(json_object_get(rung->larger, "limiter"));
    snprintf(rung->limiter, sizeof rung->limiter, "%s", limiter ? limiter : "");
}

void cli_ladder_on_virtual_gpu(const cli_session *session, const cli_trial *check, const cli_trial *small, const cli_trial *medium,
                               const cli_trial *large, const void *expected, cli_rung *rung) {
    const cli_trial *trials[] = {check, small, medium, large};
    tess_plan *plans[] = {NULL, NULL, NULL, NULL};
    char *text = malloc(COUNTS);
    size_t length;
    tess_status status = text ? TESS_OK : TESS_ERR_MEMORY;
    for (int i = 0; i < 4 && status == TESS_OK; i++)
        status = cli_trial_plan(session, trials[i], rung->row.name, &plans[i]);
    bool planning = status != TESS_OK;
    memset(check->out.block, 0xa5, check->out.block_size);
    if (status == TESS_OK)
        status = tess_profile_plan(plans[0], check->in.block, check->second.block, check->out.block, NULL, text, COUNTS, &length);
    if (status == TESS_OK) {
        rung->counted = json_loads(text, 0, NULL);
        rung->same_bits = memcmp(expected, check->out.block, check->out.block_size) == 0;
        const tess_profile_run runs[] = {{plans[1], small->in.block, small->second.block, small->out.block},
                                         {plans[2], medium->in.block, medium->second.block, medium->out.block}};
        status = tess_profile_larger(plans[3], &runs[0], &runs[1], NULL, text, COUNTS, &length);
    }
    if (status == TESS_OK) {
        rung->larger = json_loads(text, 0, NULL);
        rung->state = CLI_RUNG_RAN;
        take_counts(rung);
    } else {
        fail(rung, status, planning);
    }
    for (int i = 0; i < 4; i++)
        tess_plan_free(plans[i]);
    free(text);
}

void cli_ladder_counts_free(cli_rung *rung) {
    json_decref(rung->counted);
    json_decref(rung->larger);
}

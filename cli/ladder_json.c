/* SPDX-License-Identifier: Apache-2.0
 * ladder_json.c - the climbs as JSON; docs/json.md says what each field is. */
#include <jansson.h>
#include <stdio.h>

#include "ladder.h"

static json_t *rung_of(const cli_rung *r) {
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:i}", "strategy", r->row.name, "idea", r->row.idea, "source", r->row.source, "target",
                               r->row.target, "rung", r->row.rung);
    if (r->work)
        json_object_set_new(object, "work", json_string(r->work));
    if (r->state != CLI_RUNG_RAN) {
        json_object_set_new(object, r->state == CLI_RUNG_CANNOT ? "cannot" : "failed", json_string(r->why));
        return object;
    }
    if (r->check)
        json_object_set_new(object, "check", json_string(r->check));
    json_object_set_new(object, "same_bits", json_boolean(r->same_bits));
    if (r->seconds > 0) {
        json_object_set_new(object, "isa", json_string(r->isa));
        if (r->threads > 0)
            json_object_set_new(object, "threads", json_integer(r->threads));
        json_object_set_new(object, "seconds", json_real(r->seconds));
        json_object_set_new(object, "gb_per_s", json_real(r->bytes / r->seconds * 1e-9));
        json_object_set_new(object, "gflops_per_s", json_real(r->flops / r->seconds * 1e-9));
        json_object_set_new(object, "fraction_of_limit", json_real(r->fraction));
    }
    if (r->counted)
        json_object_set(object, "counted", r->counted);
    if (r->larger)
        json_object_set(object, "larger", r->larger);
    if (r->measured_seconds > 0) {
        json_object_set_new(object, "measured_seconds", json_real(r->measured_seconds));
        json_object_set_new(object, "measured_fraction_of_limit", json_real(r->measured_fraction));
    }
    if (cli_ladder_unmodelled(r))
        json_object_set_new(object, "not_modelled", json_string(cli_ladder_unmodelled(r)));
    if (r->gain > 0)
        json_object_set_new(object, "gain", json_real(r->gain));
    return object;
}

static json_t *limits_of(const tess_limits *l) {
    return json_pack("{s:f, s:f, s:f}", "read_bytes_per_s", l->read_bytes_per_s, "copy_bytes_per_s", l->copy_bytes_per_s, "f32_flops_per_s",
                     l->f32_flops_per_s);
}

int cli_ladder_json(const cli_climbs *climbs) {
    char measured_on[128];
    cli_ladder_measured_on(measured_on, sizeof measured_on);
    json_t *ladders = json_array();
    for (int c = 0; c < climbs->count; c++) {
        json_t *rungs = json_array();
        for (int r = 0; r < climbs->at[c].count; r++)
            json_array_append_new(rungs, rung_of(&climbs->at[c].rungs[r]));
        json_array_append_new(ladders,
                              json_pack("{s:s, s:s, s:o}", "ladder", climbs->at[c].name, "operation", climbs->at[c].operation, "rungs", rungs));
    }
    json_t *all = climbs->cpu ? limits_of(&climbs->limits) : json_object();
    if (climbs->card)
        json_object_set_new(all, "card_limits", limits_of(&climbs->card_limits));
    json_object_set_new(all, "measured_on", json_string(measured_on));
    json_object_set_new(all, "ladders", ladders);
    json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    printf("\n");
    json_decref(all);
    return cli_flush();
}

/* SPDX-License-Identifier: Apache-2.0
 * list_workloads.c - `list workloads`: the built-in problems by name, or as JSON with all that another program needs to make the same arrays and
 * measure another library on them (bench/peers.py). */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "workload.h"

static json_t *sizes(int count, const int64_t *list) {
    json_t *array = json_array();
    for (int k = 0; k < count; k++)
        json_array_append_new(array, json_integer(list[k]));
    return array;
}

static json_t *workload_json(const cli_workload *w) {
    static const char *const boundaries[] = {"zero", "constant", "nearest", "reflect", "mirror", "wrap"};
    json_t *o = json_pack("{s:s, s:s, s:s, s:b, s:b, s:o}", "name", w->name, "operation", w->operation, "type", tess_type_name(w->type), "quick",
                          (w->use & CLI_FOR_QUICK) != 0, "cached", w->cached, "shape", sizes(w->ndim, w->shape));
    if (w->mask_ndim > 0) {
        json_object_set_new(o, "mask", sizes(w->mask_ndim, w->mask));
        json_object_set_new(o, "weights",
                            json_string(tess_type_name(w->weights != tess_no_type ? w->weights
                                                       : w->type == tess_f64      ? tess_f64
                                                                                  : tess_f32)));
        json_object_set_new(o, "separable", json_boolean(w->separable));
        json_object_set_new(o, "pixels", json_boolean(w->pixels));
        json_object_set_new(o, "accuracy", json_string(w->accuracy == TESS_ACCURACY_FAST ? "fast" : "direct"));
        json_object_set_new(o, "boundary", json_string(boundaries[w->boundary]));
    } else if (w->table > 0) {
        json_object_set_new(o, "table", json_integer(w->table));
        json_object_set_new(o, "index", json_string(tess_type_name(w->index)));
    } else if (strcmp(w->operation, "reduce") == 0) {
        json_object_set_new(o, "reduction", json_string(tess_reduction_name(w->reduction)));
        json_object_set_new(o, "axis", w->axis == CLI_ALL_AXES ? json_null() : json_integer(w->axis));
    } else {
        int64_t perm[4];
        for (int d = 0; d < w->ndim; d++)
            perm[d] = w->perm[d];
        json_object_set_new(o, "perm", sizes(w->ndim, perm));
        json_object_set_new(o, "inplace", json_boolean(w->inplace));
    }
    return o;
}

int cli_list_workloads(cli_session *session) {
    json_t *all = json_array();
    for (int k = 0; k < cli_workload_count; k++) {
        const cli_workload *w = &cli_workloads[k];
        if (w->use & CLI_FOR_LADDER)
            continue;
        json_array_append_new(all, workload_json(w));
        if (!session->options.json)
            printf("%-52s %s%s\n", w->name, w->operation, w->use & CLI_FOR_QUICK ? ", quick" : "");
    }
    if (session->options.json) {
        json_dumpf(all, stdout, JSON_INDENT(1));
        printf("\n");
    }
    json_decref(all);
    return cli_flush();
}

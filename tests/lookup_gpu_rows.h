/* SPDX-License-Identifier: Apache-2.0
 * lookup_gpu_rows.h - one lookup by every row of a GPU, held against the bytes, status and sentence of the CPU's reference. */
#ifndef TESS_TESTS_LOOKUP_GPU_ROWS_H
#define TESS_TESTS_LOOKUP_GPU_ROWS_H

#include "gpu_counts.h"
#include "lookup_cases.h"
#include "ops/lookup/gpu_lookup.h"

static tess_context *context;
static tess_engine engine;
static int ran[32], refused;

static inline tess_status with(const char *row, tess_engine where, const hostile_array *table, const hostile_array *index, hostile_array *out,
                               tess_lookup_options options) {
    options.struct_size = sizeof options;
    options.call.strategy = row;
    options.call.engine = where;
    memset(out->block, HOSTILE_POISON, out->block_size);
    return tess_lookup(context, &table->tensor, &index->tensor, &out->tensor, &options);
}

/* Every production row that takes the problem (or every rung), and the planner's choice, against the CPU's reference. */
static bool rungs;
static inline void compare(const hostile_array *table, const hostile_array *index, hostile_array *out, tess_lookup_options options) {
    char detail[512] = "";
    tess_status expected = with("lookup/reference", TESS_ENGINE_CPU, table, index, out, options);
    if (expected != TESS_OK)
        snprintf(detail, sizeof detail, "%s", tess_detail());
    unsigned char *bytes = malloc(out->block_size);
    assert_non_null(bytes);
    memcpy(bytes, out->block, out->block_size);
    for (int r = -1; r < tess_lookup_op.gpu_count; r++) {
        const char *name = r < 0 ? NULL : tess_lookup_op.gpu_rows[r].name;
        if (r >= 0 && tess_lookup_op.gpu_rows[r].gpu->production == rungs)
            continue;
        tess_status status = with(name, engine, table, index, out, options);
        if (name && status == TESS_ERR_STRATEGY)
            continue;
        if (status != expected)
            fail_msg("%s: %s (%s) where the reference gives %s", name ? name : "chosen", tess_status_name(status), tess_detail(),
                     tess_status_name(expected));
        if (r >= 0)
            ran[r]++;
        if (status != TESS_OK)
            assert_string_equal(tess_detail(), detail);
        else if (memcmp(bytes, out->block, out->block_size) != 0)
            fail_msg("%s differs from the reference: table %s, index %s, out %s, policy %d, interpolation %d", name ? name : "chosen",
                     tess_type_name(tess_type_of(table->tensor.dtype)), tess_type_name(tess_type_of(index->tensor.dtype)),
                     tess_type_name(tess_type_of(out->tensor.dtype)), (int)options.outside, (int)options.interpolation);
    }
    refused += expected == TESS_ERR_INDEX;
    free(bytes);
}

/* Rows for places among positions, which have a test program of their own. */
static inline bool takes_positions(const tess_strategy *row) {
    return row->applicable == tess_lookup_gpu_search_fits || row->applicable == tess_lookup_gpu_between_fits;
}

#endif

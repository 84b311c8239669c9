/* SPDX-License-Identifier: Apache-2.0
 * lookup_rows.h - one lookup by every row of the CPU on every context, held against the reference's bytes, status and sentence. */
#ifndef TESS_TESTS_LOOKUP_ROWS_H
#define TESS_TESTS_LOOKUP_ROWS_H

#include "cpu_contexts.h"
#include "lookup_cases.h"

#include "core/maker.h"
#include "ops/lookup/lookup.h"

static inline tess_status with(tess_context *context, const char *row, const hostile_array *table, const hostile_array *index, hostile_array *out,
                               tess_lookup_options options) {
    options.struct_size = sizeof options;
    options.call.strategy = row;
    memset(out->block, HOSTILE_POISON, out->block_size);
    tess_status status = tess_lookup(context, &table->tensor, &index->tensor, &out->tensor, &options);
    assert_true(hostile_intact(out));
    return status;
}

enum { LOOKUP_ROWS = 16 }; /* how often each of them ran, by its place in the table: at least as many as there are */

static inline int ran_of(const int *ran, const char *row) {
    for (int r = 0; r < tess_lookup_op.count; r++)
        if (strcmp(tess_lookup_op.rows[r].name + strlen("lookup/"), row) == 0)
            return ran[r];
    fail_msg("there is no row lookup/%s", row);
    return 0;
}

/* Every row on every context against the reference; returns the reference's status. */
static inline tess_status every_row(const hostile_array *table, const hostile_array *index, hostile_array *out, tess_lookup_options options,
                                    int *ran) {
    char detail[512] = "";
    assert_true(tess_lookup_op.count <= LOOKUP_ROWS);
    tess_status expected = with(contexts[0], "lookup/reference", table, index, out, options);
    if (expected != TESS_OK)
        snprintf(detail, sizeof detail, "%s", tess_detail());
    int64_t count = hostile_count(out);
    char *bytes = malloc((size_t)(count * out->itemsize) + 1);
    assert_non_null(bytes);
    for (int64_t i = 0; i < count; i++)
        memcpy(bytes + i * out->itemsize, hostile_element(out, i), (size_t)out->itemsize);
    for (int r = -1; r < tess_lookup_op.count - 1; r++)
        for (int way = 0; way < 2 * context_count; way++) {
            const int c = way / 2;
            const char *name = r < 0 ? NULL : tess_lookup_op.rows[r].name;
            tess_cpu_pretend_gathers(way % 2);
            tess_status status = with(contexts[c], name, table, index, out, options);
            if (name && status == TESS_ERR_STRATEGY)
                break;
            if (status != expected)
                fail_msg("%s: %s (%s) where the reference gives %s", name ? name : "chosen", tess_status_name(status), tess_detail(),
                         tess_status_name(expected));
            if (way == 0 && r >= 0)
                ++ran[r];
            if (status != TESS_OK) {
                assert_string_equal(tess_detail(), detail);
                continue;
            }
            for (int64_t i = 0; i < count; i++)
                if (memcmp(bytes + i * out->itemsize, hostile_element(out, i), (size_t)out->itemsize) != 0)
                    fail_msg("%s on context %d: element %lld differs from the reference", name ? name : "chosen", c, (long long)i);
        }
    free(bytes);
    return expected;
}

#endif

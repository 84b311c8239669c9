/* SPDX-License-Identifier: Apache-2.0
 * correlate_samples.h - a correlation with its arrays, and every row of the table held against the reference: on every instruction set that this machine
 * has and with 1 to 8 threads, nothing written beside the output. */
#ifndef TESS_TESTS_CORRELATE_SAMPLES_H
#define TESS_TESTS_CORRELATE_SAMPLES_H

#include "correlate_contexts.h"
#include "hostile.h"

enum { MOST_MASKS = 4 };
enum { MOST_ROWS = 256 };               /* strategies of all operations */
static int ran_by_row[MOST_ROWS][ISAS]; /* by number of the strategy */

typedef struct sample {
    int ndim, count, naxes;
    int axes[8];
    int64_t origin[8], shape[8], out_shape[8];
    hostile_array in, out, masks[MOST_MASKS];
    tess_correlate_options options;
} sample;

static tess_status call(const sample *s, tess_context *context, const DLTensor *out, const char *strategy) {
    const DLTensor *list[MOST_MASKS];
    tess_correlate_options options = s->options;
    options.call.strategy = strategy;
    for (int k = 0; k < s->count; k++)
        list[k] = &s->masks[k].tensor;
    if (s->count > 1)
        return options.flip ? tess_convolve_separable(context, &s->in.tensor, list, s->count, out, &options)
                            : tess_correlate_separable(context, &s->in.tensor, list, s->count, out, &options);
    return options.flip ? tess_convolve(context, &s->in.tensor, list[0], out, &options)
                        : tess_correlate(context, &s->in.tensor, list[0], out, &options);
}

static const char *describe(const sample *s) {
    static char text[400];
    int n = snprintf(text, sizeof text, "%s -> %s, boundary %d, extent %d, accuracy %d, flip %d, constant %g, %d mask(s); in",
                     tess_type_name(tess_type_of(s->in.tensor.dtype)), tess_type_name(tess_type_of(s->out.tensor.dtype)), s->options.boundary,
                     s->options.extent, s->options.accuracy, s->options.flip, s->options.constant, s->count);
    for (int d = 0; d < s->ndim; d++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %lld", (long long)s->shape[d]);
    for (int k = 0; k < s->count; k++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "; %s mask", tess_type_name(tess_type_of(s->masks[k].tensor.dtype)));
        for (int d = 0; d < s->masks[k].tensor.ndim; d++)
            n += snprintf(text + n, sizeof text - (size_t)n, " %lld", (long long)s->masks[k].shape[d]);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "; axes");
    for (int k = 0; k < s->naxes; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %d", s->axes[k]);
    return text;
}

/* Every row, instruction set and thread count against the reference. Returns how many rows ran. */
static inline int compare(const sample *s, uint64_t *random, int layout, bool every_thread_count) {
    hostile_array out;
    int ran = 0;
    tess_status status = call(s, contexts[0][0], &s->out.tensor, "correlate/reference");
    if (status != TESS_OK)
        fail_msg("reference: %s (%s)", tess_detail(), describe(s));
    if (!hostile_intact(&s->out))
        fail_msg("reference wrote beside the output (%s)", describe(s));
    for (int r = 0; r < tess_strategy_count(); r++) {
        tess_strategy_info row;
        assert_true(tess_strategy_get(r, &row));
        if (strcmp(row.operation, "correlate") != 0 || strcmp(row.target, "cpu") != 0 || strcmp(row.name, "correlate/reference") == 0)
            continue;
        for (int i = 0; i < ISAS; i++)
            for (int t = 0; t < (every_thread_count ? THREADS : 1); t++) {
                if (!contexts[i][t])
                    continue;
                hostile_make(&out, random, tess_type_of(s->out.tensor.dtype), s->ndim, s->out_shape, layout);
                status = call(s, contexts[i][t], &out.tensor, row.name);
                if (status == TESS_OK) {
                    int64_t at = hostile_differs(&out, &s->out);
                    ran++;
                    ran_by_row[r][i]++;
                    if (at >= 0)
                        fail_msg("%s, isa %d, %d threads: element %lld differs (%s)", row.name, isas[i], thread_counts[t], (long long)at,
                                 describe(s));
                    if (!hostile_intact(&out))
                        fail_msg("%s, isa %d, %d threads wrote beside the output (%s)", row.name, isas[i], thread_counts[t], describe(s));
                } else if (status != TESS_ERR_STRATEGY) {
                    fail_msg("%s: %s (%s)", row.name, tess_detail(), describe(s));
                }
                hostile_free(&out);
            }
    }
    return ran;
}

static inline int64_t out_size(tess_extent extent, int64_t n, int64_t width) {
    return extent == TESS_EXTENT_SAME ? n : extent == TESS_EXTENT_FULL ? n + width - 1 : n >= width ? n - width + 1 : 0;
}

static void drop(sample *s) {
    hostile_free(&s->in);
    hostile_free(&s->out);
    for (int k = 0; k < s->count; k++)
        hostile_free(&s->masks[k]);
}

#endif

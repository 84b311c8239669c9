/* SPDX-License-Identifier: Apache-2.0
 * lookup_gpu_rows.h - one lookup by every row of a GPU, held against the bytes, status and sentence of the CPU's reference, or against what the row predicts. */
#ifndef TESS_TESTS_LOOKUP_GPU_ROWS_H
#define TESS_TESTS_LOOKUP_GPU_ROWS_H

#include <math.h>

#include "gpu_counts.h"
#include "lookup_cases.h"
#include "ops/lookup/gpu_lookup.h"

static tess_context *context;
static tess_engine engine;
static int ran[32], rests[32], refused;

static inline tess_status with(const char *row, tess_engine where, const hostile_array *table, const hostile_array *index, hostile_array *out,
                               tess_lookup_options options) {
    options.struct_size = sizeof options;
    options.call.strategy = row;
    options.call.engine = where;
    memset(out->block, HOSTILE_POISON, out->block_size);
    return tess_lookup(context, &table->tensor, &index->tensor, &out->tensor, &options);
}

/* Every production row that takes the problem (or every rung), and the planner's choice, against the CPU's reference. */
static bool rungs, all_cases /* no row is passed over */;
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
        if (r >= 0 && (tess_lookup_op.gpu_rows[r].gpu->production == rungs || (!all_cases && gpu_test_rests(engine, ran[r], 16, &rests[r]))))
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

/* Indices and coordinates inside a table of n entries, or also outside. */
static inline void set_integers(uint64_t *random, hostile_array *index, int64_t n, bool good) {
    tess_type type = tess_type_of(index->tensor.dtype);
    int64_t count = hostile_count(index), high = index->itemsize == 1 ? (type == tess_i8 ? 127 : 255) : n + 3,
            low = type % 2 == tess_i8 % 2 ? -n - 3 : 0;
    for (int64_t i = 0; i < count; i++)
        set_integer(index, i, good ? hostile_between(random, 0, n - 1 < high ? n - 1 : high) : hostile_between(random, low, high));
    if (!good && count > 0) /* the far ends of the type */
        set_integer(index, hostile_between(random, 0, count - 1), hostile_between(random, 0, 1) ? INT64_MIN : -1);
}

static inline void set_reals(uint64_t *random, hostile_array *index, int64_t n, bool good) {
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, -1e-30, -0.5, -1, 1e30, -1e30, 0x1p31, 0x1p62, 0x1p63};
    int64_t count = hostile_count(index);
    for (int64_t i = 0; i < count; i++) {
        double x = (double)(hostile_random(random) >> 11) * 0x1p-53 * (double)(n - 1);
        if (hostile_between(random, 0, 5) == 0)
            x = floor(x);
        if (!good && hostile_between(random, 0, 3) == 0) {
            int64_t which = hostile_between(random, 0, 20);
            x = which < TESS_COUNT(odd) ? odd[which] : (double)hostile_between(random, -5 * n, 5 * n) + 0.25;
        }
        set_real(index, i, x);
    }
}

/* A lookup whose rows' predictions are held against what the virtual GPU counts. */
typedef struct counted_case {
    tess_type table, index;
    int ndim; /* of table and out; looked up along axis `axis` */
    int64_t shape[3], count;
    int axis;
    tess_interpolation interpolation;
    tess_outside outside;
} counted_case;

/* By every production row that takes it, at indices inside the table, or at places among as many positions, so far `apart`; compared[row] is raised for each that predicts more than
 * six numbers, slice_pieces than three: what that loads depends on the indices. number: of the case, for messages. */
static inline void count_case(const counted_case *c, int number, const double *apart, int *compared) {
    int64_t n = c->shape[c->axis], shape[3], out_shape[3], count = c->count, items = 1, entries = 1;
    for (int d = 0; d < c->ndim; d++) {
        shape[d] = c->shape[d];
        out_shape[d] = d == c->axis ? count : shape[d];
        entries *= shape[d];
        items *= out_shape[d];
    }
    const size_t size = tess_type_size(c->table);
    hostile_array index;
    uint64_t random = 3;
    hostile_make(&index, &random, c->index, 1, &count, HOSTILE_COMPACT);
    char *table = calloc((size_t)entries, size), *out = calloc((size_t)items, size);
    double *at = malloc((size_t)n * sizeof *at);
    assert_true(table && out && at);
    for (int64_t i = 0; i < n; i++)
        at[i] = apart ? *apart * (double)i : 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t entry = i * 7 % tess_min64(n, c->index == tess_i8 ? 100 : n);
        if (c->index < tess_f16)
            set_integer(&index, i, entry);
        else
            set_real(&index, i, apart ? at[entry] * 0.999 : (double)entry);
    }
    const DLTensor t = tess_view(table, c->table, c->ndim, shape, NULL), o = tess_view(out, c->table, c->ndim, out_shape, NULL),
                   places = tess_view(at, tess_f64, 1, &n, NULL);
    for (int r = 0; r < tess_lookup_op.gpu_count; r++) {
        const tess_strategy *row = &tess_lookup_op.gpu_rows[r];
        const tess_lookup_options options = {.struct_size = sizeof options,
                                             .axis = c->axis,
                                             .outside = c->outside,
                                             .interpolation = c->interpolation,
                                             .positions = apart ? &places : NULL,
                                             .call = {.engine = engine, .strategy = row->name}};
        tess_plan *plan;
        char what[32];
        if (!row->gpu->production || tess_plan_lookup(&plan, context, &t, &index.tensor, &o, &options) != TESS_OK)
            continue;
        snprintf(what, sizeof what, "case %d", number);
        const int few = strcmp(row->name, "lookup/slice_pieces") == 0 ? 3 : 6;
        compared[r] += gpu_counts_check(plan, table, hostile_element(&index, 0), out, what) > few;
        tess_plan_free(plan);
    }
    hostile_free(&index);
    free(at);
    free(table);
    free(out);
}

/* Rows for places among positions, which have a test program of their own. */
static inline bool takes_positions(const tess_strategy *row) {
    return row->applicable == tess_lookup_gpu_search_fits || row->applicable == tess_lookup_gpu_between_fits;
}

#endif

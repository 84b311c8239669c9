/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_empty.c - proves: arrays without elements are planned, explained and executed on the GPU's engine by every row that takes them, whatever their
 * other sizes (tiles are worked out from them, and once were divided by), and nothing is written. */
#include "gpu_rows.h"
#include "ops/correlate/correlate.h"
#include "ops/lookup/lookup.h"
#include "ops/reduce/reduce.h"
#include "ops/transpose/transpose.h"

static tess_context *context;
static tess_engine engine;
static int planned;

/* Sizes of 0 beside small ones, ones beyond a tile, and ones beyond what few blocks take. */
static const int64_t shapes[][4] = {{21, 0, 3, 16385}, {0, 16385, 3, 4}, {0, 70000, 1, 300}, {3, 5, 0, 8},
                                    {16385, 3, 7, 0},  {0, 0, 64, 64},   {0, 8192, 16, 2}};

static void all_of_it(tess_plan *plan, tess_status status) {
    static char text[1 << 16];
    static uint64_t memory[2] = {5, 7}, out[2];
    size_t length;
    if (status != TESS_OK) {
        if (status != TESS_ERR_STRATEGY)
            fail_msg("%s: %s", tess_status_name(status), tess_detail());
        return;
    }
    out[0] = out[1] = 9;
    assert_tess_ok(tess_explain(plan, TESS_TEXT, text, sizeof text, &length));
    assert_tess_ok(tess_explain(plan, TESS_JSON, text, sizeof text, &length));
    assert_tess_ok(tess_execute(plan, memory, plan->problem->op == &tess_lookup_op ? memory : NULL, out, NULL));
    assert_int_equal(out[0], 9);
    tess_plan_free(plan);
    planned++;
}

/* The planner's choice, then every row by name. */
static const char *next_row(const tess_op *op, int *row) { return (*row)++ < 0 ? NULL : op->gpu_rows[*row - 1].name; }

static void reductions(void **state) {
    (void)state;
    static const tess_type types[] = {tess_u8, tess_f16, tess_f32, tess_f64, tess_c64};
    static const int axes[][2] = {{3, 0}, {2, 0}, {1, 0}, {0, 0}, {2, 3}}, counts[] = {1, 1, 1, 1, 2};
    for (int s = 0; s < TESS_COUNT(shapes); s++)
        for (int a = -1; a < TESS_COUNT(axes); a++)
            for (int t = 0; t < TESS_COUNT(types); t++)
                for (int o = 0; o <= TESS_NORM_INF + 1; o++) {
                    const tess_reduction operation = o > TESS_NORM_INF ? TESS_SUM : (tess_reduction)o;
                    const bool place = operation == TESS_ARGMIN || operation == TESS_ARGMAX;
                    int64_t shape[4], kept[4], elements = 1;
                    memcpy(shape, shapes[s], sizeof shape);
                    memcpy(kept, shapes[s], sizeof kept);
                    for (int k = 0; a >= 0 && k < counts[a]; k++)
                        kept[axes[a][k]] = 1;
                    for (int d = 0; d < 4; d++)
                        elements *= kept[d];
                    if (elements > 0 || (types[t] == tess_c64 && operation != TESS_SUM && operation != TESS_NORM2))
                        continue;
                    const DLTensor in = tess_view(NULL, types[t], 4, shape, NULL), out = tess_view(NULL, place ? tess_i64 : types[t], 4, kept, NULL);
                    tess_reduce_options options = {.struct_size = sizeof options,
                                                   .axes = axes[a < 0 ? 0 : a],
                                                   .naxes = a < 0 ? 0 : counts[a],
                                                   .keepdims = true,
                                                   .exact = o > TESS_NORM_INF,
                                                   .call = {.engine = engine}};
                    for (int row = -1; row < tess_reduce_op.gpu_count;) {
                        tess_plan *plan = NULL;
                        options.call.strategy = next_row(&tess_reduce_op, &row);
                        const tess_status status = tess_plan_reduce(&plan, context, operation, &in, &out, &options);
                        all_of_it(plan, status);
                    }
                }
}

static void correlations(void **state) {
    (void)state;
    static const tess_type types[] = {tess_u8, tess_f16, tess_f32, tess_f64};
    float weights[81];
    for (int i = 0; i < 81; i++)
        weights[i] = (float)i;
    for (int s = 0; s < TESS_COUNT(shapes); s++)
        for (int t = 0; t < TESS_COUNT(types); t++)
            for (int rank = 0; rank <= 4; rank++)
                for (int list = 0; list < 2 && (list == 0 || rank == 2 || rank == 3); list++)
                    for (tess_accuracy accuracy = TESS_ACCURACY_DIRECT; accuracy <= TESS_ACCURACY_FFT; accuracy++) {
                        int64_t shape[4], wide[] = {3, 3, 3, 3};
                        memcpy(shape, shapes[s], sizeof shape);
                        const DLTensor in = tess_view(NULL, types[t], 4, shape, NULL),
                                       mask = tess_view(weights, tess_f32, list ? 1 : rank, wide, NULL);
                        const DLTensor *masks[] = {&mask, &mask, &mask};
                        tess_correlate_options options = {
                            .struct_size = sizeof options, .boundary = TESS_BOUNDARY_REFLECT, .accuracy = accuracy, .call = {.engine = engine}};
                        for (int row = -1; row < tess_correlate_op.gpu_count;) {
                            tess_plan *plan = NULL;
                            options.call.strategy = next_row(&tess_correlate_op, &row);
                            const tess_status status = tess_plan_correlate(&plan, context, &in, masks, list ? rank : 1, &in, &options);
                            all_of_it(plan, status);
                        }
                    }
}

static void transpositions(void **state) {
    (void)state;
    static const tess_type types[] = {tess_u8, tess_f16, tess_f32, tess_f64, tess_c128};
    static const int perms[][4] = {{3, 2, 1, 0}, {0, 1, 3, 2}, {1, 0, 2, 3}, {0, 2, 3, 1}, {0, 1, 2, 3}, {0, 2, 1, 3}};
    static char somewhere[16];
    for (int s = 0; s < TESS_COUNT(shapes); s++)
        for (int t = 0; t < TESS_COUNT(types); t++)
            for (int p = 0; p < TESS_COUNT(perms); p++)
                for (int inplace = 0; inplace < 2; inplace++) {
                    int64_t shape[4], turned[4];
                    for (int d = 0; d < 4; d++) {
                        shape[d] = shapes[s][d];
                        turned[d] = shapes[s][perms[p][d]];
                    }
                    const DLTensor in = tess_view(inplace ? somewhere : NULL, types[t], 4, shape, NULL),
                                   out = tess_view(inplace ? somewhere : NULL, types[t], 4, turned, NULL);
                    tess_transpose_options options = {.struct_size = sizeof options, .perm = perms[p], .nperm = 4, .call = {.engine = engine}};
                    for (int row = -1; row < tess_transpose_op.gpu_count;) {
                        tess_plan *plan = NULL;
                        options.call.strategy = next_row(&tess_transpose_op, &row);
                        tess_status status = tess_plan_transpose(&plan, context, &in, &out, &options);
                        if (status == TESS_OK && inplace) { /* another pair of pointers would not be in place */
                            tess_plan_free(plan);
                            planned++;
                        } else {
                            all_of_it(plan, status);
                        }
                    }
                }
}

static void lookups(void **state) {
    (void)state;
    static const tess_type types[] = {tess_u8, tess_f16, tess_f32, tess_f64}, indices[] = {tess_u8, tess_i32, tess_f32};
    for (int s = 0; s < TESS_COUNT(shapes); s++)
        for (int axis = 0; axis < 4; axis++)
            for (int t = 0; t < TESS_COUNT(types); t++)
                for (int i = 0; i < TESS_COUNT(indices); i++)
                    for (int64_t places = 0; places < 2; places++) {
                        int64_t shape[4], turned[4], elements = 1;
                        for (int d = 0; d < 4; d++)
                            elements *= turned[d] = d == axis ? places : (shape[d] = shapes[s][d]);
                        shape[axis] = shapes[s][axis];
                        if (elements > 0)
                            continue;
                        const DLTensor table = tess_view(NULL, types[t], 4, shape, NULL), index = tess_view(NULL, indices[i], 1, &places, NULL),
                                       out = tess_view(NULL, types[t], 4, turned, NULL);
                        tess_lookup_options options = {
                            .struct_size = sizeof options, .axis = axis, .outside = TESS_OUTSIDE_FILL, .call = {.engine = engine}};
                        for (int row = -1; row < tess_lookup_op.gpu_count;) {
                            tess_plan *plan = NULL;
                            options.call.strategy = next_row(&tess_lookup_op, &row);
                            const tess_status status = tess_plan_lookup(&plan, context, &table, &index, &out, &options);
                            all_of_it(plan, status);
                        }
                    }
}

static void many(void **state) {
    (void)state;
    assert_true(planned > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reductions), cmocka_unit_test(correlations), cmocka_unit_test(transpositions),
                                       cmocka_unit_test(lookups), cmocka_unit_test(many)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

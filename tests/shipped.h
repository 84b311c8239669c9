/* SPDX-License-Identifier: Apache-2.0
 * shipped.h - the plans whose kernels are shipped as PTX beside the ladder's, so that each operation works on a GPU without NVRTC: the general rows with
 * the types that people have, one to three axes. The problem of each is given to `visit`, with the name of the row. */
#ifndef TESS_TESTS_SHIPPED_H
#define TESS_TESTS_SHIPPED_H

#include "hostile.h"

typedef void shipped_visit(const tess_problem *problem, const char *row);

/* Planned for the CPU, so that nothing is compiled. */
static void shipped_plan(tess_status status, tess_plan **plan, const char *row, shipped_visit *visit) {
    assert_tess_ok(status);
    visit((*plan)->problem, row);
    tess_plan_free(*plan);
}

static void shipped_transposes(tess_context *context, shipped_visit *visit) {
    static const tess_type types[] = {tess_u8, tess_u16, tess_f32, tess_f64, tess_c128};
    static const int perm[4][3] = {{0}, {1, 0}, {2, 1, 0}, {0, 2, 1}};
    tess_plan *plan;
    for (int t = 0; t < TESS_COUNT(types); t++)
        for (int p = 0; p < 4; p++) {
            int64_t shape[] = {37, 53, 41}, turned[3], gaps[] = {53 * 41 * 6, 41 * 3, 2};
            int ndim = p == 0 ? 1 : p == 1 ? 2 : 3;
            for (int k = 0; k < ndim; k++)
                turned[k] = shape[perm[p][k]];
            DLTensor in = tess_view(NULL, types[t], ndim, shape, p ? NULL : gaps + 2), out = tess_view(NULL, types[t], ndim, turned, NULL);
            const tess_transpose_options options = {.struct_size = sizeof options, .call.engine = TESS_ENGINE_CPU, .perm = perm[p], .nperm = ndim};
            shipped_plan(tess_plan_transpose(&plan, context, &in, &out, &options), &plan, "transpose/elements", visit);
            if (p > 0)
                shipped_plan(tess_plan_transpose(&plan, context, &in, &out, &options), &plan, "transpose/tile_unroll", visit);
        }
}

static void shipped_reductions(tess_context *context, shipped_visit *visit) {
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } all[] = {{TESS_SUM, tess_f32, tess_f32},          {TESS_SUM, tess_f64, tess_f64},
               {TESS_SUM, tess_u8, tess_u64},           {TESS_SUM, tess_i32, tess_i64},
               {TESS_SUM, tess_i64, tess_i64},          {TESS_SUM, tess_f32, tess_f64},
               {TESS_MEAN, tess_f32, tess_f32},         {TESS_MEAN, tess_f64, tess_f64},
               {TESS_MEAN, tess_u8, tess_f64},          {TESS_MIN, tess_f32, tess_f32},
               {TESS_MIN, tess_f64, tess_f64},          {TESS_MIN, tess_u8, tess_u8},
               {TESS_MIN, tess_i32, tess_i32},          {TESS_MAX, tess_f32, tess_f32},
               {TESS_MAX, tess_f64, tess_f64},          {TESS_MAX, tess_u8, tess_u8},
               {TESS_MAX, tess_i32, tess_i32},          {TESS_ARGMIN, tess_f32, tess_i64},
               {TESS_ARGMAX, tess_f32, tess_i64},       {TESS_ARGMAX, tess_f64, tess_i64},
               {TESS_ARGMAX, tess_i32, tess_i64},       {TESS_VAR, tess_f32, tess_f32},
               {TESS_VAR, tess_f64, tess_f64},          {TESS_STD, tess_f32, tess_f32},
               {TESS_STD, tess_f64, tess_f64},          {TESS_NORM2, tess_f32, tess_f32},
               {TESS_NORM2, tess_f64, tess_f64},        {TESS_COUNT_NONZERO, tess_f32, tess_i64},
               {TESS_COUNT_NONZERO, tess_u8, tess_i64}, {TESS_ANY, tess_bool, tess_bool},
               {TESS_ALL, tess_bool, tess_bool}};
    int64_t shape[] = {20, 30, 40};
    for (int i = 0; i < TESS_COUNT(all); i++)
        for (int kept = 0; kept < 3; kept++) { /* everything; an end of a matrix; the middle axis of three */
            const int axis = kept == 2;
            tess_plan *plan;
            DLTensor in = tess_view(NULL, all[i].in, kept + 1, shape, NULL),
                     out = tess_view(NULL, all[i].out, kept, (int64_t[]){kept == 1 ? 30 : 20, 40}, NULL);
            const tess_reduce_options options = {.struct_size = sizeof options, .call.engine = TESS_ENGINE_CPU, .axes = &axis, .naxes = 1};
            shipped_plan(tess_plan_reduce(&plan, context, all[i].operation, &in, &out, &options), &plan, "reduce/tree_lanes", visit);
        }
}

static void shipped_correlations(tess_context *context, shipped_visit *visit) {
    static const struct {
        tess_type in, out, mask;
    } all[] = {{tess_f32, tess_f32, tess_f32}, {tess_f64, tess_f64, tess_f64}, {tess_u8, tess_u8, tess_f32}, {tess_u8, tess_f32, tess_f32},
               {tess_i16, tess_i16, tess_f32}, {tess_u16, tess_u16, tess_f32}, {tess_u8, tess_i16, tess_i8}};
    static const double weights[27]; /* of any type, 0 */
    int64_t shape[] = {20, 30, 40}, side[] = {3, 3, 3};
    for (int i = 0; i < TESS_COUNT(all); i++)
        for (int ndim = 1; ndim <= 3; ndim++)
            for (int masked = 1; masked <= ndim; masked++) {
                int axes[] = {ndim - masked, ndim - masked + 1, ndim - masked + 2};
                tess_plan *plan;
                DLTensor in = tess_view(NULL, all[i].in, ndim, shape, NULL), out = tess_view(NULL, all[i].out, ndim, shape, NULL),
                         mask = tess_view((void *)(uintptr_t)weights, all[i].mask, masked, side, NULL);
                tess_correlate_options options = {.struct_size = sizeof options, .call.engine = TESS_ENGINE_CPU, .axes = axes, .naxes = masked};
                shipped_plan(tess_plan_correlate(&plan, context, &in, (const DLTensor *const[]){&mask}, 1, &out, &options), &plan,
                             "correlate/general", visit);
                if (masked == ndim && ndim > 1) { /* as a list of masks of one dimension, and over pixels of several colours */
                    DLTensor line = tess_view((void *)(uintptr_t)weights, all[i].mask, 1, side, NULL);
                    shipped_plan(tess_plan_correlate(&plan, context, &in, (const DLTensor *const[]){&line, &line, &line}, ndim, &out, &options),
                                 &plan, "correlate/general", visit);
                }
            }
}

static void shipped_lookups(tess_context *context, shipped_visit *visit) {
    static const tess_type indices[] = {tess_u8, tess_u16, tess_i32, tess_i64}, tables[] = {tess_u8, tess_u16, tess_f32, tess_f64};
    static const tess_interpolation methods[] = {TESS_INTERPOLATE_NEAREST, TESS_INTERPOLATE_LINEAR, TESS_INTERPOLATE_CUBIC};
    static const tess_outside policies[] = {TESS_OUTSIDE_ERROR, TESS_OUTSIDE_CLIP};
    static const double at[50]; /* all in one place */
    int64_t table_shape[] = {50, 3}, out_shape[] = {70, 3};
    const DLTensor positions = tess_view((void *)(uintptr_t)at, tess_f64, 1, table_shape, NULL);
    tess_plan *plan;
    for (int p = 0; p < 2; p++) {
        for (int i = 0; i < TESS_COUNT(indices); i++)
            for (int t = 0; t < TESS_COUNT(tables); t++)
                for (int ndim = 1; ndim <= 2; ndim++) {
                    DLTensor table = tess_view(NULL, tables[t], ndim, table_shape, NULL), index = tess_view(NULL, indices[i], 1, out_shape, NULL),
                             out = tess_view(NULL, tables[t], ndim, out_shape, NULL);
                    const tess_lookup_options options = {.struct_size = sizeof options, .call.engine = TESS_ENGINE_CPU, .outside = policies[p]};
                    shipped_plan(tess_plan_lookup(&plan, context, &table, &index, &out, &options), &plan, "lookup/elements", visit);
                }
        for (int m = 0; m < TESS_COUNT(methods); m++)
            for (int wide = 0; wide < 2; wide++) {
                tess_type type = wide ? tess_f64 : tess_f32;
                DLTensor table = tess_view(NULL, type, 1, table_shape, NULL), index = tess_view(NULL, type, 1, out_shape, NULL),
                         out = tess_view(NULL, type, 1, out_shape, NULL);
                const tess_lookup_options options = {
                    .struct_size = sizeof options, .call.engine = TESS_ENGINE_CPU, .outside = policies[p], .interpolation = methods[m]};
                shipped_plan(tess_plan_lookup(&plan, context, &table, &index, &out, &options), &plan, "lookup/points", visit);
                if (methods[m] == TESS_INTERPOLATE_CUBIC)
                    continue;
                const tess_lookup_options among = {.struct_size = sizeof among,
                                                   .call.engine = TESS_ENGINE_CPU,
                                                   .outside = policies[p],
                                                   .interpolation = methods[m],
                                                   .positions = &positions};
                shipped_plan(tess_plan_lookup(&plan, context, &table, &index, &out, &among), &plan, "lookup/between", visit);
            }
    }
}

static void shipped_plans(tess_context *context, shipped_visit *visit) {
    shipped_transposes(context, visit);
    shipped_reductions(context, visit);
    shipped_correlations(context, visit);
    shipped_lookups(context, visit);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * strategies.c - the table: one row a strategy, best first. */
#include <stdlib.h>

#include "core/overlap.h"
#include "ops/reduce/columns.h"
#include "ops/reduce/gpu_reduce.h"
#include "ops/reduce/offsets.h"
#include "ops/reduce/spread.h"

#if defined(__x86_64__)
#define EVERY_SLOT(f) \
    { [TESS_SLOT_BASELINE] = f, [TESS_SLOT_AVX2] = f, [TESS_SLOT_AVX512] = f }
#elif defined(__aarch64__)
#define EVERY_SLOT(f) \
    { [TESS_SLOT_BASELINE] = f, [TESS_SLOT_NEON] = f }
#else
#define EVERY_SLOT(f) \
    { [TESS_SLOT_BASELINE] = f }
#endif

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

/* The problem as a row for outputs side by side sees it (spread.c). */
static const reduce_problem *side_by_side(const tess_problem *problem, reduce_problem *own) {
    return tess_reduce_joins(of(problem), own) ? own : of(problem);
}

static bool any_problem(const tess_problem *problem, const char **why) {
    (void)problem;
    (void)why;
    return true;
}

static bool exact_only(const tess_problem *problem, const char **why) {
    *why = "the call does not ask for an exact sum";
    return of(problem)->exact;
}

static bool not_exact(const tess_problem *problem, const char **why) {
    *why = "it follows the tree, and the call asks for an exact sum";
    return !of(problem)->exact;
}

static bool contiguous(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    if (!not_exact(problem, why))
        return false;
    *why = "needs elements that are neighbours along the last reduced axis";
    return p->stride[0][p->rank - 1] == p->in.itemsize || p->k <= 1;
}

static bool columns_fit(const tess_problem *problem, const char **why) {
    if (!not_exact(problem, why))
        return false;
    if (of(problem)->kind == REDUCE_COUNT && tess_is_complex(of(problem)->in.type)) {
        *why = "counts of complex elements are left to the other rows";
        return false;
    }
    *why = "needs an axis that is not reduced";
    return of(problem)->kept > 0;
}

static int64_t least_step(const reduce_problem *p) {
    int64_t least = INT64_MAX;
    for (int d = 0; d < p->rank; d++)
        least = tess_min64(least, llabs(p->stride[0][d]));
    return least;
}

/* A few wide columns are not worth a vector; what lies apart both ways goes along the axis whose steps are the shorter. */
static bool columns_pay(const tess_problem *problem, const char **why) {
    reduce_problem own;
    const reduce_problem *p = side_by_side(problem, &own);
    int64_t width = p->kept_size[p->kept - 1], step = p->kept_stride[0][p->kept - 1];
    *why = "needs 8 outputs side by side, or rows without gaps";
    if (columns_are_narrow(p) || columns_change_axes(p))
        return true;
    if (width < 8)
        return false;
    *why = "the outputs lie further from each other than the elements of one, and the runs between them are long";
    return llabs(step) < least_step(p) || step == p->in.itemsize || step == -p->in.itemsize || reduce_turns(p) || p->longest <= 32;
}

static bool short_fits(const tess_problem *problem, const char **why) {
    reduce_problem own;
    const reduce_problem *p = side_by_side(problem, &own);
    if (!not_exact(problem, why))
        return false;
    *why = "takes sums, extremes, places, counts and moments of real elements; of floats with their NaNs, but for extremes and places";
    if (!tess_reduce_short_has(p))
        return false;
    *why = "takes 1 to 256 terms in runs or in planes without gaps, no segments, and an axis that is not reduced";
    return p->k >= 1 && (reduce_turns(p) || reduce_has_planes(p));
}

/* The same with AVX2 on a Zen 3, where sums by lanes leave out those that no element reaches (row_leaf.h): sums, means and norms of floats. */
static bool single_rows_on_zen3(const reduce_problem *p) {
    const bool floats = p->in.type == tess_f32 || p->in.type == tess_f64;
    return floats && p->kind == REDUCE_SUM && !p->omit && p->k > (p->in.type == tess_f64 ? 40 : 96);
}

/* Whether a row at a time, in registers, is quicker than sixteen side by side, though it is short: as measured on a Zen 5 (notes-cpu.md). Sums of f64 of 512 bytes have a
 * loop of their own (short_whole.h), those of more than 28 vectors are slow either way. */
static bool single_rows_are_quicker(const reduce_problem *p) {
    enum { TILES = 128, VECTORS = 28 * 8 }; /* sixteen rows of TILES f64, and their terms, are 32 KiB */
    const bool wide = p->base.context->slot == TESS_SLOT_AVX512, plain = p->map == REDUCE_PLAIN;
    const int64_t k = p->k;
    if (!reduce_turns(p))
        return false;
    if (tess_cpu_reads_in_turns() && p->base.context->slot == TESS_SLOT_AVX2)
        return single_rows_on_zen3(p);
    if (!tess_cpu_is_zen5())
        return false;
    if (p->kind == REDUCE_ARG || p->kind == REDUCE_VAR)
        return p->in.type == tess_f64 && k > TILES && k <= VECTORS && (wide || p->kind == REDUCE_ARG);
    if (p->kind != REDUCE_SUM || p->omit)
        return false;
    switch (p->in.type) {
    case tess_f64: return wide ? k > 48 && !(plain && (k == 64 || k > VECTORS)) : k > TILES;
    case tess_f32: return wide && !plain && k > (p->map == REDUCE_ABS ? 72 : 108);
    case tess_f16:
    case tess_bf16: return wide && plain && p->acc == tess_f32 && k > 140;
    default: return false;
    }
}

/* Planes that lie a power of two apart share sets of L1; it has 12 ways on a Zen 5. */
static bool planes_collide(const reduce_problem *p) {
    enum { PAGE = 4096, WAYS = 12 };
    const int64_t step = llabs(p->stride[0][0]), apart = tess_min64(PAGE, step & -step);
    return p->k * apart > WAYS * PAGE;
}

/* Whether outputs side by side are quicker by lines of a few planes than by whole rows, for which a tree of few rows is many copies, and a set of small elements many
 * steps: as measured on a Zen 5 (notes-cpu.md). */
static bool planes_pay(const reduce_problem *p) {
    enum { WIDE = 512, FEW = 64, ACROSS = 32, LONG = 8 << 10, NEAR = 16 << 20 };
    const int64_t row = p->kept_size[p->kept - 1] * p->in.itemsize;
    const bool small = p->in.itemsize <= 2, narrow = row <= 256;
    const int64_t k = p->k;
    if (reduce_goes_across(p) && p->kind == REDUCE_SUM)
        return !planes_collide(p) && (k <= ACROSS || p->order.cached || row < LONG);
    if (reduce_goes_across(p) && (k <= ACROSS || (p->in.itemsize >= 4 && p->base.bytes <= NEAR)))
        return true;
    if (p->kept_size[p->kept - 1] < reduce_short_rows(p->in.itemsize) && k <= FEW)
        return true;
    switch (p->kind) {
    case REDUCE_VAR: return k <= 128 || narrow;
    case REDUCE_SUM:
        if (reduce_is_integer(p->acc))
            break;
        if (p->order.cached && p->map == REDUCE_PLAIN && p->in.type == p->acc && p->kept_size[p->kept - 1] >= WIDE)
            return false;
        return k <= FEW;
    default: break;
    }
    if (small)
        return narrow || k <= FEW;
    if (p->kind == REDUCE_EXTREME)
        return k <= 6;
    return k <= 8 || (narrow && p->kind != REDUCE_SUM);
}

static bool short_pays(const tess_problem *problem, const char **why) {
    reduce_problem own;
    const reduce_problem *p = side_by_side(problem, &own);
    int64_t step = p->kept_stride[0][p->kept - 1];
    *why = "a row of so many elements at a time is quicker";
    if (single_rows_are_quicker(p))
        return false;
    *why = "so many outputs side by side are quicker by whole rows";
    if (reduce_has_planes(p))
        return p->outputs >= REDUCE_SHORT_ROWS && planes_pay(p);
    *why = "needs 16 outputs in a row";
    if (p->kept_size[p->kept - 1] < REDUCE_SHORT_ROWS)
        return false;
    return step != p->in.itemsize && step != -p->in.itemsize;
}

static bool lanes_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "the runs are short: many of them together are quicker";
    return p->kept == 0 || p->kept_size[p->kept - 1] < 8 || (p->longest > 32 && (!reduce_turns(p) || single_rows_are_quicker(p)));
}

static tess_status run_short(const tess_problem *problem, const tess_run *run) { return tess_reduce_spread(problem, run, tess_reduce_short); }
static tess_status run_columns(const tess_problem *problem, const tess_run *run) { return tess_reduce_spread(problem, run, tess_reduce_columns); }
static size_t short_workspace(const tess_problem *problem, int threads) { return tess_reduce_spread_size(of(problem), threads); }
static size_t columns_workspace(const tess_problem *problem, int threads) {
    reduce_problem own;
    return tess_reduce_spread_size(of(problem), threads) + tess_reduce_columns_workspace(&side_by_side(problem, &own)->base, threads);
}

static const tess_strategy rows[] = {
    {.name = "reduce/exact",
     .idea = "rows of elements into superaccumulators: no rounding before the last",
     .source = "Kulisch 1971; Neal 2015, Fast exact summation using small and large superaccumulators",
     .run = EVERY_SLOT(tess_reduce_exact),
     .applicable = exact_only,
     .workspace = tess_reduce_exact_workspace},
    {.name = "reduce/short",
     .idea = "sixteen short rows and more turned in L1: their trees and comparisons run side by side",
     .source = "-",
     .run = EVERY_SLOT(run_short),
     .applicable = short_fits,
     .sensible = short_pays,
     .workspace = short_workspace},
    {.name = "reduce/lanes",
     .idea = "runs of neighbours read once, in address order, into 256 lanes held in registers",
     .source = "Higham 1993, The accuracy of floating point summation (pairwise)",
     .run = EVERY_SLOT(tess_reduce_lanes),
     .applicable = contiguous,
     .sensible = lanes_pay,
     .workspace = tess_reduce_leaves_workspace},
    {.name = "reduce/columns",
     .idea = "a vector of outputs takes whole rows; lanes in bit-reversed order need only a stack of partial rows",
     .source = "Higham 1993 (pairwise), as a binary counter",
     .run = EVERY_SLOT(run_columns),
     .applicable = columns_fit,
     .sensible = columns_pay,
     .workspace = columns_workspace},
    {.name = "reduce/gather",
     .idea = "any layout: elements are loaded into a buffer that stays in cache, then as lanes",
     .source = "-",
     .run = EVERY_SLOT(tess_reduce_gather),
     .applicable = not_exact,
     .workspace = tess_reduce_leaves_workspace},
    {.name = "reduce/reference",
     .idea = "the definition, one element at a time",
     .source = "docs/numerics.md",
     .run = TESS_REFERENCE_RUN(tess_reduce_reference),
     .applicable = any_problem},
};

static void release(tess_problem *problem) {
    reduce_problem *p = (reduce_problem *)problem;
    tess_reduce_offsets_free(problem->context, p->offsets, p->segments);
}

static tess_status check(const tess_problem *problem, const char *in, const char *second, const char *out) {
    const tess_array *from = &of(problem)->in, *to = &of(problem)->out;
    (void)second;
    if (!in && from->count > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "in is NULL and has %lld elements", (long long)from->count);
    if (!out && to->count > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "out is NULL and has %lld elements", (long long)to->count);
    return tess_refuse_overlap_at(to, out, "out", from, in, "in");
}

static const tess_array *array(const tess_problem *base, tess_operand operand) {
    const reduce_problem *problem = (const reduce_problem *)base;
    return operand == TESS_ARRAY_IN ? &problem->in : operand == TESS_ARRAY_OUT ? &problem->out : NULL;
}

const tess_op tess_reduce_op = {.name = "reduce",
                                .operand = {"in", NULL, "out"},
                                .rows = rows,
                                .count = TESS_COUNT(rows),
                                .gpu_rows = tess_reduce_gpu_rows,
                                .gpu_count = REDUCE_GPU_ROWS,
                                .release = release,
                                .array = array,
                                .cut = tess_reduce_cut,
                                .slab = tess_reduce_slab,
                                .sample = tess_reduce_sample,
                                .piece = tess_reduce_piece,
                                .collect_size = sizeof(reduce_pairing),
                                .collect = tess_reduce_collect,
                                .check = check,
                                .describe = tess_reduce_describe};

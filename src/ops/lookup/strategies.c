/* SPDX-License-Identifier: Apache-2.0
 * strategies.c - the table: one row a strategy. */
#include "core/maker.h"
#include "ops/lookup/gpu_lookup.h"

#include <stdlib.h>

TESS_DECLARE_RUN(tess_lookup_bytes);
TESS_DECLARE_RUN(tess_lookup_gather);
TESS_DECLARE_RUN(tess_lookup_slices);
TESS_DECLARE_RUN(tess_lookup_interpolate);
TESS_DECLARE_RUN(tess_lookup_interpolate_records);
TESS_DECLARE_RUN(tess_lookup_interpolate_slices);
TESS_DECLARE_RUN(tess_lookup_positions);
size_t tess_lookup_interpolate_workspace_baseline(const tess_problem *base, int threads);
size_t tess_lookup_interpolate_records_workspace_baseline(const tess_problem *base, int threads);
size_t tess_lookup_positions_workspace_baseline(const tess_problem *base, int threads);
tess_status tess_lookup_reference(const tess_problem *base, const tess_run *run);

bool tess_lookup_something_to_do(const lookup_problem *problem, const char **why) {
    *why = "needs a table with entries and an out with elements";
    return problem->n > 0 && problem->out.count > 0;
}

static bool gathers(const lookup_problem *problem, const char **why) {
    if (!tess_lookup_something_to_do(problem, why))
        return false;
    *why = "looks up by integers, without interpolation";
    return problem->interpolation == TESS_INTERPOLATE_NONE;
}

static bool gather_applicable(const tess_problem *base, const char **why) {
    const lookup_problem *problem = (const lookup_problem *)base;
    if (!gathers(problem, why))
        return false;
    const lookup_axes *inner = &problem->inner;
    const int last = inner->ndim - 1;
    *why = "needs single elements, of at most 16 bytes, without others beside them in table and out, and fewer than 2^31 entries";
    const bool runs = inner->count > 1 && inner->stride[LOOKUP_FROM][last] == problem->size && inner->stride[LOOKUP_OUT][last] == problem->size;
    return !runs && problem->n <= INT32_MAX;
}

/* Slices whose elements lie farther apart than entries: a table in Fortran's order. */
static bool gather_sensible(const tess_problem *base, const char **why) {
    enum { LEAST = 16 };
    const lookup_problem *problem = (const lookup_problem *)base;
    const int last = problem->inner.ndim - 1;
    *why = "slices are copied one by one where entries lie no nearer than their elements, or indices are few";
    return problem->inner.count == 1 || (problem->at.count >= LEAST && llabs(problem->step) < llabs(problem->inner.stride[LOOKUP_FROM][last]));
}

static bool bytes_applicable(const tess_problem *base, const char **why) {
    const lookup_problem *problem = (const lookup_problem *)base;
    const lookup_axes *at = &problem->at;
    if (!gather_applicable(base, why) || problem->inner.count != 1)
        return false;
    *why = "needs an index of 8 bits, or at most 256 entries, and elements of at most 8 bytes";
    if (problem->size > 8 || (problem->index.itemsize > 1 && problem->n > 256))
        return false;
    *why = "needs index and out without gaps";
    return at->ndim == 0 || (at->ndim == 1 && at->stride[LOOKUP_FROM][0] == problem->index.itemsize && at->stride[LOOKUP_OUT][0] == problem->size);
}

static bool bytes_sensible(const tess_problem *base, const char **why) {
    const lookup_problem *problem = (const lookup_problem *)base;
    *why = "few indices do not pay for writing out 256 entries";
    if (problem->at.count < 1024)
        return false;
    *why = "a gather is quicker than making bytes of wider indices, for elements of 4 bytes or more";
    const bool planes = problem->size == 4 && base->context->slot == TESS_SLOT_AVX512 && !tess_cpu_gathers();
    return problem->index.itemsize == 1 || problem->size < 4 || planes;
}

static bool slices_applicable(const tess_problem *base, const char **why) { return gathers((const lookup_problem *)base, why); }

static bool interpolates(const lookup_problem *problem, const char **why) {
    if (!tess_lookup_something_to_do(problem, why))
        return false;
    *why = "looks up at real coordinates in elements";
    return problem->interpolation != TESS_INTERPOLATE_NONE && !problem->positions;
}

static bool positions_applicable(const tess_problem *base, const char **why) {
    const lookup_problem *problem = (const lookup_problem *)base;
    if (!tess_lookup_something_to_do(problem, why))
        return false;
    *why = "looks up among positions, fewer than 2^29";
    return problem->positions && problem->n < 1 << 29;
}

static bool interpolate_applicable(const tess_problem *base, const char **why) {
    const lookup_problem *problem = (const lookup_problem *)base;
    if (!interpolates(problem, why))
        return false;
    *why = "needs fewer than 2^28 entries to prepare";
    return problem->n < 1 << 28;
}

static bool interpolate_sensible(const tess_problem *base, const char **why) {
    const lookup_problem *problem = (const lookup_problem *)base;
    const lookup_axes *inner = &problem->inner;
    *why = "a prepared line pays when it stays in the caches, has more points than a quarter of its entries, and few lines lie side by side in out "
           "with gaps between their elements";
    const bool slices = inner->ndim == 1 && inner->stride[LOOKUP_OUT][0] == problem->size;
    const int64_t bytes = problem->n * tess_lookup_parts(problem) * (problem->compute == tess_f64 ? 8 : 4);
    return (problem->n <= 1 << 17 || bytes <= 1 << 21) && problem->at.count >= problem->n / 4 && inner->count <= 4 && !slices;
}

static bool interpolate_records_applicable(const tess_problem *base, const char **why) {
    const lookup_problem *problem = (const lookup_problem *)base;
    if (!interpolates(problem, why))
        return false;
    *why = "needs slices of one axis, of at most 512 elements, and fewer than 2^31 entries";
    return problem->inner.ndim <= 1 && problem->inner.count <= LOOKUP_RECORDS_MOST && problem->n < INT32_MAX;
}

static bool interpolate_slices_applicable(const tess_problem *base, const char **why) { return interpolates((const lookup_problem *)base, why); }

static bool always(const tess_problem *base, const char **why) {
    (void)base;
    (void)why;
    return true;
}

static const tess_strategy rows[] = {
    {.name = "lookup/bytes",
     .idea = "at most 256 entries, policy included, in registers or the first-level cache",
     .source = "-",
     .run = TESS_RUNS(tess_lookup_bytes),
     .applicable = bytes_applicable,
     .sensible = bytes_sensible},
    {.name = "lookup/gather",
     .idea = "check a run of indices without branches, then fetch",
     .source = "-",
     .run = TESS_RUNS(tess_lookup_gather),
     .applicable = gather_applicable,
     .sensible = gather_sensible},
    {.name = "lookup/slices",
     .idea = "each index copies the slice behind the axis",
     .source = "-",
     .run = TESS_RUNS(tess_lookup_slices),
     .applicable = slices_applicable},
    {.name = "lookup/interpolate",
     .idea = "a prepared line of the table: one place in memory a point",
     .source = "Keys, Cubic convolution interpolation for digital image processing, IEEE TASSP 29, 1981",
     .run = TESS_RUNS(tess_lookup_interpolate),
     .applicable = interpolate_applicable,
     .sensible = interpolate_sensible,
     .workspace = tess_lookup_interpolate_workspace_baseline},
    {.name = "lookup/interpolate_records",
     .idea = "blocks of points, each with its slice's numbers in one run: records, or neighbours copied together",
     .source = "Keys, as above",
     .run = TESS_RUNS(tess_lookup_interpolate_records),
     .applicable = interpolate_records_applicable,
     .workspace = tess_lookup_interpolate_records_workspace_baseline},
    {.name = "lookup/interpolate_slices",
     .idea = "the weights of a point serve the whole slice behind the axis",
     .source = "Keys, as above",
     .run = TESS_RUNS(tess_lookup_interpolate_slices),
     .applicable = interpolate_slices_applicable},
    {.name = "lookup/positions",
     .idea = "the entry before each point by bisection without branches, in its bucket of equal width where points are many",
     .source = "-",
     .run = TESS_RUNS(tess_lookup_positions),
     .applicable = positions_applicable,
     .workspace = tess_lookup_positions_workspace_baseline},
    {.name = "lookup/reference",
     .idea = "element after element, one thread",
     .source = "-",
     .run = TESS_REFERENCE_RUN(tess_lookup_reference),
     .applicable = always},
};

static const tess_array *array(const tess_problem *base, tess_operand operand) {
    const lookup_problem *problem = (const lookup_problem *)base;
    return operand == TESS_ARRAY_IN ? &problem->table : operand == TESS_ARRAY_SECOND ? &problem->index : &problem->out;
}

/* Places among positions stay so far from the ends that rounding to the index' type, by 2^-9 of themselves at most (bf16), keeps them inside. */
static void range_of_places(const lookup_problem *problem, double *least, double *limit) {
    const double far = problem->index.type == tess_f16 ? 65000 : 1e30, first = problem->positions[0], last = problem->positions[problem->n - 1];
    const double low = first < -far && last > -far ? -far : first, high = last > far && first < far ? far : last;
    const double margin = fmax(fabs(low), fabs(high)) * 0x1p-8;
    *least = high - low > 2 * margin ? low + margin : low + (high - low) / 2;
    *limit = high - low > 2 * margin ? high - margin : *least;
}

/* Coordinates must stay at n - 1 or below after their rounding to the index' type; f16 ends at 65504. */
static void index_range(const tess_problem *base, double *least, double *limit) {
    const lookup_problem *problem = (const lookup_problem *)base;
    *least = 0;
    if (problem->interpolation == TESS_INTERPOLATE_NONE)
        *limit = (double)problem->n;
    else if (problem->positions)
        range_of_places(problem, least, limit);
    else
        *limit = problem->index.type == tess_f16 ? fmin((double)(problem->n - 1) * (1 - 0x1p-8), 65000) : (double)(problem->n - 1) * (1 - 0x1p-8);
}

const tess_op tess_lookup_op = {.name = "lookup",
                                .operand = {"table", "index", "out"},
                                .rows = rows,
                                .count = TESS_COUNT(rows),
                                .gpu_rows = tess_lookup_gpu_rows,
                                .gpu_count = LOOKUP_GPU_ROWS,
                                .release = tess_lookup_release,
                                .array = array,
                                .index_range = index_range,
                                .cut = tess_lookup_cut,
                                .slab = tess_lookup_slab,
                                .sample = tess_lookup_sample,
                                .check = tess_lookup_check,
                                .describe = tess_lookup_describe};

/* SPDX-License-Identifier: Apache-2.0
 * strategies.c - the table: one row a strategy. */
#include "ops/transpose/gpu_transpose.h"
#include "ops/transpose/picks.h"
#include "ops/transpose/rectangle.h"
#include "ops/transpose/relay.h"

TESS_DECLARE_RUN(tess_transpose_small);
TESS_DECLARE_RUN(tess_transpose_groups);
TESS_DECLARE_RUN(tess_transpose_turned_groups);
TESS_DECLARE_RUN(tess_transpose_picks);
TESS_DECLARE_RUN(tess_transpose_tiles);
TESS_DECLARE_RUN(tess_transpose_runs);
TESS_DECLARE_RUN(tess_transpose_tables);
TESS_DECLARE_RUN(tess_transpose_blocked);
TESS_DECLARE_RUN(tess_transpose_inplace_square);
TESS_DECLARE_RUN(tess_transpose_inplace_rectangular);
tess_status tess_transpose_reference(const tess_problem *base, const tess_run *run);
size_t tess_transpose_reference_workspace(const tess_problem *base, int threads);

static transpose_place place_of(const tess_problem *base) { return ((const transpose_problem *)base)->place; }

static bool elsewhere(const tess_problem *base, const char **why) {
    *why = "works between two arrays, not in place";
    return place_of(base) == TRANSPOSE_ELSEWHERE;
}

/* The slowest axis steps over whole arrays that lie without gaps in both. */
static bool small_applicable(const tess_problem *base, const char **why) {
    const transpose_problem *problem = (const transpose_problem *)base;
    const int64_t bytes = problem->ndim > 0 ? problem->stride[TRANSPOSE_OUT][0] : 0;
    int64_t in = problem->size, out = problem->size;
    if (!elsewhere(base, why))
        return false;
    *why = "needs arrays of some elements, 1024 and 4096 bytes at most, one after another without gaps in and between them";
    if (problem->ndim < 2 || bytes < 1 || bytes > tess_min64(TRANSPOSE_SMALL, 1024 * problem->size) || problem->stride[TRANSPOSE_IN][0] != bytes)
        return false;
    for (int d = 1; d < problem->ndim; d++) {
        if (problem->shape[d] < 1 || problem->stride[TRANSPOSE_IN][d] <= 0)
            return false;
        in += (problem->shape[d] - 1) * problem->stride[TRANSPOSE_IN][d];
        out += (problem->shape[d] - 1) * problem->stride[TRANSPOSE_OUT][d];
    }
    return in == bytes && out == bytes;
}

static bool tiles_applicable(const tess_problem *base, const char **why) {
    const transpose_problem *problem = (const transpose_problem *)base;
    transpose_plane plane;
    if (!elsewhere(base, why))
        return false;
    tess_transpose_plane_of(&plane, problem, false);
    *why = "needs one axis without gaps in in and another one without gaps in out";
    return plane.p_size > 1 && (plane.p_in == problem->size || plane.p_in == -problem->size) && plane.q_out == problem->size;
}

/* As measured on a Zen 5 (notes-cpu.md): narrower matrices go element by element, of a few rows most of the stores do not fill a vector, and where both are few, or
 * elements of 8 bytes have fewer columns than a tile, single elements are quicker up to thousands of rows. */
static bool tiles_pay(const tess_problem *base, const char **why) {
    enum { VECTOR = 16 /* bytes */, COLUMNS = 4, ROWS = 7, TILE = 8, NARROW_ROWS = 16, NARROW_ROWS_OF_8 = 1 << 15 };
    const transpose_problem *problem = (const transpose_problem *)base;
    const int64_t side = VECTOR / problem->size;
    transpose_plane plane;
    tess_transpose_plane_of(&plane, problem, false);
    *why = "in matrices less than 7 elements high, or than 4 elements or 16 bytes wide, and in narrow ones of 4 and 8 bytes, single elements are "
           "quicker";
    if (plane.p_size < TILE && plane.q_size < (problem->size == 8 ? NARROW_ROWS_OF_8 : problem->size == 4 ? NARROW_ROWS : 0))
        return false;
    return plane.p_size >= tess_max64(side, COLUMNS) && plane.q_size >= tess_max64(side, ROWS);
}

static bool groups_applicable(const tess_problem *base, const char **why) {
    const transpose_problem *problem = (const transpose_problem *)base;
    transpose_plane plane;
    if (!elsewhere(base, why))
        return false;
    tess_transpose_plane_of(&plane, problem, false);
    *why = "needs an axis of 2 to 16, that lies without gaps beside another one";
    const bool join = plane.q_size >= 2 && plane.q_size <= TRANSPOSE_GROUP && plane.p_out == plane.q_size * problem->size && plane.p_size > 1;
    return plane.p_in == problem->size && plane.q_out == problem->size && (tess_transpose_splits(problem, &plane) || join);
}

/* As measured on a Zen 4 (notes-cpu.md): tables of permutes take as long as the turning of some KiB, each result as many permutes as the group has pairs. */
static int64_t longest_group(const transpose_problem *problem, bool splits) {
    if (problem->base.context->slot == TESS_SLOT_AVX2)
        return 8;
    if (problem->base.context->slot != TESS_SLOT_AVX512)
        return 4;
    if (problem->size > 1 && problem->base.bytes / 2 >= TRANSPOSE_LARGE)
        return splits && problem->size >= 8 ? 9 : TRANSPOSE_GROUP - 1; /* tiles of part of a line want lines more than once */
    return tess_transpose_group_most(problem->size);
}
static bool groups_pay(const tess_problem *base, const char **why) {
    enum { FEW = 4, PLANE = 4096, ROW = 256, LINE = 64, SHORT = 64 /* elements */, LONG = 1024 /* bytes */ };
    const transpose_problem *problem = (const transpose_problem *)base;
    transpose_plane plane;
    tess_transpose_plane_of(&plane, problem, false);
    const bool splits = tess_transpose_splits(problem, &plane);
    const int64_t count = splits ? plane.p_size : plane.q_size, row = (splits ? plane.q_size : plane.p_size) * problem->size;
    *why = "in stacks of planes of less than 1 KiB, no whole lines, from memory, elements of 4 and 8 bytes are picked more quickly";
    if (splits && problem->size >= 4 && problem->size <= 8 && row < LONG && row % LINE != 0 && row >= SHORT * problem->size &&
        base->bytes / 2 >= TRANSPOSE_LARGE && base->context->slot == TESS_SLOT_AVX512)
        return false;
    *why = "groups of more than 4 need permutes of bytes, planes of 4 KiB and 256 bytes of each at a time; of whole lines, and long ones in the "
           "caches, tiles are quicker";
    return count <= FEW || (count <= longest_group(problem, splits) && row >= ROW && problem->in.count / count * problem->size >= PLANE &&
                            count * problem->size % LINE != 0);
}

static bool turned_applicable(const tess_problem *base, const char **why) {
    transpose_turned turned;
    transpose_plane plane;
    if (!elsewhere(base, why))
        return false;
    *why = "needs an axis of 2 to 16 without gaps in one array, one that steps over such groups, and a third one without gaps in the other array";
    return tess_transpose_turned_of(&turned, &plane, (const transpose_problem *)base);
}

/* As measured on a Zen 4 (notes-cpu.md). */
static bool turned_pay(const tess_problem *base, const char **why) {
    enum { MOST = 6, PLANE = 4096, SIDE = 48 };
    const transpose_problem *problem = (const transpose_problem *)base;
    transpose_turned turned;
    transpose_plane plane;
    tess_transpose_turned_of(&turned, &plane, problem);
    const int64_t count = problem->shape[turned.group], longest = longest_group(problem, turned.splits);
    *why = "needs permutes of bytes, groups of at most 6 elements (16 of a byte, AVX2: 8), matrices of 48 x 48 and 4 KiB in each plane";
    return longest > 4 && count <= (problem->size == 1 ? longest : MOST) && plane.p_size >= SIDE && plane.q_size >= SIDE &&
           problem->in.count / count * problem->size >= PLANE;
}

/* As measured on a Zen 5 (notes-cpu.md): what is no permute goes element by element, and tiles and groups that have something to run along are quicker. */
static bool small_pays(const tess_problem *base, const char **why) {
    enum { PERMUTES = 128, JOINED = 768 /* bytes */, RUN = 32, SHORT = 64, SIDE = 8 };
    const transpose_problem *problem = (const transpose_problem *)base;
    const int64_t bytes = problem->stride[TRANSPOSE_OUT][0];
    const char *not_groups;
    transpose_plane plane;
    *why = "in arrays of more than 128 bytes tiles of 8 x 8 small elements, and axes of 2 to 4 beside 32, or 64 of 4 bytes and more, are quicker";
    tess_transpose_plane_of(&plane, problem, false);
    if (bytes <= PERMUTES)
        return true;
    const bool brief = problem->size >= 4 && (bytes < JOINED || tess_transpose_splits(problem, &plane)); /* as measured on a Zen 4 */
    if (groups_applicable(base, &not_groups) && tess_max64(plane.p_size, plane.q_size) >= (brief ? SHORT : RUN))
        return false;
    return problem->size > 4 || tess_min64(plane.p_size, plane.q_size) < SIDE;
}

static bool picks_applicable(const tess_problem *base, const char **why) {
    transpose_picks picks;
    if (!elsewhere(base, why))
        return false;
    *why = "needs an axis without gaps in out, of elements at most 64 bytes apart in in";
    return tess_transpose_picks_of(&picks, (const transpose_problem *)base);
}

/* As measured on a Zen 5 (notes-cpu.md): a row takes as long as some 40 single elements before its first piece. */
static bool picks_pay(const tess_problem *base, const char **why) {
    enum { LEAST = 8, ROW = 64 /* elements */, RUN = 32, PIECE = 24 /* bytes */, CACHED = 2 << 20 };
    const transpose_problem *problem = (const transpose_problem *)base;
    const int last = problem->ndim - 1;
    const char *tiles;
    transpose_picks picks;
    *why = "needs permutes of bytes, AVX-512's";
    if (base->context->slot != TESS_SLOT_AVX512)
        return false;
    *why = "needs rows of 64 elements, three of which lie within two vectors of in; longer runs are copied, wider matrices turned in tiles";
    tess_transpose_picks_of(&picks, problem);
    const int64_t piece = picks.each * picks.bytes;
    if (problem->stride[TRANSPOSE_IN][last] == problem->size && problem->shape[last] * problem->size > RUN)
        return false;
    if (tiles_applicable(base, &tiles) && tiles_pay(base, &tiles) && (piece < PIECE || problem->size > 8))
        return false;
    const int64_t few = problem->size == 8 && base->bytes / 2 < CACHED ? 4 : 3;
    return piece >= (piece >= PIECE ? few : LEAST) * problem->size && picks.count * picks.bytes >= ROW * problem->size;
}

static bool runs_applicable(const tess_problem *base, const char **why) {
    const transpose_problem *problem = (const transpose_problem *)base;
    int last = problem->ndim - 1;
    if (problem->place == TRANSPOSE_NOTHING)
        return true;
    if (!elsewhere(base, why))
        return false;
    *why = "needs a fast axis that is the same, and without gaps, in both arrays";
    return last < 0 || (problem->stride[TRANSPOSE_IN][last] == problem->size && problem->stride[TRANSPOSE_OUT][last] == problem->size);
}

static bool square_applicable(const tess_problem *base, const char **why) {
    *why = "needs square matrices in place";
    return place_of(base) == TRANSPOSE_SQUARE;
}

static bool rectangular_applicable(const tess_problem *base, const char **why) {
    *why = "needs rectangular matrices in place";
    return place_of(base) == TRANSPOSE_RECTANGULAR;
}

static bool always(const tess_problem *base, const char **why) {
    (void)base;
    (void)why;
    return true;
}

/* One pass, or two or three, that read and write everything. */
static double rectangular_bytes(const tess_problem *base) {
    transpose_rectangle x;
    tess_transpose_rectangle_cut(&x, (const transpose_problem *)base, 1);
    const int passes = (x.b > 1 || x.beside > 0) + (x.high > 1 && x.wide > 1) + (x.c > 1 || x.under > 0);
    return (x.copied ? 1 : passes) * base->bytes;
}

static const tess_strategy rows[] = {
    {.name = "transpose/small",
     .idea = "many small arrays one after another: one table of where elements come from, a permute of bytes for each",
     .source = "-",
     .run = TESS_RUNS(tess_transpose_small),
     .applicable = small_applicable,
     .sensible = small_pays},
    {.name = "transpose/groups",
     .idea = "a short axis beside a long one: planes to pixels and back, by permutes of bytes of whole vectors",
     .source = "-",
     .run = TESS_RUNS(tess_transpose_groups),
     .applicable = groups_applicable,
     .sensible = groups_pay},
    {.name = "transpose/turned_groups",
     .idea = "the same in rows that are turned, too, as in pictures of another order of axes: a block by planes in L2, plane by plane in tiles",
     .source = "-",
     .run = TESS_RUNS(tess_transpose_turned_groups),
     .applicable = turned_applicable,
     .sensible = turned_pay},
    {.name = "transpose/picks",
     .idea = "rows whose elements lie near each other in in: permutes of the bytes of one or two vectors",
     .source = "-",
     .run = TESS_RUNS(tess_transpose_picks),
     .applicable = picks_applicable,
     .sensible = picks_pay},
    {.name = "transpose/tiles",
     .idea = "tiles one cache line a side, transposed in registers, stored past the caches in whole lines",
     .source = "-",
     .run = TESS_RUNS(tess_transpose_tiles),
     .applicable = tiles_applicable,
     .sensible = tiles_pay,
     .workspace = tess_transpose_relay_workspace},
    {.name = "transpose/runs",
     .idea = "the fast axis stays: whole runs are copied, short ones in blocks",
     .source = "-",
     .run = TESS_RUNS(tess_transpose_runs),
     .applicable = runs_applicable},
    {.name = "transpose/tables",
     .idea = "single elements, in blocks over as many axes as fill lines on both sides, by tables of where they lie",
     .source = "-",
     .run = TESS_RUNS(tess_transpose_tables),
     .applicable = elsewhere},
    {.name = "transpose/blocked",
     .idea = "single elements, in blocks that stay in the first-level cache",
     .source = "Lam, Rothberg, Wolf, The cache performance and optimizations of blocked algorithms, ASPLOS 1991",
     .run = TESS_RUNS(tess_transpose_blocked),
     .applicable = elsewhere},
    {.name = "transpose/inplace_square",
     .idea = "tiles change places with their mirror images, no scratch",
     .source = "-",
     .run = TESS_RUNS(tess_transpose_inplace_square),
     .applicable = square_applicable},
    {.name = "transpose/inplace_rectangular",
     .idea = "bands turned in L2, blocks moved in cycles, bands put together: two or three passes along memory",
     .source = "Gustavson, Karlsson, Kagstrom, Parallel and cache-efficient in-place matrix storage format conversion, TOMS 38, 2012",
     .run = TESS_RUNS(tess_transpose_inplace_rectangular),
     .applicable = rectangular_applicable,
     .workspace = tess_transpose_rectangle_workspace,
     .bytes = rectangular_bytes},
    {.name = "transpose/reference",
     .idea = "element after element; in place from a copy",
     .source = "-",
     .run = TESS_REFERENCE_RUN(tess_transpose_reference),
     .applicable = always,
     .workspace = tess_transpose_reference_workspace},
};

static const tess_array *array(const tess_problem *base, tess_operand operand) {
    const transpose_problem *problem = (const transpose_problem *)base;
    return operand == TESS_ARRAY_SECOND ? NULL : operand == TESS_ARRAY_IN || problem->place != TRANSPOSE_ELSEWHERE ? &problem->in : &problem->out;
}

const tess_op tess_transpose_op = {.name = "transpose",
                                   .operand = {"in", NULL, "out"},
                                   .rows = rows,
                                   .count = TESS_COUNT(rows),
                                   .gpu_rows = tess_transpose_gpu_rows,
                                   .gpu_count = TRANSPOSE_GPU_ROWS,
                                   .array = array,
                                   .cut = tess_transpose_cut,
                                   .slab = tess_transpose_slab,
                                   .sample = tess_transpose_sample,
                                   .check = tess_transpose_check,
                                   .describe = tess_transpose_describe};

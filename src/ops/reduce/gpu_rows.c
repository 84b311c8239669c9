/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.c - the GPU's part of the table, and what lays out reduce/tree_rows and reduce/tree_block: the tree of docs/numerics.md along runs. */
#include "ops/reduce/gpu_reduce.h"

#define KERNEL_TEXT(file)                               \
    extern const char tess_kernel_reduce_##file##_cu[]; \
    static const tess_gpu_text file = {"reduce/" #file ".cu", tess_kernel_reduce_##file##_cu}
KERNEL_TEXT(gpu_tree_rows);
KERNEL_TEXT(gpu_tree_block);
extern const char tess_kernel_reduce_gpu_node_cuh[], tess_kernel_reduce_gpu_tree_cuh[], tess_kernel_reduce_gpu_leaf_cuh[],
    tess_kernel_reduce_gpu_packed_cuh[], tess_kernel_reduce_gpu_finish_cuh[], tess_kernel_reduce_gpu_moments_cuh[],
    tess_kernel_reduce_gpu_any_order_cuh[], tess_kernel_reduce_gpu_run_leaf_cuh[], tess_kernel_reduce_gpu_across_cuh[], tess_kernel_gpu_types_cuh[];
const tess_gpu_text tess_reduce_gpu_node_header = {"ops/reduce/gpu_node.cuh", tess_kernel_reduce_gpu_node_cuh},
                    tess_reduce_gpu_tree_header = {"ops/reduce/gpu_tree.cuh", tess_kernel_reduce_gpu_tree_cuh},
                    tess_reduce_gpu_leaf_header = {"ops/reduce/gpu_leaf.cuh", tess_kernel_reduce_gpu_leaf_cuh},
                    tess_reduce_gpu_moments_header = {"ops/reduce/gpu_moments.cuh", tess_kernel_reduce_gpu_moments_cuh},
                    tess_reduce_gpu_any_order_header = {"ops/reduce/gpu_any_order.cuh", tess_kernel_reduce_gpu_any_order_cuh},
                    tess_reduce_gpu_across_header = {"ops/reduce/gpu_across.cuh", tess_kernel_reduce_gpu_across_cuh},
                    tess_reduce_gpu_run_leaf_header = {"ops/reduce/gpu_run_leaf.cuh", tess_kernel_reduce_gpu_run_leaf_cuh},
                    tess_reduce_gpu_types_header = {"gpu/types.cuh", tess_kernel_gpu_types_cuh},
                    tess_reduce_gpu_packed_header = {"ops/reduce/gpu_packed.cuh", tess_kernel_reduce_gpu_packed_cuh},
                    tess_reduce_gpu_finish_header = {"ops/reduce/gpu_finish.cuh", tess_kernel_reduce_gpu_finish_cuh};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,      &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_leaf_header,      &tess_reduce_gpu_packed_header,
                                               &tess_reduce_gpu_any_order_header, &tess_reduce_gpu_run_leaf_header,
                                               &tess_reduce_gpu_finish_header,    &tess_reduce_gpu_types_header,
                                               &tess_reduce_gpu_complex_header,   NULL};
static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

/* ---- what every row needs ---- */

/* Also steps in whole elements, which a view of another type's memory might not have. */
static bool computable(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "needs real elements, and no exact sum";
    return !tess_is_complex(p->in.type) && !p->exact && !p->records;
}

void tess_reduce_gpu_node_options(tess_gpu_layout *layout, const reduce_problem *p) {
    tess_type acc = p->kind == REDUCE_SUM || p->kind == REDUCE_PROD ? p->acc : p->kind == REDUCE_VAR ? tess_f64 : tess_i64;
    tess_gpu_option(layout, "-DKIND=%d", (int)p->kind);
    tess_gpu_option(layout, "-DIN=%d", (int)p->in.type);
    tess_gpu_option(layout, "-DOUT=%d", (int)p->out.type);
    tess_gpu_option(layout, "-DACC=%d", (int)acc);
    tess_gpu_option(layout, "-DMAP=%d", (int)p->map);
    tess_gpu_option(layout, "-DOMIT=%d", p->omit);
    tess_gpu_option(layout, "-DOPERATION=%d", (int)p->operation);
    tess_gpu_option(layout, "-DSMALLEST=%d", p->order.smallest);
    tess_gpu_option(layout, "-DMAGNITUDE=%d", p->order.magnitude);
    tess_gpu_option(layout, "-DNUMERIC=%d", p->order.numeric);
}

int64_t tess_reduce_gpu_node_size(const reduce_problem *p) {
    int64_t key = p->in.itemsize == 8 ? 8 : 4;
    bool counted = p->omit && (p->kind == REDUCE_SUM || p->kind == REDUCE_COUNT);
    if (tess_is_complex(p->in.type)) {
        int64_t value = (p->kind == REDUCE_SUM || p->kind == REDUCE_PROD) && p->acc == tess_c128 ? 16 : 8;
        return counted ? 2 * value : value;
    }
    switch (p->kind) {
    case REDUCE_SUM:
    case REDUCE_PROD: return counted ? 16 : p->acc == tess_f32 ? 4 : 8;
    case REDUCE_COUNT: return counted ? 16 : 8;
    case REDUCE_EXTREME: return key;
    case REDUCE_ARG: return 16;
    case REDUCE_VAR: break;
    }
    return 24;
}

int64_t tess_reduce_gpu_narrow_node_size(const reduce_problem *p) {
    const bool sums = p->kind == REDUCE_SUM || p->kind == REDUCE_PROD, counted = p->omit && (p->kind == REDUCE_SUM || p->kind == REDUCE_COUNT);
    if (!tess_is_complex(p->in.type)) {
        if (p->kind == REDUCE_COUNT)
            return counted ? 8 : 4;
        if (p->kind == REDUCE_ARG)
            return p->in.itemsize == 8 ? 16 : 8;
        if (p->kind == REDUCE_SUM && reduce_is_integer(p->acc) && p->in.itemsize <= 2)
            return 4;
        if (counted && sums)
            return p->acc == tess_f32 ? 12 : 16;
    }
    return tess_reduce_gpu_node_size(p);
}

int64_t *tess_reduce_gpu_put_kept(int64_t *at, const reduce_problem *p, int count) {
    for (int d = 0; d <= count; d++)
        *at++ = d < count ? p->kept_size[d] : 0;
    for (int d = 0; d <= count; d++)
        *at++ = d < count ? p->kept_stride[0][d] / p->in.itemsize : 0;
    for (int d = 0; d <= count; d++)
        *at++ = d < count ? p->kept_stride[1][d] / p->out.itemsize : 0;
    return at;
}

int64_t *tess_reduce_gpu_put_reduced(int64_t *at, const reduce_problem *p) {
    for (int d = 0; d <= p->rank; d++)
        *at++ = d < p->rank ? p->size[d] : 0;
    for (int d = 0; d <= p->rank; d++)
        *at++ = d < p->rank ? p->stride[0][d] / p->in.itemsize : 0;
    return at;
}

int64_t tess_reduce_gpu_word(double x) {
    union {
        double x;
        int64_t word;
    } u = {.x = x};
    return u.word;
}

void tess_reduce_gpu_put_divisors(int64_t *at, const reduce_problem *p) {
    const double k = (double)p->k, less = k - p->ddof;
    at[0] = tess_reduce_gpu_word(k);
    at[1] = tess_reduce_gpu_word(1 / k);
    at[2] = tess_reduce_gpu_word(less);
    at[3] = tess_reduce_gpu_word(less >= 1 && less <= 1 << 20 && less == (double)(int)less ? 1 / less : 0);
}

bool tess_reduce_gpu_any_order(const reduce_problem *p) {
    const bool sums = p->kind == REDUCE_SUM || p->kind == REDUCE_PROD;
    return p->kind != REDUCE_VAR && (!sums || reduce_is_integer(p->acc));
}

int64_t tess_reduce_gpu_apart(const reduce_problem *p) {
    int64_t all = 0;
    for (int d = 0; d < p->kept; d++)
        all |= p->kept_stride[0][d];
    for (int d = 0; d < p->rank - 1; d++)
        all |= p->stride[0][d];
    return p->rank > 1 ? all | p->size[p->rank - 1] * p->in.itemsize : all;
}

/* ---- reduce/tree_rows ---- */

static bool rows_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    if (!computable(problem, why))
        return false;
    *why = "needs elements that are neighbours along the fastest reduced axis, no segments, no variance";
    if (p->rank < 1 || p->stride[0][p->rank - 1] != p->in.itemsize || p->k < 1 || p->offsets || p->kind == REDUCE_VAR)
        return false;
    return true;
}

/* Runs that lie apart, of which no order matters and that are no whole vectors: a warp has one after the other. */
static bool anywhere(const reduce_problem *p) { return p->rank > 1 && tess_reduce_gpu_any_order(p) && tess_reduce_gpu_apart(p) % 16 != 0; }

/* A warp has 32 lanes, and each wants a vector. */
static bool rows_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "runs of fewer than 128 elements leave most of a warp idle, and of fewer than 512 where each begins anywhere";
    if (anywhere(p) && p->size[p->rank - 1] < 512)
        return false;
    return p->k >= 128 || p->outputs < 64;
}

/* The counter of a launch whose last block finishes, or nothing. */
static void pass_ticket(tess_gpu_layout *layout, tess_gpu_step *step, bool wanted) {
    if (wanted)
        tess_gpu_pass_ticket(layout, step);
    else
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, 0);
}

/* Up to so many leaves smaller blocks, which come and go more evenly; measured at 2048. */
enum { FEW_LEAVES = 4096 };

/* For how many warps a multiprocessor must have registers; measured. Whole leaves want their loads on their way, short rows threads. */
static int64_t least_warps(const reduce_problem *p, bool eights) {
    if (tess_reduce_gpu_any_order(p) || p->rank > 1)
        return 32;
    if (eights)
        return 24;
    if (p->k >= REDUCE_LEAF)
        return 16;
    return p->k <= 512 && tess_reduce_gpu_node_size(p) == 4 ? 64 : 48;
}

tess_reduce_gpu_rows_shape tess_reduce_gpu_rows_shape_of(const reduce_problem *p) {
    tess_reduce_gpu_rows_shape s = {
        .run = tess_reduce_gpu_any_order(p), .apart = p->rank > 1, .anywhere = anywhere(p), .each = 1}; /* a run begins anywhere */
    const int64_t size = p->in.itemsize, leaves = tess_ceil_div(p->k, REDUCE_LEAF);
    const int64_t rest = tess_reduce_gpu_apart(p);
    s.vector = s.run ? 1 : size == 8 ? 2 : size == 4 ? 4 : 8;
    s.ticket = p->outputs == 1 && leaves > 8;
    s.warps = s.ticket && leaves <= FEW_LEAVES ? 4 : 8;
    s.slots = leaves > 4 ? s.warps : leaves > 2 ? 4 : (int)leaves;
    while (size == 1 && s.each < 8 &&
           leaves >=
               2 * s.each * s.warps *
                   1024) /* bytes are folded faster the longer a warp goes on, while there are four times as many blocks as a device holds at once */
        s.each *= 2;
    s.groups = tess_ceil_div(leaves, s.warps * s.each);
    s.shifted = !s.run && !s.apart && size <= 2 && rest % 4 != 0;       /* small elements are too slow one by one */
    while (!s.shifted && s.vector > 1 && rest % (s.vector * size) != 0) /* runs that begin anywhere */
        s.vector /= 2;
    s.whole = s.run || p->k >= REDUCE_LEAF;
    return s;
}

static void lay_tree_rows(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const tess_reduce_gpu_rows_shape s = tess_reduce_gpu_rows_shape_of(p);
    int64_t block[5 + 5 * (TESS_MAX_NDIM + 1)], *at = block;
    (void)device;
    const bool eights =
        s.vector == 8 &&
        (s.shifted || (p->k >= REDUCE_LEAF && p->outputs > 1)); /* a vector of a thread is a row: half as many on their way, and more warps */
    tess_gpu_unit(layout, &gpu_tree_rows);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DRANK=%d", p->rank);
    tess_gpu_option(layout, "-DVECTOR=%d", (int)s.vector);
    tess_gpu_option(layout, "-DSLOTS=%d", (int)s.slots);
    tess_gpu_option(layout, "-DWARPS=%d", (int)s.warps);
    tess_gpu_option(layout, "-DLEAVES=%d", (int)s.each);
    tess_gpu_option(layout, "-DTICKET=%d", s.ticket);
    tess_gpu_option(layout, "-DMANY=%d", s.groups > 8 * (s.ticket ? 32 * s.warps : 256));
    tess_gpu_option(layout, "-DFEW=%d", s.groups <= 256);
    tess_gpu_option(layout, "-DANYWHERE=%d", s.anywhere);
    tess_gpu_option(layout, "-DUNROLL=%d", s.anywhere && p->size[p->rank - 1] * p->in.itemsize < 4096 ? 4 : s.run || eights || s.apart ? 8 : 16);
    tess_gpu_option(layout, "-DAT_LEAST=%d", (int)(least_warps(p, eights) / s.warps));
    tess_gpu_option(layout, "-DPACKED=%d", s.run && tess_reduce_gpu_packs(p));
    tess_gpu_option(layout, "-DSHIFTED=%d", s.shifted);
    tess_gpu_option(layout, "-DWHOLE=%d", s.whole);
    *at++ = p->k;
    *at++ = p->outputs;
    *at++ = s.groups;
    *at++ = tess_reduce_gpu_word(p->ddof);
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    if (s.apart)
        at = tess_reduce_gpu_put_reduced(at, p);
    size_t bytes = (size_t)(at - block) * sizeof *block;
    int64_t partial = s.groups > 1 ? tess_gpu_reserve(layout, p->outputs * s.groups * tess_reduce_gpu_node_size(p)) : 0;
    tess_gpu_step *step = tess_gpu_launch_of(
        layout, "tree_rows", s.slots == s.warps ? p->outputs * s.groups : tess_ceil_div(p->outputs, s.warps / s.slots), 1, 1, (int)(32 * s.warps), 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    pass_ticket(layout, step, s.ticket);
    tess_gpu_pass(layout, step, block, bytes);
    if (s.groups > 1 && !s.ticket) {
        step = tess_gpu_launch_of(layout, "finish", s.groups <= 256 ? tess_ceil_div(p->outputs, 8) : p->outputs, 1, 1, 256, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
        tess_gpu_pass(layout, step, block, bytes);
    }
    layout->alignment = s.vector > 1 && !s.shifted ? s.vector * p->in.itemsize : s.run && s.apart && !s.anywhere ? 16 : 0;
}

/* ---- reduce/tree_block ---- */

static bool block_fits(const tess_problem *problem, const char **why) {
    if (!rows_fit(problem, why))
        return false;
    *why = "makes one output of at most 256 leaves of one run: more are a matter of bandwidth";
    return of(problem)->rank == 1 && of(problem)->outputs == 1 && of(problem)->k <= 256 * REDUCE_LEAF;
}

static void lay_tree_block(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    int64_t leaves = tess_ceil_div(p->k, REDUCE_LEAF);
    const int64_t block[] = {p->k, leaves, tess_reduce_gpu_word(p->ddof)};
    (void)device;
    tess_gpu_unit(layout, &gpu_tree_block);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DTICKET=%d", leaves > 1);
    tess_gpu_option(layout, "-DROWS=%d", p->k <= 2048 ? 8 : 32);
    int64_t partial = leaves > 1 ? tess_gpu_reserve(layout, leaves * tess_reduce_gpu_node_size(p)) : 0;
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tree_block", leaves, 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    pass_ticket(layout, step, leaves > 1);
    tess_gpu_pass(layout, step, block, sizeof block);
}

static const tess_gpu_row
    row_rows = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_tree_rows, .predict = tess_reduce_predict_rows},
    row_block = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_tree_block, .predict = tess_reduce_predict_block};

#define HARRIS "Harris, Optimizing parallel reduction in CUDA, NVIDIA 2007"
#define RUNG_ROW(the_name, words, from)                                                                                                 \
    {                                                                                                                                   \
        .name = "reduce/" #the_name, .idea = words, .source = from, .target = TESS_TARGET_GPU, .applicable = tess_reduce_gpu_rung_fits, \
        .sensible = tess_reduce_gpu_rung_pays, .gpu = &tess_reduce_gpu_##the_name                                                       \
    }

const tess_strategy tess_reduce_gpu_rows[REDUCE_GPU_ROWS] = {
    {.name = "reduce/tree_spread",
     .idea = "outputs that memory has in another order than out: made in memory's order in the workspace, and brought to their places by the "
             "transpose's tiles",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_spread_fits,
     .sensible = tess_reduce_gpu_spread_pays,
     .gpu = &tess_reduce_gpu_tree_spread},
    {.name = "reduce/tree_block",
     .idea = "one short run: a block a leaf, a thread a lane with all its loads on their way; the last block pairs the leaves",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = block_fits,
     .gpu = &row_block},
    {.name = "reduce/tree_short",
     .idea = "many short rows: a warp copies a stretch of them to shared memory by vectors, a few threads take a row",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_short_fits,
     .sensible = tess_reduce_gpu_short_pays,
     .gpu = &tess_reduce_gpu_short},
    {.name = "reduce/tree_sets",
     .idea = "outputs side by side whose rows follow one another: one run of elements, in which a thread's vectors are lanes whatever the width",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_sets_fit,
     .sensible = tess_reduce_gpu_sets_pay,
     .gpu = &tess_reduce_gpu_sets},
    {.name = "reduce/tree_few",
     .idea = "few elements of many outputs side by side: all elements of an output in a thread's registers, as many as the compiler knows",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_few_fit,
     .sensible = tess_reduce_gpu_few_pay,
     .gpu = &tess_reduce_gpu_few},
    {.name = "reduce/tree_patches",
     .idea = "outputs side by side of few elements: a block copies all elements of some to shared memory, a few threads take an output",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_patches_fit,
     .sensible = tess_reduce_gpu_patches_pay,
     .gpu = &tess_reduce_gpu_patches},
    {.name = "reduce/tree_columns",
     .idea = "a thread a vector of columns: the tree's lanes in bit-reversed order, partial sums on a stack in registers",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_columns_fit,
     .sensible = tess_reduce_gpu_columns_pay,
     .gpu = &tess_reduce_gpu_tree_columns},
    {.name = "reduce/tree_twice",
     .idea = "variances of outputs side by side whose rows follow one another: a leaf is read as one run for its means, and from L2 once more",
     .source = "Chan, Golub, LeVeque 1979",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_twice_fit,
     .sensible = tess_reduce_gpu_twice_pay,
     .gpu = &tess_reduce_gpu_twice},
    {.name = "reduce/tree_moments",
     .idea = "variances of outputs side by side: a block copies a leaf of some columns to shared memory, where both looks find it",
     .source = "Chan, Golub, LeVeque 1979",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_moments_fit,
     .sensible = tess_reduce_gpu_moments_pay,
     .gpu = &tess_reduce_gpu_moments},
    {.name = "reduce/tree_groups",
     .idea = "many outputs of few elements of any layout: a few threads each, which read them where they lie",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_groups_fit,
     .sensible = tess_reduce_gpu_groups_pay,
     .gpu = &tess_reduce_gpu_groups},
    {.name = "reduce/tree_rows",
     .idea = "a warp a leaf, eight lanes of the tree a thread: halved by shuffles, no barrier",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = rows_fit,
     .sensible = rows_pay,
     .gpu = &row_rows},
    {.name = "reduce/tree_turned",
     .idea = "elements that memory has in another order: turned into the workspace by the transpose's tiles, then as rows",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_turned_fits,
     .sensible = tess_reduce_gpu_turned_pays,
     .gpu = &tess_reduce_gpu_tree_turned},
    {.name = "reduce/tree_leaves",
     .idea = "any layout, complex elements: a block a leaf, a thread each of the tree's 256 lanes; a second launch pairs the leaves",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_leaves_fit,
     .sensible = tess_reduce_gpu_leaves_pay,
     .gpu = &tess_reduce_gpu_leaves},
    {.name = "reduce/exact_short",
     .idea = "exact sums of many short rows: a few threads each, whose two doubles tell what is rounded of most",
     .source = "Rump, Ogita, Oishi 2008 (extraction); Kulisch's long accumulator",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_exact_short_fits,
     .sensible = tess_reduce_gpu_exact_short_pays,
     .gpu = &tess_reduce_gpu_exact_short},
    {.name = "reduce/exact_sure",
     .idea = "exact sums of outputs side by side and of long rows: a lane has error-free sums that forget what is far below them, and adds up again "
             "what that could change",
     .source = "Rump, Ogita, Oishi 2008 (extraction); Kulisch's long accumulator",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_exact_sure_fits,
     .sensible = tess_reduce_gpu_exact_sure_pays,
     .gpu = &tess_reduce_gpu_exact_sure},
    {.name = "reduce/exact_columns",
     .idea = "exact sums of outputs side by side: a lane has rows of one column, with error-free sums of its own",
     .source = "Rump, Ogita, Oishi 2008 (extraction); Kulisch's long accumulator",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_exact_columns_fit,
     .sensible = tess_reduce_gpu_exact_columns_pay,
     .gpu = &tess_reduce_gpu_exact_columns},
    {.name = "reduce/exact_rows",
     .idea = "exact sums of long rows: warps share all of them evenly, and have error-free sums that forget what is far below them",
     .source = "Rump, Ogita, Oishi 2008 (extraction); Kulisch's long accumulator",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_exact_rows_fit,
     .sensible = tess_reduce_gpu_exact_rows_pay,
     .gpu = &tess_reduce_gpu_exact_rows},
    {.name = "reduce/exact_blocks",
     .idea = "exact sums: error-free sums of a warp's strips, then long accumulators",
     .source = "Rump, Ogita, Oishi 2008 (extraction); Kulisch's long accumulator",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_exact_fits,
     .gpu = &tess_reduce_gpu_exact},
    {.name = "reduce/exact_prefixes",
     .idea = "exact sums of segments that follow one another: differences of sums of all before, without error; warps share longer ones evenly",
     .source = "Rump, Ogita, Oishi 2008 (extraction); Kulisch's long accumulator",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_exact_prefixes_fit,
     .gpu = &tess_reduce_gpu_exact_prefixes},
    {.name = "reduce/exact_stretches",
     .idea = "exact sums of short segments that follow one another: a warp copies a stretch of whole ones to shared memory, a few threads each",
     .source = "Rump, Ogita, Oishi 2008 (extraction); Kulisch's long accumulator",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_exact_stretches_fit,
     .sensible = tess_reduce_gpu_exact_stretches_pay,
     .gpu = &tess_reduce_gpu_exact_stretches},
    {.name = "reduce/exact_segments",
     .idea = "exact sums of segments: a warp a piece, with a long accumulator of its own; long segments' pieces are merged",
     .source = "Rump, Ogita, Oishi 2008 (extraction); Kulisch's long accumulator",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_exact_segments_fit,
     .gpu = &tess_reduce_gpu_exact_segments},
    {.name = "reduce/tree_strips",
     .idea = "segments of outputs side by side: a thread a vector of columns of a segment, a block a leaf of a long one",
     .source = "Higham 1993 (pairwise); Chan, Golub, LeVeque 1979",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_strips_fit,
     .sensible = tess_reduce_gpu_strips_pay,
     .gpu = &tess_reduce_gpu_strips},
    {.name = "reduce/tree_stretches",
     .idea = "short segments that follow one another: a warp copies a stretch of whole ones to shared memory by vectors",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_stretches_fit,
     .sensible = tess_reduce_gpu_stretches_pay,
     .gpu = &tess_reduce_gpu_stretches},
    {.name = "reduce/tree_segments",
     .idea = "segments, complex elements too: a warp a leaf, whatever the lengths; short ones several a warp",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = tess_reduce_gpu_segments_fit,
     .sensible = tess_reduce_gpu_segments_pay,
     .gpu = &tess_reduce_gpu_segments},
    {.name = "reduce/tree_lanes",
     .idea = "any layout, segments, variances: a block an output, a thread each of the tree's 256 lanes",
     .source = "Higham 1993 (pairwise)",
     .target = TESS_TARGET_GPU,
     .applicable = computable,
     .gpu = &tess_reduce_gpu_tree_lanes},
    RUNG_ROW(neighbored, "neighbouring pairs in place: one lane in 2, 4, 8, ... works", "-"),
    RUNG_ROW(neighbored_packed, "neighbouring pairs by the first threads: whole warps retire", "-"),
    RUNG_ROW(interleaved, "halves meet: working threads and their values lie side by side", HARRIS),
    RUNG_ROW(unroll2, "each thread merges two blocks' values first", HARRIS),
    RUNG_ROW(unroll4, "each thread merges four blocks' values first", HARRIS),
    RUNG_ROW(unroll8, "each thread merges eight blocks' values first", HARRIS),
    RUNG_ROW(unroll8_warp, "the last 64 values by one warp, __syncwarp in place of barriers", HARRIS),
    RUNG_ROW(complete_unroll, "the halving written out for the launch's block size", HARRIS),
    RUNG_ROW(template, "the halving written out for a block size known to the compiler", HARRIS),
    RUNG_ROW(shared, "the halving in shared memory: each value read once", HARRIS),
    RUNG_ROW(shared_unroll8, "the same with eight values a thread", HARRIS),
    RUNG_ROW(shuffle, "the halving by warp shuffles: one barrier", "Luitjens, Faster parallel reductions on Kepler, NVIDIA 2014"),
    RUNG_ROW(grid_stride, "blocks that stay and walk by the size of the grid", "-"),
    RUNG_ROW(single_pass, "the last block finishes: one launch", "threadFenceReduction sample, NVIDIA"),
};

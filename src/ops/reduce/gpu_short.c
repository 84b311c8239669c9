/* SPDX-License-Identifier: Apache-2.0
 * gpu_short.c - lays out reduce/tree_short, reduce/tree_groups and reduce/exact_short: many outputs of few elements, some threads of a warp each. */
#include "ops/reduce/gpu_reduce.h"

#include <stdlib.h>

#define KERNEL_TEXT(file)                               \
    extern const char tess_kernel_reduce_##file##_cu[]; \
    static const tess_gpu_text file = {"reduce/" #file ".cu", tess_kernel_reduce_##file##_cu}
KERNEL_TEXT(gpu_tree_short);
KERNEL_TEXT(gpu_tree_words);
KERNEL_TEXT(gpu_tree_groups);
KERNEL_TEXT(gpu_exact_short);
extern const char tess_kernel_reduce_gpu_stage_cuh[], tess_kernel_reduce_gpu_group_cuh[], tess_kernel_reduce_gpu_short_moments_cuh[],
    tess_kernel_reduce_gpu_divisors_cuh[];
const tess_gpu_text tess_reduce_gpu_stage_header = {"ops/reduce/gpu_stage.cuh", tess_kernel_reduce_gpu_stage_cuh},
                    tess_reduce_gpu_divisors_header = {"ops/reduce/gpu_divisors.cuh", tess_kernel_reduce_gpu_divisors_cuh};
static const tess_gpu_text group_header = {"ops/reduce/gpu_group.cuh", tess_kernel_reduce_gpu_group_cuh},
                           short_moments_header = {"ops/reduce/gpu_short_moments.cuh", tess_kernel_reduce_gpu_short_moments_cuh};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,
                                               &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_complex_header,
                                               &tess_reduce_gpu_packed_header,
                                               &tess_reduce_gpu_exact_header,
                                               &tess_reduce_gpu_exact_group_header,
                                               &tess_reduce_gpu_stage_header,
                                               &group_header,
                                               &tess_reduce_gpu_blocks_header,
                                               &tess_reduce_gpu_small_blocks_header,
                                               &tess_reduce_gpu_moments_header,
                                               &short_moments_header,
                                               &tess_reduce_gpu_divisors_header,
                                               &tess_reduce_gpu_lanes_header,
                                               &tess_reduce_gpu_any_order_header,
                                               &tess_reduce_gpu_types_header,
                                               NULL};

enum {
    STRETCH = 4096,    /* bytes of a warp, where a row is not longer */
    LONGEST = 8192,    /* bytes of a row */
    LONGER = 16384,    /* of moments, whose leaves have a block each else */
    SHARED = 48 << 10, /* bytes that a block may have without asking */
    SUMMED_FROM = 448, /* bytes of a row: most threads have none of a stretch, so the warp looks at its blocks first */
    MANY_OUTPUTS = 64, /* fewer are a matter of waiting, not of bandwidth */
    BUSY = 132 * 16    /* warps: so many should have something to do */
};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

typedef tess_reduce_gpu_shape shape;

/* The tree's lanes that have an element, rounded up to a power of two. */
int tess_reduce_gpu_lanes(int64_t k) {
    int lanes = 1;
    while (lanes < k && lanes < REDUCE_LANES)
        lanes *= 2;
    return lanes;
}

/* What gpu_packed.cuh folds a word at a time. */
bool tess_reduce_gpu_packs(const reduce_problem *p) {
    bool truth = p->in.type == tess_bool, byte = p->in.type == tess_u8 || p->in.type == tess_i8,
         half = p->in.type == tess_f16 || p->in.type == tess_bf16;
    switch (p->kind) {
    case REDUCE_SUM: return byte && p->map == REDUCE_PLAIN && (p->acc == tess_i64 || p->acc == tess_u64);
    case REDUCE_COUNT: return byte || truth;
    case REDUCE_EXTREME: return half || ((byte || truth) && !p->order.magnitude);
    case REDUCE_ARG: return byte || truth;
    case REDUCE_PROD:
    case REDUCE_VAR: break;
    }
    return false;
}

static int64_t row_bytes(const reduce_problem *p) { return p->k * p->in.itemsize; }

bool tess_reduce_gpu_groups_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "needs 1 to 8192 elements an output, no segments, and no exact sum";
    return !p->exact && !p->records && !p->offsets && p->k >= 1 && p->k <= REDUCE_LEAF && p->outputs <= (int64_t)1 << 33;
}

static bool rows_follow(const reduce_problem *p) {
    return reduce_is_run(p) && p->kept >= 1 && p->kept_stride[0][p->kept - 1] == row_bytes(p) &&
           row_bytes(p) <= (p->kind == REDUCE_VAR ? LONGER : LONGEST);
}

bool tess_reduce_gpu_short_fits(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    if (!tess_reduce_gpu_groups_fit(problem, why))
        return false;
    *why = "needs rows of at most 8 KiB, of variances 16, that follow one another without gaps";
    return rows_follow(p);
}

/* Floats of at most 32 bits whose sums are f64. */
static bool adds_wide(const reduce_problem *p) {
    return !reduce_is_integer(p->acc) && p->kind == REDUCE_SUM && tess_reduce_gpu_node_size(p) > 4 && p->in.itemsize <= 4;
}

/* Places of small elements, a thread a row by blocks of 16 bytes: what a row's two ends cost is more than single elements of few. */
static bool by_blocks(const reduce_problem *p) { return p->kind == REDUCE_ARG && p->in.itemsize < 4 && p->k > (p->in.itemsize == 1 ? 11 : 16); }

/* From so many bytes on tree_rows reads a row as quickly, where no order matters: sums of wide elements cost a warp's end. */
static int64_t run_bytes(const reduce_problem *p) { return (p->kind == REDUCE_SUM || p->kind == REDUCE_PROD) && p->in.itemsize >= 4 ? 3200 : 2400; }

/* Up to which length stretches are quicker than tree_rows, or for wide elements than tree_groups; measured. */
bool tess_reduce_gpu_short_pays(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "few rows, or long ones, are as well read by a warp each";
    if (p->kept_size[p->kept - 1] < MANY_OUTPUTS)
        return false;
    if (tess_is_complex(p->in.type))
        return row_bytes(p) < 1024 || p->k > REDUCE_LANES || (p->kind == REDUCE_PROD && p->in.type == tess_c64);
    if (p->kind == REDUCE_VAR)
        return p->in.itemsize >= 4 || p->k <= 6000;
    if (p->in.itemsize == 8 || adds_wide(p))
        return p->k <= (p->in.itemsize == 8 ? 256 : 512);
    if (tess_reduce_gpu_any_order(p))
        return row_bytes(p) < run_bytes(p);
    return p->k <= (p->in.itemsize < 4 ? 2048 : 512);
}

bool tess_reduce_gpu_groups_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    const int last = p->kept - 1;
    *why = "few outputs, or long ones, keep whole blocks busy";
    if (p->outputs < MANY_OUTPUTS)
        return false;
    if (p->kind == REDUCE_VAR && p->rank == 1 && p->kept > 0 && llabs(p->kept_stride[0][last]) < llabs(p->stride[0][0]))
        return p->k <= 512; /* columns: measured at 300 elements, two to six times as quick as tree_leaves, and at 1000, where only 3 columns are */
    return p->k <= 256;
}

int64_t tess_reduce_gpu_room(const shape *s) { return (s->pad ? s->tile / 8 * 9 : s->tile) + 16; }

/* The widest vectors that rows allow, as many lanes a thread as are wanted at most. */
static void choose_group(const reduce_problem *p, shape *s, int most) {
    const int lanes = tess_reduce_gpu_lanes(p->k), size = (int)p->in.itemsize;
    int64_t steps = row_bytes(p);
    for (int d = 0; d < p->kept; d++)
        steps |= p->kept_stride[0][d];
    s->each = (int)tess_min64(lanes, most);
    s->group = lanes / s->each;
    s->vector = 16 / size;
    while (s->vector > 1 && (steps % (s->vector * size) || s->vector > s->each))
        s->vector /= 2;
    if (s->vector * size < 4)
        s->vector = 1;
}

/* How many times as long as it might a warp's first load from shared memory takes, of `width` bytes a lane. */
static double conflicts_of(const reduce_problem *p, const shape *s, int width) {
    int32_t address[32];
    tess_gpu_shared_cost cost = {0, 0, 0};
    for (int lane = 0; lane < 32; lane++) {
        const int64_t byte = lane / s->group * row_bytes(p) / width * width + lane % s->group * width;
        address[lane] = (int32_t)(s->pad ? byte + byte / 128 * 16 : byte);
    }
    tess_gpu_shared_request(&cost, address, width, false);
    return cost.wavefronts / (cost.wavefronts - cost.conflicts);
}

int tess_reduce_gpu_rounds(const reduce_problem *p) { return p->kind == REDUCE_VAR || adds_wide(p) ? (int)tess_ceil_div(p->k, REDUCE_LANES) : 1; }

/* At most; measured. What a row takes beside its elements is shared by the others of a warp, and rows of small elements have few of them. */
static int lanes_of_thread(const reduce_problem *p, bool wide) {
    if (p->kind == REDUCE_VAR && p->in.itemsize < 8) {
        static const int most[3][5] = {{128, 32, 32, 32, 16}, {64, 32, 32, 16, 8}, {32, 32, 16, 8, 8}};
        const int size = p->in.itemsize == 1 ? 0 : p->in.itemsize == 2 ? 1 : 2;
        return most[size][p->k <= REDUCE_LANES ? 0 : p->k <= 512 ? 1 : p->k <= 1024 ? 2 : p->k <= 2048 ? 3 : 4];
    }
    if (p->kind != REDUCE_VAR && tess_reduce_gpu_rounds(p) > 1)
        return 16;
    if (p->k > REDUCE_LANES || (wide && p->k > 64))
        return 8;
    return p->kind == REDUCE_VAR ? 16 : 32;
}

/* Variances by words of small elements, a text for each length (gpu_short_moments.cuh); not where NaNs are left out, which may be any of them. */
static bool by_moments(const reduce_problem *p) {
    return p->kind == REDUCE_VAR && p->in.itemsize <= 2 && p->in.type != tess_bool && !(p->omit && !reduce_is_integer(p->in.type));
}

/* Threads and loads of such rows, where lanes and vectors are chosen. */
static void choose_words(const reduce_problem *p, shape *s) {
    enum { HELD = 32 }; /* words of a thread, at most, that stay in registers */
    const int in_word = 4 / (int)p->in.itemsize;
    s->moments = 1;
    s->reads = s->vector * (int)p->in.itemsize >= 4 ? s->vector * (int)p->in.itemsize : 0;
    s->vector = in_word;
    if (s->each < in_word) { /* rows of less than a word, of one thread */
        s->each = in_word;
        s->group = 1;
    }
    if (s->group > 1 && s->reads > 4)
        s->reads = 4;
    s->hold = tess_ceil_div(row_bytes(p), 4 * s->group) <= HELD;
}

/* Rows that gpu_tree_words.cu takes several at a time: small elements and results, so that what a row takes beside its elements counts. */
static bool takes_words(const reduce_problem *p) {
    return p->k <= 4 && p->in.itemsize <= 2 && p->out.itemsize == p->in.itemsize &&
           (p->kind == REDUCE_EXTREME || (p->kind == REDUCE_COUNT && p->operation != TESS_COUNT_NONZERO));
}

/* Complex products of which a stretch has too few for a warp's threads: arithmetic is what they wait for. */
static bool idle_product(const reduce_problem *p, const shape *s) {
    return p->kind == REDUCE_PROD && tess_is_complex(p->in.type) && p->k <= REDUCE_LANES && STRETCH / row_bytes(p) < 32 / s->group;
}

void tess_reduce_gpu_short_shape(const reduce_problem *p, shape *s) {
    const bool wide = adds_wide(p);
    *s = (shape){.tile = STRETCH, .warps = 8, .blocks = 6};
    choose_group(p, s, lanes_of_thread(p, wide));
    if (wide && p->k > 64 && p->k <= REDUCE_LANES)
        s->vector = 1;
    if (by_moments(p))
        choose_words(p, s);
    else if (p->kind == REDUCE_VAR && s->vector > 4)
        s->vector = 4; /* of sums that have registers */
    if (p->kind == REDUCE_VAR) {
        s->hold = s->moments ? s->hold : p->k <= REDUCE_LANES;
        s->tile = 2 * STRETCH; /* fewer warps, which have more on their way */
        s->warps = row_bytes(p) > LONGEST ? 1 : 4;
        s->blocks = p->in.itemsize == 8 || s->moments || (p->in.itemsize < 4 && p->k <= REDUCE_LANES) ? 6 : 7;
    } else if (tess_reduce_gpu_rounds(p) > 1)
        s->blocks = 5;
    else if (tess_is_complex(p->in.type))
        s->blocks = p->k > REDUCE_LANES ? 3 : p->in.type == tess_c128 && p->k > 16 ? 4 : 5; /* as many as spill nothing */
    if (idle_product(p, s)) {
        s->tile = 2 * STRETCH;
        s->warps = 4;
        s->blocks = 6;
    }
    if (by_blocks(p)) {
        s->by_blocks = s->group = s->each = s->vector = 1;
        s->summed = row_bytes(p) > SUMMED_FROM;
        if (32 * row_bytes(p) > STRETCH) {
            s->tile = 2 * STRETCH;
            s->warps = s->summed ? 2 : 4;
            s->blocks = s->summed ? 10 : 6;
        }
    } else if (tess_reduce_gpu_packs(p) && p->k > 4) { /* of fewer what words have at their ends is all there is */
        const int64_t words = row_bytes(p) / 4;
        s->packed = s->vector = s->each = 1;
        s->group = words <= 16 ? 1 : words <= 32 ? 2 : words <= 64 ? 4 : words <= 256 ? 8 : words <= 512 ? 16 : 32;
    }
    const int width = s->by_blocks ? 16 : s->packed ? 4 : s->moments ? (s->reads > 4 ? s->reads : 4) : s->vector * (int)p->in.itemsize;
    const double plain = conflicts_of(p, s, width);
    if (plain > (s->by_blocks ? 1.5 : 4)) {
        s->pad = 1;
        s->pad = conflicts_of(p, s, width) < plain;
    }
    s->words = takes_words(p);
    if (s->words)
        s->pad = 0;
    while (s->tile < row_bytes(p))
        s->tile += 512;
    while (tess_reduce_gpu_room(s) * s->warps > SHARED)
        s->warps /= 2;
}

static void options_of(tess_gpu_layout *layout, const reduce_problem *p, const shape *s) {
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DNARROW=1");
    tess_gpu_option(layout, "-DGROUP=%d", s->group);
    tess_gpu_option(layout, "-DEACH=%d", s->each);
    tess_gpu_option(layout, "-DVECTOR=%d", s->vector);
    tess_gpu_option(layout, "-DHOLD=%d", s->hold);
    tess_gpu_option(layout, "-DTURNED=%d", s->turned);
    tess_gpu_option(layout, "-DMANY=%d", p->k > REDUCE_LANES);
    tess_gpu_option(layout, "-DROUNDS=%d", tess_reduce_gpu_rounds(p));
    tess_gpu_option(layout, "-DWHOLE=%d", p->k % tess_reduce_gpu_lanes(p->k) == 0);
    tess_gpu_option(layout, "-DWARPS=%d", s->warps);
    tess_gpu_option(layout, "-DAT_LEAST=%d", s->blocks);
}

int64_t tess_reduce_gpu_stretch(const reduce_problem *p, const shape *s) {
    const int64_t at_once = 32 / s->group * (s->words ? 4 / p->in.itemsize : 1), few = tess_ceil_div(p->outputs, BUSY);
    int64_t stretch = tess_max64(1, s->tile / row_bytes(p));
    if (stretch > few) /* shorter ones, for a device to be busy */
        stretch = tess_min64(stretch, tess_ceil_div(few, at_once) * at_once);
    return stretch > at_once ? stretch / at_once * at_once : stretch;
}

/* What gpu_stage.cuh asks for. Returns the number of warps. */
static int64_t lay_stretches(const reduce_problem *p, const shape *s, int64_t *block, size_t *bytes) {
    const int last = p->kept - 1;
    const int64_t inner = p->kept_size[last], stretch = tess_reduce_gpu_stretch(p, s);
    int64_t *at = block;
    const int64_t tiles = tess_ceil_div(inner, stretch), units = inner > 0 ? p->outputs / inner * tiles : 0;
    *at++ = units;
    *at++ = inner;
    *at++ = tiles;
    *at++ = p->kept_stride[1][last] / p->out.itemsize;
    *at++ = tess_reduce_gpu_word(p->ddof);
    *at++ = p->k | stretch << 32;
    *at++ = p->k;
    *at++ = 0;
    *at++ = 1;
    *at++ = 0;
    at = tess_reduce_gpu_put_kept(at, p, last);
    *bytes = (size_t)(at - block) * sizeof *block;
    return units;
}

static void lay_out_short(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    int64_t block[10 + 3 * (TESS_MAX_NDIM + 1)], divisors[4];
    size_t bytes;
    shape s;
    (void)device;
    tess_reduce_gpu_short_shape(p, &s);
    tess_gpu_unit(layout, s.words ? &gpu_tree_words : &gpu_tree_short);
    if (s.words) {
        tess_reduce_gpu_node_options(layout, p);
        tess_gpu_option(layout, "-DNARROW=1");
        tess_gpu_option(layout, "-DTALL=%d", (int)p->k);
        tess_gpu_option(layout, "-DPACKED=%d", tess_reduce_gpu_packs(p));
        tess_gpu_option(layout, "-DWARPS=%d", s.warps);
        tess_gpu_option(layout, "-DAT_LEAST=%d", s.blocks);
    } else {
        options_of(layout, p, &s);
        tess_gpu_option(layout, "-DPACKED=%d", s.packed);
        tess_gpu_option(layout, "-DBLOCKS=%d", s.by_blocks);
        tess_gpu_option(layout, "-DSUMMED=%d", s.summed);
    }
    if (s.moments) {
        tess_gpu_option(layout, "-DMOMENTS=1");
        tess_gpu_option(layout, "-DTALL=%d", (int)p->k);
        tess_gpu_option(layout, "-DREADS=%d", s.reads);
        tess_gpu_option(layout, "-DEXACT=%d", p->in.itemsize == 1 && (p->k & (p->k - 1)) == 0);
    }
    tess_gpu_option(layout, "-DKEPT=%d", p->kept - 1);
    tess_gpu_option(layout, "-DFILLED_WORDS=%d", s.packed || s.words || s.by_blocks || s.moments);
    tess_gpu_option(layout, "-DTILE=%d", s.tile);
    tess_gpu_option(layout, "-DPAD=%d", s.pad);
    const int64_t units = lay_stretches(p, &s, block, &bytes);
    tess_gpu_step *step = tess_gpu_launch_of(layout, s.words ? "tree_words" : "tree_short", tess_ceil_div(units, s.warps), 1, 1, 32 * s.warps, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass(layout, step, block, bytes);
    if (!s.words) {
        tess_reduce_gpu_put_divisors(divisors, p);
        tess_gpu_pass(layout, step, divisors, sizeof divisors);
    }
    layout->alignment = s.moments ? s.reads : s.vector > 1 ? s.vector * p->in.itemsize : 0;
}

/* ---- reduce/tree_groups ---- */

void tess_reduce_gpu_groups_shape(const reduce_problem *p, shape *s) {
    const int last = p->kept - 1, lanes = tess_reduce_gpu_lanes(p->k);
    const bool turned = p->kept > 0 && llabs(p->kept_stride[0][last]) < llabs(p->stride[0][p->rank - 1]) && p->kept_stride[0][last] != 0;
    *s = (shape){
        .vector = 1, .warps = 8, .blocks = 4 + (p->kind == REDUCE_PROD && p->in.type == tess_c64), .hold = 1, .turned = turned}; /* measured */
    s->each = lanes <= 16 && turned                  ? lanes
              : lanes <= 64 || p->k > REDUCE_LANES   ? 8
              : turned                               ? lanes / 8
              : p->in.itemsize <= 4 && !adds_wide(p) ? 16
                                                     : 8; /* measured */
    s->each = (int)tess_min64(s->each, lanes);
    s->group = lanes / s->each;
}

static void lay_out_groups(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    int64_t block[3 + 5 * (TESS_MAX_NDIM + 1)], divisors[4], *at = block;
    shape s;
    (void)device;
    tess_reduce_gpu_groups_shape(p, &s);
    const int at_once = 32 / s.group;
    int64_t turns = 4;
    while (turns > 1 && p->outputs < BUSY * turns * at_once)
        turns /= 2;
    tess_gpu_unit(layout, &gpu_tree_groups);
    options_of(layout, p, &s);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DRANK=%d", p->rank);
    tess_gpu_option(layout, "-DTURNS=%d", (int)turns);
    tess_gpu_option(layout, "-DSMALL=%d", p->outputs < INT32_MAX);
    *at++ = p->outputs;
    *at++ = p->k;
    *at++ = tess_reduce_gpu_word(p->ddof);
    at = tess_reduce_gpu_put_reduced(at, p);
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tree_groups", tess_ceil_div(p->outputs, turns * at_once * s.warps), 1, 1, 32 * s.warps, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass(layout, step, block, (size_t)(at - block) * sizeof *block);
    tess_reduce_gpu_put_divisors(divisors, p);
    tess_gpu_pass(layout, step, divisors, sizeof divisors);
}

/* ---- reduce/exact_short ---- */

bool tess_reduce_gpu_exact_short_fits(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "makes exact sums of rows of at most 8 KiB that follow one another without gaps, without segments";
    return p->exact && !p->records && !p->offsets && p->k >= 1 && rows_follow(p) && p->outputs <= (int64_t)1 << 33;
}

bool tess_reduce_gpu_exact_short_pays(const tess_problem *problem, const char **why) {
    *why = "few rows are as well summed by a block each";
    return of(problem)->outputs >= MANY_OUTPUTS;
}

static void lay_out_exact(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    int64_t block[10 + 3 * (TESS_MAX_NDIM + 1)];
    size_t bytes;
    enum { HELD = 128 }; /* bytes of a thread's elements, at most, that stay in registers */
    shape s = {.each = p->k <= 16 ? 8 : 16, .group = 1, .tile = STRETCH, .warps = 8, .blocks = 3}; /* measured */
    (void)device;
    while (s.group < 32 && s.group * s.each < p->k)
        s.group *= 2;
    const int64_t turns = tess_ceil_div(p->k, s.group);
    if (row_bytes(p) > STRETCH) {
        s.tile = LONGEST;
        s.warps = 4;
    }
    const double plain = conflicts_of(p, &s, (int)p->in.itemsize);
    s.pad = 1;
    s.pad = plain > 2 && conflicts_of(p, &s, (int)p->in.itemsize) < plain;
    tess_gpu_unit(layout, &gpu_exact_short);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept - 1);
    tess_gpu_option(layout, "-DFILLED_WORDS=0");
    tess_gpu_option(layout, "-DTILE=%d", s.tile);
    tess_gpu_option(layout, "-DPAD=%d", s.pad);
    tess_gpu_option(layout, "-DGROUP=%d", s.group);
    tess_gpu_option(layout, "-DTURNS_HELD=%d", turns * p->in.itemsize <= HELD ? (int)turns : 0);
    tess_gpu_option(layout, "-DTURNS_SURE=%d", turns * p->in.itemsize <= HELD ? (int)(p->k / s.group) : 0);
    tess_gpu_option(layout, "-DWARPS=%d", s.warps);
    tess_gpu_option(layout, "-DAT_LEAST=%d", s.blocks);
    const int64_t units = lay_stretches(p, &s, block, &bytes);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "exact_short", tess_ceil_div(units, s.warps), 1, 1, 32 * s.warps, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass(layout, step, block, bytes);
}

const tess_gpu_row tess_reduce_gpu_short = {.headers = headers,
                                            .production = true,
                                            .least_arch = 80,
                                            .lay_out = lay_out_short,
                                            .predict = tess_reduce_predict_short},
                   tess_reduce_gpu_groups = {.headers = headers,
                                             .production = true,
                                             .least_arch = 80,
                                             .lay_out = lay_out_groups,
                                             .predict = tess_reduce_predict_groups},
                   tess_reduce_gpu_exact_short = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out_exact};

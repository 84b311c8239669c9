/* SPDX-License-Identifier: Apache-2.0
 * gpu_strips.c - lays out reduce/tree_strips: segments of outputs side by side, along a slow axis, by strips of columns; leaves of long segments have blocks of their own. */
#include "ops/reduce/gpu_reduce.h"
#include "ops/reduce/offsets.h"

#include <stdlib.h>

#define KERNEL_TEXT(name, file, ending)                       \
    extern const char tess_kernel_reduce_##file##_##ending[]; \
    static const tess_gpu_text name = {"reduce/" #file "." #ending, tess_kernel_reduce_##file##_##ending}
KERNEL_TEXT(tree_strips, gpu_tree_strips, cu);
extern const char tess_kernel_reduce_gpu_strip_lanes_cuh[], tess_kernel_reduce_gpu_strip_any_cuh[];
static const tess_gpu_text lanes_header = {"ops/reduce/gpu_strip_lanes.cuh", tess_kernel_reduce_gpu_strip_lanes_cuh},
                           any_header = {"ops/reduce/gpu_strip_any.cuh", tess_kernel_reduce_gpu_strip_any_cuh};
static const tess_gpu_text *const headers[] = {&lanes_header,
                                               &any_header,
                                               &tess_reduce_gpu_node_header,
                                               &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_complex_header,
                                               &tess_reduce_gpu_across_header,
                                               &tess_reduce_gpu_any_order_header,
                                               &tess_reduce_gpu_packed_header,
                                               &tess_reduce_gpu_moments_header,
                                               &tess_reduce_gpu_types_header,
                                               NULL};

enum {
    AT_ONCE = 8,          /* lanes that a thread has at once */
    MOST_WARPS = 8,       /* of a block */
    LONGEST = 16,         /* times AT_ONCE, rows of a thread whose segment is not long */
    EACH = 256,           /* rows of a thread of a long one, about */
    ENOUGH = 4 * 132 * 3, /* blocks that keep an H200 busy to the end */
    LEAST_LEAF = 256,
    FEW_ROWS = 16,  /* of a segment: results are a good part of what memory moves */
    PUT = 32,       /* bytes of results that a thread puts down in a row then, at most */
    NEAR = 256,     /* bytes of an output's elements, and from one output to the next, for which L1 has room */
    MOST_PAIRS = 16 /* stretches of a segment's nodes beside each other */
};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

typedef struct shape {
    int vector, side, team, beside, warps, split, rounds, blocks;
    bool any, packed, alone, apart; /* alone: no segment has more leaves than one; apart: columns lie so */
    int64_t strips, limit, leaf, sets;
} shape;

/* Leaves of segments of more than s->limit rows, of s->leaf rows each, and segments that have several nodes. list: room for two words of each leaf, then three of each such segment; NULL: counts alone. */
static void list_long(const reduce_problem *p, const shape *s, int64_t *leaves, int64_t *tops, int64_t *most, int64_t *list, int64_t *top) {
    const int64_t *offset = p->offsets;
    *leaves = *tops = *most = 0;
    for (int64_t i = 0; p->longest > s->limit && i < p->segments; i++) {
        const int64_t k = offset[i + 1] - offset[i], here = tess_ceil_div(k, s->leaf);
        if (k <= s->limit)
            continue;
        if (here * s->split > 1) {
            if (top) {
                top[3 * *tops] = i;
                top[3 * *tops + 1] = *leaves;
                top[3 * *tops + 2] = here;
            }
            ++*tops;
            *most = tess_max64(*most, here * s->split);
        }
        for (int64_t at = 0; at < k; at += s->leaf, ++*leaves)
            if (list) {
                list[2 * *leaves] = offset[i] + at;
                list[2 * *leaves + 1] = i << 16 | tess_min64(s->leaf, k - at);
            }
    }
}

/* Threads for a row of a strip: as few as leave the least of them idle, where that is a fifth at least and a row is not less than 64 bytes. */
static int side_of(int64_t vectors, int64_t bytes) {
    int side = 32;
    while (side > 1 && side / 2 >= vectors)
        side /= 2;
    for (int less = side / 2; less >= 4 && less * bytes >= 64; less /= 2)
        if (tess_ceil_div(vectors, less) * less * 5 <= tess_ceil_div(vectors, side) * side * 4)
            side = less;
    return side;
}

static shape shape_of(const reduce_problem *p) {
    const int last = p->kept - 1, size = (int)p->in.itemsize;
    const int64_t width = p->kept_size[last];
    int64_t rest = width * size | p->stride[0][0];
    for (int d = 0; d < last; d++)
        rest |= p->kept_stride[0][d];
    shape s = {.any = tess_reduce_gpu_any_order(p), .leaf = REDUCE_LEAF, .split = 1, .alone = p->longest <= REDUCE_LEAF};
    int node = (int)(p->kind == REDUCE_VAR ? 8 : s.alone ? tess_reduce_gpu_narrow_node_size(p) : tess_reduce_gpu_node_size(p));
    s.apart = p->kept_stride[0][last] != size;
    s.vector = s.apart ? 1 : 16 / size;
    const bool scatters = p->usual < FEW_ROWS; /* of bytes, sixteen places of 8 bytes a thread took 2.7 ms, four 0.7 */
    while (s.vector > 1 && (rest % (s.vector * size) != 0 || (!s.any && s.vector * node > 16) || (scatters && s.vector * p->out.itemsize > PUT)))
        s.vector /= 2;
    const int bytes = s.vector * size;
    s.packed = s.any && tess_reduce_gpu_packs(p) && bytes >= 4 && (size == 1 || (size == 2 && p->kind == REDUCE_EXTREME));
    s.side = side_of(width / s.vector, bytes);
    s.strips = tess_ceil_div(width, s.side * s.vector);
    s.sets = width > 0 ? p->outputs / width : 0;
    const int in_warp = 32 / s.side;
    s.rounds = tess_min64(AT_ONCE, tess_max64(4, 64 / bytes));
    s.team = 1;
    while (s.team < in_warp && (double)(s.team * (s.any ? s.rounds : AT_ONCE)) < p->usual)
        s.team *= 2;
    s.beside = s.team > 1 || p->usual > 2.7 ? 1 : p->usual > 1.4 ? 2 : 4; /* half as many rows again have a place of the eight */
    s.limit = LONGEST * AT_ONCE * s.team;
    s.warps = s.any ? MOST_WARPS : (int)tess_min64(MOST_WARPS, REDUCE_LANES / AT_ONCE / in_warp);
    if (p->longest > s.limit) {
        const int together = s.warps * in_warp;
        int64_t leaves, tops, most;
        if (s.any)
            s.leaf = tess_max64(s.limit, tess_min64(REDUCE_LEAF, EACH * together));
        list_long(p, &s, &leaves, &tops, &most, NULL, NULL);
        const double blocks = (double)leaves * (double)s.strips * (double)s.sets;
        int part = 1;
        if (s.any) {
            while (s.leaf > LEAST_LEAF && s.leaf > s.limit && blocks * part < ENOUGH) {
                s.leaf /= 2;
                part *= 2;
            }
        } else if (p->kind != REDUCE_VAR) {
            const int64_t rows = tess_min64(REDUCE_LEAF, p->longest);
            while (together * s.split * AT_ONCE < REDUCE_LANES && (rows > (int64_t)EACH * together * s.split || blocks * s.split < ENOUGH))
                s.split *= 2;
        }
    }
    const int words = 40 + (s.any ? s.rounds * bytes / 4 + tess_max64(s.vector * (s.packed ? 4 : node) / 4, 8)
                                  : AT_ONCE * tess_max64(bytes, 4) / 4 + (AT_ONCE + 6) * s.vector * node / 4);
    s.blocks = (int)tess_max64(1, tess_min64(65536 / (32 * s.warps * words), tess_min64(32, 64 / s.warps)));
    return s;
}

bool tess_reduce_gpu_strips_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "needs segments of more outputs than one, and no exact sum";
    if (!p->offsets || p->exact || p->records || p->kept < 1 || p->outputs < 1)
        return false;
    *why = "needs fewer than 2^31 blocks";
    const shape s = shape_of(p);
    const double each = (double)s.strips * (double)s.sets, long_ones = (double)tess_reduce_gpu_segmented(p) * (1. / s.limit + 1. / s.leaf) * s.split;
    return each * ((double)p->segments + long_ones) < INT32_MAX && p->segments < (int64_t)1 << 40;
}

bool tess_reduce_gpu_strips_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    const int64_t size = p->in.itemsize, width = p->kept_size[p->kept - 1], apart = llabs(p->kept_stride[0][p->kept - 1]);
    *why = "a single column is as well read as segments apart";
    if (apart == size)
        return width > 1;
    *why = "outputs whose elements lie apart want few elements each, near to each other";
    return width >= 32 && p->stride[0][0] == size && apart <= NEAR && tess_reduce_gpu_segmented(p) * size <= NEAR;
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const shape s = shape_of(p);
    const int last = p->kept - 1, teams = s.warps * (32 / s.side) / s.team;
    const int64_t width = p->kept_size[last];
    int64_t block[11 + 3 * (TESS_MAX_NDIM + 1)], *at = block, leaves, tops, most, *list = NULL;
    (void)device;
    list_long(p, &s, &leaves, &tops, &most, NULL, NULL);
    if (leaves > 0) {
        const int64_t key = s.leaf << 32 | s.limit << 8 | s.split;
        bool made;
        list = tess_reduce_offsets_room(p->base.context, p->offsets, 2 * leaves + 3 * tops, key, &made);
        if (!list) {
            layout->full = true;
            return;
        }
        if (!made)
            list_long(p, &s, &leaves, &tops, &most, list, list + 2 * leaves);
    }
    int pairs = 1;
    while (pairs < MOST_PAIRS && 8 * pairs < most)
        pairs *= 2;
    const int64_t strips = s.strips, items = strips * s.sets * tess_ceil_div(p->segments, s.beside), long_blocks = strips * s.sets * leaves * s.split;
    tess_gpu_unit(layout, &tree_strips);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DNARROW=%d", p->longest <= s.leaf);
    tess_gpu_option(layout, "-DPACKED=%d", s.packed);
    tess_gpu_option(layout, "-DKEPT=%d", last);
    tess_gpu_option(layout, "-DVECTOR=%d", s.vector);
    tess_gpu_option(layout, "-DROWS=1");
    tess_gpu_option(layout, "-DROUNDS=%d", s.rounds);
    tess_gpu_option(layout, "-DAPART=%d", s.apart);
    tess_gpu_option(layout, "-DSIDE=%d", s.side);
    tess_gpu_option(layout, "-DTEAM=%d", s.team);
    tess_gpu_option(layout, "-DBESIDE=%d", s.beside);
    tess_gpu_option(layout, "-DWARPS=%d", s.warps);
    tess_gpu_option(layout, "-DLONGS=%d", leaves > 0);
    tess_gpu_option(layout, "-DLONG=%d", (int)s.limit);
    tess_gpu_option(layout, "-DLEAF=%d", (int)s.leaf);
    tess_gpu_option(layout, "-DSPLIT=%d", s.split);
    tess_gpu_option(layout, "-DPAIRS=%d", tops > 0);
    tess_gpu_option(layout, "-DPAIR_ROWS=%d", pairs);
    tess_gpu_option(layout, "-DSMALL=%d", items + teams < INT32_MAX);
    tess_gpu_option(layout, "-DAT_LEAST=%d", s.blocks);
    *at++ = p->segments;
    *at++ = width;
    *at++ = s.sets;
    *at++ = strips;
    *at++ = long_blocks;
    *at++ = leaves;
    *at++ = p->stride[0][0] / p->in.itemsize;
    *at++ = p->kept_stride[0][last] / p->in.itemsize;
    *at++ = p->segment_stride / p->out.itemsize;
    *at++ = p->kept_stride[1][last] / p->out.itemsize;
    *at++ = tess_reduce_gpu_word(p->ddof);
    at = tess_reduce_gpu_put_kept(at, p, last);
    const size_t bytes = (size_t)(at - block) * sizeof *block;
    const int64_t partial = tops > 0 ? tess_gpu_reserve(layout, p->outputs * leaves * s.split * tess_reduce_gpu_node_size(p)) : 0,
                  offsets = tess_gpu_data(layout, p->offsets, (size_t)(p->segments + 1) * sizeof *p->offsets),
                  longs = leaves > 0 ? tess_gpu_data(layout, list, (size_t)(2 * leaves + 3 * tops) * sizeof *list) : 0;
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tree_strips", long_blocks + tess_ceil_div(items, teams), 1, 1, 32 * s.warps, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, offsets);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, longs);
    tess_gpu_pass(layout, step, block, bytes);
    if (tops > 0) {
        step = tess_gpu_launch_of(layout, "finish", tess_ceil_div(width, 32) * tops * s.sets, 1, 1, 32 * pairs, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, offsets);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, longs + 2 * leaves * (int64_t)sizeof *list);
        tess_gpu_pass_i64(layout, step, tops);
        tess_gpu_pass(layout, step, block, bytes);
    }
    layout->alignment = s.vector > 1 ? s.vector * p->in.itemsize : 0;
}

const tess_gpu_row tess_reduce_gpu_strips = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out};

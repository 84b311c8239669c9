/* SPDX-License-Identifier: Apache-2.0
 * gpu_stretches.c - lays out reduce/tree_stretches: segments that follow one another, cut into stretches of whole ones, a warp each. */
#include "ops/reduce/gpu_reduce.h"
#include "ops/reduce/offsets.h"

extern const char tess_kernel_reduce_gpu_tree_stretches_cu[], tess_kernel_reduce_gpu_long_segments_cuh[], tess_kernel_reduce_gpu_blocks_cuh[],
    tess_kernel_reduce_gpu_small_blocks_cuh[], tess_kernel_reduce_gpu_wide_blocks_cuh[], tess_kernel_reduce_gpu_turns_cuh[],
    tess_kernel_reduce_gpu_sum_turns_cuh[], tess_kernel_reduce_gpu_ranked_cuh[], tess_kernel_reduce_gpu_alone_cuh[],
    tess_kernel_reduce_gpu_held_turns_cuh[];
const tess_gpu_text tess_reduce_gpu_blocks_header = {"ops/reduce/gpu_blocks.cuh", tess_kernel_reduce_gpu_blocks_cuh},
                    tess_reduce_gpu_small_blocks_header = {"ops/reduce/gpu_small_blocks.cuh", tess_kernel_reduce_gpu_small_blocks_cuh};
static const tess_gpu_text tree_stretches = {"reduce/gpu_tree_stretches.cu", tess_kernel_reduce_gpu_tree_stretches_cu},
                           long_segments_header = {"ops/reduce/gpu_long_segments.cuh", tess_kernel_reduce_gpu_long_segments_cuh},
                           wide_blocks_header = {"ops/reduce/gpu_wide_blocks.cuh", tess_kernel_reduce_gpu_wide_blocks_cuh},
                           turns_header = {"ops/reduce/gpu_turns.cuh", tess_kernel_reduce_gpu_turns_cuh},
                           sum_turns_header = {"ops/reduce/gpu_sum_turns.cuh", tess_kernel_reduce_gpu_sum_turns_cuh},
                           ranked_header = {"ops/reduce/gpu_ranked.cuh", tess_kernel_reduce_gpu_ranked_cuh},
                           alone_header = {"ops/reduce/gpu_alone.cuh", tess_kernel_reduce_gpu_alone_cuh},
                           held_turns_header = {"ops/reduce/gpu_held_turns.cuh", tess_kernel_reduce_gpu_held_turns_cuh};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,
                                               &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_complex_header,
                                               &tess_reduce_gpu_finish_header,
                                               &long_segments_header,
                                               &tess_reduce_gpu_blocks_header,
                                               &tess_reduce_gpu_small_blocks_header,
                                               &wide_blocks_header,
                                               &turns_header,
                                               &sum_turns_header,
                                               &ranked_header,
                                               &alone_header,
                                               &held_turns_header,
                                               &tess_reduce_gpu_lanes_header,
                                               &tess_reduce_gpu_any_order_header,
                                               &tess_reduce_gpu_moments_header,
                                               &tess_reduce_gpu_leaf_header,
                                               &tess_reduce_gpu_run_leaf_header,
                                               &tess_reduce_gpu_stage_header,
                                               &tess_reduce_gpu_packed_header,
                                               &tess_reduce_gpu_types_header,
                                               NULL};

enum {
    LEAST_TILE = 512,
    MOST = 512,        /* segments of a stretch: empty ones take time too */
    FEW_BEHIND = 12,   /* so few that would be left of a stretch's thirty-twos go with the next one */
    FEW_LEAVES = 1024, /* of a segment, for a warp to pair */
    FEW_BLOCKS = 24,   /* so few elements lie in so few blocks that they are as well read where they are wanted */
    DOUBLES_LONGER = 9000,
    DOUBLES_LONGEST = 24000, /* bytes of a mean segment of f64 whose variance is quickest by stretches of 32 KiB */
    MANY_LEAVES = 512,
    MANY_SEGMENTS = 8 * 1056 /* eight times the blocks of 256 that an H200 has at once */
};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

/* What goes by words: of floats extremes too. */
static bool packs(const reduce_problem *p) { return tess_reduce_gpu_packs(p) || (p->kind == REDUCE_EXTREME && p->in.type == tess_f32); }

/* What goes by blocks (gpu_blocks.cuh): small elements of what no order can change, and extremes, places and counts of four bytes, unless a stretch has so few
 * segments that most threads would have none. */
static bool by_blocks(const reduce_problem *p) {
    const bool half = p->in.type == tess_f16 || p->in.type == tess_bf16;
    const double mean = p->usual, bytes = mean * (double)p->in.itemsize;
    if (p->in.itemsize == 4)
        return bytes < 1200 && (p->kind == REDUCE_EXTREME || p->kind == REDUCE_ARG || p->kind == REDUCE_COUNT);
    if (p->in.itemsize > 2 || bytes >= (p->in.itemsize == 1 ? 2500 : 1400) ||
        (p->kind == REDUCE_EXTREME && (half || p->in.itemsize == 1) && mean < FEW_BLOCKS))
        return false;
    if (p->in.itemsize == 1 || (half && p->kind != REDUCE_ARG))
        return tess_reduce_gpu_packs(p);
    switch (p->kind) {
    case REDUCE_SUM: return p->map == REDUCE_PLAIN && tess_reduce_gpu_any_order(p);
    case REDUCE_EXTREME: return !p->order.magnitude;
    case REDUCE_ARG: return true;
    case REDUCE_PROD:
    case REDUCE_COUNT:
    case REDUCE_VAR: break;
    }
    return false;
}

/* Sums of two elements a word where they go in turns. */
static bool by_words(const reduce_problem *p) { return (p->in.type == tess_f16 || p->in.type == tess_bf16) && p->kind == REDUCE_SUM && !p->omit; }

/* Sums and products that have an order, in turns (gpu_sum_turns.cuh): where threads that have a segment each would wait long, and a warp would have too few
 * elements of one; measured. */
static bool in_turns(const reduce_problem *p) {
    const double mean = p->usual;
    const bool costly = p->kind == REDUCE_PROD || tess_reduce_gpu_node_size(p) > p->in.itemsize;
    if (p->kind == REDUCE_VAR || tess_reduce_gpu_any_order(p) || mean < (costly || by_words(p) ? 28 : 40))
        return false;
    if (p->in.type == tess_c128)
        return p->kind == REDUCE_SUM && mean < 100;
    if (p->in.type == tess_c64 && p->kind == REDUCE_PROD)
        return mean < 300;
    return mean < (p->kind == REDUCE_SUM && (costly || by_words(p)) ? 600 : 300);
}

/* What a warp and a multiprocessor have; measured. few: threads of a segment that is not for one thread. */
typedef struct shape {
    int tile, warps, blocks, few; /* tile: bytes of a stretch */
    int one, some;                /* elements of the longest segment of one thread, of few */
    bool sorted;                  /* by their lengths */
} shape;

static shape shape_of(const reduce_problem *p) {
    const double mean = p->usual, bytes = mean * (double)p->in.itemsize;
    const bool packed = packs(p), far = mean >= 100, any_order = tess_reduce_gpu_any_order(p) && !tess_is_complex(p->in.type);
    const bool longer = any_order && bytes >= (p->in.itemsize < 4 ? 2800 : 6000); /* most of them are better left to their leaves' warps */
    const bool wide = !longer && p->in.itemsize >= 8 && bytes >= 1024, middle = !longer && p->in.itemsize == 4 && bytes >= 2400;
    const bool narrow = !any_order && p->in.itemsize < 4 && mean >= 600;
    const int size = (int)p->in.itemsize;
    shape s = {.tile = longer ? LEAST_TILE : 4096, .warps = 2, .blocks = 24, .few = 8, .one = 32, .some = 256};
    if (by_blocks(p)) {
        s.tile = bytes < (size == 4 ? 300 : 150) ? 4096 : size == 4 ? 6144 : 8192; /* so that there are segments for all threads */
        s.warps = s.tile == 4096 && size < 4 ? 2 : 1;
        s.one = s.some = s.tile / size; /* all are a thread's */
    } else if (packed && size < 4) {
        s.few = size == 1 ? 4 : 8;
        s.one = size == 1 && far ? 0 : 64 / size;
        s.some = 512 / size;
    } else if (far && !packed) {
        s.few = p->kind == REDUCE_PROD && p->in.type == tess_c64 && mean >= 150 ? 32 : 16;
    }
    if (wide || middle || narrow || p->kind == REDUCE_VAR) {
        s.tile = 8192;
        s.warps = 1;
    }
    if (p->kind == REDUCE_VAR) {
        const bool alike = mean >= 28 && mean < (size == 8 ? 64 : 128); /* in turns, all of them */
        const bool distant = mean >= (size == 8 ? 100 : 128);
        s.sorted = size < 8 && !alike && !distant;
        s.blocks = s.sorted || (size == 8 && distant) ? 20 : size == 8 ? 16 : 24;
        s.few = distant ? 16 : alike && mean < 64 ? 4 : 8;
        s.one = distant || alike ? 0 : 32;
        s.some = mean < 400 ? 32 * s.few : 0;
        if (size >= 4 && bytes >= (size == 8 ? 3600 : 6000) &&
            bytes < 12000) { /* a leaf's block would live as long for the shorter ones as for the longest */
            s.tile = 16384;
            s.blocks = 12;
        }
        if (size == 8 && bytes >= DOUBLES_LONGER && bytes < DOUBLES_LONGEST) { /* in flight a multiprocessor has as much */
            s.tile = 32768;
            s.blocks = 6;
        }
    } else if (tess_is_complex(p->in.type))
        s.blocks = wide || p->in.itemsize == 8 ? 20 - 4 * (p->kind == REDUCE_PROD) : 16;
    else if ((p->kind == REDUCE_SUM || p->kind == REDUCE_PROD) && tess_reduce_gpu_node_size(p) > 4 && !packed && !wide)
        s.blocks = tess_reduce_gpu_any_order(p) ? 20 : 16;
    if (in_turns(p)) {
        const bool product = tess_is_complex(p->in.type) && p->kind == REDUCE_PROD,
                   large = (product && mean >= 40 && mean < 150) || p->in.type == tess_c128;
        s.tile = large ? 8192 : 6144;
        s.warps = 1;
        s.blocks = large || p->omit ? 24 : 32;
        if (product)
            s.few = mean < 40 ? 4 : mean < 64 ? 8 : mean < 150 ? 16 : 32;
        else if (by_words(p))
            s.few = mean < 64 && tess_reduce_gpu_node_size(p) == 4 ? 2 : mean < 128 ? 4 : 16;
        else
            s.few = mean < 64 ? 4 : mean < 128 ? 8 : 16;
        s.one = 0;
        /* In 32 rows; of words one element later where a segment begins within one. */
        s.some = by_words(p) && s.few < 8 ? 64 * s.few - 1 : s.few < 16 ? 32 * s.few : 512;
    }
    return s;
}

/* Elements of a warp, or a block, of a longer segment: a leaf of the tree; of small elements that no order can change as many as fill 32 KiB, for a warp that
 * goes on has less to begin and to end, while there are MANY_LEAVES. */
static int64_t leaf_of(const reduce_problem *p) {
    int64_t leaf = REDUCE_LEAF;
    const double all = (double)tess_reduce_gpu_segmented(p) * (double)p->outputs;
    while (tess_reduce_gpu_any_order(p) && leaf * p->in.itemsize < 32768 && all >= 2.0 * MANY_LEAVES * (double)leaf)
        leaf *= 2;
    return leaf;
}

typedef tess_reduce_gpu_cut pieces;

/* Where stretches begin: pairs of an element and twice its segment; or a segment longer than `tile` bytes, plus one. Behind them the end, then what the kernels
 * ask for of longer ones, `longs` and `tops`, before them the ranges' `firsts`. `sum` NULL: counts alone; else it is what that gave. */
static pieces cut(const reduce_problem *p, int64_t tile, int64_t leaf, bool run, const pieces *sum, int64_t *list) {
    const int64_t *offset = p->offsets, size = p->in.itemsize;
    int64_t *firsts = sum ? list + 2 * (sum->units + 1) : NULL, *longs = sum ? list + sum->longs : NULL, *tops = sum ? list + sum->top : NULL;
    pieces n = {0};
    int64_t first = 0, done = 0; /* the open stretch's first segment; elements of longer ones, or of the segment, that are in leaves */
    bool open = false;
    for (int64_t s = 0; s < p->segments; s++) {
        bool is_long = (offset[s + 1] - offset[s]) * size > tile;
        if (open && !is_long && (offset[s + 1] - offset[first]) * size <= tile && s - first < MOST)
            continue;
        const int64_t behind = (s - first) % 32;
        if (open && s - first > 32 && behind > 0 && behind < FEW_BEHIND)
            s -= behind, is_long = false;
        first = s;
        open = !is_long;
        if (sum) {
            list[2 * n.units] = offset[s];
            list[2 * n.units + 1] = 2 * s + is_long;
        }
        n.units++;
        n.shorts += !is_long;
        if (!is_long)
            continue;
        done = run ? done : 0;
        const int64_t leaves = tess_ceil_div(done % leaf + offset[s + 1] - offset[s], leaf);
        if (leaves > 1 && sum) {
            tops[3 * n.tops] = s;
            tops[3 * n.tops + 1] = n.leaves;
            tops[3 * n.tops + 2] = leaves;
        }
        n.tops += leaves > 1;
        n.many |= leaves > FEW_LEAVES;
        for (int64_t at = offset[s], here; at < offset[s + 1]; at += here, done += here, n.leaves++) {
            here = tess_min64(leaf - done % leaf, offset[s + 1] - at);
            if (run && done % leaf == 0) {
                if (sum)
                    firsts[n.ranges] = n.leaves;
                n.ranges++;
            }
            if (sum) {
                longs[2 * n.leaves] = at;
                longs[2 * n.leaves + 1] = s << (run ? 31 : 16) | here;
            }
        }
    }
    if (sum) {
        list[2 * n.units] = offset[p->segments];
        list[2 * n.units + 1] = 2 * p->segments;
        if (run)
            firsts[n.ranges] = n.leaves;
    }
    return n;
}

int64_t *tess_reduce_gpu_cuts(const reduce_problem *p, int64_t tile, int64_t leaf, bool run, pieces *n) {
    bool made;
    *n = cut(p, tile, leaf, run, NULL, NULL);
    n->longs = 2 * (n->units + 1) + (run ? n->ranges + 1 : 0);
    n->top = n->longs + 2 * n->leaves;
    n->words = n->top + 3 * n->tops;
    int64_t *list = tess_reduce_offsets_room(p->base.context, p->offsets, n->words, -(leaf << 32 | tile << 1 | run), &made);
    if (list && !made)
        cut(p, tile, leaf, run, n, list);
    return list;
}

/* A launch's last arguments: where the list has its part, how much of that there is, the row's own words. */
static void pass_rest(tess_gpu_layout *layout, tess_gpu_step *step, int64_t list, const int64_t *counts, int n, const int64_t *block, size_t bytes) {
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, list);
    for (int i = 0; i < n; i++)
        tess_gpu_pass_i64(layout, step, counts[i]);
    tess_gpu_pass(layout, step, block, bytes);
}

void tess_reduce_gpu_cut_launches(tess_gpu_layout *layout, const reduce_problem *p, const pieces *n, const int64_t *cuts,
                                  const tess_reduce_gpu_cut_way *way, const int64_t *block, size_t bytes) {
    const int64_t partial = n->tops ? tess_gpu_reserve(layout, p->outputs * n->leaves * way->node) : 0, counts[] = {n->leaves, n->tops, n->leaves};
    const int64_t offsets = tess_gpu_data(layout, p->offsets, (size_t)(p->segments + 1) * sizeof *p->offsets),
                  list = tess_gpu_data(layout, cuts, (size_t)n->words * sizeof *cuts);
    tess_gpu_step *step;
    if (n->shorts) {
        step = tess_gpu_launch_of(layout, way->stretches, tess_ceil_div(p->outputs * n->units, way->warps), 1, 1, 32 * way->warps, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, offsets);
        pass_rest(layout, step, list, NULL, 0, block, bytes);
    }
    if (n->leaves) {
        step = tess_gpu_launch_of(layout, way->leaves, tess_ceil_div(p->outputs * n->leaves, way->leaves_at_once), 1, 1, way->leaf_threads, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, offsets);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
        pass_rest(layout, step, list + n->longs * (int64_t)sizeof *cuts, counts, 1, block, bytes);
    }
    if (n->tops) {
        step = tess_gpu_launch_of(layout, "finish", tess_ceil_div(p->outputs * n->tops, way->tops_at_once), 1, 1, way->top_threads, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, offsets);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
        pass_rest(layout, step, list + n->top * (int64_t)sizeof *cuts, counts + 1, 2, block, bytes);
    }
}

/* More than there are of any kind: but for the last one, three neighbours that are no long segments hold more than LEAST_TILE or MOST segments. */
static double at_most(const reduce_problem *p) {
    return 4 + 3 * (double)tess_reduce_gpu_segmented(p) * (double)p->in.itemsize / LEAST_TILE + 3 * (double)p->segments / MOST +
           (double)tess_reduce_gpu_segmented(p) / REDUCE_LEAF;
}

bool tess_reduce_gpu_cuts_fit(const reduce_problem *p, const char **why) {
    *why = "needs segments whose elements follow one another";
    if (!p->offsets || p->records || p->stride[0][0] != p->in.itemsize)
        return false;
    *why = "needs fewer than 2^31 stretches, and leaves of long segments: no launch has more blocks";
    return (double)p->outputs * at_most(p) < INT32_MAX;
}

bool tess_reduce_gpu_stretches_fit(const tess_problem *problem, const char **why) {
    *why = "needs segments, and no exact sum";
    return !of(problem)->exact && tess_reduce_gpu_cuts_fit(of(problem), why);
}

/* Measured: tree_segments is quicker where most segments are somewhat longer than a stretch of sums that have an order, tree_lanes where there are so many of 4096 elements
 * and more that its blocks, one a segment, end evenly. */
bool tess_reduce_gpu_stretches_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    const double mean = p->usual, bytes = mean * (double)p->in.itemsize;
    *why = "segments of such lengths are as well read where they lie";
    if (p->kind == REDUCE_VAR)
        /* H200, f64 of 1 to 1999: 93 % of reading by stretches of 16 KiB, 31 by ones of 8, 43 by tree_segments, which has 37 of 1 to 3999 */
        return p->in.itemsize < 8 || bytes < DOUBLES_LONGEST;
    if (p->in.type == tess_c64)
        return bytes < 5000 || bytes >= 14000;
    if (p->in.type == tess_c128)
        return bytes < (p->kind == REDUCE_PROD ? 1000 : 5000) || bytes >= 20000;
    if (p->in.itemsize < 4 || p->kind == REDUCE_ARG || p->kind == REDUCE_COUNT)
        return true;
    if (mean >= REDUCE_LEAF / 2)
        return (double)p->segments * (double)p->outputs < MANY_SEGMENTS;
    return tess_reduce_gpu_any_order(p) || p->in.itemsize == 8 || mean < 1200;
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const shape s = shape_of(p);
    const bool packed = packs(p), run_leaf = !tess_reduce_gpu_any_order(p) && p->kind != REDUCE_VAR && !tess_is_complex(p->in.type);
    const int64_t leaf = leaf_of(p);
    const int long_warps = 4 * s.warps; /* what pairs many leaves is one block */
    pieces n;
    const int64_t *cuts = tess_reduce_gpu_cuts(p, s.tile, leaf, false, &n);
    int64_t block[4 + 3 * (TESS_MAX_NDIM + 1)], *at = block;
    (void)device;
    if (!cuts) {
        layout->full = true;
        return;
    }
    tess_gpu_unit(layout, &tree_stretches);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DNARROW=%d", n.tops == 0);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DRANK=1");
    tess_gpu_option(layout, "-DRUN=1");
    tess_gpu_option(layout, "-DLEAF=%d", (int)leaf);
    tess_gpu_option(layout, "-DLEAVES=%d", n.tops > 0);
    tess_gpu_option(layout, "-DFEW_LEAVES=%d", FEW_LEAVES);
    tess_gpu_option(layout, "-DMANY=%d", n.many);
    tess_gpu_option(layout, "-DPACKED=%d", packed);
    tess_gpu_option(layout, "-DRUN_LEAF=%d", run_leaf);
    if (run_leaf) {
        tess_gpu_option(layout, "-DSHIFTED=%d", p->in.itemsize <= 2);
        tess_gpu_option(layout, "-DVECTOR=%d", p->in.itemsize <= 2 ? 8 : 1);
        tess_gpu_option(layout, "-DUNROLL=%d", p->in.itemsize <= 2 ? 8 : 16);
        tess_gpu_option(layout, "-DWHOLE=1");
    } else {
        tess_gpu_option(layout, "-DWORDS=%d", tess_reduce_gpu_leaf_words(p));
        tess_gpu_option(layout, "-DSORTED=%d", s.sorted);
        tess_gpu_option(layout, "-DHOLD=%d", p->kind == REDUCE_VAR && p->in.itemsize < 8 && s.one == 0 && s.some > 0);
    }
    tess_gpu_option(layout, "-DBLOCKS=%d", by_blocks(p));
    tess_gpu_option(layout, "-DSUMMED=%d", p->usual >= FEW_BLOCKS);
    tess_gpu_option(layout, "-DTURNS=%d", in_turns(p));
    tess_gpu_option(layout, "-DTILE=%d", s.tile);
    tess_gpu_option(layout, "-DPAD=0");
    tess_gpu_option(layout, "-DWARPS=%d", s.warps);
    tess_gpu_option(layout, "-DLONG_WARPS=%d", long_warps);
    tess_gpu_option(layout, "-DFEW_LANES=%d", s.few);
    tess_gpu_option(layout, "-DONE=%d", s.one);
    tess_gpu_option(layout, "-DSOME=%d", s.some);
    tess_gpu_option(layout, "-DAT_LEAST=%d", s.blocks);
    *at++ = p->outputs;
    *at++ = n.units;
    *at++ = p->segment_stride / p->out.itemsize;
    *at++ = tess_reduce_gpu_word(p->ddof);
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    const bool warps_of_leaves = tess_reduce_gpu_any_order(p) || run_leaf;
    const tess_reduce_gpu_cut_way way = {.stretches = "tree_stretches",
                                         .leaves = "long_leaves",
                                         .node = tess_reduce_gpu_node_size(p),
                                         .warps = s.warps,
                                         .leaves_at_once = warps_of_leaves ? long_warps : 1,
                                         .leaf_threads = warps_of_leaves ? 32 * long_warps : tess_reduce_gpu_leaf_threads(p),
                                         .tops_at_once = long_warps,
                                         .top_threads = 32 * long_warps};
    tess_reduce_gpu_cut_launches(layout, p, &n, cuts, &way, block, (size_t)(at - block) * sizeof *block);
}

const tess_gpu_row tess_reduce_gpu_stretches = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out};

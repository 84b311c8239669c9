/* SPDX-License-Identifier: Apache-2.0
 * gpu_sets.c - lays out reduce/tree_sets: outputs side by side whose rows follow one another without gaps, as runs of elements. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_tree_sets_cu[];
static const tess_gpu_text tree_sets = {"reduce/gpu_tree_sets.cu", tess_kernel_reduce_gpu_tree_sets_cu};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,    &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_complex_header, &tess_reduce_gpu_lanes_header,
                                               &tess_reduce_gpu_finish_header,  &tess_reduce_gpu_any_order_header,
                                               &tess_reduce_gpu_packed_header,  &tess_reduce_gpu_across_header,
                                               &tess_reduce_gpu_types_header,   NULL};

enum {
    MOST_LANES = 64 /* of a thread: more would be text */,
    HELD = 4 /* of a thread at once */,
    MOST_ROOM = 48 << 10,
    MOST_THREADS = 1024,
    MEET = 16, /* rows that a thread a column takes, where others have met before (gpu_tree_sets.cu) */
    FEW_BLOCKS = 264,
    LONG = 2048 /* elements; of more a leaf has as many threads as fill a device */
};

typedef tess_reduce_gpu_sets_shape shape;

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

static int64_t width_of(const reduce_problem *p) { return p->kept_size[p->kept - 1]; }

static int64_t units_of(const reduce_problem *p, const shape *s) { return p->outputs / width_of(p) * tess_ceil_div(p->k, s->leaf); }

static bool is_bytes(const reduce_problem *p) { return p->in.itemsize == 1; }

/* Whose vectors are written out in twice as many rows; measured, as are the choices below. */
static bool sums_of_bytes(const reduce_problem *p) { return is_bytes(p) && p->kind == REDUCE_SUM && p->k > REDUCE_LANES && p->k <= 2 * REDUCE_LANES; }

/* What a thread does beside its vectors is shared by more of them where an output has few. */
static int most_rows(const reduce_problem *p, const shape *s, bool any, bool brief) {
    const bool small = s->vector * p->in.itemsize < 16 && width_of(p) >= 64;
    return (brief && (any ? !sums_of_bytes(p) : small)) || (is_bytes(p) && p->kind == REDUCE_ARG) ? 16 : 32;
}

int tess_reduce_gpu_sets_met(const shape *s) { return s->rows > 32 ? MEET : s->rows; }

/* Of tall sets, of which there are few, more rows side by side: threads, which may be as many as two waves of them, so that the last ones do not wait for long. Of what no order can change leaves are shorter when that is not enough,
 * and a warp reads one place of memory where it can. */
static void share_more(const reduce_problem *p, shape *s, bool any) {
    enum { WAVE = 132 * 512, ANY_WAVE = 132 * 1024, LEAST_LEAF = 1024 };
    const int64_t width = width_of(p), wave = any ? ANY_WAVE : WAVE;
    const int lanes = tess_reduce_gpu_lanes(p->k);
    while (s->rows < lanes && tess_reduce_gpu_sets_spot(s, 2 * s->rows * width) * s->met <= MOST_ROOM) {
        const int64_t threads = units_of(p, s) * s->leaf_threads, most = !any && threads < wave ? 512 : 256;
        const bool apart = any && p->in.itemsize <= 2 && s->leaf_threads < 32;
        if (2 * s->leaf_threads > most || (threads >= (any ? wave * 3 / 2 : wave * 2) && !apart))
            break;
        s->rows *= 2;
        s->leaf_threads *= 2;
    }
    while (any && p->k > REDUCE_LEAF && s->leaf > LEAST_LEAF && units_of(p, s) * s->leaf_threads < wave)
        s->leaf /= 2;
}

/* Rounds on their way, warps of a multiprocessor and threads of a block. brief: at most two terms a lane. */
static void choose_pace(const reduce_problem *p, shape *s, bool any, bool brief) {
    const bool wide = s->vector * p->in.itemsize == 16, doubles = p->acc == tess_f64 || p->acc == tess_c128;
    int64_t warps, most = 320; /* threads of a block */
    if (any) {
        s->rounds = is_bytes(p) && !brief && p->kind != REDUCE_ARG ? 8 : p->in.itemsize < 4 ? 6 : 4;
        warps = p->in.itemsize < 4 ? 32 : 40;
    } else if (brief) {
        s->rounds = p->k > REDUCE_LANES ? 2 : 1;
        warps = !wide || (doubles && s->leaf_threads > 192) ? 32 : 24;
        most = wide ? 192 : most;
    } else {
        s->rounds = (wide && doubles ? 2 : 4) * HELD / s->held;
        warps = wide && !doubles ? 16 : 24;
        most = wide && !doubles ? 192 : most;
    }
    s->leaves = 1;
    if (p->k > LONG)
        most = tess_min64(most, units_of(p, s) * s->leaf_threads / FEW_BLOCKS);
    for (int64_t n = 2; n * s->leaf_threads <= most && tess_reduce_gpu_sets_spot(s, n * s->rows * width_of(p)) * s->met <= MOST_ROOM; n++)
        if (n * tess_ceil_div(s->leaves * s->leaf_threads, 32) >= s->leaves * tess_ceil_div(n * s->leaf_threads, 32)) /* no more threads idle */
            s->leaves = n;
    s->threads = (int)(tess_ceil_div(s->leaf_threads * s->leaves, 32) * 32);
    s->blocks = (int)(warps * 32 / s->threads);
    if ((brief && s->blocks * s->threads * 3 < warps * 32 * 2) || s->blocks == 0)
        s->blocks++;
}

int64_t tess_reduce_gpu_sets_spot(const shape *s, int64_t i) { return i + i / (s->met <= 4 ? 32 : s->met <= 8 || s->vector > 8 ? 16 : 8); }

bool tess_reduce_gpu_sets_shape_of(const reduce_problem *p, shape *s) {
    const bool any = tess_reduce_gpu_any_order(p), half = p->in.itemsize == 2;
    const int64_t size = p->in.itemsize, node = tess_reduce_gpu_node_size(p), width = width_of(p);
    const int lanes = tess_reduce_gpu_lanes(p->k);
    int64_t rest = p->k * width * size;
    *s = (shape){.vector = (int)(16 / size), .leaf = REDUCE_LEAF};
    while (!any && s->vector > 1 && s->vector * size > 4 && s->vector * node > 16)
        s->vector /= 2;
    if (p->kind == REDUCE_PROD && tess_is_complex(p->in.type)) /* of two factors of 1 the left one's zero stays */
        s->vector = 1;
    const bool brief = p->k <= 2 * lanes;
    s->rows = (int)tess_min64(lanes, most_rows(p, s, any, brief));
    while (s->rows > 1 && s->rows * width / s->vector > (s->rows > 8 ? 256 : 512) && lanes / s->rows < MOST_LANES &&
           s->rows / 2 * width % s->vector == 0)
        s->rows /= 2;
    s->leaf_threads = s->rows * width / s->vector;
    s->met = p->kind == REDUCE_ARG && size <= 2 ? 4 : node;
    if (p->k > LONG && s->rows * width % s->vector == 0)
        share_more(p, s, any);
    if (p->k <= s->leaf && s->met > 4)
        s->met = tess_reduce_gpu_narrow_node_size(p);
    if (s->rows * width % s->vector != 0 || s->leaf_threads > MOST_THREADS || tess_reduce_gpu_sets_spot(s, s->rows * width) * s->met > MOST_ROOM)
        return false;
    if (any ? sums_of_bytes(p) : brief) {
        s->sure = (int)(p->k / s->rows);
        s->most = (int)tess_ceil_div(p->k, s->rows);
    }
    s->each = lanes / s->rows;
    s->held = (int)tess_min64(s->each, HELD);
    s->packed = any && tess_reduce_gpu_packs(p) && (is_bytes(p) || (half && p->kind == REDUCE_EXTREME));
    choose_pace(p, s, any, brief);
    for (int d = 0; d < p->kept - 1; d++)
        rest |= p->kept_stride[0][d];
    s->ragged = rest % (s->vector * size) != 0;
    return true;
}

bool tess_reduce_gpu_sets_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    shape s;
    *why = "needs outputs side by side whose rows follow one another, along one axis, no segments, no variance, and no exact sum";
    if (p->exact || p->records || p->offsets || p->kind == REDUCE_VAR || p->outputs < 1 || p->kept < 1 || p->rank != 1 || p->k < 1 ||
        width_of(p) < 2 || p->kept_stride[0][p->kept - 1] != p->in.itemsize || p->stride[0][0] != width_of(p) * p->in.itemsize)
        return false;
    *why = "needs rows of which a block takes some, and fewer than 2^31 leaves";
    int64_t units;
    return tess_reduce_gpu_sets_shape_of(p, &s) && !TESS_MUL_OVERFLOWS(p->outputs / width_of(p), tess_ceil_div(p->k, s.leaf), &units) &&
           units <= INT32_MAX - MOST_THREADS;
}

/* Of at most 256 elements, where tree_patches would be taken otherwise; measured. */
static bool pays_short(const reduce_problem *p) {
    const int64_t size = p->in.itemsize, width = width_of(p);
    const bool any = tess_reduce_gpu_any_order(p);
    tess_reduce_gpu_patch patch;
    if (p->k < 48 || p->outputs < 4096)
        return false;
    if (tess_is_complex(p->in.type))
        return p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && (size == 8 ? width <= 128 : width >= 8 && width <= 64);
    if (size == 1)
        return any && p->k >= (p->kind == REDUCE_EXTREME ? 128 : 200);
    if (size == 2)
        return !any && p->acc == tess_f32;
    if (p->k < 200 || !tess_reduce_gpu_patch_of(p, &patch) || patch.linear)
        return false;
    return size == 4 ? (any || p->acc == tess_f32) && width * size % 128 != 0 : !any && patch.vector == 1;
}

/* Whether strips of 32 threads are nearly full of vectors that are not narrow. */
static bool fills_strips(const reduce_problem *p) {
    const tess_reduce_gpu_columns_shape c = tess_reduce_gpu_columns_shape_of(p);
    return c.vector * p->in.itemsize >= 8 && 4 * width_of(p) >= 3 * 32 * c.vector * c.strips;
}

/* Measured, but of tall ones. */
bool tess_reduce_gpu_sets_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    shape s;
    *why = "of few elements patches are as quick, and of few sets of wide ones other rows have more on their way";
    if (!tess_reduce_gpu_sets_shape_of(p, &s))
        return false;
    if (p->k <= REDUCE_LANES)
        return pays_short(p);
    if (p->k > 2 * REDUCE_LANES && s.leaf_threads > 512)
        return false;
    if (p->in.type == tess_f64 && !tess_reduce_gpu_any_order(p) && width_of(p) >= 64 && p->k >= 400)
        return false;
    /* Of few sets each has a block alone, and tree_columns splits their leaves; measured of 1 to 256 sets of 300 to 2000 rows of 16 to 256 columns. */
    const int64_t units = p->outputs / width_of(p) * tess_ceil_div(p->k, REDUCE_LEAF), all = p->k * width_of(p), size = p->in.itemsize;
    const bool slow = tess_reduce_gpu_any_order(p) && size >= 4;
    if (p->k > LONG)
        return width_of(p) <= 64 || units >= 128 || !fills_strips(p);
    if (p->k > 2 * REDUCE_LANES && width_of(p) >= 32 && all >= (slow ? 1 << 15 : size >= 4 ? 3 << 16 : 3 << 15) && units < (slow ? 128 : 32))
        return false;
    return !tess_is_complex(p->in.type) || units * s.leaf_threads >= 8192;
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    int64_t block[8 + 3 * (TESS_MAX_NDIM + 1)], *at = block;
    const int64_t width = width_of(p);
    int64_t low = 0, high = p->k * width;
    shape s;
    (void)device;
    if (!tess_reduce_gpu_sets_shape_of(p, &s))
        return;
    const int64_t units = units_of(p, &s), leaves = tess_ceil_div(p->k, s.leaf);
    const bool many = leaves > 1;
    tess_gpu_unit(layout, &tree_sets);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DNARROW=%d", !many);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DVECTOR=%d", s.vector);
    tess_gpu_option(layout, "-DPACKED=%d", s.packed);
    tess_gpu_option(layout, "-DRAGGED=%d", s.ragged);
    tess_gpu_option(layout, "-DROWS=%d", s.rows);
    tess_gpu_option(layout, "-DEACH=%d", s.each);
    tess_gpu_option(layout, "-DHELD=%d", s.held);
    tess_gpu_option(layout, "-DROUNDS=%d", s.rounds);
    tess_gpu_option(layout, "-DBLOCK=%d", s.threads);
    tess_gpu_option(layout, "-DSURE=%d", s.sure);
    tess_gpu_option(layout, "-DMAYBE=%d", s.most);
    tess_gpu_option(layout, "-DACROSS=%d", (int)width);
    tess_gpu_option(layout, "-DLEAF=%d", (int)s.leaf);
    tess_gpu_option(layout, "-DLEAVES=%d", (int)s.leaves);
    tess_gpu_option(layout, "-DROOM=%d", (int)tess_reduce_gpu_sets_spot(&s, s.leaves * s.rows * width));
    tess_gpu_option(layout, "-DMANY=%d", many);
    tess_gpu_option(layout, "-DFEW=%d", tess_reduce_gpu_paired(leaves) <= 256);
    tess_gpu_option(layout, "-DAT_LEAST=%d", s.blocks);
    *at++ = p->k;
    *at++ = leaves;
    *at++ = p->outputs;
    *at++ = tess_reduce_gpu_word(p->ddof);
    for (int d = 0; d < p->kept - 1; d++)
        *(p->kept_stride[0][d] < 0 ? &low : &high) += (p->kept_size[d] - 1) * (p->kept_stride[0][d] / p->in.itemsize);
    *at++ = low;
    *at++ = high;
    *at++ = units;
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    const size_t bytes = (size_t)(at - block) * sizeof *block;
    const int64_t partial = many ? tess_gpu_reserve(layout, p->outputs * leaves * tess_reduce_gpu_node_size(p)) : 0;
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tree_sets", tess_ceil_div(units, s.leaves), 1, 1, s.threads, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass(layout, step, block, bytes);
    tess_reduce_gpu_pair_launches(layout, p, leaves, partial, block, bytes);
    layout->alignment = !s.ragged && s.vector > 1 ? s.vector * p->in.itemsize : 0;
}

const tess_gpu_row tess_reduce_gpu_sets = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out, .predict = tess_reduce_predict_sets};

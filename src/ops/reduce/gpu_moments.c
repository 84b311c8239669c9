/* SPDX-License-Identifier: Apache-2.0
 * gpu_moments.c - lays out reduce/tree_moments: variances of outputs side by side, a block for as many columns of a leaf as its shared memory holds. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_tree_moments_cu[], tess_kernel_reduce_gpu_moments_tile_cuh[];
static const tess_gpu_text tree_moments = {"reduce/gpu_tree_moments.cu", tess_kernel_reduce_gpu_tree_moments_cu},
                           tile_header = {"ops/reduce/gpu_moments_tile.cuh", tess_kernel_reduce_gpu_moments_tile_cuh};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,
                                               &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_lanes_header,
                                               &tess_reduce_gpu_any_order_header,
                                               &tess_reduce_gpu_moments_header,
                                               &tess_reduce_gpu_finish_header,
                                               &tess_reduce_gpu_types_header,
                                               &tile_header,
                                               NULL};

enum {
    MOST_LANES = 32 /* of a thread: more would be text */,
    SHARE = 120 /* bytes of a thread at least: what shared memory holds is for as many threads as have registers */,
    BYTES_SHARE = 200 /* the same of those that take words of four elements */,
    HELD = 4 /* lanes of a thread at once */,
    LEAST = 64 /* elements, and of all outputs, for it to pay */,
    LEAST_ALL = 1 << 16,
    LEAST_SIDE = 4 /* elements where 32 columns and more are side by side */,
    BESIDE = 1280 /* bytes of a block that the system has, and what rounds up */,
    MOST_THREADS = 320 /* of a block with several tiles, and their bytes */,
    MOST_BYTES = 48 << 10,
    BYTES_BYTES = 72 << 10,
    MOST_KEPT = 24 /* words of a thread in registers */,
    WORDS_OF_TWO = 1280 /* threads of a multiprocessor that take those, where they cannot be fewer */,
    MOST_WALKED = 8 /* lanes of a thread whose block goes from tile to tile */,
    MOST_ACROSS = 64 /* columns of its tiles */,
    LEAST_RING = 3 /* parts of a tile that are there at once */,
    MOST_WHOLE = 4 /* leaves of an output beside which a shorter last one is a launch's worth */,
    WAVES = 2 /* of blocks, which such a launch has at least */
};

typedef tess_reduce_gpu_moments_shape shape;
typedef tess_reduce_gpu_moments_part part;

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

static int64_t width_of(const reduce_problem *p) { return p->kept_size[p->kept - 1]; }

static int64_t leaves_of(const reduce_problem *p) { return tess_ceil_div(p->k, REDUCE_LEAF); }

static int64_t rows_of(const reduce_problem *p) { return tess_min64(p->k, REDUCE_LEAF); }

/* The greatest power of two, at most 32, of which all bytes between rows and sets are multiples. */
static int64_t alignment_of(const reduce_problem *p) {
    int64_t rest = p->stride[0][0] | width_of(p) * p->in.itemsize, align = 32;
    for (int d = 0; d < p->kept - 1; d++)
        rest |= p->kept_stride[0][d];
    while (rest % align != 0)
        align /= 2;
    return align;
}

/* Leaves of a power of two of bytes take one look (gpu_moments.cuh); whether all are such. */
static bool exact_of(const reduce_problem *p) { return (p->in.type == tess_u8 || p->in.type == tess_i8) && (rows_of(p) & (rows_of(p) - 1)) == 0; }
static bool at_once_of(const reduce_problem *p) { return exact_of(p) && p->k % rows_of(p) == 0; }

/* Elements of a thread's word, and threads of a tile. */
static int64_t neighbours_of(const reduce_problem *p, const shape *s) { return s->word / p->in.itemsize; }
static int64_t threads_of(const reduce_problem *p, const shape *s, int64_t across) { return s->rows * across / neighbours_of(p, s); }

/* Threads of a multiprocessor: with 40 registers each, or of many lanes 48, with words 64. */
static int64_t most_threads(const reduce_problem *p, const shape *s) {
    return neighbours_of(p, s) > 1 ? 1024 : tess_reduce_gpu_lanes(p->k) / s->rows <= 8 ? 1536 : 1280;
}

/* Those that it has in the end where shared memory allows: measured, words do with fewer registers, too. */
static int64_t resident_threads(const reduce_problem *p, const shape *s) {
    return neighbours_of(p, s) == 1 ? most_threads(p, s) : neighbours_of(p, s) == 2 || at_once_of(p) ? 1536 : 1280;
}

/* What a block beside the tiles of so many columns has: the sums of its threads, what they count, the means. */
static int64_t beside(const reduce_problem *p, const shape *s, int64_t tiles, int64_t across) {
    return BESIDE + tiles * (across * 8 + s->rows * (across | 1) * (p->omit ? 12 : 8));
}

/* Whether half of so many threads of a column could have its lanes. */
static bool halves(const reduce_problem *p, int64_t rows) { return rows > 1 && 2 * tess_reduce_gpu_lanes(p->k) <= rows * MOST_LANES; }

/* Tiles of whole sets without gaps. */
static bool run_of(const reduce_problem *p, const tess_gpu_device *device, shape *s, int64_t blocks) {
    const int64_t size = p->in.itemsize, width = width_of(p), bytes = rows_of(p) * width * size, threads = threads_of(p, s, width),
                  most = neighbours_of(p, s) == 2 && !halves(p, s->rows) ? WORDS_OF_TWO : most_threads(p, s);
    if (p->stride[0][0] != width * size || s->rows * width * size % s->word != 0 || tess_ceil_div(threads, 32) * 32 * blocks > most ||
        threads > 1024 || bytes + 32 > tess_min64(device->shared_sm / blocks, device->shared_block_optin) - beside(p, s, 1, width))
        return false;
    s->run = true;
    s->across = (int)width;
    s->strips = 1;
    s->pitch = (int)(width * size);
    s->vector = 16;
    s->shifted = alignment_of(p) < 16 || p->k * width * size % 16 != 0;
    return true;
}

/* Of a row in the tile. Shifted ones lie within 4 bytes as in memory, and what comes with one is no other one's. */
static int64_t pitch_of(const reduce_problem *p, bool shifted, int64_t across) {
    const int64_t bytes = across * p->in.itemsize;
    return shifted ? bytes + 6 + ((p->stride[0][0] - bytes - 6) % 4 + 4) % 4 : bytes;
}

/* Tiles of at least so many bytes of a row, or of whole rows. */
static bool strips_of(const reduce_problem *p, const tess_gpu_device *device, shape *s, int64_t blocks, int64_t least) {
    const int64_t size = p->in.itemsize, width = width_of(p), room = tess_min64(device->shared_sm / blocks, device->shared_block_optin);
    int64_t align = alignment_of(p),
            most = tess_min64(width, tess_min64(most_threads(p, s) / blocks / 32 * 32, 1024) / s->rows * neighbours_of(p, s));
    s->shifted = align < 4;
    if (s->word > size && align < s->word)
        return false;
    align = s->shifted ? size : align;
    while (most > 1 && rows_of(p) * pitch_of(p, s->shifted, most) + 32 > room - beside(p, s, 1, most))
        most--;
    while (most * size < align) /* half a sector: its other half is the neighbour's */
        align /= 2;
    if (s->word > size && align < s->word)
        return false;
    const int64_t unit = align / size, strips = tess_ceil_div(width, most / unit * unit),
                  across = tess_ceil_div(tess_ceil_div(width, strips), unit) * unit;
    if (across * size < least && across < width)
        return false;
    s->run = false;
    s->across = (int)across;
    s->strips = (int)strips;
    s->vector = s->shifted ? 4 : (int)tess_min64(align, 16);
    s->pitch = (int)pitch_of(p, s->shifted, across);
    return true;
}

/* With so many blocks a multiprocessor: how many rounds of lanes are in shared memory, and how many threads have the others. */
static bool share_out(const reduce_problem *p, const tess_gpu_device *device, shape *s, int64_t blocks, int64_t most, bool walk) {
    const int64_t lanes = tess_reduce_gpu_lanes(p->k), rounds = tess_ceil_div(rows_of(p), lanes);
    for (s->rows = (int)lanes; s->rows >= tess_ceil_div(lanes, walk ? MOST_WALKED : MOST_LANES); s->rows /= 2) {
        const int64_t threads = tess_ceil_div(threads_of(p, s, s->across), 32) * 32,
                      room = tess_min64(device->shared_sm / blocks, device->shared_block_optin) - beside(p, s, 1, s->across) - 32;
        const int64_t fit = room / (lanes * s->pitch);
        s->shared = (int)tess_min64(fit, rounds);
        int64_t kept = rounds - s->shared;
        if (walk) { /* a ring of parts of a few rounds; so many stay in registers that one of the next tile has room */
            s->in_part = kept > 0 ? 2 : 4;
            const int64_t parts = tess_ceil_div(rounds, s->in_part);
            s->ring = (int)tess_min64(fit / s->in_part, parts);
            s->shared = s->in_part * s->ring;
            kept = at_once_of(p) ? 0 : s->in_part * (parts - s->ring + 1);
            s->stay = (int)kept;
        }
        const int64_t words = kept * (lanes / s->rows) * s->word / 4;
        if (threads <= most && s->shared > 0 && (walk ? s->ring >= tess_min64(LEAST_RING, tess_ceil_div(rounds, s->in_part)) : s->shared < rounds) &&
            words <= MOST_KEPT && (40 + words) * threads * blocks <= 65536)
            return true;
    }
    return false;
}

/* A block goes from tile to tile of at most so many columns: of sectors a warp copies its rows, else a thread its words. */
static bool walk_by(const reduce_problem *p, const tess_gpu_device *device, shape *s, int64_t across, bool sectors) {
    const int64_t width = width_of(p), unit = sectors ? across : neighbours_of(p, s);
    shape kept = *s;
    kept.run = false;
    kept.walk = true;
    kept.strips = (int)tess_ceil_div(width, across);
    kept.across = (int)(tess_ceil_div(tess_ceil_div(width, kept.strips), unit) * unit);
    kept.pitch = kept.across * p->in.itemsize;
    kept.vector = sectors ? 16 : kept.word;
    if (!share_out(p, device, &kept, 1, 1024, true))
        return false;
    *s = kept;
    return true;
}

/* Tiles of which a multiprocessor has one, or that come by narrow copies though rows follow one another: the last rounds of lanes stay in registers, so that two fit, or whole sets. Else, and where they would be of
 * half sectors, a block goes from tile to tile: of whole sectors, if they may lie across two, where rows are multiples of 16 bytes, else of as many columns as fit. */
static void keep(const reduce_problem *p, const tess_gpu_device *device, shape *s) {
    const int64_t size = p->in.itemsize, width = width_of(p), rounds = tess_ceil_div(rows_of(p), tess_reduce_gpu_lanes(p->k));
    const bool half = !s->run && !s->shifted && s->across * size < tess_min64(width * size, 32),
               narrow = !s->run && s->vector < 16 && p->stride[0][0] == width * size;
    shape kept = *s;
    if (rounds < (narrow ? 4 : 8) || (!half && !narrow && rows_of(p) * s->pitch + beside(p, s, 1, s->across) <= device->shared_sm / 2))
        return;
    if (narrow) {
        kept.run = kept.shifted = true;
        kept.across = (int)width;
        kept.strips = 1;
        kept.pitch = (int)(width * size);
        kept.vector = 16;
    }
    /* a kept word lies as one in memory */
    if ((!half || narrow) && !(kept.shifted && kept.word > size) && share_out(p, device, &kept, 2, 544, false)) {
        *s = kept;
        return;
    }
    const int64_t unit = neighbours_of(p, s);
    if (!half && (s->shifted || rows_of(p) * s->pitch + beside(p, s, 1, s->across) <= device->shared_sm / 2))
        return;
    if (!s->run && s->vector == 16 && s->across * size <= 32)
        walk_by(p, device, s, 32 / size, true);
    else if (s->run || s->vector < 16)
        for (int64_t across = tess_min64(width, MOST_ACROSS) / unit * unit; s->word >= 4 && across > 0 && !walk_by(p, device, s, across, false);)
            across -= unit;
}

static void shape_of(const reduce_problem *p, const tess_gpu_device *device, shape *s) {
    static const tess_gpu_device h200 = {.sms = 132, .shared_sm = 228 << 10, .shared_block_optin = 227 << 10};
    static const int64_t least[] = {0, 0, 32, 64}; /* bytes of a row, for two blocks under way, and for three */
    const int64_t n = rows_of(p), size = p->in.itemsize, units = p->outputs / width_of(p);
    const int lanes = tess_reduce_gpu_lanes(p->k);
    bool found = false;
    if (!device)
        device = &h200;
    for (int words = size < 4 && p->in.type != tess_bool; !found; words--) {
        *s = (shape){.exact = exact_of(p), .rows = (int)tess_ceil_div(lanes, MOST_LANES), .at_once = 1, .word = words ? 4 : (int)size};
        while (s->rows < 4 && s->rows < lanes && s->rows * width_of(p) * size % s->word != 0)
            s->rows *= 2;
        while (s->rows < lanes && n * s->word >= 2 * s->rows * (s->word > 2 * size ? BYTES_SHARE : SHARE))
            s->rows *= 2;
        const int rows = s->rows, fewer = s->word == 2 * size && halves(p, rows) ? rows / 2 : rows;
        for (int64_t blocks = 3; !found && blocks > 0; blocks--)
            for (s->rows = rows; !found && s->rows >= fewer;
                 s->rows /= found ? 1 : 2) /* measured: words of two want a block more rather than all threads */
                found = run_of(p, device, s, blocks) || strips_of(p, device, s, blocks, least[blocks]);
    }
    s->shared = (int)tess_ceil_div(n, lanes);
    keep(p, device, s);
    const int64_t threads = threads_of(p, s, s->across);
    s->tile = (int)(tess_ceil_div((s->walk ? s->shared * lanes : tess_min64(n, s->shared * lanes)) * s->pitch + (s->shifted ? 30 : 0), 16) * 16);
    for (int64_t m = 2; s->run && p->k <= REDUCE_LEAF && m <= units && m * threads <= MOST_THREADS &&
                        m * s->tile <= (neighbours_of(p, s) > 2 ? BYTES_BYTES : MOST_BYTES);
         m++)
        if (m * tess_ceil_div(s->at_once * threads, 32) >= s->at_once * tess_ceil_div(m * threads, 32)) /* no more threads idle */
            s->at_once = (int)m;
    s->bytes = (int64_t)s->at_once * s->tile;
    s->threads = (int)(tess_ceil_div(s->at_once * threads, 32) * 32);
    s->blocks = s->walk ? 1
                        : (int)tess_max64(1, tess_min64(device->shared_sm / (s->bytes + beside(p, s, s->at_once, s->across)),
                                                        resident_threads(p, s) / s->threads));
}

/* Those leaves as a problem of their own. */
static void part_of(const reduce_problem *p, const tess_gpu_device *device, int64_t first, int64_t k, part *of) {
    reduce_problem its = *p;
    its.k = k;
    *of = (part){.first = first, .leaves = leaves_of(&its), .k = k, .tall = (int)rows_of(&its), .last = (int)((k - 1) % REDUCE_LEAF + 1)};
    shape_of(&its, device, &of->s);
}

int tess_reduce_gpu_moments_parts(const reduce_problem *p, const tess_gpu_device *device, part parts[2]) {
    const int64_t whole = p->k / REDUCE_LEAF, last = p->k % REDUCE_LEAF;
    part_of(p, device, 0, p->k, parts);
    if (whole == 0 || last == 0)
        return 1;
    part_of(p, device, whole, last, parts + 1);
    const shape *s = &parts[1].s;
    const int64_t tiles = p->outputs / width_of(p) * s->strips, at_once = (int64_t)s->at_once * s->blocks * (device ? device->sms : 132);
    if (!parts->s.walk && (whole > MOST_WHOLE || tiles < WAVES * at_once))
        return 1;
    part_of(p, device, 0, whole * REDUCE_LEAF, parts);
    return 2;
}

bool tess_reduce_gpu_moments_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    int64_t tiles;
    *why = "makes variances of outputs side by side, along one axis, no segments";
    if (p->kind != REDUCE_VAR || p->records || p->offsets || p->outputs < 1 || p->kept < 1 || p->rank != 1 || p->k < 1 || width_of(p) < 2 ||
        p->kept_stride[0][p->kept - 1] != p->in.itemsize)
        return false;
    *why = "needs fewer than 2^31 leaves";
    return !TESS_MUL_OVERFLOWS(p->outputs, leaves_of(p), &tiles) && tiles <= INT32_MAX;
}

/* Measured: of 64 to 100000 elements in 3 to 4096 columns it takes between nine tenths and a twelfth of the time of what was taken before; 16 elements are better read where they lie, and a few thousand
 * outputs' elements by a block for each. Fewer than 64 in 32 columns and more come here where tree_few leaves them. */
bool tess_reduce_gpu_moments_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "wants 64 elements and more, 65536 in all";
    return (p->k >= LEAST || (p->k >= LEAST_SIDE && width_of(p) >= 32)) && p->k >= (LEAST_ALL + p->outputs - 1) / p->outputs;
}

/* What a part's text is specialised by. */
static void options_of(tess_gpu_layout *layout, const reduce_problem *p, const part *its) {
    const shape *s = &its->s;
    const int64_t leaves = leaves_of(p);
    const int lanes = tess_reduce_gpu_lanes(its->k), each = lanes / s->rows;
    const bool many = leaves > 1;
    tess_gpu_unit(layout, &tree_moments);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DNARROW=%d", !many);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DTALL=%d", its->tall);
    tess_gpu_option(layout, "-DSTRIPS=%d", s->strips);
    tess_gpu_option(layout, "-DWORD=%d", s->word);
    tess_gpu_option(layout, "-DRUN=%d", s->run);
    tess_gpu_option(layout, "-DSHIFTED=%d", s->shifted);
    tess_gpu_option(layout, "-DVECTOR=%d", s->vector);
    tess_gpu_option(layout, "-DSHARED=%d", s->shared);
    tess_gpu_option(layout, "-DPITCH=%d", s->pitch);
    tess_gpu_option(layout, "-DROWS=%d", s->rows);
    tess_gpu_option(layout, "-DACROSS=%d", s->across);
    tess_gpu_option(layout, "-DEACH=%d", each);
    tess_gpu_option(layout, "-DHELD=%d", s->walk ? each : (int)tess_min64(each, HELD));
    tess_gpu_option(layout, "-DTILE=%d", s->tile);
    tess_gpu_option(layout, "-DAT_ONCE=%d", s->at_once);
    tess_gpu_option(layout, "-DBLOCK=%d", s->threads);
    tess_gpu_option(layout, "-DAT_LEAST=%d", s->blocks);
    tess_gpu_option(layout, "-DMANY=%d", many);
    tess_gpu_option(layout, "-DEXACT=%d", s->exact);
    tess_gpu_option(layout, "-DLAST=%d", its->last);
    tess_gpu_option(layout, "-DWALK=%d", s->walk);
    if (s->walk) {
        tess_gpu_option(layout, "-DRING=%d", s->ring);
        tess_gpu_option(layout, "-DIN_PART=%d", s->in_part);
    }
    tess_gpu_option(layout, "-DFEW=%d", tess_reduce_gpu_paired(leaves) <= 256);
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const int64_t leaves = leaves_of(p), width = width_of(p), size = p->in.itemsize,
                  partial = leaves > 1 ? tess_gpu_reserve(layout, p->outputs * leaves * tess_reduce_gpu_node_size(p)) : 0;
    int64_t block[10 + 3 * (TESS_MAX_NDIM + 1)], low = 0, high = size;
    size_t bytes = 0;
    part parts[2];
    *(p->stride[0][0] < 0 ? &low : &high) += (p->k - 1) * p->stride[0][0];
    for (int d = 0; d < p->kept; d++)
        *(p->kept_stride[0][d] < 0 ? &low : &high) += (p->kept_size[d] - 1) * p->kept_stride[0][d];
    const int count = tess_reduce_gpu_moments_parts(p, device, parts);
    for (int i = 0; i < count; i++) {
        const part *its = &parts[i];
        const shape *s = &its->s;
        const int64_t tiles = p->outputs / width * its->leaves * s->strips;
        int64_t *at = block;
        options_of(layout, p, its);
        *at++ = p->k;
        *at++ = leaves;
        *at++ = p->outputs;
        *at++ = tess_reduce_gpu_word(p->ddof);
        *at++ = low;
        *at++ = high;
        *at++ = p->stride[0][0] / size;
        *at++ = its->first;
        *at++ = its->leaves;
        *at++ = width | tiles << 32;
        at = tess_reduce_gpu_put_kept(at, p, p->kept);
        bytes = (size_t)(at - block) * sizeof *block;
        tess_gpu_step *step =
            tess_gpu_launch_of(layout, "tree_moments", s->walk ? tess_min64(tiles, device ? device->sms : 132) : tess_ceil_div(tiles, s->at_once), 1,
                               1, s->threads, s->bytes);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
        tess_gpu_pass(layout, step, block, bytes);
        if (!s->shifted && s->vector > size)
            layout->alignment = tess_max64(layout->alignment, s->vector);
    }
    tess_reduce_gpu_pair_launches(layout, p, leaves, partial, block, bytes);
}

const tess_gpu_row tess_reduce_gpu_moments = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out, .predict = tess_reduce_predict_moments};

/* SPDX-License-Identifier: Apache-2.0
 * gpu_patch_shared_rows.c - the production rows `patch` of narrow elements and `patch_bytes` through shared memory (gpu_patch_shared.cu): which problems, which shape of block. */
#include "ops/correlate/gpu_fast_mask.h"

KERNEL_TEXT(gpu_patch_shared);

typedef patch_shared_shape shared_shape;

enum { WIDEST = 5, WIDEST_TURNED = 7, MANY = 36 /* taps */, MOST_TAPS = WIDEST_TURNED * WIDEST_TURNED };

/* f32 in another order than the mask's: with fewer taps `brick` reaches what memory gives. */
static bool is_turned_f32(const tess_correlate_frame *f) {
    return f->turned && f->in == 4 && f->pass->taps >= MANY && f->x.width <= WIDEST_TURNED && f->y.width <= WIDEST_TURNED && before(f) <= 4 &&
           after(f) <= 4;
}

/* Memory binds, and sums of 16 columns fit the registers. */
static bool is_small(const tess_correlate_frame *f) { return f->y.width <= 3 && f->x.width <= 3; }

/* Of a thread, as measured: most of them hold rows on their way to shared memory. */
static int64_t registers_of(const shared_shape *s, const tess_correlate_frame *f) {
    if (f->turned)
        return is_small(f) ? 64 : f->in == 4 ? 96 : 112;
    if (is_small(f))
        return f->in == 1 ? 72 : 56;
    return f->in == 2 && s->rows > 12 ? 96 : 80;
}

/* Blocks that a multiprocessor's four schedulers have registers for. */
static int64_t blocks_of(int64_t threads, int64_t registers) { return 512 / registers * 4 * 32 / threads; }

static int64_t room_of(const shared_shape *s, const tess_correlate_frame *f) {
    return s->arrays * (s->down * s->rows + f->y.width - 1) * (s->lanes * s->columns * f->in + 2 * 16);
}

/* Lanes side by side and below each other: those that leave the fewest over at a row's end and bring little beside their own, as measured; blocks of 96 and 160 threads
 * only where that saves a 50th and a 25th. What all of a row's compute comes back, 0 for an array of too few rows. */
static double lay_lanes(shared_shape *s, const tess_correlate_frame *f) {
    static const struct {
        int64_t threads;
        double below;
    } sizes[] = {{128, 0.985}, {96, 0.98}, {160, 0.96}};
    const int64_t needed = f->x.m / s->columns, unit = tess_max64(1, 16 / f->in / s->columns), registers = registers_of(s, f);
    double least = INFINITY, all = 0;
    for (int t = 0; t < TESS_COUNT(sizes); t++)
        for (int64_t wanted = 0; wanted < 6; wanted++) {
            static const int64_t downs[] = {4, 2, 8, 16, 32, 1};
            const int64_t first = is_small(f) && sizes[t].threads == 128 ? wanted : wanted < 2 ? 1 - wanted : wanted;
            const int64_t lanes = tess_min64(sizes[t].threads / downs[first], needed) / unit * unit;
            if (lanes < 1 || (registers > 80 && sizes[t].threads > 128))
                continue;
            const int64_t down = tess_min64(lanes == needed ? sizes[t].threads / lanes : downs[first], f->y.m / s->rows),
                          threads = up_to(lanes * down, 32);
            if (down < 1)
                continue;
            const double computed = (double)(tess_ceil_div(needed, lanes) * threads) / (double)down;
            const double cost =
                computed * (1 + 24.0 / (double)(lanes * s->columns * f->in)) * (1 + 0.25 * (double)(f->y.width - 1) / (double)(down * s->rows));
            if (cost < sizes[t].below * least) {
                least = cost, all = computed;
                s->lanes = lanes, s->down = down, s->threads = threads, s->blocks = blocks_of(threads, registers);
            }
        }
    if (all > 0)
        s->blocks = tess_max64(1, tess_min64(s->blocks, SHARED / (room_of(s, f) + BLOCK_SHARED)));
    return all;
}

/* A block's time is its rows, and those beside them or (where arithmetic binds) a part of them; few blocks come in whole waves. */
static double time_of(const shared_shape *s, const tess_correlate_frame *f, const tess_gpu_device *device) {
    const int64_t blocks =
                      tess_ceil_div(f->x.m, s->lanes * s->columns) * tess_ceil_div(f->y.m, s->down * s->rows) * tess_ceil_div(f->arrays, s->arrays),
                  at_once = device->sms * s->blocks, whole = at_once < 1 || blocks > 8 * at_once ? blocks : tess_ceil_div(blocks, at_once) * at_once;
    return (double)whole * (double)s->threads * (double)(s->rows + (is_small(f) ? f->y.width + 2 : 2));
}

/* A block as wide as the array, whose rows come by a way of their own: of halves by 3 x 3 that was no faster. */
static bool is_full(const shared_shape *s, const tess_correlate_frame *f) {
    return f->x.m == s->lanes * s->columns && f->x.n == f->x.m && !(f->in == 2 && is_small(f));
}

/* Small images, a block as wide as they: rows a lane and lanes below each other that leave few rows over at an image's end, where a tenth or more is saved; two images a block
 * where that leaves fewer lanes over. Of more than 160 threads blocks cost a little more; more than 8 rows a lane by 3 x 3 cost more than they save (as measured). */
static void fit(shared_shape *shape, const tess_correlate_frame *f, const tess_gpu_device *device) {
    enum { LEAST = 96, MOST = 224, WIDE = 160, OF_A_THREAD = 80 };
    const bool small = is_small(f);
    double least = 0.9 * time_of(shape, f, device);
    for (int64_t threads = LEAST; threads <= MOST; threads += 32)
        for (int64_t rows = small ? 5 : 10; rows <= (small ? 8 : 16); rows++) {
            shared_shape s = *shape;
            s.rows = rows;
            s.lanes = f->x.m / s.columns;
            s.down = tess_min64(threads / s.lanes, f->y.m / rows);
            if (s.down < 1 || (!small && (rows - f->y.width) % 2 == 0)) /* whole turns */
                continue;
            s.arrays = f->arrays > 1 && is_full(&s, f) && threads / s.lanes >= 2 * s.down ? 2 : 1;
            s.turn = !small ? 2 : (rows + 1) % f->y.width ? rows - f->y.width + 1 : f->y.width;
            s.threads = up_to(s.lanes * s.down * s.arrays, 32);
            s.blocks = tess_max64(1, tess_min64(blocks_of(s.threads, small || f->turned ? registers_of(&s, f) : OF_A_THREAD),
                                                SHARED / (room_of(&s, f) + BLOCK_SHARED)));
            const double time = time_of(&s, f, device) * (s.threads > WIDE ? 1.05 : 1);
            if (time < least) {
                least = time;
                *shape = s;
            }
        }
}

/* Rows a lane: the more, the fewer are read twice; fewer where few waves of blocks follow each other. */
static bool shape_of(shared_shape *shape, const tess_correlate_frame *f, const tess_gpu_device *device) {
    static const int64_t rows[2][2][4] = {{{24, 20, 16, 8}, {16, 12, 8, 4}}, {{8, 5, 2, 2}, {8, 5, 2, 2}}};
    const bool small = is_small(f);
    double least = INFINITY;
    for (int i = 0; i < 4; i++) {
        shared_shape s = {.columns = small && f->in == 1 && !f->turned ? 16
                                     : f->in == 4                      ? 4
                                                                       : 8,
                          .rows = rows[small][f->in == 2][i],
                          .turn = small ? f->y.width : 2,
                          .arrays = 1};
        if (small && f->y.width == 2) /* whole turns */
            s.rows |= 1;
        if (!small && f->y.width % 2 == 0)
            s.rows--;
        if (f->in == 4) /* whole turns, and no more on their way than registers hold */
            s.rows = (i == 0 ? 2 : 1) * f->y.width;
        if (f->turned && small && f->in == 1 && i == 0) /* of their rows few are converted twice */
            s.rows = 14;
        const double across = f->x.m % s.columns ? 0 : lay_lanes(&s, f);
        if (across == 0)
            continue;
        const double time = time_of(&s, f, device);
        if (time < 0.995 * least) {
            least = time;
            *shape = s;
        }
    }
    if (least < INFINITY && f->x.m % (16 / f->in) == 0 && !(f->in == 2 && small) && f->in < 4)
        fit(shape, f, device);
    return least < INFINITY;
}

static bool takes(shared_shape *shape, const tess_correlate_frame *f, const tess_gpu_device *device, float *raised) {
    const bool stays = f->in == 2 && is_small(f) && f->pass->from != tess_f16 && f->x.m >= 3000 && !f->turned; /* in registers, as measured */
    const bool narrow = f->in <= 2 && f->y.width <= WIDEST && f->x.width <= WIDEST;
    return (narrow || is_turned_f32(f)) && !stays && f->pass->size == sizeof(float) * (size_t)f->pass->taps && (f->y.width > 1 || is_small(f)) &&
           before(f) <= 8 && after(f) <= 8 && f->x.m >= 64 && shape_of(shape, f, device) && raise_mask(f, raised);
}

bool tess_correlate_patch_shared_of(shared_shape *shape, const tess_correlate_frame *f, const tess_gpu_device *device) {
    const char *why;
    float raised[MOST_TAPS];
    if (!tess_correlate_frame_whole(f, &why) || !takes(shape, f, device, raised))
        return false;
    shape->full = is_full(shape, f);
    return true;
}

bool tess_correlate_patch_shared_takes(const tess_correlate_frame *f) {
    static const tess_gpu_device none;
    const char *why;
    shared_shape s;
    float raised[MOST_TAPS];
    return tess_correlate_frame_whole(f, &why) && takes(&s, f, &none, raised);
}

double tess_correlate_patch_shared_computed(const tess_correlate_frame *f) {
    static const tess_gpu_device none;
    shared_shape s;
    float raised[MOST_TAPS];
    if (!takes(&s, f, &none, raised))
        return INFINITY;
    return (double)(s.threads * s.columns * tess_ceil_div(f->x.m, s.lanes * s.columns)) / (double)(s.arrays * s.down * f->x.m) *
           (double)(s.down * s.rows * tess_ceil_div(f->y.m, s.down * s.rows)) / (double)f->y.m;
}

/* All but the taps, which come last. */
static tess_gpu_step *lay(const shared_shape *s, const tess_correlate_frame *f, tess_type work, tess_gpu_layout *layout, int64_t groups) {
    tess_gpu_unit(layout, &gpu_patch_shared);
    tess_correlate_frame_options(layout, work, f, true);
    tess_gpu_option(layout, "-DKY=%d", (int)f->y.width);
    tess_gpu_option(layout, "-DV=%d", (int)s->columns);
    tess_gpu_option(layout, "-DR=%d", (int)s->rows);
    tess_gpu_option(layout, "-DTURN=%d", (int)s->turn);
    tess_gpu_option(layout, "-DLANES=%d", (int)s->lanes);
    tess_gpu_option(layout, "-DDOWN=%d", (int)s->down);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s->blocks);
    tess_gpu_option(layout, "-DFULL=%d", s->full);
    tess_gpu_option(layout, "-DARRAYS=%d", (int)s->arrays);
    tess_gpu_option(layout, "-DDOTS=%d", groups > 0);
    tess_gpu_option(layout, "-DTURNED=%d", f->turned);
    if (groups > 0)
        tess_gpu_option(layout, "-DGROUPS=%d", (int)groups);
    tess_gpu_step *step =
        tess_gpu_launch_folding(layout, "patch_shared", tess_ceil_div(f->x.m, s->lanes * s->columns), tess_ceil_div(f->y.m, s->down * s->rows),
                                tess_ceil_div(f->arrays, s->arrays), (int)s->threads, room_of(s, f));
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_correlate_frame_pass(layout, step, f);
    return step;
}

bool tess_correlate_patch_shared_lay(const tess_correlate_frame *f, tess_type work, const tess_gpu_device *device, tess_gpu_layout *layout) {
    shared_shape s;
    float raised[MOST_TAPS];
    if (work != tess_f32 || !takes(&s, f, device, raised))
        return false;
    s.full = is_full(&s, f);
    tess_gpu_pass(layout, lay(&s, f, work, layout, 0), raised, f->pass->size);
    return true;
}

/* ---- bytes by small integers ---- */

/* Rows a lane in whole turns of as many as the mask has, and registers of a thread, as measured with 3, 5 and 7 rows: the more rows, the fewer are read twice; of few blocks
 * as many as fill whole waves. */
bool tess_correlate_patch_dots_of(shared_shape *shape, const tess_correlate_frame *f, const tess_gpu_device *device) {
    const char *why;
    const int64_t high = f->y.width;
    const bool pixels = f->pass->group > 1 && (high == 4 || high == 5);
    const int64_t most = pixels ? 25 : high <= 5 ? 16 : 21, registers = pixels ? 128 : high <= 5 ? 80 : 112;
    double least = INFINITY;
    if (!tess_correlate_frame_whole(f, &why) || high < 2 || f->x.m < 64 || f->x.m % 8)
        return false;
    for (int64_t turns = most / high; turns >= 2; turns--) {
        shared_shape s = {.columns = 8, .rows = turns * high - 1, .turn = high, .arrays = 1};
        if (lay_lanes(&s, f) == 0)
            continue;
        s.blocks = tess_max64(1, tess_min64(blocks_of(s.threads, registers), SHARED / (room_of(&s, f) + BLOCK_SHARED)));
        const double time = time_of(&s, f, device);
        if (time < 0.995 * least) {
            least = time;
            *shape = s;
        }
    }
    shape->full = least < INFINITY && is_full(shape, f);
    return least < INFINITY;
}

tess_gpu_step *tess_correlate_patch_dots_lay(const tess_correlate_frame *f, int64_t groups, const tess_gpu_device *device, tess_gpu_layout *layout) {
    shared_shape s;
    return tess_correlate_patch_dots_of(&s, f, device) ? lay(&s, f, tess_i32, layout, groups) : NULL;
}

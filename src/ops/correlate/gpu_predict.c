/* SPDX-License-Identifier: Apache-2.0
 * gpu_predict.c - what the ladder of correlations will count.
 *
 * All accesses are runs: neighbouring lanes want neighbouring words. A run from element a up to b, of an array that begins at a sector, touches
 * (b - 1) / 8 - a / 8 + 1 sectors; in shared memory it is one wavefront without conflicts. What is left is to clip the runs at the array's ends. Only blocks
 * that meet an end differ: the others ask for the same, since blocks begin at multiples of eight elements, and are worked out once. */
#include "ops/correlate/gpu_rungs.h"

typedef struct tally {
    double ld_requests, ld_sectors, st_requests, st_sectors, shared_ld, shared_st, constant, barriers;
    double times; /* how many blocks the one that is being worked out stands for */
} tally;

static void tell(tess_gpu_prediction *out, const tally *t, double flops) {
    out->global_ld_requests = t->ld_requests;
    out->global_ld_sectors = t->ld_sectors;
    out->global_st_requests = t->st_requests;
    out->global_st_sectors = t->st_sectors;
    out->shared_ld_requests = out->shared_ld_wavefronts = t->shared_ld;
    out->shared_st_requests = out->shared_st_wavefronts = t->shared_st;
    out->shared_ld_conflicts = out->shared_st_conflicts = 0;
    out->constant_requests = t->constant;
    out->barriers = t->barriers;
    out->flops = flops;
}

/* One request, made of runs in ascending order; `last` is the sector that the previous run ended in. */
typedef struct request {
    double sectors;
    int64_t last;
    bool any;
} request;

static void add_run(request *r, int64_t from, int64_t to) {
    if (to <= from)
        return;
    r->sectors += (double)((to - 1) / 8 - from / 8 + 1) - (r->any && r->last == from / 8);
    r->last = (to - 1) / 8;
    r->any = true;
}

static void end_load(tally *t, const request *r) {
    t->ld_requests += r->any ? t->times : 0;
    t->ld_sectors += t->times * r->sectors;
}

static void end_store(tally *t, const request *r) {
    t->st_requests += r->any ? t->times : 0;
    t->st_sectors += t->times * r->sectors;
}

/* A load of the elements from .. to - 1 of a row of n that begins at element `row`. */
static void load_run(tally *t, int64_t row, int64_t n, int64_t from, int64_t to) {
    request r = {0, 0, false};
    add_run(&r, row + tess_max64(from, 0), row + tess_min64(to, n));
    end_load(t, &r);
}

static void store_run(tally *t, int64_t from, int64_t to) {
    request r = {0, 0, false};
    add_run(&r, from, to);
    end_store(t, &r);
}

static int64_t lanes(int64_t m, int64_t from) { return tess_max64(tess_min64(m - from, 32), 0); }

/* ---- blocks that are alike ---- */

typedef struct alike {
    int64_t first; /* of its outputs */
    double times;
} alike;
enum { ALIKE = 64 };

/* Blocks of `tile` outputs along an axis: each one that meets an end, and one for all others. */
static int blocks_of(alike *list, int64_t n, int64_t m, int64_t before, int64_t width, int64_t tile) {
    int64_t blocks = tess_ceil_div(m, tile), from = tess_ceil_div(before, tile), to = tess_min64((n - (width - 1 - before)) / tile, m / tile);
    int count = 0;
    if (n < width - 1 - before || to < from)
        from = to = blocks;
    for (int64_t b = 0; b < blocks && count < ALIKE; b++) {
        bool inside = b >= from && b < to;
        list[count++] = (alike){b * tile, inside ? (double)(to - from) : 1};
        b = inside ? to - 1 : b;
    }
    return count;
}

/* ---- one line ---- */

/* How the block brings its input, and where taps are read from. */
typedef enum way { FROM_GLOBAL, HALO, SHIFT, INPUT, CORE } way;

/* Threads from .. to - 1 bring element `first` + thread each. */
static void bring(tally *t, const correlate_gpu_line *p, int64_t from, int64_t to, int64_t first) {
    for (int64_t a = from; a < to; a = a / 32 * 32 + 32) {
        int64_t b = tess_min64(a / 32 * 32 + 32, to);
        load_run(t, 0, p->n, first + a, first + b);
        t->shared_st += t->times;
    }
}

static void line_block(tally *t, const correlate_gpu_line *p, way how, bool constant, int64_t first) {
    const int64_t block = CORRELATE_GPU_LINE, after = p->width - 1 - p->before;
    int64_t threads = how == INPUT ? block + p->width - 1 : block;
    if (how == HALO) {
        bring(t, p, block - p->before, block, first - block);
        bring(t, p, 0, block, first);
        bring(t, p, 0, after, first + block);
    } else if (how == SHIFT) {
        bring(t, p, 0, block, first - p->before);
        bring(t, p, 0, p->width - 1, first - p->before + block);
    } else if (how == INPUT) {
        bring(t, p, 0, threads, first - p->before);
    } else if (how == CORE) {
        bring(t, p, 0, block, first);
    }
    t->barriers += how == FROM_GLOBAL ? 0 : t->times * (double)tess_ceil_div(threads, 32);
    for (int64_t w = 0; w < block; w += 32) {
        int64_t active = lanes(p->m, first + w);
        if (active == 0)
            break;
        store_run(t, first + w, first + w + active);
        if (constant)
            t->constant += t->times * p->width;
        for (int j = 0; j < p->width; j++) {
            int64_t at = w - p->before + j, end = at + active, in_tile = tess_min64(end, block) - tess_max64(at, 0);
            if (!constant)
                load_run(t, 0, p->width, j, j + 1);
            if (how == FROM_GLOBAL)
                load_run(t, 0, p->n, first + at, first + end);
            else if (how != CORE || in_tile > 0)
                t->shared_ld += t->times;
            if (how == CORE && at < 0)
                load_run(t, 0, p->n, first + at, first + tess_min64(end, 0));
            if (how == CORE && end > block)
                load_run(t, 0, p->n, first + tess_max64(at, block), first + end);
        }
    }
}

static void predict_line(const tess_problem *base, tess_gpu_prediction *out, way how, bool constant) {
    correlate_gpu_line p = tess_correlate_gpu_line_of(tess_correlate_gpu_of(base));
    tally t = {0};
    alike blocks[ALIKE];
    int count = blocks_of(blocks, p.n, p.m, p.before, p.width, CORRELATE_GPU_LINE);
    for (int b = 0; b < count; b++) {
        t.times = blocks[b].times;
        line_block(&t, &p, how, constant, blocks[b].first);
    }
    tell(out, &t, 2.0 * p.width * (double)p.m);
}

void tess_correlate_predict_global(const tess_problem *base, tess_gpu_prediction *out) { predict_line(base, out, FROM_GLOBAL, false); }
void tess_correlate_predict_constant(const tess_problem *base, tess_gpu_prediction *out) { predict_line(base, out, FROM_GLOBAL, true); }
void tess_correlate_predict_constant_param(const tess_problem *base, tess_gpu_prediction *out) { predict_line(base, out, FROM_GLOBAL, true); }
void tess_correlate_predict_tile_halo(const tess_problem *base, tess_gpu_prediction *out) { predict_line(base, out, HALO, true); }
void tess_correlate_predict_tile_shift(const tess_problem *base, tess_gpu_prediction *out) { predict_line(base, out, SHIFT, true); }
void tess_correlate_predict_tile_input(const tess_problem *base, tess_gpu_prediction *out) { predict_line(base, out, INPUT, true); }
void tess_correlate_predict_tile_core(const tess_problem *base, tess_gpu_prediction *out) { predict_line(base, out, CORE, true); }

/* ---- an image ---- */

/* Blocks of 32 x 8: a warp is a row. */
static void image_block(tally *t, const correlate_gpu_image *p, way how, bool constant, int64_t y0, int64_t x0) {
    for (int64_t w = 0; w < 8; w++) {
        int64_t y = y0 + w, active = y < p->m_y ? lanes(p->m_x, x0) : 0;
        if (how == CORE) {
            if (y < p->n_y)
                load_run(t, y * p->pitch_n, p->n_x, x0, x0 + 32);
            t->shared_st += t->times;
            t->barriers += t->times;
        }
        if (active == 0)
            continue;
        store_run(t, y * p->pitch_p + x0, y * p->pitch_p + x0 + active);
        if (constant)
            t->constant += t->times * p->width_y * p->width_x;
        for (int j = 0; j < p->width_y; j++)
            for (int k = 0; k < p->width_x; k++) {
                int64_t row = y - p->before_y + j, at = k - p->before_x, end = at + active;
                bool row_in_tile = how == CORE && row >= y0 && row < y0 + 8, row_there = row >= 0 && row < p->n_y;
                if (!constant)
                    load_run(t, 0, p->width_y * p->width_x, j * p->width_x + k, j * p->width_x + k + 1);
                if (row_in_tile && tess_min64(end, 32) > tess_max64(at, 0))
                    t->shared_ld += t->times;
                if (!row_there)
                    continue;
                if (!row_in_tile)
                    load_run(t, row * p->pitch_n, p->n_x, x0 + at, x0 + end);
                else if (at < 0)
                    load_run(t, row * p->pitch_n, p->n_x, x0 + at, x0 + tess_min64(end, 0));
                else if (end > 32)
                    load_run(t, row * p->pitch_n, p->n_x, x0 + tess_max64(at, 32), x0 + end);
            }
    }
}

/* tile_input2d: threads in the order of the tile's rows, so a warp has pieces of several; its words lie in a row all the same. */
static void input_block(tally *t, const correlate_gpu_image *p, bool constant, int64_t y0, int64_t x0) {
    const int64_t side = CORRELATE_GPU_SQUARE, wide = side + p->width_x - 1, threads = wide * (side + p->width_y - 1);
    for (int64_t w = 0; w < threads; w += 32) {
        request load = {0, 0, false}, store = {0, 0, false};
        t->shared_st += t->times;
        t->barriers += t->times;
        for (int64_t a = w, b; a < tess_min64(w + 32, threads); a = b) {
            int64_t row = a / wide, from = a % wide, y = y0 + row, in_y = y - p->before_y, in_x = x0 - p->before_x;
            b = tess_min64(tess_min64(w + 32, threads), (row + 1) * wide);
            int64_t to = b - row * wide;
            if (in_y >= 0 && in_y < p->n_y)
                add_run(&load, in_y * p->pitch_n + tess_max64(in_x + from, 0), in_y * p->pitch_n + tess_min64(in_x + to, p->n_x));
            if (row < side && y < p->m_y)
                add_run(&store, y * p->pitch_p + x0 + from, y * p->pitch_p + tess_min64(x0 + tess_min64(to, side), p->m_x));
        }
        end_load(t, &load);
        end_store(t, &store);
        if (store.any) {
            t->shared_ld += t->times * p->width_y * p->width_x;
            t->constant += constant ? t->times * p->width_y * p->width_x : 0;
        }
    }
}

static bool add_image(tally *t, const correlate_gpu_image *p, way how, bool constant) {
    alike down[ALIKE], across[ALIKE];
    bool square = how == INPUT;
    if (p->pitch_n < p->n_x || p->pitch_p < p->m_x) /* rows that lie backwards, or on each other */
        return false;
    int rows = blocks_of(down, p->n_y, p->m_y, p->before_y, p->width_y, square ? CORRELATE_GPU_SQUARE : 8);
    int columns = blocks_of(across, p->n_x, p->m_x, p->before_x, p->width_x, square ? CORRELATE_GPU_SQUARE : 32);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            t->times = down[i].times * across[j].times;
            if (square)
                input_block(t, p, constant, down[i].first, across[j].first);
            else
                image_block(t, p, how, constant, down[i].first, across[j].first);
        }
    return true;
}

static void predict_image(const tess_problem *base, tess_gpu_prediction *out, way how, bool constant) {
    const tess_correlate_problem *problem = tess_correlate_gpu_of(base);
    correlate_gpu_image p = tess_correlate_gpu_image_of(problem, problem->direct);
    tally t = {0};
    if (add_image(&t, &p, how, constant))
        tell(out, &t, 2.0 * p.width_y * p.width_x * (double)p.m_y * (double)p.m_x);
}

void tess_correlate_predict_global2d(const tess_problem *base, tess_gpu_prediction *out) { predict_image(base, out, FROM_GLOBAL, false); }
void tess_correlate_predict_constant2d(const tess_problem *base, tess_gpu_prediction *out) { predict_image(base, out, FROM_GLOBAL, true); }
void tess_correlate_predict_tile_input2d(const tess_problem *base, tess_gpu_prediction *out) { predict_image(base, out, INPUT, true); }
void tess_correlate_predict_tile_core2d(const tess_problem *base, tess_gpu_prediction *out) { predict_image(base, out, CORE, true); }

void tess_correlate_predict_separable_passes(const tess_problem *base, tess_gpu_prediction *out) {
    const tess_correlate_problem *problem = tess_correlate_gpu_of(base);
    tally t = {0};
    double flops = 0;
    for (int k = 0; k < 2; k++) {
        correlate_gpu_image p = tess_correlate_gpu_image_of(problem, &problem->passes[k]);
        if (!add_image(&t, &p, FROM_GLOBAL, true))
            return;
        flops += 2.0 * p.width_y * p.width_x * (double)p.m_y * (double)p.m_x;
    }
    tell(out, &t, flops);
}

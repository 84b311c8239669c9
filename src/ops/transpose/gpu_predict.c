/* SPDX-License-Identifier: Apache-2.0
 * gpu_predict.c - what the transposes will count: requests and sectors in closed form, shared memory by the rules of its banks.
 *
 * A matrix of P x Q elements in tiles of a x b has four kinds of tiles: whole ones, those cut at either end, the corner. Shared memory is worked out once
 * for each kind. Global memory is a sum of rows: of each row of `in` the pieces of a elements, of `out` those of b. Predicted for arrays whose first element and
 * whose matrices begin at a sector; rows of one request must not share one. */
#include <stdlib.h>

#include "ops/transpose/gpu_predict.h"

typedef struct problem {
    transpose_plane m;
    int64_t size;
    bool sectors; /* rows begin where the formulas say */
} problem;

static problem problem_of_matrices(const transpose_gpu_matrices *of) {
    problem p = {.m = of->plane, .size = of->size};
    int64_t rest = of->first[TRANSPOSE_IN] | of->first[TRANSPOSE_OUT];
    for (int d = 0; d < p.m.ndim; d++)
        rest |= p.m.stride[TRANSPOSE_IN][d] | p.m.stride[TRANSPOSE_OUT][d];
    p.sectors = rest % 32 == 0 && p.m.q_in > 0;
    return p;
}

static bool problem_of(problem *p, const tess_problem *base) {
    transpose_plane plane;
    const char *why;
    if (!tess_transpose_gpu_plane_of(base, &plane, &why))
        return false;
    const transpose_gpu_matrices of = tess_transpose_gpu_matrices_of(base);
    *p = problem_of_matrices(&of);
    return true;
}

/* Sectors of all rows of one side, cut into pieces of `tile` elements: `rows` rows of n elements, `step` bytes apart. */
static double row_sectors(const problem *p, int64_t rows, int64_t n, int64_t step, int64_t tile) {
    double sum = 0;
    int64_t period = tess_max64(1, 32 / tess_gcd(32, tile * p->size)), whole = n / tile; /* pieces after which the addresses' remainders repeat */
    for (int64_t i = 0; i < tess_min64(period, whole); i++)
        sum += tess_gpu_run_sectors(rows, i * tile * p->size, step, tile * p->size) * (double)(whole / period + (i < whole % period));
    return (sum + tess_gpu_run_sectors(rows, whole * tile * p->size, step, n % tile * p->size)) * (double)p->m.count;
}

/* Requests for rows that come `together` to a warp: pieces of `tile` elements of n, tiles of `high` rows. */
static double row_requests(const problem *p, int64_t rows, int64_t n, int64_t tile, int64_t high, int64_t together) {
    return (double)(tess_ceil_div(n, tile) * (rows / high * tess_ceil_div(high, together) + tess_ceil_div(rows % high, together))) *
           (double)p->m.count;
}

static void global_rows(tess_gpu_prediction *out, const problem *p, int64_t along_p, int64_t along_q, int64_t together_in, int64_t together_out) {
    const transpose_plane *m = &p->m;
    out->global_ld_requests = row_requests(p, m->q_size, m->p_size, along_p, along_q, together_in);
    out->global_st_requests = row_requests(p, m->p_size, m->q_size, along_q, along_p, together_out);
    if (p->sectors && (together_in == 1 || m->q_in >= tess_min64(m->p_size, along_p) * p->size + 32))
        out->global_ld_sectors = row_sectors(p, m->q_size, m->p_size, m->q_in, along_p);
    if (p->sectors && (together_out == 1 || m->p_out >= tess_min64(m->q_size, along_q) * p->size + 32))
        out->global_st_sectors = row_sectors(p, m->p_size, m->q_size, m->p_out, along_q);
    out->flops = 0;
}

static void no_shared(tess_gpu_prediction *out) {
    out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = 0;
    out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = 0;
    out->barriers = 0;
}

void tess_transpose_predict_naive_read(const tess_problem *base, tess_gpu_prediction *out) {
    problem p;
    if (!problem_of(&p, base))
        return;
    no_shared(out);
    global_rows(out, &p, 32, 8, 1, 1);
    out->global_st_requests = out->global_ld_requests;
    out->global_st_sectors = p.m.p_out >= 32 ? (double)p.m.p_size * (double)p.m.q_size * (double)p.m.count : -1; /* one each */
}

void tess_transpose_predict_naive_write(const tess_problem *base, tess_gpu_prediction *out) {
    problem p;
    if (!problem_of(&p, base))
        return;
    no_shared(out);
    global_rows(out, &p, 8, 32, 1, 1);
    out->global_ld_requests = out->global_st_requests;
    out->global_ld_sectors = p.m.q_in >= 32 ? (double)p.m.p_size * (double)p.m.q_size * (double)p.m.count : -1;
}

/* ---- shared memory, one kind of tile at a time ---- */

/* np x nq elements of the tile exist. */
typedef void (*tile_walk)(transpose_gpu_cost *cost, const void *argument, int64_t size, int64_t np, int64_t nq);

static void shared_tiles(tess_gpu_prediction *out, const problem *p, int64_t along_p, int64_t along_q, int threads, tile_walk walk,
                         const void *argument) {
    const transpose_plane *m = &p->m;
    const int64_t np[] = {along_p, m->p_size % along_p}, nq[] = {along_q, m->q_size % along_q};
    const double tiles_p[] = {(double)(m->p_size / along_p), np[1] > 0}, tiles_q[] = {(double)(m->q_size / along_q), nq[1] > 0};
    no_shared(out);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            transpose_gpu_cost cost = {{0, 0, 0}, {0, 0, 0}};
            double tiles = tiles_p[i] * tiles_q[j] * (double)m->count;
            if (tiles == 0)
                continue;
            walk(&cost, argument, p->size, np[i], nq[j]);
            out->shared_st_requests += tiles * cost.store.requests;
            out->shared_st_wavefronts += tiles * cost.store.wavefronts;
            out->shared_st_conflicts += tiles * cost.store.conflicts;
            out->shared_ld_requests += tiles * cost.load.requests;
            out->shared_ld_wavefronts += tiles * cost.load.wavefronts;
            out->shared_ld_conflicts += tiles * cost.load.conflicts;
            out->barriers += tiles * threads / 32;
        }
}

/* gpu_tile.cu: threads x = t % tile, y = t / tile; gpu_tile_unroll.cu: the same in four goes. */
typedef struct square_tile {
    int tile, layout; /* 0 plain, 1 padded, 2 swizzled */
} square_tile;

static int32_t square_at(const square_tile *t, int64_t size, int y, int x) {
    int pitch = t->tile + (t->layout == 1);
    return (int32_t)((y * pitch + (t->layout == 2 ? x ^ y : x)) * size);
}

static void walk_square(transpose_gpu_cost *cost, const void *argument, int64_t size, int64_t np, int64_t nq) {
    const square_tile *t = argument;
    for (int first = 0; first < t->tile * t->tile; first += 32) {
        int32_t store[32], load[32];
        for (int lane = 0; lane < 32; lane++) {
            int x = (first + lane) % t->tile, y = (first + lane) / t->tile;
            store[lane] = x < np && y < nq ? square_at(t, size, y, x) : -1;
            load[lane] = x < nq && y < np ? square_at(t, size, x, y) : -1;
        }
        tess_gpu_shared_request(&cost->store, store, (int)size, true);
        tess_gpu_shared_request(&cost->load, load, (int)size, false);
    }
}

static void square_tiles(const problem *p, tess_gpu_prediction *out, int tile, int layout, int threads) {
    const square_tile t = {tile, layout};
    shared_tiles(out, p, tile, tile, threads, walk_square, &t);
    global_rows(out, p, tile, tile, 32 / tile, 32 / tile);
}

static void predict_square(const tess_problem *base, tess_gpu_prediction *out, int tile, int layout, int threads) {
    problem p;
    if (problem_of(&p, base))
        square_tiles(&p, out, tile, layout, threads);
}
void tess_transpose_predict_tile16(const tess_problem *base, tess_gpu_prediction *out) { predict_square(base, out, 16, 0, 256); }
void tess_transpose_predict_tile32(const tess_problem *base, tess_gpu_prediction *out) { predict_square(base, out, 32, 0, 1024); }
void tess_transpose_predict_tile_pad16(const tess_problem *base, tess_gpu_prediction *out) { predict_square(base, out, 16, 1, 256); }
void tess_transpose_predict_tile_pad32(const tess_problem *base, tess_gpu_prediction *out) { predict_square(base, out, 32, 1, 1024); }
void tess_transpose_predict_tile_swizzle(const tess_problem *base, tess_gpu_prediction *out) { predict_square(base, out, 32, 2, 1024); }
void tess_transpose_predict_tile_unroll(const tess_problem *base, tess_gpu_prediction *out) { predict_square(base, out, 32, 1, 256); }

/* gpu_tile_vector.cu: `width` elements a thread, one shared access for each. */
static void walk_vector(transpose_gpu_cost *cost, const void *argument, int64_t size, int64_t np, int64_t nq) {
    const square_tile t = {32, 1};
    int width = *(const int *)argument, row = 32 / width;
    for (int first = 0; first < 32 * row; first += 32)
        for (int k = 0; k < width; k++) {
            int32_t store[32], load[32];
            for (int lane = 0; lane < 32; lane++) {
                int x = (first + lane) % row * width, y = (first + lane) / row;
                store[lane] = x < np && y < nq ? square_at(&t, size, y, x + k) : -1;
                load[lane] = x < nq && y < np ? square_at(&t, size, x + k, y) : -1;
            }
            tess_gpu_shared_request(&cost->store, store, (int)size, true);
            tess_gpu_shared_request(&cost->load, load, (int)size, false);
        }
}

static void predict_vector(const tess_problem *base, tess_gpu_prediction *out, int width) {
    problem p;
    if (!problem_of(&p, base))
        return;
    shared_tiles(out, &p, 32, 32, 256, walk_vector, &width);
    global_rows(out, &p, 32, 32, width, width);
}
void tess_transpose_predict_tile_vector2(const tess_problem *base, tess_gpu_prediction *out) { predict_vector(base, out, 2); }
void tess_transpose_predict_tile_vector4(const tess_problem *base, tess_gpu_prediction *out) { predict_vector(base, out, 4); }

/* gpu_micro.cu, gpu_inplace_vectors.cu, gpu_squares.cuh: squares of V x V elements. */
void tess_transpose_walk_squares(transpose_gpu_cost *cost, const transpose_gpu_squares *t, int64_t size, int64_t np, int64_t nq) {
    const int v = (int)(16 / size), across = (int)t->along_p / v, row = (int)t->along_q / v;
    for (int first = 0; first < across * row; first += 32)
        for (int c = 0; c < v; c++) {
            int32_t store[32];
            for (int lane = 0; lane < 32; lane++) {
                int a = (first + lane) % across, down = (first + lane) / across;
                store[lane] = a * v < np && down * v < nq ? ((a * v + c) * row + (down ^ (a & 7))) * 16 : -1;
            }
            tess_gpu_shared_request(&cost->store, store, 16, true);
        }
    for (int first = 0; first < t->along_p * row; first += 32) {
        int32_t load[32];
        for (int lane = 0; lane < 32; lane++) {
            int p = (first + lane) / row, b = (first + lane) % row;
            load[lane] = p < np && b * v < nq ? (p * row + (b ^ (p / v & 7))) * 16 : -1;
        }
        tess_gpu_shared_request(&cost->load, load, 16, false);
    }
}

static void walk_micro(transpose_gpu_cost *cost, const void *argument, int64_t size, int64_t np, int64_t nq) {
    tess_transpose_walk_squares(cost, argument, size, np, nq);
}

/* 16 squares across, so a warp has two rows of squares. */
static void micro_tiles(const problem *p, tess_gpu_prediction *out) {
    int along_p = (int)(256 / p->size), along_q = p->size == 1 ? 256 : p->size <= 4 ? 128 : 64, v = (int)(16 / p->size), row = along_q / v;
    const transpose_gpu_squares tile = {along_p, along_q};
    shared_tiles(out, p, along_p, along_q, 256, walk_micro, &tile);
    global_rows(out, p, along_p, along_q, 1, row >= 32 ? 1 : 32 / row);
    if (row > 32) { /* a row of the tile takes more than one warp: pieces of 32 vectors */
        out->global_st_requests = row_requests(p, p->m.p_size, p->m.q_size, 32 * v, along_p, 1);
        out->global_st_sectors = p->sectors ? row_sectors(p, p->m.p_size, p->m.q_size, p->m.p_out, 32 * v) : -1;
    }
    if (v * p->m.q_in < tess_min64(p->m.p_size, along_p) * p->size + 32) /* the two rows of a request share a sector */
        out->global_ld_sectors = -1;
    /* a load takes row i of the two rows of squares that a warp has: V rows are asked for by half as many requests */
    double full = (double)tess_ceil_div(p->m.p_size, along_p) * (double)p->m.count;
    out->global_ld_requests =
        full * v * (double)(p->m.q_size / along_q * tess_ceil_div(along_q / v, 2) + tess_ceil_div(p->m.q_size % along_q / v, 2));
}

void tess_transpose_predict_micro(const tess_problem *base, tess_gpu_prediction *out) {
    problem p;
    if (problem_of(&p, base))
        micro_tiles(&p, out);
}

void tess_transpose_predict_launch(const transpose_gpu_matrices *m, tess_gpu_prediction *out) {
    const problem p = problem_of_matrices(m);
    switch (tess_transpose_gpu_tiles_for(m)) {
    case TRANSPOSE_GPU_MICRO: micro_tiles(&p, out); break;
    case TRANSPOSE_GPU_SHIFTED: tess_transpose_predict_shifted_matrices(m, out); break;
    case TRANSPOSE_GPU_UNROLL: square_tiles(&p, out, 32, 1, 256); break;
    }
}

void tess_transpose_predict_launch_copy(int64_t bytes, tess_gpu_prediction *out) {
    const int64_t vectors = bytes / 16, rest = bytes % 16; /* byte by byte, by one thread */
    no_shared(out);
    out->flops = 0;
    out->global_ld_requests = out->global_st_requests = (double)(tess_ceil_div(vectors, 32) + rest);
    out->global_ld_sectors = out->global_st_sectors = (double)(tess_ceil_div(vectors, 2) + rest);
}

void tess_transpose_predict_copy(const tess_problem *base, tess_gpu_prediction *out) {
    const transpose_problem *p = (const transpose_problem *)base;
    tess_transpose_predict_launch_copy(p->place == TRANSPOSE_NOTHING ? 0 : p->in.count * p->in.itemsize, out);
}

/* ---- gpu_elements.cu: pieces in the order of out, 32 a warp ---- */

/* Axes that are counted; bytes of what has its place by them. */
typedef struct pieces_of {
    const transpose_problem *p;
    int axes;
    int64_t unit, whole;
} pieces_of;

/* Pieces from..to - 1, `from` the first of a warp. */
static void count_pieces(const pieces_of *of, tess_gpu_prediction *out, double times, int64_t from, int64_t to) {
    const transpose_problem *p = of->p;
    const int64_t pieces = of->whole / of->unit, origin = (int64_t)1 << 40; /* before both arrays */
    for (; from < to; from += 32) {
        int64_t load[32], store[32];
        for (int lane = 0; lane < 32; lane++) {
            int64_t n = from + lane;
            load[lane] = origin + p->first[TRANSPOSE_IN] + n % pieces * of->unit;
            store[lane] = origin + p->first[TRANSPOSE_OUT] + n % pieces * of->unit;
            n /= pieces;
            for (int d = of->axes - 1; d >= 0; n /= p->shape[d--]) {
                load[lane] += n % p->shape[d] * p->stride[TRANSPOSE_IN][d];
                store[lane] += n % p->shape[d] * p->stride[TRANSPOSE_OUT][d];
            }
            if (from + lane >= to)
                load[lane] = store[lane] = -1;
        }
        tess_gpu_count_global(out, times, load, of->unit, false);
        tess_gpu_count_global(out, times, store, of->unit, true);
    }
}

/* Along the slowest axis everything repeats once both addresses have moved by sectors and the pieces by warps. Not predicted where that is after too many. */
static void predict_pieces(const tess_problem *base, tess_gpu_prediction *out, bool together) {
    enum { MOST = 1 << 22 };
    const transpose_problem *p = (const transpose_problem *)base;
    pieces_of of = {.p = p, .axes = p->ndim, .unit = tess_transpose_gpu_piece(p, together), .whole = p->size};
    if (of.unit > p->size)
        of.whole *= p->shape[--of.axes];
    int64_t inner = of.whole / of.unit, period = 1, slowest = of.axes > 0 ? p->shape[0] : 1;
    for (int d = 1; d < of.axes; d++)
        inner *= p->shape[d];
    if (of.axes > 0)
        period = 32 / tess_gcd(32, tess_gcd(inner, tess_gcd(llabs(p->stride[TRANSPOSE_IN][0]), p->stride[TRANSPOSE_OUT][0])));
    const int64_t times = slowest / period, first = period * inner, all = slowest * inner;
    no_shared(out);
    out->flops = 0;
    out->global_ld_requests = out->global_st_requests = (double)tess_ceil_div(all, 32);
    if ((times > 0 ? first : 0) + all - times * first > MOST)
        return;
    out->global_ld_requests = out->global_st_requests = out->global_ld_sectors = out->global_st_sectors = 0;
    if (times > 0)
        count_pieces(&of, out, (double)times, 0, first);
    count_pieces(&of, out, 1, times * first, all);
}
void tess_transpose_predict_elements(const tess_problem *base, tess_gpu_prediction *out) { predict_pieces(base, out, false); }
void tess_transpose_predict_pieces(const tess_problem *base, tess_gpu_prediction *out) { predict_pieces(base, out, true); }

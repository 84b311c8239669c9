/* SPDX-License-Identifier: Apache-2.0
 * gpu_shifted3d_predict.c - what correlate/shifted3d will count: tiles that lie inside count alike for planes that begin alike, those at an end are each walked.
 *
 * Predicted for arrays that begin at a line, whose rows and planes are not nearer than vectors reach. Not predicted: shared memory, of whose vectors the compiler loads parts, by where each plane
 * begins. */
#include <stdlib.h>

#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_ring_predict.h"
#include "ops/correlate/gpu_triple.h"

enum { LINE = FRAME_LINE, R = SHIFTED3D_ROWS, SECTOR = 32, VECTOR = 16 /* bytes */, FAR = 64 };

/* The names of gpu_shifted3d.cu. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    shifted3d_shape s;
    bool constant;
    int64_t v, mid_left, columns, rows, vectors, row, high, mine;
    int64_t x, y, left, top; /* of a tile */
} walk;

/* Planes that chunks bring by where they begin: the array's first and last ones, which may reach beyond its memory, and the others; those that they make. */
typedef struct planes {
    double first[LINE], last[LINE], others[LINE], out[LINE], turns, constants, chunks, results;
} planes;

static void planes_of(planes *all, const walk *w) {
    const tess_correlate_frame *f = w->f;
    double in[LINE], out[LINE];
    *all = (planes){.turns = 0};
    tess_correlate_frame_places(f, false, in);
    tess_correlate_frame_places(f, true, out);
    for (int64_t z = 0; z < f->z.m; z += w->s.depth) {
        const int64_t turns = tess_min64(w->s.depth, f->z.m - z) + f->z.width - 1;
        all->turns += (double)(turns * f->arrays);
        all->chunks += (double)f->arrays;
        for (int64_t n = 0; n < turns; n++) {
            const int64_t at = tess_correlate_frame_resolve(f, z - f->z.before + n, f->z.n);
            if (at < 0)
                all->constants += (double)f->arrays;
            else
                tess_correlate_frame_add_places(at == 0 ? all->first : at == f->z.n - 1 ? all->last : all->others, in, at * f->z.in_stride);
        }
    }
    for (int64_t z = 0; z < f->z.m; z++)
        tess_correlate_frame_add_places(all->out, out, z * f->z.out_stride);
    all->results = (double)(f->z.m * f->arrays);
}

static int64_t down_to(int64_t n, int64_t step) { return n / step * step; }

/* ---- planes on their way in ---- */

/* A plane whose first element in the tile's frame, of row `top` and column `left`, has its place at byte `begin`; number `z` of the array where it may reach beyond its memory, else -1. */
static void copy_plane(const walk *w, int64_t begin, int64_t z) {
    const tess_correlate_frame *f = w->f;
    const int64_t size = f->in, each = VECTOR / size, array = begin - w->top * f->y.in_stride - w->left * size - tess_max64(z, 0) * f->z.in_stride;
    const int64_t y_span = (f->y.n - 1) * f->y.in_stride, z_span = (f->z.n - 1) * f->z.in_stride;
    const int64_t least = down_to(array + tess_min64(y_span, 0) + tess_min64(z_span, 0), VECTOR),
                  end = array + f->x.n * size + tess_max64(y_span, 0) + tess_max64(z_span, 0);
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t k = 0; k < w->mine; k++) {
            int64_t from[32], to[32], part[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t vector = (thread + lane) % w->vectors, down = (thread + lane) / w->vectors, r = k * w->high + down;
                const bool there = down < w->high && w->left + (vector + 1) * each > 0 && w->left - (SECTOR / size - 1) + vector * each < f->x.n &&
                                   r < w->rows && w->top + r >= 0 && w->top + r < f->y.n;
                const int64_t at = down_to(begin + r * f->y.in_stride + vector / 2 * SECTOR, SECTOR) + vector % 2 * VECTOR;
                const bool mine = there && (z < 0 || (at >= least && at < end)), whole = z < 0 || at + VECTOR <= end;
                from[lane] = mine && whole ? at : -1;
                part[lane] = mine && !whole ? at : -1;
                to[lane] = r * w->row + vector * VECTOR;
            }
            tess_gpu_count_copies(w->sum, w->times, from, to);
            for (int64_t i = 0; i < each && z >= 0; i++) {
                int64_t element[32];
                for (int lane = 0; lane < 32; lane++)
                    element[lane] = part[lane] >= 0 && part[lane] + (i + 1) * size <= end ? part[lane] + i * size : -1;
                tess_gpu_count_global(w->sum, w->times, element, size, false);
            }
        }
}

/* lay_ghost() of each lane at a row of the tile and a column of the array (row -1: none): from the array what the tile has not. */
static void lay_ghost(const walk *w, int64_t begin, const int64_t *row, const int64_t *column) {
    const tess_correlate_frame *f = w->f;
    int64_t from[32];
    for (int lane = 0; lane < 32; lane++) {
        const int64_t at_y = tess_correlate_frame_resolve(f, w->top + row[lane], f->y.n),
                      at_x = tess_correlate_frame_resolve(f, column[lane], f->x.n), y = at_y - w->top, x = at_x - w->left;
        const bool near = y >= 0 && y < w->rows && x >= 0 && x < w->columns;
        from[lane] = row[lane] < 0 || near ? -1 : begin + y * f->y.in_stride + x * f->in;
    }
    tess_gpu_count_global(w->sum, w->times, from, f->in, false);
}

static void lay_ghosts(const walk *w, int64_t begin) {
    const tess_correlate_frame *f = w->f;
    const int64_t before_x = before(f), beside = 2 * before_x + after(f), end = tess_min64(w->left + w->columns, f->x.m + after(f));
    const int64_t above = tess_max64(0, -w->top), below = tess_max64(0, w->top + w->rows - f->y.n), beyond = (above + below) * w->columns;
    int64_t row[32], column[32];
    for (int64_t first = 0; first < w->rows * beside; first += 32) {
        for (int lane = 0; lane < 32; lane++) {
            const int64_t i = first + lane, g = i % beside;
            column[lane] = g < before_x ? g - before_x : f->x.n + g - before_x;
            row[lane] = i < w->rows * beside && column[lane] >= w->left && column[lane] < end ? i / beside : -1;
        }
        lay_ghost(w, begin, row, column);
    }
    for (int64_t first = 0; first < beyond; first += 32) {
        for (int lane = 0; lane < 32; lane++) {
            const int64_t i = first + lane, number = i / w->columns;
            column[lane] = w->left + i % w->columns;
            const bool mine = i < beyond && column[lane] >= 0 && column[lane] < f->x.n;
            row[lane] = !mine ? -1 : number < above ? number : w->rows - above - below + number;
        }
        lay_ghost(w, begin, row, column);
    }
}

static bool reaches(const walk *w) { return w->top < 0 || w->top + w->rows > w->f->y.n || w->left < 0 || w->left + w->columns > w->f->x.n; }

/* ---- results ---- */

/* Which of a thread's columns, and of those before them that its vector may have, are outputs: bit V - 1 + i column number i. */
static int outputs_of(const walk *w, int64_t thread) {
    const int64_t along = thread % w->s.lanes, column = w->x + along * w->v;
    const bool finishes = along < w->s.along && thread < w->s.lanes * w->s.down && along < w->s.finished / w->v;
    int bits = 0;
    for (int64_t i = 1 - w->v; i < w->v; i++)
        bits |= (finishes && column + i >= 0 && column + i < w->f->x.m) << (w->v - 1 + i);
    return bits;
}

/* A plane's results, of which the tile's first one has its place at byte `begin`. */
static void write_plane(const walk *w, int64_t begin) {
    const tess_correlate_frame *f = w->f;
    const int64_t v = w->v, size = f->out, bytes = tess_min64(v * size, VECTOR);
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t r = 0; r < R; r++) {
            int64_t inner[32], first[32], at[32];
            int some[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t down = tess_min64((thread + lane) / w->s.lanes, w->s.down - 1), rows = f->y.m - w->y - down * R;
                const int64_t to = begin + (down * R + r) * f->y.out_stride + (thread + lane) % w->s.lanes * v * size, moved = to / size % v;
                const int outputs = outputs_of(w, thread + lane);
                const bool all = rows >= R && outputs == (1 << (2 * v - 1)) - 1;
                inner[lane] = all ? down_to(to, v * size) : -1;
                first[lane] = to - moved * size;
                some[lane] = !all && r < rows ? outputs >> (v - 1 - moved) : 0;
            }
            for (int64_t b = 0; b < v * size; b += bytes) {
                for (int lane = 0; lane < 32; lane++)
                    at[lane] = inner[lane] < 0 ? -1 : inner[lane] + b;
                tess_gpu_count_global(w->sum, w->times, at, bytes, true);
            }
            for (int64_t i = 0; i < v; i++) {
                for (int lane = 0; lane < 32; lane++)
                    at[lane] = some[lane] >> i & 1 ? first[lane] + i * size : -1;
                tess_gpu_count_global(w->sum, w->times, at, size, true);
            }
        }
}

/* ---- all of them ---- */

/* Tiles from number `from` on, before `to`, that count alike. */
typedef struct group {
    int64_t from, to;
} group;

static void set_tile(walk *w, int64_t i, int64_t j) {
    w->x = i * w->s.finished;
    w->y = j * w->s.down * R;
    w->left = w->x - w->mid_left;
    w->top = w->y - w->f->y.before;
}

/* Planes by where they begin, seen from the tiles of two groups. */
static void seen(double *sum, const double *places, walk *w, group along, group down, bool out) {
    const tess_correlate_frame *f = w->f;
    for (int64_t i = along.from; i < along.to; i++)
        for (int64_t j = down.from; j < down.to; j++) {
            set_tile(w, i, j);
            tess_correlate_frame_add_places(sum, places, out ? w->y * f->y.out_stride + w->x * f->out : w->top * f->y.in_stride + w->left * f->in);
        }
}

static void bring(walk *w, const double *places, group along, group down, int64_t z) {
    double begin[LINE] = {0};
    seen(begin, places, w, along, down, false);
    set_tile(w, along.from, down.from);
    for (int i = 0; i < LINE; i++) {
        w->times = begin[i];
        if (w->times > 0)
            copy_plane(w, TESS_GPU_ORIGIN + i, z);
        if (w->times > 0 && !w->constant && reaches(w))
            lay_ghosts(w, TESS_GPU_ORIGIN + i);
    }
}

static void one_group(walk *w, const planes *all, group along, group down, double taken) {
    const tess_correlate_frame *f = w->f;
    const double tiles = (double)((along.to - along.from) * (down.to - down.from));
    double out[LINE] = {0};
    int64_t workers = 0, makers = 0;
    set_tile(w, along.from, down.from);
    const bool safe = w->top > 0 && w->top + w->rows < f->y.n;
    bring(w, all->first, along, down, safe ? -1 : 0);
    bring(w, all->last, along, down, safe ? -1 : f->z.n - 1);
    bring(w, all->others, along, down, -1);
    seen(out, all->out, w, along, down, true);
    set_tile(w, along.from, down.from);
    for (int i = 0; i < LINE; i++) {
        w->times = out[i];
        if (w->times > 0)
            write_plane(w, TESS_GPU_ORIGIN + i);
    }
    for (int64_t thread = 0; thread < w->s.threads; thread++) {
        const int64_t first = w->left + thread % w->s.lanes * w->v;
        const bool works = thread % w->s.lanes < w->s.along && thread < w->s.lanes * w->s.down;
        workers += works && (!w->constant || (first + w->v > 0 && first < f->x.n));
        makers += outputs_of(w, thread) != 0;
    }
    const double each = (double)(2 * R * w->v), planes_in = all->turns - all->constants;
    w->sum->flops += tiles * (double)workers * (planes_in * ((double)f->y.width * each + taken) + all->turns * (double)f->z.width * each);
    w->sum->flops += tiles * (double)makers * all->results * (double)f->x.width * each;
    w->sum->barriers += tiles * (double)(w->s.threads / 32) * (all->turns + all->chunks * (w->constant ? 1 : 2) + (reaches(w) ? all->chunks : 0));
}

/* Tiles of an axis: those of which `inside` is not true each for itself. */
static int cut_axis(group *list, int most, int64_t count, int64_t from, int64_t to) {
    int groups = 0;
    for (int64_t i = 0; i < count; i++) {
        if (groups == most)
            return 0;
        list[groups] = (group){i, i >= from && i < to ? to : i + 1};
        i = list[groups++].to - 1;
    }
    return groups;
}

void tess_correlate_predict_shifted3d(const tess_problem *base, tess_gpu_prediction *out) {
    enum { MOST = 64 };
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    tess_correlate_triple three;
    group along[MOST], down[MOST];
    tess_correlate_triple_of(&three, base, false, &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &three.frame;
    walk w = {.sum = out, .f = f, .v = 16 / work_size(base)};
    w.constant = p->boundary == TESS_BOUNDARY_ZERO || p->boundary == TESS_BOUNDARY_CONSTANT;
    w.s = tess_correlate_shifted3d_of(&three, work_size(base), w.constant, device_meant(out));
    w.mid_left = up_to(before(f) + w.v - 1, w.v);
    w.columns = w.s.along * w.v;
    w.rows = w.s.down * R + f->y.width - 1;
    w.vectors = (SECTOR - f->in + w.columns * f->in + 15) / 16;
    w.row = up_to((w.s.along + SECTOR / (w.v * f->in)) * w.v * f->in, SECTOR);
    w.high = w.s.threads / w.vectors;
    w.mine = tess_ceil_div(w.rows, w.high);
    const int64_t high = w.s.down * R, across = tess_ceil_div(f->x.m + w.v - 1, w.s.finished), deep = tess_ceil_div(f->y.m, high),
                  reach = SECTOR / f->in + w.columns;
    /* Inside: tiles all of whose vectors and results exist. */
    const int64_t first_x = tess_ceil_div(w.mid_left + w.v, w.s.finished), end_x = (tess_min64(f->x.n, f->x.m) - reach + w.mid_left) / w.s.finished;
    const int64_t first_y = f->y.before / high + 1, end_y = tess_min64(f->y.n + f->y.before - w.rows, f->y.m - high) / high;
    const int groups_x = cut_axis(along, MOST, across, first_x, end_x), groups_y = cut_axis(down, MOST, deep, first_y, end_y);
    if (llabs(f->y.in_stride) < FAR * f->in || llabs(f->z.in_stride) < FAR * f->in || groups_x == 0 || groups_y == 0)
        return;
    planes all;
    planes_of(&all, &w);
    const double taken =
        p->work == tess_f32 && f->pass->from == tess_u8 ? 0 : tess_correlate_frame_conversions(f, p->work, w.v * (R + f->y.width - 1));
    tess_gpu_count_from_zero(out);
    for (int i = 0; i < groups_x; i++)
        for (int j = 0; j < groups_y; j++)
            one_group(&w, &all, along[i], down[j], taken);
    out->constant_requests = -1;
    out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = -1;
}

/* SPDX-License-Identifier: Apache-2.0
 * gpu_separable3d_predict.c - what correlate/separable3d and separable3d_odd will count: a plane is walked for each kind of tile (gpu_planes_predict.c), and what passes between the halves of a turn.
 *
 * Predicted for arrays that begin at a line, and of separable3d_odd for elements of 4 and 8 bytes. */
#include <stdlib.h>

#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_planes_predict.h"
#include "ops/correlate/gpu_triple.h"

enum { LINE = FRAME_LINE, PAIR = TESS_CORRELATE_TRIPLE_PAIR };

/* The names of gpu_separable3d.cu. */
typedef struct walk {
    planes_walk planes;
    separable3d_shape s;
    int place;
    int64_t work, mid_left, mid_right, x; /* x: of the tile's first output */
} walk;

static bool works(const walk *w, int64_t thread) { return thread < w->s.along * w->s.down; }
static bool finishes(const walk *w, int64_t thread) { return works(w, thread) && thread % w->s.along < w->s.finished / w->s.columns; }

/* ---- the first half of a turn: from the ring ---- */

/* Windows of rows number first + each * step of every thread's, as far as they are rows of the tile. */
static void read_ring(const walk *w, int64_t r, bool by_rows) {
    const ring_walk *ring = &w->planes.ring;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32) {
        int64_t row[32], along[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t down = (thread + lane) / w->s.along;
            row[lane] = by_rows ? r * w->s.down + down : down * w->s.rows + r;
            along[lane] = works(w, thread + lane) && row[lane] < w->planes.rows ? (thread + lane) % w->s.along : -1;
        }
        tess_correlate_ring_read(ring, row, along);
    }
}

/* Row number r of each thread's to shared memory. */
static void write_mid(const walk *w, int64_t r, bool by_rows) {
    const ring_walk *ring = &w->planes.ring;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32) {
        int64_t to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t down = (thread + lane) / w->s.along, row = by_rows ? r * w->s.down + down : down * w->s.rows + r;
            const bool mine = works(w, thread + lane) && (!by_rows || row < w->planes.rows);
            to[lane] = mine ? (row * ring->tile + (thread + lane) % w->s.along * w->s.columns) * w->work : -1;
        }
        tess_gpu_count_shared(ring->sum, ring->times, to, 16, true);
    }
}

static void first_half(const walk *w) {
    const tess_correlate_frame *f = w->planes.ring.f;
    if (w->place == 0) {
        for (int64_t k = 0; k < tess_ceil_div(w->planes.rows, w->s.down); k++) {
            read_ring(w, k, true);
            write_mid(w, k, true);
        }
        return;
    }
    for (int64_t r = 0; r < w->s.rows + f->y.width - 1; r++)
        read_ring(w, r, false);
    for (int64_t r = 0; r < w->s.rows && w->place != PAIR; r++)
        write_mid(w, r, false);
}

/* ---- the second half ---- */

static void read_between(const walk *w) {
    const ring_walk *ring = &w->planes.ring;
    const tess_correlate_frame *f = ring->f;
    const int64_t words = 16 / w->work, begin = w->place ? w->mid_left - ring->left : 0,
                  end = w->place ? begin + ring->left + w->s.columns + ring->right : w->s.columns;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t r = 0; r < w->s.rows + (w->place ? 0 : f->y.width - 1); r++)
            for (int64_t i = begin / words * words; i < end; i += words) {
                const int64_t first = tess_max64(i, begin);
                const bool alone = tess_min64(i + words, end) - first == 1 && w->work == 4;
                int64_t at[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t row = (thread + lane) / w->s.along * w->s.rows + r, column = (thread + lane) % w->s.along * w->s.columns;
                    at[lane] = finishes(w, thread + lane) ? (row * ring->tile + column + (alone ? first : i)) * w->work : -1;
                }
                tess_gpu_count_shared(ring->sum, ring->times, at, alone ? 4 : 16, false);
            }
}

/* Results of a plane at byte `to`: of threads whose rows and columns all exist, then of the others; where rows begin anywhere element by element. */
static void write_plane(const walk *w, int64_t plane) {
    const ring_walk *ring = &w->planes.ring;
    const tess_correlate_frame *f = ring->f;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int whole = ring->whole; whole >= 0; whole--)
            for (int64_t r = 0; r < w->s.rows; r++) {
                int64_t x[32], to[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t row = w->planes.y + (thread + lane) / w->s.along * w->s.rows;
                    x[lane] = w->x + (thread + lane) % w->s.along * w->s.columns;
                    const bool all = ring->whole && row + w->s.rows <= f->y.m && x[lane] + w->s.columns <= f->x.m;
                    const bool mine = finishes(w, thread + lane) && all == whole && row + r < f->y.m;
                    to[lane] = mine ? plane + (row + r) * f->y.out_stride + x[lane] * f->out : -1;
                }
                if (ring->whole) {
                    tess_correlate_frame_write(ring->sum, ring->times, f, w->s.columns, x, to);
                    continue;
                }
                for (int64_t i = 0; i < w->s.columns; i++) {
                    int64_t at[32];
                    for (int lane = 0; lane < 32; lane++)
                        at[lane] = to[lane] >= 0 && x[lane] + i < f->x.m ? to[lane] + i * f->out : -1;
                    tess_gpu_count_global(ring->sum, ring->times, at, f->out, true);
                }
            }
}

/* ---- all of them ---- */

static void one_tile(walk *w, const planes_of_chunks *all, tess_type type, double tiles) {
    ring_walk *ring = &w->planes.ring;
    const tess_correlate_frame *f = ring->f;
    const double outputs = (double)(f->z.m * f->arrays), warps = (double)(w->s.threads / 32);
    const int64_t v = w->s.columns, r = w->s.rows, kx = f->x.width, ky = f->y.width, kz = f->z.width;
    int64_t workers = w->s.along * w->s.down, makers = 0;
    for (int64_t thread = 0; thread < w->s.threads; thread++)
        makers += finishes(w, thread);
    tess_correlate_planes_bring(&w->planes, all, tiles);
    ring->times = tiles * all->turns;
    first_half(w);
    ring->times = tiles * (w->place == 2 ? outputs : all->turns);
    if (w->place != PAIR)
        read_between(w);
    for (int i = 0; i < LINE; i++) {
        ring->times = tiles * all->out[i];
        if (ring->times > 0)
            write_plane(w, TESS_GPU_ORIGIN + i);
    }
    ring->sum->barriers += tiles * (all->turns + (w->place != PAIR ? all->chunks : 0)) * warps;
    const int64_t read = w->place ? workers * (r + ky - 1) : w->planes.rows * w->s.along;
    const double taken = tess_correlate_frame_conversions(f, type, read * (v + (w->place ? 0 : ring->left + ring->right)));
    const double first = (double)(2 * v * (w->place == 0 ? read * kx : workers * r * (w->place >= 2 ? ky + kz : ky)));
    const double second = w->place == PAIR ? 0 : (double)(2 * v * makers * r * (w->place == 0 ? ky + kz : w->place == 1 ? kx + kz : kx));
    ring->sum->flops += tiles * (all->turns * (taken + first) + (w->place == 2 ? outputs : all->turns) * second);
}

static void predict_tiles(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    tess_correlate_triple three;
    tess_correlate_triple_of(&three, base, whole, &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &three.frame;
    walk w = {.place = three.place, .work = work_size(base), .s = tess_correlate_separable3d_of(&three, work_size(base), device_meant(out))};
    if (!whole && f->in < 4) /* which pass through registers */
        return;
    w.mid_left = w.place ? up_to(before(f), w.s.beside) : 0;
    w.mid_right = w.place ? up_to(after(f), w.s.beside) : 0;
    w.planes = (planes_walk){.ring = w.place ? tess_correlate_ring_of_own(f, w.s.columns, w.s.along, w.s.threads, whole, w.mid_left, out)
                                             : tess_correlate_ring_of(f, w.s.columns, w.s.along, w.s.threads, whole, out),
                             .threads = w.s.threads,
                             .along = w.s.along,
                             .stages = w.s.stages,
                             .rows = w.s.down * w.s.rows + f->y.width - 1};
    planes_of_chunks all;
    tess_correlate_planes_of(&all, f, w.s.depth, whole);
    const int64_t line = whole ? LINE : 32, high = w.s.down * w.s.rows, across = tess_ceil_div(f->x.m, w.s.finished),
                  down = tess_ceil_div(f->y.m, high);
    const int64_t period = line / tess_gcd(line, tess_gcd(llabs(high * f->y.in_stride), llabs(high * f->y.out_stride))),
                  ends = 1 + tess_ceil_div(f->y.width, high), beside = w.mid_left + w.planes.ring.pad_left,
                  wide = line / tess_gcd(line, tess_gcd(w.s.finished * f->in, w.s.finished * f->out));
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind i = {0}; tess_gpu_next_kind(&i, across, 1 + tess_ceil_div(beside, w.s.finished),
                                                   1 + tess_ceil_div(w.planes.ring.row + w.mid_left, w.s.finished), wide);)
        for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, down, ends, ends + 1, period);) {
            w.x = i.at * w.s.finished;
            w.planes.x = w.x - w.mid_left;
            w.planes.y = j.at * high;
            one_tile(&w, &all, p->work, i.times * j.times);
        }
    out->constant_requests = -1;
    if (f->in == 2) /* of some masks the compiler loads words of a window, and not vectors */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    if (whole) /* of some masks it lays sums between the passes down word by word, which the assembler puts together again */
        out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = -1;
    if (!whole && w.place == PAIR) /* of the last mask it makes what is stored, wherever that is asked for column by column */
        out->flops = -1;
    if (!whole && w.place >= 2 && f->y.m % high) { /* of rows that are not there the compiler reads and makes some, and leaves out others */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
        out->flops = -1;
    }
}

void tess_correlate_predict_separable3d(const tess_problem *base, tess_gpu_prediction *out) { predict_tiles(base, out, true); }
void tess_correlate_predict_separable3d_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_tiles(base, out, false); }

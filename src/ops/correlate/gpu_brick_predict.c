/* SPDX-License-Identifier: Apache-2.0
 * gpu_brick_predict.c - what correlate/brick will count: a brick's requests are walked for each kind of brick along each axis and for each place within a sector at which arrays beside begin.
 *
 * Predicted for arrays that begin at a sector. Not predicted: constant requests. */
#include <stdlib.h>
#include <string.h>

#include "ops/correlate/boundary.h"
#include "ops/correlate/gpu_brick.h"

enum { SECTOR = 32 };

typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    tess_correlate_brick_shape b;
    tess_boundary boundary;
    int64_t in, out, threads;       /* bytes of elements; of a block */
    int64_t unit[3], at_once[3];    /* units of a line, lines, layers; so many of each at a time */
    int64_t first[3];               /* output of the brick */
    bool subtracts, subtracts_late; /* small integers become f32 by a subtraction, on their way in or where they are used */
    double places_in[SECTOR], places_out[SECTOR];
} walk;

/* ---- a brick ---- */

/* Units of a line, lines, layers; how many of them the threads of a block stand at: the names of gpu_brick.cu. */
static void turns_of(walk *w) {
    const int64_t coarse = w->b.length[!w->b.turned];
    w->unit[0] = tess_ceil_div(w->b.shift + w->b.length[w->b.turned], w->b.unit);
    w->unit[1] = coarse;
    w->unit[2] = w->b.length[2];
    w->threads = w->b.threads[0] * w->b.threads[1] * w->b.threads[2];
    int64_t room = w->threads;
    for (int i = 0; i < 3; i++) {
        w->at_once[i] = tess_min64(w->unit[i], room);
        room /= w->at_once[i];
    }
}

static bool is_inside(const walk *w) {
    for (int i = 0; i < 3; i++) {
        const tess_correlate_axis *a = &w->b.axis[i];
        const bool units = i == w->b.turned && w->b.unit > 1;
        const int64_t first = w->first[i] - a->before - (units ? w->b.shift : 0);
        if (first < 0 || first + (units ? w->unit[0] * w->b.unit : w->b.length[i]) > a->n)
            return false;
    }
    return true;
}

/* Where the unit stands that a thread meets in a turn: unit of a line, line, layer; false: nowhere. */
static bool place_of(const walk *w, int64_t thread, const int64_t *turn, int64_t *at) {
    const int64_t mine[] = {thread % w->at_once[0], thread / w->at_once[0] % w->at_once[1], thread / w->at_once[0] / w->at_once[1]};
    bool there = mine[2] < w->at_once[2];
    for (int i = 0; i < 3; i++) {
        at[i] = mine[i] + turn[i] * w->at_once[i];
        there = there && at[i] < w->unit[i];
    }
    return there;
}

/* Byte of shared memory at which element number i of a unit is laid down. */
static int64_t tile_at(const walk *w, const int64_t *at, int64_t i) {
    const int64_t fine = at[0] * w->b.unit + i, x = w->b.turned ? at[1] : fine, y = w->b.turned ? fine : at[1];
    return (x + (y + at[2] * w->b.lines) * w->b.pitch) * w->b.cell;
}

/* Byte that element number `i` of a brick's axis has of an element's address; -1: there is none. */
static int64_t along(const walk *w, int axis, int64_t i, bool *there) {
    const tess_correlate_axis *a = &w->b.axis[axis];
    const int64_t j = tess_boundary_index(w->boundary, a->n, w->first[axis] - a->before + i);
    *there = *there && j >= 0;
    return j < 0 ? 0 : j * a->in_stride;
}

/* Units to shared memory: as vectors, or element by element where lanes stand along y. */
static void lay_units(const walk *w, int64_t (*at)[3], const bool *there) {
    const int64_t each = w->b.turned ? 1 : w->b.unit;
    for (int64_t i = 0; i < w->b.unit; i += each) {
        int64_t address[32];
        for (int lane = 0; lane < 32; lane++)
            address[lane] = there[lane] ? tile_at(w, at[lane], i) : -1;
        tess_gpu_count_shared(w->sum, w->times, address, w->b.cell * each, true);
    }
}

/* A turn of a warp in a brick that lies inside the array. */
static void turn_inside(const walk *w, int64_t from, int64_t warp, const int64_t *turn, bool in) {
    const tess_correlate_axis *fine = &w->b.axis[w->b.turned], *coarse = &w->b.axis[!w->b.turned], *layer = &w->b.axis[2];
    int64_t address[32], at[32][3];
    bool there[32];
    for (int lane = 0; lane < 32; lane++) {
        there[lane] = place_of(w, warp + lane, turn, at[lane]);
        const int64_t to = from + (w->first[w->b.turned] - fine->before - w->b.shift + at[lane][0] * w->b.unit) * fine->in_stride +
                           (w->first[!w->b.turned] - coarse->before + at[lane][1]) * coarse->in_stride +
                           (w->first[2] - layer->before + at[lane][2]) * layer->in_stride;
        address[lane] = there[lane] ? to : -1;
    }
    if (in)
        tess_gpu_count_global(w->sum, w->times, address, w->in * w->b.unit, false);
    else
        lay_units(w, at, there);
}

/* Places of the coordinates that lanes read: number `first` of the table and on, or none (-1). */
static void read_places(const walk *w, const int64_t *number) {
    int64_t address[32];
    for (int lane = 0; lane < 32; lane++)
        address[lane] = number[lane] < 0 ? -1 : number[lane] * 8;
    tess_gpu_count_shared(w->sum, w->times, address, 8, false);
}

/* The lines' places, twice where some units are brought element by element. */
static void read_lines(const walk *w, int64_t (*at)[3], const bool *there) {
    int64_t layer[32], coarse[32];
    for (int lane = 0; lane < 32; lane++) {
        layer[lane] = there[lane] ? w->b.length[0] + w->b.length[1] + at[lane][2] : -1;
        coarse[lane] = there[lane] ? (w->b.turned ? 0 : w->b.length[0]) + at[lane][1] : -1;
    }
    read_places(w, layer);
    read_places(w, coarse);
}

/* The same turn of a brick that reaches beyond an end: whole units where they lie inside, else element by element. */
static void turn_anywhere(const walk *w, int64_t from, int64_t warp, const int64_t *turn) {
    const int fine = w->b.turned, coarse = !w->b.turned;
    const int64_t places = fine ? w->b.length[0] : 0;
    int64_t at[32][3], whole[32], number[32];
    bool there[32], all[32], mine[32];
    double conversions = 0;
    for (int lane = 0; lane < 32; lane++) {
        there[lane] = place_of(w, warp + lane, turn, at[lane]);
        const int64_t place = at[lane][0] * w->b.unit - w->b.shift, first = w->first[fine] - w->b.axis[fine].before + place;
        bool line = there[lane];
        const int64_t begin = line ? from + along(w, coarse, at[lane][1], &line) + along(w, 2, at[lane][2], &line) : 0;
        const int64_t one = w->b.unit == 1 && line ? along(w, fine, place, &line) : first * w->b.axis[fine].in_stride;
        all[lane] = line && (w->b.unit == 1 || (first >= 0 && first + w->b.unit <= w->b.axis[fine].n));
        mine[lane] = there[lane] && !all[lane];
        number[lane] = there[lane] ? places + place : -1;
        whole[lane] = all[lane] ? begin + one : -1;
        conversions += all[lane] ? (double)w->b.unit : 0;
    }
    read_lines(w, at, there);
    if (w->b.unit == 1)
        read_places(w, number);
    tess_gpu_count_global(w->sum, w->times, whole, w->in * w->b.unit, false);
    lay_units(w, at, w->b.unit == 1 ? there : all);
    w->sum->flops += w->subtracts ? w->times * conversions : 0;
    if (w->b.unit == 1)
        return;
    read_lines(w, at, there);
    for (int64_t i = 0; i < w->b.unit; i++) {
        int64_t one[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t place = at[lane][0] * w->b.unit + i - w->b.shift;
            bool element = mine[lane] && place >= 0 && place < w->b.length[fine];
            number[lane] = element ? places + place : -1;
            const int64_t byte =
                element ? from + along(w, fine, place, &element) + along(w, coarse, at[lane][1], &element) + along(w, 2, at[lane][2], &element) : -1;
            one[lane] = element ? byte : -1;
            to[lane] = mine[lane] ? tile_at(w, at[lane], i) : -1;
        }
        read_places(w, number);
        tess_gpu_count_global(w->sum, w->times, one, w->in, false);
        tess_gpu_count_shared(w->sum, w->times, to, w->b.cell, true);
    }
}

/* What a brick's elements are brought by, from an array that begins at byte `from`; in: or what of it is the same in all bricks that lie inside. */
static void bring(const walk *w, int64_t from, bool inside, bool in) {
    for (int64_t warp = 0; warp < w->threads; warp += 32)
        for (int64_t l = 0; l * w->at_once[2] < w->unit[2]; l++)
            for (int64_t j = 0; j * w->at_once[1] < w->unit[1]; j++)
                for (int64_t i = 0; i * w->at_once[0] < w->unit[0]; i++) {
                    const int64_t turn[] = {i, j, l};
                    if (inside)
                        turn_inside(w, from, warp, turn, in);
                    else
                        turn_anywhere(w, from, warp, turn);
                }
}

/* The places of coordinates, in bricks that do not lie inside. */
static void find_places(const walk *w) {
    int64_t address[32], first = 0;
    for (int i = 0; i < 3; first += w->b.length[i++])
        for (int64_t j = 0; j < w->b.length[i]; j += 32) {
            for (int lane = 0; lane < 32; lane++)
                address[lane] = j + lane < w->b.length[i] ? (first + j + lane) * 8 : -1;
            tess_gpu_count_shared(w->sum, w->times, address, 8, true);
        }
    w->sum->barriers += w->times * (double)(w->threads / 32);
}

/* Where a thread's part of the brick begins. */
static void thread_of(const walk *w, int64_t thread, int64_t *at) {
    at[0] = thread % w->b.threads[0] * w->b.columns;
    at[1] = thread / w->b.threads[0] % w->b.threads[1] * (w->b.split ? 1 : w->b.rows);
    at[2] = thread / w->b.threads[0] / w->b.threads[1] * w->b.layers;
}

/* Results of a warp, number r along y and s along z of each thread's: whole vectors, then what is left of one. */
static void store_one(const walk *w, int64_t to, int64_t warp, int64_t r, int64_t s) {
    int64_t address[32], left[32];
    for (int lane = 0; lane < 32; lane++) {
        int64_t at[3];
        thread_of(w, warp + lane, at);
        at[!w->b.split] += r * (w->b.split ? w->b.threads[0] * w->b.columns : 1);
        at[2] += s;
        address[lane] = to;
        for (int i = 0; i < 3 && address[lane] >= 0; i++)
            address[lane] = w->first[i] + at[i] < w->b.axis[i].m ? address[lane] + (w->first[i] + at[i]) * w->b.axis[i].out_stride : -1;
        left[lane] = w->b.axis[0].m - w->first[0] - at[0];
    }
    for (int64_t i = w->b.columns > 1 ? -1 : 0; i < tess_max64(1, w->b.columns - 1); i++) {
        int64_t one[32];
        for (int lane = 0; lane < 32; lane++) {
            const bool whole = left[lane] >= w->b.columns, mine = i < 0 ? whole : (w->b.columns == 1 || !whole) && i < left[lane];
            one[lane] = address[lane] >= 0 && mine ? address[lane] + tess_max64(i, 0) * w->out : -1;
        }
        tess_gpu_count_global(w->sum, w->times, one, i < 0 ? w->out * w->b.columns : w->out, true);
    }
}

static void store(const walk *w, int64_t to) {
    for (int64_t warp = 0; warp < w->threads; warp += 32)
        for (int64_t s = 0; s < w->b.layers; s++)
            for (int64_t r = 0; r < w->b.rows; r++)
                store_one(w, to, warp, r, s);
}

/* Each vector that a thread's outputs meet once, and every tap of all of them, if the first of its column is there; `each`: operations of a tap. */
static void add_up(const walk *w, double each) {
    const int64_t begin = w->b.columns > 1 ? w->b.shift % w->b.columns : 0;
    const double lines = (double)((w->b.axis[1].width + w->b.rows - 1) * (w->b.axis[2].width + w->b.layers - 1)),
                 met = lines * (double)tess_ceil_div(begin + w->b.columns + w->b.axis[0].width - 1, w->b.columns),
                 taken = w->subtracts_late ? lines * (double)(w->b.columns + w->b.axis[0].width - 1) : 0;
    for (int64_t thread = 0; thread < w->threads; thread += 32) {
        int64_t address[32];
        for (int lane = 0; lane < 32; lane++) {
            int64_t at[3];
            thread_of(w, thread + lane, at);
            const bool there = w->first[0] + at[0] < w->b.axis[0].m && w->first[2] + at[2] < w->b.axis[2].m;
            address[lane] = there ? (at[0] + (at[1] + at[2] * w->b.lines) * w->b.pitch) * w->b.cell : -1;
            w->sum->flops += there ? w->times * (each * (double)(w->b.columns * w->b.rows * w->b.layers * w->b.pass->taps) + taken) : 0;
        }
        tess_gpu_count_shared(w->sum, w->times * met, address, w->b.cell * w->b.columns, false);
    }
}

/* ---- all of them ---- */

/* How many of the arrays beside begin at each place within a sector. */
static void places_of(const walk *w, double *places, bool out) {
    for (int i = 0; i < SECTOR; i++)
        places[i] = i == 0;
    for (int d = 0; d < w->b.pass->ndim; d++) {
        const tess_correlate_axis *a = &w->b.pass->axis[d];
        double next[SECTOR] = {0};
        if (!tess_correlate_brick_is_batch(&w->b, d))
            continue;
        for (int64_t j = 0; j < tess_min64(a->m, SECTOR); j++)
            for (int i = 0; i < SECTOR; i++) {
                const int64_t byte = i + j * (out ? a->out_stride : a->in_stride);
                next[(byte % SECTOR + SECTOR) % SECTOR] += places[i] * (double)tess_ceil_div(a->m - j, SECTOR);
            }
        memcpy(places, next, sizeof next);
    }
}

/* Bricks along an axis: those near an end one by one, the others by where they begin. */
static bool next_kind(const walk *w, int i, tess_gpu_kind *kind) {
    const tess_correlate_axis *a = &w->b.axis[i];
    const int64_t ends = 1 + tess_ceil_div(w->b.length[i] + a->width + 2 * w->b.unit, w->b.tile[i]);
    return tess_gpu_next_kind(kind, tess_ceil_div(a->m, w->b.tile[i]), ends, ends,
                              SECTOR / tess_gcd(SECTOR, tess_gcd(llabs(w->b.tile[i] * a->in_stride), llabs(w->b.tile[i] * a->out_stride))));
}

static void add_brick(walk *w, double times, double arrays, double each) {
    const bool inside = is_inside(w);
    w->times = times * arrays;
    add_up(w, each);
    if (inside) {
        bring(w, 0, true, false);
        w->sum->flops += w->subtracts ? w->times * (double)(w->unit[0] * w->unit[1] * w->unit[2] * w->b.unit) : 0;
    } else {
        find_places(w);
    }
    for (int i = 0; i < SECTOR; i++) {
        w->times = times * w->places_in[i];
        if (w->times > 0)
            bring(w, TESS_GPU_ORIGIN + i, inside, true);
        w->times = times * w->places_out[i];
        if (w->times > 0)
            store(w, TESS_GPU_ORIGIN + i);
    }
}

static void add_bricks(walk *w, double each) {
    double arrays = 0;
    places_of(w, w->places_in, false);
    places_of(w, w->places_out, true);
    for (int i = 0; i < SECTOR; i++)
        arrays += w->places_out[i];
    for (tess_gpu_kind x = {0}; next_kind(w, 0, &x);)
        for (tess_gpu_kind y = {0}; next_kind(w, 1, &y);)
            for (tess_gpu_kind z = {0}; next_kind(w, 2, &z);) {
                w->first[0] = x.at * w->b.tile[0];
                w->first[1] = y.at * w->b.tile[1];
                w->first[2] = z.at * w->b.tile[2];
                add_brick(w, x.times * y.times * z.times, arrays, each);
            }
    w->sum->barriers += (double)(w->b.grid[0] * w->b.grid[1] * w->b.grid[2]) * (double)(w->threads / 32);
}

static void predict(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const double each = p->work == tess_f32 || p->work == tess_f64 ? 2 : tess_is_complex(p->work) ? 8 : 0;
    const char *why;
    int count;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    tess_gpu_count_from_zero(out);
    for (int k = 0; k < count; k++) {
        walk w = {.sum = out, .boundary = p->boundary};
        tess_correlate_brick_of(&w.b, p, &pass[k], whole, &why); /* true, because `fits` was */
        w.in = (int64_t)tess_type_size(pass[k].from);
        w.out = (int64_t)tess_type_size(pass[k].to);
        const tess_type from = pass[k].from;
        w.subtracts = p->work == tess_f32 && (from == tess_u8 || from == tess_i8) && w.b.unit > 1 && !w.b.raw;
        w.subtracts_late = w.b.raw && (from == tess_u8 || from == tess_i8 || from == tess_u16 || from == tess_i16);
        turns_of(&w);
        add_bricks(&w, each);
    }
    out->constant_requests = -1;
}

void tess_correlate_predict_brick(const tess_problem *base, tess_gpu_prediction *out) { predict(base, out, true); }
void tess_correlate_predict_brick_odd(const tess_problem *base, tess_gpu_prediction *out) { predict(base, out, false); }

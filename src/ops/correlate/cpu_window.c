/* SPDX-License-Identifier: Apache-2.0
 * cpu_window.c - correlate/window: tiles of several output rows by several vectors stay in registers while the mask passes over them.
 *
 * correlate/rows loads an input vector for every tap of every output and keeps sums in L1. Here a loaded vector serves up to four output rows, and a
 * sum is stored once. A band of output rows is cut into strips of columns: inside the array and in the work type already, input rows are read where
 * they lie; at the edges, and for other types and strides, the rows that a strip meets are gathered once for the whole band. The kernel is the same.
 */
#include "core/parallel.h"
#include "ops/correlate/window.h"
#include "simd/simd.h"

#if TESS_VECTOR_BYTES == 64
#define TALL 6
#define WIDE 4 /* 24 sums, 4 loads, a weight: 29 of 32 registers */
#else
#define TALL 4
#define WIDE 2 /* 8 sums, 2 loads, a weight: 11 of 16 */
#endif
#define LONG 8 /* vectors of a tile of one row, where there are so many */

typedef enum tile_kind { TALL_TILE, LONG_TILE, SHORT_TILE } tile_kind;
/* Outputs from this size on are stored past the caches: a plain store reads the line that it overwrites. */
static const double STREAM_BYTES = 8 << 20;
enum { SHORT_ROW = 384 }; /* up to so many columns a copy with its ghost cells costs less than tiles for both edges */

TESS_INLINE v_f32 f32_canonical(v_f32 x) {
    const v_i32 quiet = (v_i32){0} + 0x7fc00000;
    const v_i32 fine = (v_i32)(x == x);
    return (v_f32)(((v_i32)x & fine) | (quiet & ~fine));
}
TESS_INLINE v_f64 f64_canonical(v_f64 x) {
    const v_i64 quiet = (v_i64){0} + 0x7ff8000000000000;
    const v_i64 fine = (v_i64)(x == x);
    return (v_f64)(((v_i64)x & fine) | (quiet & ~fine));
}

#define vec v_f32
#define real float
#define v_load v_f32_load
#define v_store v_f32_store
#define v_stream v_f32_stream
#define v_all v_f32_all
#define v_fma v_f32_fma
#define v_keep v_f32_keep
#define v_canonical f32_canonical
#define tile_name tall_f32
#define ROWS TALL
#define VECTORS WIDE
#include "ops/correlate/window_tile.h"
#define tile_name tall3_f32
#define ROWS TALL
#define VECTORS WIDE
#define TAPS 3
#include "ops/correlate/window_tile.h"
#define tile_name tall5_f32
#define ROWS TALL
#define VECTORS WIDE
#define TAPS 5
#include "ops/correlate/window_tile.h"
#define tile_name tall7_f32
#define ROWS TALL
#define VECTORS WIDE
#define TAPS 7
#include "ops/correlate/window_tile.h"
#define tile_name long_f32
#define ROWS 1
#define VECTORS LONG
#include "ops/correlate/window_tile.h"
#define tile_name short_f32
#define ROWS 1
#define VECTORS WIDE
#include "ops/correlate/window_tile.h"
#undef vec
#undef real
#undef v_load
#undef v_store
#undef v_stream
#undef v_all
#undef v_fma
#undef v_keep
#undef v_canonical

#define vec v_f64
#define real double
#define v_load v_f64_load
#define v_store v_f64_store
#define v_stream v_f64_stream
#define v_all v_f64_all
#define v_fma v_f64_fma
#define v_keep v_f64_keep
#define v_canonical f64_canonical
#define tile_name tall_f64
#define ROWS TALL
#define VECTORS WIDE
#include "ops/correlate/window_tile.h"
#define tile_name tall3_f64
#define ROWS TALL
#define VECTORS WIDE
#define TAPS 3
#include "ops/correlate/window_tile.h"
#define tile_name tall5_f64
#define ROWS TALL
#define VECTORS WIDE
#define TAPS 5
#include "ops/correlate/window_tile.h"
#define tile_name tall7_f64
#define ROWS TALL
#define VECTORS WIDE
#define TAPS 7
#include "ops/correlate/window_tile.h"
#define tile_name long_f64
#define ROWS 1
#define VECTORS LONG
#include "ops/correlate/window_tile.h"
#define tile_name short_f64
#define ROWS 1
#define VECTORS WIDE
#include "ops/correlate/window_tile.h"

typedef struct job {
    const tess_correlate_pass *pass;
    tess_correlate_window window;
    tess_correlate_source source;
    tess_correlate_outer outer;
    tess_row_storer store;
    const char *in;
    char *out, *scratch;
    bool f32, out_ready;              /* out has the work type and compact rows: tiles are stored straight into it */
    bool stream;                      /* the output is too large to be kept in a cache, and whole lines of it can be written */
    int64_t length, out_stride;       /* of a row: elements, bytes from element to element */
    int64_t inside, beyond;           /* columns inside .. beyond - 1 are read where they lie */
    int64_t strips, left, middle;     /* of a row; those before and in the inside */
    int64_t bands, rows, y_stride;    /* of a plane of output: bands, rows, bytes between rows */
    int64_t floors, planes, z_stride; /* of the output: blocks, planes, bytes between planes */
} job;

/* Output rows y .. y + rows - 1 of planes z .. z + planes - 1; at: the other axes; out: the first of them. */
typedef struct block {
    const int64_t *at;
    int64_t y, rows, z, planes;
    char *out;
} block;

/* ---- the input rows of a strip ---- */

/* Address of the first row (of the band's axis) of input plane p of those that a block meets; NULL: ghost cells. With planes along one axis, those of
 * neighbouring outputs are the same; else they are the mask's, numbered in its order. */
static const char *input_plane(const job *j, const block *b, int64_t p) {
    const tess_correlate_pass *pass = j->pass;
    const char *from = j->in;
    for (int k = pass->masked - 1; k >= 0; k--) {
        int d = pass->order[k];
        const tess_correlate_axis *a = &pass->axis[d];
        if (d == pass->row || d == j->window.y)
            continue;
        int64_t i = tess_boundary_index(j->source.boundary, a->n, (d == j->window.z ? b->z + p : b->at[d] + p % a->width) - a->before);
        if (i < 0)
            return NULL;
        from += i * a->in_stride;
        p /= a->width;
    }
    for (int k = 0; k < j->outer.ndim; k++) {
        int d = j->outer.axis[k];
        if (pass->axis[d].width == 1)
            from += b->at[d] * pass->axis[d].in_stride;
    }
    return from;
}

/* Fills the table of rows for a block's columns first .. first + count - 1. */
static const char **look_up(const job *j, char *scratch, const block *b, int64_t first, int64_t count, bool lies_ready) {
    const tess_correlate_window *w = &j->window;
    const char **table = (const char **)(void *)scratch;
    char *ghost = scratch + tess_ceil_div(w->layers * w->lines * (int64_t)sizeof(char *), 64) * 64, *room = ghost + w->ghost_bytes;
    const int64_t start = first - j->pass->axis[j->pass->row].before * j->pass->group, reach = (w->wx - 1) * j->pass->group;
    bool ghost_made = false;
    const tess_correlate_axis none = {.n = 1, .m = 1, .width = 1}, *along = w->y >= 0 ? &j->pass->axis[w->y] : &none;
    for (int64_t p = 0; p < b->planes + w->planes - 1; p++) {
        const char *plane = input_plane(j, b, p);
        for (int64_t i = 0; i < b->rows + w->wy - 1; i++) {
            int64_t line = tess_boundary_index(j->source.boundary, along->n, b->y + i - along->before);
            const char *row = plane && line >= 0 ? plane + line * along->in_stride : NULL;
            if (row && lies_ready) {
                row += start * j->source.width;
            } else if (row) {
                tess_correlate_gather(&j->source, room, row, start, count + reach);
                row = room;
                room += w->row_bytes;
            } else {
                if (!ghost_made)
                    tess_correlate_gather(&j->source, ghost, NULL, start, count + reach);
                ghost_made = true;
                row = ghost;
            }
            table[p * w->lines + i] = row;
        }
    }
    return table;
}

/* ---- tiles over a strip ---- */

static int64_t columns_of(const job *j, tile_kind kind) { return (kind == LONG_TILE ? LONG : WIDE) * TESS_VECTOR_BYTES / j->source.width; }

typedef void (*tile_f32)(const char *const *, int64_t, int64_t, const float *, const tess_correlate_window *, int64_t, char *, int64_t, bool);
typedef void (*tile_f64)(const char *const *, int64_t, int64_t, const double *, const tess_correlate_window *, int64_t, char *, int64_t, bool);

static tile_f32 tile_of_f32(const job *j, tile_kind kind) {
    if (kind != TALL_TILE)
        return kind == LONG_TILE ? long_f32 : short_f32;
    return j->window.wx == 3 ? tall3_f32 : j->window.wx == 5 ? tall5_f32 : j->window.wx == 7 ? tall7_f32 : tall_f32;
}
static tile_f64 tile_of_f64(const job *j, tile_kind kind) {
    if (kind != TALL_TILE)
        return kind == LONG_TILE ? long_f64 : short_f64;
    return j->window.wx == 3 ? tall3_f64 : j->window.wx == 5 ? tall5_f64 : j->window.wx == 7 ? tall7_f64 : tall_f64;
}

static void tile(const job *j, tile_kind kind, const char *const *rows, int64_t at, char *out, int64_t out_stride, bool stream) {
    const int64_t step = j->pass->group * j->source.width, lines = j->window.lines;
    if (j->f32)
        tile_of_f32(j, kind)(rows, lines, at, j->pass->weights, &j->window, step, out, out_stride, stream);
    else
        tile_of_f64(j, kind)(rows, lines, at, j->pass->weights, &j->window, step, out, out_stride, stream);
}

/* A strip of `count` columns. Gathered, its input rows are padded to whole tiles; where they lie ready there is nothing beyond, and the last tile
 * begins earlier instead: what it computes again comes out the same. */
static void strip(const job *j, char *scratch, const block *b, int64_t first, int64_t count, bool lies_ready) {
    const int64_t width = j->source.width;
    const tile_kind one_row = count >= columns_of(j, LONG_TILE) ? LONG_TILE : SHORT_TILE;
    const int64_t padded = lies_ready ? count : tess_ceil_div(count, columns_of(j, one_row)) * columns_of(j, one_row);
    const char *const *table = look_up(j, scratch, b, first, padded, lies_ready);
    char *sums = scratch + j->window.scratch - TALL * TESS_WINDOW_TILE_BYTES;
    for (int64_t z = 0; z < b->planes; z++, table += j->window.lines)
        for (int64_t r = 0; r < b->rows;) {
            const tile_kind kind = b->rows - r >= TALL && j->window.wy > 1 ? TALL_TILE : one_row;
            const int64_t some = kind == TALL_TILE ? TALL : 1, columns = columns_of(j, kind);
            for (int64_t x = 0; x < count; x += columns) {
                const bool ends_early = lies_ready && x + columns > count;
                const int64_t from = ends_early ? count - columns : x;
                char *to = b->out + z * j->z_stride + r * j->y_stride + (first + from) * j->out_stride;
                if (j->out_ready && from + columns <= count) {
                    tile(j, kind, table + r, from * width, to, j->y_stride, j->stream && lies_ready && !ends_early);
                    continue;
                }
                tile(j, kind, table + r, from * width, sums, TESS_WINDOW_TILE_BYTES, false);
                for (int64_t k = 0; k < some; k++)
                    j->store(to + k * j->y_stride, j->out_stride, sums + k * TESS_WINDOW_TILE_BYTES, tess_min64(columns, count - from));
            }
            r += some;
        }
}

static void numbered_strip(const job *j, char *scratch, const block *b, int64_t number) {
    if (number < j->left) {
        int64_t first = number * j->window.strip;
        strip(j, scratch, b, first, tess_min64(j->inside - first, j->window.strip), false);
    } else if (number < j->left + j->middle) {
        int64_t first = j->inside + (number - j->left) * j->window.in_place;
        strip(j, scratch, b, first, number == j->left + j->middle - 1 ? j->beyond - first : j->window.in_place, true);
    } else {
        int64_t first = j->beyond + (number - j->left - j->middle) * j->window.strip;
        strip(j, scratch, b, first, tess_min64(j->length - first, j->window.strip), false);
    }
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    const job *j = argument;
    const int64_t blocks = j->floors * j->bands * j->strips;
    char *scratch = j->scratch + (size_t)worker * j->window.scratch;
    int64_t at[TESS_MAX_NDIM] = {0}, out_stride[1][TESS_MAX_NDIM];
    tess_index index;
    memcpy(out_stride, j->outer.out_stride, sizeof out_stride);
    tess_index_start(&index, j->outer.ndim, j->outer.m, 1, out_stride, begin / blocks);
    int64_t number = begin % blocks;
    for (int64_t t = begin; t < end; t++) {
        for (int k = 0; k < j->outer.ndim; k++)
            at[j->outer.axis[k]] = index.at[k];
        block b = {.at = at, .z = number / j->strips / j->bands * j->window.depth, .y = number / j->strips % j->bands * j->window.band};
        b.rows = tess_min64(j->rows - b.y, j->window.band);
        b.planes = tess_min64(j->planes - b.z, j->window.depth);
        b.out = j->out + index.offset[0] + b.z * j->z_stride + b.y * j->y_stride;
        numbered_strip(j, scratch, &b, number % j->strips);
        if (++number == blocks) {
            number = 0;
            tess_index_next(&index);
        }
    }
    if (j->stream)
        tess_stream_fence();
}

/* ---- a pass ---- */

/* Whether every row of the output starts at the same place within a line of 64 bytes; *phase: columns up to the first line. */
static bool lines_match(const job *j, int64_t *phase) {
    int64_t before = (int64_t)(((uintptr_t)0 - (uintptr_t)j->out) % 64);
    bool match = before % j->source.width == 0 && (j->rows == 1 || j->y_stride % 64 == 0) && (j->planes == 1 || j->z_stride % 64 == 0);
    for (int k = 0; k < j->outer.ndim; k++)
        match &= j->outer.m[k] == 1 || j->outer.out_stride[0][k] % 64 == 0;
    *phase = match ? before / j->source.width : 0;
    return match;
}

/* Which columns meet no ghost cell and may be read where they lie; for streaming stores from the start of a line of output on. */
static void find_inside(job *j, const tess_correlate_problem *problem, const tess_correlate_axis *row, int64_t group) {
    const int64_t line = 64 / j->source.width;
    int64_t phase;
    bool match = lines_match(j, &phase);
    j->inside = j->beyond = j->length;
    j->stream = match && j->out_ready && j->pass->last && (double)problem->out.count * j->source.width >= STREAM_BYTES;
    if (j->source.in_place && (j->length > SHORT_ROW || j->length > j->window.strip)) {
        int64_t first = row->before * group, last = tess_min64((row->n - (row->width - 1 - row->before)) * group, j->length);
        if (j->stream)
            first = phase + tess_ceil_div(tess_max64(first - phase, 0), line) * line;
        first = tess_max64(first, 0);
        if (last - first >= columns_of(j, SHORT_TILE)) {
            j->inside = first;
            j->beyond = last;
        }
    }
    j->left = tess_ceil_div(j->inside, j->window.strip);
    j->middle = j->beyond > j->inside ? tess_max64((j->beyond - j->inside) / j->window.in_place, 1) : 0; /* the last one takes what is left over */
    j->strips = j->left + j->middle + tess_ceil_div(j->length - j->beyond, j->window.strip);
}

tess_status TESS_ISA_NAME(tess_correlate_window_pass)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                      const char *in, char *out, char *scratch);
tess_status TESS_ISA_NAME(tess_correlate_window_pass)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                      const char *in, char *out, char *scratch) {
    job j = {.pass = pass, .in = in, .out = out, .scratch = scratch};
    const tess_correlate_axis *row = &pass->axis[pass->row];
    const char *why;
    if (pass->outputs == 0)
        return TESS_OK;
    if (!tess_correlate_window_of(&j.window, problem, pass, &why))
        return tess_fail(TESS_ERR_INTERNAL, "correlate/window ran where it is not applicable: %s", why);
    tess_correlate_source_of(&j.source, problem, pass, run->slot);
    tess_correlate_outer_of(&j.outer, pass, j.window.y, j.window.z);
    j.store = tess_storer(run->slot, problem->work, pass->to);
    j.f32 = problem->work == tess_f32;
    j.length = row->m * pass->group;
    j.out_stride = pass->group > 1 ? (int64_t)tess_type_size(pass->to) : row->out_stride;
    j.out_ready = pass->to == problem->work && j.out_stride == j.source.width;
    j.rows = j.window.y >= 0 ? pass->axis[j.window.y].m : 1;
    j.y_stride = j.window.y >= 0 ? pass->axis[j.window.y].out_stride : 0;
    j.bands = tess_ceil_div(j.rows, j.window.band);
    j.planes = j.window.z >= 0 ? pass->axis[j.window.z].m : 1;
    j.z_stride = j.window.z >= 0 ? pass->axis[j.window.z].out_stride : 0;
    j.floors = tess_ceil_div(j.planes, j.window.depth);
    find_inside(&j, problem, row, pass->group);
    int64_t tasks = j.outer.rows * j.floors * j.bands * j.strips;
    if (run->threads == 0) {
        task(&j, 0, tasks, 0);
        return TESS_OK;
    }
    double cost = (double)pass->outputs * (double)(pass->taps + 8) / (double)tasks; /* of one; a piece should take some 20 microseconds */
    return tess_parallel(run->context, run->threads, tasks, tess_max64(1, (int64_t)(5e5 / cost)), task, &j);
}

tess_status TESS_ISA_NAME(tess_correlate_in_window)(const tess_problem *base, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_in_window)(const tess_problem *base, const tess_run *run) {
    const tess_correlate_problem *problem = (const tess_correlate_problem *)base;
    return TESS_ISA_NAME(tess_correlate_window_pass)(problem, problem->direct, run, tess_correlate_input(problem, run), run->out, run->workspace);
}

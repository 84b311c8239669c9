/* SPDX-License-Identifier: Apache-2.0
 * cpu_window.c - correlate/window: tiles of several output rows by several vectors stay in registers while the mask passes over them.
 *
 * correlate/rows loads an input vector for every tap of every output and keeps sums in L1. Here a loaded vector serves up to four output rows, and a
 * sum is stored once. A band of output rows is cut into strips of columns: inside the array and in the work type already, input rows are read where
 * they lie; at the edges, and for other types and strides, the rows that a strip meets are gathered once for the whole band. The kernel is the same.
 */
#include "core/maker.h"
#include "core/parallel.h"
#include "ops/correlate/packed.h"
#include "ops/correlate/volume.h"
#include "ops/correlate/window_edge.h"
#include "ops/correlate/window_job.h"
#include "ops/correlate/window_kernels.h"
#include "ops/correlate/window_rings.h"
#include "simd/lanes.h"
#include "simd/simd.h"

enum {
    SHORT_ROW = 384,   /* columns up to which a copy with its ghost cells costs less than tiles for both edges */
    SHORT_RAW = 2048,  /* the same, of elements of 8 or 16 bits as they are, and */
    SHORT_TALL = 1024, /* where tiles of f32 over several rows have other words or fewer registers */
    NEAR = 3584,       /* tess_window_call; 2048 is up to a tenth slower at 3 taps (notes-cpu.md) */
    NEAR_ZEN5 = 6144,  /* 3584 is some points slower at 3 and 5 taps */
    HALF_PAGE = 2048,
    ONE_BY_ONE = 64, /* columns from which on inside of a row there are whole vectors, whatever the mask */
};

const tess_window_kernels *TESS_ISA_NAME(tess_correlate_window_kernels)(bool f32);
const tess_window_kernels *TESS_ISA_NAME(tess_correlate_packed_kernels)(bool dot4, bool pixels); /* NULL: there is no dot4 */
tess_row_loader TESS_ISA_NAME(tess_correlate_packed_loader)(tess_type from, bool dot4);

/* Output rows y .. y + rows - 1 of planes z .. z + planes - 1; at: the other axes; out: the first of them. */
typedef struct block {
    const int64_t *at;
    int64_t y, rows, z, planes;
    char *out;
    bool goes_on; /* this thread will go on with the band below */
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

/* Fills the table of rows for a block's columns first .. first + count - 1: `lines` pointers a plane, the last of them to rows as they lie in
 * memory that the block below will want. Tiles read as if there were `padded` columns: what only those meet is zero, since ghost cells far beyond a row of pixels come
 * pixel by pixel. */
static const char **look_up(const job *j, char *scratch, const block *b, int64_t first, int64_t count, int64_t padded, bool lies_ready) {
    const tess_correlate_window *w = &j->window;
    const char **table = (const char **)(void *)scratch;
    char *ghost = scratch + w->table_bytes, *room = ghost + w->ghost_bytes;
    const int64_t start = first - j->pass->axis[j->pass->row].before * j->pass->group, reach = (w->wx - 1) * j->pass->group;
    const int64_t met = b->rows + w->wy - 1, beyond = (padded - count) * j->source.width;
    const int64_t ahead = b->goes_on && (lies_ready || j->source_compact) ? b->rows : 0; /* any address will do for a request */
    bool ghost_made = false;
    tess_window_edge edge;
    tess_window_edge_of(&edge, &j->source, start, lies_ready ? 0 : count + reach, met);
    const tess_correlate_axis none = {.n = 1, .m = 1, .width = 1}, *along = w->y >= 0 ? &j->pass->axis[w->y] : &none;
    for (int64_t p = 0; p < b->planes + w->planes - 1; p++) {
        const char *plane = input_plane(j, b, p), **line_of = table + p * w->lines;
        char *const copies = room;
        for (int64_t i = 0, some; i < met + ahead; i += some) {
            const tess_boundary_run run = tess_boundary_run_at(j->source.boundary, along->n, b->y + i - along->before);
            const bool asked = i >= met, there = plane && run.at >= 0;
            some = tess_min64(run.length, (asked ? met + ahead : met) - i);
            const char *row = there ? plane + run.at * along->in_stride : NULL;
            int64_t step = run.step * along->in_stride;
            if (asked) {
                row = there ? row + start * j->source_bytes : line_of[met - 1];
                step = there ? step : 0;
            } else if (there && lies_ready) {
                row += start * j->source.width;
            } else if (there) {
                if (edge.plain)
                    tess_window_elements(&j->source, &edge, room, w->row_bytes, row, step, some, beyond);
                else
                    for (int64_t k = 0; k < some; k++) {
                        char *to = room + k * w->row_bytes;
                        tess_correlate_gather(&j->source, to, row + k * step, start, count + reach);
                        memset(to + (count + reach) * j->source.width, 0, (size_t)beyond);
                    }
                row = room;
                step = w->row_bytes;
                room += some * step;
            } else {
                if (!ghost_made) { /* rows were copied right behind it already; tiles that reach so far meet what nothing comes of */
                    const int64_t bytes = (count + reach) * j->source.width;
                    tess_correlate_gather(&j->source, ghost, NULL, start, count + reach);
                    memset(ghost + bytes, 0, (size_t)tess_min64(beyond, w->ghost_bytes - bytes));
                }
                ghost_made = true;
                row = ghost;
                step = 0;
            }
            for (int64_t k = 0; k < some; k++, row += step)
                line_of[i + k] = row;
        }
        if (edge.plain)
            tess_window_ghosts(&j->source, &edge, copies, (room - copies) / w->row_bytes, w->row_bytes);
        for (int64_t i = met + ahead; i < met + b->rows + j->kernels->tall; i++)
            line_of[i] = line_of[met - 1];
    }
    return table;
}

/* ---- tiles over a strip ---- */

/* Rows of outputs that a tile as tall as a band has left in the cache go to memory. */
static void send(char *to, int64_t stride, const char *sums, int64_t rows, int64_t bytes) {
    const bool lines = bytes % 64 == 0;
    for (int64_t r = 0; r < rows; r++, to += stride, sums += TESS_WINDOW_TILE_BYTES)
        for (int64_t k = 0; k < bytes; k += TESS_VECTOR_BYTES)
            if (lines)
                v_bytes_stream(to + k, v_bytes_load(sums + k));
            else
                v_bytes_store(to + k, v_bytes_load(sums + k));
}

/* From column `x` of the strip's `count` up to column `until` at least. out: of column 0. Returns the columns done. */
static int64_t row_of_tiles(const job *j, const tiles *t, tess_window_call *call, char *sums, char *out, int64_t x, int64_t until, int64_t count,
                            bool lies_ready) {
    const int64_t width = j->source.width;
    const bool none_narrow = only_wide(j) && (!lies_ready || count >= t->wide_columns);
    while (x < until) {
        const int64_t rest = count - x;
        const bool wide = rest >= t->wide_columns || none_narrow || (rest > 2 * t->narrow_columns && (!lies_ready || count >= t->wide_columns));
        const int64_t columns = wide ? t->wide_columns : t->narrow_columns;
        const bool ends_early = columns > rest && (lies_ready || count >= columns);
        const int64_t from = ends_early ? count - columns : x;
        char *to = out + from * j->out_stride;
        call->at = from * width;
        call->ahead_at = lies_ready ? from * width + t->ahead : from * j->source_bytes;
        call->ahead_bytes = columns * (lies_ready ? width : j->source_bytes);
        call->more = 0;
        const bool whole = from + columns <= count, puts = j->out_ready || (wide && j->narrows);
        if (puts && whole) {
            call->more = t->runs ? tess_max64(0, (until - from) / columns - 1) : 0;
            call->out_step = columns * j->out_stride;
            const bool held = j->held && (uintptr_t)to % 64 == 0;
            if (held)
                call->more = tess_min64(call->more, TESS_WINDOW_TILE_BYTES / call->out_step - 1);
            const int64_t bytes = (call->more + 1) * call->out_step;
            call->out = held ? sums : to;
            call->out_stride = held ? TESS_WINDOW_TILE_BYTES : j->y_stride;
            call->stream = !held && j->stream && (uintptr_t)to % 64 == 0 && call->out_step % 64 == 0;
            call->between = !j->pass->last;
            (wide ? t->wide : t->narrow)(call);
            if (held)
                send(to, j->y_stride, sums, t->rows, bytes);
        } else {
            call->out = sums;
            call->out_stride = TESS_WINDOW_TILE_BYTES;
            call->stream = false;
            call->between = !puts || !j->pass->last;
            (wide ? t->wide : t->narrow)(call);
            const int64_t n = tess_min64(columns, count - from);
            if (puts)
                tess_window_copy(to, j->y_stride, sums, TESS_WINDOW_TILE_BYTES, t->rows, n * j->out_width);
            for (int64_t k = 0; !puts && k < t->rows; k++)
                j->store(to + k * j->y_stride, j->out_stride, sums + k * TESS_WINDOW_TILE_BYTES, n);
        }
        x = from + (call->more + 1) * columns;
    }
    return x;
}

static int64_t rings(const job *j, const char *x, char *out, char *sums, int64_t count) {
    const tess_window_line line = {x, out, j->pass->weights, j->window.wx, j->source.width, count, j->stream, sums};
    return tess_window_rings(j->kernels, &line);
}

/* The ends of a block's rows, of which the first column that is computed is `first`. */
static void row_ends(const job *j, const block *b, const char *const *rows, int64_t first, int from, int to) {
    const int64_t before = (first - j->pass->axis[j->pass->row].before) * j->source.width;
    for (int64_t r = 0; r < b->rows; r++) {
        const char *row = rows[r] - before;
        char *out = b->out + r * j->y_stride;
        if (j->source.width == 4)
            tess_window_ends_f32(j->ends, row, out, j->pass->weights, j->source.constant.f32, from, to);
        else
            tess_window_ends_f64(j->ends, row, out, j->pass->weights, j->source.constant.f64, from, to);
    }
}

static void strip(const job *j, char *scratch, const block *b, int64_t first, int64_t count, bool lies_ready) {
    const tess_correlate_window *w = &j->window;
    const tiles tall = band_tiles(j, b->rows), flat = flat_tiles(j);
    const bool stand = (w->wy > 1 || j->raw || tall.rolls) && b->rows >= tall.rows;
    const tiles *t = stand ? &tall : &flat;
    /* What a tile reads must be there; so few columns as the edges of a row have, none but narrow tiles meet. */
    const int64_t unit = count <= 2 * t->narrow_columns && !only_wide(j) ? t->narrow_columns : t->wide_columns;
    const int64_t padded = lies_ready ? count : tess_ceil_div(count, unit) * unit;
    const char **table = look_up(j, scratch, b, first, count, padded, lies_ready);
    if (lies_ready && j->one_by_one)
        row_ends(j, b, table, first, first == j->inside ? 0 : j->ends->left, first + count == j->beyond ? j->ends->count : j->ends->left);
    char *sums = scratch + w->scratch - w->sums;
    tess_window_call call = {.lines = w->lines,
                             .planes = w->planes,
                             .wy = w->wy,
                             .wx = w->wx / j->kernels->taps,
                             .step = j->pass->group * j->kernels->taps * j->source.width,
                             .weights = j->pass->weights,
                             .columns = j->pass->columns,
                             .deep = t->rows,
                             .put = j->put,
                             .start = j->start,
                             .near = !tess_cpu_asks_near() ? 0
                                     : tess_cpu_is_zen5()  ? NEAR_ZEN5
                                                           : NEAR,
                             .picks = j->picks};
    /* A mask of one column over what lies in a cache: tiles below each other meet the same lines, which stay in L1 from one to the next. */
    const int64_t hop = stand && w->wx == 1 && j->cached ? t->wide_columns : count;
    /* Of the planes that the block below meets, as many are asked for as this one has of outputs: those in the middle. */
    const char **ahead = table + (w->planes - 1) / 2 * w->lines;
    for (int64_t z = 0; z < b->planes; z++, table += w->lines, ahead += w->lines)
        for (int64_t x = 0, next = 0; x < count; x = next)
            for (int64_t r = 0; r < b->rows; r += t->rows) {
                r = tess_min64(r, b->rows - t->rows); /* the last tiles of a band may begin earlier, too */
                char *out = b->out + z * j->z_stride + r * j->y_stride + first * j->out_stride;
                call.rows = table + r;
                call.ahead = !lies_ready ? ahead + b->rows + w->wy - 1 + r : table + r + (!stand ? 0 : t->rolls ? w->wy - 1 : tall.rows + w->wy - 1);
                const int64_t done = lies_ready && !stand && j->rings ? rings(j, table[r], out, sums, count) : x;
                next = row_of_tiles(j, t, &call, sums, out, done, tess_min64(x + hop, count), count, lies_ready);
            }
}

/* Columns first .. beyond - 1, with copies of their input rows. */
static void gathered(const job *j, char *scratch, const block *b, int64_t first, int64_t beyond) {
    for (; first < beyond; first += j->window.strip)
        strip(j, scratch, b, first, tess_min64(beyond - first, j->window.strip), false);
}

/* The edges belong to the first and the last strip: their lines are then in the caches. */
static void numbered_strip(const job *j, char *scratch, const block *b, int64_t number) {
    const int64_t first = j->inside + number * j->window.in_place;
    if (j->inside == j->beyond) {
        const int64_t from = number * j->window.strip;
        strip(j, scratch, b, from, tess_min64(j->length - from, j->window.strip), false);
        return;
    }
    if (number == 0 && !j->one_by_one)
        gathered(j, scratch, b, 0, j->inside);
    strip(j, scratch, b, first, number == j->strips - 1 ? j->beyond - first : j->window.in_place, true);
    if (number == j->strips - 1 && !j->one_by_one)
        gathered(j, scratch, b, j->beyond, j->length);
}

/* Bands follow each other down a strip, so that the rows which two of them meet are still in the cache. */
static void task(void *argument, int64_t begin, int64_t end, int worker) {
    const job *j = argument;
    const int64_t column = j->floors * j->bands, blocks = column * j->strips;
    char *scratch = j->scratch + (size_t)worker * j->window.scratch;
    int64_t at[TESS_MAX_NDIM] = {0}, out_stride[1][TESS_MAX_NDIM];
    tess_index index;
    memcpy(out_stride, j->outer.out_stride, sizeof out_stride);
    tess_index_start(&index, j->outer.ndim, j->outer.m, 1, out_stride, begin / blocks);
    int64_t number = begin % blocks;
    for (int64_t t = begin; t < end; t++) {
        for (int k = 0; k < j->outer.ndim; k++)
            at[j->outer.axis[k]] = index.at[k];
        block b = {.at = at, .z = number % column / j->bands * j->window.depth, .y = number % j->bands * j->window.band};
        b.goes_on = t + 1 < end && number % j->bands + 1 < j->bands;
        b.rows = tess_min64(j->rows - b.y, j->window.band);
        b.planes = tess_min64(j->planes - b.z, j->window.depth);
        b.out = j->out + index.offset[0] + b.z * j->z_stride + b.y * j->y_stride;
        numbered_strip(j, scratch, &b, number / column);
        if (++number == blocks) {
            number = 0;
            tess_index_next(&index);
        }
    }
}

/* ---- a pass ---- */

/* Whether every row of the output starts at the same place within a line of 64 bytes; *phase: columns up to the first line. */
static bool lines_match(const job *j, int64_t *phase) {
    int64_t before = (int64_t)(((uintptr_t)0 - (uintptr_t)j->out) % 64);
    bool match = before % j->out_width == 0 && (j->rows == 1 || j->y_stride % 64 == 0) && (j->planes == 1 || j->z_stride % 64 == 0);
    for (int k = 0; k < j->outer.ndim; k++)
        match &= j->outer.m[k] == 1 || j->outer.out_stride[0][k] % 64 == 0;
    *phase = match ? before / j->out_width : 0;
    return match;
}

static int64_t short_row_of(const job *j, const tess_correlate_axis *row) {
    if (!j->raw)
        return j->kernels->taps > 1 ? SHORT_RAW : SHORT_ROW;
    return j->window.wy == 1 || (TESS_VECTOR_BYTES == 64 && j->source.width == 1 && row->width > 1) ? SHORT_RAW : SHORT_TALL;
}

/* Which columns meet no ghost cell and may be read where they lie; for streaming stores from the start of a line of output on. */
static void find_inside(job *j, const tess_correlate_problem *problem, const tess_correlate_axis *row, int64_t group) {
    const int64_t line = 64 / j->out_width;
    int64_t phase;
    bool match = lines_match(j, &phase);
    j->inside = j->beyond = j->length;
    /* Half a line that waits for the tile to the right goes to memory by itself. */
    const int64_t wide = j->kernels->lanes * (j->window.wy > 1 ? j->kernels->wide : j->kernels->line_vectors);
    const bool whole_lines = wide * j->out_width % 64 == 0 || j->raw; /* several tiles at once */
    j->large = j->pass->last && tess_correlate_goes_past(problem, j->out_width);
    j->stream = j->large && match && whole_lines && (j->out_ready || j->narrows);
    j->one_by_one = !j->stream && !j->raw && j->out_ready && j->kernels->taps == 1 && j->source.in_place && group == 1 &&
                    j->pass->taps == row->width && row->width > 1 &&
                    row->width <= (row->m <= SHORT_ROW && j->source.width == 4 ? 5 : TESS_WINDOW_END_TAPS) && row->m >= ONE_BY_ONE;
    /* Lines that stand below each other and half pages apart go to memory slowly, half lines even more so. */
    j->held = j->raw && j->window.wy > 1 && j->narrows && j->stream && (j->y_stride % HALF_PAGE == 0 || wide * j->out_width % 64 != 0);
    const bool edges = (row->width > 1 && !j->one_by_one) || j->read_beyond > 0;
    const int64_t short_row = edges ? short_row_of(j, row) : 0;
    if (j->source.in_place && (j->length > short_row || j->length > j->window.strip)) {
        int64_t first = row->before * group, last = tess_min64((row->n - (row->width - 1 - row->before)) * group - j->read_beyond, j->length);
        const bool packed = j->kernels->taps > 1; /* whose tiles put nothing but whole vectors well */
        if (packed && edges) {
            first = tess_max64(first, j->kernels->lanes);
            last = tess_min64(last, j->length - j->kernels->lanes);
        }
        if (j->stream || packed)
            first = phase + tess_ceil_div(tess_max64(first - phase, 0), line) * line;
        first = tess_max64(first, 0);
        if (j->stream && last > first) /* no lines that are written in part by a tile and in part by the edge's */
            last = first + (last - first) / line * line;
        if (last - first >= j->kernels->lanes) {
            j->inside = first;
            j->beyond = last;
        }
    }
    j->one_by_one &= j->inside < j->beyond;
    if (j->one_by_one)
        tess_window_ends_of(j->ends, row, j->source.boundary, j->inside, j->beyond);
    j->strips = j->beyond > j->inside ? tess_max64((j->beyond - j->inside) / j->window.in_place, 1) : tess_ceil_div(j->length, j->window.strip);
}

/* The pass, once the job knows window, source, store, kernels, out_ready and rings. */
static tess_status run_pass(job *j, const tess_correlate_problem *problem, const tess_run *run) {
    const tess_correlate_pass *pass = j->pass;
    const tess_correlate_axis *row = &pass->axis[pass->row];
    tess_window_ends ends;
    j->ends = &ends;
    tess_correlate_outer_of(&j->outer, pass, j->window.y, j->window.z);
    j->source_bytes = (int64_t)tess_type_size(pass->from);
    j->source_compact = j->source.stride == j->source_bytes;
    j->length = row->m * pass->group;
    j->cached = run->threads == 0 && j->in != tess_correlate_input(problem, run) && pass->slab >= 0 && pass->slab == j->window.y;
    j->rows = j->window.y >= 0 ? pass->axis[j->window.y].m : 1;
    j->y_stride = j->window.y >= 0 ? pass->axis[j->window.y].out_stride : 0;
    for (; j->window.band > TESS_WINDOW_BAND / 2; j->window.band--) /* no last band of fewer rows than a tile has */
        if (j->rows % j->window.band == 0 || j->rows % j->window.band >= j->kernels->tall)
            break;
    j->bands = tess_ceil_div(j->rows, j->window.band);
    j->planes = j->window.z >= 0 ? pass->axis[j->window.z].m : 1;
    j->z_stride = j->window.z >= 0 ? pass->axis[j->window.z].out_stride : 0;
    j->floors = tess_ceil_div(j->planes, j->window.depth);
    find_inside(j, problem, row, pass->group);
    int64_t tasks = j->outer.rows * j->floors * j->bands * j->strips;
    if (run->threads == 0) {
        task(j, 0, tasks, 0);
        return TESS_OK;
    }
    /* A piece should take 20 microseconds at least, and be a long way down a strip where there is work enough: what lies between two pieces is read by
     * both. */
    double cost = (double)pass->outputs * (double)(pass->taps + 8) / (double)tasks;
    return tess_parallel_guided(run->context, run->threads, tasks, tess_max64(1, (int64_t)(5e5 / cost)), task, j);
}

tess_status TESS_ISA_NAME(tess_correlate_window_pass)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                      const char *in, char *out, char *scratch);
tess_status TESS_ISA_NAME(tess_correlate_window_pass)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                      const char *in, char *out, char *scratch) {
    job j = {.pass = pass, .in = in, .out = out, .scratch = scratch, .out_width = (int64_t)tess_type_size(pass->to)};
    const char *why;
    if (pass->outputs == 0)
        return TESS_OK;
    if (!tess_correlate_window_of(&j.window, problem, pass, &why))
        return tess_fail(TESS_ERR_INTERNAL, "correlate/window ran where it is not applicable: %s", why);
    tess_correlate_source_of(&j.source, problem, pass, run->slot);
    j.store = tess_storer(run->slot, problem->work, pass->to);
    j.kernels = TESS_ISA_NAME(tess_correlate_window_kernels)(problem->work == tess_f32);
    j.out_stride = pass->group > 1 ? j.out_width : pass->axis[pass->row].out_stride;
    j.out_ready = pass->to == problem->work && j.out_stride == j.out_width;
    j.put = tess_window_put_real(pass->to);
    j.narrows = j.kernels->narrows && j.put != TESS_WINDOW_PUT_WORK && j.out_stride == j.out_width;
    j.raw = reads_raw(&j, problem, run->slot);
    j.narrows = j.narrows && (!j.raw || pass->to == pass->from);
    j.rings = j.out_ready && pass->group == 1 && j.window.wy * j.window.planes == 1 && tess_window_rings_pay(j.kernels, j.window.wx);
    return run_pass(&j, problem, run);
}

tess_status TESS_ISA_NAME(tess_correlate_in_volume)(const tess_correlate_problem *problem, const tess_correlate_volume *volume, const tess_run *run);

tess_status TESS_ISA_NAME(tess_correlate_in_window)(const tess_problem *base, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_in_window)(const tess_problem *base, const tess_run *run) {
    const tess_correlate_problem *problem = (const tess_correlate_problem *)base;
    tess_correlate_volume volume;
    if (tess_correlate_volume_of(&volume, problem, problem->direct))
        return TESS_ISA_NAME(tess_correlate_in_volume)(problem, &volume, run);
    return TESS_ISA_NAME(tess_correlate_window_pass)(problem, problem->direct, run, tess_correlate_input(problem, run), run->out, run->workspace);
}

/* ---- packed integers (packed.h) ---- */

tess_status TESS_ISA_NAME(tess_correlate_packed_in_window)(const tess_problem *base, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_packed_in_window)(const tess_problem *base, const tess_run *run) {
    const tess_correlate_problem *problem = (const tess_correlate_problem *)base;
    const tess_correlate_packed *packed = problem->packed;
    const int64_t group = packed->dot4.group;
    const tess_window_kernels *fours = TESS_ISA_NAME(tess_correlate_packed_kernels)(true, group > 1);
    const bool dot4 = fours && packed->bytes && (packed->pairs_fit || !fours->pairs_must_fit);
    job j = {.pass = dot4 ? &packed->dot4 : &packed->dot2, .in = tess_correlate_input(problem, run), .out = run->out, .scratch = run->workspace};
    if (j.pass->outputs == 0)
        return TESS_OK;
    j.window = packed->window[!dot4];
    tess_correlate_source_of(&j.source, problem, j.pass, run->slot);
    j.source.load = TESS_ISA_NAME(tess_correlate_packed_loader)(j.pass->from, dot4);
    j.source.width = dot4 ? 1 : 2;
    j.source.constant = packed->constant[!dot4];
    j.source.in_place = (dot4 || j.pass->from == tess_i16) && (j.source.stride == j.source.width || j.source.n * group == 1);
    j.kernels = dot4 ? fours : TESS_ISA_NAME(tess_correlate_packed_kernels)(false, group > 1);
    if (group > 1) {
        tess_dot_picks_of(j.picks, j.source.width, group);
        j.read_beyond = TESS_COUNT(j.picks) / j.source.width;
    }
    j.start = dot4 ? 0 : packed->start;
    j.out_width = (int64_t)tess_type_size(j.pass->to);
    j.out_stride = group > 1 ? j.out_width : j.pass->axis[j.pass->row].out_stride;
    j.put = tess_window_put_of(j.pass->to);
    j.out_ready = j.put != TESS_WINDOW_PUT_WORK && j.out_stride == j.out_width;
    j.store = tess_storer(run->slot, problem->compute, j.pass->to);
    return run_pass(&j, problem, run);
}

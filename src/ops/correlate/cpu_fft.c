/* SPDX-License-Identifier: Apache-2.0
 * cpu_fft.c - correlate/fft: overlap and save, a batch of tiles at a time.
 *
 * The direct sum costs a multiply-add a tap; a transform costs some tens an output whatever the mask. Tiles are moved into the lanes of vectors by
 * transposing in registers, so the transforms themselves have no shuffles and no tail, and two tiles share one complex transform, so there is no
 * separate step from real to complex. Tiles at the edges, of other types and strides are gathered first; nothing else is ever copied. */
#include "core/parallel.h"
#include "ops/correlate/fft.h"
#include "simd/square.h"

enum { PARTS = TESS_FFT_LINE / TESS_VECTOR_BYTES, MOST_TILES = TESS_FFT_TILES };

#include "ops/correlate/cpu_fft_tiles.h"

#define fft_name(word) TESS_PASTE(f32, word)
#define vec v_f32
#define real float
#define LANES TESS_F32_LANES
#define v_load v_f32_load
#define v_store v_f32_store
#define v_stream v_f32_stream
#define v_all v_f32_all
#define v_fma v_f32_fma
#define v_keep v_f32_keep
#define v_square v_f32_square
#define v_canonical v_f32_canonical
#include "ops/correlate/fft_kernel.h"
#include "ops/correlate/fft_kernel_single.h"
#include "ops/correlate/fft_lanes.h"

#define fft_name(word) TESS_PASTE(f64, word)
#define vec v_f64
#define real double
#define LANES TESS_F64_LANES
#define v_load v_f64_load
#define v_store v_f64_store
#define v_stream v_f64_stream
#define v_all v_f64_all
#define v_fma v_f64_fma
#define v_keep v_f64_keep
#define v_square v_f64_square
#define v_canonical v_f64_canonical
#include "ops/correlate/fft_kernel.h"
#include "ops/correlate/fft_kernel_single.h"
#include "ops/correlate/fft_lanes.h"

/* ---- between rows of tiles and points of the grid ---- */

TESS_INLINE char *part_of(const job *j, char *points, int part) {
    return points + part * j->fft->a * j->fft->row_points * 2 * (int64_t)TESS_VECTOR_BYTES;
}

/* ---- a batch ---- */

/* Of each tile a row, behind a line of its own. */
TESS_INLINE char *row_of(const job *j, const scratch *room, int i) { return room->rows + i * (j->fft->b * j->width + TESS_FFT_LINE) + TESS_FFT_LINE; }

static void fill_grid(const job *j, const scratch *room, const tile *tiles, const int64_t *first, int parts) {
    const tess_correlate_fft *fft = j->fft;
    const tess_correlate_mask *mask = &j->problem->masks[0];
    const char *rows[MOST_TILES];
    int64_t left = mask->before[fft->mask_x] - first[fft->mask_x], up = 0, taps_y = 1;
    const int64_t taps_x = tess_min64(fft->taps_x, mask->shape[fft->mask_x] - first[fft->mask_x]);
    if (fft->plane) {
        up = mask->before[fft->mask_y] - first[fft->mask_y];
        taps_y = tess_min64(fft->taps_y, mask->shape[fft->mask_y] - first[fft->mask_y]);
    }
    for (int64_t a = 0; a < fft->a; a++) {
        for (int i = 0; i < j->tiles; i++)
            rows[i] = input_row(j, &tiles[i], a, left, up, taps_x, taps_y, row_of(j, room, i), room->nothing);
        for (int p = 0; p < parts; p++) {
            char *to = part_of(j, room->grid, p) + a * fft->row_points * 2 * TESS_VECTOR_BYTES;
            if (j->width == 4)
                f32_to_points((void *)to, rows + p * 2 * TESS_F32_LANES, fft->b);
            else
                f64_to_points((void *)to, rows + p * 2 * TESS_F64_LANES, fft->b);
        }
    }
}

/* A row of a tile past the caches, where outputs do not begin with a line. joined: what stands before it in memory stands before `row` too, and was not stored so far as
 * it shares a line with this; continues: so will be what this shares with the next. */
static void put_row(char *out, const char *row, int64_t bytes, bool joined, bool continues) {
    const int64_t before = (int64_t)((uintptr_t)out % TESS_FFT_LINE), end = (before + bytes) / TESS_FFT_LINE * TESS_FFT_LINE;
    int64_t k = 0;
    if (before > 0 && !joined) {
        memcpy(out, row, (size_t)(TESS_FFT_LINE - before));
        k = TESS_FFT_LINE;
    }
    for (; k < end; k += TESS_VECTOR_BYTES)
        v_f32_stream(out - before + k, v_f32_load(row - before + k));
    if (!continues)
        memcpy(out - before + end, row - before + end, (size_t)(before + bytes - end));
}

static void store_grid(const job *j, const scratch *room, char *points, const tile *tiles, int parts) {
    const tess_correlate_fft *fft = j->fft;
    const int64_t rows = fft->plane ? fft->outputs_y : tess_ceil_div(fft->outputs_x, fft->b);
    for (int64_t a = 0; a < rows; a++) {
        const int64_t skip = fft->plane ? 0 : a * fft->b, columns = tess_min64(fft->outputs_x - skip, fft->b);
        const int64_t padded = tess_max64(columns, TESS_VECTOR_BYTES / j->width);
        char *to[MOST_TILES], *out[MOST_TILES];
        int64_t count[MOST_TILES];
        bool past[MOST_TILES + 1]; /* its outputs do not begin with a line, and go past the caches from a copy */
        bool aligned = columns * j->width % TESS_FFT_LINE == 0;
        for (int i = 0; i < j->tiles; i++) {
            const tile *t = &tiles[i];
            count[i] = fft->plane && a >= t->rows ? 0 : tess_min64(tess_max64(t->columns - skip, 0), columns);
            out[i] = count[i] == 0 ? NULL : t->to + (fft->plane ? a * j->problem->out.stride[fft->y] : skip * j->out_stride);
            const bool direct = j->ready && count[i] == columns && padded == columns;
            past[i] = direct && j->stream && columns * j->width >= TESS_FFT_LINE &&
                      ((uintptr_t)out[i] | (uintptr_t)(columns * j->width)) % TESS_FFT_LINE != 0;
            to[i] = direct && !past[i] ? out[i] : row_of(j, room, i);
            aligned &= !past[i] && (uintptr_t)to[i] % TESS_FFT_LINE == 0;
        }
        for (int p = 0; p < parts; p++) {
            const char *from = part_of(j, points, p) + a * fft->row_points * 2 * TESS_VECTOR_BYTES;
            if (j->width == 4)
                f32_from_points(to + p * 2 * TESS_F32_LANES, (const void *)from, padded, j->stream && aligned);
            else
                f64_from_points(to + p * 2 * TESS_F64_LANES, (const void *)from, padded, j->stream && aligned);
        }
        past[j->tiles] = false;
        const int64_t bytes = columns * j->width, next = tess_min64(fft->outputs_x - skip - columns, fft->b);
        const bool goes_on = a + 1 < rows && next * j->width >= TESS_FFT_LINE;
        for (int i = 0; i < j->tiles; i++)
            if (fft->plane && past[i] && past[i + 1] && out[i + 1] == out[i] + bytes)
                memcpy(to[i + 1] - TESS_FFT_LINE, to[i] + bytes - TESS_FFT_LINE, TESS_FFT_LINE);
        for (int i = 0; i < j->tiles; i++)
            if (past[i] && fft->plane) { /* side by side with the next tile */
                put_row(out[i], to[i], bytes, i > 0 && past[i - 1] && out[i] == out[i - 1] + bytes, past[i + 1] && out[i + 1] == out[i] + bytes);
            } else if (past[i]) { /* before its own next row, which will have as many columns or fewer */
                put_row(out[i], to[i], bytes, a > 0, goes_on && tiles[i].columns >= skip + columns + next);
                memcpy(to[i] - TESS_FFT_LINE, to[i] + bytes - TESS_FFT_LINE, TESS_FFT_LINE);
            } else if (count[i] > 0 && to[i] != out[i]) {
                j->store(out[i], j->out_stride, to[i], count[i]);
            }
    }
}

static void batch(const job *j, const scratch *room, int64_t number) {
    const tess_correlate_fft *fft = j->fft;
    const int parts = (int)tess_ceil_div(tess_min64(fft->tiles - number * j->tiles, j->tiles) * PARTS, j->tiles);
    tile tiles[MOST_TILES];
    int64_t index[TESS_MAX_NDIM], first[TESS_MAX_NDIM];
    char *result = fft->pieces > 1 ? room->sum : room->grid;
    for (int64_t piece = 0; piece < fft->pieces; piece++) {
        tess_correlate_fft_piece(fft, &j->problem->masks[0], piece, first);
        for (int i = 0; i < j->tiles; i++) {
            tiles[i] = find_tile(j, number * j->tiles + i, index);
            if (tiles[i].columns > 0)
                tiles[i].from = find_input(j, index, first);
        }
        fill_grid(j, room, tiles, first, parts);
        for (int p = 0; p < parts; p++) {
            void *grid = part_of(j, room->grid, p), *sum = part_of(j, room->sum, p);
            if (fft->pieces == 1)
                j->width == 4 ? f32_whole(fft, grid, (void *)room->buffer) : f64_whole(fft, grid, (void *)room->buffer);
            else
                j->width == 4 ? f32_piece(fft, grid, sum, (void *)room->buffer, piece) : f64_piece(fft, grid, sum, (void *)room->buffer, piece);
        }
    }
    for (int p = 0; p < parts && fft->pieces > 1; p++)
        j->width == 4 ? f32_pieces_end(fft, (void *)part_of(j, result, p), (void *)room->buffer)
                      : f64_pieces_end(fft, (void *)part_of(j, result, p), (void *)room->buffer);
    store_grid(j, room, result, tiles, parts);
}

/* ---- a single pair of large tiles ---- */

static void single(const job *j, const scratch *room, int64_t number) {
    tile tiles[2];
    field fields[2];
    int64_t index[TESS_MAX_NDIM], first[TESS_MAX_NDIM];
    for (int64_t piece = 0; piece < j->fft->pieces; piece++) {
        tess_correlate_fft_piece(j->fft, &j->problem->masks[0], piece, first);
        for (int part = 0; part < 2; part++) {
            tiles[part] = find_tile(j, 2 * number + part, index);
            if (tiles[part].columns > 0)
                tiles[part].from = find_input(j, index, first);
            fields[part] = find_field(j, &tiles[part], first, (const char **)room->rows + part * j->fft->a);
        }
        j->width == 4 ? f32_single(j, room, tiles, fields, piece) : f64_single(j, room, tiles, fields, piece);
    }
}

static void single_task(void *argument, int64_t begin, int64_t end, int worker) {
    const job *j = argument;
    const tess_correlate_fft *fft = j->fft;
    const size_t each = 2 * (size_t)j->width;
    scratch room = {.grid = (char *)j->run->workspace + (size_t)worker * j->scratch_each};
    room.sum = room.grid + (size_t)fft->a * (size_t)(fft->b + TESS_FFT_BLOCK) * each;
    room.buffer = room.sum + (fft->pieces > 1 ? (size_t)(fft->a * fft->b) * each : 0);
    room.rows = room.buffer + (size_t)tess_max64((fft->a + TESS_FFT_STRIP_GAP) * TESS_FFT_STRIP, fft->b) * 2 * TESS_FFT_LINE;
    for (int64_t p = begin; p < end; p++)
        single(j, &room, p);
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    const job *j = argument;
    const tess_correlate_fft *fft = j->fft;
    const size_t grid = (size_t)(fft->a * fft->row_points) * 2 * TESS_FFT_LINE;
    scratch room = {.grid = (char *)j->run->workspace + (size_t)worker * j->scratch_each};
    room.sum = room.grid + (fft->pieces > 1 ? grid : 0);
    room.buffer = room.sum + grid;
    room.rows = room.buffer + (size_t)fft->a * 2 * TESS_FFT_LINE;
    room.nothing = room.rows + ((size_t)fft->b * 2 + MOST_TILES) * TESS_FFT_LINE;
    memset(room.nothing, 0, (size_t)fft->b * 8);
    for (int64_t b = begin; b < end; b++)
        batch(j, &room, b);
}

tess_status TESS_ISA_NAME(tess_correlate_fft)(const tess_problem *base, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_fft)(const tess_problem *base, const tess_run *run) {
    const tess_correlate_problem *problem = (const tess_correlate_problem *)base;
    const tess_correlate_fft *fft = problem->fft;
    const tess_array *in = &problem->in, *out = &problem->out;
    job j = {.problem = problem, .fft = fft, .run = run, .width = (int)tess_type_size(problem->compute)};
    if (out->count == 0)
        return TESS_OK;
    j.tiles = 2 * TESS_FFT_LINE / j.width;
    j.source = (tess_correlate_source){.load = tess_loader(run->slot, in->type, problem->compute),
                                       .boundary = problem->boundary,
                                       .constant = problem->constant,
                                       .width = j.width,
                                       .n = in->shape[fft->x],
                                       .group = 1,
                                       .stride = in->stride[fft->x],
                                       .in_place = in->type == problem->compute && in->stride[fft->x] == j.width};
    j.store = tess_storer(run->slot, problem->compute, out->type);
    j.out_stride = out->stride[fft->x];
    j.ready = out->type == problem->compute && j.out_stride == j.width;
    j.stream = tess_correlate_goes_past(problem, j.width);
    j.scratch_each = tess_correlate_fft_scratch(fft);
    if (tess_correlate_fft_single(fft))
        return tess_parallel(run->context, run->threads, tess_ceil_div(fft->tiles, 2), 1, single_task, &j);
    return tess_parallel(run->context, run->threads, tess_ceil_div(fft->tiles, j.tiles), 1, task, &j);
}

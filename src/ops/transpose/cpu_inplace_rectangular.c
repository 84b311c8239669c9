/* SPDX-License-Identifier: Apache-2.0
 * cpu_inplace_rectangular.c - rectangular matrices in their own memory, by passes along memory.
 *
 * The matrix is one of high x wide blocks of b x c elements, with some columns left over beside them and some rows below (rectangle.c):
 *     1. each band of b rows is turned in a buffer and put back: b rows of columns become `wide` blocks of c x b. What is beside goes to scratch, so the bands
 *        move together.
 *     2. the blocks, each now one run, change places along the cycles of the permutation high x wide -> wide x high
 *     3. each band of high blocks of c x b becomes c rows in a buffer, to which what was below is added; the bands move apart again, the last one first.
 * Only the second jumps, and by some KiB at a time (Gustavson, Karlsson, Kagstrom, "Parallel and cache-efficient in-place matrix storage format conversion", TOMS
 * 38, 2012, for the blocks and for cutting long cycles among threads; they leave matrices that do not divide to others). With b = 1, or c = 1, the first or last
 * pass has nothing to do but to move rows together, or apart. Matrices of up to 256 KiB are copied out and turned on the way back. Stores are plain ones: what a
 * band is written to was just read and lies in L2, or in the cache behind it. */
#include <sched.h>
#include <string.h>

#include "core/parallel.h"
#include "core/processor.h"
#include "ops/transpose/rectangle.h"
#include "simd/lanes.h"

tess_status TESS_ISA_NAME(tess_transpose_inplace_rectangular)(const tess_problem *base, const tess_run *run);
transpose_turn TESS_ISA_NAME(tess_transpose_turn);
#define turn TESS_ISA_NAME(tess_transpose_turn)

/* A matrix and those who work on it. */
typedef struct work {
    transpose_rectangle x;
    const tess_run *run;
    int crew;
    bool alone; /* this thread does everything, as a task of its own */
    char *data, *scratch;
    _Atomic int64_t loaded; /* bands whose elements are in buffers, or beyond */
    int64_t count;          /* of beginnings, `cut` of which belong to cycles in parts */
    int64_t cut;
} work;

static tess_status share(work *w, int64_t count, int64_t grain, tess_task task) {
    if (w->alone) {
        task(w, 0, count, 0);
        return TESS_OK;
    }
    return tess_parallel(w->run->context, w->crew, count, grain, task, w);
}

/* When what a band writes is what those before it have yet to read, it waits for them between reading and writing. */
static void wait_for_those_before(work *w, int64_t band) {
    for (int spins = 0; atomic_load_explicit(&w->loaded, memory_order_acquire) != band; spins++)
        if (spins < 1000)
            TESS_PAUSE();
        else
            sched_yield();
    atomic_store_explicit(&w->loaded, band + 1, memory_order_release);
}

/* A band goes back, by whole lines, and beside each line one of `next` is asked for: what is read after this, and lies along memory as the band does. Stores find their
 * lines in the caches, so that without it memory would rest. */
static void put_back(char *to, const char *from, int64_t bytes, const char *next) {
    int64_t i = tess_min64(bytes, -(int64_t)((uintptr_t)to & 63) & 63);
    memcpy(to, from, (size_t)i);
    for (; i + 64 <= bytes; i += 64) {
        tess_prefetch_l2(next + i);
        for (int part = 0; part < 64; part += TESS_VECTOR_BYTES)
            v_bytes_store(to + i + part, v_bytes_load(from + i + part));
    }
    memcpy(to + i, from + i, (size_t)(bytes - i));
}

/* ---- first pass: bands of b rows ---- */

/* With b = 1 a band is a piece of a row: piece k of the row's columns that belong to blocks. */
static int64_t gather_pieces(const transpose_rectangle *x) { return x->b > 1 ? 1 : tess_ceil_div(x->wide * x->c * x->size, x->pieces); }

static void gather_load(const work *w, int64_t band, char *buffer) {
    const transpose_rectangle *x = &w->x;
    const int64_t pieces = gather_pieces(x), row = band / pieces, at = band % pieces * x->pieces;
    const char *from = w->data + row * x->b * x->columns * x->size;
    const int64_t inside = x->wide * x->c;
    if (x->b > 1)
        turn(buffer, x->b * x->size, from, x->columns * x->size, inside, x->b, x->size, true);
    else
        memcpy(buffer, from + at, (size_t)tess_min64(x->pieces, inside * x->size - at));
    if (x->beside > 0 && at == 0)
        turn(w->scratch + x->extras + row * x->b * x->size, x->rows * x->size, from + inside * x->size, x->columns * x->size, x->beside, x->b,
             x->size, false);
}

static void gather_store(const work *w, int64_t band, const char *buffer) {
    const transpose_rectangle *x = &w->x;
    const int64_t pieces = gather_pieces(x), bytes = x->wide * x->c * x->b * x->size, at = band % pieces * x->pieces;
    const int64_t next = tess_min64(band + w->crew, x->high * pieces - 1);
    put_back(w->data + band / pieces * bytes + at, buffer, x->b > 1 ? bytes : tess_min64(x->pieces, bytes - at),
             w->data + next / pieces * x->b * x->columns * x->size + next % pieces * x->pieces);
}

/* What is below the blocks: the ends of the rows that the blocks will become, and the ends of those from beside. */
static void gather_below(const work *w) {
    const transpose_rectangle *x = &w->x;
    const int64_t inside = x->wide * x->c, done = x->high * x->b, step = x->columns * x->size;
    const char *from = w->data + done * step;
    if (x->under == 0)
        return;
    turn(w->scratch + x->tails, x->under * x->size, from, step, inside, x->under, x->size, true);
    turn(w->scratch + x->extras + done * x->size, x->rows * x->size, from + inside * x->size, step, x->beside, x->under, x->size, false);
}

/* ---- third pass: bands of c rows of the result, from the last one back ---- */

static int64_t spread_pieces(const transpose_rectangle *x) { return x->c > 1 ? 1 : tess_ceil_div(x->rows * x->size, x->pieces); }

static void spread_place(const transpose_rectangle *x, int64_t *band, int64_t *at) {
    const int64_t pieces = spread_pieces(x), k = x->wide * pieces - 1 - *band;
    *band = k / pieces;
    *at = k % pieces * x->pieces;
}

/* A run of a block; that of the next block is asked for. */
TESS_INLINE void spread_run(char *to, const char *from, int64_t run, int64_t block) {
    if (run % 64 != 0) {
        tess_prefetch_l2(from + block);
        tess_copy_run(to, from, run);
        return;
    }
    for (int64_t i = 0; i < run; i += 64) {
        tess_prefetch_l2(from + block + i);
        for (int part = 0; part < 64; part += TESS_VECTOR_BYTES)
            v_bytes_store(to + i + part, v_bytes_load(from + i + part));
    }
}

static void spread_load(const work *w, int64_t band, char *buffer) {
    const transpose_rectangle *x = &w->x;
    const int64_t whole = x->high * x->b * x->size, run = x->b * x->size, row = x->rows * x->size, tail = x->under * x->size;
    int64_t at;
    spread_place(x, &band, &at);
    const char *from = w->data + band * x->c * whole, *tails = w->scratch + x->tails + band * x->c * tail;
    if (x->c == 1) {
        const int64_t end = tess_min64(row, at + x->pieces), n = tess_max64(0, tess_min64(end, whole) - at), skip = tess_max64(0, at - whole);
        memcpy(buffer, from + at, (size_t)n);
        memcpy(buffer + n, tails + skip, (size_t)(end - at - n));
        return;
    }
    if (x->b == 1)
        turn(buffer, x->pitch, from, x->c * x->size, x->c, x->high, x->size, true);
    else
        for (int64_t i = 0; i < x->high; i++, from += x->block)
            for (int64_t k = 0; k < x->c; k++)
                spread_run(buffer + k * x->pitch + i * run, from + k * run, run, x->block);
    for (int64_t k = 0; k < x->c && tail > 0; k++)
        memcpy(buffer + k * x->pitch + whole, tails + k * tail, (size_t)tail);
}

static void spread_store(const work *w, int64_t band, const char *buffer) {
    const transpose_rectangle *x = &w->x;
    int64_t at, after, next = tess_min64(band + w->crew, x->wide * spread_pieces(x) - 1);
    spread_place(x, &band, &at);
    spread_place(x, &next, &after);
    const int64_t row = x->rows * x->size, bytes = x->c * row;
    const char *ahead = w->data + next * x->c * x->high * x->b * x->size + after;
    if (x->c > 1 && x->pitch > row)
        for (int64_t k = 0; k < x->c; k++)
            put_back(w->data + band * bytes + k * row, buffer + k * x->pitch, row, ahead + k * row);
    else
        put_back(w->data + band * bytes + at, buffer, x->c > 1 ? bytes : tess_min64(x->pieces, bytes - at), ahead);
}

#define TASKS(name, ordered)                                                           \
    static void name##_tasks(void *argument, int64_t begin, int64_t end, int worker) { \
        work *w = argument;                                                            \
        char *buffer = w->scratch + worker * w->x.buffer;                              \
        for (int64_t band = begin; band < end; band++) {                               \
            name##_load(w, band, buffer);                                              \
            if (ordered)                                                               \
                wait_for_those_before(w, band);                                        \
            name##_store(w, band, buffer);                                             \
        }                                                                              \
    }
TASKS(gather, w->x.beside > 0)
TASKS(spread, w->x.under > 0)

/* ---- second pass: cycles of blocks ---- */

static void copy_block(char *to, const char *from, const char *ahead, int64_t bytes) {
    int64_t i = 0;
    for (; i + 64 <= bytes; i += 64) {
        tess_prefetch_l2(ahead + i);
        memcpy(to + i, from + i, 64);
    }
    memcpy(to + i, from + i, (size_t)(bytes - i));
}

/* Slice after slice of the blocks from a beginning on, until another beginning is met: that one's block was kept in scratch before. */
static void walk_cycle(const work *w, int64_t number, int64_t slice, char *own) {
    const transpose_rectangle *x = &w->x;
    const uint64_t *begins = (const uint64_t *)(const void *)(w->scratch + x->visited);
    const int64_t *starts = (const int64_t *)(const void *)(w->scratch + x->starts);
    const int64_t first = starts[number], at = slice * x->slice, bytes = tess_min64(x->slice, x->block - at);
    const char *kept = own;
    if (number >= w->cut)
        memcpy(own, w->data + first * x->block + at, (size_t)bytes);
    for (int64_t p = first, from = tess_transpose_rectangle_source(x, p), next = tess_transpose_rectangle_source(x, from);;) {
        const int64_t after = tess_transpose_rectangle_source(x, next); /* what is asked for: a block is too short a time */
        if (begins[from >> 6] >> (from & 63) & 1) {
            for (int64_t k = 0; k < w->cut && number < w->cut; k++)
                if (starts[k] == from)
                    kept = w->scratch + x->saved + k * x->slice;
            memcpy(w->data + p * x->block + at, kept, (size_t)bytes);
            return;
        }
        copy_block(w->data + p * x->block + at, w->data + from * x->block + at, w->data + after * x->block + at, bytes);
        p = from;
        from = next;
        next = after;
    }
}

static void cycle_tasks(void *argument, int64_t begin, int64_t end, int worker) {
    const work *w = argument;
    for (int64_t k = begin; k < end; k++)
        walk_cycle(w, k % w->count, k / w->count, w->scratch + worker * w->x.buffer);
}

static tess_status move_blocks(work *w) {
    const transpose_rectangle *x = &w->x;
    w->count = tess_transpose_rectangle_cycles(x, w->scratch, &w->cut);
    const int64_t *starts = (const int64_t *)(const void *)(w->scratch + x->starts), slices = tess_ceil_div(x->block, x->slice);
    for (int64_t k = 0; k < w->cut; k++)
        memcpy(w->scratch + x->saved + k * x->slice, w->data + starts[k] * x->block, (size_t)x->block);
    return w->count > 0 ? share(w, slices * w->count, 1, cycle_tasks) : TESS_OK;
}

static tess_status transpose(work *w) {
    const transpose_rectangle *x = &w->x;
    gather_below(w);
    atomic_store(&w->loaded, 0);
    if (x->b > 1 || x->beside > 0)
        TESS_TRY(share(w, x->high * gather_pieces(x), 1, gather_tasks));
    TESS_TRY(move_blocks(w));
    atomic_store(&w->loaded, 0);
    if (x->c > 1 || x->under > 0)
        TESS_TRY(share(w, x->wide * spread_pieces(x), 1, spread_tasks));
    const int64_t row = x->rows * x->size;
    if (x->beside > 0)
        memcpy(w->data + x->wide * x->c * row, w->scratch + x->extras, (size_t)(x->beside * row));
    return TESS_OK;
}

/* A task is a matrix, with scratch for each thread. */
static void matrices(void *argument, int64_t begin, int64_t end, int worker) {
    const work *whole = argument;
    const transpose_rectangle *x = &whole->x;
    const int64_t bytes = x->rows * x->columns * x->size;
    work w = *whole;
    w.scratch += worker * x->scratch;
    for (int64_t k = begin; k < end; k++) {
        w.data = whole->data + k * bytes;
        if (x->copied) {
            memcpy(w.scratch, w.data, (size_t)bytes);
            turn(w.data, x->rows * x->size, w.scratch, x->columns * x->size, x->columns, x->rows, x->size, false);
        } else {
            (void)transpose(&w);
        }
    }
}

tess_status TESS_ISA_NAME(tess_transpose_inplace_rectangular)(const tess_problem *base, const tess_run *run) {
    enum { PIECE = 1 << 17 };
    const transpose_problem *problem = (const transpose_problem *)base;
    work w = {.run = run, .crew = tess_transpose_rectangle_crew(problem, run->threads), .data = run->out, .scratch = run->workspace};
    tess_transpose_rectangle_cut(&w.x, problem, w.crew);
    const int64_t bytes = problem->rows * problem->columns * problem->size;
    w.alone = w.x.copied || w.crew < run->threads;
    if (w.alone)
        return tess_parallel(run->context, run->threads, problem->batch, tess_max64(1, PIECE / bytes), matrices, &w);
    for (int64_t k = 0; k < problem->batch; k++, w.data += bytes)
        TESS_TRY(transpose(&w));
    return TESS_OK;
}

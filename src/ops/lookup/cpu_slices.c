/* SPDX-License-Identifier: Apache-2.0
 * cpu_slices.c - the axis is not the last: each index copies what lies behind it, whole runs where there are no gaps.
 *
 * Slices without gaps are rows: a run of indices is checked without branches (positions.h), then its rows are copied by moves of constant length that
 * overlap, those of large results by way of a buffer past the caches. Few indices with long slices are cut into pieces, so that there is work for every
 * thread. */
#include "core/parallel.h"
#include "ops/lookup/together.h"
#include "simd/lanes.h"

tess_status TESS_ISA_NAME(tess_lookup_slices)(const tess_problem *base, const tess_run *run);

enum { CUT = 1 << 16, STAGE = 8192 }; /* bytes of a piece of a long slice; of rows on their way past the caches */

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    lookup_axes inner; /* without the run */
    int64_t run_bytes, pieces;
    bool stream;             /* rows without gaps between them, and more than the caches hold */
    int ahead;               /* rows whose lines are asked for before they are copied; 0: the table is in the caches */
    int64_t together, apart; /* tables of the outer axes that go together (together.h), and the entries between two */
} job;

typedef struct {
    char byte[16];
} bytes16;

/* Rows of `bytes` bytes, from half of a move on to a whole one: one move from the front and one to the back. */
#define ROWS_OF(move, type)                                                                                                                        \
    static void rows_of_##move(char *out, int64_t out_step, const char *table, int64_t step, const int32_t *entry, int64_t count, int64_t bytes) { \
        const int64_t last = bytes - (int64_t)sizeof(type);                                                                                        \
        for (int64_t i = 0; i < count; i++) {                                                                                                      \
            const char *from = table + entry[i] * step;                                                                                            \
            char *to = out + i * out_step;                                                                                                         \
            type front, back;                                                                                                                      \
            memcpy(&front, from, sizeof front);                                                                                                    \
            memcpy(&back, from + last, sizeof back);                                                                                               \
            memcpy(to, &front, sizeof front);                                                                                                      \
            memcpy(to + last, &back, sizeof back);                                                                                                 \
        }                                                                                                                                          \
    }
ROWS_OF(1, uint8_t)
ROWS_OF(2, uint16_t)
ROWS_OF(4, uint32_t)
ROWS_OF(8, uint64_t)
ROWS_OF(16, bytes16)
ROWS_OF(vector, v_bytes)

/* Longer than two vectors: whole ones from the front, the last one to the back. */
static void rows_of_vectors(char *out, int64_t out_step, const char *table, int64_t step, const int32_t *entry, int64_t count, int64_t bytes,
                            int ahead) {
    for (int64_t i = 0; i < count; i++) {
        const char *from = table + entry[i] * step;
        char *to = out + i * out_step;
        if (ahead > 0 && i + ahead < count)
            for (int64_t at = 0; at < bytes; at += 64)
                __builtin_prefetch(table + entry[i + ahead] * step + at);
        if (bytes >= 2048) {
            memcpy(to, from, (size_t)bytes);
            continue;
        }
        for (int64_t at = 0; at < bytes - TESS_VECTOR_BYTES; at += TESS_VECTOR_BYTES)
            v_bytes_store(to + at, v_bytes_load(from + at));
        v_bytes_store(to + bytes - TESS_VECTOR_BYTES, v_bytes_load(from + bytes - TESS_VECTOR_BYTES));
    }
}

static void rows(const job *j, char *out, int64_t out_step, const char *table, const int32_t *entry, int64_t count) {
    const int64_t step = j->problem->step, bytes = j->run_bytes;
    if (bytes > 2 * TESS_VECTOR_BYTES || (j->ahead > 0 && bytes >= TESS_VECTOR_BYTES))
        rows_of_vectors(out, out_step, table, step, entry, count, bytes, j->ahead);
    else if (bytes >= TESS_VECTOR_BYTES)
        rows_of_vector(out, out_step, table, step, entry, count, bytes);
    else if (bytes > 32) { /* of vectors of 64 bytes */
        rows_of_16(out, out_step, table, step, entry, count, 32);
        rows_of_16(out + bytes - 32, out_step, table + bytes - 32, step, entry, count, 32);
    } else if (bytes >= 16)
        rows_of_16(out, out_step, table, step, entry, count, bytes);
    else if (bytes >= 8)
        rows_of_8(out, out_step, table, step, entry, count, bytes);
    else if (bytes >= 4)
        rows_of_4(out, out_step, table, step, entry, count, bytes);
    else if (bytes >= 2)
        rows_of_2(out, out_step, table, step, entry, count, bytes);
    else
        rows_of_1(out, out_step, table, step, entry, count, bytes);
}

/* A run of rows whose positions are known. */
static void put_rows(const job *j, char *out, int64_t out_step, const char *table, const positions *p, int64_t count) {
    const int64_t bytes = j->run_bytes, size = j->problem->size, most = tess_max64(1, STAGE / bytes);
    if (!j->stream || out_step != bytes) {
        rows(j, out, out_step, table, p->entry, count);
    } else {
        _Alignas(64) char stage[STAGE];
        for (int64_t i = 0; i < count; i += most) {
            const int64_t n = tess_min64(most, count - i);
            rows(j, stage, bytes, table, p->entry + i, n);
            tess_stream_copy(out + i * bytes, stage, n * bytes);
        }
    }
    for (int k = 0; k < p->fills; k++)
        for (int64_t at = 0; at < bytes; at += size)
            memcpy(out + p->filled[k] * out_step + at, j->problem->fill, (size_t)size);
}

/* Slices that are rows, a run of indices at a time. */
static void rows_task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    lookup_walk walk;
    lookup_segment s;
    positions p;
    (void)worker;
    tess_lookup_walk_start(&walk, problem, j->run, begin, end, LOOKUP_BLOCK);
    while (tess_lookup_walk_next(&walk, &s)) {
        positions_of(&p, problem, s.index, walk.in_step, s.count);
        if (p.bad >= 0) {
            tess_lookup_note(&j->first_bad, s.position + p.bad);
            return;
        }
        put_rows(j, s.out, walk.out_step, s.table, &p, s.count);
    }
}

/* Few indices for each of many tables. */
static void together_task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    const int64_t count = problem->at.count;
    together_walk walk;
    positions p;
    (void)worker;
    positions_of(&p, problem, j->run->second, problem->at.ndim > 0 ? problem->at.stride[LOOKUP_FROM][0] : 0, count);
    if (p.bad >= 0) {
        tess_lookup_note(&j->first_bad, p.bad);
        return;
    }
    const int fills = p.fills;
    together_repeat(&p, count, tess_min64(j->together, end - begin), j->apart);
    together_start(&walk, problem, begin, end, j->together);
    while (together_next(&walk)) {
        p.fills = fills * (int)walk.rows;
        put_rows(j, j->run->out + walk.index.offset[LOOKUP_OUT], j->run_bytes, j->run->in + walk.index.offset[LOOKUP_FROM], &p, walk.rows * count);
    }
}

static void copy(char *out, const char *from, int64_t n) {
    if (n >= 16 && n <= 64) { /* shorter than a call */
        for (int64_t i = 0; i < n - 16; i += 16)
            memcpy(out + i, from + i, 16);
        memcpy(out + n - 16, from + n - 16, 16);
    } else {
        memcpy(out, from, (size_t)n);
    }
}

/* Bytes begin .. end-1 of every run of the slice; from = NULL fills. */
static void copy_slice(job *j, char *out, const char *from, int64_t begin, int64_t end) {
    const lookup_problem *problem = j->problem;
    tess_index k;
    tess_index_start(&k, j->inner.ndim, j->inner.shape, 2, j->inner.stride, 0);
    do {
        char *to = out + k.offset[LOOKUP_OUT];
        if (from)
            copy(to + begin, from + k.offset[LOOKUP_FROM] + begin, end - begin);
        for (int64_t at = begin; !from && at < end; at += problem->size)
            memcpy(to + at, problem->fill, (size_t)problem->size);
    } while (tess_index_next(&k));
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    lookup_walk walk;
    lookup_segment s;
    (void)worker;
    int64_t piece = begin % j->pieces, each = CUT / problem->size * problem->size, left = end - begin;
    tess_lookup_walk_start(&walk, problem, j->run, begin / j->pieces, tess_ceil_div(end, j->pieces), 1);
    while (tess_lookup_walk_next(&walk, &s)) {
        int64_t entry;
        bool inside = tess_lookup_entry(problem, s.index, &entry);
        if (!inside && problem->outside == TESS_OUTSIDE_ERROR) {
            tess_lookup_note(&j->first_bad, s.position);
            return;
        }
        for (; piece < j->pieces && left > 0; piece++, left--)
            copy_slice(j, s.out, inside ? s.table + entry * problem->step : NULL, piece * each,
                       piece == j->pieces - 1 ? j->run_bytes : (piece + 1) * each);
        piece = 0;
    }
}

tess_status TESS_ISA_NAME(tess_lookup_slices)(const tess_problem *base, const tess_run *run) {
    const lookup_problem *problem = (const lookup_problem *)base;
    job j = {.problem = problem, .run = run, .first_bad = INT64_MAX, .inner = problem->inner, .run_bytes = problem->size, .pieces = 1};
    int last = j.inner.ndim - 1;
    if (last >= 0 && j.inner.stride[LOOKUP_FROM][last] == problem->size && j.inner.stride[LOOKUP_OUT][last] == problem->size) {
        j.run_bytes *= j.inner.shape[last];
        j.inner.ndim--;
    }
    if (j.run_bytes > 2 * CUT)
        j.pieces = tess_ceil_div(j.run_bytes, CUT / problem->size * problem->size);
    if (j.inner.ndim == 0 && j.pieces == 1 && problem->n <= INT32_MAX) {
        enum { FAR_TABLE = 1 << 20 }; /* bytes */
        j.stream = j.run_bytes <= STAGE && problem->base.elements * (double)problem->out.itemsize > 8 << 20;
        j.ahead = problem->n * problem->step > FAR_TABLE ? (int)tess_max64(2, tess_min64(16, 2048 / j.run_bytes)) : 0;
        j.together = together_rows(problem, j.run_bytes, &j.apart);
        const int64_t grain = tess_max64(16, (1 << 18) / j.run_bytes);
        if (j.together > 0)
            TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count, tess_max64(j.together, grain / problem->at.count), together_task,
                                   &j));
        else
            TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count * problem->at.count, grain, rows_task, &j));
        int64_t bad = atomic_load(&j.first_bad);
        return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
    }
    int64_t slice = problem->inner.count * problem->size / j.pieces;
    TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count * problem->at.count * j.pieces,
                           tess_max64(1, (1 << 17) / tess_max64(1, slice)), task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}

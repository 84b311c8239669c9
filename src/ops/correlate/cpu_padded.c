/* SPDX-License-Identifier: Apache-2.0
 * cpu_padded.c - correlate/padded: short rows, copied with their ghost cells one after another, are one long row.
 *
 * The other rows pay for every row of the output: for its ends, for looking up what it meets, for calls. Where it has 8 or 100 elements that is most of the time.
 * Here a block of many rows, or of many small images, is copied with all of its ghost cells, as long rows of elements of the work type are converted; then a tap
 * is a distance in the block, the same for every output, and vectors go over rows' ends as if there were none. What they compute there is thrown away when the
 * outputs are put together, which are converted and stored as long rows again. Taps come in the mask's order. */
#include "core/parallel.h"
#include "ops/correlate/padded.h"
#include "simd/pairs.h"

enum { CHUNK = 64, AHEAD = 4096 /* bytes that rows are asked for before they are copied */ };

typedef struct job {
    const tess_correlate_problem *problem;
    const tess_correlate_pass *pass; /* of a list: all masks at once */
    tess_correlate_padded block;
    const char *in;
    char *out, *scratch;
    tess_row_loader load;
    tess_row_storer store;
    bool as_is;                    /* elements lie in memory as the work type has them */
    int last;                      /* axis */
    int64_t in_stride, out_stride; /* bytes from element to element along a row */
    int in_whole, out_whole;       /* the outermost axis from which on elements follow each other in memory */
    int64_t size, blocks;          /* bytes of an element of the work type; blocks along the axis `first` */
    int64_t n[TESS_MAX_NDIM + 1] /* elements of the input, and of the output, from one position of the axis to the next if there were no gaps */,
        m[TESS_MAX_NDIM + 1];
} job;

typedef struct room {
    int64_t *taps;                  /* bytes from an output's place to a tap */
    int32_t *places[TESS_MAX_NDIM]; /* for each position of an axis which one it is a copy of: itself; -1: the constant */
    char *elements, *block, *sums;
} room;

/* ---- sums: to[i] = sum over t of x[i + taps[t]] * w[t], i < n, up to the end of the last vector ---- */

#define REAL_SUMS(name, vector, real, LANES)                                                                                                       \
    TESS_INLINE int64_t name##_of(const int K, real *to, const char *x, const real *w, const int64_t *taps, int64_t count, int64_t i, int64_t n) { \
        for (; i + (K - 1) * LANES < n; i += K * LANES) {                                                                                          \
            vector a[8];                                                                                                                           \
            for (int k = 0; k < K; k++)                                                                                                            \
                a[k] = (vector){0};                                                                                                                \
            for (int64_t t = 0; t < count; t++) {                                                                                                  \
                const char *p = x + taps[t] + i * (int64_t)sizeof(real);                                                                           \
                const vector wt = vector##_all(w[t]);                                                                                              \
                for (int k = 0; k < K; k++)                                                                                                        \
                    a[k] = vector##_fma(vector##_load(p + k * TESS_VECTOR_BYTES), wt, a[k]);                                                       \
            }                                                                                                                                      \
            for (int k = 0; k < K; k++)                                                                                                            \
                vector##_store(to + i + k * LANES, a[k]);                                                                                          \
        }                                                                                                                                          \
        return i;                                                                                                                                  \
    }                                                                                                                                              \
    static void name(void *to, const char *x, const void *w, const int64_t *taps, int64_t count, int64_t n) {                                      \
        name##_of(1, to, x, w, taps, count, name##_of(8, to, x, w, taps, count, 0, n), n);                                                         \
    }
REAL_SUMS(sums_f32, v_f32, float, TESS_F32_LANES)
REAL_SUMS(sums_f64, v_f64, double, TESS_F64_LANES)

/* i and n count parts of numbers. */
#define COMPLEX_SUMS(name, vector, real, LANES)                                                                                                    \
    TESS_INLINE int64_t name##_of(const int K, real *to, const char *x, const real *w, const int64_t *taps, int64_t count, int64_t i, int64_t n) { \
        for (; i + (K - 1) * LANES < n; i += K * LANES) {                                                                                          \
            vector a[4];                                                                                                                           \
            for (int k = 0; k < K; k++)                                                                                                            \
                a[k] = (vector){0};                                                                                                                \
            for (int64_t t = 0; t < count; t++) {                                                                                                  \
                const char *p = x + taps[t] + i * (int64_t)sizeof(real);                                                                           \
                const vector##_weight wt = vector##_weight_of(w + 2 * t);                                                                          \
                for (int k = 0; k < K; k++)                                                                                                        \
                    a[k] = vector##_fma_pairs(vector##_load(p + k * TESS_VECTOR_BYTES), &wt, a[k]);                                                \
            }                                                                                                                                      \
            for (int k = 0; k < K; k++)                                                                                                            \
                vector##_store(to + i + k * LANES, a[k]);                                                                                          \
        }                                                                                                                                          \
        return i;                                                                                                                                  \
    }                                                                                                                                              \
    static void name(void *to, const char *x, const void *w, const int64_t *taps, int64_t count, int64_t n) {                                      \
        name##_of(1, to, x, w, taps, count, name##_of(4, to, x, w, taps, count, 0, 2 * n), 2 * n);                                                 \
    }
COMPLEX_SUMS(sums_c64, v_f32, float, TESS_F32_LANES)
COMPLEX_SUMS(sums_c128, v_f64, double, TESS_F64_LANES)

static void sums(tess_type work, void *to, const char *x, const void *w, const int64_t *taps, int64_t count, int64_t n) {
    switch (work) {
    case tess_f32: sums_f32(to, x, w, taps, count, n); break;
    case tess_f64: sums_f64(to, x, w, taps, count, n); break;
    case tess_c64: sums_c64(to, x, w, taps, count, n); break;
    default: sums_c128(to, x, w, taps, count, n); break;
    }
}

/* ---- rows, apart and together ---- */

TESS_INLINE void copy_chunks(const int64_t chunks, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count) {
    for (int64_t r = 0; r < count; r++, to += to_step, from += from_step)
        for (int64_t c = 0; c < chunks; c++) {
            tess_prefetch_l1(from + c * CHUNK + AHEAD);
            memcpy(to + c * CHUNK, from + c * CHUNK, CHUNK);
        }
}

/* `count` rows of `bytes` each. Whole chunks are copied where what is written too far is written again by the next row, and what is read too far is there. */
static void copy_rows(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t bytes, int64_t count) {
    const int64_t chunks = tess_ceil_div(bytes, CHUNK), beyond = chunks * CHUNK - bytes, step = tess_min64(to_step, from_step);
    const int64_t exact = tess_min64(count, tess_ceil_div(beyond, step)), rest = count - exact;
    if (chunks == 1)
        copy_chunks(1, to, to_step, from, from_step, rest);
    else if (chunks == 2)
        copy_chunks(2, to, to_step, from, from_step, rest);
    else
        copy_chunks(chunks, to, to_step, from, from_step, rest);
    for (int64_t r = rest; r < count; r++)
        memcpy(to + r * to_step, from + r * from_step, (size_t)bytes);
}

static void fill(const job *j, char *to, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * j->size, &j->problem->work_constant, (size_t)j->size);
}

/* The ghost cells of axis d among the positions from `at` on: whole positions, with all of the axes behind. */
static void ghosts(const job *j, const room *r, char *at, int d) {
    const tess_correlate_axis *a = &j->pass->axis[d];
    const int32_t *places = r->places[d];
    const int64_t bytes = j->block.pitch[d] * j->size;
    for (int64_t p = 0; p < j->block.met[d]; p++) {
        if (p == a->before)
            p += a->n;
        if (p >= j->block.met[d])
            break;
        if (places[p] < 0)
            fill(j, at + p * bytes, j->block.pitch[d]);
        else
            memcpy(at + p * bytes, at + places[p] * bytes, (size_t)bytes);
    }
}

/* The same of the last axis, for `count` rows of elements of a known size: one place after another, down all rows. */
TESS_INLINE void ends(const int size, const job *j, const room *r, char *at, int64_t count) {
    const tess_correlate_axis *a = &j->pass->axis[j->last];
    const int64_t step = j->block.met[j->last] * size;
    for (int64_t p = 0; p < j->block.met[j->last]; p++) {
        if (p == a->before)
            p += a->n;
        if (p >= j->block.met[j->last])
            break;
        const int32_t place = r->places[j->last][p];
        char *to = at + p * size;
        const char *from = place < 0 ? (const char *)&j->problem->work_constant : at + place * size;
        const int64_t from_step = place < 0 ? 0 : step;
        for (int64_t i = 0; i < count; i++, to += step, from += from_step)
            memcpy(to, from, (size_t)size);
    }
}

/* ---- a block ---- */

/* Positions of axis d and all behind it, from elements that follow each other; at: where the first of them stands. */
static void spread(const job *j, const room *r, char *at, int d, const char *from, int64_t count) {
    const int64_t step = j->block.pitch[d] * j->size, inside = j->pass->axis[d + 1].before * j->block.pitch[d + 1] * j->size;
    if (d < j->last - 1) {
        for (int64_t i = 0; i < count; i++, at += step, from += j->n[d] * j->size) {
            spread(j, r, at + inside, d + 1, from, j->pass->axis[d + 1].n);
            ghosts(j, r, at, d + 1);
        }
        return;
    }
    copy_rows(at + inside, step, from, j->n[d] * j->size, j->n[d] * j->size, count);
    if (j->pass->axis[j->last].width == 1)
        return;
    if (j->pass->group > 1)
        for (int64_t i = 0; i < count; i++)
            ghosts(j, r, at + i * step, j->last);
    else if (j->size == 4)
        ends(4, j, r, at, count);
    else if (j->size == 8)
        ends(8, j, r, at, count);
    else
        ends(16, j, r, at, count);
}

static void load(const job *j, const room *r, char *at, int d, const char *from, int64_t count) {
    const tess_correlate_axis *a = &j->pass->axis[d];
    if (d >= j->in_whole) {
        if (!j->as_is)
            j->load(r->elements, from, (int64_t)tess_type_size(j->pass->from), count * j->n[d]);
        spread(j, r, at, d, j->as_is ? from : r->elements, count);
        return;
    }
    const tess_correlate_axis *b = &j->pass->axis[d + 1];
    const int64_t step = j->block.pitch[d] * j->size, inside = b->before * j->block.pitch[d + 1] * j->size;
    for (int64_t i = 0; i < count; i++, at += step, from += a->in_stride) {
        if (d == j->last - 1) {
            j->load(r->elements, from, j->in_stride, b->n * j->pass->group);
            spread(j, r, at, d, r->elements, 1);
        } else {
            load(j, r, at + inside, d + 1, from, b->n);
            ghosts(j, r, at, d + 1);
        }
    }
}

/* Sums of axis d and behind, put together without what stands between rows; where that ends. */
static char *gather(const job *j, char *to, int d, const char *from, int64_t count) {
    const int64_t step = j->block.pitch[d] * j->size, bytes = j->m[d] * j->size;
    if (d == j->last - 1) {
        copy_rows(to, bytes, from, step, bytes, count);
        return to + count * bytes;
    }
    for (int64_t i = 0; i < count; i++)
        to = gather(j, to, d + 1, from + i * step, j->pass->axis[d + 1].m);
    return to;
}

static void store(const job *j, const room *r, char *out, int d, const char *from, int64_t count) {
    const tess_correlate_axis *a = &j->pass->axis[d];
    if (d >= j->out_whole) {
        const bool together = j->m[d] == j->block.pitch[d];
        if (!together)
            gather(j, r->elements, d, from, count);
        j->store(out, (int64_t)tess_type_size(j->pass->to), together ? from : r->elements, count * j->m[d]);
        return;
    }
    for (int64_t i = 0; i < count; i++, out += a->out_stride, from += j->block.pitch[d] * j->size)
        if (d == j->last - 1)
            j->store(out, j->out_stride, from, j->m[d]);
        else
            store(j, r, out, d + 1, from, j->pass->axis[d + 1].m);
}

/* The ghost cells of axis d between two passes, where they are constants: sums of constants stand there. positions: those there are of each axis. */
static void constants(const job *j, char *block, int d, const int64_t *positions, int64_t begin) {
    const tess_correlate_axis *a = &j->pass->axis[d];
    const int64_t pitch = j->block.pitch[d], before = d == j->block.first ? a->before - begin : a->before;
    int64_t outer = 1;
    for (int e = j->block.first; e < d; e++)
        outer *= e == j->block.first ? positions[e] : j->block.met[e];
    for (int64_t i = 0; i < outer; i++, block += j->block.met[d] * pitch * j->size) {
        const int64_t from = tess_max64(0, tess_min64(before, positions[d])), to = tess_max64(from, tess_min64(before + a->n, positions[d]));
        fill(j, block, from * pitch);
        fill(j, block + to * pitch * j->size, (positions[d] - to) * pitch);
    }
}

/* The masks of a list one after the other, each over all that the next ones meet; where the last sums stand. */
static const char *passes(const job *j, const room *r, int64_t begin, int64_t count, int64_t met) {
    const int first = j->block.first;
    const int64_t *taps = r->taps;
    char *from = r->block, *to = r->sums;
    int64_t positions[TESS_MAX_NDIM];
    for (int d = first; d <= j->last; d++)
        positions[d] = d == first ? met : j->block.met[d];
    for (int k = 0; k < j->problem->passes_count; k++) {
        const int d = j->pass->order[k];
        const int64_t width = j->pass->axis[d].width;
        if (k > 0 && j->problem->boundary == TESS_BOUNDARY_CONSTANT)
            constants(j, from, d, positions, begin);
        positions[d] = d == first ? count : j->pass->axis[d].m;
        int64_t n = j->pass->group;
        for (int e = first; e <= j->last; e++)
            n += (positions[e] - 1) * j->block.pitch[e];
        sums(j->problem->work, to, from, j->problem->passes[k].weights, taps, width, n);
        memset(to + n * j->size, 0, CHUNK);
        taps += width;
        char *const done = to;
        to = from;
        from = done;
    }
    return from;
}

static void one_block(const job *j, const room *r, const char *in, char *out, int64_t begin) {
    const int first = j->block.first;
    const tess_correlate_axis *a = &j->pass->axis[first];
    const int64_t count = tess_min64(j->block.band, a->m - begin), met = count + a->width - 1, step = j->block.pitch[first] * j->size;
    for (int64_t p = 0, some; p < met; p += some) {
        const tess_boundary_run run = tess_boundary_run_at(j->problem->boundary, a->n, begin - a->before + p);
        some = run.at >= 0 && run.step != 1 ? 1 : tess_min64(run.length, met - p);
        if (run.at < 0)
            fill(j, r->block + p * step, some * j->block.pitch[first]);
        else
            load(j, r, r->block + p * step, first, in + run.at * a->in_stride, some);
    }
    memset(r->block + met * step, 0, CHUNK); /* vectors go beyond: denormal numbers are slow */
    if (j->pass == j->problem->box) {
        store(j, r, out + begin * a->out_stride, first, passes(j, r, begin, count, met), count);
        return;
    }
    int64_t n = (count - 1) * j->block.pitch[first] + j->pass->group;
    for (int d = first + 1; d <= j->last; d++)
        n += (j->pass->axis[d].m - 1) * j->block.pitch[d];
    sums(j->problem->work, r->sums, r->block, j->pass->weights, r->taps, j->pass->taps, n);
    store(j, r, out + begin * a->out_stride, first, r->sums, count);
}

/* ---- all of them ---- */

static void furnish(const job *j, room *r, char *scratch) {
    const tess_correlate_padded *b = &j->block;
    r->taps = (int64_t *)(void *)scratch;
    int32_t *places = (int32_t *)(void *)(scratch + b->taps_bytes);
    r->elements = scratch + b->taps_bytes + b->places_bytes;
    r->block = r->elements + b->block_bytes;
    r->sums = r->block + b->block_bytes;
    for (int d = b->first + 1; d <= j->last; d++) {
        const tess_correlate_axis *a = &j->pass->axis[d];
        r->places[d] = places;
        for (int64_t p = 0; p < b->met[d]; p++) {
            const int64_t i = tess_boundary_index(j->problem->boundary, a->n, p - a->before);
            *places++ = i < 0 ? -1 : (int32_t)(i + a->before);
        }
    }
    if (j->pass == j->problem->box) {
        int64_t *tap = r->taps;
        for (int k = 0; k < j->pass->masked; k++)
            for (int64_t t = 0; t < j->pass->axis[j->pass->order[k]].width; t++)
                *tap++ = t * b->pitch[j->pass->order[k]] * j->size;
        return;
    }
    int64_t tap[TESS_MAX_NDIM] = {0};
    for (int64_t t = 0; t < j->pass->taps; t++) {
        r->taps[t] = 0;
        for (int d = b->first; d <= j->last; d++)
            r->taps[t] += tap[d] * b->pitch[d] * j->size;
        for (int k = j->pass->masked - 1; k >= 0 && ++tap[j->pass->order[k]] == j->pass->axis[j->pass->order[k]].width; k--)
            tap[j->pass->order[k]] = 0;
    }
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    const job *j = argument;
    room r;
    furnish(j, &r, j->scratch + (size_t)worker * j->block.scratch);
    int64_t shape[TESS_MAX_NDIM], stride[2][TESS_MAX_NDIM];
    for (int d = 0; d < j->block.first; d++) {
        shape[d] = j->pass->axis[d].m;
        stride[0][d] = j->pass->axis[d].in_stride;
        stride[1][d] = j->pass->axis[d].out_stride;
    }
    tess_index index;
    tess_index_start(&index, j->block.first, shape, 2, stride, begin / j->blocks);
    for (int64_t t = begin, b = begin % j->blocks; t < end; t++) {
        one_block(j, &r, j->in + index.offset[0], j->out + index.offset[1], b * j->block.band);
        if (++b == j->blocks) {
            b = 0;
            tess_index_next(&index);
        }
    }
}

/* Elements from one position of each axis to the next, and the outermost axis from which on they are the strides. */
static int whole(const tess_correlate_pass *pass, bool in, int64_t *elements) {
    const int64_t size = (int64_t)tess_type_size(in ? pass->from : pass->to);
    int from = pass->ndim;
    int64_t count = pass->group;
    for (int d = pass->ndim - 1; d >= 0; d--) {
        const tess_correlate_axis *a = &pass->axis[d];
        elements[d] = count;
        if (from == d + 1 && (in ? a->in_stride : a->out_stride) == count * size)
            from = d;
        count *= in ? a->n : a->m;
    }
    return from;
}

tess_status TESS_ISA_NAME(tess_correlate_in_padded)(const tess_problem *base, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_in_padded)(const tess_problem *base, const tess_run *run) {
    const tess_correlate_problem *problem = (const tess_correlate_problem *)base;
    const tess_correlate_pass *pass = problem->direct ? problem->direct : problem->box;
    job j = {
        .problem = problem, .pass = pass, .in = run->in, .out = run->out, .scratch = run->workspace, .size = (int64_t)tess_type_size(problem->work)};
    const char *why;
    int64_t rows = 1;
    if (!tess_correlate_padded_of(&j.block, problem, pass, &why))
        return tess_fail(TESS_ERR_INTERNAL, "correlate/padded ran where it is not applicable: %s", why);
    j.load = tess_loader(run->slot, pass->from, problem->work);
    j.store = tess_storer(run->slot, problem->work, pass->to);
    j.as_is = pass->from == problem->work;
    j.last = pass->ndim - 1;
    j.in_whole = whole(pass, true, j.n);
    j.out_whole = whole(pass, false, j.m);
    j.in_stride = pass->axis[j.last].in_stride / pass->group;
    j.out_stride = pass->axis[j.last].out_stride / pass->group;
    j.blocks = tess_ceil_div(pass->axis[j.block.first].m, j.block.band);
    for (int d = 0; d < j.block.first; d++)
        rows *= pass->axis[d].m;
    const int64_t cost = j.block.elements * pass->taps; /* of one task; a piece should take some 20 microseconds */
    return tess_parallel(run->context, run->threads, rows * j.blocks, tess_max64(1, 65536 / cost), task, &j);
}

/* SPDX-License-Identifier: Apache-2.0
 * cpu_gather.c - single elements from a table of any size, in two steps a run: all indices are checked and made safe, then the elements are fetched.
 *
 * Splitting the steps keeps the check free of branches and lets many fetches be under way at once; a check inside the fetch would wait for each
 * index. Of tables beyond L2 each element's line is asked for some elements ahead, across the end of a run, so that memory is not idle while the next one is checked.
 * Where the processor's gather is slow, small blocks take both steps at once (collected.h).
 * ERROR is found in the first step: the smallest bad position of all threads is the one that is named, whichever thread came first. */
#include "core/maker.h"
#include "core/parallel.h"
#include "ops/lookup/collected.h"
#include "ops/lookup/together.h"

tess_status TESS_ISA_NAME(tess_lookup_gather)(const tess_problem *base, const tess_run *run);

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    bool stream;
    bool loads;          /* by a load an element, not by the processor's gather */
    bool far;            /* the table lies in no cache of this core */
    collected collect;   /* not NULL: the index is checked and used in one pass */
    uint64_t limit;      /* of that */
    int64_t rows, apart; /* rows of the table that go together (together.h), and the entries between two */
} job;

typedef struct {
    uint64_t half[2];
} bytes16;

#define FETCH(name, type)                                                                                                         \
    static void fetch_##name(char *out, int64_t out_step, const char *table, int64_t step, const int32_t *entry, int64_t count) { \
        if (step == (int64_t)sizeof(type) && out_step == (int64_t)sizeof(type)) {                                                 \
            for (int64_t i = 0; i < count; i++) {                                                                                 \
                type v;                                                                                                           \
                memcpy(&v, table + (int64_t)entry[i] * (int64_t)sizeof(type), sizeof v);                                          \
                memcpy(out + i * (int64_t)sizeof(type), &v, sizeof v);                                                            \
            }                                                                                                                     \
            return;                                                                                                               \
        }                                                                                                                         \
        for (int64_t i = 0; i < count; i++) {                                                                                     \
            type v;                                                                                                               \
            memcpy(&v, table + entry[i] * step, sizeof v);                                                                        \
            memcpy(out + i * out_step, &v, sizeof v);                                                                             \
        }                                                                                                                         \
    }
FETCH(1, uint8_t)
FETCH(2, uint16_t)
FETCH(4, uint32_t)
FETCH(8, uint64_t)
FETCH(16, bytes16)

#if TESS_VECTOR_BYTES > 16
enum { VECTORS_GATHER = 1 }; /* the instruction set has a gather */
#else
enum { VECTORS_GATHER = 0 };
#endif

/* The lines of the next run of indices are asked for while this one's elements are fetched: `bytes` a vector. */
TESS_INLINE void ask(const char *next, int64_t bytes) {
    for (int64_t byte = 0; byte < bytes; byte += 64)
        tess_prefetch_l2(next + byte);
}

/* Elements of 16 bytes are loads either way. */
TESS_INLINE v_bytes x_bytes_gather(const void *base, const uint32_t *at) { return v_lanes_gather(base, at, 1, 16); }
TESS_INLINE v_bytes x_bytes_collect(const void *base, const uint32_t *at) { return v_lanes_gather(base, at, 1, 16); }

/* Elements of 4, 8 and 16 bytes without gaps on both sides; the vectors that fill whole lines of out go past the caches when `stream`. */
#define FETCH_LINES(size, vector, LANES)                                                                                                            \
    static void fetch_lines_##size(char *out, const char *table, const int32_t *entry, int64_t count, bool stream, const char *next, int64_t width, \
                                   bool loads) {                                                                                                    \
        int64_t i = stream ? tess_min64(count, (-(int64_t)((uintptr_t)out) & 63) / size) : 0;                                                       \
        stream = stream && ((uintptr_t)out + (uintptr_t)(i * size)) % 64 == 0;                                                                      \
        fetch_##size(out, size, table, size, entry, i);                                                                                             \
        for (; i + LANES <= count; i += LANES) {                                                                                                    \
            const uint32_t *at = (const uint32_t *)entry + i;                                                                                       \
            const v_bytes v = (v_bytes)(loads ? vector##_collect(table, at) : vector##_gather(table, at));                                          \
            ask(next + i * width, LANES * width);                                                                                                   \
            if (stream)                                                                                                                             \
                v_bytes_stream(out + i * size, v);                                                                                                  \
            else                                                                                                                                    \
                v_bytes_store(out + i * size, v);                                                                                                   \
        }                                                                                                                                           \
        fetch_##size(out + i * size, size, table, size, entry + i, count - i);                                                                      \
    }
FETCH_LINES(4, v_f32, TESS_F32_LANES)
FETCH_LINES(8, v_f64, TESS_F64_LANES)
FETCH_LINES(16, x_bytes, TESS_LANES)

/* The same from a table far away. Plain stores: those past the caches take the places of lines that are under way. */
enum { FAR_AHEAD = 64 };
TESS_INLINE void fetch_far(char *out, const char *table, int64_t size, const int32_t *entry, int64_t count, const int32_t *then, int64_t thens) {
    for (int64_t i = 0; i < count; i += TESS_F32_LANES) {
        const int64_t n = tess_min64(TESS_F32_LANES, count - i);
        for (int64_t k = i + FAR_AHEAD; k < i + FAR_AHEAD + n; k++)
            if (k < count)
                __builtin_prefetch(table + entry[k] * size);
            else if (k - count < thens)
                __builtin_prefetch(table + then[k - count] * size);
        for (int64_t k = i; k < i + n; k++)
            memcpy(out + k * size, table + entry[k] * size, (size_t)size);
    }
}

/* Elements of 1 and 2 bytes: 4 bytes are gathered that hold the element, the last 4 of the table where it ends sooner, and shifted into place. */
#define FETCH_NARROW(size, type)                                                                                                                 \
    static void fetch_narrow_##size(char *out, const char *table, int64_t n, const int32_t *entry, int64_t count, bool stream, const char *next, \
                                    int64_t width) {                                                                                             \
        typedef type narrow __attribute__((vector_size(TESS_F32_LANES * size)));                                                                 \
        _Alignas(64) char stage[LOOKUP_BLOCK * size];                                                                                            \
        const v_i32 last = (v_i32){0} + (int32_t)(n * size - 4);                                                                                 \
        int64_t i = 0;                                                                                                                           \
        for (; i + TESS_F32_LANES <= count; i += TESS_F32_LANES) {                                                                               \
            v_i32 at;                                                                                                                            \
            memcpy(&at, entry + i, sizeof at);                                                                                                   \
            at *= size;                                                                                                                          \
            const v_i32 beyond = at > last, from = (at & ~beyond) | (last & beyond);                                                             \
            const v_i32 v = (v_i32)((v_u32)v_i32_gather_bytes(table, from) >> (v_u32)((at - from) * 8));                                         \
            const narrow r = __builtin_convertvector((v_u32)v, narrow);                                                                          \
            memcpy(stage + i * size, &r, sizeof r);                                                                                              \
            ask(next + i * width, TESS_F32_LANES * width);                                                                                       \
        }                                                                                                                                        \
        fetch_##size(stage + i * size, size, table, size, entry + i, count - i);                                                                 \
        if (stream)                                                                                                                              \
            tess_stream_copy(out, stage, count *size);                                                                                           \
        else                                                                                                                                     \
            memcpy(out, stage, (size_t)(count * size));                                                                                          \
    }
FETCH_NARROW(1, uint8_t)
FETCH_NARROW(2, uint16_t)

/* n: entries from the segment's table on. then: those of the run that follows, of a far table. */
static void fetch(const job *j, const lookup_segment *s, int64_t n, int64_t in_step, int64_t out_step, const int32_t *entry, const int32_t *then,
                  int64_t thens) {
    const int64_t size = j->problem->size, step = j->problem->step;
    if (j->far && out_step == size) {
        if (size == 4)
            fetch_far(s->out, s->table, 4, entry, s->count, then, thens);
        else
            fetch_far(s->out, s->table, 8, entry, s->count, then, thens);
        return;
    }
    const char *next = s->index + s->count * in_step;
    if (VECTORS_GATHER && step == size && out_step == size && in_step == j->problem->index.itemsize && n * size >= 4 && n * size <= INT32_MAX &&
        (size >= 4 || (TESS_VECTOR_BYTES == 64 && !j->loads))) /* narrowing costs AVX2 more than the gather saves */
        switch (size) {
        case 1: fetch_narrow_1(s->out, s->table, n, entry, s->count, j->stream, next, in_step); return;
        case 2: fetch_narrow_2(s->out, s->table, n, entry, s->count, j->stream, next, in_step); return;
        case 4: fetch_lines_4(s->out, s->table, entry, s->count, j->stream, next, in_step, j->loads); return;
        case 8: fetch_lines_8(s->out, s->table, entry, s->count, j->stream, next, in_step, j->loads); return;
        default: fetch_lines_16(s->out, s->table, entry, s->count, j->stream, next, in_step, j->loads); return;
        }
    switch (size) {
    case 1: fetch_1(s->out, out_step, s->table, step, entry, s->count); break;
    case 2: fetch_2(s->out, out_step, s->table, step, entry, s->count); break;
    case 4: fetch_4(s->out, out_step, s->table, step, entry, s->count); break;
    case 8: fetch_8(s->out, out_step, s->table, step, entry, s->count); break;
    default: fetch_16(s->out, out_step, s->table, step, entry, s->count); break;
    }
}

/* The next run and its checked positions; false at the end, or when one is bad: what follows in this piece is behind it, or the same indices again. */
static bool next_run(job *j, lookup_walk *walk, lookup_segment *s, positions *p) {
    if (!tess_lookup_walk_next(walk, s))
        return false;
    positions_of(p, j->problem, s->index, walk->in_step, s->count);
    if (p->bad < 0)
        return true;
    tess_lookup_note(&j->first_bad, s->position + p->bad);
    return false;
}

/* The first `count` indices of a run in two passes; false when one is bad. */
static bool two_passes(job *j, const lookup_walk *walk, const lookup_segment *run, int64_t count) {
    lookup_segment s = *run;
    positions p;
    s.count = count;
    positions_of(&p, j->problem, s.index, walk->in_step, count);
    if (p.bad >= 0) {
        tess_lookup_note(&j->first_bad, s.position + p.bad);
        return false;
    }
    fetch(j, &s, j->problem->n, walk->in_step, walk->out_step, p.entry, p.entry, 0);
    positions_fill(&p, s.out, walk->out_step, j->problem->fill, j->problem->size);
    return true;
}

/* One pass, but for what comes before the first whole line of out, runs with something outside, and what is left in the end. */
static void collect_task(job *j, int64_t begin, int64_t end) {
    const int64_t size = j->problem->size, width = j->problem->index.itemsize;
    lookup_walk walk;
    lookup_segment s;
    tess_lookup_walk_start(&walk, j->problem, j->run, begin, end, INT64_MAX);
    while (tess_lookup_walk_next(&walk, &s)) {
        int64_t done = (-(int64_t)((uintptr_t)s.out) & 63) / size;
        const bool stream = j->stream && ((uintptr_t)s.out + (uintptr_t)(done * size)) % 64 == 0;
        for (done = stream ? tess_min64(done, s.count) : 0;;) {
            if (done > 0 && !two_passes(j, &walk, &s, done))
                return;
            s.index += done * width;
            s.out += done * size;
            s.position += done;
            s.count -= done;
            if (s.count == 0)
                break;
            done = j->collect(s.out, s.table, s.index, s.count, j->limit, stream);
            s.index += done * width;
            s.out += done * size;
            s.position += done;
            s.count -= done;
            done = tess_min64(s.count, LOOKUP_BLOCK);
        }
    }
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    lookup_walk walk;
    lookup_segment s[2];
    positions p[2];
    (void)worker;
    if (j->collect) {
        collect_task(j, begin, end);
        return;
    }
    tess_lookup_walk_start(&walk, j->problem, j->run, begin, end, LOOKUP_BLOCK);
    bool more = next_run(j, &walk, &s[0], &p[0]);
    for (int now = 0; more;) {
        const int then = j->far ? !now : now;
        if (j->far)
            more = next_run(j, &walk, &s[then], &p[then]);
        fetch(j, &s[now], j->problem->n, walk.in_step, walk.out_step, p[now].entry, p[then].entry, j->far && more ? s[then].count : 0);
        positions_fill(&p[now], s[now].out, walk.out_step, j->problem->fill, j->problem->size);
        if (!j->far)
            more = next_run(j, &walk, &s[now], &p[now]);
        now = then;
    }
}

/* Few indices for each of many rows. What is asked for meanwhile is the table's next rows in place of the next indices. */
static void together_task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    const int64_t count = problem->at.count, size = problem->size, width = problem->index.itemsize;
    together_walk walk;
    positions p;
    (void)worker;
    positions_of(&p, problem, j->run->second, problem->at.ndim > 0 ? problem->at.stride[LOOKUP_FROM][0] : 0, count);
    if (p.bad >= 0) {
        tess_lookup_note(&j->first_bad, p.bad);
        return;
    }
    const int fills = p.fills;
    together_repeat(&p, count, tess_min64(j->rows, end - begin), j->apart);
    together_start(&walk, problem, begin, end, j->rows);
    while (together_next(&walk)) {
        lookup_segment s = {
            .table = j->run->in + walk.index.offset[LOOKUP_FROM], .out = j->run->out + walk.index.offset[LOOKUP_OUT], .count = walk.rows * count};
        s.index = s.table + walk.rows * j->apart * problem->step - s.count * width;
        fetch(j, &s, (walk.rows - 1) * j->apart + problem->n, width, size, p.entry, p.entry, 0);
        p.fills = fills * (int)walk.rows;
        positions_fill(&p, s.out, size, problem->fill, size);
    }
}

tess_status TESS_ISA_NAME(tess_lookup_gather)(const tess_problem *base, const tess_run *run) {
    enum { FAR_TABLE = 16 << 20 }; /* bytes: with 4 MiB asking ahead took a quarter longer */
    /* Pieces for each thread, where there are enough; runs of a piece. Of 16 runs each they took two threads up to half as long again as of 256. */
    enum { SHARES = 16, LEAST_RUNS = 16, MOST_RUNS = 256 };
    const lookup_problem *problem = (const lookup_problem *)base;
    lookup_problem turned;
    if (problem->inner.count > 1) { /* slices of single elements: their axes are some more that each row of indices is looked up for */
        turned = *problem;
        for (int d = 0; d < problem->inner.ndim; d++) {
            turned.outer.shape[turned.outer.ndim] = problem->inner.shape[d];
            for (int list = 0; list < 2; list++)
                turned.outer.stride[list][turned.outer.ndim] = problem->inner.stride[list][d];
            turned.outer.ndim++;
        }
        turned.outer.count *= problem->inner.count;
        turned.inner = (lookup_axes){.count = 1};
        problem = &turned;
    }
    job j = {.problem = problem,
             .run = run,
             .first_bad = INT64_MAX,
             .stream = problem->base.elements * (double)problem->size > 8 << 20,
             .loads = TESS_COLLECTS && !tess_cpu_gathers()};
    const lookup_axes *at = &problem->at;
    const int last = at->ndim - 1;
    j.far = problem->step == problem->size && (problem->size == 4 || problem->size == 8) && problem->n * problem->size >= FAR_TABLE;
    if (j.loads && !j.far && problem->step == problem->size && last >= 0 && at->stride[LOOKUP_FROM][last] == problem->index.itemsize &&
        at->stride[LOOKUP_OUT][last] == problem->size)
        j.collect = collected_for(problem->size, problem->index.itemsize);
    j.limit = collected_limit(problem);
    j.rows = together_rows(problem, problem->size, &j.apart);
    if (j.rows > 0) {
        j.far = false;
        TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count, LEAST_RUNS * j.rows, together_task, &j));
        const int64_t first_bad = atomic_load(&j.first_bad);
        return first_bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, first_bad);
    }
    const int64_t lookups = problem->outer.count * problem->at.count, share = lookups / (SHARES * (int64_t)run->threads) / LOOKUP_BLOCK;
    const int64_t grain = tess_min64(tess_max64(share, LEAST_RUNS), MOST_RUNS) * LOOKUP_BLOCK;
    TESS_TRY(tess_parallel(run->context, run->threads, lookups, grain, task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}

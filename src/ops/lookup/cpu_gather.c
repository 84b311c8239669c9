/* SPDX-License-Identifier: Apache-2.0
 * cpu_gather.c - single elements from a table of any size, in two steps a run: all indices are checked and made safe, then the elements are fetched.
 *
 * Splitting the steps keeps the check free of branches and lets many fetches be under way at once; a check inside the fetch would wait for each
 * index. ERROR is found in the first step: the smallest bad position of all threads is the one that is named, whichever thread came first. */
#include "core/parallel.h"
#include "ops/lookup/positions.h"
#include "simd/lanes.h"

tess_status TESS_ISA_NAME(tess_lookup_gather)(const tess_problem *base, const tess_run *run);

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    bool stream;
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

/* Elements of 4 and 8 bytes without gaps on both sides; the vectors that fill whole lines of out go past the caches when `stream`. */
#if defined(__AVX512F__)
static void fetch_lines(char *out, const char *table, const int32_t *entry, int64_t count, int64_t size, bool stream) {
    int64_t lanes = 64 / size, i = 0;
    int64_t head = stream ? tess_min64(count, (-(int64_t)((uintptr_t)out) & 63) / size) : 0;
    stream = stream && ((uintptr_t)out + (uintptr_t)(head * size)) % 64 == 0;
    (size == 4 ? fetch_4 : fetch_8)(out, size, table, size, entry, head);
    for (i = head; i + lanes <= count; i += lanes) {
        __m512i v = size == 4 ? _mm512_i32gather_epi32(_mm512_loadu_si512(entry + i), table, 4)
                              : _mm512_i32gather_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(entry + i)), table, 8);
        if (stream)
            v_bytes_stream(out + i * size, (v_bytes)v);
        else
            v_bytes_store(out + i * size, (v_bytes)v);
    }
    (size == 4 ? fetch_4 : fetch_8)(out + i * size, size, table, size, entry + i, count - i);
}
#endif

static void fetch(const job *j, const lookup_segment *s, int64_t out_step, const int32_t *entry) {
    int64_t size = j->problem->size, step = j->problem->step;
#if defined(__AVX512F__)
    if ((size == 4 || size == 8) && step == size && out_step == size) {
        fetch_lines(s->out, s->table, entry, s->count, size, j->stream);
        return;
    }
#endif
    switch (size) {
    case 1: fetch_1(s->out, out_step, s->table, step, entry, s->count); break;
    case 2: fetch_2(s->out, out_step, s->table, step, entry, s->count); break;
    case 4: fetch_4(s->out, out_step, s->table, step, entry, s->count); break;
    case 8: fetch_8(s->out, out_step, s->table, step, entry, s->count); break;
    default: fetch_16(s->out, out_step, s->table, step, entry, s->count); break;
    }
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
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
            return; /* what follows in this piece is behind it, or the same indices again */
        }
        fetch(j, &s, walk.out_step, p.entry);
        for (int k = 0; k < p.fills; k++)
            memcpy(s.out + p.filled[k] * walk.out_step, problem->fill, (size_t)problem->size);
    }
    tess_stream_fence();
}

tess_status TESS_ISA_NAME(tess_lookup_gather)(const tess_problem *base, const tess_run *run) {
    const lookup_problem *problem = (const lookup_problem *)base;
    job j = {.problem = problem, .run = run, .first_bad = INT64_MAX, .stream = problem->base.elements * (double)problem->size > 8 << 20};
    TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count * problem->at.count, 16 * LOOKUP_BLOCK, task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}

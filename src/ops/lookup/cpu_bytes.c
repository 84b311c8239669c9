/* SPDX-License-Identifier: Apache-2.0
 * cpu_bytes.c - at most 256 entries: the index becomes a byte, and the policy is in the table.
 *
 * The line of the table is written out as 256 elements, one for each value of the byte, with CLIP, WRAP and FILL already applied. With AVX-512 VBMI
 * the 256 elements lie in registers (planes.h), and memory sets the pace. With AVX2 single bytes are shuffled likewise. Elsewhere the 256 elements lie in the
 * first-level cache, and no element is checked. */
#include "core/maker.h"
#include "core/parallel.h"
#include "ops/lookup/planes.h"
#include "ops/lookup/positions.h"
#include "simd/collect.h"

enum { TASK = 256 * LOOKUP_BLOCK, AHEAD = 2048 }; /* indices; how far they are asked for ahead, in bytes */

tess_status TESS_ISA_NAME(tess_lookup_bytes)(const tess_problem *base, const tess_run *run);

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    int limit; /* an 8-bit index at or above it is an error */
    bool stream;
} job;

typedef struct byte_table {
    _Alignas(64) unsigned char element[256 * 8];
    _Alignas(64) unsigned char plane[4][256];
} byte_table;

/* Writes out the line of the table. Values that cannot come or are errors read entry 0. */
static void fill_table(byte_table *restrict t, const lookup_problem *problem, const char *restrict table) {
    const bool direct = problem->index.itemsize == 1;
    const int64_t size = problem->size, n = problem->n;
    if (problem->step == size && n >= 256 && problem->index.type != tess_i8) {
        memcpy(t->element, table, (size_t)(256 * size));
    } else {
        for (int v = 0; v < 256; v++) {
            unsigned char byte[8] = {(unsigned char)v}; /* as wide as the widest index */
            const void *from;
            int64_t entry = v < n ? v : 0;
            bool inside = !direct || tess_lookup_entry(problem, (const char *)byte, &entry) || problem->outside == TESS_OUTSIDE_ERROR;
            if (direct && inside && (entry < 0 || entry >= n))
                entry = 0;
            from = inside ? (const void *)(table + entry * problem->step) : problem->fill;
            memcpy(t->element + v * size, from, (size_t)size);
        }
    }
#if defined(__AVX512VBMI__)
    for (int64_t b = 0; b < size && size <= 4; b++)
        for (int v = 0; v < 256; v++)
            t->plane[b][v] = t->element[v * size + b];
#endif
}

#define LOOK_UP(name, type)                                                                                 \
    static void look_up_##name(char *out, const unsigned char *index, int64_t count, const byte_table *t) { \
        for (int64_t i = 0; i < count; i++)                                                                 \
            memcpy(out + i * (int64_t)sizeof(type), t->element + index[i] * sizeof(type), sizeof(type));    \
    }
LOOK_UP(1, uint8_t)
LOOK_UP(2, uint16_t)
LOOK_UP(4, uint32_t)
LOOK_UP(8, uint64_t)

#if TESS_VECTOR_BYTES > 16
/* The compilers' own widening of so few bytes takes them apart one by one. */
#if TESS_VECTOR_BYTES == 32
TESS_INLINE void four_numbers(uint32_t *at, const unsigned char *index) {
    int32_t bytes;
    memcpy(&bytes, index, sizeof bytes);
    _mm_storeu_si128((__m128i *)(void *)at, _mm_cvtepu8_epi32(_mm_cvtsi32_si128(bytes)));
}
#endif
TESS_INLINE void eight_numbers(uint32_t *at, const unsigned char *index) {
    _mm256_storeu_si256((__m256i *)(void *)at, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)index)));
}

/* Elements of 4 and 8 bytes by the processor's gather, out of the first-level cache: whole vectors; returns how many indices were done. */
#define GATHER(size, vector, LANES, numbers)                                                                                                 \
    static int64_t gather_##size(char *out, const unsigned char *index, int64_t count, const byte_table *t, bool stream, const char *source, \
                                 int64_t width) {                                                                                            \
        int64_t i = 0;                                                                                                                       \
        for (; i + LANES <= count; i += LANES) {                                                                                             \
            uint32_t at[LANES];                                                                                                              \
            numbers(at, index + i);                                                                                                          \
            const v_bytes v = (v_bytes)vector##_gather(t->element, at);                                                                      \
            tess_prefetch_l2(source + AHEAD + i * width);                                                                                    \
            if (stream)                                                                                                                      \
                v_bytes_stream(out + i * size, v);                                                                                           \
            else                                                                                                                             \
                v_bytes_store(out + i * size, v);                                                                                            \
        }                                                                                                                                    \
        return i;                                                                                                                            \
    }
#if TESS_VECTOR_BYTES == 64
GATHER(8, v_f64, TESS_F64_LANES, eight_numbers)
#else
GATHER(8, v_f64, TESS_F64_LANES, four_numbers)
GATHER(4, v_f32, TESS_F32_LANES, eight_numbers)
#endif
#endif

#if TESS_VECTOR_BYTES > 16
/* The same by a load an element; 64 indices at a time. */
#define COLLECT(size)                                                                                                                         \
    static int64_t collect_##size(char *out, const unsigned char *index, int64_t count, const byte_table *t, bool stream, const char *source, \
                                  int64_t width) {                                                                                            \
        int64_t i = 0;                                                                                                                        \
        for (; i + 64 <= count; i += 64) {                                                                                                    \
            for (int64_t line = 0; line < width; line++)                                                                                      \
                tess_prefetch_l2(source + AHEAD + i * width + 64 * line);                                                                     \
            for (int64_t k = i; k < i + 64; k += TESS_VECTOR_BYTES / size) {                                                                  \
                const v_bytes v = v_collect(false, size, 1, (const char *)t->element, (const char *)index + k);                               \
                if (stream)                                                                                                                   \
                    v_bytes_stream(out + k * size, v);                                                                                        \
                else                                                                                                                          \
                    v_bytes_store(out + k * size, v);                                                                                         \
            }                                                                                                                                 \
        }                                                                                                                                     \
        return i;                                                                                                                             \
    }
COLLECT(8)
#if TESS_VECTOR_BYTES == 32
COLLECT(4)
COLLECT(2)
#endif
#endif

#if TESS_VECTOR_BYTES == 32
/* Single bytes with AVX2: a shuffle knows 16 entries, so 16 shuffles know them all, and the index's upper four bits choose. A shuffle gives 0 where the top
 * bit of its index is set, which chooses between the two halves of the 256 entries for nothing but an or; blends, which look at top bits too, choose by
 * the other three. Two vectors of indices share the loads of the 16 entries, for which there are too few registers. */
enum { SHUFFLED = 64, SHUFFLES_AHEAD = 4096 }; /* indices at a time; how far they are asked for ahead */
TESS_INLINE void shuffles_choose(__m256i *best, const __m256i *other, const __m256i *at, int bit) {
    for (int v = 0; v < 2; v++)
        best[v] = _mm256_blendv_epi8(best[v], other[v], _mm256_slli_epi16(at[v], 7 - bit));
}
/* Of entries 16 k .. and 128 + 16 k .. */
TESS_INLINE void shuffles_of(__m256i *to, const __m256i *table, int k, const __m256i *low, const __m256i *high) {
    const __m256i a = table[k], b = table[k + 8];
    for (int v = 0; v < 2; v++)
        to[v] = _mm256_or_si256(_mm256_shuffle_epi8(a, low[v]), _mm256_shuffle_epi8(b, high[v]));
}
static int64_t shuffles_look_up(char *out, const unsigned char *index, int64_t count, const byte_table *t, bool stream) {
    __m256i table[16];
    for (int k = 0; k < 16; k++)
        table[k] = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)(t->element + 16 * k)));
    int64_t i = 0;
    for (; i + SHUFFLED <= count; i += SHUFFLED) {
        __m256i at[2], low[2], high[2], r[4][2], next[2];
        for (int v = 0; v < 2; v++) {
            at[v] = _mm256_loadu_si256((const __m256i *)(const void *)(index + i + 32 * v));
            low[v] = _mm256_and_si256(at[v], _mm256_set1_epi8((char)0x8f));
            high[v] = _mm256_xor_si256(low[v], _mm256_set1_epi8(-128));
        }
        tess_prefetch_l2(index + i + SHUFFLES_AHEAD);
        for (int k = 0; k < 4; k++) {
            shuffles_of(r[k], table, 2 * k, low, high);
            shuffles_of(next, table, 2 * k + 1, low, high);
            shuffles_choose(r[k], next, at, 4);
            if (k % 2 == 1)
                shuffles_choose(r[k - 1], r[k], at, 5);
        }
        shuffles_choose(r[0], r[2], at, 6);
        for (int v = 0; v < 2; v++)
            if (stream)
                v_bytes_stream(out + i + 32 * v, (v_bytes)r[0][v]);
            else
                v_bytes_store(out + i + 32 * v, (v_bytes)r[0][v]);
    }
    return i;
}
#endif

/* Indices straight from the array, as many as can be: all of 1 byte, others until some are outside. */
static int64_t look_up_whole(char *out, const char *index, int width, int64_t count, const lookup_problem *problem, const byte_table *t,
                             bool stream) {
#if defined(__AVX512VBMI__)
    /* Zen 4 wants the lines of the index in the first-level cache: f32[256] by i32 6.9 -> 5.8 ms, by i64 6.9 -> 5.4, u8[256] by u8 6.3 -> 3.7. */
    const unsigned last = width == 1 ? 255 : (unsigned)problem->n - 1;
    stream = stream && (uintptr_t)out % 64 == 0;
    const asked how = asked_for(stream);
    switch (problem->size) {
    case 1: return planes_1(width, out, index, count, t->plane, last, stream, how);
    case 2: return planes_2(width, out, index, count, t->plane, last, stream, how);
    case 4: return planes_4(width, out, index, count, t->plane, last, stream, how);
    default: return 0;
    }
#else
    (void)out, (void)index, (void)width, (void)count, (void)problem, (void)t, (void)stream;
    return 0;
#endif
}

/* Indices as bytes, made from indices of `width` bytes at `source`, whose lines are asked for ahead. */
static void look_up(char *out, const unsigned char *index, int64_t count, int64_t size, const byte_table *t, bool stream, const char *source,
                    int64_t width) {
    int64_t done = 0;
    const bool loads = !tess_cpu_gathers();
    stream = stream && (uintptr_t)out % 64 == 0;
#if defined(__AVX512VBMI__)
    if (size == 8)
        done = (loads ? collect_8 : gather_8)(out, index, count, t, stream, source, width);
#elif TESS_VECTOR_BYTES == 32
    switch (size) {
    case 1: done = shuffles_look_up(out, index, count, t, stream); break;
    case 2: done = loads ? collect_2(out, index, count, t, stream, source, width) : 0; break;
    case 4: done = (loads ? collect_4 : gather_4)(out, index, count, t, stream, source, width); break;
    default: done = (loads ? collect_8 : gather_8)(out, index, count, t, stream, source, width); break;
    }
#else
    (void)stream;
    (void)source;
    (void)width;
    (void)loads;
#endif
    out += done * size;
    index += done;
    count -= done;
    switch (size) {
    case 1: look_up_1(out, index, count, t); break;
    case 2: look_up_2(out, index, count, t); break;
    case 4: look_up_4(out, index, count, t); break;
    default: look_up_8(out, index, count, t); break;
    }
}

#define NARROW_PASS(type, unsigned_type)                         \
    for (int64_t i = 0; i < count; i++) {                        \
        type v;                                                  \
        memcpy(&v, index + i * (int64_t)sizeof(type), sizeof v); \
        narrow[i] = (unsigned char)v;                            \
        outside |= (unsigned_type)v >= (unsigned_type)n;         \
    }

/* First byte at or above the limit, or -1. */
static int64_t first_above(const unsigned char *index, int64_t count, int limit) {
    unsigned above = 0;
    unsigned char last = (unsigned char)(limit - 1);
    for (int64_t i = 0; i < count; i++)
        above |= index[i] > last;
    for (int64_t i = 0; above && i < count; i++)
        if (index[i] > last)
            return i;
    return -1;
}

/* Indices without gaps as bytes; false when one is outside, and what was written is then of no use. */
static bool narrow_of(unsigned char *restrict narrow, const lookup_problem *problem, const char *restrict index, int64_t count) {
    const int64_t n = problem->n;
    unsigned outside = 0;
#define NARROW_CASE(tess, type, unsigned_type) \
    case tess: NARROW_PASS(type, unsigned_type) break;
    BY_INDEX_TYPE(NARROW_CASE)
#undef NARROW_CASE
    return !outside;
}

/* A segment of byte indices; returns the place of one outside, or -1. */
static int64_t bytes_segment(const job *j, const lookup_segment *s, const byte_table *t, bool checked) {
    const unsigned char *index = (const unsigned char *)s->index;
    const int64_t size = j->problem->size, bad = checked ? first_above(index, s->count, j->limit) : -1;
    if (bad >= 0)
        return bad;
    const int64_t done = look_up_whole(s->out, s->index, 1, s->count, j->problem, t, j->stream);
    look_up(s->out + done * size, index + done, s->count - done, size, t, j->stream, s->index + done, 1);
    return -1;
}

/* The same of wider indices: in one pass as far as that goes, then a block by way of bytes, and so on. */
static int64_t wide_segment(const job *j, const lookup_segment *s, const byte_table *t, int64_t in_step) {
    const lookup_problem *problem = j->problem;
    const int64_t size = problem->size, width = problem->index.itemsize;
    for (int64_t i = 0; i < s->count;) {
        i += look_up_whole(s->out + i * size, s->index + i * width, (int)width, s->count - i, problem, t, j->stream);
        const int64_t count = tess_min64(s->count - i, LOOKUP_BLOCK);
        const char *index = s->index + i * width;
        unsigned char narrow[LOOKUP_BLOCK];
        positions p;
        p.fills = 0;
        if (!narrow_of(narrow, problem, index, count)) {
            positions_of(&p, problem, index, in_step, count);
            if (p.bad >= 0)
                return i + p.bad;
            for (int64_t k = 0; k < count; k++)
                narrow[k] = (unsigned char)p.entry[k];
        }
        look_up(s->out + i * size, narrow, count, size, t, j->stream, index, width);
        positions_fill(&p, s->out + i * size, size, problem->fill, size);
        i += count;
    }
    return -1;
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    const char *line = NULL;
    byte_table t;
    lookup_walk walk;
    lookup_segment s;
    (void)worker;
    /* In runs as long as a task (bytes of 4096: 102 % of copying, now 111; Zen 4); bytes that are checked before they are used in what stays in L1. */
    const bool bytes = problem->index.itemsize == 1, checked = problem->outside == TESS_OUTSIDE_ERROR && j->limit < 256;
    tess_lookup_walk_start(&walk, problem, j->run, begin, end, bytes && checked ? 4 * LOOKUP_BLOCK : TASK);
    while (tess_lookup_walk_next(&walk, &s)) {
        if (s.table != line)
            fill_table(&t, problem, line = s.table);
        const int64_t bad = bytes ? bytes_segment(j, &s, &t, checked) : wide_segment(j, &s, &t, walk.in_step);
        if (bad >= 0) {
            tess_lookup_note(&j->first_bad, s.position + bad);
            return;
        }
    }
}

tess_status TESS_ISA_NAME(tess_lookup_bytes)(const tess_problem *base, const tess_run *run) {
    const lookup_problem *problem = (const lookup_problem *)base;
    job j = {.problem = problem, .run = run, .first_bad = INT64_MAX, .stream = problem->base.elements * (double)problem->size > 8 << 20};
    j.limit = (int)tess_min64(problem->n, problem->index.type == tess_i8 ? 128 : 256);
    TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count * problem->at.count, TASK, task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}

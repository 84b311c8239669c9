/* SPDX-License-Identifier: Apache-2.0
 * hostile.h - arrays that bite: random shapes, strides of any sign, odd byte offsets, poisoned surroundings.
 *
 * A hostile array is a view into a larger block. Everything in the block that is not an element is filled with a pattern; hostile_intact tells
 * whether it still is after a call, so a write beside the output is seen. Two in three arrays begin or end where their block does, and there lies a page that
 * nothing may touch, so that a read outside stops the program: those of AVX-512's masks, too, which AddressSanitizer does not look at. Under a sanitizer
 * the block comes from the heap, which it fences. */
#ifndef TESS_TESTS_HOSTILE_H
#define TESS_TESTS_HOSTILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base.h"
#include "core/cutover.h"
#include "tessera.h"

#include <cmocka.h>

/* In place of the library's: so that threads take part in work that is quickly checked. In a section of its own AddressSanitizer lets two be. */
__attribute__((section(".rodata.cutover"))) const double tess_thread_cutover = 65536;

/* Whether the case of this number, or sum of the counters of a table's loops, is one of so many in `every` that are passed over: all but those whose number times the golden ratio has a small
 * fraction (Weyl's sequence). By remainders, what a table chooses by the same remainder, or a loop of that length, would come with one value only. */
static inline bool hostile_left_out(int64_t number, int every) { return (uint64_t)number * 0x9e3779b97f4a7c15u >= UINT64_MAX / (uint64_t)every; }

/* Whether a sanitizer may do without this case: what it looks into is code, which one case in `every` shows as well as all do. */
static inline bool hostile_spared(int64_t number, int every) { return TESS_SANITIZED && hostile_left_out(number, every); }

/* SplitMix64 (Steele, Lea, Flood 2014): every test seeds it, so failures repeat. */
static inline uint64_t hostile_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline int64_t hostile_between(uint64_t *state, int64_t low, int64_t high) {                 /* inclusive */
    return (int64_t)((uint64_t)low + hostile_random(state) % ((uint64_t)high - (uint64_t)low + 1)); /* high - low may pass 2^63 */
}

typedef struct hostile_array {
    DLTensor tensor; /* points into this structure: do not copy it */
    int64_t shape[TESS_MAX_NDIM], strides[TESS_MAX_NDIM];
    unsigned char *block, *fenced; /* fenced: what was mapped for the block, its two closed pages among it */
    size_t block_size, fenced_size;
    int itemsize;
} hostile_array;

enum {
    HOSTILE_COMPACT,
    HOSTILE_STRIDED,
    HOSTILE_LAYOUTS,
    HOSTILE_ALIGNED
}; /* compact row-major at an odd element offset; any order of axes, gaps, signs, odd byte offset; the same without that offset */
#define HOSTILE_POISON 0xa5

static inline char *hostile_first(const hostile_array *a) { return (char *)a->tensor.data + a->tensor.byte_offset; }

/* The address of element number i in row-major order. */
static inline char *hostile_element(const hostile_array *a, int64_t i) {
    char *p = hostile_first(a);
    for (int d = a->tensor.ndim - 1; d >= 0; d--) {
        p += i % a->shape[d] * a->strides[d] * a->itemsize;
        i /= a->shape[d];
    }
    return p;
}
static inline int64_t hostile_count(const hostile_array *a) {
    int64_t n = 1;
    for (int d = 0; d < a->tensor.ndim; d++)
        n *= a->shape[d];
    return n;
}

/* The elements as lines along the last axis, `step` bytes apart; all of a compact array are one line. What is done element by element takes its time: an address
 * above is a division an axis, and sanitizers look at each call of memcmp and memset. */
typedef struct hostile_line {
    char *at;
    int64_t count, step;
} hostile_line;

static inline bool hostile_is_compact(const hostile_array *a) {
    int64_t span = 1;
    for (int d = a->tensor.ndim - 1; d >= 0; span *= a->shape[d--])
        if (a->strides[d] != span)
            return false;
    return true;
}
static inline int64_t hostile_lines(const hostile_array *a, bool whole) {
    int64_t count = hostile_count(a);
    return whole || count == 0 ? count > 0 : count / a->shape[a->tensor.ndim - 1];
}
static inline hostile_line hostile_line_at(const hostile_array *a, bool whole, int64_t number) {
    const int last = a->tensor.ndim - 1;
    if (whole)
        return (hostile_line){hostile_first(a), hostile_count(a), a->itemsize};
    return (hostile_line){hostile_element(a, number * a->shape[last]), a->shape[last], a->strides[last] * a->itemsize};
}

/* One element to another place. */
static inline void hostile_set(char *to, const char *from, int size) {
    switch (size) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, 16);
    }
}
static inline bool hostile_same(const char *x, const char *y, int size) {
    uint64_t a[2] = {0}, b[2] = {0};
    hostile_set((char *)a, x, size);
    hostile_set((char *)b, y, size);
    return a[0] == b[0] && a[1] == b[1];
}

/* Any order of what stands there (Fisher, Yates). */
static inline void hostile_shuffle(uint64_t *random, int n, int *order) {
    for (int d = n - 1; d > 0; d--) {
        int other = (int)hostile_between(random, 0, d), t = order[d];
        order[d] = order[other];
        order[other] = t;
    }
}

/* A small array's shape: at most `most` elements, seldom none. */
static inline void hostile_shape(uint64_t *random, int ndim, int64_t *shape, int64_t most) {
    for (int d = 0; d < ndim; d++) {
        shape[d] = hostile_between(random, hostile_between(random, 0, 30) ? 1 : 0, ndim == 1 ? most : ndim == 2 ? 60 : 12);
        shape[d] = shape[d] > most ? most : shape[d];
        most /= shape[d] ? shape[d] : 1;
    }
}

/* Mappings of arrays that are no longer needed, for others of that size: the first touch of a page costs more than a small array. One cache a thread. */
typedef struct hostile_mapping {
    unsigned char *at;
    size_t size;
} hostile_mapping;
enum { HOSTILE_PAGE = 4096, HOSTILE_LINE = 64, HOSTILE_KEPT = 8 };
static _Thread_local hostile_mapping hostile_kept[HOSTILE_KEPT];
static _Thread_local unsigned hostile_kept_next;

static inline unsigned char *hostile_map(size_t size) {
    for (int i = 0; i < HOSTILE_KEPT; i++)
        if (hostile_kept[i].size == size) {
            hostile_kept[i].size = 0;
            return hostile_kept[i].at;
        }
    unsigned char *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(at != MAP_FAILED);
    assert_int_equal(mprotect(at + HOSTILE_PAGE, size - 2 * HOSTILE_PAGE, PROT_READ | PROT_WRITE), 0);
    return at;
}
static inline void hostile_unmap(unsigned char *at, size_t size) {
    if (size > 16 << 20) {
        munmap(at, size);
        return;
    }
    hostile_mapping *oldest = &hostile_kept[hostile_kept_next++ % HOSTILE_KEPT];
    if (oldest->size > 0)
        munmap(oldest->at, oldest->size);
    *oldest = (hostile_mapping){at, size};
}

/* A block of block_size bytes: between two closed pages, against the second of them (to a multiple of `alignment` bytes, which divides a page) or against the first. */
static inline void hostile_allocate(hostile_array *a, bool at_end, size_t alignment) {
    if (TESS_SANITIZED) {
        assert_int_equal(posix_memalign((void **)&a->block, HOSTILE_LINE, a->block_size), 0);
        return;
    }
    const size_t room = (a->block_size + HOSTILE_PAGE - 1) / HOSTILE_PAGE * HOSTILE_PAGE;
    a->fenced_size = room + 2 * HOSTILE_PAGE;
    a->fenced = hostile_map(a->fenced_size);
    a->block = a->fenced + HOSTILE_PAGE + (at_end ? (room - a->block_size) / alignment * alignment : 0);
}
static inline void hostile_free(hostile_array *a) {
    if (a->fenced)
        hostile_unmap(a->fenced, a->fenced_size);
    else
        free(a->block);
}

/* What an array keeps to its block's ends: nothing to one of them, by what the random numbers have come to without drawing one. */
enum { HOSTILE_BEGINS = 1, HOSTILE_ENDS };
static inline int hostile_fence(const uint64_t *random) { return (int)((*random >> 33) % 3); }

static inline void hostile_make(hostile_array *a, uint64_t *random, tess_type type, int ndim, const int64_t *shape, int layout) {
    memset(a, 0, sizeof *a);
    a->itemsize = (int)tess_type_size(type);
    int order[TESS_MAX_NDIM]; /* fastest first */
    for (int d = 0; d < ndim; d++) {
        a->shape[d] = shape[d];
        order[d] = ndim - 1 - d;
    }
    if (layout != HOSTILE_COMPACT)
        hostile_shuffle(random, ndim, order);
    int64_t span = 1, first = 0;
    for (int k = 0; k < ndim; k++) {
        int d = order[k];
        int64_t size = shape[d] > 0 ? shape[d] : 1, step = span;
        if (layout != HOSTILE_COMPACT) {
            step += hostile_between(random, 0, 1) * hostile_between(random, 0, 3);
            if (hostile_between(random, 0, 2) == 0) {
                first += step * (size - 1);
                step = -step;
            }
        }
        a->strides[d] = step;
        span = (step < 0 ? -step : step) * size;
    }
    const int64_t margin = hostile_between(random, 1, 40), bytes_off = layout == HOSTILE_STRIDED ? hostile_between(random, 0, 7) : 0;
    const int fence = hostile_fence(random);
    const int64_t before = fence == HOSTILE_BEGINS ? 0 : margin, after = fence == HOSTILE_ENDS ? 0 : margin;
    a->block_size = (size_t)((before + span + after) * a->itemsize + bytes_off);
    hostile_allocate(a, fence != HOSTILE_BEGINS, bytes_off ? 16 : (size_t)a->itemsize);
    memset(a->block, HOSTILE_POISON, a->block_size);
    a->tensor = tess_view(a->block, type, ndim, a->shape, a->strides);
    a->tensor.byte_offset = (uint64_t)((before + first) * a->itemsize + bytes_off);
}

/* f as f16 or bf16, cut off; magnitudes that are f16's or 0. */
static inline uint16_t hostile_half(tess_type type, float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    const uint32_t magnitude = u & 0x7fffffff, h = magnitude < 0x38800000u ? 0 : (magnitude - 0x38000000u) >> 13;
    return (uint16_t)(type == tess_f16 ? h | (u >> 16 & 0x8000) : u >> 16);
}

/* Fills every element with random bytes that make sense for the type: kind 0 small integers (exact in every type), 1 values over a few magnitudes, 2
 * any bits. */
static inline void hostile_fill(hostile_array *a, uint64_t *random, int kind) {
    const tess_type type = tess_type_of(a->tensor.dtype);
    const bool whole = hostile_is_compact(a);
    const int parts = type >= tess_c64 ? 2 : 1, width = a->itemsize / parts;
    hostile_line line = {0};
    for (int64_t i = 0, count = hostile_count(a), next = 0; i < count; i++) {
        if (i == next) {
            line = hostile_line_at(a, whole, whole ? 0 : i / a->shape[a->tensor.ndim - 1]);
            next += line.count;
        }
        char *p = line.at;
        line.at += line.step;
        for (int k = 0; k < parts; k++, p += width) {
            uint64_t bits = hostile_random(random);
            double x = kind == 0 ? (double)(int64_t)(bits % 17) - 8 : ((double)(bits >> 11) * 0x1p-53 - 0.5) * (double)(1 << (bits & 7));
            if (type == tess_bool) {
                *p = (char)(bits & 1);
            } else if (kind == 2 || (type < tess_f16 && kind != 0)) {
                memcpy(p, &bits, (size_t)width);
            } else if (type < tess_f16) {
                int64_t v = (int64_t)x;
                if (v < 0 && (type == tess_u8 || type == tess_u16 || type == tess_u32 || type == tess_u64))
                    v = -v;
                memcpy(p, &v, (size_t)width);
            } else if (type == tess_f64 || type == tess_c128) {
                memcpy(p, &x, 8);
            } else if (type == tess_f32 || type == tess_c64) {
                float f = (float)x;
                memcpy(p, &f, 4);
            } else { /* f16, bf16: a random finite pattern of moderate exponent, or a small integer */
                const uint16_t h = hostile_half(type, (float)x);
                memcpy(p, &h, 2);
            }
        }
    }
}

static inline bool hostile_poisoned(const unsigned char *p, size_t bytes) {
    return bytes == 0 || (*p == HOSTILE_POISON && memcmp(p, p + 1, bytes - 1) == 0);
}

/* Whether every byte of the block that belongs to no element still holds the poison. */
static inline bool hostile_intact(const hostile_array *a) {
    static const char poison[16] = "\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5";
    if (hostile_is_compact(a)) {
        const size_t before = (size_t)(hostile_first(a) - (char *)a->block), end = before + (size_t)(hostile_count(a) * a->itemsize);
        return hostile_poisoned(a->block, before) && hostile_poisoned(a->block + end, a->block_size - end);
    }
    unsigned char *others = malloc(a->block_size); /* the block without its elements */
    memcpy(others, a->block, a->block_size);
    for (int64_t l = 0; l < hostile_lines(a, false); l++) {
        hostile_line line = hostile_line_at(a, false, l);
        char *p = (char *)others + (line.at - (char *)a->block);
        for (int64_t i = 0; i < line.count; i++, p += line.step)
            hostile_set(p, poison, a->itemsize);
    }
    bool intact = hostile_poisoned(others, a->block_size);
    free(others);
    return intact;
}

/* Number of the first element whose bytes differ, or -1. Same shape, same type. */
static inline int64_t hostile_differs(const hostile_array *a, const hostile_array *b) {
    const bool whole = hostile_is_compact(a) && hostile_is_compact(b);
    for (int64_t l = 0; l < hostile_lines(a, whole); l++) {
        hostile_line x = hostile_line_at(a, whole, l), y = hostile_line_at(b, whole, l);
        if (x.step == a->itemsize && y.step == a->itemsize && memcmp(x.at, y.at, (size_t)(x.count * x.step)) == 0)
            continue;
        for (int64_t i = 0; i < x.count; i++)
            if (!hostile_same(x.at + i * x.step, y.at + i * y.step, a->itemsize))
                return l * x.count + i;
    }
    return -1;
}

/* The values of one array in another of the same shape and type. */
static inline void hostile_copy(hostile_array *to, const hostile_array *from) {
    const bool whole = hostile_is_compact(to) && hostile_is_compact(from);
    for (int64_t l = 0; l < hostile_lines(to, whole); l++) {
        hostile_line x = hostile_line_at(to, whole, l), y = hostile_line_at(from, whole, l);
        for (int64_t i = 0; i < x.count; i++)
            hostile_set(x.at + i * x.step, y.at + i * y.step, to->itemsize);
    }
}

#define assert_tess_ok(call)                                                                 \
    do {                                                                                     \
        tess_status hostile_status_ = (call);                                                \
        if (hostile_status_ != TESS_OK)                                                      \
            fail_msg("%s: %s: %s", #call, tess_status_name(hostile_status_), tess_detail()); \
    } while (0)
#define assert_tess_fails(call, status)                                                                                     \
    do {                                                                                                                    \
        tess_status hostile_status_ = (call);                                                                               \
        if (hostile_status_ != (status))                                                                                    \
            fail_msg("%s: %s where %s was expected: %s", #call, tess_status_name(hostile_status_), #status, tess_detail()); \
    } while (0)

#endif

/* SPDX-License-Identifier: Apache-2.0
 * positions.h - a run of integer indices as 32-bit entry numbers that are safe to use; included by the cpu_*.c files that gather.
 *
 * The first pass converts and compares without a branch, so it vectorises; only a run with something outside is looked at again.
 */
#ifndef TESS_OPS_LOOKUP_POSITIONS_H
#define TESS_OPS_LOOKUP_POSITIONS_H

#include "ops/lookup/lookup.h"

enum { LOOKUP_BLOCK = 1024 }; /* indices of a run: entry numbers and results stay in the first-level cache */

typedef struct positions {
    int32_t entry[LOOKUP_BLOCK]; /* 0 for those that get the fill value */
    int16_t filled[LOOKUP_BLOCK];
    int fills;
    int64_t bad; /* first that is an error, -1 when there is none */
} positions;

#define POSITIONS_PASS(type, unsigned_type, step)        \
    for (int64_t i = 0; i < count; i++) {                \
        type v;                                          \
        memcpy(&v, index + i * (step), sizeof v);        \
        p->entry[i] = (int32_t)v;                        \
        outside |= (unsigned_type)v >= (unsigned_type)n; \
    }

#define BY_INDEX_TYPE(CASE)                    \
    switch (problem->index.type) {             \
        CASE(tess_u8, uint8_t, uint32_t)       \
        CASE(tess_i8, int8_t, uint32_t)        \
        CASE(tess_u16, uint16_t, uint32_t)     \
        CASE(tess_i16, int16_t, uint32_t)      \
        CASE(tess_u32, uint32_t, uint32_t)     \
        CASE(tess_i32, int32_t, uint32_t)      \
        CASE(tess_u64, uint64_t, uint64_t)     \
    default: CASE(tess_i64, int64_t, uint64_t) \
    }

/* What lies outside, with the policy: CLIP without a branch, WRAP too where one n more or less is enough, FILL and ERROR by counting what was found. */
#define CLIP_PASS(type)                                                            \
    for (int64_t i = 0; i < count; i++) {                                          \
        type v, top = n - 1 < LARGEST(type) ? (type)(n - 1) : (type)LARGEST(type); \
        memcpy(&v, index + i * step, sizeof v);                                    \
        p->entry[i] = (int32_t)(v > 0 ? v < top ? v : top : 0);                    \
    }
#define WRAP_PASS(type)                         \
    for (int64_t i = 0; i < count; i++) {       \
        type v;                                 \
        memcpy(&v, index + i * step, sizeof v); \
        int64_t near = (int64_t)v;              \
        near += near < 0 ? n : 0;               \
        near -= near >= n ? n : 0;              \
        far |= (uint64_t)near >= (uint64_t)n;   \
        p->entry[i] = (int32_t)near;            \
    }
#define FIND_PASS(type, unsigned_type)                           \
    for (int64_t i = 0; i < count; i++) {                        \
        type v;                                                  \
        memcpy(&v, index + i * step, sizeof v);                  \
        const bool found = (unsigned_type)v >= (unsigned_type)n; \
        p->filled[fills] = (int16_t)i;                           \
        fills += found;                                          \
        p->entry[i] = found ? 0 : (int32_t)v;                    \
    }
#define LARGEST(type) (sizeof(type) == 8 ? INT64_MAX : (INT64_C(1) << (8 * (int)sizeof(type) - ((type)-1 > 0 ? 0 : 1))) - 1)
#define SETTLE_CASE(tess, type, unsigned_type)          \
    case tess:                                          \
        if (problem->outside == TESS_OUTSIDE_CLIP)      \
            CLIP_PASS(type)                             \
        else if (problem->outside == TESS_OUTSIDE_WRAP) \
            WRAP_PASS(type)                             \
        else                                            \
            FIND_PASS(type, unsigned_type)              \
        break;
TESS_NOINLINE static void settle(positions *p, const lookup_problem *problem, const char *index, int64_t step, int64_t count) {
    const int64_t n = problem->n;
    unsigned far = problem->index.type == tess_u64 && problem->outside == TESS_OUTSIDE_WRAP; /* 2^63 and above are not negative */
    int fills = 0;
    BY_INDEX_TYPE(SETTLE_CASE)
    if (problem->outside == TESS_OUTSIDE_ERROR)
        p->bad = fills > 0 ? p->filled[0] : -1;
    else
        p->fills = fills;
    for (int64_t i = 0; far && i < count; i++) {
        int64_t entry;
        tess_lookup_entry(problem, index + i * step, &entry);
        p->entry[i] = (int32_t)entry;
    }
}
#undef SETTLE_CASE
#undef LARGEST
#undef FIND_PASS
#undef WRAP_PASS
#undef CLIP_PASS

/* 0 < problem->n < 2^31. Narrow types compare as 32 bits: a negative index is a large number then. */
static void positions_of(positions *p, const lookup_problem *problem, const char *index, int64_t step, int64_t count) {
    int64_t n = problem->n;
    unsigned outside = 0;
    p->fills = 0;
    p->bad = -1;
#define POSITIONS_CASE(tess, type, unsigned_type)                      \
    case tess:                                                         \
        if (step == (int64_t)sizeof(type))                             \
            POSITIONS_PASS(type, unsigned_type, (int64_t)sizeof(type)) \
        else                                                           \
            POSITIONS_PASS(type, unsigned_type, step)                  \
        break;
    BY_INDEX_TYPE(POSITIONS_CASE)
#undef POSITIONS_CASE
    if (outside)
        settle(p, problem, index, step, count);
}

/* Fill values of `size` bytes at the places p->filled of a run of out. */
TESS_INLINE void positions_fill(const positions *p, char *out, int64_t out_step, const unsigned char *fill, int64_t size) {
    for (int k = 0; k < p->fills; k++) {
        char *to = out + p->filled[k] * out_step;
        switch (size) { /* copies of constant length */
        case 1: memcpy(to, fill, 1); break;
        case 2: memcpy(to, fill, 2); break;
        case 4: memcpy(to, fill, 4); break;
        case 8: memcpy(to, fill, 8); break;
        default: memcpy(to, fill, (size_t)size); break;
        }
    }
}

#endif

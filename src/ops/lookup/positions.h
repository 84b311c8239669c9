/* SPDX-License-Identifier: Apache-2.0
 * positions.h - a run of integer indices as 32-bit entry numbers that are safe to use; included by the cpu_*.c files that gather.
 *
 * The first pass converts and compares without a branch, so it vectorises; only a run with something outside is looked at again, element by element.
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
    if (!outside)
        return;
    for (int64_t i = 0; i < count; i++) {
        int64_t entry;
        if (tess_lookup_entry(problem, index + i * step, &entry)) {
            p->entry[i] = (int32_t)entry;
            continue;
        }
        p->entry[i] = 0;
        if (problem->outside == TESS_OUTSIDE_ERROR) {
            p->bad = i;
            return;
        }
        p->filled[p->fills++] = (int16_t)i;
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * random_problems.h - what a random problem is drawn from: numbers over magnitudes, element types, shapes, layouts, as users have them more often than not.
 *
 * Kernels are chosen by lengths that are whole vectors, by where arrays begin and by the order of their axes, so each of these has a good chance of being the ordinary one. */
#ifndef TESS_TESTS_RANDOM_PROBLEMS_H
#define TESS_TESTS_RANDOM_PROBLEMS_H

#include <math.h>

#include "hostile.h"

static inline bool random_chance(uint64_t *random, int percent) { return hostile_between(random, 1, 100) <= percent; }

/* 1 .. most, as many below 2^k as between it and 2^(k + 1). */
static inline int64_t random_magnitude(uint64_t *random, int64_t most) {
    const double share = (double)hostile_between(random, 0, 1 << 20) * 0x1p-20;
    const int64_t n = (int64_t)exp2(share * log2((double)most + 1));
    return n < 1 ? 1 : n > most ? most : n;
}

static inline tess_type random_of(uint64_t *random, const tess_type *types, int count) { return types[hostile_between(random, 0, count - 1)]; }
static inline tess_type random_type(uint64_t *random, tess_type first, tess_type last) { return (tess_type)hostile_between(random, first, last); }

/* At most `most` elements; the last axis of whole vectors half of the time, seldom an axis without elements. */
static inline void random_shape(uint64_t *random, int ndim, int64_t *shape, int64_t most) {
    int order[TESS_MAX_NDIM];
    int64_t left = random_magnitude(random, most);
    for (int d = 0; d < ndim; d++)
        order[d] = d;
    hostile_shuffle(random, ndim, order);
    for (int k = 0; k < ndim; k++) {
        shape[order[k]] = k < ndim - 1 ? random_magnitude(random, left) : left;
        left /= shape[order[k]];
    }
    if (ndim > 0 && random_chance(random, 50)) {
        const int64_t whole = (int64_t)4 << hostile_between(random, 0, 5), up = (shape[ndim - 1] + whole - 1) / whole * whole;
        shape[ndim - 1] = up < most ? up : shape[ndim - 1];
    }
    if (ndim > 0 && random_chance(random, 2))
        shape[hostile_between(random, 0, ndim - 1)] = 0;
}

/* Without gaps, axes in the given order, slowest first; at a line, or at some element of one. */
static inline void random_ordered(hostile_array *a, uint64_t *random, tess_type type, int ndim, const int64_t *shape, const int *order, bool line) {
    int64_t span = 1;
    memset(a, 0, sizeof *a);
    a->itemsize = (int)tess_type_size(type);
    for (int k = ndim - 1; k >= 0; k--) {
        const int d = order[k];
        a->shape[d] = shape[d];
        a->strides[d] = span;
        span *= shape[d] > 0 ? shape[d] : 1;
    }
    const int64_t of_line = 64 / a->itemsize, drawn = line ? of_line : hostile_between(random, 1, 2 * of_line);
    const int fence = hostile_fence(random);
    const int64_t before = fence == HOSTILE_BEGINS ? 0 : drawn, after = fence == HOSTILE_ENDS ? 0 : of_line;
    a->block_size = (size_t)((before + span + after) * a->itemsize);
    hostile_allocate(a, fence != HOSTILE_BEGINS, line ? 64 : (size_t)a->itemsize);
    memset(a->block, HOSTILE_POISON, a->block_size);
    a->tensor = tess_view(a->block, type, ndim, a->shape, a->strides);
    a->tensor.byte_offset = (uint64_t)(before * a->itemsize);
}

static inline void random_compact(hostile_array *a, uint64_t *random, tess_type type, int ndim, const int64_t *shape) {
    int order[TESS_MAX_NDIM];
    for (int d = 0; d < ndim; d++)
        order[d] = d;
    random_ordered(a, random, type, ndim, shape, order, random_chance(random, 70));
}

/* Seven in ten are compact in the order of their axes, one has these the other way round, one in some order, and one is as hostile as arrays get. */
static inline void random_array(hostile_array *a, uint64_t *random, tess_type type, int ndim, const int64_t *shape) {
    const int64_t kind = hostile_between(random, 0, 9);
    int order[TESS_MAX_NDIM];
    for (int d = 0; d < ndim; d++)
        order[d] = ndim - 1 - d;
    if (kind == 0)
        hostile_make(a, random, type, ndim, shape, HOSTILE_STRIDED);
    else if (kind > 2)
        random_compact(a, random, type, ndim, shape);
    else {
        if (kind == 2)
            hostile_shuffle(random, ndim, order);
        random_ordered(a, random, type, ndim, shape, order, random_chance(random, 50));
    }
}

/* Another array of the same layout whose block holds the same bytes. */
static inline void random_twin(hostile_array *twin, const hostile_array *a) {
    *twin = *a;
    hostile_allocate(twin, true, 1);
    if (a->fenced)
        twin->block = twin->fenced + (a->block - a->fenced);
    memcpy(twin->block, a->block, a->block_size);
    twin->tensor.data = twin->block;
    twin->tensor.shape = twin->shape;
    twin->tensor.strides = twin->strides;
}

/* `count` different axes of ndim; the last ones, in order, more often than not. */
static inline void random_axes(uint64_t *random, int ndim, int count, int *axes) {
    int order[TESS_MAX_NDIM];
    for (int d = 0; d < ndim; d++)
        order[d] = d;
    if (random_chance(random, 40))
        hostile_shuffle(random, ndim, order);
    for (int k = 0; k < count; k++)
        axes[k] = order[ndim - count + k];
}

#endif

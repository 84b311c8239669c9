/* SPDX-License-Identifier: Apache-2.0
 * lookup.h - the contract of the operation: what a checked problem looks like to a row, and where an index points.
 *
 * Axes are in three groups: outer (before the table's axis), index, inner (after it); inside each group axes that step alike are joined. out[o, i, k]
 * comes from table[o, index[i], k]. In a gather, elements have no type, and an inner run that makes 2, 4, 8 or 16 bytes is one element; in an
 * interpolation a complex element is two real ones, the fastest inner axis. */
#ifndef TESS_OPS_LOOKUP_H
#define TESS_OPS_LOOKUP_H

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/convert.h"
#include "core/strategy.h"

extern const tess_op tess_lookup_op;

enum { LOOKUP_FROM = 0, LOOKUP_OUT = 1 }; /* stride lists: of table or index, of out */

typedef struct lookup_axes {
    int ndim;
    int64_t count;
    int64_t shape[TESS_MAX_NDIM];
    int64_t stride[2][TESS_MAX_NDIM]; /* bytes */
} lookup_axes;

typedef struct lookup_problem {
    tess_problem base;
    int axis;
    int64_t n, step; /* entries along the axis, bytes between them */
    tess_outside outside;
    tess_interpolation interpolation;
    int64_t size;           /* bytes of an element of out */
    unsigned char fill[16]; /* one element of out, again and again: slices are written by wider words */
    /* interpolation only */
    tess_type from, compute, to; /* of the table's and out's elements, complex ones split */
    int parts;                   /* 2 when complex elements were split: fill then holds both parts */
    const double *positions;     /* of the entries; NULL: 0, 1, 2, ... */
    double *own_positions;       /* the problem's: n of them, when they are no compact f64 or outlive the call; else NULL */
    /* A part of another problem (slab.c), which outlives it: index number 0 is `first` there. */
    const struct lookup_problem *whole;
    int64_t first;
    /* From here on a simple call clears nothing: arrays are imported, and lists written as far as there are axes. */
    tess_array table, index, out; /* as given */
    lookup_axes outer, at, inner; /* at: the index's axes */
} lookup_problem;

tess_status tess_lookup_sample(const tess_problem *problem, int64_t limit, tess_problem **small);

/* strategies.c: whether there are entries, and elements of out, which all rows but the reference ask for. */
bool tess_lookup_something_to_do(const lookup_problem *problem, const char **why);
/* Bytes between the elements of a group of axes, which is one axis; 0 where it is none. */
TESS_INLINE int64_t tess_lookup_stride(const lookup_axes *axes, int side) { return axes->ndim ? axes->stride[side][0] : 0; }
/* Bytes of an element of the table, of half a complex one where those were split. */
TESS_INLINE int64_t tess_lookup_from_size(const lookup_problem *problem) { return problem->table.itemsize / problem->parts; }

tess_status tess_lookup_check(const tess_problem *base, const char *in, const char *second, const char *out);
void tess_lookup_release(tess_problem *problem);
void tess_lookup_describe(tess_problem *problem);

/* slab.c */
void tess_lookup_cut(const tess_problem *problem, int64_t most, tess_cut *cut);
tess_status tess_lookup_slab(const tess_problem *problem, const tess_cut *cut, int64_t from, int64_t to, tess_slab *slab);

/* The failure that names index number `position` (row-major), read from the array or given as its bytes. */
tess_status tess_lookup_refuse(const lookup_problem *problem, const char *index, int64_t position);
tess_status tess_lookup_refuse_value(const lookup_problem *problem, const char *value, int64_t position);
/* Bytes from the first index to number `position`. */
int64_t tess_lookup_index_offset(const lookup_problem *problem, int64_t position);

/* A run of indices, with the line of the table and the elements of out that belong to it. */
typedef struct lookup_segment {
    const char *table, *index;
    char *out;
    int64_t position, count; /* row-major number of the first index; indices */
} lookup_segment;

/* Walks items begin .. end-1 of outer.count x at.count as runs of at most `most` indices along the last axis of `at`. */
typedef struct lookup_walk {
    const lookup_problem *problem;
    const tess_run *run;
    int64_t item, end, most, row, column; /* row: length of the last axis; column: place on it */
    int64_t in_step, out_step;            /* bytes between indices, elements of out, along a run */
    lookup_axes above;                    /* the axes of `at` but the last */
    tess_index outer, rows;
} lookup_walk;
void tess_lookup_walk_start(lookup_walk *walk, const lookup_problem *problem, const tess_run *run, int64_t begin, int64_t end, int64_t most);
bool tess_lookup_walk_next(lookup_walk *walk, lookup_segment *segment);

TESS_INLINE void tess_lookup_note(_Atomic int64_t *first_bad, int64_t position) {
    int64_t seen = atomic_load_explicit(first_bad, memory_order_relaxed);
    while (position < seen && !atomic_compare_exchange_weak_explicit(first_bad, &seen, position, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* Where an integer index points; false when it lies outside and the policy is ERROR or FILL. problem->n > 0 unless the policy is one of those. */
TESS_INLINE bool tess_lookup_entry(const lookup_problem *problem, const char *index, int64_t *entry) {
    int64_t v = 0, n = problem->n;
    switch (problem->index.type) {
#define READ(tess, type)             \
    case tess: {                     \
        type x;                      \
        memcpy(&x, index, sizeof x); \
        v = (int64_t)x;              \
        break;                       \
    }
        READ(tess_u8, uint8_t)
        READ(tess_i8, int8_t)
        READ(tess_u16, uint16_t)
        READ(tess_i16, int16_t)
        READ(tess_u32, uint32_t)
        READ(tess_i32, int32_t)
        READ(tess_u64, uint64_t)
    default: READ(tess_i64, int64_t)
#undef READ
    }
    bool huge = problem->index.type == tess_u64 && v < 0; /* 2^63 and above */
    *entry = v;
    if (v >= 0 && v < n)
        return true;
    if (problem->outside == TESS_OUTSIDE_CLIP)
        *entry = v < 0 && !huge ? 0 : n - 1;
    else if (problem->outside == TESS_OUTSIDE_WRAP)
        *entry = huge ? (int64_t)((uint64_t)v % (uint64_t)n) : (v % n + n) % n;
    else
        return false;
    return true;
}

typedef enum lookup_kind { LOOKUP_INSIDE, LOOKUP_OUTSIDE, LOOKUP_NAN } lookup_kind;

/* Where a coordinate points: entry + t with 0 <= t < 1 (rounding to f32 may later make it 1), or for NEAREST the entry alone. OUTSIDE: policy ERROR
 * or FILL. NAN: the result is NaN. x is exact in f64 whatever the compute type, and so are the floor and the difference inside; only WRAP of a
 * negative x rounds. */
TESS_INLINE lookup_kind tess_lookup_place(const lookup_problem *problem, double x, int64_t *entry, double *t) {
    int64_t n = problem->n;
    double whole = floor(x);
    *entry = 0;
    *t = 0;
    bool inside = x >= 0 && x < 0x1p63 && ((int64_t)whole < n - 1 || ((int64_t)whole == n - 1 && x == whole));
    if (!inside) {
        if (problem->outside == TESS_OUTSIDE_CLIP) {
            *entry = x > 0 ? n - 1 : 0;
            return LOOKUP_INSIDE;
        }
        if (problem->outside != TESS_OUTSIDE_WRAP)
            return LOOKUP_OUTSIDE;
        x = fmod(x, (double)n);
        if (x != x)
            return LOOKUP_NAN;
        x += x < 0 ? (double)n : 0;
        whole = floor(x);
        if (whole >= (double)n) /* x was a tiny negative number */
            return LOOKUP_INSIDE;
    }
    *entry = (int64_t)whole;
    *t = x - whole;
    if (problem->interpolation == TESS_INTERPOLATE_NEAREST) {
        *entry += *t >= 0.5;
        *entry -= *entry == n ? n : 0; /* only by WRAP */
    }
    return LOOKUP_INSIDE;
}

/* The same for a coordinate among positions; t = 1 is possible, and NEAREST has been decided. The dumb way: see cpu_positions.c for the other one. */
TESS_INLINE lookup_kind tess_lookup_place_among(const lookup_problem *problem, double x, int64_t *entry, double *t) {
    const double *at = problem->positions, last = at[problem->n - 1];
    int64_t k = problem->n - 2;
    *entry = 0;
    *t = 0;
    if (!(x >= at[0] && x <= last)) {
        if (problem->outside != TESS_OUTSIDE_CLIP)
            return LOOKUP_OUTSIDE;
        *entry = x < at[0] ? 0 : problem->n - 1;
        return x == x ? LOOKUP_INSIDE : LOOKUP_NAN;
    }
    if (x >= last) {
        *entry = problem->n - 1;
        return LOOKUP_INSIDE;
    }
    while (k > 0 && at[k] > x)
        k--;
    *entry = k;
    if (x != at[k]) {
        const double share = (x - at[k]) / (at[k + 1] - at[k]);
        *t = share < 1 ? share : 1;
    }
    if (problem->interpolation == TESS_INTERPOLATE_NEAREST) {
        *entry += *t >= 0.5;
        *t = 0;
    }
    return LOOKUP_INSIDE;
}

/* The entry `by` (-1 .. 2) steps away: beyond the ends the end again, or wrapped. */
TESS_INLINE int64_t tess_lookup_neighbour(const lookup_problem *problem, int64_t entry, int by) {
    int64_t n = problem->n, k = entry + by;
    if (k >= 0 && k < n)
        return k;
    if (problem->outside == TESS_OUTSIDE_WRAP)
        return (k % n + n) % n;
    return k < 0 ? 0 : n - 1;
}

/* Numbers that a point needs of each element of a slice. */
TESS_INLINE int64_t tess_lookup_parts(const lookup_problem *problem) {
    return problem->interpolation == TESS_INTERPOLATE_CUBIC ? 4 : problem->interpolation == TESS_INTERPOLATE_LINEAR ? 2 : 1;
}
/* cpu_interpolate_records.c: the longest slices, and bytes of records that are prepared at most. */
enum { LOOKUP_RECORDS_MOST = 512, LOOKUP_RECORDS_BYTES = 1 << 20 };

/* The formulas of tessera.h section 9, in both compute types. */
TESS_INLINE float tess_linear_f32(float y0, float y1, float t) { return t == 0 ? y0 : fmaf(t, y1 - y0, y0); }
TESS_INLINE double tess_linear_f64(double y0, double y1, double t) { return t == 0 ? y0 : fma(t, y1 - y0, y0); }
/* What an entry contributes to every point behind it: p1, c1, c2, c3. */
#define LOOKUP_CUBIC(name, type, fma)                                                         \
    TESS_INLINE void tess_cubic_entry_##name(type c[4], type p0, type p1, type p2, type p3) { \
        c[0] = p1;                                                                            \
        c[1] = p2 - p0;                                                                       \
        c[2] = fma(-5, p1, fma(4, p2, fma(2, p0, -p3)));                                      \
        c[3] = fma(3, p1 - p2, p3 - p0);                                                      \
    }                                                                                         \
    TESS_INLINE type tess_cubic_at_##name(const type c[4], type t) {                          \
        return t == 0 ? c[0] : fma((type)0.5 * t, fma(t, fma(t, c[3], c[2]), c[1]), c[0]);    \
    }                                                                                         \
    TESS_INLINE type tess_cubic_##name(type p0, type p1, type p2, type p3, type t) {          \
        type c[4];                                                                            \
        tess_cubic_entry_##name(c, p0, p1, p2, p3);                                           \
        return tess_cubic_at_##name(c, t);                                                    \
    }
LOOKUP_CUBIC(f32, float, fmaf)
LOOKUP_CUBIC(f64, double, fma)
#undef LOOKUP_CUBIC

#endif

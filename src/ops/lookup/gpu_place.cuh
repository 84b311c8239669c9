// SPDX-License-Identifier: Apache-2.0
// gpu_place.cuh - where a coordinate points, and the formulas of tessera.h section 9: the bits of lookup.h.
//
// -DFROM, -DTO and -DCOMPUTE (T_F32 or T_F64) name types, -DMETHOD=1|2|3 nearest, linear, cubic. -DSINGLE=1: coordinates of at most 32 bits in a table of
// at most 2^24 entries, where f32 is exact: floor and difference lose nothing. Only what lies outside and WRAP goes through f64 then.
#include "ops/lookup/gpu_index.cuh"

#define NEAREST 1
#define LINEAR 2
#define CUBIC 3
typedef stored<INDEX>::type index_type;
typedef stored<COMPUTE>::type real;
typedef stored<FROM>::type from_type;
// A real table may fill a complex output: -DTO=T_C64 or T_C128 then.
#define T_C64 14
#define T_C128 15
#if TO < T_C64
typedef stored<TO>::type to_type;
template <typename X> __device__ __forceinline__ to_type result_of(X x) { return store_as<TO>(x); }
#else
struct alignas(TO == T_C64 ? 8 : 16) to_type {
    stored<TO == T_C64 ? T_F32 : T_F64>::type re, im;
};
template <typename X> __device__ __forceinline__ to_type result_of(X x) { return {store_as<TO == T_C64 ? T_F32 : T_F64>(x), 0}; }
#endif
__device__ __forceinline__ to_type no_number() { return result_of(__longlong_as_double(0x7ff8000000000000ll)); }
// The same bits under another name.
template <typename A, typename B> __device__ __forceinline__ A as(B b) {
    union {
        B b;
        A a;
    } u;
    u.b = b;
    return u.a;
}

// Places in a line: 32 bits where they suffice.
#if SINGLE
typedef int spot_number;
#else
typedef i64 spot_number;
#endif

struct point {
    spot_number at; // the entry before the coordinate, or the nearest
    real t;         // 0 <= t <= 1 beyond it
};

template <typename X> __device__ __forceinline__ void split(X x, X whole, spot_number n, point &p) {
    X t = x - whole;
    p.at = (spot_number)whole;
    p.t = (real)t;
    if (METHOD == NEAREST) {
        p.at += t >= (X)0.5;
        if (OUTSIDE == WRAP)
            p.at -= p.at == n ? n : 0;
    }
}

__device__ __forceinline__ float floor_of(float x) { return floorf(x); }
__device__ __forceinline__ double floor_of(double x) { return floor(x); }

// Where a coordinate points; false when it lies outside and has no place (ERROR, FILL) or needs a division (WRAP). The point may be read whatever the
// answer. Comparisons with NaN fail, so that it lies outside.
__device__ __forceinline__ bool find_point(index_type v, spot_number n, point &p) {
#if SINGLE
    float x = load_as<float, INDEX>(v), last = (float)(n - 1);
    bool inside = x >= 0 && x <= last;
#else
    double x = load_as<double, INDEX>(v);
    bool inside = x >= 0 && x < 0x1p63 && ((i64)floor(x) < n - 1 || ((i64)floor(x) == n - 1 && x == floor(x)));
#endif
    auto y = inside ? x : 0;
    split(y, floor_of(y), n, p);
    if (OUTSIDE == CLIP) {
        p.at = !inside && x > 0 ? n - 1 : p.at;
        inside = true;
    }
    return inside;
}

// The whole answer of WRAP for a coordinate outside; false: the result is NaN.
__device__ bool wrapped_point(double x, i64 n, point &p) {
    p.at = 0;
    p.t = 0;
    x = fmod(x, (double)n);
    if (x != x)
        return false;
    x += x < 0 ? (double)n : 0;
    double whole = floor(x);
    if (whole < (double)n) // else x was a tiny negative number
        split(x, whole, (spot_number)n, p);
    return true;
}

// The fill value of an element, or of the second half of a complex one.
__device__ __forceinline__ to_type fill_of(const uint4 &fill, bool second) {
    const uint4 mine = second ? (sizeof(to_type) == 4 ? make_uint4(fill.y, 0, 0, 0) : make_uint4(fill.z, fill.w, 0, 0)) : fill;
    bits_of<sizeof(to_type)>::type bits;
    cut(mine, bits);
    return as<to_type>(bits);
}

// The entry `by` (-1 .. 2) steps away: beyond the ends the end again, or wrapped. I: as few bits as places have.
template <typename I> __device__ __forceinline__ I neighbour(I at, int by, I n) {
    const I k = at + by;
    if (k >= 0 && k < n)
        return k;
    if (OUTSIDE == WRAP)
        return (k % n + n) % n;
    return k < 0 ? 0 : n - 1;
}

__device__ __forceinline__ float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return fma(a, b, c); }

// What an entry contributes to every point behind it.
struct alignas(METHOD == CUBIC ? 16 : 2 * sizeof(real)) record {
    real c[METHOD == CUBIC ? 4 : 2];
};
__device__ __forceinline__ record record_of(real p0, real p1, real p2, real p3) {
    record r;
    r.c[0] = p1;
#if METHOD == CUBIC
    r.c[1] = p2 - p0;
    r.c[2] = fused((real)-5, p1, fused((real)4, p2, fused((real)2, p0, -p3)));
    r.c[3] = fused((real)3, p1 - p2, p3 - p0);
#else
    r.c[1] = p2 - p1;
#endif
    return r;
}
__device__ __forceinline__ real value_at(const record &r, real t) {
#if METHOD == CUBIC
    real beyond = fused((real)0.5 * t, fused(t, fused(t, r.c[3], r.c[2]), r.c[1]), r.c[0]);
#else
    real beyond = fused(t, r.c[1], r.c[0]);
#endif
    return t == 0 ? r.c[0] : beyond;
}

// The result between neighbours, the first of which is that before the point (CUBIC: the second).
enum { NEIGHBOURS = METHOD == CUBIC ? 4 : METHOD == LINEAR ? 2 : 1 };
__device__ __forceinline__ to_type result_between(const real (&y)[NEIGHBOURS], real t) {
#if METHOD == NEAREST
    return result_of(y[0]);
#elif METHOD == LINEAR
    return result_of(value_at(record_of(y[0], y[0], y[1], y[1]), t));
#else
    return result_of(value_at(record_of(y[0], y[1], y[2], y[3]), t));
#endif
}

// Entry `at` of the line at `table`, in the type of the computation.
__device__ __forceinline__ real entry_value(const char *table, i64 at, i64 step) {
    return load_as<real, FROM>(*(const from_type *)(table + at * step));
}
__device__ __forceinline__ record record_at(const char *table, i64 at, i64 n, i64 step) {
    real p1 = entry_value(table, at, step), p2 = entry_value(table, neighbour(at, 1, n), step);
    if (METHOD != CUBIC)
        return record_of(p1, p1, p2, p2);
    return record_of(entry_value(table, neighbour(at, -1, n), step), p1, p2, entry_value(table, neighbour(at, 2, n), step));
}

/* SPDX-License-Identifier: Apache-2.0
 * take.h - how elements join a vector of sums as they are read: converted, made positive, squared, or as squares of distances; and one of products. Included by
 * the cpu_*.c files that sum. */
#ifndef TESS_OPS_REDUCE_TAKE_H
#define TESS_OPS_REDUCE_TAKE_H

#include "simd/half.h"
#include "simd/widen.h"

TESS_INLINE v_f32 f32_abs(v_f32 v) { return (v_f32)((v_i32)v & INT32_MAX); }
TESS_INLINE v_f64 f64_abs(v_f64 v) { return (v_f64)((v_i64)v & INT64_MAX); }

/* The square of an f16 or f32 is exact in f64, so adding it by fma rounds no differently; with the instruction at
 * hand that is an operation less. */
#if defined(__FMA__) || defined(__AVX512F__)
#define ADD_SQUARE(a, x) v_f64_fma(x, x, a)
#else
#define ADD_SQUARE(a, x) ((a) + (x) * (x))
#endif
TESS_INLINE v_f32 take_f32(v_f32 a, const char *p) { return a + v_f32_load(p); }
TESS_INLINE v_f32 take_f16(v_f32 a, const char *p) { return a + v_f32_of_f16(p); }
TESS_INLINE v_f32 take_bf16(v_f32 a, const char *p) { return a + v_f32_of_bf16(p); }
TESS_INLINE v_f32 take_abs_f32(v_f32 a, const char *p) { return a + f32_abs(v_f32_load(p)); }
TESS_INLINE v_f32 take_abs_f16(v_f32 a, const char *p) { return a + f32_abs(v_f32_of_f16(p)); }
TESS_INLINE v_f32 take_abs_bf16(v_f32 a, const char *p) { return a + f32_abs(v_f32_of_bf16(p)); }
TESS_INLINE v_f64 take_f64(v_f64 a, const char *p) { return a + v_f64_load(p); }
TESS_INLINE v_f32 take_times_f32(v_f32 a, const char *p) { return a * v_f32_load(p); }
TESS_INLINE v_f64 take_times_f64(v_f64 a, const char *p) { return a * v_f64_load(p); }
TESS_INLINE v_f64 take_abs_f64(v_f64 a, const char *p) { return a + f64_abs(v_f64_load(p)); }
TESS_INLINE v_f64 take_wide_f16(v_f64 a, const char *p) { return a + v_f64_of_f16(p); }
TESS_INLINE v_f64 take_wide_f32(v_f64 a, const char *p) { return a + v_f64_of_f32(p); }
TESS_INLINE v_f64 take_square_f16(v_f64 a, const char *p) {
    const v_f64 x = v_f64_of_f16(p);
    return ADD_SQUARE(a, x);
}
TESS_INLINE v_f64 take_square_f32(v_f64 a, const char *p) {
    const v_f64 x = v_f64_of_f32(p);
    return ADD_SQUARE(a, x);
}
TESS_INLINE v_f64 take_square_f64(v_f64 a, const char *p) {
    const v_f64 x = v_f64_load(p);
    return a + x * x;
}
/* Each step rounds by itself. */
#define TAKE_APART(name, VALUE)                                               \
    TESS_INLINE v_f64 take_apart_##name(v_f64 a, const char *p, v_f64 mean) { \
        const v_f64 d = VALUE(p) - mean;                                      \
        return a + d * d;                                                     \
    }
TAKE_APART(f16, v_f64_of_f16)
TAKE_APART(f32, v_f64_of_f32)
TAKE_APART(f64, v_f64_load)
TAKE_APART(u8, v_f64_of_u8)
TAKE_APART(i8, v_f64_of_i8)
TAKE_APART(u16, v_f64_of_u16)
TAKE_APART(i16, v_f64_of_i16)
TAKE_APART(u32, v_f64_of_u32)
TAKE_APART(i32, v_f64_of_i32)

#endif

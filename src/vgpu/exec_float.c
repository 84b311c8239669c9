/* SPDX-License-Identifier: Apache-2.0
 * exec_float.c - f32 and f64 arithmetic rounded to nearest even, as IEEE 754 and the processor have it; .ftz and .sat around it. Compiled once per
 * instruction set. Directed rounding, approximations and 16-bit floats: math.c. Nothing here may be contracted (the build says so): only fma
 * fuses. */
#include "vgpu/exec.h"

#define HANDLER(name) static void name(vgpu_warp *w, const vgpu_record *r, uint32_t mask)

/* in: what is done to operands (flush or nothing), out: to the result. */
#define UNARY(name, T, in, out, expression)  \
    HANDLER(name) {                          \
        const T *a = SLOT(T, w, r->a);       \
        T row[LANES];                        \
        for (int l = 0; l < LANES; l++) {    \
            T x = in(a[l]);                  \
            row[l] = out(expression);        \
        }                                    \
        PUT(T, SLOT(T, w, r->d), row, mask); \
    }
#define BINARY(name, T, in, out, expression)                  \
    HANDLER(name) {                                           \
        const T *a = SLOT(T, w, r->a), *b = SLOT(T, w, r->b); \
        T row[LANES];                                         \
        for (int l = 0; l < LANES; l++) {                     \
            T x = in(a[l]), y = in(b[l]);                     \
            row[l] = out(expression);                         \
        }                                                     \
        PUT(T, SLOT(T, w, r->d), row, mask);                  \
    }
#define TERNARY(name, T, in, out, expression)                                        \
    HANDLER(name) {                                                                  \
        const T *a = SLOT(T, w, r->a), *b = SLOT(T, w, r->b), *c = SLOT(T, w, r->c); \
        T row[LANES];                                                                \
        for (int l = 0; l < LANES; l++) {                                            \
            T x = in(a[l]), y = in(b[l]), z = in(c[l]);                              \
            row[l] = out(expression);                                                \
        }                                                                            \
        PUT(T, SLOT(T, w, r->d), row, mask);                                         \
    }

#define AS_IS(x) (x)
#define FLUSHED(x) canonical_f32(flush_f32(x))
#define SATURATED(x) saturate_f32(x)
#define FLUSHED_SATURATED(x) saturate_f32(flush_f32(x))

/* f32: plain, .ftz, .sat, .ftz.sat */
#define FORMS(KIND, name, expression)                           \
    KIND(name##_f32, float, AS_IS, canonical_f32, expression)   \
    KIND(name##_ftz_f32, float, flush_f32, FLUSHED, expression) \
    KIND(name##_sat_f32, float, AS_IS, SATURATED, expression)   \
    KIND(name##_ftz_sat_f32, float, flush_f32, FLUSHED_SATURATED, expression)
FORMS(BINARY, add, x + y)
FORMS(BINARY, sub, x - y)
FORMS(BINARY, mul, x *y)
FORMS(TERNARY, fma, fmaf(x, y, z))
#define FORMS2(KIND, name, expression)                        \
    KIND(name##_f32, float, AS_IS, canonical_f32, expression) \
    KIND(name##_ftz_f32, float, flush_f32, FLUSHED, expression)
FORMS2(BINARY, div, x / y)
FORMS2(UNARY, rcp, 1 / x)
FORMS2(UNARY, sqrt, sqrtf(x))

BINARY(add_f64, double, AS_IS, canonical_f64, x + y)
BINARY(sub_f64, double, AS_IS, canonical_f64, x - y)
BINARY(mul_f64, double, AS_IS, canonical_f64, x *y)
TERNARY(fma_f64, double, AS_IS, canonical_f64, fma(x, y, z))
BINARY(div_f64, double, AS_IS, canonical_f64, x / y)
UNARY(rcp_f64, double, AS_IS, canonical_f64, 1 / x)
UNARY(sqrt_f64, double, AS_IS, canonical_f64, sqrt(x))

/* -0 is below +0; of a number and a NaN the number; .NaN: the NaN. */
TESS_INLINE float least_f32(float x, float y) {
    uint32_t both = f32_bits(x) | f32_bits(y);
    return x < y ? x : y < x ? y : x == y ? bits_f32(both) : x == x ? x : y;
}
TESS_INLINE float most_f32(float x, float y) {
    uint32_t both = f32_bits(x) & f32_bits(y);
    return x > y ? x : y > x ? y : x == y ? bits_f32(both) : x == x ? x : y;
}
TESS_INLINE double least_f64(double x, double y) {
    uint64_t both = f64_bits(x) | f64_bits(y);
    return x < y ? x : y < x ? y : x == y ? bits_f64(both) : x == x ? x : y;
}
TESS_INLINE double most_f64(double x, double y) {
    uint64_t both = f64_bits(x) & f64_bits(y);
    return x > y ? x : y > x ? y : x == y ? bits_f64(both) : x == x ? x : y;
}
FORMS2(BINARY, min, least_f32(x, y))
FORMS2(BINARY, max, most_f32(x, y))
BINARY(min_nan_f32, float, AS_IS, canonical_f32, x == x && y == y ? least_f32(x, y) : x + y)
BINARY(max_nan_f32, float, AS_IS, canonical_f32, x == x && y == y ? most_f32(x, y) : x + y)
BINARY(min_ftz_nan_f32, float, flush_f32, FLUSHED, x == x && y == y ? least_f32(x, y) : x + y)
BINARY(max_ftz_nan_f32, float, flush_f32, FLUSHED, x == x && y == y ? most_f32(x, y) : x + y)
BINARY(min_f64, double, AS_IS, canonical_f64, least_f64(x, y))
BINARY(max_f64, double, AS_IS, canonical_f64, most_f64(x, y))

/* Sign operations touch only the sign, of NaN too. */
UNARY(neg_f32, float, AS_IS, AS_IS, bits_f32(f32_bits(x) ^ 0x80000000u))
UNARY(neg_ftz_f32, float, flush_f32, AS_IS, bits_f32(f32_bits(x) ^ 0x80000000u))
UNARY(abs_f32, float, AS_IS, AS_IS, bits_f32(f32_bits(x) & 0x7fffffffu))
UNARY(abs_ftz_f32, float, flush_f32, AS_IS, bits_f32(f32_bits(x) & 0x7fffffffu))
UNARY(neg_f64, double, AS_IS, AS_IS, bits_f64(f64_bits(x) ^ 1ull << 63))
UNARY(abs_f64, double, AS_IS, AS_IS, bits_f64(f64_bits(x) & ~(1ull << 63)))
BINARY(copysign_f32, float, AS_IS, AS_IS, bits_f32((f32_bits(y) & 0x7fffffffu) | (f32_bits(x) & 0x80000000u)))
BINARY(copysign_f64, double, AS_IS, AS_IS, bits_f64((f64_bits(y) & ~(1ull << 63)) | (f64_bits(x) & 1ull << 63)))

/* clang-format off */
#define FORM(op, type, flags, handler) {PTX_OP_##op, PTX_##type, 0, 0, flags, handler},
#define FOUR(op, name)           \
    FORM(op, F32, 0, name##_f32) \
    FORM(op, F32, PTX_FTZ, name##_ftz_f32) FORM(op, F32, PTX_SAT, name##_sat_f32) FORM(op, F32, PTX_FTZ | PTX_SAT, name##_ftz_sat_f32)
#define TWO(op, name) FORM(op, F32, 0, name##_f32) FORM(op, F32, PTX_FTZ, name##_ftz_f32)

static const vgpu_handler_row rows[] = {
    FOUR(ADD, add) FOUR(SUB, sub) FOUR(MUL, mul) FOUR(FMA, fma) FOUR(MAD, fma) TWO(DIV, div) TWO(RCP, rcp) TWO(SQRT, sqrt) TWO(MIN, min) TWO(MAX, max)
    TWO(NEG, neg) TWO(ABS, abs)
    FORM(MIN, F32, PTX_NAN, min_nan_f32) FORM(MAX, F32, PTX_NAN, max_nan_f32)
    FORM(MIN, F32, PTX_FTZ | PTX_NAN, min_ftz_nan_f32) FORM(MAX, F32, PTX_FTZ | PTX_NAN, max_ftz_nan_f32)
    FORM(ADD, F64, 0, add_f64) FORM(SUB, F64, 0, sub_f64) FORM(MUL, F64, 0, mul_f64) FORM(FMA, F64, 0, fma_f64) FORM(MAD, F64, 0, fma_f64)
    FORM(DIV, F64, 0, div_f64) FORM(RCP, F64, 0, rcp_f64) FORM(SQRT, F64, 0, sqrt_f64) FORM(MIN, F64, 0, min_f64) FORM(MAX, F64, 0, max_f64)
    FORM(NEG, F64, 0, neg_f64) FORM(ABS, F64, 0, abs_f64) FORM(COPYSIGN, F32, 0, copysign_f32) FORM(COPYSIGN, F64, 0, copysign_f64)
};
/* clang-format on */

extern const vgpu_handler_table TESS_ISA_NAME(tess_vgpu_floating);
const vgpu_handler_table TESS_ISA_NAME(tess_vgpu_floating) = {rows, TESS_COUNT(rows)};

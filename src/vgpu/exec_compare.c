/* SPDX-License-Identifier: Apache-2.0
 * exec_compare.c - setp, set, testp, and the common conversions. Compiled once per instruction set. */
#include "vgpu/exec_lanes.h"

/* With a connective the third operand joins in: p := t op c, q := !t op c. */
TESS_INLINE uint32_t connect(const vgpu_warp *w, const vgpu_record *r, uint32_t t) {
    if (r->c == VGPU_NO_SLOT || r->count == PTX_NO_MODE)
        return t;
    uint32_t c = vgpu_predicate(w, r->c) ^ (r->flags & VGPU_NOT_C ? ALL_LANES : 0);
    return r->count == PTX_AND ? t & c : r->count == PTX_OR ? t | c : t ^ c;
}
TESS_INLINE void finish(vgpu_warp *w, const vgpu_record *r, uint32_t mask, uint32_t t) {
    if (r->op == PTX_OP_SET) {
        uint32_t p = connect(w, r, t), row[LANES], one = r->register_bytes == PTX_F32 ? 0x3f800000u : ALL_LANES;
        for (int l = 0; l < LANES; l++)
            row[l] = p >> l & 1 ? one : 0;
        PUT(uint32_t, SLOT(uint32_t, w, r->d), row, mask);
        return;
    }
    uint32_t p = connect(w, r, t), q = connect(w, r, ~t);
    vgpu_set_predicate(w, r->d, p, mask);
    if (r->e != VGPU_NO_SLOT)
        vgpu_set_predicate(w, r->e, q, mask);
}

#define COMPARE(name, T, V, in, expression)                   \
    HANDLER(name) {                                           \
        const T *a = SLOT(T, w, r->a), *b = SLOT(T, w, r->b); \
        uint32_t t = 0;                                       \
        for (int l = 0; l < LANES; l++) {                     \
            V x = in(a[l]), y = in(b[l]);                     \
            t |= (expression) ? 1u << l : 0;                  \
        }                                                     \
        finish(w, r, mask, t);                                \
    }
#define AS_IS(x) (x)

#define INTEGERS(T, t)                   \
    COMPARE(eq_##t, T, T, AS_IS, x == y) \
    COMPARE(ne_##t, T, T, AS_IS, x != y) \
    COMPARE(lt_##t, T, T, AS_IS, x < y)  \
    COMPARE(le_##t, T, T, AS_IS, x <= y) \
    COMPARE(gt_##t, T, T, AS_IS, x > y)  \
    COMPARE(ge_##t, T, T, AS_IS, x >= y)
INTEGERS(uint16_t, u16)
INTEGERS(int16_t, s16)
INTEGERS(uint32_t, u32)
INTEGERS(int32_t, s32)
INTEGERS(uint64_t, u64)
INTEGERS(int64_t, s64)

/* The plain comparisons are false with a NaN (ne too), those with u are true. */
#define FLOATS(T, V, in, t)                       \
    COMPARE(eq_##t, T, V, in, x == y)             \
    COMPARE(ne_##t, T, V, in, x<y || x> y)        \
    COMPARE(lt_##t, T, V, in, x < y)              \
    COMPARE(le_##t, T, V, in, x <= y)             \
    COMPARE(gt_##t, T, V, in, x > y)              \
    COMPARE(ge_##t, T, V, in, x >= y)             \
    COMPARE(equ_##t, T, V, in, !(x < y || x > y)) \
    COMPARE(neu_##t, T, V, in, !(x == y))         \
    COMPARE(ltu_##t, T, V, in, !(x >= y))         \
    COMPARE(leu_##t, T, V, in, !(x > y))          \
    COMPARE(gtu_##t, T, V, in, !(x <= y))         \
    COMPARE(geu_##t, T, V, in, !(x < y))          \
    COMPARE(num_##t, T, V, in, x == x && y == y)  \
    COMPARE(nan_##t, T, V, in, x != x || y != y)
FLOATS(float, float, AS_IS, f32)
FLOATS(float, float, flush_f32, ftz_f32)
FLOATS(double, double, AS_IS, f64)
TESS_INLINE float from_bf16(uint16_t x) { return bits_f32((uint32_t)x << 16); }
TESS_INLINE float from_f16(uint16_t h) { /* exact */
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fff;
    if (magnitude >= 0x7c00)
        return bits_f32(sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
    float scaled = bits_f32(magnitude << 13) * 0x1p112f;
    return bits_f32(f32_bits(scaled) | sign);
}
FLOATS(uint16_t, float, from_f16, f16)
FLOATS(uint16_t, float, from_bf16, bf16)

#define TEST(name, T, expression)             \
    HANDLER(name) {                           \
        const T *a = SLOT(T, w, r->a);        \
        uint32_t t = 0;                       \
        for (int l = 0; l < LANES; l++) {     \
            T x = a[l];                       \
            t |= (expression) ? 1u << l : 0;  \
        }                                     \
        vgpu_set_predicate(w, r->d, t, mask); \
    }
TEST(finite_f32, uint32_t, (x & 0x7f800000u) != 0x7f800000u)
TEST(infinite_f32, uint32_t, (x & 0x7fffffffu) == 0x7f800000u)
TEST(number_f32, uint32_t, (x & 0x7fffffffu) <= 0x7f800000u)
TEST(notanumber_f32, uint32_t, (x & 0x7fffffffu) > 0x7f800000u)
TEST(normal_f32, uint32_t, (x & 0x7f800000u) != 0x7f800000u && (x & 0x7f800000u) != 0)
TEST(subnormal_f32, uint32_t, (x & 0x7f800000u) == 0 && (x & 0x7fffffu) != 0)
#define EXPONENT_F64 0x7ff0000000000000u
TEST(finite_f64, uint64_t, (x & EXPONENT_F64) != EXPONENT_F64)
TEST(infinite_f64, uint64_t, (x & ~(1ull << 63)) == EXPONENT_F64)
TEST(number_f64, uint64_t, (x & ~(1ull << 63)) <= EXPONENT_F64)
TEST(notanumber_f64, uint64_t, (x & ~(1ull << 63)) > EXPONENT_F64)
TEST(normal_f64, uint64_t, (x & EXPONENT_F64) != EXPONENT_F64 && (x & EXPONENT_F64) != 0)
TEST(subnormal_f64, uint64_t, (x & EXPONENT_F64) == 0 && (x & ~(1ull << 63)) != 0)

/* ---- conversions that the processor has; all others: convert.c ---- */

UNARY(cvt_u64_u32, uint64_t, uint32_t, x)
UNARY(cvt_s64_s32, int64_t, int32_t, x)
UNARY(cvt_u32_u64, uint32_t, uint64_t, x)
UNARY(cvt_u32_u16, uint32_t, uint16_t, x)
UNARY(cvt_s32_s16, int32_t, int16_t, x)
UNARY(cvt_u16_u32, uint16_t, uint32_t, x)
UNARY(cvt_f32_s32, float, int32_t, x)
UNARY(cvt_f32_u32, float, uint32_t, x)
UNARY(cvt_f64_s32, double, int32_t, x)
UNARY(cvt_f64_u32, double, uint32_t, x)
UNARY(cvt_f64_f32, double, float, canonical_f64((double)x))
UNARY(cvt_f32_f64, float, double, canonical_f32((float)x))

/* clang-format off */
#define ROW(op, type, mode, flags, handler) {PTX_OP_##op, PTX_##type, 0, PTX_##mode, flags, handler},
#define BOTH(type, mode, flags, handler) ROW(SETP, type, mode, flags, handler) ROW(SET, type, mode, flags, handler)
#define EQUAL(type, t) BOTH(type, EQ, 0, eq_##t) BOTH(type, NE, 0, ne_##t)
#define SIX(type, flags, t)       \
    BOTH(type, EQ, flags, eq_##t) \
    BOTH(type, NE, flags, ne_##t) \
    BOTH(type, LT, flags, lt_##t) BOTH(type, LE, flags, le_##t) BOTH(type, GT, flags, gt_##t) BOTH(type, GE, flags, ge_##t)
#define UNSIGNED(type, t) SIX(type, 0, t) BOTH(type, LO, 0, lt_##t) BOTH(type, LS, 0, le_##t) BOTH(type, HI, 0, gt_##t) BOTH(type, HS, 0, ge_##t)
#define FLOATING(type, flags, t)    \
    SIX(type, flags, t)             \
    BOTH(type, EQU, flags, equ_##t) \
    BOTH(type, NEU, flags, neu_##t) \
    BOTH(type, LTU, flags, ltu_##t) \
    BOTH(type, LEU, flags, leu_##t) \
    BOTH(type, GTU, flags, gtu_##t) BOTH(type, GEU, flags, geu_##t) BOTH(type, NUM, flags, num_##t) BOTH(type, ISNAN, flags, nan_##t)
#define TESTS(type, t)                          \
    ROW(TESTP, type, FINITE, 0, finite_##t)     \
    ROW(TESTP, type, INFINITE, 0, infinite_##t) \
    ROW(TESTP, type, NUMBER, 0, number_##t)     \
    ROW(TESTP, type, NOTANUMBER, 0, notanumber_##t) ROW(TESTP, type, NORMAL, 0, normal_##t) ROW(TESTP, type, SUBNORMAL, 0, subnormal_##t)
#define CVT(to, from, flags, handler) {PTX_OP_CVT, PTX_##to, PTX_##from, 0, flags, handler},

static const vgpu_handler_row rows[] = {
    UNSIGNED(U16, u16) UNSIGNED(U32, u32) UNSIGNED(U64, u64) SIX(S16, 0, s16) SIX(S32, 0, s32) SIX(S64, 0, s64)
    EQUAL(B16, u16) EQUAL(B32, u32) EQUAL(B64, u64)
    FLOATING(F32, 0, f32) FLOATING(F32, PTX_FTZ, ftz_f32) FLOATING(F64, 0, f64) FLOATING(F16, 0, f16) FLOATING(BF16, 0, bf16)
    TESTS(F32, f32) TESTS(F64, f64)
    CVT(U64, U32, 0, cvt_u64_u32) CVT(S64, U32, 0, cvt_u64_u32) CVT(S64, S32, 0, cvt_s64_s32) CVT(U32, U64, 0, cvt_u32_u64) CVT(S32, S64, 0, cvt_u32_u64)
    CVT(U32, S64, 0, cvt_u32_u64) CVT(S32, U64, 0, cvt_u32_u64) CVT(U32, U16, 0, cvt_u32_u16) CVT(S32, U16, 0, cvt_u32_u16) CVT(S32, S16, 0, cvt_s32_s16)
    CVT(U16, U32, 0, cvt_u16_u32) CVT(F32, S32, PTX_RN, cvt_f32_s32) CVT(F32, U32, PTX_RN, cvt_f32_u32) CVT(F64, S32, PTX_RN, cvt_f64_s32)
    CVT(F64, U32, PTX_RN, cvt_f64_u32) CVT(F64, F32, 0, cvt_f64_f32) CVT(F32, F64, PTX_RN, cvt_f32_f64)
};
/* clang-format on */

extern const vgpu_handler_table TESS_ISA_NAME(tess_vgpu_compare);
const vgpu_handler_table TESS_ISA_NAME(tess_vgpu_compare) = {rows, TESS_COUNT(rows)};

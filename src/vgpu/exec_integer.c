/* SPDX-License-Identifier: Apache-2.0
 * exec_integer.c - integers, moves and predicates; what reads and places single bits is in exec_bits.c. Compiled once per instruction set: plain loops over 32 lanes that the compiler turns into vectors. */
#include "vgpu/exec_lanes.h"

/* ---- arithmetic: unsigned inside, so that wrapping is defined ---- */

#define ARITHMETIC(U, S, u, s, bits)                                                    \
    BINARY(add_##u, U, x + y)                                                           \
    BINARY(sub_##u, U, x - y)                                                           \
    BINARY(mul_lo_##u, U, (uint64_t)x *y)                                               \
    TERNARY(mad_lo_##u, U, (uint64_t)x *y + z)                                          \
    BINARY(min_##u, U, x < y ? x : y)                                                   \
    BINARY(max_##u, U, x > y ? x : y)                                                   \
    BINARY(min_##s, S, x < y ? x : y)                                                   \
    BINARY(max_##s, S, x > y ? x : y)                                                   \
    UNARY(neg_##u, U, U, 0u - (uint64_t)x)                                              \
    UNARY(abs_##s, U, S, x < 0 ? 0u - (uint64_t)x : (uint64_t)x)                        \
    TERNARY(sad_##u, U, (x > y ? x - y : y - x) + z)                                    \
    TERNARY4(sad_##s, U, S, S, U, (x > y ? (U)x - (U)y : (U)y - (U)x) + z)              \
    BINARY(and_##u, U, x &y)                                                            \
    BINARY(or_##u, U, x | y)                                                            \
    BINARY(xor_##u, U, x ^ y)                                                           \
    UNARY(not_##u, U, U, ~x)                                                            \
    UNARY(cnot_##u, U, U, x == 0)                                                       \
    BINARY2(shl_##u, U, U, uint32_t, y < bits ? (uint64_t)x << (y & 63) : 0)            \
    BINARY2(shr_##u, U, U, uint32_t, y < bits ? (uint64_t)x >> (y & 63) : 0)            \
    BINARY2(shr_##s, S, S, uint32_t, x >> (y < bits ? y : bits - 1))                    \
    UNARY(mov_##u, U, U, x)                                                             \
    HANDLER(selp_##u) {                                                                 \
        const U *a = SLOT(U, w, r->a), *b = SLOT(U, w, r->b);                           \
        uint32_t p = vgpu_predicate(w, r->c) ^ (r->flags & VGPU_NOT_C ? ALL_LANES : 0); \
        U row[LANES];                                                                   \
        for (int l = 0; l < LANES; l++)                                                 \
            row[l] = p >> l & 1 ? a[l] : b[l];                                          \
        PUT(U, SLOT(U, w, r->d), row, mask);                                            \
    }
ARITHMETIC(uint16_t, int16_t, u16, s16, 16)
ARITHMETIC(uint32_t, int32_t, u32, s32, 32)
ARITHMETIC(uint64_t, int64_t, u64, s64, 64)

/* x / 0 is all ones, x mod 0 is x: what the card gives, PTX leaves it open; the smallest number / -1 wraps. */
#define DIVISION(U, S, u, s)                                                  \
    BINARY(div_##u, U, y ? x / y : (U) ~(U)0)                                 \
    BINARY(rem_##u, U, y ? x % y : x)                                         \
    BINARY(div_##s, S, y == 0 ? -1 : y == -1 ? (S)(0u - (uint64_t)x) : x / y) \
    BINARY(rem_##s, S, y == 0 ? x : y == -1 ? 0 : x % y)
DIVISION(uint16_t, int16_t, u16, s16)
DIVISION(uint64_t, int64_t, u64, s64)

/* 32 bits by way of double, which processors divide in vectors: a quotient that is no integer is at least 2^-32 of itself below the next one, so
 * rounding to 53 bits does not reach it and the part before the point is right. */
TESS_INLINE uint32_t quotient_u32(uint32_t x, uint32_t y) { return (uint32_t)((double)x / (double)(y ? y : 1)); }
TESS_INLINE int32_t quotient_s32(int32_t x, int32_t y) { return (int32_t)((double)x / (double)(y == 0 || y == -1 ? 1 : y)); }
BINARY(div_u32, uint32_t, y ? quotient_u32(x, y) : ~0u)
BINARY(rem_by_any_u32, uint32_t, y ? x - quotient_u32(x, y) * y : x)
HANDLER(rem_u32) { /* mostly by powers of two that the compiler did not know */
    const uint32_t *a = SLOT(uint32_t, w, r->a), *b = SLOT(uint32_t, w, r->b);
    uint32_t row[LANES], other = 0;
    for (int l = 0; l < LANES; l++) {
        other |= b[l] & (b[l] - 1); /* 0: a power of two, or 0, by which nothing is taken off */
        row[l] = a[l] & (b[l] - 1);
    }
    if (other)
        rem_by_any_u32(w, r, mask);
    else
        PUT(uint32_t, SLOT(uint32_t, w, r->d), row, mask);
}
BINARY(div_s32, int32_t, y == 0 ? -1 : y == -1 ? (int32_t)(0u - (uint32_t)x) : quotient_s32(x, y))
BINARY(rem_s32, int32_t, y == 0 ? x : y == -1 ? 0 : (int32_t)((uint32_t)x - (uint32_t)quotient_s32(x, y) * (uint32_t)y))

#define HALVES(U, S, UW, SW, u, s, uw, bits)           \
    BINARY(mul_hi_##u, U, (UW)x *y >> bits)            \
    BINARY(mul_hi_##s, S, (SW)x *y >> bits)            \
    TERNARY(mad_hi_##u, U, (U)((UW)x * y >> bits) + z) \
    TERNARY(mad_hi_##s, U, (U)((SW)(S)x * (S)y >> bits) + z)
HALVES(uint16_t, int16_t, uint32_t, int32_t, u16, s16, u32, 16)
HALVES(uint32_t, int32_t, uint64_t, int64_t, u32, s32, u64, 32)
HALVES(uint64_t, int64_t, tess_u128, tess_i128, u64, s64, u128, 64)

BINARY2(mul_wide_u16, uint32_t, uint16_t, uint16_t, (uint32_t)x *y)
BINARY2(mul_wide_s16, int32_t, int16_t, int16_t, x *y)
BINARY2(mul_wide_u32, uint64_t, uint32_t, uint32_t, (uint64_t)x *y)
BINARY2(mul_wide_s32, int64_t, int32_t, int32_t, (int64_t)x *y)
TERNARY4(mad_wide_u16, uint32_t, uint16_t, uint16_t, uint32_t, (uint32_t)x *y + z)
TERNARY4(mad_wide_s16, uint32_t, int16_t, int16_t, uint32_t, (uint32_t)(x *y) + z)
TERNARY4(mad_wide_u32, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)x *y + z)
TERNARY4(mad_wide_s32, uint64_t, int32_t, int32_t, uint64_t, (uint64_t)((int64_t)x *y) + z)

TESS_INLINE int32_t clamp_s32(int64_t x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x; }
BINARY(add_sat_s32, int32_t, clamp_s32((int64_t)x + y))
BINARY(sub_sat_s32, int32_t, clamp_s32((int64_t)x - y))
TERNARY(mad_hi_sat_s32, int32_t, clamp_s32(((int64_t)x * y >> 32) + z))

TESS_INLINE int64_t low24(int32_t x) { return (int32_t)((uint32_t)x << 8) >> 8; }
BINARY(mul24_lo_u32, uint32_t, (uint64_t)(x & 0xffffffu) * (y & 0xffffffu))
BINARY(mul24_lo_s32, int32_t, low24(x) * low24(y))
BINARY(mul24_hi_u32, uint32_t, (uint64_t)(x & 0xffffffu) * (y & 0xffffffu) >> 16)
BINARY(mul24_hi_s32, int32_t, low24(x) * low24(y) >> 16)
TERNARY(mad24_lo_u32, uint32_t, (uint64_t)(x & 0xffffffu) * (y & 0xffffffu) + z)
TERNARY(mad24_lo_s32, uint32_t, (uint64_t)(low24((int32_t)x) * low24((int32_t)y)) + z)

TESS_INLINE uint32_t dot4(uint32_t x, uint32_t y, bool x_signed, bool y_signed) {
    int32_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += (x_signed ? (int8_t)(x >> i) : (int32_t)(x >> i & 255)) * (y_signed ? (int8_t)(y >> i) : (int32_t)(y >> i & 255));
    return (uint32_t)sum;
}
TERNARY(dp4a_uu, uint32_t, dot4(x, y, false, false) + z)
TERNARY(dp4a_us, uint32_t, dot4(x, y, false, true) + z)
TERNARY(dp4a_su, uint32_t, dot4(x, y, true, false) + z)
TERNARY(dp4a_ss, uint32_t, dot4(x, y, true, true) + z)

/* Two halves of x with the low or high two bytes of y. */
TESS_INLINE uint32_t dot2(uint32_t x, uint32_t y, bool x_signed, bool y_signed) {
    int64_t sum = 0;
    for (int i = 0; i < 2; i++)
        sum +=
            (x_signed ? (int16_t)(x >> 16 * i) : (int64_t)(x >> 16 * i & 0xffff)) * (y_signed ? (int8_t)(y >> 8 * i) : (int64_t)(y >> 8 * i & 255));
    return (uint32_t)sum;
}
#define DOT2(name, xs, ys)                                    \
    TERNARY(dp2a_lo_##name, uint32_t, dot2(x, y, xs, ys) + z) \
    TERNARY(dp2a_hi_##name, uint32_t, dot2(x, y >> 16, xs, ys) + z)
DOT2(uu, false, false)
DOT2(us, false, true)
DOT2(su, true, false)
DOT2(ss, true, true)

/* Two numbers as bytes below the low half of z. */
TESS_INLINE uint32_t saturate(uint32_t x, int32_t low, int32_t high) {
    const int32_t v = (int32_t)x;
    return (uint32_t)(v < low ? low : v > high ? high : v) & 255;
}
TERNARY(cvt_pack_u8, uint32_t, z << 16 | saturate(x, 0, 255) << 8 | saturate(y, 0, 255))
TERNARY(cvt_pack_s8, uint32_t, z << 16 | saturate(x, -128, 127) << 8 | saturate(y, -128, 127))

/* ---- carry chains: the condition code is a bit a lane, kept until the next .cc ----
 *
 * Differences are a + ~b + 1 as in the card's adder: the bit is set where nothing was borrowed. PTX calls it the borrow; the two differ only where addc
 * follows sub.cc or subc addc.cc, which the compiler's own division of 128-bit integers does, counting on the adder's. */

#define CARRY(U, UW, u, bits)                                                                                                            \
    TESS_INLINE void chain_##u(vgpu_warp *w, const vgpu_record *r, uint32_t mask, const U *a, const U *b, int sign, bool in, bool out) { \
        U row[LANES];                                                                                                                    \
        uint32_t carry = 0;                                                                                                              \
        for (int l = 0; l < LANES; l++) {                                                                                                \
            UW extra = in ? (w->carry >> l & 1) ^ (sign < 0) : 0;                                                                        \
            UW sum = sign > 0 ? (UW)a[l] + b[l] + extra : (UW)a[l] - b[l] - extra;                                                       \
            row[l] = (U)sum;                                                                                                             \
            carry |= ((uint32_t)(sum >> bits & 1) ^ (sign < 0)) << l;                                                                    \
        }                                                                                                                                \
        PUT(U, SLOT(U, w, r->d), row, mask);                                                                                             \
        if (out)                                                                                                                         \
            w->carry = (w->carry & ~mask) | (carry & mask);                                                                              \
    }                                                                                                                                    \
    HANDLER(add_cc_##u) { chain_##u(w, r, mask, SLOT(U, w, r->a), SLOT(U, w, r->b), 1, false, true); }                                   \
    HANDLER(addc_##u) { chain_##u(w, r, mask, SLOT(U, w, r->a), SLOT(U, w, r->b), 1, true, false); }                                     \
    HANDLER(addc_cc_##u) { chain_##u(w, r, mask, SLOT(U, w, r->a), SLOT(U, w, r->b), 1, true, true); }                                   \
    HANDLER(sub_cc_##u) { chain_##u(w, r, mask, SLOT(U, w, r->a), SLOT(U, w, r->b), -1, false, true); }                                  \
    HANDLER(subc_##u) { chain_##u(w, r, mask, SLOT(U, w, r->a), SLOT(U, w, r->b), -1, true, false); }                                    \
    HANDLER(subc_cc_##u) { chain_##u(w, r, mask, SLOT(U, w, r->a), SLOT(U, w, r->b), -1, true, true); }
#define MAD_CARRY(U, W, u, s, half, expression)                                               \
    TESS_INLINE void product_##half##_##s(const vgpu_warp *w, const vgpu_record *r, U *row) { \
        const U *a = SLOT(U, w, r->a), *b = SLOT(U, w, r->b);                                 \
        for (int l = 0; l < LANES; l++) {                                                     \
            W x = (W)a[l], y = (W)b[l];                                                       \
            row[l] = (U)(expression);                                                         \
        }                                                                                     \
    }                                                                                         \
    HANDLER(mad_##half##_cc_##s) {                                                            \
        U row[LANES];                                                                         \
        product_##half##_##s(w, r, row);                                                      \
        chain_##u(w, r, mask, row, SLOT(U, w, r->c), 1, false, true);                         \
    }                                                                                         \
    HANDLER(madc_##half##_##s) {                                                              \
        U row[LANES];                                                                         \
        product_##half##_##s(w, r, row);                                                      \
        chain_##u(w, r, mask, row, SLOT(U, w, r->c), 1, true, false);                         \
    }                                                                                         \
    HANDLER(madc_##half##_cc_##s) {                                                           \
        U row[LANES];                                                                         \
        product_##half##_##s(w, r, row);                                                      \
        chain_##u(w, r, mask, row, SLOT(U, w, r->c), 1, true, true);                          \
    }
CARRY(uint32_t, uint64_t, u32, 32)
CARRY(uint64_t, tess_u128, u64, 64)
MAD_CARRY(uint32_t, uint32_t, u32, u32, lo, x *y)
MAD_CARRY(uint32_t, uint64_t, u32, u32, hi, x *y >> 32)
MAD_CARRY(uint32_t, int32_t, u32, s32, hi, (int64_t)x *y >> 32)
MAD_CARRY(uint64_t, uint64_t, u64, u64, lo, x *y)
MAD_CARRY(uint64_t, tess_u128, u64, u64, hi, x *y >> 64)
MAD_CARRY(uint64_t, int64_t, u64, s64, hi, (tess_i128)x *y >> 64)

/* ---- predicates: 32 lanes are one word ---- */

#define PREDICATE(name, expression)                                        \
    HANDLER(name) {                                                        \
        uint32_t x = vgpu_predicate(w, r->a), y = vgpu_predicate(w, r->b); \
        (void)y;                                                           \
        vgpu_set_predicate(w, r->d, expression, mask);                     \
    }
PREDICATE(and_pred, x &y)
PREDICATE(or_pred, x | y)
PREDICATE(xor_pred, x ^ y)
PREDICATE(not_pred, ~x)
PREDICATE(mov_pred, x)

HANDLER(activemask) {
    uint32_t row[LANES];
    for (int l = 0; l < LANES; l++)
        row[l] = mask;
    PUT(uint32_t, SLOT(uint32_t, w, r->d), row, mask);
}

/* ---- the table ---- */

/* clang-format off */
#define ROW(op, type, handler) {PTX_OP_##op, PTX_##type, 0, 0, 0, handler},
#define FORM(op, type, mode, flags, handler) {PTX_OP_##op, PTX_##type, 0, PTX_##mode, flags, handler},
#define BY_SIGN(op, name)    \
    ROW(op, U16, name##_u16) \
    ROW(op, U32, name##_u32) ROW(op, U64, name##_u64) ROW(op, S16, name##_s16) ROW(op, S32, name##_s32) ROW(op, S64, name##_s64)
#define BY_WIDTH(op, name)   \
    ROW(op, U16, name##_u16) \
    ROW(op, U32, name##_u32) ROW(op, U64, name##_u64) ROW(op, S16, name##_u16) ROW(op, S32, name##_u32) ROW(op, S64, name##_u64)
#define BY_BITS(op, name) ROW(op, B16, name##_u16) ROW(op, B32, name##_u32) ROW(op, B64, name##_u64)
#define HALF(op, mode, name) FORM(op, U16, mode, 0, name##_u16) FORM(op, U32, mode, 0, name##_u32) FORM(op, U64, mode, 0, name##_u64)
#define HALF_S(op, mode, name) FORM(op, S16, mode, 0, name##16) FORM(op, S32, mode, 0, name##32) FORM(op, S64, mode, 0, name##64)
#define CHAIN(op, name, flags)                                                                        \
    {PTX_OP_##op, PTX_U32, 0, 0, flags, name##_u32}, {PTX_OP_##op, PTX_S32, 0, 0, flags, name##_u32}, \
        {PTX_OP_##op, PTX_U64, 0, 0, flags, name##_u64}, {PTX_OP_##op, PTX_S64, 0, 0, flags, name##_u64},
#define MAD_CHAIN(op, name, flags, tail)            \
    FORM(op, U32, LO, flags, name##_lo##tail##_u32) \
    FORM(op, S32, LO, flags, name##_lo##tail##_u32) \
    FORM(op, U64, LO, flags, name##_lo##tail##_u64) \
    FORM(op, S64, LO, flags, name##_lo##tail##_u64) \
    FORM(op, U32, HI, flags, name##_hi##tail##_u32) \
    FORM(op, S32, HI, flags, name##_hi##tail##_s32) FORM(op, U64, HI, flags, name##_hi##tail##_u64) FORM(op, S64, HI, flags, name##_hi##tail##_s64)

static const vgpu_handler_row rows[] = {
    BY_WIDTH(ADD, add) BY_WIDTH(SUB, sub) BY_SIGN(DIV, div) BY_SIGN(REM, rem) BY_SIGN(MIN, min) BY_SIGN(MAX, max) BY_SIGN(SAD, sad)
    HALF(MUL, LO, mul_lo) HALF_S(MUL, LO, mul_lo_u) HALF(MUL, HI, mul_hi) HALF_S(MUL, HI, mul_hi_s)
    HALF(MAD, LO, mad_lo) HALF_S(MAD, LO, mad_lo_u) HALF(MAD, HI, mad_hi) HALF_S(MAD, HI, mad_hi_s)
    FORM(MUL, U16, WIDE, 0, mul_wide_u16) FORM(MUL, S16, WIDE, 0, mul_wide_s16) FORM(MUL, U32, WIDE, 0, mul_wide_u32) FORM(MUL, S32, WIDE, 0, mul_wide_s32)
    FORM(MAD, U16, WIDE, 0, mad_wide_u16) FORM(MAD, S16, WIDE, 0, mad_wide_s16) FORM(MAD, U32, WIDE, 0, mad_wide_u32) FORM(MAD, S32, WIDE, 0, mad_wide_s32)
    {PTX_OP_ADD, PTX_S32, 0, 0, PTX_SAT, add_sat_s32}, {PTX_OP_SUB, PTX_S32, 0, 0, PTX_SAT, sub_sat_s32},
    FORM(MAD, S32, HI, PTX_SAT, mad_hi_sat_s32)
    FORM(MUL24, U32, LO, 0, mul24_lo_u32) FORM(MUL24, S32, LO, 0, mul24_lo_s32) FORM(MUL24, U32, HI, 0, mul24_hi_u32) FORM(MUL24, S32, HI, 0, mul24_hi_s32)
    FORM(MAD24, U32, LO, 0, mad24_lo_u32) FORM(MAD24, S32, LO, 0, mad24_lo_s32)
    {PTX_OP_DP2A, PTX_U32, PTX_U32, PTX_LO, 0, dp2a_lo_uu}, {PTX_OP_DP2A, PTX_U32, PTX_S32, PTX_LO, 0, dp2a_lo_us},
    {PTX_OP_DP2A, PTX_S32, PTX_U32, PTX_LO, 0, dp2a_lo_su}, {PTX_OP_DP2A, PTX_S32, PTX_S32, PTX_LO, 0, dp2a_lo_ss},
    {PTX_OP_DP2A, PTX_U32, PTX_U32, PTX_HI, 0, dp2a_hi_uu}, {PTX_OP_DP2A, PTX_U32, PTX_S32, PTX_HI, 0, dp2a_hi_us},
    {PTX_OP_DP2A, PTX_S32, PTX_U32, PTX_HI, 0, dp2a_hi_su}, {PTX_OP_DP2A, PTX_S32, PTX_S32, PTX_HI, 0, dp2a_hi_ss},
    {PTX_OP_DP4A, PTX_U32, PTX_U32, 0, 0, dp4a_uu}, {PTX_OP_DP4A, PTX_U32, PTX_S32, 0, 0, dp4a_us},
    {PTX_OP_DP4A, PTX_S32, PTX_U32, 0, 0, dp4a_su}, {PTX_OP_DP4A, PTX_S32, PTX_S32, 0, 0, dp4a_ss},
    {PTX_OP_CVT_PACK, PTX_U8, PTX_S32, PTX_PACK, PTX_SAT, cvt_pack_u8}, {PTX_OP_CVT_PACK, PTX_S8, PTX_S32, PTX_PACK, PTX_SAT, cvt_pack_s8},
    ROW(NEG, S16, neg_u16) ROW(NEG, S32, neg_u32) ROW(NEG, S64, neg_u64) ROW(ABS, S16, abs_s16) ROW(ABS, S32, abs_s32) ROW(ABS, S64, abs_s64)
    BY_BITS(AND, and) BY_BITS(OR, or) BY_BITS(XOR, xor) BY_BITS(NOT, not) BY_BITS(CNOT, cnot)
    ROW(AND, PRED, and_pred) ROW(OR, PRED, or_pred) ROW(XOR, PRED, xor_pred) ROW(NOT, PRED, not_pred)
    BY_BITS(SHL, shl) BY_BITS(SHR, shr) BY_SIGN(SHR, shr)
    BY_BITS(SELP, selp) BY_WIDTH(SELP, selp) ROW(SELP, F32, selp_u32) ROW(SELP, F64, selp_u64) ROW(SELP, F16, selp_u16)
    BY_BITS(MOV, mov) ROW(MOV, PRED, mov_pred) {PTX_OP_MOV, PTX_PRED, 0, 0, PTX_TO, not_pred},
    CHAIN(ADD, add_cc, PTX_CC) CHAIN(ADDC, addc, 0) CHAIN(ADDC, addc_cc, PTX_CC) CHAIN(SUB, sub_cc, PTX_CC) CHAIN(SUBC, subc, 0) CHAIN(SUBC, subc_cc, PTX_CC)
    MAD_CHAIN(MAD, mad, PTX_CC, _cc) MAD_CHAIN(MADC, madc, 0, ) MAD_CHAIN(MADC, madc, PTX_CC, _cc)
    ROW(ACTIVEMASK, B32, activemask)
};
/* clang-format on */

extern const vgpu_handler_table TESS_ISA_NAME(tess_vgpu_integer);
const vgpu_handler_table TESS_ISA_NAME(tess_vgpu_integer) = {rows, TESS_COUNT(rows)};

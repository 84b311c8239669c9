/* SPDX-License-Identifier: Apache-2.0
 * mufu.c - the special function unit of the card, bit for bit.
 *
 * It evaluates c0 + c1 x + c2 x^2 in fixed point, with coefficients from a table indexed by the leading bits of the argument's fraction and x the 17
 * bits below them (Oberman and Siu, "A high-performance area-efficient multifunction interpolator", ARITH-17, 2005, describe such a unit). What is in
 * no paper was found by running every fraction of each function on an H200 and solving for it: the coefficients, that the squarer drops all partial
 * products below 2^-15, that negative fractions are complemented and not negated, and the rounding constants. With these every one of the 2^23
 * fractions of each function, and 2^25 angles, gives the card's bits (tests/test_vgpu_mufu.c). */
#include "vgpu/mufu.h"

#include <stdbool.h>

typedef struct row {
    int32_t c0, c1, c2; /* units of the result's last place: quarters, ones, ones (halves for sqrt) */
} row;

static const row rcp_table[] = {
#define MUFU_RCP(...) {__VA_ARGS__},
#include "vgpu/mufu.def"
};
static const row rsqrt_table[] = {
#define MUFU_RSQRT(...) {__VA_ARGS__},
#include "vgpu/mufu.def"
};
static const row sqrt_table[] = {
#define MUFU_SQRT(...) {__VA_ARGS__},
#include "vgpu/mufu.def"
};
static const row ex2_table[] = {
#define MUFU_EX2(...) {__VA_ARGS__},
#include "vgpu/mufu.def"
};
static const row lg2_table[] = {
#define MUFU_LG2(...) {__VA_ARGS__},
#include "vgpu/mufu.def"
};
static const row sin_table[] = {
#define MUFU_SIN(...) {__VA_ARGS__},
#include "vgpu/mufu.def"
};
/* c0 in ones here, not quarters */
static const row tanh_table[] = {
#define MUFU_TANH(...) {__VA_ARGS__},
#include "vgpu/mufu.def"
};

enum { SIGN = (int)0x80000000u, INFINITE = 0x7f800000, CANONICAL_NAN = 0x7fffffff, ONE = 0x3f800000, FRACTION = 0x7fffff, HIDDEN = 0x800000 };
/* Constants added before the result is cut, in 2^-18 of its last place: each is the only value, or in the only narrow range, that fits all fractions. */
enum { RCP_BIAS = 16184, RSQRT_BIAS = -4, SQRT_BIAS = -2, EX2_BIAS = 48912, LG2_BIAS = 13392 };

static bool is_nan(uint32_t x) { return (x << 1) > (uint32_t)INFINITE << 1; }
static bool is_zero(uint32_t x) { return (x & INFINITE) == 0; }

/* The square of 17 bits without the partial products below 2^19, in units of 2^19. Bit i meets itself at 2i and each bit j above it at i + j + 1. */
static int64_t square(uint32_t x) {
    uint64_t sum = 0;
    for (int i = 1; i < 17; i++) {
        int lowest = i + 1 > 18 - i ? i + 1 : 18 - i;
        uint64_t others = (uint64_t)(x >> lowest) << lowest << (i + 1), own = i >= 10 ? (uint64_t)1 << (2 * i) : 0;
        sum += (x >> i & 1) * (others + own);
    }
    return (int64_t)(sum >> 19);
}

/* The polynomial in units of 2^-18: c0 counts quarters of the last place, x is 17 bits after the point, the square 15. */
static int64_t interpolate(const row *r, uint32_t x, int c2_shift) {
    return (int64_t)r->c0 * 65536 + (int64_t)r->c1 * x * 2 + (r->c2 * square(x)) * (1 << c2_shift);
}

/* A positive fixed-point number, value / 2^point, as a float, cut. */
static uint32_t cut_to_float(uint64_t value, int point) {
    if (!value)
        return 0;
    int top = 63 - __builtin_clzll(value);
    uint32_t fraction = top >= 23 ? (uint32_t)(value >> (top - 23)) : (uint32_t)value << (23 - top);
    return ((uint32_t)(top - point + 127) << 23) + (fraction & FRACTION);
}

uint32_t tess_vgpu_mufu_rcp(uint32_t x) {
    uint32_t sign = x & (uint32_t)SIGN, fraction = x & FRACTION;
    if (is_nan(x))
        return CANONICAL_NAN;
    if (is_zero(x))
        return sign | INFINITE;
    uint32_t y = (uint32_t)((interpolate(&rcp_table[fraction >> 16], fraction << 1 & 0x1ffff, 3) + RCP_BIAS) >> 18); /* 2^23 .. 2^24 */
    int exponent = 253 - (int)(x >> 23 & 255) + (y >> 24 ? 1 : 0);
    return exponent > 0 ? sign | (uint32_t)exponent << 23 | (y & FRACTION) : sign;
}

uint32_t tess_vgpu_mufu_rsqrt(uint32_t x) {
    if (is_zero(x))
        return (x & (uint32_t)SIGN) | INFINITE;
    if (is_nan(x) || x >> 31)
        return CANONICAL_NAN;
    if (x == INFINITE)
        return 0;
    int power = (int)(x >> 23) - 127;
    uint32_t odd = power & 1, fraction = x & FRACTION;
    if (!odd && !fraction) /* the table's own value lies below 1 */
        return (uint32_t)(127 - power / 2) << 23;
    uint32_t y = (uint32_t)((interpolate(&rsqrt_table[odd << 6 | fraction >> 17], fraction & 0x1ffff, 3) + RSQRT_BIAS) >> 18);
    return (uint32_t)(126 - (power - (int)odd) / 2) << 23 | (y & FRACTION);
}

uint32_t tess_vgpu_mufu_sqrt(uint32_t x) {
    if (is_zero(x))
        return x & (uint32_t)SIGN;
    if (is_nan(x) || x >> 31)
        return CANONICAL_NAN;
    if (x == INFINITE)
        return x;
    int power = (int)(x >> 23) - 127;
    uint32_t odd = power & 1, fraction = x & FRACTION;
    uint32_t y = (uint32_t)((interpolate(&sqrt_table[odd << 6 | fraction >> 17], fraction & 0x1ffff, 2) + SQRT_BIAS) >> 18);
    return (uint32_t)(127 + (power - (int)odd) / 2) << 23 | (y & FRACTION);
}

uint32_t tess_vgpu_mufu_ex2(uint32_t x) {
    bool negative = x >> 31;
    int power = (int)(x >> 23 & 255) - 127;
    if (is_nan(x))
        return CANONICAL_NAN;
    if (power >= 7 && !(negative && power == 7)) /* 128 and above, infinity; -256 and below */
        return negative ? 0 : INFINITE;
    uint32_t significand = is_zero(x) ? 0 : (x & FRACTION) | HIDDEN;
    /* 23 bits after the point, cut; a negative number is complemented unless it is whole */
    int32_t fixed = power >= 0 ? (int32_t)(significand << power) : power > -24 ? (int32_t)(significand >> -power) : 0;
    uint32_t fraction = (uint32_t)fixed & FRACTION;
    int whole = fixed >> 23;
    if (negative) {
        whole = fraction ? -whole - 1 : -whole;
        fraction = fraction ? ~fraction & FRACTION : 0;
    }
    if (whole < -126)
        return 0;
    uint32_t y = fraction ? (uint32_t)((interpolate(&ex2_table[fraction >> 17], fraction & 0x1ffff, 3) + EX2_BIAS) >> 18) : HIDDEN;
    return (uint32_t)(whole + 127) << 23 | (y & FRACTION);
}

uint32_t tess_vgpu_mufu_lg2(uint32_t x) {
    if (is_zero(x))
        return (uint32_t)SIGN | INFINITE;
    if (is_nan(x) || x >> 31)
        return CANONICAL_NAN;
    if (x == INFINITE || x == ONE)
        return x == ONE ? 0 : x;
    uint32_t fraction = x & FRACTION;
    int64_t logarithm = (interpolate(&lg2_table[fraction >> 17], fraction & 0x1ffff, 3) + LG2_BIAS) >> 6; /* units of 2^-36 */
    logarithm += ((int64_t)(x >> 23) - 127) * ((int64_t)1 << 36);
    return logarithm < 0 ? (uint32_t)SIGN | cut_to_float((uint64_t)~logarithm, 36) : cut_to_float((uint64_t)logarithm, 36);
}

/* The sine of a quarter turn's 2^23 parts; its coefficients have no bit below 2^-37. */
static uint32_t quarter_sine(uint32_t angle) { return cut_to_float((uint64_t)interpolate(&sin_table[angle >> 17], angle & 0x1ffff, 3) >> 5, 37); }

static uint32_t turn(uint32_t x, uint32_t quarters) {
    int power = (int)(x >> 23 & 255) - 127;
    if ((x & INFINITE) == INFINITE)
        return CANONICAL_NAN;
    uint32_t significand = is_zero(x) ? 0 : (x & FRACTION) | HIDDEN, sign = quarters ? 0 : x >> 31;
    /* 25 bits after the point: two for the quarter, 23 within it */
    int shift = power + 2;
    uint32_t fixed = shift >= 25 ? 0 : shift >= 0 ? significand << shift : shift > -24 ? significand >> -shift : 0;
    if (shift > 7 && shift < 25)
        fixed = (uint32_t)((uint64_t)significand << shift);
    fixed = (fixed + (quarters << 23)) & 0x1ffffff;
    uint32_t quarter = fixed >> 23, angle = fixed & FRACTION;
    if (quarter & 1)
        angle = ~angle & FRACTION;
    return (sign ^ quarter >> 1) << 31 | quarter_sine(angle);
}
uint32_t tess_vgpu_mufu_sin(uint32_t x) { return turn(x, 0); }
uint32_t tess_vgpu_mufu_cos(uint32_t x) { return turn(x, 1); }

uint32_t tess_vgpu_mufu_tanh(uint32_t x) {
    uint32_t sign = x & (uint32_t)SIGN, fraction = x & FRACTION;
    int power = (int)(x >> 23 & 255) - 127;
    if (is_nan(x))
        return CANONICAL_NAN;
    if (power < -8)
        return x;
    if (power > 2)
        return sign | ONE;
    /* by powers of two: how many bits choose the row, and where the rows begin */
    static const struct {
        uint8_t bits, first;
    } binade[] = {{0, 0}, {0, 1}, {0, 2}, {1, 3}, {1, 5}, {2, 7}, {2, 11}, {2, 15}, {3, 19}, {4, 27}, {3, 43}};
    int bits = binade[power + 8].bits;
    const row *r = &tanh_table[binade[power + 8].first + (fraction >> (23 - bits))];
    uint32_t below = fraction << bits & FRACTION;
    int64_t y = ((int64_t)r->c0 << 18) + (int64_t)r->c1 * (below >> 6) * 2 + r->c2 * square(below >> 6) * 8;
    return sign | cut_to_float((uint64_t)y >> 6, power < -1 ? 35 - power : 36);
}

/* Doubles use the tables of floats: 20 of the 23 fraction bits go in, and as many come out. */
uint32_t tess_vgpu_mufu_rcp64(uint32_t high) {
    uint32_t sign = high & (uint32_t)SIGN, fraction = high & 0xfffff;
    int field = (int)(high >> 20 & 0x7ff);
    if (field == 0x7ff)
        return fraction ? CANONICAL_NAN : sign;
    if (!field)
        return sign | 0x7ff00000;
    uint32_t y = tess_vgpu_mufu_rcp(ONE | fraction << 3);
    int exponent = 1023 + (int)(y >> 23) - 127 - (field - 1023);
    return exponent > 0 ? sign | (uint32_t)exponent << 20 | (y & FRACTION) >> 3 : sign;
}
uint32_t tess_vgpu_mufu_rsqrt64(uint32_t high) {
    uint32_t fraction = high & 0xfffff;
    int field = (int)(high >> 20 & 0x7ff), power = field - 1023, odd = power & 1;
    if (!field)
        return (high & (uint32_t)SIGN) | 0x7ff00000;
    if (high >> 31 || field == 0x7ff)
        return high == 0x7ff00000 ? 0 : CANONICAL_NAN;
    uint32_t y = tess_vgpu_mufu_rsqrt(ONE + ((uint32_t)odd << 23) + (fraction << 3));
    return (uint32_t)(1023 + (int)(y >> 23) - 127 - (power - odd) / 2) << 20 | (y & FRACTION) >> 3;
}

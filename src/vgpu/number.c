/* SPDX-License-Identifier: Apache-2.0
 * number.c - rounding to the float formats in integers: sign, magnitude and exponent in, bits out. One place for f16, bf16, f32 and f64, subnormals,
 * overflow and the four directions. */
#include "vgpu/number.h"

#include <math.h>
#include <string.h>

typedef struct float_format {
    int precision, bias, exponent_bits;
} float_format;

static float_format format_of(ptx_type type) {
    switch (type) {
    case PTX_F16:
    case PTX_F16X2: return (float_format){11, 15, 5};
    case PTX_BF16:
    case PTX_BF16X2: return (float_format){8, 127, 8};
    case PTX_F32: return (float_format){24, 127, 8};
    default: return (float_format){53, 1023, 11};
    }
}

static bool away_from_zero(bool negative, bool odd, bool half, bool rest, uint32_t rounding) {
    switch (rounding) {
    case PTX_RZ: return false;
    case PTX_RM: return negative && (half || rest);
    case PTX_RP: return !negative && (half || rest);
    default: return half && (rest || odd);
    }
}

uint64_t tess_vgpu_round(bool negative, uint64_t magnitude, int exponent, bool sticky, ptx_type type, uint32_t rounding) {
    float_format f = format_of(type);
    int width = f.precision - 1 + f.exponent_bits;
    uint64_t sign = (uint64_t)negative << width, infinity = ((1ull << f.exponent_bits) - 1) << (f.precision - 1);
    if (magnitude == 0 && !sticky)
        return sign;
    int top = magnitude ? 63 - TESS_LEADING_ZEROS64(magnitude) : -1; /* value is about 2^(top + exponent) */
    int lowest = top + exponent - (f.precision - 1), least = 1 - f.bias - (f.precision - 1);
    if (magnitude == 0 || lowest < least)
        lowest = least; /* subnormal: the last place no longer follows the value */
    int drop = lowest - exponent;
    uint64_t kept;
    bool half = false, rest = sticky;
    if (drop <= 0) {
        kept = magnitude << -drop;
    } else if (drop > 64) {
        kept = 0;
        rest |= magnitude != 0;
    } else {
        kept = drop == 64 ? 0 : magnitude >> drop;
        half = magnitude >> (drop - 1) & 1;
        rest |= (magnitude & ((1ull << (drop - 1)) - 1)) != 0;
    }
    kept += away_from_zero(negative, kept & 1, half, rest, rounding);
    if (kept >> f.precision) { /* the carry went through */
        kept >>= 1;
        lowest++;
    }
    bool normal = kept >> (f.precision - 1) & 1;
    int64_t biased = normal ? (int64_t)lowest + f.precision - 1 + f.bias : 0;
    if (biased >= (1 << f.exponent_bits) - 1) {
        bool to_infinity = away_from_zero(negative, true, true, true, rounding);
        return sign | (to_infinity ? infinity : infinity - 1);
    }
    return sign | (uint64_t)biased << (f.precision - 1) | (kept & ((1ull << (f.precision - 1)) - 1));
}

uint64_t tess_vgpu_round_double(double x, ptx_type type, uint32_t rounding) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    float_format f = format_of(type);
    bool negative = bits >> 63;
    uint64_t fraction = bits & 0xfffffffffffffu;
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t infinity = ((1ull << f.exponent_bits) - 1) << (f.precision - 1);
    if (exponent == 0x7ff) {
        if (fraction == 0)
            return infinity | (uint64_t)negative << (f.precision - 1 + f.exponent_bits);
        return type == PTX_F64 ? infinity | 1ull << 51 : infinity | ((1ull << (f.precision - 1)) - 1); /* the one NaN: 0x7fffffff, 0x7fff */
    }
    if (exponent)
        fraction |= 1ull << 52;
    return tess_vgpu_round(negative, fraction, (exponent ? exponent : 1) - 1075, false, type, rounding);
}

double tess_vgpu_value(uint64_t bits, ptx_type type) {
    double x;
    if (type == PTX_F64) {
        memcpy(&x, &bits, 8);
        return x;
    }
    float_format f = format_of(type);
    uint64_t fraction = bits & ((1ull << (f.precision - 1)) - 1), exponent = bits >> (f.precision - 1) & ((1ull << f.exponent_bits) - 1);
    bool negative = bits >> (f.precision - 1 + f.exponent_bits) & 1;
    if (exponent == (1ull << f.exponent_bits) - 1)
        x = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent)
        x = ldexp((double)(fraction | 1ull << (f.precision - 1)), (int)exponent - f.bias - (f.precision - 1));
    else
        x = ldexp((double)fraction, 1 - f.bias - (f.precision - 1));
    return negative ? -x : x;
}

/* Boldo and Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd, 2008. The products here are exact. */
double tess_vgpu_fma_odd(double a, double b, double c) {
    double p = a * b, s = p + c;
    if (!isfinite(s))
        return s;
    double c_part = s - p, error = (p - (s - c_part)) + (c - c_part); /* Knuth's two-sum */
    uint64_t bits;
    memcpy(&bits, &s, 8);
    if (error != 0 && !(bits & 1))
        s = nextafter(s, error > 0 ? (double)INFINITY : -(double)INFINITY);
    return s;
}

/* SPDX-License-Identifier: Apache-2.0
 * convert.c - cvt in all its forms, a lane at a time; the common ones have vector handlers in exec_compare.c. */
#include "vgpu/decode.h"
#include "vgpu/exec.h"
#include "vgpu/number.h"

static bool is_float(ptx_type t) { return t == PTX_F16 || t == PTX_BF16 || t == PTX_F32 || t == PTX_F64; }
static bool is_pair(ptx_type t) { return t == PTX_F16X2 || t == PTX_BF16X2; }
static bool is_signed(ptx_type t) { return t >= PTX_S8 && t <= PTX_S64; }
static bool is_integer(ptx_type t) { return t >= PTX_U8 && t <= PTX_S64; }

bool tess_vgpu_convert_known(ptx_type to, ptx_type from, uint32_t flags) {
    if (flags & ~(uint32_t)(PTX_ROUNDINGS | PTX_SAT | PTX_FTZ | PTX_NOFTZ | PTX_RELU))
        return false;
    if (flags & PTX_RELU && !(from == PTX_F32 && (is_pair(to) || to == PTX_F16 || to == PTX_BF16 || to == PTX_TF32)))
        return false;
    if (is_pair(to) || to == PTX_TF32)
        return from == PTX_F32;
    return (is_float(to) || is_integer(to)) && (is_float(from) || is_integer(from));
}

static double to_integer(double x, uint32_t flags) {
    return flags & PTX_RZI ? trunc(x) : flags & PTX_RMI ? floor(x) : flags & PTX_RPI ? ceil(x) : nearbyint(x);
}

static uint64_t saturated_integer(double x, ptx_type to) {
    int bits = 8 * tess_vgpu_type_bytes(to);
    if (x != x)
        return 0;
    if (is_signed(to)) {
        double limit = ldexp(1, bits - 1);
        return x >= limit ? (1ull << (bits - 1)) - 1 : x < -limit ? 0 - (1ull << (bits - 1)) : (uint64_t)(int64_t)x;
    }
    double limit = ldexp(1, bits);
    return x >= limit ? (bits == 64 ? ~0ull : (1ull << bits) - 1) : x < 0 ? 0 : (uint64_t)x;
}

static uint64_t float_result(double x, ptx_type to, uint32_t flags) {
    uint32_t rounding = flags & (PTX_RZ | PTX_RM | PTX_RP);
    if (flags & PTX_SAT)
        x = saturate_f64(x);
    if (flags & PTX_RELU && x < 0)
        x = 0;
    uint64_t bits = tess_vgpu_round_double(x, to, rounding ? rounding : PTX_RN);
    if (flags & PTX_FTZ && to == PTX_F32 && (bits & 0x7f800000u) == 0)
        bits &= 0x80000000u;
    return bits;
}

/* Of an integer to an integer .sat clamps to the range of the result; without it the low bits remain. */
static uint64_t integer_to_integer(uint64_t v, ptx_type from, ptx_type to, bool saturate) {
    int bits = 8 * tess_vgpu_type_bytes(to);
    if (!saturate)
        return v;
    bool negative = is_signed(from) && (int64_t)v < 0;
    if (!is_signed(to))
        return negative ? 0 : bits < 64 && v >> bits ? (1ull << bits) - 1 : v;
    uint64_t most = (1ull << (bits - 1)) - 1;
    return negative ? ((int64_t)v < -(int64_t)most - 1 ? ~most : v) : v > most ? most : v;
}

static uint64_t convert_one(uint64_t bits, ptx_type from, ptx_type to, uint32_t flags) {
    int from_bits = 8 * tess_vgpu_type_bytes(from);
    if (is_integer(from)) {
        uint64_t v = from_bits == 64 ? bits : bits & ((1ull << from_bits) - 1);
        if (is_signed(from) && from_bits < 64)
            v = (uint64_t)((int64_t)(v << (64 - from_bits)) >> (64 - from_bits));
        if (is_integer(to))
            return integer_to_integer(v, from, to, flags & PTX_SAT);
        bool negative = is_signed(from) && (int64_t)v < 0;
        uint32_t rounding = flags & (PTX_RZ | PTX_RM | PTX_RP);
        if (flags & PTX_SAT)
            return float_result(negative ? 0 : v ? 1 : 0, to, flags);
        return tess_vgpu_round(negative, negative ? 0 - v : v, 0, false, to, rounding ? rounding : PTX_RN);
    }
    double x = tess_vgpu_value(from_bits == 64 ? bits : bits & ((1ull << from_bits) - 1), from);
    if (flags & PTX_FTZ && from == PTX_F32 && fabs(x) < 0x1p-126)
        x = copysign(0, x);
    if (is_integer(to))
        return saturated_integer(to_integer(x, flags), to);
    if (flags & (PTX_RNI | PTX_RZI | PTX_RMI | PTX_RPI))
        x = to_integer(x, flags);
    return float_result(x, to, flags);
}

/* tf32 is an f32 whose last 13 bits are not there; .rna rounds halves away from zero. */
static uint32_t to_tf32(uint32_t bits, int mode, uint32_t flags) {
    bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    if (is_nan)
        return NAN_F32;
    if (flags & PTX_RELU && bits >> 31)
        return 0;
    if (flags & PTX_RZ || (bits & 0x7f800000u) == 0x7f800000u)
        return bits & 0xffffe000u;
    uint32_t half = mode == PTX_RNA ? 0x1000u : 0xfffu + (bits >> 13 & 1);
    return (bits + half) & 0xffffe000u;
}

static uint64_t lane_bits(const vgpu_warp *w, uint32_t slot, int bytes, int l) {
    return bytes == 8 ? SLOT(uint64_t, w, slot)[l] : bytes == 4 ? SLOT(uint32_t, w, slot)[l] : SLOT(uint16_t, w, slot)[l];
}

void tess_vgpu_convert(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    ptx_type to = (ptx_type)r->bytes, from = (ptx_type)r->count;
    int to_bits = 8 * tess_vgpu_type_bytes(to);
    for (int l = 0; l < LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        uint64_t v;
        if (to == PTX_TF32) {
            v = to_tf32(SLOT(uint32_t, w, r->a)[l], r->mode, r->target);
        } else if (is_pair(to)) { /* the first operand becomes the upper half */
            ptx_type half = to == PTX_F16X2 ? PTX_F16 : PTX_BF16;
            v = convert_one(lane_bits(w, r->a, (int)r->offset, l), from, half, r->target) << 16 |
                convert_one(lane_bits(w, r->b, 4, l), from, half, r->target);
        } else {
            v = convert_one(lane_bits(w, r->a, (int)r->offset, l), from, to, r->target);
            if (is_signed(to) && to_bits < 64) /* into a wider register with the sign */
                v = (uint64_t)((int64_t)(v << (64 - to_bits)) >> (64 - to_bits));
            else if (to_bits < 64)
                v &= (1ull << to_bits) - 1;
        }
        if (r->register_bytes == 8)
            SLOT(uint64_t, w, r->d)[l] = v;
        else if (r->register_bytes == 4)
            SLOT(uint32_t, w, r->d)[l] = (uint32_t)v;
        else
            SLOT(uint16_t, w, r->d)[l] = (uint16_t)v;
    }
}

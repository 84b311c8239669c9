/* SPDX-License-Identifier: Apache-2.0
 * approx.c - the .approx and .full operations: the special function unit with what the assembler for sm_90 puts around it.
 *
 * Without .ftz small arguments are scaled into the unit's range and the result is scaled back, which rounds once more. The sequences were read from
 * machine code; tests/test_vgpu_mufu.c compares them with results of an H200. Only rsqrt.approx.f64 is not the card's: it is rounded correctly here. */
#include "vgpu/decode.h"
#include "vgpu/exec.h"
#include "vgpu/mufu.h"
#include "vgpu/number.h"

static float unit(uint32_t (*f)(uint32_t), float x) { return bits_f32(f(f32_bits(x))); }
static float flushed(float x, bool flush) { return canonical_f32(flush ? flush_f32(x) : x); }

/* Radians to turns, cut and not rounded: 0.15915494 is 0xa2f983 / 2^26. */
static float turns(float x) {
    uint32_t u = f32_bits(x), sign = u & 0x80000000u;
    int field = (int)(u >> 23 & 255);
    if (!field || field == 255)
        return field ? x : bits_f32(sign);
    uint64_t product = (uint64_t)((u & 0x7fffff) | 0x800000) * 0xa2f983;
    int carry = (int)(product >> 47), exponent = field - 3 + carry;
    return bits_f32(exponent > 0 ? sign | (uint32_t)exponent << 23 | ((uint32_t)(product >> (23 + carry)) & 0x7fffff) : sign);
}

float tess_vgpu_approx(int op, float x, bool flush) {
    bool small = fabsf(x) < 0x1p-126f && !flush, large = fabsf(x) > 0x1p126f && !flush;
    switch (op) {
    case PTX_OP_RCP: {
        float scale = small ? 0x1p24f : large ? 0.25f : 1;
        return flushed(unit(tess_vgpu_mufu_rcp, x * scale) * scale, flush);
    }
    case PTX_OP_RSQRT: return small ? canonical_f32(unit(tess_vgpu_mufu_rsqrt, x * 0x1p24f) * 0x1p12f) : unit(tess_vgpu_mufu_rsqrt, x);
    case PTX_OP_SQRT: return small ? canonical_f32(unit(tess_vgpu_mufu_sqrt, x * 0x1p24f) * 0x1p-12f) : unit(tess_vgpu_mufu_sqrt, x);
    case PTX_OP_LG2: return small ? canonical_f32(unit(tess_vgpu_mufu_lg2, x * 0x1p24f) - 24) : unit(tess_vgpu_mufu_lg2, x);
    case PTX_OP_EX2: {
        float half = unit(tess_vgpu_mufu_ex2, x * 0.5f);
        return x < -126 && !flush ? half * half : unit(tess_vgpu_mufu_ex2, x);
    }
    case PTX_OP_SIN: return unit(tess_vgpu_mufu_sin, turns(x));
    case PTX_OP_COS: return unit(tess_vgpu_mufu_cos, turns(x));
    default: return unit(tess_vgpu_mufu_tanh, x);
    }
}

/* .full also brings large divisors into range. */
float tess_vgpu_divide(float a, float b, bool full, bool flush) {
    if (flush)
        a = flush_f32(a), b = flush_f32(b);
    float scale = fabsf(b) < 0x1p-126f && !flush ? 0x1p24f : full && fabsf(b) > 0x1p126f ? 0.25f : 1;
    return flushed(a * scale * unit(tess_vgpu_mufu_rcp, b * scale), flush);
}

static void approximate_row_f32(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const float *a = SLOT(float, w, r->a);
    float row[LANES];
    for (int l = 0; l < LANES; l++)
        row[l] = mask >> l & 1 ? tess_vgpu_approx(r->op, a[l], r->target & PTX_FTZ) : 0;
    PUT(float, SLOT(float, w, r->d), row, mask);
}
static void divide_row_f32(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const float *a = SLOT(float, w, r->a), *b = SLOT(float, w, r->b);
    float row[LANES];
    for (int l = 0; l < LANES; l++)
        row[l] = mask >> l & 1 ? tess_vgpu_divide(a[l], b[l], r->target & PTX_FULL, r->target & PTX_FTZ) : 0;
    PUT(float, SLOT(float, w, r->d), row, mask);
}

/* rcp and rsqrt .approx.ftz.f64 give a seed: the low word is zero. */
static void seed_row_f64(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint64_t *a = SLOT(uint64_t, w, r->a);
    uint64_t row[LANES];
    for (int l = 0; l < LANES; l++) {
        uint32_t high = (uint32_t)(a[l] >> 32);
        row[l] = (uint64_t)(r->op == PTX_OP_RCP ? tess_vgpu_mufu_rcp64(high) : tess_vgpu_mufu_rsqrt64(high)) << 32;
    }
    PUT(uint64_t, SLOT(uint64_t, w, r->d), row, mask);
}
static void rsqrt_row_f64(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const double *a = SLOT(double, w, r->a);
    double row[LANES];
    for (int l = 0; l < LANES; l++)
        row[l] = canonical_f64(1 / sqrt(a[l]));
    PUT(double, SLOT(double, w, r->d), row, mask);
}

/* 16-bit floats: the unit's result, cut. */
uint16_t tess_vgpu_approx_half(int op, uint16_t x, ptx_type type, bool flush) {
    uint16_t exponents = type == PTX_F16 ? 0x7c00 : 0x7f80;
    if ((x & 0x7fff) > exponents)
        return 0x7fff;
    float y = tess_vgpu_approx(op, (float)tess_vgpu_value(x, type), true);
    uint16_t result = isinf(y) ? (uint16_t)(exponents | (y < 0 ? 0x8000 : 0)) : (uint16_t)tess_vgpu_round_double((double)y, type, PTX_RZ);
    if (type == PTX_F16 && fabsf(y) >= 0x1p16f) /* beyond the largest: infinity, also when cut */
        result = (uint16_t)(y < 0 ? 0xfc00 : 0x7c00);
    return flush && !(result & exponents) ? result & 0x8000 : result;
}
static void half_row(vgpu_warp *w, const vgpu_record *r, uint32_t mask, ptx_type type, int parts) {
    const uint16_t *a = SLOT(uint16_t, w, r->a);
    uint16_t *d = SLOT(uint16_t, w, r->d);
    for (int i = 0; i < parts * LANES; i++)
        if (mask >> i / parts & 1)
            d[i] = tess_vgpu_approx_half(r->op, a[i], type, r->target & PTX_FTZ);
}
static void approximate_f16(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { half_row(w, r, mask, PTX_F16, 1); }
static void approximate_bf16(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { half_row(w, r, mask, PTX_BF16, 1); }
static void approximate_f16x2(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { half_row(w, r, mask, PTX_F16, 2); }
static void approximate_bf16x2(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { half_row(w, r, mask, PTX_BF16, 2); }

vgpu_handler tess_vgpu_approx_handler(int op, ptx_type type, uint32_t flags) {
    bool one = op == PTX_OP_RCP || op == PTX_OP_SQRT || op == PTX_OP_RSQRT || (op >= PTX_OP_EX2 && op <= PTX_OP_TANH);
    if (type == PTX_F32)
        return op == PTX_OP_DIV ? divide_row_f32 : one ? approximate_row_f32 : NULL;
    if (type == PTX_F64)
        return flags & PTX_FTZ && (op == PTX_OP_RCP || op == PTX_OP_RSQRT) ? seed_row_f64 : op == PTX_OP_RSQRT ? rsqrt_row_f64 : NULL;
    if (op != PTX_OP_EX2 && op != PTX_OP_TANH)
        return NULL;
    return type == PTX_F16      ? approximate_f16
           : type == PTX_BF16   ? approximate_bf16
           : type == PTX_F16X2  ? approximate_f16x2
           : type == PTX_BF16X2 ? approximate_bf16x2
                                : NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 * math.c - directed rounding and 16-bit floats, a lane at a time, and the table of the slow handlers. */
#include <fenv.h>

#include "vgpu/decode.h"
#include "vgpu/exec.h"
#include "vgpu/number.h"

/* ---- directed rounding: the processor does it, in its own mode ---- */

static int direction(const vgpu_record *r) { return r->target & PTX_RZ ? FE_TOWARDZERO : r->target & PTX_RM ? FE_DOWNWARD : FE_UPWARD; }

/* Every operand goes through a volatile, so that no arithmetic is moved out of the rounding mode. */
static double directed_f64(int op, double a, double b, double c) {
    volatile double x = a, y = b, z = c, result;
    switch (op) {
    case PTX_OP_ADD: result = x + y; break;
    case PTX_OP_SUB: result = x - y; break;
    case PTX_OP_MUL: result = x * y; break;
    case PTX_OP_DIV: result = x / y; break;
    case PTX_OP_RCP: result = 1 / x; break;
    case PTX_OP_SQRT: result = sqrt(x); break;
    default: result = fma(x, y, z); break;
    }
    return result;
}
static float directed_f32(int op, float a, float b, float c) {
    volatile float x = a, y = b, z = c, result;
    switch (op) {
    case PTX_OP_ADD: result = x + y; break;
    case PTX_OP_SUB: result = x - y; break;
    case PTX_OP_MUL: result = x * y; break;
    case PTX_OP_DIV: result = x / y; break;
    case PTX_OP_RCP: result = 1 / x; break;
    case PTX_OP_SQRT: result = sqrtf(x); break;
    default: result = fmaf(x, y, z); break;
    }
    return result;
}

static uint32_t third(const vgpu_record *r) { return r->c == VGPU_NO_SLOT ? r->a : r->c; }

static void directed_row_f64(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const double *a = SLOT(double, w, r->a), *b = SLOT(double, w, r->b), *c = SLOT(double, w, third(r));
    int before = fegetround();
    fesetround(direction(r));
    double row[LANES];
    for (int l = 0; l < LANES; l++)
        row[l] = mask >> l & 1 ? directed_f64(r->op, a[l], b[l], c[l]) : 0;
    fesetround(before);
    for (int l = 0; l < LANES; l++)
        row[l] = canonical_f64(row[l]);
    PUT(double, SLOT(double, w, r->d), row, mask);
}
static void directed_row_f32(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const float *a = SLOT(float, w, r->a), *b = SLOT(float, w, r->b), *c = SLOT(float, w, third(r));
    bool flush = r->target & PTX_FTZ, saturate = r->target & PTX_SAT;
    float row[LANES], x[LANES], y[LANES], z[LANES];
    for (int l = 0; l < LANES; l++) {
        x[l] = flush ? flush_f32(a[l]) : a[l];
        y[l] = flush ? flush_f32(b[l]) : b[l];
        z[l] = flush ? flush_f32(c[l]) : c[l];
    }
    int before = fegetround();
    fesetround(direction(r));
    for (int l = 0; l < LANES; l++)
        row[l] = mask >> l & 1 ? directed_f32(r->op, x[l], y[l], z[l]) : 0;
    fesetround(before);
    for (int l = 0; l < LANES; l++) {
        row[l] = flush ? flush_f32(row[l]) : row[l];
        row[l] = saturate ? saturate_f32(row[l]) : canonical_f32(row[l]);
    }
    PUT(float, SLOT(float, w, r->d), row, mask);
}

/* ---- 16-bit floats, single and in pairs ---- */

static bool small_half(uint64_t bits, ptx_type type) { return (bits & (type == PTX_F16 ? 0x7c00 : 0x7f80)) == 0; }

static uint16_t half_operation(int op, uint16_t a, uint16_t b, uint16_t c, ptx_type type, uint32_t flags) {
    if (op == PTX_OP_NEG)
        return a ^ 0x8000;
    if (op == PTX_OP_ABS)
        return a & 0x7fff;
    if (flags & PTX_FTZ) {
        a = small_half(a, type) ? a & 0x8000 : a;
        b = small_half(b, type) ? b & 0x8000 : b;
        c = small_half(c, type) ? c & 0x8000 : c;
    }
    double x = tess_vgpu_value(a, type), y = tess_vgpu_value(b, type), z = tess_vgpu_value(c, type), v;
    switch (op) {
    case PTX_OP_ADD: v = tess_vgpu_fma_odd(x, 1, y); break;
    case PTX_OP_SUB: v = tess_vgpu_fma_odd(x, 1, -y); break;
    case PTX_OP_MUL: v = x * y; break;
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        if (flags & PTX_NAN && (x != x || y != y))
            v = (double)NAN;
        else if (x != x || y != y)
            v = x != x ? y : x;
        else if (x == y)
            v = op == PTX_OP_MIN ? (signbit(x) ? x : y) : (signbit(x) ? y : x);
        else
            v = (op == PTX_OP_MIN) == (x < y) ? x : y;
        break;
    default: v = tess_vgpu_fma_odd(x, y, z); break;
    }
    if (flags & PTX_SAT)
        v = saturate_f64(v);
    if (flags & PTX_RELU && v < 0)
        v = 0;
    uint16_t result = (uint16_t)tess_vgpu_round_double(v, type, PTX_RN);
    return flags & PTX_FTZ && small_half(result, type) ? result & 0x8000 : result;
}

static void half_row(vgpu_warp *w, const vgpu_record *r, uint32_t mask, ptx_type type, int parts) {
    const uint16_t *a = SLOT(uint16_t, w, r->a), *b = SLOT(uint16_t, w, r->b), *c = SLOT(uint16_t, w, third(r));
    uint16_t *d = SLOT(uint16_t, w, r->d), row[2 * LANES];
    for (int i = 0; i < parts * LANES; i++)
        row[i] = mask >> i / parts & 1 ? half_operation(r->op, a[i], b[i], c[i], type, r->target) : d[i];
    memcpy(d, row, (size_t)(parts * LANES) * sizeof *row);
}
static void half_f16(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { half_row(w, r, mask, PTX_F16, 1); }
static void half_bf16(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { half_row(w, r, mask, PTX_BF16, 1); }
static void half_f16x2(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { half_row(w, r, mask, PTX_F16, 2); }
static void half_bf16x2(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { half_row(w, r, mask, PTX_BF16, 2); }

/* ---- the tables: op and type here, the flags are looked at when it runs ---- */

vgpu_handler tess_vgpu_slow_handler(int op, ptx_type type, uint32_t flags) {
    bool arithmetic = op == PTX_OP_ADD || op == PTX_OP_SUB || op == PTX_OP_MUL || op == PTX_OP_FMA || op == PTX_OP_MAD;
    bool root = op == PTX_OP_DIV || op == PTX_OP_RCP || op == PTX_OP_SQRT;
    uint32_t directed = flags & (PTX_RZ | PTX_RM | PTX_RP), others = flags & ~directed;
    bool one = directed && !(directed & (directed - 1));
    if (type == PTX_F32 && one && (arithmetic || root) && !(others & ~(uint32_t)(PTX_FTZ | PTX_SAT)))
        return directed_row_f32;
    if (type == PTX_F64 && one && (arithmetic || root) && !others)
        return directed_row_f64;
    if (directed)
        return NULL;
    bool approx = flags & (PTX_APPROX | PTX_FULL);
    others = flags & ~(uint32_t)(PTX_APPROX | PTX_FULL | PTX_FTZ);
    if (approx)
        return others ? NULL : tess_vgpu_approx_handler(op, type, flags);
    bool half = arithmetic || op == PTX_OP_NEG || op == PTX_OP_ABS || op == PTX_OP_MIN || op == PTX_OP_MAX;
    if (!half || flags & ~(uint32_t)(PTX_FTZ | PTX_SAT | PTX_NAN | (op == PTX_OP_FMA ? PTX_RELU : 0)))
        return NULL;
    return type == PTX_F16 ? half_f16 : type == PTX_BF16 ? half_bf16 : type == PTX_F16X2 ? half_f16x2 : type == PTX_BF16X2 ? half_bf16x2 : NULL;
}

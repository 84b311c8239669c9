/* SPDX-License-Identifier: Apache-2.0
 * rare.c - forms that compilers seldom make, a lane at a time: comparisons of 16-bit floats that flush, come in pairs or give 16 bits (half-precision
 * library functions test for special cases with them), prmt by mode, slct, halves and bytes of words as integers, bits counted off, minima that stop at 0. */
#include "vgpu/decode.h"
#include "vgpu/exec.h"
#include "vgpu/number.h"

/* ---- setp and set of 16-bit floats ---- */

static bool is_pair(ptx_type t) { return t == PTX_F16X2 || t == PTX_BF16X2; }
static bool is_half(ptx_type t) { return t == PTX_F16 || t == PTX_BF16; }

static bool holds(int mode, double x, double y) {
    bool ordered = x == x && y == y;
    switch (mode) {
    case PTX_EQ: return x == y;
    case PTX_NE: return ordered && x != y;
    case PTX_LT: return x < y;
    case PTX_LE: return x <= y;
    case PTX_GT: return x > y;
    case PTX_GE: return x >= y;
    case PTX_EQU: return !ordered || x == y;
    case PTX_NEU: return !ordered || x != y;
    case PTX_LTU: return !ordered || x < y;
    case PTX_LEU: return !ordered || x <= y;
    case PTX_GTU: return !ordered || x > y;
    case PTX_GEU: return !ordered || x >= y;
    case PTX_NUM: return ordered;
    default: return !ordered;
    }
}

/* A lane's low or high half, flushed where the form asks for it. */
static double half_of(const vgpu_warp *w, uint32_t slot, int lane, int part, int parts, ptx_type type, uint32_t flags) {
    double x = tess_vgpu_value(SLOT(uint16_t, w, slot)[lane * parts + part], type);
    return flags & PTX_FTZ && fabs(x) < (type == PTX_F16 ? 0x1p-14 : 0x1p-126) ? copysign(0, x) : x;
}

static uint32_t compared(const vgpu_warp *w, const vgpu_record *r, int part) {
    ptx_type type = (ptx_type)r->bytes, half = type == PTX_F16X2 ? PTX_F16 : type == PTX_BF16X2 ? PTX_BF16 : type;
    uint32_t t = 0;
    int parts = is_pair(type) ? 2 : 1;
    for (int l = 0; l < LANES; l++)
        t |= (uint32_t)holds(r->mode, half_of(w, r->a, l, part, parts, half, r->target), half_of(w, r->b, l, part, parts, half, r->target)) << l;
    return t;
}

static uint32_t connected(const vgpu_warp *w, const vgpu_record *r, uint32_t t) {
    if (r->c == VGPU_NO_SLOT || r->count == PTX_NO_MODE)
        return t;
    uint32_t c = vgpu_predicate(w, r->c) ^ (r->flags & VGPU_NOT_C ? ALL_LANES : 0);
    return r->count == PTX_AND ? t & c : r->count == PTX_OR ? t | c : t ^ c;
}

/* Of a pair the halves give p and q; of one number q is the opposite. */
static void set_predicate(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    uint32_t low = compared(w, r, 0), high = is_pair((ptx_type)r->bytes) ? compared(w, r, 1) : ~low;
    uint32_t p = connected(w, r, low), q = connected(w, r, high);
    vgpu_set_predicate(w, r->d, p, mask);
    if (r->e != VGPU_NO_SLOT)
        vgpu_set_predicate(w, r->e, q, mask);
}

static void set_number(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    ptx_type to = (ptx_type)r->register_bytes;
    int parts = is_pair(to) ? 2 : 1;
    uint16_t one = to == PTX_F16 || to == PTX_F16X2 ? 0x3c00 : to == PTX_BF16 || to == PTX_BF16X2 ? 0x3f80 : 0xffff;
    uint32_t truth[2] = {connected(w, r, compared(w, r, 0)), parts == 2 ? connected(w, r, compared(w, r, 1)) : 0};
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < parts && mask >> l & 1; i++) {
            if (tess_vgpu_type_bytes(to) == 4 && parts == 1)
                SLOT(uint32_t, w, r->d)[l] = !(truth[0] >> l & 1) ? 0 : to == PTX_F32 ? 0x3f800000u : ALL_LANES;
            else
                SLOT(uint16_t, w, r->d)[l * parts + i] = truth[i] >> l & 1 ? one : 0;
        }
}

/* ---- words ---- */

/* The nibbles that prmt without a mode would be given, for each value of the last two bits of c. */
static const uint16_t selectors[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123}, {0x0000, 0x1111, 0x2222, 0x3333},
                                         {0x3210, 0x3211, 0x3222, 0x3333}, {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};

static void permute(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    for (int l = 0; l < LANES; l++) {
        uint64_t bytes = SLOT(uint32_t, w, r->a)[l] | (uint64_t)SLOT(uint32_t, w, r->b)[l] << 32;
        uint32_t v = 0, nibbles = selectors[r->mode - PTX_F4E][SLOT(uint32_t, w, r->c)[l] & 3];
        for (int i = 0; i < 4; i++)
            v |= (uint32_t)(bytes >> 8 * (nibbles >> 4 * i & 15) & 255) << 8 * i;
        if (mask >> l & 1)
            SLOT(uint32_t, w, r->d)[l] = v;
    }
}

static void select_sign(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    size_t size = r->bytes;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m);
        float c = SLOT(float, w, r->c)[l];
        bool first = r->count == PTX_F32 ? (r->target & PTX_FTZ ? flush_f32(c) : c) >= 0 : SLOT(int32_t, w, r->c)[l] >= 0;
        memcpy(w->file + r->d + (size_t)l * size, w->file + (first ? r->a : r->b) + (size_t)l * size, size);
    }
}

static int32_t integer_of(int op, int32_t a, int32_t b, bool stop) {
    int32_t v = op == PTX_OP_ADD ? (int32_t)((uint32_t)a + (uint32_t)b) : (op == PTX_OP_MIN) == (a < b) ? a : b;
    return stop && v < 0 ? 0 : v;
}

static void halves(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint16_t *a = SLOT(uint16_t, w, r->a), *b = SLOT(uint16_t, w, r->b);
    uint16_t *d = SLOT(uint16_t, w, r->d);
    bool negative = r->bytes == PTX_S16X2, stop = r->target & PTX_RELU;
    for (int i = 0; i < 2 * LANES; i++) {
        int32_t x = negative ? (int16_t)a[i] : a[i], y = negative ? (int16_t)b[i] : b[i];
        if (mask >> i / 2 & 1)
            d[i] = (uint16_t)integer_of(r->op, x, y, stop);
    }
}

static void stopped(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m);
        SLOT(int32_t, w, r->d)[l] = integer_of(r->op, SLOT(int32_t, w, r->a)[l], SLOT(int32_t, w, r->b)[l], true);
    }
}

static uint32_t nth_one(uint32_t a, uint32_t base, int32_t n) {
    for (int32_t at = (int32_t)base; base < 32 && at >= 0 && at < 32; at += n < 0 ? -1 : 1)
        if (a >> at & 1 && (n == 0 ? at == (int32_t)base : n < 0 ? ++n == 0 : --n == 0))
            return (uint32_t)at;
        else if (n == 0)
            break;
    return UINT32_MAX;
}

static uint32_t ones(uint32_t width) { return width >= 32 ? UINT32_MAX : (1u << width) - 1; }

static uint32_t extended(uint32_t a, uint32_t width, bool sign) {
    if (width >= 32)
        return a;
    return sign && width && a >> (width - 1) & 1 ? a | ~ones(width) : a & ones(width);
}

static uint32_t differences(uint32_t a, uint32_t b, uint32_t c, bool sign, bool sum) {
    uint32_t v = 0;
    for (int i = 0; i < 32; i += 8) {
        int x = sign ? (int8_t)(a >> i) : (uint8_t)(a >> i), y = sign ? (int8_t)(b >> i) : (uint8_t)(b >> i), away = x < y ? y - x : x - y;
        v += (uint32_t)away << (sum ? 0 : i);
    }
    return sum ? v + c : v;
}

static void word(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t *a = SLOT(uint32_t, w, r->a), *b = SLOT(uint32_t, w, r->b), *c = r->c == VGPU_NO_SLOT ? b : SLOT(uint32_t, w, r->c);
    bool sign = r->bytes == PTX_S32, wrap = r->target & PTX_WRAP;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m);
        uint32_t n = wrap ? b[l] & 31 : b[l], from = wrap ? a[l] & 31 : a[l];
        SLOT(uint32_t, w, r->d)
        [l] = r->op == PTX_OP_FNS     ? nth_one(a[l], b[l], (int32_t)c[l])
              : r->op == PTX_OP_BMSK  ? from < 32 ? ones(n) << from : 0
              : r->op == PTX_OP_SZEXT ? extended(a[l], n, sign)
                                      : differences(a[l], b[l], c[l], sign, r->mode == PTX_ADD);
    }
}

/* ---- which ---- */

static bool compares_floats(ptx_mode mode) { return (mode >= PTX_EQ && mode <= PTX_GE) || (mode >= PTX_EQU && mode <= PTX_ISNAN); }

vgpu_handler tess_vgpu_rare_handler(const ptx_instruction *in, vgpu_record *r) {
    ptx_type type = in->types[0], second = in->type_count > 1 ? in->types[1] : PTX_NO_TYPE;
    bool plain = in->mode_count == 0 && in->type_count == 1, extreme = in->op == PTX_OP_MIN || in->op == PTX_OP_MAX;
    uint32_t flags = in->flags;
    r->bytes = (uint8_t)type;
    switch (in->op) {
    case PTX_OP_FNS: return plain && type == PTX_B32 && !flags ? word : NULL;
    case PTX_OP_BMSK: return plain && type == PTX_B32 && (flags == PTX_WRAP || flags == PTX_CLAMP) ? word : NULL;
    case PTX_OP_SZEXT: return plain && (type == PTX_U32 || type == PTX_S32) && (flags == PTX_WRAP || flags == PTX_CLAMP) ? word : NULL;
    case PTX_OP_VABSDIFF4:
        r->bytes = (uint8_t)second; /* of a and b, which are alike here; the result wraps */
        return in->type_count == 3 && second == in->types[2] && (second == PTX_U32 || second == PTX_S32) &&
                       (in->mode_count == 0 || (in->mode_count == 1 && in->modes[0] == PTX_ADD)) && !flags
                   ? word
                   : NULL;
    case PTX_OP_SETP:
        return compares_floats(in->modes[0]) && (is_half(type) || is_pair(type)) && in->type_count == 1 && !(flags & ~(uint32_t)PTX_FTZ)
                   ? set_predicate
                   : NULL;
    case PTX_OP_SET:
        r->bytes = (uint8_t)second;
        if (!compares_floats(in->modes[0]) || flags & ~(uint32_t)PTX_FTZ)
            return NULL;
        if (is_pair(second))
            return type == second ? set_number : NULL;
        return is_half(second) && (is_half(type) || type == PTX_U16 || type == PTX_S16 || type == PTX_U32 || type == PTX_S32 || type == PTX_F32)
                   ? set_number
                   : NULL;
    case PTX_OP_PRMT: return in->modes[0] >= PTX_F4E && in->modes[0] <= PTX_RC16 && type == PTX_B32 && !flags ? permute : NULL;
    case PTX_OP_SLCT:
        r->bytes = (uint8_t)tess_vgpu_type_bytes(type);
        r->count = (uint8_t)second;
        return r->bytes > 1 && type != PTX_B128 && (second == PTX_S32 ? !flags : second == PTX_F32 && !(flags & ~(uint32_t)PTX_FTZ)) ? select_sign
                                                                                                                                     : NULL;
    case PTX_OP_ADD:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        if (plain && (type == PTX_U16X2 || type == PTX_S16X2))
            return !flags || (flags == PTX_RELU && extreme && type == PTX_S16X2) ? halves : NULL;
        return plain && extreme && type == PTX_S32 && flags == PTX_RELU ? stopped : NULL;
    default: return NULL;
    }
}

/* SPDX-License-Identifier: Apache-2.0
 * exec_bits.c - single bits, fields and bytes of a word: counted, found, moved, chosen by a table. Compiled once per instruction set. */
#include "vgpu/exec_lanes.h"

TESS_INLINE uint32_t reverse32(uint32_t x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}
UNARY(brev_u32, uint32_t, uint32_t, reverse32(x))
UNARY(brev_u64, uint64_t, uint64_t, (uint64_t)reverse32((uint32_t)x) << 32 | reverse32((uint32_t)(x >> 32)))
UNARY(popc_u32, uint32_t, uint32_t, TESS_POPCOUNT(x))
UNARY(popc_u64, uint32_t, uint64_t, TESS_POPCOUNT64(x))
UNARY(clz_u32, uint32_t, uint32_t, x ? TESS_LEADING_ZEROS(x) : 32)
UNARY(clz_u64, uint32_t, uint64_t, x ? TESS_LEADING_ZEROS64(x) : 64)
UNARY(bfind_u32, uint32_t, uint32_t, x ? 31 - TESS_LEADING_ZEROS(x) : -1)
UNARY(bfind_u64, uint32_t, uint64_t, x ? 63 - TESS_LEADING_ZEROS64(x) : -1)
UNARY(bfind_s32, uint32_t, int32_t, (x ^ x >> 31) ? 31 - TESS_LEADING_ZEROS((uint32_t)(x ^ x >> 31)) : -1)
UNARY(bfind_s64, uint32_t, int64_t, (x ^ x >> 63) ? 63 - TESS_LEADING_ZEROS64((uint64_t)(x ^ x >> 63)) : -1)
UNARY(bfind_amount_u32, uint32_t, uint32_t, x ? TESS_LEADING_ZEROS(x) : -1)
UNARY(bfind_amount_u64, uint32_t, uint64_t, x ? TESS_LEADING_ZEROS64(x) : -1)
UNARY(bfind_amount_s32, uint32_t, int32_t, (x ^ x >> 31) ? TESS_LEADING_ZEROS((uint32_t)(x ^ x >> 31)) : -1)
UNARY(bfind_amount_s64, uint32_t, int64_t, (x ^ x >> 63) ? TESS_LEADING_ZEROS64((uint64_t)(x ^ x >> 63)) : -1)

/* bfe: bits beyond the word repeat its sign for .s, are 0 for .u; position and length are taken modulo 256. */
TESS_INLINE uint64_t field(uint64_t x, uint32_t at, uint32_t length, int bits, bool is_signed) {
    at &= 255;
    length &= 255;
    uint64_t fill = 0;
    if (is_signed && length) {
        uint32_t top = at + length - 1 < (uint32_t)bits ? at + length - 1 : (uint32_t)bits - 1;
        fill = x >> top & 1 ? ~0ull : 0;
    }
    uint64_t result = 0;
    for (uint32_t i = 0; i < (uint32_t)bits; i++) {
        uint64_t bit = i < length && at + i < (uint32_t)bits ? x >> (at + i) & 1 : fill & 1;
        result |= bit << i;
    }
    return result;
}
TERNARY4(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, field(x, y, z, 32, false))
TERNARY4(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t, field(x, y, z, 32, true))
TERNARY4(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, field(x, y, z, 64, false))
TERNARY4(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, field(x, y, z, 64, true))

#define BFI(U, u, bits)                                                            \
    HANDLER(bfi_##u) {                                                             \
        const U *a = SLOT(U, w, r->a), *b = SLOT(U, w, r->b);                      \
        const uint32_t *c = SLOT(uint32_t, w, r->c), *e = SLOT(uint32_t, w, r->e); \
        U row[LANES];                                                              \
        for (int l = 0; l < LANES; l++) {                                          \
            uint32_t at = c[l] & 255, length = e[l] & 255;                         \
            U ones = length >= bits ? (U) ~(U)0 : ((U)1 << length) - 1;            \
            U where = at >= bits ? 0 : ones << at;                                 \
            row[l] = (b[l] & ~where) | (at >= bits ? 0 : a[l] << at & where);      \
        }                                                                          \
        PUT(U, SLOT(U, w, r->d), row, mask);                                       \
    }
BFI(uint32_t, u32, 32)
BFI(uint64_t, u64, 64)

HANDLER(lop3_b32) {
    const uint32_t *a = SLOT(uint32_t, w, r->a), *b = SLOT(uint32_t, w, r->b), *c = SLOT(uint32_t, w, r->c);
    uint32_t table = *SLOT(uint32_t, w, r->e), row[LANES];
    for (int l = 0; l < LANES; l++) {
        uint32_t v = 0;
        for (int k = 0; k < 8; k++) /* bit k of the table: the result for a, b, c = bits 2, 1, 0 of k */
            if (table >> k & 1)
                v |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
        row[l] = v;
    }
    PUT(uint32_t, SLOT(uint32_t, w, r->d), row, mask);
}

/* Funnel shifts: b is the high word. .wrap takes the amount modulo 32, .clamp at most 32. */
TESS_INLINE uint64_t pair64(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }
TERNARY(shf_l_wrap, uint32_t, pair64(x, y) << (z & 31) >> 32)
TERNARY(shf_r_wrap, uint32_t, pair64(x, y) >> (z & 31))
TERNARY(shf_l_clamp, uint32_t, z >= 32 ? x : pair64(x, y) << z >> 32)
TERNARY(shf_r_clamp, uint32_t, pair64(x, y) >> (z < 32 ? z : 32))

TESS_INLINE uint32_t permute(uint32_t x, uint32_t y, uint32_t z) {
    uint64_t bytes = pair64(x, y);
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t nibble = z >> 4 * i & 15, byte = (uint32_t)(bytes >> 8 * (nibble & 7)) & 255;
        v |= (nibble & 8 ? (byte & 128 ? 255u : 0) : byte) << 8 * i;
    }
    return v;
}
TERNARY(prmt_b32, uint32_t, permute(x, y, z))

/* ---- the table ---- */

/* clang-format off */
#define ROW(op, type, handler) {PTX_OP_##op, PTX_##type, 0, 0, 0, handler},
#define FORM(op, type, mode, flags, handler) {PTX_OP_##op, PTX_##type, 0, PTX_##mode, flags, handler},

static const vgpu_handler_row rows[] = {
    ROW(BREV, B32, brev_u32) ROW(BREV, B64, brev_u64) ROW(POPC, B32, popc_u32) ROW(POPC, B64, popc_u64) ROW(CLZ, B32, clz_u32) ROW(CLZ, B64, clz_u64)
    ROW(BFIND, U32, bfind_u32) ROW(BFIND, U64, bfind_u64) ROW(BFIND, S32, bfind_s32) ROW(BFIND, S64, bfind_s64)
    {PTX_OP_BFIND, PTX_U32, 0, 0, PTX_SHIFTAMT, bfind_amount_u32}, {PTX_OP_BFIND, PTX_U64, 0, 0, PTX_SHIFTAMT, bfind_amount_u64},
    {PTX_OP_BFIND, PTX_S32, 0, 0, PTX_SHIFTAMT, bfind_amount_s32}, {PTX_OP_BFIND, PTX_S64, 0, 0, PTX_SHIFTAMT, bfind_amount_s64},
    ROW(BFE, U32, bfe_u32) ROW(BFE, S32, bfe_s32) ROW(BFE, U64, bfe_u64) ROW(BFE, S64, bfe_s64) ROW(BFI, B32, bfi_u32) ROW(BFI, B64, bfi_u64)
    ROW(LOP3, B32, lop3_b32) ROW(PRMT, B32, prmt_b32)
    FORM(SHF, B32, LEFT, PTX_WRAP, shf_l_wrap) FORM(SHF, B32, RIGHT, PTX_WRAP, shf_r_wrap)
    FORM(SHF, B32, LEFT, PTX_CLAMP, shf_l_clamp) FORM(SHF, B32, RIGHT, PTX_CLAMP, shf_r_clamp)
};
/* clang-format on */

extern const vgpu_handler_table TESS_ISA_NAME(tess_vgpu_bits);
const vgpu_handler_table TESS_ISA_NAME(tess_vgpu_bits) = {rows, TESS_COUNT(rows)};

/* SPDX-License-Identifier: Apache-2.0
 * lanes.c - operations among the lanes of a warp: votes, matches, reductions. Shuffles: exec_memory.c. The warp loop has brought the named lanes together. */
#include "vgpu/decode.h"
#include "vgpu/exec.h"

static void vote(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    uint32_t p = (vgpu_predicate(w, r->a) ^ (r->flags & VGPU_NOT_C ? ALL_LANES : 0)) & mask, t = 0, row[LANES];
    const uint32_t *named = SLOT(uint32_t, w, r->f);
    for (int l = 0; l < LANES; l++) {
        uint32_t lanes = named[l] & mask, yes = p & lanes;
        row[l] = yes;
        bool v = r->mode == PTX_ALL ? yes == lanes : r->mode == PTX_ANY ? yes != 0 : yes == 0 || yes == lanes;
        t |= (uint32_t)v << l;
    }
    if (r->mode == PTX_BALLOT)
        PUT(uint32_t, SLOT(uint32_t, w, r->d), row, mask);
    else
        vgpu_set_predicate(w, r->d, t, mask);
}

static void match(vgpu_warp *w, const vgpu_record *r, uint32_t mask, int bytes) {
    const uint32_t *named = SLOT(uint32_t, w, r->f);
    uint32_t row[LANES], agreed = 0;
    for (int l = 0; l < LANES; l++) {
        uint32_t lanes = named[l] & mask, same = 0;
        for (int k = 0; k < LANES; k++)
            if (lanes >> k & 1 && memcmp(w->file + r->a + k * bytes, w->file + r->a + l * bytes, (size_t)bytes) == 0)
                same |= 1u << k;
        bool all = same == lanes;
        row[l] = r->mode == PTX_ANY ? same : all ? lanes : 0;
        agreed |= (uint32_t)all << l;
    }
    PUT(uint32_t, SLOT(uint32_t, w, r->d), row, mask);
    if (r->e != VGPU_NO_SLOT)
        vgpu_set_predicate(w, r->e, agreed, mask);
}
static void match_32(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { match(w, r, mask, 4); }
static void match_64(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { match(w, r, mask, 8); }

static void reduce(vgpu_warp *w, const vgpu_record *r, uint32_t mask, bool is_signed) {
    const uint32_t *a = SLOT(uint32_t, w, r->a), *named = SLOT(uint32_t, w, r->f);
    uint32_t row[LANES];
    for (int l = 0; l < LANES; l++) {
        uint32_t lanes = named[l] & mask, v = 0;
        bool first = true;
        for (int k = 0; k < LANES; k++) {
            if (!(lanes >> k & 1))
                continue;
            bool less = is_signed ? (int32_t)a[k] < (int32_t)v : a[k] < v;
            v = first                ? a[k]
                : r->mode == PTX_ADD ? v + a[k]
                : r->mode == PTX_AND ? v & a[k]
                : r->mode == PTX_OR  ? v | a[k]
                : r->mode == PTX_XOR ? v ^ a[k]
                : r->mode == PTX_MIN ? (less ? a[k] : v)
                                     : (less ? v : a[k]);
            first = false;
        }
        row[l] = v;
    }
    PUT(uint32_t, SLOT(uint32_t, w, r->d), row, mask);
}
static void reduce_unsigned(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { reduce(w, r, mask, false); }
static void reduce_signed(vgpu_warp *w, const vgpu_record *r, uint32_t mask) { reduce(w, r, mask, true); }

static void elect(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t *named = SLOT(uint32_t, w, r->f);
    uint32_t row[LANES], me = 0;
    for (int l = 0; l < LANES; l++) {
        uint32_t lanes = named[l] & mask;
        row[l] = lanes ? (uint32_t)TESS_LOW_BIT(lanes) : 0;
        me |= (uint32_t)(lanes && (int)row[l] == l) << l;
    }
    PUT(uint32_t, SLOT(uint32_t, w, r->d), row, mask);
    if (r->e != VGPU_NO_SLOT)
        vgpu_set_predicate(w, r->e, me, mask);
}

vgpu_handler tess_vgpu_lane_handler(int op, ptx_type type, ptx_mode mode) {
    switch (op) {
    case PTX_OP_VOTE:
        if (mode == PTX_BALLOT)
            return type == PTX_B32 ? vote : NULL;
        return type == PTX_PRED && (mode == PTX_ALL || mode == PTX_ANY || mode == PTX_NO_MODE) ? vote : NULL; /* .uni is a flag */
    case PTX_OP_MATCH: return mode != PTX_ANY && mode != PTX_ALL ? NULL : type == PTX_B32 ? match_32 : type == PTX_B64 ? match_64 : NULL;
    case PTX_OP_REDUX:
        if (mode == PTX_ADD || mode == PTX_MIN || mode == PTX_MAX)
            return type == PTX_U32 ? reduce_unsigned : type == PTX_S32 ? reduce_signed : NULL;
        return type == PTX_B32 && (mode == PTX_AND || mode == PTX_OR || mode == PTX_XOR) ? reduce_unsigned : NULL;
    case PTX_OP_ELECT: return elect;
    default: return NULL;
    }
}

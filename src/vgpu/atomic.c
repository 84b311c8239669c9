/* SPDX-License-Identifier: Apache-2.0
 * atomic.c - atom and red. Lanes are served in ascending order, as measured on the card; across blocks on several host threads they are real atomics,
 * by compare and exchange. */
#include <stdatomic.h>

#include "vgpu/access.h"
#include "vgpu/decode.h"
#include "vgpu/number.h"

bool tess_vgpu_atomic_known(ptx_mode mode, ptx_type type) {
    bool bits = type == PTX_B32 || type == PTX_B64, s = type == PTX_S32 || type == PTX_S64, u = type == PTX_U32 || type == PTX_U64;
    switch (mode) {
    case PTX_AND:
    case PTX_OR:
    case PTX_XOR: return bits;
    case PTX_EXCH:
    case PTX_CAS: return bits || type == PTX_B16;
    case PTX_MIN:
    case PTX_MAX: return s || u;
    case PTX_INC:
    case PTX_DEC: return type == PTX_U32;
    case PTX_ADD:
        return s || u || type == PTX_F32 || type == PTX_F64 || type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
    default: return false;
    }
}

static uint64_t half_sum(uint64_t old, uint64_t a, ptx_type type, int parts) {
    uint64_t result = 0;
    for (int i = 0; i < parts; i++) {
        double sum = tess_vgpu_fma_odd(tess_vgpu_value(old >> 16 * i & 0xffff, type), 1, tess_vgpu_value(a >> 16 * i & 0xffff, type));
        result |= tess_vgpu_round_double(sum, type, PTX_RN) << 16 * i;
    }
    return result;
}

/* In global memory f32 sums flush subnormals, in shared memory they do not: so PTX. */
static uint64_t combine(ptx_mode mode, ptx_type type, bool flush, uint64_t old, uint64_t a, uint64_t b) {
    bool is_signed = type == PTX_S32 || type == PTX_S64;
    int64_t x = (int64_t)old, y = (int64_t)a;
    if (type == PTX_S32) {
        x = (int32_t)old;
        y = (int32_t)a;
    }
    bool less = is_signed ? x < y : old < a;
    switch (mode) {
    case PTX_AND: return old & a;
    case PTX_OR: return old | a;
    case PTX_XOR: return old ^ a;
    case PTX_EXCH: return a;
    case PTX_CAS: return old == a ? b : old;
    case PTX_MIN: return less ? old : a;
    case PTX_MAX: return less ? a : old;
    case PTX_INC: return old >= a ? 0 : old + 1;
    case PTX_DEC: return old == 0 || old > a ? a : old - 1;
    default: break;
    }
    switch (type) {
    case PTX_F32: {
        float v = bits_f32((uint32_t)old), u = bits_f32((uint32_t)a);
        return f32_bits(canonical_f32(flush ? flush_f32(flush_f32(v) + flush_f32(u)) : v + u));
    }
    case PTX_F64: return f64_bits(canonical_f64(bits_f64(old) + bits_f64(a)));
    case PTX_F16:
    case PTX_BF16: return half_sum(old, a, type, 1);
    case PTX_F16X2: return half_sum(old, a, PTX_F16, 2);
    case PTX_BF16X2: return half_sum(old, a, PTX_BF16, 2);
    default: return old + a;
    }
}

#define EXCHANGE(T)                                                \
    do {                                                           \
        _Atomic T *place = (_Atomic T *)(void *)in->host[l];       \
        T old = atomic_load(place), fresh;                         \
        do                                                         \
            fresh = (T)combine(mode, type, flush, old, a, b);      \
        while (!atomic_compare_exchange_weak(place, &old, fresh)); \
        before = old;                                              \
    } while (0)

static void exchange(vgpu_warp *w, const vgpu_record *r, const vgpu_resolved *in, bool flush) {
    ptx_mode mode = (ptx_mode)r->mode;
    ptx_type type = (ptx_type)r->count;
    for (int l = 0; l < LANES; l++) {
        if (!(in->mask >> l & 1))
            continue;
        uint64_t a = 0, b = 0, before;
        memcpy(&a, w->file + r->a + l * r->bytes, r->bytes);
        if (mode == PTX_CAS)
            memcpy(&b, w->file + r->b + l * r->bytes, r->bytes);
        if (r->bytes == 8)
            EXCHANGE(uint64_t);
        else if (r->bytes == 4)
            EXCHANGE(uint32_t);
        else
            EXCHANGE(uint16_t);
        memcpy(w->file + r->d + l * r->bytes, &before, r->bytes);
    }
}

void tess_vgpu_atomic_lanes(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    uint64_t address[LANES];
    vgpu_resolved in;
    tess_vgpu_addresses(w, r, r->e, r->offset, address);
    w->polled = true;
    while (mask) {
        ptx_space space;
        uint32_t part = tess_vgpu_same_space((ptx_space)r->space, address, mask, &space);
        mask &= ~part;
        if (space != PTX_GLOBAL && space != PTX_SHARED) {
            tess_vgpu_fault_report(w, r, TESS_LOW_BIT(part), TESS_VGPU_OUT_OF_BOUNDS, address[TESS_LOW_BIT(part)], NULL,
                                   "atomic access to local or constant memory");
            continue;
        }
        tess_vgpu_resolve(w, r, space, VGPU_ATOMIC, r->bytes, r->bytes, address, part, &in);
        exchange(w, r, &in, space == PTX_GLOBAL);
    }
}

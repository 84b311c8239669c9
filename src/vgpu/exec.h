/* SPDX-License-Identifier: Apache-2.0
 * exec.h - how handlers read and write the register file: every operand is 32 lanes of its type, 64-byte aligned. */
#ifndef TESS_VGPU_EXEC_H
#define TESS_VGPU_EXEC_H

#include <math.h>
#include <string.h>

#include "vgpu/machine.h"

enum { LANES = 32 };
#define ALL_LANES 0xffffffffu
#define SLOT(T, warp, slot) ((T *)TESS_ASSUME_ALIGNED((warp)->file + (slot), 64))

/* Stores a row of results where the mask is set: one pass for whole warps, a blend for the others. */
#define PUT(T, to, row, mask)                                                       \
    do {                                                                            \
        T *put_to = (to);                                                           \
        if (TESS_LIKELY((mask) == ALL_LANES)) {                                     \
            memcpy(put_to, row, LANES * sizeof(T));                                 \
        } else {                                                                    \
            for (int put_l = 0; put_l < LANES; put_l++)                             \
                put_to[put_l] = (mask) >> put_l & 1 ? (row)[put_l] : put_to[put_l]; \
        }                                                                           \
    } while (0)

TESS_INLINE uint32_t f32_bits(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
TESS_INLINE float bits_f32(uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}
TESS_INLINE uint64_t f64_bits(double x) {
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}
TESS_INLINE double bits_f64(uint64_t u) {
    double x;
    memcpy(&x, &u, 8);
    return x;
}

/* .ftz: a subnormal becomes zero of its sign. */
TESS_INLINE float flush_f32(float x) {
    uint32_t u = f32_bits(x);
    return bits_f32((u & 0x7f800000u) == 0 ? u & 0x80000000u : u);
}
/* Arithmetic on NaN gives one NaN: 0x7fffffff in f32. PTX leaves that of f64 open: here it is the quiet one without payload. */
#define NAN_F32 0x7fffffffu
#define NAN_F64 0x7ff8000000000000u
TESS_INLINE float canonical_f32(float x) { return bits_f32(x != x ? NAN_F32 : f32_bits(x)); }
TESS_INLINE double canonical_f64(double x) { return bits_f64(x != x ? NAN_F64 : f64_bits(x)); }
/* .sat: into [0, 1], NaN to +0. */
TESS_INLINE float saturate_f32(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
TESS_INLINE double saturate_f64(double x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

TESS_INLINE uint32_t vgpu_predicate(const vgpu_warp *warp, uint32_t slot) { return *SLOT(uint32_t, warp, slot); }
TESS_INLINE void vgpu_set_predicate(vgpu_warp *warp, uint32_t slot, uint32_t value, uint32_t mask) {
    uint32_t *p = SLOT(uint32_t, warp, slot);
    *p = (*p & ~mask) | (value & mask);
}

#endif

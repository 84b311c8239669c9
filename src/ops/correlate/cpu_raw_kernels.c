/* SPDX-License-Identifier: Apache-2.0
 * cpu_raw_kernels.c - tiles of sums of f32 for rows that are read as they lie, of numbers of 8 and 16 bits: window_raw.h for each type.
 *
 * With 16 registers there are sums for masks of 3 rows only. */
#include "core/convert.h"
#include "ops/correlate/put_narrow.h"
#include "simd/phases.h"

#define WIDE 4
#define vec v_f32
#define real float
#define WORD v_f32

#if TESS_NARROW
#if TESS_VECTOR_BYTES == 64
#define KEEP_3 1
#define DEEPER(tile) tile
#else
#define KEEP_3 0
#define DEEPER(tile) NULL
#endif

#define KERNEL(name) name##_u8
#define ELEMENT 1
#define OWN_PUT TESS_WINDOW_PUT_U8
#define LOAD v_f32_from_u8_here
#if TESS_PHASES
#define IN_PHASES 1
TESS_INLINE vec KERNEL(phase)(const char *x) { return v_f32_from_phase_here(x); }
TESS_INLINE void KERNEL(put_phases)(const tess_window_call *c, char *to, const vec *sums, bool own) {
    vec in_order[WIDE];
    if (!own) {
        v_f32_of_phases(in_order, sums);
        v_f32_put_sums(to, TESS_VECTOR_BYTES, in_order, WIDE, c->stream, c->between);
    } else if (c->stream) {
        v_bytes_stream(to, v_u8_of_phases(sums));
    } else {
        v_bytes_store(to, v_u8_of_phases(sums));
    }
}
#else
#define IN_PHASES 0
#endif
#include "ops/correlate/window_raw.h"

#define KERNEL(name) name##_i8
#define ELEMENT 1
#define OWN_PUT TESS_WINDOW_PUT_I8
#define LOAD v_f32_from_i8_here
#define IN_PHASES 0
#include "ops/correlate/window_raw.h"

#define KERNEL(name) name##_u16
#define ELEMENT 2
#define OWN_PUT TESS_WINDOW_PUT_U16
#define LOAD v_f32_from_u16_here
#define IN_PHASES 0
#include "ops/correlate/window_raw.h"

#define KERNEL(name) name##_i16
#define ELEMENT 2
#define OWN_PUT TESS_WINDOW_PUT_I16
#define LOAD v_f32_from_i16_here
#define IN_PHASES 0
#include "ops/correlate/window_raw.h"

#define KERNEL(name) name##_f16
#define ELEMENT 2
#define OWN_PUT TESS_WINDOW_PUT_F16
#define LOAD v_f32_from_f16_here
#define IN_PHASES 0
#include "ops/correlate/window_raw.h"
#endif

const tess_window_raw *TESS_ISA_NAME(tess_correlate_raw_kernels)(tess_type from);
const tess_window_raw *TESS_ISA_NAME(tess_correlate_raw_kernels)(tess_type from) {
    switch (from) {
#if TESS_NARROW
    case tess_u8: return &raw_u8;
    case tess_i8: return &raw_i8;
    case tess_u16: return &raw_u16;
    case tess_i16: return &raw_i16;
    case tess_f16: return &raw_f16;
#endif
    default: return NULL;
    }
}

/* ---- rows that are copied as they are ---- */

#define COPIER(name, type)                                                               \
    static void name(void *row, const void *at, int64_t stride, int64_t n) {             \
        char *restrict to = row;                                                         \
        const char *restrict from = at;                                                  \
        if (stride == (int64_t)sizeof(type))                                             \
            memcpy(to, from, (size_t)n * sizeof(type));                                  \
        else                                                                             \
            for (int64_t i = 0; i < n; i++)                                              \
                memcpy(to + i * (int64_t)sizeof(type), from + i * stride, sizeof(type)); \
    }
COPIER(copy_8, uint8_t)
COPIER(copy_16, uint16_t)

tess_row_loader TESS_ISA_NAME(tess_correlate_raw_loader)(tess_type from);
tess_row_loader TESS_ISA_NAME(tess_correlate_raw_loader)(tess_type from) { return tess_type_size(from) == 1 ? copy_8 : copy_16; }

/* SPDX-License-Identifier: Apache-2.0
 * cpu_packed_kernels.c - the tiles of correlate/packed: those of correlate/window, with four or two taps in every 32-bit lane.
 *
 * Four vectors are made of each input row (packed_all.h), so a tile is as many columns wide as a vector has bytes. */
#include "core/convert.h"
#include "ops/correlate/window_kernels.h"
#include "simd/dot.h"

#define vec v_i32
#define real int32_t

#if TESS_VECTOR_BYTES == 64
#define TALL 6
#define TALL_PAIRS 3
#define LINE 2
#define ROLLS 1
#else
#define TALL 2
#define TALL_PAIRS 1
#define LINE 1
#define ROLLS 0
#endif
enum { COLUMNS = TESS_VECTOR_BYTES };

/* One block of four vectors. */
TESS_INLINE void put_block(const int phases, const tess_window_call *c, char *to, const vec *sums) {
    v_bytes v[2];
    if (c->between) {
        int32_t lanes[4 * TESS_F32_LANES];
        tess_dot_sums(lanes, sums);
        for (int i = 0; i < COLUMNS; i++) {
            const int64_t sum = lanes[tess_dot_lane(phases, i)];
            memcpy(to + 8 * i, &sum, 8);
        }
        return;
    }
    const bool is_signed = c->put == TESS_WINDOW_PUT_I8 || c->put == TESS_WINDOW_PUT_I16;
    const int vectors = c->put == TESS_WINDOW_PUT_U16 || c->put == TESS_WINDOW_PUT_I16 ? 2 : 1;
    if (vectors == 1)
        v[0] = is_signed ? tess_dot_to_8(phases, sums, true) : tess_dot_to_8(phases, sums, false);
    else if (is_signed)
        tess_dot_to_16(phases, sums, true, v);
    else
        tess_dot_to_16(phases, sums, false, v);
    for (int k = 0; k < vectors; k++)
        if (c->stream)
            v_bytes_stream(to + k * COLUMNS, v[k]);
        else
            v_bytes_store(to + k * COLUMNS, v[k]);
}

static const int8_t bytes_of[] = {[TESS_WINDOW_PUT_U8] = 1, [TESS_WINDOW_PUT_I8] = 1, [TESS_WINDOW_PUT_U16] = 2, [TESS_WINDOW_PUT_I16] = 2};

TESS_INLINE void put_blocks(const int phases, const tess_window_call *c, char *to, const vec *sums, int vectors) {
    const int64_t step = COLUMNS * (c->between ? 8 : bytes_of[c->put]);
    TESS_UNROLL for (int k = 0; k < vectors; k += 4) put_block(phases, c, to + k / 4 * step, sums + k);
}

TESS_INLINE v_i32 v_dot2_all_here(const int32_t *p) { return v_dot_all_here(p); }
#if TESS_DOT4
TESS_INLINE v_i32 v_dot4_all_here(const int32_t *p) { return v_dot_all_here(p); }
#endif

#if TESS_DOT4
#define WORD v_dot4
#define SUFFIX dot4
#define TAPS 4
#define PIXELS 0
#define OWN_PUT TESS_WINDOW_PUT_U8
#include "ops/correlate/packed_all.h"
#define WORD v_dot4
#define SUFFIX dot4_pixels
#define TAPS 4
#define PIXELS 1
#define OWN_PUT TESS_WINDOW_PUT_U8
#include "ops/correlate/packed_all.h"
#endif
#define WORD v_dot2
#define SUFFIX dot2
#define TAPS 2
#define PIXELS 0
#define OWN_PUT TESS_WINDOW_PUT_I16
#include "ops/correlate/packed_all.h"
#define WORD v_dot2
#define SUFFIX dot2_pixels
#define TAPS 2
#define PIXELS 1
#define OWN_PUT TESS_WINDOW_PUT_I16
#include "ops/correlate/packed_all.h"

const tess_window_kernels *TESS_ISA_NAME(tess_correlate_packed_kernels)(bool dot4, bool pixels);
const tess_window_kernels *TESS_ISA_NAME(tess_correlate_packed_kernels)(bool dot4, bool pixels) {
#if TESS_DOT4
    if (dot4)
        return pixels ? &kernels_dot4_pixels : &kernels_dot4;
#endif
    return dot4 ? NULL : pixels ? &kernels_dot2_pixels : &kernels_dot2;
}

/* ---- rows that are copied: bytes as they are, or as 16 signed bits ---- */

#define LOADER(name, from, to, value)                                        \
    static void name(void *row, const void *at, int64_t stride, int64_t n) { \
        to *restrict out = row;                                              \
        const char *restrict p = at;                                         \
        from x;                                                              \
        if (stride == (int64_t)sizeof x)                                     \
            for (int64_t i = 0; i < n; i++) {                                \
                memcpy(&x, p + i * (int64_t)sizeof x, sizeof x);             \
                out[i] = (to)(value);                                        \
            }                                                                \
        else                                                                 \
            for (int64_t i = 0; i < n; i++) {                                \
                memcpy(&x, p + i * stride, sizeof x);                        \
                out[i] = (to)(value);                                        \
            }                                                                \
    }
LOADER(bytes, uint8_t, uint8_t, x)
LOADER(from_u8, uint8_t, int16_t, x)
LOADER(from_i8, int8_t, int16_t, x)
LOADER(from_i16, int16_t, int16_t, x)
LOADER(from_u16, uint16_t, int16_t, x ^ 0x8000)

tess_row_loader TESS_ISA_NAME(tess_correlate_packed_loader)(tess_type from, bool dot4);
tess_row_loader TESS_ISA_NAME(tess_correlate_packed_loader)(tess_type from, bool dot4) {
    if (dot4)
        return bytes;
    return from == tess_u8 ? from_u8 : from == tess_i8 ? from_i8 : from == tess_i16 ? from_i16 : from_u16;
}

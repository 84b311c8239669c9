/* SPDX-License-Identifier: Apache-2.0
 * keys.h - the key of an element, by which elements are compared; included by the cpu_*.c files that do.
 *
 * A float's bits are a sign and a magnitude; turning them into two's complement gives a key that orders as the numbers do, -0 below +0, and puts NaNs
 * beyond both infinities. One rule then serves every type, and min needs no loop of its own: it looks for the greatest complement. */
#ifndef TESS_OPS_REDUCE_KEYS_H
#define TESS_OPS_REDUCE_KEYS_H

#include "ops/reduce/reduce.h"

/* flip is 0 or -1; both keys that NaN can get belong to no number. */
#define INTEGER_KEY(name, S, U, to_signed)                \
    TESS_INLINE S key_##name(U u, reduce_order order) {   \
        const U top = (U)((U)1 << (8 * sizeof(U) - 1));   \
        S s = (S)(to_signed ? u ^ top : u);               \
        if (!to_signed && order.magnitude)                \
            s = (S)((U)((u & top) ? (U)0 - u : u) ^ top); \
        return (S)(s ^ (S) - (S)order.smallest);          \
    }
INTEGER_KEY(u8, int8_t, uint8_t, 1)
INTEGER_KEY(i8, int8_t, uint8_t, 0)
INTEGER_KEY(u16, int16_t, uint16_t, 1)
INTEGER_KEY(i16, int16_t, uint16_t, 0)
INTEGER_KEY(u32, int32_t, uint32_t, 1)
INTEGER_KEY(i32, int32_t, uint32_t, 0)
INTEGER_KEY(u64, int64_t, uint64_t, 1)
INTEGER_KEY(i64, int64_t, uint64_t, 0)
TESS_INLINE int8_t key_bool(uint8_t u, reduce_order order) { return (int8_t)((u != 0) ^ (int8_t) - (int8_t)order.smallest); }

/* Without branches: the complement of the magnitude where the sign is set (and kept). */
#define FLOAT_KEY(name, S, U, infinity, lowest, highest)                                                        \
    TESS_INLINE S key_##name(U u, reduce_order order) {                                                         \
        const U low = (U)((U)-1 >> 1), keep = order.magnitude ? 0 : (U)-1, at_zero = order.numeric ? 0 : (U)-1; \
        const S flip = (S) - (S)order.smallest, nan = order.omit ? (S)(lowest) : (S)(highest);                  \
        U magnitude = (U)(u & low), sign = (U)((S)u >> (8 * sizeof(U) - 1));                                    \
        U nonzero = (U)((U)0 - (U)(magnitude != 0));                                                            \
        S s = (S)((S)(magnitude ^ (sign & keep & (nonzero | at_zero))) ^ flip);                                 \
        return magnitude > (U)(infinity) ? nan : s;                                                             \
    }
FLOAT_KEY(f16, int16_t, uint16_t, 0x7c00, INT16_MIN, INT16_MAX)
FLOAT_KEY(bf16, int16_t, uint16_t, 0x7f80, INT16_MIN, INT16_MAX)
FLOAT_KEY(f32, int32_t, uint32_t, 0x7f800000, INT32_MIN, INT32_MAX)
FLOAT_KEY(f64, int64_t, uint64_t, 0x7ff0000000000000, INT64_MIN, INT64_MAX)

#endif

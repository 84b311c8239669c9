/* SPDX-License-Identifier: Apache-2.0
 * dtype.h - facts about element types, and single values in the six types that operations compute in. */
#ifndef TESS_CORE_DTYPE_H
#define TESS_CORE_DTYPE_H

#include "core/base.h"

enum { TESS_TYPES = tess_c128 + 1 };

TESS_INLINE bool tess_is_bool(tess_type t) { return t == tess_bool; }
TESS_INLINE bool tess_is_integer(tess_type t) { return t >= tess_u8 && t <= tess_i64; } /* without bool */
TESS_INLINE bool tess_is_unsigned(tess_type t) { return t == tess_bool || t == tess_u8 || t == tess_u16 || t == tess_u32 || t == tess_u64; }
TESS_INLINE bool tess_is_float(tess_type t) { return t >= tess_f16 && t <= tess_f64; }
TESS_INLINE bool tess_is_complex(tess_type t) { return t >= tess_c64; }
/* An integer that f32 cannot hold exactly. */
TESS_INLINE bool tess_is_wide_integer(tess_type t) { return t >= tess_u32 && t <= tess_i64; }

/* One value of a compute type (tess_u64, tess_i64, tess_f32, tess_f64, tess_c64, tess_c128): complex ones use re and im of their width. */
typedef union tess_value {
    uint64_t u64;
    int64_t i64;
    float f32;
    double f64;
    float c64[2];
    double c128[2];
} tess_value;

#endif

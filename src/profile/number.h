/* SPDX-License-Identifier: Apache-2.0
 * number.h - numbers as C++ writes them, read without regard to the program's locale. */
#ifndef TESS_PROFILE_NUMBER_H
#define TESS_PROFILE_NUMBER_H

#include "core/base.h"

typedef struct tess_number {
    bool whole, negative;
    uint64_t bits;  /* whole: two's complement */
    double real;    /* the value of either kind */
    float single;   /* the same rounded to f32 once, from the digits */
    tess_type type; /* what a suffix says (u u32 or u64, l ll i64, ul ull u64, f f32, h f16, bf bf16, d f64), else tess_no_type */
} tess_number;

/* Decimal or 0x; moves *at past it. False, with *at where it was, when there is none or it passes 64 bits. */
bool tess_number_whole(const char **at, uint64_t *value);
/* With sign, point, exponent, suffix; true, false, nullptr, inf, nan too. Does not look at what follows. */
bool tess_number_read(const char **at, tess_number *number);
/* Whether a value of the type is near it: whole numbers in its range, finite reals that do not round to an infinity. */
bool tess_number_fits(const tess_number *number, tess_type type);
bool tess_real_fits(double real, tess_type type);

#endif

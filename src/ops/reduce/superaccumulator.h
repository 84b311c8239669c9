/* SPDX-License-Identifier: Apache-2.0
 * superaccumulator.h - sums of doubles without any error (Kulisch's long accumulator; carry-save limbs as in Neal, "Fast exact summation using small
 * and large superaccumulators", 2015).
 *
 * A sum is a fixed-point number of limbs of 32 bits kept in 64: bit 0 of limb 0 is worth 2^-1074, so every finite double is an integer multiple of
 * it. Adding touches three limbs and leaves carries where they are; 2^29 additions fit before they must be passed on. Sums merge without error, so
 * the order never matters. */
#ifndef TESS_OPS_REDUCE_SUPERACCUMULATOR_H
#define TESS_OPS_REDUCE_SUPERACCUMULATOR_H

#include <string.h>

#include "ops/reduce/reduce.h"

enum { EXACT_LIMBS = 70, EXACT_PENDING = 1 << 29 }; /* the highest bit that 2^63 of the greatest double can set is 2098 + 63 */

struct exact_part {
    int64_t limb[EXACT_LIMBS];
    int64_t pending;       /* additions since the carries were passed on */
    bool infinity[2], nan; /* infinity[1]: the negative one was met */
};

typedef struct exact_sum {
    exact_part part[2]; /* real, imaginary */
    int64_t count;      /* elements that counted */
} exact_sum;

void tess_reduce_exact_carry(exact_part *part);
void tess_reduce_exact_add_special(exact_part *part, double x);

/* What is lost where x is added to *sum in f64 (Knuth, The Art of Computer Programming 2, 4.2.2: the sum of two); infinities and NaNs give a NaN. */
TESS_INLINE double exact_dropped(double *sum, double x) {
    const double before = *sum, after = before + x, of_x = after - before;
    *sum = after;
    return (before - (after - of_x)) + (x - of_x);
}

TESS_INLINE void exact_add(exact_part *part, double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (TESS_UNLIKELY(exponent == 0x7ff)) {
        tess_reduce_exact_add_special(part, x);
        return;
    }
    uint64_t mantissa = (bits & 0xfffffffffffff) | (uint64_t)(exponent > 0) << 52;
    int place = exponent - (exponent > 0), shift = place & 31;
    uint64_t low = (mantissa & 0xffffffff) << shift, high = (mantissa >> 32) << shift;
    int64_t sign = -(int64_t)(bits >> 63), *limb = part->limb + (place >> 5);
    limb[0] += ((int64_t)(low & 0xffffffff) ^ sign) - sign;
    limb[1] += ((int64_t)((low >> 32) + (high & 0xffffffff)) ^ sign) - sign;
    limb[2] += ((int64_t)(high >> 32) ^ sign) - sign;
    if (TESS_UNLIKELY(++part->pending == EXACT_PENDING))
        tess_reduce_exact_carry(part);
}

void tess_reduce_exact_start(exact_sum *sum);
/* A value of the problem's acc, or of its load type when that is a 64-bit integer; counts: false leaves it out. */
void tess_reduce_exact_add_value(exact_sum *sum, const reduce_problem *problem, tess_value value, bool counts);
void tess_reduce_exact_merge(exact_sum *sum, const exact_sum *other);
/* The result, of type f64 or c128: rounded to nearest, or to odd when the storer is going to round it to a narrower float. */
tess_value tess_reduce_exact_finish(exact_sum *sum, const reduce_problem *problem);

#endif

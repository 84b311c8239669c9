/* SPDX-License-Identifier: Apache-2.0
 * hard_sums.h - numbers whose exact sum is hard to round: halves of a last place, with and without something hundreds of places below that says which way; sums that cancel, wholly or but for
 * a last bit; magnitudes that no few doubles hold together, or that change along the way; numbers next to a power of two, so that sums of rounded parts reach it; subnormal and the greatest
 * ones, whose sum overflows or all but does; infinities. And what segments are tried with beside them: few values, and far ones. */
#ifndef TESS_TESTS_HARD_SUMS_H
#define TESS_TESTS_HARD_SUMS_H

#include <math.h>

#include "core/dtype.h"
#include "hostile.h"

enum { HARD_SUMS = 20 };

/* n numbers of `bits` bits from 2^lowest to below 2^highest, which f64 holds, of kind 0 .. HARD_SUMS - 1; some add up to a half of the last place of `result` bits. */
static inline void hard_sum(double *x, int64_t n, int kind, int bits, int result, int lowest, int highest, uint64_t *random) {
    const double sign = hostile_between(random, 0, 1) ? 1 : -1, other = hostile_between(random, 0, 1) ? 1 : -1;
    const int least = lowest + bits, top = highest - 1, pairs = bits > 24 ? 200 : 20; /* magnitude of those that cancel */
    int64_t used = 0, stretch = 0;
    int from = 0, to = 0;
    double given[8];
    for (int64_t i = 0; i < n; i++) {
        const double own = hostile_between(random, 0, 1) ? 1 : -1;
        const double fraction = 1 + (double)hostile_between(random, 0, ((int64_t)1 << (bits - 1)) - 1) * ldexp(1, 1 - bits);
        switch (kind) {
        case 0: x[i] = own * ldexp(fraction, (int)hostile_between(random, -20, 0)); break;     /* what most sums are */
        case 1: x[i] = own * ldexp(fraction, (int)hostile_between(random, least, top)); break; /* any magnitude */
        case 2:
            x[i] = own * ldexp(fraction, -(int)(i % 6) * (bits + 7) > least ? -(int)(i % 6) * (bits + 7) : 0);
            break;                                                                              /* one level after another */
        case 3: x[i] = own * ldexp(fraction, least); break;                                     /* next to the least */
        case 4: x[i] = own * ldexp(1, lowest + (int)(i % 3)); break;                            /* the least */
        case 5: x[i] = own * ldexp(fraction, top - (int)hostile_between(random, 0, 30)); break; /* the greatest */
        case 6: x[i] = sign * (2 - ldexp(1, 1 - bits)); break;                                  /* just below a power of two, */
        case 7: x[i] = own; break;                                                              /* and one; small integers */
        case 8: x[i] = kind == 8 && n < 3 ? -0.0 : 0.0 * own; break;
        case 16: /* some hundred of a few magnitudes, then others */
            if (stretch-- == 0) {
                stretch = hostile_between(random, 0, 700);
                from = (int)hostile_between(random, least, top);
                to = (int)hostile_between(random, 0, 3) * 25 + from;
                to = hostile_between(random, 0, 3) ? to : least; /* none: zeros */
            }
            x[i] = to < from ? 0 * own : own * ldexp(fraction, (int)hostile_between(random, from, to < top ? to : top));
            break;
        case 18: x[i] = own * ldexp(fraction, i % 7 ? (int)hostile_between(random, least, top) : top); break;
        case 19: x[i] = hostile_between(random, 0, 200) ? own * ldexp(fraction, top - (int)(i % 200)) : own * INFINITY; break;
        default: x[i] = 0;
        }
    }
    /* The rest are some numbers somewhere, and pairs that cancel. */
    switch (kind) {
    case 9: given[used++] = sign, given[used++] = other * ldexp(1, -result); break; /* a half of the last place, or of the one below */
    case 10: given[used++] = sign, given[used++] = sign * ldexp(1, -result), given[used++] = other * ldexp(1, lowest); break;
    case 11:
        given[used++] = sign * (1 + ldexp(1, 1 - bits)), given[used++] = other * ldexp(1, -result - 1), given[used++] = other * ldexp(1, -result - 1),
        given[used++] = -ldexp(1, least - 1);
        break;
    case 12: given[used++] = sign * ldexp(1, 60), given[used++] = -sign * ldexp(1, 60), given[used++] = other * ldexp(1, lowest); break;
    case 13:
        given[used++] = sign, given[used++] = -sign * ldexp(1, -result - 1),
        given[used++] = other * ldexp(1, -result - 70 > lowest ? -result - 70 : lowest);
        break;
    case 14:
        given[used++] = sign, given[used++] = sign * ldexp(1, -result),
        given[used++] = other * ldexp(1, -result - 120 > lowest ? -result - 120 : lowest);
        break;
    case 15: given[used++] = sign * INFINITY; break;
    case 17: /* half of the last place beyond the greatest */
        given[used++] = sign * ldexp(2 - ldexp(1, 1 - bits), top), given[used++] = sign * ldexp(1, top - bits),
        given[used++] = other * ldexp(1, lowest);
        break;
    default: return;
    }
    if (used > n) {
        x[0] = -0.0;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = i < used ? given[i] : 0;
    for (int64_t i = used; i + 1 < n && kind != 15; i += 2) {
        x[i] = ldexp((double)hostile_between(random, 1, 1000), (int)hostile_between(random, least, top - 10 < pairs ? top - 10 : pairs));
        x[i + 1] = -x[i];
    }
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j = hostile_between(random, 0, i);
        const double t = x[i];
        x[i] = x[j];
        x[j] = t;
    }
}

/* Elements number first, first + step, ... of an array of f32, f64, or complex ones, n of them. modest: below 2^12, f64 from 2^-260 on. */
static inline void hard_elements_of(hostile_array *a, int64_t first, int64_t step, int64_t n, int kind, int result, bool modest, uint64_t *random) {
    const tess_type type = tess_type_of(a->tensor.dtype);
    const bool wide = type == tess_f64 || type == tess_c128;
    const int lowest = !wide ? -149 : modest ? -260 : -1074, highest = modest ? 12 : wide ? 1024 : 128;
    double *x = malloc((size_t)(n + 1) * sizeof *x);
    assert_non_null(x);
    for (int part = 0; part < (type >= tess_c64 ? 2 : 1); part++, kind = (kind + 5) % HARD_SUMS) {
        hard_sum(x, n, modest && (kind == 12 || kind == 15 || kind == 19) ? 13 : kind, wide ? 53 : 24, result, lowest, highest, random);
        for (int64_t i = 0; i < n; i++) {
            char *at = hostile_element(a, first + i * step);
            if (wide)
                memcpy(at + 8 * part, &x[i], 8);
            else
                memcpy(at + 4 * part, &(float){(float)x[i]}, 4);
        }
    }
    free(x);
}

static inline void hard_elements(hostile_array *a, int64_t first, int64_t step, int64_t n, int kind, int result, uint64_t *random) {
    hard_elements_of(a, first, step, n, kind, result, false, random);
}

/* Zeros of both signs and what is next to them, so that values are often equal; now and then an infinity, a NaN. */
static inline void few_values(hostile_array *a, uint64_t *random) {
    static const float values[] = {-0.f, 0.f, -0.f, 0.f, 1.f, -1.f, INFINITY, NAN};
    const tess_type type = tess_type_of(a->tensor.dtype);
    const int parts = tess_is_complex(type) ? 2 : 1, width = a->itemsize / parts;
    hostile_fill(a, random, 0);
    for (int64_t i = 0; type >= tess_f16 && i < hostile_count(a); i++)
        for (int k = 0; k < parts; k++) {
            const int which = (int)hostile_between(random, 0, 40);
            const float x = values[which < TESS_COUNT(values) ? which : which % 6];
            const double wide = x;
            uint32_t bits;
            memcpy(&bits, &x, 4);
            const uint16_t bf16 = (uint16_t)(bits >> 16), f16 = (uint16_t)((bf16 & 0x8000) | (x != x     ? 0x7e00
                                                                                              : isinf(x) ? 0x7c00
                                                                                              : x != 0   ? 0x3c00
                                                                                                         : 0)); /* each value has one */
            const void *from = width == 8 ? (const void *)&wide : width == 4 ? (const void *)&x : type == tess_f16 ? &f16 : &bf16;
            memcpy(hostile_element(a, i) + k * width, from, (size_t)width);
        }
}

/* Fives of f32 or bf16 from element `first` on that add up to 1, a half of its last place and a bit below that, which a number 2^-below of the greatest has. */
static inline void near_halves(hostile_array *a, int64_t first, int below) {
    const bool brief = a->itemsize == 2;
    const int middle = brief ? 20 : 10;
    const double x[] = {1, ldexp(1, -middle) + ldexp(1, -24), -ldexp(1, -middle), ldexp(1, -below) + ldexp(1, -below - (brief ? 7 : 23)),
                        -ldexp(1, -below)};
    for (int64_t i = 0; i < hostile_count(a); i++) {
        const float value = i < first ? 0 : (float)x[(i - first) % 5];
        memcpy(hostile_element(a, i), (const char *)&value + (brief ? 2 : 0), (size_t)a->itemsize);
    }
}

/* Doubles whose sums overflow, or are so small that their means have few bits. */
static inline void far_values(hostile_array *a, uint64_t *random) {
    static const double values[] = {1.5e308, -1.5e308, 1e308, 5e-324, 3e-310, -1e-308, 2e-281, 0};
    for (int64_t i = 0, large = 0; i < hostile_count(a); i++) {
        if (i % 97 == 0)
            large = hostile_between(random, 0, 1);
        memcpy(hostile_element(a, i), &values[large ? hostile_between(random, 0, 7) : hostile_between(random, 3, 7)], sizeof *values);
    }
}

#endif

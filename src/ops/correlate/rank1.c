/* SPDX-License-Identifier: Apache-2.0
 * rank1.c - finding 1-D factors whose outer product is the mask, exactly.
 *
 * Every finite float and every integer is an odd number times a power of two, so the question is one about integers. A rank-1 mask of them is its
 * content times an outer product of vectors without a common factor (Gauss' lemma), and those vectors are the lines through any nonzero element,
 * divided by their greatest common divisor. So: take a nonzero element, divide the lines through it, give the first factor what is left over, and
 * multiply out. No step rounds; whatever does not fit 64 bits or the type counts as "not of rank 1". */
#include <math.h>
#include <string.h>

#include "ops/correlate/correlate.h"

typedef struct dyadic { /* sign * odd * 2^exponent; odd = 0 for zero */
    uint64_t odd;
    int exponent;
    bool negative;
} dyadic;

static dyadic reduced(uint64_t magnitude, int exponent, bool negative) {
    dyadic d = {magnitude, exponent, negative};
    if (magnitude == 0)
        return (dyadic){0, 0, false};
    for (; !(d.odd & 1); d.odd >>= 1)
        d.exponent++;
    return d;
}

static bool dyadic_of(tess_type compute, const void *from, dyadic *d) {
    tess_value v;
    memcpy(&v, from, tess_type_size(compute));
    if (compute == tess_u64 || compute == tess_i64) {
        bool negative = compute == tess_i64 && v.i64 < 0;
        *d = reduced(negative ? 0 - v.u64 : v.u64, 0, negative);
        return true;
    }
    double x = compute == tess_f32 ? (double)v.f32 : v.f64;
    int exponent;
    if (!isfinite(x))
        return false;
    double fraction = frexp(fabs(x), &exponent);
    *d = reduced((uint64_t)ldexp(fraction, 53), exponent - 53, x < 0);
    return true;
}

/* Writes the number as an element of C; false when C does not hold it. */
static bool dyadic_to(tess_type compute, dyadic d, void *to) {
    tess_value v;
    if (compute == tess_u64 || compute == tess_i64) {
        if (d.odd == 0)
            d.exponent = 0;
        if (d.exponent < 0 || d.exponent > 63 || (d.odd << d.exponent >> d.exponent) != d.odd)
            return false;
        uint64_t magnitude = d.odd << d.exponent;
        if (compute == tess_u64 ? d.negative : magnitude > (uint64_t)INT64_MAX + d.negative)
            return false;
        v.u64 = d.negative ? 0 - magnitude : magnitude;
    } else {
        if (d.odd >> 53)
            return false;
        double x = ldexp((double)d.odd, d.exponent);
        if (!isfinite(x) || (d.odd && ldexp(x, -d.exponent) != (double)d.odd))
            return false;
        x = d.negative ? -x : x;
        if (compute == tess_f32) {
            v.f32 = (float)x;
            if ((double)v.f32 != x)
                return false;
        } else {
            v.f64 = x;
        }
    }
    memcpy(to, &v, tess_type_size(compute));
    return true;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

typedef struct search {
    const tess_correlate_mask *mask;
    tess_type compute;
    size_t width;
    int axes, axis[TESS_MAX_NDIM];    /* mask axes longer than 1 */
    int64_t stride[TESS_MAX_NDIM];    /* elements, of every mask axis */
    int64_t pivot, at[TESS_MAX_NDIM]; /* the first nonzero element, and its index */
    dyadic *factor[TESS_MAX_NDIM];    /* by the numbers of axis[] */
} search;

static bool element(const search *s, int64_t i, dyadic *d) { return dyadic_of(s->compute, (const char *)s->mask->weights + (size_t)i * s->width, d); }

static bool find_pivot(search *s) {
    dyadic d = {0};
    for (s->pivot = 0; s->pivot < s->mask->taps; s->pivot++) {
        if (!element(s, s->pivot, &d))
            return false;
        if (d.odd)
            break;
    }
    if (!d.odd)
        return false;
    for (int k = 0; k < s->mask->ndim; k++)
        s->at[k] = s->pivot / s->stride[k] % s->mask->shape[k];
    return true;
}

/* The line through the pivot along axis number a, as integers without a common factor; *content: what was divided out of the pivot. */
static bool divide_line(search *s, int a, uint64_t *content) {
    int k = s->axis[a], lowest = 0;
    int64_t size = s->mask->shape[k], first = s->pivot - s->at[k] * s->stride[k];
    dyadic *line = s->factor[a], pivot;
    element(s, s->pivot, &pivot);
    uint64_t divisor = 0;
    for (int64_t i = 0; i < size; i++) {
        if (!element(s, first + i * s->stride[k], &line[i]))
            return false;
        if (line[i].odd && (divisor == 0 || line[i].exponent < lowest))
            lowest = line[i].exponent;
        divisor = common_divisor(divisor, line[i].odd);
    }
    for (int64_t i = 0; i < size; i++)
        if (line[i].odd)
            line[i] = (dyadic){line[i].odd / divisor, line[i].exponent - lowest, line[i].negative != pivot.negative};
    *content = pivot.odd / divisor;
    return true;
}

/* Multiplies the content that is not yet in any line into the first. */
static bool settle_content(search *s, const uint64_t *contents) {
    dyadic rest;
    element(s, s->pivot, &rest);
    for (int a = 0; a < s->axes; a++) {
        if (rest.odd % contents[a])
            return false;
        rest.odd /= contents[a];
        rest.exponent -= s->factor[a][s->at[s->axis[a]]].exponent;
    }
    for (int64_t i = 0; i < s->mask->shape[s->axis[0]]; i++) {
        dyadic *d = &s->factor[0][i];
        if (!d->odd)
            continue;
        if (TESS_MUL_OVERFLOWS(d->odd, rest.odd, &d->odd))
            return false;
        d->exponent += rest.exponent;
        d->negative ^= rest.negative;
    }
    return true;
}

static bool product_is_mask(const search *s) {
    for (int64_t i = 0; i < s->mask->taps; i++) {
        dyadic want, product = {1, 0, false};
        if (!element(s, i, &want))
            return false;
        for (int a = 0; a < s->axes; a++) {
            int k = s->axis[a];
            dyadic f = s->factor[a][i / s->stride[k] % s->mask->shape[k]];
            if (product.odd && f.odd && TESS_MUL_OVERFLOWS(product.odd, f.odd, &product.odd))
                return false;
            product.odd = f.odd ? product.odd : 0;
            product.exponent += f.exponent;
            product.negative ^= f.negative;
        }
        if (product.odd != want.odd || (want.odd && (product.exponent != want.exponent || product.negative != want.negative)))
            return false;
    }
    return true;
}

static bool factorise(search *s) {
    uint64_t contents[TESS_MAX_NDIM];
    if (!find_pivot(s))
        return false;
    for (int a = 0; a < s->axes; a++)
        if (!divide_line(s, a, &contents[a]))
            return false;
    return settle_content(s, contents) && product_is_mask(s);
}

static tess_status write_factors(tess_context *context, const search *s, tess_correlate_mask *factors, int *count) {
    for (int a = 0; a < s->axes; a++) {
        int k = s->axis[a];
        tess_correlate_mask *f = &factors[a];
        memset(f, 0, sizeof *f);
        f->ndim = 1;
        f->axes[0] = s->mask->axes[k];
        f->shape[0] = f->taps = s->mask->shape[k];
        f->before[0] = s->mask->before[k];
        f->size = (size_t)f->taps * s->width;
        f->weights = tess_allocate(context, f->size);
        bool fits = f->weights != NULL;
        for (int64_t i = 0; fits && i < f->taps; i++)
            fits = dyadic_to(s->compute, s->factor[a][i], (char *)f->weights + (size_t)i * s->width);
        if (!fits) {
            tess_status status = f->weights ? TESS_OK : TESS_ERR_MEMORY;
            for (; a >= 0; a--)
                tess_free(context, factors[a].weights, factors[a].size);
            return status;
        }
    }
    *count = s->axes;
    return TESS_OK;
}

tess_status tess_correlate_rank1(tess_context *context, const tess_correlate_mask *mask, tess_type compute, tess_correlate_mask *factors,
                                 int *count) {
    search s = {.mask = mask, .compute = compute, .width = tess_type_size(compute)};
    int64_t stride = 1, total = 0;
    *count = 0;
    if (tess_is_complex(compute))
        return TESS_OK;
    for (int k = mask->ndim - 1; k >= 0; k--) {
        s.stride[k] = stride;
        stride *= mask->shape[k];
    }
    for (int k = 0; k < mask->ndim; k++)
        if (mask->shape[k] > 1) {
            s.axis[s.axes++] = k;
            total += mask->shape[k];
        }
    if (s.axes < 2)
        return TESS_OK;
    size_t size = (size_t)total * sizeof(dyadic);
    dyadic few[24], *lines = size <= sizeof few ? few : tess_allocate(context, size); /* of masks up to 11 x 11 */
    if (!lines)
        return TESS_ERR_MEMORY;
    s.factor[0] = lines;
    for (int a = 1; a < s.axes; a++)
        s.factor[a] = s.factor[a - 1] + mask->shape[s.axis[a - 1]];
    tess_status status = factorise(&s) ? write_factors(context, &s, factors, count) : TESS_OK;
    if (lines != few)
        tess_free(context, lines, size);
    return status;
}

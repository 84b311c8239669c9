/* SPDX-License-Identifier: Apache-2.0
 * fft_plain.h - the transforms of docs/numerics.md in scalars. Included once for each type, with fft_name(word), real, fused defined; undefines them. */

typedef struct fft_name(number) {
    real re, im;
}
fft_name(number);
#define number fft_name(number)

static number fft_name(swapped)(number a) { return (number){a.im, a.re}; }
static number fft_name(sum)(number a, number b) { return (number){a.re + b.re, a.im + b.im}; }
static number fft_name(difference)(number a, number b) { return (number){a.re - b.re, a.im - b.im}; }
static number fft_name(times_minus_i)(number a) { return (number){a.im, -a.re}; }
static number fft_name(product_of)(number a, number w) { return (number){fused(a.re, w.re, -(a.im * w.im)), fused(a.re, w.im, a.im * w.re)}; }
/* a + b / sqrt(2), one rounding a part */
static number fft_name(plus_diagonal)(number a, number b, real sign) {
    const real half = sign * (real)0.70710678118654752440;
    return (number){fused(half, b.re, a.re), fused(half, b.im, a.im)};
}

static void fft_name(transform4)(number *x) {
    const number s0 = fft_name(sum)(x[0], x[2]), d0 = fft_name(difference)(x[0], x[2]);
    const number s1 = fft_name(sum)(x[1], x[3]), d1 = fft_name(times_minus_i)(fft_name(difference)(x[1], x[3]));
    x[0] = fft_name(sum)(s0, s1);
    x[1] = fft_name(sum)(d0, d1);
    x[2] = fft_name(difference)(s0, s1);
    x[3] = fft_name(difference)(d0, d1);
}

static void fft_name(transform8)(number *x) {
    number even[4], d[4];
    for (int i = 0; i < 4; i++) {
        even[i] = fft_name(sum)(x[i], x[i + 4]);
        d[i] = fft_name(difference)(x[i], x[i + 4]);
    }
    fft_name(transform4)(even);
    /* d[1] (1 - i) and d[3] (-1 - i): eighth roots without their factor */
    const number u1 = {d[1].re + d[1].im, d[1].im - d[1].re}, u3 = {d[3].im - d[3].re, -(d[3].re + d[3].im)};
    const number r = fft_name(times_minus_i)(d[2]);
    const number s0 = fft_name(sum)(d[0], r), d0 = fft_name(difference)(d[0], r);
    const number s1 = fft_name(sum)(u1, u3), d1 = fft_name(times_minus_i)(fft_name(difference)(u1, u3));
    for (int i = 0; i < 4; i++)
        x[2 * i] = even[i];
    x[1] = fft_name(plus_diagonal)(s0, s1, 1);
    x[3] = fft_name(plus_diagonal)(d0, d1, 1);
    x[5] = fft_name(plus_diagonal)(s0, s1, -1);
    x[7] = fft_name(plus_diagonal)(d0, d1, -1);
}

/* The root of result q > 0 at place j of a level: of column c, of a row (c -1). */
static number fft_name(root)(const tess_correlate_fft *fft, int l, int64_t j, int64_t c, int q) {
    const tess_fft_levels *levels = c < 0 ? &fft->row : &fft->column;
    const real *w = levels->roots[l];
    if (c < 0)
        w += 2 * (j * (levels->radix[l] - 1) + q - 1);
    else
        w += tess_correlate_fft_column_root_at(fft, l, j, c, q);
    return (number){w[0], w[c < 0 ? 1 : tess_correlate_fft_apart(fft, false)]};
}

/* One level of one column c, or of a row (c -1), of the grid. */
static void fft_name(level)(const tess_correlate_fft *fft, int l, bool back, number *z, int64_t c) {
    const tess_fft_levels *levels = c < 0 ? &fft->row : &fft->column;
    const int radix = levels->radix[l];
    const int64_t m = levels->m[l], points = c < 0 ? fft->b : fft->a, step = c < 0 ? 1 : fft->b;
    const bool rooted = levels->roots[l] != NULL;
    for (int64_t first = 0; first < points; first += radix * m)
        for (int64_t j = 0; j < m; j++) {
            number x[8];
            for (int q = 0; q < radix; q++) {
                number *at = z + (first + j + q * m) * step;
                x[q] = back ? fft_name(swapped)(*at) : *at;
                if (back && rooted && q > 0)
                    x[q] = fft_name(product_of)(x[q], fft_name(root)(fft, l, j, c, q));
            }
            if (radix == 8)
                fft_name(transform8)(x);
            else
                fft_name(transform4)(x);
            for (int q = 0; q < radix; q++) {
                if (!back && rooted && q > 0)
                    x[q] = fft_name(product_of)(x[q], fft_name(root)(fft, l, j, c, q));
                z[(first + j + q * m) * step] = back ? fft_name(swapped)(x[q]) : x[q];
            }
        }
}

static void fft_name(columns)(const tess_correlate_fft *fft, bool back, number *z) {
    for (int64_t b = 0; b < fft->b; b++)
        for (int i = 0; i < fft->column.count; i++)
            fft_name(level)(fft, back ? fft->column.count - 1 - i : i, back, z + b, b);
}

static void fft_name(rows)(const tess_correlate_fft *fft, bool back, number *z) {
    for (int64_t a = 0; a < fft->a; a++)
        for (int i = 0; i < fft->row.count; i++)
            fft_name(level)(fft, back ? fft->row.count - 1 - i : i, back, z + a * fft->b, -1);
}

static void fft_name(forward)(const tess_correlate_fft *fft, void *z) {
    fft_name(columns)(fft, false, z);
    fft_name(rows)(fft, false, z);
}
static void fft_name(backward)(const tess_correlate_fft *fft, void *z) {
    fft_name(rows)(fft, true, z);
    fft_name(columns)(fft, true, z);
}

/* sum = z times the spectrum of a piece; from the second piece on it is added. */
static void fft_name(product)(const tess_correlate_fft *fft, void *sum, const void *z, int64_t piece) {
    for (int64_t i = 0; i < fft->a * fft->b; i++) {
        const real *at = (const real *)fft->spectrum + tess_correlate_fft_spectrum_at(fft, piece, i / fft->b, i % fft->b);
        const number x = ((const number *)z)[i], w = {at[0], at[tess_correlate_fft_apart(fft, true)]};
        number *s = (number *)sum + i;
        if (piece == 0)
            *s = fft_name(product_of)(x, w);
        else
            *s = (number){fused(-x.im, w.im, fused(x.re, w.re, s->re)), fused(x.im, w.re, fused(x.re, w.im, s->im))};
    }
}

#undef number
#undef fft_name
#undef real
#undef fused

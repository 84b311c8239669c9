/* SPDX-License-Identifier: Apache-2.0
 * fft_kernel.h - Fourier transforms of many signals at once: one signal a lane. Included once for f32 and once for f64, with vec, real, v_all,
 * v_fma, v_keep and fft_name(word) defined.
 *
 * A point is two vectors, real and imaginary parts, so that no lane ever meets another one: additions and fused multiply-adds are all there is,
 * and each lane's bits are the same whatever the vector's width (docs/numerics.md has the formulas; fft_reference.c is the same in scalars).
 *
 * Forward: decimation in frequency, radix 4 and 8; a level multiplies its results by roots of one and leaves each where it found its operands, so
 * the spectrum comes out in digit-reversed order. Backward: the same levels in reverse, multiplying first. The product with the
 * mask's spectrum, kept in that order too, needs no reordering. A backward transform is a forward one with real and imaginary parts exchanged:
 * `swap` is the part that is read as real. */

typedef vec fft_name(point)[2];
#define point fft_name(point)
typedef struct fft_name(pair) {
    vec re, im;
}
fft_name(pair);
#define pair fft_name(pair)

TESS_INLINE pair fft_name(get)(const point *p, int swap) { return (pair){(*p)[swap], (*p)[1 - swap]}; }
TESS_INLINE void fft_name(put)(point *p, int swap, pair x) {
    (*p)[swap] = x.re;
    (*p)[1 - swap] = x.im;
}
TESS_INLINE pair fft_name(add)(pair a, pair b) { return (pair){a.re + b.re, a.im + b.im}; }
TESS_INLINE pair fft_name(sub)(pair a, pair b) { return (pair){a.re - b.re, a.im - b.im}; }
TESS_INLINE pair fft_name(add_minus_i)(pair a, pair b) { return (pair){a.re + b.im, a.im - b.re}; } /* a - i b */
TESS_INLINE pair fft_name(add_plus_i)(pair a, pair b) { return (pair){a.re - b.im, a.im + b.re}; }
TESS_INLINE pair fft_name(times)(pair a, const real *w) {
    const vec re = v_all(w[0]), im = v_all(w[1]);
    return (pair){v_fma(a.re, re, -(a.im * im)), v_fma(a.re, im, a.im * re)};
}

TESS_INLINE void fft_name(four)(pair *x0, pair *x1, pair *x2, pair *x3) {
    const pair s0 = fft_name(add)(*x0, *x2), d0 = fft_name(sub)(*x0, *x2), s1 = fft_name(add)(*x1, *x3), d1 = fft_name(sub)(*x1, *x3);
    *x0 = fft_name(add)(s0, s1);
    *x1 = fft_name(add_minus_i)(d0, d1);
    *x2 = fft_name(sub)(s0, s1);
    *x3 = fft_name(add_plus_i)(d0, d1);
}

/* Results in natural order. The eighth roots' common factor sqrt(1/2) is left to the last additions. */
TESS_INLINE void fft_name(eight)(pair *x) {
    const vec half = v_all((real)0.70710678118654752440), minus = v_all((real)-0.70710678118654752440);
    pair a0 = fft_name(add)(x[0], x[4]), a1 = fft_name(add)(x[1], x[5]), a2 = fft_name(add)(x[2], x[6]), a3 = fft_name(add)(x[3], x[7]);
    const pair b0 = fft_name(sub)(x[0], x[4]), b1 = fft_name(sub)(x[1], x[5]), b2 = fft_name(sub)(x[2], x[6]), b3 = fft_name(sub)(x[3], x[7]);
    fft_name(four)(&a0, &a1, &a2, &a3);
    x[0] = a0;
    x[2] = a1;
    x[4] = a2;
    x[6] = a3;
    const pair s0 = fft_name(add_minus_i)(b0, b2), d0 = fft_name(add_plus_i)(b0, b2);
    const pair u1 = {b1.re + b1.im, b1.im - b1.re}, u3 = {b3.im - b3.re, b3.re + b3.im}; /* the third is minus u3.im */
    const pair s1 = {u1.re + u3.re, u1.im - u3.im}, d1 = {u1.re - u3.re, u1.im + u3.im};
    x[1] = (pair){v_fma(half, s1.re, s0.re), v_fma(half, s1.im, s0.im)};
    x[3] = (pair){v_fma(half, d1.im, d0.re), v_fma(minus, d1.re, d0.im)};
    x[5] = (pair){v_fma(minus, s1.re, s0.re), v_fma(minus, s1.im, s0.im)};
    x[7] = (pair){v_fma(minus, d1.im, d0.re), v_fma(half, d1.re, d0.im)};
}

TESS_INLINE void fft_name(butterfly)(int radix, pair *x) {
    if (radix == 8)
        fft_name(eight)(x);
    else
        fft_name(four)(&x[0], &x[1], &x[2], &x[3]);
}

/* One level over `blocks` blocks of `radix` * m points; roots: radix - 1 complex numbers for each j, root_step of them from one j to the next (NULL on
 * the level of m = 1). Points lie from_step and to_step apart. */
TESS_INLINE void fft_name(level)(int radix, bool back, bool rooted, point *to, int64_t to_step, const point *from, int64_t from_step, int64_t blocks,
                                 int64_t m, const real *roots, int64_t root_step) {
    for (int64_t j = 0; j < m; j++, roots += rooted ? 2 * root_step : 0)
        for (int64_t k = 0; k < blocks; k++) {
            const point *f = from + (k * radix * m + j) * from_step;
            point *t = to + (k * radix * m + j) * to_step;
            pair x[8];
            for (int q = 0; q < radix; q++) {
                x[q] = fft_name(get)(f + q * m * from_step, back);
                if (back && rooted && q > 0)
                    x[q] = fft_name(times)(x[q], roots + 2 * (q - 1));
            }
            fft_name(butterfly)(radix, x);
            for (int q = 0; q < radix; q++)
                fft_name(put)(t + q * m * to_step, back, !back && rooted && q > 0 ? fft_name(times)(x[q], roots + 2 * (q - 1)) : x[q]);
        }
}

static void fft_name(any_level)(int radix, bool back, point *to, int64_t to_step, const point *from, int64_t from_step, int64_t blocks, int64_t m,
                                const real *roots, int64_t root_step) {
    if (radix == 8) {
        if (!roots)
            back ? fft_name(level)(8, true, false, to, to_step, from, from_step, blocks, m, roots, root_step)
                 : fft_name(level)(8, false, false, to, to_step, from, from_step, blocks, m, roots, root_step);
        else
            back ? fft_name(level)(8, true, true, to, to_step, from, from_step, blocks, m, roots, root_step)
                 : fft_name(level)(8, false, true, to, to_step, from, from_step, blocks, m, roots, root_step);
    } else {
        if (!roots)
            back ? fft_name(level)(4, true, false, to, to_step, from, from_step, blocks, m, roots, root_step)
                 : fft_name(level)(4, false, false, to, to_step, from, from_step, blocks, m, roots, root_step);
        else
            back ? fft_name(level)(4, true, true, to, to_step, from, from_step, blocks, m, roots, root_step)
                 : fft_name(level)(4, false, true, to, to_step, from, from_step, blocks, m, roots, root_step);
    }
}

/* The last level forward, the product with the spectrum (one complex number a point), the first level back, on points that lie side by side. */
TESS_INLINE void fft_name(multiply)(int radix, point *row, int64_t blocks, const real *spectrum) {
    for (int64_t k = 0; k < blocks; k++, row += radix, spectrum += 2 * radix) {
        pair x[8];
        for (int q = 0; q < radix; q++)
            x[q] = fft_name(get)(row + q, 0);
        fft_name(butterfly)(radix, x);
        for (int q = 0; q < radix; q++) {
            const pair z = fft_name(times)(x[q], spectrum + 2 * q);
            x[q] = (pair){z.im, z.re};
        }
        fft_name(butterfly)(radix, x);
        for (int q = 0; q < radix; q++)
            fft_name(put)(row + q, 1, x[q]);
    }
}

/* The last level forward and the product, added to `sum` (or, first, put there). */
TESS_INLINE void fft_name(multiply_add)(int radix, point *sum, const point *row, int64_t blocks, const real *spectrum, bool first) {
    for (int64_t k = 0; k < blocks; k++, row += radix, sum += radix, spectrum += 2 * radix) {
        pair x[8];
        for (int q = 0; q < radix; q++)
            x[q] = fft_name(get)(row + q, 0);
        fft_name(butterfly)(radix, x);
        for (int q = 0; q < radix; q++) {
            if (first) {
                fft_name(put)(sum + q, 0, fft_name(times)(x[q], spectrum + 2 * q));
            } else {
                const vec re = v_all(spectrum[2 * q]), im = v_all(spectrum[2 * q + 1]);
                const pair s = fft_name(get)(sum + q, 0);
                fft_name(put)(sum + q, 0, (pair){v_fma(-x[q].im, im, v_fma(x[q].re, re, s.re)), v_fma(x[q].im, re, v_fma(x[q].re, im, s.im))});
            }
        }
    }
}

/* All levels of one column of the grid, through a buffer where there are several. */
static void fft_name(column)(const tess_correlate_fft *fft, bool back, point *grid, point *buffer, int64_t b) {
    const int64_t step = fft->row_points, offset = fft->plane ? 0 : b, root_step = fft->plane ? 1 : fft->b;
    const int count = fft->column.count;
    point *at = grid + b;
    for (int i = 0; i < count; i++) {
        const int l = back ? count - 1 - i : i, radix = fft->column.radix[l];
        const int64_t m = fft->column.m[l];
        const real *roots = fft->column.roots[l];
        if (roots)
            roots += 2 * (radix - 1) * offset;
        fft_name(any_level)(radix, back, i == count - 1 ? at : buffer, i == count - 1 ? step : 1, i == 0 ? at : buffer, i == 0 ? step : 1,
                            fft->a / (radix * m), m, roots, (radix - 1) * root_step);
    }
}

/* Levels of a row that multiply by roots: all but the last. */
static void fft_name(row)(const tess_correlate_fft *fft, bool back, point *row) {
    const int count = fft->row.count - 1;
    for (int i = 0; i < count; i++) {
        const int l = back ? count - 1 - i : i, radix = fft->row.radix[l];
        const int64_t m = fft->row.m[l];
        fft_name(any_level)(radix, back, row, 1, row, 1, fft->b / (radix * m), m, fft->row.roots[l], radix - 1);
    }
}

static void fft_name(columns)(const tess_correlate_fft *fft, bool back, point *grid, point *buffer) {
    for (int64_t b = 0; b < fft->b; b++)
        fft_name(column)(fft, back, grid, buffer, b);
}

/* A batch whose mask is one piece: `grid` holds the input and then the output. */
static void fft_name(whole)(const tess_correlate_fft *fft, point *grid, point *buffer) {
    const int last = fft->row.radix[fft->row.count - 1];
    fft_name(columns)(fft, false, grid, buffer);
    for (int64_t a = 0; a < fft->a; a++) {
        point *row = grid + a * fft->row_points;
        const real *spectrum = (const real *)fft->spectrum + 2 * a * fft->b;
        fft_name(row)(fft, false, row);
        if (last == 8)
            fft_name(multiply)(8, row, fft->b / 8, spectrum);
        else
            fft_name(multiply)(4, row, fft->b / 4, spectrum);
        fft_name(row)(fft, true, row);
    }
    fft_name(columns)(fft, true, grid, buffer);
}

/* One piece of several: adds its product to `sum`. */
static void fft_name(piece)(const tess_correlate_fft *fft, point *grid, point *sum, point *buffer, int64_t number) {
    const int last = fft->row.radix[fft->row.count - 1];
    fft_name(columns)(fft, false, grid, buffer);
    for (int64_t a = 0; a < fft->a; a++) {
        point *row = grid + a * fft->row_points, *to = sum + a * fft->row_points;
        const real *spectrum = (const real *)fft->spectrum + 2 * (number * fft->a + a) * fft->b;
        fft_name(row)(fft, false, row);
        if (last == 8)
            fft_name(multiply_add)(8, to, row, fft->b / 8, spectrum, number == 0);
        else
            fft_name(multiply_add)(4, to, row, fft->b / 4, spectrum, number == 0);
    }
}

/* After the last piece. */
static void fft_name(pieces_end)(const tess_correlate_fft *fft, point *sum, point *buffer) {
    const int radix = fft->row.radix[fft->row.count - 1];
    for (int64_t a = 0; a < fft->a; a++) {
        point *row = sum + a * fft->row_points;
        fft_name(any_level)(radix, true, row, 1, row, 1, fft->b / radix, 1, NULL, 0);
        fft_name(row)(fft, true, row);
    }
    fft_name(columns)(fft, true, sum, buffer);
}

#undef point
#undef pair

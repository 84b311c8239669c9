/* SPDX-License-Identifier: Apache-2.0
 * fft_tables.c - roots of one, and the mask's spectrum. All in f64 with operations that round alike everywhere, then rounded to the work type: the
 * C library's sines differ from one to the next. */
#include <math.h>
#include <string.h>

#include "ops/correlate/fft.h"

/* ---- exp(-2 pi i k / n), n a power of two ---- */

/* Taylor's series on 0 .. pi / 4, the first two terms kept apart from the rest: off by less than one unit in the last place. tail: what x lacks. */
static void sine_cosine(double x, double tail, double *sine, double *cosine) {
    static const double s[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
    static const double c[] = {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
    const double z = x * x;
    double p = s[6], q = c[6];
    for (int i = 5; i >= 0; i--) {
        p = p * z + s[i];
        q = q * z + c[i];
    }
    *sine = x + (x * z * p + tail * (1 - 0.5 * z));
    const double half = 0.5 * z, w = 1 - half;
    *cosine = w + (((1 - w) - half) + (z * z * q - x * tail));
}

/* 0 <= k < n / 2 */
static void root_of_one(int64_t n, int64_t k, double *re, double *im) {
    static const double two_pi = 6.283185307179586, two_pi_rest = 2.4492935982947064e-16;
    const int64_t eighth = n / 8, octant = (k >= eighth) + (k >= 2 * eighth) + (k >= 3 * eighth);
    const int64_t within = octant & 1 ? (octant + 1) * eighth - k : k - octant * eighth;
    double sine, cosine, step = (double)within / (double)n; /* exact */
    double x = two_pi * step;
    sine_cosine(x, fma(two_pi, step, -x) + two_pi_rest * step, &sine, &cosine);
    const bool swapped = octant == 1 || octant == 2; /* sine and cosine change places */
    *re = octant >= 2 ? -(swapped ? sine : cosine) : swapped ? sine : cosine;
    *im = -(swapped ? cosine : sine);
}

/* ---- tables of levels ---- */

typedef struct tables {
    bool f32;
    char *at; /* NULL: only counted */
    size_t size;
    int64_t points;
    const double *roots; /* points / 2 complex numbers */
} tables;

static void put(const tables *t, char *to, int64_t at, int apart, double re, double im) {
    if (t->f32) {
        memcpy(to + 4 * at, &(float){(float)re}, 4);
        memcpy(to + 4 * (at + apart), &(float){(float)im}, 4);
    } else {
        memcpy(to + 8 * at, &re, 8);
        memcpy(to + 8 * (at + apart), &im, 8);
    }
}

/* side: points that lie between two of the column (in one dimension: the row), so that a level's roots are those of `side` times as many points. */
static void add_levels(tables *t, const tess_correlate_fft *fft, tess_fft_levels *levels, bool columns) {
    const int64_t side = columns && !fft->plane ? fft->b : 1;
    const int apart = columns ? tess_correlate_fft_apart(fft, false) : 1;
    for (int l = 0; l < levels->count; l++) {
        const int64_t m = levels->m[l] * side, others = levels->radix[l] - 1, half = t->points / 2;
        levels->roots[l] = NULL;
        if (m == 1)
            continue;
        for (int64_t j = 0; j < m && t->at; j++)
            for (int q = 1; q <= others; q++) {
                const int64_t k = j * q * (t->points / (m * levels->radix[l]));
                const int64_t at = columns ? tess_correlate_fft_column_root_at(fft, l, j / side, j % side, q) : 2 * (j * others + q - 1);
                const double *root = &t->roots[2 * (k & (half - 1))], sign = k < half ? 1 : -1;
                put(t, t->at + t->size, at, apart, sign * root[0], sign * root[1]);
            }
        if (t->at)
            levels->roots[l] = t->at + t->size;
        t->size += (size_t)(m * others) * (t->f32 ? 8 : 16);
    }
    t->size = (t->size + 63) & ~(size_t)63;
}

static void add_all(tables *t, tess_correlate_fft *fft) {
    add_levels(t, fft, &fft->column, true);
    add_levels(t, fft, &fft->row, false);
}

/* ---- the spectrum ---- */

enum { SIDE_BY_SIDE = 8, NEAR = 4096 }; /* columns that are transformed together; points that stay near while all their levels are done */

/* A number of each of some transforms that are done side by side; one alone has the stride of a complex number. */
#define BUTTERFLY(u, v, w, count, part)                                                                                \
    for (int64_t i = 0; i < (count); i++) {                                                                            \
        const double re = (v)[i] * (w)[0] - (v)[(part) + i] * (w)[1], im = (v)[i] * (w)[1] + (v)[(part) + i] * (w)[0]; \
        (v)[i] = (u)[i] - re;                                                                                          \
        (v)[(part) + i] = (u)[(part) + i] - im;                                                                        \
        (u)[i] += re;                                                                                                  \
        (u)[(part) + i] += im;                                                                                         \
    }

static void reverse_bits(double *z, int64_t n, int64_t width) {
    for (int64_t i = 1, k = 0; i < n; i++) {
        int64_t bit = n >> 1;
        for (; k & bit; bit >>= 1)
            k ^= bit;
        k ^= bit;
        for (int64_t e = 0; e < width && i < k; e++) {
            const double t = z[i * width + e];
            z[i * width + e] = z[k * width + e];
            z[k * width + e] = t;
        }
    }
}

/* The levels of n points after that, radix 2 with decimation in time; roots: n / 2 complex numbers, root_step apart. Halves are finished before they
 * meet where both would not stay near. */
static void levels_of_two(double *z, int64_t n, const double *roots, int64_t root_step) {
    int64_t half = 1;
    if (n > NEAR) {
        half = n / 2;
        levels_of_two(z, half, roots, 2 * root_step);
        levels_of_two(z + n, half, roots, 2 * root_step);
    }
    for (; half < n; half *= 2)
        for (int64_t first = 0; first < n; first += 2 * half)
            for (int64_t j = 0; j < half; j++) {
                double *u = z + 2 * (first + j), *v = u + 2 * half;
                const double *w = roots + 2 * (j * (n / 2 / half)) * root_step;
                BUTTERFLY(u, v, w, 1, 1)
            }
}

static void transform(double *z, int64_t n, const double *roots, int64_t root_step) {
    reverse_bits(z, n, 2);
    levels_of_two(z, n, roots, root_step);
}

/* The same of the columns of a plane of n rows of `wide` complex numbers, some of them at a time, in a buffer with their parts side by side. */
static void transform_columns(double *z, int64_t n, int64_t wide, const double *roots, int64_t root_step, double *buffer) {
    for (int64_t c = 0; c < wide; c += SIDE_BY_SIDE) {
        for (int64_t r = 0; r < n; r++)
            for (int i = 0; i < 2 * SIDE_BY_SIDE; i++)
                buffer[r * 2 * SIDE_BY_SIDE + i] = z[2 * (r * wide + c + i % SIDE_BY_SIDE) + i / SIDE_BY_SIDE];
        reverse_bits(buffer, n, 2 * SIDE_BY_SIDE);
        for (int64_t half = 1; half < n; half *= 2)
            for (int64_t first = 0; first < n; first += 2 * half)
                for (int64_t j = 0; j < half; j++) {
                    double *restrict u = buffer + (first + j) * 2 * SIDE_BY_SIDE, *restrict v = u + half * 2 * SIDE_BY_SIDE;
                    const double *w = roots + 2 * (j * (n / 2 / half)) * root_step;
                    BUTTERFLY(u, v, w, SIDE_BY_SIDE, SIDE_BY_SIDE)
                }
        for (int64_t r = 0; r < n; r++)
            for (int i = 0; i < 2 * SIDE_BY_SIDE; i++)
                z[2 * (r * wide + c + i % SIDE_BY_SIDE) + i / SIDE_BY_SIDE] = buffer[r * 2 * SIDE_BY_SIDE + i];
    }
}
#undef BUTTERFLY

/* The frequency that stands at a place after the levels: digits in reverse. */
static int64_t frequency(const tess_fft_levels *levels, int64_t place) {
    int64_t f = 0, weight = 1;
    for (int l = 0; l < levels->count; l++) {
        f += place / levels->m[l] * weight;
        place %= levels->m[l];
        weight *= levels->radix[l];
    }
    return f;
}

static double weight_at(const tess_correlate_problem *problem, int64_t i) {
    const void *weights = problem->masks[0].weights;
    return problem->compute == tess_f32 ? (double)((const float *)weights)[i] : ((const double *)weights)[i];
}

/* The piece's weights, backwards: output i is the sum over j of in[i + j] * weight[j], a circular convolution with weight[-j]. Divided by the number of
 * points, which the two transforms multiply with. */
static void place_weights(const tess_correlate_fft *fft, const tess_correlate_problem *problem, int64_t number, double *z) {
    const tess_correlate_mask *mask = &problem->masks[0];
    const int64_t points = fft->a * fft->b;
    int64_t first[TESS_MAX_NDIM], last[TESS_MAX_NDIM], at[TESS_MAX_NDIM];
    memset(z, 0, (size_t)points * 16);
    tess_correlate_fft_piece(fft, mask, number, first);
    for (int k = 0; k < mask->ndim; k++) {
        last[k] = tess_min64(first[k] + fft->piece_step[k], mask->shape[k]);
        at[k] = first[k];
    }
    for (int k = 0; k >= 0;) {
        int64_t i = 0, x = 0, y = 0;
        for (int d = 0; d < mask->ndim; d++) {
            i = i * mask->shape[d] + at[d];
            x = mask->axes[d] == fft->x ? at[d] - first[d] : x;
            y = fft->plane && mask->axes[d] == fft->y ? at[d] - first[d] : y;
        }
        int64_t place = fft->plane ? (fft->a - y) % fft->a * fft->b + (fft->b - x) % fft->b : (points - x) % points;
        z[2 * place] += weight_at(problem, i) / (double)points;
        for (k = mask->ndim - 1; k >= 0 && ++at[k] == last[k]; k--)
            at[k] = first[k];
    }
}

/* Of a plane only row 0 and the last ones have weights; transforms of rows of zeros are zeros. */
static void add_spectrum(const tables *t, const tess_correlate_fft *fft, int64_t piece, double *z, const double *roots, double *buffer) {
    const int64_t points = fft->a * fft->b;
    if (fft->plane) {
        for (int64_t a = 0; a < fft->a; a++)
            if (a == 0 || a > fft->a - fft->taps_y)
                transform(z + 2 * a * fft->b, fft->b, roots, points / fft->b);
        transform_columns(z, fft->a, fft->b, roots, points / fft->a, buffer);
    } else {
        transform(z, points, roots, 1);
    }
    const int apart = tess_correlate_fft_apart(fft, true);
    int64_t *of_place = (int64_t *)(void *)buffer;
    for (int64_t b = 0; b < fft->b; b++)
        of_place[b] = frequency(&fft->row, b) * (fft->plane ? 1 : fft->a);
    for (int64_t a = 0; a < fft->a; a++) {
        const double *from = z + 2 * frequency(&fft->column, a) * (fft->plane ? fft->b : 1);
        for (int64_t b = 0; b < fft->b; b++)
            put(t, fft->spectrum, tess_correlate_fft_spectrum_at(fft, piece, a, b), apart, from[2 * of_place[b]], from[2 * of_place[b] + 1]);
    }
}

tess_status tess_correlate_fft_tables(tess_correlate_fft *fft, const tess_correlate_problem *problem) {
    const int64_t points = fft->a * fft->b;
    tables t = {.f32 = problem->compute == tess_f32, .points = points};
    const size_t number = t.f32 ? 8 : 16;
    add_all(&t, fft);
    if (TESS_MUL_OVERFLOWS((size_t)fft->pieces, (size_t)points * number, &fft->size) || TESS_ADD_OVERFLOWS(fft->size, t.size, &fft->size))
        return tess_fail(TESS_ERR_SIZE, "a mask has %lld elements, its spectrum does not fit the address space", (long long)problem->masks[0].taps);
    fft->tables = tess_allocate(problem->base.context, fft->size);
    const size_t room = (size_t)points * 16 + (size_t)points / 2 * 16 +
                        (size_t)tess_max64(fft->a, fft->b) * SIDE_BY_SIDE * 16; /* points, half of the roots, columns */
    double *z = fft->tables ? tess_allocate(problem->base.context, room) : NULL, *roots;
    if (!z)
        return TESS_ERR_MEMORY;
    roots = z + 2 * points;
    for (int64_t k = 0; k < points / 2; k++)
        root_of_one(points, k, &roots[2 * k], &roots[2 * k + 1]);
    t = (tables){.f32 = t.f32, .at = fft->tables, .points = points, .roots = roots};
    add_all(&t, fft);
    fft->spectrum = t.at + t.size;
    for (int64_t p = 0; p < fft->pieces; p++) {
        place_weights(fft, problem, p, z);
        add_spectrum(&t, fft, p, z, roots, roots + points);
    }
    tess_free(problem->base.context, z, room);
    return TESS_OK;
}

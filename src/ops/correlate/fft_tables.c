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

static void add_root(tables *t, double re, double im) {
    if (t->at && t->f32)
        memcpy(t->at + t->size, (float[2]){(float)re, (float)im}, 8);
    else if (t->at)
        memcpy(t->at + t->size, (double[2]){re, im}, 16);
    t->size += t->f32 ? 8 : 16;
}

/* side: points that lie between two of the column (in one dimension: the row), so that a level's roots are those of `side` times as many points. */
static void add_levels(tables *t, tess_fft_levels *levels, int64_t side) {
    for (int l = 0; l < levels->count; l++) {
        const int64_t m = levels->m[l] * side;
        levels->roots[l] = NULL;
        if (m == 1)
            continue;
        if (t->at)
            levels->roots[l] = t->at + t->size;
        for (int64_t j = 0; j < m; j++)
            for (int q = 1; q < levels->radix[l]; q++) {
                const int64_t k = j * q * (t->points / (m * levels->radix[l])), half = t->points / 2;
                const double *root = t->at ? &t->roots[2 * (k & (half - 1))] : NULL;
                const double sign = k < half ? 1 : -1;
                add_root(t, root ? sign * root[0] : 0, root ? sign * root[1] : 0);
            }
    }
    t->size = (t->size + 63) & ~(size_t)63;
}

static void add_all(tables *t, tess_correlate_fft *fft) {
    add_levels(t, &fft->column, fft->plane ? 1 : fft->b);
    add_levels(t, &fft->row, 1);
}

/* ---- the spectrum ---- */

/* Natural order, in place, radix 2 with decimation in time; `step` numbers apart; roots: n / 2 complex numbers, root_step apart. */
static void transform(double *z, int64_t n, int64_t step, const double *roots, int64_t root_step) {
    for (int64_t i = 1, k = 0; i < n; i++) {
        int64_t bit = n >> 1;
        for (; k & bit; bit >>= 1)
            k ^= bit;
        k ^= bit;
        if (i < k)
            for (int part = 0; part < 2; part++) {
                double t = z[2 * i * step + part];
                z[2 * i * step + part] = z[2 * k * step + part];
                z[2 * k * step + part] = t;
            }
    }
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t first = 0; first < n; first += 2 * half)
            for (int64_t j = 0; j < half; j++) {
                double *u = z + 2 * (first + j) * step, *v = u + 2 * half * step;
                const double *w = roots + 2 * (j * (n / 2 / half)) * root_step;
                const double re = v[0] * w[0] - v[1] * w[1], im = v[0] * w[1] + v[1] * w[0];
                v[0] = u[0] - re;
                v[1] = u[1] - im;
                u[0] += re;
                u[1] += im;
            }
}

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

static void add_spectrum(tables *t, const tess_correlate_fft *fft, double *z, const double *roots) {
    const int64_t points = fft->a * fft->b;
    if (fft->plane) {
        for (int64_t a = 0; a < fft->a; a++)
            transform(z + 2 * a * fft->b, fft->b, 1, roots, points / fft->b);
        for (int64_t b = 0; b < fft->b; b++)
            transform(z + 2 * b, fft->a, fft->b, roots, points / fft->a);
    } else {
        transform(z, points, 1, roots, 1);
    }
    for (int64_t a = 0; a < fft->a; a++)
        for (int64_t b = 0; b < fft->b; b++) {
            const int64_t fa = frequency(&fft->column, a), fb = frequency(&fft->row, b);
            const double *from = z + 2 * (fft->plane ? fa * fft->b + fb : fa + fft->a * fb);
            add_root(t, from[0], from[1]);
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
    const size_t room = (size_t)points * 16 + (size_t)points / 2 * 16; /* points, and half of the roots */
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
        add_spectrum(&t, fft, z, roots);
    }
    tess_free(problem->base.context, z, room);
    return TESS_OK;
}

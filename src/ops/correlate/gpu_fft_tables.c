/* SPDX-License-Identifier: Apache-2.0
 * gpu_fft_tables.c - the tables of a correlation by Fourier transforms in the order in which a warp's lanes read them: a level's roots one list for each
 * result of the butterfly, spectra column by column. The same numbers as the CPU's tables, made of them when a plan is first laid out. */
#include <string.h>

#include "ops/correlate/gpu_fft.h"

static size_t number_of(const tess_correlate_problem *p) { return 2 * tess_type_size(p->compute); }

/* Roots of an axis, in numbers: radix - 1 lists of m * side for each level that has any. */
static int64_t roots_of(const tess_fft_levels *levels, int64_t side) {
    int64_t count = 0;
    for (int l = 0; l < levels->count; l++)
        count += levels->m[l] * side > 1 ? (levels->radix[l] - 1) * levels->m[l] * side : 0;
    return count;
}

static char *put_roots(char *to, const tess_fft_levels *levels, int64_t side, size_t number) {
    for (int l = 0; l < levels->count; l++)
        for (int64_t q = 0; q < levels->radix[l] - 1 && levels->m[l] * side > 1; q++)
            for (int64_t j = 0; j < levels->m[l] * side; j++, to += number)
                memcpy(to, (const char *)levels->roots[l] + (size_t)(j * (levels->radix[l] - 1) + q) * number, number);
    return to;
}

static void put_spectrum(char *to, const char *from, int64_t a, int64_t b, size_t number) {
    for (int64_t r = 0; r < a; r++)
        for (int64_t c = 0; c < b; c++)
            memcpy(to + (size_t)(c * a + r) * number, from + (size_t)(r * b + c) * number, number);
}

bool tess_correlate_gpu_fft_tables(const tess_correlate_problem *p, tess_correlate_gpu_fft *tables) {
    tess_correlate_fft *fft = p->fft;
    const size_t number = number_of(p);
    const int64_t column = roots_of(&fft->column, fft->plane ? 1 : fft->b), row = roots_of(&fft->row, 1), points = fft->a * fft->b;
    const size_t size =
        (size_t)(column + row + fft->pieces * points) * number; /* less than fft->size, which did not overflow, and 64 bytes a level */
    if (!fft->device_tables) {
        fft->device_tables = tess_allocate(p->base.context, size);
        if (!fft->device_tables)
            return false;
        fft->device_size = size;
        char *to = put_roots(fft->device_tables, &fft->column, fft->plane ? 1 : fft->b, number);
        to = put_roots(to, &fft->row, 1, number);
        for (int64_t piece = 0; piece < fft->pieces; piece++)
            put_spectrum(to + (size_t)(piece * points) * number, (const char *)fft->spectrum + (size_t)(piece * points) * number, fft->a, fft->b,
                         number);
    }
    *tables = (tess_correlate_gpu_fft){
        .content = fft->device_tables, .size = size, .rows = column * (int64_t)number, .spectrum = (column + row) * (int64_t)number};
    return true;
}

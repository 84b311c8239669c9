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

/* One complex number whose parts stand `apart` reals apart. */
static char *put(char *to, const void *table, int64_t at, int apart, size_t number) {
    const size_t real = number / 2;
    memcpy(to, (const char *)table + (size_t)at * real, real);
    memcpy(to + real, (const char *)table + (size_t)(at + apart) * real, real);
    return to + number;
}

static char *put_column_roots(char *to, const tess_correlate_fft *fft, size_t number) {
    const tess_fft_levels *levels = &fft->column;
    const int64_t side = fft->plane ? 1 : fft->b;
    const int apart = tess_correlate_fft_apart(fft, false);
    for (int l = 0; l < levels->count; l++)
        for (int q = 1; q < levels->radix[l] && levels->m[l] * side > 1; q++)
            for (int64_t j = 0; j < levels->m[l]; j++)
                for (int64_t c = 0; c < side; c++)
                    to = put(to, levels->roots[l], tess_correlate_fft_column_root_at(fft, l, j, c, q), apart, number);
    return to;
}

static char *put_row_roots(char *to, const tess_correlate_fft *fft, size_t number) {
    const tess_fft_levels *levels = &fft->row;
    for (int l = 0; l < levels->count; l++)
        for (int q = 1; q < levels->radix[l] && levels->m[l] > 1; q++)
            for (int64_t j = 0; j < levels->m[l]; j++)
                to = put(to, levels->roots[l], 2 * (j * (levels->radix[l] - 1) + q - 1), 1, number);
    return to;
}

static void put_spectra(char *to, const tess_correlate_fft *fft, size_t number) {
    const int apart = tess_correlate_fft_apart(fft, true);
    for (int64_t piece = 0; piece < fft->pieces; piece++)
        for (int64_t c = 0; c < fft->b; c++)
            for (int64_t r = 0; r < fft->a; r++)
                to = put(to, fft->spectrum, tess_correlate_fft_spectrum_at(fft, piece, r, c), apart, number);
}

tess_correlate_gpu_fft tess_correlate_gpu_fft_places(const tess_correlate_problem *p) {
    const tess_correlate_fft *fft = p->fft;
    const size_t number = number_of(p);
    const int64_t column = roots_of(&fft->column, fft->plane ? 1 : fft->b), row = roots_of(&fft->row, 1), points = fft->a * fft->b;
    return (tess_correlate_gpu_fft){.size = (size_t)(column + row + fft->pieces * points) *
                                            number, /* less than fft->size, which did not overflow, and 64 bytes a level */
                                    .rows = column * (int64_t)number,
                                    .spectrum = (column + row) * (int64_t)number};
}

bool tess_correlate_gpu_fft_tables(const tess_correlate_problem *p, tess_correlate_gpu_fft *tables) {
    tess_correlate_fft *fft = p->fft;
    const size_t number = number_of(p);
    *tables = tess_correlate_gpu_fft_places(p);
    if (!fft->device_tables) {
        fft->device_tables = tess_allocate(p->base.context, tables->size);
        if (!fft->device_tables)
            return false;
        fft->device_size = tables->size;
        put_spectra(put_row_roots(put_column_roots(fft->device_tables, fft, number), fft, number), fft, number);
    }
    tables->content = fft->device_tables;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0
 * gpu_fft.h - the GPU's rows for correlations by Fourier transforms: gpu_fft.c lays them out, gpu_fft_tables.c makes what they read. */
#ifndef TESS_OPS_CORRELATE_GPU_FFT_H
#define TESS_OPS_CORRELATE_GPU_FFT_H

#include "ops/correlate/fft.h"
#include "ops/correlate/gpu_correlate.h"

/* Roots of columns, of rows, spectra of the pieces, in one piece of memory that the problem keeps. */
typedef struct tess_correlate_gpu_fft {
    const void *content;
    size_t size;
    int64_t rows, spectrum; /* bytes before them */
} tess_correlate_gpu_fft;
/* false: no memory. */
bool tess_correlate_gpu_fft_tables(const tess_correlate_problem *problem, tess_correlate_gpu_fft *tables);

extern const tess_gpu_row tess_correlate_fft_tile, tess_correlate_fft_passes;
bool tess_correlate_fft_tile_fits(const tess_problem *problem, const char **why);
bool tess_correlate_fft_passes_fits(const tess_problem *problem, const char **why);
double tess_correlate_fft_work(const tess_problem *problem); /* flops */

#endif

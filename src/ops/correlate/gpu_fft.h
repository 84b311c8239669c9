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

/* Where the tables will be; content NULL. */
tess_correlate_gpu_fft tess_correlate_gpu_fft_places(const tess_correlate_problem *problem);

/* What a block is: threads, blocks a multiprocessor should hold, columns of a stripe or rows of a bundle, bytes of shared memory. */
typedef struct tess_correlate_fft_block {
    int64_t threads, blocks, across, shared;
} tess_correlate_fft_block;
tess_correlate_fft_block tess_correlate_fft_tile_block(const tess_correlate_problem *problem);
void tess_correlate_fft_blocks(const tess_correlate_problem *problem, const tess_gpu_device *device, tess_correlate_fft_block *stripe,
                               tess_correlate_fft_block *bundle);
/* Whether fft_tile takes three launches, since a pair of tiles does not fit this device's shared memory. */
bool tess_correlate_fft_by_passes(const tess_problem *problem, const tess_gpu_device *device);

/* gpu_fft_predict.c */
void tess_correlate_predict_fft_tile(const tess_problem *problem, tess_gpu_prediction *prediction);
void tess_correlate_predict_fft_passes(const tess_problem *problem, tess_gpu_prediction *prediction);

extern const tess_gpu_row tess_correlate_fft_tile, tess_correlate_fft_passes;
bool tess_correlate_fft_tile_fits(const tess_problem *problem, const char **why);
bool tess_correlate_fft_passes_fits(const tess_problem *problem, const char **why);
double tess_correlate_fft_work(const tess_problem *problem); /* flops */

#endif

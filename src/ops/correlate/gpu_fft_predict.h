/* SPDX-License-Identifier: Apache-2.0
 * gpu_fft_predict.h - between gpu_fft_predict.c, which walks the passes of a pair of tiles, and gpu_fft_tiles.c, which walks where tiles meet the arrays. */
#ifndef TESS_OPS_CORRELATE_GPU_FFT_PREDICT_H
#define TESS_OPS_CORRELATE_GPU_FFT_PREDICT_H

#include "ops/correlate/gpu_fft.h"

/* Of kernels: axis_of of gpu_fft.cuh. */
typedef struct fft_axis {
    bool head, middle;
    int64_t n, m, step, last, first, radix, side, inner, tail, least;
} fft_axis;

typedef struct fft_walk {
    tess_gpu_prediction *sum;
    const tess_correlate_problem *p;
    const tess_correlate_fft *fft;
    tess_correlate_gpu_fft tables;
    fft_axis columns, rows;
    tess_correlate_fft_block stripe, bundle; /* of three launches */
    int64_t number;                          /* bytes of a point */
    double times;                            /* how many blocks the one that is walked stands for */
} fft_walk;

/* One request of a warp for elements at these bytes, -1: none. */
void tess_correlate_fft_count_global(fft_walk *w, const int64_t *byte, bool store);
/* All tiles' loads and stores; `pair` is called for all pairs of tiles by the columns that are wanted of them, of every pair as many as of any where `same`.
 * across: columns of the grid that a block has. */
void tess_correlate_fft_each_pair(fft_walk *w, int64_t across, bool same, void (*pair)(fft_walk *, int64_t wanted));

#endif

/* SPDX-License-Identifier: Apache-2.0
 * fft.h - correlation by Fourier transforms: how a problem is cut into tiles and pieces, and the tables that a plan holds.
 *
 * Overlap and save: a tile of outputs needs a tile of inputs that is larger by the mask less one; transformed, multiplied with the mask's spectrum
 * and transformed back, its first outputs are those wanted and the rest is thrown away. Two tiles are the real and imaginary parts of one transform, and
 * 64 bytes of such pairs, a batch, are transformed side by side.
 *
 * A tile is a grid of a rows of b points. In two dimensions (`plane`) they are rows and columns of the array. In one they are a stretch of a * b
 * points, and the transform of a * b points is done as columns, then rows, with roots of one between. Masks that are larger than a tile can serve
 * are cut into pieces, as are axes beyond two; spectra of pieces are added before the one transform back. */
#ifndef TESS_OPS_CORRELATE_FFT_H
#define TESS_OPS_CORRELATE_FFT_H

#include "ops/correlate/gather.h"

enum { TESS_FFT_LEVELS = 3, TESS_FFT_LINE = 64 }; /* levels of a column or row at most; bytes of a batch's pairs in one part of one point */

/* A transform of 8, 16, 32, 64, 128 or 256 points, level by level: blocks of radix * m points, each a butterfly of `radix` points m apart. */
typedef struct tess_fft_levels {
    int count, radix[TESS_FFT_LEVELS];
    int64_t m[TESS_FFT_LEVELS];
    const void *roots[TESS_FFT_LEVELS]; /* radix - 1 for each j; NULL: all one */
} tess_fft_levels;

typedef struct tess_correlate_fft {
    bool plane;
    int x, y;           /* axes of the array: along rows, along columns (plane) */
    int mask_x, mask_y; /* the same, of the mask */
    int64_t a, b;       /* rows of the grid, points of a row */
    int64_t row_points; /* points from row to row in memory */
    tess_fft_levels column, row;
    int64_t outputs_x, outputs_y; /* of a tile: at most */
    int64_t tiles_x, tiles_y, outer, tiles;
    int outer_ndim, outer_axis[TESS_MAX_NDIM], outer_mask[TESS_MAX_NDIM]; /* of the array, and of the mask or -1 */
    int64_t outer_shape[TESS_MAX_NDIM];
    int64_t taps_x, taps_y; /* of a piece: at most */
    int64_t pieces;
    int64_t piece_count[TESS_MAX_NDIM], piece_step[TESS_MAX_NDIM]; /* by the axes of the mask: how many, and taps from one to the next */
    double cost;                                                   /* of it all, in multiply-adds of a direct sum */
    void *tables;                                                  /* roots, then `spectrum` */
    size_t size;
    void *device_tables; /* gpu_fft_tables.c: NULL until a plan for a GPU is laid out */
    size_t device_size;
    void *spectrum; /* of each piece: a * b complex numbers in the order of the grid after a forward transform */
} tess_correlate_fft;

/* Chooses tiles and pieces for masks[0] by cost, from sizes and type alone. */
void tess_correlate_fft_choose(tess_correlate_fft *fft, const tess_correlate_problem *problem);
/* The cost of the direct sum in the same unit, or of the passes of its `count` factors. */
double tess_correlate_direct_cost(const tess_correlate_problem *problem, const tess_correlate_mask *factors, int count);

/* fft_tables.c: allocates and fills the tables. */
tess_status tess_correlate_fft_tables(tess_correlate_fft *fft, const tess_correlate_problem *problem);

/* Where piece number p begins, in taps, on each axis of the mask. */
void tess_correlate_fft_piece(const tess_correlate_fft *fft, const tess_correlate_mask *mask, int64_t p, int64_t *first);

size_t tess_correlate_fft_scratch(const tess_correlate_fft *fft); /* bytes for one thread */
double tess_correlate_fft_flops(const tess_correlate_fft *fft);   /* by the usual count: 5 n log2 n for a transform of n points */

/* fft_reference.c: the same bits, one pair of tiles after another, in scalars. */
size_t tess_correlate_fft_reference_scratch(const tess_correlate_fft *fft);
void tess_correlate_fft_reference(const tess_correlate_problem *problem, const tess_run *run);

#endif

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

enum {
    TESS_FFT_LEVELS = 4,
    TESS_FFT_LINE = 64,
    TESS_FFT_TILES = 2 * TESS_FFT_LINE / 4
}; /* levels of a column or row at most; bytes of a batch's pairs in one part of one point; tiles of a batch at most */
/* Points of a tile that shares vectors with others, at most (the costs of fft.c know it, so it is part of the definition); of larger ones, a pair at a time: numbers of a block of the tables, vectors of columns that
 * are brought together, points between their buffers. */
enum { TESS_FFT_BATCHED = 65536, TESS_FFT_BATCHED_PLANE = 16384, TESS_FFT_BLOCK = 16, TESS_FFT_STRIP = 4, TESS_FFT_STRIP_GAP = 4 };

/* A transform of 8, 16, ... 1024 points, level by level: blocks of radix * m points, each a butterfly of `radix` points m apart. */
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
    bool part;                                                     /* of another problem (slab.c), whose tables these are */
    void *tables;                                                  /* roots, then `spectrum` */
    size_t size;
    void *device_tables; /* gpu_fft_tables.c: NULL until a plan for a GPU is laid out */
    size_t device_size;
    void *spectrum; /* of each piece: a * b complex numbers in the order of the grid after a forward transform, see below */
} tess_correlate_fft;

/* Tiles that are so large that a batch of them would leave the caches are transformed a pair at a time, a vector having neighbouring columns, then
 * neighbouring rows. Their tables are read by vectors: real and imaginary parts lie in blocks of 16. */
TESS_INLINE bool tess_correlate_fft_single(const tess_correlate_fft *fft) {
    return fft->a * fft->b > (fft->plane ? TESS_FFT_BATCHED_PLANE : TESS_FFT_BATCHED) && fft->a >= 64 && fft->b >= 64;
}

/* Where the real part of the spectrum's number (r, c) of a piece stands, in reals. Blocks are of neighbouring rows. */
TESS_INLINE int64_t tess_correlate_fft_spectrum_at(const tess_correlate_fft *fft, int64_t piece, int64_t r, int64_t c) {
    if (tess_correlate_fft_single(fft))
        return 2 * piece * fft->a * fft->b + (r / TESS_FFT_BLOCK * fft->b + c) * 2 * TESS_FFT_BLOCK + r % TESS_FFT_BLOCK;
    return 2 * ((piece * fft->a + r) * fft->b + c);
}
/* The same for the root of result q > 0 at place j of a column's level and, in one dimension, column c. Blocks are of neighbouring columns. */
TESS_INLINE int64_t tess_correlate_fft_column_root_at(const tess_correlate_fft *fft, int level, int64_t j, int64_t c, int q) {
    const int64_t others = fft->column.radix[level] - 1;
    if (fft->plane)
        return 2 * (j * others + q - 1);
    if (tess_correlate_fft_single(fft))
        return ((c / TESS_FFT_BLOCK * fft->column.m[level] + j) * others + q - 1) * 2 * TESS_FFT_BLOCK + c % TESS_FFT_BLOCK;
    return 2 * ((j * fft->b + c) * others + q - 1);
}
/* Reals from a real part to its imaginary one: in the spectrum, in a column's roots. */
TESS_INLINE int tess_correlate_fft_apart(const tess_correlate_fft *fft, bool spectrum) {
    return tess_correlate_fft_single(fft) && (spectrum || !fft->plane) ? TESS_FFT_BLOCK : 1;
}

/* Chooses tiles and pieces for masks[0] by cost, from sizes and type alone. */
void tess_correlate_fft_choose(tess_correlate_fft *fft, const tess_correlate_problem *problem);
/* The cost of the direct sum in the same unit, or of the passes of its `count` factors. */
double tess_correlate_direct_cost(const tess_correlate_problem *problem, const tess_correlate_mask *factors, int count);
/* No choice costs less: what costs no more directly need not be looked at. */
double tess_correlate_fft_least_cost(const tess_correlate_problem *problem);

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

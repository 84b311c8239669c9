/* SPDX-License-Identifier: Apache-2.0
 * gpu_pair.h - a list of two masks, one of them along rows, as one pass over both axes, which the rows that make both in one launch share. */
#ifndef TESS_OPS_CORRELATE_GPU_PAIR_H
#define TESS_OPS_CORRELATE_GPU_PAIR_H

#include "ops/correlate/gpu_fast.h"

/* The list as one pass over both axes, in the caller's axes. */
typedef struct tess_correlate_pair {
    tess_correlate_pass pass;
    tess_correlate_frame frame;
    int rows; /* which mask of the list runs along rows: the first or the second */
    bool whole;
} tess_correlate_pair;

/* gpu_separable_rows.c: V, TURN, THREADS, STAGES, BLOCKS, FINISHED, APART of gpu_separable2d.cu; rows of outputs of a block; bytes of shared memory. */
typedef struct separable2d_shape {
    int64_t columns, turn, threads, stages, blocks, finished, height, shared;
    bool apart; /* warps meet their neighbours only */
} separable2d_shape;
separable2d_shape tess_correlate_separable2d_of(const tess_correlate_pair *two, int64_t work, const tess_gpu_device *device);

/* gpu_patch_separable_rows.c: the kernel that takes the list; its V, R, WX, WY; bytes of shared memory; READ (FLAT_LIST, PATCH_LIST_ODD). */
enum {
    FLAT_LIST_OWN = 30, /* lanes of a warp that write, where a row is several */
    PIXELS_REACH = 8    /* over pixels windows that reach further than so many elements come by way of shared memory, others from lane to lane */
};
typedef enum patch_pair_kernel { PATCH_SEPARABLE, PATCH_LIST, PATCH_LIST_ODD, FLAT_LIST } patch_pair_kernel;
typedef struct patch_pair_shape {
    patch_pair_kernel kernel;
    int64_t columns, rows, across, down, room, read;
    bool raised;  /* weights along columns times 2^24 */
    bool alone;   /* rows need no lanes beyond their ends (PATCH_LIST) */
    int64_t laps; /* lanes at either end of a warp whose windows reach beyond (PATCH_LIST, where they write nothing; PATCH_LIST_ODD) */
    int64_t near; /* NEAR (PATCH_LIST_ODD) */
    bool laid;    /* LAID (PATCH_LIST, PATCH_LIST_ODD) */
} patch_pair_shape;
patch_pair_shape tess_correlate_patch_pair_of(const tess_correlate_pair *two, const tess_correlate_problem *p);

/* gpu_flat_list_predict.c, gpu_patch_list_predict.c, gpu_patch_list_odd_predict.c, gpu_patch_predict.c, gpu_separable_predict.c */
void tess_correlate_predict_patch_list(const tess_correlate_pair *two, const patch_pair_shape *s, tess_gpu_prediction *out);
void tess_correlate_predict_laid_rows(tess_gpu_prediction *sum, double times, const tess_correlate_frame *f, const patch_pair_shape *s);
void tess_correlate_predict_patch_list_odd(const tess_correlate_pair *two, const patch_pair_shape *s, tess_gpu_prediction *out);
void tess_correlate_predict_flat_list(const tess_correlate_pair *two, const patch_pair_shape *s, tess_gpu_prediction *out);
void tess_correlate_predict_patch_separable(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_patch_separable_odd(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_separable2d(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_separable2d_odd(const tess_problem *base, tess_gpu_prediction *out);

/* Masks number `first` and the next of a list, from one array to another. */
bool tess_correlate_pair_between(tess_correlate_pair *two, const tess_correlate_problem *p, int first, const tess_array *in, const tess_array *out,
                                 bool whole, const char **why);
bool tess_correlate_pair_of(tess_correlate_pair *two, const tess_problem *base, bool whole, const char **why);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * gpu_boxes.h - a box of transpose/boxes: between gpu_boxes.c, which chooses it, and gpu_boxes_predict.c, which counts what it moves. */
#ifndef TESS_OPS_TRANSPOSE_GPU_BOXES_H
#define TESS_OPS_TRANSPOSE_GPU_BOXES_H

#include "ops/transpose/gpu_predict.h"

enum { TRANSPOSE_GPU_BOXES_THREADS = 256 };

typedef struct transpose_gpu_boxes {
    int ndim;
    int64_t size; /* bytes of what is moved at once: of an element, or of a piece of a last axis that stays */
    int64_t low, high;
    int64_t shape[TESS_MAX_NDIM], stride[2][TESS_MAX_NDIM]; /* in pieces, and bytes */
    int chain[2][TESS_MAX_NDIM], length[2], used[2];        /* axes without gaps, fastest first; how many there are, and are the box's */
    int64_t extent[TESS_MAX_NDIM];                          /* of the box */
    int a, b;                                               /* the last axes of either chain that are the box's */
    bool common, free_a, free_b;                            /* the same one; each only in its own chain */
    int64_t in_run, in_runs, out_run, out_runs, table;      /* gpu_boxes.cu */
    int64_t rows, lines;                                    /* of a whole box: runs of in and of out */
    int64_t in_bytes, out_bytes;                            /* of a run of a whole box */
    int64_t pitch, spread, across, word;
    int axis[TESS_MAX_NDIM], axes; /* that count blocks */
    int64_t blocks;
    double worth;
} transpose_gpu_boxes;

bool tess_transpose_gpu_boxes_of(const tess_problem *base, transpose_gpu_boxes *b, const char **why);
/* How rows lie in shared memory and lanes in runs of out; the layout and the counts want it. */
void tess_transpose_gpu_boxes_arrange(transpose_gpu_boxes *b);
/* Where a row is in shared memory; where the element of a line of out is, rows beginning `skip` bytes further on each (NULL: 0); where rows and lines begin, from
 * the box's first element on. */
int64_t tess_transpose_gpu_boxes_line(const transpose_gpu_boxes *b, int64_t row);
int64_t tess_transpose_gpu_boxes_spot(const transpose_gpu_boxes *b, int64_t line, int64_t element, const int64_t *skip);
int64_t tess_transpose_gpu_boxes_from(const transpose_gpu_boxes *b, int64_t row);
int64_t tess_transpose_gpu_boxes_to(const transpose_gpu_boxes *b, int64_t line);

#endif

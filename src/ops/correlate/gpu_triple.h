/* SPDX-License-Identifier: Apache-2.0
 * gpu_triple.h - a list of three masks over a volume, or of two beside its rows, as one pass over its axes, which the rows that make all of them in one launch share. */
#ifndef TESS_OPS_CORRELATE_GPU_TRIPLE_H
#define TESS_OPS_CORRELATE_GPU_TRIPLE_H

#include "ops/correlate/gpu_fast.h"

enum { TESS_CORRELATE_TRIPLE_PAIR = 3 };

/* The frame's y is the axis that comes first of the two that are not x, its z the other. */
typedef struct tess_correlate_triple {
    tess_correlate_pass pass;
    tess_correlate_frame frame;
    int place; /* of the mask along rows in the list; PAIR: there is none */
    int y, z;  /* of the others */
    bool whole;
} tess_correlate_triple;

/* gpu_separable3d_rows.c: V, R, ALONG, DOWN, THREADS, STAGES, BLOCKS, FINISHED of gpu_separable3d.cu; columns beside those that are computed at once; planes of outputs of a block; bytes
 * of shared memory. */
typedef struct separable3d_shape {
    int64_t columns, rows, along, down, threads, stages, blocks, finished, beside, depth, shared;
} separable3d_shape;
separable3d_shape tess_correlate_separable3d_of(const tess_correlate_triple *three, int64_t work, const tess_gpu_device *device);

/* gpu_shifted3d_rows.c: FINISHED, ALONG, LANES, DOWN, THREADS, STAGES, BLOCKS of gpu_shifted3d.cu; planes of outputs of a block; bytes of shared memory. */
enum { SHIFTED3D_ROWS = 4 /* a thread */ };
typedef struct shifted3d_shape {
    int64_t finished, along, lanes, down, threads, stages, blocks, depth, shared;
} shifted3d_shape;
shifted3d_shape tess_correlate_shifted3d_of(const tess_correlate_triple *three, int64_t work, bool constant, const tess_gpu_device *device);

/* gpu_lanes3d_rows.c: R, WARPS, BLOCKS of gpu_lanes3d.cu; pieces of LANES3D_COLUMNS columns of a row of the array, and of R rows each of a plane; blocks that a plane takes; planes of outputs of
 * a block. */
enum { LANES3D_COLUMNS = 4, LANES3D_OWN = 30 /* lanes of a warp that write */, LANES3D_LONGEST = 9 /* taps */ };
typedef struct lanes3d_shape {
    int64_t rows, warps, blocks, along, pieces, tiles, depth;
} lanes3d_shape;
lanes3d_shape tess_correlate_lanes3d_of(const tess_correlate_triple *three, const tess_gpu_device *device);

/* gpu_shifted3d_predict.c, gpu_separable3d_predict.c, gpu_lanes3d_predict.c */
void tess_correlate_predict_lanes3d(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_shifted3d(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_separable3d(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_separable3d_odd(const tess_problem *base, tess_gpu_prediction *out);

bool tess_correlate_triple_of(tess_correlate_triple *three, const tess_problem *base, bool whole, const char **why);
/* Planes of outputs a block, so that its chunks take the fewest turns: of tiles of which so many run at once, `beside` turns before a chunk's first output. */
int64_t tess_correlate_triple_depth(const tess_correlate_frame *frame, int64_t tiles, int64_t at_once, int64_t beside);
/* What both kernels take, last the grid's numbers and the weights along x, y (NULL: the list's) and z. */
void tess_correlate_triple_pass(tess_gpu_layout *layout, tess_gpu_step *step, const tess_correlate_problem *problem,
                                const tess_correlate_triple *three, int64_t across, int64_t depth, const void *along_y);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * gpu_planes_predict.h - what predictions of volumes share: the planes of gpu_planes.cuh on their way to shared memory. */
#ifndef TESS_OPS_CORRELATE_GPU_PLANES_PREDICT_H
#define TESS_OPS_CORRELATE_GPU_PLANES_PREDICT_H

#include "ops/correlate/gpu_ring_predict.h"

/* A tile of gpu_planes.cuh: rows in shared memory; the first column and row of outputs, in the ring's sense. */
typedef struct planes_walk {
    ring_walk ring;
    int64_t threads, along, stages, rows, x, y;
} planes_walk;

/* Planes that chunks bring, by where they begin, and that they make. */
typedef struct planes_of_chunks {
    double in[FRAME_LINE], constant, out[FRAME_LINE], turns, chunks;
} planes_of_chunks;
void tess_correlate_planes_of(planes_of_chunks *all, const tess_correlate_frame *f, int64_t depth, bool whole);

/* gpu_march_predict.c: results of a plane at byte `plane`, of the tile whose first output stands at x, y. */
void tess_correlate_march_write(const march3d_shape *s, const tess_correlate_frame *f, int64_t x, int64_t y, int64_t plane, tess_gpu_prediction *sum,
                                double times);

/* All planes of a tile, of which there are so many: copies, constants, what is laid down before the first one. */
void tess_correlate_planes_bring(planes_walk *w, const planes_of_chunks *all, double tiles);

#endif

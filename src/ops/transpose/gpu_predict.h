/* SPDX-License-Identifier: Apache-2.0
 * gpu_predict.h - the predictions of the rows: gpu_predict.c those of rectangular tiles, gpu_shifted_predict.c of rows that begin anywhere, gpu_inplace_predict.c in place. */
#ifndef TESS_OPS_TRANSPOSE_GPU_PREDICT_H
#define TESS_OPS_TRANSPOSE_GPU_PREDICT_H

#include "gpu/row.h"
#include "ops/transpose/gpu_transpose.h"

#define TESS_TRANSPOSE_PREDICTED(X) \
    X(copy)                         \
    X(naive_read)                   \
    X(naive_write)                  \
    X(tile16)                       \
    X(tile32)                       \
    X(tile_pad16)                   \
    X(tile_pad32)                   \
    X(tile_swizzle)                 \
    X(tile_unroll)                  \
    X(tile_vector2)                 \
    X(tile_vector4)                 \
    X(micro)                        \
    X(elements)                     \
    X(pieces)                       \
    X(records)                      \
    X(short_runs)                   \
    X(long_runs)                    \
    X(run_pieces)                   \
    X(small_matrices)               \
    X(picked_words)                 \
    X(spaced)                       \
    X(boxes)                        \
    X(shifted)                      \
    X(joined)                       \
    X(exchange_vectors)             \
    X(exchange)                     \
    X(exchange_runs)                \
    X(exchange_bands)
#define X(name) void tess_transpose_predict_##name(const tess_problem *base, tess_gpu_prediction *out);
TESS_TRANSPOSE_PREDICTED(X)
#undef X

/* The launch that tess_transpose_gpu_launch lays out. */
void tess_transpose_predict_launch(const transpose_gpu_matrices *m, tess_gpu_prediction *out);
void tess_transpose_predict_launch_copy(int64_t bytes, tess_gpu_prediction *out);
void tess_transpose_predict_records_matrices(const transpose_gpu_matrices *m, const transpose_gpu_records *r, tess_gpu_prediction *out);
/* gpu_shifted.cu and gpu_shifted_vectors.cu. */
void tess_transpose_predict_shifted_matrices(const transpose_gpu_matrices *m, tess_gpu_prediction *out);

/* How many matrices begin at byte i of a sector of in and j of out. */
typedef struct transpose_gpu_places {
    double times[32][32];
} transpose_gpu_places;
transpose_gpu_places tess_transpose_gpu_places_of(const transpose_gpu_matrices *m);

/* Shared memory of a tile of which np x nq elements exist. */
typedef struct transpose_gpu_cost {
    tess_gpu_shared_cost store, load;
} transpose_gpu_cost;
typedef struct transpose_gpu_squares {
    int64_t along_p, along_q;
} transpose_gpu_squares;
void tess_transpose_walk_squares(transpose_gpu_cost *cost, const transpose_gpu_squares *tile, int64_t size, int64_t np, int64_t nq);

#endif

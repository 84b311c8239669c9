/* SPDX-License-Identifier: Apache-2.0
 * gpu_rungs.h - between gpu_rungs.c, which lays the ladder's launches out, gpu_predict.c, which predicts their counts, and the table. */
#ifndef TESS_OPS_CORRELATE_GPU_RUNGS_H
#define TESS_OPS_CORRELATE_GPU_RUNGS_H

#include "ops/correlate/gpu_correlate.h"

/* The ladder: number, name, what it takes. `separable_passes` is LADDER's `separable`: the CPU has a row of that name. */
#define TESS_CORRELATE_RUNGS(X)     \
    X(1, global, line_fits)         \
    X(2, constant, line_fits)       \
    X(3, constant_param, line_fits) \
    X(4, tile_halo, line_fits)      \
    X(5, tile_shift, line_fits)     \
    X(6, tile_input, line_fits)     \
    X(7, tile_core, line_fits)      \
    X(8, global2d, image_fits)      \
    X(9, constant2d, image_fits)    \
    X(10, tile_input2d, image_fits) \
    X(11, tile_core2d, image_fits)  \
    X(12, separable_passes, list_fits)
#define RUNG(number, name, fits)                         \
    extern const tess_gpu_row tess_correlate_gpu_##name; \
    void tess_correlate_predict_##name(const tess_problem *problem, tess_gpu_prediction *out);
TESS_CORRELATE_RUNGS(RUNG)
#undef RUNG

bool tess_correlate_gpu_line_fits(const tess_problem *problem, const char **why);
bool tess_correlate_gpu_image_fits(const tess_problem *problem, const char **why);
bool tess_correlate_gpu_list_fits(const tess_problem *problem, const char **why);

/* Outputs of a block along a line; side of tile_input2d's squares; the MOST of gpu_ladder.cuh. */
enum { CORRELATE_GPU_LINE = 256, CORRELATE_GPU_SQUARE = 16, CORRELATE_GPU_MOST = 320 };

/* struct line and struct image of gpu_ladder.cuh. */
typedef struct correlate_gpu_line {
    int64_t n, m;
    int32_t before, width;
    float ghost;
} correlate_gpu_line;
typedef struct correlate_gpu_image {
    int64_t n_y, n_x, m_y, m_x, pitch_n, pitch_p;
    int32_t before_y, before_x, width_y, width_x;
    float ghost;
} correlate_gpu_image;
correlate_gpu_line tess_correlate_gpu_line_of(const tess_correlate_problem *problem);
correlate_gpu_image tess_correlate_gpu_image_of(const tess_correlate_problem *problem, const tess_correlate_pass *pass);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * gpu_inplace.c - lays out the GPU's transposes in place: square matrices by pairs of tiles, others through a workspace as large as the array. */
#include "gpu/row.h"
#include "ops/transpose/gpu_transpose.h"

extern const char tess_kernel_transpose_gpu_inplace_cu[], tess_kernel_transpose_gpu_inplace_runs_cu[];
static const tess_gpu_text gpu_inplace = {"transpose/gpu_inplace.cu", tess_kernel_transpose_gpu_inplace_cu},
                           gpu_inplace_runs = {"transpose/gpu_inplace_runs.cu", tess_kernel_transpose_gpu_inplace_runs_cu};
static const tess_gpu_text *const headers[] = {&tess_transpose_gpu_piece_header, NULL};

enum { THREADS = 256 };

static const transpose_problem *of(const tess_problem *problem) { return (const transpose_problem *)problem; }

/* struct matrices of gpu_inplace.cu, struct runs of gpu_inplace_runs.cu. */
typedef struct matrices {
    int64_t rows, columns, count;
    int32_t down, across;
} matrices;
typedef struct runs {
    int64_t rows, columns, pieces, count;
} runs;

bool tess_transpose_gpu_inplace_fits(const tess_problem *base, const char **why) {
    const transpose_problem *p = of(base);
    *why = "works in place";
    if (p->place != TRANSPOSE_SQUARE && p->place != TRANSPOSE_RECTANGULAR)
        return false;
    *why = "needs fewer than 2^39 elements";
    return p->in.count < (int64_t)1 << 39;
}

bool tess_transpose_gpu_inplace_tiles_fit(const tess_problem *base, const char **why) {
    int64_t size = of(base)->size;
    if (!tess_transpose_gpu_inplace_fits(base, why))
        return false;
    *why = "needs elements of 1, 2, 4, 8 or 16 bytes";
    return size <= 16 && (size & (size - 1)) == 0;
}

static int64_t bytes_of(const transpose_problem *p) { return p->in.count * p->in.itemsize; }

static void lay_inplace(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_problem *p = of(base);
    const bool words = p->size < 4 && p->rows * p->size % 4 == 0 && p->columns * p->size % 4 == 0;
    const int64_t unit = words ? 4 : p->size, tile = words && p->size == 1 ? 128 : p->size <= 4 ? 64 : 32;
    matrices m = {p->rows, p->columns, bytes_of(p) / unit, (int32_t)tess_ceil_div(p->rows, tile), (int32_t)tess_ceil_div(p->columns, tile)};
    (void)device;
    tess_gpu_unit(layout, &gpu_inplace);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DUNIT=%d", (int)unit);
    tess_gpu_option(layout, "-DTILE=%d", (int)tile);
    layout->alignment = unit;
    if (p->place == TRANSPOSE_SQUARE) {
        const int64_t wide = m.down % 2 ? m.down : m.down + 1, high = (m.down + 1) / 2;
        tess_gpu_step *step = tess_gpu_launch_of(layout, "exchange", wide * high * p->batch, 1, 1, THREADS, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass(layout, step, &m, sizeof m);
        return;
    }
    const int64_t room = tess_gpu_reserve(layout, bytes_of(p));
    tess_gpu_step *step = tess_gpu_launch_of(layout, "turn", (int64_t)m.down * m.across * p->batch, 1, 1, THREADS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, room);
    tess_gpu_pass(layout, step, &m, sizeof m);
    step = tess_gpu_launch_of(layout, "back", tess_ceil_div(m.count, 4 * THREADS), 1, 1, THREADS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, room);
    tess_gpu_pass(layout, step, &m, sizeof m);
}

static void lay_inplace_runs(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_problem *p = of(base);
    const int64_t unit = p->in.itemsize;
    const runs r = {p->rows, p->columns, p->size / unit, bytes_of(p) / unit};
    (void)device;
    tess_gpu_unit(layout, &gpu_inplace_runs);
    tess_gpu_option(layout, "-DUNIT=%d", (int)unit);
    const bool square = p->place == TRANSPOSE_SQUARE;
    const int64_t room = square ? 0 : tess_gpu_reserve(layout, bytes_of(p)), blocks = tess_ceil_div(r.count, THREADS);
    tess_gpu_step *step = tess_gpu_launch_of(layout, square ? "exchange_runs" : "turn_runs", blocks, 1, 1, THREADS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    if (!square) {
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, room);
        tess_gpu_pass(layout, step, &r, sizeof r);
        step = tess_gpu_launch_of(layout, "back_runs", blocks, 1, 1, THREADS, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, room);
    }
    tess_gpu_pass(layout, step, &r, sizeof r);
}

const tess_gpu_row tess_transpose_gpu_inplace = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_inplace},
                   tess_transpose_gpu_inplace_runs = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_inplace_runs};

/* SPDX-License-Identifier: Apache-2.0
 * gpu_inplace_bands.c - lays out the GPU's transposes in place of matrices that are not square: band by band, half of the tiles by way of the workspace. */
#include "ops/transpose/gpu_predict.h"

extern const char tess_kernel_transpose_gpu_inplace_bands_cu[];
static const tess_gpu_text gpu_inplace_bands = {"transpose/gpu_inplace_bands.cu", tess_kernel_transpose_gpu_inplace_bands_cu};

static const transpose_problem *of(const tess_problem *problem) { return (const transpose_problem *)problem; }

/* struct bands of gpu_inplace_bands.cu; bytes that a block of back_bands has. */
typedef struct bands {
    int64_t rows, columns;
    int32_t down, across, high, count, pieces, batch;
} bands;
enum { PIECE = 16384 };

typedef struct shape {
    int64_t tile;
    int threads, blocks, align;
} shape;

/* The fastest that were tried on an H200 (notes-gpu.md), for elements of 1, 2, 4, 8 and 16 bytes; bands of one tile. */
static const shape by_squares[] = {{256, 256, 3, 0}, {128, 256, 5, 0}, {64, 256, 5, 0}, {64, 256, 5, 0}, {64, 512, 2, 0}},
                   by_columns[] = {{224, 512, 3, 16}, {176, 512, 3, 32}, {124, 512, 3, 16}, {94, 512, 3, 16}, {32, 256, 4, 16}};

static bool vectors(const transpose_problem *p) { return p->rows * p->size % 16 == 0 && p->columns * p->size % 16 == 0; }

static const shape *shape_of(const transpose_problem *p) {
    int power = 0;
    while (p->size >> power > 1)
        power++;
    return vectors(p) ? &by_squares[power] : &by_columns[power];
}

bool tess_transpose_gpu_inplace_bands_fit(const tess_problem *base, const char **why) {
    if (!tess_transpose_gpu_inplace_tiles_fit(base, why))
        return false;
    *why = "is for matrices that are not square";
    return of(base)->place == TRANSPOSE_RECTANGULAR;
}

bool tess_transpose_gpu_inplace_bands_pay(const tess_problem *base, const char **why) {
    const transpose_problem *p = of(base);
    const int64_t least = 16 * shape_of(p)->tile;
    *why = "an array that fits a cache of 48 MiB goes through the workspace as fast";
    if (p->in.count * p->in.itemsize < (int64_t)48 << 20)
        return false;
    *why = "with fewer than 16 tiles along an axis most of them have to be kept";
    if (p->rows < least || p->columns < least)
        return false;
    *why = "elements of 1 and 2 bytes in rows that begin anywhere go as fast through the workspace";
    return p->size >= 4 || vectors(p);
}

transpose_gpu_bands tess_transpose_gpu_bands_of(const transpose_problem *p) {
    const shape *use = shape_of(p);
    return (transpose_gpu_bands){.tile = use->tile,
                                 .down = tess_ceil_div(p->rows, use->tile),
                                 .across = tess_ceil_div(p->columns, use->tile),
                                 .threads = use->threads,
                                 .align = use->align,
                                 .vectors = vectors(p)};
}

static void lay_bands(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_problem *p = of(base);
    const shape *use = shape_of(p);
    const transpose_gpu_bands of_p = tess_transpose_gpu_bands_of(p);
    const int64_t tile = of_p.tile, high = 1, down = of_p.down, across = of_p.across, count = tess_ceil_div(down, high);
    const int64_t shared = vectors(p) ? tile * tile * p->size : tess_transpose_gpu_columns_room(tile, p->size);
    /* what a row of the result and its fellow keep: the length of a row, and more where a tile or a band is cut */
    const int64_t kept = tess_min64(2 * p->rows, p->rows + (2 * tile + 2) * (p->rows / p->columns + 1) + 4 * tile * high);
    const bands m = {.rows = p->rows,
                     .columns = p->columns,
                     .down = (int32_t)down,
                     .across = (int32_t)across,
                     .high = (int32_t)high,
                     .count = (int32_t)count,
                     .pieces = (int32_t)(tess_ceil_div(kept * p->size, PIECE) + 2),
                     .batch = (int32_t)p->batch};
    const int64_t begun = tess_gpu_reserve(layout, layout->zeroed = (1 + count * p->batch) * 4), lengths = tess_gpu_reserve(layout, across * 8),
                  room = tess_gpu_reserve(layout, p->in.count * p->in.itemsize);
    (void)device;
    tess_gpu_unit(layout, &gpu_inplace_bands);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DTILE=%d", (int)tile);
    tess_gpu_option(layout, "-DTHREADS=%d", use->threads);
    tess_gpu_option(layout, "-DBLOCKS=%d", use->blocks);
    tess_gpu_option(layout, "-DVECTORS=%d", vectors(p));
    if (!vectors(p))
        tess_gpu_option(layout, "-DALIGN=%d", use->align);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "turn_bands", down * across * p->batch, 1, 1, use->threads, shared);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, room);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, begun);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, lengths);
    tess_gpu_pass(layout, step, &m, sizeof m);
    step = tess_gpu_launch_of(layout, "back_bands", tess_ceil_div(p->columns, 2) * m.pieces * p->batch, 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, room);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, lengths);
    tess_gpu_pass(layout, step, &m, sizeof m);
    layout->alignment = 16;
}

const tess_gpu_row tess_transpose_gpu_inplace_bands = {.headers = tess_transpose_gpu_odd_headers,
                                                       .production = true,
                                                       .least_arch = 80,
                                                       .lay_out = lay_bands,
                                                       .predict = tess_transpose_predict_exchange_bands};

/* SPDX-License-Identifier: Apache-2.0
 * gpu_inplace.c - lays out the GPU's transposes in place: square matrices by pairs of tiles, small others through a workspace (gpu_inplace_bands.c: large ones). */
#include "ops/transpose/gpu_predict.h"

#define KERNEL_TEXT(file)                                  \
    extern const char tess_kernel_transpose_##file##_cu[]; \
    static const tess_gpu_text file = {"transpose/" #file ".cu", tess_kernel_transpose_##file##_cu}
KERNEL_TEXT(gpu_inplace);
KERNEL_TEXT(gpu_inplace_vectors);
KERNEL_TEXT(gpu_inplace_runs);

enum { THREADS = 256 };

static const transpose_problem *of(const tess_problem *problem) { return (const transpose_problem *)problem; }

/* struct squares of gpu_pairs.cuh, struct runs of gpu_inplace_runs.cu. */
typedef struct squares {
    int64_t size;
    int32_t tiles, shift;
} squares;
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

bool tess_transpose_gpu_inplace_vectors_fit(const tess_problem *base, const char **why) {
    const transpose_problem *p = of(base);
    if (!tess_transpose_gpu_inplace_tiles_fit(base, why))
        return false;
    *why = "needs square matrices with rows of whole vectors of 16 bytes";
    return p->place == TRANSPOSE_SQUARE && p->rows * p->size % 16 == 0;
}

static int64_t bytes_of(const transpose_problem *p) { return p->in.count * p->in.itemsize; }

static void launch_pairs(const transpose_problem *p, tess_gpu_layout *layout, const char *entry, const transpose_gpu_pairs *use, int64_t shared) {
    squares s = {p->rows, (int32_t)tess_ceil_div(p->rows, use->tile), 0};
    if (p->rows * p->size % 128 != 0 && s.tiles >= 2 << use->shift)
        s.shift = use->shift;
    const int64_t groups = tess_ceil_div(s.tiles, 1 << s.shift), wide = groups % 2 ? groups : groups + 1; /* gpu_pairs.cuh folds the triangle */
    const int64_t blocks = (wide * ((groups + 1) / 2) << 2 * s.shift) * p->batch;
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DTILE=%d", (int)use->tile);
    tess_gpu_option(layout, "-DTHREADS=%d", use->threads);
    tess_gpu_option(layout, "-DBLOCKS=%d", use->blocks);
    tess_gpu_step *step = tess_gpu_launch_of(layout, entry, blocks, 1, 1, use->threads, shared);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass(layout, step, &s, sizeof s);
    layout->alignment = p->size;
}

/* The fastest that were tried on an H200 (notes-gpu.md), for elements of 1, 2, 4, 8 and 16 bytes. By vectors: rows of 256 bytes and more; where rows are not whole
 * lines longer ones, so that fewer lines are cut, if there are many pairs; less for small matrices, which would leave most of a tile empty. By columns: longer
 * rows if there are many pairs. */
static const transpose_gpu_pairs
    by_vectors[] = {{256, 512, 1, 2, 0}, {128, 256, 3, 3, 0}, {64, 256, 4, 3, 0}, {32, 256, 5, 2, 0}, {32, 512, 3, 3, 0}},
    long_by_vectors[] = {{256, 512, 1, 2, 0}, {192, 384, 1, 2, 0}, {128, 512, 1, 2, 0}, {32, 256, 5, 2, 0}, {64, 1024, 1, 2, 0}},
    small_by_vectors[] = {{128, 128, 4, 0, 0}, {64, 128, 6, 0, 0}, {32, 128, 6, 0, 0}, {16, 128, 8, 0, 0}, {16, 256, 6, 0, 0}},
    by_columns[] = {{208, 512, 2, 3, 16}, {120, 256, 3, 3, 16}, {88, 256, 3, 3, 32}, {64, 256, 3, 3, 128}, {32, 256, 4, 3, 16}},
    long_by_columns[] = {{320, 1024, 1, 3, 16}, {232, 512, 1, 3, 16}, {152, 1024, 1, 3, 32}, {112, 512, 1, 3, 128}, {32, 256, 4, 3, 16}};

static int power_of(int64_t size) { return size == 1 ? 0 : 1 + power_of(size / 2); }

/* Some blocks of one pair for each multiprocessor. */
static bool many_pairs(const transpose_problem *p, int64_t tile) {
    const int64_t tiles = tess_ceil_div(p->rows, tile);
    return tiles * (tiles + 1) / 2 * p->batch >= 1024;
}

static bool has_room(const tess_gpu_device *device, int64_t shared) { return !device || shared <= device->shared_block_optin; }

const transpose_gpu_pairs *tess_transpose_gpu_pairs_by_vectors(const transpose_problem *p, const tess_gpu_device *device) {
    const transpose_gpu_pairs *use = &by_vectors[power_of(p->size)], *longer = &long_by_vectors[power_of(p->size)];
    if (p->rows * p->size % 128 != 0 && many_pairs(p, longer->tile) && has_room(device, 2 * longer->tile * longer->tile * p->size))
        return longer;
    if (p->rows * p->size < 2048 || !has_room(device, 2 * use->tile * use->tile * p->size))
        return &small_by_vectors[power_of(p->size)];
    return use;
}

static void lay_inplace_vectors(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_problem *p = of(base);
    const transpose_gpu_pairs *use = tess_transpose_gpu_pairs_by_vectors(p, device);
    tess_gpu_unit(layout, &gpu_inplace_vectors);
    launch_pairs(p, layout, "exchange_vectors", use, 2 * use->tile * use->tile * p->size);
    layout->alignment = 16;
}

int64_t tess_transpose_gpu_columns_room(int64_t tile, int64_t size) {
    const int64_t v = 16 / size, vectors = tess_ceil_div(tile * size + 16 - size, 16);
    return tess_ceil_div(tile, v) * (v * vectors + 1) * 16;
}

const transpose_gpu_pairs *tess_transpose_gpu_pairs_by_columns(const transpose_problem *p, const tess_gpu_device *device) {
    const transpose_gpu_pairs *longer = &long_by_columns[power_of(p->size)];
    const bool fits = many_pairs(p, longer->tile) && has_room(device, 2 * tess_transpose_gpu_columns_room(longer->tile, p->size));
    return fits ? longer : &by_columns[power_of(p->size)];
}

static void lay_squares(const transpose_problem *p, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_gpu_pairs *use = tess_transpose_gpu_pairs_by_columns(p, device);
    tess_gpu_unit(layout, &gpu_inplace);
    tess_gpu_option(layout, "-DALIGN=%d", use->align);
    launch_pairs(p, layout, "exchange", use, 2 * tess_transpose_gpu_columns_room(use->tile, p->size));
}

transpose_gpu_matrices tess_transpose_gpu_rectangles_of(const transpose_problem *p, int64_t room) {
    const int64_t size = p->size, all = p->rows * p->columns * size;
    transpose_gpu_matrices m = {.size = size, .place = {TESS_GPU_IN, TESS_GPU_WORKSPACE}, .first = {0, room}};
    m.plane = (transpose_plane){.p_size = p->columns,
                                .p_in = size,
                                .p_out = p->rows * size,
                                .q_size = p->rows,
                                .q_in = p->columns * size,
                                .q_out = size,
                                .ndim = p->batch > 1,
                                .count = p->batch,
                                .shape = {p->batch},
                                .stride = {{all}, {all}}};
    return m;
}

/* Turned into the workspace, and copied back. */
static void lay_rectangles(const transpose_problem *p, tess_gpu_layout *layout) {
    const int64_t room = tess_gpu_reserve(layout, bytes_of(p));
    const transpose_gpu_matrices m = tess_transpose_gpu_rectangles_of(p, room);
    transpose_gpu_records r;
    if (tess_transpose_gpu_records_for(&m, &r))
        tess_transpose_gpu_records_launch(&m, layout);
    else
        tess_transpose_gpu_launch(&m, layout);
    tess_transpose_gpu_launch_copy(layout, TESS_GPU_WORKSPACE, room, TESS_GPU_OUT, 0, bytes_of(p));
}

static void lay_inplace(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_problem *p = of(base);
    if (p->place == TRANSPOSE_SQUARE)
        lay_squares(p, device, layout);
    else
        lay_rectangles(p, layout);
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

const tess_gpu_row tess_transpose_gpu_inplace_vectors = {.headers = tess_transpose_gpu_odd_headers,
                                                         .production = true,
                                                         .least_arch = 80,
                                                         .lay_out = lay_inplace_vectors,
                                                         .predict = tess_transpose_predict_exchange_vectors},
                   tess_transpose_gpu_inplace = {.headers = tess_transpose_gpu_rectangle_headers,
                                                 .production = true,
                                                 .least_arch = 80,
                                                 .lay_out = lay_inplace,
                                                 .predict = tess_transpose_predict_exchange},
                   tess_transpose_gpu_inplace_runs = {.headers = tess_transpose_gpu_odd_headers,
                                                      .production = true,
                                                      .least_arch = 80,
                                                      .lay_out = lay_inplace_runs,
                                                      .predict = tess_transpose_predict_exchange_runs};

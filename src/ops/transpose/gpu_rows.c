/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.c - the GPU's part of the table: which kernel, which -D, which grid for a problem; counts are predicted in gpu_predict.c. */
#include <stdlib.h>
#include <string.h>

#include "gpu/row.h"
#include "ops/transpose/gpu_predict.h"

#define KERNEL_TEXT(file)                                  \
    extern const char tess_kernel_transpose_##file##_cu[]; \
    static const tess_gpu_text file = {"transpose/" #file ".cu", tess_kernel_transpose_##file##_cu}
KERNEL_TEXT(gpu_naive_read);
KERNEL_TEXT(gpu_naive_write);
KERNEL_TEXT(gpu_tile);
KERNEL_TEXT(gpu_tile_unroll);
KERNEL_TEXT(gpu_tile_vector);
KERNEL_TEXT(gpu_micro);
KERNEL_TEXT(gpu_shifted);
KERNEL_TEXT(gpu_shifted_vectors);
KERNEL_TEXT(gpu_elements);
KERNEL_TEXT(gpu_copy);
extern const char tess_kernel_transpose_gpu_plane_cuh[], tess_kernel_transpose_gpu_piece_cuh[], tess_kernel_transpose_gpu_pairs_cuh[],
    tess_kernel_transpose_gpu_turn_cuh[], tess_kernel_transpose_gpu_columns_cuh[], tess_kernel_transpose_gpu_squares_cuh[],
    tess_kernel_transpose_gpu_load_cuh[], tess_kernel_transpose_gpu_records_cuh[];
static const tess_gpu_text plane_header = {"ops/transpose/gpu_plane.cuh", tess_kernel_transpose_gpu_plane_cuh},
                           piece_header = {"ops/transpose/gpu_piece.cuh", tess_kernel_transpose_gpu_piece_cuh},
                           pairs_header = {"ops/transpose/gpu_pairs.cuh", tess_kernel_transpose_gpu_pairs_cuh},
                           turn_header = {"ops/transpose/gpu_turn.cuh", tess_kernel_transpose_gpu_turn_cuh},
                           columns_header = {"ops/transpose/gpu_columns.cuh", tess_kernel_transpose_gpu_columns_cuh},
                           squares_header = {"ops/transpose/gpu_squares.cuh", tess_kernel_transpose_gpu_squares_cuh},
                           load_header = {"ops/transpose/gpu_load.cuh", tess_kernel_transpose_gpu_load_cuh},
                           records_header = {"ops/transpose/gpu_records.cuh", tess_kernel_transpose_gpu_records_cuh};
const tess_gpu_text *const tess_transpose_gpu_headers[] = {&plane_header,   &piece_header,   &pairs_header, &turn_header,
                                                           &columns_header, &squares_header, NULL};
const tess_gpu_text *const tess_transpose_gpu_odd_headers[] = {&plane_header,   &piece_header,   &pairs_header, &turn_header,
                                                               &columns_header, &squares_header, &load_header,  NULL},
                           *const tess_transpose_gpu_rectangle_headers[] = {&plane_header, &piece_header,   &pairs_header,
                                                                            &turn_header,  &columns_header, &squares_header,
                                                                            &load_header,  &records_header, NULL};

static const transpose_problem *of(const tess_problem *problem) { return (const transpose_problem *)problem; }

/* ---- the problem as a batch of matrices: struct plane of gpu_plane.cuh ---- */

bool tess_transpose_gpu_whole_steps(const transpose_problem *p, const transpose_plane *plane, int64_t bytes) {
    int64_t rest = plane->p_in | plane->p_out | plane->q_in | plane->q_out | p->first[TRANSPOSE_IN] | p->first[TRANSPOSE_OUT];
    for (int d = 0; d < plane->ndim; d++)
        rest |= plane->stride[TRANSPOSE_IN][d] | plane->stride[TRANSPOSE_OUT][d];
    return rest % bytes == 0;
}

bool tess_transpose_gpu_plane_of(const tess_problem *base, transpose_plane *plane, const char **why) {
    const transpose_problem *p = of(base);
    *why = "works between two arrays, not in place";
    if (p->place != TRANSPOSE_ELSEWHERE)
        return false;
    tess_transpose_plane_of(plane, p, false);
    *why = "needs one axis without gaps in in and another one without gaps in out";
    if (plane->p_size < 2 || plane->p_in != p->size || plane->q_out != p->size)
        return false;
    *why = "needs steps that are whole elements";
    return tess_transpose_gpu_whole_steps(p, plane, p->size);
}

static bool matrices(const tess_problem *base, const char **why) {
    transpose_plane plane;
    return tess_transpose_gpu_plane_of(base, &plane, why);
}

/* Everything that a vector of `bytes` bytes needs but the pointers' own alignment, which the plan states. */
static bool in_vectors(const tess_problem *base, int64_t bytes, const char **why) {
    const transpose_problem *p = of(base);
    transpose_plane plane;
    if (!tess_transpose_gpu_plane_of(base, &plane, why))
        return false;
    *why = "needs sizes and steps that are whole vectors";
    int64_t rest = plane.q_in | plane.p_out | plane.p_size * p->size | plane.q_size * p->size | p->first[TRANSPOSE_IN] | p->first[TRANSPOSE_OUT];
    for (int d = 0; d < plane.ndim; d++)
        rest |= plane.stride[TRANSPOSE_IN][d] | plane.stride[TRANSPOSE_OUT][d];
    return rest % bytes == 0;
}

void tess_transpose_gpu_pass(tess_gpu_layout *layout, tess_gpu_step *step, const transpose_gpu_matrices *m, const int64_t *more, int count) {
    const transpose_plane *plane = &m->plane;
    int64_t block[4 + 3 * (TESS_MAX_NDIM + 1) + TRANSPOSE_GPU_MORE], *at = block;
    *at++ = plane->p_size;
    *at++ = plane->q_size;
    *at++ = plane->q_in / m->size;
    *at++ = plane->p_out / m->size;
    for (int d = 0; d <= plane->ndim; d++)
        *at++ = d < plane->ndim ? plane->shape[d] : 0;
    for (int side = TRANSPOSE_IN; side <= TRANSPOSE_OUT; side++)
        for (int d = 0; d <= plane->ndim; d++)
            *at++ = d < plane->ndim ? plane->stride[side][d] / m->size : 0;
    for (int i = 0; i < count; i++)
        *at++ = more[i];
    tess_gpu_pass_pointer(layout, step, m->place[TRANSPOSE_IN], m->first[TRANSPOSE_IN]);
    tess_gpu_pass_pointer(layout, step, m->place[TRANSPOSE_OUT], m->first[TRANSPOSE_OUT]);
    tess_gpu_pass(layout, step, block, (size_t)(at - block) * sizeof *block);
}

transpose_gpu_matrices tess_transpose_gpu_matrices_of(const tess_problem *base) {
    const transpose_problem *p = of(base);
    transpose_gpu_matrices m = {.size = p->size, .place = {TESS_GPU_IN, TESS_GPU_OUT}, .first = {p->first[TRANSPOSE_IN], p->first[TRANSPOSE_OUT]}};
    tess_transpose_plane_of(&m.plane, p, false);
    return m;
}

/* A launch of one block a tile of along_p x along_q elements; `more` elements beyond q's end have tiles too. */
static void launch_tiles_of(const transpose_gpu_matrices *m, tess_gpu_layout *layout, const char *entry, int64_t along_p, int64_t along_q,
                            int64_t more, int threads, int64_t shared) {
    tess_gpu_option(layout, "-DSIZE=%d", (int)m->size);
    tess_gpu_option(layout, "-DBATCH=%d", m->plane.ndim);
    int64_t blocks = tess_ceil_div(m->plane.p_size, along_p) * tess_ceil_div(m->plane.q_size + more, along_q) * m->plane.count;
    tess_transpose_gpu_pass(layout, tess_gpu_launch_of(layout, entry, blocks, 1, 1, threads, shared), m, NULL, 0);
    layout->alignment = m->size;
}

static void launch_tiles(const tess_problem *base, tess_gpu_layout *layout, const tess_gpu_text *text, const char *entry, int64_t along_p,
                         int64_t along_q, int threads, int64_t shared) {
    const transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    if (text)
        tess_gpu_unit(layout, text);
    launch_tiles_of(&m, layout, entry, along_p, along_q, 0, threads, shared);
}

static void lay_naive_read(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    launch_tiles(base, layout, &gpu_naive_read, "naive_read", 32, 8, 256, 0);
}

static void lay_naive_write(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    launch_tiles(base, layout, &gpu_naive_write, "naive_write", 8, 32, 256, 0);
}

static void lay_tile(const tess_problem *base, tess_gpu_layout *layout, int tile, int kind) {
    tess_gpu_unit(layout, &gpu_tile);
    tess_gpu_option(layout, "-DTILE=%d", tile);
    tess_gpu_option(layout, "-DLAYOUT=%d", kind);
    launch_tiles(base, layout, NULL, "tile", tile, tile, tile * tile, 0);
}
#define LAY_TILE(name, tile, kind)                                                                             \
    static void lay_##name(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) { \
        (void)device;                                                                                          \
        lay_tile(base, layout, tile, kind);                                                                    \
    }
LAY_TILE(tile16, 16, 0)
LAY_TILE(tile32, 32, 0)
LAY_TILE(tile_pad16, 16, 1)
LAY_TILE(tile_pad32, 32, 1)
LAY_TILE(tile_swizzle, 32, 2)

static void lay_tile_unroll(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    launch_tiles(base, layout, &gpu_tile_unroll, "tile_unroll", 32, 32, 256, 0);
}

static void lay_tile_vector(const tess_problem *base, tess_gpu_layout *layout, int width) {
    tess_gpu_unit(layout, &gpu_tile_vector);
    tess_gpu_option(layout, "-DWIDTH=%d", width);
    launch_tiles(base, layout, NULL, "tile_vector", 32, 32, 256, 0);
    layout->alignment = of(base)->size * width;
}
static bool vector2_fits(const tess_problem *base, const char **why) {
    if (of(base)->size > 8) {
        *why = "needs elements of at most 8 bytes";
        return false;
    }
    return in_vectors(base, 2 * of(base)->size, why);
}
static bool vector4_fits(const tess_problem *base, const char **why) {
    if (of(base)->size > 4) {
        *why = "needs elements of at most 4 bytes";
        return false;
    }
    return in_vectors(base, 4 * of(base)->size, why);
}
static void lay_tile_vector2(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    lay_tile_vector(base, layout, 2);
}
static void lay_tile_vector4(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    lay_tile_vector(base, layout, 4);
}

static bool micro_fits(const tess_problem *base, const char **why) { return in_vectors(base, 16, why); }

/* 256 bytes of a source row; as many rows as registers allow. */
static void launch_micro(const transpose_gpu_matrices *m, tess_gpu_layout *layout) {
    int64_t size = m->size, along_p = 256 / size, along_q = size == 1 ? 256 : size <= 4 ? 128 : 64;
    tess_gpu_unit(layout, &gpu_micro);
    tess_gpu_option(layout, "-DP=%d", (int)along_p);
    tess_gpu_option(layout, "-DQ=%d", (int)along_q);
    tess_gpu_option(layout, "-DTHREADS=256");
    launch_tiles_of(m, layout, "micro", along_p, along_q, 0, 256, along_p * along_q * size);
    layout->alignment = 16;
}

static void lay_micro(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    (void)device;
    launch_micro(&m, layout);
}

static bool shifted_fits(const tess_problem *base, const char **why) {
    if (!matrices(base, why))
        return false;
    *why = "needs elements of at most 8 bytes, a power of two";
    return of(base)->size <= 8; /* any other size has been cut to pieces before */
}

static bool many_tiles(const transpose_plane *plane, int64_t size) {
    const int64_t along_p = size == 8 ? 1024 : 64, along_q = size == 4 ? 512 : 1024;
    return plane->p_size * size >= along_p && plane->q_size * size >= along_q;
}

static bool shifted_pays(const tess_problem *base, const char **why) {
    transpose_plane plane;
    *why = "rows of out of less than 1 KiB (512 bytes of 4-byte elements), or of in of 64 bytes (1 KiB of 8-byte ones), are mostly ends of tiles";
    return tess_transpose_gpu_plane_of(base, &plane, why) && many_tiles(&plane, of(base)->size);
}

/* The fastest of the tiles that were tried on an H200 (notes-gpu.md). */
int64_t tess_transpose_gpu_shifted_groups(const transpose_gpu_matrices *m) {
    return m->size == 1 ? 6 : m->size == 2 && m->plane.q_size >= 4096 ? 30 : 14;
}

static void launch_shifted(const transpose_gpu_matrices *m, tess_gpu_layout *layout) {
    int64_t size = m->size, margin = 32 / size;
    if (size <= 4) {
        const int64_t lanes = TRANSPOSE_GPU_LANES, groups = tess_transpose_gpu_shifted_groups(m);
        const int64_t along_p = (lanes - 1) * 16 / size, strip = (int64_t)8 << 20; /* of a row of in 16 bytes a lane, of out a group */
        tess_gpu_unit(layout, &gpu_shifted_vectors);
        tess_gpu_option(layout, "-DLANES=%d", (int)lanes);
        tess_gpu_option(layout, "-DNV=%d", (int)groups);
        tess_gpu_option(layout, "-DBLOCKS=%d", size == 1 ? 5 : size == 4 ? 6 : groups == 30 ? 2 : 3);
        tess_gpu_option(layout, "-DSTRIP=%d", (int)(strip / (along_p * groups * 16))); /* what its tiles read stays in L2 */
        launch_tiles_of(m, layout, "shifted_vectors", along_p, groups * 16 / size, margin - 1, (int)((groups + 2) * lanes),
                        along_p * (groups + 2) * 16 + (lanes - 1) * 16);
        return;
    }
    int64_t along_p = 64, along_q = 32, threads = 256;
    tess_gpu_unit(layout, &gpu_shifted);
    tess_gpu_option(layout, "-DP=%d", (int)along_p);
    tess_gpu_option(layout, "-DQ=%d", (int)along_q);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)threads);
    tess_gpu_option(layout, "-DBLOCKS=4");
    launch_tiles_of(m, layout, "shifted", along_p, along_q, margin - 1, (int)threads, along_p * (along_q + margin + 1) * size);
}

static void lay_shifted(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    (void)device;
    launch_shifted(&m, layout);
}

transpose_gpu_tiles tess_transpose_gpu_tiles_for(const transpose_gpu_matrices *m) {
    if (m->plane.p_size * m->size % 16 == 0 && m->plane.q_size * m->size % 16 == 0)
        return TRANSPOSE_GPU_MICRO;
    return m->size <= 8 && many_tiles(&m->plane, m->size) ? TRANSPOSE_GPU_SHIFTED : TRANSPOSE_GPU_UNROLL;
}

void tess_transpose_gpu_launch(const transpose_gpu_matrices *m, tess_gpu_layout *layout) {
    const transpose_gpu_tiles tiles = tess_transpose_gpu_tiles_for(m);
    if (tiles == TRANSPOSE_GPU_MICRO) {
        launch_micro(m, layout);
    } else if (tiles == TRANSPOSE_GPU_SHIFTED) {
        launch_shifted(m, layout);
    } else {
        tess_gpu_unit(layout, &gpu_tile_unroll);
        launch_tiles_of(m, layout, "tile_unroll", 32, 32, 0, 256, 0);
    }
}

/* ---- copies ---- */

static bool copy_fits(const tess_problem *base, const char **why) {
    const transpose_problem *p = of(base);
    if (p->place == TRANSPOSE_NOTHING)
        return true;
    *why = "needs a permutation that moves nothing";
    return p->place == TRANSPOSE_ELSEWHERE &&
           (p->ndim == 0 || (p->ndim == 1 && p->stride[TRANSPOSE_IN][0] == p->size && p->stride[TRANSPOSE_OUT][0] == p->size));
}

void tess_transpose_gpu_launch_copy(tess_gpu_layout *layout, tess_gpu_place from, int64_t from_at, tess_gpu_place to, int64_t to_at, int64_t bytes) {
    layout->alignment = 16;
    tess_gpu_unit(layout, &gpu_copy);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "copy", tess_ceil_div(bytes / 16 + 1, 256), 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, from, from_at);
    tess_gpu_pass_pointer(layout, step, to, to_at);
    tess_gpu_pass_i64(layout, step, bytes);
}

static void lay_copy(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_problem *p = of(base);
    (void)device;
    layout->alignment = 1; /* where nothing is launched */
    if (p->place != TRANSPOSE_NOTHING)
        tess_transpose_gpu_launch_copy(layout, TESS_GPU_IN, p->first[TRANSPOSE_IN], TESS_GPU_OUT, p->first[TRANSPOSE_OUT],
                                       p->in.count * p->in.itemsize);
}

/* ---- whatever is left ---- */

static bool elsewhere(const tess_problem *base, const char **why) {
    *why = "works between two arrays, not in place";
    return of(base)->place == TRANSPOSE_ELSEWHERE;
}

bool tess_transpose_gpu_last_stays(const transpose_problem *p) {
    const int last = p->ndim - 1;
    return last >= 0 && p->stride[TRANSPOSE_IN][last] == p->size && p->stride[TRANSPOSE_OUT][last] == p->size;
}

/* Bytes that can be moved at once: of an element as it is given; where the last axis stays as it is, without gaps, of as many as all steps allow. */
int64_t tess_transpose_gpu_piece(const transpose_problem *p, bool together) {
    const int last = p->ndim - 1;
    if (!together || !tess_transpose_gpu_last_stays(p))
        return p->in.itemsize;
    int64_t common = tess_gcd(16, p->shape[last] * p->size);
    for (int side = TRANSPOSE_IN; side <= TRANSPOSE_OUT; side++) {
        common = tess_gcd(common, llabs(p->first[side]));
        for (int d = 0; d < last; d++)
            common = tess_gcd(common, llabs(p->stride[side][d]));
    }
    return common;
}

static void lay_by_piece(const tess_problem *base, tess_gpu_layout *layout, int64_t unit) {
    const transpose_problem *p = of(base);
    const int axes = p->ndim - (unit > p->size); /* the last one is inside of what has `pieces` pieces then */
    int64_t block[2 + 3 * (TESS_MAX_NDIM + 1)], *at = block, count = 1, whole = p->size;
    if (axes < p->ndim)
        whole *= p->shape[axes];
    for (int d = 0; d < axes; d++)
        count *= p->shape[d];
    tess_gpu_unit(layout, &gpu_elements);
    tess_gpu_option(layout, "-DUNIT=%d", (int)unit);
    tess_gpu_option(layout, "-DAXES=%d", axes);
    tess_gpu_option(layout, "-DNUMBER=%s", count * (whole / unit) <= UINT32_MAX - 256 ? "unsigned" : "i64");
    *at++ = count;
    *at++ = whole / unit;
    for (int d = 0; d <= axes; d++)
        *at++ = d < axes ? p->shape[d] : 0;
    for (int side = TRANSPOSE_IN; side <= TRANSPOSE_OUT; side++)
        for (int d = 0; d <= axes; d++)
            *at++ = d < axes ? p->stride[side][d] : 0;
    tess_gpu_step *step = tess_gpu_launch_of(layout, "elements", tess_ceil_div(count * (whole / unit), 256), 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, p->first[TRANSPOSE_IN]);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, p->first[TRANSPOSE_OUT]);
    tess_gpu_pass(layout, step, block, (size_t)(at - block) * sizeof *block);
    layout->alignment = unit;
}

static void lay_elements(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    lay_by_piece(base, layout, of(base)->in.itemsize);
}

static bool pieces_fit(const tess_problem *base, const char **why) {
    if (!elsewhere(base, why))
        return false;
    *why = "needs a last axis that stays the last, and steps that are whole pieces larger than elements";
    return tess_transpose_gpu_piece(of(base), true) > of(base)->size;
}

static void lay_pieces(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    lay_by_piece(base, layout, tess_transpose_gpu_piece(of(base), true));
}

#define ROW(place, name, is_production)                                            \
    static const tess_gpu_row row_##name = {.headers = tess_transpose_gpu_headers, \
                                            .rung = place,                         \
                                            .production = is_production,           \
                                            .least_arch = 80,                      \
                                            .lay_out = lay_##name,                 \
                                            .predict = tess_transpose_predict_##name}
ROW(1, copy, true);
ROW(2, naive_read, false);
ROW(3, naive_write, false);
ROW(4, tile16, false);
ROW(5, tile32, false);
ROW(6, tile_pad16, false);
ROW(7, tile_pad32, false);
ROW(8, tile_swizzle, false);
ROW(9, tile_unroll, true);
ROW(10, tile_vector2, false);
ROW(11, tile_vector4, false);
ROW(12, micro, true);
ROW(0, elements, true);
ROW(0, pieces, true);
static const tess_gpu_row row_shifted = {.headers = tess_transpose_gpu_odd_headers,
                                         .production = true,
                                         .least_arch = 80,
                                         .lay_out = lay_shifted,
                                         .predict = tess_transpose_predict_shifted};

static bool by_name_only(const tess_problem *base, const char **why) {
    (void)base;
    *why = "a rung of the ladder, run by name only";
    return false;
}

#define STRATEGY(the_name, words, from, fits, ...)                                                                                            \
    {                                                                                                                                         \
        .name = "transpose/" #the_name, .idea = words, .source = from, .target = TESS_TARGET_GPU, .applicable = fits, .gpu = &row_##the_name, \
        __VA_ARGS__                                                                                                                           \
    }
#define RUETSCH "Ruetsch, Micikevicius, Optimizing matrix transpose in CUDA, NVIDIA 2009"
const tess_strategy tess_transpose_gpu_rows[TRANSPOSE_GPU_ROWS] = {
    STRATEGY(copy, "nothing moves: vectors of 16 bytes, one a thread", "-", copy_fits, .sensible = NULL),
    {.name = "transpose/small_matrices",
     .idea = "a stack of small matrices: pieces of whole ones to shared memory as they lie, vectors of the result put together there",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_small_matrices_fit,
     .sensible = tess_transpose_gpu_small_matrices_pay,
     .gpu = &tess_transpose_gpu_small_matrices_row},
    {.name = "transpose/records",
     .idea = "a short side whose elements follow each other: a piece of its memory and the pieces of long rows that hold the same elements, through "
             "shared memory",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_records_fit,
     .sensible = tess_transpose_gpu_records_pay,
     .gpu = &tess_transpose_gpu_records_row},
    {.name = "transpose/boxes",
     .idea = "axes that are short on both sides: boxes of as many as make long runs in either array, through shared memory by tables of where "
             "elements are",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_boxes_fit,
     .sensible = tess_transpose_gpu_boxes_pay,
     .gpu = &tess_transpose_gpu_boxes_row},
    STRATEGY(micro, "squares of 16-byte vectors turned in registers, whole rows gathered in swizzled shared memory", "-", micro_fits,
             .sensible = NULL),
    {.name = "transpose/joined",
     .idea = "as shifted, where rows are short: axes that follow each other are one, ends of rows are written with beginnings of the next",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_joined_fits,
     .sensible = tess_transpose_gpu_joined_pays,
     .gpu = &tess_transpose_gpu_joined},
    STRATEGY(shifted, "any pitch: words shifted into place, each row of out written from the start of a sector", "-", shifted_fits,
             .sensible = shifted_pays),
    STRATEGY(tile_unroll, "the padded tile with 8 warps: four elements a thread", RUETSCH, matrices, .sensible = NULL),
    {.name = "transpose/short_runs",
     .idea = "runs that stay together, as pixels: run by run to rows of a tile in shared memory, which go out word by word",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_short_runs_fit,
     .sensible = tess_transpose_gpu_short_runs_pay,
     .gpu = &tess_transpose_gpu_short_runs_row},
    {.name = "transpose/run_pieces",
     .idea = "runs of bytes or 16-bit elements that begin anywhere: the vectors that hold them in shared memory, from where whole vectors of out are "
             "made",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_run_pieces_fit,
     .sensible = tess_transpose_gpu_run_pieces_pay,
     .gpu = &tess_transpose_gpu_run_pieces_row},
    {.name = "transpose/long_runs",
     .idea = "a last axis that stays the last, begins anywhere: words in the order of out, each found from the first run of a block",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_long_runs_fit,
     .sensible = tess_transpose_gpu_long_runs_pay,
     .gpu = &tess_transpose_gpu_long_runs_row},
    STRATEGY(pieces, "as elements, where the last axis stays the last: pieces of up to 16 bytes of it", "-", pieces_fit, .sensible = NULL),
    {.name = "transpose/picked_words",
     .idea = "bytes and 16-bit elements near each other, as an axis backwards: words of out put together by byte permutations",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_picked_words_fit,
     .sensible = tess_transpose_gpu_picked_words_pay,
     .gpu = &tess_transpose_gpu_picked_words_row},
    {.name = "transpose/spaced",
     .idea = "elements that lie apart, as every second column: some rows of out a block, or tiles read along one axis and written along the other",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_spaced_fit,
     .sensible = tess_transpose_gpu_spaced_pay,
     .gpu = &tess_transpose_gpu_spaced_row},
    STRATEGY(elements, "any layout: one thread a piece of an element, in the order of out", "-", elsewhere, .sensible = NULL),
    {.name = "transpose/exchange_vectors",
     .idea = "in place, square matrices: tiles and their mirror images change places, squares of 16-byte vectors turned in registers",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_inplace_vectors_fit,
     .gpu = &tess_transpose_gpu_inplace_vectors},
    {.name = "transpose/exchange_bands",
     .idea =
         "in place, matrices that are not square: bands read in order, tiles whose place has been read go there, the others by way of the workspace",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_inplace_bands_fit,
     .sensible = tess_transpose_gpu_inplace_bands_pay,
     .gpu = &tess_transpose_gpu_inplace_bands},
    {.name = "transpose/exchange",
     .idea = "in place: as exchange_vectors, rows that begin anywhere; matrices that are not square through a workspace of the array's size",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_inplace_tiles_fit,
     .gpu = &tess_transpose_gpu_inplace},
    {.name = "transpose/exchange_runs",
     .idea = "in place, elements or runs of any size: one thread a piece, otherwise as exchange",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_transpose_gpu_inplace_fits,
     .gpu = &tess_transpose_gpu_inplace_runs},
    STRATEGY(naive_read, "one thread an element; reads rows, writes columns", "-", matrices, .sensible = by_name_only),
    STRATEGY(naive_write, "one thread an element; reads columns, writes rows", "-", matrices, .sensible = by_name_only),
    STRATEGY(tile16, "a tile of 16 x 16 through shared memory", RUETSCH, matrices, .sensible = by_name_only),
    STRATEGY(tile32, "a tile of 32 x 32 through shared memory", RUETSCH, matrices, .sensible = by_name_only),
    STRATEGY(tile_pad16, "tile16 with a column of padding: fewer bank conflicts", RUETSCH, matrices, .sensible = by_name_only),
    STRATEGY(tile_pad32, "tile32 with a column of padding: no bank conflicts", RUETSCH, matrices, .sensible = by_name_only),
    STRATEGY(tile_swizzle, "tile32 with rows permuted by xor: no bank conflicts, nothing unused", "-", matrices, .sensible = by_name_only),
    STRATEGY(tile_vector2, "the padded tile, two elements an access to global memory", "-", vector2_fits, .sensible = by_name_only),
    STRATEGY(tile_vector4, "the padded tile, four elements an access to global memory", "-", vector4_fits, .sensible = by_name_only),
};

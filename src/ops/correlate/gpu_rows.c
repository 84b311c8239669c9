/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.c - the GPU's part of the table, and what its rows share. */
#include <string.h>

#include "ops/correlate/gpu_brick.h"
#include "ops/correlate/gpu_fast.h"
#include "ops/correlate/gpu_fft.h"
#include "ops/correlate/gpu_rungs.h"
#include "ops/correlate/gpu_wide.h"

extern const char tess_kernel_gpu_types_cuh[], tess_kernel_correlate_gpu_boundary_cuh[], tess_kernel_correlate_gpu_ladder_cuh[],
    tess_kernel_correlate_gpu_number_cuh[];
static const tess_gpu_text types_header = {"gpu/types.cuh", tess_kernel_gpu_types_cuh},
                           boundary_header = {"ops/correlate/gpu_boundary.cuh", tess_kernel_correlate_gpu_boundary_cuh},
                           ladder_header = {"ops/correlate/gpu_ladder.cuh", tess_kernel_correlate_gpu_ladder_cuh},
                           number_header = {"ops/correlate/gpu_number.cuh", tess_kernel_correlate_gpu_number_cuh};
const tess_gpu_text *const tess_correlate_gpu_headers[] = {&types_header, &boundary_header, &ladder_header, NULL};
const tess_gpu_text *const tess_correlate_number_headers[] = {&types_header, &boundary_header, &number_header, NULL};

/* ---- what rows share ---- */

bool tess_correlate_gpu_chains(const tess_problem *base, const char **why) {
    *why = "these sums go through Fourier transforms, as the accuracy asked for says";
    return !tess_correlate_gpu_of(base)->fft;
}

bool tess_correlate_gpu_direct(const tess_problem *base, const char **why) {
    if (!tess_correlate_gpu_chains(base, why))
        return false;
    *why = "takes one mask, and this is a list of 1-D masks, each rounded";
    return tess_correlate_gpu_of(base)->direct != NULL;
}

bool tess_correlate_gpu_by_name(const tess_problem *base, const char **why) {
    (void)base;
    *why = "a rung of the ladder, run by name only";
    return false;
}

void tess_correlate_gpu_types(tess_gpu_layout *layout, const tess_correlate_problem *problem, const tess_correlate_pass *pass) {
    tess_gpu_option(layout, "-DIN=%d", (int)pass->from);
    tess_gpu_option(layout, "-DOUT=%d", (int)pass->to);
    tess_gpu_option(layout, "-DWORK=%d", (int)problem->work);
}

bool tess_correlate_gpu_is_element(const tess_correlate_problem *p, tess_type type) {
    tess_value element = {0}, back = {0};
    const int64_t size = (int64_t)tess_type_size(type);
    if (p->boundary != TESS_BOUNDARY_CONSTANT)
        return true;
    tess_storer(TESS_SLOT_BASELINE, p->work, type)(&element, size, &p->work_constant, 1);
    tess_loader(TESS_SLOT_BASELINE, type, p->work)(&back, &element, size, 1);
    return memcmp(&back, &p->work_constant, tess_type_size(p->work)) == 0;
}

int64_t tess_correlate_gpu_weights(tess_gpu_layout *layout, const tess_correlate_pass *pass) {
    return tess_gpu_data(layout, pass->weights, pass->size);
}

/* ---- passes ---- */

/* The direct sum, unless there is none or several passes have fewer taps to pay for. */
const tess_correlate_pass *tess_correlate_gpu_passes(const tess_correlate_problem *p, int *count) {
    bool passes = p->passes && (!p->direct || p->separable_flops + 16.0 * (double)p->out.count * p->passes_count < p->base.flops);
    *count = passes ? p->passes_count : 1;
    return passes ? p->passes : p->direct;
}

void tess_correlate_gpu_between(tess_gpu_layout *layout, const tess_correlate_problem *p, int count, int64_t *between) {
    for (int k = 0; k < 2; k++)
        between[k] = count > 1 ? tess_gpu_reserve(layout, p->between[k]) : 0;
}

void tess_correlate_gpu_ends(tess_gpu_layout *layout, tess_gpu_step *step, int k, int count, const int64_t *between) {
    tess_gpu_pass_pointer(layout, step, k == 0 ? TESS_GPU_IN : TESS_GPU_WORKSPACE, k == 0 ? 0 : between[(k - 1) & 1]);
    tess_gpu_pass_pointer(layout, step, k == count - 1 ? TESS_GPU_OUT : TESS_GPU_WORKSPACE, k == count - 1 ? 0 : between[k & 1]);
}

void tess_correlate_gpu_lay_passes(tess_gpu_layout *layout, const tess_problem *base, tess_correlate_gpu_lay_pass *lay_pass) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int64_t between[2];
    int count;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    tess_correlate_gpu_between(layout, p, count, between);
    for (int k = 0; k < count; k++)
        lay_pass(layout, p, k, count, &pass[k], between);
}

/* ---- the table's words ---- */

#define RUNG_ROW(the_name, fits, words)                                                                                                   \
    {                                                                                                                                     \
        .name = "correlate/" #the_name, .idea = words, .source = HWU, .target = TESS_TARGET_GPU, .applicable = tess_correlate_gpu_##fits, \
        .sensible = tess_correlate_gpu_by_name, .gpu = &tess_correlate_gpu_##the_name                                                     \
    }
#define HWU "Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, 4th ed., 2022, ch. 7"

/* ---- the table: production rows best first, then the ladder ---- */

#define FAST(row, words)                                                                                                               \
    {                                                                                                                                  \
        .name = "correlate/" #row, .idea = words, .source = "-", .target = TESS_TARGET_GPU, .applicable = tess_correlate_##row##_fits, \
        .gpu = &tess_correlate_##row                                                                                                   \
    }
#define FAST_WHERE(row, words)                                                                                                         \
    {                                                                                                                                  \
        .name = "correlate/" #row, .idea = words, .source = "-", .target = TESS_TARGET_GPU, .applicable = tess_correlate_##row##_fits, \
        .sensible = tess_correlate_##row##_pays, .gpu = &tess_correlate_##row                                                          \
    }
#define FFT(row, words)                                                                                                                      \
    {                                                                                                                                        \
        .name = "correlate/" #row, .idea = words,                                                                                            \
        .source = "Stockham: High-speed convolution and correlation, AFIPS Spring Joint Computer Conference 28, 1966 (sectioning)",          \
        .target = TESS_TARGET_GPU, .applicable = tess_correlate_##row##_fits, .flops = tess_correlate_fft_work, .gpu = &tess_correlate_##row \
    }
const tess_strategy tess_correlate_gpu_rows[CORRELATE_GPU_ROWS] = {
    FFT(fft_tile, "overlap and save: a block transforms a pair of tiles in shared memory; one trip through memory"),
    FFT(fft_passes, "tiles larger than shared memory: columns, rows, columns, through the workspace"),
    FAST_WHERE(line, "short masks along long rows of narrow elements: a vector a thread, what lies beside it loaded too"),
    FAST_WHERE(short_rows, "an axis of few elements: a thread has all of it, its ends known when the kernel is compiled; lanes go along another"),
    FAST_WHERE(flat, "small masks over small images of any width: a band of rows as one run of memory, ends of rows computed once more"),
    FAST(patch_bytes, "small masks of small integers over bytes: patch, four taps an instruction"),
    FAST_WHERE(patch, "small masks over long rows: rows of vectors in registers, the rest of a window from the neighbour lanes"),
    FAST(strip2d, "larger masks: blocks march down strips, every row adds to all outputs under way"),
    FAST_WHERE(march3d, "volumes: blocks march through planes, every plane adds to all outputs under way"),
    FAST(march_kept, "volumes in another order than the mask's: march3d, every plane's windows kept in registers until their last tap"),
    FAST(march_across, "volumes whose input is finest along another axis: march_kept, planes turned on their way to shared memory"),
    FAST(tile1d, "masks along rows: a tile through shared memory, sixteen outputs a thread"),
    FAST_WHERE(patch_separable, "two short masks, one along long rows: patch, a window from the neighbour lanes between the passes"),
    FAST_WHERE(separable2d, "two masks, one along rows, in one pass over memory: strips, and windows between the passes"),
    FAST(lanes3d, "three short masks over narrow elements: warps march through planes by themselves, windows from the neighbour lanes"),
    FAST(separable3d,
         "three masks, one along rows, or two beside rows, in one pass over memory: blocks march through planes, which pass through all masks there"),
    FAST_WHERE(separable_split, "three masks in two passes over memory: one by strip2d, the two with the one along rows by separable2d"),
    FAST(patch_bytes_odd, "patch_bytes for rows that begin anywhere"),
    FAST_WHERE(patch_odd, "patch for rows that begin anywhere: vectors as they lie, moved into place between lanes"),
    FAST(strip2d_odd, "strip2d for rows that begin anywhere"),
    FAST_WHERE(march3d_odd, "march3d for rows that begin anywhere"),
    FAST(tile1d_odd, "tile1d for rows that begin anywhere"),
    FAST_WHERE(patch_separable_odd, "patch_separable for rows that begin anywhere"),
    FAST_WHERE(separable2d_odd, "separable2d for rows that begin anywhere"),
    FAST_WHERE(shifted3d, "separable3d for rows that begin anywhere: all rows of a thread begin alike, code for each place that they may begin at"),
    FAST(separable3d_odd, "separable3d for rows that begin anywhere"),
    FAST_WHERE(separable_split_odd, "separable_split for rows that begin anywhere"),
    FAST_WHERE(separable_each, "lists along other axes than the finest: each mask by itself, by strip2d or by tile1d"),
    FAST_WHERE(separable_each_odd, "separable_each for rows that begin anywhere"),
    FAST_WHERE(mixed, "lists that no other row takes as a whole: masks one by one or with their neighbours, each part by the row that takes it"),
    FAST_WHERE(turned,
               "input and output finest along different axes: one of them by way of the workspace, turned there by a row of transpose's, the sums by "
               "another row of these"),
    FAST_WHERE(brick,
               "small masks over elements in any order and at any steps, and over complex numbers: a brick of up to three axes in shared memory"),
    {.name = "correlate/brick_odd",
     .idea = "brick for arrays that begin anywhere: elements one by one",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_correlate_brick_odd_fits,
     .sensible = tess_correlate_brick_pays,
     .gpu = &tess_correlate_brick_odd},
    FAST_WHERE(wide, "large masks: a tile of converted elements in shared memory, squares of sums in registers, loops over the mask"),
    {.name = "correlate/general",
     .idea = "any layout, type and boundary: one thread an output, every tap's index worked out",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_correlate_general_fits,
     .gpu = &tess_correlate_general},
    RUNG_ROW(global, line_fits, "the definition: input and mask in global memory"),
    RUNG_ROW(constant, line_fits, "the mask in __constant__ memory: a broadcast for each tap"),
    RUNG_ROW(constant_param, line_fits, "the mask as a parameter by value: constant memory without a hazard between streams"),
    RUNG_ROW(tile_halo, line_fits, "a block's input in shared memory, brought in three pieces"),
    RUNG_ROW(tile_shift, line_fits, "the same tile in two pieces, starting left of the block"),
    RUNG_ROW(tile_input, line_fits, "a thread an element of the input tile; some idle while sums are made"),
    RUNG_ROW(tile_core, line_fits, "the block's own elements in shared memory, the halo from the caches"),
    RUNG_ROW(global2d, image_fits, "the definition over an image"),
    RUNG_ROW(constant2d, image_fits, "over an image, the mask in __constant__ memory"),
    RUNG_ROW(tile_input2d, image_fits, "squares of 16 x 16 outputs, a thread an element of the input tile"),
    RUNG_ROW(tile_core2d, image_fits, "over an image, the block's own elements in shared memory"),
    RUNG_ROW(separable_passes, list_fits, "two masks of one dimension, a launch each"),
};

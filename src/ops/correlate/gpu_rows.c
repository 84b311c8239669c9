/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.c - the GPU's part of the table, and the row that takes everything: one launch a pass, passes through the workspace. */
#include "ops/correlate/gpu_fast.h"
#include "ops/correlate/gpu_rungs.h"
#include "ops/correlate/gpu_wide.h"

#include <string.h>

KERNEL_TEXT(gpu_general);
extern const char tess_kernel_gpu_types_cuh[], tess_kernel_correlate_gpu_boundary_cuh[], tess_kernel_correlate_gpu_ladder_cuh[];
static const tess_gpu_text types_header = {"gpu/types.cuh", tess_kernel_gpu_types_cuh},
                           boundary_header = {"ops/correlate/gpu_boundary.cuh", tess_kernel_correlate_gpu_boundary_cuh},
                           ladder_header = {"ops/correlate/gpu_ladder.cuh", tess_kernel_correlate_gpu_ladder_cuh};
const tess_gpu_text *const tess_correlate_gpu_headers[] = {&types_header, &boundary_header, &ladder_header, NULL};

/* ---- what rows share ---- */

static bool chains(const tess_problem *base, const char **why) {
    *why = "sums that go through Fourier transforms, as the accuracy asked for says, are left to the CPU";
    return !tess_correlate_gpu_of(base)->fft;
}

bool tess_correlate_gpu_direct(const tess_problem *base, const char **why) {
    if (!chains(base, why))
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

int64_t tess_correlate_gpu_weights(tess_gpu_layout *layout, const tess_correlate_pass *pass) {
    return tess_gpu_data(layout, pass->weights, pass->size);
}

/* ---- correlate/general ---- */

enum { THREADS = 256 };

/* The passes that run: the direct sum, unless there is none or several passes have fewer taps to pay for. */
static const tess_correlate_pass *chosen_passes(const tess_correlate_problem *p, int *count) {
    bool passes = p->passes && (!p->direct || p->separable_flops + 16.0 * (double)p->out.count * p->passes_count < p->base.flops);
    *count = passes ? p->passes_count : 1;
    return passes ? p->passes : p->direct;
}

/* struct general of gpu_general.cu. */
static size_t general_size(const tess_correlate_problem *p, const tess_correlate_pass *pass) {
    size_t real = tess_type_size(p->work) / (tess_is_complex(p->work) ? 2 : 1), outer = (size_t)(pass->ndim - pass->masked + (pass->group > 1));
    return 16 + (2 * real + 7) / 8 * 8 + 32 * (outer + 1) + 56 * (size_t)(pass->masked + 1);
}

/* A list may have as many masks as the array has axes; what a plan holds has an end, and so have a kernel's parameters. */
static bool general_fits(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int count;
    size_t all = 0;
    if (!chains(base, why))
        return false;
    const tess_correlate_pass *pass = chosen_passes(p, &count);
    *why = "takes lists of at most 12 masks over arrays of few axes";
    for (int k = 0; k < count; k++) {
        size_t size = general_size(p, &pass[k]);
        if (size > 4000)
            return false;
        all += size + 512;
    }
    return count <= TESS_GPU_STEPS && count <= TESS_GPU_PIECES && all <= TESS_GPU_ARENA;
}

/* Whether steps from element 0 to the last of an axis stay below 2^31, all axes together. */
static bool reaches(int64_t *sum, int64_t n, int64_t step) {
    int64_t reach;
    return !TESS_MUL_OVERFLOWS(n, step < 0 ? -step : step, &reach) && !TESS_ADD_OVERFLOWS(*sum, reach, sum) && *sum < INT32_MAX;
}

/* Whether every number that the kernel works with has 31 bits: outputs and threads, places in both arrays, indices beyond the ends, taps. */
static bool narrow(const tess_correlate_pass *pass) {
    int64_t in = pass->group, out = pass->group;
    bool fits = pass->outputs < INT32_MAX - THREADS && pass->taps < INT32_MAX;
    for (int d = 0; d < pass->ndim && fits; d++) {
        const tess_correlate_axis *a = &pass->axis[d];
        fits = reaches(&in, a->n, tess_correlate_gpu_in(pass, d)) && reaches(&out, a->m, tess_correlate_gpu_out(pass, d)) && a->n < INT32_MAX / 2 &&
               a->width < INT32_MAX / 4;
    }
    return fits;
}

static bool same_unit(const tess_correlate_pass *a, const tess_correlate_pass *b) {
    return a->from == b->from && a->to == b->to && a->ndim == b->ndim && a->masked == b->masked && (a->group > 1) == (b->group > 1) &&
           narrow(a) == narrow(b);
}

static void put_axis(int64_t **at, const tess_correlate_pass *pass, int d, int64_t divisor) {
    const tess_correlate_axis *a = &pass->axis[d];
    *(*at)++ = a->m;
    *(*at)++ = divisor;
    *(*at)++ = tess_correlate_gpu_in(pass, d);
    *(*at)++ = tess_correlate_gpu_out(pass, d);
}

static void pass_general(tess_gpu_layout *layout, tess_gpu_step *step, const tess_correlate_problem *p, const tess_correlate_pass *pass) {
    int64_t block[512] = {0}, *at = block, divisor[TESS_MAX_NDIM], finer = pass->group;
    size_t real = tess_type_size(p->work) / (tess_is_complex(p->work) ? 2 : 1);
    for (int d = pass->ndim - 1; d >= 0; d--) {
        divisor[d] = finer;
        finer *= tess_max64(pass->axis[d].m, 1);
    }
    *at++ = pass->outputs;
    *at++ = p->boundary;
    memcpy(at, &p->work_constant, tess_type_size(p->work));
    at += (2 * real + 7) / 8;
    for (int d = 0; d < pass->ndim; d++)
        if (pass->axis[d].width == 1)
            put_axis(&at, pass, d, divisor[d]);
    if (pass->group > 1) {
        *at++ = pass->group;
        at[0] = at[1] = at[2] = 1;
        at += 3;
    }
    at += 4; /* the place that an array without axes has */
    for (int k = 0; k < pass->masked; k++) {
        const tess_correlate_axis *a = &pass->axis[pass->order[k]];
        put_axis(&at, pass, pass->order[k], divisor[pass->order[k]]);
        *at++ = a->n;
        *at++ = a->width;
        *at++ = a->before;
    }
    tess_gpu_pass(layout, step, block, general_size(p, pass));
}

static void lay_general(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int count;
    const tess_correlate_pass *pass = chosen_passes(p, &count);
    int64_t between[2] = {0, 0};
    (void)device;
    for (int k = 0; k < 2 && count > 1; k++)
        between[k] = tess_gpu_reserve(layout, p->between[k]);
    for (int k = 0; k < count; k++) {
        if (k == 0 || !same_unit(&pass[k - 1], &pass[k])) {
            tess_gpu_unit(layout, &gpu_general);
            tess_correlate_gpu_types(layout, p, &pass[k]);
            tess_gpu_option(layout, "-DOUTER=%d", pass[k].ndim - pass[k].masked + (pass[k].group > 1));
            tess_gpu_option(layout, "-DMASKED=%d", pass[k].masked);
            tess_gpu_option(layout, "-DINDEX=%d", narrow(&pass[k]) ? 32 : 64);
        }
        tess_gpu_step *step = tess_gpu_launch_of(layout, "general_pass", tess_ceil_div(pass[k].outputs, THREADS), 1, 1, THREADS, 0);
        tess_gpu_pass_pointer(layout, step, k == 0 ? TESS_GPU_IN : TESS_GPU_WORKSPACE, k == 0 ? 0 : between[(k - 1) & 1]);
        tess_gpu_pass_pointer(layout, step, k == count - 1 ? TESS_GPU_OUT : TESS_GPU_WORKSPACE, k == count - 1 ? 0 : between[k & 1]);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, tess_correlate_gpu_weights(layout, &pass[k]));
        pass_general(layout, step, p, &pass[k]);
    }
}

static const tess_gpu_row row_general = {.headers = tess_correlate_gpu_headers, .production = true, .least_arch = 80, .lay_out = lay_general};

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
const tess_strategy tess_correlate_gpu_rows[CORRELATE_GPU_ROWS] = {
    FAST(patch, "small masks: rows of vectors in registers, the rest of a window from the neighbour lanes"),
    FAST(strip2d, "larger masks: blocks march down strips, every row adds to all outputs under way"),
    FAST(march3d, "volumes: blocks march through planes, every plane adds to all outputs under way"),
    FAST(tile1d, "masks along rows: a tile through shared memory, sixteen outputs a thread"),
    FAST(separable2d, "two masks, one along rows, in one pass over memory: strips, and windows between the passes"),
    FAST(patch_odd, "patch for rows that begin anywhere, element by element"),
    FAST(strip2d_odd, "strip2d for rows that begin anywhere"),
    FAST(march3d_odd, "march3d for rows that begin anywhere"),
    FAST(tile1d_odd, "tile1d for rows that begin anywhere"),
    FAST(separable2d_odd, "separable2d for rows that begin anywhere"),
    {.name = "correlate/wide",
     .idea = "large masks: a tile of converted elements in shared memory, squares of sums in registers, loops over the mask",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = tess_correlate_wide_fits,
     .sensible = tess_correlate_wide_pays,
     .gpu = &tess_correlate_wide},
    {.name = "correlate/general",
     .idea = "any layout, type and boundary: one thread an output, every tap's index worked out",
     .source = "-",
     .target = TESS_TARGET_GPU,
     .applicable = general_fits,
     .gpu = &row_general},
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

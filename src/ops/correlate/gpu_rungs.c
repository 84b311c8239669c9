/* SPDX-License-Identifier: Apache-2.0
 * gpu_rungs.c - the ladder of correlations: twelve kernels from the definition to two passes, run by name.
 *
 * They take f32 with a mask of f32 and ghost cells of one value: along one array without gaps, or over an image whose rows have none. */
#include "ops/correlate/gpu_rungs.h"

#include <string.h>

KERNEL_TEXT(gpu_global);
KERNEL_TEXT(gpu_constant);
KERNEL_TEXT(gpu_constant_param);
KERNEL_TEXT(gpu_tile_halo);
KERNEL_TEXT(gpu_tile_input);
KERNEL_TEXT(gpu_tile_core);
KERNEL_TEXT(gpu_separable_passes);
/* ---- what a rung takes ---- */

/* Zero or constant ghost cells, f32 all through, the last axis without gaps on both sides. */
static bool plain(const tess_correlate_problem *p, const tess_correlate_pass *pass, int64_t widest) {
    const tess_correlate_axis *last = &pass->axis[pass->ndim - 1];
    bool fits = pass->from == tess_f32 && pass->to == tess_f32 && p->work == tess_f32 && p->boundary == TESS_BOUNDARY_CONSTANT;
    for (int d = 0; d < pass->ndim && fits; d++)
        fits = pass->axis[d].width <= widest;
    return fits && (pass->masked < 2 || pass->order[0] < pass->order[1]) && (pass->group > 1 || (last->in_stride == 4 && last->out_stride == 4));
}

/* Two axes, the second of which may be a group. */
static bool is_image(const tess_correlate_pass *pass) { return pass->ndim + (pass->group > 1) == 2; }

bool tess_correlate_gpu_line_fits(const tess_problem *base, const char **why) {
    if (!tess_correlate_gpu_direct(base, why))
        return false;
    *why = "takes one line of f32 without gaps, at most 257 taps, zero or constant ghost cells";
    const tess_correlate_pass *pass = tess_correlate_gpu_of(base)->direct;
    return pass->ndim == 1 && pass->group == 1 && plain(tess_correlate_gpu_of(base), pass, CORRELATE_GPU_LINE + 1);
}

bool tess_correlate_gpu_image_fits(const tess_problem *base, const char **why) {
    if (!tess_correlate_gpu_direct(base, why))
        return false;
    *why = "takes an image of f32 whose rows have no gaps, at most 17 x 17 taps, zero or constant ghost cells";
    const tess_correlate_pass *pass = tess_correlate_gpu_of(base)->direct;
    return is_image(pass) && plain(tess_correlate_gpu_of(base), pass, 17);
}

bool tess_correlate_gpu_list_fits(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    *why = "takes a list of two masks of at most 257 taps over an image of f32 whose rows have no gaps, zero or constant ghost cells";
    if (p->fft || !p->passes || p->passes_count != 2)
        return false;
    for (int k = 0; k < 2; k++)
        if (!is_image(&p->passes[k]) || !plain(p, &p->passes[k], CORRELATE_GPU_LINE + 1))
            return false;
    return true;
}

/* ---- struct line and struct image of gpu_ladder.cuh ---- */

correlate_gpu_line tess_correlate_gpu_line_of(const tess_correlate_problem *p) {
    const tess_correlate_axis *a = &p->direct->axis[0];
    return (correlate_gpu_line){a->n, a->m, (int32_t)a->before, (int32_t)a->width, p->work_constant.f32};
}

correlate_gpu_image tess_correlate_gpu_image_of(const tess_correlate_problem *p, const tess_correlate_pass *pass) {
    const tess_correlate_axis group = {pass->group, pass->group, 4, 4, 1, 0}, *y = &pass->axis[0], *x = pass->ndim == 2 ? &pass->axis[1] : &group;
    return (correlate_gpu_image){y->n,
                                 x->n,
                                 y->m,
                                 x->m,
                                 tess_correlate_gpu_in(pass, 0),
                                 tess_correlate_gpu_out(pass, 0),
                                 (int32_t)y->before,
                                 (int32_t)x->before,
                                 (int32_t)y->width,
                                 (int32_t)x->width,
                                 p->work_constant.f32};
}

static void pass_weights(tess_gpu_layout *layout, tess_gpu_step *step, const tess_correlate_pass *pass) {
    float weights[CORRELATE_GPU_MOST] = {0};
    memcpy(weights, pass->weights, pass->size);
    tess_gpu_pass(layout, step, weights, sizeof weights);
}

/* ---- the rungs ---- */

typedef enum weights_place { IN_GLOBAL, IN_CONSTANT, IN_PARAMETER } weights_place;

/* One launch of the direct sum with the mask where `place` says. */
static tess_gpu_step *launch(const tess_correlate_problem *p, tess_gpu_layout *layout, const tess_gpu_text *text, const char *entry, int64_t blocks,
                             int64_t threads, int64_t shared, int block, weights_place place) {
    tess_gpu_unit(layout, text);
    tess_gpu_option(layout, "-DBLOCK=%d", block);
    tess_gpu_step *step = tess_gpu_launch_of(layout, entry, blocks, 1, 1, (int)threads, shared);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    if (place == IN_GLOBAL)
        tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, tess_correlate_gpu_weights(layout, p->direct));
    else if (place == IN_CONSTANT)
        tess_gpu_constant_data(layout, "M", p->direct->weights, p->direct->size);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    return step;
}

static tess_gpu_step *launch_line(const tess_problem *base, tess_gpu_layout *layout, const tess_gpu_text *text, const char *entry, int64_t more,
                                  weights_place place) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    correlate_gpu_line line = tess_correlate_gpu_line_of(p);
    int64_t threads = CORRELATE_GPU_LINE + more;
    tess_gpu_step *step = launch(p, layout, text, entry, tess_ceil_div(line.m, CORRELATE_GPU_LINE), threads,
                                 more > 0 || strcmp(entry, "tile_input") == 0 ? 4 * threads : 0, CORRELATE_GPU_LINE, place);
    tess_gpu_pass(layout, step, &line, sizeof line);
    return step;
}

static void launch_image(const tess_problem *base, tess_gpu_layout *layout, const tess_gpu_text *text, const char *entry, bool square,
                         weights_place place) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    correlate_gpu_image image = tess_correlate_gpu_image_of(p, p->direct);
    const int64_t side = CORRELATE_GPU_SQUARE, high = square ? side : 8, across = square ? side : 32;
    int64_t threads = square ? (side + image.width_y - 1) * (side + image.width_x - 1) : 256;
    tess_gpu_step *step = launch(p, layout, text, entry, tess_ceil_div(image.m_y, high) * tess_ceil_div(image.m_x, across), threads,
                                 square ? 4 * threads : 0, (int)side, place);
    tess_gpu_pass(layout, step, &image, sizeof image);
}

#define LAY(name) static void lay_##name(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout)

LAY(global) {
    (void)device;
    launch_line(base, layout, &gpu_global, "global_line", 0, IN_GLOBAL);
}
LAY(constant) {
    (void)device;
    launch_line(base, layout, &gpu_constant, "constant_line", 0, IN_CONSTANT);
}
LAY(constant_param) {
    (void)device;
    pass_weights(layout, launch_line(base, layout, &gpu_constant_param, "constant_param", 0, IN_PARAMETER), tess_correlate_gpu_of(base)->direct);
}
LAY(tile_halo) {
    (void)device;
    launch_line(base, layout, &gpu_tile_halo, "tile_halo", 0, IN_CONSTANT);
    tess_gpu_option(layout, "-DSHIFT=0");
}
LAY(tile_shift) {
    (void)device;
    launch_line(base, layout, &gpu_tile_halo, "tile_halo", 0, IN_CONSTANT);
    tess_gpu_option(layout, "-DSHIFT=1");
}
LAY(tile_input) {
    (void)device;
    launch_line(base, layout, &gpu_tile_input, "tile_input", tess_correlate_gpu_of(base)->direct->axis[0].width - 1, IN_CONSTANT);
}
LAY(tile_core) {
    (void)device;
    launch_line(base, layout, &gpu_tile_core, "tile_core", 0, IN_CONSTANT);
}
LAY(global2d) {
    (void)device;
    launch_image(base, layout, &gpu_global, "global_image", false, IN_GLOBAL);
}
LAY(constant2d) {
    (void)device;
    launch_image(base, layout, &gpu_constant, "constant_image", false, IN_CONSTANT);
}
LAY(tile_input2d) {
    (void)device;
    launch_image(base, layout, &gpu_tile_input, "tile_input_image", true, IN_CONSTANT);
}
LAY(tile_core2d) {
    (void)device;
    launch_image(base, layout, &gpu_tile_core, "tile_core_image", false, IN_CONSTANT);
}
LAY(separable_passes) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int64_t between = tess_gpu_reserve(layout, p->between[0]);
    (void)device;
    for (int k = 0; k < 2; k++) {
        const tess_correlate_pass *pass = &p->passes[k];
        correlate_gpu_image image = tess_correlate_gpu_image_of(p, pass);
        tess_gpu_unit(layout, &gpu_separable_passes);
        tess_gpu_option(layout, "-DALONG=%d", image.width_y > 1 ? 0 : 1);
        tess_gpu_step *step = tess_gpu_launch_of(layout, "separable_pass", tess_ceil_div(image.m_y, 8) * tess_ceil_div(image.m_x, 32), 1, 1, 256, 0);
        tess_gpu_pass_pointer(layout, step, k ? TESS_GPU_WORKSPACE : TESS_GPU_IN, k ? between : 0);
        tess_gpu_pass_pointer(layout, step, k ? TESS_GPU_OUT : TESS_GPU_WORKSPACE, k ? 0 : between);
        tess_gpu_pass(layout, step, &image, sizeof image);
        pass_weights(layout, step, pass);
    }
}

#define RUNG(number, the_name, fits)                                                           \
    const tess_gpu_row tess_correlate_gpu_##the_name = {.headers = tess_correlate_gpu_headers, \
                                                        .rung = number,                        \
                                                        .least_arch = 80,                      \
                                                        .lay_out = lay_##the_name,             \
                                                        .predict = tess_correlate_predict_##the_name};
TESS_CORRELATE_RUNGS(RUNG)

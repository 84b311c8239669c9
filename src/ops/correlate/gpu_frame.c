/* SPDX-License-Identifier: Apache-2.0
 * gpu_frame.c - a pass as the sliding-window kernels see it: x without gaps, y, z, a batch; and what those kernels are told. */
#include <stdlib.h>
#include <string.h>

#include "ops/correlate/gpu_fast.h"

extern const char tess_kernel_gpu_types_cuh[], tess_kernel_correlate_gpu_window_cuh[], tess_kernel_correlate_gpu_copies_cuh[],
    tess_kernel_correlate_gpu_ring_cuh[], tess_kernel_correlate_gpu_own_rows_cuh[], tess_kernel_correlate_gpu_planes_cuh[],
    tess_kernel_correlate_gpu_kept_cuh[], tess_kernel_correlate_gpu_patch_cuh[], tess_kernel_correlate_gpu_bytes_cuh[],
    tess_kernel_correlate_gpu_dots_cuh[], tess_kernel_correlate_gpu_whole_rows_cuh[], tess_kernel_correlate_gpu_shifted_rows_cuh[],
    tess_kernel_correlate_gpu_shifted_words_cuh[], tess_kernel_correlate_gpu_rolled_rows_cuh[], tess_kernel_correlate_gpu_pushed_rows_cuh[],
    tess_kernel_correlate_gpu_laid_rows_cuh[], tess_kernel_correlate_gpu_boundary_cuh[];
static const tess_gpu_text types = {"gpu/types.cuh", tess_kernel_gpu_types_cuh},
                           window = {"ops/correlate/gpu_window.cuh", tess_kernel_correlate_gpu_window_cuh},
                           copies = {"ops/correlate/gpu_copies.cuh", tess_kernel_correlate_gpu_copies_cuh},
                           ring = {"ops/correlate/gpu_ring.cuh", tess_kernel_correlate_gpu_ring_cuh},
                           own_rows = {"ops/correlate/gpu_own_rows.cuh", tess_kernel_correlate_gpu_own_rows_cuh},
                           planes = {"ops/correlate/gpu_planes.cuh", tess_kernel_correlate_gpu_planes_cuh},
                           kept = {"ops/correlate/gpu_kept.cuh", tess_kernel_correlate_gpu_kept_cuh},
                           patch = {"ops/correlate/gpu_patch.cuh", tess_kernel_correlate_gpu_patch_cuh},
                           bytes = {"ops/correlate/gpu_bytes.cuh", tess_kernel_correlate_gpu_bytes_cuh},
                           dots = {"ops/correlate/gpu_dots.cuh", tess_kernel_correlate_gpu_dots_cuh},
                           whole_rows = {"ops/correlate/gpu_whole_rows.cuh", tess_kernel_correlate_gpu_whole_rows_cuh},
                           shifted_rows = {"ops/correlate/gpu_shifted_rows.cuh", tess_kernel_correlate_gpu_shifted_rows_cuh},
                           shifted_words = {"ops/correlate/gpu_shifted_words.cuh", tess_kernel_correlate_gpu_shifted_words_cuh},
                           rolled_rows = {"ops/correlate/gpu_rolled_rows.cuh", tess_kernel_correlate_gpu_rolled_rows_cuh},
                           pushed_rows = {"ops/correlate/gpu_pushed_rows.cuh", tess_kernel_correlate_gpu_pushed_rows_cuh},
                           laid_rows = {"ops/correlate/gpu_laid_rows.cuh", tess_kernel_correlate_gpu_laid_rows_cuh},
                           boundary_header = {"ops/correlate/gpu_boundary.cuh", tess_kernel_correlate_gpu_boundary_cuh};
const tess_gpu_text *const tess_correlate_frame_headers[] = {
    &types,      &window,       &copies,        &ring,        &own_rows,    &planes,          &patch, &bytes,     &dots,
    &whole_rows, &shifted_rows, &shifted_words, &rolled_rows, &pushed_rows, &boundary_header, &kept,  &laid_rows, NULL};

/* Rows for volumes number arrays by 16 bits; indices along an axis have 31 bits with room for what a block reaches beyond the end. */
enum { ARRAYS = 65535, AXIS = INT32_MAX / 2, PARAMETERS = 4096 };

/* Tiles of images are numbered by 31 bits, in one line where they have to be (tess_gpu_fold): blocks make 32 x 2 outputs and more. */
static bool few_tiles(const tess_correlate_frame *frame) {
    return frame->arrays <= INT32_MAX / tess_max64(1, tess_ceil_div(frame->x.m, 32) * tess_ceil_div(frame->y.m, 2));
}

/* The constant as an element of the pass's input, when it is one: ghost cells stand among elements. */
static void find_ghost(tess_correlate_frame *frame, const tess_correlate_problem *problem) {
    tess_value element = {0}, back = {0};
    const size_t size = tess_type_size(problem->work);
    tess_storer(TESS_SLOT_BASELINE, problem->work, frame->pass->from)(&element, frame->in, &problem->work_constant, 1);
    tess_loader(TESS_SLOT_BASELINE, frame->pass->from, problem->work)(&back, &element, frame->in, 1);
    memcpy(&frame->ghost, &element, sizeof frame->ghost);
    frame->representable = problem->boundary != TESS_BOUNDARY_CONSTANT || memcmp(&back, &problem->work_constant, size) == 0;
}

/* Whether one bounce finds every element (gpu_window.cuh): masks are no longer than the axis, or, of few rows or planes, reach no further out than their other end is. Lists go in parts then, which is as quick or quicker
 * (gpu_mixed.c), and an axis of a single element is left to `short_rows`, which has it once. */
static bool short_enough(const tess_correlate_axis *a, const tess_correlate_pass *pass, bool rows, const tess_correlate_problem *problem) {
    const int64_t reach = tess_max64(a->before, a->m - a->n + a->width - 1 - a->before);
    if (problem->boundary == TESS_BOUNDARY_CONSTANT || a->width <= a->n)
        return true;
    if (pass->ndim == 3 &&
        problem->in.itemsize >
            2) /* measured: 4 planes of f32 by 5 x 5 x 5, where `brick` is quicker by a sixth; of 6 planes of bytes it takes twice as long */
        return false;
    return problem->direct && !rows && a->n > 1 &&
           (problem->boundary == TESS_BOUNDARY_NEAREST || reach <= a->n - (problem->boundary == TESS_BOUNDARY_MIRROR));
}

/* Axes of a list's masks are y and z even where a mask has one tap. */
static bool is_placed(const tess_correlate_pass *pass, int d) {
    for (int k = 0; k < pass->masked; k++)
        if (pass->order[k] == d)
            return true;
    return false;
}

/* y and z of the mask: as they follow each other before the row, else the finer one first. The order of all three: what has no mask stands where it may. */
static void place_axes(tess_correlate_frame *frame, int *at_y) {
    const tess_correlate_pass *pass = frame->pass;
    int place[] = {-1, -1}, known = 0;
    bool named[3] = {false};
    for (int k = pass->masked - 1; k >= 0; k--)
        if (pass->order[k] != pass->row)
            place[place[0] >= 0] = pass->order[k];
    if (frame->turned && place[1] >= 0 && llabs(pass->axis[place[1]].in_stride) < llabs(pass->axis[place[0]].in_stride)) {
        const int coarser = place[0];
        place[0] = place[1];
        place[1] = coarser;
    }
    *at_y = place[0];
    if (place[0] >= 0)
        frame->y = pass->axis[place[0]];
    if (place[1] >= 0)
        frame->z = pass->axis[place[1]];
    for (int k = 0; k < pass->masked; k++) {
        const int i = pass->order[k] == pass->row ? 0 : pass->order[k] == place[0] ? 1 : 2;
        frame->order[known++] = i;
        named[i] = true;
    }
    for (int i = 2; i >= 0; i--)
        if (!named[i])
            frame->order[known++] = i;
}

bool tess_correlate_frame_of(tess_correlate_frame *frame, const tess_correlate_problem *problem, const tess_correlate_pass *pass, int others,
                             const char **why) {
    *why = "needs a mask whose last axis runs along rows";
    return pass->row_last && tess_correlate_frame_of_any(frame, problem, pass, others, why);
}

bool tess_correlate_frame_of_any(tess_correlate_frame *frame, const tess_correlate_problem *problem, const tess_correlate_pass *pass, int others,
                                 const char **why) {
    static const tess_correlate_axis single = {1, 1, 0, 0, 1, 0};
    const tess_correlate_axis *row = &pass->axis[pass->row];
    *frame = (tess_correlate_frame){.pass = pass, .x = *row, .y = single, .z = single, .turned = !pass->row_last, .arrays = 1};
    frame->in = (int64_t)tess_type_size(pass->from);
    frame->out = (int64_t)tess_type_size(pass->to);
    *why = "computes in f32 and f64";
    if ((problem->work != tess_f32 && problem->work != tess_f64) || tess_is_complex(pass->from) || tess_is_complex(pass->to))
        return false;
    *why = "needs rows without gaps";
    if (row->in_stride != frame->in * pass->group || row->out_stride != frame->out * pass->group)
        return false;
    *why = "needs another number of masked axes";
    if (pass->masked - (row->width > 1) > others)
        return false;
    int at_y;
    place_axes(frame, &at_y);
    *why = "needs a mask that is no longer than the array, or, beside rows, reaches no further than its other end";
    for (int d = 0; d < pass->ndim; d++) {
        const tess_correlate_axis *a = &pass->axis[d];
        if (!short_enough(a, pass, d == pass->row, problem))
            return false;
        if (d != pass->row && a->width == 1 && !is_placed(pass, d))
            frame->batch_axis[frame->batch++] = d;
    }
    if (others > 0 && at_y < 0 && frame->batch > 0) /* rows of arrays side by side are as good as rows of one */
        frame->y = pass->axis[frame->batch_axis[--frame->batch]];
    *why = "needs fewer arrays, or shorter axes";
    for (int b = 0; b < frame->batch; b++)
        if (TESS_MUL_OVERFLOWS(frame->arrays, pass->axis[frame->batch_axis[b]].m, &frame->arrays))
            return false;
    if (TESS_MUL_OVERFLOWS(frame->x.n, pass->group, &frame->x.n) || TESS_MUL_OVERFLOWS(frame->x.m, pass->group, &frame->x.m))
        return false;
    if (others > 0 && ((others > 1 && frame->arrays > ARRAYS) || frame->x.n > AXIS || frame->x.m > AXIS || frame->y.n > AXIS || frame->y.m > AXIS ||
                       frame->z.n > AXIS || frame->z.m > AXIS || frame->x.before > AXIS || frame->y.before > AXIS || !few_tiles(frame)))
        return false;
    *why = "needs a constant that the input's type can hold";
    frame->boundary = problem->boundary;
    find_ghost(frame, problem);
    if (!frame->representable)
        return false;
    *why = "needs elements to lie at whole steps";
    for (int d = 0; d < pass->ndim; d++)
        if (pass->axis[d].in_stride % frame->in || pass->axis[d].out_stride % frame->out)
            return false;
    *why = "needs an input with elements";
    return pass->inputs > 0;
}

bool tess_correlate_frame_whole(const tess_correlate_frame *frame, const char **why) {
    const tess_correlate_pass *pass = frame->pass;
    *why = "needs rows that begin at multiples of 16 bytes";
    for (int d = 0; d < pass->ndim; d++)
        if (d != pass->row && ((pass->axis[d].n > 1 && pass->axis[d].in_stride % 16) || (pass->axis[d].m > 1 && pass->axis[d].out_stride % 16)))
            return false;
    return true;
}

int64_t tess_correlate_frame_shifted(const tess_correlate_frame *f, int64_t columns) {
    const int64_t before = f->x.before * f->pass->group, after = (f->x.width - 1 - f->x.before) * f->pass->group;
    const int64_t most = tess_ceil_div(columns - 1 + before + after, columns), least = tess_ceil_div(columns - 2 + before + after, columns);
    return (31 - (before > 0 ? least : most)) * columns;
}

bool tess_correlate_frame_planes(const tess_correlate_frame *f, bool whole, const char **why) {
    const int64_t copy = whole ? 16 : f->in, in = f->y.in_stride / copy * f->y.n, out = whole ? 0 : f->y.out_stride / f->out * f->y.m;
    *why = "takes planes of at most 16 GiB (rows that begin anywhere: 2^30 elements)";
    return in <= 1 << 30 && in >= -(1 << 30) && out <= 1 << 30 && out >= -(1 << 30);
}

int64_t tess_correlate_frame_ring(const tess_correlate_frame *f, bool whole, int64_t tile, int64_t columns, int64_t before, int64_t after,
                                  int64_t away) {
    const int64_t vector = 16 / f->in, sector = whole ? 2 * vector : vector, read = tess_min64(columns, vector);
    return up_to(up_to(up_to(before, read) + away, sector) - away + tile + up_to(after, read), sector);
}

bool tess_correlate_frame_copies(const tess_correlate_frame *f, bool whole, int64_t row, int64_t rows, int64_t threads, int64_t along) {
    const int64_t copy = whole ? 16 / f->in : tess_max64(1, 4 / f->in);
    const int64_t across = whole ? tess_min64(row / copy, f->in < 4 ? threads : along) : 32;
    const int64_t loose = (whole || f->in >= 4 ? 1 : 2) * copy + (f->x.before + f->x.width - 1) * f->pass->group;
    const int64_t bits = tess_ceil_div(row / copy, across) + tess_ceil_div(loose, across);
    return bits + (whole ? tess_ceil_div(rows, threads / across) : 0) < 32; /* rows that begin anywhere are no bits */
}

bool tess_correlate_frame_many(const tess_correlate_frame *f) { return f->x.m * f->y.m * f->z.m * f->arrays >= TESS_CORRELATE_MANY; }

int64_t tess_correlate_frame_parameters(const tess_correlate_frame *frame, int64_t weights) {
    return 32 + 8 * (10 + 3 * (frame->batch + 1) + 5) + 16 + weights * (int64_t)(frame->pass->size / (size_t)frame->pass->taps);
}

void tess_correlate_frame_options(tess_gpu_layout *layout, tess_type work, const tess_correlate_frame *frame, bool whole) {
    tess_gpu_option(layout, "-DIN=%d", (int)frame->pass->from);
    tess_gpu_option(layout, "-DOUT=%d", (int)frame->pass->to);
    tess_gpu_option(layout, "-DWORK=%d", (int)work);
    tess_gpu_option(layout, "-DKX=%d", (int)frame->x.width);
    tess_gpu_option(layout, "-DBEFORE=%d", (int)frame->x.before);
    tess_gpu_option(layout, "-DGROUP=%d", (int)frame->pass->group);
    tess_gpu_option(layout, "-DBATCH=%d", frame->batch);
    tess_gpu_option(layout, "-DWHOLE=%d", whole);
    if (whole)
        layout->alignment = 16;
}

void tess_correlate_frame_pass(tess_gpu_layout *layout, tess_gpu_step *step, const tess_correlate_frame *f) {
    int64_t block[15 + 3 * (TESS_MAX_NDIM + 1)] = {f->x.n, f->y.n, f->z.n, f->x.m, f->y.m, f->z.m}, *at = block + 6;
    static const int32_t rules[][6] = {[TESS_BOUNDARY_CONSTANT] = {0, -1, 0, -1, 0, -1},
                                       [TESS_BOUNDARY_NEAREST] = {0, 0, 0, -1, 1, 0},
                                       [TESS_BOUNDARY_REFLECT] = {-1, -1, 0, -1, 2, 0},
                                       [TESS_BOUNDARY_MIRROR] = {-1, 0, 0, -2, 2, 0},
                                       [TESS_BOUNDARY_WRAP] = {1, 0, 1, 0, -1, 0}};
    int32_t rest[8] = {(int32_t)f->y.before, (int32_t)f->z.before};
    memcpy(rest + 2, rules[f->boundary], sizeof rules[0]);
    const tess_correlate_axis *axis = f->pass->axis;
    *at++ = f->y.in_stride / f->in;
    *at++ = f->z.in_stride / f->in;
    *at++ = f->y.out_stride / f->out;
    *at++ = f->z.out_stride / f->out;
    for (int b = 0; b <= f->batch; b++)
        *at++ = b < f->batch ? axis[f->batch_axis[b]].m : 0;
    for (int b = 0; b <= f->batch; b++)
        *at++ = b < f->batch ? axis[f->batch_axis[b]].in_stride / f->in : 0;
    for (int b = 0; b <= f->batch; b++)
        *at++ = b < f->batch ? axis[f->batch_axis[b]].out_stride / f->out : 0;
    memcpy(at++, &f->ghost, sizeof f->ghost);
    memcpy(at, rest, sizeof rest);
    at += 4;
    tess_gpu_pass(layout, step, block, (size_t)(at - block) * sizeof *block);
}

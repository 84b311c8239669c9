/* SPDX-License-Identifier: Apache-2.0
 * gpu_line_rows.c - the production row of short masks along long rows of narrow elements: what it takes, and its launch. */
#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/packed.h"

KERNEL_TEXT(gpu_line);

enum { THREADS = LINE_THREADS, BESIDE = LINE_BESIDE, LONG_ROW = 1 << 16 };

line_shape tess_correlate_line_of(const tess_problem *base, const tess_correlate_frame *f) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    line_shape s = {.vectors = 2, .blocks = 10}; /* all as measured on an H200 */
    s.bytes = p->packed && f->in == 1 && f->pass->group == 1 && bytes_of(p, f, s.taps.words);
    s.raised = !s.bytes && f->pass->from == tess_u8 && raise_mask(f, s.taps.weights);
    if (!s.bytes && f->in == 1) { /* arithmetic binds: weights are loaded once for some vectors */
        s.vectors = f->x.width > 7 ? 4 : f->x.width > 4 ? 3 : 1;
        s.blocks = 16;
    }
    return s;
}

static bool line_takes(const tess_problem *base, bool whole, const char **why) {
    tess_correlate_frame f;
    if (!frame_of(&f, base, 0, whole, why))
        return false;
    *why = "takes elements of 1 and 2 bytes, results of as many, and masks along rows of at most 8 elements on either side of the output";
    if (f.in > 2 || f.out != f.in || before(&f) > BESIDE || after(&f) > BESIDE || f.arrays > (int64_t)GRID * GRID ||
        tess_ceil_div(f.x.m, 1024) > INT32_MAX)
        return false;
    *why = "makes sums of f32, or of 32 bits of bytes by bytes";
    return work_size(base) == 4 || tess_correlate_line_of(base, &f).bytes;
}

bool tess_correlate_line_pays(const tess_problem *base, const char **why) {
    const tess_correlate_frame f = known_frame(base, 0);
    *why = "rows of fewer than 65536 elements have too many ends";
    return f.x.m >= LONG_ROW;
}

static void lay_line(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const tess_correlate_frame f = known_frame(base, 0);
    const line_shape s = tess_correlate_line_of(base, &f);
    const int64_t planes = tess_ceil_div(f.arrays, GRID), tile = s.vectors * THREADS * (16 / f.in);
    const int64_t blocks = device && device->major > 9 ? tess_min64(s.blocks, 10) : s.blocks; /* of 32 registers the assembler spills there */
    tess_gpu_unit(layout, &gpu_line);
    tess_correlate_frame_options(layout, s.bytes ? tess_i32 : tess_f32, &f, true);
    tess_gpu_option(layout, "-DVECTORS=%d", (int)s.vectors);
    tess_gpu_option(layout, "-DTHREADS=%d", THREADS);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)blocks);
    tess_gpu_option(layout, "-DRAISED=%d", s.raised);
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, "line", tess_ceil_div(f.x.m, tile), tess_ceil_div(f.arrays, tess_max64(planes, 1)), planes, THREADS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_correlate_frame_pass(layout, step, &f);
    tess_gpu_pass_i32(layout, step, (int32_t)f.arrays);
    if (s.bytes)
        tess_gpu_pass(layout, step, s.taps.words, sizeof *s.taps.words * (size_t)groups_of(&f));
    else
        tess_gpu_pass(layout, step, s.raised ? s.taps.weights : f.pass->weights, f.pass->size);
}

ROW(line, line_takes, true, .predict = tess_correlate_predict_line);

/* SPDX-License-Identifier: Apache-2.0
 * fused.c - which separable problems cpu_fused.c takes, and the sizes of its
 * scratch. */
#include "ops/correlate/fused.h"

#include <string.h>

enum { SCRATCH_LIMIT = 4 << 20, LEAST_COLUMNS = 128, PAGE = 4096, ROW_APART = 640 };

static int64_t round_up(int64_t n, int64_t to) { return tess_ceil_div(n, to) * to; }

/* A row of ghost cells is then a row of u8 too. */
static bool constant_is_byte(const tess_correlate_problem *problem) {
    const float constant = problem->work_constant.f32, byte = constant >= 0 && constant <= 255 ? (float)(uint8_t)constant : -1;
    return memcmp(&constant, &byte, sizeof byte) == 0;
}

bool tess_correlate_fused_of(tess_correlate_fused *f, const tess_correlate_problem *problem) {
    const int64_t width = (int64_t)tess_type_size(problem->work);
    if (problem->passes_count != 2 || (problem->work != tess_f32 && problem->work != tess_f64))
        return false;
    const tess_correlate_pass *column = &problem->passes[0], *row = &problem->passes[1];
    if (column->ndim != 2 || row->ndim != 2 || column->slab != 0 || row->slab != 0 || column->row != 1 || row->row != 1 || column->group != 1 ||
        column->axis[1].width != 1 || row->axis[0].width != 1 || column->axis[0].m < TESS_FUSED_LEAST || column->axis[1].m < LEAST_COLUMNS)
        return false;
    const tess_correlate_axis *across = &row->axis[1];
    if (column->axis[0].width > SCRATCH_LIMIT || across->width * row->group > SCRATCH_LIMIT || column->axis[1].m > SCRATCH_LIMIT)
        return false;
    f->length = column->axis[1].m;
    f->left = across->before * row->group;
    f->right = (across->m + across->width - 1 - across->before - across->n) * row->group;
    f->left = round_up(tess_max64(f->left, 0), 64 / width);
    f->right = tess_max64(f->right, 0);
    f->met = TESS_FUSED_ROWS + column->axis[0].width - 1;
    f->bytes = column->from == tess_u8 && problem->work == tess_f32 && column->axis[1].in_stride == 1 && constant_is_byte(problem);
    f->in_place = f->bytes || (column->from == problem->work && column->axis[1].in_stride == width);
    f->row_bytes = round_up((f->left + f->length + f->right) * width + TESS_FUSED_SLACK, 64);
    /* A load waits for an earlier store whose address agrees in its last 12 bits: what is loaded from one row is stored to none of the others' places. */
    f->row_bytes += (PAGE + ROW_APART - f->row_bytes % PAGE) % PAGE;
    const int64_t pointers = round_up((f->met + TESS_FUSED_ROWS) * (int64_t)sizeof(char *), 64);
    f->copies = pointers;
    f->between = f->copies + (f->in_place ? 0 : f->met * f->row_bytes);
    f->ghost = f->between + TESS_FUSED_ROWS * f->row_bytes;
    f->sums = f->ghost + f->row_bytes;
    f->scratch = (size_t)(f->sums + TESS_FUSED_ROWS * TESS_FUSED_SUMS);
    return f->scratch <= SCRATCH_LIMIT;
}

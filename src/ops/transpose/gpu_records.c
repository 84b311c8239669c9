/* SPDX-License-Identifier: Apache-2.0
 * gpu_records.c - the row transpose/records: matrices with one short side whose elements follow each other without gaps, its launches (gpu_split.cu, gpu_merge.cu).
 *
 * Colours of pixels, complex numbers, structures of equal members: N x C becomes C x N, or back, also a batch of such, as images of a stack. */
#include "ops/transpose/gpu_predict.h"

#define KERNEL_TEXT(file)                                  \
    extern const char tess_kernel_transpose_##file##_cu[]; \
    static const tess_gpu_text file = {"transpose/" #file ".cu", tess_kernel_transpose_##file##_cu}
KERNEL_TEXT(gpu_split);
KERNEL_TEXT(gpu_merge);
extern const char tess_kernel_transpose_gpu_plane_cuh[], tess_kernel_transpose_gpu_piece_cuh[], tess_kernel_transpose_gpu_records_cuh[];
static const tess_gpu_text plane_header = {"ops/transpose/gpu_plane.cuh", tess_kernel_transpose_gpu_plane_cuh},
                           piece_header = {"ops/transpose/gpu_piece.cuh", tess_kernel_transpose_gpu_piece_cuh},
                           records_header = {"ops/transpose/gpu_records.cuh", tess_kernel_transpose_gpu_records_cuh};
static const tess_gpu_text *const headers[] = {&plane_header, &piece_header, &records_header, NULL};

enum {
    LONGEST = 128 /* elements of a record */
};

static bool records_of(const transpose_plane *plane, int64_t size, transpose_gpu_records *r, const char **why) {
    const transpose_plane m = *plane;
    const bool in = m.q_in == m.p_size * size, out = m.p_out == m.q_size * size;
    *why = "needs short rows that follow each other without a gap, of in or of out";
    if (!in && !out)
        return false;
    r->split = in && (!out || m.p_size < m.q_size);
    r->c = r->split ? m.p_size : m.q_size;
    r->length = r->split ? m.q_size : m.p_size;
    *why = "needs 2 to 128 elements in a short row";
    if (r->c < 2 || r->c > LONGEST)
        return false;
    r->across = r->c == 2 ? 2 : r->c % 32 == 0 ? 16 : r->c % 16 == 0 || r->c % 4 == 2 ? 8 : 4;
    r->spare = r->c == 2 || r->c % 4 == 0;
    r->vectors = r->c <= 4 ? 256 : r->c <= 8 ? 128 : r->c <= 48 ? 64 : 32; /* pieces of some 16 KiB */
    r->threads = r->c <= 48 ? 128 : 256;
    return true;
}

bool tess_transpose_gpu_records_of(const tess_problem *base, transpose_gpu_records *r, const char **why) {
    transpose_plane m;
    return tess_transpose_gpu_plane_of(base, &m, why) && records_of(&m, ((const transpose_problem *)base)->size, r, why);
}

int64_t tess_transpose_gpu_records_tiles(const transpose_gpu_records *r, int64_t size) {
    const int64_t v = 16 / size, record = r->c * size;
    return r->split ? tess_ceil_div(r->length + 32 / size - 1, r->vectors * v)
                    : tess_ceil_div(r->length * record + 31, (r->vectors - 2) * v * record);
}

bool tess_transpose_gpu_records_fit(const tess_problem *base, const char **why) {
    transpose_gpu_records r;
    return tess_transpose_gpu_records_of(base, &r, why);
}

static bool pay(const transpose_gpu_records *of, int64_t size, const char **why) {
    const transpose_gpu_records r = *of;
    *why = "needs long rows of 1 KiB";
    if (r.length * size < 1024)
        return false;
    /* rows that are whole vectors have squares turned in registers, where they fill those tiles */
    *why = "where rows are whole vectors and records long, squares of vectors are faster";
    const int64_t record = r.c * size;
    return record % 16 != 0 || r.length * size % 16 != 0 || record < 128 || (!r.split && size == 8 && record == 128);
}

bool tess_transpose_gpu_records_pay(const tess_problem *base, const char **why) {
    transpose_gpu_records r;
    return tess_transpose_gpu_records_of(base, &r, why) && pay(&r, ((const transpose_problem *)base)->size, why);
}

bool tess_transpose_gpu_records_for(const transpose_gpu_matrices *m, transpose_gpu_records *r) {
    const char *why;
    return records_of(&m->plane, m->size, r, &why) && pay(r, m->size, &why);
}

void tess_transpose_gpu_records_launch(const transpose_gpu_matrices *of, tess_gpu_layout *layout) {
    const char *why;
    transpose_gpu_records r;
    const transpose_gpu_matrices m = *of;
    if (!records_of(&m.plane, m.size, &r, &why))
        return;
    const int64_t v = 16 / m.size, record = r.c * m.size, more = 32 / m.size, tiles = tess_transpose_gpu_records_tiles(&r, m.size);
    int64_t room = r.split ? (r.vectors * v + more) * record + 16 : tess_ceil_div(16 * r.c + record, 16) * 16 + r.vectors * v * record + 32;
    room += r.spare * (room / 128 + 1) * 16;
    tess_gpu_unit(layout, r.split ? &gpu_split : &gpu_merge);
    tess_gpu_option(layout, "-DSIZE=%d", (int)m.size);
    tess_gpu_option(layout, "-DBATCH=%d", m.plane.ndim);
    tess_gpu_option(layout, "-DC=%d", (int)r.c);
    tess_gpu_option(layout, "-DACROSS=%d", (int)r.across);
    tess_gpu_option(layout, "-DSPARE=%d", (int)r.spare);
    tess_gpu_option(layout, "-DROWS=%d", (int)r.vectors);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)r.threads);
    tess_gpu_step *step = tess_gpu_launch_of(layout, r.split ? "split" : "merge", tiles * m.plane.count, 1, 1, (int)r.threads, room);
    tess_transpose_gpu_pass(layout, step, &m, NULL, 0);
    layout->alignment = m.size;
}

static void lay_records(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    (void)device;
    tess_transpose_gpu_records_launch(&m, layout);
}

const tess_gpu_row tess_transpose_gpu_records_row = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_records, .predict = tess_transpose_predict_records};

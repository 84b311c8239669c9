/* SPDX-License-Identifier: Apache-2.0
 * gpu_prepared_slices.c - the row lookup/prepared_slices: slices of 2 to 16 elements at compact coordinates; its launches, and what they count. */
#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_prepared_slices);

enum {
    THREADS = LOOKUP_GPU_LINE_THREADS,
    GROUPS = 4,
    MOST = 16 /* elements of a slice */,
    MOST_BYTES = 64,
    POINTS = THREADS * GROUPS /* of a block */
};

typedef struct shape {
    int64_t wide, bytes, pitch, read, vector; /* elements and bytes of a slice; bytes between slices of records, of a read and of a write of them */
    bool whole;                               /* a slice is a vector */
} shape;

/* Entries that lie in a record as they are. */
static bool is_raw(const lookup_problem *p) {
    const tess_type from = p->from;
    return p->interpolation == TESS_INTERPOLATE_LINEAR && !tess_is_bool(from) && !tess_is_complex(from) && tess_type_size(from) <= 2;
}
static int64_t record_size(const lookup_problem *p) { return is_raw(p) ? 2 * (int64_t)tess_type_size(p->from) : tess_lookup_gpu_record_size(p); }

/* As the kernel has it. */
static shape shape_of(const lookup_problem *p) {
    const int64_t wide = p->inner.count, record = wide * record_size(p);
    shape s = {.wide = wide, .bytes = wide * p->size, .vector = 16};
    s.pitch = record > 8 ? tess_ceil_div(record, 16) * 16 : record > 4 ? 8 : record > 2 ? 4 : record;
    s.read = tess_min64(s.pitch, 16);
    s.whole = s.bytes <= 16 && (s.bytes & (s.bytes - 1)) == 0;
    while (p->outer.ndim && p->outer.stride[LOOKUP_OUT][0] % s.vector != 0)
        s.vector /= 2;
    s.vector = tess_max64(s.vector, p->size);
    return s;
}

bool tess_lookup_gpu_prepared_slices_fit(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    const lookup_axes *outer = &p->outer, *at = &p->at, *inner = &p->inner;
    if (!tess_lookup_gpu_points_fit(base, why) || !tess_lookup_something_to_do(p, why))
        return false;
    *why = "needs slices of 2 to 16 elements and at most 64 bytes, coordinates and an out without gaps, and at most one axis before the table's";
    const int64_t slice = inner->count * p->size;
    if (inner->ndim != 1 || inner->count > MOST || slice > MOST_BYTES || inner->stride[LOOKUP_OUT][0] != p->size || outer->ndim > 1 ||
        (at->ndim != 0 && (at->ndim != 1 || at->stride[LOOKUP_FROM][0] != p->index.itemsize || at->stride[LOOKUP_OUT][0] != slice)))
        return false;
    *why =
        "needs lines of out whole slices apart where a slice is one vector, or whole elements, and fewer than 2^26 elements of the table to prepare";
    const shape s = shape_of(p);
    return (outer->ndim == 0 || outer->stride[LOOKUP_OUT][0] % (s.whole ? s.bytes : p->size) == 0) &&
           p->n <= (1 << 26) / (inner->count * outer->count);
}

bool tess_lookup_gpu_prepared_slices_pay(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    enum { MOST_PAID = 96 }; /* of a slice; of 128, 160 and 176 `points` took less (notes-gpu.md) */
    *why = "prepared slices pay when they have at most 96 bytes each, stay in the caches and have more points than a quarter of their number, on "
           "lines twice as many, and 512 or more";
    return shape_of(p).pitch <= MOST_PAID && p->n * shape_of(p).pitch <= 1 << 20 && p->at.count >= p->n / 4 &&
           (p->outer.count == 1 || (p->at.count >= POINTS && p->at.count >= 2 * p->n));
}

static void lay_prepared_slices(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    const int64_t lines = p->outer.count, items = p->n * lines * (s.pitch / record_size(p)), blocks = tess_ceil_div(p->at.count, POINTS);
    const int64_t table[] = {p->n, p->step, p->inner.stride[LOOKUP_FROM][0], tess_lookup_stride(&p->outer, LOOKUP_FROM), lines};
    const int64_t points[] = {p->at.count, blocks, tess_lookup_stride(&p->outer, LOOKUP_OUT), p->n * s.pitch};
    (void)device;
    tess_lookup_gpu_begin_points(layout, p, &gpu_prepared_slices);
    tess_gpu_option(layout, "-DEACH=%d", (int)s.wide);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DPARTS=%d", p->parts);
    tess_gpu_option(layout, "-DRAW=%d", is_raw(p));
    tess_gpu_option(layout, "-DVECTOR=%d", (int)s.vector);
    tess_gpu_option(layout, "-DGROUPS=%d", GROUPS);
    tess_gpu_option(layout, "-DTHREADS=%d", THREADS);
    tess_gpu_option(layout, "-DLINES=%d", p->outer.ndim);
    const int64_t records = tess_gpu_reserve(layout, p->n * lines * s.pitch);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "prepare", tess_ceil_div(items, 256), 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, records);
    tess_gpu_pass(layout, step, table, sizeof table);
    step = tess_gpu_launch_of(layout, "prepared_slices", blocks * lines, 1, 1, THREADS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, records);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_SECOND, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_MARK, 0);
    tess_gpu_pass(layout, step, &p->n, sizeof p->n);
    tess_gpu_pass(layout, step, points, sizeof points);
    tess_gpu_pass(layout, step, p->fill, sizeof p->fill);
    layout->alignment = tess_max64(s.whole ? s.bytes : s.vector, p->index.itemsize);
}

/* Which sectors of the records a point wants depends on its coordinate; how many elements of a slice go to shared memory at once is the compiler's choice. */
void tess_lookup_gpu_predict_prepared_slices(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    const int64_t lines = p->outer.count, count = p->at.count, record = record_size(p), items = p->n * lines * (s.pitch / record),
                  width = s.whole ? s.bytes : s.vector, turns = s.whole ? GROUPS : tess_ceil_div(GROUPS * s.bytes, s.vector);
    const double warps = (double)(tess_ceil_div(count, 32 * GROUPS) * lines);
    int64_t address[32];
    tess_gpu_count_from_zero(out);
    out->flops = out->constant_requests = -1;
    for (int64_t first = 0; first < items && items <= 1 << 20; first += 32)
        for (int64_t k = 0; k < record; k += 16) {
            for (int64_t lane = 0; lane < 32; lane++) {
                const int64_t item = first + lane;
                address[lane] = item < items ? TESS_GPU_ORIGIN + item * record + k : -1;
            }
            tess_gpu_count_global(out, 1, address, tess_min64(record, 16), true);
        }
    for (int64_t warp = 0; warp < tess_ceil_div(count, 32 * GROUPS); warp++) { /* whole ones count alike */
        const int64_t whole = count / (32 * GROUPS), bytes = tess_min64(count - warp * 32 * GROUPS, 32 * GROUPS) * s.bytes;
        const double times = (double)(lines * (warp < whole ? whole : 1));
        for (int64_t t = 0; t < turns; t++) {
            for (int64_t lane = 0; lane < 32; lane++) {
                const int64_t at = (t * 32 + lane) * width;
                address[lane] = at + width <= bytes ? TESS_GPU_ORIGIN + at : -1;
            }
            tess_gpu_count_global(out, times, address, width, true);
        }
        for (int64_t at = bytes / width * width; at < bytes; at += 32 * p->size) {
            for (int64_t lane = 0; lane < 32; lane++)
                address[lane] = at + lane * p->size < bytes ? TESS_GPU_ORIGIN + at + lane * p->size : -1;
            tess_gpu_count_global(out, times, address, p->size, true);
        }
        if (warp < whole)
            warp = whole - 1;
    }
    out->global_ld_requests = (double)(tess_ceil_div(items, 32) * tess_lookup_parts(p)) + warps * (double)(GROUPS * (1 + s.pitch / s.read));
    out->global_ld_sectors = -1;
    if (items > 1 << 20)
        out->global_st_requests = -1;
    if (items > 1 << 20 || (p->outer.ndim && p->outer.stride[LOOKUP_OUT][0] % 32 != 0))
        out->global_st_sectors = -1;
    if (!s.whole)
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = out->shared_st_requests = out->shared_st_wavefronts =
            out->shared_st_conflicts = -1;
}

const tess_gpu_row tess_lookup_gpu_prepared_slices = {.headers = tess_lookup_gpu_headers,
                                                      .production = true,
                                                      .least_arch = 80,
                                                      .lay_out = lay_prepared_slices,
                                                      .predict = tess_lookup_gpu_predict_prepared_slices,
                                                      .finish = tess_lookup_gpu_finish};

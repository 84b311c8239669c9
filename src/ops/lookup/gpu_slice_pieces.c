/* SPDX-License-Identifier: Apache-2.0
 * gpu_slice_pieces.c - the row lookup/slice_pieces: slices of 4 bytes to 640 that whole vectors do not fit; its launch, and what it counts. */
#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_slice_pieces);

enum {
    THREADS = 128,
    LEAST = 4,
    MOST = 640 /* bytes of a slice */,
    ROOM = 640 /* vectors of a block */,
    MOST_SLICES = 256,
    CACHED = 16 << 10 /* bytes */
};

typedef struct shape {
    int64_t slice, size, vectors, each; /* bytes, of what steps are multiples; vectors that a slice touches at most, slices of a block */
} shape;

static shape shape_of(const lookup_problem *p) {
    shape s = {.slice = p->inner.count * p->size, .size = tess_lookup_gpu_slice_vector(p), .each = MOST_SLICES};
    s.vectors = (s.slice + 16 - s.size + 15) / 16;
    while (s.each * s.vectors > ROOM && s.each > 16)
        s.each /= 2;
    return s;
}

bool tess_lookup_gpu_slice_pieces_fit(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    if (!tess_lookup_gpu_slices_fit(base, why))
        return false;
    *why = "needs slices of 4 to 640 bytes that are no whole vectors of 16";
    const shape s = shape_of(p);
    return s.slice >= LEAST && s.slice <= MOST && s.size < 16;
}

/* Measured on an H200 (notes-gpu.md): bytes of 13 and 101 and 33 words pay, 3 words, 3 and 25 vectors of 8 bytes do not. */
bool tess_lookup_gpu_slice_pieces_pay(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    *why = "needs 2^16 slices, of at least 8 bytes, where steps are single bytes, 24 where they are of 2 and 128 where they are of 4";
    return p->outer.count * p->at.count >= 1 << 16 && s.size <= 4 && s.slice >= (s.size == 1 ? 8 : s.size == 2 ? 24 : 128);
}

static void lay_slice_pieces(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    const int64_t reach = (p->n - 1) * p->step, line = p->outer.ndim ? p->outer.stride[LOOKUP_FROM][0] : 0, lines = (p->outer.count - 1) * line;
    const int64_t low = tess_min64(0, reach) + tess_min64(0, lines), high = tess_max64(0, reach) + tess_max64(0, lines) + s.slice;
    const int64_t all = p->outer.count * p->at.count, slices[] = {p->n, p->step, p->at.count, low, high, line, all};
    (void)device;
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, &gpu_slice_pieces);
    tess_gpu_option(layout, "-DSLICE=%d", (int)s.slice);
    tess_gpu_option(layout, "-DSIZE=%d", (int)s.size);
    tess_gpu_option(layout, "-DEACH=%d", (int)s.each);
    tess_gpu_option(layout, "-DTHREADS=%d", THREADS);
    tess_gpu_option(layout, "-DLINES=%d", p->outer.ndim);
    tess_gpu_option(layout, "-DCACHED=%d", p->n * tess_max64(s.slice, p->step < 0 ? -p->step : p->step) <= CACHED);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "slice_pieces", tess_ceil_div(all, s.each), 1, 1, THREADS, 0);
    tess_lookup_gpu_pass_call(layout, step, p, slices, sizeof slices);
    layout->alignment = 16;
}

/* What comes from the table depends on the indices. */
void tess_lookup_gpu_predict_slice_pieces(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    const int64_t all = p->outer.count * p->at.count, bytes = all * s.slice, rest = bytes % 16 / s.size, blocks = tess_ceil_div(all, s.each);
    const int64_t vectors = s.each * s.slice / 16, left = (bytes - (blocks - 1) * s.each * s.slice) / 16;
    tess_gpu_count_from_zero(out);
    out->constant_requests = out->global_ld_requests = out->global_ld_sectors = -1;
    out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = -1;
    out->global_st_requests = (double)((blocks - 1) * tess_ceil_div(vectors, 32) + tess_ceil_div(left, 32) + rest);
    out->global_st_sectors = (double)(tess_ceil_div(bytes / 16, 2) + rest);
    out->barriers = (double)(blocks * 2 * THREADS / 32);
}

const tess_gpu_row tess_lookup_gpu_slice_pieces = {.headers = tess_lookup_gpu_headers,
                                                   .production = true,
                                                   .least_arch = 80,
                                                   .lay_out = lay_slice_pieces,
                                                   .predict = tess_lookup_gpu_predict_slice_pieces,
                                                   .finish = tess_lookup_gpu_finish};

/* SPDX-License-Identifier: Apache-2.0
 * gpu_line_points.c - the row lookup/line_points: many lines of a table by the same coordinates, each in shared memory; its launch, and what it counts. */
#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_line_points);

enum {
    MOST = 16 /* elements of a slice */,
    MOST_BYTES = 96 << 10 /* of a line: a multiprocessor holds two */,
    STRETCH = 24 << 10 /* bytes of short lines that go together, measured: 12 KiB 0.085 ms for 0.065, 48 as 24 */,
    MOST_LINES = 16,
    BLOCKS_THAT_FILL = 1024,
    MOST_THREADS = 256,
    LEAST_THREADS = 64,
    VECTOR = 16
};

typedef struct shape {
    int64_t each, line, bytes; /* elements of a slice; bytes from line to line of the table, of a line */
    int64_t v, store;          /* points of a thread at once, bytes of its stores */
    int64_t served, blocks, room;
    int threads;
} shape;

static shape shape_of(const lookup_problem *p) {
    shape s = {.each = p->inner.count, .line = tess_lookup_stride(&p->outer, LOOKUP_FROM), .v = 1, .served = 1};
    const int64_t slice = s.each * p->size, out_line = tess_lookup_stride(&p->outer, LOOKUP_OUT), points = p->at.count;
    s.bytes = p->n * s.each * tess_lookup_from_size(p);
    while (slice * s.v % 4 != 0)
        s.v *= 2;
    for (s.store = VECTOR; s.store > p->size && (slice * s.v % s.store != 0 || out_line % s.store != 0);)
        s.store /= 2;
    s.threads = LEAST_THREADS;
    while (s.threads < MOST_THREADS && s.threads * s.v < points)
        s.threads *= 2;
    if (s.line <= s.bytes + s.bytes / 4)
        while (2 * s.served <= MOST_LINES && 2 * s.served * s.line <= STRETCH && p->outer.count / (2 * s.served) >= BLOCKS_THAT_FILL)
            s.served *= 2;
    s.blocks = tess_ceil_div(p->outer.count, s.served);
    s.room = ((s.served - 1) * s.line + s.bytes + 30) / 16 * 16;
    return s;
}

bool tess_lookup_gpu_line_points_fit(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    const lookup_axes *outer = &p->outer, *at = &p->at, *inner = &p->inner;
    if (!tess_lookup_gpu_points_fit(base, why) || !tess_lookup_something_to_do(p, why))
        return false;
    *why = "needs one axis before the table's, lines of at most 96 KiB one behind the other, of slices of at most 16 elements, in table and out "
           "without gaps, and coordinates without gaps";
    const int64_t from = tess_lookup_from_size(p), slice = inner->count * p->size, bytes = p->n * inner->count * from;
    if (outer->ndim != 1 || inner->ndim > 1 || inner->count > MOST || p->step != inner->count * from || bytes > MOST_BYTES ||
        outer->stride[LOOKUP_FROM][0] < bytes || outer->stride[LOOKUP_FROM][0] % from != 0 || outer->stride[LOOKUP_OUT][0] % p->size != 0)
        return false;
    if (inner->ndim == 1 && (inner->stride[LOOKUP_FROM][0] != from || inner->stride[LOOKUP_OUT][0] != p->size))
        return false;
    return at->ndim == 0 || (at->ndim == 1 && at->stride[LOOKUP_FROM][0] == p->index.itemsize && at->stride[LOOKUP_OUT][0] == slice);
}

bool tess_lookup_gpu_line_points_pay(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    *why = "needs lines for every multiprocessor, and for each at least 32 points, and of each entry between a quarter and 8 points, which pay for "
           "its record";
    return p->outer.count >= 256 && p->at.count >= 32 && p->at.count >= p->n / 4 && p->at.count / 8 <= p->n;
}

static void lay_line_points(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    const int64_t lines[] = {
        p->n, p->at.count, p->outer.count, s.served, s.line / tess_lookup_from_size(p), tess_lookup_stride(&p->outer, LOOKUP_OUT)};
    (void)device;
    tess_lookup_gpu_begin_points(layout, p, &gpu_line_points);
    tess_gpu_option(layout, "-DEACH=%d", (int)s.each);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DPARTS=%d", p->parts);
    tess_gpu_option(layout, "-DV=%d", (int)s.v);
    tess_gpu_option(layout, "-DSTORE=%d", (int)s.store);
    tess_gpu_option(layout, "-DTHREADS=%d", s.threads);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "line_points", s.blocks, 1, 1, s.threads, s.room);
    tess_lookup_gpu_pass_call(layout, step, p, lines, sizeof lines);
    layout->alignment = tess_max64(s.store, tess_max64(tess_lookup_from_size(p), p->index.itemsize));
}

/* What points cost in shared memory depends on the coordinates; a thread asks for its V coordinates one by one. */
static void predict_line_points(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    const int64_t count = p->at.count, lines = p->outer.count, slice = s.each * p->size, whole = count / s.v, rest = count % s.v;
    const int64_t out_line = tess_lookup_stride(&p->outer, LOOKUP_OUT);
    tess_gpu_count_from_zero(out);
    out->flops = out->constant_requests = out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    for (int64_t first = 0; first < 128 && first < s.blocks; first++) { /* as in gpu_shared_lines.c */
        const int64_t at = first * s.served * s.line % 128, last = s.blocks - 1;
        tess_lookup_gpu_count_copy(out, (double)((last - first + 127) / 128), at, (s.served - 1) * s.line + s.bytes, tess_lookup_from_size(p));
        if (last % 128 == first)
            tess_lookup_gpu_count_copy(out, 1, at, (lines - last * s.served - 1) * s.line + s.bytes, tess_lookup_from_size(p));
    }
    out->barriers = (double)(s.blocks * s.threads / 32);
    const int64_t threads = tess_ceil_div(count, s.v); /* with something to do, in all turns */
    out->global_ld_requests += (double)(s.blocks * tess_ceil_div(threads, 32) * s.v);
    out->global_ld_sectors = -1;
    out->global_st_requests = (double)(lines * (tess_ceil_div(whole, 32) * (slice * s.v / s.store) + rest * s.each));
    out->global_st_sectors = -1;
    if (s.v == 1 && slice == s.store)
        out->global_st_sectors = tess_gpu_run_sectors(lines, 0, out_line, 32 * slice) * (double)(whole / 32) +
                                 tess_gpu_run_sectors(lines, 0, out_line, whole % 32 * slice);
}

const tess_gpu_row tess_lookup_gpu_line_points = {.headers = tess_lookup_gpu_headers,
                                                  .production = true,
                                                  .least_arch = 80,
                                                  .lay_out = lay_line_points,
                                                  .predict = predict_line_points,
                                                  .finish = tess_lookup_gpu_finish};

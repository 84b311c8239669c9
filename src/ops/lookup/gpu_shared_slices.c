/* SPDX-License-Identifier: Apache-2.0
 * gpu_shared_slices.c - the row lookup/shared_slices: slices of an odd number of bytes, or a few times that, by indices of 8 bits, and of any; its launches, and what it counts. */
#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_shared_slices);

enum {
    THREADS = 256,
    EACH = 32 /* lookups of a thread */,
    MOST_VECTORS = 7 /* whose room in shared memory needs no asking for */,
    LOOKUPS_OF_ENTRY_TO_PAY = 2,
    LAID_READY = 128 << 10 /* bytes of slices, which L1 holds: 64 KiB reach 88 % of a copy, 256 KiB 19, where slice_vectors has 31 */
};

typedef struct shape {
    int64_t wide, size, v, vectors; /* bytes of a slice and of what it is read by, lookups that make `vectors` vectors, an odd number */
    int64_t answer, each;           /* bytes of a slice laid ready, lookups of a thread */
    bool held;                      /* answers to all indices in shared memory */
} shape;

static shape shape_of(const lookup_problem *p) {
    shape s = {.wide = p->inner.count * p->size, .size = tess_lookup_gpu_slice_vector(p)};
    s.v = 16 / tess_gcd(16, s.wide);
    s.vectors = s.v * s.wide / 16;
    s.answer = s.wide <= 4 ? 4 : s.wide <= 8 ? 8 : 16;
    s.held = p->index.itemsize == 1;
    s.each = tess_max64(s.v, s.held ? EACH : EACH / 2);
    return s;
}

bool tess_lookup_gpu_shared_slices_fit(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    if (!tess_lookup_gpu_slices_fit(base, why))
        return false;
    *why = "needs one line of the table of fewer than 2^26 entries, and slices of 3, 5, 6, 7, 10, 12 or 14 bytes";
    const shape s = shape_of(p);
    return p->outer.ndim == 0 && p->n <= (s.held ? INT32_MAX : 1 << 26) && s.wide < 16 && s.vectors > 1 && s.vectors <= MOST_VECTORS;
}

bool tess_lookup_gpu_shared_slices_pay(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    *why = "needs an index of 8 bits, or tables that take at most 128 KiB when slices are laid ready, and two indices for each entry";
    return s.held || (p->n * s.answer <= LAID_READY && p->at.count >= LOOKUPS_OF_ENTRY_TO_PAY * p->n);
}

static void lay_shared_slices(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    const int64_t slices[] = {p->n, p->step, p->at.count};
    (void)device;
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, &gpu_shared_slices);
    tess_gpu_option(layout, "-DSLICE=%d", (int)s.wide);
    tess_gpu_option(layout, "-DSIZE=%d", (int)s.size);
    tess_gpu_option(layout, "-DV=%d", (int)s.v);
    tess_gpu_option(layout, "-DGROUPS=%d", (int)(s.each / s.v));
    tess_gpu_option(layout, "-DTHREADS=%d", THREADS);
    tess_gpu_option(layout, "-DCHECK=%d", tess_lookup_gpu_checks_bytes(p));
    tess_gpu_option(layout, "-DHELD=%d", s.held);
    const int64_t answers = s.held ? 0 : tess_gpu_reserve(layout, p->n * s.answer);
    tess_gpu_step *step;
    if (!s.held) {
        step = tess_gpu_launch_of(layout, "prepare", tess_ceil_div(p->n, 256), 1, 1, 256, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, answers);
        tess_gpu_pass(layout, step, slices, sizeof slices);
    }
    step = tess_gpu_launch_of(layout, "shared_slices", tess_ceil_div(p->at.count, s.each * THREADS), 1, 1, THREADS, 0);
    tess_gpu_pass_pointer(layout, step, s.held ? TESS_GPU_IN : TESS_GPU_WORKSPACE, answers);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_SECOND, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_MARK, 0);
    tess_gpu_pass(layout, step, slices, sizeof slices);
    tess_gpu_pass(layout, step, p->fill, sizeof p->fill);
    layout->alignment = 16;
}

/* Loads from shared memory depend on the indices, all others do not. */
void tess_lookup_gpu_predict_shared_slices(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    const int64_t count = p->at.count, whole = count / s.v, rest = count % s.v, parts = s.wide / s.size;
    const double blocks = (double)tess_ceil_div(count, s.each * THREADS);
    int64_t load[32], store[32];
    tess_gpu_count_from_zero(out);
    out->constant_requests = out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    for (int first = 0; s.held && first < 256; first += 32)
        for (int64_t c = 0; c < parts; c++) {
            for (int lane = 0; lane < 32; lane++) {
                int64_t at = p->index.type == tess_i8 ? (int8_t)(first + lane) : first + lane;
                if (p->outside == TESS_OUTSIDE_CLIP)
                    at = tess_max64(0, tess_min64(at, p->n - 1));
                if (p->outside == TESS_OUTSIDE_WRAP)
                    at = (at % p->n + p->n) % p->n;
                load[lane] = at >= 0 && at < p->n ? TESS_GPU_ORIGIN + at * p->step + c * s.size : -1;
                store[lane] = (first + lane) * (s.wide <= 4 ? 4 : s.wide <= 8 ? 8 : 16);
            }
            tess_gpu_count_global(out, blocks, load, s.size, false);
            if (c == 0)
                tess_gpu_count_shared(out, blocks, store, s.wide <= 4 ? 4 : s.wide <= 8 ? 8 : 16, true);
        }
    for (int64_t k = 0; k < s.vectors; k++)
        for (int last = 0; last < 2; last++) { /* whole warps, and the one behind them */
            const int64_t lanes = last ? whole % 32 : 32;
            const double times = last ? 1 : (double)(whole / 32);
            for (int lane = 0; lane < 32; lane++) {
                load[lane] = k * 32 + lane < lanes * s.vectors ? TESS_GPU_ORIGIN + (k * 32 + lane) * 16 : -1;
                store[lane] = lane < lanes ? (lane * s.vectors + k) * 16 : -1;
            }
            tess_gpu_count_global(out, times, load, 16, true);
            tess_gpu_count_shared(out, times, store, 16, true);
        }
    out->global_ld_requests += (double)(tess_ceil_div(whole, 32) + rest);
    out->global_ld_sectors += (double)(tess_ceil_div(whole * s.v, 32) + rest);
    out->global_st_requests += (double)(rest * parts);
    out->global_st_sectors += (double)(rest * parts);
    out->barriers = s.held ? blocks * THREADS / 32 : 0;
    if (!s.held) { /* what a thread behind the last whole vectors reads is the compiler's choice */
        out->global_ld_requests = out->global_ld_sectors = -1;
        out->global_st_requests += (double)tess_ceil_div(p->n, 32);
        out->global_st_sectors += (double)tess_ceil_div(p->n * s.answer, 32);
    }
}

const tess_gpu_row tess_lookup_gpu_shared_slices = {.headers = tess_lookup_gpu_headers,
                                                    .production = true,
                                                    .least_arch = 80,
                                                    .lay_out = lay_shared_slices,
                                                    .predict = tess_lookup_gpu_predict_shared_slices,
                                                    .finish = tess_lookup_gpu_finish};

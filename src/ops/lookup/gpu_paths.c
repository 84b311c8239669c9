/* SPDX-License-Identifier: Apache-2.0
 * gpu_paths.c - the ladder of lookups: one table behind four memory paths, run by name, and what each will count.
 *
 * What the paths cost depends on the indices, which a plan does not know: `predict` gives what holds for all of them, and
 * tess_lookup_gpu_pattern_counts the rest for the two patterns of the textbooks. Both for indices inside the table and arrays that begin at a sector. */
#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_paths);

static const lookup_problem *of(const tess_problem *problem) { return (const lookup_problem *)problem; }

/* A table that `limit` bytes hold, without gaps. */
static bool fits(const tess_problem *base, int64_t limit, const char **why) {
    const lookup_problem *p = of(base);
    *why = "looks up by integers, without interpolation";
    if (p->interpolation != TESS_INTERPOLATE_NONE || !tess_lookup_gpu_compact(p, why))
        return false;
    *why = "needs one line of the table without gaps";
    if (p->outer.ndim > 0 || p->step != p->size)
        return false;
    *why = limit == 65536 ? "needs a table of at most 64 KiB, which is all constant memory" : "needs a table of at most 48 KiB";
    return p->n <= INT32_MAX && (!limit || p->n * p->size <= limit);
}
bool tess_lookup_gpu_path_fits(const tess_problem *base, const char **why) { return fits(base, 0, why); }
bool tess_lookup_gpu_constant_fits(const tess_problem *base, const char **why) { return fits(base, 65536, why); }
bool tess_lookup_gpu_shared_fits(const tess_problem *base, const char **why) { return fits(base, 49152, why); }
bool tess_lookup_gpu_by_name(const tess_problem *base, const char **why) {
    (void)base;
    *why = "a rung of the ladder, run by name only";
    return false;
}

static void lay_path(const tess_problem *base, tess_gpu_layout *layout, lookup_path path) {
    const lookup_problem *p = of(base);
    int64_t lookups[] = {p->n, p->at.count};
    bool kept = path == LOOKUP_CONSTANT || path == LOOKUP_SHARED;
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, &gpu_paths);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DPATH=%d", (int)path);
    tess_gpu_option(layout, "-DENTRIES=%d", kept ? (int)p->n : 0);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "path", tess_ceil_div(p->at.count, LOOKUP_GPU_THREADS), 1, 1, LOOKUP_GPU_THREADS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_SECOND, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_MARK, 0);
    tess_gpu_pass(layout, step, lookups, sizeof lookups);
    tess_gpu_pass(layout, step, p->fill, sizeof p->fill);
    if (path == LOOKUP_CONSTANT)
        tess_gpu_fill_constant(step, "constant_table", TESS_GPU_IN, 0, p->n * p->size);
    layout->alignment = p->size;
}

/* ---- counts ---- */

/* One access of `count` neighbouring values, 32 a request, the first at a sector's start. */
static void stream(double *requests, double *sectors, double times, int64_t count, int64_t size) {
    *requests += times * (double)tess_ceil_div(count, 32);
    *sectors += times * tess_gpu_run_sectors(tess_ceil_div(count, 32) - 1, 0, 32 * size, 32 * size);
    *sectors += times * (double)tess_ceil_div(((count - 1) % 32 + 1) * size, 32);
}

/* The copy that each block makes of the table. */
static void copy_counts(tess_gpu_prediction *out, const lookup_problem *p, double blocks) {
    tess_gpu_shared_cost cost = {0, 0, 0};
    stream(&out->global_ld_requests, &out->global_ld_sectors, blocks, p->n, p->size);
    for (int64_t first = 0; first < p->n; first += 32) {
        int32_t address[32];
        for (int lane = 0; lane < 32; lane++)
            address[lane] = first + lane < p->n ? (int32_t)((first + lane) * p->size) : -1;
        tess_gpu_shared_request(&cost, address, (int)p->size, true);
    }
    out->shared_st_requests = cost.requests * blocks;
    out->shared_st_wavefronts = cost.wavefronts * blocks;
    out->shared_st_conflicts = cost.conflicts * blocks;
}

/* All but the lookups themselves. */
static void streams(tess_gpu_prediction *out, const lookup_problem *p, lookup_path path) {
    double blocks = (double)tess_ceil_div(p->at.count, LOOKUP_GPU_THREADS);
    *out = (tess_gpu_prediction){.barriers = path == LOOKUP_SHARED ? blocks * (LOOKUP_GPU_THREADS / 32) : 0};
    stream(&out->global_ld_requests, &out->global_ld_sectors, 1, p->at.count, p->index.itemsize);
    stream(&out->global_st_requests, &out->global_st_sectors, 1, p->at.count, p->size);
    if (path == LOOKUP_SHARED)
        copy_counts(out, p, blocks);
}

static void predict_path(const lookup_problem *p, tess_gpu_prediction *out, lookup_path path) {
    double lookups = (double)tess_ceil_div(p->at.count, 32);
    if (p->outside == TESS_OUTSIDE_FILL) /* a warp without a lookup makes no request */
        return;
    streams(out, p, path);
    if (path == LOOKUP_GLOBAL || path == LOOKUP_READ_ONLY) {
        out->global_ld_requests += lookups;
        out->global_ld_sectors = -1;
    } else if (path == LOOKUP_CONSTANT) {
        out->constant_requests = -1;
    } else {
        out->shared_ld_requests = lookups;
        out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    }
}

/* One warp's lookups; entry[lane] = -1: none. */
static void one_warp(tess_gpu_prediction *out, lookup_path path, const int64_t *entry, int64_t size) {
    tess_gpu_shared_cost cost = {0, 0, 0};
    int32_t address[32];
    int sectors = 0, addresses = 0;
    for (int lane = 0; lane < 32; lane++) {
        bool new_address = entry[lane] >= 0, new_sector = new_address;
        for (int other = 0; other < lane; other++) {
            new_address = new_address && entry[other] != entry[lane];
            new_sector = new_sector && entry[other] * size / 32 != entry[lane] * size / 32;
        }
        addresses += new_address;
        sectors += new_sector;
        address[lane] = entry[lane] < 0 ? -1 : (int32_t)(entry[lane] * size);
    }
    if (path == LOOKUP_CONSTANT) {
        out->constant_requests += addresses * (size > 4 ? (double)(size / 4) : 1); /* vectors are loaded word by word */
    } else if (path == LOOKUP_SHARED) {
        tess_gpu_shared_request(&cost, address, (int)size, false);
        out->shared_ld_requests += cost.requests;
        out->shared_ld_wavefronts += cost.wavefronts;
        out->shared_ld_conflicts += cost.conflicts;
    } else {
        out->global_ld_requests++;
        out->global_ld_sectors += sectors;
    }
}

void tess_lookup_gpu_pattern_counts(const tess_problem *base, lookup_path path, lookup_pattern pattern, tess_gpu_prediction *out) {
    const lookup_problem *p = of(base);
    streams(out, p, path);
    for (int64_t first = 0; first < p->at.count; first += 32) {
        int64_t entry[32];
        for (int lane = 0; lane < 32; lane++)
            entry[lane] = first + lane >= p->at.count ? -1 : (pattern == LOOKUP_DIVERGENT ? first + lane : first / 32) % p->n;
        one_warp(out, path, entry, p->size);
    }
}

#define PATH_ROW(number, name, path)                                                                                      \
    static void lay_##name(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {            \
        (void)device;                                                                                                     \
        lay_path(base, layout, path);                                                                                     \
    }                                                                                                                     \
    static void predict_##name(const tess_problem *base, tess_gpu_prediction *out) { predict_path(of(base), out, path); } \
    const tess_gpu_row tess_lookup_gpu_path_##name = {.headers = tess_lookup_gpu_headers,                                 \
                                                      .rung = number,                                                     \
                                                      .least_arch = 80,                                                   \
                                                      .lay_out = lay_##name,                                              \
                                                      .predict = predict_##name,                                          \
                                                      .finish = tess_lookup_gpu_finish};
PATH_ROW(1, global, LOOKUP_GLOBAL)
PATH_ROW(2, constant, LOOKUP_CONSTANT)
PATH_ROW(3, read_only, LOOKUP_READ_ONLY)
PATH_ROW(4, shared, LOOKUP_SHARED)

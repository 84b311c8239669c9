/* SPDX-License-Identifier: Apache-2.0
 * gpu_positions.c - the GPU's interpolations among positions of the caller's own: buckets and records for compact coordinates, a bisection for everything
 * else. Positions lie on the host and are copied to the device with the plan. */
#include <float.h>

#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_search);
LOOKUP_KERNEL_TEXT(gpu_between);

enum {
    FIRST_LEVEL = 192 << 10,    /* bytes of records that stay in the first-level cache */
    MOST_FOURFOLD = 1 << 18,    /* entries that have four buckets each: beyond, these and the records are too much for L2 */
    RECORD = 32,                /* bytes: struct entry_record of gpu_search.cu */
    MOST_ENTRIES = 1 << 26,     /* whose numbers a bucket has bits for */
    MOST_POSITIONS = 1 << 29,   /* as on a CPU */
    LOOKUPS_OF_ENTRY_TO_PAY = 1 /* a record and two buckets take about as long as three bisections */
};

static const lookup_problem *of(const tess_problem *problem) { return (const lookup_problem *)problem; }

/* struct among of gpu_among.cuh. */
typedef struct among {
    double low, last;
    uint32_t n, half;
} among;

static among among_of(const lookup_problem *p) {
    among m = {.low = p->positions[0], .last = p->positions[p->n - 1], .n = (uint32_t)p->n, .half = (uint32_t)p->n};
    while (m.half & (m.half - 1)) /* the highest bit alone */
        m.half &= m.half - 1;
    return m;
}

/* struct buckets_by of gpu_search.cu: of double or of float. One bucket of no width between infinite ends, or in no space at all. */
typedef struct buckets_by {
    double low, scale, top, at_least, at_most;
} buckets_by;

static bool is_large(const lookup_problem *p) { return p->n * RECORD > FIRST_LEVEL; }

static buckets_by buckets_of(const lookup_problem *p) {
    const double low = p->positions[0], last = p->positions[p->n - 1], count = (double)((is_large(p) && p->n <= MOST_FOURFOLD ? 4 : 2) * p->n),
                 scale = count / (last - low);
    const float narrow = (float)scale;
    const bool wide = p->index.type == tess_f64, even = wide ? scale > 0 && scale <= DBL_MAX : narrow > 0 && narrow <= FLT_MAX;
    return (buckets_by){.low = low, .scale = even ? scale : 0, .top = even ? count - 1 : 0, .at_least = low, .at_most = last};
}

static float rounded_up(double x) {
    const float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}
static float rounded_down(double x) { return -rounded_up(-x); }

static void pass_buckets(tess_gpu_layout *layout, tess_gpu_step *step, const lookup_problem *p) {
    const buckets_by b = buckets_of(p);
    const float narrow[] = {(float)b.low, (float)b.scale, rounded_down(b.top), rounded_up(b.at_least), rounded_down(b.at_most)};
    if (p->index.type == tess_f64)
        tess_gpu_pass(layout, step, &b, sizeof b);
    else
        tess_gpu_pass(layout, step, narrow, sizeof narrow);
}

int64_t tess_lookup_gpu_search_buckets(const lookup_problem *p) {
    const double top = buckets_of(p).top;
    return 1 + (int64_t)(p->index.type == tess_f64 ? top : (double)rounded_down(top));
}

/* The -D of gpu_among.cuh; returns where the positions are. */
static int64_t begin(tess_gpu_layout *layout, const lookup_problem *p, const tess_gpu_text *text) {
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, text);
    tess_gpu_option(layout, "-DFROM=%d", (int)p->from);
    tess_gpu_option(layout, "-DTO=%d", (int)p->to);
    tess_gpu_option(layout, "-DCOMPUTE=%d", (int)p->compute);
    tess_gpu_option(layout, "-DMETHOD=%d", (int)p->interpolation);
    tess_gpu_option(layout, "-DSINGLE=0");
    return tess_gpu_data(layout, p->positions, (size_t)p->n * sizeof *p->positions);
}

/* ---- lookup/search ---- */

bool tess_lookup_gpu_between_fits(const tess_problem *base, const char **why) {
    *why = "looks up among positions, fewer than 2^29";
    return of(base)->positions && of(base)->n < MOST_POSITIONS;
}

bool tess_lookup_gpu_search_fits(const tess_problem *base, const char **why) {
    const lookup_problem *p = of(base);
    if (!tess_lookup_gpu_between_fits(base, why) || !tess_lookup_gpu_compact(p, why))
        return false;
    *why = "needs at most 2^26 entries to prepare";
    return p->outer.count <= MOST_ENTRIES / p->n;
}

bool tess_lookup_gpu_search_pays(const tess_problem *base, const char **why) {
    const lookup_problem *p = of(base);
    *why = "prepared entries pay when they have as many points as their number, on lines of 512 or more";
    return p->at.count >= LOOKUPS_OF_ENTRY_TO_PAY * p->n && (p->outer.count == 1 || p->at.count >= 512);
}

lookup_gpu_shape tess_lookup_gpu_search_shape(const lookup_problem *p) {
    return tess_lookup_gpu_alone(p, p->index.type == tess_f64 ? 2 : 1, LOOKUP_GPU_LINE_THREADS); /* measured: notes-gpu.md */
}

static void lay_search(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = of(base);
    const lookup_gpu_shape s = tess_lookup_gpu_search_shape(p);
    const among m = among_of(p);
    const int64_t table[] = {p->n, p->step, p->outer.ndim ? p->outer.stride[LOOKUP_FROM][0] : 0, p->outer.count};
    (void)device;
    const int64_t positions = begin(layout, p, &gpu_search);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DEARLY=%d", is_large(p));
    tess_lookup_gpu_lines(layout, p, &s, false);
    const int64_t entries = p->n * p->outer.count, count = tess_lookup_gpu_search_buckets(p), records = tess_gpu_reserve(layout, entries * RECORD),
                  buckets = tess_gpu_reserve(layout, count * (int64_t)sizeof(uint32_t));
    tess_gpu_step *step = tess_gpu_launch_of(layout, "prepare", tess_ceil_div(tess_max64(entries, count), 256), 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, records);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, buckets);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, positions);
    tess_gpu_pass(layout, step, table, sizeof table);
    tess_gpu_pass(layout, step, &m, sizeof m);
    pass_buckets(layout, step, p);
    step = tess_lookup_gpu_launch_lines(layout, p, "search", (lookup_gpu_table){.place = TESS_GPU_WORKSPACE, .offset = records}, &s);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, buckets);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, positions);
    tess_gpu_pass(layout, step, &m, sizeof m);
    pass_buckets(layout, step, p);
}

/* ---- lookup/between ---- */

static void lay_between(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = of(base);
    const among m = among_of(p);
    (void)device;
    const int64_t positions = begin(layout, p, &gpu_between);
    tess_gpu_option(layout, "-DPARTS=%d", p->parts);
    tess_gpu_step *step = tess_lookup_gpu_walk(layout, p, "points", 1);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, positions);
    tess_gpu_pass(layout, step, &m, sizeof m);
}

const tess_gpu_row tess_lookup_gpu_search = {.headers = tess_lookup_gpu_among_headers,
                                             .production = true,
                                             .least_arch = 80,
                                             .lay_out = lay_search,
                                             .predict = tess_lookup_gpu_predict_search,
                                             .finish = tess_lookup_gpu_finish},
                   tess_lookup_gpu_between = {.headers = tess_lookup_gpu_among_headers,
                                              .production = true,
                                              .least_arch = 80,
                                              .lay_out = lay_between,
                                              .predict = tess_lookup_gpu_predict_between,
                                              .finish = tess_lookup_gpu_finish};

/* SPDX-License-Identifier: Apache-2.0
 * gpu_general.c - the row that takes everything: one launch a pass, passes through the workspace. */
#include "ops/correlate/gpu_wide.h"

#include <string.h>

KERNEL_TEXT(gpu_general);

enum { THREADS = 256 };

/* struct general of gpu_general.cu. */
static size_t general_size(const tess_correlate_problem *p, const tess_correlate_pass *pass) {
    size_t real = tess_type_size(p->work) / (tess_is_complex(p->work) ? 2 : 1), outer = (size_t)(pass->ndim - pass->masked + (pass->group > 1));
    return 16 + (2 * real + 7) / 8 * 8 + 32 * (outer + 1) + 56 * (size_t)(pass->masked + 1);
}

/* A list may have as many masks as the array has axes; what a plan holds has an end, and so have a kernel's parameters. */
bool tess_correlate_general_fits(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int count;
    size_t all = 0;
    if (!tess_correlate_gpu_chains(base, why))
        return false;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    *why = "takes lists of at most 12 masks over arrays of few axes";
    for (int k = 0; k < count; k++) {
        size_t size = general_size(p, &pass[k]);
        if (size > 4000)
            return false;
        all += size + 512;
    }
    return count <= TESS_GPU_STEPS && count <= TESS_GPU_PIECES && all <= TESS_GPU_ARENA;
}

/* Whether steps from element 0 to the last of an axis stay below 2^31, all axes together. */
static bool reaches(int64_t *sum, int64_t n, int64_t step) {
    int64_t reach;
    return !TESS_MUL_OVERFLOWS(n, step < 0 ? -step : step, &reach) && !TESS_ADD_OVERFLOWS(*sum, reach, sum) && *sum < INT32_MAX;
}

/* Whether every number that the kernel works with has 31 bits: outputs and threads, places in both arrays, indices beyond the ends, taps. */
static bool narrow(const tess_correlate_pass *pass) {
    int64_t in = pass->group, out = pass->group;
    bool fits = pass->outputs < INT32_MAX - THREADS && pass->taps < INT32_MAX;
    for (int d = 0; d < pass->ndim && fits; d++) {
        const tess_correlate_axis *a = &pass->axis[d];
        fits = reaches(&in, a->n, tess_correlate_gpu_in(pass, d)) && reaches(&out, a->m, tess_correlate_gpu_out(pass, d)) && a->n < INT32_MAX / 2 &&
               a->width < INT32_MAX / 4;
    }
    return fits;
}

static bool same_unit(const tess_correlate_pass *a, const tess_correlate_pass *b) {
    return a->from == b->from && a->to == b->to && a->ndim == b->ndim && a->masked == b->masked && (a->group > 1) == (b->group > 1) &&
           narrow(a) == narrow(b);
}

static void put_axis(int64_t **at, const tess_correlate_pass *pass, int d, int64_t divisor) {
    const tess_correlate_axis *a = &pass->axis[d];
    *(*at)++ = a->m;
    *(*at)++ = divisor;
    *(*at)++ = tess_correlate_gpu_in(pass, d);
    *(*at)++ = tess_correlate_gpu_out(pass, d);
}

static void pass_general(tess_gpu_layout *layout, tess_gpu_step *step, const tess_correlate_problem *p, const tess_correlate_pass *pass) {
    int64_t block[512] = {0}, *at = block, divisor[TESS_MAX_NDIM], finer = pass->group;
    size_t real = tess_type_size(p->work) / (tess_is_complex(p->work) ? 2 : 1);
    for (int d = pass->ndim - 1; d >= 0; d--) {
        divisor[d] = finer;
        finer *= tess_max64(pass->axis[d].m, 1);
    }
    *at++ = pass->outputs;
    *at++ = p->boundary;
    memcpy(at, &p->work_constant, tess_type_size(p->work));
    at += (2 * real + 7) / 8;
    for (int d = 0; d < pass->ndim; d++)
        if (pass->axis[d].width == 1)
            put_axis(&at, pass, d, divisor[d]);
    if (pass->group > 1) {
        *at++ = pass->group;
        at[0] = at[1] = at[2] = 1;
        at += 3;
    }
    at += 4; /* the place that an array without axes has */
    for (int k = 0; k < pass->masked; k++) {
        const tess_correlate_axis *a = &pass->axis[pass->order[k]];
        put_axis(&at, pass, pass->order[k], divisor[pass->order[k]]);
        *at++ = a->n;
        *at++ = a->width;
        *at++ = a->before;
    }
    tess_gpu_pass(layout, step, block, general_size(p, pass));
}

static void lay_pass(tess_gpu_layout *layout, const tess_correlate_problem *p, int k, int count, const tess_correlate_pass *pass,
                     const int64_t *between) {
    if (k == 0 || !same_unit(pass - 1, pass)) {
        tess_gpu_unit(layout, &gpu_general);
        tess_correlate_gpu_types(layout, p, pass);
        tess_gpu_option(layout, "-DOUTER=%d", pass->ndim - pass->masked + (pass->group > 1));
        tess_gpu_option(layout, "-DMASKED=%d", pass->masked);
        tess_gpu_option(layout, "-DINDEX=%d", narrow(pass) ? 32 : 64);
    }
    tess_gpu_step *step = tess_gpu_launch_of(layout, "general_pass", tess_ceil_div(pass->outputs, THREADS), 1, 1, THREADS, 0);
    tess_correlate_gpu_ends(layout, step, k, count, between);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, tess_correlate_gpu_weights(layout, pass));
    pass_general(layout, step, p, pass);
}

static void lay_general(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    tess_correlate_gpu_lay_passes(layout, base, lay_pass);
}

const tess_gpu_row tess_correlate_general = {.headers = tess_correlate_number_headers, .production = true, .least_arch = 80, .lay_out = lay_general};

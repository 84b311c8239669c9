/* SPDX-License-Identifier: Apache-2.0
 * gpu_counts.h - a GPU row's formulas held against what the virtual GPU counts. */
#ifndef TESS_TESTS_GPU_COUNTS_H
#define TESS_TESTS_GPU_COUNTS_H

#include "gpu_rows.h"
#include "vgpu/vgpu.h"

static tess_vgpu_counters gpu_counts_total;

static void gpu_counts_add(void *user, const tess_vgpu_launch_record *record) {
    tess_vgpu_counters c;
    (void)user;
    tess_vgpu_total(record->run, &c);
#define X(name) gpu_counts_total.name += c.name;
    TESS_VGPU_COUNTER_LIST(X)
#undef X
}

/* Between these two every execution on the context's virtual GPU is counted, and plans that are made take kernels as users get them, whatever the suite compiles
 * fast (tests/run.py). */
static bool gpu_counts_unoptimised;
static inline void gpu_counts_begin(tess_context *context) {
    tess_vgpu_watch_options watch = {.count = true, .launched = gpu_counts_add};
    gpu_counts_unoptimised = tess_gpu_unoptimised();
    unsetenv("TESSERA_UNOPTIMISED");
    assert_tess_ok(tess_vgpu_watch(context, &watch));
}
static inline void gpu_counts_end(tess_context *context) {
    assert_tess_ok(tess_vgpu_watch(context, NULL));
    if (gpu_counts_unoptimised)
        setenv("TESSERA_UNOPTIMISED", "1", 1);
}

/* Executes the plan and compares each number that its row predicts; what: the problem in words. Returns how many there were. */
static inline int gpu_counts_check(const tess_plan *plan, const void *in, const void *second, void *out, const char *what) {
    tess_gpu_prediction p = tess_gpu_no_prediction(), counted = p;
    int compared = 0;
    p.device = ((const tess_gpu_plan *)plan->prepared)->device;
    const char *row = plan->row->name;
    if (!plan->row->gpu->predict)
        return 0;
    plan->row->gpu->predict(plan->problem, &p);
    memset(&gpu_counts_total, 0, sizeof gpu_counts_total);
    assert_tess_ok(tess_execute(plan, in, second, out, NULL));
    const tess_vgpu_counters *c = &gpu_counts_total;
    counted.global_ld_requests = (double)c->global_ld_requests;
    counted.global_ld_sectors = (double)c->global_ld_sectors;
    counted.global_st_requests = (double)c->global_st_requests;
    counted.global_st_sectors = (double)c->global_st_sectors;
    counted.shared_ld_requests = (double)c->shared_ld_requests;
    counted.shared_ld_wavefronts = (double)c->shared_ld_wavefronts;
    counted.shared_ld_conflicts = (double)c->shared_ld_conflicts;
    counted.shared_st_requests = (double)c->shared_st_requests;
    counted.shared_st_wavefronts = (double)c->shared_st_wavefronts;
    counted.shared_st_conflicts = (double)c->shared_st_conflicts;
    counted.constant_requests = (double)c->constant_requests;
    counted.barriers = (double)c->barriers;
    counted.flops = (double)(c->flops_f16 + c->flops_f32 + c->flops_f64);
#define X(name)                                                                                            \
    if (p.name >= 0) {                                                                                     \
        compared++;                                                                                        \
        if (p.name != counted.name)                                                                        \
            fail_msg("%s of %s: %s predicted %.0f, counted %.0f", row, what, #name, p.name, counted.name); \
    }
    TESS_GPU_PREDICTION_LIST(X)
#undef X
    return compared;
}

#endif

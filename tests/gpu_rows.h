/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.h - where GPU rows are tested: on a real card when there is one, else on the virtual GPU with all of its checkers. */
#ifndef TESS_TESTS_GPU_ROWS_H
#define TESS_TESTS_GPU_ROWS_H

#include "core/engine.h"
#include "gpu/row.h"
#include "hostile.h"

/* TESSERA_TEST_ENGINE=virtual asks for the virtual GPU on a machine with a card. */
static inline tess_engine gpu_test_engine(void) {
    const char *wanted = getenv("TESSERA_TEST_ENGINE");
    tess_context *context;
    tess_gpu *gpu;
    if (wanted && strcmp(wanted, "virtual") == 0)
        return TESS_ENGINE_VIRTUAL;
    if (wanted && strcmp(wanted, "cuda") == 0)
        return TESS_ENGINE_CUDA;
    assert_tess_ok(tess_open(&context, NULL));
    bool card = tess_gpu_get(&gpu, context) == TESS_OK && tess_gpu_open(gpu) == TESS_OK;
    tess_close(context);
    return card ? TESS_ENGINE_CUDA : TESS_ENGINE_VIRTUAL;
}

/* Whether kernels can be compiled here; if not, the reason is in tess_detail(). */
static inline bool gpu_test_compiler(void) {
    tess_context *context;
    tess_gpu *gpu;
    assert_tess_ok(tess_open(&context, NULL));
    bool there = tess_gpu_get(&gpu, context) == TESS_OK && tess_gpu_open_nvrtc(gpu) == TESS_OK;
    tess_close(context);
    return there;
}

/* All of a program's main: its context and engine, its tests. 77 where kernels cannot be compiled. */
static inline int gpu_test_main(tess_context **context, tess_engine *engine, const struct CMUnitTest *tests, size_t count) {
    *engine = gpu_test_engine();
    if (*engine == TESS_ENGINE_VIRTUAL && !gpu_test_compiler()) {
        printf("no compiler for kernels here: %s\n", tess_detail());
        return 77;
    }
    if (tess_open(context, NULL) != TESS_OK)
        return 1;
    int failed = _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
    tess_close(*context);
    return failed;
}

/* Whether tables of cases are taken in part. */
static inline bool gpu_test_in_part(tess_engine engine) { return engine == TESS_ENGINE_VIRTUAL && !getenv("TESSERA_TEST_ALL"); }

/* Whether a row is passed over this time. On the virtual GPU most of the time goes to the compiler, which makes a kernel for every problem and row: one that has been compared
 * `enough` times is compared each eleventh time from then on (cases come by boundaries, extents and types, of which there are two, three, five or six). A card compares all of them, as
 * does TESSERA_TEST_ALL=1. */
static inline bool gpu_test_rests(tess_engine engine, int compared, int enough, int *turn) {
    return gpu_test_in_part(engine) && compared >= enough && (*turn)++ % 11 != 10;
}

/* Whether a case is passed over, likewise: the virtual GPU takes one in `every`, under a sanitizer one in `sanitized`, which is not less, so that its kernels are in the cache. */
static inline bool gpu_test_spared(tess_engine engine, int64_t number, int every, int sanitized) {
    return gpu_test_in_part(engine) && hostile_left_out(number, TESS_SANITIZED ? sanitized : every);
}

/* The first kernel that an execution of the plan launches. */
static inline const char *gpu_test_kernel(const tess_plan *plan) { return ((const tess_gpu_plan *)plan->prepared)->layout.step[0].entry; }

/* Frees the plan, whose row, without its operation's name, is what selection takes for case number i of a table. */
static inline void gpu_test_chosen(tess_plan *plan, const char *row, int i) {
    if (strcmp(strchr(plan->row->name, '/') + 1, row) != 0)
        fail_msg("case %d: %s where %s was expected: %s", i, plan->row->name, row, plan->reason);
    tess_plan_free(plan);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * cpu_separable.c - correlate/separable: one 1-D pass after another, each over whole arrays.
 *
 * A mask of k x k taps costs k * k fused multiply-adds an output directly and 2 k in passes. The arrays between passes hold the work type; two of
 * them take turns. */
#include "ops/correlate/window.h"

tess_status TESS_ISA_NAME(tess_correlate_rows_pass)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                    const char *in, char *out, char *scratch);

tess_status TESS_ISA_NAME(tess_correlate_window_pass)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                      const char *in, char *out, char *scratch);

tess_status TESS_ISA_NAME(tess_correlate_separably)(const tess_problem *base, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_separably)(const tess_problem *base, const tess_run *run) {
    const tess_correlate_problem *problem = (const tess_correlate_problem *)base;
    char *buffers[2] = {run->workspace, (char *)run->workspace + problem->between[0]};
    char *scratch = buffers[1] + problem->between[1];
    const char *in = run->in;
    for (int k = 0; k < problem->passes_count; k++) {
        char *out = k == problem->passes_count - 1 ? run->out : buffers[k & 1];
        const tess_correlate_pass *pass = &problem->passes[k];
        tess_correlate_window window;
        const char *why;
        tess_correlate_pass_function one = tess_correlate_window_of(&window, problem, pass, &why) ? TESS_ISA_NAME(tess_correlate_window_pass)
                                                                                                  : TESS_ISA_NAME(tess_correlate_rows_pass);
        TESS_TRY(one(problem, pass, run, in, out, scratch));
        in = out;
    }
    return TESS_OK;
}

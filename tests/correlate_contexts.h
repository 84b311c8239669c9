/* SPDX-License-Identifier: Apache-2.0
 * correlate_contexts.h - a context for each instruction set that this machine has and for 1 to 8 threads; setup and teardown of the programs that hold rows
 * against a reference on all of them. */
#ifndef TESS_TESTS_CORRELATE_CONTEXTS_H
#define TESS_TESTS_CORRELATE_CONTEXTS_H

#include "hostile.h"

static const tess_isa isas[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
static const int thread_counts[] = {1, 2, 3, 8};
enum { ISAS = 4, THREADS = 4 };
static tess_context *contexts[ISAS][THREADS];

static int open_contexts(void **state) {
    (void)state;
    for (int i = 0; i < ISAS; i++)
        for (int t = 0; t < THREADS; t++) {
            tess_context_options options = {.struct_size = sizeof options, .isa = isas[i], .threads = thread_counts[t]};
            if (tess_open(&contexts[i][t], &options) != TESS_OK &&
                (contexts[i][0] || isas[i] == TESS_ISA_BASELINE)) /* one that the machine lacks is left out */
                return -1;
        }
    return 0;
}
static int close_contexts(void **state) {
    (void)state;
    for (int i = 0; i < ISAS; i++)
        for (int t = 0; t < THREADS; t++)
            tess_close(contexts[i][t]);
    return 0;
}

#endif

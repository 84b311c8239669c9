/* SPDX-License-Identifier: Apache-2.0
 * cpu_contexts.h - a context for every instruction set that this machine has, with thread counts from 1 to 8; setup and teardown of the programs that hold rows
 * against a reference on all of them. */
#ifndef TESS_TESTS_CPU_CONTEXTS_H
#define TESS_TESTS_CPU_CONTEXTS_H

#include "hostile.h"

#include "core/cpu.h"

enum { CONTEXTS = 5 };
static tess_context *contexts[CONTEXTS];
static int context_count;

static int open_contexts(void **state) {
    static const struct {
        tess_isa isa;
        int threads;
    } settings[CONTEXTS] = {{TESS_ISA_BASELINE, 1}, {TESS_ISA_BASELINE, 8}, {TESS_ISA_AVX2, 3}, {TESS_ISA_AVX512, 2}, {TESS_ISA_NEON, 5}};
    static const tess_isa_slot slots[CONTEXTS] = {TESS_SLOT_BASELINE, TESS_SLOT_BASELINE, TESS_SLOT_AVX2, TESS_SLOT_AVX512, TESS_SLOT_NEON};
    (void)state;
    for (int i = 0; i < CONTEXTS; i++) {
        tess_context_options options = {.struct_size = sizeof options, .threads = settings[i].threads, .isa = settings[i].isa};
        if (tess_cpu_has_slot(slots[i]) && tess_open(&contexts[context_count++], &options) != TESS_OK)
            return -1;
    }
    return 0;
}
static int close_contexts(void **state) {
    (void)state;
    while (context_count > 0)
        tess_close(contexts[--context_count]);
    return 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * gathers.c - which processors have a gather worth using, by their maker.
 *
 * Zen 4 takes 1.1 clocks for an element by gather and half a clock for a load that inserts it into a vector; its predecessors take more for the gather. The
 * Xeon that Tessera was tuned on (model 207) is quicker by gather: a lookup in the caches takes 0.24 ns there with its indices checked. */
#include "core/gathers.h"

#include <stdatomic.h>

static atomic_int known; /* 0: not asked yet, 1: no, 2: yes; threads that ask at once find the same */

void tess_cpu_pretend_gathers(bool yes) { atomic_store_explicit(&known, yes ? 2 : 1, memory_order_relaxed); }

bool tess_cpu_gathers(void) {
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (!answer) {
#if defined(__x86_64__)
        __builtin_cpu_init();
        answer = __builtin_cpu_is("amd") ? 1 : 2;
#else
        answer = 2;
#endif
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}

/* SPDX-License-Identifier: Apache-2.0
 * maker.c - which processors are quicker which way, by their maker.
 *
 * Gathers: Zen 4 takes 1.1 clocks for an element by gather and half a clock for a load that inserts it into a vector. The
 * Xeon that Tessera was tuned on (model 207) is quicker by gather: a lookup in the caches takes 0.24 ns there with its indices checked.
 *
 * Asking ahead: that Xeon sums and compares f32 by loads of 32 bytes a fifth faster when lines 4 KiB ahead are asked for; Zen 4 is as fast or faster
 * without, by loads of 32 bytes and of 64 (src/ops/reduce/README.md). Without it at 64 bytes the Xeon was not measured.
 *
 * Reading halves: maxima of integers and sums in memory are a tenth quicker on Zen 4 by loads of 32 bytes than of 64 (src/ops/reduce/README.md); the Xeon was not
 * measured.
 *
 * Touching: Zen 4 sums f32, f64 and bytes in memory a twentieth faster by loads of 64 bytes when a byte of the next line is read just before than by loads of 32, and
 * a tenth faster than by 64 alone (src/ops/reduce/README.md); the Xeon was not measured.
 *
 * Asking near: correlations of 9 to 17 taps take a twentieth less on Zen 4 when 2 KiB ahead are asked for; the Xeon was not measured. */
#include "core/maker.h"

#include <stdatomic.h>

enum { UNKNOWN, AMD, OTHER };
static atomic_int maker, gathers; /* threads that ask at once find the same */

static int asked(void) {
    int answer = atomic_load_explicit(&maker, memory_order_relaxed);
    if (answer == UNKNOWN) {
#if defined(__x86_64__)
        __builtin_cpu_init();
        answer = __builtin_cpu_is("amd") ? AMD : OTHER;
#else
        answer = OTHER;
#endif
        atomic_store_explicit(&maker, answer, memory_order_relaxed);
    }
    return answer;
}

void tess_cpu_pretend_gathers(bool yes) { atomic_store_explicit(&gathers, yes ? OTHER : AMD, memory_order_relaxed); }

bool tess_cpu_gathers(void) {
    int answer = atomic_load_explicit(&gathers, memory_order_relaxed);
    return (answer == UNKNOWN ? asked() : answer) == OTHER;
}

bool tess_cpu_asks_ahead(void) { return asked() == OTHER; }
bool tess_cpu_reads_halves(void) { return asked() == AMD; }
bool tess_cpu_asks_near(void) { return asked() == AMD; }

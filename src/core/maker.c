/* SPDX-License-Identifier: Apache-2.0
 * maker.c - which processors are quicker which way, by their maker.
 *
 * Gathers: Zen 4 takes 1.1 clocks for an element by gather and half a clock for a load that inserts it into a vector. The
 * Xeon that Tessera was tuned on (model 207) is quicker by gather: a lookup in the caches takes 0.24 ns there with its indices checked.
 *
 * Asking ahead: that Xeon sums and compares f32 by loads of 32 bytes a fifth faster when lines 4 KiB ahead are asked for; Zen 4 is as fast or faster
 * without, by loads of 32 bytes and of 64 (src/ops/reduce/notes-cpu.md). Without it at 64 bytes the Xeon was not measured.
 *
 * Reading halves: maxima of integers and sums in memory are a tenth quicker on Zen 4 by loads of 32 bytes than of 64 (src/ops/reduce/notes-cpu.md); the Xeon was not
 * measured. Zen 5 reads fastest by loads of 64 bytes as they come: halves cost it 3 %, touched lines 10 to 50, and pages to come need no asking.
 *
 * Touching: Zen 4 sums f32, f64 and bytes in memory a twentieth faster by loads of 64 bytes when a byte of the next line is read just before than by loads of 32, and
 * a tenth faster than by 64 alone (src/ops/reduce/notes-cpu.md); the Xeon was not measured.
 *
 * Reading in turns: a Zen 3 reads a fifth faster from two places in turns than from one; Zen 4 and Zen 5 read at the speed of memory from one.
 *
 * Few places: tables that were made on a Zen 5 serve a Zen 3 as well (transposes of f64 49 -> 72 % of a copy, NCHW to NHWC 60 -> 85); a Zen 4 is quicker by its own.
 *
 * Asking near: correlations of 9 to 17 taps take a twentieth less on Zen 4 when 2 KiB ahead are asked for, and on Zen 5 as long; the Xeon was not measured. */
#include "core/maker.h"

#include <stdatomic.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { UNKNOWN, ZEN3, ZEN4, ZEN5, OTHER };
static atomic_int maker, gathers; /* threads that ask at once find the same */

#if defined(__x86_64__)
/* AMD's family 26, and those after it until somebody measures one; families 23 to 25 without the models of Zen 4, of which 23 was not measured. Compilers of 2022 have no name for the first. */
static int generation(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return ZEN4;
    const unsigned family = (a >> 8 & 15) + (a >> 20 & 255), model = (a >> 4 & 15) + (a >> 12 & 240);
    const bool zen4 = (model >= 0x10 && model < 0x20) || model >= 0x60;
    return family >= 26 ? ZEN5 : family == 25 && zen4 ? ZEN4 : ZEN3;
}
#endif

static int asked(void) {
    int answer = atomic_load_explicit(&maker, memory_order_relaxed);
    if (answer == UNKNOWN) {
#if defined(__x86_64__)
        __builtin_cpu_init();
        answer = !__builtin_cpu_is("amd") ? OTHER : generation();
#else
        answer = OTHER;
#endif
        atomic_store_explicit(&maker, answer, memory_order_relaxed);
    }
    return answer;
}

void tess_cpu_pretend_zen(int number) {
    atomic_store_explicit(&maker, number == 5 ? ZEN5 : number == 4 ? ZEN4 : number == 3 ? ZEN3 : OTHER, memory_order_relaxed);
}
void tess_cpu_pretend_gathers(bool yes) { atomic_store_explicit(&gathers, yes ? OTHER : ZEN4, memory_order_relaxed); }

bool tess_cpu_gathers(void) {
    int answer = atomic_load_explicit(&gathers, memory_order_relaxed);
    return (answer == UNKNOWN ? asked() : answer) == OTHER;
}

bool tess_cpu_asks_ahead(void) { return asked() == OTHER; }
bool tess_cpu_reads_halves(void) { return asked() == ZEN3 || asked() == ZEN4; }
bool tess_cpu_reads_in_turns(void) { return asked() == ZEN3; }
bool tess_cpu_asks_near(void) { return asked() != OTHER; }
bool tess_cpu_keeps_few_places(void) { return asked() == ZEN3 || asked() == ZEN5; }
bool tess_cpu_is_zen5(void) { return asked() == ZEN5; }

/* SPDX-License-Identifier: Apache-2.0
 * touch.h - how a long run is read in address order, or nearly: a byte of the next line before a vector of this one, so that it is on its way; the same for pages; and
 * from two places in turns.
 *
 * A Zen 4 reads memory in address order 5 to 10 % faster so, by loops of two to four lines a turn and by the 16 or 32 additions of a row of lanes
 * (src/ops/reduce/notes-cpu.md). By loads of half a line it gains nothing. Where it pays: tess_cpu_reads_halves (core/maker.h). */
#ifndef TESS_SIMD_TOUCH_H
#define TESS_SIMD_TOUCH_H

#include "core/base.h"

/* Vectors that are read after it in the text are read after it: compilers put them before. */
TESS_INLINE void tess_touch_line(const void *p) {
    (void)*(const volatile char *)p;
    __asm__ volatile("" ::: "memory");
}

/* By loops that read in address order, before they read the `bytes` from p on, a part of a page: when a page begins in them, a line of the sixteenth page after it
 * is asked for, so that its translation is at hand when it is read; a Zen 4 reads ordinary pages half as fast again so. The last line, since a page whose first line
 * is there already is no stream to the processor: huge pages would be read a twentieth slower. In the first-level cache: of requests for L2 those without a
 * translation had no effect. */
TESS_INLINE void tess_ask_page(const void *p, int bytes) {
    enum { PAGE = 4096, AHEAD = 16 * PAGE };
    const uintptr_t in_page = (uintptr_t)p % PAGE;
    if (in_page < (uintptr_t)bytes)
        __builtin_prefetch((const char *)p - in_page + AHEAD + PAGE - 64);
}

/* Before line number v of so many from p on is read. Nothing behind the lines is. */
TESS_INLINE void tess_touch_next(const void *p, int v, int lines) {
    const volatile char *line = p;
    if (v == 0)
        (void)line[0];
    if (v + 1 < lines)
        (void)line[64 * (v + 1)];
}

/* A Zen 3 asks for so many lines ahead of each place where it is read in address order, which is less than its memory could send: from two places it reads a fifth
 * faster (src/ops/reduce/notes-cpu.md). Half of the bytes of a run that are read in turns with as many behind them, a multiple of step: the two places are
 * 128 KiB apart at the most. From the halves of a GiB it reads slower than from one place. */
TESS_INLINE int64_t tess_half_in_turns(int64_t bytes, int64_t step) {
    enum { MOST = 1 << 18 };
    return tess_min64(bytes, MOST) / 2 / step * step;
}

#endif

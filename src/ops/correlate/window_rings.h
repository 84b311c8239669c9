/* SPDX-License-Identifier: Apache-2.0
 * window_rings.h - how a row of output is shared out to the rings of window_ring.h, and to the stretches of window_fours.h. */
#ifndef TESS_OPS_CORRELATE_WINDOW_RINGS_H
#define TESS_OPS_CORRELATE_WINDOW_RINGS_H

#include "core/maker.h"
#include "ops/correlate/window.h"
#include "ops/correlate/window_kernels.h"

typedef struct tess_window_line {
    const char *x; /* what output 0 meets first */
    char *out;
    const void *weights;
    int64_t taps, width, count; /* bytes of an element; outputs */
    bool stream;                /* out is aligned to a line, and may be stored past the caches */
    char *sums;                 /* TESS_WINDOW_WAITING bytes, where sums wait from pass to pass; NULL: they wait in out */
} tess_window_line;

TESS_INLINE tess_window_ring tess_window_fours_of(const tess_window_kernels *k, int64_t taps) {
    return k->fours && taps <= TESS_WINDOW_FOURS ? k->fours[taps] : NULL;
}

/* From one and a half rows of taps on: below, most loads serve one output only, and lines (window_line.h) do as well. */
TESS_INLINE bool tess_window_rings_pay(const tess_window_kernels *k, int64_t taps) {
    return tess_window_fours_of(k, taps) || taps * 2 > 3 * k->lanes;
}

/* As tess_window_rings, four stretches at a time. These stand a quarter of a page apart, modulo pages: as far apart as pages they would meet in the same sets of
 * the first-level cache, and where one is a line or two ahead of another loads would wait for stores whose addresses agree in the last 12 bits. On a Zen 5 they are long, and
 * each is asked for a little ahead in L1: 33 KiB of each of four rows of memory, then of the next ones, is an order in which a copy has 80 % of its speed. */
TESS_INLINE int64_t tess_window_in_fours(tess_window_ring fours, const tess_window_kernels *k, const tess_window_line *line) {
    enum { STREAMS = TESS_WINDOW_FOURS_STREAMS, LINE = 64, PAGE = 4096 / LINE, APART = PAGE / STREAMS, SHORTEST = 16, NEAR_ZEN5 = 4096 };
    const int64_t longest = (tess_cpu_is_zen5() ? 32 : 8) * PAGE + APART;
    int64_t done = 0;
    for (;;) {
        int64_t steps = tess_min64((line->count - done) / (STREAMS * k->lanes), longest);
        if (steps < SHORTEST)
            return done;
        if (steps >= PAGE + APART)
            steps = (steps - APART) / PAGE * PAGE + APART;
        else if (steps % PAGE == 0)
            steps -= 3;
        const tess_window_stretch stretch = {.x = line->x + done * line->width,
                                             .out = line->out + done * line->width,
                                             .weights = line->weights,
                                             .hop = steps * LINE,
                                             .steps = steps,
                                             .near = tess_cpu_is_zen5() && steps >= 16 * PAGE ? NEAR_ZEN5 : 0,
                                             .stream = line->stream};
        fours(&stretch);
        done += steps * STREAMS * k->lanes;
    }
}

/* Does as much of the row as rings can take, and returns the number of outputs done. Masks of more rows than the deepest ring takes go in several
 * passes over the same outputs, whose sums wait in the first-level cache. Rings of different depths cut these into different numbers of stretches, all of which divide
 * EVERY. */
TESS_INLINE int64_t tess_window_rings(const tess_window_kernels *k, const tess_window_line *line) {
    enum { EVERY = 24, LONGEST = TESS_WINDOW_WAITING / 64, SHORTEST = 16 };
    const tess_window_ring fours = tess_window_fours_of(k, line->taps);
    if (fours)
        return tess_window_in_fours(fours, k, line);
    const int64_t width = line->width, vector = k->lanes * width;
    const int64_t deep = tess_ceil_div(line->taps, k->lanes), passes = tess_ceil_div(deep, k->deepest);
    const int64_t unit = passes > 1 ? EVERY : k->streams[deep], longest = passes > 1 ? LONGEST / EVERY : LONGEST;
    const int64_t in_line =
        vector % 64 != 0 ? 64 / vector : 1; /* stretches begin with a line, so that the halves of each are stored one after the other */
    int64_t done = 0;
    for (;;) {
        int64_t units = tess_min64((line->count - done) / (unit * k->lanes), longest);
        if (units < (passes > 1 ? SHORTEST / 2 : SHORTEST))
            return done;
        units -= units % 16 == 0 ? in_line : units % in_line; /* stretches a power of two apart would meet in the same sets of the caches */
        for (int64_t p = 0; p < passes; p++) {
            const int64_t from = deep * p / passes, to = deep * (p + 1) / passes, steps = units * unit / k->streams[to - from];
            char *out = line->out + done * width, *waiting = line->sums ? line->sums : out;
            const tess_window_stretch stretch = {.x = line->x + done * width + from * vector,
                                                 .out = p == passes - 1 ? out : waiting,
                                                 .weights = (const char *)line->weights + from * vector,
                                                 .hop = steps * vector,
                                                 .steps = steps,
                                                 .last_taps = p == passes - 1 ? line->taps - (deep - 1) * k->lanes : k->lanes,
                                                 .sums = p > 0 ? waiting : NULL,
                                                 .stream = line->stream && p == passes - 1 && (passes == 1 || line->sums)};
            k->ring[to - from](&stretch);
        }
        done += units * unit * k->lanes;
    }
}

#endif

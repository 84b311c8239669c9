/* SPDX-License-Identifier: Apache-2.0
 * put_lines.h - pieces of a row that follow each other go past the caches in whole lines; what ends within one waits in the buffer for the next piece.
 *
 *     stage         |....wwww|pppppppppppp|      w waits, right before the piece p: LINE bytes are kept for it
 *     destination       |wwwwpppp|pppp| p p p p   two whole lines go out, the rest is moved to the front and waits
 *
 * A piece stored by itself ends in halves of lines, which memory has to read before it can write them. */
#ifndef TESS_OPS_TRANSPOSE_PUT_LINES_H
#define TESS_OPS_TRANSPOSE_PUT_LINES_H

#include <string.h>

#include "simd/lanes.h"

enum { LINE = 64 };

/* Stores what waits and the `bytes` more that belong to `to`, up to the last whole line, or all. Returns what waits now. */
static int64_t tess_put_lines(char *restrict to, char *restrict stage, int64_t waits, int64_t bytes, bool last) {
    const int64_t rest = last ? 0 : tess_min64((int64_t)((uintptr_t)(to + bytes) % LINE), waits + bytes);
    tess_stream_copy(to - waits, stage + LINE - waits, waits + bytes - rest);
    memmove(stage, stage + bytes, LINE);
    return rest;
}

#endif

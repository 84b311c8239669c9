/* SPDX-License-Identifier: Apache-2.0
 * limits.h - the loops of cpu_limits.c as a table, one for each instruction set. */
#ifndef TESS_CORE_LIMITS_H
#define TESS_CORE_LIMITS_H

#include "core/base.h"

typedef struct tess_limit_loops {
    uint64_t (*read)(const char *from, int64_t bytes);
    void (*copy)(char *to, const char *from, int64_t bytes); /* with streaming stores */
    void (*write)(char *to, int64_t bytes, float value);
    void (*plain_copy)(char *to, const char *from, int64_t bytes); /* with ordinary stores */
    void (*plain_write)(char *to, int64_t bytes, float value);
    /* The sum of `count` elements of a table of 2^bits floats, at places that no prefetcher guesses. */
    double (*random_reads)(const float *table, int bits, int64_t count, uint64_t seed);
    double (*fma_f32)(int64_t rounds);
    double (*fma_f64)(int64_t rounds);
    double f32_flops, f64_flops; /* of one round */
} tess_limit_loops;

const tess_limit_loops *tess_limit_loops_for(tess_isa_slot slot);

#endif

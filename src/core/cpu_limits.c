/* SPDX-License-Identifier: Apache-2.0
 * cpu_limits.c - the loops that define the machine's limits: read, copy, write, random reads, fused multiply-add. Compiled once per instruction set.
 *
 * They are the ceilings that everything else is measured against, so they are written to be fast and nothing else: four read streams (one alone does
 * not fill the memory pipeline on the machines tried), streaming stores of whole vectors, enough independent chains for the latency of an fma. */
#include "core/limits.h"
#include "simd/simd.h"

enum { STREAMS = 4, CHAINS = 12 };

/* bytes a multiple of 4 KiB, both pointers 64-byte aligned. The sum keeps the compiler from dropping the loads. */
static uint64_t read_bytes(const char *from, int64_t bytes) {
    int64_t quarter = bytes / STREAMS;
    v_i64 sum[STREAMS] = {{0}};
    for (int64_t i = 0; i < quarter; i += 2 * TESS_VECTOR_BYTES)
        for (int s = 0; s < STREAMS; s++) {
            sum[s] ^= v_i64_load(from + s * quarter + i);
            sum[s] ^= v_i64_load(from + s * quarter + i + TESS_VECTOR_BYTES);
        }
    uint64_t all = 0;
    for (int s = 0; s < STREAMS; s++)
        for (int k = 0; k < TESS_VECTOR_BYTES / 8; k++)
            all ^= (uint64_t)sum[s][k];
    return all;
}

static void copy_bytes(char *to, const char *from, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += TESS_VECTOR_BYTES)
        v_f32_stream(to + i, v_f32_load(from + i));
}

/* Not zeros: lines of zeros can be written faster than others. */
static void write_bytes(char *to, int64_t bytes, float value) {
    v_f32 v = v_f32_all(value);
    for (int64_t i = 0; i < bytes; i += TESS_VECTOR_BYTES)
        v_f32_stream(to + i, v);
}

/* Two vectors a round, held in names of their own: a loop of one copied vector would be turned into memcpy, which chooses its stores itself. */
static void plain_copy_bytes(char *to, const char *from, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 2 * TESS_VECTOR_BYTES) {
        v_f32 a = v_f32_load(from + i), b = v_f32_load(from + i + TESS_VECTOR_BYTES);
        v_f32_store(to + i, a);
        v_f32_store(to + i + TESS_VECTOR_BYTES, b);
    }
}

static void plain_write_bytes(char *to, int64_t bytes, float value) {
    v_f32 v = v_f32_all(value);
    for (int64_t i = 0; i < bytes; i += TESS_VECTOR_BYTES)
        v_f32_store(to + i, v);
}

/* Places are hashes of a counter (the first steps of SplitMix64): each is known long before the element there arrives, so as many reads are on their
 * way as the processor can hold. */
static double random_reads(const float *table, int bits, int64_t count, uint64_t seed) {
    float sum[4] = {0};
    for (int64_t i = 0; i < count; i += 4)
        for (int k = 0; k < 4; k++) {
            uint64_t z = (seed + (uint64_t)(i + k)) * 0x9e3779b97f4a7c15u;
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
            sum[k] += table[z >> (64 - bits)];
        }
    return (double)(sum[0] + sum[1] + sum[2] + sum[3]);
}

/* The factors are loaded through volatile so that nothing is known at compile time. */
static double fma_f32(int64_t rounds) {
    static const volatile float factor = 0.9999f, term = 1e-4f;
    v_f32 chain[CHAINS], a = v_f32_all(factor), b = v_f32_all(term);
    for (int c = 0; c < CHAINS; c++)
        chain[c] = v_f32_all((float)c);
    for (int64_t i = 0; i < rounds; i++)
        for (int c = 0; c < CHAINS; c++)
            chain[c] = v_f32_fma(chain[c], a, b);
    float sum = 0;
    for (int c = 0; c < CHAINS; c++)
        sum += chain[c][0];
    return (double)sum;
}

static double fma_f64(int64_t rounds) {
    static const volatile double factor = 0.9999, term = 1e-4;
    v_f64 chain[CHAINS], a = v_f64_all(factor), b = v_f64_all(term);
    for (int c = 0; c < CHAINS; c++)
        chain[c] = v_f64_all((double)c);
    for (int64_t i = 0; i < rounds; i++)
        for (int c = 0; c < CHAINS; c++)
            chain[c] = v_f64_fma(chain[c], a, b);
    double sum = 0;
    for (int c = 0; c < CHAINS; c++)
        sum += chain[c][0];
    return sum;
}

const tess_limit_loops *TESS_ISA_NAME(tess_limit_loops_of)(void);
const tess_limit_loops *TESS_ISA_NAME(tess_limit_loops_of)(void) {
    static const tess_limit_loops loops = {.read = read_bytes,
                                           .copy = copy_bytes,
                                           .write = write_bytes,
                                           .plain_copy = plain_copy_bytes,
                                           .plain_write = plain_write_bytes,
                                           .random_reads = random_reads,
                                           .fma_f32 = fma_f32,
                                           .fma_f64 = fma_f64,
                                           .f32_flops = 2.0 * CHAINS * TESS_F32_LANES,
                                           .f64_flops = 2.0 * CHAINS * TESS_F64_LANES};
    return &loops;
}

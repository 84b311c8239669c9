/* SPDX-License-Identifier: Apache-2.0
 * limits.c - measuring what the machine can do, with the threads and the instruction set of a context: the best of several rounds each. */
#include "core/limits.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/engine.h"
#include "core/parallel.h"
#include "core/strategy.h"

/* CACHED: bytes of each array of a thread that stays in its core's cache. TABLE_BITS: 64 MiB of floats. The rest: what a piece is, and how many each thread gets
 * of those that do not go through the two arrays. */
enum { PIECE = 4 << 20, FMA_ROUNDS = 100000, CACHED = 128 << 10, CACHED_ROUNDS = 200, TABLE_BITS = 24, RANDOM_READS = 1 << 20, PIECES = 16 };

/* The first STREAMS go through the two arrays. */
typedef enum work { WRITE, READ, COPY, PLAIN_WRITE, PLAIN_COPY, STREAMS, CACHED_READ = STREAMS, CACHED_COPY, RANDOM, FMA_F32, FMA_F64, WORKS } work;

typedef struct job {
    const tess_limit_loops *loops;
    work what;
    char *from, *to;
    _Atomic uint64_t sink; /* results go here so that no loop is dead */
} job;

#define DECLARE(slot, suffix) const tess_limit_loops *tess_limit_loops_of_##suffix(void);
TESS_BUILDS(DECLARE)

const tess_limit_loops *tess_limit_loops_for(tess_isa_slot slot) {
    switch (slot) {
#define LOOPS(s, suffix) \
    case s: return tess_limit_loops_of_##suffix();
        TESS_BUILDS(LOOPS)
    default: return tess_limit_loops_of_baseline();
    }
}

static void stream(job *j, int64_t piece) {
    char *from = j->from + piece * PIECE, *to = j->to + piece * PIECE;
    switch (j->what) {
    case READ: j->sink ^= j->loops->read(from, PIECE); break;
    case COPY: j->loops->copy(to, from, PIECE); break;
    case PLAIN_COPY: j->loops->plain_copy(to, from, PIECE); break;
    case PLAIN_WRITE: j->loops->plain_write(to, PIECE, (float)piece + 0.25f); break;
    default: j->loops->write(to, PIECE, (float)piece + 0.5f); break;
    }
}

static void compute(job *j, int64_t piece, int worker) {
    char *from = j->from + (int64_t)worker * CACHED, *to = j->to + (int64_t)worker * CACHED;
    uint64_t sum = 0;
    switch (j->what) {
    case CACHED_READ:
        for (int round = 0; round < CACHED_ROUNDS; round++)
            sum ^= j->loops->read(from, CACHED);
        break;
    case CACHED_COPY:
        for (int round = 0; round < CACHED_ROUNDS; round++)
            j->loops->plain_copy(to, from, CACHED);
        break;
    case RANDOM: sum = (uint64_t)j->loops->random_reads((const float *)j->from, TABLE_BITS, RANDOM_READS, (uint64_t)piece << 32); break;
    case FMA_F32: sum = (uint64_t)j->loops->fma_f32(FMA_ROUNDS); break;
    default: sum = (uint64_t)j->loops->fma_f64(FMA_ROUNDS); break;
    }
    j->sink ^= sum;
}

static void run_pieces(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    for (int64_t piece = begin; piece < end; piece++)
        if (j->what < STREAMS)
            stream(j, piece);
        else
            compute(j, piece, worker);
}

/* Four times the last-level cache, at least 256 MiB, at most 1 GiB and an eighth of the memory (but always the table of random reads and a piece of cache for
 * each thread): on a machine with a larger cache than that, or a
 * shared one, part of the copy may be served by it, which the best of several rounds would show as a limit that is too high, never too low. */
static int64_t array_size(int threads) {
    tess_cpu_info info;
    tess_cpu_info_get(&info);
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    int64_t size = tess_max64(4 * info.l3_all, (int64_t)256 << 20);
    size = tess_min64(size, tess_min64((int64_t)1 << 30, memory / 8));
    size = tess_max64(size, tess_max64((int64_t)sizeof(float) << TABLE_BITS, (int64_t)threads * CACHED));
    return tess_ceil_div(size, PIECE) * PIECE;
}

static tess_status measure(tess_context *context, job *j, int64_t pieces, int threads, double budget, double *best) {
    double start = tess_seconds();
    for (int round = 0; round < 3 || tess_seconds() - start < budget; round++) {
        double before = tess_seconds();
        TESS_TRY(tess_parallel(context, threads, pieces, 1, run_pieces, j));
        double took = tess_seconds() - before;
        if (round == 0 || took < *best)
            *best = took;
    }
    return TESS_OK;
}

static tess_status measure_all(tess_context *context, job *j, int64_t size, int threads, double seconds, double took[WORKS]) {
    j->what = WRITE; /* also makes the pages and fills them */
    TESS_TRY(tess_parallel(context, threads, size / PIECE, 1, run_pieces, j));
    memcpy(j->from, j->to, (size_t)size);
    for (int what = 0; what < WORKS; what++) {
        j->what = (work)what;
        TESS_TRY(measure(context, j, what < STREAMS ? size / PIECE : (int64_t)PIECES * threads, threads, seconds / (WORKS + 2), &took[what]));
    }
    return TESS_OK;
}

static void hand_out(tess_limits *limits, const tess_limits *found) {
    memcpy(limits, found, found->struct_size < sizeof *found ? found->struct_size : sizeof *found);
}

static tess_status measure_card(tess_context *context, double seconds, tess_limits *limits) {
    tess_limits found = {.struct_size = limits->struct_size};
    const tess_engine_hooks *hooks = tess_engine_find(context->options.engine);
    if (!hooks || !hooks->limits)
        return tess_fail(TESS_ERR_ENGINE, "limits of the engine %s are not measured", tess_engine_name(context->options.engine));
    TESS_TRY(hooks->limits(context, seconds, &found));
    hand_out(limits, &found);
    return TESS_OK;
}

tess_status tess_measure_limits(tess_context *given, double seconds, tess_limits *limits) {
    tess_context *context;
    double took[WORKS];
    if (!limits || limits->struct_size < sizeof(size_t))
        return tess_fail(TESS_ERR_ARGUMENT, "limits is NULL or its struct_size is not set");
    if (!(seconds >= 0 && seconds <= 3600))
        return tess_fail(TESS_ERR_ARGUMENT, "seconds is %g, the limits are 0 and 3600", seconds);
    TESS_TRY(tess_context_get(&context, given));
    if (context->options.engine == TESS_ENGINE_CUDA)
        return measure_card(context, seconds, limits);
    int threads = atomic_load(&context->threads);
    int64_t size = array_size(threads);
    job j = {.loops = tess_limit_loops_for(context->slot)};
    char *block = tess_allocate(context, (size_t)(2 * size));
    if (!block)
        return TESS_ERR_MEMORY;
    char *whole_pages = block + (-(uintptr_t)block & 4095);
    madvise(whole_pages, (size_t)(2 * size - (whole_pages - block)) & ~(size_t)4095, MADV_HUGEPAGE); /* advice: failure does no harm */
    j.from = block;
    j.to = block + size;
    tess_status status = measure_all(context, &j, size, threads, seconds, took);
    tess_free(context, block, (size_t)(2 * size));
    TESS_TRY(status);
    double pieces = (double)PIECES * threads, fmas = FMA_ROUNDS * pieces, cached = (double)CACHED * CACHED_ROUNDS * pieces;
    tess_limits found = {.struct_size = limits->struct_size,
                         .threads = threads,
                         .read_bytes_per_s = (double)size / took[READ],
                         .copy_bytes_per_s = 2 * (double)size / took[COPY],
                         .write_bytes_per_s = (double)size / took[WRITE],
                         .f32_flops_per_s = fmas * j.loops->f32_flops / took[FMA_F32],
                         .f64_flops_per_s = fmas * j.loops->f64_flops / took[FMA_F64],
                         .plain_copy_bytes_per_s = 2 * (double)size / took[PLAIN_COPY],
                         .plain_write_bytes_per_s = (double)size / took[PLAIN_WRITE],
                         .cached_read_bytes_per_s = cached / took[CACHED_READ],
                         .cached_copy_bytes_per_s = 2 * cached / took[CACHED_COPY],
                         .random_reads_per_s = RANDOM_READS * pieces / took[RANDOM]};
    hand_out(limits, &found);
    return TESS_OK;
}

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
enum {
    PIECE = 4 << 20,
    PAGE = 4096,
    FMA_ROUNDS = 100000,
    CACHED = 128 << 10,
    CACHED_ROUNDS = 200,
    TABLE_BITS = 24,
    RANDOM_READS = 1 << 20,
    PIECES = 16
};

enum { KINDS = TESS_LIMIT_F64_FLOPS + 1 };

/* Whether it goes through the two arrays. */
static bool streams(tess_limit what) { return what <= TESS_LIMIT_PLAIN_COPY; }

typedef struct job {
    const tess_limit_loops *loops;
    tess_limit what;
    int threads;
    char *from, *to;
    int64_t size;          /* of each array, a multiple of PAGE */
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
    int64_t bytes = tess_min64(PIECE, j->size - piece * PIECE);
    switch (j->what) {
    case TESS_LIMIT_READ: j->sink ^= j->loops->read(from, bytes); break;
    case TESS_LIMIT_COPY: j->loops->copy(to, from, bytes); break;
    case TESS_LIMIT_PLAIN_COPY: j->loops->plain_copy(to, from, bytes); break;
    case TESS_LIMIT_PLAIN_WRITE: j->loops->plain_write(to, bytes, (float)piece + 0.25f); break;
    default: j->loops->write(to, bytes, (float)piece + 0.5f); break;
    }
}

static void compute(job *j, int64_t piece, int worker) {
    int64_t own = (int64_t)worker * CACHED;
    uint64_t sum = 0;
    switch (j->what) {
    case TESS_LIMIT_CACHED_READ:
        for (int round = 0; round < CACHED_ROUNDS; round++)
            sum ^= j->loops->read(j->from + own, CACHED);
        break;
    case TESS_LIMIT_CACHED_COPY:
        for (int round = 0; round < CACHED_ROUNDS; round++)
            j->loops->plain_copy(j->to + own, j->from + own, CACHED);
        break;
    case TESS_LIMIT_RANDOM_READS:
        sum = (uint64_t)j->loops->random_reads((const float *)j->from, TABLE_BITS, RANDOM_READS, (uint64_t)piece << 32);
        break;
    case TESS_LIMIT_F32_FLOPS: sum = (uint64_t)j->loops->fma_f32(FMA_ROUNDS); break;
    default: sum = (uint64_t)j->loops->fma_f64(FMA_ROUNDS); break;
    }
    j->sink ^= sum;
}

static void run_pieces(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    for (int64_t piece = begin; piece < end; piece++)
        if (streams(j->what))
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

/* What one pass of the loop moves or computes: bytes read and written, reads, flops. */
static double amount(const job *j) {
    double pieces = (double)PIECES * j->threads;
    switch (j->what) {
    case TESS_LIMIT_COPY:
    case TESS_LIMIT_PLAIN_COPY: return 2 * (double)j->size;
    case TESS_LIMIT_CACHED_READ: return (double)CACHED * CACHED_ROUNDS * pieces;
    case TESS_LIMIT_CACHED_COPY: return 2 * (double)CACHED * CACHED_ROUNDS * pieces;
    case TESS_LIMIT_RANDOM_READS: return RANDOM_READS * pieces;
    case TESS_LIMIT_F32_FLOPS: return FMA_ROUNDS * pieces * j->loops->f32_flops;
    case TESS_LIMIT_F64_FLOPS: return FMA_ROUNDS * pieces * j->loops->f64_flops;
    default: return (double)j->size;
    }
}

/* One time through the arrays, or PIECES times the loop for each thread. */
static tess_status pass(tess_context *context, job *j, double *per_second) {
    int64_t pieces = streams(j->what) ? tess_ceil_div(j->size, PIECE) : (int64_t)PIECES * j->threads;
    double before = tess_seconds();
    TESS_TRY(tess_parallel(context, j->threads, pieces, 1, run_pieces, j));
    *per_second = amount(j) / (tess_seconds() - before);
    return TESS_OK;
}

static tess_status measure_all(tess_context *context, job *j, double seconds, double best[KINDS]) {
    double rate;
    j->what = TESS_LIMIT_WRITE; /* also makes the pages and fills them */
    TESS_TRY(pass(context, j, &rate));
    memcpy(j->from, j->to, (size_t)j->size);
    for (int what = 0; what < KINDS; what++) {
        double start = tess_seconds();
        j->what = (tess_limit)what;
        best[what] = 0;
        for (int round = 0; round < 3 || tess_seconds() - start < seconds / (KINDS + 2); round++) {
            TESS_TRY(pass(context, j, &rate));
            best[what] = rate > best[what] ? rate : best[what];
        }
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
    double best[KINDS];
    if (!limits || limits->struct_size < sizeof(size_t))
        return tess_fail(TESS_ERR_ARGUMENT, "limits is NULL or its struct_size is not set");
    hand_out(limits, &(tess_limits){.struct_size = limits->struct_size});
    if (!(seconds >= 0 && seconds <= 3600))
        return tess_fail(TESS_ERR_ARGUMENT, "seconds is %g, the limits are 0 and 3600", seconds);
    TESS_TRY(tess_context_get(&context, given));
    if (context->options.engine == TESS_ENGINE_CUDA)
        return measure_card(context, seconds, limits);
    int threads = atomic_load(&context->threads);
    int64_t size = array_size(threads);
    job j = {.loops = tess_limit_loops_for(context->slot), .threads = threads, .size = size};
    char *block = tess_allocate(context, (size_t)(2 * size));
    if (!block)
        return TESS_ERR_MEMORY;
    char *whole_pages = block + (-(uintptr_t)block & (PAGE - 1));
    madvise(whole_pages, (size_t)(2 * size - (whole_pages - block)) & ~(size_t)(PAGE - 1), MADV_HUGEPAGE); /* advice: failure does no harm */
    j.from = block;
    j.to = block + size;
    tess_status status = measure_all(context, &j, seconds, best);
    tess_free(context, block, (size_t)(2 * size));
    TESS_TRY(status);
    tess_limits found = {.struct_size = limits->struct_size,
                         .threads = threads,
                         .read_bytes_per_s = best[TESS_LIMIT_READ],
                         .copy_bytes_per_s = best[TESS_LIMIT_COPY],
                         .write_bytes_per_s = best[TESS_LIMIT_WRITE],
                         .f32_flops_per_s = best[TESS_LIMIT_F32_FLOPS],
                         .f64_flops_per_s = best[TESS_LIMIT_F64_FLOPS],
                         .plain_copy_bytes_per_s = best[TESS_LIMIT_PLAIN_COPY],
                         .plain_write_bytes_per_s = best[TESS_LIMIT_PLAIN_WRITE],
                         .cached_read_bytes_per_s = best[TESS_LIMIT_CACHED_READ],
                         .cached_copy_bytes_per_s = best[TESS_LIMIT_CACHED_COPY],
                         .random_reads_per_s = best[TESS_LIMIT_RANDOM_READS],
                         .array_bytes = (size_t)size};
    hand_out(limits, &found);
    return TESS_OK;
}

/* Bytes that each array must have at least. */
static int64_t least_size(tess_limit what, int threads) {
    if (what == TESS_LIMIT_F32_FLOPS || what == TESS_LIMIT_F64_FLOPS)
        return 0;
    if (what == TESS_LIMIT_RANDOM_READS)
        return (int64_t)sizeof(float) << TABLE_BITS;
    return streams(what) ? PAGE : (int64_t)threads * CACHED;
}

tess_status tess_time_limit(tess_context *given, tess_limit what, void *to, const void *from, size_t bytes, double *per_second) {
    tess_context *context;
    if (!per_second)
        return tess_fail(TESS_ERR_ARGUMENT, "per_second is NULL");
    *per_second = 0;
    if ((int)what < 0 || (int)what >= KINDS)
        return tess_fail(TESS_ERR_ARGUMENT, "what is %d, the limits are 0 and %d", (int)what, KINDS - 1);
    TESS_TRY(tess_context_get(&context, given));
    if (context->options.engine == TESS_ENGINE_CUDA)
        return tess_fail(TESS_ERR_ENGINE, "single passes are timed on CPUs only, the context's engine is %s", tess_engine_name(TESS_ENGINE_CUDA));
    bool writes = what != TESS_LIMIT_READ && what != TESS_LIMIT_CACHED_READ && what != TESS_LIMIT_RANDOM_READS,
         reads = what != TESS_LIMIT_WRITE && what != TESS_LIMIT_PLAIN_WRITE;
    int threads = atomic_load(&context->threads);
    int64_t least = least_size(what, threads);
    if (least > 0 && ((reads && !from) || (writes && !to)))
        return tess_fail(TESS_ERR_ARGUMENT, "%s is NULL", reads && !from ? "from" : "to");
    /* the loops want whole vectors that are aligned */
    uintptr_t lost_from = reads ? -(uintptr_t)from & 63 : 0, lost_to = writes ? -(uintptr_t)to & 63 : 0,
              lost = lost_from > lost_to ? lost_from : lost_to;
    int64_t size = bytes > lost ? (int64_t)((bytes - lost) & ~(size_t)(PAGE - 1)) : 0;
    if (size < least)
        return tess_fail(TESS_ERR_SIZE, "bytes is %zu, of which %lld are whole pages from an aligned one on, the least is %lld", bytes,
                         (long long)size, (long long)least);
    job j = {.loops = tess_limit_loops_for(context->slot), .what = what, .threads = threads, .size = size};
    j.from = reads ? (char *)from + lost_from : (char *)to + lost_to;
    j.to = writes ? (char *)to + lost_to : j.from; /* one that is not used is no NULL to count from */
    return pass(context, &j, per_second);
}

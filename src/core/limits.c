/* SPDX-License-Identifier: Apache-2.0
 * limits.c - measuring what the machine can do, with the threads and the instruction set of a context: the best of several rounds each. */
#include "core/limits.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/parallel.h"
#include "core/strategy.h"

enum { PIECE = 4 << 20, FMA_ROUNDS = 100000, FMA_PIECES = 16 };

typedef enum work { READ, COPY, WRITE, FMA_F32, FMA_F64, WORKS } work;

typedef struct job {
    const tess_limit_loops *loops;
    work what;
    char *from, *to;
    _Atomic uint64_t sink; /* results go here so that no loop is dead */
} job;

#if defined(__x86_64__)
const tess_limit_loops *tess_limit_loops_of_baseline(void), *tess_limit_loops_of_avx2(void), *tess_limit_loops_of_avx512(void);
#elif defined(__aarch64__)
const tess_limit_loops *tess_limit_loops_of_baseline(void), *tess_limit_loops_of_neon(void);
#else
const tess_limit_loops *tess_limit_loops_of_baseline(void);
#endif

static const tess_limit_loops *loops_for(tess_isa_slot slot) {
    switch (slot) {
#if defined(__x86_64__)
    case TESS_SLOT_AVX2: return tess_limit_loops_of_avx2();
    case TESS_SLOT_AVX512: return tess_limit_loops_of_avx512();
#elif defined(__aarch64__)
    case TESS_SLOT_NEON: return tess_limit_loops_of_neon();
#endif
    default: return tess_limit_loops_of_baseline();
    }
}

static void run_pieces(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    (void)worker;
    for (int64_t piece = begin; piece < end; piece++) {
        char *from = j->from + piece * PIECE, *to = j->to + piece * PIECE;
        switch (j->what) {
        case READ: j->sink ^= j->loops->read(from, PIECE); break;
        case COPY: j->loops->copy(to, from, PIECE); break;
        case WRITE: j->loops->write(to, PIECE, (float)piece + 0.5f); break;
        case FMA_F32: j->sink ^= (uint64_t)j->loops->fma_f32(FMA_ROUNDS); break;
        case FMA_F64: j->sink ^= (uint64_t)j->loops->fma_f64(FMA_ROUNDS); break;
        case WORKS: break;
        }
    }
}

/* Four times the last-level cache, at least 256 MiB, at most 1 GiB and an eighth of the memory: on a machine with a larger cache than that, or a
 * shared one, part of the copy may be served by it, which the best of several rounds would show as a limit that is too high, never too low. */
static int64_t array_size(void) {
    tess_cpu_info info;
    tess_cpu_info_get(&info);
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    int64_t size = tess_max64(4 * info.l3, (int64_t)256 << 20);
    size = tess_min64(size, tess_min64((int64_t)1 << 30, memory / 8));
    return tess_max64(size / PIECE, 1) * PIECE;
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
    for (int what = READ; what < WORKS; what++) {
        j->what = (work)what;
        TESS_TRY(measure(context, j, what >= FMA_F32 ? (int64_t)FMA_PIECES * threads : size / PIECE, threads, seconds / (WORKS + 2), &took[what]));
    }
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
    int threads = atomic_load(&context->threads);
    int64_t size = array_size();
    job j = {.loops = loops_for(context->slot)};
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
    double fmas = (double)FMA_ROUNDS * FMA_PIECES * threads;
    tess_limits found = {.struct_size = limits->struct_size,
                         .threads = threads,
                         .read_bytes_per_s = (double)size / took[READ],
                         .copy_bytes_per_s = 2 * (double)size / took[COPY],
                         .write_bytes_per_s = (double)size / took[WRITE],
                         .f32_flops_per_s = fmas * j.loops->f32_flops / took[FMA_F32],
                         .f64_flops_per_s = fmas * j.loops->f64_flops / took[FMA_F64]};
    memcpy(limits, &found, found.struct_size < sizeof found ? found.struct_size : sizeof found);
    return TESS_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 * parallel.c - a small thread pool: one job at a time, pieces handed out by an atomic counter.
 *
 * Own threads and not OpenMP because the library must survive fork(), be clean under ThreadSanitizer, start no thread before it has
 * work for one and be unloadable. Idle threads sleep on a condition variable; only a caller that has run out of work waits for the last pieces of
 * others awake, for a moment, because being woken would take longer.
 *
 * Helpers are kept off the processor that the caller is on. Linux likes to wake a thread where its waker runs; a helper there takes turns with the caller, for
 * milliseconds, until the balancer moves it (measured on two virtual processors: 200 of 200 wake-ups, and no gain from a second thread below 1 ms of work). */
#include "core/parallel.h"

#include <sched.h>
#include <signal.h>

#include "core/environment.h"
#include "core/process.h"
#include "core/processor.h"
#include "core/strategy.h"

enum {
    MAX_THREADS = 1024,
    SPINS = 1000 /* pauses: some tens of microseconds */,
    ASKED = 16 /* pieces at least of a guided job that reports progress or is one thread's: the callback is asked between them */
};

struct tess_pool {
    pid_t owner;          /* a forked child has the structure but not the threads */
    pthread_mutex_t busy; /* held by the caller whose job runs; others find it taken and work alone */
    pthread_mutex_t lock; /* guards all below but `next` and `cancelled` */
    pthread_cond_t wake, done;
    uint64_t job; /* number of the current job; a thread that sees a new one joins in */
    bool quit;
    int started;        /* threads that exist */
    int wanted;         /* threads that may join the current job, the caller not counted */
    _Atomic int inside; /* threads that have joined and not left; written with the lock held */
    int placed, caller; /* so many threads are kept off the processor `caller`; the job's caller alone reads and writes these */
    tess_task task;
    void *argument;
    int64_t count, grain, shares, longest;
    _Atomic int64_t next;
    _Atomic bool cancelled;
    pthread_t thread[MAX_THREADS];
};

/* Takes the next piece: a grain, or as many grains as a `shares`-th part of what is left has, or the longest piece, where shares is not 0. Returns its first
 * index; *end: one behind its last. */
static int64_t take(tess_pool *pool, int64_t *end) {
    int64_t begin;
    if (pool->shares == 0) {
        begin = atomic_fetch_add_explicit(&pool->next, pool->grain, memory_order_relaxed);
        *end = tess_min64(begin + pool->grain, pool->count);
        return begin;
    }
    begin = atomic_load_explicit(&pool->next, memory_order_relaxed);
    do {
        int64_t left = tess_max64(pool->count - begin, 0), piece = tess_max64(left / pool->shares / pool->grain, 1) * pool->grain;
        *end = begin + tess_min64(left, tess_min64(piece, pool->longest));
    } while (!atomic_compare_exchange_weak_explicit(&pool->next, &begin, *end, memory_order_relaxed, memory_order_relaxed));
    return begin;
}

static void work(tess_pool *pool, int worker) {
    while (!atomic_load_explicit(&pool->cancelled, memory_order_relaxed)) {
        int64_t end, begin = take(pool, &end);
        if (begin >= pool->count)
            break;
        pool->task(pool->argument, begin, end, worker);
    }
    TESS_STREAM_FENCE();
}

static void *thread_main(void *argument) {
    tess_pool *pool = argument;
    uint64_t seen = 0;
    fesetenv(FE_DFL_ENV); /* a new thread inherits that of the host's */
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->quit && (pool->job == seen || pool->wanted == 0)) {
            seen = pool->job;
            pthread_cond_wait(&pool->wake, &pool->lock);
        }
        if (pool->quit)
            break;
        seen = pool->job;
        int worker = pool->wanted--;
        atomic_fetch_add(&pool->inside, 1);
        pthread_mutex_unlock(&pool->lock);
        work(pool, worker);
        pthread_mutex_lock(&pool->lock);
        if (atomic_fetch_sub(&pool->inside, 1) == 1)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static tess_pool *pool_get(tess_context *context) {
    pthread_mutex_lock(&context->lock);
    tess_pool *pool = context->pool;
    if (pool && pool->owner != tess_process_id())
        pool = NULL; /* the parent's: its locks may be in any state, so the structure is abandoned to the child's copy of memory */
    if (!pool) {
        pool = tess_allocate_zeroed(context, sizeof *pool);
        if (pool) {
            pool->owner = tess_process_id();
            pool->caller = -1;
            pthread_mutex_init(&pool->busy, NULL);
            pthread_mutex_init(&pool->lock, NULL);
            pthread_cond_init(&pool->wake, NULL);
            pthread_cond_init(&pool->done, NULL);
        }
        context->pool = pool;
    }
    pthread_mutex_unlock(&context->lock);
    return pool;
}

/* With all signals blocked, so that the host program's handlers never run on our threads. A thread that cannot be made is done without. */
static void start_threads(tess_pool *pool, int wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->started < wanted && pthread_create(&pool->thread[pool->started], NULL, thread_main, pool) == 0)
        pool->started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A caller that may run on one processor only leaves them where they are: they inherited that when they were made. */
static void keep_clear(tess_pool *pool) {
    int caller = sched_getcpu();
    cpu_set_t others;
    if (caller < 0 || (caller == pool->caller && pool->placed == pool->started))
        return;
    if (pthread_getaffinity_np(pthread_self(), sizeof others, &others) != 0)
        return;
    CPU_CLR(caller, &others);
    if (CPU_COUNT(&others) == 0)
        return;
    for (int i = 0; i < pool->started; i++)
        pthread_setaffinity_np(pool->thread[i], sizeof others, &others);
    pool->caller = caller;
    pool->placed = pool->started;
}

/* A caller that works alone adds without a lock: a locked instruction waits until all stores past the caches that are under way have reached memory, which
 * took 3 % of a lookup in pieces of 64 KiB of output. */
static int64_t take_alone(_Atomic int64_t *next, int64_t count, int64_t grain, int64_t *end) {
    int64_t begin = atomic_load_explicit(next, memory_order_relaxed);
    *end = tess_min64(begin + grain, count);
    atomic_store_explicit(next, begin + grain, memory_order_relaxed);
    return begin;
}

/* The calling thread's share of the work, with a look at the progress callback between pieces, at most 20 times a second. */
static bool caller_work(tess_context *context, tess_pool *pool, _Atomic int64_t *next, _Atomic bool *cancelled, int64_t count, int64_t grain,
                        tess_task task, void *argument) {
    const bool asks = context->options.progress && count > grain; /* after the only piece there is nothing left to stop */
    double reported = asks ? tess_seconds() : 0;
    /* Looked at before a piece is taken, which is then done: others may wait for it. */
    while (!atomic_load_explicit(cancelled, memory_order_relaxed)) {
        int64_t end, begin = pool ? take(pool, &end) : take_alone(next, count, grain, &end);
        if (begin >= count)
            break;
        if (pool)
            keep_clear(pool); /* the caller may have been moved */
        task(argument, begin, end, 0);
        if (asks && tess_seconds() - reported > 0.05) {
            reported = tess_seconds();
            double fraction = (double)tess_min64(atomic_load_explicit(next, memory_order_relaxed), count) / (double)count;
            if (context->options.progress(context->options.progress_user, fraction))
                atomic_store_explicit(cancelled, true, memory_order_relaxed);
        }
    }
    TESS_STREAM_FENCE();
    return !atomic_load_explicit(cancelled, memory_order_relaxed);
}

static tess_status run(tess_context *context, int threads, int64_t count, int64_t grain, bool guided, tess_task task, void *argument) {
    bool finished;
    const int64_t longest = tess_max64(count / ASKED / grain, 1) * grain;
    int64_t pieces = count > 0 ? tess_ceil_div(count, grain) : 0;
    int helpers = (int)tess_min64(tess_min64(threads, pieces), MAX_THREADS) - 1;
    tess_pool *pool = helpers > 0 ? pool_get(context) : NULL;
    if (!pool || pthread_mutex_trylock(&pool->busy) != 0) {
        _Atomic int64_t next = 0;
        _Atomic bool cancelled = false;
        finished = caller_work(context, NULL, &next, &cancelled, count, guided ? longest : grain, task, argument);
    } else {
        start_threads(pool, helpers);
        keep_clear(pool);
        pthread_mutex_lock(&pool->lock);
        pool->task = task;
        pool->argument = argument;
        pool->count = count;
        pool->grain = grain;
        pool->shares = guided ? 2 * (helpers + 1) : 0;
        pool->longest = context->options.progress ? longest : count; /* longer ones take up to 2 % less time */
        pool->wanted = helpers;
        atomic_store(&pool->next, 0);
        atomic_store(&pool->cancelled, false);
        pool->job++;
        if (helpers == 1)
            pthread_cond_signal(&pool->wake);
        else
            pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
        finished = caller_work(context, pool, &pool->next, &pool->cancelled, count, grain, task, argument);
        pthread_mutex_lock(&pool->lock);
        pool->wanted = 0; /* a thread that wakes only now finds nothing to join */
        pthread_mutex_unlock(&pool->lock);
        for (int spin = 0; spin < SPINS && atomic_load(&pool->inside) > 0; spin++)
            TESS_PAUSE();
        pthread_mutex_lock(&pool->lock);
        while (atomic_load(&pool->inside) > 0)
            pthread_cond_wait(&pool->done, &pool->lock);
        pthread_mutex_unlock(&pool->lock);
        pthread_mutex_unlock(&pool->busy);
    }
    return finished ? TESS_OK : tess_fail(TESS_ERR_CANCELLED, "the progress callback asked to stop");
}

tess_status tess_parallel(tess_context *context, int threads, int64_t count, int64_t grain, tess_task task, void *argument) {
    return run(context, threads, count, grain, false, task, argument);
}

tess_status tess_parallel_guided(tess_context *context, int threads, int64_t count, int64_t grain, tess_task task, void *argument) {
    return run(context, threads, count, grain, true, task, argument);
}

void tess_pool_free(tess_context *context) {
    tess_pool *pool = context->pool;
    if (!pool)
        return;
    context->pool = NULL;
    if (pool->owner == tess_process_id()) {
        pthread_mutex_lock(&pool->lock);
        pool->quit = true;
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < pool->started; i++)
            pthread_join(pool->thread[i], NULL);
        pthread_mutex_destroy(&pool->busy);
        pthread_mutex_destroy(&pool->lock);
        pthread_cond_destroy(&pool->wake);
        pthread_cond_destroy(&pool->done);
    }
    tess_free(context, pool, sizeof *pool);
}

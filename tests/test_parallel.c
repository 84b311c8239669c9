/* SPDX-License-Identifier: Apache-2.0
 * test_parallel.c - proves: every task runs once, by a worker within the bounds, for any count, grain and number of threads; guided pieces are whole
 * grains and never get longer; a busy pool makes callers work alone and wait for nobody; a cancel stops; a forked child gets threads of its own; signals
 * stay with the host's threads; without memory or threads the caller does the work. Run under ThreadSanitizer too. */
#include "hostile.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/parallel.h"
#include "core/process.h"

typedef struct job {
    unsigned char *runs; /* one for each task: pieces are disjoint, so plain bytes are no race */
    int64_t grain, count;
    int threads;
    atomic_int wrong;
} job;

static void mark(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    if (worker < 0 || worker >= j->threads || begin % j->grain != 0 || end > j->count || end - begin > j->grain || end <= begin)
        atomic_store(&j->wrong, 1);
    for (int64_t i = begin; i < end; i++)
        j->runs[i]++;
}

static tess_context *open_with(int threads) {
    tess_context *context;
    tess_context_options options = {.struct_size = sizeof options, .threads = threads};
    assert_tess_ok(tess_open(&context, &options));
    return context;
}

static job job_of(int threads, int64_t count, int64_t grain) {
    return (job){.runs = calloc((size_t)count + 1, 1), .grain = grain, .count = count, .threads = threads};
}

/* Ends a job: each task ran once, in pieces as they should be. */
static void each_once(job *j) {
    assert_int_equal(atomic_load(&j->wrong), 0);
    for (int64_t i = 0; i < j->count; i++)
        assert_int_equal(j->runs[i], 1);
    free(j->runs);
}

static void check_run(tess_context *context, int threads, int64_t count, int64_t grain) {
    job j = job_of(threads, count, grain);
    assert_tess_ok(tess_parallel(context, threads, count, grain, mark, &j));
    each_once(&j);
}

static void every_task_once(void **state) {
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 3, 7, 64, 1000, 4097}, grains[] = {1, 2, 5, 64, 5000, INT64_MAX / 2};
    for (int threads = 1; threads <= 8; threads++) {
        tess_context *context = open_with(threads);
        for (int round = 0; round < 3; round++)
            for (int c = 0; c < TESS_COUNT(counts); c++)
                for (int g = 0; g < TESS_COUNT(grains); g++)
                    check_run(context, threads, counts[c], grains[g]);
        tess_close(context);
    }
    tess_context *context = open_with(2);
    check_run(context, 1024, 5000, 1); /* a call may ask for more than the context's default */
    check_run(context, 2, 5000, 1);    /* and then for fewer */
    tess_close(context);
}

/* ---- pieces that get shorter ---- */
typedef struct piece {
    int64_t begin, end;
} piece;
typedef struct guided {
    job job;
    piece *piece; /* by first grain */
} guided;

static void note(void *argument, int64_t begin, int64_t end, int worker) {
    guided *g = argument;
    const int64_t grain = g->job.grain;
    if (worker < 0 || worker >= g->job.threads || begin % grain != 0 || (end % grain != 0 && end != g->job.count) || end > g->job.count ||
        end <= begin)
        atomic_store(&g->job.wrong, 1);
    for (int64_t i = begin; i < end; i++)
        g->job.runs[i]++;
    g->piece[begin / grain] = (piece){begin, end};
}

/* Returns how many pieces there were. */
static int64_t check_guided(tess_context *context, int threads, int64_t count, int64_t grain) {
    guided g = {.job = job_of(threads, count, grain), .piece = calloc((size_t)(count / grain + 1), sizeof *g.piece)};
    assert_tess_ok(tess_parallel_guided(context, threads, count, grain, note, &g));
    each_once(&g.job);
    int64_t pieces = 0, before = INT64_MAX;
    for (int64_t at = 0; at < count; at = g.piece[at / grain].end, pieces++) {
        const int64_t length = g.piece[at / grain].end - at;
        assert_int_equal(g.piece[at / grain].begin, at);
        assert_true(length <= before);
        assert_true(!context->options.progress || length <= tess_max64(count / 16, grain)); /* it may cancel between two */
        before = tess_max64(length, grain);                                                 /* all that is left may be less than a grain */
    }
    free(g.piece);
    return pieces;
}

static int go_on(void *user, double fraction) {
    (void)user, (void)fraction;
    return 0;
}

static void pieces_get_shorter(void **state) {
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 3, 7, 64, 1000, 4097}, grains[] = {1, 2, 5, 64, 5000, INT64_MAX / 2};
    for (int threads = 1; threads <= 8; threads++)
        for (int reports = 0; reports < 2; reports++) {
            tess_context *context;
            tess_context_options options = {.struct_size = sizeof options, .threads = threads, .progress = reports ? go_on : NULL};
            assert_tess_ok(tess_open(&context, &options));
            for (int round = 0; round < 3; round++)
                for (int c = 0; c < TESS_COUNT(counts); c++)
                    for (int g = 0; g < TESS_COUNT(grains); g++)
                        assert_in_range(check_guided(context, threads, counts[c], grains[g]), counts[c] > 0, (counts[c] + grains[g] - 1) / grains[g]);
            /* Of 256 grains by two threads a quarter of what is left: 64, 48, 36, ...; or 16 as long as that is less. */
            if (threads == 2)
                assert_in_range(check_guided(context, 2, 1024, 4), reports ? 20 : 12, reports ? 30 : 24);
            if (threads == 1)
                assert_int_equal(check_guided(context, 1, 1024, 4), 16);
            tess_close(context);
        }
}

static void one_thread_starts_none(void **state) {
    (void)state;
    tess_context *context = open_with(1);
    check_run(context, 1, 100, 1);
    assert_null(context->pool);
    tess_close(context);
}

/* ---- a busy pool ---- */
typedef struct nested {
    tess_context *context;
    atomic_int inner_failures, outer;
} nested;

static void inner(void *argument, int64_t begin, int64_t end, int worker) {
    nested *n = argument;
    atomic_fetch_add(&n->outer, (int)(end - begin));
    job j = {.runs = calloc(50, 1), .grain = 3, .count = 50, .threads = 4};
    if (tess_parallel(n->context, 4, 50, 3, mark, &j) != TESS_OK || atomic_load(&j.wrong))
        atomic_fetch_add(&n->inner_failures, 1);
    for (int i = 0; i < 50; i++)
        if (j.runs[i] != 1)
            atomic_fetch_add(&n->inner_failures, 1);
    free(j.runs);
    (void)worker;
}

static void calls_inside_tasks(void **state) {
    (void)state;
    nested n = {.context = open_with(4)};
    assert_tess_ok(tess_parallel(n.context, 4, 40, 1, inner, &n));
    assert_int_equal(atomic_load(&n.outer), 40);
    assert_int_equal(atomic_load(&n.inner_failures), 0);
    tess_close(n.context);
}

static void *caller(void *argument) {
    nested *n = argument;
    for (int i = 0; i < 40; i++)
        inner(n, 0, 1, 0);
    return NULL;
}
static void callers_on_one_context(void **state) {
    (void)state;
    nested n = {.context = open_with(3)};
    pthread_t thread[6];
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, caller, &n), 0);
    for (int i = 0; i < 6; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(atomic_load(&n.inner_failures), 0);
    assert_int_equal(atomic_load(&n.outer), 240);
    tess_close(n.context);
}

/* ---- progress ---- */
typedef struct watch {
    pthread_t thread;
    int calls, cancel_at;
    double last;
    bool wrong;
} watch;
static int progress(void *user, double fraction) {
    watch *w = user;
    w->wrong |= !pthread_equal(w->thread, pthread_self()) || !(fraction >= w->last && fraction <= 1);
    w->last = fraction;
    return ++w->calls == w->cancel_at;
}
static void slow(void *argument, int64_t begin, int64_t end, int worker) {
    (void)worker;
    atomic_fetch_add((atomic_int *)argument, (int)(end - begin));
    usleep(20000);
}
static void progress_and_cancel(void **state) {
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        watch w = {.thread = pthread_self()};
        atomic_int done = 0;
        tess_context *context;
        tess_context_options options = {.struct_size = sizeof options, .threads = threads, .progress = progress, .progress_user = &w};
        assert_tess_ok(tess_open(&context, &options));
        assert_tess_ok(tess_parallel(context, threads, 20, 1, slow, &done));
        assert_true(w.calls >= 2 && !w.wrong);
        assert_int_equal(atomic_load(&done), 20);
        w = (watch){.thread = pthread_self(), .cancel_at = 1};
        atomic_store(&done, 0);
        assert_tess_fails(tess_parallel(context, threads, 1000, 1, slow, &done), TESS_ERR_CANCELLED);
        assert_int_equal(w.calls, 1);
        assert_true(atomic_load(&done) < 100);
        check_run(context, threads, 100, 1); /* the next call is not touched by it */
        tess_close(context);
    }
}

/* ---- fork ---- */
static void forked_child(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* its runtime does not support threads that a forked child starts */
#endif
    tess_context *context = open_with(4);
    check_run(context, 4, 1000, 1); /* now the parent's pool has threads, the child's copy of it has none */
    assert_int_equal(tess_process_id(), getpid());
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20); /* a child that waits for the parent's threads must not hang the suite */
        job j = {.runs = calloc(1000, 1), .grain = 1, .count = 1000, .threads = 4};
        bool good = tess_process_id() == getpid() && tess_process_id() == getpid(); /* asked of the system, then kept */
        good &= tess_parallel(context, 4, 1000, 1, mark, &j) == TESS_OK && !atomic_load(&j.wrong);
        for (int i = 0; i < 1000; i++)
            good &= j.runs[i] == 1;
        tess_close(context);
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_run(context, 4, 1000, 1);
    tess_close(context);
}

/* ---- signals: the pool's threads block them all ---- */
static atomic_int unblocked;
static void look_at_mask(void *argument, int64_t begin, int64_t end, int worker) {
    (void)argument, (void)begin, (void)end;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (worker > 0 && !sigismember(&mask, SIGINT))
        atomic_store(&unblocked, 1);
    usleep(500);
}
static void signals_stay_away(void **state) {
    (void)state;
    tess_context *context = open_with(4);
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_tess_ok(tess_parallel(context, 4, 200, 1, look_at_mask, NULL));
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int signal = 1; signal < NSIG; signal++)
        assert_int_equal(sigismember(&before, signal), sigismember(&after, signal));
    assert_int_equal(atomic_load(&unblocked), 0);
    tess_close(context);
}

/* ---- nothing to be had ---- */
static int requests_left;
static void *failing_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    return requests_left-- > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment) : NULL;
}
static void plain_release(void *user, void *memory, size_t size) {
    (void)user, (void)size;
    free(memory);
}
static void no_memory_for_a_pool(void **state) {
    (void)state;
    tess_context *context;
    tess_context_options options = {.struct_size = sizeof options, .threads = 4, .allocate = failing_allocate, .release = plain_release};
    requests_left = 1;
    assert_tess_ok(tess_open(&context, &options));
    check_run(context, 4, 100, 1);
    assert_null(context->pool);
    requests_left = 100;
    check_run(context, 4, 100, 1);
    assert_non_null(context->pool);
    tess_close(context);
}

/* In a child, because limits on processes cannot be raised again. A superuser is not held by the limit, so the child becomes nobody. */
static void no_threads_to_be_had(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit none = {0, 0};
        if (setrlimit(RLIMIT_NPROC, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0))
            _exit(77);
        tess_context *context = open_with(4);
        pthread_t probe;
        if (pthread_create(&probe, NULL, caller, NULL) == 0)
            _exit(77); /* the limit does not bind here */
        check_run(context, 4, 100, 1);
        tess_close(context);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_task_once),        cmocka_unit_test(pieces_get_shorter),
                                       cmocka_unit_test(one_thread_starts_none), cmocka_unit_test(calls_inside_tasks),
                                       cmocka_unit_test(callers_on_one_context), cmocka_unit_test(progress_and_cancel),
                                       cmocka_unit_test(forked_child),           cmocka_unit_test(signals_stay_away),
                                       cmocka_unit_test(no_memory_for_a_pool),   cmocka_unit_test(no_threads_to_be_had)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 * process.c - numbers for objects, the state of the calling thread, and the number of the process. */
#include "core/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tess_numbered *objects;
static int last_number;
static _Thread_local tess_thread_state thread_state;

void tess_number_give(tess_numbered *object) {
    pthread_mutex_lock(&lock);
    object->number = ++last_number;
    object->next = objects;
    objects = object;
    pthread_mutex_unlock(&lock);
}

void tess_number_take(tess_numbered *object) {
    pthread_mutex_lock(&lock);
    for (tess_numbered **at = &objects; *at; at = &(*at)->next)
        if (*at == object) {
            *at = object->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}

tess_numbered *tess_number_find(int number) {
    pthread_mutex_lock(&lock);
    tess_numbered *found = objects;
    while (found && found->number != number)
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

tess_thread_state *tess_thread_get(void) { return &thread_state; }

/* The number lies in a page of its own that the system empties in a fork's child, whichever way it was forked. */
static _Atomic(_Atomic(pid_t) *) kept;

static void keep_process_id(pid_t id) {
#ifdef MADV_WIPEONFORK
    static atomic_bool tried;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (atomic_exchange(&tried, true))
        return;
    _Atomic(pid_t) *place = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        return;
    if (madvise((void *)place, page, MADV_WIPEONFORK) != 0) {
        munmap((void *)place, page);
        return;
    }
    atomic_store_explicit(place, id, memory_order_relaxed);
    atomic_store_explicit(&kept, place, memory_order_release);
#else
    (void)id;
#endif
}

pid_t tess_process_id(void) {
    _Atomic(pid_t) *place = atomic_load_explicit(&kept, memory_order_acquire);
    pid_t id = place ? atomic_load_explicit(place, memory_order_relaxed) : 0;
    if (TESS_LIKELY(id != 0))
        return id;
    id = getpid();
    if (place)
        atomic_store_explicit(place, id, memory_order_relaxed);
    else
        keep_process_id(id);
    return id;
}

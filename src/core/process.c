/* SPDX-License-Identifier: Apache-2.0
 * process.c - numbers for objects, and the state of the calling thread. */
#include "core/process.h"

#include <pthread.h>

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

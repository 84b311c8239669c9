/* SPDX-License-Identifier: Apache-2.0
 * process.h - what is kept outside every context, because it is the process's: numbers that stand for objects of it and what each thread works in, which
 * CUDA's interface passes beside its arguments, and which process this is. */
#ifndef TESS_CORE_PROCESS_H
#define TESS_CORE_PROCESS_H

#include <sys/types.h>

#include "core/status.h"

/* Lies inside the object. */
typedef struct tess_numbered {
    struct tess_numbered *next;
    int number;
} tess_numbered;

/* Gives the object the next number: from 1 on, never used again, so that a number kept too long finds nothing instead of something else. */
void tess_number_give(tess_numbered *object);
void tess_number_take(tess_numbered *object);
tess_numbered *tess_number_find(int number); /* NULL when there is none */

enum { TESS_THREAD_STACK = 64 };
typedef struct tess_thread_state {
    int opened;                          /* number of the object that this thread opened last */
    int depth;                           /* used part of the stack */
    uint64_t current[TESS_THREAD_STACK]; /* handles, the last is current */
    int capture_mode;                    /* what this thread may do while a stream is captured; 0: as little as possible */
    int error;                           /* of the last failing call, with the sentence for it */
    char sentence[TESS_DETAIL_SIZE];
} tess_thread_state;

tess_thread_state *tess_thread_get(void); /* zeros at first */

/* getpid() without asking the system each time, which costs as much as a whole planned call: a fork's child is told apart all the same. */
pid_t tess_process_id(void);

#endif

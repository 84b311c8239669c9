/* SPDX-License-Identifier: Apache-2.0
 * parallel.h - running a range of tasks on the context's threads. */
#ifndef TESS_CORE_PARALLEL_H
#define TESS_CORE_PARALLEL_H

#include "core/context.h"

/* Does tasks begin .. end-1. worker (0 .. threads-1) tells which of the threads runs it, for scratch that each thread needs of its own. */
typedef void (*tess_task)(void *argument, int64_t begin, int64_t end, int worker);

/* Runs tasks 0 .. count-1 in pieces of `grain` (>= 1), each piece once, on at most `threads` threads with the caller among them; returns when all are
 * done, and what they stored past the caches is there too: a task that hands nothing to another one needs no fence of its own, which would wait for memory
 * after every piece. Which thread runs a piece is open: tasks must not depend on it. Pieces are begun in
 * ascending order, and one that was begun is done, so that a task may wait, awake and not for long, for those before it. When the context's threads are busy with another call,
 * the caller does all the work. Reports progress; TESS_ERR_CANCELLED when the callback said so (pieces not begun are then left out). */
tess_status tess_parallel(tess_context *context, int threads, int64_t count, int64_t grain, tess_task task, void *argument);

/* The same for tasks whose neighbours share work when one piece does both: pieces of one or more grains, each the 2 * threads-th part of what is left (at most a
 * sixteenth of all when the context reports progress), so that there are few seams and the threads end together even where one is slower (guided self-scheduling: Polychronopoulos and Kuck, IEEE Transactions on
 * Computers C-36, 1987, with half its pieces). A caller that works alone takes pieces of a sixteenth. */
tess_status tess_parallel_guided(tess_context *context, int threads, int64_t count, int64_t grain, tess_task task, void *argument);

void tess_pool_free(tess_context *context);

#endif

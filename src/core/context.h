/* SPDX-License-Identifier: Apache-2.0
 * context.h - what calls share: allocator, threads, pinned choices, wisdom. */
#ifndef TESS_CORE_CONTEXT_H
#define TESS_CORE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/cpu.h"
#include "core/status.h"

typedef struct tess_pool tess_pool;
struct tess_gpu;
struct tess_vgpu_door;
typedef struct tess_wisdom_record tess_wisdom_record;

struct tess_context {
    tess_context_options options; /* strategy is a copy of ours or NULL */
    size_t strategy_size;         /* bytes of that copy */
    tess_isa_slot slot;           /* highest instruction set to use */
    _Atomic int threads;
    pthread_mutex_t lock;       /* guards pool creation and wisdom */
    tess_pool *pool;            /* made when a call first has work for two threads */
    tess_wisdom_record *wisdom; /* wisdom.c */
    unsigned wisdom_ops;        /* operations that it has records of, a bit for each of tess_ops */
    uint64_t machine;           /* wisdom.c: which machine this is, 0 = not yet asked */
    bool user_wisdom_read;
    /* The CUDA engine's object, and another one for the virtual GPU, which the same code drives; made at their first use (engine.h). */
    _Atomic(struct tess_gpu *) gpu, virtual_engine;
    _Atomic(struct tess_vgpu_door *) virtual_gpu; /* the machine itself, made at its first use */
    atomic_uint no_wisdom;                        /* operations of which there certainly is none, a bit for each of tess_ops */
};

/* given itself, or the default context when it is NULL; what tess_open says when that cannot be made. */
tess_status tess_context_get(tess_context **context, tess_context *given);

/* 64-byte aligned memory from the context's allocator, or NULL with the detail set. size 0 gives a valid pointer. Free with the same size. */
void *tess_allocate(tess_context *context, size_t size);
void *tess_allocate_zeroed(tess_context *context, size_t size);
void tess_free(tess_context *context, void *memory, size_t size); /* NULL is accepted */

#endif

/* SPDX-License-Identifier: Apache-2.0
 * ticket.h - words on the device that are 0 between launches, a block of them for each CUDA context: tickets (ticket.c) and marks (mark.c). */
#ifndef TESS_GPU_TICKET_H
#define TESS_GPU_TICKET_H

#include "gpu/row.h"

enum { TESS_GPU_TICKETS = 16384, TESS_GPU_TICKET_STREAMS = 4096 };

struct tess_gpu_tickets {
    tess_gpu_tickets *next;
    unsigned long long context_id;
    CUcontext primary; /* NULL when it is another context, which takes the memory with it */
    CUdeviceptr memory;
    int used;
    struct {
        unsigned long long stream;
        int ticket;                /* 1 + its number; 0: no entry */
    } of[TESS_GPU_TICKET_STREAMS]; /* by the stream's number, open addressing; at most half full */
    int streams;
    struct {
        CUdeviceptr words; /* 0: not made */
        void *flags;       /* pinned */
        uint64_t taken;    /* a bit each */
        bool tried;        /* to make them */
    } marks;
};

/* Those of the scope's CUDA context, or NULL. With the lock held. */
tess_gpu_tickets *tess_gpu_tickets_find(const tess_gpu_scope *scope);

/* A mark (row.h) that is one execution's. */
typedef struct tess_gpu_mark {
    CUdeviceptr word;
    volatile uint32_t *flag;
    int number;
} tess_gpu_mark;

/* Makes the marks of the scope's CUDA context unless they are there; needs a thread that captures nothing. Where there can be none, executions do without. */
void tess_gpu_marks_make(const tess_gpu_scope *scope);
/* One that nobody has; false when there is none. */
bool tess_gpu_mark_take(const tess_gpu_scope *scope, tess_gpu_mark *mark);
/* Gives it back, when its launches have ended and word and flag are 0. */
void tess_gpu_mark_give(const tess_gpu_scope *scope, const tess_gpu_mark *mark);
/* With the block's CUDA context current: frees its marks. */
void tess_gpu_marks_free(const tess_gpu *gpu, const tess_gpu_tickets *tickets);

#endif

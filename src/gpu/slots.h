/* SPDX-License-Identifier: Apache-2.0
 * slots.h - what the pipeline's parts share: three slots of pinned and of device memory, and copying between a slot and the caller's arrays. */
#ifndef TESS_GPU_SLOTS_H
#define TESS_GPU_SLOTS_H

#include "gpu/row.h"

enum { TESS_GPU_SLOTS = 3, TESS_GPU_RESULT = 64 };

typedef struct tess_gpu_slot {
    char *pinned, *result; /* result: TESS_GPU_RESULT bytes of pinned memory behind the rest */
    CUdeviceptr device, workspace;
    CUevent up, done, down;
    tess_slab slab;  /* its problem is the slot's */
    tess_plan *plan; /* of the slab; NULL: the slot is free */
    bool kept;       /* the plan is one of those that serve many slabs */
    bool ordered;    /* the workspace */
    int64_t out_at;  /* where the output begins */
    const tess_gpu_plan *made;
    tess_gpu_pointers pointers;
} tess_gpu_slot;

struct tess_gpu_slots {
    unsigned long long context_id;
    CUcontext primary; /* NULL in another context: these slots last for one call */
    size_t size;       /* bytes of a slot, in each memory */
    CUstream up, run, down;
    tess_gpu_slot slot[TESS_GPU_SLOTS];
};

/* slots.c: the kept slots when they fit, else new ones. They are the call's until they are given back. */
tess_status tess_gpu_slots_take(const tess_gpu_scope *scope, size_t size, struct tess_gpu_slots **taken);
void tess_gpu_slots_give(tess_gpu *gpu, struct tess_gpu_slots *slots, bool good);

/* pack.c: between a box of the caller's memory and its compact image, by the context's threads. out: from the image. */
tess_status tess_gpu_pack(const tess_plan *plan, const tess_array *array, char *caller, char *image, bool out);

#endif

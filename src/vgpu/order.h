/* SPDX-License-Identifier: Apache-2.0
 * order.h - what barriers of a part of a block put in order: for each warp, up to when it knows what each other warp did (vector clocks).
 *
 * A warp that comes to a counted barrier (bar.sync, bar.arrive, bar.red with a number of threads) leaves there what it knows, and that all it did so far is
 * done; a warp that waits there takes up what all have left when it goes on. So what is ordered is what barriers order, also by way of third warps and
 * by bar.arrive, which does not wait: what its warp does after it is in no order with what others do after the barrier. Barriers of the whole block put
 * everything in order, and observers keep that time by themselves. Lanes of a warp that come one by one count as their whole warp. */
#ifndef TESS_VGPU_ORDER_H
#define TESS_VGPU_ORDER_H

#include <string.h>

#include "vgpu/machine.h"

enum { VGPU_BLOCK_WARPS = 32 };
typedef struct vgpu_order {
    uint64_t knows[VGPU_BLOCK_WARPS][VGPU_BLOCK_WARPS]; /* by warp, of each warp: what it did before that time */
    uint64_t left[VGPU_BARRIERS][VGPU_BLOCK_WARPS];     /* the same at each barrier, of those that have come */
} vgpu_order;

/* `now` is later than anything that the warp did, and no later than what it will do. */
TESS_INLINE void vgpu_order_meet(vgpu_order *o, const vgpu_warp *warp, int barrier, vgpu_meeting what, uint64_t now) {
    uint64_t *left = o->left[barrier];
    if (what == VGPU_OVER) {
        memset(left, 0, sizeof o->left[barrier]);
        return;
    }
    uint64_t *knows = o->knows[warp->number];
    if (what == VGPU_COMES)
        knows[warp->number] = now;
    for (int i = 0; i < VGPU_BLOCK_WARPS; i++) {
        uint64_t *from = what == VGPU_COMES ? &knows[i] : &left[i], *to = what == VGPU_COMES ? &left[i] : &knows[i];
        *to = *from > *to ? *from : *to;
    }
}

/* Whether what warp number `past` did at `time` is in order with what warp number `warp` does now. */
TESS_INLINE bool vgpu_order_knows(const vgpu_order *o, int warp, int past, uint64_t time) { return o->knows[warp][past] > time; }

/* Whether a kernel has barriers that not all threads of the block need to come to. */
TESS_INLINE bool vgpu_order_matters(const tess_vgpu_module *module) {
    for (uint32_t i = 0; i < module->record_count; i++)
        if (module->records[i].flow == PTX_BARRIER && module->records[i].f != VGPU_NO_SLOT)
            return true;
    return false;
}

#endif

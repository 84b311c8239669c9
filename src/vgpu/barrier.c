/* SPDX-License-Identifier: Apache-2.0
 * barrier.c - a block's barriers: who has come, who is awaited, and what each warp is told when it goes on (bar.red). The warp loop puts lanes that wait aside
 * (exec_warp.c). */
#include <stdio.h>

#include "vgpu/exec.h"

static void tell_meeting(const vgpu_worker *worker, const vgpu_warp *w, uint32_t lanes, int id, vgpu_meeting what) {
    const vgpu_launch *launch = worker->launch;
    for (int i = 0; i < launch->observers; i++)
        if (launch->observer[i]->meet)
            launch->observer[i]->meet(worker->state[i], w, lanes, id, what);
}

static void release_barrier(vgpu_worker *worker, int id) {
    const vgpu_launch *launch = worker->launch;
    vgpu_barrier b = worker->barrier[id];
    worker->barrier[id] = (vgpu_barrier){.all = 1};
    worker->awaited &= ~(1u << id);
    for (int64_t k = 0; k < launch->warps; k++) {
        vgpu_warp *w = &worker->warps[k];
        for (int i = 0; i < w->group_count; i++) {
            vgpu_group *g = &w->group[i];
            if (g->state != VGPU_AT_BARRIER || g->barrier != id)
                continue;
            g->state = VGPU_RUNNABLE;
            if (b.expected)
                tell_meeting(worker, w, g->mask, id, VGPU_GOES_ON);
            const vgpu_record *r = &launch->module->records[g->pc - 1];
            if (r->mode != PTX_RED)
                continue;
            char *file = w->file;
            w->file = g->frame->file;
            if (r->count == PTX_POPC)
                for (int l = 0; l < LANES; l++)
                    SLOT(uint32_t, w, r->d)[l] = g->mask >> l & 1 ? b.count : SLOT(uint32_t, w, r->d)[l];
            else
                vgpu_set_predicate(w, r->d, (r->count == PTX_AND ? b.all : b.any) ? ALL_LANES : 0, g->mask);
            w->file = file;
        }
    }
    if (b.expected)
        tell_meeting(worker, NULL, 0, id, VGPU_OVER);
    else
        for (int i = 0; i < launch->observers; i++)
            if (launch->observer[i]->barrier)
                launch->observer[i]->barrier(worker->state[i], worker);
}

void tess_vgpu_check_barriers(vgpu_worker *worker) {
    for (uint32_t rest = worker->awaited; rest; rest &= rest - 1) {
        int id = TESS_LOW_BIT(rest);
        const vgpu_barrier *b = &worker->barrier[id];
        if (b->arrived && b->arrived >= (b->expected ? b->expected : worker->live_threads))
            release_barrier(worker, id);
    }
}

/* Lanes of an aligned barrier's warp that come without the others: where those are. */
static void report_apart(vgpu_warp *w, const vgpu_record *r, uint32_t on) {
    const vgpu_record *other = NULL;
    char where[64] = "";
    for (int i = 0; i < w->group_count && !other; i++)
        if (w->group[i].mask & ~on)
            other = &w->launch->module->records[w->group[i].pc];
    unsigned line = other ? other->source & 0xffffff : 0;
    if (other && (other->flow == PTX_RETURN || other->flow == PTX_EXIT))
        snprintf(where, sizeof where, ": others leave the kernel instead");
    else if (line && line != (r->source & 0xffffff))
        snprintf(where, sizeof where, ": others are at line %u", line);
    tess_vgpu_fault_report(w, r, TESS_LOW_BIT(on), TESS_VGPU_BARRIER, 0, NULL,
                           "only lanes 0x%08x of the warp's 0x%08x come to the barrier together%s", on, w->live, where);
}

int tess_vgpu_arrive(vgpu_warp *w, const vgpu_record *r, uint32_t on) {
    vgpu_worker *worker = w->worker;
    int first = TESS_LOW_BIT(on);
    uint32_t number = SLOT(uint32_t, w, r->e)[first], count = r->f == VGPU_NO_SLOT ? 0 : SLOT(uint32_t, w, r->f)[first];
    if (number >= VGPU_BARRIERS)
        tess_vgpu_fault_report(w, r, first, TESS_VGPU_BARRIER, 0, NULL, "barrier number %u; there are %d", number, VGPU_BARRIERS);
    const int id = (int)(number % VGPU_BARRIERS);
    vgpu_barrier *b = &worker->barrier[id];
    if (r->bytes && on != w->live)
        report_apart(w, r, on);
    if (!count && worker->live_threads < w->launch->threads && !b->ended_early) {
        b->ended_early = true;
        tess_vgpu_fault_report(w, r, first, TESS_VGPU_BARRIER, 0, NULL, "%lld of the block's %lld threads have ended and do not come to the barrier",
                               (long long)(w->launch->threads - worker->live_threads), (long long)w->launch->threads);
    }
    b->expected = count;
    worker->awaited |= 1u << id;
    if (count)
        tell_meeting(worker, w, on, id, VGPU_COMES);
    b->arrived += count && on == w->live ? LANES : TESS_POPCOUNT(on); /* counted barriers count whole warps */
    if (r->mode == PTX_RED) {
        uint32_t p = vgpu_predicate(w, r->a) ^ (r->flags & VGPU_NOT_C ? ALL_LANES : 0);
        b->count += (uint32_t)TESS_POPCOUNT(p & on);
        b->all &= (p & on) == on;
        b->any |= (p & on) != 0;
    }
    return id;
}

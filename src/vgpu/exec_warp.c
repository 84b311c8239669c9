/* SPDX-License-Identifier: Apache-2.0
 * exec_warp.c - the warp loop: which lanes run, branches, calls. Compiled once per instruction set.
 *
 * The lanes of a warp form groups: same activation, same place in the program. The group that runs is, among the runnable ones, the one deepest in
 * calls and then lowest in the program; groups that meet merge. Compilers lay blocks out in topological order, so this reconverges where the hardware
 * does, without any analysis of the flow. But lanes that spin for what another group must do would starve that group (Volta's independent thread
 * scheduling promises that they do not), so after SPIN_LIMIT rounds with an atomic or volatile access in them while others could run, the group that
 * has waited longest gets a turn. */
#include "vgpu/exec.h"

enum { SPIN_LIMIT = 1024 };

static void put_aside(vgpu_warp *w, vgpu_frame *frame, uint32_t pc, uint32_t mask, vgpu_group_state state, uint32_t need, int barrier) {
    if (mask)
        w->group[w->group_count++] = (vgpu_group){frame, pc, mask, need, state, barrier, ++w->turns};
}

static void sync_event(const vgpu_warp *w, uint32_t lanes) {
    for (int i = 0; i < w->launch->observers; i++)
        if (w->launch->observer[i]->warp_sync)
            w->launch->observer[i]->warp_sync(w->worker->state[i], w, lanes);
}

TESS_INLINE void count_issue(const vgpu_warp *w, uint32_t pc, uint32_t mask, uint32_t on) {
    vgpu_issue *issue = &w->worker->issues[pc];
    if (TESS_LIKELY(on == ALL_LANES)) {
        issue->full++;
        return;
    }
    issue->warps++;
    issue->partial += mask != w->exists;
    issue->lanes += (uint64_t)TESS_POPCOUNT(mask);
    issue->on += (uint64_t)TESS_POPCOUNT(on);
    issue->eighths += (uint64_t)(!!(mask & 0xff) + !!(mask & 0xff00) + !!(mask & 0xff0000) + !!(mask & 0xff000000));
}

/* The unguarded records [pc, end), all by the same lanes. */
TESS_INLINE void count_stretch(const vgpu_warp *w, uint32_t pc, uint32_t end, uint32_t mask) {
    vgpu_stretch *first = &w->worker->stretches[pc], *behind = &w->worker->stretches[end];
    if (TESS_LIKELY(mask == ALL_LANES)) {
        first->full++;
        behind->full--;
        return;
    }
    uint64_t partial = mask != w->exists, lanes = (uint64_t)TESS_POPCOUNT(mask);
    uint64_t eighths = (uint64_t)(!!(mask & 0xff) + !!(mask & 0xff00) + !!(mask & 0xff0000) + !!(mask & 0xff000000));
    first->warps++;
    first->partial += partial;
    first->lanes += lanes;
    first->eighths += eighths;
    behind->warps--;
    behind->partial -= partial;
    behind->lanes -= lanes;
    behind->eighths -= eighths;
}

TESS_INLINE void count_branch(const vgpu_warp *w, uint32_t pc, uint32_t active, uint32_t taken) {
    vgpu_issue *issue = &w->worker->issues[pc];
    if (taken && taken != active)
        issue->divergent++;
    else
        issue->uniform++;
}

/* bar.warp.sync may stand at several places of the program: lanes that wait at any of them have come. */
static void release_warp_barriers(vgpu_warp *w) {
    uint32_t come = 0;
    const vgpu_record *records = w->launch->module->records;
    bool bar[LANES];
    for (int i = 0; i < w->group_count; i++) {
        uint8_t op = records[w->group[i].pc].op;
        bar[i] = w->group[i].state == VGPU_AT_CONVERGE && (op == PTX_OP_BAR || op == PTX_OP_BARRIER);
        come |= bar[i] ? w->group[i].mask : 0;
    }
    for (int i = 0; i < w->group_count; i++) {
        vgpu_group *g = &w->group[i];
        if (!bar[i] || g->need & w->live & ~come)
            continue;
        sync_event(w, g->mask | g->need);
        for (int k = 0; k < w->group_count; k++) /* those that this one waited for wait for it too */
            if (bar[k] && (k == i || w->group[k].mask & g->need)) {
                vgpu_group *other = &w->group[k];
                count_issue(w, other->pc, other->mask, other->mask);
                other->pc++;
                other->state = VGPU_RUNNABLE;
                bar[k] = false;
            }
    }
}

static void merge(vgpu_warp *w) {
    for (int i = 0; i < w->group_count; i++) {
        vgpu_group *g = &w->group[i];
        if (g->state == VGPU_AT_BARRIER)
            continue;
        if (g->state == VGPU_AT_CONVERGE && !(g->need & w->live))
            g->state = VGPU_RUNNABLE;
        for (int k = i + 1; k < w->group_count;) {
            vgpu_group *other = &w->group[k];
            if (other->frame == g->frame && other->pc == g->pc && other->state != VGPU_AT_BARRIER) {
                g->mask |= other->mask;
                g->state = VGPU_RUNNABLE;
                *other = w->group[--w->group_count];
            } else {
                k++;
            }
        }
    }
}

/* Makes a group the current one; false when none can run. */
static bool pick(vgpu_warp *w) {
    merge(w);
    int best = -1, runnable = 0;
    for (int pass = 0; pass < 2 && best < 0; pass++) {
        if (pass == 1)
            release_warp_barriers(w);
        bool turn = w->spins > SPIN_LIMIT;
        for (int i = 0; i < w->group_count; i++) {
            const vgpu_group *g = &w->group[i], *b = best < 0 ? NULL : &w->group[best];
            if (g->state != VGPU_RUNNABLE)
                continue;
            runnable++;
            bool better =
                !b || (turn ? g->since < b->since : g->frame->depth > b->frame->depth || (g->frame->depth == b->frame->depth && g->pc < b->pc));
            best = better ? i : best;
        }
        if (turn)
            w->spins = 0;
    }
    if (best < 0)
        return false;
    const vgpu_group g = w->group[best];
    w->group[best] = w->group[--w->group_count];
    w->frame = g.frame;
    w->file = g.frame->file;
    w->base = g.frame->base;
    w->pc = g.pc;
    w->mask = g.mask;
    w->limit = UINT32_MAX; /* the nearest place above where another group waits */
    for (int i = 0; i < w->group_count; i++)
        if (w->group[i].frame == g.frame && w->group[i].state != VGPU_AT_BARRIER && w->group[i].pc > g.pc && w->group[i].pc < w->limit)
            w->limit = w->group[i].pc;
    w->spins += runnable > 1 && w->polled;
    w->polled = false;
    return true;
}

/* ---- calls and ends ---- */

/* Values between the caller's variables and the callee's parameters or results, lane by lane. */
static void pass(const vgpu_warp *w, const vgpu_value *list, ptx_symbol *const *formal, int count, int64_t caller, int64_t callee, bool back,
                 uint32_t mask) {
    for (int i = 0; i < count; i++)
        for (int l = 0; l < LANES; l++)
            if (mask >> l & 1) {
                char *stack = w->stack + l * w->launch->stack_bytes;
                char *outer = stack + caller + list[i].offset, *inner = stack + callee + (int64_t)formal[i]->address;
                memcpy(back ? outer : inner, back ? inner : outer, (size_t)list[i].bytes);
            }
}

static void leave_frames(vgpu_warp *w, vgpu_frame *frame, const vgpu_frame *until, uint32_t lanes) {
    while (frame != until) {
        vgpu_frame *parent = frame->parent;
        frame->lanes &= ~lanes;
        if (!frame->lanes && parent)
            tess_vgpu_frame_put(w->worker, frame);
        frame = parent;
    }
}

static bool enter(vgpu_warp *w, const vgpu_record *r, const ptx_function *callee, uint32_t pc, uint32_t on) {
    const vgpu_call_site *site = &w->launch->module->sites[r->target];
    int64_t base = w->base + (w->frame->function->frame_bytes + 15) / 16 * 16;
    if (base + callee->frame_bytes > w->launch->stack_bytes) {
        tess_vgpu_fault_report(w, r, TESS_LOW_BIT(on), TESS_VGPU_STACK, 0, NULL, "the calls need more than the %lld bytes of a thread's stack",
                               (long long)w->launch->stack_bytes);
        return false;
    }
    vgpu_frame *f = tess_vgpu_frame_get(w->worker, callee);
    if (!f)
        return false;
    f->parent = w->frame;
    f->base = base;
    f->lanes = on;
    f->return_to = pc + 1;
    f->site = r->target;
    f->depth = w->frame->depth + 1;
    pass(w, site->arguments, callee->params, site->argument_count, w->base, base, false, on);
    tess_vgpu_fill_specials(w, f);
    w->frame = f;
    w->file = f->file;
    w->base = base;
    return true;
}

static void end_lanes(vgpu_warp *w, uint32_t on) {
    w->live &= ~on;
    w->worker->live_threads -= TESS_POPCOUNT(on);
    leave_frames(w, w->frame, NULL, on);
    tess_vgpu_check_barriers(w->worker);
}

static bool too_many_steps(vgpu_warp *w, const vgpu_record *r) {
    w->steps++;
    if (TESS_LIKELY(!w->launch->options.step_limit || w->steps <= w->launch->options.step_limit))
        return false;
    tess_vgpu_fault_report(w, r, TESS_LOW_BIT(w->mask), TESS_VGPU_STEP_LIMIT, 0, NULL, "more than %llu backward branches and calls of one warp",
                           (unsigned long long)w->launch->options.step_limit);
    w->worker->stop = true;
    return true;
}

/* brx: lanes that go to one place go there together. */
static bool by_table(vgpu_warp *w, const vgpu_record *r, uint32_t pc, uint32_t on, uint32_t off) {
    const uint32_t *list = w->launch->module->lists + r->target, *index = SLOT(uint32_t, w, r->a);
    uint32_t rest = on, first = 0;
    put_aside(w, w->frame, pc + 1, off, VGPU_RUNNABLE, 0, 0);
    while (rest) {
        int l = TESS_LOW_BIT(rest);
        uint32_t same = 0;
        if (index[l] >= list[0]) {
            tess_vgpu_fault_report(w, r, l, TESS_VGPU_OUT_OF_BOUNDS, index[l], NULL, "branch %u of a table of %u", index[l], list[0]);
            put_aside(w, w->frame, pc, rest, VGPU_RUNNABLE, 0, 0);
            return false;
        }
        uint32_t to = list[1 + index[l]];
        for (uint32_t m = rest; m; m &= m - 1)
            if (index[TESS_LOW_BIT(m)] < list[0] && list[1 + index[TESS_LOW_BIT(m)]] == to)
                same |= m & -m;
        first = first ? first : same;
        rest &= ~same;
        put_aside(w, w->frame, to, same, VGPU_RUNNABLE, 0, 0);
    }
    count_branch(w, pc, on, first);
    w->budget--;
    return !too_many_steps(w, r);
}

/* Runs the current group until it branches apart, meets another, waits or ends; what remains of it is put aside. */
static void run_group(vgpu_warp *w) {
    const vgpu_record *records = w->launch->module->records;
    const uint32_t *stretch = w->launch->module->stretch;
    uint32_t pc = w->pc, mask = w->mask;
    while (pc < w->limit) {
        const vgpu_record *r = &records[pc];
        if (TESS_LIKELY(stretch[pc])) {
            uint32_t end = stretch[pc] < w->limit - pc ? pc + stretch[pc] : w->limit;
            count_stretch(w, pc, end, mask);
            for (; pc < end; pc++, r++)
                r->run(w, r, mask);
            continue;
        }
        uint32_t on = mask;
        if (r->guard != VGPU_NO_SLOT)
            on &= vgpu_predicate(w, r->guard) ^ (r->flags & VGPU_NEGATED ? ALL_LANES : 0);
        if (TESS_LIKELY(r->flow == PTX_PLAIN)) {
            count_issue(w, pc, mask, on);
            if (on)
                r->run(w, r, on);
            pc++;
            continue;
        }
        uint32_t off = mask & ~on;
        if (r->flow != PTX_CONVERGE)
            count_issue(w, pc, mask, on);
        if (r->flow == PTX_BRANCH) {
            count_branch(w, pc, mask, on);
            if (!on) {
                pc++;
                continue;
            }
            bool back = r->target <= pc;
            if (!off && (!back || (!w->group_count && --w->budget > 0 && !w->launch->options.step_limit))) {
                pc = r->target;
                continue;
            }
            put_aside(w, w->frame, pc + 1, off, VGPU_RUNNABLE, 0, 0);
            put_aside(w, w->frame, r->target, on, VGPU_RUNNABLE, 0, 0);
            if (back) {
                w->budget--;
                too_many_steps(w, r);
            }
            return;
        }
        if (!on && r->flow != PTX_CONVERGE) {
            pc++;
            continue;
        }
        switch (r->flow) {
        case PTX_TABLE:
            if (!by_table(w, r, pc, on, off))
                w->worker->stop = true;
            return;
        case PTX_CALL: {
            const ptx_function *callee = NULL;
            uint32_t same = tess_vgpu_callee(w, r, on, &callee);
            w->mask = same;
            if (!same || !enter(w, r, callee, pc, same)) {
                put_aside(w, w->frame, pc, mask, VGPU_RUNNABLE, 0, 0);
                w->worker->stop = true;
                return;
            }
            put_aside(w, w->frame->parent, pc + 1, off, VGPU_RUNNABLE, 0, 0);
            put_aside(w, w->frame->parent, pc, on & ~same, VGPU_RUNNABLE, 0, 0); /* those who call another function: their turn comes */
            on = same;
            if (too_many_steps(w, r)) {
                put_aside(w, w->frame, w->frame->function->first, on, VGPU_RUNNABLE, 0, 0);
                return;
            }
            pc = w->frame->function->first;
            mask = on;
            w->limit = UINT32_MAX; /* nobody else is in this activation */
            continue;
        }
        case PTX_RETURN:
            if (w->frame->parent) {
                vgpu_frame *frame = w->frame, *parent = frame->parent;
                const vgpu_call_site *site = &w->launch->module->sites[frame->site];
                pass(w, site->results, frame->function->results, site->result_count, parent->base, frame->base, true, on);
                put_aside(w, frame, pc + 1, off, VGPU_RUNNABLE, 0, 0);
                put_aside(w, parent, frame->return_to, on, VGPU_RUNNABLE, 0, 0);
                leave_frames(w, frame, parent, on);
                return;
            } /* fall through */
        case PTX_EXIT:
            put_aside(w, w->frame, pc + 1, off, VGPU_RUNNABLE, 0, 0);
            end_lanes(w, on);
            return;
        case PTX_TRAP:
            if (r->run) /* a failed assertion */
                r->run(w, r, on);
            else
                tess_vgpu_fault_report(w, r, TESS_LOW_BIT(on), TESS_VGPU_TRAP, 0, NULL, "the kernel asked to be ended");
            put_aside(w, w->frame, pc, mask, VGPU_RUNNABLE, 0, 0);
            w->worker->stop = true;
            return;
        case PTX_BARRIER: {
            int id = tess_vgpu_arrive(w, r, on);
            bool waits = r->mode != PTX_ARRIVE;
            put_aside(w, w->frame, pc + 1, off, VGPU_RUNNABLE, 0, 0);
            put_aside(w, w->frame, pc + 1, on, waits ? VGPU_AT_BARRIER : VGPU_RUNNABLE, 0, id);
            tess_vgpu_check_barriers(w->worker);
            return;
        }
        default: { /* PTX_CONVERGE: waits for the lanes named, lanes that do not exist or have ended excepted */
            const uint32_t *named = SLOT(uint32_t, w, r->f);
            uint32_t need = on ? named[TESS_LOW_BIT(on)] : 0; /* mostly all, and that is all there can be */
            for (int l = 0; l < LANES && need != ALL_LANES; l++)
                need |= on >> l & 1 ? named[l] : 0;
            uint32_t missing = need & w->live & ~on;
            if (missing && !w->forced) {
                put_aside(w, w->frame, pc + 1, off, VGPU_RUNNABLE, 0, 0);
                put_aside(w, w->frame, pc, on, VGPU_AT_CONVERGE, missing, 0);
                return;
            }
            if (on && (need & w->exists & ~w->live || missing))
                tess_vgpu_fault_report(w, r, TESS_LOW_BIT(on), TESS_VGPU_MISSING_LANES, 0, NULL, "lanes 0x%08x are named but %s",
                                       need & w->exists & ~on, missing ? "wait elsewhere" : "have ended");
            w->forced = false;
            count_issue(w, pc, mask, on);
            if (on) {
                r->run(w, r, on);
                sync_event(w, on);
            }
            pc++;
            continue;
        }
        }
    }
    put_aside(w, w->frame, pc, mask, VGPU_RUNNABLE, 0, 0);
}

bool TESS_ISA_NAME(tess_vgpu_run_warp)(vgpu_warp *w);
bool TESS_ISA_NAME(tess_vgpu_run_warp)(vgpu_warp *w) {
    bool progress = false;
    w->budget = w->launch->quantum;
    while (w->budget > 0 && !w->worker->stop && pick(w)) {
        run_group(w);
        progress = true;
    }
    return progress;
}

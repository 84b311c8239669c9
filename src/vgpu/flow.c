/* SPDX-License-Identifier: Apache-2.0
 * flow.c - basic blocks: those of the PTX, and the loops of any graph of them. An edge to a block that a walk from the start is still inside of closes a
 * loop, and what comes back to that block without passing it is the loop. */
#include "vgpu/flow.h"

bool tess_vgpu_graph_make(tess_context *context, vgpu_graph *g, int count) {
    size_t n = (size_t)(count ? count : 1);
    g->count = count;
    g->next = tess_allocate(context, n * sizeof *g->next);
    g->depth = tess_allocate_zeroed(context, n * sizeof *g->depth);
    g->entry = tess_allocate(context, n * sizeof *g->entry);
    for (int b = 0; g->entry && b < count; b++)
        g->entry[b] = -1;
    return g->next && g->depth && g->entry;
}

void tess_vgpu_graph_free(tess_context *context, vgpu_graph *g) {
    size_t n = (size_t)(g->count ? g->count : 1);
    tess_free(context, g->next, n * sizeof *g->next);
    tess_free(context, g->depth, n * sizeof *g->depth);
    tess_free(context, g->entry, n * sizeof *g->entry);
}

/* Scratch of one graph: where a block is in the walk (0 not yet, 1 on the way, 2 done), the way, and who comes to a block, as lists. */
typedef struct walk {
    int *state, *way, *turn, *head, *from, *link, *body, *header;
} walk;

/* The only block outside of a loop that goes to its header, and nowhere else; -1: there is none such. */
static int entry_of(const vgpu_graph *g, const walk *w, int header, int mark) {
    int found = -1;
    for (int e = w->head[header]; e >= 0; e = w->link[e]) {
        int b = w->from[e];
        if (w->body[b] == mark)
            continue;
        if (found >= 0 || (g->next[b][0] >= 0 && g->next[b][1] >= 0))
            return -1;
        found = b;
    }
    return found;
}

/* The blocks that come back to `header` without passing it get one loop deeper, each once. */
static void deepen(vgpu_graph *g, walk *w, int header, int mark) {
    int waiting = 0;
    g->depth[header]++;
    w->body[header] = mark;
    for (int e = w->head[header]; e >= 0; e = w->link[e]) {
        int latch = w->from[e];
        if (w->header[e] && w->body[latch] != mark) {
            w->body[latch] = mark;
            w->way[waiting++] = latch;
        }
    }
    while (waiting) {
        int b = w->way[--waiting];
        g->depth[b]++;
        for (int e = w->head[b]; e >= 0; e = w->link[e])
            if (w->body[w->from[e]] != mark) {
                w->body[w->from[e]] = mark;
                w->way[waiting++] = w->from[e];
            }
    }
    int entry = entry_of(g, w, header, mark);
    for (int b = 0; b < g->count; b++) /* inner loops come later in the text */
        if (w->body[b] == mark)
            g->entry[b] = entry;
}

/* Walks from every block that nothing walked to; an edge to a block on the way closes a loop. */
static void find_back_edges(vgpu_graph *g, walk *w) {
    for (int root = 0; root < g->count; root++) {
        int deep = 0;
        if (w->state[root])
            continue;
        w->way[deep] = root;
        w->turn[deep++] = 0;
        w->state[root] = 1;
        while (deep) {
            int b = w->way[deep - 1], side = w->turn[deep - 1]++;
            if (side == 2) {
                w->state[b] = 2;
                deep--;
                continue;
            }
            int to = g->next[b][side];
            if (to < 0)
                continue;
            if (w->state[to] == 1)
                w->header[2 * b + side] = 1;
            if (w->state[to] == 0) {
                w->state[to] = 1;
                w->way[deep] = to;
                w->turn[deep++] = 0;
            }
        }
    }
}

bool tess_vgpu_graph_loops(tess_context *context, vgpu_graph *g) {
    size_t n = (size_t)(g->count ? g->count : 1), bytes = n * 12 * sizeof(int);
    int *room = tess_allocate_zeroed(context, bytes);
    if (!room)
        return false;
    walk w = {room, room + n, room + 2 * n, room + 3 * n, room + 4 * n, room + 6 * n, room + 8 * n, room + 9 * n};
    for (int b = 0; b < g->count; b++)
        w.head[b] = -1;
    for (int b = 0; b < g->count; b++)
        for (int side = 0; side < 2; side++) {
            int e = 2 * b + side, to = g->next[b][side];
            w.from[e] = b;
            if (to >= 0) {
                w.link[e] = w.head[to];
                w.head[to] = e;
            }
        }
    find_back_edges(g, &w);
    for (int b = 0; b < g->count; b++) {
        bool closes = false;
        for (int e = w.head[b]; e >= 0; e = w.link[e])
            closes |= w.header[e] != 0;
        if (closes)
            deepen(g, &w, b, b + 1);
    }
    tess_free(context, room, bytes);
    return true;
}

void tess_vgpu_graph_reach(const vgpu_graph *g, bool *reached, int *way) {
    int waiting = 0;
    reached[0] = true;
    way[waiting++] = 0;
    while (waiting) {
        int b = way[--waiting];
        for (int side = 0; side < 2; side++) {
            int to = g->next[b][side];
            if (to < 0 || reached[to])
                continue;
            reached[to] = true;
            way[waiting++] = to;
        }
    }
}

/* ---- the blocks of the PTX ---- */

bool tess_vgpu_ends_block(const vgpu_record *r) {
    return r->flow == PTX_BRANCH || r->flow == PTX_TABLE || r->flow == PTX_RETURN || r->flow == PTX_EXIT || r->flow == PTX_TRAP;
}

bool tess_vgpu_ptx_flow_make(const tess_vgpu_module *m, vgpu_ptx_flow *p) {
    size_t records = m->record_count ? m->record_count : 1;
    int count = 0;
    bool *starts = tess_allocate_zeroed(m->context, records * sizeof *starts);
    p->of = tess_allocate_zeroed(m->context, records * sizeof *p->of);
    p->first = tess_allocate_zeroed(m->context, records * sizeof *p->first);
    p->function = tess_allocate_zeroed(m->context, records * sizeof *p->function);
    bool made = starts && p->of && p->first && p->function;
    for (int i = 0; made && i < m->function_count; i++) {
        const ptx_function *f = m->functions[i];
        if (!f->defined)
            continue;
        for (int k = 0; k < f->label_count; k++)
            if (f->first + f->labels[k]->address < records)
                starts[f->first + f->labels[k]->address] = true;
        starts[f->first] = true;
        for (uint32_t pc = f->first; pc < f->first + (uint32_t)f->count && pc < records; pc++)
            p->function[pc] = i;
    }
    for (uint32_t pc = 0; made && pc < m->record_count; pc++) {
        if (pc == 0 || starts[pc] || tess_vgpu_ends_block(&m->records[pc - 1]))
            p->first[count++] = pc;
        p->of[pc] = count - 1;
    }
    made = made && tess_vgpu_graph_make(m->context, &p->g, count);
    for (int b = 0; made && b < count; b++) {
        uint32_t last = (b + 1 < count ? p->first[b + 1] : m->record_count) - 1;
        const vgpu_record *r = &m->records[last];
        bool stays = r->guard == VGPU_NO_SLOT && tess_vgpu_ends_block(r);
        p->g.next[b][0] = !stays && b + 1 < count ? b + 1 : -1;
        p->g.next[b][1] = r->flow == PTX_BRANCH && r->target < m->record_count ? p->of[r->target] : -1;
    }
    tess_free(m->context, starts, records * sizeof *starts);
    return made && tess_vgpu_graph_loops(m->context, &p->g);
}

void tess_vgpu_ptx_flow_free(const tess_vgpu_module *m, vgpu_ptx_flow *p) {
    size_t records = m->record_count ? m->record_count : 1;
    tess_free(m->context, p->of, records * sizeof *p->of);
    tess_free(m->context, p->first, records * sizeof *p->first);
    tess_free(m->context, p->function, records * sizeof *p->function);
    tess_vgpu_graph_free(m->context, &p->g);
}

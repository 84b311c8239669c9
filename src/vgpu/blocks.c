/* SPDX-License-Identifier: Apache-2.0
 * blocks.c - which piece of the PTX a piece of machine code comes from, so that it is known how often an instruction without a part in the PTX runs.
 *
 * The assembler gives such an instruction (a register that does not fit, a parameter loaded anew, a jump) the line of whatever needed it, which may run more
 * or less often than the place it stands at: what is kept of a value carried around a loop has the line of the move before the loop. So both programs are cut
 * into basic blocks, and a block of machine code belongs to the block of PTX that most of its instructions have their lines in. Instructions that cannot be
 * moved weigh most, those that are moved freely nothing, and a block inside as many loops goes before others, since what was lifted out of a loop keeps its
 * line too. */
#include <stdlib.h>
#include <string.h>

#include "vgpu/audit.h"
#include "vgpu/flow.h"

enum { MOST_BLOCKS = 1 << 14 };

/* ---- the blocks of the machine code ---- */

/* By the low nine bits of an instruction. */
enum { MOV = 0x002, UMOV = 0x082, LDC = 0x182, ULDC = 0x0b9, S2R = 0x119, S2UR = 0x1c3, CS2R = 0x005, LDL = 0x183, STL = 0x187, NOP = 0x118 };
enum { CALL = 0x144, BSSY = 0x145, BSYNC = 0x141, WARPSYNC = 0x148, BRA = 0x147, BRX = 0x149, JMP = 0x14a, EXIT = 0x14d, RET = 0x150, BAR = 0x11d };

static unsigned code(const vgpu_machine_code *i) { return i->low & 0x1ff; }
static bool always(const vgpu_machine_code *i) { return (i->low >> 12 & 15) == 7 && ((i->low & 0xfff) != 0x947 || (i->high >> 23 & 15) == 7); }
/* One that a guard may leave undone, and no branch: likely a short way that has become part of another; it is done as often as the way. */
static bool optional(const vgpu_machine_code *i) { return (i->low >> 12 & 15) != 7 && code(i) != BRA && code(i) != EXIT; }
static bool cuts(const vgpu_machine_code *i) {
    unsigned c = code(i);
    return c == BRA || c == BRX || c == JMP || c == EXIT || c == RET || c == BSYNC || c == WARPSYNC;
}
/* BRA.DIV: only to where lanes that have parted do one after the other what all do here at once. */
static bool if_parted(const vgpu_machine_code *i) { return code(i) == BRA && (i->low >> 32 & 3) == 2; }
static bool leaves(const vgpu_machine_code *i) { /* nothing comes after it */
    unsigned c = code(i);
    return (c == BRA || c == BRX || c == JMP || c == EXIT || c == RET) && always(i) && !if_parted(i);
}
static uint64_t target(const vgpu_machine_code *i) {
    uint64_t far = i->low >> 34 | i->high << 30; /* 48 bits, and 8 lower ones elsewhere */
    int64_t words = (int64_t)(far << 16) >> 8 | (int64_t)(i->low >> 16 & 0xff);
    return i->address + 16 + (uint64_t)words * 4;
}

static int find(const vgpu_machine_code *list, int count, uint64_t address) {
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (list[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list[low].address == address ? low : -1;
}

static const uint16_t loads[] = {0x180, 0x181, 0x184}; /* LD, LDG, LDS */
static const uint16_t stores[] = {0x185, 0x186, 0x188, 0x18a, 0x1a8, 0x1a9, 0x1a3, 0x18e, 0x1a6, 0x18c, 0x18d, 0x1ae};

static bool is_access(const vgpu_machine_code *i, const uint16_t *codes, int count) {
    for (int k = 0; k < count; k++)
        if (code(i) == codes[k])
            return true;
    return false;
}

enum { LITTLE = 500 };
/* How much an instruction says about where its block comes from. */
static int weight(const vgpu_machine_code *i, const vgpu_record *r) {
    if (optional(i))
        return 0;
    switch (code(i)) {
    case MOV:
    case UMOV:
    case LDC:
    case ULDC:
    case S2R:
    case S2UR:
    case CS2R:
    case LDL:
    case STL:
    case NOP:
    case BSSY:
    case BSYNC: return 0;
    case BRA: return !tess_vgpu_ends_block(r) ? 0 : r->guard == VGPU_NO_SLOT ? 500 : 4000;
    case EXIT:
    case BAR: return r->flow != PTX_PLAIN ? 4000 : 0;
    default: break;
    }
    return is_access(i, stores, TESS_COUNT(stores)) ? 4000 : is_access(i, loads, TESS_COUNT(loads)) ? 2000 : 1000;
}

static const vgpu_record *record_on(const tess_vgpu_module *m, int line, const vgpu_record *last) {
    if (last && (int)last->line == line)
        return last;
    for (int i = 0; line > 0 && i < m->function_count; i++) {
        const ptx_function *f = m->functions[i];
        uint32_t low = tess_vgpu_record_from(m, f, line);
        if (f->defined && low < f->first + (uint32_t)f->count && (int)m->records[low].line == line)
            return &m->records[low];
    }
    return NULL;
}

/* What is known of a block of machine code before its lines are looked at. */
typedef struct place {
    int from, to; /* instructions */
    int depth, function;
    bool reached; /* from the start of the kernel, by branches; else it is of a function that is called, or a way for lanes that have parted */
} place;

static bool may_be(const vgpu_ptx_flow *p, const place *at, const tess_vgpu_module *m, const vgpu_record *r) {
    return at->reached || p->function[r - m->records] != at->function;
}

/* The block of PTX that a block of machine code comes from; -1: nothing says. *weak: nothing but what is moved freely does. */
static int elect(const tess_vgpu_module *m, const vgpu_ptx_flow *p, const vgpu_machine_code *list, const place *at, int *votes, bool *weak) {
    const vgpu_record *r = NULL;
    int best = -1;
    for (int i = at->from; i < at->to; i++)
        if ((r = record_on(m, list[i].line, r)))
            votes[p->of[r - m->records]] += 1 + weight(&list[i], r);
    for (int like = 1; like >= 0 && best < 0; like--)
        for (int i = at->from; i < at->to; i++) {
            if (!(r = record_on(m, list[i].line, r)) || !may_be(p, at, m, r))
                continue;
            int b = p->of[r - m->records];
            if ((!like || p->g.depth[b] == at->depth) && (best < 0 || votes[b] > votes[best]))
                best = b;
        }
    *weak = best < 0 || votes[best] < LITTLE;
    for (int i = at->from; i < at->to; i++)
        if ((r = record_on(m, list[i].line, r)))
            votes[p->of[r - m->records]] = 0;
    return best;
}

/* Whether a branch is that of its own line: as deep, and conditional or not as that is. Pieces that have become one may have kept the last one's.
 * gone: its loop is, so that the line is one deeper. */
static bool stands_for(const tess_vgpu_module *m, const vgpu_ptx_flow *p, const vgpu_machine_code *i, const place *at, bool gone) {
    const vgpu_record *r = code(i) == BRA && !if_parted(i) ? record_on(m, i->line, NULL) : NULL;
    return r && at->reached && r->flow == PTX_BRANCH && p->g.depth[p->of[r - m->records]] == at->depth + gone &&
           (r->guard == VGPU_NO_SLOT) == always(i);
}

/* How often a turn of an unrolled loop does the loop: how often an access of the block, or without one any instruction, is there, whichever is least
 * often. 1: it is not unrolled. */
enum { FEW = 6, LONGEST = 1 << 13 }; /* lines that say so; longer blocks are not searched */
static int copies(const tess_vgpu_module *m, const vgpu_ptx_flow *p, const vgpu_machine_code *list, const place *at, int block) {
    int least[2] = {0, 0}, seen[2] = {0, 0};
    const vgpu_record *r = NULL;
    if (at->to - at->from > LONGEST)
        return 1;
    for (int i = at->from; i < at->to; i++) {
        if (!(r = record_on(m, list[i].line, r)) || p->of[r - m->records] != block)
            continue;
        int much = weight(&list[i], r), n = 0, kind = much >= 2000;
        if (much < 1000 || code(&list[i]) == BRA)
            continue;
        for (int k = at->from; k < at->to; k++)
            n += list[k].line == list[i].line && (list[k].low & 0xfff) == (list[i].low & 0xfff);
        least[kind] = !least[kind] || n < least[kind] ? n : least[kind];
        seen[kind]++;
    }
    int n = seen[1] ? least[1] : seen[0] >= FEW ? least[0] : 1; /* one line of PTX may well be two instructions */
    return n > 1 && n < 128 ? n : 1;
}

/* The graph of a function: first: by block its first instruction, and one behind the last. */
static bool connect(tess_context *context, vgpu_graph *g, const vgpu_machine_code *list, int count, const int *first, int blocks) {
    if (!tess_vgpu_graph_make(context, g, blocks))
        return false;
    for (int b = 0; b < blocks; b++) {
        const vgpu_machine_code *last = &list[first[b + 1] - 1];
        int to = code(last) == BRA && !if_parted(last) ? find(list, count, target(last)) : -1, low = 0, high = blocks;
        while (to >= 0 && high - low > 1) {
            int middle = low + (high - low) / 2;
            if (first[middle] <= to)
                low = middle;
            else
                high = middle;
        }
        g->next[b][0] = !leaves(last) && b + 1 < blocks ? b + 1 : -1;
        g->next[b][1] = to >= 0 ? low : -1;
    }
    return tess_vgpu_graph_loops(context, g);
}

/* Where the lanes that meet again at instruction `to` were told to (BSSY); -1: nowhere before it. */
static int parting(const vgpu_machine_code *list, int to) {
    for (int i = to - 1; i >= 0 && i > to - LONGEST; i--)
        if (code(&list[i]) == BSSY && list[i].address + 16 + (list[i].low >> 32) == list[to].address)
            return i;
    return -1;
}

/* Whether a block is the slow way of one instruction of the PTX (a root or a quotient of numbers at the ends of their range), by a function that the
 * assembler brought along. Quick and slow are told apart by a branch of the same line; which numbers come is not known, they are taken for ordinary ones. */
static bool is_slow(const tess_vgpu_module *m, const vgpu_machine_code *list, const place *at) {
    if (at->from == 0 || code(&list[at->from - 1]) != BRA || always(&list[at->from - 1]))
        return false;
    for (int i = at->from; i < at->to; i++) {
        const vgpu_record *r = code(&list[i]) == CALL ? record_on(m, list[i].line, NULL) : NULL;
        if (r && r->flow == PTX_PLAIN && list[i].line == list[at->from - 1].line)
            return true;
    }
    return false;
}

/* What a loop of the PTX has become: the most rounds in a turn of a loop of machine code; the fewest, above one, of what stands outside to do the rest;
 * whether a loop of single rounds is there too. */
typedef struct remade {
    int most, rest;
    bool singly;
} remade;

/* One block of machine code. */
typedef struct part {
    place at;
    int from, rounds; /* the block of PTX, -1: not known; how often it is there */
    bool slow;
} part;

/* The deeper loop of which a block outside of it is a copy, or the loop that it is in; -1: neither. */
static int loop_entry(const vgpu_ptx_flow *p, const part *b) {
    int deep = b->from >= 0 ? p->g.depth[b->from] : 0;
    return deep > 0 && b->at.reached && (deep == b->at.depth || deep == b->at.depth + 1) ? p->g.entry[b->from] : -1;
}

/* Tells the instructions of a block which block of PTX they are executed with. An unrolled loop makes several rounds a turn; what is left is done outside
 * of it, in pieces that are come to once for each time that the loop is, or in a loop of single rounds. */
static void set(const tess_vgpu_module *m, const vgpu_ptx_flow *p, vgpu_machine_code *list, const part *b, const remade *loops) {
    int entry = loop_entry(p, b), from = b->from, turn = 0;
    const remade *own = entry >= 0 ? &loops[from] : NULL, *whole = entry >= 0 ? &loops[p->g.count + entry] : NULL;
    bool gone = whole && whole->most <= 1 && !whole->singly; /* no loop is left: every round has a piece of its own */
    if (entry >= 0 && p->g.depth[from] == b->at.depth)
        turn = b->rounds > 1 ? b->rounds : own->most > 1 ? -(own->rest ? own->rest : own->most) : 0;
    else if (entry >= 0 && (whole->most > 1 || gone))
        from = entry;
    for (int i = b->at.from; i < b->at.to; i++) {
        vgpu_machine_code *c = &list[i];
        if ((from < 0 && !b->at.reached) || b->slow)
            c->at = VGPU_NEVER;
        else if (turn == 0 && stands_for(m, p, c, &b->at, gone))
            c->at = c->line;
        else if (from >= 0 && !optional(c))
            c->at = (int)m->records[p->first[from]].line;
        if (turn && c->at > 0) {
            c->turn = turn;
            c->entry = (int)m->records[p->first[entry]].line;
        }
    }
}

static void describe(const tess_vgpu_module *m, const vgpu_ptx_flow *p, const vgpu_machine_code *list, part *parts, int b, remade *loops,
                     int *votes) {
    part *own = &parts[b];
    bool weak;
    own->from = elect(m, p, list, &own->at, votes, &weak);
    own->at.reached |= own->from >= 0; /* of a function that is called */
    own->slow = is_slow(m, list, &own->at);
    int told = weak && own->at.reached ? parting(list, own->at.from) : -1;
    for (int k = 0; told >= 0 && k < b; k++)
        if (parts[k].at.from <= told && told < parts[k].at.to)
            own->from = parts[k].from;
    if (loop_entry(p, own) < 0)
        return;
    own->rounds = copies(m, p, list, &own->at, own->from);
    bool outside = p->g.depth[own->from] > own->at.depth;
    remade *both[] = {&loops[own->from], &loops[p->g.count + loop_entry(p, own)]};
    for (int k = 0; k < TESS_COUNT(both); k++) {
        if (outside && own->rounds > 1 && (!both[k]->rest || own->rounds < both[k]->rest))
            both[k]->rest = own->rounds;
        if (!outside && own->rounds > both[k]->most)
            both[k]->most = own->rounds;
        both[k]->singly |= !outside && own->rounds == 1;
    }
}

/* One function: its instructions in the order of their addresses. Scratch of its blocks: first instructions, what they are, the walk. */
typedef struct scratch {
    int *first, *way;
    bool *starts, *reached;
    part *parts;
    remade *loops; /* by block of PTX, then by the block that enters a loop */
} scratch;

static bool find_parts(const tess_vgpu_module *m, const vgpu_ptx_flow *p, vgpu_machine_code *list, int count, scratch *s, int *votes) {
    const vgpu_record *home = record_on(m, list->home, NULL);
    int blocks = 0;
    for (int i = 0, to; i < count; i++) {
        if (code(&list[i]) == BRA && (to = find(list, count, target(&list[i]))) >= 0)
            s->starts[to] = true;
        if (cuts(&list[i]))
            s->starts[i + 1] = true;
    }
    for (int i = 0; i < count; i++)
        if (i == 0 || s->starts[i])
            s->first[blocks++] = i;
    if (blocks > MOST_BLOCKS)
        return true;
    vgpu_graph g = {0};
    s->first[blocks] = count;
    bool made = connect(m->context, &g, list, count, s->first, blocks);
    if (made) {
        tess_vgpu_graph_reach(&g, s->reached, s->way);
        for (int b = 0; b < blocks; b++) {
            s->parts[b].at = (place){s->first[b], s->first[b + 1], g.depth[b], home ? p->function[home - m->records] : -1, s->reached[b] || !home};
            describe(m, p, list, s->parts, b, s->loops, votes);
        }
        for (int b = 0; b < blocks; b++)
            set(m, p, list, &s->parts[b], s->loops);
    }
    tess_vgpu_graph_free(m->context, &g);
    return made;
}

static bool resolve(const tess_vgpu_module *m, const vgpu_ptx_flow *p, vgpu_machine_code *list, int count, int *votes) {
    tess_context *context = m->context;
    size_t n = (size_t)count + 1, loops = 2 * (size_t)p->g.count + 1;
    scratch s = {tess_allocate_zeroed(context, n * sizeof *s.first),  tess_allocate_zeroed(context, n * sizeof *s.way),
                 tess_allocate_zeroed(context, n * sizeof *s.starts), tess_allocate_zeroed(context, n * sizeof *s.reached),
                 tess_allocate_zeroed(context, n * sizeof *s.parts),  tess_allocate_zeroed(context, loops * sizeof *s.loops)};
    bool made = s.first && s.way && s.starts && s.reached && s.parts && s.loops && find_parts(m, p, list, count, &s, votes);
    tess_free(context, s.first, n * sizeof *s.first);
    tess_free(context, s.way, n * sizeof *s.way);
    tess_free(context, s.starts, n * sizeof *s.starts);
    tess_free(context, s.reached, n * sizeof *s.reached);
    tess_free(context, s.parts, n * sizeof *s.parts);
    tess_free(context, s.loops, loops * sizeof *s.loops);
    return made;
}

static int by_place(const void *a, const void *b) {
    const vgpu_machine_code *x = a, *y = b;
    int text = (x->text > y->text) - (x->text < y->text);
    return text ? text : (x->address > y->address) - (x->address < y->address);
}

tess_status tess_vgpu_blocks(const tess_vgpu_module *module, vgpu_machine_code *list, int count) {
    vgpu_ptx_flow p = {0};
    size_t votes_bytes = (module->record_count ? module->record_count : 1) * sizeof(int);
    int *votes = tess_allocate_zeroed(module->context, votes_bytes);
    bool made = votes && tess_vgpu_ptx_flow_make(module, &p);
    qsort(list, (size_t)count, sizeof *list, by_place);
    for (int i = 0, n; made && i < count; i += n) {
        for (n = 1; i + n < count && list[i + n].text == list[i].text;)
            n++;
        made = resolve(module, &p, list + i, n, votes);
    }
    tess_vgpu_ptx_flow_free(module, &p);
    tess_free(module->context, votes, votes_bytes);
    return made ? TESS_OK : TESS_ERR_MEMORY;
}

/* SPDX-License-Identifier: Apache-2.0
 * advice.c - the worst lines, with the reason in words and what helps.
 *
 * A finding is what an instruction costs beyond what its bytes need, in the model's seconds; findings of one kind on one source line are added. The
 * words come from the counters of the whole run, the stride in them from the sampled warp. */
#include <string.h>

#include "profile/model.h"

/* Bytes from a lane to the next, when that is the same for all active neighbours; false when it is not, or fewer than two are active. */
static bool stride_of(const tess_vgpu_sample *s, int64_t *stride) {
    int last = -1, seen = 0;
    for (int l = 0; l < 32; l++) {
        if (!(s->mask >> l & 1))
            continue;
        if (last >= 0) {
            int64_t step = (int64_t)(s->address[l] - s->address[last]);
            if (step % (l - last) != 0 || (seen++ && step / (l - last) != *stride))
                return false;
            *stride = step / (l - last);
        }
        last = l;
    }
    return seen > 0;
}

static const char *verb(const tess_vgpu_sample *s) { return s->atomic ? "change" : s->store ? "write" : "read"; }

/* "32 lanes read words 32 apart" */
static void say_lanes(tess_text *t, const tess_vgpu_sample *s, int64_t unit, const char *units) {
    int64_t stride = 0;
    int lanes = TESS_POPCOUNT(s->mask);
    tess_text_add(t, "%d lane%s %s", lanes, lanes == 1 ? "" : "s", verb(s));
    if (!stride_of(s, &stride))
        tess_text_add(t, " from places without order");
    else if (stride == 0)
        tess_text_add(t, " one place");
    else if (stride % unit == 0)
        tess_text_add(t, " with a stride of %lld %s", (long long)(stride / unit), units);
    else
        tess_text_add(t, " with a stride of %lld bytes", (long long)stride);
}

typedef struct context {
    const tess_prediction *p;
    double machine; /* clocks of all processors a second, of those that are busy */
    const tess_vgpu_line *line;
    const tess_vgpu_sample *sample; /* or NULL */
    tess_finding *found;
    int count;
    int number; /* of the line */
} context;

static tess_finding *new_finding(context *c, const char *kind, double seconds, tess_text *what, tess_text *advice) {
    tess_finding *f = &c->found[c->count];
    *f = (tess_finding){.file = c->line->file,
                        .file_length = c->line->file_length,
                        .line = c->line->source_line,
                        .kind = kind,
                        .seconds = seconds,
                        .sample = c->sample ? c->number : -1};
    *what = (tess_text){.at = f->what, .capacity = sizeof f->what};
    *advice = (tess_text){.at = f->advice, .capacity = sizeof f->advice};
    c->count++;
    return f;
}

static void banks(context *c) {
    const tess_vgpu_counters *n = &c->line->audited;
    uint64_t wavefronts = n->shared_ld_wavefronts + n->shared_st_wavefronts, conflicts = n->shared_ld_conflicts + n->shared_st_conflicts;
    tess_text what, advice;
    int64_t stride = 0;
    if (!conflicts || !c->sample || n->shared_atom_requests)
        return;
    uint64_t ways = (wavefronts + (wavefronts - conflicts) / 2) / (wavefronts - conflicts);
    new_finding(c, "bank conflict", (double)conflicts / c->machine, &what, &advice);
    say_lanes(&what, c->sample, 4, "words");
    if (ways > 1)
        tess_text_add(&what, ": %llu-way bank conflict", (unsigned long long)ways);
    else
        tess_text_add(&what, ": bank conflicts in %llu of %llu accesses", (unsigned long long)conflicts,
                      (unsigned long long)(wavefronts - conflicts));
    bool regular = stride_of(c->sample, &stride);
    int64_t words = (stride < 0 ? -stride : stride) / 4;
    if (regular && words > 0 && words % 2 == 0)
        tess_text_add(&advice, "pad the row to %lld: an odd number of words visits all 32 banks",
                      (long long)(words + (c->sample->bytes > 4 ? c->sample->bytes / 4 : 1)));
    else
        tess_text_add(
            &advice,
            "let the lanes of a warp want different banks (word modulo 32): pad the rows by one word, or exclusive-or the column with the row");
}

static void atomics(context *c) {
    const tess_vgpu_counters *n = &c->line->audited;
    tess_text what, advice;
    uint64_t requests = n->global_atom_requests + n->global_red_requests, passes = n->global_atom_passes + n->global_red_passes;
    if (n->shared_atom_requests && n->shared_atom_wavefronts > n->shared_atom_requests) {
        new_finding(c, "shared atomics", (double)(n->shared_atom_wavefronts - n->shared_atom_requests) / c->machine, &what, &advice);
        tess_text_add(&what, "%llu wavefronts for %llu atomic operations of a warp: lanes meet in a bank or on one address",
                      (unsigned long long)n->shared_atom_wavefronts, (unsigned long long)n->shared_atom_requests);
        tess_text_add(&advice, "combine the lanes' values first (shuffles, __reduce_add_sync), or give each warp a copy of its own");
    }
    if (requests && passes > 2 * requests) {
        new_finding(c, "global atomics", (double)(passes - requests) / c->machine, &what, &advice);
        tess_text_add(&what, "%llu passes for %llu atomic operations of a warp: lanes on one address are served one after the other",
                      (unsigned long long)passes, (unsigned long long)requests);
        tess_text_add(&advice, "combine the lanes' values in the warp or the block first, then one lane adds the sum");
    }
}

static void sectors(context *c) {
    const tess_vgpu_counters *n = &c->line->audited;
    uint64_t requests = n->global_ld_requests + n->global_st_requests, have = n->global_ld_sectors + n->global_st_sectors,
             ideal = n->global_ld_sectors_ideal + n->global_st_sectors_ideal;
    tess_text what, advice;
    int64_t stride = 0;
    if (!c->sample || requests == 0 || have <= ideal || (have - ideal) * 8 < ideal)
        return;
    bool aligned = have - ideal > requests;
    new_finding(c, aligned ? "uncoalesced" : "misaligned", 32.0 * (double)(have - ideal) / (c->p->card.l2_gb_s * 1e9), &what, &advice);
    say_lanes(&what, c->sample, c->sample->bytes, c->sample->bytes == 1 ? "bytes" : "elements");
    tess_text_add(&what, ": %llu sectors a request, %llu would do", (unsigned long long)((have + requests / 2) / requests),
                  (unsigned long long)((ideal + requests / 2) / requests));
    bool regular = stride_of(c->sample, &stride);
    if (!aligned)
        tess_text_add(&advice, "let a warp's first element lie at a multiple of 32 bytes: shift the tile or pad the rows");
    else if (regular && stride > 0 && stride <= 32)
        tess_text_add(&advice, "a structure of arrays instead of an array of structures, or one wider load for what lies together");
    else if (regular)
        tess_text_add(&advice, "let threadIdx.x run along the contiguous direction: exchange the indices, or go through a tile in shared memory");
    else
        tess_text_add(&advice, "sort or group the indices, or bring what is used into shared memory first");
}

static void replays(context *c) {
    const tess_vgpu_counters *n = &c->line->audited;
    tess_text what, advice;
    if (n->constant_requests <= n->constant_loads)
        return;
    new_finding(c, "constant replay", (double)(n->constant_requests - n->constant_loads) / c->machine, &what, &advice);
    tess_text_add(&what, "%llu different addresses for %llu loads of constant memory: each one costs a turn",
                  (unsigned long long)n->constant_requests, (unsigned long long)n->constant_loads);
    tess_text_add(&advice,
                  "constant memory is for one address a warp: read lane-dependent tables as const __restrict__ from global or from shared memory");
}

static void locals(context *c) {
    const tess_vgpu_counters *n = &c->line->audited;
    tess_text what, advice;
    uint64_t moved = n->local_ld_sectors + n->local_st_sectors;
    if (!moved)
        return;
    new_finding(c, "local memory", (double)moved / 4 / c->machine, &what, &advice);
    tess_text_add(&what, "%llu sectors of local memory: an array of the thread that does not fit registers", (unsigned long long)moved);
    tess_text_add(&advice, "unroll the loops that index it, so that every index is a constant, or use shared memory");
}

static void divergence(context *c) {
    const tess_vgpu_counters *n = &c->line->audited;
    tess_text what, advice;
    double lost = (double)n->warp_instructions - (double)n->thread_instructions / 32;
    if (n->branches_divergent * 20 >= n->branches_divergent + n->branches_uniform && n->branches_divergent) {
        new_finding(c, "divergent branch", 8 * (double)n->branches_divergent / (4 * c->machine), &what, &advice);
        tess_text_add(&what, "lanes of a warp went two ways in %llu of %llu branches", (unsigned long long)n->branches_divergent,
                      (unsigned long long)(n->branches_divergent + n->branches_uniform));
        tess_text_add(&advice, "let the condition be the same within each 32 threads: number the working threads without gaps");
    } else if (n->partial_warp_instructions && lost * 4 > (double)n->warp_instructions) {
        new_finding(c, "idle lanes", lost / (4 * c->machine), &what, &advice);
        tess_text_add(&what, "%llu of 32 lanes take part on the average", (unsigned long long)(n->thread_instructions / n->warp_instructions));
        tess_text_add(&advice, "pack the working threads into whole warps, or use shuffles among fewer threads");
    }
}

static bool same_place(const tess_finding *a, const tess_finding *b) {
    return a->line == b->line && a->kind == b->kind && a->file_length == b->file_length &&
           (a->file_length == 0 || memcmp(a->file, b->file, (size_t)a->file_length) == 0);
}

/* Adds to the list, which is kept in descending order: what costs least falls off its end. */
static int insert(tess_finding *list, int count, tess_finding *f) {
    for (int i = 0; i < count; i++)
        if (same_place(&list[i], f)) {
            double sum = list[i].seconds + f->seconds;
            if (list[i].seconds >= f->seconds)
                *f = list[i];
            f->seconds = sum;
            memmove(list + i, list + i + 1, (size_t)(count - i - 1) * sizeof *list);
            count--;
            break;
        }
    int at = count;
    while (at > 0 && list[at - 1].seconds < f->seconds)
        at--;
    if (at == TESS_FINDINGS)
        return count;
    int kept = count < TESS_FINDINGS ? count : TESS_FINDINGS - 1;
    memmove(list + at + 1, list + at, (size_t)(kept - at) * sizeof *list);
    list[at] = *f;
    return kept + 1;
}

int tess_profile_findings(const tess_vgpu_run *run, const tess_prediction *prediction, const char *ptx_name, tess_finding *findings) {
    static void (*const looks[])(context *) = {banks, atomics, sectors, replays, locals, divergence};
    tess_vgpu_line line;
    tess_vgpu_sample sample;
    int count = 0;
    for (int i = 0; tess_vgpu_line_at(run, i, &line); i++) {
        tess_finding here[2 * TESS_COUNT(looks)];
        if (ptx_name && line.source_line == 0) {
            line.file = ptx_name;
            line.file_length = (int)strlen(ptx_name);
            line.source_line = line.ptx_line;
        }
        context c = {.p = prediction,
                     .machine = prediction->card.sms * prediction->card.clock_ghz * 1e9 * prediction->busy,
                     .line = &line,
                     .sample = tess_vgpu_sample_at(run, i, &sample) ? &sample : NULL,
                     .found = here,
                     .number = i};
        for (int k = 0; k < TESS_COUNT(looks); k++)
            looks[k](&c);
        for (int k = 0; k < c.count; k++)
            count = insert(findings, count, &here[k]);
    }
    return count;
}

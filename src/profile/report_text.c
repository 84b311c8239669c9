/* SPDX-License-Identifier: Apache-2.0
 * report_text.c - the profile for a terminal: what limits, the worst lines, the source with its counts, the faults. */
#include <string.h>

#include <string.h>

#include "profile/profile.h"

static void launch(const tess_profile *p, tess_text *text) {
    const tess_launch *l = &p->launch;
    int64_t threads = (int64_t)l->block[0] * l->block[1] * l->block[2], blocks = (int64_t)l->grid[0] * l->grid[1] * l->grid[2];
    tess_text_add(text, "%s in %s, on the virtual GPU\n", l->kernel, p->name);
    tess_text_count(text, (double)blocks);
    tess_text_add(text, " block%s of %lld threads", blocks == 1 ? "" : "s", (long long)threads);
    if (p->static_shared + l->shared > 0)
        tess_text_add(text, ", %lld bytes of shared memory each", (long long)(p->static_shared + l->shared));
    tess_text_add(text, "\n\n");
}

static void limits(const tess_profile *p, tess_text *text) {
    const tess_prediction *q = &p->prediction;
    tess_text_add(text, "Predicted for %s: ", q->card.title);
    tess_text_time(text, q->seconds);
    tess_text_add(text, ", limited by %s\n", tess_term_title(q->limiter));
    for (int i = 0; i < TESS_TERMS; i++) {
        if (q->term[i].amount == 0)
            continue;
        tess_text_add(text, "  %c %-24s ", i == (int)q->limiter ? '*' : ' ', tess_term_title((tess_term_name)i));
        tess_text number = {.at = (char[40]){0}, .capacity = 40};
        tess_text_time(&number, q->term[i].seconds);
        tess_text_add(text, "%10s  ", number.at);
        tess_text_count(text, q->term[i].amount);
        tess_text_add(text, " %s\n", tess_term_unit((tess_term_name)i));
    }
    tess_text_add(text, "    %-24s ", "launch");
    tess_text number = {.at = (char[40]){0}, .capacity = 40};
    tess_text_time(&number, q->launch_seconds);
    tess_text_add(text, "%10s\n", number.at);
    if (q->flops > 0) {
        tess_text_add(text, "    ");
        tess_text_fixed(text, q->intensity, 2);
        tess_text_add(text, " flops a byte of memory, ");
        tess_text_fixed(text, q->flops_per_load, 2);
        tess_text_add(text, " flops for each element loaded\n");
    }
}

static void findings(const tess_profile *p, tess_text *text) {
    tess_text_add(text, "\nWorst lines\n");
    for (int i = 0; i < p->finding_count; i++) {
        const tess_finding *f = &p->findings[i];
        int length;
        const char *file = tess_profile_file(p, f->file, f->file_length, &length);
        tess_text_add(text, "  %.*s:%d  costs ", length, file, f->line);
        tess_text_time(text, f->seconds);
        tess_text_add(text, "\n      %s\n      %s\n", f->what, f->advice);
    }
    if (p->finding_count == 0)
        tess_text_add(text, "  none: no access costs more than its bytes need, no branch divides a warp\n");
}

/* "4.0", or a blank where there is nothing to divide by. */
static void ratio(tess_text *text, uint64_t a, uint64_t b) {
    tess_text number = {.at = (char[40]){0}, .capacity = 40};
    if (b)
        tess_text_fixed(&number, (double)a / (double)b, 1);
    tess_text_add(text, " %6s", number.at);
}

static void row(tess_text *text, const tess_vgpu_counters *c) {
    tess_text number = {.at = (char[40]){0}, .capacity = 40};
    tess_text_count(&number, (double)c->warp_instructions);
    tess_text_add(text, "%14s", number.at);
    ratio(text, c->thread_instructions, c->warp_instructions);
    ratio(text, c->global_ld_sectors, c->global_ld_requests);
    ratio(text, c->global_st_sectors, c->global_st_requests);
    ratio(text, c->shared_ld_wavefronts + c->shared_st_wavefronts + c->shared_atom_wavefronts,
          c->shared_ld_requests + c->shared_st_requests + c->shared_atom_requests);
}

static void source(const tess_profile *p, tess_text *text) {
    tess_text_add(text, "\nSource, with warp instructions, lanes an instruction, sectors a global load and store, wavefronts a shared access\n");
    for (int i = 0; i < p->line_count; i++) {
        const profile_line *l = &p->lines[i];
        int length = 0, shown;
        const char *file = tess_profile_file(p, l->file, l->file_length, &shown),
                   *line = tess_profile_source_line(p, l->file, l->file_length, l->line, &length);
        if (i == 0 || p->lines[i - 1].file != l->file)
            tess_text_add(text, "  %-*s %6s %6s %6s %6s  %.*s\n", 20, "     issued", "lanes", "load", "store", "shared", shown, file);
        tess_text_add(text, "%6d ", l->line);
        row(text, &l->counters);
        tess_text_add(text, "  %.*s\n", line ? length : 0, line ? line : "");
    }
}

/* The lines whose accesses the assembler changed, with what they cost either way. */
static void audit(const tess_profile *p, tess_text *text) {
    static const char *const words[] = {
        "kept",
        "neighbouring accesses are one wider access",
        "neighbouring accesses are one wider access",
        "not there: its value is kept in a register, is an operand, or was loaded before",
        "one lane does it for all that agree",
        "the general instruction, not the one for adding 1",
        "unrolled where lanes part: copies of it may be executed by other groups of lanes",
        "registers do not fit: local memory holds them",
        "not as in the PTX, by no known rule (counted as there)",
    };
    bool any = false;
    for (int i = 0; p->is_audited && i < p->line_count; i++) {
        const profile_line *l = &p->lines[i];
        const tess_vgpu_counters *a = &l->counters, *b = &l->audited;
        if (l->verdict == TESS_VGPU_KEPT || (l->verdict < TESS_VGPU_COPIES && memcmp(a, b, sizeof *a) == 0))
            continue;
        tess_text_add(text, "%s  line %d: %s", any ? "" : "\nMachine code, where it is not as the PTX says\n", l->line, words[l->verdict]);
        any = true;
        uint64_t before = a->shared_ld_wavefronts + a->shared_st_wavefronts + a->shared_atom_wavefronts,
                 after = b->shared_ld_wavefronts + b->shared_st_wavefronts + b->shared_atom_wavefronts;
        if (before != after)
            tess_text_add(text, "; shared wavefronts %llu -> %llu", (unsigned long long)before, (unsigned long long)after);
        before = a->global_ld_sectors + a->global_st_sectors + a->global_atom_sectors + a->global_red_sectors;
        after = b->global_ld_sectors + b->global_st_sectors + b->global_atom_sectors + b->global_red_sectors;
        if (before != after)
            tess_text_add(text, "; global sectors %llu -> %llu", (unsigned long long)before, (unsigned long long)after);
        before = a->local_ld_sectors + a->local_st_sectors;
        after = b->local_ld_sectors + b->local_st_sectors;
        if (before != after)
            tess_text_add(text, "; local sectors %llu -> %llu", (unsigned long long)before, (unsigned long long)after);
        if (a->constant_requests != b->constant_requests)
            tess_text_add(text, "; constant requests %llu -> %llu", (unsigned long long)a->constant_requests,
                          (unsigned long long)b->constant_requests);
        tess_text_add(text, "\n");
    }
}

static void outputs(const tess_profile *p, tess_text *text) {
    tess_profile_output o;
    for (int i = 0; tess_profile_output_get(p, i, &o); i++)
        tess_text_add(text, "%s  %d  argument %d, %lld of %s, FNV-1a %016llx\n", i ? "" : "\nOutputs\n", i, o.argument, (long long)o.count,
                      tess_type_name(o.type), (unsigned long long)o.hash);
}

static void printed(const tess_profile *p, tess_text *text) {
    bool cut;
    size_t length;
    const char *words = tess_vgpu_printed(p->run, &length, &cut);
    if (length)
        tess_text_add(text, "\nPrinted\n%s%s%s", words, words[length - 1] == '\n' ? "" : "\n", cut ? "(and more)\n" : "");
}

static void faults(const tess_profile *p, tess_text *text) {
    const tess_vgpu_fault *f;
    for (int i = 0; (f = tess_vgpu_fault_at(p->run, i)); i++)
        tess_text_add(text, "%s  %s: %s; %llu lane%s\n", i ? "" : "\nFaults\n", tess_vgpu_fault_name(f->kind), f->message,
                      (unsigned long long)f->count, f->count == 1 ? "" : "s");
}

void tess_profile_plain(const tess_profile *p, tess_text *text) {
    launch(p, text);
    limits(p, text);
    findings(p, text);
    source(p, text);
    audit(p, text);
    outputs(p, text);
    printed(p, text);
    faults(p, text);
}

/* SPDX-License-Identifier: Apache-2.0
 * report_json.c - the profile as one JSON object; docs/json.md is its definition. */
#include <string.h>

#include "profile/profile.h"

static void counters(const tess_vgpu_counters *c, tess_text *text, const char *indent) {
#define X(name) tess_text_add(text, "%s\"" #name "\": %llu,\n", indent, (unsigned long long)c->name);
    TESS_VGPU_COUNTER_LIST(X)
#undef X
    tess_text_add(text, "%s\"local_sectors\": %llu", indent, (unsigned long long)(c->local_ld_sectors + c->local_st_sectors));
}

/* Lines have many counters and most are 0: one line of text each. */
static void line_counters(const tess_vgpu_counters *c, tess_text *text) {
#define X(name) tess_text_add(text, "\"" #name "\": %llu, ", (unsigned long long)c->name);
    TESS_VGPU_COUNTER_LIST(X)
#undef X
    tess_text_add(text, "\"local_sectors\": %llu", (unsigned long long)(c->local_ld_sectors + c->local_st_sectors));
}

static void json_part(tess_text *text, const char *at, int length) {
    char part[1024];
    int n = length < (int)sizeof part ? length : (int)sizeof part - 1;
    if (n > 0)
        memcpy(part, at, (size_t)n);
    part[n > 0 ? n : 0] = 0;
    tess_text_json(text, part);
}

static void file(const tess_profile *p, tess_text *text, const char *at, int length) {
    const char *name = tess_profile_file(p, at, length, &length);
    json_part(text, name, length);
}

static void lines(const tess_profile *p, tess_text *text) {
    tess_text_add(text, " \"lines\": [");
    for (int i = 0; i < p->line_count; i++) {
        const profile_line *l = &p->lines[i];
        tess_text_add(text, "%s\n  {\"file\": ", i ? "," : "");
        file(p, text, l->file, l->file_length);
        tess_text_add(text, ", \"line\": %d, ", l->line);
        line_counters(&l->counters, text);
        tess_text_add(text, ", \"audit\": ");
        if (p->is_audited)
            tess_text_add(text, "\"%s\"", tess_vgpu_verdict_name(l->verdict));
        else
            tess_text_add(text, "null");
        tess_text_add(text, ", \"audited\": ");
        if (p->is_audited && (l->verdict != TESS_VGPU_KEPT || memcmp(&l->counters, &l->audited, sizeof l->counters) != 0)) {
            tess_text_add(text, "{");
            line_counters(&l->audited, text);
            tess_text_add(text, "}");
        } else {
            tess_text_add(text, "null");
        }
        tess_text_add(text, "}");
    }
    tess_text_add(text, "\n ],\n");
}

/* The same by line of the PTX; counters that are 0 are left out. */
static void ptx_lines(const tess_profile *p, tess_text *text) {
    tess_vgpu_line l;
    tess_text_add(text, " \"ptx_lines\": [");
    for (int i = 0; tess_vgpu_line_at(p->run, i, &l); i++) {
        tess_text_add(text, "%s\n  {\"ptx_line\": %d, \"opcode\": ", i ? "," : "", l.ptx_line);
        json_part(text, l.ptx, l.ptx_length);
        tess_text_add(text, ", \"file\": ");
        if (l.source_line)
            file(p, text, l.file, l.file_length);
        else
            tess_text_add(text, "null");
        tess_text_add(text, ", \"line\": %d", l.source_line);
#define X(name)          \
    if (l.counters.name) \
        tess_text_add(text, ", \"" #name "\": %llu", (unsigned long long)l.counters.name);
        TESS_VGPU_COUNTER_LIST(X)
#undef X
        tess_text_add(text, "}");
    }
    tess_text_add(text, "\n ],\n");
}

static void outputs(const tess_profile *p, tess_text *text) {
    tess_profile_output o;
    tess_text_add(text, " \"outputs\": [");
    for (int i = 0; tess_profile_output_get(p, i, &o); i++)
        tess_text_add(text, "%s\n  {\"argument\": %d, \"type\": \"%s\", \"count\": %lld, \"hash\": \"%016llx\"}", i ? "," : "", o.argument,
                      tess_type_name(o.type), (long long)o.count, (unsigned long long)o.hash);
    tess_text_add(text, "\n ],\n");
}

static void faults(const tess_profile *p, tess_text *text) {
    const tess_vgpu_fault *f;
    tess_text_add(text, " \"faults\": [");
    for (int i = 0; (f = tess_vgpu_fault_at(p->run, i)); i++) {
        tess_text_add(text, "%s\n  {\"kind\": \"%s\", \"kernel\": ", i ? "," : "", tess_vgpu_fault_name(f->kind));
        tess_text_json(text, p->launch.kernel);
        tess_text_add(text, ", \"count\": %llu, \"block\": [%u, %u, %u], \"thread\": [%u, %u, %u], \"file\": ", (unsigned long long)f->count,
                      f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2]);
        file(p, text, f->file, f->file_length);
        tess_text_add(text, ", \"line\": %d, \"other_line\": ", p->source_is_ptx && !f->source_line ? f->ptx_line : f->source_line);
        if (f->other_line)
            tess_text_add(text, "%d", f->other_line);
        else
            tess_text_add(text, "null");
        tess_text_add(text, ", \"ptx_line\": %d, \"space\": ", f->ptx_line);
        if (f->space)
            tess_text_add(text, "\"%s\", \"address\": %llu", f->space, (unsigned long long)f->address);
        else
            tess_text_add(text, "null, \"address\": null");
        tess_text_add(text, ", \"message\": ");
        tess_text_json(text, f->message);
        tess_text_add(text, "}");
    }
    tess_text_add(text, "\n ],\n");
}

static void real(tess_text *text, const char *key, double value) {
    tess_text_add(text, "\"%s\": ", key);
    tess_text_real(text, value);
}

static void sample(const tess_profile *p, int number, tess_text *text) {
    tess_vgpu_sample s;
    if (number < 0 || !tess_vgpu_sample_at(p->run, number, &s)) {
        tess_text_add(text, "null");
        return;
    }
    tess_text_add(text, "{\"space\": \"%s\", \"access\": \"%s\", \"bytes\": %d, \"block\": [%u, %u, %u], \"warp\": %d, \"addresses\": [", s.space,
                  s.atomic  ? "atomic"
                  : s.store ? "store"
                            : "load",
                  s.bytes, s.block[0], s.block[1], s.block[2], s.warp);
    for (int l = 0; l < 32; l++)
        if (s.mask >> l & 1)
            tess_text_add(text, "%s%llu", l ? ", " : "", (unsigned long long)s.address[l]);
        else
            tess_text_add(text, "%snull", l ? ", " : "");
    tess_text_add(text, "]}");
}

static void findings(const tess_profile *p, tess_text *text) {
    tess_text_add(text, " \"worst\": [");
    for (int i = 0; i < p->finding_count; i++) {
        const tess_finding *f = &p->findings[i];
        tess_text_add(text, "%s\n  {\"file\": ", i ? "," : "");
        file(p, text, f->file, f->file_length);
        tess_text_add(text, ", \"line\": %d, \"kind\": \"%s\", ", f->line, f->kind);
        real(text, "seconds", f->seconds);
        tess_text_add(text, ", \"what\": ");
        tess_text_json(text, f->what);
        tess_text_add(text, ", \"advice\": ");
        tess_text_json(text, f->advice);
        tess_text_add(text, ", \"sample\": ");
        sample(p, f->sample, text);
        tess_text_add(text, "}");
    }
    tess_text_add(text, "\n ],\n");
}

static void prediction(const tess_profile *p, tess_text *text) {
    const tess_prediction *q = &p->prediction;
    tess_text_add(text, " \"prediction\": {\n  \"card\": ");
    tess_text_json(text, q->card.name);
    tess_text_add(text, ",\n  \"title\": ");
    tess_text_json(text, q->card.title);
    tess_text_add(text, ",\n  ");
    real(text, "seconds", q->seconds);
    tess_text_add(text, ",\n  ");
    real(text, "launch_seconds", q->launch_seconds);
    tess_text_add(text, ",\n  \"limiter\": \"%s\",\n  \"terms\": [", tess_term_title(q->limiter));
    for (int i = 0; i < TESS_TERMS; i++) {
        tess_text_add(text, "%s\n   {\"name\": \"%s\", ", i ? "," : "", tess_term_title((tess_term_name)i));
        real(text, "seconds", q->term[i].seconds);
        tess_text_add(text, ", ");
        real(text, "amount", q->term[i].amount);
        tess_text_add(text, ", \"unit\": \"%s\"}", tess_term_unit((tess_term_name)i));
    }
    tess_text_add(text, "\n  ],\n  \"blocks_a_processor\": %d,\n  ", q->blocks_a_processor);
    real(text, "busy", q->busy);
    tess_text_add(text, ",\n  ");
    real(text, "flops", q->flops);
    tess_text_add(text, ",\n  ");
    real(text, "memory_bytes", q->bytes);
    tess_text_add(text, ",\n  ");
    real(text, "flops_per_byte", q->intensity);
    tess_text_add(text, ",\n  ");
    real(text, "flops_per_load", q->flops_per_load);
    tess_text_add(text, "\n }\n}\n");
}

void tess_profile_json(const tess_profile *p, tess_text *text) {
    const tess_launch *l = &p->launch;
    size_t length;
    tess_text_add(text, "{\n \"source\": ");
    tess_text_json(text, p->name);
    tess_text_add(text, ",\n \"kernel\": ");
    tess_text_json(text, p->launch.kernel);
    tess_text_add(text, ",\n \"symbol\": ");
    tess_text_json(text, p->kernel);
    tess_text_add(text, ",\n \"launch\": ");
    tess_text_json(text, p->launch_text);
    tess_text_add(text, ",\n \"grid\": [%u, %u, %u],\n \"block\": [%u, %u, %u],\n \"shared_bytes\": %lld,\n \"fmad\": %s,\n", l->grid[0], l->grid[1],
                  l->grid[2], l->block[0], l->block[1], l->block[2], (long long)l->shared,
                  p->source_is_ptx ? "null"
                  : p->fmad        ? "true"
                                   : "false");
    tess_text_add(text, " \"counters\": {\n");
    counters(&p->total, text, "  ");
    tess_text_add(text, "\n },\n \"counters_audited\": ");
    if (p->is_audited) {
        tess_text_add(text, "{\n");
        counters(&p->audited, text, "  ");
        tess_text_add(text, "\n },\n");
    } else {
        tess_text_add(text, "null,\n");
    }
    lines(p, text);
    ptx_lines(p, text);
    outputs(p, text);
    faults(p, text);
    tess_text_add(text, " \"printed\": ");
    tess_text_json(text, tess_vgpu_printed(p->run, &length, NULL));
    tess_text_add(text, ",\n");
    findings(p, text);
    prediction(p, text);
}

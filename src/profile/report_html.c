/* SPDX-License-Identifier: Apache-2.0
 * report_html.c - the profile as one page that needs nothing else: no script, no font, no picture from outside. */
#include <string.h>

#include "profile/profile.h"

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c1f23;--paper:#fff;--soft:#667;--rule:#d8dce2;--tint:#f3f5f8;--good:#3b7dd8;--c1:#f2b8a6;--c2:#e2725b;"
    "--c3:#b3261e;--hot:179,38,30}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e7eb;--paper:#15181c;--soft:#98a0aa;--rule:#333940;--tint:#1e2329;--good:#6ea8f0;--c1:#7a3b30;"
    "--c2:#c4553f;--c3:#ff6d5a;--hot:255,109,90}}\n"
    "body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:76rem;margin:2rem auto;padding:0 1.2rem}\n"
    "h1{font-size:1.5rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid var(--rule);padding-bottom:.2rem}\n"
    "p.sub,small{color:var(--soft)}.big{font-size:1.25rem}code,pre,.src{font-family:ui-monospace,monospace;font-size:13px}\n"
    "table{border-collapse:collapse;width:100%}td,th{padding:.12rem .6rem;text-align:right;white-space:nowrap;vertical-align:top}\n"
    "th{font-weight:600;color:var(--soft);font-size:.85rem}td.l,th.l{text-align:left}td.src{text-align:left;white-space:pre}\n"
    "tr.hit "
    "td{background:rgba(var(--hot),.12)}.wide{overflow-x:auto}.bar{background:var(--good);height:.65rem;border-radius:2px}.bar.top{background:var(--"
    "c3)}\n"
    "h1,p.sub{overflow-wrap:anywhere}pre{overflow-x:auto}.finding{display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start;padding:1rem "
    "0;border-top:1px solid var(--rule)}.finding>div{flex:1 1 "
    "22rem}\n"
    ".finding svg{flex:none;max-width:100%;height:auto}.advice{border-left:3px solid var(--good);padding-left:.7rem}.bad{color:var(--c3)}\n"
    "svg text{font:11px system-ui,sans-serif;fill:var(--soft)}svg "
    ".n{text-anchor:end}.ground{fill:var(--tint)}.c0{fill:var(--good)}.c1{fill:var(--c1)}\n"
    ".c2{fill:var(--c2)}.c3{fill:var(--c3)}.grid{stroke:var(--rule)}.line{fill:none;stroke:var(--ink);stroke-width:2}.dot{fill:var(--c3)}svg.roof{"
    "max-width:100%;height:auto}\n";

static void escaped(tess_text *t, const char *s) { tess_text_html(t, s, (int)strlen(s)); }

static void place(const tess_profile *p, tess_text *t, const char *file, int length, int line) {
    file = tess_profile_file(p, file, length, &length);
    const char *base = file;
    for (int i = 0; i < length; i++)
        base = file[i] == '/' ? file + i + 1 : base;
    tess_text_html(t, base, (int)(file + length - base));
    tess_text_add(t, ":%d", line);
}

static void terms(const tess_profile *p, tess_text *t) {
    const tess_prediction *q = &p->prediction;
    double most = q->term[q->limiter].seconds;
    tess_text_add(t, "<div class=wide><table><tr><th class=l>part of the card<th>time<th>work<th class=l><th class=l style=\"width:35%%\"></tr>\n");
    for (int i = 0; i < TESS_TERMS; i++) {
        if (q->term[i].amount == 0)
            continue;
        tess_text_add(t, "<tr><td class=l>%s<td>", tess_term_title((tess_term_name)i));
        tess_text_time(t, q->term[i].seconds);
        tess_text_add(t, "<td>");
        tess_text_count(t, q->term[i].amount);
        tess_text_add(t, "<td class=l><small>%s</small><td class=l><div class=\"bar%s\" style=\"width:%d%%\"></div></tr>\n",
                      tess_term_unit((tess_term_name)i), i == (int)q->limiter ? " top" : "", most > 0 ? (int)(100 * q->term[i].seconds / most) : 0);
    }
    tess_text_add(t, "</table></div>\n");
}

static void findings(const tess_profile *p, tess_text *t) {
    tess_text_add(t, "<h2>Worst lines</h2>\n");
    for (int i = 0; i < p->finding_count; i++) {
        const tess_finding *f = &p->findings[i];
        tess_vgpu_sample s;
        int length;
        const char *line = tess_profile_source_line(p, f->file, f->file_length, f->line, &length);
        tess_text_add(t, "<div class=finding><div><b>");
        place(p, t, f->file, f->file_length, f->line);
        tess_text_add(t, "</b> &middot; %s &middot; costs ", f->kind);
        tess_text_time(t, f->seconds);
        if (line) {
            tess_text_add(t, "<pre>");
            tess_text_html(t, line, length);
            tess_text_add(t, "</pre>");
        }
        tess_text_add(t, "<p>");
        escaped(t, f->what);
        tess_text_add(t, "</p><p class=advice>");
        escaped(t, f->advice);
        tess_text_add(t, "</p>");
        bool pictured = f->sample >= 0 && tess_vgpu_sample_at(p->run, f->sample, &s) && (s.space[0] == 's' || s.space[0] == 'g');
        if (pictured)
            tess_text_add(t, "<small>Picture: warp %d of block %u %u %u, %d bytes a lane.</small>", s.warp, s.block[0], s.block[1], s.block[2],
                          s.bytes);
        tess_text_add(t, "</div>");
        if (pictured)
            tess_profile_picture(&s, t);
        tess_text_add(t, "</div>\n");
    }
    if (p->finding_count == 0)
        tess_text_add(t, "<p>None: no access costs more than its bytes need, no branch divides a warp.</p>\n");
}

static void ratio(tess_text *t, uint64_t a, uint64_t b, bool bad) {
    tess_text_add(t, bad ? "<td class=bad>" : "<td>");
    if (b)
        tess_text_fixed(t, (double)a / (double)b, 1);
}

static void counts(tess_text *t, const tess_vgpu_counters *c) {
    tess_text_count(t, (double)c->warp_instructions);
    ratio(t, c->thread_instructions, c->warp_instructions, false);
    ratio(t, c->global_ld_sectors, c->global_ld_requests, c->global_ld_sectors > 2 * c->global_ld_sectors_ideal);
    ratio(t, c->global_st_sectors, c->global_st_requests, c->global_st_sectors > 2 * c->global_st_sectors_ideal);
    ratio(t, c->shared_ld_wavefronts + c->shared_st_wavefronts + c->shared_atom_wavefronts,
          c->shared_ld_requests + c->shared_st_requests + c->shared_atom_requests, c->shared_ld_conflicts + c->shared_st_conflicts > 0);
    ratio(t, c->constant_requests, c->constant_loads, c->constant_requests > c->constant_loads);
    tess_text_add(t, c->branches_divergent ? "<td class=bad>" : "<td>");
    if (c->branches_divergent)
        tess_text_count(t, (double)c->branches_divergent);
}

static bool is_found(const tess_profile *p, const profile_line *l) {
    for (int i = 0; i < p->finding_count; i++)
        if (p->findings[i].line == l->line && p->findings[i].file_length == l->file_length)
            return true;
    return false;
}

/* Every line of the source, with counts where there are some. */
static void whole_source(const tess_profile *p, tess_text *t) {
    int i = 0, shown;
    while (i < p->line_count && tess_profile_file(p, p->lines[i].file, p->lines[i].file_length, &shown) != p->name)
        i++;
    const char *at = p->source;
    for (int line = 1; *at; line++) {
        int length = (int)strcspn(at, "\n");
        while (i < p->line_count && p->lines[i].line < line)
            i++;
        const profile_line *l = i < p->line_count && p->lines[i].line == line ? &p->lines[i] : NULL;
        tess_text_add(t, "<tr%s id=\"l%d\"><td>%d<td>", l && is_found(p, l) ? " class=hit" : "", line, line);
        if (l)
            counts(t, &l->counters);
        else
            tess_text_add(t, "<td><td><td><td><td><td>");
        tess_text_add(t, "<td class=src>");
        tess_text_html(t, at, length);
        tess_text_add(t, "</tr>\n");
        at += length + (at[length] == '\n');
    }
}

static void other_lines(const tess_profile *p, tess_text *t) {
    for (int i = 0; i < p->line_count; i++) {
        const profile_line *l = &p->lines[i];
        int shown;
        if (tess_profile_file(p, l->file, l->file_length, &shown) == p->name)
            continue;
        tess_text_add(t, "<tr%s><td>%d<td>", is_found(p, l) ? " class=hit" : "", l->line);
        counts(t, &l->counters);
        tess_text_add(t, "<td class=src><small>");
        place(p, t, l->file, l->file_length, l->line);
        tess_text_add(t, "</small></tr>\n");
    }
}

static void source(const tess_profile *p, tess_text *t) {
    tess_text_add(t, "<h2>Source</h2>\n<p class=sub>Warp instructions; lanes an instruction; sectors a global load and store; wavefronts a shared "
                     "access; addresses a "
                     "constant load; divergent branches.</p>\n<div class=wide><table "
                     "class=source><tr><th>line<th>issued<th>lanes<th>load<th>store<th>shared<th>const"
                     "<th>diverge<th class=l></tr>\n");
    if (!p->source_is_ptx || p->line_count == 0 || p->lines[0].file == p->name)
        whole_source(p, t);
    other_lines(p, t);
    tess_text_add(t, "</table></div>\n");
}

static void printed(const tess_profile *p, tess_text *t) {
    size_t length;
    const char *words = tess_vgpu_printed(p->run, &length, NULL);
    if (!length)
        return;
    tess_text_add(t, "<h2>Printed</h2>\n<pre>");
    tess_text_html(t, words, (int)tess_min64((int64_t)length, 65536));
    tess_text_add(t, "</pre>\n");
}

static void faults(const tess_profile *p, tess_text *t) {
    const tess_vgpu_fault *f;
    if (tess_vgpu_fault_count(p->run) == 0)
        return;
    tess_text_add(t, "<h2 class=bad>Faults</h2>\n<ul>\n");
    for (int i = 0; (f = tess_vgpu_fault_at(p->run, i)); i++) {
        tess_text_add(t, "<li><b>%s</b>: ", tess_vgpu_fault_name(f->kind));
        escaped(t, f->message);
        tess_text_add(t, "; %llu lane%s</li>\n", (unsigned long long)f->count, f->count == 1 ? "" : "s");
    }
    tess_text_add(t, "</ul>\n");
}

void tess_profile_html(const tess_profile *p, tess_text *t) {
    const tess_prediction *q = &p->prediction;
    tess_text_add(t,
                  "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>");
    escaped(t, p->launch.kernel);
    tess_text_add(t, " - Tessera profile</title>\n<style>%s</style></head>\n<body>\n<h1>", style);
    escaped(t, p->launch.kernel);
    tess_text_add(t, "</h1>\n<p class=sub>");
    escaped(t, p->name);
    tess_text_add(t, " &middot; <code>");
    escaped(t, p->launch_text);
    tess_text_add(t, "</code></p>\n<p class=big>Limited by <b>%s</b>: ", tess_term_title(q->limiter));
    tess_text_time(t, q->seconds);
    tess_text_add(t, " predicted for ");
    escaped(t, q->card.title);
    tess_text_add(t, "</p>\n");
    faults(p, t);
    terms(p, t);
    findings(p, t);
    source(p, t);
    printed(p, t);
    tess_text_add(t, "<h2>Roofline</h2>\n");
    tess_profile_roofline(q, t);
    tess_text_add(t, "<p class=sub>");
    if (q->flops > 0) {
        tess_text_fixed(t, q->intensity, 2);
        tess_text_add(t, " flops a byte of memory, ");
        tess_text_fixed(t, q->flops_per_load, 2);
        tess_text_add(t, " flops for each element loaded.");
    } else {
        tess_text_add(t, "No floating-point operations, so no point.");
    }
    tess_text_add(t, " Counts are those of the PTX (docs/counters.md); caches, registers and power are not modelled.</p>\n</body></html>\n");
}

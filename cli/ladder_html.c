/* SPDX-License-Identifier: Apache-2.0
 * ladder_html.c - the climbs as one page that needs nothing else: no script, no font, no picture from outside. */
#include <stdio.h>

#include "ladder.h"

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c1f23;--paper:#fff;--soft:#667;--rule:#d8dce2;--model:#9bb4d6;--real:#3b7dd8;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e7eb;--paper:#15181c;--soft:#98a0aa;--rule:#333940;--model:#46618a;--real:#6ea8f0;--bad:#"
    "ff6d5a}}\n"
    "body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:80rem;margin:2rem auto;padding:0 1.2rem}\n"
    "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}small{color:var(--soft)}.bad{color:var(--bad);font-weight:600}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%}td,th{padding:.25rem "
    ".6rem;text-align:right;white-space:nowrap;vertical-align:top;"
    "border-bottom:1px solid var(--rule)}\n"
    "th{color:var(--soft);font-size:.85rem;white-space:normal;vertical-align:bottom}.l{text-align:left}td.idea{text-align:left;white-space:normal;"
    "min-width:16rem}\n"
    ".bar{height:.55rem;border-radius:2px;min-width:1px;margin:.15rem "
    "0}.model{background:var(--model)}.real{background:var(--real)}td.bars{width:18%;min-width:8rem}\n";

static void escaped(const char *s) {
    for (; *s; s++)
        if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
            printf("&#%d;", *s);
        else
            putchar(*s);
}

static void name(const cli_rung *r) {
    printf("<tr><td>");
    if (r->row.rung > 0)
        printf("%d", r->row.rung);
    printf("<td class=idea>");
    escaped(r->row.name);
    printf("<br><small>");
    escaped(r->row.idea);
    printf("</small>");
}

static void bits(const cli_rung *r) { printf("<td class=\"l%s\">%s", r->same_bits ? "" : " bad", r->same_bits ? "same bits" : "OTHER BITS"); }

static void gain(double value) {
    printf("<td>");
    if (value > 0)
        printf("%.2f &times;", value);
}

static void bar(const char *kind, double seconds, double longest) {
    if (seconds > 0 && longest > 0)
        printf("<div class=\"bar %s\" style=\"width:%.1f%%\"></div>", kind, 100 * seconds / longest);
}

static void counted(const cli_rung *r, double longest) {
    const char *why = cli_ladder_unmodelled(r);
    bool wrong = r->predicted && !(r->holds && r->agrees);
    printf("<td class=bars>");
    bar("model", r->model_seconds, longest);
    bar("real", r->measured_seconds, longest);
    bits(r);
    printf("<td class=\"l%s\">%s<td>%.1f<td>%.1f<td>%.1f<td>%.3f<td>", wrong ? " bad" : "",
           !r->predicted ? "-"
           : wrong       ? "NOT AS PREDICTED"
                         : "as predicted",
           r->load_sectors, r->store_sectors, r->wavefronts, r->model_seconds * 1e3);
    if (r->measured_seconds > 0)
        printf("%.3f<td>%+.0f %%<td>%.0f %%", r->measured_seconds * 1e3, 100 * (r->model_seconds / r->measured_seconds - 1),
               100 * r->measured_fraction);
    else
        printf("-<td><td>");
    gain(r->gain);
    printf("<td class=idea>");
    escaped(r->limiter);
    if (why) {
        printf("<br><small>not in the model: ");
        escaped(why);
        printf("</small>");
    }
}

static void timed(const cli_rung *r, double longest) {
    printf("<td class=bars>");
    bar("real", r->seconds, longest);
    bits(r);
    printf("<td>%.3f<td>%.1f<td>%.2f<td>%.0f %%", r->seconds * 1e3, r->bytes / r->seconds * 1e-9, r->flops / r->seconds * 1e-12, 100 * r->fraction);
    gain(r->gain);
}

static void climb(const cli_climb *c) {
    double longest = 0;
    bool by_count = false;
    for (int i = 0; i < c->count; i++) {
        const cli_rung *r = &c->rungs[i];
        const double seconds[] = {r->seconds, r->model_seconds, r->measured_seconds};
        by_count = by_count || r->counted;
        for (int k = 0; k < 3; k++)
            longest = seconds[k] > longest ? seconds[k] : longest;
    }
    printf("<h2>");
    escaped(c->name);
    printf("</h2>\n<div class=wide><table><tr><th><th class=l>strategy<th><th class=l>bits%s</tr>\n",
           by_count ? "<th class=l>counts<th>sectors a load<th>a store<th>wavefronts an access<th>model, ms<th>measured, ms<th>off<th>of "
                      "limit<th>gain<th class=l>limited by"
                    : "<th>ms<th>GB/s<th>TFLOP/s<th>of limit<th>gain");
    for (int i = 0; i < c->count; i++) {
        const cli_rung *r = &c->rungs[i];
        name(r);
        if (r->state != CLI_RUNG_RAN) {
            printf("<td class=\"idea%s\" colspan=12>", r->state == CLI_RUNG_FAILED ? " bad" : "");
            escaped(r->why);
        } else if (r->counted) {
            counted(r, longest);
        } else {
            timed(r, longest);
        }
        printf("</tr>\n");
    }
    printf("</table></div>\n");
}

void cli_ladder_html(const cli_climbs *climbs) {
    char measured_on[128];
    cli_ladder_measured_on(measured_on, sizeof measured_on);
    printf("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>Tessera's "
           "ladder</title>\n<style>%s</style></head><body>\n<h1>Tessera's ladder</h1>\n<p>Each strategy on one problem, compared bit for bit with "
           "the CPU's "
           "reference.",
           style);
    if (climbs->counted)
        printf(" The GPU's strategies ran on the virtual one under all checkers; their counts stand beside what their formulas say; the model's "
               "times of an H200 "
               "(pale bars), for 64 Mi elements, beside those measured on %s (full bars).",
               measured_on);
    printf("</p>\n");
    for (int c = 0; c < climbs->count; c++)
        climb(&climbs->at[c]);
    printf("</body></html>\n");
}

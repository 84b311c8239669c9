/* SPDX-License-Identifier: Apache-2.0
 * picture.c - SVG pictures: which lane of a warp wants which bank or sector, and where a kernel lies under a card's roofs.
 *
 * Colours are classes; the page's style sheet has them, so that a dark page needs no other picture. */
#include <math.h>

#include "profile/profile.h"

enum { CELL = 11, LEFT = 34, TOP = 22 };

static void frame(tess_text *t, int columns, const char *across, const char *label) {
    int width = LEFT + columns * CELL + 8, height = TOP + 32 * CELL + 8;
    tess_text_add(t, "<svg class=\"lanes\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">", width, height, width,
                  height, label);
    tess_text_add(t, "<rect class=\"ground\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", LEFT, TOP, columns * CELL, 32 * CELL);
    tess_text_add(t, "<text x=\"%d\" y=\"14\">%s</text><text x=\"0\" y=\"14\">lane</text>", LEFT, across);
    for (int l = 0; l < 32; l += 8)
        tess_text_add(t, "<text class=\"n\" x=\"%d\" y=\"%d\">%d</text>", LEFT - 6, TOP + l * CELL + 9, l);
}

static void cell(tess_text *t, int column, int lane, const char *class, const char *title, unsigned long long value) {
    tess_text_add(t, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>lane %d: %s %llu</title></rect>", class,
                  LEFT + column * CELL + 1, TOP + lane * CELL + 1, CELL - 2, CELL - 2, lane, title, value);
}

/* Different words that the lanes up to `lane`, of its phase, want of the bank before this one. */
static int earlier_words(const tess_vgpu_sample *s, int lane, uint64_t word) {
    int first = lane / (s->bytes <= 4 ? 32 : 128 / s->bytes) * (s->bytes <= 4 ? 32 : 128 / s->bytes), count = 0;
    uint64_t seen[32 * 4];
    for (int l = first; l < lane; l++)
        for (uint64_t w = s->address[l] / 4; s->mask >> l & 1 && w * 4 < s->address[l] + (uint64_t)s->bytes; w++) {
            int k = 0;
            while (k < count && seen[k] != w)
                k++;
            if (w % 32 == word % 32 && w != word && k == count)
                seen[count++] = w;
        }
    return count;
}

static void banks(const tess_vgpu_sample *s, tess_text *t) {
    frame(t, 32, "banks 0 to 31; blue goes first, redder waits longer", "lanes by banks");
    for (int l = 0; l < 32; l++)
        for (uint64_t w = s->address[l] / 4; s->mask >> l & 1 && w * 4 < s->address[l] + (uint64_t)s->bytes; w++) {
            int turn = earlier_words(s, l, w);
            cell(t, (int)(w % 32), l, turn == 0 ? "c0" : turn < 4 ? "c1" : turn < 16 ? "c2" : "c3", "word", (unsigned long long)w);
        }
    tess_text_add(t, "</svg>");
}

static void sectors(const tess_vgpu_sample *s, tess_text *t) {
    uint64_t list[32];
    int count = 0;
    for (int l = 0; l < 32; l++) {
        uint64_t sector = s->address[l] / 32;
        int at = count;
        if (!(s->mask >> l & 1))
            continue;
        while (at > 0 && list[at - 1] > sector)
            at--;
        if (at > 0 && list[at - 1] == sector)
            continue;
        for (int i = count++; i > at; i--)
            list[i] = list[i - 1];
        list[at] = sector;
    }
    frame(t, 32, "sectors, in the order of their addresses", "lanes by sectors");
    for (int l = 0; l < 32; l++)
        for (int k = 0; k < count && s->mask >> l & 1; k++)
            if (list[k] == s->address[l] / 32)
                cell(t, k, l,
                     count * 32 <= TESS_POPCOUNT(s->mask) * s->bytes + 32 ? "c0"
                     : count < 16                                         ? "c2"
                                                                          : "c3",
                     "address", (unsigned long long)s->address[l]);
    tess_text_add(t, "</svg>");
}

void tess_profile_picture(const tess_vgpu_sample *s, tess_text *text) {
    if (s->space[0] == 's')
        banks(s, text);
    else
        sectors(s, text);
}

/* ---- the roofline ---- */

enum { WIDE = 560, HIGH = 300, EDGE = 52 };

static double x_of(double intensity) { return EDGE + (log2(intensity) + 6) / 16 * (WIDE - EDGE - 12); } /* 2^-6 .. 2^10 */
static double y_of(double flops) { return HIGH - 34 - (log10(flops) - 9) / 6 * (HIGH - 34 - 14); }      /* 10^9 .. 10^15 */
static double inside(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

static void point(tess_text *t, double x, double y) {
    tess_text_fixed(t, inside(x_of(x), EDGE, WIDE - 12), 1);
    tess_text_add(t, ",");
    tess_text_fixed(t, inside(y_of(y), 14, HIGH - 34), 1);
}

void tess_profile_roofline(const tess_prediction *p, tess_text *t) {
    double bandwidth = p->card.read_gb_s * 1e9, ridge = p->flops_roof / bandwidth, low = 1.0 / 64, high = 1024;
    double reached = p->seconds > 0 ? p->flops / p->seconds : 0;
    tess_text_add(t, "<svg class=\"roof\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"roofline\">", WIDE, HIGH, WIDE,
                  HIGH);
    for (int e = -6; e <= 10; e += 4) {
        double at = pow(2, e);
        tess_text_add(t, "<line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" y1=\"14\" y2=\"%d\"/><text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">",
                      x_of(at), x_of(at), HIGH - 34, x_of(at), HIGH - 18);
        tess_text_add(t, e < 0 ? "1/%d" : "%d", 1 << (e < 0 ? -e : e));
        tess_text_add(t, "</text>");
    }
    static const char *const units[] = {"1 G", "10 G", "100 G", "1 T", "10 T", "100 T", "1 P"};
    for (int e = 9; e <= 15; e++)
        tess_text_add(t, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.0f\" y2=\"%.0f\"/><text class=\"n\" x=\"%d\" y=\"%.0f\">%s</text>", EDGE,
                      WIDE - 12, y_of(pow(10, e)), y_of(pow(10, e)), EDGE - 5, y_of(pow(10, e)) + 4, units[e - 9]);
    tess_text_add(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">flops a byte of memory</text>", WIDE / 2, HIGH - 3);
    tess_text_add(t, "<polyline class=\"line\" points=\"");
    point(t, low, low * bandwidth);
    tess_text_add(t, " ");
    point(t, ridge, p->flops_roof);
    tess_text_add(t, " ");
    point(t, high, p->flops_roof);
    tess_text_add(t, "\"/>");
    if (p->flops > 0) {
        double x = inside(x_of(inside(p->intensity, low, high)), EDGE, WIDE - 12), y = inside(y_of(inside(reached, 1e9, 1e15)), 14, HIGH - 34);
        tess_text_add(t, "<circle class=\"dot\" cx=\"%.0f\" cy=\"%.0f\" r=\"6\"/>", x, y);
    }
    tess_text_add(t, "</svg>");
}

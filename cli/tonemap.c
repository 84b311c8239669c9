/* SPDX-License-Identifier: Apache-2.0
 * tonemap.c - gamma, invert, levels and threshold as tables of 256 or 65536 entries. */
#include "tonemap.h"

#include <math.h>
#include <string.h>

#include "mask.h"

typedef enum curve { GAMMA, INVERT, LEVELS, THRESHOLD } curve;
static const struct {
    const char *word;
    int numbers;
} curves[] = {[GAMMA] = {"gamma", 1}, [INVERT] = {"invert", 0}, [LEVELS] = {"levels", 2}, [THRESHOLD] = {"threshold", 1}};
enum { CURVES = sizeof curves / sizeof curves[0] };

static int curve_of(const char *text) {
    size_t word = strcspn(text, ":");
    for (int c = 0; c < CURVES; c++)
        if (strlen(curves[c].word) == word && strncmp(text, curves[c].word, word) == 0 && (text[word] == ':' || curves[c].numbers == 0))
            return c;
    return -1;
}

bool cli_is_tonemap(const char *text) { return curve_of(text) >= 0; }

static bool wrong(const char *text, const char *at, tess_io_message *message, const char *what) {
    tess_io_fail(message, TESS_IO_ERR_INPUT, "table \"%s\": character %d: %s", text, (int)(at - text) + 1, what);
    return false;
}

static double value_of(curve c, double v, double top, const double *n) {
    switch (c) {
    case GAMMA: return top * pow(v / top, 1 / n[0]);
    case INVERT: return top - v;
    case LEVELS: return (v - n[0]) / (n[1] - n[0]) * top;
    default: return v < n[0] ? 0 : top;
    }
}

bool cli_tonemap(tess_io_array *table, const char *text, tess_type type, tess_io_message *message) {
    int c = curve_of(text);
    double n[2] = {0, 0}, top = type == tess_u8 ? 255 : 65535;
    if (type != tess_u8 && type != tess_u16) {
        tess_io_fail(message, TESS_IO_ERR_INPUT, "table \"%s\" is for elements of type u8 or u16, the index holds %s", text, tess_type_name(type));
        return false;
    }
    const char *at = text + strlen(curves[c].word);
    for (int k = 0; k < curves[c].numbers; k++) {
        const char *start = at + 1;
        if (*at != ':' || (at++, !cli_number(&at, &n[k])))
            return wrong(text, start, message, "a number is expected");
        if (*at == '%' && c != GAMMA) {
            n[k] *= top / 100;
            at++;
        }
        if (c == GAMMA && !(n[k] >= 1e-3 && n[k] <= 1e3))
            return wrong(text, start, message, "gamma must lie between 0.001 and 1000");
        if (k == 1 && n[1] == n[0])
            return wrong(text, start, message, "the two levels must differ");
    }
    if (*at)
        return wrong(text, at, message, "nothing more is expected");
    int64_t count = (int64_t)top + 1;
    if (tess_io_make(table, type, 1, &count, "the table", message) != TESS_IO_OK)
        return false;
    for (int64_t v = 0; v < count; v++) {
        double y = rint(value_of((curve)c, (double)v, top, n));
        y = !(y > 0) ? 0 : y > top ? top : y; /* levels beyond all bounds make a NaN */
        if (type == tess_u8)
            ((uint8_t *)table->block)[v] = (uint8_t)y;
        else
            ((uint16_t *)table->block)[v] = (uint16_t)y;
    }
    return true;
}

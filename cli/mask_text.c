/* SPDX-License-Identifier: Apache-2.0
 * mask_text.c - weights written out: numbers with blanks or commas between them, ; after a row, | after a plane, * F at the end scales all.
 *
 * A row without any ; is a mask of one axis, "1 2 1;" one of two with a single row. Rows and planes must all be of one size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mask.h"

bool cli_mask_wrong(const char *spec, const char *at, tess_io_message *message, const char *what) {
    if (*at)
        tess_io_fail(message, TESS_IO_ERR_INPUT, "--mask \"%s\": character %d (\"%.1s\"): %s", spec, (int)(at - spec) + 1, at, what);
    else
        tess_io_fail(message, TESS_IO_ERR_INPUT, "--mask \"%s\": at its end: %s", spec, what);
    return false;
}

/* strtod for finite decimal numbers: it would take blanks, "inf" and hexadecimal digits too, as in the box "0x5". */
static bool decimal(const char **at, double *value) {
    const char *p = *at, *digits = p + (*p == '+' || *p == '-');
    char *end = (char *)digits + 1;
    if (!*p || !strchr("+-.0123456789", *p))
        return false;
    *value = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 0 : strtod(p, &end);
    *at = end;
    return end != p && isfinite(*value);
}

bool cli_number(const char **at, double *value) {
    const char *p = *at;
    double below = 1;
    if (!decimal(&p, value) || (*p == '/' && (p++, !decimal(&p, &below))) || below == 0)
        return false;
    *value /= below;
    *at = p;
    return isfinite(*value);
}

static void skip(const char **at) {
    while (**at == ' ' || **at == '\t' || **at == '\n' || **at == ',')
        ++*at;
}

typedef struct reader {
    cli_weights *weights;
    size_t count, capacity;
    int64_t columns, rows;   /* of the row, plane being read */
    int64_t columns0, rows0; /* of the first; 0 = not known */
    int64_t planes;
} reader;

static const char *add(reader *r, double value) {
    if (r->count == CLI_MASK_LIMIT)
        return "a mask of more weights than the limit of 16777216";
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? r->capacity * 2 : 64;
        double *larger = realloc(r->weights->values, capacity * sizeof *larger);
        if (!larger)
            return "no memory for more weights";
        r->weights->values = larger;
        r->capacity = capacity;
    }
    r->weights->values[r->count++] = value;
    r->columns++;
    return NULL;
}

static const char *end_row(reader *r) {
    if (r->columns == 0)
        return "a row has no weights";
    if (r->columns0 && r->columns != r->columns0)
        return "this row and the first differ in length";
    r->columns0 = r->columns;
    r->columns = 0;
    r->rows++;
    return NULL;
}

static const char *end_plane(reader *r) {
    const char *what = r->columns > 0 || r->rows == 0 ? end_row(r) : NULL; /* the last ; of a plane may be left out */
    if (what)
        return what;
    if (r->rows0 && r->rows != r->rows0)
        return "this plane and the first differ in their number of rows";
    r->rows0 = r->rows;
    r->rows = 0;
    r->planes++;
    return NULL;
}

/* The factor after *, and that nothing follows it. */
static const char *scale(reader *r, const char **at) {
    double factor;
    ++*at;
    skip(at);
    if (!cli_number(at, &factor))
        return "a number or fraction is expected after *";
    skip(at);
    if (**at)
        return "nothing may follow the factor";
    for (size_t i = 0; i < r->count; i++) {
        r->weights->values[i] *= factor;
        if (!isfinite(r->weights->values[i]))
            return "a weight overflows";
    }
    return NULL;
}

bool cli_weights_parse(cli_weights *weights, const char *text, tess_io_message *message) {
    reader r = {.weights = weights};
    const char *what = NULL, *at = text;
    int ndim = 1;
    memset(weights, 0, sizeof *weights);
    for (skip(&at); !what && *at && *at != '*'; skip(&at)) {
        const char *start = at;
        double value;
        if (*at == ';') {
            what = end_row(&r);
            ndim = ndim < 2 ? 2 : ndim;
            at++;
        } else if (*at == '|') {
            what = end_plane(&r);
            ndim = 3;
            at++;
        } else if (cli_number(&at, &value)) {
            what = *at && !strchr(" \t\n,;|*", *at) ? "a blank is expected after a number" : add(&r, value);
            start = what ? at : start;
        } else {
            what = "a number or fraction is expected";
        }
        if (what)
            at = start;
    }
    if (!what)
        what = end_plane(&r);
    if (!what && *at == '*')
        what = scale(&r, &at);
    if (what) {
        free(weights->values);
        weights->values = NULL;
        return cli_mask_wrong(text, at, message, what);
    }
    weights->ndim = ndim;
    int64_t shape[3] = {r.planes, r.rows0, r.columns0};
    memcpy(weights->shape, shape + (3 - ndim), (size_t)ndim * sizeof *shape);
    return true;
}

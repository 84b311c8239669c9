/* SPDX-License-Identifier: Apache-2.0
 * mask.c - the named masks, and the type that weights take.
 *
 * Weights are made in f64. They take f64 where the array is f64 or an integer of 32 bits or more; integers keep integer weights exact where sums of
 * them could pass 2^24; everything else meets f32, in which small integers are exact as well. */
#include "mask.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cli_mask_is_file(const char *spec) {
    size_t length = strlen(spec);
    return strcmp(spec, "-") == 0 || (length > 4 && strcmp(spec + length - 4, ".npy") == 0);
}

void cli_mask_free(cli_mask *mask) {
    for (int k = 0; k < CLI_MASK_FACTORS; k++)
        tess_io_free(&mask->arrays[k]);
    memset(mask, 0, sizeof *mask);
}

/* ---- Types ------------------------------------------------------------------------------------------------------ */

static tess_type weight_type(const cli_weights *w, int64_t count, tess_type in) {
    bool integers = in >= tess_bool && in <= tess_i64, whole = true, wide = in == tess_f64 || in == tess_c128 || (in >= tess_u32 && in <= tess_i64);
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += fabs(w->values[i]);
        whole &= w->values[i] == rint(w->values[i]) && fabs(w->values[i]) <= 0x1p31 - 1;
    }
    double largest = in == tess_bool ? 1 : in == tess_u8 || in == tess_i8 ? 255 : 65535;
    if (integers && whole && (wide || sum * largest >= 0x1p24))
        return tess_i32;
    return wide ? tess_f64 : tess_f32;
}

/* Gives the weights to mask->arrays[at]; frees them. */
static bool store(cli_mask *mask, int at, cli_weights *w, tess_type in, tess_io_message *message) {
    int64_t count = 1;
    for (int d = 0; d < w->ndim; d++)
        count *= w->shape[d];
    tess_type type = weight_type(w, count, in);
    tess_io_array *array = &mask->arrays[at];
    tess_io_status status = tess_io_make(array, type, w->ndim, w->shape, "the mask", message);
    for (int64_t i = 0; i < count && status == TESS_IO_OK; i++)
        if (type == tess_f32 && isinf((float)w->values[i]))
            status = tess_io_fail(message, TESS_IO_ERR_INPUT, "--mask has the weight %g, beside an array of %s the limit is that of f32, %g",
                                  w->values[i], tess_type_name(in), (double)FLT_MAX);
    for (int64_t i = 0; i < count && status == TESS_IO_OK; i++)
        if (type == tess_f64)
            ((double *)array->block)[i] = w->values[i];
        else if (type == tess_f32)
            ((float *)array->block)[i] = (float)w->values[i];
        else
            ((int32_t *)array->block)[i] = (int32_t)w->values[i];
    free(w->values);
    w->values = NULL;
    return status == TESS_IO_OK;
}

static bool no_memory(tess_io_message *message) {
    tess_io_fail(message, TESS_IO_ERR_MEMORY, "no memory for the weights of a mask");
    return false;
}

/* ---- Separable: gaussian, box ----------------------------------------------------------------------------------- */

/* The normalised weights of scipy.ndimage's gaussian filter: exp(-x^2 / (2 sigma^2)) for |x| <= radius. */
static void fill_gaussian(double *w, int64_t radius, double sigma) {
    double sum = 0;
    for (int64_t x = -radius; x <= radius; x++)
        sum += w[x + radius] = x == 0 ? 1 : exp(-0.5 / (sigma * sigma) * (double)x * (double)x); /* a tiny sigma: not inf * 0 */
    for (int64_t i = 0; i < 2 * radius + 1; i++)
        w[i] /= sum;
}

static void fill_box(double *w, int64_t width) {
    for (int64_t i = 0; i < width; i++)
        w[i] = 1.0 / (double)width;
}

/* "2" or "2x3": up to three numbers. Moves *at behind them. */
static int read_sizes(const char **at, double *sizes) {
    int n = 0;
    for (;;) {
        if (**at == '+' || **at == '-' || !cli_number(at, &sizes[n]))
            return -1;
        n++;
        if (**at != 'x' || n == CLI_MASK_FACTORS)
            return n;
        ++*at;
    }
}

static bool make_factors(cli_mask *mask, const char *spec, const char *at, bool gaussian, int axes, tess_type in, tess_io_message *message) {
    double sizes[CLI_MASK_FACTORS], radius = -1;
    const char *first = at;
    int n = read_sizes(&at, sizes);
    if (n < 0)
        return cli_mask_wrong(spec, at, message, gaussian ? "a SIGMA above 0 is expected" : "a width of at least 1 is expected");
    if (gaussian && *at == ':') {
        const char *start = ++at;
        if (!cli_number(&at, &radius) || radius != rint(radius) || radius < 0 || radius > CLI_MASK_LIMIT / 2 - 1)
            return cli_mask_wrong(spec, start, message, "RADIUS is a whole number from 0 to 8388607");
    }
    if (*at)
        return cli_mask_wrong(spec, at, message, "nothing more is expected");
    for (int k = 0; k < n; k++) {
        if (gaussian ? !(sizes[k] > 0 && (radius >= 0 || sizes[k] <= 1e6))
                     : !(sizes[k] == rint(sizes[k]) && sizes[k] >= 1 && sizes[k] <= CLI_MASK_LIMIT))
            return cli_mask_wrong(spec, first, message,
                                  gaussian ? "SIGMA must be above 0 and at most 1000000" : "a width is a whole number from 1 to 16777216");
    }
    if (n > 1 && n != axes) {
        tess_io_fail(message, TESS_IO_ERR_INPUT, "--mask \"%s\": sizes for %d axes, but %d %s worked on", spec, n, axes, axes == 1 ? "is" : "are");
        return false;
    }
    for (int k = 0; k < n; k++) {
        int64_t r = radius >= 0 ? (int64_t)radius : gaussian ? (int64_t)(4.0 * sizes[k] + 0.5) : 0, width = gaussian ? 2 * r + 1 : (int64_t)sizes[k];
        cli_weights w = {.ndim = 1, .shape = {width}, .values = malloc((size_t)width * sizeof(double))};
        if (!w.values)
            return no_memory(message);
        if (gaussian)
            fill_gaussian(w.values, r, sizes[k]);
        else
            fill_box(w.values, width);
        if (!store(mask, k, &w, in == tess_bool ? tess_f32 : in, message))
            return false;
    }
    mask->separable = true;
    mask->count = axes;
    for (int k = 0; k < axes; k++)
        mask->list[k] = &mask->arrays[n > 1 ? k : 0].tensor;
    return true;
}

/* ---- Derivatives and others, by the text of their weights ------------------------------------------------------- */

typedef struct named_mask {
    const char *name, *text[4]; /* by rank; [0]: no meaning */
    bool directed;              /* text[2] is for x, the transpose for y */
} named_mask;

static const named_mask named[] = {
    {"sobel", {NULL, NULL, "-1 0 1; -2 0 2; -1 0 1", NULL}, true},
    {"prewitt", {NULL, NULL, "-1 0 1; -1 0 1; -1 0 1", NULL}, true},
    {"scharr", {NULL, NULL, "-3 0 3; -10 0 10; -3 0 3", NULL}, true},
    {"laplace", {NULL, "1 -2 1", "0 1 0; 1 -4 1; 0 1 0", "0 0 0; 0 1 0; 0 0 0 | 0 1 0; 1 -6 1; 0 1 0 | 0 0 0; 0 1 0; 0 0 0"}, false},
    {"sharpen", {NULL, "-1 3 -1", "0 -1 0; -1 5 -1; 0 -1 0", "0 0 0; 0 -1 0; 0 0 0 | 0 -1 0; -1 7 -1; 0 -1 0 | 0 0 0; 0 -1 0; 0 0 0"}, false},
};

static void transpose3(double *w) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < r; c++) {
            double t = w[r * 3 + c];
            w[r * 3 + c] = w[c * 3 + r];
            w[c * 3 + r] = t;
        }
}

static bool make_named(cli_mask *mask, const named_mask *row, const char *spec, const char *at, int axes, tess_type in, tess_io_message *message) {
    cli_weights w;
    bool y = false;
    if (row->directed && *at == ':') {
        if ((at[1] != 'x' && at[1] != 'y') || at[2])
            return cli_mask_wrong(spec, at + 1, message, "x or y is expected");
        y = at[1] == 'y';
        at += 2;
    }
    if (*at)
        return cli_mask_wrong(spec, at, message, "nothing more is expected");
    int rank = row->directed ? 2 : axes < 3 ? axes : 3;
    if (!cli_weights_parse(&w, row->text[rank], message))
        return false;
    if (y)
        transpose3(w.values);
    mask->count = 1;
    mask->list[0] = &mask->arrays[0].tensor;
    return store(mask, 0, &w, in, message);
}

bool cli_mask_parse(cli_mask *mask, const char *spec, int axes, tess_type in, tess_io_message *message) {
    cli_weights w;
    bool ok;
    size_t word = strcspn(spec, ":");
    const named_mask *row = NULL;
    memset(mask, 0, sizeof *mask);
    for (size_t k = 0; k < sizeof named / sizeof named[0]; k++)
        if (strlen(named[k].name) == word && strncmp(spec, named[k].name, word) == 0)
            row = &named[k];
    bool factors = strncmp(spec, "gaussian:", 9) == 0 || strncmp(spec, "box:", 4) == 0;
    if (axes < 1 && (factors || row)) {
        tess_io_fail(message, TESS_IO_ERR_INPUT, "--mask \"%s\" needs axes to work on, the array has none", spec);
        ok = false;
    } else if (factors) {
        ok = make_factors(mask, spec, spec + word + 1, spec[0] == 'g', axes, in, message);
    } else if (row) {
        ok = make_named(mask, row, spec, spec + word, axes, in, message);
    } else if (strcmp(spec, "gaussian") == 0 || strcmp(spec, "box") == 0) {
        ok = cli_mask_wrong(spec, spec + word, message, spec[0] == 'g' ? "gaussian:SIGMA is expected" : "box:WIDTH is expected");
    } else if ((*spec >= 'a' && *spec <= 'z') || (*spec >= 'A' && *spec <= 'Z')) {
        ok = cli_mask_wrong(spec, spec, message, "no mask of this name: gaussian box sobel prewitt scharr laplace sharpen, numbers, or a file.npy");
    } else {
        ok = cli_weights_parse(&w, spec, message);
        mask->count = 1;
        mask->list[0] = &mask->arrays[0].tensor;
        ok = ok && store(mask, 0, &w, in, message);
    }
    if (!ok)
        cli_mask_free(mask);
    return ok;
}

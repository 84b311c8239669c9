/* SPDX-License-Identifier: Apache-2.0
 * shapes.c - problems that one names, each by the rows that one names, in turns: what a rule of selection is measured with. bench/cliffs draws problems, this one is told.
 *
 *   build/bench/shapes cpu|cuda < works        times each row of each work
 *   build/bench/shapes plan < works            for cuda: makes the plans and times nothing, so that several processes can fill the cache of kernels first
 *   build/bench/shapes chosen < works          on the virtual GPU, nothing executed: the row that a card would be given
 *
 * A work is a line: its operation, the type of its elements, a shape (of axes in C's order; F before it: in Fortran's), words of the operation, a colon and rows, where - is the chosen one:
 *
 *   transpose u8 29x231x300x33 3,1,0,2 : - boxes joined                      the order of axes
 *   correlate f32 70000x32x32x3 mask 3,3 1 f32 4 : - flat patch              one mask of so many taps, or `list` of masks; its first axis, type and boundary (a tess_boundary)
 *   reduce f16 67108864 sum 0 : - exact_sure                                 `exact-sum` and the like; axes
 *
 * A line out: the work | row, ms, percent of each element read and written once at the speed of a copy | ... One thread on a CPU, unless TESSERA_THREADS says otherwise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera.h"

enum { AXES = 8, LINE = 1024, TAPS = 1 << 12 };

static tess_context *context;
static tess_engine engine;
static double bandwidth;
static bool timed;
static char *in, *out;
static size_t room;

typedef struct work {
    const char *operation;
    tess_type type;
    int ndim, out_ndim, count, axes[AXES];
    int64_t shape[AXES], strides[AXES], out_shape[AXES], out_strides[AXES], width[AXES];
    bool list, exact;
    tess_reduction reduction;
    tess_type mask;
    tess_boundary boundary;
} work;

static int numbers(const char *text, int64_t *to) {
    int n = 0;
    for (char *at = (char *)(uintptr_t)text; *at && n < AXES; at += *at != 0)
        to[n++] = strtoll(at, &at, 10);
    return n;
}

static void lay(int ndim, const int64_t *shape, int64_t *strides, bool fortran) {
    for (int64_t k = 0, step = 1; k < ndim; k++) {
        const int64_t d = fortran ? k : ndim - 1 - k;
        strides[d] = step;
        step *= shape[d];
    }
}

static double elements(int ndim, const int64_t *shape) {
    double n = 1;
    for (int d = 0; d < ndim; d++)
        n *= (double)shape[d];
    return n;
}

static const char *word(void) {
    const char *next = strtok(NULL, " ");
    return next ? next : "";
}

/* Reads a work from a line's words, of which the first is given; false: it is none. */
static bool read_work(work *w, const char *first) {
    int64_t axes[AXES];
    *w = (work){.operation = first};
    w->type = tess_type_named(word());
    const char *shape = word();
    const bool fortran = *shape == 'F';
    w->ndim = w->out_ndim = numbers(shape + fortran, w->shape);
    lay(w->ndim, w->shape, w->strides, fortran);
    memcpy(w->out_shape, w->shape, sizeof w->shape);
    if (strcmp(first, "transpose") == 0) {
        w->count = numbers(word(), axes);
        if (w->count != w->ndim)
            return false;
        for (int d = 0; d < w->ndim; d++) {
            if (axes[d] < 0 || axes[d] >= w->ndim)
                return false;
            w->out_shape[d] = w->shape[w->axes[d] = (int)axes[d]];
        }
    } else if (strcmp(first, "correlate") == 0) {
        w->list = strcmp(word(), "list") == 0;
        w->count = numbers(word(), w->width);
        const int from = atoi(word());
        for (int k = 0; k < w->count; k++)
            w->axes[k] = from + k;
        w->mask = tess_type_named(word());
        if (elements(w->count, w->width) > TAPS)
            return false;
        w->boundary = (tess_boundary)atoi(word());
    } else if (strcmp(first, "reduce") == 0) {
        const char *name = word();
        w->exact = strncmp(name, "exact-", 6) == 0;
        if (!tess_reduction_named(name + 6 * w->exact, &w->reduction))
            return false;
        w->count = numbers(word(), axes);
        for (int k = 0; k < w->count; k++)
            w->axes[k] = (int)axes[k];
        w->out_ndim = 0;
        for (int d = 0; d < w->ndim; d++) {
            bool kept = true;
            for (int k = 0; k < w->count; k++)
                kept = kept && w->axes[k] != d;
            if (kept)
                w->out_shape[w->out_ndim++] = w->shape[d];
        }
    } else {
        return false;
    }
    lay(w->out_ndim, w->out_shape, w->out_strides, fortran && w->out_ndim == w->ndim && strcmp(first, "correlate") == 0);
    const double most = elements(w->ndim, w->shape) * (double)tess_type_size(w->type);
    return strcmp(word(), ":") == 0 && w->ndim > 0 && tess_type_size(w->type) > 0 && (*first != 'c' || tess_type_size(w->mask) > 0) &&
           (!timed || most <= (double)room);
}

static tess_status plan_of(tess_plan **plan, work *w, const char *row) {
    char name[80];
    snprintf(name, sizeof name, "%s/%s", w->operation, row);
    const tess_call call = {.engine = engine, .strategy = strcmp(row, "-") == 0 ? NULL : name};
    const bool sums = w->operation[0] == 'r';
    const tess_type to = !sums ? w->type : w->type == tess_f64 ? tess_f64 : w->reduction == TESS_ARGMAX ? tess_i64 : tess_f32;
    DLTensor from = tess_view(in, w->type, w->ndim, w->shape, w->strides), into = tess_view(out, to, w->out_ndim, w->out_shape, w->out_strides);
    if (sums)
        return tess_plan_reduce(
            plan, context, w->reduction, &from, &into,
            &(tess_reduce_options){.struct_size = sizeof(tess_reduce_options), .axes = w->axes, .naxes = w->count, .exact = w->exact, .call = call});
    if (w->operation[0] == 't')
        return tess_plan_transpose(
            plan, context, &from, &into,
            &(tess_transpose_options){.struct_size = sizeof(tess_transpose_options), .perm = w->axes, .nperm = w->count, .call = call});
    static double taps[TAPS]; /* small numbers, of f32, f64 and integers of a byte */
    DLTensor masks[AXES];
    const DLTensor *each[AXES];
    for (int i = 0; i < TAPS; i++) {
        const int weight = i % 7 + 1;
        if (w->mask == tess_f32)
            ((float *)(void *)taps)[i] = 0.0625f * (float)weight;
        else if (w->mask == tess_f64)
            taps[i] = 0.0625 * weight;
        else
            ((int8_t *)(void *)taps)[i] = (int8_t)weight;
    }
    for (int k = 0; k < w->count; k++) {
        masks[k] = w->list ? tess_view(taps, w->mask, 1, &w->width[k], NULL) : tess_view(taps, w->mask, w->count, w->width, NULL);
        each[k] = &masks[k];
    }
    return tess_plan_correlate(
        plan, context, &from, each, w->list ? w->count : 1, &into,
        &(tess_correlate_options){
            .struct_size = sizeof(tess_correlate_options), .axes = w->axes, .naxes = w->count, .boundary = w->boundary, .call = call});
}

static void print_row(work *w, const char *row) {
    static char why[1 << 16];
    char taken[64] = "?";
    double seconds = 0;
    tess_plan *plan;
    if (plan_of(&plan, w, row) != TESS_OK) {
        printf(" | %s: %s", row, timed ? "not applicable" : tess_detail());
        return;
    }
    tess_explain(plan, TESS_TEXT, why, sizeof why, NULL);
    const char *at = strstr(why, "strategy");
    if (at)
        sscanf(at, "strategy %*[a-z]/%63[a-z0-9_]", taken);
    if (!timed)
        printf(" | %s", taken);
    else if (tess_time_plan(plan, in, NULL, out, 0.05, &seconds) != TESS_OK)
        printf(" | %s: %s", taken, tess_detail());
    else {
        const double bytes = elements(w->ndim, w->shape) * (double)tess_type_size(w->type), written = w->operation[0] == 'r' ? 0 : bytes;
        printf(" | %s %.4f ms, %.0f %%", taken, 1e3 * seconds, 100 * (bytes + written) / bandwidth / seconds);
    }
    tess_plan_free(plan);
}

int main(int count, char **words) {
    char line[LINE];
    if (count != 2)
        return fputs("shapes cpu|cuda|plan|chosen < works\n", stderr), 1;
    const bool chosen = strcmp(words[1], "chosen") == 0;
    timed = !chosen && strcmp(words[1], "plan") != 0;
    engine = chosen ? TESS_ENGINE_VIRTUAL : strcmp(words[1], "cpu") == 0 ? TESS_ENGINE_CPU : TESS_ENGINE_CUDA;
    const tess_context_options options = {
        .struct_size = sizeof options, .threads = engine == TESS_ENGINE_CPU && !getenv("TESSERA_THREADS"), .engine = engine};
    tess_limits limits = {.struct_size = sizeof limits};
    room = timed ? (size_t)2560 << 20 : 64;
    in = malloc(room), out = malloc(room);
    if (!in || !out || tess_open(&context, &options) != TESS_OK || (timed && tess_measure_limits(context, 0.3, &limits) != TESS_OK))
        return fprintf(stderr, "%s\n", in && out ? tess_detail() : "no memory"), 1;
    for (size_t i = 0; timed && i < room; i += 4) /* any bytes, of which floats of every width are numbers of one magnitude */
        *(uint32_t *)(void *)(in + i) = ((uint32_t)i * 2654435761u & 0x83ff83ff) | 0x3a003a00;
    memset(out, 0, timed ? room : 0);
    bandwidth = limits.copy_bytes_per_s;
    if (timed)
        printf("# copy %.1f GB/s\n", bandwidth / 1e9);
    while (fgets(line, sizeof line, stdin)) {
        char text[LINE];
        work w;
        line[strcspn(line, "\n")] = 0;
        memcpy(text, line, sizeof text);
        const char *first = strtok(line, " ");
        if (!first || *first == '#')
            continue;
        if (!read_work(&w, first))
            return fprintf(stderr, "not a work, or too large: %s\n", text), 1;
        printf("%.*s", (int)strcspn(text, ":"), text);
        for (const char *row = strtok(NULL, " "); row; row = strtok(NULL, " "))
            print_row(&w, row);
        printf("\n");
        fflush(stdout);
    }
    tess_close(context);
    free(in), free(out);
    return 0;
}

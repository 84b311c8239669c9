/* SPDX-License-Identifier: Apache-2.0
 * truth.h - what is run both on a card (card.c) and here (test_truth.c): the launches of launches.txt, and the GPU rows of every operation on small problems. */
#ifndef TESS_TRUTH_H
#define TESS_TRUTH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/strategy.h"

#define TRUTH_FOLDER "tests/truth/"

/* FNV-1a, as in a profile's outputs; goes on from `from`, or begins with TRUTH_HASH. */
#define TRUTH_HASH 0xcbf29ce484222325u
static inline uint64_t truth_hash(uint64_t from, const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        from = (from ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
    return from;
}

/* Of a module's PTX, for telling whether it is what was measured; without what tells where in which file a line stands: directives and their labels. */
static inline unsigned truth_code_hash(const char *ptx) {
    static const char *const places[] = {".file", ".loc", ".b8", "$L__tmp", "$L__func_"};
    uint64_t h = TRUTH_HASH;
    for (const char *line = ptx; *line;) {
        const size_t length = strcspn(line, "\n"), blank = strspn(line, " \t");
        bool place = length == blank;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            place |= strncmp(line + blank, places[i], strlen(places[i])) == 0;
        if (!place)
            h = truth_hash(h, line, length);
        line += length + (line[length] == '\n');
    }
    return (unsigned)(h ^ h >> 32);
}

/* ---- launches.txt ---- */

typedef struct truth_launch {
    char file[32], text[256];
} truth_launch;

/* The next launch of the list; false at its end. */
static inline bool truth_next(FILE *list, truth_launch *l) {
    char line[320];
    while (fgets(line, sizeof line, list)) {
        int at = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%31[a-z_0-9] %n", l->file, &at) != 1 || at == 0)
            continue;
        snprintf(l->text, sizeof l->text, "%s", line + at);
        return true;
    }
    return false;
}

/* The whole of FOLDER/NAME, terminated; NULL when it cannot be read. */
static inline char *truth_read(const char *name, const char *ending) {
    char path[256];
    snprintf(path, sizeof path, TRUTH_FOLDER "%s%s", name, ending);
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long size;
    if (f && fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0 && (text = calloc(1, (size_t)size + 1)) != NULL) {
        rewind(f);
        if (fread(text, 1, (size_t)size, f) != (size_t)size) {
            free(text);
            text = NULL;
        }
    }
    if (f)
        fclose(f);
    return text;
}

/* ---- the rows of the operations ---- */

/* Sizes that leave tiles, warps and passes incomplete, and some that do not. in: the input or the table; second: the mask or the index. */
typedef struct truth_problem {
    const char *operation;
    tess_type type, second_type;
    int ndim, second_ndim;
    int64_t shape[2], second[2];
    int axis; /* of a reduction, -1: all. Of a transpose, 1: as it is (a copy) */
} truth_problem;

static const truth_problem truth_problems[] = {
    {"transpose", tess_f32, tess_no_type, 2, 0, {192, 128}, {0}, 0}, {"transpose", tess_f32, tess_no_type, 2, 0, {97, 161}, {0}, 0},
    {"transpose", tess_f32, tess_no_type, 2, 0, {64, 128}, {0}, 1},  {"reduce", tess_f32, tess_no_type, 1, 0, {65536}, {0}, -1},
    {"reduce", tess_i32, tess_no_type, 1, 0, {65536}, {0}, -1},      {"reduce", tess_i32, tess_no_type, 1, 0, {50021}, {0}, -1},
    {"reduce", tess_f32, tess_no_type, 2, 0, {40, 700}, {0}, 1},     {"reduce", tess_f32, tess_no_type, 2, 0, {700, 40}, {0}, 0},
    {"correlate", tess_f32, tess_f32, 1, 1, {5000}, {7}, 0},         {"correlate", tess_f32, tess_f32, 2, 2, {72, 100}, {5, 5}, 0},
    {"lookup", tess_f32, tess_u8, 1, 1, {256}, {5000}, 0},           {"lookup", tess_f32, tess_i32, 1, 1, {4096}, {5000}, 0},
};

/* Whole numbers of 0 to 255: indices that fit every table here, and sums without rounding. */
static inline void truth_fill(void *data, tess_type type, int64_t count) {
    uint32_t state = 1;
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u; /* Numerical Recipes' quick generator */
        uint32_t v = state >> 24;
        float f = (float)v;
        if (type == tess_f32)
            memcpy((char *)data + 4 * i, &f, 4);
        else
            memcpy((char *)data + i * (int64_t)tess_type_size(type), &v, tess_type_size(type));
    }
}

typedef struct truth_trial {
    tess_plan *plan;
    DLTensor in, second, out;
    int64_t out_shape[3];
} truth_trial;

static inline int64_t truth_count(const DLTensor *t) {
    int64_t n = 1;
    for (int i = 0; i < t->ndim; i++)
        n *= t->shape[i];
    return n;
}
static inline size_t truth_bytes(const DLTensor *t) { return (size_t)(truth_count(t) * (t->dtype.bits / 8)); }

static inline void truth_end(truth_trial *t) {
    tess_plan_free(t->plan);
    free(t->in.data);
    free(t->second.data);
    free(t->out.data);
}

/* A plan of one row for one problem on arrays of the host, made for the engine; TESS_ERR_STRATEGY: the row does not run it. */
static inline tess_status truth_begin(truth_trial *t, tess_context *context, tess_engine engine, const truth_problem *p, const char *row) {
    static const int identity[] = {0, 1};
    tess_call call = {.engine = engine, .strategy = row};
    *t = (truth_trial){0};
    t->in = tess_view(NULL, p->type, p->ndim, (int64_t *)p->shape, NULL);
    t->second = tess_view(NULL, p->second_type, p->second_ndim, (int64_t *)p->second, NULL);
    t->out = tess_view(NULL, p->type, p->ndim, t->out_shape, NULL);
    memcpy(t->out_shape, p->shape, sizeof p->shape);
    if (strcmp(p->operation, "transpose") == 0 && p->axis == 0) {
        t->out_shape[0] = p->shape[1];
        t->out_shape[1] = p->shape[0];
    } else if (strcmp(p->operation, "reduce") == 0) {
        t->out.ndim = p->axis < 0 ? 0 : 1;
        t->out_shape[0] = p->shape[p->axis == 0];
    } else if (strcmp(p->operation, "lookup") == 0) {
        memcpy(t->out_shape, p->second, sizeof p->second);
    }
    t->in.data = malloc(truth_bytes(&t->in));
    t->second.data = p->second_type ? malloc(truth_bytes(&t->second)) : NULL;
    t->out.data = malloc(truth_bytes(&t->out));
    if (!t->in.data || !t->out.data || (p->second_type && !t->second.data))
        return TESS_ERR_MEMORY;
    truth_fill(t->in.data, p->type, truth_count(&t->in));
    if (p->second_type)
        truth_fill(t->second.data, p->second_type, truth_count(&t->second));
    memset(t->out.data, 0xa5, truth_bytes(&t->out));
    if (strcmp(p->operation, "transpose") == 0) {
        tess_transpose_options o = {.struct_size = sizeof o, .perm = p->axis ? identity : NULL, .nperm = p->axis ? p->ndim : 0, .call = call};
        return tess_plan_transpose(&t->plan, context, &t->in, &t->out, &o);
    }
    if (strcmp(p->operation, "reduce") == 0) {
        tess_reduce_options o = {.struct_size = sizeof o, .axes = p->axis < 0 ? NULL : &p->axis, .naxes = p->axis >= 0, .call = call};
        return tess_plan_reduce(&t->plan, context, TESS_SUM, &t->in, &t->out, &o);
    }
    if (strcmp(p->operation, "correlate") == 0) {
        const DLTensor *mask = &t->second;
        tess_correlate_options o = {.struct_size = sizeof o, .call = call};
        return tess_plan_correlate(&t->plan, context, &t->in, &mask, 1, &t->out, &o);
    }
    tess_lookup_options o = {.struct_size = sizeof o, .call = call};
    return tess_plan_lookup(&t->plan, context, &t->in, &t->second, &t->out, &o);
}

/* A mask has become part of the plan. */
static inline tess_status truth_execute(truth_trial *t) {
    bool index = strcmp(t->plan->problem->op->name, "lookup") == 0;
    return tess_execute(t->plan, t->in.data, index ? t->second.data : NULL, t->out.data, NULL);
}

#endif

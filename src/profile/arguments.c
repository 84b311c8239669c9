/* SPDX-License-Identifier: Apache-2.0
 * arguments.c - the launch's arguments become arrays on the machine and a block of parameters.
 *
 * The PTX says how many bytes a parameter has and often whether it is a float; of a structure it says the size, and which offsets are read as what.
 * So a number takes the width and kind of its parameter, and a member those of the load at its place, else what it looks like. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/convert.h"
#include "core/tensor.h"
#include "profile/number.h"
#include "profile/profile.h"

typedef struct binder {
    tess_profile *profile;
    const DLTensor *const *arrays;
    int count;
    const tess_profile_options *options;
} binder;

static tess_status refuse(const tess_profile *p, const tess_launch_value *v, const char *why) {
    return tess_fail(TESS_ERR_ARGUMENT, "launch \"%.200s\", character %d: %s", p->launch_text, v->at + 1, why);
}

/* ---- arrays ---- */

/* The elements in row-major order to or from a compact block. */
static void pack(const tess_array *a, char *block, bool back) {
    int64_t strides[1][TESS_MAX_NDIM];
    tess_index index;
    if (a->count == 0)
        return;
    memcpy(strides[0], a->stride, sizeof strides[0]);
    tess_index_start(&index, a->ndim, a->shape, 1, strides, 0);
    do {
        if (back)
            memcpy(a->data + index.offset[0], block, (size_t)a->itemsize);
        else
            memcpy(block, a->data + index.offset[0], (size_t)a->itemsize);
        block += a->itemsize;
    } while (tess_index_next(&index));
}

static tess_status values(const binder *b, const tess_launch_value *v, char *data, tess_type type, int64_t count) {
    const tess_profile *p = b->profile;
    char name[1024];
    if (v->source != TESS_SOURCE_FILE)
        return tess_profile_fill(p->context, data, type, count, v->source, v->seed);
    if (!b->options->read)
        return refuse(p, v, "files cannot be read here, the caller has given no way to");
    if (v->file_length >= (int)sizeof name)
        return refuse(p, v, "a file's name of less than 1024 characters is expected");
    memcpy(name, v->file, (size_t)v->file_length);
    name[v->file_length] = 0;
    tess_status status = b->options->read(b->options->read_user, name, data, type, count);
    return status == TESS_OK ? TESS_OK
                             : tess_fail(status, "\"%s\" does not give %lld elements of type %s", name, (long long)count, tess_type_name(type));
}

static tess_status new_array(tess_profile *p, profile_array **made) {
    if (p->array_count == p->array_room) {
        int room = p->array_room ? 2 * p->array_room : 8;
        profile_array *grown = tess_allocate_zeroed(p->context, (size_t)room * sizeof *grown);
        if (!grown)
            return TESS_ERR_MEMORY;
        if (p->array_count)
            memcpy(grown, p->arrays, (size_t)p->array_count * sizeof *grown);
        tess_free(p->context, p->arrays, (size_t)p->array_room * sizeof *grown);
        p->arrays = grown;
        p->array_room = room;
    }
    *made = &p->arrays[p->array_count++];
    return TESS_OK;
}

static tess_status make_array(const binder *b, const tess_launch_value *v, int argument, uint64_t *address) {
    tess_profile *p = b->profile;
    tess_array caller = {0};
    const DLTensor *tensor = NULL;
    tess_type type = v->type;
    int64_t count = v->count;
    if (v->kind == TESS_LAUNCH_CALLER) {
        char what[32];
        snprintf(what, sizeof what, "arrays[%d]", v->number);
        tensor = b->arrays[v->number];
        TESS_TRY(tess_array_import(&caller, tensor, what, true));
        if (v->out && tess_array_self_overlaps(&caller))
            return tess_fail(TESS_ERR_OVERLAP, "%s is written to and has two elements in one place", what);
        type = caller.type;
        count = caller.count;
    }
    profile_array *a;
    TESS_TRY(new_array(p, &a));
    *a = (profile_array){.type = type, .count = count, .out = v->out, .argument = argument, .caller = v->out ? tensor : NULL};
    a->bytes = count * (int64_t)tess_type_size(type);
    p->output_count += v->out;
    TESS_TRY(tess_vgpu_malloc(p->machine, a->bytes, &a->address));
    *address = a->address;
    if (!v->in || a->bytes == 0)
        return TESS_OK;
    char *data = tess_allocate(p->context, (size_t)a->bytes);
    if (!data)
        return TESS_ERR_MEMORY;
    tess_status status = TESS_OK;
    if (tensor)
        pack(&caller, data, false);
    else
        status = values(b, v, data, type, count);
    if (status == TESS_OK)
        status = tess_vgpu_copy_in(p->machine, a->address, data, a->bytes);
    tess_free(p->context, data, (size_t)a->bytes);
    return status;
}

/* ---- numbers ---- */

/* The bits of a number as the type. */
static void store_as(const binder *b, const tess_launch_value *v, tess_type type, char *to) {
    if (type < tess_f16) {
        uint64_t bits = v->kind == TESS_LAUNCH_WHOLE ? v->bits : (uint64_t)(int64_t)v->real;
        memcpy(to, &bits, tess_type_size(type));
    } else if (type == tess_f32) {
        memcpy(to, &v->single, 4);
    } else {
        tess_storer(b->profile->context->slot, tess_f64, type)(to, (int64_t)tess_type_size(type), &v->real, 1);
    }
}

static tess_type whole_of(int64_t bytes) {
    return bytes == 1 ? tess_i8 : bytes == 2 ? tess_i16 : bytes == 4 ? tess_i32 : bytes == 8 ? tess_i64 : tess_no_type;
}
static tess_type real_of(int64_t bytes) { return bytes == 2 ? tess_f16 : bytes == 4 ? tess_f32 : bytes == 8 ? tess_f64 : tess_no_type; }

/* Whether a whole number of this many bytes, with a sign or without, has the value. */
static bool goes_in(const tess_launch_value *v, int64_t bytes) {
    if (v->kind == TESS_LAUNCH_REAL)
        return v->real == trunc(v->real) && v->real >= -ldexp(1, (int)tess_min64(8 * bytes, 64) - 1) &&
               v->real < ldexp(1, (int)tess_min64(8 * bytes, 63));
    if (bytes >= 8)
        return true;
    int64_t value = (int64_t)v->bits, limit = (int64_t)1 << 8 * bytes;
    return value >= -limit / 2 && value < limit;
}

/* The type that a number takes in a place of `bytes` bytes; no type when it does not go in. kind 'f': a float is read there, 'i': a whole number, 0: not
 * known. */
static tess_type type_in(const tess_launch_value *v, int64_t bytes, char kind) {
    bool real = kind == 'f' || (kind == 0 && (v->kind == TESS_LAUNCH_REAL || v->type >= tess_f16));
    if (v->type == tess_bf16 && bytes == 2)
        return tess_bf16;
    if (!real && !goes_in(v, bytes))
        return tess_no_type;
    if (real && !tess_real_fits(v->real, real_of(bytes)))
        return tess_no_type;
    return real ? real_of(bytes) : whole_of(bytes);
}

static bool is_array(const binder *b, const tess_launch_value *v) {
    return v->kind == TESS_LAUNCH_ARRAY || (v->kind == TESS_LAUNCH_CALLER && !(v->bare && b->arrays[v->number]->ndim == 0));
}

/* ---- structures ---- */

typedef struct layout {
    int64_t size, align;
} layout;

/* What a member takes when the text and the loads do not say: C's int or the wide form of it, C's double or the narrow one. */
typedef struct guess {
    int whole, real;
} guess;

static tess_status place(const binder *b, int number, int parameter, int64_t base, guess g, int argument, char *to, int64_t room, layout *l);

static int64_t rounded(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

static tess_status place_members(const binder *b, int number, int parameter, int64_t base, guess g, int argument, char *to, int64_t room, layout *l) {
    const tess_launch_value *v = &b->profile->launch.values[number];
    *l = (layout){0, 1};
    for (int m = number + 1; m < v->end; m = b->profile->launch.values[m].end) {
        layout one, ignored;
        /* A nested structure's alignment is that of its members, which must be known before its place is. */
        TESS_TRY(place(b, m, parameter, base + l->size, g, -1, NULL, INT64_MAX, &one));
        l->size = rounded(l->size, one.align);
        TESS_TRY(place(b, m, parameter, base + l->size, g, argument, to ? to + l->size : NULL, room - l->size, &ignored));
        l->size += ignored.size;
        l->align = tess_max64(l->align, one.align);
    }
    l->size = rounded(l->size, l->align);
    return TESS_OK;
}

/* One value at an offset of the parameter. to NULL: only its layout. */
static tess_status place(const binder *b, int number, int parameter, int64_t base, guess g, int argument, char *to, int64_t room, layout *l) {
    tess_profile *p = b->profile;
    const tess_launch_value *v = &p->launch.values[number];
    if (v->kind == TESS_LAUNCH_STRUCTURE)
        return place_members(b, number, parameter, base, g, argument, to, room, l);
    if (is_array(b, v)) {
        uint64_t address = 0;
        *l = (layout){8, 8};
        if (to && room >= 8) {
            TESS_TRY(make_array(b, v, argument, &address));
            memcpy(to, &address, 8);
        }
        return TESS_OK;
    }
    if (v->kind == TESS_LAUNCH_CALLER) { /* one element, as it is */
        tess_array a;
        TESS_TRY(tess_array_import(&a, b->arrays[v->number], "an argument of 0 axes", true));
        *l = (layout){a.itemsize, a.itemsize};
        if (to && room >= a.itemsize)
            memcpy(to, a.data, (size_t)a.itemsize);
        return TESS_OK;
    }
    int bytes = v->kind == TESS_LAUNCH_REAL ? g.real : g.whole;
    bool floating = v->kind == TESS_LAUNCH_REAL;
    char kind = floating ? 'f' : 'i';
    if (v->type != tess_no_type) {
        bytes = (int)tess_type_size(v->type);
        kind = v->type >= tess_f16 ? 'f' : 'i';
    } else if (tess_vgpu_param_read(p->module, p->kernel_number, parameter, rounded(base, bytes), &bytes, &floating)) {
        kind = floating ? 'f' : kind;
    }
    tess_type type = v->type != tess_no_type ? v->type : type_in(v, bytes, kind);
    *l = (layout){bytes, bytes};
    if (type == tess_no_type)
        return refuse(p, v, "this number does not go into its place of the structure");
    if (to && room >= bytes)
        store_as(b, v, type, to);
    return TESS_OK;
}

static tess_status bind_structure(const binder *b, int number, int parameter, const tess_vgpu_param *param, int argument) {
    static const guess guesses[] = {{4, 8}, {4, 4}, {8, 8}, {8, 4}};
    tess_profile *p = b->profile;
    layout l, natural = {0, 1};
    for (int i = 0; i < TESS_COUNT(guesses); i++) {
        TESS_TRY(place(b, number, parameter, 0, guesses[i], argument, NULL, INT64_MAX, &l));
        if (i == 0)
            natural = l;
        if (l.size == param->bytes)
            return place(b, number, parameter, 0, guesses[i], argument, p->params + param->offset, param->bytes, &l);
    }
    return tess_fail(
        TESS_ERR_ARGUMENT,
        "launch \"%.200s\", character %d: the structure has %lld bytes as it is written, the kernel's parameter %d has %lld; give members their "
        "type, as u8:1, i64:2, f32:0.5",
        p->launch_text, p->launch.values[number].at + 1, (long long)natural.size, parameter, (long long)param->bytes);
}

/* ---- one argument ---- */

static tess_status bind(const binder *b, int number, int parameter) {
    tess_profile *p = b->profile;
    const tess_launch_value *v = &p->launch.values[number];
    tess_vgpu_param param;
    layout l;
    tess_vgpu_param_at(p->module, p->kernel_number, parameter, &param);
    char *to = p->params + param.offset;
    if (v->kind == TESS_LAUNCH_STRUCTURE)
        return bind_structure(b, number, parameter, &param, parameter);
    if (v->kind == TESS_LAUNCH_WHOLE || v->kind == TESS_LAUNCH_REAL) {
        tess_type type = type_in(v, param.bytes, param.floating ? 'f' : param.integer ? 'i' : 0);
        bool floating;
        int bytes;
        if (!param.floating && !param.integer && tess_vgpu_param_read(p->module, p->kernel_number, parameter, 0, &bytes, &floating) && floating)
            type = type_in(v, param.bytes, 'f');
        if (type == tess_no_type)
            return tess_fail(TESS_ERR_ARGUMENT,
                             "launch \"%.200s\", character %d: this number does not go into the kernel's parameter %d, of %lld bytes%s",
                             p->launch_text, v->at + 1, parameter, (long long)param.bytes, param.integer ? ", a whole number" : "");
        store_as(b, v, type, to);
        return TESS_OK;
    }
    if (is_array(b, v) && (param.bytes != 8 || param.floating))
        return tess_fail(TESS_ERR_ARGUMENT,
                         "launch \"%.200s\", character %d: an array stands where the kernel's parameter %d is no pointer: it is %s%s of %lld bytes",
                         p->launch_text, v->at + 1, parameter, param.structure ? "a structure" : "a number", param.floating ? " (a float)" : "",
                         (long long)param.bytes);
    TESS_TRY(place(b, number, parameter, 0, (guess){4, 8}, parameter, to, param.bytes, &l));
    if (l.size != param.bytes)
        return tess_fail(TESS_ERR_ARGUMENT, "launch \"%.200s\": argument %d has %lld bytes, the kernel's parameter has %lld", p->launch_text,
                         parameter, (long long)l.size, (long long)param.bytes);
    return TESS_OK;
}

static int top_level(const tess_launch *l) {
    int n = 0;
    for (int i = 0; i < l->count; i = l->values[i].end)
        n++;
    return n;
}

/* kernel<<<1, 32>>> alone: the caller's arrays are the arguments. */
static tess_status list_callers(tess_profile *p, int count) {
    tess_launch *l = &p->launch;
    if (count == 0)
        return TESS_OK;
    if (!(l->values = tess_allocate_zeroed(p->context, (size_t)count * sizeof *l->values)))
        return TESS_ERR_MEMORY;
    l->room = l->count = count;
    for (int i = 0; i < count; i++)
        l->values[i] = (tess_launch_value){.kind = TESS_LAUNCH_CALLER, .in = true, .out = true, .bare = true, .number = i, .end = i + 1};
    return TESS_OK;
}

tess_status tess_profile_bind(tess_profile *p, const DLTensor *const *arrays, int count, const tess_profile_options *options) {
    binder b = {.profile = p, .arrays = arrays, .count = count, .options = options};
    tess_vgpu_kernel_info kernel;
    tess_vgpu_kernel_at(p->module, p->kernel_number, &kernel);
    if (p->launch.no_list)
        TESS_TRY(list_callers(p, count));
    for (int i = 0; i < p->launch.count; i++) {
        const tess_launch_value *v = &p->launch.values[i];
        if (v->kind == TESS_LAUNCH_CALLER && v->number >= count)
            return tess_fail(TESS_ERR_ARGUMENT, "launch \"%.200s\", character %d: there is no array $%d, the caller has given %d", p->launch_text,
                             v->at + 1, v->number, count);
        if (v->kind == TESS_LAUNCH_CALLER && !arrays[v->number])
            return tess_fail(TESS_ERR_ARGUMENT, "arrays[%d] is NULL", v->number);
    }
    int given = top_level(&p->launch);
    if (given != kernel.params)
        return tess_fail(TESS_ERR_ARGUMENT, "launch \"%.200s\": %d argument%s; the kernel %.*s takes %d", p->launch_text, given,
                         given == 1 ? "" : "s", kernel.name_length, kernel.name, kernel.params);
    p->param_bytes = kernel.param_bytes;
    if (!(p->params = tess_allocate_zeroed(p->context, (size_t)p->param_bytes)))
        return TESS_ERR_MEMORY;
    for (int i = 0, parameter = 0; i < p->launch.count; i = p->launch.values[i].end)
        TESS_TRY(bind(&b, i, parameter++));
    return TESS_OK;
}

/* FNV-1a of 64 bits (Fowler, Noll, Vo). */
static uint64_t hash(const char *data, int64_t bytes) {
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < bytes; i++)
        h = (h ^ (unsigned char)data[i]) * 0x100000001b3u;
    return h;
}

tess_status tess_profile_collect(tess_profile *p) {
    for (int i = 0; i < p->array_count; i++) {
        profile_array *a = &p->arrays[i];
        tess_array caller;
        if (!a->out)
            continue;
        if (!(a->data = tess_allocate(p->context, (size_t)a->bytes)))
            return TESS_ERR_MEMORY;
        TESS_TRY(tess_vgpu_copy_out(p->machine, a->data, a->address, a->bytes));
        a->hash = hash(a->data, a->bytes);
        if (!a->caller)
            continue;
        TESS_TRY(tess_array_import(&caller, a->caller, "an array", true));
        pack(&caller, a->data, true);
        a->caller = NULL; /* the caller's structure need not outlive the call */
    }
    return TESS_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 * fuzz_tensor.c - hostile DLTensors and options into every operation: a status with a sentence, or a result in which every byte outside the output's
 * elements is untouched and which is the reference's bit for bit. Tensors that lie within a small block get memory of exactly
 * that extent, so that the sanitizer sees the first byte read or written beside it; all others get none and may only be planned. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tessera.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { POISON = 0xa5, MOST_ELEMENTS = 600, MOST_BYTES = 1 << 15 };

typedef struct reader {
    const uint8_t *at, *end;
} reader;
static uint64_t take(reader *r, int bytes) {
    uint64_t v = 0;
    for (int i = 0; i < bytes && r->at < r->end; i++)
        v |= (uint64_t)*r->at++ << (8 * i);
    return v;
}
/* Mostly small, now and then any 64 bits. */
static int64_t number(reader *r, int64_t low, int64_t high) {
    uint64_t kind = take(r, 1);
    return kind == 255 ? (int64_t)take(r, 8) : low + (int64_t)(kind % (uint64_t)(high - low + 1));
}

typedef struct tensor {
    DLTensor dl;
    int64_t shape[70], strides[70];
    unsigned char *block; /* NULL: only for planning */
    size_t size;
} tensor;

/* Fills in memory where the tensor is small enough to have some. */
static void give_memory(tensor *t, reader *r) {
    __int128 low = 0, high = 0, count = 1, step = 1;
    int item = t->dl.dtype.bits / 8;
    t->dl.data = NULL;
    t->dl.byte_offset = 0;
    if (t->dl.ndim < 0 || t->dl.ndim > TESS_MAX_NDIM || tess_type_of(t->dl.dtype) == tess_no_type)
        return;
    for (int d = t->dl.ndim - 1; d >= 0; d--) {
        __int128 stride = t->dl.strides ? t->strides[d] : step;
        if (t->shape[d] < 0 || t->shape[d] > MOST_ELEMENTS)
            return;
        count *= t->shape[d];
        step *= t->shape[d];
        __int128 reach = t->shape[d] > 0 ? stride * (t->shape[d] - 1) : 0;
        *(reach < 0 ? &low : &high) += reach;
        if (count > MOST_ELEMENTS || low < -MOST_BYTES || high > MOST_BYTES)
            return;
    }
    uint64_t offset = take(r, 1) % 8;
    t->size = count > 0 ? (size_t)((high - low + 1) * item) : 0;
    t->block = malloc(t->size + offset + (t->size == 0));
    memset(t->block, POISON, t->size + offset);
    for (size_t i = offset; i < t->size + offset; i++)
        t->block[i] = (uint8_t)take(r, 1);
    t->dl.data = t->block;
    t->dl.byte_offset = offset + (count > 0 ? (uint64_t)(-low * item) : 0);
    t->size += offset;
    if (tess_type_of(t->dl.dtype) == tess_bool)
        for (size_t i = 0; i < t->size; i++)
            t->block[i] &= 1;
}

static void make(tensor *t, reader *r, int ndim_most) {
    memset(t, 0, sizeof *t);
    t->dl.ndim = (int32_t)number(r, 0, ndim_most);
    t->dl.device.device_type = take(r, 1) == 255 ? (DLDeviceType)take(r, 1) : kDLCPU;
    uint64_t type = take(r, 1);
    t->dl.dtype =
        type == 255 ? (DLDataType){(uint8_t)take(r, 1), (uint8_t)take(r, 1), (uint16_t)take(r, 1)} : tess_dl_type((tess_type)(1 + type % 15));
    for (int d = 0; d < t->dl.ndim && d < 70; d++)
        t->shape[d] = number(r, 0, 7);
    t->dl.shape = take(r, 1) == 255 ? NULL : t->shape;
    if (take(r, 1) % 2) {
        for (int d = 0; d < t->dl.ndim && d < 70; d++)
            t->strides[d] = number(r, -8, 40);
        t->dl.strides = t->strides;
    }
    if (t->dl.shape)
        give_memory(t, r);
}

/* The shape that the operation asks for, most of the time: otherwise nearly every call would be refused. */
static void reshape(tensor *t, reader *r, int ndim, const int64_t *shape) {
    free(t->block);
    t->block = NULL;
    if (take(r, 1) % 8 == 0 || ndim > TESS_MAX_NDIM) {
        if (t->dl.shape)
            give_memory(t, r); /* the type may have changed */
        return;
    }
    t->dl.ndim = ndim;
    memmove(t->shape, shape, sizeof(int64_t) * (size_t)ndim);
    t->dl.shape = t->shape;
    if (take(r, 1) % 2) {
        t->dl.strides = NULL;
    } else { /* gaps and signs, no overlap */
        int64_t step = 1;
        for (int d = ndim - 1; d >= 0; d--) {
            uint64_t how = take(r, 1);
            step *= step < INT64_C(1) << 40 ? 1 + (int64_t)(how & 1) : 1;
            t->strides[d] = how & 2 ? -step : step;
            step *= shape[d] > 0 && shape[d] < 1000 && step < INT64_C(1) << 40 ? shape[d] : 1;
        }
        t->dl.strides = t->strides;
    }
    give_memory(t, r);
}

static void must_know(tess_status status) {
    if (strcmp(tess_status_name(status), "?") == 0 || status == TESS_ERR_INTERNAL || status == TESS_ERR_MEMORY ||
        (status != TESS_OK && (!*tess_detail() || strchr(tess_detail(), '\n'))))
        abort();
}

static size_t elements_mask(const tensor *t, unsigned char *used) {
    int item = t->dl.dtype.bits / 8;
    int64_t count = 1;
    memset(used, 0, t->size);
    for (int d = 0; d < t->dl.ndim; d++)
        if (t->shape[d] == 0)
            return 0; /* the product of the others may be anything */
    for (int d = 0; d < t->dl.ndim; d++)
        count *= t->shape[d];
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, at = (int64_t)t->dl.byte_offset, step = 1;
        for (int d = t->dl.ndim - 1; d >= 0; d--) {
            at += rest % t->shape[d] * (t->dl.strides ? t->strides[d] : step) * item;
            rest /= t->shape[d];
            step *= t->shape[d];
        }
        memset(used + at, 1, (size_t)item);
    }
    return (size_t)count;
}

enum { MOST_POSITIONS = 64 };

typedef struct problem {
    int operation;
    tensor in, second, out;
    tess_correlate_options correlate;
    tess_reduce_options reduce;
    tess_transpose_options transpose;
    tess_lookup_options lookup;
    double at[MOST_POSITIONS];
    int64_t places;
    DLTensor positions;
    tess_reduction reduction;
    int axes[4];
    int64_t origin[4];
} problem;

static tess_status call(problem *p, tess_context *context, const char *strategy) {
    p->correlate.call.strategy = p->reduce.call.strategy = p->transpose.call.strategy = p->lookup.call.strategy = strategy;
    switch (p->operation) {
    case 0: return tess_correlate(context, &p->in.dl, &p->second.dl, &p->out.dl, &p->correlate);
    case 1: return tess_convolve(context, &p->in.dl, &p->second.dl, &p->out.dl, &p->correlate);
    case 2: return tess_reduce(context, p->reduction, &p->in.dl, &p->out.dl, &p->reduce);
    case 3: return tess_transpose(context, &p->in.dl, &p->out.dl, &p->transpose);
    default: return tess_lookup(context, &p->in.dl, &p->second.dl, &p->out.dl, &p->lookup);
    }
}

static void plan(problem *p, tess_context *context) {
    const DLTensor *masks[] = {&p->second.dl};
    tess_plan *made = (tess_plan *)p;
    tess_status status = p->operation <= 1   ? tess_plan_correlate(&made, context, &p->in.dl, masks, 1, &p->out.dl, &p->correlate)
                         : p->operation == 2 ? tess_plan_reduce(&made, context, p->reduction, &p->in.dl, &p->out.dl, &p->reduce)
                         : p->operation == 3 ? tess_plan_transpose(&made, context, &p->in.dl, &p->out.dl, &p->transpose)
                                             : tess_plan_lookup(&made, context, &p->in.dl, &p->second.dl, &p->out.dl, &p->lookup);
    must_know(status);
    if ((status == TESS_OK) != (made != NULL))
        abort();
    tess_plan_free(made);
}

/* What a lookup at positions asks for: random bytes are hardly ever a real index near them, with a policy and a method that it takes. */
static void fit_places(problem *p, reader *r, uint64_t bits) {
    tensor *index = &p->second;
    const bool wide = bits & 1;
    const size_t item = wide ? 8 : 4;
    index->dl.dtype = tess_dl_type(wide ? tess_f64 : tess_f32);
    free(index->block);
    index->block = NULL;
    if (index->dl.shape)
        give_memory(index, r);
    for (size_t at = index->dl.byte_offset % item; index->block && at + item <= index->size; at += item) {
        const double x = (double)take(r, 1) / 32 - 3;
        const float narrow = (float)x;
        memcpy(index->block + at, wide ? (const void *)&x : (const void *)&narrow, item);
    }
    p->lookup.outside = p->lookup.outside == TESS_OUTSIDE_WRAP ? TESS_OUTSIDE_CLIP : p->lookup.outside;
    p->lookup.interpolation = (tess_interpolation)((unsigned)p->lookup.interpolation % 3);
    const tess_type table = tess_type_of(p->in.dl.dtype);
    if (table == tess_c64 || table == tess_c128)
        p->out.dl.dtype = p->in.dl.dtype;
}

static void set_options(problem *p, reader *r) {
    uint64_t bits = take(r, 3);
    for (int k = 0; k < 4; k++)
        p->axes[k] = (int)number(r, -4, 4);
    bool own_axes = bits & 1;
    p->correlate = (tess_correlate_options){.struct_size = sizeof p->correlate,
                                            .axes = own_axes ? p->axes : NULL,
                                            .naxes = own_axes ? (int)number(r, 0, 3) : 0,
                                            .boundary = (tess_boundary)((bits >> 1 & 7) % 7),
                                            .constant = (bits & 16) ? NAN : 2.5,
                                            .extent = (tess_extent)(bits >> 5 & 3),
                                            .accuracy = (tess_accuracy)(bits >> 7 & 1),
                                            .compute = (bits >> 8 & 7) == 7 ? tess_f64 : tess_no_type};
    for (int k = 0; k < 4; k++)
        p->origin[k] = number(r, -3, 3);
    if (bits >> 11 & 1)
        p->correlate.origin = p->origin;
    if (p->correlate.naxes < 0 || p->correlate.naxes > 4)
        p->correlate.naxes = 4;
    p->reduction = (tess_reduction)((bits >> 12) % 16);
    p->reduce = (tess_reduce_options){.struct_size = sizeof p->reduce,
                                      .axes = own_axes ? p->axes : NULL,
                                      .naxes = p->correlate.naxes,
                                      .keepdims = bits >> 16 & 1,
                                      .nan = (tess_nan)(bits >> 17 & 1),
                                      .ddof = (double)(bits >> 18 & 3),
                                      .exact = bits >> 20 & 1,
                                      .offsets = bits >> 21 & 1 ? &p->second.dl : NULL};
    p->transpose = (tess_transpose_options){.struct_size = sizeof p->transpose, .perm = own_axes ? p->axes : NULL, .nperm = p->correlate.naxes};
    p->lookup = (tess_lookup_options){.struct_size = sizeof p->lookup,
                                      .axis = p->axes[0],
                                      .outside = (tess_outside)(bits >> 1 & 3),
                                      .fill = 7,
                                      .interpolation = (tess_interpolation)((bits >> 3 & 7) % 5)};
    if (p->operation == 4 && bits >> 22 & 1) { /* in order: else strategies may differ */
        double at = -2;
        if (bits >> 23 & 1 && p->in.dl.ndim > 0 && p->in.dl.ndim <= 4)
            p->lookup.axis = p->axes[0] = (int)((unsigned)p->axes[0] % (unsigned)p->in.dl.ndim);
        const int64_t axis = p->axes[0] < 0 ? (int64_t)p->axes[0] + p->in.dl.ndim : p->axes[0];
        p->places = axis >= 0 && axis < p->in.dl.ndim && p->in.dl.ndim <= 4 && p->in.shape[axis] >= 0 && p->in.shape[axis] <= MOST_POSITIONS
                        ? p->in.shape[axis]
                        : (int64_t)(take(r, 1) % MOST_POSITIONS);
        for (int64_t k = 0; k < p->places; k++) {
            at += (double)take(r, 1) / 64;
            p->at[k] = at;
        }
        p->positions = tess_view(p->at, tess_f64, 1, &p->places, NULL);
        p->lookup.positions = &p->positions;
        if (bits >> 23 & 1)
            fit_places(p, r, bits >> 12);
    }
}

/* Gives out the shape that fits, where that is simple to say. */
static void fit_output(problem *p, reader *r) {
    const tensor *in = &p->in;
    int64_t shape[140];
    int n = 0;
    if (in->dl.ndim < 0 || in->dl.ndim > TESS_MAX_NDIM)
        return;
    switch (p->operation) {
    case 0:
    case 1: reshape(&p->out, r, in->dl.ndim, in->shape); break;
    case 2:
        for (int d = 0; d < in->dl.ndim; d++) {
            bool reduced = p->reduce.axes == NULL;
            for (int k = 0; k < p->reduce.naxes && p->reduce.axes; k++)
                reduced |= p->axes[k] == d || p->axes[k] == d - in->dl.ndim;
            if (!reduced || p->reduce.keepdims)
                shape[n++] = reduced ? 1 : in->shape[d];
        }
        reshape(&p->out, r, n, shape);
        break;
    case 3:
        for (int d = 0; d < in->dl.ndim; d++) {
            int from = p->transpose.perm && d < 4 ? p->axes[d] + (p->axes[d] < 0 ? in->dl.ndim : 0) : in->dl.ndim - 1 - d;
            shape[n++] = from >= 0 && from < in->dl.ndim ? in->shape[from] : 1;
        }
        if (in->dl.ndim <= 4 && p->transpose.perm)
            p->transpose.nperm = in->dl.ndim;
        p->out.dl.dtype = in->dl.dtype;
        reshape(&p->out, r, n, shape);
        break;
    default:
        if (p->second.dl.ndim < 0 || p->second.dl.ndim > TESS_MAX_NDIM)
            return;
        for (int d = 0; d < in->dl.ndim; d++)
            if (d == p->lookup.axis || d - in->dl.ndim == p->lookup.axis)
                for (int k = 0; k < p->second.dl.ndim; k++)
                    shape[n++] = p->second.shape[k];
            else
                shape[n++] = in->shape[d];
        if (p->lookup.interpolation == TESS_INTERPOLATE_NONE && !p->lookup.positions)
            p->out.dl.dtype = in->dl.dtype;
        reshape(&p->out, r, n, shape);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const references[] = {"correlate/reference", "correlate/reference", "reduce/reference", "transpose/reference",
                                             "lookup/reference"};
    reader r = {data, data + size};
    problem *p = calloc(1, sizeof *p);
    tess_context *context;
    tess_context_options options = {.struct_size = sizeof options, .threads = 1 + (int)(take(&r, 1) % 2)};
    if (tess_open(&context, &options) != TESS_OK)
        abort();
    p->operation = (int)(take(&r, 1) % 5);
    make(&p->in, &r, 4);
    make(&p->second, &r, 3);
    make(&p->out, &r, 4);
    set_options(p, &r);
    fit_output(p, &r);
    plan(p, context);
    bool small = p->in.block && p->out.block && (p->operation == 2 || p->operation == 3 || p->second.block);
    if (p->operation == 2 && p->reduce.offsets && !p->second.block)
        small = false;
    tess_status status;
    if (!small) { /* some data are NULL: with elements, that is refused */
        must_know(call(p, context, NULL));
    } else {
        unsigned char *before = malloc(p->out.size + 1), *used = malloc(p->out.size + 1), *first = malloc(p->out.size + 1);
        memcpy(before, p->out.block, p->out.size);
        elements_mask(&p->out, used);
        must_know(status = call(p, context, NULL));
        for (size_t i = 0; i < p->out.size; i++)
            if (!used[i] && p->out.block[i] != before[i])
                abort();
        memcpy(first, p->out.block, p->out.size);
        memcpy(p->out.block, before, p->out.size);
        tess_status reference = call(p, context, references[p->operation]);
        must_know(reference);
        if (reference != status || (status == TESS_OK && memcmp(first, p->out.block, p->out.size) != 0))
            abort();
        free(before);
        free(used);
        free(first);
    }
    tess_close(context);
    free(p->in.block);
    free(p->second.block);
    free(p->out.block);
    free(p);
    return 0;
}

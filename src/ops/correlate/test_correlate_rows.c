/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_rows.c - that every row of the table gives the reference's bits: random shapes, types, masks, axes, boundaries, extents, origins and
 * layouts, on every instruction set that this machine has and with 1 to 8 threads, nothing written beside the output. */
#include "core/maker.h"
#include "correlate_samples.h"

#include <math.h>

static tess_type random_type(uint64_t *random) { return (tess_type)hostile_between(random, tess_bool, tess_c128); }

/* Whether a result of these types may be stored as out. */
static tess_type random_out(uint64_t *random, bool complex) {
    tess_type type;
    do
        type = random_type(random);
    while (complex && type < tess_c64);
    return type;
}

static void draw(sample *s, uint64_t *random, int64_t most, int layout, bool list) {
    static const double constants[] = {0, 1, -3, 2.5, 1e30, -INFINITY, NAN};
    memset(s, 0, sizeof *s);
    s->ndim = (int)hostile_between(random, list ? 2 : 1, 4);
    int64_t budget = most;
    for (int d = s->ndim - 1; d >= 0; d--) {
        s->shape[d] = hostile_between(random, 1, d == s->ndim - 1 && hostile_between(random, 0, 3) == 0 ? budget : 14);
        if (s->shape[d] > budget)
            s->shape[d] = budget;
        budget /= s->shape[d];
        if (hostile_between(random, 0, 60) == 0)
            s->shape[d] = 0;
        s->axes[d] = d;
    }
    hostile_shuffle(random, s->ndim, s->axes);
    s->naxes = (int)hostile_between(random, list ? 2 : 0, s->ndim > 3 ? 3 : s->ndim);
    if (hostile_between(random, 0, 1)) /* the common case: the last axes in their order */
        for (int k = 0; k < s->naxes; k++)
            s->axes[k] = s->ndim - s->naxes + k;
    tess_correlate_options *o = &s->options;
    o->struct_size = sizeof *o;
    o->axes = s->axes;
    o->naxes = s->naxes;
    o->boundary = (tess_boundary)hostile_between(random, 0, TESS_BOUNDARY_WRAP);
    o->extent = (tess_extent)hostile_between(random, 0, TESS_EXTENT_FULL);
    o->accuracy = (tess_accuracy)hostile_between(random, 0, TESS_ACCURACY_FFT);
    o->flip = hostile_between(random, 0, 1);
    o->constant = constants[hostile_between(random, 0, 6)];
    int64_t widths[8];
    memcpy(s->out_shape, s->shape, sizeof s->out_shape);
    for (int k = 0; k < s->naxes; k++) {
        widths[k] = hostile_between(random, 1, hostile_between(random, 0, 9) == 0 ? 40 : 5);
        if (s->naxes > 2 && widths[k] > 8)
            widths[k] = 8;
        if (o->extent == TESS_EXTENT_SAME)
            s->origin[k] = hostile_between(random, -(widths[k] / 2), (widths[k] - 1) / 2);
        if (s->shape[s->axes[k]] == 0 && o->extent == TESS_EXTENT_FULL)
            o->boundary = TESS_BOUNDARY_ZERO;
        s->out_shape[s->axes[k]] = out_size(o->extent, s->shape[s->axes[k]], widths[k]);
    }
    o->origin = s->origin;
    /* mostly pairs that are met in practice, at times any */
    tess_type from = random_type(random), weights = random_type(random);
    if (hostile_between(random, 0, 2))
        from = (const tess_type[]){tess_u8, tess_f32, tess_f64, tess_u16, tess_f16}[hostile_between(random, 0, 4)];
    if (hostile_between(random, 0, 2))
        weights = (const tess_type[]){tess_f32, tess_f64, tess_i8, tess_f32}[hostile_between(random, 0, 3)];
    bool complex = from >= tess_c64 || weights >= tess_c64;
    if (hostile_between(random, 0, 9) == 0)
        o->compute = complex ? tess_c128 : tess_f64;
    tess_type to = hostile_between(random, 0, 1) && !complex ? from : random_out(random, complex);
    hostile_make(&s->in, random, from, s->ndim, s->shape, layout);
    hostile_fill(&s->in, random, (int)hostile_between(random, 0, 2));
    s->count = list ? s->naxes : 1;
    for (int k = 0; k < s->count; k++) {
        if (list)
            hostile_make(&s->masks[k], random, weights, 1, &widths[k], (int)hostile_between(random, 0, 1));
        else
            hostile_make(&s->masks[k], random, weights, s->naxes, widths, (int)hostile_between(random, 0, 1));
        hostile_fill(&s->masks[k], random, hostile_between(random, 0, 3) ? 1 : (int)hostile_between(random, 0, 2));
        if (hostile_between(random, 0, 4) == 0) { /* all weights equal: of rank 1 */
            char *first = hostile_element(&s->masks[k], 0);
            for (int64_t i = 1; i < hostile_count(&s->masks[k]); i++)
                memcpy(hostile_element(&s->masks[k], i), first, (size_t)s->masks[k].itemsize);
        }
    }
    hostile_make(&s->out, random, to, s->ndim, s->out_shape, layout);
}

static int many(uint64_t seed, int samples, int64_t most, bool list, bool every_thread_count) {
    uint64_t random = seed;
    int ran = 0;
    for (int i = 0; i < samples; i++) {
        sample s;
        int layout = (int)hostile_between(&random, 0, HOSTILE_LAYOUTS - 1);
        draw(&s, &random, most, layout, list);
        ran += compare(&s, &random, layout, every_thread_count);
        drop(&s);
    }
    return ran;
}

static void small_masks(void **state) {
    (void)state;
    assert_true(many(1, 800, 600, false, false) > 800);
}
static void small_lists(void **state) {
    (void)state;
    assert_true(many(2, 300, 600, true, false) > 300);
}
/* Large enough for the threads to take part (plan.c's cut-over) and for rows of many stretches. */
static void threads(void **state) {
    (void)state;
    assert_true(many(3, 8, 40000, false, true) > 8);
    assert_true(many(4, 6, 40000, true, true) > 6);
}

/* The shapes that rows are made for: compact images of usual types, sizes around vectors and blocks, every usual mask size. */
static void images(void **state) {
    (void)state;
    static const tess_type types[] = {tess_f32, tess_f64, tess_u8, tess_i16, tess_bf16};
    uint64_t random = 5;
    for (int i = 0; i < 60; i++) {
        sample s;
        memset(&s, 0, sizeof s);
        int64_t mask_shape[3];
        tess_type type = types[i % 5];
        s.ndim = (int)hostile_between(&random, 1, 3);
        s.naxes = (int)hostile_between(&random, 1, s.ndim);
        int first = (int)hostile_between(&random, 0, s.ndim - s.naxes); /* trailing axes without a mask: the colours of a pixel */
        for (int d = 0; d < s.ndim; d++)
            s.out_shape[d] = s.shape[d] = hostile_between(&random, 1, d == s.ndim - 1 ? 300 : 20);
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = s.naxes,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = (tess_extent)(i / 6 % 3),
                                             .constant = 2};
        for (int k = 0; k < s.naxes; k++) {
            s.axes[k] = first + k;
            mask_shape[k] = hostile_between(&random, 1, s.naxes == 3 ? 4 : 9);
            s.out_shape[first + k] = out_size(s.options.extent, s.shape[first + k], mask_shape[k]);
        }
        s.count = 1;
        hostile_make(&s.in, &random, type, s.ndim, s.shape, HOSTILE_COMPACT);
        hostile_make(&s.masks[0], &random, type == tess_f64 ? tess_f64 : i & 8 ? tess_i8 : tess_f32, s.naxes, mask_shape, HOSTILE_COMPACT);
        hostile_make(&s.out, &random, type, s.ndim, s.out_shape, HOSTILE_COMPACT);
        hostile_fill(&s.in, &random, 1);
        hostile_fill(&s.masks[0], &random, 1);
        assert_true(compare(&s, &random, HOSTILE_COMPACT, false) > 0);
        drop(&s);
    }
}

/* Lists on tall arrays, which are cut into slabs: the pass along the slab axis first, between others and last, every boundary, masks longer than a
 * slab. */
static void slabs(void **state) {
    (void)state;
    uint64_t random = 6;
    for (int i = 0; i < 36; i++) {
        sample s;
        memset(&s, 0, sizeof s);
        s.ndim = s.naxes = s.count = (int)hostile_between(&random, 2, 3);
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = s.naxes,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = (tess_extent)(i / 6 % 3),
                                             .constant = -1,
                                             .flip = i & 1};
        for (int d = 0; d < s.ndim; d++) {
            s.out_shape[d] = s.shape[d] = d == 0 ? hostile_between(&random, 130, 420) : hostile_between(&random, 1, s.ndim == 2 ? 40 : 9);
            s.axes[d] = (d + i) % s.ndim;
        }
        int layout = i % 5 == 4 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        tess_type type = (const tess_type[]){tess_f32, tess_u8, tess_f64, tess_c64, tess_i64}[i % 5];
        hostile_make(&s.in, &random, type, s.ndim, s.shape, layout);
        for (int k = 0; k < s.count; k++) {
            int64_t width = hostile_between(&random, 1, i % 9 == 0 ? 200 : 9);
            s.out_shape[s.axes[k]] = out_size(s.options.extent, s.shape[s.axes[k]], width);
            hostile_make(&s.masks[k], &random, type == tess_i64 ? tess_i32 : tess_f32, 1, &width, HOSTILE_COMPACT);
            hostile_fill(&s.masks[k], &random, 1);
        }
        hostile_make(&s.out, &random, type, s.ndim, s.out_shape, layout);
        hostile_fill(&s.in, &random, 1);
        assert_true(compare(&s, &random, layout, i % 6 == 0) > 0);
        drop(&s);
    }
}

static void put_integer(hostile_array *a, int64_t i, int64_t value) { memcpy(hostile_element(a, i), &value, (size_t)a->itemsize); }

/* Integer masks over small integers (correlate/packed): every type of element, weight and output; the largest and smallest of them throughout, in
 * part, and anything between; sums just below and just above 2^31; masks of every width modulo four; columns without a row; constants that the
 * element's type holds and one that it does not; the colours of a pixel, which no mask joins. */
static void small_integers(void **state) {
    (void)state;
    static const tess_type from[] = {tess_u8, tess_u8, tess_i8, tess_u16, tess_i16};
    static const tess_type weight[] = {tess_i8, tess_u8, tess_i16, tess_i8, tess_i32};
    static const tess_type to[] = {tess_u8, tess_i16, tess_i8, tess_u16, tess_i32, tess_f32, tess_i64, tess_u64, tess_bool};
    static const double constants[] = {0, 7, 255, 300, -1, 127, -128};
    uint64_t random = 10;
    for (int i = 0; i < 330; i++) {
        sample s;
        memset(&s, 0, sizeof s);
        int64_t mask_shape[3];
        const bool pixels = i >= 270;
        s.ndim = (int)hostile_between(&random, pixels ? 2 : 1, 3);
        s.naxes = (int)hostile_between(&random, 1, s.ndim - pixels);
        s.count = 1;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = s.naxes,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = (tess_extent)(i / 6 % 3),
                                             .constant = constants[i % 7],
                                             .flip = i & 1};
        for (int d = 0; d < s.ndim; d++)
            s.out_shape[d] = s.shape[d] = hostile_between(&random, 1, d == s.ndim - 1 ? 600 : s.ndim == 3 ? 7 : 40);
        if (pixels)
            s.out_shape[s.ndim - 1] = s.shape[s.ndim - 1] = hostile_between(&random, 2, 5);
        for (int d = s.ndim - 2; pixels && d >= 0; d--)
            s.out_shape[d] = s.shape[d] = hostile_between(&random, 1, d == s.ndim - 2 ? 300 : 40);
        const int first = s.ndim - s.naxes - (pixels ? 1 : (int)hostile_between(&random, 0, i % 5 == 4 ? s.ndim - s.naxes : 0));
        for (int k = 0; k < s.naxes; k++) {
            s.axes[k] = first + k;
            mask_shape[k] = hostile_between(&random, 1, s.naxes == 3 ? 4 : i % 10 == 9 ? 17 : 9);
            s.out_shape[first + k] = out_size(s.options.extent, s.shape[first + k], mask_shape[k]);
        }
        const tess_type type = from[i % 5];
        const int layout = i % 8 == 7 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        const bool wide = type == tess_i16 || type == tess_u16;
        hostile_make(&s.in, &random, type, s.ndim, s.shape, layout);
        hostile_make(&s.masks[0], &random, weight[hostile_between(&random, 0, 4)], s.naxes, mask_shape, HOSTILE_COMPACT);
        hostile_make(&s.out, &random, i % 3 ? type : to[i / 3 % 9], s.ndim, s.out_shape, layout);
        hostile_fill(&s.in, &random, 2);
        hostile_fill(&s.masks[0], &random, 1);
        const int64_t taps = hostile_count(&s.masks[0]), extremes[2] = {s.in.tensor.dtype.code == kDLUInt ? 0
                                                                        : wide                            ? -32768
                                                                                                          : -128,
                                                                        s.in.tensor.dtype.code == kDLUInt ? (wide ? 65535 : 255)
                                                                        : wide                            ? 32767
                                                                                                          : 127};
        for (int64_t e = 0; i % 4 > 0 && e < hostile_count(&s.in); e++)
            if (i % 4 == 3 || hostile_between(&random, 0, 2))
                put_integer(&s.in, e, extremes[i % 4 == 3 ? 1 : hostile_between(&random, 0, 1)]);
        /* weights: as filled; ends of 8 bits; what makes sums meet 2^31 */
        const bool top = s.masks[0].itemsize > 1 && i % 3 == 1;
        const int64_t limit = top ? (INT64_C(1) << 31) / (wide ? 65536 : 256) / taps : 127;
        for (int64_t t = 0; i % 3 > 0 && t < taps; t++) {
            const int64_t most = s.masks[0].itemsize > 1 || tess_type_of(s.masks[0].tensor.dtype) == tess_i8 ? limit : 255;
            const int64_t w = hostile_between(&random, 0, 3) || s.masks[0].tensor.dtype.code == kDLUInt ? most : -most - 1;
            put_integer(&s.masks[0], t, s.masks[0].itemsize == 2 && w > 32767 ? 32767 : s.masks[0].itemsize == 2 && w < -32768 ? -32768 : w);
        }
        assert_true(compare(&s, &random, layout, false) > 0);
        drop(&s);
    }
}

/* Rows and columns of integers over images of bytes (correlate/packed_passes): weights whose sums just fit, or just leave, 16 bits between the passes;
 * in either order; every boundary and extent, constants that are 0 and are not, images of few rows, pixels, more columns than a strip; threads. */
static void byte_lists(void **state) {
    (void)state;
    static const tess_type to[] = {tess_u8, tess_i16, tess_i8, tess_u16, tess_i32};
    uint64_t random = 11;
    for (int i = 0; i < 180; i++) {
        sample s;
        memset(&s, 0, sizeof s);
        const int64_t colours = i % 4 == 3 ? hostile_between(&random, 2, 5) : 1;
        s.ndim = colours > 1 ? 3 : 2;
        s.naxes = s.count = 2;
        s.axes[i % 3 != 1] = 1; /* rows first for every third */
        s.axes[i % 3 == 1] = 0;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = 2,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = (tess_extent)(i / 6 % 3),
                                             .constant = i % 12 == 1 ? 3 : 0,
                                             .flip = i & 1};
        const tess_type type = i % 5 < 4 ? tess_u8 : (const tess_type[]){tess_i8, tess_i16, tess_u16}[i % 3];
        const bool wide = type == tess_i16 || type == tess_u16; /* for correlate/packed, which takes the product of the two */
        s.shape[0] = hostile_between(&random, i % 8 ? 6 : 1, i % 10 == 0 ? 230 : 30);
        s.shape[1] = hostile_between(&random, i % 8 ? 128 : 1, i % 9 == 0 ? 2300 : 200);
        s.shape[2] = colours;
        memcpy(s.out_shape, s.shape, sizeof s.out_shape);
        const int layout = i % 16 == 7 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        hostile_make(&s.in, &random, type, s.ndim, s.shape, layout);
        hostile_fill(&s.in, &random, 2);
        for (int k = 0; k < 2; k++) {
            const int64_t width = hostile_between(&random, i % 8 ? 2 : 1, i % 7 == 0 ? 40 : 9);
            const tess_type weights = (const tess_type[]){tess_i8, tess_i16, tess_i8, tess_u8}[hostile_between(&random, 0, 3)];
            const int64_t axis = s.axes[k], most = weights == tess_i8 ? 127 : weights == tess_u8 ? 255 : 300;
            int64_t left = (wide ? 150 : 257) + hostile_between(&random, i % 3 ? -50 : -2, i % 3 ? 0 : 1);
            s.out_shape[axis] = out_size(s.options.extent, s.shape[axis], width);
            hostile_make(&s.masks[k], &random, weights, 1, &width, HOSTILE_COMPACT);
            for (int64_t t = 0; t < width; t++) {
                const int64_t w = t == width - 1 && i % 2 ? left : hostile_between(&random, 0, left / 2), size = w < most ? w : most;
                put_integer(&s.masks[k], t, weights != tess_u8 && hostile_between(&random, 0, 2) == 0 ? -size : size);
                left -= size;
            }
        }
        for (int64_t e = 0; i % 4 > 1 && e < hostile_count(&s.in); e++) /* the ends of the type, throughout or in part */
            if (i % 4 == 2 || hostile_between(&random, 0, 1))
                put_integer(&s.in, e,
                            type == tess_u8 || type == tess_u16 ? (wide ? 65535 : 255) * (i % 8 > 3)
                            : i % 8 > 3                         ? (wide ? 32767 : 127)
                                                                : (wide ? -32768 : -128));
        hostile_make(&s.out, &random, to[i % 9 == 8 ? 4 : i % 4], s.ndim, s.out_shape, layout);
        assert_true(compare(&s, &random, layout, i % 10 == 0) > 0);
        drop(&s);
    }
}

/* Not a number, and both infinities, here and there: most tiles meet none, some several. */
static void put_specials(hostile_array *a, uint64_t *random) {
    static const double special[] = {NAN, -NAN, INFINITY, -INFINITY, INFINITY};
    for (int64_t i = 0; i < hostile_count(a); i += hostile_between(random, 1, 9) == 1 ? 1 : hostile_between(random, 1, 5000)) {
        const double x = special[hostile_between(random, 0, 4)];
        const float narrow = (float)x;
        memcpy(hostile_element(a, i), a->itemsize == 8 ? (const void *)&x : (const void *)&narrow, (size_t)a->itemsize);
    }
}

/* Lines whose outputs are stored past the caches, at any place within a line: few taps and many, centred and not, NaNs among them; as on a Zen 4 and on a Zen 5
 * (core/maker.h). */
static void lines_past_caches(void **state) {
    (void)state;
    static const int64_t lengths[] = {1, 2, 3, 5, 9, 12, 15, 16, 17, 23, 24, 31, 32, 33};
    uint64_t random = 12;
    for (int n = 0; n < 2 * (int)(sizeof lengths / sizeof *lengths); n++) {
        sample s;
        if (hostile_spared(n, 12))
            continue;
        memset(&s, 0, sizeof s);
        const int i = n / 2;
        const int64_t taps = lengths[i];
        tess_cpu_pretend_zen(4 + n % 2);
        const tess_type type = i % 4 == 2 ? tess_f64 : tess_f32;
        s.ndim = s.naxes = s.count = 1;
        s.shape[0] = s.out_shape[0] = (8 << 20) / (int64_t)tess_type_size(type) + hostile_between(&random, 0, 300);
        s.origin[0] = i % 3 ? hostile_between(&random, -(taps / 2), (taps - 1) / 2) : 0;
        s.options = (tess_correlate_options){
            .struct_size = sizeof s.options, .axes = s.axes, .naxes = 1, .origin = s.origin, .boundary = (tess_boundary)(i % 6), .constant = 1};
        hostile_make(&s.in, &random, type, 1, s.shape, HOSTILE_COMPACT);
        hostile_make(&s.masks[0], &random, type, 1, &taps, HOSTILE_COMPACT);
        hostile_make(&s.out, &random, type, 1, s.out_shape, HOSTILE_COMPACT);
        hostile_fill(&s.in, &random, 1);
        hostile_fill(&s.masks[0], &random, 1);
        if (i % 2)
            put_specials(&s.in, &random);
        assert_true(compare(&s, &random, HOSTILE_COMPACT, false) > 0);
        drop(&s);
    }
}

/* Outputs that are stored past the caches (8 MiB and more), at an address that is no multiple of a line; of small integers, too. */
static void large(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int i = 0; i < 8; i++) {
        sample s;
        if (hostile_spared(i, 4))
            continue;
        memset(&s, 0, sizeof s);
        int64_t mask_shape[2] = {i < 2 || i > 3 ? 3 : 2,
                                 i > 3 && i < 7 ? 3 : 2}; /* 3 x 3 has tiles of its own; of packed integers two groups of taps a row or one */
        const tess_type in = (const tess_type[]){tess_f32, tess_f64, tess_u8, tess_u8, tess_f32, tess_u8, tess_i16, tess_i16}[i],
                        mask = (const tess_type[]){tess_f32, tess_f64, tess_f32, tess_i8, tess_f32, tess_f32, tess_i8, tess_i8}[i],
                        out = (const tess_type[]){tess_f32, tess_f64, tess_i16, tess_i16, tess_f32, tess_i16, tess_i16, tess_i16}[i];
        s.ndim = s.naxes = 2;
        s.count = 1;
        s.axes[1] = 1;
        s.shape[0] = s.out_shape[0] = (int[]){1030, 515, 2060, 2060, 1031, 2060, 2060, 2060}[i];
        s.shape[1] = s.out_shape[1] = i < 6 ? 2048 : 2112; /* packed integers: rows that are not copied */
        s.options = (tess_correlate_options){.struct_size = sizeof s.options, .axes = s.axes, .naxes = 2, .boundary = TESS_BOUNDARY_WRAP};
        hostile_make(&s.in, &random, in, 2, s.shape, HOSTILE_COMPACT);
        hostile_make(&s.masks[0], &random, mask, 2, mask_shape, HOSTILE_COMPACT);
        hostile_make(&s.out, &random, out, 2, s.out_shape, HOSTILE_COMPACT);
        hostile_fill(&s.in, &random, 1);
        hostile_fill(&s.masks[0], &random, 1);
        if (in == tess_f32 || in == tess_f64)
            put_specials(&s.in, &random);
        assert_true(compare(&s, &random, HOSTILE_COMPACT, false) > 0);
        drop(&s);
    }
}

/* Every row had its chance on every instruction set: one that is never applicable would pass all of the above. */
static void all_rows_ran(void **state) {
    (void)state;
    for (int r = 0; r < tess_strategy_count(); r++) {
        tess_strategy_info row;
        assert_true(r < MOST_ROWS && tess_strategy_get(r, &row));
        for (int i = 0;
             i < ISAS && strcmp(row.operation, "correlate") == 0 && strcmp(row.target, "cpu") == 0 && strcmp(row.name, "correlate/reference") != 0;
             i++)
            if (contexts[i][0] && ran_by_row[r][i] < 100)
                fail_msg("%s was compared %d times only on isa %d", row.name, ran_by_row[r][i], isas[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_masks),       cmocka_unit_test(small_lists),    cmocka_unit_test(images),
        cmocka_unit_test(threads),           cmocka_unit_test(slabs),          cmocka_unit_test(large),
        cmocka_unit_test(lines_past_caches), cmocka_unit_test(small_integers), cmocka_unit_test(byte_lists),
        cmocka_unit_test(all_rows_ran),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

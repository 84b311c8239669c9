/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_walks.c - as test_correlate_rows.c, for shapes that have a walk of their own: lists of a column and a row over an image, long lines, volumes. */
#include "core/base.h"
#include "core/maker.h"
#include "correlate_samples.h"

#include <math.h>

/* What a list of a column and a row is like: everything but shape and options, which the sample has. */
typedef struct list_kind {
    tess_type in, out;
    int layout, number; /* of the sample, for what is filled in and how much is compared */
} list_kind;

static void check_list(sample *s, uint64_t *random, const list_kind *kind, const int64_t width[2]) {
    hostile_make(&s->in, random, kind->in, s->ndim, s->shape, kind->layout);
    for (int k = 0; k < 2; k++) {
        s->out_shape[k] = out_size(s->options.extent, s->shape[k], width[k]);
        hostile_make(&s->masks[k], random, kind->in == tess_f64 ? tess_f64 : tess_f32, 1, &width[k], HOSTILE_COMPACT);
        hostile_fill(&s->masks[k], random, 1);
    }
    hostile_make(&s->out, random, kind->out, s->ndim, s->out_shape, kind->layout);
    hostile_fill(&s->in, random, kind->number % 5 == 2 ? 2 : 1);
    assert_true(compare(s, random, kind->layout, kind->number % 6 == 0) > 0);
    drop(s);
}

/* A column mask and then a row mask over images wide enough for both passes to go side by side (cpu_fused.c): every boundary and extent, pixels of
 * three colours, long masks, rows that are no multiple of a tile, arrays in the work type and others. */
static void columns_then_rows(void **state) {
    (void)state;
    uint64_t random = 8;
    for (int i = 0; i < 40; i++) {
        if (hostile_spared(i, 4))
            continue;
        sample s;
        memset(&s, 0, sizeof s);
        const bool colours = i % 4 == 3;
        s.ndim = colours ? 3 : 2;
        s.naxes = s.count = 2;
        s.axes[1] = 1;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = 2,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = (tess_extent)(i / 6 % 3),
                                             .constant = i & 1 ? 3 : 0,
                                             .flip = i & 1};
        s.out_shape[0] = s.shape[0] = hostile_between(&random, 6, 40);
        s.out_shape[1] = s.shape[1] = hostile_between(&random, 128, 450);
        s.out_shape[2] = s.shape[2] = 3;
        tess_type type = (const tess_type[]){tess_f32, tess_u8, tess_f32, tess_f64, tess_i16}[i % 5];
        int layout = i % 7 == 6 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        int64_t width[2];
        for (int k = 0; k < 2; k++)
            width[k] = hostile_between(&random, 1, i % 3 == 0 ? 140 : 9);
        check_list(&s, &random, &(list_kind){type, type, layout, i}, width);
    }
}

/* Masks of as many taps in a column and in a row, whose sums roll along (roll.h): every boundary, extent and type of element, masks that stand to one side, rows
 * of whole vectors and others, pixels of 2 to 4 colours. The last three are stored past the caches, from the middle of a line on. */
static void equal_lists(void **state) {
    (void)state;
    uint64_t random = 12;
    for (int i = 0; i < 117; i++) {
        if (hostile_spared(i, 10))
            continue;
        sample s;
        memset(&s, 0, sizeof s);
        const bool large = i >= 114, colours = i % 19 % 3 == 2;
        int64_t width = large ? 9 + 8 * (i - 114) : 3 + 2 * ((i + i / 16) % 16);
        s.ndim = colours ? 3 : 2;
        s.naxes = s.count = 2;
        s.axes[1] = 1;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = 2,
                                             .origin = s.origin,
                                             .boundary = (tess_boundary)(i / 3 % 6),
                                             .extent = large ? TESS_EXTENT_SAME : (tess_extent)(i / 18 % 3),
                                             .constant = i & 1 ? 3 : 0};
        for (int k = 0; k < 2 && s.options.extent == TESS_EXTENT_SAME; k++)
            s.origin[k] = i % 4 ? 0 : hostile_between(&random, -(width / 2), (width - 1) / 2);
        const int64_t colour = colours ? 2 + i % 3 : 1;
        s.out_shape[2] = s.shape[2] = colour;
        s.out_shape[0] = s.shape[0] = large ? 1043 : hostile_between(&random, 12, 53);
        s.out_shape[1] = s.shape[1] = large ? 2048 / colour : i & 1 ? 16 * hostile_between(&random, 9, 60) : hostile_between(&random, 140, 900);
        tess_type type = large ? tess_f32 : (const tess_type[]){tess_f32, tess_u8, tess_f64, tess_f16, tess_f32, tess_i16, tess_u8}[i % 7];
        int layout = i % 13 == 12 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        check_list(&s, &random, &(list_kind){type, i % 8 == 7 ? tess_f32 : type, layout, i}, (const int64_t[]){width, width});
    }
}

/* Long masks of a row that march behind those of a column (march.h): every depth, boundary and extent, masks that stand to one side, columns of u8; the last is
 * stored past the caches. */
static void long_lists(void **state) {
    (void)state;
    uint64_t random = 14;
    for (int n = 0; n < 62; n++) {
        const int i = n / 2;
        if (hostile_spared(i < 30 ? i : n, 6)) /* of the two large ones, 60 and 61, it takes the first */
            continue;
        tess_cpu_pretend_zen(4 + n % 2);
        sample s;
        memset(&s, 0, sizeof s);
        const bool large = i == 30;
        const int64_t width[2] = {hostile_between(&random, 1, 9), large ? 31 : 13 + 2 * i + (i & 1)};
        s.ndim = s.naxes = s.count = 2;
        s.axes[1] = 1;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = 2,
                                             .origin = s.origin,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = large ? TESS_EXTENT_SAME : (tess_extent)(i / 2 % 3),
                                             .constant = i & 1 ? 3 : 0};
        for (int k = 0; k < 2 && s.options.extent == TESS_EXTENT_SAME; k++)
            s.origin[k] = i % 4 ? 0 : hostile_between(&random, -(width[k] / 2), (width[k] - 1) / 2);
        s.out_shape[0] = s.shape[0] = large ? 1030 : hostile_between(&random, 14, 30);
        s.out_shape[1] = s.shape[1] = large ? 2048 : hostile_between(&random, 128, 700);
        tess_type type = large ? tess_f32 : (const tess_type[]){tess_f32, tess_f64, tess_u8}[i % 3];
        check_list(&s, &random, &(list_kind){type, type == tess_u8 ? tess_f32 : type, HOSTILE_COMPACT, i}, width);
    }
}

/* Volumes of several bands of rows and, with threads, of several stretches of planes (cpu_volume.c); masks of 3 x 3 and 5 x 5 in planes and others; every
 * boundary and extent; stacks of volumes, colours, other types; each as a Zen 4 goes about it and as a Zen 5 does (core/maker.h). The last is stored past the
 * caches. */
static void volumes(void **state) {
    (void)state;
    uint64_t random = 13;
    for (int n = 0; n < 62; n++) {
        const int i = n / 2;
        if (hostile_spared(i < 30 ? i : n, 6)) /* of the two large ones, 60 and 61, it takes the first */
            continue;
        tess_cpu_pretend_zen(4 + n % 2);
        sample s;
        memset(&s, 0, sizeof s);
        const bool large = i == 30, stack = i % 6 == 4, colours = i % 6 == 5;
        const int first = stack ? 1 : 0;
        int64_t mask[3];
        s.ndim = stack || colours ? 4 : 3;
        s.naxes = 3;
        s.count = 1;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = 3,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = large ? TESS_EXTENT_SAME : (tess_extent)(i / 6 % 3),
                                             .constant = i & 1 ? 3 : 0};
        s.shape[0] = s.shape[3] = 3;
        s.shape[first] = large ? 70 : hostile_between(&random, 4, i % 5 == 0 ? 75 : 9);
        s.shape[first + 1] = large ? 256 : i % 6 == 1 ? hostile_between(&random, 13, 17) : hostile_between(&random, 6, i % 5 == 0 ? 20 : 110);
        s.shape[first + 2] = large ? 128 : i % 6 == 1 ? 64 * hostile_between(&random, 1, 3) : hostile_between(&random, 3, colours ? 30 : 170);
        memcpy(s.out_shape, s.shape, sizeof s.shape);
        for (int k = 0; k < 3; k++) {
            s.axes[k] = first + k;
            mask[k] = i & 1 || large ? 3 : i % 10 == 0 && k > 0 ? 5 : hostile_between(&random, 2, 4);
            s.out_shape[first + k] = out_size(s.options.extent, s.shape[first + k], mask[k]);
        }
        tess_type type = large ? tess_f32 : (const tess_type[]){tess_f32, tess_f64, tess_u8, tess_f32, tess_i16}[i % 5];
        hostile_make(&s.in, &random, type, s.ndim, s.shape, HOSTILE_COMPACT);
        hostile_make(&s.masks[0], &random, type == tess_f64 ? tess_f64 : tess_f32, 3, mask, HOSTILE_COMPACT);
        hostile_make(&s.out, &random,
                     i == 25                ? tess_i32
                     : i % 7 == 6           ? tess_f32
                     : i % 7 == 3 && !large ? tess_f16
                                            : type,
                     s.ndim, s.out_shape, HOSTILE_COMPACT);
        hostile_fill(&s.in, &random, 1);
        hostile_fill(&s.masks[0], &random, 1);
        assert_true(compare(&s, &random, HOSTILE_COMPACT, i % 5 == 0) > 0);
        drop(&s);
    }
}

/* Images of 8 and 16 bits that are read as they are (window_raw.h), by masks of 3 x 3 and of 1 to 7 rows: colours, every boundary and extent, masks that stand
 * to one side, ghost cells that an element holds and others; weights that are no numbers and infinite, halves, which round to even, and large ones; every kind of
 * output; fewer rows than the mask has (i % 12 == 6), one row and several bands, rows shorter than a tile and of several. The last five are stored past the caches. */
static void narrow_images(void **state) {
    (void)state;
    static const tess_type from[] = {tess_u8, tess_i8, tess_u8, tess_u16, tess_i16, tess_u8, tess_f16};
    static const tess_type to[] = {tess_u8, tess_i8, tess_u8, tess_u16, tess_i16, tess_f32, tess_f16, tess_i32};
    static const double constants[] = {0, 7, 255, 2.5, 256, -1, NAN, 1};
    static const float weight[] = {NAN, INFINITY, -INFINITY, 0.5f, -0.5f, 1e30f, 1e-42f, 300};
    uint64_t random = 16;
    enum { SMALL = 168 };
    for (int i = 0; i < SMALL + 5; i++) {
        sample s;
        memset(&s, 0, sizeof s);
        const bool large = i >= SMALL, square = i % 5 < 3;
        if (large ? hostile_spared(i - SMALL, 6) : hostile_spared(i, 12)) /* 2 s each there; those left out differ in types and sizes */
            continue;
        const tess_type type = large ? (const tess_type[]){tess_u8, tess_u8, tess_u16, tess_f16, tess_i8}[i - SMALL] : from[i % 7];
        const int64_t mask[] = {square  ? 3
                                : i % 2 ? hostile_between(&random, 1, 3)
                                        : hostile_between(&random, 4, 7),
                                square      ? 3
                                : i % 9 < 2 ? hostile_between(&random, 8, 34)
                                            : hostile_between(&random, 1, i % 3 ? 9 : 2)};
        const int layout = i % 12 == 11 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        const int64_t colours = i % 4 == 3 || i == SMALL + 1 ? hostile_between(&random, 2, 5) : 1;
        s.ndim = colours > 1 ? 3 : 2;
        s.naxes = 2;
        s.count = s.axes[1] = 1;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = 2,
                                             .origin = s.origin,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = large ? TESS_EXTENT_SAME : (tess_extent)(i / 6 % 3),
                                             .constant = constants[hostile_between(&random, 0, 7)]};
        s.shape[0] = large ? 1100 : i % 12 == 6 ? 1 + i / 12 % 5 : hostile_between(&random, 1, i % 3 ? 30 : 80);
        s.shape[1] = large ? 8192 / colours : hostile_between(&random, i % 12 == 6 ? 70 : 1, i % 5 ? 200 : 1300);
        s.shape[2] = s.out_shape[2] = colours;
        for (int k = 0; k < 2; k++) {
            s.origin[k] = i % 4 || s.options.extent != TESS_EXTENT_SAME ? 0 : hostile_between(&random, -(mask[k] > 1), mask[k] > 2);
            s.out_shape[k] = out_size(s.options.extent, s.shape[k], mask[k]);
        }
        hostile_make(&s.in, &random, type, s.ndim, s.shape, layout);
        hostile_make(&s.masks[0], &random, i % 16 == 9 ? tess_i32 : tess_f32, 2, mask, HOSTILE_COMPACT);
        hostile_make(&s.out, &random, large || i % 3 == 0 ? type : to[i % 8], s.ndim, s.out_shape, layout);
        hostile_fill(&s.in, &random, 2);
        hostile_fill(&s.masks[0], &random, 1);
        for (int t = 0; t < 8 && i % 16 != 9 && i % 3 == 1; t++)
            if (hostile_between(&random, 0, 2) == 0)
                memcpy(hostile_element(&s.masks[0], t), &weight[hostile_between(&random, i % 2 ? 3 : 0, 7)], sizeof *weight);
        const int met = compare(&s, &random, layout, i % 10 == 0);
        assert_true(met > 0 || hostile_count(&s.out) == 0);
        drop(&s);
    }
}

/* Masks of 3 x 3 over elements of the work type, whose vectors are read once from left to right (window_along.h): every boundary and extent, masks that stand
 * to one side, rows shorter than a vector, of some whole ones and others, and longer than a look for NaNs is; bands of few rows; NaNs and infinities here and
 * there, and nothing else; outputs of other types. The last four are stored past the caches, two of them from the middle of a line on. */
static void windows_of_three(void **state) {
    (void)state;
    static const int64_t mask[] = {3, 3};
    static const double constants[] = {0, 3, NAN, -INFINITY}, special[] = {NAN, -NAN, INFINITY, -INFINITY};
    uint64_t random = 17;
    for (int i = 0; i < 76; i++) {
        if (hostile_spared(i, 4))
            continue;
        sample s;
        memset(&s, 0, sizeof s);
        const bool large = i >= 72;
        s.ndim = s.naxes = 2;
        s.count = s.axes[1] = 1;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = 2,
                                             .origin = s.origin,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = large ? TESS_EXTENT_SAME : (tess_extent)(i / 6 % 3),
                                             .constant = constants[i / 3 % 4]};
        s.shape[0] = large ? 1037 : hostile_between(&random, 1, i % 4 ? 60 : 9);
        s.shape[1] = large        ? 2048 + i % 2 * 5
                     : i % 5 == 0 ? 16 * hostile_between(&random, 1, 40)
                                  : hostile_between(&random, 1, i % 5 < 3 ? 120 : 2500);
        for (int k = 0; k < 2; k++) {
            s.origin[k] = i % 4 || s.options.extent != TESS_EXTENT_SAME ? 0 : hostile_between(&random, -1, 1);
            s.out_shape[k] = out_size(s.options.extent, s.shape[k], 3);
        }
        const tess_type type = i % 3 == 1 && !large ? tess_f64 : tess_f32;
        const int layout = i % 12 == 11 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        hostile_make(&s.in, &random, type, 2, s.shape, layout);
        hostile_make(&s.masks[0], &random, type, 2, mask, HOSTILE_COMPACT);
        hostile_make(&s.out, &random, i % 8 == 7 && !large ? tess_f16 : type, 2, s.out_shape, layout);
        hostile_fill(&s.in, &random, 1);
        hostile_fill(&s.masks[0], &random, 1);
        const int64_t often = i % 7 == 3 ? 1 : i % 7 == 5 ? 40 : i % 7 == 6 ? 5000 : 0;
        for (int64_t e = 0; often > 0 && e < hostile_count(&s.in); e += hostile_between(&random, 1, often)) {
            const double x = special[hostile_between(&random, 0, often == 1 ? 0 : 3)];
            const float narrow = (float)x;
            memcpy(hostile_element(&s.in, e), type == tess_f64 ? (const void *)&x : (const void *)&narrow, (size_t)s.in.itemsize);
        }
        const int met = compare(&s, &random, layout, i % 10 == 0);
        assert_true(met > 0 || hostile_count(&s.out) == 0);
        drop(&s);
    }
}

/* Masks of 4 to 13 rows over bands of more and fewer rows than roll down together (window_roll.h): every boundary and extent, masks that stand to one side,
 * colours, other types, NaNs among the elements. The last two are stored past the caches. */
static void rolling_windows(void **state) {
    (void)state;
    uint64_t random = 15;
    for (int i = 0; i < 50; i++) {
        if (i != 48 && hostile_spared(i, 6))
            continue;
        sample s;
        memset(&s, 0, sizeof s);
        const bool large = i >= 48, colours = i % 8 == 5;
        const int64_t mask[2] = {large ? 5 + 4 * (i - 48) : 4 + i % 10, large ? 5 : hostile_between(&random, 2, 9)};
        s.ndim = colours ? 3 : 2;
        s.naxes = 2;
        s.count = 1;
        s.axes[1] = 1;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = 2,
                                             .origin = s.origin,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = large ? TESS_EXTENT_SAME : (tess_extent)(i / 6 % 3),
                                             .constant = i & 1 ? 3 : 0};
        for (int k = 0; k < 2 && s.options.extent == TESS_EXTENT_SAME; k++)
            s.origin[k] = i % 3 ? 0 : hostile_between(&random, -(mask[k] / 2), (mask[k] - 1) / 2);
        s.shape[0] = large ? 1039 : hostile_between(&random, 13, 60);
        s.shape[1] = large ? 2048 : hostile_between(&random, 10, i % 3 ? 700 : 150);
        s.shape[2] = s.out_shape[2] = 3;
        for (int k = 0; k < 2; k++)
            s.out_shape[k] = out_size(s.options.extent, s.shape[k], mask[k]);
        tess_type type = large ? tess_f32 : (const tess_type[]){tess_f32, tess_f64, tess_f32, tess_u8, tess_f32, tess_i16, tess_f16}[i % 7];
        const int layout = i % 9 == 8 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        hostile_make(&s.in, &random, type, s.ndim, s.shape, layout);
        hostile_make(&s.masks[0], &random, type == tess_f64 ? tess_f64 : tess_f32, 2, mask, HOSTILE_COMPACT);
        hostile_make(&s.out, &random, i % 10 == 3 ? tess_f32 : type, s.ndim, s.out_shape, layout);
        hostile_fill(&s.in, &random, i % 5 == 2 ? 2 : 1);
        hostile_fill(&s.masks[0], &random, 1);
        assert_true(compare(&s, &random, layout, i % 6 == 0) > 0);
        drop(&s);
    }
}

/* Long masks of one row, every length: rows of the mask are shared out to passes, and outputs to stretches. */
static void long_lines(void **state) {
    (void)state;
    uint64_t random = 8;
    for (int64_t taps = 10; taps < 280; taps += hostile_between(&random, 1, 9)) {
        if (hostile_spared(taps, 4))
            continue;
        sample s;
        memset(&s, 0, sizeof s);
        tess_type type = taps % 3 ? tess_f32 : tess_f64;
        s.ndim = s.naxes = s.count = 1;
        s.shape[0] = s.out_shape[0] = hostile_between(&random, 300, 3000);
        s.options = (tess_correlate_options){.struct_size = sizeof s.options, .axes = s.axes, .naxes = 1, .boundary = (tess_boundary)(taps % 6)};
        hostile_make(&s.in, &random, type, 1, s.shape, HOSTILE_COMPACT);
        hostile_make(&s.masks[0], &random, type, 1, &taps, HOSTILE_COMPACT);
        hostile_make(&s.out, &random, type, 1, s.out_shape, HOSTILE_COMPACT);
        hostile_fill(&s.in, &random, 1);
        hostile_fill(&s.masks[0], &random, 1);
        assert_true(compare(&s, &random, HOSTILE_COMPACT, false) > 0);
        drop(&s);
    }
}

/* Masks of one row of f32, whose stretches change places four by four (window_fours.h): every length, boundary and extent, masks that stand to one side, any bits;
 * stretches of few and of many steps. The last two are stored past the caches, the very last in the long stretches of a Zen 5. */
static void short_lines(void **state) {
    (void)state;
    uint64_t random = 21;
    for (int64_t i = 0; i < 66; i++) {
        sample s;
        memset(&s, 0, sizeof s);
        const bool large = i >= 64;
        if (i == 65)
            tess_cpu_pretend_zen(5);
        if (hostile_spared(i, 6)) /* the kernels of all lengths are one text */
            continue;
        const int64_t taps = large ? 17 : 4 + i % 32;
        s.ndim = s.naxes = s.count = 1;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options,
                                             .axes = s.axes,
                                             .naxes = 1,
                                             .origin = s.origin,
                                             .boundary = (tess_boundary)(i % 6),
                                             .extent = large ? TESS_EXTENT_SAME : (tess_extent)(i / 3 % 3)};
        if (s.options.extent == TESS_EXTENT_SAME && i % 4)
            s.origin[0] = hostile_between(&random, -(taps / 2), (taps - 1) / 2);
        s.shape[0] = i == 65 ? (8 << 20) + 70000 : large ? (9 << 18) + 5 : hostile_between(&random, 1050, i % 8 ? 6000 : 150000);
        s.out_shape[0] = out_size(s.options.extent, s.shape[0], taps);
        hostile_make(&s.in, &random, tess_f32, 1, s.shape, HOSTILE_COMPACT);
        hostile_make(&s.masks[0], &random, tess_f32, 1, &taps, HOSTILE_COMPACT);
        hostile_make(&s.out, &random, tess_f32, 1, s.out_shape, HOSTILE_COMPACT);
        hostile_fill(&s.in, &random, i % 3 == 1 ? 2 : 1);
        hostile_fill(&s.masks[0], &random, 1);
        assert_true(compare(&s, &random, HOSTILE_COMPACT, i % 7 == 0) > 0);
        drop(&s);
    }
}

/* One axis of a list has a mask of one tap, and it is the axis that slabs are cut along. */
static void one_tap_along_slabs(void **state) {
    (void)state;
    uint64_t random = 9;
    for (int i = 0; i < 6; i++) {
        sample s;
        const int64_t widths[2] = {i & 1 ? 3 : 1, i & 1 ? 1 : 2};
        memset(&s, 0, sizeof s);
        s.ndim = s.naxes = s.count = 2;
        s.axes[1] = 1;
        s.options = (tess_correlate_options){.struct_size = sizeof s.options, .axes = s.axes, .naxes = 2, .extent = (tess_extent)(i / 2)};
        s.shape[0] = 309;
        s.shape[1] = 25;
        hostile_make(&s.in, &random, tess_i64, 2, s.shape, HOSTILE_COMPACT);
        for (int k = 0; k < 2; k++) {
            s.out_shape[k] = out_size(s.options.extent, s.shape[k], widths[k]);
            hostile_make(&s.masks[k], &random, tess_i32, 1, &widths[k], HOSTILE_COMPACT);
            hostile_fill(&s.masks[k], &random, 1);
        }
        hostile_make(&s.out, &random, tess_i64, 2, s.out_shape, HOSTILE_COMPACT);
        hostile_fill(&s.in, &random, 1);
        assert_true(compare(&s, &random, HOSTILE_COMPACT, true) > 0);
        drop(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_then_rows), cmocka_unit_test(equal_lists),         cmocka_unit_test(long_lists),      cmocka_unit_test(volumes),
        cmocka_unit_test(narrow_images),     cmocka_unit_test(windows_of_three),    cmocka_unit_test(rolling_windows), cmocka_unit_test(long_lines),
        cmocka_unit_test(short_lines),       cmocka_unit_test(one_tap_along_slabs),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_padded.c - as test_correlate_rows.c, for short rows, which correlate/padded copies into blocks. */
#include <math.h>

#include "core/base.h"
#include "correlate_samples.h"

/* Some 9000 elements in rows of `columns`, every boundary and extent in turn, axes in any order; masks are the test's. */
static void short_rows_of(sample *s, int number, int ndim, int naxes, int64_t columns, double constant, uint64_t *random) {
    memset(s, 0, sizeof *s);
    s->ndim = ndim;
    s->naxes = naxes;
    s->options = (tess_correlate_options){.struct_size = sizeof s->options,
                                          .axes = s->axes,
                                          .naxes = naxes,
                                          .origin = s->origin,
                                          .boundary = (tess_boundary)(number % 6),
                                          .extent = (tess_extent)(number / 6 % 3),
                                          .constant = constant,
                                          .flip = number / 2 & 1};
    int64_t left = 9000 / columns;
    for (int d = ndim - 1; d >= 0; d--) {
        s->shape[d] = d == ndim - 1 ? columns : d == 0 ? left : hostile_between(random, 1, left < 12 ? left : 12);
        left = d == ndim - 1 || left / s->shape[d] < 1 ? left : left / s->shape[d];
    }
    memcpy(s->out_shape, s->shape, sizeof s->shape);
    for (int d = 0; d < ndim; d++)
        s->axes[d] = d;
    if (number % 3 == 2)
        hostile_shuffle(random, ndim, s->axes);
}

/* Short rows that are copied with their ghost cells into blocks (padded.h): masks over any axes of two to four, along the last one or not; rows from one element to
 * several chunks, many in a block and several blocks of them; every boundary and extent, masks longer than an axis and to one side; reals, complex numbers, and small
 * integers; rows, images and volumes with gaps between them, in the input, in the output, in both. */
static void short_rows(void **state) {
    (void)state;
    static const tess_type types[] = {tess_f32, tess_u8, tess_f64, tess_c64, tess_i16, tess_c128, tess_f16, tess_f32};
    uint64_t random = 19;
    for (int i = 0; i < 144; i++) {
        if (TESS_SANITIZED && i % 3 != i / 6 % 3) /* of each boundary and extent some */
            continue;
        sample s;
        int64_t mask[3];
        const tess_type type = types[i % 8];
        const int64_t columns = i % 5 == 4 ? hostile_between(&random, 1, 7) : hostile_between(&random, 1, i % 4 ? 40 : 150);
        const int ndim = (int)hostile_between(&random, 2, 4);
        short_rows_of(&s, i, ndim, (int)hostile_between(&random, 1, ndim < 3 ? ndim : 3), columns, i & 1 ? 3 : 0, &random);
        s.count = 1;
        for (int k = 0; k < s.naxes; k++) {
            if (i % 3 < 2)
                s.axes[k] = s.ndim - s.naxes + k;
            mask[k] = hostile_between(&random, 1, s.naxes == 1 ? 20 : s.naxes == 2 ? 5 : 3);
            if (s.options.extent == TESS_EXTENT_SAME)
                s.origin[k] = hostile_between(&random, -(mask[k] / 2), (mask[k] - 1) / 2);
            s.out_shape[s.axes[k]] = out_size(s.options.extent, s.shape[s.axes[k]], mask[k]);
        }
        const int gaps = i / 3 % 4;
        hostile_make(&s.in, &random, type, s.ndim, s.shape, gaps & 1 ? HOSTILE_STRIDED : HOSTILE_COMPACT);
        hostile_make(&s.masks[0], &random,
                     type >= tess_c64 && i & 8               ? type
                     : type == tess_f64 || type == tess_c128 ? tess_f64
                     : i % 16 == 9                           ? tess_i8
                                                             : tess_f32,
                     s.naxes, mask, HOSTILE_COMPACT);
        hostile_make(&s.out, &random, i % 7 == 6 && type < tess_c64 ? tess_f32 : type, s.ndim, s.out_shape,
                     gaps & 2 ? HOSTILE_STRIDED : HOSTILE_COMPACT);
        hostile_fill(&s.in, &random, i % 9 == 8 ? 2 : 1);
        hostile_fill(&s.masks[0], &random, 1);
        assert_true(compare(&s, &random, gaps & 2 ? HOSTILE_STRIDED : HOSTILE_COMPACT, i % 12 == 0) > 0);
        drop(&s);
    }
}

/* The same of lists of two and three masks, one pass after the other over a block: columns and then rows, the other way round, axes with others between them; ghost cells
 * that are constants between passes too, also where a pass before has made something else of them (weights that are infinite, sums of constants). */
static void lists(void **state) {
    (void)state;
    static const tess_type types[] = {tess_f32, tess_u8, tess_f64, tess_c64, tess_i16, tess_f16, tess_f32};
    uint64_t random = 23;
    int padded = 0;
    for (int i = 0; i < 144; i++) {
        if (TESS_SANITIZED && i % 3 != i / 6 % 3)
            continue;
        sample s;
        const tess_type type = types[i % 7];
        const int64_t columns = hostile_between(&random, 1, i % 4 ? 40 : 150);
        const int ndim = (int)hostile_between(&random, 2, 4);
        short_rows_of(&s, i, ndim, ndim > 2 && i % 2 ? 3 : 2, columns, i & 8 ? 3 : 0, &random);
        s.count = s.naxes;
        for (int k = 0; k < s.naxes; k++) {
            const int64_t taps = hostile_between(&random, i % 16 == 7 ? 1 : 2, i % 5 ? 5 : 12);
            if (i % 3 < 2)
                s.axes[k] = s.ndim - s.naxes + k;
            if (s.options.extent == TESS_EXTENT_SAME)
                s.origin[k] = hostile_between(&random, -(taps / 2), (taps - 1) / 2);
            s.out_shape[s.axes[k]] = out_size(s.options.extent, s.shape[s.axes[k]], taps);
            hostile_make(&s.masks[k], &random,
                         type == tess_c64 && i & 8                        ? type
                         : type == tess_f64                               ? tess_f64
                         : i & 4 && (type == tess_u8 || type == tess_i16) ? tess_i8
                                                                          : tess_f32,
                         1, &taps, HOSTILE_COMPACT);
            hostile_fill(&s.masks[k], &random, 1);
            if (i % 12 == 1 && tess_type_of(s.masks[k].tensor.dtype) == tess_f32)
                ((float *)s.masks[k].tensor.data)[taps / 2] = INFINITY;
        }
        const int gaps = i / 3 % 4;
        hostile_make(&s.in, &random, type, s.ndim, s.shape, gaps & 1 ? HOSTILE_STRIDED : HOSTILE_COMPACT);
        hostile_make(&s.out, &random, type, s.ndim, s.out_shape, gaps & 2 ? HOSTILE_STRIDED : HOSTILE_COMPACT);
        hostile_fill(&s.in, &random, i % 9 == 8 ? 2 : 1);
        assert_true(compare(&s, &random, gaps & 2 ? HOSTILE_STRIDED : HOSTILE_COMPACT, i % 12 == 0) > 0);
        padded += call(&s, contexts[0][0], &s.out.tensor, "correlate/padded") == TESS_OK;
        drop(&s);
    }
    assert_true(TESS_SANITIZED || padded > 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_rows), cmocka_unit_test(lists)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

/* SPDX-License-Identifier: Apache-2.0
 * lookup_cases.h - random tables, indices and outputs for the tests of lookup, on every engine. */
#ifndef TESS_TESTS_LOOKUP_CASES_H
#define TESS_TESTS_LOOKUP_CASES_H

#include "hostile.h"

static inline void set_integer(hostile_array *index, int64_t i, int64_t v) { memcpy(hostile_element(index, i), &v, (size_t)index->itemsize); }

static inline void set_real(hostile_array *index, int64_t i, double x) {
    char *p = hostile_element(index, i);
    float f = (float)x;
    uint32_t u;
    memcpy(&u, &f, 4);
    uint16_t h = (uint16_t)(u >> 16);
    switch (tess_type_of(index->tensor.dtype)) {
    case tess_f64: memcpy(p, &x, 8); break;
    case tess_f32: memcpy(p, &f, 4); break;
    case tess_bf16: memcpy(p, &h, 2); break;
    default: { /* f16, cut: any nearby number does */
        uint32_t m = u & 0x7fffffff;
        h = m >= 0x7f800000   ? (uint16_t)(0x7c00 | (m > 0x7f800000 ? 0x200 : 0))
            : m < 0x38800000  ? 0
            : m >= 0x47800000 ? 0x7bff
                              : (uint16_t)((m - 0x38000000) >> 13);
        h = (uint16_t)(h | (u >> 16 & 0x8000));
        memcpy(p, &h, 2);
        break;
    }
    }
}

/* Shapes: table of up to 3 axes, index of up to 3, sizes that make `most` elements at most. */
static inline void make_case(uint64_t *random, hostile_array *table, hostile_array *index, hostile_array *out, int *axis, tess_type table_type,
                             tess_type index_type, tess_type out_type, int64_t n, int64_t most, int kind) {
    int64_t table_shape[3], index_shape[3], out_shape[6];
    int table_ndim = (int)hostile_between(random, 1, 3), index_ndim = (int)hostile_between(random, 0, 3), k = 0;
    if (hostile_between(random, 0, 1))
        table_ndim = index_ndim = 1;
    *axis = (int)hostile_between(random, 0, table_ndim - 1);
    for (int d = 0; d < table_ndim; d++)
        table_shape[d] = d == *axis ? n : hostile_between(random, hostile_between(random, 0, 20) ? 1 : 0, 5);
    for (int d = 0; d < index_ndim; d++)
        index_shape[d] = hostile_between(random, hostile_between(random, 0, 20) ? 1 : 0, index_ndim == 1 ? most : index_ndim == 2 ? 30 : 9);
    for (int d = 0; d < *axis; d++)
        out_shape[k++] = table_shape[d];
    for (int d = 0; d < index_ndim; d++)
        out_shape[k++] = index_shape[d];
    for (int d = *axis + 1; d < table_ndim; d++)
        out_shape[k++] = table_shape[d];
    hostile_make(table, random, table_type, table_ndim, table_shape, (int)hostile_between(random, 0, 1));
    hostile_make(index, random, index_type, index_ndim, index_shape, (int)hostile_between(random, 0, 1));
    hostile_make(out, random, out_type, k, out_shape, (int)hostile_between(random, 0, 1));
    hostile_fill(table, random, kind);
}
static inline void free_case(hostile_array *table, hostile_array *index, hostile_array *out) {
    hostile_free(table);
    hostile_free(index);
    hostile_free(out);
}

#endif

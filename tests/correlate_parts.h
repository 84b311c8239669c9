/* SPDX-License-Identifier: Apache-2.0
 * correlate_parts.h - correlations over arrays whose axes lie in any two orders, by a row against the reference: what rows whose launches are other rows' are tested with. */
#ifndef TESS_TESTS_CORRELATE_PARTS_H
#define TESS_TESTS_CORRELATE_PARTS_H

#include "gpu_rows.h"

typedef struct part_case {
    tess_type in, mask, out;
    int ndim;
    int64_t shape[4];
    int masked, axes[3];
    int64_t width[3];
    bool list;
    int order_in[4], order_out[4]; /* axes from coarse to fine in memory */
    int gap;                       /* elements between rows */
    int back;                      /* the output's axis that runs backwards, from 1 on */
} part_case;

static inline void parts_make(hostile_array *a, uint64_t *random, tess_type type, int ndim, const int64_t *shape, const int *order, int gap,
                              int back) {
    int64_t there[4], strides[4];
    for (int d = 0; d < ndim; d++)
        there[d] = shape[order[d]] + (d == ndim - 1 ? gap : 0);
    hostile_make(a, random, type, ndim, there, HOSTILE_COMPACT);
    if (hostile_between(random, 0, 3)) /* else anywhere */
        a->tensor.byte_offset -= a->tensor.byte_offset % 16;
    memcpy(strides, a->strides, sizeof strides);
    for (int d = 0; d < ndim; d++) {
        const bool turns = order[d] == back - 1 && shape[order[d]] > 0;
        a->shape[order[d]] = shape[order[d]];
        a->strides[order[d]] = turns ? -strides[d] : strides[d];
        a->tensor.byte_offset += turns ? (uint64_t)((shape[order[d]] - 1) * strides[d] * a->itemsize) : 0;
    }
}

/* By the row against the reference; whether the row takes it. */
static inline bool parts_compare(tess_context *context, tess_engine engine, const char *row, const part_case *c, tess_boundary boundary,
                                 tess_extent extent, uint64_t *random) {
    bool ran = false;
    hostile_array in, mask[3], expected, out;
    const DLTensor *masks[3];
    int64_t shape[4], origin[3];
    memcpy(shape, c->shape, sizeof shape);
    for (int k = 0; k < c->masked; k++) {
        const int64_t more = c->width[k] - 1;
        shape[c->axes[k]] += extent == TESS_EXTENT_FULL ? more : extent == TESS_EXTENT_VALID ? -tess_min64(more, shape[c->axes[k]]) : 0;
        origin[k] = c->width[k] > 2 ? hostile_between(random, -1, 1) : 0;
    }
    parts_make(&in, random, c->in, c->ndim, c->shape, c->order_in, c->gap, 0);
    hostile_fill(&in, random, c->in == tess_u8 ? 0 : 1);
    for (int k = 0; k < (c->list ? c->masked : 1); k++) {
        hostile_make(&mask[k], random, c->mask, c->list ? 1 : c->masked, c->list ? &c->width[k] : c->width, HOSTILE_COMPACT);
        hostile_fill(&mask[k], random, c->mask == tess_f32 ? 1 : 0);
        masks[k] = &mask[k].tensor;
    }
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .axes = c->axes,
                                      .naxes = c->masked,
                                      .boundary = boundary,
                                      .constant = boundary == TESS_BOUNDARY_CONSTANT ? 1.5 : 0,
                                      .extent = extent,
                                      .origin = extent == TESS_EXTENT_SAME ? origin : NULL};
    const uint64_t begun = *random;
    for (int e = 0; e < 2; e++) {
        *random = begun;
        hostile_array *a = e ? &out : &expected;
        parts_make(a, random, c->out, c->ndim, shape, c->order_out, c->gap, c->back);
        options.call.engine = e ? engine : TESS_ENGINE_CPU;
        options.call.strategy = e ? row : "correlate/reference";
        const tess_status status = c->list ? tess_correlate_separable(context, &in.tensor, masks, c->masked, &a->tensor, &options)
                                           : tess_correlate(context, &in.tensor, masks[0], &a->tensor, &options);
        if (status != TESS_OK && (!e || status != TESS_ERR_STRATEGY))
            fail_msg("%s by %s, %d axes: %s", tess_type_name(c->in), tess_type_name(c->mask), c->ndim, tess_detail());
        ran = e && status == TESS_OK;
        if (e && status == TESS_OK && memcmp(out.block, expected.block, out.block_size))
            fail_msg("%s by %s to %s, %d axes, %d x %d, boundary %d, extent %d: other bits than the reference's", tess_type_name(c->in),
                     tess_type_name(c->mask), tess_type_name(c->out), c->ndim, (int)c->shape[0], (int)c->shape[1], (int)boundary, (int)extent);
    }
    hostile_free(&in);
    for (int k = 0; k < (c->list ? c->masked : 1); k++)
        hostile_free(&mask[k]);
    hostile_free(&expected);
    hostile_free(&out);
    return ran;
}

#define U8 tess_u8, tess_f32, tess_u8
#define I8 tess_i8, tess_f32, tess_i8
#define F16 tess_f16, tess_f32, tess_f16
#define F32 tess_f32, tess_f32, tess_f32

#endif

/* SPDX-License-Identifier: Apache-2.0
 * correlate_lists.h - lists of masks along an axis each by a GPU row, held against the CPU: arrays without gaps at an odd address, poison around them. */
#ifndef TESS_TESTS_CORRELATE_LISTS_H
#define TESS_TESTS_CORRELATE_LISTS_H

#include "gpu_rows.h"

typedef struct list_problem {
    const char *row;
    tess_type in, mask, out;
    int ndim, masks;
    const int64_t *shape, *width, *origin; /* of ndim axes; of the masks: taps, and where extents are the array's own their origins */
    int first;                             /* of the axes of the masks, which follow one another */
    tess_boundary boundary;
    tess_extent extent;
} list_problem;

/* False where the row refuses the problem, with the reason in tess_detail(). */
static inline bool lists_agree(tess_context *context, tess_engine engine, const list_problem *p, uint64_t *random) {
    enum { MOST = 3 };
    hostile_array in, mask[MOST], expected, out;
    const DLTensor *masks[MOST];
    int axes[MOST];
    int64_t shape[TESS_MAX_NDIM];
    memcpy(shape, p->shape, (size_t)p->ndim * sizeof *shape);
    hostile_make(&in, random, p->in, p->ndim, p->shape, HOSTILE_COMPACT);
    hostile_fill(&in, random, 1);
    for (int k = 0; k < p->masks; k++) {
        axes[k] = p->first + k;
        shape[axes[k]] += p->extent == TESS_EXTENT_FULL ? p->width[k] - 1 : p->extent == TESS_EXTENT_VALID ? 1 - p->width[k] : 0;
        hostile_make(&mask[k], random, p->mask, 1, &p->width[k], HOSTILE_COMPACT);
        hostile_fill(&mask[k], random, 0);
        masks[k] = &mask[k].tensor;
    }
    hostile_make(&expected, random, p->out, p->ndim, shape, HOSTILE_COMPACT);
    hostile_make(&out, random, p->out, p->ndim, shape, HOSTILE_COMPACT);
    tess_correlate_options options = {.struct_size = sizeof options,
                                      .boundary = p->boundary,
                                      .constant = p->boundary == TESS_BOUNDARY_CONSTANT ? 3 : 0,
                                      .extent = p->extent,
                                      .origin = p->extent == TESS_EXTENT_SAME ? p->origin : NULL,
                                      .axes = axes,
                                      .naxes = p->masks,
                                      .call = {.engine = TESS_ENGINE_CPU}};
    assert_tess_ok(tess_correlate_separable(context, &in.tensor, masks, p->masks, &expected.tensor, &options));
    options.call = (tess_call){.engine = engine, .strategy = p->row};
    const tess_status status = tess_correlate_separable(context, &in.tensor, masks, p->masks, &out.tensor, &options);
    if ((status != TESS_OK && status != TESS_ERR_STRATEGY) ||
        (status == TESS_OK && (hostile_differs(&out, &expected) >= 0 || !hostile_intact(&out)))) {
        char words[256] = "";
        for (int d = 0; d < p->ndim; d++)
            snprintf(words + strlen(words), sizeof words - strlen(words), "%lld ", (long long)p->shape[d]);
        for (int k = 0; k < p->masks; k++)
            snprintf(words + strlen(words), sizeof words - strlen(words), "%s%lld", k ? " + " : "by ", (long long)p->width[k]);
        fail_msg("%s of %s by %s to %s, %s, boundary %d, extent %d: %s", p->row, tess_type_name(p->in), tess_type_name(p->mask),
                 tess_type_name(p->out), words, (int)p->boundary, (int)p->extent, status == TESS_OK ? "other bits than the CPU's" : tess_detail());
    }
    for (int k = 0; k < p->masks; k++)
        hostile_free(&mask[k]);
    hostile_free(&in);
    hostile_free(&expected);
    hostile_free(&out);
    return status == TESS_OK;
}

#endif

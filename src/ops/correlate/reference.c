/* SPDX-License-Identifier: Apache-2.0
 * reference.c - the definition, one output element after another. Shares nothing with the fast rows: boundaries by walking back into the array, the
 * caller's axes, C throughout. A list of masks goes through whole arrays of C. */
#include <math.h>
#include <string.h>

#include "ops/correlate/fft.h"

/* The element that stands at i, bouncing one leg at a time; -1: the constant. */
static int64_t bounce(tess_boundary boundary, int64_t n, int64_t i) {
    while (i < 0 || i >= n)
        switch (boundary) {
        case TESS_BOUNDARY_NEAREST: i = i < 0 ? 0 : n - 1; break;
        case TESS_BOUNDARY_REFLECT: i = i < 0 ? -1 - i : 2 * n - 1 - i; break;
        case TESS_BOUNDARY_MIRROR: i = n == 1 ? 0 : i < 0 ? -i : 2 * (n - 1) - i; break;
        case TESS_BOUNDARY_WRAP: i = i < 0 ? i + n : i - n; break;
        default: return -1;
        }
    return i;
}

static void multiply_add(tess_type compute, tess_value *acc, const tess_value *a, const void *weight) {
    tess_value b;
    memcpy(&b, weight, tess_type_size(compute));
    switch (compute) {
    case tess_f32: acc->f32 = fmaf(a->f32, b.f32, acc->f32); break;
    case tess_f64: acc->f64 = fma(a->f64, b.f64, acc->f64); break;
    case tess_c64:
        acc->c64[0] = fmaf(a->c64[0], b.c64[0], acc->c64[0]);
        acc->c64[0] = fmaf(-a->c64[1], b.c64[1], acc->c64[0]);
        acc->c64[1] = fmaf(a->c64[0], b.c64[1], acc->c64[1]);
        acc->c64[1] = fmaf(a->c64[1], b.c64[0], acc->c64[1]);
        break;
    case tess_c128:
        acc->c128[0] = fma(a->c128[0], b.c128[0], acc->c128[0]);
        acc->c128[0] = fma(-a->c128[1], b.c128[1], acc->c128[0]);
        acc->c128[1] = fma(a->c128[0], b.c128[1], acc->c128[1]);
        acc->c128[1] = fma(a->c128[1], b.c128[0], acc->c128[1]);
        break;
    default: acc->u64 += a->u64 * b.u64; break; /* i64 too: the bits are the same modulo 2^64 */
    }
}

static void one_output(const tess_correlate_problem *problem, const tess_correlate_mask *mask, const tess_array *in, tess_row_loader load,
                       const int64_t *at, tess_value *acc) {
    int64_t tap[TESS_MAX_NDIM] = {0};
    size_t width = tess_type_size(problem->compute);
    memset(acc, 0, sizeof *acc);
    for (int64_t t = 0; t < mask->taps; t++) {
        int64_t offset = 0;
        bool ghost = false;
        tess_value value = problem->constant;
        for (int d = 0; d < in->ndim; d++) {
            int64_t i = at[d];
            for (int k = 0; k < mask->ndim; k++)
                if (mask->axes[k] == d)
                    i = bounce(problem->boundary, in->shape[d], i - mask->before[k] + tap[k]);
            ghost |= i < 0;
            offset += i * in->stride[d];
        }
        if (!ghost)
            load(&value, in->data + offset, 0, 1);
        multiply_add(problem->compute, acc, &value, (const char *)mask->weights + (size_t)t * width);
        for (int k = mask->ndim - 1; k >= 0 && ++tap[k] == mask->shape[k]; k--)
            tap[k] = 0;
    }
}

static void one_mask(const tess_correlate_problem *problem, const tess_correlate_mask *mask, const tess_array *in, tess_array *out) {
    tess_row_loader load = tess_loader(TESS_SLOT_BASELINE, in->type, problem->compute);
    tess_row_storer store = tess_storer(TESS_SLOT_BASELINE, problem->compute, out->type);
    tess_index index;
    tess_value acc;
    if (out->count == 0)
        return;
    tess_index_start(&index, out->ndim, out->shape, 1, &out->stride, 0);
    do {
        one_output(problem, mask, in, load, index.at, &acc);
        store(out->data + index.offset[0], out->itemsize, &acc, 1);
    } while (tess_index_next(&index));
}

tess_status tess_correlate_reference(const tess_problem *base, const tess_run *run) {
    const tess_correlate_problem *problem = (const tess_correlate_problem *)base;
    if (problem->fft) {
        tess_correlate_fft_reference(problem, run);
        return TESS_OK;
    }
    tess_array in = problem->in;
    in.data = (char *)(uintptr_t)run->in;
    char *buffers[2] = {run->workspace, (char *)run->workspace + problem->between[0]};
    for (int k = 0; k < problem->count; k++) {
        tess_array out = problem->out;
        out.data = run->out;
        if (k < problem->count - 1) {
            const int axis = problem->masks[k].axes[0];
            int64_t shape[TESS_MAX_NDIM];
            memcpy(shape, in.shape, sizeof shape);
            shape[axis] = problem->out.shape[axis];
            out = tess_array_compact(buffers[k & 1], problem->compute, in.ndim, shape);
        }
        one_mask(problem, &problem->masks[k], &in, &out);
        in = out;
    }
    return TESS_OK;
}

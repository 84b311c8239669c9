/* SPDX-License-Identifier: Apache-2.0
 * packed.c - proving that sums of small integers fit 32 bits, and packing their weights. */
#include "ops/correlate/packed.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_TAPS = 1 << 16,
    MOST_OF_LIST = 16,
    LEAST_OF_LIST = 40 /* elements of a row: below, passes over padded blocks are quicker everywhere */,
    MOST_COLOURS = 4 /* taps further apart leave the 16 bytes of v_dot_pick_here */
};

static int64_t weight(const tess_correlate_pass *pass, const int64_t *weights, int64_t line, int64_t j) {
    const int64_t wx = pass->axis[pass->row].width;
    return j < wx ? weights[line * wx + j] : 0;
}

/* The pass with taps in groups of `every` weights of 32 / every bits. */
static void group(tess_correlate_pass *pass, const tess_correlate_pass *direct, const int64_t *weights, int every, int32_t *to) {
    memcpy(pass, direct, offsetof(tess_correlate_pass, axis) + (size_t)direct->ndim * sizeof *direct->axis); /* all 64 axes would be 3 KiB */
    tess_correlate_axis *row = &pass->axis[pass->row];
    const int64_t lines = pass->taps / row->width;
    if (row->width == 1) /* no mask along the row: now there is */
        pass->order[pass->masked++] = pass->row;
    row->width = tess_ceil_div(row->width, every) * every;
    pass->taps = lines * row->width;
    pass->weights = pass->columns = to;
    pass->size = (size_t)(pass->taps / every) * sizeof *to;
    const uint32_t mask = every == 4 ? 0xff : 0xffff;
    const int y = tess_correlate_band_axis(direct);
    const int64_t wy = y >= 0 ? direct->axis[y].width : 1;
    for (int64_t plane = 0; plane < lines; plane += wy)
        for (int64_t j = 0; j < row->width; j += every)
            for (int64_t i = 0; i < wy; i++) {
                uint32_t taps = 0;
                for (int k = 0; k < every; k++)
                    taps |= ((uint32_t)weight(direct, weights, plane + i, j + k) & mask) << k * (32 / every);
                *to++ = (int32_t)taps;
            }
}

/* Whether every weight is one of `bits` signed bits; and whether the products of u8 with the pairs that dot4 makes stay within 16 bits. */
static bool weights_fit(const tess_correlate_pass *pass, const int64_t *weights, int bits) {
    for (int64_t t = 0; t < pass->taps; t++)
        if (weights[t] < -(INT64_C(1) << (bits - 1)) || weights[t] >= INT64_C(1) << (bits - 1))
            return false;
    return true;
}
static bool pairs_fit(const tess_correlate_pass *pass, const int64_t *weights) {
    const int64_t wx = pass->axis[pass->row].width, lines = pass->taps / wx;
    for (int64_t line = 0; line < lines; line++)
        for (int64_t j = 0; j < wx; j += 2) {
            const int64_t a = weight(pass, weights, line, j), b = weight(pass, weights, line, j + 1);
            const int64_t most = tess_max64(a, 0) + tess_max64(b, 0), least = tess_min64(a, 0) + tess_min64(b, 0);
            if (most * 255 > INT16_MAX || least * 255 < INT16_MIN)
                return false;
        }
    return true;
}

static bool constant_fits(const tess_correlate_problem *problem) {
    const tess_type type = problem->in.type;
    const int bits = 8 * problem->in.itemsize - !tess_is_unsigned(type);
    const int64_t top = INT64_C(1) << bits, c = problem->constant.i64; /* of u64 beyond 2^63: negative, or too large all the same */
    return c < top && c >= (tess_is_unsigned(type) ? 0 : -top);
}

static bool may_pack(const tess_correlate_problem *problem, double largest) {
    const tess_type type = problem->in.type;
    return (problem->compute == tess_i64 || problem->compute == tess_u64) &&
           (type == tess_u8 || type == tess_i8 || type == tess_u16 || type == tess_i16) && largest < 0x1p31 && constant_fits(problem);
}

static tess_status pack(tess_correlate_problem *problem, const tess_correlate_pass *direct, const int64_t *weights) {
    const tess_type type = problem->in.type;
    if (!direct->row_last || direct->group > MOST_COLOURS || direct->taps > MOST_TAPS || !weights_fit(direct, weights, 16))
        return TESS_OK;
    tess_correlate_packed *packed = tess_problem_take(&problem->base, sizeof *packed);
    if (!packed)
        return TESS_ERR_MEMORY;
    packed->dot4.weights = NULL;
    packed->size = 0;
    packed->start = 0;
    problem->packed = packed;
    const int64_t wx = direct->axis[direct->row].width, lines = direct->taps / wx;
    const int64_t fours = lines * tess_ceil_div(wx, 4), twos = lines * tess_ceil_div(wx, 2);
    packed->size = (size_t)(fours + twos) * sizeof(int32_t);
    int32_t *block = tess_problem_take(&problem->base, packed->size);
    if (!block)
        return TESS_ERR_MEMORY;
    group(&packed->dot4, direct, weights, 4, block);
    group(&packed->dot2, direct, weights, 2, block + fours);
    const bool fits = tess_correlate_window_sizes(&packed->window[0], &packed->dot4, 1, 64, &packed->too_large) &&
                      tess_correlate_window_sizes(&packed->window[1], &packed->dot2, 2, 64, &packed->too_large);
    packed->too_large = fits ? NULL : packed->too_large;
    packed->bytes = type == tess_u8 && weights_fit(direct, weights, 8);
    packed->pairs_fit = pairs_fit(direct, weights);
    packed->constant[0].u64 = (uint8_t)problem->constant.u64;
    packed->constant[1].u64 = (uint16_t)problem->constant.u64;
    if (type == tess_u16) {
        uint32_t sum = 0;
        for (int64_t t = 0; t < direct->taps; t++)
            sum += (uint32_t)weights[t];
        packed->start = (int32_t)(sum << 15);
        packed->constant[1].u64 ^= 0x8000;
    }
    return TESS_OK;
}

tess_status tess_correlate_pack(tess_correlate_problem *problem, double largest) {
    return problem->direct && may_pack(problem, largest) ? pack(problem, problem->direct, problem->masks[0].weights) : TESS_OK;
}

tess_status tess_correlate_pack_list(tess_correlate_problem *problem, double largest) {
    const tess_correlate_mask *masks = problem->masks;
    if (problem->count != 2 || !may_pack(problem, largest) || masks[0].taps > MOST_OF_LIST || masks[1].taps > MOST_OF_LIST)
        return TESS_OK;
    const int64_t *strides = problem->out.stride;
    /* The finest axis comes last, as in a mask of an image. */
    const bool turned = llabs(strides[masks[0].axes[0]]) < llabs(strides[masks[1].axes[0]]);
    const tess_correlate_mask *of[] = {&masks[turned], &masks[!turned]};
    int64_t weights[MOST_OF_LIST * MOST_OF_LIST];
    tess_correlate_mask product;
    tess_correlate_pass pass;
    product.ndim = 2;
    product.taps = 0;
    for (int k = 0; k < 2; k++) {
        product.axes[k] = of[k]->axes[0];
        product.shape[k] = of[k]->taps;
        product.before[k] = of[k]->before[0];
    }
    for (int64_t i = 0; i < of[0]->taps; i++)
        for (int64_t j = 0; j < of[1]->taps; j++)
            weights[product.taps++] = ((const int64_t *)of[0]->weights)[i] * ((const int64_t *)of[1]->weights)[j];
    tess_correlate_lay(&pass, problem, &product);
    return pass.axis[pass.row].m * pass.group < LEAST_OF_LIST ? TESS_OK : pack(problem, &pass, weights);
}

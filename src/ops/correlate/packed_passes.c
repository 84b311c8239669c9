/* SPDX-License-Identifier: Apache-2.0
 * packed_passes.c - proving that two passes over bytes fit 16 and 32 bits, packing their weights, and the sizes of a thread's scratch. */
#include "ops/correlate/packed_passes.h"

#include "ops/correlate/window_kernels.h"

/* A strip's pairs of rows should stay in a first-level cache beside what passes through; ROW_APART as in fused.c. */
enum {
    RING_BYTES = 40 << 10,
    LEAST_STRIP = 256,
    MOST_STRIP = 2048,
    MOST_COLOURS = 4,
    MOST_TAPS = 1024,
    LEAST_COLUMNS = 128,
    SUMS = 4096,
    ROW_APART = 640
};

static int64_t round_up(int64_t n, int64_t to) { return tess_ceil_div(n, to) * to; }

/* Sums of positive and of negative weights; false: one of them leaves `bits` signed bits. */
static bool weights_of(const tess_correlate_mask *mask, int bits, int64_t *positive, int64_t *negative) {
    const int64_t *weights = mask->weights, top = INT64_C(1) << (bits - 1);
    *positive = *negative = 0;
    for (int64_t t = 0; t < mask->taps; t++) {
        if (weights[t] < -top || weights[t] >= top)
            return false;
        *(weights[t] < 0 ? negative : positive) += weights[t];
    }
    return true;
}

static int32_t group_of(const tess_correlate_mask *mask, int64_t first, int taps) {
    const int64_t *weights = mask->weights;
    const uint32_t ones = taps == 4 ? 0xff : 0xffff;
    uint32_t group = 0;
    for (int k = 0; k < taps; k++)
        if (first + k >= 0 && first + k < mask->taps)
            group |= ((uint32_t)weights[first + k] & ones) << k * (32 / taps);
    return (int32_t)group;
}

static bool pairs_fit(const tess_correlate_mask *mask) {
    const int64_t *w = mask->weights;
    for (int64_t j = 0; j < mask->taps; j += 2) {
        const int64_t a = w[j], b = j + 1 < mask->taps ? w[j + 1] : 0;
        if ((tess_max64(a, 0) + tess_max64(b, 0)) * 255 > INT16_MAX || (tess_min64(a, 0) + tess_min64(b, 0)) * 255 < INT16_MIN)
            return false;
    }
    return true;
}

/* A pass over the two axes of an image; a column over a narrow one takes its rows for pixels. */
static bool over_image(const tess_correlate_pass *pass) {
    return pass->slab == 0 && (pass->ndim == 2 ? pass->row == 1 : pass->ndim == 1 && pass->group > 1);
}

/* The two axes of the problem, if it is a row and a column over a compact image. */
static bool find_image(tess_correlate_packed_passes *p, const tess_correlate_problem *problem) {
    const tess_correlate_pass *first = &problem->passes[0], *last = &problem->passes[1];
    if (problem->passes_count != 2 || !over_image(first) || !over_image(last))
        return false;
    const bool row_first = first->axis[0].width == 1;
    const tess_correlate_pass *row = row_first ? first : last, *column = row_first ? last : first;
    if (row->ndim != 2 || row->axis[0].width != 1 || row->axis[1].width < 2 || column->axis[0].width < 2)
        return false;
    *p = (tess_correlate_packed_passes){.row = row, .across = row->axis[1], .down = column->axis[0], .group = row->group};
    p->down.in_stride = first->axis[0].in_stride;
    p->down.out_stride = last->axis[0].out_stride;
    return (first->group > 1 || first->axis[1].in_stride == problem->in.itemsize) &&
           (last->group > 1 || last->axis[1].out_stride == problem->out.itemsize) && p->across.n > 0 && p->down.n > 0 &&
           p->down.m >= TESS_PACKED_PASSES_ROWS && p->across.m * p->group >= LEAST_COLUMNS && p->group <= MOST_COLOURS &&
           p->across.width <= MOST_TAPS && p->down.width <= MOST_TAPS;
}

/* Whether the row mask's sums fit 16 bits, and what they begin from. */
static bool choose_starts(tess_correlate_packed_passes *p, const tess_correlate_problem *problem, const tess_correlate_mask *row,
                          const tess_correlate_mask *column) {
    const int64_t low = problem->in.type == tess_u8 ? 0 : -128, high = low + 255;
    int64_t positive, negative, down_positive, down_negative;
    if (!weights_of(row, 16, &positive, &negative) || !weights_of(column, 16, &down_positive, &down_negative))
        return false;
    const int64_t most = positive * high + negative * low, least = positive * low + negative * high;
    if (most - least > UINT16_MAX)
        return false;
    const int64_t start = most <= INT16_MAX && least >= INT16_MIN ? 0 : INT16_MIN - least;
    p->start[0] = (int32_t)start;
    p->start[1] = (int32_t)(uint32_t)(uint64_t) - (start * (down_positive + down_negative));
    p->bytes = problem->in.type == tess_u8 && weights_of(row, 8, &positive, &negative);
    p->pairs_fit = pairs_fit(row);
    return true;
}

static void choose_sizes(tess_correlate_packed_passes *p) {
    p->ring = p->pairs + TESS_PACKED_PASSES_ROWS / 2 - 1;
    p->reach = (p->fours * 4 - 1) * p->group + TESS_PACKED_PASSES_BLOCK; /* with what a load reads beyond it */
    p->strip = RING_BYTES / (p->ring * 4) / TESS_PACKED_PASSES_BLOCK * TESS_PACKED_PASSES_BLOCK;
    p->strip = tess_min64(tess_max64(p->strip, LEAST_STRIP), MOST_STRIP);
    p->pair_bytes = p->strip * 4 + ROW_APART;
    p->table_bytes = round_up(p->ring * (int64_t)sizeof(char *), 64);
    p->copy_bytes = round_up((p->strip + p->reach) * 2, 64);
    p->scratch = (size_t)(p->table_bytes + p->ring * p->pair_bytes + 2 * p->copy_bytes + SUMS);
}

tess_status tess_correlate_pack_passes(tess_correlate_problem *problem, const tess_correlate_mask *masks, double largest) {
    const tess_type type = problem->in.type;
    tess_correlate_packed_passes found;
    if ((type != tess_u8 && type != tess_i8) || tess_window_put_of(problem->out.type) == TESS_WINDOW_PUT_WORK || largest >= 0x1p31 ||
        !find_image(&found, problem))
        return TESS_OK;
    const tess_correlate_mask *row = &masks[found.row == problem->passes ? 0 : 1], *column = &masks[found.row == problem->passes ? 1 : 0];
    if (!choose_starts(&found, problem, row, column))
        return TESS_OK;
    found.fours = tess_ceil_div(row->taps, 4);
    found.twos = tess_ceil_div(row->taps, 2);
    found.pairs = column->taps / 2 + 1;
    choose_sizes(&found);
    problem->packed_passes = tess_problem_take(&problem->base, sizeof found);
    if (!problem->packed_passes)
        return TESS_ERR_MEMORY;
    const int64_t count = found.fours + found.twos + 2 * found.pairs;
    found.weights = tess_problem_take(&problem->base, (size_t)count * sizeof *found.weights);
    *problem->packed_passes = found;
    if (!found.weights)
        return TESS_ERR_MEMORY;
    int32_t *to = found.weights;
    for (int64_t j = 0; j < found.fours; j++)
        *to++ = group_of(row, 4 * j, 4);
    for (int64_t j = 0; j < found.twos; j++)
        *to++ = group_of(row, 2 * j, 2);
    for (int64_t i = 0; i < found.pairs; i++) {
        *to++ = group_of(column, 2 * i, 2);
        *to++ = group_of(column, 2 * i - 1, 2);
    }
    return TESS_OK;
}

void tess_correlate_packed_passes_free(tess_correlate_problem *problem) {
    tess_correlate_packed_passes *p = problem->packed_passes;
    if (p)
        tess_problem_drop(&problem->base, p->weights, (size_t)(p->fours + p->twos + 2 * p->pairs) * sizeof *p->weights);
    tess_problem_drop(&problem->base, p, sizeof *p);
}

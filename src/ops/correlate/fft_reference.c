/* SPDX-License-Identifier: Apache-2.0
 * fft_reference.c - what correlate/fft computes, one pair of tiles after another and one number after another, straight from docs/numerics.md. It
 * shares the choice of tiles and the tables with the fast row, and none of its code. */
#include <math.h>
#include <string.h>

#include "ops/correlate/fft.h"

#define fft_name(word) TESS_PASTE(f32, word)
#define real float
#define fused fmaf
#include "ops/correlate/fft_plain.h"

#define fft_name(word) TESS_PASTE(f64, word)
#define real double
#define fused fma
#include "ops/correlate/fft_plain.h"

size_t tess_correlate_fft_reference_scratch(const tess_correlate_fft *fft) { return (size_t)(fft->a * fft->b) * 4 * sizeof(double); }

/* The input that stands at an index of the array, moved by a piece's first taps; the boundary applied axis by axis. */
static void element(const tess_correlate_problem *problem, const tess_run *run, const int64_t *at, tess_value *value) {
    const tess_array *in = &problem->in;
    const char *from = tess_correlate_input(problem, run);
    for (int d = 0; d < in->ndim; d++) {
        const int64_t i = tess_boundary_index(problem->boundary, in->shape[d], at[d]);
        if (i < 0) {
            *value = problem->constant;
            return;
        }
        from += i * in->stride[d];
    }
    tess_loader(TESS_SLOT_BASELINE, in->type, problem->compute)(value, from, 0, 1);
}

/* Index of the first output of a tile, and how many it has; false: there is no such tile. */
static bool tile_at(const tess_correlate_problem *problem, int64_t number, int64_t *at, int64_t *rows, int64_t *columns) {
    const tess_correlate_fft *fft = problem->fft;
    const int64_t *shape = problem->out.shape;
    if (number >= fft->tiles)
        return false;
    int64_t outer = number % fft->outer, place = number / fft->outer;
    for (int d = problem->out.ndim - 1; d >= 0; d--)
        if (d != fft->x && d != fft->y) {
            at[d] = outer % shape[d];
            outer /= shape[d];
        }
    at[fft->x] = place % fft->tiles_x * fft->outputs_x;
    *columns = tess_min64(fft->outputs_x, shape[fft->x] - at[fft->x]);
    *rows = 1;
    if (fft->plane) {
        at[fft->y] = place / fft->tiles_x * fft->outputs_y;
        *rows = tess_min64(fft->outputs_y, shape[fft->y] - at[fft->y]);
    }
    return true;
}

/* One part, real or imaginary, of the numbers that a pair of tiles meets. */
static void read_tile(const tess_correlate_problem *problem, const tess_run *run, int64_t number, int64_t piece, void *z, int part) {
    const tess_correlate_fft *fft = problem->fft;
    const tess_correlate_mask *mask = &problem->masks[0];
    const int64_t line = fft->plane ? fft->b : fft->a * fft->b, points = fft->a * fft->b;
    int64_t at[TESS_MAX_NDIM], first[TESS_MAX_NDIM], rows, columns;
    const bool there = tile_at(problem, number, at, &rows, &columns);
    tess_correlate_fft_piece(fft, mask, piece, first);
    for (int k = 0; k < mask->ndim && there; k++) {
        const int64_t taps = tess_min64(fft->piece_step[k], mask->shape[k] - first[k]);
        at[mask->axes[k]] += first[k] - mask->before[k];
        rows += k == fft->mask_y ? taps - 1 : 0;
        columns += k == fft->mask_x ? taps - 1 : 0;
    }
    for (int64_t i = 0; i < points; i++) {
        tess_value value = {0};
        if (there && i / line < rows && i % line < columns) {
            int64_t here[TESS_MAX_NDIM];
            memcpy(here, at, sizeof here);
            here[fft->x] += i % line;
            if (fft->plane)
                here[fft->y] += i / line;
            element(problem, run, here, &value);
        }
        if (problem->compute == tess_f32)
            ((float *)z)[2 * i + part] = value.f32;
        else
            ((double *)z)[2 * i + part] = value.f64;
    }
}

static void write_tile(const tess_correlate_problem *problem, const tess_run *run, int64_t number, const void *z, int part) {
    const tess_correlate_fft *fft = problem->fft;
    const tess_array *out = &problem->out;
    const size_t width = tess_type_size(problem->compute);
    const tess_row_storer store = tess_storer(TESS_SLOT_BASELINE, problem->compute, out->type);
    int64_t at[TESS_MAX_NDIM], rows, columns;
    if (!tile_at(problem, number, at, &rows, &columns))
        return;
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < columns; x++) {
            char *to = run->out;
            for (int d = 0; d < out->ndim; d++)
                to += (at[d] + (d == fft->x ? x : d == fft->y ? y : 0)) * out->stride[d];
            store(to, 0, (const char *)z + (size_t)(2 * (y * fft->b + x) + part) * width, 1);
        }
}

void tess_correlate_fft_reference(const tess_correlate_problem *problem, const tess_run *run) {
    const tess_correlate_fft *fft = problem->fft;
    const int64_t points = fft->a * fft->b;
    void *z = run->workspace, *sum = (double *)run->workspace + 2 * points;
    const bool f32 = problem->compute == tess_f32;
    for (int64_t t = 0; t < fft->tiles && problem->out.count > 0; t += 2) {
        for (int64_t p = 0; p < fft->pieces; p++) {
            read_tile(problem, run, t, p, z, 0);
            read_tile(problem, run, t + 1, p, z, 1);
            f32 ? f32_forward(fft, z) : f64_forward(fft, z);
            f32 ? f32_product(fft, sum, z, p) : f64_product(fft, sum, z, p);
        }
        f32 ? f32_backward(fft, sum) : f64_backward(fft, sum);
        write_tile(problem, run, t, sum, 0);
        write_tile(problem, run, t + 1, sum, 1);
    }
}

/* SPDX-License-Identifier: Apache-2.0
 * fft.c - choosing the tiles of a correlation by Fourier transforms. The choice decides about bits, so it reads sizes and the compute type, never the
 * machine, and its arithmetic is exact or rounds alike everywhere. */
#include "ops/correlate/fft.h"

#include <math.h>

/* Costs in multiply-adds of the direct sum, fitted to measurements (notes-cpu.md). For a pair of tiles: at each point of the grid, of each level to base
 * 2 (more for each doubling beyond 2^13 points, which leave the second-level cache; other costs where a pair is transformed by itself: more for each
 * doubling beyond 2^18, which leave the third, and for the roots of lines) and of moving it between the array and the lanes; of each row of the
 * grid. Of each output, in one dimension and in two. Of each number of the tables, once (less of one piece in the second-level cache). Of a pass of a list. In f64 transforms are dearer by less than
 * multiply-adds are. */
static const double LEVEL_COST = 2.8, FAR_COST = 0.75, MOVE_COST = 20, ROW_COST = 330, OUTPUT_COST = 17, PLANE_COST = 26, TABLE_COST = 4000,
                    PASS_COST = 8, F64 = 0.9, SINGLE_LEVEL_COST = 4, SINGLE_FAR_COST = 1.2, SINGLE_ROOTS_COST = 1.5, NEAR_TABLE_COST = 1500;
enum {
    NEAR_LEVELS = 13,
    SINGLE_NEAR_LEVELS = 18,
    WIDEST_AXES = 3,
    SHORTER_AXES = 256,
    LONGEST_AXIS = 1024,
    MOST_POINTS = LONGEST_AXIS * LONGEST_AXIS
};

/* ---- levels ---- */

static void split(tess_fft_levels *levels, int64_t n) {
    levels->count = 0;
    for (int64_t rest = n; rest > 1;) {
        const int radix = rest == 4 || rest == 16 ? 4 : 8;
        rest /= radix;
        levels->radix[levels->count] = radix;
        levels->m[levels->count++] = rest;
    }
}

static int levels_of(int64_t n) { /* base 2 */
    int l = 0;
    for (; n > 1; n /= 2)
        l++;
    return l;
}

/* ---- one candidate ---- */

typedef struct candidate {
    int kx, ky; /* axes of the mask; ky -1: one dimension */
    int64_t a, b, taps_x, taps_y;
} candidate;

/* Whole lines of the output where they cost little, and along a line an odd number of 16s, so that the tiles of a batch lie in different sets of a
 * first-level cache (4096 bytes apart they would share one). */
static int64_t tile_outputs(int64_t points, int64_t taps, int64_t wanted, bool plane) {
    const int64_t outputs = points - taps + 1, whole = plane ? outputs / 16 * 16 : (outputs / 16 - 1) / 2 * 32 + 16;
    return tess_min64(outputs >= 32 && outputs - whole <= outputs / 8 ? whole : outputs, tess_max64(wanted, 1));
}

static void set(tess_correlate_fft *fft, const tess_correlate_problem *problem, const candidate *c) {
    const tess_correlate_mask *mask = &problem->masks[0];
    *fft = (tess_correlate_fft){.plane = c->ky >= 0,
                                .x = mask->axes[c->kx],
                                .y = c->ky >= 0 ? mask->axes[c->ky] : -1,
                                .mask_x = c->kx,
                                .mask_y = c->ky,
                                .a = c->a,
                                .b = c->b};
    fft->row_points = c->b + 1; /* columns in other cache sets than their neighbours */
    fft->taps_x = c->taps_x;
    fft->taps_y = c->taps_y;
    fft->pieces = 1;
    for (int k = 0; k < mask->ndim; k++) {
        fft->piece_step[k] = k == c->kx ? c->taps_x : k == c->ky ? c->taps_y : 1;
        fft->piece_count[k] = tess_ceil_div(mask->shape[k], fft->piece_step[k]);
        fft->pieces *= fft->piece_count[k];
    }
    const tess_array *out = &problem->out;
    fft->outputs_x = tile_outputs(fft->plane ? c->b : c->a * c->b, c->taps_x, out->shape[fft->x], fft->plane);
    fft->tiles_x = tess_max64(tess_ceil_div(out->shape[fft->x], fft->outputs_x), 1);
    fft->outputs_y = fft->tiles_y = 1;
    if (fft->plane) {
        fft->outputs_y = tess_min64(c->a - c->taps_y + 1, tess_max64(out->shape[fft->y], 1));
        fft->tiles_y = tess_max64(tess_ceil_div(out->shape[fft->y], fft->outputs_y), 1);
    }
    fft->outer = 1;
    for (int d = 0; d < out->ndim; d++)
        if (d != fft->x && d != fft->y && out->count > 0) {
            fft->outer_axis[fft->outer_ndim] = d;
            fft->outer_mask[fft->outer_ndim] = -1;
            for (int k = 0; k < mask->ndim; k++)
                if (mask->axes[k] == d)
                    fft->outer_mask[fft->outer_ndim] = k;
            fft->outer_shape[fft->outer_ndim++] = out->shape[d];
            fft->outer *= out->shape[d];
        }
    fft->tiles = fft->outer * fft->tiles_x * fft->tiles_y;

    const double points = (double)(c->a * c->b), pieces = (double)fft->pieces, passes = pieces + 1;
    const int levels = levels_of(c->a * c->b);
    int64_t together = TESS_FFT_LINE / (int64_t)tess_type_size(problem->compute); /* pairs of tiles */
    const bool near = fft->pieces == 1 && levels <= NEAR_LEVELS;
    double level;
    if (tess_correlate_fft_single(fft)) {
        together = 1;
        level = SINGLE_LEVEL_COST + (fft->plane ? 0 : SINGLE_ROOTS_COST) + SINGLE_FAR_COST * (double)tess_max64(levels - SINGLE_NEAR_LEVELS, 0);
    } else {
        level = LEVEL_COST + FAR_COST * (double)tess_max64(levels + (fft->pieces > 1) - NEAR_LEVELS, 0);
    }
    const double pairs = (double)(tess_ceil_div(fft->tiles, 2 * together) * together);
    fft->cost = pairs * passes * (points * (level * levels + MOVE_COST) + ROW_COST * (double)c->a);
    fft->cost += points * pieces * (near ? NEAR_TABLE_COST : TABLE_COST);
    fft->cost = (fft->cost + (fft->plane ? PLANE_COST : OUTPUT_COST) * (double)out->count) * (problem->compute == tess_f64 ? F64 : 1);
}

/* ---- all of them ---- */

/* A piece's taps for a transform of so many points: the mask in equal parts of at most a share of them. */
static int64_t piece_taps(int64_t width, int64_t points, int eighths) {
    const int64_t most = points * eighths / 8;
    return tess_ceil_div(width, tess_ceil_div(width, most));
}

static void consider(tess_correlate_fft *best, const tess_correlate_problem *problem, const candidate *c) {
    tess_correlate_fft fft;
    set(&fft, problem, c);
    if (!(best->cost > 0) || fft.cost < best->cost)
        *best = fft;
}

static void consider_line(tess_correlate_fft *best, const tess_correlate_problem *problem, int kx) {
    for (int64_t points = 256; points <= MOST_POINTS; points *= 2)
        for (int eighths = 2; eighths <= 6; eighths += 2) {
            const int64_t a = points > 524288   ? 1024
                              : points > 131072 ? 512
                              : points > 32768  ? 256
                              : points > 16384  ? 128
                              : points >= 4096  ? 64
                                                : tess_max64(points / 64, 8);
            candidate c = {kx, -1, a, points / a, piece_taps(problem->masks[0].shape[kx], points, eighths), 1};
            consider(best, problem, &c);
        }
}

static void consider_plane(tess_correlate_fft *best, const tess_correlate_problem *problem, int ky, int kx) {
    const int64_t *shape = problem->masks[0].shape;
    for (int64_t a = 8; a <= LONGEST_AXIS; a *= 2)
        for (int64_t b = 16; b <= LONGEST_AXIS; b *= 2)
            for (int both = 0; both < 9 && a * b <= MOST_POINTS && (tess_max64(a, b) <= SHORTER_AXES || a * b > SHORTER_AXES * SHORTER_AXES);
                 both++) {
                candidate c = {kx, ky, a, b, piece_taps(shape[kx], b, 2 + both % 3 * 2), piece_taps(shape[ky], a, 2 + both / 3 * 2)};
                consider(best, problem, &c);
            }
}

void tess_correlate_fft_choose(tess_correlate_fft *fft, const tess_correlate_problem *problem) {
    const tess_correlate_mask *mask = &problem->masks[0];
    int wide[WIDEST_AXES], count = 0;
    fft->cost = 0;
    for (int k = mask->ndim - 1; k >= 0 && count < WIDEST_AXES; k--)
        if (mask->shape[k] > 1)
            wide[count++] = k;
    for (int i = 0; i < count; i++) {
        consider_line(fft, problem, wide[i]);
        for (int j = i + 1; j < count; j++)
            consider_plane(fft, problem, wide[j], wide[i]);
    }
    split(&fft->column, fft->a);
    split(&fft->row, fft->b);
}

/* What no choice costs less than: an output of the smallest tiles (7 levels, two transforms of as many outputs as points), and what it costs by itself. Looking at all
 * of them takes as long as some ten thousand outputs. */
double tess_correlate_fft_least_cost(const tess_correlate_problem *problem) {
    return (LEVEL_COST * 7 + MOVE_COST + OUTPUT_COST) * (problem->compute == tess_f64 ? F64 : 1) * (double)problem->out.count;
}

double tess_correlate_direct_cost(const tess_correlate_problem *problem, const tess_correlate_mask *factors, int count) {
    double taps = 0;
    for (int k = 0; k < count; k++)
        taps += (double)factors[k].taps + PASS_COST;
    return (double)problem->out.count * (count > 0 ? taps : (double)problem->masks[0].taps);
}

void tess_correlate_fft_piece(const tess_correlate_fft *fft, const tess_correlate_mask *mask, int64_t p, int64_t *first) {
    for (int k = mask->ndim - 1; k >= 0; k--) {
        first[k] = p % fft->piece_count[k] * fft->piece_step[k];
        p /= fft->piece_count[k];
    }
}

size_t tess_correlate_fft_scratch(const tess_correlate_fft *fft) {
    if (tess_correlate_fft_single(fft)) { /* a grid, sums of pieces, a bundle of rows or columns, addresses of rows; of f64 */
        const size_t points = (size_t)(fft->a * fft->b) * 16;
        return points * (fft->pieces > 1 ? 2 : 1) + (size_t)fft->a * (TESS_FFT_BLOCK * 16 + 2 * sizeof(char *)) +
               (size_t)tess_max64((fft->a + TESS_FFT_STRIP_GAP) * TESS_FFT_STRIP, fft->b) * 2 * TESS_FFT_LINE;
    }
    const size_t line = 2 * TESS_FFT_LINE, grid = (size_t)(fft->a * fft->row_points) * line;
    return grid * (fft->pieces > 1 ? 2 : 1) + (size_t)(fft->a + fft->b) * line + TESS_FFT_TILES * TESS_FFT_LINE + (size_t)fft->b * 16;
}

double tess_correlate_fft_flops(const tess_correlate_fft *fft) {
    const double points = (double)(fft->a * fft->b), pairs = (double)tess_ceil_div(fft->tiles, 2);
    return pairs * points * (5.0 * levels_of(fft->a * fft->b) * (double)(fft->pieces + 1) + 8.0 * (double)fft->pieces);
}

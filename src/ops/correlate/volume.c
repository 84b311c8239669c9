/* SPDX-License-Identifier: Apache-2.0
 * volume.c - the sizes of a walk through a volume. They do not depend on the instruction set, so that one plan serves all. */
#include "ops/correlate/volume.h"

enum { RING_BYTES = 384 << 10, LONGEST_ROW = 640, BAND = 48, LEAST_BAND = 12 };

static int64_t round_up(int64_t n, int64_t to) { return tess_ceil_div(n, to) * to; }

bool tess_correlate_volume_of(tess_correlate_volume *v, const tess_correlate_problem *problem, const tess_correlate_pass *pass) {
    const int64_t width = (int64_t)tess_type_size(problem->work);
    const int beside_row = pass->masked - (pass->axis[pass->row].width > 1);
    const char *why;
    if (beside_row < 2) /* no volume; the window's sizes would say so too, in 20 ns */
        return false;
    if (!tess_correlate_window_of(&v->window, problem, pass, &why) || v->window.z < 0)
        return false;
    const tess_correlate_axis *row = &pass->axis[pass->row], *y = &pass->axis[v->window.y];
    const int64_t length = row->m * pass->group, reach = (row->width - 1) * pass->group;
    if (length > LONGEST_ROW || reach > LONGEST_ROW || y->m < TESS_WINDOW_SUMS || !pass->last)
        return false;
    v->left = round_up(tess_max64(row->before, 0) * pass->group * width, 64);
    v->row_bytes = round_up(v->left + (round_up(length, v->window.tile) + reach) * width, 64) | 64; /* an odd number of lines */
    v->layers = v->window.planes;
    v->band = tess_min64(tess_min64(RING_BYTES / (v->layers * v->row_bytes) - v->window.wy + 1, BAND), y->m);
    if (v->band < tess_min64(LEAST_BAND, y->m))
        return false;
    if (v->band < y->m) /* whole tiles, whatever the instruction set */
        v->band -= v->band % TESS_WINDOW_SUMS;
    v->met = v->band + v->window.wy - 1;
    v->lines = v->met + TESS_WINDOW_SUMS;
    v->table_bytes = round_up(v->layers * v->lines * (int64_t)sizeof(char *), 64);
    v->ahead_bytes = round_up(v->lines * (int64_t)sizeof(char *), 64);
    v->sums = v->table_bytes + v->ahead_bytes + v->layers * v->met * v->row_bytes;
    v->scratch = (size_t)(v->sums + TESS_WINDOW_SUMS * TESS_WINDOW_TILE_BYTES);
    return true;
}

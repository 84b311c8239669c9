/* SPDX-License-Identifier: Apache-2.0
 * window.c - the sizes of correlate/window. They do not depend on the instruction set, so that one plan serves all. */
#include "ops/correlate/window.h"

#include <string.h>

#include "core/maker.h"

enum {
    GATHER_BYTES = 384 << 10,
    SCRATCH_LIMIT = 2 << 20,
    LONGEST_STRIP = 2048,
    IN_PLACE_COLUMNS = 2048,
    STRIP_BYTES = 512 << 10,
    IN_PLACE_LINE = 32768,
    ROW_SETS = 1024,
    ROW_PAD = 64
};
/* Of large arrays on a Zen 5, under masks that window_fours.h may take and that memory binds: four stretches of its longest (window_rings.h), 129 KiB each; notes-cpu.md. */
enum { IN_PLACE_FOURS = 4 * (32 * 64 + 16) * 16, FEWEST_FOURS = 9, MOST_FOURS = 25, LARGE = 8 << 20 /* outputs */ };

/* To multiples of a power of two, as tiles are: small calls ask for these sizes several times, and a division takes 3 ns; so does the one of a mask of one plane. */
static int64_t round_down(int64_t n, int64_t to) { return n & -to; }
static int64_t round_up(int64_t n, int64_t to) { return round_down(n + to - 1, to); }
static int64_t quotient(int64_t n, int64_t by) { return n == by ? 1 : n / by; }

/* The axis whose neighbouring outputs share most input rows: the mask's last but the row. Else any axis, so that short rows come in bands too. */
int tess_correlate_band_axis(const tess_correlate_pass *pass) {
    int masked = pass->masked - (pass->axis[pass->row].width > 1);
    if (masked > 0)
        return pass->order[masked - 1];
    return pass->row > 0 ? pass->row - 1 : pass->ndim - 1 > pass->row ? pass->ndim - 1 : -1;
}

/* The one further axis of the mask, if it is one: its outputs share input planes. */
static int find_z(const tess_correlate_pass *pass, int y) {
    int z = -1;
    for (int k = 0; k < pass->masked; k++)
        if (pass->order[k] != pass->row && pass->order[k] != y) {
            if (z >= 0)
                return -1;
            z = pass->order[k];
        }
    return z;
}

bool tess_correlate_window_of(tess_correlate_window *w, const tess_correlate_problem *problem, const tess_correlate_pass *pass, const char **why) {
    const int64_t width = (int64_t)tess_type_size(problem->work);
    *why = "works in f32 and f64, and in integers that those hold exactly";
    if (problem->work != tess_f32 && problem->work != tess_f64)
        return false;
    return tess_correlate_window_sizes(w, pass, width, TESS_WINDOW_TILE_BYTES / width, why);
}

bool tess_correlate_window_raw(tess_correlate_window *w, uint64_t *constant, const tess_correlate_problem *problem, const tess_correlate_pass *pass,
                               tess_isa_slot slot) {
    const char *why;
    const int64_t width = (int64_t)tess_type_size(pass->from);
    const bool narrow = pass->from == tess_u8 || pass->from == tess_i8 || pass->from == tess_u16 || pass->from == tess_i16 || pass->from == tess_f16;
    float back = 0;
    if (problem->work != tess_f32 || !narrow || !tess_correlate_window_sizes(w, pass, width, 64, &why) || w->planes != 1 || w->wy > 7)
        return false;
    *constant = 0;
    tess_storer(slot, tess_f32, pass->from)(constant, width, &problem->work_constant, 1);
    tess_loader(slot, pass->from, tess_f32)(&back, constant, width, 1);
    return memcmp(&back, &problem->work_constant, sizeof back) == 0;
}

size_t tess_correlate_window_scratch(const tess_correlate_problem *problem, const tess_correlate_pass *pass) {
    tess_correlate_window window, raw;
    uint64_t constant;
    const char *why;
    if (!tess_correlate_window_of(&window, problem, pass, &why))
        return 0;
    const bool either = tess_correlate_window_raw(&raw, &constant, problem, pass, TESS_SLOT_BASELINE);
    return either && raw.scratch > window.scratch ? raw.scratch : window.scratch;
}

bool tess_correlate_window_sizes(tess_correlate_window *w, const tess_correlate_pass *pass, int64_t width, int64_t tile, const char **why) {
    *why = "needs the taps along a row to follow each other in the mask";
    if (!pass->row_last)
        return false;
    *why = "the rows that such a mask meets do not fit a thread's scratch";
    w->y = tess_correlate_band_axis(pass);
    w->wx = pass->axis[pass->row].width;
    w->wy = w->y >= 0 ? pass->axis[w->y].width : 1;
    if (w->wx >= SCRATCH_LIMIT || pass->taps >= SCRATCH_LIMIT * w->wx)
        return false;
    w->planes = quotient(pass->taps, w->wx * w->wy);
    int64_t reach = (w->wx - 1) * pass->group;
    w->band = w->y >= 0 ? TESS_WINDOW_BAND : 1;
    w->lines = 2 * w->band + w->wy - 1 + TESS_WINDOW_SUMS;
    w->z = find_z(pass, w->y);
    w->depth = w->z >= 0 ? TESS_WINDOW_DEPTH : 1;
    w->layers = w->depth + w->planes - 1;
    w->tile = tile;
    const int64_t met = w->band + w->wy - 1;
    const int64_t length = pass->axis[pass->row].m * pass->group;
    w->strip = round_up(tess_min64(length, LONGEST_STRIP), w->tile); /* small arrays need little scratch: no allocator is asked for it */
    if ((w->strip + reach) * w->layers * met * width > GATHER_BYTES)
        w->strip = tess_min64(w->strip, tess_max64(round_down(GATHER_BYTES / (w->layers * met * width) - reach, w->tile), w->tile));
    /* Rows of a tile and those below it that are asked for: a strip of them stays in the second-level cache. Memory gives whole rows fastest. */
    const bool fours = tess_cpu_is_zen5() && width == 4 && w->wx >= FEWEST_FOURS && w->wx <= MOST_FOURS && pass->outputs >= LARGE;
    w->in_place = w->wy * w->planes == 1 ? (fours ? IN_PLACE_FOURS : IN_PLACE_LINE) : IN_PLACE_COLUMNS;
    if (w->wy > 1 && w->planes == 1 && length > IN_PLACE_COLUMNS)
        w->in_place = tess_max64(round_down(STRIP_BYTES / ((2 * TESS_WINDOW_SUMS + w->wy - 1) * width), w->tile), IN_PLACE_COLUMNS);
    w->row_bytes = round_up((w->strip + reach) * width, 64);
    w->row_bytes +=
        w->wy == 2 && w->row_bytes % ROW_SETS == 0 ? ROW_PAD : 0; /* two taps over 384 columns took three times as long as three (notes-cpu.md) */
    /* Whole rows of ghost cells: none for a mask of one row. The last strip of a row may be nearly twice as long. */
    const int64_t ghosts = tess_min64(tess_max64(w->strip, 2 * w->in_place), round_up(length, w->tile));
    w->ghost_bytes = w->wy * w->planes == 1 ? 0 : round_up((ghosts + reach) * width, 64);
    w->table_bytes = round_up(w->layers * w->lines * (int64_t)sizeof(char *), 64);
    w->sums = w->wy * w->planes == 1 && w->wx * width > TESS_WINDOW_PASS ? TESS_WINDOW_WAITING : TESS_WINDOW_BAND * TESS_WINDOW_TILE_BYTES;
    w->scratch = (size_t)(w->table_bytes + w->ghost_bytes + w->layers * met * w->row_bytes + w->sums);
    return w->scratch <= SCRATCH_LIMIT;
}

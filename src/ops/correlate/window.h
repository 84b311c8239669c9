/* SPDX-License-Identifier: Apache-2.0
 * window.h - how correlate/window cuts a pass: bands of output rows, strips of columns, and the scratch that a strip of a band needs. */
#ifndef TESS_OPS_CORRELATE_WINDOW_H
#define TESS_OPS_CORRELATE_WINDOW_H

#include "ops/correlate/gather.h"

enum {
    TESS_WINDOW_BAND = 24,          /* output rows whose input rows are looked up, or converted, together */
    TESS_WINDOW_DEPTH = 8,          /* output planes likewise, where the mask has planes */
    TESS_WINDOW_TILE_BYTES = 512,   /* columns come in multiples of so many bytes of the work type: 8 vectors of 64 bytes */
    TESS_WINDOW_SUMS = 6,           /* rows of the tallest tile, but for those that are as tall as a band */
    TESS_WINDOW_WAITING = 32 << 10, /* bytes of the sums of a long row of taps that wait for its next pass (window_rings.h), and */
    TESS_WINDOW_PASS = 192,         /* bytes of such taps from which on there may be several passes */
};

typedef struct tess_correlate_window {
    int y;                          /* the axis of the rows of a band; -1: none */
    int z;                          /* the axis of the planes of a block of bands; -1: none, or more than one */
    int64_t planes, wy, wx;         /* mask lines come as planes x wy lines of wx taps */
    int64_t band, lines;            /* rows of a band; input rows of one plane that they meet, and those of the next */
    int64_t depth, layers;          /* planes of a block; input planes that they meet */
    int64_t tile, strip, in_place;  /* columns: of the widest tile, of a strip that is gathered, of one that is read where it lies */
    int64_t table_bytes;            /* of the table of rows */
    int64_t row_bytes, ghost_bytes; /* of a gathered row, and of the row of ghost cells */
    int64_t sums;                   /* bytes of a tile's outputs, the last ones of scratch */
    size_t scratch;                 /* bytes for one thread */
} tess_correlate_window;

/* false: the pass has no such form, or would need more scratch than a thread's share of a cache; *why says which. */
bool tess_correlate_window_of(tess_correlate_window *window, const tess_correlate_problem *problem, const tess_correlate_pass *pass,
                              const char **why);
/* The same for a pass whose rows, of narrower elements, need not be converted first: tess_window_raw has kernels for such masks. false: it has none, or the
 * ghost cells are no such elements; *constant: one. The kernels are not built for every instruction set. */
bool tess_correlate_window_raw(tess_correlate_window *window, uint64_t *constant, const tess_correlate_problem *problem,
                               const tess_correlate_pass *pass, tess_isa_slot slot);
/* Bytes for one thread, whichever of the two it will be; 0: neither. */
size_t tess_correlate_window_scratch(const tess_correlate_problem *problem, const tess_correlate_pass *pass);
/* As window_of for elements of `width` bytes and tiles of `tile` columns at most. */
bool tess_correlate_window_sizes(tess_correlate_window *window, const tess_correlate_pass *pass, int64_t width, int64_t tile, const char **why);

/* The axis of a pass whose neighbouring outputs share most input rows, or -1. */
int tess_correlate_band_axis(const tess_correlate_pass *pass);

#endif

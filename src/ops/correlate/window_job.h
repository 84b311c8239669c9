/* SPDX-License-Identifier: Apache-2.0
 * window_job.h - what cpu_window.c knows of a pass while it runs, and which tiles follow from it. Included there, once for each instruction set. */
#ifndef TESS_OPS_CORRELATE_WINDOW_JOB_H
#define TESS_OPS_CORRELATE_WINDOW_JOB_H

#include "ops/correlate/window.h"
#include "ops/correlate/window_ends.h"
#include "ops/correlate/window_kernels.h"

enum {
    ROLL_ROWS = 12,    /* from which on sums roll down: the first and the last rows of the mask are what is lost */
    ROLL_PAST = 9,     /* rows of the deepest mask that rolls past the caches: deeper ones send 24 rows of two lines a tile (notes-cpu.md) */
    ROLL_AHEAD = 512,  /* bytes to the right of a rolling tile, from which on columns are asked for */
    ROW_AHEAD = 4096,  /* likewise, of packed integers of one row */
    ALONG_AHEAD = 192, /* likewise, of a vector of window_along.h, but rows below */
};

const tess_window_raw *TESS_ISA_NAME(tess_correlate_raw_kernels)(tess_type from); /* NULL: there are none */
tess_row_loader TESS_ISA_NAME(tess_correlate_raw_loader)(tess_type from);

typedef struct job {
    const tess_correlate_pass *pass;
    tess_correlate_window window;
    tess_correlate_source source;
    tess_correlate_outer outer;
    tess_row_storer store;
    const tess_window_kernels *kernels;
    const char *in;
    char *out, *scratch;
    tess_window_put put; /* packed integers: see tess_window_call */
    int32_t start;
    uint8_t picks[64];                /* likewise */
    int64_t read_beyond;              /* elements behind a row's last that a tile may read; nothing comes of them */
    const tess_window_raw *raw;       /* rows of narrower elements are read as they are, by tiles as tall as a band; NULL: they are not */
    bool held;                        /* such tiles leave outputs in the cache, some lines a row, before they go past it */
    bool one_by_one;                  /* outputs at the ends of rows (window_ends.h) */
    tess_window_ends *ends;           /* theirs */
    bool rings;                       /* rows go through rings (window_rings.h) */
    bool out_ready;                   /* out has the work type and compact rows: tiles are stored straight into it */
    bool narrows;                     /* out has small integers, which wide tiles can put */
    bool cached;                      /* the input is what another pass has just left in a cache */
    bool large, stream;               /* the output is too large to be kept in a cache; and whole lines of it can be written */
    int64_t length, out_stride;       /* of a row: elements, bytes from element to element */
    int64_t source_bytes;             /* of an element of the input */
    bool source_compact;              /* which lie one after another along a row */
    int64_t out_width;                /* bytes of an output element */
    int64_t inside, beyond;           /* columns inside .. beyond - 1 are read where they lie */
    int64_t strips;                   /* of a row */
    int64_t bands, rows, y_stride;    /* of a plane of output: bands, rows, bytes between rows */
    int64_t floors, planes, z_stride; /* of the output: blocks, planes, bytes between planes */
} job;

/* A row, or as many as a tile is tall, of a strip. Gathered, its input rows are padded to whole vectors; where they lie ready there is nothing beyond,
 * and the last tile begins earlier instead: what it computes again comes out the same. */
typedef struct tiles {
    tess_window_tile wide, narrow;
    int64_t rows, wide_columns, narrow_columns;
    bool runs;     /* several in one call */
    bool rolls;    /* window_roll.h */
    int64_t ahead; /* bytes to the right, from which on columns are asked for */
} tiles;

/* Whether a mask of one row is quicker over rows as they lie, where each tap converts all that it meets, than over rows that are converted once. To convert the rows of
 * an image of more than the caches hold, or of pixels, whose taps do not slide, takes longer (measured: notes-cpu.md). */
static bool one_row_raw(const job *j, const tess_window_raw *raw, int64_t taps, bool large) {
    if (TESS_VECTOR_BYTES < 64)
        return taps <= (large ? 16 : 8);
    return taps <= (large || j->pass->group > 1 ? 33 : raw->phases ? 24 : 8);
}

/* The kernels that read the pass's rows as they are, if there are any; the job then has their window and source. */
static const tess_window_raw *reads_raw(job *j, const tess_correlate_problem *problem, tess_isa_slot slot) {
    const tess_window_raw *raw = TESS_ISA_NAME(tess_correlate_raw_kernels)(j->pass->from);
    tess_correlate_window window;
    uint64_t constant;
    if (!raw || !tess_correlate_window_raw(&window, &constant, problem, j->pass, slot) || !raw->tile[window.wy])
        return NULL;
    /* Without 32 registers weights are broadcast for every row, and what stays in the caches is faster by the tiles of 3 x 3, if there are no colours. */
    if (TESS_VECTOR_BYTES < 64 && j->pass->group == 1 && !tess_correlate_goes_past(problem, j->out_width))
        return NULL;
    if (window.wy == 1 && !one_row_raw(j, raw, window.wx, tess_correlate_goes_past(problem, j->out_width)))
        return NULL;
    j->window = window;
    j->source.load = TESS_ISA_NAME(tess_correlate_raw_loader)(j->pass->from);
    j->source.constant.u64 = constant;
    j->source.width = (int)tess_type_size(j->pass->from);
    j->source.in_place = j->source.stride == j->source.width || j->source.n * j->source.group == 1;
    j->read_beyond = raw->beyond;
    return raw;
}

static tiles tall_tiles(const job *j, int64_t rows) {
    const tess_window_kernels *k = j->kernels;
    const tess_correlate_window *w = &j->window;
    if (j->raw) { /* a mask of one row goes along long rows, which do not share any */
        const bool any3 = w->wy == 3 && w->wx != 3;
        return (tiles){any3 ? j->raw->tile3 : j->raw->tile[w->wy],
                       any3 ? j->raw->narrow3 : j->raw->narrow[w->wy],
                       w->wy == 1 && j->length > w->strip ? 1 : rows,
                       k->wide * k->lanes,
                       k->lanes,
                       true,
                       true,
                       ROLL_AHEAD};
    }
    const bool small = w->wy == 3 && w->wx == 3 && w->planes == 1 && j->pass->group == 1 && k->tile3;
    if (small && k->along3 && !j->narrows)
        return (tiles){k->along3, k->along3, k->tall3, k->lanes, k->lanes, true, false, ALONG_AHEAD};
    return small ? (tiles){k->tile3, k->narrow3, k->tall3, k->wide * k->lanes, k->lanes, true, false, 0}
                 : (tiles){k->tile, k->narrow, k->tall, k->wide * k->lanes, k->lanes, false, false, 0};
}
/* All rows of a band at once, where the mask is one that rolls. Not where lines of output are brought from memory to be written: few rows at a time are
 * quicker then (4093 x 4089, 5 x 5: 11.3 ms and 13.5), but for packed sums to bytes. Packed sums of a mask of one row go down bands, too, unless memory has to give the rows: whole ones come fastest. */
static tiles band_tiles(const job *j, int64_t rows) {
    const tess_window_kernels *k = j->kernels;
    const tess_correlate_window *w = &j->window;
    const int vectors = w->wy <= TESS_WINDOW_ROLLS && !j->raw ? k->roll_wide[w->wy] : 0;
    const bool packed = k->taps > 1, line = packed && w->wy == 1, whole = line && j->length > w->strip;
    if (vectors == 0 || w->planes > 1 || (rows < ROLL_ROWS && !line) || (j->large != j->stream && !line && !(packed && j->out_width == 1)))
        return tall_tiles(j, rows);
    if (packed)
        return (tiles){k->roll[w->wy], k->roll[w->wy], whole ? 1 : rows, k->lanes, k->lanes, true, true, whole ? ROW_AHEAD : ROLL_AHEAD};
    if (w->wx == 1 || (j->narrows && vectors % 4 != 0) || (w->wy > ROLL_PAST && j->large))
        return tall_tiles(j, rows);
    return (tiles){k->roll[w->wy], k->narrow_roll[w->wy], rows, vectors * k->lanes, k->lanes, true, true, ROLL_AHEAD};
}
/* Whether outputs of narrow tiles would be stored by way of sums, and those of wide ones are not. */
static bool only_wide(const job *j) { return j->narrows && !j->out_ready; }

static tiles flat_tiles(const job *j) {
    const tess_window_kernels *k = j->kernels;
    return (tiles){k->line, k->point, 1, k->line_vectors * k->lanes, k->lanes, k->taps == 1, false, 0};
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * window_kernels.h - what cpu_window.c asks of cpu_window_kernels.c: tiles of sums held in registers, for one work type and instruction set. */
#ifndef TESS_OPS_CORRELATE_WINDOW_KERNELS_H
#define TESS_OPS_CORRELATE_WINDOW_KERNELS_H

#include "core/base.h"

/* How whole outputs are stored: in the work type, or rounded and, if integers, saturated. */
typedef enum tess_window_put {
    TESS_WINDOW_PUT_WORK = 0,
    TESS_WINDOW_PUT_U8,
    TESS_WINDOW_PUT_I8,
    TESS_WINDOW_PUT_U16,
    TESS_WINDOW_PUT_I16,
    TESS_WINDOW_PUT_F16 /* sums of f32 only */
} tess_window_put;

TESS_INLINE tess_window_put tess_window_put_of(tess_type to) {
    return to == tess_u8    ? TESS_WINDOW_PUT_U8
           : to == tess_i8  ? TESS_WINDOW_PUT_I8
           : to == tess_u16 ? TESS_WINDOW_PUT_U16
           : to == tess_i16 ? TESS_WINDOW_PUT_I16
                            : TESS_WINDOW_PUT_WORK;
}
/* The same for sums of f32 and f64. */
TESS_INLINE tess_window_put tess_window_put_real(tess_type to) { return to == tess_f16 ? TESS_WINDOW_PUT_F16 : tess_window_put_of(to); }

/* One tile. Input rows are those of plane 0, from the first that output row 0 meets; planes lie `lines` pointers apart. */
typedef struct tess_window_call {
    const char *const *rows, *const *ahead; /* ahead: as many rows as the tile has, of which bytes will be wanted soon */
    int64_t lines, planes, wy, wx;          /* the mask: planes x wy rows x wx taps, or groups of taps */
    int64_t ahead_at, ahead_bytes;          /* which: ahead_bytes > 0 from there on */
    int64_t at, step;                       /* bytes: added to each row; from tap to tap */
    const void *weights, *columns;          /* in the mask's order, for lines; for tiles plane by plane, and there column by column */
    char *out;
    int64_t out_stride;   /* bytes between output rows */
    int64_t deep;         /* output rows, for the tiles that have any number of them */
    int64_t more;         /* so many further tiles beside this one, done in the same call: lines, and tiles for masks of 3 x 3 */
    int64_t out_step;     /* bytes of out from each to the next */
    int64_t near;         /* lines: so many bytes ahead are asked for in the nearest cache, if outputs are stored past the caches; 0: none */
    bool stream;          /* past the caches; out is aligned to a line */
    int32_t start;        /* packed integers: what sums begin from */
    const uint8_t *picks; /* packed integers whose taps stand a pixel apart: see v_dot_pick_here */
    tess_window_put put;  /* unless outputs are `between` (packed integers: then as i64) */
    bool between;         /* what is stored will be read, and its NaNs made canonical, by another pass or a storer */
} tess_window_call;
typedef void (*tess_window_tile)(const tess_window_call *call);

/* Rolling tiles of f32 for rows that are read as they lie, of one narrower type: by rows of the mask; NULL: none. Wide tiles have four vectors. */
enum { TESS_WINDOW_ROLLS = 13 }; /* rows of the deepest mask that rolls */
typedef struct tess_window_raw {
    tess_window_tile tile[TESS_WINDOW_ROLLS + 1], narrow[TESS_WINDOW_ROLLS + 1];
    tess_window_tile tile3, narrow3; /* of 3 rows that have not 3 taps */
    bool phases;                     /* simd/phases.h */
    int beyond;                      /* elements behind a row's last that a tile may read */
} tess_window_raw;

/* The places of the taps of elements that stand `group` elements of `width` bytes apart: lane q takes those of element q. */
TESS_INLINE void tess_dot_picks_of(uint8_t picks[64], int width, int64_t group) {
    for (int i = 0; i < 64; i++)
        picks[i] = (uint8_t)((i / 4 + i % 4 / width * group) * width + i % width);
}

/* Several stretches of one row, for a mask of `deep` rows of as many taps as a vector has lanes. */
typedef struct tess_window_stretch {
    const char *x;
    char *out;
    const void *weights;
    int64_t hop, steps; /* bytes between stretches, in x and in out; vectors of each */
    int64_t last_taps;  /* of the mask's last row */
    const char *sums;   /* go on from there, where they lie as they will in out; NULL: begin */
    int64_t near;       /* bytes ahead in each stretch whose lines are asked for; 0: those of the next stretches */
    bool stream;
} tess_window_stretch;
typedef void (*tess_window_ring)(const tess_window_stretch *stretch);

/* Packed integers in two passes (packed_passes.h): the row mask over two rows, of which the sums are stored as 16 bits each, those of the first row in the
 * lower half of every 32. `columns` of them, a multiple of a tile's, in the order in which the tile `pairs` expects them. */
typedef struct tess_window_two_rows {
    const char *row[2];
    const int32_t *weights;
    int64_t groups, step, columns; /* of taps; bytes from group to group */
    const uint8_t *picks;
    int32_t start;
    char *to;
} tess_window_two_rows;
typedef void (*tess_window_two)(const tess_window_two_rows *rows);

enum {
    TESS_WINDOW_RINGS = 8,  /* deepest ring of any instruction set */
    TESS_WINDOW_FOURS = 33, /* most taps of window_fours.h: a vector has 16 elements for either side */
    TESS_WINDOW_FOURS_STREAMS = 4
};

typedef struct tess_window_kernels {
    int lanes, tall;                 /* of a vector, or columns of a narrow tile; output rows of a tall tile */
    int taps;                        /* in a weight: 4 or 2 for packed integers, else 1 */
    bool narrows;                    /* wide tiles and long lines of f32 can put small integers */
    bool pairs_must_fit;             /* packed.h */
    int wide, line_vectors;          /* vectors of a wide tile, of a long line */
    tess_window_tile tile, narrow;   /* tall x wide, tall x 1 vectors */
    tess_window_tile tile3, narrow3; /* as tile and narrow, for a mask of 3 rows of 3 taps that follow each other, and something ahead; NULL: none */
    int tall3;                       /* theirs, tall3 <= tall */
    tess_window_tile along3;         /* as narrow3 (window_along.h), quicker than both; not for small integers; NULL: none */
    tess_window_tile roll[TESS_WINDOW_ROLLS + 1]; /* by rows of the mask: tiles of any height, and */
    tess_window_tile narrow_roll[TESS_WINDOW_ROLLS + 1];
    int roll_wide[TESS_WINDOW_ROLLS + 1];         /* vectors of each; 0: none */
    tess_window_tile bytes, narrow_bytes;         /* as tile and narrow, for rows of u8 and a mask of one column; they store sums as they are */
    tess_window_tile line, point;                 /* 1 x line_vectors, 1 x 1 */
    tess_window_ring ring[TESS_WINDOW_RINGS + 1]; /* by depth, from 2 */
    int streams[TESS_WINDOW_RINGS + 1];
    int deepest;                   /* ring that there is */
    const tess_window_ring *fours; /* by taps; NULL: there are none */
    /* Packed integers in two passes: rows are pairs, of which the tile has `tall_pairs`; a weight is a pair of taps for the first and one for the second
     * output row of a pair; out_stride is that of pairs. */
    tess_window_two two_rows;
    tess_window_tile pairs;
    int tall_pairs;
} tess_window_kernels;

#endif

/* SPDX-License-Identifier: Apache-2.0
 * gpu_transpose.h - between gpu_rows.c, which lays launches out, and gpu_predict.c, which predicts their counts. */
#ifndef TESS_OPS_TRANSPOSE_GPU_H
#define TESS_OPS_TRANSPOSE_GPU_H

#include "gpu/row.h"
#include "ops/transpose/transpose.h"

enum { TRANSPOSE_GPU_ROWS = 28 };
extern const tess_strategy tess_transpose_gpu_rows[TRANSPOSE_GPU_ROWS];

/* The problem as matrices that a kernel can take element by element; *why says why not. */
bool tess_transpose_gpu_plane_of(const tess_problem *base, transpose_plane *plane, const char **why);
/* Whether all steps, and where the arrays begin, are multiples of `bytes`. */
bool tess_transpose_gpu_whole_steps(const transpose_problem *p, const transpose_plane *plane, int64_t bytes);

/* What kernels of this operation include; those for rows that begin anywhere, and in place, more; rectangles in place most. */
extern const tess_gpu_text *const tess_transpose_gpu_headers[], *const tess_transpose_gpu_odd_headers[],
                                                                    *const tess_transpose_gpu_rectangle_headers[];

/* Matrices of `size` bytes an element, and where they lie: first is a byte offset. */
typedef struct transpose_gpu_matrices {
    transpose_plane plane;
    int64_t size;
    tess_gpu_place place[2];
    int64_t first[2];
} transpose_gpu_matrices;

transpose_gpu_matrices tess_transpose_gpu_matrices_of(const tess_problem *base);

/* Passes in, out and struct plane of gpu_plane.cuh, `count` numbers more behind it. */
enum { TRANSPOSE_GPU_MORE = 7 };
void tess_transpose_gpu_pass(tess_gpu_layout *layout, tess_gpu_step *step, const transpose_gpu_matrices *m, const int64_t *more, int count);

/* The kernel that fits matrices without gaps best. */
typedef enum transpose_gpu_tiles { TRANSPOSE_GPU_MICRO, TRANSPOSE_GPU_SHIFTED, TRANSPOSE_GPU_UNROLL } transpose_gpu_tiles;
transpose_gpu_tiles tess_transpose_gpu_tiles_for(const transpose_gpu_matrices *m);

/* Its launch; a copy of bytes. Both may want a larger alignment of the layout. */
void tess_transpose_gpu_launch(const transpose_gpu_matrices *m, tess_gpu_layout *layout);
void tess_transpose_gpu_launch_copy(tess_gpu_layout *layout, tess_gpu_place from, int64_t from_at, tess_gpu_place to, int64_t to_at, int64_t bytes);

/* Vectors of a row of in that a tile of gpu_shifted_vectors.cu or gpu_joined.cu reads. */
enum { TRANSPOSE_GPU_LANES = 16 };
/* Groups of V rows of a tile of gpu_shifted_vectors.cu. */
int64_t tess_transpose_gpu_shifted_groups(const transpose_gpu_matrices *m);

/* gpu_joined.c: rows that are short. In elements, but for the strides of the plane, whose sizes are those of the joined axes. */
typedef struct transpose_gpu_joined {
    transpose_plane plane;
    int64_t p_inner, q_inner;
    int64_t p_outer, q_outer; /* steps of the outer axes, in out and in in; 0 where there is none */
    int64_t low, high;        /* what a matrix takes of in, from its first element on */
    bool follow;              /* rows of out follow each other without a gap */
} transpose_gpu_joined;
bool tess_transpose_gpu_joined_of(const tess_problem *base, transpose_gpu_joined *j, const char **why);
/* Groups of V rows of its tile. */
int64_t tess_transpose_gpu_joined_groups(const transpose_gpu_joined *j, int64_t size);
extern const tess_gpu_row tess_transpose_gpu_joined;
bool tess_transpose_gpu_joined_fits(const tess_problem *base, const char **why);
bool tess_transpose_gpu_joined_pays(const tess_problem *base, const char **why);

/* gpu_records.c: matrices with one short side, `c` elements that follow each other without gaps in records. */
typedef struct transpose_gpu_records {
    bool split;                              /* the short rows are those of in */
    int64_t c, length;                       /* elements of a short row and of a long one */
    int64_t across, spare, vectors, threads; /* gpu_records.cuh */
} transpose_gpu_records;
int64_t tess_transpose_gpu_records_tiles(const transpose_gpu_records *r, int64_t size); /* of a matrix: blocks */
bool tess_transpose_gpu_records_of(const tess_problem *base, transpose_gpu_records *r, const char **why);
/* Whether matrices, wherever they lie, are faster so than by tiles; their launch. */
bool tess_transpose_gpu_records_for(const transpose_gpu_matrices *m, transpose_gpu_records *r);
void tess_transpose_gpu_records_launch(const transpose_gpu_matrices *m, tess_gpu_layout *layout);
extern const tess_gpu_row tess_transpose_gpu_records_row;
bool tess_transpose_gpu_records_fit(const tess_problem *base, const char **why);
bool tess_transpose_gpu_records_pay(const tess_problem *base, const char **why);

/* The last axis has no gaps on either side and stays the last: runs of it go as they are. */
bool tess_transpose_gpu_last_stays(const transpose_problem *p);
/* What one thread of gpu_elements.cu moves, in bytes. */
int64_t tess_transpose_gpu_piece(const transpose_problem *p, bool together);

/* gpu_long_runs.c: a last axis that stays the last. run, low, high in bytes: of a run, and what all of them take of in from its first byte on. */
typedef struct transpose_gpu_long_runs {
    transpose_plane plane; /* p and q count runs */
    int64_t size, run, blocks, low, high;
} transpose_gpu_long_runs;
enum {
    TRANSPOSE_GPU_RUNS_THREADS = 256,
    TRANSPOSE_GPU_RUNS_WORDS = 8,
    TRANSPOSE_GPU_RUNS_PIECE = 4 * TRANSPOSE_GPU_RUNS_THREADS * TRANSPOSE_GPU_RUNS_WORDS
};
bool tess_transpose_gpu_long_runs_of(const tess_problem *base, transpose_gpu_long_runs *r, const char **why);
extern const tess_gpu_row tess_transpose_gpu_long_runs_row;
bool tess_transpose_gpu_long_runs_fit(const tess_problem *base, const char **why);
bool tess_transpose_gpu_long_runs_pay(const tess_problem *base, const char **why);

/* gpu_run_pieces.c: the same of small elements, by way of shared memory. */
extern const tess_gpu_row tess_transpose_gpu_run_pieces_row;
bool tess_transpose_gpu_run_pieces_fit(const tess_problem *base, const char **why);
bool tess_transpose_gpu_run_pieces_pay(const tess_problem *base, const char **why);

/* gpu_small_matrices.c: a stack of small matrices. */
extern const tess_gpu_row tess_transpose_gpu_small_matrices_row;
bool tess_transpose_gpu_small_matrices_fit(const tess_problem *base, const char **why);
bool tess_transpose_gpu_small_matrices_pay(const tess_problem *base, const char **why);

/* gpu_short_runs.c: matrices of runs that stay together. The plane's p and q count runs. */
typedef struct transpose_gpu_short_runs {
    transpose_plane plane;
    int64_t size, run;        /* bytes of what is moved at once, at most 4; how many of them are a run */
    int64_t along_p, along_q; /* runs of a tile */
    int64_t more;             /* runs before a tile that may be read too */
    int64_t ahead;            /* runs that a thread asks for at a time */
    int threads;
    bool pixels; /* of 3 bytes, by gpu_pixels.cu */
} transpose_gpu_short_runs;
int64_t tess_transpose_gpu_short_runs_line(const transpose_gpu_short_runs *r); /* bytes of a row of a tile in shared memory */
bool tess_transpose_gpu_short_runs_of(const tess_problem *base, transpose_gpu_short_runs *r, const char **why);
extern const tess_gpu_row tess_transpose_gpu_short_runs_row;
bool tess_transpose_gpu_short_runs_fit(const tess_problem *base, const char **why);
bool tess_transpose_gpu_short_runs_pay(const tess_problem *base, const char **why);

/* gpu_picked_words.c: elements of 1 and 2 bytes near each other in in. */
extern const tess_gpu_row tess_transpose_gpu_picked_words_row;
bool tess_transpose_gpu_picked_words_fit(const tess_problem *base, const char **why);
bool tess_transpose_gpu_picked_words_pay(const tess_problem *base, const char **why);

/* gpu_boxes.c: axes that are short on both sides. */
extern const tess_gpu_row tess_transpose_gpu_boxes_row;
bool tess_transpose_gpu_boxes_fit(const tess_problem *base, const char **why);
bool tess_transpose_gpu_boxes_pay(const tess_problem *base, const char **why);

/* gpu_spaced.c: elements that lie apart on either side. Where nothing lies along p, rows_beside puts the axis beside q in out there, if there is one. */
void tess_transpose_gpu_rows_beside(transpose_plane *plane);
extern const tess_gpu_row tess_transpose_gpu_spaced_row;
bool tess_transpose_gpu_spaced_fit(const tess_problem *base, const char **why);
bool tess_transpose_gpu_spaced_pay(const tess_problem *base, const char **why);

/* gpu_inplace.c: in place, by vectors, by elements and by runs of any size. */
extern const tess_gpu_row tess_transpose_gpu_inplace_vectors, tess_transpose_gpu_inplace, tess_transpose_gpu_inplace_runs;
/* A block a pair of tiles of `tile` elements a side; BLOCKS of them a multiprocessor, if registers can be saved for it. Where rows are not whole lines, groups
 * of 2^shift x 2^shift pairs, if there are enough of them that the blocks to spare do not count. */
typedef struct transpose_gpu_pairs {
    int64_t tile;
    int threads, blocks, shift, align;
} transpose_gpu_pairs;
const transpose_gpu_pairs *tess_transpose_gpu_pairs_by_vectors(const transpose_problem *p, const tess_gpu_device *device);
const transpose_gpu_pairs *tess_transpose_gpu_pairs_by_columns(const transpose_problem *p, const tess_gpu_device *device);
/* What is turned into the workspace, `room` bytes from its start. */
transpose_gpu_matrices tess_transpose_gpu_rectangles_of(const transpose_problem *p, int64_t room);
/* Bytes of shared memory of a tile of gpu_columns.cuh: its ROOM. */
int64_t tess_transpose_gpu_columns_room(int64_t tile, int64_t size);
/* gpu_inplace_bands.c: large matrices that are not square. */
extern const tess_gpu_row tess_transpose_gpu_inplace_bands;
typedef struct transpose_gpu_bands {
    int64_t tile, down, across; /* of tiles; a band is one tile high */
    int threads, align;
    bool vectors; /* rows of both shapes are whole vectors */
} transpose_gpu_bands;
transpose_gpu_bands tess_transpose_gpu_bands_of(const transpose_problem *p);
bool tess_transpose_gpu_inplace_bands_fit(const tess_problem *base, const char **why);
bool tess_transpose_gpu_inplace_bands_pay(const tess_problem *base, const char **why);
bool tess_transpose_gpu_inplace_fits(const tess_problem *base, const char **why);
bool tess_transpose_gpu_inplace_tiles_fit(const tess_problem *base, const char **why);
bool tess_transpose_gpu_inplace_vectors_fit(const tess_problem *base, const char **why);

#endif

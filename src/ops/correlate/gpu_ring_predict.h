/* SPDX-License-Identifier: Apache-2.0
 * gpu_ring_predict.h - what rows' predictions share: a frame's rows and arrays by where they begin, and the tiles of gpu_ring.cuh. */
#ifndef TESS_OPS_CORRELATE_GPU_RING_PREDICT_H
#define TESS_OPS_CORRELATE_GPU_RING_PREDICT_H

#include "ops/correlate/gpu_fast_mask.h"

/* The index of the element of an axis, of a row that stands at i of n, -1: the constant; as gpu_window.cuh has them. */
int64_t tess_correlate_frame_resolve(const tess_correlate_frame *f, int64_t i, int64_t n);
int64_t tess_correlate_frame_resolve_x(const tess_correlate_frame *f, int64_t i);
/* How many arrays of the batch begin at byte i of a line of 128 bytes; that many more that lie `byte` bytes on. */
enum { FRAME_LINE = 128 };
void tess_correlate_frame_places(const tess_correlate_frame *f, bool out, double *times);
void tess_correlate_frame_add_places(double *sum, const double *places, int64_t byte);
/* Conversions of that many elements that are operations: small integers become f32 by one each. */
double tess_correlate_frame_conversions(const tess_correlate_frame *f, tess_type work, int64_t elements);

/* Of `columns` results of each lane from column x on, to byte `to`, -1 = none: in vectors where all of a thread's exist. */
void tess_correlate_frame_write(tess_gpu_prediction *sum, double times, const tess_correlate_frame *f, int64_t columns, const int64_t *x,
                                const int64_t *to);

/* The names of gpu_ring.cuh; elements. columns: V. */
typedef struct ring_walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    int64_t columns, threads;
    bool whole;
    int64_t size, left, right, reach_left, reach_right /* RING_LEFT, RING_RIGHT */, copy, spare, vector, read, near_left, near_right, pad_left,
        pad_right, tile, row;
} ring_walk;
/* A tile of so many threads along a row. */
ring_walk tess_correlate_ring_of(const tess_correlate_frame *f, int64_t columns, int64_t along, int64_t threads, bool whole,
                                 tess_gpu_prediction *out);
/* The same of threads that read their own columns alone, in a tile `away` elements behind a whole sector. */
ring_walk tess_correlate_ring_of_own(const tess_correlate_frame *f, int64_t columns, int64_t along, int64_t threads, bool whole, int64_t away,
                                     tess_gpu_prediction *out);
/* feed_rows() of a row inside the array, which begins at byte `from`, to a tile from column x - pad_left on: copies of the thread's own, and the elements that no copy covers. */
void tess_correlate_ring_row_inside(const ring_walk *w, int64_t x, int64_t from);
/* copy_anywhere() of n rows, which begin at bytes from[0], ... (-1: of constants): vectors where they lie inside, else one element after another. */
void tess_correlate_ring_rows_anywhere(const ring_walk *w, int64_t x, const int64_t *from, int64_t n);
/* copy_element() of each lane, -1 = none: narrow ones pass through a register. */
void tess_correlate_ring_copy_elements(const ring_walk *w, const int64_t *from, const int64_t *to);
bool tess_correlate_ring_reaches_edge(const ring_walk *w, int64_t x);
/* Number `number` of the elements of a row that no copy inside the array covers: its place in the array's row, -1: none, and in the tile's. */
void tess_correlate_ring_loose(const ring_walk *w, int64_t x, int64_t number, int64_t *from, int64_t *to);
/* Constants in rows of the ring, where a block has ghost cells; and a barrier. */
void tess_correlate_ring_prepare(const ring_walk *w, int64_t rows);
/* A warp's windows, of those rows of shared memory (along -1: of none), by vectors; where one word of a vector is used, it is loaded alone. */
void tess_correlate_ring_read(const ring_walk *w, const int64_t *row, const int64_t *along);
/* spread of gpu_ring.cuh, of a row of results at byte `to` from column x on, of which `finished` come out; to < 0: of a row that is laid down and not stored. */
void tess_correlate_ring_spread(const ring_walk *w, int64_t x, int64_t finished, int64_t to);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * picks.h - rows of out that permutes of bytes can make (cpu_picks.c): what a piece of a row is made of.
 *
 * An item is one element, or a few axes that lie without gaps in out, such as the colours of a pixel; a row is items that follow each other in out and step alike in in. */
#ifndef TESS_OPS_TRANSPOSE_PICKS_H
#define TESS_OPS_TRANSPOSE_PICKS_H

#include "ops/transpose/transpose.h"

enum { VECTOR_OF_PICKS = 64, REACH_OF_PICKS = 128 }; /* bytes that a permute gives, and of two vectors, from which it picks */

typedef struct transpose_picks {
    int axes;             /* how many make an item */
    int64_t bytes;        /* of an item */
    int64_t step;         /* bytes between items in in */
    int64_t each;         /* items of a piece */
    int64_t count;        /* of a row */
    int64_t lowest, span; /* of an item in in: bytes from its first element to its lowest byte, and from there to the end */
} transpose_picks;

/* The form with the longest pieces; false if there is none. */
bool tess_transpose_picks_of(transpose_picks *picks, const transpose_problem *problem);

#endif

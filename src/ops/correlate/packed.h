/* SPDX-License-Identifier: Apache-2.0
 * packed.h - integer masks over small integers, for correlate/packed: several taps of a row in every 32-bit lane.
 *
 * Sums of integers are exact modulo 2^64, so they may be made in any order and in any width that is proven to hold the result. Where 2^31 is proven to
 * be beyond every sum, 32 bits do, and processors multiply and add four pairs of bytes, or two of 16 bits, in one lane (simd/dot.h). */
#ifndef TESS_OPS_CORRELATE_PACKED_H
#define TESS_OPS_CORRELATE_PACKED_H

#include "ops/correlate/window.h"

/* dot4 and dot2 are `direct` with rows of taps that are padded with zeros to fours and twos, and with those packed into 32-bit weights. */
typedef struct tess_correlate_packed {
    bool bytes, pairs_fit;  /* dot4 serves: u8 and weights of 8 bits; no pair of its products leaves 16 bits */
    int32_t start;          /* dot2: what every sum begins from. u16 are taken as i16, less 2^15 */
    tess_value constant[2]; /* ghost cells, as an element that dot4 or dot2 reads */
    tess_correlate_pass dot4, dot2;
    size_t size;                     /* bytes of weights, from dot4.weights on */
    tess_correlate_window window[2]; /* of dot4 and dot2; NULL, or why one of them is too large for a thread's scratch: */
    const char *too_large;
} tess_correlate_packed;

/* Fills problem->packed, or leaves it NULL where such sums are not proven to fit: of the one mask, or of a list of two, whose outer product is a mask with the same
 * sums. largest: as in problem.c. */
tess_status tess_correlate_pack(tess_correlate_problem *problem, double largest);
tess_status tess_correlate_pack_list(tess_correlate_problem *problem, double largest);
#endif

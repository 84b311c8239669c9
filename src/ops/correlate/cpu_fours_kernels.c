/* SPDX-License-Identifier: Apache-2.0
 * cpu_fours_kernels.c - the kernels of window_fours.h, one for each number of taps: with fewer memory binds, with more a side is wider than a vector, and rings (window_ring.h) are as fast.
 * There are none but for vectors of 64 bytes: they want 32 registers. */
#include "ops/correlate/put_sums.h"
#include "ops/correlate/window_kernels.h"
#include "simd/fours.h"
#include "simd/lanes.h"

extern const tess_window_ring TESS_ISA_NAME(tess_correlate_fours)[TESS_WINDOW_FOURS + 1]; /* by taps; NULL: there is none */

#if TESS_VECTOR_BYTES == 64
#include "ops/correlate/window_fours.h"

#define EACH(of)                                                                                                                               \
    of(9) of(10) of(11) of(12) of(13) of(14) of(15) of(16) of(17) of(18) of(19) of(20) of(21) of(22) of(23) of(24) of(25) of(26) of(27) of(28) \
        of(29) of(30) of(31) of(32) of(33)
EACH(FOURS_OF)
#define ENTRY(taps) [taps] = fours_##taps,
const tess_window_ring TESS_ISA_NAME(tess_correlate_fours)[TESS_WINDOW_FOURS + 1] = {EACH(ENTRY)};
#else
const tess_window_ring TESS_ISA_NAME(tess_correlate_fours)[TESS_WINDOW_FOURS + 1] = {NULL};
#endif

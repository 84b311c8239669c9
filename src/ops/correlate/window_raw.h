/* SPDX-License-Identifier: Apache-2.0
 * window_raw.h - the rolling tiles (window_roll.h) for rows of elements of one type that is narrower than f32. Included by cpu_raw_kernels.c, once for each,
 * with KERNEL, ELEMENT, OWN_PUT (how outputs of the same type are stored), LOAD(x), a vector of what stands at x, and IN_PHASES: 1 where wide tiles have
 * phases (simd/phases.h). */

TESS_INLINE vec KERNEL(load)(const tess_window_call *c, const char *x, int k) {
    (void)c;
    return LOAD(x + k * TESS_F32_LANES * ELEMENT);
}
TESS_INLINE vec KERNEL(start)(const tess_window_call *c) {
    (void)c;
    return (vec){0};
}
/* own: outputs of the rows' own type; else sums as they are. */
TESS_INLINE void KERNEL(put_rolled)(const tess_window_call *c, char *to, const vec *sums, int vectors, bool own) {
    if (own)
        put_narrow(OWN_PUT, c->stream, to, sums, vectors);
    else
        v_f32_put_sums(to, TESS_VECTOR_BYTES, sums, vectors, c->stream, c->between);
}

#define roll_name KERNEL(roll1)
#define DEEP 1
#define VECTORS WIDE
#define PHASES IN_PHASES
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll1)
#define DEEP 1
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(roll2)
#define DEEP 2
#define VECTORS WIDE
#define PHASES IN_PHASES
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll2)
#define DEEP 2
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#if KEEP_3 /* else roll3 takes any number of taps */
#define roll_name KERNEL(roll3_any)
#define DEEP 3
#define VECTORS WIDE
#define PHASES IN_PHASES
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll3_any)
#define DEEP 3
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#endif
#define roll_name KERNEL(roll3)
#define DEEP 3
#define VECTORS WIDE
#define KEEP KEEP_3
#define PHASES IN_PHASES
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll3)
#define DEEP 3
#define VECTORS 1
#define KEEP KEEP_3
#include "ops/correlate/window_roll.h"
#if TESS_VECTOR_BYTES == 64
#if IN_PHASES
#define roll_name KERNEL(roll4)
#define DEEP 4
#define VECTORS WIDE
#define PHASES IN_PHASES
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll4)
#define DEEP 4
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#endif
#define roll_name KERNEL(roll5)
#define DEEP 5
#define VECTORS WIDE
#define PHASES IN_PHASES
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll5)
#define DEEP 5
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#if IN_PHASES
#define roll_name KERNEL(roll6)
#define DEEP 6
#define VECTORS WIDE
#define PHASES IN_PHASES
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll6)
#define DEEP 6
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#endif
#define roll_name KERNEL(roll7)
#define DEEP 7
#define VECTORS WIDE
#define PHASES IN_PHASES
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll7)
#define DEEP 7
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#endif

#if IN_PHASES
#define EVEN(tile) tile
#else
#define EVEN(tile) NULL
#endif
static const tess_window_raw KERNEL(raw) = {
    .tile = {NULL, KERNEL(roll1), KERNEL(roll2), KERNEL(roll3), EVEN(KERNEL(roll4)), DEEPER(KERNEL(roll5)), EVEN(KERNEL(roll6)),
             DEEPER(KERNEL(roll7))},
    .narrow = {NULL, KERNEL(narrow_roll1), KERNEL(narrow_roll2), KERNEL(narrow_roll3), EVEN(KERNEL(narrow_roll4)), DEEPER(KERNEL(narrow_roll5)),
               EVEN(KERNEL(narrow_roll6)), DEEPER(KERNEL(narrow_roll7))},
#if KEEP_3
    .tile3 = KERNEL(roll3_any),
    .narrow3 = KERNEL(narrow_roll3_any),
#else
    .tile3 = KERNEL(roll3),
    .narrow3 = KERNEL(narrow_roll3),
#endif
    .phases = IN_PHASES,
    .beyond = IN_PHASES ? WIDE - 1 : 0,
};
#undef KERNEL
#undef EVEN
#undef ELEMENT
#undef OWN_PUT
#undef LOAD
#undef IN_PHASES

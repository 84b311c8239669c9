/* SPDX-License-Identifier: Apache-2.0
 * window_all.h - every kernel of window_kernels.h for one type; included by cpu_window_kernels.c, once for f32 and once for f64. */

TESS_INLINE vec KERNEL(load)(const tess_window_call *c, const char *x, int k) {
    (void)c;
    return TESS_PASTE(WORD, load_here)(x + k * TESS_VECTOR_BYTES);
}
TESS_INLINE vec KERNEL(start)(const tess_window_call *c) {
    (void)c;
    return (vec){0};
}
TESS_INLINE void KERNEL(put)(const tess_window_call *c, char *to, const vec *sums, int vectors) {
    if (TAKES_NARROW && vectors % 4 == 0 && c->put != TESS_WINDOW_PUT_WORK && !c->between) {
        put_narrow(c->put, c->stream, to, sums, vectors);
        return;
    }
    if (c->between) {
        TESS_UNROLL for (int k = 0; k < vectors; k++) TESS_PASTE(WORD, store)(to + k * TESS_VECTOR_BYTES, sums[k]);
        return;
    }
    /* As put_sums.h has it, whose text in its place made 7 x 7 with AVX2 4 % slower (Zen 4, in the cache). */
    v_flags nans = v_flags_none();
    TESS_UNROLL for (int k = 0; k < vectors; k += 2) nans = TESS_PASTE(WORD, nans)(nans, sums[k], sums[k + 1 < vectors ? k + 1 : k]);
    const bool any = any_flag(nans);
    TESS_UNROLL for (int k = 0; k < vectors; k++, to += TESS_VECTOR_BYTES) {
        const vec sum = __builtin_expect(any, 0) ? TESS_PASTE(WORD, canonical)(sums[k]) : sums[k];
        if (c->stream)
            TESS_PASTE(WORD, stream)(to, sum);
        else
            TESS_PASTE(WORD, store)(to, sum);
    }
}
TESS_INLINE void KERNEL(put_rolled)(const tess_window_call *c, char *to, const vec *sums, int vectors, bool own) {
    (void)own;
    KERNEL(put)(c, to, sums, vectors);
}
/* A NaN if any of the sums is, or if there are infinities of both signs: what is quickest to find. */
TESS_INLINE vec KERNEL(total)(const vec *sums, int vectors) {
    vec total = sums[0];
    TESS_UNROLL for (int k = 1; k < vectors; k++) total += sums[k];
    return total;
}
TESS_INLINE bool KERNEL(is_nan)(vec total) { return __builtin_expect(any_flag(TESS_PASTE(WORD, nans)(v_flags_none(), total, total)), 0); }
/* As put, but NaNs are stored as they are: what is added up in met says whether the tile has to be mended. To look at every row as it is stored costs a
 * small mask a tenth of its time. */
TESS_INLINE void KERNEL(put_unseen)(const tess_window_call *c, char *to, const vec *sums, int vectors, vec *met) {
    if (c->put != TESS_WINDOW_PUT_WORK || c->between) {
        KERNEL(put)(c, to, sums, vectors);
        return;
    }
    *met += KERNEL(total)(sums, vectors);
    TESS_UNROLL for (int k = 0; k < vectors; k++, to += TESS_VECTOR_BYTES) {
        if (c->stream)
            TESS_PASTE(WORD, stream)(to, sums[k]);
        else
            TESS_PASTE(WORD, store)(to, sums[k]);
    }
}
static TESS_NOINLINE void KERNEL(mend_all)(char *out, int64_t out_stride, int rows, int vectors) {
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < vectors; k++) {
            char *at = out + r * out_stride + k * TESS_VECTOR_BYTES;
            TESS_PASTE(WORD, store)(at, TESS_PASTE(WORD, canonical)(TESS_PASTE(WORD, load)(at)));
        }
}

#define tile_name KERNEL(tall_tile)
#define ROWS TALL
#define VECTORS WIDE
#include "ops/correlate/window_tile.h"
#define tile_name KERNEL(tile3)
#define SIDE 3
#define KEEP KEEP_3
#define ROWS TALL_3
#define VECTORS WIDE
#include "ops/correlate/window_square.h"
#define tile_name KERNEL(narrow3)
#define SIDE 3
#define KEEP KEEP_3
#define ROWS TALL_3
#define VECTORS 1
#include "ops/correlate/window_square.h"
#if TESS_VECTOR_BYTES == 64
#define along_name KERNEL(along3)
#define ROWS TALL_3
#include "ops/correlate/window_along.h"
#endif
#define tile_name KERNEL(narrow_tile)
#define ROWS TALL
#define VECTORS 1
#include "ops/correlate/window_tile.h"
#if ROLLS
#define ELEMENT ((int)sizeof(real))
#define OWN_PUT TESS_WINDOW_PUT_WORK
#define roll_name KERNEL(roll4)
#define DEEP 4
#define VECTORS ROLL_4
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll4)
#define DEEP 4
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(roll5)
#define DEEP 5
#define VECTORS ROLL_5
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll5)
#define DEEP 5
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(roll6)
#define DEEP 6
#define VECTORS ROLL_6
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll6)
#define DEEP 6
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#if ROLLS > 6
#define roll_name KERNEL(roll7)
#define DEEP 7
#define VECTORS ROLL_7
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll7)
#define DEEP 7
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(roll8)
#define DEEP 8
#define VECTORS ROLL_8
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll8)
#define DEEP 8
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(roll9)
#define DEEP 9
#define VECTORS ROLL_9
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll9)
#define DEEP 9
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(roll10)
#define DEEP 10
#define VECTORS ROLL_10
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll10)
#define DEEP 10
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(roll11)
#define DEEP 11
#define VECTORS ROLL_11
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll11)
#define DEEP 11
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(roll12)
#define DEEP 12
#define VECTORS ROLL_12
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll12)
#define DEEP 12
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(roll13)
#define DEEP 13
#define VECTORS ROLL_13
#include "ops/correlate/window_roll.h"
#define roll_name KERNEL(narrow_roll13)
#define DEEP 13
#define VECTORS 1
#include "ops/correlate/window_roll.h"
#endif
#undef ELEMENT
#undef OWN_PUT
#endif
#define tile_name KERNEL(line)
#define VECTORS LINE
#include "ops/correlate/window_line.h"
#define tile_name KERNEL(point)
#define VECTORS 1
#include "ops/correlate/window_line.h"

#define ring_name KERNEL(ring2)
#define DEEP 2
#define STREAMS STREAMS_2
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring3)
#define DEEP 3
#define STREAMS STREAMS_3
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring4)
#define DEEP 4
#define STREAMS STREAMS_4
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring5)
#define DEEP 5
#define STREAMS STREAMS_5
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring6)
#define DEEP 6
#define STREAMS STREAMS_6
#include "ops/correlate/window_ring.h"
#if DEEPEST_RING == 8
#define ring_name KERNEL(ring7)
#define DEEP 7
#define STREAMS STREAMS_7
#include "ops/correlate/window_ring.h"
#define ring_name KERNEL(ring8)
#define DEEP 8
#define STREAMS STREAMS_8
#include "ops/correlate/window_ring.h"
#endif

static const tess_window_kernels KERNEL(kernels) = {
    .lanes = TESS_VECTOR_BYTES / (int)sizeof(real),
    .tall = TALL,
    .taps = 1,
    .narrows = TAKES_NARROW && WIDE % 4 == 0 && LINE % 4 == 0,
    .wide = WIDE,
    .line_vectors = LINE,
    .tile = KERNEL(tall_tile),
    .narrow = KERNEL(narrow_tile),
    .tile3 = KERNEL(tile3),
    .narrow3 = KERNEL(narrow3),
    .tall3 = TALL_3,
#if TESS_VECTOR_BYTES == 64
    .along3 = KERNEL(along3),
#endif
#if ROLLS
    .roll = {NULL, NULL, NULL, NULL, KERNEL(roll4), KERNEL(roll5), KERNEL(roll6), DEEPER_ROLLS(roll)},
    .narrow_roll = {NULL, NULL, NULL, NULL, KERNEL(narrow_roll4), KERNEL(narrow_roll5), KERNEL(narrow_roll6), DEEPER_ROLLS(narrow_roll)},
    .roll_wide = {[4] = ROLL_4, [5] = ROLL_5, [6] = ROLL_6, [7] = ROLL_7, ROLL_8, ROLL_9, ROLL_10, ROLL_11, ROLL_12, ROLL_13},
#endif
    .bytes = BYTES(tall_tile_u8),
    .narrow_bytes = BYTES(narrow_tile_u8),
    .line = KERNEL(line),
    .point = KERNEL(point),
    .ring =
        {
            [2] = KERNEL(ring2),
            [3] = KERNEL(ring3),
            [4] = KERNEL(ring4),
            [5] = KERNEL(ring5),
            [6] = KERNEL(ring6),
#if DEEPEST_RING == 8
            [7] = KERNEL(ring7),
            [8] = KERNEL(ring8),
#endif
        },
    .deepest = DEEPEST_RING,
    .fours = FOURS,
    .streams = {[2] = STREAMS_2,
                [3] = STREAMS_3,
                [4] = STREAMS_4,
                [5] = STREAMS_5,
                [6] = STREAMS_6,
#if DEEPEST_RING == 8
                [7] = STREAMS_7,
                [8] = STREAMS_8
#endif
    },
};

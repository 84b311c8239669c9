/* SPDX-License-Identifier: Apache-2.0
 * window_line.h - one output row by VECTORS vectors, for masks whose rows no second output row shares. Included once for each, as window_tile.h is.
 *
 * Every tap needs its own view of the input. Where lanes can slide (AVX-512) the vectors that stand LANES elements apart are loaded once for LANES
 * taps, and every second tap slides two of them instead of loading: an unaligned load of 64 bytes costs two fused multiply-adds' time, a slide takes
 * one of their ports once, and half of each is the fastest mixture (README.md). */

#define NAME(word) TESS_PASTE(tile_name, word)
#define HERE(word) TESS_PASTE(WORD, word)
enum { NAME(lanes) = TESS_VECTOR_BYTES / (int)sizeof(real) };

TESS_INLINE void NAME(tap)(vec *acc, const char *x, const real *w) {
    const vec weight = HERE(all_here)(w);
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) HERE(fma_here)(&acc[k], HERE(load_here)(x + k * TESS_VECTOR_BYTES), weight);
}

#if TESS_VECTOR_BYTES == 64
TESS_INLINE void NAME(slid_tap)(vec *acc, const vec *a, const real *w, int lane) {
    const vec weight = HERE(all_here)(w);
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) HERE(fma_here)(&acc[k], HERE(slide_here)(a[k], a[k + 1], lane), weight);
}

/* The first `taps` of up to LANES taps. */
TESS_INLINE void NAME(taps)(vec *acc, const char *x, const real *w, int64_t taps) {
    vec a[VECTORS + 1];
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) a[k] = HERE(load_here)(x + k * TESS_VECTOR_BYTES);
    a[VECTORS] = (vec){0};
    if (taps > 1)
        a[VECTORS] = HERE(load_first)(x + VECTORS * TESS_VECTOR_BYTES, taps - 1);
    const vec weight = HERE(all_here)(w);
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) HERE(fma_here)(&acc[k], a[k], weight);
#define TWO_TAPS(c)                                     \
    if ((c) >= NAME(lanes) || taps == (c))              \
        return;                                         \
    NAME(slid_tap)(acc, a, w + (c), (c) % NAME(lanes)); \
    if ((c) + 1 >= NAME(lanes) || taps == (c) + 1)      \
        return;                                         \
    NAME(tap)(acc, x + ((c) + 1) * (int)sizeof(real), w + (c) + 1);
    TWO_TAPS(1) TWO_TAPS(3) TWO_TAPS(5) TWO_TAPS(7) TWO_TAPS(9) TWO_TAPS(11) TWO_TAPS(13) TWO_TAPS(15)
#undef TWO_TAPS
}
#endif

static void tile_name(const tess_window_call *c) {
    const char *const *rows = c->rows;
    const real *w = c->weights;
    vec acc[VECTORS];
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[k] = (vec){0};
    for (int64_t p = 0; p < c->planes; p++, rows += c->lines)
        for (int64_t i = 0; i < c->wy; i++) {
            const char *x = rows[i] + c->at;
#if TESS_VECTOR_BYTES == 64
            if (c->step == (int64_t)sizeof(real)) {
                for (int64_t j = 0; j < c->wx; j += NAME(lanes), x += TESS_VECTOR_BYTES)
                    NAME(taps)(acc, x, w + j, tess_min64(c->wx - j, NAME(lanes)));
                w += c->wx;
                continue;
            }
#endif
            for (int64_t j = 0; j < c->wx; j++, x += c->step, w++)
                NAME(tap)(acc, x, w);
        }
    KERNEL(put)(c, c->out, acc, VECTORS);
}

#undef NAME
#undef HERE
#undef tile_name
#undef VECTORS

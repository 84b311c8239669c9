/* SPDX-License-Identifier: Apache-2.0
 * window_line.h - one output row by VECTORS vectors, for masks whose rows no second output row shares. Included once for each, as window_tile.h is.
 *
 * Every tap needs its own view of the input. Where lanes can slide (AVX-512) the vectors that stand LANES elements apart, whole lines if possible, are
 * loaded once for up to 2 LANES - 1 taps, and every second tap slides two of them instead of loading: an unaligned load of 64 bytes costs two fused
 * multiply-adds' time, a slide takes one of their ports once, and half of each is the fastest mixture (notes-cpu.md). */

#define NAME(word) TESS_PASTE(tile_name, word)
#define HERE(word) TESS_PASTE(WORD, word)
enum { NAME(lanes) = TESS_VECTOR_BYTES / (int)sizeof(real) };

TESS_INLINE void NAME(some)(vec *acc, const char *x, const real *w, int vectors) {
    const vec weight = HERE(all_here)(w);
    TESS_UNROLL for (int k = 0; k < vectors; k++) HERE(fma_here)(&acc[k], HERE(load_here)(x + k * TESS_VECTOR_BYTES), weight);
}
TESS_INLINE void NAME(tap)(vec *acc, const char *x, const real *w) { NAME(some)(acc, x, w, VECTORS); }

/* NaNs become the one that is stored. */
TESS_INLINE void NAME(settle)(vec *acc, int vectors) {
    if (KERNEL(is_nan)(KERNEL(total)(acc, vectors)))
        TESS_UNROLL for (int k = 0; k < vectors; k++) acc[k] = HERE(canonical)(acc[k]);
}

/* Row after row of `vectors` outputs, of so few taps that memory alone binds. Loads are all that these want, lines asked for ahead, and stores one after the
 * other. */
TESS_INLINE void NAME(few_at_once)(const tess_window_call *c, const int vectors) {
    const char *x = c->rows[0] + c->at;
    char *out = c->out;
    for (int64_t n = (c->more + 1) * (VECTORS / vectors); n > 0; n--, x += vectors * TESS_VECTOR_BYTES, out += vectors * TESS_VECTOR_BYTES) {
        const real *w = c->weights;
        vec acc[VECTORS];
        TESS_UNROLL for (int k = 0; k < vectors; k++) acc[k] = (vec){0};
        TESS_UNROLL for (int k = 0; k < vectors * TESS_VECTOR_BYTES; k += 64) __builtin_prefetch(x + c->near + k, 0, 3);
        for (int64_t j = 0; j < c->wx; j++)
            NAME(some)(acc, x + j * (int64_t)sizeof(real), w + j, vectors);
        NAME(settle)(acc, vectors);
        TESS_UNROLL for (int k = 0; k < vectors; k++) HERE(stream_here)(out + k * TESS_VECTOR_BYTES, acc[k]);
    }
}

static bool NAME(few)(const tess_window_call *c) {
    enum { FEW = 4, FEW_ZEN5 = 3 }; /* there 4 taps take 1.6 times as long so, in the third-level cache (notes-cpu.md) */
    if (c->step != (int64_t)sizeof(real) || c->planes * c->wy > 1 || c->wx > (tess_cpu_is_zen5() ? FEW_ZEN5 : FEW) || !c->stream || c->between ||
        c->put != TESS_WINDOW_PUT_WORK)
        return false;
    if (tess_cpu_is_zen5()) /* bursts of reads and of writes hold each other up: a line of each in turns 93 % of a copy, eight 89 */
        NAME(few_at_once)(c, VECTORS * TESS_VECTOR_BYTES > 64 ? 64 / TESS_VECTOR_BYTES : VECTORS);
    else
        NAME(few_at_once)(c, VECTORS);
    return true;
}

#if TESS_VECTOR_BYTES == 64
/* a[0] is the vector before those where sums stand; lane may be negative. */
TESS_INLINE void NAME(slid_tap)(vec *acc, const vec *a, const real *w, int lane) {
    const vec weight = HERE(all_here)(w);
    TESS_UNROLL for (int k = 0; k < VECTORS; k++)
        HERE(fma_here)(&acc[k], HERE(slide_here)(a[k + (lane > 0)], a[k + 1 + (lane > 0)], (lane + NAME(lanes)) % NAME(lanes)), weight);
}

/* before + 1 + after taps, before and after < LANES: the vectors are those that output 0 meets with tap `before`, best where lines begin. Taps meet
 * them, or what stands some lanes before or after. x: what the tap number `before` meets; w: its weight. Where `held` is given, these vectors are stored
 * at `to` on the way, past the caches and one after the other: all at once they would fill the buffers to memory, and the loads would wait. near: bytes
 * behind x whose lines are asked for then. */
TESS_INLINE void NAME(taps)(vec *acc, const char *x, const real *w, int64_t before, int64_t after, const vec *held, char *to, int64_t near) {
    vec a[VECTORS + 2];
    a[0] = HERE(load_last)(x - TESS_VECTOR_BYTES, before);
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) a[k + 1] = HERE(load_here)(x + k * TESS_VECTOR_BYTES);
    a[VECTORS + 1] = HERE(load_first)(x + VECTORS * TESS_VECTOR_BYTES, after);
/* With the taps -4 .. 3, whether there are such or not. */
#define LET_GO(d)                                                                                                  \
    if ((d) >= -4 && (d) + 4 < VECTORS && held) {                                                                  \
        __builtin_prefetch(x + near + (d)*TESS_VECTOR_BYTES, 0, 3);                                                \
        HERE(stream_here)(to + ((d) + 4) * TESS_VECTOR_BYTES, held[(d) >= -4 && (d) + 4 < VECTORS ? (d) + 4 : 0]); \
    }
#define EVEN(d) NAME(tap)(acc, x + (d) * (int)sizeof(real), w + (d))
#define ODD(d) NAME(slid_tap)(acc, a, w + (d), d)
#define UNMET(d)        \
    if (before < (d)) { \
        LET_GO(-(d))    \
    }
#define FROM(d, how) \
    case (d):        \
        how(-(d));   \
        LET_GO(-(d)) \
        __attribute__((fallthrough))
#define TO(d, how)      \
    if (after < (d)) {  \
        if ((d) <= 1) { \
            LET_GO(1)   \
        }               \
        if ((d) <= 2) { \
            LET_GO(2)   \
        }               \
        if ((d) <= 3) { \
            LET_GO(3)   \
        }               \
        return;         \
    }                   \
    how(d);             \
    LET_GO(d)
    UNMET(4);
    UNMET(3);
    UNMET(2);
    UNMET(1);
    switch (before) {
#if TESS_VECTOR_BYTES / LINE_WIDTH > 8
        FROM(15, ODD);
        FROM(14, EVEN);
        FROM(13, ODD);
        FROM(12, EVEN);
        FROM(11, ODD);
        FROM(10, EVEN);
        FROM(9, ODD);
        FROM(8, EVEN);
#endif
        FROM(7, ODD);
        FROM(6, EVEN);
        FROM(5, ODD);
        FROM(4, EVEN);
        FROM(3, ODD);
        FROM(2, EVEN);
        FROM(1, ODD);
    default: break;
    }
    const vec weight = HERE(all_here)(w);
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) HERE(fma_here)(&acc[k], a[k + 1], weight);
    LET_GO(0);
    TO(1, ODD);
    TO(2, EVEN);
    TO(3, ODD);
    TO(4, EVEN);
    TO(5, ODD);
    TO(6, EVEN);
    TO(7, ODD);
#if TESS_VECTOR_BYTES / LINE_WIDTH > 8
    TO(8, EVEN);
    TO(9, ODD);
    TO(10, EVEN);
    TO(11, ODD);
    TO(12, EVEN);
    TO(13, ODD);
    TO(14, EVEN);
    TO(15, ODD);
#endif
#undef TO
#undef UNMET
#undef FROM
#undef ODD
#undef EVEN
#undef LET_GO
}

/* The tap on which lines of the input begin, of the `taps` for which x is met first by output 0. */
TESS_INLINE int64_t NAME(aligned)(const char *x, int64_t taps) {
    const int64_t before = ((int64_t)((uintptr_t)x % TESS_VECTOR_BYTES) / -(int64_t)sizeof(real)) & (NAME(lanes) - 1);
    return tess_min64(before, taps - 1);
}

/* Tile after tile of one row of so many taps. */
TESS_INLINE void NAME(run)(const tess_window_call *c, int64_t before, int64_t after) {
    const char *x = c->rows[0] + c->at + before * (int64_t)sizeof(real);
    const real *w = (const real *)c->weights + before;
    char *out = c->out;
    for (int64_t n = c->more; n >= 0; n--, x += VECTORS * TESS_VECTOR_BYTES, out += c->out_step) {
        vec acc[VECTORS];
        TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[k] = (vec){0};
        NAME(taps)(acc, x, w, before, after, NULL, NULL, 0);
        KERNEL(put)(c, out, acc, VECTORS);
    }
}

/* The same, where outputs are stored past the caches: those of a tile while the next one is under way. */
TESS_INLINE void NAME(run_past_caches)(const tess_window_call *c, int64_t before, int64_t after) {
    const char *x = c->rows[0] + c->at + before * (int64_t)sizeof(real);
    const real *w = (const real *)c->weights + before;
    char *out = c->out, *to = out; /* what the first stores will be overwritten */
    const int64_t near = c->near + 4 * TESS_VECTOR_BYTES;
    vec held[VECTORS];
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) held[k] = (vec){0};
    for (int64_t n = c->more; n >= 0; n--, x += VECTORS * TESS_VECTOR_BYTES, out += VECTORS * TESS_VECTOR_BYTES) {
        vec acc[VECTORS];
        TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[k] = (vec){0};
        NAME(taps)(acc, x, w, before, after, held, to, near);
        NAME(settle)(acc, VECTORS);
        TESS_UNROLL for (int k = 0; k < VECTORS; k++) held[k] = acc[k];
        to = out;
    }
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) HERE(stream)(to + k * TESS_VECTOR_BYTES, held[k]);
}

/* Of a mask of one row that two vectors' lanes cover. */
static bool NAME(one_row)(const tess_window_call *c) {
    if (c->step != (int64_t)sizeof(real) || c->planes * c->wy > 1)
        return false;
    int64_t before = NAME(aligned)(c->rows[0] + c->at, c->wx);
    if (c->wx - 1 - before >= NAME(lanes))
        before = c->wx / 2;
    if (c->wx - 1 - before >= NAME(lanes) || before >= NAME(lanes))
        return false;
    if (c->stream && !c->between && c->put == TESS_WINDOW_PUT_WORK) {
        NAME(run_past_caches)(c, before, c->wx - 1 - before);
    } else {
        NAME(run)(c, before, c->wx - 1 - before);
    }
    return true;
}

/* A row of taps that follow each other. */
TESS_INLINE void NAME(row)(vec *acc, const char *x, const real *w, int64_t taps) {
    while (taps > 0) {
        const int64_t before = NAME(aligned)(x, taps), now = tess_min64(taps, before + NAME(lanes));
        NAME(taps)(acc, x + before * (int64_t)sizeof(real), w + before, before, now - 1 - before, NULL, NULL, 0);
        x += now * (int64_t)sizeof(real);
        w += now;
        taps -= now;
    }
}
#else
/* Tile after tile of one row of taps, a half of each at once, stored past the caches while the next half is under way. */
static bool NAME(one_row)(const tess_window_call *c) {
    enum { HALF = VECTORS > 1 ? VECTORS / 2 : 1 };
    if (c->step != (int64_t)sizeof(real) || c->planes * c->wy > 1 || !c->stream || c->between || c->put != TESS_WINDOW_PUT_WORK)
        return false;
    const char *x = c->rows[0] + c->at;
    char *out = c->out, *to = out; /* what the first stores will be overwritten */
    vec held[HALF];
    TESS_UNROLL for (int k = 0; k < HALF; k++) held[k] = (vec){0};
    for (int64_t n = (c->more + 1) * (VECTORS / HALF); n > 0; n--, x += HALF * TESS_VECTOR_BYTES, out += HALF * TESS_VECTOR_BYTES) {
        const real *w = c->weights, *end = w + c->wx;
        const char *at = x;
        vec acc[HALF];
        TESS_UNROLL for (int k = 0; k < HALF; k++) acc[k] = (vec){0};
        TESS_UNROLL for (int t = 0; t < HALF; t++) {
            if (w < end) {
                NAME(some)(acc, at, w, HALF);
                at += sizeof(real);
                w++;
            }
            HERE(stream_here)(to + t * TESS_VECTOR_BYTES, held[t]);
        }
        for (; w < end; w++, at += sizeof(real))
            NAME(some)(acc, at, w, HALF);
        NAME(settle)(acc, HALF);
        TESS_UNROLL for (int k = 0; k < HALF; k++) held[k] = acc[k];
        to = out;
    }
    TESS_UNROLL for (int k = 0; k < HALF; k++) HERE(stream)(to + k * TESS_VECTOR_BYTES, held[k]);
    return true;
}
#endif

static void tile_name(const tess_window_call *c) {
    if (NAME(few)(c) || NAME(one_row)(c))
        return;
    char *out = c->out;
    int64_t at = c->at;
    for (int64_t n = c->more; n >= 0; n--, at += VECTORS * TESS_VECTOR_BYTES, out += c->out_step) {
        const char *const *rows = c->rows;
        const real *w = c->weights;
        vec acc[VECTORS];
        TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[k] = (vec){0};
        for (int64_t p = 0; p < c->planes; p++, rows += c->lines)
            for (int64_t i = 0; i < c->wy; i++) {
                const char *x = rows[i] + at;
#if TESS_VECTOR_BYTES == 64
                if (c->step == (int64_t)sizeof(real)) {
                    NAME(row)(acc, x, w, c->wx);
                    w += c->wx;
                    continue;
                }
#endif
                for (int64_t j = 0; j < c->wx; j++, x += c->step, w++)
                    NAME(tap)(acc, x, w);
            }
        KERNEL(put)(c, out, acc, VECTORS);
    }
}

#undef NAME
#undef HERE
#undef tile_name
#undef VECTORS

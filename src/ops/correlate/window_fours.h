/* SPDX-License-Identifier: Apache-2.0
 * window_fours.h - one row by one mask of f32 in four stretches side by side, whose elements change places four by four. For vectors of 64 bytes.
 *
 * Every tap of a row needs its own view of the input, which is a load across two lines or a slide (window_line.h). Here the vectors of four stretches are
 * transposed within every 16 bytes, so that vector k has of each stretch the elements k, k + 4, k + 8 and k + 12. What tap j meets for the outputs r, r + 4 ..
 * is then vector (r + j) % 4, slid by a number of whole groups of four. So taps + 3 views, of which every fourth needs no slide, serve four vectors of outputs:
 * with the transposes there and back 7 shuffles and slides a vector and one load beside 17 multiply-adds, where a line has 16 loads and slides.
 *
 * Two steps are under way at once, the first half of step s beside the second half of step s - 1: eight chains of multiply-adds that do not end all together. What
 * step s slides to the right step s - 1 slides to the left, so many views serve both. No sum sees its taps but in order. */

enum { FOUR = 4, FOURS_MIDDLE = FOUR * FOUR }; /* view FOURS_MIDDLE + u of a step is that of the elements u to the right of its outputs; see below */
#define FOURS_UNROLL _Pragma("GCC unroll 32")  /* TESS_UNROLL ends at 16, and half of 33 taps has 18 views */

/* Transposes 4 x 4 elements in every 16 bytes. */
TESS_INLINE void fours_turn(v_f32 *to, const v_f32 *from) {
    const v_f32 a = v_f32_firsts_here(from[0], from[1]), b = v_f32_firsts_here(from[2], from[3]);
    const v_f32 c = v_f32_lasts_here(from[0], from[1]), d = v_f32_lasts_here(from[2], from[3]);
    to[0] = v_f32_evens_here(a, b);
    to[1] = v_f32_odds_here(a, b);
    to[2] = v_f32_evens_here(c, d);
    to[3] = v_f32_odds_here(c, d);
}

/* View z of the vectors a and, behind them, b: element z of each group of four and the ones behind it, b's first at z = FOURS_MIDDLE. */
TESS_INLINE v_f32 fours_view(const v_f32 *a, const v_f32 *b, v_f32 *slid, int z, bool made) {
    if (z < FOUR || z >= FOURS_MIDDLE)
        return z < FOUR ? a[z] : b[z - FOURS_MIDDLE];
    if (!made) /* by cases, because the distance has to be a constant where no loop is unrolled, too */
        switch (z / FOUR) {
        case 1: slid[z] = v_f32_slide_here(a[z % FOUR], b[z % FOUR], FOUR); break;
        case 2: slid[z] = v_f32_slide_here(a[z % FOUR], b[z % FOUR], 2 * FOUR); break;
        default: slid[z] = v_f32_slide_here(a[z % FOUR], b[z % FOUR], 3 * FOUR); break;
        }
    return slid[z];
}

/* View `at` of the `taps` + 3 that four sums meet. */
TESS_INLINE void fours_meet(v_f32 *sums, v_f32 *weight, const float *w, v_f32 view, int at, const int taps) {
    if (at < taps)
        weight[at % FOUR] = v_f32_all_here(w + at);
    TESS_UNROLL for (int r = 0; r < FOUR; r++) if (at >= r && at - r < taps) v_f32_fma_here(&sums[r], view, weight[(at - r) % FOUR]);
}

/* careful: each NaN is looked for before it is stored; else returned is whether there may be any. */
TESS_INLINE bool fours_some(const tess_window_stretch *c, bool careful, const int taps) {
    const int before = taps / 2, after = taps - 1 - before, views = taps + FOUR - 1, half = views / 2;
    const int lag = FOURS_MIDDLE - half; /* the second half's turn t has the view of the first half's turn t - lag */
    const int64_t hop = c->hop, steps = c->steps, near = c->near;
    const float *w = c->weights;
    const char *x = c->x + before * (int)sizeof(float); /* where outputs stand */
    char *out = c->out - TESS_VECTOR_BYTES;
    v_f32 in[FOUR], a[FOUR], b[FOUR], sums[FOUR], met = {0};
    TESS_UNROLL for (int k = 0; k < FOUR; k++) in[k] = v_f32_load_last(x + k * hop - TESS_VECTOR_BYTES, before);
    fours_turn(a, in);
    TESS_UNROLL for (int k = 0; k < FOUR; k++) in[k] = v_f32_load_here(x + k * hop);
    fours_turn(b, in);
    TESS_UNROLL for (int k = 0; k < FOUR; k++) sums[k] = (v_f32){0};
    for (int64_t s = 0;; s++, x += TESS_VECTOR_BYTES, out += TESS_VECTOR_BYTES) {
        __asm__ volatile("" : "+r"(w)); /* else each weight's address would be kept, in memory, and loaded first */
        v_f32 slid[FOURS_MIDDLE], last[FOUR], weight[FOUR], last_weight[FOUR];
        TESS_UNROLL for (int k = 0; k < FOUR; k++) last[k] = sums[k], sums[k] = (v_f32){0};
        TESS_UNROLL for (int k = half < FOUR ? 0 : half - FOUR + 1; k < half; k++) last_weight[k % FOUR] = v_f32_all_here(w + k);
        FOURS_UNROLL for (int t = 0; t < views - half; t++) {
            if (t < half)
                fours_meet(sums, weight, w, fours_view(a, b, slid, FOURS_MIDDLE - before + t, lag < 0 && t + lag >= 0), t, taps);
            fours_meet(last, last_weight, w, fours_view(a, b, slid, half - before + t, lag >= 0 && t >= lag && t - lag < half), half + t, taps);
            if (t < FOUR) {
                if (near)
                    tess_prefetch_l1(x + t * hop + near);
                else
                    tess_prefetch_l2(x + (FOUR + t) * hop); /* of the stretches after these */
            }
        }
        if (s > 0) {
            v_f32 sum[FOUR];
            if (careful)
                TESS_UNROLL for (int k = 0; k < FOUR; k++) last[k] = v_f32_canonical(last[k]);
            else
                met += (last[0] + last[1]) + (last[2] + last[3]);
            fours_turn(sum, last);
            TESS_UNROLL for (int k = 0; k < FOUR; k++) {
                if (c->stream)
                    v_f32_stream_here(out + k * hop, sum[k]);
                else
                    v_f32_store(out + k * hop, sum[k]);
            }
        }
        if (s == steps)
            break;
        TESS_UNROLL for (int k = 0; k < FOUR; k++) a[k] = b[k];
        if (s + 1 < steps)
            TESS_UNROLL for (int k = 0; k < FOUR; k++) in[k] = v_f32_load_here(x + k * hop + TESS_VECTOR_BYTES);
        else
            TESS_UNROLL for (int k = 0; k < FOUR; k++) in[k] = v_f32_load_first(x + k * hop + TESS_VECTOR_BYTES, after);
        fours_turn(b, in);
    }
    return !careful && any_flag(v_f32_nans(v_flags_none(), met, met));
}

/* What has gone past the caches would have to come back to be mended, so a stretch with a NaN is done once more. */
TESS_INLINE void fours_all(const tess_window_stretch *c, const int taps) {
    for (bool careful = false; fours_some(c, careful, taps); careful = true)
        ;
}

#define FOURS_OF(taps) \
    static void fours_##taps(const tess_window_stretch *c) { fours_all(c, taps); }

/* SPDX-License-Identifier: Apache-2.0
 * window_along.h - ROWS output rows for a mask of 3 rows of 3 taps that follow each other, a vector of each a step, from left to right. Included once for
 * each type, with along_name, ROWS and what window_tile.h wants.
 *
 * A step loads one vector of each of ROWS + 2 input rows, the one to the right of the outputs. The one over them and the one to their left are in registers
 * still, and the outer taps are lane slides of two neighbours, on a port that multiply-adds leave free. So no line is met twice: a tile (window_square.h)
 * loads for each tap, two of three loads lie across two lines, and where rows are a power of two apart these fall into the same sets of the first-level
 * cache. And memory is asked evenly: one line of each row is read, one asked for and one stored, step by step.
 *
 * Nothing is read but what the mask meets: of the first vector to the left and of the last to the right one element.
 *
 * Registers: 2 * (ROWS + 2) vectors of input, 9 weights, three sums at a time, a load, a slide, zeros and what was met: 28 of 32 for 4 rows. */

#define NAME(word) TESS_PASTE(along_name, word)
#define HERE(word) TESS_PASTE(WORD, word)
enum { NAME(STRETCH) = 128 }; /* steps between two looks for NaNs */

/* Steps first .. first + steps - 1; last: the one behind which nothing is read. Returns whether NaNs may have been stored as they are. */
TESS_INLINE bool NAME(some)(const tess_window_call *c, int64_t first, int64_t steps, bool careful, bool last) {
    enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(real) };
    const real *w = c->columns;
    const char *x[ROWS + 2], *ahead[ROWS];
    vec weight[9], left[ROWS + 2], middle[ROWS + 2], met = {0};
    TESS_UNROLL for (int k = 0; k < 9; k++) weight[k] = HERE(all_here)(w + k);
    TESS_UNROLL for (int r = 0; r < ROWS; r++) ahead[r] = c->ahead[r] + c->ahead_at + first * c->ahead_bytes;
    TESS_UNROLL for (int i = 0; i < ROWS + 2; i++) {
        x[i] = c->rows[i] + c->at + first * TESS_VECTOR_BYTES;
        left[i] = HERE(all_here)((const real *)(const void *)x[i]);
        middle[i] = HERE(load_here)(x[i] + sizeof(real));
    }
    char *out = c->out + first * TESS_VECTOR_BYTES;
    for (int64_t at = 0, ahead_at = 0; at < steps * TESS_VECTOR_BYTES; at += TESS_VECTOR_BYTES, ahead_at += c->ahead_bytes) {
        vec sums[ROWS];
        TESS_UNROLL for (int r = 0; r < ROWS; r++) sums[r] = (vec){0};
        TESS_UNROLL for (int i = 0; i < ROWS + 2; i++) {
            const char *next = x[i] + at + TESS_VECTOR_BYTES + sizeof(real);
            const vec right = last ? HERE(all_here)((const real *)(const void *)next) : HERE(load_here)(next);
            if (i < ROWS)
                tess_prefetch_l2(ahead[i] + ahead_at);
            TESS_UNROLL for (int j = 0; j < 3; j++) {
                vec v = middle[i];
                if (j != 1)
                    v = HERE(slide_here)(j == 0 ? left[i] : v, j == 0 ? v : right, j == 0 ? LANES - 1 : 1);
                TESS_UNROLL for (int r = 0; r < ROWS; r++) if (r <= i && i - r < 3) HERE(fma_here)(&sums[r], v, weight[j * 3 + i - r]);
            }
            left[i] = middle[i];
            middle[i] = right;
            if (i >= 2 && careful)
                KERNEL(put)(c, out + at + (i - 2) * c->out_stride, &sums[i - 2], 1);
            else if (i >= 2)
                KERNEL(put_unseen)(c, out + at + (i - 2) * c->out_stride, &sums[i - 2], 1, &met);
        }
    }
    return !careful && KERNEL(is_nan)(met);
}

static TESS_NOINLINE void NAME(last)(const tess_window_call *c) { NAME(some)(c, c->more, 1, true, true); }
static TESS_NOINLINE void NAME(carefully)(const tess_window_call *c, int64_t first) { NAME(some)(c, first, c->more - first, true, false); }

/* NaNs are looked for once a stretch. The first stretch with any is done once more, and the rest of the row, so that each vector is looked at before it
 * is stored: what has gone past the caches would have to come back to be mended. known: the call, with how outputs are stored known when this is compiled. */
TESS_INLINE void NAME(all)(const tess_window_call *c, const tess_window_call *known) {
    for (int64_t first = 0; first < c->more; first += NAME(STRETCH))
        if (NAME(some)(known, first, tess_min64(c->more - first, NAME(STRETCH)), false, false)) {
            NAME(carefully)(c, first);
            break;
        }
    NAME(last)(c);
}

static void along_name(const tess_window_call *c) {
    tess_window_call known = *c;
    known.put = TESS_WINDOW_PUT_WORK;
    if (c->between) {
        known.between = true;
        known.stream = false;
        NAME(all)(c, &known);
    } else if (c->stream) {
        known.between = false;
        known.stream = true;
        NAME(all)(c, &known);
    } else {
        known.between = known.stream = false;
        NAME(all)(c, &known);
    }
}

#undef NAME
#undef HERE
#undef along_name
#undef ROWS

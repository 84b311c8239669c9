/* SPDX-License-Identifier: Apache-2.0
 * roll_kernel.h - a column mask and a row mask of TAPS taps each over ROWS rows, marching to the right. Included once for each, with roll_name, vec,
 * real, WORD and LOAD(x), a vector of what stands at x.
 *
 * The sums of the column mask for one vector of columns are made from ROWS + TAPS - 1 loads; those of the vector before it and of the one before that
 * are still in registers, and what the row mask wants of all three are lane slides. So between the passes nothing is stored, and a slide runs on a port
 * that the multiply-adds leave free. All loads are those of whole vectors: where the input is aligned, so are they, and none meets a line twice, which
 * matters where rows are a power of two apart and fall into the same sets of the first-level cache.
 *
 * Registers: 3 * ROWS sums of columns, ROWS sums of rows, all weights, a load and a slide: at most 32 up to 7 taps. Beyond, weights of the row mask are
 * broadcast for every tap, and some of the column mask wait on the stack. */

#define NAME(word) TESS_PASTE(roll_name, word)
#define HERE(word) TESS_PASTE(WORD, word)
#define KEEP (TAPS <= 7)

TESS_INLINE void NAME(columns)(vec *sums, const char *const *rows, int64_t at, const vec *weight) {
    TESS_UNROLL for (int r = 0; r < ROWS; r++) sums[r] = (vec){0};
    UNROLL for (int i = 0; i < ROWS + TAPS - 1; i++) {
        const vec v = LOAD(rows[i] + at);
        TESS_UNROLL for (int r = 0; r < ROWS; r++) if (r <= i && i - r < TAPS) HERE(fma_here)(&sums[r], v, weight[i - r]);
    }
}

/* Tap k of the row mask for a vector of outputs over `middle`. */
TESS_INLINE vec NAME(tap)(vec left, vec middle, vec right, int k) {
    enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(real) };
    if (k < TAPS / 2)
        return HERE(slide_here)(left, middle, LANES + k - TAPS / 2);
    return k == TAPS / 2 ? middle : HERE(slide_here)(middle, right, k - TAPS / 2);
}

static void roll_name(const tess_roll_call *c) {
    const real *column = c->column, *row = c->row;
    const int64_t steps = c->steps;
    vec down[TAPS], across[TAPS], left[ROWS], middle[ROWS], right[ROWS];
    TESS_UNROLL for (int k = 0; k < TAPS; k++) down[k] = HERE(all_here)(column + k), across[k] = KEEP ? HERE(all_here)(row + k) : (vec){0};
    TESS_UNROLL for (int r = 0; r < ROWS; r++) left[r] = middle[r] = (vec){0};
    const char *rows[ROWS + TAPS - 1], *ahead[ROWS];
    UNROLL for (int i = 0; i < ROWS + TAPS - 1; i++) rows[i] = c->rows[i];
    TESS_UNROLL for (int r = 0; r < ROWS; r++) ahead[r] = c->ahead[r] + c->ahead_at;
    int64_t at = c->at - c->step, ahead_at = 0;
    char *out = c->out;
    for (int64_t s = -2; s < steps; s++, at += c->step) {
        const char *edge = s == -2 ? c->first : s == steps - 1 ? c->last : NULL;
        if (__builtin_expect(edge != NULL, 0))
            TESS_UNROLL for (int r = 0; r < ROWS; r++) right[r] = HERE(load)(edge + r * c->edge_stride);
        else
            NAME(columns)(right, rows, at, down);
        if (s >= 0) {
            vec sums[ROWS];
            TESS_UNROLL for (int r = 0; r < ROWS; r++) tess_prefetch_l2(ahead[r] + ahead_at), sums[r] = (vec){0};
            TESS_UNROLL for (int k = 0; k < TAPS; k++) {
                const vec weight = KEEP ? across[k] : HERE(all_here)(row + k);
                TESS_UNROLL for (int r = 0; r < ROWS; r++) HERE(fma_here)(&sums[r], NAME(tap)(left[r], middle[r], right[r], k), weight);
            }
            PUT(out, c->out_stride, c->out_stride, sums, ROWS);
            out += c->out_step;
            ahead_at += c->ahead_step;
        }
        TESS_UNROLL for (int r = 0; r < ROWS; r++) left[r] = middle[r], middle[r] = right[r];
    }
}

#undef NAME
#undef HERE
#undef KEEP
#undef roll_name
#undef TAPS
#undef ROWS

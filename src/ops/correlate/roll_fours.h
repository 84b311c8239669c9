/* SPDX-License-Identifier: Apache-2.0
 * roll_fours.h - roll_kernel.h for masks of up to 9 taps of f32 and vectors of 64 bytes: taps of the column and of the row take turns, as in roll_woven.h, and
 * what slides does so mostly within 16 bytes. Included with roll_name, vec, real, WORD and LOAD(x).
 *
 * A slide across the vector runs on two ports, one of which multiply-adds want, too, and with 8 for 18 multiply-adds some wait. A shuffle within 16 bytes runs on
 * three. So only the vectors that stand four elements to the left and to the right of the outputs are slid; the one two elements off is a shuffle of that one and
 * the middle, and those one and three off are shuffles of what is two off and what stands beside it. */

#define NAME(word) TESS_PASTE(roll_name, word)
#define HERE(word) TESS_PASTE(WORD, word)

/* What tap d of the row mask meets. four, two: the vectors 4 and 2 elements off on the same side, made by the tap that wants them first. */
TESS_INLINE vec NAME(tap)(vec left, vec middle, vec right, vec *four, vec *two, int d) {
    enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(real) };
    const vec low = d < 0 ? *four : middle, high = d < 0 ? middle : *four;
    switch (d) {
    case -4: return *four = HERE(slide_here)(left, middle, LANES - 4);
    case -3: *two = HERE(ends_here)(low, high); return HERE(middles_here)(low, *two);
    case -2: return *two;
    case -1: return HERE(middles_here)(*two, high);
    case 0: return middle;
    case 1:
        *four = HERE(slide_here)(middle, right, 4);
        *two = HERE(ends_here)(middle, *four);
        return HERE(middles_here)(middle, *two);
    case 2: return *two;
    case 3: return HERE(middles_here)(*two, high);
    default: return *four;
    }
}

static void roll_name(const tess_roll_call *c) {
    const real *column = c->column, *row = c->row;
    const int64_t steps = c->steps;
    vec left[ROWS], middle[ROWS], right[ROWS];
    TESS_UNROLL for (int r = 0; r < ROWS; r++) left[r] = middle[r] = right[r] = (vec){0};
    const char *rows[ROWS + TAPS - 1], *ahead[ROWS];
    UNROLL for (int i = 0; i < ROWS + TAPS - 1; i++) rows[i] = c->rows[i];
    TESS_UNROLL for (int r = 0; r < ROWS; r++) ahead[r] = c->ahead[r] + c->ahead_at;
    const int64_t begin = c->first ? 0 : -1, end = c->last ? steps - 1 : steps; /* lines of the input */
    int64_t ahead_at = 0;
    char *out = c->out;
    for (int64_t s = -3; s < steps; s++) { /* makes the columns of line s + 2 and the outputs of line s */
        const int64_t at = c->at + tess_max64(tess_min64(s + 2, end), begin) * c->step;
        vec sums[ROWS], next[ROWS], weight[ROWS], four[ROWS], two[ROWS];
        TESS_UNROLL for (int r = 0; r < ROWS; r++) sums[r] = next[r] = (vec){0};
        UNROLL for (int i = 0; i < ROWS + TAPS - 1; i++) {
            if (i < TAPS)
                weight[i % ROWS] = HERE(all_here)(column + i);
            const vec v = LOAD(rows[i] + at);
            TESS_UNROLL for (int r = 0; r < ROWS; r++) if (r <= i && i - r < TAPS) HERE(fma_here)(&next[r], v, weight[(i - r) % ROWS]);
            if (i < ROWS / 2 || i - ROWS / 2 >= TAPS)
                continue;
            const int d = i - ROWS / 2 - TAPS / 2;
            const vec across = HERE(all_here)(row + d + TAPS / 2);
            TESS_UNROLL for (int r = 0; r < ROWS; r++)
                HERE(fma_here)(&sums[r], NAME(tap)(left[r], middle[r], right[r], &four[r], &two[r], d), across);
        }
        const char *edge = s == -3 ? c->first : s == steps - 2 ? c->last : NULL;
        if (__builtin_expect(edge != NULL, 0))
            TESS_UNROLL for (int r = 0; r < ROWS; r++) next[r] = HERE(load)(edge + r * c->edge_stride);
        if (s >= 0) {
            TESS_UNROLL for (int r = 0; r < ROWS; r++) tess_prefetch_l2(ahead[r] + ahead_at);
            PUT(out, c->out_stride, c->out_stride, sums, ROWS);
            out += c->out_step;
            ahead_at += c->ahead_step;
        }
        TESS_UNROLL for (int r = 0; r < ROWS; r++) left[r] = middle[r], middle[r] = right[r], right[r] = next[r];
    }
}

#undef NAME
#undef HERE
#undef roll_name
#undef TAPS
#undef ROWS

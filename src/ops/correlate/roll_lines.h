/* SPDX-License-Identifier: Apache-2.0
 * roll_lines.h - roll_kernel.h for vectors of 32 bytes and 16 registers: a column mask and a row mask of TAPS taps each over ROWS rows, marching to the
 * right. Included once for each, with roll_name, vec, real, WORD, LOAD(x), a vector of what stands at x, HALF, the bytes of it in the input, and SLID.
 *
 * Sums of columns do not fit the registers here. They go into a buffer of some lines a row, which stays in the first-level cache, and are read there some
 * steps later, when the stores are done: a load that meets two stores under way waits for both. A step makes a line (two vectors) of every row, so that
 * no line of the input is met twice.
 *
 * An unaligned load of 32 bytes costs as much as two multiply-adds, since every second one meets two lines. So a part of the taps slide instead, within
 * halves of a vector: a vector that begins half a vector later serves three distances to either side. Bit d of SLID: those at distance d do. */

#define NAME(word) TESS_PASTE(roll_name, word)
#define HERE(word) TESS_PASTE(WORD, word)
enum {
    NAME(lanes) = TESS_VECTOR_BYTES / (int)sizeof(real),
    NAME(later) = 3,                                  /* steps from the sums of columns to the outputs over them, which meet lines on both sides */
    NAME(lines) = 32,                                 /* of a row of the buffer */
    NAME(pitch) = NAME(lines) * 64 + 3 * 64,          /* bytes of a row: rows do not fall into the same sets */
    NAME(kept) = (NAME(later) + 1) * 64,              /* bytes that outputs will still meet when the buffer is full */
    NAME(far) = (SLID) >> (NAME(lanes) / 2 + 1) != 0, /* whether a slide needs more than the vector that outputs stand over */
    NAME(lag) = NAME(later) * 64
};

/* Line by line: what ROWS rows sum up to goes to rows of the buffer. A weight is needed for ROWS input rows in turn. */
TESS_INLINE void NAME(columns)(char *to, const char *const *rows, int64_t at, const real *w) {
    vec weight[ROWS], sums[ROWS][2];
    TESS_UNROLL for (int r = 0; r < ROWS; r++) sums[r][0] = sums[r][1] = (vec){0};
    UNROLL for (int i = 0; i < ROWS + TAPS - 1; i++) {
        if (i < TAPS)
            weight[i % ROWS] = HERE(all_here)(w + i);
        TESS_UNROLL for (int h = 0; h < 2; h++) {
            const vec v = LOAD(rows[i] + at + h * HALF);
            TESS_UNROLL for (int r = 0; r < ROWS; r++) if (r <= i && i - r < TAPS) HERE(fma_here)(&sums[r][h], v, weight[(i - r) % ROWS]);
        }
        if (i >= TAPS - 1)
            TESS_UNROLL for (int h = 0; h < 2; h++) HERE(store)(to + (i - TAPS + 1) * NAME(pitch) + h * TESS_VECTOR_BYTES, sums[i - TAPS + 1][h]);
    }
}

/* The tap at distance d for the two vectors of outputs over the line at x of the buffer. z: the vectors from the one before it on; t: those that begin half
 * a vector later. */
TESS_INLINE void NAME(tap)(vec *sums, const char *x, const vec *z, const vec *t, int d, vec weight) {
    enum { LANES = NAME(lanes), MIDDLE = LANES / 2 };
    const int by = d < 0 ? -d : d;
    const bool slides = SLID && by < LANES && (by == 0 || by == MIDDLE || (SLID) >> by & 1);
    TESS_UNROLL for (int h = 0; h < 2; h++) {
        const int i = ((1 + h) * LANES + d) / LANES, n = ((1 + h) * LANES + d) % LANES; /* lane n of vector i */
        if (!slides)
            HERE(fma_from_here)(&sums[h], x + h * TESS_VECTOR_BYTES + d * (int)sizeof(real), weight);
        else if (n == 0 || n == MIDDLE)
            HERE(fma_here)(&sums[h], n == 0 ? z[i] : t[i], weight);
        else if (n < MIDDLE)
            HERE(fma_here)(&sums[h], HERE(slide_halves_here)(z[i], t[i], n), weight);
        else
            HERE(fma_here)(&sums[h], HERE(slide_halves_here)(t[i], z[i + 1], n - MIDDLE), weight);
    }
}

/* Two rows of outputs over the lines at x and at the next row of the buffer. */
TESS_INLINE void NAME(across)(vec (*sums)[2], const char *x, const real *w) {
    vec z[2][4], t[2][3];
    TESS_UNROLL for (int q = 0; q < 2; q++, x += NAME(pitch)) {
        TESS_UNROLL for (int i = 0; i < 4; i++) z[q][i] =
            SLID && (NAME(far) || i == 1 || i == 2) ? HERE(load_here)(x + (i - 1) * TESS_VECTOR_BYTES) : (vec){0};
        TESS_UNROLL for (int i = 0; i < 3; i++) t[q][i] = SLID ? HERE(load_here)(x + (2 * i - 1) * TESS_VECTOR_BYTES / 2) : (vec){0};
        sums[q][0] = sums[q][1] = (vec){0};
    }
    x -= 2 * NAME(pitch);
    TESS_UNROLL for (int k = 0; k < TAPS; k++) {
        const vec weight = HERE(all_here)(w + k);
        TESS_UNROLL for (int q = 0; q < 2; q++) NAME(tap)(sums[q], x + q * NAME(pitch), z[q], t[q], k - TAPS / 2, weight);
    }
}

static void roll_name(const tess_roll_call *c) {
    const int64_t steps = c->steps, out_step = c->out_step;
    char buffer[ROWS * NAME(pitch)] __attribute__((aligned(64))), *to = buffer, *out = c->out;
    const char *rows[ROWS + TAPS - 1], *ahead[ROWS];
    UNROLL for (int i = 0; i < ROWS + TAPS - 1; i++) rows[i] = c->rows[i];
    TESS_UNROLL for (int r = 0; r < ROWS; r++) ahead[r] = c->ahead[r] + c->ahead_at;
    int64_t at = c->at - c->step, ahead_at = 0;
    for (int64_t s = -1; s < steps + NAME(later); s++, at += c->step, to += 64) {
        if (__builtin_expect(to == buffer + NAME(lines) * 64, 0)) {
            for (int r = 0; r < ROWS; r++)
                memcpy(buffer + r * NAME(pitch), to + r * NAME(pitch) - NAME(kept), NAME(kept));
            to = buffer + NAME(kept);
        }
        const char *edge = s == -1 ? c->first : s == steps ? c->last : NULL;
        if (__builtin_expect(edge != NULL, 0))
            for (int r = 0; r < ROWS; r++)
                memcpy(to + r * NAME(pitch), edge + r * c->edge_stride, 64);
        else if (s <= steps)
            NAME(columns)(to, rows, at, c->column);
        if (s < NAME(later))
            continue;
        TESS_UNROLL for (int r = 0; r < ROWS; r += 2) {
            vec sums[2][2];
            TESS_UNROLL for (int q = 0; q < 2; q++) tess_prefetch_l2(ahead[r + q] + ahead_at);
            NAME(across)(sums, to - NAME(lag) + r * NAME(pitch), c->row);
            TESS_UNROLL for (int q = 0; q < 2; q++) PUT(out + (r + q) * c->out_stride, TESS_VECTOR_BYTES, NAME(lanes), sums[q], 2);
        }
        out += out_step;
        ahead_at += c->ahead_step;
    }
}

#undef NAME
#undef HERE
#undef roll_name
#undef TAPS
#undef ROWS

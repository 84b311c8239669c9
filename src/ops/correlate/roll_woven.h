/* SPDX-License-Identifier: Apache-2.0
 * roll_woven.h - longer masks than roll_kernel.h takes: a column mask and a row mask of TAPS taps each over ROWS rows, marching to the right, a tap of one
 * and then a tap of the other. Included once for each, with roll_name, vec, real, WORD, LOAD(x) and SLIDES.
 *
 * One mask after the other leaves the multiply-adds waiting twice a step, where few sums have begun or are left: too few chains are under way. Here the row
 * mask works on columns that were summed up some steps before, so both have nothing to do with each other and their taps take turns: 2 * ROWS chains. Sums of
 * columns are in a buffer of some lines a row, which stays in the first-level cache; by the time that they are read the stores are done.
 *
 * The row mask takes what it wants from there as factors in memory. An unaligned vector costs a load port one and a half multiply-adds, since all meet two
 * lines; so in SLIDES of the rows taps slide between two vectors in registers instead, on a port that the multiply-adds leave free.
 *
 * The first steps and the last have work for one mask only; loops that are not unrolled do that. */

#define NAME(word) TESS_PASTE(roll_name, word)
#define HERE(word) TESS_PASTE(WORD, word)
enum {
    NAME(lanes) = TESS_VECTOR_BYTES / (int)sizeof(real),
    NAME(wait) = 2,                         /* steps from the last sums of columns that outputs meet to the outputs */
    NAME(lines) = 32,                       /* of a row of the buffer */
    NAME(pitch) = NAME(lines) * 64 + 3 * 64 /* bytes of a row: rows do not fall into the same sets */
};

/* Columns alone. */
static void NAME(columns)(char *to, const char *const *rows, int64_t at, const real *w) {
    vec sums[ROWS];
    TESS_UNROLL for (int r = 0; r < ROWS; r++) sums[r] = (vec){0};
    for (int k = 0; k < TAPS; k++) {
        const vec weight = HERE(all_here)(w + k);
        TESS_UNROLL for (int r = 0; r < ROWS; r++) HERE(fma_here)(&sums[r], LOAD(rows[k + r] + at), weight);
    }
    TESS_UNROLL for (int r = 0; r < ROWS; r++) HERE(store)(to + r * NAME(pitch), sums[r]);
}

/* Rows alone. x: what the first tap meets. */
static void NAME(across)(vec *sums, const char *x, int64_t hop, const real *w) {
    for (int k = 0; k < TAPS; k++, x += hop) {
        const vec weight = HERE(all_here)(w + k);
        TESS_UNROLL for (int r = 0; r < ROWS; r++) HERE(fma_from_here)(&sums[r], x + r * NAME(pitch), weight);
    }
}

/* Tap k of the row mask. x: where the outputs stand, without slides what the tap meets. z: the two vectors of a row that taps slide between. */
TESS_INLINE void NAME(tap)(vec *sums, const char *x, vec (*z)[2], int k, const real *w) {
    enum { LANES = NAME(lanes), FAR = 64 * LANES };
    const int d = k - TAPS / 2, vector = (d + FAR) / LANES - 64, n = (d + FAR) % LANES; /* lane n of that vector */
    const vec weight = HERE(all_here)(w + k);
    TESS_UNROLL for (int r = 0; r < ROWS; r++) {
        if (r >= SLIDES) {
            HERE(fma_from_here)(&sums[r], x + r * NAME(pitch) + (SLIDES ? d * (int)sizeof(real) : 0), weight);
            continue;
        }
        const char *begin = x + r * NAME(pitch) + vector * TESS_VECTOR_BYTES;
        if (k == 0)
            z[r][0] = HERE(load_here)(begin);
        else if (n == 0)
            z[r][0] = z[r][1];
        if (n == 1 || (k == 0 && n != 0))
            z[r][1] = HERE(load_here)(begin + TESS_VECTOR_BYTES);
        HERE(fma_here)(&sums[r], n == 0 ? z[r][0] : HERE(slide_here)(z[r][0], z[r][1], n), weight);
    }
}

/* Both, for different columns. */
TESS_INLINE void NAME(both)(vec *sums, char *to, const char *const *rows, int64_t at, const char *x, const tess_roll_call *c) {
    vec down[ROWS], weight[ROWS], z[SLIDES + 1][2];
    TESS_UNROLL for (int r = 0; r < ROWS; r++) down[r] = (vec){0};
    x -= SLIDES ? 0 : TAPS / 2 * c->hop;
    UNROLL for (int i = 0; i < ROWS + TAPS - 1; i++) {
        if (i < TAPS)
            weight[i % ROWS] = HERE(all_here)((const real *)c->column + i);
        const vec v = LOAD(rows[i] + at);
        TESS_UNROLL for (int r = 0; r < ROWS; r++) if (r <= i && i - r < TAPS) HERE(fma_here)(&down[r], v, weight[(i - r) % ROWS]);
        if (i >= TAPS - 1)
            HERE(store)(to + (i - TAPS + 1) * NAME(pitch), down[i - TAPS + 1]);
        if (i < ROWS / 2 || i - ROWS / 2 >= TAPS)
            continue;
        NAME(tap)(sums, x, z, i - ROWS / 2, c->row);
        if (!SLIDES)
            __asm__("" : "+r"(x)); /* else all multiples of the hop are computed before, and spilled */
        x += SLIDES ? 0 : c->hop;
    }
}

static void roll_name(const tess_roll_call *c) {
    const int64_t steps = c->steps, reach = SLIDES ? (TAPS / 2 + NAME(lanes) - 1) / NAME(lanes) : c->reach, later = reach + NAME(wait);
    const int64_t kept = (later + reach) * 64;
    char buffer[ROWS * NAME(pitch)] __attribute__((aligned(64))), *to = buffer, *out = c->out;
    const char *rows[ROWS + TAPS - 1], *ahead[ROWS];
    UNROLL for (int i = 0; i < ROWS + TAPS - 1; i++) rows[i] = c->rows[i];
    TESS_UNROLL for (int r = 0; r < ROWS; r++) ahead[r] = c->ahead[r] + c->ahead_at;
    int64_t at = c->at - reach * c->step, ahead_at = 0;
    for (int64_t s = -reach; s < steps + later; s++, at += c->step, to += 64) {
        if (__builtin_expect(to == buffer + NAME(lines) * 64, 0)) {
            for (int r = 0; r < ROWS; r++)
                memcpy(buffer + r * NAME(pitch), to + r * NAME(pitch) - kept, (size_t)kept);
            to = buffer + kept;
        }
        const char *edge = s < 0 && c->first                            ? c->first + (s + reach) * 64
                           : s >= steps && s < steps + reach && c->last ? c->last + (s - steps) * 64
                                                                        : NULL;
        const char *x = to - later * 64;
        vec sums[ROWS];
        TESS_UNROLL for (int r = 0; r < ROWS; r++) sums[r] = (vec){0};
        if (__builtin_expect(!edge && s >= later && s < steps + reach, 1)) {
            NAME(both)(sums, to, rows, at, x, c);
        } else {
            for (int r = 0; r < ROWS && edge; r++)
                memcpy(to + r * NAME(pitch), edge + r * c->edge_stride, 64);
            if (!edge && s < steps + reach)
                NAME(columns)(to, rows, at, c->column);
            if (s >= later)
                NAME(across)(sums, x - TAPS / 2 * c->hop, c->hop, c->row);
        }
        if (s < later)
            continue;
        TESS_UNROLL for (int r = 0; r < ROWS; r++) tess_prefetch_l2(ahead[r] + ahead_at);
        PUT(out, c->out_stride, c->out_stride, sums, ROWS);
        out += c->out_step;
        ahead_at += c->ahead_step;
    }
}

#undef NAME
#undef HERE
#undef roll_name
#undef TAPS

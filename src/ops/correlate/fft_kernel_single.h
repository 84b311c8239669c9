/* SPDX-License-Identifier: Apache-2.0
 * fft_kernel_single.h - the transforms of one large pair of tiles: neighbouring columns of the grid are the lanes of a vector, then neighbouring rows. Included
 * once for f32 and once for f64, after fft_kernel.h and before fft_lanes.h undefines what both were given.
 *
 * A tile of 1024 x 1024 points takes 8 MiB, and sixteen of them side by side would be brought from memory for every pass. Columns come straight from the arrays
 * and need no shuffles at all; a bundle of rows is transposed in registers into a buffer and back. In the grid a point is a vector of neighbouring
 * columns, so that a row has b / LANES of them. All levels but the first are done block by block, an eighth of a column each, which the
 * first-level cache holds. */

#define point fft_name(point)
#define pair fft_name(pair)

/* ---- levels with a root for each lane: columns of one dimension ---- */

TESS_INLINE pair fft_name(times_lanes)(pair a, const real *w) {
    const vec re = v_load((const char *)w), im = v_load((const char *)(w + TESS_FFT_BLOCK));
    return (pair){v_fma(a.re, re, -(a.im * im)), v_fma(a.re, im, a.im * re)};
}

/* roots: radix - 1 blocks for each j. */
TESS_INLINE void fft_name(lane_level)(int radix, bool back, point *to, int64_t to_step, const point *from, int64_t from_step, int64_t blocks,
                                      int64_t m, const real *roots) {
    for (int64_t k = 0; k < blocks; k++)
        for (int64_t j = 0; j < m; j++) {
            const point *f = from + (k * radix * m + j) * from_step;
            point *t = to + (k * radix * m + j) * to_step;
            const real *w = roots + j * (radix - 1) * 2 * TESS_FFT_BLOCK;
            pair x[8];
            for (int q = 0; q < radix; q++) {
                x[q] = fft_name(get)(f + q * m * from_step, back);
                if (back && q > 0)
                    x[q] = fft_name(times_lanes)(x[q], w + (q - 1) * 2 * TESS_FFT_BLOCK);
            }
            fft_name(butterfly)(radix, x);
            for (int q = 0; q < radix; q++)
                fft_name(put)(t + q * m * to_step, back, !back && q > 0 ? fft_name(times_lanes)(x[q], w + (q - 1) * 2 * TESS_FFT_BLOCK) : x[q]);
        }
}

/* Level l of columns c and on, over `blocks` blocks. */
static void fft_name(column_level)(const tess_correlate_fft *fft, int l, bool back, point *to, int64_t to_step, const point *from, int64_t from_step,
                                   int64_t blocks, int64_t c) {
    const int radix = fft->column.radix[l];
    const int64_t m = fft->column.m[l];
    const real *roots = fft->column.roots[l];
    if (fft->plane) {
        fft_name(any_level)(radix, back, to, to_step, from, from_step, blocks, m, roots, radix - 1);
        return;
    }
    roots += tess_correlate_fft_column_root_at(fft, l, 0, c, 1);
    if (radix == 8)
        back ? fft_name(lane_level)(8, true, to, to_step, from, from_step, blocks, m, roots)
             : fft_name(lane_level)(8, false, to, to_step, from, from_step, blocks, m, roots);
    else
        back ? fft_name(lane_level)(4, true, to, to_step, from, from_step, blocks, m, roots)
             : fft_name(lane_level)(4, false, to, to_step, from, from_step, blocks, m, roots);
}

/* ---- columns ---- */

/* The columns in `buffer` forward, into the grid, where `to` is the first point. */
static void fft_name(single_forward)(const tess_correlate_fft *fft, point *to, int64_t to_step, point *buffer, int64_t c) {
    const int last = fft->column.count - 1;
    const int64_t block = fft->column.m[0];
    fft_name(column_level)(fft, 0, false, buffer, 1, buffer, 1, 1, c);
    for (int64_t k = 0; k < fft->a; k += block) {
        for (int l = 1; l < last; l++)
            fft_name(column_level)(fft, l, false, buffer + k, 1, buffer + k, 1, block / (fft->column.radix[l] * fft->column.m[l]), c);
        fft_name(column_level)(fft, last, false, to + k * to_step, to_step, buffer + k, 1, block / fft->column.radix[last], c);
    }
}

/* And backward, from the grid into the buffer. */
static void fft_name(single_back)(const tess_correlate_fft *fft, point *buffer, const point *from, int64_t from_step, int64_t c) {
    const int last = fft->column.count - 1;
    const int64_t block = fft->column.m[0];
    for (int64_t k = 0; k < fft->a; k += block) {
        fft_name(column_level)(fft, last, true, buffer + k, 1, from + k * from_step, from_step, block / fft->column.radix[last], c);
        for (int l = last - 1; l > 0; l--)
            fft_name(column_level)(fft, l, true, buffer + k, 1, buffer + k, 1, block / (fft->column.radix[l] * fft->column.m[l]), c);
    }
    fft_name(column_level)(fft, 0, true, buffer, 1, buffer, 1, 1, c);
}

/* ---- rows ---- */

/* LANES rows of the grid, each the lanes of some points, and the same with each row in a lane. */
static void fft_name(rows_in)(point *to, const point *from, int64_t pitch, int64_t columns) {
    for (int64_t c = 0; c < columns; c += LANES, from++)
        for (int part = 0; part < 2; part++) {
            vec v[LANES];
            for (int i = 0; i < LANES; i++)
                v[i] = v_keep(from[i * pitch][part]);
            v_square(v);
            for (int i = 0; i < LANES; i++)
                to[c + i][part] = v[i];
        }
}
static void fft_name(rows_out)(point *to, const point *from, int64_t pitch, int64_t columns) {
    for (int64_t c = 0; c < columns; c += LANES, to++)
        for (int part = 0; part < 2; part++) {
            vec v[LANES];
            for (int i = 0; i < LANES; i++)
                v[i] = v_keep(from[c + i][part]);
            v_square(v);
            for (int i = 0; i < LANES; i++)
                to[i * pitch][part] = v[i];
        }
}

/* The last level forward, the product with the spectrum, which has a number for each lane; then either the first level back, or the product is
 * added to `sum` (or, first, put there). */
TESS_INLINE void fft_name(lane_multiply)(int radix, point *sum, point *row, int64_t blocks, const real *spectrum, bool several, bool first) {
    for (int64_t k = 0; k < blocks; k++, row += radix, sum += radix, spectrum += radix * 2 * TESS_FFT_BLOCK) {
        pair x[8];
        for (int q = 0; q < radix; q++)
            x[q] = fft_name(get)(row + q, 0);
        fft_name(butterfly)(radix, x);
        if (several && !first) {
            for (int q = 0; q < radix; q++) {
                const char *w = (const char *)(spectrum + q * 2 * TESS_FFT_BLOCK);
                const vec re = v_load(w), im = v_load(w + TESS_FFT_BLOCK * sizeof(real));
                const pair s = fft_name(get)(sum + q, 0);
                fft_name(put)(sum + q, 0, (pair){v_fma(-x[q].im, im, v_fma(x[q].re, re, s.re)), v_fma(x[q].im, re, v_fma(x[q].re, im, s.im))});
            }
            continue;
        }
        for (int q = 0; q < radix; q++) {
            const pair z = fft_name(times_lanes)(x[q], spectrum + q * 2 * TESS_FFT_BLOCK);
            x[q] = several ? z : (pair){z.im, z.re};
        }
        if (!several)
            fft_name(butterfly)(radix, x);
        for (int q = 0; q < radix; q++)
            fft_name(put)(several ? sum + q : row + q, !several, x[q]);
    }
}

static void fft_name(row_level)(const tess_correlate_fft *fft, int l, bool back, point *row, int64_t points) {
    const int radix = fft->row.radix[l];
    const int64_t m = fft->row.m[l];
    fft_name(any_level)(radix, back, row, 1, row, 1, points / (radix * m), m, fft->row.roots[l], radix - 1);
}

/* LANES rows through all that stands between the columns forward and back. sum: NULL: the mask is one piece. Else piece number `piece` is added
 * there, and after the last one the result is, too. */
static void fft_name(single_rows)(const tess_correlate_fft *fft, point *row, point *sum, int64_t r, int64_t piece) {
    const int last = fft->row.count - 1;
    const int64_t block = fft->row.m[0];
    const real *spectrum = (const real *)fft->spectrum + tess_correlate_fft_spectrum_at(fft, piece, r, 0);
    const bool back = piece == fft->pieces - 1;
    point *result = sum ? sum : row;
    fft_name(row_level)(fft, 0, false, row, fft->b);
    for (int64_t k = 0; k < fft->b; k += block) {
        for (int l = 1; l < last; l++)
            fft_name(row_level)(fft, l, false, row + k, block);
        const real *w = spectrum + k * 2 * TESS_FFT_BLOCK;
        const int64_t blocks = block / fft->row.radix[last];
        point *to = sum ? sum + k : row + k;
        if (fft->row.radix[last] == 8)
            sum ? fft_name(lane_multiply)(8, to, row + k, blocks, w, true, piece == 0)
                : fft_name(lane_multiply)(8, to, row + k, blocks, w, false, true);
        else
            sum ? fft_name(lane_multiply)(4, to, row + k, blocks, w, true, piece == 0)
                : fft_name(lane_multiply)(4, to, row + k, blocks, w, false, true);
        for (int l = sum ? last : last - 1; l > 0 && back; l--)
            fft_name(row_level)(fft, l, true, result + k, block);
    }
    if (back)
        fft_name(row_level)(fft, 0, true, result, fft->b);
}

/* ---- a pair ---- */

/* A strip of columns from the arrays: lines that lie side by side are asked for together, some rows ahead. */
static void fft_name(take)(const job *j, const field *fields, point *to, int64_t pitch, int64_t c) {
    enum { AHEAD = 4, WIDTH = TESS_FFT_STRIP * LANES };
    char room[TESS_FFT_LINE];
    for (int64_t a = 0; a < j->fft->a; a++)
        for (int part = 0; part < 2; part++) {
            const char *ahead = points_in_place(j, &fields[part], a + AHEAD, c, WIDTH), *from = points_in_place(j, &fields[part], a, c, WIDTH);
            for (int i = 0; ahead && i < TESS_FFT_STRIP * TESS_VECTOR_BYTES; i += TESS_FFT_LINE)
                __builtin_prefetch(ahead + i, 0, 3);
            for (int i = 0; i < TESS_FFT_STRIP; i++)
                to[i * pitch + a][part] = v_load(from ? from + i * TESS_VECTOR_BYTES : some_points(j, &fields[part], a, c + i * LANES, LANES, room));
        }
}

/* Columns c and on of the outputs. */
static void fft_name(give)(const job *j, const tile *tiles, const point *from, int64_t rows, int64_t c) {
    char room[TESS_FFT_LINE];
    for (int64_t a = 0; a < rows; a++)
        for (int part = 0; part < 2; part++) {
            const vec v = v_canonical(from[a][part]);
            char *to = ready_points(j, &tiles[part], a, c, LANES);
            if (to && j->stream && TESS_VECTOR_BYTES == TESS_FFT_LINE && (uintptr_t)to % TESS_FFT_LINE == 0)
                v_stream(to, v);
            else
                v_store(to ? to : room, v);
            if (!to)
                store_points(j, &tiles[part], a, c, LANES, room);
        }
}

/* One piece of a pair of tiles; the last one ends with the outputs. */
static void fft_name(single)(const job *j, const scratch *room, const tile *tiles, const field *fields, int64_t piece) {
    const tess_correlate_fft *fft = j->fft;
    const int64_t pitch = fft->b / LANES + 1, wanted = fft->plane ? fft->outputs_x : fft->b, column = fft->a + TESS_FFT_STRIP_GAP;
    const int64_t rows = fft->plane ? fft->outputs_y : tess_ceil_div(fft->outputs_x, fft->b);
    const bool last = piece == fft->pieces - 1;
    point *grid = (void *)room->grid, *sum = (void *)room->sum, *buffer = (void *)room->buffer;
    for (int64_t c = 0; c < fft->b; c += TESS_FFT_STRIP * LANES) {
        fft_name(take)(j, fields, buffer, column, c);
        for (int i = 0; i < TESS_FFT_STRIP; i++)
            fft_name(single_forward)(fft, grid + c / LANES + i, pitch, buffer + i * column, c + i * LANES);
    }
    for (int64_t r = 0; r < fft->a; r += LANES) {
        point *to = fft->pieces > 1 ? sum + r / LANES * fft->b : NULL;
        fft_name(rows_in)(buffer, grid + r * pitch, pitch, fft->b);
        fft_name(single_rows)(fft, buffer, to, r, piece);
        if (last)
            fft_name(rows_out)(grid + r * pitch, to ? to : buffer, pitch, tess_ceil_div(wanted, LANES) * LANES);
    }
    for (int64_t c = 0; c < wanted && last; c += LANES) {
        fft_name(single_back)(fft, buffer, grid + c / LANES, pitch, c);
        fft_name(give)(j, tiles, buffer, rows, c);
    }
}

#undef point
#undef pair

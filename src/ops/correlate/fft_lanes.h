/* SPDX-License-Identifier: Apache-2.0
 * fft_lanes.h - rows of tiles into the lanes of points, and back. Included once for f32 and once for f64, after fft_kernel.h, with LANES,
 * v_load, v_store, v_stream, v_square and v_canonical defined too; undefines everything that the two were given.
 *
 * rows: 2 LANES tiles, an even one and the odd one after it being the real and the imaginary part of a lane. */

static void fft_name(to_points)(fft_name(point) * to, const char *const *rows, int64_t columns) {
    for (int64_t x = 0; x < columns; x += LANES)
        for (int part = 0; part < 2; part++) {
            vec v[LANES];
            for (int i = 0; i < LANES; i++)
                v[i] = v_keep(v_load(rows[2 * i + part] + x * (int64_t)sizeof(v[0][0])));
            v_square(v);
            for (int i = 0; i < LANES; i++)
                to[x + i][part] = v[i];
        }
}

/* So many vectors of columns from x on, into every row. */
TESS_INLINE void fft_name(some_columns)(char *const *rows, const fft_name(point) * from, int64_t x, int vectors, bool stream) {
    for (int part = 0; part < 2; part++) {
        vec v[TESS_FFT_LINE / TESS_VECTOR_BYTES][LANES];
        for (int k = 0; k < vectors; k++) {
            for (int i = 0; i < LANES; i++)
                v[k][i] = v_keep(from[x + k * LANES + i][part]);
            v_square(v[k]);
        }
        for (int i = 0; i < LANES; i++)
            for (int k = 0; k < vectors; k++) {
                char *to = rows[2 * i + part] + (x + k * LANES) * (int64_t)sizeof(v[0][0][0]);
                if (stream)
                    v_stream(to, v_canonical(v[k][i]));
                else
                    v_store(to, v_canonical(v[k][i]));
            }
    }
}

/* columns >= LANES; the last ones may be stored twice. Whole lines of 64 bytes are written at once: past the caches, halves of them would each go
 * to memory by themselves. */
static void fft_name(from_points)(char *const *rows, const fft_name(point) * from, int64_t columns, bool stream) {
    enum { VECTORS = TESS_FFT_LINE / TESS_VECTOR_BYTES };
    int64_t x = 0;
    if (stream)
        for (; x + VECTORS * LANES <= columns; x += VECTORS * LANES)
            fft_name(some_columns)(rows, from, x, VECTORS, true);
    for (; x < columns; x += LANES)
        fft_name(some_columns)(rows, from, tess_min64(x, columns - LANES), 1, false);
}

#undef vec
#undef LANES
#undef fft_name
#undef v_load
#undef v_store
#undef v_stream
#undef v_square
#undef v_canonical
#undef real
#undef v_all
#undef v_keep
#undef v_fma

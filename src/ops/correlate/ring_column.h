/* SPDX-License-Identifier: Apache-2.0
 * ring_column.h - what window_ring.h and march_kernel.h do for each element: one unaligned load of every stream serves `deep` sums with as many weights that
 * stand LANES taps apart. Included by both, with their NAME, HERE, DEEP and STREAMS. */

TESS_INLINE void NAME(column)(vec (*acc)[STREAMS], const char *x, int64_t hop, const real *w, int deep) {
    enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(real) };
    if (DEEP < STREAMS) { /* whichever needs the fewer registers */
        vec weight[DEEP];
        TESS_UNROLL for (int t = 0; t < deep; t++) weight[t] = HERE(all_here)(w + t * LANES);
        TESS_UNROLL for (int k = 0; k < STREAMS; k++) {
            const vec v = HERE(load_here)(x + k * hop);
            TESS_UNROLL for (int t = 0; t < deep; t++) HERE(fma_here)(&acc[t][k], v, weight[t]);
        }
    } else {
        vec v[STREAMS];
        TESS_UNROLL for (int k = 0; k < STREAMS; k++) v[k] = HERE(load_here)(x + k * hop);
        TESS_UNROLL for (int t = 0; t < deep; t++) {
            const vec weight = HERE(all_here)(w + t * LANES);
            TESS_UNROLL for (int k = 0; k < STREAMS; k++) HERE(fma_here)(&acc[t][k], v[k], weight);
        }
    }
}

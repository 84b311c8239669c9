/* SPDX-License-Identifier: Apache-2.0
 * exec_lanes.h - how a handler is written: an expression of x, y and z, done for 32 lanes in a plain loop that the compiler turns into vectors. */
#ifndef TESS_VGPU_EXEC_LANES_H
#define TESS_VGPU_EXEC_LANES_H

#include "vgpu/exec.h"

#define HANDLER(name) static void name(vgpu_warp *w, const vgpu_record *r, uint32_t mask)

/* d := f(x), f(x, y), f(x, y, z); D, T types of result and operands. */
#define UNARY(name, D, T, expression)        \
    HANDLER(name) {                          \
        const T *a = SLOT(T, w, r->a);       \
        D row[LANES];                        \
        for (int l = 0; l < LANES; l++) {    \
            T x = a[l];                      \
            row[l] = (D)(expression);        \
        }                                    \
        PUT(D, SLOT(D, w, r->d), row, mask); \
    }
#define BINARY2(name, D, T, T2, expression)  \
    HANDLER(name) {                          \
        const T *a = SLOT(T, w, r->a);       \
        const T2 *b = SLOT(T2, w, r->b);     \
        D row[LANES];                        \
        for (int l = 0; l < LANES; l++) {    \
            T x = a[l];                      \
            T2 y = b[l];                     \
            row[l] = (D)(expression);        \
        }                                    \
        PUT(D, SLOT(D, w, r->d), row, mask); \
    }
#define BINARY(name, T, expression) BINARY2(name, T, T, T, expression)
#define TERNARY4(name, D, T, T2, T3, expression) \
    HANDLER(name) {                              \
        const T *a = SLOT(T, w, r->a);           \
        const T2 *b = SLOT(T2, w, r->b);         \
        const T3 *c = SLOT(T3, w, r->c);         \
        D row[LANES];                            \
        for (int l = 0; l < LANES; l++) {        \
            T x = a[l];                          \
            T2 y = b[l];                         \
            T3 z = c[l];                         \
            row[l] = (D)(expression);            \
        }                                        \
        PUT(D, SLOT(D, w, r->d), row, mask);     \
    }
#define TERNARY(name, T, expression) TERNARY4(name, T, T, T, T, expression)

#endif

/* SPDX-License-Identifier: Apache-2.0
 * gpu_closed_form.h - arrays too large to be made and looked through by the host: kernels of the test's own write them and look at every byte.
 *
 * Elements are bytes, element i is a hash of i, and what an operation must make of them has a closed form, so nothing needs a second array. The formulas
 * are written once, as text that both compilers take. A kernel that looks might be wrong itself: so it must also find a byte that was altered, and the host
 * looks at pieces from the first element to the last. */
#ifndef TESS_TESTS_GPU_CLOSED_FORM_H
#define TESS_TESTS_GPU_CLOSED_FORM_H

#include "gpu_rows.h"

#define FORMULA static
#define BOTH(...) __VA_ARGS__ static const char formulas[] = #__VA_ARGS__;

/* wanted.kind: element i of the input; of its transpose; of its correlation; of the table 255 - v looked up by it. */
enum { VALUE, TRANSPOSED, CORRELATED, LOOKED_UP };

/* clang-format off */
BOTH(
typedef struct wanted { long long kind, rows, columns, modulus; } wanted;

FORMULA unsigned char value(unsigned long long i, long long modulus) {
    unsigned v = (unsigned)(i * 0x9e3779b97f4a7c15u >> 56);
    return (unsigned char)(modulus ? v % (unsigned)modulus : v);
}

FORMULA int weight(int t) { return t == 1 || t == 8 ? -2 : t == 3 || t == 7 ? 0 : t == 4 ? 3 : t == 5 ? -1 : 1; }

/* rows x columns in, columns x rows out. */
FORMULA unsigned char transposed(wanted w, long long i) { return value((unsigned long long)(i % w.rows * w.columns + i / w.rows), w.modulus); }

/* By a 3 x 3 mask, or one of 9 taps along a single row. */
FORMULA unsigned char correlated(wanted w, long long i) {
    long long y = i / w.columns, x = i % w.columns, sum = 0;
    for (int t = 0; t < 9; t++) {
        long long v = w.rows == 1 ? 0 : y - 1 + t / 3, u = w.rows == 1 ? x - 4 + t : x - 1 + t % 3;
        if (v >= 0 && v < w.rows && u >= 0 && u < w.columns)
            sum += weight(t) * (int)value((unsigned long long)(v * w.columns + u), w.modulus);
    }
    return (unsigned char)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

FORMULA unsigned char closed_form(wanted w, long long i) {
    return w.kind == 1   ? transposed(w, i)
           : w.kind == 2 ? correlated(w, i)
           : w.kind == 3 ? (unsigned char)(255 - value((unsigned long long)i, w.modulus))
                         : value((unsigned long long)i, w.modulus);
}
)
/* clang-format on */

static const char kernels[] = "extern \"C\" __global__ void fill(unsigned char *to, const wanted w, const long long n) {\n"
                              "    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)\n"
                              "        to[i] = closed_form(w, i);\n"
                              "}\n"
                              "extern \"C\" __global__ void differs(const unsigned char *found, const wanted w, const long long n,\n"
                              "                                   unsigned long long *first) {\n"
                              "    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)\n"
                              "        if (found[i] != closed_form(w, i))\n"
                              "            atomicMin(first, (unsigned long long)i);\n"
                              "}\n";

/* Both kernels, and a word of theirs on the card. */
typedef struct closed_form_kernels {
    const tess_gpu_scope *scope;
    tess_gpu_kernel fill, differs;
    CUdeviceptr first;
} closed_form_kernels;

#define closed_form_ok(k, entry, ...) assert_tess_ok(tess_gpu_check((k)->scope->gpu, (k)->scope->gpu->driver.entry(__VA_ARGS__), #entry))

static inline void closed_form_open(closed_form_kernels *k, const tess_gpu_scope *scope) {
    static const char *const options[] = {"-DFORMULA=__device__"};
    char *text = malloc(sizeof formulas + sizeof kernels);
    assert_non_null(text);
    strcat(strcpy(text, formulas), kernels);
    const tess_gpu_source source = {"closed_form.cu", text, options, 1, NULL, NULL, false};
    k->scope = scope;
    assert_tess_ok(tess_gpu_kernel_get(scope, &source, "fill", &k->fill));
    assert_tess_ok(tess_gpu_kernel_get(scope, &source, "differs", &k->differs));
    closed_form_ok(k, cuMemAlloc, &k->first, sizeof(uint64_t));
    free(text);
}

static inline tess_gpu_grid closed_form_grid(int64_t n) {
    return (tess_gpu_grid){{tess_min64(tess_ceil_div(n, 256), 1 << 14), 1, 1}, {256, 1, 1}, 0};
}

static inline void closed_form_fill(const closed_form_kernels *k, CUdeviceptr to, wanted w, int64_t n) {
    const tess_gpu_grid grid = closed_form_grid(n);
    void *arguments[] = {&to, &w, &n};
    assert_tess_ok(tess_gpu_launch(k->scope, &k->fill, &grid, NULL, arguments));
}

/* -1: none. */
static inline int64_t closed_form_difference(const closed_form_kernels *k, CUdeviceptr found, wanted w, int64_t n) {
    const tess_gpu_grid grid = closed_form_grid(n);
    CUdeviceptr first = k->first;
    int64_t at = 0;
    void *arguments[] = {&found, &w, &n, &first};
    closed_form_ok(k, cuMemsetD8Async, first, 0xff, sizeof at, NULL);
    assert_tess_ok(tess_gpu_launch(k->scope, &k->differs, &grid, NULL, arguments));
    closed_form_ok(k, cuMemcpyDtoHAsync, &at, first, sizeof at, NULL);
    closed_form_ok(k, cuStreamSynchronize, NULL);
    return at;
}

/* Every element on the card; pieces from the first to the last on the host; and that the kernel notices the last element when it is altered. */
static inline void closed_form_check(const closed_form_kernels *k, CUdeviceptr found, wanted w, int64_t n, const char *what) {
    enum { PIECES = 64, PIECE = 4096 };
    unsigned char piece[PIECE], last;
    int64_t at = closed_form_difference(k, found, w, n);
    if (at >= 0)
        fail_msg("%s, %lld x %lld: element %lld", what, (long long)w.rows, (long long)w.columns, (long long)at);
    for (int p = 0; p <= PIECES; p++) {
        int64_t first = (n - PIECE) / PIECES * p + (p == PIECES ? (n - PIECE) % PIECES : 0);
        closed_form_ok(k, cuMemcpyDtoHAsync, piece, found + (CUdeviceptr)first, PIECE, NULL);
        closed_form_ok(k, cuStreamSynchronize, NULL);
        for (int i = 0; i < PIECE; i++)
            if (piece[i] != closed_form(w, first + i))
                fail_msg("%s, %lld x %lld, seen by the host: element %lld", what, (long long)w.rows, (long long)w.columns, (long long)(first + i));
    }
    last = (unsigned char)(closed_form(w, n - 1) ^ 0x10);
    closed_form_ok(k, cuMemsetD8Async, found + (CUdeviceptr)n - 1, last, 1, NULL);
    assert_int_equal(closed_form_difference(k, found, w, n), n - 1);
}

static inline void closed_form_close(const closed_form_kernels *k) { closed_form_ok(k, cuMemFree, k->first); }

#endif

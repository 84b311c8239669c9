/* SPDX-License-Identifier: Apache-2.0
 * gpu_small_matrices.c - the row transpose/small_matrices: a stack of small matrices that lie one after the other on both sides; its launch, and what it counts. */
#include "ops/transpose/gpu_predict.h"

extern const char tess_kernel_transpose_gpu_small_matrices_cu[];
static const tess_gpu_text gpu_small_matrices = {"transpose/gpu_small_matrices.cu", tess_kernel_transpose_gpu_small_matrices_cu};

enum { THREADS = 256, USUAL = 8 << 10, LARGEST = 40 << 10 /* bytes of a piece */ };

typedef struct stack {
    int64_t p, q, size, piece, all; /* elements of a matrix, and bytes */
} stack;

static bool stack_of(stack *s, const tess_problem *base, const char **why) {
    const transpose_problem *problem = (const transpose_problem *)base;
    transpose_plane m;
    if (!tess_transpose_gpu_plane_of(base, &m, why))
        return false;
    *s = (stack){.p = m.p_size, .q = m.q_size, .size = problem->size};
    const int64_t matrix = s->p * s->q * s->size;
    *why = "needs matrices that follow each other without a gap, in in and in out";
    if (m.q_in != s->p * s->size || m.p_out != s->q * s->size || m.ndim > 1 ||
        (m.ndim == 1 && (m.stride[TRANSPOSE_IN][0] != matrix || m.stride[TRANSPOSE_OUT][0] != matrix)))
        return false;
    *why = "needs arrays that begin at multiples of 16 bytes";
    if ((problem->first[TRANSPOSE_IN] | problem->first[TRANSPOSE_OUT]) % 16 != 0)
        return false;
    *why = "needs a few matrices that are whole sectors in at most 40 KiB";
    if (matrix > LARGEST)
        return false;
    const int64_t sectors = matrix * (32 / tess_gcd(32, matrix));
    s->piece = sectors * tess_max64(1, USUAL / sectors);
    s->all = matrix * m.count;
    return s->piece <= LARGEST;
}

bool tess_transpose_gpu_small_matrices_fit(const tess_problem *base, const char **why) {
    stack s;
    return stack_of(&s, base, why);
}

bool tess_transpose_gpu_small_matrices_pay(const tess_problem *base, const char **why) {
    stack s;
    if (!stack_of(&s, base, why))
        return false;
    /* from 12 KiB a matrix on, and for small elements in rows that fill tiles, nothing was measured: those stay with what takes larger matrices */
    *why = "needs as many bytes as four pieces, in matrices of up to 12 KiB";
    if (s.all < 4 * s.piece || s.p * s.q * s.size > 12 << 10)
        return false;
    *why = "where rows of 1- and 2-byte elements are whole vectors and 128 bytes long, squares of vectors fill their tiles";
    const int64_t p_bytes = s.p * s.size, q_bytes = s.q * s.size;
    return s.size > 2 || p_bytes % 16 != 0 || q_bytes % 16 != 0 || p_bytes < 128 || q_bytes < 128;
}

static void lay_small_matrices(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_problem *problem = (const transpose_problem *)base;
    const char *why;
    stack s;
    (void)device;
    if (!stack_of(&s, base, &why))
        return;
    tess_gpu_unit(layout, &gpu_small_matrices);
    tess_gpu_option(layout, "-DSIZE=%d", (int)s.size);
    tess_gpu_option(layout, "-DP=%d", (int)s.p);
    tess_gpu_option(layout, "-DQ=%d", (int)s.q);
    tess_gpu_option(layout, "-DPIECE=%d", (int)s.piece);
    tess_gpu_option(layout, "-DTHREADS=%d", THREADS);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "small_matrices", tess_ceil_div(s.all, s.piece), 1, 1, THREADS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, problem->first[TRANSPOSE_IN]);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, problem->first[TRANSPOSE_OUT]);
    tess_gpu_pass_i64(layout, step, s.all);
    layout->alignment = 16;
}

static int64_t place_of(const stack *s, int64_t e) {
    const int64_t matrix = e / (s->p * s->q) * (s->p * s->q), p = (e - matrix) / s->q, q = (e - matrix) % s->q;
    return matrix + q * s->p + p;
}

/* A piece of `bytes` bytes, of which there are `times`: pieces begin at sectors. */
static void count_piece(tess_gpu_prediction *out, const stack *s, double times, int64_t bytes) {
    const int64_t v = 16 / s->size, vectors = bytes / 16, rest = bytes % 16 / s->size;
    int64_t from[32], to[32];
    for (int64_t first = 0; first < vectors; first += 32) {
        for (int lane = 0; lane < 32; lane++) {
            to[lane] = first + lane < vectors ? (first + lane) * 16 : -1;
            from[lane] = to[lane] < 0 ? -1 : TESS_GPU_ORIGIN + to[lane];
        }
        tess_gpu_count_copies(out, times, from, to);
        tess_gpu_count_global(out, times, from, 16, true);
        for (int64_t k = 0; k < v; k++) {
            for (int lane = 0; lane < 32; lane++)
                to[lane] = first + lane < vectors ? place_of(s, (first + lane) * v + k) * s->size : -1;
            tess_gpu_count_shared(out, times, to, s->size, false);
        }
    }
    for (int lane = 0; lane < 32; lane++) {
        to[lane] = lane < rest ? vectors * 16 + lane * s->size : -1;
        from[lane] = lane < rest ? TESS_GPU_ORIGIN + to[lane] : -1;
    }
    tess_gpu_count_global(out, times, from, s->size, false);
    tess_gpu_count_shared(out, times, to, s->size, true);
    for (int lane = 0; lane < rest; lane++)
        to[lane] = place_of(s, vectors * v + lane) * s->size;
    tess_gpu_count_shared(out, times, to, s->size, false);
    tess_gpu_count_global(out, times, from, s->size, true);
    out->barriers += times * THREADS / 32;
}

void tess_transpose_predict_small_matrices(const tess_problem *base, tess_gpu_prediction *out) {
    const char *why;
    stack s;
    if (!stack_of(&s, base, &why))
        return;
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    if (s.all >= s.piece)
        count_piece(out, &s, (double)(s.all / s.piece), s.piece);
    if (s.all % s.piece != 0)
        count_piece(out, &s, 1, s.all % s.piece);
}

const tess_gpu_row tess_transpose_gpu_small_matrices_row = {.headers = tess_transpose_gpu_headers,
                                                            .production = true,
                                                            .least_arch = 80,
                                                            .lay_out = lay_small_matrices,
                                                            .predict = tess_transpose_predict_small_matrices};

/* SPDX-License-Identifier: Apache-2.0
 * cpu_runs.c - the fast axis is kept: rows, or pieces of rows, are copied whole.
 *
 * When the runs are short the two axes above them are walked in blocks, so that the cache lines at both ends of a run, which it shares with its
 * neighbours in in and in out, are still there when the neighbours come. Long runs are cut, so that a few of them are work for many threads. */
#include "ops/transpose/transpose.h"
#include "simd/lanes.h"

tess_status TESS_ISA_NAME(tess_transpose_runs)(const tess_problem *base, const tess_run *run);

typedef struct runs {
    int64_t bytes, p_in, p_out, q_in, q_out;
} runs;

static void copy_block(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const runs *r = argument;
    (void)p;
    (void)q;
    for (int64_t i = 0; i < np; i++)
        for (int64_t k = 0; k < nq; k++)
            tess_copy_run(out + i * r->p_out + k * r->q_out, in + i * r->p_in + k * r->q_in, r->bytes);
}

/* Long runs of a result that no cache holds. */
static void stream_block(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const runs *r = argument;
    (void)p;
    (void)q;
    for (int64_t i = 0; i < np; i++)
        for (int64_t k = 0; k < nq; k++)
            tess_stream_copy(out + i * r->p_out + k * r->q_out, in + i * r->p_in + k * r->q_in, r->bytes);
    tess_stream_fence();
}

tess_status TESS_ISA_NAME(tess_transpose_runs)(const tess_problem *base, const tess_run *run) {
    enum { BLOCK_BYTES = 1 << 15, LONG_RUN = 1 << 16, LARGE = 8 << 20 };
    const transpose_problem *problem = (const transpose_problem *)base;
    if (problem->place == TRANSPOSE_NOTHING)
        return TESS_OK;
    transpose_problem cut = *problem;
    int last = cut.ndim - 1;
    if (last >= 0 && cut.shape[last] * cut.size > LONG_RUN &&
        last + 1 < TESS_MAX_NDIM) { /* [n] becomes [n / k, k] by the largest divisor that is short enough */
        int64_t most = LONG_RUN / cut.size, k = most;
        while (cut.shape[last] % k != 0)
            k--;
        if (k >= 256) {
            for (int list = 0; list < 2; list++) {
                cut.stride[list][last + 1] = cut.size;
                cut.stride[list][last] = cut.size * k;
            }
            cut.shape[last] /= k;
            cut.shape[last + 1] = k;
            cut.ndim++;
        }
    }
    transpose_plane plane;
    tess_transpose_plane_of(&plane, &cut, true);
    runs r = {cut.size, plane.p_in, plane.p_out, plane.q_in, plane.q_out};
    if (cut.ndim > 0)
        r.bytes *= cut.shape[cut.ndim - 1];
    int64_t side = 4;
    while (side < 64 && r.bytes < BLOCK_BYTES / (side * side)) /* a zero stride makes runs of any length */
        side *= 2;
    int64_t q_block = plane.p_size > 1 ? side : tess_max64(side, BLOCK_BYTES / tess_max64(1, r.bytes));
    bool stream = problem->base.bytes / 2 >= LARGE && r.bytes >= 1024;
    return tess_transpose_blocks(problem, run, &plane, side, q_block, 1, r.bytes, stream ? stream_block : copy_block, &r);
}

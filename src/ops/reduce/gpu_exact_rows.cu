// SPDX-License-Identifier: Apache-2.0
// gpu_exact_rows.cu - exact sums of rows: all of them are one run of elements, of which warps have as much each, a range, cut where a row ends; so all warps end together, however long rows are.
//
// A piece goes by levels alone (gpu_sure_run.cuh). Range number w leaves its piece of row r in place w + r: a row's pieces lie side by side, and `finish`, a warp a row, takes them in.
#include "ops/reduce/gpu_sure_run.cuh"

struct run_of_rows {
    i64 k, range;    // elements of a row; of a warp
    i64 outputs;
    run_logs logs;
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST) exact_rows(const element *in, result *out, i64 *partial, const run_of_rows p) {
    __shared__ sums all[WARPS];
    const i64 number = (i64)blockIdx.x * WARPS + threadIdx.x / 32, end = min((number + 1) * p.range, p.outputs * p.k);
    i64 at = number * p.range, row = at / p.k;
    for (; at < end; row++) {
        const i64 first = at - row * p.k;
        const int k = (int)min(p.k - first, end - at);
        i64 at_in, at_out;
        place_of(p, row, at_in, at_out);
        put_run_of(all[threadIdx.x / 32], in + at_in + first, k, k == p.k, p.logs, out + at_out, partial + (number + row) * SURE_PLACES);
        at += k;
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) finish(const element *in, result *out, const i64 *partial, const run_of_rows p) {
    put_tops<WARPS>(
        [&](int warp) {
            const i64 row = (i64)blockIdx.x * WARPS + warp, first = row * p.k / p.range, last = ((row + 1) * p.k - 1) / p.range;
            if (row >= p.outputs || first == last)
                return top{};
            i64 at_in, at_out;
            place_of(p, row, at_in, at_out);
            return top{in + at_in, p.k, out + at_out, partial + (first + row) * SURE_PLACES, last - first + 1};
        },
        p.logs);
}

// SPDX-License-Identifier: Apache-2.0
// gpu_tree_groups.cu - production, many outputs of few elements of any layout: a few threads each, which read their elements where they lie.
//
// What neighbouring threads read lies in the same lines: elements of an output, or with -DTURNED=1 the same element of neighbouring outputs. A warp takes
// -DTURNS times as many outputs as it has groups (gpu_group.cuh). -DSMALL=1: there are fewer than 2^31 outputs, whose places are found by 32-bit divisions.
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#else
#include "ops/reduce/gpu_node.cuh"
#endif
#define BY_INVERSES 1
#include "ops/reduce/gpu_group.cuh"

struct groups {
    i64 outputs, k;
    double ddof;
    i64 size[RANK + 1], step[RANK + 1];               // the reduced axes, slowest first
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept ones
};

struct scattered {
    const groups &p;
    const element *at;
    __device__ void fetch(words<SIZE> &v, int i) const {
        i64 from = 0;
#pragma unroll
        for (int d = RANK - 1; d > 0; d--) {
            from += i % (int)p.size[d] * p.step[d];
            i /= (int)p.size[d];
        }
        load_now(v, at + from + i * p.step[0]);
    }
};

#if SMALL
typedef unsigned count_type;
#else
typedef u64 count_type;
#endif

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST) tree_groups(const element *in, result *out, const groups p, const divisors by) {
    const int lane = threadIdx.x % 32, t = TURNED ? lane / ROWS : lane % GROUP;
    const i64 begin = ((i64)blockIdx.x * WARPS + threadIdx.x / 32) * (TURNS * ROWS);
    for (int turn = 0; turn < TURNS && begin + turn * ROWS < p.outputs; turn++) {
        const i64 output = begin + turn * ROWS + (TURNED ? lane % ROWS : lane / GROUP);
        const bool there = output < p.outputs;
        count_type rest = (count_type)(there ? output : 0);
        i64 at_in = 0, at_out = 0;
#pragma unroll
        for (int d = KEPT - 1; d > 0; d--) {
            const count_type at = rest % (count_type)p.shape[d];
            rest /= (count_type)p.shape[d];
            at_in += at * p.in[d];
            at_out += at * p.out[d];
        }
        at_in += rest * p.in[0];
        at_out += rest * p.out[0];
        const scattered from = {p, in + at_in};
        const node whole = whole_of(share<scattered>(from, there || ALL_READ ? (int)p.k : 0, t), (int)p.k, by.k, by.of_k);
        if (there && t == 0)
#if KIND == VAR
            out[at_out] = finished_by(whole, (int)p.k, p.ddof, by.less, by.of_less);
#else
            out[at_out] = finished(whole, p.k, p.ddof);
#endif
    }
}

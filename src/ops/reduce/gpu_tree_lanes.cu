// SPDX-License-Identifier: Apache-2.0
// gpu_tree_lanes.cu - any layout: a block an output, a thread each of the 256 lanes of the tree.
//
// Element number i is looked up along the reduced axes (-DRANK of them), so steps may be anything; segments (-DSEGMENTS=1) are outputs whose elements begin
// at offsets. A block takes all the leaves of its output in turn, pairing them by a binary counter: simple, right for everything, and quick only where
// there are many outputs. Variances need two looks at a leaf and run here as well.
#include "ops/reduce/gpu_leaf.cuh"

struct lanes {
    i64 k, outputs, segments, segment_out;
    double ddof;
    i64 size[RANK + 1], step[RANK + 1]; // the reduced axes, slowest first
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1];
};

extern "C" __global__ void __launch_bounds__(256) tree_lanes(const element *in, result *out, const i64 *offsets, const lanes p) {
    __shared__ node stack[48];
    int depth = 0;
    i64 output = blockIdx.x, segment = 0, begin = 0, k = p.k, at_in, at_out;
#if SEGMENTS
    segment = output % p.segments;
    output /= p.segments;
    begin = offsets[segment];
    k = offsets[segment + 1] - begin;
#endif
    place_of(p, output, at_in, at_out);
    at_out += segment * p.segment_out;
    const element *from = in + at_in + (SEGMENTS ? begin * p.step[0] : 0);
    for (i64 first = 0; first < k; first += 8192) {
        int n = k - first < 8192 ? (int)(k - first) : 8192;
#if KIND == VAR
        node whole = of_leaf(p, from, first, n);
#else // the plain loop keeps 32 registers, so all of a multiprocessor's threads
        node mine = nothing();
        leaf_walk<lanes> walk(p, first + threadIdx.x);
        for (int i = threadIdx.x; i < n; i += 256)
            take(mine, from[walk.next()], first + i);
        node whole = lanes_met(mine);
#endif
        if (threadIdx.x == 0)
            push(stack, depth, whole, first / 8192);
        __syncthreads();
    }
    if (threadIdx.x != 0)
        return;
    if (k <= 0)
        stack[depth++] = nothing();
    fold(stack, depth);
    out[at_out] = finished(stack[0], k, p.ddof);
}

// SPDX-License-Identifier: Apache-2.0
// gpu_tree_lanes.cu - any layout: a block an output, a thread each of the 256 lanes of the tree.
//
// Element number i is looked up along the reduced axes (-DRANK of them), so steps may be anything; segments (-DSEGMENTS=1) are outputs whose elements begin
// at offsets. A block takes all the leaves of its output in turn, pairing them by a binary counter: simple, right for everything, and quick only where
// there are many outputs. Variances need two looks at a leaf and run here as well.
#include "ops/reduce/gpu_node.cuh"

struct lanes {
    i64 k, outputs, segments, segment_out;
    double ddof;
    i64 size[RANK + 1], step[RANK + 1]; // the reduced axes, slowest first
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1];
};

__device__ i64 place(const lanes &p, i64 i) {
    i64 at = 0;
#pragma unroll
    for (int d = RANK - 1; d > 0; d--) {
        at += i % p.size[d] * p.step[d];
        i /= p.size[d];
    }
    return at + i * p.step[0];
}

// lane[0] = the halving tree over the 256 lanes.
__device__ void halve(node *lane) {
    for (int w = 128; w > 0; w /= 2) {
        __syncthreads();
        if (threadIdx.x < w)
            merge(lane[threadIdx.x], lane[threadIdx.x + w]);
    }
    __syncthreads();
}

#if KIND == VAR
__device__ void halve_sums(double *sum, i64 *count) {
    for (int w = 128; w > 0; w /= 2) {
        __syncthreads();
        if (threadIdx.x < w) {
            sum[threadIdx.x] += sum[threadIdx.x + w];
            count[threadIdx.x] += count[threadIdx.x + w];
        }
    }
    __syncthreads();
}

// Mean and squared deviations of a leaf; the result is thread 0's.
__device__ node moments(const lanes &p, const element *from, i64 first, int n) {
    __shared__ double sum[256];
    __shared__ i64 count[256];
    double lane = 0, mean, x;
    i64 here = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        x = load_as<double, IN>(from[place(p, first + i)]);
        if (OMIT && x != x)
            continue;
        lane += x;
        here++;
    }
    sum[threadIdx.x] = lane;
    count[threadIdx.x] = here;
    halve_sums(sum, count);
    node whole = nothing();
    whole.count = count[0];
    mean = sum[0] / (double)whole.count;
    __syncthreads();
    if (whole.count == 0)
        return whole;
    lane = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        x = load_as<double, IN>(from[place(p, first + i)]);
        if (OMIT && x != x)
            continue;
        x -= mean;
        lane += x * x;
    }
    sum[threadIdx.x] = lane;
    count[threadIdx.x] = 0;
    halve_sums(sum, count);
    whole.mean = mean;
    whole.m2 = sum[0];
    __syncthreads();
    return whole;
}
#endif

extern "C" __global__ void __launch_bounds__(256) tree_lanes(const element *in, result *out, const i64 *offsets, const lanes p) {
    __shared__ node lane[256];
    __shared__ node stack[48];
    int depth = 0;
    i64 output = blockIdx.x, segment = 0, begin = 0, k = p.k, at_in = 0, at_out;
#if SEGMENTS
    segment = output % p.segments;
    output /= p.segments;
    begin = offsets[segment];
    k = offsets[segment + 1] - begin;
#endif
    at_out = segment * p.segment_out;
#pragma unroll
    for (int d = KEPT - 1; d >= 0; d--) {
        i64 at = output % p.shape[d];
        output /= p.shape[d];
        at_in += at * p.in[d];
        at_out += at * p.out[d];
    }
    const element *from = in + at_in + (SEGMENTS ? begin * p.step[0] : 0);
    for (i64 first = 0; first < k; first += 8192) {
        int n = k - first < 8192 ? (int)(k - first) : 8192;
#if KIND == VAR
        node whole = moments(p, from, first, n);
#else
        node mine = nothing();
        for (int i = threadIdx.x; i < n; i += 256)
            take(mine, from[place(p, first + i)], first + i);
        lane[threadIdx.x] = mine;
        halve(lane);
        node whole = lane[0];
#endif
        if (threadIdx.x == 0) {
            stack[depth++] = whole;
            for (i64 carry = first / 8192; carry & 1; carry >>= 1) {
                depth--;
                merge(stack[depth - 1], stack[depth]);
            }
        }
        __syncthreads();
    }
    if (threadIdx.x != 0)
        return;
    if (k <= 0)
        stack[depth++] = nothing();
    for (; depth > 1; depth--)
        merge(stack[depth - 2], stack[depth - 1]);
    out[at_out] = finished(stack[0], k, p.ddof);
}

// SPDX-License-Identifier: Apache-2.0
// gpu_leaf.cuh - mean and squared deviations of a leaf of any layout: a block, a thread each of the tree's 256 lanes. The second look finds the leaf in
// the caches.
#ifndef TESS_REDUCE_LEAF_CUH
#define TESS_REDUCE_LEAF_CUH
#include "ops/reduce/gpu_node.cuh"

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

// n elements from number `first` on. A barrier must stand between two calls: every thread reads what the last step left in shared memory.
template <typename P> __device__ node moments(const P &p, const element *from, i64 first, int n) {
    __shared__ double sum[256];
    __shared__ i64 count[256];
    double lane = 0, x;
    i64 here = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        x = load_as<double, IN>(from[place(p, first + i)]);
        bool counts = !(OMIT && x != x);
        lane = counts ? lane + x : lane;
        here += counts;
    }
    sum[threadIdx.x] = lane;
    count[threadIdx.x] = here;
    halve_sums(sum, count);
    node whole = nothing();
    whole.count = count[0];
    double mean = sum[0] / (double)whole.count;
    __syncthreads();
    if (whole.count == 0)
        return whole;
    lane = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        x = load_as<double, IN>(from[place(p, first + i)]);
        bool counts = !(OMIT && x != x);
        x -= mean;
        lane = counts ? lane + x * x : lane;
    }
    sum[threadIdx.x] = lane;
    count[threadIdx.x] = 0;
    halve_sums(sum, count);
    whole.mean = mean;
    whole.m2 = sum[0];
    return whole;
}
#endif
#endif

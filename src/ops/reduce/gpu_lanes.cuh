// SPDX-License-Identifier: Apache-2.0
// gpu_lanes.cuh - a thread's lanes of the tree in the order in which they halve, so that few registers hold many of them.
#ifndef TESS_REDUCE_LANES_CUH
#define TESS_REDUCE_LANES_CUH
#include "ops/reduce/gpu_any_order.cuh"
#if KIND == VAR
#include "ops/reduce/gpu_moments.cuh"
#endif

// Lanes M, M + APART, ... of LANES, halved; lane_of(m) gives one when it is wanted. From number MOST on there are none.
template <int M, int APART, int LANES, typename T, int MOST = LANES, typename F> __device__ __forceinline__ T subtree(const F &lane_of) {
    if constexpr (APART >= LANES) {
        return lane_of(M);
    } else {
        T whole = subtree<M, 2 * APART, LANES, T, MOST>(lane_of);
        if constexpr (M + APART < MOST)
            merge(whole, subtree<M + APART, 2 * APART, LANES, T, MOST>(lane_of));
        return whole;
    }
}
#endif

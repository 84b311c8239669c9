// SPDX-License-Identifier: Apache-2.0
// gpu_lanes.cuh - a thread's lanes of the tree in the order in which they halve, so that few registers hold many of them.
#ifndef TESS_REDUCE_LANES_CUH
#define TESS_REDUCE_LANES_CUH
#include "ops/reduce/gpu_tree.cuh"
#if KIND == VAR
#include "ops/reduce/gpu_moments.cuh"
#endif

#define ANY_ORDER (KIND == COUNT || KIND == EXTREME || KIND == ARG || (KIND != VAR && ACC < T_F16))
const unsigned ALL = 0xffffffffu;
#if IN >= 14
typedef i64 number;
#endif

__device__ __forceinline__ void merge(double &a, double b) { a += b; }

// Lanes M, M + APART, ... of LANES, halved; lane_of(m) gives one when it is wanted.
template <int M, int APART, int LANES, typename T, typename F> __device__ __forceinline__ T subtree(const F &lane_of) {
    if constexpr (APART >= LANES) {
        return lane_of(M);
    } else {
        T whole = subtree<M, 2 * APART, LANES, T>(lane_of);
        merge(whole, subtree<M + APART, 2 * APART, LANES, T>(lane_of));
        return whole;
    }
}

#if ANY_ORDER
// A thread's node of elements that come in the order of their numbers. Places of floats: the float's own comparison in place of two keys'.
#if KIND == ARG && IN >= T_F16 && IN < 14
#define BY_VALUE 1
#if IN == T_F64
typedef double value_type;
#define NO_BOUND __longlong_as_double(0x7ff0000000000000ll)
#else
typedef float value_type;
#define NO_BOUND __uint_as_float(0x7f800000)
#endif
struct taker {
    value_type best;
    number index;
    __device__ taker() : best(OMIT ? NO_BOUND - NO_BOUND : SMALLEST ? NO_BOUND : -NO_BOUND), index(-1) {}
    // A NaN is the best of all, or left out, and then all but a NaN are better than the first best, which is one.
    __device__ __forceinline__ void take(element e, number i) {
        const value_type x = load_as<value_type, IN>(e);
        const bool better = SMALLEST ? !(x >= best) : !(x <= best), counts = OMIT ? x == x : best == best;
        if (better && counts) {
            best = x;
            index = i;
        }
    }
    // first: the number of the first element that came, -1: none did. Infinities alone do not beat the bound.
    __device__ node total(number first) const {
        node n = nothing();
        if (index >= 0 || (!OMIT && first >= 0)) {
            n.key = key_of(store_as<IN>(best));
            n.index = index >= 0 ? index : first;
        }
        return n;
    }
};
#else
struct taker {
    node n;
    __device__ taker() : n(nothing()) {}
    __device__ __forceinline__ void take(element e, number i) { take_next(n, e, i); }
    __device__ node total(number) const { return n; }
};
#endif
#endif
#endif

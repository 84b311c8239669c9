// SPDX-License-Identifier: Apache-2.0
// gpu_any_order.cuh - what no order of operations can change (ANY_ORDER, gpu_tree.cuh): one node a thread of the elements that come to it, one a warp of a run.
//
// A run is read by vectors of 16 bytes wherever it begins. What lies before the first and behind the last of them comes in one load, an element a thread.
// -DPACKED=1: vectors of small elements are taken word by word (gpu_packed.cuh).
#ifndef TESS_REDUCE_ANY_ORDER_CUH
#define TESS_REDUCE_ANY_ORDER_CUH
#include "ops/reduce/gpu_tree.cuh"
#if PACKED
#include "ops/reduce/gpu_packed.cuh"
#endif

#if ANY_ORDER
// A thread's node of elements that come in the order of their numbers.
#if KIND == ARG
// Places of floats: the float's own comparison in place of two keys'.
#if IN == T_F64
typedef double value_type;
#define NO_BOUND __longlong_as_double(0x7ff0000000000000ll)
#elif IN >= T_F16
typedef float value_type;
#define NO_BOUND __uint_as_float(0x7f800000)
#endif
struct taker {
#if IN >= T_F16
    value_type best = OMIT ? NO_BOUND - NO_BOUND : SMALLEST ? NO_BOUND : -NO_BOUND;
#else
    key_type best = LOWEST;
#endif
    int index = -1;
    __device__ __forceinline__ void take(element e, int i) {
#if IN >= T_F16
        // A NaN is the best of all, or left out, and then all but a NaN are better than the first best, which is one.
        const value_type x = load_as<value_type, IN>(e);
        const bool better = (SMALLEST ? !(x >= best) : !(x <= best)) && (OMIT ? x == x : best == best);
#else
        const key_type x = key_of(e);
        const bool better = x > best;
#endif
        best = better ? x : best;
        index = better ? i : index;
    }
    // first: the number of the first element that came, -1: none did; one that is as bad as can be does not beat the bound. Numbers count from `base`.
    __device__ node total(int first, i64 base) const {
        node n = nothing();
        const int place = index >= 0 || (IN >= T_F16 && OMIT) ? index : first;
        if (place >= 0) {
#if IN >= T_F16
            n.key = key_of(store_as<IN>(best));
#else
            n.key = best;
#endif
            n.index = (number)(base + place);
        }
        return n;
    }
};
#else
struct taker {
    node n = nothing();
    __device__ __forceinline__ void take(element e, int i) { take_next(n, e, i); }
    __device__ node total(int, i64) const { return n; }
};
#endif

union run_vector {
    enum { PER = 16 / (int)sizeof(element) };
    words<16> all;
    element part[PER];
};

// An element that is converted behind this and no sooner: the compiler did it, and so waited for it, before it asked for the vectors.
__device__ element as_loaded(element e) {
#if IN == T_F32
    asm volatile("" : "+f"(e));
#elif IN == T_F64
    asm volatile("" : "+d"(e));
#elif IN == T_U64 || IN == T_I64
    asm volatile("" : "+l"(e));
#elif IN < T_F32
    unsigned bits = (unsigned)e;
    asm volatile("" : "+r"(bits));
    e = (element)bits;
#endif
    return e;
}

// A warp's node of n elements from `from` on, at most 65536, the first one's number `first`; the first thread's. AT_ONCE vectors of a thread are on their way at once.
// walk: where these lie (leaf_walk), of elements that are whole vectors of runs that lie apart, or nothing.
template <int AT_ONCE, typename... WALK> __device__ node run_of(const element *from, int n, i64 first, WALK... walk) {
    enum { PER = run_vector::PER, APART = sizeof...(WALK) };
    const int t = threadIdx.x % 32, before = APART ? 0 : (int)(0 - (u64)from & 15) / (int)sizeof(element), head = before < n ? before : n;
    const int vectors = (n - head) / PER, behind = head + vectors * PER, edge = t < 16 ? t : behind + t - 16;
    const bool at_edge = !APART && (t < 16 ? t < head : edge < n);
    const run_vector *at = (const run_vector *)(from + head) + t; // goes along, so that steps from it are constants and no load waits for another's address
    const auto vector_at = [&](int k) { return APART ? (const run_vector *)(from + (0 + ... + walk.next())) : at + 32 * k; };
    element e = {};
    if (at_edge)
        e = from[edge];
#if PACKED
    packed mine = packed_nothing();
    const auto use = [&](const run_vector &v, int i) { packed_take(mine, v.all, i * 4); };
#else
    enum { CHAINS = KIND == ARG ? 1 : PER < 4 ? PER : 4 }; // places need the order of their numbers; of others some go on side by side
    taker mine[CHAINS];
    const auto use = [&](const run_vector &v, int i) {
#pragma unroll
        for (int j = 0; j < PER; j++)
            mine[j % CHAINS].take(v.part[j], head + i * PER + j);
    };
#endif
    int i = t;
#pragma unroll 1
    for (; i - t + 32 * AT_ONCE <= vectors; i += 32 * AT_ONCE, at += 32 * AT_ONCE) {
        run_vector v[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            load_now(v[k].all, vector_at(k));
        if (PACKED && KIND != ARG)
            __syncwarp(); // as below
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            use(v[k], i + 32 * k);
    }
    if (i - t < vectors) {
        run_vector v[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const run_vector *its = vector_at(k);
            if (i + 32 * k < vectors)
                load_now(v[k].all, its);
        }
        if (sizeof(element) < 4) // or the compiler puts uses between these loads, which then wait for each other's registers; sums of wider elements have none to spare
            __syncwarp();
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (i + 32 * k < vectors)
                use(v[k], i + 32 * k);
    }
#if PACKED
    node whole = packed_total(mine, t == 0 ? vectors * PER : 0, head, first);
#else
    node whole = mine[0].total(t < vectors ? head + t * PER : -1, first);
#pragma unroll
    for (int c = 1; c < CHAINS; c++)
        merge(whole, mine[c].total(-1, first));
#endif
    if (at_edge)
        take(whole, as_loaded(e), first + edge);
#pragma unroll
    for (int down = 16; down > 0; down /= 2)
        merge(whole, above(whole, down));
    return whole;
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
// gpu_tree_few.cu - production, few elements of many outputs: a thread has all elements of an output in registers, or of V neighbours (-DVECTOR) of small elements.
//
// Neighbours lie side by side, so a warp reads whole lines of each of -DTALL rows, wherever they begin: rows need no alignment, sets of outputs no width. Every element is asked for before the first one is
// taken, and the compiler knows how many there are: lanes of the tree that have none cost nothing, and the second look of a variance finds its elements where the first one left them.
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#else
#include "ops/reduce/gpu_node.cuh"
#endif
#define BY_INVERSES (TALL <= 24) // of more, elements have the registers
#include "ops/reduce/gpu_divisors.cuh"
#include "ops/reduce/gpu_lanes.cuh"

__device__ constexpr int lanes_of(int k) { return k > 1 ? 2 * lanes_of((k + 1) / 2) : 1; } // of the tree: k rounded up to a power of two
enum { V = VECTOR, SIZE = (int)sizeof(element), LANES = lanes_of(TALL), HELD_AS_WIDE = TALL * V <= 24 };

struct few {
    i64 outputs, step; // from one element of an output to the next
    double ddof;
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

union vector {
    words<V * SIZE> all;
    element part[V];
};
union results {
    words<V * (int)sizeof(result)> all;
    result part[V];
};
template <typename T> struct many {
    T of[V];
};
template <typename T> __device__ __forceinline__ void merge(many<T> &a, const many<T> &b) {
#pragma unroll
    for (int v = 0; v < V; v++)
        merge(a.of[v], b.of[v]);
}

// The halving tree over what lane_of(vector, element, its number, its column) makes of each.
template <typename T, typename F> __device__ __forceinline__ many<T> halved(const vector (&x)[TALL], const F &lane_of) {
    return subtree<0, 1, LANES, many<T>, TALL>([&](int m) {
        many<T> lane;
#pragma unroll
        for (int v = 0; v < V; v++)
            lane.of[v] = lane_of(x[m], x[m].part[v], m, v);
        return lane;
    });
}

#if KIND == VAR && (IN == T_U8 || IN == T_I8) && (TALL & TALL - 1) == 0
// A power of two of bytes takes one look (gpu_moments.cuh).
__device__ __forceinline__ many<node> whole_of(const vector (&x)[TALL]) {
    many<node> whole;
#pragma unroll
    for (int v = 0; v < V; v++) {
        int sum = 0, squares = 0;
#pragma unroll
        for (int i = 0; i < TALL; i++) {
            const int e = x[i].part[v];
            sum += e;
            squares += e * e;
        }
        whole.of[v] = moments_at_once(sum, squares, mean_of(sum, TALL), TALL);
    }
    return whole;
}
#elif KIND == VAR
#define BY_WORDS (V * SIZE == 4 && V > 1 && !HELD_AS_WIDE) // elements by their places in a word, as f64 when they are wanted
__device__ __forceinline__ many<node> whole_of(const vector (&x)[TALL]) {
    many<node> whole;
    int count[V];
    unsigned found = 0; // a NaN where an upper half was no number
    double mean[V];
#pragma unroll
    for (int v = 0; v < V; v++)
        count[v] = OMIT ? 0 : TALL;
    many<first_sum> sum = halved<first_sum>(x, [&](const vector &its, element e, int, int v) -> first_sum {
        if constexpr (BY_WORDS && HALVES) {
            if (v == 1) {
                find_no_number(found, its.all.word[0]);
                return half_bits(its.all.word[0]);
            }
        }
        return first_look(e, true, count[v]);
    });
    if constexpr (BY_WORDS && HALVES)
        sum.of[1] = settled_halves(sum.of[1], found);
#pragma unroll
    for (int v = 0; v < V; v++)
        mean[v] = INVERSES_DIVIDE ? quotient(sum.of[v], TALL, 1. / TALL) : mean_of(sum.of[v], count[v]);
    const many<double> squares = halved<double>(x, [&](const vector &its, element e, int m, int v) {
        if constexpr (BY_WORDS)
            return square_of_part(again(its.all).word[0], v, true, middle_of(mean[v], v));
        else
            return second_look(wide_of(HELD_AS_WIDE ? e : again(e), m), true, mean[v]);
    });
#pragma unroll
    for (int v = 0; v < V; v++)
        whole.of[v] = moments_of(mean[v], BY_WORDS ? settled_squares(squares.of[v], v) : squares.of[v], count[v]);
    return whole;
}
#elif ANY_ORDER
__device__ __forceinline__ many<node> whole_of(const vector (&x)[TALL]) {
    many<node> whole;
#pragma unroll
    for (int v = 0; v < V; v++) {
        taker mine;
#pragma unroll
        for (int i = 0; i < TALL; i++)
            mine.take(x[i].part[v], i);
        whole.of[v] = mine.total(0, 0);
    }
    return whole;
}
#else
__device__ __forceinline__ many<node> whole_of(const vector (&x)[TALL]) {
#if KIND == SUM && !OMIT
    many<node> whole = halved<node>(x, [](const vector &, element e, int, int) { return begun(e); });
#pragma unroll
    for (int v = 0; v < V; v++)
        settle(whole.of[v]);
    return whole;
#else
    return halved<node>(x, [](const vector &, element e, int m, int) {
        node lane = nothing();
        take(lane, e, m);
        return lane;
    });
#endif
}
#endif

#if SMALL
typedef unsigned count_type; // there are fewer than 2^31 outputs
#else
typedef u64 count_type;
#endif

extern "C" __global__ void __launch_bounds__(256, AT_LEAST) tree_few(const element *in, result *out, const few p, const divisors by) {
    const i64 first = (blockIdx.x * 256ll + threadIdx.x) * V;
    if (first >= p.outputs)
        return;
    count_type rest = (count_type)first;
    i64 at_in = 0, at_out = 0;
#pragma unroll
    for (int d = KEPT - 1; d > 0; d--) {
        const count_type at = rest % (count_type)p.shape[d];
        rest /= (count_type)p.shape[d];
        at_in += at * p.in[d];
        at_out += at * p.out[d];
    }
    const element *from = in + at_in + rest * p.in[0];
    vector x[TALL];
#pragma unroll
    for (int i = 0; i < TALL; i++)
        load_now(x[i].all, from + i * p.step);
    const many<node> whole = whole_of(x);
    out += at_out + rest * p.out[0];
    results all;
#pragma unroll
    for (int v = 0; v < V; v++)
#if KIND == VAR
        all.part[v] = finished_by(whole.of[v], TALL, p.ddof, by.less, by.of_less);
#else
        all.part[v] = finished(whole.of[v], TALL, p.ddof);
#endif
    if (V > 1 && p.out[KEPT - 1] == 1 && (u64)out % sizeof all == 0)
        *(decltype(all.all) *)out = all.all;
    else
#pragma unroll
        for (int v = 0; v < V; v++)
            out[v * p.out[KEPT - 1]] = all.part[v];
}

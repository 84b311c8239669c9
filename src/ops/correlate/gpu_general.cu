// SPDX-License-Identifier: Apache-2.0
// gpu_general.cu - any correlation: one thread an output, its taps in the mask's order, every index worked out.
//
// What no other kernel takes comes here: any number of axes, steps of any sign, every boundary, every type. An input element is asked for once for each tap;
// neighbouring threads have neighbouring outputs, so that a tap's loads lie side by side, and caches serve the overlap. Boundaries are resolved only where a window
// leaves the array.
//
// -DIN= -DOUT= element types, -DWORK= the type of sums and weights; -DOUTER=N axes without a mask, -DMASKED=N with one, in the mask's order. -DINDEX=32
// where every place and every number fits 31 bits: a 64-bit division takes some seventy instructions, and there are two for each axis.
#include "ops/correlate/gpu_boundary.cuh"
#include "ops/correlate/gpu_number.cuh"

#if INDEX == 32
typedef int place;
typedef unsigned count;
#else
typedef i64 place;
typedef u64 count;
#endif

struct outer_axis {
    i64 m, divisor, in, out; // output number / divisor % m is the place; steps in elements
};
struct masked_axis {
    i64 m, divisor, in, out, n, width, before;
};
struct general {
    i64 outputs;
    i64 boundary;
    real constant[2];
    outer_axis outer[OUTER + 1];
    masked_axis masked[MASKED + 1];
};

// The taps of the masked axes K and following. ghost: the element is none of the array's already; INSIDE: no index has to be resolved.
template <bool INSIDE, int K> struct taps {
    static __device__ __forceinline__ void walk(const general &p, const in_element *__restrict__ in, const number *__restrict__ weight, place &tap,
                                                const place *first, place offset, bool ghost, number &acc) {
        const masked_axis &a = p.masked[K];
        for (place j = 0; j < (place)a.width; j++) {
            place i = INSIDE ? first[K] + j : (place)element_at((int)p.boundary, a.n, first[K] + j);
            taps<INSIDE, K + 1>::walk(p, in, weight, tap, first, offset + i * (place)a.in, !INSIDE && (ghost || i < 0), acc);
        }
    }
};
template <bool INSIDE> struct taps<INSIDE, MASKED> {
    static __device__ __forceinline__ void walk(const general &p, const in_element *__restrict__ in, const number *__restrict__ weight, place &tap,
                                                const place *, place offset, bool ghost, number &acc) {
        add(acc, ghost ? value_of(p.constant) : load(in[offset]), weight[tap++]);
    }
};

extern "C" __global__ void general_pass(const in_element *__restrict__ in, out_element *__restrict__ out, const number *__restrict__ weight,
                                        const general p) {
    i64 number_of = blockIdx.x * 256ll + threadIdx.x;
    place from = 0, to = 0, first[MASKED + 1], tap = 0;
    bool inside = true;
    if (number_of >= p.outputs)
        return;
#pragma unroll
    for (int d = 0; d < OUTER; d++) {
        place at = (place)((count)number_of / (count)p.outer[d].divisor % (count)p.outer[d].m);
        from += at * (place)p.outer[d].in;
        to += at * (place)p.outer[d].out;
    }
#pragma unroll
    for (int d = 0; d < MASKED; d++) {
        place at = (place)((count)number_of / (count)p.masked[d].divisor % (count)p.masked[d].m);
        first[d] = at - (place)p.masked[d].before;
        to += at * (place)p.masked[d].out;
        inside = inside && first[d] >= 0 && first[d] + (place)p.masked[d].width <= (place)p.masked[d].n;
    }
    number acc = {};
    if (inside)
        taps<true, 0>::walk(p, in, weight, tap, first, from, false, acc);
    else
        taps<false, 0>::walk(p, in, weight, tap, first, from, false, acc);
    out[to] = store(acc);
}

// SPDX-License-Identifier: Apache-2.0
// gpu_among.cuh - a place among positions of the caller's own: the bits of cpu_positions.c. Comparisons, share and quotient are of f64, the rest of -DCOMPUTE.
#include "ops/lookup/gpu_place.cuh"

// n positions that do not decrease, from low to last. -DMETHOD=1|2.
struct among {
    double low, last;
    unsigned n, half;  // half: the power of two in n, the first step of a bisection
};

__device__ __forceinline__ bool is_among(double x, const among &m) { return x >= m.low && x <= m.last; }

// One step of a bisection: `count` positions are known to be x or less.
__device__ __forceinline__ unsigned step_on(const double *positions, double x, unsigned count, unsigned half, unsigned n) {
    const unsigned next = count + half;
    return positions[min(next, n) - 1] <= x ? next : count;
}

// The first of the two entries around a place, of which `count` positions are x or less; one entry: 0.
__device__ __forceinline__ unsigned entry_before(unsigned count, unsigned n) { return min(max(count, 1u) - 1, max(n, 2u) - 2); }

// x between the positions a and b, which have the values y and z.
enum { SECOND = 2 }; // as a share: z itself, for 1 still has a product and a sum, which round
__device__ __forceinline__ to_type between(double x, double a, double b, real y, real z, const among &m) {
    const double part = (x - a) / (b - a);
    double share = part < 1 ? part : 1; // a NaN: 1
    share = x == a ? 0 : share;
    if (METHOD == NEAREST)
        share = share >= 0.5 ? SECOND : 0;
    share = x < m.low ? 0 : share;
    share = x >= m.last ? SECOND : share;
    const real t = (real)(x == x ? share : x);
    const real value = fused(t, z - y, y);
    return result_of(t == 0 ? y : t == SECOND ? z : value);
}

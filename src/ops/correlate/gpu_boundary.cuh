// SPDX-License-Identifier: Apache-2.0
// gpu_boundary.cuh - which element stands at an index outside an axis: boundary.c's rule for one index at a time.
#ifndef TESS_CORRELATE_GPU_BOUNDARY_CUH
#define TESS_CORRELATE_GPU_BOUNDARY_CUH

#define BOUNDARY_CONSTANT 1 // zero is constant +0
#define BOUNDARY_NEAREST 2
#define BOUNDARY_REFLECT 3
#define BOUNDARY_MIRROR 4
#define BOUNDARY_WRAP 5

// The element of an axis of n that stands at index i; -1: none, the constant.
__device__ __forceinline__ long long element_at(int boundary, long long n, long long i) {
    if (i >= 0 && i < n)
        return i;
    if (n <= 0 || boundary <= BOUNDARY_CONSTANT)
        return -1;
    if (boundary == BOUNDARY_NEAREST)
        return i < 0 ? 0 : n - 1;
    if (n == 1)
        return 0;
    long long period = boundary == BOUNDARY_WRAP ? n : boundary == BOUNDARY_MIRROR ? 2 * n - 2 : 2 * n, r = i % period;
    if (r < 0)
        r += period;
    if (r < n)
        return r;
    return boundary == BOUNDARY_MIRROR ? period - r : period - 1 - r;
}

// How far from an axis's end the element lies that stands in place of number `beyond` of those beyond it, by rules that turn back.
__host__ __device__ constexpr int turned_back(int boundary, int beyond) {
    return boundary == BOUNDARY_NEAREST ? 0 : boundary == BOUNDARY_MIRROR ? beyond + 1 : beyond;
}

#endif

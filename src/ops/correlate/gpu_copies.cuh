// SPDX-License-Identifier: Apache-2.0
// gpu_copies.cuh - copies from global to shared memory that run beside the arithmetic (sm_80 and later).
#include "ops/correlate/gpu_window.cuh"

__host__ __device__ constexpr int up_to(int n, int step) { return (n + step - 1) / step * step; }

__device__ __forceinline__ void copy_vector(unsigned to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
template <int N> __device__ __forceinline__ void copy_element(unsigned to, const element *from) {
    if (N >= 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(N < 4 ? 4 : N) : "memory");
    else
        *(element *)__cvta_shared_to_generic(to) = *from;
}
__device__ __forceinline__ void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT_OVER> __device__ __forceinline__ void await_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(LEFT_OVER) : "memory"); }

// SPDX-License-Identifier: Apache-2.0
// gpu_bring.cuh - a stretch of memory in shared memory, as it lies: whole vectors of 16 bytes by asynchronous copies, and the elements at both ends that fill none one by one.
//
// Nothing beside the stretch is read. It begins at the byte of `room` that it begins at in a vector of memory.
#ifndef TESS_LOOKUP_BRING_CUH
#define TESS_LOOKUP_BRING_CUH
#include "gpu/types.cuh"

// All threads of a block come here and wait for each other. `count` elements of E; returns the first one's place.
template <int ALL, typename E> __device__ __forceinline__ E *bring(uint4 *room, const E *from, int count) {
    const int size = (int)sizeof(E), each = 16 / size, skew = (int)((u64)from & 15) / size;
    const uint4 *whole = (const uint4 *)(from - skew);
    const int begin = skew > 0, end = (skew + count) / each;
    for (int i = begin + threadIdx.x; i < end; i += ALL)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(room + i)), "l"(whole + i) : "memory");
    E *laid = (E *)room + skew;
    const int before = skew > 0 ? min(each - skew, count) : 0, behind = count - before - max(end - begin, 0) * each;
    if ((int)threadIdx.x < before + behind) {
        const int i = (int)threadIdx.x < before ? (int)threadIdx.x : (int)threadIdx.x - before + count - behind;
        laid[i] = __ldg(from + i);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    return laid;
}
#endif

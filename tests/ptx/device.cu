// SPDX-License-Identifier: Apache-2.0
// What device code may do beyond plain kernels: print, assert, use the heap, call through pointers, wait for the whole grid, multiply matrices, copy in bulk.
// The warnings of the checkers have their pairs here too.
#include <assert.h>
#include <cooperative_groups.h>
#include <cstdio>
extern "C" __global__ void say(int n) {
    if (threadIdx.x < n)
        printf("thread %d of block %u: %5.2f %s %c %llx %%\n", threadIdx.x, blockIdx.x, threadIdx.x * 0.5, "text", 'a' + threadIdx.x, 1ull << 40);
}
extern "C" __global__ void check(const int *in, int *out, int limit) {
    assert(in[threadIdx.x] < limit);
    out[threadIdx.x] = in[threadIdx.x];
}
extern "C" __global__ void heap(int **kept, int *out, int bad) {
    int *own = (int *)malloc(64);
    for (int i = 0; i < 16; i++)
        own[i] = threadIdx.x + i;
    out[threadIdx.x] = own[bad == 1 ? 16 : 15];
    if (kept)
        kept[threadIdx.x] = own;
    else
        free(own);
    if (bad == 2)
        free(own);
}
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negate(int x) { return -x; }
typedef int (*function)(int);
__device__ function table[3] = {twice, square, negate};
extern "C" __global__ void pointers(int *out, int n) {
    int i = threadIdx.x;
    out[i] = table[i % n](i);
}
struct shape {
    __device__ virtual float area() const = 0;
};
struct square_shape : shape {
    float a;
    __device__ square_shape(float x) : a(x) {}
    __device__ float area() const override { return a * a; }
};
struct circle_shape : shape {
    float r;
    __device__ circle_shape(float x) : r(x) {}
    __device__ float area() const override { return 3 * r * r; }
};
extern "C" __global__ void virtuals(float *out) {
    square_shape s(threadIdx.x);
    circle_shape c(threadIdx.x);
    const shape *p = threadIdx.x & 1 ? (const shape *)&s : &c;
    out[threadIdx.x] = p->area();
}
extern "C" __global__ void jump(int *out, int n) {
    int i = threadIdx.x, v;
    switch (i % n) {
    case 0: v = out[0] + 5; break;
    case 1: v = i * 77; break;
    case 2: v = i << 3; break;
    case 3: v = i ^ 0x55; break;
    case 4: v = __popc(i) + 3; break;
    case 5: v = i / 3; break;
    case 6: v = -i; break;
    case 7: v = i - 1000; break;
    case 8: v = i * i; break;
    case 9: v = __clz(i); break;
    default: v = 1;
    }
    out[i + 1] = v;
}
namespace cg = cooperative_groups;
extern "C" __global__ void grid_wide(int *data, int *out) {
    auto grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    data[i] = i * 3;
    grid.sync();
    out[i] = data[n - 1 - i];
    grid.sync();
    if (i < n)
        data[i] = out[n - 1 - i];
}
extern "C" __global__ void mma_f16(const unsigned *a, const unsigned *b, const float *c, float *d) {
    int l = threadIdx.x;
    float r0, r1, r2, r3;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
                 : "=f"(r0), "=f"(r1), "=f"(r2), "=f"(r3)
                 : "r"(a[4 * l]), "r"(a[4 * l + 1]), "r"(a[4 * l + 2]), "r"(a[4 * l + 3]), "r"(b[2 * l]), "r"(b[2 * l + 1]), "f"(c[4 * l]),
                   "f"(c[4 * l + 1]), "f"(c[4 * l + 2]), "f"(c[4 * l + 3]));
    d[4 * l] = r0;
    d[4 * l + 1] = r1;
    d[4 * l + 2] = r2;
    d[4 * l + 3] = r3;
}
extern "C" __global__ void matrix_load(const unsigned short *in, unsigned *out, int trans) {
    __shared__ __align__(16) unsigned short tile[4 * 64];
    for (int i = threadIdx.x; i < 256; i += 32)
        tile[i] = in[i];
    __syncwarp();
    unsigned r0, r1, r2, r3, at = (unsigned)__cvta_generic_to_shared(tile + 8 * threadIdx.x);
    if (trans)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at));
    out[4 * threadIdx.x] = r0;
    out[4 * threadIdx.x + 1] = r1;
    out[4 * threadIdx.x + 2] = r2;
    out[4 * threadIdx.x + 3] = r3;
}
// In the twin nobody waits for the copy.
template <bool WAIT> __device__ void bulk_body(const float *in, float *out, int n) {
    __shared__ __align__(128) float tile[256];
    __shared__ __align__(8) unsigned long long bar;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(tile);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(1));
        asm volatile("fence.proxy.async.shared::cta;");
    }
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(1024) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(in + 256 * k),
                         "r"(1024), "r"(at)
                         : "memory");
        }
        if (WAIT)
            asm volatile(
                "{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(at),
                "r"(k & 1)
                : "memory");
        float v = 2 * tile[threadIdx.x];
        __syncthreads();
        tile[threadIdx.x] = v;
        asm volatile("fence.proxy.async.shared::cta;");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 256 * k), "r"(to), "r"(1024) : "memory");
            asm volatile("cp.async.bulk.commit_group;");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
        __syncthreads();
    }
}
extern "C" __global__ void bulk(const float *in, float *out, int n) { bulk_body<true>(in, out, n); }
extern "C" __global__ void bulk_early(const float *in, float *out, int n) { bulk_body<false>(in, out, n); }

// Local memory past its array, and constants past the bank: an index that is right in the twin.
__constant__ int few[4] = {1, 2, 3, 4};
extern "C" __global__ void local_reach(int *out, int at) {
    int own[8];
    for (int i = 0; i < 8; i++)
        own[i] = i + threadIdx.x;
    out[threadIdx.x] = own[at];
}
extern "C" __global__ void constant_reach(int *out, int at) { out[threadIdx.x] = few[at]; }

// Blocks that write next to each other, to one place, and in the order that an atomic gives.
extern "C" __global__ void blocks_apart(int *data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
extern "C" __global__ void blocks_meet(int *data) { data[threadIdx.x] = blockIdx.x; }
extern "C" __global__ void last_block(int *data, unsigned *count, int *out) {
    __shared__ bool last;
    data[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x * blockDim.x; i++)
            sum += data[i];
        *out = sum;
    }
}
// Warps of one block, without and with the barrier.
extern "C" __global__ void warps_meet(int *data, int *out, int wait) {
    data[threadIdx.x] = threadIdx.x;
    if (wait)
        __syncthreads();
    out[threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
}

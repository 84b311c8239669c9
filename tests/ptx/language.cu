// SPDX-License-Identifier: Apache-2.0
// Features of the language one by one: calls, recursion, local arrays, tables, double-precision library functions, votes, locks.
__device__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int *table_end = table + 8;

__device__ __noinline__ int collatz_steps(int n) {
    int steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}
__device__ __noinline__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

struct pair {
    double x;
    int k;
};
__device__ __noinline__ pair twice(pair p) {
    p.x *= 2;
    p.k += p.k;
    return p;
}

extern "C" __global__ void call_loop(const int *in, int *out) { out[threadIdx.x] = collatz_steps(in[threadIdx.x]); }
extern "C" __global__ void call_recursive(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }
extern "C" __global__ void call_structure(pair p, double *out) {
    p.k += threadIdx.x;
    p = twice(p);
    out[threadIdx.x] = p.x + p.k;
}
extern "C" __global__ void device_table(int *out) { out[threadIdx.x] = table[threadIdx.x % 8] + table_end[-1 - (int)(threadIdx.x % 8)]; }

// A local array with a lane-dependent index stays in local memory.
extern "C" __global__ void local_array(const int *in, int *out, int n) {
    int seen[16];
    for (int i = 0; i < 16; i++)
        seen[i] = 0;
    for (int i = 0; i < n; i++)
        seen[in[threadIdx.x * n + i] & 15]++;
    int best = 0;
    for (int i = 1; i < 16; i++)
        best = seen[i] > seen[best] ? i : best;
    out[threadIdx.x] = best;
}

extern "C" __global__ void math_double(const double *in, double *out) {
    double x = in[threadIdx.x];
    out[4 * threadIdx.x] = sin(x);
    out[4 * threadIdx.x + 1] = exp(x / 64);
    out[4 * threadIdx.x + 2] = sqrt(fabs(x));
    out[4 * threadIdx.x + 3] = 1 / x;
}
extern "C" __global__ void math_float(const float *in, float *out) {
    float x = in[threadIdx.x];
    out[4 * threadIdx.x] = sinf(x);
    out[4 * threadIdx.x + 1] = floorf(x) + rintf(x) + (float)(int)x;
    out[4 * threadIdx.x + 2] = sqrtf(fabsf(x)) + fminf(x, 2) - fmaxf(x, -2);
    out[4 * threadIdx.x + 3] = 1 / x;
}

extern "C" __global__ void votes(const int *in, unsigned *out) {
    int v = in[threadIdx.x];
    out[8 * threadIdx.x] = __ballot_sync(~0u, v > 4);
    out[8 * threadIdx.x + 1] = __any_sync(~0u, v == 5) + 2 * __all_sync(~0u, v < 100);
    out[8 * threadIdx.x + 2] = __match_any_sync(~0u, v);
    out[8 * threadIdx.x + 3] = __reduce_add_sync(~0u, (unsigned)v);
    out[8 * threadIdx.x + 4] = __shfl_xor_sync(~0u, v, 3);
    out[8 * threadIdx.x + 5] = __shfl_up_sync(~0u, v, 2, 8);
    out[8 * threadIdx.x + 6] = __shfl_sync(~0u, v, v, 16);
    out[8 * threadIdx.x + 7] = __popc(v) + __clz(v) + __ffs(v) + __brev(v) + __byte_perm(v, 77, 0x5140) + __funnelshift_l(v, v, 7);
}

// Every lane of every warp takes the lock once: needs scheduling that lets the holder go on.
extern "C" __global__ void spin_lock(int *lock, int *sum) {
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *(volatile int *)sum += 1;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *out, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void wide(const long long *a, const unsigned long long *b, unsigned long long *out) {
    int i = threadIdx.x;
    out[6 * i] = a[i] / 7 + a[i] % 1000;
    out[6 * i + 1] = b[i] / (b[i + 1] | 1);
    out[6 * i + 2] = __umul64hi(b[i], b[i + 1]);
    out[6 * i + 3] = __mul64hi(a[i], a[i + 1]);
    out[6 * i + 4] = (unsigned long long)(double)a[i] ^ (unsigned long long)(long long)(float)a[i + 1];
    out[6 * i + 5] = __popcll(b[i]) + __clzll(b[i]) + __brevll(b[i]);
}

// Tiled product of two n x n matrices, n a multiple of 16.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float s[16][16], t[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum = fmaf(s[threadIdx.y][j], t[j][threadIdx.x], sum);
        __syncthreads();
    }
    c[y * n + x] = sum;
}

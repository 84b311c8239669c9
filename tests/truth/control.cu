// SPDX-License-Identifier: Apache-2.0
// Branches, calls and copies that run beside: what masks of lanes do to counts.

// Each lane leaves the loop when its own number is done (Collatz).
extern "C" __global__ void uneven_loop(const unsigned *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    for (unsigned x = (in[i] & 1023) + 1; x != 1; steps++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    out[i] = steps;
}
// Lanes go eight ways, and each way has memory accesses of its own.
extern "C" __global__ void eight_ways(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = 0;
    switch (in[i] & 7) {
    case 0: x = in[i] + 1; break;
    case 1: x = in[i ^ 1] * 2; break;
    case 2: x = in[i ^ 2] - 3; break;
    case 3: x = in[i ^ 32] ^ 5; break;
    case 4: x = in[(i * 5) & 255]; break;
    case 5: x = in[(i * 7) & 255] | 8; break;
    case 6: x = in[(i * 8) & 255] & 15; break;
    default: x = -1;
    }
    out[i] = x;
}
// Lanes that have returned do not come back.
extern "C" __global__ void early_return(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 3 == 1 || i >= n)
        return;
    int x = in[i];
    if (x & 4)
        return;
    out[i] = x * 2 + in[i / 2];
}
// Divergence within divergence.
extern "C" __global__ void nested(const unsigned *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i];
    if (x & 1) {
        x += in[i + 1];
        if (x & 2)
            x ^= in[i + 2];
        else
            for (unsigned k = 0; k < (x & 3); k++)
                x += in[i + k];
    } else if (x & 4) {
        x *= in[i + 3];
    }
    out[i] = x;
}

// A function that is called and keeps an array.
__device__ __noinline__ int digest(const int *from, int rounds) {
    int mixed[4];
    for (int k = 0; k < 4; k++)
        mixed[k] = from[k];
    for (int k = 0; k < rounds; k++)
        mixed[k & 3] += mixed[(k + 1) & 3] * (k + 1);
    return mixed[rounds & 3];
}
extern "C" __global__ void called(const int *in, int *out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = digest(in + i, rounds) + digest(in + 2 * i, rounds + 1);
}

// Points of the plane that stay bounded: arithmetic, uneven loops, one store.
extern "C" __global__ void mandelbrot(unsigned char *out, int width, float scale) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, k = 0;
    float cr = x * scale - 2, ci = y * scale - 1, r = 0, i = 0;
    for (; k < 60 && r * r + i * i < 4; k++) {
        float next = r * r - i * i + cr;
        i = 2 * r * i + ci;
        r = next;
    }
    out[y * width + x] = (unsigned char)k;
}

// Copies from global to shared memory that pass no register, of 4, 8 and 16 bytes, through the first-level cache and past it.
template <int BYTES, bool PAST> __device__ void copy_beside(void *to, const void *from) {
    unsigned place = (unsigned)__cvta_generic_to_shared(to);
    if (PAST)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(BYTES) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
}
extern "C" __global__ void beside_4(const int *in, int *out) {
    __shared__ int line[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    copy_beside<4, false>(&line[threadIdx.x], &in[i]);
    __syncthreads();
    out[i] = line[255 - threadIdx.x];
}
extern "C" __global__ void beside_8(const long long *in, long long *out) {
    __shared__ long long line[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    copy_beside<8, false>(&line[threadIdx.x], &in[i]);
    __syncthreads();
    out[i] = line[255 - threadIdx.x];
}
extern "C" __global__ void beside_16(const int4 *in, int4 *out) {
    __shared__ int4 line[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    copy_beside<16, false>(&line[threadIdx.x], &in[i]);
    __syncthreads();
    out[i] = line[255 - threadIdx.x];
}
extern "C" __global__ void beside_past(const int4 *in, int4 *out) {
    __shared__ int4 line[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    copy_beside<16, true>(&line[threadIdx.x], &in[i]);
    __syncthreads();
    out[i] = line[255 - threadIdx.x];
}

// Fragments for matrix units: eight rows of 16 bytes for each matrix, from rows of 64 and of 80 bytes.
template <int PITCH> __device__ void fragments_body(const unsigned *in, unsigned *out) {
    __shared__ __align__(16) unsigned rows[16 * PITCH];
    for (int i = threadIdx.x; i < 256; i += 32)
        rows[i / 16 * PITCH + i % 16] = in[i];
    __syncthreads();
    unsigned a, b, c, d, t, from = (unsigned)__cvta_generic_to_shared(&rows[threadIdx.x % 16 * PITCH + threadIdx.x / 16 * 4]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(t) : "r"(from));
    out[threadIdx.x] = a + 3 * b + 5 * c + 7 * d + 11 * t;
}
extern "C" __global__ void fragments(const unsigned *in, unsigned *out) { fragments_body<16>(in, out); }
extern "C" __global__ void fragments_padded(const unsigned *in, unsigned *out) { fragments_body<20>(in, out); }

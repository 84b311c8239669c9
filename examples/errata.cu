// SPDX-License-Identifier: Apache-2.0
// What textbooks say of GPU memory that is not so, as kernels small enough to count: each claim beside what is true. docs/errata.md has the counts, and
//
//     tessera profile errata.cu 'column<<<1, 32>>>(out:f32[32])'
//
// shows them on any machine.

// ---- banks ----

__device__ float (&filled(float (&tile)[32][32]))[32][32] {
    for (int row = 0; row < 32; row++)
        tile[row][threadIdx.x] = 32 * row + threadIdx.x;
    __syncthreads();
    return tile;
}
__global__ void row(float *out) {
    __shared__ float data[32][32];
    out[threadIdx.x] = filled(data)[5][threadIdx.x];
}
__global__ void column(float *out) {
    __shared__ float data[32][32];
    out[threadIdx.x] = filled(data)[threadIdx.x][5];
}

// Lane k reads element k * STEP of an array of T.
template <typename T, int STEP> __global__ void apart(T *out) {
    __shared__ T data[32 * STEP];
    for (int i = threadIdx.x; i < 32 * STEP; i += 32)
        data[i] = (T)i;
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x * STEP];
}

// ---- reductions ----

__global__ void added_twice(const int *in, int *out) {
    __shared__ int part[8];
    int tid = threadIdx.x;
    part[tid] = in[tid];
    __syncthreads();
    for (int stride = 4; stride > 0; stride >>= 1) {
        if (tid < stride)
            part[tid] += part[tid] + part[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        *out = part[0];
}
__global__ void added_once(const int *in, int *out) {
    __shared__ int part[8];
    int tid = threadIdx.x;
    part[tid] = in[tid];
    __syncthreads();
    for (int stride = 4; stride > 0; stride >>= 1) {
        if (tid < stride)
            part[tid] += part[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        *out = part[0];
}

// Turns of the loop; the guard of 1000 is ours.
__global__ void shifted_nowhere(int *out) {
    int turns = 0;
    for (volatile int stride = 4; stride > 0 && turns < 1000; (void)(stride >> 1))
        turns++;
    *out = turns;
}
__global__ void shifted(int *out) {
    int turns = 0;
    for (int stride = 4; stride > 0 && turns < 1000; stride >>= 1)
        turns++;
    *out = turns;
}

__global__ void leaves_early(const int *in, int *out, int n) {
    __shared__ int part[64];
    if (threadIdx.x >= n)
        return;
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[n - 1 - threadIdx.x];
}
__global__ void stays(const int *in, int *out, int n) {
    __shared__ int part[64];
    if (threadIdx.x < n)
        part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n)
        out[threadIdx.x] = part[n - 1 - threadIdx.x];
}

__global__ void reads_past(int *data, int n) {
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (threadIdx.x < n && threadIdx.x % (2 * stride) == 0)
            data[threadIdx.x] += data[threadIdx.x + stride];
        __syncthreads();
    }
}
__global__ void reads_within(int *data, int n) {
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0 && threadIdx.x + stride < n)
            data[threadIdx.x] += data[threadIdx.x + stride];
        __syncthreads();
    }
}

// Two blocks' elements a thread: tid is the place in the block, the element is another.
__global__ void wrong_index(int *data, int n) {
    int tid = threadIdx.x, element = blockIdx.x * blockDim.x * 2 + tid;
    if (tid >= n)
        return;
    data[element] += data[element + blockDim.x];
}
__global__ void right_index(int *data, int n) {
    int element = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    if (element + blockDim.x < n)
        data[element] += data[element + blockDim.x];
}

// The last 64 values by one warp.
__global__ void volatile_tail(const int *in, int *out) {
    __shared__ volatile int part[64];
    int tid = threadIdx.x;
    part[tid] = in[tid];
    part[tid + 32] = in[tid + 32];
    part[tid] += part[tid + 32];
    part[tid] += part[tid + 16];
    part[tid] += part[tid + 8];
    part[tid] += part[tid + 4];
    part[tid] += part[tid + 2];
    part[tid] += part[tid + 1];
    if (tid == 0)
        *out = part[0];
}
__global__ void synchronised_tail(const int *in, int *out) {
    __shared__ int part[64];
    int tid = threadIdx.x;
    part[tid] = in[tid];
    part[tid + 32] = in[tid + 32];
    for (int stride = 32; stride > 0; stride /= 2) {
        __syncwarp();
        int sum = part[tid] + (tid + stride < 64 ? part[tid + stride] : 0);
        __syncwarp();
        part[tid] = sum;
    }
    if (tid == 0)
        *out = part[0];
}

// ---- tiles ----

__global__ void unguarded(const float *in, float *out, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[blockDim.x - 1 - threadIdx.x];
}
__global__ void guarded(const float *in, float *out, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n)
        out[i] = tile[blockDim.x - 1 - threadIdx.x];
}

// ---- %d of a size_t: what printf takes from the first 4 of its 8 bytes ----

__global__ void as_int(int *out, unsigned long long bytes) { *out = (int)bytes; }

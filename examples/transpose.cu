// SPDX-License-Identifier: Apache-2.0
// Three ways to transpose, to be looked at with `tessera profile`, on any machine:
//
//     tessera profile transpose.cu 'naive<<<(32, 32), (32, 8)>>>(in:f32[1024*1024]=ramp, out:f32[1024*1024], 1024)'
//
// naive writes columns: 32 sectors a request where 4 would do. tile goes through shared memory, and its columns are 32-way bank conflicts. padded
// has neither.
enum { TILE = 32, ROWS = 8 };

__global__ void naive(const float *in, float *out, int n) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < n && y + j < n)
            out[x * n + y + j] = in[(y + j) * n + x];
}

template <int PAD> __device__ void through_tile(const float *in, float *out, int n) {
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < n && y + j < n)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < n && y + j < n)
            out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void tile(const float *in, float *out, int n) { through_tile<0>(in, out, n); }
__global__ void padded(const float *in, float *out, int n) { through_tile<1>(in, out, n); }

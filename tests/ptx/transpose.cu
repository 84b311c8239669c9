// SPDX-License-Identifier: Apache-2.0
// Rungs of the transpose ladder: out[x][y] = in[y][x], f32, rows x cols, blocks of 32 x 8 threads over tiles of 32 x 32.
enum { TILE = 32, ROWS = 8 };

extern "C" __global__ void transpose_copy(const float *in, float *out, int rows, int cols) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows)
            out[(y + j) * cols + x] = in[(y + j) * cols + x];
}

// Coalesced reads; writes 32 sectors a request.
extern "C" __global__ void transpose_naive_read(const float *in, float *out, int rows, int cols) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows)
            out[x * rows + y + j] = in[(y + j) * cols + x];
}

// Coalesced writes; reads 32 sectors a request.
extern "C" __global__ void transpose_naive_write(const float *in, float *out, int rows, int cols) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < rows && y + j < cols)
            out[(y + j) * rows + x] = in[x * cols + y + j];
}

template <int PAD> __device__ void tile_body(const float *in, float *out, int rows, int cols) {
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < rows && y + j < cols)
            out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose_tile(const float *in, float *out, int rows, int cols) { tile_body<0>(in, out, rows, cols); }
extern "C" __global__ void transpose_tile_pad(const float *in, float *out, int rows, int cols) { tile_body<1>(in, out, rows, cols); }

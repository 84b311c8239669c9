// SPDX-License-Identifier: Apache-2.0
// Matrices, vectors and grids: products, stencils, sparse rows.

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
// Tiles of T x T, with PAD words after each row.
template <int T, int PAD> __device__ void tile_body(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[T][T + PAD], tb[T][T + PAD];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        ta[ty][tx] = a[y * n + k + tx];
        tb[ty][tx] = b[(k + ty) * n + x];
        __syncthreads();
        for (int j = 0; j < T; j++)
            sum += ta[ty][j] * tb[j][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
extern "C" __global__ void matmul_tile_16(const float *a, const float *b, float *c, int n) { tile_body<16, 0>(a, b, c, n); }
extern "C" __global__ void matmul_tile_32(const float *a, const float *b, float *c, int n) { tile_body<32, 0>(a, b, c, n); }
extern "C" __global__ void matmul_tile_pad(const float *a, const float *b, float *c, int n) { tile_body<32, 1>(a, b, c, n); }
// Four by four results a thread, from registers; vectors from shared memory.
extern "C" __global__ void matmul_registers(const float *a, const float *b, float *c, int n) {
    __shared__ float4 ta[8][16], tb[8][16]; // columns of a and rows of b, 64 long
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += 8) {
        for (int i = t; i < 512; i += 256) {
            ((float *)ta)[i % 8 * 64 + i / 8] = a[(blockIdx.y * 64 + i / 8) * n + k + i % 8];
            ((float *)tb)[i] = b[(k + i / 64) * n + blockIdx.x * 64 + i % 64];
        }
        __syncthreads();
        for (int j = 0; j < 8; j++) {
            float4 u = ta[j][ty], v = tb[j][tx];
            float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
            for (int p = 0; p < 4; p++)
                for (int q = 0; q < 4; q++)
                    sum[p][q] += us[p] * vs[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++)
            c[(blockIdx.y * 64 + ty * 4 + p) * n + blockIdx.x * 64 + tx * 4 + q] = sum[p][q];
}

// A row a thread; a row a warp; the vector in shared memory.
extern "C" __global__ void matvec_thread(const float *a, const float *x, float *y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * x[k];
    y[row] = sum;
}
extern "C" __global__ void matvec_warp(const float *a, const float *x, float *y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < n; k += 32)
        sum += a[row * n + k] * x[k];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        y[row] = sum;
}
extern "C" __global__ void matvec_shared(const float *a, const float *x, float *y, int n) {
    extern __shared__ float line[];
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        line[k] = x[k];
    __syncthreads();
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[k * n + column] * line[k];
    y[column] = sum;
}

extern "C" __global__ void stencil_line(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 3 && i < n - 3)
        out[i] = in[i - 3] + in[i - 2] * 2 + in[i - 1] * 3 + in[i] * 4 + in[i + 1] * 3 + in[i + 2] * 2 + in[i + 3];
}
extern "C" __global__ void stencil_plane(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1) {
        int i = y * w + x;
        out[i] = in[i - w] + in[i - 1] + in[i] * -4 + in[i + 1] + in[i + w];
    }
}
extern "C" __global__ void stencil_tile(const float *in, float *out, int w, int h) {
    __shared__ float tile[18][34];
    int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 16 - 1, t = threadIdx.y * 32 + threadIdx.x;
    for (int i = t; i < 18 * 34; i += 512) {
        int x = x0 + i % 34, y = y0 + i / 34;
        (&tile[0][0])[i] = x >= 0 && x < w && y >= 0 && y < h ? in[y * w + x] : 0;
    }
    __syncthreads();
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    out[(y0 + y) * w + x0 + x] = tile[y - 1][x] + tile[y][x - 1] + tile[y][x] * -4 + tile[y][x + 1] + tile[y + 1][x];
}
extern "C" __global__ void stencil_space(const float *in, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= n - 1 || y < 1 || y >= n - 1)
        return;
    float below = in[y * n + x], here = in[(n + y) * n + x];
    for (int z = 1; z < n - 1; z++) {
        int i = (z * n + y) * n + x;
        float above = in[i + n * n];
        out[i] = below + above + in[i - 1] + in[i + 1] + in[i - n] + in[i + n] - 6 * here;
        below = here;
        here = above;
    }
}

// Rows of a sparse matrix, of (row * 7 & 31) + 1 elements, at 33 elements a row: a row a thread, a row a warp, and columns first.
extern "C" __global__ void sparse_thread(const unsigned *column, const float *value, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = row * 33, end = k + (row * 7 & 31) + 1; k < end; k++)
        sum += value[k] * x[column[k] & 1023];
    y[row] = sum;
}
extern "C" __global__ void sparse_warp(const unsigned *column, const float *value, const float *x, float *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = row * 33 + lane, end = row * 33 + (row * 7 & 31) + 1; k < end; k += 32)
        sum += value[k] * x[column[k] & 1023];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        y[row] = sum;
}
extern "C" __global__ void sparse_columns(const unsigned *column, const float *value, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; row < rows && k <= (row * 7 & 31); k++)
        sum += value[k * rows + row] * x[column[k * rows + row] & 1023];
    if (row < rows)
        y[row] = sum;
}

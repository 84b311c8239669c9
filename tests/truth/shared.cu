// SPDX-License-Identifier: Apache-2.0
// Shared memory: how many wavefronts an access costs, by width, stride, equal addresses and layout of tiles.

// Lanes `step` elements apart, of 1, 2, 4, 8 and 16 bytes, written and read.
template <class T> __device__ void stride_body(const T *in, T *out, int step) {
    extern __shared__ __align__(16) char raw[];
    T *words = (T *)raw;
    int t = threadIdx.x;
    words[t * step] = in[t];
    __syncthreads();
    out[t] = words[(blockDim.x - 1 - t) * step];
}
extern "C" __global__ void stride_1(const unsigned char *in, unsigned char *out, int step) { stride_body(in, out, step); }
extern "C" __global__ void stride_2(const unsigned short *in, unsigned short *out, int step) { stride_body(in, out, step); }
extern "C" __global__ void stride_4(const unsigned *in, unsigned *out, int step) { stride_body(in, out, step); }
extern "C" __global__ void stride_8(const unsigned long long *in, unsigned long long *out, int step) { stride_body(in, out, step); }
extern "C" __global__ void stride_16(const uint4 *in, uint4 *out, int step) { stride_body(in, out, step); }

// Lanes that share addresses: all, in halves, in pairs (l, l^1), in pairs (l, l^2), in fours. Wide loads of equal pairs take two phases at a time.
template <class T> __device__ void pairs_body(const T *in, T *out, int same) {
    __shared__ T words[64];
    int t = threadIdx.x;
    words[t] = in[t];
    words[t + 32] = in[t + 32];
    __syncthreads();
    out[t] = words[t & ~same];
    out[t + 32] = words[(t & ~same) + 32];
}
extern "C" __global__ void pairs_4(const unsigned *in, unsigned *out, int same) { pairs_body(in, out, same); }
extern "C" __global__ void pairs_8(const unsigned long long *in, unsigned long long *out, int same) { pairs_body(in, out, same); }
extern "C" __global__ void pairs_16(const uint4 *in, uint4 *out, int same) { pairs_body(in, out, same); }

// Absent lanes: a phase without lanes costs nothing, and a lane without its neighbour counts as one that agrees with it.
template <class T> __device__ void absent_body(const T *in, T *out, unsigned lanes) {
    __shared__ T words[32];
    int t = threadIdx.x;
    if (lanes >> t & 1)
        words[t * 5 & 31] = in[t];
    __syncthreads();
    if (lanes >> t & 1)
        out[t] = words[t * 5 & 31];
}
extern "C" __global__ void absent_8(const double *in, double *out, unsigned lanes) { absent_body(in, out, lanes); }
extern "C" __global__ void absent_16(const float4 *in, float4 *out, unsigned lanes) { absent_body(in, out, lanes); }

// Any address: what data says.
extern "C" __global__ void scattered(const unsigned *where, unsigned *out) {
    __shared__ unsigned words[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        words[i] = i * 3 + 1;
    __syncthreads();
    unsigned sum = 0;
    for (int k = 0; k < 8; k++)
        sum += words[where[k * blockDim.x + threadIdx.x] & 1023];
    out[threadIdx.x] = sum;
}

// A tile turned over: columns of a tile meet in one bank, unless it is padded or swizzled.
extern "C" __global__ void turn_tile(const float *in, float *out, int n) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += blockDim.y)
        tile[r][threadIdx.x] = in[(y + r) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
    for (int r = threadIdx.y; r < 32; r += blockDim.y)
        out[(y + r) * n + x] = tile[threadIdx.x][r];
}
extern "C" __global__ void turn_padded(const float *in, float *out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += blockDim.y)
        tile[r][threadIdx.x] = in[(y + r) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
    for (int r = threadIdx.y; r < 32; r += blockDim.y)
        out[(y + r) * n + x] = tile[threadIdx.x][r];
}
extern "C" __global__ void turn_swizzled(const float *in, float *out, int n) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int r = threadIdx.y; r < 32; r += blockDim.y)
        tile[r][threadIdx.x ^ r] = in[(y + r) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
    for (int r = threadIdx.y; r < 32; r += blockDim.y)
        out[(y + r) * n + x] = tile[threadIdx.x][r ^ threadIdx.x];
}
// Elements of 8 bytes in a tile of 16 columns, and of 1 byte.
extern "C" __global__ void turn_doubles(const double *in, double *out, int n) {
    __shared__ double tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void turn_bytes(const unsigned char *in, unsigned char *out, int n) {
    __shared__ unsigned char tile[32][36];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// Four words beside each other for every lane: PTX has four accesses, machine code one of 16 bytes.
extern "C" __global__ void four_fields(const float *in, float *out) {
    __shared__ float tile[128][4];
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++)
        tile[t][k] = in[k * 128 + t];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum = sum * 2 + tile[127 - t][k];
    out[t] = sum;
}

// A window slides over a line: neighbours read the same words again.
extern "C" __global__ void window(const float *in, float *out, int n) {
    __shared__ float line[256 + 8];
    int i = blockIdx.x * 256 + threadIdx.x;
    line[threadIdx.x + 4] = in[i];
    if (threadIdx.x < 4) {
        line[threadIdx.x] = i >= 4 ? in[i - 4] : 0;
        line[threadIdx.x + 260] = i + 256 < n ? in[i + 256] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; k++)
        sum += line[threadIdx.x + k] * (float)(k + 1);
    out[i] = sum;
}

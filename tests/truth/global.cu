// SPDX-License-Identifier: Apache-2.0
// Global memory: how many requests and sectors an access costs, by width, stride, offset, mask and order of lanes.

// One element a lane, of every width: 1, 2, 4, 8, 16 bytes.
template <class T> __device__ void copy_body(const T *in, T *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}
extern "C" __global__ void copy_1(const unsigned char *in, unsigned char *out, int n) { copy_body(in, out, n); }
extern "C" __global__ void copy_2(const unsigned short *in, unsigned short *out, int n) { copy_body(in, out, n); }
extern "C" __global__ void copy_4(const unsigned *in, unsigned *out, int n) { copy_body(in, out, n); }
extern "C" __global__ void copy_8(const unsigned long long *in, unsigned long long *out, int n) { copy_body(in, out, n); }
extern "C" __global__ void copy_16(const uint4 *in, uint4 *out, int n) { copy_body(in, out, n); }

// Lanes that lie `step` elements apart, from element `first` on: strides and misalignment.
extern "C" __global__ void strided(const float *in, float *out, int step, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[first + i * step] = in[first + i * step] + 1.0f;
}
extern "C" __global__ void strided_8(const double *in, double *out, int step, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[first + i * step] = in[first + i * step] + 1.0;
}

// Only the lanes whose number has a bit of `bits`.
extern "C" __global__ void masked(const int *in, int *out, int bits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x & bits)
        out[i] = in[i] + 1;
}

// All lanes of a warp read one element; half of them one, half another; each pair one.
extern "C" __global__ void broadcast(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i / 32] + in[i / 16 * 9] + in[i / 2];
}

extern "C" __global__ void reversed(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[n - 1 - i] = in[i];
}

// The same sectors in another order of lanes: no more of them.
extern "C" __global__ void shuffled_lanes(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = i & ~31 | (i * 11 + 5) & 31;
    out[j] = in[i ^ 21];
}

// Addresses from data: a table read, then written, at random places.
extern "C" __global__ void gather(const unsigned *where, const float *table, float *out, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[where[i] & mask];
}
extern "C" __global__ void scatter(const unsigned *in, unsigned *out, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i * 2654435769u & mask] = in[i & 1023] | 1; // the multiplier is odd: no two threads meet
}
extern "C" __global__ void gather_bytes(const unsigned char *where, const unsigned char *table, unsigned char *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[where[i]];
}

// An array of structures, field by field and as one vector, against a structure of arrays.
struct body {
    float x, y, z, mass;
};
struct __align__(16) aligned_body {
    float x, y, z, mass;
};
extern "C" __global__ void structures_by_field(const body *in, body *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    body b = in[i];
    out[i] = body{b.x + b.mass, b.y + b.mass, b.z + b.mass, b.mass};
}
extern "C" __global__ void structures_by_vector(const aligned_body *in, aligned_body *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    aligned_body b = in[i];
    out[i] = aligned_body{b.x + b.mass, b.y + b.mass, b.z + b.mass, b.mass};
}
extern "C" __global__ void structure_of_arrays(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float mass = in[3 * n + i];
    for (int field = 0; field < 3; field++)
        out[field * n + i] = in[field * n + i] + mass;
}
extern "C" __global__ void one_field(const body *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i].z;
}

// Three bytes a pixel, packed: every lane's bytes straddle its neighbour's words.
extern "C" __global__ void grey(const unsigned char *rgb, unsigned char *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (unsigned char)((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
}
// Bytes of a word put in another order: one access of 4 bytes instead of four of 1.
extern "C" __global__ void swap_bytes(const unsigned *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __byte_perm(in[i], 0, 0x0123);
}

// Cache hints, read-only loads and volatile do not change what is counted.
extern "C" __global__ void hints(const int *__restrict__ in, const int *again, volatile int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = __ldg(in + i) + __ldcg(again + i) + __ldcs(again + 2 * i) + __ldca(again + i / 4);
    out[i] = sum;
    __stcs((int *)out + 4096 + 3 * i, sum);
}

// A pointer that is known to be global or shared only when the kernel runs.
extern "C" __global__ void generic(const int *in, int *out, int from_shared) {
    __shared__ int copy[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    copy[threadIdx.x] = in[i] * 3;
    __syncthreads();
    const int *from = from_shared ? copy : in;
    out[i] = from[threadIdx.x * 2 % 256];
}

// Rows of 20: warps lie across them, and the last one of a block is not full.
extern "C" __global__ void odd_block(const float *in, float *out, int pitch) {
    int x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
    out[y * pitch + x] = in[y * pitch + x] * 2;
}

// Every lane walks a row of its own: a column of the matrix at a time.
extern "C" __global__ void row_a_lane(const float *in, float *out, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < columns; c++)
        sum += in[row * columns + c];
    out[row] = sum;
}

// SPDX-License-Identifier: Apache-2.0
// How often a correlation with a small mask loads its input: one block of B outputs from `first` on, mask of 2n + 1 = W. docs/errata.md has the counts.
//
//     tessera profile tiles.cu 'untiled<128, 5><<<1, 128>>>(in:f32[384], out:f32[384], 128, 384)'
__constant__ float weight[64];

// Mask and input both from global memory, and the mask from constant memory.
template <int B, int n> __global__ void mask_global(const float *in, const float *mask, float *out, int first, int length) {
    int i = first + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < 2 * n + 1; j++)
        if (i - n + j >= 0 && i - n + j < length)
            sum = fmaf(in[i - n + j], mask[j], sum);
    out[i] = sum;
}
template <int B, int n> __global__ void untiled(const float *in, float *out, int first, int length) {
    int i = first + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < 2 * n + 1; j++)
        if (i - n + j >= 0 && i - n + j < length)
            sum = fmaf(in[i - n + j], weight[j], sum);
    out[i] = sum;
}

// The tile and its halo in shared memory: each input once a block.
template <int B, int n> __global__ void tiled(const float *in, float *out, int first, int length) {
    __shared__ float tile[B + 2 * n];
    for (int t = threadIdx.x; t < B + 2 * n; t += B) {
        int at = first - n + t;
        tile[t] = 0;
        if (at >= 0 && at < length)
            tile[t] = in[at];
    }
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 2 * n + 1; j++)
        sum = fmaf(tile[threadIdx.x + j], weight[j], sum);
    out[first + threadIdx.x] = sum;
}

// Only the core in shared memory, in the hope that a neighbour left the halo in L2.
template <int B, int n> __global__ void core_only(const float *in, float *out, int first, int length) {
    __shared__ float tile[B];
    tile[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 2 * n + 1; j++) {
        int t = (int)threadIdx.x - n + j;
        if (first + t >= 0 && first + t < length) {
            float x = t >= 0 && t < B ? tile[t] : 0;
            if (t < 0 || t >= B)
                x = in[first + t];
            sum = fmaf(x, weight[j], sum);
        }
    }
    out[first + threadIdx.x] = sum;
}

// The uses of each of a tile's inputs.
template <int TILE, int W> __global__ void uses(int *count) {
    for (int j = 0; j < W; j++)
        atomicAdd(&count[threadIdx.x + j], 1);
}

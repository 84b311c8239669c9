// SPDX-License-Identifier: Apache-2.0
// Rungs of the correlation ladder: out[i] = sum over j of in[i - radius + j] * mask[j], zero outside, one fma a tap in tap order.
enum { TILE = 128, MASK_LIMIT = 64 };
__constant__ float mask_constant[MASK_LIMIT];

// Input and mask both from global memory: two loads a tap.
extern "C" __global__ void correlate_global(const float *in, const float *mask, float *out, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int start = i - width / 2;
    float sum = 0;
    for (int j = 0; j < width; j++)
        if (start + j >= 0 && start + j < n)
            sum = fmaf(in[start + j], mask[j], sum);
    out[i] = sum;
}

// The mask from the constant cache: every lane of a warp reads the same word.
extern "C" __global__ void correlate_constant(const float *in, float *out, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int start = i - width / 2;
    float sum = 0;
    for (int j = 0; j < width; j++)
        if (start + j >= 0 && start + j < n)
            sum = fmaf(in[start + j], mask_constant[j], sum);
    out[i] = sum;
}

// The block's outputs cover a tile; the first threads load the halo beside it. TILE threads a block, width odd.
extern "C" __global__ void correlate_tile(const float *in, float *out, int width, int n) {
    __shared__ float tile[TILE + MASK_LIMIT];
    int radius = width / 2, i = blockIdx.x * TILE + threadIdx.x, start = blockIdx.x * TILE - radius;
    for (int k = threadIdx.x; k < TILE + 2 * radius; k += TILE)
        tile[k] = start + k >= 0 && start + k < n ? in[start + k] : 0;
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < width; j++)
        sum = fmaf(tile[threadIdx.x + j], mask_constant[j], sum);
    if (i < n)
        out[i] = sum;
}

// SPDX-License-Identifier: Apache-2.0
// The product of square matrices through tiles in shared memory: the kernel that every course has.
extern "C" __global__ void matmul_tile(const float *a, const float *b, float *c, int n) {
    __shared__ float left[16][16], right[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum = fmaf(left[threadIdx.y][j], right[j][threadIdx.x], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// SPDX-License-Identifier: Apache-2.0
// The 32 banks of shared memory, 4 bytes wide, as rungs: lane k reads element k * stride of 4, 8 or 16 bytes, in shared memory whose size the compiler or the
// launch decides; a warp reads a column of a plain, a padded and a swizzled tile. docs/errata.md has the counts.
//
//     tessera profile banks.cu 'bank_stride<float><<<1, 32, 4224>>>(out:f32[32], 32)'
//     tessera profile banks.cu 'bank_column<PADDED><<<1, 32>>>(out:f32[32])'

template <typename T> __device__ void stride_body(T *words, char *out, int stride) {
    char *lane = (char *)&words[threadIdx.x * stride];
    for (int b = 0; b < (int)sizeof(T); b++) // byte by byte, so that only the load below has the element's width
        lane[b] = (char)threadIdx.x;
    __syncthreads();
    ((T *)out)[threadIdx.x] = words[threadIdx.x * stride];
}

template <typename T> __global__ void bank_stride(char *out, int stride) {
    extern __shared__ double2 room[];
    stride_body((T *)room, out, stride);
}
template <typename T> __global__ void bank_stride_static(char *out, int stride) {
    __shared__ double2 room[33 * 32 * sizeof(T) / sizeof(double2)];
    stride_body((T *)room, out, stride);
}

enum layout { PLAIN, PADDED, SWIZZLED };
template <layout LAYOUT> __global__ void bank_column(float *out) {
    __shared__ float tile[32][LAYOUT == PADDED ? 33 : 32];
    for (int row = 0; row < 32; row++)
        tile[row][LAYOUT == SWIZZLED ? threadIdx.x ^ row : threadIdx.x] = 32 * row + threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][LAYOUT == SWIZZLED ? 5 ^ threadIdx.x : 5];
}

// SPDX-License-Identifier: Apache-2.0
// gpu_ladder.cuh - what the rungs of the correlation ladder share: ghost cells, and a mask in constant memory.
//
// P[i] = sum over j of N[i - before + j] * M[j] for 0 <= i < m, N has n elements; f32, one fmaf a tap, taps in order: the bits of every other row. Ghost cells take
// part in the sum with their value, so a guard is put around a load and never around an fmaf. -DBLOCK= threads a block or outputs a tile.
#ifndef TESS_CORRELATE_GPU_LADDER_CUH
#define TESS_CORRELATE_GPU_LADDER_CUH
#include "gpu/types.cuh"

#define MOST 320 // taps

// What each rung wants to know about a line of outputs, and about an image.
struct line {
    i64 n, m;
    int before, width;
    float ghost;
};
struct image {
    i64 n_y, n_x, m_y, m_x; // elements of N and P
    i64 pitch_n, pitch_p;   // from row to row
    int before_y, before_x, width_y, width_x;
    float ghost;
};

__device__ __forceinline__ float cell(const float *N, const line &p, i64 k) { return k >= 0 && k < p.n ? N[k] : p.ghost; }
__device__ __forceinline__ float cell(const float *N, const image &p, i64 y, i64 x) {
    return y >= 0 && y < p.n_y && x >= 0 && x < p.n_x ? N[y * p.pitch_n + x] : p.ghost;
}
__device__ __forceinline__ void put(float *P, i64 at, float sum) { P[at] = store_as<T_F32>(sum); }

#endif

// SPDX-License-Identifier: Apache-2.0
// gpu_spaced.cu - arrays whose elements lie apart: every second column, one colour of an image, the real part, an axis backwards.
//
// No step need be one element, on either side. Element by element such an array costs the place of each, some forty instructions, with one load on its way a thread;
// or, where the axes change places, a sector for each element. Here a thread finds its place once and asks for EACH elements before it writes any:
//
//   spaced_rows   q, the fastest axis of `out`, is near enough in `in` that the lanes of a warp share sectors: P rows of 256 / P x EACH elements a block
//   spaced_tiles  it is not: tiles of P x Q, read along p and written along q, turned in shared memory, whose rows are an odd number of words
//
// Sectors are read once on either way, and no more can be saved: of every second column half of what is read is not wanted.
//
// -DP, -DQ; -DSIZE and -DBATCH as in gpu_plane.cuh.
#include "ops/transpose/gpu_plane.cuh"

struct spaced {
    plane m;
    i64 p_in, q_out;
};

enum { THREADS = 256, EACH = P * Q / THREADS };

#if TURN
enum { LINE = P + (SIZE < 4 ? 4 / SIZE : 1) };

extern "C" __global__ void __launch_bounds__(THREADS) spaced_tiles(const element *in, element *out, const spaced s) {
    __shared__ element tile[Q][LINE];
    const place at = tile_of_block<P, Q>(s.m);
    {
        const int x = threadIdx.x % P, y = threadIdx.x / P;
        const int left = at.p + x < s.m.p_size ? (int)(s.m.q_size - at.q < Q ? s.m.q_size - at.q : Q) - y : 0;
        const element *from = in + at.in + (at.q + y) * s.m.q_in + (at.p + x) * s.p_in;
        element e[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++, from += THREADS / P * s.m.q_in)
            if (k * (THREADS / P) < left)
                e[k] = __ldg(from);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (k * (THREADS / P) < left)
                tile[y + k * (THREADS / P)][x] = e[k];
    }
    __syncthreads();
    const int x = threadIdx.x % Q, y = threadIdx.x / Q;
    const int left = at.q + x < s.m.q_size ? (int)(s.m.p_size - at.p < P ? s.m.p_size - at.p : P) - y : 0;
    element *to = out + at.out + (at.p + y) * s.m.p_out + (at.q + x) * s.q_out;
#pragma unroll
    for (int k = 0; k < EACH; k++, to += THREADS / Q * s.m.p_out)
        if (k * (THREADS / Q) < left)
            *to = tile[x][y + k * (THREADS / Q)];
}
#else
extern "C" __global__ void __launch_bounds__(THREADS) spaced_rows(const element *in, element *out, const spaced s) {
    enum { WIDE = Q / EACH }; // threads along a row
    const place at = tile_of_block<P, Q>(s.m);
    const i64 p = at.p + threadIdx.x / WIDE, q = at.q + threadIdx.x % WIDE;
    const int left = p < s.m.p_size ? (int)(s.m.q_size - q < Q ? s.m.q_size - q : Q) : 0;
    const element *from = in + at.in + p * s.p_in + q * s.m.q_in;
    element *to = out + at.out + p * s.m.p_out + q * s.q_out, e[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++, from += WIDE * s.m.q_in)
        if (k * WIDE < left)
            e[k] = __ldg(from);
#pragma unroll
    for (int k = 0; k < EACH; k++, to += WIDE * s.q_out)
        if (k * WIDE < left)
            *to = e[k];
}
#endif

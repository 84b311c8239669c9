// SPDX-License-Identifier: Apache-2.0
// gpu_runs.cu - matrices of short runs that stay together: pixels of an image, points in space.
//
// Element by element such a transpose writes pieces of a few bytes, and finds its place anew for each. Here a warp reads 32 runs that follow each other in `in` and lays
// each down in its row of the tile; rows stand an odd number of words apart, so that the 32 lie in 32 banks. Then rows go out, word by word. A row of a tile begins
// at a sector: MORE rows of `in` before the tile's are read too where rows of `out` do not all begin at sectors.
//
// -DRUN elements a run, -DTP x -DTQ runs a tile, -DTHREADS, -DAHEAD runs that a thread has asked for, -DSIZE and -DBATCH as in gpu_plane.cuh, where p and q count runs.
#include "ops/transpose/gpu_plane.cuh"

static_assert(SIZE <= 4, "words have no better place than others");
enum {
    WIDE = RUN * SIZE,                                  // bytes of a run
    MORE = (32 - SIZE + WIDE - 1) / WIDE,               // runs that a sector's beginning may want
    LEAD = (MORE * WIDE + 3) / 4 * 4,
    LINE = ((LEAD + TQ * WIDE + 32) / 4 | 1) * 4,       // bytes of a row of the tile
    WARPS = THREADS / 32
};
static_assert(TQ * WIDE % 32 == 0 && TP % 32 == 0, "tiles begin at sectors, warps are whole");

extern "C" __global__ void __launch_bounds__(THREADS) runs(const element *in, element *out, const plane m) {
    extern __shared__ unsigned tile[];
    const unsigned tiles_p = (unsigned)((m.p_size + TP - 1) / TP), tiles_q = (unsigned)((m.q_size + MORE + TQ - 1) / TQ);
    const i64 q0 = (i64)(blockIdx.x % tiles_q) * TQ, p0 = (i64)(blockIdx.x / tiles_q % tiles_p) * TP;
    place at;
    find_matrix(at, m, blockIdx.x / tiles_q / tiles_p);
    const int np = m.p_size - p0 < TP ? (int)(m.p_size - p0) : TP, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    char *to = (char *)(out + at.out + p0 * m.p_out + q0 * RUN);
    const bool even = ((unsigned)(unsigned long long)to | (unsigned)(m.p_out * SIZE)) % 32 == 0; // all rows begin at sectors
    const int before = q0 > 0 && !even ? MORE : 0, nq = (int)(m.q_size - q0 < TQ ? m.q_size - q0 : TQ) + before;
    const element *first = in + at.in + (q0 - before) * m.q_in + (p0 + lane) * RUN;
#pragma unroll
    for (int p = 0; p < TP; p += 32) {
        const int back = (int)((unsigned)(unsigned long long)to + (unsigned)(p + lane) * (unsigned)m.p_out * SIZE & 31);
        char *there = (char *)tile + (p + lane) * LINE + LEAD + back - before * WIDE;
        if (p + lane < np)
            for (int r = warp; r < nq; r += WARPS * AHEAD) {
                element x[AHEAD][RUN];
#pragma unroll
                for (int a = 0; a < AHEAD; a++)
                    if (r + a * WARPS < nq)
#pragma unroll
                        for (int i = 0; i < RUN; i++)
                            x[a][i] = __ldg(first + (r + a * WARPS) * m.q_in + p * RUN + i);
#pragma unroll
                for (int a = 0; a < AHEAD; a++)
                    if (r + a * WARPS < nq)
#pragma unroll
                        for (int i = 0; i < RUN; i++)
                            *(element *)(there + (r + a * WARPS) * WIDE + i * SIZE) = x[a][i];
            }
    }
    __syncthreads();
    for (int p = warp; p < np; p += WARPS) {
        char *line = to + p * m.p_out * SIZE;
        const int back = (int)((unsigned)(unsigned long long)line & 31);
        const i64 start = q0 * WIDE - back, end = m.q_size * WIDE - start; // from the row's first byte on; where it ends
        const char *from = (const char *)tile + p * LINE + LEAD;
        line -= back;
#pragma unroll 4
        for (int turn = 0; turn < TQ * WIDE; turn += 128) {
            const int b = turn + lane * 4;
            if (b >= TQ * WIDE)
                continue;
            if (start + b >= 0 && b + 4 <= end)
                *(unsigned *)(line + b) = *(const unsigned *)(from + b);
            else
                for (int k = b; k < b + 4; k += SIZE)
                    if (start + k >= 0 && k < end)
                        *(element *)(line + k) = *(const element *)(from + k);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// gpu_joined.cu - gpu_shifted_vectors.cu where rows of the matrices are short: several axes are one, and ends of rows are written with beginnings of the next.
//
// An axis that follows q in `out` without a gap counts rows together with it: row v of the matrix is the row of `in` that v / q_inner and v % q_inner say,
// and a row of `out` is as many times longer. An axis that follows p in `in` does the same to p: row p of `out` begins where p / p_inner and p % p_inner say.
// So neighbours begin anywhere, and so do rows V apart: each vector is shifted by choices (`fetch`), and what a row needs on its way out is worked out once, by
// one thread, before the barrier (`way`).
//
// Where p follows q in `out` (`follow`), a row of it begins where the one before it ends. The tile at a row's beginning starts at the sector below, as any
// other, and what lies there is the end of the row before: its MARGIN rows are the last ones of the matrix, one element of p back. The tile at a row's end
// leaves that sector to it, so no vector is written in parts.
//
// -DLANES, -DNV, -DBLOCKS, -DSTRIP as in gpu_shifted_vectors.cu.
#include "ops/transpose/gpu_load.cuh"
#include "ops/transpose/gpu_plane.cuh"

struct joined {
    plane m; // q_in and p_out are the steps of the inner axes
    i64 p_inner, q_inner, p_outer, q_outer, low, high, follow;
};

enum { SKIPS = (V + 7) / 8 }; // words that hold V numbers below 16
static_assert(Q * SIZE % 32 == 0, "tiles begin at sectors");

// Of V rows of `in` from row v of the matrix on a vector each, as it lies, and where in it the row begins: V numbers below 16. CHECK 1: rows may not exist;
// 2: vectors may lie outside of what the matrix takes of `in`, too.
template <int CHECK>
__device__ void load_rows(vector (&row)[V], unsigned (&skips)[SKIPS], const element *in, const joined &j, int v, i64 p, int p_left) {
    const int across = threadIdx.x % LANES, size = (int)j.m.q_size, around = (int)j.q_inner;
    const bool before = v < 0; // the end of the row before
    const int first = before ? v + size : v, count = before ? j.follow ? V : 0 : size - v;
    const unsigned outer = (unsigned)first / (unsigned)around;
    int inner = first - (int)outer * around;
    const char *from = (const char *)(in + p - before + inner * j.m.q_in + outer * j.q_outer);
    const i64 step = j.m.q_in * SIZE, next = (j.q_outer - (around - 1) * j.m.q_in) * SIZE;
#pragma unroll
    for (int r = 0; r < V; r++) {
        const unsigned skip = (unsigned)(unsigned long long)from & 15;
        const char *at = from - skip + across * 16;
        skips[r / 8] |= skip << r % 8 * 4;
        if (CHECK == 0) {
            load_vector(row[r], at);
        } else {
            row[r].all = make_uint4(0, 0, 0, 0);
            if (r < count && across * 16 < p_left * SIZE + (int)skip) {
                if (CHECK == 1)
                    load_vector(row[r], at);
                else
                    load_inside(row[r], at, (const char *)(in + j.low), (const char *)(in + j.high));
            }
        }
        const bool last = ++inner == around;
        from += last ? next : step;
        inner = last ? 0 : inner;
    }
}

// A row of the tile on its way out.
struct way {
    char *to;             // the sector at which it begins
    unsigned short place; // of its first vector in the tile
    unsigned short skip;  // byte of that at which it begins
    unsigned short low, high; // its elements that are the tile's, from the sector on
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) joined_rows(const element *in, element *out, const joined j) {
    extern __shared__ uint4 tile[]; // as place_in_tile has it
    __shared__ __align__(16) way ways[P];
    const place at = tile_in_strips<P, Q, MARGIN - 1, STRIP>(j.m);
    const int p_left = (int)(j.m.p_size - at.p < P ? j.m.p_size - at.p : P), q = (int)at.q, size = (int)j.m.q_size;
    in += at.in;
    out += at.out + at.q;
    for (int p = threadIdx.x; p < p_left; p += THREADS) {
        const unsigned n = (unsigned)at.p + p, outer = n / (unsigned)j.p_inner;
        char *line = (char *)(out + (n - outer * (unsigned)j.p_inner) * j.m.p_out + outer * j.p_outer);
        const int back = (int)((unsigned)(unsigned long long)line & 31);
        int low = q == 0 && !(j.follow && n > 0) ? back / SIZE : 0, high = size - q + back / SIZE;
        if (j.follow && n + 1 < j.m.p_size)
            high -= (int)((unsigned)(unsigned long long)line + (unsigned)(size - q) * SIZE & 31) / SIZE;
        high = high < 0 ? 0 : high < Q ? high : Q;
        ways[p] = {line - back, (unsigned short)place_in_tile(p, (32 - back) / 16), (unsigned short)(0 - back & 15), (unsigned short)low,
                   (unsigned short)high};
    }
    const int across = threadIdx.x % LANES, group = threadIdx.x / LANES, v = q - MARGIN + group * V;
    vector row[V], column[V];
    unsigned skips[SKIPS] = {};
    if (at.p <= V || at.p + P + V > j.m.p_size)
        load_rows<2>(row, skips, in, j, v, at.p, p_left);
    else if (q + Q > size || (q == 0 && !j.follow))
        load_rows<1>(row, skips, in, j, v, at.p, p_left);
    else
        load_rows<0>(row, skips, in, j, v, at.p, p_left);
#pragma unroll
    for (int r = 0; r < V; r++) {
        vector behind;
#pragma unroll
        for (int i = 0; i < 4; i++)
            behind.word[i] = __shfl_down_sync(0xffffffff, row[r].word[i], 1);
        row[r].all = fetch(row[r].all, behind.all, skips[r / 8] >> r % 8 * 4 & 15);
    }
    turn(row, column);
    lay_down(tile, column, across, group);
    __syncthreads();
#pragma unroll 4
    for (int n = threadIdx.x; n < p_left * NV; n += THREADS) {
        const int p = n / NV, i = n % NV;
        const way w = ways[p];
        const uint4 *two = tile + w.place + i;
        vector x;
        x.all = fetch(two[0], two[w.skip != 0], w.skip);
        element *to = (element *)(w.to + i * 16);
        if (i * V >= w.low && i * V + V <= w.high)
            *(uint4 *)to = x.all;
        else
#pragma unroll
            for (int e = 0; e < V; e++)
                if (i * V + e >= w.low && i * V + e < w.high)
                    to[e] = (element)(x.word[e * SIZE / 4] >> e * SIZE % 4 * 8);
    }
}

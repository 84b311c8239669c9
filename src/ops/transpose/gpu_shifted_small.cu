// SPDX-License-Identifier: Apache-2.0
// gpu_shifted_small.cu - gpu_shifted.cu for elements of 1 and 2 bytes: the same tiles, moved in vectors.
//
// Word by word, these took 24 accesses to memory for every 16 bytes, more than a multiprocessor issues in the time. Here a thread has H x V elements,
// 8 bytes along a row of `in` and 16 along a row of `out`: it reads V rows as the two aligned pieces of 8 bytes around each, shifts them together, turns
// the block in registers and stores H vectors of 16 bytes. On the way out two vectors of the tile are shifted into one: 8 accesses for every 16 bytes.
//
// The tile has P = 256 / SIZE rows of `out`, a lane's H of them, and NV vectors in each; vector number g of row p lies at g ^ (p / H % 8), which leaves no
// bank conflicts. Its first MARGIN elements along q are what rows that begin above a sector's start take from the block before. -DQ, -DTHREADS; -DAT_ONCE rows on their way.
#include "ops/transpose/gpu_plane.cuh"

enum {
    V = 16 / SIZE,
    H = 8 / SIZE,
    P = 32 * H,
    MARGIN = 32 / SIZE,
    NV = (Q + MARGIN) / V,
    WARPS = THREADS / 32,
    OUT_VECTORS = Q / V
};

union vector {
    uint4 all;
    unsigned word[4];
};

__device__ int place_in_row(int p, int g) { return p * NV + (g ^ (p / H & 7)); }

// An aligned piece, by an instruction that stays where it stands: the compiler would put each load before its use, and few would be on their way.
__device__ uint2 piece(const element *from, int number) {
    uint2 x;
    const uint2 *at = (const uint2 *)((const char *)from - ((unsigned)(unsigned long long)from & 7)) + number;
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(x.x), "=r"(x.y) : "l"(at));
    return x;
}

// The 8 bytes at `from`, which lie in two pieces.
__device__ uint2 join(uint2 x, uint2 y, const element *from) {
    unsigned rest = (unsigned)(unsigned long long)from & 7, bits = 8 * (rest & 3);
    bool word = rest & 4;
    unsigned low = word ? x.y : x.x, middle = word ? y.x : x.y, high = word ? y.y : y.x;
    return make_uint2(__funnelshift_r(low, middle, bits), __funnelshift_r(middle, high, bits));
}

// 16 bytes from byte `skip` < 16 of x and y.
__device__ uint4 fetch(uint4 x, uint4 y, unsigned skip) {
    bool two = skip & 8, one = skip & 4;
    unsigned a = two ? x.z : x.x, b = two ? x.w : x.y, c = two ? y.x : x.z, d = two ? y.y : x.w, e = two ? y.z : y.x, f = two ? y.w : y.y;
    unsigned bits = 8 * (skip & 3);
    if (one) {
        a = b;
        b = c;
        c = d;
        d = e;
        e = f;
    }
    return make_uint4(__funnelshift_r(a, b, bits), __funnelshift_r(b, c, bits), __funnelshift_r(c, d, bits), __funnelshift_r(d, e, bits));
}

__device__ void turn(const uint2 (&row)[V], vector (&column)[H]) {
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
#if SIZE == 1
            unsigned a = half ? row[4 * k].y : row[4 * k].x, b = half ? row[4 * k + 1].y : row[4 * k + 1].x;
            unsigned c = half ? row[4 * k + 2].y : row[4 * k + 2].x, d = half ? row[4 * k + 3].y : row[4 * k + 3].x;
            unsigned ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140), AB = __byte_perm(a, b, 0x7362), CD = __byte_perm(c, d, 0x7362);
            column[4 * half].word[k] = __byte_perm(ab, cd, 0x5410);
            column[4 * half + 1].word[k] = __byte_perm(ab, cd, 0x7632);
            column[4 * half + 2].word[k] = __byte_perm(AB, CD, 0x5410);
            column[4 * half + 3].word[k] = __byte_perm(AB, CD, 0x7632);
#else
            unsigned a = half ? row[2 * k].y : row[2 * k].x, b = half ? row[2 * k + 1].y : row[2 * k + 1].x;
            column[2 * half].word[k] = __byte_perm(a, b, 0x5410);
            column[2 * half + 1].word[k] = __byte_perm(a, b, 0x7632);
#endif
        }
}

extern "C" __global__ void __launch_bounds__(THREADS) shifted_small(const element *in, element *out, const plane m) {
    extern __shared__ uint4 tile[]; // [P][NV]
    place at = tile_of_block<P, Q, MARGIN - 1>(m);
    const element *from = in + at.in + (at.q - MARGIN) * m.q_in + at.p;
    element *to = out + at.out + at.p * m.p_out + at.q;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (at.p >= P && at.q >= MARGIN && at.p + P + V <= m.p_size && at.q + Q <= m.q_size) {
#pragma unroll
        for (int g = warp; g < NV; g += WARPS) {
            uint2 row[V];
            vector column[H];
#pragma unroll
            for (int i = 0; i < V; i += AT_ONCE) {
                uint2 x[AT_ONCE], y[AT_ONCE];
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++) {
                    const element *at = from + (g * V + i + k) * m.q_in + lane * H;
                    x[k] = piece(at, 0);
                    y[k] = piece(at, 1);
                }
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++)
                    row[i + k] = join(x[k], y[k], from + (g * V + i + k) * m.q_in + lane * H);
            }
            turn(row, column);
#pragma unroll
            for (int c = 0; c < H; c++)
                tile[place_in_row(lane * H + c, g)] = column[c].all;
        }
        __syncthreads();
#pragma unroll 4
        for (int n = threadIdx.x; n < P * OUT_VECTORS; n += THREADS) {
            int p = n / OUT_VECTORS, v = n % OUT_VECTORS;
            element *row = to + p * m.p_out;
            unsigned back = (unsigned)(unsigned long long)row & 31, skip = 32 - back;
            int g = v + (int)(skip / 16);
            uint4 x = tile[place_in_row(p, g)], y = skip & 15 ? tile[place_in_row(p, g + 1)] : x;
            ((uint4 *)((char *)row - back))[v] = fetch(x, y, skip & 15);
        }
        return;
    }
    int p_left = m.p_size - at.p < P ? (int)(m.p_size - at.p) : P;
    for (int n = threadIdx.x; n < P * (Q + MARGIN); n += THREADS) {
        int p = n % P, q = n / P;
        if (p < p_left && at.q - MARGIN + q >= 0 && at.q - MARGIN + q < m.q_size)
            ((element *)&tile[place_in_row(p, q / V)])[q % V] = from[q * m.q_in + p];
    }
    __syncthreads();
    for (int p = warp; p < p_left; p += WARPS) {
        element *row = to + p * m.p_out;
        int back = (int)((unsigned long long)row & 31) / SIZE;
        for (int q = lane - back; q < Q - back; q += 32)
            if (at.q + q >= 0 && at.q + q < m.q_size)
                row[q] = ((const element *)&tile[place_in_row(p, (q + MARGIN) / V)])[(q + MARGIN) % V];
    }
}

// SPDX-License-Identifier: Apache-2.0
// gpu_shifted_vectors.cu - gpu_shifted.cu for elements of 2 and 4 bytes: the same tiles, moved in vectors of 16 bytes, rows in registers.
//
// A thread loads V rows of `in`, of each the aligned vector that stands at its place; LANES neighbours load a piece of LANES * 16 bytes of a row. Rows begin
// anywhere, so what a thread wants begins somewhere in its vector and ends in its neighbour's: two vectors are shifted into one, row by row, the second by
// shuffles. The last lane's piece is its neighbour's first: LANES - 1 vectors a row come out. The block of V x V elements is turned in registers and laid
// down; on the way out two vectors of the turned tile are shifted into one.
//
// So rows need no shared memory before they are turned, and no barrier: blocks load while others store.
//
// NV * V rows, and MARGIN more before them, which rows of `out` that begin above a sector's start take from the block before: two vectors of each. Row p of the
// turned tile has GROUPS vectors; a vector is left free after every V rows, which leaves no bank conflicts. -DLANES, -DNV, -DBLOCKS a multiprocessor at least.
#include "ops/transpose/gpu_plane.cuh"
#include "ops/transpose/gpu_turn.cuh"

enum {
    MARGIN = 32 / SIZE,
    GROUPS = NV + 2, // of V rows: the margin's and the tile's
    P = (LANES - 1) * V,
    Q = NV * V,
    THREADS = GROUPS * LANES,
    WARPS = THREADS / 32,
    ROWS_OUT = THREADS / NV // at a time; threads beyond them rest
};
static_assert(THREADS % 32 == 0 && 32 % LANES == 0, "neighbours stand in a warp");

__device__ int place_in_tile(int p, int g) { return p * GROUPS + p / V + g; }

// A vector as it lies.
__device__ void load_vector(vector &x, const char *at) {
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.word[0]), "=r"(x.word[1]), "=r"(x.word[2]), "=r"(x.word[3]) : "l"(at));
}

// A tile that needs no tests but along p.
__device__ void whole_tile(uint4 *tile, const element *from, element *to, const plane &m, int p_left) {
    const int across = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const char *at = (const char *)(from + (group * V - MARGIN) * m.q_in);
    const i64 step = m.q_in * SIZE;
    const unsigned low = (unsigned)(unsigned long long)at;
    vector row[V], column[V];
#pragma unroll
    for (int r = 0; r < V; r++) {
        load_vector(row[r], (const char *)((unsigned long long)at & ~15ull) + across * 16);
        at += step;
    }
#pragma unroll
    for (int r = 0; r < V; r++) {
        vector next;
#pragma unroll
        for (int i = 0; i < 4; i++)
            next.word[i] = __shfl_down_sync(0xffffffff, row[r].word[i], 1);
        row[r].all = fetch(row[r].all, next.all, low + r * (unsigned)step & 15);
    }
    turn(row, column);
    if (across < LANES - 1)
#pragma unroll
        for (int c = 0; c < V; c++)
            tile[place_in_tile(across * V + c, group)] = column[c].all;
    __syncthreads();
    const int v = threadIdx.x % NV, first = threadIdx.x / NV;
    if (first < ROWS_OUT)
#pragma unroll 4
        for (int p = first; p < P; p += ROWS_OUT)
            if (p < p_left) {
                char *line = (char *)(to + p * m.p_out);
                const unsigned back = (unsigned)(unsigned long long)line & 31, skip = 32 - back;
                const int g = v + (int)(skip / 16), place = place_in_tile(p, g);
                const uint4 x = tile[place], y = tile[g + 1 < GROUPS ? place + 1 : place]; // behind the last: not used
                ((uint4 *)(line - back))[v] = fetch(x, y, skip & 15);
            }
}

// A tile at the matrix's ends; q: its first element's number.
__device__ void cut_tile(element *tile, const element *from, element *to, const plane &m, i64 q, int p_left) {
    const int ROW = MARGIN + Q;
    for (int n = threadIdx.x; n < P * ROW; n += THREADS) {
        int p = n % P, i = n / P;
        if (p < p_left && q - MARGIN + i >= 0 && q - MARGIN + i < m.q_size)
            tile[p * ROW + i] = from[(i64)(i - MARGIN) * m.q_in + p];
    }
    __syncthreads();
    for (int p = threadIdx.x / 32; p < p_left; p += WARPS) {
        element *line = to + p * m.p_out;
        int back = (int)((unsigned long long)line & 31) / SIZE;
        for (int i = (int)(threadIdx.x % 32) - back; i < Q - back; i += 32)
            if (q + i >= 0 && q + i < m.q_size)
                line[i] = tile[p * ROW + MARGIN + i];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) shifted_vectors(const element *in, element *out, const plane m) {
    extern __shared__ uint4 room[]; // a tile as place_in_tile has it, or [P][MARGIN + Q] elements
    const place at = tile_of_block<P, Q, MARGIN - 1>(m);
    const element *from = in + at.in + at.q * m.q_in + at.p;
    element *to = out + at.out + at.p * m.p_out + at.q;
    const int p_left = m.p_size - at.p < P ? (int)(m.p_size - at.p) : P;
    bool whole = at.q > MARGIN && at.q + Q <= m.q_size;
    if (at.p < V || at.p + P + 2 * V > m.p_size) // what lies beside these pieces of rows belongs to the rows before and after them
        whole = whole && m.q_in >= P + 2 * V && at.q + Q < m.q_size;
    if (whole)
        whole_tile(room, from, to, m, p_left);
    else
        cut_tile((element *)room, from, to, m, at.q, p_left);
}

// SPDX-License-Identifier: Apache-2.0
// gpu_shifted_vectors.cu - gpu_shifted.cu for elements of 1, 2 and 4 bytes: the same tiles, moved in vectors of 16 bytes, rows in registers.
//
// A thread loads V rows of `in`, of each the aligned vector that stands at its place; LANES neighbours load a piece of LANES * 16 bytes of a row. Rows begin
// anywhere, so what a thread wants begins somewhere in its vector and ends in its neighbour's: two vectors are shifted into one, row by row, the second by
// shuffles. The last lane's piece is its neighbour's first: LANES - 1 vectors a row come out. The block of V x V elements is turned in registers and laid
// down; on the way out two vectors of the turned tile are shifted into one.
//
// So rows need no shared memory before they are turned, and no barrier: blocks load while others store.
//
// By how much a row is shifted is the same for rows V apart, since V elements are a vector: for all groups of threads on the way in, and on the way out for a
// class of rows, V apart, that a warp has. So how many words is a branch that a whole warp takes (`slide`, `put_rows`), not a choice for each word, and only
// those words are fetched that are used.
//
// NV * V rows, and MARGIN more before them, which rows of `out` that begin above a sector's start take from the block before: two vectors of each. Tiles at the
// matrix's ends go the same way with tests (ENDS): what is not there is not loaded, and vectors that are not whole are written element by element.
//
// -DLANES, -DNV (gpu_load.cuh), -DBLOCKS a multiprocessor at least, -DSTRIP tiles at most in a strip (gpu_plane.cuh).
#include "ops/transpose/gpu_load.cuh"
#include "ops/transpose/gpu_plane.cuh"

enum {
    EACH = LANES - 1, // rows of a class
    WARPS = THREADS / 32,
    AT_ONCE = 32 / NV,                // rows of `out` that a warp writes at a time; lanes beyond them rest
    SETS = WARPS > V ? WARPS / V : 1, // warps that share a class
    OF_SET = (EACH + SETS - 1) / SETS,
    TURNS = (OF_SET + AT_ONCE - 1) / AT_ONCE,
    STEP = V * GROUPS + 1 // vectors of the turned tile from a row of a class to the next
};
static_assert((WARPS % V == 0 || V % WARPS == 0) && (SETS == 1 || OF_SET % AT_ONCE == 0), "each warp has classes of its own");

// From word W of x on, and `bits` modulo 32 more; the words behind x are the neighbour's first.
template <int W> __device__ void slide(vector &x, unsigned bits) {
    unsigned word[W + 5];
#pragma unroll
    for (int i = 0; i < W + 5; i++)
        word[i] = i < 4 ? x.word[i] : __shfl_down_sync(0xffffffff, x.word[i & 3], 1);
#pragma unroll
    for (int i = 0; i < 4; i++)
        x.word[i] = __funnelshift_r(word[i + W], word[i + W + 1], bits);
}

// What rows of a class need, on their way out.
struct way {
    i64 step;      // bytes of `out` to the next one
    int end;       // rows from there on do not exist
    int v;         // vector of a row, from the sector's start on
    unsigned bits; // where it begins in a word
    i64 q, q_size; // ENDS: the row's element at `line`, and how many there are
};

// Rows k, k + AT_ONCE and so on of a class, the first at `tile` and `line`: what is wanted begins in word W of two vectors of the turned tile.
template <int W, bool ENDS> __device__ void put_rows(const uint4 *tile, char *line, int k, const way &w) {
#pragma unroll
    for (int s = 0; s < TURNS; s++) {
        if (k < w.end) {
            const unsigned back = (unsigned)(unsigned long long)line & 31;
            const int g = w.v + (int)((32 - back) / 16);
            const uint4 *two = tile + (g + 1 < GROUPS ? g + 1 : g); // behind the last: not used
            vector x = {tile[g]}, y;
            if (W == 0)
                y.word[0] = *(const unsigned *)two;
            else
                y.all = *two;
            unsigned word[W + 5];
#pragma unroll
            for (int i = 0; i < W + 5; i++)
                word[i] = i < 4 ? x.word[i & 3] : y.word[i & 3];
#pragma unroll
            for (int i = 0; i < 4; i++)
                x.word[i] = __funnelshift_r(word[i + W], word[i + W + 1], w.bits);
            char *to = line - back + w.v * 16;
            const i64 q = w.q - (int)back / SIZE + w.v * V;
            if (!ENDS || (q >= 0 && q + V <= w.q_size))
                *(uint4 *)to = x.all;
            else
#pragma unroll
                for (int e = 0; e < V; e++)
                    if (q + e >= 0 && q + e < w.q_size)
                        ((element *)to)[e] = (element)(x.word[e * SIZE / 4] >> e * SIZE % 4 * 8);
        }
        line += w.step;
        tile += AT_ONCE * STEP;
        k += AT_ONCE;
    }
}

template <bool ENDS> __device__ void put_class(const uint4 *tile, char *line, int k, unsigned skip, const way &w) {
    if (skip & 8)
        skip & 4 ? put_rows<3, ENDS>(tile, line, k, w) : put_rows<2, ENDS>(tile, line, k, w);
    else
        skip & 4 ? put_rows<1, ENDS>(tile, line, k, w) : put_rows<0, ENDS>(tile, line, k, w);
}

// A tile, q its first element's number; `in` is where the matrix begins.
template <bool ENDS> __device__ void move_tile(uint4 *tile, const element *in, const element *from, element *to, const plane &m, i64 q, int p_left) {
    const int across = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const char *at = (const char *)(from + (group * V - MARGIN) * m.q_in);
    const i64 step = m.q_in * SIZE, out_step = m.p_out * SIZE;
    const unsigned low = (unsigned)(unsigned long long)(from - MARGIN * m.q_in); // modulo 16 that of all groups
    vector row[V], column[V];
    const i64 last = (m.q_size - 1) * m.q_in;
    const char *begin = (const char *)(in + (last < 0 ? last : 0)), *end = (const char *)(in + (last < 0 ? 0 : last) + m.p_size);
#pragma unroll
    for (int r = 0; r < V; r++) {
        const char *vector_at = (const char *)((unsigned long long)at & ~15ull) + across * 16;
        const i64 number = q - MARGIN + group * V + r;
        if (!ENDS) {
            load_vector(row[r], vector_at);
        } else {
            row[r].all = make_uint4(0, 0, 0, 0);
            if (number >= 0 && number < m.q_size && vector_at < at + p_left * SIZE)
                load_inside(row[r], vector_at, begin, end);
        }
        at += step;
    }
#pragma unroll
    for (int r = 0; r < V; r++) {
        const unsigned skip = low + r * (unsigned)step & 15;
        if (skip & 8)
            skip & 4 ? slide<3>(row[r], 8 * skip) : slide<2>(row[r], 8 * skip);
        else
            skip & 4 ? slide<1>(row[r], 8 * skip) : slide<0>(row[r], 8 * skip);
    }
    turn(row, column);
    lay_down(tile, column, across, group);
    __syncthreads();
    const int lane = threadIdx.x % 32;
    for (int i = threadIdx.x / 32; i < V * SETS; i += WARPS) {
        const int c = i % V, k = i / V * OF_SET + lane / NV, of_class = (p_left - c + V - 1) / V;
        const unsigned skip = 0u - (unsigned)(unsigned long long)((char *)to + c * out_step) & 15;
        const way w = {out_step * V * AT_ONCE, lane >= AT_ONCE * NV ? 0 : of_class < EACH ? of_class : EACH, lane % NV, 8 * skip, q, m.q_size};
        put_class<ENDS>(tile + place_in_tile(c, 0) + k * STEP, (char *)to + (c + k * V) * out_step, k, skip, w);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) shifted_vectors(const element *in, element *out, const plane m) {
    extern __shared__ uint4 tile[]; // as place_in_tile has it
    const place at = tile_in_strips<P, Q, MARGIN - 1, STRIP>(m);
    in += at.in;
    const element *from = in + at.q * m.q_in + at.p;
    element *to = out + at.out + at.p * m.p_out + at.q;
    const int p_left = m.p_size - at.p < P ? (int)(m.p_size - at.p) : P;
    bool whole = p_left == P && at.q > MARGIN && at.q + Q <= m.q_size;
    if (at.p < V || at.p + P + 2 * V > m.p_size) // what lies beside these pieces of rows belongs to the rows before and after them
        whole = whole && m.q_in >= P + 2 * V && at.q + Q < m.q_size;
    if (whole)
        move_tile<false>(tile, in, from, to, m, at.q, P);
    else
        move_tile<true>(tile, in, from, to, m, at.q, p_left);
}

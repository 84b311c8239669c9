// SPDX-License-Identifier: Apache-2.0
// gpu_tree_columns.cu - production, outputs side by side: a thread a vector of V columns, a block a leaf of 32 V columns, or one of -DSPLIT classes of its lanes.
//
// Along a slow axis, or several axes, the 256 lanes of a leaf are 256 rows apart for each column, too many accumulators for a thread. But the halving tree can be walked
// lane after lane: lanes visited in bit-reversed order need a stack of partial sums no deeper than the tree. A warp takes the lanes that are its number modulo
// CLASSES, four (l, l + 64, l + 128, l + 192) at a time and -DROWS of each so that 4 ROWS loads are on their way, also where not all rows are there: sums add zeros for them. The last levels meet in
// shared memory by vectors, the leaves in `finish`, and before them, where blocks would be few, the classes of a leaf: they pair as more leaves do, in bit-reversed order.
#include "ops/reduce/gpu_columns.cuh"

enum { V = VECTOR, CLASSES = WARPS * SPLIT, INNER = 64 / CLASSES };
enum { ZEROS = KIND == SUM && !OMIT }; // a zero more leaves a sum that begins with +0 as it is
union vector {
    words<V * sizeof(element)> all;
    element part[V];
};
struct nodes {
    node part[V];
};

// A warp's nodes in shared memory, each thread's by vectors, and those of all threads side by side.
struct room {
    enum { ALL_OF = (int)sizeof(nodes), BYTES = ALL_OF % 16 == 0 ? 16 : ALL_OF % 8 == 0 ? 8 : 4, PIECES = ALL_OF / BYTES };
    union pieces {
        nodes whole;
        words<BYTES> piece[PIECES];
    };
    words<BYTES> at[PIECES][32];
    __device__ void put(int t, const nodes &n) {
        pieces all;
        all.whole = n;
#pragma unroll
        for (int i = 0; i < PIECES; i++)
            at[i][t] = all.piece[i];
    }
    __device__ nodes get(int t) const {
        pieces all;
#pragma unroll
        for (int i = 0; i < PIECES; i++)
            all.piece[i] = at[i][t];
        return all.whole;
    }
};

__device__ void merge_all(nodes &n, const nodes &m) {
#pragma unroll
    for (int v = 0; v < V; v++)
        merge(n.part[v], m.part[v]);
}

// Lanes l, l + 64, l + 128, l + 192 of the leaf that begins with row `first`, halved twice. n: its elements; from: its first one, along several axes the output's.
__device__ nodes quad(const columns &c, const element *from, int n, int l, i64 first) {
    nodes lane[4];
#pragma unroll
    for (int q = 0; q < 4; q++)
#pragma unroll
        for (int v = 0; v < V; v++)
            lane[q].part[v] = nothing();
    int row = l;
#if RANK == 1
    const auto row_at = [&](int i) { return from + (row + i * 64) * c.step[0]; };
#else
    leaf_walk<columns, 64> walk(c, first + l);
    const auto row_at = [&](int) { return from + walk.next(); }; // asked for in order
#endif
    for (; row + (ROWS - 1) * 256 + 192 < n; row += ROWS * 256) {
        vector x[ROWS][4];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int q = 0; q < 4; q++)
                load_now(x[r][q].all, row_at(r * 4 + q));
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int q = 0; q < 4; q++)
#pragma unroll
                for (int v = 0; v < V; v++)
                    take(lane[q].part[v], x[r][q].part[v], first + row + r * 256 + q * 64);
    }
    if (row < n) {
        vector x[ROWS][4];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int q = 0; q < 4; q++) {
                x[r][q].all = {};
                load_if(x[r][q].all, row_at(r * 4 + q), row + r * 256 + q * 64 < n);
            }
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int q = 0; q < 4; q++)
                if (ZEROS || row + r * 256 + q * 64 < n)
#pragma unroll
                    for (int v = 0; v < V; v++)
                        take(lane[q].part[v], x[r][q].part[v], first + row + r * 256 + q * 64);
    }
    merge_all(lane[0], lane[2]);
    merge_all(lane[1], lane[3]);
    merge_all(lane[0], lane[1]);
    return lane[0];
}

// The subtree of the INNER quads that start at lanes l, l + WARPS, ...: both halves in turn, each a subtree of lanes twice as far apart.
template <int QUADS, int APART> struct walk {
    static __device__ nodes run(const columns &c, const element *from, int n, int l, i64 first) {
        nodes left = walk<QUADS / 2, APART * 2>::run(c, from, n, l, first);
        nodes right = walk<QUADS / 2, APART * 2>::run(c, from, n, l + APART, first);
        merge_all(left, right);
        return left;
    }
};
template <int APART> struct walk<1, APART> {
    static __device__ nodes run(const columns &c, const element *from, int n, int l, i64 first) { return quad(c, from, n, l, first); }
};

extern "C" __global__ void __launch_bounds__(32 * WARPS) tree_columns(const element *in, result *out, node *partial, const columns c) {
    __shared__ room rooms[WARPS];
    nodes mine;
    const int warp = threadIdx.x / 32, t = threadIdx.x % 32;
    i64 strips = (c.width / V + 31) / 32, block = blockIdx.x, strip = block % strips, at_in, at_out;
    block /= strips;
    i64 part = block % c.leaves, leaf = part / SPLIT, batch = block / c.leaves, column = (strip * 32 + t) * V, first = leaf * 8192;
    const int piece = SPLIT > 1 ? (int)(__brev((unsigned)(part % SPLIT)) / (0x80000000u / (SPLIT > 1 ? SPLIT / 2 : 1))) : 0; // as they meet
    place_of(c, batch, at_in, at_out);
    if (column < c.width) {
        int n = c.k - first < 8192 ? (int)(c.k - first) : 8192;
        mine = walk<INNER, CLASSES>::run(c, in + at_in + column + (RANK == 1 ? first * c.step[0] : 0), n, warp * SPLIT + piece, first);
    }
#pragma unroll
    for (int w = WARPS / 2; w > 0; w /= 2) { // half of the warps that are left leave theirs to the others
        if (warp >= w && warp < 2 * w && column < c.width)
            rooms[warp].put(t, mine);
        __syncthreads();
        if (warp < w && column < c.width)
            merge_all(mine, rooms[warp + w].get(t));
    }
    if (warp != 0 || column >= c.width)
        return;
#pragma unroll
    for (int v = 0; v < V; v++) {
        if (c.leaves == 1)
            out[at_out + (column + v) * c.out_step] = finished(mine.part[v], c.k, c.ddof);
        else
            partial[(batch * c.leaves + part) * c.width + column + v] = mine.part[v];
    }
}

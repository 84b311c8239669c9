// SPDX-License-Identifier: Apache-2.0
// gpu_tree_columns.cu - production, outputs side by side: a thread a vector of V columns, a block one leaf of 32 V columns.
//
// Along a slow axis the 256 lanes of a leaf are 256 rows apart for each column, too many accumulators for a thread. But the halving tree can be walked
// lane after lane: lanes visited in bit-reversed order need a stack of partial sums no deeper than the tree. Warp w takes the lanes that are w modulo
// WARPS, four (l, l + 64, l + 128, l + 192) at a time and -DROWS of each so that 4 ROWS loads are on their way; the last levels meet in shared memory, the leaves in `finish`.
//
// -DAT_ONCE=1: the last rows of four lanes, which may not be there, are asked for together, and a block's nodes meet by vectors, put down once each. Measured to be quicker for up to 448 rows, of which all
// are last ones, and for small elements; of 1000 f32 and f64 slower by 5 to 9 %, which of the two is to blame is not known.
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#else
#include "ops/reduce/gpu_node.cuh"
#endif

enum { V = VECTOR, INNER = 64 / WARPS };
union vector {
    words<V * sizeof(element)> all;
    element part[V];
};
struct nodes {
    node part[V];
};

#if AT_ONCE
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
#endif

struct columns {
    i64 k, step, leaves; // elements of an output, elements of in from one to the next
    i64 width, batches;  // outputs side by side; sets of them
    double ddof;
    i64 out_step;                                     // from one column's output to the next
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

__device__ void merge_all(nodes &n, const nodes &m) {
#pragma unroll
    for (int v = 0; v < V; v++)
        merge(n.part[v], m.part[v]);
}

// Lanes l, l + 64, l + 128, l + 192, halved twice. n: the leaf's elements.
__device__ nodes quad(const element *from, i64 step, int n, int l, i64 first) {
    nodes lane[4];
#pragma unroll
    for (int q = 0; q < 4; q++)
#pragma unroll
        for (int v = 0; v < V; v++)
            lane[q].part[v] = nothing();
    int row = l;
    for (; row + (ROWS - 1) * 256 + 192 < n; row += ROWS * 256) {
        vector x[ROWS][4];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int q = 0; q < 4; q++)
                load_now(x[r][q].all, from + (row + r * 256 + q * 64) * step);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int q = 0; q < 4; q++)
#pragma unroll
                for (int v = 0; v < V; v++)
                    take(lane[q].part[v], x[r][q].part[v], first + row + r * 256 + q * 64);
    }
#if AT_ONCE
    for (; row < n; row += 256) {
        vector x[4];
#pragma unroll
        for (int q = 0; q < 4; q++)
            load_if(x[q].all, from + (row + q * 64) * step, row + q * 64 < n);
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (row + q * 64 < n)
#pragma unroll
                for (int v = 0; v < V; v++)
                    take(lane[q].part[v], x[q].part[v], first + row + q * 64);
    }
#else
    for (; row < n; row += 256)
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (row + q * 64 < n) {
                vector x = *(const vector *)(from + (row + q * 64) * step);
#pragma unroll
                for (int v = 0; v < V; v++)
                    take(lane[q].part[v], x.part[v], first + row + q * 64);
            }
#endif
    merge_all(lane[0], lane[2]);
    merge_all(lane[1], lane[3]);
    merge_all(lane[0], lane[1]);
    return lane[0];
}

// The subtree of the INNER quads that start at lanes l, l + WARPS, ...: both halves in turn, each a subtree of lanes twice as far apart.
template <int QUADS, int APART> struct walk {
    static __device__ nodes run(const element *from, i64 step, int n, int l, i64 first) {
        nodes left = walk<QUADS / 2, APART * 2>::run(from, step, n, l, first);
        nodes right = walk<QUADS / 2, APART * 2>::run(from, step, n, l + APART, first);
        merge_all(left, right);
        return left;
    }
};
template <int APART> struct walk<1, APART> {
    static __device__ nodes run(const element *from, i64 step, int n, int l, i64 first) { return quad(from, step, n, l, first); }
};

extern "C" __global__ void __launch_bounds__(32 * WARPS) tree_columns(const element *in, result *out, node *partial, const columns c) {
#if AT_ONCE
    __shared__ room rooms[WARPS];
#else
    __shared__ nodes lanes[WARPS][32];
#endif
    nodes mine;
    const int warp = threadIdx.x / 32, t = threadIdx.x % 32;
    i64 strips = (c.width / V + 31) / 32, block = blockIdx.x, strip = block % strips, at_in, at_out;
    block /= strips;
    i64 leaf = block % c.leaves, batch = block / c.leaves, column = (strip * 32 + t) * V, first = leaf * 8192;
    place_of(c, batch, at_in, at_out);
    if (column < c.width) {
        int n = c.k - first < 8192 ? (int)(c.k - first) : 8192;
        mine = walk<INNER, WARPS>::run(in + at_in + column + first * c.step, c.step, n, warp, first);
    }
#if AT_ONCE
#pragma unroll
    for (int w = WARPS / 2; w > 0; w /= 2) { // half of the warps that are left leave theirs to the others
        if (warp >= w && warp < 2 * w && column < c.width)
            rooms[warp].put(t, mine);
        __syncthreads();
        if (warp < w && column < c.width)
            merge_all(mine, rooms[warp + w].get(t));
    }
#else
    if (column < c.width)
        lanes[warp][t] = mine;
#pragma unroll
    for (int w = WARPS / 2; w > 0; w /= 2) {
        __syncthreads();
        if (warp < w && column < c.width)
            merge_all(lanes[warp][t], lanes[warp + w][t]);
    }
#endif
    if (warp != 0 || column >= c.width)
        return;
#if !AT_ONCE
    mine = lanes[0][t];
#endif
#pragma unroll
    for (int v = 0; v < V; v++) {
        if (c.leaves == 1)
            out[at_out + (column + v) * c.out_step] = finished(mine.part[v], c.k, c.ddof);
        else
            partial[(batch * c.leaves + leaf) * c.width + column + v] = mine.part[v];
    }
}

// A thread a column: its leaves' nodes, paired by a binary counter.
extern "C" __global__ void finish(result *out, const node *partial, const columns c) {
    i64 number = blockIdx.x * 256ll + threadIdx.x, batch = number / c.width, column = number % c.width, at_in, at_out;
    if (batch >= c.batches)
        return;
    place_of(c, batch, at_in, at_out);
    const node *from = partial + batch * c.leaves * c.width + column;
    node stack[40];
    int depth = 0;
    for (i64 i = 0; i < c.leaves; i++)
        push(stack, depth, from[i * c.width], i);
    fold(stack, depth);
    out[at_out + column * c.out_step] = finished(stack[0], c.k, c.ddof);
}

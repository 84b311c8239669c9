// SPDX-License-Identifier: Apache-2.0
// gpu_tree_columns.cu - production, outputs side by side: a thread a vector of V columns, a block one leaf of 32 V columns.
//
// Along a slow axis the 256 lanes of a leaf are 256 rows apart for each column, too many accumulators for a thread. But the halving tree can be walked
// lane after lane: lanes visited in bit-reversed order need a stack of partial sums no deeper than the tree. Warp w takes the lanes that are w modulo
// WARPS, four (l, l + 64, l + 128, l + 192) at a time and -DROWS of each so that 4 ROWS loads are on their way; the last levels meet in shared memory, the leaves in `finish`.
#include "ops/reduce/gpu_node.cuh"

enum { V = VECTOR, INNER = 64 / WARPS };
union vector {
    words<V * sizeof(element)> all;
    element part[V];
};
struct nodes {
    node part[V];
};

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
    for (; row < n; row += 256)
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (row + q * 64 < n) {
                vector x = *(const vector *)(from + (row + q * 64) * step);
#pragma unroll
                for (int v = 0; v < V; v++)
                    take(lane[q].part[v], x.part[v], first + row + q * 64);
            }
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
    __shared__ nodes lanes[WARPS][32];
    const int warp = threadIdx.x / 32, t = threadIdx.x % 32;
    i64 strips = (c.width / V + 31) / 32, block = blockIdx.x, strip = block % strips, at_in, at_out;
    block /= strips;
    i64 leaf = block % c.leaves, batch = block / c.leaves, column = (strip * 32 + t) * V, first = leaf * 8192;
    place_of(c, batch, at_in, at_out);
    if (column < c.width) {
        int n = c.k - first < 8192 ? (int)(c.k - first) : 8192;
        lanes[warp][t] = walk<INNER, WARPS>::run(in + at_in + column + first * c.step, c.step, n, warp, first);
    }
#pragma unroll
    for (int w = WARPS / 2; w > 0; w /= 2) {
        __syncthreads();
        if (warp < w && column < c.width)
            merge_all(lanes[warp][t], lanes[warp + w][t]);
    }
    if (warp != 0 || column >= c.width)
        return;
#pragma unroll
    for (int v = 0; v < V; v++) {
        if (c.leaves == 1)
            out[at_out + (column + v) * c.out_step] = finished(lanes[0][t].part[v], c.k, c.ddof);
        else
            partial[(batch * c.leaves + leaf) * c.width + column + v] = lanes[0][t].part[v];
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

// SPDX-License-Identifier: Apache-2.0
// gpu_tree_leaves.cu - any layout, a block a leaf of the tree: what tree_lanes does one leaf after another, side by side; complex elements too.
//
// A thread has one of the leaf's 256 lanes, whose elements it takes in their order; the lanes are halved in shared memory. Of outputs with more than one
// leaf (-DMANY=1: a row of blocks each, 2: one row of all) the blocks' nodes go to the workspace, and `finish` pairs those of each output. With -DPARTS=1 the outputs are leaves of another
// problem, which is too large to be on the device whole: each comes out as a record that the host pairs with the others (slab.c). -DAT_LEAST: blocks that
// a multiprocessor must have registers for (gpu_leaves.c).
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#endif
#include "ops/reduce/gpu_finish.cuh"
#include "ops/reduce/gpu_leaf.cuh"

struct leaves {
    i64 k, count, outputs; // elements and leaves of an output
    double ddof;
    i64 size[RANK + 1], step[RANK + 1]; // the reduced axes, slowest first
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1];
};

// reduce_record of reduce.h.
struct record {
    u64 a, b;
    i64 count;
};

#if PARTS
__device__ u64 bits(float x) { return __float_as_uint(x); }
__device__ u64 bits(double x) { return (u64)__double_as_longlong(x); }
__device__ u64 bits(i64 x) { return (u64)x; }
__device__ u64 bits(u64 x) { return x; }

__device__ record record_of(const node &n, int k) {
    record r = {0, 0, k};
#if KIND == COUNT
    r.a = (u64)n.zeros;
#elif KIND == EXTREME
    r.a = (u64)(i64)n.key;
#elif KIND == ARG
    r.a = (u64)(i64)n.key;
    r.b = (u64)n.index;
#elif KIND == VAR
    r.a = bits(n.mean);
    r.b = bits(n.m2);
#elif ACC >= 14
    r.a = bits(n.value.re);
    r.b = bits(n.value.im);
#else
    r.a = bits(n.value);
#endif
#if COUNTED
    r.count = n.count;
#endif
    return r;
}
#endif

#if KIND != VAR
enum { THREADS = 256 };
#endif

extern "C" __global__ void __launch_bounds__(THREADS, AT_LEAST) tree_leaves(const element *in, void *to, node *partial, const leaves p) {
    unsigned output = MANY ? blockIdx.y : blockIdx.x, leaf = MANY ? blockIdx.x : 0;
    i64 at_in, at_out;
#if MANY == 2
    output = leaf / (unsigned)p.count;
    leaf %= (unsigned)p.count;
#endif
    place_of(p, output, at_in, at_out);
    const i64 first = (i64)leaf * 8192, left = p.k - first;
    node whole = of_leaf(p, in + at_in, first, left < 8192 ? (int)left : 8192);
    if (threadIdx.x != 0)
        return;
#if PARTS
    ((record *)to)[output] = record_of(whole, (int)p.k);
#elif MANY
    partial[output * (i64)p.count + leaf] = whole;
#else
    ((result *)to)[at_out] = finished(whole, p.k, p.ddof);
#endif
}

extern "C" __global__ void __launch_bounds__(256) pair_leaves(node *paired, const node *partial, i64 groups, const leaves p) {
    pair_neighbours(paired, partial, groups, p.count, p.outputs);
}

extern "C" __global__ void __launch_bounds__(256) finish(result *out, const node *partial, i64 count, const leaves p) {
    finish_outputs<FEW, true>(out, partial, count, p);
}

// SPDX-License-Identifier: Apache-2.0
// gpu_columns.cuh - outputs side by side, sets of them anywhere: what the kernels of reduce/tree_columns are told, and the end of outputs with more leaves than one.
#ifndef TESS_REDUCE_COLUMNS_CUH
#define TESS_REDUCE_COLUMNS_CUH
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#else
#include "ops/reduce/gpu_node.cuh"
#endif

struct columns {
    i64 k, leaves;       // elements of an output
    i64 width, batches;  // outputs side by side; sets of them
    double ddof;
    i64 out_step;                                     // from one column's output to the next
    i64 step[RANK]; // the reduced axes, slowest first
#if RANK > 1
    i64 size[RANK];
#endif
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes
};

// A thread a column: its leaves' nodes, paired by a binary counter.
extern "C" __global__ void finish(result *out, const node *partial, const columns c) {
    i64 number = blockIdx.x * 256ll + threadIdx.x, batch = number / c.width, column = number % c.width, at_in, at_out;
    if (batch >= c.batches)
        return;
    place_of(c, batch, at_in, at_out);
    const node *from = partial + batch * c.leaves * c.width + column;
    node stack[40];
    int depth = 0;
    for (i64 i = 0; i < c.leaves; i += 8) { // eight are a subtree, all on their way at once
        node part[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            part[j] = nothing();
            if (i + j < c.leaves)
                part[j] = from[(i + j) * c.width];
        }
#pragma unroll
        for (int apart = 1; apart < 8; apart *= 2)
#pragma unroll
            for (int j = 0; j < 8; j += 2 * apart)
                if (i + j + apart < c.leaves)
                    merge(part[j], part[j + apart]);
        push(stack, depth, part[0], i / 8);
    }
    fold(stack, depth);
    out[at_out + column * c.out_step] = finished(stack[0], c.k, c.ddof);
}
#endif

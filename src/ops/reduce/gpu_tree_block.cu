// SPDX-License-Identifier: Apache-2.0
// gpu_tree_block.cu - production, one short run: a block a leaf of the tree, a thread each of its 256 lanes, one launch.
//
// Up to a few hundred leaves there is no bandwidth to win, only waiting to lose: each step that needs the one before costs half a microsecond or more. So a
// thread asks for all 32 elements of its lane at once; one barrier takes the lanes to the first warp, each of whose threads merges eight of them in the
// tree's order (lanes 128, 64 and 32 apart), and shuffles do the rest. With more than one leaf (-DTICKET=1) the last block to be done pairs the leaves: no
// second launch.
#include "ops/reduce/gpu_node.cuh"

struct run {
    i64 k, leaves;
    double ddof;
};

typedef union single {
    words<sizeof(element)> all;
    element value;
} single;

__device__ node lane_of(const element *from, int n, i64 first) {
    node mine = nothing();
    const int t = threadIdx.x;
    if (n == 8192) {
        single v[32];
#pragma unroll
        for (int i = 0; i < 32; i++)
            load_now(v[i].all, from + i * 256 + t);
#pragma unroll
        for (int i = 0; i < 32; i++)
            take(mine, v[i].value, first + i * 256 + t);
    } else {
        for (int i = 0; i * 256 < n; i += 8) {
            single v[8];
#pragma unroll
            for (int r = 0; r < 8; r++)
                if ((i + r) * 256 + t < n)
                    load_now(v[r].all, from + (i + r) * 256 + t);
#pragma unroll
            for (int r = 0; r < 8; r++)
                if ((i + r) * 256 + t < n)
                    take(mine, v[r].value, first + (i + r) * 256 + t);
        }
    }
    return mine;
}

extern "C" __global__ void __launch_bounds__(256) tree_block(const element *in, result *out, node *partial, unsigned *ticket, const run r) {
    __shared__ node room[256];
    const int t = threadIdx.x;
    i64 first = blockIdx.x * 8192ll;
    room[t] = lane_of(in + first, r.k - first < 8192 ? (int)(r.k - first) : 8192, first);
    __syncthreads();
    node whole;
    if (t < 32) {
        node part[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            part[i] = room[t + i * 32];
            merge(part[i], room[t + i * 32 + 128]);
        }
        merge(part[0], part[2]);
        merge(part[1], part[3]);
        merge(part[0], part[1]);
        whole = part[0];
#pragma unroll
        for (int down = 16; down > 0; down /= 2)
            merge(whole, above(whole, down));
    }
#if TICKET
    if (!is_last(whole, partial, ticket))
        return;
    whole = paired(partial, r.leaves, room, 256);
#endif
    if (t == 0)
        *out = finished(whole, r.k, r.ddof);
}

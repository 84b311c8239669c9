// SPDX-License-Identifier: Apache-2.0
// gpu_tree_block.cu - production, one short run: a block a leaf of the tree, a thread each of its 256 lanes, one launch.
//
// Up to a few hundred leaves there is no bandwidth to win, only waiting to lose: each step that needs the one before costs a third of a microsecond or more.
// So a thread asks for all elements of its lane at once (the 1 in the launch bounds lets it: the compiler would save registers); one barrier takes the lanes to the first warp, each of whose threads merges eight of them in the
// tree's order (lanes 128, 64 and 32 apart), and shuffles do the rest. With more than one leaf (-DTICKET=1) the first warp of the last block to be done
// pairs the leaves, eight a thread: no second launch. -DROWS=8|32: a leaf has at most so many rows of 256 elements; a short text is also waited for less.
#include "ops/reduce/gpu_finish.cuh"

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
    single v[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        if (i * 256 + t < n)
            load_now(v[i].all, from + i * 256 + t);
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        if (i * 256 + t < n)
            take(mine, v[i].value, first + i * 256 + t);
    return mine;
}

extern "C" __global__ void __launch_bounds__(256, 1) tree_block(const element *in, result *out, node *partial, unsigned *ticket, const run r) {
    __shared__ node room[256];
    const int t = threadIdx.x;
    i64 first = TICKET ? blockIdx.x * 8192ll : 0;
    room[t] = lane_of(in + first, r.k - first < 8192 ? (int)(r.k - first) : 8192, first);
    __syncthreads();
    if (t >= 32)
        return;
    node part[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        part[i] = room[t + i * 32];
        merge(part[i], room[t + i * 32 + 128]);
    }
    merge(part[0], part[2]);
    merge(part[1], part[3]);
    merge(part[0], part[1]);
    node whole = part[0];
#pragma unroll
    for (int down = 16; down > 0; down /= 2)
        merge(whole, above(whole, down));
#if TICKET
    bool last = t == 0 && is_last(whole, partial, ticket);
    if (!__any_sync(0xffffffffu, last))
        return;
    whole = paired<32, false>(partial, r.leaves);
#endif
    if (t == 0)
        *out = finished(whole, r.k, r.ddof);
}

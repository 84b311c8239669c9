// SPDX-License-Identifier: Apache-2.0
// gpu_strip_any.cuh - rows of a strip of what no order of operations can change, for gpu_tree_strips.cu: a thread takes in every so many-th row as it comes (gpu_across.cuh), -DROUNDS of them on their way at once.
#ifndef TESS_REDUCE_STRIP_ANY_CUH
#define TESS_REDUCE_STRIP_ANY_CUH

// Rows number mine, mine + CLASSES, ...; longest: the most rows that a part of the warp has.
template <int CLASSES> __device__ __forceinline__ many<met> taken_in(const part &p, int longest, int mine) {
    const element *at = p.from + mine * p.step;
    const i64 hop = CLASSES * p.step;
    taken all;
#pragma unroll 1
    for (int base = 0; base < longest; base += CLASSES * ROUNDS, at += ROUNDS * hop) {
        vector x[ROUNDS];
#pragma unroll
        for (int j = 0; j < ROUNDS; j++) {
            x[j].all = {};
            ask(x[j], at + j * hop, base + mine + j * CLASSES < p.n);
        }
#pragma unroll
        for (int j = 0; j < ROUNDS; j++) {
            as_words(x[j].all);
            if (base + mine + j * CLASSES < p.n)
                all.take(x[j], base + mine + j * CLASSES, EVERY);
        }
    }
    many<met> whole;
#pragma unroll
    for (int v = 0; v < V; v++)
        whole.of[v] = met_of(all, v, p.n > mine ? (p.n - mine + CLASSES - 1) / CLASSES : 0, mine, 0);
    return whole;
}
__device__ __forceinline__ many<node> nodes_of(const many<met> &all, i64 first) {
    many<node> whole;
#pragma unroll
    for (int v = 0; v < V; v++)
        whole.of[v] = node_of(all.of[v], first);
    return whole;
}
#if BESIDE > 1
// Some segments of at most BRIEF rows, -1 none.
__device__ __forceinline__ void of_brief(const part (&p)[BESIDE], many<node> (&whole)[BESIDE]) {
    vector x[BESIDE][BRIEF];
    ask_brief(x, p);
#pragma unroll
    for (int i = 0; i < BESIDE; i++) {
        taken all;
#pragma unroll
        for (int j = 0; j < BRIEF; j++)
            if (j < p[i].n)
                all.take(x[i][j], j, EVERY);
#pragma unroll
        for (int v = 0; v < V; v++)
            whole[i].of[v] = node_of(met_of(all, v, p[i].n > 0 ? p[i].n : 0, 0, 0), 0);
    }
}
#endif
__device__ __forceinline__ many<node> of_team(const part &p, int longest, int mine) {
    many<met> all = taken_in<TEAM>(p, longest, mine);
    meet_rows<TEAM>(all);
    return nodes_of(all, p.first);
}
__device__ __forceinline__ many<node> of_block(const part &p, int rows, int mine) {
    many<met> all = taken_in<TOGETHER>(p, rows, mine);
    meet_warps(all);
    return nodes_of(all, p.first);
}
#endif

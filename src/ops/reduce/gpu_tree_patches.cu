// SPDX-License-Identifier: Apache-2.0
// gpu_tree_patches.cu - production, outputs side by side of at most 256 elements each: a block copies a patch, all elements of some outputs, to shared memory.
//
// Along a slow axis an output's elements are a row apart, and a thread that reads its own from memory has either few of them on their way or few neighbours. A patch comes
// row by row, 128 bytes of each and more (-DVECTOR: elements of a copy), or where the rows follow one another (-DLINEAR=1: 33 columns of 200 elements are 26400
// bytes) as one run by vectors of 16 bytes, whatever the width. Rows that no vectors fit come with what lies around them (-DSHIFTED=1). -DPAD=1: 16 bytes are left out
// after each 128, where neighbours would meet in a bank. Then -DGROUP threads an output, neighbours for neighbours, take -DEACH lanes of the tree each, in the order in
// which they halve; groups meet in shared memory. -DTALL: how many elements a complex output has, so that no thread asks whether it has one, and lanes that have none meet nobody: a product with 1, or a
// sum with a zero that itself began with +0, is what it was.
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#else
#include "ops/reduce/gpu_node.cuh"
#endif
#include "ops/reduce/gpu_lanes.cuh"

enum { SIZE = (int)sizeof(element) };

struct patches {
    i64 strips, width;   // patches of the outputs side by side, those outputs
    i64 groups, inner;   // patches of the sets that follow one another, those sets
    i64 step;            // in from one element of an output to the next
    i64 in_set, out_set; // from one set to the next
    i64 out_step;        // out from one column to the next
    double ddof;
    int k, across, sets, unused;                      // outputs side by side of a patch, sets of a patch
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the other kept axes, slowest first
};

__device__ int spot(int byte) { return PAD ? byte + (byte >> 7 << 4) : byte; }

// The 16 bytes at place `at` of a line that is there from `begin` to `end`: as a vector, or what there is of them, an element at a time.
__device__ void put(char *to, const char *from, int at, int begin, int end) {
    if (at >= begin && at + 16 <= end)
        copy<16>(to + spot(at), from + at);
    else
        for (int i = 0; i < 16; i += SIZE)
            if (at + i >= begin && at + i < end)
                *(element *)(to + spot(at + i)) = *(const element *)(from + at + i);
}

// `bytes` bytes that follow one another, where they lie within 16; the first one's place.
__device__ int stage_run(char *tile, const char *begin, int bytes) {
    const int before = (int)((u64)begin & 15), all = before + bytes;
    for (int at = threadIdx.x * 16; at < all; at += 16 * THREADS)
        put(tile, begin - before, at, before, all);
    return before;
}

// Rows of `bytes` bytes, `step` apart, each where it lies within 16: with what there is around it, but before the first and behind the last.
__device__ void stage_rows(char *tile, const char *begin, i64 step, int rows, int bytes) {
    const int vectors = (bytes + 15) / 16 + 1, at_once = THREADS / vectors, at = threadIdx.x % vectors * 16;
    for (int r = threadIdx.x / vectors; r < rows; r += at_once) {
        const char *row = begin + r * step;
        const int before = (int)((u64)row & 15), end = before + bytes;
        if (threadIdx.x < at_once * vectors && at < end)
            put(tile + r * (vectors * 16), row - before, at, r > 0 ? 0 : before, r < rows - 1 ? at + 16 : end);
    }
}

// What the threads of a group have, for each of them; place: of an output among `outputs`.
template <typename T> __device__ T together(T *room, const T &mine, int group, int place, int outputs) {
    if (GROUP == 1)
        return mine;
    __syncthreads();
    if (group < GROUP)
        room[group * outputs + place] = mine;
    __syncthreads();
    T part[GROUP];
#pragma unroll
    for (int g = 0; g < GROUP; g++)
        part[g] = room[g * outputs + place];
#pragma unroll
    for (int w = GROUP / 2; w > 0; w /= 2)
#pragma unroll
        for (int g = 0; g < w; g++)
            merge(part[g], part[g + w]);
    return part[0];
}

#if KIND == VAR
// What together() does for nodes, for the sums of a look, and what they count where some elements do not.
__device__ double both_of(node *room, double sum, int &count, int group, int place, int outputs) {
    if (GROUP == 1)
        return sum;
    __syncthreads();
    if (group < GROUP) {
        room[group * outputs + place].m2 = sum;
        room[group * outputs + place].count = count;
    }
    __syncthreads();
    double part[GROUP];
    int counts = 0;
#pragma unroll
    for (int g = 0; g < GROUP; g++) {
        part[g] = room[g * outputs + place].m2;
        counts += room[g * outputs + place].count;
    }
#pragma unroll
    for (int w = GROUP / 2; w > 0; w /= 2)
#pragma unroll
        for (int g = 0; g < w; g++)
            part[g] += part[g + w];
    count = OMIT ? counts : count;
    return part[0];
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, AT_LEAST) tree_patches(const element *in, result *out, const patches p) {
    __shared__ words<16> tiles[PATCH / 16];
    __shared__ node nodes[GROUP > 1 ? THREADS : 1];
    char *tile = (char *)tiles;
    i64 rest = blockIdx.x, at_in, at_out;
    const int strip = (int)(rest % p.strips);
    rest /= p.strips;
    const i64 set = rest % p.groups * p.sets;
    place_of(p, rest / p.groups, at_in, at_out);
    const i64 column = (i64)strip * p.across;
    const int across = p.width - column < p.across ? (int)(p.width - column) : p.across,
              sets = p.inner - set < p.sets ? (int)(p.inner - set) : p.sets;
    const int outputs = across * sets;
    const char *from = (const char *)(in + at_in + set * p.in_set + column);
    out += at_out + set * p.out_set + column * p.out_step;
    int first = 0;
    if (LINEAR) {
        first = stage_run(tile, from, outputs * p.k * SIZE);
    } else if (SHIFTED) {
        stage_rows(tile, from, p.step * SIZE, p.k, across * SIZE);
    } else {
        const int vectors = across / VECTOR, rows = THREADS / vectors, mine = threadIdx.x / vectors, at = threadIdx.x % vectors * VECTOR;
        if (mine < rows) {
            const char *row = from + (mine * p.step + at) * SIZE; // both go along: anew for each copy they took a dozen instructions
            char *to = tile + (mine * across + at) * SIZE;
            const i64 on = rows * p.step * SIZE;
#pragma unroll 4
            for (int r = mine; r < p.k; r += rows, row += on, to += rows * across * SIZE)
                copy<VECTOR * SIZE>(to, row);
        }
    }
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    const int group = threadIdx.x / outputs, place = threadIdx.x % outputs, c = place % across, s = place / across;
    const int k = group < GROUP ? p.k : 0;
    first += (s * p.k * across + c) * SIZE;
    const int shift = (int)(u64)from & 15, shifts = (int)(p.step * SIZE) & 15;
    const auto at = [&](int i) {
        const int byte = SHIFTED ? i * ((across * SIZE + 31) / 16 * 16) + (shift + i * shifts & 15) : i * across * SIZE;
        return *(const element *)(tile + spot(first + byte));
    };
#if KIND == VAR
    int count = OMIT ? 0 : p.k;
    const first_sum start = subtree<0, 1, EACH, first_sum>([&](int m) {
        const bool there = m * GROUP + group < k;
        return there ? first_look(at(m * GROUP + group), there, count) : 0;
    });
    double sum = both_of(nodes, start, count, group, place, outputs);
    const double mean = mean_of(sum, count);
    int same = 0;
    sum = subtree<0, 1, EACH, double>(
        [&](int m) { return m * GROUP + group < k ? second_look(wide_of(again(at(m * GROUP + group)), m), true, mean) : 0; });
    const node whole = moments_of(mean, both_of(nodes, sum, same, group, place, outputs), count);
#elif ANY_ORDER
    taker mine;
#pragma unroll 8
    for (int i = group; i < k; i += GROUP)
        mine.take(at(i), i);
    node whole = mine.total(group < k ? group : -1, 0);
    whole = together(nodes, whole, group, place, outputs);
#elif TALL
    node whole = nothing();
    if (group < GROUP)
        whole = subtree<0, 1, EACH, node, (TALL + GROUP - 1) / GROUP>([&](int m) {
            node lane = nothing();
            if ((m + 1) * GROUP <= TALL || m * GROUP + group < TALL)
                take(lane, at(m * GROUP + group), m * GROUP + group);
            return lane;
        });
    whole = together(nodes, whole, group, place, outputs);
#else
    node whole = subtree<0, 1, EACH, node>([&](int m) {
        node lane = nothing();
        if (m * GROUP + group < k)
            take(lane, at(m * GROUP + group), m * GROUP + group);
        return lane;
    });
    whole = together(nodes, whole, group, place, outputs);
#endif
    if (group == 0)
        out[s * p.out_set + c * p.out_step] = finished(whole, p.k, p.ddof);
}

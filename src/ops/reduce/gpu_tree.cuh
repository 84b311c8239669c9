// SPDX-License-Identifier: Apache-2.0
// gpu_tree.cuh - what the kernels of the tree share whatever a node is: the words for foldings, where elements and outputs lie, how they come to shared memory, and the ways
// in which nodes meet: of a warp's threads, and of leaves one after another.
//
// Included by gpu_node.cuh and gpu_complex.cuh, of which a kernel takes one: node, nothing() and merge() are theirs.
#ifndef TESS_REDUCE_TREE_CUH
#define TESS_REDUCE_TREE_CUH
#include "gpu/types.cuh"

#define SUM 0
#define PROD 1
#define COUNT 2
#define EXTREME 3
#define ARG 4
#define VAR 5
enum { OP_SUM, OP_PROD, OP_MIN, OP_MAX, OP_MEAN, OP_VAR, OP_STD }; // as tess_reduction
enum { OP_ARGMIN = OP_STD + 1, OP_ARGMAX, OP_ANY, OP_ALL, OP_COUNT_NONZERO, OP_NORM1, OP_NORM2, OP_NORM_INF };

// What no order of operations can change: integers' sums and products, counts, extremes, places.
#define ANY_ORDER (KIND == COUNT || KIND == EXTREME || KIND == ARG || (KIND != VAR && ACC < T_F16))
enum : unsigned { ALL = 0xffffffffu }; // a warp's threads

// Steps are in elements, axes slowest first; the last places of a launch's arrays are not used.
// Where element number i of an output lies, along the reduced axes p.size, p.step. Numbers are of type I: i64, or unsigned where that holds all of them, whose division is shorter.
template <typename P, typename I> __device__ i64 place(const P &p, I i) {
    i64 at = 0;
#pragma unroll
    for (int d = (int)(sizeof p.size / sizeof *p.size) - 2; d > 0; d--) {
        at += i % (I)p.size[d] * p.step[d];
        i /= (I)p.size[d];
    }
    return at + i * p.step[0];
}

#if RANK
// Where elements lie that are APART apart in the order of an output, from number `first` on. Of the axes but the slowest it is known how many elements they have left: an axis
// that ends goes back to its begin, and the one before it a step on. What is walked has at most 64 Ki elements, so of axes longer than LONG it is enough that they are long.
template <typename P, int APART = 256> struct leaf_walk {
#if RANK == 1
    const P &p;
    i64 at;
    __device__ __forceinline__ leaf_walk(const P &p, i64 first) : p(p), at(first) {}
    __device__ __forceinline__ i64 next() {
        const i64 now = at * p.step[0];
        at += APART;
        return now;
    }
#else
    enum { LONG = 1 << 30 };
    i64 at = 0, step, back[RANK]; // of APART elements where no axis ends; and what an end adds
    int left[RANK], size[RANK], part[RANK]; // the last: what they are along an axis
    __device__ __forceinline__ leaf_walk(const P &p, i64 first) {
        unsigned rest = APART;
        step = 0;
#pragma unroll
        for (int d = RANK - 1; d > 0; d--) {
            const i64 all = p.size[d] > 1 ? p.size[d] : 1, mine = first % all; // none, of an output without elements
            first /= all;
            at += mine * p.step[d];
            left[d] = all - mine < LONG ? (int)(all - mine) : LONG;
            size[d] = all < LONG ? (int)all : LONG;
            part[d] = (int)(rest % (unsigned)size[d]);
            rest /= (unsigned)size[d];
            step += part[d] * p.step[d];
            back[d] = p.step[d - 1] - all * p.step[d];
        }
        at += first * p.step[0];
        step += rest * p.step[0];
    }
    __device__ __forceinline__ i64 next() {
        const i64 now = at;
        int more = 0;
        at += step;
#pragma unroll
        for (int d = RANK - 1; d > 0; d--) {
            left[d] -= part[d] + more;
            more = left[d] <= 0;
            if (more) {
                left[d] += size[d];
                at += back[d];
            }
        }
        return now;
    }
#endif
};
#endif

// Where output number `output` lies, and its first element, along the kept axes p.shape, p.in, p.out; I as there, and an unsigned number is that of an output which there is.
template <typename P, typename I> __device__ void place_of(const P &p, I output, i64 &in, i64 &out) {
    in = out = 0;
#pragma unroll
    for (int d = (int)(sizeof p.shape / sizeof *p.shape) - 2; d >= 0; d--) {
        const I size = (I)p.shape[d], at = d == 0 && sizeof(I) == 4 ? output : output % size;
        output /= size;
        in += at * p.in[d];
        out += at * p.out[d];
    }
}

// Another lane's node, `down` lanes above.
template <typename NODE> __device__ NODE above(const NODE &n, int down) {
    NODE m;
    const unsigned *from = (const unsigned *)&n;
    unsigned *to = (unsigned *)&m;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(NODE) / 4); i++)
        to[i] = __shfl_down_sync(ALL, from[i], down);
    return m;
}

// What the first thread of each group of LANES has, for the thread that it is meant for: a turn's groups have what is meant for threads number `first` and on.
template <int LANES, typename T> __device__ __forceinline__ void hand_back(T &mine, const T &all, int first) {
    const int lane = threadIdx.x % 32, groups = 32 / LANES;
    const unsigned *from = (const unsigned *)&all;
    unsigned *to = (unsigned *)&mine;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(T) / 4); i++) {
        const unsigned its = __shfl_sync(ALL, from[i], lane % groups * LANES);
        to[i] = lane / groups * groups == first ? its : to[i];
    }
}

// BYTES on their way to shared memory, past the registers.
template <int BYTES> __device__ __forceinline__ void copy(char *to, const char *from) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(BYTES) : "memory");
}

// Nodes that come one after another are paired as a binary counter carries: number i goes on the stack, of `depth` nodes, and takes in what it completes.
template <typename NODE, typename INDEX> __device__ void push(NODE *stack, int &depth, const NODE &n, INDEX i) {
    stack[depth++] = n;
    for (; i & 1; i >>= 1) {
        depth--;
        merge(stack[depth - 1], stack[depth]);
    }
}
// stack[0] = all of them.
template <typename NODE> __device__ void fold(NODE *stack, int depth) {
    for (; depth > 1; depth--)
        merge(stack[depth - 2], stack[depth - 1]);
}

#if IN < 14 && OUT >= 14 // a complex array takes real results, their imaginary parts 0
template <typename R> struct alignas(2 * sizeof(R)) pair { R re, im; };
template <> struct stored<14> { typedef pair<float> type; };
template <> struct stored<15> { typedef pair<double> type; };
#define STORE_AS(V)                                                                          \
    template <> __device__ pair<float> store_as<14>(V x) { return {store_as<T_F32>(x), 0}; } \
    template <> __device__ pair<double> store_as<15>(V x) { return {store_as<T_F64>(x), 0}; }
STORE_AS(double)
STORE_AS(float)
STORE_AS(i64)
STORE_AS(u64)
#undef STORE_AS
#endif
#endif

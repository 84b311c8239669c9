// SPDX-License-Identifier: Apache-2.0
// gpu_tree_strips.cu - production, segments of outputs side by side, along a slow axis: a thread a vector of V columns of a segment, some threads beside each other a strip of its rows.
//
// -DSIDE threads have a strip, a row of which they read as one run; where a strip is narrower than a warp, the threads of a warp have several rows of it at once: -DTEAM rows, if segments are shorter than a warp
// has, and several segments. -DBESIDE=2 or 4: segments of so few rows that a thread has some, whose rows are all on their way at once; those of more than BRIEF rows come afterwards. What a thread does with its rows is strips_lanes' or strips_any's: gpu_strip_lanes.cuh (the tree's lanes; moments), gpu_strip_any.cuh (what no order can change).
// -DAPART=1: columns lie apart, as where segments are a few neighbours each, of many outputs; neighbouring warps then have neighbouring segments, which they find in each other's lines.
//
// -DLONGS=1: segments of more than -DLONG rows are left out by the teams; the host has listed their leaves, of -DLEAF rows, and a block has one, or one of -DSPLIT classes of its lanes. Those blocks come first. -DPAIRS=1: what
// such leaves come to is put down, columns side by side, and `finish` pairs it, -DPAIR_ROWS stretches of a segment's nodes beside each other.
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#else
#include "ops/reduce/gpu_node.cuh"
#endif
#include "ops/reduce/gpu_across.cuh"
#if KIND == VAR
#include "ops/reduce/gpu_moments.cuh"
#if !SMALL_INTEGERS
__device__ __forceinline__ void merge(int &a, int b) { a += b; } // counts
#endif
#endif

enum { IN_WARP = 32 / SIDE, TEAMS = WARPS * IN_WARP / TEAM, TOGETHER = WARPS * IN_WARP, ACROSS = SIDE * V, BRIEF = 8 / BESIDE };

struct strips {
    i64 segments, width, batches;         // outputs side by side; sets of them
    i64 strips, blocks, longs;            // of a set; that have leaves of long segments; such leaves of a set
    i64 step, apart, out_step, column_step; // in from one row to the next, from one column to the next; out from segment to segment, from column to column
    double ddof;
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes but the columns
};
#if APART
#define AT(column) ((column) * p.apart)
#else
#define AT(column) (column)
#endif
#if SMALL
typedef unsigned count_type; // there are fewer than 2^31 strips of segments
#else
typedef i64 count_type;
#endif

template <typename T> struct many {
    T of[V];
};
template <typename T> __device__ __forceinline__ void merge(many<T> &a, const many<T> &b) {
#pragma unroll
    for (int v = 0; v < V; v++)
        merge(a.of[v], b.of[v]);
}
// Some rows of one strip: `n` of them, the first one's number in its segment; where a thread's column begins.
struct part {
    const element *from;
    i64 step, first;
    int n;
};
// By a predicate also what is no word (load_if).
__device__ __forceinline__ void ask(vector &x, const void *at, bool there) {
    if constexpr (sizeof(vector) >= 4)
        load_if(x.all, at, there);
    else {
        unsigned short got = 0;
        if constexpr (sizeof(vector) == 2)
            asm volatile("{.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p ld.global.nc.u16 %0, [%1];}" : "+h"(got) : "l"(at), "r"((unsigned)there));
        else
            asm volatile("{.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p ld.global.nc.u8 %0, [%1];}" : "+h"(got) : "l"(at), "r"((unsigned)there));
        x.all.word[0] = (decltype(x.all.word[0] + 0))got;
    }
}

#if BESIDE > 1
// All rows of some segments.
__device__ __forceinline__ void ask_brief(vector (&x)[BESIDE][BRIEF], const part (&p)[BESIDE]) {
#pragma unroll
    for (int i = 0; i < BESIDE; i++)
#pragma unroll
        for (int j = 0; j < BRIEF; j++) {
            x[i][j].all = {};
            ask(x[i][j], p[i].from + j * p[i].step, j < p[i].n);
        }
#pragma unroll
    for (int i = 0; i < BESIDE; i++)
#pragma unroll
        for (int j = 0; j < BRIEF; j++)
            as_words(x[i][j].all);
}
#endif

// What the threads of a warp with one column have each, HAVE of them, halved as lanes are: it is the first one's.
template <int HAVE, typename T> __device__ __forceinline__ void meet_rows(many<T> &mine) {
#pragma unroll
    for (int w = HAVE / 2; w > 0; w /= 2)
#pragma unroll
        for (int v = 0; v < V; v++)
            merge(mine.of[v], above(mine.of[v], w * SIDE));
}
// The same of a block: of its warps, then of the rows of the first one.
template <typename T> __device__ __forceinline__ void meet_warps(many<T> &mine) {
    __shared__ many<T> room[WARPS][32];
    const int warp = threadIdx.x / 32, t = threadIdx.x % 32;
#pragma unroll
    for (int w = WARPS / 2; w > 0; w /= 2) {
        if (warp >= w && warp < 2 * w)
            room[warp][t] = mine;
        __syncthreads();
        if (warp < w)
            merge(mine, room[warp + w][t]);
    }
    meet_rows<IN_WARP>(mine);
}

#if ANY_ORDER
#include "ops/reduce/gpu_strip_any.cuh"
#else
#include "ops/reduce/gpu_strip_lanes.cuh"
#endif

// Results of neighbours, as one vector where they are that.
__device__ __forceinline__ void put(result *out, i64 apart, const many<node> &whole, i64 k, double ddof) {
    enum { BYTES = V * (int)sizeof(result) };
    if constexpr (V > 1 && BYTES <= 16) {
        union {
            words<BYTES> all;
            result part[V];
        } both;
#pragma unroll
        for (int v = 0; v < V; v++)
            both.part[v] = finished(whole.of[v], k, ddof);
        if (apart == 1 && (u64)out % BYTES == 0) {
            *(words<BYTES> *)out = both.all;
        } else {
#pragma unroll
            for (int v = 0; v < V; v++)
                out[v * apart] = both.part[v];
        }
    } else {
#pragma unroll
        for (int v = 0; v < V; v++)
            out[v * apart] = finished(whole.of[v], k, ddof);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST)
    tree_strips(const element *in, result *out, const i64 *offsets, node *partial, const i64 *longs, const strips p) {
    const int t = threadIdx.x % 32;
    i64 at_in, at_out;
#if LONGS
    if (blockIdx.x < p.blocks) {
        count_type rest = (count_type)blockIdx.x;
        const int strip = (int)(rest % (count_type)p.strips);
        rest /= (count_type)p.strips;
        const unsigned piece = (unsigned)rest % SPLIT;
        rest /= SPLIT;
        const count_type leaf = rest % (count_type)p.longs, batch = rest / (count_type)p.longs;
        place_of(p, batch, at_in, at_out);
        const i64 begin = longs[2 * leaf], word = longs[2 * leaf + 1], segment = word >> 16, from = offsets[segment], k = offsets[segment + 1] - from,
                  column = (i64)strip * ACROSS + t % SIDE * V;
        const bool there = column < p.width;
        const part mine = {in + at_in + begin * p.step + (there ? AT(column) : 0), p.step, begin - from, there ? (int)(word & 0xffff) : 0};
        const int lane = SPLIT > 1 ? (int)(__brev(piece) >> 1 >> __clz(SPLIT)) : 0; // as they meet
        const many<node> whole = of_block(mine, (int)(word & 0xffff), (int)(threadIdx.x / SIDE) * SPLIT + lane);
        if (threadIdx.x >= SIDE || !there)
            return;
#if PAIRS
        if (SPLIT > 1 || k > LEAF) {
            node *to = partial + (((i64)batch * p.longs + leaf) * SPLIT + piece) * p.width + column;
#pragma unroll
            for (int v = 0; v < V; v++)
                to[v] = whole.of[v];
            return;
        }
#endif
        put(out + at_out + segment * p.out_step + column * p.column_step, p.column_step, whole, k, p.ddof);
        return;
    }
#endif
    count_type rest = ((count_type)blockIdx.x - (count_type)(LONGS ? p.blocks : 0)) * TEAMS + threadIdx.x / (SIDE * TEAM);
    const count_type groups = (count_type)((p.segments + BESIDE - 1) / BESIDE), fast = APART ? groups : (count_type)p.strips, low = rest % fast;
    rest /= fast;
    const count_type slow = APART ? (count_type)p.strips : groups, high = rest % slow, batch = rest / slow;
    const i64 column = (i64)(APART ? high : low) * ACROSS + t % SIDE * V, segment = (i64)(APART ? low : high) * BESIDE;
    const bool some = batch < (count_type)p.batches && column < p.width;
    place_of(p, some ? batch : 0, at_in, at_out);
    in += at_in + (some ? AT(column) : 0);
    out += at_out + segment * p.out_step + column * p.column_step;
    offsets += segment;
    const int here = some ? (int)(p.segments - segment < BESIDE ? p.segments - segment : BESIDE) : 0;
#if BESIDE > 1
    part brief[BESIDE];
    many<node> each[BESIDE];
    i64 edge[BESIDE + 1];
#pragma unroll
    for (int i = 0; i <= BESIDE; i++)
        edge[i] = offsets[i < here ? i : here];
#pragma unroll
    for (int i = 0; i < BESIDE; i++) {
        const i64 k = edge[i + 1] - edge[i];
        brief[i] = {in + edge[i] * p.step, p.step, 0, k <= BRIEF ? (int)k : -1};
    }
    of_brief(brief, each);
#pragma unroll
    for (int i = 0; i < BESIDE; i++)
        if (i < here && brief[i].n >= 0)
            put(out + i * p.out_step, p.column_step, each[i], brief[i].n, p.ddof);
#endif
#pragma unroll 1
    for (int i = 0; i < BESIDE; i++) {
        i64 begin = 0, k = -1;
        if (i < here) {
            begin = offsets[i];
            k = offsets[i + 1] - begin;
        }
        const bool there = k >= 0 && (!LONGS || k <= LONG) && (BESIDE == 1 || k > BRIEF);
        if (BESIDE > 1 && !__any_sync(ALL, there))
            continue;
        const int n = there ? (int)k : 0, longest = SIDE * TEAM == 32 ? __shfl_sync(ALL, n, 0) : (int)__reduce_max_sync(ALL, n);
        const many<node> whole = of_team({in + begin * p.step, p.step, 0, n}, longest, t / SIDE % TEAM);
        if (there && t / SIDE % TEAM == 0)
            put(out + i * p.out_step, p.column_step, whole, k, p.ddof);
    }
}

#if PAIRS
extern "C" __global__ void __launch_bounds__(32 * PAIR_ROWS)
    finish(result *out, const i64 *offsets, const node *partial, const i64 *tops, i64 count, const strips p) {
    __shared__ node room[PAIR_ROWS][32];
    const int row = threadIdx.x / 32;
    const i64 groups = (p.width + 31) / 32, column = blockIdx.x % groups * 32 + threadIdx.x % 32, top = blockIdx.x / groups % count,
              batch = blockIdx.x / groups / count, segment = tops[3 * top], n = tops[3 * top + 2] * SPLIT;
    i64 each = 1, at_in, at_out;
    while (each * PAIR_ROWS < n)
        each *= 2;
    const i64 here = n - row * each < each ? n - row * each : each;
    const node *from = partial + ((batch * p.longs + tops[3 * top + 1]) * SPLIT + row * each) * p.width + column;
    node stack[40];
    int depth = 0;
    stack[0] = nothing();
    for (i64 i = 0; i < here && column < p.width; i += 8) { // eight are a subtree, all on their way at once
        node some[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            some[j] = nothing();
            if (i + j < here)
                some[j] = from[(i + j) * p.width];
        }
#pragma unroll
        for (int apart = 1; apart < 8; apart *= 2)
#pragma unroll
            for (int j = 0; j < 8; j += 2 * apart)
                if (i + j + apart < here)
                    merge(some[j], some[j + apart]);
        push(stack, depth, some[0], i / 8);
    }
    fold(stack, depth);
    for (int w = 1; w < PAIR_ROWS; w *= 2) {
        if (row % (2 * w) == w)
            room[row][threadIdx.x % 32] = stack[0];
        __syncthreads();
        if (row % (2 * w) == 0 && (row + w) * each < n)
            merge(stack[0], room[row + w][threadIdx.x % 32]);
    }
    if (row != 0 || column >= p.width)
        return;
    place_of(p, batch, at_in, at_out);
    out[at_out + segment * p.out_step + column * p.column_step] = finished(stack[0], offsets[segment + 1] - offsets[segment], p.ddof);
}
#endif

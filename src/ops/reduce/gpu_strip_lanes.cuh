// SPDX-License-Identifier: Apache-2.0
// gpu_strip_lanes.cuh - rows of a strip by the lanes of the tree, for gpu_tree_strips.cu: a thread walks its columns' lanes in bit-reversed order, eight at a time, and no more than there are rows.
//
// Lanes from the power of two on that is no less than the rows have none, and the halving tree does not know them. Of the others eight that are APART apart halve to one, whose neighbours come in the order in which they meet: so what has
// come is a stack, a node for each bit of the turn's number. Threads that share a column's rows, CLASSES of them, have the lanes that are their number modulo CLASSES.
#ifndef TESS_REDUCE_STRIP_LANES_CUH
#define TESS_REDUCE_STRIP_LANES_CUH

enum { AT_ONCE = 8, LANES = 256 };

// Of n rows: how far the lanes are apart that go at once.
template <int CLASSES> __device__ __forceinline__ int lanes_apart(int n) {
    const int some = n > LANES / 2 ? LANES / AT_ONCE : n > 1 ? (1 << (32 - __clz(n - 1))) / AT_ONCE : 0;
    return some > CLASSES ? some : CLASSES;
}

// What the lanes of class number `mine` halve to; longest: the most rows that a part of the warp has. take(lane, element, whether it is there, its number, its column).
template <int CLASSES, typename T, typename F>
__device__ __forceinline__ many<T> halved(const part &p, int longest, int mine, const T &none, const F &take) {
    static_assert(CLASSES * AT_ONCE <= LANES, "a thread has eight lanes at least");
    constexpr int LEVELS = CLASSES <= 1 ? 5 : CLASSES == 2 ? 4 : CLASSES == 4 ? 3 : CLASSES == 8 ? 2 : CLASSES == 16 ? 1 : 0;
    const int apart = lanes_apart<CLASSES>(p.n), turns = apart / CLASSES, most = lanes_apart<CLASSES>(longest) / CLASSES;
    const i64 hop = apart * p.step;
    many<T> stack[LEVELS > 0 ? LEVELS : 1], whole;
#pragma unroll 1
    for (int turn = 0; turn < most; turn++) {
        const int end = turn < turns ? p.n : 0, lane = mine + CLASSES * (int)(__brev((unsigned)turn) >> 1 >> __clz(turns));
        const element *at = p.from + lane * p.step;
        many<T> lanes[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++)
#pragma unroll
            for (int v = 0; v < V; v++)
                lanes[j].of[v] = none;
#pragma unroll 1
        for (int base = 0; base < longest; base += LANES) {
            vector x[AT_ONCE];
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                x[j].all = {};
                ask(x[j], at + j * hop, base + lane + j * apart < end);
            }
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                as_words(x[j].all);
#pragma unroll
                for (int v = 0; v < V; v++)
                    take(lanes[j].of[v], x[j].part[v], base + lane + j * apart < end, base + lane + j * apart, v);
            }
            at += LANES * p.step;
        }
#pragma unroll
        for (int w = AT_ONCE / 2; w > 0; w /= 2)
#pragma unroll
            for (int j = 0; j < w; j++)
                merge(lanes[j], lanes[j + w]);
        whole = lanes[0];
        const int completed = __ffs(~turn) - 1;
#pragma unroll
        for (int level = 0; level < LEVELS; level++) {
            if (level < completed) {
                merge(stack[level], whole);
                whole = stack[level];
            } else if (level == completed) {
                stack[level] = whole;
            }
        }
    }
    return whole;
}

#if BESIDE > 1
// The same of a segment of n rows that a thread has, a lane each.
template <typename T, typename F> __device__ __forceinline__ many<T> halved_brief(const vector (&x)[BRIEF], int n, const T &none, const F &take) {
    many<T> lanes[BRIEF];
#pragma unroll
    for (int j = 0; j < BRIEF; j++)
#pragma unroll
        for (int v = 0; v < V; v++) {
            lanes[j].of[v] = none;
            take(lanes[j].of[v], x[j].part[v], j < n, j, v);
        }
#pragma unroll
    for (int w = BRIEF / 2; w > 0; w /= 2)
#pragma unroll
        for (int j = 0; j < w; j++)
            merge(lanes[j], lanes[j + w]);
    return lanes[0];
}
#endif

#if KIND == VAR
// Both looks: the second one finds the rows in the caches, unless they are many. meet: what makes one of all that threads of a column have, for all of them.
template <int CLASSES, typename F> __device__ __forceinline__ many<node> moments(const part &p, int longest, int mine, const F &meet) {
    many<int> count;
    many<double> mean;
    many<node> whole;
#pragma unroll
    for (int v = 0; v < V; v++)
        count.of[v] = 0;
    many<first_sum> sum = halved<CLASSES, first_sum>(p, longest, mine, 0, [&](first_sum &lane, element e, bool there, int, int v) {
        lane += first_look(e, there, count.of[v]);
    });
    meet(sum);
    if (OMIT)
        meet(count);
#pragma unroll
    for (int v = 0; v < V; v++) {
        if (!OMIT)
            count.of[v] = p.n;
        mean.of[v] = mean_of(sum.of[v], count.of[v]);
    }
    many<double> squares = halved<CLASSES, double>(
        p, longest, mine, 0, [&](double &lane, element e, bool there, int, int v) { lane += second_look(wide_of(e, v), there, mean.of[v]); });
    meet(squares);
#pragma unroll
    for (int v = 0; v < V; v++)
        whole.of[v] = moments_of(mean.of[v], squares.of[v], count.of[v]);
    return whole;
}
// Every thread comes to have the first one's, of those with its column.
template <typename T> __device__ __forceinline__ void give_all(many<T> &mine) {
    __shared__ many<T> room[SIDE];
    __syncthreads();
    if (threadIdx.x < SIDE)
        room[threadIdx.x] = mine;
    __syncthreads();
    mine = room[threadIdx.x % SIDE];
}

#if BESIDE > 1
// Some segments of at most BRIEF rows, -1 none, which stay in registers for the second look.
__device__ __forceinline__ void of_brief(const part (&p)[BESIDE], many<node> (&whole)[BESIDE]) {
    vector x[BESIDE][BRIEF];
    ask_brief(x, p);
#pragma unroll
    for (int i = 0; i < BESIDE; i++) {
        int count[V];
        double mean[V];
#pragma unroll
        for (int v = 0; v < V; v++)
            count[v] = OMIT || p[i].n < 0 ? 0 : p[i].n;
        const many<first_sum> sum = halved_brief<first_sum>(
            x[i], p[i].n, 0, [&](first_sum &lane, element e, bool there, int, int v) { lane += first_look(e, there, count[v]); });
#pragma unroll
        for (int v = 0; v < V; v++)
            mean[v] = mean_of(sum.of[v], count[v]);
        const many<double> squares = halved_brief<double>(
            x[i], p[i].n, 0, [&](double &lane, element e, bool there, int, int v) { lane += second_look(wide_of(e, v), there, mean[v]); });
#pragma unroll
        for (int v = 0; v < V; v++)
            whole[i].of[v] = moments_of(mean[v], squares.of[v], count[v]);
    }
}
#endif
struct in_team {
    template <typename T> __device__ __forceinline__ void operator()(many<T> &its) const {
        meet_rows<TEAM>(its);
#pragma unroll
        for (int v = 0; TEAM > 1 && v < V; v++)
            its.of[v] = __shfl_sync(ALL, its.of[v], threadIdx.x % SIDE, SIDE * TEAM);
    }
};
struct in_block {
    template <typename T> __device__ __forceinline__ void operator()(many<T> &its) const {
        meet_warps(its);
        give_all(its);
    }
};
__device__ __forceinline__ many<node> of_team(const part &p, int longest, int mine) { return moments<TEAM>(p, longest, mine, in_team()); }
__device__ __forceinline__ many<node> of_block(const part &p, int rows, int mine) { return moments<TOGETHER>(p, rows, mine, in_block()); }
#else
enum { ZEROS = KIND == SUM && !OMIT }; // a zero more leaves a sum that begins with +0 as it is
template <int CLASSES> __device__ __forceinline__ many<node> lanes_of(const part &p, int longest, int mine) {
    return halved<CLASSES, node>(p, longest, mine, nothing(), [&](node &lane, element e, bool there, int number, int) {
        if (ZEROS || there)
            take(lane, e, p.first + number);
    });
}
// Some segments of at most BRIEF rows, -1 none, a lane each row.
#if BESIDE > 1
__device__ __forceinline__ void of_brief(const part (&p)[BESIDE], many<node> (&whole)[BESIDE]) {
    const auto lane_of = [](node &lane, element e, bool there, int number, int) {
        if (ZEROS || there)
            take(lane, e, number);
    };
    vector x[BESIDE][BRIEF];
    ask_brief(x, p);
#pragma unroll
    for (int i = 0; i < BESIDE; i++)
        whole[i] = halved_brief<node>(x[i], p[i].n, nothing(), lane_of);
}
#endif
__device__ __forceinline__ many<node> of_team(const part &p, int longest, int mine) {
    many<node> whole = lanes_of<TEAM>(p, longest, mine);
    meet_rows<TEAM>(whole);
    return whole;
}
__device__ __forceinline__ many<node> of_block(const part &p, int rows, int mine) {
    many<node> whole = lanes_of<TOGETHER * SPLIT>(p, rows, mine);
    meet_warps(whole);
    return whole;
}
#endif
#endif

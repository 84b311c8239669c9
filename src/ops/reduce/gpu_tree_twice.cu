// SPDX-License-Identifier: Apache-2.0
// gpu_tree_twice.cu - production, variances of outputs side by side whose rows follow one another without gaps: a leaf is read twice, as whole runs of memory, the second time from L2.
//
// No multiprocessor holds a leaf of some thousand rows of all columns, and pieces of rows are short copies. But in a run of rows of W elements (-DACROSS) number 256 W on is of the same column and the same lane of the tree,
// so a thread's vectors (-DVECTOR elements) are lanes whatever the width, one of each of V columns, and need no place but registers. A block has ARMS times -DCLASS neighbours: arm a is a / ARMS of the tree's lanes on, so the arms
// halve in shared memory, and a class of LANES rows is left, of which a leaf has -DCLASSES blocks. What they come to meets in the workspace; the block that is the last to get there halves it.
//
// The first look's blocks of a leaf and the second look's are blocks of one launch, in turns: a second look begins when as many first looks have begun behind its leaf's as a device has blocks at a time, so its means are there
// before it asks, and its elements still in L2. It waits for blocks of lower numbers alone, which began before it did; those wait for such themselves, and the first looks for none.
//
// -DRAGGED=1: sets begin and end within vectors, which are cut where memory is; lanes are turned by as much round a circle, as in gpu_tree_sets.cu. Of outputs with more leaves than one (-DMANY=1) `finish` pairs them. A set's last leaf has -DLAST rows: where threads have few vectors of it, a block has -DTURNS classes one after
// another, whose vectors are asked for together.
#include "ops/reduce/gpu_finish.cuh"
#include "ops/reduce/gpu_lanes.cuh"

enum {
    V = VECTOR,
    SIZE = (int)sizeof(element),
    BYTES = V * SIZE, // of a vector
    LEAF = 8192,
    TREE = 256,
    ARMS = 8,
    LANES = TREE / ARMS,         // rows of what the arms come to
    STEP = TREE * ACROSS,        // elements from vector to vector of a thread
    ARM = LANES * ACROSS,        // elements from arm to arm
    TERMS = LEAF / TREE,         // vectors of a thread in a whole leaf
    THREADS = ARMS * CLASS,      // that have some
    ROOM = THREADS + 32 / V,     // from a vector's element to the next in shared memory, so that neighbours lie in different banks both ways
    BY_WORDS = SIZE == 2,
    IN_WORD = BY_WORDS ? 2 : 1,
    WARPS = BLOCK / 32,
    SOME = 8,                    // vectors that are asked for together where a thread has not all; of all -DROUNDS
    MOST = (LAST + TREE - 1) / TREE,           // vectors of a thread in a set's last leaf
    GROUPS = (CLASSES + TURNS - 1) / TURNS     // of its classes
};
static_assert(LANES == 32 && TERMS % ROUNDS == 0 && ARM % V == 0 && THREADS <= BLOCK, "a lane for each thread of a warp");

union vector {
    words<BYTES> all;
    element part[V];
};

struct twice {
    i64 k, leaves, outputs;
    double ddof;
    int items, of_set, behind, unused;                // blocks of a look, in all and of a set; so many of them lie between the two looks of one
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first, the last of them that of the width
};

// Of a leaf: blocks of each look that have left what they have; whether its means are there.
struct state {
    unsigned first, second, means;
};

// What a block is of: a leaf, and which class of it or, of a last one, which group of classes.
struct item_of {
    i64 at_in, at_out, number; // of its first element, and its set's first result; of the set's leaves
    unsigned set;
    int rows, part, parts;
    bool whole;
    __device__ item_of(const twice &p, unsigned item) : at_in(0), at_out(0), number(0) {
        unsigned unit = set = item / (unsigned)p.of_set;
        item -= set * (unsigned)p.of_set;
#if MANY
        number = item / CLASSES < p.leaves ? item / CLASSES : p.leaves - 1;
        item -= (unsigned)number * CLASSES;
#endif
        whole = LAST == LEAF || (MANY && number < p.leaves - 1);
        rows = whole ? LEAF : LAST;
        part = item;
        parts = whole ? CLASSES : GROUPS;
#pragma unroll
        for (int d = KEPT - 2; d >= 0; d--) {
            const unsigned at = d > 0 ? unit % (unsigned)p.shape[d] : unit;
            at_in += at * p.in[d];
            at_out += at * p.out[d];
            unit /= (unsigned)(d > 0 ? p.shape[d] : 1);
        }
        at_in += number * LEAF * ACROSS;
    }
};

// A thread's vectors of a leaf, STEP elements apart: `whole` that are the leaf's, from number `first` on, which is 1 where the first vector is cut; an end that is.
struct share {
    const element *from;
    int at, end, first, whole;
    __device__ share() {}
    __device__ share(const element *begin, int before, int place, int elements)
        : from(begin - before + place), at(place - before), end(elements) {
        first = RAGGED && at < 0;
        whole = end - at >= V ? (end - at - V) / STEP + 1 : 0;
    }
    __device__ __forceinline__ const element *vector_at(int n) const { return from + (i64)n * STEP; }
    // Of vector n the elements that are the leaf's, as a mask; the others are 0.
    __device__ __forceinline__ unsigned edge(vector &x, int n) const {
        unsigned there = 0;
#pragma unroll
        for (int v = 0; v < V; v++) {
            const int i = at + n * STEP + v;
            x.part[v] = 0;
            if (i >= 0 && i < end) {
                x.part[v] = vector_at(n)[v];
                there |= 1u << v;
            }
        }
        return there;
    }
    // take(vector, the mask of its elements that are there) for each in turn; a mask of a whole one is all ones. begun() when the first loads are on their way.
    template <typename B, typename F> __device__ __forceinline__ void for_all(const B &begun, const F &take) const {
        if (first == 0 && whole == TERMS) { // more it cannot be
#pragma unroll 1
            for (int n = 0; n < TERMS; n += ROUNDS) {
                vector x[ROUNDS];
#pragma unroll
                for (int j = 0; j < ROUNDS; j++)
                    load_now(x[j].all, vector_at(n + j));
                if (n == 0)
                    begun();
#pragma unroll
                for (int j = 0; j < ROUNDS; j++)
                    take(x[j], ~0u);
            }
            return;
        }
        begun();
        cut_first(take);
#pragma unroll 1
        for (int n = first; n < whole; n += SOME) {
            vector x[SOME];
#pragma unroll
            for (int j = 0; j < SOME; j++) {
                x[j].all = {};
                load_if(x[j].all, vector_at(n + j), n + j < whole);
            }
#pragma unroll
            for (int j = 0; j < SOME; j++)
                if (n + j < whole)
                    take(x[j], ~0u);
        }
        cut_last(take);
    }
    template <typename F> __device__ __forceinline__ void cut_first(const F &take) const {
        if (RAGGED && first) {
            vector x;
            const unsigned there = edge(x, 0);
            take(x, there);
        }
    }
    template <typename F> __device__ __forceinline__ void cut_last(const F &take) const {
        const int last = whole > first ? whole : first;
        if (RAGGED && at + last * STEP < end) {
            vector x;
            const unsigned there = edge(x, last);
            take(x, there);
        }
    }
    // Of a last leaf: all are asked for, then taken.
    __device__ __forceinline__ void ask(vector (&x)[MOST]) const {
#pragma unroll
        for (int n = 0; n < MOST; n++) {
            x[n].all = {};
            load_if(x[n].all, vector_at(n), n >= first && n < whole);
        }
    }
    template <typename F> __device__ __forceinline__ void take_all(const vector (&x)[MOST], const F &take) const {
        cut_first(take);
#pragma unroll
        for (int n = 0; n < MOST; n++)
            take(x[n], n >= first && n < whole ? ~0u : 0);
        cut_last(take);
    }
};

__device__ __forceinline__ unsigned arrive(unsigned *counter) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(__cvta_generic_to_global(counter)) : "memory");
    return before;
}
__device__ __forceinline__ void await(const unsigned *flag) {
    unsigned there;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(__cvta_generic_to_global(flag)) : "memory");
    while (there == 0);
}

// A class of a leaf, and where what it comes to goes.
struct class_of {
    int number, before; // elements of the leaf's first vector that lie before it
    // Which of ARM places in a circle element v of vector number t of the class has.
    __device__ __forceinline__ int spot(int t, int v) const {
        const int at = (number * CLASS + t) * V + v - before;
        return RAGGED && at < 0 ? at + ARM : at;
    }
    __device__ __forceinline__ share mine(const element *begin, int rows) const {
        const int place = number * CLASS + threadIdx.x % CLASS;
        const bool here = threadIdx.x < THREADS && place < ARM / V;
        return share(begin, before, here ? (int)(threadIdx.x / CLASS) * ARM + place * V : 0, here ? rows * ACROSS : 0);
    }
    // The arms halve, and go to sums[].
    __device__ __forceinline__ void halve(const double (&mine)[V], double *room, double *sums) const {
#pragma unroll
        for (int v = 0; v < V; v++)
            if (threadIdx.x < THREADS)
                room[v * ROOM + threadIdx.x] = mine[v];
        __syncthreads();
        for (int i = threadIdx.x; i < CLASS * V; i += BLOCK) {
            const int t = i / V, v = i % V;
            if (number * CLASS + t < ARM / V)
                sums[spot(t, v)] = subtree<0, 1, ARMS, double>([&](int a) { return room[v * ROOM + a * CLASS + t]; });
        }
        __syncthreads();
    }
};

// A look at what a block has: whole(sums of a thread) of the thread's lanes of a class after `take` of all of its vectors, begun(class) when those are on their way, ready(class) before the first of a class is taken.
template <typename T, typename B, typename R, typename F, typename W>
__device__ __forceinline__ void look(const element *begin, const item_of &its, double *room, double *sums, const B &begun, const R &ready, const F &take, const W &settled) {
    const int before = RAGGED ? (int)((u64)begin % BYTES) / SIZE : 0;
    enum { TOGETHER = TURNS * MOST <= ROUNDS };
    static_assert(TOGETHER || TURNS == 1, "asked for together");
    if (LAST == LEAF || !TOGETHER || (MANY && its.whole)) {
        const class_of c = {its.part, before};
        T some[V] = {};
        double all[V];
        c.mine(begin, its.rows).for_all(
            [&] {
                begun();
                ready(c);
            },
            [&](const vector &x, unsigned there) { take(some, x, there); });
        settled(all, some);
        c.halve(all, room, sums);
    } else {
        vector x[TURNS][MOST];
#pragma unroll
        for (int i = 0; i < TURNS; i++)
            class_of{its.part * TURNS + i, before}.mine(begin, LAST).ask(x[i]);
        begun();
#pragma unroll
        for (int i = 0; i < TURNS; i++) {
            const class_of c = {its.part * TURNS + i, before};
            T some[V] = {};
            double all[V];
            ready(c);
            c.mine(begin, LAST).take_all(x[i], [&](const vector &x, unsigned there) { take(some, x, there); });
            settled(all, some);
            c.halve(all, room, sums);
        }
    }
}

// Whether this block was the last of its leaf's to leave what it has.
__device__ __forceinline__ bool is_last_of(const item_of &its, unsigned *counter) {
    __shared__ bool last;
    if (threadIdx.x == 0)
        last = arrive(counter) == its.parts - 1;
    __syncthreads();
    return last;
}

// Of each column the lanes that are left, halved by a warp, AT_ONCE columns' on their way: use(column, their sum), by a thread for each of these.
template <typename F> __device__ __forceinline__ void for_columns(const double *sums, const F &use) {
    enum { AT_ONCE = 8 };
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int first = threadIdx.x / 32 * AT_ONCE; first < ACROSS; first += WARPS * AT_ONCE) {
        double part[AT_ONCE], mine = 0;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            part[i] = sums[lane * ACROSS + (first + i < ACROSS ? first + i : ACROSS - 1)];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
#pragma unroll
            for (int across = LANES / 2; across > 0; across /= 2)
                part[i] += __shfl_xor_sync(ALL, part[i], across);
            mine = lane == i ? part[i] : mine;
        }
        if (lane < AT_ONCE && first + lane < ACROSS)
            use(first + lane, mine);
    }
}

__device__ __forceinline__ void put(const twice &p, const item_of &its, int column, const node &whole, result *out, node *partial) {
#if MANY
    partial[((i64)its.set * ACROSS + column) * p.leaves + its.number] = whole;
#else
    out[its.at_out + column * p.out[KEPT - 1]] = finished(whole, p.k, p.ddof);
#endif
}

// What a thread has of the first look: sums, and of halves for each word a NaN where an upper one was no number.
struct first_part {
    first_sum sum;
    unsigned odd;
};
__device__ __forceinline__ void take_first(first_part (&some)[V], const vector &x) { // what is not there is 0
#pragma unroll
    for (int v = 0; v < V; v++) {
        first_part &s = some[v];
        if constexpr (BY_WORDS) {
            const unsigned word = x.all.word[v / IN_WORD];
            const int at = v % IN_WORD;
            if constexpr (SMALL_INTEGERS) {
                s.sum = IN == T_I16 ? __dp2a_lo((int)word, 1 << 8 * at, s.sum) : (int)__dp2a_lo(word, 1u << 8 * at, (unsigned)s.sum);
            } else if (HALVES && at == 1) {
                find_no_number(s.odd, word);
                s.sum += half_bits(word);
            } else {
                s.sum += load_as<double, IN>((element)(word >> 8 * SIZE * at));
            }
        } else {
            s.sum += load_as<first_sum, IN>(x.part[v]);
        }
    }
}
__device__ __forceinline__ void settle_first(double (&all)[V], const first_part (&some)[V]) {
#pragma unroll
    for (int v = 0; v < V; v++) {
        if constexpr (HALVES)
            all[v] = v % IN_WORD == 1 ? settled_halves(some[v].sum, some[v].odd) : some[v].sum;
        else
            all[v] = some[v].sum;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, AT_LEAST)
    tree_twice(const element *in, result *out, state *states, double *all_sums, double *all_means, node *partial, const twice p) {
    __shared__ double room[V * ROOM];
    const bool again = blockIdx.x % 2;
    const int item = (int)(blockIdx.x / 2) - (again ? p.behind : 0);
    if (item < 0 || item >= p.items)
        return;
    const item_of its(p, item);
    const i64 unit = its.set * p.leaves + its.number;
    const element *begin = in + its.at_in;
    double *sums = all_sums + unit * ARM, *means = all_means + unit * ACROSS;
    state *now = states + unit;
    if (!again) {
        look<first_part>(
            begin, its, room, sums, [] {}, [](const class_of &) {}, [](first_part(&some)[V], const vector &x, unsigned) { take_first(some, x); }, settle_first);
        if (!is_last_of(its, &now->first))
            return;
        for_columns(sums, [&](int c, double all) { means[c] = mean_of(all, its.rows); });
        __syncthreads();
        if (threadIdx.x == 0)
            arrive(&now->means);
        return;
    }
    double middle[V];
    look<double>(
        begin, its, room, sums, [&] { await(&now->means); },
        [&](const class_of &c) {
#pragma unroll
            for (int v = 0; v < V; v++)
                middle[v] = middle_of(means[c.spot(threadIdx.x % CLASS, v) % ACROSS], v % IN_WORD);
        },
        [&](double(&squares)[V], const vector &x, unsigned there) {
#pragma unroll
            for (int v = 0; v < V; v++)
                if constexpr (BY_WORDS)
                    squares[v] += square_of_part(x.all.word[v / IN_WORD], v % IN_WORD, there >> v & 1, middle[v]);
                else
                    squares[v] += second_look(wide_of(x.part[v], v), there >> v & 1, middle[v]);
        },
        [](double(&all)[V], const double(&squares)[V]) {
#pragma unroll
            for (int v = 0; v < V; v++)
                all[v] = settled_squares(squares[v], v % IN_WORD);
        });
    if (is_last_of(its, &now->second))
        for_columns(sums, [&](int c, double all) { put(p, its, c, moments_of(means[c], all, its.rows), out, partial); });
}

extern "C" __global__ void __launch_bounds__(256) pair_leaves(node *paired, const node *partial, i64 groups, const twice p) {
    pair_neighbours(paired, partial, groups, p.leaves, p.outputs);
}

extern "C" __global__ void __launch_bounds__(256) finish(result *out, const node *partial, i64 count, const twice p) {
    finish_outputs<FEW, true>(out, partial, count, p);
}

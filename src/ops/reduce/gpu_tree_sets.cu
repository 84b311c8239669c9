// SPDX-License-Identifier: Apache-2.0
// gpu_tree_sets.cu - production, outputs side by side whose rows follow one another without gaps: a set's elements are one run, read by vectors whatever its width.
//
// In a run of rows of W elements number 256 W on is of the same column and the same lane of the tree, 128 W on of the lane that meets it first. So a thread's vectors (-DVECTOR elements)
// are lanes: ROWS W elements (-DROWS) that lie side by side have a thread each vector, which has -DEACH lanes, ROWS W elements apart, and halves them in registers, -DHELD of them at a
// time, -DROUNDS terms of each on their way; what the ROWS rows come to meets in shared memory (-DROOM nodes). A block has some leaves of sets; of outputs with more leaves than one
// (-DMANY=1) `finish` pairs them. What no order can change has no lanes; of small elements it is folded a word at a time (-DPACKED=1).
//
// -DRAGGED=1: sets begin and end within vectors. Those are cut where memory is, so a set's first element is not the first of the first thread's vector, and all lanes are turned by as much
// round a circle. A halving tree does not see that: lanes that meet are half a circle apart. Only the run's first and last vectors are not whole.
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#endif
#include "ops/reduce/gpu_finish.cuh"
#include "ops/reduce/gpu_lanes.cuh"

enum { V = VECTOR, SIZE = (int)sizeof(element), APART = EACH / HELD };
const unsigned EVERY = (1u << V) - 1; // of a vector's elements, as a mask
union vector {
    words<V * SIZE> all;
    element part[V];
};
struct nodes {
    node part[V];
};

// A vector if it is there, else anything. Asked by a predicate, for behind a branch the compiler put copies that wait for it.
__device__ __forceinline__ void load_if(words<16> &v, const void *at, bool there) {
    asm volatile("{.reg .pred p;\n\tsetp.ne.u32 p, %5, 0;\n\t@p ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];}"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "l"(at), "r"((unsigned)there));
}
__device__ __forceinline__ void load_if(words<8> &v, const void *at, bool there) {
    asm volatile("{.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\t@p ld.global.nc.v2.u32 {%0, %1}, [%2];}"
                 : "=r"(v.word[0]), "=r"(v.word[1])
                 : "l"(at), "r"((unsigned)there));
}
__device__ __forceinline__ void load_if(words<4> &v, const void *at, bool there) {
    asm volatile("{.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p ld.global.nc.u32 %0, [%1];}" : "=r"(v.word[0]) : "l"(at), "r"((unsigned)there));
}

// Elements are taken out of it behind this and no sooner.
__device__ __forceinline__ void as_words(vector &x) {
#pragma unroll
    for (int i = 0; i < V * SIZE / 4; i++)
        asm volatile("" : "+r"(x.all.word[i]));
}

__device__ void merge(nodes &n, const nodes &m) {
#pragma unroll
    for (int v = 0; v < V; v++)
        merge(n.part[v], m.part[v]);
}

struct sets {
    i64 k, leaves, outputs;
    double ddof;
    i64 low, high;                                    // where the array begins and ends
    int width, each, at_once, units;                  // outputs side by side; threads of a leaf of a set; such leaves of a block, and in all
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first, the last of them that of a set
};

// What a thread has of a run: vectors `apart` bytes apart, of which the first `whole` are whole and the one behind them has `rest` elements of the run. But
// of the first thread's vector number 0 the run has the elements of a mask, and it counts as whole.
struct share {
    const char *from;
    const element *low, *high; // of the array
    unsigned apart, mask;
    int before, whole, rest;
    vector tail;
    __device__ share(const element *begin, int elements, int t, unsigned wide, const element *lowest, const element *highest)
        : low(lowest), high(highest), apart(wide * SIZE) {
        before = RAGGED ? (int)((u64)begin & (V * SIZE - 1)) / SIZE : 0;
        from = (const char *)(begin - before + t * V);
        const int end = before + elements - t * V;
        mask = t == 0 && before > 0 ? (end < V ? (1u << end) - 1 : EVERY) & EVERY << before : EVERY;
        whole = end >= V ? (unsigned)(end - V) / wide + 1 : mask != EVERY;
        rest = end - whole * (int)wide;
        if (RAGGED && rest > 0)
            edge(tail, from + (u64)apart * whole, (1u << rest) - 1);
    }
    // A vector that is not whole, with what lies around it, if that is the array's.
    __device__ __forceinline__ void edge(vector &x, const void *where, unsigned wanted) const {
        const element *at = (const element *)where;
        if (at >= low && at + V <= high) {
            load_now(x.all, at);
        } else {
            vector some = {};
#pragma unroll
            for (int v = 0; v < V; v++)
                if (wanted >> v & 1)
                    some.part[v] = at[v];
            x = some;
        }
        as_words(x);
    }
    // Vectors from number FIRST on, `step` further each time, TIMES at a time: number_of(0), number_of(1), ... behind the first of them. They are asked for
    // together, then there is use(which of them, its number, it, the mask of its elements that are there) for each in turn.
    template <int FIRST, int TIMES, typename N, typename F>
    __device__ __forceinline__ void for_all(int step, const N &number_of, const F &use) const {
        unsigned there = RAGGED && FIRST == 0 ? mask : EVERY; // of the vector that comes
        const char *at = from + (u64)apart * FIRST;
#pragma unroll 1
        for (int i = FIRST; i < whole; i += step, at += (u64)apart * step) {
            const int left = whole - i;
            vector x[TIMES];
#pragma unroll
            for (int j = TIMES - 1; j >= 0; j--) // what is behind the branch waits for nothing so
                if (RAGGED && FIRST + j == 0 && there != EVERY)
                    edge(x[j], at, there);
                else
                    load_if(x[j].all, at + (u64)apart * number_of(j), number_of(j) < left);
#pragma unroll
            for (int j = 0; j < TIMES; j++) {
                as_words(x[j]);
                if (RAGGED && FIRST + j == 0)
                    use(j, i, x[j], there);
                else if (number_of(j) < left)
                    use(j, i + number_of(j), x[j], EVERY);
            }
            there = EVERY;
        }
    }
};

#if !ANY_ORDER
// Lanes M, M + APART, ... of a thread, halved.
template <int M> __device__ __forceinline__ nodes some_lanes(const share &mine) {
    nodes lane[HELD];
#pragma unroll
    for (int a = 0; a < HELD; a++)
#pragma unroll
        for (int v = 0; v < V; v++)
            lane[a].part[v] = nothing();
    mine.for_all<M, ROUNDS * HELD>(
        ROUNDS * EACH, [](int j) { return j / HELD * EACH + j % HELD * APART; },
        [&](int j, int, const vector &x, unsigned there) {
#pragma unroll
            for (int v = 0; v < V; v++)
                if (there >> v & 1)
                    take(lane[j % HELD].part[v], x.part[v], 0);
        });
#pragma unroll
    for (int a = 0; RAGGED && a < HELD; a++)
        if (mine.whole % EACH == M + a * APART)
#pragma unroll
            for (int v = 0; v < V - 1; v++)
                if (v < mine.rest)
                    take(lane[a].part[v], mine.tail.part[v], 0);
    return subtree<0, 1, HELD, nodes>([&](int a) { return lane[a]; });
}

// The halving tree over a thread's lanes: some at a time.
template <int M, int STEP> __device__ __forceinline__ nodes all_lanes(const share &mine) {
    if constexpr (STEP == APART) {
        return some_lanes<M>(mine);
    } else {
        nodes whole = all_lanes<M, 2 * STEP>(mine);
        merge(whole, all_lanes<M + STEP, 2 * STEP>(mine));
        return whole;
    }
}
#else
#if PACKED
// Small elements a word at a time, as in gpu_packed.cuh, but of each column apart.
struct taken {
    enum { BYTES = SIZE == 1, PARTS = KIND == EXTREME ? V * SIZE / (BYTES ? 2 : 4) : V };
    unsigned part[PARTS];
    __device__ taken() {
#pragma unroll
        for (int i = 0; i < PARTS; i++)
            part[i] = packed_nothing().part[0];
    }
    // there: a mask of elements.
    __device__ __forceinline__ void take(const vector &x, int number, unsigned there) {
#pragma unroll
        for (int i = 0; i < V * SIZE / 4; i++) {
            const unsigned bits = there >> i * (4 / SIZE),
                           mask = BYTES ? ((bits & 15) * 0x00204081u & 0x01010101u) * 0xff : (bits & 1 | (bits & 2) << 15) * 0xffff;
            unsigned word = x.all.word[i];
#if KIND == SUM || KIND == COUNT
            word = (KIND == COUNT ? nonzero(word) : word) & mask;
#pragma unroll
            for (int j = 0; j < 4; j++) // one byte is multiplied by 1
                part[4 * i + j] = KIND == SUM && IN == T_I8 ? (unsigned)__dp4a((int)word, 1 << 8 * j, (int)part[4 * i + j])
                                                            : __dp4a(word, 1u << 8 * j, part[4 * i + j]);
#elif KIND == ARG
            word = ordered(word);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const unsigned both = with_place(word, 0xffffu - number, j);
                part[4 * i + j] = both > part[4 * i + j] && (mask >> 8 * j & 1) ? both : part[4 * i + j];
            }
#elif IN >= T_F16
            word = MAGNITUDE ? word & ~NEGATIVE : word;
            keep_best(part[i], (word & mask) | (packed_nothing().part[0] & ~mask));
#else
            word = ordered(word) & mask;
            keep_best(part[2 * i], word & 0x00ff00ffu);
            keep_best(part[2 * i + 1], word >> 8 & 0x00ff00ffu);
#endif
        }
    }
    // Of `count` elements.
    __device__ __forceinline__ node total(int v, int count) const {
        node n = nothing();
#if KIND == SUM
        n.value = IN == T_I8 ? (acc)(int)part[v] : (acc)part[v];
#elif KIND == COUNT
        n.zeros = count - (int)(part[v] >> 7);
#elif KIND == ARG
        if (part[v])
            ::take(n, (element)(part[v] >> 16 ^ FLIP), 0xffff - (part[v] & 0xffff));
#elif IN >= T_F16
        ::take(n, (element)(part[v / 2] >> 16 * (v % 2)), 0);
#else
        ::take(n, (element)((part[v / 4 * 2 + v % 2] >> 8 * (v & 2) ^ FLIP) & 0xff), 0);
#endif
        return n;
    }
};
#else
struct taken {
    taker best[V];
    __device__ __forceinline__ void take(const vector &x, int number, unsigned there) {
#pragma unroll
        for (int v = 0; v < V; v++)
            if (there >> v & 1)
                best[v].take(x.part[v], number);
    }
};
#endif

// What no order can change has no lanes; places are numbers of vectors.
__device__ __forceinline__ nodes of_all(const share &mine) {
    taken all;
    mine.for_all<0, ROUNDS>(
        ROUNDS, [](int j) { return j; }, [&](int, int i, const vector &x, unsigned there) { all.take(x, i, there); });
    if (RAGGED && mine.rest > 0)
        all.take(mine.tail, mine.whole, (1u << mine.rest) - 1);
    nodes whole;
#pragma unroll
    for (int v = 0; v < V; v++) {
        const bool cut_off = !(mine.mask >> v & 1),
                   behind = RAGGED && v < mine.rest; // where number 0 is not the run's, and where the one behind the whole ones is
#if PACKED
        whole.part[v] = all.total(v, mine.whole - cut_off + behind);
#else
        const int first = cut_off;
        whole.part[v] = all.best[v].total(first < mine.whole + behind ? first : -1, 0);
#endif
    }
    return whole;
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, AT_LEAST) tree_sets(const element *in, result *out, node *partial, const sets p) {
    __shared__ node room[ROOM];
    const int wide = p.width * ROWS, place = threadIdx.x / (unsigned)p.each, t = threadIdx.x - place * p.each, unit = blockIdx.x * p.at_once + place;
    if (place < p.at_once && unit < p.units) {
        i64 first = 0, at_in = 0;
        unsigned set = unit;
#if MANY
        first = unit % (unsigned)p.leaves * 8192;
        set /= (unsigned)p.leaves;
#endif
#pragma unroll
        for (int d = KEPT - 2; d > 0; d--) {
            at_in += set % (unsigned)p.shape[d] * p.in[d];
            set /= (unsigned)p.shape[d];
        }
        if (KEPT > 1)
            at_in += set * p.in[0];
        const share mine(in + at_in + first * p.width, (int)(p.k - first < 8192 ? p.k - first : 8192) * p.width, t, wide, in + p.low, in + p.high);
#if ANY_ORDER
        nodes whole = of_all(mine);
#else
        const nodes whole = all_lanes<0, 1>(mine);
#endif
#if KIND == ARG
        int row = (int)((unsigned)(t * V - mine.before + wide) / (unsigned)p.width) - ROWS,
            column = t * V - mine.before - row * p.width; // of a vector's elements
#endif
#pragma unroll
        for (int v = 0; v < V; v++) {
            const int at = t * V + v - mine.before;
#if KIND == ARG
            number &index = whole.part[v].index;
            index = index < 0 ? index : (number)(first + (index * ROWS + row));
            row += ++column == p.width;
            column = column == p.width ? 0 : column;
#endif
            room[place * (wide + 1) + (at < 0 ? at + wide : at)] = whole.part[v]; // round the circle
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < p.at_once * p.width; i += BLOCK) {
        const int place = (unsigned)i / (unsigned)p.width, column = i - place * p.width;
        unsigned set = blockIdx.x * p.at_once + place;
        if (set >= p.units)
            return;
        const node whole = subtree<0, 1, ROWS, node>([&](int r) { return room[place * (wide + 1) + r * p.width + column]; });
#if MANY
        const unsigned leaf = set % (unsigned)p.leaves;
        set /= (unsigned)p.leaves;
        partial[((i64)set * p.width + column) * p.leaves + leaf] = whole;
#else
        i64 at_out = column * p.out[KEPT - 1];
#pragma unroll
        for (int d = KEPT - 2; d > 0; d--) {
            at_out += set % (unsigned)p.shape[d] * p.out[d];
            set /= (unsigned)p.shape[d];
        }
        if (KEPT > 1)
            at_out += set * p.out[0];
        out[at_out] = finished(whole, p.k, p.ddof);
#endif
    }
}

extern "C" __global__ void __launch_bounds__(256) pair_leaves(node *paired, const node *partial, i64 groups, const sets p) {
    pair_neighbours(paired, partial, groups, p.leaves, p.outputs);
}

extern "C" __global__ void __launch_bounds__(256) finish(result *out, const node *partial, i64 count, const sets p) {
    finish_outputs<FEW, true>(out, partial, count, p);
}

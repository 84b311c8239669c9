// SPDX-License-Identifier: Apache-2.0
// gpu_tree_sets.cu - production, outputs side by side whose rows follow one another without gaps: a set's elements are one run, read by vectors whatever its width.
//
// In a run of rows of W elements number 256 W on is of the same column and the same lane of the tree, 128 W on of the lane that meets it first. So a thread's vectors (-DVECTOR elements)
// are lanes: ROWS W elements (-DROWS; -DACROSS is W) that lie side by side have a thread each vector, -DEACH lanes, ROWS W elements apart, which it halves in registers, -DHELD of them at
// a time, -DROUNDS terms of each on their way; what the ROWS rows come to meets in shared memory (-DROOM nodes). A block has -DLEAVES leaves of sets; of outputs with more leaves than
// one (-DMANY=1) `finish` pairs them. What no order can change has no lanes; of small elements it is folded a word at a time (-DPACKED=1).
//
// -DSURE, -DMAYBE: where lanes have few terms, so many vectors every thread has and some have; a vector that may be absent costs as much as one that is there. Else 0.
//
// -DRAGGED=1: sets begin and end within vectors. Those are cut where memory is, so a set's first element is not the first of the first thread's vector, and all lanes are turned by as much
// round a circle. A halving tree does not see that: lanes that meet are half a circle apart. Only the run's first and last vectors are not whole.
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#endif
#include "ops/reduce/gpu_finish.cuh"
#include "ops/reduce/gpu_lanes.cuh"
#include "ops/reduce/gpu_across.cuh"

enum { APART = EACH / HELD, MEET = 16 }; // MEET: rows that a thread a column takes; more of them meet before
enum { WIDE = ROWS * ACROSS, THREADS = WIDE / V }; // elements of a leaf's rows side by side, and its threads
// A zero more leaves a sum as it is: lanes begin with +0, or what they come to is settled in the end. So vectors that are not there are zeros and nobody asks: where uses asked, the assembler put them
// between the loads.
enum { ZEROS = KIND == SUM && !OMIT && !ANY_ORDER };
enum { BEGUN = SURE > 0 && ZEROS }; // lanes begin with their first terms
struct nodes {
    node part[V];
};

__device__ void merge(nodes &n, const nodes &m) {
#pragma unroll
    for (int v = 0; v < V; v++)
        merge(n.part[v], m.part[v]);
}

struct sets {
    i64 k, leaves, outputs;
    double ddof;
    i64 low, high;                                    // where the array begins and ends
    int units, unused;                                // leaves of all sets
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first, the last of them that of a set
};

// What a thread has of a run: vectors WIDE elements apart, of which the first `whole` are whole and the one behind them has `rest` elements of the run. But
// of the first thread's vector number 0 the run has the elements of a mask, and it counts as whole.
struct share {
    enum { STEP = WIDE * SIZE };
    const char *from;
    const element *low, *high; // of the array
    unsigned mask;
    int before, whole, rest;
    vector tail;
    __device__ share(const element *begin, int elements, int t, const element *lowest, const element *highest) : low(lowest), high(highest) {
        before = RAGGED ? (int)((u64)begin & (V * SIZE - 1)) / SIZE : 0;
        from = (const char *)(begin - before + t * V);
        const int end = before + elements - t * V;
        mask = t == 0 && before > 0 ? (end < V ? (1u << end) - 1 : EVERY) & EVERY << before : EVERY;
        if (SURE)
            whole = MAYBE > SURE && end >= SURE * WIDE + V ? MAYBE : SURE;
        else
            whole = end >= V ? (unsigned)(end - V) / WIDE + 1 : mask != EVERY;
        rest = end - whole * WIDE;
        if (RAGGED && rest > 0)
            edge(tail, from + (u64)STEP * whole, (1u << rest) - 1);
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
        as_words(x.all);
    }
    template <int TIMES> static __device__ __forceinline__ void clear(vector (&x)[TIMES]) {
#pragma unroll
        for (int j = 0; ZEROS && j < TIMES; j++)
            x[j].all = {};
    }
    // Vectors from number FIRST on, `step` further each time, TIMES at a time: number_of(0), number_of(1), ... behind the first of them. They are asked for
    // together, then there is use(which of them, its number, it, the mask of its elements that are there) for each in turn.
    template <int FIRST, int TIMES, typename N, typename F>
    __device__ __forceinline__ void for_all(int step, const N &number_of, const F &use) const {
        unsigned there = RAGGED && FIRST == 0 ? mask : EVERY; // of the vector that comes
        const char *at = from + (u64)STEP * FIRST;
#pragma unroll 1
        for (int i = FIRST; i < whole; i += step, at += (u64)STEP * step) {
            const int left = whole - i;
            vector x[TIMES];
            clear(x);
#pragma unroll
            for (int j = TIMES - 1; j >= 0; j--) // what is behind the branch waits for nothing so
                if (RAGGED && FIRST + j == 0 && there != EVERY)
                    edge(x[j], at, there);
                else
                    load_if(x[j].all, at + (u64)STEP * number_of(j), number_of(j) < left);
#pragma unroll
            for (int j = 0; j < TIMES; j++) {
                as_words(x[j].all);
                if (RAGGED && FIRST + j == 0)
                    use(j, i, x[j], there);
                else if (ZEROS || number_of(j) < left)
                    use(j, i + number_of(j), x[j], EVERY);
            }
            there = EVERY;
        }
    }
    // The same of vectors number_of(0), number_of(1), ... where the compiler knows which of them there are.
    template <int TIMES, typename N, typename F> __device__ __forceinline__ void for_known(const N &number_of, const F &use) const {
        vector x[TIMES];
        clear(x);
#pragma unroll
        for (int j = TIMES - 1; j >= 0; j--)
            if (RAGGED && number_of(j) == 0 && mask != EVERY)
                edge(x[j], from, mask);
            else if (number_of(j) < SURE)
                load_now(x[j].all, from + (u64)STEP * number_of(j));
            else if (number_of(j) < MAYBE)
                load_if(x[j].all, from + (u64)STEP * number_of(j), number_of(j) < whole);
#pragma unroll
        for (int j = 0; j < TIMES; j++)
            if (number_of(j) < MAYBE) {
                as_words(x[j].all);
                if (RAGGED && number_of(j) == 0)
                    use(j, 0, x[j], mask);
                else if (ZEROS || number_of(j) < SURE || number_of(j) < whole)
                    use(j, number_of(j), x[j], EVERY);
            }
    }
};

#if !ANY_ORDER
enum { THERE = SURE && MAYBE + RAGGED < EACH ? MAYBE + RAGGED : EACH }; // lanes that any thread has
// Lanes M, M + APART, ... of a thread, halved.
template <int M> __device__ __forceinline__ nodes some_lanes(const share &mine) {
    nodes lane[HELD];
#pragma unroll
    for (int a = 0; a < HELD; a++)
#pragma unroll
        for (int v = 0; v < V; v++)
            lane[a].part[v] = nothing();
    const auto use = [&](int j, int, const vector &x, unsigned there) {
#pragma unroll
        for (int v = 0; v < V; v++)
            if (there >> v & 1) {
#if KIND == SUM && !OMIT
                if (BEGUN && j < HELD) {
                    lane[j].part[v] = begun(x.part[v]);
                    continue;
                }
#endif
                take(lane[j % HELD].part[v], x.part[v], 0);
            }
    };
    const auto number_of = [](int j) { return j / HELD * EACH + j % HELD * APART; };
    if constexpr (SURE > 0)
        mine.for_known<ROUNDS * HELD>([&](int j) { return M + number_of(j); }, use);
    else
        mine.for_all<M, ROUNDS * HELD>(ROUNDS * EACH, number_of, use);
#pragma unroll
    for (int a = 0; RAGGED && a < HELD; a++)
        if (SURE == 0 || M + a * APART == SURE % EACH || M + a * APART == MAYBE % EACH)
            if (mine.whole % EACH == M + a * APART)
#pragma unroll
                for (int v = 0; v < V - 1; v++)
                    if (v < mine.rest)
                        take(lane[a].part[v], mine.tail.part[v], 0);
    return subtree<M, APART, EACH, nodes, THERE>([&](int l) { return lane[(l - M) / APART]; });
}

// The halving tree over a thread's lanes: some at a time.
template <int M, int STEP> __device__ __forceinline__ nodes all_lanes(const share &mine) {
    if constexpr (STEP == APART) {
        return some_lanes<M>(mine);
    } else {
        nodes whole = all_lanes<M, 2 * STEP>(mine);
        if constexpr (M + STEP < THERE)
            merge(whole, all_lanes<M + STEP, 2 * STEP>(mine));
        return whole;
    }
}
#else
// What no order can change has no lanes. row: the rows in which a vector's elements lie, for places.
__device__ __forceinline__ mets of_all(const share &mine, const int (&row)[V]) {
    taken all;
    const auto use = [&](int, int i, const vector &x, unsigned there) { all.take(x, i, there); };
    if constexpr (SURE > 0)
#pragma unroll
        for (int i = 0; i < MAYBE; i += ROUNDS)
            mine.for_known<ROUNDS>([&](int j) { return i + j; }, use);
    else
        mine.for_all<0, ROUNDS>(ROUNDS, [](int j) { return j; }, use);
    if (RAGGED && mine.rest > 0)
        all.take(mine.tail, mine.whole, (1u << mine.rest) - 1);
    mets whole;
#pragma unroll
    for (int v = 0; v < V; v++) {
        const bool cut_off = !(mine.mask >> v & 1),
                   behind = RAGGED && v < mine.rest; // where number 0 is not the run's, and where the one behind the whole ones is
        whole.part[v] = met_of(all, v, mine.whole - cut_off + behind, cut_off, row[v]);
    }
    return whole;
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, AT_LEAST) tree_sets(const element *in, result *out, node *partial, const sets p) {
    __shared__ met room[ROOM];
    const int place = threadIdx.x / THREADS, t = threadIdx.x - place * THREADS, unit = blockIdx.x * LEAVES + place;
    if (place < LEAVES && unit < p.units) {
        i64 first = 0, at_in = 0;
        unsigned set = unit;
#if MANY
        first = unit % (unsigned)p.leaves * LEAF;
        set /= (unsigned)p.leaves;
#endif
#pragma unroll
        for (int d = KEPT - 2; d > 0; d--) {
            at_in += set % (unsigned)p.shape[d] * p.in[d];
            set /= (unsigned)p.shape[d];
        }
        if (KEPT > 1)
            at_in += set * p.in[0];
        const share mine(in + at_in + first * ACROSS, (int)(p.k - first < LEAF ? p.k - first : LEAF) * ACROSS, t, in + p.low, in + p.high);
#if ANY_ORDER
        int row[V] = {}; // of a vector's elements
#if KIND == ARG
        row[0] = (int)((unsigned)(t * V - mine.before + WIDE) / ACROSS) - ROWS;
        int column = t * V - mine.before - row[0] * ACROSS;
#pragma unroll
        for (int v = 1; v < V; v++) {
            row[v] = row[v - 1] + (++column == ACROSS);
            column = column == ACROSS ? 0 : column;
        }
#endif
        mets whole = of_all(mine, row);
#else
        const nodes whole = all_lanes<0, 1>(mine);
#endif
        // Round the circle: what lies before the set's first element in its vector is the vector's before.
        const unsigned at = place * WIDE + t * V;
        const int mine_at = spot(at) - mine.before, before_at = spot(t > 0 ? at - V : at - V + WIDE) + V - mine.before;
#pragma unroll
        for (int v = 0; v < V; v++)
            room[(RAGGED && v < mine.before ? before_at : mine_at) + v] = whole.part[v];
    }
    __syncthreads();
#if ROWS > 32
    for (int i = threadIdx.x; i < LEAVES * MEET * ACROSS; i += BLOCK) {
        const int place = (unsigned)i / (MEET * ACROSS), at = place * (WIDE - MEET * ACROSS) + i;
        if (blockIdx.x * LEAVES + place >= p.units)
            break;
        room[spot(at)] = subtree<0, 1, ROWS / MEET, met>([&](int r) { return room[spot(at + r * MEET * ACROSS)]; });
    }
    __syncthreads();
#endif
    for (int i = threadIdx.x; i < LEAVES * ACROSS; i += BLOCK) {
        const int place = (unsigned)i / ACROSS, column = i - place * ACROSS;
        unsigned set = blockIdx.x * LEAVES + place;
        if (set >= p.units)
            return;
        const met best = subtree<0, 1, ROWS <= 32 ? ROWS : MEET, met>([&](int r) { return room[spot(place * WIDE + r * ACROSS + column)]; });
#if MANY
        const unsigned leaf = set % (unsigned)p.leaves;
        set /= (unsigned)p.leaves;
        partial[((i64)set * ACROSS + column) * p.leaves + leaf] = node_of(best, leaf * (i64)LEAF);
#else
        node whole = node_of(best, 0);
#if KIND == SUM && !OMIT
        if (BEGUN)
            settle(whole);
#endif
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

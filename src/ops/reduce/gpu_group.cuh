// SPDX-License-Identifier: Apache-2.0
// gpu_group.cuh - an output's tree by a few threads of a warp, a power of two (-DGROUP), of which each has -DEACH of the tree's lanes.
//
// GROUP * EACH lanes are all that an output has, at most 256; longer ones (-DMANY=1) go round. Elements come by vectors of E (-DVECTOR): tree lane number
// (m * GROUP + t) * E + j is thread t's [m][j]. The upper half of the lanes meets the lower one in the thread, then by shuffles, then in the thread again. -DWHOLE=1: no lane
// is without elements. -DHOLD=1: a thread's first EACH elements are asked for at once and stay in registers. -DROUNDS: 256 elements each, or fewer in the last, of an output.
//
// What no order can change - integers' sums and products, counts, extremes, places - is taken in by each thread as it comes.
#ifndef TESS_REDUCE_GROUP_CUH
#define TESS_REDUCE_GROUP_CUH
#include "ops/reduce/gpu_divisors.cuh"
#include "ops/reduce/gpu_tree.cuh"
#if KIND == VAR
#include "ops/reduce/gpu_moments.cuh"
#endif

enum {
    E = VECTOR,
    K = EACH / E,
    SIZE = (int)sizeof(element),
    ROWS = 32 / GROUP,
    APART = TURNED ? ROWS : 1,
    AT_ONCE = ROUNDS * EACH <= 256 ? ROUNDS : 1 // rounds written out: more instructions would be fetched from further away
};

union vector {
    words<E * SIZE> all;
    element part[E];
};

// A thread's own lanes M, M + STEP, ..., which `lane_of` gives: both halves in turn, so that few of them are held at a time.
template <int M, int STEP, typename T, typename F> __device__ __forceinline__ void own_lanes(T (&whole)[E], const F &lane_of) {
    if constexpr (STEP >= K) {
        lane_of(M, whole);
    } else {
        T other[E];
        own_lanes<M, 2 * STEP>(whole, lane_of);
        own_lanes<M + STEP, 2 * STEP>(other, lane_of);
#pragma unroll
        for (int j = 0; j < E; j++)
            merge(whole[j], other[j]);
    }
}

#if KIND == VAR
// own_lanes() of sums, which vectors make end with k, the same for the whole warp; single elements would take a branch each.
template <int M, int STEP, typename T, typename F> __device__ __forceinline__ void own_sums(T (&whole)[E], int k, const F &lane_of) {
    if constexpr (STEP >= K) {
        lane_of(M, whole);
    } else {
        own_sums<M, 2 * STEP>(whole, k, lane_of);
        if (WHOLE || E == 1 || (M + STEP) * GROUP * E < k) {
            T other[E];
            own_sums<M + STEP, 2 * STEP>(other, k, lane_of);
#pragma unroll
            for (int j = 0; j < E; j++)
                whole[j] += other[j];
        }
    }
}

// What the threads of a group have, for each of them. Lanes side by side go apart while threads meet: each keeps half of them, as long as there is more than one.
template <typename T> __device__ T met(T (&lane)[E]) {
    const int t = TURNED ? threadIdx.x % 32 / ROWS : threadIdx.x % GROUP;
    int have = E;
#pragma unroll
    for (int across = GROUP / 2; across > 0; across /= 2) {
        const bool upper = (t & across) != 0;
        if (have > 1) {
            have /= 2;
#pragma unroll
            for (int j = 0; j < have; j++) {
                const T mine = upper ? lane[j + have] : lane[j], other = upper ? lane[j] : lane[j + have];
                lane[j] = mine + __shfl_xor_sync(ALL, other, across * APART);
            }
        } else {
            lane[0] += __shfl_xor_sync(ALL, lane[0], across * APART);
        }
    }
#pragma unroll
    for (int across = GROUP / 2, apart = E / 2; across > 0 && apart > 0; across /= 2, apart /= 2)
#pragma unroll
        for (int j = 0; j < have; j++)
            lane[j] += __shfl_xor_sync(ALL, lane[j], across * APART);
#pragma unroll
    for (int w = have / 2; w > 0; w /= 2)
#pragma unroll
        for (int j = 0; j < w; j++)
            lane[j] += lane[j + w];
    return lane[0];
}
#endif

// What the threads of a group have, for its first one.
template <typename T, int N> __device__ T together(T (&lane)[N]) {
#pragma unroll
    for (int down = GROUP / 2; down > 0; down /= 2)
#pragma unroll
        for (int j = 0; j < N; j++)
            merge(lane[j], above(lane[j], down * APART));
#pragma unroll
    for (int w = N / 2; w > 0; w /= 2)
#pragma unroll
        for (int j = 0; j < w; j++)
            merge(lane[j], lane[j + w]);
    return lane[0];
}

// Whether threads without an output have another's elements, so that of a round that is whole nothing is asked.
#define ALL_READ (KIND == VAR || ROUNDS > 1)

// An output's elements, as thread t of its group has them. FROM::fetch reads a vector from element number i on. k 0: none.
template <typename FROM> struct share {
    const FROM &from;
    const int k, t;
#if HOLD && !MANY
    words<E * SIZE> early[K];
#endif
    __device__ share(const FROM &all, int elements, int thread) : from(all), k(elements), t(thread) {
#if HOLD && !MANY
#if KIND == VAR // looks take what is not there as 0; others do not take it, and zeros would hold back their loads
#pragma unroll
        for (int m = 0; m < K; m++)
            early[m] = {};
#endif
        ask(early, 0);
#endif
    }
    __device__ int number(int m, int base) const { return base + (m * GROUP + t) * E; }
    __device__ bool has(int m, int base) const {
        const bool whole_round = base + 256 < ROUNDS * 256;
        return WHOLE ? k > base : whole_round || number(m, base) < k;
    }
    // All of a round of 256.
    __device__ __forceinline__ void ask(words<E * SIZE> (&v)[K], int base) const {
#pragma unroll
        for (int m = 0; m < K; m++)
            if (has(m, base))
                from.fetch(v[m], number(m, base));
    }
    // use(j, element, its number) for those of lanes [m] in such a round.
    template <typename F> __device__ __forceinline__ void use_asked(const words<E * SIZE> &asked, int m, int base, const F &use) const {
        if (!has(m, base))
            return;
        vector v;
        v.all = asked;
#pragma unroll
        for (int j = 0; j < E; j++)
            use(j, v.part[j], number(m, base) + j);
    }
    // The same, read where it is used.
    template <typename F> __device__ __forceinline__ void use_now(int m, const F &use) const {
        if (!has(m, 0))
            return;
        vector v;
        from.fetch(v.all, number(m, 0));
#pragma unroll
        for (int j = 0; j < E; j++)
            use(j, v.part[j], number(m, 0) + j);
    }
#if KIND == VAR
    // The halving tree over the thread's lanes of a look at elements, value_of(element, its number in a vector, whether it is there). all: elements of every output.
    // AGAIN: the second look.
    template <bool AGAIN, typename T, typename F> __device__ __forceinline__ void sums(T (&whole)[E], int all, const F &value_of) const {
#if MANY
        own_lanes<0, 1>(whole, [&](int m, T(&to)[E]) {
            const auto read = [&](int base) {
                words<E * SIZE> v = {};
                if (has(m, base))
                    from.fetch(v, number(m, base));
                return v;
            };
            look_at<AGAIN>(read(0), m, 0, [&](int j, element e, bool there) { to[j] = value_of(e, j, there); });
#pragma unroll(AT_ONCE)
            for (int round = 1; round < ROUNDS; round++)
                if (round * 256 + m * GROUP * E < all) // the same for the whole warp
                    look_at<AGAIN>(read(round * 256), m, round * 256, [&](int j, element e, bool there) { to[j] += value_of(e, j, there); });
        });
#else
        own_sums<0, 1>(whole, all, [&](int m, T(&to)[E]) {
            look_at<AGAIN>(early[m], m, 0, [&](int j, element e, bool there) { to[j] = value_of(e, j, there); });
        });
#endif
    }
    template <bool AGAIN, typename F> __device__ __forceinline__ void look_at(const words<E * SIZE> &asked, int m, int base, const F &use) const {
        vector v;
        v.all = AGAIN ? again(asked) : asked;
#pragma unroll
        for (int j = 0; j < E; j++)
            use(j, v.part[j], WHOLE || has(m, base));
    }
#endif
    // The halving tree over the thread's lanes, which begin with `start` and take their elements by take_in(lane, element, number).
    template <typename T, typename F> __device__ __forceinline__ void lanes(T (&whole)[E], const T &start, const F &take_in) const {
#if MANY && ROUNDS > 1
        own_lanes<0, 1>(whole, [&](int m, T(&to)[E]) {
#pragma unroll
            for (int j = 0; j < E; j++)
                to[j] = start;
#pragma unroll(AT_ONCE)
            for (int round = 0; round < ROUNDS; round++)
                if (round + 1 < ROUNDS || round * 256 + m * GROUP * E < k)
                    if (has(m, round * 256)) {
                        vector v;
                        from.fetch(v.all, number(m, round * 256));
#pragma unroll
                        for (int j = 0; j < E; j++)
                            take_in(to[j], v.part[j], number(m, round * 256) + j);
                    }
        });
#elif MANY
        T lane[K][E];
#pragma unroll
        for (int m = 0; m < K; m++)
#pragma unroll
            for (int j = 0; j < E; j++)
                lane[m][j] = start;
#pragma unroll 1
        for (int base = 0; base < k; base += 256) {
            words<E * SIZE> v[K];
            ask(v, base);
#pragma unroll
            for (int m = 0; m < K; m++)
                use_asked(v[m], m, base, [&](int j, element e, int i) { take_in(lane[m][j], e, i); });
        }
        own_lanes<0, 1>(whole, [&](int m, T(&to)[E]) {
#pragma unroll
            for (int j = 0; j < E; j++)
                to[j] = lane[m][j];
        });
#else
        own_lanes<0, 1>(whole, [&](int m, T(&to)[E]) {
#pragma unroll
            for (int j = 0; j < E; j++)
                to[j] = start;
#if HOLD
            use_asked(early[m], m, 0, [&](int j, element e, int i) { take_in(to[j], e, i); });
#else
            use_now(m, [&](int j, element e, int i) { take_in(to[j], e, i); });
#endif
        });
#endif
    }
};

// An output's node, its group's first thread's. The whole warp comes here; k: of every output; all, of_all: that and its inverse.
#if KIND == VAR
template <typename FROM> __device__ node whole_of(const share<FROM> &mine, int k, double all, double of_all) {
    first_sum start[E];
    int count = OMIT ? 0 : k;
    mine.template sums<false>(start, k, [&](element e, int, bool there) { return first_look(e, there, count); });
#pragma unroll
    for (int across = GROUP / 2; OMIT && across > 0; across /= 2)
        count += __shfl_xor_sync(ALL, count, across * APART);
    const double sum = met(start), mean = INVERSES_DIVIDE ? quotient(sum, all, of_all) : mean_of(sum, count);
    double lane[E];
    mine.template sums<true>(lane, k, [&](element e, int j, bool there) { return second_look(wide_of(e, j), there, mean); });
    return moments_of(mean, met(lane), count);
}
#elif ANY_ORDER
template <typename FROM> __device__ node whole_of(const share<FROM> &mine, int, double, double) {
    node lane[1] = {nothing()};
    const auto take_it = [&](int, element e, int i) { take_next(lane[0], e, i); };
#if MANY
#pragma unroll 1
    for (int base = 0; base < mine.k; base += 256) {
        words<E * SIZE> v[K];
        mine.ask(v, base);
#pragma unroll
        for (int m = 0; m < K; m++)
            mine.use_asked(v[m], m, base, take_it);
    }
#else
#pragma unroll
    for (int m = 0; m < K; m++)
#if HOLD
        mine.use_asked(mine.early[m], m, 0, take_it);
#else
        mine.use_now(m, take_it);
#endif
#endif
    return together(lane);
}
#else
template <typename FROM> __device__ node whole_of(const share<FROM> &mine, int, double, double) {
    node lane[E];
    mine.lanes(lane, nothing(), [&](node &to, element e, int i) { take(to, e, i); });
    return together(lane);
}
#endif
#endif

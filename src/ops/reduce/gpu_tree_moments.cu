// SPDX-License-Identifier: Apache-2.0
// gpu_tree_moments.cu - production, variances of outputs side by side: a leaf of some columns comes to shared memory once, where both looks find it.
//
// A variance looks at a leaf twice, and along a slow axis a leaf of one column is spread over as many sectors as it has elements. So a block copies a tile, all rows of a leaf
// of ACROSS columns, past the registers: what is on its way is what a multiprocessor's shared memory holds, and nothing comes a second time. -DRUN=1: the columns are
// all there are and their rows follow one another, so a tile is one run, and a block may have several of them (-DAT_ONCE). Else it comes row by row, -DPITCH bytes
// apart in the tile. Copies are of -DVECTOR bytes; -DSHIFTED=1: where none fit, a tile or a row lies within so many bytes as it does in memory, and comes with what is around it.
//
// A thread has every ROWS-th row of the columns of a word (-DWORD bytes: an element of 4 and more, two or four smaller ones), so neighbours read neighbours whatever the width, and -DEACH lanes of the tree,
// which it halves -DHELD at a time; what the ROWS threads of a column come to meets in shared memory. How many rows a tile has (-DTALL) and how far they lie apart the compiler knows: a load is one instruction,
// and none is made for what is not there. Behind -DSHARED rounds of lanes a thread keeps its own words in registers. Of outputs with more leaves than one (-DMANY=1) `finish` pairs them; a set's last leaf
// has -DLAST rows.
//
// Where a tile fills a multiprocessor (-DWALK) its block goes on to another one, which comes while looks leave room for it; then all tiles of a launch have as many rows, and last leaves that are shorter have a launch and a text
// of their own. -DEXACT: of bytes, of which a leaf of TALL rows takes one look (moments_at_once); a shorter one may take two.
#include "ops/reduce/gpu_moments_tile.cuh"

// A thread's load: an element, or a word of neighbours.
template <bool ONE> struct load_of { typedef element type; };
template <> struct load_of<false> { typedef unsigned type; };
typedef load_of<V == 1>::type word;
__device__ __forceinline__ element element_at(word w, int v) { return (element)((unsigned)w >> 8 * SIZE * v); }

// What a thread has of each position of its words; sums of a look halve as nodes do.
template <typename T> struct many {
    T of[V];
};
template <typename T> __device__ __forceinline__ void merge(many<T> &a, const many<T> &b) {
#pragma unroll
    for (int v = 0; v < V; v++)
        merge(a.of[v], b.of[v]);
}

// A thread has so many elements of a column that two sums of bytes fit a word: the dot product with (1, 2^15) adds two neighbours, each where it belongs.
#define PAIRED (V == 4 && IN == T_U8 && EACH * (ROUNDS + 1) <= 128)
struct beside_sums {
    int count[V];  // of elements that are no NaN
    unsigned odd;  // NaN where an upper half was no number
    int square[V]; // of bytes, -DEXACT
};
// The first look at a word. Integers are added where they lie: by the dot product with a word that has a 1 there. begins: the sum is of nothing yet, and an addition to 0 costs what another one does.
__device__ __forceinline__ void first_look_at(many<first_sum> &sums, word w, const bool (&there)[V], bool begins, beside_sums &b) {
#pragma unroll
    for (int v = 0; EXACT && v < V; v++) {
        const unsigned its = (unsigned)w & (there[v] ? 0xffu << 8 * v : 0);
        b.square[v] = IN == T_I8 ? __dp4a((int)its, (int)w, b.square[v]) : (int)__dp4a(its, (unsigned)w, (unsigned)b.square[v]);
    }
    if constexpr (PAIRED) {
#pragma unroll
        for (int v = 0; v < V; v += 2) {
            const unsigned ones = (there[v] ? 1 : 0) + (there[v + 1] ? 0x80000000 : 0);
            sums.of[v] = (int)(v ? __dp2a_hi(ones, (unsigned)w, (unsigned)sums.of[v]) : __dp2a_lo(ones, (unsigned)w, (unsigned)sums.of[v]));
        }
    }
#pragma unroll
    for (int v = 0; v < V; v++) {
        first_sum &sum = sums.of[v];
        if constexpr (PAIRED) {
            b.count[v] += OMIT && there[v];
        } else if constexpr (V == 1) {
            const first_sum x = first_look(w, true, b.count[v]);
            sum = begins ? x : sum + x;
        } else if constexpr (SMALL_INTEGERS) {
            const int one = there[v] ? 1 << 8 * v : 0;
            if (SIZE == 1)
                sum = IN == T_I8 ? __dp4a((int)w, one, (int)sum) : (int)__dp4a((unsigned)w, (unsigned)one, (unsigned)sum);
            else
                sum = IN == T_I16 ? __dp2a_lo((int)w, one, (int)sum) : (int)__dp2a_lo((unsigned)w, (unsigned)one, (unsigned)sum);
            b.count[v] += OMIT && there[v];
        } else {
            first_sum x;
            if (HALVES && v == 1) {
                const unsigned its = there[v] ? (unsigned)w : 0;
                find_no_number(b.odd, its);
                x = half_bits(its);
            } else {
                x = first_look(there[v] ? element_at(w, v) : 0, there[v], b.count[v]);
            }
            sum = begins ? x : sum + x;
        }
    }
}
// What it comes to.
__device__ __forceinline__ void settle_first(many<first_sum> &sums, const beside_sums &b) {
    if constexpr (PAIRED) {
#pragma unroll
        for (int v = 0; v < V; v += 2) {
            sums.of[v + 1] = (int)sums.of[v] >> 15;
            sums.of[v] = (int)sums.of[v] & 0x7fff;
        }
    }
    if constexpr (HALVES && V == 2)
        sums.of[1] = settled_halves(sums.of[1], b.odd);
}

// What the second look takes of one of them; h: a number that the compiler knows.
__device__ __forceinline__ double second_look_at(word w, int v, bool there, double middle, int h) {
    if constexpr (V == 1)
        return second_look(wide_of(w, h), there, middle);
    else
        return square_of_part(w, v, there, middle);
}

// What it comes to.
__device__ __forceinline__ void settle_second(many<double> &squares) {
#pragma unroll
    for (int v = 0; V > 1 && v < V; v++)
        squares.of[v] = settled_squares(squares.of[v], v);
}

// A word that is kept, so that the compiler does not keep it as f64 from the first look on.
__device__ __forceinline__ word same(word w) {
    if constexpr (V == 1)
        return again(w);
    else
        return (word)((unsigned)w ^ threadIdx.y);
}

// The halving tree over a thread's lanes: of the words from `first` on, every ROWS rows. take(sums, word, whether each position of it is there, a number that the compiler knows, whether the sums begin
// with it). WHOLE: of a tile of TALL rows the compiler knows which words are there for all threads, and only at its ends asks. ANYHOW: no order matters. at: the first element's position in the tile, `end`: how many positions that has.
template <typename T, bool WHOLE, bool ANYHOW, typename F>
__device__ __forceinline__ many<T> look(const char *first, const word *kept, int at, int end, const F &take) {
    enum { STEP = ROWS * PITCH, FULL = !WHOLE ? 0 : SHARED < ROUNDS ? SHARED : TALL / LANES, BEFORE = RAGGED ? V - 1 : 0 };
    many<T> all[HELD] = {};
    enum { CHAINS = (T)0.5 == 0 ? 1 : HELD }; // of f64, whose additions wait for each other
    const many<T> tree = subtree<0, 1, APART, many<T>>([&](int m) {
        many<T> lane[HELD] = {};
        const auto take_word = [&](word w, int h, int n, bool sure) {
            bool there[V];
#pragma unroll
            for (int v = 0; v < V; v++)
                there[v] = sure || (unsigned)(at + v + n * POSITIONS) < (unsigned)end;
            take(ANYHOW ? all[h % CHAINS] : lane[h], w, there, h, WHOLE && !ANYHOW && n == m + h * APART);
        };
        const auto one = [&](int h, int n, bool sure) {
            if (sure || at + n * POSITIONS < end)
                take_word(*(const word *)(first + n * STEP), h, n, sure);
        };
        const auto maybe = [&](int h, int n) {
            if (!WHOLE || n * POSITIONS < TALL * ACROSS + BEFORE)
                one(h, n, WHOLE && (n + 1) * POSITIONS <= TALL * ACROSS);
        };
        if (FULL > 0) {
#pragma unroll
            for (int h = 0; h < HELD; h++)
                one(h, m + h * APART, !(RAGGED && m + h == 0));
        }
#pragma unroll UNROLLED
        for (int j = 1; j < FULL; j++)
#pragma unroll
            for (int h = 0; h < HELD; h++)
                one(h, m + h * APART + j * EACH, true);
        if (WHOLE && SHARED >= ROUNDS) {
#pragma unroll
            for (int h = 0; h < HELD; h++)
                if (FULL > 0 || !(RAGGED && m + h == 0))
                    maybe(h, m + h * APART + FULL * EACH);
                else
                    one(h, 0, false);
            if (RAGGED && m == 0) // the lane that begins before the tile has its last element a round later
                maybe(0, (FULL + 1) * EACH);
        } else if (!WHOLE) {
#pragma unroll 1
            for (int n = m; n * POSITIONS < end + BEFORE && (SHARED >= ROUNDS || n < SHARED * EACH); n += EACH)
#pragma unroll
                for (int h = 0; h < HELD; h++)
                    one(h, n + h * APART, false);
        }
#pragma unroll
        for (int j = SHARED; j < ROUNDS; j++)
#pragma unroll
            for (int h = 0; h < HELD; h++) {
                const int n = m + h * APART + j * EACH;
                const bool sure = WHOLE && (n + 1) * POSITIONS <= TALL * ACROSS;
                if (sure || at + n * POSITIONS < end)
                    take_word(same(kept[n - SHARED * EACH]), h, n, sure);
            }
        return subtree<0, 1, HELD, many<T>>([&](int h) { return lane[h]; });
    });
    if (!ANYHOW)
        return tree;
    if (CHAINS > 1)
#pragma unroll
        for (int h = 1; h < HELD; h++)
            merge(all[0], all[h]);
    return all[0];
}

// A position before the tile is that of the last column of the row that ends there, some rows on: in a circle.
__device__ __forceinline__ int place_of_position(int at) { return RAGGED && at < 0 ? at + POSITIONS : at; }
__device__ __forceinline__ int in_room(int at) { return place_of_position(at) / ACROSS * APART_ROWS + place_of_position(at) % ACROSS; }
template <typename S, typename T> __device__ __forceinline__ void lay_down(S *room, int at, int number, const many<T> &sums) {
#pragma unroll
    for (int v = 0; v < V; v++)
        if (number < AT_ONCE)
            room[in_room(at + v)] = sums.of[v];
}

// Of bytes both looks at once: the sum of squares and, below 2^32, that of the elements.
__device__ __forceinline__ many<i64> both(const many<first_sum> &sums, const beside_sums &b) {
    many<i64> all;
#pragma unroll
    for (int v = 0; v < V; v++)
        all.of[v] = ((i64)b.square[v] << 32) + (i64)sums.of[v];
    return all;
}
__device__ __forceinline__ node node_of_both(i64 all) {
    const int sum = (int)all, squares = (int)(all - sum >> 32);
    return moments_at_once(sum, squares, sum * (1. / TALL), TALL);
}

// What the threads of each column have: use(number of a column, the halving tree over their sums, the sum of what they count), by one thread.
template <typename S, typename F> __device__ __forceinline__ void for_columns(const S *room, const int *counts, const F &use) {
    for (int i = threadIdx.x; i < (COLUMNS * MEET + 31) / 32 * 32; i += BLOCK) {
        const int c = i / MEET < COLUMNS ? i / MEET : COLUMNS - 1, g = i % MEET, at = c / ACROSS * OF_ROOM + c % ACROSS + g * APART_ROWS;
        S sum = subtree<0, 1, MET, S>([&](int m) { return room[at + m * MEET * APART_ROWS]; });
        int count = 0;
#pragma unroll
        for (int m = 0; OMIT && m < MET; m++)
            count += counts[at + m * MEET * APART_ROWS];
#pragma unroll
        for (int across = MEET / 2; across > 0; across /= 2) {
            sum += __shfl_xor_sync(ALL, sum, across);
            count += OMIT ? __shfl_xor_sync(ALL, count, across) : 0;
        }
        if (g == 0 && i < COLUMNS * MEET)
            use(c, sum, count);
    }
}

// The results of a block's columns, or the nodes of a leaf: node_of(number of a column, what is left of it, elements that count).
template <typename S, typename F>
__device__ __forceinline__ void put_results(result *out, node *partial, const moments &p, unsigned unit, const S *room, const int *counts, const F &node_of) {
    for_columns(room, counts, [&](int c, S sum, int all) {
        const tile its(p, unit + c / ACROSS);
        const int column = its.column + c % ACROSS;
        if (unit + c / ACROSS >= p.units || column >= p.width)
            return;
        const node whole = node_of(c, sum, OMIT ? all : its.rows);
#if MANY
        partial[((i64)its.set * p.width + column) * p.leaves + its.leaf] = whole;
#else
        out[its.at_out + column * p.out[KEPT - 1]] = finished(whole, TALL, p.ddof);
#endif
    });
}

#if WALK
// A look at such a tile, whose lanes' terms come in their order: the first FROM parts by first_parts(sums, which positions of a word are there), the others from the ring. before(), after(its number): of a part.
template <typename T, int FROM, typename F, typename P, typename B, typename A>
__device__ __forceinline__ many<T> look_on(const char *ring, int &at_ring, int at, int end, const F &take, const P &first_parts, const B &before, const A &after) {
    many<T> lane[EACH] = {};
    bool all_there[V];
#pragma unroll
    for (int v = 0; v < V; v++)
        all_there[v] = true;
    first_parts(lane, all_there);
    const auto part = [&](int i, bool sure) {
        before();
#pragma unroll
        for (int n = 0; n < PART; n++)
            if (sure || at + n * POSITIONS < end - i * (PART * POSITIONS))
                take(lane[n % EACH], *(const word *)(ring + at_ring + n * ROWS * PITCH), all_there, n % EACH, false);
        at_ring = next_part(at_ring);
        after(i);
    };
    int i = FROM;
#pragma unroll 1
    for (; (i + 1) * (PART * POSITIONS) <= end; i++)
        part(i, true);
    if (i * (PART * POSITIONS) < end)
        part(i, false);
    return subtree<0, 1, EACH, many<T>>([&](int h) { return lane[h]; });
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, AT_LEAST) tree_moments(const element *in, result *out, node *partial, const moments p) {
    extern __shared__ words<16> tiles[];
    __shared__ double room[AT_ONCE * OF_ROOM], mean[COLUMNS];
    __shared__ int counts[OMIT ? AT_ONCE * OF_ROOM : 1];
    const int number = threadIdx.x / OF_TILE, t = threadIdx.x % OF_TILE;
    const unsigned unit = blockIdx.x * AT_ONCE;
    const bool here = number < AT_ONCE && unit + number < p.units;
    int at = t * V, end = 0; // of the thread's first word; of the tile, 0 where the thread has none of it
#if !WALK
    const char *first = (const char *)tiles;
    word kept[KEPT_WORDS] = {};
    if (here) {
        const tile mine(p, unit + number);
        const region where(in, p, mine);
        char *to = (char *)tiles + number * TILE + (SHIFTED ? (int)((u64)where.from % VECTOR) : 0);
        where.bring(to, t);
        if (SHARED < ROUNDS && (RUN || at % ACROSS < mine.across))
            where.keep(kept, at / ACROSS, at % ACROSS);
        at -= RAGGED ? (int)((u64)where.from % sizeof(word)) / SIZE : 0;
        first = RUN ? to + at * SIZE : to + at / ACROSS * PITCH + at % ACROSS * SIZE;
        end = RUN || at % ACROSS < mine.across ? mine.rows * ACROSS : 0;
    }
#endif
    beside_sums b = {};
    // Multiplied by what the compiler does not know to be 1: without it loads move behind questions, where other threads take part than are predicted, and unrolled by a number they take registers.
    const auto make_results = [&](unsigned unit) {
        put_results(out, partial, p, unit, (const double *)room, counts, [&](int c, double sum, int count) { return moments_of(mean[c], sum * power_of_two(0), count); });
    };
    const auto make_exact = [&](unsigned unit, const many<first_sum> &sums, const beside_sums &b) {
        lay_down((i64 *)room + number * OF_ROOM, at, number, both(sums, b));
        __syncthreads();
        put_results(out, partial, p, unit, (const i64 *)room, counts, [](int, i64 sum, int) { return node_of_both(sum); });
    };
    const auto make_means = [&](unsigned unit) {
        for_columns((const double *)room, counts, [&](int c, double sum, int all) { mean[c] = mean_of(sum, OMIT ? all : LAST < TALL ? tile(p, unit + c / ACROSS).rows : TALL); });
    };
    const auto lay_counts = [&](const int (&count)[V]) {
#pragma unroll
        for (int v = 0; OMIT && v < V; v++)
            if (number < AT_ONCE)
                counts[number * OF_ROOM + in_room(at + v)] = count[v];
    };
    double middle[V];
    const auto take_means = [&] {
#pragma unroll
        for (int v = 0; v < V; v++)
            middle[v] = mean[here ? number * ACROSS + place_of_position(at + v) % ACROSS : 0] * power_of_two(V > 1 && by_bits(v) ? -SCALE_OF_BYTE : 0); // multiplied in any case: where the loads stand is predicted
    };
    const auto second_take = [&](many<double> &sums, word w, const bool(&there)[V], int h, bool begins) {
#pragma unroll
        for (int v = 0; v < V; v++) {
            const double x = second_look_at(w, v, there[v], middle[v], h);
            sums.of[v] = begins ? x : sums.of[v] + x;
        }
    };
    const auto first_take = [&](many<first_sum> &sums, word w, const bool(&there)[V], int, bool begins) { first_look_at(sums, w, there, begins, b); };
#if WALK
    char *ring = (char *)tiles;
    word kept[STAY > 0 ? STAY * PART : 1];
    int at_ring = at / ACROSS * PITCH + at % ACROSS * SIZE;
    stream its;
    its.go_on(region(in, p, tile(p, unit)), true);
    unsigned now = unit, asked = unit;
    const auto bring_next = [&](int i) { // in the place of part i of a tile
        __syncwarp();
        if (i == PARTS - RING) {
            asked += gridDim.x;
            const bool more = asked < p.units;
            its.go_on(region(in, p, tile(p, more ? asked : now)), more);
        }
        its.bring(ring);
    };
#pragma unroll 1
    for (int i = 0; i < RING; i++)
        bring_next(-1);
#pragma unroll 1
    for (;; now += gridDim.x) {
        end = TALL * ACROSS;
        b = {};
        if (EXACT) {
            many<first_sum> sums = look_on<first_sum, 0>(ring, at_ring, at, end, first_take, [](many<first_sum> *, const bool(&)[V]) {}, [] { stream::await(); }, bring_next);
            settle_first(sums, b);
            __syncthreads(); // what the tile before left has been taken
            make_exact(now, sums, b);
        } else {
            int behind; // the first parts
            many<first_sum> sums = look_on<first_sum, STAY>(
                ring, at_ring, at, end, first_take,
                [&](many<first_sum> *lane, const bool(&there)[V]) {
#pragma unroll
                    for (int i = 0; i < STAY; i++) {
                        stream::await();
#pragma unroll
                        for (int n = i * PART; n < (i + 1) * PART; n++)
                            kept[n] = *(const word *)(ring + at_ring + n % PART * ROWS * PITCH);
                        bring_next(i);
                        at_ring = next_part(at_ring);
#pragma unroll
                        for (int n = i * PART; n < (i + 1) * PART; n++)
                            first_take(lane[n % EACH], kept[n], there, n % EACH, n < EACH);
                    }
                    behind = at_ring;
                },
                [] { stream::await(); }, [](int) { stream::end_part(); });
            settle_first(sums, b);
            __syncthreads(); // what the tile before left has been taken
            lay_down((double *)room, at, number, sums);
            lay_counts(b.count);
            __syncthreads();
            make_means(now);
            __syncthreads();
            take_means();
            many<double> squares = look_on<double, STAY>(
                ring, behind, at, end, second_take,
                [&](many<double> *lane, const bool(&there)[V]) {
#pragma unroll
                    for (int n = 0; n < STAY * PART; n++)
                        second_take(lane[n % EACH], same(kept[n]), there, n % EACH, n < EACH);
                },
                [] {}, bring_next);
            settle_second(squares);
            lay_down((double *)room, at, number, squares);
            __syncthreads();
            make_results(now);
        }
        if (now + gridDim.x >= p.units)
            break;
    }
#else
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    enum { FREE = V > 1 && (SMALL_INTEGERS || IN == T_F16) }; // in any order: 8192 half floats are at most 53 bits
    many<first_sum> sums = {};
    if (EXACT && (LAST == TALL || tile(p, unit).rows == TALL)) {
        if (end == TALL * ACROSS)
            sums = look<first_sum, true, true>(first, kept, at, end, first_take);
        settle_first(sums, b);
        make_exact(unit, sums, b);
    } else if (!EXACT || LAST < TALL) {
        if (!EXACT && end == TALL * ACROSS)
            sums = look<first_sum, true, FREE>(first, kept, at, end, first_take);
        else if (LAST < TALL && end > 0)
            sums = look<first_sum, false, FREE>(first, kept, at, end, first_take);
        settle_first(sums, b);
        lay_down((double *)room + number * OF_ROOM, at, number, sums);
        lay_counts(b.count);
        __syncthreads();
        make_means(unit);
        __syncthreads();
        take_means();
        many<double> squares = {};
        if (!EXACT && end == TALL * ACROSS)
            squares = look<double, true, false>(first, kept, at, end, second_take);
        else if (LAST < TALL && end > 0)
            squares = look<double, false, false>(first, kept, at, end, second_take);
        settle_second(squares);
        lay_down((double *)room + number * OF_ROOM, at, number, squares);
        __syncthreads();
        make_results(unit);
    }
#endif
}

extern "C" __global__ void __launch_bounds__(256) pair_leaves(node *paired, const node *partial, i64 groups, const moments p) {
    pair_neighbours(paired, partial, groups, p.leaves, p.outputs);
}

extern "C" __global__ void __launch_bounds__(256) finish(result *out, const node *partial, i64 count, const moments p) {
    finish_outputs<FEW, true>(out, partial, count, p);
}

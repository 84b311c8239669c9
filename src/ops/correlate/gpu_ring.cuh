// SPDX-License-Identifier: Apache-2.0
// gpu_ring.cuh - rows on their way through shared memory: a block's tile of a row, its ghost cells and its neighbours' columns included, is copied
// asynchronously some turns before it is needed.
//
// A row in shared memory: PAD_LEFT elements before the tile, the tile's ALONG * V, PAD_RIGHT after it; a thread's window is read from there in vectors.
// Elements that no output needs may hold anything. What lies inside the array is copied without passing registers: vectors of 16 bytes, or where rows begin
// anywhere (WHOLE=0) elements of 4 and 8 bytes, by neighbours side by side. Smaller ones pass through registers as words, each made of the two that it lies
// across. Ghost cells are copied element by element.
//
// -DV columns a thread, -DTHREADS. Before it is included, RING_LEFT and RING_RIGHT may say how many elements beside its own a thread reads, ALONG how many
// threads stand along x.
#include "ops/correlate/gpu_copies.cuh"

#ifndef RING_LEFT
#define RING_LEFT LEFT
#define RING_RIGHT RIGHT
#endif
#ifndef ALONG // a strip, of one row of threads
#define ALONG THREADS
#define ACROSS THREADS
#endif
#ifndef RING_AWAY // elements from a whole sector to the tile, of those beside the outputs that are computed, too
#define RING_AWAY 0
#endif

// Elements of a copy's vector, and of a vector read from shared memory. Copies begin where sectors of 32 bytes do, on both sides: a vector of which source and
// destination lie in different halves of their sectors is a request of its own of the second-level cache, twice as many as there are sectors.
const int VECTOR = 16 / SIZE, READ = V * SIZE < 16 ? V : VECTOR, SECTOR = WHOLE ? 32 / SIZE : VECTOR;
const int NEAR_LEFT = up_to(RING_LEFT, READ), NEAR_RIGHT = up_to(RING_RIGHT, READ), PAD_LEFT = up_to(NEAR_LEFT + RING_AWAY, SECTOR) - RING_AWAY;
// Elements of a copy.
const int COPY = WHOLE ? VECTOR : SIZE < 4 ? 4 / SIZE : 1;
const int TILE = ALONG * V, ROW = up_to(PAD_LEFT + TILE + NEAR_RIGHT, SECTOR), PAD_RIGHT = ROW - PAD_LEFT - TILE, WINDOW = NEAR_LEFT + V + NEAR_RIGHT;
static_assert(V * SIZE % 4 == 0 && PAD_LEFT % READ == 0, "windows are whole vectors");
#ifndef ACROSS // threads that copy a row together: of narrow elements a vector each, else as they stand, so that fewer requests lie across two rows
const int VECTORS = ROW / VECTOR, MOST = SIZE < 4 ? THREADS : ALONG, ACROSS = !WHOLE ? 32 : VECTORS < MOST ? VECTORS : MOST;
#endif

// The elements of a block's rows that no copy inside the array covers: ghost cells, and a row's last few. Each thread has EXTRA of them, the same in every
// row: `from` in the array (-1: a constant, which stands in the ring from the beginning), `to` in the tile's row (-1: none).
const int SPARE = WHOLE || SIZE >= 4 ? 0 : COPY; // elements behind a copy that it reads, too
const int LOOSE = LEFT + COPY + SPARE + LEFT + RIGHT, EXTRA = (LOOSE + ACROSS - 1) / ACROSS;
const int EACH = (ROW / COPY + ACROSS - 1) / ACROSS; // copies of a row that a thread makes
struct loose {
    int from[EXTRA], to[EXTRA];
    bool inside[EACH]; // which of the thread's copies are
};

__device__ __forceinline__ loose find_loose(const frame &f, int x, int along) {
    loose l;
    const int n_x = (int)f.n_x, begin = x - PAD_LEFT, end = min(x + TILE + PAD_RIGHT, (int)f.m_x + RIGHT);
#pragma unroll
    for (int e = 0; e < EXTRA; e++) {
        const int i = along + e * ACROSS,
                  column = i < LEFT ? i - LEFT : max(SPARE ? max(n_x / COPY * COPY - SPARE, 0) : n_x / COPY * COPY, begin) + i - LEFT;
        const bool there = i < LOOSE && column >= begin && column < end;
        l.to[e] = there ? column - begin : -1;
        l.from[e] = there ? resolve_x(column, n_x, f.edge) : -1;
    }
#pragma unroll
    for (int g = 0; g < EACH; g++) {
        const int at = (along + g * ACROSS) * COPY;
        l.inside[g] = at < ROW && begin + at >= 0 && begin + at + COPY + SPARE <= n_x;
    }
    return l;
}

// A copy that lies inside. A word is loaded where it is asked for and laid down by lay_word, so that many are on their way at once.
__device__ __forceinline__ void copy_inside(unsigned &word, unsigned to, const char *from) {
    if (WHOLE) {
        copy_vector(to, from);
    } else if (SIZE >= 4) {
        copy_element<SIZE>(to, (const element *)from);
    } else {
        const unsigned beyond = (unsigned)(u64)from & 3;
        const unsigned *at = (const unsigned *)(from - beyond);
        word = __funnelshift_r(at[0], at[1], 8 * beyond);
    }
}
// An element of 4 or 8 bytes, where `there` is not 0. Not by a branch: each would compute its addresses anew.
__device__ __forceinline__ void copy_element_if(int there, unsigned to, const element *from) {
    asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %0, 0;\n @p cp.async.ca.shared.global [%1], [%2], %3;\n}" ::"r"(there), "r"(to), "l"(from),
                 "n"(SIZE < 4 ? 4 : SIZE)
                 : "memory");
}
__device__ __forceinline__ void lay_word(unsigned to, unsigned word) { *(unsigned *)__cvta_shared_to_generic(to) = word; }

// N rows of the plane at `in` (`there`, or one of constants) to shared memory, each element by its index: from row y on as the mask meets it, columns from
// x - PAD_LEFT on.
template <int N> __device__ __forceinline__ void copy_anywhere(element *to, const element *in, bool there, const frame &f, int y, int x) {
    const int n_x = (int)f.n_x, n_y = (int)f.n_y, STEP = WHOLE ? VECTOR : 1;
#pragma unroll 1
    for (int g = threadIdx.x; g < N * (ROW / STEP); g += THREADS) {
        const int row = g / (ROW / STEP), column = x - PAD_LEFT + (g - row * (ROW / STEP)) * STEP, at_y = there ? resolve(y + row, n_y, f.edge) : -1;
        const element *from = in + (i64)(at_y < 0 ? 0 : at_y) * f.in_y;
        if (WHOLE && at_y >= 0 && column >= 0 && column + STEP <= n_x) {
            copy_vector((unsigned)__cvta_generic_to_shared(to + g * STEP), from + column);
        } else {
#pragma unroll 1
            for (int i = 0; i < STEP; i++) {
                const int at = resolve_x(column + i, n_x, f.edge);
                if (at_y >= 0 && at >= 0)
                    copy_element<SIZE>((unsigned)__cvta_generic_to_shared(to + g * STEP + i), from + at);
                else
                    to[g * STEP + i] = ghost_of(f);
            }
        }
    }
}

// A thread's part in copying tiles of N rows, the same rows of one plane after the other. Where its copies lie in a plane is found once; rows of constants stand in
// the ring from the beginning.
#if WHOLE
// A vector, where `missing` is 0. Not by a branch: each would compute its addresses anew.
__device__ __forceinline__ void copy_vector_unless(int missing, unsigned to, const char *from) {
    asm volatile("{\n .reg .pred p;\n setp.eq.s32 p, %0, 0;\n @p cp.async.cg.shared.global [%1], [%2], 16;\n}" ::"r"(missing), "r"(to), "l"(from)
                 : "memory");
}
// The block's threads, but for the last ones, stand ACROSS by HIGH.
template <int N> struct tile_feed {
    enum { HIGH = THREADS / ACROSS, MINE = (N + HIGH - 1) / HIGH };
    static_assert(EACH + EXTRA + MINE < 32, "a bit for each");
    int row[MINE], extra[EXTRA]; // from the plane to the thread's first vector of a row, in vectors; from there to an element, in bytes
    unsigned own, to[EXTRA];     // in shared memory, in the ring's first plane
    int flags;                   // bits: vectors that lie inside; from EACH on elements; from EACH + EXTRA on rows that are none of constants

    __device__ __forceinline__ tile_feed(const element *ring, const frame &f, int y, int x) {
        const int along = threadIdx.x % ACROSS, down = threadIdx.x / ACROSS, lane = threadIdx.x % 32;
        const loose l = find_loose(f, x, along);
        int bits = 0;
        // A shuffle makes opaque what the compiler would else compute again for every plane.
        own = __shfl_sync(0xffffffff, (unsigned)__cvta_generic_to_shared(ring + down * ROW) + along * 16, lane);
#pragma unroll
        for (int g = 0; g < EACH; g++)
            bits |= l.inside[g] << g;
#pragma unroll
        for (int e = 0; e < EXTRA; e++) {
            bits |= (l.from[e] >= 0) << (EACH + e);
            extra[e] = (l.from[e] - x + PAD_LEFT) * SIZE - along * 16;
            to[e] = (unsigned)__cvta_generic_to_shared(ring + down * ROW + l.to[e]);
        }
#pragma unroll
        for (int r = 0; r < MINE; r++) {
            const int number = r * HIGH + down, at = resolve(y + number, (int)f.n_y, f.edge);
            bits |= (number < N && at >= 0) << (EACH + EXTRA + r);
            row[r] = __shfl_sync(0xffffffff, (int)(at * (f.in_y * SIZE / 16)) + (x - PAD_LEFT) * SIZE / 16 + along, lane);
        }
        flags = __shfl_sync(0xffffffff, down < HIGH ? bits : 0, lane);
    }
    // The tile of the plane at `in`, to plane number `slot` of the ring.
    __device__ __forceinline__ void copy(int slot, const element *in) const {
        const unsigned plane = slot * (N * ROW * SIZE);
        unsigned at = own + plane;
        const char *from = (const char *)in;
        if (EACH == 1)
            asm volatile("" : "+r"(at), "+l"(from)); // once, and not for every copy
#pragma unroll
        for (int r = 0; r < MINE; r++) {
            const char *vector = from + (i64)row[r] * 16;
            const unsigned there = at + r * HIGH * ROW * SIZE;
            if (EACH == 1) {
                copy_vector_unless(~flags & (1 | 1 << (EACH + EXTRA + r)), there, vector);
            } else if (flags >> (EACH + EXTRA + r) & 1) {
#pragma unroll
                for (int g = 0; g < EACH; g++)
                    if (flags >> g & 1)
                        copy_vector(there + g * ACROSS * 16, vector + g * ACROSS * 16);
            }
        }
        if (flags >> EACH & ((1 << EXTRA) - 1)) {
#pragma unroll
            for (int r = 0; r < MINE; r++)
#pragma unroll
                for (int e = 0; e < EXTRA; e++)
                    if ((flags >> (EACH + EXTRA + r) & 1) && (flags >> (EACH + e) & 1))
                        copy_element<SIZE>(to[e] + plane + r * HIGH * ROW * SIZE, (const element *)((const char *)in + (i64)row[r] * 16 + extra[e]));
        }
    }
};
#else
// A warp copies a row, the next warp the next one: a row is 4 to 16 times as many copies as vectors, and registers would not hold where all of them lie. Where rows
// begin stands in shared memory.
template <int N> struct tile_feed {
    enum { WARPS = THREADS / 32, MINE = (N + WARPS - 1) / WARPS, NONE = 1 << 31 };
    unsigned own, to[EXTRA];
    int extra[EXTRA], flags;

    static __device__ __forceinline__ int *rows() { // elements from the plane's first one
        __shared__ int at[N];
        return at;
    }
    __device__ __forceinline__ tile_feed(const element *ring, const frame &f, int y, int x) {
        const int lane = threadIdx.x % 32;
        const loose l = find_loose(f, x, lane);
        int bits = 0;
        own = __shfl_sync(0xffffffff, (unsigned)__cvta_generic_to_shared(ring) + lane * (COPY * SIZE), lane);
#pragma unroll
        for (int g = 0; g < EACH; g++)
            bits |= l.inside[g] << g;
#pragma unroll
        for (int e = 0; e < EXTRA; e++) {
            bits |= (l.from[e] >= 0) << (EACH + e);
            extra[e] = l.from[e] - x + PAD_LEFT - lane * COPY;
            to[e] = (unsigned)__cvta_generic_to_shared(ring + l.to[e]);
        }
        flags = __shfl_sync(0xffffffff, bits, lane);
#pragma unroll 1
        for (int r = threadIdx.x; r < N; r += THREADS) {
            const int at = resolve(y + r, (int)f.n_y, f.edge);
            rows()[r] = at < 0 ? (int)NONE : (int)(at * f.in_y) + x - PAD_LEFT;
        }
        __syncthreads();
    }
    __device__ __forceinline__ void copy(int slot, const element *in) const {
        const unsigned plane = slot * (N * ROW * SIZE);
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#if IN >= T_U32 && IN != T_F16 && IN != T_BF16
#pragma unroll 1
        for (int r = warp; r < N; r += WARPS) {
            const int row = rows()[r];
            const element *from = in + row + lane * COPY;
            const unsigned at = plane + r * (ROW * SIZE);
            const int there = row == (int)NONE ? 0 : flags;
#pragma unroll
            for (int g = 0; g < EACH; g++)
                copy_element_if(there & 1 << g, own + at + g * 32 * SIZE, from + g * 32);
            if (there >> EACH) {
#pragma unroll
                for (int e = 0; e < EXTRA; e++)
                    if (there >> (EACH + e) & 1)
                        copy_element<SIZE>(to[e] + at, from + extra[e]);
            }
        }
#else
        unsigned word[MINE][EACH];
#pragma unroll
        for (int m = 0; m < MINE; m++) {
            const int r = m * WARPS + warp, row = rows()[r < N ? r : 0];
            const element *from = in + row + lane * COPY;
            if (r < N && row != (int)NONE) {
#pragma unroll
                for (int g = 0; g < EACH; g++)
                    if (flags >> g & 1)
                        copy_inside(word[m][g], 0, (const char *)(from + g * 32 * COPY));
            }
        }
#pragma unroll
        for (int m = 0; m < MINE; m++) {
            const int r = m * WARPS + warp, row = rows()[r < N ? r : 0];
            const element *from = in + row + lane * COPY;
            const unsigned at = plane + r * (ROW * SIZE);
            if (r < N && row != (int)NONE) {
#pragma unroll
                for (int g = 0; g < EACH; g++)
                    if (flags >> g & 1)
                        lay_word(own + at + g * 32 * COPY * SIZE, word[m][g]);
#pragma unroll
                for (int e = 0; e < EXTRA; e++)
                    if (flags >> (EACH + e) & 1)
                        copy_element<SIZE>(to[e] + at, from + extra[e]);
            }
        }
#endif
    }
};
#endif

// A thread's part in copying rows that follow each other, so many a turn. What does not change is made opaque by a shuffle: the compiler would else compute
// it again in every turn.
struct row_feed {
    const char *own_from, *extra[EXTRA]; // in the next row
    unsigned own, to[EXTRA];             // in shared memory, in the ring's first row
    int flags, y;                        // which copies lie inside, and from bit EACH on which of the others are elements
};

__device__ __forceinline__ row_feed start_feed(element *ring, const element *in, const frame &f, int y, int x) {
    const int along = threadIdx.x, lane = along % 32;
    const loose l = find_loose(f, x, along);
    const element *row = in + (i64)y * f.in_y;
    row_feed d;
    d.y = y;
    d.own_from = (const char *)(row + (x - PAD_LEFT)) + along * (COPY * SIZE);
    d.own = __shfl_sync(0xffffffff, (unsigned)__cvta_generic_to_shared(ring) + along * (COPY * SIZE), lane);
    int flags = 0;
#pragma unroll
    for (int g = 0; g < EACH; g++)
        flags |= l.inside[g] << g;
#pragma unroll
    for (int e = 0; e < EXTRA; e++) {
        flags |= (l.from[e] >= 0) << (EACH + e);
        d.extra[e] = (const char *)(row + l.from[e]);
        d.to[e] = __shfl_sync(0xffffffff, (unsigned)__cvta_generic_to_shared(ring + l.to[e]), lane);
    }
    d.flags = __shfl_sync(0xffffffff, flags, lane);
    return d;
}

// N rows of constants, where an edge is in reach: copies write over those that are elements, and leaves what no output needs.
template <int N> __device__ __forceinline__ void prepare_ring(element *ring, const frame &f, bool reached) {
    if (reached) {
#pragma unroll 1
        for (int at = threadIdx.x; at < N * ROW; at += THREADS)
            ring[at] = ghost_of(f);
        __syncthreads();
    }
}
__device__ __forceinline__ bool reaches_edge(const frame &f, int x) { return x < PAD_LEFT || x + TILE + PAD_RIGHT > (int)f.n_x; }

// The window of the thread's V columns in a row in shared memory.
__device__ __forceinline__ void read_window(work (&value)[RING_LEFT + V + RING_RIGHT], const element *row, int thread) {
    unsigned word[WINDOW * SIZE / 4];
    const element *from = row + PAD_LEFT + thread * V - NEAR_LEFT;
#pragma unroll
    for (int i = 0; i < WINDOW / READ; i++) {
        words<READ *SIZE> w = *(const words<READ * SIZE> *)(from + i * READ);
#pragma unroll
        for (int k = 0; k < READ * SIZE / 4; k++)
            word[i * (READ * SIZE / 4) + k] = w.word[k];
    }
#pragma unroll
    for (int i = 0; i < RING_LEFT + V + RING_RIGHT; i++)
        value[i] = cell(word, NEAR_LEFT - RING_LEFT + i);
}

// The next N rows, to the ring's rows from number `slot` on. Mostly all of them lie inside, and a block has no ghost cells: one test for each serves N rows.
template <int N> __device__ __forceinline__ void feed_rows(row_feed &d, element *ring, int slot, const element *in, const frame &f, int x) {
    const i64 step = f.in_y * SIZE;
    if (d.y >= 0 && d.y + N <= (int)f.n_y) {
        const char *from = d.own_from;
        const unsigned at = slot * (ROW * SIZE);
        unsigned word[N][EACH];
#pragma unroll
        for (int n = 0; n < N; n++) {
#pragma unroll
            for (int g = 0; g < EACH; g++)
                if (d.flags >> g & 1)
                    copy_inside(word[n][g], d.own + at + n * ROW * SIZE + g * ACROSS * COPY * SIZE, from + g * ACROSS * COPY * SIZE);
            from += step;
        }
        if (SPARE) {
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int g = 0; g < EACH; g++)
                    if (d.flags >> g & 1)
                        lay_word(d.own + at + (n * ROW + g * ACROSS * COPY) * SIZE, word[n][g]);
        }
        if (d.flags >> EACH) {
#pragma unroll
            for (int e = 0; e < EXTRA; e++) {
                const char *extra = d.extra[e];
#pragma unroll
                for (int n = 0; n < N; n++) {
                    if (d.flags >> (EACH + e) & 1)
                        copy_element<SIZE>(d.to[e] + at + n * ROW * SIZE, (const element *)extra);
                    extra += step;
                }
            }
        }
    } else {
        copy_anywhere<N>(ring + slot * ROW, in, true, f, d.y, x);
    }
    d.own_from += N * step;
#pragma unroll
    for (int e = 0; e < EXTRA; e++)
        d.extra[e] += N * step;
    d.y += N;
}

// Rows from y on, columns from x on, as a block that marches down meets them: N a turn, STAGES - 1 turns ahead.
template <int N> struct row_stream {
    row_feed feed;
    element *ring;
    int slot, next, ahead; // turns; those that are still to be asked for

    __device__ __forceinline__ void ask(int at, const element *in, const frame &f, int x) {
        if (ahead-- > 0)
            feed_rows<N>(feed, ring, at * N, in, f, x);
        end_copies();
    }
    __device__ __forceinline__ row_stream(element *memory, const element *in, const frame &f, int y, int x, int turns) {
        ring = memory;
        feed = start_feed(ring, in, f, y, x);
        prepare_ring<STAGES * N>(ring, f, reaches_edge(f, x));
        ahead = turns;
        slot = 0;
        next = STAGES - 1;
#pragma unroll 1
        for (int i = 0; i < STAGES - 1; i++)
            ask(i, in, f, x);
    }
    // The rows of the next turn.
    __device__ __forceinline__ const element *turn(const element *in, const frame &f, int x) {
        await_copies<STAGES - 2>();
        __syncthreads();
        ask(next, in, f, x);
        const element *rows = ring + slot * (N * ROW);
        slot = slot == STAGES - 1 ? 0 : slot + 1;
        next = next == STAGES - 1 ? 0 : next + 1;
        return rows;
    }
};

// A strip's results on their way out where rows begin anywhere: LINES rows of V columns a thread, FINISHED columns come out. A thread's neighbour has columns V
// elements on, so that a request of theirs would touch V times as many sectors as it fills. They pass through shared memory, and neighbours store neighbours.
template <int LINES, int FINISHED> struct spread {
    result *area; // the warp's

    __device__ __forceinline__ spread(void *memory) : area((result *)memory + threadIdx.x / 32 * (LINES * 32 * V)) {}
    // The rows from number `begin` to before `end` of them. All lanes meet here.
    __device__ __forceinline__ void store(char *strip, i64 step, int begin, int end, int x, int m, const work (&value)[LINES][V]) const {
        const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * (32 * V) + lane, columns = min(FINISHED, m - x);
        __syncwarp();
#pragma unroll
        for (int r = 0; r < LINES; r++) {
            const packed<V> v(value[r]);
            if (V * sizeof(result) % 4 == 0) {
                v.store(area + (r * 32 + lane) * V);
            } else {
#pragma unroll
                for (int i = 0; i < V; i++)
                    area[(r * 32 + lane) * V + i] = v.r[i];
            }
        }
        __syncwarp();
        result *to = (result *)strip + first;
#pragma unroll
        for (int r = 0; r < LINES; r++) {
            if (r >= begin && r < end) {
#pragma unroll
                for (int i = 0; i < V; i++)
                    if (first + i * 32 < columns)
                        to[i * 32] = area[r * 32 * V + i * 32 + lane];
            }
            to = (result *)((char *)to + step);
        }
    }
};

// SPDX-License-Identifier: Apache-2.0
// gpu_moments_tile.cuh - a tile of gpu_tree_moments.cu: what it is of, where it lies in memory, and how it comes to shared memory, at once or, for blocks that go from tile to tile, part by part.
#ifndef TESS_REDUCE_MOMENTS_TILE_CUH
#define TESS_REDUCE_MOMENTS_TILE_CUH
#include "ops/reduce/gpu_finish.cuh"
#include "ops/reduce/gpu_lanes.cuh"

enum {
    LEAF = 8192,
    SIZE = (int)sizeof(element),
    V = WORD / SIZE, // elements of a thread's load, neighbours of a row or of two
    POSITIONS = ROWS * ACROSS,
    OF_TILE = POSITIONS / V, // threads
    COLUMNS = AT_ONCE * ACROSS,
    LANES = ROWS * EACH,
    APART = EACH / HELD,
    ROUNDS = (TALL + LANES - 1) / LANES, // elements of a lane; of the last ones, behind SHARED rounds, a thread keeps its own in registers
    KEPT_WORDS = SHARED < ROUNDS ? (ROUNDS - SHARED) * EACH : 1,
    RAGGED = V > 1 && SHIFTED, // a tile may begin within a word
    UNROLLED = HELD * V < 8 ? 8 / (HELD * V) : 1,
    MET = ROWS < 8 ? ROWS : 8, // rows of a column that a thread brings together, and threads that do so
    MEET = ROWS / MET,
    APART_ROWS = ACROSS | 1, // doubles from row to row of what threads have, so that rows of a column lie in different banks
    OF_ROOM = ROWS * APART_ROWS
};

struct moments {
    i64 k, leaves, outputs;
    double ddof;
    i64 low, high; // bytes from the first element of `in` to where the array begins and ends
    i64 step;      // elements from row to row
    i64 first, here; // of a set's leaves the first one of this launch, and how many it has
    int width, units;                                 // outputs side by side, tiles in all
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first, the last of them that of the width
};

// What a tile is of.
struct tile {
    unsigned set;
    i64 leaf, at_in, at_out; // of the set's first column
    int column, across, rows;
    __device__ tile(const moments &p, unsigned unit) : leaf(0), at_in(0), at_out(0) {
        column = unit % STRIPS * ACROSS;
        unit /= STRIPS;
        across = p.width - column < ACROSS ? p.width - column : ACROSS;
        rows = TALL;
#if MANY
        leaf = p.first + unit % (unsigned)p.here;
        unit /= (unsigned)p.here;
        if (LAST < TALL && leaf == p.leaves - 1)
            rows = LAST;
#endif
        set = unit;
#pragma unroll
        for (int d = KEPT - 2; d >= 0; d--) {
            const unsigned at = d > 0 ? unit % (unsigned)p.shape[d] : unit;
            at_in += at * p.in[d];
            at_out += at * p.out[d];
            unit /= (unsigned)(d > 0 ? p.shape[d] : 1);
        }
    }
};

// Where a tile lies in memory: what is around it may come with it where that is the array's.
struct region {
    const char *from, *low, *high; // the first element; where the array begins and ends
    i64 step;                      // bytes from row to row
    int rows, all, bytes;          // of them those that are copied, all; bytes of a row
    bool inside;                   // whatever comes with it is the array's
    __device__ region(const element *in, const moments &p, const tile &t)
        : from((const char *)(in + t.at_in + t.leaf * LEAF * p.step + t.column)), low((const char *)in + p.low), high((const char *)in + p.high),
          step(RUN ? PITCH : p.step * SIZE), rows(SHARED < ROUNDS && t.rows > SHARED * LANES ? SHARED * LANES : t.rows), all(t.rows), bytes(t.across * SIZE) {
        const i64 last = (all - 1) * step, lowest = last < 0 ? last : 0, highest = last < 0 ? 0 : last;
        inside = from + lowest - low >= VECTOR - 1 && high - from - highest - bytes >= VECTOR - 1;
    }
    // Thread t's share: use(where VECTOR bytes go, where they lie, where those that are wanted begin and end).
    template <int UNROLL, typename F> __device__ __forceinline__ void for_copies(char *to, int t, const F &use) const {
#if RUN
        const int before = SHIFTED ? (int)((u64)from % VECTOR) : 0, end = before + rows * PITCH;
        const char *at = from - before + t * VECTOR;
        to += t * VECTOR - before;
#pragma unroll UNROLL
        for (int i = t * VECTOR; i < end; i += OF_TILE * VECTOR, at += OF_TILE * VECTOR, to += OF_TILE * VECTOR)
            use(to, at, from, from - before + end);
#else
        enum { COPIES = SHIFTED ? (ACROSS * SIZE + VECTOR - 2) / VECTOR + 1 : ACROSS * SIZE / VECTOR, ROWS_AT_ONCE = OF_TILE / COPIES };
        static_assert(ROWS_AT_ONCE > 0, "as many threads as a row has copies");
        const int first = t / COPIES, in_row = t % COPIES * VECTOR;
        const char *row = from + first * step;
        to += first * PITCH + in_row;
        if (first < ROWS_AT_ONCE)
#pragma unroll UNROLL
            for (int r = first; r < rows; r += ROWS_AT_ONCE, row += ROWS_AT_ONCE * step, to += ROWS_AT_ONCE * PITCH) {
                const int before = SHIFTED ? (int)((u64)row % VECTOR) : 0;
                if (in_row < before + bytes)
                    use(to - before, row + (in_row - before), row, row + bytes);
            }
#endif
    }
    // What a thread keeps, from its row and column on: the last rounds.
    template <typename WORD_TYPE> __device__ __forceinline__ void keep(WORD_TYPE *kept, int row, int column) const {
        const char *at = from + (SHARED * LANES + row) * step + column * SIZE;
#pragma unroll
        for (int i = 0; i < KEPT_WORDS; i++)
            if (row + SHARED * LANES + i * ROWS < all)
                load_now(*(words<sizeof(WORD_TYPE)> *)&kept[i], at + i * ROWS * step);
    }
    // `to` is where the first element goes, as far from a multiple of VECTOR as it lies in memory.
    __device__ __forceinline__ void bring(char *to, int t) const {
        if (!SHIFTED || inside)
            for_copies<4>(to, t, [](char *to, const char *at, const char *, const char *) { copy<VECTOR>(to, at); });
        else
            for_copies<1>(to, t, [&](char *to, const char *at, const char *begin, const char *end) {
                if (at >= low && at + VECTOR <= high)
                    copy<VECTOR>(to, at);
                else
#pragma unroll 1
                    for (int i = 0; i < VECTOR; i += SIZE)
                        *(element *)(to + i) = at + i >= begin && at + i < end ? *(const element *)(at + i) : 0;
            });
    }
};

#if WALK
// Tiles that fill a multiprocessor: a block goes from one to another, and what comes has the place of what was taken for good. Shared memory is a ring of -DRING parts of -DIN_PART rounds. The first STAY parts of a tile
// go on to registers in the first look, so that those come that the ring had no room for, and one of the next tile. A warp copies the rows that it takes by vectors of 16 bytes, or a thread its words (-DVECTOR=WORD), so it
// waits for no other one, and memory rests at no time. What would lie behind a narrow tile's columns is its last one once more.
enum {
    OWN = VECTOR == WORD,
    COPIES = ACROSS * SIZE / VECTOR, // of a row
    WARP_ROWS = OWN ? 1 : 32 * V / ACROSS,
    TURNS_AT_ONCE = OWN ? 1 : 32 / (WARP_ROWS * COPIES), // turns of ROWS rows that a warp's copy is of
    PART = IN_PART * EACH,                     // turns
    PARTS = (ROUNDS + IN_PART - 1) / IN_PART,
    PART_ROWS = PART * ROWS,
    PART_BYTES = PART_ROWS * PITCH,
    STAY = PARTS - RING + 1
};
static_assert(LAST == TALL && AT_ONCE == 1 && (OWN || VECTOR == 16) && HELD == EACH && !SHIFTED && !RUN && RING <= PARTS && STAY < PARTS && PART % TURNS_AT_ONCE == 0, "one tile, all lanes of a thread at once");

// The place of the next part.
__device__ __forceinline__ int next_part(int at) { return at + PART_BYTES < RING * PART_BYTES ? at + PART_BYTES : at + PART_BYTES - RING * PART_BYTES; }

// A warp's copies, part by part, of one tile after another.
struct stream {
    const char *from;
    i64 on;
    int row, to, left; // the thread's row of a turn; in the ring; rows of the tile that are to come
    int in_row; // bytes
    __device__ stream() {
        const int lane = threadIdx.x % 32;
        row = OWN ? threadIdx.x * V / ACROSS : threadIdx.x / 32 * WARP_ROWS + lane / COPIES % WARP_ROWS + lane / (COPIES * WARP_ROWS) * ROWS;
        in_row = (OWN ? threadIdx.x : lane) % COPIES * VECTOR;
        to = row * PITCH + in_row;
    }
    // more: whether there is a tile at all.
    __device__ __forceinline__ void go_on(const region &r, bool more) {
        from = r.from + row * r.step + (in_row + VECTOR <= r.bytes ? in_row : r.bytes - VECTOR);
        on = TURNS_AT_ONCE * ROWS * r.step;
        left = more ? TALL : 0;
    }
    __device__ __forceinline__ void bring(char *ring) {
#pragma unroll
        for (int i = 0; i < PART; i += TURNS_AT_ONCE) {
            if (row + i * ROWS < left)
                copy_of_line(ring + to + i * ROWS * PITCH, from);
            from += on;
        }
        left -= PART_ROWS;
        to = next_part(to);
        end_part();
    }
    static __device__ __forceinline__ void end_part() { asm volatile("cp.async.commit_group;" ::: "memory"); }
    // VECTOR bytes of a row, whose neighbours other blocks want at about the same time.
    static __device__ __forceinline__ void copy_of_line(char *to, const char *from) {
        if (OWN)
            asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "n"(VECTOR) : "memory");
        else
            asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
    }
    // The part that is next in the ring is there: since it was asked for, RING - 1 others were ended at least, if with nothing in them.
    static __device__ __forceinline__ void await() {
        asm volatile("cp.async.wait_group %0;" ::"n"(RING - 1) : "memory");
        __syncwarp();
    }
};
#endif
#endif

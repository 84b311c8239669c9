// SPDX-License-Identifier: Apache-2.0
// gpu_patch_list_odd.cu - production: patch_list over rows that begin anywhere.
//
// Rows come to shared memory as they lie in memory, by whole vectors, and stand there as far from each other as in memory, modulo a vector: all lanes of a warp find a row
// equally far behind a word, and read a word more than they want, from which their columns are moved down by bytes. Results are moved up between lanes, as in
// gpu_shifted_rows.cuh, so that whole vectors are stored.
//
// A lane's outputs begin NEAR behind its columns, as far as the lanes behind still hold their windows: of what a warp's ends lack, outputs that are moved away are a part.
// Over pixels windows reach further: of long masks a warp lays finished rows down (gpu_laid_rows.cuh); results are moved up between lanes all the same.
//
// With a constant beyond a row's ends nothing is laid there: what a column gives that is no element is the constant once rows meet it. By other rules the elements beside rows
// are laid down one by one, as are those of rows beyond the array.
//
// The loop over rows has a short text: of 64 KB, as roll() makes it here, a multiprocessor keeps too little near.
//
// -DKY; -DV, -DR columns and rows of outputs a thread, R even; -DWX, -DWY warps of a block along x and y; -DSHORT=1: fewer rows of outputs than a block has;
// -DNEAR; -DREAD bytes that a lane reads at once; -DLAID=1: windows by way of shared memory, else between lanes; -DTRIMMED=1: the last rows are met by a
// part of the mask.
#include "ops/correlate/gpu_copies.cuh"

#include "ops/correlate/gpu_bytes.cuh"
#include "ops/correlate/gpu_laid_rows.cuh"
#include "ops/correlate/gpu_pushed_rows.cuh"

__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }
__host__ __device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }

enum {
    WARPS = WX * WY,
    THREADS = 32 * WARPS,
    VECTOR = 16 / SIZE, // elements
    OUT_SIZE = sizeof(result),
    OUT_VECTOR = smaller(V * OUT_SIZE, 16),             // bytes
    FIRST = (larger(1, LEFT - NEAR) + 2 * (V - 1)) / V, // a warp's lanes that write, from number FIRST
    END = 32 - (larger(1, RIGHT + NEAR) + V - 1) / V,   // to below number END
    OWN = (END - FIRST) * V,
    WIDE = WX * OWN,
    LEAD = up_to(FIRST * V + NEAR, V),     // so far before a block's outputs its lanes' columns begin
    PART = 2 * V * OUT_SIZE,               // bytes of what one row of a warp has at either end
    SPAN = WIDE - OWN + 32 * V,            // columns of a block's lanes
    ACROSS = (SPAN * SIZE + 15 + 15) / 16, // vectors of a row
    ROWS = WY * R + KY - 1,
    AT_ONCE = THREADS / ACROSS, // rows
    TIMES = (ROWS + AT_ONCE - 1) / AT_ONCE,
    FEWER = !TRIMMED  ? 0
            : KY >= 6 ? 4
                      : 2,                           // rows of outputs
    ROOM = up_to(ROWS * (ACROSS * 16 + 15) + 16, 16) // bytes; behind them parts, and of pixels laid rows
};
static_assert(R % 2 == 0 && REACH <= (GROUP > 1 ? 2 : 1) * V && V * SIZE >= 4 && V * SIZE <= 16 && V * OUT_SIZE >= 4,
              "whole turns, windows of three lanes or of five, whole words");
static_assert(AT_ONCE > 0, "threads for a row at least");

// Elements that come one by one: rows beyond the array and what stands beside rows, but for constants; and those that share a vector with what is not the array's.
__device__ __forceinline__ void bring_loose(char *room, unsigned pitch, const element *in, const frame &f, int first, int top, const char *low,
                                            const char *high) {
    const int n_x = (int)f.n_x, n_y = (int)f.n_y, lane = threadIdx.x % 32, beside = LEFT + RIGHT + max(0, (int)f.m_x - n_x);
    const bool constant = f.edge.least < 0;
#pragma unroll 1
    for (int r = threadIdx.x / 32; r < ROWS; r += WARPS) {
        const int y = resolve(top + r, n_y, f.edge), at = lane < VECTOR ? lane : n_x - 2 * VECTOR + lane;
        const element *row = in + (i64)y * f.in_y;
        element *own = (element *)(room + r * pitch);
        if (!outside(top + r, n_y)) {
            const char *vector = (const char *)(row + at) - behind<16>(row + at);
            if (lane < 2 * VECTOR && !outside(at, n_x) && at >= first && at < first + SPAN && (vector < low || vector + 16 > high))
                own[at - first] = row[at];
        } else if (!constant) {
#pragma unroll 4
            for (int i = lane; i < SPAN; i += 32)
                own[i] = row[resolve_x(first + i, n_x, f.edge)];
        }
    }
    if (constant || (first >= 0 && first + SPAN <= n_x))
        return;
#pragma unroll 4
    for (int number = threadIdx.x; number < ROWS * beside; number += THREADS) {
        const int r = number / beside, e = number - r * beside, x = e < LEFT ? e - LEFT : n_x + e - LEFT;
        if (x >= first && x < first + SPAN && !outside(top + r, n_y))
            ((element *)(room + r * pitch))[x - first] = in[(i64)(top + r) * f.in_y + resolve_x(x, n_x, f.edge)];
    }
}

// The rows of a block, all loads first (INSIDE: all of them are there, and whole vectors on either side). `room` is where the first one's first column belongs.
template <bool INSIDE>
__device__ __forceinline__ void bring(char *room, unsigned at, unsigned pitch, const element *in, const frame &f, int first, int top) {
    const int n_x = (int)f.n_x, n_y = (int)f.n_y, begin = threadIdx.x / ACROSS, across = (threadIdx.x - begin * ACROSS) * 16;
    const i64 step = f.in_y * SIZE;
    const element *last = in + (i64)(n_y - 1) * f.in_y;
    const char *from = (const char *)(in + (i64)top * f.in_y + first) + begin * step, *low = (const char *)(f.in_y < 0 ? last : in),
               *high = (const char *)(f.in_y < 0 ? in : last) + (i64)n_x * SIZE;
    const bool mine = THREADS % ACROSS == 0 || begin < AT_ONCE;
    bool loose = false; // a row's vector holds what is not the array's
    words<16> v[TIMES];
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
        const char *vector = from - behind<16>(from) + across;
        if (mine && ((i + 1) * AT_ONCE <= ROWS || begin + i * AT_ONCE < ROWS)) {
            const bool there = INSIDE || !outside(top + begin + i * AT_ONCE, n_y), whole = INSIDE || (vector >= low && vector + 16 <= high);
            loose = loose || (there && !whole);
            if (there && whole) {
                load_now(v[i], vector);
            } else {
#pragma unroll
                for (int e = 0; e < VECTOR; e++)
                    put(v[i].word, e, ghost_of(f));
            }
        }
        from += AT_ONCE * step;
    }
    unsigned to = at + begin * pitch;
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
        if (mine && ((i + 1) * AT_ONCE <= ROWS || begin + i * AT_ONCE < ROWS))
            *(uint4 *)(room + (to & -16) + across) = make_uint4(v[i].word[0], v[i].word[1], v[i].word[2], v[i].word[3]);
        to += AT_ONCE * pitch;
    }
    if (!INSIDE && (__syncthreads_or(loose) || f.edge.least >= 0))
        bring_loose(room + at, pitch, in, f, first, top, low, high);
}

// Rows of outputs one after the other, as far as there are. A warp that meets no end of a row has one test for each of two. Of vectors that pass an end what lies before it is
// stored later (store_parts): here it would be a long text, seldom wanted.
struct lines {
    char *to; // of the lane's first output
    char *part;
    int x, left, there; // the column of that; rows; columns of the lane that are elements
    unsigned writes;
    bool ghosts, clipped;
    work ghost;
    const frame &f;
    const tap_list<KX> &taps; // along x
    laid_row own;             // LAID
    __device__ __forceinline__ void put(work (&row)[V]) {
        const int COUNT = V * OUT_SIZE / 4, MORE = words_beside(OUT_VECTOR, OUT_SIZE);
        if (ghosts) {
#pragma unroll
            for (int i = 0; i < V; i++)
                row[i] = i < there ? row[i] : ghost;
        }
        work window[LEFT + V + RIGHT], done[V];
#if LAID
        own.share(window, row);
#else
#pragma unroll
        for (int i = 0; i < LEFT + V + RIGHT; i++)
            window[i] = beside(row, NEAR + i - LEFT);
#endif
        add_window(done, window, taps);
        packed<V> v(done);
        unsigned word[MORE + COUNT];
#pragma unroll
        for (int i = 0; i < MORE; i++)
            word[i] = __shfl_up_sync(0xffffffff, v.word[COUNT - MORE + i], 1);
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            word[MORE + i] = v.word[i];
        move_up<COUNT, OUT_VECTOR, OUT_SIZE>(v.word, word, (unsigned)(u64)to);
        bool whole = writes && (!SHORT || left > 0);
        if (clipped) {
            const int first = x - (int)behind<OUT_VECTOR>(to) / OUT_SIZE;
            const bool passes = first < 0 || first + V > (int)f.m_x;
            if (whole && passes && first > -V && first < (int)f.m_x)
                v.store(part + (first < 0 ? 0 : V * OUT_SIZE));
            part += PART;
            whole = whole && !passes;
        }
        v.store_if(whole, (char *)((u64)to & -(u64)OUT_VECTOR));
        to += f.out_y * (i64)sizeof(result);
        asm volatile("" : "+l"(to)); // else a sum of its own is made for each row of a turn
        if (SHORT)
            left--;
    }
};

// What is left of a warp's rows: vectors that pass the left end or the right one. x: of its first lane's first output.
__device__ __forceinline__ void store_parts(result *out, const frame &f, const char *part, int x, int row, bool right) {
    const int m = (int)f.m_x, rows = min(R, (int)f.m_y - row);
#pragma unroll 1
    for (int number = threadIdx.x % 32; number < rows * V; number += 32) {
        const int o = number / V, i = number % V;
        result *to = out + (i64)(row + o) * f.out_y;
        const int begin = x - (int)behind<OUT_VECTOR>(to + x) / OUT_SIZE, first = right ? m - ((m - begin) & (V - 1)) : (begin & (V - 1)) - V,
                  lane = (first - begin) / V;
        if (first + i >= 0 && first + i < m && (!right || first >= 0) && lane >= FIRST && lane < END)
            to[first + i] = *(const result *)(part + o * PART + (right * V + i) * OUT_SIZE);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    patch_list_odd(const element *in, result *out, const frame f, const tap_list<KX> along_x, const tap_list<KY> along_y) {
    extern __shared__ uint4 memory[];
    char *room = (char *)memory;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = block_place().x * WIDE - LEAD;
    const int y = SHORT ? 0 : min((int)block_place().y * (WY * R), (int)f.m_y - WY * R), top = y - f.before_y; // no block is left incomplete
    find_array(f, block_place().z, in, out);
    unsigned at = behind<16>(in + (i64)top * f.in_y + first);
    const unsigned pitch = ACROSS * 16 + ((unsigned)f.in_y * SIZE & 15); // of rows in shared memory
    if (top >= 0 && top + ROWS <= (int)f.n_y && first - (VECTOR - 1) >= 0 && first + ACROSS * VECTOR <= (int)f.n_x)
        bring<true>(room, at, pitch, in, f, first, top);
    else
        bring<false>(room, at, pitch, in, f, first, top);
    __syncthreads();
    const int side = warp % WX * OWN, own = first + side + lane * V, x = own + NEAR, row = y + warp / WX * R, left = (int)f.m_y - row;
    unsigned writes = lane >= FIRST && lane < END && x - (V - 1) < (int)f.m_x;
    if (__all_sync(0xffffffff, left <= 0 || !writes))
        return;
    if (GROUP > 1)
        asm volatile("" : "+r"(writes)); // else it is found anew for each row
    const int there = own < 0 ? 0 : (int)f.n_x - own;
    const bool ghosts = __any_sync(0xffffffff, f.edge.least < 0 && there < V),
               clipped = __any_sync(0xffffffff, x - (V - 1) < 0 || x + V > (int)f.m_x);
    char *part = room + ROOM + warp * (R * PART);
    laid_row place = {};
    if (LAID) {
        const unsigned begin = (ROOM + WARPS * R * PART) / 16 + warp * LAID_ROOM;
        unsigned mine = begin + LAPS + lane;
        asm volatile("" : "+r"(mine)); // likewise
        lay_ends(lane, memory + begin);
        place = places_at(memory + mine);
    }
    lines to{(char *)(out + (i64)row * f.out_y + x), part, x,       left, there, writes, ghosts, clipped,
             load_as<work, IN>(ghost_of(f)),         f,    along_x, place};
    work sum[KY][V], value[V];
    at += (unsigned)(side + lane * V) * SIZE + warp / WX * R * pitch;
    first_rows<0>(sum, room, at, pitch, along_y);
    // The last rows, too, are met by all of the mask, which makes sums of no output: a longer text is waited for. Over pixels the last FEWER are met by its later rows only. Two rows a turn:
    // in one of a single row sums have to be moved.
#pragma unroll 2
    for (int i = 0; i < R - FEWER; i++) {
        read_row(value, room, at);
        push<KY - 1>(sum, value, along_y);
        to.put(sum[KY - 1]);
        at += pitch;
    }
#pragma unroll 1
    for (int i = 0; i < FEWER; i += 2) {
        read_row(value, room, at);
        push<KY - 1, larger(0, KY - FEWER)>(sum, value, along_y);
        to.put(sum[KY - 1]);
        at += pitch;
        read_row(value, room, at);
        push<KY - 1, larger(0, KY - FEWER + 1)>(sum, value, along_y);
        to.put(sum[KY - 1]);
        at += pitch;
    }
    if (!clipped)
        return;
    __syncwarp();
    const int begin = first + side + NEAR;
    if (begin + FIRST * V - (V - 1) < 0)
        store_parts(out, f, part, begin, row, false);
    if (begin + END * V > (int)f.m_x)
        store_parts(out, f, part, begin, row, true);
}

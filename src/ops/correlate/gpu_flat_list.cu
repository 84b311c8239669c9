// SPDX-License-Identifier: Apache-2.0
// gpu_flat_list.cu - production: a list of two short 1-D masks over bytes and halves, along columns and then along rows, of images of any width without gaps: the lanes of a block are a row.
//
// In patches of such images (gpu_patch_list_odd.cu) lanes lie beyond rows' ends, and every warp meets both of these. Here as many columns a lane are taken as make of a whole row one
// warp, so that no columns are computed twice and none is shared with a neighbour warp. A row needs no lanes beyond its ends: the columns that the last lane has too many and those
// beside the first one are the constant, or by other rules columns of the same row, whose sums a lane of the warp holds. Which one is known when the kernel is compiled.
//
// Longer rows are several warps, whose first and last lanes write nothing: they hold what stands beside the others. Of shorter ones, bands of rows stand side by side in a warp.
//
// An image without gaps is one run of memory, as in gpu_flat.cu: the rows that a block needs come to shared memory as they lie, in vectors, and are moved down by bytes when they
// are read. Results are put down in words where rows have been read, as they will lie in the output, and go out as one run of whole vectors: KY >= 2, and results are no wider than
// elements, so they never catch up with what is still to be read, if the warps of a block meet every few rows. What the last lane of a single warp has too many lies where the next
// row's results come later.
//
// -DROW columns; -DBOUNDARY; -DKY; -DV columns a lane, -DR rows of outputs a block, even, at most as many as there are; -DWX warps of a block, -DWY=1; -DREAD; -DBLOCKS.
#include "ops/correlate/gpu_copies.cuh"

#include "ops/correlate/gpu_boundary.cuh"
#include "ops/correlate/gpu_bytes.cuh"
#include "ops/correlate/gpu_pushed_rows.cuh"

enum {
    VECTOR = 16 / SIZE, // elements
    SECTOR = 32,        // bytes: a copy whose ends lie in different halves of theirs is fetched by itself
    OUT_SIZE = sizeof(result),
    THREADS = 32 * WX,
    RING = WX == 1,
    LANES = (ROW + V - 1) / V,
    OWN = RING ? 32 : 30,          // lanes of a warp that write
    BANDS = RING ? 32 / LANES : 1, // of R rows of outputs
    OVER = LANES * V - ROW,        // columns of the last lane that are no elements
    ROWS = R + KY - 1,
    PITCH = ROW * SIZE,                                 // bytes
    ROOM = up_to(48 + (ROWS * ROW + V) * SIZE, SECTOR), // of a band
    GRAIN = RING && V * OUT_SIZE >= 32 ? 8 : 4,         // bytes that a lane puts down at a time: of lanes 32 bytes apart more meet in banks
    MORE = GRAIN / 4,                                   // words that it may share
    TOGETHER = KY >= 5 ? 4 : KY >= 3 ? 2 : 1            // rows from one meeting of a block's warps to the next, below KY
};
static_assert(LANES <= OWN * WX && WY == 1 && KY >= 2 && R % 2 == 0 && OUT_SIZE <= SIZE && LEFT <= V && RIGHT <= V && V % 4 == 0,
              "a row is a block, whole turns and words");
static_assert(RING || (BOUNDARY != BOUNDARY_WRAP && LEFT + 4 / OUT_SIZE - 1 <= V), "a warp's first lane has results enough for a word");

// Where a lane stands: in which band, how many before it in a row; whether it is a row's first or last one; whether its results are its own.
struct place {
    int band, number;
    bool first, last, writes, inside; // the last one: its warp has no end of a row
};
// Warps that have an end do more: of blocks that a multiprocessor has at a time different ones, so that its schedulers share that.
__device__ __forceinline__ place place_of() {
    const int warp = (threadIdx.x / 32 + block_place().y + block_place().z) % WX, band = RING ? min((int)threadIdx.x / LANES, BANDS - 1) : 0,
              number = RING ? threadIdx.x - band * LANES : warp * OWN + threadIdx.x % 32 - 1;
    const bool own = RING || (threadIdx.x % 32 > 0 && threadIdx.x % 32 < 31);
    const bool inside = !__any_sync(0xffffffff, number == 0 || number == LANES - 1);
    return {band, min(max(number, 0), LANES - 1), number == 0, number == LANES - 1, (RING && LANES * BANDS == 32) || (own && number < LANES), inside};
}
// Lanes of a row that is a warp or less are a ring.
__device__ __forceinline__ int left_of(const place &p) { return p.first ? threadIdx.x + LANES - 1 : threadIdx.x - 1; }
__device__ __forceinline__ int right_of(const place &p) { return p.last ? threadIdx.x - (LANES - 1) : threadIdx.x + 1; }

__device__ __forceinline__ void meet() {
    if (RING)
        __syncwarp();
    else
        __syncthreads();
}

// Rows beyond the image: all but those from `low` to before `high`; `own` is row number `top`.
__device__ __forceinline__ void bring_beyond(element *own, const element *in, const frame &f, int top, int low, int high) {
    const int EACH = (ROW + THREADS - 1) / THREADS, lane = threadIdx.x;
#pragma unroll 1
    for (int r = low > 0 ? 0 : high; r < ROWS; r = r + 1 == low ? high : r + 1) {
        const element *from = in + (BOUNDARY == BOUNDARY_CONSTANT ? 0 : resolve(top + r, (int)f.n_y, f.edge) * ROW);
        element e[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            e[i] = BOUNDARY == BOUNDARY_CONSTANT ? ghost_of(f) : from[min(lane + THREADS * i, ROW - 1)];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (lane + THREADS * i < ROW)
                own[r * ROW + lane + THREADS * i] = e[i];
    }
}

// The rows from `top` on, of which those from `low` to before `high` are there; `room` is where the first one belongs.
__device__ __forceinline__ void bring(char *room, const element *in, const frame &f, int top, int low, int high) {
    const int lane = threadIdx.x, begin = low * ROW, end = high * ROW;
    const element *run = in + (i64)top * ROW;
    const int away = (int)behind<16>(run) / SIZE, from = up_to(begin + away, VECTOR) - away, to = (end + away) / VECTOR * VECTOR - away;
    element *own = (element *)room;
    const unsigned at = (unsigned)__cvta_generic_to_shared(own);
#pragma unroll 8
    for (int i = from + lane * VECTOR; i < to; i += THREADS * VECTOR)
        copy_vector(at + i * SIZE, run + i);
    end_copies();
    // What shares the first vector or the last one with other elements; rows beyond the image; and what is read beside the run for no output.
    if (lane < VECTOR) {
        if (lane < away)
            own[-1 - lane] = ghost_of(f);
        if (begin + lane < from)
            own[begin + lane] = run[begin + lane];
        if (to + lane < end)
            own[to + lane] = run[to + lane];
    }
    bring_beyond(own, in, f, top, low, high);
#pragma unroll
    for (int i = lane; i < V + READ / SIZE; i += THREADS)
        own[ROWS * ROW + i] = ghost_of(f);
}

// The column sum in place of number `beyond` of those beyond the row's end, for its last lane, by rules that turn back: of its own or of the lane before.
__device__ __forceinline__ work behind_end(const work (&window)[LEFT + V + RIGHT], const work (&row)[V], int beyond) {
    const int column = V - OVER - 1 - turned_back(BOUNDARY, beyond); // from the lane's first one
    return column >= -LEFT ? window[column >= -LEFT ? LEFT + column : 0] : __shfl_up_sync(0xffffffff, row[column < 0 ? V + column : 0], 1);
}

// The column sums that a lane's outputs meet. In a ring the last lane stands before the first, which by `wrap` is the rule.
__device__ __forceinline__ void gather(work (&window)[LEFT + V + RIGHT], work (&row)[V], work ghost, const place &p) {
    const bool constant = BOUNDARY == BOUNDARY_CONSTANT, wrap = BOUNDARY == BOUNDARY_WRAP;
    const int left = left_of(p), right = right_of(p), begin = BANDS > 1 ? p.band * LANES : 0; // lanes
    const bool first = p.first, last = p.last;
#pragma unroll
    for (int i = V - OVER; i < V && constant; i++)
        row[i] = last ? ghost : row[i];
#pragma unroll
    for (int i = 0; i < LEFT; i++) { // columns from the lane's left
        const int by = LEFT - i, end = V - OVER - by;
        const work given = wrap && end >= 0 && last ? row[end < 0 ? 0 : end] : row[V - by < 0 ? 0 : V - by];
        window[i] = RING ? __shfl_sync(0xffffffff, given, left) : __shfl_up_sync(0xffffffff, given, 1);
        if (wrap && end < 0) {
            const work far = __shfl_sync(0xffffffff, row[end < 0 ? V + end : 0], begin + LANES - 2);
            window[i] = first ? far : window[i];
        }
        if (constant && (by > OVER || !RING) && first)
            window[i] = ghost;
    }
#pragma unroll
    for (int i = 0; i < V; i++)
        window[LEFT + i] = row[i];
#pragma unroll
    for (int i = 0; i < OVER && i < RIGHT && !constant; i++) { // what the last lane has too many
        const work beyond = wrap ? __shfl_sync(0xffffffff, row[i < V ? i : 0], begin) : behind_end(window, row, i);
        row[V - OVER + i] = window[LEFT + V - OVER + i] = last ? beyond : row[V - OVER + i];
    }
#pragma unroll
    for (int i = 0; i < RIGHT; i++) {
        const bool meets = i < RIGHT - OVER; // of the last lane, others meet no output
        const work given = wrap && meets && first ? row[meets ? OVER + i : 0] : row[i < V ? i : 0];
        window[LEFT + V + i] =
            wrap || (OVER == 0 && RING) ? __shfl_sync(0xffffffff, given, right) : __shfl_down_sync(0xffffffff, given, 1); // as takes fewest instructions
        if (!wrap && meets) {
            const work beyond = constant ? ghost : behind_end(window, row, OVER + i);
            window[LEFT + V + i] = last ? beyond : window[LEFT + V + i];
        }
    }
#pragma unroll
    for (int i = 0; i < LEFT && !constant && !wrap; i++) { // before the first column
        const int column = turned_back(BOUNDARY, LEFT - 1 - i);
        const work beyond =
            column < V + RIGHT ? window[column < V + RIGHT ? LEFT + column : 0] : __shfl_down_sync(0xffffffff, row[column < V ? 0 : column - V], 1);
        window[i] = first ? beyond : window[i];
    }
}

// Words to shared memory, as far as there are, without a branch, for whose sake the compiler would move sums.
__device__ __forceinline__ void put_word(unsigned at, unsigned word, bool there) {
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u32 [%0], %1;}" ::"r"(at), "r"(word), "r"((unsigned)there) : "memory");
}
__device__ __forceinline__ void put_result(unsigned at, unsigned bits, bool there) {
    if (OUT_SIZE == 1)
        asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u8 [%0], %1;}" ::"r"(at), "r"(bits), "r"((unsigned)there) : "memory");
    else
        asm volatile("{.reg .pred p; .reg .b16 h; setp.ne.u32 p, %2, 0; cvt.u16.u32 h, %1; @p st.shared.u16 [%0], h;}" ::"r"(at), "r"(bits),
                     "r"((unsigned)there)
                     : "memory");
}

// COUNT words of results to where byte `to` lies, whole grains, MORE words before them.
template <int COUNT> __device__ __forceinline__ void put_grains(char *room, unsigned to, unsigned (&word)[MORE + COUNT], bool there) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(room) + (to & -(unsigned)GRAIN);
    unsigned v[COUNT];
    move_up<COUNT, GRAIN, OUT_SIZE>(v, word, to);
#pragma unroll
    for (int i = 0; i < COUNT; i += MORE)
        if (GRAIN == 4)
            put_word(at + 4 * i, v[i], there);
        else
            asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p st.shared.v2.u32 [%0], {%1, %2};}" ::"r"(at + 4 * i), "r"(v[i]),
                         "r"(v[i + MORE - 1]), "r"((unsigned)there)
                         : "memory");
}

// The same of a warp that has an end of a row, which is a part of several warps. A word that two rows share goes result by result, since neither row's warp knows what the other
// one has.
template <int COUNT> __device__ __forceinline__ void put_end(char *room, unsigned to, unsigned (&word)[MORE + COUNT], const place &p) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(room) + (to & -4);
    const int MINE = (V - OVER) * OUT_SIZE, away = to % 4, end = p.last ? MINE + away : 4 * COUNT; // bytes from `at` on
    unsigned v[COUNT + 1];
#pragma unroll
    for (int i = 0; i <= COUNT; i++)
        v[i] = __funnelshift_l(word[i], i < COUNT ? word[i < COUNT ? i + 1 : 0] : 0, away * 8);
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        put_word(at + 4 * i, v[i], p.writes && 4 * i + 4 <= end && (i > 0 || !p.first || away == 0));
    const unsigned shared = p.first ? v[0] : MINE % 4 + away >= 4 ? v[MINE / 4 < COUNT ? MINE / 4 + 1 : COUNT] : v[MINE / 4],
                   begins = at + (p.first ? 0 : end / 4 * 4);
    const int low = p.first ? away : 0, high = p.last ? end % 4 : p.first && away > 0 ? 4 : 0;
#pragma unroll
    for (int i = 0; i < 4; i += OUT_SIZE)
        put_result(begins + i, shared >> 8 * i, i >= low && i < high);
}

// A finished row of column sums, along the row, to shared memory in whole grains: lanes that put bytes meet in banks. `to` is where the lane's results belong, and a grain that two
// lanes share is the second one's. Lanes are a ring here, too: what the row leaves of its last grain is its `tail`, which the first lane puts before the next row.
__device__ __forceinline__ void put_row(work (&row)[V], char *room, unsigned to, unsigned (&tail)[MORE], work ghost, const place &p,
                                        const tap_list<KX> &taps) {
    const int COUNT = V * OUT_SIZE / 4, END = (V - OVER) * OUT_SIZE / 4, REST = (V - OVER) * OUT_SIZE % 4; // the last lane's results, words and bytes
    work window[LEFT + V + RIGHT], done[V];
    unsigned word[MORE + COUNT];
    gather(window, row, ghost, p);
    add_window(done, window, taps);
#pragma unroll
    for (int i = 0; i < V; i += 4) {
        const work four[4] = {done[i], done[i + 1], done[i + 2], done[i + 3]};
        const packed<4> v(four);
#pragma unroll
        for (int j = 0; j < OUT_SIZE; j++)
            word[MORE + i / 4 * OUT_SIZE + j] = v.word[j];
    }
    if (RING) {
#pragma unroll
        for (int i = 0; i < MORE; i++)
            word[i] = __shfl_sync(0xffffffff, p.last ? tail[i] : word[COUNT + i], left_of(p));
#pragma unroll
        for (int i = 0; i < MORE; i++)
            tail[i] = REST ? __funnelshift_r(word[END + i], word[REST ? END + i + 1 : 0], REST * 8) : word[END + i];
    } else {
        word[0] = __shfl_up_sync(0xffffffff, word[COUNT], 1);
    }
    if (RING || p.inside)
        put_grains<COUNT>(room, to, word, p.writes);
    else
        put_end<COUNT>(room, to, word, p);
}

// The block's results, from shared memory, where they lie as in the output.
__device__ __forceinline__ void send(result *out, const char *room) {
    const int COUNT = R * ROW, LONG = 16 / OUT_SIZE, lane = threadIdx.x;
    const int away = (int)behind<16>(out) / OUT_SIZE, from = up_to(away, LONG) - away, to = (COUNT + away) / LONG * LONG - away;
    const result *own = (const result *)room;
#pragma unroll 4
    for (int i = from + lane * LONG; i < to; i += THREADS * LONG)
        *(uint4 *)(out + i) = *(const uint4 *)(own + i);
    if (lane < LONG) {
        if (lane < from)
            out[lane] = own[lane];
        if (to + lane < COUNT)
            out[to + lane] = own[to + lane];
    }
}

// A band's first row of outputs. None is left incomplete: the last ones compute some a second time.
__device__ __forceinline__ int row_of(const frame &f, int band) { return min((int)(block_place().y * BANDS + band) * R, (int)f.m_y - R); }

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    flat_list(const element *in, result *out, const frame f, const tap_list<KX> along_x, const tap_list<KY> along_y) {
    extern __shared__ uint4 memory[];
    const place p = place_of();
    char *room = (char *)memory;
    find_array(f, block_place().z, in, out);
#pragma unroll 1
    for (int band = 0; band < BANDS; band++) {
        const int top = row_of(f, band) - f.before_y;
        bring(room + band * ROOM + behind<SECTOR>(in + (i64)top * ROW), in, f, top, max(0, -top), min(ROWS, (int)f.n_y - top));
    }
    await_copies<0>();
    meet();
    const int y = row_of(f, p.band), place = p.number * V;
    const unsigned begin = p.band * ROOM + behind<16>(out + y * ROW);
    unsigned at = p.band * ROOM + behind<SECTOR>(in + (i64)(y - f.before_y) * ROW) + place * SIZE, to = begin + place * OUT_SIZE, tail[MORE] = {};
    const work ghost = load_as<work, IN>(ghost_of(f));
    work sum[KY][V], value[V];
    first_rows<0>(sum, room, at, PITCH, along_y);
    // One text for all rows, two of them a turn, as in gpu_patch_list_odd.cu.
#pragma unroll 2
    for (int i = 0; i < R; i++) {
        read_row(value, room, at);
        push<KY - 1>(sum, value, along_y);
        // Others may not have read yet what is written over: up to the next meeting no more than the rows to number i + TOGETHER, below i + KY, which all have read by now.
        if (RING || i % TOGETHER == 0)
            meet();
        put_row(sum[KY - 1], room, to, tail, ghost, p, along_x);
        at += PITCH;
        to += ROW * OUT_SIZE;
    }
    if (RING) { // what the last row leaves
        unsigned word[MORE + MORE] = {};
#pragma unroll
        for (int i = 0; i < MORE; i++)
            word[i] = tail[i];
        put_grains<MORE>(room, begin + R * ROW * OUT_SIZE, word, p.last);
    }
    meet();
#pragma unroll 1
    for (int band = 0; band < BANDS; band++) {
        result *to_row = out + row_of(f, band) * ROW;
        send(to_row, room + band * ROOM + behind<16>(to_row));
    }
}

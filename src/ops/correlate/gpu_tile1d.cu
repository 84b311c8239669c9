// SPDX-License-Identifier: Apache-2.0
// gpu_tile1d.cu - production: long masks along a row. A thread has EACH outputs side by side; an element that it reads serves all of them.
//
// patch takes a lane's window from its neighbours' registers, which ends with a mask of V elements on either side. Here a tile and its halo pass through
// shared memory once. A thread reads each element of its window once and adds it to the EACH sums that it concerns, so that a multiply-add needs no operand
// from memory: taps come in ascending order for each sum, because elements do. Results go back through the same shared memory, so that stores are whole
// rows of vectors. One tile a block, or one of each of some short rows, and many small blocks: on an H200 blocks
// that stay and prefetch are slower.
//
// With 16 outputs a thread what is done beside the multiply-adds counts: a tile comes by registers, all loads first, each at a fixed distance from the one
// before, with one test for the block where it lies inside. (By asynchronous copies 3 to 10 % slower, with a loop and its tests 9 to 15 %.) At a row's ends
// each load has a test of its own, and what stands beside the row, some elements a thread, is brought by a loop: such tiles are all that short rows have.
//
// Every EACH elements are followed by 16 bytes that are not used: threads then read vectors EACH elements apart without bank conflicts.
// Beyond LONG taps the mask is walked in pieces of PIECE, because a body of more than some 2000 multiply-adds leaves the instruction cache.
//
// -DEACH; -DALONG threads side by side along a row, -DROWS rows of a block, -DTHREADS; -DLARGE=1: rows of more than 2^30 elements.
#include "ops/correlate/gpu_copies.cuh"

#if LARGE
typedef i64 column;
#else
typedef int column;
#endif

enum { PIECE = 64, LONG = 128 };
const int TILE = ALONG * EACH, VECTOR = 16 / SIZE, PAD_LEFT = up_to(LEFT, EACH), WIDE = up_to(PAD_LEFT + TILE + RIGHT, EACH);
const int START = PAD_LEFT - LEFT;                                                // of a thread's window in its tile
const int UNIT = WHOLE ? VECTOR : 1, BACK = WHOLE ? 16 / (int)sizeof(result) : 1; // elements of a load, results of a store
const int TURNS = (WIDE / UNIT + ALONG - 1) / ALONG, AT_ONCE = WHOLE ? 8 : 24;    // loads of a thread; those that are on their way together
const bool ALL = ALONG == THREADS;                                                // no thread is over

__host__ __device__ constexpr int place(int element, int size) { return element * size + element / EACH * (size == 1 ? 0 : 16); }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }
// `more` elements on, a number that the compiler knows: where it can, a distance.
__device__ __forceinline__ int place_on(int first, int more, int size) {
    return more % EACH ? place(first + more, size) : place(first, size) + place(more, size);
}
const int ROOM = larger(place(WIDE, SIZE), place(TILE, (int)sizeof(result))); // of a row in shared memory

// Taps first ... first + COUNT - 1. Where pixels have more elements than a thread outputs, a tap's lie by themselves: to look for them in all that lies between is more
// than the compiler unrolls.
template <int COUNT> __device__ __forceinline__ void add_piece(work (&sum)[EACH], const char *mine, int first, const tap_list<KX> &taps) {
    const bool FAR = GROUP >= EACH + VECTOR;
    const int SKIP = START % VECTOR, VECTORS = (SKIP + (COUNT - 1) * GROUP + EACH + VECTOR - 1) / VECTOR;
#pragma unroll
    for (int tap = 0; tap < (FAR ? COUNT : 0); tap++) {
        const int begin = START + tap * GROUP, skip = begin % VECTOR;
#pragma unroll
        for (int v = 0; v <= EACH / VECTOR; v++) {
            if (v * VECTOR < skip + EACH) {
                uint4 all = *(const uint4 *)(mine + place(first * GROUP, SIZE) + place(begin - skip + v * VECTOR, SIZE));
                const unsigned word[4] = {all.x, all.y, all.z, all.w};
#pragma unroll
                for (int i = 0; i < VECTOR; i++) {
                    const int o = v * VECTOR + i - skip;
                    if (o >= 0 && o < EACH)
                        sum[o] = multiply_add(cell(word, i), taps.w[first + tap], sum[o]);
                }
            }
        }
    }
#pragma unroll
    for (int v = 0; v < (FAR ? 0 : VECTORS); v++) {
        const int at = START - SKIP + v * VECTOR;
        uint4 all = *(const uint4 *)(mine + place(first * GROUP, SIZE) + place(at, SIZE));
        const unsigned word[4] = {all.x, all.y, all.z, all.w};
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            work value = cell(word, i);
#pragma unroll
            for (int o = 0; o < EACH; o++) {
                const int distance = v * VECTOR + i - SKIP - o, k = distance / GROUP;
                if (distance >= 0 && distance % GROUP == 0 && k < COUNT)
                    sum[o] = multiply_add(value, taps.w[first + k], sum[o]);
            }
        }
    }
}

__device__ __forceinline__ void lay_unit(char *to, const words<UNIT * SIZE> &v) {
    if constexpr (UNIT * SIZE == 16)
        *(uint4 *)to = make_uint4(v.word[0], v.word[1], v.word[2], v.word[3]);
    else
        *(words<UNIT * SIZE> *)to = v;
}

// A unit of constants.
__device__ __forceinline__ words<UNIT * SIZE> ghost_unit(const frame &f) {
    words<UNIT * SIZE> v;
    const unsigned low = (unsigned)f.ghost, high = (unsigned)(f.ghost >> 32);
#pragma unroll
    for (int i = 0; i < (UNIT * SIZE + 3) / 4; i++)
        v.word[i] = SIZE == 8 && i % 2 ? high : SIZE >= 4 || UNIT == 1 ? low : SIZE == 2 ? (low & 0xffff) * 0x00010001 : (low & 0xff) * 0x01010101;
    return v;
}

// What the tile that begins at `from` has of its row: elements first ... end - 1, as whole vectors; constants in place of others.
template <bool INSIDE> __device__ __forceinline__ void bring(char *tile, const element *from, int lane, int first, int end, const frame &f) {
#pragma unroll
    for (int begin = 0; begin < TURNS; begin += AT_ONCE) {
        words<UNIT * SIZE> v[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int turn = begin + i, e = (lane + turn * ALONG) * UNIT;
            const bool whole = (turn + 1) * ALONG * UNIT <= WIDE; // all threads have one
            if (!INSIDE)
                v[i] = ghost_unit(f);
            if (turn < TURNS && INSIDE && whole)
                load_now(v[i], from + lane * UNIT + turn * ALONG * UNIT);
            else if (turn < TURNS)
                load_if(v[i], from + lane * UNIT + turn * ALONG * UNIT, INSIDE ? e < WIDE : e >= first && e + UNIT <= end);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int turn = begin + i, e = (lane + turn * ALONG) * UNIT;
            if (turn < TURNS && ((turn + 1) * ALONG * UNIT <= WIDE || e < WIDE))
                lay_unit(tile + place_on(lane * UNIT, turn * ALONG * UNIT, SIZE), v[i]);
        }
    }
}

// What stands beside the row, where it is not constants, as far as the tile's first `outputs` meet it, and the last elements of a row that are no vector. x: the tile's first
// element.
__device__ __forceinline__ void bring_ends(char *tile, const element *row, column x, int lane, int first, int end, int outputs, const frame &f) {
    const int left = max(first - START, 0), from = max(end / UNIT * UNIT, START), count = left + max(PAD_LEFT + outputs + RIGHT - from, 0);
#pragma unroll 1
    for (int i = lane; i < count; i += ALONG) {
        const int e = i < left ? START + i : from + i - left;
        const column at = resolve_x<column>(x + e, (column)f.n_x, f.edge);
        element value = ghost_of(f);
        if (at >= 0)
            value = row[at];
        *(element *)(tile + place(e, SIZE)) = value;
    }
}

__device__ __forceinline__ void meet() {
    if (THREADS == 32)
        __syncwarp();
    else
        __syncthreads();
}

// A thread's results, whole vectors: of others than four bytes each the compiler may store words, whose lanes meet in banks.
__device__ __forceinline__ void lay_down(char *at, const packed<EACH> &all) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(at);
    if constexpr (sizeof(result) == 4) {
        all.store(at);
        return;
    }
#pragma unroll
    for (int i = 0; i < EACH * (int)sizeof(result) / 16; i++)
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to + 16 * i), "r"(all.word[4 * i]), "r"(all.word[4 * i + 1]),
                     "r"(all.word[4 * i + 2]), "r"(all.word[4 * i + 3])
                     : "memory");
}

// BACK results on their way out.
__device__ __forceinline__ void take_up(result *to, const char *at) {
    if (WHOLE)
        *(uint4 *)to = *(const uint4 *)at;
    else
        *to = *(const result *)at;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tile1d(const element *in, result *out, const frame f, const unsigned rows, const tap_list<KX> taps) {
    extern __shared__ uint4 memory[];
    const column x = (column)blockIdx.x * TILE;
    const unsigned block = blockIdx.z * gridDim.y + blockIdx.y, part = ALL ? 0 : threadIdx.x / ALONG, number = block * ROWS + part;
    if (block >= (rows + ROWS - 1) / ROWS)
        return;
    const bool mine = ALL || (part < ROWS && number < rows);
    const int lane = threadIdx.x - part * ALONG;
    char *tile = (char *)memory + part * ROOM;
    find_array(f, mine ? number : 0, in, out);
    const column before = x - PAD_LEFT;
    if (before >= 0 && before + WIDE <= (column)f.n_x) {
        if (mine)
            bring<true>(tile, in + before, lane, 0, WIDE, f);
    } else {
        const int first = (int)max(-before, (column)0), end = (int)min((column)f.n_x - before, (column)WIDE);
        if (mine)
            bring<false>(tile, in + before, lane, first, end, f);
        if (f.edge.least >= 0 || end % UNIT != 0) {
            meet();
            if (mine)
                bring_ends(tile, in, before, lane, first, end, (int)min((column)f.m_x - x, (column)TILE), f);
        }
    }
    meet();
    work sum[EACH];
#pragma unroll
    for (int o = 0; o < EACH; o++)
        sum[o] = 0;
    if (mine) {
        const char *window = tile + place(lane * EACH, SIZE);
        if (KX <= LONG) {
            add_piece<KX>(sum, window, 0, taps);
        } else {
            const int REST = KX <= LONG || KX % PIECE == 0 ? PIECE : KX % PIECE;
#pragma unroll 1
            for (int first = 0; first + PIECE <= KX; first += PIECE)
                add_piece<PIECE>(sum, window, first, taps);
            if (KX % PIECE)
                add_piece<REST>(sum, window, KX - REST, taps);
        }
    }
    const packed<EACH> all(sum);
    meet();
    if (mine)
        lay_down(tile + place(lane * EACH, sizeof(result)), all);
    meet();
    if (!mine)
        return;
    result *to = out + x;
    if (x + TILE <= (column)f.m_x) {
#pragma unroll
        for (int i = 0; i < EACH / BACK; i++)
            take_up(to + lane * BACK + i * ALONG * BACK, tile + place_on(lane * BACK, i * ALONG * BACK, sizeof(result)));
    } else {
        const int outputs = (int)((column)f.m_x - x);
#pragma unroll
        for (int i = 0; i < EACH / BACK; i++)
            if ((lane + i * ALONG + 1) * BACK <= outputs)
                take_up(to + lane * BACK + i * ALONG * BACK, tile + place_on(lane * BACK, i * ALONG * BACK, sizeof(result)));
        if (BACK > 1)
#pragma unroll 1
            for (int e = outputs / BACK * BACK + lane; e < outputs; e += ALONG)
                to[e] = *(const result *)(tile + place(e, sizeof(result)));
    }
}

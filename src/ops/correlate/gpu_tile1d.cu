// SPDX-License-Identifier: Apache-2.0
// gpu_tile1d.cu - production: long masks along a row. A thread has EACH outputs side by side; an element that it reads serves all of them.
//
// patch takes a lane's window from its neighbours' registers, which ends with a mask of V elements on either side. Here a tile and its halo pass through
// shared memory once. A thread reads each element of its window once and adds it to the EACH sums that it concerns, so that a multiply-add needs no operand
// from memory: taps come in ascending order for each sum, because elements do. Results go back through the same shared memory, so that stores are whole
// rows of vectors. One tile a block and many small blocks: on an H200 blocks that stay and prefetch are slower.
//
// With 16 outputs a thread what is done beside the multiply-adds counts: a tile inside the array comes by registers, all loads first, each at a fixed distance
// from the one before, with one test for the block. (By asynchronous copies 3 to 10 % slower, with a loop and its tests 9 to 15 %.)
//
// Every EACH elements are followed by 16 bytes that are not used: threads then read vectors EACH elements apart without bank conflicts.
// Beyond LONG taps the mask is walked in pieces of PIECE, because a body of more than some 2000 multiply-adds leaves the instruction cache.
//
// -DEACH, -DTHREADS.
#include "ops/correlate/gpu_copies.cuh"

enum { PIECE = 64, LONG = 128, AT_ONCE = WHOLE ? 1 : 4 /* elements of a thread, where they go one by one: their registers are the whole kernel's */ };
const int TILE = THREADS * EACH, VECTOR = 16 / SIZE, PAD_LEFT = up_to(LEFT, EACH), WIDE = up_to(PAD_LEFT + TILE + RIGHT, EACH);
const int START = PAD_LEFT - LEFT; // of a thread's window in its tile
const int TURNS = WIDE / VECTOR / THREADS, OVER = WIDE / VECTOR % THREADS; // vectors that every thread brings; threads that bring one more

__host__ __device__ constexpr int place(int element, int size) { return element * size + element / EACH * (size == 1 ? 0 : 16); }
static_assert(THREADS * VECTOR % EACH == 0, "the vectors of a turn are as far from those of the next for all threads");

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

// The tile whose first element is at `from`, inside the array.
__device__ __forceinline__ void bring_inside(char *tile, const element *from) {
    const char *at = (const char *)(from + threadIdx.x * VECTOR);
    char *to = tile + place(threadIdx.x * VECTOR, SIZE);
    const bool more = OVER && threadIdx.x < OVER;
    words<16> v[TURNS + 1];
#pragma unroll
    for (int i = 0; i < TURNS; i++)
        load_now(v[i], at + i * (THREADS * 16));
    if (more)
        load_now(v[TURNS], at + TURNS * (THREADS * 16));
#pragma unroll
    for (int i = 0; i <= TURNS; i++)
        if (i < TURNS || more)
            *(uint4 *)(to + place(i * THREADS * VECTOR, SIZE)) = make_uint4(v[i].word[0], v[i].word[1], v[i].word[2], v[i].word[3]);
}

// Any other: element by element, each by the boundary's rule.
__device__ __forceinline__ void bring_anywhere(char *tile, const element *in, i64 x, const frame &f) {
#pragma unroll AT_ONCE
    for (int e = threadIdx.x; e < WIDE; e += THREADS) {
        const i64 at = resolve_x(x + e, f.n_x, f.edge);
        if (at >= 0)
            copy_element<SIZE>((unsigned)__cvta_generic_to_shared(tile) + place(e, SIZE), in + at);
        else
            *(element *)(tile + place(e, SIZE)) = ghost_of(f);
    }
    end_copies();
    await_copies<0>();
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

extern "C" __global__ void __launch_bounds__(THREADS)
    tile1d(const element *in, result *out, const frame f, const unsigned rows, const tap_list<KX> taps) {
    extern __shared__ uint4 memory[];
    char *tile = (char *)memory;
    const i64 x = (i64)blockIdx.x * TILE;
    const unsigned number = blockIdx.z * gridDim.y + blockIdx.y;
    if (number >= rows)
        return;
    find_array(f, number, in, out);
    if (WHOLE && x >= PAD_LEFT && x + (WIDE - PAD_LEFT) <= f.n_x)
        bring_inside(tile, in + (x - PAD_LEFT));
    else
        bring_anywhere(tile, in, x - PAD_LEFT, f);
    meet();
    const char *mine = tile + place(threadIdx.x * EACH, SIZE);
    work sum[EACH];
#pragma unroll
    for (int o = 0; o < EACH; o++)
        sum[o] = 0;
    if (KX <= LONG) {
        add_piece<KX>(sum, mine, 0, taps);
    } else {
        const int REST = KX <= LONG || KX % PIECE == 0 ? PIECE : KX % PIECE;
#pragma unroll 1
        for (int first = 0; first + PIECE <= KX; first += PIECE)
            add_piece<PIECE>(sum, mine, first, taps);
        if (KX % PIECE)
            add_piece<REST>(sum, mine, KX - REST, taps);
    }
    const int THERE = 16 / (int)sizeof(result), BACK = TILE / (THREADS * THERE);
    const packed<EACH> all(sum);
    meet();
    lay_down(tile + place(threadIdx.x * EACH, sizeof(result)), all);
    meet();
    if (WHOLE && x + TILE <= f.m_x) {
        char *to = (char *)(out + x + threadIdx.x * THERE);
        const char *at = tile + place(threadIdx.x * THERE, sizeof(result));
#pragma unroll
        for (int i = 0; i < BACK; i++)
            *(uint4 *)(to + i * (THREADS * 16)) = *(const uint4 *)(at + place(i * THREADS * THERE, sizeof(result)));
    } else {
        const int m = f.m_x - x < TILE ? (int)(f.m_x - x) : TILE;
#pragma unroll AT_ONCE
        for (int e = threadIdx.x; e < m; e += THREADS)
            out[x + e] = *(const result *)(tile + place(e, sizeof(result)));
    }
}

// SPDX-License-Identifier: Apache-2.0
// gpu_columns.cuh - a tile whose rows begin anywhere: rows come to shared memory as they lie, columns are taken from them as they are written.
//
// Rows come in the aligned vectors that hold them, by copies that need no registers. A warp then writes rows of the turned tile in pieces that begin at lines
// of 128 bytes: each lane takes the elements of a word, one from each row. V rows make a vector (V = 16 / SIZE); with a vector to spare after every V rows,
// and rows of odd length, whose elements begin at V different places of a vector, no two lanes meet in a bank. Rows V apart begin alike, and so do rows of the
// result: a warp keeps to those, and works out once where its elements lie.
//
// -DSIZE bytes an element, -DTILE elements a side of a tile, -DTHREADS a block, -DALIGN bytes at multiples of which a warp's pieces begin: 16, 32 or 128.
#ifndef TESS_TRANSPOSE_COLUMNS_CUH
#define TESS_TRANSPOSE_COLUMNS_CUH
#include "ops/transpose/gpu_piece.cuh"

typedef piece<SIZE>::type element;

enum {
    T = TILE,
    V = 16 / SIZE,
    LOG_V = SIZE == 1   ? 4
            : SIZE == 2 ? 3
            : SIZE == 4 ? 2
            : SIZE == 8 ? 1
                        : 0,
    E = SIZE < 4 ? 4 / SIZE : 1,           // elements of a word
    NV = (T * SIZE + 16 - SIZE + 15) / 16, // vectors that hold a row, wherever it begins
    PACK = (V * NV + 1) * 16,              // bytes of V rows
    ROOM = (T + V - 1) / V * PACK,         // of a tile
    WARPS = THREADS / 32,
    SETS = WARPS > V ? WARPS / V : 1 // warps that share the rows that begin alike
};
static_assert(WARPS % V == 0 || V % WARPS == 0, "each warp has rows that begin alike");

struct tile {
    const char *from;       // where it begins
    char *to;               // where its image does
    i64 from_step, to_step; // bytes from row to row
    int rows, columns;
};

// Rows as they lie, in the vectors that hold them; vectors that are not whole between low and high go element by element. What else lies in the vectors at
// the ends of a row belongs to other blocks, which may be changing it: it is not used.
__device__ void take(unsigned room, const tile &t, const char *low, const char *high) {
#pragma unroll 4
    for (int n = threadIdx.x; n < T * NV; n += THREADS) {
        const int r = n / NV, v = n % NV;
        const char *row = t.from + r * t.from_step, *at = (const char *)((unsigned long long)row & ~15ull) + v * 16;
        if (r >= t.rows || at >= row + t.columns * SIZE)
            continue;
        const unsigned to = room + r / V * PACK + r % V * (NV * 16) + v * 16;
        if (at >= low && at + 16 <= high)
            asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(at) : "memory");
        else
            for (int e = 0; e < 16; e += SIZE)
                if (at + e >= low && at + e + SIZE <= high)
                    *(element *)__cvta_shared_to_generic(to + e) = *(const element *)(at + e);
    }
}
__device__ void await_rows() { asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory"); }

__device__ unsigned word_of(const char *const (&at)[E], int far) {
#if SIZE == 1
    unsigned a = *(const element *)(at[0] + far), b = *(const element *)(at[1] + far), c = *(const element *)(at[2] + far),
             d = *(const element *)(at[3] + far);
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
#elif SIZE == 2
    unsigned a = *(const element *)(at[0] + far), b = *(const element *)(at[1] + far);
    return __byte_perm(a, b, 0x5410);
#else
    return 0; // elements are words
#endif
}

// A tile in shared memory, all of it read.
__device__ void bring(uint4 *room, const tile &t, const char *low, const char *high) {
    take((unsigned)__cvta_generic_to_shared(room), t, low, high);
    await_rows();
    __syncthreads();
}

// Byte of shared memory where element q of row p of the turned tile begins, less p * SIZE. q may be below 0: rows before the tile, which are not read.
__device__ int place_of(int q, unsigned low, unsigned step) { return (q >> LOG_V) * PACK + (q & V - 1) * (NV * 16) + (int)(low + q * step & 15); }

__device__ void put(const char *room, const tile &t) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, set = warp / V % SETS;
    const unsigned low = (unsigned)(unsigned long long)t.from, step = (unsigned)t.from_step;
    for (int c = warp % V; c < V; c += WARPS) {
        const int first = lane * E - (int)((unsigned)(unsigned long long)(t.to + c * t.to_step) & 15) / SIZE;
        const char *at[E];
#pragma unroll
        for (int e = 0; e < E; e++)
            at[e] = room + place_of(first + e, low, step) + c * SIZE;
        for (int p = c + set * V; p < t.columns; p += SETS * V) {
            element *row = (element *)(t.to + p * t.to_step);
            const int packs = (int)((unsigned)(unsigned long long)row & ALIGN - 1) / 16, q0 = first - packs * V, move = (p - c) * SIZE - packs * PACK;
#pragma unroll
            for (int k = 0; k < (T + ALIGN / SIZE - 1 + 32 * E - 1) / (32 * E); k++) {
                const int q = q0 + k * 32 * E, far = move + k * (32 * E / V) * PACK;
                if (q >= 0 && q + E <= t.rows) {
                    if (E > 1)
                        *(unsigned *)(row + q) = word_of(at, far);
                    else
                        row[q] = *(const element *)(at[0] + far);
                }
            }
        }
    }
    if (E > 1) // before a row's first whole word, and behind its last
        for (int n = threadIdx.x; n < t.columns * 2 * (E - 1); n += THREADS) {
            const int p = n / (2 * E - 2), s = n % (2 * E - 2);
            element *row = (element *)(t.to + p * t.to_step);
            const int before = (int)(0u - (unsigned)(unsigned long long)row & 3) / SIZE, behind = t.rows > before ? (t.rows - before) % E : 0;
            const int q = s < E - 1 ? s : t.rows - 1 - (s - (E - 1));
            if (s < E - 1 ? s < before && s < t.rows : s - (E - 1) < behind)
                row[q] = *(const element *)(room + place_of(q, low, step) + p * SIZE);
        }
}
#endif

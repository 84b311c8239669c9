// SPDX-License-Identifier: Apache-2.0
// gpu_pixels.cu - matrices of runs of 3 bytes: pixels of three colours. gpu_runs.cu moves them byte by byte; here four by four of them are held in words.
//
// A lane has 4 pixels of 4 rows, 3 words each, wherever they begin: rows are read in aligned words and shifted, by as much for all lanes of a row. Byte permutations make
// 3 words of each of 4 rows of `out`, which are laid down in the tile. Rows 4 apart are a lane's, so row p lies at p % 4 * 32 + p / 4, an odd number of words apart.
// Rows go out word by word, from a sector's beginning on: MORE rows of `in` before the tile's are read too where rows of `out` do not all begin at sectors.
//
// -DTP = 128 pixels a warp, -DTQ, -DTHREADS; -DSIZE=1 and -DBATCH as in gpu_plane.cuh, where p and q count pixels.
#include "ops/transpose/gpu_plane.cuh"

enum {
    WIDE = 3,
    MORE = 12,                             // pixels that a sector's beginning may want, whole groups of 4
    LINE = (TQ + MORE) * WIDE / 4 + 1 | 1, // words of a row of the tile
    WARPS = THREADS / 32
};
static_assert(TQ * WIDE % 128 == 0 && TP == 128, "tiles begin at sectors, and warps are whole");

// The aligned words that hold the 12 bytes at `at`. The last is not wanted where they begin at a word.
__device__ void load_words(unsigned (&word)[4], const char *at) {
    const unsigned skip = (unsigned)(unsigned long long)at & 3;
    const unsigned *words = (const unsigned *)(at - skip);
#pragma unroll
    for (int k = 0; k < 3; k++)
        word[k] = __ldg(words + k);
    word[3] = skip ? __ldg(words + 3) : 0;
}

// 4 pixels of each of 4 rows at `at`, q_in apart. ENDS: only `rows` rows and `pixels` pixels are there, and nothing is read outside of low to high.
template <bool ENDS>
__device__ void load_group(unsigned (&row)[4][4], const char *at, i64 q_in, int rows, int pixels, const char *low, const char *high) {
#pragma unroll
    for (int r = 0; r < 4; r++, at += q_in) {
        if (!ENDS || (r < rows && pixels >= 4 && at - 3 >= low && at + 16 <= high)) {
            load_words(row[r], at);
        } else {
            unsigned char byte[12];
#pragma unroll
            for (int b = 0; b < 12; b++)
                byte[b] = r < rows && b < pixels * WIDE ? *(const unsigned char *)(at + b) : 0;
            const int skip = (int)((unsigned)(unsigned long long)at & 3);
            unsigned word[3];
#pragma unroll
            for (int k = 0; k < 3; k++)
                word[k] = byte[4 * k] | byte[4 * k + 1] << 8 | byte[4 * k + 2] << 16 | (unsigned)byte[4 * k + 3] << 24;
            row[r][0] = word[0] << skip * 8; // as they would lie in aligned words
            row[r][1] = __funnelshift_l(word[0], word[1], skip * 8);
            row[r][2] = __funnelshift_l(word[1], word[2], skip * 8);
            row[r][3] = __funnelshift_l(word[2], 0, skip * 8);
        }
    }
}

template <bool ENDS>
__device__ void fill(unsigned *tile, const char *at, const plane &m, int rows, int pixels, const char *low, const char *high) {
    const int lane = threadIdx.x % 32;
    for (int g = threadIdx.x / 32; g * 4 < rows; g += WARPS) {
        unsigned row[4][4], x[4][4];
        const char *first = at + (i64)g * 4 * m.q_in + lane * 4 * WIDE;
        load_group<ENDS>(row, first, m.q_in, rows - g * 4, pixels - lane * 4, low, high);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const unsigned skip = ((unsigned)(unsigned long long)first + r * (unsigned)m.q_in & 3) * 8;
            const unsigned a = __funnelshift_r(row[r][0], row[r][1], skip), b = __funnelshift_r(row[r][1], row[r][2], skip);
            const unsigned c = __funnelshift_r(row[r][2], row[r][3], skip);
            x[0][r] = a; // pixels in the lower 3 bytes
            x[1][r] = __byte_perm(a, b, 0x0543);
            x[2][r] = __byte_perm(b, c, 0x0432);
            x[3][r] = c >> 8;
        }
#pragma unroll
        for (int c = 0; c < 4; c++) {
            unsigned *to = tile + (c * 32 + lane) * LINE + g * 3;
            to[0] = __byte_perm(x[c][0], x[c][1], 0x4210);
            to[1] = __byte_perm(x[c][1], x[c][2], 0x5421);
            to[2] = __byte_perm(x[c][2], x[c][3], 0x6542);
        }
    }
}

// Rows of `out`, np of them: from the beginning of a sector on, up to 31 bytes before `to`, where there is something (`inner`). What belongs at `to` is `before` bytes from the
// beginning of the tile's row. EVEN: `to` is the beginning of a sector.
template <bool EVEN> __device__ void put(const unsigned *tile, char *to, i64 p_out, int np, int before, bool inner, int there) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    to += warp * p_out;
    tile += (warp % 4 * 32 + warp / 4) * LINE;
    for (int p = warp; p < np; p += WARPS, to += WARPS * p_out, tile += WARPS / 4 * LINE) {
        const int back = EVEN ? 0 : (int)((unsigned)(unsigned long long)to & 31), skip = before - back;
        const int begin = inner ? 0 : back, stop = there + back < TQ * WIDE ? there + back : TQ * WIDE; // of the tile's bytes
        const unsigned *one = tile + lane + (skip >> 2), *two = one + ((skip & 3) != 0);
        char *line = to - back;
#pragma unroll
        for (int k = 0; k < TQ * WIDE; k += 128)
            if (k + lane * 4 >= begin && k + lane * 4 + 4 <= stop)
                *(unsigned *)(line + k + lane * 4) = __funnelshift_r(one[k / 4], two[k / 4], skip * 8);
        if ((begin | stop) & 3) { // words that are not whole
            const int head = begin + lane, tail = (stop & ~3) + lane;
            if (head < stop && head < (begin + 3 & ~3))
                line[head] = ((const char *)tile)[skip + head];
            if (tail >= begin && tail < stop)
                line[tail] = ((const char *)tile)[skip + tail];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) pixels(const char *in, char *out, const plane m) {
    extern __shared__ unsigned tile[];
    const unsigned tiles_p = (unsigned)((m.p_size + TP - 1) / TP), tiles_q = (unsigned)((m.q_size + MORE + TQ - 1) / TQ);
    const i64 q0 = (i64)(blockIdx.x % tiles_q) * TQ, p0 = (i64)(blockIdx.x / tiles_q % tiles_p) * TP;
    place at;
    find_matrix(at, m, blockIdx.x / tiles_q / tiles_p);
    char *to = out + at.out + p0 * m.p_out + q0 * WIDE;
    const bool even = ((unsigned)(unsigned long long)to | (unsigned)m.p_out) % 32 == 0; // all rows begin at sectors
    const int before = q0 > 0 && !even ? MORE : 0, np = m.p_size - p0 < TP ? (int)(m.p_size - p0) : TP;
    const int nq = (int)(m.q_size - q0 < TQ ? m.q_size - q0 : TQ) + before;
    const char *low = in + at.in, *high = low + (m.q_size - 1) * m.q_in + m.p_size * WIDE;
    const char *first = low + (q0 - before) * m.q_in + p0 * WIDE;
    if (np == TP && nq == TQ + before && first - 3 >= low && first + (nq - 1) * m.q_in + TP * WIDE + 4 <= high)
        fill<false>(tile, first, m, nq, TP, low, high);
    else
        fill<true>(tile, first, m, nq, np, low, high);
    __syncthreads();
    // what is there of a row of `out` from q0 on, as far as this tile can want it
    const int there = (int)(m.q_size - q0 < TQ + MORE ? m.q_size - q0 : TQ + MORE) * WIDE;
    if (even)
        put<true>(tile, to, m.p_out, np, 0, q0 > 0, there);
    else
        put<false>(tile, to, m.p_out, np, before * WIDE, q0 > 0, there);
}

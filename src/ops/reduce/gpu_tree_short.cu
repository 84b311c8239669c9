// SPDX-License-Identifier: Apache-2.0
// gpu_tree_short.cu - production, many short rows that follow one another: a warp copies a stretch of them to shared memory, a few threads take a row.
//
// Rows of 16 elements are one run of memory: read by vectors of 16 bytes, 4 KiB a warp on their way at once, it comes as fast as a long row would. From shared memory
// threads take rows wherever they begin (gpu_stage.cuh, gpu_group.cuh). -DPACKED=1: bytes and 16-bit floats by words (gpu_packed.cuh), of which the first and the
// last have elements of other rows too. -DBLOCKS=1: places of small elements, a thread a row, by blocks of 16 bytes (gpu_blocks.cuh), which are summed up before where threads have few rows (-DSUMMED=1). -DMOMENTS=1: variances of
// small elements, of a length that the compiler knows (gpu_short_moments.cuh).
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#else
#include "ops/reduce/gpu_node.cuh"
#endif
#if MOMENTS || GROUP == 1 // rows of several threads have no registers for it: they spilled, and took up to a fifth longer
#define BY_INVERSES 1
#else
#define BY_INVERSES 0
#endif
#include "ops/reduce/gpu_divisors.cuh"
#include "ops/reduce/gpu_stage.cuh"
#if BLOCKS
#include "ops/reduce/gpu_blocks.cuh"
enum { SIZE = (int)sizeof(element), ROWS = 32 };
#define ALL_READ false
#else
#if PACKED
#include "ops/reduce/gpu_packed.cuh"
#endif
#include "ops/reduce/gpu_group.cuh"
#if MOMENTS
#include "ops/reduce/gpu_short_moments.cuh"
#define ELEMENTS TALL
#else
#define ELEMENTS p.k
#endif

struct tile_row {
    const char *tile;
    int byte;
    __device__ void fetch(words<E * SIZE> &v, int i) const { v = *(const words<E * SIZE> *)(tile + spot(byte + i * SIZE)); }
};

#if PACKED
// Thread t's words of a row.
__device__ node row_of(const tile_row &r, int t, int k, bool there, double, double) {
    const int end = r.byte + k * SIZE, last = there ? (end - 1) / 4 : -1, turns = ((k * SIZE + 6) / 4 + GROUP - 1) / GROUP;
    const unsigned head = t == 0 ? ~0u << 8 * (r.byte & 3) : ~0u, tail = ~0u >> 8 * (3 - (end - 1) % 4);
    packed p = packed_nothing();
    int word = r.byte / 4 + t;
    if (word <= last)
        packed_some<true>(p, *(const unsigned *)(r.tile + spot(word * 4)), word == last ? head & tail : head, t);
#pragma unroll 4
    for (int turn = 1; turn < turns; turn++) {
        word += GROUP;
        if (word <= last)
            packed_some<false>(p, *(const unsigned *)(r.tile + spot(word * 4)), word == last ? tail : ~0u, turn * GROUP + t);
    }
    node lane[1] = {packed_some_total(p, t == 0 ? k : 0, (r.byte & 3) / SIZE)};
    return together(lane);
}
#else
__device__ node row_of(const tile_row &r, int t, int k, bool there, double all, double of_all) {
    const int known = WHOLE && !MANY ? GROUP * EACH : k;
    return whole_of(share<tile_row>(r, there ? known : 0, t), known, all, of_all);
}
#endif
#endif

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST) tree_short(const element *in, result *out, const rows p, const divisors by) {
    __shared__ words<16> tiles[WARPS][ROOM / 16];
    const int lane = threadIdx.x % 32, t = lane % GROUP;
    const i64 unit = (i64)blockIdx.x * WARPS + threadIdx.x / 32;
    if (unit >= p.units)
        return;
    const part c = part_of(p, in, unit);
    char *tile = (char *)tiles[threadIdx.x / 32];
    const int begin = stage(tile, c, p.k);
#if BLOCKS || MOMENTS
    const unsigned place = in_shared(tile);
#endif
#if BLOCKS
    const unsigned first = begin / SIZE;
#if SUMMED
    __shared__ summary summaries[WARPS];
    summarize(summaries[threadIdx.x / 32], place, (first + c.here * p.k + OF_BLOCK - 1) / OF_BLOCK);
    const summed blocks(place, summaries[threadIdx.x / 32]);
#else
    const summed blocks{place};
#endif
#endif
    for (int round = 0; round < c.here; round += ROWS) {
        const int number = round + lane / GROUP;
        const bool there = number < c.here;
        const bool reads = there || ALL_READ; // the first row again
#if BLOCKS
        const unsigned from = first + number * p.k;
        const node whole = reads ? blocks.between(from, from + p.k, (p.k + 2 * OF_BLOCK - 2) / OF_BLOCK) : nothing();
#elif MOMENTS
        short_row row(place, begin + (there ? number : 0) * ROW_BYTES, t);
        const node whole = whole_of(row);
#else
        const tile_row r = {tile, begin + (there ? number : 0) * p.k * SIZE};
        const node whole = row_of(r, t, p.k, reads, by.k, by.of_k);
#endif
        if (there && t == 0)
#if KIND == VAR
            out[c.at_out + number * p.out_step] = finished_by(whole, ELEMENTS, p.ddof, by.less, by.of_less);
#else
            out[c.at_out + number * p.out_step] = finished(whole, p.k, p.ddof);
#endif
    }
}

// SPDX-License-Identifier: Apache-2.0
// gpu_segment.cuh - where a piece of a long segment is found, without a list of the pieces.
//
// Segments are cut into pieces of `size` elements, and so are the elements of all of them into chunks. In each chunk begins at most one piece that is not its
// segment's first, and the segment is the one with the element before the chunk, which a warp finds by asking for 32 offsets at a time. Piece l of segment s
// that begins in chunk c is number s + c of all, so those of a segment are neighbours.
#ifndef TESS_REDUCE_SEGMENT_CUH
#define TESS_REDUCE_SEGMENT_CUH
#include "ops/reduce/gpu_tree.cuh"

// The segment with the element before chunk number `chunk`, and which of its pieces begins in the chunk; -1: none does.
template <typename P> __device__ i64 piece_in(const P &p, const i64 *offsets, i64 chunk, i64 size, i64 &segment) {
    const i64 base = p.begin + chunk * size;
    i64 low = 0, high = p.segments;
    while (high - low > 1) {
        i64 step = (high - low + 31) / 32, at = low + (threadIdx.x % 32 + 1) * step;
        low += __popc(__ballot_sync(0xffffffffu, at < high && offsets[at < high ? at : low] < base)) * step;
        high = high < low + step ? high : low + step;
    }
    segment = low;
    i64 begin = offsets[low], piece = (base - begin + size - 1) / size;
    return begin + piece * size < offsets[low + 1] ? piece : -1;
}
#endif

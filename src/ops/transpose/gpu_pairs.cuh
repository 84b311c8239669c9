// SPDX-License-Identifier: Apache-2.0
// gpu_pairs.cuh - in place: which two tiles of a square matrix a block has, mirror images of each other.
//
// A block holds both before it writes either, so no other block sees what it changes, and no order between blocks is needed: the bytes moved are those of
// a transpose between two arrays. Tiles on the diagonal are their own images. Blocks are numbered along rows of the upper triangle, folded: a row of few pairs
// shares its place in the grid with one of many. Where rows begin anywhere, tiles share sectors and lines with their neighbours; there the triangle is one of
// groups of 2^shift x 2^shift pairs, so that neighbours of both tiles are at work at the same time. Groups on the diagonal and at the end have blocks to spare.
#ifndef TESS_TRANSPOSE_PAIRS_CUH
#define TESS_TRANSPOSE_PAIRS_CUH
#include "ops/transpose/gpu_piece.cuh"

typedef piece<SIZE>::type element;

struct squares {
    i64 size;  // rows and columns of a matrix
    int tiles; // along a side
    int shift; // of a group
};

struct pair {
    element *above, *below; // where they begin
    int i, j;               // the upper one's place, i <= j
    int rows, columns;      // of it: fewer than T at the ends; no rows: a block to spare
};

template <int T> __device__ pair pair_of_block(element *data, const squares &s) {
    const int side = 1 << s.shift, inner = (int)(blockIdx.x & (side * side - 1)), n = (s.tiles + side - 1) >> s.shift;
    const int wide = n % 2 ? n : n + 1, high = (n + 1) / 2, block = (int)(blockIdx.x >> 2 * s.shift), number = block % (wide * high);
    int i = number / wide, j = number % wide;
    if (j < n - i) {
        j += i;
    } else {
        j -= n - i;
        i = n % 2 ? n - i : n - 1 - i;
        j += i;
    }
    i = (i << s.shift) + (inner >> s.shift);
    j = (j << s.shift) + (inner & (side - 1));
    const i64 down = (i64)i * T, across = (i64)j * T;
    data += block / (wide * high) * s.size * s.size;
    pair p = {data + down * s.size + across, data + across * s.size + down, i, j, T, T};
    p.rows = s.size - down < T ? (int)(s.size - down) : T;
    p.columns = s.size - across < T ? (int)(s.size - across) : T;
    if (i > j || j >= s.tiles)
        p.rows = 0;
    return p;
}
#endif

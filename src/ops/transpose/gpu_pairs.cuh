// SPDX-License-Identifier: Apache-2.0
// gpu_pairs.cuh - in place: which two tiles of a square matrix a block has, mirror images of each other.
//
// A block holds both before it writes either, so no other block sees what it changes, and no order between blocks is needed: the bytes moved are those of
// a transpose between two arrays. Tiles on the diagonal are their own images. Blocks are numbered along rows of the upper triangle, folded: a row of few pairs
// shares its place in the grid with one of many.
#ifndef TESS_TRANSPOSE_PAIRS_CUH
#define TESS_TRANSPOSE_PAIRS_CUH
#include "ops/transpose/gpu_piece.cuh"

typedef piece<SIZE>::type element;

struct squares {
    i64 size;  // rows and columns of a matrix
    int tiles; // along a side
};

struct pair {
    element *above, *below; // where they begin
    int i, j;               // the upper one's place, i <= j
    int rows, columns;      // of it: fewer than T at the ends
};

template <int T> __device__ pair pair_of_block(element *data, const squares &s) {
    const int n = s.tiles, wide = n % 2 ? n : n + 1, high = (n + 1) / 2, number = (int)(blockIdx.x % (wide * high));
    int i = number / wide, j = number % wide;
    if (j < n - i) {
        j += i;
    } else {
        j -= n - i;
        i = n % 2 ? n - i : n - 1 - i;
        j += i;
    }
    const i64 down = (i64)i * T, across = (i64)j * T;
    data += blockIdx.x / (wide * high) * s.size * s.size;
    pair p = {data + down * s.size + across, data + across * s.size + down, i, j, T, T};
    p.rows = s.size - down < T ? (int)(s.size - down) : T;
    p.columns = s.size - across < T ? (int)(s.size - across) : T;
    return p;
}
#endif

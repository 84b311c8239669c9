// SPDX-License-Identifier: Apache-2.0
// gpu_plane.cuh - the problem as every kernel sees it: a batch of matrices, p the axis that has no gaps in `in`, q the one that has none in `out`.
//
//     in   element (p, q) of a matrix lies at q * q_in + p           out   at p * p_out + q           (in elements)
//
// -DSIZE=1|2|4|8|16 is the size of an element in bytes, -DBATCH=N the number of axes that count the matrices.
#include "ops/transpose/gpu_piece.cuh"

typedef piece<SIZE>::type element;

struct plane {
    i64 p_size, q_size, q_in, p_out;
    i64 shape[BATCH + 1], in[BATCH + 1], out[BATCH + 1]; // of the batch, slowest first; the last entries are not used
};

struct place {
    i64 p, q, in, out; // the tile's first element, and where its matrix begins
};

// Where matrix `number` of the batch begins.
__device__ void find_matrix(place &at, const plane &m, unsigned number) {
    at.in = at.out = 0;
#pragma unroll
    for (int d = BATCH - 1; d >= 0; d--) {
        unsigned size = (unsigned)m.shape[d];
        at.in += number % size * m.in[d];
        at.out += number % size * m.out[d];
        number /= size;
    }
}

// Which tile of P x Q elements a block has. Tiles follow each other along q, where `out` has no gaps: blocks that run at the same time then write one
// compact stretch of it. MORE: that many elements beyond q's end have a tile too.
template <int ALONG_P, int ALONG_Q, int MORE = 0> __device__ place tile_of_block(const plane &m) {
    unsigned block = blockIdx.x, tiles_p = (unsigned)((m.p_size + ALONG_P - 1) / ALONG_P);
    unsigned tiles_q = (unsigned)((m.q_size + MORE + ALONG_Q - 1) / ALONG_Q);
    place at;
    at.q = (i64)(block % tiles_q) * ALONG_Q;
    block /= tiles_q;
    at.p = (i64)(block % tiles_p) * ALONG_P;
    block /= tiles_p;
    find_matrix(at, m, block);
    return at;
}

// As tile_of_block, in strips of at most MOST tiles along q: the tile beside this one along p follows a strip later, when the lines that both read are still in L2,
// and MOST tiles are as many as make `out` compact. Strips are about equally wide.
template <int ALONG_P, int ALONG_Q, int MORE, int MOST> __device__ place tile_in_strips(const plane &m) {
    const unsigned tiles_p = (unsigned)((m.p_size + ALONG_P - 1) / ALONG_P), tiles_q = (unsigned)((m.q_size + MORE + ALONG_Q - 1) / ALONG_Q);
    const unsigned strips = (tiles_q + MOST - 1) / MOST, wide = (tiles_q + strips - 1) / strips;
    unsigned n = blockIdx.x % (tiles_p * tiles_q), matrix = blockIdx.x / (tiles_p * tiles_q);
    const unsigned strip = n / (wide * tiles_p), left = tiles_q - strip * wide, here = left < wide ? left : wide;
    n -= strip * wide * tiles_p;
    place at;
    at.q = (i64)(strip * wide + n % here) * ALONG_Q;
    at.p = (i64)(n / here) * ALONG_P;
    find_matrix(at, m, matrix);
    return at;
}

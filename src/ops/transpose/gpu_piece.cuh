// SPDX-License-Identifier: Apache-2.0
// gpu_piece.cuh - what is moved at once: 1, 2, 4, 8 or 16 bytes, whatever they mean.
#ifndef TESS_TRANSPOSE_PIECE_CUH
#define TESS_TRANSPOSE_PIECE_CUH
typedef long long i64;

template <int BYTES> struct piece;
template <> struct piece<1> { typedef unsigned char type; };
template <> struct piece<2> { typedef unsigned short type; };
template <> struct piece<4> { typedef unsigned type; };
template <> struct piece<8> { typedef uint2 type; };
template <> struct piece<16> { typedef uint4 type; };
#endif

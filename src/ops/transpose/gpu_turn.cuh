// SPDX-License-Identifier: Apache-2.0
// gpu_turn.cuh - V rows of 16 bytes, or of a word, become columns in registers (V = 16 / SIZE); and 16 bytes cut out of 32.
#ifndef TESS_TRANSPOSE_TURN_CUH
#define TESS_TRANSPOSE_TURN_CUH

enum { V = 16 / SIZE }; // elements of a vector, and rows that make one

union vector {
    uint4 all;
    unsigned word[4];
};

#if SIZE <= 4
enum { H = 4 / SIZE }; // elements of a word

__device__ void turn(const unsigned (&row)[V], vector (&column)[H]) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
#if SIZE == 1
        unsigned a = row[4 * k], b = row[4 * k + 1], c = row[4 * k + 2], d = row[4 * k + 3];
        unsigned ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140), AB = __byte_perm(a, b, 0x7362), CD = __byte_perm(c, d, 0x7362);
        column[0].word[k] = __byte_perm(ab, cd, 0x5410);
        column[1].word[k] = __byte_perm(ab, cd, 0x7632);
        column[2].word[k] = __byte_perm(AB, CD, 0x5410);
        column[3].word[k] = __byte_perm(AB, CD, 0x7632);
#elif SIZE == 2
        column[0].word[k] = __byte_perm(row[2 * k], row[2 * k + 1], 0x5410);
        column[1].word[k] = __byte_perm(row[2 * k], row[2 * k + 1], 0x7632);
#else
        column[0].word[k] = row[k];
#endif
    }
}
#endif

__device__ void turn(const vector (&row)[V], vector (&column)[V]) {
#if SIZE == 16
    column[0] = row[0];
#elif SIZE == 8
    column[0].all = make_uint4(row[0].word[0], row[0].word[1], row[1].word[0], row[1].word[1]);
    column[1].all = make_uint4(row[0].word[2], row[0].word[3], row[1].word[2], row[1].word[3]);
#else
#pragma unroll
    for (int c = 0; c < 4; c++) {
        unsigned words[V];
        vector part[H];
#pragma unroll
        for (int r = 0; r < V; r++)
            words[r] = row[r].word[c];
        turn(words, part);
#pragma unroll
        for (int h = 0; h < H; h++)
            column[c * H + h] = part[h];
    }
#endif
}

// 16 bytes from byte `skip` < 16 of x and y.
__device__ uint4 fetch(uint4 x, uint4 y, unsigned skip) {
    bool two = skip & 8, one = skip & 4;
    unsigned a = two ? x.z : x.x, b = two ? x.w : x.y, c = two ? y.x : x.z, d = two ? y.y : x.w, e = two ? y.z : y.x, f = two ? y.w : y.y;
    if (one) {
        a = b;
        b = c;
        c = d;
        d = e;
        e = f;
    }
    unsigned bits = 8 * skip; // modulo 32
    return make_uint4(__funnelshift_r(a, b, bits), __funnelshift_r(b, c, bits), __funnelshift_r(c, d, bits), __funnelshift_r(d, e, bits));
}
#endif

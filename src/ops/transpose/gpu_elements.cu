// SPDX-License-Identifier: Apache-2.0
// gpu_elements.cu - any permutation, any steps: one thread a piece, in the order of `out`.
//
// What no other kernel takes comes here: no axis without gaps, steps of any sign, elements that are not aligned to their own size. An element is moved
// as pieces of UNIT bytes (-DUNIT=1|2|4|8|16), `pieces` of them; -DAXES=N axes in the order of out's memory, slowest first, steps in bytes.
#include "ops/transpose/gpu_piece.cuh"

typedef piece<UNIT>::type unit;

struct walk {
    i64 count, pieces;
    i64 shape[AXES + 1], in[AXES + 1], out[AXES + 1];
};

extern "C" __global__ void elements(const char *in, char *out, const walk w) {
    i64 n = blockIdx.x * 256ll + threadIdx.x;
    if (n >= w.count * w.pieces)
        return;
    i64 from = n % w.pieces * UNIT, to = from;
    n /= w.pieces;
#pragma unroll
    for (int d = AXES - 1; d >= 0; d--) {
        i64 at = n % w.shape[d];
        n /= w.shape[d];
        from += at * w.in[d];
        to += at * w.out[d];
    }
    *(unit *)(out + to) = *(const unit *)(in + from);
}

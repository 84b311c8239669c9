// SPDX-License-Identifier: Apache-2.0
// gpu_elements.cu - any permutation, any steps: one thread a piece, in the order of `out`.
//
// What no other kernel takes comes here: no axis without gaps, steps of any sign, elements that are not aligned to their own size. An element is moved
// as pieces of UNIT bytes (-DUNIT=1|2|4|8|16), `pieces` of them; -DAXES=N axes in the order of out's memory, slowest first, steps in bytes. Where there are fewer than 2^32
// pieces their numbers are divided in 32 bits (-DNUMBER=unsigned), which takes a fifth of the instructions.
#include "ops/transpose/gpu_piece.cuh"

typedef piece<UNIT>::type unit;

struct walk {
    i64 count, pieces;
    i64 shape[AXES + 1], in[AXES + 1], out[AXES + 1];
};

extern "C" __global__ void elements(const char *in, char *out, const walk w) {
    if (blockIdx.x * 256ll + threadIdx.x >= w.count * w.pieces)
        return;
    NUMBER n = (NUMBER)blockIdx.x * 256 + threadIdx.x;
    i64 from = (i64)(n % (NUMBER)w.pieces) * UNIT, to = from;
    n /= (NUMBER)w.pieces;
#pragma unroll
    for (int d = AXES - 1; d >= 0; d--) {
        const i64 at = n % (NUMBER)w.shape[d];
        n /= (NUMBER)w.shape[d];
        from += at * w.in[d];
        to += at * w.out[d];
    }
    *(unit *)(out + to) = *(const unit *)(in + from);
}

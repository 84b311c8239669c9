// SPDX-License-Identifier: Apache-2.0
// gpu_inplace_runs.cu - in place, elements or runs of any size: one thread a piece of UNIT bytes, whose run changes places with its mirror image.
//
// Runs lie together, so that neighbouring threads move neighbouring pieces; between runs of a column they do not, and a sector serves one run alone.
// Matrices that are not square go to the workspace (`turn_runs`) and are copied back.
#include "ops/transpose/gpu_piece.cuh"

typedef piece<UNIT>::type unit;

struct runs {
    i64 rows, columns, pieces, count; // count: pieces in all
};

// The mirror image of piece number n.
__device__ i64 image(const runs &r, i64 n, bool *first) {
    i64 piece = n % r.pieces, at = n / r.pieces, column = at % r.columns, row = at / r.columns % r.rows, matrix = at / r.columns / r.rows;
    *first = row < column;
    return ((matrix * r.columns + column) * r.rows + row) * r.pieces + piece;
}

extern "C" __global__ void exchange_runs(unit *data, const runs r) {
    i64 n = blockIdx.x * 256ll + threadIdx.x;
    if (n >= r.count)
        return;
    bool first;
    i64 other = image(r, n, &first);
    if (!first)
        return;
    unit a = data[n], b = data[other];
    data[n] = b;
    data[other] = a;
}

extern "C" __global__ void turn_runs(const unit *data, unit *to, const runs r) {
    i64 n = blockIdx.x * 256ll + threadIdx.x;
    bool first;
    if (n < r.count)
        to[image(r, n, &first)] = data[n];
}

extern "C" __global__ void back_runs(unit *data, const unit *from, const runs r) {
    i64 n = blockIdx.x * 256ll + threadIdx.x;
    if (n < r.count)
        data[n] = from[n];
}

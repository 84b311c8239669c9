// SPDX-License-Identifier: Apache-2.0
// gpu_walk.cuh - any layout: where element number i of `out` lies, where its index, and where its line of the table begins.
//
// Elements are numbered in row-major order: the table's axes before the one that is looked up (-DOUTER=N of them), the index's (-DAT=N), those behind
// (-DINNER=N); steps in bytes. -DNARROW=1: fewer than 2^31 elements, which are divided in 32 bits. The slowest axis of all needs no division, so one axis needs none.
#include "ops/lookup/gpu_index.cuh"

#if NARROW
typedef unsigned number;
#else
typedef u64 number;
#endif
enum { GROUPS = 4 }; // elements a thread, 256 apart

struct walk {
    i64 n, step, indices, items; // entries, bytes between them; indices; elements of out
    i64 outer[OUTER + 1], outer_from[OUTER + 1], outer_to[OUTER + 1];
    i64 at[AT + 1], at_from[AT + 1], at_to[AT + 1];
    i64 inner[INNER + 1], inner_from[INNER + 1], inner_to[INNER + 1];
};

// Element g of the thread's: the last one again behind the end, where it is stored once more with the same value.
__device__ __forceinline__ i64 item_of(const walk &w, int g) {
    i64 item = blockIdx.x * (256ll * GROUPS) + g * 256 + threadIdx.x;
    return item < w.items ? item : w.items - 1;
}

struct place {
    i64 table, index, out; // bytes
    number position, run;  // of the index; of the element among the inner ones
};

// Splits off the place on an axis; `last`: there is no slower one.
__device__ __forceinline__ number take(number &rest, i64 size, bool last) {
    number all = rest;
    if (last)
        return all;
    rest /= (number)size;
    return all - rest * (number)size;
}

__device__ __forceinline__ place index_place(const walk &w, number position) {
    place p = {0, 0, 0, position, 0};
#pragma unroll
    for (int d = AT - 1; d >= 0; d--) {
        i64 k = take(position, w.at[d], d == 0);
        p.index += k * w.at_from[d];
        p.out += k * w.at_to[d];
    }
    return p;
}

__device__ __forceinline__ place place_of(const walk &w, i64 item) {
    number rest = (number)item, run = 0, size = 1;
    i64 from = 0, to = 0;
#pragma unroll
    for (int d = INNER - 1; d >= 0; d--) {
        number k = take(rest, w.inner[d], false);
        from += (i64)k * w.inner_from[d];
        to += (i64)k * w.inner_to[d];
        run += k * size;
        size *= (number)w.inner[d];
    }
    place p = index_place(w, take(rest, w.indices, OUTER == 0));
#pragma unroll
    for (int d = OUTER - 1; d >= 0; d--) {
        i64 k = take(rest, w.outer[d], d == 0);
        from += k * w.outer_from[d];
        to += k * w.outer_to[d];
    }
    p.table = from;
    p.out += to;
    p.run = run;
    return p;
}

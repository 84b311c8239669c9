// SPDX-License-Identifier: Apache-2.0
// gpu_pushed_rows.cuh - a column of V sums for each of KY rows of outputs under way, over rows that lie anywhere in shared memory: every sum moves to its next place by being
// written there, so that a loop has a short text. After gpu_bytes.cuh.
//
// -DREAD=8, 16: lanes read their columns by so many bytes, where lanes further apart would else meet in banks; else by 4.
#include "ops/correlate/gpu_rolled_rows.cuh"
#include "ops/correlate/gpu_shifted_words.cuh"

#ifndef READ
#define READ 4
#endif
enum { VW = V * SIZE / 4 }; // words of a lane
static_assert(V * SIZE % READ == 0, "lanes lie whole reads apart");

// A lane's columns of a row, whose words are moved down by bytes.
__device__ __forceinline__ void read_row(work (&value)[V], const char *room, unsigned at) {
    const char *lies = room + (at & -(unsigned)READ);
    unsigned given[VW + READ / 4], word[VW];
#pragma unroll
    for (int i = 0; i < VW + READ / 4; i += READ / 4) {
        const words<READ> read = *(const words<READ> *)(lies + 4 * i);
#pragma unroll
        for (int j = 0; j < READ / 4; j++)
            given[i + j] = read.word[j];
    }
    move_down<VW, READ, SIZE>(word, given, at);
#pragma unroll
    for (int i = 0; i < V; i++)
        value[i] = part(word, i);
}

// What rows FROM .. TO of the mask make of a row, the last one first: every sum moves to its next place by being written there. FROM > 0: below it are sums of no output.
template <int TO, int FROM = 0> __device__ __forceinline__ void push(work (&sum)[KY][V], const work (&value)[V], const tap_list<KY> &taps) {
#pragma unroll
    for (int ky = TO; ky >= FROM; ky--)
#pragma unroll
        for (int i = 0; i < V; i++)
            sum[ky][i] = multiply_add(value[i], taps.w[ky], ky ? sum[ky - 1 < 0 ? 0 : ky - 1][i] : (work)0);
}
template <int J>
__device__ __forceinline__ void first_rows(work (&sum)[KY][V], const char *room, unsigned &at, unsigned pitch, const tap_list<KY> &taps) {
    if constexpr (J < KY - 1) {
        work value[V];
        read_row(value, room, at);
        push<J>(sum, value, taps);
        at += pitch;
        first_rows<J + 1>(sum, room, at, pitch, taps);
    }
}

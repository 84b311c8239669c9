// SPDX-License-Identifier: Apache-2.0
// gpu_merge.cu - long rows of `in` become short ones that follow each other: gpu_split.cu the other way round.
//
// A block writes a piece of the records' memory from sector to sector; of each row it reads the aligned vectors that hold what belongs there. What else lies in
// them goes to shared memory too, beyond what is written.
#include "ops/transpose/gpu_records.cuh"

enum {
    ITEMS = (ROWS - 2) * V,                           // records of a block: two vectors of a row may hold other ones too
    BYTES = ITEMS * RECORD,
    LEAD = (16 * C + RECORD + 15) / 16 * 16,          // room before the piece
    AT_A_TIME = 4
};
static_assert(BYTES % 32 == 0, "pieces begin at sectors");

extern "C" __global__ void __launch_bounds__(THREADS) merge(const element *in, element *out, const plane m) {
    extern __shared__ uint4 room[];
    const i64 all = m.p_size * RECORD;
    const unsigned tiles = (unsigned)((all + 31 + BYTES - 1) / BYTES);
    place at;
    find_matrix(at, m, blockIdx.x / tiles);
    in += at.in;
    char *to = (char *)(out + at.out);
    const i64 piece = (i64)(blockIdx.x % tiles) * BYTES - ((unsigned)(unsigned long long)to & 31); // its first byte
    const i64 begin = piece < 0 ? 0 : piece, end = piece + BYTES < all ? piece + BYTES : all;
    if (begin >= end)
        return;
    const i64 first = begin / RECORD;
    const int base = LEAD + (int)(first * RECORD - piece);
    for (int turn = threadIdx.x / 32; turn < TURNS; turn += WARPS * AT_A_TIME) {
        vector x[AT_A_TIME];
        int ahead[AT_A_TIME];
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++) {
            const int n = turn + j * WARPS, k = row_of(n);
            if (n < TURNS && k < C) {
                const element *row = in + k * m.q_in;
                ahead[j] = vector_of(n) * V - (int)((unsigned)(unsigned long long)(row + first) & 15) / SIZE;
                const i64 e = first + ahead[j];
                if (e >= 0 && e + V <= m.p_size)
                    asm volatile("ld.global.nc.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                                 : "=r"(x[j].word[0]), "=r"(x[j].word[1]), "=r"(x[j].word[2]), "=r"(x[j].word[3])
                                 : "l"(row + e));
                else
#pragma unroll
                    for (int i = 0; i < V; i++)
                        if (e + i >= 0 && e + i < m.p_size)
                            x[j].one[i] = row[e + i];
            }
        }
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++) {
            const int n = turn + j * WARPS, k = row_of(n);
            if (n < TURNS && k < C)
#pragma unroll
                for (int i = 0; i < V; i++)
                    *(element *)((char *)room + spot(base + (ahead[j] + i) * RECORD + k * SIZE)) = x[j].one[i];
        }
    }
    __syncthreads();
#pragma unroll 1 // lanes stay together
    for (int i = threadIdx.x * 16; i < (int)(end - piece); i += THREADS * 16) {
        const char *from = (const char *)room + spot(LEAD + i);
        if (piece + i >= begin && piece + i + 16 <= end)
            *(uint4 *)(to + piece + i) = *(const uint4 *)from;
        else
            for (int b = 0; b < 16; b += SIZE)
                if (piece + i + b >= begin && piece + i + b < end)
                    *(element *)(to + piece + i + b) = *(const element *)(from + b);
    }
}

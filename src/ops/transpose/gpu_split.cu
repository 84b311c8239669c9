// SPDX-License-Identifier: Apache-2.0
// gpu_split.cu - short rows of `in` that follow each other become long ones: the colours of an image, real and imaginary parts, an array of structures.
//
// What a block takes of a row begins at a sector of the row: MORE records before the block's own are brought too where rows do not all begin at sectors.
#include "ops/transpose/gpu_records.cuh"

enum { MORE = 32 / SIZE, RECORDS = ROWS * V };

extern "C" __global__ void __launch_bounds__(THREADS) split(const element *in, element *out, const plane m) {
    extern __shared__ uint4 room[];
    const unsigned tiles = (unsigned)((m.q_size + MORE - 1 + RECORDS - 1) / RECORDS);
    place at;
    find_matrix(at, m, blockIdx.x / tiles);
    in += at.in;
    out += at.out;
    const i64 first = (i64)(blockIdx.x % tiles) * RECORDS;
    const bool even = ((unsigned)(unsigned long long)out | (unsigned)(m.p_out * SIZE)) % 32 == 0; // all rows begin at sectors
    const i64 from = first > 0 && !even ? first - MORE : first, to = first + RECORDS < m.q_size ? first + RECORDS : m.q_size;
    if (from >= to)
        return;
    const char *low = (const char *)in, *high = low + m.q_size * RECORD, *begin = low + from * RECORD, *end = low + to * RECORD;
    const int skip = (int)((unsigned)(unsigned long long)begin & 15);
    begin -= skip;
#pragma unroll 1 // lanes stay together
    for (int i = threadIdx.x * 16; i < (int)(end - begin); i += THREADS * 16)
        if (begin + i >= low && begin + i + 16 <= high)
            asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared((char *)room + spot(i))), "l"(begin + i) : "memory");
        else
            for (int b = 0; b < 16; b += SIZE)
                if (begin + i + b >= low && begin + i + b < high)
                    *(element *)((char *)room + spot(i + b)) = *(const element *)(begin + i + b);
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    for (int n = threadIdx.x / 32; n < TURNS; n += WARPS) {
        const int k = row_of(n);
        if (k >= C)
            continue;
        element *row = out + k * m.p_out;
        const int back = (int)((unsigned)(unsigned long long)row & 31) / SIZE, ahead = vector_of(n) * V - back; // of the block's first record
        const int b = skip + ((int)(first - from) + ahead) * RECORD + k * SIZE;
        const i64 e = first + ahead;
        if (e >= 0 && e + V <= m.q_size) {
            vector x;
#pragma unroll
            for (int i = 0; i < V; i++)
                x.one[i] = *(const element *)((const char *)room + spot(b + i * RECORD));
            asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(row + e), "r"(x.word[0]), "r"(x.word[1]), "r"(x.word[2]), "r"(x.word[3]) : "memory");
        } else {
            for (int i = 0; i < V; i++)
                if (e + i >= 0 && e + i < m.q_size)
                    row[e + i] = *(const element *)((const char *)room + spot(b + i * RECORD));
        }
    }
}

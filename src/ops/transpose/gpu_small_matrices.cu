// SPDX-License-Identifier: Apache-2.0
// gpu_small_matrices.cu - many small matrices, one after the other: a block turns as many as fill a piece of memory.
//
// A tile of 32 x 32 for a matrix of 8 x 8 is mostly not there, and a block for each does next to nothing. Pieces of `in` and `out` hold the same matrices, so a piece
// comes to shared memory as it lies, and each vector of the result takes its V elements from it. -DP x -DQ: elements of a matrix, known when compiled, so that
// places take no divisions. Pieces are whole matrices and whole sectors.
//
// -DPIECE bytes of a piece, -DTHREADS, -DSIZE.
#include "ops/transpose/gpu_piece.cuh"

typedef piece<SIZE>::type element;
enum { V = 16 / SIZE };
static_assert(PIECE % 32 == 0 && PIECE % (P * Q * SIZE) == 0, "whole matrices, whole sectors");

union vector {
    element one[V];
    unsigned word[4];
};

// Where element e of a piece of `out` is in that of `in`: (p, q) of a matrix at p * Q + q there, at q * P + p here.
__device__ int place_of(int e) {
    const int matrix = e / (P * Q) * (P * Q), p = (e - matrix) / Q, q = (e - matrix) % Q;
    return matrix + q * P + p;
}

// So many elements from each multiple of it on are of one row of `out`: P apart in the piece.
enum { G = (V | Q) & -(V | Q) }; // the largest power of 2 that divides both

extern "C" __global__ void __launch_bounds__(THREADS) small_matrices(const char *in, char *out, i64 all) {
    __shared__ uint4 room[PIECE / 16];
    const i64 first = (i64)blockIdx.x * PIECE;
    const int bytes = all - first < PIECE ? (int)(all - first) : PIECE;
    in += first;
    out += first;
    for (int i = threadIdx.x * 16; i + 16 <= bytes; i += THREADS * 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared((char *)room + i)), "l"(in + i) : "memory");
    if (bytes % 16 / SIZE > (int)threadIdx.x) {
        const int i = bytes / 16 * 16 + threadIdx.x * SIZE;
        *(element *)((char *)room + i) = *(const element *)(in + i);
    }
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    const element *elements = (const element *)room;
#pragma unroll 1 // lanes stay together
    for (int i = threadIdx.x; i * 16 + 16 <= bytes; i += THREADS) {
        vector x;
        const int e = i * V % (P * Q);
        int place = place_of(i * V), p = e / Q, q = e % Q; // from group to group of elements: a division for each would be most of the work
#pragma unroll
        for (int k = 0; k < V; k += G) {
#pragma unroll
            for (int j = 0; j < G; j++)
                x.one[k + j] = elements[place + j * P];
            q += G;
            place += G * P;
            if (q == Q) {
                q = 0;
                place -= P * Q - 1;
                if (++p == P) {
                    p = 0;
                    place += P * Q - P;
                }
            }
        }
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(out + i * 16), "r"(x.word[0]), "r"(x.word[1]), "r"(x.word[2]), "r"(x.word[3]) : "memory");
    }
    if (bytes % 16 / SIZE > (int)threadIdx.x) {
        const int e = bytes / 16 * V + threadIdx.x;
        *(element *)(out + e * SIZE) = elements[place_of(e)];
    }
}

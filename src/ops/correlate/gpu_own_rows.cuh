// SPDX-License-Identifier: Apache-2.0
// gpu_own_rows.cuh - rows on their way through shared memory where each thread copies what it alone reads, so that nobody waits for its copies; and warps that
// wait for the warps beside them only.
//
// As gpu_ring.cuh with RING_LEFT and RING_RIGHT 0. A copy is a thread's V columns; ghost cells, and a row's last few elements, pass through its registers.
#include "ops/correlate/gpu_ring.cuh"

// What a thread knows of its columns: they lie inside; some of them are elements, by a boundary's rule or before the row's end; results are made there; V of
// them; some stand outside, between the passes constants. From OWN_WARP on its warp's number.
enum { OWN_INSIDE = 1, OWN_SOME = 2, OWN_WORKS = 4, OWN_ALL = 8, OWN_GHOST = 16, OWN_WARP = 8 };

const int OWN_BYTES = V * SIZE, WARPS = THREADS / 32;
static_assert(WHOLE && (OWN_BYTES == 4 || OWN_BYTES == 8 || OWN_BYTES == 16), "a thread's columns are one copy");
static_assert(WARPS <= 16, "each two warps have a barrier of 16");

// Meets the warps before and behind, which do the same: first those of an even number the one behind. Barrier 0 is the block's.
__device__ __forceinline__ void meet_neighbours(int flags) {
    const int warp = flags >> OWN_WARP, one = warp | 1, two = (warp + 1) & ~1;
    if (WARPS % 2 == 0 || one < WARPS)
        asm volatile("bar.sync %0, 64;" ::"r"(one) : "memory");
    if (two > 0 && two < WARPS)
        asm volatile("bar.sync %0, 64;" ::"r"(two) : "memory");
    if (WARPS == 1)
        __syncwarp();
}

__device__ __forceinline__ void copy_own(unsigned to, const char *from) {
    if (OWN_BYTES == 16)
        copy_vector(to, from);
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(OWN_BYTES < 16 ? OWN_BYTES : 8) : "memory");
}
// A vector of sums to shared memory.
__device__ __forceinline__ void lay_vector(unsigned to, const float *v) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]) : "memory");
}
__device__ __forceinline__ void lay_vector(unsigned to, const double *v) {
    asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(to), "d"(v[0]), "d"(v[1]) : "memory");
}

// Rows from `next_y` on, N a turn, DEEP turns of them in shared memory: the next DEEP - 1 are on their way.
template <int N, int DEEP> struct own_rows {
    const char *from; // the next row's own columns
    unsigned ring;    // the thread's own in shared memory
    int flags, column, next_y, next, slot;

    // Results stand at column `out` of rows that end at `end`; the thread's own columns begin at `column`.
    __device__ __forceinline__ own_rows(element *memory, const element *in, const frame &f, int y, int column, int out, int end)
        : column(column), next_y(y), next(0), slot(0) {
        const int n_x = (int)f.n_x, lane = threadIdx.x % 32;
        const bool inside = column >= 0 && column + V <= n_x;
        int bits = (inside ? OWN_INSIDE : 0) | (out < end ? OWN_WORKS : 0) | (out + V <= end ? OWN_ALL : 0) |
                   (f.edge.least < 0 && !inside ? OWN_GHOST : 0) | threadIdx.x / 32 << OWN_WARP;
        element *mine = memory + threadIdx.x * V;
        if (!inside) {
#pragma unroll 1
            for (int i = 0; i < V; i++) {
                bits |= at(f, i) >= 0 ? OWN_SOME : 0;
#pragma unroll 1
                for (int r = 0; r < DEEP * N; r++)
                    mine[r * TILE + i] = ghost_of(f);
            }
        }
        from = (const char *)(in + (i64)y * f.in_y + column);
        // A shuffle makes opaque what the compiler would else compute again in every turn.
        flags = __shfl_sync(0xffffffff, bits, lane);
        ring = __shfl_sync(0xffffffff, (unsigned)__cvta_generic_to_shared(mine), lane);
    }
    // Where column number i of the thread's own comes from; -1: a constant, or what no output needs.
    __device__ __forceinline__ int at(const frame &f, int i) const {
        return column + i < (int)f.m_x + RIGHT ? resolve_x(column + i, (int)f.n_x, f.edge) : -1;
    }
    // The next rows, if there are `more`.
    __device__ __forceinline__ void ask(bool more, const element *in, const frame &f) {
        if (more) {
            const unsigned to = ring + next * (N * TILE * SIZE);
            const bool inside = next_y >= 0 && next_y + N <= (int)f.n_y;
            if (inside && (flags & OWN_INSIDE)) {
                const char *row = from;
#pragma unroll
                for (int r = 0; r < N; r++) {
                    copy_own(to + r * (TILE * SIZE), row);
                    row += f.in_y * (i64)SIZE;
                }
            } else if (!inside || (flags & OWN_SOME)) {
                element *mine = (element *)__cvta_shared_to_generic(to);
#pragma unroll 1
                for (int r = 0; r < N; r++) {
                    const int y = resolve(next_y + r, (int)f.n_y, f.edge);
#pragma unroll 1
                    for (int i = 0; i < V; i++) {
                        const int x = at(f, i);
                        mine[r * TILE + i] = y < 0 || x < 0 ? ghost_of(f) : in[(i64)y * f.in_y + x];
                    }
                }
            }
            from += N * f.in_y * (i64)SIZE;
            next_y += N;
        }
        end_copies();
        next = next == DEEP - 1 ? 0 : next + 1;
    }
    // The turn's rows, which have been waited for.
    __device__ __forceinline__ void take(work (&value)[N][V]) {
        const unsigned rows = ring + slot * (N * TILE * SIZE);
#pragma unroll
        for (int r = 0; r < N; r++) {
            const words<OWN_BYTES> w = *(const words<OWN_BYTES> *)__cvta_shared_to_generic(rows + r * (TILE * SIZE));
#pragma unroll
            for (int i = 0; i < V; i++)
                value[r][i] = cell(w.word, i);
        }
        slot = slot == DEEP - 1 ? 0 : slot + 1;
    }
};

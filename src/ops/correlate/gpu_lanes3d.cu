// SPDX-License-Identifier: Apache-2.0
// gpu_lanes3d.cu - production: a list of three short 1-D masks over volumes of narrow elements, the last mask along rows, where the issue of instructions binds.
//
// In separable3d and shifted3d a block's threads meet at a barrier every turn, and what lies between the masks passes through shared memory. Here a warp marches along z
// by itself. A lane has V columns of R rows: a plane's rows pass through the mask along y as they are converted, each plane adds to the KZ planes of outputs under
// way, and of a finished plane the neighbour lanes hold the rest of the windows along x. Nothing waits but for memory, and a row's place in registers is filled with
// the next plane's as soon as the row is taken.
//
// Lanes are dealt out to all pieces of V columns of all groups of R rows in turn, so a warp may hold the end of one group of rows and the begin of the next, and no
// length of rows leaves lanes over. The first and the last lane of a warp compute what its neighbours write.
//
// -DKY, -DKZ; -DR rows a thread; -DBOUNDARY; -DWARPS of a block; -DRAISED=1, of u8: weights along y come times 2^24, and elements as their 2^24th part.
#include "ops/correlate/gpu_window.cuh"

#include "ops/correlate/gpu_boundary.cuh"
#include "ops/correlate/gpu_bytes.cuh"

enum { V = 4, ROWS = R + KY - 1, BYTES = V * SIZE };
static_assert(LEFT <= V && RIGHT <= V, "windows of three lanes");

// The compiler would else compute it anew in every turn.
__device__ __forceinline__ int opaque(int i) { return __shfl_sync(0xffffffff, i, threadIdx.x % 32); }
__device__ __forceinline__ i64 opaque(i64 i) { return (i64)__shfl_sync(0xffffffff, (u64)i, threadIdx.x % 32); }

// The row that stands at number y, -1 for constants.
__device__ __forceinline__ int row_at(int y, const frame &f) {
    asm volatile("" : "+r"(y)); // the compiler would else keep where each row lies
    return resolve(y, (int)f.n_y, f.edge);
}
__device__ __forceinline__ void fill(unsigned *word, const frame &f) {
#pragma unroll
    for (int i = 0; i < V; i++)
        put(word, i, ghost_of(f));
}
__device__ __forceinline__ work value_of(const unsigned *word, int i) { return RAISED ? part_of_byte(word, i) : cell(word, i); }
// A place in a window. No output needs what is taken from another.
__device__ __forceinline__ constexpr int in_window(int i) { return i < 0 || i >= LEFT + V + RIGHT ? 0 : i; }

#if WHOLE
#include "ops/correlate/gpu_lanes_whole.cuh"
#else
#include "ops/correlate/gpu_lanes_anywhere.cuh"
#endif
enum { OWN = 32 - LAP_LEFT - LAP_RIGHT };

// The chains along y of the plane at `now`, which has come; the one at `next` is asked for.
template <bool INSIDE>
__device__ __forceinline__ void pass_y(work (&value)[R][V], piece (&rows)[ROWS], const source &from, i64 now, i64 next, const frame &f,
                                       const tap_list<KY> &taps) {
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        work one[V];
        from.take<INSIDE>(one, rows[r], now, r, f);
        from.ask<INSIDE>(rows[r], next, r, f);
#pragma unroll
        for (int o = 0; o < R; o++) {
            const int ky = r - o;
            if (ky < 0 || ky >= KY)
                continue;
#pragma unroll
            for (int i = 0; i < V; i++)
                value[o][i] = multiply_add(one[i], taps.w[ky], ky ? value[o][i] : (work)0);
        }
    }
}

// The element `by` columns from the lane's first one: its own, or a neighbour's.
__device__ __forceinline__ work beside(const work (&row)[V], int by) {
    return by < 0   ? __shfl_up_sync(0xffffffff, row[V + by < 0 ? 0 : V + by], 1)
           : by < V ? row[by]
                    : __shfl_down_sync(0xffffffff, row[by - V < V ? by - V : 0], 1);
}

// A finished plane through the mask along x, and out. ENDS: some lanes stand at a row's ends.
template <bool ENDS>
__device__ __forceinline__ void put_plane(char *to, const sink &out, const work (&sum)[R][V], const frame &f, const tap_list<KX> &taps) {
#pragma unroll
    for (int r = 0; r < R; r++) {
        work window[LEFT + V + RIGHT], done[V];
#pragma unroll
        for (int i = 0; i < LEFT + V + RIGHT; i++)
            window[i] = beside(sum[r], i - LEFT);
        if (ENDS)
            out.mend(window, f);
        add_window(done, window, taps);
        out.put<ENDS>(to, done, r, f);
        to += f.out_y * (i64)sizeof(result);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    lanes3d(const element *in, result *out, const frame f, const int along, const int pieces, const int depth, const unsigned deep,
            const tap_list<KX> along_x, const tap_list<KY> along_y, const tap_list<KZ> along_z) {
    const int lane = threadIdx.x % 32, begin = (int)(blockIdx.x * WARPS + threadIdx.x / 32) * OWN - LAP_LEFT;
    if (begin + LAP_LEFT >= pieces)
        return;
    const unsigned number = blockIdx.z / deep;
    const int z = (blockIdx.z - number * deep) * depth, planes = min(depth, (int)f.m_z - z) + KZ - 1, front = z - f.before_z;
    find_array(f, number, in, out);
    const int at = min(max(begin + lane, 0), pieces - 1), group = at / along, x = (at - group * along) * V, y = group * R;
    const source from(in, f, x, y - f.before_y);
    const sink lines(f, x, lane >= LAP_LEFT && lane < 32 - LAP_RIGHT && begin + lane < pieces ? (int)f.m_y - y : 0);
    const bool inside = __all_sync(0xffffffff, from.inside(f)), ends = __any_sync(0xffffffff, lines.ends(f));
    char *to = (char *)(out + (i64)z * f.out_z + (i64)y * f.out_y + x);

    // Bytes to plane number `turn` of the warp's. Of a plane of constants any plane is read.
    const auto plane_of = [&](int turn) {
        int z = front + turn;
        if ((unsigned)z >= (unsigned)f.n_z)
            z = max(resolve(z, (int)f.n_z, f.edge), 0);
        return z * f.in_z * SIZE;
    };
    piece rows[ROWS];
    i64 now = plane_of(0);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        from.ask<false>(rows[r], now, r, f);
    work sum[KZ][R][V];
#pragma unroll
    for (int k = 0; k < KZ; k++)
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[k][r][i] = 0;
#pragma unroll 1
    for (int turn = 0; turn < planes; turn++) {
        work value[R][V];
        const i64 next = plane_of(turn + 1);
        const bool is_ghost = BOUNDARY == BOUNDARY_CONSTANT && (unsigned)(front + turn) >= (unsigned)f.n_z;
        if (inside && !is_ghost) {
            pass_y<true>(value, rows, from, now, next, f, along_y);
        } else {
            pass_y<false>(value, rows, from, now, next, f, along_y);
            if (is_ghost)
#pragma unroll
                for (int r = 0; r < R; r++)
#pragma unroll
                    for (int i = 0; i < V; i++)
                        value[r][i] = load_as<work, IN>(ghost_of(f));
        }
        now = next;
        // From the oldest plane of outputs under way on, so that each sum's next place is free.
#pragma unroll
        for (int kz = KZ - 1; kz >= 0; kz--)
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int i = 0; i < V; i++) {
                    sum[kz][r][i] = multiply_add(value[r][i], along_z.w[kz], kz ? sum[kz - 1][r][i] : (work)0);
                    keep(sum[kz][r][i]);
                }
        if (turn < KZ - 1)
            continue;
        if (ends)
            put_plane<true>(to, lines, sum[KZ - 1], f, along_x);
        else
            put_plane<false>(to, lines, sum[KZ - 1], f, along_x);
        to += f.out_z * (i64)sizeof(result);
    }
}

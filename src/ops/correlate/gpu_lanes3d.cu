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

enum { V = 4, ROWS = R + KY - 1, OWN = 30, BYTES = V * SIZE };
static_assert(LEFT <= V && RIGHT <= V, "windows of three lanes");
typedef words<BYTES> piece;

// The compiler would else compute it anew in every turn.
__device__ __forceinline__ int opaque(int i) { return __shfl_sync(0xffffffff, i, threadIdx.x % 32); }
__device__ __forceinline__ i64 opaque(i64 i) { return (i64)__shfl_sync(0xffffffff, (u64)i, threadIdx.x % 32); }

// Where the lane's rows come from. INSIDE: all rows of all lanes are rows of the array.
struct source {
    i64 first;     // the lane's first column in its row number 0 of plane 0
    int top, step; // that row's number, bytes from row to row

    template <bool INSIDE> __device__ __forceinline__ void ask(piece &p, i64 plane, int r, const frame &f) const {
        if (INSIDE) {
            load_now(p, (const char *)(first + plane + (i64)step * r));
            return;
        }
        int row = top + r;
        asm volatile("" : "+r"(row)); // the compiler would else keep where each row lies
        const int y = resolve(row, (int)f.n_y, f.edge);
        if (y >= 0) {
            load_now(p, (const char *)(first + plane + (i64)step * (y - top)));
        } else {
#pragma unroll
            for (int i = 0; i < V; i++)
                put(p.word, i, ghost_of(f));
        }
    }
    template <bool INSIDE> __device__ __forceinline__ void ask_all(piece (&p)[ROWS], i64 plane, const frame &f) const {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            ask<INSIDE>(p[r], plane, r, f);
    }
    // The chains along y of the plane that has come; the one that lies at `next` is asked for.
    template <bool INSIDE>
    __device__ __forceinline__ void take(work (&value)[R][V], piece (&p)[ROWS], i64 next, const frame &f, const tap_list<KY> &taps) const {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            work one[V];
#pragma unroll
            for (int i = 0; i < V; i++)
                one[i] = RAISED ? part_of_byte(p[r].word, i) : cell(p[r].word, i);
            ask<INSIDE>(p[r], next, r, f);
            add_row(value, one, r, taps);
        }
    }
};

// A finished plane through the mask along x, and out. ENDS: some lanes stand at a row's begin (LEAST) or end (LAST), where constants stand or, by rules that turn back,
// the lane's own columns once more.
enum { LEAST = 1, LAST = 2, ONE = 4 /* row to write */ };
template <bool ENDS> __device__ __forceinline__ void put_plane(char *to, i64 step, int lane, const work (&sum)[R][V], const frame &f, const tap_list<KX> &taps) {
    const work ghost = load_as<work, IN>(ghost_of(f));
#pragma unroll
    for (int r = 0; r < R; r++) {
        work window[LEFT + V + RIGHT], done[V];
#pragma unroll
        for (int i = 0; i < LEFT + V + RIGHT; i++)
            window[i] = beside(sum[r], i - LEFT);
        if (ENDS) {
#pragma unroll
            for (int i = 0; i < LEFT + V + RIGHT; i++) {
                const int beyond = i < LEFT ? LEFT - 1 - i : i - LEFT - V; // so many columns from the lane's
                const bool there = i < LEFT ? !(lane & LEAST) : i < LEFT + V || !(lane & LAST);
                const int turned = i < LEFT ? LEFT + turned_back(BOUNDARY, beyond) : LEFT + V - 1 - turned_back(BOUNDARY, beyond);
                window[i] = there ? window[i] : BOUNDARY == BOUNDARY_CONSTANT ? ghost : window[turned < 0 || turned >= LEFT + V + RIGHT ? 0 : turned];
            }
        }
        add_window(done, window, taps);
        packed<V>(done).store_if(lane >= (r + 1) * ONE, to);
        to += step;
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    lanes3d(const element *in, result *out, const frame f, const int along, const int pieces, const int depth, const unsigned deep,
            const tap_list<KX> along_x, const tap_list<KY> along_y, const tap_list<KZ> along_z) {
    const int lane = threadIdx.x % 32, begin = (int)(blockIdx.x * WARPS + threadIdx.x / 32) * OWN - 1;
    if (begin + 1 >= pieces)
        return;
    const unsigned number = blockIdx.z / deep;
    const int z = (blockIdx.z - number * deep) * depth, planes = min(depth, (int)f.m_z - z) + KZ - 1, front = z - f.before_z;
    find_array(f, number, in, out);
    const int at = min(max(begin + lane, 0), pieces - 1), group = at / along, x = (at - group * along) * V, y = group * R;
    const int top = y - f.before_y, step = (int)f.in_y * SIZE;
    const source from = {opaque((i64)in + x * SIZE + (i64)step * top), opaque(top), step};
    const bool inside = __all_sync(0xffffffff, top >= 0 && top + ROWS <= (int)f.n_y);
    const int left = lane >= 1 && lane <= OWN && begin + lane < pieces ? (int)f.m_y - y : 0;
    const int mine = opaque((x == 0 ? LEAST : 0) + (x + V >= (int)f.m_x ? LAST : 0) + min(left, R) * ONE);
    const bool ends = __any_sync(0xffffffff, mine % ONE);
    char *to = (char *)(out + (i64)z * f.out_z + (i64)y * f.out_y + x);

    // Bytes to plane number `turn` of the warp's. Of a plane of constants any plane is read.
    const auto plane_of = [&](int turn) {
        int z = front + turn;
        if ((unsigned)z >= (unsigned)f.n_z)
            z = max(resolve(z, (int)f.n_z, f.edge), 0);
        return z * f.in_z * SIZE;
    };
    piece rows[ROWS];
    if (inside)
        from.ask_all<true>(rows, plane_of(0), f);
    else
        from.ask_all<false>(rows, plane_of(0), f);
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
        if (inside)
            from.take<true>(value, rows, next, f, along_y);
        else
            from.take<false>(value, rows, next, f, along_y);
        if (BOUNDARY == BOUNDARY_CONSTANT && (unsigned)(front + turn) >= (unsigned)f.n_z) {
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int i = 0; i < V; i++) {
                    value[r][i] = load_as<work, IN>(ghost_of(f));
                    keep(value[r][i]); // a branch, and not a choice for every sum
                }
        }
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
            put_plane<true>(to, f.out_y * (i64)sizeof(result), mine, sum[KZ - 1], f, along_x);
        else
            put_plane<false>(to, f.out_y * (i64)sizeof(result), mine, sum[KZ - 1], f, along_x);
        to += f.out_z * (i64)sizeof(result);
    }
}

// SPDX-License-Identifier: Apache-2.0
// gpu_separable3d.cu - production: a list of three 1-D masks over volumes, in any order, or of two beside rows, in one pass over memory.
//
// Three launches move every element six times. Here a block marches along z with a tile of rows and columns: a plane that arrives in shared memory passes
// through the three masks while it is in the block. Of the two axes that are not x, the frame's y is the one that the list has first and z the one that it
// has second, whatever they are in the array. So y's windows always come before z, where each plane adds to the KZ - 1 planes of outputs under way; and the mask
// along x stands before both, between them or after them: PLACE 0, 1 or 2.
//
// A turn has two halves. What the first half makes of a plane is laid down in shared memory (`mid`), the second half takes it up one turn later, so that a turn
// has one barrier; a thread's columns in one half need not be its columns in the other.
//     PLACE 0: x from the ring, all rows that y's windows reach   | y, then z, out
//     PLACE 1: y from the ring, all columns that x's windows reach | x, then z, out
//     PLACE 2: y from the ring, then z                             | x, out
//     PLACE 3: y from the ring, then z, out: there is no mask along x, and no second half
// Ghost cells of each pass stand before it: the constant itself, or what the passes before make of the elements that the boundary names, which is the
// same in either order.
//
// -DPLACE; -DKY, -DKZ; -DR rows a thread, that share a weight; -DALONG threads along x, -DDOWN along y, of -DTHREADS; -DSTAGES planes in shared memory.
// Columns beside those that come out are computed by whole threads, two together: rows of threads then lie in different banks.
#define BESIDE (WHOLE ? 2 * V : V * SIZE < 16 ? 16 / SIZE : V)
#if PLACE
#define RING_LEFT 0
#define RING_RIGHT 0
#define RING_AWAY up_to(LEFT, BESIDE)
#endif
#include "ops/correlate/gpu_planes.cuh"

const int WORDS = 16 / (int)sizeof(work), MID_LEFT = PLACE ? up_to(LEFT, BESIDE) : 0, MID_RIGHT = PLACE ? up_to(RIGHT, BESIDE) : 0,
          FINISHED = TILE - MID_LEFT - MID_RIGHT;
const int MID = PLACE == 3 ? 0 : (PLACE ? DOWN * R : ROWS) * TILE;
static_assert(V == WORDS, "a thread's columns between passes are a vector of 16 bytes");

__device__ __forceinline__ void read_mid(work (&value)[V], const work *at) {
    alignas(16) work w[V];
    *(uint4 *)w = *(const uint4 *)at;
#pragma unroll
    for (int i = 0; i < V; i++)
        value[i] = w[i];
}
__device__ __forceinline__ void write_mid(work *at, const work (&value)[V]) {
    alignas(16) work w[V];
#pragma unroll
    for (int i = 0; i < V; i++)
        w[i] = value[i];
    *(uint4 *)at = *(const uint4 *)w;
}

// Rows of windows between passes, through the mask along x.
__device__ __forceinline__ void pass_x(work (&value)[R][V], const work *from, const tap_list<KX> &taps) {
    work window[R][LEFT + V + RIGHT];
    read_between<MID_LEFT - LEFT, TILE>(window, from);
    add_windows(value, window, taps);
}

// A plane adds to the planes of outputs under way, from the oldest on, so that each sum's next place is free. The oldest is finished.
__device__ __forceinline__ void add_plane(work (&sum)[KZ][R][V], const work (&value)[R][V], const tap_list<KZ> &taps) {
#pragma unroll
    for (int kz = KZ - 1; kz >= 0; kz--)
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int i = 0; i < V; i++) {
                sum[kz][r][i] = multiply_add(value[r][i], taps.w[kz], kz ? sum[kz - 1][r][i] : (work)0);
                if (WHOLE && PLACE) // elsewhere there are no registers for it
                    keep(sum[kz][r][i]);
            }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    separable3d(const element *in, result *out, const frame f, const unsigned across, const int depth, const unsigned deep,
#if PLACE != 3
                const tap_list<KX> along_x,
#endif
                const tap_list<KY> along_y, const tap_list<KZ> along_z) {
    extern __shared__ uint4 memory[];
    work *mid = (work *)((element *)memory + STAGES * PLANE);
    plane_tile tile(in, out, f, across, depth, deep, FINISHED);
    const int along = tile.along, down = tile.down, first = tile.x - MID_LEFT, top = tile.y - f.before_y, front = tile.z - f.before_z;
    const bool works = THREADS == ALONG * DOWN || threadIdx.x < ALONG * DOWN, constant = f.edge.least < 0, finishes = works && along < FINISHED / V;
    const work ghost = load_as<work, IN>(ghost_of(f));
    int own = down * R * ROW + along * V;
    if (WHOLE)
        own = __shfl_sync(0xffffffff, own, threadIdx.x % 32); // opaque: it would else be computed in every turn
    plane_stream stream((element *)memory, in, f, tile, first);
    work sum[KZ][R][V];
    begin_sums(sum);
#if PLACE && PLACE != 3 && WHOLE // elsewhere there are no registers for it
    // Which of the thread's columns between the passes are constants. Where all are they stand there from the beginning.
    enum { ALL_GHOSTS = (1 << V) - 1 };
    int ghosts = 0;
#pragma unroll
    for (int i = 0; i < V; i++)
        ghosts |= (constant && outside(first + along * V + i, f.n_x)) << i;
    if (ghosts == ALL_GHOSTS && works) {
        work value[V];
#pragma unroll
        for (int i = 0; i < V; i++)
            value[i] = ghost;
#pragma unroll 1
        for (int r = 0; r < 2 * R; r++)
            write_mid(mid + (r < R ? 0 : MID) + (down * R + r % R) * TILE + along * V, value);
    }
#endif
#pragma unroll 1
    for (int turn = 0; turn < tile.planes + (PLACE != 3); turn++) {
        const element *plane = stream.turn(turn, in, f);
#if PLACE != 3
        work *later = mid + (turn & 1 ? MID : 0);
        const work *before = mid + (turn & 1 ? 0 : MID);
#endif
#if PLACE == 2
        // z is in the first half: what the second half takes up is finished.
        if (turn >= KZ) {
            if (finishes) {
                work done[R][V];
                pass_x(done, before + down * R * TILE + along * V, along_x);
                tile.write(f, done);
            }
            tile.to += tile.down_z;
        }
#elif PLACE < 2
        if (turn > 0 && finishes) {
            work value[R][V];
#if PLACE == 1
            pass_x(value, before + down * R * TILE + along * V, along_x);
#else
#pragma unroll
            for (int r = 0; r < R + KY - 1; r++) {
                work one[V];
                read_mid(one, before + (down * R + r) * TILE + along * V);
                add_row(value, one, r, along_y);
            }
#endif
            if (__builtin_expect(constant && outside(front + turn - 1, f.n_z), 0)) {
#pragma unroll
                for (int r = 0; r < R; r++)
#pragma unroll
                    for (int i = 0; i < V; i++)
                        value[r][i] = ghost;
            }
            add_plane(sum, value, along_z);
            if (turn >= KZ) {
                tile.write(f, sum[KZ - 1]);
                tile.to += tile.down_z;
            }
        }
#endif
        if (turn < tile.planes && works) {
#if PLACE == 0
#pragma unroll
            for (int k = 0; k < (ROWS + DOWN - 1) / DOWN; k++) {
                const int r = k * DOWN + down;
                if (ROWS % DOWN == 0 || r < ROWS) {
                    work window[LEFT + V + RIGHT], value[V];
                    read_window(window, plane + r * ROW, along);
                    add_window(value, window, along_x);
                    const bool is_ghost = constant && outside(top + r, f.n_y);
#pragma unroll
                    for (int i = 0; i < V; i++)
                        value[i] = is_ghost ? ghost : value[i];
                    write_mid(later + r * TILE + along * V, value);
                }
            }
#else
            work value[R][V];
#pragma unroll
            for (int r = 0; r < R + KY - 1; r++) {
                work one[V];
                read_window(one, plane + own + r * ROW, 0);
                add_row(value, one, r, along_y);
            }
#if PLACE >= 2
            if (__builtin_expect(constant && outside(front + turn, f.n_z), 0)) {
#pragma unroll
                for (int r = 0; r < R; r++)
#pragma unroll
                    for (int i = 0; i < V; i++)
                        value[r][i] = ghost;
            }
            add_plane(sum, value, along_z);
#endif
#if PLACE == 2
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int i = 0; i < V; i++)
                    value[r][i] = sum[KZ - 1][r][i];
#endif
#if PLACE == 3
            if (turn >= KZ - 1) {
                tile.write(f, sum[KZ - 1]);
                tile.to += tile.down_z;
            }
#elif WHOLE
            if (ghosts == 0) {
#pragma unroll
                for (int r = 0; r < R; r++)
                    write_mid(later + (down * R + r) * TILE + along * V, value[r]);
            } else if (ghosts != ALL_GHOSTS) {
#pragma unroll
                for (int r = 0; r < R; r++) {
                    work some[V];
#pragma unroll
                    for (int i = 0; i < V; i++)
                        some[i] = ghosts >> i & 1 ? ghost : value[r][i];
                    write_mid(later + (down * R + r) * TILE + along * V, some);
                }
            }
#else
            if (constant && reaches_edge(f, first)) {
#pragma unroll
                for (int i = 0; i < V; i++)
#pragma unroll
                    for (int r = 0; r < R; r++)
                        value[r][i] = outside(first + along * V + i, f.n_x) ? ghost : value[r][i];
            }
#pragma unroll
            for (int r = 0; r < R; r++)
                write_mid(later + (down * R + r) * TILE + along * V, value[r]);
#endif
#endif
        }
    }
}

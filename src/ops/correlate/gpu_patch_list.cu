// SPDX-License-Identifier: Apache-2.0
// gpu_patch_list.cu - production: a list of two short 1-D masks over bytes, along columns and then along rows, where the issue of instructions binds.
//
// As patch_separable by columns first: warps overlap, and of a finished row the neighbour lanes hold the rest of the window. But as in patch_shared the rows of a
// block come to shared memory, all at once, so that a block waits once, a row is there for every warp that meets it, and the loop over rows is rolled, KY rows a
// turn, each sum where it was. Bytes become f32 by way of 16 bits, by weights times 2^24.
//
// GROUP > 1, the colours of pixels: the rest of a window is many elements and may be two lanes away. Where that is too much to ask the lanes for (LAID=1) a warp lays a finished row down in shared memory
// and reads the windows by vectors.
//
// -DKY; -DV, -DR columns and rows of outputs a thread, R + 1 a multiple of KY; -DWX, -DWY warps of a block along x and y; -DSHORT=1: fewer rows of outputs than
// a block has; -DBOUNDARY; -DALONE=1: a row needs no lanes beyond its ends, where a constant stands or, by rules that turn back, columns whose sums its own lanes have.
#include "ops/correlate/gpu_copies.cuh"

#include "ops/correlate/gpu_boundary.cuh"
#include "ops/correlate/gpu_bytes.cuh"
#include "ops/correlate/gpu_laid_rows.cuh"
#include "ops/correlate/gpu_rolled_rows.cuh"

enum {
    WARPS = WX * WY,
    VECTOR = 16 / SIZE,        // elements
    OWN = (32 - 2 * LAPS) * V, // columns that a warp writes: all but those of its first LAPS lanes and its last
    WIDE = WX * OWN,           // columns of outputs
    ACROSS = (WIDE + 2 * LAPS * V + VECTOR - V + VECTOR - 1) /
             VECTOR, // vectors of a row in shared memory: LAPS lanes' columns beside on either side, wherever they begin
    ROW = ACROSS * VECTOR,
    ROWS = WY * R + KY - 1,
    TIMES = (ROWS * ACROSS + 32 * WARPS - 1) / (32 * WARPS)
};
static_assert(!ALONE || BOUNDARY == BOUNDARY_CONSTANT || turned_back(BOUNDARY, (LEFT > RIGHT ? LEFT : RIGHT) - 1) < V,
              "a lane holds what stands beside it");
static_assert((R + 1) % KY == 0 && LEFT <= LAPS * V && RIGHT <= LAPS * V && (GROUP > 1 || LAPS == 1) && V <= VECTOR,
              "whole turns, and windows of three or five lanes");
static_assert(GROUP == 1 || !ALONE, "pixels: lanes beyond a row's ends have what stands there");

// The rows of a block (INSIDE: all of them and their columns are there), all loads first. Vectors that lie across a row's end, and the elements that lanes beyond it want, are laid
// down one by one.
template <bool INSIDE> __device__ __forceinline__ void bring(element *room, const element *in, const frame &f, int first, int top) {
    const int n_x = (int)f.n_x, n_y = (int)f.n_y;
    words<16> v[TIMES], ghosts;
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
        put(ghosts.word, i, ghost_of(f));
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
        const unsigned number = i * 32 * WARPS + threadIdx.x, r = number / ACROSS, column = first + (number - r * ACROSS) * VECTOR;
        const int y = INSIDE ? top + (int)r : resolve(top + (int)r, n_y, f.edge);
        if (ROWS * ACROSS % (32 * WARPS) == 0 || i < TIMES - 1 || r < ROWS) {
            if (INSIDE || (y >= 0 && (int)column >= 0 && (int)column + VECTOR <= n_x))
                load_now(v[i], (const char *)(in + (i64)y * f.in_y + (int)column));
            else
                v[i] = ghosts;
        }
    }
#pragma unroll
    for (int i = 0; i < TIMES; i++)
        if (ROWS * ACROSS % (32 * WARPS) == 0 || i < TIMES - 1 || i * 32 * WARPS + (int)threadIdx.x < ROWS * ACROSS)
            *(uint4 *)(room + (i * 32 * WARPS + threadIdx.x) * VECTOR) = make_uint4(v[i].word[0], v[i].word[1], v[i].word[2], v[i].word[3]);
    if (INSIDE || ((ALONE || BOUNDARY == BOUNDARY_CONSTANT) && n_x % VECTOR == 0))
        return;
    __syncthreads();
    const int tail = max(first, n_x / VECTOR * VECTOR), beyond = min((int)f.m_x + RIGHT, first + ROW);
#pragma unroll 1
    for (int e = threadIdx.x % 32; e < LEFT + VECTOR + RIGHT; e += 32) {
        const int at = e < LEFT ? e - LEFT : tail + e - LEFT, from = resolve_x(at, n_x, f.edge);
        if (at < first || at >= beyond || from < 0)
            continue;
#pragma unroll 4
        for (int r = threadIdx.x / 32; r < ROWS; r += WARPS) {
            const int y = resolve(top + r, n_y, f.edge);
            if (y >= 0)
                room[r * ROW + at - first] = in[(i64)y * f.in_y + from];
        }
    }
}

// A row adds to every output that it concerns, each where it began.
struct column {
    const tap_list<KY> &taps;

    template <int FROM, int TO, int J> __device__ __forceinline__ void add(work (&sum)[KY][V], const element *at) const {
        const words<V *SIZE> w = *(const words<V * SIZE> *)at;
#pragma unroll
        for (int i = 0; i < V; i++) {
            const work value = part(w.word, i);
#pragma unroll
            for (int ky = FROM; ky <= TO; ky++) {
                work &s = sum[(J + KY - ky) % KY][i];
                s = multiply_add(value, taps.w[ky], ky == 0 ? (work)0 : s);
            }
        }
    }
};

// Rows of outputs one after the other, as far as there are. A lane's columns are all there, or none. At a row's end the columns beside a lane's, or its own, may be the constant, or
// those beside its own once more: a warp without such lanes has one test.
struct lines {
    char *to;
    i64 step;
    int left;
    bool writes, ends, is_ghost, ghost_left, ghost_right;
    work ghost;
    const tap_list<KX> &taps; // along x
    laid_row own;             // LAID
    __device__ __forceinline__ void put(const work (&row)[V]) {
        work window[LEFT + V + RIGHT], done[V];
        work mine[V];
#pragma unroll
        for (int i = 0; i < V; i++)
            mine[i] = GROUP > 1 && BOUNDARY == BOUNDARY_CONSTANT && is_ghost ? ghost : row[i];
#if LAID
        own.share(window, mine);
#else
#pragma unroll
        for (int i = 0; i < LEFT + V + RIGHT; i++)
            window[i] = beside(mine, i - LEFT);
#endif
        if (ALONE && ends) {
#pragma unroll
            for (int i = 0; i < LEFT + V + RIGHT; i++)
                if (BOUNDARY == BOUNDARY_CONSTANT)
                    window[i] = (i < LEFT ? ghost_left : i < LEFT + V ? is_ghost : ghost_right) ? ghost : window[i];
                else if (i < LEFT)
                    window[i] = ghost_left ? window[LEFT + turned_back(BOUNDARY, LEFT - 1 - i)] : window[i];
                else if (i >= LEFT + V)
                    window[i] = ghost_right ? window[LEFT + V - 1 - turned_back(BOUNDARY, i - LEFT - V)] : window[i];
        }
        add_window(done, window, taps);
        const packed<V> v(done);
        v.store_if(writes && (!SHORT || left > 0), to);
        to += step;
        if (SHORT)
            left--;
    }
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    patch_list(const element *in, result *out, const frame f, const tap_list<KX> along_x, const tap_list<KY> along_y) {
    extern __shared__ uint4 memory[]; // [ROWS][ROW], and of pixels [WARPS][2][ROOM] vectors
    element *room = (element *)memory;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = block_place().x * WIDE;
    const int y = SHORT ? 0 : min((int)block_place().y * (WY * R), (int)f.m_y - WY * R), top = y - f.before_y; // no block is left incomplete
    find_array(f, block_place().z, in, out);
    const int before = ALONE ? 0 : LAPS * V, first = (x - before) & -VECTOR; // its first lane is a warp's first
    if (top >= 0 && top + ROWS <= (int)f.n_y && first >= 0 && first + ROW <= (int)f.n_x)
        bring<true>(room, in, f, first, top);
    else
        bring<false>(room, in, f, first, top);
    __syncthreads();
    const int begins = x + warp % WX * OWN - before, own = begins + lane * V, row = y + warp / WX * R, left = (int)f.m_y - row;
    if (__all_sync(0xffffffff, left <= 0 || begins + (ALONE && begins > 0 ? V : before) >= (int)f.m_x))
        return;
    const element *at = room + warp / WX * R * ROW + own - first;
    char *to = (char *)(out + (i64)row * f.out_y + own);
    const i64 step = f.out_y * (i64)sizeof(result);
    const bool least = ALONE && own == 0, last = ALONE && own + V >= (int)f.m_x; // lanes that write though nobody is beside them
    const bool writes = (lane >= LAPS || least) && (lane < 32 - LAPS || last) && own < (int)f.m_x;
    const bool is_ghost = (GROUP > 1 && own < 0) || ((GROUP > 1 || ALONE) && own >= (int)f.n_x),
               ghost_left = least || (ALONE && own - V >= (int)f.n_x), ghost_right = ALONE && own + V >= (int)f.n_x;
    const bool ends = __any_sync(0xffffffff, ghost_left || ghost_right);
    laid_row place = {};
    if (LAID) {
        uint4 *const own_rows = (uint4 *)(room + ROWS * ROW) + warp * LAID_ROOM;
        lay_ends(lane, own_rows);
        place = places_at(own_rows + LAPS + lane);
    }
    roll<ROW>(at, column{along_y},
              lines{to, step, left, writes, ends, is_ghost, ghost_left, ghost_right, load_as<work, IN>(ghost_of(f)), along_x, place});
}

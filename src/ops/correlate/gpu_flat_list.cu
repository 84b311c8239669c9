// SPDX-License-Identifier: Apache-2.0
// gpu_flat_list.cu - production: a list of two short 1-D masks over bytes and halves, along columns and then along rows, of small images of any width: a warp's lanes are a row.
//
// In patches of such images (gpu_patch_list_odd.cu) lanes lie beyond rows' ends, and every warp meets both of these. Here as many columns a lane are taken as make of a whole row one
// warp, so that no columns are computed twice and none is shared with a neighbour warp. A row needs no lanes beyond its ends: the columns that the last lane has too many and those
// beside the first one are the constant, or by other rules columns of the same row, whose sums a lane of the warp holds. Which one is known when the kernel is compiled.
//
// An image without gaps is one run of memory, as in gpu_flat.cu: the rows that a warp needs come to shared memory as they lie, in vectors, and are moved down by bytes when they
// are read. Results are put down element by element where rows have been read, as they will lie in the output, and go out as one run of whole vectors: KY >= 2, and results are no
// wider than elements, so they never catch up with what is still to be read. What the last lane has too many lies where the next row's results come later.
//
// -DROW columns; -DBOUNDARY; -DKY; -DV columns a lane, -DR rows of outputs a warp, even, at most as many as there are; -DWX=1, -DWY=1: a warp is a block; -DBLOCKS.
#include "ops/correlate/gpu_copies.cuh"

#include "ops/correlate/gpu_boundary.cuh"
#include "ops/correlate/gpu_bytes.cuh"
#include "ops/correlate/gpu_pushed_rows.cuh"

enum {
    VECTOR = 16 / SIZE, // elements
    OUT_SIZE = sizeof(result),
    LANES = (ROW + V - 1) / V,
    OVER = LANES * V - ROW, // columns of the last lane that are no elements
    ROWS = R + KY - 1,
    PITCH = ROW * SIZE // bytes
};
static_assert(LANES <= 32 && WX * WY == 1 && KY >= 2 && R % 2 == 0 && OUT_SIZE <= SIZE && LEFT <= V && RIGHT <= V && V % 4 == 0,
              "a row is a warp, whole turns and words");

// Rows beyond the image: all but those from `low` to before `high`; `own` is row number `top`.
__device__ __forceinline__ void bring_beyond(element *own, const element *in, const frame &f, int top, int low, int high) {
    const int EACH = (ROW + 31) / 32, lane = threadIdx.x;
#pragma unroll 1
    for (int r = low > 0 ? 0 : high; r < ROWS; r = r + 1 == low ? high : r + 1) {
        const element *from = in + (BOUNDARY == BOUNDARY_CONSTANT ? 0 : resolve(top + r, (int)f.n_y, f.edge) * ROW);
        element e[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            e[i] = BOUNDARY == BOUNDARY_CONSTANT ? ghost_of(f) : from[min(lane + 32 * i, ROW - 1)];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (lane + 32 * i < ROW)
                own[r * ROW + lane + 32 * i] = e[i];
    }
}

// The rows from `top` on, of which those from `low` to before `high` are there; `room` is where the first one belongs.
__device__ __forceinline__ void bring(char *room, const element *in, const frame &f, int top, int low, int high) {
    const int lane = threadIdx.x, begin = low * ROW, end = high * ROW;
    const element *run = in + (i64)top * ROW;
    const int away = (int)behind<16>(run) / SIZE, from = up_to(begin + away, VECTOR) - away, to = (end + away) / VECTOR * VECTOR - away;
    element *own = (element *)room;
    const unsigned at = (unsigned)__cvta_generic_to_shared(own);
#pragma unroll 8
    for (int i = from + lane * VECTOR; i < to; i += 32 * VECTOR)
        copy_vector(at + i * SIZE, run + i);
    end_copies();
    // What shares the first vector or the last one with other elements; rows beyond the image; and what is read beside the run for no output.
    if (lane < VECTOR) {
        if (lane < away)
            own[-1 - lane] = ghost_of(f);
        if (begin + lane < from)
            own[begin + lane] = run[begin + lane];
        if (to + lane < end)
            own[to + lane] = run[to + lane];
    }
    bring_beyond(own, in, f, top, low, high);
#pragma unroll
    for (int i = lane; i < V + 4 / SIZE; i += 32)
        own[ROWS * ROW + i] = ghost_of(f);
    await_copies<0>();
}

// The column sum in place of number `beyond` of those beyond the row's end, for its last lane, by rules that turn back: of its own or of the lane before.
__device__ __forceinline__ work behind_end(const work (&window)[LEFT + V + RIGHT], const work (&row)[V], int beyond) {
    const int column = V - OVER - 1 - turned_back(BOUNDARY, beyond); // from the lane's first one
    return column >= -LEFT ? window[column >= -LEFT ? LEFT + column : 0] : __shfl_up_sync(0xffffffff, row[column < 0 ? V + column : 0], 1);
}

// The column sums that a lane's outputs meet. Lanes are a ring: the last one stands before the first, which by `wrap` is the rule.
__device__ __forceinline__ void gather(work (&window)[LEFT + V + RIGHT], work (&row)[V], work ghost) {
    const bool constant = BOUNDARY == BOUNDARY_CONSTANT, wrap = BOUNDARY == BOUNDARY_WRAP;
    const int lane = threadIdx.x, left = lane ? lane - 1 : LANES - 1, right = lane == LANES - 1 ? 0 : lane + 1;
    const bool first = lane == 0, last = lane == LANES - 1;
#pragma unroll
    for (int i = V - OVER; i < V && constant; i++)
        row[i] = last ? ghost : row[i];
#pragma unroll
    for (int i = 0; i < LEFT; i++) { // columns from the lane's left
        const int by = LEFT - i, end = V - OVER - by;
        const work given = wrap && end >= 0 && last ? row[end < 0 ? 0 : end] : row[V - by < 0 ? 0 : V - by];
        window[i] = __shfl_sync(0xffffffff, given, left);
        if (wrap && end < 0) {
            const work far = __shfl_sync(0xffffffff, row[end < 0 ? V + end : 0], LANES - 2);
            window[i] = first ? far : window[i];
        }
        if (constant && by > OVER && first)
            window[i] = ghost;
    }
#pragma unroll
    for (int i = 0; i < V; i++)
        window[LEFT + i] = row[i];
#pragma unroll
    for (int i = 0; i < OVER && i < RIGHT && !constant; i++) { // what the last lane has too many
        const work beyond = wrap ? __shfl_sync(0xffffffff, row[i < V ? i : 0], 0) : behind_end(window, row, i);
        row[V - OVER + i] = window[LEFT + V - OVER + i] = last ? beyond : row[V - OVER + i];
    }
#pragma unroll
    for (int i = 0; i < RIGHT; i++) {
        const bool meets = i < RIGHT - OVER; // of the last lane, others meet no output
        const work given = wrap && meets && first ? row[meets ? OVER + i : 0] : row[i < V ? i : 0];
        window[LEFT + V + i] =
            wrap || OVER == 0 ? __shfl_sync(0xffffffff, given, right) : __shfl_down_sync(0xffffffff, given, 1); // as takes fewest instructions
        if (!wrap && meets) {
            const work beyond = constant ? ghost : behind_end(window, row, OVER + i);
            window[LEFT + V + i] = last ? beyond : window[LEFT + V + i];
        }
    }
#pragma unroll
    for (int i = 0; i < LEFT && !constant && !wrap; i++) { // before the first column
        const int column = turned_back(BOUNDARY, LEFT - 1 - i);
        const work beyond =
            column < V + RIGHT ? window[column < V + RIGHT ? LEFT + column : 0] : __shfl_down_sync(0xffffffff, row[column < V ? 0 : column - V], 1);
        window[i] = first ? beyond : window[i];
    }
}

// A finished row of column sums, along the row; `to` is where the lane's results belong.
__device__ __forceinline__ void put_row(work (&row)[V], char *to, work ghost, const tap_list<KX> &taps) {
    work window[LEFT + V + RIGHT], done[V];
    gather(window, row, ghost);
    add_window(done, window, taps);
    if (LANES == 32 || threadIdx.x < LANES) {
#pragma unroll
        for (int i = 0; i < V; i += 4) {
            const work four[4] = {done[i], done[i + 1], done[i + 2], done[i + 3]};
            const packed<4> v(four);
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (OUT_SIZE == 1)
                    *(unsigned char *)(to + i + j) = (unsigned char)(v.word[0] >> 8 * j);
                else
                    *(unsigned short *)(to + 2 * (i + j)) = (unsigned short)(v.word[j / 2 * (OUT_SIZE / 2)] >> j % 2 * 16);
        }
    }
}

// The warp's results, from shared memory, where they lie as in the output.
__device__ __forceinline__ void send(result *out, const char *room) {
    const int COUNT = R * ROW, LONG = 16 / OUT_SIZE, lane = threadIdx.x;
    const int away = (int)behind<16>(out) / OUT_SIZE, from = up_to(away, LONG) - away, to = (COUNT + away) / LONG * LONG - away;
    const result *own = (const result *)room;
#pragma unroll 4
    for (int i = from + lane * LONG; i < to; i += 32 * LONG)
        *(uint4 *)(out + i) = *(const uint4 *)(own + i);
    if (lane < LONG) {
        if (lane < from)
            out[lane] = own[lane];
        if (to + lane < COUNT)
            out[to + lane] = own[to + lane];
    }
}

extern "C" __global__ void __launch_bounds__(32, BLOCKS)
    flat_list(const element *in, result *out, const frame f, const tap_list<KX> along_x, const tap_list<KY> along_y) {
    extern __shared__ uint4 memory[];
    const int lane = min((int)threadIdx.x, LANES - 1);
    const int y = min((int)blockIdx.y * R, (int)f.m_y - R), top = y - f.before_y; // no warp is left incomplete
    char *room = (char *)memory;
    find_array(f, blockIdx.z, in, out);
    out += y * ROW;
    unsigned at = behind<16>(in + (i64)top * ROW);
    bring(room + at, in, f, top, max(0, -top), min(ROWS, (int)f.n_y - top));
    __syncwarp();
    char *begin = room + behind<16>(out), *to = begin + lane * (V * OUT_SIZE);
    const work ghost = load_as<work, IN>(ghost_of(f));
    work sum[KY][V], value[V];
    at += lane * (V * SIZE);
    first_rows<0>(sum, room, at, PITCH, along_y);
    // One text for all rows, two of them a turn, as in gpu_patch_list_odd.cu.
#pragma unroll 2
    for (int i = 0; i < R; i++) {
        read_row(value, room, at);
        push<KY - 1>(sum, value, along_y);
        __syncwarp(); // a lane may have read what another writes over
        put_row(sum[KY - 1], to, ghost, along_x);
        at += PITCH;
        to += ROW * OUT_SIZE;
    }
    __syncwarp();
    send(out, begin);
}

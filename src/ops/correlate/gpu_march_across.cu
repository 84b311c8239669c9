// SPDX-License-Identifier: Apache-2.0
// gpu_march_across.cu - production: masks of volumes whose input has another finest axis than the output, as from Fortran's order to C's. As march_kept, but planes are turned on their way to shared memory.
//
// y is the input's finest axis, x the output's, and a block marches along z. Asynchronous copies of an element each need no registers and lay it down wherever it belongs: eight lanes read eight
// elements along y that begin where a sector may (SHIFT elements before the tile's first), four such groups of a warp lie side by side along x. In shared memory rows are PITCH elements apart, four times an odd number: those 32
// meet in no bank, and a thread's window is whole vectors. A lane's copies are so many rows and columns apart in every plane; which of them lie in the array it knows by a bit for each row and column.
//
// Ghost cells that are constants stand in all planes of the ring from the beginning; others are copied one by one by blocks that reach an end, a plane like the other.
//
// -DSHIFT=; else as gpu_march_kept.cu. Elements of 4 bytes.
#define THREADS (ALONG * DOWN)
#include "ops/correlate/gpu_planes.cuh"

#include "ops/correlate/gpu_kept.cuh"

const int WIDE = ALONG * V, READS = up_to(V + KX - 1, 4), LX = WIDE - V + READS, LY = DOWN * R + KY - 1, PITCH = up_to(LX - 4, 8) + 4,
          LAYER = LY * PITCH;
const int WARPS = THREADS / 32, WARPS_X = WARPS / 2, STEP_Y = 16, STEP_X = 4 * WARPS_X; // warps stand two along y; from copy to copy
const int TIMES_Y = (SHIFT + LY + STEP_Y - 1) / STEP_Y, TIMES_X = (LX + STEP_X - 1) / STEP_X;
const int BEYOND_X = 2 * (KX - 1), BEYOND_Y = 2 * (KY - 1); // lines of ghost cells before and behind an array, at most
static_assert(SIZE == 4 && GROUP == 1 && WARPS % 2 == 0 && V == 4 && TIMES_X + TIMES_Y < 32, "elements of 4 bytes, a bit for each step");

struct across_stream {
    const plane_tile &tile;
    const frame &f;
    const element *from; // the lane's first element, in plane 0
    element *ring;
    i64 in_x;
    int x, y, front, flags, slot, next; // of the tile's first element
    bool ghosts;

    __device__ __forceinline__ across_stream(element *memory, const element *in, const frame &the_frame, const plane_tile &the_tile, i64 step)
        : tile(the_tile), f(the_frame), ring(memory), in_x(step), slot(0), next(STAGES - 1) {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        x = tile.x - LEFT;
        y = tile.y - f.before_y;
        front = tile.z - f.before_z;
        const bool reached = x < 0 || y < 0 || x + LX > (int)f.n_x || y + LY > (int)f.n_y;
        ghosts = reached && f.edge.least == 0;
        if (reached) {
#pragma unroll 1
            for (int i = threadIdx.x; i < STAGES * LAYER; i += THREADS)
                ring[i] = ghost_of(f);
            __syncthreads();
        }
        from = in + (x + first_x(lane, warp)) * in_x + (y + first_y(lane, warp));
        int bits = 0;
#pragma unroll
        for (int j = 0; j < TIMES_Y; j++) {
            const int at = first_y(lane, warp) + j * STEP_Y;
            bits |= (at >= 0 && at < LY && !outside(y + at, f.n_y)) << j;
        }
#pragma unroll
        for (int k = 0; k < TIMES_X; k++) {
            const int at = first_x(lane, warp) + k * STEP_X;
            bits |= (at < LX && !outside(x + at, f.n_x)) << (TIMES_Y + k);
        }
        flags = __shfl_sync(0xffffffff, bits, lane); // opaque: the compiler would else compute it again for every plane
#pragma unroll 1
        for (int i = 0; i < STAGES - 1; i++)
            ask(i, i);
    }
    static __device__ __forceinline__ int first_x(int lane, int warp) { return warp / 2 * 4 + lane / 8; }
    static __device__ __forceinline__ int first_y(int lane, int warp) { return warp % 2 * 8 + lane % 8 - SHIFT; }

    __device__ __forceinline__ void ask(int at, int number) {
        if (number < tile.planes) {
            const int z = resolve(front + number, (int)f.n_z, f.edge), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
            if (z >= 0) {
                const element *plane = from + (i64)z * f.in_z;
                unsigned to = (unsigned)__cvta_generic_to_shared(ring + at * LAYER + first_y(lane, warp) * PITCH + first_x(lane, warp));
#pragma unroll
                for (int k = 0; k < TIMES_X; k++) {
                    const int there = flags >> (TIMES_Y + k) & 1 ? flags : 0;
#pragma unroll
                    for (int j = 0; j < TIMES_Y; j++)
                        copy_element_if(there & 1 << j, to + (j * STEP_Y * PITCH + k * STEP_X) * SIZE, plane + j * STEP_Y);
                    plane += STEP_X * in_x;
                }
                if (ghosts)
                    copy_ghosts(at, from - first_x(lane, warp) * in_x - first_y(lane, warp) + (i64)z * f.in_z);
            } else {
#pragma unroll 1
                for (int i = threadIdx.x; i < LAYER; i += THREADS)
                    ring[at * LAYER + i] = ghost_of(f);
            }
        }
        end_copies();
    }
    // Those of a plane, of which the tile's first element is at `corner`: columns beside the array of rows that are in it, then rows above and below it.
    __device__ __forceinline__ void copy_ghosts(int at, const element *corner) const {
        const int n_x = (int)f.n_x, n_y = (int)f.n_y;
#pragma unroll 1
        for (int e = threadIdx.x; e < BEYOND_X * LY + BEYOND_Y * LX; e += THREADS) {
            const bool column = e < BEYOND_X * LY;
            const int g = column ? e : e - BEYOND_X * LY, line = g / (column ? LY : LX), along = g % (column ? LY : LX);
            const int half = column ? KX - 1 : KY - 1, n = column ? n_x : n_y, outer = line < half ? line - half : n + line - half;
            const int at_x = column ? outer : x + along, at_y = column ? y + along : outer;
            const bool mine = at_x >= x && at_x < x + LX && at_y >= y && at_y < y + LY && at_x < (int)f.m_x + RIGHT &&
                              at_y < (int)f.m_y + KY - 1 - f.before_y && (!column || !outside(at_y, n_y));
            if (mine)
                copy_element<SIZE>((unsigned)__cvta_generic_to_shared(ring + at * LAYER + (at_y - y) * PITCH + at_x - x),
                                   corner + (resolve(at_x, n_x, f.edge) - x) * in_x + (resolve(at_y, n_y, f.edge) - y));
        }
    }
    __device__ __forceinline__ void take(work (&window)[R + KY - 1][LEFT + V + RIGHT], int number) {
        await_copies<STAGES - 2>();
        __syncthreads();
        ask(next, number + STAGES - 1);
        const element *plane = ring + slot * LAYER + tile.down * R * PITCH + tile.along * V;
        slot = slot == STAGES - 1 ? 0 : slot + 1;
        next = next == STAGES - 1 ? 0 : next + 1;
#pragma unroll
        for (int r = 0; r < R + KY - 1; r++) {
            unsigned word[READS];
#pragma unroll
            for (int i = 0; i < READS; i += 4) {
                const uint4 four = *(const uint4 *)(plane + r * PITCH + i);
                word[i] = four.x, word[i + 1] = four.y, word[i + 2] = four.z, word[i + 3] = four.w;
            }
#pragma unroll
            for (int i = 0; i < LEFT + V + RIGHT; i++)
                window[r][i] = cell(word, i);
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    march_across(const element *in, result *out, const frame f, const unsigned across, const int depth, const unsigned deep, const i64 in_x,
                 const tap_list<KX * KY * KZ> taps) {
    extern __shared__ uint4 memory[];
    plane_tile tile(in, out, f, across, depth, deep, WIDE);
    across_stream stream((element *)memory, in, f, tile, in_x);
    march(stream, tile, f, taps);
}

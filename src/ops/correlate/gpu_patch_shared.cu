// SPDX-License-Identifier: Apache-2.0
// gpu_patch_shared.cu - production: small masks of floats over bytes. As patch, but the rows of a block come to shared memory, all at once, and need no registers there.
//
// The assembler moves loads to where their registers are first wanted: of the rows that patch asks for at once it leaves three at the beginning, and each of
// the others is waited for by itself. Loads whose words go to shared memory stay where they stand. So a block waits once;
// sums stay in registers from their first row of input to their last, and the loop over rows is rolled, KY rows a turn, each sum where it was.
//
// Of u8 one permutation makes two numbers of 16 bits, b / 2^24 each, and one instruction each makes them f32: half an instruction an element less than `cell`
// takes. Their weights come times 2^24, so that every product, and with it every sum, is the number that it was.
//
// -DKY; -DV, -DR columns and rows of outputs a thread, R + 1 a multiple of KY; -DWX, -DWY warps of a block along x and y.
#include "ops/correlate/gpu_copies.cuh"
#include "ops/correlate/gpu_bytes.cuh"
#include "ops/correlate/gpu_rolled_rows.cuh"

enum {
    WARPS = WX * WY,
    VECTOR = 16 / SIZE,      // elements
    WIDE = WX * 32 * V,      // columns of outputs
    ROW = WIDE + 2 * VECTOR, // elements of a row in shared memory: a vector beside on either side
    ROWS = WY * R + KY - 1,
    LW = (LEFT * SIZE + 3) / 4,
    RW = (RIGHT * SIZE + 3) / 4,
    VW = V * SIZE / 4,           // words of a window
    FIRST = LW * 4 / SIZE - LEFT // the first element's place in them
};
static_assert((R + 1) % KY == 0 && V % VECTOR == 0 && LW <= 4 && RW <= 4, "whole turns, whole vectors, and what lies beside a vector away");

// Element number i of a row of the patch, which stands at column `column` or outside.
__device__ __forceinline__ void lay_element(element *to, const element *row, bool there, const frame &f, int column) {
    const int at = resolve_x(column, (int)f.n_x, f.edge);
    *to = there && at >= 0 ? row[at] : ghost_of(f);
}

// The rows of a patch at an end of the array.
__device__ void bring_anywhere(element *room, const element *in, const frame &f, int x, int top, int lane, int warp) {
    const int first = x - VECTOR, whole = max(0, ((int)f.n_x - first) / VECTOR * VECTOR);
    const int end = min((int)ROW, up_to((int)f.m_x + RIGHT - first, VECTOR)); // what lies behind is met by outputs that are not there
#pragma unroll 1
    for (int r = warp; r < ROWS; r += WARPS) {
        const int y = resolve(top + r, (int)f.n_y, f.edge);
        const element *row = in + (i64)(y < 0 ? 0 : y) * f.in_y;
        element *to = room + r * ROW;
        const int from = y < 0 ? end : first < 0 ? VECTOR : 0, until = y < 0 ? end : min(whole, end);
#pragma unroll 1
        for (int i = from + lane * VECTOR; i < until; i += 32 * VECTOR)
            copy_vector((unsigned)__cvta_generic_to_shared(to + i), row + first + i);
#pragma unroll 1
        for (int i = lane; i < min(from, end); i += 32)
            lay_element(to + i, row, y >= 0, f, first + i);
#pragma unroll 1
        for (int i = max(from, until) + lane; i < end; i += 32)
            lay_element(to + i, row, y >= 0, f, first + i);
#pragma unroll 1
        for (int i = end + lane * VECTOR; i < ROW; i += 32 * VECTOR)
            *(uint4 *)(to + i) = make_uint4(0, 0, 0, 0);
    }
}

__device__ __forceinline__ void lay_vector(element *to, const words<16> &v) { *(uint4 *)to = make_uint4(v.word[0], v.word[1], v.word[2], v.word[3]); }

// Rows that are all there, as are the columns of outputs, by way of registers: all loads, then all stores. The vectors beside them are dealt to the block's warps,
// a lane each. What lies there may stand outside: the same place in every row, found once, a lane an element.
__device__ __forceinline__ void bring_rows(element *room, const element *in, const frame &f, int x, int top, int lane, int warp) {
    enum { TIMES = (ROWS + WARPS - 1) / WARPS, ACROSS = WIDE / VECTOR / 32, SHARE = (2 * ROWS + WARPS - 1) / WARPS };
    static_assert(SHARE <= 32, "a lane a vector");
    const element *from = in + (i64)(top + warp) * f.in_y + x + lane * VECTOR;
    element *to = room + warp * ROW + VECTOR + lane * VECTOR;
    const i64 step = WARPS * f.in_y;
    const bool left = x >= VECTOR, right = x + WIDE + VECTOR <= (int)f.n_x;
    const int number = warp * SHARE + lane, beside = number / 2, at_right = number & 1;
    const bool mine = lane < SHARE && number < 2 * ROWS && (at_right ? right : left);
    words<16> v[TIMES][ACROSS], side;
#pragma unroll
    for (int i = 0; i < TIMES; i++)
        if ((i + 1) * WARPS <= ROWS || warp + i * WARPS < ROWS)
#pragma unroll
            for (int k = 0; k < ACROSS; k++)
                load_now(v[i][k], from + i * step + k * 32 * VECTOR);
    if (mine)
        load_now(side, in + (i64)(top + beside) * f.in_y + x + (at_right ? WIDE : -VECTOR));
#pragma unroll
    for (int i = 0; i < TIMES; i++)
        if ((i + 1) * WARPS <= ROWS || warp + i * WARPS < ROWS)
#pragma unroll
            for (int k = 0; k < ACROSS; k++)
                lay_vector(to + i * (WARPS * ROW) + k * 32 * VECTOR, v[i][k]);
    if (mine)
        lay_vector(room + beside * ROW + (at_right ? VECTOR + WIDE : 0), side);
    if (left && right)
        return;
#pragma unroll 1
    for (int e = lane; e < 2 * VECTOR; e += 32)
        if (e < VECTOR ? !left : !right) {
            const int column = e < VECTOR ? e - VECTOR : WIDE + e - VECTOR, at = resolve_x(x + column, (int)f.n_x, f.edge);
#pragma unroll 8
            for (int r = warp; r < ROWS; r += WARPS)
                room[r * ROW + VECTOR + column] = at >= 0 ? in[(i64)(top + r) * f.in_y + at] : ghost_of(f);
        }
}

// A row adds to every output that it concerns, each where it began.
struct square {
    const tap_list<KX * KY> &taps;

    template <int FROM, int TO, int J> __device__ __forceinline__ void add(work (&sum)[KY][V], const element *at) const {
        unsigned word[LW + VW + RW];
        const unsigned *words = (const unsigned *)at;
#pragma unroll
        for (int i = 0; i < LW; i++)
            word[i] = words[i - LW];
#pragma unroll
        for (int i = 0; i < VW; i += 4) {
            const uint4 v = *(const uint4 *)(words + i);
            word[LW + i] = v.x, word[LW + i + 1] = v.y, word[LW + i + 2] = v.z, word[LW + i + 3] = v.w;
        }
#pragma unroll
        for (int i = 0; i < RW; i++)
            word[LW + VW + i] = words[VW + i];
        work value[LEFT + V + RIGHT];
#pragma unroll
        for (int i = 0; i < LEFT + V + RIGHT; i++)
            value[i] = part(word, FIRST + i);
#pragma unroll
        for (int ky = FROM; ky <= TO; ky++)
#pragma unroll
            for (int kx = 0; kx < KX; kx++)
#pragma unroll
                for (int i = 0; i < V; i++) {
                    work &s = sum[(J + KY - ky) % KY][i];
                    s = multiply_add(value[i + kx * GROUP], taps.w[ky * KX + kx], ky + kx == 0 ? (work)0 : s);
                }
    }
};

// Rows of outputs one after the other, as far as there are.
template <bool INSIDE> struct lines {
    char *to;
    i64 step;
    int left, x, m_x;
    __device__ __forceinline__ void put(const work (&sum)[V]) {
        if (INSIDE || left > 0)
            write<V, INSIDE>((result *)to, x, m_x, sum);
        to += step;
        left--;
    }
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    patch_shared(const element *in, result *out, const frame f, const tap_list<KX * KY> taps) {
    extern __shared__ uint4 memory[]; // [ROWS][ROW]
    element *room = (element *)memory;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = blockIdx.x * WIDE;
    // The last blocks down come first, since their way, at the array's end, is longer. They begin as far up as lets them lie inside: no block is left incomplete,
    // and what two of them compute is the same.
    const int down = blockIdx.y == 0 ? gridDim.y - 1 : blockIdx.y - 1, y = min(down * (WY * R), (int)f.m_y - WY * R), top = y - f.before_y;
    find_array(f, blockIdx.z, in, out);
    if (x + WIDE <= (int)f.n_x && top >= 0 && top + ROWS <= (int)f.n_y)
        bring_rows(room, in, f, x, top, lane, warp);
    else
        bring_anywhere(room, in, f, x, top, lane, warp);
    end_copies();
    await_copies<0>();
    __syncwarp(); // lanes at an end may have gone another way
    __syncthreads();
    const int column = x + (warp % WX * 32 + lane) * V, row = y + warp / WX * R;
    const element *at = room + (warp / WX * R) * ROW + VECTOR + (warp % WX * 32 + lane) * V;
    char *to = (char *)(out + (i64)row * f.out_y + column);
    const i64 step = f.out_y * (i64)sizeof(result);
    if (x + WIDE <= (int)f.m_x && y + WY * R <= (int)f.m_y)
        roll<ROW>(at, square{taps}, lines<true>{to, step, R, column, (int)f.m_x});
    else if (row < (int)f.m_y)
        roll<ROW>(at, square{taps}, lines<false>{to, step, (int)f.m_y - row, column, (int)f.m_x});
}

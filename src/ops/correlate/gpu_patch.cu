// SPDX-License-Identifier: Apache-2.0
// gpu_patch.cu - production: small masks, where memory binds. A thread has V columns of R rows of Z planes in registers, its neighbour lanes the rest.
//
// The tile kernels moved every element to shared memory and back, and met barriers. Here a thread loads its (Z + KZ - 1) x (R + KY - 1) rows of V elements at once, as one
// vector each; what lies left and right of them stands in the registers of the lanes beside it; the first and last lane of a warp load theirs (H
// elements). Each row is then read once, and adds to every output that it concerns: sums grow in the order of the mask, plane by plane, row by row. Blocks are small and
// many, and follow each other along rows: on an H200 that is faster than any form that stays and loops.
//
// Warps whose elements all lie inside take loads without tests; the others resolve each index by the boundary's rule.
//
// -DKY, -DKZ; -DV, -DR, -DZ; -DWX, -DWY, -DWZ: warps of a block along x, y and z. An image has one plane.
#include "ops/correlate/gpu_window.cuh"

__host__ __device__ constexpr int power_above(int n) { return n <= 1 ? 1 : 2 * power_above((n + 1) / 2); }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }
const int ROWS = R + KY - 1, PLANES = Z + KZ - 1, VW = V * SIZE / 4;
const int H = LEFT + RIGHT == 0 ? 0 : larger(power_above(larger(LEFT, RIGHT)), 4 / SIZE), EDGE = larger(H, 1) * SIZE, HW = larger(1, H *SIZE / 4);
const int LW = (LEFT * SIZE + 3) / 4, RW = (RIGHT * SIZE + 3) / 4, FIRST = LW * 4 / SIZE - LEFT; // of the window's words: the first element's place
static_assert(V * SIZE % 4 == 0 && LEFT <= V && RIGHT <= V, "a lane's neighbours do not hold its window");

struct row_words {
    unsigned own[VW], edge[HW];
};

template <int N> __device__ __forceinline__ void load_words(unsigned *word, const element *at) {
    words<N> w;
    load_now(w, at);
#pragma unroll
    for (int i = 0; i < N / 4; i++)
        word[i] = w.word[i];
}

// Column `at` of a row that is there (`here`), or the constant. The load is made in any case: no branch stands between one and the next.
__device__ __forceinline__ element pick(const element *row, int at, bool here, element ghost) {
    element e = row[at < 0 ? 0 : at];
    return here && at >= 0 ? e : ghost;
}

// The columns of a lane: where they lie when all are there, which they are when not.
struct columns {
    int x, edge;
    int own_at[V], edge_at[H + 1];
};

template <bool INSIDE>
__device__ __forceinline__ void load_row(row_words &row, const element *in, bool there, const frame &f, int y, const columns &c) {
    if (INSIDE) {
        const element *at = in + y * f.in_y;
        load_words<V * SIZE>(row.own, at + c.x);
        if (H)
            load_words<EDGE>(row.edge, at + c.edge);
    } else {
        y = resolve(y, (int)f.n_y, f.edge);
        const element *at = in + (i64)(y < 0 ? 0 : y) * f.in_y, ghost = ghost_of(f);
#pragma unroll
        for (int i = 0; i < V; i++)
            put(row.own, i, pick(at, c.own_at[i], there && y >= 0, ghost));
#pragma unroll
        for (int i = 0; i < H; i++)
            put(row.edge, i, pick(at, c.edge_at[i], there && y >= 0, ghost));
    }
}

// A row's window: the lane's own elements, and its neighbours'.
__device__ __forceinline__ void open(work (&value)[LEFT + V + RIGHT], const row_words &row, int lane) {
    unsigned word[LW + VW + RW];
#pragma unroll
    for (int i = 0; i < VW; i++)
        word[LW + i] = row.own[i];
#pragma unroll
    for (int i = 0; i < LW; i++) {
        unsigned beside = __shfl_up_sync(0xffffffff, row.own[VW - LW + i], 1);
        word[i] = lane == 0 ? row.edge[HW - LW + i] : beside;
    }
#pragma unroll
    for (int i = 0; i < RW; i++) {
        unsigned beside = __shfl_down_sync(0xffffffff, row.own[i], 1);
        word[LW + VW + i] = lane == 31 ? row.edge[i] : beside;
    }
#pragma unroll
    for (int i = 0; i < LEFT + V + RIGHT; i++)
        value[i] = cell(word, FIRST + i);
}

// R rows of Z planes of outputs at column c.x, row y, plane z.
template <bool INSIDE>
__device__ __forceinline__ void compute(const element *in, result *out, const frame &f, const tap_list<KX * KY * KZ> &taps, int y, int z,
                                        const columns &c, int lane) {
    row_words rows[PLANES][ROWS];
    work sum[Z][R][V];
    const int top = y - f.before_y, front = z - f.before_z;
    if (INSIDE)
#pragma unroll
        for (int p = 0; p < PLANES; p++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                load_row<true>(rows[p][r], in + (i64)(front + p) * f.in_z, true, f, top + r, c);
#pragma unroll
    for (int p = 0; p < PLANES; p++) {
        const int at_z = INSIDE || KZ == 1 ? front + p : resolve(front + p, (int)f.n_z, f.edge);
        const element *plane = in + (i64)(at_z < 0 ? 0 : at_z) * f.in_z;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (!INSIDE)
                load_row<false>(rows[p][r], plane, at_z >= 0, f, top + r, c);
            work value[LEFT + V + RIGHT];
            open(value, rows[p][r], lane);
#pragma unroll
            for (int q = 0; q < Z; q++)
#pragma unroll
                for (int o = 0; o < R; o++) {
                    const int kz = p - q, ky = r - o;
                    if (kz < 0 || kz >= KZ || ky < 0 || ky >= KY)
                        continue;
#pragma unroll
                    for (int kx = 0; kx < KX; kx++)
#pragma unroll
                        for (int i = 0; i < V; i++)
                            sum[q][o][i] =
                                multiply_add(value[i + kx * GROUP], taps.w[(kz * KY + ky) * KX + kx], kz + ky + kx == 0 ? (work)0 : sum[q][o][i]);
                }
            const int done = r - KY + 1, ready = p - KZ + 1;
            if (done >= 0 && ready >= 0 && y + done < (int)f.m_y && (KZ == 1 || z + ready < (int)f.m_z))
                write<V>(out + (i64)(z + ready) * f.out_z + (i64)(y + done) * f.out_y, c.x, (int)f.m_x,
                         sum[ready < 0 ? 0 : ready][done < 0 ? 0 : done]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(32 * WX * WY * WZ, BLOCKS)
    patch(const element *in, result *out, const frame f, const unsigned deep, const tap_list<KX * KY * KZ> taps) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = (blockIdx.x * WX + warp % WX) * 32 * V;
    const unsigned number = KZ == 1 ? blockIdx.z : blockIdx.z / deep, depth = blockIdx.z - number * deep; // `deep` blocks behind each other
    const int y = (blockIdx.y * WY + warp / WX % WY) * R, z = KZ == 1 ? 0 : (depth * WZ + warp / (WX * WY)) * Z;
    const int top = y - f.before_y, front = z - f.before_z, n_x = (int)f.n_x;
    // Votes, so that the compiler knows that a warp goes one way.
    if (__all_sync(0xffffffff, first >= (int)f.m_x || y >= (int)f.m_y || z >= (int)f.m_z))
        return;
    find_array(f, number, in, out);
    columns c;
    c.x = first + lane * V;
    c.edge = lane < 16 ? first - H : first + 32 * V;
    if (__all_sync(0xffffffff, WHOLE && first >= H && first + 32 * V + H <= n_x && top >= 0 && top + ROWS <= (int)f.n_y && front >= 0 &&
                                   front + PLANES <= (int)f.n_z)) {
        compute<true>(in, out, f, taps, y, z, c, lane);
    } else {
#pragma unroll
        for (int i = 0; i < V; i++)
            c.own_at[i] = resolve_x(c.x + i, n_x, f.edge);
#pragma unroll
        for (int i = 0; i < H; i++)
            c.edge_at[i] = resolve_x(c.edge + i, n_x, f.edge);
        compute<false>(in, out, f, taps, y, z, c, lane);
    }
}

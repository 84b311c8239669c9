// SPDX-License-Identifier: Apache-2.0
// gpu_wide.cu - production: masks too large to be written out, in any number of dimensions, where the multiply-adds bind.
//
// The kernels for small masks hold every weight in the program text. Here loops go over the mask, and what a thread has in registers is a square of Y rows
// by X columns of sums: an input row meets up to Y rows of the mask, eight taps at a time, so that 8 X Y multiply-adds follow two loads of the row's words
// and two of weights for each row of sums. Both come from shared memory: the tile of the block, in bands of BAND rows where all of it is too large, and the weights
// of one plane of the mask. Elements are converted, and boundaries resolved, once for each element that is brought. Input rows and their taps come in ascending order,
// so each sum is the chain of the definition.
//
// Words of a tile's row stand with a gap of 16 bytes after every 128: lanes X words apart then meet no bank twice.
//
// -DIN= -DOUT= -DWORK= types (real); -DKY= -DKX= mask rows and columns; -DTY= -DTX= threads, -DY= -DX= outputs of each; -DBATCH=N axes without a mask beside
// the last two, -DOUTER=N masked ones before them.
#include "gpu/types.cuh"
#include "ops/correlate/gpu_boundary.cuh"

typedef stored<IN>::type in_element;
typedef stored<OUT>::type out_element;
typedef stored<WORK>::type work;

const int THREADS = TY * TX, TILE_Y = TY * Y, TILE_X = TX * X;
const int ROWS = TILE_Y + KY - 1, COLUMNS = TILE_X + (KX + 3) / 4 * 4;
const int EACH = 16 / sizeof(work), GAP = 128 / sizeof(work), WEIGHTS = (KX + EACH - 1) / EACH * EACH;
const int ROLES = X / 8 + 1; // turns of a loop after which the window's words are where they were: none is moved
__host__ __device__ constexpr int place(int column) { return column + column / GAP * EACH; }
const int PITCH = (place(COLUMNS - 1) + EACH) / EACH * EACH;

struct axis {
    i64 m, in, out; // steps in elements
};
struct masked_axis {
    i64 m, in, out, n, before, width;
};
struct wide {
    work constant;
    i64 boundary;
    masked_axis y, x;
    axis batch[BATCH + 1];
    masked_axis outer[OUTER + 1];
};

__device__ __forceinline__ void add(float &acc, float a, float b) { acc = fmaf(a, b, acc); }
__device__ __forceinline__ void add(double &acc, double a, double b) { acc = fma(a, b, acc); }
__device__ __forceinline__ void add(i64 &acc, i64 a, i64 b) { acc = (i64)((u64)acc + (u64)a * (u64)b); }
__device__ __forceinline__ void add(u64 &acc, u64 a, u64 b) { acc += a * b; }

struct alignas(16) vector {
    work v[EACH];
};
template <int N> __device__ __forceinline__ void fetch(work *to, const work *from) {
#pragma unroll
    for (int i = 0; i < N; i += EACH) {
        vector v = *(const vector *)(from + i);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            to[i + k] = v.v[k];
    }
}
__host__ __device__ constexpr int up(int n) { return (n + EACH - 1) / EACH * EACH; }

// TAPS taps from the window on, for every row of sums that meets the input row at row `first` - y of the mask: ALL of them, or those that do.
template <int TAPS, bool ALL> __device__ __forceinline__ void taps(work (&acc)[Y][X], const work *window, const work *weights, int first) {
#pragma unroll
    for (int y = 0; y < Y; y++)
        if (ALL || (unsigned)(first - y) < KY) {
            work w[up(TAPS)];
            fetch<up(TAPS)>(w, weights + (first - y) * WEIGHTS);
#pragma unroll
            for (int j = 0; j < TAPS; j++)
#pragma unroll
                for (int x = 0; x < X; x++)
                    add(acc[y][x], window[x + j], w[j]);
        }
}

// One row of the tile, of which the thread's columns begin at `column`. Without tests the weights of all rows of sums can be on their way at once.
template <bool ALL> __device__ __forceinline__ void input_row(work (&acc)[Y][X], const work *row, int column, const work *weights, int first) {
    work window[X + 8];
#pragma unroll
    for (int i = 0; i < X; i += EACH)
        fetch<EACH>(window + i, row + place(column + i));
#pragma unroll ROLES
    for (int c = 0; c < KX / 8; c++) {
        column += 8;
#pragma unroll
        for (int i = 0; i < 8; i += EACH)
            fetch<EACH>(window + X + i, row + place(column + X - 8 + i));
        taps<8, ALL>(acc, window, weights + 8 * c, first);
#pragma unroll
        for (int i = 0; i < X; i++)
            window[i] = window[i + 8];
    }
    const int rest = KX % 8;
    if (rest) {
#pragma unroll
        for (int i = 0; i < rest - 1; i += EACH)
            fetch<EACH>(window + X + i, row + place(column + X + i));
        taps<rest ? rest : 1, ALL>(acc, window, weights + KX / 8 * 8, first);
    }
}

// Rows first .. last - 1 of the block's tile, of the plane at `in`; ghost: there is no such plane. A warp a row, so many loads on their way at once.
__device__ __forceinline__ void bring(work *tile, const wide &p, const in_element *in, bool ghost, i64 y0, i64 x0, int first, int last) {
    const int FLIGHT = 8;
    const bool inside = x0 >= 0 && x0 + COLUMNS <= p.x.n;
    for (int r = first + (int)threadIdx.x / 32; r < last; r += THREADS / 32) {
        const i64 y = ghost ? -1 : element_at((int)p.boundary, p.y.n, y0 + r);
        const in_element *row = in + y * p.y.in, *from = row + x0 * p.x.in;
        work *to = tile + (r - first) * PITCH;
        for (int c = threadIdx.x % 32; c < COLUMNS; c += 32 * FLIGHT) {
            work v[FLIGHT];
#pragma unroll
            for (int k = 0; k < FLIGHT; k++) {
                const int at = c + 32 * k;
                v[k] = p.constant;
                if (y < 0 || at >= COLUMNS)
                    continue;
                const i64 x = inside ? 0 : element_at((int)p.boundary, p.x.n, x0 + at);
                if (x >= 0)
                    v[k] = load_as<work, IN>(inside ? from[at * p.x.in] : row[x * p.x.in]);
            }
#pragma unroll
            for (int k = 0; k < FLIGHT; k++)
                if (c + 32 * k < COLUMNS)
                    to[place(c + 32 * k)] = v[k];
        }
    }
}

extern "C" __global__ __launch_bounds__(THREADS) void wide_pass(const in_element *__restrict__ in, out_element *__restrict__ out,
                                                                const work *__restrict__ mask, const wide p) {
    extern __shared__ vector pool[];
    work *weights = (work *)pool, *tile = weights + KY * WEIGHTS;
    i64 block = blockIdx.x, across = (p.x.m + TILE_X - 1) / TILE_X, down = (p.y.m + TILE_Y - 1) / TILE_Y, to = 0, at[OUTER + 1], planes = 1;
    const i64 x0 = block % across * TILE_X, y0 = block / across % down * TILE_Y;
    block = block / across / down;
#pragma unroll
    for (int d = 0; d < BATCH; d++) {
        i64 i = block % p.batch[d].m;
        block /= p.batch[d].m;
        in += i * p.batch[d].in;
        to += i * p.batch[d].out;
    }
#pragma unroll
    for (int d = 0; d < OUTER; d++) {
        at[d] = block % p.outer[d].m;
        block /= p.outer[d].m;
        to += at[d] * p.outer[d].out;
        planes *= p.outer[d].width;
    }
    const int ty = threadIdx.x / TX * Y, tx = threadIdx.x % TX * X;
    work acc[Y][X] = {};
    for (i64 t = 0; t < planes; t++) {
        i64 rest = t;
        bool ghost = false;
        const in_element *plane = in;
#pragma unroll
        for (int d = OUTER - 1; d >= 0; d--) {
            i64 i = element_at((int)p.boundary, p.outer[d].n, at[d] - p.outer[d].before + rest % p.outer[d].width);
            rest /= p.outer[d].width;
            ghost = ghost || i < 0;
            plane += i * p.outer[d].in;
        }
        for (int first = 0; first < ROWS; first += BAND) {
            const int last = first + BAND < ROWS ? first + BAND : ROWS;
            __syncthreads();
            if (first == 0)
                for (int i = threadIdx.x; i < KY * WEIGHTS; i += THREADS)
                    weights[i] = i % WEIGHTS < KX ? mask[t * KY * KX + i / WEIGHTS * KX + i % WEIGHTS] : (work)0;
            bring(tile, p, plane, ghost, y0 - p.y.before, x0 - p.x.before, first, last);
            __syncthreads();
            const int from = first > ty ? first : ty, end = last < ty + Y - 1 + KY ? last : ty + Y - 1 + KY;
#pragma unroll 1
            for (int r = from; r < end; r++) {
                const work *row = tile + (r - first) * PITCH;
                if (Y == 1 || (KY >= Y && r - ty >= Y - 1 && r - ty < KY))
                    input_row<true>(acc, row, tx, weights, r - ty);
                else
                    input_row<false>(acc, row, tx, weights, r - ty);
            }
        }
    }
    // Back through shared memory, so that neighbouring lanes write neighbours.
    work *sums = (work *)pool;
    __syncthreads();
#pragma unroll
    for (int y = 0; y < Y; y++)
#pragma unroll
        for (int x = 0; x < X; x += EACH) {
            vector v;
#pragma unroll
            for (int k = 0; k < EACH; k++)
                v.v[k] = acc[y][x + k];
            *(vector *)(sums + (ty + y) * place(TILE_X) + place(tx + x)) = v;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < TILE_Y * TILE_X; i += THREADS) {
        i64 y = y0 + i / TILE_X, x = x0 + i % TILE_X;
        if (y < p.y.m && x < p.x.m)
            out[to + y * p.y.out + x * p.x.out] = store_as<OUT>(sums[i / TILE_X * place(TILE_X) + place(i % TILE_X)]);
    }
}

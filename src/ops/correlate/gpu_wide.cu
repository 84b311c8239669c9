// SPDX-License-Identifier: Apache-2.0
// gpu_wide.cu - production: masks too large to be written out, in any number of dimensions, where the multiply-adds bind.
//
// The kernels for small masks hold every weight in the program text. Here loops go over the mask, and what a thread has in registers is a square of Y rows
// by X columns of sums: an input row meets up to Y rows of the mask, a vector of 16 bytes of taps at a time, so that 4 X Y multiply-adds (of f32) follow one load of the
// row's words and one of weights for each row of sums. Both come from shared memory: the tile of the block, in bands of BAND rows where all of it is too large, and the weights
// of one plane of the mask. Elements are converted, and boundaries resolved, once for each element that is brought. Input rows and their taps come in ascending order,
// so each sum is the chain of the definition.
//
// X is an odd number of vectors: eight lanes that are X words apart then meet no bank twice, and need no gaps in between.
//
// -DIN= -DOUT= -DWORK= types (real); -DKY= -DKX= mask rows and columns; -DTY= -DTX= threads, -DY= -DX= outputs of each; -DBATCH=N axes without a mask beside
// the last two, -DOUTER=N masked ones before them.
#include "gpu/types.cuh"
#include "ops/correlate/gpu_boundary.cuh"

typedef stored<IN>::type in_element;
typedef stored<OUT>::type out_element;
typedef stored<WORK>::type work;

const int THREADS = TY * TX, TILE_Y = TY * Y, TILE_X = TX * X;
const int EACH = 16 / sizeof(work), WEIGHTS = (KX + EACH - 1) / EACH * EACH; // of a vector; of a row of the mask
const int ROWS = TILE_Y + KY - 1, PITCH = TILE_X + WEIGHTS;
const int ROLES = X / EACH + 1; // turns of a loop after which the window's words are where they were: none is moved
static_assert(X / EACH % 2 == 1 && X % EACH == 0, "lanes X words apart meet banks twice");

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
__device__ __forceinline__ void fetch(work *to, const work *from) {
    vector v = *(const vector *)from;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        to[k] = v.v[k];
}

// TAPS taps from the window on, for every row of sums that meets the input row at row `first` - y of the mask: ALL of them, or those that do.
template <int TAPS, bool ALL> __device__ __forceinline__ void taps(work (&acc)[Y][X], const work *window, const work *weights, int first) {
#pragma unroll
    for (int y = 0; y < Y; y++)
        if (ALL || (unsigned)(first - y) < KY) {
            work w[EACH];
            fetch(w, weights + (first - y) * WEIGHTS);
#pragma unroll
            for (int j = 0; j < TAPS; j++)
#pragma unroll
                for (int x = 0; x < X; x++)
                    add(acc[y][x], window[x + j], w[j]);
        }
}

// One row of the tile from the thread's columns on. Without tests the weights of all rows of sums can be on their way at once.
template <bool ALL> __device__ __forceinline__ void input_row(work (&acc)[Y][X], const work *row, const work *weights, int first) {
    work window[X + EACH];
#pragma unroll
    for (int i = 0; i < X; i += EACH)
        fetch(window + i, row + i);
#pragma unroll ROLES
    for (int c = 0; c < KX / EACH; c++) {
        fetch(window + X, row + X + c * EACH);
        taps<EACH, ALL>(acc, window, weights + c * EACH, first);
#pragma unroll
        for (int i = 0; i < X; i++)
            window[i] = window[i + EACH];
    }
    const int rest = KX % EACH;
    if (rest) {
        if (rest > 1)
            fetch(window + X, row + X + KX / EACH * EACH);
        taps<rest ? rest : 1, ALL>(acc, window, weights + KX / EACH * EACH, first);
    }
}

// Rows first .. last - 1 of the block's tile, of the plane at `in`; ghost: there is no such plane. A warp a row, or all of
// them where there are few rows; many loads on their way at once.
__device__ __forceinline__ void bring(work *tile, const wide &p, const in_element *in, bool ghost, i64 y0, i64 x0, int first, int last) {
    const int FLIGHT = 8, LANES = ROWS < THREADS / 32 ? THREADS : 32;
    const bool inside = x0 >= 0 && x0 + PITCH <= p.x.n;
    for (int r = first + (int)threadIdx.x / LANES; r < last; r += THREADS / LANES) {
        const i64 y = ghost ? -1 : element_at((int)p.boundary, p.y.n, y0 + r);
        const in_element *row = in + y * p.y.in, *from = row + x0 * p.x.in;
        work *to = tile + (r - first) * PITCH;
        for (int c = threadIdx.x % LANES; c < PITCH; c += LANES * FLIGHT) {
            work v[FLIGHT];
#pragma unroll
            for (int k = 0; k < FLIGHT; k++) {
                const int at = c + LANES * k;
                v[k] = p.constant;
                if (y < 0 || at >= PITCH)
                    continue;
                const i64 x = inside ? 0 : element_at((int)p.boundary, p.x.n, x0 + at);
                if (x >= 0)
                    v[k] = load_as<work, IN>(inside ? from[at * p.x.in] : row[x * p.x.in]);
            }
#pragma unroll
            for (int k = 0; k < FLIGHT; k++)
                if (c + LANES * k < PITCH)
                    to[c + LANES * k] = v[k];
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
                const work *row = tile + (r - first) * PITCH + tx;
                if (Y == 1 || (KY >= Y && r - ty >= Y - 1 && r - ty < KY))
                    input_row<true>(acc, row, weights, r - ty);
                else
                    input_row<false>(acc, row, weights, r - ty);
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
            *(vector *)(sums + (ty + y) * TILE_X + tx + x) = v;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < TILE_Y * TILE_X; i += THREADS) {
        i64 y = y0 + i / TILE_X, x = x0 + i % TILE_X;
        if (y < p.y.m && x < p.x.m)
            out[to + y * p.y.out + x * p.x.out] = store_as<OUT>(sums[i]);
    }
}

// SPDX-License-Identifier: Apache-2.0
// gpu_brick.cu - production: small masks over arrays whose elements lie in any order and at any steps, and over complex numbers.
//
// The order in which taps are added is the mask's, so the axes of an array in Fortran's order cannot change places, and a row of elements that lie apart is no vector. But a
// brick of the array in shared memory has all of its taps near, in any order. A block brings one of up to three axes: x, the output's finest, along which lanes write;
// y, of which a thread makes R outputs; z. Lanes read along x or, TURNED, along y, whichever is finer in the input: input and output may lie in different orders, and both are met in
// whole lines. Boundaries are resolved and elements converted once, on their way in.
//
// Sums: three loops in the mask's order, unrolled. Along y a loop goes over the R + KY - 1 elements that the thread's outputs meet, and each serves all outputs that want it: in ascending
// order for each of them, whatever the loops around and inside are, so each sum is the chain of the definition. Weights are operands from the parameters' bank.
//
// -DIN= -DOUT= -DWORK= types; -DKX= -DKY= -DKZ= taps along the brick's axes; -DFIRST= -DSECOND= -DTHIRD= those axes (0 1 2 for x y z) in the mask's order; -DTX= -DTY= -DTZ= threads,
// -DR= outputs of each; -DSPLIT=1: there is no y, and a thread's outputs lie TX apart along x; -DTURNED=1 lanes read along y; -DBATCH=N axes beside.
#include "ops/correlate/gpu_boundary.cuh"
#include "ops/correlate/gpu_number.cuh"

const int THREADS = TX * TY * TZ, TILE_X = SPLIT ? TX * R : TX, TILE_Y = SPLIT ? 1 : TY * R;
const int LX = TILE_X + KX - 1, LY = TILE_Y + KY - 1, LZ = TZ + KZ - 1, ALL = LX * LY * LZ;
const int PITCH = TURNED ? LX | 1 : LX; // odd where lanes lay down along y: no bank twice
const int TURNS = (ALL + THREADS - 1) / THREADS, FLIGHT = TURNS < 10 ? TURNS : 10;

struct axis {
    i64 n, m, in, out, before; // steps in elements
};
struct batch_axis {
    i64 m, in, out;
};
struct brick {
    i64 boundary;
    real constant[2];
    axis x, y, z;
    batch_axis batch[BATCH + 1];
    number weight[KX * KY * KZ];
};

// Where the element stands that a brick's coordinate meets, in elements from the array's first; less than GHOST: there is none.
__shared__ i64 place[LX + LY + LZ];
const i64 GHOST = -(1ll << 59), NONE = 2 * GHOST;

__device__ __forceinline__ void resolve(const brick &p, const axis &a, int to, int length, int from) {
#pragma unroll 1
    for (int i = threadIdx.x; i < length; i += THREADS) {
        const i64 at = element_at((int)p.boundary, a.n, from + i);
        place[to + i] = at < 0 ? NONE : at * a.in;
    }
}

// The brick whose first element is `corner`, or, not INSIDE, by the places; several loads are on their way at once.
template <bool INSIDE> __device__ __forceinline__ void bring(number *tile, const brick &p, const in_element *__restrict__ corner) {
    const unsigned FINE = TURNED ? LY : LX, COARSE = TURNED ? LX : LY;
    asm("" : "+l"(corner)); // one pointer, to which a step is added by one instruction
    __builtin_assume(__isGlobal(corner));
#pragma unroll
    for (unsigned first = 0; first < ALL; first += FLIGHT * THREADS) {
        number v[FLIGHT];
        unsigned to[FLIGHT];
        bool there[FLIGHT];
#pragma unroll
        for (unsigned k = 0; k < FLIGHT; k++) {
            const unsigned e = first + k * THREADS + threadIdx.x, line = e / FINE, fine = e % FINE, coarse = LZ == 1 ? line : line % COARSE;
            const unsigned x = TURNED ? coarse : fine, y = TURNED ? fine : coarse, z = LZ == 1 ? 0 : line / COARSE;
            there[k] = first + (k + 1) * THREADS <= ALL || e < ALL;
            to[k] = x + (y + z * LY) * PITCH;
            if (INSIDE) {
                if (there[k])
                    v[k] = load(corner[(int)x * (int)p.x.in + (int)y * (int)p.y.in + (int)z * (int)p.z.in]);
            } else {
                v[k] = value_of(p.constant);
                const i64 at = there[k] ? place[x] + place[LX + y] + place[LX + LY + z] : NONE;
                if (at > GHOST)
                    v[k] = load(corner[at]);
            }
        }
#pragma unroll
        for (unsigned k = 0; k < FLIGHT; k++)
            if (there[k])
                tile[to[k]] = v[k];
    }
}

__device__ __forceinline__ bool within(const axis &a, int first, int length) { return first >= 0 && first + length <= (int)a.n; }

extern "C" __global__ __launch_bounds__(THREADS) void brick_pass(const in_element *__restrict__ in, out_element *__restrict__ out, const brick p) {
    extern __shared__ number tile[];
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y;
    int z0 = 0;
    unsigned block = blockIdx.z;
    if (LZ > 1) {
        const unsigned deep = ((unsigned)p.z.m + TZ - 1) / TZ;
        z0 = block % deep * TZ;
        block /= deep;
    }
#pragma unroll
    for (int d = 0; d < BATCH; d++) {
        const unsigned m = p.batch[d].m, i = block % m;
        block /= m;
        in += i * p.batch[d].in;
        out += i * p.batch[d].out;
    }
    const int from_x = x0 - (int)p.x.before, from_y = y0 - (int)p.y.before, from_z = z0 - (int)p.z.before;
    // &: with && the compiler puts one of the ways behind the kernel's end, and a warp comes from there in parts.
    const bool inside = within(p.x, from_x, LX) & within(p.y, from_y, LY) & within(p.z, from_z, LZ);
    if (!inside) {
        resolve(p, p.x, 0, LX, from_x);
        resolve(p, p.y, LX, LY, from_y);
        resolve(p, p.z, LX + LY, LZ, from_z);
        __syncthreads();
        bring<false>(tile, p, in);
    } else {
        bring<true>(tile, p, in + from_x * p.x.in + from_y * p.y.in + from_z * p.z.in);
    }
    __syncthreads();

    const int tx = threadIdx.x % TX, ty = threadIdx.x / TX % TY, tz = threadIdx.x / TX / TY, x = x0 + tx, y = y0 + (SPLIT ? 0 : ty * R), z = z0 + tz;
    if (x >= (int)p.x.m || z >= (int)p.z.m)
        return;
    const int taps[3] = {KX, KY, KZ}, met[3] = {KX, KY + R - 1, KZ}, step[3] = {1, SPLIT ? TX : PITCH, LY * PITCH}, order[3] = {FIRST, SECOND, THIRD};
    const number *window = tile + tx + ty * R * PITCH + tz * LY * PITCH;
    number acc[R] = {};
#pragma unroll
    for (int i = 0; i < met[order[0]]; i++)
#pragma unroll
        for (int j = 0; j < met[order[1]]; j++)
#pragma unroll
            for (int l = 0; l < met[order[2]]; l++) {
                const number v = window[i * step[order[0]] + j * step[order[1]] + l * step[order[2]]];
#pragma unroll
                for (int r = 0; r < R; r++) {
                    const int a = i - (order[0] == 1 ? r : 0), b = j - (order[1] == 1 ? r : 0), c = l - (order[2] == 1 ? r : 0);
                    if (a >= 0 && a < taps[order[0]] && b >= 0 && b < taps[order[1]] && c >= 0 && c < taps[order[2]])
                        add(acc[r], v, p.weight[(a * taps[order[1]] + b) * taps[order[2]] + c]);
                }
            }
    const int left = SPLIT ? (int)p.x.m - x : (int)p.y.m - y; // elements
    out += x * p.x.out + y * p.y.out + z * p.z.out;
#pragma unroll
    for (int r = 0; r < R; r++, out += SPLIT ? TX * p.x.out : p.y.out)
        if ((SPLIT ? r * TX : r) < left)
            *out = store(acc[r]);
}

// SPDX-License-Identifier: Apache-2.0
// gpu_brick.cu - production: small masks over arrays whose elements lie in any order and at any steps, and over complex numbers.
//
// The order in which taps are added is the mask's, so the axes of an array in Fortran's order cannot change places, and a row of elements that lie apart is no vector. But a
// brick of the array in shared memory has all of its taps near, in any order. A block brings one of up to three axes: x, the output's finest, along which lanes write;
// y and z. Lanes read along x or, TURNED, along y, whichever is finer in the input: input and output may lie in different orders, and both are met in whole lines. Elements
// that follow each other come as units of VEC, and a thread keeps its place along a line and goes down the lines, so that the next unit is one addition further. Boundaries
// are resolved and elements converted once, on their way in.
//
// Sums: a thread makes V outputs along x, which it reads as one vector and writes as one, R along y and S along z. Its loops over the mask stand in the mask's order, unrolled; along
// each axis they go over the elements that its outputs meet, and an element serves all outputs that want it: in ascending order for each of them, whatever the loops around and inside
// are, so each sum is the chain of the definition. Weights are operands from the parameters' bank.
//
// -DIN= -DOUT= -DWORK= types; -DKX= -DKY= -DKZ= taps along the brick's axes; -DFIRST= -DSECOND= -DTHIRD= those axes (0 1 2 for x y z) in the mask's order; -DTX= -DTY= -DTZ= threads,
// -DV= -DR= -DS= outputs of each; -DVEC= elements of a unit, of which -DSHIFT= lie before the brick's first element (whole vectors from the array's first on); -DSPLIT=1: there is no y, and
// a thread's R vectors lie TX vectors apart along x; -DTURNED=1 lanes read along y; -DRAW=1 narrow elements become numbers where they are used; -DBATCH=N axes beside.
#include "ops/correlate/gpu_boundary.cuh"
#include "ops/correlate/gpu_number.cuh"

const int THREADS = TX * TY * TZ, TILE_X = SPLIT ? TX * V * R : TX * V, TILE_Y = SPLIT ? 1 : TY * R, TILE_Z = TZ * S;
// Elements of a brick; one by one those are brought, too, that fill up the last vector.
const int LX = (TILE_X + KX - 1 + (VEC > 1 ? 0 : V - 1)) / (VEC > 1 ? 1 : V) * (VEC > 1 ? 1 : V), LY = TILE_Y + KY - 1, LZ = TILE_Z + KZ - 1;
// In shared memory: from row to row, odd where lanes lay down along y, so that few meet in a bank (not for one column, of whose rows the compiler makes vectors, with what lies between
// them); rows of a layer.
const int WIDEST = V > VEC ? V : VEC, PITCH = TURNED ? LX | (TILE_X > 1) : (SHIFT + LX + WIDEST - 1) / WIDEST * WIDEST,
          ROWS = TURNED ? (SHIFT + LY + VEC - 1) / VEC * VEC : LY;
// Units of a line, lines, layers: as many of each as threads stand along them, and how often they go on; how far each is from the next.
const int FINE = TURNED ? ROWS / VEC : VEC > 1 ? (SHIFT + LX + VEC - 1) / VEC : LX, COARSE = TURNED ? LX : LY;
const int NEXT = TURNED ? PITCH : 1, NEXT_FINE = VEC * NEXT, NEXT_COARSE = TURNED ? 1 : PITCH, NEXT_LAYER = ROWS * PITCH;
const int AT_FINE = FINE < THREADS ? FINE : THREADS, ROOM_COARSE = THREADS / AT_FINE, AT_COARSE = COARSE < ROOM_COARSE ? COARSE : ROOM_COARSE,
          ROOM_LAYERS = THREADS / (AT_FINE * AT_COARSE), AT_LAYERS = LZ < ROOM_LAYERS ? LZ : ROOM_LAYERS;
const int GO_FINE = (FINE + AT_FINE - 1) / AT_FINE, GO_COARSE = (COARSE + AT_COARSE - 1) / AT_COARSE, GO_LAYERS = (LZ + AT_LAYERS - 1) / AT_LAYERS;
const int TURNS = GO_FINE * GO_COARSE * GO_LAYERS, MOST = VEC > 1 ? 8 : 12, FLIGHT = TURNS < MOST ? TURNS : MOST;

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

// Read where this is written: the compiler would else read some of them once for all turns, and of which it does is its choice.
__device__ __forceinline__ i64 place_of(int i) {
    i64 at;
    asm volatile("ld.shared.b64 %0, [%1];" : "=l"(at) : "r"((unsigned)__cvta_generic_to_shared(&place[i])));
    return at;
}

__device__ __forceinline__ void resolve(const brick &p, const axis &a, int to, int length, int from) {
#pragma unroll 1
    for (int i = threadIdx.x; i < length; i += THREADS) {
        const i64 at = element_at((int)p.boundary, a.n, from + i);
        place[to + i] = at < 0 ? NONE : at * a.in;
    }
}

// What lies in shared memory: numbers, or narrow elements as they are in the array.
#if RAW
typedef in_element cell;
__device__ __forceinline__ cell outside_of(const brick &p) { return store_as<IN>(p.constant[0]); }
__device__ __forceinline__ cell cell_of(const in_element &e) { return e; }
#else
typedef number cell;
__device__ __forceinline__ cell outside_of(const brick &p) { return value_of(p.constant); }
__device__ __forceinline__ cell cell_of(const in_element &e) { return load(e); }
#endif

// VEC elements as they lie in the array, and as numbers.
union unit {
    words<VEC *(int)sizeof(in_element)> bits;
    in_element element[VEC];
    __device__ __forceinline__ unit() {}
};
// Element number i of packed words. Small integers become f32 without a conversion, which is the slower instruction (gpu_window.cuh).
__device__ __forceinline__ number number_of(const unsigned *word, int i) {
    const int SIZE = (int)sizeof(in_element);
    const unsigned w = word[i * SIZE / 4];
#if WORK == T_F32 && IN == T_U8
    return __uint_as_float(__byte_perm(w, 0x4b000000, 0x7540 | i % 4)) - 8388608.0f;
#elif WORK == T_F32 && IN == T_I8
    return __uint_as_float(__byte_perm(w ^ 0x80808080, 0x4b000000, 0x7540 | i % 4)) - 8388736.0f;
#elif WORK == T_F32 && IN == T_U16
    return __uint_as_float(__byte_perm(w, 0x4b000000, i % 2 ? 0x7432 : 0x7410)) - 8388608.0f;
#elif WORK == T_F32 && IN == T_I16
    return __uint_as_float(__byte_perm(w ^ 0x80008000, 0x4b000000, i % 2 ? 0x7432 : 0x7410)) - 8421376.0f;
#else
    union {
        unsigned bits;
        in_element e[sizeof(in_element) < 4 ? 4 / sizeof(in_element) : 1];
    } one = {w};
    return load(one.e[i * SIZE % 4 / SIZE]);
#endif
}

union numbers {
    number v[VEC];
#if VEC > 1 // so many that they are a vector of 16 bytes
    uint4 all;
#endif
    __device__ __forceinline__ numbers() {}
};
__device__ __forceinline__ void lay_down(cell *to, const unit &u) {
#if RAW
    *(words<VEC *(int)sizeof(in_element)> *)to = u.bits;
#else
    numbers n;
#pragma unroll
    for (int i = 0; i < VEC; i++)
#if VEC > 1 && (IN == T_U8 || IN == T_I8)
        n.v[i] = number_of(u.bits.word, i);
#else
        n.v[i] = load(u.element[i]);
#endif
#if VEC > 1 && !TURNED
    *(uint4 *)to = n.all;
#else
#pragma unroll
    for (int i = 0; i < VEC; i++)
        to[i * NEXT] = n.v[i];
#endif
#endif
}

// Where a thread stands in a turn: unit of a line, line, layer.
struct stand {
    int fine, coarse, layer;
    __device__ __forceinline__ stand() {
        fine = threadIdx.x % AT_FINE;
        coarse = threadIdx.x / AT_FINE % AT_COARSE;
        layer = threadIdx.x / (AT_FINE * AT_COARSE);
    }
    __device__ __forceinline__ bool works() const { return AT_FINE * AT_COARSE * AT_LAYERS == THREADS || layer < AT_LAYERS; }
    // Whether there is a unit so many further on: known to the compiler but at the end.
    __device__ __forceinline__ bool has(int i, int j, int l) const {
        return (i + AT_FINE <= FINE || fine < FINE - i) && (j + AT_COARSE <= COARSE || coarse < COARSE - j) &&
               (l + AT_LAYERS <= LZ || layer < LZ - l);
    }
};
// How far a thread has gone in turn number k.
#define GONE_FINE(k) ((k) % GO_FINE * AT_FINE)
#define GONE_COARSE(k) ((k) / GO_FINE % GO_COARSE * AT_COARSE)
#define GONE_LAYERS(k) ((k) / GO_FINE / GO_COARSE * AT_LAYERS)

// The brick of which the first unit of the first line is at `corner`, all of it in the array.
__device__ __forceinline__ void bring_inside(cell *tile, const brick &p, const in_element *__restrict__ corner) {
    const stand at;
    if (!at.works())
        return;
    const int step_fine = VEC * (int)(TURNED ? p.y.in : p.x.in), step_coarse = TURNED ? (int)p.x.in : (int)p.y.in, step_layer = (int)p.z.in;
    corner += at.fine * step_fine + at.coarse * step_coarse + at.layer * step_layer;
    tile += at.fine * NEXT_FINE + at.coarse * NEXT_COARSE + at.layer * NEXT_LAYER;
    asm("" : "+l"(corner)); // one pointer, to which a step is added by one instruction
    __builtin_assume(__isGlobal(corner));
#pragma unroll
    for (int first = 0; first < TURNS; first += FLIGHT) {
        unit u[FLIGHT];
#pragma unroll
        for (int k = first; k < first + FLIGHT; k++)
            if (k < TURNS && at.has(GONE_FINE(k), GONE_COARSE(k), GONE_LAYERS(k)))
                load_now(u[k - first].bits, corner + (GONE_FINE(k) * step_fine + GONE_COARSE(k) * step_coarse + GONE_LAYERS(k) * step_layer));
#pragma unroll
        for (int k = first; k < first + FLIGHT; k++)
            if (k < TURNS && at.has(GONE_FINE(k), GONE_COARSE(k), GONE_LAYERS(k)))
                lay_down(tile + GONE_FINE(k) * NEXT_FINE + GONE_COARSE(k) * NEXT_COARSE + GONE_LAYERS(k) * NEXT_LAYER, u[k - first]);
    }
}

// Where the line stands in the array that a thread meets in turn k, or less than GHOST.
__device__ __forceinline__ i64 line_of(const stand &at, int k) {
    return place_of(LX + LY + at.layer + GONE_LAYERS(k)) + place_of((TURNED ? 0 : LX) + at.coarse + GONE_COARSE(k));
}

// A brick of which element number 0 of a line is number `from` of the array's, and which reaches beyond an end: what lies inside by units as well, then the others element by element.
__device__ __forceinline__ void bring_any(cell *tile, const brick &p, const in_element *__restrict__ in, int from) {
    const int n = (int)(TURNED ? p.y.n : p.x.n), places = TURNED ? LX : 0;
    const stand at;
    if (!at.works())
        return;
    tile += at.fine * NEXT_FINE + at.coarse * NEXT_COARSE + at.layer * NEXT_LAYER;
#pragma unroll 1
    for (int begin = 0; begin < TURNS; begin += FLIGHT) {
        unit u[FLIGHT];
        bool whole[FLIGHT], there[FLIGHT];
        int to[FLIGHT];
#pragma unroll
        for (int i = 0; i < FLIGHT; i++) {
            const int k = begin + i;
            there[i] = (TURNS % FLIGHT == 0 || k < TURNS) && at.has(GONE_FINE(k), GONE_COARSE(k), GONE_LAYERS(k));
            whole[i] = false;
            to[i] = GONE_FINE(k) * NEXT_FINE + GONE_COARSE(k) * NEXT_COARSE + GONE_LAYERS(k) * NEXT_LAYER;
            if (there[i]) {
                const int first = (at.fine + GONE_FINE(k)) * VEC - SHIFT;
                const i64 line = line_of(at, k), element = VEC > 1 ? line + from + first : line + place_of(places + first);
                whole[i] = VEC > 1 ? line > GHOST && from + first >= 0 && from + first + VEC <= n : element > GHOST;
                if (whole[i])
                    load_now(u[i].bits, in + element);
            }
        }
#pragma unroll
        for (int i = 0; i < FLIGHT; i++) {
            if (VEC == 1 && there[i])
                tile[to[i]] = whole[i] ? cell_of(u[i].element[0]) : outside_of(p);
            else if (VEC > 1 && whole[i])
                lay_down(tile + to[i], u[i]);
        }
    }
    if (VEC == 1)
        return;
#pragma unroll 1
    for (int k = 0; k < TURNS; k++) {
        const int first = (at.fine + GONE_FINE(k)) * VEC - SHIFT;
        if (!at.has(GONE_FINE(k), GONE_COARSE(k), GONE_LAYERS(k)))
            continue;
        const i64 line = line_of(at, k);
        if (line > GHOST && from + first >= 0 && from + first + VEC <= n)
            continue;
        cell *to = tile + GONE_FINE(k) * NEXT_FINE + GONE_COARSE(k) * NEXT_COARSE + GONE_LAYERS(k) * NEXT_LAYER;
#pragma unroll 1
        for (int i = 0; i < VEC; i++) {
            const i64 element =
                first + i >= 0 && first + i < (TURNED ? LY : LX) ? line + place_of(places + first + i) : NONE; // beside the brick they are nobody's
            to[i * NEXT] = element > GHOST ? cell_of(in[element]) : outside_of(p);
        }
    }
}

__device__ __forceinline__ bool within(const axis &a, int first, int length) { return first >= 0 && first + length <= (int)a.n; }

// V numbers of a row, as one vector where they are: read as a whole, for the compiler would else read what is used of it, in pieces.
__device__ __forceinline__ void read(number (&v)[V], const cell *from) {
#if RAW
    words<V *(int)sizeof(cell)> w = *(const words<V *(int)sizeof(cell)> *)from;
    if (V * (int)sizeof(cell) == 8)
        asm("" : "+r"(w.word[0]), "+r"(w.word[V * (int)sizeof(cell) / 4 - 1]));
#pragma unroll
    for (int i = 0; i < V; i++)
        v[i] = number_of(w.word, i);
#elif V > 1
    union {
        uint4 all;
        number each[V];
    } w;
    w.all = *(const uint4 *)from;
    asm("" : "+r"(w.all.x), "+r"(w.all.y), "+r"(w.all.z), "+r"(w.all.w));
#pragma unroll
    for (int i = 0; i < V; i++)
        v[i] = w.each[i];
#else
    v[0] = *from;
#endif
}

// As many of V results as there are.
union result {
    out_element e[V];
    words<V *(int)sizeof(out_element) < 4 ? 4 : V *(int)sizeof(out_element)> bits;
    __device__ __forceinline__ result() {}
};
#define BYTES_OUT (WORK == T_F32 && (OUT == T_U8 || OUT == T_I8))
#if BYTES_OUT
__device__ __forceinline__ unsigned narrow_two(float a, float b, unsigned c) {
    const int i = rounded<T_I32>(a), j = rounded<T_I32>(b);
    unsigned d;
#if OUT == T_U8
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(i), "r"(j), "r"(c));
#else
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(i), "r"(j), "r"(c));
#endif
    return d;
}
#endif
__device__ __forceinline__ void write(out_element *to, const number (&acc)[V], int left) {
    result r;
#if BYTES_OUT && V == 4
    r.bits.word[0] = narrow_two(acc[1], acc[0], narrow_two(acc[3], acc[2], 0));
#else
#pragma unroll
    for (int i = 0; i < V; i++)
        r.e[i] = store(acc[i]);
#endif
    if (V == 1) {
        *to = r.e[0];
    } else if (left >= V) {
        // The compiler would else store some of them in pieces.
        const int BYTES = V * (int)sizeof(out_element), WORDS = BYTES < 4 ? 1 : BYTES / 4;
        const unsigned *w = r.bits.word;
        if (BYTES == 16)
            asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(w[0]), "r"(w[1 % WORDS]), "r"(w[2 % WORDS]), "r"(w[3 % WORDS]));
        else if (BYTES == 8)
            asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(w[0]), "r"(w[1 % WORDS]));
        else
            asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(w[0]));
    } else {
#pragma unroll
        for (int i = 0; i < V - 1; i++)
            if (i < left)
                to[i] = r.e[i];
    }
}

// What belongs to an axis of the three.
__host__ __device__ constexpr int of(int axis, int x, int y, int z) { return axis == 0 ? x : axis == 1 ? y : z; }
// A row's elements number BEGIN .. BEGIN + V + KX - 2, from a thread's first vector on, are those that its outputs meet, in so many vectors.
const int BEGIN = V > 1 ? SHIFT % V : 0, VECTORS = (BEGIN + V + KX - 1 + V - 1) / V;
// The loop over x, as vectors, is number X of the mask's; one or two others stand around it, inside each other (AROUND, BETWEEN), or inside it (INSIDE, INNERMOST).
const int X = FIRST == 0 ? 0 : SECOND == 0 ? 1 : 2;
__host__ __device__ constexpr int met(int axis) { return of(axis, 1, KY + R - 1, KZ + S - 1); }
__host__ __device__ constexpr int step(int axis) { return of(axis, 0, SPLIT ? TX * V : PITCH, NEXT_LAYER); }
const int AROUND = X > 0 ? met(FIRST) : 1, BETWEEN = X > 1 ? met(SECOND) : 1,
          INSIDE = X == 0   ? met(SECOND)
                   : X == 1 ? met(THIRD)
                            : 1,
          INNERMOST = X == 0 ? met(THIRD) : 1;
const int TO_AROUND = X > 0 ? step(FIRST) : 0, TO_BETWEEN = X > 1 ? step(SECOND) : 0,
          TO_INSIDE = X == 0   ? step(SECOND)
                      : X == 1 ? step(THIRD)
                               : 0,
          TO_INNERMOST = X == 0 ? step(THIRD) : 0;
// Of the two that are not x, the first: y, or z.
const bool Y_FIRST = FIRST == 1 || (FIRST == 0 && SECOND == 1);

extern "C" __global__ __launch_bounds__(THREADS) void brick_pass(const in_element *__restrict__ in, out_element *__restrict__ out, const brick p) {
    extern __shared__ uint4 memory[];
    cell *tile = (cell *)memory;
    const int x0 = block_place().x * TILE_X, y0 = block_place().y * TILE_Y;
    int z0 = 0;
    unsigned block = block_place().z;
    if (LZ > 1) {
        const unsigned deep = ((unsigned)p.z.m + TILE_Z - 1) / TILE_Z;
        z0 = block % deep * TILE_Z;
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
    const int SHIFT_X = TURNED ? 0 : SHIFT, SHIFT_Y = TURNED ? SHIFT : 0;
    const bool inside =
        within(p.x, from_x - SHIFT_X, VEC > 1 && !TURNED ? FINE * VEC : LX) & within(p.y, from_y - SHIFT_Y, ROWS) & within(p.z, from_z, LZ);
    if (!inside) {
        resolve(p, p.x, 0, LX, from_x);
        resolve(p, p.y, LX, LY, from_y);
        resolve(p, p.z, LX + LY, LZ, from_z);
        __syncthreads();
        bring_any(tile, p, in, TURNED ? from_y : from_x);
    } else {
        bring_inside(tile, p, in + (from_x - SHIFT_X) * p.x.in + (from_y - SHIFT_Y) * p.y.in + from_z * p.z.in);
    }
    __syncthreads();

    const int tx = threadIdx.x % TX * V, ty = threadIdx.x / TX % TY * R, tz = threadIdx.x / TX / TY * S, x = x0 + tx, y = y0 + (SPLIT ? 0 : ty),
              z = z0 + tz;
    if (x >= (int)p.x.m || z >= (int)p.z.m)
        return;
    const cell *window = tile + tx + (V == 1 ? SHIFT * NEXT : SHIFT - BEGIN) + (SPLIT ? 0 : ty) * PITCH + tz * NEXT_LAYER;
    number acc[S][R][V] = {};
#pragma unroll
    for (int a = 0; a < AROUND; a++)
#pragma unroll
        for (int b = 0; b < BETWEEN; b++)
#pragma unroll
            for (int vector = 0; vector < VECTORS; vector++) {
                number v[INSIDE][INNERMOST][V];
#pragma unroll
                for (int c = 0; c < INSIDE; c++)
#pragma unroll
                    for (int d = 0; d < INNERMOST; d++)
                        read(v[c][d], window + vector * V + a * TO_AROUND + b * TO_BETWEEN + c * TO_INSIDE + d * TO_INNERMOST);
#pragma unroll
                for (int u = 0; u < V; u++)
#pragma unroll
                    for (int c = 0; c < INSIDE; c++)
#pragma unroll
                        for (int d = 0; d < INNERMOST; d++) {
                            // Which element is met along x, y, z.
                            const int first = X == 0 ? c : a, second = X == 0 ? d : X == 1 ? c : b;
                            const int at_x = vector * V + u - BEGIN, at_y = Y_FIRST ? first : second, at_z = Y_FIRST ? second : first;
#pragma unroll
                            for (int s = 0; s < S; s++)
#pragma unroll
                                for (int r = 0; r < R; r++)
#pragma unroll
                                    for (int i = 0; i < V; i++) {
                                        const int tap_x = at_x - i, tap_y = at_y - r, tap_z = at_z - s;
                                        if (tap_x < 0 || tap_x >= KX || tap_y < 0 || tap_y >= KY || tap_z < 0 || tap_z >= KZ)
                                            continue;
                                        add(acc[s][r][i], v[c][d][u],
                                            p.weight[(of(FIRST, tap_x, tap_y, tap_z) * of(SECOND, KX, KY, KZ) + of(SECOND, tap_x, tap_y, tap_z)) *
                                                         of(THIRD, KX, KY, KZ) +
                                                     of(THIRD, tap_x, tap_y, tap_z)]);
                                    }
                        }
            }
    out += x * p.x.out + y * p.y.out + z * p.z.out;
#pragma unroll
    for (int s = 0; s < S; s++)
#pragma unroll
        for (int r = 0; r < R; r++)
            if ((s == 0 || z + s < (int)p.z.m) && (SPLIT ? x + r * TX * V < (int)p.x.m : y + r < (int)p.y.m))
                write(out + (SPLIT ? r * TX * V * p.x.out : r * p.y.out) + s * p.z.out, acc[s][r], (int)p.x.m - x - (SPLIT ? r * TX * V : 0));
}

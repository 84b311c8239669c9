// SPDX-License-Identifier: Apache-2.0
// gpu_fft.cuh - Fourier transforms of docs/numerics.md in registers, and where a tile's points lie in the arrays: what gpu_fft_tile.cu and gpu_fft_passes.cu share.
//
// A transform is done in passes, each in place: a thread takes the points of one butterfly, transforms them in registers and puts them back, so that nothing
// but passes needs barriers. An axis of N points has a head, a butterfly of 8 points N / 8 apart (none below 32 points), and a tail: what the other levels do
// with LAST points that lie side by side, all of it in registers (32 points: a level of radix 8, one of radix 4; 16: two of radix 4). With SPLIT a tail of 32
// points is a pass of its own for each level: registers for more threads, at the price of one more way through shared memory. So is the first level of longer ones.
// Forward: head, tail; each level multiplies its results by roots of one. Backward: tail, head, levels and their parts in reverse. A
// backward transform is a forward one of numbers whose parts have changed places, which they do once, at the product with the spectrum.
//
// -DIN= -DOUT= -DWORK= types (real); -DHIGH= rows of a tile's grid, -DWIDE= points of a row; -DPLANE=1: they are the array's, 0: a stretch of HIGH * WIDE points;
// -DOUTER=N axes of the array beside those of the grid; -DMASKED=N axes of the mask; -DSEVERAL=1: there are
// several pieces; -DSPLIT=1; -DUNIT=1: elements along x lie side by side.
#ifndef TESS_CORRELATE_GPU_FFT_CUH
#define TESS_CORRELATE_GPU_FFT_CUH

#include "gpu/types.cuh"
#include "ops/correlate/gpu_boundary.cuh"

typedef stored<IN>::type in_element;
typedef stored<OUT>::type out_element;
typedef stored<WORK>::type work;

struct alignas(2 * sizeof(work)) point {
    work re, im;
};

// ---- arithmetic ----

__device__ __forceinline__ float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return fma(a, b, c); }
__device__ __forceinline__ point operator+(point a, point b) { return {a.re + b.re, a.im + b.im}; }
__device__ __forceinline__ point operator-(point a, point b) { return {a.re - b.re, a.im - b.im}; }
__device__ __forceinline__ point operator*(point a, point w) { return {fused(a.re, w.re, -(a.im * w.im)), fused(a.re, w.im, a.im * w.re)}; }
__device__ __forceinline__ point minus_i(point a, point b) { return {a.re + b.im, a.im - b.re}; } // a - i b
__device__ __forceinline__ point plus_i(point a, point b) { return {a.re - b.im, a.im + b.re}; }
__device__ __forceinline__ point add_product(point s, point a, point w) {
    return {fused(-a.im, w.im, fused(a.re, w.re, s.re)), fused(a.im, w.re, fused(a.re, w.im, s.im))};
}

__device__ __forceinline__ void butterfly(point (&x)[4]) {
    const point s0 = x[0] + x[2], d0 = x[0] - x[2], s1 = x[1] + x[3], d1 = x[1] - x[3];
    x[0] = s0 + s1;
    x[1] = minus_i(d0, d1);
    x[2] = s0 - s1;
    x[3] = plus_i(d0, d1);
}

// The eighth roots' common factor sqrt(1/2) is left to the last additions.
__device__ __forceinline__ void butterfly(point (&x)[8]) {
    const work half = (work)0.70710678118654752440;
    point even[4] = {x[0] + x[4], x[1] + x[5], x[2] + x[6], x[3] + x[7]};
    const point b0 = x[0] - x[4], b1 = x[1] - x[5], b2 = x[2] - x[6], b3 = x[3] - x[7];
    butterfly(even);
    x[0] = even[0];
    x[2] = even[1];
    x[4] = even[2];
    x[6] = even[3];
    const point s0 = minus_i(b0, b2), d0 = plus_i(b0, b2);
    const point u1 = {b1.re + b1.im, b1.im - b1.re}, u3 = {b3.im - b3.re, b3.re + b3.im}; // the third is minus u3.im
    const point s1 = {u1.re + u3.re, u1.im - u3.im}, d1 = {u1.re - u3.re, u1.im + u3.im};
    x[1] = {fused(half, s1.re, s0.re), fused(half, s1.im, s0.im)};
    x[3] = {fused(half, d1.im, d0.re), fused(-half, d1.re, d0.im)};
    x[5] = {fused(-half, s1.re, s0.re), fused(-half, s1.im, s0.im)};
    x[7] = {fused(-half, d1.im, d0.re), fused(half, d1.re, d0.im)};
}

// ---- levels ----

// Results 1 .. R - 1 of a butterfly times their roots, which lie `count` apart: place `at` of each list.
template <int R> __device__ __forceinline__ void turn(point (&x)[R], const point *roots, int count, int at) {
#pragma unroll
    for (int q = 1; q < R; q++)
        x[q] = x[q] * roots[(q - 1) * count + at];
}

// A level of blocks of R * M points, in registers. side: points between two of this axis in the transform of both (1: rows and columns are transformed by themselves).
template <int R, int M, int SIDE, bool BACK, int N> __device__ __forceinline__ void level(point (&x)[N], const point *roots, int side) {
#pragma unroll
    for (int k = 0; k < N; k += R * M)
#pragma unroll
        for (int j = 0; j < M; j++) {
            point y[R];
#pragma unroll
            for (int q = 0; q < R; q++)
                y[q] = x[k + j + q * M];
            if (BACK && M * SIDE > 1)
                turn<R>(y, roots, M * SIDE, j * SIDE + side);
            butterfly(y);
            if (!BACK && M * SIDE > 1)
                turn<R>(y, roots, M * SIDE, j * SIDE + side);
#pragma unroll
            for (int q = 0; q < R; q++)
                x[k + j + q * M] = y[q];
        }
}

// An axis of N points with its table of roots: the head's, then the tail's, level by level.
template <int N, int SIDE> struct axis_of {
    static const bool HEAD = N >= 32, MIDDLE = N > 256 || (SPLIT && N == 256);
    static const int M = N / 8, STEP = MIDDLE ? M / 8 : 1,
                     LAST = MIDDLE ? STEP
                            : HEAD ? M
                                   : N;                           // M, STEP: points from one of the head's, of the middle's, to the next
    static const int FIRST = LAST == 32 ? 8 : LAST == 16 ? 4 : 1; // radix of the tail's level before the last, 1: there is none
    static const int RADIX = FIRST > 1 ? 4 : LAST, INNER = HEAD ? 7 * M * SIDE : 0, TAIL = INNER + (MIDDLE ? 7 * STEP * SIDE : 0),
                     LEAST = TAIL + (FIRST - 1) * (LAST / FIRST) * SIDE;

    template <bool BACK> static __device__ __forceinline__ void head(point (&x)[8], const point *roots, int j, int side) {
        if (BACK)
            turn<8>(x, roots, M * SIDE, j * SIDE + side);
        butterfly(x);
        if (!BACK)
            turn<8>(x, roots, M * SIDE, j * SIDE + side);
    }
    // Points STEP apart, from place(j) on.
    template <bool BACK> static __device__ __forceinline__ void middle(point (&x)[8], const point *roots, int j, int side) {
        if (BACK)
            turn<8>(x, roots + INNER, STEP * SIDE, j % STEP * SIDE + side);
        butterfly(x);
        if (!BACK)
            turn<8>(x, roots + INNER, STEP * SIDE, j % STEP * SIDE + side);
    }
    static __device__ __forceinline__ int place(int j) { return j / STEP * M + j % STEP; }
    static __device__ __forceinline__ void tail(point (&x)[LAST], const point *roots, int side) {
        if constexpr (FIRST > 1)
            level<FIRST, LAST / FIRST, SIDE, false>(x, roots + TAIL, side);
        level<RADIX, 1, SIDE, false>(x, roots + LEAST, side);
    }
    static __device__ __forceinline__ void tail_back(point (&x)[LAST], const point *roots, int side) {
        level<RADIX, 1, SIDE, true>(x, roots + LEAST, side);
        if constexpr (FIRST > 1)
            level<FIRST, LAST / FIRST, SIDE, true>(x, roots + TAIL, side);
    }
};
typedef axis_of<HIGH, PLANE ? 1 : WIDE> columns;
typedef axis_of<WIDE, 1> rows;
__device__ __forceinline__ int side_of(int c) { return PLANE ? 0 : c; } // of a column

// ---- tiles ----

struct axis { // before: of the mask; -1: it has none along this axis
    i64 m, in, out, n, before;
};
struct
    digit { // of a piece's number, by the axes of the mask: how many pieces, taps from one to the next and in all; which axis: 0 x, 1 y, 2 + k outer[k]
    i64 count, step, width, axis;
};
struct transform {
    work constant;
    i64 boundary, tiles, pairs, tiles_x, outer_tiles, outputs_x, outputs_y, pieces;
    axis x, y;
    axis outer[OUTER + 1];
    digit digits[MASKED + 1];
};

// Where a tile's points come from and its outputs go, for one piece.
struct tile {
    i64 in, out;        // elements: of what the other axes say; the first output
    i64 x, y;           // input index of the first point
    int columns, rows;  // outputs; 0: there is no such tile
    int across, down;   // points that outputs meet; the others are 0
    bool ghost, inside; // all of it is the constant; none of it is
};

// a = a / b, the remainder returned; in 32 bits where both have no more, which takes a fifth of the time.
__device__ __forceinline__ i64 divide(i64 &a, i64 b) {
    const i64 n = a;
    a = (n | b) >> 32 ? n / b : (i64)((unsigned)n / (unsigned)b);
    return n - a * b;
}

__device__ tile find_tile(const transform &t, i64 number, i64 piece) {
    tile result;
    i64 first[OUTER + 2] = {0, 0}, taps_x = 1, taps_y = 1;
    result.columns = result.rows = result.across = result.down = 0;
    result.in = result.out = result.x = result.y = 0;
    result.ghost = result.inside = false;
    if (number >= t.tiles)
        return result;
    for (int k = MASKED - 1; k >= 0; k--) {
        const digit &d = t.digits[k];
        const i64 here = SEVERAL ? divide(piece, d.count) * d.step : 0, left = d.width - here, taps = left < d.step ? left : d.step;
        first[d.axis] = here;
        taps_x = d.axis == 0 ? taps : taps_x;
        taps_y = d.axis == 1 ? taps : taps_y;
    }
    i64 outer = OUTER ? divide(number, t.outer_tiles) : 0; // leaves the place along x and y
    for (int k = OUTER - 1; k >= 0; k--) {
        const axis &a = t.outer[k];
        i64 i = divide(outer, a.m);
        result.out += i * a.out;
        if (a.before >= 0)
            i = element_at((int)t.boundary, a.n, i - a.before + first[2 + k]);
        result.ghost = result.ghost || i < 0;
        result.in += i * a.in;
    }
    const i64 x = divide(number, t.tiles_x) * t.outputs_x, y = number * t.outputs_y;
    result.columns = (int)(t.x.m - x < t.outputs_x ? t.x.m - x : t.outputs_x);
    result.rows = (int)(t.y.m - y < t.outputs_y ? t.y.m - y : t.outputs_y);
    result.out += x * t.x.out + y * t.y.out;
    result.x = x - t.x.before + first[0];
    result.y = y - t.y.before + first[1];
    result.across = result.columns + (int)taps_x - 1;
    result.down = result.rows + (int)taps_y - 1;
    result.inside = !result.ghost && result.x >= 0 && result.x + result.across <= t.x.n && result.y >= 0 && result.y + result.down <= t.y.n;
    return result;
}

// Elements from one of a column's points to the one `step` rows on. A thread's pointer walks by it: indices worked out for each point would be most of the work.
__device__ __forceinline__ i64 rows_apart(i64 step_x, i64 step_y, int step) {
    return PLANE ? step * step_y : UNIT ? step * WIDE : step * WIDE * step_x;
}
__device__ __forceinline__ i64 place_of(i64 step_x, i64 step_y, int r, int c) {
    const i64 x = PLANE ? c : r * WIDE + c;
    return (UNIT ? x : x * step_x) + (PLANE ? r * step_y : 0);
}

// N points of column c of the grid, `step` rows apart from row r on, of a tile that lies inside the array.
template <int N>
__device__ __forceinline__ void fetch_inside(work (&x)[N], const transform &t, const tile &at, const in_element *in, int r, int step, int c) {
    const in_element *from = in + at.in + at.x * t.x.in + (PLANE ? at.y * t.y.in : 0) + place_of(t.x.in, t.y.in, r, c);
    const i64 walk = rows_apart(t.x.in, t.y.in, step);
    const int here = PLANE ? r : r * WIDE + c, by = PLANE ? step : step * WIDE, end = PLANE ? (c < at.across ? at.down : 0) : at.across;
#pragma unroll
    for (int i = 0; i < N; i++, from += walk)
        x[i] = here + i * by < end ? load_as<work, IN>(*from) : 0;
}

// The same of any tile: what lies beyond the array's ends is looked up where a lane meets it.
template <int N>
__device__ __forceinline__ void fetch_any(work (&x)[N], const transform &t, const tile &at, const in_element *in, int r, int step, int c) {
    const int here = PLANE ? r : r * WIDE + c, by = PLANE ? step : step * WIDE, end = PLANE ? (c < at.across ? at.down : 0) : at.across;
    const i64 column = PLANE ? element_at((int)t.boundary, t.x.n, at.x + c) : 0, n = PLANE ? t.y.n : t.x.n,
              stride = PLANE  ? t.y.in
                       : UNIT ? 1
                              : t.x.in;
    const bool ghost = at.ghost || column < 0;
    const in_element *from = in + at.in + column * t.x.in;
    i64 place = (PLANE ? at.y : at.x) + here;
#pragma unroll
    for (int i = 0; i < N; i++, place += by) {
        i64 there = place;
        if ((unsigned long long)place >= (unsigned long long)n)
            there = here + i * by < end ? element_at((int)t.boundary, n, place) : -1;
        x[i] = here + i * by >= end ? 0 : ghost || there < 0 ? t.constant : load_as<work, IN>(from[there * stride]);
    }
}

// N points of both tiles.
template <int N>
__device__ __forceinline__ void fetch(point (&x)[N], const transform &t, const tile *pair, const in_element *in, int r, int step, int c) {
    work re[N], im[N];
    if (pair[0].inside && pair[1].inside) {
        fetch_inside(re, t, pair[0], in, r, step, c);
        fetch_inside(im, t, pair[1], in, r, step, c);
    } else {
        fetch_any(re, t, pair[0], in, r, step, c);
        fetch_any(im, t, pair[1], in, r, step, c);
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = {re[i], im[i]};
}

// N outputs of column c that a backward transform has left, parts exchanged.
template <int N>
__device__ __forceinline__ void give(const point (&x)[N], const transform &t, const tile *pair, out_element *out, int r, int step, int c) {
    const i64 place = place_of(t.x.out, t.y.out, r, c), walk = rows_apart(t.x.out, t.y.out, step);
    const int here = PLANE ? r : r * WIDE + c, by = PLANE ? step : step * WIDE;
#pragma unroll
    for (int p = 0; p < 2; p++) {
        const int end = PLANE ? (c < pair[p].columns ? pair[p].rows : 0) : pair[p].columns;
        out_element *to = out + pair[p].out + place;
#pragma unroll
        for (int i = 0; i < N; i++, to += walk)
            if (here + i * by < end)
                *to = store_as<OUT>(p == 0 ? x[i].im : x[i].re);
    }
}

#endif

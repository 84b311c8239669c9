// SPDX-License-Identifier: Apache-2.0
// gpu_window.cuh - what the sliding-window kernels share: the problem's frame, the element that stands outside an axis, elements packed in words, the
// results on their way out.
//
// An array is planes z of rows y of elements x without gaps, and a batch of such arrays. Output x meets inputs x - BEFORE ... x - BEFORE + KX - 1 of a
// row (GROUP > 1: of every GROUPth element, the colours of a pixel), in ascending order, then the next row: one fused multiply-add each, from +0.
//
// -DIN, -DOUT, -DWORK types (gpu/types.cuh); -DKX, -DBEFORE taps along x and how many of them lie before the output; -DGROUP; -DBATCH axes of the batch;
// -DWHOLE=1: rows may be read and written in vectors.
#include "gpu/types.cuh"

typedef stored<IN>::type element;
typedef stored<OUT>::type result;
typedef stored<WORK>::type work;

enum { SIZE = sizeof(element), LEFT = BEFORE * GROUP, RIGHT = (KX - 1 - BEFORE) * GROUP };

// Where an index outside an axis of n leads: i below 0 to turn * i + low + low_n * n, i from n on to turn * i + high + high_n * n, never below `least`.
struct edge_rule {
    int turn, low, low_n, high, high_n, least;
};

struct frame {
    i64 n_x, n_y, n_z, m_x, m_y, m_z;                    // elements of an input and of an output
    i64 in_y, in_z, out_y, out_z;                        // steps in elements
    i64 shape[BATCH + 1], in[BATCH + 1], out[BATCH + 1]; // of the batch, slowest first; the last entries are not used
    u64 ghost;                                           // the constant's bits as an element
    int before_y, before_z;
    edge_rule edge;
};

template <int N> struct tap_list { work w[N]; };

// Where array number `number` of the batch begins.
__device__ __forceinline__ void find_array(const frame &f, unsigned number, const element *&in, result *&out) {
#pragma unroll
    for (int d = BATCH - 1; d >= 0; d--) {
        unsigned at = number;
        if (d > 0) {
            at = number % (unsigned)f.shape[d];
            number /= (unsigned)f.shape[d];
        }
        in += at * f.in[d];
        out += at * f.out[d];
    }
}

__device__ __forceinline__ bool outside(int i, i64 n) { return i < 0 || i >= (int)n; }

// The index of the element that stands at i of n, -1 for the constant. Masks are no longer than the axis, so one bounce is enough; what no output needs
// may lie further out and is only kept inside.
template <typename I> __device__ __forceinline__ I resolve(I i, I n, const edge_rule &e) {
    I low = e.turn * i + e.low + e.low_n * n, high = e.turn * i + e.high + e.high_n * n;
    i = i < 0 ? low : i >= n ? high : i;
    i = i < n ? i : n - 1;
    return i > e.least ? i : e.least;
}

// The same for an element of a row, whose pixels have GROUP elements.
template <typename I> __device__ __forceinline__ I resolve_x(I i, I n, const edge_rule &e) {
    if (GROUP == 1)
        return resolve(i, n, e);
    I pixel = i >= 0 ? i / GROUP : -((GROUP - 1 - i) / GROUP), at = resolve<I>(pixel, n / GROUP, e);
    return at < 0 ? -1 : at * GROUP + (i - pixel * GROUP);
}

// N bytes as words, in one load that stands where it is written.
template <int N> __device__ __forceinline__ void load_words(unsigned *word, const char *at) {
    words<N> w;
    load_now(w, at);
#pragma unroll
    for (int i = 0; i < N / 4; i++)
        word[i] = w.word[i];
}

// Element i of packed words, as WORK. Small integers become f32 without a conversion, which is the slower instruction: a byte permutation puts them below
// the exponent of 2^23, of which 2^23 is then taken away. The sign bit of a signed one is turned first.
__device__ __forceinline__ work cell(const unsigned *word, int i) {
    const int byte = i * SIZE % 4;
    unsigned w = word[SIZE == 8 ? 2 * i : i * SIZE / 4];
#if WORK == T_F32 && IN == T_U8
    return __uint_as_float(__byte_perm(w, 0x4b000000, 0x7540 | byte)) - 8388608.0f;
#elif WORK == T_F32 && IN == T_I8
    return __uint_as_float(__byte_perm(w ^ 0x80808080, 0x4b000000, 0x7540 | byte)) - 8388736.0f;
#elif WORK == T_F32 && IN == T_U16
    return __uint_as_float(__byte_perm(w, 0x4b000000, byte ? 0x7432 : 0x7410)) - 8388608.0f;
#elif WORK == T_F32 && IN == T_I16
    return __uint_as_float(__byte_perm(w ^ 0x80008000, 0x4b000000, byte ? 0x7432 : 0x7410)) - 8421376.0f;
#else
    union {
        unsigned bits[2];
        element e;
    } one = {{SIZE == 8 ? w : w >> 8 * byte, SIZE == 8 ? word[2 * i + 1] : 0}};
    return load_as<work, IN>(one.e);
#endif
}
__device__ __forceinline__ void put(unsigned *word, int i, element e) {
    if (SIZE == 8) {
        union {
            element e;
            unsigned half[2];
        } both = {e};
        word[2 * i] = both.half[0];
        word[2 * i + 1] = both.half[1];
    } else {
        union {
            unsigned bits;
            element e;
        } one = {0};
        one.e = e;
        const int shift = i * SIZE % 4 * 8;
        word[i * SIZE / 4] = shift ? word[i * SIZE / 4] | one.bits << shift : one.bits;
    }
}
__device__ __forceinline__ element ghost_of(const frame &f) {
    union {
        u64 bits;
        element e;
    } one = {f.ghost};
    return one.e;
}

__device__ __forceinline__ float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double multiply_add(double a, double b, double c) { return fma(a, b, c); }

// The windows of N columns of LINES rows between two passes, which lie STEP elements apart in shared memory. The first one's row is read from AWAY elements before its
// window on, by whole vectors.
template <int AWAY, int STEP, int LINES, int WIDTH> __device__ __forceinline__ void read_between(work (&window)[LINES][WIDTH], const work *from) {
    const int WORDS = 16 / (int)sizeof(work), BEGIN = AWAY / WORDS * WORDS, END = (AWAY + WIDTH + WORDS - 1) / WORDS * WORDS;
#pragma unroll
    for (int t = 0; t < LINES; t++) {
        alignas(16) work wide[END];
#pragma unroll
        for (int i = BEGIN; i < END; i += WORDS)
            *(uint4 *)&wide[i] = *(const uint4 *)(from + t * STEP + i);
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            window[t][i] = wide[AWAY + i];
    }
}

// The chains along x of windows, of LINES rows that share a weight or of one.
template <int LINES, int N>
__device__ __forceinline__ void add_windows(work (&row)[LINES][N], const work (&window)[LINES][LEFT + N + RIGHT], const tap_list<KX> &taps) {
#pragma unroll
    for (int kx = 0; kx < KX; kx++)
#pragma unroll
        for (int t = 0; t < LINES; t++)
#pragma unroll
            for (int i = 0; i < N; i++)
                row[t][i] = multiply_add(window[t][i + kx * GROUP], taps.w[kx], kx ? row[t][i] : (work)0);
}
template <int N> __device__ __forceinline__ void add_window(work (&row)[N], const work (&window)[LEFT + N + RIGHT], const tap_list<KX> &taps) {
#pragma unroll
    for (int kx = 0; kx < KX; kx++)
#pragma unroll
        for (int i = 0; i < N; i++)
            row[i] = multiply_add(window[i + kx * GROUP], taps.w[kx], kx ? row[i] : (work)0);
}

// Row number r of those that the windows along y of LINES rows of outputs meet, added to their chains.
template <int LINES, int N, int TAPS>
__device__ __forceinline__ void add_row(work (&sum)[LINES][N], const work (&row)[N], int r, const tap_list<TAPS> &taps) {
#pragma unroll
    for (int o = 0; o < LINES; o++) {
        const int ky = r - o;
        if (ky < 0 || ky >= TAPS)
            continue;
#pragma unroll
        for (int i = 0; i < N; i++)
            sum[o][i] = multiply_add(row[i], taps.w[ky], ky ? sum[o][i] : (work)0);
    }
}

// The element `by` columns from the first one of a lane's N: its own, or one of another lane of the warp.
template <int N> __device__ __forceinline__ work beside(const work (&row)[N], int by) {
    const int lanes = by >= 0 ? by / N : -((N - 1 - by) / N), i = by - lanes * N;
    return lanes == 0 ? row[i] : lanes > 0 ? __shfl_down_sync(0xffffffff, row[i], lanes) : __shfl_up_sync(0xffffffff, row[i], -lanes);
}

// Keeps a sum in the register that it was made in: the compiler would else put off what only the next turn needs, and move every sum to its place at the turn's end.
__device__ __forceinline__ void keep(float &x) { asm volatile("" : "+f"(x)); }
__device__ __forceinline__ void keep(double &x) { asm volatile("" : "+d"(x)); }

__device__ __forceinline__ result narrow(work x) {
#if WORK == T_I32
    return store_as<OUT>((i64)x);
#else
    return store_as<OUT>(x);
#endif
}

#define BYTES_OUT ((WORK == T_F32 || WORK == T_I32) && (OUT == T_U8 || OUT == T_I8))
#if BYTES_OUT
__device__ __forceinline__ int whole(int x) { return x; }
__device__ __forceinline__ int whole(float x) { return rounded<T_I32>(x); }
// Bytes, saturated: b, a, and above them the low half of c. From f32 that is one instruction, the conversions to integers included.
__device__ __forceinline__ unsigned narrow_two(work a, work b, unsigned c) {
    unsigned d;
#if OUT == T_U8
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(whole(a)), "r"(whole(b)), "r"(c));
#else
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(whole(a)), "r"(whole(b)), "r"(c));
#endif
    return d;
}
#endif

// From sm_90 on numbers of 16 bits are made two at a time.
#define HALVES_OUT (WORK == T_F32 && (OUT == T_F16 || OUT == T_BF16) && __CUDA_ARCH__ >= 900)
#if HALVES_OUT
// b, and a above it. A NaN comes as 0x7fff, the largest of all numbers read as an integer: a minimum of both halves makes the canonical one.
__device__ __forceinline__ unsigned narrow_two(float a, float b) {
    unsigned d;
#if OUT == T_F16
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(a), "f"(b));
    asm("min.s16x2 %0, %0, %1;" : "+r"(d) : "r"(0x7e007e00));
#else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(a), "f"(b));
    asm("min.s16x2 %0, %0, %1;" : "+r"(d) : "r"(0x7fc07fc0));
#endif
    return d;
}
#endif

// N results side by side, narrowed. In f32 a NaN that was computed is 0x7fffffff (PTX), the largest of all numbers read as an integer: a minimum makes it the
// canonical one and changes nothing else.
template <int N> union alignas((N * sizeof(result) > 16 ? 16 : N * sizeof(result) < 4 ? 4 : N * sizeof(result))) packed {
    result r[N];
    unsigned word[N * sizeof(result) < 4 ? 1 : N * sizeof(result) / 4];
    __device__ __forceinline__ packed(const work (&value)[N]) {
#if BYTES_OUT
        if (N % 4 == 0) {
#pragma unroll
            for (int i = 0; i < N; i += 4)
                word[i / 4] = narrow_two(value[i + 1], value[i], narrow_two(value[i + 3], value[i + 2], 0));
            return;
        }
#endif
#if HALVES_OUT
        if (N % 2 == 0) {
#pragma unroll
            for (int i = 0; i < N; i += 2)
                word[i / 2] = narrow_two(value[i + 1], value[i]);
            return;
        }
#endif
#pragma unroll
        for (int i = 0; i < N; i++) {
#if WORK == T_F32 && OUT == T_F32
            const int bits = __float_as_int(value[i]);
            r[i] = __int_as_float(bits < 0x7fc00000 ? bits : 0x7fc00000);
#else
            r[i] = narrow(value[i]);
#endif
        }
    }
    // To an address that is aligned to as much as there is, up to 16 bytes.
    __device__ __forceinline__ void store(void *at) const {
        const int BYTES = N * (int)sizeof(result);
#pragma unroll
        for (int i = 0; i < BYTES / 16; i++)
            ((uint4 *)at)[i] = make_uint4(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]);
        if (BYTES == 8)
            *(uint2 *)at = make_uint2(word[0], word[1]);
        else if (BYTES == 4)
            *(unsigned *)at = word[0];
        else if (BYTES == 2)
            *(unsigned short *)at = (unsigned short)word[0];
        else if (BYTES == 1)
            *(unsigned char *)at = (unsigned char)word[0];
    }
    // The same of global memory and of whole words, without a branch and never in pieces, as which the compiler may store what it can see into.
    __device__ __forceinline__ void store_if(bool there, char *at) const {
        const int BYTES = N * (int)sizeof(result);
        static_assert(BYTES % 16 == 0 || BYTES == 8 || BYTES == 4, "whole words");
#pragma unroll
        for (int i = 0; i < BYTES / 16; i++)
            asm volatile("{.reg .pred p; setp.ne.u32 p, %5, 0; @p st.global.v4.u32 [%0], {%1, %2, %3, %4};}" ::"l"(at + 16 * i), "r"(word[4 * i]),
                         "r"(word[4 * i + 1]), "r"(word[4 * i + 2]), "r"(word[4 * i + 3]), "r"((unsigned)there)
                         : "memory");
        if (BYTES == 8)
            asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p st.global.v2.u32 [%0], {%1, %2};}" ::"l"(at), "r"(word[0]), "r"(word[BYTES > 4]),
                         "r"((unsigned)there)
                         : "memory");
        else if (BYTES == 4)
            asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u32 [%0], %1;}" ::"l"(at), "r"(word[0]), "r"((unsigned)there) : "memory");
    }
};

// N results to `to`, which stand at column x of a row of m: as many as there are, which may be known to be all.
template <int N, bool ALL = false> __device__ __forceinline__ void write(result *to, int x, int m, const work (&value)[N]) {
    const packed<N> v(value);
    if (WHOLE && (ALL || x + N <= m)) {
        v.store(to);
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            if (ALL || x + i < m)
                to[i] = v.r[i];
    }
}

// LINES rows of N results to rows that lie `step` bytes apart, the first of them row `row` of `rows`, and column x of m. Mostly all are there: one test for them.
template <int LINES, int N>
__device__ __forceinline__ void write_rows(char *to, i64 step, int row, int rows, int x, int m, const work (&value)[LINES][N]) {
    if ((WHOLE || N == 1) && row >= 0 && row + LINES <= rows && x + N <= m) {
#pragma unroll
        for (int r = 0; r < LINES; r++)
            write<N, true>((result *)(to + r * step), x, m, value[r]);
    } else {
#pragma unroll
        for (int r = 0; r < LINES; r++)
            if (row + r >= 0 && row + r < rows)
                write<N>((result *)(to + r * step), x, m, value[r]);
    }
}

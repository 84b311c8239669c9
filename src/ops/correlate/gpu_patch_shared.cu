// SPDX-License-Identifier: Apache-2.0
// gpu_patch_shared.cu - production: small masks over narrow elements. As patch, but the rows of a block come to shared memory, all at once, and need no registers there.
//
// The assembler moves loads to where their registers are first wanted: of the rows that patch asks for at once it leaves three at the beginning, and each of
// the others is waited for by itself. Loads whose words go to shared memory stay where they stand. So a block waits once; sums stay in registers from their
// first row of input to their last, and the loop over rows is rolled.
//
// Lanes of a block stand LANES side by side and DOWN below each other, whatever a warp's width is: as many side by side as leave few over at a row's end. The last blocks
// of a row and of a column begin as far before the end as lets them lie inside: no block is left incomplete, and what two of them compute is the same.
//
// Of u8 one permutation makes two numbers of 16 bits, b / 2^24 each, and one instruction each makes them f32: half an instruction an element less than `cell`
// takes. Their weights come times 2^24, so that every product, and with it every sum, is the number that it was.
//
// -DTURNED=1: the mask's last axis is y, as of arrays in Fortran's order. A row that arrives cannot add to the sums under way, since a chain goes down all of a column's rows before it comes to the
// next column; so the values of KY rows stay in registers, and with the last of them a row of sums is made. Nothing else differs.
//
// -DDOTS=1, for bytes by small integers (the row patch_bytes): sums of four products an instruction (gpu_dots.cuh, -DGROUPS).
//
// -DKY; -DV, -DR columns and rows of outputs a lane; -DTURN rows a turn of the loop: KY, each sum where it began (R + 1 a multiple of KY), or any number; -DLANES, -DDOWN; -DFULL=1: rows of
// the input and of outputs are as wide as a block; -DARRAYS=2: such a block has two arrays of DOWN lanes below each other, else 1.
#include "ops/correlate/gpu_copies.cuh"

#include "ops/correlate/gpu_bytes.cuh"
#include "ops/correlate/gpu_rolled_rows.cuh"

enum {
    ROWS_A_TURN = TURN,
    THREADS = (LANES * DOWN * ARRAYS + 31) / 32 * 32,
    VECTOR = 16 / SIZE,      // elements
    WIDE = LANES * V,        // columns of outputs
    ACROSS = WIDE / VECTOR,  // vectors
    ROW = WIDE + 2 * VECTOR, // elements of a row in shared memory: a vector beside on either side
    ROWS = DOWN * R + KY - 1,
    AT_ONCE = THREADS / ACROSS, // rows
    TIMES = (ROWS + AT_ONCE - 1) / AT_ONCE,
    SHARE = (2 * ROWS * 32 + THREADS - 1) / THREADS, // vectors beside them that a warp brings
    SIDES = (SHARE + 31) / 32,
    LW = (LEFT * SIZE + 3) / 4,
    RW = (RIGHT * SIZE + 3) / 4,
    VW = V * SIZE / 4, // words of a window
    WORDS = LW + VW + RW,
    FIRST = LW * 4 / SIZE - LEFT // the first element's place in them
};
#if DOTS
#include "ops/correlate/gpu_dots.cuh"
#endif
static_assert(WIDE % VECTOR == 0 && LW <= 4 && RW <= 4, "whole vectors, and what lies beside a vector away");

__device__ __forceinline__ element element_of(const element *row, bool there, const frame &f, int at) {
    return there && at >= 0 ? row[at] : ghost_of(f);
}

// The rows of a block whose columns pass a row's end.
__device__ void bring_anywhere(element *room, const element *in, const frame &f, int x, int top) {
    const int end = (int)f.m_x + RIGHT; // what lies behind is met by outputs that are not there
#pragma unroll 1
    for (int number = threadIdx.x; number < ROWS * (ACROSS + 2); number += THREADS) {
        const int r = number / (ACROSS + 2), column = x + (number % (ACROSS + 2) - 1) * VECTOR, y = resolve(top + r, (int)f.n_y, f.edge);
        const element *row = in + (i64)(y < 0 ? 0 : y) * f.in_y;
        element *to = room + number * VECTOR;
        if (y >= 0 && column >= 0 && column + VECTOR <= (int)f.n_x) {
            copy_vector((unsigned)__cvta_generic_to_shared(to), row + column);
        } else if (column < end) {
#pragma unroll
            for (int i = 0; i < VECTOR; i++)
                to[i] = column + i < end ? element_of(row, y >= 0, f, resolve_x(column + i, (int)f.n_x, f.edge)) : (element)0;
        } else {
            *(uint4 *)to = make_uint4(0, 0, 0, 0);
        }
    }
    end_copies();
    await_copies<0>();
}

__device__ __forceinline__ void lay_vector(element *to, const words<16> &v) { *(uint4 *)to = make_uint4(v.word[0], v.word[1], v.word[2], v.word[3]); }

// What lies beside rows: left and right in turns, or, where the array's ends make them go different ways, all that lies left first.
template <bool BETWEEN> __device__ __forceinline__ bool is_right(int number) { return BETWEEN ? number & 1 : number >= ROWS; }
template <bool BETWEEN> __device__ __forceinline__ int row_of(int number) { return BETWEEN ? number / 2 : number >= ROWS ? number - ROWS : number; }

// Rows whose columns of outputs are all there (INSIDE: as are the rows; BETWEEN: and what lies beside), by way of registers: all loads, then all stores. What lies beside
// is a vector, too, or outside the array, and the same in every row.
template <bool INSIDE, bool BETWEEN> __device__ __forceinline__ void bring(element *room, const element *in, const frame &f, int x, int top) {
    const int thread = threadIdx.x, n_y = (int)f.n_y, n_x = (int)f.n_x, begin = thread / ACROSS, across = thread - begin * ACROSS;
    const element *from = in + (i64)(top + begin) * f.in_y + x + across * VECTOR;
    element *to = room + begin * ROW + VECTOR + across * VECTOR;
    const i64 step = AT_ONCE * f.in_y;
    const bool mine = THREADS % ACROSS == 0 || begin < AT_ONCE;
    const int warp = thread / 32, lane = thread % 32;
    words<16> v[TIMES], side[SIDES];
#pragma unroll
    for (int i = 0; i < TIMES; i++)
        if (mine && ((i + 1) * AT_ONCE <= ROWS || begin + i * AT_ONCE < ROWS)) {
            const int y = INSIDE ? 0 : resolve(top + begin + i * AT_ONCE, n_y, f.edge);
            if (INSIDE)
                load_now(v[i], from + i * step);
            else if (y >= 0)
                load_now(v[i], in + (i64)y * f.in_y + x + across * VECTOR);
            else {
#pragma unroll
                for (int e = 0; e < VECTOR; e++)
                    put(v[i].word, e, ghost_of(f));
            }
        }
    if (LEFT + RIGHT > 0) {
#pragma unroll
        for (int i = 0; i < SIDES; i++) {
            const int number = warp * SHARE + i * 32 + lane, r = row_of<BETWEEN>(number), column = is_right<BETWEEN>(number) ? x + WIDE : x - VECTOR;
            if (i * 32 + lane < SHARE && number < 2 * ROWS) {
                const int y = INSIDE ? top + r : resolve(top + r, n_y, f.edge);
                const element *row = in + (i64)(y < 0 ? 0 : y) * f.in_y;
                if (BETWEEN || (y >= 0 && column >= 0 && column + VECTOR <= n_x)) {
                    load_now(side[i], row + column);
                } else {
#pragma unroll
                    for (int e = 0; e < VECTOR; e++)
                        put(side[i].word, e, 0);
                    if (is_right<BETWEEN>(number)) {
#pragma unroll
                        for (int e = 0; e < RIGHT; e++)
                            put(side[i].word, e, element_of(row, y >= 0, f, resolve_x(column + e, n_x, f.edge)));
                    } else {
#pragma unroll
                        for (int e = VECTOR - LEFT; e < VECTOR; e++)
                            put(side[i].word, e, element_of(row, y >= 0, f, resolve_x(column + e, n_x, f.edge)));
                    }
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < TIMES; i++)
        if (mine && ((i + 1) * AT_ONCE <= ROWS || begin + i * AT_ONCE < ROWS))
            lay_vector(to + i * (AT_ONCE * ROW), v[i]);
    if (LEFT + RIGHT > 0) {
#pragma unroll
        for (int i = 0; i < SIDES; i++) {
            const int number = warp * SHARE + i * 32 + lane;
            if (i * 32 + lane < SHARE && number < 2 * ROWS)
                lay_vector(room + row_of<BETWEEN>(number) * ROW + (is_right<BETWEEN>(number) ? VECTOR + WIDE : 0), side[i]);
        }
    }
}

// A vector, before the next barrier: by the read-only path the assembler would put the last loads behind it, where stores wait.
__device__ __forceinline__ void load_before(words<16> &v, const void *at) {
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "l"(at)
                 : "memory");
}

// Blocks as wide as the array (FULL), of ARRAYS of them: of the rows that are there all loads, by pointers that walk, then all stores. What lies beside rows and the few rows
// beyond the array, which hold what has just been loaded, after that: a thread a row lays down what lies beside, in words.
__device__ __forceinline__ void bring_full(element *room, const element *const (&in)[ARRAYS], const frame &f, int top) {
    const int thread = threadIdx.x, n_y = (int)f.n_y, begin = thread / ACROSS, across = thread - begin * ACROSS;
    const i64 step = AT_ONCE * f.in_y;
    const bool mine = THREADS % ACROSS == 0 || begin < AT_ONCE;
    words<16> v[ARRAYS][TIMES];
#pragma unroll
    for (int a = 0; a < ARRAYS; a++) {
        const element *from = in[a] + (i64)(top + begin) * f.in_y + across * VECTOR;
#pragma unroll
        for (int i = 0; i < TIMES; i++) {
            if (mine && ((i + 1) * AT_ONCE <= ROWS || begin + i * AT_ONCE < ROWS) && !outside(top + begin + i * AT_ONCE, n_y))
                load_before(v[a][i], from);
            from += step;
        }
    }
    __syncthreads();
#pragma unroll
    for (int a = 0; a < ARRAYS; a++)
#pragma unroll
        for (int i = 0; i < TIMES; i++)
            if (mine && ((i + 1) * AT_ONCE <= ROWS || begin + i * AT_ONCE < ROWS) && !outside(top + begin + i * AT_ONCE, n_y))
                lay_vector(room + (a * ROWS + begin + i * AT_ONCE) * ROW + VECTOR + across * VECTOR, v[a][i]);
    const element ghost = ghost_of(f);
    if (LEFT + RIGHT > 0) {
#pragma unroll 1
        for (int number = thread; number < ARRAYS * ROWS; number += THREADS) {
            const int a = ARRAYS > 1 && number >= ROWS, y = resolve(top + number - a * ROWS, n_y, f.edge);
            const element *row = (a ? in[ARRAYS - 1] : in[0]) + (i64)max(y, 0) * f.in_y;
            unsigned left[LW + 1] = {}, right[RW + 1] = {}, *beside = (unsigned *)(room + number * ROW + VECTOR);
#pragma unroll
            for (int i = 0; i < LEFT; i++)
                put(left, FIRST + i, element_of(row, y >= 0, f, resolve_x(i - LEFT, (int)WIDE, f.edge)));
#pragma unroll
            for (int i = 0; i < RIGHT; i++)
                put(right, i, element_of(row, y >= 0, f, resolve_x(WIDE + i, (int)WIDE, f.edge)));
#pragma unroll
            for (int i = 0; i < LW; i++)
                beside[i - LW] = left[i];
#pragma unroll
            for (int i = 0; i < RW; i++)
                beside[WIDE * SIZE / 4 + i] = right[i];
        }
    }
    const int above = max(0, -top), beyond = above + max(0, top + ROWS - n_y);
    words<16> ghosts;
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
        put(ghosts.word, i, ghost);
#pragma unroll 1
    for (int number = thread; number < ARRAYS * beyond * ACROSS; number += THREADS) {
        const int each = number / ACROSS, at = (number - each * ACROSS) * VECTOR, a = ARRAYS > 1 && each >= beyond, b = each - a * beyond,
                  r = b < above ? b : ROWS - beyond + b, y = resolve(top + r, n_y, f.edge);
        words<16> w = ghosts;
        if (y >= 0)
            load_now(w, (a ? in[ARRAYS - 1] : in[0]) + (i64)y * f.in_y + at);
        lay_vector(room + (a * ROWS + r) * ROW + VECTOR + at, w);
    }
}

__device__ __forceinline__ void window_of(unsigned (&word)[WORDS], const element *at) {
    const unsigned *words = (const unsigned *)at;
#pragma unroll
    for (int i = 0; i < LW; i++)
        word[i] = words[i - LW];
    if (VW == 1)
        word[LW] = words[0];
    else if (VW == 2) {
        const uint2 v = *(const uint2 *)words;
        word[LW] = v.x, word[LW + (VW > 1)] = v.y;
    } else {
#pragma unroll
        for (int i = 0; i + 4 <= VW; i += 4) {
            const uint4 v = *(const uint4 *)(words + i);
            word[LW + i] = v.x, word[LW + i + 1] = v.y, word[LW + i + 2] = v.z, word[LW + i + 3] = v.w;
        }
    }
#pragma unroll
    for (int i = 0; i < RW; i++)
        word[LW + VW + i] = words[VW + i];
}

#if DOTS
typedef byte_taps mask_taps;
// A row adds to every output that it concerns, each where it began.
struct square {
    const byte_taps &taps;
    mutable dots_window window; // which keeps something of the rows before

    template <int FROM, int TO, int J> __device__ __forceinline__ void add(work (&sum)[KY][V], const element *at) const {
        unsigned word[WORDS];
        window_of(word, at);
        window.take(word);
#pragma unroll
        for (int ky = FROM; ky <= TO; ky++)
            window.add(sum[(J + KY - ky) % KY], ky, taps);
    }
};
#else
typedef tap_list<KX * KY> mask_taps;
__device__ __forceinline__ void values_of(work (&value)[LEFT + V + RIGHT], const element *at) {
    unsigned word[WORDS];
    window_of(word, at);
#pragma unroll
    for (int i = 0; i < LEFT + V + RIGHT; i++)
        value[i] = part(word, FIRST + i);
}

// A row adds to every output that it concerns, each where it began.
struct square {
    const tap_list<KX * KY> &taps;

    template <int FROM, int TO, int J> __device__ __forceinline__ void add(work (&sum)[KY][V], const element *at) const {
        work value[LEFT + V + RIGHT];
        values_of(value, at);
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
    // Each to its next place.
    template <int FROM, int TO> __device__ __forceinline__ void push(work (&sum)[KY][V], const element *at) const {
        work value[LEFT + V + RIGHT];
        values_of(value, at);
#pragma unroll
        for (int ky = TO; ky >= FROM; ky--)
#pragma unroll
            for (int kx = 0; kx < KX; kx++)
#pragma unroll
                for (int i = 0; i < V; i++)
                    sum[ky][i] = multiply_add(value[i + kx * GROUP], taps.w[ky * KX + kx],
                                              kx   ? sum[ky][i]
                                              : ky ? sum[ky - 1 < 0 ? 0 : ky - 1][i]
                                                   : (work)0);
    }
};
#endif

// Rows of outputs one after the other.
struct lines {
    char *to;
    i64 step;
    __device__ __forceinline__ void put(const work (&sum)[V]) {
        const packed<V> v(sum);
        if (DOTS || TURNED)
            v.store_if(true, to); // which the compiler may else store in pieces
        else
            v.store(to);
        to += step;
    }
};

#if TURNED
// The next N rows of outputs; `at` is the last row that the first of them meets, number KY - 1 of `value`, which holds row number j at j modulo KY.
template <int N> __device__ __forceinline__ void finish(work (&value)[KY][LEFT + V + RIGHT], const element *&at, const mask_taps &taps, lines &out) {
#pragma unroll
    for (int j = 0; j < N; j++) {
        work sum[V];
        values_of(value[(KY - 1 + j) % KY], at);
        at += ROW;
#pragma unroll
        for (int kx = 0; kx < KX; kx++)
#pragma unroll
            for (int ky = 0; ky < KY; ky++)
#pragma unroll
                for (int i = 0; i < V; i++)
                    sum[i] = multiply_add(value[(j + ky) % KY][i + kx * GROUP], taps.w[kx * KY + ky], kx + ky ? sum[i] : (work)0);
        out.put(sum);
    }
}

__device__ __forceinline__ void march(const element *at, const mask_taps &taps, lines out) {
    work value[KY][LEFT + V + RIGHT];
#pragma unroll
    for (int j = 0; j < KY - 1; j++) {
        values_of(value[j], at);
        at += ROW;
    }
#pragma unroll 1
    for (int turn = 0; turn < R / KY; turn++)
        finish<KY>(value, at, taps, out);
    finish<R % KY>(value, at, taps, out);
}
#elif TURN != KY
template <int J, bool BEHIND> __device__ __forceinline__ void ends(work (&sum)[KY][V], const element *at, const square &rule, lines &out) {
    if constexpr (J < KY - 1) {
        rule.template push<BEHIND ? J + 1 : 0, BEHIND ? KY - 1 : J>(sum, at);
        if (BEHIND)
            out.put(sum[KY - 1]);
        ends<J + 1, BEHIND>(sum, at + ROW, rule, out);
    }
}

__device__ __forceinline__ void march(const element *at, const square &rule, lines out) {
    work sum[KY][V];
    ends<0, false>(sum, at, rule, out);
    at += (KY - 1) * ROW;
#pragma unroll ROWS_A_TURN
    for (int i = 0; i < R - KY + 1; i++) {
        rule.template push<0, KY - 1>(sum, at);
        out.put(sum[KY - 1]);
        at += ROW;
    }
    ends<0, true>(sum, at, rule, out);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) patch_shared(const element *in, result *out, const frame f, const mask_taps taps) {
    extern __shared__ uint4 memory[]; // [ROWS][ROW]
    element *room = (element *)memory;
    // The last blocks down come first, since their way, at the array's end, is longer.
    const int down = block_place().y == 0 ? rows_of_blocks() - 1 : block_place().y - 1, y = min(down * (DOWN * R), (int)f.m_y - DOWN * R), top = y - f.before_y;
    const int last = (int)f.m_x - WIDE, x = FULL ? 0 : last >= 0 && last % VECTOR == 0 ? min((int)block_place().x * WIDE, last) : block_place().x * WIDE;
#if FULL
    const element *from[ARRAYS];
#if ARRAYS == 1
    find_array(f, block_place().z, in, out);
    from[0] = in;
#else
    unsigned count = 1; // of all arrays; the last one is computed twice where that leaves one over
#pragma unroll
    for (int d = 0; d < BATCH; d++)
        count *= (unsigned)f.shape[d];
#pragma unroll
    for (int a = 0; a < ARRAYS; a++) {
        result *unused = out;
        from[a] = in;
        find_array(f, min(block_place().z * ARRAYS + a, count - 1), from[a], unused);
    }
    find_array(f, min(block_place().z * ARRAYS + threadIdx.x / (LANES * DOWN), count - 1), in, out);
#endif
    bring_full(room, from, f, top);
#else
    find_array(f, block_place().z, in, out);
    if (x + WIDE > (int)f.n_x)
        bring_anywhere(room, in, f, x, top);
    else if (top < 0 || top + ROWS > (int)f.n_y)
        bring<false, false>(room, in, f, x, top);
    else if (x < VECTOR || x + WIDE + VECTOR > (int)f.n_x)
        bring<true, false>(room, in, f, x, top);
    else
        bring<true, true>(room, in, f, x, top);
#endif
    __syncwarp(); // lanes at an end may have gone another way
    __syncthreads();
    const int strip = threadIdx.x / LANES, lane = threadIdx.x - strip * LANES, array = ARRAYS > 1 ? strip / DOWN : 0, column = x + lane * V,
              row = y + (strip - array * DOWN) * R;
    if (column >= (int)f.m_x || (LANES * DOWN * ARRAYS % 32 && strip >= DOWN * ARRAYS))
        return;
    const element *at = room + (strip * R + array * (ROWS - DOWN * R)) * ROW + VECTOR + lane * V;
    const lines to = {(char *)(out + (i64)row * f.out_y + column), f.out_y * (i64)sizeof(result)};
#if TURNED
    march(at, taps, to);
#elif TURN == KY
    roll<ROW>(at, square{taps}, to);
#else
    march(at, square{taps}, to);
#endif
}

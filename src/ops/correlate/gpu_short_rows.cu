// SPDX-License-Identifier: Apache-2.0
// gpu_short_rows.cu - production: arrays with an axis so short that a thread has all of it: images of few columns, pixels without neighbours, axes of one element.
//
// Where a row has a dozen elements, tiles of 32 columns and more are mostly lanes without work, and every window meets an end of a row. Here a thread makes whole rows: which
// element a tap meets, or that it meets none, is known when the kernel is compiled, so ends of rows cost nothing, and a mask along an axis of one element reads it once. Lanes go
// along the other axis, down the image. Rows follow each other without gaps, so what a block needs is one run of memory, and so is what it makes: both are copied as they lie,
// in vectors, and shared memory is where they become rows of threads. Rows above and below the image are laid there by the boundary's rule.
//
// STACK: images of few rows, too, one behind the other: a block has whole ones, a thread some rows of one, and where a window leaves its image, it finds by the boundary's rule which row it reads.
//
// Lanes that read lines of whole vectors meet banks twice where a thread has an even number of those: a vector more stands between threads' lines then.
//
// KZ: volumes, in which a block has whole planes, of one volume or of several that follow each other, and where HALO is not 0, so many on either side of them; a thread's rows are one plane's.
//
// LIST: two 1-D masks, one along rows and one along the image, each rounded: what is between them never leaves a thread's registers. Of volumes three, along planes, down these and along rows: a
// thread makes the sums across planes of all rows that its windows meet.
//
// APART: the short axis is not the finest one: an image of few rows, of which a thread has some columns from top to bottom. Each row is a run of memory then.
//
// -DIN= -DOUT= -DWORK= types; -DNS= -DMS= elements of a row, in and out, of pixels of -DGROUP=; -DKS= taps along it, the first -DBEFORE= pixels before the output; -DKL= taps along the
// image; -DSHORT_FIRST=1: those along rows come first in the mask's order, or in the list; -DLIST=; -DEDGE= boundary; -DR= rows of a thread, -DTHREADS=; -DREAD= -DWRITE= bytes to multiples of which all rows and
// arrays begin; -DAPART=; -DSTACK= rows of an image of many, else 0; -DKZ= taps along planes, the first -DBEFORE_Z= before the
// output, -DDEPTH= of a volume, -DHALO=; -DBATCH=N axes beside. Below, a line is what a thread has of the short axis at one place of the other.
#include "ops/correlate/gpu_boundary.cuh"
#include "ops/correlate/gpu_number.cuh"

__host__ __device__ constexpr int up_to(int n, int step) { return (n + step - 1) / step * step; }
__host__ __device__ constexpr int common(int a, int b) { return b == 0 ? a : common(b, a % b); }

// Elements of a line that follow each other, and their bytes; lines of a block, of outputs and of inputs.
const int SIDE = APART ? 1 : NS, OUT_SIDE = APART ? 1 : MS, SIZE = (int)sizeof(in_element), OUT_SIZE = (int)sizeof(out_element);
const int LINE = SIDE * SIZE, OUT_LINE = OUT_SIDE * OUT_SIZE, LINES = THREADS * R, BESIDE = HALO * STACK, MOST = LINES + (HALO > 0 ? 2 * BESIDE : KL - 1);
const int EACH = R * OUT_LINE, LAID = common(EACH, 16); // bytes that a thread makes of a run; of its stores
const int PAD = !APART && READ == 16 && R * LINE / 16 % 2 == 0 ? 16 : 0, OUT_PAD = !APART && LAID == 16 && EACH / 16 % 2 == 0 ? 16 : 0;
const int RUNS = APART ? NS : 1, OUT_RUNS = APART ? MS : 1; // in shared memory; bytes from run to run:
const int RUN = up_to((MOST + (STACK > 0)) * LINE + (MOST + R) / R * PAD + 15, 16), OUT_RUN = up_to(LINES * OUT_LINE, 16);
const int UNIT = STACK == 0 ? 1 : KZ > 1 && HALO == 0 ? STACK * DEPTH : STACK, WHOLE = LINES / UNIT * UNIT; // lines that a block makes

struct batch_axis {
    i64 m, in, out;
};
struct rows {
    real constant[2];
    i64 n, m, before;
    i64 in_step, out_step; // of the short axis, where it lies apart
    batch_axis batch[BATCH + 1];
    number weight[LIST ? KS + KL + KZ : KZ * KS * KL]; // of a list those along rows first, across planes last
};

// Which element of a row tap number ks of output ms meets; -1: none.
__device__ __forceinline__ int met(int ms, int ks) {
    const int at = (int)element_at(EDGE, NS / GROUP, ms / GROUP + ks - BEFORE);
    return at < 0 ? -1 : at * GROUP + ms % GROUP;
}

__device__ __forceinline__ in_element outside_of(const rows &p) {
#if IN >= T_C64
    return in_element{p.constant[0], p.constant[1]};
#else
    return store_as<IN>(p.constant[0]);
#endif
}

__device__ __forceinline__ void copy_now(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

// Where line number `line` of a run stands in its room.
__device__ __forceinline__ int place_of(int line) { return line * LINE + line / R * PAD; }

// How far into its room a run begins, so that vectors of memory are vectors there: of line number `from`.
__device__ __forceinline__ int lead_of(const in_element *in, i64 from) { return (int)((u64)in + from * LINE) & 15; }

// A run: `count` lines from number `from` on, which may lie before the array or behind it.
__device__ __forceinline__ void bring(char *room, const in_element *in, const rows &p, i64 from, int count) {
    const char *first = (const char *)in + from * LINE;
    const int lead = lead_of(in, from), thread = threadIdx.x;
    const int top = from >= 0 ? 0 : (int)min((i64)count, -from), bottom = (int)max((i64)top, min((i64)count, p.n - from));
    const int begin = lead + top * LINE, end = lead + bottom * LINE, whole = up_to(begin, 16), last = max(end / 16 * 16, whole);
    first -= lead;
#pragma unroll 8
    for (int i = 0; i < (MOST * LINE + 15) / 16; i += THREADS) { // as often for all lanes of a warp
        const int b = whole + (i + thread) * 16;
        if (b < last)
            copy_now(room + b + b / (R * LINE) * PAD, first + b);
    }
#pragma unroll 1
    for (int b = begin + thread * SIZE; b < min(whole, end); b += THREADS * SIZE)
        *(in_element *)(room + b) = *(const in_element *)(first + b);
#pragma unroll 1
    for (int b = last + thread * SIZE; b < end; b += THREADS * SIZE)
        *(in_element *)(room + b) = *(const in_element *)(first + b);
#pragma unroll 1
    for (int i = thread; i < (top + count - bottom) * SIDE; i += THREADS) {
        const int number = i / SIDE, line = number < top ? number : number - top + bottom;
        const i64 at = element_at(EDGE, p.n, from + line);
        ((in_element *)(room + lead + place_of(line)))[i % SIDE] = at < 0 ? outside_of(p) : in[at * SIDE + i % SIDE];
    }
}

// Element number i of packed words. Small integers become f32 without a conversion, which is the slower instruction.
__device__ __forceinline__ number number_of(const unsigned *word, int i) {
    const unsigned w = word[i * SIZE / 4];
#if WORK == T_F32 && (IN == T_U8 || IN == T_I8)
    const unsigned sign = IN == T_I8 ? 0x80u : 0;
    return __uint_as_float(__byte_perm(w ^ sign * 0x01010101, 0x4b000000, 0x7540 | i % 4)) - (8388608.0f + (float)sign);
#elif WORK == T_F32 && (IN == T_U16 || IN == T_I16)
    const unsigned sign = IN == T_I16 ? 0x8000u : 0;
    return __uint_as_float(__byte_perm(w ^ sign * 0x00010001, 0x4b000000, i % 2 ? 0x7432 : 0x7410)) - (8388608.0f + (float)sign);
#else
    union {
        unsigned word[SIZE < 4 ? 1 : SIZE / 4];
        in_element e[SIZE < 4 ? 4 / SIZE : 1];
    } one;
#pragma unroll
    for (int k = 0; k < (SIZE < 4 ? 1 : SIZE / 4); k++)
        one.word[k] = word[i * SIZE / 4 + k];
    return load(one.e[i * SIZE % 4 / SIZE]);
#endif
}

// element_at, of few elements: a window is some hundred lines long at most.
__device__ __forceinline__ int near(int n, int i) {
    if (EDGE <= BOUNDARY_CONSTANT)
        return i < 0 || i >= n ? -1 : i;
    if (EDGE == BOUNDARY_NEAREST)
        return min(max(i, 0), n - 1);
    if (n == 1)
        return 0;
    const int period = EDGE == BOUNDARY_WRAP ? n : EDGE == BOUNDARY_MIRROR ? 2 * n - 2 : 2 * n;
    int r = i % period;
    r += r < 0 ? period : 0;
    return r < n ? r : EDGE == BOUNDARY_MIRROR ? period - r : period - 1 - r;
}

// Where line number `line` of plane number `kz` of a thread's windows stands, counted from the thread's first output, or from its first line where there is no stack: in a stack one of the same
// image and volume, or the last of all, which has the constant. `plane`: the number of a block's first.
__device__ __forceinline__ int stands(int line, int kz, int own, unsigned plane, const rows &p) {
#if STACK
    const int y = own % STACK, at = near(STACK, y + line - (int)p.before);
    int layer = 0;
#if KZ > 1
    const int z = (int)((plane + own / STACK) % DEPTH);
    layer = near(DEPTH, z + kz - BEFORE_Z);
    layer = layer < 0 ? -DEPTH : layer - z;
#endif
    const int to = own - y + at + layer * STACK + BESIDE;
    return place_of(at < 0 || layer == -DEPTH ? MOST : to) - place_of(own + BESIDE);
#else
    return place_of(line);
#endif
}

__device__ __forceinline__ void read_line(number (&v)[NS], const char *const (&run)[RUNS], int at) {
#if APART || READ < 4
#pragma unroll
    for (int i = 0; i < NS; i++)
        v[i] = load(*(const in_element *)(APART ? run[i] + at : run[0] + at + i * SIZE));
#else
    unsigned word[LINE / 4];
#pragma unroll
    for (int i = 0; i < LINE / 4; i += READ / 4) {
        const words<READ> some = *(const words<READ> *)(run[0] + at + 4 * i);
#pragma unroll
        for (int k = 0; k < READ / 4; k++)
            word[i + k] = some.word[k];
    }
#pragma unroll
    for (int i = 0; i < NS; i++)
        v[i] = number_of(word, i);
#endif
}

// Whether that line lies outside where all outside is a constant, between the masks of a list, too; `first`: the number of a thread's first line.
__device__ __forceinline__ bool is_constant(int line, int own, i64 first, const rows &p) {
    if (EDGE > BOUNDARY_CONSTANT)
        return false;
    const i64 at = STACK ? own % (STACK + (STACK == 0)) + line - p.before : first + line;
    return at < 0 || at >= (STACK ? STACK : p.n);
}

// Windows along the short axis: of one line.
__device__ __forceinline__ void add_along(number (&sum)[MS], const number (&v)[NS], const number &outside, const number *weight) {
#pragma unroll
    for (int ks = 0; ks < KS; ks++)
#pragma unroll
        for (int ms = 0; ms < MS; ms++) {
            const int at = met(ms, ks);
            add(sum[ms], at < 0 ? outside : v[at < 0 ? 0 : at], weight[ks]);
        }
}

// Line number `line` of those that a thread's windows meet, added to its outputs: taps along the short axis inside.
__device__ __forceinline__ void add_line(number (&sum)[R][MS], const number (&v)[NS], const number &outside, int line, const number *weight) {
#pragma unroll
    for (int r = 0; r < R; r++)
        if (line - r >= 0 && line - r < KL)
            add_along(sum[r], v, outside, weight + (line - r) * KS);
}

// The same without windows: taps along the image.
template <int N> __device__ __forceinline__ void add_down(number (&sum)[R][N], const number (&v)[N], int line, const number *weight) {
#pragma unroll
    for (int r = 0; r < R; r++)
        if (line - r >= 0 && line - r < KL) {
#pragma unroll
            for (int i = 0; i < N; i++)
                add(sum[r][i], v[i], weight[line - r]);
        }
}

// What a thread made of a run, as bytes of memory.
union made {
    out_element e[R * OUT_SIDE];
    words<LAID> bits[EACH / LAID];
    __device__ __forceinline__ made() {}
};

extern "C" __global__ void __launch_bounds__(THREADS) short_rows(const in_element *__restrict__ in, out_element *__restrict__ out, const rows p) {
    extern __shared__ uint4 memory[];
    char *room = (char *)memory;
    unsigned array = block_place().z;
#pragma unroll
    for (int d = 0; d < BATCH; d++) {
        const unsigned m = (unsigned)p.batch[d].m, i = array % m;
        array /= m;
        in += i * p.batch[d].in;
        out += i * p.batch[d].out;
    }
    const i64 begin = (i64)block_place().x * WHOLE, from = STACK ? begin - BESIDE : begin - p.before;
    const int here = (int)min((i64)WHOLE, p.m - begin), own = threadIdx.x * R, count = STACK ? here + 2 * BESIDE : up_to(here, R) + KL - 1;
    const unsigned plane = KZ > 1 ? (unsigned)block_place().x * (WHOLE / (STACK + (STACK == 0))) % DEPTH : 0;
    const char *run[RUNS];
#pragma unroll
    for (int i = 0; i < RUNS; i++)
        run[i] = room + i * RUN + lead_of(in + i * p.in_step, from) + place_of(own + BESIDE);
    for (int i = threadIdx.x; STACK && i < SIDE; i += THREADS)
        ((in_element *)(room + lead_of(in, from) + place_of(MOST)))[i] = outside_of(p);
#pragma unroll 1
    for (int i = 0; i < RUNS; i++)
        bring(room + i * RUN, in + i * p.in_step, p, from, count);
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    number sum[R][MS] = {};
    if (own < here) {
        const number outside = load(outside_of(p));
#if LIST && SHORT_FIRST
#pragma unroll
        for (int line = 0; line < R + KL - 1; line++) {
            number v[NS], along[MS] = {};
            read_line(v, run, stands(line, 0, own, plane, p));
            add_along(along, v, outside, p.weight);
            if (is_constant(line, own, from + own, p)) {
#pragma unroll
                for (int ms = 0; ms < MS; ms++)
                    along[ms] = value_of(p.constant);
            }
            add_down(sum, along, line, p.weight + KS);
        }
#elif LIST && KZ > 1
        number down[R][NS] = {};
#pragma unroll
        for (int line = 0; line < R + KL - 1; line++) {
            number across[NS] = {};
#pragma unroll
            for (int kz = 0; kz < KZ; kz++) {
                number v[NS];
                read_line(v, run, stands(line, kz, own, plane, p));
#pragma unroll
                for (int i = 0; i < NS; i++)
                    add(across[i], v[i], p.weight[KS + KL + kz]);
            }
            if (is_constant(line, own, from + own, p)) {
#pragma unroll
                for (int i = 0; i < NS; i++)
                    across[i] = value_of(p.constant);
            }
            add_down(down, across, line, p.weight + KS);
        }
#pragma unroll
        for (int r = 0; r < R; r++)
            add_along(sum[r], down[r], value_of(p.constant), p.weight);
#elif LIST
        number down[R][NS] = {};
#pragma unroll
        for (int line = 0; line < R + KL - 1; line++) {
            number v[NS];
            read_line(v, run, stands(line, 0, own, plane, p));
            add_down(down, v, line, p.weight + KS);
        }
#pragma unroll
        for (int r = 0; r < R; r++)
            add_along(sum[r], down[r], value_of(p.constant), p.weight);
#elif SHORT_FIRST
        number v[R + KL - 1][NS];
#pragma unroll
        for (int line = 0; line < R + KL - 1; line++)
            read_line(v[line], run, stands(line, 0, own, plane, p));
#pragma unroll
        for (int ks = 0; ks < KS; ks++)
#pragma unroll
            for (int kl = 0; kl < KL; kl++)
#pragma unroll
                for (int r = 0; r < R; r++)
#pragma unroll
                    for (int ms = 0; ms < MS; ms++) {
                        const int at = met(ms, ks);
                        add(sum[r][ms], at < 0 ? outside : v[r + kl][at < 0 ? 0 : at], p.weight[ks * KL + kl]);
                    }
#else
#pragma unroll
        for (int kz = 0; kz < KZ; kz++)
#pragma unroll
            for (int line = 0; line < R + KL - 1; line++) {
                number v[NS];
                read_line(v, run, stands(line, kz, own, plane, p));
                add_line(sum, v, outside, line, p.weight + kz * KL * KS);
            }
#endif
    }
    __syncthreads();
    if (own < here) {
#pragma unroll
        for (int k = 0; k < OUT_RUNS; k++) {
            made all;
#pragma unroll
            for (int i = 0; i < R * OUT_SIDE; i++)
                all.e[i] = store(sum[i / OUT_SIDE][k + i % OUT_SIDE]);
            words<LAID> *to = (words<LAID> *)(room + k * OUT_RUN + threadIdx.x * (EACH + OUT_PAD));
#pragma unroll
            for (int i = 0; i < EACH / LAID; i++)
                to[i] = all.bits[i];
        }
    }
    __syncthreads();
    const int end = here * OUT_LINE, last = end / WRITE * WRITE;
#pragma unroll 1
    for (int k = 0; k < OUT_RUNS; k++, room += OUT_RUN) {
        char *to = (char *)(out + k * p.out_step + begin * OUT_SIDE);
#pragma unroll 4
        for (int i = 0; i < LINES * OUT_LINE / WRITE; i += THREADS) {
            const int b = (i + (int)threadIdx.x) * WRITE;
            if (b < last)
                *(words<WRITE> *)(to + b) = *(const words<WRITE> *)(room + b + b / EACH * OUT_PAD);
        }
#pragma unroll 1
        for (int b = last + threadIdx.x * OUT_SIZE; b < end; b += THREADS * OUT_SIZE)
            *(out_element *)(to + b) = *(const out_element *)(room + b + b / EACH * OUT_PAD);
    }
}

// SPDX-License-Identifier: Apache-2.0
// gpu_long_runs.cu - runs that stay together and begin anywhere: a last axis that stays the last, where vectors of 16 bytes do not fit its steps.
//
// One thread an element finds each element's place with some hundred instructions. Here a block has a piece of a row of `out`, where runs follow each other, finds
// the run that it begins in, and its threads the others from there, by one multiplication a unit: a word, or, of elements below 4 bytes, a vector of 16 bytes, since runs of
// those begin anywhere. A vector begins where those of `out` do: it is cut from two of `in`, and from two runs where one ends inside.
//
// -DTHREADS, -DSHARE bytes a thread, -DSIZE=1|2|4 and -DBATCH as in gpu_plane.cuh, where p and q count runs.
#include "ops/transpose/gpu_plane.cuh"
#include "ops/transpose/gpu_turn.cuh"

struct long_runs {
    plane m;
    i64 run, p_in;  // bytes
    i64 low, high;  // what all runs take of `in`, from its first byte on
    i64 reciprocal; // of run, in 2^-32, rounded up; 0: runs are longer than pieces
};

#if SIZE == 4
typedef unsigned unit;

__device__ unit unit_at(const char *from, const char *, const char *) { return *(const unsigned *)from; }
__device__ unit both(unit a, unit, int) { return a; }
#else
typedef uint4 unit;

// A vector, if it is wanted: by a predicate, so that all of a thread's are on their way before one is waited for.
__device__ void load_if(uint4 &x, const char *at, bool wanted) {
    asm volatile("{.reg .pred p;\n\tsetp.ne.u32 p, %5, 0;\n\t@p ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];}"
                 : "+r"(x.x), "+r"(x.y), "+r"(x.z), "+r"(x.w)
                 : "l"(at), "r"((unsigned)wanted));
}

// The aligned vectors that hold 16 bytes from `from` on, and these.
struct two_vectors {
    uint4 x, y;
    unsigned skip;
    __device__ void load(const char *from, bool wanted) {
        skip = (unsigned)(unsigned long long)from & 15;
        x = y = make_uint4(0, 0, 0, 0);
        load_if(x, from - skip, wanted);
        load_if(y, from - skip + 16, wanted && skip);
    }
    __device__ unit bytes() const { return fetch(x, y, skip); }
};

// The same, where nothing is read beyond `low` and `high`.
__device__ unit unit_at(const char *from, const char *low, const char *high) {
    const char *first = from - ((unsigned)(unsigned long long)from & 15);
    if (first >= low && first + 32 <= high) {
        two_vectors two;
        two.load(from, true);
        return two.bytes();
    }
    vector v = {};
#pragma unroll
    for (int b = 0; b < 16; b += SIZE)
        if (from + b >= low && from + b < high)
            v.word[b / 4] |= (unsigned)*(const element *)(from + b) << b % 4 * 8;
    return v.all;
}

// The first `cut` bytes of a, the others of b.
__device__ unit both(unit a, unit b, int cut) {
    vector x = {a}, y = {b};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int mine = cut - 4 * k;
        const unsigned mask = mine >= 4 ? 0xffffffffu : mine <= 0 ? 0 : 0xffffffffu >> (32 - 8 * mine);
        x.word[k] = (x.word[k] & mask) | (y.word[k] & ~mask);
    }
    return x.all;
}
#endif

enum { UNIT = sizeof(unit), EACH = SHARE / UNIT, PIECE = THREADS * SHARE };

// Which run a thread's unit w begins in, and where in it: byte b of the piece, whose first byte is `lead` bytes into a run.
template <bool CHECK> __device__ int run_of(int w, int lead, const long_runs &j, int &inside) {
    const int n = lead + (w * THREADS + (int)threadIdx.x) * UNIT, run = (int)j.run;
    const int r = CHECK && n < 0 ? 0 : j.reciprocal ? (int)__umulhi((unsigned)n, (unsigned)j.reciprocal) : n >= run;
    inside = n - r * run;
    return r;
}

// The piece that begins at byte `start` of a row of `all` bytes, `lead` bytes into the run at `from`; all of it is there, and what vectors hold beyond it.
__device__ void copy_inside(const char *from, char *to, int lead, const long_runs &j) {
    const i64 step = j.m.q_in * SIZE; // from run to run in `in`
    const int run = (int)j.run;
    unit x[EACH];
#if SIZE == 4
#pragma unroll
    for (int w = 0; w < EACH; w++) {
        int inside;
        const int r = run_of<false>(w, lead, j, inside);
        x[w] = *(const unit *)(from + r * step + inside);
    }
#else
    two_vectors mine[EACH], next[EACH];
    int cut[EACH];
#pragma unroll
    for (int w = 0; w < EACH; w++) {
        int inside;
        const int r = run_of<false>(w, lead, j, inside);
        const char *there = from + r * step + inside;
        cut[w] = run - inside;
        mine[w].load(there, true);
        next[w].load(there + step - run, cut[w] < UNIT);
    }
#pragma unroll
    for (int w = 0; w < EACH; w++)
        x[w] = both(mine[w].bytes(), next[w].bytes(), cut[w]);
#endif
#pragma unroll
    for (int w = 0; w < EACH; w++)
        *(unit *)(to + (w * THREADS + (int)threadIdx.x) * UNIT) = x[w];
}

// The same with tests.
__device__ void copy_ends(const char *from, char *to, i64 start, i64 all, int lead, const long_runs &j, const char *low, const char *high) {
    const i64 step = j.m.q_in * SIZE;
    const int run = (int)j.run;
    unit x[EACH];
#pragma unroll
    for (int w = 0; w < EACH; w++)
        if (start + (w * THREADS + (int)threadIdx.x) * UNIT < all) {
            int inside;
            const int r = run_of<true>(w, lead, j, inside);
            const char *there = from + r * step + inside;
            x[w] = unit_at(there, low, high);
            if (SIZE < 4 && inside + UNIT > run)
                x[w] = both(x[w], unit_at(there + step - run, low, high), run - inside);
        }
#pragma unroll
    for (int w = 0; w < EACH; w++) {
        const int b = (w * THREADS + (int)threadIdx.x) * UNIT;
        if (start + b >= 0 && start + b + UNIT <= all)
            *(unit *)(to + b) = x[w];
        else if (SIZE < 4)
            for (int k = 0; k < UNIT; k += SIZE)
                if (start + b + k >= 0 && start + b + k < all)
                    *(element *)(to + b + k) = ((const element *)&x[w])[k / SIZE];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, SIZE < 4 ? 3 : 0) long_runs_copy(const element *in, element *out, const long_runs j) {
    const i64 all = j.m.q_size * j.run; // bytes of a row of `out`
    const unsigned pieces = (unsigned)((all + (SIZE < 4 ? UNIT - 1 : 0) + PIECE - 1) / PIECE), high = (unsigned)j.m.p_size, number = blockIdx.x / pieces;
    const i64 p = number % high;
    place at;
    find_matrix(at, j.m, number / high);
    char *to = (char *)(out + at.out + p * j.m.p_out);
    const i64 start = (i64)(blockIdx.x % pieces) * PIECE - ((unsigned)(unsigned long long)to & (UNIT - 1)); // the piece's first byte in the row
    const i64 first = start < 0 ? 0 : start / j.run;
    const int lead = (int)(start - first * j.run);
    const char *from = (const char *)(in + at.in) + p * j.p_in + first * j.m.q_in * SIZE;
    const char *low = (const char *)in + j.low, *above = (const char *)in + j.high;
    // where runs before and behind these are in the array too, two vectors away, so is what vectors hold beyond these
    const i64 step = j.m.q_in * SIZE;
    const bool inside = (p > 0 && p + 1 < j.m.p_size && (j.p_in >= 2 * UNIT || j.p_in <= -2 * UNIT)) ||
                        (first > 0 && start + PIECE <= all - j.run && (step >= 2 * UNIT || step <= -2 * UNIT));
    if (start < 0 || start + PIECE > all || !inside)
        copy_ends(from, to + start, start, all, lead, j, low, above);
    else
        copy_inside(from, to + start, lead, j);
}

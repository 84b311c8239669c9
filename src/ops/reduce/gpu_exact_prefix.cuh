// SPDX-License-Identifier: Apache-2.0
// gpu_exact_prefix.cuh - exact sums of segments in shared memory, whatever their lengths: differences of sums of all that comes before.
//
// Let all numbers of a stretch be below 2^t, and no more than 2^LOG. A sum that starts from 1.5 * 2^(t + LOG + 1) is exact in multiples of u = 2^(t + LOG - 51), in any order, and what an addition drops of a number is at
// most u / 2 and is found without error: the next level's (gpu_exact_group.cuh). So what a segment comes to is what comes before its end less what comes before its beginning. A thread sums the elements that
// lie in its 128 bytes and puts down what it has before each BLOCK of them; an end adds the few of its block, and what the threads before have. No thread waits for a longer segment, and a
// segment costs the same whatever it has.
//
// Numbers of f32 and smaller types that are not far below the greatest, and zeros, are multiples of u, which one look at the exponents tells; else, and of f64, the second look asks each. Where something is left of
// any number after the last level, a segment's sum is known to half a unit for each of its numbers, and some more, and is the result if both ends round to the same. Segments that are in doubt so, and all of a stretch in which a number is not
// finite or of 2^1000 and more, go by groups.
#ifndef TESS_REDUCE_EXACT_PREFIX_CUH
#define TESS_REDUCE_EXACT_PREFIX_CUH
#include "ops/reduce/gpu_exact_group.cuh"

struct prefixes {
    enum {
        SIZE = sizeof(element),
        REGION = TILE / 32, // bytes that a thread sums
        EACH = REGION / SIZE,
        BLOCK = SIZE == 2 ? 8 : 4,
        BLOCKS = EACH / BLOCK,
        VECTOR = BLOCK * SIZE < 16 ? BLOCK * SIZE : 16,
        STEPS = FIRST_LEVELS,
        NUMBERS = PARTS * STEPS,
        ROW = BLOCKS * NUMBERS + 1, // odd, so that regions meet in no bank
        LOG = SIZE == 2   ? 11
              : SIZE == 4 ? 10
                          : 9,
        EASY = (IN == T_BF16 ? 43 : 27) - LOG // binades below the greatest, of which numbers are whole
    };
    static_assert(REGION == 128 && TILE / SIZE <= 1 << LOG, "a region ends where the tile has its gap; sums are exact");
    double before[32][ROW];
    // What comes before some place: sums as they are after their starts.
    struct sums {
        double part[PARTS][STEPS];
    };
    struct alignas(VECTOR) block {
        element e[BLOCK];
    };
    // Where numbers of at most the exponent's field start from.
    struct starts : sums {
        int last; // the last level's exponent
        __device__ starts(int field) {
            last = field + LOG + 2;
#pragma unroll
            for (int i = 0; i < STEPS; i++) {
                last = i > 0 ? last + LOG - 52 : last;
#pragma unroll
                for (int which = 0; which < PARTS; which++)
                    this->part[which][i] = power_of(last, true);
            }
        }
        // What k numbers between two places can have left, half a unit each. Of those of its block before the beginning the end has others' roundings where they lie in the middle: a unit each.
        __device__ double doubt(int k) const { return (k + 2 * BLOCK) * power_of(last - 53, false); }
    };

    static __device__ __forceinline__ double value_in(const element &x, int which) {
#if IN >= 14
        return which ? (double)x.im : (double)x.re;
#else
        const double v = load_as<double, IN>(x);
        return MAP == 1 ? fabs(v) : v;
#endif
    }
    static __device__ __forceinline__ float key_in(const element &x, int which) {
#if IN == T_F32
        return x;
#elif IN == T_F16 || IN == T_BF16
        return __uint_as_float((unsigned)x << 16);
#elif IN == 14
        return which ? x.im : x.re;
#else
        return __int_as_float(__double2hiint(value_in(x, which)));
#endif
    }
    // Adds a number; `rest`: bits of what is left of it, if that is asked for.
    template <bool ASKED> static __device__ __forceinline__ void add(sums &s, const element &x, unsigned &rest) {
#pragma unroll
        for (int which = 0; which < PARTS; which++) {
            double v = value_in(x, which);
#pragma unroll
            for (int i = 0; i < STEPS; i++) { // each level has the other sign, for then nothing is left of -0 but +0
                const double before = s.part[which][i], after = before + v;
                if (ASKED || i < STEPS - 1)
                    v = (after - before) - v;
                s.part[which][i] = after;
            }
            if (ASKED)
                rest |= (unsigned)__double2hiint(v) | (unsigned)__double2loint(v);
        }
    }
    static __device__ __forceinline__ block block_at(unsigned at) {
        block b;
#pragma unroll
        for (int i = 0; i < (int)sizeof b / VECTOR; i++)
            ((words<VECTOR> *)&b)[i] = at_shared<words<VECTOR>>(at + i * VECTOR);
        return b;
    }

    // What is behind the stretch's `bytes` becomes 0. All of its words are there.
    static __device__ __forceinline__ void clear_behind(unsigned tile, int bytes) {
#pragma unroll 1
        for (int at = (bytes + 15 & ~15) + threadIdx.x % 32 * 16; at < TILE; at += 32 * 16)
            *(words<16> *)__cvta_shared_to_generic(tile + spot(at)) = words<16>{};
        __syncwarp();
    }

    template <bool ASKED> __device__ __forceinline__ bool add_up(const block (&here)[BLOCKS], const starts &from, sums &others) {
        const int lane = threadIdx.x % 32;
        unsigned rest = 0;
        sums mine = from;
#pragma unroll
        for (int b = 0; b < BLOCKS; b++) {
#pragma unroll
            for (int i = 0; i < NUMBERS; i++)
                before[lane][b * NUMBERS + i] = mine.part[i / STEPS][i % STEPS];
#pragma unroll
            for (int j = 0; j < BLOCK; j++)
                add<ASKED>(mine, here[b].e[j], rest);
        }
#pragma unroll
        for (int i = 0; i < NUMBERS; i++) {
            const double own = mine.part[i / STEPS][i % STEPS] - from.part[i / STEPS][i % STEPS];
            double up_to = own;
#pragma unroll
            for (int up = 1; up < 32; up *= 2) {
                const double other = __shfl_up_sync(ALL, up_to, up);
                up_to += lane >= up ? other : 0;
            }
            others.part[i / STEPS][i % STEPS] = up_to - own;
        }
        __syncwarp();
        return ASKED && __any_sync(ALL, rest != 0);
    }
    // Puts down a stretch's sums; false: they are not known. `others`: what the threads before have; left: of some number something is.
    __device__ __forceinline__ bool make(unsigned tile, int &field, sums &others, bool &left) {
        block here[BLOCKS];
        float most = 0;
        unsigned least = ~0u;
#pragma unroll
        for (int b = 0; b < BLOCKS; b++)
            here[b] = block_at(tile + threadIdx.x % 32 * (REGION + 16) + b * BLOCK * SIZE);
#pragma unroll
        for (int b = 0; b < BLOCKS; b++)
#pragma unroll
            for (int j = 0; j < BLOCK; j++)
#pragma unroll
                for (int which = 0; which < PARTS; which++) {
                    const float key = key_in(here[b].e[j], which);
                    most = greater_key(most, key);
                    if (!WIDE && IN != T_F16) {
                        const unsigned one = __float_as_uint(key) * 2 - 1; // zeros are the greatest
                        least = one < least ? one : least;
                    }
                }
        const unsigned top = __reduce_max_sync(ALL, __float_as_uint(most));
        const int easy = (int)(top >> 23) - EASY;
        field = field_of(top);
        field = field > 200 ? field : 200; // all starts are normal numbers
        if (field > GREAT)
            return false;
        const starts from(field);
        if (!WIDE && (IN == T_F16 || !__any_sync(ALL, easy > 0 && least < ((unsigned)easy << 24) - 1)))
            left = add_up<false>(here, from, others);
        else
            left = add_up<true>(here, from, others);
        return true;
    }
    // What comes before element number i of the tile, for all threads of the warp.
    __device__ __forceinline__ sums until(unsigned tile, int i, const sums &others) const {
        const int region = (unsigned)i / EACH, b = (unsigned)i % EACH / BLOCK;
        sums s;
        unsigned rest = 0;
#pragma unroll
        for (int n = 0; n < NUMBERS; n++)
            s.part[n / STEPS][n % STEPS] = before[region][b * NUMBERS + n] + __shfl_sync(ALL, others.part[n / STEPS][n % STEPS], region);
        const block here = block_at(tile + spot((i & ~(BLOCK - 1)) * SIZE));
#pragma unroll
        for (int j = 0; j < BLOCK - 1; j++) {
            sums more = s;
            add<false>(more, here.e[j], rest);
            if (j < i % BLOCK)
                s = more;
        }
        return s;
    }
};

// The output of k elements from what comes before their end and before their beginning; false: it is not known.
__device__ __forceinline__ bool result_between(const prefixes::sums &end, const prefixes::sums &begin, const prefixes::starts &from, bool left, int k,
                                               result &value) {
    enum { STEPS = prefixes::STEPS };
    const double divisor = OPERATION == OP_MEAN ? (double)k : 1;
    double part[PARTS];
    bool known = true;
#pragma unroll
    for (int which = 0; which < PARTS; which++) {
        double sum[STEPS];
#pragma unroll
        for (int i = 0; i < STEPS; i++)
            sum[i] = i % 2 ? begin.part[which][i] - end.part[which][i] : end.part[which][i] - begin.part[which][i];
        part[which] = rounded_sum(sum);
        if (left)
            known = is_sure(sum, from.doubt(k), divisor, 1, part[which]) && known;
    }
    value = exact_result(part[0] / divisor, part[PARTS - 1] / divisor);
    return known;
}
#endif

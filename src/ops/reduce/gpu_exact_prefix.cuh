// SPDX-License-Identifier: Apache-2.0
// gpu_exact_prefix.cuh - exact sums of segments in shared memory, whatever their lengths: differences of sums of all that comes before, as whole numbers.
//
// Let all numbers of a stretch be below 2^t. Added to 1.5 * 2^(t + 1) a number leaves its multiple of u = 2^(t - 51) in the last bits of the sum, and those bits, as 64-bit integers, may be
// added and subtracted in any order: of 2^11 numbers no sum exceeds 2^62 units. So what a segment comes to is what comes before its end less what comes before its beginning. A thread
// sums the elements that lie in its 128 bytes and puts down what comes before each BLOCK of them; an end adds the few of its block. No thread waits for a longer segment, and a
// segment costs the same whatever it has.
//
// Numbers of f32 and smaller types that are 2^-26 of the greatest or more, and zeros, are multiples of u, which one look at the exponents tells; else the second look asks each. Of f64 what is left
// of a number (found without error, Dekker 1971) is at most u / 2, and is taken in the same way by 1.5 * 2^(t - 51), whose unit is 2^-52 u. Where something is left of any number
// then, or one is not finite or of 2^1000 and more, the stretch is not known, and its segments go by groups (gpu_exact_group.cuh).
#ifndef TESS_REDUCE_EXACT_PREFIX_CUH
#define TESS_REDUCE_EXACT_PREFIX_CUH
#include "ops/reduce/gpu_exact_group.cuh"

struct prefixes {
    enum {
        SIZE = sizeof(element),
        REGION = 128, // bytes that a thread sums at once
        REGIONS = TILE / REGION,
        OF_REGION = REGION / SIZE,
        BLOCK = 4,
        BLOCKS = OF_REGION / BLOCK,
        VECTOR = BLOCK * SIZE < 16 ? BLOCK * SIZE : 16,
        STEPS = WIDE ? 2 : 1, // of a number, largest first
        NUMBERS = PARTS * STEPS,
        ROW = BLOCKS * NUMBERS + 1, // odd, so that regions meet in no bank
        EASY = 27                   // binades below the greatest, of which f32 are whole
    };
    static_assert(TILE / SIZE <= 2048, "sums fit 63 bits");
    u64 before[REGIONS][ROW];
    struct sums {
        u64 part[NUMBERS];
    };
    struct alignas(VECTOR) block {
        element e[BLOCK];
    };
    // Where numbers of at most the exponent's field start from.
    struct starts {
        double step[STEPS];
        __device__ starts(int field) {
#pragma unroll
            for (int i = 0; i < STEPS; i++)
                step[i] = power_of(field + 2 - 52 * i, true);
        }
    };

    static __device__ __forceinline__ double value_in(const element &x, int which) {
#if IN >= 14
        return which ? (double)x.im : (double)x.re;
#else
        const double v = load_as<double, IN>(x);
        return MAP == 1 ? fabs(v) : v;
#endif
    }
    // Adds a number, with its start's bits; `rest`: bits of what is left of it, if that is asked for.
    template <bool ASKED> static __device__ __forceinline__ void add(sums &s, const element &x, const starts &from, unsigned &rest) {
#pragma unroll
        for (int which = 0; which < PARTS; which++) {
            double v = value_in(x, which);
#pragma unroll
            for (int i = 0; i < STEPS; i++) {
                const double after = from.step[i] + v;
                s.part[which * STEPS + i] += (u64)__double_as_longlong(after);
                if (ASKED || i < STEPS - 1)
                    v -= after - from.step[i];
            }
            if (ASKED)
                rest |= (unsigned)__double2hiint(v) << 1 | (unsigned)__double2loint(v);
        }
    }
    // Vectors that begin behind the stretch's `bytes` are 0.
    static __device__ __forceinline__ block block_at(const char *tile, int byte, int bytes) {
        block b;
#pragma unroll
        for (int i = 0; i < (int)sizeof b / VECTOR; i++) {
            words<VECTOR> v = {};
            if (byte + i * VECTOR < bytes)
                v = *(const words<VECTOR> *)(tile + spot(byte) + i * VECTOR);
            ((words<VECTOR> *)&b)[i] = v;
        }
        return b;
    }

    // The greatest number's exponent field, in `field`; whether all numbers are whole, as far as exponents tell.
    static __device__ __forceinline__ bool look(const char *tile, int bytes, int &field) {
        float most = 0;
        unsigned least = ~0u;
#pragma unroll
        for (int region = threadIdx.x % 32; region < REGIONS; region += 32)
#pragma unroll
            for (int b = 0; b < BLOCKS; b++) {
                const block here = block_at(tile, region * REGION + b * BLOCK * SIZE, bytes);
#pragma unroll
                for (int j = 0; j < BLOCK; j++)
#pragma unroll
                    for (int which = 0; which < PARTS; which++) {
                        const float key = key_in(here.e[j], which);
                        most = greater_key(most, key);
                        if (!WIDE && IN != T_F16) {
                            const unsigned one = __float_as_uint(key) * 2 - 1; // zeros are the greatest
                            least = one < least ? one : least;
                        }
                    }
            }
        const unsigned top = __reduce_max_sync(ALL, __float_as_uint(most));
        const int easy = (int)(top >> 23) - EASY;
        field = field_of(top);
        field = field > 200 ? field : 200; // all starts are normal numbers
        return IN == T_F16 || (!WIDE && !__any_sync(ALL, easy > 0 && least < ((unsigned)easy << 24) - 1));
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

    template <bool ASKED> __device__ __forceinline__ bool add_up(const char *tile, int bytes, const starts &from) {
        const int lane = threadIdx.x % 32;
        unsigned rest = 0;
        sums all = {};
#pragma unroll 1
        for (int region = lane; region < REGIONS; region += 32) {
            sums mine = {}, till[BLOCKS];
#pragma unroll
            for (int b = 0; b < BLOCKS; b++) {
                const block here = block_at(tile, region * REGION + b * BLOCK * SIZE, bytes);
                till[b] = mine;
#pragma unroll
                for (int j = 0; j < BLOCK; j++)
                    add<ASKED>(mine, here.e[j], from, rest);
            }
#pragma unroll
            for (int i = 0; i < NUMBERS; i++) {
                u64 up_to = mine.part[i];
#pragma unroll
                for (int up = 1; up < 32; up *= 2) {
                    const u64 other = __shfl_up_sync(ALL, up_to, up);
                    up_to += lane >= up ? other : 0;
                }
                const u64 start = all.part[i] + up_to - mine.part[i];
#pragma unroll
                for (int b = 0; b < BLOCKS; b++)
                    before[region][b * NUMBERS + i] = till[b].part[i] + start;
                if (REGIONS > 32)
                    all.part[i] += __shfl_sync(ALL, up_to, 31);
            }
        }
        __syncwarp();
        return !ASKED || !__any_sync(ALL, rest != 0);
    }
    // Puts down a stretch's sums; false: they are not known. `bytes`: with what lies before its first element, which is 0.
    __device__ __forceinline__ bool make(const char *tile, int bytes, int &field) {
        const bool whole = look(tile, bytes, field);
        if (field > GREAT)
            return false;
        const starts from(field);
        return whole ? add_up<false>(tile, bytes, from) : add_up<true>(tile, bytes, from);
    }
    // What comes before element number i of the tile.
    __device__ __forceinline__ sums until(const char *tile, int bytes, int i, const starts &from) const {
        const int region = (unsigned)i / OF_REGION, b = (unsigned)i % OF_REGION / BLOCK, byte = (i & ~(BLOCK - 1)) * SIZE;
        sums s;
        unsigned rest = 0;
#pragma unroll
        for (int n = 0; n < NUMBERS; n++)
            s.part[n] = before[region][b * NUMBERS + n];
        const block here = block_at(tile, byte, bytes);
#pragma unroll
        for (int j = 0; j < BLOCK - 1; j++) {
            sums more = s;
            add<false>(more, here.e[j], from, rest);
            if (j < i % BLOCK)
                s = more;
        }
        return s;
    }
};

// An integer as a double, cut, whose last bit says whether that was all.
__device__ __forceinline__ double cut_to_odd(i64 x) {
    const double cut = __ll2double_rz(x);
    return __longlong_as_double(__double_as_longlong(cut) | (__double2ll_rz(cut) != x));
}
// The sum of one integer, and of one and 2^-52 of another, rounded as rounded_sum has it.
__device__ __forceinline__ double rounded_whole(const i64 (&s)[1]) { return TO_ODD ? cut_to_odd(s[0]) : (double)s[0]; }
__device__ __forceinline__ double rounded_whole(const i64 (&s)[2]) {
    const i64 top = s[0] + (s[1] >> 52), low = s[1] & 0xfffffffffffffll;
    const double high = __ll2double_rz(top);
    const double both[2] = {high, cut_to_odd((top - __double2ll_rz(high)) * 4503599627370496ll + low) * 0x1p-52};
    return rounded_sum(both);
}

// The output of k elements from what comes before their end and before their beginning.
__device__ __forceinline__ result result_between(const prefixes::sums &end, const prefixes::sums &begin, const prefixes::starts &from, int field, int k) {
    enum { STEPS = prefixes::STEPS };
    const double unit = power_of(field + 2 - 52, false), divisor = OPERATION == OP_MEAN ? (double)k : 1;
    double part[PARTS];
#pragma unroll
    for (int which = 0; which < PARTS; which++) {
        i64 sum[STEPS];
#pragma unroll
        for (int i = 0; i < STEPS; i++)
            sum[i] = (i64)(end.part[which * STEPS + i] - begin.part[which * STEPS + i] -
                           ((u64)((unsigned)__double2hiint(from.step[i]) * (unsigned)k) << 32)); // a start's lower half is 0
        part[which] = rounded_whole(sum) * unit / divisor;
    }
    return exact_result(part[0], part[PARTS - 1]);
}
#endif

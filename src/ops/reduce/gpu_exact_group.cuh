// SPDX-License-Identifier: Apache-2.0
// gpu_exact_group.cuh - the exact sum of a few hundred numbers in shared memory, rounded once, by THREADS neighbours of a warp that go over them twice.
//
// Levels. Let |x| <= 2^t of n <= 2^l numbers. `all` starts from 1.5 * 2^(t + l + 1), and n numbers change it by 2^(t + l) at most, so it stays where its last bit is worth
// u = 2^(t + l - 51). An addition of x thus changes it by a multiple of u that differs from x by no more than u / 2, and the difference is found without error (Dekker 1971): it
// is the number of the next level, whose t is 52 - l lower. all - start is the sum of a thread's multiples, and sums over the threads are such as well, of no more than 2^51
// units: nothing is rounded. Where u would be below 2^-1074 `all` starts from 1.5 * 2^-1022: n such numbers come to less than 2^-1023, and nothing is left. So with the sums s of the levels
//     S = s[0] + s[1] + ... + tail, |tail| <= n u / 2 <= 2^(l - 1) u of the last level, and tail = 0 where no number is left.
//
// The result is a function of S that never falls: rounding, a division by a count, rounding to the output's type. If it has the same bits at both ends of what S may be, these are the
// result's, whatever the tail is. One level leaves f32 sums that are to become f32 some 20 bits beyond their last, two leave f64 30 bits: what is within so
// little of the middle between two results is mostly in it, with no tail, for which the levels' sum is all. What is left over (a middle and something far below it, or a sum that cancels to less
// than the tail) is the warp's, by digits (gpu_exact.cuh). Infinities and NaNs come out of the first level as out of any sum, since nothing overflows there: of numbers of 2^1000 and more a group
// adds 2^-64 of each, rounded where that is below 2^-1022, and takes for granted that there is a tail.
#ifndef TESS_REDUCE_EXACT_GROUP_CUH
#define TESS_REDUCE_EXACT_GROUP_CUH
#include "ops/reduce/gpu_exact.cuh"
#include "ops/reduce/gpu_stage.cuh"

const bool TO_ODD = NARROWER && OPERATION != OP_MEAN; // a result is rounded again, so it is cut and says whether that was all
const bool FLOATS = IN == T_F32 || IN == 14;          // whose keys are their bits
const int PART_OUT = OUT == 14 ? T_F32 : OUT == 15 ? T_F64 : OUT;
enum { FIRST_LEVELS = IN == T_F16 || HALVES == 2 || ((IN == T_BF16 || FLOATS) && !MODULI && NARROWER) ? 1 : 2, SCALE = 64 };

struct neighbours {
    i64 size[2], step[2];
};

// A group's elements: the byte where they begin in the tile, how many; how many the busiest thread of the warp has.
struct spread {
    const char *tile;
    int at, k, turns;
    __device__ element operator[](int i) const { return *(const element *)(tile + spot(at + i * (int)sizeof(element))); }
};

__device__ bool is_counted(element x) {
#if IN >= 14
    return !(OMIT && (x.re != x.re || x.im != x.im));
#else
    return !(OMIT && is_nan(x));
#endif
}

// Of two keys the one of the greater magnitude, or NaN: numbers of 2^1017 and more have it too, whose upper halves are no f32.
__device__ float greater_key(float a, float b) {
    float most;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(fabsf(b)));
    return most;
}
// An f32 that grows with the magnitude of a part, as far as its exponent; and the exponent field that the greatest has in f64.
__device__ float key_of_part(element x, int which) {
    if (!is_counted(x))
        return 0;
#if IN == T_F32
    return x;
#elif IN == T_F16 || IN == T_BF16
    return __uint_as_float((unsigned)x << 16);
#elif IN == 14 && MAP != 1
    return which ? x.im : x.re;
#else
    bool counts;
    return __int_as_float(__double2hiint(value_of_part(x, which, &counts)));
#endif
}
__device__ int field_of(unsigned key) {
#if IN == T_F16 || IN == T_BF16
    return __double2hiint(load_as<double, IN>((element)(key >> 16))) >> 20 & 0x7ff;
#else
    return (FLOATS && !MODULI ? __double2hiint((double)__uint_as_float(key)) : (int)key) >> 20 & 0x7ff;
#endif
}

// What a thread takes of an element for one of its parts: of complex numbers that part alone, unless whether it counts depends on both.
template <typename T> __device__ T scaled(T x, double) { return x; }
__device__ double scaled(double x, double by) { return x * by; }
#if IN == 15 && MAP != 1
__device__ element scaled(element x, double by) { return {x.re * by, x.im * by}; }
#endif
#if IN >= 14 && MAP != 1 && !OMIT
typedef decltype(element{}.re) taken;
__device__ taken take_part(const spread &s, int i, int which) { return ((const taken *)(s.tile + spot(s.at + i * (int)sizeof(element))))[which]; }
__device__ float key_of(float x, int) { return x; }
__device__ float key_of(double x, int) { return __int_as_float(__double2hiint(x)); }
__device__ double value_of(taken x, int) { return x; }
__device__ bool does_count(taken) { return true; }
#else
typedef element taken;
__device__ taken take_part(const spread &s, int i, int) { return s[i]; }
__device__ float key_of(taken x, int which) { return key_of_part(x, which); }
__device__ double value_of(taken x, int which) {
    bool counts;
    return value_of_part(x, which, &counts);
}
__device__ bool does_count(taken x) { return is_counted(x); }
#endif

template <int THREADS> __device__ unsigned most_of_group(unsigned x) {
    if (THREADS == 32)
        return __reduce_max_sync(ALL, x);
#pragma unroll
    for (int across = THREADS / 2; across > 0; across /= 2) {
        const unsigned other = __shfl_xor_sync(ALL, x, across);
        x = other > x ? other : x;
    }
    return x;
}
template <int THREADS> __device__ bool any_of_group(bool mine) {
    const unsigned votes = __ballot_sync(ALL, mine);
    return THREADS == 32 ? votes != 0 : (votes >> (threadIdx.x % 32 / THREADS * THREADS) & ((1u << THREADS % 32) - 1)) != 0;
}

__device__ double power_of(int field, bool half) { return __hiloint2double(field << 20 | half << 19, 0); }

// Next to x, towards +0 or away from it, if x is even: what has to be cut is not 0.
__device__ double odd_beside(double x, bool away) {
    const i64 bits = __double_as_longlong(x);
    return bits & 1 ? x : __longlong_as_double(bits + (away ? 1 : -1));
}

__device__ double two_sum(double a, double b, double &rest) {
    const double sum = a + b, part = sum - a;
    rest = (a - (sum - part)) + (b - part);
    return sum;
}

// The sum of one double and of two, rounded.
__device__ double rounded_sum(const double (&s)[1]) { return s[0]; }
__device__ double rounded_sum(const double (&s)[2]) {
    double rest, sum = two_sum(s[0], s[1], rest);
    return TO_ODD && rest != 0 ? odd_beside(sum, (rest > 0) == (sum > 0)) : sum;
}
__device__ u64 bits_of_stored(double x) { return (u64)__double_as_longlong(x); }
__device__ u64 bits_of_stored(float x) { return __float_as_uint(x); }
template <typename T> __device__ u64 bits_of_stored(T x) { return (u64)x; }
__device__ u64 stored_bits(double x, double divisor, double back) {
    const double whole = WIDE ? x * back : x;
    return bits_of_stored(store_as<PART_OUT>(OPERATION == OP_MEAN ? whole / divisor : whole));
}

// Whether all sums of `doubt` less to `doubt` more give one result; `value` is one of them.
__device__ bool is_sure(const double (&s)[1], double doubt, double divisor, double back, double &value) {
    value = s[0] - doubt; // both are multiples of half a unit, of 2^52 at most
    return NARROWER && stored_bits(value, divisor, back) == stored_bits(s[0] + doubt, divisor, back);
}
__device__ bool is_sure(const double (&s)[2], double doubt, double divisor, double back, double &value) {
    const double least = s[1] - doubt, most = s[1] + doubt; // likewise
    value = TO_ODD ? __dadd_rd(s[0], least) : s[0] + least;
    return stored_bits(value, divisor, back) == stored_bits(TO_ODD ? __dadd_ru(s[0], most) : s[0] + most, divisor, back);
}

// The sums of the levels, from where they start.
template <int LEVELS> struct levels {
    double all[LEVELS];
    unsigned rest; // bits of what is left of some number
    __device__ __forceinline__ void take(double x) {
#pragma unroll
        for (int i = 0; i < LEVELS; i++) { // each level has the other sign, for then nothing is left of -0 but +0
            const double after = all[i] + x;
            x = (after - all[i]) - x;
            all[i] = after;
        }
        rest |= (unsigned)__double2hiint(x) | (unsigned)__double2loint(x);
    }
};

// How a group goes over its elements: THREADS of them at a time, of which a thread keeps HELD in registers, SURE of them there whatever k is; HELD = 0: they are loaded again.
template <int THREADS_, int HELD_, int SURE_> struct way {
    enum { THREADS = THREADS_, HELD = HELD_, SURE = SURE_ };
};

// The sum of part number `which`, as what exact_result wants; false: it is not known. `count`: of elements that count, if it is asked for (which = 0).
template <typename WAY, int LEVELS> __device__ __forceinline__ bool sum_of_part(const spread &s, int which, int &count, double &value) {
    enum { THREADS = WAY::THREADS, HELD = WAY::HELD };
    const int t = threadIdx.x % THREADS, log = s.k > 1 ? 32 - __clz(s.k - 1) : 0;
    const auto is_there = [&](int j) { return j < WAY::SURE || j * THREADS < s.k - t; };
    taken held[HELD > 0 ? HELD : 1];
    float most = 0;
    int found = 0, field = 1055 + 32 * which; // of halves
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        held[j] = taken{};
        if (is_there(j))
            held[j] = take_part(s, t + j * THREADS, which);
    }
    if (HALVES == 1) {
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            most = greater_key(most, key_of(held[j], which));
            found += is_there(j) && does_count(held[j]);
        }
#pragma unroll 4
        for (int j = HELD ? s.turns : 0; j < s.turns; j++)
            if (is_there(j)) {
                const taken x = take_part(s, t + j * THREADS, which);
                most = greater_key(most, key_of(x, which));
                found += does_count(x);
            }
        field = field_of(most_of_group<THREADS>(__float_as_uint(most)));
        if (OMIT && which == 0)
            count = sum_of_group<THREADS>(found);
    }
    // Great numbers go by 2^-SCALE of them, which is far below the levels' last bit where it is not whole. What is not finite makes the first level's sum what it makes of all.
    const bool great = WIDE && field > GREAT, some_great = WIDE && __any_sync(ALL, great);
    const double scale = power_of(great ? 1023 - SCALE : 1023, false), back = power_of(great ? 1023 + SCALE : 1023, false);
    field = field < 0x7ff ? field : WIDE ? 0x7fe : 1023 + 127;
    field = great ? field - SCALE : field < 1 ? 1 : field;
    levels<LEVELS> here;
    double start[LEVELS], sum[LEVELS];
    int exponent = field + log + 2;
#pragma unroll
    for (int i = 0; i < LEVELS; i++) {
        if (i > 0)
            exponent = exponent + log - 52 > 1 ? exponent + log - 52 : 1;
        here.all[i] = start[i] = power_of(exponent, true);
    }
    here.rest = 0;
    if (some_great) {
#pragma unroll
        for (int j = 0; j < HELD; j++)
            held[j] = scaled(held[j], scale);
    }
#pragma unroll
    for (int j = 0; j < HELD; j++)
        here.take(value_of(held[j], which) * (MODULI ? scale : 1));
#pragma unroll 4
    for (int j = HELD ? s.turns : 0; j < s.turns; j++)
        here.take(is_there(j) ? value_of(take_part(s, t + j * THREADS, which), which) * (WIDE ? scale : 1) : 0);
#pragma unroll
    for (int i = 0; i < LEVELS; i++)
        sum[i] = sum_of_group<THREADS>(i % 2 ? start[i] - here.all[i] : here.all[i] - start[i]);
    const bool more = any_of_group<THREADS>(here.rest != 0) || great;
    if (!(fabs(sum[0]) < 0x1p1023 * 2)) {
        value = sum[0];
        return true;
    }
    if (more) {
        const int last = exponent + log - 53;
        const bool sure = is_sure(sum, power_of(last > 1 ? last : 1, false), (double)count, back, value);
        value = WIDE ? value * back : value;
        return sure;
    }
    value = rounded_sum(sum);
    return true;
}

// A whole output, of all parts and halves; false: it is not known.
template <typename WAY, int LEVELS> __device__ __forceinline__ bool sum_of(const spread &s, result &value) {
    double part[PARTS], low = 0;
    int count = s.k;
    bool known = true;
#pragma unroll 1
    for (int which = 0; which < PARTS * HALVES; which++) {
        double sum;
        known = sum_of_part<WAY, LEVELS>(s, which, count, sum) && known;
        if (HALVES == 2 && which) { // each is one double
            const double both[2] = {sum, low};
            part[0] = rounded_sum(both);
        } else if (which) {
            part[PARTS - 1] = sum;
        } else {
            part[0] = low = sum;
        }
    }
    const double divisor = OPERATION == OP_MEAN ? (double)count : 1;
    value = exact_result(part[0] / divisor, part[PARTS - 1] / divisor);
    return known;
}

// The output of fewer than 2^15 elements that a group did not find, by the warp; digits lie where the limbs will.
template <typename ELEMENTS> __device__ __noinline__ void put_alone(const ELEMENTS s, i64 (*limbs)[LIMBS], int *flags, result *to) {
    enum { TURNS = (LIMBS + 31) / 32 };
    const int lane = threadIdx.x % 32;
    int *const digits = (int *)limbs[0];
    int count = 0;
    for (int i = lane; i < PARTS * LIMBS * 2; i += 32)
        digits[i] = 0;
    if (lane < PARTS)
        flags[lane] = 0;
    __syncwarp();
    for (int i = lane; i < s.k; i += 32) {
        const element x = s[i];
        count += is_counted(x);
#pragma unroll 1
        for (int which = 0; which < PARTS * HALVES; which++) {
            const int part = PARTS > 1 ? which : 0;
            bool counts;
            const double v = value_of_part(x, which, &counts);
            if (fabs(v) < 0x1p1023 * 2)
                add<1>(digits + part * LIMBS * 2, v);
            else
                atomicOr(flags + part, v != v ? IS_NAN : v > 0 ? PLUS : MINUS);
        }
    }
    count = sum_of_group<32>(count);
    __syncwarp();
    for (int part = 0; part < PARTS; part++) {
        i64 limb[TURNS];
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++) {
            const int i = turn * 32 + lane < LIMBS ? turn * 32 + lane : 0, *pair = digits + (part * LIMBS + i) * 2;
            limb[turn] = pair[0] + (i64)pair[1] * 65536;
        }
        __syncwarp();
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++)
            if (turn * 32 + lane < LIMBS)
                limbs[part][turn * 32 + lane] = limb[turn];
    }
    put_rounded(to, limbs, flags, count);
    __syncwarp();
}

// The outputs of a warp's groups, `to`, as far as they are `there`.
template <typename WAY> __device__ __forceinline__ void put_groups(const spread &s, bool there, i64 (*limbs)[LIMBS], int *flags, result *to) {
    result value;
    const bool known = sum_of<WAY, FIRST_LEVELS>(s, value), mine = there && threadIdx.x % WAY::THREADS == 0;
    if (mine && known)
        *to = value;
    for (unsigned left = __ballot_sync(ALL, mine && !known); left; left &= left - 1) {
        const int whose = __ffs(left) - 1;
        put_alone(spread{s.tile, __shfl_sync(ALL, s.at, whose), __shfl_sync(ALL, s.k, whose), 0}, limbs, flags,
                  (result *)__shfl_sync(ALL, (u64)to, whose));
    }
}
#endif

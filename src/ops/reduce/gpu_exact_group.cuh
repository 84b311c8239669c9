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
// than the tail) is the warp's: four levels, and then the long accumulator, which takes infinities, NaNs and numbers of 2^1000 and more as well.
#ifndef TESS_REDUCE_EXACT_GROUP_CUH
#define TESS_REDUCE_EXACT_GROUP_CUH
#include "ops/reduce/gpu_exact.cuh"
#include "ops/reduce/gpu_stage.cuh"

const bool TO_ODD = NARROWER && OPERATION != OP_MEAN; // a result is rounded again, so it is cut and says whether that was all
const bool FLOATS = IN == T_F32 || IN == 14;          // whose keys are their bits
const bool MODULI = IN >= 14 && MAP == 1;
const int PART_OUT = OUT == 14 ? T_F32 : OUT == 15 ? T_F64 : OUT;
enum {
    FIRST_LEVELS = IN == T_F16 || HALVES == 2 || ((IN == T_BF16 || FLOATS) && !MODULI && NARROWER) ? 1 : 2,
    GREAT = 2022 /* the field of numbers just below 2^1000 */
};

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
template <int THREADS, typename T> __device__ T sum_of_group(T x) {
#pragma unroll
    for (int across = THREADS / 2; across > 0; across /= 2)
        x += __shfl_xor_sync(ALL, x, across);
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

// The sum of one double, of two and of four, rounded.
__device__ double rounded_sum(const double (&s)[1]) { return s[0]; }
__device__ double rounded_sum(const double (&s)[2]) {
    double rest, sum = two_sum(s[0], s[1], rest);
    return TO_ODD && rest != 0 ? odd_beside(sum, (rest > 0) == (sum > 0)) : sum;
}
// Parts that do not overlap (Shewchuk 1997, theorem 10): each is below the last bit of those before it, but zeros. They are added from the greatest on until one addition is not exact. What it
// drops, `low`, is a multiple of the last bit of the part that was added, and so is half the distance from `high` to its neighbour; all parts after it are less than that bit. So they only decide where `low` is
// that half: with low's sign, the neighbour is nearer; with the other, or if there are none, `high` is right, which is even then.
__device__ double rounded_sum(const double (&s)[4]) {
    double part[4] = {s[0]}, low = 0, rest = 0;
#pragma unroll
    for (int i = 1; i < 4; i++) {
        double sum = s[i];
#pragma unroll
        for (int j = i - 1; j >= 0; j--)
            sum = two_sum(sum, part[j], part[j + 1]);
        part[0] = sum;
    }
    double high = part[0];
#pragma unroll
    for (int i = 1; i < 4; i++)
        if (low == 0) {
            const double sum = high + part[i];
            low = part[i] - (sum - high);
            high = sum;
        } else if (rest == 0) {
            rest = part[i];
        }
    if (TO_ODD)
        return low != 0 ? odd_beside(high, (low > 0) == (high > 0)) : high;
    const double next = high + 2 * low;
    return rest != 0 && (low > 0) == (rest > 0) && next - high == 2 * low ? next : high;
}

__device__ u64 bits_of_stored(double x) { return (u64)__double_as_longlong(x); }
__device__ u64 bits_of_stored(float x) { return __float_as_uint(x); }
template <typename T> __device__ u64 bits_of_stored(T x) { return (u64)x; }
__device__ u64 stored_bits(double x, double divisor) { return bits_of_stored(store_as<PART_OUT>(OPERATION == OP_MEAN ? x / divisor : x)); }

// Whether all sums of `doubt` less to `doubt` more give one result; `value` is one of them.
__device__ bool is_sure(const double (&s)[1], double doubt, double divisor, double &value) {
    value = s[0] - doubt; // both are multiples of half a unit, of 2^52 at most
    return NARROWER && stored_bits(value, divisor) == stored_bits(s[0] + doubt, divisor);
}
__device__ bool is_sure(const double (&s)[2], double doubt, double divisor, double &value) {
    const double least = s[1] - doubt, most = s[1] + doubt; // likewise
    value = TO_ODD ? __dadd_rd(s[0], least) : s[0] + least;
    return stored_bits(value, divisor) == stored_bits(TO_ODD ? __dadd_ru(s[0], most) : s[0] + most, divisor);
}
__device__ bool is_sure(const double (&)[4], double, double, double &) { return false; }

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
    element held[HELD > 0 ? HELD : 1];
    float most = 0;
    int found = 0, field = 1055 + 32 * which; // of halves
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        held[j] = element{};
        if (is_there(j))
            held[j] = s[t + j * THREADS];
    }
    if (HALVES == 1) {
#pragma unroll
        for (int j = 0; j < HELD; j++) {
            most = greater_key(most, key_of_part(held[j], which));
            found += is_there(j) && is_counted(held[j]);
        }
#pragma unroll 4
        for (int j = HELD ? s.turns : 0; j < s.turns; j++)
            if (is_there(j)) {
                const element x = s[t + j * THREADS];
                most = greater_key(most, key_of_part(x, which));
                found += is_counted(x);
            }
        field = field_of(most_of_group<THREADS>(__float_as_uint(most)));
        if (OMIT && which == 0)
            count = sum_of_group<THREADS>(found);
    }
    const bool great = field > GREAT;
    field = field < 1 || great ? 1 : field;
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
    bool counts;
#pragma unroll
    for (int j = 0; j < HELD; j++)
        here.take(value_of_part(held[j], which, &counts));
#pragma unroll 4
    for (int j = HELD ? s.turns : 0; j < s.turns; j++)
        here.take(is_there(j) ? value_of_part(s[t + j * THREADS], which, &counts) : 0);
#pragma unroll
    for (int i = 0; i < LEVELS; i++)
        sum[i] = sum_of_group<THREADS>(i % 2 ? start[i] - here.all[i] : here.all[i] - start[i]);
    const bool more = any_of_group<THREADS>(here.rest != 0 && !great);
    if (great)
        return false;
    if (more) {
        const int last = exponent + log - 53;
        return is_sure(sum, power_of(last > 1 ? last : 1, false), (double)count, value);
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

// The output of some elements that a group did not find, by the warp; `from`: where they lie in global memory.
__device__ __noinline__ void put_alone(const char *tile, int at, int k, const element *from, i64 (*limbs)[LIMBS], int *flags, result *to) {
    enum { EACH_TIME = 8 };
    const int lane = threadIdx.x % 32;
    result value;
    if (sum_of<way<32, 0, 0>, 4>(spread{tile, at, k, (k + 31) / 32}, value)) {
        if (lane == 0)
            *to = value;
        return;
    }
    i64 found = 0;
    for (int i = lane; i < PARTS * LIMBS; i += 32)
        limbs[0][i] = 0;
    if (lane < PARTS)
        flags[lane] = 0;
    __syncwarp();
    for (int first = 0; first < k; first += 32 * EACH_TIME)
        take_strip<EACH_TIME>(neighbours{{0, 0}, {1, 0}}, from, first, k, limbs[0], LIMBS, flags, found);
    found = sum_of_group<32>(found);
    __syncwarp();
    put_rounded(to, limbs, flags, found);
    __syncwarp();
}

// The outputs of a warp's groups, `to`, as far as they are `there`; their elements begin at `from` + first.
template <typename WAY>
__device__ __forceinline__ void put_groups(const spread &s, bool there, const element *from, int first, i64 (*limbs)[LIMBS], int *flags, result *to) {
    result value;
    const bool known = sum_of<WAY, FIRST_LEVELS>(s, value), mine = there && threadIdx.x % WAY::THREADS == 0;
    if (mine && known)
        *to = value;
    for (unsigned left = __ballot_sync(ALL, mine && !known); left; left &= left - 1) {
        const int whose = __ffs(left) - 1;
        put_alone(s.tile, __shfl_sync(ALL, s.at, whose), __shfl_sync(ALL, s.k, whose), from + __shfl_sync(ALL, first, whose), limbs, flags,
                  (result *)__shfl_sync(ALL, (u64)to, whose));
    }
}
#endif

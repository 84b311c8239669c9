// SPDX-License-Identifier: Apache-2.0
// gpu_exact_strip.cuh - the exact sum of many numbers by a warp: strips in registers, whose magnitude one look tells, then levels that go on from strip to strip, then digits.
//
// A lane's level starts from 1.5 * 2^e. Up to 2^LOG numbers below 2^(e - LOG - 1) leave it where its last bit is worth 2^(e - 52), so it is the exact sum of the multiples of that which the numbers
// were rounded to, and what each has left is found without error and is the next level's (gpu_exact_group.cuh has the proof). Levels stay where they are from strip to strip, with a binade to
// spare, and are opened anew, at the strip's greatest number, if that does not fit, or if much is left of many numbers. One level is all that f32 within 2^18 of the greatest ask for, two or three that of f64.
// A vote after each level says whether something is left. What is then left of the last goes to the warp's digits (gpu_exact.cuh), and so do the levels' own sums before they are opened anew.
//
// Where too much is left even of a strip for which levels were opened, numbers lie anywhere, and the next ones go to the digits at once, as do strips with infinities, NaNs or numbers of 2^1000
// and more. So what is added is always exact, and levels are only the quicker way.
#ifndef TESS_REDUCE_EXACT_STRIP_CUH
#define TESS_REDUCE_EXACT_STRIP_CUH
#include "ops/reduce/gpu_exact.cuh"

enum {
    EACH = sizeof(element) < 4 ? 8 : 32 / sizeof(element), // elements of a lane in a strip
    STRIP = 32 * EACH,
    LEVELS = WIDE ? 3 : 2,
    LOG = 8,                   // of the numbers of a lane in its levels
    TURNS = (1 << LOG) / EACH, // strips of them
    // Strips until digits become limbs: with what levels leave a lane adds to a digit no more than 1023 times, so 32 lanes' sum is below 2^31.
    DRAINED = 960 / ((EACH + LEVELS) * HALVES),
    MANY = 8,  // lanes that have something left
    ASIDE = 7, // strips that go to the digits at once
    // Of f32, f16, bf16 and halves of integers, and of sums of 2^LOG of them: bits 2^-149 to 2^136.
    FIRST_DIGIT = WIDE ? 0 : 54,
    DIGITS = WIDE ? 132 : 22,
    COPIES = (WIDE ? 8 : 32) / PARTS
};

// What a warp has in shared memory.
struct alignas(16) sums {
    int digits[PARTS][DIGITS * COPIES];
    i64 limbs[PARTS][LIMBS];
    int flags[PARTS];
};

__device__ void clear(sums &s) {
    for (int i = threadIdx.x % 32; i < (int)(sizeof s / 4); i += 32)
        ((int *)&s)[i] = 0;
    __syncwarp();
}

// Digits become limbs.
__device__ void drain(sums &s) {
    enum { VECTORS = COPIES / 4 };
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int which = 0; which < PARTS; which++)
        for (int limb = lane; limb < DIGITS / 2; limb += 32) {
            int4 *digit = (int4 *)&s.digits[which][2 * limb * COPIES];
            int low = 0, high = 0;
#pragma unroll
            for (int i = 0; i < VECTORS; i++) {
                const int at = (i + lane) % VECTORS; // lanes meet in no bank
                const int4 a = digit[at], b = digit[at + VECTORS];
                low += a.x + a.y + a.z + a.w;
                high += b.x + b.y + b.z + b.w;
                digit[at] = digit[at + VECTORS] = int4{0, 0, 0, 0};
            }
            s.limbs[which][FIRST_DIGIT / 2 + limb] += low + (i64)high * 65536;
        }
    __syncwarp();
}

// A lane's levels of one part. The start of each is known by its exponent's field.
struct levels_of_lane {
    double all[LEVELS];
    int field, turns, aside; // the greatest field that fits; strips that do yet; strips that do not go by levels
    __device__ __forceinline__ int exponent(int level) const {
        const int e = field + LOG + 2 - level * (52 - LOG);
        return e > 1 ? e : 1;
    }
    __device__ __forceinline__ double start(int level) const { return __hiloint2double(exponent(level) << 20 | 1 << 19, 0); }
};

__device__ __forceinline__ void close(const levels_of_lane &l, int *digits) {
#pragma unroll 1
    for (int i = 0; i < LEVELS; i++) { // which have signs in turn
        double all = l.all[0];
#pragma unroll
        for (int j = 1; j < LEVELS; j++)
            all = i == j ? l.all[j] : all;
        const double sum = i % 2 ? l.start(i) - all : all - l.start(i);
        if (sum != 0)
            add<COPIES>(digits, sum);
    }
}

// A strip's numbers of one part; `digits`: the lane's.
__device__ __forceinline__ void take_numbers(double (&x)[EACH], levels_of_lane &l, int *digits, int *flags) {
    float most = 0;
    bool turned = false;
#pragma unroll
    for (int j = 0; j < EACH;
         j++) // upper halves as f32 order magnitudes; those of 2^1017 and more, and what is not finite, are infinities and NaNs there
        asm("max.NaN.f32 %0, %0, %1;" : "+f"(most) : "f"(fabsf(__int_as_float(__double2hiint(x[j])))));
    const int field = __float_as_int(most) >> 20;
    if (l.aside > 0) {
        l.aside--;
    } else if (!__any_sync(ALL, field > GREAT)) {
        const bool anew = __any_sync(ALL, field > l.field || l.turns == 0);
        if (anew) {
            close(l, digits);
            l.field = (int)__reduce_max_sync(ALL, (unsigned)field) + 1;
            l.turns = TURNS;
#pragma unroll
            for (int i = 0; i < LEVELS; i++)
                l.all[i] = l.start(i);
        }
        l.turns--;
        unsigned left = 0;
#pragma unroll
        for (int i = 0; i < LEVELS; i++) {
            unsigned rest = 0;
#pragma unroll
            for (int j = 0; j < EACH; j++) { // each level has the other sign, for then nothing is left of -0 but +0
                const double after = l.all[i] + x[j];
                x[j] = (after - l.all[i]) - x[j];
                l.all[i] = after;
                rest |= (unsigned)__double2hiint(x[j]) | (unsigned)__double2loint(x[j]);
            }
            turned = !turned;
            left = __ballot_sync(ALL, rest != 0);
            if (!left)
                return;
        }
        if (__popc(left) > MANY) {
            l.turns = 0;
            l.aside = anew ? ASIDE : 0;
        }
    }
    if (__any_sync(ALL, field >= 0x7f8)) { // 2^1017
        int found = 0;
#pragma unroll
        for (int j = 0; j < EACH; j++)
            if (!(fabs(x[j]) < 0x1p1023 * 2)) {
                found |= x[j] != x[j] ? IS_NAN : x[j] > 0 ? PLUS : MINUS;
                x[j] = 0;
            }
        if (found)
            atomicOr(flags, found);
    }
#pragma unroll
    for (int j = 0; j < EACH; j++)
        if (x[j] != 0)
            add<COPIES, !WIDE>(digits, turned ? -x[j] : x[j]);
}

// A warp's elements number first, first + step, ... of k, STRIP at each of them, into its limbs; `count` of those of the lane that are not left out. ADJACENT: they follow one another.
template <bool ADJACENT, typename P>
__device__ __forceinline__ void take(const P &p, const element *from, i64 first, i64 step, i64 k, sums &s, i64 &count) {
    const int lane = threadIdx.x % 32, copy = lane % COPIES - FIRST_DIGIT * COPIES;
    levels_of_lane levels[PARTS];
    element ahead[EACH];
    int drained = DRAINED;
    const auto load = [&](i64 at) {
        const element *mine = from + at + lane;
        const int here = (int)(k - at < STRIP ? k - at : STRIP) - lane;
        if (ADJACENT && k - at >= STRIP) {
#pragma unroll
            for (int j = 0; j < EACH; j++)
                ahead[j] = mine[j * 32];
            return;
        }
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            ahead[j] = element{};
            if (j * 32 < here)
                ahead[j] = ADJACENT ? mine[j * 32] : from[place(p, at + j * 32 + lane)];
            else if (OMIT)
                count--;
        }
    };
#pragma unroll
    for (int which = 0; which < PARTS; which++) {
        levels[which].field = levels[which].turns = levels[which].aside = 0;
#pragma unroll
        for (int i = 0; i < LEVELS; i++)
            levels[which].all[i] = levels[which].start(i);
    }
    if (first < k)
        load(first);
    for (; first < k; first += step) {
        double x[PARTS * HALVES][EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            bool counts;
#pragma unroll
            for (int which = 0; which < PARTS * HALVES; which++)
                x[which][j] = value_of_part(ahead[j], which, &counts);
            if (OMIT)
                count += counts;
        }
        if (!OMIT && lane == 0)
            count += k - first < STRIP ? k - first : STRIP;
        if (first + step < k)
            load(first + step);
#pragma unroll
        for (int which = 0; which < PARTS * HALVES; which++) {
            const int part = PARTS > 1 ? which : 0;
            take_numbers(x[which], levels[part], s.digits[part] + copy, &s.flags[part]);
        }
        if (--drained == 0) {
            drain(s);
            drained = DRAINED;
        }
    }
#pragma unroll
    for (int which = 0; which < PARTS; which++)
        close(levels[which], s.digits[which] + copy);
    drain(s);
}
#endif

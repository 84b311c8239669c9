// SPDX-License-Identifier: Apache-2.0
// gpu_exact_levels.cuh - levels that go on from strip to strip of numbers, then digits: what exact sums by a warp, and of columns by its lanes, have of a strip.
//
// A lane's level starts from 1.5 * 2^e. Up to 2^LOG numbers below 2^(e - LOG - 1) leave it where its last bit is worth 2^(e - 52), so it is the exact sum of the multiples of that which the numbers
// were rounded to, and what each has left is found without error and is the next level's (gpu_exact_group.cuh has the proof). Levels stay where they are from strip to strip, with a binade to
// spare, and are opened anew, at the strip's greatest number, if that does not fit, or if much is left of many numbers. One level is all that f32 within 2^18 of the greatest ask for, two or three that of f64.
// A vote after each level says whether something is left. What is then left of the last goes to digits (gpu_exact.cuh), and so do the levels' own sums before they are opened anew.
//
// Where too much is left even of a strip for which levels were opened, numbers lie anywhere, and the next ones go to the digits at once, as do strips with infinities, NaNs or numbers of 2^1000
// and more. So what is added is always exact, and levels are only the quicker way.
//
// -DOWN: so many threads of a block have a sum each (gpu_exact_columns.cu). A lane's levels are then where its own numbers want them, with two binades to spare, and its digits, which lie OWN words
// apart, are cleared when the first is wanted. f16 need no levels there: up to 2^13 of them, multiples of 2^-24 below 2^16, come to 53 bits.
#ifndef TESS_REDUCE_EXACT_LEVELS_CUH
#define TESS_REDUCE_EXACT_LEVELS_CUH
#include "ops/reduce/gpu_exact.cuh"

#ifndef OWN
#define OWN 0
#define OWN_EACH 0
#define OWN_LOG 0
#endif
const bool PLAIN = OWN && IN == T_F16;
enum {
    EACH = OWN ? OWN_EACH : sizeof(element) < 4 ? 8 : 32 / sizeof(element), // elements of a lane in a strip
    STRIP = 32 * EACH,
    LEVELS = PLAIN ? 1 : WIDE ? 3 : 2,
    LOG = OWN ? OWN_LOG : 8,               // of the numbers of a lane in its levels
    TURNS = (1 << LOG) / EACH,            // strips of them
    SPARE = OWN ? 2 : 1,                  // binades
    // Strips until digits become limbs: with what levels leave a lane adds to a digit no more than 1023 times, so 32 lanes' sum is below 2^31; or until those of its own are carried.
    DRAINED = (OWN ? 30000 : 960) / ((EACH + LEVELS) * HALVES),
    MANY = 8,  // lanes that have something left
    ASIDE = 7, // strips that go to the digits at once
    // Of f32, f16, bf16 and halves of integers, and of sums of 2^LOG of them: bits 2^-149 to 2^136.
    FIRST_DIGIT = WIDE ? 0 : 54,
    DIGITS = WIDE ? 132 : 22,
    COPIES = OWN ? OWN : (WIDE ? 8 : 32) / PARTS
};

// A lane's levels of one part. The start of each is known by its exponent's field.
struct levels_of_lane {
    double all[LEVELS];
    int field, turns, aside; // the greatest field that fits; strips that do yet; strips that do not go by levels
    bool fresh, cleared;     // of OWN: levels are to be opened as low as the strip allows; there are digits
    __device__ __forceinline__ int exponent(int level) const {
        const int e = field + LOG + 2 - level * (52 - LOG);
        return e > 1 ? e : 1;
    }
    __device__ __forceinline__ double start(int level) const { return PLAIN ? 0 : __hiloint2double(exponent(level) << 20 | 1 << 19, 0); }
    __device__ __forceinline__ void open() {
#pragma unroll
        for (int i = 0; i < LEVELS; i++)
            all[i] = start(i);
    }
    // Of level number i, which have signs in turn.
    __device__ __forceinline__ double sum(int i) const { return i % 2 ? start(i) - all[i] : all[i] - start(i); }
};

#if OWN
// A lane's digits are there.
__device__ __forceinline__ void want_digits(levels_of_lane &l, int *digits) {
    if (l.cleared)
        return;
    l.cleared = true;
#pragma unroll 2
    for (int i = FIRST_DIGIT; i < FIRST_DIGIT + DIGITS; i++)
        digits[i * COPIES] = 0;
}

// Digits from number `first` to `last` become 0 .. 2^16 - 1; the last keeps the sign.
__device__ __forceinline__ void carry_digits(int *digits, int first = FIRST_DIGIT, int last = FIRST_DIGIT + DIGITS - 1) {
    int over = 0;
#pragma unroll 2
    for (int i = first; i < last; i++) {
        over += digits[i * COPIES];
        digits[i * COPIES] = over & 0xffff;
        over >>= 16;
    }
    digits[last * COPIES] += over;
}

__device__ __forceinline__ int kind_of(double x) { return x != x ? IS_NAN : x > 0 ? PLUS : MINUS; }

__device__ __forceinline__ void close(levels_of_lane &l, int *digits, int *flags) {
#pragma unroll 1
    for (int i = 0; i < LEVELS; i++) {
        double all = l.all[0];
#pragma unroll
        for (int j = 1; j < LEVELS; j++)
            all = i == j ? l.all[j] : all;
        double sum = i % 2 ? l.start(i) - all : all - l.start(i);
        if (PLAIN && !(fabs(sum) < 0x1p1023 * 2)) {
            *flags |= kind_of(sum);
            sum = 0;
        }
        if (!__any_sync(ALL, sum != 0))
            continue;
        want_digits(l, digits);
        if (sum != 0)
            add<COPIES>(digits, sum);
    }
}
#else
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
#endif

// A strip's numbers of one part; `digits`: the lane's.
__device__ __forceinline__ void take_numbers(double (&x)[EACH], levels_of_lane &l, int *digits, int *flags) {
#if OWN && IN == T_F16
    if (l.turns == 0) {
        close(l, digits, flags);
        l.open();
        l.turns = TURNS;
    }
    l.turns--;
#pragma unroll
    for (int j = 0; j < EACH; j++)
        l.all[0] += x[j];
#else
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
#if OWN
            close(l, digits, flags);
            l.field = l.fresh || field + SPARE > l.field ? field + SPARE : l.field;
            l.fresh = false;
#else
            close(l, digits);
            l.field = (int)__reduce_max_sync(ALL, (unsigned)field) + SPARE;
#endif
            l.turns = TURNS;
            l.open();
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
            l.fresh = true;
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
#if OWN
    want_digits(l, digits);
#endif
#pragma unroll
    for (int j = 0; j < EACH; j++)
        if (x[j] != 0)
            add<COPIES, !WIDE>(digits, turned ? -x[j] : x[j]);
#endif
}
#endif

// SPDX-License-Identifier: Apache-2.0
// gpu_exact_short.cu - exact sums of many short rows: a few threads a row, whose sum is one double or two without error; what is harder goes to accumulators.
//
// A stretch of rows is in shared memory as in gpu_tree_short.cu. With 2^t above all of a row's numbers, and no more of them than 2^l, adding 1.5 * 2^(t + l + 1) to a number
// and taking it away again leaves a multiple of 2^(t + l - 51), and these add up without error. What they leave of the numbers goes through the same again. Rows of f32 within
// a factor of 2^20 take one pass, nearly all of f64 two: then the result is one double, or the sum of two, rounded once. A row that is not done after two, or has numbers
// that are not finite, of 2^1000 and more, or subnormal ones, goes to the warp's long accumulator, one after the other.
#include "ops/reduce/gpu_exact.cuh"
#include "ops/reduce/gpu_stage.cuh"

enum { LOG = LOG_LANES, ROWS = 32 / GROUP };

__device__ unsigned over_group(unsigned x) {
#pragma unroll
    for (int across = GROUP / 2; across > 0; across /= 2) {
        unsigned other = __shfl_xor_sync(ALL, x, across);
        x = other > x ? other : x;
    }
    return x;
}
__device__ double over_group(double x) {
#pragma unroll
    for (int across = GROUP / 2; across > 0; across /= 2)
        x += __shfl_xor_sync(ALL, x, across);
    return x;
}

// A group's numbers as sum[0] + sum[1]; true: that is not all. The whole warp comes here.
__device__ bool two_sums(double (&x)[PER], double (&sum)[2]) {
    bool hard = false;
    sum[0] = sum[1] = 0;
#pragma unroll 1
    for (int pass = 0; pass < 3; pass++) {
        unsigned most = 0; // the greatest exponent field, above 21 bits that say whether there is anything
#pragma unroll
        for (int j = 0; j < PER; j++) {
            const unsigned low = (unsigned)__double2loint(x[j]), key = (unsigned)__double2hiint(x[j]) << 1 | (low < 1 ? low : 1);
            most = key > most ? key : most;
        }
        most = over_group(most);
        if (!__any_sync(ALL, most != 0))
            break;
        const int field = (int)(most >> 21);
        hard = hard || (most != 0 && (pass == 2 || field == 0 || field > 2022));
        if (pass == 2)
            break;
        const double start = __longlong_as_double((i64)(field + LOG + 2) << 52 | 1ll << 51);
        double all = 0;
#pragma unroll
        for (int j = 0; j < PER; j++) {
            const double upper = (start + x[j]) - start;
            x[j] -= upper;
            all += upper;
        }
        sum[pass] = over_group(all);
    }
    return hard;
}

// The sum of two doubles; to_odd: cut to the last bit, which is set if there is more, so that it can be rounded again.
__device__ double rounded_two(double a, double b, bool to_odd) {
    double sum = a + b;
    if (to_odd) {
        const double part = sum - a, rest = (a - (sum - part)) + (b - part);
        const i64 bits = __double_as_longlong(sum);
        if (rest != 0 && (bits & 1) == 0)
            sum = __longlong_as_double(bits + ((rest > 0) == (sum > 0) ? 1 : -1));
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST) exact_short(const element *in, result *out, const rows p) {
    __shared__ words<16> tiles[WARPS][ROOM / 16];
    __shared__ i64 all_limbs[WARPS][PARTS][LIMBS];
    __shared__ int all_flags[WARPS][PARTS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, t = lane % GROUP;
    const i64 unit = (i64)blockIdx.x * WARPS + warp;
    if (unit >= p.units)
        return;
    const part c = part_of(p, in, unit);
    const bool mean = OPERATION == OP_MEAN;
    char *tile = (char *)tiles[warp];
    const int begin = stage(tile, c, p.k);
    for (int round = 0; round < c.here; round += ROWS) {
        const int number = round + lane / GROUP;
        const bool there = number < c.here;
        double value[PARTS], high = 0;
        bool hard = false;
        int count = 0;
#pragma unroll 1
        for (int which = 0; which < PARTS * HALVES; which++) {
            double x[PER], sum[2];
#pragma unroll
            for (int j = 0; j < PER; j++) {
                const int i = t + j * GROUP;
                bool counts = false;
                x[j] = there && i < p.k
                           ? value_of_part(*(const element *)(tile + spot(begin + (number * p.k + i) * (int)sizeof(element))), which, &counts)
                           : 0;
                count += which == 0 && counts;
            }
            hard = two_sums(x, sum) || hard;
            if (HALVES == 2) { // each is one double
                if (which)
                    value[0] = rounded_two(sum[0], high, NARROWER && !mean);
                high = sum[0];
            } else if (PARTS == 2 && which) {
                value[PARTS - 1] = rounded_two(sum[0], sum[1], NARROWER && !mean);
            } else {
                value[0] = rounded_two(sum[0], sum[1], NARROWER && !mean);
            }
        }
#pragma unroll
        for (int across = GROUP / 2; (mean || OMIT) && across > 0; across /= 2)
            count += __shfl_xor_sync(ALL, count, across);
        result *to = out + c.at_out + number * p.out_step;
        if (there && t == 0 && !hard)
            *to = exact_result(value[0] / (mean ? (double)count : 1), value[PARTS - 1] / (mean ? (double)count : 1));
        for (unsigned rest = __ballot_sync(ALL, there && t == 0 && hard); rest; rest &= rest - 1) {
            i64(*limbs)[LIMBS] = all_limbs[warp], found = 0;
            int *flags = all_flags[warp];
            const int which = round + (__ffs(rest) - 1) / GROUP;
            for (int i = lane; i < PARTS * LIMBS; i += 32)
                limbs[0][i] = 0;
            if (lane < PARTS)
                flags[lane] = 0;
            __syncwarp();
            take_strip(p, c.from + which * p.k, 0, p.k, limbs[0], LIMBS, flags, found);
#pragma unroll
            for (int across = 16; across > 0; across /= 2)
                found += __shfl_xor_sync(ALL, found, across);
            __syncwarp();
            put_rounded(out + c.at_out + which * p.out_step, limbs, flags, found);
            __syncwarp();
        }
    }
}

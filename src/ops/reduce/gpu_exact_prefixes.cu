// SPDX-License-Identifier: Apache-2.0
// gpu_exact_prefixes.cu - exact sums of segments that follow one another, f32 and smaller: a warp copies a stretch of whole ones to shared memory, as gpu_tree_stretches.cu has
// it, and a thread has a segment's sum from sums of all that comes before (gpu_exact_prefix.cuh).
//
// Segments of a stretch that is not known so go by groups (gpu_exact_lengths.cuh). Those longer than a stretch are taken as one run of elements, of which the first warps have
// as much each, a `range`: so all end together, whatever the lengths. A range is cut where a segment ends; what a piece comes to by
// levels (gpu_sure_run.cuh) is rounded if it is a whole segment, else its levels' sums go to the workspace, and `finish`, a warp a segment, takes in those of a segment's pieces. What is then in doubt is
// added up again with digits, by that warp or block.
#include "ops/reduce/gpu_exact_lengths.cuh"
#include "ops/reduce/gpu_exact_prefix.cuh"
#include "ops/reduce/gpu_sure_run.cuh"

struct segments {
    i64 outputs, units; // stretches of an output, and segments that are longer
    i64 ranges, pieces; // of those: warps of an output, pieces
    i64 out_step;       // out from one segment to the next
    run_logs logs;
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

// What a warp has in shared memory.
struct room {
    struct groups {
        i64 limbs[PARTS][LIMBS];
        int flags[PARTS];
    };
    struct stretch {
        words<16> tile[ROOM / 16];
        union {
            groups alone;
            prefixes sums;
        };
    };
    union {
        stretch some;
        sums one; // of a range
    };
};

// Segments of a stretch by groups: of `count`, whose elements are counted from `origin`, those of which a lane has a bit, the lowest for the first thirty-two.
__device__ __noinline__ void put_by_groups(here h, const i64 *offsets, i64 origin, int count, unsigned doubtful) {
    const int lane = threadIdx.x % 32;
    for (int base = 0; base < count; base += 32, h.out += 32 * h.out_step, doubtful >>= 1) {
        if (!__any_sync(ALL, doubtful & 1))
            continue;
        const int number = base + lane < count ? base + lane : count, begin = (int)(offsets[number] - origin);
        const int k = number < count && doubtful & 1 ? (int)(offsets[number + 1] - origin) - begin : -1;
        put_by_length(h, begin, k);
    }
}

// `cuts`: where it begins, and the next one, side by side, all asked for at once.
__device__ __forceinline__ void put_stretch(room::stretch &mine, const element *in, result *out, const i64 *offsets, const i64 *cuts,
                                            const segments &p) {
    const i64 origin = cuts[0], marked = cuts[1], segment = marked >> 1;
    const int lane = threadIdx.x % 32, n = (int)(cuts[2] - origin), count = (int)((cuts[3] >> 1) - segment);
    if (marked & 1 || (n | count) < 0) // a longer one; the others are none, but the compiler puts off no load so
        return;
    char *stretch = (char *)mine.tile;
    out += segment * p.out_step;
    offsets += segment;
    int field, later = (int)(offsets[lane < count ? lane + 1 : count] - origin);
    const int before = stage(stretch, part{in + origin, 0, n}, 1);
    const unsigned tile = in_shared(stretch);
    unsigned doubtful = ~0u;
    prefixes::sums others;
    bool left;
    prefixes::clear_behind(tile, before + n * (int)sizeof(element));
    if (mine.sums.make(tile, field, others, left)) {
        const prefixes::starts from(field);
        const int first = before / (int)sizeof(element);
        prefixes::sums last = from; // what lies before the first element is 0
        int last_end = 0;
        doubtful = 0;
        for (int base = 0; base < count; base += 32) {
            const int end = later, ahead = base + 33 + lane;
            if (base + 32 < count)
                later = (int)(offsets[ahead < count ? ahead : count] - origin);
            const prefixes::sums mine_end = mine.sums.until(tile, first + end, others);
            const int other = __shfl_up_sync(ALL, end, 1), begin = lane > 0 ? other : last_end;
            prefixes::sums mine_begin;
#pragma unroll
            for (int i = 0; i < prefixes::NUMBERS; i++) {
                double &its_last = last.part[i / prefixes::STEPS][i % prefixes::STEPS];
                const double own = mine_end.part[i / prefixes::STEPS][i % prefixes::STEPS], its = __shfl_up_sync(ALL, own, 1);
                mine_begin.part[i / prefixes::STEPS][i % prefixes::STEPS] = lane > 0 ? its : its_last;
                its_last = __shfl_sync(ALL, own, 31);
            }
            last_end = __shfl_sync(ALL, end, 31);
            result whole;
            const bool known = result_between(mine_end, mine_begin, from, left, end - begin, whole), mine_to_put = base + lane < count;
            if (mine_to_put && known)
                out[(base + lane) * p.out_step] = whole;
            if (left)
                doubtful |= mine_to_put && !known ? 1u << base / 32 : 0;
        }
        if (!left || !__any_sync(ALL, doubtful))
            return;
    }
    __syncwarp(); // of the sums nothing is read any more
    put_by_groups(here{stretch, before, out, p.out_step, mine.alone.limbs, mine.alone.flags}, offsets, origin, count, doubtful);
}

// Behind the cuts: of each range its first piece's number, and the number of pieces; two words for each piece: its first element; 2^31 times its segment plus its elements.
__device__ __forceinline__ void put_range(sums &mine, const element *in, result *out, const i64 *offsets, i64 *partial, const i64 *range,
                                          const i64 *pieces, const segments &p) {
    for (i64 number = range[0]; number < range[1]; number++) {
        const i64 at = pieces[2 * number], segment = pieces[2 * number + 1] >> 31, k = pieces[2 * number + 1] & 0x7fffffff;
        put_run_of(mine, in + at, (int)k, offsets[segment + 1] - offsets[segment] == k, p.logs, out + segment * p.out_step,
                   partial + number * SURE_PLACES);
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST)
    exact_prefixes(const element *in, result *out, const i64 *offsets, const i64 *cuts, i64 *partial, const segments p) {
    __shared__ room all[WARPS];
    i64 unit = (i64)blockIdx.x * WARPS + threadIdx.x / 32, output = 0, at_in, at_out;
    const i64 each = p.ranges + p.units, *ranges = cuts + 2 * (p.units + 1);
    if (unit >= p.outputs * each)
        return;
    if (KEPT > 0) {
        output = unit / each;
        unit %= each;
    }
    place_of(p, output, at_in, at_out);
    room &mine = all[threadIdx.x / 32];
    if (unit < p.ranges)
        put_range(mine.one, in + at_in, out + at_out, offsets, partial + output * p.pieces * SURE_PLACES, ranges + unit, ranges + p.ranges + 1, p);
    else
        put_stretch(mine.some, in + at_in, out + at_out, offsets, cuts + 2 * (unit - p.ranges), p);
}

// `tops` has three words for each segment of several pieces: the segment, its first piece's number, how many there are.
extern "C" __global__ void __launch_bounds__(32 * TOP_WARPS)
    finish(const element *in, result *out, const i64 *offsets, const i64 *partial, const i64 *tops, i64 count, const segments p) {
    put_tops<TOP_WARPS>(
        [&](int warp) {
            const i64 unit = (i64)blockIdx.x * TOP_WARPS + warp, output = KEPT > 0 ? unit / count : 0, *its = tops + 3 * (unit - output * count);
            if (unit >= p.outputs * count)
                return top{};
            i64 at_in, at_out;
            place_of(p, output, at_in, at_out);
            const i64 begin = offsets[its[0]];
            return top{in + at_in + begin, offsets[its[0] + 1] - begin, out + at_out + its[0] * p.out_step,
                       partial + (output * p.pieces + its[1]) * SURE_PLACES, its[2]};
        },
        p.logs);
}

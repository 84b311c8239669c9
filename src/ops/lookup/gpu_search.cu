// SPDX-License-Identifier: Apache-2.0
// gpu_search.cu - production, compact coordinates among positions: a place costs two reads, its bucket and its record, and one more where the bucket has a position
// before it.
//
// What lies between the ends is divided into buckets of equal width, two or four an entry, as in cpu_positions.c. A bucket knows the first entry that a place of
// its may have, and how many steps a bisection among its own positions takes. A first launch writes buckets and, an entry, a record of 32 bytes, one sector: two
// positions, their values, and where these are of 4 bytes the reciprocal of the distance. A place reads the record of its bucket's first entry; where it lies
// beyond that one's second position, it goes on from record to record, or by bisection where the bucket has more than three. So nothing
// needs shared memory: small tables stay in the first-level cache, large ones in the second-level one.
//
// In order places are bound by instructions, a division of f64 most of them. -DCOMPUTE=T_F32: two corrections of a product by the reciprocal give the quotient
// with its one rounding (Markstein: a remainder that is exact, of a quotient off by less than its last place), where nothing comes near the ends of the
// exponents. Places for which that is not so, and those that are NaN or lie outside, take the long way.
//
//     -DEARLY=1: values are read with the positions, before the entry is known to be the right one: for records that no first-level cache holds
#include "ops/lookup/gpu_lines.cuh"
#include "ops/lookup/gpu_among.cuh"

// Narrow places have their buckets in f32: a position is rounded first, which keeps the order.
#if INDEX == T_F64
typedef double place;
#else
typedef float place;
#endif

struct alignas(16) position_pair {
    double a, b;
};
#if COMPUTE == T_F32
struct alignas(16) value_pair {
    double reciprocal, both; // 0: the long way; the two values, so that one instruction reads all
    __device__ __forceinline__ float y() const { return __int_as_float(__double2loint(both)); }
    __device__ __forceinline__ float z() const { return __int_as_float(__double2hiint(both)); }
};
__device__ __forceinline__ value_pair pair_of(double apart, float y, float z) {
    return {apart >= 0x1p-500 && apart <= 0x1p500 ? 1 / apart : 0, __hiloint2double(__float_as_int(z), __float_as_int(y))};
}
#else
struct alignas(16) value_pair {
    double first, second;
    __device__ __forceinline__ double y() const { return first; }
    __device__ __forceinline__ double z() const { return second; }
};
__device__ __forceinline__ value_pair pair_of(double, double y, double z) { return {y, z}; }
#endif
struct alignas(32) entry_record {
    position_pair at;
    value_pair value;
};

// What a bucket tells: an entry, and above it the steps.
enum { ENTRY_BITS = 27 };
__device__ __forceinline__ unsigned entry_of_bucket(unsigned bucket) { return bucket & ((1u << ENTRY_BITS) - 1); }

struct buckets_by {
    place low, scale, top;    // the first position, buckets a unit of length, the last bucket's number
    place at_least, at_most; // the ends of what lies among the positions
};

// Never less for a greater x; NaN: the last one.
__device__ __forceinline__ unsigned bucket_of(place x, const buckets_by &b) {
    place number = (x - b.low) * b.scale;
    number = number < b.top ? number : b.top;
    number = number > 0 ? number : 0;
    return (unsigned)(int)number;
}

// How many positions lie in buckets before number b.
__device__ unsigned before_bucket(const double *positions, unsigned b, const among &m, const buckets_by &by) {
    unsigned count = 0;
    for (unsigned half = m.half; half > 0; half /= 2) {
        const unsigned next = count + half;
        if (next <= m.n && bucket_of((place)positions[next - 1], by) < b)
            count = next;
    }
    return count;
}

struct table_lines {
    i64 n, step, line, lines; // entries, bytes between them; bytes between lines, lines
};

extern "C" __global__ void __launch_bounds__(256) prepare(const char *table, entry_record *records, unsigned *buckets, const double *positions,
                                                          const table_lines p, const among m, const buckets_by by) {
    const i64 item = blockIdx.x * 256ll + threadIdx.x;
    if (item < p.n * p.lines) {
        const i64 at = item % p.n, next = at + 1 < p.n ? at + 1 : at;
        const char *line = table + item / p.n * p.line;
        const double a = positions[at], b = positions[next];
        records[item] = {{a, b}, pair_of(b - a, entry_value(line, at, p.step), entry_value(line, next, p.step))};
    }
    if (item <= (i64)by.top) {
        const unsigned count = before_bucket(positions, (unsigned)item, m, by), end = before_bucket(positions, (unsigned)item + 1, m, by);
        buckets[item] = entry_before(count, m.n) | (end > count ? 32u - __clz(end - count) : 0u) << ENTRY_BITS;
    }
}

// The same bits as `between`; false: it is to be asked.
__device__ __forceinline__ bool quick(double x, const position_pair &p, const value_pair &v, to_type &result) {
    const double distance = x - p.a, apart = p.b - p.a;
    const unsigned high = __double2hiint(distance);
#if COMPUTE == T_F32
    const bool good = (high - 0x20b00000u < 0x3e800000u | distance == 0) & __double2hiint(v.reciprocal) != 0; // 2^-500 to 2^500, or 0
    double share = distance * v.reciprocal;
    share = fma(fma(-share, apart, distance), v.reciprocal, share);
    share = fma(fma(-share, apart, distance), v.reciprocal, share);
#else
    const bool good = high < 0x7ff00000u;
    const double share = distance / apart;
#endif
    const bool second = x >= p.b; // only of the last position and behind it
    if (METHOD == NEAREST) {
        result = result_of(second | share >= 0.5 ? v.z() : v.y());
    } else {
        const real t = second ? 0 : (real)share, first = second ? v.z() : v.y(), value = fused(t, v.z() - v.y(), v.y());
        result = result_of(t == 0 ? first : value);
    }
    return good;
}

struct searched {
    const entry_record *records;
    const unsigned *buckets;
    const double *positions;
    u64 *bad;
    const among &m;
    const buckets_by &by;
    element fill;

    __device__ __forceinline__ void read(unsigned at, position_pair &around, value_pair &value) const {
        around = records[at].at;
        if (EARLY)
            value = records[at].value;
    }

    __device__ __forceinline__ bool inside(place x) const { return x >= by.at_least && x <= by.at_most; }

    // N places side by side.
    template <int N> __device__ __forceinline__ void find(const index_type *v, element *out) const {
        double x[N];
        unsigned bucket[N], at[N];
        position_pair around[N];
        value_pair value[N];
        bool on[N], good[N], again = false, many = false, long_way = false;
        const unsigned last = max(m.n, 2u) - 2;
#pragma unroll
        for (int j = 0; j < N; j++)
            bucket[j] = buckets[bucket_of(load_as<place, INDEX>(v[j]), by)];
#pragma unroll
        for (int j = 0; j < N; j++) {
            x[j] = load_as<double, INDEX>(v[j]);
            at[j] = entry_of_bucket(bucket[j]);
            read(at[j], around[j], value[j]);
        }
#pragma unroll
        for (int j = 0; j < N; j++) {
            on[j] = x[j] >= around[j].b;
            again = again | on[j];
            many = many | (on[j] & bucket[j] >= 3u << ENTRY_BITS);
        }
        if (many)
#pragma unroll
            for (int j = 0; j < N; j++)
                if (on[j] & bucket[j] >= 3u << ENTRY_BITS) {
                    unsigned count = at[j] + 1;
                    for (unsigned half = 1u << ((bucket[j] >> ENTRY_BITS) - 1); half > 0; half /= 2)
                        count = step_on(positions, x[j], count, half, m.n);
                    at[j] = entry_before(count, m.n);
                    read(at[j], around[j], value[j]);
                    on[j] = false;
                }
#pragma unroll 1
        for (int turn = 0; turn < 3 && again; turn++) {
            again = false;
#pragma unroll
            for (int j = 0; j < N; j++)
                if (on[j]) {
                    at[j] = min(at[j] + 1, last);
                    read(at[j], around[j], value[j]);
                }
#pragma unroll
            for (int j = 0; j < N; j++) {
                on[j] = on[j] & x[j] >= around[j].b;
                again = again | on[j];
            }
        }
#pragma unroll
        for (int j = 0; j < N && !EARLY; j++)
            value[j] = records[at[j]].value;
#pragma unroll
        for (int j = 0; j < N; j++) {
            to_type result;
            good[j] = quick(x[j], around[j], value[j], result);
            out[j] = as<element>(result);
            long_way = long_way | !good[j];
        }
        if (long_way)
#pragma unroll
            for (int j = 0; j < N; j++)
                if (!good[j])
                    out[j] = as<element>(between(x[j], around[j].a, around[j].b, value[j].y(), value[j].z(), m));
#pragma unroll
        for (int j = 0; j < N && OUTSIDE == FILL; j++)
            out[j] = chosen(inside(load_as<place, INDEX>(v[j])), out[j], fill);
    }

    __device__ __forceinline__ void check(index_type v, i64 position) const {
        if (OUTSIDE == ERROR && !inside(load_as<place, INDEX>(v)))
            note(bad, position);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, (V > 4 ? 512 : 1024) / THREADS)
    search(const entry_record *records, const index_type *index, element *out, u64 *bad, const lines p, const uint4 fill, const unsigned *buckets,
           const double *positions, const among m, const buckets_by by) {
    i64 chunk = blockIdx.x;
    if (LINES) {
        unsigned line = blockIdx.x / (unsigned)p.blocks;
        chunk = blockIdx.x % (unsigned)p.blocks;
        records += line * p.n;
        out += line * p.out_line;
    }
    searched job = {records, buckets, positions, bad, m, by};
    cut(fill, job.fill);
    const vectors_of_thread mine(index, chunk, p.count);
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        const i64 first = mine.place(g);
        if (mine.whole(g)) {
            results r;
            job.find<V>(mine.v[g].part, r.part);
            *(bits_of<V * SIZE>::type *)(out + first) = r.all;
#pragma unroll
            for (int j = 0; j < V; j++)
                job.check(mine.v[g].part[j], first + j);
        } else {
            for (i64 i = first; i < p.count; i++) {
                job.find<1>(index + i, out + i);
                job.check(index[i], i);
            }
        }
    }
}

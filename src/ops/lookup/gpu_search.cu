// SPDX-License-Identifier: Apache-2.0
// gpu_search.cu - production, compact coordinates among positions: a place costs two reads, its bucket and its record, and one more where the bucket has a position
// before it.
//
// What lies between the ends is divided into buckets of equal width, two an entry, as in cpu_positions.c. A bucket knows how many positions lie in the
// buckets before it, and how many steps a bisection among its own takes: one for nearly all of even or random positions. A first launch writes buckets and, an
// entry, a record of 32 bytes, one sector: two positions and their values. A place reads the record before its bucket; where it lies beyond
// that one's second position, it goes on to the next, or searches. So nothing needs shared memory: small tables stay in the first-level cache, large
// ones in the second-level one, and a bisection of 20 steps becomes two or three reads.
#include "ops/lookup/gpu_lines.cuh"
#include "ops/lookup/gpu_among.cuh"

struct alignas(16) position_pair {
    double a, b;
};
struct alignas(2 * sizeof(real)) value_pair {
    real y, z;
};
struct alignas(32) entry_record {
    position_pair at;
    value_pair value;
};

// A bucket: positions in those before it, and above them the steps among its own.
enum { COUNT_BITS = 27 };

// Never less for a greater x; NaN: the last one.
__device__ __forceinline__ unsigned bucket_of(double x, const among &m) {
    double number = (x - m.low) * m.scale;
    number = number < m.top ? number : m.top;
    number = number > 0 ? number : 0;
    return (unsigned)(int)number;
}

// How many positions lie in buckets before number b.
__device__ unsigned before_bucket(const double *positions, unsigned b, const among &m) {
    unsigned count = 0;
    for (unsigned half = m.half; half > 0; half /= 2) {
        const unsigned next = count + half;
        if (next <= m.n && bucket_of(positions[next - 1], m) < b)
            count = next;
    }
    return count;
}

struct table_lines {
    i64 n, step, line, lines; // entries, bytes between them; bytes between lines, lines
};

extern "C" __global__ void __launch_bounds__(256)
    prepare(const char *table, entry_record *records, unsigned *buckets, const double *positions, const table_lines p, const among m) {
    const i64 item = blockIdx.x * 256ll + threadIdx.x;
    if (item < p.n * p.lines) {
        const i64 at = item % p.n, next = at + 1 < p.n ? at + 1 : at;
        const char *line = table + item / p.n * p.line;
        records[item] = {{positions[at], positions[next]}, {entry_value(line, at, p.step), entry_value(line, next, p.step)}};
    }
    if (item <= (i64)m.top) {
        const unsigned count = before_bucket(positions, (unsigned)item, m), end = before_bucket(positions, (unsigned)item + 1, m);
        buckets[item] = count | (end > count ? 32u - __clz(end - count) : 0u) << COUNT_BITS;
    }
}

struct search_job {
    struct spot {
        double x;
        unsigned at, bucket;
        position_pair around;
    };
    struct entry_type {
        position_pair around;
        value_pair value;
    };
    const entry_record *records;
    const unsigned *buckets;
    const double *positions;
    u64 *bad;
    const among &m;
    element fill;
    __device__ __forceinline__ bool find(index_type v, spot &s) const {
        s.x = load_as<double, INDEX>(v);
        s.bucket = buckets[bucket_of(s.x, m)];
        s.at = entry_before(s.bucket & ((1u << COUNT_BITS) - 1), m.n);
        s.around = records[s.at].at;
        return is_among(s.x, m);
    }
    __device__ __forceinline__ entry_type read(const spot &s) const {
        unsigned at = s.at, steps = s.bucket >> COUNT_BITS;
        position_pair around = s.around;
        if (steps > 0 && s.x >= around.b) {
            unsigned count = s.bucket & ((1u << COUNT_BITS) - 1);
            for (unsigned half = 1u << (steps - 1); half > 0; half /= 2)
                count = step_on(positions, s.x, count, half, m.n);
            at = entry_before(count, m.n);
            around = records[at].at;
        }
        return {around, records[at].value};
    }
    __device__ __forceinline__ element make(const spot &s, const entry_type &e, bool inside) const {
        const element value = as<element>(between(s.x, e.around.a, e.around.b, e.value.y, e.value.z, m));
        return OUTSIDE == FILL ? chosen(inside, value, fill) : value;
    }
    __device__ __forceinline__ void late(index_type v, i64 position, element &result) const {
        if (OUTSIDE == ERROR)
            note(bad, position);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, (V > 4 ? 512 : 1024) / THREADS)
    search(const entry_record *records, const index_type *index, element *out, u64 *bad, const lines p, const uint4 fill, const unsigned *buckets,
           const double *positions, const among m) {
    i64 chunk = blockIdx.x;
    if (LINES) {
        unsigned line = blockIdx.x / (unsigned)p.blocks;
        chunk = blockIdx.x % (unsigned)p.blocks;
        records += line * p.n;
        out += line * p.out_line;
    }
    search_job job = {records, buckets, positions, bad, m};
    cut(fill, job.fill);
    each_vector(vectors_of_thread(index, chunk, p.count), index, out, job);
}

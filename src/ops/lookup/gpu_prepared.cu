// SPDX-License-Identifier: Apache-2.0
// gpu_prepared.cu - production, compact coordinates: a first launch prepares the table, so that a point reads one place.
//
// Read where they lie, the two (four) neighbours of a point are two (four) requests to the first-level cache, their conversion and the handling of ends is
// done again for every point. `prepare` writes a record an entry: for NEAREST the finished element, for LINEAR value and difference, for CUBIC four coefficients;
// `prepared` then is gpu_vectors.cu with a formula. The records must stay in the cache, so this is for tables of some thousand entries.
#include "ops/lookup/gpu_beside.cuh"
#include "ops/lookup/gpu_place.cuh"

#if METHOD == NEAREST
typedef to_type prepared_entry;
#else
typedef record prepared_entry;
#endif

struct table_lines {
    i64 n, step, line, lines; // entries, bytes between them; bytes between lines, lines
};

extern "C" __global__ void __launch_bounds__(256) prepare(const char *table, prepared_entry *records, const table_lines p) {
    i64 item = blockIdx.x * 256ll + threadIdx.x;
    if (item >= p.n * p.lines)
        return;
    const char *line = table + item / p.n * p.line;
#if METHOD == NEAREST
    records[item] = result_of(entry_value(line, item % p.n, p.step));
#else
    records[item] = record_at(line, item % p.n, p.n, p.step);
#endif
}

struct interpolation {
    typedef point spot;
    typedef prepared_entry entry_type;
    const prepared_entry *records;
    u64 *bad;
    i64 n;
    element fill;
    __device__ __forceinline__ bool find(index_type v, point &p) const { return find_point(v, (spot_number)n, p); }
    __device__ __forceinline__ prepared_entry read(const point &p) const { return records[p.at]; }
    __device__ __forceinline__ element value(const point &p, const prepared_entry &x) const {
#if METHOD == NEAREST
        return as<element>(x);
#else
        return as<element>(result_of(value_at(x, p.t)));
#endif
    }
    __device__ __forceinline__ element make(const point &p, const prepared_entry &x, bool inside) const { return OUTSIDE == FILL ? chosen(inside, value(p, x), fill) : value(p, x); }
    __device__ __forceinline__ void next() { records += n; }
    __device__ __forceinline__ void late(index_type v, i64 position, element &result) const {
        if (OUTSIDE == WRAP) {
            point p;
            result = wrapped_point(load_as<double, INDEX>(v), n, p) ? value(p, read(p)) : as<element>(no_number());
        } else if (OUTSIDE == ERROR) {
            note(bad, position);
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    prepared(const prepared_entry *records, const index_type *index, element *out, u64 *bad, const lines p, const uint4 fill) {
    const i64 group = LINES ? blockIdx.x / (unsigned)p.blocks : 0, chunk = LINES ? blockIdx.x % (unsigned)p.blocks : blockIdx.x, line = group * p.served;
    interpolation job = {records, bad, p.n};
    cut(fill, job.fill);
    const vectors_of_thread mine(index, chunk, p.count);
    if (!LINES) {
        each_vector(mine, index, out, job);
        return;
    }
    job.records += line * p.n;
    each_line(mine, index, out + line * p.out_line, p.out_line, (int)min(p.served, p.all - line), job);
}

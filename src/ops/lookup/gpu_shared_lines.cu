// SPDX-License-Identifier: Apache-2.0
// gpu_shared_lines.cu - many lines of a table by the same indices, columns taken at random: a line lies in shared memory while it is looked up.
//
// Through the cache each lookup in a line that nobody has read yet asks L2 for a sector of its own, eight times what is wanted of it. Here a block brings the stretch of memory that
// holds its lines in order, whole vectors as they lie, by asynchronous copies, and all that is out of order happens in shared memory. Several blocks are at work on a multiprocessor, some on their way in and
// some looking up. The next indices are asked for before this turn's entries: they come from L2, for every block reads the same.
//
// -DHELD lines a block, that follow each other in the table; the rest as in gpu_lines.cuh, where a block's turn is GROUPS x THREADS x V indices.
#include "ops/lookup/gpu_lines.cuh"

struct shared_lines {
    lines each; // blocks: turns of a block
    i64 all;    // lines in all
};

struct held_line {
    typedef entry spot;
    typedef element entry_type;
    const element *line;
    u64 *bad;
    i64 n;
    element fill;
    __device__ __forceinline__ bool find(index_type v, spot &at) const { return find_entry(v, n, at); }
    __device__ __forceinline__ element read(spot at) const { return line[at]; }
    __device__ __forceinline__ element make(spot, element x, bool inside) const { return OUTSIDE == FILL ? chosen(inside, x, fill) : x; }
    __device__ __forceinline__ void late(index_type v, i64 position, element &result) const {
        entry at;
        if (OUTSIDE == WRAP) {
            entry_of(v, n, at);
            result = read(at);
        } else if (OUTSIDE == ERROR) {
            note(bad, position);
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    shared_lines(const element *table, const index_type *index, element *out, u64 *bad, const struct shared_lines p, const uint4 fill) {
    extern __shared__ uint4 room[];
    const i64 first = blockIdx.x * (i64)HELD;
    const int held = HELD == 1 ? 1 : (int)(p.all - first < HELD ? p.all - first : HELD);
    vectors_of_thread mine(index, 0, p.each.count);
    const element *from = table + first * p.each.table_line;
    const int skew = (int)((u64)from & 15) / SIZE, count = (int)p.each.n + (held - 1) * (int)p.each.table_line; // elements
    const uint4 *whole = (const uint4 *)(from - skew);
    const int begin = skew > 0, end = (skew + count) / (16 / SIZE);
    for (int i = begin + threadIdx.x; i < end; i += THREADS)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(room + i)), "l"(whole + i) : "memory");
    element *laid = (element *)room + skew;
    const int before = skew > 0 ? min(16 / SIZE - skew, count) : 0, behind = count - before - max(end - begin, 0) * (16 / SIZE); // of no whole vector
    if ((int)threadIdx.x < before + behind) {
        const int i = (int)threadIdx.x < before ? (int)threadIdx.x : (int)threadIdx.x - before + count - behind;
        laid[i] = __ldg(from + i);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    held_line job = {laid, bad, p.each.n};
    cut(fill, job.fill);
    out += first * p.each.out_line;
    for (i64 turn = 0; turn < p.each.blocks; turn++) {
        const vectors_of_thread next(index, turn + 1, p.each.count);
#pragma unroll
        for (int h = 0; h < HELD; h++)
            if (h < held) {
                job.line = laid + h * (int)p.each.table_line;
                each_vector(mine, index, out + h * p.each.out_line, job);
            }
        mine = next;
    }
}

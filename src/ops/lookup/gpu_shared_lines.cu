// SPDX-License-Identifier: Apache-2.0
// gpu_shared_lines.cu - many lines of a table by the same indices, columns taken at random: a line lies in shared memory while it is looked up.
//
// Through the cache each lookup in a line that nobody has read yet asks L2 for a sector of its own, eight times what is wanted of it. Here a block brings the stretch of memory that
// holds its lines in order, whole vectors as they lie, by asynchronous copies, and all that is out of order happens in shared memory. Several blocks are at work on a multiprocessor, some on their way in and
// some looking up. The next indices are asked for before this turn's entries: they come from L2, for every block reads the same.
//
// Short lines with many indices go several to a block, which then has a part of the indices: they are read once for all its lines. -D as in gpu_lines.cuh; a turn is what the block's
// threads have at once.
#include "ops/lookup/gpu_beside.cuh"
#include "ops/lookup/gpu_bring.cuh"

struct shared_lines {
    lines each; // blocks: of the same lines
    i64 turns;  // of a block
};

struct held_line {
    typedef entry spot;
    typedef element entry_type;
    const element *line;
    u64 *bad;
    i64 n, step;
    element fill;
    __device__ __forceinline__ bool find(index_type v, spot &at) const { return find_entry(v, n, at); }
    __device__ __forceinline__ element read(spot at) const { return line[at]; }
    __device__ __forceinline__ element make(spot, element x, bool inside) const { return OUTSIDE == FILL ? chosen(inside, x, fill) : x; }
    __device__ __forceinline__ void next() { line += step; }
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
    const i64 first = blockIdx.x / (unsigned)p.each.blocks * p.each.served, begin_turn = blockIdx.x % (unsigned)p.each.blocks * p.turns;
    const int held = (int)min(p.each.served, p.each.all - first);
    vectors_of_thread mine(index, begin_turn, p.each.count);
    const element *laid = bring<THREADS>(room, table + first * p.each.table_line, (int)p.each.n + (held - 1) * (int)p.each.table_line);
    held_line job = {laid, bad, p.each.n, p.each.table_line};
    cut(fill, job.fill);
    out += first * p.each.out_line;
    for (i64 turn = begin_turn; turn < begin_turn + p.turns; turn++) {
        const vectors_of_thread next(index, turn + 1, p.each.count);
        each_line(mine, index, out, p.each.out_line, held, job);
        mine = next;
    }
}

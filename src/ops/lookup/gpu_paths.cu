// SPDX-License-Identifier: Apache-2.0
// gpu_paths.cu - the ladder: one lookup a thread, out[i] = table[index[i]], with the table behind one of four paths. -DPATH=, -DENTRIES=
//
//   GLOBAL     ld.global. The first-level cache serves 128 bytes of one line a cycle: lanes that want entries of several lines take several turns.
//   CONSTANT   __constant__ memory. What GLOBAL wasted when all lanes want the same entry: a line of cache for one word. The constant cache hands one
//              address to a whole warp at once, and pays with a replay for every further address: 36 entries apart, up to 32 of them.
//   READ_ONLY  ld.global.nc (__ldg). What CONSTANT wasted: the replays. Since Maxwell this is the first-level cache again, so it equals GLOBAL;
//              on Kepler, where plain loads went past that cache, it did not.
//   SHARED     a copy in shared memory. What GLOBAL wasted on scattered entries: whole lines. 32 banks serve 32 different words at once when they
//              lie in different banks; but each block loads the whole table and waits for it.
//
// Neither form of index is in the kernel: lanes that differ (index i % 36, "divergent") and lanes that agree ("broadcast") are data.
#include "ops/lookup/gpu_index.cuh"

#define GLOBAL 0
#define CONSTANT 1
#define READ_ONLY 2
#define SHARED 3
typedef bits_of<SIZE>::type element;

#if PATH == CONSTANT
extern "C" __constant__ element constant_table[ENTRIES];
#endif

struct lookups {
    i64 n, count;
};

extern "C" __global__ void __launch_bounds__(256)
    path(const element *table, const index_type *index, element *out, u64 *bad, const lookups p, const uint4 fill) {
    i64 i = blockIdx.x * 256ll + threadIdx.x;
    element result;
    entry at;
#if PATH == SHARED
    __shared__ element copy[ENTRIES];
    for (int k = threadIdx.x; k < ENTRIES; k += 256)
        copy[k] = table[k];
    __syncthreads();
#endif
    if (i >= p.count)
        return;
    if (entry_of(index[i], p.n, at)) {
#if PATH == GLOBAL
        result = table[at];
#elif PATH == CONSTANT
        result = constant_table[at];
#elif PATH == READ_ONLY
        result = __ldg(table + at);
#else
        result = copy[at];
#endif
    } else {
        cut(fill, result);
        if (OUTSIDE == ERROR)
            note(bad, i);
    }
    out[i] = result;
}

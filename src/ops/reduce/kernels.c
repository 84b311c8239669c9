/* SPDX-License-Identifier: Apache-2.0
 * kernels.c - picks the kernels of an instruction set. */
#include "core/maker.h"
#include "ops/reduce/reduce.h"

#define DECLARE(slot, suffix)                                               \
    extern const reduce_lane_kernels tess_reduce_lane_kernels_##suffix;     \
    extern const reduce_order_kernels tess_reduce_order_kernels_##suffix;   \
    extern const reduce_map_kernels tess_reduce_map_kernels_##suffix;       \
    extern const reduce_column_kernels tess_reduce_column_kernels_##suffix; \
    extern const reduce_short_kernels tess_reduce_short_kernels_##suffix;   \
    extern const reduce_row_kernels tess_reduce_row_kernels_##suffix;       \
    extern const reduce_eight_kernels tess_reduce_eight_kernels_##suffix;   \
    extern const reduce_stream_kernels tess_reduce_stream_kernels_##suffix; \
    extern const reduce_direct_kernels tess_reduce_direct_kernels_##suffix; \
    extern const reduce_beside_kernels tess_reduce_beside_kernels_##suffix; \
    extern const reduce_exact_kernels tess_reduce_exact_kernels_##suffix;
TESS_BUILDS(DECLARE)

#define KERNELS(slot, suffix)                                                                                                   \
    [slot] = {&tess_reduce_lane_kernels_##suffix,   &tess_reduce_order_kernels_##suffix,  &tess_reduce_map_kernels_##suffix,    \
              &tess_reduce_column_kernels_##suffix, &tess_reduce_short_kernels_##suffix,  &tess_reduce_row_kernels_##suffix,    \
              &tess_reduce_eight_kernels_##suffix,  &tess_reduce_stream_kernels_##suffix, &tess_reduce_direct_kernels_##suffix, \
              &tess_reduce_beside_kernels_##suffix, &tess_reduce_exact_kernels_##suffix},
static const reduce_kernels kernels[TESS_SLOTS] = {TESS_BUILDS(KERNELS)};

/* Of a set that the library was built without (SLOTS), those of the next one below, whose results are the same. */
const reduce_kernels *tess_reduce_kernels_for(tess_isa_slot slot) {
    while (!kernels[slot].lane)
        slot--;
    return &kernels[slot];
}

/* The AVX2 build's loops are those of AVX-512 by vectors of 32 bytes. */
const reduce_kernels *tess_reduce_reading_kernels(tess_isa_slot slot, bool cached) {
    return tess_reduce_kernels_for(slot == TESS_SLOT_AVX512 && !cached && tess_cpu_reads_halves() ? TESS_SLOT_AVX2 : slot);
}

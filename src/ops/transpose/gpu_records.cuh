// SPDX-License-Identifier: Apache-2.0
// gpu_records.cuh - matrices with a short side: records of C elements that follow each other in memory on one side, C long rows on the other.
//
// A tile of 32 x 32 of three columns is mostly not there. Here a block takes a piece of the memory of the records, whatever their length, and the pieces of C
// rows that hold the same elements. Records lie in shared memory as they do in global memory; a lane has V elements of a row, a vector, which stand C apart there.
// ACROSS rows x 32 / ACROSS vectors make a warp: for odd C the vectors of 8 lanes lie in banks 4 apart and 4 rows between them. Where C is even lanes would meet,
// and a vector is left free after every eight (SPARE).
//
// -DC elements a record, -DACROSS, -DSPARE=0|1, -DROWS vectors of a row that a block has, -DTHREADS, -DSIZE and -DBATCH as in gpu_plane.cuh.
#ifndef TESS_TRANSPOSE_RECORDS_CUH
#define TESS_TRANSPOSE_RECORDS_CUH
#include "ops/transpose/gpu_plane.cuh"

enum {
    V = 16 / SIZE,
    RECORD = C * SIZE,                                 // bytes
    ALONG = 32 / ACROSS,                               // vectors of a row side by side in a warp
    TURNS = (C + ACROSS - 1) / ACROSS * (ROWS / ALONG), // warps' worth of vectors
    WARPS = THREADS / 32
};
static_assert(ROWS % ALONG == 0, "warps have whole groups of vectors");

union vector {
    uint4 all;
    element one[V];
    unsigned word[4];
};

// Where byte b of the records is in shared memory.
__device__ int spot(int b) { return SPARE ? b + (b >> 7) * 16 : b; }

// Which row and which vector of it a lane has in turn n.
__device__ int row_of(int n) { return n / (ROWS / ALONG) * ACROSS + threadIdx.x % 32 / ALONG; }
__device__ int vector_of(int n) { return n % (ROWS / ALONG) * ALONG + threadIdx.x % ALONG; }
#endif

// SPDX-License-Identifier: Apache-2.0
// gpu_laid_rows.cuh - windows over pixels, which reach many elements beside a lane's own and maybe two lanes away: a warp lays a finished row of sums down in shared memory and reads them by
// vectors. After gpu_window.cuh.
//
// A row has two places that take turns, so that one meeting a row is enough: when the lanes meet for the next row, all have read this one. Vector number n of a lane lies with those of the same
// number, so that lanes meet in no bank; LAPS vectors before and behind are zeros, of which nothing comes.
//
// -DV, a multiple of 4; -DNEAR: a lane's outputs begin so many columns behind its own.
#ifndef NEAR
#define NEAR 0
#endif
enum {
    REACH = LEFT - NEAR > RIGHT + NEAR ? LEFT - NEAR : RIGHT + NEAR,
    LAPS = REACH > V ? 2 : 1,
    LAID_STEP = 32 + 2 * LAPS,                 // vectors of one number
    LAID_PLACE = V / 4 * LAID_STEP,            // vectors of a row
    LAID_ROOM = GROUP > 1 ? 2 * LAID_PLACE : 0 // of a warp
};

struct laid_row {
    uint4 *own, *other; // the lane's place, for this row and the next

    // The window of a lane's outputs. Each vector is read in one piece, and no later than it stands here.
    __device__ __forceinline__ void share(work (&window)[LEFT + V + RIGHT], const work (&row)[V]) {
        const int VECTORS = V / 4, BEGIN = NEAR - LEFT, FROM = BEGIN >= 0 ? BEGIN / 4 : -((3 - BEGIN) / 4), COUNT = (NEAR + V + RIGHT + 3) / 4 - FROM;
        work wide[4 * COUNT];
#pragma unroll
        for (int n = 0; n < VECTORS; n++)
            own[n * LAID_STEP] = make_uint4(__float_as_uint(row[4 * n]), __float_as_uint(row[4 * n + 1]), __float_as_uint(row[4 * n + 2]),
                                            __float_as_uint(row[4 * n + 3]));
        __syncwarp();
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const int n = FROM + i, lane = n >= 0 ? n / VECTORS : -((VECTORS - 1 - n) / VECTORS);
            if (lane != 0)
                asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                             : "=f"(wide[4 * i]), "=f"(wide[4 * i + 1]), "=f"(wide[4 * i + 2]), "=f"(wide[4 * i + 3])
                             : "r"((unsigned)__cvta_generic_to_shared(own) + (unsigned)(((n - lane * VECTORS) * LAID_STEP + lane) * 16)));
        }
#pragma unroll
        for (int i = 0; i < LEFT + V + RIGHT; i++) {
            const int at = BEGIN + i;
            window[i] = at < 0 || at >= V ? wide[at - 4 * FROM] : row[at < 0 || at >= V ? 0 : at];
        }
        uint4 *const next = other;
        other = own;
        own = next;
    }
};

// The zeros in a warp's room; a lane's places in it.
__device__ __forceinline__ void lay_ends(int lane, uint4 *room) {
    if (lane < V / 4 * 4 * LAPS)
        room[lane / (2 * LAPS) * LAID_STEP + lane % (2 * LAPS) + (lane % (2 * LAPS) < LAPS ? 0 : 32)] = make_uint4(0, 0, 0, 0);
}
__device__ __forceinline__ laid_row places_at(uint4 *own) { return {own, own + LAID_PLACE}; }

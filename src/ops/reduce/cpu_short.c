/* SPDX-License-Identifier: Apache-2.0
 * cpu_short.c - short rows turned into columns: alone, a row of 16 elements keeps a vector unit busy for one addition and waits for the rest of its
 * halving tree; many of them, turned so that term j of every row lies in one vector, halve together and their results come out side by side. */
#include <string.h>

#include "ops/reduce/short_across.h"
#include "ops/reduce/short_dense.h"
#include "ops/reduce/short_extremes.h"
#include "ops/reduce/short_kinds.h"
#include "ops/reduce/short_lines.h"
#include "ops/reduce/short_narrow.h"
#include "ops/reduce/short_sums.h"
#include "ops/reduce/short_tiny.h"
#include "ops/reduce/short_trees.h"
#include "ops/reduce/short_whole.h"
#include "ops/transpose/transpose.h"
#include "simd/gather.h"
#include "simd/tile.h"

/* Tiles of a line a side, then of 16 bytes a side, the last ones over part of those before; what is narrower element by element. */
#define TURN(S)                                                                                                                           \
    TILE_OF(S, false)                                                                                                                     \
    static TESS_NOINLINE void small_tile_##S(char *to, int64_t to_step, const char *from, int64_t from_step) {                            \
        small_tile_generic(S, to, to_step, from, from_step);                                                                              \
    }                                                                                                                                     \
    static void tiles_##S(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t columns) {                \
        const int64_t shorter = tess_min64(rows, columns), side = shorter >= 64 / S ? 64 / S : shorter >= 16 / S ? 16 / S : 1;            \
        const int64_t next = tess_max64(reduce_short_ahead(false), ROWS * from_step); /* the rows of the next turn, no nearer */          \
        const bool near = from_step >= 0 && from_step <= 1024;                        /* what lies some rows ahead will be wanted soon */ \
        for (int64_t r = 0; r < rows; r += side) {                                                                                        \
            r = tess_min64(r, rows - side);                                                                                               \
            for (int64_t c = 0; c < columns; c += side) {                                                                                 \
                c = tess_min64(c, columns - side);                                                                                        \
                char *d = to + c * to_step + r * S;                                                                                       \
                const char *s = from + r * from_step + c * S;                                                                             \
                if (side == 64 / S)                                                                                                       \
                    tile_##S(d, to_step, s, from_step, near ? s + next : NULL, false);                                                    \
                else if (side > 1)                                                                                                        \
                    small_tile_##S(d, to_step, s, from_step);                                                                             \
                else                                                                                                                      \
                    memcpy(d, s, S);                                                                                                      \
            }                                                                                                                             \
        }                                                                                                                                 \
    }
TURN(1)
TURN(2)
TURN(4)
TURN(8)
TURN(16)

#define turn_1 tiles_1
#define turn_2 tiles_2
#define turn_16 tiles_16
/* Rows of less than 16 bytes: a vector is gathered down each of their columns. */
static void turn_4(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t columns) {
    v_i32 offsets;
    if (from_step == columns * 4 && rows == ROWS && turn_dense_4(to, to_step, from, columns))
        return;
    if (TESS_VECTOR_BYTES == 16 || columns > 3 || rows < TESS_F32_LANES || from_step < 0 || from_step > 1 << 20) {
        tiles_4(to, to_step, from, from_step, rows, columns);
        return;
    }
    const int64_t ahead = reduce_short_ahead(false);
    for (int i = 0; i < TESS_F32_LANES; i++)
        offsets[i] = i * (int32_t)from_step;
    for (int64_t r = 0; r < rows; r += TESS_F32_LANES) {
        r = tess_min64(r, rows - TESS_F32_LANES);
        for (int64_t c = 0; c < columns; c++) {
            const v_i32 v = v_i32_gather_bytes(from + r * from_step + c * 4, offsets);
            tess_prefetch_l2(from + r * from_step + ahead + c * 64);
            memcpy(to + c * to_step + r * 4, &v, sizeof v);
        }
    }
}

static void turn_8(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t columns) {
    if (from_step != columns * 8 || from_step >= 64 || rows != ROWS || !turn_dense_8(to, to_step, from, columns))
        tiles_8(to, to_step, from, from_step, rows, columns);
}

#define SHORT(name, type, turn)                                                                      \
    static void short_##name(void *sums, const char *rows, int64_t step, int64_t count, int64_t k) { \
        _Alignas(64) type lane[REDUCE_LANES * ROWS];                                                 \
        if (sum_in_registers_##name(sums, rows, step, count, k))                                     \
            return;                                                                                  \
        if (count < ROWS)                                                                            \
            memset(lane, 0, sizeof(type) * ROWS * (size_t)k);                                        \
        turn((char *)lane, sizeof(type) * ROWS, rows, step, count, k);                               \
        halve_##name(sums, lane, k);                                                                 \
    }
SHORT(f32, float, turn_4)
SHORT(f64, double, turn_8)

transpose_turn_groups TESS_ISA_NAME(tess_transpose_turn_groups);
extern const reduce_short_kernels TESS_ISA_NAME(tess_reduce_short_kernels);
const reduce_short_kernels TESS_ISA_NAME(tess_reduce_short_kernels) = {
    .add = {[tess_f32] = short_f32, [tess_f64] = short_f64},
    WHOLE_KERNELS TINY_KERNELS ACROSS_KERNELS SHORT_EXTREMES_KERNELS.mapped = {SHORT_TREES_MAPPED},
    .wide = {SHORT_TREES_WIDE},
    .integers = {[tess_u32] = short_integers_u32,
                 [tess_i32] = short_integers_i32,
                 [tess_u64] = short_integers_64,
                 [tess_i64] = short_integers_64,
                 SHORT_NARROW_INTEGERS},
    .greatest = {[tess_f32] = short_greatest_f32,
                 [tess_f64] = short_greatest_f64,
                 [tess_u32] = short_greatest_u32,
                 [tess_i32] = short_greatest_i32,
                 [tess_u64] = short_greatest_u64,
                 [tess_i64] = short_greatest_i64,
                 SHORT_NARROW_GREATEST},
    .elements = {[tess_bool] = short_elements_8,
                 [tess_u8] = short_elements_u8,
                 [tess_i8] = short_elements_8,
                 [tess_u16] = short_elements_u16,
                 [tess_i16] = short_elements_16,
                 [tess_u32] = short_elements_u32,
                 [tess_i32] = short_elements_32,
                 [tess_u64] = short_elements_u64,
                 [tess_i64] = short_elements_64,
                 [tess_f16] = short_elements_f16,
                 [tess_bf16] = short_elements_bf16,
                 [tess_f32] = short_elements_f32,
                 [tess_f64] = short_elements_f64},
    .first = {[tess_f32] = short_first_f32,
              [tess_f64] = short_first_f64,
              [tess_u32] = short_first_u32,
              [tess_i32] = short_first_i32,
              [tess_u64] = short_first_u64,
              [tess_i64] = short_first_i64,
              SHORT_NARROW_FIRST},
    .zeros = {SHORT_ZEROS},
    .moments = {SHORT_TREES_MOMENTS},
    .means = {SHORT_TREES_MEANS},
    .variances = short_variances,
    .moment_segments = {[tess_f32] = moment_segments_f32, [tess_f64] = moment_segments_f64},
    .segments = {[tess_f32] = sum_segments_f32, [tess_f64] = sum_segments_f64},
    .join = TESS_ISA_NAME(tess_transpose_turn_groups),
    .turn = {[1] = turn_1, [2] = turn_2, [4] = turn_4, [8] = turn_8, [16] = turn_16},
    .lines = {[1] = lines_1, [2] = lines_2},
};

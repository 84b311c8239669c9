/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_exact_segments_gpu.c - proves: exact sums of segments on GPUs are the reference's bytes, whatever the lengths, and where some last bit decides how a sum is rounded. On a card when
 * there is one, else on the virtual GPU. */
#include "reduce_segments.h"

/* Values over the whole range of exponents, infinities and NaNs; parts of long segments that are merged. */
static void exact_sums(void **state) {
    (void)state;
    uint64_t random = 3;
    static const int64_t given[] = {20000, 1025};
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32},   {TESS_SUM, tess_f64, tess_f64},   {TESS_NORM1, tess_f16, tess_f64},
                 {TESS_MEAN, tess_i64, tess_f64},  {TESS_MEAN, tess_u64, tess_f32},  {TESS_SUM, tess_c64, tess_c64},
                 {TESS_MEAN, tess_c128, tess_c64}, {TESS_NORM1, tess_c64, tess_f32}, {TESS_SUM, tess_f64, tess_bf16}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int fill = 1; fill <= 2; fill++) {
            lengths l;
            const int64_t end = make(&l, &random, 3, 12, 40, true, given, fill == 1 ? 2 : 0);
            work w = {
                .operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = (tess_nan)(fill - 1), .exact = true, .fill = fill};
            compare_as(&w, &l, end, (i + fill) % 3, &random);
        }
}

/* Sums that no level tells the rounding of, in segments of every kind of length beside one another: of a thread or a few, of a warp, of several pieces. */
static void hard_sums(void **state) {
    (void)state;
    uint64_t random = 8;
    static const int64_t sizes[] = {3,  0,   1,  31, 2,   32,  4, 33,  16, 7,    400,  5, 1,     0, 12, 256,
                                    31, 257, 20, 9,  511, 512, 6, 513, 30, 1024, 1025, 2, 20000, 8, 16, 4};
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_SUM, tess_f64, tess_f64, TESS_NAN_PROPAGATE},   {TESS_SUM, tess_f32, tess_f32, TESS_NAN_PROPAGATE},
                 {TESS_SUM, tess_c64, tess_c64, TESS_NAN_PROPAGATE},   {TESS_MEAN, tess_f64, tess_f32, TESS_NAN_OMIT},
                 {TESS_SUM, tess_f32, tess_f64, TESS_NAN_OMIT},        {TESS_SUM, tess_c128, tess_c128, TESS_NAN_PROPAGATE},
                 {TESS_MEAN, tess_f32, tess_f32, TESS_NAN_PROPAGATE},  {TESS_SUM, tess_f64, tess_f32, TESS_NAN_PROPAGATE},
                 {TESS_NORM1, tess_c128, tess_f64, TESS_NAN_PROPAGATE}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int kind = 0; kind < 5; kind++) { /* the mean decides how stretches are cut, and how many threads a segment has */
            const int brief = kind == 1;
            lengths l = {.count = brief ? 300 : 2 * TESS_COUNT(sizes) - 3, .offset = {i % 5}};
            work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = cases[i].nan, .exact = true, .fill = 4};
            for (int64_t s = 0; s < l.count; s++)
                l.offset[s + 1] = l.offset[s] + (brief      ? sizes[s % 10]
                                                 : kind < 2 ? sizes[s * 7 % TESS_COUNT(sizes)]
                                                            : sizes[s * 7 % TESS_COUNT(sizes)] % (kind == 2 ? 130 : 300) + (kind == 4 ? 30 : 0));
            w.ndim = 1 + brief;
            w.axis = brief;
            w.shape[0] = brief ? 2 : l.offset[l.count] + 3;
            w.shape[1] = l.offset[l.count] + 3;
            w.layout = HOSTILE_COMPACT;
            compare(&w, &l, &random);
        }
}

/* The same and numbers whose magnitudes change along the way, as segments that a warp or some take by strips. */
static void long_hard_sums(void **state) {
    (void)state;
    uint64_t random = 11;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32, TESS_NAN_PROPAGATE}, {TESS_SUM, tess_f64, tess_f64, TESS_NAN_PROPAGATE},
                 {TESS_SUM, tess_c64, tess_c64, TESS_NAN_PROPAGATE}, {TESS_MEAN, tess_f64, tess_f32, TESS_NAN_OMIT},
                 {TESS_SUM, tess_f32, tess_f64, TESS_NAN_OMIT},      {TESS_SUM, tess_c128, tess_c128, TESS_NAN_PROPAGATE},
                 {TESS_NORM1, tess_c128, tess_f64, TESS_NAN_OMIT},   {TESS_NORM1, tess_c64, tess_f32, TESS_NAN_PROPAGATE}};
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        lengths l = {.count = 2 * HARD_SUMS, .offset = {i % 5}};
        work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = cases[i].nan, .exact = true, .fill = 4};
        for (int64_t s = 0; s < l.count; s++)
            l.offset[s + 1] = l.offset[s] + (s % HARD_SUMS == 16 ? 8192 + 512 * s : hostile_between(&random, 1500, 3500));
        w.ndim = 1 + i % 2;
        w.axis = 0;
        w.shape[0] = l.offset[l.count] + 3;
        w.shape[1] = i % 2; /* a column: elements with gaps */
        w.layout = i % 2 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        compare(&w, &l, &random);
    }
}

/* Hard sums beside others of no greater magnitude, so that what stretches know of them nearly decides; and ones of so many pieces that a block takes them in. */
static void doubtful_sums(void **state) {
    (void)state;
    uint64_t random = 12;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32}, {TESS_SUM, tess_f64, tess_f64},  {TESS_SUM, tess_c64, tess_c64},  {TESS_MEAN, tess_f64, tess_f32},
                 {TESS_SUM, tess_f32, tess_f64}, {TESS_SUM, tess_f64, tess_bf16}, {TESS_SUM, tess_c64, tess_c128}, {TESS_MEAN, tess_f32, tess_f32}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int kind = 0; kind < 4; kind++) {
            lengths l = {.count = kind == 3 ? HARD_SUMS : 500, .offset = {(i + kind) % 5}};
            work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .exact = true, .fill = kind == 3 && i % 2 ? 4 : 7};
            for (int64_t s = 0; s < l.count; s++)
                l.offset[s + 1] = l.offset[s] + (kind < 3                     ? hostile_between(&random, kind,
                                                                            kind == 0   ? 9
                                                                                                : kind == 1 ? 40
                                                                                                            : 120)
                                                 : s == 10 || s == 14 + i % 2 ? 140000
                                                                              : 300);
            w.ndim = 1;
            w.shape[0] = l.offset[l.count] + 3;
            w.layout = HOSTILE_COMPACT;
            compare(&w, &l, &random);
        }
}

/* What a stretch takes for whole, and what it asks of each. */
static void near_half_sums(void **state) {
    (void)state;
    uint64_t random = 13;
    static const tess_type types[] = {tess_f32, tess_bf16};
    for (int i = 0; i < TESS_COUNT(types); i++)
        for (int below = 12; below < 24; below++) {
            lengths l = {.count = 250, .offset = {below % 5}};
            work w = {.operation = TESS_SUM,
                      .in = types[i],
                      .out = tess_f32,
                      .exact = true,
                      .fill = 8 + below + 16 * i,
                      .ndim = 1,
                      .layout = HOSTILE_COMPACT};
            for (int64_t s = 0; s < l.count; s++)
                l.offset[s + 1] = l.offset[s] + 5;
            w.shape[0] = l.offset[l.count] + 1;
            compare(&w, &l, &random);
        }
}

static void rows_were_compared(void **state) {
    (void)state;
    segments_were_compared(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_sums),    cmocka_unit_test(hard_sums),      cmocka_unit_test(long_hard_sums),
                                       cmocka_unit_test(doubtful_sums), cmocka_unit_test(near_half_sums), cmocka_unit_test(rows_were_compared)};
    unsetenv("TESSERA_UNOPTIMISED"); /* the suite's: without optimising, structures are copied with their padding, which nothing writes */
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

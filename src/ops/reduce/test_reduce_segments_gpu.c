/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_segments_gpu.c - proves: segments on GPUs give the reference's bytes: every operation and type, complex elements, empty, short and
 * long segments together, segments that begin and end within the axis, axes before and behind, gaps. On a card when there is one, else on the virtual GPU. */
#include "reduce_segments.h"

static bool needs_elements(tess_reduction operation) {
    return operation == TESS_MIN || operation == TESS_MAX || operation == TESS_ARGMIN || operation == TESS_ARGMAX;
}

static void every_operation(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int64_t given[] = {8192, 9000, 33};
    for (int operation = TESS_SUM; operation <= TESS_NORM_INF; operation++)
        for (int nan = 0; nan < 2; nan++) {
            const bool place = operation == TESS_ARGMIN || operation == TESS_ARGMAX, empty = !needs_elements((tess_reduction)operation);
            lengths l;
            const int64_t end = make(&l, &random, 7, 40, nan ? 300 : 12, empty, given, nan ? 2 : 3);
            work w = {
                .operation = (tess_reduction)operation, .in = tess_f32, .out = place ? tess_i64 : tess_f32, .nan = (tess_nan)nan, .fill = 1 + nan};
            compare_as(&w, &l, end, (operation + nan) % 3, &random);
        }
}

static void every_type(void **state) {
    (void)state;
    uint64_t random = 2;
    static const int64_t given[] = {200, 17000};
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_u8, tess_u64},
                 {TESS_SUM, tess_i16, tess_i16},
                 {TESS_MEAN, tess_i32, tess_f64},
                 {TESS_SUM, tess_f16, tess_f16},
                 {TESS_SUM, tess_bf16, tess_f64},
                 {TESS_NORM2, tess_f64, tess_f64},
                 {TESS_MAX, tess_i8, tess_f32},
                 {TESS_ARGMIN, tess_u16, tess_i32},
                 {TESS_MIN, tess_bf16, tess_bf16},
                 {TESS_NORM_INF, tess_i64, tess_u8},
                 {TESS_NORM1, tess_i8, tess_bf16},
                 {TESS_ALL, tess_bool, tess_bool},
                 {TESS_MEAN, tess_u64, tess_u32},
                 {TESS_STD, tess_f64, tess_i32},
                 {TESS_ARGMAX, tess_f64, tess_i64},
                 {TESS_VAR, tess_u8, tess_f32},
                 {TESS_SUM, tess_u32, tess_f32},
                 {TESS_PROD, tess_f64, tess_f64},
                 {TESS_SUM, tess_c64, tess_c64},
                 {TESS_MEAN, tess_c128, tess_c64},
                 {TESS_PROD, tess_c64, tess_c128},
                 {TESS_NORM1, tess_c64, tess_f32},
                 {TESS_NORM2, tess_c128, tess_c64},
                 {TESS_ALL, tess_c64, tess_bool},
                 {TESS_COUNT_NONZERO, tess_c128, tess_i64},
                 {TESS_ANY, tess_c64, tess_u8},
                 {TESS_SUM, tess_c128, tess_c128},
                 {TESS_NORM_INF, tess_c64, tess_f32},
                 {TESS_SUM, tess_i32, tess_c128}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int nan = tess_is_complex(cases[i].in) ? 0 : 1; nan < 2; nan++) {
            lengths l;
            const int64_t end = make(&l, &random, 3, 30, 40, !needs_elements(cases[i].operation), given, i % 2 + 1);
            work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = (tess_nan)nan, .fill = 1 + nan};
            compare_as(&w, &l, end, (i + nan) % 3, &random);
        }
}

/* Lengths that differ by a million: thousands of leaves beside segments of a few elements, no segments, and segments without any elements. */
static void skewed(void **state) {
    (void)state;
    uint64_t random = 4;
    static const int64_t huge[] = {8192 * 1025 + 1, 8193, 16384}, none[] = {0};
    lengths l;
    work w = {.operation = TESS_SUM, .in = tess_u8, .out = tess_u32, .fill = 1, .ndim = 1};
    w.shape[0] = make(&l, &random, 1, 500, 8, true, huge, 3) + 5;
    compare(&w, &l, &random);
    w.in = w.out = tess_f32;
    w.shape[0] = make(&l, &random, 8190, 5, 3, true, huge + 1, 2) + 5;
    compare(&w, &l, &random);
    static const struct {
        tess_reduction operation;
        tess_type type;
    } beside[] = {{TESS_VAR, tess_f32}, {TESS_VAR, tess_f64}, {TESS_SUM, tess_f16}, {TESS_PROD, tess_c64}};
    for (int far = 0; far < 2; far++) {
        work v = {.operation = TESS_VAR, .in = tess_f64, .out = tess_f64, .fill = 6, .ndim = 1};
        v.shape[0] = make(&l, &random, 3, 300, far ? 90 : 30, true, none, 1) + 5;
        compare(&v, &l, &random);
    }
    for (int i = 0; i < TESS_COUNT(beside); i++) { /* short ones go as if the long one were not there */
        work v = {.operation = beside[i].operation, .in = beside[i].type, .out = beside[i].type, .fill = 1, .ndim = 1};
        v.shape[0] = make(&l, &random, 3, 300, 32, true, huge + 2, 1) + 5;
        compare(&v, &l, &random);
        v.shape[0] = make(&l, &random, 3, 40, 400, true, none, 1) + 5;
        compare(&v, &l, &random);
    }
    make(&l, &random, 5, 50, 1, true, none, 1);
    compare_as(&w, &l, l.offset[l.count], 1, &random);
    w.exact = true;
    compare_as(&w, &l, l.offset[l.count], 1, &random);
    make(&l, &random, 2, 0, 1, true, none, 0);
    compare_as(&w, &l, 2, 2, &random);
}

/* Lengths of every kind that tree_stretches has, side by side, at their borders; stretches that are full to the last byte. */
static void mixed(void **state) {
    (void)state;
    uint64_t random = 5;
    static const int64_t sizes[] = {3, 1, 32, 33, 4, 5, 64, 65, 8, 9, 256, 16, 17, 257, 31, 512, 513, 2, 1024, 100, 130, 700, 4096, 7, 190, 385};
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32, TESS_NAN_PROPAGATE},      {TESS_SUM, tess_u8, tess_u64, TESS_NAN_PROPAGATE},
                 {TESS_VAR, tess_f32, tess_f64, TESS_NAN_OMIT},           {TESS_STD, tess_f32, tess_f32, TESS_NAN_PROPAGATE},
                 {TESS_MAX, tess_f32, tess_f32, TESS_NAN_PROPAGATE},      {TESS_MIN, tess_f32, tess_f32, TESS_NAN_OMIT},
                 {TESS_NORM_INF, tess_f32, tess_f32, TESS_NAN_PROPAGATE}, {TESS_ARGMAX, tess_f32, tess_i64, TESS_NAN_OMIT},
                 {TESS_ARGMIN, tess_f32, tess_i32, TESS_NAN_PROPAGATE},   {TESS_ARGMAX, tess_u8, tess_i64, TESS_NAN_PROPAGATE},
                 {TESS_ARGMIN, tess_i16, tess_i64, TESS_NAN_PROPAGATE},   {TESS_ARGMAX, tess_f16, tess_i64, TESS_NAN_OMIT},
                 {TESS_ARGMIN, tess_f64, tess_i64, TESS_NAN_PROPAGATE},   {TESS_MAX, tess_f16, tess_f16, TESS_NAN_PROPAGATE},
                 {TESS_SUM, tess_c128, tess_c128, TESS_NAN_PROPAGATE},    {TESS_SUM, tess_f64, tess_f64, TESS_NAN_PROPAGATE},
                 {TESS_PROD, tess_i32, tess_i64, TESS_NAN_PROPAGATE}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int far = 0; far < 2; far++) { /* the mean decides how segments are shared */
            lengths l;
            if (hostile_spared(i + far, 6)) /* what sanitizers look into does not depend on the operation */
                continue;
            work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = cases[i].nan, .fill = 1 + (i + far) % 2};
            l.offset[0] = i % 5;
            l.count = far ? TESS_COUNT(sizes) : 300;
            for (int64_t s = 0; s < l.count; s++)
                l.offset[s + 1] = l.offset[s] + (far || s % 12 == 11 ? sizes[(s + i) % TESS_COUNT(sizes)] : 1 + s % 5);
            compare_as(&w, &l, l.offset[l.count], (i + far) % 4 == 3, &random);
        }
}

/* By blocks of 16 bytes (gpu_blocks.cuh): segments that begin and end anywhere in a block, at its borders, at those of eight blocks, empty ones, and a stretch that is one segment. */
static void blocks(void **state) {
    (void)state;
    uint64_t random = 9;
    static const int64_t sizes[] = {1, 15,  16,  17,  3,  31, 32,  33,   2, 127, 128,  129, 7,  144,
                                    5, 255, 256, 257, 64, 11, 272, 1000, 8, 130, 2048, 6,   13, 40};
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_SUM, tess_u8, tess_u64, 0},
                 {TESS_SUM, tess_i8, tess_i64, 0},
                 {TESS_SUM, tess_u16, tess_u64, 0},
                 {TESS_SUM, tess_i16, tess_i64, 0},
                 {TESS_MEAN, tess_i8, tess_f64, 0},
                 {TESS_MEAN, tess_i16, tess_f32, 0},
                 {TESS_ANY, tess_bool, tess_bool, 0},
                 {TESS_ALL, tess_i8, tess_bool, 0},
                 {TESS_COUNT_NONZERO, tess_u8, tess_i64, 0},
                 {TESS_MAX, tess_u8, tess_u8, 0},
                 {TESS_MIN, tess_i8, tess_i8, 0},
                 {TESS_MIN, tess_bool, tess_bool, 0},
                 {TESS_MAX, tess_i16, tess_i16, 0},
                 {TESS_MIN, tess_u16, tess_f32, 0},
                 {TESS_ARGMAX, tess_u8, tess_i64, 0},
                 {TESS_ARGMIN, tess_i8, tess_i32, 0},
                 {TESS_ARGMAX, tess_bool, tess_i64, 0},
                 {TESS_ARGMIN, tess_bool, tess_i64, 0},
                 {TESS_ARGMAX, tess_i16, tess_i64, 0},
                 {TESS_ARGMIN, tess_u16, tess_i64, 0},
                 {TESS_MAX, tess_f16, tess_f16, TESS_NAN_OMIT},
                 {TESS_MIN, tess_bf16, tess_bf16, 0},
                 {TESS_NORM_INF, tess_f16, tess_f32, 0},
                 {TESS_ARGMAX, tess_f16, tess_i64, 0},
                 {TESS_ARGMIN, tess_f16, tess_i64, TESS_NAN_OMIT},
                 {TESS_ARGMAX, tess_bf16, tess_i32, TESS_NAN_OMIT},
                 {TESS_ARGMIN, tess_bf16, tess_i64, 0},
                 {TESS_MAX, tess_f32, tess_f32, 0},
                 {TESS_MIN, tess_f32, tess_f64, TESS_NAN_OMIT},
                 {TESS_NORM_INF, tess_f32, tess_f32, 0},
                 {TESS_NORM_INF, tess_i32, tess_u32, 0},
                 {TESS_ARGMAX, tess_f32, tess_i64, 0},
                 {TESS_ARGMIN, tess_f32, tess_i64, TESS_NAN_OMIT},
                 {TESS_ARGMAX, tess_f32, tess_i64, TESS_NAN_OMIT},
                 {TESS_ARGMIN, tess_f32, tess_i32, 0},
                 {TESS_ARGMAX, tess_i32, tess_i64, 0},
                 {TESS_ARGMIN, tess_u32, tess_i64, 0},
                 {TESS_MIN, tess_i32, tess_i32, 0},
                 {TESS_MAX, tess_u32, tess_f64, 0},
                 {TESS_COUNT_NONZERO, tess_f32, tess_i64, TESS_NAN_OMIT},
                 {TESS_ANY, tess_i32, tess_bool, 0},
                 {TESS_ALL, tess_f32, tess_bool, TESS_NAN_OMIT}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int brief = 0; brief < 2; brief++) {
            lengths l = {.count = brief ? 400 : 2 * TESS_COUNT(sizes), .offset = {i % 17}};
            work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = cases[i].nan, .fill = 1 + (i + brief) % 2};
            if (w.in >= tess_f16 && brief)
                w.fill = 5;
            for (int64_t s = 0; s < l.count; s++) {
                const int64_t most = brief ? 40 : 8192 / (int64_t)tess_type_size(w.in), n = sizes[(s * 5 + i) % TESS_COUNT(sizes)];
                const bool empty = s % 9 == 4 && !needs_elements(w.operation), whole = !brief && s == 30;
                l.offset[s + 1] = l.offset[s] + (whole ? most : empty ? 0 : n < most ? n : 1 + n % most);
            }
            w.ndim = 1 + (i + brief) % 2;
            w.axis = w.ndim - 1;
            w.layout = HOSTILE_COMPACT;
            w.shape[w.axis] = l.offset[l.count] + 3;
            if (w.ndim == 2)
                w.shape[0] = 2;
            compare(&w, &l, &random);
        }
}

/* What has an order in turns (gpu_turns.cuh, gpu_held_turns.cuh, gpu_sum_turns.cuh): means for 2, 4, 8 and 16 threads a segment, lengths about those of a row and of all rows, as many as fill all rows at
 * odd and at even places, segments of no elements, longer ones between. */
static void turns(void **state) {
    (void)state;
    uint64_t random = 12;
    static const int64_t sizes[] = {64, 128, 7,  8,  9,  0,   1,   31, 33, 127, 129, 16,  17,  65,  24,  96,
                                    97, 2,   50, 40, 63, 112, 113, 3,  80, 81,  5,   255, 256, 257, 511, 513},
                         full[] = {128, 1, 128, 256, 1, 256, 512, 1, 512};
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_SUM, tess_f16, tess_f16, 0},
                 {TESS_SUM, tess_bf16, tess_f32, 0},
                 {TESS_MEAN, tess_f16, tess_f64, TESS_NAN_OMIT},
                 {TESS_NORM2, tess_f16, tess_f32, 0},
                 {TESS_NORM1, tess_bf16, tess_bf16, 0},
                 {TESS_SUM, tess_f32, tess_f32, 0},
                 {TESS_NORM2, tess_f32, tess_f32, 0},
                 {TESS_SUM, tess_f32, tess_f64, TESS_NAN_OMIT},
                 {TESS_SUM, tess_f64, tess_f64, 0},
                 {TESS_PROD, tess_f32, tess_f32, 0},
                 {TESS_SUM, tess_c64, tess_c64, 0},
                 {TESS_PROD, tess_c64, tess_c64, 0},
                 {TESS_SUM, tess_c128, tess_c128, 0},
                 {TESS_NORM1, tess_c64, tess_f64, 0},
                 {TESS_MEAN, tess_c64, tess_c64, TESS_NAN_OMIT},
                 {TESS_NORM2, tess_i16, tess_f64, 0},
                 {TESS_PROD, tess_f16, tess_f64, 0},
                 {TESS_PROD, tess_c128, tess_c128, TESS_NAN_OMIT},
                 {TESS_VAR, tess_f32, tess_f32, 0},
                 {TESS_STD, tess_f64, tess_f64, TESS_NAN_OMIT},
                 {TESS_VAR, tess_u8, tess_f64, 0}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int turn = 0; turn < 6; turn++) { /* of numbers that are all finite, or not: among those a sum that lost one may be a NaN still */
            const int much = turn / 2, begin = (i + turn) % 3;
            lengths l = {.count = 90, .offset = {begin}};
            work w = {.operation = cases[i].operation,
                      .in = cases[i].in,
                      .out = cases[i].out,
                      .nan = cases[i].nan,
                      .fill = turn % 2 == 0 ? much % 2
                              : much        ? 2
                                            : 5};
            if (i > 3 && much != i % 3)
                continue;
            for (int64_t s = 0; s < l.count; s++) { /* most of a mean below 64, 128, 256 */
                const int64_t n = sizes[(s * 7 + i) % TESS_COUNT(sizes)], last = l.count - s;
                l.offset[s + 1] = l.offset[s] + (last <= TESS_COUNT(full)  ? full[TESS_COUNT(full) - last]
                                                 : n > 64 << much && s % 5 ? n % 64
                                                                           : n + 30 * much);
            }
            w.ndim = 1 + (i + much) % 2;
            w.axis = w.ndim - 1;
            w.layout = HOSTILE_COMPACT;
            w.shape[w.axis] = l.offset[l.count] + 3;
            if (w.ndim == 2)
                w.shape[0] = 2;
            compare(&w, &l, &random);
        }
}

/* Segments longer than a stretch that begin anywhere, by their leaves, beside such as fill a stretch; sums of small elements by vectors that lie across them (gpu_run_leaf.cuh). */
static void longer_than_a_stretch(void **state) {
    (void)state;
    uint64_t random = 7;
    static const int64_t sizes[] = {4097, 2048, 8192, 8193, 20003, 3, 9001, 16384, 5, 16387, 8199};
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_f16, tess_f16},     {TESS_MEAN, tess_u8, tess_f64},   {TESS_NORM2, tess_i16, tess_f64},
                 {TESS_PROD, tess_bf16, tess_f32},   {TESS_MAX, tess_f32, tess_f32},   {TESS_SUM, tess_i32, tess_i64},
                 {TESS_MAX, tess_f64, tess_f64},     {TESS_ARGMIN, tess_i8, tess_i64}, {TESS_SUM, tess_u8, tess_u64},
                 {TESS_SUM, tess_i16, tess_i64},     {TESS_SUM, tess_c64, tess_c64},   {TESS_PROD, tess_c128, tess_c128},
                 {TESS_NORM_INF, tess_c64, tess_f32}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int nan = 0; nan < (cases[i].in < tess_f16 || TESS_SANITIZED ? 1 : 2); nan++) {
            work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = (tess_nan)nan, .fill = 1 + nan};
            lengths l = {.count = TESS_COUNT(sizes), .offset = {i % 7}};
            for (int64_t s = 0; s < l.count; s++)
                l.offset[s + 1] = l.offset[s] + sizes[s];
            w.ndim = 1;
            w.layout = HOSTILE_COMPACT;
            w.shape[0] = l.offset[l.count] + 3;
            compare(&w, &l, &random);
        }
}

/* Variances of segments of some KiB, by stretches of 16 and 32 KiB: such as fill one, none, less than a vector more; and a quarter as long, several of them in a stretch of 8 KiB. */
static void large_stretches(void **state) {
    (void)state;
    uint64_t random = 8;
    static const int64_t sizes[] = {4096, 1, 2047, 3000, 0, 4095, 500, 4097, 257, 3, 3999, 31, 2500, 4096, 1025};
    static const struct {
        tess_type type;
        int64_t shorter;
    } kinds[] = {{tess_f32, 1}, {tess_f64, 2}, {tess_i32, 1}, {tess_f64, 1}, {tess_i64, 1}, {tess_f16, 1}, {tess_u8, 1}};
    for (int i = 0; i < 4 * TESS_COUNT(kinds); i++) {
        const tess_type type = kinds[i / 4].type;
        const int64_t shorter = kinds[i / 4].shorter * (i / 2 % 2 ? 4 : 1);
        work w = {
            .operation = TESS_VAR, .in = type, .out = tess_f64, .nan = (tess_nan)(i % 2), .fill = 1 + i % 2, .ndim = 1, .layout = HOSTILE_COMPACT};
        lengths l = {.count = TESS_COUNT(sizes), .offset = {i}};
        for (int64_t s = 0; s < l.count; s++)
            l.offset[s + 1] = l.offset[s] + sizes[s] / shorter;
        w.shape[0] = l.offset[l.count] + 3;
        compare(&w, &l, &random);
    }
}

/* The row that is chosen by the mean length and the number of segments, where another was measured to be slower. */
static void chosen(void **state) {
    (void)state;
    enum { MOST = 20000 };
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        int64_t mean, count;
        const char *row;
    } cases[] = {
        {TESS_MAX, tess_f32, tess_f32, 2000, MOST, "tree_stretches"},  {TESS_MAX, tess_f32, tess_f32, 5000, MOST, "tree_lanes"},
        {TESS_MAX, tess_f64, tess_f64, 20000, 3000, "tree_stretches"}, {TESS_COUNT_NONZERO, tess_f32, tess_i64, 5000, MOST, "tree_stretches"},
        {TESS_SUM, tess_i32, tess_i64, 20000, 3000, "tree_stretches"}, {TESS_SUM, tess_f32, tess_f32, 500, MOST, "tree_stretches"},
        {TESS_SUM, tess_f32, tess_f32, 2000, MOST, "tree_segments"},   {TESS_SUM, tess_f32, tess_f32, 5000, MOST, "tree_lanes"},
        {TESS_SUM, tess_f32, tess_f32, 50000, 3000, "tree_stretches"}, {TESS_SUM, tess_f64, tess_f64, 2000, MOST, "tree_stretches"},
        {TESS_SUM, tess_c64, tess_c64, 1000, MOST, "tree_segments"},   {TESS_SUM, tess_c64, tess_c64, 20000, 3000, "tree_stretches"},
        {TESS_PROD, tess_c128, tess_c128, 300, MOST, "tree_segments"}, {TESS_PROD, tess_c128, tess_c128, 20000, 3000, "tree_stretches"},
        {TESS_VAR, tess_f32, tess_f32, 20000, 3000, "tree_stretches"}, {TESS_VAR, tess_f64, tess_f64, 5000, MOST, "tree_lanes"},
        {TESS_VAR, tess_f64, tess_f64, 1000, MOST, "tree_stretches"},  {TESS_VAR, tess_f64, tess_f64, 2000, MOST, "tree_stretches"},
        {TESS_VAR, tess_f64, tess_f64, 3000, MOST, "tree_segments"},   {TESS_SUM, tess_f32, tess_f32, 200, MOST, "exact_prefixes"},
        {TESS_SUM, tess_f64, tess_f64, 20000, 3000, "exact_prefixes"}, {TESS_SUM, tess_f64, tess_f64, 50, MOST, "exact_prefixes"}};
    const int axis = 0;
    int64_t *offset = malloc((MOST + 1) * sizeof *offset);
    assert_non_null(offset);
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        int64_t count = cases[i].count, size = count + 1, end = count * cases[i].mean;
        tess_plan *plan;
        for (int64_t s = 0; s <= count; s++)
            offset[s] = s * cases[i].mean - (s == 1); /* of one length they would be an axis */
        const DLTensor in = tess_view(NULL, cases[i].in, 1, &end, NULL), out = tess_view(NULL, cases[i].out, 1, &count, NULL),
                       offsets = tess_view(offset, tess_i64, 1, &size, NULL);
        const tess_reduce_options options = {.struct_size = sizeof options,
                                             .axes = &axis,
                                             .naxes = 1,
                                             .exact = strstr(cases[i].row, "exact"),
                                             .offsets = &offsets,
                                             .call = {.engine = engine}};
        assert_tess_ok(tess_plan_reduce(&plan, context, cases[i].operation, &in, &out, &options));
        gpu_test_chosen(plan, cases[i].row, i);
    }
    free(offset);
}

/* More leaves than one thread of a warp pairs eight of, and more than a warp pairs at all (gpu_long_segments.cuh). */
static void long_segments(void **state) {
    (void)state;
    uint64_t random = 6;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32},
                 {TESS_ARGMAX, tess_u8, tess_i64},
                 {TESS_ARGMIN, tess_i32, tess_i64}}; /* leaves of bytes are longer: a warp pairs them */
    if (TESS_SANITIZED) {
        print_message("three times 11 million elements take minutes here\n");
        skip();
    }
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        const int64_t sizes[] = {5, 257 * REDUCE_LEAF + 3, 300, 1025 * REDUCE_LEAF + 77, 2};
        work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .ndim = 1, .layout = HOSTILE_COMPACT, .fill = 1};
        lengths l = {.count = TESS_COUNT(sizes), .offset = {3}};
        for (int64_t s = 0; s < l.count; s++)
            l.offset[s + 1] = l.offset[s] + sizes[s];
        w.shape[0] = l.offset[l.count];
        compare(&w, &l, &random);
    }
}

static void rows_were_compared(void **state) {
    (void)state;
    segments_were_compared(false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_operation),
                                       cmocka_unit_test(every_type),
                                       cmocka_unit_test(skewed),
                                       cmocka_unit_test(turns),
                                       cmocka_unit_test(mixed),
                                       cmocka_unit_test(blocks),
                                       cmocka_unit_test(long_segments),
                                       cmocka_unit_test(longer_than_a_stretch),
                                       cmocka_unit_test(large_stretches),
                                       cmocka_unit_test(chosen),
                                       cmocka_unit_test(rows_were_compared)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_columns.c - proves: reduce/columns, reduce/short where the outputs lie side by side, and whatever is chosen give the reference's bytes where rows are long and many: every operation and type, from one lane of the tree to more than a leaf, widths around
 * those of pieces and vectors, rows with gaps and backward, NaNs of both policies; on every instruction set, as each generation of processors does it. */
#include "hostile.h"

#include <math.h>

#include "core/maker.h"
#include "ops/reduce/reduce.h"

enum { CONTEXTS = 4 };
static tess_context *contexts[CONTEXTS];
static int context_count, ran, planes;

static int open_contexts(void **state) {
    static const tess_isa isas[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    (void)state;
    for (int i = 0; i < CONTEXTS; i++) {
        const tess_context_options options = {.struct_size = sizeof options, .isa = isas[i], .threads = i == 1 ? 3 : 1};
        context_count += tess_open(&contexts[context_count], &options) == TESS_OK;
    }
    return context_count > 0 ? 0 : -1;
}

static int close_contexts(void **state) {
    (void)state;
    while (context_count > 0)
        tess_close(contexts[--context_count]);
    return 0;
}

static const tess_reduction operations[] = {TESS_SUM, TESS_MEAN,   TESS_VAR,    TESS_NORM1,         TESS_NORM2, TESS_MAX,
                                            TESS_MIN, TESS_ARGMAX, TESS_ARGMIN, TESS_COUNT_NONZERO, TESS_ANY,   TESS_NORM_INF};
static const tess_type types[] = {tess_u8,  tess_i8,  tess_bool, tess_u16, tess_i16, tess_f16, tess_bf16,
                                  tess_u32, tess_i32, tess_f32,  tess_u64, tess_i64, tess_f64};

static tess_type result_of(tess_reduction operation, tess_type in) {
    switch (operation) {
    case TESS_ARGMAX:
    case TESS_ARGMIN:
    case TESS_COUNT_NONZERO: return tess_i64;
    case TESS_ANY: return tess_bool;
    case TESS_MAX:
    case TESS_MIN:
    case TESS_NORM_INF: return in;
    case TESS_SUM:
        return tess_is_float(in)                                                     ? (in == tess_f64 ? tess_f64 : tess_f32)
               : in == tess_i8 || in == tess_i16 || in == tess_i32 || in == tess_i64 ? tess_i64
                                                                                     : tess_u64;
    default: return in == tess_f32 || in == tess_f16 ? tess_f32 : tess_f64;
    }
}

enum { AWKWARD = 3 };
/* Zeros of both signs, numbers on one side of them, and a few NaNs, where the type has them. */
static void make_awkward(hostile_array *a, tess_type type, int64_t count, uint64_t *random) {
    const double side = hostile_random(random) % 2 ? -1 : 1;
    const bool nans = hostile_random(random) % 2;
    for (int64_t i = 0; i < count && (type == tess_f32 || type == tess_f64); i++) {
        const uint64_t bits = hostile_random(random) % 256;
        const double x = bits == 0 && nans ? NAN
                         : bits < 128      ? side * (double)(bits % 5)
                         : bits < 140      ? 0.0
                         : bits < 200      ? -0.0
                                           : side * (double)bits;
        const float f = (float)x;
        memcpy(hostile_element(a, i), type == tess_f32 ? (const void *)&f : &x, (size_t)a->itemsize);
    }
}

/* sets x k x width, along the middle axis; rows lie `row` elements apart. False where the row does not take the problem. */
static bool compare(tess_context *context, tess_reduction operation, tess_type type, tess_nan nan, int64_t sets, int64_t k, int64_t width,
                    int64_t row, int fill, uint64_t *random) {
    hostile_array memory, expected, out;
    const int64_t step = row < 0 ? -row : row, all = sets * k * step;
    int64_t shape[] = {sets, k, width}, steps[] = {k * step, row, 1}, kept[] = {sets, width};
    const int axis = 1;
    hostile_make(&memory, random, type, 1, &all, HOSTILE_COMPACT);
    hostile_fill(&memory, random, fill == AWKWARD ? 2 : fill);
    if (fill == AWKWARD)
        make_awkward(&memory, type, all, random);
    for (int64_t i = 0; type == tess_bool && i < all; i += 3) /* whatever is not 0 is true */
        *hostile_element(&memory, i) = (char)(*hostile_element(&memory, i) ? 0x85 : 0);
    const uint64_t again = *random;
    const int layout = k % 2 ? HOSTILE_COMPACT : HOSTILE_STRIDED;
    hostile_make(&expected, random, result_of(operation, type), 2, kept, layout);
    DLTensor in = memory.tensor;
    in.ndim = 3;
    in.shape = shape;
    in.strides = steps;
    in.byte_offset += (uint64_t)((row < 0 ? (k - 1) * step : 0) * (int64_t)tess_type_size(type));
    tess_reduce_options options = {.struct_size = sizeof options, .nan = nan, .axes = &axis, .naxes = 1};
    options.call.strategy = "reduce/reference";
    const bool taken = tess_reduce(context, operation, &in, &expected.tensor, &options) == TESS_OK;
    if (taken) {
        for (int r = 0; r < 3; r++) { /* by whole rows, by lines of planes where there are few rows, and as is chosen */
            static const char *const rows[] = {"reduce/columns", "reduce/short", NULL};
            uint64_t same = again; /* the layout of `expected` */
            options.call.strategy = rows[r];
            hostile_make(&out, &same, result_of(operation, type), 2, kept, layout);
            const tess_status status = tess_reduce(context, operation, &in, &out.tensor, &options);
            if (r == 1 && status != TESS_OK) {
                hostile_free(&out);
                continue;
            }
            assert_int_equal(status, TESS_OK);
            ran++;
            planes += r == 1;
            if (memcmp(out.block, expected.block, out.block_size))
                fail_msg("%s: %s of %s, %lld x %lld x %lld, rows %lld apart, nan %d, fill %d", rows[r] ? rows[r] : "chosen",
                         tess_reduction_name(operation), tess_type_name(type), (long long)sets, (long long)k, (long long)width, (long long)row,
                         (int)nan, fill);
            hostile_free(&out);
        }
    }
    hostile_free(&expected);
    hostile_free(&memory);
    return taken;
}

/* Every operation on every type; lengths and widths in turn. */
static void every_kind(void **state) {
    (void)state;
    static const int64_t lengths[] = {1, 2, 9, 40, 100, 256, 300, 512, 600, 1024, 1300}, widths[] = {5, 16, 33, 80, 130, 256, 271, 300, 530};
    uint64_t random = 1;
    int number = 0;
    for (int o = 0; o < TESS_COUNT(operations); o++)
        for (int t = 0; t < TESS_COUNT(types); t++)
            for (int i = 0; i < 8; i++, number++) {
                const int64_t k = lengths[(o + 2 * t + 4 * i) % TESS_COUNT(lengths)], width = widths[(o + t + i) % TESS_COUNT(widths)];
                const int64_t gap = number % 3 ? number % 5 : 0;
                if (hostile_spared(number, 12))
                    continue;
                tess_cpu_pretend_zen(3 + number % 3);
                if (!compare(contexts[number / 3 % context_count], operations[o], types[t], (tess_nan)(number % 4 == 1),
                             width < 16 ? 1 + number % 40 : 1 + number % 2, k, width, number % 7 == 2 ? -(width + gap) : width + gap, number % 2,
                             &random))
                    assert_true(i == 0 || types[t] == tess_bool || operations[o] == TESS_NORM_INF);
            }
}

/* Few planes, which are read where they lie, in one pass and in several; values that only keys can tell from each other. */
static void few_planes(void **state) {
    (void)state;
    static const tess_reduction kinds[] = {TESS_MAX, TESS_MIN, TESS_SUM, TESS_MEAN, TESS_NORM_INF};
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100},
                         widths[] = {15, 16, 17, 64, 65, 100, 130, 700, 2100};
    uint64_t random = 3;
    int number = 0;
    for (int o = 0; o < TESS_COUNT(kinds); o++)
        for (int t = 0; t < TESS_COUNT(types); t++)
            for (int i = 0; i < TESS_COUNT(lengths); i++, number++) {
                const int64_t width = widths[number % TESS_COUNT(widths)];
                if (hostile_spared(number, 10))
                    continue;
                tess_cpu_pretend_zen(3 + number % 3);
                compare(contexts[number % context_count], kinds[o], types[t], (tess_nan)(number % 7 == 1), 1 + number % 3, lengths[i], width,
                        number % 4 ? width + number % 4 : -width, AWKWARD, &random);
            }
}

/* Wide rows, of which a block takes several pieces and counts eight at once; more than a leaf. */
static void long_ones(void **state) {
    (void)state;
    static const struct {
        tess_reduction operation;
        tess_type type;
        int64_t k, width;
    } cases[] = {{TESS_COUNT_NONZERO, tess_f32, 45, 5000}, {TESS_COUNT_NONZERO, tess_u8, 230, 17001},
                 {TESS_COUNT_NONZERO, tess_f16, 33, 9001}, {TESS_COUNT_NONZERO, tess_f64, 40, 2500},
                 {TESS_ARGMAX, tess_i16, 40, 5001},        {TESS_MAX, tess_i16, 45, 9001},
                 {TESS_SUM, tess_bool, 300, 3001},         {TESS_VAR, tess_u8, 8200, 40},
                 {TESS_VAR, tess_i16, 8192, 272},          {TESS_NORM2, tess_u8, 8193, 300},
                 {TESS_VAR, tess_bf16, 16400, 20},         {TESS_MEAN, tess_i64, 8448, 300},
                 {TESS_NORM1, tess_i32, 9000, 33},         {TESS_VAR, tess_i32, 600, 2500},
                 {TESS_NORM2, tess_bf16, 300, 2100}};
    uint64_t random = 2;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int c = 0; c < context_count; c++) {
            if (hostile_spared(i + c, 10))
                continue;
            tess_cpu_pretend_zen(3 + (i + c) % 3);
            assert_true(compare(contexts[c], cases[i].operation, cases[i].type, (tess_nan)((i + c) % 5 == 2), 1, cases[i].k, cases[i].width,
                                cases[i].width + i % 3, (i + c) % 2, &random));
        }
}

static void all_ran(void **state) {
    (void)state;
    assert_true(ran > (TESS_SANITIZED ? 200 : 2000) && planes > (TESS_SANITIZED ? 40 : 400));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind), cmocka_unit_test(few_planes), cmocka_unit_test(long_ones),
                                       cmocka_unit_test(all_ran)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

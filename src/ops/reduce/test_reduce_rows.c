/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_rows.c - every row of the table, on every instruction set and with 1 to 8 threads, gives the bits of reduce/reference: all operations,
 * input and output types, random shapes and axes, strides of any sign, NaN policies, segments; and nothing is written beside the output. */
#include <math.h>

#include "hostile.h"

#include "core/context.h"
#include "core/maker.h"
#include "ops/reduce/reduce.h"

enum { CONTEXTS = 12 };
static tess_context *contexts[CONTEXTS];
static int context_count;
static int ran[16][TESS_SLOTS]; /* how often each row was compared, by instruction set */

static int open_contexts(void **state) {
    static const tess_isa isas[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            tess_context_options options = {.struct_size = sizeof options, .isa = isas[i], .threads = k == 0 ? 1 : k == 1 ? 2 + i : 8};
            if (context_count < CONTEXTS && tess_open(&contexts[context_count], &options) == TESS_OK)
                context_count++;
        }
    return context_count > 0 ? 0 : -1;
}

static int close_contexts(void **state) {
    (void)state;
    while (context_count > 0)
        tess_close(contexts[--context_count]);
    return 0;
}

/* Zen 3 to 5, which have ways of their own (core/maker.h): all that is compared is compared as each of them does it. */
enum { GENERATIONS = 3 };
static tess_context *nth_context(int n) {
    tess_cpu_pretend_zen(3 + n / context_count);
    return contexts[n % context_count];
}

typedef struct problem {
    tess_reduction operation;
    tess_type in, out;
    int ndim, naxes, axes[4];
    int64_t shape[4];
    tess_nan nan;
    bool exact, segmented;
    int64_t offsets[6], segments;
    double ddof;
} problem;

/* Specials: NaNs of both signs, infinities, zeros of both signs, the ends of the integers. */
static void sprinkle(hostile_array *a, uint64_t *random, int64_t every) {
    tess_type type = tess_type_of(a->tensor.dtype);
    int64_t count = hostile_count(a);
    int parts = type >= tess_c64 ? 2 : 1, width = a->itemsize / parts;
    static const uint64_t f64s[] = {0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000000, 0xfff0000000000000, 0, 0x8000000000000000};
    static const uint32_t f32s[] = {0x7fc00000, 0xffc00001, 0x7f800000, 0xff800000, 0, 0x80000000};
    static const uint16_t f16s[] = {0x7e00, 0xfe01, 0x7c00, 0xfc00, 0, 0x8000}, bf16s[] = {0x7fc0, 0xffc1, 0x7f80, 0xff80, 0, 0x8000};
    static const uint64_t ints[] = {0, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, 0x7f7f7f7f7f7f7f7f, 0x8080808080808080};
    if (type == tess_bool)
        return;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < parts; k++)
            if (hostile_between(random, 0, every) == 0) {
                int which = (int)hostile_between(random, 0, 5);
                const void *from = type == tess_f64 || type == tess_c128  ? (const void *)&f64s[which]
                                   : type == tess_f32 || type == tess_c64 ? (const void *)&f32s[which]
                                   : type == tess_f16                     ? (const void *)&f16s[which]
                                   : type == tess_bf16                    ? (const void *)&bf16s[which]
                                                                          : (const void *)&ints[which];
                memcpy(hostile_element(a, i) + k * width, from, (size_t)width);
            }
}

static tess_status call(tess_context *context, const problem *q, const hostile_array *in, const hostile_array *out, const char *strategy) {
    int64_t size = q->segments + 1;
    DLTensor offsets = tess_view((void *)(uintptr_t)q->offsets, tess_i64, 1, &size, NULL);
    tess_reduce_options options = {.struct_size = sizeof options,
                                   .axes = q->axes,
                                   .naxes = q->naxes,
                                   .nan = q->nan,
                                   .ddof = q->ddof,
                                   .exact = q->exact,
                                   .offsets = q->segmented ? &offsets : NULL,
                                   .call = {.strategy = strategy}};
    return tess_reduce(context, q->operation, &in->tensor, &out->tensor, &options);
}

static int out_shape(const problem *q, int64_t *shape) {
    int ndim = 0;
    for (int d = 0; d < q->ndim; d++) {
        bool reduced = false;
        for (int i = 0; i < q->naxes; i++)
            reduced |= q->axes[i] == d;
        if (!reduced)
            shape[ndim++] = q->shape[d];
        else if (q->segmented)
            shape[ndim++] = q->segments;
    }
    return ndim;
}

static void describe(char *text, size_t size, const problem *q) {
    char shape[80];
    snprintf(text, size, "%s %s->%s %s axes %d:%d%d%d nan %d exact %d segments %d", tess_reduction_name(q->operation), tess_type_name(q->in),
             tess_type_name(q->out),
             (snprintf(shape, sizeof shape, "%lldx%lldx%lldx%lld", (long long)q->shape[0], (long long)q->shape[1], (long long)q->shape[2],
                       (long long)q->shape[3]),
              shape),
             q->naxes, q->axes[0], q->axes[1], q->axes[2], (int)q->nan, q->exact, (int)q->segments);
}

/* Runs a problem by every row on some contexts, in several layouts of the same values. Returns whether it was valid. */
static bool compare_rows(const problem *q, uint64_t *random, int fill, int contexts_to_try) {
    int64_t shape[4];
    int ndim = out_shape(q, shape);
    char text[256];
    hostile_array in, expected;
    describe(text, sizeof text, q);
    hostile_make(&in, random, q->in, q->ndim, q->shape, HOSTILE_COMPACT);
    hostile_make(&expected, random, q->out, ndim, shape, HOSTILE_COMPACT);
    hostile_fill(&in, random, fill);
    if (fill != 0)
        sprinkle(&in, random, hostile_between(random, 0, 3) == 0 ? 3 : 5000);
    tess_status status = call(contexts[0], q, &in, &expected, "reduce/reference");
    static int number;
    for (int layout = 0; layout < HOSTILE_LAYOUTS; layout++) {
        hostile_array same, out;
        if (hostile_spared(number++, 10))
            continue;
        hostile_make(&same, random, q->in, q->ndim, q->shape, layout);
        hostile_copy(&same, &in);
        for (int r = 0; r < tess_reduce_op.count; r++) {
            const tess_strategy *row = &tess_reduce_op.rows[r];
            for (int c = 0; c < GENERATIONS * contexts_to_try; c++) {
                tess_context *context = nth_context(c % GENERATIONS * context_count + (int)hostile_between(random, 0, context_count - 1));
                hostile_make(&out, random, q->out, ndim, shape, layout);
                tess_status got = call(context, q, &same, &out, row->name);
                if (got == TESS_ERR_STRATEGY) { /* says applicable() */
                    assert_true(strcmp(row->name, "reduce/reference") != 0);
                } else {
                    if (got != status)
                        fail_msg("%s by %s: %s where the reference says %s (%s)", text, row->name, tess_status_name(got), tess_status_name(status),
                                 tess_detail());
                    int64_t at = status == TESS_OK ? hostile_differs(&out, &expected) : -1;
                    if (at >= 0)
                        fail_msg("%s by %s, layout %d, context %d: output %lld differs: %016llx, expected %016llx", text, row->name, layout, c,
                                 (long long)at, *(unsigned long long *)hostile_element(&out, at),
                                 *(unsigned long long *)hostile_element(&expected, at));
                    ran[r][context->slot] += status == TESS_OK;
                    if (!hostile_intact(&out))
                        fail_msg("%s by %s, layout %d: wrote beside the output", text, row->name, layout);
                }
                hostile_free(&out);
            }
        }
        assert_true(hostile_intact(&same));
        hostile_free(&same);
    }
    hostile_free(&in);
    hostile_free(&expected);
    return status == TESS_OK;
}

static problem random_problem(uint64_t *random, int64_t most) {
    problem q = {.operation = (tess_reduction)hostile_between(random, 0, TESS_NORM_INF),
                 .in = (tess_type)hostile_between(random, tess_bool, tess_c128)};
    q.out = (tess_type)hostile_between(random, tess_bool, tess_c128);
    q.ndim = (int)hostile_between(random, 0, 4);
    q.nan = (tess_nan)hostile_between(random, 0, 1);
    q.ddof = (double)hostile_between(random, -1, 3) / 2;
    q.exact = hostile_between(random, 0, 3) == 0 && (q.operation == TESS_SUM || q.operation == TESS_MEAN || q.operation >= TESS_NORM1);
    for (int d = 0; d < q.ndim; d++) {
        q.shape[d] =
            hostile_between(random, 0, 9) == 0 ? hostile_between(random, 0, 1) : hostile_between(random, 1, hostile_between(random, 1, most));
        most = most / (q.shape[d] ? q.shape[d] : 1) + 1;
        if (hostile_between(random, 0, 1))
            q.axes[q.naxes++] = d;
    }
    if (q.naxes == 1 && hostile_between(random, 0, 2) == 0) {
        q.segmented = true;
        q.segments = hostile_between(random, 0, 5);
        int64_t size = q.shape[q.axes[0]];
        for (int64_t s = 0; s <= q.segments; s++)
            q.offsets[s] = hostile_between(random, s ? q.offsets[s - 1] : 0, size);
    }
    return q;
}

static void small_problems(void **state) {
    uint64_t random = 1;
    int valid = 0;
    (void)state;
    for (int i = 0; i < 8000; i++) {
        problem q = random_problem(&random, 300);
        valid += compare_rows(&q, &random, i % 3, 1);
    }
    assert_true(valid > 3000);
}

/* Lengths around the strips, leaves and pairs of leaves, where threads share a sum. */
static void long_problems(void **state) {
    static const int64_t sizes[] = {255, 256, 257, 2047, 2049, 8191, 8192, 8193, 16384, 16385, 40000, 70001, 99999};
    uint64_t random = 2;
    (void)state;
    for (int operation = 0; operation <= TESS_NORM_INF; operation++)
        for (int type = tess_bool; type <= tess_c128; type++) {
            problem q = {.operation = (tess_reduction)operation,
                         .in = (tess_type)type,
                         .ndim = 1,
                         .naxes = 1,
                         .nan = (tess_nan)((operation + type) & 1),
                         .ddof = 1};
            q.out = operation >= TESS_ARGMIN && operation <= TESS_COUNT_NONZERO ? tess_i64
                    : type >= tess_c64 && operation < TESS_NORM1                ? tess_c128
                                                                                : tess_f64;
            if (type == tess_f32 || type == tess_f16)
                q.out = tess_f32;
            q.shape[0] = sizes[hostile_between(&random, 0, TESS_COUNT(sizes) - 1)];
            compare_rows(&q, &random, type % 2 + 1, 2);
        }
}

/* Slow axes and middle axes of several leaves, beside kept ones of all widths. */
static void wide_problems(void **state) {
    uint64_t random = 3;
    (void)state;
    for (int operation = 0; operation <= TESS_NORM_INF; operation++)
        for (int k = 0; k < 4; k++) {
            static const tess_type types[] = {tess_f32, tess_f64, tess_bf16, tess_i16, tess_u8, tess_c64, tess_u64, tess_f16};
            problem q = {.operation = (tess_reduction)operation,
                         .in = types[(operation + 2 * k) % TESS_COUNT(types)],
                         .ndim = 3,
                         .naxes = 1 + (k == 3),
                         .axes = {k == 2, 1},
                         .shape = {hostile_between(&random, 1, 4), 1, hostile_between(&random, 1, 12)},
                         .nan = (tess_nan)(k & 1)};
            q.out = q.in == tess_c64 && operation < TESS_NORM1 ? tess_c64 : (tess_type)hostile_between(&random, tess_i64, tess_f64);
            q.shape[k == 2 ? 1 : 0] = hostile_between(&random, 8000, 20000);
            compare_rows(&q, &random, 1, 1);
        }
    for (int k = 0; k < 2; k++) { /* exact sums of so many columns that some lines of each row are turned at once, in two goes */
        problem q = {.operation = TESS_SUM, .in = k ? tess_f64 : tess_f32, .ndim = 2, .naxes = 1, .shape = {2060, k ? 140 : 270}, .exact = true};
        q.out = q.in;
        compare_rows(&q, &random, k, 1);
    }
}

/* Middle axes whose rows lie side by side, past L2: as many streams as the lanes have rows, some rows missing, rows of whole lines and not (columns_streams.c). */
static void rows_in_streams(void **state) {
    static const int64_t lengths[] = {512, 600, 768, 1000, 1024, 1300, 2048, 2500, 4095, 4096};
    uint64_t random = 41;
    (void)state;
    for (int i = 0; i < (int)TESS_COUNT(lengths); i++) {
        const tess_type type = i % 3 == 2 ? tess_f64 : tess_f32;
        const int64_t most = (lengths[i] > 2048   ? 2048
                              : lengths[i] > 1024 ? 4096
                                                  : 8192) /
                             (int64_t)tess_type_size(type); /* of a row that is taken so */
        problem q = {.operation = i % 4 == 3 ? TESS_MEAN : TESS_SUM,
                     .in = type,
                     .out = type,
                     .ndim = 3,
                     .naxes = 1,
                     .axes = {1},
                     .shape = {2, lengths[i], i % 2 ? hostile_between(&random, most / 2, most) : most}};
        compare_rows(&q, &random, i % 3, 1);
    }
}

/* Whole rows without gaps, past L2, whose order is free and which are read from several places in turns (columns.h): more than a leaf of them and less, rows left
 * over, more of them than a narrow sum holds. */
static void rows_read_through(void **state) {
    static const tess_type types[] = {tess_u8, tess_f32, tess_i16, tess_u32, tess_f64, tess_i8, tess_i64, tess_u16, tess_f16, tess_i32};
    static const int64_t lengths[] = {128, 300, 8192 + 133, 1021, 135, 600, 2050, 257, 519, 131};
    uint64_t random = 43;
    (void)state;
    for (int i = 0; i < (int)TESS_COUNT(types); i++) {
        const int64_t size = (int64_t)tess_type_size(types[i]);
        problem q = {.operation = i % 3 == 0   ? TESS_SUM
                                  : i % 3 == 1 ? TESS_MAX
                                               : TESS_MIN,
                     .in = types[i],
                     .out = types[i],
                     .ndim = 2,
                     .naxes = 1,
                     .shape = {lengths[i], (5 << 18) / lengths[i] / size + hostile_between(&random, 260, 300)},
                     .nan = (tess_nan)(i % 4 == 1)};
        if (!tess_is_float(types[i]) && q.operation == TESS_SUM)
            q.out = tess_i64;
        compare_rows(&q, &random, i % 3, 1);
    }
}

/* Many short runs, which are turned; 16 to 300 of them, of 1 to 260 elements, whole numbers of vectors and tiles among them. */
static void short_problems(void **state) {
    uint64_t random = 4;
    (void)state;
    for (int operation = 0; operation <= TESS_NORM_INF; operation++)
        for (int type = tess_bool; type <= tess_c128; type++)
            for (int k = 0; k < 4; k++) {
                static const int64_t lengths[] = {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 64, 100, 255, 256, 257};
                problem q = {.operation = (tess_reduction)operation,
                             .in = (tess_type)type,
                             .ndim = 2,
                             .naxes = 1,
                             .axes = {1},
                             .shape = {hostile_between(&random, 1, 300), lengths[hostile_between(&random, 0, TESS_COUNT(lengths) - 1)]},
                             .nan = (tess_nan)(k == 3),
                             .ddof = 1};
                q.out = type >= tess_c64 && operation < TESS_NORM1 ? tess_c128
                        : k == 0 && tess_is_float((tess_type)type) ? (tess_type)type
                        : k == 1                                   ? tess_f32
                                                                   : (tess_type)hostile_between(&random, tess_bool, tess_f64);
                compare_rows(&q, &random, k % 3, 2);
            }
    for (int k = 0; k < 200; k++) { /* plain sums have a row of their own */
        problem q = {.operation = k % 3 ? TESS_SUM : TESS_MEAN, .in = k % 2 ? tess_f32 : tess_f64, .ndim = 2, .naxes = 1, .axes = {1}};
        q.shape[0] = hostile_between(&random, 1, 600);
        q.shape[1] =
            k % 4 < 2 ? hostile_between(&random, 1, 256) : (int64_t)8 << hostile_between(&random, 0, 5); /* of whole lines there are loops, too */
        q.out = q.in;
        compare_rows(&q, &random, k % 3, 2);
    }
}

/* Rows of nothing but -0, whose sum starts from +0, and rows with one +0 among them. */
static void rows_of_zeros(void **state) {
    uint64_t random = 9;
    (void)state;
    for (int64_t k = 1; k <= 256; k += k < 20 ? 1 : 13)
        for (int wide = 0; wide < 2; wide++) {
            const tess_type type = wide ? tess_f64 : tess_f32;
            const problem q = {.in = type, .out = type, .ndim = 2, .naxes = 1, .axes = {1}, .shape = {50, k}};
            hostile_array in, expected, out;
            hostile_make(&in, &random, type, 2, q.shape, HOSTILE_COMPACT);
            hostile_make(&expected, &random, type, 1, q.shape, HOSTILE_COMPACT);
            for (int64_t i = 0; i < 50 * k; i++) {
                const double x = i / k % 3 == 0 && i % k == k / 2 ? 0.0 : -0.0;
                const float y = (float)x;
                memcpy(hostile_element(&in, i), wide ? (const void *)&x : &y, (size_t)in.itemsize);
            }
            assert_tess_ok(call(contexts[0], &q, &in, &expected, "reduce/reference"));
            for (int c = 0; c < GENERATIONS * context_count; c++) {
                hostile_make(&out, &random, type, 1, q.shape, HOSTILE_COMPACT);
                assert_tess_ok(call(nth_context(c), &q, &in, &out, "reduce/short"));
                assert_int_equal(hostile_differs(&out, &expected), -1);
                hostile_free(&out);
            }
            hostile_free(&in);
            hostile_free(&expected);
        }
}

/* Rows of elements of one and two bytes, 64 and 32 of which are turned at once: some more, some fewer, of every length up to 20. Then rows of one value, the ends of
 * its type among them, of as many terms as counts and sums in narrow lanes hold. */
static void rows_of_narrow_elements(void **state) {
    static const tess_type types[] = {tess_bool, tess_u8, tess_i8, tess_u16, tess_i16, tess_f16, tess_bf16, tess_f32};
    static const int64_t lengths[] = {31, 32, 33, 64, 100, 127, 129, 255, 256};
    static const int values[] = {0, 0x7f, 0x80, 0xff};
    uint64_t random = 13;
    (void)state;
    for (int operation = 0; operation <= TESS_NORM_INF; operation++)
        for (int type = 0; type < (int)TESS_COUNT(types); type++) {
            for (int k = 0; k < 6; k++) {
                problem q = {
                    .operation = (tess_reduction)operation, .in = types[type], .ndim = 2, .naxes = 1, .axes = {1}, .nan = (tess_nan)(k == 5)};
                q.shape[0] = 64 * hostile_between(&random, 1, 4) + hostile_between(&random, -2, 2);
                q.shape[1] = k < 4 ? hostile_between(&random, 1, 20) : lengths[hostile_between(&random, 0, TESS_COUNT(lengths) - 1)];
                q.out = k % 2 ? tess_f64 : tess_is_float(q.in) ? q.in : tess_i64;
                compare_rows(&q, &random, k % 3, 2);
            }
            for (int k = 0; k < (int)TESS_COUNT(values) && types[type] != tess_bool; k++) {
                const problem q = {.operation = (tess_reduction)operation,
                                   .in = types[type],
                                   .out = tess_f64,
                                   .ndim = 2,
                                   .naxes = 1,
                                   .axes = {1},
                                   .shape = {70, 256 - k % 2}};
                hostile_array in, expected, out;
                hostile_make(&in, &random, q.in, 2, q.shape, HOSTILE_COMPACT);
                hostile_make(&expected, &random, q.out, 1, q.shape, HOSTILE_COMPACT);
                memset(hostile_first(&in), values[k], (size_t)(hostile_count(&in) * in.itemsize));
                assert_tess_ok(call(contexts[0], &q, &in, &expected, "reduce/reference"));
                for (int c = 0; c < GENERATIONS * context_count; c++) {
                    hostile_make(&out, &random, q.out, 1, q.shape, HOSTILE_COMPACT);
                    assert_tess_ok(call(nth_context(c), &q, &in, &out, NULL));
                    assert_int_equal(hostile_differs(&out, &expected), -1);
                    hostile_free(&out);
                }
                hostile_free(&in);
                hostile_free(&expected);
            }
        }
}

/* Least and greatest elements that are zeros of one sign or both, among negative or positive numbers, with NaNs or without; and whole leaves of -0. */
static void extremes_that_are_zeros(void **state) {
    uint64_t random = 10;
    (void)state;
    for (int k = 0; k < 400; k++) {
        const bool wide = k & 1, least = k & 2, nan = k & 4, leaves = k >= 384;
        const tess_type type = wide ? tess_f64 : tess_f32;
        const problem q = {.operation = leaves  ? TESS_SUM
                                        : least ? TESS_MIN
                                                : TESS_MAX,
                           .nan = k & 8 ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE,
                           .in = type,
                           .out = type,
                           .ndim = 1,
                           .naxes = 1,
                           .shape = {leaves ? 20 * REDUCE_LEAF : hostile_between(&random, 1, 1500)}};
        const int rest = leaves ? 0 : (int)hostile_between(&random, 0, 3), signs = leaves ? 1 : (int)hostile_between(&random, 0, 2);
        hostile_array in, expected, out;
        hostile_make(&in, &random, type, 1, q.shape, HOSTILE_COMPACT);
        hostile_make(&expected, &random, type, 0, q.shape, HOSTILE_COMPACT);
        for (int64_t i = 0; i < q.shape[0]; i++) {
            double x = signs == 0 || (signs == 2 && hostile_between(&random, 0, 200) == 0) ? 0.0 : -0.0;
            if (rest && hostile_between(&random, 0, 3) < rest)
                x = least ? 1.5 : -1.5;
            if (nan && !leaves && hostile_between(&random, 0, 300) == 0)
                x = NAN;
            const float y = (float)x;
            memcpy(hostile_element(&in, i), wide ? (const void *)&x : &y, (size_t)in.itemsize);
        }
        assert_tess_ok(call(contexts[0], &q, &in, &expected, "reduce/reference"));
        for (int c = 0; c < GENERATIONS * context_count; c++) {
            hostile_make(&out, &random, type, 0, q.shape, HOSTILE_COMPACT);
            assert_tess_ok(call(nth_context(c), &q, &in, &out, "reduce/lanes"));
            assert_int_equal(hostile_differs(&out, &expected), -1);
            hostile_free(&out);
        }
        hostile_free(&in);
        hostile_free(&expected);
    }
}

/* Leaves of few columns, which threads share; and fewer rows, around a wide row and a leaf. */
static void narrow_problems(void **state) {
    uint64_t random = 5;
    (void)state;
    for (int operation = 0; operation <= TESS_NORM_INF; operation++)
        for (int k = 0; k < 3; k++) {
            static const tess_type types[] = {tess_f32, tess_f16, tess_f64, tess_i32, tess_u8, tess_bf16, tess_c64};
            problem q = {.operation = (tess_reduction)operation,
                         .in = types[(operation + k) % TESS_COUNT(types)],
                         .ndim = 2,
                         .naxes = 1,
                         .axes = {0},
                         .shape = {hostile_between(&random, 20000, 50000), hostile_between(&random, 1, 6)},
                         .nan = (tess_nan)(k == 2)};
            q.out = q.in == tess_c64 && operation < TESS_NORM1 ? tess_c64 : operation == TESS_SUM || operation >= TESS_NORM1 ? tess_f64 : tess_i64;
            compare_rows(&q, &random, k % 2 + 1, 1);
        }
    for (int operation = 0; operation <= TESS_NORM_INF; operation++)
        for (int type = tess_bool; type <= tess_c128; type++)
            for (int k = 0; k < 2; k++) {
                static const int64_t rows[] = {64, 100, 255, 256, 257, 511, 2000, 8191, 8193};
                problem q = {.operation = (tess_reduction)operation,
                             .in = (tess_type)type,
                             .ndim = 2,
                             .naxes = 1,
                             .axes = {0},
                             .shape = {rows[hostile_between(&random, 0, TESS_COUNT(rows) - 1)], hostile_between(&random, 1, 20)},
                             .nan = (tess_nan)k,
                             .ddof = 1};
                q.out = type >= tess_c64 && operation < TESS_NORM1 ? tess_c128 : tess_f64;
                compare_rows(&q, &random, k + 1, 2);
            }
}

/* Eight rows of columns at once: as many rows as fill lanes of one to 32 rows, and some more or fewer; at least a vector of columns, and too wide for narrow ones.
 * Outputs whose runs follow one another, many at once: lengths around rows of lanes and leaves. Now and then with a NaN policy, which goes another way. */
static void lanes_together(void **state) {
    static const int64_t rows[] = {32, 33, 100, 255, 256, 257, 512, 600, 768, 1000, 1024, 1280, 2048, 2500, 4096, 8192, 8449};
    static const int64_t lengths[] = {257, 300, 511, 512, 1000, 1024, 2300, 4095, 8191, 8192, 8200, 16384, 20001};
    static const tess_type types[] = {tess_f32, tess_f64, tess_f16, tess_bf16, tess_i32, tess_u8};
    static const tess_reduction kinds[] = {TESS_SUM, TESS_MEAN, TESS_NORM1, TESS_NORM2, TESS_VAR, TESS_MAX, TESS_ARGMIN, TESS_NORM_INF};
    uint64_t random = 11;
    int number = 0;
    (void)state;
    for (int kind = 0; kind < (int)TESS_COUNT(kinds); kind++)
        for (int type = 0; type < (int)TESS_COUNT(types); type++)
            for (int k = 0; k < 5; k++) {
                problem q = {.operation = kinds[kind], .in = types[type], .naxes = 1, .nan = (tess_nan)(k == 4), .ddof = 1};
                if (hostile_spared(number++, 24))
                    continue;
                if (k < 3) {
                    const int64_t n = rows[hostile_between(&random, 0, TESS_COUNT(rows) - 1)], most = tess_max64(17, 40000 / n);
                    q.ndim = 2 + (k == 2);
                    q.axes[0] = k == 2;
                    q.shape[k == 2] = n;
                    q.shape[1 + (k == 2)] = hostile_between(&random, n > 2000 ? 65 : 16, most < 66 ? 66 : tess_min64(most, 700));
                    if (k == 2)
                        q.shape[0] = 2;
                } else {
                    q.ndim = 2;
                    q.axes[0] = 1;
                    q.shape[1] = lengths[hostile_between(&random, 0, TESS_COUNT(lengths) - 1)];
                    q.shape[0] = hostile_between(&random, 1, tess_max64(2, 20000 / q.shape[1]));
                }
                q.out = kinds[kind] == TESS_ARGMIN ? tess_i64 : k % 2 || !tess_is_float(q.in) ? tess_f64 : tess_f32;
                compare_rows(&q, &random, k % 3, 2);
            }
    for (int k = 0; k < 6; k++) { /* columns of more blocks than one */
        problem q = {.operation = kinds[k % 3 + 2], .in = types[k / 3 * 2], .out = tess_f64, .ndim = 2, .naxes = 1, .shape = {40, 4500}};
        compare_rows(&q, &random, 1, 1);
    }
    for (int k = 0; k < 8; k++) { /* of integers and extremes of narrow elements, which have blocks of their own */
        static const tess_type narrow[] = {tess_u8, tess_i16, tess_f16, tess_i8};
        problem q = {.operation = k < 4 ? TESS_SUM : TESS_MIN,
                     .in = narrow[k % 4],
                     .out = tess_f64,
                     .ndim = 2,
                     .naxes = 1,
                     .shape = {64, k % 4 % 3 ? 4500 : 8300}};
        q.out = k >= 4 ? q.in : k == 2 ? tess_f32 : tess_i64;
        compare_rows(&q, &random, 2, 1);
    }
}

/* Places along rows of outputs that follow one another: the greatest element more than once, zeros of both signs, NaNs behind it, rows of nothing but NaNs. */
static void places_of_rows(void **state) {
    enum { ROWS = 9 };
    static const int64_t lengths[] = {1, 1023, 2047, 2048, 2049, 4095, 4096, 4097, 6143, 6144, 8192, 10000, 16385};
    uint64_t random = 12;
    (void)state;
    for (int k = 0; k < 8 * (int)TESS_COUNT(lengths); k++) {
        const bool wide = k & 1;
        const tess_type type = wide ? tess_f64 : tess_f32;
        const int64_t n = lengths[k / 8];
        const problem q = {.operation = k & 2 ? TESS_ARGMIN : TESS_ARGMAX,
                           .nan = k & 4 ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE,
                           .in = type,
                           .out = tess_i64,
                           .ndim = 2,
                           .naxes = 1,
                           .axes = {1},
                           .shape = {ROWS, n}};
        hostile_array in, expected, out;
        hostile_make(&in, &random, type, 2, q.shape, HOSTILE_COMPACT);
        hostile_make(&expected, &random, tess_i64, 1, q.shape, HOSTILE_COMPACT);
        for (int64_t row = 0; row < ROWS; row++) {
            const double best = row % 3 == 0 ? 0 : 2, rest = row == ROWS - 1 ? (double)NAN : k & 2 ? 3 : -3;
            for (int64_t i = 0; i < n; i++) {
                const int64_t draw = hostile_between(&random, 0, 3000);
                const double x = draw == 0 && row % 2                     ? (double)NAN
                                 : draw > 0 && draw < 4 && row < ROWS - 1 ? (draw == 1 ? -best : best) * (k & 2 ? -1 : 1)
                                                                          : rest;
                const float y = (float)x;
                memcpy(hostile_element(&in, row * n + i), wide ? (const void *)&x : &y, (size_t)in.itemsize);
            }
        }
        assert_tess_ok(call(contexts[0], &q, &in, &expected, "reduce/reference"));
        for (int c = 0; c < GENERATIONS * context_count; c++) {
            hostile_make(&out, &random, tess_i64, 1, q.shape, HOSTILE_COMPACT);
            assert_tess_ok(call(nth_context(c), &q, &in, &out, "reduce/lanes"));
            assert_int_equal(hostile_differs(&out, &expected), -1);
            hostile_free(&out);
        }
        hostile_free(&in);
        hostile_free(&expected);
    }
}

/* Every row was compared often, on everything that this processor has. */
static void all_rows_ran(void **state) {
    (void)state;
    for (int r = 0; r < tess_reduce_op.count; r++)
        for (int c = 0; c < context_count; c++)
            if (ran[r][contexts[c]->slot] < GENERATIONS * (TESS_SANITIZED ? 10 : 60))
                fail_msg("%s was compared %d times only on slot %d", tess_reduce_op.rows[r].name, ran[r][contexts[c]->slot], (int)contexts[c]->slot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_problems),  cmocka_unit_test(long_problems),           cmocka_unit_test(wide_problems),
        cmocka_unit_test(rows_in_streams), cmocka_unit_test(rows_read_through),       cmocka_unit_test(short_problems),
        cmocka_unit_test(rows_of_zeros),   cmocka_unit_test(extremes_that_are_zeros), cmocka_unit_test(narrow_problems),
        cmocka_unit_test(lanes_together),  cmocka_unit_test(places_of_rows),          cmocka_unit_test(rows_of_narrow_elements),
        cmocka_unit_test(all_rows_ran)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_strips_gpu.c - proves: segments of rows (reduce/tree_strips) give the reference's bytes: one column to some strips of them, widths that fill no vector, no strip; segments of a few rows beside such as have leaves of
 * their own, with every kind of folding; sets of columns. On a card when there is one, else on the virtual GPU. */
#include "reduce_segments.h"

typedef struct fold {
    tess_reduction operation;
    tess_type in, out;
    tess_nan nan;
} fold;

/* One of each text of the kernel: lanes of each node, looks of a variance, what no order can change by words and by elements. */
static const fold folds[] = {{TESS_SUM, tess_f32, tess_f32, 0},
                             {TESS_SUM, tess_f16, tess_f16, TESS_NAN_OMIT},
                             {TESS_MEAN, tess_f64, tess_f64, 0},
                             {TESS_PROD, tess_bf16, tess_f32, 0},
                             {TESS_NORM2, tess_u8, tess_f64, 0},
                             {TESS_SUM, tess_c64, tess_c64, 0},
                             {TESS_PROD, tess_c128, tess_c128, TESS_NAN_OMIT},
                             {TESS_NORM1, tess_f32, tess_f64, TESS_NAN_OMIT},
                             {TESS_MEAN, tess_c64, tess_c64, TESS_NAN_OMIT},
                             {TESS_VAR, tess_f32, tess_f32, 0},
                             {TESS_STD, tess_u8, tess_f64, 0},
                             {TESS_VAR, tess_bf16, tess_bf16, TESS_NAN_OMIT},
                             {TESS_VAR, tess_f64, tess_f64, TESS_NAN_OMIT},
                             {TESS_VAR, tess_i32, tess_f32, 0},
                             {TESS_MAX, tess_f32, tess_f32, 0},
                             {TESS_MIN, tess_u8, tess_u8, 0},
                             {TESS_MAX, tess_f16, tess_f16, TESS_NAN_OMIT},
                             {TESS_NORM_INF, tess_c64, tess_f32, 0},
                             {TESS_ARGMAX, tess_i8, tess_i64, 0},
                             {TESS_ARGMIN, tess_f32, tess_i32, TESS_NAN_OMIT},
                             {TESS_ARGMAX, tess_u16, tess_i64, 0},
                             {TESS_ARGMIN, tess_f64, tess_i64, 0},
                             {TESS_SUM, tess_u8, tess_u64, 0},
                             {TESS_NORM1, tess_u16, tess_u64, 0},
                             {TESS_SUM, tess_i32, tess_i64, 0},
                             {TESS_PROD, tess_i16, tess_i64, 0},
                             {TESS_ANY, tess_u8, tess_bool, 0},
                             {TESS_ALL, tess_bool, tess_bool, 0},
                             {TESS_COUNT_NONZERO, tess_f16, tess_i64, TESS_NAN_OMIT},
                             {TESS_COUNT_NONZERO, tess_i8, tess_i32, 0}};

static bool needs_elements(tess_reduction operation) {
    return operation == TESS_MIN || operation == TESS_MAX || operation == TESS_ARGMIN || operation == TESS_ARGMAX;
}

static void of_width(const fold *f, int number, const lengths *l, int64_t width, uint64_t *random) {
    work w = {.operation = f->operation, .in = f->in, .out = f->out, .nan = f->nan, .fill = 1 + number % 2, .axis = number % 3 == 2};
    w.ndim = 2 + w.axis;
    w.layout = number % 5 == 4 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
    w.shape[0] = 2;
    w.shape[w.axis] = l->offset[l->count] + number % 4;
    w.shape[w.axis + 1] = width;
    compare(&w, l, random);
}

/* Some rows each: fewer than a thread has lanes at once, as many, more; none. */
static void short_ones(void **state) {
    (void)state;
    uint64_t random = 21;
    static const int64_t sizes[] = {1, 8, 0, 9, 3, 16, 17, 2, 33, 64, 5, 0, 65, 100, 7, 1, 127, 4, 15, 32},
                         widths[] = {4, 33, 1, 16, 130, 7, 48, 3, 128, 257};
    for (int i = 0; i < TESS_COUNT(folds); i++)
        for (int j = 0; j < 4; j++) {
            lengths l = {.count = 37 - i % 7, .offset = {i % 3}};
            for (int64_t s = 0; s < l.count; s++) {
                const int64_t n = sizes[(s * 3 + i) % TESS_COUNT(sizes)];
                const int64_t brief =
                    j == 2 ? n % 4 + n % 2 : (s + n) % 2 + (s % 5 == 0); /* several of a thread's at once, and longer ones among them */
                const int64_t wanted = j < 2 || s % 9 == 4 ? n : brief;
                l.offset[s + 1] = l.offset[s] + (wanted == 0 && needs_elements(folds[i].operation) ? 1 : wanted);
            }
            of_width(&folds[i], i + j, &l, widths[(i * 3 + j) % TESS_COUNT(widths)], &random);
        }
}

/* Beside segments of some rows such as have a block, one that has leaves, and one of a whole leaf to the last row. */
static void long_ones(void **state) {
    (void)state;
    uint64_t random = 22;
    static const int64_t sizes[] = {3, 300, 1, 8193, 12, 129, 2, 1025, 5, 20000, 7, 8192, 40, 256}, widths[] = {4, 17, 2, 32, 5};
    for (int i = 0; i < TESS_COUNT(folds); i++) {
        lengths l = {.count = TESS_COUNT(sizes), .offset = {i % 3}};
        for (int64_t s = 0; s < l.count; s++)
            l.offset[s + 1] = l.offset[s] + tess_ceil_div(sizes[(s + i) % TESS_COUNT(sizes)], TESS_SANITIZED && s % 2 ? 7 : 1);
        of_width(&folds[i], i * 2, &l, widths[i % TESS_COUNT(widths)], &random);
    }
}

/* Few elements of many outputs each, which lie apart: segments of one or two, and no elements. */
static void apart(void **state) {
    (void)state;
    uint64_t random = 25;
    for (int i = 0; i < TESS_COUNT(folds); i++) {
        lengths l = {.count = 7, .offset = {i % 2}};
        const bool some = needs_elements(folds[i].operation);
        for (int64_t s = 0; s < l.count; s++)
            l.offset[s + 1] = l.offset[s] + (s + i) % 3 + (some && (s + i) % 3 == 0);
        work w = {.operation = folds[i].operation, .in = folds[i].in, .out = folds[i].out, .nan = folds[i].nan, .fill = 1 + i % 2};
        w.ndim = 2;
        w.axis = 1;
        w.layout = i % 3 == 1 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
        w.shape[0] = 70;
        w.shape[1] = l.offset[l.count] + 1;
        compare(&w, &l, &random);
    }
}

/* Most of the rows in long segments, of which there are many: teams that are whole warps, leaves that are not split. */
static void mostly_long(void **state) {
    (void)state;
    uint64_t random = 23;
    for (int i = 0; i < TESS_COUNT(folds); i++) {
        lengths l = {.count = 60, .offset = {2}};
        if (hostile_spared(i, 6))
            continue;
        for (int64_t s = 0; s < l.count; s++)
            l.offset[s + 1] = l.offset[s] + 100 + (s * 37 + i) % 400;
        of_width(&folds[i], i, &l, i % 2 ? 8 : 3, &random);
    }
}

/* The rows of several segments are one column each of a strip that begins anywhere; a hundred nodes of a segment are paired side by side. */
static void many_leaves(void **state) {
    (void)state;
    uint64_t random = 24;
    static const int64_t sizes[] = {2, 8192 * 21 + 5, 9};
    lengths l = {.count = TESS_COUNT(sizes), .offset = {1}};
    if (TESS_SANITIZED) {
        print_message("eleven times 170 thousand rows take minutes here\n");
        skip();
    }
    for (int64_t s = 0; s < l.count; s++)
        l.offset[s + 1] = l.offset[s] + sizes[s];
    for (int i = 0; i < TESS_COUNT(folds); i += 3)
        of_width(&folds[i], 5 * i, &l, 2, &random);
}

static void chosen(void **state) {
    (void)state;
    static struct {
        int64_t shape[3];
        int axis;
        const char *row;
    } cases[] = {{{100000, 64, 1}, 0, "tree_strips"},
                 {{10, 10000, 2}, 1, "tree_strips"},
                 {{100000, 1, 1}, 0, "tree_stretches"},
                 {{3, 1000, 5}, 2, "tree_strips"},
                 {{64, 1, 10000}, 2, "tree_segments"}};
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        const int axis = cases[i].axis;
        const bool few = cases[i].shape[axis] < 100;
        int64_t offset[] = {0, few ? 1 : 100, few ? 3 : 5000, cases[i].shape[axis]}, size = 4,
                outputs[] = {cases[i].shape[0], cases[i].shape[1], cases[i].shape[2]};
        outputs[axis] = 3;
        tess_plan *plan;
        const DLTensor in = tess_view(NULL, tess_f32, 3, cases[i].shape, NULL), out = tess_view(NULL, tess_f32, 3, outputs, NULL),
                       offsets = tess_view(offset, tess_i64, 1, &size, NULL);
        const tess_reduce_options options = {
            .struct_size = sizeof options, .axes = &axis, .naxes = 1, .offsets = &offsets, .call = {.engine = engine}};
        assert_tess_ok(tess_plan_reduce(&plan, context, TESS_SUM, &in, &out, &options));
        gpu_test_chosen(plan, cases[i].row, i);
    }
}

static void rows_were_compared(void **state) {
    (void)state;
    for (int r = 0; r < tess_reduce_op.gpu_count; r++)
        if (strcmp(tess_reduce_op.gpu_rows[r].name, "reduce/tree_strips") == 0 && ran[r] < (engine == TESS_ENGINE_VIRTUAL ? 2 : 10))
            fail_msg("compared %d times only", ran[r]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_ones),  cmocka_unit_test(long_ones), cmocka_unit_test(mostly_long),       cmocka_unit_test(apart),
        cmocka_unit_test(many_leaves), cmocka_unit_test(chosen),    cmocka_unit_test(rows_were_compared)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

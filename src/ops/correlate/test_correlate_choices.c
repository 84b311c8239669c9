/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_choices.c - proves: lists over short rows go to padded blocks, and integers by integer masks to sums of f32, where those were measured to be quicker than
 * passes row by row and packed integers (strategies.c), on the instruction sets on which they were, and elsewhere to packed integers; lists of two to packed integers of their
 * product where those were; a stretch of outputs by few taps goes to correlate/rows. All rows give the same bits, so a wrong choice shows in no other test. */
#include "correlate_contexts.h"

typedef struct choice {
    tess_type in, out, by;
    int64_t shape[3], mask[3]; /* 0: no such axis */
    int list;                  /* masks of a list, each of mask[0] taps; 0: one mask */
    int axis;                  /* the first of the mask's */
    const char *row[3];        /* baseline, AVX2, AVX-512 */
} choice;

static int count_of(int64_t *sizes) {
    int count = 0;
    while (count < 3 && sizes[count] > 0)
        count++;
    return count;
}

static void check(choice *c, const char *name, char *in, char *out, char *weights) {
    const int ndim = count_of(c->shape), taps = count_of(c->mask), axes[3] = {c->axis, c->axis + 1, c->axis + 2};
    const DLTensor from = tess_view(in, c->in, ndim, c->shape, NULL), to = tess_view(out, c->out, ndim, c->shape, NULL),
                   mask = tess_view(weights, c->by, taps, c->mask, NULL);
    const DLTensor *list[3] = {&mask, &mask, &mask};
    for (int i = 0; i < 3; i++) {
        tess_report report = {.struct_size = sizeof report};
        const tess_correlate_options options = {
            .struct_size = sizeof options, .boundary = TESS_BOUNDARY_MIRROR, .axes = axes, .naxes = c->list ? c->list : taps, .call.report = &report};
        if (!contexts[i][0])
            continue;
        if (c->list)
            assert_tess_ok(tess_correlate_separable(contexts[i][0], &from, list, c->list, &to, &options));
        else
            assert_tess_ok(tess_correlate(contexts[i][0], &from, &mask, &to, &options));
        if (strcmp(report.strategy, c->row[i]) != 0)
            fail_msg("%s on isa %d: %s, %s was expected", name, isas[i], report.strategy, c->row[i]);
    }
}

#define PACKED "correlate/packed"
#define PADDED "correlate/padded"
#define WINDOW "correlate/window"
#define ROWS "correlate/rows"
#define PASSES "correlate/packed_passes"
#define FLOATS "correlate/separable"
#define CHECK(from, to, ...) check(&(choice){from, to, tess_i8, __VA_ARGS__}, #from " " #__VA_ARGS__, in, out, weights)
#define FLOATS_OF(type, ...) check(&(choice){type, type, tess_f32, __VA_ARGS__}, #type " by floats " #__VA_ARGS__, in, out, weights)
#define FLOAT_LIST(size, taps, axis, ...) \
    check(&(choice){tess_f32, tess_f32, tess_f32, __VA_ARGS__, {taps}, size, axis, {PICK, PICK, PICK}}, #__VA_ARGS__ " by " #taps, in, out, weights)

static void integers(void **state) {
    (void)state;
    enum { SIDE = 700 };
    static char weights[25 * sizeof(float)] = {1, -2, 3, 1, -1, 2, -3, 1, 2, 3, -1, 2, 1};
    char *in = calloc(SIDE, SIDE * 8), *out = calloc(SIDE, SIDE * 8);
    assert_true(in && out);
    /* columns and rows of few taps */
    CHECK(tess_u8, tess_u8, {300, 700}, {3}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700}, {4}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_i16, tess_i16, {300, 700}, {4}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_i16, tess_i16, {300, 700}, {7}, 0, 0, {PACKED, WINDOW, WINDOW});
    CHECK(tess_i16, tess_i16, {300, 700}, {9}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_i16, {300, 700}, {3}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700}, {5}, 0, 1, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700}, {13}, 0, 1, {PACKED, WINDOW, PACKED});
    CHECK(tess_i16, tess_i16, {300, 700}, {13}, 0, 1, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700}, {14}, 0, 1, {PACKED, PACKED, PACKED});
    CHECK(tess_u8, tess_u8, {300, 384}, {3}, 0, 1, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_i32, {300, 700}, {3}, 0, 0, {PACKED, WINDOW, WINDOW});
    CHECK(tess_u8, tess_i32, {300, 700}, {3}, 0, 1, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {100, 100}, {3}, 0, 1, {PACKED, PADDED, PACKED});
    CHECK(tess_u8, tess_f32, {100, 100}, {3}, 0, 1, {PACKED, PADDED, PADDED});
    CHECK(tess_u8, tess_u8, {300, 700, 3}, {3}, 0, 1, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700, 3}, {3}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {10, 9000}, {5}, 0, 1, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {10, 9000}, {7}, 0, 1, {PACKED, WINDOW, PACKED});
    CHECK(tess_i16, tess_i16, {10, 9000}, {7}, 0, 1, {PACKED, WINDOW, PACKED});
    /* masks of several rows: bytes stay packed, what is not put together in the registers does not */
    CHECK(tess_u8, tess_u8, {300, 700}, {3, 3}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_f32, {300, 700}, {3, 3}, 0, 0, {PACKED, WINDOW, WINDOW});
    CHECK(tess_u8, tess_i32, {300, 700}, {3, 3}, 0, 0, {PACKED, WINDOW, WINDOW});
    CHECK(tess_i16, tess_i32, {300, 700}, {3, 3}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700}, {5, 5}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700}, {7, 7}, 0, 0, {PACKED, PACKED, PACKED});
    CHECK(tess_i16, tess_i16, {300, 700}, {5, 5}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_i16, tess_i16, {300, 700}, {7, 7}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_i16, tess_i16, {128, 128}, {3, 3}, 0, 0, {PACKED, WINDOW, PACKED});
    /* small images: padded blocks, tiles of f32, packed integers, the wider they are */
    CHECK(tess_u8, tess_u8, {23, 23}, {3, 3}, 0, 0, {PACKED, PADDED, PADDED});
    CHECK(tess_u8, tess_u8, {24, 24}, {3, 3}, 0, 0, {PACKED, PADDED, PACKED});
    CHECK(tess_i8, tess_i8, {48, 48}, {3, 3}, 0, 0, {PACKED, PADDED, WINDOW});
    CHECK(tess_u8, tess_u8, {47, 47}, {3}, 0, 1, {PACKED, PADDED, PADDED});
    CHECK(tess_u8, tess_u8, {48, 48}, {7, 7}, 0, 0, {PACKED, PACKED, PACKED});
    CHECK(tess_i8, tess_i8, {100, 100}, {7, 7}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_u8, tess_u8, {65, 65}, {7, 7}, 0, 0, {PACKED, PACKED, PACKED});
    CHECK(tess_u8, tess_u8, {100, 100}, {5, 5}, 0, 0, {PACKED, WINDOW, PACKED});
    CHECK(tess_i16, tess_i16, {72, 72}, {3, 3}, 0, 0, {PACKED, PADDED, PACKED});
    /* bytes by floats */
    FLOATS_OF(tess_u8, {63, 63}, {1, 3}, 0, 0, {PADDED, PADDED, PADDED});
    FLOATS_OF(tess_u8, {64, 64}, {1, 3}, 0, 0, {PADDED, PADDED, WINDOW});
    FLOATS_OF(tess_u8, {64, 64}, {3, 3}, 0, 0, {PADDED, WINDOW, WINDOW});
    FLOATS_OF(tess_u8, {40, 40}, {3, 3}, 0, 0, {PADDED, PADDED, PADDED});
    FLOATS_OF(tess_i16, {48, 48}, {5, 5}, 0, 0, {PADDED, WINDOW, WINDOW});
    FLOATS_OF(tess_f32, {64, 64}, {3, 3}, 0, 0, {PADDED, WINDOW, WINDOW});
    /* a stretch of outputs by few taps, and more of either */
    CHECK(tess_f32, tess_f32, {32, 32}, {3}, 0, 0, {ROWS, ROWS, ROWS});
    CHECK(tess_f32, tess_f32, {33, 32}, {3}, 0, 0, {WINDOW, WINDOW, WINDOW});
    CHECK(tess_f64, tess_f64, {512}, {9}, 0, 0, {ROWS, ROWS, ROWS});
    CHECK(tess_f64, tess_f64, {513}, {9}, 0, 0, {WINDOW, WINDOW, WINDOW});
    CHECK(tess_f32, tess_f32, {1024}, {10}, 0, 0, {WINDOW, WINDOW, WINDOW});
    /* lists */
    CHECK(tess_u8, tess_u8, {300, 700}, {3}, 2, 0, {PASSES, FLOATS, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700}, {5}, 2, 0, {PASSES, FLOATS, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700}, {7}, 2, 0, {PASSES, PASSES, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700}, {9}, 2, 0, {PASSES, PASSES, PASSES});
    CHECK(tess_i8, tess_i8, {300, 700}, {7}, 2, 0, {PASSES, PASSES, PASSES});
    CHECK(tess_u8, tess_i16, {300, 700}, {3}, 2, 0, {PASSES, PASSES, PACKED});
    CHECK(tess_u8, tess_u8, {300, 700, 3}, {3}, 2, 0, {PASSES, PASSES, PACKED});
    free(in);
    free(out);
}

/* Rows of f32 are whole vectors or not, columns come first or rows. */
static void lists(void **state) {
    (void)state;
    enum { SIDE = 700 };
    static char weights[64];
    char *in = calloc(SIDE, SIDE * 8), *out = calloc(SIDE, SIDE * 8);
    assert_true(in && out);
#define PICK PADDED
    FLOAT_LIST(2, 3, 0, {32, 32});
    FLOAT_LIST(2, 15, 0, {64, 64});
    FLOAT_LIST(2, 5, 0, {128, 128});
    FLOAT_LIST(2, 7, 0, {200, 200});
    FLOAT_LIST(3, 5, 0, {50, 50, 50});
#undef PICK
#define PICK FLOATS
    FLOAT_LIST(2, 7, 0, {128, 128});
    FLOAT_LIST(2, 3, 0, {192, 192});
    FLOAT_LIST(2, 15, 0, {200, 200});
    FLOAT_LIST(2, 3, 0, {260, 260});
    FLOAT_LIST(2, 3, 0, {20, 600});
#undef PICK
    CHECK(tess_u8, tess_u8, {39, 39}, {3}, 2, 0, {PADDED, PADDED, PADDED});
    CHECK(tess_u8, tess_u8, {40, 40}, {3}, 2, 0, {PACKED, PADDED, PACKED});
    CHECK(tess_i8, tess_i8, {63, 63}, {3}, 2, 0, {PACKED, PADDED, PADDED});
    free(in);
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(integers), cmocka_unit_test(lists)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

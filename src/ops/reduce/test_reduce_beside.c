/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_beside.c - proves: sums and means over arrays whose first axis is the fastest in memory give the reference's bytes where the other axes hold a leaf or more
 * (leaf_beside.c), whole rows of lanes (leaf_tiles.c) or neither (leaf_window.c), and over the first and the last of three axes as they lie (leaf_abreast.c), wherever
 * leaves, runs and blocks of rows end, with gaps, backwards and over two of three axes; on every instruction set, and with nothing read beyond the last element. */
#include "cpu_contexts.h"

#include <math.h>

#include "core/dtype.h"
#include "reduce_layouts.h"

static const layout layouts[] = {
    {{1, 16, 8192}, {0, 1, 16}, {1, 2}, 2},               /* a line of rows, a leaf each */
    {{1, 17, 8193}, {0, 1, 17}, {1, 2}, 2},               /* each leaf an element later in its row than the one before */
    {{1, 40, 8191}, {0, 1, 40}, {1, 2}, 2},               /* rows of less than a leaf go the other way */
    {{1, 33, 9000}, {0, 1, 35}, {1, 2}, 2},               /* gaps; the last leaf is short */
    {{1, 130, 16384}, {0, 1, 130}, {1, 2}, 2},            /* two blocks of f32, of which the second begins in the first */
    {{1, 65, 8447}, {0, 1, -65}, {1, 2}, 2},              /* backwards: the first elements are the last in memory */
    {{1, 129, 20021}, {0, 1, 129}, {1, 2}, 2},            /* leaves that end anywhere */
    {{70, 90, 100}, {1, 70, 70 * 90}, {0, 1, 2}, 3},      /* three axes */
    {{70, 90, 100}, {1, 7000, 70}, {0, 1, 2}, 3},         /* the last one next in memory */
    {{20, 110, 80}, {1, -20, 20 * 110}, {0, 1, 2}, 3},    /* the middle one backwards */
    {{24, 3, 8300}, {1, 24, 3 * 24}, {0, 2}, 2},          /* three outputs */
    {{24, 3, 8300}, {1, 24 * 8300, 24}, {0, 2}, 2},       /* ... apart */
    {{1, 20, 8200}, {0, 1, 0}, {1, 2}, 2},                /* one column again and again */
    {{1, 20, 8200}, {0, 1, 1}, {1, 2}, 2},                /* rows that overlap */
    {{1, 64, 12289}, {0, 1, 1024}, {1, 2}, 2},            /* a page apart */
    {{1, 31, 3 * 8192 + 255}, {0, 1, 31}, {1, 2}, 2},     /* the last row's last leaf in the middle of a turn */
    {{1, 16, 8700}, {0, 1, 16}, {1, 2}, 2},               /* ... and before the place where the row's leaves end */
    {{1, 300, 256}, {0, 1, 300}, {1, 2}, 2},              /* a row of lanes in each row: the last leaf is short */
    {{1, 150, 512}, {0, 1, 160}, {1, 2}, 2},              /* gaps */
    {{1, 17, 7936}, {0, 1, 17}, {1, 2}, 2},               /* a leaf less a row of lanes */
    {{1, 129, 1280}, {0, 1, -131}, {1, 2}, 2},            /* backwards; the last block has one row */
    {{1, 64, 4096}, {0, 1, 1024}, {1, 2}, 2},             /* a page apart */
    {{1, 203, 768}, {0, 1, 1}, {1, 2}, 2},                /* rows that overlap */
    {{40, 3, 512}, {1, 50, 150}, {0, 2}, 2},              /* three outputs */
    {{1, 1500, 1501}, {0, 1, 1500}, {1, 2}, 2},           /* neither, turned in windows while rows to come are asked for */
    {{2, 900, 1300}, {900 * 1300, 1, 900}, {0, 1, 2}, 3}, /* ... two of them */
    {{21, 5, 400}, {2000, 400, 1}, {0, 2}, 2},            /* runs between outputs: a leaf ends in one */
    {{300, 70, 33}, {70 * 33, 33, 1}, {0, 2}, 2},         /* short ones that begin at any lane, two blocks of outputs */
    {{600, 17, 16}, {17 * 16, 16, 1}, {0, 2}, 2},         /* a line of f32 */
    {{9, 4, 8192}, {4 * 8192, 8192, 1}, {0, 2}, 2},       /* a leaf of f32 */
    {{9, 4, 8100}, {4 * 8100, 8100, 1}, {0, 2}, 2},       /* ... which begins anywhere */
    {{40, 66, 255}, {66 * 260, 260, 1}, {0, 2}, 2},       /* gaps */
    {{40, 66, 257}, {66 * 257, -257, 1}, {0, 2}, 2},      /* outputs backwards */
    {{40, 9, 250}, {-9 * 250, 250, 1}, {0, 2}, 2},        /* the first axis backwards */
    {{3, 6, 20}, {120, 20, 1}, {0, 2}, 2},                /* less than the lanes */
    {{1, 20, 150}, {0, 150, 1}, {0, 2}, 2},               /* one run each */
    {{60, 250, 300}, {250 * 300, 300, 1}, {0, 2}, 2},     /* runs to come are asked for; of f64 more than an L3 */
    {{70, 5, 90}, {450, 3, 1}, {0, 2}, 2},                /* outputs that overlap */
};

/* A value near 1 where the order of additions shows, and seldom none. */
static double element(uint64_t *random, int64_t number, int fill) {
    const uint64_t bits = hostile_random(random);
    const double x = ((double)(bits >> 11) * 0x1p-53 - 0.4) * (double)(1 << (bits & 7));
    return fill == 1 && number == 100003 ? NAN : fill == 2 && number % 70001 == 7 ? INFINITY : x;
}

static void compare(const layout *l, tess_type type, tess_reduction operation, int fill, uint64_t *random) {
    const int64_t size = (int64_t)tess_type_size(type);
    laid_out at = lay_out(l);
    char *memory = malloc((size_t)(at.all * size)); /* exactly: sanitizers see what is read behind it */
    assert_non_null(memory);
    for (int64_t i = 0; i < at.all; i++) {
        const double x[2] = {element(random, i, fill), 0.5 - (double)(i % 77)}; /* the second part of complex ones */
        const float narrow = (float)x[0];
        memcpy(memory + i * size, type == tess_f32 ? (const void *)&narrow : x, (size_t)size);
    }
    hostile_array expected, out;
    const uint64_t again = *random;
    hostile_make(&expected, random, type, at.left, at.kept, HOSTILE_STRIDED);
    const DLTensor in = laid_out_view(&at, memory, type);
    tess_reduce_options options = {.struct_size = sizeof options, .axes = l->axes, .naxes = l->count};
    options.call.strategy = "reduce/reference";
    assert_int_equal(tess_reduce(contexts[0], operation, &in, &expected.tensor, &options), TESS_OK);
    for (int c = 0; c < context_count; c++)
        for (int r = 0; r < 2; r++) {
            static const char *const rows[] = {NULL, "reduce/gather"};
            uint64_t same = again; /* the layout of `expected` */
            options.call.strategy = rows[r];
            hostile_make(&out, &same, type, at.left, at.kept, HOSTILE_STRIDED);
            assert_int_equal(tess_reduce(contexts[c], operation, &in, &out.tensor, &options), TESS_OK);
            if (memcmp(out.block, expected.block, out.block_size))
                fail_msg("%s: %s of %s, %lld x %lld x %lld, steps %lld, %lld, %lld, context %d, fill %d", rows[r] ? rows[r] : "chosen",
                         tess_reduction_name(operation), tess_type_name(type), (long long)l->shape[0], (long long)l->shape[1], (long long)l->shape[2],
                         (long long)l->step[0], (long long)l->step[1], (long long)l->step[2], c, fill);
            hostile_free(&out);
        }
    hostile_free(&expected);
    free(memory);
}

static void across_leaves(void **state) {
    (void)state;
    uint64_t random = 1;
    int number = 0;
    for (int i = 0; i < TESS_COUNT(layouts); i++)
        for (int t = 0; t < 3; t++, number++)
            if (!hostile_spared(number, 6))
                compare(&layouts[i], t == 0 ? tess_f32 : t == 1 ? tess_f64 : tess_c128, number % 3 == 0 ? TESS_MEAN : TESS_SUM, number % 5, &random);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(across_leaves)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

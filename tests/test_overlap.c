/* SPDX-License-Identifier: Apache-2.0
 * test_overlap.c - proves that the overlap tests are exact on small views, both ways: random strides of any sign, sizes, byte distances and element
 * sizes are compared with marking every byte; and that the interleaved layouts people use are found apart even when they are large. */
#include "hostile.h"

#include "core/tensor.h"

static unsigned char mark[1 << 16];

/* Marks the bytes of every element; returns whether one was marked with `value` already (self) or carries another mark (shared). */
static void paint(const tess_array *a, int64_t origin, unsigned char value, bool *self, bool *shared) {
    for (int64_t i = 0; i < a->count; i++) {
        int64_t rest = i, at = origin;
        for (int d = a->ndim - 1; d >= 0; d--) {
            at += rest % a->shape[d] * a->stride[d];
            rest /= a->shape[d];
        }
        for (int b = 0; b < a->itemsize; b++) {
            unsigned char *m = &mark[at + b];
            *self |= *m == value;
            *shared |= *m != 0 && *m != value;
            *m = value;
        }
    }
}

static tess_array random_view(uint64_t *random, int64_t max_stride) {
    static const tess_type types[] = {tess_u8, tess_u16, tess_f32, tess_f64, tess_c128};
    tess_array a = {.type = types[hostile_between(random, 0, 4)], .ndim = (int)hostile_between(random, 0, 4), .count = 1};
    a.itemsize = (int32_t)tess_type_size(a.type);
    bool aligned = hostile_between(random, 0, 1);
    for (int d = 0; d < a.ndim; d++) {
        a.shape[d] = hostile_between(random, hostile_between(random, 0, 30) ? 1 : 0, 6);
        a.stride[d] = hostile_between(random, -max_stride, max_stride) * (aligned ? a.itemsize : 1);
        a.count *= a.shape[d];
    }
    return a;
}

static void small_views_are_decided_exactly(void **state) {
    (void)state;
    uint64_t random = 1;
    int overlapping = 0, apart = 0, folded = 0, plain = 0;
    for (int round = 0; round < 60000; round++) {
        int64_t max_stride = hostile_between(&random, 1, 60);
        tess_array a = random_view(&random, max_stride), b = random_view(&random, max_stride);
        int64_t distance = hostile_between(&random, -400, 400), middle = sizeof mark / 2;
        a.data = (char *)mark + middle;
        b.data = a.data + distance;
        bool aself = false, bself = false, shared = false, ignored = false;
        memset(mark, 0, sizeof mark);
        paint(&a, middle, 1, &aself, &ignored);
        paint(&b, middle + distance, 2, &bself, &shared);
        if (tess_arrays_overlap(&a, &b) != shared || tess_arrays_overlap(&b, &a) != shared)
            fail_msg("round %d: the views %s a byte", round, shared ? "share" : "do not share");
        if (tess_array_self_overlaps(&a) != aself)
            fail_msg("round %d: the view %s itself", round, aself ? "overlaps" : "does not overlap");
        *(shared ? &overlapping : &apart) += 1;
        *(aself ? &folded : &plain) += 1;
    }
    assert_true(overlapping > 5000 && apart > 5000 && folded > 5000 && plain > 5000); /* the rounds did try both answers */
}

static tess_array view(char *data, tess_type type, int ndim, const int64_t *shape, const int64_t *stride) {
    tess_array a = tess_array_compact(data, type, ndim, shape);
    for (int d = 0; d < ndim; d++)
        a.stride[d] = stride[d] * a.itemsize;
    return a;
}

static void interleaved_views_are_apart(void **state) {
    (void)state;
    char *p = (char *)0x100000000;
    const int64_t n[] = {100003, 64, 50}, parts[] = {6400, 100, 2}, backwards[] = {-6400, -100, -2};
    tess_array re = view(p, tess_f32, 3, n, parts), im = view(p + 4, tess_f32, 3, n, parts);
    assert_false(tess_arrays_overlap(&re, &im));
    im.data -= 1; /* a byte too early */
    assert_true(tess_arrays_overlap(&re, &im));
    im = view(p + 4 + 4 * (6400 * (n[0] - 1) + 100 * (n[1] - 1) + 2 * (n[2] - 1)), tess_f32, 3, n, backwards);
    assert_false(tess_arrays_overlap(&re, &im));
    const int64_t columns[] = {100003, 50}, whole[] = {100, 1};
    tess_array left = view(p, tess_f64, 2, columns, whole), right = view(p + 50 * 8, tess_f64, 2, columns, whole);
    assert_false(tess_arrays_overlap(&left, &right));
    right.data -= 8;
    assert_true(tess_arrays_overlap(&left, &right));
    const int64_t upper[] = {1, 1000}; /* a transposed view against rows of the same block */
    const int64_t square[] = {500, 500};
    tess_array t = view(p, tess_f32, 2, square, upper), r = view(p + 500 * 1000 * 4, tess_f32, 2, square, (int64_t[]){1000, 1});
    assert_false(tess_arrays_overlap(&t, &r));
    assert_false(tess_array_self_overlaps(&t));
}

static void self_overlap_beyond_nesting(void **state) {
    (void)state;
    char *p = (char *)0x100000000;
    /* 3 i + 5 j with i < 5 and j < 3 never meets itself though the strides do not nest; j < 4 does (5 * 3 = 3 * 5) with i < 6. */
    tess_array a = view(p, tess_u8, 2, (int64_t[]){5, 3}, (int64_t[]){3, 5});
    assert_false(tess_array_self_overlaps(&a));
    a = view(p, tess_u8, 2, (int64_t[]){6, 4}, (int64_t[]){3, 5});
    assert_true(tess_array_self_overlaps(&a));
    /* Sliding windows, and a broadcast axis. */
    a = view(p, tess_f32, 2, (int64_t[]){1000000, 2}, (int64_t[]){1, 1});
    assert_true(tess_array_self_overlaps(&a));
    a = view(p, tess_f32, 2, (int64_t[]){3, 2}, (int64_t[]){0, 1});
    assert_true(tess_array_self_overlaps(&a));
    a = view(p, tess_f32, 2, (int64_t[]){0, 2}, (int64_t[]){0, 1});
    assert_false(tess_array_self_overlaps(&a));
}

/* Hard knapsacks may end undecided; then the answer must be "may overlap", soon. */
static void the_search_is_bounded(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 50; round++) {
        int64_t shape[40], a_stride[40], b_stride[40];
        for (int d = 0; d < 40; d++) {
            shape[d] = 2;
            a_stride[d] = hostile_between(&random, 1, 1ll << 50);
            b_stride[d] = hostile_between(&random, 1, 1ll << 50);
        }
        char *p = (char *)0x10000000000;
        tess_array a = {.data = p, .type = tess_u8, .itemsize = 1, .ndim = 40, .count = 1ll << 40}, b = a;
        memcpy(a.shape, shape, sizeof shape);
        memcpy(b.shape, shape, sizeof shape);
        memcpy(a.stride, a_stride, sizeof shape);
        memcpy(b.stride, b_stride, sizeof shape);
        b.data = p + hostile_between(&random, 1, 1ll << 52);
        assert_true(tess_arrays_overlap(&a, &b));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_views_are_decided_exactly),
        cmocka_unit_test(interleaved_views_are_apart),
        cmocka_unit_test(self_overlap_beyond_nesting),
        cmocka_unit_test(the_search_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_lengths.c - segments of one length, which become an axis, and others of few elements beside many outputs: each output is what a reduction of its elements
 * alone comes to, on every row. */
#include "hostile.h"

#include <string.h>

#include "ops/reduce/reduce.h"

enum { BEFORE = 20, ALONG = 45, BESIDE = 19, MOST = BEFORE * ALONG * BESIDE };

typedef struct work {
    tess_reduction operation;
    tess_type in, out;
    bool exact, omit, fortran;
    int64_t shape[3], strides[3], segments, offset[ALONG + 1];
} work;

static tess_reduce_options options_of(const work *w, const int *axis, const char *row) {
    return (tess_reduce_options){.struct_size = sizeof(tess_reduce_options),
                                 .axes = axis,
                                 .naxes = 1,
                                 .exact = w->exact,
                                 .nan = w->omit ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE,
                                 .call = {.engine = TESS_ENGINE_CPU, .strategy = row}};
}

/* Every output by itself, by the definition. */
static void singly(const work *w, char *data, char *result) {
    static const int axis = 0;
    const tess_reduce_options options = options_of(w, &axis, "reduce/reference");
    for (int64_t a = 0; a < w->shape[0]; a++)
        for (int64_t s = 0; s < w->segments; s++)
            for (int64_t b = 0; b < w->shape[2]; b++, result += tess_type_size(w->out)) {
                int64_t n = w->offset[s + 1] - w->offset[s], step = w->strides[1];
                DLTensor in = tess_view(data, w->in, 1, &n, &step), out = tess_view(result, w->out, 0, NULL, NULL);
                in.byte_offset = (uint64_t)(a * w->strides[0] + w->offset[s] * step + b * w->strides[2]) * tess_type_size(w->in);
                assert_tess_ok(tess_reduce(NULL, w->operation, &in, &out, &options));
            }
}

static void compare(work *w, char *data) {
    static char expected[MOST * 16], result[MOST * 16];
    static const int axis = 1;
    int64_t size = w->segments + 1, shape[] = {w->shape[0], w->segments, w->shape[2]};
    const size_t bytes = (size_t)(shape[0] * shape[1] * shape[2]) * tess_type_size(w->out);
    w->strides[w->fortran ? 0 : 2] = 1;
    w->strides[1] = w->shape[w->fortran ? 0 : 2];
    w->strides[w->fortran ? 2 : 0] = w->strides[1] * w->shape[1];
    const DLTensor offsets = tess_view(w->offset, tess_i64, 1, &size, NULL), in = tess_view(data, w->in, 3, w->shape, w->strides),
                   out = tess_view(result, w->out, 3, shape, NULL);
    int ran = 0;
    singly(w, data, expected);
    for (int r = -1; r < tess_reduce_op.count; r++) {
        tess_reduce_options options = options_of(w, &axis, r < 0 ? NULL : tess_reduce_op.rows[r].name);
        options.offsets = &offsets;
        memset(result, 0x5a, bytes);
        const tess_status status = tess_reduce(NULL, w->operation, &in, &out, &options);
        if (r >= 0 && status == TESS_ERR_STRATEGY)
            continue;
        assert_tess_ok(status);
        ran++;
        if (memcmp(result, expected, bytes) != 0)
            fail_msg("%s%s of %s by %s: %lld x %lld x %lld, %lld segments", w->exact ? "exact " : "", tess_reduction_name(w->operation),
                     tess_type_name(w->in), options.call.strategy ? options.call.strategy : "choice", (long long)w->shape[0], (long long)w->shape[1],
                     (long long)w->shape[2], (long long)w->segments);
    }
    assert_true(ran > 1);
}

/* Any bits: NaNs, infinities, and exponents far from each other, of which exact sums drop nothing. */
static void all_operations(bool equal) {
    static const tess_type types[] = {tess_f32, tess_f64, tess_f16, tess_i16, tess_u8, tess_i64};
    static const int64_t before[] = {1, 2, BEFORE}, beside[] = {1, 2, BESIDE}, lengths[] = {1, 2, 3, 7, ALONG};
    static char data[MOST * 8];
    uint64_t random = 5;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)hostile_between(&random, 0, 255);
    for (int operation = TESS_SUM; operation <= TESS_NORM_INF; operation++)
        for (int t = 0; t < TESS_COUNT(types); t++)
            for (int i = 0; i < 6; i++) {
                const bool place = operation == TESS_ARGMIN || operation == TESS_ARGMAX,
                           sums = operation == TESS_SUM || operation == TESS_MEAN || operation == TESS_NORM1;
                const int64_t length = lengths[hostile_between(&random, 0, TESS_COUNT(lengths) - 1)];
                work w = {.operation = (tess_reduction)operation,
                          .in = types[t],
                          .out = place                            ? tess_i64
                                 : hostile_between(&random, 0, 1) ? tess_f64
                                                                  : tess_f32,
                          .exact = sums && i % 2,
                          .omit = i == 2,
                          .fortran = hostile_between(&random, 0, 1),
                          .shape = {before[hostile_between(&random, 0, 2)], ALONG, beside[hostile_between(&random, 0, 2)]}};
                for (int64_t at = 0; at + length <= ALONG; w.offset[++w.segments] = at)
                    at += equal || length == 1 || w.segments % 3 ? length : length - 1;
                compare(&w, data);
            }
}

static void of_one_length(void **state) {
    (void)state;
    all_operations(true);
}

static void of_two_lengths(void **state) {
    (void)state;
    all_operations(false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_one_length), cmocka_unit_test(of_two_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

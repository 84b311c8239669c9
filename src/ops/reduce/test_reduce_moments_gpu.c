/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_moments_gpu.c - proves: variances on GPUs give the reference's bytes: leaves of every kind of element that begin anywhere in a word, whole ones and
 * ends of every number of elements, more leaves than a block pairs; segments in the order of their lengths; short rows of small elements of every length and place. On a card when there is one, else on the virtual GPU. */
#include "gpu_rows.h"
#include "ops/reduce/reduce.h"
#include "reduce_sets.h"

static tess_context *context;
static tess_engine engine;
static int ran[3];

typedef struct work {
    tess_reduction operation;
    tess_type in, out;
    tess_nan nan;
    int fill; /* 3: halves of which some are infinities and NaNs */
} work;

static void put_infinities(hostile_array *a, uint64_t *random) {
    static const uint16_t some[] = {0x7c00, 0xfc00, 0x7e00, 0xfc01, 0x7bff, 0x0001, 0x8001, 0xfbff};
    for (int64_t i = hostile_between(random, 0, 40); i < hostile_count(a); i += hostile_between(random, 1, 90))
        memcpy(hostile_element(a, i), &some[hostile_between(random, 0, TESS_COUNT(some) - 1)], 2);
}

/* Of memory from element `offset` on: rows of k with `gap` elements between them, or segments. ddof: short rows, for which that is taken; NULL: leaves, for which it is 1. */
static void compare(const work *w, int64_t rows, int64_t k, int64_t gap, int64_t offset, const DLTensor *segments, int64_t outputs,
                    const double *ddof, uint64_t *random) {
    static const char *const names[] = {"reduce/tree_leaves", "reduce/tree_stretches", "reduce/tree_short"};
    const int kind = ddof ? 2 : segments != NULL;
    hostile_array memory, expected, out;
    const int axis = segments ? 0 : 1;
    int64_t all = segments ? k + offset : rows * (k + gap) + offset, shape[] = {segments ? k : rows, k}, steps[] = {segments ? 1 : k + gap, 1};
    hostile_make(&memory, random, w->in, 1, &all, HOSTILE_COMPACT);
    hostile_fill(&memory, random, w->fill == 3 ? 1 : w->fill);
    if (w->fill == 3)
        put_infinities(&memory, random);
    hostile_make(&expected, random, w->out, 1, &outputs, HOSTILE_COMPACT);
    DLTensor in = memory.tensor;
    in.ndim = segments ? 1 : 2;
    in.shape = shape;
    in.strides = steps;
    in.byte_offset += (uint64_t)(offset * (int64_t)tess_type_size(w->in));
    tess_reduce_options options = {
        .struct_size = sizeof options, .nan = w->nan, .ddof = ddof ? *ddof : 1, .axes = &axis, .naxes = 1, .offsets = segments};
    options.call.strategy = "reduce/reference";
    assert_tess_ok(tess_reduce(context, w->operation, &in, &expected.tensor, &options));
    for (int chosen = 0; chosen < 2; chosen++) {
        int64_t same = outputs;
        uint64_t again = 5;
        hostile_make(&out, &again, w->out, 1, &same, HOSTILE_COMPACT);
        const char *name = chosen ? NULL : names[kind];
        options.call = (tess_call){.engine = engine, .strategy = name};
        const tess_status status = tess_reduce(context, w->operation, &in, &out.tensor, &options);
        if (ddof && status == TESS_ERR_STRATEGY) { /* its loads do not fit these rows */
            hostile_free(&out);
            continue;
        }
        assert_tess_ok(status);
        const size_t size = tess_type_size(w->out);
        for (int64_t i = 0; i < outputs; i++)
            if (memcmp(hostile_element(&out, i), hostile_element(&expected, i), size))
                fail_msg("%s: %s of %s, %lld elements, gaps of %lld, from %lld on, output %lld differs", name ? name : "the chosen row",
                         tess_reduction_name(w->operation), tess_type_name(w->in), (long long)k, (long long)gap, (long long)offset, (long long)i);
        hostile_free(&out);
        ran[kind]++;
    }
    hostile_free(&expected);
    hostile_free(&memory);
}

static const work kinds[] = {{TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1},   {TESS_VAR, tess_i8, tess_f32, TESS_NAN_PROPAGATE, 1},
                             {TESS_STD, tess_bool, tess_f64, TESS_NAN_OMIT, 1},      {TESS_VAR, tess_u16, tess_f64, TESS_NAN_OMIT, 1},
                             {TESS_STD, tess_i16, tess_f32, TESS_NAN_PROPAGATE, 1},  {TESS_VAR, tess_f16, tess_f64, TESS_NAN_PROPAGATE, 1},
                             {TESS_VAR, tess_bf16, tess_f32, TESS_NAN_PROPAGATE, 1}, {TESS_VAR, tess_f16, tess_f32, TESS_NAN_OMIT, 2},
                             {TESS_STD, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1},  {TESS_VAR, tess_f32, tess_f32, TESS_NAN_OMIT, 2},
                             {TESS_VAR, tess_i32, tess_f64, TESS_NAN_PROPAGATE, 1},  {TESS_VAR, tess_f64, tess_f64, TESS_NAN_PROPAGATE, 1},
                             {TESS_VAR, tess_i8, tess_f64, TESS_NAN_OMIT, 1},        {TESS_VAR, tess_u64, tess_f64, TESS_NAN_PROPAGATE, 1}};

/* Lengths around words, rows of 128 and of 256, parts of 1024 and leaves, of rows that begin at every place in a word. */
static void leaves(void **state) {
    (void)state;
    static const int64_t lengths[] = {1,    2,    3,    5,    64,   127,  129,  255,  256,  512,  1023,  1024,
                                      1026, 2048, 2049, 3000, 4096, 7169, 8190, 8191, 8192, 8195, 16383, 20001};
    uint64_t random = 1;
    for (int t = 0; t < TESS_COUNT(kinds); t++)
        for (int l = 0; l < TESS_COUNT(lengths); l++)
            if (!gpu_test_spared(engine, t + l, 5, 10))
                compare(&kinds[t], 3, lengths[l], (t + l) % 3, (t / 2 + l) % 5, NULL, 3, NULL, &random);
}

/* More leaves than one block pairs, of one output and of two: neighbours are paired by 256 first. */
static void many_leaves(void **state) {
    (void)state;
    uint64_t random = 2;
    compare(&kinds[0], 1, 2049 * 8192 + 77, 0, 3, NULL, 1, NULL, &random);
    if (!TESS_SANITIZED)
        compare(&kinds[1], 2, 2048 * 8192 + 1, 1, 0, NULL, 2, NULL, &random);
}

/* Leaves by words of 8 bytes, which outputs of eight leaves and more have, of arrays that begin anywhere in such a word: whole ones, last ones of every kind, rows that all begin at the same place. */
static void wide_leaves(void **state) {
    (void)state;
    static const sets_array arrays[] = {{tess_f16, 1, 1, 8 * 8192},       {tess_f16, 1, 2, 8 * 8192 + 3000},  {tess_f16, 1, 1, 7 * 8192 + 2},
                                        {tess_bf16, 1, 3, 8 * 8192},      {tess_bf16, 1, 1, 8 * 8192 + 8191}, {tess_i16, 1, 1, 9 * 8192 + 255},
                                        {tess_u16, 1, 2, 7 * 8192 + 1000}};
    for (int nan = 0; nan < 2; nan++)
        sets_any_address_nan(engine, "reduce/tree_leaves", TESS_VAR, (tess_nan)nan, false, arrays, TESS_COUNT(arrays));
}

/* Segments of 0 to `most` elements, every `apart`th of `longer`. */
static void segments(void **state) {
    (void)state;
    enum { COUNT = 700 };
    static const struct {
        int64_t count, most, apart, longer;
    } cuts[] = {{COUNT, 3, 50, 40}, {COUNT, 31, 97, 300}, {300, 40, 40, 2500}, {90, 399, 30, 9000}, {60, 520, 7, 0}};
    uint64_t random = 3;
    for (int t = 0; t < TESS_COUNT(kinds); t++)
        for (int c = 0; c < TESS_COUNT(cuts); c++) {
            int64_t offset[COUNT + 1] = {0}, places = cuts[c].count + 1;
            if (gpu_test_spared(engine, t + c, 4, 8))
                continue;
            for (int64_t i = 0; i < cuts[c].count; i++)
                offset[i + 1] = offset[i] + (i % cuts[c].apart == 5 ? cuts[c].longer : hostile_between(&random, 0, cuts[c].most));
            const DLTensor list = tess_view(offset, tess_i64, 1, &places, NULL);
            compare(&kinds[t], 1, offset[cuts[c].count], 0, t % 4, &list, cuts[c].count, NULL, &random);
        }
}

/* Short rows by words: every length up to some words, those around rounds of 256 lanes and around what a thread holds, rows that begin at every place in a word, divisors that are whole numbers, others, and none. */
static void short_rows(void **state) {
    (void)state;
    static const work small[] = {{TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1},   {TESS_VAR, tess_f16, tess_f32, TESS_NAN_PROPAGATE, 3},
                                 {TESS_VAR, tess_i8, tess_f64, TESS_NAN_OMIT, 1},        {TESS_STD, tess_f16, tess_f64, TESS_NAN_PROPAGATE, 1},
                                 {TESS_VAR, tess_u16, tess_f64, TESS_NAN_OMIT, 1},       {TESS_VAR, tess_bf16, tess_f64, TESS_NAN_PROPAGATE, 1},
                                 {TESS_STD, tess_i16, tess_f32, TESS_NAN_PROPAGATE, 1},  {TESS_VAR, tess_f16, tess_f64, TESS_NAN_OMIT, 3},
                                 {TESS_VAR, tess_bool, tess_f64, TESS_NAN_PROPAGATE, 1}, {TESS_STD, tess_bf16, tess_bf16, TESS_NAN_PROPAGATE, 2}};
    static const int64_t more[] = {37,  48,  61,  63,  64,  65,  96,  100, 125, 126, 127,  128,  129,  130,  131,  191,  200,  255,  256,
                                   257, 258, 300, 385, 510, 511, 512, 513, 700, 999, 1000, 1001, 1024, 1025, 2047, 2050, 4096, 6001, 8192};
    static const double ddofs[] = {1, 0, 2.5, 3, 1000};
    uint64_t random = 4;
    for (int t = 0; t < TESS_COUNT(small); t++)
        for (int64_t l = 0; l < 35 + TESS_COUNT(more); l++) {
            const int64_t k = l < 35 ? l + 1 : more[l - 35];
            if (gpu_test_spared(engine, t + (int)l, 6, 9))
                continue;
            for (int offset = 0; offset < 2; offset++) {
                const int64_t rows = k < 40 ? 701 : k < 300 ? 77 : 9;
                compare(&small[t], rows, k, 0, offset ? 1 + (t + l) % 7 : 4 * (l % 4), NULL, rows, &ddofs[(t + l) % TESS_COUNT(ddofs)], &random);
            }
        }
}

static void all_ran(void **state) {
    (void)state;
    const int least = TESS_SANITIZED ? 40 : gpu_test_in_part(engine) ? 100 : 200;
    assert_true(ran[0] > least && ran[2] > least && ran[1] > least / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(leaves),   cmocka_unit_test(many_leaves), cmocka_unit_test(wide_leaves),
                                       cmocka_unit_test(segments), cmocka_unit_test(short_rows),  cmocka_unit_test(all_ran)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

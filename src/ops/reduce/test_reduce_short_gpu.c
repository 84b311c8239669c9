/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_short_gpu.c - proves: rows of a few elements on GPUs give the reference's bytes: every length from 1 to 70 and those around powers of two, every
 * operation and type, NaNs of both policies, rows without gaps, with gaps, a few columns, views that begin anywhere; tree_short counts what its formulas say. On a card when there is one, else on the virtual GPU. */
#include "gpu_counts.h"
#include "hard_sums.h"
#include "ops/reduce/reduce.h"

static tess_context *context;
static tess_engine engine;
static int ran[64];

typedef struct work {
    tess_reduction operation;
    tess_type in, out;
    tess_nan nan;
    bool exact;
    int ndim, axis;
    int64_t shape[3];
    int layout, fill; /* fill 3: infinities and NaNs among moderate values; 4: rows of each kind of hard_sums.h */
} work;

static void put_infinities(hostile_array *a, tess_type type) {
    for (int64_t i = 0; i < hostile_count(a); i += 3) {
        const bool nan = i % 2 == 0, minus = i % 4 == 1;
        if (type == tess_f64)
            memcpy(hostile_element(a, i), &(uint64_t){(minus ? 0xfff0000000000000u : 0x7ff0000000000000u) + nan}, 8);
        else if (type == tess_f32)
            memcpy(hostile_element(a, i), &(uint32_t){(minus ? 0xff800000u : 0x7f800000u) + nan}, 4);
        else
            memcpy(hostile_element(a, i), &(uint16_t){(uint16_t)((type == tess_f16 ? 0x7c00 : 0x7f80) + (minus ? 0x8000 : 0) + nan)}, 2);
    }
}

static void compare(const work *w, uint64_t *random) {
    static int number;
    if (gpu_test_spared(engine, number++, 5, 5))
        return;
    static const char *const rows[] = {NULL, "reduce/tree_short", "reduce/tree_groups", "reduce/exact_short"};
    hostile_array in, expected, out;
    int64_t out_shape[3];
    int n = 0, axis = w->axis;
    tess_reduce_options options = {.struct_size = sizeof options, .nan = w->nan, .ddof = 1, .exact = w->exact, .axes = &axis, .naxes = 1};
    for (int d = 0; d < w->ndim; d++)
        if (d != axis)
            out_shape[n++] = w->shape[d];
    hostile_make(&in, random, w->in, w->ndim, w->shape, w->layout);
    hostile_fill(&in, random, w->fill >= 3 ? 1 : w->fill);
    if (w->fill == 3)
        put_infinities(&in, w->in);
    if (w->fill == 4)
        for (int64_t row = 0; row < hostile_count(&in) / w->shape[axis]; row++)
            hard_elements(&in, row * w->shape[axis], 1, w->shape[axis], (int)(row % HARD_SUMS), hostile_between(random, 0, 1) ? 24 : 53, random);
    uint64_t again = *random;
    hostile_make(&expected, random, w->out, n, out_shape, w->layout);
    options.call.strategy = "reduce/reference";
    assert_tess_ok(tess_reduce(context, w->operation, &in.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    for (int r = 0; r < TESS_COUNT(rows); r++) {
        uint64_t same = again; /* the layout of `expected` */
        hostile_make(&out, &same, w->out, n, out_shape, w->layout);
        options.call.strategy = rows[r];
        const tess_status status = tess_reduce(context, w->operation, &in.tensor, &out.tensor, &options);
        if (status == TESS_OK) {
            ran[r]++;
            if (memcmp(out.block, expected.block, out.block_size))
                fail_msg("%s differs: %s of %s to %s, axis %d of %lld x %lld x %lld%s", rows[r] ? rows[r] : "the chosen row",
                         tess_reduction_name(w->operation), tess_type_name(w->in), tess_type_name(w->out), w->axis, (long long)w->shape[0],
                         (long long)w->shape[1], (long long)w->shape[2], w->exact ? ", exact" : "");
        } else if (r == 0 || status != TESS_ERR_STRATEGY) {
            fail_msg("%s: %s", rows[r] ? rows[r] : "choosing", tess_detail());
        }
        hostile_free(&out);
    }
    hostile_free(&expected);
    hostile_free(&in);
}

/* Number 0: rows without gaps, 1: a batch of them, 2: a few columns, 3: any order, gaps and signs. */
static void compare_as(work *w, int64_t outputs, int64_t k, int number, uint64_t *random) {
    w->ndim = number == 0 || number == 3 ? 2 : 3;
    w->axis = number == 1 ? 2 : 1;
    w->layout = number == 3 ? HOSTILE_STRIDED : HOSTILE_COMPACT;
    w->shape[0] = w->ndim == 2 ? outputs : tess_ceil_div(outputs, 3);
    w->shape[1] = number == 1 ? 3 : k;
    w->shape[2] = number == 1 ? k : 3;
    compare(w, random);
}

static void every_length(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int64_t more[] = {71, 100, 127, 128, 129, 200, 255, 256, 257, 500, 512, 1000, 1019, 1020, 1024, 2000, 4099, 8192};
    static const tess_type types[] = {tess_f32, tess_u8, tess_f64, tess_f16};
    for (int64_t i = 0; i < 70 + TESS_COUNT(more); i++) {
        const int64_t k = i < 70 ? i + 1 : more[i - 70];
        if (hostile_spared(i, 12))
            continue;
        for (int t = 0; t < (i % 5 == 0 || i >= 70 ? TESS_COUNT(types) : 1); t++) {
            work w = {.operation = TESS_SUM, .in = types[t], .out = types[t] == tess_u8 ? tess_u32 : types[t], .fill = 1};
            compare_as(&w, k > 300 ? 5 : k > 70 ? 70 : 331, k, 0, &random);
            if (t == 0)
                compare_as(&w, k > 300 ? 5 : 67, k, 1 + (int)(i % 3), &random);
        }
    }
}

static void every_operation(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int operation = TESS_SUM; operation <= TESS_NORM_INF; operation++)
        for (int nan = 0; nan < 2; nan++) {
            const bool place = operation == TESS_ARGMIN || operation == TESS_ARGMAX;
            work w = {
                .operation = (tess_reduction)operation, .in = tess_f32, .out = place ? tess_i64 : tess_f32, .nan = (tess_nan)nan, .fill = 1 + nan};
            compare_as(&w, nan ? 100 : 333, nan ? 31 : 16, 0, &random);
            compare_as(&w, 40, nan ? 16 : 100, 1 + (operation + nan) % 3, &random);
            if (operation % 2 == nan)
                compare_as(&w, 7, 700, 3 * (operation % 4 == 0), &random);
        }
}

static void every_type(void **state) {
    (void)state;
    uint64_t random = 3;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_u8, tess_u64},           {TESS_SUM, tess_i16, tess_i16},
                 {TESS_MEAN, tess_i32, tess_f64},         {TESS_SUM, tess_f16, tess_f16},
                 {TESS_SUM, tess_bf16, tess_f64},         {TESS_NORM2, tess_f64, tess_f64},
                 {TESS_MAX, tess_i8, tess_f32},           {TESS_MIN, tess_u8, tess_u8},
                 {TESS_MAX, tess_f16, tess_f16},          {TESS_ARGMIN, tess_u16, tess_i32},
                 {TESS_MIN, tess_bf16, tess_bf16},        {TESS_NORM_INF, tess_i64, tess_u8},
                 {TESS_NORM_INF, tess_i8, tess_u8},       {TESS_NORM1, tess_i8, tess_bf16},
                 {TESS_ALL, tess_bool, tess_bool},        {TESS_ANY, tess_u8, tess_bool},
                 {TESS_COUNT_NONZERO, tess_i8, tess_i64}, {TESS_MEAN, tess_u64, tess_u32},
                 {TESS_MEAN, tess_i8, tess_f64},          {TESS_STD, tess_f64, tess_i32},
                 {TESS_ARGMAX, tess_f64, tess_i64},       {TESS_VAR, tess_u8, tess_f32},
                 {TESS_SUM, tess_u32, tess_f32},          {TESS_PROD, tess_f64, tess_f64},
                 {TESS_PROD, tess_i8, tess_i64},          {TESS_SUM, tess_c64, tess_c64},
                 {TESS_MEAN, tess_c128, tess_c64},        {TESS_PROD, tess_c64, tess_c128},
                 {TESS_NORM1, tess_c64, tess_f32},        {TESS_NORM2, tess_c128, tess_c64},
                 {TESS_ALL, tess_c64, tess_bool},         {TESS_COUNT_NONZERO, tess_c128, tess_i64},
                 {TESS_SUM, tess_c128, tess_c128},        {TESS_NORM_INF, tess_c64, tess_f32},
                 {TESS_SUM, tess_i32, tess_c128}};
    static const int64_t lengths[] = {16, 13, 70, 300, 3, 4};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int l = i % 2; l < TESS_COUNT(lengths) && !hostile_spared(i, 12); l += 2)
            for (int nan = tess_is_complex(cases[i].in) ? 0 : 1; nan < 2; nan++) {
                work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = (tess_nan)nan, .fill = 1 + nan};
                compare_as(&w, l == 0 ? 299 : 35, lengths[l], l < 2 || l > 3 ? 0 : (i + l) % 4, &random);
            }
}

/* Complex products, whose stretches are larger where a warp's threads would have none else: rows that fill them, that do not, the last ones alone. */
static void products(void **state) {
    (void)state;
    uint64_t random = 9;
    static const int64_t lengths[] = {15, 31, 32, 50, 100, 128, 200, 256};
    for (int wide = 0; wide < 2; wide++)
        for (int l = 0; l < TESS_COUNT(lengths) && !hostile_spared(l, 16); l++) {
            const tess_type type = wide ? tess_c128 : tess_c64;
            work w = {.operation = TESS_PROD, .in = type, .out = type, .nan = (tess_nan)(l % 2), .fill = 1 + l % 2};
            compare_as(&w, 67, lengths[l], l % 3, &random);
        }
}

/* Places of small elements by blocks of 16 bytes: rows of less than one, that begin and end in one or anywhere, of whole ones that would lie in the same banks, so many that a warp sums blocks up. */
static void places(void **state) {
    (void)state;
    uint64_t random = 10;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_ARGMAX, tess_u8, tess_i64},  {TESS_ARGMIN, tess_i8, tess_i64},   {TESS_ARGMAX, tess_bool, tess_i32},
                 {TESS_ARGMAX, tess_f16, tess_i64}, {TESS_ARGMIN, tess_bf16, tess_i32}, {TESS_ARGMIN, tess_f16, tess_i64},
                 {TESS_ARGMAX, tess_i16, tess_i64}, {TESS_ARGMIN, tess_u16, tess_i64}};
    static const int64_t lengths[] = {11, 12, 15, 16, 17, 18, 23, 24, 31, 32, 33, 64, 100, 128, 200, 225, 256, 257, 449, 512, 1000, 2001, 4095};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int l = 0; l < TESS_COUNT(lengths); l++)
            if (!hostile_spared(i + l, 12)) {
                const int nan = (i + l) % 2;
                work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = (tess_nan)nan, .fill = 1 + nan};
                compare_as(&w, lengths[l] > 300 ? 20 : 99, lengths[l], l % 3 ? 0 : 1, &random);
            }
}

/* Down to one element: threads and halves of words that get none. An infinity is no NaN, though its difference from an infinite mean is one. */
static void infinities(void **state) {
    (void)state;
    uint64_t random = 6;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_VAR, tess_f64, tess_f64},      {TESS_STD, tess_f32, tess_f32},       {TESS_VAR, tess_bf16, tess_f64},
                 {TESS_NORM_INF, tess_f16, tess_f16}, {TESS_NORM_INF, tess_bf16, tess_f32}, {TESS_NORM_INF, tess_f32, tess_f32},
                 {TESS_MIN, tess_f16, tess_f32},      {TESS_MEAN, tess_f16, tess_f32}};
    static const int64_t lengths[] = {1, 2, 5, 17, 300};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int l = 0; l < TESS_COUNT(lengths) && !hostile_spared(i, 12); l++)
            for (int nan = 0; nan < 2; nan++)
                for (int fill = 1; fill <= 3; fill += 2) {
                    work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = (tess_nan)nan, .fill = fill};
                    compare_as(&w, l == 0 ? 299 : 35, lengths[l], fill == 1 ? 0 : 2 * (l % 2), &random);
                }
}

/* Values over the whole range of exponents, infinities and NaNs, which go to the accumulators; rows that one pass, or two, do. */
static void exact_sums(void **state) {
    (void)state;
    uint64_t random = 4;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32},   {TESS_SUM, tess_f64, tess_f64},   {TESS_SUM, tess_f64, tess_f32},
                 {TESS_NORM1, tess_f16, tess_f64}, {TESS_MEAN, tess_i64, tess_f64},  {TESS_MEAN, tess_u64, tess_f32},
                 {TESS_SUM, tess_c64, tess_c64},   {TESS_MEAN, tess_c128, tess_c64}, {TESS_NORM1, tess_c64, tess_f32},
                 {TESS_SUM, tess_f64, tess_bf16},  {TESS_MEAN, tess_f32, tess_f32},  {TESS_SUM, tess_bf16, tess_bf16}};
    static const int64_t lengths[] = {1, 16, 31, 100, 257, 1000};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int l = i % 2; l < TESS_COUNT(lengths); l += 2)
            for (int fill = 1; fill <= 2; fill++) {
                work w = {.operation = cases[i].operation,
                          .in = cases[i].in,
                          .out = cases[i].out,
                          .nan = (tess_nan)(fill - 1),
                          .exact = true,
                          .fill = fill};
                compare_as(&w, lengths[l] < 100 ? 67 : 3, lengths[l], l % 2, &random);
            }
}

/* Rows that no level tells the rounding of, or of the greatest numbers and what is none, beside others in the same warp. */
static void hard_sums(void **state) {
    (void)state;
    uint64_t random = 8;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_SUM, tess_f64, tess_f64, TESS_NAN_PROPAGATE},  {TESS_SUM, tess_f64, tess_f32, TESS_NAN_PROPAGATE},
                 {TESS_MEAN, tess_f64, tess_f64, TESS_NAN_OMIT},      {TESS_MEAN, tess_f64, tess_f32, TESS_NAN_PROPAGATE},
                 {TESS_SUM, tess_f32, tess_f32, TESS_NAN_PROPAGATE},  {TESS_SUM, tess_f32, tess_f64, TESS_NAN_OMIT},
                 {TESS_MEAN, tess_f32, tess_f32, TESS_NAN_PROPAGATE}, {TESS_SUM, tess_f64, tess_f16, TESS_NAN_PROPAGATE},
                 {TESS_NORM1, tess_f64, tess_f64, TESS_NAN_OMIT},     {TESS_SUM, tess_f64, tess_i32, TESS_NAN_PROPAGATE},
                 {TESS_SUM, tess_c64, tess_c64, TESS_NAN_PROPAGATE},  {TESS_SUM, tess_c128, tess_c128, TESS_NAN_PROPAGATE},
                 {TESS_SUM, tess_c128, tess_c64, TESS_NAN_PROPAGATE}, {TESS_SUM, tess_f32, tess_bf16, TESS_NAN_PROPAGATE},
                 {TESS_NORM1, tess_c64, tess_f32, TESS_NAN_PROPAGATE}};
    static const int64_t lengths[] = {1, 2, 3, 8, 16, 31, 64, 100, 257, 500};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int l = 0; l < TESS_COUNT(lengths); l++)
            if ((l % 2 == i % 2 || i < 2) && !hostile_spared(i + l, 6)) {
                work w = {.operation = cases[i].operation, .in = cases[i].in, .out = cases[i].out, .nan = cases[i].nan, .exact = true, .fill = 4};
                compare_as(&w, lengths[l] < 40 ? 8 * HARD_SUMS + 3 : 2 * HARD_SUMS + 1, lengths[l], l % 2, &random);
            }
    for (int i = 0; i < 5; i += 4) { /* the longest that a warp has */
        work w = {.operation = TESS_SUM, .in = cases[i].in, .out = cases[i].out, .exact = true, .fill = 4};
        compare_as(&w, HARD_SUMS, i ? 2048 : 1024, 0, &random);
    }
}

/* Sets of rows without gaps, but with gaps between the sets, so that vectors that fit one set do not fit the next. */
static void sets_apart(void **state) {
    (void)state;
    enum { SETS = 5, ROWS = 70 };
    static const int64_t lengths[] = {16, 31, 200};
    static const tess_type types[] = {tess_f32, tess_u8, tess_f64};
    for (int t = 0; t < TESS_COUNT(types); t++)
        for (int l = 0; l < TESS_COUNT(lengths); l++) {
            const int64_t k = lengths[l], apart = ROWS * k + 1 + l;
            int64_t shape[] = {SETS, ROWS, k}, steps[] = {apart, k, 1}, kept[] = {SETS, ROWS};
            const int axis = 2;
            unsigned char *in = malloc((size_t)(SETS * apart * 8));
            double expected[SETS * ROWS], found[SETS * ROWS];
            assert_non_null(in);
            for (int64_t i = 0; i < SETS * apart; i++)
                if (types[t] == tess_f32)
                    ((float *)(void *)in)[i] = (float)(i % 1009) * 0.37f;
                else if (types[t] == tess_f64)
                    ((double *)(void *)in)[i] = (double)(i % 1013) * 0.41;
                else
                    in[i] = (unsigned char)(i * 7);
            DLTensor from = tess_view(in, types[t], 3, shape, steps), a = tess_view(expected, tess_f64, 2, kept, NULL),
                     b = tess_view(found, tess_f64, 2, kept, NULL);
            tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .call.strategy = "reduce/reference"};
            assert_tess_ok(tess_reduce(context, TESS_SUM, &from, &a, &options));
            options.call = (tess_call){.engine = engine, .strategy = "reduce/tree_short"};
            assert_tess_ok(tess_reduce(context, TESS_SUM, &from, &b, &options));
            assert_memory_equal(found, expected, sizeof found);
            free(in);
        }
}

/* Up to four small elements, rows by words: sets that begin anywhere within a word, results side by side and apart, some of them at odd addresses. */
static void short_words(void **state) {
    (void)state;
    enum { SETS = 4, ROWS = 1401 };
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_MAX, tess_u8, tess_u8, TESS_NAN_PROPAGATE},      {TESS_MIN, tess_i8, tess_i8, TESS_NAN_PROPAGATE},
                 {TESS_ANY, tess_bool, tess_bool, TESS_NAN_PROPAGATE},  {TESS_ALL, tess_u8, tess_bool, TESS_NAN_PROPAGATE},
                 {TESS_NORM_INF, tess_i8, tess_u8, TESS_NAN_PROPAGATE}, {TESS_MAX, tess_f16, tess_f16, TESS_NAN_PROPAGATE},
                 {TESS_MIN, tess_bf16, tess_f16, TESS_NAN_OMIT},        {TESS_MAX, tess_i16, tess_i16, TESS_NAN_PROPAGATE}};
    const int axis = 2;
    uint64_t random = 9;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int64_t k = 1; k <= 4; k++) {
            if (hostile_spared(i * 4 + k, 10))
                continue;
            const int64_t apart = ROWS * k + i % 3, step = k == 3 && i % 2 ? 2 : 1;
            int64_t shape[] = {SETS, ROWS, k}, steps[] = {apart, k, 1}, kept[] = {SETS, ROWS}, out_steps[] = {ROWS * step, step};
            uint16_t in[SETS * (ROWS * 4 + 2)], expected[SETS * ROWS * 2] = {0}, found[SETS * ROWS * 2] = {0};
            for (int64_t j = 0; j < TESS_COUNT(in); j++)
                in[j] = (uint16_t)(hostile_random(&random) % 3 ? hostile_random(&random) : 0);
            if (cases[i].in == tess_bool)
                for (int64_t j = 0; j < TESS_COUNT(in); j++)
                    in[j] &= 0x0101;
            DLTensor from = tess_view(in, cases[i].in, 3, shape, steps), a = tess_view(expected, cases[i].out, 2, kept, out_steps),
                     b = tess_view(found, cases[i].out, 2, kept, out_steps);
            tess_reduce_options options = {
                .struct_size = sizeof options, .nan = cases[i].nan, .axes = &axis, .naxes = 1, .call.strategy = "reduce/reference"};
            assert_tess_ok(tess_reduce(context, cases[i].operation, &from, &a, &options));
            options.call = (tess_call){.engine = engine, .strategy = "reduce/tree_short"};
            assert_tess_ok(tess_reduce(context, cases[i].operation, &from, &b, &options));
            if (memcmp(found, expected, sizeof found))
                fail_msg("%s of %lld %s differs", tess_reduction_name(cases[i].operation), (long long)k, tess_type_name(cases[i].in));
        }
}

/* The formulas of tree_short: stretches that begin anywhere, one that is not whole, bytes by words, moments, which look twice, those of small elements by words, lanes of several rounds one after another. */
static void counts_as_predicted(void **state) {
    (void)state;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        int64_t outputs, k;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32, 1000, 16},  {TESS_SUM, tess_f32, tess_f32, 777, 31},    {TESS_MAX, tess_u8, tess_u8, 999, 13},
                 {TESS_SUM, tess_u8, tess_u64, 130, 100},   {TESS_VAR, tess_f32, tess_f32, 99, 100},    {TESS_SUM, tess_f64, tess_f32, 70, 300},
                 {TESS_SUM, tess_c64, tess_c64, 345, 7},    {TESS_ARGMAX, tess_f16, tess_i64, 65, 64},  {TESS_SUM, tess_f16, tess_f16, 70, 257},
                 {TESS_VAR, tess_f32, tess_f32, 70, 300},   {TESS_VAR, tess_f32, tess_f32, 11, 2500},   {TESS_VAR, tess_u8, tess_f64, 70, 100},
                 {TESS_VAR, tess_f16, tess_f32, 30, 701},   {TESS_NORM2, tess_f32, tess_f32, 50, 300},  {TESS_MAX, tess_u8, tess_u8, 777, 3},
                 {TESS_MAX, tess_f16, tess_f16, 1000, 2},   {TESS_ARGMAX, tess_u8, tess_i64, 1000, 4},  {TESS_ALL, tess_u8, tess_bool, 3001, 4},
                 {TESS_PROD, tess_c64, tess_c64, 70, 200},  {TESS_ARGMAX, tess_u8, tess_i64, 70, 1000}, {TESS_PROD, tess_c64, tess_c64, 133, 31},
                 {TESS_PROD, tess_c128, tess_c128, 70, 31}, {TESS_MIN, tess_u8, tess_u8, 3001, 1},      {TESS_MIN, tess_f16, tess_f16, 2999, 3},
                 {TESS_ARGMIN, tess_u32, tess_i64, 100, 1}, {TESS_VAR, tess_u8, tess_f64, 777, 31},     {TESS_VAR, tess_u8, tess_f64, 1300, 16},
                 {TESS_VAR, tess_u8, tess_f64, 130, 128},   {TESS_VAR, tess_u8, tess_f64, 70, 200},     {TESS_VAR, tess_f16, tess_f32, 9, 2500},
                 {TESS_VAR, tess_u8, tess_f64, 19, 1001},   {TESS_VAR, tess_i16, tess_f64, 333, 3}};
    int compared = 0;
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    gpu_counts_begin(context);
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        int64_t shape[] = {cases[i].outputs, cases[i].k}, outputs = cases[i].outputs;
        const int axis = 1;
        char *in = calloc((size_t)(outputs * cases[i].k), 16), *out = calloc((size_t)outputs, 16), what[96];
        const DLTensor from = tess_view(in, cases[i].in, 2, shape, NULL), to = tess_view(out, cases[i].out, 1, &outputs, NULL);
        const tess_reduce_options options = {
            .struct_size = sizeof options, .axes = &axis, .naxes = 1, .call = {.engine = engine, .strategy = "reduce/tree_short"}};
        tess_plan *plan;
        assert_true(in && out);
        assert_tess_ok(tess_plan_reduce(&plan, context, cases[i].operation, &from, &to, &options));
        snprintf(what, sizeof what, "%s of %lld %s", tess_reduction_name(cases[i].operation), (long long)cases[i].k, tess_type_name(cases[i].in));
        compared += gpu_counts_check(plan, in, NULL, out, what);
        tess_plan_free(plan);
        free(in);
        free(out);
    }
    gpu_counts_end(context);
    /* Of the places of one element nothing is predicted, of those by blocks nothing in shared memory. */
    assert_int_equal(compared, 11 * (TESS_COUNT(cases) - 1) - 2 * 6);
}

/* Where rows that no order can change go to tree_rows, by their bytes, and longer variances to tree_leaves; as measured. */
static void chosen(void **state) {
    (void)state;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        int64_t length;
        const char *row;
    } cases[] = {{TESS_SUM, tess_u8, tess_u64, 2000, "tree_short"},     {TESS_SUM, tess_u8, tess_u64, 2500, "tree_rows"},
                 {TESS_ARGMAX, tess_u8, tess_i64, 1000, "tree_short"},  {TESS_ARGMAX, tess_u8, tess_i64, 2500, "tree_rows"},
                 {TESS_ARGMIN, tess_f16, tess_i64, 1000, "tree_short"}, {TESS_MAX, tess_f32, tess_f32, 500, "tree_short"},
                 {TESS_MAX, tess_f32, tess_f32, 625, "tree_rows"},      {TESS_SUM, tess_i32, tess_i64, 750, "tree_short"},
                 {TESS_SUM, tess_i32, tess_i64, 1000, "tree_rows"},     {TESS_VAR, tess_f32, tess_f32, 4096, "tree_short"},
                 {TESS_VAR, tess_f32, tess_f32, 4097, "tree_leaves"},   {TESS_VAR, tess_f16, tess_f32, 6000, "tree_short"},
                 {TESS_VAR, tess_u8, tess_f64, 6001, "tree_leaves"},    {TESS_PROD, tess_c64, tess_c64, 200, "tree_short"},
                 {TESS_PROD, tess_c128, tess_c128, 200, "tree_groups"}, {TESS_NORM2, tess_f32, tess_f32, 512, "tree_short"},
                 {TESS_NORM2, tess_f32, tess_f32, 513, "tree_rows"}};
    const int axis = 1;
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        int64_t shape[] = {1 << 20, cases[i].length};
        tess_plan *plan;
        const DLTensor in = tess_view(NULL, cases[i].in, 2, shape, NULL), out = tess_view(NULL, cases[i].out, 1, shape, NULL);
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .call = {.engine = engine}};
        assert_tess_ok(tess_plan_reduce(&plan, context, cases[i].operation, &in, &out, &options));
        gpu_test_chosen(plan, cases[i].row, i);
    }
}

static void rows_were_compared(void **state) {
    (void)state;
    const int least = TESS_SANITIZED ? 5 : 50;
    assert_true(ran[0] > least && ran[1] > least && ran[2] > least && ran[3] > least / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_length),
                                       cmocka_unit_test(every_operation),
                                       cmocka_unit_test(every_type),
                                       cmocka_unit_test(products),
                                       cmocka_unit_test(places),
                                       cmocka_unit_test(infinities),
                                       cmocka_unit_test(exact_sums),
                                       cmocka_unit_test(hard_sums),
                                       cmocka_unit_test(sets_apart),
                                       cmocka_unit_test(short_words),
                                       cmocka_unit_test(counts_as_predicted),
                                       cmocka_unit_test(chosen),
                                       cmocka_unit_test(rows_were_compared)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_gpu.c - proves: every GPU row gives the reference's bytes: every operation, types in and out, NaNs of both policies, runs, columns,
 * batches, gaps, segments, one leaf and many, sizes that fill nothing; each row was compared; the rungs count what their formulas say. On a card when there is one, else on the virtual GPU. */
#include <math.h>

#include "gpu_counts.h"
#include "hard_sums.h"
#include "ops/reduce/reduce.h"

static tess_context *context;
static tess_engine engine;
static int ran[64], rests[64];
static bool chosen_only; /* compare that row alone */
static bool exact;       /* the option */
static int kind;         /* of hard_sums.h, of the first row */

typedef struct work {
    tess_reduction operation;
    tess_type in, out;
    int ndim, axis; /* axis -1: all */
    int64_t shape[3];
    tess_nan nan;
    int layout, fill; /* fill 4: each row, or all, of a kind of hard_sums.h */
} work;

static void compare(const work *w, uint64_t *random) {
    static int number;
    hostile_array in, expected, out;
    int64_t out_shape[3];
    int n = 0, axis = w->axis;
    tess_reduce_options options = {.struct_size = sizeof options, .nan = w->nan, .ddof = 1, .exact = exact};
    if (gpu_test_spared(engine, number++, 2, 2))
        return;
    if (axis >= 0) {
        options.axes = &axis;
        options.naxes = 1;
        for (int d = 0; d < w->ndim; d++)
            if (d != axis)
                out_shape[n++] = w->shape[d];
    }
    hostile_make(&in, random, w->in, w->ndim, w->shape, w->layout);
    hostile_fill(&in, random, w->fill == 4 ? 1 : w->fill);
    for (int64_t row = 0, k = w->shape[w->ndim - 1]; w->fill == 4 && row < (w->ndim > 1 ? w->shape[0] : 1); row++)
        hard_elements(&in, row * k, 1, k, (int)((row + kind) % HARD_SUMS), hostile_between(random, 0, 1) ? 24 : 53, random);
    uint64_t again = *random;
    hostile_make(&expected, random, w->out, n, out_shape, w->layout);
    options.call.strategy = "reduce/reference";
    assert_tess_ok(tess_reduce(context, w->operation, &in.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    for (int r = -1; r < (chosen_only ? 0 : tess_reduce_op.gpu_count); r++) {
        if (TESS_SANITIZED && r >= 0 && ran[r] >= 6) /* sanitizers look into the machine that runs the kernels, whatever it is that they compute */
            continue;
        if (r >= 0 && gpu_test_rests(engine, ran[r], 8, &rests[r]))
            continue;
        uint64_t same = again; /* the layout of `expected` */
        const char *name = r < 0 ? NULL : tess_reduce_op.gpu_rows[r].name;
        hostile_make(&out, &same, w->out, n, out_shape, w->layout);
        options.call.strategy = name;
        tess_status status = tess_reduce(context, w->operation, &in.tensor, &out.tensor, &options);
        if (status == TESS_OK) {
            if (r >= 0)
                ran[r]++;
            if (memcmp(out.block, expected.block, out.block_size))
                fail_msg("%s differs: %s of %s to %s, axis %d, %lld x %lld x %lld", name ? name : "the chosen row", tess_reduction_name(w->operation),
                         tess_type_name(w->in), tess_type_name(w->out), w->axis, (long long)w->shape[0], (long long)w->shape[1],
                         (long long)w->shape[2]);
        } else if (r < 0 || status != TESS_ERR_STRATEGY) {
            fail_msg("%s: %s", name ? name : "choosing", tess_detail());
        }
        hostile_free(&out);
    }
    hostile_free(&expected);
    hostile_free(&in);
}

static void sums_of_every_shape(void **state) {
    (void)state;
    uint64_t random = 1;
    static const struct {
        int ndim, axis;
        int64_t shape[3];
    } cases[] = {{1, -1, {1}},      {1, -1, {8192}},     {1, -1, {100003}},   {2, 1, {5, 300}},   {2, 1, {3, 20001}},  {2, 1, {2, 40000}},
                 {2, 0, {300, 37}}, {2, 0, {9000, 140}}, {3, 1, {2, 70, 33}}, {3, 1, {40, 9, 3}}, {3, 1, {17, 300, 5}}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++) {
            work w = {TESS_SUM, tess_f32, tess_f32, cases[i].ndim, cases[i].axis, {0}, TESS_NAN_PROPAGATE, layout, 1};
            memcpy(w.shape, cases[i].shape, sizeof w.shape);
            compare(&w, &random);
        }
}

static void every_operation(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int operation = TESS_SUM; operation <= TESS_NORM_INF; operation++) {
        bool place = operation == TESS_ARGMIN || operation == TESS_ARGMAX;
        const tess_nan nan = operation % 2 || operation == TESS_MEAN ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE;
        work w = {(tess_reduction)operation, tess_f32, place ? tess_i64 : tess_f32, 2, 1, {3, 9001}, nan, HOSTILE_COMPACT, 2};
        compare(&w, &random); /* any bits, NaNs among them */
        w.fill = 1;
        w.axis = 0;
        w.shape[0] = 99;
        w.shape[1] = 64;
        compare(&w, &random);
    }
}

static void every_type(void **state) {
    (void)state;
    uint64_t random = 3;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {
        {TESS_SUM, tess_u8, tess_u64},    {TESS_SUM, tess_i16, tess_i16},     {TESS_MEAN, tess_i32, tess_f64},  {TESS_SUM, tess_f16, tess_f16},
        {TESS_SUM, tess_bf16, tess_f64},  {TESS_NORM2, tess_f64, tess_f64},   {TESS_MAX, tess_i8, tess_f32},    {TESS_ARGMIN, tess_u16, tess_i32},
        {TESS_MIN, tess_bf16, tess_bf16}, {TESS_NORM_INF, tess_i64, tess_u8}, {TESS_NORM1, tess_i8, tess_bf16}, {TESS_ALL, tess_bool, tess_bool},
        {TESS_MEAN, tess_u64, tess_u32},  {TESS_STD, tess_f64, tess_i32},     {TESS_VAR, tess_f16, tess_f32},   {TESS_SUM, tess_f32, tess_c64},
        {TESS_SUM, tess_u8, tess_c64},    {TESS_MAX, tess_i16, tess_c128},    {TESS_MEAN, tess_f64, tess_c64}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int s = 0; s < 2; s++) {
            work w = {cases[i].operation, cases[i].in, cases[i].out, 2, s, {s ? 5 : 130, s ? 1030 : 72}, TESS_NAN_PROPAGATE, HOSTILE_COMPACT, 1};
            compare(&w, &random);
        }
}

/* Sums and products of pairs, moduli, zeros, one leaf and several, any layout; infinities and NaNs of both policies. */
static void complex_elements(void **state) {
    (void)state;
    uint64_t random = 7;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_c64, tess_c64},      {TESS_MEAN, tess_c128, tess_c64},          {TESS_PROD, tess_c64, tess_c64},
                 {TESS_PROD, tess_c64, tess_c128},    {TESS_NORM1, tess_c64, tess_f32},          {TESS_NORM2, tess_c128, tess_c64},
                 {TESS_ALL, tess_c64, tess_bool},     {TESS_COUNT_NONZERO, tess_c128, tess_i64}, {TESS_ANY, tess_c64, tess_u8},
                 {TESS_NORM_INF, tess_c64, tess_f64}, {TESS_NORM_INF, tess_c128, tess_c64}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int nan = 0; nan < 2; nan++) {
            work w = {cases[i].operation, cases[i].in, cases[i].out, 2, 1, {3, 9001}, (tess_nan)nan, HOSTILE_COMPACT, 2};
            compare(&w, &random);
            w.fill = nan;
            w.layout = HOSTILE_STRIDED;
            w.axis = 0;
            w.shape[0] = 99;
            w.shape[1] = 7;
            compare(&w, &random);
        }
}

/* Nothing to add, of each kind of row that may have to say so. */
static void no_elements(void **state) {
    (void)state;
    uint64_t random = 9;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        bool exact;
    } cases[] = {{TESS_SUM, tess_f32, tess_c64, false},      {TESS_MEAN, tess_c64, tess_c64, false}, {TESS_PROD, tess_c128, tess_c64, false},
                 {TESS_NORM_INF, tess_c64, tess_f32, false}, {TESS_ALL, tess_c64, tess_bool, false}, {TESS_SUM, tess_c64, tess_c64, true},
                 {TESS_MEAN, tess_f64, tess_f64, true}};
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        work w = {cases[i].operation, cases[i].in, cases[i].out, 2, 1, {3, 0}, TESS_NAN_PROPAGATE, HOSTILE_COMPACT, 1};
        exact = cases[i].exact;
        compare(&w, &random);
    }
    exact = false;
}

/* Exact sums: values over the whole range of exponents (any bits), which take many passes, infinities and NaNs; one block and several. */
static void exact_sums(void **state) {
    (void)state;
    uint64_t random = 8;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32},  {TESS_SUM, tess_f64, tess_f64}, {TESS_NORM1, tess_f16, tess_f64}, {TESS_MEAN, tess_i64, tess_f64},
                 {TESS_MEAN, tess_u64, tess_f32}, {TESS_SUM, tess_c64, tess_c64}, {TESS_MEAN, tess_c128, tess_c64}, {TESS_NORM1, tess_c64, tess_f32},
                 {TESS_SUM, tess_f64, tess_bf16}, {TESS_SUM, tess_f32, tess_c64}};
    exact = true;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int fill = 1; fill <= 2; fill++) {
            work w = {cases[i].operation, cases[i].in, cases[i].out, 2, 1, {2, 9001}, TESS_NAN_OMIT, HOSTILE_COMPACT, fill};
            compare(&w, &random);
            w.axis = 0;
            w.layout = HOSTILE_STRIDED;
            w.shape[0] = 1500;
            w.shape[1] = 3;
            w.nan = fill == 1 ? TESS_NAN_PROPAGATE : TESS_NAN_OMIT;
            compare(&w, &random);
        }
    for (int axis = 0; axis < 2; axis++) /* outputs side by side, and short rows */
        for (int fill = 1; fill <= 2; fill++) {
            work w = {TESS_SUM, fill == 1 ? tess_f32 : tess_f64, tess_f64, 2, axis, {300, 70}, TESS_NAN_PROPAGATE, HOSTILE_COMPACT, fill};
            compare(&w, &random);
        }
    exact = false;
}

/* Each kind of hard_sums.h as rows of one block, and as one sum of several. */
static void hard_sums(void **state) {
    (void)state;
    uint64_t random = 12;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32, TESS_NAN_PROPAGATE}, {TESS_SUM, tess_f64, tess_f64, TESS_NAN_PROPAGATE},
                 {TESS_SUM, tess_c64, tess_c64, TESS_NAN_PROPAGATE}, {TESS_MEAN, tess_f64, tess_f32, TESS_NAN_OMIT},
                 {TESS_SUM, tess_f32, tess_f64, TESS_NAN_OMIT},      {TESS_SUM, tess_c128, tess_c128, TESS_NAN_PROPAGATE}};
    exact = true;
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        work w = {cases[i].operation, cases[i].in, cases[i].out, 2, 1, {HARD_SUMS, 3001}, cases[i].nan, HOSTILE_COMPACT, 4};
        kind = 0;
        compare(&w, &random);
        for (kind = 16; kind < HARD_SUMS; kind++) {
            work all = {cases[i].operation, cases[i].in, cases[i].out, 1, -1, {20011}, cases[i].nan, kind % 2 ? HOSTILE_COMPACT : HOSTILE_STRIDED, 4};
            compare(&all, &random);
        }
    }
    exact = false;
}

/* Numbers at both ends of f64, sums that cancel to the least subnormal, that overflow on the way, ties: rounded once. */
static void exact_ends(void **state) {
    (void)state;
    enum { N = 3000 };
    static const double sets[][4] = {{0x1p1023, 0x1p1023, -0x1p1023, -0x1p1023},
                                     {0x1p-1074, -0x1p-1074, 0x1p-1074, 0x1p-1022},
                                     {1, 0x1p-53, 0x1p-105, 0},
                                     {1, 0x1p-53, 0, 0},
                                     {0x1.8p1001, -0x1p-1000, 3, 0x1p-1074},
                                     {0x1p1023, 0x1p1023, 0, 0},
                                     {INFINITY, -1, 0, 0},
                                     {INFINITY, -INFINITY, 0, 0},
                                     {-0.0, -0.0, 0, 0}};
    double *in = malloc(N * sizeof *in), expected, found;
    assert_non_null(in);
    int64_t size = N;
    DLTensor x = tess_view(in, tess_f64, 1, &size, NULL), a = tess_view(&expected, tess_f64, 0, NULL, NULL),
             b = tess_view(&found, tess_f64, 0, NULL, NULL);
    for (int s = 0; s < TESS_COUNT(sets); s++)
        for (int spread = 1; spread <= 700; spread += 699) {
            tess_reduce_options options = {.struct_size = sizeof options, .exact = true};
            for (int i = 0; i < N; i++)
                in[i] = 0;
            for (int i = 0; i < 4; i++)
                in[i * spread] = sets[s][i];
            options.call.strategy = "reduce/reference";
            assert_tess_ok(tess_reduce(context, TESS_SUM, &x, &a, &options));
            options.call = (tess_call){.engine = engine};
            assert_tess_ok(tess_reduce(context, TESS_SUM, &x, &b, &options));
            if (memcmp(&expected, &found, sizeof found))
                fail_msg("set %d, %d apart: %a, not %a", s, spread, found, expected);
        }
    free(in);
}

/* What no order can change, as runs that begin anywhere, small elements by words: every type and operation that goes so, any bits, NaNs of both policies. */
static void runs(void **state) {
    (void)state;
    uint64_t random = 6;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_u8, tess_u64},         {TESS_MEAN, tess_i8, tess_f64},     {TESS_COUNT_NONZERO, tess_u8, tess_i64},
                 {TESS_ALL, tess_i8, tess_bool},        {TESS_ANY, tess_bool, tess_u8},     {TESS_MAX, tess_u8, tess_u8},
                 {TESS_MIN, tess_u8, tess_f32},         {TESS_MAX, tess_i8, tess_i8},       {TESS_MIN, tess_i8, tess_i16},
                 {TESS_MAX, tess_f16, tess_f16},        {TESS_MIN, tess_f16, tess_f16},     {TESS_NORM_INF, tess_f16, tess_f32},
                 {TESS_MIN, tess_bf16, tess_bf16},      {TESS_MAX, tess_bf16, tess_f32},    {TESS_NORM_INF, tess_u8, tess_u8},
                 {TESS_MIN, tess_bool, tess_bool},      {TESS_MAX, tess_bool, tess_u8},     {TESS_ARGMIN, tess_bool, tess_i64},
                 {TESS_ARGMAX, tess_bool, tess_i64},    {TESS_ARGMAX, tess_u8, tess_i32},   {TESS_ARGMIN, tess_i8, tess_i64},
                 {TESS_ARGMIN, tess_u16, tess_i64},     {TESS_ARGMAX, tess_i64, tess_i64},  {TESS_ARGMIN, tess_f16, tess_i64},
                 {TESS_ARGMAX, tess_f32, tess_i64},     {TESS_ARGMIN, tess_f64, tess_i64},  {TESS_SUM, tess_i16, tess_i64},
                 {TESS_PROD, tess_u32, tess_u64},       {TESS_MAX, tess_f32, tess_f32},     {TESS_COUNT_NONZERO, tess_f64, tess_i64},
                 {TESS_NORM_INF, tess_bf16, tess_bf16}, {TESS_NORM_INF, tess_f32, tess_f64}};
    chosen_only = true;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int fill = 1; fill <= 2; fill++)
            for (int nan = 0; nan < (cases[i].in >= tess_f16 ? 2 : 1); nan++) {
                work w = {cases[i].operation, cases[i].in, cases[i].out, 2, 1, {3, 17007 + fill}, (tess_nan)nan, HOSTILE_COMPACT, fill};
                compare(&w, &random);
                w.shape[1] = 5; /* most threads have nothing */
                compare(&w, &random);
            }
    chosen_only = false;
}

/* Sums of small elements whose rows begin anywhere: by vectors that lie across rows (gpu_run_leaf.cuh). */
static void rows_of_small_elements(void **state) {
    (void)state;
    uint64_t random = 8;
    static const int64_t lengths[] = {3, 9, 263, 2051, 8194, 20007};
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_SUM, tess_f16, tess_f16, TESS_NAN_PROPAGATE}, {TESS_MEAN, tess_u8, tess_f64, TESS_NAN_PROPAGATE},
                 {TESS_SUM, tess_bf16, tess_f64, TESS_NAN_OMIT},     {TESS_NORM2, tess_i16, tess_f64, TESS_NAN_PROPAGATE},
                 {TESS_PROD, tess_f16, tess_f32, TESS_NAN_OMIT},     {TESS_MEAN, tess_i8, tess_f32, TESS_NAN_PROPAGATE}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int k = 0; k < TESS_COUNT(lengths); k++) {
            chosen_only = lengths[k] > 3000;
            work w = {cases[i].operation, cases[i].in, cases[i].out, 2, 1, {9, lengths[k]}, cases[i].nan, HOSTILE_COMPACT, 1 + (i + k) % 2};
            compare(&w, &random);
        }
    chosen_only = false;
}

/* One array to one value, of lengths that leave blocks, warps and passes incomplete: what the rungs of the ladder take. */
static void the_ladder(void **state) {
    (void)state;
    uint64_t random = 5;
    static const int64_t sizes[] = {1, 257, 70001};
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_i32, tess_i64}, {TESS_MIN, tess_f32, tess_f32}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int s = 0; s < TESS_COUNT(sizes); s++) {
            work w = {cases[i].operation, cases[i].in, cases[i].out, 1, 0, {sizes[s]}, TESS_NAN_PROPAGATE, HOSTILE_COMPACT, 2};
            compare(&w, &random);
        }
}

/* The rungs' formulas, on lengths that leave warps, blocks and passes incomplete. */
static void counts_as_predicted(void **state) {
    (void)state;
    static const int64_t lengths[] = {1, 31, 300, 2048, 65537, 811000, 1000003, 1081383};
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        tess_nan nan;
    } cases[] = {{TESS_SUM, tess_i32, tess_i64, TESS_NAN_PROPAGATE}, {TESS_MAX, tess_f32, tess_f32, TESS_NAN_PROPAGATE},
                 {TESS_MIN, tess_f64, tess_f64, TESS_NAN_OMIT},      {TESS_COUNT_NONZERO, tess_u8, tess_i64, TESS_NAN_PROPAGATE},
                 {TESS_MAX, tess_f16, tess_f16, TESS_NAN_PROPAGATE}, {TESS_MEAN, tess_i16, tess_f64, TESS_NAN_PROPAGATE},
                 {TESS_PROD, tess_u8, tess_u32, TESS_NAN_PROPAGATE}};
    int compared[64] = {0};
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    char *in = calloc(8, (size_t)lengths[TESS_COUNT(lengths) - 1]);
    assert_non_null(in);
    gpu_counts_begin(context);
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int s = 0; s < TESS_COUNT(lengths) - (i > 1 || TESS_SANITIZED ? 3 : 0); s++)
            for (int r = 0; r < tess_reduce_op.gpu_count; r++) {
                const tess_strategy *row = &tess_reduce_op.gpu_rows[r];
                int64_t shape[] = {lengths[s]};
                double out;
                DLTensor from = tess_view(in, cases[i].in, 1, shape, NULL), to = tess_view(&out, cases[i].out, 0, NULL, NULL);
                tess_reduce_options options = {.struct_size = sizeof options, .nan = cases[i].nan, .call = {.engine = engine, .strategy = row->name}};
                tess_plan *plan;
                char what[96];
                if (!row->gpu->predict || !row->gpu->rung)
                    continue;
                assert_tess_ok(tess_plan_reduce(&plan, context, cases[i].operation, &from, &to, &options));
                snprintf(what, sizeof what, "%s of %lld %s", tess_reduction_name(cases[i].operation), (long long)shape[0],
                         tess_type_name(cases[i].in));
                compared[r] += gpu_counts_check(plan, in, NULL, &out, what) > 11; /* all of them, but perhaps flops */
                tess_plan_free(plan);
            }
    gpu_counts_end(context);
    free(in);
    for (int r = 0; r < tess_reduce_op.gpu_count; r++)
        if (tess_reduce_op.gpu_rows[r].gpu->rung > 0 && compared[r] < 20)
            fail_msg("%s: %d predictions were compared", tess_reduce_op.gpu_rows[r].name, compared[r]);
}

/* Six segments, of none, one and thousands of elements, or rows of some, by every row that takes them; test_reduce_segments_gpu.c and test_reduce_strips_gpu.c go further. */
static void segments(void **state) {
    (void)state;
    enum { N = 30000, S = 6, WIDE = 7 };
    uint64_t random = 4;
    int64_t list_shape[] = {S + 1}, list[S + 1] = {0, 0, 5, 9000, 26000, 26001, N};
    float expected[S * WIDE], found[S * WIDE];
    const DLTensor offsets = tess_view(list, tess_i64, 1, list_shape, NULL);
    int axis = 0;
    for (int round = 0; round < 14; round++) {
        const int64_t wide = round < 8 ? 1 : WIDE;
        int64_t shape[] = {N, wide}, out_shape[] = {S, wide};
        const DLTensor a = tess_view(expected, tess_f32, 1 + (wide > 1), out_shape, NULL),
                       b = tess_view(found, tess_f32, 1 + (wide > 1), out_shape, NULL);
        hostile_array in;
        tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .offsets = &offsets, .exact = round & 1};
        hostile_make(&in, &random, tess_f32, 1 + (wide > 1), shape, round < 6 || wide > 1 ? HOSTILE_COMPACT : HOSTILE_STRIDED);
        hostile_fill(&in, &random, 1);
        options.call.strategy = "reduce/reference";
        assert_tess_ok(tess_reduce(context, TESS_SUM, &in.tensor, &a, &options));
        options.call.engine = engine;
        for (int r = -1; r < tess_reduce_op.gpu_count; r++) {
            options.call.strategy = r < 0 ? NULL : tess_reduce_op.gpu_rows[r].name;
            memset(found, HOSTILE_POISON, sizeof found);
            const tess_status status = tess_reduce(context, TESS_SUM, &in.tensor, &b, &options);
            if (r >= 0 && status == TESS_ERR_STRATEGY)
                continue;
            assert_tess_ok(status);
            assert_memory_equal(found, expected, sizeof(float) * (size_t)(S * wide));
            if (r >= 0)
                ran[r]++;
        }
        hostile_free(&in);
    }
}

static void every_row_was_compared(void **state) {
    (void)state;
    for (int r = 0; r < tess_reduce_op.gpu_count; r++)
        if (ran[r] < (gpu_test_in_part(engine) ? 1 : 3))
            fail_msg("%s was compared %d times only", tess_reduce_op.gpu_rows[r].name, ran[r]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_every_shape),
                                       cmocka_unit_test(every_operation),
                                       cmocka_unit_test(every_type),
                                       cmocka_unit_test(complex_elements),
                                       cmocka_unit_test(no_elements),
                                       cmocka_unit_test(exact_sums),
                                       cmocka_unit_test(hard_sums),
                                       cmocka_unit_test(exact_ends),
                                       cmocka_unit_test(runs),
                                       cmocka_unit_test(rows_of_small_elements),
                                       cmocka_unit_test(the_ladder),
                                       cmocka_unit_test(counts_as_predicted),
                                       cmocka_unit_test(segments),
                                       cmocka_unit_test(every_row_was_compared)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

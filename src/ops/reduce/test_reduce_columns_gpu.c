/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_columns_gpu.c - proves: reduce/tree_columns gives the reference's bytes: what no order can change of every type and by words, in strips cut and whole, of sets that lie anywhere, in one leaf
 * and in several; sums whose leaves are shared among blocks by classes of lanes. On a card when there is one, else on the virtual GPU. */
#include "reduce_sets.h"

static tess_context *context;
static tess_engine engine;

/* Arrays of odd rows begin at an odd place. */
static void compare(const sets_work *work, uint64_t *random) {
    sets_work w = *work;
    sets_case c;
    w.from = w.width % 2;
    sets_begin(&c, &w, random);
    sets_expect(&c, context, random);
    assert_true(sets_same(&c, context, engine, "reduce/tree_columns"));
    sets_end(&c);
}

/* Words of bytes and halves, vectors of everything else, single elements where rows begin at odd addresses; strips of 512 columns with a rest; no row, one and many for a warp. */
static void any_order(void **state) {
    (void)state;
    uint64_t random = 1;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } kinds[] = {{TESS_SUM, tess_u8, tess_u64},       {TESS_ARGMAX, tess_u8, tess_i64},
                 {TESS_MAX, tess_u8, tess_u8},        {TESS_COUNT_NONZERO, tess_i8, tess_i64},
                 {TESS_SUM, tess_i8, tess_i64},       {TESS_ARGMIN, tess_i8, tess_i64},
                 {TESS_MIN, tess_i8, tess_i8},        {TESS_ANY, tess_bool, tess_bool},
                 {TESS_ARGMAX, tess_bool, tess_i64},  {TESS_MEAN, tess_u8, tess_f32},
                 {TESS_SUM, tess_i16, tess_i64},      {TESS_ARGMAX, tess_u16, tess_i64},
                 {TESS_MAX, tess_f16, tess_f16},      {TESS_ARGMIN, tess_f16, tess_i64},
                 {TESS_MIN, tess_bf16, tess_bf16},    {TESS_NORM_INF, tess_f16, tess_f32},
                 {TESS_SUM, tess_i32, tess_i64},      {TESS_ARGMAX, tess_f32, tess_i64},
                 {TESS_NORM_INF, tess_f32, tess_f32}, {TESS_PROD, tess_u32, tess_u64},
                 {TESS_ARGMIN, tess_f64, tess_i64},   {TESS_MAX, tess_f64, tess_f64},
                 {TESS_MIN, tess_i64, tess_i64},      {TESS_COUNT_NONZERO, tess_c64, tess_i64},
                 {TESS_NORM_INF, tess_c128, tess_f64}};
    static const int64_t lengths[] = {1, 7, 63, 64, 65, 300, 1000}, widths[] = {32, 528, 1040, 257, 64};
    int n = 0;
    for (int i = 0; i < TESS_COUNT(kinds); i++)
        for (int l = i % 3; l < TESS_COUNT(lengths); l += 3, n++) {
            const bool number = tess_is_complex(kinds[i].in) || kinds[i].operation == TESS_MEAN;
            sets_work w = {.operation = kinds[i].operation,
                           .in = kinds[i].in,
                           .out = kinds[i].out,
                           .nan = n % 4 == 3 && !number ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE,
                           .sets = 1 + n % 2,
                           .k = lengths[l],
                           .width = widths[n % 5],
                           .row = widths[n % 5] + (n % 4 == 1 ? 16 : 0),
                           .between = n % 3 * 16 + (n % 4 == 1 ? 16 : 0),
                           .fill = n % 3};
            compare(&w, &random);
        }
}

/* Leaves that are cut so that blocks are many enough; more than 8192 rows, whose sums no longer fit the words of one leaf. */
static void several_leaves(void **state) {
    (void)state;
    uint64_t random = 2;
    static const sets_work works[] = {{TESS_SUM, tess_u8, tess_u64, TESS_NAN_PROPAGATE, 0, 1, 257, 48, 0, 0, 0, 0, 2},
                                      {TESS_ARGMAX, tess_u8, tess_i64, TESS_NAN_PROPAGATE, 0, 2, 9000, 33, 36, 8, 0, 0, 2},
                                      {TESS_ARGMIN, tess_f32, tess_i64, TESS_NAN_OMIT, 0, 1, 700, 130, 132, 2, 0, 0, 2},
                                      {TESS_ARGMAX, tess_f16, tess_i64, TESS_NAN_PROPAGATE, 0, 1, 513, 136, 0, 0, 0, 0, 2},
                                      {TESS_COUNT_NONZERO, tess_f32, tess_i64, TESS_NAN_OMIT, 0, 1, 1025, 36, 0, 0, 0, 0, 2},
                                      {TESS_MIN, tess_i16, tess_i16, TESS_NAN_PROPAGATE, 0, 3, 511, 264, 0, 8, 0, 0, 2},
                                      {TESS_SUM, tess_i64, tess_i64, TESS_NAN_PROPAGATE, 0, 1, 2000, 34, 0, 0, 0, 0, 2}};
    for (int i = 0; i < TESS_COUNT(works); i++)
        compare(&works[i], &random);
}

/* Sums of few columns: classes of lanes in blocks of their own, with lanes of no element, leaves whole and not, more leaves than one. */
static void shared_leaves(void **state) {
    (void)state;
    uint64_t random = 3;
    static const tess_type types[] = {tess_f32, tess_f64, tess_f16, tess_c64, tess_c128};
    static const int64_t lengths[] = {1, 129, 300, 1000, 2049, 8192, 8193, 17000}, widths[] = {33, 128, 66};
    for (int i = 0; i < TESS_COUNT(types); i++)
        for (int l = i % 2; l < TESS_COUNT(lengths); l += 2) {
            sets_work w = {.operation = l % 4 == 3 ? TESS_PROD : TESS_SUM,
                           .in = types[i],
                           .out = types[i],
                           .nan = l % 4 == 1 ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE,
                           .sets = 1,
                           .k = lengths[l],
                           .width = widths[(i + l) % 3],
                           .row = widths[(i + l) % 3] + i % 2,
                           .between = i % 2,
                           .fill = 1};
            compare(&w, &random);
        }
}

/* Two rows of each lane at most, by vectors of two columns of f32 or of c64, whose sums are f64 and c128. */
static void few_rows(void **state) {
    (void)state;
    uint64_t random = 4;
    static const sets_work works[] = {{TESS_NORM2, tess_f32, tess_f32, TESS_NAN_PROPAGATE, 0, 2, 300, 260, 0, 0, 0, 0, 2},
                                      {TESS_NORM1, tess_f32, tess_f64, TESS_NAN_OMIT, 0, 1, 257, 128, 0, 4, 0, 0, 1},
                                      {TESS_NORM2, tess_f32, tess_f64, TESS_NAN_OMIT, 0, 3, 512, 66, 0, 0, 0, 0, 1},
                                      {TESS_SUM, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 0, 1, 449, 132, 0, 0, 0, 0, 2},
                                      {TESS_PROD, tess_c64, tess_c64, TESS_NAN_PROPAGATE, 0, 2, 300, 64, 0, 0, 0, 0, 2},
                                      {TESS_PROD, tess_c64, tess_c128, TESS_NAN_OMIT, 0, 1, 511, 130, 0, 0, 0, 0, 1}};
    for (int i = 0; i < TESS_COUNT(works); i++)
        compare(&works[i], &random);
}

/* So many columns that a warp has all rows of its own: vectors of 4, 8 and 16 bytes, single elements, rows at odd addresses; the plan takes the row then, but for elements of 4 bytes whose rows are no whole vectors. */
static void brief_columns(void **state) {
    (void)state;
    uint64_t random = 5;
    static const sets_work works[] = {{TESS_ARGMAX, tess_f32, tess_i64, TESS_NAN_PROPAGATE, 0, 845, 17, 129, 0, 0, 0, 0, 2},
                                      {TESS_MAX, tess_f16, tess_f16, TESS_NAN_OMIT, 0, 2112, 8, 136, 0, 8, 0, 0, 2},
                                      {TESS_MAX, tess_u8, tess_u8, TESS_NAN_PROPAGATE, 0, 4224, 9, 256, 0, 0, 0, 0, 2},
                                      {TESS_ARGMIN, tess_u8, tess_i64, TESS_NAN_PROPAGATE, 0, 2112, 17, 521, 0, 0, 0, 0, 2},
                                      {TESS_SUM, tess_i32, tess_i64, TESS_NAN_PROPAGATE, 0, 2112, 18, 130, 0, 0, 0, 0, 2}};
    for (int i = 0; i < TESS_COUNT(works); i++) {
        compare(&works[i], &random);
        const int axis = 1;
        DLTensor in = tess_view(&random, works[i].in, 3, (int64_t[]){works[i].sets, works[i].k, works[i].width}, NULL),
                 out = tess_view(&random, works[i].out, 2, (int64_t[]){works[i].sets, works[i].width}, NULL);
        const tess_reduce_options options = {.struct_size = sizeof options, .nan = works[i].nan, .axes = &axis, .naxes = 1, .call.engine = engine};
        tess_plan *plan;
        assert_tess_ok(tess_plan_reduce(&plan, context, works[i].operation, &in, &out, &options));
        gpu_test_chosen(plan, tess_type_size(works[i].in) == 4 ? "tree_few" : "tree_columns", i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_order), cmocka_unit_test(several_leaves), cmocka_unit_test(shared_leaves),
                                       cmocka_unit_test(few_rows), cmocka_unit_test(brief_columns)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

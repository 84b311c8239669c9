/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_tree_moments_gpu.c - proves: reduce/tree_moments gives the reference's bytes: tiles of several sets, of one and of strips of wide ones, by copies of every size, from one
 * element of an output to more leaves than a block pairs, rows and sets with gaps and backward, that begin anywhere, every type, NaNs of both policies, nothing read around an array; and where the
 * row is chosen. On a card when there is one, else on the virtual GPU. */
#include "ops/reduce/reduce.h"
#include "reduce_sets.h"

static tess_context *context;
static tess_engine engine;
static int ran;
static const char *const name = "reduce/tree_moments";

/* fill: 0 has finite variances of every element, any bits have NaNs, which hide lost ones */
static void compare(const sets_work *w, uint64_t *random) {
    static int number;
    sets_case c;
    if (gpu_test_spared(engine, number++, 5, 10))
        return;
    sets_begin(&c, w, random);
    sets_expect(&c, context, random);
    assert_true(sets_same(&c, context, engine, name));
    ran++;
    sets_end(&c);
}

static const tess_type types[] = {tess_f32, tess_f64, tess_f16, tess_u8,   tess_bf16, tess_i8, tess_i16,
                                  tess_u16, tess_i32, tess_u32, tess_bool, tess_i64,  tess_u64};

/* Every number of sets a tile has, whole sets, strips; every place of 16 bytes at which one can begin and end. */
static void every_shape(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int64_t widths[] = {2, 3, 8, 31, 33, 64, 100, 256, 501}, lengths[] = {1, 7, 33, 200, 257, 300, 1000, 4097};
    for (int i = 0; i < TESS_COUNT(widths); i++)
        for (int l = 0; l < TESS_COUNT(lengths); l++) {
            const int64_t elements = widths[i] * lengths[l];
            if (elements > 270000)
                continue;
            sets_work w = {.operation = (i + l) % 4 ? TESS_VAR : TESS_STD,
                           .in = types[(i + 3 * l) % TESS_COUNT(types)],
                           .out = l % 2 ? tess_f64 : tess_f32,
                           .nan = (tess_nan)((i + 2 * l) % 3 == 0),
                           .outer = l % 5 == 0 ? 2 : 1,
                           .sets = 1 + tess_min64(20000 / elements, 30),
                           .k = lengths[l],
                           .width = widths[i],
                           .row = (i + l) % 3 == 1 ? widths[i] + (i + l / 2) % 9 : 0,
                           .between = (i + l) % 3 * (i % 2 ? 1 : 16),
                           .apart = l % 2,
                           .from = (2 * i + l) % 4,
                           .fill = (i + l) % 4 == 2 ? 1 : 0};
            compare(&w, &random);
        }
}

/* Shapes, strides and types by chance. */
static void by_chance(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int i = 0; i < 70; i++) {
        const int64_t width = hostile_between(&random, 2, i % 3 ? 40 : 400), k = hostile_between(&random, 1, (i % 8 ? 20000 : 90000) / width);
        const tess_type type = types[hostile_between(&random, 0, TESS_COUNT(types) - 1)];
        int64_t row = i % 4 ? hostile_between(&random, 0, 1) * (width + hostile_between(&random, 0, 20)) : 0;
        if (i % 7 == 1)
            row = -(width + hostile_between(&random, 0, 5));
        if (i % 11 == 2)
            row = width * 2 / 3; /* rows that have elements in common */
        sets_work w = {.operation = i % 5 ? TESS_VAR : TESS_STD,
                       .in = type,
                       .out = i % 2              ? tess_f64
                              : type == tess_f16 ? tess_f16
                                                 : tess_f32,
                       .nan = (tess_nan)hostile_between(&random, 0, 1),
                       .outer = hostile_between(&random, 1, 2),
                       .sets = hostile_between(&random, 1, 5),
                       .k = k,
                       .width = width,
                       .row = row,
                       .between = hostile_between(&random, 0, 1) * hostile_between(&random, 0, 17),
                       .apart = hostile_between(&random, 0, 3),
                       .from = hostile_between(&random, 0, 15),
                       .fill = (int)hostile_between(&random, 0, 2)};
        compare(&w, &random);
    }
}

/* The greatest elements, whose sums fill what holds them: bytes two in a word, halves the 53 bits of an f64; then one infinity, in each half of a word. */
static void greatest(void **state) {
    (void)state;
    uint64_t random = 9;
    static const sets_work works[] = {{TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 300, 33, 0, 0, 0, 0, 3},
                                      {TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8192, 32, 0, 0, 0, 0, 3},
                                      {TESS_VAR, tess_f16, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 300, 32, 0, 0, 0, 0, 3},
                                      {TESS_VAR, tess_f16, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 301, 3, 0, 0, 0, 0, 3},
                                      {TESS_VAR, tess_f16, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8192, 16, 0, 0, 0, 0, 3}};
    for (int i = 0; i < TESS_COUNT(works); i++)
        for (int odd = -1; odd < 2; odd++) { /* -1: no infinity */
            const bool bytes = works[i].in == tess_u8;
            sets_case c;
            if (bytes && odd >= 0)
                continue;
            sets_begin(&c, &works[i], &random);
            unsigned char *at = (unsigned char *)c.memory.tensor.data + c.memory.tensor.byte_offset;
            for (int64_t e = 0; e < c.memory.tensor.shape[0]; e++)
                if (bytes)
                    at[e] = e % 1000 ? 255 : 254;
                else
                    ((uint16_t *)at)[e] = e % 1000 ? 0x7bff : 1;
            if (odd >= 0)
                ((uint16_t *)at)[100 * works[i].width + odd] = 0x7c00;
            sets_expect(&c, context, &random);
            assert_true(sets_same(&c, context, engine, name));
            ran++;
            sets_end(&c);
        }
}

/* Leaves of a power of two of bytes, whose variances are made of integers: in every shape, of elements that lie as far apart as can be, about half of them at each end; some with a last leaf that is none. */
static void bytes_at_once(void **state) {
    (void)state;
    uint64_t random = 11;
    static const int64_t lengths[] = {1, 2, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 8193, 10000, 16384}, widths[] = {2, 3, 8, 16, 33, 64, 101};
    for (int l = 0; l < TESS_COUNT(lengths); l++)
        for (int i = 0; i < TESS_COUNT(widths); i++) {
            const int64_t k = lengths[l], width = widths[i];
            const sets_work w = {.operation = TESS_VAR,
                                 .in = (i + l) % 3 ? tess_u8 : tess_i8,
                                 .out = tess_f64,
                                 .outer = 1,
                                 .sets = 1 + tess_min64(4000 / (k * width), 20),
                                 .k = k,
                                 .width = width,
                                 .row = (i + l) % 2 ? 0
                                        : i == 5    ? -width
                                                    : width + 32,
                                 .between = (i + l) % 4,
                                 .from = i % 3,
                                 .fill = 1};
            sets_case c;
            if (k * width > 280000 || gpu_test_spared(engine, l + i, 3, 6))
                continue;
            sets_begin(&c, &w, &random);
            unsigned char *at = (unsigned char *)c.memory.tensor.data + c.memory.tensor.byte_offset;
            for (int64_t e = 0; e < c.memory.tensor.shape[0]; e++)
                at[e] = (unsigned char)((e * 2654435761u >> 9 & 1 ? 255 : 0) ^ (w.in == tess_i8 ? 128 : 0));
            sets_expect(&c, context, &random);
            assert_true(sets_same(&c, context, engine, name));
            ran++;
            sets_end(&c);
        }
}

static void several_leaves(void **state) {
    (void)state;
    uint64_t random = 3;
    static const sets_work works[] = {{TESS_VAR, tess_f32, tess_f32, TESS_NAN_PROPAGATE, 1, 2, 8192, 3, 0, 1, 0, 0, 0},
                                      {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 8193, 3, 0, 1, 0, 1, 0},
                                      {TESS_STD, tess_f16, tess_f32, TESS_NAN_OMIT, 2, 2, 16385, 3, 0, 0, 5, 0, 2},
                                      {TESS_VAR, tess_f32, tess_f64, TESS_NAN_OMIT, 1, 1, 24579, 20, 0, 0, 0, 0, 2},
                                      {TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 20001, 37, 0, 0, 0, 3, 1},
                                      {TESS_VAR, tess_f64, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 17000, 4, 6, 0, 0, 0, 0},
                                      {TESS_VAR, tess_f64, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 9001, 3, 0, 1, 0, 1, 0},
                                      {TESS_VAR, tess_i16, tess_f32, TESS_NAN_PROPAGATE, 1, 1, 30000, 21, 0, 0, 0, 0, 1},
                                      {TESS_VAR, tess_bf16, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8192 * 3 + 1, 2, 3, 0, 0, 0, 0},
                                      {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8192, 16, 0, 0, 0, 0, 0},
                                      {TESS_VAR, tess_f32, tess_f64, TESS_NAN_OMIT, 1, 2, 16383, 16, 24, 8, 0, 0, 2},
                                      {TESS_STD, tess_f16, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 14500, 48, 0, 0, 0, 0, 0},
                                      {TESS_VAR, tess_u8, tess_f32, TESS_NAN_PROPAGATE, 1, 1, 8200, 64, -96, 0, 0, 0, 1},
                                      {TESS_VAR, tess_i8, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8190, 32, 64, 0, 0, 0, 1},
                                      {TESS_VAR, tess_u16, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 8192, 16, 0, 0, 0, 0, 1},
                                      {TESS_VAR, tess_f64, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 12000, 8, 0, 0, 0, 0, 0},
                                      {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 3, 4095, 8, 0, 0, 0, 0, 0},
                                      {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 1000, 33, 0, 0, 0, 1, 0},
                                      {TESS_VAR, tess_f64, tess_f64, TESS_NAN_OMIT, 1, 2, 1000, 33, 0, 0, 0, 0, 2},
                                      {TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 2049 * 8192 + 77, 2, 0, 0, 0, 0, 1}};
    for (int i = 0; i < TESS_COUNT(works) - TESS_SANITIZED; i++)
        compare(&works[i], &random);
}

/* Devices with less shared memory for a block: narrower strips, down to one column. */
static void less_shared_memory(void **state) {
    (void)state;
    tess_gpu *gpu;
    uint64_t random = 4;
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    assert_tess_ok(tess_gpu_get_engine(&gpu, context, engine));
    const int block = gpu->devices->shared_block_optin, sm = gpu->devices->shared_sm;
    gpu->devices->shared_block_optin = 99 << 10;
    gpu->devices->shared_sm = 100 << 10;
    static const tess_type some[] = {tess_f64, tess_f32, tess_f16, tess_u8};
    for (int t = 0; t < TESS_COUNT(some); t++)
        for (int odd = 0; odd < 2; odd++) {
            sets_work w = {TESS_VAR, some[t], tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8200, 24, 24 + odd, 0, 0, odd, 0};
            compare(&w, &random);
        }
    gpu->devices->shared_block_optin = block;
    gpu->devices->shared_sm = sm;
}

/* Blocks that go from tile to tile, as many as a device has multiprocessors: some have a tile more than others, of the same set and of another one; last leaves by a launch of their own. */
static void from_tile_to_tile(void **state) {
    (void)state;
    tess_gpu *gpu;
    uint64_t random = 6;
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    assert_tess_ok(tess_gpu_get_engine(&gpu, context, engine));
    const int sms = gpu->devices->sms;
    gpu->devices->sms = 2;
    static const sets_work works[] = {
        {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8192, 40, 0, 0, 0, 0, 0},
        {TESS_VAR, tess_f32, tess_f32, TESS_NAN_OMIT, 1, 3, 8000, 16, 24, 8, 0, 0, 2},
        {TESS_STD, tess_f64, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 16384, 12, 0, 0, 0, 0, 0},
        {TESS_VAR, tess_f64, tess_f64, TESS_NAN_OMIT, 2, 1, 7500, 8, -8, 0, 4, 0, 2},
        {TESS_VAR, tess_f16, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8192, 80, 0, 0, 0, 0, 0},
        {TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 16384, 64, 0, 0, 0, 0, 1},
        {TESS_VAR, tess_bool, tess_f64, TESS_NAN_PROPAGATE, 1, 3, 8191, 64, 0, 0, 0, 0, 1},
        {TESS_VAR, tess_i16, tess_f32, TESS_NAN_PROPAGATE, 1, 3, 8100, 32, 48, 0, 0, 0, 1},
        {TESS_VAR, tess_f32, tess_f64, TESS_NAN_OMIT, 1, 1, 10000, 40, 0, 0, 0, 0, 2},
        {TESS_VAR, tess_f64, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 8193, 8, 0, 0, 0, 0, 0},
        {TESS_VAR, tess_f16, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 15000, 48, 0, 0, 0, 0, 0},
        {TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8500, 96, 0, 0, 0, 0, 1},
        {TESS_VAR, tess_f16, tess_f64, TESS_NAN_OMIT, 1, 2, 17000, 48, 0, 0, 0, 0, 2},
        {TESS_VAR, tess_i16, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8192 + 600, 64, 0, 0, 0, 0, 1},
        {TESS_VAR, tess_i8, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 16385, 96, 0, 0, 0, 0, 1},
        {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 6000, 40, 0, 0, 0, 0, 0},
        {TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 6500, 160, 0, 0, 0, 0, 1},
        /* strips that begin anywhere, the last one narrower, by words and by vectors that lie across two sectors; one that is all columns */
        {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8192, 33, 0, 0, 0, 1, 0},
        {TESS_STD, tess_f32, tess_f32, TESS_NAN_OMIT, 1, 1, 10000, 22, 0, 0, 0, 3, 2},
        {TESS_VAR, tess_f64, tess_f64, TESS_NAN_OMIT, 1, 3, 8000, 9, -10, 0, 3, 1, 2},
        {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 3, 8192, 12, 20, 0, 0, 0, 0},
        {TESS_VAR, tess_f16, tess_f64, TESS_NAN_OMIT, 1, 2, 8100, 26, 30, 0, 0, 0, 2},
        {TESS_VAR, tess_i16, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 8192, 18, 0, 0, 0, 0, 1},
        {TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 16384, 100, 0, 0, 0, 0, 1},
        {TESS_VAR, tess_i8, tess_f64, TESS_NAN_PROPAGATE, 1, 3, 7000, 36, -36, 0, 0, 0, 1},
        {TESS_VAR, tess_u64, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 5000, 11, 0, 0, 0, 0, 1},
        {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 3, 8192, 5, 0, 0, 0, 1, 0},
        {TESS_VAR, tess_f32, tess_f64, TESS_NAN_OMIT, 1, 3, 3616, 17, 0, 0, 0, 2, 2},
        /* last leaves apart, of sets without gaps and of strips */
        {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 17, 10000, 3, 0, 0, 0, 1, 0},
        {TESS_VAR, tess_f16, tess_f64, TESS_NAN_OMIT, 1, 20, 8200, 5, 0, 0, 3, 1, 2},
        {TESS_STD, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 2, 19, 8704, 3, 0, 5, 0, 0, 1},
        {TESS_VAR, tess_f32, tess_f32, TESS_NAN_OMIT, 1, 3, 9000, 33, 0, 0, 0, 0, 2},
        {TESS_VAR, tess_i16, tess_f64, TESS_NAN_PROPAGATE, 1, 13, 16400, 3, -5, 0, 0, 2, 1}};
    for (int i = 0; i < TESS_COUNT(works) - TESS_SANITIZED; i++)
        compare(&works[i], &random);
    gpu->devices->sms = sms;
}

static void any_address(void **state) {
    (void)state;
    static const sets_array arrays[] = {{tess_f32, 3, 5, 301},   {tess_f16, 3, 5, 301},  {tess_u8, 3, 5, 301},    {tess_f64, 3, 5, 301},
                                        {tess_f16, 399, 1, 301}, {tess_u8, 399, 2, 301}, {tess_f32, 399, 1, 301}, {tess_f32, 4, 5, 301},
                                        {tess_f16, 400, 1, 301} /* copies of 16 bytes, where addresses allow them; else another row */};
    sets_any_address(engine, name, TESS_VAR, false, arrays, TESS_COUNT(arrays));
}

/* Of 64 elements and more, whatever the width, unless there are few in all or a thread can have all of a column; fewer small ones whose rows are whole words. Others are left to groups and leaves. */
static void chosen(void **state) {
    (void)state;
    static const struct {
        tess_type type;
        int64_t sets, k, width;
        const char *row;
    } cases[] = {
        {tess_f32, 1 << 18, 300, 3, "tree_moments"},  {tess_f32, 1 << 14, 1000, 33, "tree_moments"}, {tess_f32, 1 << 10, 1000, 1000, "tree_moments"},
        {tess_f64, 1, 1 << 20, 3, "tree_moments"},    {tess_u8, 1 << 14, 4096, 8, "tree_moments"},   {tess_f32, 1 << 14, 256, 33, "tree_moments"},
        {tess_f32, 1 << 14, 129, 33, "tree_moments"}, {tess_f32, 1 << 14, 64, 33, "tree_few"},       {tess_f32, 1, 1024, 64, "tree_moments"},
        {tess_f32, 1, 1023, 64, "tree_leaves"},       {tess_f32, 16, 100, 8, "tree_groups"},         {tess_f16, 1 << 14, 32, 256, "tree_moments"},
        {tess_u8, 1 << 14, 19, 256, "tree_moments"},  {tess_u8, 1 << 14, 19, 255, "tree_few"},       {tess_f32, 1 << 18, 64, 3, "tree_moments"}};
    const int axis = 1;
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        int64_t shape[] = {cases[i].sets, cases[i].k, cases[i].width}, kept[] = {cases[i].sets, cases[i].width};
        tess_plan *plan;
        const DLTensor in = tess_view(NULL, cases[i].type, 3, shape, NULL), out = tess_view(NULL, tess_f64, 2, kept, NULL);
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .call = {.engine = engine}};
        assert_tess_ok(tess_plan_reduce(&plan, context, TESS_VAR, &in, &out, &options));
        gpu_test_chosen(plan, cases[i].row, i);
    }
}

static void all_ran(void **state) {
    (void)state;
    assert_true(ran > (TESS_SANITIZED ? 20 : 50));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape),
                                       cmocka_unit_test(by_chance),
                                       cmocka_unit_test(greatest),
                                       cmocka_unit_test(bytes_at_once),
                                       cmocka_unit_test(several_leaves),
                                       cmocka_unit_test(less_shared_memory),
                                       cmocka_unit_test(from_tile_to_tile),
                                       cmocka_unit_test(any_address),
                                       cmocka_unit_test(chosen),
                                       cmocka_unit_test(all_ran)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

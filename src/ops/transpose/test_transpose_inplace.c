/* SPDX-License-Identifier: Apache-2.0
 * test_transpose_inplace.c - proves that in place every row gives the bytes of the definition, for squares, rectangles and batches, all element sizes and every
 * instruction set, and writes nothing beside; that plans know what is in place; and that scratch keeps to the header's bound. */
#include "transpose_contexts.h"

/* In place: batch x rows x columns x run becomes batch x columns x rows x run. */
static void in_place(const int64_t *shape4, tess_type type, uint64_t *random, const char *expected) {
    int64_t size = (int64_t)tess_type_size(type), count = shape4[0] * shape4[1] * shape4[2] * shape4[3], bytes = count * size;
    static const int perm[] = {0, 2, 1, 3};
    unsigned char *before = malloc((size_t)bytes + 1), *block = malloc((size_t)bytes + 256);
    assert_non_null(before);
    assert_non_null(block);
    for (int64_t i = 0; i < bytes; i++)
        before[i] = (unsigned char)(hostile_random(random) >> 13);
    int64_t shape[4] = {shape4[0], shape4[1], shape4[2], shape4[3]}, out_shape[4] = {shape[0], shape[2], shape[1], shape[3]};
    int64_t offset = hostile_between(random, 1, 100);
    DLTensor in = tess_view(block, type, 4, shape, NULL), out = tess_view(block, type, 4, out_shape, NULL);
    in.byte_offset = out.byte_offset = (uint64_t)offset;
    bool ran = false;
    for (int r = -1; r < tess_transpose_op.count; r++)
        for (int c = 0; c < context_count; c++) {
            tess_report report = {.struct_size = sizeof report};
            tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = 4};
            options.call.strategy = r < 0 ? NULL : tess_transpose_op.rows[r].name;
            options.call.report = &report;
            memset(block, HOSTILE_POISON, (size_t)bytes + 256);
            memcpy(block + offset, before, (size_t)bytes);
            tess_status status = tess_transpose(contexts[c], &in, &out, &options);
            if (r >= 0 && status == TESS_ERR_STRATEGY)
                break;
            assert_tess_ok(status);
            if (expected && r < 0)
                assert_string_equal(report.strategy, expected);
            ran = true;
            int64_t run = shape[3] * size;
            for (int64_t b = 0; b < shape[0]; b++)
                for (int64_t i = 0; i < shape[1]; i++)
                    for (int64_t j = 0; j < shape[2]; j++)
                        if (memcmp(block + offset + ((b * shape[2] + j) * shape[1] + i) * run, before + ((b * shape[1] + i) * shape[2] + j) * run,
                                   (size_t)run) != 0)
                            fail_msg("%s: %lld x %lld x %lld x %lld of %lld bytes: [%lld, %lld, %lld] is wrong", report.strategy, (long long)shape[0],
                                     (long long)shape[1], (long long)shape[2], (long long)shape[3], (long long)size, (long long)b, (long long)j,
                                     (long long)i);
            for (int64_t i = 0; i < 256; i++)
                assert_int_equal(block[i < offset ? i : bytes + i], HOSTILE_POISON);
        }
    assert_true(ran);
    free(before);
    free(block);
}

static void in_place_squares(void **state) {
    (void)state;
    uint64_t random = 16;
    static const int64_t sides[] = {1, 2, 3, 5, 16, 17, 31, 32, 64, 65, 100, 127, 128, 130, 200, 257};
    for (int s = 0; s < TESS_COUNT(sides); s++)
        for (int t = 0; t < 5; t++)
            if (!hostile_spared(s + t, 6))
                in_place((int64_t[]){t == 1 ? 3 : 1, sides[s], sides[s], 1}, sized[t], &random, sides[s] > 1 ? "transpose/inplace_square" : NULL);
    for (int64_t run = 2; run < 30; run += 3)
        in_place((int64_t[]){2, 19, 19, run}, sized[run % 5], &random, "transpose/inplace_square");
    in_place((int64_t[]){500, 4, 4, 1}, tess_f32, &random, "transpose/inplace_square");
    in_place((int64_t[]){1, 700, 700, 1}, tess_u8, &random, "transpose/inplace_square");
    in_place((int64_t[]){1, 1501, 1501, 1}, tess_f32, &random, "transpose/inplace_square"); /* from 16 MiB on lines are asked for ahead */
    in_place((int64_t[]){2, 1500, 1500, 1}, tess_i16, &random, "transpose/inplace_square");
    static const int64_t high[] = {3001, 2117, 1531, 1087, 765}; /* over 16 MiB in all: high blocks, where they are enough for the threads */
    for (int t = 0; t < 5; t += TESS_SANITIZED ? 3 : 1)
        in_place((int64_t[]){1, high[t], high[t], 1}, sized[t], &random, "transpose/inplace_square");
    static const int64_t one_set[][2] = {
        {1, 4096}, {3, 2048}, {4, 768}, {1, 1152}, {1, 832}}; /* rows whose lines meet in a set of the cache: tiles are held */
    for (int t = 0; t < 5; t += TESS_SANITIZED ? 2 : 1)
        in_place((int64_t[]){one_set[t][0], one_set[t][1], one_set[t][1], 1}, sized[t], &random, "transpose/inplace_square");
    in_place((int64_t[]){1, 1600, 1600, 1}, tess_f32, &random, "transpose/inplace_square");
    in_place((int64_t[]){7, 617, 617, 1}, tess_f32, &random, "transpose/inplace_square");
}

static void in_place_rectangles(void **state) {
    (void)state;
    uint64_t random = 17;
    for (int64_t m = 1; m <= 24; m++) /* every pair of small sizes; elements of 2000 bytes and more take the passes, the others the copy */
        for (int64_t n = 1; n <= 24; n++)
            in_place((int64_t[]){1 + (m + n) % 2, m, n, (m * n) % 3 == 0 ? 1 + 40000 / (m * n) : 1 + m % 5}, sized[(m + n) % 3], &random, NULL);
    static const int64_t pairs[][2] = {{1, 5000},  {5000, 1},  {2, 20011},  {20011, 2},  {97, 1009},  {1009, 97},  {256, 512}, {512, 256},
                                       {360, 240}, {240, 360}, {127, 1270}, {1270, 127}, {333, 334},  {3, 30000},  {30000, 3}, {128, 4096},
                                       {5, 40000}, {40000, 5}, {7, 30001},  {30001, 7},  {11, 20000}, {20001, 11}, {16, 19999}};
    for (int p = 0; p < TESS_COUNT(pairs); p++)
        for (int t = 0; t < 5; t++)
            if (!hostile_spared(p + t, 6))
                in_place((int64_t[]){1, pairs[p][0], pairs[p][1], 1}, sized[t], &random,
                         pairs[p][0] > 1 && pairs[p][1] > 1 ? "transpose/inplace_rectangular" : NULL);
    /* More than is copied out: rows and columns left over or not, cut one way or both, cycles in parts, elements in slices. */
    static const int64_t large[][3] = {{520, 530, 1},  {512, 640, 1},  {640, 513, 1},  {3, 100003, 1}, {100003, 3, 1}, {4, 70000, 1}, {1030, 1090, 1},
                                       {150, 170, 13}, {140, 150, 25}, {20, 30, 1030}, {3, 5, 40000},  {2, 3, 90000},  {7, 9000, 5},  {9000, 7, 5}};
    for (int p = 0; p < TESS_COUNT(large); p++)
        in_place((int64_t[]){1 + p % 2, large[p][0], large[p][1], large[p][2]}, sized[p % 5 == 3 || large[p][2] > 1000 ? 0 : p % 5], &random,
                 "transpose/inplace_rectangular");
    for (int t = 0; t < 4; t++)
        in_place((int64_t[]){1, 1100 >> t / 2, 1057 >> t / 2, 1}, sized[t], &random, "transpose/inplace_rectangular");
    for (int t = 0; t < 5; t++) /* rows of the result that share sets of a cache lie apart in the buffer */
        in_place((int64_t[]){1, 2048, 1100 + t, 1}, sized[t], &random, "transpose/inplace_rectangular");
    in_place((int64_t[]){1, 1090, 2048, 1}, tess_f32, &random, "transpose/inplace_rectangular");
    in_place((int64_t[]){9, 300, 260, 1}, tess_f32, &random, "transpose/inplace_rectangular"); /* matrices enough for a thread each */
    in_place((int64_t[]){3, 200, 300, 3}, tess_u8, &random, "transpose/inplace_rectangular");
    in_place((int64_t[]){2, 90, 70, 5}, tess_f32, &random, "transpose/inplace_rectangular");
    in_place((int64_t[]){2, 300, 7, 100}, tess_f64, &random, "transpose/inplace_rectangular");
}

static void in_place_plans(void **state) {
    (void)state;
    float data[2][3 * 4], other[12];
    DLTensor in = tess_view(data, tess_f32, 3, (int64_t[]){2, 3, 4}, NULL), out = tess_view(data, tess_f32, 3, (int64_t[]){2, 4, 3}, NULL);
    static const int batch[] = {0, 2, 1}, reversed[] = {2, 1, 0}, same[] = {0, 1, 2};
    tess_transpose_options options = {.struct_size = sizeof options, .perm = batch, .nperm = 3};
    tess_plan *plan;
    assert_tess_ok(tess_plan_transpose(&plan, NULL, &in, &out, &options));
    assert_tess_fails(tess_execute(plan, data, NULL, other, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_execute(plan, data, NULL, NULL, NULL), TESS_ERR_ARGUMENT);
    for (int i = 0; i < 24; i++)
        data[i / 12][i % 12] = (float)i;
    assert_tess_ok(tess_execute(plan, data, NULL, data, NULL));
    assert_true(data[0][1] == 4 && data[0][3] == 1 && data[1][1] == 16);
    tess_plan_free(plan);
    /* Three groups that move, a layout with gaps, another first element. */
    DLTensor turned = tess_view(data, tess_f32, 3, (int64_t[]){4, 3, 2}, NULL);
    options.perm = reversed;
    assert_tess_fails(tess_transpose(NULL, &in, &turned, &options), TESS_ERR_OVERLAP);
    DLTensor gaps = tess_view(data, tess_f32, 2, (int64_t[]){3, 3}, (int64_t[]){4, 1}),
             out3 = tess_view(data, tess_f32, 2, (int64_t[]){3, 3}, (int64_t[]){4, 1});
    assert_tess_fails(tess_transpose(NULL, &gaps, &out3, NULL), TESS_ERR_OVERLAP);
    options.perm = same;
    options.nperm = 2;
    float kept[24];
    memcpy(kept, data, sizeof kept);
    assert_tess_ok(tess_transpose(NULL, &gaps, &out3, &options)); /* nothing moves */
    assert_memory_equal(kept, data, sizeof kept);
    DLTensor shifted = tess_view(&data[0][1], tess_f32, 2, (int64_t[]){3, 3}, NULL), square = tess_view(data, tess_f32, 2, (int64_t[]){3, 3}, NULL);
    assert_tess_fails(tess_transpose(NULL, &square, &shifted, NULL), TESS_ERR_OVERLAP);
    /* Planned elsewhere, run in place. */
    DLTensor nowhere = tess_view(NULL, tess_f32, 2, (int64_t[]){3, 3}, NULL);
    assert_tess_ok(tess_plan_transpose(&plan, NULL, &nowhere, &nowhere, NULL));
    assert_tess_fails(tess_execute(plan, data, NULL, data, NULL), TESS_ERR_OVERLAP);
    assert_tess_ok(tess_execute(plan, data, NULL, other, NULL));
    tess_plan_free(plan);
}

/* The header's bound on scratch for rectangles in place. */
static void scratch_is_bounded(void **state) {
    (void)state;
    uint64_t random = 18;
    char byte;
    tess_context *context;
    tess_context_options one = {.struct_size = sizeof one, .threads = 1};
    assert_tess_ok(tess_open(&context, &one));
    for (int round = 0; round < 300; round++) {
        int64_t m = hostile_between(&random, 1, 1 << hostile_between(&random, 1, 20)),
                n = hostile_between(&random, 1, 1 << hostile_between(&random, 1, 20));
        int64_t run = hostile_between(&random, 1, 1 << hostile_between(&random, 0, 12));
        DLTensor in = tess_view(&byte, sized[round % 5], 3, (int64_t[]){m, n, run}, NULL),
                 out = tess_view(&byte, sized[round % 5], 3, (int64_t[]){n, m, run}, NULL);
        static const int perm[] = {1, 0, 2};
        tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = 3};
        tess_plan *plan;
        assert_tess_ok(tess_plan_transpose(&plan, context, &in, &out, &options)); /* never executed: the memory is not there */
        const double matrix = (double)m * (double)n * (double)run * (double)tess_type_size(sized[round % 5]), each = matrix / 256;
        const double bound = matrix <= 1 << 18 ? matrix + 64 : matrix / 7 + (1 << 20) + (each > 4 << 20 ? each : 4 << 20);
        assert_true((double)tess_plan_workspace(plan) <= bound);
        if (m == n)
            assert_int_equal(tess_plan_workspace(plan), 0);
        tess_plan_free(plan);
    }
    tess_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_place_squares),
        cmocka_unit_test(in_place_rectangles),
        cmocka_unit_test(in_place_plans),
        cmocka_unit_test(scratch_is_bounded),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

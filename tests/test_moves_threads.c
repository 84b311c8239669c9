/* SPDX-License-Identifier: Apache-2.0
 * test_moves_threads.c - proves, above all under ThreadSanitizer, that the threads of a transpose or a lookup never touch the same byte: every row
 * once, on work just large enough for several pieces, with out starting at an odd byte so that neighbouring pieces share cache lines. */
#include "hostile.h"

#include "core/strategy.h"
#include "ops/lookup/lookup.h"
#include "ops/transpose/transpose.h"

static tess_context *context;

static int open_context(void **state) {
    tess_context_options options = {.struct_size = sizeof options, .threads = 4};
    (void)state;
    return tess_open(&context, &options) == TESS_OK ? 0 : -1;
}
static int close_context(void **state) {
    (void)state;
    tess_close(context);
    return 0;
}

/* [a, b, c] to [c, a, b]; runs keep the last axis instead. */
static void transposes(void **state) {
    (void)state;
    enum { A = 3, B = 257, C = 331, COUNT = A * B * C };
    float *in = malloc(COUNT * sizeof *in);
    char *block = malloc(COUNT * sizeof *in + 1);
    assert_true(in && block);
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)i;
    static const int moved[] = {2, 0, 1}, kept[] = {1, 0, 2};
    for (int r = 0; r < tess_transpose_op.count; r++) {
        bool runs = strcmp(tess_transpose_op.rows[r].name, "transpose/runs") == 0;
        DLTensor from = tess_view(in, tess_f32, 3, (int64_t[]){A, B, C}, NULL);
        DLTensor to = runs ? tess_view(block, tess_f32, 3, (int64_t[]){B, A, C}, NULL) : tess_view(block, tess_f32, 3, (int64_t[]){C, A, B}, NULL);
        to.byte_offset = 1;
        tess_transpose_options options = {.struct_size = sizeof options, .perm = runs ? kept : moved, .nperm = 3};
        options.call.strategy = tess_transpose_op.rows[r].name;
        if (tess_transpose(context, &from, &to, &options) == TESS_ERR_STRATEGY)
            continue;
        for (int i = 0; i < COUNT; i++) {
            float got;
            int a = i / (B * C), b = i / C % B, c = i % C;
            memcpy(&got, block + 1 + 4 * (runs ? (b * A + a) * C + c : (c * A + a) * B + b), sizeof got);
            if (got != in[i])
                fail_msg("%s: element %d", tess_transpose_op.rows[r].name, i);
        }
    }
    free(in);
    free(block);
}

static void in_place(void **state) {
    (void)state;
    static const int64_t sides[][2] = {{389, 389}, {300, 420}, {420, 300}};
    for (int k = 0; k < 3; k++) {
        int64_t m = sides[k][0], n = sides[k][1];
        int32_t *data = malloc((size_t)(m * n) * sizeof *data);
        assert_non_null(data);
        for (int64_t i = 0; i < m * n; i++)
            data[i] = (int32_t)i;
        DLTensor in = tess_view(data, tess_i32, 2, (int64_t[]){m, n}, NULL), out = tess_view(data, tess_i32, 2, (int64_t[]){n, m}, NULL);
        assert_tess_ok(tess_transpose(context, &in, &out, NULL));
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                assert_int_equal(data[j * m + i], i * n + j);
        free(data);
    }
}

static void lookups(void **state) {
    (void)state;
    enum { COUNT = 200000, ENTRIES = 200 };
    float *table = malloc(ENTRIES * 5 * sizeof *table), *real = malloc(COUNT * sizeof *real), *out = malloc(COUNT * 5 * sizeof *out);
    uint8_t *index = malloc(COUNT);
    assert_true(table && real && out && index);
    for (int i = 0; i < ENTRIES * 5; i++)
        table[i] = (float)i;
    for (int i = 0; i < COUNT; i++) {
        index[i] = (uint8_t)((uint64_t)i * 7919 % ENTRIES);
        real[i] = (float)index[i];
    }
    for (int wide = 1; wide <= 5; wide += 4)
        for (int kind = 0; kind < 2; kind++)
            for (int r = 0; r < tess_lookup_op.count; r++) {
                DLTensor t = tess_view(table, tess_f32, 2, (int64_t[]){ENTRIES, wide}, NULL),
                         o = tess_view(out, tess_f32, 2, (int64_t[]){COUNT, wide}, NULL);
                DLTensor x = kind ? tess_view(real, tess_f32, 1, (int64_t[]){COUNT}, NULL) : tess_view(index, tess_u8, 1, (int64_t[]){COUNT}, NULL);
                tess_lookup_options options = {.struct_size = sizeof options};
                options.call.strategy = tess_lookup_op.rows[r].name;
                if (tess_lookup(context, &t, &x, &o, &options) == TESS_ERR_STRATEGY)
                    continue;
                for (int i = 0; i < COUNT * wide; i++)
                    if (out[i] != table[index[i / wide] * wide + i % wide])
                        fail_msg("%s: element %d", tess_lookup_op.rows[r].name, i);
            }
    index[150000] = index[70000] = 255; /* two threads meet one each; the first is named */
    DLTensor t = tess_view(table, tess_f32, 1, (int64_t[]){ENTRIES}, NULL), o = tess_view(out, tess_f32, 1, (int64_t[]){COUNT}, NULL);
    DLTensor x = tess_view(index, tess_u8, 1, (int64_t[]){COUNT}, NULL);
    for (int r = 0; r < 3; r++) {
        tess_lookup_options options = {.struct_size = sizeof options};
        options.call.strategy = tess_lookup_op.rows[r].name;
        assert_tess_fails(tess_lookup(context, &t, &x, &o, &options), TESS_ERR_INDEX);
        assert_non_null(strstr(tess_detail(), "index[70000] is 255"));
    }
    free(table);
    free(real);
    free(out);
    free(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposes), cmocka_unit_test(in_place), cmocka_unit_test(lookups)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}

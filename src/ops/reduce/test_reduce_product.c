/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_product.c - complex products of factors that leave the others unchanged, 1 + 0i and 1 - 0i, have the reference's bits in every row: which of two such
 * stays is seen in the sign of a zero. Beside them infinities, NaNs and zeros; one term to three leaves, rows and columns, every instruction set, threads. */
#include "hostile.h"

#include <math.h>

#include "core/base.h"

enum { MOST = 2 * 8192 + 5, COLUMNS = 3 };

static const double part[][2] = {{1, 0.0}, {1, -0.0}, {1, -0.0}, {1, 0.0}, {-1, -0.0}, {INFINITY, 0}, {0, 1}, {-0.0, -0.0}, {NAN, 1}};

/* kind 0: nothing but 1 - 0i; 1: both; 2: others among them. */
static void fill(void *data, tess_type type, int64_t n, int kind, uint64_t *random) {
    for (int64_t i = 0; i < n; i++) {
        const double *value = part[kind == 0 ? 1 : hostile_between(random, 0, kind == 1 ? 3 : TESS_COUNT(part) - 1)];
        for (int k = 0; k < 2; k++)
            if (type == tess_c64)
                ((float *)data)[2 * i + k] = (float)value[k];
            else
                ((double *)data)[2 * i + k] = value[k];
    }
}

static void compare(tess_context *context, tess_context *plain, void *data, tess_type type, int64_t k, bool columns) {
    int64_t shape[] = {columns ? k : COLUMNS, columns ? COLUMNS : k}, outputs[] = {COLUMNS};
    int axis = columns ? 0 : 1;
    double expected[2 * COLUMNS], got[2 * COLUMNS];
    memset(expected, 0, sizeof expected);
    DLTensor in = tess_view(data, type, 2, shape, NULL), out = tess_view(expected, type, 1, outputs, NULL);
    tess_reduce_options how = {.struct_size = sizeof how, .axes = &axis, .naxes = 1, .call.strategy = "reduce/reference"};
    assert_tess_ok(tess_reduce(plain, TESS_PROD, &in, &out, &how));
    out.data = got;
    tess_strategy_info row;
    for (int r = -1; tess_strategy_get(r < 0 ? 0 : r, &row); r++) {
        if (r >= 0 && (strcmp(row.operation, "reduce") != 0 || strcmp(row.target, "cpu") != 0))
            continue;
        memset(got, 0, sizeof got);
        how.call.strategy = r < 0 ? NULL : row.name;
        tess_status status = tess_reduce(context, TESS_PROD, &in, &out, &how);
        if (status == TESS_ERR_STRATEGY)
            continue;
        assert_tess_ok(status);
        if (memcmp(got, expected, sizeof got) != 0)
            fail_msg("%s of %lld %s in %s: %a %a, the reference has %a %a", r < 0 ? "the choice" : row.name, (long long)k, tess_type_name(type),
                     columns ? "columns" : "rows", got[0], got[1], expected[0], expected[1]);
    }
}

static void identities(void **state) {
    (void)state;
    static const int64_t lengths[] = {1, 2, 3, 255, 256, 257, 600, 8192, 8193, MOST};
    uint64_t random = 20261123;
    tess_context *plain;
    double *data = malloc((size_t)MOST * COLUMNS * 2 * sizeof *data);
    assert_non_null(data);
    assert_tess_ok(tess_open(&plain, NULL));
    for (int isa = TESS_ISA_BASELINE; isa <= TESS_ISA_NEON; isa++)
        for (int threads = 1; threads <= 3; threads += 2) {
            tess_context_options options = {.struct_size = sizeof options, .threads = threads, .isa = (tess_isa)isa};
            tess_context *context;
            if (tess_open(&context, &options) != TESS_OK)
                continue;
            for (int l = 0; l < TESS_COUNT(lengths); l++)
                for (int kind = 0; kind < 3; kind++)
                    for (int c = 0; c < 4; c++) {
                        const tess_type type = c & 1 ? tess_c128 : tess_c64;
                        fill(data, type, lengths[l] * COLUMNS, kind, &random);
                        compare(context, plain, data, type, lengths[l], c & 2);
                    }
            tess_close(context);
        }
    tess_close(plain);
    free(data);
}

/* What the page says: the left of two such factors stays, and every lane begins with 1 + 0i. */
static void the_left_one_stays(void **state) {
    (void)state;
    float one[][2] = {{1, -0.0f}, {1, 0.0f}}, got[2];
    int64_t n = 1;
    DLTensor in = tess_view(one, tess_c64, 1, &n, NULL), out = tess_view(got, tess_c64, 0, NULL, NULL);
    assert_tess_ok(tess_reduce(NULL, TESS_PROD, &in, &out, NULL));
    assert_true(got[0] == 1 && got[1] == 0 && !signbit(got[1]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(identities), cmocka_unit_test(the_left_one_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

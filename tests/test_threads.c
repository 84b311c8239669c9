/* SPDX-License-Identifier: Apache-2.0
 * test_threads.c - proves: every row of every operation gives the same bits with 1 to 8 threads on work large enough to be shared, and when several callers
 * use one context at once. Under ThreadSanitizer: without a data race. */
#include "hostile.h"

#include <pthread.h>

enum { ROWS = 331, COLUMNS = 401, SIZE = ROWS * COLUMNS };
static float picture[SIZE];
static int32_t index_of[SIZE];
static float place_of[SIZE];
static const int64_t whole[] = {ROWS, COLUMNS}, turned[] = {COLUMNS, ROWS}, flat[] = {SIZE};

static DLTensor view(void *data, tess_type type, int ndim, const int64_t *shape) {
    return tess_view(data, type, ndim, (int64_t *)(uintptr_t)shape, NULL);
}

/* Each case: an operation on picture into out; the size of the result in bytes, 0 when the row cannot. */
static size_t run(tess_context *context, int which, const char *strategy, float *out) {
    static float taps[9] = {1, 2, 1, 2, 5, 2, 1, 2, 1};
    static const int64_t three[] = {3, 3}, line[] = {9};
    DLTensor in = view(picture, tess_f32, 2, whole), to = view(out, tess_f32, 2, whole), mask = view(taps, tess_f32, 2, three);
    DLTensor row = view(taps, tess_f32, 1, line), scalar = view(out, tess_f32, 0, NULL), sums = view(out, tess_f32, 1, whole + 1);
    DLTensor indices = view(index_of, tess_i32, 1, flat), places = view(place_of, tess_f32, 1, flat), found = view(out, tess_f32, 1, flat);
    DLTensor table = view(picture, tess_f32, 1, flat), across = view(out, tess_f32, 2, turned);
    const DLTensor *rows[] = {&row, &row};
    const int first = 0;
    tess_call call = {.strategy = strategy};
    tess_correlate_options correlate = {.struct_size = sizeof correlate, .boundary = TESS_BOUNDARY_MIRROR, .call = call};
    tess_reduce_options reduce = {.struct_size = sizeof reduce, .call = call},
                        along = {.struct_size = sizeof along, .axes = &first, .naxes = 1, .call = call};
    tess_transpose_options transpose = {.struct_size = sizeof transpose, .call = call};
    tess_lookup_options lookup = {.struct_size = sizeof lookup, .call = call}, between = {.struct_size = sizeof between, .call = call};
    size_t bytes = sizeof picture;
    tess_status status;
    switch (which) {
    case 0: status = tess_correlate(context, &in, &mask, &to, &correlate); break;
    case 1: status = tess_correlate_separable(context, &in, rows, 2, &to, &correlate); break;
    case 2: status = tess_reduce(context, TESS_SUM, &in, &scalar, &reduce), bytes = 4; break;
    case 3: status = tess_reduce(context, TESS_VAR, &in, &sums, &along), bytes = 4 * COLUMNS; break;
    case 4: status = tess_reduce(context, TESS_ARGMAX, &in, &scalar, &reduce), bytes = 4; break;
    case 5: reduce.exact = true, status = tess_reduce(context, TESS_SUM, &in, &scalar, &reduce), bytes = 4; break;
    case 6: status = tess_transpose(context, &in, &across, &transpose); break;
    case 7:
        memcpy(out, picture, sizeof picture);
        in = view(out, tess_f32, 2, whole);
        status = tess_transpose(context, &in, &across, &transpose);
        break;
    case 8: status = tess_lookup(context, &table, &indices, &found, &lookup); break;
    default: status = tess_lookup(context, &table, &places, &found, &between); break;
    }
    if (strategy && status == TESS_ERR_STRATEGY)
        return 0;
    if (status != TESS_OK)
        fail_msg("case %d, %s: %s: %s", which, strategy ? strategy : "chosen", tess_status_name(status), tess_detail());
    return bytes;
}
enum { CASES = 10 };
static const char *const operations[CASES] = {"correlate", "correlate", "reduce",    "reduce", "reduce",
                                              "reduce",    "transpose", "transpose", "lookup", "lookup"};

static tess_context *open_with(int threads) {
    tess_context *context;
    tess_context_options options = {.struct_size = sizeof options, .threads = threads};
    assert_tess_ok(tess_open(&context, &options));
    return context;
}

static void every_row_any_threads(void **state) {
    (void)state;
    float *expected = malloc(sizeof picture), *out = malloc(sizeof picture);
    tess_context *contexts[9];
    int compared = 0;
    for (int threads = 1; threads <= 8; threads++)
        contexts[threads] = open_with(threads);
    for (int which = 0; which < CASES; which++) {
        tess_strategy_info info;
        size_t bytes = run(contexts[1], which, NULL, expected);
        for (int i = 0; tess_strategy_get(i, &info); i++)
            if (strcmp(info.operation, operations[which]) == 0 && !strstr(info.name, "reference"))
                for (int threads = 1; threads <= 8; threads += threads < 4 ? 1 : 2) {
                    memset(out, HOSTILE_POISON, sizeof picture);
                    if (run(contexts[threads], which, info.name, out) == 0)
                        break;
                    if (memcmp(out, expected, bytes) != 0)
                        fail_msg("case %d: %s with %d threads differs", which, info.name, threads);
                    compared++;
                }
    }
    assert_true(compared >= CASES * 6);
    for (int threads = 1; threads <= 8; threads++)
        tess_close(contexts[threads]);
    free(expected);
    free(out);
}

typedef struct user {
    tess_context *context;
    float *expected[CASES], *out;
    size_t bytes[CASES];
    int first, differs;
} user;
static void *use(void *argument) {
    user *u = argument;
    for (int k = 0; k < CASES; k++) {
        int which = (u->first + k) % CASES;
        run(u->context, which, NULL, u->out);
        u->differs += memcmp(u->out, u->expected[which], u->bytes[which]) != 0;
    }
    return NULL;
}

static void callers_share_a_context(void **state) {
    (void)state;
    enum { USERS = 3 };
    user users[USERS] = {{0}};
    pthread_t thread[USERS];
    tess_context *alone = open_with(1), *shared = open_with(3);
    for (int which = 0; which < CASES; which++) {
        users[0].expected[which] = malloc(sizeof picture);
        users[0].bytes[which] = run(alone, which, NULL, users[0].expected[which]);
    }
    for (int u = 0; u < USERS; u++) {
        users[u] = users[0];
        users[u].context = shared;
        users[u].out = malloc(sizeof picture);
        users[u].first = u * 3;
        users[u].differs = 0;
    }
    for (int u = 0; u < USERS; u++)
        assert_int_equal(pthread_create(&thread[u], NULL, use, &users[u]), 0);
    for (int u = 0; u < USERS; u++) {
        pthread_join(thread[u], NULL);
        assert_int_equal(users[u].differs, 0);
        free(users[u].out);
    }
    for (int which = 0; which < CASES; which++)
        free(users[0].expected[which]);
    tess_close(alone);
    tess_close(shared);
}

static int set_up(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int i = 0; i < SIZE; i++) {
        picture[i] = (float)hostile_between(&random, -1000000, 1000000) / 7;
        index_of[i] = (int32_t)hostile_between(&random, 0, SIZE - 1);
        place_of[i] = (float)hostile_between(&random, 0, (SIZE - 1) * 8) / 8;
    }
    return setenv("TESSERA_WISDOM", "/dev/null", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_any_threads), cmocka_unit_test(callers_share_a_context)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}

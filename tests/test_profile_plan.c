/* SPDX-License-Identifier: Apache-2.0
 * test_profile_plan.c - proves: tess_time_plan leaves the result in out, on the CPU and through the engine that cards have; the line of
 * tess_profile_larger meets what a run of the larger problem counts, exactly where the work is exactly a line; both refuse what they cannot do. */
#include <math.h>

#include "gpu_rows.h"

static tess_context *context;

typedef struct turn {
    tess_plan *plan;
    float *in, *out;
    int64_t shape[2];
} turn;

static void make(turn *t, int64_t y, int64_t x, const char *strategy, tess_engine engine) {
    static const int perm[] = {1, 0};
    int64_t turned[] = {x, y};
    t->shape[0] = y;
    t->shape[1] = x;
    t->in = malloc((size_t)(y * x) * sizeof *t->in);
    t->out = malloc((size_t)(y * x) * sizeof *t->out);
    assert_non_null(t->in);
    assert_non_null(t->out);
    for (int64_t i = 0; i < y * x; i++)
        t->in[i] = (float)i;
    DLTensor in = tess_view(t->in, tess_f32, 2, t->shape, NULL), out = tess_view(t->out, tess_f32, 2, turned, NULL);
    tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = 2, .call = {.engine = engine, .strategy = strategy}};
    assert_tess_ok(tess_plan_transpose(&t->plan, context, &in, &out, &options));
}

static void done(turn *t) {
    tess_plan_free(t->plan);
    free(t->in);
    free(t->out);
}

static void times(void **state) {
    (void)state;
    static const tess_engine engines[] = {TESS_ENGINE_CPU, TESS_ENGINE_VIRTUAL};
    for (int e = 0; e < TESS_COUNT(engines); e++) {
        turn t;
        double median;
        make(&t, 33, 41, NULL, engines[e]);
        memset(t.out, 0xa5, 33 * 41 * sizeof *t.out);
        assert_tess_ok(tess_time_plan(t.plan, t.in, NULL, t.out, 0, &median));
        assert_true(median > 0);
        for (int y = 0; y < 33; y++)
            for (int x = 0; x < 41; x++)
                assert_true(t.out[x * 33 + y] == t.in[y * 41 + x]);
        assert_int_equal(tess_time_plan(t.plan, t.in, NULL, t.out, -1, &median), TESS_ERR_ARGUMENT);
        assert_int_equal(tess_time_plan(NULL, t.in, NULL, t.out, 0, &median), TESS_ERR_ARGUMENT);
        assert_int_equal(tess_time_plan(t.plan, t.in, NULL, t.out, 0, NULL), TESS_ERR_ARGUMENT);
        done(&t);
    }
    /* an array with gaps */
    float in[64] = {0}, out = 0;
    int64_t shape[] = {8}, apart[] = {8};
    double median;
    for (int i = 0; i < 8; i++)
        in[8 * i] = (float)i;
    DLTensor from = tess_view(in, tess_f32, 1, shape, apart), to = tess_view(&out, tess_f32, 0, NULL, NULL);
    tess_reduce_options options = {.struct_size = sizeof options, .call.engine = TESS_ENGINE_VIRTUAL};
    tess_plan *plan;
    assert_tess_ok(tess_plan_reduce(&plan, context, TESS_SUM, &from, &to, &options));
    assert_tess_ok(tess_time_plan(plan, in, NULL, &out, 0, &median));
    assert_true(median > 0 && out == 28);
    tess_plan_free(plan);
}

static double after(const char *text, const char *object, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(strstr(text, object), quoted);
    assert_non_null(at);
    return strtod(at + strlen(quoted), NULL);
}

static void larger(void **state) {
    (void)state;
    enum { ROOM = 131072 };
    static const char *const rows[] = {"transpose/naive_read", "transpose/tile32", "transpose/tile_pad32", "transpose/micro"},
                             *const words[] = {"global_ld_requests",  "global_ld_sectors",  "global_st_sectors", "shared_ld_wavefronts",
                                               "shared_st_conflicts", "shared_ld_requests", "barriers"};
    char *line = malloc(ROOM), *run = malloc(ROOM);
    size_t length;
    assert_true(line && run);
    for (int r = 0; r < TESS_COUNT(rows); r++) {
        turn small, medium, large;
        make(&small, 128, 128, rows[r], TESS_ENGINE_VIRTUAL);
        make(&medium, 256, 128, rows[r], TESS_ENGINE_VIRTUAL);
        make(&large, 384, 256, rows[r], TESS_ENGINE_VIRTUAL);
        const tess_profile_run a = {small.plan, small.in, NULL, small.out}, b = {medium.plan, medium.in, NULL, medium.out};
        assert_tess_ok(tess_profile_larger(large.plan, &a, &b, NULL, line, ROOM, &length));
        assert_int_equal(strlen(line), length);
        assert_tess_ok(tess_profile_plan(large.plan, large.in, NULL, large.out, NULL, run, ROOM, &length));
        for (int w = 0; w < TESS_COUNT(words); w++)
            assert_true(after(line, "\"counters\"", words[w]) == after(run, "\"counters\"", words[w]));
        assert_non_null(strstr(line, "\"prediction_agrees\": true"));
        /* the same model: only the two runs' rounding is between them */
        double whole = after(run, "\"strategy\"", "seconds");
        assert_true(fabs(after(line, "\"strategy\"", "seconds") - whole) < 0.02 * whole);
        assert_int_equal(tess_profile_larger(large.plan, &a, &b, NULL, line, 100, &length), TESS_ERR_SIZE);
        assert_int_equal(tess_profile_larger(large.plan, &b, &a, NULL, line, ROOM, &length), TESS_ERR_ARGUMENT);
        assert_int_equal(tess_profile_larger(large.plan, NULL, &b, NULL, line, ROOM, &length), TESS_ERR_ARGUMENT);
        assert_int_equal(tess_profile_larger(large.plan, &a, &b, "nothing", line, ROOM, &length), TESS_ERR_ARGUMENT);
        done(&small);
        done(&medium);
        done(&large);
    }
    turn one, other;
    make(&one, 64, 64, "transpose/naive_read", TESS_ENGINE_VIRTUAL);
    make(&other, 128, 64, "transpose/naive_write", TESS_ENGINE_VIRTUAL);
    const tess_profile_run a = {one.plan, one.in, NULL, one.out}, b = {other.plan, other.in, NULL, other.out};
    assert_int_equal(tess_profile_larger(other.plan, &a, &b, NULL, line, ROOM, &length), TESS_ERR_ARGUMENT);
    done(&one);
    done(&other);
    free(line);
    free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(times), cmocka_unit_test(larger)};
    if (!gpu_test_compiler()) {
        printf("no compiler for kernels here: %s\n", tess_detail());
        return 77;
    }
    if (tess_open(&context, NULL) != TESS_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tess_close(context);
    return failed;
}

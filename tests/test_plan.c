/* SPDX-License-Identifier: Apache-2.0
 * test_plan.c - proves: the first row that is applicable and sensible is chosen, by pins, preferences, wisdom and the table in that order; thread
 * cut-over; workspaces of the caller's and our own; reports of any size; explain; one plan executed by many threads at once; that problems are freed
 * on every path; that a simple call asks the system and the processor nothing that takes long. A made-up operation shows selection; the public calls show
 * the rest. */
#include "hostile.h"

#include <math.h>
#include <pthread.h>

#include "core/strategy.h"

/* ---- a made-up operation ---- */
typedef struct fake_problem {
    tess_problem base;
    bool fast_applicable, fast_sensible, slow_sensible;
} fake_problem;

static int released, checked, ran_fast, ran_slow;
static void *workspace_seen;

static tess_status run_fast(const tess_problem *problem, const tess_run *run) {
    (void)problem;
    workspace_seen = run->workspace;
    ran_fast++;
    return TESS_OK;
}
static tess_status run_slow(const tess_problem *problem, const tess_run *run) {
    (void)problem, (void)run;
    ran_slow++;
    return TESS_OK;
}
static bool fast_applicable(const tess_problem *problem, const char **why) {
    *why = "is told not to be";
    return ((const fake_problem *)problem)->fast_applicable;
}
static bool fast_sensible(const tess_problem *problem, const char **why) {
    *why = "is told not to be sensible";
    return ((const fake_problem *)problem)->fast_sensible;
}
static bool slow_sensible(const tess_problem *problem, const char **why) {
    *why = "is slow";
    return ((const fake_problem *)problem)->slow_sensible;
}
static bool always(const tess_problem *problem, const char **why) {
    (void)problem, (void)why;
    return true;
}
static bool never(const tess_problem *problem, const char **why) {
    (void)problem;
    *why = "never is";
    return false;
}
static size_t fast_workspace(const tess_problem *problem, int threads) {
    (void)problem;
    return 1000 * (size_t)threads;
}
static double fast_flops(const tess_problem *problem) {
    (void)problem;
    return 77;
}
static const tess_strategy rows[] = {
    {.name = "fake/gpu", .idea = "-", .source = "-", .target = TESS_TARGET_GPU, .run = TESS_REFERENCE_RUN(run_fast), .applicable = always},
    {.name = "fake/unbuilt", .idea = "-", .source = "-", .applicable = always},
    {.name = "fake/never", .idea = "-", .source = "-", .run = TESS_REFERENCE_RUN(run_fast), .applicable = never},
    {.name = "fake/fast",
     .idea = "-",
     .source = "-",
     .run = TESS_REFERENCE_RUN(run_fast),
     .applicable = fast_applicable,
     .sensible = fast_sensible,
     .workspace = fast_workspace,
     .flops = fast_flops},
    {.name = "fake/reference", .idea = "-", .source = "-", .run = TESS_REFERENCE_RUN(run_slow), .applicable = always, .sensible = slow_sensible},
};
static void release(tess_problem *problem) {
    (void)problem;
    released++;
}
static tess_status check(const tess_problem *problem, const char *in, const char *second, const char *out) {
    (void)problem, (void)second;
    checked++;
    return in == out ? tess_fail(TESS_ERR_OVERLAP, "in is out") : TESS_OK;
}
static const tess_op fake = {.name = "fake", .rows = rows, .count = TESS_COUNT(rows), .release = release, .check = check};
static const tess_call no_call = {0};

static tess_plan *plan_fake(tess_context *context, bool applicable, bool sensible, bool slow, double elements) {
    void *problem;
    tess_plan *plan;
    assert_tess_ok(tess_problem_make(&problem, context, &fake, sizeof(fake_problem)));
    fake_problem *p = problem;
    p->fast_applicable = applicable;
    p->fast_sensible = sensible;
    p->slow_sensible = slow;
    p->base.elements = elements;
    p->base.bytes = 10;
    p->base.flops = 20;
    snprintf(p->base.key, sizeof p->base.key, "fake \"problem\"");
    assert_tess_ok(tess_plan_make(&plan, &p->base, &no_call));
    return plan;
}

static tess_context *open_with(int threads) {
    tess_context *context;
    tess_context_options options = {.struct_size = sizeof options, .threads = threads, .isa = TESS_ISA_BASELINE};
    setenv("TESSERA_WISDOM", "/dev/null", 1);
    assert_tess_ok(tess_open(&context, &options));
    return context;
}

static void selection_by_the_table(void **state) {
    (void)state;
    tess_context *context = open_with(3);
    static const struct {
        bool applicable, sensible, slow;
        const char *expected;
    } cases[] = {{true, true, true, "fake/fast"},       {true, true, false, "fake/fast"},
                 {true, false, true, "fake/reference"}, {true, false, false, "fake/fast"}, /* nothing sensible: the first that is correct */
                 {false, true, true, "fake/reference"}, {false, true, false, "fake/reference"}};
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        released = 0;
        tess_plan *plan = plan_fake(context, cases[i].applicable, cases[i].sensible, cases[i].slow, 10);
        assert_string_equal(plan->row->name, cases[i].expected);
        assert_int_equal(plan->threads, 1); /* small work */
        tess_plan_free(plan);
        assert_int_equal(released, 1);
    }
    tess_plan *plan = plan_fake(context, true, true, true, tess_thread_cutover - 1);
    assert_int_equal(plan->threads, 1);
    assert_int_equal(tess_plan_workspace(plan), 1000);
    tess_plan_free(plan);
    plan = plan_fake(context, true, true, true, tess_thread_cutover);
    assert_int_equal(plan->threads, 3);
    assert_int_equal(tess_plan_workspace(plan), 3000);
    tess_plan_free(plan);
    assert_int_equal(tess_plan_workspace(NULL), 0);
    tess_plan_free(NULL);
    tess_close(context);
}

static void engines_and_pins_that_do_not_fit(void **state) {
    (void)state;
    setenv("TESSERA_LIBCUDA", "/dev/null", 1);
    tess_context *context = open_with(1);
    static const struct {
        tess_call call;
        tess_status status;
        const char *words;
    } cases[] = {{{.engine = TESS_ENGINE_VIRTUAL}, TESS_ERR_ENGINE, "no GPU strategy of fake accepts"},
                 {{.engine = TESS_ENGINE_CUDA}, TESS_ERR_ENGINE, "/dev/null"}, /* the driver that the environment names */
                 {{.engine = (tess_engine)9}, TESS_ERR_ARGUMENT, "engine is 9"},
                 {{.strategy = "fake/fast"}, TESS_ERR_STRATEGY, "fake/fast"}, /* in no table */
                 {{.strategy = "reduce/reference"}, TESS_ERR_STRATEGY, "reduce/reference"}};
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        void *problem;
        tess_plan *plan = (tess_plan *)&problem;
        assert_tess_ok(tess_problem_make(&problem, context, &fake, sizeof(fake_problem)));
        released = 0;
        assert_tess_fails(tess_plan_make(&plan, problem, &cases[i].call), cases[i].status);
        assert_null(plan);
        assert_int_equal(released, 1);
        if (!strstr(tess_detail(), cases[i].words))
            fail_msg("%s", tess_detail());
    }
    tess_close(context);
}

static void workspaces(void **state) {
    (void)state;
    tess_context *context = open_with(2);
    tess_plan *plan = plan_fake(context, true, true, true, 1e9);
    char in, out;
    _Alignas(64) static char workspace[4096];
    ran_fast = checked = 0;
    assert_tess_ok(tess_execute(plan, &in, NULL, &out, NULL));
    assert_non_null(workspace_seen);
    assert_int_equal((uintptr_t)workspace_seen % 64, 0);
    tess_call call = {.workspace = workspace, .workspace_size = 2000};
    assert_tess_ok(tess_execute(plan, &in, NULL, &out, &call));
    assert_ptr_equal(workspace_seen, workspace);
    assert_true(ran_fast == 2 && checked == 2);
    call.workspace_size = 1999;
    assert_tess_fails(tess_execute(plan, &in, NULL, &out, &call), TESS_ERR_ARGUMENT);
    assert_non_null(strstr(tess_detail(), "workspace_size is 1999, this plan needs 2000"));
    call.workspace_size = 2000;
    call.workspace = workspace + 1;
    assert_tess_fails(tess_execute(plan, &in, NULL, &out, &call), TESS_ERR_ARGUMENT);
    assert_non_null(strstr(tess_detail(), "64"));
    assert_tess_fails(tess_execute(plan, &in, NULL, &in, NULL), TESS_ERR_OVERLAP);
    assert_tess_fails(tess_execute(NULL, &in, NULL, &out, NULL), TESS_ERR_ARGUMENT);
    assert_int_equal(ran_fast, 2);
    /* The simple calls take their scratch from the allocator, whatever the call says. */
    fake_problem here = {.fast_applicable = true, .fast_sensible = true};
    tess_transpose_options given = {.struct_size = sizeof given, .nperm = 7}, copied;
    assert_tess_ok(tess_problem_begin(&here.base, sizeof here, &fake, context, &copied, sizeof copied, &given, "options"));
    assert_true(!here.fast_applicable && here.base.size == sizeof here && here.base.context == context && copied.nperm == 7);
    here.fast_applicable = here.fast_sensible = true;
    released = 0;
    assert_tess_ok(tess_plan_run_here(TESS_OK, &here.base, &in, NULL, &out, &call));
    assert_true(ran_fast == 3 && workspace_seen != call.workspace && released == 1);
    assert_tess_fails(tess_plan_run_here(TESS_OK, &here.base, &in, NULL, &in, &call), TESS_ERR_OVERLAP);
    assert_int_equal(released, 2);
    assert_int_equal(tess_plan_run_here(TESS_ERR_SHAPE, &here.base, &in, NULL, &out, &call), TESS_ERR_SHAPE);
    assert_true(ran_fast == 3 && released == 3);
    given.struct_size = 1;
    assert_tess_fails(tess_problem_begin(&here.base, sizeof here, &fake, context, &copied, sizeof copied, &given, "options"), TESS_ERR_ARGUMENT);
    tess_plan_free(plan);
    tess_close(context);
}

static int allocated, given_back;

static void *count_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    allocated++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void count_release(void *user, void *memory, size_t size) {
    (void)user, (void)size;
    given_back++;
    free(memory);
}

/* What a problem points to comes from its room in lines of 64 bytes, as long as that lasts, and from the context's allocator after that; only that is given back to
 * it. */
static void rooms(void **state) {
    (void)state;
    tess_context *context;
    assert_tess_ok(tess_open(
        &context, &(tess_context_options){.struct_size = sizeof(tess_context_options), .allocate = count_allocate, .release = count_release}));
    static _Alignas(64) char room[256];
    fake_problem here;
    tess_transpose_options options;
    assert_tess_ok(tess_problem_begin(&here.base, sizeof here, &fake, context, &options, sizeof options, NULL, "options"));
    const int before = allocated;
    given_back = 0;
    char *outside = tess_problem_take(&here.base, 1);
    assert_true(allocated == before + 1 && outside != NULL);
    here.base.room = room;
    here.base.room_size = sizeof room;
    memset(room, 0x5a, sizeof room);
    assert_ptr_equal(tess_problem_take(&here.base, 65), room);
    char *zeros = tess_problem_take_zeroed(&here.base, 2);
    assert_ptr_equal(zeros, room + 128);
    assert_true(zeros[0] == 0 && zeros[1] == 0 && zeros[2] == 0x5a);
    char *beyond = tess_problem_take_zeroed(&here.base, 65);
    assert_true(allocated == before + 2 && beyond[64] == 0);
    assert_ptr_equal(tess_problem_take(&here.base, 64), room + 192);
    char *last = tess_problem_take(&here.base, 1), *nothing = tess_problem_take(&here.base, 0);
    assert_true(allocated == before + 4 && nothing != NULL);
    tess_problem_drop(&here.base, room, 65);
    tess_problem_drop(&here.base, room + 192, 64);
    tess_problem_drop(&here.base, NULL, 64);
    assert_int_equal(given_back, 0);
    tess_problem_drop(&here.base, outside, 1);
    tess_problem_drop(&here.base, beyond, 65);
    tess_problem_drop(&here.base, last, 1);
    tess_problem_drop(&here.base, nothing, 0);
    assert_int_equal(given_back, 4);
    tess_close(context);
}

static void reports(void **state) {
    (void)state;
    tess_context *context = open_with(2);
    tess_plan *plan = plan_fake(context, true, true, true, 1e9);
    char in, out;
    tess_report report = {.struct_size = sizeof report};
    tess_call call = {.report = &report};
    assert_tess_ok(tess_execute(plan, &in, NULL, &out, &call));
    assert_string_equal(report.strategy, "fake/fast");
    assert_string_equal(report.isa, "baseline");
    assert_true(report.threads == 2 && report.seconds >= 0 && report.bytes == 10 && report.flops == 77 && report.workspace == 2000);
    memset(&report, 0x5a, sizeof report); /* an older caller: nothing behind its structure is written */
    report.struct_size = offsetof(tess_report, threads);
    assert_tess_ok(tess_execute(plan, &in, NULL, &out, &call));
    assert_string_equal(report.strategy, "fake/fast");
    for (size_t i = offsetof(tess_report, threads); i < sizeof report; i++)
        assert_int_equal(((unsigned char *)&report)[i], 0x5a);
    tess_plan_free(plan);
    tess_close(context);
}

static void explained(void **state) {
    (void)state;
    tess_context *context = open_with(1);
    tess_plan *plan = plan_fake(context, true, false, true, 10);
    for (tess_format format = TESS_TEXT; format <= TESS_JSON; format++) {
        size_t length, again;
        assert_tess_ok(tess_explain(plan, format, NULL, 0, &length));
        char *text = malloc(length + 1);
        for (size_t capacity = 1; capacity <= length; capacity++) {
            memset(text, 'x', length + 1);
            assert_tess_fails(tess_explain(plan, format, text, capacity, &again), TESS_ERR_SIZE);
            assert_true(again == length && strlen(text) < capacity);
        }
        assert_tess_ok(tess_explain(plan, format, text, length + 1, NULL));
        assert_int_equal(strlen(text), length);
        static const char *const words[] = {"fake/gpu",  "runs on a GPU only",         "fake/unbuilt",  "not built", "fake/never", "never is",
                                            "fake/fast", "is told not to be sensible", "fake/reference"};
        for (int i = 0; i < TESS_COUNT(words); i++)
            if (!strstr(text, words[i]))
                fail_msg("\"%s\" is not in %s", words[i], text);
        assert_non_null(strstr(text, format == TESS_JSON ? "fake \\\"problem\\\"" : "fake \"problem\""));
        free(text);
    }
    assert_tess_fails(tess_explain(NULL, TESS_TEXT, NULL, 0, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_explain(plan, TESS_TEXT, NULL, 1, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_explain(plan, TESS_HTML, NULL, 0, NULL), TESS_ERR_ARGUMENT); /* profiles alone have pages */
    tess_plan_free(plan);
    tess_close(context);
}

/* ---- the public calls ---- */

/* Every row can be preferred by a context and named by a call; a name of another operation is no pin for this one. */
static void pins_and_preferences(void **state) {
    (void)state;
    tess_strategy_info info;
    int64_t shape[] = {6, 5}, turned[] = {5, 6};
    float from[30], to[30];
    for (int i = 0; i < 30; i++)
        from[i] = (float)i;
    DLTensor in = tess_view(from, tess_f32, 2, shape, NULL), out = tess_view(to, tess_f32, 2, turned, NULL);
    int ran = 0;
    for (int i = 0; tess_strategy_get(i, &info); i++) {
        tess_report report = {.struct_size = sizeof report};
        tess_transpose_options options = {.struct_size = sizeof options, .call = {.strategy = info.name, .report = &report}};
        tess_status status = tess_transpose(NULL, &in, &out, &options);
        if (strcmp(info.operation, "transpose") != 0) {
            assert_int_equal(status, TESS_ERR_STRATEGY);
            assert_non_null(strstr(tess_detail(), "is not one of transpose's"));
        } else if (status == TESS_OK) {
            assert_string_equal(report.strategy, info.name);
            for (int k = 0; k < 30; k++)
                assert_true(to[k] == from[k % 6 * 5 + k / 6]);
            tess_context *context;
            tess_context_options preferring = {.struct_size = sizeof preferring, .strategy = info.name};
            options.call.strategy = NULL;
            assert_tess_ok(tess_open(&context, &preferring));
            assert_tess_ok(tess_transpose(context, &in, &out, &options));
            assert_string_equal(report.strategy, info.name);
            tess_close(context);
            ran++;
        } else {
            assert_int_equal(status, TESS_ERR_STRATEGY);
            assert_non_null(strstr(tess_detail(), info.name));
        }
    }
    assert_true(ran >= 2);
    assert_false(tess_strategy_get(-1, &info));
    assert_false(tess_strategy_get(tess_strategy_count(), &info));
    assert_true(tess_strategy_get(0, NULL));
}

/* Names are "operation/idea", unique, and the reference closes every table. */
static void tables_are_well_formed(void **state) {
    (void)state;
    for (int o = 0; o < tess_ops_count; o++) {
        const tess_op *op = tess_ops[o];
        char expected[64];
        snprintf(expected, sizeof expected, "%s/reference", op->name);
        assert_true(op->count >= 2 && op->array && op->check);
        assert_string_equal(op->rows[op->count - 1].name, expected);
        for (int r = 0; r < op->count; r++) {
            const tess_strategy *row = &op->rows[r];
            size_t length = strlen(op->name);
            assert_true(strncmp(row->name, op->name, length) == 0 && row->name[length] == '/' &&
                        strlen(row->name) < sizeof((tess_report *)0)->strategy);
            assert_true(row->idea && *row->idea && row->source && *row->source && row->applicable);
            assert_ptr_equal(tess_strategy_named(row->name, strlen(row->name)), row);
            assert_true(tess_strategy_slot(row, TESS_SLOT_BASELINE) == 0 || row->target == TESS_TARGET_GPU);
        }
    }
}

typedef struct shared {
    const tess_plan *plan;
    const float *in;
    float out[4 * 25000];
    tess_status status;
} shared;
static void *execute_shared(void *argument) {
    shared *s = argument;
    for (int i = 0; i < 5 && s->status == TESS_OK; i++)
        s->status = tess_execute(s->plan, s->in, NULL, s->out, NULL);
    return NULL;
}
static void one_plan_many_threads(void **state) {
    (void)state;
    enum { USERS = 6 };
    int64_t shape[] = {4, 25000}, turned[] = {25000, 4};
    float *from = malloc(4 * 25000 * sizeof *from);
    for (int i = 0; i < 4 * 25000; i++)
        from[i] = (float)i;
    DLTensor in = tess_view(NULL, tess_f32, 2, shape, NULL), out = tess_view(NULL, tess_f32, 2, turned, NULL);
    tess_context *context = open_with(2);
    tess_plan *plan;
    assert_tess_ok(tess_plan_transpose(&plan, context, &in, &out, NULL));
    shared *users = calloc(USERS, sizeof *users);
    pthread_t thread[USERS];
    for (int u = 0; u < USERS; u++) {
        users[u].plan = plan;
        users[u].in = from;
        assert_int_equal(pthread_create(&thread[u], NULL, execute_shared, &users[u]), 0);
    }
    for (int u = 0; u < USERS; u++) {
        pthread_join(thread[u], NULL);
        assert_int_equal(users[u].status, TESS_OK);
        for (int i = 0; i < 4 * 25000; i++)
            assert_true(users[u].out[i] == from[i % 4 * 25000 + i / 4]);
    }
    tess_plan_free(plan);
    tess_close(context);
    free(users);
    free(from);
}

/* The best of many is about 1 us (`tessera bench small`), whatever else the machine does. One cpuid is a trap of 20 us or more in a virtual machine, one
 * opened file about 10: a call that begins to do such things is found by a bound of 15, slow machines by no bound that would find it. */
static void small_calls_are_cheap(void **state) {
    (void)state;
    if (TESS_SANITIZED)
        skip();
    float x[16] = {0}, sum;
    int64_t shape[1] = {16};
    DLTensor in = tess_view(x, tess_f32, 1, shape, NULL), out = tess_view(&sum, tess_f32, 0, NULL, NULL);
    double best = 1;
    for (int i = 0; i < 2000; i++) {
        double start = tess_seconds();
        assert_tess_ok(tess_reduce(NULL, TESS_SUM, &in, &out, NULL));
        best = fmin(best, tess_seconds() - start);
    }
    if (best > 15e-6)
        fail_msg("the fastest of 2000 sums of 16 elements took %.1f us", best * 1e6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(selection_by_the_table),
                                       cmocka_unit_test(engines_and_pins_that_do_not_fit),
                                       cmocka_unit_test(workspaces),
                                       cmocka_unit_test(rooms),
                                       cmocka_unit_test(reports),
                                       cmocka_unit_test(explained),
                                       cmocka_unit_test(tables_are_well_formed),
                                       cmocka_unit_test(pins_and_preferences),
                                       cmocka_unit_test(one_plan_many_threads),
                                       cmocka_unit_test(small_calls_are_cheap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

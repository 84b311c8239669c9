/* SPDX-License-Identifier: Apache-2.0
 * test_tune.c - proves: whichever row wisdom calls the fastest, an operation's result keeps every bit; tuning an operation records its rows and changes no result; twenty
 * thousand records are all found again, in memory and through a file; of many processes that save into one file at once none loses a line; a file that is
 * there and cannot be read is not overwritten. */
#include "hostile.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/strategy.h"
#include "core/wisdom.h"

enum { ROWS = 120, COLUMNS = 90, SIZE = ROWS * COLUMNS };
static float picture[SIZE], taps[9];
static int32_t places[SIZE];
static int64_t whole[] = {ROWS, COLUMNS}, turned[] = {COLUMNS, ROWS}, three[] = {3, 3}, flat[] = {SIZE}, columns[] = {COLUMNS};
static char folder[64];

static tess_context *open_one(void) {
    tess_context *context;
    tess_context_options options = {.struct_size = sizeof options, .threads = 1};
    assert_tess_ok(tess_open(&context, &options));
    return context;
}

enum { CASES = 5 };
static tess_plan *plan_case(tess_context *context, int which, float *out) {
    DLTensor in = tess_view(picture, tess_f32, 2, whole, NULL), same = tess_view(out, tess_f32, 2, whole, NULL),
             across = tess_view(out, tess_f32, 2, turned, NULL), mask = tess_view(taps, tess_f32, 2, three, NULL),
             scalar = tess_view(out, tess_f32, 0, NULL, NULL), sums = tess_view(out, tess_f32, 1, columns, NULL),
             table = tess_view(picture, tess_f32, 1, flat, NULL), index = tess_view(places, tess_i32, 1, flat, NULL),
             found = tess_view(out, tess_f32, 1, flat, NULL);
    const DLTensor *masks = &mask;
    const int first = 0;
    tess_reduce_options along = {.struct_size = sizeof along, .axes = &first, .naxes = 1};
    tess_plan *plan = NULL;
    switch (which) {
    case 0: assert_tess_ok(tess_plan_correlate(&plan, context, &in, &masks, 1, &same, NULL)); break;
    case 1: assert_tess_ok(tess_plan_reduce(&plan, context, TESS_SUM, &in, &scalar, NULL)); break;
    case 2: assert_tess_ok(tess_plan_reduce(&plan, context, TESS_VAR, &in, &sums, &along)); break;
    case 3: assert_tess_ok(tess_plan_transpose(&plan, context, &in, &across, NULL)); break;
    default: assert_tess_ok(tess_plan_lookup(&plan, context, &table, &index, &found, NULL)); break;
    }
    return plan;
}

static const tess_strategy *run_case(tess_context *context, int which, float *out) {
    memset(out, 0xa5, sizeof picture);
    tess_plan *plan = plan_case(context, which, out);
    assert_tess_ok(tess_execute(plan, picture, which == 4 ? places : NULL, out, NULL));
    const tess_strategy *row = plan->row;
    tess_plan_free(plan);
    return row;
}

static void no_choice_changes_a_bit(void **state) {
    (void)state;
    static float expected[SIZE], got[SIZE];
    for (int which = 0; which < CASES; which++) {
        tess_context *context = open_one();
        const char *why;
        run_case(context, which, expected);
        tess_plan *plan = plan_case(context, which, got);
        const tess_op *op = plan->problem->op;
        int ran = 0;
        for (int r = 0; r < op->count; r++) { /* each row that can becomes the fastest of all so far */
            if (!op->rows[r].applicable(plan->problem, &why))
                continue;
            assert_tess_ok(tess_wisdom_record_time(context, plan->problem, &op->rows[r], 1, 1e-3 / (r + 1)));
            assert_ptr_equal(run_case(context, which, got), &op->rows[r]);
            assert_memory_equal(got, expected, sizeof got);
            ran++;
        }
        assert_true(ran >= 2);
        tess_wisdom_forget(context);
        assert_tess_ok(tess_tune(plan, 0.002));
        const tess_strategy *tuned = run_case(context, which, got);
        assert_memory_equal(got, expected, sizeof got);
        assert_ptr_not_equal(tuned, &op->rows[op->count - 1]);
        tess_plan_free(plan);
        tess_close(context);
    }
}

static char *export_text(tess_context *context, size_t *length) {
    assert_tess_ok(tess_wisdom_export(context, NULL, 0, length));
    char *text = malloc(*length + 1);
    assert_non_null(text);
    assert_tess_ok(tess_wisdom_export(context, text, *length + 1, length));
    return text;
}
static int lines_of(const char *text) {
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}
static int lines_in(tess_context *context) {
    size_t length;
    char *text = export_text(context, &length);
    int lines = lines_of(text);
    free(text);
    return lines;
}

static void many_records(void **state) {
    (void)state;
    enum { MANY = 20000 };
    char path[128];
    tess_context *context = open_one(), *other = open_one();
    tess_plan *plan = plan_case(context, 3, picture);
    tess_problem *problem = plan->problem;
    char key[sizeof problem->key];
    const tess_strategy *rows = problem->op->rows;
    double seconds;
    memcpy(key, problem->key, sizeof key);
    for (int i = 0; i < MANY; i++) { /* two rows a key; the second is the faster one of every other key */
        snprintf(problem->key, sizeof problem->key, "transpose number %d", i / 2);
        assert_tess_ok(tess_wisdom_record_time(context, problem, &rows[i % 2], 1, i % 4 == 3 ? 1e-6 : 1e-3 + i * 1e-9));
    }
    snprintf(path, sizeof path, "%s/many", folder);
    assert_tess_ok(tess_wisdom_save(context, path));
    assert_tess_ok(tess_wisdom_load(other, path));
    for (int i = 0; i < MANY / 2; i++) {
        snprintf(problem->key, sizeof problem->key, "transpose number %d", i);
        assert_ptr_equal(tess_wisdom_find(context, problem, 1, &seconds), &rows[i % 2]);
        assert_ptr_equal(tess_wisdom_find(other, problem, 1, &seconds), &rows[i % 2]);
    }
    snprintf(problem->key, sizeof problem->key, "transpose number %d", MANY);
    assert_null(tess_wisdom_find(context, problem, 1, &seconds));
    assert_int_equal(lines_in(context), MANY);
    assert_int_equal(lines_in(other), MANY);
    memcpy(problem->key, key, sizeof key);
    tess_plan_free(plan);
    tess_close(other);
    tess_close(context);
}

static void many_writers(void **state) {
    (void)state;
    enum { WRITERS = 6, SAVES = 5 };
    char path[128];
    snprintf(path, sizeof path, "%s/new folder/shared", folder);
    for (int w = 0; w < WRITERS; w++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child > 0)
            continue;
        tess_context *context;
        tess_context_options options = {.struct_size = sizeof options, .threads = 1};
        bool good = tess_open(&context, &options) == TESS_OK;
        for (int s = 0; s < SAVES && good; s++) {
            char line[128];
            snprintf(line, sizeof line, "1 transpose/reference baseline 1 1 0.5 writer %d save %d", w, s);
            good = tess_wisdom_import(context, line) == TESS_OK && tess_wisdom_save(context, path) == TESS_OK;
            tess_wisdom_forget(context); /* so that a line is in the file or nowhere */
        }
        tess_close(context);
        _exit(good ? 0 : 1);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    tess_context *context = open_one();
    assert_tess_ok(tess_wisdom_load(context, path));
    assert_int_equal(lines_in(context), WRITERS * SAVES);
    tess_close(context);
}

static void files_are_kept(void **state) {
    (void)state;
    char path[128];
    struct stat about;
    tess_context *context = open_one();
    snprintf(path, sizeof path, "%s/large", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), TESS_WISDOM_FILE_LIMIT + 1), 0);
    fclose(file);
    assert_tess_ok(tess_wisdom_import(context, "1 transpose/reference baseline 1 1 0.5 key"));
    assert_tess_fails(tess_wisdom_save(context, path), TESS_ERR_FILE);
    assert_non_null(strstr(tess_detail(), "the limit is"));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, TESS_WISDOM_FILE_LIMIT + 1);
    tess_close(context);
}

static int set_up(void **state) {
    (void)state;
    uint64_t random = 7;
    char path[128];
    for (int i = 0; i < SIZE; i++) {
        picture[i] = (float)hostile_between(&random, -1000, 1000) / 7;
        places[i] = (int32_t)hostile_between(&random, 0, SIZE - 1);
    }
    for (int i = 0; i < 9; i++)
        taps[i] = (float)(i + 1) / 10;
    strcpy(folder, "/tmp/tessera-tune-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/missing", folder);
    return setenv("TESSERA_WISDOM", path, 1);
}
static int tear_down(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_choice_changes_a_bit), cmocka_unit_test(many_records), cmocka_unit_test(many_writers),
                                       cmocka_unit_test(files_are_kept)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

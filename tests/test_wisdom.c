/* SPDX-License-Identifier: Apache-2.0
 * test_wisdom.c - proves: recorded times steer selection and nothing else; export, import, save and load keep every record; a later line beats the
 * earlier one; broken, missing, unreadable and unwritable files are values, never a failing operation; tuning records every row
 * that can run and leaves the caller's data alone. */
#include "hostile.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/strategy.h"

static char folder[64];

static tess_context *open_quiet(void) {
    tess_context *context;
    tess_context_options options = {.struct_size = sizeof options, .threads = 1};
    assert_tess_ok(tess_open(&context, &options));
    return context;
}
static char *export_text(tess_context *context) {
    size_t length, again;
    assert_tess_ok(tess_wisdom_export(context, NULL, 0, &length));
    char *text = malloc(length + 1);
    assert_tess_ok(tess_wisdom_export(context, text, length + 1, &again));
    assert_true(again == length && strlen(text) == length);
    return text;
}
static int lines_of(const char *text) {
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}
static const char *in_folder(char *buffer, const char *name) {
    snprintf(buffer, 128, "%s/%s", folder, name);
    return buffer;
}

static float values[64 * 48], turned[64 * 48];
static int64_t shape[] = {64, 48}, turned_shape[] = {48, 64};

static tess_plan *plan_transpose(tess_context *context) {
    DLTensor in = tess_view(values, tess_f32, 2, shape, NULL), out = tess_view(turned, tess_f32, 2, turned_shape, NULL);
    tess_plan *plan;
    assert_tess_ok(tess_plan_transpose(&plan, context, &in, &out, NULL));
    return plan;
}

static DLTensor values_of(void) { return tess_view(values, tess_f32, 2, shape, NULL); }

/* Calls that keep no plan know what was learnt as well, though their problems have no key until wisdom is asked. */
static void calls_know_it_too(void **state) {
    (void)state;
    tess_context *context = open_quiet();
    static int64_t columns[] = {48}, places[] = {7}, looked_up[] = {7, 48};
    static int32_t index[7] = {1, 0, 3, 63, 5, 5, 2};
    static float sums[48];
    DLTensor in = values_of(), turned_out = tess_view(turned, tess_f32, 2, turned_shape, NULL), sum = tess_view(sums, tess_f32, 1, columns, NULL);
    DLTensor at = tess_view(index, tess_i32, 1, places, NULL), rows = tess_view(turned, tess_f32, 2, looked_up, NULL);
    int axis = 0;
    for (int learnt = 0; learnt < 2; learnt++)
        for (int operation = 0; operation < 3; operation++) {
            static const char *const last[] = {"transpose/reference", "reduce/reference", "lookup/reference"};
            tess_report report = {.struct_size = sizeof report};
            tess_call call = {.report = &report};
            tess_plan *plan;
            tess_transpose_options transpose = {.struct_size = sizeof transpose, .call = call};
            tess_reduce_options reduce = {.struct_size = sizeof reduce, .axes = &axis, .naxes = 1, .call = call};
            tess_lookup_options lookup = {.struct_size = sizeof lookup, .call = call};
            assert_tess_ok(operation == 0   ? tess_transpose(context, &in, &turned_out, &transpose)
                           : operation == 1 ? tess_reduce(context, TESS_SUM, &in, &sum, &reduce)
                                            : tess_lookup(context, &in, &at, &rows, &lookup));
            if (learnt) {
                assert_string_equal(report.strategy, last[operation]);
                continue;
            }
            assert_string_not_equal(report.strategy, last[operation]);
            assert_tess_ok(operation == 0   ? tess_plan_transpose(&plan, context, &in, &turned_out, NULL)
                           : operation == 1 ? tess_plan_reduce(&plan, context, TESS_SUM, &in, &sum, &reduce)
                                            : tess_plan_lookup(&plan, context, &in, &at, &rows, NULL));
            assert_tess_ok(tess_wisdom_record_time(context, plan->problem, tess_strategy_named(last[operation], strlen(last[operation])), 1, 1e-9));
            tess_plan_free(plan);
        }
    tess_close(context);
}

/* An operation that nothing was learnt about is not looked up for what was learnt about another. */
static void others_are_not_asked(void **state) {
    (void)state;
    tess_context *context = open_quiet();
    tess_plan *plan = plan_transpose(context);
    const tess_op *op = plan->problem->op;
    for (int o = 0; o < tess_ops_count; o++)
        assert_false(tess_wisdom_any(context, tess_ops[o]));
    for (int again = 0; again < 2; again++) {
        assert_tess_ok(tess_wisdom_record_time(context, plan->problem, plan->row, 1, 1e-3));
        for (int o = 0; o < tess_ops_count; o++)
            assert_true(tess_wisdom_any(context, tess_ops[o]) == (tess_ops[o] == op));
        tess_wisdom_forget(context);
        assert_false(tess_wisdom_any(context, op));
    }
    tess_plan_free(plan);
    tess_close(context);
}

static void fastest_record_wins(void **state) {
    (void)state;
    tess_context *context = open_quiet();
    tess_plan *plan = plan_transpose(context);
    const tess_op *op = plan->problem->op;
    const tess_strategy *first = plan->row;
    const char *why;
    for (int r = op->count - 1; r >= 0; r--) { /* each row in turn becomes the fastest */
        if (!op->rows[r].applicable(plan->problem, &why))
            continue;
        assert_tess_ok(tess_wisdom_record_time(context, plan->problem, &op->rows[r], 1, 1e-3 / (op->count - r)));
        tess_plan *later = plan_transpose(context);
        assert_ptr_equal(later->row, &op->rows[r]);
        assert_non_null(strstr(later->reason, "wisdom"));
        tess_plan_free(later);
    }
    /* A time of another thread count does not count. */
    assert_tess_ok(tess_wisdom_record_time(context, plan->problem, &op->rows[op->count - 1], 2, 1e-9));
    tess_plan *later = plan_transpose(context);
    assert_ptr_not_equal(later->row, &op->rows[op->count - 1]);
    tess_plan_free(later);
    /* The newer time of a row replaces the older. */
    assert_tess_ok(tess_wisdom_record_time(context, plan->problem, &op->rows[op->count - 1], 1, 1e-9));
    later = plan_transpose(context);
    assert_ptr_equal(later->row, &op->rows[op->count - 1]);
    tess_plan_free(later);
    assert_tess_ok(tess_wisdom_record_time(context, plan->problem, &op->rows[op->count - 1], 1, 5));
    later = plan_transpose(context);
    assert_ptr_not_equal(later->row, &op->rows[op->count - 1]);
    tess_plan_free(later);
    tess_wisdom_forget(context);
    later = plan_transpose(context);
    assert_ptr_equal(later->row, first);
    tess_plan_free(later);
    tess_plan_free(plan);
    tess_close(context);
}

static void texts_round_trip(void **state) {
    (void)state;
    tess_context *context = open_quiet(), *other = open_quiet();
    tess_plan *plan = plan_transpose(context);
    char path[128];
    char *empty = export_text(context);
    assert_string_equal(empty, "");
    free(empty);
    for (int r = 0; r < plan->problem->op->count; r++)
        assert_tess_ok(tess_wisdom_record_time(context, plan->problem, &plan->problem->op->rows[r], 1, 0.25 + r));
    char *text = export_text(context);
    assert_int_equal(lines_of(text), plan->problem->op->count);
    assert_tess_ok(tess_wisdom_import(other, text));
    char *again = export_text(other);
    assert_int_equal(strlen(again), strlen(text));
    free(again);
    assert_tess_ok(tess_wisdom_import(other, text)); /* the same lines twice are the same records */
    again = export_text(other);
    assert_int_equal(lines_of(again), plan->problem->op->count);
    free(again);
    assert_tess_ok(tess_wisdom_save(context, in_folder(path, "deep/er/wisdom")));
    tess_wisdom_forget(other);
    assert_tess_ok(tess_wisdom_load(other, path));
    again = export_text(other);
    assert_int_equal(strlen(again), strlen(text));
    free(again);
    /* Saving merges: what another program put there stays. */
    tess_context *third = open_quiet();
    assert_tess_ok(tess_wisdom_record_time(third, plan->problem, &plan->problem->op->rows[0], 7, 1));
    assert_tess_ok(tess_wisdom_save(third, path));
    tess_wisdom_forget(other);
    assert_tess_ok(tess_wisdom_load(other, path));
    again = export_text(other);
    assert_int_equal(lines_of(again), plan->problem->op->count + 1);
    free(again);
    free(text);
    tess_plan_free(plan);
    tess_close(third);
    tess_close(other);
    tess_close(context);
}

static void strange_texts(void **state) {
    (void)state;
    tess_context *context = open_quiet();
    static const char *const bad[] = {"nonsense",
                                      "2 transpose/reference baseline 1 1 0.5 key", /* another version */
                                      "1 no/such baseline 1 1 0.5 key",             /* a strategy of another release */
                                      "1 transpose/reference mmx 1 1 0.5 key",
                                      "1 transpose/reference baseline 0 1 0.5 key",
                                      "1 transpose/reference baseline 1 1 -1 key",
                                      "1 transpose/reference baseline 1 1 nan key",
                                      "1 transpose/reference baseline 1 1 inf key",
                                      "1 transpose/reference baseline 1 1 0,5 key", /* no locale's decimal point but this one */
                                      "1 transpose/reference baseline 1 1 . key",
                                      "1 transpose/reference baseline 1 1 1e999999 key",
                                      "1 transpose/reference baseline 1 1 100000 key",
                                      "1 transpose/reference baseline 1 1 0.5",
                                      "1 transpose/reference baseline 1 xyz 0.5 key"};
    for (int i = 0; i < TESS_COUNT(bad); i++) {
        assert_tess_fails(tess_wisdom_import(context, bad[i]), TESS_ERR_ARGUMENT);
        assert_true(*tess_detail() != 0);
    }
    char *long_line = malloc(100001);
    memset(long_line, 'k', 100000);
    long_line[100000] = 0;
    memcpy(long_line, "1 transpose/reference baseline 1 1 0.5 ", 39);
    assert_tess_fails(tess_wisdom_import(context, long_line), TESS_ERR_ARGUMENT);
    free(long_line);
    assert_tess_ok(tess_wisdom_import(context, ""));
    assert_tess_ok(tess_wisdom_import(context, "# only a comment\n\n"));
    assert_tess_fails(tess_wisdom_import(context, NULL), TESS_ERR_ARGUMENT);
    char *text = export_text(context);
    assert_string_equal(text, "");
    free(text);
    assert_tess_ok(tess_wisdom_import(context, "nonsense\n1 transpose/reference baseline 1 1 0.5 a key\nmore nonsense")); /* one line is understood */
    text = export_text(context);
    assert_int_equal(lines_of(text), 1);
    assert_non_null(strstr(text, " 0.500000000 a key\n"));
    free(text);
    /* Other ways to write numbers, the smallest and one of the largest. */
    static const struct {
        const char *line, *seconds;
    } numbers[] = {{"1 transpose/reference baseline 1 1 1.5e-05 n", " 0.000015000 n"},
                   {"1 transpose/reference baseline 1 1 2.5E+1 n", " 25.000000000 n"},
                   {"1 transpose/reference baseline 1 1 1e-30 n", " 0.000000001 n"},
                   {"1 transpose/reference baseline 1 1 99999.123456789 n", " 99999.123456789 n"}};
    for (int i = 0; i < TESS_COUNT(numbers); i++) {
        assert_tess_ok(tess_wisdom_import(context, numbers[i].line));
        text = export_text(context);
        assert_non_null(strstr(text, numbers[i].seconds));
        free(text);
    }
    assert_tess_fails(tess_wisdom_export(context, NULL, 3, NULL), TESS_ERR_ARGUMENT);
    tess_close(context);
}

static void write_text(const char *path, const char *text, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

/* Whatever TESSERA_WISDOM names, operations run. */
static void files_of_every_kind(void **state) {
    (void)state;
    char path[128];
    static const char zeros[70000];
    static const struct {
        const char *name, *text;
        size_t size;
    } files[] = {{"missing", NULL, 0},           {"empty", "", 0},     {"text", "what is this\n\n\n1 2 3\n", 20},
                 {"zeros", zeros, sizeof zeros}, {"folder/", NULL, 0}, {"pipe", NULL, 0}};
    for (int i = 0; i < TESS_COUNT(files); i++) {
        in_folder(path, files[i].name);
        if (strcmp(files[i].name, "pipe") == 0)
            assert_int_equal(mkfifo(path, 0600), 0);
        else if (files[i].text)
            write_text(path, files[i].text, files[i].size);
        else if (files[i].name[strlen(files[i].name) - 1] == '/')
            assert_int_equal(mkdir(path, 0777), 0);
        setenv("TESSERA_WISDOM", path, 1);
        tess_context *context = open_quiet();
        tess_plan *plan = plan_transpose(context);
        assert_tess_ok(tess_execute(plan, values, NULL, turned, NULL));
        tess_plan_free(plan);
        tess_close(context);
    }
    tess_context *context = open_quiet();
    assert_tess_fails(tess_wisdom_load(context, in_folder(path, "missing")), TESS_ERR_FILE);
    assert_non_null(strstr(tess_detail(), path));
    assert_tess_fails(tess_wisdom_load(context, in_folder(path, "folder")), TESS_ERR_FILE);
    assert_tess_fails(tess_wisdom_save(context, in_folder(path, "folder")), TESS_ERR_FILE);
    assert_tess_fails(tess_wisdom_save(context, in_folder(path, "empty/below_a_file")), TESS_ERR_FILE);
    assert_tess_fails(tess_wisdom_save(context, "/proc/no/such/place"), TESS_ERR_FILE);
    assert_tess_ok(tess_wisdom_save(context, in_folder(path, "text"))); /* a broken file is replaced */
    /* Nothing but files is replaced: TESSERA_WISDOM=/dev/null took that from the machine. */
    struct stat about;
    assert_tess_fails(tess_wisdom_save(context, in_folder(path, "pipe")), TESS_ERR_FILE);
    assert_true(stat(path, &about) == 0 && S_ISFIFO(about.st_mode));
    tess_plan *plan = plan_transpose(context); /* so that there is something to write */
    assert_tess_ok(tess_tune(plan, 0));
    tess_plan_free(plan);
    char got[64], link[128];
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK); /* a character device that anybody may have */
    if (terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0 && stat(ptsname(terminal), &about) == 0) {
        snprintf(link, sizeof link, "%s", ptsname(terminal));
        int other = open(link, O_RDONLY | O_NOCTTY | O_NONBLOCK); /* keeps it open */
        assert_tess_ok(tess_wisdom_save(context, link));
        assert_true(read(terminal, got, sizeof got) > 0);
        assert_true(stat(link, &about) == 0 && S_ISCHR(about.st_mode));
        close(other);
    }
    if (terminal >= 0)
        close(terminal);
    /* A link stays one, and what it names is written, there before or not. */
    write_text(in_folder(path, "text"), "what is this\n", 13);
    assert_int_equal(symlink("text", in_folder(link, "link")), 0);
    assert_tess_ok(tess_wisdom_save(context, link));
    assert_true(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    assert_true(stat(path, &about) == 0 && about.st_size != 13);
    assert_int_equal(symlink("made", in_folder(link, "link to nothing")), 0);
    assert_tess_ok(tess_wisdom_save(context, link));
    assert_true(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    assert_tess_ok(tess_wisdom_load(context, in_folder(path, "made")));
    assert_int_equal(symlink("no/such/place", in_folder(link, "link to nowhere")), 0);
    assert_tess_fails(tess_wisdom_save(context, link), TESS_ERR_FILE);
    assert_true(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    setenv("TESSERA_WISDOM", "", 1);
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    unsetenv("HOME");
    assert_tess_fails(tess_wisdom_save(context, NULL), TESS_ERR_FILE);
    assert_tess_fails(tess_wisdom_load(context, NULL), TESS_ERR_FILE);
    setenv("XDG_CACHE_HOME", folder, 1);
    assert_tess_ok(tess_wisdom_save(context, NULL));
    assert_int_equal(access(in_folder(path, "tessera/wisdom"), R_OK), 0);
    tess_close(context);
    setenv("TESSERA_WISDOM", in_folder(path, "missing"), 1);
}

static void the_environment_s_file_is_read(void **state) {
    (void)state;
    char path[128];
    tess_context *context = open_quiet();
    tess_plan *plan = plan_transpose(context);
    const tess_op *op = plan->problem->op;
    assert_tess_ok(tess_wisdom_record_time(context, plan->problem, &op->rows[op->count - 1], 1, 1e-9));
    assert_tess_ok(tess_wisdom_save(context, in_folder(path, "user")));
    tess_plan_free(plan);
    tess_close(context);
    setenv("TESSERA_WISDOM", path, 1);
    context = open_quiet();
    plan = plan_transpose(context);
    assert_ptr_equal(plan->row, &op->rows[op->count - 1]);
    tess_plan_free(plan);
    tess_close(context);
    /* What the program imports comes after the file, though the file is read only when it is needed. */
    char *text = NULL;
    context = open_quiet();
    assert_tess_ok(tess_wisdom_load(context, path));
    text = export_text(context);
    tess_close(context);
    char *seconds = strstr(text, " 0.000000001"), *later = malloc(strlen(text) + 1);
    assert_non_null(seconds);
    strcpy(later, text);
    memcpy(later + (seconds - text), " 7.000000001", 12);
    context = open_quiet();
    assert_tess_ok(tess_wisdom_import(context, later));
    tess_plan_free(plan_transpose(context));
    free(text);
    text = export_text(context);
    assert_string_equal(text, later);
    free(text);
    free(later);
    tess_close(context);
    setenv("TESSERA_WISDOM", in_folder(path, "missing"), 1);
}

static void tuning(void **state) {
    (void)state;
    tess_context *context = open_quiet();
    for (int i = 0; i < 64 * 48; i++) {
        values[i] = (float)i;
        turned[i] = -1;
    }
    tess_plan *plan = plan_transpose(context);
    const tess_strategy *before = plan->row;
    assert_tess_ok(tess_tune(plan, 0.01));
    assert_ptr_equal(plan->row, before);
    for (int i = 0; i < 64 * 48; i++)
        assert_true(values[i] == (float)i && turned[i] == -1);
    char *text = export_text(context);
    assert_true(lines_of(text) >= 1);
    assert_null(strstr(text, "transpose/reference"));
    free(text);
    tess_plan *later = plan_transpose(context);
    assert_non_null(strstr(later->reason, "wisdom"));
    tess_plan_free(later);
    assert_tess_fails(tess_tune(NULL, 1), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_tune(plan, -1), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_tune(plan, (double)NAN), TESS_ERR_ARGUMENT);
    tess_plan_free(plan);
    tess_close(context);
}

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/tessera-wisdom-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    char path[128];
    setenv("TESSERA_WISDOM", in_folder(path, "missing"), 1);
    return 0;
}
static int tear_down(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_know_it_too),
                                       cmocka_unit_test(others_are_not_asked),
                                       cmocka_unit_test(fastest_record_wins),
                                       cmocka_unit_test(texts_round_trip),
                                       cmocka_unit_test(strange_texts),
                                       cmocka_unit_test(files_of_every_kind),
                                       cmocka_unit_test(tuning),
                                       cmocka_unit_test(the_environment_s_file_is_read)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

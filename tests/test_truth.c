/* SPDX-License-Identifier: Apache-2.0
 * test_truth.c - the virtual GPU against Nsight Compute: each launch of tests/truth/launches.txt and each GPU row of each operation, run here as PTX, has the
 * counts that an H200 had (tests/truth/h200.txt), to the last one, and wrote the same bytes. Machine code of ptxas -O0 is compared with what PTX says, and
 * machine code of -O3 with what is left after the audit. What differs is listed with its cause in tests/truth/deviations.txt; a line there that is not needed
 * is a failure too. TRUTH_PRINT=1 prints the deviations in that form. */
#include <ctype.h>

#include "gpu_rows.h"
#include "profile/profile.h"
#include "truth/truth.h"
#include "vgpu/audit.h"

enum { COLUMNS = 64, LINES = 4096 };

/* ---- tables of tabs ---- */

typedef struct table {
    char *text;
    char *cell[LINES][COLUMNS];
    int lines, columns;
} table;

static table card, known;
static bool used[LINES];
static int failures;

static void read_table(table *t, const char *name) {
    t->text = truth_read(name, ".txt");
    if (!t->text)
        fail_msg("tests/truth/%s.txt cannot be read: run the test in the folder of the sources", name);
    t->lines = 0;
    for (char *line = t->text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (*line == '#' || !*line)
            continue;
        assert_true(t->lines < LINES);
        int n = 0;
        for (char *cell = line, *tab; cell && n < COLUMNS; cell = tab) {
            tab = strchr(cell, '\t');
            if (tab)
                *tab++ = 0;
            t->cell[t->lines][n++] = cell;
        }
        t->columns = n > t->columns ? n : t->columns;
        t->lines++;
    }
}

/* The card's line of a launch; -1: it has none. */
static int line_of(const char *level, const char *launch) {
    for (int i = 1; i < card.lines; i++)
        if (strcmp(card.cell[i][0], level) == 0 && strcmp(card.cell[i][1], launch) == 0)
            return i;
    return -1;
}

/* What is compared: accesses, branches, and where the machine code was looked at loads of constants. Instructions are the machine code's own affair. */
static bool compared(const char *counter, const char *kind) {
    return strncmp(counter, "global_", 7) == 0 || strncmp(counter, "shared_", 7) == 0 || strncmp(counter, "local_", 6) == 0 ||
           strncmp(counter, "branches_", 9) == 0 || (strcmp(counter, "constant_requests") == 0 && *kind);
}

/* The card's sums of adds, products and fused ones, and the fused ones beside them: with each fused one as two they are our flops. Those of f16 it counts
 * apart: adds, fused ones, products; not all launches were measured so. */
static const char *const flops[][4] = {
    {"flops_f32", "card_f32", "card_ffma"}, {"flops_f64", "card_f64", "card_dfma"}, {"flops_f16", "card_hadd", "card_hfma", "card_hmul"}};

static int column(const char *name) {
    for (int c = 0; c < card.columns; c++)
        if (strcmp(card.cell[0][c], name) == 0)
            return c;
    fail_msg("tests/truth/h200.txt has no column %s", name);
    return 0;
}

static uint64_t counter_of(const tess_vgpu_counters *c, const char *name) {
#define X(field)                   \
    if (strcmp(name, #field) == 0) \
        return c->field;
    TESS_VGPU_COUNTER_LIST(X)
#undef X
    fail_msg("there is no counter \"%s\"", name);
    return 0;
}

/* Operations of f16 and bf16 as the card counts them: a pair is one instruction, where our counter has two operations; products of matrices it leaves out. */
static uint64_t instructions_f16(const tess_vgpu_run *run) {
    uint64_t sum = 0;
    tess_vgpu_line line;
    for (int i = 0; tess_vgpu_line_at(run, i, &line); i++) {
        char opcode[32];
        snprintf(opcode, sizeof opcode, "%.*s", line.ptx_length, line.ptx);
        if (strncmp(opcode, "mma", 3) != 0)
            sum += line.counters.flops_f16 / (strstr(opcode, "f16x2") ? 2 : 1);
    }
    return sum;
}

/* Whether a deviation is listed: level, launch, counter, ours, the card's, cause. */
static bool listed(const char *level, const char *launch, const char *counter, uint64_t ours, const char *cards) {
    for (int i = 0; i < known.lines; i++) {
        char **k = known.cell[i];
        if (strcmp(k[0], level) == 0 && strcmp(k[1], launch) == 0 && strcmp(k[2], counter) == 0 && strtoull(k[3], NULL, 10) == ours &&
            strcmp(k[4], cards) == 0) {
            used[i] = true;
            return true;
        }
    }
    return false;
}

/* The card's count; false: it was not measured. */
static bool counted(int line, const char *name, uint64_t *count) {
    const char *cell = card.cell[line][column(name)];
    if (!cell || !isdigit((unsigned char)*cell))
        return false;
    *count = strtoull(cell, NULL, 10);
    return true;
}

/* level: O0, O3; kind: "" as PTX says, "a" after the audit. Returns how many counters were compared. */
static int compare(const char *level, const char *kind, const char *launch, const tess_vgpu_run *run) {
    int line = line_of(level, launch), done = 0;
    char name[8];
    tess_vgpu_counters ours;
    if (*kind)
        tess_vgpu_total_audited(run, &ours);
    else
        tess_vgpu_total(run, &ours);
    snprintf(name, sizeof name, "%s%s", level, kind);
    if (line < 0)
        return 0;
    for (int c = 3; c < card.columns + TESS_COUNT(flops); c++) {
        char sum[24];
        const char *counter, *theirs;
        if (c < card.columns) {
            counter = card.cell[0][c];
            theirs = card.cell[line][c];
            if (!theirs || !compared(counter, kind) || !isdigit((unsigned char)*theirs))
                continue;
        } else {
            const char *const *f = flops[c - card.columns];
            uint64_t all = 0, product = 0, fused = 0;
            if (!counted(line, f[1], &all) || !counted(line, f[2], &fused) || (f[3] && !counted(line, f[3], &product)))
                continue;
            counter = f[0];
            snprintf(sum, sizeof sum, "%llu", (unsigned long long)(all + product + fused * (f[3] ? 2 : 1)));
            theirs = sum;
        }
        uint64_t here = strcmp(counter, "flops_f16") == 0 ? instructions_f16(run) : counter_of(&ours, counter);
        done++;
        if (here == strtoull(theirs, NULL, 10) || listed(name, launch, counter, here, theirs))
            continue;
        failures++;
        printf(getenv("TRUTH_PRINT") ? "%s\t%s\t%s\t%llu\t%s\t\n" : "%s: %s: %s is %llu here, %s on the card\n", name, launch, counter,
               (unsigned long long)here, theirs);
    }
    return done;
}

static void compare_hash(const char *launch, const char *hash) {
    for (int i = 1; i < card.lines; i++)
        if (strcmp(card.cell[i][1], launch) == 0 && strcmp(card.cell[i][2], hash) != 0) {
            failures++;
            printf("%s at level %s wrote other bytes: %s here, %s on the card\n", launch, card.cell[i][0], hash, card.cell[i][2]);
        }
}

/* ---- the machine code ---- */

typedef struct code_list {
    vgpu_code *code;
    int count;
} code_list;

/* Of one file at one level, from code.txt: file, level, line, operation, bytes, offset, guarded, at, entry, turn, home, copies. */
static code_list read_code(const char *file, const char *level) {
    code_list l = {calloc(65536, sizeof(vgpu_code)), 0};
    char *text = truth_read("code", ".txt");
    assert_non_null(text);
    assert_non_null(l.code);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char name[32], its[8], op[16];
        int line_number, bytes, offset, guarded, at, entry, turn, home, copies;
        if (sscanf(line, "%31s %7s %d %15s %d %d %d %d %d %d %d %d", name, its, &line_number, op, &bytes, &offset, &guarded, &at, &entry, &turn,
                   &home, &copies) != 12 ||
            strcmp(name, file) != 0 || strcmp(its, level) != 0)
            continue;
        assert_true(tess_vgpu_code_named(op) < VGPU_CODE_OPS);
        while (copies-- > 0 && l.count < 65536)
            l.code[l.count++] = (vgpu_code){.line = line_number,
                                            .at = at,
                                            .entry = entry,
                                            .turn = turn,
                                            .home = home,
                                            .op = (uint8_t)tess_vgpu_code_named(op),
                                            .bytes = (uint8_t)bytes,
                                            .offset = offset,
                                            .guarded = guarded};
    }
    free(text);
    return l;
}

/* The arrays as they were before the launch. */
static void fill_again(const tess_profile *p) {
    for (int a = 0, v = 0; a < p->array_count; a++, v++) {
        while (p->launch.values[v].kind != TESS_LAUNCH_ARRAY)
            v++;
        const tess_launch_value *value = &p->launch.values[v];
        char *data = malloc((size_t)p->arrays[a].bytes);
        assert_non_null(data);
        memset(data, 0xa5, (size_t)p->arrays[a].bytes);
        if (value->in)
            assert_tess_ok(tess_profile_fill(p->context, data, value->type, value->count, value->source, value->seed));
        assert_tess_ok(tess_vgpu_copy_in(p->machine, p->arrays[a].address, data, p->arrays[a].bytes));
        free(data);
    }
}

static tess_vgpu_run *launch_again(tess_profile *p) {
    tess_vgpu_launch_options options = {.shared_bytes = p->launch.shared, .params = p->params, .param_bytes = p->param_bytes, .count = true};
    tess_vgpu_run *run;
    memcpy(options.grid, p->launch.grid, sizeof options.grid);
    memcpy(options.block, p->launch.block, sizeof options.block);
    fill_again(p);
    assert_tess_ok(tess_vgpu_launch(p->module, p->kernel, &options, &run));
    return run;
}

/* ---- the launches ---- */

static void test_launches(void **state) {
    (void)state;
    static const char *const levels[] = {"0", "3"};
    tess_context *context;
    FILE *list = fopen(TRUTH_FOLDER "launches.txt", "r");
    truth_launch l;
    char loaded[32] = "", *ptx = NULL;
    code_list code[2] = {{0}};
    int launches = 0, counters = 0;
    assert_non_null(list);
    assert_tess_ok(tess_open(&context, NULL));
    while (truth_next(list, &l)) {
        char name[320], hash[128] = "";
        tess_profile *p;
        if (strcmp(loaded, l.file) != 0) {
            free(ptx);
            assert_non_null(ptx = truth_read(l.file, ".ptx"));
            snprintf(loaded, sizeof loaded, "%s", l.file);
            for (int k = 0; k < 2; k++) {
                free(code[k].code);
                code[k] = read_code(l.file, levels[k]);
                assert_true(code[k].count > 0);
            }
        }
        snprintf(name, sizeof name, "%s %s", l.file, l.text);
        assert_tess_ok(tess_profile_kernel(&p, context, ptx, l.text, NULL, 0, NULL));
        if (tess_profile_faults(p))
            fail_msg("%s: %s", name, tess_profile_fault(p, 0));
        tess_profile_output o;
        for (int i = 0; tess_profile_output_get(p, i, &o); i++)
            snprintf(hash + strlen(hash), sizeof hash - strlen(hash), "%s%016llx", i ? "," : "", (unsigned long long)o.hash);
        compare_hash(name, hash);
        counters += compare("O0", "", name, p->run);
        for (int k = 0; k < 2; k++) {
            char level[4];
            snprintf(level, sizeof level, "O%s", levels[k]);
            assert_tess_ok(tess_vgpu_audit_list(p->module, code[k].code, code[k].count));
            tess_vgpu_run *run = launch_again(p);
            counters += compare(level, "a", name, run);
            tess_vgpu_run_free(run);
        }
        tess_profile_free(p);
        launches++;
    }
    for (int k = 0; k < 2; k++)
        free(code[k].code);
    free(ptx);
    fclose(list);
    tess_close(context);
    print_message("note: %d launches, %d counters compared\n", launches, counters);
    assert_true(launches >= 40);
    assert_int_equal(failures, 0);
}

/* ---- the rows ---- */

typedef struct row_state {
    const char *row;
    int problem, launch, counters, other; /* other: launches whose code is not what was measured */
    char name[80];                        /* of the last launch */
    tess_vgpu_module *module[64];         /* of the launches of the first execution */
} row_state;

static void row_seen(void *user, const tess_vgpu_launch_record *record) {
    row_state *s = user;
    if (s->launch < TESS_COUNT(s->module))
        s->module[s->launch++] = (tess_vgpu_module *)(uintptr_t)record->run->module;
}

static void row_launched(void *user, const tess_vgpu_launch_record *record) {
    row_state *s = user;
    tess_vgpu_counters c;
    snprintf(s->name, sizeof s->name, "%s %d.%d @%08x", s->row, s->problem, s->launch++, truth_code_hash(record->run->module->text));
    int done = compare("O0", "", s->name, record->run);
    if (tess_vgpu_total_audited(record->run, &c))
        done += compare("O3", "a", s->name, record->run);
    s->counters += done;
    s->other += !done;
}

/* The machine code of -O3, where code.txt has it. */
static void audit_modules(row_state *s) {
    for (int i = 0; i < s->launch; i++) {
        char name[16];
        if (s->module[i]->audit)
            continue;
        snprintf(name, sizeof name, "@%08x", truth_code_hash(s->module[i]->text));
        code_list l = read_code(name, "3");
        if (l.count)
            assert_tess_ok(tess_vgpu_audit_list(s->module[i], l.code, l.count));
        free(l.code);
    }
}

static void execute_watched(tess_context *context, truth_trial *t, row_state *s, void (*launched)(void *, const tess_vgpu_launch_record *)) {
    s->launch = 0;
    assert_tess_ok(tess_vgpu_watch(context, &(tess_vgpu_watch_options){.count = true, .no_check = true, .launched = launched, .user = s}));
    assert_tess_ok(truth_execute(t));
    assert_tess_ok(tess_vgpu_watch(context, NULL));
}

static void test_rows(void **state) {
    (void)state;
    tess_context *context;
    row_state s = {0};
    int rows = 0;
    if (!gpu_test_compiler()) {
        print_message("no compiler: %s\n", tess_detail());
        skip();
    }
    failures = 0;
    tess_context_options options = {.struct_size = sizeof options, .engine = TESS_ENGINE_VIRTUAL};
    assert_tess_ok(tess_open(&context, &options));
    for (int o = 0; o < tess_ops_count; o++)
        for (int r = 0; r < tess_ops[o]->gpu_count; r++)
            for (int p = 0; p < TESS_COUNT(truth_problems); p++) {
                truth_trial t;
                char hash[24];
                if (strcmp(truth_problems[p].operation, tess_ops[o]->name) != 0)
                    continue;
                s.row = tess_ops[o]->gpu_rows[r].name;
                s.problem = p;
                tess_status status = truth_begin(&t, context, TESS_ENGINE_VIRTUAL, &truth_problems[p], s.row);
                if (status == TESS_OK) {
                    execute_watched(context, &t, &s, row_seen);
                    audit_modules(&s);
                    execute_watched(context, &t, &s, row_launched);
                    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)truth_hash(TRUTH_HASH, t.out.data, truth_bytes(&t.out)));
                    compare_hash(s.name, hash);
                    rows++;
                } else {
                    assert_int_equal(status, TESS_ERR_STRATEGY);
                }
                truth_end(&t);
            }
    tess_close(context);
    print_message("note: %d plans of rows, %d counters compared; %d launches are of other code than was measured\n", rows, s.counters, s.other);
    assert_int_equal(failures, 0);
}

static void test_no_more(void **state) {
    (void)state;
    int unused = 0;
    for (int i = 0; i < known.lines; i++)
        if (!used[i] && strchr(known.cell[i][1], '<')) { /* those of rows need a compiler */
            unused++;
            printf("deviations.txt has a line that is not needed: %s %s %s\n", known.cell[i][0], known.cell[i][1], known.cell[i][2]);
        }
    assert_int_equal(unused, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_launches), cmocka_unit_test(test_rows), cmocka_unit_test(test_no_more)};
    read_table(&card, "h200");
    read_table(&known, "deviations");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(card.text);
    free(known.text);
    return failed;
}

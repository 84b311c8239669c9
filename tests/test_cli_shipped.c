/* SPDX-License-Identifier: Apache-2.0
 * test_cli_shipped.c - proves: src/gpu/shipped.ptx holds PTX for every rung of the ladder and shipped_general.ptx for the plans of tests/shipped.h, of the
 * kernels as they are now; and where the compiler is that which made it, byte for byte what the compiler makes. After a change of one of these
 * kernels: build/tests/test_cli_shipped --write */
#include "gpu_rows.h"
#include "ladder.h"
#include "shipped.h"

static tess_context *context;
static tess_gpu *machine; /* the virtual GPU */
static FILE *file;        /* with --write */
static int found, missing, differ, compiler;
static tess_gpu_key seen[512];
/* Architectures: the ladder counts as an H200 does, the general rows are to run on older cards too. */
enum { LADDER = 90, GENERAL = 80, SPREAD = 29 };
static int seen_count;

/* Without the line table, comments and blank lines: the ladder counts by kernel. In place; returns the length. */
static size_t strip(char *ptx) {
    char *to = ptx;
    for (char *line = ptx; *line;) {
        size_t length = strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
        size_t blank = strspn(line, " \t");
        if (strncmp(line + blank, ".section", 8) == 0)
            break;
        if (strncmp(line + blank, ".loc", 4) != 0 && strncmp(line + blank, ".file", 5) != 0 && strncmp(line + blank, "//", 2) != 0 &&
            line[blank] != '\n') {
            memmove(to, line, length);
            to += length;
        }
        line += length;
    }
    *to = 0;
    return (size_t)(to - ptx);
}

static void write_record(const tess_gpu_source *source, const tess_gpu_key *key, const char *ptx, size_t size) {
    char hex[TESS_SHA256_TEXT];
    fprintf(file, "\nkernel %s", source->name);
    for (int i = 0; i < source->option_count; i++)
        fprintf(file, " %s", source->options[i]);
    tess_sha256_text(key->bytes, hex);
    fprintf(file, "\nkey %s\nsize %zu\n", hex, size);
    fwrite(ptx, 1, size, file);
}

static void look_at(const tess_gpu_source *source, tess_gpu *gpu, int arch) {
    tess_gpu_key key = tess_gpu_shipped_key(source);
    tess_gpu_image image;
    size_t size = 0, length;
    for (int i = 0; i < seen_count; i++)
        if (memcmp(&seen[i], &key, sizeof key) == 0)
            return;
    assert_true(seen_count < TESS_COUNT(seen));
    seen[seen_count++] = key;
    const char *shipped = tess_gpu_shipped_find(&key, &size);
    found += shipped != NULL;
    if (!file && !shipped) {
        missing++;
        print_message("not shipped: %s\n", source->name);
    }
    if (!file &&
        (!shipped || compiler != gpu->nvrtc_version || (arch == GENERAL && found % SPREAD != 0))) /* hundreds: a compile of some of them will do */
        return;
    assert_tess_ok(tess_gpu_compile(gpu, source, arch, TESS_GPU_PTX, &image));
    length = strip(image.data);
    if (file)
        write_record(source, &key, image.data, length);
    else if (length != size || memcmp(image.data, shipped, size)) {
        differ++;
        print_message("other PTX: %s\n", source->name);
    }
    tess_free(context, image.data, image.size + 1);
}

static void look_at_units(const tess_gpu_layout *layout, const tess_gpu_row *row, tess_gpu *gpu, int arch) {
    for (int u = 0; u < layout->units; u++) {
        const tess_gpu_source source = {.name = layout->unit[u].text->name,
                                        .text = layout->unit[u].text->text,
                                        .headers = tess_gpu_unit_headers(layout, u, row->headers),
                                        .options = layout->unit[u].option,
                                        .option_count = layout->unit[u].options};
        look_at(&source, gpu, arch);
    }
}

static void look_at_rungs(const tess_plan *plan) {
    for (const tess_gpu_plan *made = plan->prepared; made; made = made->other)
        if (made->row->gpu->rung > 0)
            look_at_units(&made->layout, made->row->gpu, made->gpu, LADDER);
}

static void look_at_general(const tess_problem *problem, const char *name) {
    const tess_strategy *row = tess_strategy_named(name, strlen(name));
    tess_gpu_layout *layout = calloc(1, sizeof *layout);
    const char *why;
    assert_true(row && layout && row->applicable(problem, &why));
    row->gpu->lay_out(problem, machine->devices, layout);
    look_at_units(layout, row->gpu, machine, GENERAL);
    free(layout);
}

static void every_rung(void **state) {
    (void)state;
    cli_session session = {.context = context};
    tess_strategy_info row;
    for (int l = 0; l < cli_ladder_count; l++)
        for (int w = 0; w < cli_ladders[l].count; w++) {
            const cli_ladder_work *work = &cli_ladders[l].works[w];
            const cli_workload *sizes[] = {&work->check, &work->small, &work->medium, &work->large};
            for (int s = 0; s < 4; s++) {
                cli_trial trial;
                assert_int_equal(cli_trial_make(&trial, sizes[s], CLI_PAGES_UNTOUCHED), CLI_OK);
                for (int i = 0; tess_strategy_get(i, &row); i++) {
                    tess_plan *plan = NULL;
                    if (row.rung > 0 && strcmp(row.operation, cli_ladders[l].operation) == 0 &&
                        cli_trial_plan(&session, &trial, row.name, &plan) == TESS_OK)
                        look_at_rungs(plan);
                    tess_plan_free(plan);
                }
                cli_trial_free(&trial);
            }
        }
    assert_true(file || found >= 42);
}

static void the_general_rows(void **state) {
    (void)state;
    shipped_plans(context, look_at_general);
    if (!file && (missing || differ))
        fail_msg("%d kernels are not shipped and %d are shipped as they were: run `make shipped`", missing, differ);
    assert_true(file || found >= 200);
}

/* The NVRTC that made the file, 0 when there is none yet. */
static int maker(const char *path) {
    char line[256] = "";
    FILE *text = fopen(path, "r");
    if (text) {
        if (!fgets(line, sizeof line, text))
            line[0] = 0;
        fclose(text);
    }
    const char *made = strstr(line, "NVRTC ");
    return made ? (int)strtol(made + 6, NULL, 10) : 0;
}

static bool open_file(const char *path, const char *what) {
    if (file)
        fclose(file);
    if (!(file = fopen(path, "w")))
        return perror(path), false;
    fprintf(file, "PTX of %s, made by build/tests/test_cli_shipped --write with NVRTC %d.\n", what, machine->nvrtc_version);
    return true;
}

/* Each test writes its own file. */
static int write_both(void) {
    const struct CMUnitTest ladder[] = {cmocka_unit_test(every_rung)}, general[] = {cmocka_unit_test(the_general_rows)};
    if (!gpu_test_compiler() || tess_gpu_open_nvrtc(machine) != TESS_OK)
        return printf("no compiler: %s\n", tess_detail()), 1;
    int failed = !open_file("src/gpu/shipped.ptx", "the kernels of `tessera ladder` for compute capability 9.0") ||
                 cmocka_run_group_tests(ladder, NULL, NULL) ||
                 !open_file("src/gpu/shipped_general.ptx", "the kernels of the general rows for compute capability 8.0") ||
                 cmocka_run_group_tests(general, NULL, NULL);
    if (file)
        fclose(file);
    return failed;
}

int main(int count, char **words) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rung), cmocka_unit_test(the_general_rows)};
    tess_context_options options = {.struct_size = sizeof options, .engine = TESS_ENGINE_VIRTUAL};
    unsetenv("TESSERA_UNOPTIMISED"); /* the suite's: what is shipped is optimised */
    compiler = maker("src/gpu/shipped.ptx");
    if (tess_open(&context, &options) != TESS_OK || tess_gpu_get_engine(&machine, context, TESS_ENGINE_VIRTUAL) != TESS_OK)
        return 1;
    int failed = count > 1 && strcmp(words[1], "--write") == 0 ? write_both() : cmocka_run_group_tests(tests, NULL, NULL);
    tess_close(context);
    return failed;
}

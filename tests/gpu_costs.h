/* SPDX-License-Identifier: Apache-2.0
 * gpu_costs.h - what NVRTC's assembler says of each kernel of a text: registers, stack, spills, shared memory, a line a kernel; and what a record of an earlier
 * day says, where the text is that of the record: one compiler makes one code of it. */
#ifndef TESS_TESTS_GPU_COSTS_H
#define TESS_TESTS_GPU_COSTS_H

#include "gpu_rows.h"

static tess_gpu *gpu;
static FILE *table;        /* what is found */
static int kernels, taken; /* those that were compiled, and those that a record had */
static char *record;       /* what was found before: "text KEY ROW | PROBLEM" and that text's lines after it; NULL: everything is compiled */

/* The lines of a text whose first line is `head`, from the record; false when it has none. */
static bool take_from_record(const char *head) {
    const char *at = record ? strstr(record, head) : NULL;
    if (!at)
        return false;
    for (at += strlen(head); *at && strncmp(at, "text ", 5) != 0; taken++) {
        const int length = (int)strcspn(at, "\n") + 1;
        fprintf(table, "%.*s", length, at);
        at += length;
    }
    return true;
}

/* "Compiling entry function 'NAME'", "A bytes stack frame, B bytes spill stores, C bytes spill loads", "Used D registers, ..., E bytes smem": lines of
 * the assembler's log for each kernel. */
static void read_log(const char *log, int arch, const char *row, const char *problem) {
    char name[64] = "";
    int stack = 0, stores = 0, loads = 0, registers, shared;
    for (const char *line = log; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *end = strchr(line, '\n'), *at = strstr(line, "Compiling entry function '");
        if (at && at < end)
            sscanf(at, "Compiling entry function '%63[^']'", name);
        at = strstr(line, " bytes stack frame");
        if (at && at < end) {
            while (at > line && strchr("0123456789", at[-1]))
                at--;
            assert_int_equal(sscanf(at, "%d bytes stack frame, %d bytes spill stores, %d bytes spill loads", &stack, &stores, &loads), 3);
        }
        at = strstr(line, "Used ");
        if (!at || at > end || sscanf(at, "Used %d registers", &registers) != 1)
            continue;
        shared = 0;
        for (const char *word = strstr(at, ", "); word && word < end; word = strstr(word + 2, ", ")) {
            int bytes, length = 0;
            if (sscanf(word, ", %d bytes smem%n", &bytes, &length) == 1 && length > 0)
                shared = bytes;
        }
        fprintf(table, "sm_%d %s | %s | %s %d registers %d stack %d spilled %d shared\n", arch, row, problem, name, registers, stack, stores + loads,
                shared);
        kernels++;
    }
}

static void compile(const tess_gpu_source *source, int arch, const char *row, const char *problem) {
    const char *options[TESS_GPU_OPTIONS + 8] = {"--std=c++17", "--fmad=false", "--ptxas-options=-v"}, *text[24], *name[24];
    char architecture[40], *log;
    nvrtcProgram program;
    size_t size;
    int count = 3, headers = 0;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d", arch);
    options[count++] = architecture;
    for (int i = 0; i < source->option_count; i++)
        options[count++] = source->options[i];
    for (const tess_gpu_text *const *h = source->headers; h && *h; h++, headers++) {
        text[headers] = (*h)->text;
        name[headers] = (*h)->name;
    }
    assert_int_equal(gpu->nvrtc.nvrtcCreateProgram(&program, source->text, source->name, headers, headers ? text : NULL, headers ? name : NULL), 0);
    nvrtcResult result = gpu->nvrtc.nvrtcCompileProgram(program, count, options);
    assert_int_equal(gpu->nvrtc.nvrtcGetProgramLogSize(program, &size), 0);
    assert_non_null(log = calloc(1, size + 1));
    assert_int_equal(gpu->nvrtc.nvrtcGetProgramLog(program, log), 0);
    if (result != NVRTC_SUCCESS)
        fail_msg("%s of %s does not compile for sm_%d: %.500s", row, problem, arch, log);
    read_log(log, arch, row, problem);
    free(log);
    gpu->nvrtc.nvrtcDestroyProgram(&program);
}

#endif

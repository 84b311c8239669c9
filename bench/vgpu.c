/* SPDX-License-Identifier: Apache-2.0
 * vgpu.c - how fast the virtual GPU runs: lane instructions a second of eight kernels, plain, with counters, with counters and checkers.
 *
 *     make build/bench/vgpu && build/bench/vgpu [-j THREADS] [-i avx2] [-r ROUNDS] [WORD ...]
 *
 * WORDs choose the kernels whose names contain one of them. The time is the median of ROUNDS (5) launches. Run in the folder of the sources: the kernels
 * are those of tests/ptx. A lane instruction is one lane of one executed PTX instruction (counter thread_instructions). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/strategy.h"
#include "vgpu/vgpu.h"

enum { MATRIX = 128, SIDE = 512, LINE = 1 << 18, TAPS = 31, MOST = 64 };

typedef enum form { PRODUCT, TRANSPOSE, REDUCE, CORRELATE } form;
static const struct {
    const char *file, *kernel;
    form form;
} kernels[] = {
    {"matmul", "matmul_tile", PRODUCT},         {"transpose", "transpose_tile", TRANSPOSE},    {"transpose", "transpose_naive_write", TRANSPOSE},
    {"reduce", "reduce_neighbored", REDUCE},    {"reduce", "reduce_shared", REDUCE},           {"reduce", "reduce_shuffle", REDUCE},
    {"correlate", "correlate_tile", CORRELATE}, {"correlate", "correlate_constant", CORRELATE}};

static void stop(const char *what) {
    fprintf(stderr, "%s: %s\n", what, tess_detail());
    exit(1);
}
#define OK(call)               \
    do {                       \
        if ((call) != TESS_OK) \
            stop(#call);       \
    } while (0)

static char *read_text(const char *topic) {
    char path[128];
    snprintf(path, sizeof path, "tests/ptx/%s.sm_90.ptx", topic);
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "%s cannot be opened: run in the folder of the sources\n", path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = calloc(1, (size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, f) != (size_t)size)
        exit(1);
    fclose(f);
    return text;
}

static uint64_t array(tess_vgpu_machine *m, size_t bytes) {
    uint64_t address;
    char *zeros = calloc(1, bytes);
    OK(tess_vgpu_malloc(m, (int64_t)bytes, &address));
    OK(tess_vgpu_copy_in(m, address, zeros, (int64_t)bytes));
    free(zeros);
    return address;
}

static int ascending(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b; }

/* G lane instructions a second. */
static double speed(tess_vgpu_module *module, const char *kernel, tess_vgpu_launch_options *o, int rounds) {
    double seconds[MOST];
    uint64_t lanes = 0;
    for (int i = 0; i < rounds; i++) {
        tess_vgpu_run *run;
        tess_vgpu_counters total;
        double begin = tess_seconds();
        OK(tess_vgpu_launch(module, kernel, o, &run));
        seconds[i] = tess_seconds() - begin;
        tess_vgpu_total(run, &total);
        lanes = total.thread_instructions;
        if (tess_vgpu_fault_count(run)) {
            fprintf(stderr, "%s\n", tess_vgpu_fault_at(run, 0)->message);
            exit(1);
        }
        tess_vgpu_run_free(run);
    }
    qsort(seconds, (size_t)rounds, sizeof *seconds, ascending);
    return (double)lanes / seconds[rounds / 2] * 1e-9;
}

static void bench(tess_context *context, int number, int threads, int rounds) {
    tess_vgpu_machine *m;
    tess_vgpu_module *module;
    struct {
        uint64_t pointer[3];
        int32_t number[2];
    } p = {{0}, {0}};
    struct {
        uint64_t pointer[2];
        int32_t number[2];
    } q = {{0}, {0}};
    tess_vgpu_launch_options o = {.threads = threads};
    char *text = read_text(kernels[number].file);
    OK(tess_vgpu_open(&m, context));
    OK(tess_vgpu_load(m, text, &module));
    switch (kernels[number].form) {
    case PRODUCT:
        for (int i = 0; i < 3; i++)
            p.pointer[i] = array(m, (size_t)MATRIX * MATRIX * 4);
        p.number[0] = MATRIX;
        o.grid[0] = o.grid[1] = MATRIX / 16;
        o.block[0] = o.block[1] = 16;
        o.params = &p;
        o.param_bytes = 28;
        break;
    case TRANSPOSE:
        q.pointer[0] = array(m, (size_t)SIDE * SIDE * 4);
        q.pointer[1] = array(m, (size_t)SIDE * SIDE * 4);
        q.number[0] = q.number[1] = SIDE;
        o.grid[0] = o.grid[1] = SIDE / 32;
        o.block[0] = 32;
        o.block[1] = 8;
        o.params = &q;
        o.param_bytes = 24;
        break;
    case REDUCE:
        q.pointer[0] = array(m, (size_t)LINE * 4);
        q.pointer[1] = array(m, (size_t)LINE * 4);
        q.number[0] = LINE;
        o.grid[0] = LINE / 256;
        o.block[0] = 256;
        o.shared_bytes = 1024;
        o.params = &q;
        o.param_bytes = 20;
        break;
    case CORRELATE:
        q.pointer[0] = array(m, (size_t)LINE * 4);
        q.pointer[1] = array(m, (size_t)LINE * 4);
        q.number[0] = TAPS;
        q.number[1] = LINE;
        o.grid[0] = LINE / 128;
        o.block[0] = 128;
        o.params = &q;
        o.param_bytes = 24;
    }
    double plain = speed(module, kernels[number].kernel, &o, rounds), counted, checked;
    o.count = true;
    counted = speed(module, kernels[number].kernel, &o, rounds);
    o.check = true;
    checked = speed(module, kernels[number].kernel, &o, rounds);
    printf("%-24s %8.2f %8.2f %8.2f %8.1f\n", kernels[number].kernel, plain, counted, checked, counted / checked);
    tess_vgpu_unload(module);
    tess_vgpu_close(m);
    free(text);
}

int main(int count, char **words) {
    int threads = 1, rounds = 5, first = 1;
    tess_context_options options = {.struct_size = sizeof options};
    for (; first + 1 < count && words[first][0] == '-'; first += 2) {
        if (words[first][1] == 'j')
            threads = atoi(words[first + 1]);
        else if (words[first][1] == 'r')
            rounds = atoi(words[first + 1]);
        else if (words[first][1] == 'i')
            setenv("TESSERA_ISA", words[first + 1], 1);
    }
    rounds = rounds < 1 ? 1 : rounds > MOST ? MOST : rounds;
    tess_context *context;
    options.threads = threads;
    OK(tess_open(&context, &options));
    printf("G lane instructions a second, %d thread%s, median of %d\n%-24s %8s %8s %8s %8s\n", threads, threads == 1 ? "" : "s", rounds, "kernel",
           "plain", "counters", "checkers", "times");
    for (int k = 0; k < TESS_COUNT(kernels); k++) {
        bool wanted = first >= count;
        for (int i = first; i < count; i++)
            wanted |= strstr(kernels[k].kernel, words[i]) != NULL;
        if (wanted)
            bench(context, k, threads, rounds);
    }
    tess_close(context);
    return 0;
}

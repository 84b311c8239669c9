/* SPDX-License-Identifier: Apache-2.0
 * vgpu.h - what the tests of the virtual GPU share: a machine with arrays, modules from tests/ptx, launches that must succeed. */
#ifndef TESS_TESTS_VGPU_H
#define TESS_TESTS_VGPU_H

#include "hostile.h"
#include "vgpu/vgpu.h"

typedef struct vgpu_bench {
    tess_context *context;
    tess_vgpu_machine *machine;
    tess_vgpu_module *module;
    tess_vgpu_run *run;
    tess_vgpu_counters total;
    char params[512];
    int64_t param_bytes;
} vgpu_bench;

/* The text of a file, from the folder of the sources or the one above build/tests. */
static inline char *vgpu_read(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "tests/ptx/%s", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s cannot be opened: run the test in the folder of the sources", path);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    text[size] = 0;
    fclose(f);
    return text;
}

static inline void vgpu_begin(vgpu_bench *b, const char *text, tess_isa isa, int threads) {
    memset(b, 0, sizeof *b);
    tess_context_options options = {.struct_size = sizeof options, .isa = isa, .threads = threads};
    assert_tess_ok(tess_open(&b->context, &options));
    assert_tess_ok(tess_vgpu_open(&b->machine, b->context));
    assert_tess_ok(tess_vgpu_load(b->machine, text, &b->module));
}
static inline void vgpu_begin_file(vgpu_bench *b, const char *name, tess_isa isa, int threads) {
    char *text = vgpu_read(name);
    vgpu_begin(b, text, isa, threads);
    free(text);
}
static inline void vgpu_end(vgpu_bench *b) {
    tess_vgpu_run_free(b->run);
    tess_vgpu_unload(b->module);
    tess_vgpu_close(b->machine);
    tess_close(b->context);
}

/* An array on the machine, with values or left undefined. */
static inline uint64_t vgpu_array(vgpu_bench *b, const void *values, int64_t bytes) {
    uint64_t address;
    assert_tess_ok(tess_vgpu_malloc(b->machine, bytes, &address));
    if (values)
        assert_tess_ok(tess_vgpu_copy_in(b->machine, address, values, bytes));
    return address;
}
static inline void vgpu_fetch(vgpu_bench *b, void *to, uint64_t address, int64_t bytes) {
    assert_tess_ok(tess_vgpu_copy_out(b->machine, to, address, bytes));
}

static inline void vgpu_add_param(vgpu_bench *b, const void *value, int64_t bytes) {
    b->param_bytes = (b->param_bytes + bytes - 1) / bytes * bytes;
    assert_true(b->param_bytes + bytes <= (int64_t)sizeof b->params);
    memcpy(b->params + b->param_bytes, value, (size_t)bytes);
    b->param_bytes += bytes;
}
#define VGPU_PARAM(b, T, value)                     \
    do {                                            \
        T vgpu_value_ = (value);                    \
        vgpu_add_param(b, &vgpu_value_, sizeof(T)); \
    } while (0)

/* Launches with the parameters added so far, then forgets them; counts are in b->total. */
static inline void vgpu_launch(vgpu_bench *b, const char *kernel, tess_vgpu_launch_options options) {
    options.params = b->params;
    options.param_bytes = b->param_bytes;
    tess_vgpu_run_free(b->run);
    b->run = NULL;
    assert_tess_ok(tess_vgpu_launch(b->module, kernel, &options, &b->run));
    tess_vgpu_total(b->run, &b->total);
    b->param_bytes = 0;
}
static inline void vgpu_no_faults(const vgpu_bench *b) {
    if (tess_vgpu_fault_count(b->run))
        fail_msg("%d faults, the first: %s", tess_vgpu_fault_count(b->run), tess_vgpu_fault_at(b->run, 0)->message);
}

/* The bits of half of v as an f16, for small v: exact. */
static inline uint16_t vgpu_half_of(int v) {
    float x = (float)v / 2;
    uint32_t u;
    memcpy(&u, &x, 4);
    return x == 0 ? 0 : (uint16_t)((u >> 16 & 0x8000) | (((u >> 23 & 255) - 112) << 10) | (u >> 13 & 1023));
}

static const char *const vgpu_dialects[] = {"sm_90", "sm_100"};

#endif

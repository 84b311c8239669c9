/* SPDX-License-Identifier: Apache-2.0
 * reduce_sets.h - sets of rows of columns, reduced down the rows: [outer x] sets x k x width elements that lie anywhere in a memory, and whether a row of a GPU
 * makes the reference's bytes of them. What the tests of the rows for such arrays share. */
#ifndef TESS_TESTS_REDUCE_SETS_H
#define TESS_TESTS_REDUCE_SETS_H

#include "gpu_rows.h"
#include "vgpu/vgpu.h"

/* row: elements from row to row, 0: `width`, negative: rows backward; between, apart: elements between sets, and between groups of them; from: elements before the first. */
typedef struct sets_work {
    tess_reduction operation;
    tess_type in, out;
    tess_nan nan;
    int64_t outer, sets, k, width, row, between, apart, from; /* outer 0: no such axis */
    int fill;                                                 /* of hostile_fill; others are a test's own, and begin as 1 */
} sets_work;

typedef struct sets_case {
    const sets_work *work;
    hostile_array memory, expected;
    int64_t shape[4], strides[4];
    DLTensor in; /* points into this structure: do not copy it */
    uint64_t layout;
    tess_reduce_options options;
    int axis;
} sets_case;

/* Elements from one row to the next, and from set to set. */
static inline int64_t sets_row(const sets_work *w) { return w->row ? llabs(w->row) : w->width; }
static inline int64_t sets_step(const sets_work *w) { return (w->k - 1) * sets_row(w) + w->width + w->between; }

/* Memory and its elements, which a test may write over before it asks for what is expected. */
static inline void sets_begin(sets_case *c, const sets_work *w, uint64_t *random) {
    const int skip = w->outer == 0;
    const int64_t outer = skip ? 1 : w->outer, group = w->sets * sets_step(w) + w->apart, all = w->from + outer * group - w->apart - w->between;
    *c = (sets_case){.work = w,
                     .shape = {outer, w->sets, w->k, w->width},
                     .strides = {group, sets_step(w), w->row ? w->row : w->width, 1},
                     .options = {.struct_size = sizeof c->options, .nan = w->nan, .ddof = 1, .naxes = 1},
                     .axis = skip ? 1 : 2};
    hostile_make(&c->memory, random, w->in, 1, &all, HOSTILE_COMPACT);
    hostile_fill(&c->memory, random, w->fill >= 0 && w->fill <= 2 ? w->fill : 1);
    c->in = c->memory.tensor;
    c->in.ndim = 4 - skip;
    c->in.shape = c->shape + skip;
    c->in.strides = c->strides + skip;
    c->in.byte_offset += (uint64_t)((w->from + (w->row < 0 ? (w->k - 1) * sets_row(w) : 0)) * (int64_t)tess_type_size(w->in));
}

static inline void sets_outputs(const sets_case *c, hostile_array *out, uint64_t *random) {
    const int64_t kept[] = {c->shape[0], c->shape[1], c->shape[3]};
    hostile_make(out, random, c->work->out, c->in.ndim - 1, kept + (4 - c->in.ndim), HOSTILE_STRIDED);
}

static inline void sets_expect(sets_case *c, tess_context *context, uint64_t *random) {
    c->layout = *random;
    sets_outputs(c, &c->expected, random);
    c->options.axes = &c->axis;
    c->options.call = (tess_call){.strategy = "reduce/reference"};
    assert_tess_ok(tess_reduce(context, c->work->operation, &c->in, &c->expected.tensor, &c->options));
}

/* By a row, or by the one that is chosen (NULL): false where the row refuses this work; other bytes fail the test. */
static inline bool sets_same(sets_case *c, tess_context *context, tess_engine engine, const char *row) {
    const sets_work *w = c->work;
    hostile_array out;
    uint64_t layout = c->layout;
    sets_outputs(c, &out, &layout);
    c->options.call = (tess_call){.engine = engine, .strategy = row};
    const tess_status status = tess_reduce(context, w->operation, &c->in, &out.tensor, &c->options);
    const bool refused = row && status == TESS_ERR_STRATEGY;
    if (!refused)
        assert_tess_ok(status);
    if (!refused && memcmp(out.block, c->expected.block, out.block_size))
        fail_msg("%s: %s of %s to %s, %lld x %lld x %lld x %lld, rows %lld apart, gaps of %lld and %lld, from %lld on, fill %d",
                 row ? row : "the chosen row", tess_reduction_name(w->operation), tess_type_name(w->in), tess_type_name(w->out), (long long)w->outer,
                 (long long)w->sets, (long long)w->k, (long long)w->width, (long long)c->strides[2], (long long)w->between, (long long)w->apart,
                 (long long)w->from, w->fill);
    hostile_free(&out);
    return !refused;
}

static inline void sets_end(sets_case *c) {
    hostile_free(&c->expected);
    hostile_free(&c->memory);
}

/* Arrays of the device's that begin anywhere in 16 bytes and end with their memory: nothing around them is read. Results: f64. */
typedef struct sets_array {
    tess_type type;
    int64_t width, sets, k;
} sets_array;

static inline void sets_any_address_nan(tess_engine engine, const char *row, tess_reduction operation, tess_nan nan, bool exact,
                                        const sets_array *arrays, int count) {
    tess_context *own;
    tess_gpu *gpu;
    tess_gpu_scope scope;
    const tess_driver *table;
    uint64_t random = 5;
    const int axis = 1;
    assert_tess_ok(tess_open(&own, NULL));
    assert_tess_ok(tess_gpu_get(&gpu, own));
    if (engine == TESS_ENGINE_VIRTUAL)
        assert_tess_ok(tess_vgpu_driver(own, &table));
    assert_tess_ok(engine == TESS_ENGINE_VIRTUAL ? tess_gpu_open_table(gpu, table, "the virtual GPU") : tess_gpu_open(gpu));
    assert_tess_ok(tess_gpu_enter(gpu, gpu->devices, NULL, &scope));
    for (int i = 0; i < count; i++) {
        const int64_t size = (int64_t)tess_type_size(arrays[i].type), width = arrays[i].width, sets = arrays[i].sets, k = arrays[i].k;
        const size_t bytes = (size_t)(sets * k * width * size), outputs = (size_t)(sets * width) * sizeof(double);
        int64_t shape[] = {sets, k, width}, kept[] = {sets, width};
        char *values = malloc(bytes);
        double *expected = malloc(outputs), *found = malloc(outputs);
        assert_true(values && expected && found);
        for (size_t b = 0; b < bytes; b++)
            values[b] = (char)(hostile_random(&random) % 3 ? 0 : 60); /* as floats finite, most of them 0 */
        DLTensor in = tess_view(values, arrays[i].type, 3, shape, NULL), out = tess_view(expected, tess_f64, 2, kept, NULL);
        tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .nan = nan, .exact = exact};
        assert_tess_ok(tess_reduce(own, operation, &in, &out, &options));
        for (int64_t before = 0; before < 16; before += size) {
            CUdeviceptr memory, to;
            assert_int_equal(gpu->driver.cuMemAlloc(&memory, (size_t)before + bytes), CUDA_SUCCESS);
            assert_int_equal(gpu->driver.cuMemAlloc(&to, outputs), CUDA_SUCCESS);
            assert_int_equal(gpu->driver.cuMemcpyHtoDAsync(memory + (CUdeviceptr)before, values, bytes, NULL), CUDA_SUCCESS);
            in.data = (void *)(uintptr_t)(memory + (CUdeviceptr)before);
            out.data = (void *)(uintptr_t)to;
            in.device.device_type = out.device.device_type = kDLCUDA;
            options.call.strategy = row;
            assert_tess_ok(tess_reduce(own, operation, &in, &out, &options));
            assert_int_equal(gpu->driver.cuMemcpyDtoHAsync(found, to, outputs, NULL), CUDA_SUCCESS);
            assert_int_equal(gpu->driver.cuStreamSynchronize(NULL), CUDA_SUCCESS);
            assert_memory_equal(found, expected, outputs);
            gpu->driver.cuMemFree(memory);
            gpu->driver.cuMemFree(to);
        }
        free(values);
        free(expected);
        free(found);
    }
    tess_gpu_leave(&scope);
    tess_close(own);
}

static inline void sets_any_address(tess_engine engine, const char *row, tess_reduction operation, bool exact, const sets_array *arrays, int count) {
    sets_any_address_nan(engine, row, operation, TESS_NAN_PROPAGATE, exact, arrays, count);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_random.c - proves: of random problems (random_draws.h) the row that is chosen for a GPU and every other that takes them give the CPU's bytes, write nothing beside them, and refuse what the
 * CPU refuses: arrays on the device that begin anywhere, arrays in host memory, and these in pieces. */
#include "gpu_rows.h"
#include "random_draws.h"

static tess_context *context;
static tess_engine engine;
static tess_gpu *gpu; /* of the context; on the virtual GPU arrays have places on a device, too */
static tess_gpu_scope scope;

/* Where a problem's arrays are: on the device, at the same places of a line as here; here; or here, and of more bytes than the device is said to have room for. */
typedef enum place { ON_DEVICE, HERE, IN_PIECES, PLACES } place;

static CUdeviceptr sent(const hostile_array *a, DLTensor *tensor) {
    CUdeviceptr memory;
    assert_int_equal(gpu->driver.cuMemAlloc(&memory, a->block_size), CUDA_SUCCESS);
    assert_int_equal(gpu->driver.cuMemcpyHtoDAsync(memory, a->block, a->block_size, NULL), CUDA_SUCCESS);
    tensor->data = (void *)(uintptr_t)memory;
    tensor->device.device_type = kDLCUDA;
    return memory;
}

/* By a row, NULL: the one that is chosen. What the device holds of out's block comes back whole, with what lies between its elements. */
static tess_status run_at(const problem *p, hostile_array *result, place where, const char *row) {
    DLTensor in = p->in.tensor, second = p->second[0].tensor, out = result->tensor;
    CUdeviceptr from[2] = {0}, to = 0;
    if (where == IN_PIECES)
        setenv("TESSERA_GPU_MEMORY", "120000", 1);
    if (where == ON_DEVICE) {
        from[0] = sent(&p->in, &in);
        from[1] = p->operation == &tess_lookup_op ? sent(&p->second[0], &second) : 0;
        to = sent(result, &out);
    }
    if (p->in_place)
        in.data = out.data;
    const tess_status status = random_run(context, p, &in, &second, &out, where == ON_DEVICE ? TESS_ENGINE_AUTO : engine, row);
    if (where == ON_DEVICE) {
        assert_int_equal(gpu->driver.cuMemcpyDtoHAsync(result->block, to, result->block_size, NULL), CUDA_SUCCESS);
        assert_int_equal(gpu->driver.cuStreamSynchronize(NULL), CUDA_SUCCESS);
        gpu->driver.cuMemFree(to);
        for (int k = 0; k < 2; k++)
            if (from[k])
                gpu->driver.cuMemFree(from[k]);
    }
    unsetenv("TESSERA_GPU_MEMORY");
    return status;
}

/* Whether the row does as the CPU did. *took: it took the problem. Not every problem is cut into pieces. */
static bool same(const problem *p, const hostile_array *expected, tess_status status, place where, const char *row, bool *took) {
    static const char *const places[] = {"on the device", "in host memory", "in pieces"};
    hostile_array out;
    random_twin(&out, &p->out);
    const tess_status here = run_at(p, &out, where, row);
    *took = here == TESS_OK;
    const bool refuses = (row && here == TESS_ERR_STRATEGY) || (where == IN_PIECES && here == TESS_ERR_MEMORY);
    const bool differs = here == TESS_OK && memcmp(out.block, expected->block, out.block_size) != 0, as_cpu = refuses || (here == status && !differs);
    if (!as_cpu && here != status)
        print_message("%s, %s, %s: %s where the CPU says %s: %s\n", described(p), places[where], row ? row : "the chosen row", tess_status_name(here),
                      tess_status_name(status), tess_detail());
    else if (!as_cpu)
        print_message("%s, %s, %s: other bytes, of elements from number %lld on\n", described(p), places[where], row ? row : "the chosen row",
                      (long long)hostile_differs(&out, expected));
    hostile_free(&out);
    return as_cpu;
}

/* Elements begin at multiples of their size, as they have to on a device. */
static bool is_aligned(const hostile_array *a) { return a->tensor.byte_offset % (uint64_t)a->itemsize == 0; }

/* By the CPU, by the chosen row, and by every other that takes it. */
static bool holds(const problem *p, uint64_t *random) {
    hostile_array expected;
    bool taken, other;
    random_twin(&expected, &p->out);
    DLTensor in = p->in.tensor;
    in.data = p->in_place ? expected.tensor.data : in.data;
    const bool whole = is_aligned(&p->in) && is_aligned(&p->out) && (p->operation != &tess_lookup_op || is_aligned(&p->second[0]));
    const place where = (place)hostile_between(random, whole ? ON_DEVICE : HERE, random_chance(random, 30) ? IN_PIECES : HERE);
    const tess_status status = random_run(context, p, &in, &p->second[0].tensor, &expected.tensor, TESS_ENGINE_CPU, NULL);
    bool all = same(p, &expected, status, where, NULL, &taken);
    for (int r = 0; taken && r < p->operation->gpu_count; r++)
        if (tess_gpu_production(&p->operation->gpu_rows[r]))
            all &= same(p, &expected, status, where, p->operation->gpu_rows[r].name, &other);
    hostile_free(&expected);
    return all;
}

static void sweep(void **state) { random_sweep(*state, holds, gpu_test_in_part(engine) ? 25 : 35); }

/* The context's device, on which arrays are put: a card, or the virtual GPU's. */
static int enter(void **state) {
    const tess_driver *table;
    (void)state;
    most = engine == TESS_ENGINE_VIRTUAL ? 20000 : 1 << 22;
    if (gpu) /* since the first test */
        return tess_gpu_enter(gpu, gpu->devices, NULL, &scope);
    assert_tess_ok(tess_gpu_get(&gpu, context));
    if (engine == TESS_ENGINE_VIRTUAL)
        assert_tess_ok(tess_vgpu_driver(context, &table));
    assert_tess_ok(engine == TESS_ENGINE_VIRTUAL ? tess_gpu_open_table(gpu, table, "the virtual GPU") : tess_gpu_open(gpu));
    gpu->doubts_ptx = true; /* kernels are asked for an answer that is known (src/gpu/answer.c), on the virtual GPU too */
    assert_tess_ok(tess_gpu_enter(gpu, gpu->devices, NULL, &scope));
    return 0;
}
static int leave(void **state) {
    (void)state;
    tess_gpu_leave(&scope);
    return 0;
}

int main(void) {
    struct CMUnitTest tests[RANDOM_KINDS];
    random_tests(tests, sweep, enter, leave);
    return gpu_test_main(&context, &engine, tests, RANDOM_KINDS);
}

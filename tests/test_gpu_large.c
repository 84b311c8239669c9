/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_large.c - proves on a card: more than 2^32 elements are counted right, in grids, index arithmetic and sums; a tall and a wide matrix near
 * the limits of a grid. Every element is looked at (gpu_closed_form.h). Needs 16 GiB on the card; without a card the same is done with small arrays on the
 * virtual GPU, which proves that the looking works. */
#include "gpu_closed_form.h"
#include "vgpu/vgpu.h"

static tess_context *context;
static tess_gpu *gpu;
static tess_gpu_scope scope;
static closed_form_kernels kernels_there;
static CUdeviceptr in, out, few; /* two arrays of `room` bytes, one of 256 */
static int64_t room;

typedef struct sizes {
    int64_t vectors[2], odd[2], wide[2], tall[2], line;
} sizes;
static const sizes large = {{65552, 65568}, {65539, 65543}, {3, 1500000007}, {1500000007, 3}, ((int64_t)1 << 32) + 12345},
                   small = {{272, 288}, {259, 263}, {3, 30007}, {30007, 3}, (1 << 16) + 12345};
static const sizes *size = &large;

#define assert_cuda(entry, ...) assert_tess_ok(tess_gpu_check(gpu, gpu->driver.entry(__VA_ARGS__), #entry))

static DLTensor on_card(CUdeviceptr at, tess_type type, int ndim, const int64_t *shape) {
    DLTensor t = tess_view((void *)(uintptr_t)at, type, ndim, (int64_t *)(uintptr_t)shape, NULL); /* which is only read */
    t.device.device_type = kDLCUDA;
    return t;
}

static double part_began;
static int begin_part(void **state) {
    (void)state;
    part_began = tess_seconds();
    return 0;
}
static int end_part(void **state) {
    (void)state;
    printf("note: %.1f s\n", tess_seconds() - part_began);
    return 0;
}

static void transposed_on_card(const int64_t shape[2]) {
    const wanted w = {VALUE, shape[0], shape[1], 0}, turned = {TRANSPOSED, shape[0], shape[1], 0};
    const int64_t n = shape[0] * shape[1], out_shape[] = {shape[1], shape[0]};
    closed_form_fill(&kernels_there, in, w, n);
    assert_cuda(cuMemsetD8Async, out, 0xa5, (size_t)n, NULL);
    DLTensor from = on_card(in, tess_u8, 2, shape), to = on_card(out, tess_u8, 2, out_shape);
    assert_tess_ok(tess_transpose(context, &from, &to, NULL));
    closed_form_check(&kernels_there, out, turned, n, "transpose");
}

static void more_than_four_gi_transposed(void **state) {
    (void)state;
    transposed_on_card(size->vectors);
    transposed_on_card(size->odd);
    transposed_on_card(size->wide);
    transposed_on_card(size->tall);
}

static void more_than_four_gi_summed(void **state) {
    (void)state;
    const int64_t n = size->line, shape[] = {n};
    uint64_t sum = 0;
    assert_cuda(cuMemsetD8Async, in, 3, (size_t)n, NULL);
    assert_cuda(cuMemsetD8Async, in + (CUdeviceptr)n - 1, 200, 1, NULL);
    DLTensor from = on_card(in, tess_u8, 1, shape), to = on_card(few, tess_u64, 0, NULL), place = on_card(few, tess_i64, 0, NULL);
    assert_tess_ok(tess_reduce(context, TESS_SUM, &from, &to, NULL));
    assert_cuda(cuMemcpyDtoHAsync, &sum, few, sizeof sum, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    assert_int_equal(sum, 3 * (uint64_t)(n - 1) + 200);
    assert_tess_ok(tess_reduce(context, TESS_ARGMAX, &from, &place, NULL));
    assert_cuda(cuMemcpyDtoHAsync, &sum, few, sizeof sum, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    assert_int_equal(sum, n - 1);
}

static void correlates(int64_t rows, int64_t columns, const char *row) {
    signed char weights[9];
    const wanted w = {CORRELATED, rows, columns, 0};
    int64_t mask_shape[] = {3, 3}, nine[] = {9};
    const int64_t shape[] = {rows, columns}, n = rows * columns;
    const bool line = rows == 1;
    for (int t = 0; t < 9; t++)
        weights[t] = (signed char)weight(t);
    DLTensor from = on_card(in, tess_u8, line ? 1 : 2, line ? shape + 1 : shape), to = on_card(out, tess_u8, line ? 1 : 2, line ? shape + 1 : shape);
    DLTensor mask = tess_view(weights, tess_i8, line ? 1 : 2, line ? nine : mask_shape, NULL);
    tess_correlate_options options = {.struct_size = sizeof options, .call = {.strategy = row}};
    assert_cuda(cuMemsetD8Async, out, 0xa5, (size_t)n, NULL);
    assert_tess_ok(tess_correlate(context, &from, &mask, &to, &options));
    closed_form_check(&kernels_there, out, w, n, row ? row : "correlate");
}

static void more_than_four_gi_correlated(void **state) {
    (void)state;
    closed_form_fill(&kernels_there, in, (wanted){VALUE, 1, room, 0}, room);
    correlates(size->vectors[0], size->vectors[1], NULL);
    correlates(size->odd[0], size->odd[1], NULL);
    correlates(size->wide[0], size->wide[1], NULL);
    correlates(size->tall[0], size->tall[1], NULL);
    correlates(1, size->line, NULL);
    correlates(size->odd[0], size->odd[1], "correlate/general");
}

/* Entry 255 - v for index v, more than 2^32 of them. The last index is then bad, which every row must find. */
static void more_than_four_gi_looked_up(void **state) {
    static const char *const rows[] = {NULL, "lookup/vectors", "lookup/elements", "lookup/slice_vectors"};
    const int64_t n = size->line, shape[] = {n}, entries[] = {256}, fewer[] = {250};
    const wanted indices = {VALUE, 1, n, 250}, found = {LOOKED_UP, 1, n, 250};
    unsigned char table[256], answers[3];
    char says[128];
    (void)state;
    snprintf(says, sizeof says, "index[%lld] is 251, axis 0 of the table has the entries 0..249", (long long)n - 1);
    for (int k = 0; k < 256; k++)
        table[k] = (unsigned char)(255 - k);
    closed_form_fill(&kernels_there, in, indices, n);
    DLTensor by = on_card(in, tess_u8, 1, shape), to = on_card(out, tess_u8, 1, shape);
    for (int r = 0; r < TESS_COUNT(rows); r++) {
        DLTensor all = on_card(few, tess_u8, 1, entries), some = on_card(few, tess_u8, 1, fewer);
        tess_lookup_options options = {.struct_size = sizeof options, .call = {.strategy = rows[r]}};
        assert_cuda(cuMemcpyHtoDAsync, few, table, sizeof table, NULL);
        assert_cuda(cuMemsetD8Async, out, 0xa5, (size_t)n, NULL);
        assert_tess_ok(tess_lookup(context, &all, &by, &to, &options));
        closed_form_check(&kernels_there, out, found, n, rows[r] ? rows[r] : "lookup");
        assert_cuda(cuMemsetD8Async, in + (CUdeviceptr)n - 1, 251, 1, NULL);
        assert_tess_fails(tess_lookup(context, &some, &by, &to, &options), TESS_ERR_INDEX);
        assert_string_equal(tess_detail(), says);
        assert_cuda(cuMemsetD8Async, in + (CUdeviceptr)n - 1, closed_form(indices, n - 1), 1, NULL);
    }
    /* The array as a table of more than 2^32 entries. */
    const int64_t three[] = {3}, wanted_entries[] = {n - 1, 0, n - 12345};
    assert_cuda(cuMemcpyHtoDAsync, out, wanted_entries, sizeof wanted_entries, NULL);
    DLTensor all = on_card(in, tess_u8, 1, shape), asked = on_card(out, tess_i64, 1, three), answer = on_card(few, tess_u8, 1, three);
    assert_tess_ok(tess_lookup(context, &all, &asked, &answer, NULL));
    assert_cuda(cuMemcpyDtoHAsync, answers, few, sizeof answers, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    for (int k = 0; k < 3; k++)
        assert_int_equal(answers[k], closed_form(indices, wanted_entries[k]));
}

/* A card, else the virtual GPU as the driver; false: neither. */
static bool open_device(void) {
    const tess_driver *table;
    if (tess_open(&context, NULL) != TESS_OK || tess_gpu_get(&gpu, context) != TESS_OK)
        return false;
    if (gpu_test_engine() == TESS_ENGINE_CUDA)
        return tess_gpu_open(gpu) == TESS_OK;
    size = &small;
    return gpu_test_compiler() && tess_vgpu_driver(context, &table) == TESS_OK && tess_gpu_open_table(gpu, table, "the virtual GPU") == TESS_OK;
}

#define PART(name) cmocka_unit_test_setup_teardown(name, begin_part, end_part)

int main(void) {
    const struct CMUnitTest tests[] = {PART(more_than_four_gi_transposed), PART(more_than_four_gi_summed), PART(more_than_four_gi_correlated),
                                       PART(more_than_four_gi_looked_up)};
    if (!open_device()) {
        printf("%s\n", tess_detail());
        tess_close(context);
        return 77;
    }
    if (size == &large && gpu->devices[0].memory < (size_t)16 << 30) {
        printf("%s has less than 16 GiB\n", gpu->devices[0].name);
        tess_close(context);
        return 77;
    }
    room = tess_max64(size->tall[0] * size->tall[1], tess_max64(size->line, size->vectors[0] * size->vectors[1]));
    bool made = tess_gpu_enter(gpu, &gpu->devices[0], NULL, &scope) == TESS_OK && gpu->driver.cuMemAlloc(&in, (size_t)room) == CUDA_SUCCESS &&
                gpu->driver.cuMemAlloc(&out, (size_t)room) == CUDA_SUCCESS && gpu->driver.cuMemAlloc(&few, 256) == CUDA_SUCCESS;
    int failed = 1;
    if (made) {
        closed_form_open(&kernels_there, &scope);
        failed = cmocka_run_group_tests(tests, NULL, NULL);
        closed_form_close(&kernels_there);
    }
    const CUdeviceptr memory[] = {in, out, few};
    for (int i = 0; i < TESS_COUNT(memory); i++)
        if (memory[i])
            gpu->driver.cuMemFree(memory[i]);
    tess_gpu_leave(&scope);
    tess_close(context);
    return failed;
}

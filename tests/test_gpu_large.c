/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_large.c - proves on a card: more than 2^32 elements are counted right, in grids, index arithmetic and sums; a tall and a wide matrix near
 * the limits of a grid. Needs 16 GiB on the card and as much here; skipped without a card. */
#include "gpu_rows.h"

static tess_context *context;
static tess_gpu *gpu;
static tess_gpu_scope scope;

#define assert_cuda(entry, ...) assert_tess_ok(tess_gpu_check(gpu, gpu->driver.entry(__VA_ARGS__), #entry))

static DLTensor on_card(CUdeviceptr at, tess_type type, int ndim, int64_t *shape) {
    DLTensor t = tess_view((void *)(uintptr_t)at, type, ndim, shape, NULL);
    t.device.device_type = kDLCUDA;
    return t;
}

static unsigned char value(int64_t i) { return (unsigned char)((uint64_t)i * 0x9e3779b97f4a7c15u >> 56); }

static void transposed(int64_t rows, int64_t columns) {
    int64_t n = rows * columns, in_shape[] = {rows, columns}, out_shape[] = {columns, rows};
    unsigned char *host = malloc((size_t)n);
    CUdeviceptr in, out;
    assert_non_null(host);
    for (int64_t i = 0; i < n; i++)
        host[i] = value(i);
    assert_cuda(cuMemAlloc, &in, (size_t)n);
    assert_cuda(cuMemAlloc, &out, (size_t)n);
    assert_cuda(cuMemcpyHtoDAsync, in, host, (size_t)n, NULL);
    DLTensor from = on_card(in, tess_u8, 2, in_shape), to = on_card(out, tess_u8, 2, out_shape);
    assert_tess_ok(tess_transpose(context, &from, &to, NULL));
    assert_cuda(cuMemcpyDtoHAsync, host, out, (size_t)n, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++)
            if (host[c * rows + r] != value(r * columns + c))
                fail_msg("%lld x %lld: element %lld, %lld", (long long)rows, (long long)columns, (long long)c, (long long)r);
    assert_cuda(cuMemFree, in);
    assert_cuda(cuMemFree, out);
    free(host);
}

static void more_than_four_gi_transposed(void **state) {
    (void)state;
    transposed(65552, 65568);  /* vectors */
    transposed(65539, 65543);  /* odd */
    transposed(3, 1500000007); /* wide */
    transposed(1500000007, 3); /* tall */
}

static void more_than_four_gi_summed(void **state) {
    (void)state;
    int64_t n = ((int64_t)1 << 32) + 12345, shape[] = {n};
    CUdeviceptr in, out;
    uint64_t sum = 0;
    assert_cuda(cuMemAlloc, &in, (size_t)n);
    assert_cuda(cuMemAlloc, &out, 256);
    assert_cuda(cuMemsetD8Async, in, 3, (size_t)n, NULL);
    assert_cuda(cuMemsetD8Async, in + (CUdeviceptr)n - 1, 200, 1, NULL);
    DLTensor from = on_card(in, tess_u8, 1, shape), to = on_card(out, tess_u64, 0, NULL), place = on_card(out, tess_i64, 0, NULL);
    assert_tess_ok(tess_reduce(context, TESS_SUM, &from, &to, NULL));
    assert_cuda(cuMemcpyDtoHAsync, &sum, out, sizeof sum, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    assert_int_equal(sum, 3 * (uint64_t)(n - 1) + 200);
    assert_tess_ok(tess_reduce(context, TESS_ARGMAX, &from, &place, NULL));
    assert_cuda(cuMemcpyDtoHAsync, &sum, out, sizeof sum, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    assert_int_equal(sum, n - 1);
    assert_cuda(cuMemFree, in);
    assert_cuda(cuMemFree, out);
}

/* What a 3 x 3 mask, or one of 9 taps along a single row, makes of rows x columns values. */
static unsigned char correlated(const signed char *weights, int64_t rows, int64_t columns, int64_t i) {
    int64_t y = i / columns, x = i % columns, sum = 0;
    for (int t = 0; t < 9; t++) {
        int64_t v = rows == 1 ? 0 : y - 1 + t / 3, u = rows == 1 ? x - 4 + t : x - 1 + t % 3;
        if (v >= 0 && v < rows && u >= 0 && u < columns)
            sum += weights[t] * value(v * columns + u);
    }
    return (unsigned char)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

/* Compared in pieces from the first element to the last. */
static void correlates(CUdeviceptr in, CUdeviceptr out, int64_t rows, int64_t columns, const char *row) {
    enum { PIECES = 1000, PIECE = 4096 };
    signed char weights[9] = {1, -2, 1, 0, 3, -1, 1, 0, -2};
    unsigned char found[PIECE];
    int64_t shape[] = {rows, columns}, mask_shape[] = {3, 3}, nine[] = {9}, n = rows * columns;
    bool line = rows == 1;
    DLTensor from = on_card(in, tess_u8, line ? 1 : 2, line ? shape + 1 : shape), to = on_card(out, tess_u8, line ? 1 : 2, line ? shape + 1 : shape);
    DLTensor mask = tess_view(weights, tess_i8, line ? 1 : 2, line ? nine : mask_shape, NULL);
    tess_correlate_options options = {.struct_size = sizeof options, .call = {.strategy = row}};
    assert_cuda(cuMemsetD8Async, out, 0xa5, (size_t)n, NULL);
    assert_tess_ok(tess_correlate(context, &from, &mask, &to, &options));
    for (int p = 0; p <= PIECES; p++) {
        int64_t first = (n - PIECE) / PIECES * p + (p == PIECES ? (n - PIECE) % PIECES : 0);
        assert_cuda(cuMemcpyDtoHAsync, found, out + (CUdeviceptr)first, PIECE, NULL);
        assert_cuda(cuStreamSynchronize, NULL);
        for (int k = 0; k < PIECE; k++)
            if (found[k] != correlated(weights, rows, columns, first + k))
                fail_msg("%lld x %lld, %s: element %lld", (long long)rows, (long long)columns, row ? row : "the chosen row", (long long)(first + k));
    }
}

static void more_than_four_gi_correlated(void **state) {
    (void)state;
    int64_t n = (int64_t)3 * 1500000007;
    unsigned char *host = malloc((size_t)n);
    CUdeviceptr in, out;
    assert_non_null(host);
    for (int64_t i = 0; i < n; i++)
        host[i] = value(i);
    assert_cuda(cuMemAlloc, &in, (size_t)n);
    assert_cuda(cuMemAlloc, &out, (size_t)n);
    assert_cuda(cuMemcpyHtoDAsync, in, host, (size_t)n, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    free(host);
    correlates(in, out, 65552, 65568, NULL);  /* vectors */
    correlates(in, out, 65539, 65543, NULL);  /* odd */
    correlates(in, out, 3, 1500000007, NULL); /* wide */
    correlates(in, out, 1500000007, 3, NULL); /* tall */
    correlates(in, out, 1, ((int64_t)1 << 32) + 12345, NULL);
    correlates(in, out, 65539, 65543, "correlate/general");
    assert_cuda(cuMemFree, in);
    assert_cuda(cuMemFree, out);
}

/* Entry 255 - v for index v, more than 2^32 of them; pieces as above. The last index is then bad, which every row must find. */
static void more_than_four_gi_looked_up(void **state) {
    enum { PIECES = 1000, PIECE = 4096 };
    static const char *const rows[] = {NULL, "lookup/vectors", "lookup/elements", "lookup/slice_vectors"};
    (void)state;
    int64_t n = ((int64_t)1 << 32) + 12345, shape[] = {n}, entries[] = {256}, fewer[] = {250};
    unsigned char *host = malloc((size_t)n), table[256], found[PIECE];
    CUdeviceptr index, out, on_device;
    assert_non_null(host);
    for (int64_t i = 0; i < n; i++)
        host[i] = value(i) % 250;
    for (int k = 0; k < 256; k++)
        table[k] = (unsigned char)(255 - k);
    assert_cuda(cuMemAlloc, &index, (size_t)n);
    assert_cuda(cuMemAlloc, &out, (size_t)n);
    assert_cuda(cuMemAlloc, &on_device, 256);
    assert_cuda(cuMemcpyHtoDAsync, index, host, (size_t)n, NULL);
    assert_cuda(cuMemcpyHtoDAsync, on_device, table, 256, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    DLTensor by = on_card(index, tess_u8, 1, shape), to = on_card(out, tess_u8, 1, shape);
    for (int r = 0; r < TESS_COUNT(rows); r++) {
        DLTensor all = on_card(on_device, tess_u8, 1, entries), some = on_card(on_device, tess_u8, 1, fewer);
        tess_lookup_options options = {.struct_size = sizeof options, .call = {.strategy = rows[r]}};
        assert_cuda(cuMemsetD8Async, out, 0xa5, (size_t)n, NULL);
        assert_tess_ok(tess_lookup(context, &all, &by, &to, &options));
        for (int p = 0; p <= PIECES; p++) {
            int64_t first = (n - PIECE) / PIECES * p + (p == PIECES ? (n - PIECE) % PIECES : 0);
            assert_cuda(cuMemcpyDtoHAsync, found, out + (CUdeviceptr)first, PIECE, NULL);
            assert_cuda(cuStreamSynchronize, NULL);
            for (int k = 0; k < PIECE; k++)
                if (found[k] != 255 - host[first + k])
                    fail_msg("%s: element %lld", rows[r] ? rows[r] : "the chosen row", (long long)(first + k));
        }
        assert_cuda(cuMemsetD8Async, index + (CUdeviceptr)n - 1, 251, 1, NULL);
        assert_tess_fails(tess_lookup(context, &some, &by, &to, &options), TESS_ERR_INDEX);
        assert_string_equal(tess_detail(), "index[4294979640] is 251, axis 0 of the table has the entries 0..249");
        assert_cuda(cuMemsetD8Async, index + (CUdeviceptr)n - 1, host[n - 1], 1, NULL);
    }
    /* The array as a table of more than 2^32 entries. */
    int64_t few[] = {3}, wanted[] = {n - 1, 0, (int64_t)1 << 32};
    assert_cuda(cuMemcpyHtoDAsync, out, wanted, sizeof wanted, NULL);
    DLTensor all = on_card(index, tess_u8, 1, shape), three = on_card(out, tess_i64, 1, few), answer = on_card(on_device, tess_u8, 1, few);
    assert_tess_ok(tess_lookup(context, &all, &three, &answer, NULL));
    assert_cuda(cuMemcpyDtoHAsync, found, on_device, 3, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    assert_true(found[0] == host[n - 1] && found[1] == host[0] && found[2] == host[(int64_t)1 << 32]);
    assert_cuda(cuMemFree, index);
    assert_cuda(cuMemFree, out);
    assert_cuda(cuMemFree, on_device);
    free(host);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(more_than_four_gi_transposed), cmocka_unit_test(more_than_four_gi_summed),
                                       cmocka_unit_test(more_than_four_gi_correlated), cmocka_unit_test(more_than_four_gi_looked_up)};
    bool there = tess_open(&context, NULL) == TESS_OK && tess_gpu_get(&gpu, context) == TESS_OK && tess_gpu_open(gpu) == TESS_OK;
    if (!there) {
        printf("%s\n", tess_detail());
        tess_close(context);
        return 77;
    }
    if (gpu->devices[0].memory < (size_t)16 << 30) {
        printf("%s has less than 16 GiB\n", gpu->devices[0].name);
        tess_close(context);
        return 77;
    }
    int failed = tess_gpu_enter(gpu, &gpu->devices[0], NULL, &scope) != TESS_OK || cmocka_run_group_tests(tests, NULL, NULL);
    tess_gpu_leave(&scope);
    tess_close(context);
    return failed;
}

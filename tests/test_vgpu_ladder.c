/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_ladder.c - the rungs of the ladder run on the virtual GPU in both dialects of PTX, give what a host computation gives, trip no checker,
 * and count what the formulas say. */
#include <math.h>

#include "vgpu.h"

static float float_of(uint64_t *random) { return (float)hostile_between(random, -1000, 1000) / 64; }

static void begin(vgpu_bench *b, const char *topic, const char *dialect) {
    char name[64];
    snprintf(name, sizeof name, "%s.%s.ptx", topic, dialect);
    vgpu_begin_file(b, name, TESS_ISA_AUTO, 2);
}

/* ---- correlate ---- */

static void correlate(const char *kernel, const char *dialect, int n, int width) {
    vgpu_bench b;
    uint64_t random = 1;
    float *in = malloc((size_t)n * 4), mask[63], *out = malloc((size_t)n * 4);
    begin(&b, "correlate", dialect);
    for (int i = 0; i < n; i++)
        in[i] = float_of(&random);
    for (int i = 0; i < width; i++)
        mask[i] = float_of(&random);
    assert_tess_ok(tess_vgpu_symbol_write(b.module, "mask_constant", 0, mask, width * 4));
    uint64_t in_at = vgpu_array(&b, in, n * 4), mask_at = vgpu_array(&b, mask, width * 4), out_at = vgpu_array(&b, NULL, n * 4);
    VGPU_PARAM(&b, uint64_t, in_at);
    bool global = strcmp(kernel, "correlate_global") == 0, tile = strcmp(kernel, "correlate_tile") == 0;
    if (global)
        VGPU_PARAM(&b, uint64_t, mask_at);
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, int32_t, width);
    VGPU_PARAM(&b, int32_t, n);
    vgpu_launch(&b, kernel, (tess_vgpu_launch_options){.grid = {(uint32_t)(n + 127) / 128}, .block = {128}, .count = true, .check = true});
    vgpu_no_faults(&b);
    vgpu_fetch(&b, out, out_at, n * 4);
    uint64_t taps = 0;
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < width; j++) {
            int k = i - width / 2 + j;
            if (k >= 0 && k < n) {
                sum = fmaf(in[k], mask[j], sum);
                taps++;
            }
        }
        assert_memory_equal(&sum, &out[i], 4);
    }
    if (tile) { /* the tile computes ghost cells and lanes past the end too */
        uint64_t blocks = (uint64_t)(n + 127) / 128;
        assert_int_equal(b.total.flops_f32, 2 * blocks * 128 * (uint64_t)width);
        assert_int_equal(b.total.shared_ld_conflicts, 0);
        assert_int_equal(b.total.constant_requests, 4 * blocks * (uint64_t)width); /* a warp a tap: a broadcast */
    } else {
        assert_int_equal(b.total.flops_f32, 2 * taps);
        assert_int_equal(b.total.shared_ld_requests, 0);
    }
    assert_int_equal(b.total.global_st_requests, (uint64_t)(n + 31) / 32);
    assert_int_equal(b.total.global_st_sectors, (uint64_t)(n * 4 + 31) / 32);
    vgpu_end(&b);
    free(in);
    free(out);
}
static void test_correlate(void **state) {
    (void)state;
    static const char *const kernels[] = {"correlate_global", "correlate_constant", "correlate_tile"};
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 3; k++) {
            correlate(kernels[k], vgpu_dialects[d], 1000, 5);
            correlate(kernels[k], vgpu_dialects[d], 128, 63);
            correlate(kernels[k], vgpu_dialects[d], 1, 1);
        }
}

/* ---- banks ---- */

static int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }

static void test_bank_stride(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++)
        for (int bytes = 4; bytes <= 16; bytes *= 2)
            for (int stride = 1; stride <= 33; stride++) {
                vgpu_bench b;
                char kernel[32], got[512];
                begin(&b, "banks", vgpu_dialects[d]);
                snprintf(kernel, sizeof kernel, "bank_stride_%d", bytes);
                uint64_t out = vgpu_array(&b, NULL, 32 * bytes);
                VGPU_PARAM(&b, uint64_t, out);
                VGPU_PARAM(&b, int32_t, stride);
                vgpu_launch(&b, kernel, (tess_vgpu_launch_options){.block = {32}, .shared_bytes = 32 * 33 * bytes, .count = true, .check = true});
                vgpu_no_faults(&b);
                vgpu_fetch(&b, got, out, 32 * bytes);
                for (int l = 0; l < 32; l++) {
                    float f = (float)l;
                    double g = l;
                    assert_memory_equal(got + l * bytes, bytes == 8 ? (void *)&g : (void *)&f, bytes == 8 ? 8 : 4);
                }
                /* A phase has 128 / bytes lanes; lane k of it begins at word k * stride * (bytes / 4): of 32 banks, 32 / gcd(step, 32) places are
                 * hit; an access covers bytes / 4 banks and the places are that far apart at least, so lanes / places meet. */
                int lanes = 128 / bytes, step = stride * (bytes / 4), places = 32 / gcd(step, 32), phases = 32 / lanes;
                int degree = (lanes + places - 1) / places;
                assert_int_equal(b.total.shared_ld_wavefronts, phases * degree);
                assert_int_equal(b.total.shared_st_wavefronts, phases * degree);
                assert_int_equal(b.total.shared_ld_conflicts, phases * (degree - 1));
                assert_int_equal(b.total.global_st_sectors, bytes);
                vgpu_end(&b);
            }
}

static void test_bank_column(void **state) {
    (void)state;
    static const char *const kernels[] = {"bank_column", "bank_column_pad", "bank_column_swizzle"};
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 3; k++) {
            vgpu_bench b;
            int32_t got[32];
            begin(&b, "banks", vgpu_dialects[d]);
            uint64_t out = vgpu_array(&b, NULL, sizeof got);
            VGPU_PARAM(&b, uint64_t, out);
            vgpu_launch(&b, kernels[k], (tess_vgpu_launch_options){.block = {32}, .count = true, .check = true});
            vgpu_no_faults(&b);
            vgpu_fetch(&b, got, out, sizeof got);
            for (int l = 0; l < 32; l++)
                assert_int_equal(got[l], 32 * l + 5);
            assert_int_equal(b.total.shared_ld_wavefronts, k == 0 ? 32 : 1);
            assert_int_equal(b.total.shared_ld_conflicts, k == 0 ? 31 : 0);
            assert_int_equal(b.total.shared_st_wavefronts, 32);
            vgpu_end(&b);
        }
}

/* ---- transpose ---- */

static void transpose(const char *kernel, const char *dialect, int rows, int cols, tess_vgpu_counters *total) {
    vgpu_bench b;
    size_t bytes = (size_t)rows * (size_t)cols * 4;
    float *in = malloc(bytes), *out = malloc(bytes);
    uint64_t random = 2;
    bool copy = strcmp(kernel, "transpose_copy") == 0;
    begin(&b, "transpose", dialect);
    for (int i = 0; i < rows * cols; i++)
        in[i] = float_of(&random);
    uint64_t in_at = vgpu_array(&b, in, (int64_t)bytes), out_at = vgpu_array(&b, NULL, (int64_t)bytes);
    bool by_output = strcmp(kernel, "transpose_naive_write") == 0;
    uint32_t x = (uint32_t)((by_output ? rows : cols) + 31) / 32, y = (uint32_t)((by_output ? cols : rows) + 31) / 32;
    VGPU_PARAM(&b, uint64_t, in_at);
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, int32_t, rows);
    VGPU_PARAM(&b, int32_t, cols);
    vgpu_launch(&b, kernel, (tess_vgpu_launch_options){.grid = {x, y}, .block = {32, 8}, .count = true, .check = true});
    vgpu_no_faults(&b);
    vgpu_fetch(&b, out, out_at, (int64_t)bytes);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            assert_memory_equal(&in[i * cols + j], copy ? &out[i * cols + j] : &out[j * rows + i], 4);
    *total = b.total;
    vgpu_end(&b);
    free(in);
    free(out);
}
static void test_transpose(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        const char *dialect = vgpu_dialects[d];
        tess_vgpu_counters c;
        uint64_t requests = 128 * 96 / 32;
        transpose("transpose_copy", dialect, 96, 128, &c);
        assert_int_equal(c.global_ld_requests, requests);
        assert_int_equal(c.global_ld_sectors, 4 * requests);
        assert_int_equal(c.global_st_sectors, 4 * requests);
        transpose("transpose_naive_read", dialect, 96, 128, &c);
        assert_int_equal(c.global_ld_sectors, 4 * requests);
        assert_int_equal(c.global_st_sectors, 32 * requests);
        transpose("transpose_naive_write", dialect, 96, 128, &c);
        assert_int_equal(c.global_ld_sectors, 32 * requests);
        assert_int_equal(c.global_st_sectors, 4 * requests);
        transpose("transpose_tile", dialect, 96, 128, &c);
        assert_int_equal(c.global_ld_sectors, 4 * requests);
        assert_int_equal(c.global_st_sectors, 4 * requests);
        assert_int_equal(c.shared_ld_wavefronts, 32 * requests);
        assert_int_equal(c.shared_ld_conflicts, 31 * requests);
        assert_int_equal(c.shared_st_wavefronts, requests);
        transpose("transpose_tile_pad", dialect, 96, 128, &c);
        assert_int_equal(c.shared_ld_wavefronts, requests);
        assert_int_equal(c.shared_ld_conflicts, 0);
        static const char *const all[] = {"transpose_copy", "transpose_naive_read", "transpose_naive_write", "transpose_tile", "transpose_tile_pad"};
        for (int k = 0; k < 5; k++)
            transpose(all[k], dialect, 37, 71, &c);
    }
}

/* ---- reduce ---- */

static void reduce(const char *kernel, const char *dialect, int n, int64_t shared, tess_vgpu_counters *total) {
    vgpu_bench b;
    enum { BLOCK = 256 };
    int blocks = (n + BLOCK - 1) / BLOCK, *in = malloc((size_t)n * 4), *part = malloc((size_t)blocks * 4);
    uint64_t random = 3, want = 0, got = 0;
    begin(&b, "reduce", dialect);
    for (int i = 0; i < n; i++)
        want += (uint64_t)(in[i] = (int)hostile_between(&random, 0, 1000));
    memset(part, 0, (size_t)blocks * 4);
    uint64_t in_at = vgpu_array(&b, in, n * 4), part_at = vgpu_array(&b, part, blocks * 4);
    VGPU_PARAM(&b, uint64_t, in_at);
    VGPU_PARAM(&b, uint64_t, part_at);
    VGPU_PARAM(&b, int32_t, n);
    vgpu_launch(&b, kernel,
                (tess_vgpu_launch_options){.grid = {(uint32_t)blocks}, .block = {BLOCK}, .shared_bytes = shared, .count = true, .check = true});
    vgpu_no_faults(&b);
    vgpu_fetch(&b, part, part_at, blocks * 4);
    for (int i = 0; i < blocks; i++)
        got += (uint64_t)part[i];
    assert_int_equal(got, want);
    *total = b.total;
    vgpu_end(&b);
    free(in);
    free(part);
}
static void test_reduce(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        const char *dialect = vgpu_dialects[d];
        tess_vgpu_counters c;
        reduce("reduce_neighbored", dialect, 1024, 0, &c);
        assert_int_equal(c.barriers, 4 * 8 * 8); /* blocks, warps, steps */
        /* Steps with strides 1, 2, 4, 8, 16: all 8 warps take part, 2 loads and 1 store each; then 4, 2, 1 warps; then one load of the result. Lanes
         * lie 2 * stride apart: 256 / (2 * stride) bytes of sums in sectors of 32. */
        assert_int_equal(c.global_ld_requests, 4 * (2 * (5 * 8 + 4 + 2 + 1) + 1));
        assert_int_equal(c.global_st_requests, 4 * (5 * 8 + 4 + 2 + 1) + 4);
        reduce("reduce_interleaved", dialect, 1024, 0, &c);
        assert_int_equal(c.barriers, 4 * 8 * 8);
        /* 128, 64, 32 threads are 4, 2, 1 whole warps; 16 to 1 threads one warp each. */
        assert_int_equal(c.global_ld_requests, 4 * (2 * (4 + 2 + 1 + 5) + 1));
        assert_int_equal(c.global_ld_sectors, 4 * (2 * 4 * (4 + 2 + 1) + (2 + 2) + (1 + 1) + 3 * 2 + 1));
        reduce("reduce_shared", dialect, 1024, 1024, &c);
        assert_int_equal(c.shared_ld_conflicts + c.shared_st_conflicts, 0);
        assert_int_equal(c.global_ld_sectors, 1024 * 4 / 32);
        reduce("reduce_shuffle", dialect, 1024, 0, &c);
        assert_int_equal(c.warp_syncs, 4 * (8 + 1) * 5);
        assert_int_equal(c.shared_st_requests, 4 * 8);
        assert_int_equal(c.shared_ld_requests, 4);
        reduce("reduce_atomic", dialect, 1000, 0, &c);
        assert_int_equal(c.global_red_requests, 32);
        assert_int_equal(c.global_red_sectors, 1000); /* one address: the lanes go one after the other */
        assert_int_equal(c.global_atom_requests, 0);
        static const char *const all[] = {"reduce_neighbored", "reduce_interleaved", "reduce_shared", "reduce_shuffle", "reduce_atomic"};
        for (int k = 0; k < 5; k++) {
            reduce(all[k], dialect, 777, k == 2 ? 1024 : 0, &c);
            reduce(all[k], dialect, 1, k == 2 ? 1024 : 0, &c);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_correlate), cmocka_unit_test(test_bank_stride), cmocka_unit_test(test_bank_column),
                                       cmocka_unit_test(test_transpose), cmocka_unit_test(test_reduce)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

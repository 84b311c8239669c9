/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_device.c - what device code may do beyond plain kernels, in both dialects: printf, assert, malloc and free, calls through pointers and
 * tables of virtual functions, brx, waiting for the whole grid, ldmatrix and mma, bulk copies with mbarrier, vectors of 32 bytes, labels of inline
 * assembly; and the detectors that belong to them (heap, local and constant memory, races in global memory, leaks), each with a twin that is silent. */
#include <math.h>

#include "vgpu.h"

static vgpu_bench b;
static const char *dialect;

static void begin(void) {
    char name[64];
    snprintf(name, sizeof name, "device.%s.ptx", dialect);
    vgpu_begin_file(&b, name, TESS_ISA_AUTO, 3);
}
static void run(const char *kernel, uint32_t grid, uint32_t block) {
    vgpu_launch(&b, kernel, (tess_vgpu_launch_options){.grid = {grid}, .block = {block}, .count = true, .check = true, .step_limit = 1000000});
}
static void clean(const char *kernel, uint32_t grid, uint32_t block) {
    run(kernel, grid, block);
    vgpu_no_faults(&b);
}
static const tess_vgpu_fault *only(tess_vgpu_fault_kind kind) {
    const tess_vgpu_fault *f = tess_vgpu_fault_at(b.run, 0);
    if (!f)
        fail_msg("no fault where one was expected");
    for (int i = 0; i < tess_vgpu_fault_count(b.run); i++)
        if (tess_vgpu_fault_at(b.run, i)->kind != kind)
            fail_msg("another fault: %s", tess_vgpu_fault_at(b.run, i)->message);
    return f;
}

static void test_printf(void) {
    size_t length;
    bool cut;
    begin();
    VGPU_PARAM(&b, int32_t, 2);
    clean("say", 40, 64);
    char want[8192], *p = want;
    for (int k = 0; k < 40; k++)
        for (int t = 0; t < 2; t++)
            p += sprintf(p, "thread %d of block %d: %5.2f text %c 10000000000 %%\n", t, k, t * 0.5, 'a' + t);
    assert_string_equal(tess_vgpu_printed(b.run, &length, &cut), want);
    assert_int_equal(length, p - want);
    assert_false(cut);
    VGPU_PARAM(&b, int32_t, 0);
    clean("say", 1, 64);
    assert_string_equal(tess_vgpu_printed(b.run, &length, NULL), "");
    VGPU_PARAM(&b, int32_t, 1000);
    clean("say", 40, 1000);
    tess_vgpu_printed(b.run, &length, &cut);
    assert_true(cut);
    assert_int_equal(length, 1 << 20);
    vgpu_end(&b);
}

static void test_assert(void) {
    int in[64], out[64];
    for (int i = 0; i < 64; i++)
        in[i] = i;
    begin();
    uint64_t in_at = vgpu_array(&b, in, sizeof in), out_at = vgpu_array(&b, NULL, sizeof out);
    for (int limit = 64; limit >= 40; limit -= 24) {
        VGPU_PARAM(&b, uint64_t, in_at);
        VGPU_PARAM(&b, uint64_t, out_at);
        VGPU_PARAM(&b, int32_t, limit);
        run("check", 1, 64);
        if (limit == 64) {
            vgpu_no_faults(&b);
            continue;
        }
        const tess_vgpu_fault *f = only(TESS_VGPU_ASSERT);
        assert_int_equal(f->thread[0], 40);
        if (!strstr(f->message, "assertion `in[threadIdx.x] < limit' failed in void check(const int *, int *, int)") ||
            !strstr(f->message, "device.cu:"))
            fail_msg("%s", f->message);
    }
    vgpu_end(&b);
}

static void test_heap(void) {
    int out[64];
    tess_vgpu_leak leak;
    begin();
    uint64_t out_at = vgpu_array(&b, NULL, sizeof out), kept_at = vgpu_array(&b, NULL, 64 * 8);
    static const tess_vgpu_fault_kind kinds[] = {0, TESS_VGPU_OUT_OF_BOUNDS, TESS_VGPU_BAD_FREE};
    for (int bad = 0; bad < 3; bad++) {
        VGPU_PARAM(&b, uint64_t, 0);
        VGPU_PARAM(&b, uint64_t, out_at);
        VGPU_PARAM(&b, int32_t, bad);
        run("heap", 1, 64);
        if (bad) {
            assert_int_equal(only(kinds[bad])->count, 64);
            continue;
        }
        vgpu_no_faults(&b);
        vgpu_fetch(&b, out, out_at, sizeof out);
        for (int i = 0; i < 64; i++)
            assert_int_equal(out[i], i + 15);
    }
    assert_true(tess_vgpu_leak_at(b.machine, 1, &leak)); /* the test's own arrays */
    assert_int_equal(leak.address, kept_at);
    assert_false(leak.heap);
    assert_false(tess_vgpu_leak_at(b.machine, 2, &leak));
    VGPU_PARAM(&b, uint64_t, kept_at);
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, int32_t, 0);
    clean("heap", 1, 64);
    assert_true(tess_vgpu_leak_at(b.machine, 65, &leak));
    assert_true(leak.heap && leak.bytes == 64 && leak.thread == 63 && leak.line > 0);
    assert_false(tess_vgpu_leak_at(b.machine, 66, &leak));
    assert_int_equal(tess_vgpu_free(b.machine, out_at), TESS_OK);
    assert_tess_fails(tess_vgpu_free(b.machine, out_at), TESS_ERR_ARGUMENT); /* the host's double free */
    vgpu_end(&b);
}

static void test_pointers(void) {
    int out[96];
    float area[96];
    begin();
    uint64_t out_at = vgpu_array(&b, NULL, sizeof out), area_at = vgpu_array(&b, NULL, sizeof area);
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, int32_t, 3);
    clean("pointers", 1, 96);
    vgpu_fetch(&b, out, out_at, sizeof out);
    for (int i = 0; i < 96; i++)
        assert_int_equal(out[i], i % 3 == 0 ? 2 * i : i % 3 == 1 ? i * i : -i);
    VGPU_PARAM(&b, uint64_t, area_at);
    clean("virtuals", 1, 96);
    vgpu_fetch(&b, area, area_at, sizeof area);
    for (int i = 0; i < 96; i++)
        assert_true(area[i] == (float)((i & 1 ? 1 : 3) * i * i));
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, int32_t, 4); /* one past the table */
    run("pointers", 1, 96);
    assert_int_equal(only(TESS_VGPU_OUT_OF_BOUNDS)->thread[0], 3);
    vgpu_end(&b);
}

static void test_grid(void) {
    enum { BLOCKS = 37, THREADS = 64, N = BLOCKS * THREADS };
    static int data[N], out[N];
    begin();
    for (int again = 0; again < 2; again++) {
        uint64_t data_at = vgpu_array(&b, NULL, sizeof data), out_at = vgpu_array(&b, NULL, sizeof out);
        VGPU_PARAM(&b, uint64_t, data_at);
        VGPU_PARAM(&b, uint64_t, out_at);
        clean("grid_wide", BLOCKS, THREADS);
        vgpu_fetch(&b, data, data_at, sizeof data);
        vgpu_fetch(&b, out, out_at, sizeof out);
        for (int i = 0; i < N; i++) {
            assert_int_equal(out[i], (N - 1 - i) * 3);
            assert_int_equal(data[i], i * 3);
        }
    }
    assert_int_equal(b.total.barriers, (uint64_t)BLOCKS * 2 * 4);
    VGPU_PARAM(&b, uint64_t, 0);
    VGPU_PARAM(&b, uint64_t, 0);
    tess_vgpu_launch_options too_many = {.grid = {132 * 32 + 1}, .block = {32}, .params = b.params, .param_bytes = b.param_bytes};
    tess_vgpu_run *r;
    assert_tess_fails(tess_vgpu_launch(b.module, "grid_wide", &too_many, &r), TESS_ERR_ARGUMENT);
    b.param_bytes = 0;
    vgpu_end(&b);
}

/* Fragments as the PTX manual lays them out, written down a second time: a row-major 16 x 16, b 16 x 8. */
static void test_matrix(void) {
    int a[16][16], right[16][8];
    uint32_t a_in[128], b_in[64];
    float c_in[128], d_out[128];
    uint16_t tiles[256];
    uint32_t parts[128];
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 16; k++) {
            a[i][k] = (i * 5 + k * 3) % 17 - 8;
            if (i < 8)
                right[k][i] = (i * 7 + k) % 13 - 6;
        }
    for (int l = 0; l < 32; l++) {
        int g = l >> 2, t = 2 * (l & 3);
        int rows[4] = {g, g + 8, g, g + 8}, columns[4] = {t, t, t + 8, t + 8};
        for (int i = 0; i < 4; i++)
            a_in[4 * l + i] = vgpu_half_of(a[rows[i]][columns[i]]) | (uint32_t)vgpu_half_of(a[rows[i]][columns[i] + 1]) << 16;
        for (int i = 0; i < 2; i++)
            b_in[2 * l + i] = vgpu_half_of(right[t + 8 * i][g]) | (uint32_t)vgpu_half_of(right[t + 8 * i + 1][g]) << 16;
        for (int i = 0; i < 4; i++)
            c_in[4 * l + i] = (float)(l - i);
    }
    begin();
    uint64_t at[4] = {vgpu_array(&b, a_in, sizeof a_in), vgpu_array(&b, b_in, sizeof b_in), vgpu_array(&b, c_in, sizeof c_in),
                      vgpu_array(&b, NULL, sizeof d_out)};
    for (int i = 0; i < 4; i++)
        VGPU_PARAM(&b, uint64_t, at[i]);
    clean("mma_f16", 1, 32);
    vgpu_fetch(&b, d_out, at[3], sizeof d_out);
    assert_int_equal(b.total.flops_f16, 2 * 16 * 8 * 16);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 4; i++) {
            int row = (l >> 2) + (i > 1 ? 8 : 0), column = 2 * (l & 3) + (i & 1), sum = 0;
            for (int k = 0; k < 16; k++)
                sum += a[row][k] * right[k][column];
            assert_true(d_out[4 * l + i] == (float)(l - i) + (float)sum / 4);
        }
    for (int i = 0; i < 4; i++)
        VGPU_PARAM(&b, uint64_t, at[i]);
    run("mma_f16", 1, 31);
    only(TESS_VGPU_MISSING_LANES);
    for (int i = 0; i < 256; i++)
        tiles[i] = (uint16_t)(i * 3);
    uint64_t tiles_at = vgpu_array(&b, tiles, sizeof tiles), parts_at = vgpu_array(&b, NULL, sizeof parts);
    for (int transposed = 0; transposed < 2; transposed++) {
        VGPU_PARAM(&b, uint64_t, tiles_at);
        VGPU_PARAM(&b, uint64_t, parts_at);
        VGPU_PARAM(&b, int32_t, transposed);
        clean("matrix_load", 1, 32);
        vgpu_fetch(&b, parts, parts_at, sizeof parts);
        for (int l = 0; l < 32; l++)
            for (int m = 0; m < 4; m++)
                for (int j = 0; j < 2; j++) {
                    int row = transposed ? 2 * (l & 3) + j : l >> 2, column = transposed ? l >> 2 : 2 * (l & 3) + j;
                    assert_int_equal(parts[4 * l + m] >> 16 * j & 0xffff, tiles[64 * m + 8 * row + column]);
                }
    }
    vgpu_end(&b);
}

static void test_bulk(void) {
    enum { PIECES = 5, N = 256 * PIECES };
    static float in[N], out[N];
    begin();
    for (int i = 0; i < N; i++)
        in[i] = (float)i;
    uint64_t in_at = vgpu_array(&b, in, sizeof in), out_at = vgpu_array(&b, NULL, sizeof out);
    VGPU_PARAM(&b, uint64_t, in_at);
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, int32_t, PIECES);
    clean("bulk", 1, 256);
    vgpu_fetch(&b, out, out_at, sizeof out);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == 2 * in[i]);
    assert_int_equal(b.total.bulk_copies, 2 * PIECES);
    assert_int_equal(b.total.bulk_bytes, 2 * sizeof in);
    assert_int_equal(b.total.global_ld_requests, 0);
    VGPU_PARAM(&b, uint64_t, in_at);
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, int32_t, 1);
    run("bulk_early", 1, 256); /* warps that come before the copy read what nobody wrote, the others race with it */
    bool raced = false;
    for (int i = 0; i < tess_vgpu_fault_count(b.run); i++) {
        const tess_vgpu_fault *f = tess_vgpu_fault_at(b.run, i);
        assert_true(f->kind == TESS_VGPU_RACE || f->kind == TESS_VGPU_UNDEFINED);
        raced |= f->kind == TESS_VGPU_RACE && strstr(f->message, "without having waited for its mbarrier") && f->other_line > 0;
    }
    assert_true(raced);
    VGPU_PARAM(&b, uint64_t, in_at);
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, int32_t, PIECES + 1); /* past the end */
    run("bulk", 1, 256);
    assert_int_equal(tess_vgpu_fault_at(b.run, 0)->kind, TESS_VGPU_OUT_OF_BOUNDS);
    vgpu_end(&b);
}

static void test_reach(void) {
    int out[32];
    begin();
    uint64_t out_at = vgpu_array(&b, NULL, sizeof out);
    static const char *const kernels[] = {"local_reach", "constant_reach"};
    for (int k = 0; k < 2; k++)
        for (int at = 3; at <= 1 << 20; at += (1 << 20) - 3) {
            VGPU_PARAM(&b, uint64_t, out_at);
            VGPU_PARAM(&b, int32_t, at);
            run(kernels[k], 1, 32);
            if (at == 3)
                vgpu_no_faults(&b);
            else
                assert_int_equal(only(TESS_VGPU_OUT_OF_BOUNDS)->count, 32);
        }
    vgpu_end(&b);
}

static void race(const char *kernel, uint32_t grid, const uint64_t *at, int arrays, int wait, tess_vgpu_fault_kind expected) {
    for (int i = 0; i < arrays; i++)
        VGPU_PARAM(&b, uint64_t, at[i]);
    if (wait >= 0)
        VGPU_PARAM(&b, int32_t, wait);
    vgpu_launch(&b, kernel, (tess_vgpu_launch_options){.grid = {grid}, .block = {64}, .check = true, .check_global = true});
    if (expected == TESS_VGPU_GLOBAL_RACE)
        only(expected);
    else
        vgpu_no_faults(&b);
}

static void test_global_races(void) {
    begin();
    int zero[256] = {0};
    uint64_t at[3] = {vgpu_array(&b, zero, sizeof zero), vgpu_array(&b, zero, 4), vgpu_array(&b, zero, sizeof zero)};
    uint64_t two[2] = {at[0], at[2]};
    race("blocks_apart", 4, at, 1, -1, 0);
    race("blocks_meet", 4, at, 1, -1, TESS_VGPU_GLOBAL_RACE);
    assert_int_equal(tess_vgpu_fault_at(b.run, 0)->block[0], 1);
    race("blocks_meet", 1, at, 1, -1, 0);
    race("last_block", 4, at, 3, -1, 0);
    race("warps_meet", 1, two, 2, 0, TESS_VGPU_GLOBAL_RACE);
    race("warps_meet", 1, two, 2, 1, 0);
    vgpu_end(&b);
}

static void test_all(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        dialect = vgpu_dialects[d];
        test_printf();
        test_assert();
        test_heap();
        test_pointers();
        test_grid();
        test_matrix();
        test_bulk();
        test_reach();
        test_global_races();
    }
}

/* ---- by hand: what the compiler made of no source here ---- */

#define HEAD ".version 8.8\n.target sm_100\n.address_size 64\n"

static void test_by_hand(void **state) {
    (void)state;
    static const char text[] = HEAD ".visible .entry table(.param .u64 out, .param .u32 n)\n{\n"
                                    ".reg .b32 %r<8>; .reg .b64 %d<4>;\n"
                                    "ld.param.u64 %d1, [out]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; rem.u32 %r3, %r1, %r2;\n"
                                    "mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\n"
                                    "T: .branchtargets A, B, A, C;\n"
                                    "brx.idx %r3, T;\n"
                                    "A: mov.u32 %r4, 100; bra.uni END;\n"
                                    "B: mov.u32 %r4, 200; bra.uni END;\n"
                                    "C: mov.u32 %r4, 300;\n"
                                    "END: { bra.uni IN; IN: add.u32 %r4, %r4, 1; }\n"
                                    "{ bra.uni IN; add.u32 %r4, %r4, 50; IN: add.u32 %r4, %r4, 2; }\n"
                                    "st.global.u32 [%d1], %r4;\nret;\n}\n"
                                    ".visible .entry wide(.param .u64 in, .param .u64 out)\n{\n"
                                    ".reg .b32 %r<10>; .reg .b64 %d<10>;\n"
                                    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r9, %tid.x; mul.wide.u32 %d3, %r9, 32;\n"
                                    "add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\n"
                                    "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d1];\n"
                                    "st.global.v8.b32 [%d2], {%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1};\n"
                                    "ld.global.v4.b64 {%d4, %d5, %d6, %d7}, [%d1+2048];\n"
                                    "st.global.v4.b64 [%d2+2048], {%d7, %d6, %d5, %d4};\nret;\n}\n"
                                    ".visible .entry pairs(.param .u64 out, .param .u32 a, .param .u32 b)\n{\n"
                                    ".reg .b32 %r<8>; .reg .b64 %d<4>;\n"
                                    "ld.param.u64 %d1, [out]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];\n"
                                    "dp2a.lo.s32.u32 %r3, %r1, %r2, 7;\ndp2a.hi.s32.u32 %r4, %r1, %r2, 7;\n"
                                    "st.global.v2.u32 [%d1], {%r3, %r4};\nret;\n}\n";
    int got[64];
    vgpu_begin(&b, text, TESS_ISA_AUTO, 1);
    uint64_t out_at = vgpu_array(&b, NULL, 4096);
    for (int n = 3; n <= 5; n++) {
        VGPU_PARAM(&b, uint64_t, out_at);
        VGPU_PARAM(&b, int32_t, n);
        run("table", 1, 64);
        if (n == 5) {
            assert_int_equal(only(TESS_VGPU_OUT_OF_BOUNDS)->thread[0], 4);
            continue;
        }
        vgpu_no_faults(&b);
        assert_int_equal(b.total.branches_divergent, 2);
        vgpu_fetch(&b, got, out_at, sizeof got);
        for (int i = 0; i < 64; i++)
            assert_int_equal(got[i], 3 + (i % n == 1 ? 200 : i % n == 3 ? 300 : 100));
    }
    static uint32_t in[1024], out[1024];
    for (uint32_t i = 0; i < 1024; i++)
        in[i] = i * 11;
    uint64_t in_at = vgpu_array(&b, in, sizeof in);
    VGPU_PARAM(&b, uint64_t, in_at);
    VGPU_PARAM(&b, uint64_t, out_at);
    clean("wide", 1, 64);
    vgpu_fetch(&b, out, out_at, sizeof out);
    for (int i = 0; i < 512; i++) {
        assert_int_equal(out[i], in[i / 8 * 8 + 7 - i % 8]);
        assert_int_equal(out[512 + i], in[512 + i / 8 * 8 + (3 - i % 8 / 2) * 2 + i % 2]);
    }
    assert_int_equal(b.total.global_ld_requests, 4);
    assert_int_equal(b.total.global_ld_sectors, 4 * 32);
    assert_int_equal(b.total.global_ld_elements, 64 * 12);
    VGPU_PARAM(&b, uint64_t, in_at + 16);
    VGPU_PARAM(&b, uint64_t, out_at);
    run("wide", 1, 1);
    only(TESS_VGPU_MISALIGNED);
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, uint32_t, 0xfffe0003u); /* -2, 3 */
    VGPU_PARAM(&b, uint32_t, 0x04030201u);
    clean("pairs", 1, 1);
    vgpu_fetch(&b, got, out_at, 8);
    assert_int_equal(got[0], 3 * 1 - 2 * 2 + 7);
    assert_int_equal(got[1], 3 * 3 - 2 * 4 + 7);
    vgpu_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_faults.c - every detector trips on the kernel made for it, naming kind, thread and source line, and not on that kernel's near twin. */
#include "vgpu.h"

static vgpu_bench bench;

static void begin(const char *dialect) {
    char name[64];
    snprintf(name, sizeof name, "faults.%s.ptx", dialect);
    vgpu_begin_file(&bench, name, TESS_ISA_AUTO, 2);
}

static const tess_vgpu_fault *only(tess_vgpu_fault_kind kind) {
    if (tess_vgpu_fault_count(bench.run) == 0)
        fail_msg("no fault where one was expected");
    for (int i = 0; i < tess_vgpu_fault_count(bench.run); i++)
        if (tess_vgpu_fault_at(bench.run, i)->kind != kind)
            fail_msg("another fault: %s", tess_vgpu_fault_at(bench.run, i)->message);
    assert_null(tess_vgpu_fault_at(bench.run, tess_vgpu_fault_count(bench.run)));
    return tess_vgpu_fault_at(bench.run, 0);
}

/* Source line of the first line of faults.cu that has this text. */
static int line_of(const char *text) {
    char *source = vgpu_read("faults.cu"), *at = strstr(source, text);
    assert_non_null(at);
    int line = 1;
    for (const char *p = source; p < at; p++)
        line += *p == '\n';
    free(source);
    return line;
}

static void run(const char *kernel, uint32_t grid, uint32_t block) {
    vgpu_launch(&bench, kernel, (tess_vgpu_launch_options){.grid = {grid}, .block = {block}, .check = true});
}

static void pair(const char *bad, const char *good, uint32_t block, bool with_n, int32_t n, tess_vgpu_fault_kind kind, const char *at,
                 uint32_t thread) {
    int out[64] = {0};
    for (int d = 0; d < 2; d++) {
        begin(vgpu_dialects[d]);
        uint64_t out_at = vgpu_array(&bench, out, sizeof out);
        for (int k = 0; k < 2; k++) {
            VGPU_PARAM(&bench, uint64_t, out_at);
            if (with_n)
                VGPU_PARAM(&bench, int32_t, n);
            run(k ? good : bad, 1, block);
            if (k) {
                vgpu_no_faults(&bench);
                continue;
            }
            const tess_vgpu_fault *f = only(kind);
            assert_int_equal(f->source_line, line_of(at));
            assert_int_equal(f->thread[0], thread);
            char kernel[64];
            snprintf(kernel, sizeof kernel, "(%s, block 0 0 0, thread %u 0 0, faults.cu:%d", bad, thread, line_of(at));
            if (!strstr(f->message, kernel))
                fail_msg("\"%s\" is not in the message: %s", kernel, f->message);
            if (f->space && !strstr(f->message, "; in part of 256 bytes"))
                fail_msg("the variable is not in the message: %s", f->message);
        }
        vgpu_end(&bench);
    }
}

static void test_bounds(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        begin(vgpu_dialects[d]);
        float data[100] = {0};
        uint64_t at = vgpu_array(&bench, data, sizeof data);
        for (int k = 0; k < 2; k++) {
            VGPU_PARAM(&bench, uint64_t, at);
            VGPU_PARAM(&bench, int32_t, 100);
            run(k ? "bounds_good" : "bounds_bad", 2, 64);
            if (!k) {
                const tess_vgpu_fault *f = only(TESS_VGPU_OUT_OF_BOUNDS);
                assert_int_equal(f->count, 28);
                assert_int_equal(f->block[0], 1);
                assert_int_equal(f->thread[0], 36);
                assert_int_equal(f->source_line, line_of("bounds_bad"));
                assert_true(f->address == at + 400);
                assert_non_null(strstr(f->message, "0 bytes past the end"));
            } else {
                vgpu_no_faults(&bench);
            }
        }
        VGPU_PARAM(&bench, uint64_t, at + 0x100000000000); /* far from everything */
        VGPU_PARAM(&bench, int32_t, 100);
        run("bounds_good", 2, 64);
        assert_int_equal(only(TESS_VGPU_OUT_OF_BOUNDS)->count, 100);
        assert_non_null(strstr(only(TESS_VGPU_OUT_OF_BOUNDS)->message, "where nothing is allocated ("));
        VGPU_PARAM(&bench, uint64_t, 0);
        VGPU_PARAM(&bench, int32_t, 1);
        run("bounds_good", 1, 64);
        assert_non_null(strstr(only(TESS_VGPU_OUT_OF_BOUNDS)->message, "where nothing is allocated: a null pointer"));
        assert_tess_ok(tess_vgpu_free(bench.machine, at)); /* after free: never mapped again */
        assert_tess_fails(tess_vgpu_free(bench.machine, at), TESS_ERR_ARGUMENT);
        uint64_t other = vgpu_array(&bench, data, sizeof data);
        assert_true(other != at);
        VGPU_PARAM(&bench, uint64_t, at);
        VGPU_PARAM(&bench, int32_t, 100);
        run("bounds_good", 2, 64);
        assert_int_equal(only(TESS_VGPU_OUT_OF_BOUNDS)->count, 100);
        vgpu_end(&bench);
    }
}

static void test_alignment(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        begin(vgpu_dialects[d]);
        char data[512] = {0};
        uint64_t at = vgpu_array(&bench, data, sizeof data), out = vgpu_array(&bench, NULL, 256);
        for (int k = 0; k < 2; k++) {
            VGPU_PARAM(&bench, uint64_t, at);
            VGPU_PARAM(&bench, uint64_t, out);
            run(k ? "aligned_good" : "aligned_bad", 1, 64);
            if (k) {
                vgpu_no_faults(&bench);
            } else {
                assert_int_equal(only(TESS_VGPU_MISALIGNED)->count, 48);
                assert_int_equal(only(TESS_VGPU_MISALIGNED)->thread[0], 1);
                char where[80];
                snprintf(where, sizeof where, "not a multiple of 4; in the allocation at 0x%llx of 512 bytes", (unsigned long long)at);
                assert_non_null(strstr(only(TESS_VGPU_MISALIGNED)->message, where));
            }
        }
        /* Reading what was never written, in global memory. */
        uint64_t fresh = vgpu_array(&bench, NULL, 512);
        VGPU_PARAM(&bench, uint64_t, fresh);
        VGPU_PARAM(&bench, uint64_t, out);
        run("aligned_good", 1, 64);
        assert_int_equal(only(TESS_VGPU_UNDEFINED)->count, 64);
        assert_non_null(strstr(only(TESS_VGPU_UNDEFINED)->message, "which nothing has written; in the allocation at"));
        assert_tess_ok(tess_vgpu_fill(bench.machine, fresh, 0, 512));
        VGPU_PARAM(&bench, uint64_t, fresh);
        VGPU_PARAM(&bench, uint64_t, out);
        run("aligned_good", 1, 64);
        vgpu_no_faults(&bench);
        vgpu_end(&bench);
    }
}

static void test_undefined(void **state) {
    (void)state;
    pair("undefined_bad", "undefined_good", 64, false, 0, TESS_VGPU_UNDEFINED, "out[threadIdx.x] = part[63 - threadIdx.x];", 56);
}
static void test_race(void **state) {
    (void)state;
    pair("race_bad", "race_good", 64, false, 0, TESS_VGPU_RACE, "part[threadIdx.x] = threadIdx.x;\n    out[threadIdx.x] = part[threadIdx.x ^ 32];",
         0);
}
static void test_warp_race(void **state) {
    (void)state;
    pair("race_warp_bad", "race_warp_good", 32, false, 0, TESS_VGPU_WARP_RACE, "part[threadIdx.x] += part[threadIdx.x + 16];", 0);
}
static void test_barrier(void **state) {
    (void)state;
    pair("barrier_bad", "barrier_good", 64, true, 40, TESS_VGPU_BARRIER, "__syncthreads();\n    out[threadIdx.x] = 1;", 32);
}
static void test_lanes(void **state) {
    (void)state;
    pair("lanes_bad", "lanes_good", 32, false, 0, TESS_VGPU_MISSING_LANES, "out[threadIdx.x] = __shfl_down_sync(~0u", 0);
}

/* Kernels written in PTX: ends that are not regular. */
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static const tess_vgpu_fault *run_text(const char *text, uint32_t block, tess_vgpu_fault_kind kind) {
    vgpu_begin(&bench, text, TESS_ISA_AUTO, 1);
    vgpu_launch(&bench, "k", (tess_vgpu_launch_options){.block = {block}, .check = true, .step_limit = 1000});
    return only(kind);
}

static void test_ends(void **state) {
    (void)state;
    assert_int_equal(run_text(HEAD ".entry k() {\n trap;\n}", 32, TESS_VGPU_TRAP)->ptx_line, 5);
    vgpu_end(&bench);
    assert_int_equal(run_text(HEAD ".entry k() {\nL: bra L;\n}", 32, TESS_VGPU_STEP_LIMIT)->ptx_line, 5);
    vgpu_end(&bench);
    assert_int_equal(
        run_text(HEAD ".func f() {\n .local .b8 a[64];\n call f;\n ret; }\n.entry k() {\n call f;\n ret; }", 32, TESS_VGPU_STACK)->ptx_line, 6);
    vgpu_end(&bench);
    /* Half of the block waits at barrier 1, half at barrier 2. */
    const tess_vgpu_fault *f = run_text(HEAD ".entry k() {\n .reg .pred %p; .reg .u32 %r;\n mov.u32 %r, %tid.x;\n setp.lt.u32 %p, %r, 32;\n"
                                             " @%p bra A;\n bar.sync 1;\n ret;\nA:\n bar.sync 2;\n ret;\n}",
                                        64, TESS_VGPU_DEADLOCK);
    assert_true(f->ptx_line == 9 || f->ptx_line == 12);
    vgpu_end(&bench);
    /* Lanes that come to a barrier without the others, which end, or go on. */
    static const char *const rest[] = {" ret;\n}", " mov.u32 %r, 0;\n ret;\n}"}, *const says[] = {": others leave the kernel instead",
                                                                                                  ": others are at line 8"};
    for (int i = 0; i < 2; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 HEAD ".entry k() {\n .reg .pred %%p; .reg .u32 %%r;\n .loc 1 7 1\n mov.u32 %%r, %%tid.x;\n setp.lt.u32 %%p, %%r, 8;\n"
                      " @%%p bra B;\n bar.sync 0;\nB:\n .loc 1 8 1\n%s",
                 rest[i]);
        assert_non_null(strstr(run_text(text, 32, TESS_VGPU_BARRIER)->message, says[i]));
        vgpu_end(&bench);
    }
    run_text(HEAD ".entry k() {\n .reg .u32 %r;\n ld.shared.u32 %r, [16];\n}", 32, TESS_VGPU_OUT_OF_BOUNDS);
    assert_non_null(strstr(tess_vgpu_fault_at(bench.run, 0)->message, "shared address 16, of which the block has 0 bytes"));
    vgpu_end(&bench);
}

/* Undefined reads and misaligned accesses in the other spaces, each beside a twin. */
static void test_spaces(void **state) {
    (void)state;
    static const struct {
        const char *body, *twin, *says;
        tess_vgpu_fault_kind kind;
    } cases[] = {
        {"st.local.u32 [v], %r; ld.local.u32 %r, [v+4];", "st.local.u32 [v], %r; ld.local.u32 %r, [v];", "local address", TESS_VGPU_UNDEFINED},
        {"st.shared.u32 [s], 7; ld.shared.u32 %r, [s+4];", "st.shared.u32 [s], 7; ld.shared.u32 %r, [s];", "; in s of 16 bytes", TESS_VGPU_UNDEFINED},
        {"ld.shared.u32 %r, [d+4];", "st.shared.u32 [d+4], 7; ld.shared.u32 %r, [d+4];", "; in the 64 bytes of dynamic shared memory",
         TESS_VGPU_UNDEFINED},
        {"st.local.v2.u32 [v+4], {%r, %r};", "st.local.v2.u32 [v+8], {%r, %r};", "local address 0x4, which is not a multiple of 8",
         TESS_VGPU_MISALIGNED},
        {"st.shared.u32 [s+2], 7;", "st.shared.u32 [s], 7;", "not a multiple of 4; in s of 16 bytes", TESS_VGPU_MISALIGNED},
        {"ld.const.u32 %r, [c+2];", "ld.const.u32 %r, [c+4];", "constant address", TESS_VGPU_MISALIGNED},
        {"ld.const.u32 %r, [c+65536];", "ld.const.u32 %r, [c];", "of which the kernel has 8 bytes", TESS_VGPU_OUT_OF_BOUNDS},
        {"st.local.u32 [v+65536], %r;", "st.local.u32 [v], %r;", "of which the thread has 16 bytes", TESS_VGPU_OUT_OF_BOUNDS},
    };
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int k = 0; k < 2; k++) {
            char text[1024];
            snprintf(text, sizeof text,
                     HEAD ".const .align 4 .b8 c[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n.extern .shared .align 16 .b8 d[];\n"
                          ".entry k() {\n .shared .align 16 .b8 s[16]; .local .align 16 .b8 v[16]; .reg .u32 %%r;\n mov.u32 %%r, 5;\n %s\n ret;\n}",
                     k ? cases[i].twin : cases[i].body);
            vgpu_begin(&bench, text, TESS_ISA_AUTO, 1);
            vgpu_launch(&bench, "k", (tess_vgpu_launch_options){.block = {1}, .shared_bytes = 64, .check = true});
            if (k)
                vgpu_no_faults(&bench);
            else if (!strstr(only(cases[i].kind)->message, cases[i].says))
                fail_msg("\"%s\" is not in the message: %s", cases[i].says, only(cases[i].kind)->message);
            vgpu_end(&bench);
        }
}

/* The list is the same whoever ran the blocks, in whatever order the warps were taken. */
static void test_order(void **state) {
    (void)state;
    char first[400] = "";
    for (int threads = 1; threads <= 8; threads *= 2)
        for (uint64_t seed = 0; seed < 3; seed++) {
            char *text = vgpu_read("faults.sm_90.ptx");
            vgpu_begin(&bench, text, TESS_ISA_AUTO, threads);
            free(text);
            float data[1000] = {0};
            uint64_t at = vgpu_array(&bench, data, sizeof data);
            VGPU_PARAM(&bench, uint64_t, at);
            VGPU_PARAM(&bench, int32_t, 0);
            vgpu_launch(&bench, "bounds_bad", (tess_vgpu_launch_options){.grid = {50}, .block = {64}, .check = true, .seed = seed});
            const tess_vgpu_fault *f = only(TESS_VGPU_OUT_OF_BOUNDS);
            assert_int_equal(f->count, 50 * 64 - 1000);
            if (!*first)
                snprintf(first, sizeof first, "%s", f->message);
            assert_string_equal(f->message, first);
            vgpu_end(&bench);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds), cmocka_unit_test(test_alignment), cmocka_unit_test(test_undefined),
                                       cmocka_unit_test(test_race),   cmocka_unit_test(test_warp_race), cmocka_unit_test(test_barrier),
                                       cmocka_unit_test(test_lanes),  cmocka_unit_test(test_ends),      cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_spaces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

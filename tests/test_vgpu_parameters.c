/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_parameters.c - a __grid_constant__ parameter read by its generic address (cvta.param), in one load with local memory; it ends where the parameters do
 * and cannot be written. */
#include "vgpu.h"

static void test_parameters_by_address(void **state) {
    (void)state;
    static const char text[] = ".version 8.8\n.target sm_100\n.address_size 64\n"
                               ".visible .entry pick(.param .u64 out, .param .align 8 .b8 list[256], .param .u32 skip, .param .u32 write, .param "
                               ".u32 lane, .param .u32 step)\n{\n"
                               ".local .align 4 .b8 own[256];\n.reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<8>;\n"
                               "ld.param.u64 %d1, [out]; ld.param.u32 %r2, [skip]; ld.param.u32 %r3, [write]; mov.u32 %r1, %tid.x;\n"
                               "ld.param.u32 %r4, [lane]; ld.param.u32 %r5, [step];\n"
                               "mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; mul.lo.u32 %r5, %r5, %r1; mul.wide.u32 %d3, %r5, 4;\n"
                               "mov.u64 %d4, own; st.local.u32 [%d4], %r1; cvta.local.u64 %d4, %d4;\n"
                               "mov.b64 %d2, list; cvta.param.u64 %d2, %d2; add.u64 %d2, %d2, %d3; mul.wide.u32 %d5, %r2, 4; add.u64 %d2, %d2, %d5;\n"
                               "setp.eq.u32 %p, %r1, %r4; selp.b64 %d6, %d4, %d2, %p;\n" /* that lane: local memory */
                               "ld.u32 %r2, [%d6]; st.global.u32 [%d1], %r2;\n"
                               "setp.ne.u32 %p, %r3, 0;\n@%p st.u32 [%d2], %r1;\nret;\n}\n";
    /* Sectors and tags as an H200 counts them: bench/results/2026-11-30-h200-parameters.txt. */
    static const struct {
        int skip, write, lane, step, faults, sectors, tags;
    } cases[] = {{0, 0, 99, 1, 0, 5, 2}, {3, 0, 99, 1, 0, 5, 2}, {2, 0, 99, 1, 0, 4, 2}, {26, 0, 99, 1, 0, 4, 1},
                 {0, 0, 99, 2, 0, 9, 3}, {1, 0, 99, 0, 0, 1, 1}, {0, 0, 7, 1, 0, 0, 0},  {8, 0, 99, 2, 2, 0, 0}, /* two lanes behind all parameters */
                 {0, 1, 99, 1, 1, 0, 0}};
    int list[64], got[32];
    vgpu_bench b;
    vgpu_begin(&b, text, TESS_ISA_AUTO, 1);
    uint64_t out_at = vgpu_array(&b, NULL, sizeof got);
    for (int i = 0; i < 64; i++)
        list[i] = 1000 + 3 * i;
    for (int k = 0; k < TESS_COUNT(cases); k++) {
        VGPU_PARAM(&b, uint64_t, out_at);
        for (int i = 0; i < 64; i++)
            VGPU_PARAM(&b, int32_t, list[i]);
        VGPU_PARAM(&b, int32_t, cases[k].skip);
        VGPU_PARAM(&b, int32_t, cases[k].write);
        VGPU_PARAM(&b, int32_t, cases[k].lane);
        VGPU_PARAM(&b, int32_t, cases[k].step);
        vgpu_launch(&b, "pick", (tess_vgpu_launch_options){.grid = {1}, .block = {32}, .check = true, .count = true});
        if (cases[k].faults) {
            assert_int_equal(tess_vgpu_fault_count(b.run), 1);
            assert_int_equal(tess_vgpu_fault_at(b.run, 0)->kind, TESS_VGPU_OUT_OF_BOUNDS);
            assert_int_equal(tess_vgpu_fault_at(b.run, 0)->count, cases[k].faults);
            continue;
        }
        vgpu_no_faults(&b);
        vgpu_fetch(&b, got, out_at, sizeof got);
        for (int i = 0; i < 32; i++)
            assert_int_equal(got[i], i == cases[k].lane ? i : list[cases[k].skip + i * cases[k].step]);
        assert_int_equal(b.total.local_ld_requests, cases[k].lane < 32);
        assert_int_equal(b.total.global_ld_requests, 1); /* of the other lanes */
        assert_int_equal(b.total.constant_requests, 0);
        if (cases[k].sectors) {
            assert_int_equal(b.total.global_ld_sectors, cases[k].sectors);
            assert_int_equal(b.total.global_ld_tags, cases[k].tags);
        }
    }
    vgpu_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parameters_by_address)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

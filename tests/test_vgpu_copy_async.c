/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_copy_async.c - cp.async whose lanes give source sizes of their own: what is copied, what is filled with zeros, and the counts of an H200 (ncu, driver
 * 580.159.04, 2026-11-23), where all lanes that read are one request whatever their sizes, and lanes that only write zeros are none. */
#include "vgpu.h"

/* How many bytes a lane copies. */
static uint32_t size_of(int kind, uint32_t lane) {
    switch (kind) {
    case 0: return 16;
    case 1: return 8;
    case 2: return lane % 2 ? 16 : 0;
    case 3: return lane < 16 ? 16 : 0;
    case 4: return lane % 2 ? 16 : 8;
    case 5: return lane < 16 ? 16 : 8;
    case 6: return lane % 4 * 4 + 4;
    case 7: return lane == 31 ? 4 : 16;
    case 8: return lane == 31 ? 1 : 16;
    case 9: return 0;
    case 10: return lane == 0 ? 3 : 0;
    default: return 4;
    }
}

static void copy(int kind, int step, bool cached, const uint64_t (*expected)[4]) {
    static const char form[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k(.param .u64 in, .param .u64 sizes, .param .u64 out, .param .u32 step)\n{\n"
                               ".reg .b32 %%r<12>; .reg .b64 %%d<8>; .shared .align 16 .b8 rows[512];\n"
                               "ld.param.u64 %%d1, [in]; ld.param.u64 %%d2, [sizes]; ld.param.u64 %%d3, [out]; ld.param.u32 %%r1, [step];\n"
                               "mov.u32 %%r2, %%tid.x; mul.wide.u32 %%d4, %%r2, 4; add.u64 %%d2, %%d2, %%d4; ld.global.u32 %%r3, [%%d2];\n"
                               "mul.wide.u32 %%d5, %%r2, %%r1; add.u64 %%d1, %%d1, %%d5; mul.wide.u32 %%d6, %%r2, 16; add.u64 %%d3, %%d3, %%d6;\n"
                               "shl.b32 %%r4, %%r2, 4; mov.u32 %%r5, rows; add.u32 %%r4, %%r4, %%r5;\n"
                               "cp.async.%s.shared.global [%%r4], [%%d1], 16, %%r3;\ncp.async.wait_all;\n"
                               "ld.shared.v4.b32 {%%r6, %%r7, %%r8, %%r9}, [%%r4]; st.global.v4.b32 [%%d3], {%%r6, %%r7, %%r8, %%r9};\nret;\n}\n";
    char text[sizeof form + 8];
    uint8_t in[2048], out[512];
    uint32_t sizes[32];
    vgpu_bench b;
    snprintf(text, sizeof text, form, cached ? "ca" : "cg");
    for (int i = 0; i < 2048; i++)
        in[i] = (uint8_t)(i * 7 + i / 256 + 1);
    for (uint32_t l = 0; l < 32; l++)
        sizes[l] = size_of(kind, l);
    vgpu_begin(&b, text, TESS_ISA_AUTO, 1);
    VGPU_PARAM(&b, uint64_t, vgpu_array(&b, in, (31 * step + 16)));
    VGPU_PARAM(&b, uint64_t, vgpu_array(&b, sizes, sizeof sizes));
    uint64_t out_at = vgpu_array(&b, NULL, sizeof out);
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, uint32_t, (uint32_t)step);
    vgpu_launch(&b, "k", (tess_vgpu_launch_options){.grid = {1}, .block = {32}, .count = true, .check = true, .step_limit = 1000});
    vgpu_no_faults(&b);
    vgpu_fetch(&b, out, out_at, sizeof out);
    for (int l = 0; l < 32; l++)
        for (uint32_t i = 0; i < 16; i++)
            if (out[16 * l + (int)i] != (i < sizes[l] ? in[l * step + (int)i] : 0))
                fail_msg("sizes %d, step %d: byte %u of lane %d is %d", kind, step, i, l, out[16 * l + (int)i]);
    /* The sizes' own load is one request of four sectors, one tag. */
    const uint64_t got[] = {b.total.shared_async_requests, b.total.global_ld_sectors - 4, b.total.global_ld_tags - 1,
                            b.total.shared_async_wavefronts};
    static const char *const names[] = {"requests", "sectors", "tags", "wavefronts"};
    for (int i = 0; i < 4; i += cached ? 1 : 2) /* .cg has sectors and wavefronts of its own: docs/counters.md */
        if (got[i] != (*expected)[i])
            fail_msg("sizes %d, step %d: %llu %s where the card has %llu", kind, step, (unsigned long long)got[i], names[i],
                     (unsigned long long)(*expected)[i]);
    assert_int_equal(b.total.global_ld_requests, 1 + (*expected)[0]);
    vgpu_end(&b);
}

static void sizes_of_lanes(void **state) {
    (void)state;
    static const uint64_t card[12][2][4] = {{{1, 16, 4, 4}, {1, 32, 16, 16}}, {{1, 16, 4, 4}, {1, 32, 16, 16}}, {{1, 16, 4, 4}, {1, 16, 16, 16}},
                                            {{1, 8, 2, 4}, {1, 16, 8, 10}},   {{1, 16, 4, 4}, {1, 32, 16, 16}}, {{1, 16, 4, 4}, {1, 32, 16, 16}},
                                            {{1, 16, 4, 4}, {1, 32, 16, 16}}, {{1, 16, 4, 4}, {1, 32, 16, 16}}, {{1, 16, 4, 4}, {1, 32, 16, 16}},
                                            {{0, 0, 0, 4}, {0, 0, 0, 4}},     {{1, 1, 1, 4}, {1, 1, 1, 4}},     {{1, 16, 4, 4}, {1, 32, 16, 16}}};
    for (int kind = 0; kind < 12; kind++)
        for (int far = 0; far < 2; far++)
            for (int cached = 0; cached < 2; cached++)
                copy(kind, far ? 64 : 16, cached, &card[kind][far]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_of_lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_copy_async.c - cp.async: lanes that give source sizes of their own, what is copied and what is filled with zeros, and the counts of an H200 (ncu, driver
 * 580.159.04, 2026-11-23 and 24), where all lanes that read are one request whatever their sizes, lanes that only write zeros are none, and copies past the
 * first-level cache have sectors, tags and wavefronts by where they come from and where they go. */
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
    for (int i = 0; i < 4 - !(cached || kind == 0); i++) /* wavefronts of .cg are the card's where all lanes that write read 16 bytes */
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
    static const uint64_t past[12][2] = {{16, 16}, {16, 16}, {16, 16}, {8, 8}, {16, 16}, {16, 16},
                                         {16, 16}, {16, 16}, {16, 16}, {0, 0}, {1, 1},   {16, 16}};
    for (int kind = 0; kind < 12; kind++)
        for (int far = 0; far < 2; far++) {
            const uint64_t other[4] = {card[kind][far][0], far ? past[kind][0] : card[kind][far][1], far ? past[kind][1] : card[kind][far][2],
                                       far ? 32 : 4};
            copy(kind, far ? 64 : 16, true, &card[kind][far]);
            copy(kind, far ? 64 : 16, false, &other);
        }
}

/* ---- past the first-level cache, 16 bytes a lane ---- */

/* Lane l of the first `lanes` copies from first + l / row * pitch + l % row * step to to + l * to_step, in bytes; counted on the card: sectors, tags, wavefronts. */
typedef struct copies {
    int lanes, first, step, row, pitch, to, to_step;
    uint64_t sectors, tags, wavefronts;
} copies;

static const copies measured[] = {
    {32, 0, 16, 32, 0, 0, 16, 16, 4, 4},      {32, 16, 16, 32, 0, 0, 16, 20, 8, 12},    {32, 0, 16, 32, 0, 16, 16, 20, 8, 12},
    {32, 16, 16, 32, 0, 16, 16, 17, 5, 6},    {32, 32, 16, 32, 0, 0, 16, 16, 8, 8},     {32, 48, 16, 32, 0, 0, 16, 20, 8, 16},
    {32, 112, 16, 32, 0, 0, 16, 20, 8, 12},   {32, 0, 32, 32, 0, 0, 16, 16, 8, 32},     {32, 16, 32, 32, 0, 0, 16, 16, 8, 32},
    {32, 0, 32, 32, 0, 16, 16, 24, 12, 32},   {32, 16, 32, 32, 0, 16, 16, 24, 12, 32},  {32, 0, 64, 32, 0, 0, 16, 16, 16, 32},
    {32, 16, 64, 32, 0, 0, 16, 16, 16, 32},   {32, 0, 64, 32, 0, 16, 16, 32, 20, 32},   {32, 16, 64, 32, 0, 16, 16, 32, 20, 32},
    {2, 0, 0, 32, 0, 0, 16, 1, 1, 2},         {2, 0, 0, 32, 0, 0, 32, 2, 1, 2},         {2, 0, 0, 32, 0, 0, 48, 2, 1, 2},
    {2, 0, 0, 32, 0, 0, 128, 2, 2, 2},        {2, 0, 16, 32, 0, 0, 16, 1, 1, 1},        {2, 0, 16, 32, 0, 0, 32, 2, 1, 2},
    {2, 0, 16, 32, 0, 0, 48, 2, 1, 2},        {2, 0, 16, 32, 0, 0, 128, 2, 2, 2},       {2, 0, 32, 32, 0, 0, 16, 1, 1, 2},
    {2, 0, 32, 32, 0, 0, 32, 2, 1, 1},        {2, 0, 32, 32, 0, 0, 48, 2, 1, 2},        {2, 0, 32, 32, 0, 0, 128, 2, 2, 2},
    {2, 0, 48, 32, 0, 0, 16, 1, 1, 2},        {2, 0, 48, 32, 0, 0, 32, 2, 1, 2},        {2, 0, 48, 32, 0, 0, 48, 2, 1, 2},
    {2, 0, 48, 32, 0, 0, 128, 2, 2, 2},       {2, 0, 64, 32, 0, 0, 16, 1, 1, 2},        {2, 0, 64, 32, 0, 0, 32, 2, 1, 2},
    {2, 0, 64, 32, 0, 0, 48, 2, 1, 2},        {2, 0, 64, 32, 0, 0, 128, 2, 2, 2},       {2, 0, 128, 32, 0, 0, 16, 2, 2, 2},
    {2, 0, 128, 32, 0, 0, 32, 2, 2, 2},       {2, 0, 128, 32, 0, 0, 48, 2, 2, 2},       {2, 0, 128, 32, 0, 0, 128, 2, 2, 2},
    {2, 0, 144, 32, 0, 0, 16, 2, 2, 2},       {2, 0, 144, 32, 0, 0, 32, 2, 2, 2},       {2, 0, 144, 32, 0, 0, 48, 2, 2, 2},
    {2, 0, 144, 32, 0, 0, 128, 2, 2, 2},      {1, 0, 0, 32, 0, 0, 16, 1, 1, 1},         {1, 0, 0, 32, 0, 16, 16, 1, 1, 1},
    {1, 16, 0, 32, 0, 0, 16, 1, 1, 1},        {1, 16, 0, 32, 0, 16, 16, 1, 1, 1},       {1, 32, 0, 32, 0, 16, 16, 1, 1, 1},
    {1, 16, 0, 32, 0, 32, 16, 1, 1, 1},       {3, 16, 16, 32, 0, 0, 16, 2, 1, 2},       {4, 16, 16, 32, 0, 0, 16, 2, 1, 2},
    {5, 16, 16, 32, 0, 0, 16, 3, 1, 2},       {8, 16, 16, 32, 0, 0, 16, 5, 2, 3},       {9, 16, 16, 32, 0, 0, 16, 6, 3, 4},
    {16, 16, 16, 32, 0, 0, 16, 10, 4, 6},     {17, 16, 16, 32, 0, 0, 16, 11, 5, 7},     {32, 0, 16, 3, 1024, 0, 16, 21, 13, 22},
    {32, 16, 16, 3, 1024, 0, 16, 21, 13, 23}, {32, 0, 16, 3, 1040, 0, 16, 21, 15, 21},  {32, 16, 16, 3, 1040, 0, 16, 23, 15, 25},
    {32, 0, 16, 5, 1024, 0, 16, 19, 10, 16},  {32, 16, 16, 5, 1024, 0, 16, 19, 10, 16}, {32, 0, 16, 5, 1040, 0, 16, 19, 11, 15},
    {32, 16, 16, 5, 1040, 0, 16, 23, 14, 22}, {32, 0, 16, 6, 1024, 0, 16, 16, 8, 8},    {32, 16, 16, 6, 1024, 0, 16, 16, 8, 16},
    {32, 0, 16, 6, 1040, 0, 16, 17, 10, 14},  {32, 16, 16, 6, 1040, 0, 16, 18, 11, 15}, {32, 0, 16, 7, 1024, 0, 16, 18, 8, 13},
    {32, 16, 16, 7, 1024, 0, 16, 18, 8, 13},  {32, 0, 16, 7, 1040, 0, 16, 18, 10, 12},  {32, 16, 16, 7, 1040, 0, 16, 22, 12, 20},
    {32, 0, 16, 9, 1024, 0, 16, 19, 9, 11},   {32, 16, 16, 9, 1024, 0, 16, 20, 9, 14},  {32, 0, 16, 9, 1040, 0, 16, 18, 7, 10},
    {32, 16, 16, 9, 1040, 0, 16, 22, 11, 17}, {32, 0, 16, 17, 1024, 0, 16, 18, 6, 8},   {32, 16, 16, 17, 1024, 0, 16, 19, 7, 10},
    {32, 0, 16, 17, 1040, 0, 16, 17, 5, 6},   {32, 16, 16, 17, 1040, 0, 16, 21, 9, 13},
};

static void past_the_cache(void **state) {
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k(.param .u64 in, .param .u64 places, .param .u32 lanes)\n{\n"
                               ".reg .pred %p1; .reg .b32 %r<8>; .reg .b64 %d<8>; .shared .align 128 .b8 rows[2048];\n"
                               "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [places]; ld.param.u32 %r1, [lanes];\n"
                               "mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 ret;\n"
                               "mul.wide.u32 %d3, %r2, 8; add.u64 %d2, %d2, %d3; ld.global.v2.u32 {%r3, %r4}, [%d2];\n"
                               "cvt.u64.u32 %d4, %r3; add.u64 %d1, %d1, %d4; mov.u32 %r5, rows; add.u32 %r4, %r4, %r5;\n"
                               "cp.async.cg.shared.global [%r4], [%d1], 16;\ncp.async.wait_all;\nret;\n}\n";
    (void)state;
    for (int i = 0; i < (int)TESS_COUNT(measured); i++) {
        const copies *m = &measured[i];
        uint32_t places[64];
        uint8_t in[16384];
        vgpu_bench b;
        memset(in, 1, sizeof in);
        for (int l = 0; l < 32; l++) {
            places[2 * l] = (uint32_t)(m->first + l / m->row * m->pitch + l % m->row * m->step);
            places[2 * l + 1] = (uint32_t)(m->to + l * m->to_step);
        }
        vgpu_begin(&b, text, TESS_ISA_AUTO, 1);
        VGPU_PARAM(&b, uint64_t, vgpu_array(&b, in, sizeof in));
        VGPU_PARAM(&b, uint64_t, vgpu_array(&b, places, sizeof places));
        VGPU_PARAM(&b, uint32_t, (uint32_t)m->lanes);
        vgpu_launch(&b, "k", (tess_vgpu_launch_options){.grid = {1}, .block = {32}, .count = true, .check = true, .step_limit = 1000});
        vgpu_no_faults(&b);
        /* The places' own load takes a sector for every four lanes, a tag for every sixteen. */
        const uint64_t got[] = {b.total.global_ld_requests - 1, b.total.global_ld_sectors - (uint64_t)(m->lanes + 3) / 4,
                                b.total.global_ld_tags - (uint64_t)(m->lanes + 15) / 16, b.total.shared_async_wavefronts};
        const uint64_t card[] = {1, m->sectors, m->tags, m->wavefronts};
        static const char *const names[] = {"requests", "sectors", "tags", "wavefronts"};
        for (int k = 0; k < 4; k++)
            if (got[k] != card[k])
                fail_msg("copies %d: %llu %s where the card has %llu", i, (unsigned long long)got[k], names[k], (unsigned long long)card[k]);
        vgpu_end(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_of_lanes), cmocka_unit_test(past_the_cache)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

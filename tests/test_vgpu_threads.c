/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_threads.c - counters, line by line, and results are the same for 1 to 8 host threads, every order of warps and every instruction set. */
#include "vgpu.h"

enum { N = 5000, LINES = 400 };

static int run(const char *topic, const char *kernel, int form, int threads, uint64_t seed, tess_isa isa, tess_vgpu_line *lines, int *out) {
    vgpu_bench b;
    char name[64];
    int in[N], count = 0;
    snprintf(name, sizeof name, "%s.sm_90.ptx", topic);
    vgpu_begin_file(&b, name, isa, threads);
    for (int i = 0; i < N; i++)
        in[i] = i * 7919 % 1000;
    memset(out, 0, N * sizeof *out);
    uint64_t in_at = vgpu_array(&b, in, sizeof in), out_at = vgpu_array(&b, out, sizeof in);
    VGPU_PARAM(&b, uint64_t, in_at);
    VGPU_PARAM(&b, uint64_t, out_at);
    VGPU_PARAM(&b, int32_t, form == 1 ? 50 : N);
    if (form == 1)
        VGPU_PARAM(&b, int32_t, N / 50);
    tess_vgpu_launch_options o = {.grid = {20}, .block = {256}, .shared_bytes = 1024, .count = true, .seed = seed};
    if (form == 1)
        o = (tess_vgpu_launch_options){.grid = {4, 2}, .block = {32, 8}, .count = true, .seed = seed};
    vgpu_launch(&b, kernel, o);
    vgpu_no_faults(&b);
    vgpu_fetch(&b, out, out_at, sizeof in);
    while (count < LINES && tess_vgpu_line_at(b.run, count, &lines[count])) {
        lines[count].file = lines[count].ptx = NULL; /* of this module's text */
        count++;
    }
    assert_true(count > 0 && count < LINES);
    vgpu_end(&b);
    return count;
}

static void test_threads(void **state) {
    (void)state;
    static const struct {
        const char *topic, *kernel;
        int form;
    } runs[] = {{"reduce", "reduce_interleaved", 0}, {"reduce", "reduce_shared", 0},     {"reduce", "reduce_shuffle", 0},
                {"reduce", "reduce_atomic", 0},      {"transpose", "transpose_tile", 1}, {"language", "histogram", 0}};
    static tess_vgpu_line want[LINES], got[LINES];
    static int want_out[N], got_out[N];
    static const tess_isa sets[] = {TESS_ISA_BASELINE, TESS_ISA_AVX2, TESS_ISA_AVX512, TESS_ISA_NEON};
    static const tess_isa_slot slots[] = {TESS_SLOT_BASELINE, TESS_SLOT_AVX2, TESS_SLOT_AVX512, TESS_SLOT_NEON};
    for (int k = 0; k < TESS_COUNT(runs); k++) {
        int lines = run(runs[k].topic, runs[k].kernel, runs[k].form, 1, 0, TESS_ISA_BASELINE, want, want_out);
        for (int s = 0; s < 4; s++)
            for (int threads = 1; threads <= 8 && tess_cpu_has_slot(slots[s]); threads++) {
                assert_int_equal(run(runs[k].topic, runs[k].kernel, runs[k].form, threads, (uint64_t)threads - 1, sets[s], got, got_out), lines);
                assert_memory_equal(want, got, (size_t)lines * sizeof *want);
                assert_memory_equal(want_out, got_out, sizeof want_out);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

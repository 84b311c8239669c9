/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_matrix.c - every shape and type of mma, and stmatrix, by hand-written PTX: what the compiler makes of no source here. */
#include "vgpu.h"

#define HEAD ".version 8.8\n.target sm_100\n.address_size 64\n"

static vgpu_bench b;

/* One warp of the text's kernel k, from an array to another, which is fetched. vgpu_end is the caller's. */
static void run(const char *text, const void *in, int64_t in_bytes, void *out, int64_t out_bytes) {
    vgpu_begin(&b, text, TESS_ISA_AUTO, 1);
    const uint64_t to = vgpu_array(&b, NULL, out_bytes);
    VGPU_PARAM(&b, uint64_t, vgpu_array(&b, in, in_bytes));
    VGPU_PARAM(&b, uint64_t, to);
    vgpu_launch(&b, "k", (tess_vgpu_launch_options){.grid = {1}, .block = {32}, .count = true, .check = true, .step_limit = 1000000});
    vgpu_no_faults(&b);
    vgpu_fetch(&b, out, to, out_bytes);
}

/* Every shape and type of mma: fragments as the PTX manual lays them out, each element found by its row and column. Small integers, so that every order of
 * adding gives the same. */
static uint32_t bits_of(int v, bool tf32, bool brain) {
    float x = (float)v;
    uint32_t u;
    memcpy(&u, &x, 4);
    return tf32 ? u : brain ? u >> 16 : vgpu_half_of(2 * v);
}
static void multiply(const char *shape, int k, const char *type, bool wide) {
    bool tf32 = type[0] == 't', brain = type[0] == 'b';
    int per = tf32 ? 1 : 2, a_count = tf32 ? k / 2 : k / 4, b_count = a_count / 2, d_count = wide ? 4 : 2, left[16][16], right[16][8], added[16][8];
    uint32_t in[32][12] = {{0}}, out[32][4];
    char text[4096];
    int n = snprintf(text, sizeof text,
                     HEAD ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %%r<20>; .reg .b64 %%d<9>;\n"
                          "ld.param.u64 %%d1, [in]; ld.param.u64 %%d2, [out]; mov.u32 %%r19, %%laneid; mul.wide.u32 %%d3, %%r19, 48;\n"
                          "mul.wide.u32 %%d4, %%r19, 16; add.u64 %%d1, %%d1, %%d3; add.u64 %%d2, %%d2, %%d4;\n");
    for (int i = 0; i < 12; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "ld.global.b32 %%r%d, [%%d1+%d];\n", i, 4 * i);
    const char *sum = wide ? "f32" : "f16";
    n += snprintf(text + n, sizeof text - (size_t)n, "mma.sync.aligned.%s.row.col.%s.%s.%s.%s ", shape, sum, type, type, sum);
    const int first[] = {12, 0, 4, 8}, count[] = {d_count, a_count, b_count, d_count};
    for (int v = 0; v < 4; v++)
        for (int i = 0; i < count[v]; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%%r%d%s", i ? "," : "{", first[v] + i,
                          i + 1 < count[v] ? ""
                          : v < 3          ? "}, "
                                           : "};\n");
    for (int i = 0; i < d_count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "st.global.b32 [%%d2+%d], %%r%d;\n", 4 * i, 12 + i);
    snprintf(text + n, sizeof text - (size_t)n, "ret;\n}\n");
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            left[i][j] = (i * 5 + j * 3) % 7 - 3;
            right[j][i % 8] = (i % 8 * 7 + j) % 5 - 2;
            added[i][j % 8] = (i * 3 + j % 8) % 11 - 5;
        }
    for (int l = 0; l < 32; l++) {
        int group = l / 4, within = l % 4;
        for (int i = 0; i < a_count; i++) /* the registers go down 8 rows, then on by the columns of four lanes */
            for (int j = 0; j < per; j++)
                in[l][i] |= bits_of(left[group + i % 2 * 8][within * per + j + i / 2 * 4 * per], tf32, brain) << 16 * j;
        for (int i = 0; i < b_count; i++)
            for (int j = 0; j < per; j++)
                in[l][4 + i] |= bits_of(right[within * per + j + i * 4 * per][group], tf32, brain) << 16 * j;
        for (int i = 0; i < 4; i++) {
            int v = added[group + i / 2 * 8][2 * within + i % 2];
            if (wide)
                in[l][8 + i] = bits_of(v, true, false);
            else
                in[l][8 + i / 2] |= bits_of(v, false, false) << 16 * (i % 2);
        }
    }
    run(text, in, sizeof in, out, sizeof out);
    assert_int_equal(tf32 ? b.total.flops_f32 : b.total.flops_f16, 2 * 16 * 8 * k);
    assert_int_equal(b.total.approximate, 32);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 4; i++) {
            int row = l / 4 + i / 2 * 8, column = l % 4 * 2 + i % 2, total = added[row][column];
            for (int j = 0; j < k; j++)
                total += left[row][j] * right[j][column];
            uint32_t got = wide ? out[l][i] : out[l][i / 2] >> 16 * (i % 2) & 0xffff;
            if (got != bits_of(total, wide, false))
                fail_msg("%s of %s into %s: row %d, column %d is %08x, not %d", shape, type, sum, row, column, got, total);
        }
    vgpu_end(&b);
}

static void test_multiply(void **state) {
    (void)state;
    static const struct {
        const char *shape, *type;
        int k;
        bool wide;
    } cases[] = {{"m16n8k8", "f16", 8, true},    {"m16n8k8", "f16", 8, false},   {"m16n8k8", "bf16", 8, true}, {"m16n8k16", "f16", 16, true},
                 {"m16n8k16", "f16", 16, false}, {"m16n8k16", "bf16", 16, true}, {"m16n8k4", "tf32", 4, true}, {"m16n8k8", "tf32", 8, true}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        multiply(cases[i].shape, cases[i].k, cases[i].type, cases[i].wide);
}

/* stmatrix undoes ldmatrix, of one, two and four matrices, transposed or not. */
static void test_store_matrix(void **state) {
    (void)state;
    for (int matrices = 1; matrices <= 4; matrices *= 2)
        for (int transposed = 0; transposed < 2; transposed++) {
            static const char *const registers[] = {"", "{%r1}", "{%r1, %r2}", "", "{%r1, %r2, %r3, %r4}"};
            const char *trans = transposed ? ".trans" : "", *list = registers[matrices];
            char text[2048];
            uint16_t in[256], out[256];
            snprintf(text, sizeof text,
                     HEAD
                     ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .b16 %%h; .reg .pred %%p;\n"
                     ".shared .align 16 .b8 from[512]; .shared .align 16 .b8 to[512];\n"
                     "ld.param.u64 %%d1, [in]; ld.param.u64 %%d2, [out]; mov.u32 %%r7, %%laneid; mul.wide.u32 %%d3, %%r7, 16;\n"
                     "add.u64 %%d1, %%d1, %%d3; add.u64 %%d2, %%d2, %%d3; shl.b32 %%r7, %%r7, 4; mov.u32 %%r5, from; mov.u32 %%r6, to;\n"
                     "add.u32 %%r5, %%r5, %%r7; add.u32 %%r6, %%r6, %%r7;\n"
                     "ld.global.v4.b32 {%%r1, %%r2, %%r3, %%r4}, [%%d1]; st.shared.v4.b32 [%%r5], {%%r1, %%r2, %%r3, %%r4};\nbar.warp.sync -1;\n"
                     "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%%r5];\nstmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%r6], %s;\n"
                     "bar.warp.sync -1;\nsetp.ge.u32 %%p, %%r7, %d;\n@%%p ret;\n"
                     "ld.shared.v4.b32 {%%r1, %%r2, %%r3, %%r4}, [%%r6]; st.global.v4.b32 [%%d2], {%%r1, %%r2, %%r3, %%r4};\nret;\n}\n",
                     matrices, trans, list, matrices, trans, list, matrices * 128);
            for (int i = 0; i < 256; i++)
                in[i] = (uint16_t)(i * 257);
            run(text, in, sizeof in, out, sizeof out);
            assert_memory_equal(out, in, (size_t)matrices * 128);
            vgpu_end(&b);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_multiply), cmocka_unit_test(test_store_matrix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_matrix.c - every shape and type of mma and wmma, stmatrix and movmatrix, by hand-written PTX: what the compiler makes of no source here. */
#include <math.h>

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

/* Products of bytes and of doubles: a word a lane and register, laid out as the manual says. */
static void test_multiply_bytes(void **state) {
    (void)state;
    static const char text[] =
        HEAD ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<20>; .reg .b64 %d<9>;\n"
             "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r19, %laneid; mul.wide.u32 %d3, %r19, 32; mul.wide.u32 %d4, %r19, 16;\n"
             "add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d4; ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%d1]; ld.global.v2.b32 {%r4, %r5}, [%d1+16];\n"
             "mov.u32 %r6, -5;\n"
             "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r10, %r11, %r12, %r13}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r6, %r6, %r6};\n"
             "st.global.v4.b32 [%d2], {%r10, %r11, %r12, %r13};\nret;\n}\n";
    int8_t left[16][32];
    uint8_t right[32][8], in[32][32] = {{0}};
    int32_t out[32][4];
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 32; k++) {
            left[i][k] = (int8_t)(i * 37 + k * 11);
            right[k][i % 8] = (uint8_t)(k * 29 + i % 8 * 53);
        }
    for (int l = 0; l < 32; l++)
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < 4; i++)
                in[l][4 * i + j] = (uint8_t)left[l / 4 + 8 * (i & 1)][l % 4 * 4 + j + 16 * (i >> 1)];
            for (int i = 0; i < 2; i++)
                in[l][16 + 4 * i + j] = right[l % 4 * 4 + j + 16 * i][l / 4];
        }
    run(text, in, sizeof in, out, sizeof out);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 4; i++) {
            int total = -5;
            for (int k = 0; k < 32; k++)
                total += left[l / 4 + 8 * (i >> 1)][k] * right[k][l % 4 * 2 + (i & 1)];
            assert_int_equal(out[l][i], total);
        }
    assert_true(b.total.approximate == 0 && b.total.flops_f16 + b.total.flops_f32 + b.total.flops_f64 == 0);
    vgpu_end(&b);
}

static void test_multiply_doubles(void **state) {
    (void)state;
    static const char text[] =
        HEAD ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %d<9>; .reg .f64 %f<6>;\n"
             "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %laneid; mul.wide.u32 %d3, %r1, 16; add.u64 %d1, %d1, %d3;\n"
             "add.u64 %d2, %d2, %d3; ld.global.v2.f64 {%f1, %f2}, [%d1]; mov.f64 %f3, 0d3ff0000000000000;\n"
             "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f4, %f5}, {%f1}, {%f2}, {%f3, %f3};\nst.global.v2.f64 [%d2], {%f4, %f5};\nret;\n}\n";
    double in[32][2], out[32][2];
    for (int l = 0; l < 32; l++) {
        in[l][0] = 1 + (l / 4 * 4 + l % 4) * 0x1p-30; /* a: row l / 4, column l % 4 */
        in[l][1] = 3 - (l % 4 * 8 + l / 4) * 0x1p-29; /* b: row l % 4, column l / 4 */
    }
    run(text, in, sizeof in, out, sizeof out);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 2; i++) {
            double total = 1;
            for (int k = 0; k < 4; k++)
                total = fma(in[l / 4 * 4 + k][0], in[(l % 4 * 2 + i) * 4 + k][1], total);
            assert_true(total == out[l][i]);
        }
    assert_int_equal(b.total.flops_f64, 2 * 8 * 8 * 4);
    vgpu_end(&b);
}

/* ---- wmma ---- */

typedef struct wmma_case {
    const char *shape, *type, *sum;
    int m, n, k;
    int a, b, c; /* registers */
} wmma_case;

enum { STRIDE = 40, PLANE = 32 * STRIDE * 8 };

static void put(char *at, int v, const char *type) {
    uint32_t bits = type[0] == 'f' && type[1] == '6' ? 0 : bits_of(v, type[0] == 't' || strcmp(type, "f32") == 0, type[0] == 'b');
    double wide = v;
    if (strcmp(type, "f64") == 0)
        memcpy(at, &wide, 8);
    else if (strcmp(type, "s32") == 0)
        memcpy(at, &v, 4);
    else
        memcpy(at, type[1] == '8' ? (void *)&v : (void *)&bits, type[1] == '8' ? 1 : strstr(type, "32") ? 4 : 2);
}
static int bytes_of(const char *type) { return type[1] == '8' ? 1 : strcmp(type, "f64") == 0 ? 8 : strstr(type, "32") ? 4 : 2; }

static size_t vector(char *text, size_t n, size_t room, char letter, int count) {
    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(text + n, room - n, "%s%%%c%d%s", i ? ", " : "{", letter, i, i + 1 < count ? "" : "}");
    return n;
}

/* d = a b + c from and to memory; columns: which of a, b, c and d lie by columns; shared: c and d go by way of shared memory. */
static void matrices(const wmma_case *c, int columns, const char *space) {
    static char in[3 * PLANE], out[PLANE];
    static int left[32][32], right[32][32], added[32][32];
    const char *way[] = {columns & 1 ? "col" : "row", columns & 2 ? "col" : "row", columns & 4 ? "col" : "row"};
    char text[6000];
    const size_t room = sizeof text;
    bool doubles = strcmp(c->type, "f64") == 0, half = strcmp(c->type, "f16") == 0;
    size_t n =
        (size_t)snprintf(text, room,
                         HEAD ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .%s %%a<9>, %%b<9>, %%c<9>, %%e<9>; .reg .b32 %%r<3>; "
                              ".reg .b64 %%d<4>;\nld.param.u64 %%d1, [in]; ld.param.u64 %%d2, [out]; mov.u32 %%r1, %d;\n",
                         doubles ? "b64" : "b32", STRIDE);
    for (int i = 0; i < 3; i++) {
        n +=
            (size_t)snprintf(text + n, room - n, "wmma.load.%c.sync.aligned.%s.%s%s.%s ", 'a' + i, way[i], c->shape, space, i < 2 ? c->type : c->sum);
        n = vector(text, n, room, (char)('a' + i), i == 0 ? c->a : i == 1 ? c->b : c->c);
        n += (size_t)snprintf(text + n, room - n, ", [%%d1+%d], %%r1;\n", i * PLANE);
    }
    n += (size_t)snprintf(text + n, room - n, half ? "wmma.mma.sync.aligned.%s.%s.%s.%s.%s " : "wmma.mma.sync.aligned.%s.%s.%s.%s.%s.%s.%s ", way[0],
                          way[1], c->shape, c->sum, half ? c->sum : c->type, c->type, c->sum);
    for (int i = 0; i < 4; i++) {
        n = vector(text, n, room, "eabc"[i], i == 1 ? c->a : i == 2 ? c->b : c->c);
        n += (size_t)snprintf(text + n, room - n, i < 3 ? ", " : ";\n");
    }
    n += (size_t)snprintf(text + n, room - n, "wmma.store.d.sync.aligned.%s.%s%s.%s [%%d2], ", way[2], c->shape, space, c->sum);
    n = vector(text, n, room, 'e', c->c);
    snprintf(text + n, room - n, ", %d;\nret;\n}\n", STRIDE);
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 32; j++) {
            left[i][j] = (i * 5 + j * 3) % 7 - (c->type[0] == 'u' ? 0 : 3);
            right[i][j] = (j * 7 + i) % 5 - (c->type[0] == 'u' ? 0 : 2);
            added[i][j] = (i * 3 + j) % 11 - 5;
            int s = bytes_of(c->type), t = bytes_of(c->sum);
            put(in + s * (columns & 1 ? j * STRIDE + i : i * STRIDE + j), left[i][j], c->type);
            put(in + PLANE + s * (columns & 2 ? j * STRIDE + i : i * STRIDE + j), right[i][j], c->type);
            put(in + 2 * PLANE + t * (columns & 4 ? j * STRIDE + i : i * STRIDE + j), added[i][j], c->sum);
        }
    vgpu_begin(&b, text, TESS_ISA_AUTO, 1);
    uint64_t to = vgpu_array(&b, memset(out, 0, sizeof out), sizeof out);
    VGPU_PARAM(&b, uint64_t, vgpu_array(&b, in, sizeof in));
    VGPU_PARAM(&b, uint64_t, to);
    vgpu_launch(&b, "k", (tess_vgpu_launch_options){.block = {32}, .count = true, .check = true});
    vgpu_no_faults(&b);
    vgpu_fetch(&b, out, to, sizeof out);
    for (int i = 0; i < c->m; i++)
        for (int j = 0; j < c->n; j++) {
            int total = added[i][j];
            char want[8];
            for (int k = 0; k < c->k; k++)
                total += left[i][k] * right[k][j];
            put(want, total, half && c->c == 4 ? "f16" : c->sum);
            const char *got = out + bytes_of(c->sum) * (columns & 4 ? j * STRIDE + i : i * STRIDE + j);
            if (memcmp(got, want, (size_t)bytes_of(c->sum)) != 0)
                fail_msg("%s of %s into %s, layouts %d: row %d, column %d is not %d", c->shape, c->type, c->sum, columns, i, j, total);
        }
    uint64_t flops = 2ull * (uint64_t)(c->m * c->n * c->k);
    assert_int_equal(b.total.flops_f16 + b.total.flops_f32 + b.total.flops_f64, c->sum[0] == 's' ? 0 : flops);
    assert_int_equal(b.total.global_st_bytes, c->m * c->n * bytes_of(c->sum)); /* each element once */
    assert_int_equal(b.total.global_ld_bytes, (c->m + c->n) * c->k * bytes_of(c->type) + c->m * c->n * bytes_of(c->sum));
    if (half && columns % 4 == 2) /* a register a lane each: 4 bytes of 8 lines */
        assert_int_equal(b.total.global_ld_requests, (c->m + c->n) * c->k / 64 + c->m * c->n / (columns & 4 ? 32 : 64));
    vgpu_end(&b);
}

static void test_fragments(void **state) {
    (void)state;
    static const wmma_case cases[] = {{"m16n16k16", "f16", "f32", 16, 16, 16, 8, 8, 8},  {"m16n16k16", "f16", "f16", 16, 16, 16, 8, 8, 4},
                                      {"m32n8k16", "f16", "f32", 32, 8, 16, 8, 8, 8},    {"m8n32k16", "f16", "f16", 8, 32, 16, 8, 8, 4},
                                      {"m16n16k16", "bf16", "f32", 16, 16, 16, 4, 4, 8}, {"m32n8k16", "bf16", "f32", 32, 8, 16, 8, 2, 8},
                                      {"m8n32k16", "bf16", "f32", 8, 32, 16, 2, 8, 8},   {"m16n16k8", "tf32", "f32", 16, 16, 8, 4, 4, 8},
                                      {"m16n16k16", "s8", "s32", 16, 16, 16, 2, 2, 8},   {"m32n8k16", "u8", "s32", 32, 8, 16, 4, 1, 8},
                                      {"m8n32k16", "s8", "s32", 8, 32, 16, 1, 4, 8},     {"m8n8k4", "f64", "f64", 8, 8, 4, 1, 1, 2}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int columns = 0; columns < 8; columns++)
            matrices(&cases[i], columns, columns & 1 ? ".global" : "");
}

/* movmatrix exchanges rows and columns: element (i, j) is 16 i + j here. */
static void test_turn_matrix(void **state) {
    (void)state;
    static const char text[] = HEAD
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %d<4>;\nld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];\n"
        "mov.u32 %r1, %laneid; mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.b32 %r2, [%d1];\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2;\nst.global.b32 [%d2], %r3;\nret;\n}\n";
    uint16_t in[8][8], out[8][8];
    for (int i = 0; i < 64; i++)
        in[i / 8][i % 8] = (uint16_t)(i / 8 * 16 + i % 8);
    run(text, in, sizeof in, out, sizeof out);
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i % 8][i / 8], in[i / 8][i % 8]);
    vgpu_end(&b);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_multiply),         cmocka_unit_test(test_multiply_bytes),
                                       cmocka_unit_test(test_multiply_doubles), cmocka_unit_test(test_fragments),
                                       cmocka_unit_test(test_turn_matrix),      cmocka_unit_test(test_store_matrix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

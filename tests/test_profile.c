/* SPDX-License-Identifier: Apache-2.0
 * test_profile.c - proves: the launch language is read as tessera.h says and refused with the place and what was expected; arguments take the width and
 * kind of their parameters; sources give their values; a run's counts, faults, hashes and advice are those of kernels whose numbers are known; reports do
 * not depend on host threads; the caller's arrays go in and come back. */
#include <math.h>

#include "profile/profile.h"
#include "vgpu.h"

static const char put_text[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry _Z3putPhfjdm4some(.param .u64 p0, .param .f32 p1, .param .u32 p2, .param .f64 p3, .param .u64 p4,\n"
                               " .param .align 8 .b8 p5[16]) {\n"
                               " .reg .b64 %rd<4>; .reg .f32 %f<3>; .reg .b32 %r<3>; .reg .f64 %fd<3>;\n"
                               " ld.param.u64 %rd1, [p0];\n"
                               " ld.param.f32 %f1, [p1]; st.global.f32 [%rd1], %f1;\n"
                               " ld.param.u32 %r1, [p2]; st.global.u32 [%rd1+4], %r1;\n"
                               " ld.param.f64 %fd1, [p3]; st.global.f64 [%rd1+8], %fd1;\n"
                               " ld.param.u64 %rd2, [p4]; st.global.u64 [%rd1+16], %rd2;\n"
                               " ld.param.f32 %f2, [p5]; st.global.f32 [%rd1+24], %f2;\n"
                               " ld.param.u32 %r2, [p5+4]; st.global.u32 [%rd1+28], %r2;\n"
                               " ld.param.f64 %fd2, [p5+8]; st.global.f64 [%rd1+32], %fd2;\n"
                               " ret;\n}\n"
                               ".visible .entry keep(.param .u64 q0) { ret; }\n";

static tess_profile *profile(const char *source, const char *launch, const DLTensor *const *arrays, int count, const tess_profile_options *options) {
    tess_profile *p;
    assert_tess_ok(tess_profile_kernel(&p, NULL, source, launch, arrays, count, options));
    return p;
}

static char *text_of(const tess_profile *p, tess_format format) {
    size_t length;
    assert_tess_ok(tess_profile_text(p, format, NULL, 0, &length));
    char *text = malloc(length + 1);
    assert_tess_ok(tess_profile_text(p, format, text, length + 1, &length));
    assert_int_equal(strlen(text), length);
    return text;
}

static uint64_t counter(const tess_profile *p, const char *name) {
    uint64_t value = 0;
    assert_true(tess_profile_counter(p, name, &value));
    return value;
}

/* Declarations that the compiler complained of: those on lines that begin with ! go, from @ to @; of device code none. */
static void named_declarations_go(void **state) {
    static const char *const texts[] = {
        "@struct Case {\n!  std::string name;\n  int n;\n};@\nstruct Kept { int n; };\n!__device__ int f() { return g(); }\n",
        "typedef void (*F)(int);\n!@static const F table[] = {go};@\nconst int n = 3;\n!@struct R { F f; } a[] = {{go}};@\n__global__ void k() {}\n",
        "namespace a {\n!@using S = std::string;@\nenum E { A };\n!@class C : public S { int x; };@\n}\n!__constant__ float w[bad];\nint z;",
        "@template <class T> struct B {\n  T *p;\n!  std::vector<T> v;\n#if X\n  int q;\n#endif\n};@ int z;\n", "!\n!}}}\n!struct"};
    (void)state;
    for (int i = 0; i < TESS_COUNT(texts); i++) {
        char text[400], want[400];
        int line[16], lines = 0, number = 1, n = 0, went = 0;
        bool gone = false;
        for (const char *p = texts[i]; *p; p++) {
            if (*p == '@') {
                gone = !gone;
                went += gone;
            } else if (*p == '!') {
                line[lines++] = number;
            } else {
                number += *p == '\n';
                want[n] = gone && *p != '\n' ? ' ' : *p;
                text[n++] = *p;
            }
        }
        text[n] = want[n] = 0;
        assert_int_equal(tess_profile_leave_out(text, line, lines), went);
        assert_string_equal(text, want);
        assert_int_equal(tess_profile_leave_out(text, line, lines), 0); /* an end */
    }
}

/* What only the host runs becomes blanks, line by line: what stands between two @ must go. */
static void host_code_goes(void **state) {
    static const char *const texts[] = {
        "#include <vector>\n__global__ void k(int *p) { *p = 1; }\n@int main(int argc, char **argv) {\n  k<<<1, 2>>>(d); // }\n  puts(\"}\"); return "
        "'}';\n}@\n",
        "@main() { }@ __device__ int f(int x) { return x; } @static inline float g(float x) { return {x}; }@",
        "template <class T, int N = 3> __global__ void k(T *p) {} @template <typename T> void check(T x, const char *y) { exit(1); }@",
        "struct P { int x; int twice() const { return 2 * x; } }; class __align__(16) Q { float v[4]; }; @P make(int x) { return P{x}; }@",
        "namespace a { namespace { @void h();@ __constant__ float w[2] = {1, 2}; } @int main() {}@ } __global__ void k() {}",
        "extern \"C\" { __global__ void k() {} @int h(void) { return 0; }@ } extern \"C\" __global__ void m() {} extern __shared__ float s[];",
        "#define HD __host__ \\\n __device__\nHD int f() { return 1; }\nconstexpr int c(int x) { return x; } @dim3 grid(4, 4);@ using F = int "
        "(*)(int); typedef int (*G)(int);",
        "#define KERNEL(name) __global__ void name\nKERNEL(k)(int *p) { } INSTANTIATE(float); static_assert(sizeof(int) == 4, \"\"); const int n = "
        "f(3);",
        "__device__ bool operator==(P a, P b) { return a.x == b.x; } @bool operator<(P a, P b) { return f(b); }@ auto f = [] (int x) { return x; };",
        "/* int main() { */ __host__ __device__ int f() { /* } */ return 1; } @int h() {\n#ifdef X\n  '{';\n#endif\n}@ __launch_bounds__(64) "
        "__global__ void k() {}",
        "struct T { cudaEvent_t a; T() {@ cudaEventCreate(&a); @} __device__ int f() { return cudaF(); } struct { int n() { return n_; } void m() "
        "const {@std::sort(x);@} } u; };",
        "const int n = 1'000; __global__ void k(int *p) { *p = 0x1'f'F; } @int main() { f(1'000, '{', u8'}', \"}\", R\"(\" } ')\", R\"x()\" })x\"); "
        "}@",
        "@int g(char c) { return c=='0'; }@ __device__ int f() { return 2; } @int h() { return R\"(}\"",
        "__global__ void k(int *p) { *p = ",
        "@int main() { \"@",
        "struct T { int f() { std",
        "namespace a {",
        "}}}}"};
    (void)state;
    for (int i = 0; i < TESS_COUNT(texts); i++) {
        char text[600], want[600];
        size_t size, n = 0;
        bool host = false;
        for (const char *p = texts[i]; *p; p++) {
            if (*p == '@') {
                host = !host;
                continue;
            }
            want[n] = host && *p != '\n' ? ' ' : *p;
            text[n++] = *p;
        }
        text[n] = want[n] = 0;
        tess_context *context;
        assert_tess_ok(tess_open(&context, NULL));
        char *got = tess_profile_device_code(context, text, &size);
        assert_int_equal(size, n + 1);
        assert_string_equal(got, want);
        tess_free(context, got, size);
        tess_close(context);
    }
}

static void launches_read(void **state) {
    static const struct {
        const char *text, *kernel;
        uint32_t grid[3], block[3];
        int64_t shared;
        int values;
    } cases[] = {
        {"k<<<1,2>>>()", "k", {1, 1, 1}, {2, 1, 1}, 0, 0},
        {" ns::k <<< ( 3 , 4 ) , dim3(5,6,7) , 64 , 0 >>> ( 1 , -2 ) ; ", "ns::k", {3, 4, 1}, {5, 6, 7}, 64, 2},
        {"k<float, 32><<<dim3(2), (1), 0x10, stream>>>(1)", "k<float, 32>", {2, 1, 1}, {1, 1, 1}, 16, 1},
        {"k<A<B<int>>><<<16*1024, 256>>>({1, {2, 3}, 0.5f}, in:f32[2*3]=ramp)", "k<A<B<int>>>", {16384, 1, 1}, {256, 1, 1}, 0, 7},
        {"k<<<1,1>>>", "k", {1, 1, 1}, {1, 1, 1}, 0, 0},
        {"k<<<1,1>>>(in:u8[4]=\"a,b).npy\", in:u8[4]=ramp.npy, in:i8[1]=dir/x y.npy )", "k", {1, 1, 1}, {1, 1, 1}, 0, 3},
        {"k<<<1,1>>>(inout:bf16[4]=random:0xff, out:f64[1], $0, in:$1)", "k", {1, 1, 1}, {1, 1, 1}, 0, 4},
    };
    (void)state;
    tess_context *context;
    assert_tess_ok(tess_context_get(&context, NULL));
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        tess_launch l;
        if (tess_launch_parse(context, cases[i].text, &l) != TESS_OK)
            fail_msg("%s: %s", cases[i].text, tess_detail());
        assert_string_equal(l.kernel, cases[i].kernel);
        assert_memory_equal(l.grid, cases[i].grid, sizeof l.grid);
        assert_memory_equal(l.block, cases[i].block, sizeof l.block);
        assert_int_equal(l.shared, cases[i].shared);
        assert_int_equal(l.count, cases[i].values);
        if (i == 5) {
            assert_memory_equal(l.values[0].file, "a,b).npy", 8);
            assert_int_equal(l.values[1].source, TESS_SOURCE_FILE);
            assert_memory_equal(l.values[1].file, "ramp.npy", 8);
            assert_int_equal(l.values[2].file_length, 11);
        }
        tess_launch_free(context, &l);
    }
}

static void launches_refused(void **state) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "at its end: the kernel's name is expected"},
        {"1k<<<1,1>>>()", "character 1 (\"1\"): the kernel's name"},
        {"k", "at its end: <<<grid, block>>> is expected"},
        {"k<<<1>>>()", "character 6 (\">\"): , and the block"},
        {"k<<<1, 2>>()", "character 9 (\">\"): >>> is expected"},
        {"k<<<(1, 2, 3, 4), 2>>>()", "character 13 (\",\"): ) is expected"},
        {"k<<<dim3 7, 2>>>()", "character 10 (\"7\"): ( after dim3"},
        {"k<<<0, 2>>>()", "a size of the grid is 0"},
        {"k<<<99999999999, 2>>>()", "at most 4294967295"},
        {"k<<<1, 2>>>(in:f8[2]=ramp)", "character 16 (\"f\"): a type, one of u8"},
        {"k<<<1, 2>>>(in:f32=ramp)", "character 19 (\"=\"): [ and the number of elements"},
        {"k<<<1, 2>>>(in:f32[x]=ramp)", "character 20 (\"x\"): the number of elements"},
        {"k<<<1, 2>>>(in:f32[2])", "character 22 (\")\"): = and where the values come from"},
        {"k<<<1, 2>>>(in:f32[2]=random)", NULL}, /* a file of this name */
        {"k<<<1, 2>>>(in:f32[2]=random:x)", "character 30 (\"x\"): a whole number, the seed"},
        {"k<<<1, 2>>>(in:f32[2]=)", "ramp, zeros, ones, random:SEED or a file's name is expected"},
        {"k<<<1, 2>>>(f32[2]=ramp)", "character 13 (\"f\"): in:, inout: or out:"},
        {"k<<<1, 2>>>(1 2)", "character 15 (\"2\"): , or ) is expected"},
        {"k<<<1, 2>>>({1, 2)", "character 18 (\")\"): , or } is expected"},
        {"k<<<1, 2>>>(1x)", "character 13 (\"1\"): an argument"},
        {"k<<<1, 2>>>(1,)", "character 15 (\")\"): an argument"},
        {"k<<<1, 2>>>(1", "at its end: , or ) is expected"},
        {"k<<<1, 2>>>(1) x", "character 16 (\"x\"): the end is expected"},
        {"k<<<1, 2>>> x", "character 13 (\"x\"): ( and the arguments is expected"},
        {"k<<<1, 2>>>(in:f32[4]=\"x)", "the quote at the end"},
        {"k<<<1, 2>>>(u8:300)", "character 16: this number is none of u8"},
        {"k<<<1, 2>>>({1, u8:-1})", "character 20: this number is none of u8"},
        {"k<<<1, 2>>>(u8:255, i8:-128, i8:127, u8:-0, i64:-9223372036854775808, u64:18446744073709551615, 4294967296u, f16:65519, -inf, f32:inf)",
         NULL},
        {"k<<<1, 2>>>(i8:128)", "none of i8"},
        {"k<<<1, 2>>>(i8:-129)", "none of i8"},
        {"k<<<1, 2>>>(i64:-9223372036854775809)", "none of i64"},
        {"k<<<1, 2>>>(i32:2147483648)", "none of i32"},
        {"k<<<1, 2>>>(i32:0.5)", "none of i32"},
        {"k<<<1, 2>>>(u8:2.56e2)", "none of u8"},
        {"k<<<1, 2>>>(u8:inf)", "none of u8"},
        {"k<<<1, 2>>>(i32:nan)", "none of i32"},
        {"k<<<1, 2>>>(f16:65520)", "none of f16"},
        {"k<<<1, 2>>>(1e39f)", "none of f32"},
        {"k<<<1, 2>>>(-1e999)", "none of f64"},
    };
    (void)state;
    tess_context *context;
    assert_tess_ok(tess_context_get(&context, NULL));
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        tess_launch l;
        tess_status status = tess_launch_parse(context, cases[i].text, &l);
        if (!cases[i].says) {
            assert_tess_ok(status);
            tess_launch_free(context, &l);
        } else if (status != TESS_ERR_ARGUMENT || !strstr(tess_detail(), cases[i].says)) {
            fail_msg("\"%s\" gives \"%s\", not \"%s\"", cases[i].text, status == TESS_OK ? "ok" : tess_detail(), cases[i].says);
        }
    }
}

/* A number becomes what its parameter is, members what the kernel reads. */
static void widths(void **state) {
    (void)state;
    static const char *const launches[] = {"put<<<1, 1>>>(out:u8[40], 3, -5, 2, 0x123456789abcdef0, {1, 7, 0.5})",
                                           "_Z3putPhfjdm4some<<<1, 1>>>(out:u8[40], 3.0, -5.0, 2.0f, 0x123456789abcdef0ull, {f32:1, i32:7, f64:0.5})",
                                           "put<<<1, 1>>>(out:u8[40], 3.f, 4294967291u, f64:2, 1311768467463790320, {1.0f, u32:7, 0x1p-1})"};
    for (int i = 0; i < TESS_COUNT(launches); i++) {
        tess_profile *p = profile(put_text, launches[i], NULL, 0, NULL);
        tess_profile_output o;
        assert_true(tess_profile_output_get(p, 0, &o));
        assert_false(tess_profile_output_get(p, 1, &o) || tess_profile_output_get(p, -1, &o));
        assert_int_equal(tess_profile_faults(p), 0);
        struct {
            float a;
            int32_t b;
            double c;
            uint64_t d;
            float e;
            int32_t f;
            double g;
        } is, wanted = {3, -5, 2, 0x123456789abcdef0, 1, 7, 0.5};
        memcpy(&is, o.data, sizeof is);
        assert_memory_equal(&is, &wanted, sizeof is);
        tess_profile_free(p);
    }
    static const struct {
        const char *launch, *says;
    } bad[] = {{"put<<<1, 1>>>(out:u8[40], 3, 0.5, 2, 1, {1, 7, 0.5})", "does not go into the kernel's parameter 2, of 4 bytes, a whole number"},
               {"put<<<1, 1>>>(out:u8[40], 1e39, 1, 2, 1, {1, 7, 0.5})", "does not go into the kernel's parameter 1, of 4 bytes"},
               {"put<<<1, 1>>>(out:u8[40], 3, 1, 2, 1, {1})", "the structure has 4 bytes as it is written, the kernel's parameter 5 has 16"},
               {"put<<<1, 1>>>(out:u8[40], 3, 1, 2, 1)", "5 arguments; the kernel _Z3putPhfjdm4some takes 6"},
               {"put<<<1, 1>>>(1, out:u8[40], 1, 2, 1, {1, 7, 0.5})", "an array stands where the kernel's parameter 1 is no pointer"},
               {"nix<<<1, 1>>>()", "has no kernel \"nix\"; it has _Z3putPhfjdm4some, keep"},
               {"put<<<1, 1>>>(out:u8[40], 3, 4294967296, 2, 1, {1, 7, 0.5})", "does not go into the kernel's parameter 2, of 4 bytes"},
               {"put<<<1, 1>>>(out:u8[40], 3, -2147483649, 2, 1, {1, 7, 0.5})", "does not go into the kernel's parameter 2, of 4 bytes"},
               {"put<<<1, 1>>>(out:u8[40], 3, 1e10, 2, 1, {1, 7, 0.5})", "does not go into the kernel's parameter 2, of 4 bytes"},
               {"put<<<1, 1>>>(out:u8[40], 3, 1, 2, 1, {1, 4294967296, 0.5})", "character 43: this number does not go into its place"},
               {"keep<<<1, (1, 1, 65)>>>(1)", "the limit of the last size is 64"},
               {"keep<<<1, 1, 232449>>>(1)", "232449 bytes of shared memory a block, 232449 of them dynamic; the limit is 232448"},
               {"keep<<<1, 2000>>>(1)", "a block of 2000 x 1 x 1 threads; the limit is 1024"},
               {"keep<<<1, 1>>>($0)", "there is no array $0"},
               {"keep<<<1, 1>>>(in:u8[3]=x.npy)", "files cannot be read here"}};
    for (int i = 0; i < TESS_COUNT(bad); i++) {
        tess_profile *p;
        tess_status status = tess_profile_kernel(&p, NULL, put_text, bad[i].launch, NULL, 0, NULL);
        if (status == TESS_OK || !strstr(tess_detail(), bad[i].says))
            fail_msg("%s gives \"%s\"", bad[i].launch, status == TESS_OK ? "ok" : tess_detail());
        assert_null(p);
    }
}

static tess_status foo(void *user, const char *file, void *data, tess_type type, int64_t count) {
    if (strcmp(file, "foo.npy") != 0 || type != tess_u8 || count != 3)
        return TESS_ERR_FILE;
    memcpy(data, user, 3);
    return TESS_OK;
}

/* What a source holds, seen through a kernel that does nothing; and the hash, against its published values. */
static void sources(void **state) {
    (void)state;
    tess_profile_output o;
    char word[] = "foo";
    tess_profile_options options = {.struct_size = sizeof options, .read = foo, .read_user = word};
    tess_profile *p = profile(put_text, "keep<<<1, 1>>>(inout:u8[3]=foo.npy)", NULL, 0, &options);
    assert_true(tess_profile_output_get(p, 0, &o));
    assert_true(o.hash == 0xdcb27518fed9d577u); /* "foo" in the authors' table */
    assert_int_equal(o.argument, 0);
    tess_profile_free(p);
    assert_int_equal(tess_profile_kernel(&p, NULL, put_text, "keep<<<1, 1>>>(inout:u8[4]=foo.npy)", NULL, 0, &options), TESS_ERR_FILE);
    p = profile(put_text, "keep<<<1, 1>>>(inout:u8[300]=ramp)", NULL, 0, NULL);
    tess_profile_output_get(p, 0, &o);
    for (int i = 0; i < 300; i++)
        assert_int_equal(((const uint8_t *)o.data)[i], i % 256);
    tess_profile_free(p);
    p = profile(put_text, "keep<<<1, 1>>>(inout:f16[70000]=ramp)", NULL, 0, NULL);
    tess_profile_output_get(p, 0, &o);
    const uint16_t *h = o.data;
    assert_true(h[0] == 0 && h[1] == 0x3c00 && h[2049] == 0x6800 && h[2051] == 0x6802 && h[65519] == 0x7bff && h[65520] == 0x7c00); /* half to even */
    tess_profile_free(p);
    p = profile(put_text, "keep<<<1, 1>>>(inout:f64[1500]=random:7)", NULL, 0, NULL);
    tess_profile_output_get(p, 0, &o);
    uint64_t seed = 7;
    for (int i = 0; i < 1500; i++)
        assert_true(((const double *)o.data)[i] == (double)(hostile_random(&seed) >> 11) * 0x1p-53);
    tess_profile_free(p);
    p = profile(put_text, "keep<<<1, 1>>>(inout:bf16[9]=ones)", NULL, 0, NULL);
    tess_profile_output_get(p, 0, &o);
    assert_true(((const uint16_t *)o.data)[8] == 0x3f80);
    tess_profile_free(p);
}

/* tests/ptx/transpose.cu, 64 x 64 in blocks of 32 x 8: counts by hand, and the words about them. */
static void transposes(void **state) {
    (void)state;
    char *source = vgpu_read("transpose.sm_90.ptx");
    tess_profile_options options = {.struct_size = sizeof options, .name = "transpose.ptx", .threads = 1};
    tess_profile *p = profile(source, "transpose_tile<<<(2, 2), (32, 8)>>>(in:f32[64*64]=ramp, out:f32[64*64], 64, 64)", NULL, 0, &options);
    assert_int_equal(counter(p, "global_ld_requests"), 128);
    assert_int_equal(counter(p, "global_ld_sectors"), 512);
    assert_int_equal(counter(p, "shared_ld_wavefronts"), 128 * 32);
    assert_int_equal(counter(p, "shared_ld_conflicts"), 128 * 31);
    uint64_t unused;
    assert_false(tess_profile_counter(p, "nonsense", &unused));
    tess_profile_output o;
    tess_profile_output_get(p, 0, &o);
    assert_int_equal(o.argument, 1);
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++)
            assert_true(((const float *)o.data)[y * 64 + x] == (float)(x * 64 + y));
    char *text = text_of(p, TESS_TEXT), *one = text_of(p, TESS_JSON), *page = text_of(p, TESS_HTML);
    assert_non_null(strstr(text, "32 lanes read with a stride of 32 words: 32-way bank conflict\n      pad the row to 33"));
    assert_non_null(strstr(text, "Predicted for NVIDIA H200 SXM"));
    assert_non_null(strstr(page, "lanes by banks"));
    assert_null(strstr(page, "lanes by sectors"));
    tess_profile_free(p);
    free(text);
    free(page);
    options.threads = 3; /* the same to the last byte */
    p = profile(source, "transpose_tile<<<(2, 2), (32, 8)>>>(in:f32[64*64]=ramp, out:f32[64*64], 64, 64)", NULL, 0, &options);
    char *three = text_of(p, TESS_JSON);
    assert_string_equal(one, three);
    char cut[20];
    size_t length;
    assert_int_equal(tess_profile_text(p, TESS_JSON, cut, sizeof cut, &length), TESS_ERR_SIZE);
    assert_int_equal(length, strlen(three));
    tess_profile_free(p);
    free(one);
    free(three);
    p = profile(source, "transpose_tile_pad<<<(2, 2), (32, 8)>>>(in:f32[64*64]=ramp, out:f32[64*64], 64, 64)", NULL, 0, &options);
    text = text_of(p, TESS_TEXT);
    assert_null(strstr(text, "bank conflict"));
    assert_int_equal(counter(p, "shared_ld_conflicts"), 0);
    free(text);
    tess_profile_free(p);
    p = profile(source, "transpose_naive_read<<<(2, 2), (32, 8)>>>(in:f32[64*64]=ramp, out:f32[64*64], 64, 64)", NULL, 0, &options);
    text = text_of(p, TESS_TEXT);
    page = text_of(p, TESS_HTML);
    assert_non_null(strstr(text, "32 lanes write with a stride of 64 elements: 32 sectors a request, 4 would do"));
    assert_non_null(strstr(page, "lanes by sectors"));
    free(text);
    free(page);
    /* Every sector is read once and written once, whatever the requests were. */
    assert_true(p->prediction.bytes == 2 * 64 * 64 * 4);
    const tess_card *card = &p->prediction.card;
    double memory = 64 * 64 * 4 / (card->read_gb_s * 1e9) + 64 * 64 * 4 / (card->write_gb_s * 1e9);
    assert_true(fabs(p->prediction.term[TESS_TERM_MEMORY].seconds / memory - 1) < 1e-12); /* two roundings of each side */
    assert_true(tess_profile_seconds(p) >= memory + card->launch_us * 1e-6 * (1 - 1e-12));
    tess_profile_free(p);
    free(source);
}

static void faults(void **state) {
    (void)state;
    char *source = vgpu_read("faults.sm_90.ptx");
    tess_profile *p = profile(source, "race_bad<<<1, 64>>>(out:i32[64])", NULL, 0, NULL);
    char *json = text_of(p, TESS_JSON);
    assert_true(tess_profile_faults(p) > 0);
    assert_non_null(strstr(tess_profile_fault(p, 0), "shared address"));
    assert_null(tess_profile_fault(p, tess_profile_faults(p)));
    assert_non_null(strstr(json, "{\"kind\": \"race\", \"kernel\": \"race_bad\", \"count\": "));
    assert_non_null(strstr(json, "\"space\": \"shared\", \"address\": "));
    free(json);
    tess_profile_free(p);
    tess_profile_free(profile(put_text, "keep<<<(1, 1, 2), (1, 1, 64), 232448>>>(1)", NULL, 0, NULL)); /* at the limits */
    tess_profile_options options = {.struct_size = sizeof options, .no_check = true};
    p = profile(source, "race_bad<<<1, 64>>>(out:i32[64])", NULL, 0, &options);
    assert_int_equal(tess_profile_faults(p), 0);
    tess_profile_free(p);
    free(source);
}

/* add of tests/ptx/card.cu on views with gaps, and a number as an array of no axes. */
static void callers(void **state) {
    (void)state;
    float a[20], b[8], c[16];
    int64_t eight[] = {8}, two[] = {2}, one[] = {-1};
    for (int i = 0; i < 20; i++)
        a[i] = (float)i;
    for (int i = 0; i < 8; i++)
        b[i] = (float)(10 * i);
    memset(c, 0, sizeof c);
    int64_t n = 8;
    DLTensor x = tess_view(a, tess_f32, 1, eight, two), y = tess_view(b + 7, tess_f32, 1, eight, one), z = tess_view(c, tess_f32, 1, eight, two),
             count = tess_view(&n, tess_i64, 0, NULL, NULL);
    const DLTensor *arrays[] = {&x, &y, &z, &count};
    char *source = vgpu_read("card.sm_90.ptx");
    static const char *const launches[] = {"add<<<1, 32>>>", "add<<<1, 32>>>(in:$0, in:$1, out:$2, $3)", "add<<<1, 32>>>($0, $1, out:$2, 8)"};
    for (int i = 0; i < TESS_COUNT(launches); i++) {
        memset(c, 0, sizeof c);
        tess_profile_free(profile(source, launches[i], arrays, 4, NULL));
        for (int k = 0; k < 8; k++) {
            assert_true(c[2 * k] == a[2 * k] * 0.1f + b[7 - k]);
            assert_true(c[2 * k + 1] == 0);
        }
    }
    int64_t zero[] = {0};
    DLTensor twice = tess_view(c, tess_f32, 1, eight, zero);
    arrays[2] = &twice;
    tess_profile *p;
    assert_int_equal(tess_profile_kernel(&p, NULL, source, launches[0], arrays, 4, NULL), TESS_ERR_OVERLAP);
    free(source);
}

static void names(void **state) {
    static const struct {
        const char *symbol, *name;
        bool same;
    } cases[] = {{"blur", "blur", true},
                 {"_Z4blurPf", "blur", true},
                 {"_Z5blur2Pf", "blur", false},
                 {"_ZN3abc4blurEPf", "blur", true},
                 {"_ZN3abc4blurEPf", "abc::blur", true},
                 {"_ZN3abc4blurEPf", "abd::blur", false},
                 {"_Z4blurIfLi32EEvPT_", "blur", true},
                 {"_Z4blurIfLi32EEvPT_", "blur<float, 32>", true},
                 {"_ZN12_GLOBAL__N_14blurEPf", "blur", true},
                 {"_Z", "blur", false},
                 {"_Z9999blur", "blur", false},
                 {"_ZL4blurPf", "blur", true}};
    (void)state;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        if (tess_profile_names(cases[i].symbol, (int)strlen(cases[i].symbol), cases[i].name) != cases[i].same)
            fail_msg("%s %s", cases[i].symbol, cases[i].name);
}

static void cards(void **state) {
    tess_card card;
    (void)state;
    static const char *const built_in[] = {NULL, "H200", "A100", "RTX4090", "T4"};
    for (int i = 0; i < TESS_COUNT(built_in); i++)
        assert_tess_ok(tess_profile_card(NULL, built_in[i], &card));
    assert_string_equal(card.title, "NVIDIA T4");
    assert_int_equal(tess_profile_card(NULL, "GTX", &card), TESS_ERR_ARGUMENT);
    assert_string_equal(tess_detail(), "there is no card \"GTX\"; the list has H200 A100 RTX4090 T4");
    static const struct {
        const char *list, *says;
    } bad[] = {{"", "the list has none"},
               {"card X\nsms 4\n", "X lacks the key clock_ghz"},
               {"card X\nsms -4\n", "line 2: sms is \"-4\", a number above 0"},
               {"card X\n\nsmx 4\n", "line 3: there is no key \"smx\""},
               {"card X\nsms\n", "line 2: \"sms\" has no value"}};
    for (int i = 0; i < TESS_COUNT(bad); i++) {
        assert_int_equal(tess_profile_card(bad[i].list, NULL, &card), TESS_ERR_ARGUMENT);
        if (!strstr(tess_detail(), bad[i].says))
            fail_msg("%s", tess_detail());
    }
    float values[4] = {0}, sum;
    int64_t four[] = {4};
    DLTensor in = tess_view(values, tess_f32, 1, four, NULL), out = tess_view(&sum, tess_f32, 0, NULL, NULL);
    tess_plan *plan;
    char text[64];
    size_t length;
    assert_tess_ok(tess_plan_reduce(&plan, NULL, TESS_SUM, &in, &out, NULL));
    assert_int_equal(tess_profile_plan(plan, values, NULL, &sum, NULL, text, sizeof text, &length), TESS_ERR_ARGUMENT);
    assert_string_equal(tess_detail(), "the plan was not made for the virtual engine");
    tess_plan_free(plan);
    tess_profile *p;
    tess_profile_options options = {.struct_size = sizeof options, .card = "none"};
    assert_int_equal(tess_profile_kernel(&p, NULL, put_text, "keep<<<1, 1>>>(0)", NULL, 0, &options), TESS_ERR_ARGUMENT);
    assert_int_equal(tess_profile_kernel(NULL, NULL, put_text, "keep<<<1, 1>>>(0)", NULL, 0, NULL), TESS_ERR_ARGUMENT);
    assert_int_equal(tess_profile_kernel(&p, NULL, NULL, "keep<<<1, 1>>>(0)", NULL, 0, NULL), TESS_ERR_ARGUMENT);
    assert_int_equal(tess_profile_kernel(&p, NULL, put_text, "keep<<<1, 1>>>(0)", NULL, 1, NULL), TESS_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_code_goes), cmocka_unit_test(named_declarations_go),
        cmocka_unit_test(launches_read),  cmocka_unit_test(launches_refused),
        cmocka_unit_test(widths),         cmocka_unit_test(sources),
        cmocka_unit_test(transposes),     cmocka_unit_test(faults),
        cmocka_unit_test(callers),        cmocka_unit_test(names),
        cmocka_unit_test(cards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

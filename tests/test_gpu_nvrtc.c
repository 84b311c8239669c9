/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_nvrtc.c - proves with the real compiler: a kernel becomes PTX and machine code of each architecture that is known; products and sums
 * are not fused unless fma is written; -D options arrive; compiling twice gives the same bytes; the log of a kernel that does not compile is in
 * the detail; another context finds the image on disk. Skipped where NVRTC is not installed. */
#include <time.h>

#include "core/strategy.h"
#include "gpu_fake.h"

static const char text[] = "extern \"C\" __global__ void axpy(float *y, const float *x, float a, unsigned long long n) {\n"
                           "    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;\n"
                           "    if (i < n)\n"
                           "        y[i] = AXPY(a, x[i], y[i]);\n"
                           "}\n";
static const char *const plain_options[] = {"-DAXPY(a,x,y)=((a)*(x)+(y))"}, *const fused_options[] = {"-DAXPY(a,x,y)=fmaf(a,x,y)"};
static const tess_gpu_source plain = {"axpy.cu", text, plain_options, 1, NULL, NULL, false},
                             fused = {"axpy.cu", text, fused_options, 1, NULL, NULL, false};

static tess_gpu_image compile(tess_gpu *gpu, const tess_gpu_source *source, int arch, tess_gpu_form form) {
    tess_gpu_image image;
    assert_tess_ok(tess_gpu_compile(gpu, source, arch, form, &image));
    return image;
}

static void ptx_keeps_the_bits(void **state) {
    (void)state;
    tess_context *context;
    tess_gpu *gpu = fake_open(&context);
    tess_gpu_image image = compile(gpu, &plain, 90, TESS_GPU_PTX);
    assert_int_equal(strlen(image.data), image.size);
    assert_non_null(strstr(image.data, ".target sm_90"));
    assert_non_null(strstr(image.data, ".visible .entry axpy("));
    assert_null(strstr(image.data, "fma."));
    assert_non_null(strstr(image.data, "mul.rn.f32")); /* .rn says that it may not be fused later either */
    tess_gpu_image_free(gpu, &image);
    image = compile(gpu, &fused, 90, TESS_GPU_PTX);
    assert_non_null(strstr(image.data, "fma.rn.f32"));
    tess_gpu_image_free(gpu, &image);
    tess_close(context);
}

static void machine_code_of_known_architectures(void **state) {
    (void)state;
    tess_context *context;
    tess_gpu *gpu = fake_open(&context);
    tess_gpu_device device = {.name = "a device"};
    int made = 0;
    assert_tess_ok(tess_gpu_open_nvrtc(gpu));
    for (int wanted = 80; wanted <= 100; wanted += 10) {
        tess_gpu_form form;
        int arch;
        device.major = wanted / 10;
        assert_tess_ok(tess_gpu_target(gpu, &device, &arch, &form));
        tess_gpu_image image = compile(gpu, &plain, arch, form);
        if (form == TESS_GPU_CUBIN) {
            assert_int_equal(arch, wanted);
            assert_memory_equal(image.data,
                                "\x7f"
                                "ELF",
                                4);
            made++;
        }
        tess_gpu_image_free(gpu, &image);
    }
    assert_true(made >= 2); /* every compiler that is accepted knows 8.0 and 9.0 */
    device.major = 99;      /* one that is not made yet: PTX of the newest */
    tess_gpu_form form;
    int arch;
    assert_tess_ok(tess_gpu_target(gpu, &device, &arch, &form));
    assert_int_equal(form, TESS_GPU_PTX);
    assert_true(arch >= 90 && arch < 990);
    tess_close(context);
}

static void the_same_bytes_twice(void **state) {
    (void)state;
    tess_gpu_image images[2];
    tess_context *contexts[2];
    tess_gpu *gpus[2];
    for (int i = 0; i < 2; i++) {
        gpus[i] = fake_open(&contexts[i]);
        images[i] = compile(gpus[i], &plain, 90, TESS_GPU_CUBIN);
    }
    assert_int_equal(images[0].size, images[1].size);
    assert_memory_equal(images[0].data, images[1].data, images[0].size);
    for (int i = 0; i < 2; i++) {
        tess_gpu_image_free(gpus[i], &images[i]);
        tess_close(contexts[i]);
    }
}

static void errors_are_attached(void **state) {
    (void)state;
    tess_context *context;
    tess_gpu_image image;
    tess_gpu *gpu = fake_open(&context);
    const tess_gpu_source without = {"axpy.cu", text, NULL, 0, NULL, NULL, false},
                          odd = {"axpy.cu", text, (const char *const[]){"--no-such-option"}, 1, NULL, NULL, false},
                          asked = {"asked.cu", "#ifndef WIDTH\n#error WIDTH must be given\n#endif\n", NULL, 0, NULL, NULL, false};
    assert_tess_fails(tess_gpu_compile(gpu, &without, 90, TESS_GPU_CUBIN, &image), TESS_ERR_ENGINE);
    const char *begin = "axpy.cu does not compile for sm_90: axpy.cu(4): error: ";
    assert_memory_equal(tess_detail(), begin, strlen(begin));
    assert_non_null(strstr(tess_detail(), "AXPY"));
    assert_null(strchr(tess_detail(), '\n'));
    assert_tess_fails(tess_gpu_compile(gpu, &asked, 90, TESS_GPU_CUBIN, &image), TESS_ERR_ENGINE);
    assert_non_null(strstr(tess_detail(), "WIDTH must be given"));
    assert_tess_fails(tess_gpu_compile(gpu, &odd, 90, TESS_GPU_CUBIN, &image), TESS_ERR_ENGINE);
    assert_non_null(strstr(tess_detail(), "no-such-option"));
    assert_tess_fails(tess_gpu_compile(gpu, &plain, 12, TESS_GPU_CUBIN, &image), TESS_ERR_ENGINE);
    assert_non_null(strstr(tess_detail(), "does not compile for sm_12"));
    tess_close(context);
}

static void found_on_disk_by_another_context(void **state) {
    (void)state;
    char *folder = fake_cache();
    tess_gpu_image images[2];
    tess_context *contexts[2];
    tess_gpu *gpus[2];
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        gpus[i] = fake_open(&contexts[i]);
        double begin = tess_seconds();
        images[i] = compile(gpus[i], &plain, 90, TESS_GPU_CUBIN);
        seconds[i] = tess_seconds() - begin;
    }
    printf("note: compiling one kernel took %.1f ms, finding it on disk %.2f ms (both with opening NVRTC %d.%d)\n", seconds[0] * 1e3,
           seconds[1] * 1e3, gpus[0]->nvrtc_version / 1000, gpus[0]->nvrtc_version % 1000 / 10);
    assert_int_equal(images[0].size, images[1].size);
    assert_memory_equal(images[0].data, images[1].data, images[0].size);
    assert_true(seconds[1] < seconds[0]);
    for (int i = 0; i < 2; i++) {
        tess_gpu_image_free(gpus[i], &images[i]);
        tess_close(contexts[i]);
    }
    fake_cache_end(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ptx_keeps_the_bits), cmocka_unit_test(machine_code_of_known_architectures),
                                       cmocka_unit_test(the_same_bytes_twice), cmocka_unit_test(errors_are_attached),
                                       cmocka_unit_test(found_on_disk_by_another_context)};
    tess_context *context;
    tess_gpu *gpu;
    bool there = tess_open(&context, NULL) == TESS_OK && tess_gpu_get(&gpu, context) == TESS_OK && tess_gpu_open_nvrtc(gpu) == TESS_OK;
    tess_close(context);
    if (!there) {
        printf("%s\n", tess_detail());
        return 77;
    }
    setenv("TESSERA_CACHE", "none", 1); /* compile indeed */
    return cmocka_run_group_tests(tests, NULL, NULL);
}

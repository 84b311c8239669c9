/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_load.c - proves: nothing is loaded before the first use; a missing, old, incomplete, empty, failing or stub driver or compiler, a
 * device that is held by another process and a fork are each TESS_ERR_ENGINE with a sentence that says which; the next call tries again; the
 * search order is the documented one; a table given as a whole is used and its missing entries fail loudly; tess_devices tells all of it as text
 * and as JSON and never fails. */
#include <sys/stat.h>
#include <sys/wait.h>

#include "gpu_fake.h"

static void expect(const char *cuda, const char *word) {
    tess_context *context;
    fake_libraries(cuda, "nvrtc");
    tess_gpu *gpu = fake_open(&context);
    for (int i = 0; i < 2; i++) { /* a failure must leave the object as it was */
        assert_tess_fails(tess_gpu_open(gpu), TESS_ERR_ENGINE);
        if (!strstr(tess_detail(), word))
            fail_msg("%s: \"%s\" has no \"%s\"", cuda, tess_detail(), word);
        assert_int_equal(gpu->device_count, 0);
    }
    fake_libraries("cuda", "nvrtc");
    assert_tess_ok(tess_gpu_open(gpu));
    assert_int_equal(gpu->device_count, 2);
    tess_close(context);
}

/* The CUDA engine of the library in the environment fails with the word, the CPU goes on in the same context. */
static void only_cuda_fails(const char *cuda, const char *word) {
    tess_context *context;
    float values[] = {1, 2, 3, 4}, sum = 0;
    DLTensor in = tess_view(values, tess_f32, 1, (int64_t[]){4}, NULL), out = tess_view(&sum, tess_f32, 0, NULL, NULL);
    tess_reduce_options options = {.struct_size = sizeof options, .call.engine = TESS_ENGINE_CUDA};
    fake_libraries(cuda, "nvrtc");
    assert_tess_ok(tess_open(&context, NULL));
    assert_tess_fails(tess_reduce(context, TESS_SUM, &in, &out, &options), TESS_ERR_ENGINE);
    if (!strstr(tess_detail(), word))
        fail_msg("%s: \"%s\" has no \"%s\"", cuda, tess_detail(), word);
    assert_tess_ok(tess_reduce(context, TESS_SUM, &in, &out, NULL));
    assert_true(sum == 10);
    tess_close(context);
}

static void the_cpu_goes_on(void **state) {
    (void)state;
    only_cuda_fails("not_there", "does not exist");
    only_cuda_fails("cuda_old", "at least 12.0 is needed");
    only_cuda_fails("cuda_missing", "has no entry cuLaunchKernel");
    only_cuda_fails("cuda_empty", "shows no device");
    only_cuda_fails("cuda_taken", "another process holds the device");
}

static void every_defect_has_its_sentence(void **state) {
    (void)state;
    expect("not_there", "not_there.so, which does not exist");
    expect("cuda_old", "supports CUDA 11.8, at least 12.0 is needed");
    expect("cuda_missing", "has no entry cuLaunchKernel, though it says CUDA 13.0");
    expect("cuda_empty", "shows no device");
    expect("cuda_broken", "cuInit answered CUDA_ERROR_FAKE (999): a pretended error");
    expect("cuda_stub", "the toolkit's stub for linking, not the driver");
    expect("nvrtc", "has no cuDriverGetVersion: it is no NVIDIA driver");
}

static void an_unreadable_library(void **state) {
    (void)state;
    tess_context *context;
    tess_gpu *gpu = fake_open(&context);
    setenv("TESSERA_LIBCUDA", "/dev/null", 1);
    assert_tess_fails(tess_gpu_open(gpu), TESS_ERR_ENGINE);
    assert_non_null(strstr(tess_detail(), "/dev/null could not be loaded: "));
    tess_close(context);
}

static void expect_nvrtc(const char *cuda, const char *nvrtc, const char *word) {
    tess_context *context;
    fake_libraries(cuda, nvrtc);
    tess_gpu *gpu = fake_open(&context);
    if (word) {
        assert_tess_fails(tess_gpu_open_nvrtc(gpu), TESS_ERR_ENGINE);
        if (!strstr(tess_detail(), word))
            fail_msg("%s: \"%s\" has no \"%s\"", nvrtc, tess_detail(), word);
    } else {
        assert_tess_ok(tess_gpu_open_nvrtc(gpu));
    }
    tess_close(context);
}

/* Code of a newer major version does not load into an older driver; without a driver any compiler will do, for PTX. */
static void the_compiler_must_suit_the_driver(void **state) {
    (void)state;
    expect_nvrtc("cuda", "nvrtc", NULL);
    expect_nvrtc("cuda", "nvrtc_12", NULL);
    expect_nvrtc("cuda_12", "nvrtc_12", NULL);
    expect_nvrtc("cuda_12", "nvrtc", "is version 13.0 and makes code that the installed driver (CUDA 12) does not load");
    expect_nvrtc("not_there", "nvrtc", NULL);
    expect_nvrtc("cuda", "nvrtc_old", "is version 11.8, at least 12.0 is needed");
    expect_nvrtc("cuda", "nvrtc_missing", "has no entry nvrtcGetCUBIN, though it says version 13.0");
    expect_nvrtc("cuda", "cuda", "does not tell its version: it is no NVRTC");
    expect_nvrtc("cuda", "not_there", "TESSERA_LIBNVRTC names ");
}

static void facts_of_the_devices(void **state) {
    (void)state;
    tess_context *context;
    tess_gpu_device *device;
    fake_libraries("cuda", "nvrtc");
    tess_gpu *gpu = fake_open(&context);
    assert_true(gpu->devices == NULL && *gpu->driver_path == 0 && context->gpu == gpu);
    assert_tess_ok(tess_gpu_open(gpu));
    assert_int_equal(gpu->driver_version, 13000);
    assert_non_null(strstr(gpu->driver_path, "fake/cuda.so"));
    assert_tess_ok(tess_gpu_device_get(gpu, 1, &device));
    assert_true(device->major == 9 && device->minor == 5 && device->sms == 132 && device->constant_memory == 65536);
    assert_true(device->shared_block == 49152 && device->shared_block_optin == 232448 && device->shared_sm == 233472 && device->l2 == 60 << 20);
    assert_true(device->memory == (size_t)141 << 30 && device->grid[0] == 2147483647 && device->grid[2] == 65535 && device->block[2] == 64);
    assert_true(tess_gpu_bandwidth(device) == 2.0 * 3201e6 * 768); /* two transfers a clock, 6144 bits */
    assert_tess_fails(tess_gpu_device_get(gpu, 2, &device), TESS_ERR_DEVICE);
    assert_non_null(strstr(tess_detail(), "device_id is 2, this process sees 2 CUDA devices"));
    assert_null(device);
    assert_tess_fails(tess_gpu_device_get(gpu, -1, &device), TESS_ERR_DEVICE);
    tess_close(context);
}

static void a_device_that_is_taken(void **state) {
    (void)state;
    tess_context *context;
    tess_gpu_scope scope;
    fake_libraries("cuda_taken", "nvrtc");
    tess_gpu *gpu = fake_open(&context);
    assert_tess_ok(tess_gpu_open(gpu));
    assert_tess_fails(tess_gpu_enter(gpu, &gpu->devices[0], NULL, &scope), TESS_ERR_ENGINE);
    assert_non_null(strstr(tess_detail(), "cuDevicePrimaryCtxRetain answered CUDA_ERROR_DEVICE_UNAVAILABLE (46)"));
    assert_non_null(strstr(tess_detail(), "another process holds the device"));
    tess_gpu_leave(&scope);
    tess_close(context);
}

static void a_fork_is_told(void **state) {
    (void)state;
    tess_context *context;
    fake_libraries("cuda", "nvrtc");
    tess_gpu *gpu = fake_open(&context);
    assert_tess_ok(tess_gpu_open(gpu));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool told = tess_gpu_open(gpu) == TESS_ERR_ENGINE && strstr(tess_detail(), "is a fork of one that used CUDA");
        tess_close(context);
        _exit(told ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_tess_ok(tess_gpu_open(gpu));
    tess_close(context);
}

/* ---- A table in the place of a library, as the virtual GPU's ---- */

static CUresult table_version(int *version) { return *version = 12030, CUDA_SUCCESS; }
static CUresult table_init(unsigned int flags) { return (CUresult)flags; }
static CUresult table_count(int *count) { return *count = 1, CUDA_SUCCESS; }
static CUresult table_get(CUdevice *device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
static CUresult table_name(char *name, int size, CUdevice device) { return snprintf(name, (size_t)size, "table %d", device), CUDA_SUCCESS; }
static CUresult table_memory(size_t *bytes, CUdevice device) { return *bytes = 1024 + (size_t)device, CUDA_SUCCESS; }
static CUresult table_attribute(int *value, CUdevice_attribute attribute, CUdevice device) { return *value = attribute + device, CUDA_SUCCESS; }

static void a_table_given_as_a_whole(void **state) {
    (void)state;
    tess_context *context;
    tess_gpu_scope scope;
    CUdeviceptr memory;
    tess_driver table = {.cuDriverGetVersion = table_version,
                         .cuInit = table_init,
                         .cuDeviceGetCount = table_count,
                         .cuDeviceGet = table_get,
                         .cuDeviceGetName = table_name,
                         .cuDeviceTotalMem = table_memory};
    fake_libraries("not_there", "nvrtc");
    tess_gpu *gpu = fake_open(&context);
    assert_tess_fails(tess_gpu_open_table(gpu, &table, "a table"), TESS_ERR_ENGINE); /* without cuDeviceGetAttribute */
    assert_string_equal(tess_detail(), "cuDeviceGetAttribute answered CUDA_ERROR_NOT_SUPPORTED (801): the driver has no text for it");
    table.cuDeviceGetAttribute = table_attribute;
    assert_tess_ok(tess_gpu_open_table(gpu, &table, "a table"));
    assert_tess_fails(tess_gpu_open_table(gpu, &table, "a table"), TESS_ERR_ENGINE);
    assert_tess_ok(tess_gpu_open(gpu)); /* there is one: nothing is looked for */
    assert_string_equal(gpu->devices[0].name, "table 0");
    assert_int_equal(gpu->devices[0].sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    assert_int_equal(gpu->driver.cuMemAlloc(&memory, 4), CUDA_ERROR_NOT_SUPPORTED);
    assert_tess_fails(tess_gpu_enter(gpu, &gpu->devices[0], NULL, &scope), TESS_ERR_ENGINE);
    assert_non_null(strstr(tess_detail(), "cuCtxGetCurrent answered CUDA_ERROR_NOT_SUPPORTED (801)"));
    tess_gpu_leave(&scope);
    tess_close(context);
}

/* ---- The search ---- */

typedef struct list {
    char text[8192];
} list;

static bool note(void *argument, const char *path) {
    list *l = argument;
    strncat(l->text, path, sizeof l->text - strlen(l->text) - 2);
    strcat(l->text, "\n");
    return false;
}

/* Each of the words is found behind the one before. */
static void expect_order(const list *l, int count, const char *const *words) {
    const char *at = l->text;
    for (int i = 0; i < count; i++) {
        const char *found = strstr(at, words[i]);
        if (!found)
            fail_msg("\"%s\" is not found behind the %d words before it in\n%s", words[i], i, l->text);
        else
            at = found + strlen(words[i]);
    }
}

static void touch(const char *folder, const char *path) {
    char full[512];
    snprintf(full, sizeof full, "%s/%s", folder, path);
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fclose(file);
}

static void the_order_of_the_search(void **state) {
    (void)state;
    list l = {""};
    char *folder = fake_cache();
    unsetenv("TESSERA_LIBCUDA");
    assert_false(tess_gpu_search(TESS_GPU_LIBCUDA, note, &l));
    const char *const driver[] = {"libcuda.so.1\n", "/usr/lib/wsl/lib/libcuda.so.1\n", "/usr/local/nvidia/lib64/libcuda.so.1\n"};
    expect_order(&l, TESS_COUNT(driver), driver);
    assert_null(strstr(l.text, "stubs"));

    fake_libraries("cuda", "nvrtc"); /* a file that was named ends the search */
    l.text[0] = 0;
    tess_gpu_search(TESS_GPU_LIBNVRTC, note, &l);
    assert_int_equal(strlen(l.text), strlen(fake_path("nvrtc")) + 1);

    unsetenv("TESSERA_LIBNVRTC");
    touch(folder, "toolkit/lib64/libnvrtc.so.12");
    touch(folder, "toolkit/lib64/libnvrtc.so.13");
    touch(folder, "toolkit/lib64/libnvrtc.alt.so.13");
    touch(folder, "toolkit/lib64/stubs/libnvrtc.so.13");
    touch(folder, "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
    touch(folder, "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    touch(folder, "user/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
    touch(folder, "python/lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    touch(folder, "python/bin/python3");
    char value[1024];
    snprintf(value, sizeof value, "%s/python/bin/python3", folder);
    chmod(value, 0755);
    struct {
        const char *name, *below;
        char *before;
    } variables[] = {{"CUDA_HOME", "/toolkit", NULL},
                     {"CUDA_PATH", "/*", NULL},
                     {"VIRTUAL_ENV", "/venv", NULL},
                     {"HOME", "/user", NULL},
                     {"PATH", "/python/bin", NULL}};
    for (int i = 0; i < TESS_COUNT(variables); i++) {
        variables[i].before = getenv(variables[i].name) ? strdup(getenv(variables[i].name)) : NULL;
        snprintf(value, sizeof value, "%s%s%s", i == 4 ? "relative:/nowhere:" : "", folder, variables[i].below);
        setenv(variables[i].name, value, 1);
    }
    l.text[0] = 0;
    tess_gpu_search(TESS_GPU_LIBNVRTC, note, &l);
    for (int i = 0; i < TESS_COUNT(variables); i++) {
        if (variables[i].before)
            setenv(variables[i].name, variables[i].before, 1);
        else
            unsetenv(variables[i].name);
        free(variables[i].before);
    }
    const char *const compiler[] = {"libnvrtc.so.13\nlibnvrtc.so.12\n",
                                    "/toolkit/lib64/libnvrtc.so.13\n",
                                    "/toolkit/lib64/libnvrtc.so.12\n",
                                    "/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13\n",
                                    "/venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12\n",
                                    "/user/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13\n",
                                    "/python/lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12\n"};
    expect_order(&l, TESS_COUNT(compiler), compiler);
    assert_null(strstr(l.text, "alt"));
    assert_null(strstr(l.text, "stubs"));
    fake_cache_end(folder);
}

/* ---- tess_devices ---- */

static void devices(tess_format format, char *text, size_t size) {
    tess_context *context;
    size_t length, again;
    assert_tess_ok(tess_open(&context, NULL));
    tess_fail(TESS_ERR_SHAPE, "an earlier failure");
    assert_tess_ok(tess_devices(context, format, NULL, 0, &length));
    assert_true(length + 1 < size);
    assert_tess_ok(tess_devices(context, format, text, size, &again));
    assert_int_equal(length, again);
    assert_int_equal(strlen(text), length);
    assert_string_equal(tess_detail(), "an earlier failure");
    tess_close(context);
}

static void devices_are_told(void **state) {
    (void)state;
    char text[8192];
    fake_libraries("cuda", "nvrtc");
    int retained = fake_state()->retained;
    devices(TESS_TEXT, text, sizeof text);
    assert_non_null(strstr(text, "\ncuda     the driver supports 13.0 ("));
    assert_non_null(
        strstr(text, "fake/cuda.so); the order of the search: TESSERA_LIBCUDA (a file; then nothing else), the loader's path, /usr/lib/wsl/lib"));
    assert_non_null(strstr(text, "\nnvrtc    13.0 ("));
    assert_non_null(strstr(text, "fake/nvrtc.so); the order of the search: TESSERA_LIBNVRTC (a file; then nothing else)"));
    assert_non_null(
        strstr(text, "\ngpu 1    Fake GPU \"1\", compute capability 9.5, 132 multiprocessors at 1980 MHz, 141.0 GiB at 4917 GB/s (6144 bits at 3201 "
                     "MHz, 2 a clock)\n"
                     "         L2 61440 KiB, shared memory 227 KiB a block (48 without opt-in) and 228 a multiprocessor, constant memory 64 KiB\n"
                     "         threads 1024 a block and 2048 a multiprocessor, 65536 registers a multiprocessor\n"));
    devices(TESS_JSON, text, sizeof text);
    assert_non_null(strstr(text, "\"gpus\": [{\"index\": 0, \"name\": \"Fake GPU \\\"0\\\"\", \"compute_capability\": \"9.0\""));
    assert_non_null(strstr(text, "\"constant_memory\": 65536"));
    assert_non_null(strstr(
        text,
        "}], \"cuda\": {\"search\": \"TESSERA_LIBCUDA (a file; then nothing else), the loader's path, /usr/lib/wsl/lib, /usr/local/nvidia/lib64\", "
        "\"version\": \"13.0\", \"path\": \""));
    assert_int_equal(fake_state()->retained, retained); /* asking makes no CUDA context */
    fake_libraries("cuda_empty", "not_there");
    devices(TESS_TEXT, text, sizeof text);
    assert_non_null(strstr(text, "\ngpu      none: the NVIDIA driver is there but shows no device"));
    assert_non_null(strstr(text, "\nnvrtc    none: no CUDA compiler (libnvrtc.so): TESSERA_LIBNVRTC names "));
    devices(TESS_JSON, text, sizeof text);
    assert_non_null(strstr(text, "\"reason\": \"the NVIDIA driver"));
    fake_libraries(NULL, NULL); /* whatever this machine has */
    devices(TESS_TEXT, text, sizeof text);
    assert_non_null(strstr(text, "\nnvrtc    "));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_defect_has_its_sentence),
                                       cmocka_unit_test(the_cpu_goes_on),
                                       cmocka_unit_test(an_unreadable_library),
                                       cmocka_unit_test(the_compiler_must_suit_the_driver),
                                       cmocka_unit_test(facts_of_the_devices),
                                       cmocka_unit_test(a_device_that_is_taken),
                                       cmocka_unit_test(a_fork_is_told),
                                       cmocka_unit_test(a_table_given_as_a_whole),
                                       cmocka_unit_test(the_order_of_the_search),
                                       cmocka_unit_test(devices_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

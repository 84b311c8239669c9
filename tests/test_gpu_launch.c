/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_launch.c - proves: a call works in the stream's CUDA context, else in the thread's current one when it is on the device, else in the
 * primary one, and leaves what was current as it was; a kernel is compiled for the device, as PTX when the compiler does not know it, and shipped
 * PTX is taken when there is no compiler; a module is loaded once in a context, by threads too, and unloaded when the tessera context closes;
 * dynamic shared memory is opened to the limit; launches pass grid, block, shared memory, stream and arguments; limits are sentences. */
#include <pthread.h>

#include "gpu_fake.h"

static const tess_gpu_source source = {"k.cu", "kernel text", NULL, 0, NULL, NULL, false};

typedef struct fixture {
    tess_context *context;
    tess_gpu *gpu;
    char *cache;
} fixture;

static fixture begin(void) {
    fixture f = {.cache = fake_cache()};
    fake_libraries("cuda", "nvrtc");
    f.gpu = fake_open(&f.context);
    assert_tess_ok(tess_gpu_open(f.gpu));
    *fake_state() = (fake_cuda_state){0};
    return f;
}
static void end(fixture *f) {
    tess_close(f->context);
    fake_cache_end(f->cache);
    const fake_cuda_state *s = fake_state();
    assert_int_equal(s->retained, s->released);
}

static CUcontext fake_context(int device) {
    CUcontext (*get)(int);
    void *address = fake_symbol("cuda", "fake_cuda_context");
    memcpy(&get, &address, sizeof get);
    return get(device);
}
static CUstream fake_stream(int device) {
    CUstream (*get)(int);
    void *address = fake_symbol("cuda", "fake_cuda_stream");
    memcpy(&get, &address, sizeof get);
    return get(device);
}
static CUcontext current(const tess_gpu *gpu) {
    CUcontext context;
    gpu->driver.cuCtxGetCurrent(&context);
    return context;
}

static void the_context_of_a_call(void **state) {
    (void)state;
    fixture f = begin();
    tess_gpu *gpu = f.gpu;
    tess_gpu_scope scope;
    CUcontext popped;
    CUstream per_thread = (CUstream)(uintptr_t)2;
    /* none current: the primary one, retained once */
    for (int i = 0; i < 3; i++) {
        assert_tess_ok(tess_gpu_enter(gpu, &gpu->devices[1], i ? per_thread : NULL, &scope));
        assert_int_equal(scope.context_id, 12);
        assert_ptr_equal(current(gpu), gpu->devices[1].primary);
        tess_gpu_leave(&scope);
        assert_null(current(gpu));
        assert_int_equal(fake_state()->retained, 1);
    }
    /* the caller's own, when it is on the device */
    gpu->driver.cuCtxPushCurrent(fake_context(0));
    assert_tess_ok(tess_gpu_enter(gpu, &gpu->devices[0], NULL, &scope));
    assert_int_equal(scope.context_id, 21);
    assert_false(scope.pushed);
    tess_gpu_leave(&scope);
    assert_ptr_equal(current(gpu), fake_context(0));
    assert_tess_ok(tess_gpu_enter(gpu, &gpu->devices[1], NULL, &scope));
    assert_int_equal(scope.context_id, 12);
    tess_gpu_leave(&scope);
    assert_ptr_equal(current(gpu), fake_context(0));
    /* the stream's before both */
    assert_tess_ok(tess_gpu_enter(gpu, &gpu->devices[1], fake_stream(1), &scope));
    assert_int_equal(scope.context_id, 22);
    assert_ptr_equal(current(gpu), fake_context(1));
    tess_gpu_leave(&scope);
    tess_gpu_leave(&scope); /* twice does no harm */
    assert_ptr_equal(current(gpu), fake_context(0));
    assert_tess_fails(tess_gpu_enter(gpu, &gpu->devices[0], fake_stream(1), &scope), TESS_ERR_ARGUMENT);
    assert_string_equal(tess_detail(), "the stream belongs to CUDA device 1, the arrays live on device 0");
    tess_gpu_leave(&scope);
    assert_ptr_equal(current(gpu), fake_context(0));
    /* where a plan was made before: the same, whether it was this context or another */
    for (int i = 0; i < 3; i++) {
        const unsigned long long made_in[] = {21, 22, 999};
        assert_tess_ok(tess_gpu_enter_again(gpu, &gpu->devices[0], NULL, made_in[i], &scope));
        assert_int_equal(scope.context_id, 21);
        assert_false(scope.pushed);
        tess_gpu_leave(&scope);
        assert_tess_ok(tess_gpu_enter_again(gpu, &gpu->devices[1], NULL, made_in[i], &scope));
        assert_int_equal(scope.context_id, i == 0 ? 21 : 12); /* the number is believed: the plan of another device has another */
        tess_gpu_leave(&scope);
        assert_tess_ok(tess_gpu_enter_again(gpu, &gpu->devices[1], fake_stream(1), made_in[i], &scope));
        assert_int_equal(scope.context_id, 22);
        assert_ptr_equal(current(gpu), fake_context(1));
        tess_gpu_leave(&scope);
        assert_ptr_equal(current(gpu), fake_context(0));
        if (made_in[i] != 22) {
            assert_tess_fails(tess_gpu_enter_again(gpu, &gpu->devices[0], fake_stream(1), made_in[i], &scope), TESS_ERR_ARGUMENT);
            tess_gpu_leave(&scope);
        }
    }
    gpu->driver.cuCtxPopCurrent(&popped);
    end(&f);
}

static void what_is_compiled_for_a_device(void **state) {
    (void)state;
    fixture f = begin();
    tess_gpu_form form;
    int arch;
    assert_tess_ok(tess_gpu_target(f.gpu, &f.gpu->devices[0], &arch, &form));
    assert_true(arch == 90 && form == TESS_GPU_CUBIN);
    assert_tess_ok(tess_gpu_target(f.gpu, &f.gpu->devices[1], &arch, &form)); /* 9.5: unknown, the driver compiles the PTX */
    assert_true(arch == 90 && form == TESS_GPU_PTX);
    tess_gpu_device old = f.gpu->devices[0];
    old.major = 7;
    assert_tess_fails(tess_gpu_target(f.gpu, &old, &arch, &form), TESS_ERR_ENGINE);
    assert_non_null(strstr(tess_detail(), "has compute capability 7.0, the compiler (NVRTC 13.0) knows 7.5 and later"));
    end(&f);
}

static void kernels_are_loaded_once_in_a_context(void **state) {
    (void)state;
    fixture f = begin();
    tess_gpu_scope scope, other;
    tess_gpu_kernel fill, big, elsewhere;
    assert_tess_ok(tess_gpu_enter(f.gpu, &f.gpu->devices[0], NULL, &scope));
    int compiles = fake_compiles();
    assert_tess_ok(tess_gpu_kernel_get(&scope, &source, "fill", &fill));
    assert_int_equal(fake_state()->dynamic_limit, 232448);
    assert_tess_ok(tess_gpu_kernel_get(&scope, &source, "big", &big));
    assert_int_equal(fake_state()->dynamic_limit, 232448 - 16384); /* beside its own */
    assert_ptr_equal(fill.module, big.module);
    assert_true(big.max_threads == 256 && big.registers == 256 && big.static_shared == 16384 && big.max_dynamic_shared == 216064);
    assert_tess_fails(tess_gpu_kernel_get(&scope, &source, "missing", &elsewhere), TESS_ERR_ENGINE);
    assert_non_null(strstr(tess_detail(), "there is no kernel \"missing\""));
    /* another context: another module, the image known */
    assert_tess_ok(tess_gpu_enter(f.gpu, &f.gpu->devices[0], fake_stream(0), &other));
    assert_tess_ok(tess_gpu_kernel_get(&other, &source, "fill", &elsewhere));
    assert_ptr_not_equal(elsewhere.module, fill.module);
    assert_int_equal(fake_compiles() - compiles, 1);
    assert_int_equal(fake_state()->loaded, 2);
    tess_gpu_grid grid = {{1, 1, 1}, {32, 1, 1}, 0};
    void *arguments[1] = {&(int){5}};
    assert_tess_fails(tess_gpu_launch(&other, &fill, &grid, fake_stream(0), arguments), TESS_ERR_ARGUMENT);
    assert_string_equal(tess_detail(), "kernel fill was loaded into CUDA context 11, the call runs in context 21");
    tess_gpu_leave(&other);
    tess_gpu_leave(&scope);
    end(&f);
    assert_int_equal(fake_state()->unloaded, 1); /* the caller's context takes the other with it */
}

/* A lasting source is found by its address: text that changes all the same, which is a broken promise, goes unseen. Options, entries and CUDA contexts
 * tell kernels apart as before. */
static void lasting_texts_are_not_read_again(void **state) {
    (void)state;
    fixture f = begin();
    tess_gpu_scope scope, other;
    tess_gpu_kernel first, again;
    char text[] = "kernel text, once";
    const char *const eight[] = {"-DN=8"}, *const nine[] = {"-DN=9"};
    tess_gpu_source lasting = {"k.cu", text, eight, 1, NULL, NULL, true};
    assert_tess_ok(tess_gpu_enter(f.gpu, &f.gpu->devices[0], NULL, &scope));
    assert_tess_ok(tess_gpu_kernel_get(&scope, &lasting, "fill", &first));
    int compiles = fake_compiles();
    text[0] = 'K';
    assert_tess_ok(tess_gpu_kernel_get(&scope, &lasting, "fill", &again));
    assert_memory_equal(&again, &first, sizeof first);
    assert_int_equal(fake_compiles(), compiles);
    assert_tess_ok(tess_gpu_kernel_get(&scope, &lasting, "big", &again)); /* another entry: by its key, which the text has changed */
    assert_string_equal(again.name, "big");
    assert_int_equal(fake_compiles(), compiles + 1);
    lasting.options = nine;
    assert_tess_ok(tess_gpu_kernel_get(&scope, &lasting, "fill", &again));
    assert_int_equal(fake_compiles(), compiles + 2);
    lasting.option_count = 0;
    assert_tess_ok(tess_gpu_kernel_get(&scope, &lasting, "fill", &again));
    assert_int_equal(fake_compiles(), compiles + 3);
    lasting.options = eight;
    lasting.option_count = 1;
    assert_tess_ok(tess_gpu_enter(f.gpu, &f.gpu->devices[0], fake_stream(0), &other));
    assert_tess_ok(tess_gpu_kernel_get(&other, &lasting, "fill", &again));
    assert_true(again.context_id != first.context_id && again.module != first.module);
    tess_gpu_leave(&other);
    lasting.lasting = false;
    assert_tess_ok(tess_gpu_kernel_get(&scope, &lasting, "fill", &again)); /* the changed text is read */
    assert_ptr_not_equal(again.module, first.module);
    tess_gpu_leave(&scope);
    end(&f);
}

static void images_that_the_driver_refuses(void **state) {
    (void)state;
    fixture f = begin();
    tess_gpu_scope scope;
    tess_gpu_kernel kernel;
    char ptx[] = "FAKE shipped", bad[] = "not so";
    tess_gpu_image image = {.key = {{1}}, .form = TESS_GPU_PTX, .data = bad, .size = sizeof bad - 1};
    assert_tess_ok(tess_gpu_enter(f.gpu, &f.gpu->devices[0], NULL, &scope));
    assert_tess_fails(tess_gpu_kernel_load(&scope, &image, "fill", &kernel), TESS_ERR_ENGINE);
    assert_string_equal(tess_detail(), "the driver refused a kernel image (200): error : not a pretended image");
    image = (tess_gpu_image){.key = {{1}}, .form = TESS_GPU_PTX, .data = ptx, .size = sizeof ptx - 1};
    assert_tess_ok(tess_gpu_kernel_load(&scope, &image, "fill", &kernel)); /* the refused one left nothing under its key */
    tess_gpu_leave(&scope);
    end(&f);
}

static void shipped_ptx_without_a_compiler(void **state) {
    (void)state;
    fixture f = begin();
    tess_gpu_scope scope;
    tess_gpu_kernel kernel, again;
    const tess_gpu_source shipped = {"k.cu", "kernel text", NULL, 0, "FAKE shipped", NULL, false};
    fake_libraries("cuda", "not_there");
    tess_fail(TESS_ERR_SHAPE, "an earlier failure");
    assert_tess_ok(tess_gpu_enter(f.gpu, &f.gpu->devices[0], NULL, &scope));
    assert_tess_ok(tess_gpu_kernel_get(&scope, &shipped, "fill", &kernel));
    assert_tess_ok(tess_gpu_kernel_get(&scope, &shipped, "fill", &again));
    assert_ptr_equal(kernel.module, again.module);
    assert_string_equal(tess_detail(), "an earlier failure");
    assert_tess_fails(tess_gpu_kernel_get(&scope, &source, "fill", &again), TESS_ERR_ENGINE); /* ships none */
    assert_non_null(strstr(tess_detail(), "TESSERA_LIBNVRTC names"));
    fake_libraries("cuda", "nvrtc");
    assert_tess_ok(tess_gpu_kernel_get(&scope, &shipped, "fill", &again)); /* compiled now: another image */
    assert_ptr_not_equal(kernel.module, again.module);
    tess_gpu_leave(&scope);
    end(&f);
}

static void launches_and_their_limits(void **state) {
    (void)state;
    fixture f = begin();
    tess_gpu_scope scope;
    tess_gpu_kernel fill, big;
    const fake_cuda_state *seen = fake_state();
    int value = 77;
    void *arguments[1] = {&value};
    CUstream stream = fake_stream(0);
    assert_tess_ok(tess_gpu_enter(f.gpu, &f.gpu->devices[0], stream, &scope));
    assert_tess_ok(tess_gpu_kernel_get(&scope, &source, "fill", &fill));
    assert_tess_ok(tess_gpu_kernel_get(&scope, &source, "big", &big));
    tess_gpu_grid grid = {{2147483647, 65535, 3}, {16, 8, 4}, 232448};
    assert_tess_ok(tess_gpu_launch(&scope, &fill, &grid, stream, arguments));
    assert_int_equal(seen->launches, 1);
    assert_true(seen->grid[0] == 2147483647 && seen->grid[1] == 65535 && seen->grid[2] == 3);
    assert_true(seen->block[0] == 16 && seen->block[1] == 8 && seen->block[2] == 4 && seen->shared == 232448);
    assert_true(seen->stream == stream && seen->first_argument == 77 && seen->launched_in == fake_context(0));
    for (int axis = 0; axis < 3; axis++) { /* an empty array launches nothing */
        tess_gpu_grid none = grid;
        none.grid[axis] = 0;
        assert_tess_ok(tess_gpu_launch(&scope, &fill, &none, stream, arguments));
    }
    const struct {
        const tess_gpu_kernel *kernel;
        tess_gpu_grid grid;
        const char *sentence;
    } wrong[] = {
        {&fill, {{(int64_t)1 << 31, 1, 1}, {1, 1, 1}, 0}, "kernel fill: grid.x is 2147483648, the limits of Fake GPU \"0\" are 0 and 2147483647"},
        {&fill, {{1, 65536, 1}, {1, 1, 1}, 0}, "grid.y is 65536"},
        {&fill, {{1, 1, -1}, {1, 1, 1}, 0}, "grid.z is -1"},
        {&fill, {{1, 1, 1}, {0, 1, 1}, 0}, "block.x is 0, the limits of Fake GPU \"0\" are 1 and 1024"},
        {&fill, {{1, 1, 1}, {1, 1, 65}, 0}, "block.z is 65"},
        {&fill, {{1, 1, 1}, {(int64_t)1 << 33, 1, 1}, 0}, "block.x is 8589934592"},
        {&big, {{1, 1, 1}, {257, 1, 1}, 0}, "a block has 257 threads, with its 256 registers a thread at most 256 fit"},
        {&big, {{1, 1, 1}, {32, 1, 1}, 216065}, "216065 bytes of dynamic shared memory are asked for, 216064 are left beside its own 16384"},
        {&big, {{1, 1, 1}, {32, 1, 1}, -1}, "-1 bytes of dynamic"}};
    for (int i = 0; i < TESS_COUNT(wrong); i++) {
        assert_tess_fails(tess_gpu_launch(&scope, wrong[i].kernel, &wrong[i].grid, stream, arguments), TESS_ERR_SIZE);
        if (!strstr(tess_detail(), wrong[i].sentence))
            fail_msg("\"%s\" has no \"%s\"", tess_detail(), wrong[i].sentence);
    }
    assert_int_equal(seen->launches, 1);
    char weights[65] = "0123456789012345678901234567890123456789012345678901234567890123";
    assert_tess_ok(tess_gpu_constant(&scope, &fill, "weights", weights, 64, stream));
    assert_memory_equal(seen->constant, weights, 64);
    assert_tess_fails(tess_gpu_constant(&scope, &fill, "weights", weights, 65, stream), TESS_ERR_SIZE);
    assert_string_equal(tess_detail(), "65 bytes for the variable \"weights\" of kernel fill, which has 64");
    assert_tess_fails(tess_gpu_constant(&scope, &fill, "heights", weights, 4, stream), TESS_ERR_ENGINE);
    tess_gpu_leave(&scope);
    end(&f);
}

enum { THREADS = 6 };

/* Each thread gets the object, opens the driver, enters and asks for the same kernels. */
static void *get_kernels(void *argument) {
    tess_context *context = argument;
    tess_gpu *gpu;
    tess_gpu_scope scope;
    tess_gpu_kernel kernel;
    char text[16];
    void *failed = NULL;
    if (tess_gpu_get(&gpu, context) != TESS_OK || tess_gpu_open(gpu) != TESS_OK || tess_gpu_enter(gpu, &gpu->devices[0], NULL, &scope) != TESS_OK)
        return context;
    for (int i = 0; i < 20 && !failed; i++) {
        snprintf(text, sizeof text, "text %d", i % 4);
        tess_gpu_source one = {"k.cu", text, NULL, 0, NULL, NULL, false};
        if (tess_gpu_kernel_get(&scope, &one, "fill", &kernel) != TESS_OK)
            failed = context;
    }
    tess_gpu_leave(&scope);
    return failed;
}

static void threads_share_it_all(void **state) {
    (void)state;
    char *cache = fake_cache();
    pthread_t threads[THREADS];
    tess_context *context;
    void *failed;
    fake_libraries("cuda", "nvrtc");
    *fake_state() = (fake_cuda_state){0};
    assert_tess_ok(tess_open(&context, NULL));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, get_kernels, context), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(fake_state()->retained, 1);
    tess_close(context);
    assert_int_equal(fake_state()->released, 1);
    assert_true(fake_state()->loaded >= 4); /* a thread that came second unloads its own again */
    assert_int_equal(fake_state()->loaded, fake_state()->unloaded);
    fake_cache_end(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_context_of_a_call),
                                       cmocka_unit_test(what_is_compiled_for_a_device),
                                       cmocka_unit_test(kernels_are_loaded_once_in_a_context),
                                       cmocka_unit_test(lasting_texts_are_not_read_again),
                                       cmocka_unit_test(images_that_the_driver_refuses),
                                       cmocka_unit_test(shipped_ptx_without_a_compiler),
                                       cmocka_unit_test(launches_and_their_limits),
                                       cmocka_unit_test(threads_share_it_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

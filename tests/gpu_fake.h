/* SPDX-License-Identifier: Apache-2.0
 * gpu_fake.h - points the library at the pretended driver and compiler that tools/test.mk builds beside the test programs. */
#ifndef TESS_TESTS_GPU_FAKE_H
#define TESS_TESTS_GPU_FAKE_H

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include "fake/cuda.h"
#include "gpu/gpu.h"
#include "hostile.h"

/* FOLDER OF THE PROGRAM/fake/NAME.so, in one of a few static buffers. */
static inline const char *fake_path(const char *name) {
    static char paths[4][PATH_MAX + 64];
    static int next;
    char *path = paths[next++ % 4];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    assert_true(length > 0);
    path[length] = 0;
    char *slash = strrchr(path, '/');
    snprintf(slash + 1, 64, "fake/%s.so", name);
    return path;
}

/* NULL leaves the search alone. */
static inline void fake_libraries(const char *cuda, const char *nvrtc) {
    if (cuda)
        setenv("TESSERA_LIBCUDA", fake_path(cuda), 1);
    else
        unsetenv("TESSERA_LIBCUDA");
    if (nvrtc)
        setenv("TESSERA_LIBNVRTC", fake_path(nvrtc), 1);
    else
        unsetenv("TESSERA_LIBNVRTC");
}

/* A function that the pretended library exports beside NVIDIA's. It stays loaded, as the library under test keeps it. */
static inline void *fake_symbol(const char *library, const char *name) {
    void *handle = dlopen(fake_path(library), RTLD_NOW), *address;
    assert_non_null(handle);
    address = dlsym(handle, name);
    assert_non_null(address);
    return address;
}
static inline fake_cuda_state *fake_state(void) {
    fake_cuda_state *(*get)(void);
    void *address = fake_symbol("cuda", "fake_cuda");
    memcpy(&get, &address, sizeof get);
    return get();
}
static inline int fake_compiles(void) {
    int (*get)(void);
    void *address = fake_symbol("nvrtc", "fake_nvrtc_compiles");
    memcpy(&get, &address, sizeof get);
    return get();
}

/* An empty folder for the cache, TESSERA_CACHE set to it. Removed by fake_cache_end. */
static inline char *fake_cache(void) {
    char pattern[] = "/tmp/tessera-test-XXXXXX";
    char *folder = strdup(mkdtemp(pattern));
    setenv("TESSERA_CACHE", folder, 1);
    return folder;
}
static inline void fake_cache_end(char *folder) {
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    unsetenv("TESSERA_CACHE");
    free(folder);
}

static inline tess_gpu *fake_open(tess_context **context) {
    tess_gpu *gpu;
    assert_tess_ok(tess_open(context, NULL));
    assert_tess_ok(tess_gpu_get(&gpu, *context));
    return gpu;
}

#endif

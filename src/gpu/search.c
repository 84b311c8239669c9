/* SPDX-License-Identifier: Apache-2.0
 * search.c - where NVIDIA's libraries are looked for, in which order. src/gpu/README.md has the same list for readers.
 *
 * A variable of the environment that names a file ends the search there: what the user asked for must not be answered with something else. The
 * toolkit's lib64/stubs is never looked into: its libcuda is for linking and answers every call with an error. Variables are not read in a process
 * with raised privileges. */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu.h"

enum { NEWEST_NVRTC = 16, OLDEST_NVRTC = TESS_GPU_NVRTC_MIN / 1000 };

typedef struct search {
    tess_gpu_visit visit;
    void *argument;
} search;

static bool try_path(const search *s, const char *path) { return s->visit(s->argument, path); }

/* All that matches, the newest version first: libraries of one folder differ in their number, and so do folders such as cuda-13.0. */
static bool try_pattern(const search *s, const char *pattern) {
    glob_t found;
    bool done = false;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t left = found.gl_pathc; left > 0 && !done; left--) {
            size_t best = 0;
            for (size_t i = 1; i < left; i++)
                if (strverscmp(found.gl_pathv[i], found.gl_pathv[best]) > 0)
                    best = i;
            char *path = found.gl_pathv[best];
            found.gl_pathv[best] = found.gl_pathv[left - 1];
            found.gl_pathv[left - 1] = path;
            done = try_path(s, path);
        }
    globfree(&found);
    return done;
}

static bool try_below(const search *s, const char *base, const char *rest) {
    char pattern[PATH_MAX];
    if (!base || *base != '/' || strpbrk(base, "*?[\\")) /* a relative base would depend on where the process happens to be */
        return false;
    int length = snprintf(pattern, sizeof pattern, "%s/%s", base, rest);
    return length > 0 && (size_t)length < sizeof pattern && try_pattern(s, pattern);
}

/* PyPI's nvidia-cuda-nvrtc puts the library into site-packages/nvidia/cu13/lib, its forerunners for CUDA 12 into nvidia/cuda_nvrtc/lib. */
static bool try_python(const search *s, const char *prefix) {
    return try_below(s, prefix, "lib/python3*/site-packages/nvidia/cu[0-9]*/lib/libnvrtc.so.[0-9]*") ||
           try_below(s, prefix, "lib/python3*/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.[0-9]*") ||
           try_below(s, prefix, "local/lib/python3*/dist-packages/nvidia/cu[0-9]*/lib/libnvrtc.so.[0-9]*") ||
           try_below(s, prefix, "local/lib/python3*/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.[0-9]*");
}

/* /usr for /usr/bin/python3. False when there is no such folder in the path. */
static bool cut_two(char *path) {
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path)
            return false;
        *slash = 0;
    }
    return true;
}

/* The Python in use: of the activated environment, of this very process, of the python3 that the shell would run (a virtual environment's python3 is
 * a link whose packages are beside the link, so the link is tried before what it points to). */
static bool try_pythons(const search *s) {
    char path[PATH_MAX], *real;
    if (try_python(s, secure_getenv("VIRTUAL_ENV")) || try_python(s, secure_getenv("CONDA_PREFIX")))
        return true;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        if (cut_two(path) && try_python(s, path))
            return true;
    }
    const char *home = secure_getenv("HOME");
    length = home ? snprintf(path, sizeof path, "%s/.local", home) : 0; /* pip install --user */
    if (length > 0 && (size_t)length < sizeof path && try_python(s, path))
        return true;
    const char *folders = secure_getenv("PATH");
    for (const char *folder = folders; folder && *folder; folder += strspn(folder, ":")) {
        int size = (int)strcspn(folder, ":");
        int wanted = snprintf(path, sizeof path, "%.*s/python3", size, folder);
        folder += size;
        if (*path != '/' || wanted < 0 || (size_t)wanted >= sizeof path || access(path, X_OK) != 0)
            continue;
        real = realpath(path, NULL);
        bool done = (cut_two(path) && try_python(s, path)) || (real && cut_two(real) && try_python(s, real));
        free(real);
        return done;
    }
    return false;
}

static bool search_driver(const search *s) {
    return try_path(s, "libcuda.so.1") || try_path(s, "/usr/lib/wsl/lib/libcuda.so.1") || try_path(s, "/usr/local/nvidia/lib64/libcuda.so.1");
}

static bool search_nvrtc(const search *s) {
    char name[32];
    for (int version = NEWEST_NVRTC; version >= OLDEST_NVRTC; version--) {
        snprintf(name, sizeof name, "libnvrtc.so.%d", version);
        if (try_path(s, name))
            return true;
    }
    const char *homes[] = {secure_getenv("CUDA_HOME"), secure_getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (int i = 0; i < TESS_COUNT(homes); i++)
        if (try_below(s, homes[i], "lib64/libnvrtc.so.[0-9]*") || try_below(s, homes[i], "lib/libnvrtc.so.[0-9]*"))
            return true;
    return try_pattern(s, "/usr/local/cuda-*/lib64/libnvrtc.so.[0-9]*") || try_pythons(s);
}

bool tess_gpu_search(tess_gpu_library library, tess_gpu_visit visit, void *argument) {
    const search s = {visit, argument};
    const char *given = secure_getenv(library == TESS_GPU_LIBCUDA ? "TESSERA_LIBCUDA" : "TESSERA_LIBNVRTC");
    if (given && *given)
        return try_path(&s, given);
    return library == TESS_GPU_LIBCUDA ? search_driver(&s) : search_nvrtc(&s);
}

const char *tess_gpu_search_order(tess_gpu_library library) {
    return library == TESS_GPU_LIBCUDA
               ? "TESSERA_LIBCUDA (a file; then nothing else), the loader's path, /usr/lib/wsl/lib, /usr/local/nvidia/lib64"
               : "TESSERA_LIBNVRTC (a file; then nothing else), the loader's path, $CUDA_HOME/lib64, $CUDA_PATH/lib64, /usr/local/cuda*/lib64, the "
                 "nvidia-cuda-nvrtc package of the Python in use";
}

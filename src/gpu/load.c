/* SPDX-License-Identifier: Apache-2.0
 * load.c - NVIDIA's libraries opened at first use, their versions checked, the tables of driver.def filled.
 *
 * A library that was accepted is never unloaded: the driver keeps threads and exit handlers. A failure leaves nothing behind and the next call
 * tries again, so a driver installed meanwhile is found. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/engine.h"
#include "core/process.h"
#include "gpu/gpu.h"

typedef struct symbol_row {
    const char *symbol;
    size_t offset;
} symbol_row;

static const symbol_row driver_entries[] = {
#define CUDA_ENTRY(name, symbol, parameters) {#symbol, offsetof(tess_driver, name)},
#include "gpu/driver.def"
};

static const symbol_row nvrtc_entries[] = {
#define NVRTC_ENTRY(result, name, parameters) {#name, offsetof(tess_nvrtc, name)},
#include "gpu/driver.def"
};

/* What a table without an entry gets in its place: an answer that nobody can take for a success. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define CUDA_ENTRY(name, symbol, parameters) \
    static CUresult absent_##symbol parameters { return CUDA_ERROR_NOT_SUPPORTED; }
#include "gpu/driver.def"
#pragma GCC diagnostic pop

static const tess_driver absent = {
#define CUDA_ENTRY(name, symbol, parameters) .name = absent_##symbol,
#include "gpu/driver.def"
};

/* POSIX lets an object pointer from dlsym stand for a function; ISO C has no cast for it, so the bytes are copied. */
static bool fill(void *table, void *library, const symbol_row *entries, int count, const char **missing) {
    for (int i = 0; i < count; i++) {
        void *address = dlsym(library, entries[i].symbol);
        *missing = entries[i].symbol;
        if (!address)
            return false;
        memcpy((char *)table + entries[i].offset, &address, sizeof address);
    }
    return true;
}

/* One walk over the candidates. The path is cut in `refusal` so that the reason always fits behind it. */
typedef struct attempt {
    tess_gpu *gpu;
    int driver_major;  /* for NVRTC: the newest major version whose code the driver loads; 0 = any */
    char refusal[400]; /* of the last library that was there and could not be used */
} attempt;

static void *open_candidate(attempt *a, const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = dlerror();
    if (!library && *path == '/' && access(path, F_OK) == 0)
        snprintf(a->refusal, sizeof a->refusal, "%.120s could not be loaded: %.240s", path, why ? why : "no reason given");
    return library;
}

/* The file behind the name that the loader found. */
static void note_path(char *to, const void *function_pointer, const char *path) {
    void *address;
    Dl_info info;
    memcpy(&address, function_pointer, sizeof address);
    snprintf(to, TESS_GPU_PATH, "%s", dladdr(address, &info) && info.dli_fname ? info.dli_fname : path);
}

static bool refuse(attempt *a, void *library, const char *path, const char *what) {
    snprintf(a->refusal, sizeof a->refusal, "%.120s %.200s", path, what);
    dlclose(library);
    return false;
}

static bool visit_driver(void *argument, const char *path) {
    attempt *a = argument;
    tess_gpu *gpu = a->gpu;
    tess_driver table = absent; /* the context's changes only when all is there */
    int version = 0;
    const char *missing;
    char what[160];
    void *library = open_candidate(a, path);
    if (!library)
        return false;
    if (!fill(&table, library, driver_entries, 1, &missing))
        return refuse(a, library, path, "has no cuDriverGetVersion: it is no NVIDIA driver");
    /* The version before the other entries: an old driver lacks some, and its age is the better answer. */
    CUresult result = table.cuDriverGetVersion(&version);
    if (result == CUDA_ERROR_STUB_LIBRARY)
        return refuse(a, library, path, "is the toolkit's stub for linking, not the driver");
    if (result != CUDA_SUCCESS) {
        snprintf(what, sizeof what, "answers cuDriverGetVersion with error %d", (int)result);
        return refuse(a, library, path, what);
    }
    if (version < TESS_GPU_DRIVER_MIN) {
        snprintf(what, sizeof what, "supports CUDA %d.%d, at least %d.%d is needed (driver 525)", version / 1000, version % 1000 / 10,
                 TESS_GPU_DRIVER_MIN / 1000, TESS_GPU_DRIVER_MIN % 1000 / 10);
        return refuse(a, library, path, what);
    }
    if (!fill(&table, library, driver_entries, TESS_COUNT(driver_entries), &missing)) {
        snprintf(what, sizeof what, "has no entry %s, though it says CUDA %d.%d", missing, version / 1000, version % 1000 / 10);
        return refuse(a, library, path, what);
    }
    gpu->driver = table;
    gpu->driver_version = version;
    note_path(gpu->driver_path, &table.cuInit, path);
    return true;
}

static bool visit_nvrtc(void *argument, const char *path) {
    attempt *a = argument;
    tess_gpu *gpu = a->gpu;
    tess_nvrtc table;
    const char *missing;
    char what[160];
    int major = 0, minor = 0;
    void *library = open_candidate(a, path);
    if (!library)
        return false;
    if (!fill(&table, library, nvrtc_entries, 1, &missing) || table.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS)
        return refuse(a, library, path, "does not tell its version: it is no NVRTC");
    int version = major * 1000 + minor * 10;
    if (version < TESS_GPU_NVRTC_MIN) {
        snprintf(what, sizeof what, "is version %d.%d, at least %d.%d is needed", major, minor, TESS_GPU_NVRTC_MIN / 1000,
                 TESS_GPU_NVRTC_MIN % 1000 / 10);
        return refuse(a, library, path, what);
    }
    if (a->driver_major && major > a->driver_major) {
        snprintf(what, sizeof what, "is version %d.%d and makes code that the installed driver (CUDA %d) does not load", major, minor,
                 a->driver_major);
        return refuse(a, library, path, what);
    }
    if (!fill(&table, library, nvrtc_entries, TESS_COUNT(nvrtc_entries), &missing)) {
        snprintf(what, sizeof what, "has no entry %s, though it says version %d.%d", missing, major, minor);
        return refuse(a, library, path, what);
    }
    gpu->nvrtc = table;
    gpu->nvrtc_version = version;
    note_path(gpu->nvrtc_path, &table.nvrtcVersion, path);
    return true;
}

static tess_status not_found(tess_gpu_library library, const attempt *a) {
    const char *what = library == TESS_GPU_LIBCUDA ? "NVIDIA driver (libcuda.so.1)" : "CUDA compiler (libnvrtc.so)";
    const char *variable = library == TESS_GPU_LIBCUDA ? "TESSERA_LIBCUDA" : "TESSERA_LIBNVRTC", *given = secure_getenv(variable);
    if (*a->refusal)
        return tess_fail(TESS_ERR_ENGINE, "no usable %s: %s", what, a->refusal);
    if (given && *given)
        return tess_fail(TESS_ERR_ENGINE, "no %s: %s names %.300s, which does not exist", what, variable, given);
    return tess_fail(TESS_ERR_ENGINE, "no %s found; looked in %s", what, tess_gpu_search_order(library));
}

static const char *advice(CUresult result) {
    switch ((int)result) {
    case CUDA_ERROR_STUB_LIBRARY: return "; this is the toolkit's stub for linking, not the driver";
    case CUDA_ERROR_DEVICE_UNAVAILABLE: return "; another process holds the device, or it was taken away";
    case CUDA_ERROR_NO_DEVICE: return "; no NVIDIA device is visible to this process (CUDA_VISIBLE_DEVICES, /dev/nvidia*)";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION: return "; the compiler is newer than the driver";
    case CUDA_ERROR_SYSTEM_NOT_READY: return "; the machine's GPU services are not running yet";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: return "; libcuda and the kernel's driver differ in version, a restart of the machine loads the new one";
    default: return "";
    }
}

tess_status tess_gpu_check(const tess_gpu *gpu, CUresult result, const char *entry) {
    const char *name = NULL, *text = NULL;
    if (TESS_LIKELY(result == CUDA_SUCCESS))
        return TESS_OK;
    if (gpu->driver.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
        name = result == CUDA_ERROR_NOT_SUPPORTED ? "CUDA_ERROR_NOT_SUPPORTED" : "an unnamed error";
    if (gpu->driver.cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
        text = "the driver has no text for it";
    tess_status status = result == CUDA_ERROR_OUT_OF_MEMORY    ? TESS_ERR_MEMORY
                         : result == CUDA_ERROR_INVALID_HANDLE ? TESS_ERR_ARGUMENT
                                                               : TESS_ERR_ENGINE;
    return tess_fail(status, "%s answered %s (%d): %s%s", entry, name, (int)result, text, advice(result));
}

/* With the lock held and the table filled. */
static tess_status start_driver(tess_gpu *gpu) {
    TESS_CUDA(gpu, cuInit, 0);
    TESS_TRY(tess_gpu_devices_read(gpu));
    gpu->process = tess_process_id();
    atomic_store_explicit(&gpu->driver_ready, true, memory_order_release);
    return TESS_OK;
}

static tess_status load_driver(tess_gpu *gpu) {
    attempt a = {.gpu = gpu};
    if (!tess_gpu_search(TESS_GPU_LIBCUDA, visit_driver, &a))
        return not_found(TESS_GPU_LIBCUDA, &a);
    return TESS_OK;
}

tess_status tess_gpu_open(tess_gpu *gpu) {
    tess_status status = TESS_OK;
    if (!atomic_load_explicit(&gpu->driver_ready, memory_order_acquire)) {
        pthread_mutex_lock(&gpu->lock);
        if (!atomic_load_explicit(&gpu->driver_ready, memory_order_relaxed) && (status = load_driver(gpu)) == TESS_OK)
            status = start_driver(gpu);
        pthread_mutex_unlock(&gpu->lock);
        if (status != TESS_OK)
            return status;
    }
    if (gpu->process != tess_process_id())
        return tess_fail(
            TESS_ERR_ENGINE,
            "this process is a fork of one that used CUDA (process %ld), where CUDA does not work; use exec or fork before the first use",
            (long)gpu->process);
    return TESS_OK;
}

tess_status tess_gpu_open_table(tess_gpu *gpu, const tess_driver *table, const char *name) {
    tess_status status;
    pthread_mutex_lock(&gpu->lock);
    if (atomic_load(&gpu->driver_ready)) {
        status = tess_fail(TESS_ERR_ENGINE, "this context already has a driver: %.300s", gpu->driver_path);
    } else {
        gpu->driver = absent;
        gpu->driver.ptx_only = table->ptx_only;
        for (int i = 0; i < TESS_COUNT(driver_entries); i++) {
            void *address;
            memcpy(&address, (const char *)table + driver_entries[i].offset, sizeof address);
            if (address)
                memcpy((char *)&gpu->driver + driver_entries[i].offset, &address, sizeof address);
        }
        snprintf(gpu->driver_path, sizeof gpu->driver_path, "%s", name);
        status = tess_gpu_check(gpu, gpu->driver.cuDriverGetVersion(&gpu->driver_version), "cuDriverGetVersion");
        if (status == TESS_OK)
            status = start_driver(gpu);
    }
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

/* The major version of CUDA that the driver supports, 0 when there is none. Asks for the version only: starting the driver takes long. */
static int driver_major(tess_gpu *gpu) {
    attempt a = {.gpu = gpu};
    bool there = atomic_load(&gpu->driver_ready) || tess_gpu_search(TESS_GPU_LIBCUDA, visit_driver, &a);
    return there ? gpu->driver_version / 1000 : 0;
}

tess_status tess_gpu_open_nvrtc(tess_gpu *gpu) {
    tess_status status = TESS_OK;
    if (atomic_load_explicit(&gpu->nvrtc_ready, memory_order_acquire))
        return TESS_OK;
    pthread_mutex_lock(&gpu->lock);
    if (!atomic_load_explicit(&gpu->nvrtc_ready, memory_order_relaxed)) {
        attempt a = {.gpu = gpu, .driver_major = driver_major(gpu)};
        if (!tess_gpu_search(TESS_GPU_LIBNVRTC, visit_nvrtc, &a))
            status = not_found(TESS_GPU_LIBNVRTC, &a);
        else
            atomic_store_explicit(&gpu->nvrtc_ready, true, memory_order_release);
    }
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

/* The object in the place, or a new one. */
static tess_status get(tess_gpu **gpu, tess_context *context, _Atomic(struct tess_gpu *) *place) {
    *gpu = atomic_load_explicit(place, memory_order_acquire);
    if (*gpu)
        return TESS_OK;
    tess_gpu *made = tess_allocate_zeroed(context, sizeof *made);
    if (!made)
        return TESS_ERR_MEMORY;
    made->context = context;
    made->driver = absent;
    pthread_mutex_init(&made->lock, NULL);
    if (atomic_compare_exchange_strong_explicit(place, gpu, made, memory_order_acq_rel, memory_order_acquire)) {
        *gpu = made;
    } else { /* another thread was first, and *gpu is its */
        pthread_mutex_destroy(&made->lock);
        tess_free(context, made, sizeof *made);
    }
    return TESS_OK;
}

tess_status tess_gpu_get(tess_gpu **gpu, tess_context *context) { return get(gpu, context, &context->gpu); }

tess_status tess_gpu_get_engine(tess_gpu **gpu, tess_context *context, tess_engine engine) {
    const tess_driver *table;
    if (engine == TESS_ENGINE_CUDA)
        return tess_gpu_get(gpu, context);
    TESS_TRY(get(gpu, context, &context->virtual_engine));
    if (atomic_load_explicit(&(*gpu)->driver_ready, memory_order_acquire))
        return TESS_OK;
    pthread_mutex_lock(&context->lock); /* two threads that come first would both give it a table */
    tess_status status = TESS_OK;
    if (!atomic_load_explicit(&(*gpu)->driver_ready, memory_order_relaxed) && (status = tess_vgpu_driver(context, &table)) == TESS_OK)
        status = tess_gpu_open_table(*gpu, table, "the virtual GPU");
    pthread_mutex_unlock(&context->lock);
    return status;
}

static void close_one(_Atomic(struct tess_gpu *) *place, bool exiting) {
    tess_gpu *gpu = atomic_exchange(place, NULL);
    if (!gpu)
        return;
    bool silent = exiting || gpu->process != tess_process_id(); /* never opened, or a fork's: no entry may be called */
    tess_context *context = gpu->context;
    tess_gpu_scope scope = {.gpu = gpu};
    if (!silent)
        tess_gpu_relax(&scope);
    tess_gpu_modules_free(gpu, silent); /* these three ask contexts that the devices keep */
    tess_gpu_slots_free(gpu, silent);
    tess_gpu_tickets_free(gpu, silent);
    tess_gpu_devices_free(gpu, silent);
    tess_gpu_restore(&scope);
    tess_gpu_known_free(gpu);
    tess_gpu_cache_free(gpu);
    pthread_mutex_destroy(&gpu->lock);
    tess_free(context, gpu, sizeof *gpu);
}

void tess_gpu_close(tess_context *context, bool exiting) {
    close_one(&context->gpu, exiting);
    close_one(&context->virtual_engine, exiting);
}

/* SPDX-License-Identifier: Apache-2.0
 * gpu.h - the CUDA engine's host side: one object a context, which holds the driver's table, devices, compiler, images and modules.
 *
 * The order of use: tess_gpu_get, tess_gpu_open (loads the driver), tess_gpu_enter (makes a CUDA context current), tess_gpu_kernel_get
 * (compiles or finds), tess_gpu_launch (on the caller's stream), tess_gpu_leave. Kernels are got when a plan is made: a launch then neither
 * allocates nor loads nor synchronises, and can be captured into a graph. Everything here is safe to call from several threads. */
#ifndef TESS_GPU_GPU_H
#define TESS_GPU_GPU_H

#include <sys/types.h>

#include "core/context.h"
#include "gpu/driver.h"
#include "gpu/sha256.h"

/* ---- Libraries: search.c, load.c ---- */

enum {
    TESS_GPU_DRIVER_MIN = 12000,
    TESS_GPU_NVRTC_MIN = 12000,
    TESS_GPU_PATH = 1024,
    TESS_GPU_KNOWN = 128,
    TESS_GPU_POOL = 64 << 20
}; /* versions as cuDriverGetVersion counts: 1000 major + 10 minor */

typedef struct tess_gpu tess_gpu;
typedef struct tess_gpu_device tess_gpu_device;
typedef struct tess_gpu_module tess_gpu_module;
typedef struct tess_gpu_entry tess_gpu_entry; /* of the image cache in memory */
typedef struct tess_gpu_tickets tess_gpu_tickets;
struct tess_gpu_slots;                        /* pipeline.c */
typedef struct tess_gpu_known tess_gpu_known; /* of the kernels that were got before */

typedef enum tess_gpu_library { TESS_GPU_LIBCUDA, TESS_GPU_LIBNVRTC } tess_gpu_library;

/* Calls visit with each candidate, a path or a bare name for the loader, in the order of src/gpu/README.md until it says true. Returns whether it
 * did. */
typedef bool (*tess_gpu_visit)(void *argument, const char *path);
bool tess_gpu_search(tess_gpu_library library, tess_gpu_visit visit, void *argument);
const char *tess_gpu_search_order(tess_gpu_library library); /* in words, for a sentence; static */

struct tess_gpu {
    tess_context *context;
    pthread_mutex_t lock; /* guards all below; the tables and devices do not change once ready */
    _Atomic bool driver_ready, nvrtc_ready;
    pid_t process; /* that initialised the driver: CUDA does not survive fork */
    tess_driver driver;
    int driver_version;
    char driver_path[TESS_GPU_PATH];
    tess_nvrtc nvrtc;
    int nvrtc_version;
    char nvrtc_path[TESS_GPU_PATH];
    tess_gpu_device *devices;
    int device_count;
    tess_gpu_entry *images; /* most recently used first */
    tess_gpu_module *modules;
    tess_gpu_known *known[TESS_GPU_KNOWN]; /* by hash */
    tess_gpu_tickets *tickets;
    struct tess_gpu_slots *slots; /* of the last pipeline; a call takes them out */
    bool doubts_ptx;              /* kernels of a driver that takes PTX only are compared with known answers too (answer.c) */
};

/* The context's object; made at the first call, no library is touched. */
tess_status tess_gpu_get(tess_gpu **gpu, tess_context *context);
/* The same for an engine, cuda or virtual; the virtual one has its table already. */
tess_status tess_gpu_get_engine(tess_gpu **gpu, tess_context *context, tess_engine engine);
/* Frees both. exiting: no entry of the driver is called. */
void tess_gpu_close(tess_context *context, bool exiting);

/* Loads the driver and finds the devices: the first call does it, and every call after a failure tries again. TESS_ERR_ENGINE says what is missing
 * and where it was looked for. */
tess_status tess_gpu_open(tess_gpu *gpu);
/* The same with a table that is there already, such as the virtual GPU's. Entries that are NULL answer CUDA_ERROR_NOT_SUPPORTED. */
tess_status tess_gpu_open_table(tess_gpu *gpu, const tess_driver *table, const char *name);
/* Loads the compiler; needs no driver. One whose CUDA is newer than the installed driver's by a major version is passed over: its code would not
 * load. */
tess_status tess_gpu_open_nvrtc(tess_gpu *gpu);

/* TESS_OK, or a sentence with the entry's name and the driver's own words for the result. */
tess_status tess_gpu_check(const tess_gpu *gpu, CUresult result, const char *entry);
#define TESS_CUDA(gpu, entry, ...)                                \
    do {                                                          \
        CUresult tess_result_ = (gpu)->driver.entry(__VA_ARGS__); \
        if (TESS_UNLIKELY(tess_result_ != CUDA_SUCCESS))          \
            return tess_gpu_check((gpu), tess_result_, #entry);   \
    } while (0)

/* ---- Devices: device.c ---- */

struct tess_gpu_device {
    CUdevice handle;
    int ordinal;
    char name[96];
    int major, minor; /* compute capability */
    size_t memory, constant_memory;
    int sms, clock_khz, memory_clock_khz, bus_bits, l2;
    int shared_block, shared_block_optin, shared_sm;
    int threads_block, threads_sm, registers_sm;
    int block[3], grid[3]; /* largest sizes */
    CUcontext primary;     /* NULL until retained; guarded by gpu->lock */
    CUmemoryPool pool;     /* for workspaces, likewise; NULL with pool_made: the device has none */
    bool pool_made;
};

/* Reads the facts of all devices; called once, when the driver has been initialised, with the lock held. */
tess_status tess_gpu_devices_read(tess_gpu *gpu);
void tess_gpu_devices_free(tess_gpu *gpu, bool exiting);
/* The device of a DLDevice's device_id; TESS_ERR_DEVICE names the limit. The driver must be open. */
tess_status tess_gpu_device_get(tess_gpu *gpu, int ordinal, tess_gpu_device **device);
/* Stream-ordered memory of our own, which keeps up to TESS_GPU_POOL bytes between calls; NULL when the device has no such memory. */
CUmemoryPool tess_gpu_device_pool(tess_gpu *gpu, tess_gpu_device *device);
/* Bytes a second: two transfers a clock over the whole bus. 0 when the driver does not say. */
double tess_gpu_bandwidth(const tess_gpu_device *device);

typedef struct tess_gpu_scope {
    tess_gpu *gpu;
    tess_gpu_device *device;
    unsigned long long context_id; /* never used again for another context, unlike the handle */
    bool pushed;
    bool relaxed; /* the thread was in mode `before` */
    CUstreamCaptureMode before;
} tess_gpu_scope;

/* Makes a CUDA context of the device current: the stream's, else the one that the thread has current when it is on this device, else the device's
 * primary one. Always followed by tess_gpu_leave, which restores what was current; after a failure too. */
tess_status tess_gpu_enter(tess_gpu *gpu, tess_gpu_device *device, CUstream stream, tess_gpu_scope *scope);
/* While a thread captures in the usual mode, on whatever stream, making and freeing memory, modules and graphs is forbidden to it and would end that capture.
 * tess_gpu_enter relaxes the thread until tess_gpu_leave, so that planning and freeing do no harm to a capture on another stream than theirs. */
void tess_gpu_relax(tess_gpu_scope *scope);
void tess_gpu_restore(tess_gpu_scope *scope);
/* What work for a stream would do: TAPED: it becomes a part of the graph that the caller captures, and whoever waits for it ends that capture; BARRED: the stream
 * is the default one, and any work for it would end the captures of streams that it waits for. Asking does no harm. */
typedef enum tess_gpu_use { TESS_GPU_DONE = 0, TESS_GPU_TAPED, TESS_GPU_BARRED } tess_gpu_use;
tess_gpu_use tess_gpu_stream_use(const tess_gpu *gpu, CUstream stream);
/* The same as tess_gpu_enter, less relaxing, where the work at hand was prepared in the CUDA context of that number: when that is the current one, it is on the device as well, and the
 * driver is asked for less. */
tess_status tess_gpu_enter_again(tess_gpu *gpu, tess_gpu_device *device, CUstream stream, unsigned long long context_id, tess_gpu_scope *scope);
void tess_gpu_leave(tess_gpu_scope *scope);

/* ---- Compiling: compile.c, cache.c ---- */

typedef enum tess_gpu_form { TESS_GPU_CUBIN = 0, TESS_GPU_PTX } tess_gpu_form;

/* A .cu or .cuh file, embedded by the build as tess_kernel_FOLDER_FILE_cu (src/ops/transpose/gpu_tile.cu: tess_kernel_transpose_gpu_tile_cu). */
typedef struct tess_gpu_text {
    const char *name; /* "transpose/gpu_tile.cu" */
    const char *text;
} tess_gpu_text;

typedef struct tess_gpu_source {
    const char *name; /* "reduce/gpu_shuffle.cu": what the compiler's messages call it */
    const char *text;
    const char *const *options; /* "-DWIDTH=7" */
    int option_count;
    const char *ptx;                     /* of the kernel in its general form, shipped for machines without a compiler; NULL = none */
    const tess_gpu_text *const *headers; /* what the text may include, NULL-terminated; NULL = nothing */
    bool lasting;                        /* text and headers outlive the library's object and never change: their addresses stand for them */
} tess_gpu_source;

/* What the image depends on, as a SHA-256: with fewer bits or less than all of it, a wrong kernel could run unseen. */
typedef struct tess_gpu_key {
    unsigned char bytes[TESS_SHA256_SIZE];
} tess_gpu_key;

/* Machine code or PTX, owned by the caller. PTX ends in a 0 that size does not count. */
typedef struct tess_gpu_image {
    tess_gpu_key key;
    tess_gpu_form form;
    uint64_t answered; /* a bit for each kernel of it that gave known answers: answer.c */
    char *data;
    size_t size;
} tess_gpu_image;
void tess_gpu_image_free(tess_gpu *gpu, tess_gpu_image *image);

/* What to compile for: machine code of the device when the compiler knows it, else PTX of the newest architecture before it that the compiler knows.
 */
tess_status tess_gpu_target(tess_gpu *gpu, const tess_gpu_device *device, int *arch, tess_gpu_form *form);
tess_gpu_key tess_gpu_source_key(const tess_gpu_source *source, int arch, tess_gpu_form form, int nvrtc_version);
/* arch: 90 for compute capability 9.0. From memory, from disk, else from the compiler. */
tess_status tess_gpu_compile(tess_gpu *gpu, const tess_gpu_source *source, int arch, tess_gpu_form form, tess_gpu_image *image);
/* Puts a compiler's log on one line of at most size - 1 bytes: from the first error on when all of it does not fit. Returns buffer. */
const char *tess_gpu_log_line(char *buffer, size_t size, const char *log);
/* One call of the compiler's library: TESS_ERR_ENGINE with the entry's name unless it succeeded. */
tess_status tess_gpu_check_nvrtc(const tess_gpu *gpu, nvrtcResult result, const char *entry);
#define TESS_NVRTC(gpu, entry, ...) TESS_TRY(tess_gpu_check_nvrtc((gpu), (gpu)->nvrtc.entry(__VA_ARGS__), #entry))
/* `status` with the sentence "TEXT: LOG": a program that did not compile and why. */
tess_status tess_gpu_refused(tess_gpu *gpu, nvrtcProgram program, nvrtcResult result, tess_status status, const char *text);

/* Both caches; a miss is false and never an error. cache.c says how files are laid out. */
bool tess_gpu_cache_find(tess_gpu *gpu, tess_gpu_image *image); /* image: key and form given */
void tess_gpu_cache_store(tess_gpu *gpu, const tess_gpu_image *image);
/* Writes down which of the image's kernels gave known answers; or forgets it, in memory and on disk. */
void tess_gpu_cache_answered(tess_gpu *gpu, const tess_gpu_key *key, tess_gpu_form form, uint64_t answered);
void tess_gpu_cache_drop(tess_gpu *gpu, const tess_gpu_key *key, tess_gpu_form form);
void tess_gpu_cache_free(tess_gpu *gpu);               /* the one in memory */
bool tess_gpu_cache_folder(char *buffer, size_t size); /* false: no disk cache */
enum { TESS_GPU_CACHE_FILES = 8192 };
/* prune.c: removes the quarter of the folder's files that was used longest ago when there are more than TESS_GPU_CACHE_FILES. */
void tess_gpu_cache_prune(tess_gpu *gpu, const char *folder);

/* ---- Launching: launch.c ---- */

/* A function in a loaded module; lives until the tessera context is closed. Dynamic shared memory is opened to the device's limit. */
typedef struct tess_gpu_kernel {
    const tess_gpu_device *device;
    CUmodule module;
    CUfunction function;
    uint64_t bit;                  /* that stands for its name in `answered` */
    tess_gpu_module *owner;        /* of the module */
    unsigned long long context_id; /* of the CUDA context that it was loaded into */
    int registers, local_bytes, static_shared, max_threads, max_dynamic_shared;
    char name[64];
} tess_gpu_kernel;

/* Compiles or finds the source's image for the scope's device, loads it into the current context once, finds the entry. Without a compiler the
 * source's PTX is taken, which the driver compiles; the options then have no effect. */
tess_status tess_gpu_kernel_get(const tess_gpu_scope *scope, const tess_gpu_source *source, const char *entry, tess_gpu_kernel *kernel);
/* Whether there is one; looks for it again if not. The last failing call's detail stays. */
bool tess_gpu_has_compiler(tess_gpu *gpu);
/* shipped.c: PTX that was made earlier, not ended by a 0; NULL when there is none of the source. */
tess_gpu_key tess_gpu_shipped_key(const tess_gpu_source *source);
const char *tess_gpu_shipped_find(const tess_gpu_key *key, size_t *size);
/* The same from an image, such as PTX that was shipped. */
tess_status tess_gpu_kernel_load(const tess_gpu_scope *scope, const tess_gpu_image *image, const char *entry, tess_gpu_kernel *kernel);
/* What is known of a kernel's machine code: answer.c. Atomic. */
typedef enum tess_gpu_trust { TESS_GPU_NEW, TESS_GPU_ANSWERED, TESS_GPU_UNASKED, TESS_GPU_WRONG } tess_gpu_trust;
tess_gpu_trust tess_gpu_kernel_trust(const tess_gpu_kernel *kernel);
/* ANSWERED goes into the cache too; WRONG is the whole module's, and its image leaves the cache. UNASKED: there is no small problem for the kernel. */
void tess_gpu_kernel_judge(tess_gpu *gpu, const tess_gpu_kernel *kernel, tess_gpu_trust trust);
void tess_gpu_modules_free(tess_gpu *gpu, bool exiting);
/* known.c: the same for a lasting source's kernel that was got before; false when it was not. */
bool tess_gpu_known_find(const tess_gpu_scope *scope, const tess_gpu_source *source, const char *entry, tess_gpu_kernel *kernel);
void tess_gpu_known_store(const tess_gpu_scope *scope, const tess_gpu_source *source, const char *entry, const tess_gpu_kernel *kernel);
void tess_gpu_known_free(tess_gpu *gpu);

/* ticket.c: makes the counters of the scope's CUDA context unless they are there; needs a thread that captures nothing. */
tess_status tess_gpu_tickets_make(const tess_gpu_scope *scope);
/* The address of a 32-bit counter that is 0 and stays the caller's until the launch that goes to the stream now has ended, which leaves it 0 again;
 * 0 when there is none. */
CUdeviceptr tess_gpu_ticket(const tess_gpu_scope *scope, CUstream stream);
void tess_gpu_tickets_free(tess_gpu *gpu, bool exiting);
void tess_gpu_slots_free(tess_gpu *gpu, bool exiting); /* pipeline.c */

typedef struct tess_gpu_grid {
    int64_t grid[3]; /* blocks; 0 on any axis launches nothing */
    int64_t block[3];
    int64_t shared; /* dynamic bytes */
} tess_gpu_grid;

/* arguments: a pointer to each of the kernel's parameters, as for cuLaunchKernel. Asynchronous. Limits are checked here, so that the sentence says
 * which. */
tess_status tess_gpu_launch(const tess_gpu_scope *scope, const tess_gpu_kernel *kernel, const tess_gpu_grid *grid, CUstream stream, void **arguments);
/* Copies into a __constant__ variable of the kernel's module, in stream order. The module is shared by all who launch the kernel in this CUDA
 * context: two streams with different values race, so a kernel that takes its values as parameters is to be preferred. */
tess_status tess_gpu_constant(const tess_gpu_scope *scope, const tess_gpu_kernel *kernel, const char *variable, const void *data, size_t size,
                              CUstream stream);
/* Fills the variable with `size` bytes of device memory and launches. Who launches the kernel on another stream meanwhile waits until this launch is
 * done, so that each finds its own content. */
tess_status tess_gpu_launch_filled(const tess_gpu_scope *scope, const tess_gpu_kernel *kernel, const tess_gpu_grid *grid, CUstream stream,
                                   void **arguments, const char *variable, CUdeviceptr from, size_t size);

#endif

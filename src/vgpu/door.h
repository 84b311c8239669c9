/* SPDX-License-Identifier: Apache-2.0
 * door.h - between the files of the door: the virtual GPU as a driver table, so that host code written for NVIDIA's driver runs on the machine.
 *
 * Driver entries have no argument that says whose machine is meant. Every handle is therefore a number, (door's number << 32) + serial, found again
 * through core/process.h: one that is stale or made up answers CUDA_ERROR_INVALID_HANDLE and touches nothing. A CUDA device is the door's number.
 * All streams run at once, in the order of the calls, before the call returns. */
#ifndef TESS_VGPU_DOOR_H
#define TESS_VGPU_DOOR_H

#include "core/process.h"
#include "gpu/driver.h"
#include "vgpu/machine.h"

typedef enum vgpu_object_kind {
    VGPU_MODULE,
    VGPU_FUNCTION,
    VGPU_STREAM,
    VGPU_EVENT,
    VGPU_GRAPH,
    VGPU_EXECUTABLE,
    VGPU_HOST_MEMORY,
    VGPU_POOL
} vgpu_object_kind;

typedef enum vgpu_step_kind { VGPU_STEP_KERNEL, VGPU_STEP_IN, VGPU_STEP_OUT, VGPU_STEP_ON, VGPU_STEP_FILL } vgpu_step_kind;
/* One thing that a stream does, now or when a graph is launched. */
typedef struct vgpu_step {
    struct vgpu_step *next;
    vgpu_step_kind kind;
    uint64_t to, from, function;
    void *host;
    size_t bytes;
    int value;
    uint32_t grid[3], block[3], shared;
    char *params; /* a copy of the kernel's parameter block */
    size_t param_bytes;
} vgpu_step;

/* What a capture has recorded; shared by graph, executables and the streams that record. */
typedef struct vgpu_tape {
    vgpu_step *first, *last;
    int users;
    CUstreamCaptureMode mode;
    const tess_thread_state *thread; /* that began the capture */
    bool broken;                     /* something that cannot be recorded was called meanwhile */
} vgpu_tape;

typedef struct vgpu_object {
    struct vgpu_object *next;
    uint64_t handle;
    vgpu_object_kind kind;
    tess_vgpu_module *module; /* of a module or function */
    uint64_t owner;           /* function: handle of its module */
    uint64_t bank;            /* module: where the host sees its constants; host memory: where kernels see it, 0 for nowhere */
    const ptx_symbol *kernel;
    int dynamic_limit; /* function: dynamic shared memory that may be asked for */
    vgpu_tape *tape;   /* stream: recording now; event: recorded in that capture; graph, executable: its content */
    bool non_blocking; /* stream */
    bool origin;       /* stream: the capture began here */
    bool recorded;     /* event */
    double seconds;    /* event: when */
    char *memory;      /* host memory */
    size_t bytes;
} vgpu_object;

typedef struct tess_vgpu_door {
    tess_numbered numbered; /* first */
    tess_context *context;
    pthread_mutex_t lock; /* guards all below, and the machine */
    tess_vgpu_machine *machine;
    int retained;
    uint32_t serial, generation; /* generation: of the primary context, the low half of its handle */
    vgpu_object *objects;
    vgpu_object legacy;    /* the default stream */
    size_t used, capacity; /* bytes of device memory */
    tess_vgpu_watch_options watch;
} tess_vgpu_door;

#define TESS_VGPU_NAME "Tessera virtual GPU (as an H200)"
enum { TESS_VGPU_SHARED_DEFAULT = 49152, TESS_VGPU_SHARED_LIMIT = 232448, TESS_VGPU_SHARED_SM = 233472 }; /* bytes: asked for or not */

/* Constants of a module as the host sees them; kernels have them in their own window. */
#define VGPU_BANK_BASE 0x0000600000000000u

/* All below: with the door locked by the first group, which return NULL with the thread's error set when there is nothing to lock. */
tess_vgpu_door *tess_vgpu_door_current(CUresult *result);
vgpu_object *tess_vgpu_door_find(const void *handle, vgpu_object_kind kind, tess_vgpu_door **door, CUresult *result);
/* NULL, 1 and 2 are the default streams of the current context. */
vgpu_object *tess_vgpu_door_stream(CUstream stream, tess_vgpu_door **door, CUresult *result);
CUresult tess_vgpu_door_leave(tess_vgpu_door *door, CUresult result);

/* result, with a sentence that cuGetErrorString then gives to this thread. */
CUresult tess_vgpu_door_say(CUresult result, const char *format, ...) TESS_PRINTF(2, 3);
CUresult tess_vgpu_door_fail(CUresult result); /* with the list's own text */
/* A status of the machine's, with its detail as the sentence. */
CUresult tess_vgpu_door_status(tess_status status, CUresult otherwise);

vgpu_object *tess_vgpu_door_add(tess_vgpu_door *door, vgpu_object_kind kind);
void tess_vgpu_door_remove(tess_vgpu_door *door, vgpu_object *object); /* and all that it owns */
vgpu_object *tess_vgpu_door_object(const tess_vgpu_door *door, uint64_t handle, vgpu_object_kind kind);
/* Work for the default stream, which waits for all streams that are not non-blocking: whether one of those is being captured. */
bool tess_vgpu_door_implicit(tess_vgpu_door *door);
/* A call that may wait for the device or have memory made (CUDA's "potentially unsafe" ones): whether a capture forbids it to this thread. CUDA's rules:
 * a thread in the relaxed mode is forbidden nothing; any other is by a capture of its own that is not relaxed, and a thread in the global mode, in which all
 * begin, by another thread's global one too.
 * Both break the captures that they find. */
bool tess_vgpu_door_unsafe(tess_vgpu_door *door);

/* Does the step, or records it. The step is copied; its params are the callee's from now on. */
CUresult tess_vgpu_door_do(tess_vgpu_door *door, vgpu_object *stream, vgpu_step *step);
CUresult tess_vgpu_door_run(tess_vgpu_door *door, const vgpu_step *step);
CUresult tess_vgpu_door_kernel(tess_vgpu_door *door, const vgpu_step *step); /* door_code.c */
CUresult tess_vgpu_door_copy(tess_vgpu_door *door, const vgpu_step *step);   /* door_memory.c */
void tess_vgpu_tape_release(tess_vgpu_door *door, vgpu_tape *tape);

/* The entries, by the names of the table. */
#define CUDA_ENTRY(name, symbol, parameters) CUresult tess_vgpu_##name parameters;
#include "gpu/driver.def"

#endif

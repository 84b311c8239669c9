/* SPDX-License-Identifier: Apache-2.0
 * door_stream.c - streams, which do everything at once; events, with the wall's time; graphs: what a captured stream was asked to do, done later. */
#include <string.h>

#include "core/strategy.h"
#include "vgpu/door.h"

/* ---- doing ---- */

/* Whether a stream is captured that the default stream waits for; `harm`: such captures are broken. */
static bool barred(const tess_vgpu_door *door, bool harm) {
    bool any = false;
    for (vgpu_object *o = door->objects; o; o = o->next)
        if (o->kind == VGPU_STREAM && o->tape && !o->non_blocking) {
            o->tape->broken |= harm;
            any = true;
        }
    return any;
}

bool tess_vgpu_door_implicit(tess_vgpu_door *door) { return barred(door, true); }

CUresult tess_vgpu_door_run(tess_vgpu_door *door, const vgpu_step *step) {
    return step->kind == VGPU_STEP_KERNEL ? tess_vgpu_door_kernel(door, step) : tess_vgpu_door_copy(door, step);
}

CUresult tess_vgpu_door_do(tess_vgpu_door *door, vgpu_object *stream, vgpu_step *step) {
    CUresult result = CUDA_SUCCESS;
    if (!stream->tape) {
        if (stream == &door->legacy && tess_vgpu_door_implicit(door)) /* it waits for the streams that others capture */
            result = tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "work for the default stream while another is captured");
        else
            result = tess_vgpu_door_run(door, step);
        tess_free(door->context, step->params, step->param_bytes);
        return result;
    }
    vgpu_step *kept = tess_allocate(door->context, sizeof *kept);
    if (!kept) {
        tess_free(door->context, step->params, step->param_bytes);
        return tess_vgpu_door_status(TESS_ERR_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
    }
    *kept = *step;
    kept->next = NULL;
    if (stream->tape->last)
        stream->tape->last->next = kept;
    else
        stream->tape->first = kept;
    stream->tape->last = kept;
    return result;
}

/* ---- streams ---- */

CUresult tess_vgpu_cuStreamCreate(CUstream *stream, unsigned int flags) {
    CUresult result;
    tess_vgpu_door *door = tess_vgpu_door_current(&result);
    *stream = NULL;
    if (!door)
        return result;
    if (flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "stream flags 0x%x", flags));
    vgpu_object *o = tess_vgpu_door_add(door, VGPU_STREAM);
    if (!o)
        return tess_vgpu_door_leave(door, tess_vgpu_door_status(TESS_ERR_MEMORY, CUDA_ERROR_OUT_OF_MEMORY));
    o->non_blocking = flags & CU_STREAM_NON_BLOCKING;
    *stream = (CUstream)(uintptr_t)o->handle;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

static CUresult destroy(const void *handle, vgpu_object_kind kind) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *o = tess_vgpu_door_find(handle, kind, &door, &result);
    if (!o)
        return result;
    tess_vgpu_door_remove(door, o);
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

CUresult tess_vgpu_cuStreamDestroy(CUstream stream) { return destroy(stream, VGPU_STREAM); }

CUresult tess_vgpu_cuStreamSynchronize(CUstream stream) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    if (!s)
        return result;
    if (s->tape) {
        s->tape->broken = true;
        result = tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is captured: it has nothing to wait for");
    }
    return tess_vgpu_door_leave(door, result);
}

CUresult tess_vgpu_cuStreamGetCtx(CUstream stream, CUcontext *context) {
    CUresult result;
    tess_vgpu_door *door;
    *context = NULL;
    if (!tess_vgpu_door_stream(stream, &door, &result))
        return result;
    *context = (CUcontext)(uintptr_t)((uint64_t)door->numbered.number << 32 | door->generation);
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

/* The serial number is never given twice; the default stream's is 0. */
CUresult tess_vgpu_cuStreamGetId(CUstream stream, unsigned long long *number) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    *number = 0;
    if (!s)
        return result;
    *number = s->handle;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}
CUresult tess_vgpu_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    *status = 0;
    if (!s)
        return result;
    *status = s->tape != NULL;
    if (s == &door->legacy && barred(door, false))
        result = tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the default stream while another is captured");
    return tess_vgpu_door_leave(door, result);
}

/* Everything before has been done, so there is nothing to wait for; but a stream that waits for an event of a capture joins that capture. */
CUresult tess_vgpu_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    if (!s)
        return result;
    const vgpu_object *e = tess_vgpu_door_object(door, (uint64_t)(uintptr_t)event, VGPU_EVENT);
    if (!e || flags > 1)
        return tess_vgpu_door_leave(door,
                                    tess_vgpu_door_say(e ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE, "not an event of this context"));
    if (e->tape && s->tape && s->tape != e->tape)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the event belongs to another capture"));
    if (e->tape && !s->tape) {
        s->tape = e->tape;
        s->tape->users++;
    }
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

/* ---- events ---- */

CUresult tess_vgpu_cuEventCreate(CUevent *event, unsigned int flags) {
    CUresult result;
    tess_vgpu_door *door = tess_vgpu_door_current(&result);
    *event = NULL;
    if (!door)
        return result;
    const vgpu_object *o = flags > 3 ? NULL : tess_vgpu_door_add(door, VGPU_EVENT);
    if (!o)
        return tess_vgpu_door_leave(door, flags > 3 ? tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "event flags 0x%x", flags)
                                                    : tess_vgpu_door_status(TESS_ERR_MEMORY, CUDA_ERROR_OUT_OF_MEMORY));
    *event = (CUevent)(uintptr_t)o->handle;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}
CUresult tess_vgpu_cuEventDestroy(CUevent event) { return destroy(event, VGPU_EVENT); }

CUresult tess_vgpu_cuEventRecord(CUevent event, CUstream stream) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    if (!s)
        return result;
    vgpu_object *e = tess_vgpu_door_object(door, (uint64_t)(uintptr_t)event, VGPU_EVENT);
    if (!e)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_INVALID_HANDLE, "not an event of this context"));
    tess_vgpu_tape_release(door, e->tape);
    e->tape = s->tape;
    if (e->tape)
        e->tape->users++;
    e->recorded = !e->tape;
    e->seconds = tess_seconds();
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

CUresult tess_vgpu_cuEventSynchronize(CUevent event) {
    CUresult result;
    tess_vgpu_door *door;
    return tess_vgpu_door_find(event, VGPU_EVENT, &door, &result) ? tess_vgpu_door_leave(door, CUDA_SUCCESS) : result;
}

CUresult tess_vgpu_cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *a = tess_vgpu_door_find(from, VGPU_EVENT, &door, &result);
    if (!a)
        return result;
    const vgpu_object *b = tess_vgpu_door_object(door, (uint64_t)(uintptr_t)to, VGPU_EVENT);
    if (!b || !a->recorded || !b->recorded)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_INVALID_HANDLE, "an event of the two was not recorded"));
    *milliseconds = (float)((b->seconds - a->seconds) * 1e3);
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

/* ---- graphs ---- */

bool tess_vgpu_door_unsafe(tess_vgpu_door *door) {
    const tess_thread_state *thread = tess_thread_get();
    bool any = false;
    for (vgpu_object *o = door->objects; o && thread->capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED; o = o->next)
        if (o->kind == VGPU_STREAM && o->tape &&
            (o->tape->thread == thread ? o->tape->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                       : o->tape->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL))
            any = o->tape->broken = true;
    return any;
}

CUresult tess_vgpu_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    if (!s)
        return result;
    if (s == &door->legacy || s->tape || (unsigned)mode > 2)
        return tess_vgpu_door_leave(door,
                                    tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s",
                                                       s->tape ? "the stream is being captured already" : "the default stream cannot be captured"));
    if (!(s->tape = tess_allocate_zeroed(door->context, sizeof *s->tape)))
        return tess_vgpu_door_leave(door, tess_vgpu_door_status(TESS_ERR_MEMORY, CUDA_ERROR_OUT_OF_MEMORY));
    s->tape->users = 1;
    s->tape->mode = mode;
    s->tape->thread = tess_thread_get();
    s->origin = true;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

CUresult tess_vgpu_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    tess_thread_state *thread = tess_thread_get();
    int before = thread->capture_mode;
    if ((unsigned)*mode > 2)
        return CUDA_ERROR_INVALID_VALUE;
    thread->capture_mode = (int)*mode;
    *mode = (CUstreamCaptureMode)before;
    return CUDA_SUCCESS;
}

CUresult tess_vgpu_cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    *graph = NULL;
    if (!s)
        return result;
    if (!s->tape || !s->origin)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "no capture began in this stream"));
    if (s->tape->mode != CU_STREAM_CAPTURE_MODE_RELAXED && s->tape->thread != tess_thread_get())
        return tess_vgpu_door_leave(
            door, tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "another thread began this capture, not in the relaxed mode"));
    vgpu_tape *tape = s->tape;
    vgpu_object *made = tape->broken ? NULL : tess_vgpu_door_add(door, VGPU_GRAPH);
    if (tape->broken)
        result = tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "a call that cannot be captured was made while the stream was");
    else if (!made)
        result = tess_vgpu_door_status(TESS_ERR_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
    if (made) {
        made->tape = tape;
        tape->users++;
        *graph = (CUgraph)(uintptr_t)made->handle;
    }
    tape->users++; /* so that it outlives the loop */
    for (vgpu_object *o = door->objects; o; o = o->next)
        if ((o->kind == VGPU_STREAM || o->kind == VGPU_EVENT) && o->tape == tape) {
            o->tape = NULL;
            o->origin = false;
            tess_vgpu_tape_release(door, tape);
        }
    tess_vgpu_tape_release(door, tape);
    return tess_vgpu_door_leave(door, result);
}

CUresult tess_vgpu_cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long flags) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *g = tess_vgpu_door_find(graph, VGPU_GRAPH, &door, &result);
    *executable = NULL;
    if (!g)
        return result;
    if (flags)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_NOT_SUPPORTED, "graph flags 0x%llx", flags));
    vgpu_object *o = tess_vgpu_door_add(door, VGPU_EXECUTABLE);
    if (!o)
        return tess_vgpu_door_leave(door, tess_vgpu_door_status(TESS_ERR_MEMORY, CUDA_ERROR_OUT_OF_MEMORY));
    o->tape = g->tape;
    o->tape->users++;
    *executable = (CUgraphExec)(uintptr_t)o->handle;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

/* A step of a graph that is launched into a stream: done now, or recorded anew, as a part of the graph that the stream's capture makes. */
static CUresult again(tess_vgpu_door *door, vgpu_object *stream, const vgpu_step *step) {
    vgpu_step copy = *step;
    if (!stream->tape)
        return tess_vgpu_door_run(door, step);
    if (step->params) {
        if (!(copy.params = tess_allocate(door->context, step->param_bytes)))
            return tess_vgpu_door_status(TESS_ERR_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
        memcpy(copy.params, step->params, step->param_bytes);
    }
    return tess_vgpu_door_do(door, stream, &copy);
}

/* The order of recording is one of the orders that the graph allows. */
CUresult tess_vgpu_cuGraphLaunch(CUgraphExec executable, CUstream stream) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    if (!s)
        return result;
    const vgpu_object *e = tess_vgpu_door_object(door, (uint64_t)(uintptr_t)executable, VGPU_EXECUTABLE);
    if (!e)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_INVALID_HANDLE, "not an executable graph of this context"));
    if (s == &door->legacy && tess_vgpu_door_implicit(door))
        return tess_vgpu_door_leave(
            door, tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "a graph for the default stream while another is captured"));
    for (const vgpu_step *step = e->tape->first; step && result == CUDA_SUCCESS; step = step->next)
        result = again(door, s, step);
    return tess_vgpu_door_leave(door, result);
}

CUresult tess_vgpu_cuGraphExecDestroy(CUgraphExec executable) { return destroy(executable, VGPU_EXECUTABLE); }
CUresult tess_vgpu_cuGraphDestroy(CUgraph graph) { return destroy(graph, VGPU_GRAPH); }

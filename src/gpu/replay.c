/* SPDX-License-Identifier: Apache-2.0
 * replay.c - an execution like the ones before it is launched as a graph.
 *
 * What a small operation takes is the host's time to launch it, and the driver launches a graph of one kernel in half the time of the kernel: the graph's
 * parameters were written down when it was made. So when a plan is executed again and again on one stream with the same pointers, the sixteenth time its
 * launches are recorded on a stream of our own, and from then on the graph is launched. With other pointers or on another stream launches are plain, until
 * 32 in a row are alike and take the graph's place, then 64: recording took 25 to 155 us on an H200's host, and what a launch gains is two or three. An execution that is captured by the caller does not come here; one that finds
 * another thread here is launched plainly.
 *
 * The graph is a plan's, and so is the counter in it that belongs to the stream (ticket.c). A graph that is still running may be destroyed: the driver
 * keeps what the launch needs. */
#include <stdio.h>

#include "gpu/row.h"

enum { ALIKE = 16, MOST = 20, BYTES = 256 << 20 }; /* a larger problem's time is the card's */

static bool pays(const tess_plan *plan, const tess_gpu_plan *made) {
    const tess_gpu_layout *layout = &made->layout;
    for (int s = 0; s < layout->steps; s++)
        if (layout->step[s].variable) /* is filled by executions that take turns */
            return false;
    return layout->steps > 0 && layout->turns <= 1 && layout->result == 0 && plan->problem->bytes <= BYTES;
}

static bool same(const tess_gpu_alike *a, const tess_gpu_alike *b) {
    return a->stream == b->stream && a->pointers.in == b->pointers.in && a->pointers.second == b->pointers.second &&
           a->pointers.out == b->pointers.out && a->pointers.workspace == b->pointers.workspace;
}

/* The plan's launches, recorded on a stream of our own. */
static CUresult capture(const tess_gpu_scope *scope, const tess_gpu_plan *made, const tess_gpu_pointers *pointers, CUgraph *graph) {
    const tess_driver *driver = &scope->gpu->driver;
    CUstream own = NULL;
    CUresult result = driver->cuStreamCreate(&own, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return result;
    result = driver->cuStreamBeginCapture(own, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (result == CUDA_SUCCESS) {
        tess_status status = tess_gpu_run_steps(scope, made, pointers, own);
        result = driver->cuStreamEndCapture(own, graph);
        result = status == TESS_OK ? result : CUDA_ERROR_NOT_SUPPORTED;
    }
    driver->cuStreamDestroy(own);
    return result;
}

static void drop(const tess_driver *driver, tess_gpu_replay *replay) {
    if (replay->graph)
        driver->cuGraphExecDestroy(replay->graph);
    replay->graph = NULL;
}

/* The graph of executions like the last one, in place of another. Never an error: without a graph launches are plain. */
static void record(const tess_gpu_scope *scope, const tess_gpu_plan *made, CUstream stream, tess_gpu_replay *replay) {
    const tess_driver *driver = &scope->gpu->driver;
    char said[TESS_DETAIL_SIZE];
    tess_gpu_pointers pointers = replay->last.pointers;
    CUgraph graph = NULL;
    replay->never = made->layout.ticket && !(pointers.ticket = tess_gpu_ticket(scope, stream));
    if (replay->never)
        return;
    snprintf(said, sizeof said, "%s", tess_detail());
    tess_gpu_scope mode = {.gpu = scope->gpu};
    tess_gpu_relax(&mode);
    drop(driver, replay);
    if (capture(scope, made, &pointers, &graph) != CUDA_SUCCESS || driver->cuGraphInstantiateWithFlags(&replay->graph, graph, 0) != CUDA_SUCCESS) {
        replay->graph = NULL;
        replay->never = true;
    }
    if (graph)
        driver->cuGraphDestroy(graph);
    tess_gpu_restore(&mode);
    replay->recorded = replay->last;
    tess_fail(TESS_OK, "%s", said);
}

/* With `busy` taken, on a stream that is not captured: whether there is a graph for this execution. */
static bool ready(const tess_gpu_scope *scope, const tess_gpu_plan *made, const tess_gpu_pointers *pointers, CUstream stream,
                  tess_gpu_replay *replay) {
    tess_gpu_alike now = {.pointers = *pointers};
    if (replay->never || scope->gpu->driver.cuStreamGetId(stream, &now.stream) != CUDA_SUCCESS)
        return false;
    if (replay->graph && same(&replay->recorded, &now))
        return true;
    replay->alike = replay->alike > 0 && same(&replay->last, &now) ? replay->alike + 1 : 1;
    replay->last = now;
    if (replay->alike < ALIKE << replay->recordings)
        return false;
    record(scope, made, stream, replay);
    replay->alike = 0;
    replay->recordings += replay->recordings < MOST;
    return replay->graph != NULL;
}

tess_status tess_gpu_run_again(const tess_gpu_scope *scope, const tess_plan *plan, const tess_gpu_plan *made, const tess_gpu_pointers *pointers,
                               CUstream stream) {
    tess_gpu_replay *replay = (tess_gpu_replay *)(uintptr_t)&made->replay; /* plans are constant for callers */
    if (!pays(plan, made) || atomic_exchange_explicit(&replay->busy, true, memory_order_acquire))
        return tess_gpu_run_steps(scope, made, pointers, stream);
    bool launched = ready(scope, made, pointers, stream, replay);
    if (launched && scope->gpu->driver.cuGraphLaunch(replay->graph, stream) != CUDA_SUCCESS) {
        launched = false; /* nothing was begun; a plain launch says why if it fails too */
        replay->never = true;
    }
    atomic_store_explicit(&replay->busy, false, memory_order_release);
    return launched ? TESS_OK : tess_gpu_run_steps(scope, made, pointers, stream);
}

void tess_gpu_replay_free(const tess_gpu_scope *scope, tess_gpu_plan *made) {
    if (scope->context_id == made->context_id)
        drop(&scope->gpu->driver, &made->replay);
}

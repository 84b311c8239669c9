/* SPDX-License-Identifier: Apache-2.0
 * execute.c - one execution of a plan: workspace, launches on the caller's stream, the result word where a row has one.
 *
 * With device arrays and the caller's workspace nothing is allocated and nothing waited for, so the call can be captured into a graph. (replay.c makes one
 * itself of calls alike, once.) A report, a result and arrays in host memory make it wait for the stream, and no other. */
#include <string.h>

#include "gpu/slots.h"
#include "gpu/ticket.h"

static CUdeviceptr address_of(const tess_gpu_argument *a, const tess_gpu_plan *plan, const tess_gpu_pointers *pointers) {
    CUdeviceptr base = a->place == TESS_GPU_IN                       ? pointers->in
                       : a->place == TESS_GPU_SECOND                 ? pointers->second
                       : a->place == TESS_GPU_OUT                    ? pointers->out
                       : a->place == TESS_GPU_DATA                   ? plan->data
                       : a->place == TESS_GPU_TICKET                 ? pointers->ticket
                       : a->place == TESS_GPU_MARK && pointers->mark ? pointers->mark
                                                                     : pointers->workspace;
    return base + (CUdeviceptr)a->offset; /* modulo 2^64: offsets may be negative */
}

/* The counter that the layout's launch wants. */
static tess_status get_ticket(const tess_gpu_scope *scope, const tess_gpu_layout *layout, tess_gpu_pointers *pointers, CUstream stream) {
    pointers->ticket = tess_gpu_ticket(scope, stream);
    if (pointers->ticket)
        return TESS_OK;
    pointers->ticket = pointers->workspace + (CUdeviceptr)layout->ticket_room;
    TESS_CUDA(scope->gpu, cuMemsetD8Async, pointers->ticket, 0, 4, stream);
    return TESS_OK;
}

/* All steps; arguments that want it are given the turn's number. */
static tess_status run_turn(const tess_gpu_scope *scope, const tess_gpu_plan *plan, const tess_gpu_pointers *pointers, int64_t turn,
                            CUstream stream) {
    const tess_gpu_layout *layout = &plan->layout;
    for (int s = 0; s < layout->steps; s++) {
        const tess_gpu_step *step = &layout->step[s];
        CUdeviceptr address[TESS_GPU_ARGUMENTS];
        void *argument[TESS_GPU_ARGUMENTS];
        for (int i = 0; i < step->arguments; i++) {
            const tess_gpu_argument *a = &step->argument[i];
            address[i] = a->place == TESS_GPU_VALUE ? 0 : a->place == TESS_GPU_TURN ? (CUdeviceptr)turn : address_of(a, plan, pointers);
            argument[i] = a->place == TESS_GPU_VALUE ? (void *)(uintptr_t)(layout->arena + a->at) : &address[i];
        }
        if (step->variable)
            TESS_TRY(tess_gpu_launch_filled(scope, &plan->kernel[s], &step->grid, stream, argument, step->variable,
                                            address_of(&step->content, plan, pointers), (size_t)step->content.size));
        else
            TESS_TRY(tess_gpu_launch(scope, &plan->kernel[s], &step->grid, stream, argument));
    }
    return TESS_OK;
}

tess_status tess_gpu_run_steps(const tess_gpu_scope *scope, const tess_gpu_plan *plan, const tess_gpu_pointers *given, CUstream stream) {
    const tess_gpu_layout *layout = &plan->layout;
    tess_gpu_pointers pointers = *given;
    if (layout->ticket && !pointers.ticket)
        TESS_TRY(get_ticket(scope, layout, &pointers, stream));
    if (layout->zeroed > 0 && !pointers.mark)
        TESS_CUDA(scope->gpu, cuMemsetD8Async, pointers.workspace, 0, (size_t)layout->zeroed, stream);
    for (int64_t turn = 0; turn == 0 || turn < layout->turns; turn++)
        TESS_TRY(run_turn(scope, plan, &pointers, turn, stream));
    return TESS_OK;
}

/* Events on the stream, made for one execution that is to be reported. */
typedef struct watch {
    CUevent from, to;
} watch;

static tess_status watch_start(const tess_gpu_scope *scope, watch *w, CUstream stream) {
    TESS_CUDA(scope->gpu, cuEventCreate, &w->from, 0);
    TESS_CUDA(scope->gpu, cuEventCreate, &w->to, 0);
    TESS_CUDA(scope->gpu, cuEventRecord, w->from, stream);
    return TESS_OK;
}

static tess_status watch_stop(const tess_gpu_scope *scope, watch *w, CUstream stream, double *seconds) {
    float milliseconds = 0;
    TESS_CUDA(scope->gpu, cuEventRecord, w->to, stream);
    TESS_CUDA(scope->gpu, cuEventSynchronize, w->to);
    TESS_CUDA(scope->gpu, cuEventElapsedTime, &milliseconds, w->from, w->to);
    *seconds = milliseconds * 1e-3;
    return TESS_OK;
}

static void watch_free(const tess_gpu_scope *scope, watch *w) {
    if (w->from)
        scope->gpu->driver.cuEventDestroy(w->from);
    if (w->to)
        scope->gpu->driver.cuEventDestroy(w->to);
}

struct tess_gpu_peek {
    const tess_gpu_scope *scope;
    const tess_gpu_plan *plan;
    const tess_gpu_pointers *pointers;
    CUstream stream;
};

tess_status tess_gpu_read(const tess_gpu_peek *peek, tess_gpu_place place, int64_t offset, void *to, size_t size) {
    tess_gpu_argument at = {.place = place, .offset = offset};
    TESS_CUDA(peek->scope->gpu, cuMemcpyDtoHAsync, to, address_of(&at, peek->plan, peek->pointers), size, peek->stream);
    TESS_CUDA(peek->scope->gpu, cuStreamSynchronize, peek->stream);
    return TESS_OK;
}

tess_status tess_gpu_verdict(const tess_gpu_scope *scope, const tess_problem *problem, const tess_gpu_plan *made, const tess_gpu_pointers *pointers,
                             const char *result, CUstream stream) {
    const tess_gpu_peek peek = {scope, made, pointers, stream};
    return made->layout.result ? made->row->gpu->finish(problem, result, &peek) : TESS_OK;
}

/* The row's verdict on what its kernels left at the workspace's start. */
tess_status tess_gpu_finish(const tess_gpu_scope *scope, const tess_plan *plan, const tess_gpu_plan *made, const tess_gpu_pointers *pointers,
                            CUstream stream) {
    char result[TESS_GPU_RESULT];
    if (made->layout.result == 0)
        return TESS_OK;
    if (made->layout.result > (int64_t)sizeof result)
        return tess_fail(TESS_ERR_INTERNAL, "strategy %s has a result of %lld bytes", made->row->name, (long long)made->layout.result);
    TESS_CUDA(scope->gpu, cuMemcpyDtoHAsync, result, pointers->workspace, (size_t)made->layout.result, stream);
    TESS_CUDA(scope->gpu, cuStreamSynchronize, stream);
    return tess_gpu_verdict(scope, plan->problem, made, pointers, result, stream);
}

/* The same where the kernels had a mark of their own: only where its flag is set is there something to read. */
static tess_status finish_marked(const tess_gpu_scope *scope, const tess_plan *plan, const tess_gpu_plan *made, const tess_gpu_pointers *pointers,
                                 const tess_gpu_mark *mark, CUstream stream) {
    uint64_t word = 0;
    TESS_CUDA(scope->gpu, cuStreamSynchronize, stream);
    if (*mark->flag) {
        TESS_CUDA(scope->gpu, cuMemcpyDtoHAsync, &word, mark->word, sizeof word, stream);
        TESS_CUDA(scope->gpu, cuMemsetD8Async, mark->word, 0, sizeof word, stream);
        TESS_CUDA(scope->gpu, cuStreamSynchronize, stream);
        *mark->flag = 0;
    }
    tess_gpu_mark_give(scope, mark);
    return tess_gpu_verdict(scope, plan->problem, made, pointers, (const char *)&word, stream);
}

tess_status tess_gpu_aligned_plan(const tess_gpu_plan **chosen, const tess_plan *plan, const tess_gpu_pointers *pointers) {
    static const struct {
        const char *name;
        tess_operand operand;
    } operands[] = {{"in", TESS_ARRAY_IN}, {"the second operand", TESS_ARRAY_SECOND}, {"out", TESS_ARRAY_OUT}};
    const CUdeviceptr address[] = {pointers->in, pointers->second, pointers->out};
    const tess_gpu_plan *made = plan->prepared;
    CUdeviceptr all = 0;
    for (int i = 0; i < TESS_COUNT(operands); i++) {
        const tess_array *array = plan->problem->op->array(plan->problem, operands[i].operand);
        if (!array || array->count == 0)
            continue;
        if (address[i] & (CUdeviceptr)(array->itemsize - 1)) /* a power of two */
            return tess_fail(TESS_ERR_ARGUMENT, "%s is at %#llx: on a GPU elements are aligned to their size, here %d bytes", operands[i].name,
                             address[i], (int)array->itemsize);
        all |= address[i];
    }
    for (; made; made = made->other)
        if (made->layout.alignment == 0 || all % (CUdeviceptr)made->layout.alignment == 0) {
            *chosen = made;
            return TESS_OK;
        }
    return tess_fail(TESS_ERR_STRATEGY, "strategy %s needs operands aligned to %lld bytes, and no other row takes these", plan->row->name,
                     (long long)((const tess_gpu_plan *)plan->prepared)->layout.alignment);
}

/* Why the execution cannot be a part of the caller's graph, or NULL. */
static const char *not_for_graphs(const tess_plan *plan, const tess_gpu_plan *made, const tess_call *call) {
    if (made->host)
        return "arrays in host memory are copied and waited for";
    if (call->report)
        return "a report waits for the stream";
    if (!call->workspace && plan->workspace > 0 && !tess_gpu_device_pool(made->gpu, made->device))
        return "this device has no memory in a stream's order, so a workspace has to be given";
    for (; made; made = made->other) {
        if (made->layout.result > 0)
            return "what the kernels found is read back and waited for (a lookup's index outside; other values of `outside` need no answer)";
        for (int s = 0; s < made->layout.steps; s++)
            if (made->layout.step[s].variable)
                return "its constant memory is filled before each launch, in turns with other streams";
    }
    return NULL;
}

/* Before anything is asked of the stream that would end the caller's capture. */
static tess_status check_use(const tess_plan *plan, const tess_call *call, tess_gpu_use use) {
    const char *why = use == TESS_GPU_TAPED ? not_for_graphs(plan, plan->prepared, call) : NULL;
    if (use == TESS_GPU_BARRED)
        return tess_fail(TESS_ERR_ARGUMENT,
                         "stream is the default one while a stream that it waits for is captured: the work would end that capture");
    if (why)
        return tess_fail(TESS_ERR_ARGUMENT, "the stream is captured and strategy %s cannot be: %s", plan->row->name, why);
    return TESS_OK;
}

static tess_status run_on_device(const tess_gpu_scope *scope, const tess_plan *plan, tess_gpu_pointers *pointers, const tess_call *call,
                                 tess_gpu_use use, double *seconds) {
    const tess_gpu_plan *made;
    tess_gpu_mark mark;
    TESS_TRY(tess_gpu_aligned_plan(&made, plan, pointers));
    if (made->layout.mark && tess_gpu_mark_take(scope, &mark))
        pointers->mark = mark.word;
    watch w = {NULL, NULL};
    CUstream stream = call->stream;
    tess_status status = call->report ? watch_start(scope, &w, stream) : TESS_OK;
    if (status == TESS_OK)
        status = use == TESS_GPU_DONE ? tess_gpu_run_again(scope, plan, made, pointers, stream) : tess_gpu_run_steps(scope, made, pointers, stream);
    if (status == TESS_OK && call->report)
        status = watch_stop(scope, &w, stream, seconds);
    watch_free(scope, &w);
    if (status != TESS_OK) /* a mark that may be used still is nobody's any more */
        return status;
    return pointers->mark ? finish_marked(scope, plan, made, pointers, &mark, stream) : tess_gpu_finish(scope, plan, made, pointers, stream);
}

/* Stream-ordered memory where the device has it; freed in the stream's order, so nothing waits. */
tess_status tess_gpu_scratch(const tess_gpu_scope *scope, CUdeviceptr *memory, size_t size, CUstream stream, tess_gpu_use use, bool *ordered) {
    *memory = 0;
    *ordered = false;
    if (size == 0)
        return TESS_OK;
    CUmemoryPool pool = tess_gpu_device_pool(scope->gpu, scope->device);
    *ordered = (pool ? scope->gpu->driver.cuMemAllocFromPoolAsync(memory, size, pool, stream)
                     : scope->gpu->driver.cuMemAllocAsync(memory, size, stream)) == CUDA_SUCCESS;
    if (!*ordered && use != TESS_GPU_DONE) /* other memory would be freed before the graph uses it */
        return tess_fail(TESS_ERR_ARGUMENT, "the stream is captured and no memory can be a part of its graph: give a workspace of %zu bytes", size);
    if (!*ordered)
        TESS_CUDA(scope->gpu, cuMemAlloc, memory, size);
    return TESS_OK;
}

void tess_gpu_scratch_free(const tess_gpu_scope *scope, CUdeviceptr memory, CUstream stream, bool ordered) {
    if (!memory)
        return;
    if (ordered)
        scope->gpu->driver.cuMemFreeAsync(memory, stream);
    else /* waits for the device, so that no launch still uses it */
        scope->gpu->driver.cuMemFree(memory);
}

/* Slab by slab or whole. Slabs may want kernels that are not shipped where the whole's are, so without a compiler the whole is tried as well. */
static tess_status execute_from_host(const tess_gpu_scope *scope, const tess_plan *plan, const void *in, const void *second, void *out,
                                     CUstream stream) {
    tess_gpu_cut cut;
    if (tess_gpu_pipeline_cut(plan, &cut)) {
        tess_status status = tess_gpu_execute_slabs(scope, plan, &cut, in, second, out, stream);
        if (status != TESS_ERR_ENGINE || tess_gpu_has_compiler(scope->gpu))
            return status;
    }
    return tess_gpu_execute_host(scope, plan, in, second, out, stream);
}

static tess_status execute_inside(const tess_gpu_scope *scope, const tess_plan *plan, const void *in, const void *second, void *out,
                                  const tess_call *call, double *seconds) {
    const tess_gpu_plan *made = plan->prepared;
    CUstream stream = call->stream;
    bool ordered = false;
    CUdeviceptr own = 0;
    if (scope->context_id != made->context_id)
        return tess_fail(TESS_ERR_ARGUMENT, "the plan was made in CUDA context %llu, the stream or thread of this execution is in context %llu",
                         made->context_id, scope->context_id);
    tess_gpu_pointers pointers = {.in = (CUdeviceptr)(uintptr_t)in, .second = (CUdeviceptr)(uintptr_t)second, .out = (CUdeviceptr)(uintptr_t)out};
    const tess_gpu_use use = tess_gpu_stream_use(scope->gpu, stream);
    if (TESS_UNLIKELY(use != TESS_GPU_DONE))
        TESS_TRY(check_use(plan, call, use));
    if (made->host) {
        double start = tess_seconds();
        tess_gpu_scope mode = {.gpu = scope->gpu};
        tess_gpu_relax(&mode);
        tess_status status = execute_from_host(scope, plan, in, second, out, stream);
        tess_gpu_restore(&mode);
        if (status != TESS_OK)
            return status;
        *seconds = tess_seconds() - start;
        return TESS_OK;
    }
    if (call->workspace) {
        if (call->workspace_size < plan->workspace)
            return tess_fail(TESS_ERR_ARGUMENT, "workspace_size is %zu, this plan needs %zu bytes", call->workspace_size, plan->workspace);
        if ((uintptr_t)call->workspace % 64)
            return tess_fail(TESS_ERR_ARGUMENT, "workspace is %p, it must be aligned to 64 bytes", call->workspace);
        pointers.workspace = (CUdeviceptr)(uintptr_t)call->workspace;
    } else {
        TESS_TRY(tess_gpu_scratch(scope, &own, plan->workspace, stream, use, &ordered));
        pointers.workspace = own;
    }
    tess_status status = run_on_device(scope, plan, &pointers, call, use, seconds);
    tess_gpu_scratch_free(scope, own, stream, ordered);
    return status;
}

tess_status tess_gpu_execute(const tess_plan *plan, const void *in, const void *second, void *out, const tess_call *call, double *seconds) {
    const tess_gpu_plan *made = plan->prepared;
    tess_gpu_scope scope;
    TESS_TRY(tess_gpu_open(made->gpu)); /* a fork's child is told */
    tess_status status = tess_gpu_enter_again(made->gpu, made->device, call->stream, made->context_id, &scope);
    if (status == TESS_OK)
        status = execute_inside(&scope, plan, in, second, out, call, seconds);
    tess_gpu_leave(&scope);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * plan.c - what the engine adds to a plan: the device, the row's layout, its kernels loaded, its data copied there. */
#include <stdio.h>
#include <string.h>

#include "gpu/ticket.h"

/* The engine's object of the plan's engine, opened. */
static tess_status open_engine(tess_gpu **gpu, const tess_plan *plan) {
    TESS_TRY(tess_gpu_get_engine(gpu, plan->context, plan->engine));
    return tess_gpu_open(*gpu);
}

static tess_status device_of(const tess_plan *plan, tess_gpu *gpu, tess_gpu_device **device) {
    return tess_gpu_device_get(gpu, plan->device.device_type == kDLCPU ? 0 : plan->device.device_id, device);
}

tess_status tess_gpu_plan_open(tess_plan *plan) {
    tess_gpu *gpu;
    tess_gpu_device *device;
    TESS_TRY(open_engine(&gpu, plan));
    return device_of(plan, gpu, &device);
}

static tess_status get_kernels(const tess_gpu_scope *scope, tess_gpu_plan *made, const tess_gpu_row *row) {
    const tess_gpu_layout *layout = &made->layout;
    for (int s = 0; s < layout->steps; s++) {
        int u = layout->step[s].unit;
        tess_gpu_source source = {.name = layout->unit[u].text->name,
                                  .text = layout->unit[u].text->text,
                                  .headers = tess_gpu_unit_headers(layout, u, row->headers),
                                  .lasting = true,
                                  .options = layout->unit[u].option,
                                  .option_count = layout->unit[u].options};
        TESS_TRY(tess_gpu_kernel_get(scope, &source, layout->step[s].entry, &made->kernel[s]));
    }
    return TESS_OK;
}

static tess_status put_data(const tess_gpu_scope *scope, tess_gpu_plan *made, CUstream stream) {
    const tess_gpu_layout *layout = &made->layout;
    if (!layout->data_size)
        return TESS_OK;
    TESS_CUDA(scope->gpu, cuMemAlloc, &made->data, (size_t)layout->data_size);
    for (int i = 0; i < layout->pieces; i++)
        if (layout->piece[i].size > 0)
            TESS_CUDA(scope->gpu, cuMemcpyHtoDAsync, made->data + (CUdeviceptr)layout->piece[i].at, layout->piece[i].content, layout->piece[i].size,
                      stream);
    TESS_CUDA(scope->gpu, cuStreamSynchronize, stream); /* another stream may execute the plan */
    return TESS_OK;
}

static tess_status put_constants(const tess_gpu_scope *scope, tess_gpu_plan *made, CUstream stream) {
    const tess_gpu_layout *layout = &made->layout;
    for (int i = 0; i < layout->constants; i++) {
        int s = 0;
        while (s < layout->steps && layout->step[s].unit != layout->constant[i].unit)
            s++;
        if (s < layout->steps)
            TESS_TRY(tess_gpu_constant(scope, &made->kernel[s], layout->constant[i].variable, layout->constant[i].content, layout->constant[i].size,
                                       stream));
    }
    if (layout->constants)
        TESS_CUDA(scope->gpu, cuStreamSynchronize, stream);
    return TESS_OK;
}

/* Nothing to write and no index to look at: nothing is launched, and no row has to think of tiles of no elements. */
static bool is_idle(const tess_plan *plan) {
    const tess_op *op = plan->problem->op;
    return op->array(plan->problem, TESS_ARRAY_OUT)->count == 0 && !op->array(plan->problem, TESS_ARRAY_SECOND);
}

/* Arrays on the device are not cut: launches of more blocks than a grid has make room for another row. */
static tess_status check_grids(const tess_gpu_plan *made, const char *name) {
    static const char axis_name[] = "xyz";
    for (int s = 0; s < made->layout.steps && !made->host; s++)
        for (int i = 0; i < 3; i++) {
            const int64_t blocks = made->layout.step[s].grid.grid[i];
            if (blocks > made->device->grid[i])
                return tess_fail(TESS_ERR_STRATEGY, "strategy %s cannot run here: %s would have %lld blocks along %c, the limit of %s is %d", name,
                                 made->layout.step[s].entry, (long long)blocks, axis_name[i], made->device->name, made->device->grid[i]);
        }
    return TESS_OK;
}

static tess_status lay_out(const tess_plan *plan, tess_gpu_plan *made, const tess_strategy *row) {
    const tess_gpu_row *of = row->gpu;
    const tess_gpu_device *d = made->device;
    made->row = row;
    if (!is_idle(plan))
        of->lay_out(plan->problem, d, &made->layout);
    tess_gpu_fold(&made->layout, d->grid);
    if (made->layout.full)
        return tess_fail(TESS_ERR_INTERNAL, "strategy %s: a layout of %d launches has too many units, options or arguments", row->name,
                         made->layout.steps);
    if (d->major * 10 + d->minor < of->least_arch)
        return tess_fail(TESS_ERR_ENGINE, "strategy %s needs compute capability %d.%d, %s has %d.%d", row->name, of->least_arch / 10,
                         of->least_arch % 10, d->name, d->major, d->minor);
    return check_grids(made, row->name);
}

tess_status tess_gpu_plan_make(tess_gpu_plan **result, const tess_plan *plan, const tess_strategy *row) {
    tess_gpu *gpu;
    *result = NULL;
    TESS_TRY(open_engine(&gpu, plan));
    tess_gpu_plan *made = tess_allocate(plan->context, sizeof *made);
    if (!made)
        return TESS_ERR_MEMORY;
    memset(made, 0, offsetof(tess_gpu_plan, layout.arena)); /* the arena is written before it is read */
    *result = made;
    made->gpu = gpu;
    made->host = plan->device.device_type == kDLCPU;
    TESS_TRY(device_of(plan, gpu, &made->device));
    return lay_out(plan, made, row);
}

/* The alignment that every element has by itself, the least of all operands'. */
static int64_t natural_alignment(const tess_plan *plan) {
    static const tess_operand operands[] = {TESS_ARRAY_IN, TESS_ARRAY_SECOND, TESS_ARRAY_OUT};
    int64_t least = 16;
    for (int i = 0; i < TESS_COUNT(operands); i++) {
        const tess_array *array = plan->problem->op->array(plan->problem, operands[i]);
        least = array ? tess_min64(least, array->itemsize) : least;
    }
    return least;
}

/* Whether the twins of operands in host memory (host.c), each a block of the device's, have their first elements where the row wants them. */
static bool twins_are_aligned(const tess_plan *plan, int64_t alignment) {
    static const tess_operand operands[] = {TESS_ARRAY_IN, TESS_ARRAY_SECOND, TESS_ARRAY_OUT};
    for (int i = 0; i < TESS_COUNT(operands); i++) {
        const tess_array *array = plan->problem->op->array(plan->problem, operands[i]);
        int64_t low, high;
        if (!array)
            continue;
        tess_array_extent(array, &low, &high);
        if (low % alignment)
            return false;
    }
    return true;
}

/* The first row from number `from` on that asks for no more than natural alignment, after one that does; where the search goes on in *from. */
static tess_status make_other(tess_gpu_plan *made, const tess_plan *plan, int *from) {
    const tess_op *op = plan->problem->op;
    int64_t natural = natural_alignment(plan);
    const char *why;
    if (made->layout.alignment <= natural || (made->host && twins_are_aligned(plan, made->layout.alignment)))
        return TESS_OK;
    while (*from < op->gpu_count) {
        const tess_strategy *row = &op->gpu_rows[(*from)++];
        if (row == plan->row || !row->gpu->production || !row->applicable(plan->problem, &why))
            continue;
        tess_status status = tess_gpu_plan_make(&made->other, plan, row);
        if (status != TESS_OK && status != TESS_ERR_STRATEGY)
            return status;
        if (status == TESS_OK && made->other->layout.alignment <= natural)
            return TESS_OK;
        tess_free(plan->context, made->other, sizeof *made->other);
        made->other = NULL;
    }
    return TESS_OK; /* an execution with such operands then fails */
}

static tess_status put_all(const tess_gpu_scope *scope, tess_gpu_plan *made, CUstream stream) {
    TESS_TRY(put_constants(scope, made, stream));
    return put_data(scope, made, stream);
}

/* What is copied to the device is waited for, which a stream that is captured does not allow: a stream of our own then takes its place. */
tess_status tess_gpu_plan_load(const tess_gpu_scope *scope, tess_gpu_plan *made, CUstream stream) {
    const tess_gpu *gpu = scope->gpu;
    CUstream own = NULL;
    made->context_id = scope->context_id;
    TESS_TRY(get_kernels(scope, made, made->row->gpu));
    if (made->layout.ticket)
        TESS_TRY(tess_gpu_tickets_make(scope));
    if (made->layout.mark && !made->host)
        tess_gpu_marks_make(scope);
    if ((!made->layout.data_size && !made->layout.constants) || tess_gpu_stream_use(gpu, stream) == TESS_GPU_DONE)
        return put_all(scope, made, stream);
    TESS_CUDA(gpu, cuStreamCreate, &own, CU_STREAM_NON_BLOCKING);
    tess_status status = put_all(scope, made, own);
    gpu->driver.cuStreamDestroy(own);
    return status;
}

/* Kernels of the planner's choice have to give known answers before they are used (answer.c). */
static tess_status load_and_ask(const tess_gpu_scope *scope, tess_gpu_plan *made, const tess_plan *plan, CUstream stream,
                                const tess_strategy **wrong) {
    TESS_TRY(tess_gpu_plan_load(scope, made, stream));
    return made->row->gpu->production ? tess_gpu_ask(scope, plan, made, stream, wrong) : TESS_OK;
}

/* Kernels that are wrong, or are not shipped where nothing compiles them, and too many blocks: another row may do. */
static bool is_no_use(const tess_gpu_plan *made, tess_status status, const tess_strategy *wrong) {
    return wrong || status == TESS_ERR_STRATEGY || (status == TESS_ERR_ENGINE && made && !tess_gpu_has_compiler(made->gpu));
}

static void free_data(const tess_gpu_scope *scope, const tess_gpu_plan *made) {
    if (made->data && scope->context_id == made->context_id)
        made->gpu->driver.cuMemFree(made->data);
}

/* The row for operands that lack the alignment of the plan's own, which stays whatever becomes of this one: the next such row takes its place. */
static tess_status load_other(const tess_gpu_scope *scope, tess_gpu_plan *made, tess_plan *plan, CUstream stream) {
    for (int from = 0;;) {
        const tess_strategy *wrong = NULL;
        TESS_TRY(make_other(made, plan, &from));
        if (!made->other)
            return TESS_OK;
        tess_status status = load_and_ask(scope, made->other, plan, stream, &wrong);
        if (status == TESS_OK || !is_no_use(made->other, status, wrong))
            return status;
        size_t said = strlen(plan->reason);
        if (wrong)
            snprintf(plan->reason + said, sizeof plan->reason - said, "; %s, for other addresses, gave other bits than the CPU here", wrong->name);
        free_data(scope, made->other);
        tess_free(plan->context, made->other, sizeof *made->other);
        made->other = NULL;
    }
}

static tess_status prepare(tess_plan *plan, const tess_call *call, const tess_strategy **wrong) {
    tess_gpu_plan *made;
    tess_gpu_scope scope;
    tess_status status = tess_gpu_plan_make(&made, plan, plan->row);
    plan->prepared = made;
    if (status != TESS_OK)
        return status;
    CUstream stream = call->stream;
    status = tess_gpu_enter(made->gpu, made->device, stream, &scope);
    if (status == TESS_OK)
        status = load_and_ask(&scope, made, plan, stream, wrong);
    if (status == TESS_OK)
        status = load_other(&scope, made, plan, stream);
    plan->workspace = (size_t)tess_max64(made->layout.workspace, made->other ? made->other->layout.workspace : 0);
    tess_gpu_leave(&scope);
    return status;
}

/* The next row of the planner's after the one that cannot be used, or NULL. */
static const tess_strategy *next_row(const tess_plan *plan) {
    const tess_op *op = plan->problem->op;
    const char *why;
    for (const tess_strategy *row = plan->row + 1; row < op->gpu_rows + op->gpu_count; row++)
        if (row->gpu->production && row->applicable(plan->problem, &why))
            return row;
    return NULL;
}

/* A row whose kernels are wrong, or are not shipped where nothing compiles them, makes room for the next unless the call asked for it by name. */
tess_status tess_gpu_plan_prepare(tess_plan *plan, const tess_call *call) {
    for (;;) {
        const tess_strategy *wrong = NULL, *next = NULL;
        tess_status status = prepare(plan, call, &wrong);
        const tess_gpu_plan *made = plan->prepared;
        if (is_no_use(made, status, wrong) && !(call->strategy && *call->strategy))
            next = next_row(plan);
        if (!next)
            return status;
        tess_gpu_plan_release(plan);
        if (wrong)
            snprintf(plan->reason, sizeof plan->reason, "%s gave other bits than the CPU here and is not used", wrong->name);
        else if (status == TESS_ERR_STRATEGY)
            snprintf(plan->reason, sizeof plan->reason, "first whose launches fit a grid");
        else
            snprintf(plan->reason, sizeof plan->reason, "first whose kernels are shipped; there is no compiler here");
        plan->row = next;
    }
}

void tess_gpu_plan_release(tess_plan *plan) {
    tess_gpu_plan *next;
    for (tess_gpu_plan *made = plan->prepared; made; made = next) {
        tess_gpu_scope scope;
        next = made->other;
        if ((made->data || made->replay.graph) && tess_gpu_enter(made->gpu, made->device, NULL, &scope) == TESS_OK) {
            free_data(&scope, made);
            tess_gpu_replay_free(&scope, made);
            tess_gpu_leave(&scope);
        }
        tess_free(plan->context, made, sizeof *made);
    }
    plan->prepared = NULL;
}

void tess_gpu_plan_name(const tess_plan *plan, char *text, size_t size) {
    const tess_gpu_plan *made = plan->prepared;
    snprintf(text, size, "sm_%d%d", made->device->major, made->device->minor);
}

tess_status tess_gpu_plan_place(const tess_plan *plan, tess_wisdom_place *place) {
    tess_gpu *gpu;
    tess_gpu_device *device;
    TESS_TRY(open_engine(&gpu, plan));
    TESS_TRY(device_of(plan, gpu, &device));
    *place = (tess_wisdom_place){.machine = tess_wisdom_hash(device->name), .threads = 1};
    snprintf(place->isa, sizeof place->isa, "sm_%d%d", device->major, device->minor);
    return TESS_OK;
}

static void explain_step(const tess_gpu_plan *made, int s, bool json, tess_text *text) {
    const tess_gpu_step *step = &made->layout.step[s];
    const tess_gpu_kernel *kernel = &made->kernel[s];
    const char *name = made->layout.unit[step->unit].text->name;
    const int64_t *g = step->grid.grid;
    long long shared = (long long)step->grid.shared + kernel->static_shared;
    if (json)
        tess_text_add(text,
                      "%s{\"entry\": \"%s\", \"file\": \"%s\", \"grid\": [%lld, %lld, %lld], \"block\": %lld, \"shared\": %lld, \"registers\": "
                      "%d, \"local\": %d}",
                      s ? ", " : "", step->entry, name, (long long)g[0], (long long)g[1], (long long)g[2], (long long)step->grid.block[0], shared,
                      kernel->registers, kernel->local_bytes);
    else
        tess_text_add(text, "launch     %s of %s: grid %lld x %lld x %lld, block %lld, %lld bytes of shared memory, %d registers, %d bytes spilled\n",
                      step->entry, name, (long long)g[0], (long long)g[1], (long long)g[2], (long long)step->grid.block[0], shared, kernel->registers,
                      kernel->local_bytes);
}

static void explain_prediction(const tess_gpu_prediction *p, bool json, tess_text *text) {
    const struct {
        const char *name;
        double value;
    } words[] = {
#define X(name) {#name, p->name},
        TESS_GPU_PREDICTION_LIST(X)
#undef X
    };
    int said = 0;
    for (int i = 0; i < TESS_COUNT(words); i++) {
        if (words[i].value < 0)
            continue;
        if (json)
            tess_text_add(text, "%s\"%s\": %.0f", said ? ", " : "", words[i].name, words[i].value);
        else
            tess_text_add(text, "predicted  %s %.0f\n", words[i].name, words[i].value);
        said++;
    }
}

tess_gpu_prediction tess_gpu_plan_predict(const tess_plan *plan) {
    tess_gpu_prediction p = tess_gpu_no_prediction();
    p.device = ((const tess_gpu_plan *)plan->prepared)->device;
    if (plan->row->gpu->predict && !is_idle(plan))
        plan->row->gpu->predict(plan->problem, &p);
    return p;
}

void tess_gpu_plan_explain(const tess_plan *plan, tess_format format, tess_text *text) {
    const tess_gpu_plan *made = plan->prepared;
    const tess_gpu_prediction p = tess_gpu_plan_predict(plan);
    bool json = format == TESS_JSON;
    if (json)
        tess_text_add(text, ", \"launches\": [");
    for (int s = 0; s < made->layout.steps; s++)
        explain_step(made, s, json, text);
    if (json)
        tess_text_add(text, "], \"predicted\": {");
    explain_prediction(&p, json, text);
    if (json)
        tess_text_add(text, "}");
}

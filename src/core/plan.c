/* SPDX-License-Identifier: Apache-2.0
 * plan.c - making plans (which row, which instruction set, how many threads) and executing them. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/cutover.h"
#include "core/engine.h"
#include "core/environment.h"

double tess_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const tess_strategy *tess_strategy_named(const char *name, size_t length) {
    for (int o = 0; o < tess_ops_count; o++)
        for (int r = 0; r < tess_ops[o]->count + tess_ops[o]->gpu_count; r++) {
            const tess_strategy *row = tess_op_row(tess_ops[o], r);
            if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
                return row;
        }
    return NULL;
}

int tess_strategy_slot(const tess_strategy *row, tess_isa_slot limit) {
    for (int slot = (int)limit; slot >= 0; slot--)
        if (row->run[slot] && tess_cpu_has_slot((tess_isa_slot)slot))
            return slot;
    return -1;
}

static void start(tess_problem *problem, tess_context *context, const tess_op *op, size_t size) {
    memset(problem, 0, size);
    problem->op = op;
    problem->context = context;
    problem->size = size;
}

tess_status tess_problem_make(void **problem, tess_context *context, const tess_op *op, size_t size) {
    tess_problem *made = tess_allocate(context, size);
    *problem = made;
    if (!made)
        return TESS_ERR_MEMORY;
    start(made, context, op, size);
    return TESS_OK;
}

tess_status tess_problem_begin(tess_problem *problem, size_t cleared, const tess_op *op, tess_context *given, void *options, size_t options_size,
                               const void *caller, const char *what) {
    tess_context *context;
    TESS_TRY(tess_context_get(&context, given));
    TESS_TRY(tess_options_copy(options, options_size, caller, what));
    start(problem, context, op, cleared);
    return TESS_OK;
}

void *tess_problem_take(tess_problem *problem, size_t size) {
    enum { LINE = 64 };
    if (size == 0 || size > problem->room_size - problem->room_used) /* nothing has a place of its own only there */
        return tess_allocate(problem->context, size);
    char *memory = problem->room + problem->room_used;
    problem->room_used = (problem->room_used + size + LINE - 1) / LINE * LINE; /* room_size is a multiple of lines */
    return memory;
}

void *tess_problem_take_zeroed(tess_problem *problem, size_t size) {
    void *memory = tess_problem_take(problem, size);
    return memory ? memset(memory, 0, size) : NULL;
}

void tess_problem_drop(tess_problem *problem, void *memory, size_t size) {
    if ((uintptr_t)memory - (uintptr_t)problem->room >= problem->room_size) /* not of the room */
        tess_free(problem->context, memory, size);
}

static void release_content(tess_problem *problem) {
    if (problem->op->release)
        problem->op->release(problem);
}

void tess_problem_free(tess_problem *problem) {
    if (!problem)
        return;
    release_content(problem);
    tess_free(problem->context, problem, problem->size);
}

bool tess_op_has(const tess_op *op, const tess_strategy *row) {
    return (row >= op->rows && row < op->rows + op->count) || (op->gpu_count > 0 && row >= op->gpu_rows && row < op->gpu_rows + op->gpu_count);
}

bool tess_plan_can_run(const tess_plan *plan, const tess_strategy *row, const char **why) {
    bool on_cpu = plan->engine == TESS_ENGINE_CPU;
    *why = "";
    if (on_cpu != (row->target == TESS_TARGET_CPU)) {
        *why = on_cpu ? "runs on a GPU only" : "runs on the CPU only";
        return false;
    }
    if (on_cpu && tess_strategy_slot(row, plan->context->slot) < 0) {
        *why = "not built for an instruction set that is allowed here";
        return false;
    }
    return row->applicable(plan->problem, why);
}

static const char *key_of(tess_problem *problem) {
    if (!problem->key[0] && problem->op->describe)
        problem->op->describe(problem);
    return problem->key;
}

static tess_status choose_pinned(tess_plan *plan, const char *name, const char *from) {
    const tess_problem *problem = plan->problem;
    const tess_strategy *row = tess_strategy_named(name, strlen(name));
    const char *why;
    if (!row)
        return tess_fail(TESS_ERR_STRATEGY, "there is no strategy \"%s\"; `tessera list` names them", name);
    if (!tess_op_has(problem->op, row))
        return tess_fail(TESS_ERR_STRATEGY, "strategy %s is not one of %s's", name, problem->op->name);
    if (!tess_plan_can_run(plan, row, &why))
        return tess_fail(TESS_ERR_STRATEGY, "strategy %s cannot run here: %s", name, why);
    plan->row = row;
    snprintf(plan->reason, sizeof plan->reason, "pinned by %s", from);
    return TESS_OK;
}

/* The context's list names preferences: those of other operations, or that cannot run here, are passed over. */
static bool choose_preferred(tess_plan *plan, const char *list) {
    const char *why;
    while (list && *list) {
        size_t length = strcspn(list, ",");
        const tess_strategy *row = tess_strategy_named(list, length);
        if (row && tess_op_has(plan->problem->op, row) && tess_plan_can_run(plan, row, &why)) {
            plan->row = row;
            snprintf(plan->reason, sizeof plan->reason, "preferred by the context or TESSERA_STRATEGY");
            return true;
        }
        list += length + (list[length] == ',');
    }
    return false;
}

static const tess_strategy *find_wisdom(const tess_plan *plan, double *seconds) {
    const tess_engine_hooks *hooks = tess_engine_find(plan->engine);
    tess_wisdom_place place;
    if (!tess_wisdom_any(plan->context, plan->problem->op))
        return NULL;
    key_of(plan->problem);
    if (plan->engine == TESS_ENGINE_CPU)
        return tess_wisdom_find(plan->context, plan->problem, plan->threads, seconds);
    return hooks->place && hooks->place(plan, &place) == TESS_OK ? tess_wisdom_find_on(plan->context, plan->problem, &place, seconds) : NULL;
}

static tess_status choose(tess_plan *plan, const tess_call *call) {
    tess_problem *problem = plan->problem;
    const tess_op *op = problem->op;
    bool on_cpu = plan->engine == TESS_ENGINE_CPU;
    const char *why = "";
    double seconds;
    if (call->strategy && *call->strategy)
        return choose_pinned(plan, call->strategy, "the call");
    if (choose_preferred(plan, plan->context->options.strategy))
        return TESS_OK;
    const tess_strategy *row = find_wisdom(plan, &seconds);
    if (row && tess_plan_can_run(plan, row, &why)) {
        plan->row = row;
        snprintf(plan->reason, sizeof plan->reason, "fastest in wisdom (%.3g ms)", seconds * 1e3);
        return TESS_OK;
    }
    const tess_strategy *rows = on_cpu ? op->rows : op->gpu_rows;
    int count = on_cpu ? op->count : op->gpu_count;
    for (int pass = 0; pass < 2; pass++) /* when no row is sensible, the first that is correct */
        for (int r = 0; r < count; r++) {
            row = &rows[r];
            if (!tess_plan_can_run(plan, row, &why) || (pass == 0 && row->sensible && !row->sensible(problem, &why)))
                continue;
            plan->row = row;
            strcpy(plan->reason, pass == 0 ? "first in the table that is applicable and sensible" : "first in the table that is applicable");
            return TESS_OK;
        }
    if (on_cpu)
        return tess_fail(TESS_ERR_INTERNAL, "no strategy of %s accepts %s", op->name, key_of(problem));
    return tess_fail(TESS_ERR_ENGINE, "no GPU strategy of %s accepts %s%s%s; the CPU engine does", op->name, key_of(problem),
                     *why ? ": the last one " : "", why);
}

/* Where the arrays live. Two in different places is refused; arrays without a place of their own (masks, offsets) were checked when they were read. */
static tess_status find_device(tess_plan *plan) {
    static const tess_operand operands[] = {TESS_ARRAY_IN, TESS_ARRAY_SECOND, TESS_ARRAY_OUT};
    const tess_op *op = plan->problem->op;
    int first = -1;
    plan->device = (DLDevice){kDLCPU, 0};
    for (int i = 0; op->array && i < TESS_COUNT(operands); i++) {
        const tess_array *array = op->array(plan->problem, operands[i]);
        if (!array)
            continue;
        DLDevice device = array->device;
        if (device.device_type == kDLCUDAHost)
            device = (DLDevice){kDLCPU, 0};
        if (first < 0) {
            first = i;
            plan->device = device;
        } else if (device.device_type != plan->device.device_type || device.device_id != plan->device.device_id) {
            return tess_fail(TESS_ERR_DEVICE, "%s lives on DLPack device (%d, %d) and %s on (%d, %d); all arrays of a call live in one place",
                             op->operand[first], (int)plan->device.device_type, (int)plan->device.device_id, op->operand[i], (int)device.device_type,
                             (int)device.device_id);
        }
    }
    return TESS_OK;
}

static tess_status choose_engine(tess_plan *plan, const tess_call *call) {
    tess_engine engine = call->engine != TESS_ENGINE_AUTO ? call->engine : plan->context->options.engine;
    bool on_device = plan->device.device_type == kDLCUDA;
    if ((unsigned)engine > TESS_ENGINE_VIRTUAL)
        return tess_fail(TESS_ERR_ARGUMENT, "engine is %d, not a tess_engine", (int)engine);
    if (engine == TESS_ENGINE_AUTO)
        engine = on_device || plan->device.device_type == kDLCUDAManaged ? TESS_ENGINE_CUDA : TESS_ENGINE_CPU;
    plan->engine = engine;
    if (on_device && engine != TESS_ENGINE_CUDA)
        return tess_fail(TESS_ERR_DEVICE, "the arrays live on CUDA device %d, where the %s engine cannot reach them", (int)plan->device.device_id,
                         tess_engine_name(engine));
    if (engine != TESS_ENGINE_CPU && !tess_engine_find(engine))
        return tess_fail(TESS_ERR_ENGINE, "the %s engine is not part of this version", tess_engine_name(engine));
    return TESS_OK;
}

const tess_engine_hooks *tess_engine_find(tess_engine engine) {
    for (int i = 0; i < tess_engines_count; i++)
        if (tess_engines[i]->engines & 1u << engine)
            return tess_engines[i];
    return NULL;
}

const char *tess_engine_name(tess_engine engine) {
    static const char *const names[] = {"auto", "cpu", "cuda", "virtual"};
    return (unsigned)engine < TESS_COUNT(names) ? names[engine] : "?";
}

static tess_status fill_plan(tess_plan *plan, const tess_call *call) {
    tess_problem *problem = plan->problem;
    TESS_TRY(find_device(plan));
    TESS_TRY(choose_engine(plan, call));
    const tess_engine_hooks *hooks = tess_engine_find(plan->engine);
    plan->threads = plan->engine != TESS_ENGINE_CPU || problem->elements < tess_thread_cutover ? 1 : atomic_load(&plan->context->threads);
    if (hooks) {
        key_of(problem);
        TESS_TRY(hooks->open(plan));
    }
    TESS_TRY(choose(plan, call));
    if (hooks)
        return hooks->prepare(plan, call);
    plan->slot = (tess_isa_slot)tess_strategy_slot(plan->row, plan->context->slot);
    plan->workspace = plan->row->workspace ? plan->row->workspace(problem, plan->threads) : 0;
    return TESS_OK;
}

tess_status tess_plan_make(tess_plan **result, tess_problem *problem, const tess_call *call) {
    tess_context *context = problem->context;
    tess_plan *plan = tess_allocate_zeroed(context, sizeof *plan);
    *result = NULL;
    if (!plan) {
        tess_problem_free(problem);
        return TESS_ERR_MEMORY;
    }
    plan->context = context;
    plan->problem = problem;
    plan->engine = TESS_ENGINE_CPU;
    key_of(problem); /* plans explain themselves */
    tess_status status = fill_plan(plan, call);
    if (status != TESS_OK)
        tess_plan_free(plan);
    else
        *result = plan;
    return status;
}

void tess_plan_free(tess_plan *plan) {
    if (!plan)
        return;
    tess_context *context = plan->context;
    if (plan->prepared)
        tess_engine_find(plan->engine)->release(plan);
    tess_problem_free(plan->problem);
    tess_free(context, plan, sizeof *plan);
}

size_t tess_plan_workspace(const tess_plan *plan) { return plan ? plan->workspace : 0; }

static void fill_report(const tess_plan *plan, tess_report *given, double seconds) {
    tess_report report;
    const tess_problem *problem = plan->problem;
    size_t size = given->struct_size;
    if (size < sizeof(size_t))
        return;
    memset(&report, 0, sizeof report);
    report.struct_size = size;
    snprintf(report.strategy, sizeof report.strategy, "%s", plan->row->name);
    const tess_engine_hooks *hooks = tess_engine_find(plan->engine);
    if (hooks)
        hooks->name(plan, report.isa, sizeof report.isa);
    else
        snprintf(report.isa, sizeof report.isa, "%s", tess_slot_name(plan->slot));
    report.threads = plan->threads;
    report.seconds = seconds;
    report.bytes = problem->bytes;
    report.flops = plan->row->flops ? plan->row->flops(problem) : problem->flops;
    report.workspace = (double)plan->workspace;
    memcpy(given, &report, size < sizeof report ? size : sizeof report);
}

tess_status tess_execute(const tess_plan *plan, const void *in, const void *second, void *out, const tess_call *call) {
    static const tess_call no_call = {0};
    if (!plan)
        return tess_fail(TESS_ERR_ARGUMENT, "plan is NULL");
    if (!call)
        call = &no_call;
    TESS_TRY(plan->problem->op->check(plan->problem, in, second, out));
    const tess_engine_hooks *hooks = tess_engine_find(plan->engine);
    if (hooks) {
        double seconds = 0;
        TESS_TRY(hooks->execute(plan, in, second, out, call, &seconds));
        if (call->report)
            fill_report(plan, call->report, seconds);
        return TESS_OK;
    }
    /* NULL came this far only where there are no elements and no scratch; rows may count offsets from it all the same, which C forbids for NULL. */
    static _Alignas(64) char nothing[1];
    tess_run run = {.context = plan->context,
                    .threads = plan->threads,
                    .slot = plan->slot,
                    .in = in ? in : nothing,
                    .second = second ? second : nothing,
                    .out = out ? out : nothing,
                    .workspace = nothing};
    void *own = NULL;
    if (call->workspace) {
        if (call->workspace_size < plan->workspace)
            return tess_fail(TESS_ERR_ARGUMENT, "workspace_size is %zu, this plan needs %zu bytes", call->workspace_size, plan->workspace);
        if ((uintptr_t)call->workspace % 64)
            return tess_fail(TESS_ERR_ARGUMENT, "workspace is %p, it must be aligned to 64 bytes", call->workspace);
        run.workspace = call->workspace;
    } else if (plan->workspace > 0) {
        run.workspace = own = tess_allocate(plan->context, plan->workspace);
        if (!own)
            return TESS_ERR_MEMORY;
    }
    tess_environment host;
    double start = call->report ? tess_seconds() : 0;
    tess_environment_enter(&host);
    tess_status status = plan->row->run[plan->slot](plan->problem, &run);
    tess_environment_leave(&host);
    if (status == TESS_OK && call->report)
        fill_report(plan, call->report, tess_seconds() - start);
    tess_free(plan->context, own, plan->workspace);
    return status;
}

enum { NEAR_WORKSPACE = 48 << 10 }; /* of rows over arrays so small that to ask an allocator shows */

tess_status tess_plan_run_here(tess_status status, tess_problem *problem, const void *in, const void *second, void *out, const tess_call *call) {
    tess_plan plan = {.context = problem->context, .problem = problem, .engine = TESS_ENGINE_CPU};
    tess_call own = *call;
    _Alignas(64) char workspace[NEAR_WORKSPACE];
    own.workspace = NULL; /* the caller's is only for tess_execute: nobody could know the size before the plan was made */
    if (status == TESS_OK)
        status = fill_plan(&plan, call);
    if (status == TESS_OK && plan.workspace > 0 && plan.workspace <= sizeof workspace && plan.engine == TESS_ENGINE_CPU) {
        own.workspace = workspace;
        own.workspace_size = sizeof workspace;
    }
    if (status == TESS_OK)
        status = tess_execute(&plan, in, second, out, &own);
    if (plan.prepared)
        tess_engine_find(plan.engine)->release(&plan);
    release_content(problem);
    return status;
}

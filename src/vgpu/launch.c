/* SPDX-License-Identifier: Apache-2.0
 * launch.c - a launch: checks the request, gives every host thread a worker, runs the blocks, adds up what was counted. */
#include <string.h>

#include "core/parallel.h"
#include "vgpu/builtin.h"
#include "vgpu/decode.h"

enum { STACK_WITH_CALLS = 16384, QUANTUM = 4000, QUANTUM_TOGETHER = 64, WORKSPACE = 64 };
enum { STATIC_SHARED = 48 << 10, BLOCK_SHARED = 227 << 10 }; /* of a block on sm_90 */

tess_status tess_vgpu_check_block(const ptx_function *kernel, const uint32_t block[3]) {
    const uint32_t *most = kernel->most_threads, *required = kernel->required_threads;
    const ptx_symbol *s = kernel->symbol;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (most[0] && threads > (uint64_t)most[0] * most[1] * most[2])
        return tess_fail(TESS_ERR_ARGUMENT, "a block of %llu threads for %.*s, whose .maxntid is %u, %u, %u", (unsigned long long)threads, s->length,
                         s->name, most[0], most[1], most[2]);
    if (required[0] && memcmp(block, required, 3 * sizeof *block) != 0)
        return tess_fail(TESS_ERR_ARGUMENT, "a block of %u x %u x %u threads for %.*s, whose .reqntid is %u, %u, %u", block[0], block[1], block[2],
                         s->length, s->name, required[0], required[1], required[2]);
    return TESS_OK;
}

static tess_status check(tess_vgpu_module *module, const tess_vgpu_launch_options *options, vgpu_launch *launch) {
    const ptx_symbol *s = launch->kernel->symbol;
    if (options->param_bytes != launch->kernel->param_bytes)
        return tess_fail(TESS_ERR_ARGUMENT, "%lld bytes of parameters for %.*s, which takes %lld", (long long)options->param_bytes, s->length,
                         s->name, (long long)launch->kernel->param_bytes);
    if (options->shared_bytes < 0 || options->shared_bytes > 1 << 24)
        return tess_fail(TESS_ERR_ARGUMENT, "%lld bytes of dynamic shared memory", (long long)options->shared_bytes);
    launch->blocks = launch->threads = 1;
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = options->grid[i] ? options->grid[i] : 1;
        launch->block[i] = options->block[i] ? options->block[i] : 1;
        if (launch->block[i] > 1024 || (launch->threads *= launch->block[i]) > 1024)
            return tess_fail(TESS_ERR_ARGUMENT, "a block of %u x %u x %u threads; the limit is 1024", options->block[0], options->block[1],
                             options->block[2]);
        if (i == 2 && launch->block[2] > 64)
            return tess_fail(TESS_ERR_ARGUMENT, "a block of %u x %u x %u threads; the limit of the last size is 64", options->block[0],
                             options->block[1], options->block[2]);
        if (launch->grid[i] > (i ? 65535u : 2147483647u))
            return tess_fail(TESS_ERR_ARGUMENT, "grid[%d] is %u, the limit is %u", i, launch->grid[i], i ? 65535u : 2147483647u);
        launch->blocks *= launch->grid[i];
    }
    TESS_TRY(tess_vgpu_check_block(launch->kernel, launch->block));
    launch->warps = (launch->threads + 31) / 32;
    launch->dynamic_base = (launch->kernel->shared_bytes + 127) / 128 * 128; /* as aligned as any element can ask for, and on bank 0 */
    launch->shared_bytes = options->shared_bytes ? launch->dynamic_base + options->shared_bytes : launch->kernel->shared_bytes;
    if (launch->kernel->shared_bytes > STATIC_SHARED)
        return tess_fail(TESS_ERR_ARGUMENT, "%.*s has %lld bytes of static shared memory; the limit is %d", s->length, s->name,
                         (long long)launch->kernel->shared_bytes, STATIC_SHARED);
    if (launch->shared_bytes > BLOCK_SHARED)
        return tess_fail(TESS_ERR_ARGUMENT, "%lld bytes of shared memory a block, %lld of them dynamic; the limit is %d",
                         (long long)launch->shared_bytes, (long long)options->shared_bytes, BLOCK_SHARED);
    launch->stack_bytes = (launch->kernel->frame_bytes + 15) / 16 * 16;
    if (module->has_calls) {
        launch->stack_bytes += STACK_WITH_CALLS;
        for (int i = 0; i < module->function_count; i++)
            launch->stack_bytes += module->functions[i]->frame_bytes;
        launch->stack_bytes = (launch->stack_bytes + 15) / 16 * 16;
    }
    return TESS_OK;
}

/* A kernel that asks for the workspace of cooperative groups may make blocks wait for each other, so all must be there at once, as on the card. */
static tess_status prepare_together(vgpu_launch *launch) {
    static const char name[] = "the workspace of the grid";
    tess_vgpu_machine *m = launch->machine;
    int64_t by_threads = 2048 / (32 * launch->warps), by_shared = 233472 / (launch->shared_bytes + 1024), blocks = tess_min64(by_threads, by_shared);
    blocks = 132 * tess_min64(blocks, 32);
    launch->cooperative = true;
    if (launch->blocks > blocks)
        return tess_fail(TESS_ERR_ARGUMENT, "%lld blocks wait for each other, of which %lld fit on the card at once", (long long)launch->blocks,
                         (long long)blocks);
    if (!m->grid_workspace)
        TESS_TRY(tess_vgpu_reserve(m, WORKSPACE, 256, name, (int)sizeof name - 1, &m->grid_workspace));
    return tess_vgpu_fill(m, m->grid_workspace, 0, WORKSPACE);
}

static size_t files_bytes(const vgpu_launch *launch) { return (size_t)launch->warps * launch->kernel->file_bytes; }
static size_t stacks_bytes(const vgpu_launch *launch) { return (size_t)launch->warps * 32 * (size_t)launch->stack_bytes; }

static size_t shapes_bytes(const vgpu_launch *launch) { return ((size_t)launch->module->shape_count + 1) * sizeof(vgpu_shape); }

/* Blocks that take turns on one thread may share what only counts. */
static bool shares_state(const vgpu_launch *launch, int observer, int worker) {
    return launch->cooperative && worker > 0 && launch->observer[observer]->one_state;
}

static tess_status make_worker(vgpu_launch *launch, int number) {
    tess_context *context = launch->run->context;
    vgpu_worker *worker = &launch->workers[number];
    worker->launch = launch;
    worker->number = number;
    worker->shared = tess_allocate(context, (size_t)launch->shared_bytes);
    worker->warps = tess_allocate_zeroed(context, (size_t)launch->warps * sizeof *worker->warps);
    worker->files = tess_allocate_zeroed(context, files_bytes(launch) + stacks_bytes(launch));
    worker->free_frames = tess_allocate_zeroed(context, (size_t)launch->module->function_count * sizeof *worker->free_frames);
    worker->shapes = tess_allocate_zeroed(context, shapes_bytes(launch));
    worker->issues = tess_allocate_zeroed(context, (size_t)launch->module->record_count * sizeof *worker->issues);
    worker->stretches = tess_allocate_zeroed(context, (size_t)launch->module->record_count * sizeof *worker->stretches);
    if (!worker->shared || !worker->warps || !worker->files || !worker->free_frames || !worker->issues || !worker->stretches || !worker->shapes)
        return TESS_ERR_MEMORY;
    for (int64_t k = 0; k < launch->warps; k++) {
        vgpu_warp *w = &worker->warps[k];
        w->worker = worker;
        w->launch = launch;
        w->number = (int)k;
        w->stack = worker->files + files_bytes(launch) + k * 32 * launch->stack_bytes;
        w->entry = (vgpu_frame){.function = launch->kernel, .file = worker->files + (size_t)k * launch->kernel->file_bytes};
        tess_vgpu_frame_constants(launch->kernel, w->entry.file);
        tess_vgpu_fill_specials(w, &w->entry);
    }
    for (int i = 0; i < launch->observers; i++) {
        const vgpu_observer *o = launch->observer[i];
        if (shares_state(launch, i, number)) {
            worker->state[i] = launch->workers[0].state[i];
            continue;
        }
        if (!(worker->state[i] = tess_allocate_zeroed(context, o->state_bytes(launch))))
            return TESS_ERR_MEMORY;
        if (o->start)
            TESS_TRY(o->start(worker->state[i], launch));
    }
    return TESS_OK;
}

static void free_worker(vgpu_launch *launch, vgpu_worker *worker) {
    tess_context *context = launch->run->context;
    for (int i = 0; i < launch->observers; i++)
        if (!shares_state(launch, i, worker->number))
            tess_free(context, worker->state[i], launch->observer[i]->state_bytes(launch));
    tess_free(context, worker->printed.text, worker->printed.room);
    tess_free(context, worker->printed.part, (size_t)worker->printed.parts_room * sizeof *worker->printed.part);
    for (int i = 0; worker->free_frames && i < launch->module->function_count; i++)
        while (worker->free_frames[i]) {
            vgpu_frame *f = worker->free_frames[i];
            worker->free_frames[i] = f->parent;
            tess_free(context, f->file, f->function->file_bytes);
            tess_free(context, f, sizeof *f);
        }
    tess_free(context, worker->shared, (size_t)launch->shared_bytes);
    tess_free(context, worker->warps, (size_t)launch->warps * sizeof *worker->warps);
    tess_free(context, worker->files, files_bytes(launch) + stacks_bytes(launch));
    tess_free(context, worker->free_frames, (size_t)launch->module->function_count * sizeof *worker->free_frames);
    tess_free(context, worker->shapes, shapes_bytes(launch));
    tess_free(context, worker->issues, (size_t)launch->module->record_count * sizeof *worker->issues);
    tess_free(context, worker->stretches, (size_t)launch->module->record_count * sizeof *worker->stretches);
}

static void run_blocks(void *argument, int64_t begin, int64_t end, int number) {
    vgpu_launch *launch = argument;
    vgpu_worker *worker = &launch->workers[number];
    for (int64_t b = begin; b < end && !atomic_load_explicit(&launch->stop, memory_order_relaxed); b++) {
        tess_vgpu_block_begin(worker, (uint64_t)b);
        while (tess_vgpu_block_step(worker))
            ;
        tess_vgpu_block_end(worker);
        if (worker->stop)
            atomic_store_explicit(&launch->stop, true, memory_order_relaxed);
    }
}

/* All blocks at once, in turns. */
static void run_together(vgpu_launch *launch) {
    int running = launch->worker_count;
    bool stop = false;
    for (int n = 0; n < launch->worker_count; n++)
        tess_vgpu_block_begin(&launch->workers[n], (uint64_t)n);
    while (running && !stop)
        for (int n = 0; n < launch->worker_count && !stop; n++) {
            vgpu_worker *worker = &launch->workers[n];
            if (!worker->live_threads || worker->stop)
                continue;
            if (!tess_vgpu_block_step(worker)) {
                running--;
                worker->live_threads = 0;
            }
            stop = worker->stop;
        }
    for (int n = 0; n < launch->worker_count; n++)
        tess_vgpu_block_end(&launch->workers[n]);
}

/* ---- adding up ---- */

static uint64_t *field(tess_vgpu_counters *c, const ptx_instruction *in, uint64_t *factor) {
    *factor = in->op == PTX_OP_FMA || in->op == PTX_OP_MAD ? 2 : 1;
    bool counts = in->op == PTX_OP_ADD || in->op == PTX_OP_SUB || in->op == PTX_OP_MUL || in->op == PTX_OP_FMA || in->op == PTX_OP_MAD ||
                  in->op == PTX_OP_DIV || in->op == PTX_OP_RCP || in->op == PTX_OP_SQRT || in->op == PTX_OP_RSQRT;
    ptx_type type = PTX_NO_TYPE;
    uint64_t product = tess_vgpu_product_flops(in, &type);
    if (product) {
        *factor = product;
        return type == PTX_F64 ? &c->flops_f64 : type == PTX_TF32 ? &c->flops_f32 : type == PTX_F16 || type == PTX_BF16 ? &c->flops_f16 : NULL;
    }
    if (!counts)
        return NULL;
    switch (in->types[0]) {
    case PTX_F32: return &c->flops_f32;
    case PTX_F64: return &c->flops_f64;
    case PTX_F16X2:
    case PTX_BF16X2: *factor *= 2; return &c->flops_f16;
    case PTX_F16:
    case PTX_BF16: return &c->flops_f16;
    default: return NULL;
    }
}

static void add_stretches(vgpu_worker *worker, uint32_t records) {
    vgpu_stretch now = {0, 0, 0, 0, 0};
    for (uint32_t pc = 0; pc < records; pc++) {
        const vgpu_stretch *change = &worker->stretches[pc];
        vgpu_issue *issue = &worker->issues[pc];
        issue->full += now.full += change->full;
        issue->warps += now.warps += change->warps;
        issue->lanes += now.lanes += change->lanes;
        issue->on += now.lanes;
        issue->partial += now.partial += change->partial;
        issue->eighths += now.eighths += change->eighths;
    }
}

static void add_issues(vgpu_launch *launch) {
    const tess_vgpu_module *module = launch->module;
    tess_vgpu_counters *counters = launch->run->counters, *audited = launch->run->audited;
    for (int n = 0; n < launch->worker_count; n++) {
        add_stretches(&launch->workers[n], module->record_count);
        for (uint32_t pc = 0; pc < module->record_count; pc++) {
            const vgpu_issue *issue = &launch->workers[n].issues[pc];
            counters[pc].warp_instructions += issue->warps + issue->full;
            counters[pc].thread_instructions += issue->lanes + 32 * issue->full;
            counters[pc].thread_instructions_on += issue->on + 32 * issue->full;
            counters[pc].partial_warp_instructions += issue->partial;
            if (launch->options.count) {
                counters[pc].branches_uniform += issue->uniform;
                counters[pc].branches_divergent += issue->divergent;
            }
        }
    }
    if (audited)
        tess_vgpu_add_others(launch);
    for (uint32_t pc = 0; audited && pc < module->record_count; pc++)
        if (!module->audit[pc].no_branch) {
            audited[pc].branches_uniform += counters[pc].branches_uniform;
            audited[pc].branches_divergent += counters[pc].branches_divergent;
        }
    for (int i = 0; i < module->function_count; i++) {
        const ptx_function *f = module->functions[i];
        for (int k = 0; k < f->count; k++) {
            const ptx_instruction *in = &f->code[k];
            const vgpu_record *r = &module->records[f->first + (uint32_t)k];
            tess_vgpu_counters *c = &counters[f->first + (uint32_t)k];
            uint64_t factor, *flops = field(c, in, &factor);
            if (flops)
                *flops += factor * c->thread_instructions_on;
            if (r->op == PTX_OP_CP && r->mode == PTX_BULK)
                c->bulk_copies += c->thread_instructions_on;
            if (r->flow == PTX_BARRIER)
                c->barriers += c->warp_instructions;
            if (r->flow == PTX_CONVERGE)
                c->warp_syncs += c->warp_instructions;
            ptx_type type = PTX_S8;
            tess_vgpu_product_flops(in, &type);
            if (in->flags & (PTX_APPROX | PTX_FULL) || (type != PTX_S8 && type != PTX_U8))
                c->approximate += c->thread_instructions_on;
        }
    }
}

static tess_status make_run(const tess_vgpu_module *module, tess_context *context, tess_vgpu_run **made) {
    tess_vgpu_run *run = tess_allocate_zeroed(context, sizeof *run);
    if (!run)
        return TESS_ERR_MEMORY;
    *made = run;
    run->context = context;
    run->module = module;
    pthread_mutex_init(&run->lock, NULL);
    run->counters = tess_allocate_zeroed(context, module->record_count * sizeof *run->counters);
    run->active = tess_allocate_zeroed(context, module->record_count * sizeof *run->active);
    if (module->audit && !(run->audited = tess_allocate_zeroed(context, module->record_count * sizeof *run->audited)))
        return TESS_ERR_MEMORY;
    return run->counters && run->active ? TESS_OK : TESS_ERR_MEMORY;
}

void tess_vgpu_run_free(tess_vgpu_run *run) {
    if (!run)
        return;
    while (run->faults) {
        vgpu_fault_node *n = run->faults;
        run->faults = n->next;
        tess_free(run->context, n, sizeof *n);
    }
    if (run->sorted)
        tess_free(run->context, run->sorted, (size_t)run->fault_count * sizeof *run->sorted);
    tess_free(run->context, run->printed, run->printed_room);
    tess_free(run->context, run->counters, run->module->record_count * sizeof *run->counters);
    if (run->audited)
        tess_free(run->context, run->audited, run->module->record_count * sizeof *run->audited);
    tess_free(run->context, run->active, run->module->record_count * sizeof *run->active);
    if (run->samples)
        tess_free(run->context, run->samples, run->module->record_count * sizeof *run->samples);
    pthread_mutex_destroy(&run->lock);
    tess_free(run->context, run, sizeof *run);
}

static tess_status execute(vgpu_launch *launch) {
    tess_context *context = launch->run->context;
    int threads = launch->options.threads > 0 ? launch->options.threads : atomic_load(&context->threads);
    if (launch->options.check_global)
        threads = 1;
    launch->worker_count = (int)(launch->cooperative ? launch->blocks : tess_min64(threads, launch->blocks));
    launch->quantum = launch->cooperative ? QUANTUM_TOGETHER : QUANTUM;
    launch->workers = tess_allocate_zeroed(context, (size_t)launch->worker_count * sizeof *launch->workers);
    if (!launch->workers)
        return TESS_ERR_MEMORY;
    tess_status status = TESS_OK;
    for (int n = 0; n < launch->worker_count && status == TESS_OK; n++)
        status = make_worker(launch, n);
    if (status == TESS_OK && launch->cooperative)
        run_together(launch);
    else if (status == TESS_OK)
        status = tess_parallel(context, launch->worker_count, launch->blocks, 1, run_blocks, launch);
    for (int n = 0; n < launch->worker_count && status == TESS_OK; n++)
        status = launch->workers[n].status;
    for (int n = 0; n < launch->worker_count && status == TESS_OK; n++)
        for (int i = 0; i < launch->observers; i++)
            if (launch->observer[i]->end && !shares_state(launch, i, n))
                launch->observer[i]->end(launch->workers[n].state[i], launch);
    if (status == TESS_OK) {
        add_issues(launch);
        for (uint32_t pc = 0; pc < launch->module->record_count; pc++)
            if (launch->run->counters[pc].warp_instructions && launch->module->records[pc].line)
                launch->run->active[launch->run->active_count++] = pc;
        if (launch->options.check_leaks)
            tess_vgpu_leaks_report(launch);
        status = tess_vgpu_faults_sort(launch->run);
    }
    if (status == TESS_OK)
        status = tess_vgpu_gather_printed(launch);
    for (int n = 0; n < launch->worker_count; n++)
        free_worker(launch, &launch->workers[n]);
    tess_free(context, launch->workers, (size_t)launch->worker_count * sizeof *launch->workers);
    return status;
}

tess_status tess_vgpu_launch(tess_vgpu_module *module, const char *name, const tess_vgpu_launch_options *options, tess_vgpu_run **result) {
    const ptx_symbol *s = tess_vgpu_find(module, name, (int)strlen(name));
    *result = NULL;
    if (!s || s->kind != PTX_FUNCTION || !s->function->entry || !s->function->defined)
        return tess_fail(TESS_ERR_ARGUMENT, "the module has no kernel \"%s\"", name);
    return tess_vgpu_launch_kernel(module, s->function, options, result);
}

tess_status tess_vgpu_launch_kernel(tess_vgpu_module *module, const ptx_function *kernel, const tess_vgpu_launch_options *options,
                                    tess_vgpu_run **result) {
    vgpu_launch launch = {.module = module, .machine = module->machine, .kernel = kernel, .options = *options};
    *result = NULL;
    TESS_TRY(tess_vgpu_usable(module, kernel));
    TESS_TRY(check(module, options, &launch));
    bool together = tess_vgpu_uses_grid(kernel);
    for (int i = 0; i < module->function_count && !together; i++) /* a function that it may call */
        together = !module->functions[i]->entry && tess_vgpu_uses_grid(module->functions[i]);
    if (together)
        TESS_TRY(prepare_together(&launch));
    if (module->uses_heap)
        TESS_TRY(tess_vgpu_heap_open(module->machine));
    launch.run_warp = tess_vgpu_runner(module->context->slot);
    if (options->count)
        launch.observer[launch.observers++] = tess_vgpu_counter(module->context->slot);
    if (options->check)
        launch.observer[launch.observers++] = tess_vgpu_checker(module->context->slot);
    if (options->check_global)
        launch.observer[launch.observers++] = &tess_vgpu_race_observer;
    if (options->sample)
        launch.observer[launch.observers++] = &tess_vgpu_sample_observer;
    tess_status status = make_run(module, module->context, &launch.run);
    if (options->sample && status == TESS_OK) {
        tess_vgpu_sample_begin(&launch);
        if (!(launch.run->samples = tess_allocate_zeroed(module->context, module->record_count * sizeof *launch.run->samples)))
            status = TESS_ERR_MEMORY;
    }
    size_t param_bytes = (size_t)launch.kernel->param_bytes;
    if (status == TESS_OK && !(launch.params = tess_allocate_zeroed(module->context, param_bytes)))
        status = TESS_ERR_MEMORY;
    if (status == TESS_OK && options->param_bytes)
        memcpy(launch.params, options->params, (size_t)options->param_bytes);
    if (status == TESS_OK)
        status = execute(&launch);
    tess_free(module->context, launch.params, param_bytes);
    if (status == TESS_OK)
        *result = launch.run;
    else if (launch.run)
        tess_vgpu_run_free(launch.run);
    return status;
}

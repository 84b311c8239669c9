/* SPDX-License-Identifier: Apache-2.0
 * answer.c - known answers: what comes fresh from a compiler is tried on a small problem before it is trusted.
 *
 * A compiler can be wrong, and then arrays are wrong with nothing to show for it. So the first plan that uses a kernel runs the row on a sample of its
 * problem (tess_op.sample): the same text with the same -D and the same entries, arrays of some thousand elements, and compares the output's bytes with
 * the CPU's. The verdict stays with the kernel, and a good one with the image in the disk cache, so it is asked for once on a machine; PTX that the
 * library ships is asked once a process, because the driver compiles it anew. Kernels that were found wrong are not used in this process and not
 * kept. Nothing is asked while the caller's stream is captured, or bars work by being the default one meanwhile: that allows no waiting. A later plan asks.
 *
 * No answers are known for rows that run by name only, for kernels that only problems of more than MOST bytes lead to (places of 64 bits), and where
 * the caller's plan is all that there is: those are used unasked. Parts of large problems (pipeline.c) are no samples of anything either. The virtual GPU runs wrong kernels too, which is what it is for. */
#include <stdio.h>
#include <string.h>

#include "gpu/row.h"

enum { MOST = 320 << 20, PERIOD = 1 << 18 };

static bool is_new(const tess_gpu_plan *made, tess_gpu_trust *worst) {
    bool found = false;
    *worst = TESS_GPU_NEW;
    for (int s = 0; s < made->layout.steps; s++) {
        tess_gpu_trust trust = tess_gpu_kernel_trust(&made->kernel[s]);
        found |= trust == TESS_GPU_NEW;
        if (trust == TESS_GPU_WRONG)
            *worst = TESS_GPU_WRONG;
    }
    return found;
}

static void judge(tess_gpu *gpu, const tess_gpu_plan *made, tess_gpu_trust trust) {
    for (int s = 0; s < made->layout.steps; s++)
        if (tess_gpu_kernel_trust(&made->kernel[s]) == TESS_GPU_NEW)
            tess_gpu_kernel_judge(gpu, &made->kernel[s], trust);
}

static bool same_unit(const tess_gpu_layout *a, int u, const tess_gpu_layout *b, int v) {
    if (a->unit[u].text != b->unit[v].text || a->unit[u].options != b->unit[v].options)
        return false;
    for (int i = 0; i < a->unit[u].options; i++)
        if (strcmp(a->unit[u].option[i], b->unit[v].option[i]) != 0)
            return false;
    return true;
}

/* Each launch of the first is one of the second too, of the same module. */
static bool launches_all(const tess_gpu_layout *of, const tess_gpu_layout *in) {
    for (int s = 0; s < of->steps; s++) {
        int t = 0;
        while (t < in->steps && (strcmp(of->step[s].entry, in->step[t].entry) != 0 || !same_unit(of, of->step[s].unit, in, in->step[t].unit)))
            t++;
        if (t == in->steps)
            return false;
    }
    return true;
}

/* All that one try takes. */
typedef struct trial {
    const tess_gpu_scope *scope;
    tess_plan plan; /* of the sample, for the GPU */
    tess_gpu_plan *made;
    tess_plan *cpu; /* owns the sample */
    tess_scratch in, second, out;
    CUdeviceptr memory[4];
    char *found;
    CUstream stream; /* the caller's, so that no counter (ticket.c) is taken for another one */
} trial;

static void free_trial(trial *t) {
    const tess_driver *driver = &t->scope->gpu->driver;
    tess_context *context = t->plan.context;
    for (int i = 0; i < TESS_COUNT(t->memory); i++)
        if (t->memory[i])
            driver->cuMemFree(t->memory[i]);
    if (t->made && t->made->data)
        driver->cuMemFree(t->made->data);
    tess_free(context, t->made, t->made ? sizeof *t->made : 0);
    tess_free(context, t->found, t->out.size);
    tess_scratch_free(context, &t->in);
    tess_scratch_free(context, &t->second);
    tess_scratch_free(context, &t->out);
    if (t->cpu)
        tess_plan_free(t->cpu);
    else
        tess_problem_free(t->plan.problem);
}

static int64_t bytes_of(const tess_problem *problem) {
    int64_t all = 0;
    for (int i = TESS_ARRAY_IN; i <= TESS_ARRAY_OUT; i++) {
        const tess_array *a = problem->op->array(problem, (tess_operand)i);
        int64_t low = 0, high = 0;
        if (a)
            tess_array_extent(a, &low, &high);
        all += high - low;
    }
    return all;
}

/* The smallest sample whose launches are the plan's; *t empty when there is none. */
static tess_status find_sample(trial *t, const tess_plan *plan, const tess_gpu_plan *made) {
    const tess_op *op = plan->problem->op;
    const char *why;
    for (int64_t limit = 0; limit <= (int64_t)1 << 22; limit = limit ? 2 * limit : 64) {
        t->plan = *plan;
        t->plan.problem = NULL;
        TESS_TRY(op->sample(plan->problem, limit, &t->plan.problem));
        if (!t->plan.problem)
            continue;
        int64_t bytes = bytes_of(t->plan.problem);
        bool fits = bytes <= MOST, whole = bytes >= bytes_of(plan->problem); /* nothing larger comes after that */
        if (fits && made->row->applicable(t->plan.problem, &why)) {
            TESS_TRY(tess_gpu_plan_make(&t->made, &t->plan, made->row));
            tess_gpu_fold_alike(&t->made->layout, &made->layout);
            if (launches_all(&made->layout, &t->made->layout) && launches_all(&t->made->layout, &made->layout))
                return TESS_OK;
            tess_free(plan->context, t->made, sizeof *t->made);
            t->made = NULL;
        }
        tess_problem_free(t->plan.problem);
        t->plan.problem = NULL;
        if (!fits || whole)
            break;
    }
    return TESS_OK;
}

enum { ALIGNED = 256 };

/* Bytes before the operand's block on the device, so that its first element is aligned to whatever a row may want. */
static size_t pad(const tess_scratch *of) { return (size_t)(ALIGNED - ((char *)of->view.data - (char *)of->block) % ALIGNED) % ALIGNED; }

static tess_status put(trial *t, int i, const tess_scratch *from, CUdeviceptr *first) {
    TESS_CUDA(t->scope->gpu, cuMemAlloc, &t->memory[i], from->size + pad(from));
    TESS_CUDA(t->scope->gpu, cuMemcpyHtoDAsync, t->memory[i] + pad(from), from->block, from->size, t->stream);
    *first = t->memory[i] + pad(from) + (CUdeviceptr)((char *)from->view.data - (char *)from->block);
    return TESS_OK;
}

static tess_status run_both(trial *t, bool *equal) {
    const tess_problem *problem = t->plan.problem;
    const tess_array *second = problem->op->array(problem, TESS_ARRAY_SECOND), *in = problem->op->array(problem, TESS_ARRAY_IN),
                     *out = problem->op->array(problem, TESS_ARRAY_OUT);
    tess_gpu *gpu = t->scope->gpu;
    bool in_place = out == in;
    TESS_TRY(tess_scratch_make(problem->context, &t->in, in, 0, 100, PERIOD));
    if (second) {
        double least, limit;
        problem->op->index_range(problem, &least, &limit);
        TESS_TRY(tess_scratch_make(problem->context, &t->second, second, least, limit, PERIOD));
    }
    TESS_TRY(tess_scratch_make(problem->context, &t->out, out, 0, 100, PERIOD)); /* in place: what the CPU works on */
    TESS_TRY(tess_gpu_plan_load(t->scope, t->made, t->stream));
    tess_gpu_pointers pointers = {0};
    TESS_TRY(put(t, 0, &t->in, &pointers.in));
    pointers.out = pointers.in;
    if (second)
        TESS_TRY(put(t, 1, &t->second, &pointers.second));
    if (!in_place)
        TESS_TRY(put(t, 2, &t->out, &pointers.out));
    if (t->made->layout.workspace)
        TESS_CUDA(gpu, cuMemAlloc, &t->memory[3], (size_t)t->made->layout.workspace);
    pointers.workspace = t->memory[3];
    TESS_TRY(tess_gpu_run_steps(t->scope, t->made, &pointers, t->stream));
    tess_status status = tess_gpu_finish(t->scope, &t->plan, t->made, &pointers, t->stream);
    const bool refused = status == TESS_ERR_INDEX; /* then the CPU has to refuse them too: no place of the index' type lies among the positions */
    if (status != TESS_OK && !refused)
        return status;
    if (!(t->found = tess_allocate(problem->context, t->out.size)))
        return TESS_ERR_MEMORY;
    TESS_CUDA(gpu, cuMemcpyDtoHAsync, t->found, in_place ? t->memory[0] + pad(&t->in) : t->memory[2] + pad(&t->out), t->out.size, t->stream);
    TESS_CUDA(gpu, cuStreamSynchronize, t->stream);
    const tess_call call = {.engine = TESS_ENGINE_CPU};
    tess_problem *owned = t->plan.problem;
    status = tess_plan_make(&t->cpu, owned, &call);
    if (status != TESS_OK) {
        t->plan.problem = NULL; /* it was freed */
        return status;
    }
    status = tess_execute(t->cpu, in_place ? t->out.view.data : t->in.view.data, second ? t->second.view.data : NULL, t->out.view.data, &call);
    if (status != TESS_OK && status != TESS_ERR_INDEX)
        return status;
    *equal = refused == (status == TESS_ERR_INDEX) && (refused || memcmp(t->found, t->out.block, t->out.size) == 0);
    return TESS_OK;
}

/* cpu: the CPU's row that it was held against, where this plan asked: either of the two may be the wrong one. */
static tess_status refuse(const tess_gpu *gpu, const tess_gpu_plan *made, const tess_problem *problem, const tess_strategy *cpu,
                          const tess_strategy **wrong) {
    *wrong = made->row;
    return tess_fail(TESS_ERR_ENGINE,
                     "strategy %s is not used on %s: its kernels, made by %s, gave other bits than the CPU%s%s on a small problem like %s; the CPU "
                     "engine is there",
                     made->row->name, made->device->name, atomic_load(&gpu->nvrtc_ready) ? gpu->nvrtc_path : "the driver's compiler",
                     cpu ? "'s " : "", cpu ? cpu->name : "", problem->key);
}

tess_status tess_gpu_ask(const tess_gpu_scope *scope, const tess_plan *plan, const tess_gpu_plan *made, CUstream stream,
                         const tess_strategy **wrong) {
    tess_gpu *gpu = scope->gpu;
    trial t = {.scope = scope, .plan = *plan, .stream = stream};
    char before[TESS_DETAIL_SIZE];
    tess_gpu_trust worst;
    bool equal = true, found_new = is_new(made, &worst);
    if (worst == TESS_GPU_WRONG) /* beside new ones too: no answer of theirs would make it right */
        return refuse(gpu, made, plan->problem, NULL, wrong);
    if (TESS_LIKELY(!found_new) || (gpu->driver.ptx_only && !gpu->doubts_ptx) || !plan->problem->op->sample || plan->problem->part ||
        made->row->gpu->inexact)
        return TESS_OK;
    if (tess_gpu_stream_use(gpu, stream) != TESS_GPU_DONE)
        return TESS_OK;
    t.plan.problem = NULL;
    snprintf(before, sizeof before, "%s", tess_detail());
    tess_status status = find_sample(&t, plan, made);
    if (status == TESS_OK && t.made)
        status = run_both(&t, &equal);
    bool tried = t.made != NULL;
    const tess_strategy *cpu = t.cpu ? t.cpu->row : NULL;
    free_trial(&t);
    if (status == TESS_ERR_MEMORY) { /* of the trial's: another plan asks */
        tess_fail(TESS_OK, "%s", before);
        return TESS_OK;
    }
    TESS_TRY(status);
    judge(gpu, made, !tried ? TESS_GPU_UNASKED : equal ? TESS_GPU_ANSWERED : TESS_GPU_WRONG);
    return equal ? TESS_OK : refuse(gpu, made, plan->problem, cpu, wrong);
}

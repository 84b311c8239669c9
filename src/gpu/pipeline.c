/* SPDX-License-Identifier: Apache-2.0
 * pipeline.c - arrays in host memory that are large, or larger than the card's: slab after slab, copying in, computing and copying out at once.
 *
 * An operation that can be cut gives the problem of rows from .. to - 1 (tess_op.cut, slab), on compact arrays. Three slots take turns (slots.c).
 * Each has pinned memory, because only that is copied while the processor goes on, and device memory; the three steps of a slab run on three streams, a
 * slab's step after its step before. Meanwhile the processor packs the next slab into its slot and takes a finished one out, with the context's threads.
 * An input that is not cut (the table of a lookup) is copied to the device once.
 *
 * Planning a slab waits for the device where weights are copied there, so slabs of the same kind share a plan.
 *
 * TESSERA_GPU_MEMORY=BYTES (with K, M, G) caps the device memory of a call's operands; the default slab keeps both directions of a PCIe bus busy and
 * takes little memory: more was not faster. */
#include <stdlib.h>
#include <string.h>

#include "core/environment.h"
#include "gpu/slots.h"

enum { SLOTS = TESS_GPU_SLOTS, ALIGN = 256, PLANS = 6 };
static const int64_t slab_bytes = 32 << 20;

typedef struct shared_plan {
    int64_t rows, kind[2];
    tess_plan *plan;
} shared_plan;

/* One execution. */
typedef struct flow {
    const tess_gpu_scope *scope;
    const tess_plan *whole;
    const tess_op *op;
    tess_gpu_cut cut;
    const char *in, *second;
    char *out;
    struct tess_gpu_slots *all;
    shared_plan plans[PLANS];
    int planned;
    tess_gpu_twin resident;
    void *state; /* of tess_op.collect */
} flow;

/* ---- how much at once ---- */

/* 0: no cap; -1: not a number of bytes. */
static int64_t memory_cap(void) {
    const char *given = getenv("TESSERA_GPU_MEMORY");
    if (!given || !*given)
        return 0;
    char *end = NULL;
    const double bytes = strtod(given, &end), unit = *end == 'K' ? 0x1p10 : *end == 'M' ? 0x1p20 : *end == 'G' ? 0x1p30 : 1;
    if (end == given || end[unit > 1] != 0 || !(bytes * unit >= 1 && bytes * unit < 0x1p62))
        return -1;
    return (int64_t)(bytes * unit);
}

static int64_t bytes_of(const tess_plan *plan, tess_operand operand) {
    const tess_array *array = plan->problem->op->array(plan->problem, operand);
    return array ? array->count * array->itemsize : 0;
}

static int64_t operands(const tess_plan *plan) {
    return bytes_of(plan, TESS_ARRAY_IN) + bytes_of(plan, TESS_ARRAY_SECOND) + bytes_of(plan, TESS_ARRAY_OUT);
}

/* The input that is not cut, or NULL. */
static const tess_array *resident_of(const tess_plan *plan, const tess_cut *cut) {
    return plan->problem->op->array(plan->problem, cut->input == TESS_ARRAY_IN ? TESS_ARRAY_SECOND : TESS_ARRAY_IN);
}

static int64_t extent_of(const tess_array *array) {
    int64_t low = 0, high = 0;
    if (array)
        tess_array_extent(array, &low, &high);
    return high - low;
}

/* Rows for a slot of `most` bytes: whole vectors and tiles, where there are many. */
static int64_t rows_in(const tess_cut *cut, int64_t most) {
    double rows = ((double)(most - 2 * ALIGN) - cut->fixed) / cut->row;
    int64_t whole = rows < 1 ? 1 : (int64_t)rows;
    return tess_min64(cut->rows, whole >= 512 ? whole / 256 * 256 : whole >= 32 ? whole / 16 * 16 : whole);
}

bool tess_gpu_pipeline_cut(const tess_plan *plan, tess_gpu_cut *result) {
    const tess_op *op = plan->problem->op;
    int64_t cap = memory_cap(), most = cap > 0 ? tess_min64(cap / SLOTS, slab_bytes) : slab_bytes;
    tess_cut *cut = &result->cut;
    *result = (tess_gpu_cut){.cut = {.rows = 0}};
    if (cap < 0 || !op->cut || (op->cut(plan->problem, most, cut), cut->rows < 2)) /* a bad cap: tess_gpu_check_cap says so */
        return false;
    int64_t stays = extent_of(resident_of(plan, cut));
    if (cap > 0 && stays > 0 && cap - stays < SLOTS * most) {
        most = tess_max64(0, (cap - stays) / SLOTS);
        *cut = (tess_cut){.rows = 0};
        op->cut(plan->problem, most, cut);
    }
    if (cap == 0) /* what neighbouring slabs both take is to be little beside what each has alone */
        most = tess_max64(most, cut->fixed < 0x1p40 ? 4 * (int64_t)cut->fixed : 0);
    result->limit = cap > 0 ? most : INT64_MAX;
    result->rows = rows_in(cut, most);
    result->size = tess_max64(most, (int64_t)((double)result->rows * cut->row + cut->fixed) + 2 * ALIGN);
    if (cap > 0 && result->size > result->limit && operands(plan) <= cap)
        return false; /* too large in parts, but not as a whole */
    return (double)cut->rows * cut->row + cut->fixed > 2 * (double)most;
}

tess_status tess_gpu_check_cap(const tess_plan *plan) {
    int64_t cap = memory_cap();
    if (cap < 0)
        return tess_fail(TESS_ERR_ARGUMENT,
                         "TESSERA_GPU_MEMORY is \"%s\", it must be a number of bytes, 1 or more, with K, M or G behind it or nothing",
                         getenv("TESSERA_GPU_MEMORY"));
    if (cap > 0 && operands(plan) > cap)
        return tess_fail(TESS_ERR_MEMORY, "the operands take %lld bytes on the device, TESSERA_GPU_MEMORY allows %lld, and this problem is not cut",
                         (long long)operands(plan), (long long)cap);
    return TESS_OK;
}

/* ---- slab after slab ---- */

static int64_t size_of(const tess_array *array) { return array->count * array->itemsize; }

static void release(flow *f, tess_gpu_slot *s) {
    tess_gpu_scratch_free(f->scope, s->workspace, f->all->run, s->ordered);
    if (!s->kept)
        tess_plan_free(s->plan); /* with the slab's problem */
    else if (s->plan->problem != s->slab.problem)
        tess_problem_free(s->slab.problem);
    s->workspace = 0;
    s->plan = NULL;
    s->kept = false;
}

/* The row that the whole was planned with, where it can run. */
static tess_status plan_slab(flow *f, tess_gpu_slot *s, int64_t from, int64_t to) {
    const tess_plan *whole = f->whole;
    const char *why;
    tess_environment host;
    memset(&s->slab, 0, sizeof s->slab);
    s->slab.from = from;
    s->slab.to = to;
    tess_environment_enter(&host); /* weights may be converted */
    tess_status status = f->op->slab(whole->problem, &f->cut.cut, from, to, &s->slab);
    tess_environment_leave(&host);
    if (status != TESS_OK)
        return status;
    s->slab.problem->part = true;
    const tess_slab *slab = &s->slab;
    for (int i = 0; i < f->planned; i++)
        if (f->plans[i].rows == slab->to - from && f->plans[i].kind[0] == slab->kind[0] && f->plans[i].kind[1] == slab->kind[1]) {
            s->plan = f->plans[i].plan;
            s->kept = true;
            return TESS_OK;
        }
    bool same = whole->row->applicable(slab->problem, &why);
    const tess_call call = {.engine = whole->engine, .strategy = same ? whole->row->name : NULL, .stream = f->all->run};
    TESS_TRY(tess_plan_make(&s->plan, slab->problem, &call)); /* owns the problem, whatever it returns */
    s->kept = f->planned < PLANS;
    if (s->kept)
        f->plans[f->planned++] = (shared_plan){slab->to - from, {slab->kind[0], slab->kind[1]}, s->plan};
    return TESS_OK;
}

/* The slab's input, into its slot. */
static tess_status pack(const flow *f, const tess_gpu_slot *s) {
    const tess_operand input = f->cut.cut.input;
    const tess_array *in = &s->slab.host[input];
    char *from = (char *)(uintptr_t)(input == TESS_ARRAY_IN ? f->in : f->second);
    if (!s->slab.pieces)
        return tess_gpu_pack(f->whole, in, from + s->slab.offset[input], s->pinned, false);
    for (int64_t at = 0; at < in->count;) {
        tess_array piece = *in;
        int64_t offset = 0;
        f->op->piece(f->whole->problem, &f->cut.cut, &s->slab, at, &piece, &offset);
        TESS_TRY(tess_gpu_pack(f->whole, &piece, from + offset, s->pinned + at * in->itemsize, false));
        at += piece.count;
    }
    return TESS_OK;
}

static tess_status start(flow *f, tess_gpu_slot *s, int64_t from, int64_t to, int64_t *end) {
    const tess_gpu *gpu = f->scope->gpu;
    struct tess_gpu_slots *all = f->all;
    const tess_operand input = f->cut.cut.input;
    TESS_TRY(plan_slab(f, s, from, to));
    *end = s->slab.to;
    int64_t in_bytes = size_of(&s->slab.host[input]), out_bytes = size_of(&s->slab.host[TESS_ARRAY_OUT]);
    s->out_at = tess_ceil_div(in_bytes, ALIGN) * ALIGN;
    if ((size_t)(s->out_at + out_bytes) > all->size)
        return tess_fail(TESS_ERR_INTERNAL, "a slab of %lld bytes for a slot of %zu", (long long)(s->out_at + out_bytes), all->size);
    TESS_TRY(pack(f, s));
    TESS_CUDA(gpu, cuMemcpyHtoDAsync, s->device, s->pinned, (size_t)in_bytes, all->up);
    TESS_CUDA(gpu, cuEventRecord, s->up, all->up);
    TESS_CUDA(gpu, cuStreamWaitEvent, all->run, s->up, 0);
    TESS_TRY(tess_gpu_scratch(f->scope, &s->workspace, s->plan->workspace, all->run, TESS_GPU_DONE, &s->ordered));
    CUdeviceptr stays = f->resident.array ? tess_gpu_twin_first(&f->resident) : 0;
    s->pointers = (tess_gpu_pointers){.in = input == TESS_ARRAY_IN ? s->device : stays,
                                      .second = input == TESS_ARRAY_IN ? stays : s->device,
                                      .out = s->device + (CUdeviceptr)s->out_at,
                                      .workspace = s->workspace};
    TESS_TRY(tess_gpu_aligned_plan(&s->made, s->plan, &s->pointers));
    if (s->made->layout.result > TESS_GPU_RESULT)
        return tess_fail(TESS_ERR_INTERNAL, "strategy %s has a result of %lld bytes", s->made->row->name, (long long)s->made->layout.result);
    TESS_TRY(tess_gpu_run_steps(f->scope, s->made, &s->pointers, all->run));
    TESS_CUDA(gpu, cuEventRecord, s->done, all->run);
    TESS_CUDA(gpu, cuStreamWaitEvent, all->down, s->done, 0);
    TESS_CUDA(gpu, cuMemcpyDtoHAsync, s->pinned + s->out_at, s->pointers.out, (size_t)out_bytes, all->down);
    if (s->made->layout.result)
        TESS_CUDA(gpu, cuMemcpyDtoHAsync, s->result, s->workspace, (size_t)s->made->layout.result, all->down);
    TESS_CUDA(gpu, cuEventRecord, s->down, all->down);
    return TESS_OK;
}

static tess_status finish(flow *f, tess_gpu_slot *s) {
    const tess_array *host = &s->slab.host[TESS_ARRAY_OUT];
    const tess_problem *problem = f->whole->problem;
    if (!s->plan)
        return TESS_OK;
    TESS_CUDA(f->scope->gpu, cuEventSynchronize, s->down);
    TESS_TRY(tess_gpu_verdict(f->scope, s->slab.problem, s->made, &s->pointers, s->result, f->all->down));
    if (s->slab.collected) {
        tess_environment environment;
        tess_environment_enter(&environment);
        tess_status status = f->op->collect(problem, &f->cut.cut, &s->slab, s->pinned + s->out_at, f->state, f->out);
        tess_environment_leave(&environment);
        TESS_TRY(status);
    } else {
        TESS_TRY(tess_gpu_pack(f->whole, host, f->out + s->slab.offset[TESS_ARRAY_OUT], s->pinned + s->out_at, true));
    }
    release(f, s);
    return TESS_OK;
}

static tess_status put_resident(flow *f) {
    const tess_array *array = resident_of(f->whole, &f->cut.cut);
    if (!array)
        return TESS_OK;
    TESS_TRY(tess_gpu_twin_make(f->scope, &f->resident, array, f->all->run));
    return tess_gpu_twin_fill(f->scope, &f->resident, f->cut.cut.input == TESS_ARRAY_IN ? f->second : f->in, f->all->run);
}

static tess_status run_slabs(flow *f, CUstream stream) {
    const int64_t rows = f->cut.cut.rows;
    int busy = 0, next = 0;                                /* slots that hold a slab; the slot for the next one */
    TESS_CUDA(f->scope->gpu, cuStreamSynchronize, stream); /* what the caller's stream was asked before comes before */
    TESS_TRY(put_resident(f));
    for (int64_t at = 0; at < rows || busy > 0; next = (next + 1) % SLOTS) {
        tess_gpu_slot *s = &f->all->slot[next];
        busy -= s->plan != NULL;
        TESS_TRY(finish(f, s));
        if (at < rows) {
            TESS_TRY(start(f, s, at, tess_min64(rows, at + f->cut.rows), &at));
            busy++;
        }
    }
    return TESS_OK;
}

/* What is on its way still uses the slots. */
static void abandon(flow *f) {
    tess_gpu *gpu = f->scope->gpu;
    gpu->driver.cuStreamSynchronize(f->all->up);
    gpu->driver.cuStreamSynchronize(f->all->run);
    gpu->driver.cuStreamSynchronize(f->all->down);
    for (int i = 0; i < SLOTS; i++)
        if (f->all->slot[i].plan)
            release(f, &f->all->slot[i]);
}

tess_status tess_gpu_execute_slabs(const tess_gpu_scope *scope, const tess_plan *plan, const tess_gpu_cut *cut, const void *in, const void *second,
                                   void *out, CUstream stream) {
    tess_gpu *gpu = scope->gpu;
    const tess_op *op = plan->problem->op;
    flow f = {.scope = scope, .whole = plan, .op = op, .cut = *cut, .in = in, .second = second, .out = out};
    if (cut->size > cut->limit)
        return tess_fail(TESS_ERR_MEMORY, "one slab takes %lld bytes on the device, and TESSERA_GPU_MEMORY leaves %lld for each of %d",
                         (long long)cut->size, (long long)cut->limit, SLOTS);
    if (op->collect_size && !(f.state = tess_allocate_zeroed(gpu->context, op->collect_size)))
        return TESS_ERR_MEMORY;
    tess_status status = tess_gpu_slots_take(scope, (size_t)cut->size, &f.all);
    if (status == TESS_OK) {
        status = run_slabs(&f, stream);
        if (status != TESS_OK)
            abandon(&f);
        for (int i = 0; i < f.planned; i++)
            tess_plan_free(f.plans[i].plan);
        tess_gpu_twin_free(scope, &f.resident, f.all->run);
        tess_gpu_slots_give(gpu, f.all, status == TESS_OK);
    }
    tess_free(gpu->context, f.state, op->collect_size);
    return status;
}

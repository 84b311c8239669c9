/* SPDX-License-Identifier: Apache-2.0
 * plan_counts.c - what the kernels of a plan do on the virtual GPU: every launch counted and modelled, the row's own prediction beside it. */
#include <string.h>

#include "profile/plan_counts.h"

enum { LAUNCHES = 64 };

typedef struct launch_counts {
    char kernel[64];
    uint32_t grid[3], block[3];
    int64_t shared_bytes;
    tess_vgpu_counters counters;
    tess_prediction prediction;
} launch_counts;

typedef struct listener {
    tess_card card;
    launch_counts *launches;
    int count, lost; /* lost: beyond LAUNCHES, in the totals alone */
    tess_vgpu_counters total;
    double seconds;
} listener;

static void add(tess_vgpu_counters *to, const tess_vgpu_counters *from) {
#define X(name) to->name += from->name;
    TESS_VGPU_COUNTER_LIST(X)
#undef X
}

static void launched(void *user, const tess_vgpu_launch_record *record) {
    listener *l = user;
    int64_t threads = 1, blocks = 1;
    launch_counts one = {.shared_bytes = record->shared_bytes + record->static_shared};
    for (int i = 0; i < 3; i++) {
        one.grid[i] = record->grid[i];
        one.block[i] = record->block[i];
        threads *= record->block[i];
        blocks *= record->grid[i];
    }
    size_t length = (size_t)record->kernel_length < sizeof one.kernel ? (size_t)record->kernel_length : sizeof one.kernel - 1;
    memcpy(one.kernel, record->kernel, length);
    tess_vgpu_total(record->run, &one.counters);
    tess_profile_predict(record->run, &l->card, threads, blocks, one.shared_bytes, &one.prediction);
    add(&l->total, &one.counters);
    l->seconds += one.prediction.seconds;
    if (l->count < LAUNCHES)
        l->launches[l->count++] = one;
    else
        l->lost++;
}

static void counters(const tess_vgpu_counters *c, tess_text *text) {
    tess_text_add(text, "\"counters\": {");
#define X(name) tess_text_add(text, "\"" #name "\": %llu, ", (unsigned long long)c->name);
    TESS_VGPU_COUNTER_LIST(X)
#undef X
    tess_text_add(text, "\"local_sectors\": %llu}", (unsigned long long)(c->local_ld_sectors + c->local_st_sectors));
}

tess_gpu_prediction tess_profile_counted(const tess_vgpu_counters *c) {
    return (tess_gpu_prediction){.global_ld_requests = (double)c->global_ld_requests,
                                 .global_ld_sectors = (double)c->global_ld_sectors,
                                 .global_st_requests = (double)c->global_st_requests,
                                 .global_st_sectors = (double)c->global_st_sectors,
                                 .shared_ld_requests = (double)c->shared_ld_requests,
                                 .shared_ld_wavefronts = (double)c->shared_ld_wavefronts,
                                 .shared_ld_conflicts = (double)c->shared_ld_conflicts,
                                 .shared_st_requests = (double)c->shared_st_requests,
                                 .shared_st_wavefronts = (double)c->shared_st_wavefronts,
                                 .shared_st_conflicts = (double)c->shared_st_conflicts,
                                 .constant_requests = (double)c->constant_requests,
                                 .barriers = (double)c->barriers,
                                 .flops = (double)(c->flops_f16 + c->flops_f32 + c->flops_f64)};
}

void tess_profile_write_formulas(const tess_gpu_prediction *p, bool holds, const char *name, tess_text *text) {
    bool any = false;
    tess_text_add(text, "\"predicted\": {");
#define X(word)                                                                 \
    if (p->word >= 0) {                                                         \
        tess_text_add(text, "%s\"" #word "\": %.0f", any ? ", " : "", p->word); \
        any = true;                                                             \
    }
    TESS_GPU_PREDICTION_LIST(X)
#undef X
    tess_text_add(text, "}, \"%s\": %s", name, !any ? "null" : holds ? "true" : "false");
}

static bool holds(const tess_gpu_prediction *p, const tess_gpu_prediction *counted) {
    bool all = true;
#define X(word) all = all && (p->word < 0 || p->word == counted->word);
    TESS_GPU_PREDICTION_LIST(X)
#undef X
    return all;
}

static void write(const tess_plan *plan, const listener *l, tess_text *text) {
    int longest = 0;
    tess_text_add(text, "{\"strategy\": ");
    tess_text_json(text, plan->row->name);
    tess_text_add(text, ", \"card\": ");
    tess_text_json(text, l->card.name);
    tess_text_add(text, ", \"seconds\": ");
    tess_text_real(text, l->seconds);
    for (int i = 0; i < l->count; i++)
        longest = l->launches[i].prediction.seconds > l->launches[longest].prediction.seconds ? i : longest;
    tess_text_add(text, ", \"limiter\": \"%s\", ", l->count ? tess_term_title(l->launches[longest].prediction.limiter) : "nothing");
    counters(&l->total, text);
    tess_text_add(text, ", ");
    tess_gpu_prediction formulas = tess_gpu_plan_predict(plan), counted = tess_profile_counted(&l->total);
    tess_profile_write_formulas(&formulas, holds(&formulas, &counted), "prediction_holds", text);
    tess_text_add(text, ", \"launches\": [");
    for (int i = 0; i < l->count; i++) {
        const launch_counts *one = &l->launches[i];
        tess_text_add(text, "%s\n {\"kernel\": ", i ? "," : "");
        tess_text_json(text, one->kernel);
        tess_text_add(text, ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared_bytes\": %lld, \"seconds\": ", one->grid[0], one->grid[1],
                      one->grid[2], one->block[0], one->block[1], one->block[2], (long long)one->shared_bytes);
        tess_text_real(text, one->prediction.seconds);
        tess_text_add(text, ", \"limiter\": \"%s\", \"memory_bytes\": %.0f, ", tess_term_title(one->prediction.limiter), one->prediction.bytes);
        counters(&one->counters, text);
        tess_text_add(text, "}");
    }
    tess_text_add(text, "], \"launches_left_out\": %d}\n", l->lost);
}

tess_status tess_profile_plan_arguments(const tess_plan *plan, char *at, size_t capacity, size_t *length) {
    if (length)
        *length = 0;
    if (!at && capacity > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "text is NULL with a capacity of %zu", capacity);
    if (capacity > 0)
        *at = 0;
    if (!plan)
        return tess_fail(TESS_ERR_ARGUMENT, "plan is NULL");
    if (plan->engine != TESS_ENGINE_VIRTUAL)
        return tess_fail(TESS_ERR_ARGUMENT, "the plan was not made for the virtual engine");
    return TESS_OK;
}

tess_status tess_profile_plan(const tess_plan *plan, const void *in, const void *second, void *out, const char *card, char *at, size_t capacity,
                              size_t *length) {
    tess_text text = {.at = at, .capacity = capacity};
    listener l = {.count = 0};
    TESS_TRY(tess_profile_plan_arguments(plan, at, capacity, length));
    TESS_TRY(tess_profile_card(NULL, card, &l.card));
    if (!(l.launches = tess_allocate(plan->context, LAUNCHES * sizeof *l.launches)))
        return TESS_ERR_MEMORY;
    tess_status status = tess_vgpu_watch(plan->context, &(tess_vgpu_watch_options){.count = true, .sample = true, .launched = launched, .user = &l});
    if (status == TESS_OK) {
        status = tess_execute(plan, in, second, out, NULL);
        tess_vgpu_watch(plan->context, NULL);
    }
    if (status == TESS_OK) {
        write(plan, &l, &text);
        status = tess_text_end(&text, length);
    }
    tess_free(plan->context, l.launches, LAUNCHES * sizeof *l.launches);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * engine.h - what core knows of engines beyond the CPU: a list that it walks and never names, as with the operations.
 *
 * An engine keeps what belongs to a context in context->gpu or context->virtual_engine, made at its first use, and what belongs to a plan in
 * plan->prepared. */
#ifndef TESS_CORE_ENGINE_H
#define TESS_CORE_ENGINE_H

#include "core/strategy.h"

typedef struct tess_engine_hooks {
    unsigned engines; /* a bit 1 << tess_engine for each that these hooks run */
    /* The engine's part of tess_devices: whole lines of text, or members of the JSON object with a comma before each. Never fails; "none" and the
     * reason are an answer. */
    void (*describe)(tess_context *context, tess_format format, tess_text *text);
    /* Gives back what the context holds. exiting: the process is ending and the engine's libraries may be gone already. */
    void (*close)(tess_context *context, bool exiting);
    /* Before rows are asked: the engine is there, and can work for plan->device. Sets nothing but what belongs to the context. */
    tess_status (*open)(tess_plan *plan);
    /* The row has been chosen: kernels are made ready; sets plan->prepared and plan->workspace. After a failure release is called. */
    tess_status (*prepare)(tess_plan *plan, const tess_call *call);
    /* One execution; the operands have been checked. *seconds is wanted when call->report is set. */
    tess_status (*execute)(const tess_plan *plan, const void *in, const void *second, void *out, const tess_call *call, double *seconds);
    void (*release)(tess_plan *plan);
    /* More lines (or JSON members) of tess_explain about the plan's row. */
    void (*explain)(const tess_plan *plan, tess_format format, tess_text *text);
    /* The word for tess_report.isa: "sm_90". */
    void (*name)(const tess_plan *plan, char *text, size_t size);
    /* Whose wisdom the plan's is; the engine is open, nothing is prepared. */
    tess_status (*place)(const tess_plan *plan, tess_wisdom_place *place);
    /* tess_time_plan (host arrays, wherever the plan's live), and tess_measure_limits with the fields that were not measured 0. NULL: not offered. */
    tess_status (*time)(const tess_plan *plan, const void *in, const void *second, void *out, double seconds, double *median);
    tess_status (*limits)(tess_context *context, double seconds, tess_limits *limits);
} tess_engine_hooks;

extern const tess_engine_hooks tess_gpu_hooks;  /* src/gpu/describe.c */
extern const tess_engine_hooks tess_vgpu_hooks; /* src/vgpu/door.c; closed after the former, which may hold its table */

/* Defined beside the list of operations in src/ops/ops.c. */
extern const tess_engine_hooks *const tess_engines[];
extern const int tess_engines_count;

/* The hooks that run the engine, or NULL. */
const tess_engine_hooks *tess_engine_find(tess_engine engine);
const char *tess_engine_name(tess_engine engine); /* "cuda" */

/* The virtual GPU as a driver, src/vgpu/vgpu.h: named here because src/gpu calls it and may not see that folder. */
struct tess_driver;
tess_status tess_vgpu_driver(tess_context *context, const struct tess_driver **table);

/* Of the ladder, 0 for a row that is no rung; whether the planner may choose the row: src/gpu/layout.c. */
int tess_gpu_rung(const tess_strategy *row);
bool tess_gpu_production(const tess_strategy *row);
/* Whether TESSERA_UNOPTIMISED asks for PTX that is made fast instead of to run fast, which the virtual GPU allows for: src/gpu/compile.c. */
bool tess_gpu_unoptimised(void);

#endif

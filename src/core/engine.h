/* SPDX-License-Identifier: Apache-2.0
 * engine.h - what core knows of engines beyond the CPU: a list that it walks and never names, as with the operations.
 *
 * An engine keeps what belongs to a context in context->gpu, made at its first use. */
#ifndef TESS_CORE_ENGINE_H
#define TESS_CORE_ENGINE_H

#include "core/strategy.h"

typedef struct tess_engine_hooks {
    /* The engine's part of tess_devices: whole lines of text, or members of the JSON object with a comma before each. Never fails; "none" and the
     * reason are an answer. */
    void (*describe)(tess_context *context, tess_format format, tess_text *text);
    /* Gives back what the context holds. exiting: the process is ending and the engine's libraries may be gone already. */
    void (*close)(tess_context *context, bool exiting);
} tess_engine_hooks;

extern const tess_engine_hooks tess_gpu_hooks;  /* src/gpu/describe.c */
extern const tess_engine_hooks tess_vgpu_hooks; /* src/vgpu/door.c; closed after the former, which may hold its table */

/* Defined beside the list of operations in src/ops/ops.c. */
extern const tess_engine_hooks *const tess_engines[];
extern const int tess_engines_count;

#endif

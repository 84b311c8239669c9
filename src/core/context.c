/* SPDX-License-Identifier: Apache-2.0
 * context.c - opening contexts, the default context, and the allocator that all else goes through. */
#include "core/context.h"

#include <stdlib.h>
#include <string.h>

#include "core/engine.h"
#include "core/parallel.h"

enum { ALIGNMENT = 64, THREADS_LIMIT = 1024 };

static void *default_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    return rounded < size ? NULL : aligned_alloc(alignment, rounded);
}

static void default_release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    free(memory);
}

void *tess_allocate(tess_context *context, size_t size) {
    void *memory = context->options.allocate(context->options.allocator_user, size ? size : 1, ALIGNMENT);
    if (!memory)
        tess_fail(TESS_ERR_MEMORY, "%zu bytes could not be allocated", size);
    return memory;
}

void *tess_allocate_zeroed(tess_context *context, size_t size) {
    void *memory = tess_allocate(context, size);
    return memory ? memset(memory, 0, size) : NULL;
}

void tess_free(tess_context *context, void *memory, size_t size) {
    if (memory)
        context->options.release(context->options.allocator_user, memory, size ? size : 1);
}

static tess_status check_strategies(const char *list) {
    while (*list) {
        size_t length = strcspn(list, ",");
        if (!tess_strategy_named(list, length))
            return tess_fail(TESS_ERR_STRATEGY, "there is no strategy \"%.*s\"; `tessera list` names them", (int)length, list);
        list += length + (list[length] == ',');
    }
    return TESS_OK;
}

static tess_status choose_slot(tess_context *context) {
    static const tess_isa_slot slot_of[] = {[TESS_ISA_BASELINE] = TESS_SLOT_BASELINE,
                                            [TESS_ISA_AVX2] = TESS_SLOT_AVX2,
                                            [TESS_ISA_AVX512] = TESS_SLOT_AVX512,
                                            [TESS_ISA_NEON] = TESS_SLOT_NEON};
    const char *from = "options.isa", *name = getenv("TESSERA_ISA");
    context->slot = tess_cpu_best_slot();
    if (context->options.isa != TESS_ISA_AUTO) {
        if ((unsigned)context->options.isa >= sizeof slot_of / sizeof slot_of[0])
            return tess_fail(TESS_ERR_ARGUMENT, "options.isa is %d, not a tess_isa", (int)context->options.isa);
        context->slot = slot_of[context->options.isa];
    } else if (name && *name) {
        from = "TESSERA_ISA";
        if (!tess_slot_named(name, &context->slot))
            return tess_fail(TESS_ERR_ARGUMENT, "TESSERA_ISA is \"%s\", it must be baseline, avx2, avx512 or neon", name);
    }
    if (!tess_cpu_has_slot(context->slot))
        return tess_fail(TESS_ERR_ENGINE, "%s asks for %s, which this processor does not have; its best is %s", from, tess_slot_name(context->slot),
                         tess_slot_name(tess_cpu_best_slot()));
    return TESS_OK;
}

static tess_status choose_threads(tess_context *context) {
    int threads = context->options.threads;
    const char *text = getenv("TESSERA_THREADS");
    if (threads < 0 || threads > THREADS_LIMIT)
        return tess_fail(TESS_ERR_ARGUMENT, "threads is %d, the limits are 0 and %d", threads, THREADS_LIMIT);
    if (threads == 0 && text && *text) {
        char *end;
        long value = strtol(text, &end, 10);
        if (*end || value < 1 || value > THREADS_LIMIT)
            return tess_fail(TESS_ERR_ARGUMENT, "TESSERA_THREADS is \"%s\", it must be a number from 1 to %d", text, THREADS_LIMIT);
        threads = (int)value;
    }
    if (threads == 0) {
        tess_cpu_info info;
        tess_cpu_info_get(&info);
        threads = info.processors;
    }
    atomic_store(&context->threads, threads);
    return TESS_OK;
}

static tess_status open_checked(tess_context *context) {
    tess_context_options *options = &context->options;
    if ((unsigned)options->engine > TESS_ENGINE_VIRTUAL)
        return tess_fail(TESS_ERR_ARGUMENT, "options.engine is %d, not a tess_engine", (int)options->engine);
    TESS_TRY(choose_slot(context));
    TESS_TRY(choose_threads(context));
    const char *strategy = options->strategy ? options->strategy : getenv("TESSERA_STRATEGY");
    options->strategy = NULL;
    if (strategy && *strategy) {
        TESS_TRY(check_strategies(strategy));
        context->strategy_size = strlen(strategy) + 1;
        char *copy = tess_allocate(context, context->strategy_size);
        if (!copy)
            return TESS_ERR_MEMORY;
        options->strategy = memcpy(copy, strategy, context->strategy_size);
    }
    return TESS_OK;
}

tess_status tess_open(tess_context **context, const tess_context_options *given) {
    if (!context)
        return tess_fail(TESS_ERR_ARGUMENT, "context is NULL, a place for the new context is needed");
    *context = NULL;
    tess_context_options options;
    TESS_TRY(tess_options_copy(&options, sizeof options, given, "context options"));
    if (!options.allocate != !options.release)
        return tess_fail(TESS_ERR_ARGUMENT, "options.allocate and options.release must be given both or neither");
    if (!options.allocate) {
        options.allocate = default_allocate;
        options.release = default_release;
    }
    tess_context *made = options.allocate(options.allocator_user, sizeof *made, ALIGNMENT);
    if (!made)
        return tess_fail(TESS_ERR_MEMORY, "%zu bytes for a context could not be allocated", sizeof *made);
    memset(made, 0, sizeof *made);
    made->options = options;
    pthread_mutex_init(&made->lock, NULL);
    tess_status status = open_checked(made);
    if (status != TESS_OK)
        tess_close(made);
    else
        *context = made;
    return status;
}

static void close_context(tess_context *context, bool exiting) {
    if (!context)
        return;
    for (int i = 0; i < tess_engines_count; i++)
        tess_engines[i]->close(context, exiting);
    tess_pool_free(context);
    tess_wisdom_free(context);
    tess_free(context, (void *)(uintptr_t)context->options.strategy, context->strategy_size);
    pthread_mutex_destroy(&context->lock);
    context->options.release(context->options.allocator_user, context, sizeof *context);
}

void tess_close(tess_context *context) { close_context(context, false); }

tess_status tess_set_threads(tess_context *given, int threads) {
    tess_context *context;
    TESS_TRY(tess_context_get(&context, given));
    int before = context->options.threads;
    context->options.threads = threads;
    tess_status status = choose_threads(context);
    if (status != TESS_OK)
        context->options.threads = before;
    return status;
}

int tess_threads(tess_context *given) {
    tess_context *context;
    return tess_context_get(&context, given) == TESS_OK ? atomic_load(&context->threads) : 1;
}

/* The default context: made once, freed when the library is unloaded or the process exits. A wrong environment variable must not make every call
 * fail for good, so a failure is reported by the call that met it and tried again by the next. */
static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(tess_context *) default_context;

tess_status tess_context_get(tess_context **context, tess_context *given) {
    tess_status status = TESS_OK;
    *context = given ? given : atomic_load_explicit(&default_context, memory_order_acquire);
    if (TESS_LIKELY(*context != NULL))
        return TESS_OK;
    pthread_mutex_lock(&default_lock);
    *context = atomic_load_explicit(&default_context, memory_order_relaxed);
    if (!*context && (status = tess_open(context, NULL)) == TESS_OK)
        atomic_store_explicit(&default_context, *context, memory_order_release);
    pthread_mutex_unlock(&default_lock);
    return status;
}

__attribute__((destructor)) static void free_default(void) { close_context(atomic_exchange(&default_context, NULL), true); }

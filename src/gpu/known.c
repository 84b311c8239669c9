/* SPDX-License-Identifier: Apache-2.0
 * known.c - kernels that were got before, found again without hashing their text.
 *
 * An image's key is the SHA-256 of all that it depends on, some 40 KiB of text: a tenth of a millisecond for each kernel of each plan, where a launch
 * takes a few microseconds. Texts that the build put into the library never change and never move, so for them the address stands for the words, and only
 * options, entry and CUDA context are compared. */
#include <string.h>

#include "core/engine.h"
#include "gpu/gpu.h"

struct tess_gpu_known {
    tess_gpu_known *next;
    uint64_t hash;
    const char *text;
    const tess_gpu_text *const *headers;
    tess_gpu_kernel kernel; /* knows its device and CUDA context */
    int options;
    bool unoptimised; /* what the environment asked for */
    size_t size;      /* of the whole structure */
    char words[];     /* the options and the entry, each with its 0 */
};

/* FNV-1a over the words that tell kernels of one text apart. */
static uint64_t add_word(uint64_t hash, const char *word) {
    do
        hash = (hash ^ (unsigned char)*word) * 0x100000001b3u;
    while (*word++);
    return hash;
}

static uint64_t hash_of(const tess_gpu_scope *scope, const tess_gpu_source *source, const char *entry) {
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)(uintptr_t)source->text ^ scope->context_id << 48;
    for (int i = 0; i < source->option_count; i++)
        hash = add_word(hash, source->options[i]);
    return add_word(hash, entry);
}

static bool same(const tess_gpu_known *k, const tess_gpu_scope *scope, const tess_gpu_source *source, const char *entry) {
    const char *at = k->words;
    if (k->text != source->text || k->headers != source->headers || k->options != source->option_count || k->unoptimised != tess_gpu_unoptimised() ||
        k->kernel.context_id != scope->context_id || k->kernel.device != scope->device)
        return false;
    for (int i = 0; i <= source->option_count; i++) {
        const char *word = i < source->option_count ? source->options[i] : entry;
        if (strcmp(at, word) != 0)
            return false;
        at += strlen(at) + 1;
    }
    return true;
}

bool tess_gpu_known_find(const tess_gpu_scope *scope, const tess_gpu_source *source, const char *entry, tess_gpu_kernel *kernel) {
    tess_gpu *gpu = scope->gpu;
    uint64_t hash = hash_of(scope, source, entry);
    const tess_gpu_known *k;
    pthread_mutex_lock(&gpu->lock);
    for (k = gpu->known[hash % TESS_GPU_KNOWN]; k; k = k->next)
        if (k->hash == hash && same(k, scope, source, entry)) {
            *kernel = k->kernel;
            break;
        }
    pthread_mutex_unlock(&gpu->lock);
    return k != NULL;
}

/* Two threads may put the same kernel down; the copies are equal. Without memory it is only looked up the long way again. */
void tess_gpu_known_store(const tess_gpu_scope *scope, const tess_gpu_source *source, const char *entry, const tess_gpu_kernel *kernel) {
    tess_gpu *gpu = scope->gpu;
    size_t size = sizeof(tess_gpu_known) + strlen(entry) + 1;
    for (int i = 0; i < source->option_count; i++)
        size += strlen(source->options[i]) + 1;
    tess_gpu_known *k = tess_allocate(gpu->context, size);
    if (!k)
        return;
    *k = (tess_gpu_known){.hash = hash_of(scope, source, entry),
                          .text = source->text,
                          .headers = source->headers,
                          .kernel = *kernel,
                          .options = source->option_count,
                          .unoptimised = tess_gpu_unoptimised(),
                          .size = size};
    char *at = k->words;
    for (int i = 0; i <= source->option_count; i++)
        at = stpcpy(at, i < source->option_count ? source->options[i] : entry) + 1;
    pthread_mutex_lock(&gpu->lock);
    k->next = gpu->known[k->hash % TESS_GPU_KNOWN];
    gpu->known[k->hash % TESS_GPU_KNOWN] = k;
    pthread_mutex_unlock(&gpu->lock);
}

void tess_gpu_known_free(tess_gpu *gpu) {
    for (int i = 0; i < TESS_GPU_KNOWN; i++)
        while (gpu->known[i]) {
            tess_gpu_known *k = gpu->known[i];
            gpu->known[i] = k->next;
            tess_free(gpu->context, k, k->size);
        }
}

/* SPDX-License-Identifier: Apache-2.0
 * names.c - the module's arena, its symbol table with scopes, and the names of types and special registers. */
#include <string.h>

#include "vgpu/ptx.h"

struct ptx_arena_block {
    ptx_arena_block *next;
    size_t size, used;
};

enum { ARENA_BLOCK = 1 << 16, ARENA_ALIGN = 64 };

void *tess_vgpu_arena(tess_vgpu_module *module, size_t bytes) {
    size_t need = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    ptx_arena_block *block = module->arena;
    if (!block || block->size - block->used < need) {
        size_t size = ARENA_ALIGN + need > ARENA_BLOCK ? ARENA_ALIGN + need : ARENA_BLOCK;
        block = tess_allocate_zeroed(module->context, size);
        if (!block)
            return NULL;
        *block = (ptx_arena_block){module->arena, size, ARENA_ALIGN};
        module->arena = block;
    }
    void *memory = (char *)block + block->used;
    block->used += need;
    return memory;
}

bool tess_vgpu_arena_grow(tess_vgpu_module *module, void **array, int count, int *room, size_t size) {
    if (count < *room)
        return true;
    int wider = *room ? 2 * *room : 16;
    void *grown = tess_vgpu_arena(module, (size_t)wider * size);
    if (!grown)
        return false;
    if (count)
        memcpy(grown, *array, (size_t)count * size);
    *array = grown;
    *room = wider;
    return true;
}

void tess_vgpu_arena_free(tess_vgpu_module *module) {
    while (module->arena) {
        ptx_arena_block *block = module->arena;
        module->arena = block->next;
        tess_free(module->context, block, block->size);
    }
}

static unsigned bucket_of(const char *name, int length) { /* FNV-1a */
    unsigned h = 2166136261u;
    for (int i = 0; i < length; i++)
        h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h % 1024;
}

ptx_symbol *tess_vgpu_find(tess_vgpu_module *module, const char *name, int length) {
    ptx_symbol *s = module->buckets[bucket_of(name, length)];
    while (s && !(s->length == length && memcmp(s->name, name, (size_t)length) == 0))
        s = s->next_in_bucket;
    return s;
}

ptx_symbol *tess_vgpu_declare(tess_vgpu_module *module, const char *name, int length, ptx_symbol_kind kind, int depth) {
    ptx_symbol *s = tess_vgpu_arena(module, sizeof *s);
    if (!s)
        return NULL;
    ptx_symbol **bucket = &module->buckets[bucket_of(name, length)];
    *s = (ptx_symbol){.name = name, .length = length, .kind = kind, .depth = depth, .next_in_bucket = *bucket, .shadowed_order = module->scope};
    *bucket = module->scope = s;
    return s;
}

void tess_vgpu_leave_scope(tess_vgpu_module *module, int depth) {
    for (; module->scope && module->scope->depth >= depth; module->scope = module->scope->shadowed_order)
        module->buckets[bucket_of(module->scope->name, module->scope->length)] = module->scope->next_in_bucket;
}

static const struct {
    const char *name;
    int bytes;
} type_facts[PTX_TYPES] = {
#define X(name, text, bytes) [PTX_##name] = {text, bytes},
    PTX_TYPE_LIST(X)
#undef X
};
int tess_vgpu_type_bytes(ptx_type type) { return type_facts[type].bytes; }
const char *tess_vgpu_type_name(ptx_type type) { return type_facts[type].name; }

static const char *const specials[] = {
#define X(name, text, bytes) text,
#include "vgpu/specials.def"
#undef X
};
static const unsigned char special_bytes[] = {
#define X(name, text, bytes) bytes,
#include "vgpu/specials.def"
#undef X
};

int tess_vgpu_special(const char *name, int length) {
    for (int i = 0; i < TESS_COUNT(specials); i++)
        if ((int)strlen(specials[i]) == length && memcmp(specials[i], name, (size_t)length) == 0)
            return i;
    return -1;
}
int tess_vgpu_special_bytes(int special) { return special_bytes[special]; }

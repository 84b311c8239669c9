/* SPDX-License-Identifier: Apache-2.0
 * offsets.c - offsets, and behind a pointer before the first of them a block of words that a GPU row has made. */
#include "ops/reduce/offsets.h"

typedef struct room {
    int64_t count, key; /* key: of what the words were made */
    int64_t word[];
} room;

typedef struct block {
    room *room;
    int64_t offset[];
} block;

static block *block_of(int64_t *offsets) { return (block *)(void *)((char *)offsets - offsetof(block, offset)); }

static size_t block_size(int64_t segments) { return sizeof(block) + (size_t)(segments + 1) * sizeof(int64_t); }

static size_t room_size(int64_t count) { return sizeof(room) + (size_t)count * sizeof(int64_t); }

int64_t *tess_reduce_offsets_make(tess_context *context, int64_t segments) {
    block *made = tess_allocate(context, block_size(segments));
    if (!made)
        return NULL;
    made->room = NULL;
    return made->offset;
}

void tess_reduce_offsets_free(tess_context *context, int64_t *offsets, int64_t segments) {
    if (!offsets)
        return;
    block *b = block_of(offsets);
    if (b->room)
        tess_free(context, b->room, room_size(b->room->count));
    tess_free(context, b, block_size(segments));
}

int64_t *tess_reduce_offsets_room(tess_context *context, int64_t *offsets, int64_t count, int64_t key, bool *made) {
    block *b = block_of(offsets);
    *made = b->room && b->room->count == count && b->room->key == key;
    if (*made)
        return b->room->word;
    if (b->room)
        tess_free(context, b->room, room_size(b->room->count));
    b->room = tess_allocate(context, room_size(count));
    if (!b->room)
        return NULL;
    b->room->count = count;
    b->room->key = key;
    return b->room->word;
}

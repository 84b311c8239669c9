/* SPDX-License-Identifier: Apache-2.0
 * offsets.h - where a problem's offsets lie, and with them what a GPU row makes of them when it is laid out (gpu_stretches.c): it has to last until it has been copied. */
#ifndef TESS_OPS_REDUCE_OFFSETS_H
#define TESS_OPS_REDUCE_OFFSETS_H

#include "ops/reduce/reduce.h"

int64_t *tess_reduce_offsets_make(tess_context *context, int64_t segments); /* segments + 1 of them, not yet set; NULL: no memory */
void tess_reduce_offsets_free(tess_context *context, int64_t *offsets, int64_t segments);
/* Room for `count` words that belongs to the offsets, which have one at most; *made: it was there already, as large and for the same `key`. NULL: no memory. */
int64_t *tess_reduce_offsets_room(tess_context *context, int64_t *offsets, int64_t count, int64_t key, bool *made);

#endif

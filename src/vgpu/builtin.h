/* SPDX-License-Identifier: Apache-2.0
 * builtin.h - functions that device code may call without anybody defining them, and the heap that two of them use. */
#ifndef TESS_VGPU_BUILTIN_H
#define TESS_VGPU_BUILTIN_H

#include "vgpu/machine.h"

/* The handler of a function with that many arguments, or NULL. *heap becomes true when it uses the heap. */
vgpu_handler tess_vgpu_builtin(const char *name, int length, int arguments, bool *heap);
bool tess_vgpu_builtin_ends(vgpu_handler run); /* the launch */

/* What the workers printed, into the run, in the order of the blocks. */
tess_status tess_vgpu_gather_printed(vgpu_launch *launch);

/* heap.c: one allocation of the machine, made when a module that needs it is launched. NULL (0) when it is full. */
tess_status tess_vgpu_heap_open(tess_vgpu_machine *machine);
void tess_vgpu_heap_close(tess_vgpu_machine *machine);
uint64_t tess_vgpu_heap_get(vgpu_warp *w, const vgpu_record *r, int lane, uint64_t bytes);
void tess_vgpu_heap_put(vgpu_warp *w, const vgpu_record *r, int lane, uint64_t address);

#endif

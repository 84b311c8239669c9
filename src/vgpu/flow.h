/* SPDX-License-Identifier: Apache-2.0
 * flow.h - basic blocks of a program and its loops (flow.c), of PTX and of machine code alike. */
#ifndef TESS_VGPU_FLOW_H
#define TESS_VGPU_FLOW_H

#include "vgpu/ptx.h"

/* Up to two successors, -1: none. */
typedef struct vgpu_graph {
    int count;
    int (*next)[2];
    int *depth; /* in how many loops a block is */
    int *entry; /* the block by which alone its innermost loop is entered, and which only enters it; -1: none */
} vgpu_graph;

/* Without edges. */
bool tess_vgpu_graph_make(tess_context *context, vgpu_graph *graph, int count);
void tess_vgpu_graph_free(tess_context *context, vgpu_graph *graph);
/* From the edges, depth and entry; false: no memory. */
bool tess_vgpu_graph_loops(tess_context *context, vgpu_graph *graph);
/* Marks the blocks that edges lead to from the first. `way` has room for all. */
void tess_vgpu_graph_reach(const vgpu_graph *graph, bool *reached, int *way);

/* The basic blocks of a module's PTX, of all its functions. */
typedef struct vgpu_ptx_flow {
    vgpu_graph g;
    int *of;         /* by record */
    uint32_t *first; /* by block: a record */
    int *function;   /* by record */
} vgpu_ptx_flow;

bool tess_vgpu_ends_block(const vgpu_record *record); /* nothing, or something else, comes after it */
/* False: no memory. To be freed in any case. */
bool tess_vgpu_ptx_flow_make(const tess_vgpu_module *module, vgpu_ptx_flow *flow);
void tess_vgpu_ptx_flow_free(const tess_vgpu_module *module, vgpu_ptx_flow *flow);

#endif

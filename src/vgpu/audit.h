/* SPDX-License-Identifier: Apache-2.0
 * audit.h - what machine code does otherwise than the PTX it was made of: cubin.c reads the accesses of the machine code with their lines of PTX,
 * blocks.c finds how often they run, audit.c compares them with the module's, exec_count.c counts anew what differs. */
#ifndef TESS_VGPU_AUDIT_H
#define TESS_VGPU_AUDIT_H

#include "vgpu/machine.h"

/* Instructions of sm_90 that access memory, by what the counters call them, those by which a warp is gathered into one lane, and branches. */
#define TESS_VGPU_CODE_LIST(X) \
    X(LD)                      \
    X(LDG)                     \
    X(LDS)                     \
    X(LDL) X(LDC) X(ST) X(STG) X(STS) X(STL) X(ATOM) X(ATOMG) X(REDG) X(ATOMS) X(ATOMS_POPC) X(ATOMS_CAS) X(LDGSTS) X(LDSM) X(STSM) X(VOTE) X(BRA)
typedef enum vgpu_code_op {
#define X(name) VGPU_CODE_##name,
    TESS_VGPU_CODE_LIST(X)
#undef X
        VGPU_CODE_OPS
} vgpu_code_op;

enum { VGPU_NEVER = -1 }; /* for lanes that have parted where all go on together */
typedef struct vgpu_code {
    int line;              /* of the PTX */
    int at;                /* a line of the piece of PTX that its own piece was made of, executed as often; 0: not known, VGPU_NEVER */
    int entry, turn;       /* of an unrolled loop: a line of the piece that enters it, and how many rounds a turn makes, or, negative,
                            * by how many at a time they are done before what is left comes here; else 0 */
    int home;              /* the line of the first instruction of the kernel that it is in; 0: any */
    int32_t offset;        /* what the instruction adds to its register */
    uint8_t op, bytes;     /* bytes: a lane, 0 where it does not matter */
    bool guarded, padding; /* padding: always false, so that lists can be compared as bytes */
} vgpu_code;

/* Reads a cubin for sm_90 that ptxas or NVRTC made with line information, of the PTX of the module (NULL: not known); the list is in the order of
 * lines, what lies outside every function is left out. The caller frees `*room` elements. */
tess_status tess_vgpu_cubin_read(tess_context *context, const tess_vgpu_module *module, const void *cubin, size_t size, vgpu_code **list, int *count,
                                 int *room);

/* One instruction of machine code, whatever it does. */
typedef struct vgpu_machine_code {
    uint64_t text, address, low, high; /* text: which function's */
    int line, at, entry, turn, home;   /* as in vgpu_code */
} vgpu_machine_code;
/* Sets every instruction's `at` (blocks.c). Brings the list into the order of addresses. */
tess_status tess_vgpu_blocks(const tess_vgpu_module *module, vgpu_machine_code *list, int count);

const char *tess_vgpu_code_name(int op);    /* "LDS" */
int tess_vgpu_code_named(const char *name); /* VGPU_CODE_OPS when there is none */

/* The function's first record that stands on a line or behind it; one past its last when there is none. */
uint32_t tess_vgpu_record_from(const tess_vgpu_module *module, const ptx_function *function, int line);

/* Marks the module's records; launches from then on count twice. */
tess_status tess_vgpu_audit_list(tess_vgpu_module *module, const vgpu_code *list, int count);

#endif

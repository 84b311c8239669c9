/* SPDX-License-Identifier: Apache-2.0
 * access.h - from the addresses of a warp's lanes to host memory: resolved once for loads, stores and atomics. */
#ifndef TESS_VGPU_ACCESS_H
#define TESS_VGPU_ACCESS_H

#include "vgpu/exec.h"

/* The part of an access that goes to one space: lanes that passed the checks, their addresses there and where that is in our memory. */
typedef struct vgpu_resolved {
    uint32_t mask;
    uint64_t address[LANES]; /* as vgpu_access has it */
    char *host[LANES];       /* of the lanes in mask */
    vgpu_pattern pattern;
    bool contiguous; /* pattern UNIT and host[l] = host[0] + l * bytes */
} vgpu_resolved;

/* Addresses of all lanes: base register + offset, the frame's or dynamic base added. */
void tess_vgpu_addresses(const vgpu_warp *w, const vgpu_record *r, uint32_t slot, int64_t offset, uint64_t *address);
/* Which lanes of mask go to the space that the lowest of them goes to; for a record that names its space, all of them. Rewrites their generic
 * addresses. */
uint32_t tess_vgpu_same_space(ptx_space named, uint64_t *address, uint32_t mask, ptx_space *space);
/* Checks bounds and alignment, reports and takes out the lanes that fail, finds the rest, tells the observers. */
void tess_vgpu_resolve(vgpu_warp *w, const vgpu_record *r, ptx_space space, vgpu_access_kind kind, int bytes, int align, const uint64_t *address,
                       uint32_t mask, vgpu_resolved *out);

/* Where bytes at a generic address are, as one lane sees them; NULL: nowhere. */
const char *tess_vgpu_peek(const vgpu_warp *w, int lane, uint64_t address, int64_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * observe.h - the machine runs, observers count and check: what the machine tells them.
 *
 * Each host thread (worker) of a launch has its own state of every observer, so no observer locks; at the end the states are added up, and sums of
 * integers do not depend on who did which block. One thing the machine counts itself, because a call for each instruction would cost more than the
 * instruction: how often each record was issued (vgpu_issue). The idea of events is Oclgrind's plugins', that of a warp-wide access record Ocelot's
 * trace event's. */
#ifndef TESS_VGPU_OBSERVE_H
#define TESS_VGPU_OBSERVE_H

#include "vgpu/ptx.h"

typedef struct vgpu_allocation vgpu_allocation;
typedef struct vgpu_launch vgpu_launch;
typedef struct vgpu_worker vgpu_worker;

typedef enum vgpu_access_kind { VGPU_LOAD, VGPU_STORE, VGPU_ATOMIC } vgpu_access_kind;
typedef enum vgpu_pattern {
    VGPU_ANY_PATTERN,
    VGPU_SAME, /* all active lanes have one address */
    VGPU_UNIT  /* all 32 lanes are active and lie one after the other without gaps */
} vgpu_pattern;

/* How the addresses of a warp's lanes lay to each other when a load or store was last executed by a worker. Nearly always they lie so again, only
 * elsewhere, and then all that was found out about them still holds: the machine's part, the counter's and the checker's. */
typedef struct vgpu_shape {
    _Alignas(
        64) int32_t offset[32]; /* from the lowest active lane's address; absent lanes have that of the lane before, so that loops need no mask */
    uint32_t mask;              /* the active lanes; 0: not executed yet */
    int32_t low, high;          /* least and greatest offset */
    uint32_t bits;              /* all offsets or'ed */
    vgpu_pattern pattern;
    const vgpu_allocation *hit; /* where the access went last */
    /* The counter's: what such an access adds to a row of counters, to the eight words from `to` on, wherever those bits of the lowest address that
     * matter are the same. NULL: not known. */
    uint64_t *to, add[8];
    uint32_t last_bits, that_matter;
    bool known_window; /* the checker's */
} vgpu_shape;

/* One warp-wide memory access; lanes out of bounds or misaligned have been reported and taken out. Told before the data moves. */
typedef struct vgpu_access {
    const vgpu_record *record;
    const vgpu_warp *warp;
    const vgpu_allocation *allocation; /* global memory: the one that all lanes hit, or NULL */
    const uint64_t *address;           /* [32]: global: device addresses; shared, local, const: offsets */
    uint32_t mask;
    int bytes; /* a lane, the whole vector */
    ptx_space space;
    vgpu_access_kind kind;
    vgpu_pattern pattern;
    uint64_t low, high; /* of the active lanes' addresses */
    vgpu_shape *shape;  /* or NULL */
    const uint64_t *to; /* [32]: for the counts of a cp.async past the first-level cache, where in shared memory it goes; else NULL */
} vgpu_access;

typedef struct vgpu_issue {
    uint64_t full; /* by all 32 lanes, guard and all: the common case, and not in the others */
    uint64_t warps, lanes, on, partial;
    uint64_t eighths;            /* of these: groups of eight lanes of which one is there, which share sectors of local memory */
    uint64_t uniform, divergent; /* branches: all active lanes went one way, or two */
} vgpu_issue;

/* The same of stretches without guard or branch, which are counted once: at their first record what is added from there on, at the one behind their
 * last what is taken off again. */
typedef struct vgpu_stretch {
    uint64_t full, warps, lanes, partial, eighths;
} vgpu_stretch;

/* What a warp does at a barrier that is for so many threads, and not for all of the block. */
typedef enum vgpu_meeting {
    VGPU_COMES,
    VGPU_GOES_ON, /* having waited */
    VGPU_OVER     /* all have come and gone on; no warp's */
} vgpu_meeting;

typedef struct vgpu_observer {
    /* Bytes of one worker's state, zeroed before start(). The others may be NULL. */
    size_t (*state_bytes)(const vgpu_launch *launch);
    tess_status (*start)(void *state, const vgpu_launch *launch);
    void (*block)(void *state, const vgpu_worker *worker); /* a block begins */
    void (*access)(void *state, const vgpu_access *access);
    void (*warp_sync)(void *state, const vgpu_warp *warp, uint32_t lanes);
    void (*barrier)(void *state, const vgpu_worker *worker); /* all threads of the block have met */
    void (*meet)(void *state, const vgpu_warp *warp, uint32_t lanes, int barrier, vgpu_meeting what);
    void (*end)(void *state, const vgpu_launch *launch);
    bool one_state; /* it does not matter whose block an event belongs to */
} vgpu_observer;

enum { VGPU_MAX_OBSERVERS = 4 };

extern const vgpu_observer tess_vgpu_race_observer, tess_vgpu_sample_observer; /* select.c has those that are built per instruction set */

#endif

/* SPDX-License-Identifier: Apache-2.0
 * machine.h - the machine's inside: memory, launches, workers, blocks, warps.
 *
 * A launch's blocks are handed to workers (host threads); a worker runs one block at a time, its warps in turn on that thread, so shared memory needs
 * no locks. A warp is 32 lanes that share a register file [slot][lane] and are split into groups by divergence (exec_warp.c). */
#ifndef TESS_VGPU_MACHINE_H
#define TESS_VGPU_MACHINE_H

#include "vgpu/observe.h"
#include "vgpu/vgpu.h"

/* Generic addresses: windows of 4 GiB for what is not global. No allocation begins below VGPU_GLOBAL_BASE, and the first 2 GiB have bit 31 set, as half of a card's addresses
 * do: kernels that take the lower word for an int are found out. */
#define VGPU_SHARED_WINDOW 0x00007e0000000000u
#define VGPU_LOCAL_WINDOW 0x00007d0000000000u
#define VGPU_CONST_WINDOW 0x00007c0000000000u
#define VGPU_PARAM_WINDOW 0x00007b0000000000u
#define VGPU_CODE_WINDOW 0x00007a0000000000u /* functions, 16 bytes each */
#define VGPU_WINDOW_SIZE 0x100000000u
#define VGPU_GLOBAL_BASE 0x00007f0080000000u

struct vgpu_allocation {
    uint64_t address;
    int64_t size;
    char *host;
    unsigned char *defined; /* one byte a byte: written since allocation. Relaxed atomic accesses only */
    const char *name;       /* of a module's variable or of the machine's own, or NULL */
    int name_length;
};

/* A byte of `defined` for which there is no block of the heap. */
enum { VGPU_NO_BLOCK = 0x80, VGPU_HEAP_BYTES = 8 << 20 };

typedef struct vgpu_heap_block {
    uint64_t address, bytes, room;
    uint32_t block[3], thread; /* who asked for it, and where */
    int line;
    bool freed;
    uint64_t block_number;
    const struct vgpu_record *record;
    const struct tess_vgpu_run *run; /* the launch that asked for it */
} vgpu_heap_block;
typedef struct vgpu_heap {
    pthread_mutex_t lock;
    uint64_t address, used; /* 0: not made */
    vgpu_heap_block *block;
    int count, room;
} vgpu_heap;

struct tess_vgpu_machine {
    tess_context *context;
    vgpu_allocation *allocations; /* by address */
    int count, room;
    uint64_t next_address;
    vgpu_heap heap;
    bool copies_unset;       /* its PTX is not optimised and copies elements that nothing has written, without using them: no fault in local memory */
    uint64_t grid_workspace; /* what cooperative groups find through %envreg1 and 2; 0: not made */
};

/* The allocation that `bytes` bytes at address lie in, or NULL. */
const vgpu_allocation *tess_vgpu_allocation_of(const tess_vgpu_machine *machine, uint64_t address, int64_t bytes);
const vgpu_allocation *tess_vgpu_nearest(const tess_vgpu_machine *machine, uint64_t address); /* for messages; NULL when there is none */
tess_status tess_vgpu_reserve(tess_vgpu_machine *machine, int64_t bytes, int64_t align, const char *name, int length, uint64_t *address);

typedef enum vgpu_group_state { VGPU_RUNNABLE, VGPU_AT_BARRIER, VGPU_AT_CONVERGE } vgpu_group_state;

/* One activation of a function by some lanes of a warp. */
typedef struct vgpu_frame {
    struct vgpu_frame *parent;
    const ptx_function *function;
    char *file;         /* registers */
    int64_t base;       /* of its part of every lane's stack */
    uint32_t lanes;     /* not yet returned */
    uint32_t return_to; /* record after the call */
    uint32_t site;
    int depth;
} vgpu_frame;

typedef struct vgpu_group {
    vgpu_frame *frame;
    uint32_t pc, mask, need; /* need: lanes that it waits for */
    vgpu_group_state state;
    int barrier;
    uint64_t since; /* when it was put aside */
} vgpu_group;

struct vgpu_warp {
    char *file; /* registers of the current frame */
    int64_t base;
    char *stack; /* 32 lanes of stack_bytes */
    uint32_t pc, mask, limit;
    vgpu_frame *frame;
    vgpu_worker *worker;
    const vgpu_launch *launch;
    uint32_t exists, live;
    uint32_t carry; /* lanes whose condition code has the carry set */
    int number, group_count;
    int64_t budget;
    uint64_t steps, turns;
    int spins;
    bool polled; /* an atomic or volatile access since spins was counted: only such loops can wait for other lanes */
    bool forced; /* missing lanes have been reported: go on without them */
    vgpu_frame entry;
    vgpu_group group[32];
};

enum { VGPU_BARRIERS = 16 };
typedef struct vgpu_barrier {
    int64_t arrived, expected; /* expected 0: all threads */
    uint32_t count, all, any;  /* of the predicates of bar.red */
    bool ended_early;
} vgpu_barrier;

typedef struct vgpu_printed_part {
    uint64_t block;
    size_t start, length;
} vgpu_printed_part;
typedef struct vgpu_printed {
    char *text;
    size_t size, room;
    vgpu_printed_part *part; /* a block each */
    int count, parts_room;
    bool cut;
} vgpu_printed;

struct vgpu_worker {
    const vgpu_launch *launch;
    int number;
    uint64_t block_number;
    uint32_t block[3];
    char *shared;
    vgpu_warp *warps;
    char *files;              /* the warps' register files, then their stacks */
    vgpu_frame **free_frames; /* by function number, linked through parent */
    int64_t live_threads;
    vgpu_barrier barrier[VGPU_BARRIERS];
    uint32_t awaited;        /* barriers that somebody has come to, a bit each */
    vgpu_issue *issues;      /* by record */
    vgpu_stretch *stretches; /* by record */
    void *state[VGPU_MAX_OBSERVERS];
    vgpu_printed printed;
    uint64_t random;    /* state of the shuffling */
    vgpu_shape *shapes; /* of the records that have a number for one */
    const vgpu_allocation *last_hit;
    bool stop;
    tess_status status;
    uint64_t clock;
};

/* The warp loop of an instruction set: runs the warp until it ends, blocks or has used its budget; whether it did anything. */
typedef bool (*vgpu_warp_runner)(vgpu_warp *warp);

struct vgpu_launch {
    tess_vgpu_machine *machine;
    const tess_vgpu_module *module;
    const ptx_function *kernel;
    tess_vgpu_launch_options options;
    uint32_t grid[3], block[3];
    int64_t blocks, threads, warps;
    vgpu_warp_runner run_warp;
    int64_t shared_bytes, dynamic_base, stack_bytes;
    char *params;
    const vgpu_observer *observer[VGPU_MAX_OBSERVERS];
    int observers;
    int sampled_arrays; /* how many of the machine's allocations the sample observer follows, and their sectors */
    int64_t sampled_sectors;
    vgpu_worker *workers;
    int worker_count;
    bool cooperative; /* blocks may wait for each other: each has a worker of its own, and they take turns on one thread */
    int quantum;      /* backward branches that a warp may take before the next one's turn */
    tess_vgpu_run *run;
    _Atomic bool stop;
};

typedef struct vgpu_fault_node {
    tess_vgpu_fault fault;
    uint64_t order_block;
    uint32_t order_thread, pc;
    struct vgpu_fault_node *next;
} vgpu_fault_node;

typedef struct vgpu_kept_sample {
    tess_vgpu_sample sample;
    uint64_t block_number;
} vgpu_kept_sample;

struct tess_vgpu_run {
    const tess_vgpu_module *module;
    tess_context *context;
    pthread_mutex_t lock;
    vgpu_fault_node *faults;
    const tess_vgpu_fault **sorted;
    int fault_count;
    tess_vgpu_counters *counters; /* by record */
    tess_vgpu_counters *audited;  /* the same as the machine code does it, of the records that it changes; NULL without an audit */
    vgpu_kept_sample *samples;    /* by record; NULL unless asked for */
    tess_vgpu_footprint footprint;
    uint32_t *active; /* records that did something */
    int active_count;
    char *printed;
    size_t printed_size, printed_room;
    bool printed_cut;
};

/* Reports a fault of one lane. The sentence says what happened; where it happened is added. other: record of an earlier access, or NULL. */
void tess_vgpu_fault_report(const vgpu_warp *warp, const vgpu_record *record, int lane, tess_vgpu_fault_kind kind, uint64_t address,
                            const vgpu_record *other, const char *format, ...) TESS_PRINTF(7, 8);
void tess_vgpu_sample_begin(vgpu_launch *launch);
void tess_vgpu_leaks_report(const vgpu_launch *launch); /* what device code did not free */
tess_status tess_vgpu_faults_sort(tess_vgpu_run *run);
/* obs_count.c, when all is run: adds what the machine code does beyond the PTX to the audited counters. */
void tess_vgpu_add_others(vgpu_launch *launch);

TESS_INLINE uint64_t vgpu_code_at(int number) { return VGPU_CODE_WINDOW + 16 * (uint64_t)number; }

/* A handler table: rows by operation, types, first mode and the flags that matter. */
typedef struct vgpu_handler_row {
    uint8_t op, type, type2, mode;
    uint32_t flags;
    vgpu_handler run;
} vgpu_handler_row;
typedef struct vgpu_handler_table {
    const vgpu_handler_row *rows;
    int count;
} vgpu_handler_table;
/* Whether a block keeps what the kernel says of its size: .maxntid as a product, .reqntid side by side, as an H200's driver looks at them. */
tess_status tess_vgpu_check_block(const ptx_function *kernel, const uint32_t block[3]);
tess_status tess_vgpu_launch_kernel(tess_vgpu_module *module, const ptx_function *kernel, const tess_vgpu_launch_options *options,
                                    tess_vgpu_run **run);
/* block.c. step: gives every warp a turn; false when the block is over. */
void tess_vgpu_block_begin(vgpu_worker *worker, uint64_t number);
bool tess_vgpu_block_step(vgpu_worker *worker);
void tess_vgpu_block_end(vgpu_worker *worker);
bool tess_vgpu_uses_grid(const ptx_function *kernel);
/* The lanes of `on` that call the same function as the lowest of them, and that function; 0 after a fault. */
uint32_t tess_vgpu_callee(const vgpu_warp *warp, const vgpu_record *record, uint32_t on, const ptx_function **callee);
void tess_vgpu_frame_constants(const ptx_function *function, char *file);
/* All special registers; those that differ from block to block are filled again as each begins. */
void tess_vgpu_fill_specials(const vgpu_warp *warp, vgpu_frame *frame);
vgpu_frame *tess_vgpu_frame_get(vgpu_worker *worker, const ptx_function *function);
void tess_vgpu_frame_put(vgpu_worker *worker, vgpu_frame *frame);
/* barrier.c. The lanes of `on` come to the barrier that the record names: its number. check: barriers that all have come to, or all that are left, let go. */
int tess_vgpu_arrive(vgpu_warp *warp, const vgpu_record *record, uint32_t on);
void tess_vgpu_check_barriers(vgpu_worker *worker);

/* Lane l's coordinates. */
TESS_INLINE uint32_t vgpu_thread_number(const vgpu_warp *warp, int lane) { return (uint32_t)(warp->number * 32 + lane); }

#endif

/* SPDX-License-Identifier: Apache-2.0
 * vgpu.h - the virtual GPU from outside: memory, modules from PTX text, launches, what was counted and what was found wrong.
 *
 *     tess_vgpu_open(&gpu, context);                      tess_vgpu_load(gpu, ptx_text, &module);
 *     tess_vgpu_malloc(gpu, bytes, &address);             tess_vgpu_copy_in(gpu, address, from, bytes);
 *     tess_vgpu_launch(module, "kernel", &launch, &run);  tess_vgpu_copy_out(gpu, to, address, bytes);
 *
 * Device addresses are numbers of the machine's own, the same in every process, so that counts repeat. One launch at a time on a machine. */
#ifndef TESS_VGPU_VGPU_H
#define TESS_VGPU_VGPU_H

#include "core/context.h"

typedef struct tess_vgpu_machine tess_vgpu_machine;
typedef struct tess_vgpu_module tess_vgpu_module;
typedef struct tess_vgpu_run tess_vgpu_run;

tess_status tess_vgpu_open(tess_vgpu_machine **machine, tess_context *context);
void tess_vgpu_close(tess_vgpu_machine *machine); /* modules first */

/* Memory. A new allocation's bytes are undefined; fresh addresses are never used again, so a use after free is seen. */
tess_status tess_vgpu_malloc(tess_vgpu_machine *machine, int64_t bytes, uint64_t *address);
tess_status tess_vgpu_free(tess_vgpu_machine *machine, uint64_t address);
tess_status tess_vgpu_copy_in(tess_vgpu_machine *machine, uint64_t to, const void *from, int64_t bytes);
tess_status tess_vgpu_copy_out(tess_vgpu_machine *machine, void *to, uint64_t from, int64_t bytes);
tess_status tess_vgpu_copy_on(tess_vgpu_machine *machine, uint64_t to, uint64_t from, int64_t bytes);
tess_status tess_vgpu_fill(tess_vgpu_machine *machine, uint64_t to, int value, int64_t bytes);

/* What was allocated and not freed, by number from 0 on; false past the last. heap: by device code, which `thread` of `block` at `line` of the source
 * asked for. */
typedef struct tess_vgpu_leak {
    uint64_t address, bytes;
    bool heap;
    uint32_t block[3], thread;
    int line;
} tess_vgpu_leak;
bool tess_vgpu_leak_at(const tess_vgpu_machine *machine, int number, tess_vgpu_leak *leak);

/* Parses, checks and decodes a module. Errors name line, column and word of the PTX. Kernels that need what is not supported are refused one by one:
 * only where none is left the module is. */
tess_status tess_vgpu_load(tess_vgpu_machine *machine, const char *text, tess_vgpu_module **module);
/* TESS_OK, or the sentence that says what a kernel needs that is not there. */
tess_status tess_vgpu_kernel_check(const tess_vgpu_module *module, int kernel);
void tess_vgpu_unload(tess_vgpu_module *module);
/* A .global variable's device address; for .const its address in the window of constant memory, which only kernels can read. */
tess_status tess_vgpu_symbol(tess_vgpu_module *module, const char *name, uint64_t *address, int64_t *bytes);
/* Writes to a variable in global or constant memory. */
tess_status tess_vgpu_symbol_write(tess_vgpu_module *module, const char *name, int64_t offset, const void *from, int64_t bytes);

/* What a module holds: its kernels, numbered from 0 in the order of the text, and their parameters (query.c). False past the last. */
typedef struct tess_vgpu_kernel_info {
    const char *name; /* as the PTX spells it, not terminated */
    int name_length, params;
    int64_t param_bytes, shared_bytes; /* static */
} tess_vgpu_kernel_info;
typedef struct tess_vgpu_param {
    int64_t offset, bytes;
    const char *type;                  /* "u64", "f32", "b8" */
    bool structure, floating, integer; /* none: 32 or 64 bits that may be either */
} tess_vgpu_param;
bool tess_vgpu_kernel_at(const tess_vgpu_module *module, int number, tess_vgpu_kernel_info *info);
bool tess_vgpu_param_at(const tess_vgpu_module *module, int kernel, int number, tess_vgpu_param *param);
/* Whether some instruction reads the parameter at this offset by itself, and as what: the only trace of a structure's members that PTX has. */
bool tess_vgpu_param_read(const tess_vgpu_module *module, int kernel, int number, int64_t offset, int *bytes, bool *floating);

typedef struct tess_vgpu_launch_options {
    uint32_t grid[3], block[3]; /* 0 counts as 1 */
    int64_t shared_bytes;       /* dynamic */
    const void *params;         /* laid out as the kernel's parameters, each at its alignment */
    int64_t param_bytes;
    int threads;         /* host threads; 0 = the context's */
    bool count;          /* requests, sectors, wavefronts, ... by line; instructions are counted always */
    bool check;          /* undefined reads, shared races */
    bool check_global;   /* races in global memory; on one host thread */
    bool check_leaks;    /* what malloc of device code gave and nobody freed when the launch has ended */
    bool sample;         /* one warp's addresses for every instruction, and the footprint in global memory */
    uint64_t step_limit; /* backward branches that a warp may take before the launch is ended with a fault; 0 = no limit */
    uint64_t seed;       /* not 0: warps of a block are taken in an order shuffled by it */
} tess_vgpu_launch_options;

/* Runs the kernel to its end. TESS_OK even when faults were found: they are the result. On another status *run is NULL. */
tess_status tess_vgpu_launch(tess_vgpu_module *module, const char *kernel, const tess_vgpu_launch_options *options, tess_vgpu_run **run);
void tess_vgpu_run_free(tess_vgpu_run *run); /* before its module is unloaded */

/* ---- what was counted: docs/counters.md defines each ---- */

#define TESS_VGPU_COUNTER_LIST(X)                                                                                      \
    X(warp_instructions)         /* issued to a group of lanes of a warp, those whose guard no lane passes included */ \
    X(thread_instructions)       /* lanes in those */                                                                  \
    X(thread_instructions_on)    /* lanes whose guard was true */                                                      \
    X(partial_warp_instructions) /* executed with fewer lanes than the warp has */                                     \
    X(branches_uniform)                                                                                                \
    X(branches_divergent) /* active lanes went two ways */                                                             \
    X(barriers)           /* arrivals of warps */                                                                      \
    X(warp_syncs)                                                                                                      \
    X(global_ld_requests)                                                                                              \
    X(global_ld_sectors)                                                                                               \
    X(global_ld_sectors_ideal)                                                                                         \
    X(global_ld_bytes)    /* distinct bytes asked for */                                                               \
    X(global_ld_tags)     /* 128-byte lines */                                                                         \
    X(global_ld_elements) /* active lanes times elements of the vector */                                              \
    X(global_st_requests)                                                                                              \
    X(global_st_sectors)                                                                                               \
    X(global_st_sectors_ideal)                                                                                         \
    X(global_st_bytes)                                                                                                 \
    X(global_st_tags)                                                                                                  \
    X(global_st_elements)                                                                                              \
    X(bulk_copies) /* cp.async.bulk, which goes past the loads and stores of the lanes */                              \
    X(bulk_bytes)                                                                                                      \
    X(global_atom_requests) /* atomics whose result is used */                                                         \
    X(global_atom_sectors)  /* sent to L2, equal addresses one by one */                                               \
    X(global_atom_passes)                                                                                              \
    X(global_red_requests) /* atomics whose result nobody reads */                                                     \
    X(global_red_sectors)                                                                                              \
    X(global_red_passes)                                                                                               \
    X(shared_ld_requests)                                                                                              \
    X(shared_ld_wavefronts)                                                                                            \
    X(shared_ld_wavefronts_ideal)                                                                                      \
    X(shared_ld_conflicts)                                                                                             \
    X(shared_ld_bytes)                                                                                                 \
    X(shared_st_requests)                                                                                              \
    X(shared_st_wavefronts)                                                                                            \
    X(shared_st_wavefronts_ideal)                                                                                      \
    X(shared_st_conflicts)                                                                                             \
    X(shared_st_bytes)                                                                                                 \
    X(shared_atom_requests)                                                                                            \
    X(shared_atom_wavefronts) /* a lower bound where the hardware loops */                                             \
    X(shared_async_requests)  /* cp.async, whose other side is a global load */                                        \
    X(shared_async_wavefronts)                                                                                         \
    X(constant_loads)                                                                                                  \
    X(constant_requests) /* distinct addresses: loads + replays */                                                     \
    X(local_ld_requests)                                                                                               \
    X(local_ld_sectors)                                                                                                \
    X(local_st_requests)                                                                                               \
    X(local_st_sectors)                                                                                                \
    X(flops_f16) /* and bf16; fma = 2, a pair = twice */                                                               \
    X(flops_f32)                                                                                                       \
    X(flops_f64)                                                                                                       \
    X(approximate) /* lanes of .approx and .full operations and of mma: see docs/counters.md */

typedef struct tess_vgpu_counters {
#define X(name) uint64_t name;
    TESS_VGPU_COUNTER_LIST(X)
#undef X
} tess_vgpu_counters;

void tess_vgpu_total(const tess_vgpu_run *run, tess_vgpu_counters *counters);

/* ---- the audit: what the assembler made of it ---- */

/* What became of an access. docs/counters.md says how each is found and counted. */
typedef enum tess_vgpu_verdict {
    TESS_VGPU_KEPT,         /* as PTX has it; of instructions without an access too */
    TESS_VGPU_MERGED,       /* the first of several that are one wider access */
    TESS_VGPU_PART,         /* another of those: not counted */
    TESS_VGPU_DROPPED,      /* no such access: not counted */
    TESS_VGPU_ONE_LANE,     /* an atomic that one lane does for all that agree */
    TESS_VGPU_PLAIN_ATOMIC, /* one that adds 1 without the instruction that is made for it */
    TESS_VGPU_COPIES,       /* unrolled where lanes part: they may meet in other groups than here */
    TESS_VGPU_SPILLS,       /* registers are kept in local memory here: counted as often as their piece of machine code runs */
    TESS_VGPU_DIFFERS       /* not as PTX has it, by no rule that is known: counted as PTX has it */
} tess_vgpu_verdict;
const char *tess_vgpu_verdict_name(tess_vgpu_verdict verdict);

/* Compares the module with a cubin for sm_90 that was made of its PTX with line information. Launches from then on are counted both ways. */
tess_status tess_vgpu_audit_cubin(tess_vgpu_module *module, const void *cubin, size_t size);
/* Totals with accesses and branches as the machine code does them; instructions and flops are PTX's. False: there was no audit. */
bool tess_vgpu_total_audited(const tess_vgpu_run *run, tess_vgpu_counters *counters);

/* One line of PTX that did something, in the order of the text; NULL past the last. */
typedef struct tess_vgpu_line {
    int ptx_line, source_line;
    const char *file; /* not terminated */
    int file_length;
    const char *ptx; /* the opcode, not terminated */
    int ptx_length;
    tess_vgpu_counters counters, audited; /* the same without an audit */
    tess_vgpu_verdict verdict;
} tess_vgpu_line;
bool tess_vgpu_line_at(const tess_vgpu_run *run, int number, tess_vgpu_line *line);
/* The worst of the accesses of that line that were looked at closely: launched with sample, and a line that accesses memory; else false. */
typedef struct tess_vgpu_sample {
    int cost;  /* global: sectors; shared: words wanted of one bank; constant: addresses */
    int bytes; /* a lane */
    uint32_t mask, block[3];
    int warp;
    bool store, atomic;
    const char *space;
    uint64_t address[32]; /* shared, local, constant: offsets */
} tess_vgpu_sample;
bool tess_vgpu_sample_at(const tess_vgpu_run *run, int number, tess_vgpu_sample *sample);
/* Sectors of global memory that the launch read and wrote at all, and the sum over its blocks of those that each read. */
typedef struct tess_vgpu_footprint {
    bool known; /* false beyond 4 GiB of arrays, or launched without sample */
    uint64_t read_sectors, written_sectors, block_read_sectors;
} tess_vgpu_footprint;
void tess_vgpu_footprint_of(const tess_vgpu_run *run, tess_vgpu_footprint *footprint);
/* Sums over the PTX lines that belong to one source line. */
void tess_vgpu_source_line(const tess_vgpu_run *run, int source_line, tess_vgpu_counters *counters);

/* What printf wrote, in the order of the blocks; terminated. cut (may be NULL): it was more than the 1 MiB that are kept. */
const char *tess_vgpu_printed(const tess_vgpu_run *run, size_t *length, bool *cut);

/* Floating-point operations for each byte that global memory moves (32 a sector), and for each element that a lane loads or stores there, as
 * textbooks count it. 0 when nothing is moved. */
double tess_vgpu_intensity(const tess_vgpu_counters *counters);
double tess_vgpu_flops_per_access(const tess_vgpu_counters *counters);

/* ---- what was found wrong ---- */

typedef enum tess_vgpu_fault_kind {
    TESS_VGPU_OUT_OF_BOUNDS,
    TESS_VGPU_MISALIGNED,
    TESS_VGPU_UNDEFINED, /* read before anything was written */
    TESS_VGPU_RACE,
    TESS_VGPU_WARP_RACE,     /* between lanes of one warp: the old warp-synchronous style */
    TESS_VGPU_BARRIER,       /* not all threads come to it */
    TESS_VGPU_MISSING_LANES, /* a .sync operation names lanes that do not come */
    TESS_VGPU_DEADLOCK,
    TESS_VGPU_STEP_LIMIT,
    TESS_VGPU_STACK,
    TESS_VGPU_TRAP,
    TESS_VGPU_ASSERT,
    TESS_VGPU_BAD_FREE, /* of device code: twice, or of what malloc did not give */
    TESS_VGPU_GLOBAL_RACE,
    TESS_VGPU_LEAK /* of device code, where check_leaks asks for it */
} tess_vgpu_fault_kind;

typedef struct tess_vgpu_fault {
    tess_vgpu_fault_kind kind;
    uint64_t count; /* how many lanes tripped it on this line in the whole launch; the rest describes the first by block and thread */
    uint32_t block[3], thread[3];
    int ptx_line, source_line, other_line; /* source line of the earlier access in a race; 0 = none */
    const char *file;
    int file_length;
    uint64_t address;
    const char *space; /* "global", "shared", "local", "constant", "parameter"; NULL: no access to memory */
    char message[400]; /* one sentence with all of the above */
} tess_vgpu_fault;

int tess_vgpu_fault_count(const tess_vgpu_run *run);
const tess_vgpu_fault *tess_vgpu_fault_at(const tess_vgpu_run *run, int number); /* ordered by block, thread, line */
const char *tess_vgpu_fault_name(tess_vgpu_fault_kind kind);

/* ---- the door: the machine as a driver (src/gpu/driver.def) ---- */

/* The table of functions, the same for all contexts, and the context's own machine behind it. To be opened at once, by the thread that asked:
 * cuDeviceGet gives the device of the door that its thread asked for last. There is one device, which has the facts of an H200; it runs PTX only.
 * A launch that faults fails with the fault as the text of its error; the context stays usable. */
struct tess_driver;
tess_status tess_vgpu_driver(tess_context *context, const struct tess_driver **table);

/* A launch through the door, when it has ended: for ladder, reports and tests. Nothing of it stays valid after the call. */
typedef struct tess_vgpu_launch_record {
    const char *kernel; /* not terminated */
    int kernel_length;
    uint32_t grid[3], block[3];
    int64_t shared_bytes, static_shared; /* dynamic, and the kernel's own */
    double seconds;                      /* that it took here */
    const tess_vgpu_run *run;
} tess_vgpu_launch_record;

typedef struct tess_vgpu_watch_options {
    bool count, no_check;                                                /* zeros: not counted, checked */
    bool sample;                                                         /* as in a launch's options */
    uint64_t seed;                                                       /* not 0: the order of warps is shuffled */
    uint64_t step_limit;                                                 /* as in a launch's options */
    void (*launched)(void *user, const tess_vgpu_launch_record *record); /* NULL = nobody listens. May not call the driver */
    void *user;
} tess_vgpu_watch_options;
/* How launches through the context's door are run and who hears of them. Not while one runs. */
tess_status tess_vgpu_watch(tess_context *context, const tess_vgpu_watch_options *options);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * row.h - what a GPU row of a strategy table is: kernel text, and functions that lay out a problem's launches and predict their counts.
 *
 * A row's `lay_out` fills a tess_gpu_layout: one or more units (a kernel text compiled with some -D), the launches in order, their arguments, and the
 * workspace they share. It is called when a plan is made and knows no pointer: arguments name operands, the engine puts the addresses in.
 *
 *     static void lay_out(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
 *         tess_gpu_unit(layout, &tess_gpu_text_of(transpose_gpu_tile));
 *         tess_gpu_option(layout, "-DSIZE=%d", 4);
 *         tess_gpu_step *step = tess_gpu_launch_of(layout, "tile", grid, block, shared);
 *         tess_gpu_pass_pointer(step, TESS_GPU_IN, first_byte);
 *         tess_gpu_pass(layout, step, &problem->rows, sizeof problem->rows);
 *     }
 */
#ifndef TESS_GPU_ROW_H
#define TESS_GPU_ROW_H

#include "core/strategy.h"
#include "gpu/gpu.h"

enum { TESS_GPU_UNITS = 12, TESS_GPU_STEPS = 12, TESS_GPU_ARGUMENTS = 24, TESS_GPU_OPTIONS = 36, TESS_GPU_PIECES = 12, TESS_GPU_ARENA = 24576 };

typedef enum tess_gpu_place {
    TESS_GPU_VALUE, /* bytes of the layout */
    TESS_GPU_IN,
    TESS_GPU_SECOND,
    TESS_GPU_OUT,
    TESS_GPU_WORKSPACE,
    TESS_GPU_DATA,   /* what tess_gpu_data gave, on the device */
    TESS_GPU_TICKET, /* a 32-bit counter that is 0, and is to be left 0 */
    TESS_GPU_MARK,   /* the 16 bytes that tess_gpu_want_mark promises */
    TESS_GPU_TURN    /* a 64-bit number: which of the layout's turns it is, from 0 */
} tess_gpu_place;

typedef struct tess_gpu_argument {
    tess_gpu_place place;
    int at, size;   /* VALUE: where in the arena */
    int64_t offset; /* else: bytes beyond the operand's first element */
} tess_gpu_argument;

typedef struct tess_gpu_step {
    int unit;
    const char *entry;
    tess_gpu_grid grid;
    tess_gpu_argument argument[TESS_GPU_ARGUMENTS];
    int arguments;
    const char *variable; /* NULL = none: see tess_gpu_fill_constant */
    tess_gpu_argument content;
    bool folds, folded; /* see tess_gpu_launch_folding */
} tess_gpu_step;

typedef struct tess_gpu_layout {
    struct {
        const tess_gpu_text *text;
        const tess_gpu_text *const *headers; /* what it may include, where that is another row's kernel; NULL: as the row says */
        const char *option[TESS_GPU_OPTIONS];
        int options;
    } unit[TESS_GPU_UNITS];
    tess_gpu_step step[TESS_GPU_STEPS];
    int units, steps;
    int64_t turns;     /* how often all steps run, one after another, on shares of a problem that is too large for the workspace; 0 = once */
    int64_t alignment; /* that the operands' first elements must have; 0 = none. A plan keeps a second row for those that have not */
    int64_t workspace; /* bytes in all */
    int64_t zeroed;    /* the first so many are 0 when the first launch begins */
    struct {
        const void *content;
        size_t size;
        int64_t at;
    } piece[TESS_GPU_PIECES]; /* copied to the device when the plan is made */
    int pieces;
    int64_t data_size;
    struct {
        int unit;
        const char *variable;
        const void *content;
        size_t size;
    } constant[TESS_GPU_UNITS];
    int constants;
    bool ticket;         /* one is wanted, by one of the launches */
    int64_t ticket_room; /* where in the workspace it is put when there is no other */
    int64_t result;      /* the first so many bytes of the workspace are read back for `finish`, which makes the call wait for the stream */
    bool mark;           /* the result is a mark */
    size_t used;
    bool full;                  /* something did not fit: the plan fails */
    char arena[TESS_GPU_ARENA]; /* last: the first `used` bytes mean something */
} tess_gpu_layout;

/* What unit number u of a layout of the row's may include. */
TESS_INLINE const tess_gpu_text *const *tess_gpu_unit_headers(const tess_gpu_layout *layout, int u, const tess_gpu_text *const *of_row) {
    return layout->unit[u].headers ? layout->unit[u].headers : of_row;
}
/* Begins a unit; options and launches after it belong to it. */
void tess_gpu_unit(tess_gpu_layout *layout, const tess_gpu_text *text);
void tess_gpu_option(tess_gpu_layout *layout, const char *format, ...) TESS_PRINTF(2, 3);
/* entry: a string that outlives the plan. A grid with a 0 launches nothing. */
tess_gpu_step *tess_gpu_launch_of(tess_gpu_layout *layout, const char *entry, int64_t grid_x, int64_t grid_y, int64_t grid_z, int block,
                                  int64_t shared);
/* The same for a kernel that asks block_place() of gpu/types.cuh where its blocks lie, the only one of its unit: with more blocks along y or z than the device takes they are
 * launched as one line (tess_gpu_fold). */
tess_gpu_step *tess_gpu_launch_folding(tess_gpu_layout *layout, const char *entry, int64_t grid_x, int64_t grid_y, int64_t grid_z, int block,
                                       int64_t shared);
/* Folds what does not fit most[1] blocks along y and most[2] along z; and what is folded in another layout of the same row, whose kernels this one is to have. */
void tess_gpu_fold(tess_gpu_layout *layout, const int most[3]);
void tess_gpu_fold_alike(tess_gpu_layout *layout, const tess_gpu_layout *other);
void tess_gpu_pass_pointer(tess_gpu_layout *layout, tess_gpu_step *step, tess_gpu_place place, int64_t offset);
void tess_gpu_pass_ticket(tess_gpu_layout *layout, tess_gpu_step *step);                          /* at most one a layout */
void tess_gpu_pass_turn(tess_gpu_layout *layout, tess_gpu_step *step);                            /* an i64 */
void tess_gpu_pass(tess_gpu_layout *layout, tess_gpu_step *step, const void *value, size_t size); /* at most 16-byte alignment */
void tess_gpu_pass_i64(tess_gpu_layout *layout, tess_gpu_step *step, int64_t value);
void tess_gpu_pass_i32(tess_gpu_layout *layout, tess_gpu_step *step, int32_t value);
/* Room for size bytes, of which the first `zero` bytes of the whole workspace may be zeroed; returns its offset, a multiple of 256. */
int64_t tess_gpu_reserve(tess_gpu_layout *layout, int64_t size);
/* size bytes of an operand, copied before each launch of the step to an extern "C" __constant__ variable of its unit. Executions on several streams take
 * turns then, and cannot be captured into a graph. */
void tess_gpu_fill_constant(tess_gpu_step *step, const char *variable, tess_gpu_place place, int64_t offset, int64_t size);
/* Kernels note what they find in a mark, of which `finish` is given the first 8 bytes: a word that is 0 when the first launch begins, and behind it the
 * address of a flag of 32 bits, or 0. Who changes the word from 0 sets the flag, which lies in the host's memory: nothing is read back where nothing was found.
 * To be called before anything else is reserved; the mark has its place in the workspace for executions that are given no other. */
void tess_gpu_want_mark(tess_gpu_layout *layout);
/* Content of the problem's (weights, offsets) that the plan keeps on the device; returns its offset for TESS_GPU_DATA, a multiple of 256. It is copied when the plan is made, so it has
 * to last as long as the problem does. */
int64_t tess_gpu_data(tess_gpu_layout *layout, const void *content, size_t size);
/* Content of the problem's for an extern "C" __constant__ variable of the current unit, filled when the plan is made. A module is shared by all plans
 * whose kernels have the same text and options: the content's hash becomes one of them, so that no two plans want different values of one variable. */
void tess_gpu_constant_data(tess_gpu_layout *layout, const char *variable, const void *content, size_t size);

/* What a row expects to be counted over all of its launches. A negative number: not predicted. docs/counters.md defines the words. */
#define TESS_GPU_PREDICTION_LIST(X) \
    X(global_ld_requests)           \
    X(global_ld_sectors)            \
    X(global_st_requests)           \
    X(global_st_sectors)            \
    X(shared_ld_requests)           \
    X(shared_ld_wavefronts)         \
    X(shared_ld_conflicts)          \
    X(shared_st_requests)           \
    X(shared_st_wavefronts)         \
    X(shared_st_conflicts)          \
    X(constant_requests)            \
    X(barriers)                     \
    X(flops)
typedef struct tess_gpu_prediction {
#define X(name) double name;
    TESS_GPU_PREDICTION_LIST(X)
#undef X
    const tess_gpu_device *device; /* set by the caller: whose launches are meant, for rows with as many blocks as the device holds; NULL = an H200 */
} tess_gpu_prediction;
tess_gpu_prediction tess_gpu_no_prediction(void); /* all -1 */

/* predict.c: sectors of `runs` requests' rows of `bytes` bytes, the first at byte `first` (modulo 32), `step` bytes apart. */
double tess_gpu_run_sectors(int64_t runs, int64_t first, int64_t step, int64_t bytes);
/* One access of a warp to shared memory: a byte address for each of 32 lanes, -1 where it is not active; width 1 to 16 bytes. */
typedef struct tess_gpu_shared_cost {
    double requests, wavefronts, conflicts;
} tess_gpu_shared_cost;
void tess_gpu_shared_request(tess_gpu_shared_cost *cost, const int32_t *address, int width, bool store);
/* Where formulas place element 0 of an array, in elements or bytes: so far on that all addresses are positive. */
#define TESS_GPU_ORIGIN ((int64_t)1 << 40)
/* Formulas that walk requests: all counts 0; and `times` accesses of a warp alike, with a byte address for each of 32 lanes, negative where it is not active. A copy is
 * cp.async of 16 bytes past the first-level cache, both sides. */
void tess_gpu_count_from_zero(tess_gpu_prediction *sum);
void tess_gpu_count_global(tess_gpu_prediction *sum, double times, const int64_t *address, int64_t width, bool store);
void tess_gpu_count_shared(tess_gpu_prediction *sum, double times, const int64_t *address, int64_t width, bool store);
void tess_gpu_count_copies(tess_gpu_prediction *sum, double times, const int64_t *from, const int64_t *to);
/* Of n things in a row, those that count alike once: the first `head` and the last `tail` are each for themselves, the others repeat after `period`.
 *
 *     for (tess_gpu_kind tile = {0}; tess_gpu_next_kind(&tile, tiles, 1, 1, 4);)
 *         walk(tile.at, tile.times);
 */
typedef struct tess_gpu_kind {
    int64_t at, next; /* its number; internal */
    double times;     /* how many are like it */
} tess_gpu_kind;
bool tess_gpu_next_kind(tess_gpu_kind *kind, int64_t n, int64_t head, int64_t tail, int64_t period);
/* The compiler takes some turns of a loop at a time, and those left over singly, before or behind: lanes go together as long as they are in the same of these two loops.
 * Turn number j of one of them, of a thread that makes `turns`; -1: it makes fewer. */
int64_t tess_gpu_turn_of(int64_t turns, int64_t at_a_time, bool before, bool left, int64_t j);

/* With which a row's `finish` reads what it wants to name: `size` bytes of an operand, `offset` bytes beyond its first element. */
typedef struct tess_gpu_peek tess_gpu_peek;
tess_status tess_gpu_read(const tess_gpu_peek *peek, tess_gpu_place place, int64_t offset, void *to, size_t size);

typedef struct tess_gpu_row {
    const tess_gpu_text *const *headers; /* NULL-terminated; what its texts may include. NULL = none */
    int rung;                            /* place in the operation's ladder, 1 for the naive kernel; 0: not a rung */
    bool production;                     /* chosen by the planner; the others run by name only (their `sensible` says so too) */
    bool inexact;                        /* its bits need not be the CPU's: it is not asked for known answers (answer.c) */
    int least_arch;                      /* 80: the first compute capability that has what the kernel uses */
    void (*lay_out)(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout);
    void (*predict)(const tess_problem *problem, tess_gpu_prediction *prediction); /* NULL = nothing is predicted */
    /* After an execution with layout->result. */
    tess_status (*finish)(const tess_problem *problem, const void *result, const tess_gpu_peek *peek);
} tess_gpu_row;

/* ---- plan.c, execute.c: the hooks of core/engine.h ---- */

typedef struct tess_gpu_pointers {
    CUdeviceptr in, second, out, workspace, ticket, mark; /* ticket, mark 0: in the workspace */
} tess_gpu_pointers;

/* replay.c: by what executions are alike; the last one, how many in a row were like it, and the graph. */
typedef struct tess_gpu_alike {
    tess_gpu_pointers pointers;
    unsigned long long stream; /* its number */
} tess_gpu_alike;
typedef struct tess_gpu_replay {
    _Atomic bool busy;
    bool never;
    int alike, recordings;
    tess_gpu_alike last, recorded;
    CUgraphExec graph; /* of executions like `recorded` */
} tess_gpu_replay;

typedef struct tess_gpu_plan {
    tess_gpu *gpu;
    tess_gpu_device *device;
    const tess_strategy *row;
    struct tess_gpu_plan *other; /* for operands that lack the row's alignment; NULL when it asks for none */
    tess_gpu_kernel kernel[TESS_GPU_STEPS];
    unsigned long long context_id; /* of the CUDA context that the kernels and data live in */
    CUdeviceptr data;
    bool host; /* the caller's arrays are in host memory: copied in and out */
    tess_gpu_replay replay;
    tess_gpu_layout layout; /* last: its arena is */
} tess_gpu_plan;

tess_status tess_gpu_plan_open(tess_plan *plan);
tess_status tess_gpu_plan_prepare(tess_plan *plan, const tess_call *call);
void tess_gpu_plan_release(tess_plan *plan);
tess_gpu_prediction tess_gpu_plan_predict(const tess_plan *plan); /* by the row's formulas; all -1 where it has none, or nothing to do */
void tess_gpu_plan_explain(const tess_plan *plan, tess_format format, tess_text *text);
void tess_gpu_plan_name(const tess_plan *plan, char *text, size_t size);
tess_status tess_gpu_plan_place(const tess_plan *plan, tess_wisdom_place *place);
tess_status tess_gpu_execute(const tess_plan *plan, const void *in, const void *second, void *out, const tess_call *call, double *seconds);

/* The row's layout for the plan's problem; then its kernels and data, in the scope's CUDA context. Freed like plan->prepared. */
tess_status tess_gpu_plan_make(tess_gpu_plan **made, const tess_plan *plan, const tess_strategy *row);
tess_status tess_gpu_plan_load(const tess_gpu_scope *scope, tess_gpu_plan *made, CUstream stream);
/* answer.c: whether kernels that come fresh from a compiler compute what the CPU does: the row in *wrong, with TESS_ERR_ENGINE, when they do not. */
tess_status tess_gpu_ask(const tess_gpu_scope *scope, const tess_plan *plan, const tess_gpu_plan *made, CUstream stream, const tess_strategy **wrong);

/* measure.c */
tess_status tess_gpu_time(const tess_plan *plan, const void *in, const void *second, void *out, double seconds, double *median);
tess_status tess_gpu_limits(tess_context *context, double seconds, tess_limits *limits);

/* execute.c: the launches of a plan on device pointers, workspace ready. */
tess_status tess_gpu_run_steps(const tess_gpu_scope *scope, const tess_gpu_plan *plan, const tess_gpu_pointers *pointers, CUstream stream);
/* The same, as a graph where executions are alike. */
tess_status tess_gpu_run_again(const tess_gpu_scope *scope, const tess_plan *plan, const tess_gpu_plan *made, const tess_gpu_pointers *pointers,
                               CUstream stream);
void tess_gpu_replay_free(const tess_gpu_scope *scope, tess_gpu_plan *made);
/* The row's verdict on what its kernels left at the workspace's start; waits for the stream when there is a result. */
tess_status tess_gpu_finish(const tess_gpu_scope *scope, const tess_plan *plan, const tess_gpu_plan *made, const tess_gpu_pointers *pointers,
                            CUstream stream);
/* The same on a result that was read already, for a problem that may be a part of another. */
tess_status tess_gpu_verdict(const tess_gpu_scope *scope, const tess_problem *problem, const tess_gpu_plan *made, const tess_gpu_pointers *pointers,
                             const char *result, CUstream stream);
/* The row that the operands' addresses allow. */
tess_status tess_gpu_aligned_plan(const tess_gpu_plan **chosen, const tess_plan *plan, const tess_gpu_pointers *pointers);
/* Device memory for one execution, in the stream's order where the device has such memory. size 0: 0. */
tess_status tess_gpu_scratch(const tess_gpu_scope *scope, CUdeviceptr *memory, size_t size, CUstream stream, tess_gpu_use use, bool *ordered);
void tess_gpu_scratch_free(const tess_gpu_scope *scope, CUdeviceptr memory, CUstream stream, bool ordered);
/* host.c: the same for arrays in host memory. */
tess_status tess_gpu_execute_host(const tess_gpu_scope *scope, const tess_plan *plan, const void *in, const void *second, void *out, CUstream stream);

/* host.c: an operand's memory, from its lowest byte to its highest, on the device. */
typedef struct tess_gpu_twin {
    const tess_array *array; /* NULL: none */
    int64_t low, bytes;
    CUdeviceptr memory;
    bool ordered;
} tess_gpu_twin;
tess_status tess_gpu_twin_make(const tess_gpu_scope *scope, tess_gpu_twin *twin, const tess_array *array, CUstream stream);
tess_status tess_gpu_twin_fill(const tess_gpu_scope *scope, const tess_gpu_twin *twin, const void *first, CUstream stream);
CUdeviceptr tess_gpu_twin_first(const tess_gpu_twin *twin); /* where its first element is */
void tess_gpu_twin_free(const tess_gpu_scope *scope, const tess_gpu_twin *twin, CUstream stream);

/* pipeline.c: whether the execution is to go slab by slab, and how. */
typedef struct tess_gpu_cut {
    tess_cut cut;
    int64_t rows, size, limit; /* of a slab; bytes of a slot, and at most allowed */
} tess_gpu_cut;
bool tess_gpu_pipeline_cut(const tess_plan *plan, tess_gpu_cut *cut);
tess_status tess_gpu_execute_slabs(const tess_gpu_scope *scope, const tess_plan *plan, const tess_gpu_cut *cut, const void *in, const void *second,
                                   void *out, CUstream stream);
/* TESS_ERR_MEMORY when operands that are copied whole take more than TESSERA_GPU_MEMORY. */
tess_status tess_gpu_check_cap(const tess_plan *plan);

#endif

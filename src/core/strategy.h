/* SPDX-License-Identifier: Apache-2.0
 * strategy.h - what a row of an operation's strategy table is, and how plans hold problems.
 *
 * An operation is a table of rows, best first, the reference last. Selection, tests, benchmarks, `tessera list`, explain and tune loop over the
 * rows; adding a row is the only step to be tested, timed and listed (docs/adding-a-strategy.md). The idea is FFTW's: "not mine" is an answer and no
 * error. */
#ifndef TESS_CORE_STRATEGY_H
#define TESS_CORE_STRATEGY_H

#include "core/context.h"
#include "core/tensor.h"

typedef struct tess_op tess_op;
struct tess_gpu_row; /* gpu/row.h: core only carries it */

/* First member of every operation's problem structure (correlate_problem, ...): a checked call without its pointers. Made by the operation's
 * public functions, owned by a plan, never changed once planned. Allocated with tess_allocate. */
typedef struct tess_problem {
    const tess_op *op;
    tess_context *context;
    size_t size;     /* of the whole structure, for tess_free */
    double elements; /* of work: what selection and the thread cut-over look at */
    double bytes;    /* each input element once + each output element once */
    double flops;    /* of the plain method; an fma counts 2 */
    bool part;       /* of another problem (tess_op.slab): not to be sampled */
    char *room;      /* of the caller's, for what the problem points to (tess_problem_take); NULL: none */
    size_t room_size, room_used;
    char key[192]; /* one line for wisdom and explain: operation, options, types, collapsed shape. No spaces but single ones */
} tess_problem;

/* One execution. */
typedef struct tess_run {
    tess_context *context;
    int threads;        /* at most so many; 1 for small work */
    tess_isa_slot slot; /* the instruction set that runs */
    const char *in, *second;
    char *out;
    void *workspace; /* at least what the row's workspace() said, 64-byte aligned */
} tess_run;

typedef tess_status (*tess_run_function)(const tess_problem *problem, const tess_run *run);

typedef enum tess_target { TESS_TARGET_CPU = 0, TESS_TARGET_GPU } tess_target;

typedef struct tess_strategy {
    const char *name;   /* "reduce/lanes": operation, slash, the name of the file without cpu_ */
    const char *idea;   /* one line: what it does about memory */
    const char *source; /* paper, book or "-" */
    tess_target target;
    tess_run_function run[TESS_SLOTS]; /* by instruction set; the bits are equal. NULL = not built for it */
    /* Correct here? Looks at types, layout, sizes; may never lie. On false *why gets a static half-sentence ("needs a compact last axis"). */
    bool (*applicable)(const tess_problem *problem, const char **why);
    /* Wise here? NULL = yes. Measurement and the user may overrule. */
    bool (*sensible)(const tess_problem *problem, const char **why);
    /* Scratch bytes for so many threads. NULL = none. */
    size_t (*workspace)(const tess_problem *problem, int threads);
    /* Bytes that this row moves between memory and processor; NULL = the problem's. */
    double (*bytes)(const tess_problem *problem);
    /* Flops of this row's method; NULL = the problem's. */
    double (*flops)(const tess_problem *problem);
    /* Target GPU: kernels, geometry, arguments, predictions; run and workspace are then NULL. */
    const struct tess_gpu_row *gpu;
} tess_strategy;

typedef enum tess_operand { TESS_ARRAY_IN = 0, TESS_ARRAY_SECOND, TESS_ARRAY_OUT } tess_operand;

/* How a problem is cut into parts for engines that hold one part at a time (tess_op.cut). Beside out one input is cut; the other one, where there is
 * another, stays with the engine whole, in the layout that it has. */
typedef struct tess_cut {
    int64_t rows;       /* to cut; less than 2: this problem is not cut */
    double row, fixed;  /* bytes of the cut operands that a row takes, and that a part takes beside those of its rows */
    tess_operand input; /* IN or SECOND */
    int axis, way;      /* the operation's own */
} tess_cut;

/* A part of a problem: rows from .. to - 1. */
typedef struct tess_slab {
    tess_problem *problem; /* on compact arrays with the shapes below; the input that is not cut as in the whole */
    int64_t from, to;
    int64_t first;      /* the operation's own */
    int64_t kind[2];    /* parts of as many rows and the same kind are the same problem, up to what failures say */
    tess_array host[3]; /* by operand: the part in the caller's memory, axes in an order that is good to copy; data is not set */
    int64_t offset[3];  /* bytes from the whole operand's first element to the part's */
    bool pieces;        /* the input is no one box of the caller's memory: tess_op.piece gives it */
    bool collected;     /* the output is not the caller's: tess_op.collect takes it */
} tess_slab;

struct tess_op {
    const char *name;          /* "reduce" */
    const char *operand[3];    /* what the public function calls in, second and out; NULL for the one that is not there */
    const tess_strategy *rows; /* for the CPU, best first, the reference last */
    int count;
    const tess_strategy *gpu_rows; /* production rows best first, then the ladder's other rungs, which run only by name */
    int gpu_count;
    /* Frees what the problem points to (not the structure). May be NULL. */
    void (*release)(tess_problem *problem);
    /* The planned geometry of an operand (data is not set), for tuning on scratch arrays; NULL when the operation has no second. In place: OUT is IN.
     */
    const tess_array *(*array)(const tess_problem *problem, tess_operand operand);
    /* Values of the second operand must lie in least <= v < limit, or be least (a lookup's indices). NULL when there is none. */
    void (*index_range)(const tess_problem *problem, double *least, double *limit);
    /* Cutting into parts, of about `most` bytes at most. NULL: never. */
    void (*cut)(const tess_problem *problem, int64_t most, tess_cut *cut);
    /* The part of rows from .. to - 1, or of fewer: slab->to says where it ends. The caller frees the part's problem, which there is none of after
     * an error. */
    tess_status (*slab)(const tess_problem *problem, const tess_cut *cut, int64_t from, int64_t to, tess_slab *slab);
    /* What stands in the part's compact input from element number `at` on: a box of the caller's memory, of one element at least. */
    void (*piece)(const tess_problem *problem, const tess_cut *cut, const tess_slab *slab, int64_t at, tess_array *host, int64_t *offset);
    /* Where parts do not make elements of out, but what these are made of: takes the results of one part after another. `state` is collect_size bytes
     * for the whole execution, zeroed before the first part. */
    size_t collect_size;
    tess_status (*collect)(const tess_problem *problem, const tess_cut *cut, const tess_slab *slab, const char *results, void *state, char *out);
    /* A smaller problem of the same kind on arrays of the host's, for a row to be tried on: the axes that matter shortened as tess_sample_size says, others to
     * a few elements, laid out as here, so that a row that asks for vectors or rows without gaps finds them. NULL: there is none so small. What was made
     * is the caller's, after a failure too. */
    tess_status (*sample)(const tess_problem *problem, int64_t limit, tess_problem **small);
    /* Checks of the pointers of one execution: overlap. */
    tess_status (*check)(const tess_problem *problem, const char *in, const char *second, const char *out);
    /* Writes the key of a problem that has none yet: a small call that nobody has learnt anything about takes a sixth of its time for it. NULL: they all have. */
    void (*describe)(tess_problem *problem);
};

/* The operations, defined beside their tables in src/ops/ops.c; core only walks the list. */
extern const tess_op *const tess_ops[];
extern const int tess_ops_count;

const tess_strategy *tess_strategy_named(const char *name, size_t length);

bool tess_op_has(const tess_op *op, const tess_strategy *row);
/* Row number i of the operation: those of the CPU, then those of the GPU. */
TESS_INLINE const tess_strategy *tess_op_row(const tess_op *op, int i) { return i < op->count ? &op->rows[i] : &op->gpu_rows[i - op->count]; }

/* Declaring and listing the builds of a function of a cpu_*.c file. Declared ends with a declaration that wants its semicolon. */
#define TESS_DECLARE_BUILD(slot, suffix, f) tess_status f##_##suffix(const tess_problem *, const tess_run *);
#define TESS_DECLARE_RUN(f) TESS_BUILDS(TESS_DECLARE_BUILD, f) tess_status f##_baseline(const tess_problem *, const tess_run *)
#define TESS_RUN_OF_BUILD(slot, suffix, f) [slot] = f##_##suffix,
#define TESS_RUNS(f) \
    { TESS_BUILDS(TESS_RUN_OF_BUILD, f) }
/* The reference is one build for all. */
#define TESS_REFERENCE_RUN(f) \
    { [TESS_SLOT_BASELINE] = f }

/* The highest build of the row that the context allows; -1 when there is none. */
int tess_strategy_slot(const tess_strategy *row, tess_isa_slot limit);

struct tess_plan {
    tess_context *context;
    tess_problem *problem; /* owned */
    tess_engine engine;    /* never AUTO */
    DLDevice device;       /* of the arrays */
    const tess_strategy *row;
    tess_isa_slot slot;
    int threads;
    size_t workspace;
    void *prepared;   /* an engine's, other than the CPU */
    char reason[160]; /* why this row: "first that is applicable and sensible", "pinned by ...", "wisdom: ..." */
};

/* Whether the row is one for the plan's engine and correct for its problem; *why says why not. */
bool tess_plan_can_run(const tess_plan *plan, const tess_strategy *row, const char **why);
/* Selects a row for the problem and makes the plan. Takes the problem over: on failure it is freed. */
tess_status tess_plan_make(tess_plan **plan, tess_problem *problem, const tess_call *call);
/* Allocates a zeroed problem of an operation. */
tess_status tess_problem_make(void **problem, tess_context *context, const tess_op *op, size_t size);
void tess_problem_free(tess_problem *problem);
/* What a problem points to: from its room while that lasts, else from the context. NULL: no memory. Aligned to 64 bytes. */
void *tess_problem_take(tess_problem *problem, size_t size);
void *tess_problem_take_zeroed(tess_problem *problem, size_t size);
void tess_problem_drop(tess_problem *problem, void *memory, size_t size); /* of either kind, or NULL */

/* What the simple calls do: a problem in the caller's memory, the plan on the stack. Begins: the context, the caller's options into `options`, the problem's first
 * bytes set to zeros: all of one, with room for 64 axes, would take a fifth of a small call. Nothing is to be released where that fails. */
tess_status tess_problem_begin(tess_problem *problem, size_t cleared, const tess_op *op, tess_context *context, void *options, size_t options_size,
                               const void *caller, const char *what);
/* Plans and executes, unless `status` says that the problem could not be filled; releases what the problem points to in any case. */
tess_status tess_plan_run_here(tess_status status, tess_problem *problem, const void *in, const void *second, void *out, const tess_call *call);

/* An array of the library's own in place of the caller's, filled with values that differ, 0 <= v < limit: tune.c. view.data is set. period: after so
 * many elements, a multiple of 1024, they come again; 0 = never. */
typedef struct tess_scratch {
    tess_array view;
    void *block;
    size_t size;
} tess_scratch;
tess_status tess_scratch_make(tess_context *context, tess_scratch *scratch, const tess_array *like, double least, double limit, int64_t period);
void tess_scratch_free(tess_context *context, tess_scratch *scratch);

double tess_seconds(void); /* a monotonic clock */

/* Text into a caller's buffer, with the length it wanted. */
typedef struct tess_text {
    char *at;
    size_t capacity, length;
} tess_text;
void tess_text_add(tess_text *text, const char *format, ...) TESS_PRINTF(2, 3);
void tess_text_json(tess_text *text, const char *string); /* quoted and escaped */
tess_status tess_text_end(tess_text *text, size_t *length);

/* wisdom.c: the fastest recorded row for the problem, or NULL; and recording. */
bool tess_wisdom_any(tess_context *context, const tess_op *op); /* false: there is certainly nothing to be found */
const tess_strategy *tess_wisdom_find(tess_context *context, const tess_problem *problem, int threads, double *seconds);
tess_status tess_wisdom_record_time(tess_context *context, const tess_problem *problem, const tess_strategy *row, int threads, double seconds);
/* The same on another processor than this one: an engine's device. */
typedef struct tess_wisdom_place {
    uint64_t machine; /* tess_wisdom_hash of its name */
    char isa[16];     /* "sm_90" */
    int threads;
} tess_wisdom_place;
uint64_t tess_wisdom_hash(const char *text);
const tess_strategy *tess_wisdom_find_on(tess_context *context, const tess_problem *problem, const tess_wisdom_place *place, double *seconds);
tess_status tess_wisdom_record_on(tess_context *context, const tess_problem *problem, const tess_strategy *row, const tess_wisdom_place *place,
                                  double seconds);
void tess_wisdom_free(tess_context *context);

#endif

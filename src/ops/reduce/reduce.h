/* SPDX-License-Identifier: Apache-2.0
 * reduce.h - the contract of the operation: the checked problem, a tree node, and what the kernels do. */
#ifndef TESS_OPS_REDUCE_H
#define TESS_OPS_REDUCE_H

#include "core/convert.h"
#include "core/maker.h"
#include "core/strategy.h"
#include "ops/reduce/tree.h"

extern const tess_op tess_reduce_op;
void tess_reduce_describe(tess_problem *problem);

/* The fifteen operations are six ways to fold elements ... */
typedef enum reduce_kind {
    REDUCE_SUM,     /* the tree with + */
    REDUCE_PROD,    /* the tree with * */
    REDUCE_COUNT,   /* zeros and NaNs counted: any, all, count_nonzero */
    REDUCE_EXTREME, /* the greatest key (reduce_order): min, max, norm_inf */
    REDUCE_ARG,     /* and where it stands first */
    REDUCE_VAR      /* mean and squared deviations */
} reduce_kind;

/* ... of elements that were mapped first. */
typedef enum reduce_map { REDUCE_PLAIN, REDUCE_ABS, REDUCE_SQUARE, REDUCE_MAPS } reduce_map;

/* How elements compare. Every element becomes a signed key of its own width such that the wanted element has the greatest key: min turns the order
 * around. */
typedef struct reduce_order {
    bool smallest;  /* min, argmin */
    bool magnitude; /* by |x| */
    bool numeric;   /* -0 and +0 are equal (arg); else -0 < +0 */
    bool omit;      /* NaN has the lowest key, else the greatest */
    bool cached;    /* what is compared may well lie in L2: asking for it ahead costs more than it brings */
    bool huge;      /* it lies in huge pages: none need be asked for */
} reduce_order;

typedef struct reduce_problem {
    tess_problem base;
    tess_reduction operation;
    reduce_kind kind;
    reduce_map map;
    reduce_order order;
    bool omit;  /* only when the elements can be NaN */
    bool exact; /* only when it makes a difference */
    double ddof;
    bool reduced[TESS_MAX_NDIM], keepdims; /* axes of in */
    tess_type load;                        /* compute type that elements are loaded as */
    tess_type acc;                         /* compute type of the tree, after the map */
    tess_type result;                      /* compute type of the finished value */
    int rank, kept;                        /* how many axes are reduced, and how many are not: below */
    int64_t k, outputs;                    /* the products of their sizes */
    /* Segments along the one reduced axis: offsets (owned) has segments + 1 entries. None: NULL and 1. */
    int64_t *offsets;
    int64_t segments, longest, segment_stride; /* the stride is that of out */
    double usual;                              /* their mean length but for outliers, for one with half of all elements tells nothing of the others */
    bool records;                              /* the outputs are leaves of another problem, and come out as reduce_records (slab.c) */
    /* From here on a simple call clears nothing: arrays are imported, and lists written as far as there are axes. */
    tess_array in, out; /* data not set */
    /* The reduced axes in row-major order, joined where they step alike; at least one. */
    int64_t size[TESS_MAX_NDIM];
    int64_t stride[1][TESS_MAX_NDIM];
    /* The other axes, the one with the smallest stride in the input last: strides of in, of out. */
    int64_t kept_size[TESS_MAX_NDIM];
    int64_t kept_stride[2][TESS_MAX_NDIM];
} reduce_problem;

/* What a subtree comes to. Which fields mean something depends on the kind. */
typedef struct reduce_node {
    tess_value value; /* SUM, PROD: of type acc. COUNT: u64, the zeros */
    double mean, m2;  /* VAR */
    int64_t count;    /* elements that count: all, or those that are not NaN */
    int64_t key;      /* EXTREME, ARG */
    int64_t index;    /* ARG: of the first element with the key; -1 when none counts */
} reduce_node;

/* A leaf's node as the GPU gives it: value, key or mean; imaginary part, index or squared deviations; elements that count. */
typedef struct reduce_record {
    uint64_t a, b;
    int64_t count;
} reduce_record;

/* Of exact sums it gives long accumulators instead: for each part 70 limbs, what was met that is not finite, how many elements count. */
enum { REDUCE_EXACT_WORDS = 72 };

/* Of one execution that takes records as they come; exact sums have an exact_sum there. */
typedef struct reduce_pairing {
    int depth;
    reduce_node stack[REDUCE_LEVELS];
} reduce_pairing;

/* reduce.c */
int tess_reduce_longest_kept(const reduce_problem *problem);  /* which of the kept axes, of which there are some */
void tess_reduce_put_last(reduce_problem *problem, int axis); /* that one behind the others */
tess_status tess_reduce_sample(const tess_problem *problem, int64_t limit, tess_problem **small);

/* slab.c */
void tess_reduce_cut(const tess_problem *problem, int64_t most, tess_cut *cut);
tess_status tess_reduce_slab(const tess_problem *problem, const tess_cut *cut, int64_t from, int64_t to, tess_slab *slab);
void tess_reduce_piece(const tess_problem *problem, const tess_cut *cut, const tess_slab *slab, int64_t at, tess_array *host, int64_t *offset);
tess_status tess_reduce_collect(const tess_problem *problem, const tess_cut *cut, const tess_slab *slab, const char *results, void *state, char *out);

/* node.c */
void tess_reduce_node_empty(const reduce_problem *problem, reduce_node *node);
void tess_reduce_node_merge(const reduce_problem *problem, reduce_node *left, const reduce_node *right); /* left = left with right after it */
tess_value tess_reduce_node_finish(const reduce_problem *problem, const reduce_node *node);              /* of type result */
/* n finished values at once, in place, from roots of type acc over k elements each, nans[i] of which do not count (NULL: all do). False when the
 * operation has no such short cut and nothing was done. */
bool tess_reduce_finish_row(const reduce_problem *problem, void *row, int64_t k, const int64_t *nans, int64_t n);
struct reduce_kernels;
/* The same for extremes from their keys: values of type result into the row; it has room for n tess_values. */
bool tess_reduce_finish_keys(const reduce_problem *problem, const struct reduce_kernels *kernels, const int64_t *keys, void *row, int64_t n);
tess_value tess_reduce_value_add(tess_type acc, tess_value a, tess_value b);
tess_value tess_reduce_value_multiply(tess_type acc, tess_value a, tess_value b);

/* The kernels, compiled once per instruction set. Elements lie `stride` bytes apart and at any address; rows and lanes are contiguous. */
typedef struct reduce_lane_kernels {
    /* Element i of a row goes to lane i % 256 by + or *; n at most a leaf. first: the lanes hold nothing yet, and only min(n, 256) of them will. */
    void (*add[TESS_TYPES])(void *lanes, const void *row, int64_t n, bool first);
    void (*multiply[TESS_TYPES])(void *lanes, const void *row, int64_t n, bool first);
    /* The halving tree over the first `used` lanes; the result is lane 0. */
    void (*halve_add[TESS_TYPES])(void *lanes, int used);
    void (*halve_multiply[TESS_TYPES])(void *lanes, int used);
    /* As add for f64, of the squares of row[i] - mean. omit: NaN elements give +0. */
    void (*deviations)(void *lanes, const void *row, int64_t n, bool first, double mean, bool omit);
    /* The sum of integer (or bool) elements modulo 2^64, which no order can change. cached: they may well lie in L2. */
    uint64_t (*integers[TESS_TYPES])(const void *elements, int64_t stride, int64_t n, bool cached);
} reduce_lane_kernels;

typedef struct reduce_order_kernels {
    int64_t (*greatest[TESS_TYPES])(const void *elements, int64_t stride, int64_t n, reduce_order order);          /* n >= 1: the greatest key */
    int64_t (*find[TESS_TYPES])(const void *elements, int64_t stride, int64_t n, reduce_order order, int64_t key); /* first place of a key, or n */
    /* Both at once, of n contiguous elements: the place, and its key. NULL where one after the other is as quick. */
    int64_t (*place[TESS_TYPES])(const void *elements, int64_t n, reduce_order order, int64_t *key);
    void (*keys[TESS_TYPES])(int64_t *keys, const void *elements, int64_t stride, int64_t n, reduce_order order);
    /* How many elements are zero, and, when they are to be left out, how many NaN. */
    void (*count[TESS_TYPES])(const void *elements, int64_t stride, int64_t n, bool omit, int64_t *zeros, int64_t *nans);
    /* Columns: best[c], of the key's own width, becomes the greatest of itself and the keys of the rows' elements c. `lowest` starts a
     * row and `widen` turns it into keys. */
    void (*greatest_rows[TESS_TYPES])(void *best, const char *base, const int64_t *offsets, int64_t rows, int64_t n, reduce_order order);
    /* Columns: best[c] and index[c] (-1: nothing yet) of the greatest key so far, the first one's; row r has number + r. */
    void (*first_rows[TESS_TYPES])(int64_t *best, int64_t *index, const char *base, const int64_t *offsets, int64_t rows, int64_t n,
                                   reduce_order order, int64_t number);
    /* Columns: zeros[c], and with omit nans[c], grow by the rows' elements c. */
    void (*count_rows[TESS_TYPES])(int64_t *zeros, int64_t *nans, const char *base, const int64_t *offsets, int64_t rows, int64_t n, bool omit);
    void (*lowest[TESS_TYPES])(void *best, int64_t n);
    void (*widen[TESS_TYPES])(int64_t *keys, const void *best, int64_t n);
} reduce_order_kernels;

typedef struct reduce_map_kernels {
    /* to[i] = map(from[i]); omit: NaN becomes `identity`. Returns the number of NaNs. Indexed by the load type; the row `to` is of the problem's acc.
     */
    int64_t (*map[REDUCE_MAPS][TESS_TYPES])(void *to, const void *from, int64_t n, bool omit, double identity);
    /* Elements of the result's compute type from keys of the input's type; NULL where they are found one by one. */
    void (*values[TESS_TYPES])(void *row, const int64_t *keys, int64_t n, reduce_order order);
} reduce_map_kernels;

/* Many columns at once: acc[c] takes element c of each row in turn. Row r starts at base + offsets[r * step], its elements are contiguous. */
typedef struct reduce_column_kernels {
    void (*add[TESS_TYPES])(void *acc, const char *base, const int64_t *offsets, int64_t step, int64_t rows, int64_t n, bool first);
    void (*multiply[TESS_TYPES])(void *acc, const char *base, const int64_t *offsets, int64_t step, int64_t rows, int64_t n, bool first);
    void (*integers[TESS_TYPES])(uint64_t *acc, const char *base, const int64_t *offsets, int64_t rows, int64_t n,
                                 bool ahead);                              /* as they lie, modulo 2^64; ahead: rows to come are asked for */
    void (*nans[TESS_TYPES])(int64_t *counts, const void *row, int64_t n); /* of a row of the load type: counts[c] grows */
    void (*greatest)(int64_t *best, const int64_t *keys, int64_t n);
    void (*first_greatest)(int64_t *best, int64_t *index, const int64_t *keys, int64_t n, int64_t number); /* index -1: nothing yet */
    void (*equal)(int64_t *counts, const int64_t *keys, int64_t n, int64_t key);                           /* counts[c] grows where the key is met */
    void (*deviations)(double *acc, const void *row, const double *mean, int64_t n, bool first, bool omit);
} reduce_column_kernels;

/* Whole trees over contiguous elements as they lie, which are converted and mapped on the way (cpu_rows.c); by the problem's map and the input's type. NaNs count.
 * sums[i] becomes the tree over the k >= 1 elements of row i, the rows lying `step` bytes apart; wide: of the elements as f64. Moments of a leaf: n >= 1. */
typedef struct reduce_row_kernels {
    void (*sums[REDUCE_MAPS][TESS_TYPES])(void *sums, const char *rows, int64_t step, int64_t count, int64_t k);
    void (*wide[TESS_TYPES])(void *sums, const char *rows, int64_t step, int64_t count, int64_t k);
    void (*moments[TESS_TYPES])(double *mean, double *m2, const void *elements, int64_t n);
} reduce_row_kernels;

/* Eight rows of n columns at once (cpu_eight.c), 8 / lanes of each of so many lanes (1, 2, 4, 8) of the tree, lane by lane in the order in which they halve:
 * acc[c] becomes the lanes' tree over element c of the rows; more: one lane, which goes on from acc[c]. merges: acc is the top of a stack of rows, `step` elements
 * apart; so many rows below it are added to it one after the other, and the last of them takes the sum instead. The rows of `next` are asked for meanwhile. n is 16
 * or more. apart: squares of the distances from mean[c]; the others have no use for it. */
enum { REDUCE_EIGHT = 8 };
typedef void (*reduce_eight)(void *acc, int64_t step, int merges, const char *const *row, const char *const *next, int lanes, bool more, int64_t n,
                             const double *mean);
typedef struct reduce_eight_kernels {
    reduce_eight sums[REDUCE_MAPS][TESS_TYPES], products[TESS_TYPES], wide[TESS_TYPES], apart[TESS_TYPES];
} reduce_eight_kernels;

/* sums[c] becomes, of REDUCE_STREAMS rows of n columns, the tree over element c of `lanes` lanes (1, 2, 4, 8), REDUCE_STREAMS / lanes rows each (cpu_streams.c). By the
 * type of elements and sums; n is 16 or more. rows: lane by lane in the order in which they halve. even: `row` is the first of the first lane's, in a leaf whose rows
 * lie `step` bytes apart. */
enum { REDUCE_STREAMS = 16 };
typedef struct reduce_stream_kernels {
    void (*rows[TESS_TYPES])(void *sums, const char *const *row, int lanes, int64_t n);
    void (*even[TESS_TYPES])(void *sums, const char *row, int64_t step, int lanes, int64_t n);
} reduce_stream_kernels;

/* Pieces of memory, `lines` lines of 64 bytes of which the last begins at byte `last`, are added to as many rows of sums, which follow one another (cpu_beside.c). The
 * lines of the pieces `ahead` are asked for meanwhile, in L1 (near) or L2. */
enum { REDUCE_BESIDE = 8 /* most lines */, REDUCE_SET_LANES = REDUCE_LANES + 16 };
typedef struct reduce_beside_kernels {
    void (*add[TESS_TYPES])(void *sums, const char *const *piece, const char *const *ahead, int pieces, int lines, int64_t last, bool near);
    /* `count` lines of 64 bytes, 32 to a leaf but for the last one: each leaf's sums become a line of its lanes, 256 lanes behind those of the leaf before. */
    void (*chains[TESS_TYPES])(void *lanes, const char *lines, int64_t count);
    /* `count` runs of n elements, `step` bytes apart, are added to as many sets of lanes, from `lane` on and around. So many bytes ahead of what is added is asked for, unless
     * it is 0. Up to 63 bytes behind a run are read; a set has REDUCE_SET_LANES, of which those beyond REDUCE_LANES stay as they are. */
    void (*around[TESS_TYPES])(void *lanes, const char *runs, int64_t step, int64_t count, int64_t lane, int64_t n, int64_t ahead);
} reduce_beside_kernels;

/* The same for columns, row after row of a lane (cpu_direct.c); functions as those of reduce_column_kernels. */
typedef struct reduce_direct_kernels {
    void (*columns[REDUCE_MAPS][TESS_TYPES])(void *acc, const char *base, const int64_t *offsets, int64_t step, int64_t rows, int64_t n, bool first);
    void (*wide_columns[TESS_TYPES])(void *acc, const char *base, const int64_t *offsets, int64_t step, int64_t rows, int64_t n, bool first);
    void (*deviation_columns[TESS_TYPES])(double *acc, const char *base, const int64_t *offsets, int64_t step, int64_t rows, int64_t n,
                                          const double *mean); /* starts from 0 */
} reduce_direct_kernels;

/* Short rows, which are turned: sums[i] = the tree over the k <= 256 contiguous terms of row i. */
enum { REDUCE_SHORT_ROWS = 16 };
/* What is read may lie in L2; comes from memory; and results go past the caches. */
typedef enum reduce_short_size { REDUCE_SHORT_CACHED, REDUCE_SHORT_LARGE, REDUCE_SHORT_PAST } reduce_short_size;
typedef enum reduce_tiny_fold { REDUCE_TINY_SUM, REDUCE_TINY_MEAN, REDUCE_TINY_LEAST, REDUCE_TINY_GREATEST } reduce_tiny_fold;
typedef struct reduce_short_kernels {
    void (*add[TESS_TYPES])(void *sums, const char *rows, int64_t step, int64_t count, int64_t k); /* count <= REDUCE_SHORT_ROWS rows, `step` apart */
    /* The same of any number of times REDUCE_SHORT_ROWS rows, whose length is a power of two; false, and nothing done, when there is no loop for it. mean: sums over
     * k. REDUCE_SHORT_PAST: sums is aligned to a line, and NaNs are made the canonical one on the way. NULL where there is none. */
    bool (*whole[TESS_TYPES])(void *sums, const char *rows, int64_t step, int64_t count, int64_t k, bool mean, reduce_short_size size);
    /* Finished results of rows of k elements without gaps, as many as there is a loop for: none, or whole vectors of results up to the first that it does not
     * take. size as above. NULL where there is none. */
    int64_t (*tiny[TESS_TYPES])(void *to, const char *rows, int64_t count, int64_t k, reduce_tiny_fold fold, reduce_short_size size);
    /* Finished results of n outputs side by side, whose terms lie in k <= 256 planes, `pitch` bytes apart; sums of no more than 64 (short_across.h). far: they
     * come from memory. False, and nothing done, of fewer outputs than a vector has lanes; NULL where there is none. */
    bool (*across[TESS_TYPES])(void *to, const char *planes, int64_t pitch, int64_t n, int64_t k, reduce_tiny_fold fold, bool far);
    /* The other kinds, of reduce_short_rows rows that were turned: term j of all is line j, of so many elements. By the input's type; NULL where there is none. Sums
     * of what was mapped, of type f32 or f64, or wide: in f64 of what was not; of integers, modulo 2^64; keys of the elements' width; the numbers of the terms, -1: none
     * counts; how many are 0; mean and squared deviations. */
    void (*mapped[REDUCE_MAPS][TESS_TYPES])(void *sums, const void *terms, int64_t k);
    void (*wide[TESS_TYPES])(void *sums, const void *terms, int64_t k);
    void (*integers[TESS_TYPES])(uint64_t *sums, const void *terms, int64_t k);
    void (*greatest[TESS_TYPES])(void *keys, const void *terms, int64_t k, reduce_order order);
    void (*first[TESS_TYPES])(int64_t *places, const void *terms, int64_t k, reduce_order order);
    void (*zeros[TESS_TYPES])(int64_t *zeros, const void *terms, int64_t k);
    void (*moments[TESS_TYPES])(double *mean, double *m2, const void *terms, int64_t k);
    /* In place: elements from their keys; means from sums of the type acc (f64 from those of integers); variances or their roots from squared deviations. */
    void (*elements[TESS_TYPES])(void *row, int64_t n, bool smallest);
    void (*means[TESS_TYPES])(void *row, int64_t n, int64_t k);
    void (*variances)(double *m2, int64_t n, double divisor, bool roots);
    /* Keys of sixteen rows as they lie, of a line or more each, `step` bytes apart; false: they are to be turned. NULL where there is none. */
    bool (*greatest_here[TESS_TYPES])(void *keys, const char *rows, int64_t step, int64_t k, reduce_order order);
    /* By element size: rows x columns elements become columns x rows, the steps in bytes. */
    void (*turn[17])(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t columns);
    /* Sums of sixteen segments of elements at `row`, as they lie, of fewer than `split` elements each (0 for others), by `rows` where they are long. NULL where there is none. */
    void (*segments[TESS_TYPES])(void *sums, const char *row, const int64_t *offsets, int64_t split,
                                 void (*rows)(void *sums, const char *rows, int64_t step, int64_t count, int64_t k));
    /* Means and squared deviations of sixteen segments of 1 to 256 elements; of others they mean nothing. NULL where there is none. */
    void (*moment_segments[TESS_TYPES])(double *mean, double *m2, const char *row, const int64_t *offsets);
    /* cpu_groups.c of the transposes: planes of a few elements become groups. */
    bool (*join)(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t np, int64_t nq, int64_t size);
    /* Of elements of 1 and 2 bytes: lines as above of `count` rows, filled up with zeros; no byte before the lowest row and from `end` on is read. There is room for
     * 16 bytes of elements. ahead: where as many bytes as the rows have are asked for meanwhile, or NULL. */
    void (*lines[3])(char *to, const char *rows, int64_t step, int64_t count, int64_t k, const char *end, const char *ahead);
} reduce_short_kernels;

/* Bytes from what is read in address order to what is asked for meanwhile; a Zen 5 gains nothing by 4 KiB. */
TESS_INLINE int64_t reduce_ask_distance(void) { return tess_cpu_is_zen5() ? 6144 : 4096; }
/* Bytes from short rows to those that are asked for meanwhile, which nothing else sees to follow each other; near: where rows stay as they lie, and others than a
 * Zen 5 want less. */
TESS_INLINE int64_t reduce_short_ahead(bool near) { return tess_cpu_is_zen5() ? 8192 : near ? 2048 : 4096; }

/* Rows that are turned at once: what fills a line, no fewer than 16. */
TESS_INLINE int64_t reduce_short_rows(int64_t itemsize) { return itemsize == 1 ? 64 : itemsize == 2 ? 32 : REDUCE_SHORT_ROWS; }

/* Exact sums (cpu_exact.c) of n contiguous elements, components of complex ones counted singly: number i goes to part[i % parts]. */
typedef struct exact_part exact_part;
typedef struct reduce_exact_kernels {
    void (*add[TESS_TYPES])(exact_part *part, int parts, const void *row, int64_t n, bool magnitude); /* by the input's type; NULL: convert to f64 */
    void (*integers)(exact_part *part, const uint64_t *row, int64_t n, bool is_signed);
    /* Columns: sum[c] grows by row[c], or its magnitude, and left[c] is not 0 where that was rounded, or is no number. */
    void (*few)(double *sum, int64_t *left, const double *row, int64_t n, bool magnitude);
} reduce_exact_kernels;

typedef struct reduce_kernels {
    const reduce_lane_kernels *lane;
    const reduce_order_kernels *order;
    const reduce_map_kernels *map;
    const reduce_column_kernels *column;
    const reduce_short_kernels *brief; /* short is a keyword */
    const reduce_row_kernels *rows;
    const reduce_eight_kernels *eight;
    const reduce_stream_kernels *streams;
    const reduce_direct_kernels *direct;
    const reduce_beside_kernels *beside;
    const reduce_exact_kernels *exact;
} reduce_kernels;

/* kernels.c */
const reduce_kernels *tess_reduce_kernels_for(tess_isa_slot slot);
/* The ones for runs that may come from memory: integer sums, counts, extremes and places, whose bits no order can change. */
const reduce_kernels *tess_reduce_reading_kernels(tess_isa_slot slot, bool cached);

/* Rows' entry points. They run on every instruction set by choosing kernels. */
tess_status tess_reduce_reference(const tess_problem *problem, const tess_run *run);
tess_status tess_reduce_lanes(const tess_problem *problem, const tess_run *run);
tess_status tess_reduce_short(const tess_problem *problem, const tess_run *run);
bool tess_reduce_short_has(const reduce_problem *problem); /* whether there is a kernel for it */
tess_status tess_reduce_gather(const tess_problem *problem, const tess_run *run);
tess_status tess_reduce_exact(const tess_problem *problem, const tess_run *run);
tess_status tess_reduce_columns(const tess_problem *problem, const tess_run *run);
size_t tess_reduce_columns_workspace(const tess_problem *problem, int threads);
size_t tess_reduce_leaves_workspace(const tess_problem *problem, int threads);
size_t tess_reduce_exact_workspace(const tess_problem *problem, int threads);
bool tess_reduce_exact_is_few(const reduce_problem *problem); /* exact_few.c: sums of few elements each, and how they are made */
tess_status tess_reduce_exact_few(const reduce_problem *problem, const tess_run *run);

/* Whether the elements' sum can be had by `sums` or `columns`, or by `wide` and `wide_columns`, of the kernels for elements as they lie. */
TESS_INLINE bool reduce_adds_wide(const reduce_problem *p) { return p->map == REDUCE_PLAIN && p->acc == tess_f64; }
TESS_INLINE bool reduce_adds_direct(const reduce_problem *p) {
    if (p->kind != REDUCE_SUM || p->omit || reduce_adds_wide(p))
        return false;
    return p->map == REDUCE_SQUARE || p->acc == (p->in.type == tess_f64 ? tess_f64 : tess_f32);
}

TESS_INLINE bool reduce_is_integer(tess_type compute) { return compute == tess_u64 || compute == tess_i64; }

/* The elements of an output are one run without gaps. */
TESS_INLINE bool reduce_is_run(const reduce_problem *p) { return p->rank == 1 && p->stride[0][0] == p->in.itemsize; }

/* Runs so short that many of them, turned, lie in L1 (columns.c). */
TESS_INLINE bool reduce_turns(const reduce_problem *p) {
    return p->kept > 0 && !p->offsets && reduce_is_run(p) && p->k <= REDUCE_LANES && p->in.itemsize <= 8 && !tess_is_complex(p->in.type);
}

/* A few planes, whose elements side by side are terms of outputs side by side. Runs of one element that follow each other are a plane, too. */
TESS_INLINE bool reduce_has_planes(const reduce_problem *p) {
    return p->kept > 0 && !p->offsets && p->rank == 1 && p->k <= REDUCE_LANES && p->in.itemsize <= 8 && !tess_is_complex(p->in.type) &&
           p->kept_stride[0][p->kept - 1] == p->in.itemsize && (p->k == 1 || !reduce_is_run(p));
}

/* ... that are finished where their terms lie, results being of the elements' type (short_across.h). */
TESS_INLINE bool reduce_goes_across(const reduce_problem *p) {
    const tess_type in = p->in.type;
    if (!reduce_has_planes(p) || p->omit || p->map != REDUCE_PLAIN || p->out.type != in)
        return false;
    if (p->operation == TESS_MIN || p->operation == TESS_MAX)
        return p->kept_size[p->kept - 1] * p->in.itemsize >= 64 && !tess_is_bool(in) && in != tess_f16 && in != tess_bf16;
    return (p->operation == TESS_SUM || p->operation == TESS_MEAN) && (in == tess_f32 || in == tess_f64) && p->acc == in && p->result == in &&
           p->k <= 64 && p->kept_size[p->kept - 1] * p->in.itemsize >= 64;
}

/* Elements along the reduced axes for task number t = output * segments + segment, and the first one's number along the segmented axis. */
TESS_INLINE int64_t reduce_task_size(const reduce_problem *p, int64_t task, int64_t *first) {
    *first = p->offsets ? p->offsets[task % p->segments] : 0;
    return p->offsets ? p->offsets[task % p->segments + 1] - *first : p->k;
}

#endif

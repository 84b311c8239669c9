/* SPDX-License-Identifier: Apache-2.0
 * gpu_reduce.h - the GPU's part of the table, and what its files share: gpu_rows.c has the rows, gpu_rungs.c lays out the ladder's. */
#ifndef TESS_OPS_REDUCE_GPU_H
#define TESS_OPS_REDUCE_GPU_H

#include "gpu/row.h"
#include "ops/reduce/reduce.h"

/* The ladder: number, name. */
#define TESS_REDUCE_RUNGS(X) \
    X(1, neighbored)         \
    X(2, neighbored_packed)  \
    X(3, interleaved)        \
    X(4, unroll2)            \
    X(5, unroll4)            \
    X(6, unroll8)            \
    X(7, unroll8_warp)       \
    X(8, complete_unroll)    \
    X(9, template)           \
    X(10, shared)            \
    X(11, shared_unroll8)    \
    X(12, shuffle)           \
    X(13, grid_stride)       \
    X(14, single_pass)
#define RUNG(number, name)                            \
    extern const tess_gpu_row tess_reduce_gpu_##name; \
    void tess_reduce_predict_##name(const tess_problem *problem, tess_gpu_prediction *prediction);
TESS_REDUCE_RUNGS(RUNG)
#undef RUNG

enum { REDUCE_GPU_ROWS = 25 + 14, REDUCE_GPU_BLOCK = 256 /* threads of a rung's blocks */ };
int64_t tess_reduce_gpu_resident(const tess_gpu_device *device); /* so many of its blocks a device holds at once; NULL = an H200 */
extern const tess_strategy tess_reduce_gpu_rows[REDUCE_GPU_ROWS];

extern const tess_gpu_text tess_reduce_gpu_node_header, tess_reduce_gpu_tree_header, tess_reduce_gpu_leaf_header, tess_reduce_gpu_types_header,
    tess_reduce_gpu_complex_header, tess_reduce_gpu_finish_header, tess_reduce_gpu_segment_header, tess_reduce_gpu_packed_header,
    tess_reduce_gpu_exact_header, tess_reduce_gpu_exact_group_header, tess_reduce_gpu_exact_lengths_header, tess_reduce_gpu_exact_pieces_header,
    tess_reduce_gpu_exact_strip_header, tess_reduce_gpu_exact_levels_header, tess_reduce_gpu_exact_sure_header, tess_reduce_gpu_sure_run_header,
    tess_reduce_gpu_segment_finish_header, tess_reduce_gpu_stage_header, tess_reduce_gpu_lanes_header, tess_reduce_gpu_moments_header,
    tess_reduce_gpu_any_order_header, tess_reduce_gpu_run_leaf_header, tess_reduce_gpu_across_header, tess_reduce_gpu_blocks_header,
    tess_reduce_gpu_small_blocks_header, tess_reduce_gpu_divisors_header;
void tess_reduce_gpu_node_options(tess_gpu_layout *layout, const reduce_problem *p); /* the -D of gpu_node.cuh */
int64_t tess_reduce_gpu_node_size(const reduce_problem *p);                          /* bytes of its struct node, or of gpu_complex.cuh's */
int64_t tess_reduce_gpu_narrow_node_size(const reduce_problem *p);                   /* the same with -DNARROW=1 */
/* The first `count` kept axes as shape[], in[], out[] of the kernels' structures, with steps in elements; a double as a word of them. */
int64_t *tess_reduce_gpu_put_kept(int64_t *at, const reduce_problem *p, int count);
int64_t *tess_reduce_gpu_put_reduced(int64_t *at, const reduce_problem *p); /* the reduced axes as size[], step[] */
int64_t tess_reduce_gpu_word(double x);
void tess_reduce_gpu_put_divisors(int64_t *at, const reduce_problem *p); /* `divisors` of gpu_divisors.cuh */
int64_t tess_reduce_gpu_apart(
    const reduce_problem *p); /* of gcd with a power of two: the bytes between runs of elements, their own too where there are several of an output */
bool tess_reduce_gpu_packs(const reduce_problem *p);     /* what gpu_packed.cuh folds a word at a time */
bool tess_reduce_gpu_any_order(const reduce_problem *p); /* what no order of operations can change: ANY_ORDER of gpu_tree.cuh */

/* gpu_nodes_predict.c: what the formulas of the tree's rows share. Byte addresses are positive if arrays begin at TESS_REDUCE_GPU_ORIGIN. */
#define TESS_REDUCE_GPU_ORIGIN ((int64_t)1 << 40)
typedef struct tess_reduce_gpu_walk {
    tess_gpu_prediction *sum;
    double times;        /* so often comes what is counted */
    int64_t size;        /* of an element */
    int64_t node, words; /* of a node, in bytes; of how many words it is copied */
} tess_reduce_gpu_walk;
/* Of the first `axes` axes of a number of elements or outputs: where it lies. */
int64_t tess_reduce_gpu_place(const int64_t *size, const int64_t *stride, int axes, int64_t number);
/* Bytes of an array before its first element, where steps are negative; of: 0 the input, 1 the output. */
int64_t tess_reduce_gpu_below(const reduce_problem *p, int of);
/* How many of the places of `axes` axes lie at byte i of a sector: times[] says how many times each place does before. */
void tess_reduce_gpu_spread(double *times, const int64_t *size, const int64_t *stride, int axes);
/* How many outputs of the first `axes` kept axes begin there. */
void tess_reduce_gpu_places(const reduce_problem *p, int of, int axes, double *times);
/* A warp's loads of `count` neighbours of `size` bytes from byte `at` on, 32 at a time. */
void tess_reduce_gpu_count_neighbours(const tess_reduce_gpu_walk *w, int64_t at, int64_t count, int64_t size);
/* Single accesses of one lane, which need no rule. */
void tess_reduce_gpu_count_singles_shared(const tess_reduce_gpu_walk *w, double loads, double stores);
void tess_reduce_gpu_count_singles_stored(const tess_reduce_gpu_walk *w, double stores);
/* gpu_finish.cuh: `threads` threads have a stretch of `each` of `count` nodes each, and read eight at a time; paired(): the warps' nodes meet in shared memory, where more
 * than one has some; finish_outputs() of one output. */
void tess_reduce_gpu_count_nodes(const tess_reduce_gpu_walk *w, int threads, int64_t count, int64_t each);
void tess_reduce_gpu_count_paired(const tess_reduce_gpu_walk *w, int threads, int64_t count);
void tess_reduce_gpu_count_finish(const tess_reduce_gpu_walk *w, int64_t count);
/* Of outputs of so many leaves each, more than one: `pair_leaves` where there are many, and `finish`. */
enum { TESS_REDUCE_GPU_PAIRED = 2048 /* leaves of an output, for a block to pair */ };
void tess_reduce_gpu_count_leaves(tess_reduce_gpu_walk *w, int64_t outputs, int64_t leaves);
/* shared: what goes through shared memory is predicted. */
void tess_reduce_gpu_count_begin(tess_reduce_gpu_walk *w, const reduce_problem *p, tess_gpu_prediction *out);
void tess_reduce_gpu_count_end(const tess_reduce_gpu_walk *w, const reduce_problem *p, bool shared);

/* gpu_rows.c: how tree_rows shares the leaves of an output: `slots` of a block's warps with `each` leaves. */
typedef struct tess_reduce_gpu_rows_shape {
    int64_t vector, each, groups; /* elements of a vector; blocks of an output */
    int warps, slots;
    bool run, apart, anywhere, shifted, whole, ticket; /* any order; runs of an output that lie apart; -DANYWHERE, -DSHIFTED, -DWHOLE, -DTICKET */
} tess_reduce_gpu_rows_shape;
tess_reduce_gpu_rows_shape tess_reduce_gpu_rows_shape_of(const reduce_problem *p);
/* gpu_rows_predict.c */
void tess_reduce_predict_rows(const tess_problem *problem, tess_gpu_prediction *prediction);
void tess_reduce_predict_block(const tess_problem *problem, tess_gpu_prediction *prediction);
void tess_reduce_predict_lanes(const tess_problem *problem, tess_gpu_prediction *prediction);
double tess_reduce_gpu_predict_flops(const reduce_problem *p); /* gpu_patches_predict.c: where no order matters, else -1 */

/* gpu_columns.c: how tree_columns shares a set of columns: elements of a vector; strips of a set of columns, nodes of an output that `finish` pairs: of leaves of so many rows, each `split` classes of lanes; warps of a block, rows of
 * each lane on their way. any: gpu_any_columns.cu, which reads so many rows side by side, `rounds` of a warp's on their way; blocks of a multiprocessor, bytes of what meets in shared memory, -DRAGGED. */
typedef struct tess_reduce_gpu_columns_shape {
    int64_t vector, strips, leaves, leaf, met;
    int warps, rows, rounds, blocks, split;
    bool any, packed, ragged;
} tess_reduce_gpu_columns_shape;
tess_reduce_gpu_columns_shape tess_reduce_gpu_columns_shape_of(const reduce_problem *p);
bool tess_reduce_gpu_columns_brief(const reduce_problem *p); /* few elements of many columns, each column a thread's */
int64_t tess_reduce_gpu_columns_spot(const tess_reduce_gpu_columns_shape *s,
                                     int64_t i); /* where a block's node number i lies in shared memory, in nodes */
void tess_reduce_predict_columns(const tess_problem *problem, tess_gpu_prediction *prediction); /* gpu_columns_predict.c */
extern const tess_gpu_row tess_reduce_gpu_tree_columns;
bool tess_reduce_gpu_columns_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_columns_pay(const tess_problem *problem, const char **why);

/* gpu_exact.c */
extern const tess_gpu_row tess_reduce_gpu_exact;
bool tess_reduce_gpu_exact_fits(const tess_problem *problem, const char **why);
extern const tess_gpu_row tess_reduce_gpu_exact_segments;
bool tess_reduce_gpu_exact_segments_fit(const tess_problem *problem, const char **why);
extern const tess_gpu_row tess_reduce_gpu_exact_stretches;
bool tess_reduce_gpu_exact_stretches_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_exact_stretches_pay(const tess_problem *problem, const char **why);
/* The -D of a row that takes stretches of `tile` bytes so, by gpu_stage.cuh and gpu_exact_lengths.cuh. padded: as PAD, and FILLED_WORDS. */
void tess_reduce_gpu_exact_stretch_options(tess_gpu_layout *layout, const reduce_problem *p, int tile, bool padded, int warps, int blocks);

/* gpu_exact_columns.c: how blocks share outputs side by side. A lane has all rows of an output (alone), or a block has `across` of them, in strips, and so many rows of a piece. */
typedef struct tess_reduce_gpu_columns {
    int threads, blocks, digits; /* of a block; of a multiprocessor; of a lane */
    bool alone;
    int64_t across, strips, pieces, rows;
} tess_reduce_gpu_columns;
tess_reduce_gpu_columns tess_reduce_gpu_columns_of(const reduce_problem *p); /* with threads, blocks and digits */
int64_t tess_reduce_gpu_columns_across(int64_t width, int threads, int most);
void tess_reduce_gpu_share_rows(const reduce_problem *p, tess_reduce_gpu_columns *s, int64_t most); /* pieces, of `most` rows at most */
void tess_reduce_gpu_columns_options(tess_gpu_layout *layout, const reduce_problem *p, const tess_reduce_gpu_columns *s);
/* The words of the kernels' `struct columns`, of which a lane has `side`. */
int64_t *tess_reduce_gpu_put_columns(int64_t *at, const reduce_problem *p, const tess_reduce_gpu_columns *s, int side);
int tess_reduce_gpu_finish_side(const reduce_problem *p, const tess_reduce_gpu_columns *s, int64_t strips, int threads);
/* The launches with digits, of all outputs, or (marked) of those that the words `marks` of the workspace say, a word for `side` columns of a strip; `arrived`: a word for each strip, 0 before. */
void tess_reduce_gpu_lay_columns(tess_gpu_layout *layout, const reduce_problem *p, const tess_reduce_gpu_columns *s, bool marked, int64_t marks,
                                 int64_t arrived, int side);
/* gpu_sure_columns.c */
int tess_reduce_gpu_log_of(int64_t n); /* the least log with 2^log at least n */
extern const tess_gpu_row tess_reduce_gpu_exact_sure;
bool tess_reduce_gpu_exact_sure_fits(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_exact_sure_pays(const tess_problem *problem, const char **why);
extern const tess_gpu_row tess_reduce_gpu_exact_columns;
bool tess_reduce_gpu_exact_columns_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_exact_columns_pay(const tess_problem *problem, const char **why);

/* gpu_exact_rows.c */
extern const tess_gpu_row tess_reduce_gpu_exact_rows;
bool tess_reduce_gpu_exact_rows_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_exact_rows_pay(const tess_problem *problem, const char **why);

/* gpu_exact_prefixes.c */
enum { TESS_REDUCE_GPU_RUN_WORDS = 4 };          /* that a piece of gpu_sure_run.cuh leaves for each part, at most */
int64_t tess_reduce_gpu_exact_range(double all); /* elements of a warp that has its share of all */
int64_t *tess_reduce_gpu_put_run_logs(int64_t *at, int64_t range, int64_t longest); /* struct run_logs of gpu_sure_run.cuh */
extern const tess_gpu_row tess_reduce_gpu_exact_prefixes;
bool tess_reduce_gpu_exact_prefixes_fit(const tess_problem *problem, const char **why);

/* gpu_segments.c */
extern const tess_gpu_row tess_reduce_gpu_segments;
bool tess_reduce_gpu_segments_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_segments_pay(const tess_problem *problem, const char **why);
int64_t tess_reduce_gpu_segmented(const reduce_problem *p); /* elements that are in segments, of one output */
int64_t tess_reduce_gpu_chunks(const reduce_problem *p,
                               int64_t size);         /* of so many elements, into which they are cut; 1 where no segment is longer */
bool tess_reduce_gpu_turned(const reduce_problem *p); /* whether outputs lie nearer to each other than a segment's elements */

/* gpu_patches.c: how outputs are cut: sets of outputs side by side that follow one another, or strips of a set. */
typedef struct tess_reduce_gpu_patch {
    int64_t across, sets, inner; /* of a patch; sets that follow one another in all */
    int64_t strips, groups;      /* patches of a set; of the sets that follow one another */
    int group, each, vector, threads, patch, blocks;
    bool linear, shifted, pad, follow; /* follow: there is an axis of such sets */
    double conflicts;
} tess_reduce_gpu_patch;
bool tess_reduce_gpu_patch_of(const reduce_problem *p, tess_reduce_gpu_patch *patch);           /* false: no patch would be worth it */
void tess_reduce_predict_patches(const tess_problem *problem, tess_gpu_prediction *prediction); /* gpu_patches_predict.c */
extern const tess_gpu_row tess_reduce_gpu_patches;
bool tess_reduce_gpu_patches_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_patches_pay(const tess_problem *problem, const char **why);

/* gpu_few.c: elements of a thread's vector, words that all of its elements are, and for how many blocks of 256 threads a multiprocessor must have registers. */
typedef struct tess_reduce_gpu_few_shape {
    int vector, words, blocks;
} tess_reduce_gpu_few_shape;
tess_reduce_gpu_few_shape tess_reduce_gpu_few_shape_of(const reduce_problem *p);
void tess_reduce_predict_few(const tess_problem *problem, tess_gpu_prediction *prediction); /* gpu_groups_predict.c */
extern const tess_gpu_row tess_reduce_gpu_few;
bool tess_reduce_gpu_few_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_few_pay(const tess_problem *problem, const char **why);

/* gpu_sets.c: how a leaf of a set is shared: rows side by side, lanes of a thread, those at once, rounds of them whose loads are on their way, vectors that each thread has and that some have, 0 where these are
 * not written out, elements of a vector; threads of a leaf, leaves of a block, its threads, and for how many blocks a multiprocessor must have registers; bytes of what rows leave. */
typedef struct tess_reduce_gpu_sets_shape {
    int rows, each, held, rounds, sure, most, vector, threads, blocks;
    int64_t leaf, leaf_threads, leaves, met; /* leaf: rows of one, fewer than the tree's where no order matters */
    bool ragged, packed;
} tess_reduce_gpu_sets_shape;
int tess_reduce_gpu_sets_met(const tess_reduce_gpu_sets_shape *s);                 /* rows that a thread a column takes in the end */
int64_t tess_reduce_gpu_sets_spot(const tess_reduce_gpu_sets_shape *s, int64_t i); /* where a block's node number i lies in shared memory, in nodes */
bool tess_reduce_gpu_sets_shape_of(const reduce_problem *p, tess_reduce_gpu_sets_shape *s);
void tess_reduce_predict_sets(const tess_problem *problem, tess_gpu_prediction *prediction); /* gpu_sets_predict.c */
extern const tess_gpu_row tess_reduce_gpu_sets;
bool tess_reduce_gpu_sets_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_sets_pay(const tess_problem *problem, const char **why);

/* gpu_moments.c: how a leaf is cut into tiles. Threads of a column, columns of a tile, such tiles side by side; bytes of a thread's load, of a copy, of a row in the tile, of a tile and of all of a block;
 * tiles of a block and its threads; how many blocks a multiprocessor is to hold; rounds of lanes that go to shared memory, the others stay in registers. */
typedef struct tess_reduce_gpu_moments_shape {
    int rows, across, strips, word, vector, pitch, tile, at_once, threads, blocks, shared, ring, in_part, stay;
    int64_t bytes;
    bool run, shifted, walk, exact; /* the columns are all there are, their rows without gaps; -DSHIFTED; -DWALK */
} tess_reduce_gpu_moments_shape;
/* The leaves of all sets that one launch has: of a set the first of them, how many, their elements in all, rows of the longest and of the last one. */
typedef struct tess_reduce_gpu_moments_part {
    int64_t first, leaves, k;
    int tall, last;
    tess_reduce_gpu_moments_shape s;
} tess_reduce_gpu_moments_part;
/* Where blocks go from tile to tile, or there are many of them, last leaves that are shorter have a launch of their own. Returns how many launches there are. NULL: of an H200. */
int tess_reduce_gpu_moments_parts(const reduce_problem *p, const tess_gpu_device *device, tess_reduce_gpu_moments_part part[2]);
void tess_reduce_predict_moments(const tess_problem *problem, tess_gpu_prediction *prediction); /* gpu_moments_predict.c */
extern const tess_gpu_row tess_reduce_gpu_moments;
bool tess_reduce_gpu_moments_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_moments_pay(const tess_problem *problem, const char **why);

/* gpu_twice.c: elements of a vector; vectors side by side of each of a block's arms, and how many such classes a leaf has; threads of a block, blocks of a multiprocessor; vectors of a thread on their way; rows of a set's last leaf,
 * and classes of it that a block has; a set's blocks for each look, and how many lie between the two looks at one class. */
enum { TESS_REDUCE_GPU_TWICE_ARMS = 8 };
typedef struct tess_reduce_gpu_twice_shape {
    int vector, cls, classes, threads, blocks, rounds, last, turns;
    int64_t of_set, behind;
    bool ragged; /* -DRAGGED */
} tess_reduce_gpu_twice_shape;
tess_reduce_gpu_twice_shape tess_reduce_gpu_twice_shape_of(const reduce_problem *p, const tess_gpu_device *device); /* NULL: of an H200 */
void tess_reduce_predict_twice(const tess_problem *problem, tess_gpu_prediction *prediction);                       /* gpu_twice_predict.c */
extern const tess_gpu_row tess_reduce_gpu_twice;
bool tess_reduce_gpu_twice_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_twice_pay(const tess_problem *problem, const char **why);

/* gpu_stretches.c: segments that follow one another, cut into stretches of whole ones, and those that are longer than a stretch into leaves. The list that a row's kernels
 * read begins with two words for each stretch. */
typedef struct tess_reduce_gpu_cut {
    int64_t units, shorts;        /* stretches and longer segments; the stretches */
    int64_t ranges, leaves, tops; /* of the longer ones; those with more leaves than one */
    int64_t longs, top, words;    /* of the list: where the leaves' words begin, and those of the segments with more leaves than one; all of it */
    bool many;                    /* some have more leaves than a warp pairs */
} tess_reduce_gpu_cut;
bool tess_reduce_gpu_cuts_fit(const reduce_problem *p, const char **why);
/* Stretches of `tile` bytes, leaves of `leaf` elements, fewer than 65536. run: the longer segments are one run of elements, cut into ranges of `leaf`, fewer than 2^31, and
 * where segments end. Before the leaves' words are then the numbers of the leaves that ranges begin with. NULL: no memory for the list, which is the offsets'. */
int64_t *tess_reduce_gpu_cuts(const reduce_problem *p, int64_t tile, int64_t leaf, bool run, tess_reduce_gpu_cut *cut);
/* The kernels of a row that takes its segments so: how much of each kind a block takes, with how many threads; bytes that a leaf leaves. Those of a leaf and of
 * "finish" are launched only where there is something for them; all of a row's have the same arguments as tree_stretches'. */
typedef struct tess_reduce_gpu_cut_way {
    const char *stretches, *leaves;
    int64_t node;
    int warps, leaves_at_once, leaf_threads, tops_at_once, top_threads;
} tess_reduce_gpu_cut_way;
void tess_reduce_gpu_cut_launches(tess_gpu_layout *layout, const reduce_problem *p, const tess_reduce_gpu_cut *cut, const int64_t *cuts,
                                  const tess_reduce_gpu_cut_way *way, const int64_t *block, size_t bytes);
extern const tess_gpu_row tess_reduce_gpu_stretches;
bool tess_reduce_gpu_stretches_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_stretches_pay(const tess_problem *problem, const char **why);

/* gpu_strips.c */
extern const tess_gpu_row tess_reduce_gpu_strips;
bool tess_reduce_gpu_strips_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_strips_pay(const tess_problem *problem, const char **why);

/* gpu_short.c */
extern const tess_gpu_row tess_reduce_gpu_short, tess_reduce_gpu_groups, tess_reduce_gpu_exact_short;
/* How an output is shared: threads, lanes each, elements of a vector, bytes left out; what a warp and a multiprocessor have; gpu_group.cuh's options; whether gpu_tree_words.cu takes
 * several rows at a time; whether a thread takes a row by blocks (gpu_blocks.cuh), and those are summed up before. */
typedef struct tess_reduce_gpu_shape {
    int group, each, vector, pad, tile, warps, blocks, hold, packed, turned, words, by_blocks, summed, moments,
        reads; /* reads: bytes of a load of moments */
} tess_reduce_gpu_shape;
void tess_reduce_gpu_short_shape(const reduce_problem *p, tess_reduce_gpu_shape *shape);
int64_t tess_reduce_gpu_stretch(const reduce_problem *p, const tess_reduce_gpu_shape *shape); /* rows of a warp */
int64_t tess_reduce_gpu_room(const tess_reduce_gpu_shape *shape);                             /* bytes of shared memory a warp */
int tess_reduce_gpu_rounds(
    const reduce_problem *p);         /* of 256 elements, whose lanes a thread takes one after another; 1 also where it takes them round by round */
int tess_reduce_gpu_lanes(int64_t k); /* of the tree that have an element, rounded up to a power of two */
void tess_reduce_gpu_groups_shape(const reduce_problem *p, tess_reduce_gpu_shape *shape);
void tess_reduce_predict_short(const tess_problem *problem, tess_gpu_prediction *prediction);  /* gpu_short_predict.c */
void tess_reduce_predict_groups(const tess_problem *problem, tess_gpu_prediction *prediction); /* gpu_groups_predict.c */
bool tess_reduce_gpu_short_fits(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_short_pays(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_groups_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_groups_pay(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_exact_short_fits(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_exact_short_pays(const tess_problem *problem, const char **why);

/* gpu_leaves.c */
/* An output's nodes that "finish" pairs: of its leaves, or where those are many, what "pair_leaves" made of neighbours. */
int64_t tess_reduce_gpu_paired(int64_t leaves);
/* The launches after one that put each leaf's node into the workspace at `partial`, an output's side by side: nothing where each has one leaf. */
void tess_reduce_gpu_pair_launches(tess_gpu_layout *layout, const reduce_problem *p, int64_t leaves, int64_t partial, const int64_t *block,
                                   size_t bytes);
extern const tess_gpu_row tess_reduce_gpu_leaves, tess_reduce_gpu_tree_lanes;
bool tess_reduce_gpu_leaves_fit(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_leaves_pay(const tess_problem *problem, const char **why);
void tess_reduce_predict_leaves(const tess_problem *problem, tess_gpu_prediction *prediction); /* gpu_leaves_predict.c */
bool tess_reduce_gpu_leaf_words(const reduce_problem *p);  /* WORDS of gpu_leaf.cuh, where elements are neighbours */
bool tess_reduce_gpu_leaf_wide(const reduce_problem *p);   /* WORDS=2 */
int tess_reduce_gpu_leaf_threads(const reduce_problem *p); /* that a leaf has then */

/* gpu_spread.c */
extern const tess_gpu_row tess_reduce_gpu_tree_spread;
bool tess_reduce_gpu_spread_fits(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_spread_pays(const tess_problem *problem, const char **why);

/* gpu_turned.c */
extern const tess_gpu_row tess_reduce_gpu_tree_turned;
bool tess_reduce_gpu_turned_fits(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_turned_pays(const tess_problem *problem, const char **why);

bool tess_reduce_gpu_rung_fits(const tess_problem *problem, const char **why);
bool tess_reduce_gpu_rung_pays(const tess_problem *problem, const char **why);

#endif

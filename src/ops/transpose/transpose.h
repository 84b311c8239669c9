/* SPDX-License-Identifier: Apache-2.0
 * transpose.h - the contract of the operation: what a checked problem looks like to a row.
 *
 * Planning brings every problem into one form. Axes are in the order of out's memory, slowest first, all of out's strides positive (axes that ran
 * backwards in out are walked from the other end); axes that step alike in both arrays are joined; a run of elements that stays together and has 2,
 * 4, 8 or 16 bytes is one element. So most problems are a batch of matrices when a row sees them. */
#ifndef TESS_OPS_TRANSPOSE_H
#define TESS_OPS_TRANSPOSE_H

#include "core/strategy.h"

extern const tess_op tess_transpose_op;

tess_status tess_transpose_check(const tess_problem *problem, const char *in, const char *second, const char *out);
void tess_transpose_describe(tess_problem *problem);

tess_status tess_transpose_sample(const tess_problem *problem, int64_t limit, tess_problem **small);

/* slab.c */
void tess_transpose_cut(const tess_problem *base, int64_t most, tess_cut *cut);
tess_status tess_transpose_slab(const tess_problem *base, const tess_cut *cut, int64_t from, int64_t to, tess_slab *slab);

enum { TRANSPOSE_IN = 0, TRANSPOSE_OUT = 1 }; /* which stride list */
/* Bytes of a result that would push everything else out of the caches, and that would not be in them when it is read: it goes past them. */
enum { TRANSPOSE_LARGE = 4 << 20 };

enum { TRANSPOSE_SMALL = 4096 }; /* bytes of a small array (cpu_small.c), at most */

typedef enum transpose_place {
    TRANSPOSE_ELSEWHERE = 0, /* out is other memory */
    TRANSPOSE_NOTHING,       /* in place, and every element stays */
    TRANSPOSE_SQUARE,        /* in place: a batch of square matrices */
    TRANSPOSE_RECTANGULAR
} transpose_place;

typedef struct transpose_problem {
    tess_problem base;
    transpose_place place;
    int64_t size; /* bytes of an element; in place: of a run that stays together, any number; elsewhere 1, 2, 4, 8, 16 */
    /* elsewhere */
    int ndim;
    int64_t first[2]; /* byte offset of the first element of the walk from the array's first element */
    /* in place: in is batch x rows x columns, out batch x columns x rows */
    int64_t batch, rows, columns;
    /* From here on a simple call clears nothing: arrays are imported, and lists written as far as there are axes. */
    tess_array in, out; /* as given, for the check of an execution */
    int64_t shape[TESS_MAX_NDIM];
    int64_t stride[2][TESS_MAX_NDIM]; /* bytes */
    int perm[TESS_MAX_NDIM];          /* axis k of out is axis perm[k] of in */
} transpose_problem;

/* Elements of one array to their places in another of the same shape, which is no part of it: a step of another operation, so nothing is checked. Fills `problem`. */
void tess_transpose_between(transpose_problem *problem, tess_context *context, const tess_array *in, const tess_array *out);

/* The problem as matrices: q is out's fastest axis, p the one that steps least in in (p_size = 1 when they are the same). The others are the batch.
 */
typedef struct transpose_plane {
    int64_t p_size, p_in, p_out, q_size, q_in, q_out;
    int ndim;
    int64_t count; /* matrices */
    int64_t shape[TESS_MAX_NDIM];
    int64_t stride[2][TESS_MAX_NDIM];
} transpose_plane;

/* without_run: the last axis is a run that is copied whole, and does not count. */
void tess_transpose_plane_of(transpose_plane *plane, const transpose_problem *problem, bool without_run);

/* Cuts the matrices into blocks of p_block x q_block, the last of a row or column up to `least` - 1 larger, and runs them on the threads, down the q
 * axis first. in and out point at the block's first element; p and q say where in the matrix that is. */
typedef void (*transpose_block)(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq);
tess_status tess_transpose_blocks(const transpose_problem *problem, const tess_run *run, const transpose_plane *plane, int64_t p_block,
                                  int64_t q_block, int64_t least, int64_t bytes, transpose_block block, const void *argument);

/* cpu_tiles.c: rows src_step apart, of np elements each, become the nq columns of rows dst_step apart. `size` may be any number of bytes. ahead: they lie in
 * memory, not in a cache. */
typedef void transpose_turn(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t np, int64_t nq, int64_t size, bool ahead);

enum { TRANSPOSE_GROUP = 16 }; /* elements of a group (cpu_groups.c), at most */
/* Groups that permutes of bytes turn quicker than tiles do, in the caches. */
TESS_INLINE int64_t tess_transpose_group_most(int64_t size) { return size == 1 ? TRANSPOSE_GROUP : size <= 4 ? 10 : size == 8 ? 8 : 6; }

/* Whether rows of p follow each other as groups: a matrix of few columns; or else, of what `groups` takes, of few rows. */
bool tess_transpose_splits(const transpose_problem *problem, const transpose_plane *plane);

/* Groups in rows that are turned, too: an axis of a few elements without gaps in one array (group), one that steps over groups there, and a third one without gaps in the
 * other array. splits: the groups are in's. False, and nothing is said, where there are none. The plane is the matrix of the other two axes; without the group's. */
typedef struct transpose_turned {
    int group;
    bool splits;
} transpose_turned;
bool tess_transpose_turned_of(transpose_turned *turned, transpose_plane *plane, const transpose_problem *problem);

/* cpu_groups.c: the same for a few elements or rows that follow each other without a gap; false, and nothing was done, for anything else. */
typedef bool transpose_turn_groups(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t np, int64_t nq, int64_t size);

/* Copies of short runs without a call. */
TESS_INLINE void tess_copy_run(char *restrict to, const char *restrict from, int64_t n) {
    if (n > 64) {
        __builtin_memcpy(to, from, (size_t)n);
    } else if (n >= 16) {
        for (int64_t i = 0; i < n - 16; i += 16)
            __builtin_memcpy(to + i, from + i, 16);
        __builtin_memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        __builtin_memcpy(to, from, 8);
        __builtin_memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        __builtin_memcpy(to, from, 4);
        __builtin_memcpy(to + n - 4, from + n - 4, 4);
    } else {
        for (int64_t i = 0; i < n; i++)
            to[i] = from[i];
    }
}

#endif

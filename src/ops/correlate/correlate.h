/* SPDX-License-Identifier: Apache-2.0
 * correlate.h - the contract of the operation: what a checked correlation is, and what a strategy must do with it.
 *
 * A strategy writes, for every output element, the chain that tessera.h section 7 defines: taps in the order of `weights`, one fused
 * multiply-add each, from +0. Ghost cells take part with the boundary's value like any other element (0 * infinity is NaN there too, and
 * fma(0, w, -0) is +0, so leaving them out would show).
 *
 * The problem says the same thing twice. `masks` is the definition, in the caller's axes and in C: the reference reads it. `direct` and `passes`
 * are what the fast rows read: axes joined where no mask tells them apart, weights in the `work` type. work is C, or f32 or f64 where C is an integer
 * type and no sum of the problem can leave the integers that f32 or f64 hold exactly: then every partial sum is the same number. */
#ifndef TESS_OPS_CORRELATE_H
#define TESS_OPS_CORRELATE_H

#include "core/convert.h"
#include "core/strategy.h"
#include "ops/correlate/boundary.h"

/* A mask as the definition has it: in C, compact, row-major, flipped already for convolve. */
typedef struct tess_correlate_mask {
    int ndim;
    int axes[TESS_MAX_NDIM];       /* of in, one for each mask axis */
    int64_t shape[TESS_MAX_NDIM];  /* every size >= 1 */
    int64_t before[TESS_MAX_NDIM]; /* output i meets input i - before + j at tap j */
    int64_t taps;
    size_t size; /* bytes of weights */
    void *weights;
} tess_correlate_mask;

typedef struct tess_correlate_axis {
    int64_t n, m;                  /* input, output: elements (on the row axis: groups) */
    int64_t in_stride, out_stride; /* bytes */
    int64_t width, before;         /* taps along it, 1 and 0 when it is not masked */
} tess_correlate_axis;

/* One correlation of one array with one mask. Axes in the order of the array, joined. At least one axis. */
typedef struct tess_correlate_pass {
    int ndim;
    int row;                  /* the axis along which outputs are computed side by side */
    int64_t group;            /* elements that stand side by side in one step of the row axis (the colours of a pixel); 1 = none. In and out are then
                                 compact within a group and from group to group */
    int masked;               /* axes with a mask */
    int order[TESS_MAX_NDIM]; /* those, in the mask's order */
    bool row_last;            /* the row axis is the last of them, or not masked: taps along a row follow each other */
    int slab;                 /* the axis that slabs are cut along, in this pass; -1: none (problem.c) */
    bool last;                /* writes the caller's output */
    tess_type from, to;       /* element types read and written */
    int64_t inputs, outputs;  /* elements */
    int64_t taps;
    size_t size;   /* bytes of weights, without their copy */
    size_t room;   /* bytes allocated at weights */
    void *weights; /* work type, in tap order */
    void *columns; /* the same, each plane column by column, where the row's taps are the last; otherwise not to be used */
    tess_correlate_axis axis[TESS_MAX_NDIM];
} tess_correlate_pass;

typedef struct tess_correlate_problem {
    tess_problem base;
    tess_type compute, work;
    tess_boundary boundary; /* ZERO is kept as CONSTANT with +0 */
    tess_value constant, work_constant;
    tess_extent extent; /* as asked for, and whether factors were found for one mask: for the key */
    bool rank1;
    int count; /* masks: 1, or a separable list */
    tess_correlate_mask *masks;
    tess_correlate_pass *direct; /* NULL for a list of several masks */
    int passes_count;
    tess_correlate_pass *passes; /* NULL: not separable. A list, or the factors of masks[0] where they give the same bits */
    tess_correlate_pass *box;    /* of a list: the axes of one pass with all of its masks, without weights (padded.h); NULL: rows are not short */
    int slab_pass;               /* the pass along the axis that slabs are cut along; -1: none */
    int64_t between[2];          /* bytes of the two buffers that the passes alternate between, whole arrays */
    double separable_flops;
    struct tess_correlate_packed *packed;               /* NULL: not small integers whose sums fit 32 bits (packed.h) */
    struct tess_correlate_packed_passes *packed_passes; /* NULL: not a row and a column over bytes (packed_passes.h) */
    struct tess_correlate_fft *fft; /* NULL: sums are chains. Else they go through Fourier transforms, and the bits are those of fft_reference.c */
    /* From here on a simple call clears nothing: arrays are imported, and lists written as far as there are axes. */
    tess_array in, out; /* data NULL */
} tess_correlate_problem;

/* Whether the output, of elements of `width` bytes, is stored past the caches: a plain store reads the line that it overwrites. */
TESS_INLINE bool tess_correlate_goes_past(const tess_correlate_problem *problem, int64_t width) {
    return (double)problem->out.count * (double)width >= 8 << 20;
}

extern const tess_op tess_correlate_op;

/* problem.c: fills `direct`, `passes` and `work` once `in`, `out`, `masks` are known. */
typedef struct tess_correlate_asked {
    tess_extent extent;
    tess_accuracy accuracy;
} tess_correlate_asked;
/* sample.c */
tess_status tess_correlate_sample(const tess_problem *problem, int64_t limit, tess_problem **small);
tess_status tess_correlate_prepare(tess_correlate_problem *problem, const tess_correlate_asked *asked);
void tess_correlate_release(tess_problem *problem);
void tess_correlate_describe(tess_problem *problem);
/* The size of an output axis; false when it overflows. */
bool tess_correlate_size(tess_extent extent, int64_t n, int64_t width, int64_t *m);

/* passes.c: problem->direct of the one mask; problem->passes of a list. In the work type. */
tess_status tess_correlate_build_direct(tess_correlate_problem *problem);
/* The axes of a pass over the whole array with such a mask; the mask's weights are not read and the pass has none. */
void tess_correlate_lay(tess_correlate_pass *pass, const tess_correlate_problem *problem, const tess_correlate_mask *mask);
/* The same with all of a list's masks; false where one has a single tap, whose axis has no place of its own in the mask's order. */
bool tess_correlate_lay_list(tess_correlate_pass *pass, const tess_correlate_problem *problem, const tess_correlate_mask *masks, int count);
tess_status tess_correlate_build_passes(tess_correlate_problem *problem, const tess_correlate_mask *masks, int count);
/* `problem` is a copy of a prepared one that has other arrays of the same shapes and types now: what GPU rows read of it is laid over them, with the weights that the other has. One pass and
 * passes_count of them are the caller's memory. */
bool tess_correlate_lay_again(tess_correlate_problem *problem, tess_correlate_pass *direct, tess_correlate_pass *passes);

/* rank1.c: whether the mask is exactly the outer product of 1-D factors that C holds. factors[] receives one mask of rank 1 for each axis longer than
 * 1, in the mask's order, *count of them; the caller frees their weights. *count is 0 when it is not of rank 1 (or has fewer than two such axes). */
tess_status tess_correlate_rank1(tess_context *context, const tess_correlate_mask *mask, tess_type compute, tess_correlate_mask *factors, int *count);

tess_status tess_correlate_reference(const tess_problem *problem, const tess_run *run);

/* One pass by the method of a row; what lies behind correlate/rows and correlate/window, and what correlate/separable chains. run->threads = 0: on
 * this thread alone, inside a task. scratch: 64-byte aligned, as much as rows_scratch says or as the window needs, for every thread. */
typedef tess_status (*tess_correlate_pass_function)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                    const char *in, char *out, char *scratch);
size_t tess_correlate_rows_scratch(const tess_correlate_problem *problem, const tess_correlate_pass *pass, int threads);

#endif

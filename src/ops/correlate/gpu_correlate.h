/* SPDX-License-Identifier: Apache-2.0
 * gpu_correlate.h - the GPU's part of the table, and what its files share: gpu_rows.c has the table and the general row, gpu_rungs.c lays out the
 * ladder. */
#ifndef TESS_OPS_CORRELATE_GPU_H
#define TESS_OPS_CORRELATE_GPU_H

#include "gpu/row.h"
#include "ops/correlate/correlate.h"

enum { CORRELATE_GPU_ROWS = 35 + 12 };
extern const tess_strategy tess_correlate_gpu_rows[CORRELATE_GPU_ROWS];

/* KERNEL_TEXT(gpu_general): the text of gpu_general.cu under its own name. */
#define KERNEL_TEXT(file)                                  \
    extern const char tess_kernel_correlate_##file##_cu[]; \
    static const tess_gpu_text file = {"correlate/" #file ".cu", tess_kernel_correlate_##file##_cu}

/* What every kernel may include: gpu/types.cuh, gpu_boundary.cuh, gpu_ladder.cuh, NULL-terminated. */
extern const tess_gpu_text *const tess_correlate_gpu_headers[];
/* What those of any type, complex ones too, may: gpu/types.cuh, gpu_boundary.cuh, gpu_number.cuh. */
extern const tess_gpu_text *const tess_correlate_number_headers[];

TESS_INLINE const tess_correlate_problem *tess_correlate_gpu_of(const tess_problem *problem) { return (const tess_correlate_problem *)problem; }

/* No Fourier transforms: what every row needs. */
bool tess_correlate_gpu_chains(const tess_problem *problem, const char **why);
/* One mask, as a chain: what a row that reads problem->direct needs. */
bool tess_correlate_gpu_direct(const tess_problem *problem, const char **why);
/* `sensible` of the ladder's rungs. */
bool tess_correlate_gpu_by_name(const tess_problem *problem, const char **why);
/* A step of a pass in elements of the type on that side. */
TESS_INLINE int64_t tess_correlate_gpu_in(const tess_correlate_pass *pass, int axis) {
    return pass->axis[axis].in_stride / (int64_t)tess_type_size(pass->from);
}
TESS_INLINE int64_t tess_correlate_gpu_out(const tess_correlate_pass *pass, int axis) {
    return pass->axis[axis].out_stride / (int64_t)tess_type_size(pass->to);
}
/* Whether the constant is an element of that type, so that ghost cells can stand among elements. */
bool tess_correlate_gpu_is_element(const tess_correlate_problem *problem, tess_type type);
/* -DIN=, -DOUT=, -DWORK= by the numbers of gpu/types.cuh, which are tess_type's. */
void tess_correlate_gpu_types(tess_gpu_layout *layout, const tess_correlate_problem *problem, const tess_correlate_pass *pass);
/* The pass's weights, in the work type and the mask's order, on the device: the offset for TESS_GPU_DATA. */
int64_t tess_correlate_gpu_weights(tess_gpu_layout *layout, const tess_correlate_pass *pass);

/* For rows that take lists as well: the passes that run, one or more; the buffers between them; the pointers to what number k reads and writes. */
const tess_correlate_pass *tess_correlate_gpu_passes(const tess_correlate_problem *problem, int *count);
void tess_correlate_gpu_between(tess_gpu_layout *layout, const tess_correlate_problem *problem, int count, int64_t *between);
void tess_correlate_gpu_ends(tess_gpu_layout *layout, tess_gpu_step *step, int k, int count, const int64_t *between);
/* Pass by pass: the buffers between them, and what lay_pass lays for each; `pass` stands in the list of them all. */
typedef void tess_correlate_gpu_lay_pass(tess_gpu_layout *layout, const tess_correlate_problem *problem, int k, int count,
                                         const tess_correlate_pass *pass, const int64_t *between);
void tess_correlate_gpu_lay_passes(tess_gpu_layout *layout, const tess_problem *base, tess_correlate_gpu_lay_pass *lay_pass);

#endif

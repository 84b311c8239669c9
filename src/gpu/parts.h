/* SPDX-License-Identifier: Apache-2.0
 * parts.h - what a row asks of parts.c whose launches are other rows'. */
#ifndef TESS_GPU_PARTS_H
#define TESS_GPU_PARTS_H

#include "gpu/row.h"

/* The first of a table's rows that would be chosen for the part, but for those two (NULL: no such one); NULL: none. */
const tess_strategy *tess_gpu_part_row(const tess_problem *part, const tess_strategy *rows, int count, const tess_gpu_row *but,
                                       const tess_gpu_row *nor);

/* Where a part's own input and output are: bytes beyond the places' first. */
typedef struct tess_gpu_ends {
    tess_gpu_place in, out;
    int64_t in_at, out_at;
} tess_gpu_ends;
/* The part's launches, by its row; the layout's alignment becomes what either asks of the caller's arrays. */
void tess_gpu_lay_part(const tess_problem *part, const tess_strategy *row, const tess_gpu_device *device, tess_gpu_layout *layout,
                       const tess_gpu_ends *ends);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * parts.c - rows whose launches are other rows': a problem in parts, each laid out by the row that takes it, of its own operation's table or of another's, with its own ends. */
#include "gpu/parts.h"

const tess_strategy *tess_gpu_part_row(const tess_problem *part, const tess_strategy *rows, int count, const tess_gpu_row *but,
                                       const tess_gpu_row *nor) {
    const char *why;
    for (int r = 0; r < count; r++)
        if (rows[r].gpu->production && rows[r].gpu != but && rows[r].gpu != nor && rows[r].applicable(part, &why) &&
            (!rows[r].sensible || rows[r].sensible(part, &why)))
            return &rows[r];
    return NULL;
}

void tess_gpu_lay_part(const tess_problem *part, const tess_strategy *row, const tess_gpu_device *device, tess_gpu_layout *layout,
                       const tess_gpu_ends *ends) {
    const int unit = layout->units, step = layout->steps;
    const int64_t alignment = layout->alignment;
    layout->alignment = 0;
    row->gpu->lay_out(part, device, layout);
    layout->alignment = tess_max64(layout->alignment, alignment);
    for (int u = unit; u < layout->units; u++)
        layout->unit[u].headers = layout->unit[u].headers ? layout->unit[u].headers : row->gpu->headers;
    for (int s = step; s < layout->steps; s++)
        for (int a = 0; a < layout->step[s].arguments; a++) {
            tess_gpu_argument *argument = &layout->step[s].argument[a];
            if (argument->place == TESS_GPU_IN) {
                argument->place = ends->in;
                argument->offset += ends->in_at;
            } else if (argument->place == TESS_GPU_OUT) {
                argument->place = ends->out;
                argument->offset += ends->out_at;
            }
        }
}

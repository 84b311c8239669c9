/* SPDX-License-Identifier: Apache-2.0
 * gpu_beside.c - how lines of a table share the indices that they are looked up by: vectors of a thread, lines of a block, where lines of out may begin; -D and launch of the kernels in
 * gpu_lines.cuh and gpu_beside.cuh. */
#include "ops/lookup/gpu_lookup.h"

enum { CACHED = 128 << 10 /* bytes of a block's lines, which the first-level cache holds */, MOST_SERVED = 8, BLOCKS_THAT_FILL = 2048 };

lookup_gpu_shape tess_lookup_gpu_alone(const lookup_problem *p, int64_t groups, int threads) {
    return (lookup_gpu_shape){.groups = groups, .threads = threads, .v = tess_lookup_gpu_vector(p), .served = 1};
}

/* 16 bytes of out, of at most two vectors of indices and `most` lookups, but a word of out at least, without which nothing can be put off. */
lookup_gpu_shape tess_lookup_gpu_beside(const lookup_problem *p, int threads, int64_t most) {
    lookup_gpu_shape s = {.threads = threads, .v = tess_min64(most, tess_min64(16 / p->size, 32 / p->index.itemsize)), .served = 1};
    s.v = tess_max64(s.v, tess_max64(1, 4 / p->size));
    s.skew = s.v > 1 && tess_lookup_stride(&p->outer, LOOKUP_OUT) % (s.v * p->size) != 0;
    s.groups = s.v >= 4 || most < 4 ? 1 : 2;
    return s;
}

int64_t tess_lookup_gpu_turns(const lookup_problem *p, const lookup_gpu_shape *s) {
    const int64_t vectors = s->skew ? p->at.count / s->v + 2 : tess_ceil_div(p->at.count, s->v);
    return tess_ceil_div(vectors, s->groups * (s->threads / 32) * (s->skew ? 31 : 32));
}

/* As many as there is room for, but blocks for all multiprocessors; about the same number in each. */
int64_t tess_lookup_gpu_share(const lookup_problem *p, int64_t most, int64_t parts, int64_t fill) {
    int64_t served = tess_max64(1, tess_min64(most, p->outer.count));
    while (served > 1 && tess_ceil_div(p->outer.count, served) * parts < fill)
        served = (served + 1) / 2;
    return tess_ceil_div(p->outer.count, tess_ceil_div(p->outer.count, served));
}

lookup_gpu_shape tess_lookup_gpu_cached(const lookup_problem *p, lookup_gpu_shape alone, int64_t line, int64_t most) {
    if (p->outer.ndim == 0)
        return alone;
    lookup_gpu_shape s = tess_lookup_gpu_beside(p, LOOKUP_GPU_LINE_THREADS, most);
    if (!s.skew && 2 * line > CACHED) /* there is nothing to share, and vectors are whole */
        return alone;
    s.served = tess_lookup_gpu_share(p, tess_min64(MOST_SERVED, CACHED / tess_max64(line, 1)), tess_lookup_gpu_turns(p, &s), BLOCKS_THAT_FILL);
    return s;
}

void tess_lookup_gpu_lines(tess_gpu_layout *layout, const lookup_problem *p, const lookup_gpu_shape *s, bool full) {
    tess_gpu_option(layout, "-DV=%d", (int)s->v);
    tess_gpu_option(layout, "-DGROUPS=%d", (int)s->groups);
    tess_gpu_option(layout, "-DTHREADS=%d", s->threads);
    tess_gpu_option(layout, "-DBLOCKS=%d", !full ? 1 : (p->outer.ndim ? 1024 : 2048) / s->threads);
    tess_gpu_option(layout, "-DLINES=%d", p->outer.ndim);
    tess_gpu_option(layout, "-DSKEW=%d", s->skew);
}

tess_gpu_step *tess_lookup_gpu_launch_lines(tess_gpu_layout *layout, const lookup_problem *p, const char *entry, lookup_gpu_table table,
                                            const lookup_gpu_shape *s) {
    const int64_t blocks = tess_lookup_gpu_turns(p, s);
    const int64_t lines[] = {p->n,      table.step,    p->at.count, blocks, table.line, tess_lookup_stride(&p->outer, LOOKUP_OUT) / p->size,
                             s->served, p->outer.count};
    tess_gpu_step *step = tess_gpu_launch_of(layout, entry, blocks * tess_ceil_div(p->outer.count, s->served), 1, 1, s->threads, 0);
    tess_gpu_pass_pointer(layout, step, table.place, table.offset);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_SECOND, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_MARK, 0);
    tess_gpu_pass(layout, step, lines, sizeof lines);
    tess_gpu_pass(layout, step, p->fill, sizeof p->fill);
    layout->alignment = tess_lookup_gpu_alignment(p, s);
    return step;
}

int64_t tess_lookup_gpu_alignment(const lookup_problem *p, const lookup_gpu_shape *s) {
    return tess_max64(p->size, tess_min64(16, s->v * tess_max64(p->size, p->index.itemsize)));
}

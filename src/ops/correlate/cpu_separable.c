/* SPDX-License-Identifier: Apache-2.0
 * cpu_separable.c - correlate/separable: one 1-D pass after another, slab by slab.
 *
 * A mask of k x k taps costs k * k fused multiply-adds an output directly and 2 k in passes; but passes over whole arrays move every element through
 * memory once a pass. So the output is cut along its coarsest axis into slabs, and all passes run over one slab while it is in cache. Passes after
 * the one along that axis need just the slab's rows. Passes before it must also make the rows that its mask reaches beyond the slab; a thread that goes
 * on with the next slab finds them made and moves them to the front of the buffer. Where the boundary folds or repeats rows, they are made at the
 * folded place, run by run. The commonest list, a column and then a row over an image, goes to cpu_fused.c. */
#include <string.h>

#include "core/parallel.h"
#include "ops/correlate/fused.h"
#include "ops/correlate/slabs.h"

tess_status TESS_ISA_NAME(tess_correlate_rows_pass)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                    const char *in, char *out, char *scratch);
tess_status TESS_ISA_NAME(tess_correlate_window_pass)(const tess_correlate_problem *problem, const tess_correlate_pass *pass, const tess_run *run,
                                                      const char *in, char *out, char *scratch);

tess_status TESS_ISA_NAME(tess_correlate_fused_passes)(const tess_correlate_problem *problem, const tess_correlate_fused *fused, const tess_run *run);

typedef struct job {
    const tess_correlate_problem *problem;
    const tess_run *run;
    tess_run alone; /* as *run, for passes inside a task */
    tess_correlate_slabs slabs;
    char *workspace;
} job;

static tess_status one_pass(const job *j, const tess_correlate_pass *pass, const tess_run *run, const char *in, char *out, char *scratch) {
    tess_correlate_window window;
    const char *why;
    tess_correlate_pass_function function = tess_correlate_window_of(&window, j->problem, pass, &why) ? TESS_ISA_NAME(tess_correlate_window_pass)
                                                                                                      : TESS_ISA_NAME(tess_correlate_rows_pass);
    return function(j->problem, pass, run, in, out, scratch);
}

/* The pass with other sizes along the slab axis. */
static tess_correlate_pass resized(const tess_correlate_pass *pass, int64_t n, int64_t m, int64_t before) {
    tess_correlate_pass part = *pass;
    tess_correlate_axis *a = &part.axis[part.slab];
    part.outputs = a->m > 0 ? part.outputs / a->m * m : 0;
    a->n = n;
    a->m = m;
    a->before = before;
    return part;
}

static void fill_row(const tess_correlate_problem *problem, char *row, int64_t bytes) {
    size_t width = tess_type_size(problem->work);
    for (int64_t i = 0; i < bytes; i += (int64_t)width)
        memcpy(row + i, &problem->work_constant, width);
}

/* A pass before the one along the slab axis: makes the rows that this one meets, first .. first + count - 1 of its extended input. The first pass
 * reads the caller's array, at the places where the boundary says that these rows are; the others find them already in order. */
static void extended_rows(const job *j, const tess_correlate_pass *pass, bool from_caller, int64_t n, int64_t first, int64_t count, const char *in,
                          char *out, char *scratch) {
    const tess_correlate_axis *a = &pass->axis[pass->slab];
    for (int64_t done = 0; done < count;) {
        tess_boundary_run piece = tess_boundary_run_at(j->problem->boundary, n, first + done);
        int64_t rows = tess_min64(piece.length, count - done);
        char *to = out + done * a->out_stride;
        if (piece.at < 0) {
            for (int64_t r = 0; r < rows; r++)
                fill_row(j->problem, to + r * a->out_stride, a->out_stride);
        } else {
            tess_correlate_pass part = resized(pass, rows, rows, 0);
            const char *from = in + done * a->in_stride;
            if (from_caller) {
                from = in + piece.at * a->in_stride;
                part.axis[part.slab].in_stride *= piece.step;
            }
            one_pass(j, &part, &j->alone, from, to, scratch);
        }
        done += rows;
    }
}

/* kept: extended rows that the slab before this one has left at the front of the buffer of the pass before the slab's. */
static void one_slab(const job *j, int64_t y, int64_t rows, int64_t kept, char *room) {
    const tess_correlate_problem *problem = j->problem;
    char *buffers[2] = {room, room + j->slabs.between[0]}, *scratch = buffers[1] + j->slabs.between[1];
    const char *in = tess_correlate_input(j->problem, j->run);
    int64_t extended = rows + j->slabs.reach;
    for (int k = 0; k < problem->passes_count; k++) {
        const tess_correlate_pass *pass = &problem->passes[k];
        const tess_correlate_axis *a = &pass->axis[pass->slab];
        char *out = pass->last ? j->run->out + y * a->out_stride : buffers[k & 1];
        if (k < problem->slab_pass) {
            const tess_correlate_pass *along = &problem->passes[problem->slab_pass];
            extended_rows(j, pass, k == 0, a->n, y - along->axis[along->slab].before + kept, extended - kept, in,
                          k == problem->slab_pass - 1 ? out + kept * a->out_stride : out, scratch);
        } else if (k == problem->slab_pass) {
            tess_correlate_pass part = k == 0 ? resized(pass, a->n, rows, a->before - y) : resized(pass, extended, rows, 0);
            one_pass(j, &part, &j->alone, in, out, scratch);
        } else {
            tess_correlate_pass part = resized(pass, rows, rows, 0);
            one_pass(j, &part, &j->alone, k == 0 ? in + y * a->in_stride : in, out, scratch);
        }
        in = out;
    }
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    const job *j = argument;
    char *room = j->workspace + (size_t)worker * ((size_t)(j->slabs.between[0] + j->slabs.between[1]) + j->slabs.scratch);
    for (int64_t s = begin; s < end; s++) {
        const int64_t y = s * j->slabs.height, kept = s > begin ? j->slabs.reach : 0;
        if (kept > 0) {
            const tess_correlate_pass *before = &j->problem->passes[j->problem->slab_pass - 1];
            const int64_t row = before->axis[before->slab].out_stride;
            char *made = room + (j->problem->slab_pass - 1) % 2 * j->slabs.between[0];
            memmove(made, made + j->slabs.height * row, (size_t)(kept * row));
        }
        one_slab(j, y, tess_min64(j->slabs.height, j->slabs.rows - y), kept, room);
    }
}

static tess_status whole_passes(const job *j) {
    char *buffers[2] = {j->workspace, j->workspace + j->slabs.between[0]}, *scratch = buffers[1] + j->slabs.between[1];
    const char *in = tess_correlate_input(j->problem, j->run);
    for (int k = 0; k < j->problem->passes_count; k++) {
        char *out = k == j->problem->passes_count - 1 ? j->run->out : buffers[k & 1];
        TESS_TRY(one_pass(j, &j->problem->passes[k], j->run, in, out, scratch));
        in = out;
    }
    return TESS_OK;
}

tess_status TESS_ISA_NAME(tess_correlate_separably)(const tess_problem *base, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_separably)(const tess_problem *base, const tess_run *run) {
    job j = {.problem = (const tess_correlate_problem *)base, .run = run, .alone = *run, .workspace = run->workspace};
    if (j.problem->out.count == 0)
        return TESS_OK;
    tess_correlate_fused fused;
    if (tess_correlate_fused_of(&fused, j.problem))
        return TESS_ISA_NAME(tess_correlate_fused_passes)(j.problem, &fused, run);
    j.alone.threads = 0;
    tess_correlate_slabs_of(&j.slabs, j.problem);
    if (j.slabs.whole)
        return whole_passes(&j);
    const int64_t count = tess_ceil_div(j.slabs.rows, j.slabs.height);
    /* At its front a piece makes rows again that its neighbour makes: as many as it has of its own, at most. */
    const int64_t least = tess_min64(count / (8 * (int64_t)run->threads), tess_ceil_div(j.slabs.reach, j.slabs.height));
    return tess_parallel_guided(run->context, run->threads, count, tess_max64(1, least), task, &j);
}

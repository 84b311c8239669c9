/* SPDX-License-Identifier: Apache-2.0
 * cpu_packed_passes.c - correlate/packed_passes: a row mask and then a column mask over an image of bytes, in packed integers.
 *
 * Two rows at a time go through the row mask, four taps (or two) in every 32-bit lane; their sums, of 16 bits, are stored as pairs, one above the other in
 * a lane. For the column mask such a pair is two taps of every output, so it too is made of products of two. Pairs of a strip of columns are kept in a
 * ring that stays in the first-level cache; six output rows are made at a time from as many pairs as they meet. Columns within a pair stand in the order
 * in which the row kernel makes them: the last step, which packs outputs, puts them in order. */
#include "core/parallel.h"
#include "ops/correlate/packed_passes.h"
#include "ops/correlate/window_kernels.h"
#include "simd/simd.h"

enum { LEAST_BAND = 96 };
const tess_window_kernels *TESS_ISA_NAME(tess_correlate_packed_kernels)(bool dot4, bool pixels);
tess_row_loader TESS_ISA_NAME(tess_correlate_packed_loader)(tess_type from, bool dot4);

typedef struct job {
    const tess_correlate_packed_passes *p;
    const tess_window_kernels *kernels;
    tess_correlate_source source;
    const char *in;
    char *out, *scratch;
    const int32_t *across, *down; /* weights */
    int64_t groups, width;        /* of taps of the row mask; bytes of an element that its kernel reads */
    int64_t length, out_width;    /* elements of an output row; their bytes */
    int64_t strips, bands, band;
    tess_window_put put;
    bool stream;
    uint8_t picks[64];
} job;

/* A strip: columns first .. first + count - 1, of which the pairs made so far are those below `made`; pair 0 starts with the first row that output row
 * `base` meets. */
typedef struct strip {
    char *scratch;
    int64_t first, count, base, made;
} strip;

static const char *input_row(const job *j, int64_t extended) {
    const int64_t at = tess_boundary_index(j->source.boundary, j->p->down.n, extended);
    return at < 0 ? NULL : j->in + at * j->p->down.in_stride;
}

static char *pair_at(const job *j, const strip *s, int64_t pair) { return s->scratch + j->p->table_bytes + pair % j->p->ring * j->p->pair_bytes; }

static void make_pair(const job *j, const strip *s, int64_t pair) {
    const tess_correlate_packed_passes *p = j->p;
    const int64_t start = s->first - p->across.before * p->group, columns = tess_ceil_div(s->count, j->kernels->lanes) * j->kernels->lanes;
    char *copy = s->scratch + p->table_bytes + p->ring * p->pair_bytes;
    tess_window_two_rows two = {.weights = j->across,
                                .groups = j->groups,
                                .step = j->kernels->taps * p->group * j->width,
                                .columns = columns,
                                .picks = j->picks,
                                .start = p->start[0],
                                .to = pair_at(j, s, pair)};
    for (int r = 0; r < 2; r++, copy += p->copy_bytes) {
        const int64_t extended = s->base - p->down.before + 2 * pair + r;
        const char *ahead = input_row(j, extended + 2 * j->kernels->tall_pairs);
        two.row[r] = tess_correlate_stretch(&j->source, copy, input_row(j, extended), start, columns + p->reach);
        for (int64_t x = 0; ahead && x < s->count; x += 64)
            tess_prefetch_l2(ahead + tess_min64(s->first + x, p->across.n * p->group - 1));
    }
    j->kernels->two_rows(&two);
}

/* Output rows y .. of the strip, as many as a tile has. */
static void one_group(const job *j, strip *s, int64_t y) {
    const tess_window_kernels *k = j->kernels;
    const int64_t pairs = j->p->pairs + k->tall_pairs - 1, from = (y - s->base) / 2, block = k->lanes;
    const char **table = (const char **)(void *)s->scratch;
    char *sums = s->scratch + j->p->table_bytes + j->p->ring * j->p->pair_bytes + 2 * j->p->copy_bytes;
    for (; s->made < from + pairs; s->made++)
        make_pair(j, s, s->made);
    for (int64_t i = 0; i < pairs; i++)
        table[i] = pair_at(j, s, from + i);
    tess_window_call call = {
        .rows = table, .ahead = table, .planes = 1, .wy = j->p->pairs, .wx = 1, .columns = j->down, .start = j->p->start[1], .put = j->put};
    for (int64_t x = 0; x < s->count; x += block) {
        char *out = j->out + y * j->p->down.out_stride + (s->first + x) * j->out_width;
        const int64_t bytes = tess_min64(block, s->count - x) * j->out_width;
        const bool whole = s->count - x >= block;
        call.at = x * 4;
        call.out = whole ? out : sums;
        call.out_stride = whole ? 2 * j->p->down.out_stride : 2 * block * j->out_width;
        call.stream = whole && j->stream;
        k->pairs(&call);
        for (int64_t r = 0; !whole && r < 2 * k->tall_pairs; r++)
            memcpy(out + r * j->p->down.out_stride, sums + r * block * j->out_width, (size_t)bytes);
    }
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    const job *j = argument;
    const int64_t tall = 2 * j->kernels->tall_pairs, rows = j->p->down.m;
    for (int64_t t = begin; t < end; t++) {
        const int64_t first = t / j->bands * j->p->strip, top = t % j->bands * j->band;
        const int64_t bottom = t % j->bands == j->bands - 1 ? rows : top + j->band;
        strip s = {
            .scratch = j->scratch + (size_t)worker * j->p->scratch, .first = first, .count = tess_min64(j->p->strip, j->length - first), .base = top};
        for (int64_t y = top; y < bottom; y += tall) {
            if (y + tall > bottom) { /* the last rows of a band begin earlier; an odd number of rows earlier they are other pairs */
                y = bottom - tall;
                if ((y - s.base) % 2 != 0) {
                    s.base = y;
                    s.made = 0;
                }
            }
            one_group(j, &s, y);
        }
    }
}

tess_status TESS_ISA_NAME(tess_correlate_in_packed_passes)(const tess_problem *base, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_in_packed_passes)(const tess_problem *base, const tess_run *run) {
    const tess_correlate_problem *problem = (const tess_correlate_problem *)base;
    const tess_correlate_packed_passes *p = problem->packed_passes;
    const bool pixels = p->group > 1;
    const tess_window_kernels *fours = TESS_ISA_NAME(tess_correlate_packed_kernels)(true, pixels);
    const bool dot4 = fours && p->bytes && (p->pairs_fit || !fours->pairs_must_fit);
    job j = {.p = p,
             .kernels = dot4 ? fours : TESS_ISA_NAME(tess_correlate_packed_kernels)(false, pixels),
             .in = run->in,
             .out = run->out,
             .scratch = run->workspace,
             .across = p->weights + (dot4 ? 0 : p->fours),
             .down = p->weights + p->fours + p->twos,
             .groups = dot4 ? p->fours : p->twos,
             .width = dot4 ? 1 : 2,
             .length = p->across.m * p->group,
             .out_width = problem->out.itemsize,
             .put = tess_window_put_of(problem->out.type)};
    j.source = (tess_correlate_source){.load = TESS_ISA_NAME(tess_correlate_packed_loader)(problem->in.type, dot4),
                                       .boundary = problem->boundary,
                                       .width = (int)j.width,
                                       .n = p->across.n,
                                       .group = p->group,
                                       .stride = 1,
                                       .in_place = dot4};
    if (pixels)
        tess_dot_picks_of(j.picks, (int)j.width, p->group);
    j.stream = (uintptr_t)j.out % 64 == 0 && p->down.out_stride % 64 == 0 && tess_correlate_goes_past(problem, j.out_width);
    j.strips = tess_ceil_div(j.length, p->strip);
    const int64_t tall = 2 * j.kernels->tall_pairs, wanted = tess_ceil_div(8 * (int64_t)run->threads, j.strips);
    j.band = run->threads == 1 ? p->down.m : tess_max64(p->down.m / wanted, LEAST_BAND) / tall * tall;
    j.bands = tess_max64(p->down.m / j.band, 1);
    return tess_parallel(run->context, run->threads, j.strips * j.bands, 1, task, &j);
}

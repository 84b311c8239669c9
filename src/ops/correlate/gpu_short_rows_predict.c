/* SPDX-License-Identifier: Apache-2.0
 * gpu_short_rows_predict.c - what short_rows will count: the vectors of each run, which lanes of a warp take side by side whatever warp it is, elements at a run's ends, ghost cells, results. Blocks
 * that lie inside the array count alike. Not predicted: reads of lines, of which the compiler joins those that are alike, and chains that begin alike. */
#include "ops/correlate/gpu_short_rows.h"

enum { SECTOR = 32 };

typedef struct walk {
    tess_gpu_prediction *sum;
    const tess_correlate_short_shape *s;
    tess_boundary boundary;
    int64_t size, out_size, line, out_line, side, runs, out_runs, pad, lines, whole, kl, run, out_run, each, laid, out_pad, n, m, most, beside;
    int64_t in, out; /* an array's first elements */
    double times;
} walk;

/* Where a line of a run stands in shared memory. */
static int64_t place_of(const walk *w, int64_t line) { return line * w->line + line / w->s->rows * w->pad; }

static int64_t down_to(int64_t n, int64_t step) { return n / step * step; }

/* Bytes from `begin` to before `end` of memory, in units of so many: a lane each. `room`: where byte 0 stands in shared memory, -1: nowhere; `copies`: cp.async. */
static void bytes(const walk *w, int64_t memory, int64_t begin, int64_t end, int64_t unit, int64_t room, bool copies) {
    for (int64_t at = begin; at < end; at += 32 * unit) {
        int64_t from[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t b = at + lane * unit;
            from[lane] = b < end ? memory + b : -1;
            to[lane] = b < end ? room + b + b / (w->s->rows * w->line) * w->pad : -1;
        }
        if (copies) {
            tess_gpu_count_copies(w->sum, w->times, from, to);
        } else {
            tess_gpu_count_global(w->sum, w->times, from, unit, false);
            tess_gpu_count_shared(w->sum, w->times, to, unit, true);
        }
    }
}

/* The element of an axis of n at that place, by the boundary's rule; -1: none. */
static int64_t element_of(const walk *w, int64_t n, int64_t i) {
    if (i >= 0 && i < n)
        return i;
    if (w->boundary == TESS_BOUNDARY_CONSTANT)
        return -1;
    if (w->boundary == TESS_BOUNDARY_NEAREST || n == 1)
        return i < 0 ? 0 : n - 1;
    const int64_t period = w->boundary == TESS_BOUNDARY_WRAP     ? n
                           : w->boundary == TESS_BOUNDARY_MIRROR ? 2 * n - 2
                                                                 : 2 * n,
                  r = (i % period + period) % period;
    return r < n ? r : w->boundary == TESS_BOUNDARY_MIRROR ? period - r : period - 1 - r;
}

static void bring(const walk *w, int64_t memory, int64_t room, int64_t from, int64_t count) {
    const int64_t lead = (memory + from * w->line) & 15, top = from >= 0 ? 0 : tess_min64(count, -from),
                  bottom = tess_max64(top, tess_min64(count, w->n - from)), begin = lead + top * w->line, end = lead + bottom * w->line,
                  first = up_to(begin, 16), last = tess_max64(down_to(end, 16), first), zero = memory + from * w->line - lead;
    bytes(w, zero, first, last, 16, room, true);
    bytes(w, zero, begin, tess_min64(first, end), w->size, room, false);
    bytes(w, zero, last, end, w->size, room, false);
    for (int64_t i = 0; i < (top + count - bottom) * w->side; i += 32) {
        int64_t at[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const bool mine = i + lane < (top + count - bottom) * w->side;
            const int64_t number = (i + lane) / w->side, line = number < top ? number : number - top + bottom,
                          met = mine ? element_of(w, w->n, from + line) : -1;
            at[lane] = met < 0 ? -1 : memory + (met * w->side + (i + lane) % w->side) * w->size;
            to[lane] = mine ? room + lead + place_of(w, line) + (i + lane) % w->side * w->size : -1;
        }
        tess_gpu_count_global(w->sum, w->times, at, w->size, false);
        tess_gpu_count_shared(w->sum, w->times, to, w->size, true);
    }
}

static void make(const walk *w, int64_t here) {
    const tess_correlate_short_shape *s = w->s;
    for (int64_t k = 0; k < w->out_runs; k++)
        for (int64_t thread = 0; thread < s->threads; thread += 32)
            for (int64_t i = 0; i < w->each; i += w->laid) {
                int64_t to[32];
                for (int lane = 0; lane < 32; lane++)
                    to[lane] = (thread + lane) * s->rows < here ? k * w->out_run + (thread + lane) * (w->each + w->out_pad) + i : -1;
                tess_gpu_count_shared(w->sum, w->times, to, w->laid, true);
            }
}

static void leave(const walk *w, int64_t begin, int64_t here) {
    const tess_correlate_short_shape *s = w->s;
    const int64_t end = here * w->out_line, last = down_to(end, s->write);
    for (int64_t k = 0; k < w->out_runs; k++)
        for (int part = 0; part < 2; part++) {
            const int64_t unit = part ? w->out_size : s->write, until = part ? end : last;
            for (int64_t b = part ? last : 0; b < until; b += 32 * unit) {
                int64_t to[32];
                for (int lane = 0; lane < 32; lane++)
                    to[lane] = b + lane * unit < until ? w->out + (s->apart ? k * s->row.out_stride : 0) + begin * w->out_line + b + lane * unit : -1;
                tess_gpu_count_global(w->sum, w->times, to, unit, true);
            }
        }
}

static void one_block(const walk *w, int64_t begin) {
    const tess_correlate_short_shape *s = w->s;
    const int64_t here = tess_min64(w->whole, w->m - begin), from = begin - (s->stack ? w->beside : s->line.before),
                  count = s->stack ? here + 2 * w->beside : up_to(here, s->rows) + w->kl - 1;
    for (int64_t i = 0; i < w->runs; i++)
        bring(w, w->in + (s->apart ? i * s->row.in_stride : 0), i * w->run, from, count);
    for (int64_t i = 0; s->stack && i < w->side; i += 32) {
        int64_t to[32];
        for (int lane = 0; lane < 32; lane++)
            to[lane] = i + lane < w->side ? ((w->in + from * w->line) & 15) + place_of(w, w->most) + (i + lane) * w->size : -1;
        tess_gpu_count_shared(w->sum, w->times, to, w->size, true);
    }
    make(w, here);
    leave(w, begin, here);
    w->sum->barriers += w->times * (double)(3 * s->threads / 32);
}

/* Blocks inside are whole sectors apart, but of stacks. */
static void one_array(walk *w) {
    const tess_correlate_short_shape *s = w->s;
    const bool same = w->whole * w->line % SECTOR == 0 && w->whole * w->out_line % SECTOR == 0;
    const int64_t blocks = tess_ceil_div(w->m, w->whole), before = s->stack ? w->beside : s->line.before,
                  reach = s->stack ? w->whole + 2 * w->beside : w->lines + w->kl - 1;
    bool seen = false;
    double inside = 0;
    for (int64_t b = 0; b < blocks; b++)
        inside += b * w->whole >= before && b * w->whole - before + reach <= w->n && (b + 1) * w->whole <= w->m;
    for (int64_t b = 0; b < blocks; b++) {
        const bool one = same && b * w->whole >= before && b * w->whole - before + reach <= w->n && (b + 1) * w->whole <= w->m;
        const double times = w->times;
        if (one && seen)
            continue;
        w->times *= one ? inside : 1;
        one_block(w, b * w->whole);
        w->times = times;
        seen = seen || one;
    }
}

static walk walk_of(const tess_correlate_short_shape *s, tess_boundary boundary, tess_gpu_prediction *sum) {
    walk w = {
        .sum = sum, .s = s, .boundary = boundary, .size = (int64_t)tess_type_size(s->pass->from), .out_size = (int64_t)tess_type_size(s->pass->to)};
    const int64_t columns = s->row.n * s->group, results = s->row.m * s->group;
    w.side = s->apart ? 1 : columns;
    w.line = w.side * w.size;
    w.out_line = (s->apart ? 1 : results) * w.out_size;
    w.runs = s->apart ? columns : 1;
    w.out_runs = s->apart ? results : 1;
    w.pad = !s->apart && s->read == 16 && s->rows * w.line / 16 % 2 == 0 ? 16 : 0;
    w.kl = s->line.width;
    w.lines = s->threads * s->rows;
    w.whole = tess_correlate_short_whole(s);
    w.most = tess_correlate_short_most(s);
    w.beside = s->halo * s->line.n;
    w.run = up_to((w.most + s->stack) * w.line + (w.most + s->rows) / s->rows * w.pad + 15, 16);
    w.out_run = up_to(w.lines * w.out_line, 16);
    w.each = s->rows * w.out_line;
    w.laid = tess_gcd(w.each, 16);
    w.out_pad = !s->apart && w.laid == 16 && w.each / 16 % 2 == 0 ? 16 : 0;
    w.n = s->line.n * s->images;
    w.m = s->line.m * s->images;
    return w;
}

void tess_correlate_predict_short_rows(const tess_problem *base, tess_gpu_prediction *out) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    tess_correlate_pass both;
    const char *why;
    int count;
    const tess_correlate_pass *pass = tess_correlate_short_passes(p, &both, &count);
    tess_gpu_count_from_zero(out);
    for (int k = 0; k < count; k++) {
        tess_correlate_short_shape s;
        tess_correlate_short_of(&s, p, &pass[k], &why); /* true, because `fits` was */
        walk w = walk_of(&s, p->boundary, out);
        for (int64_t array = 0; array < s.arrays; array++) {
            int64_t left = array;
            w.in = w.out = TESS_GPU_ORIGIN;
            w.times = 1;
            for (int d = 0; d < pass[k].ndim; d++)
                if (tess_correlate_short_is_batch(&s, d)) {
                    w.in += left % pass[k].axis[d].m * pass[k].axis[d].in_stride;
                    w.out += left % pass[k].axis[d].m * pass[k].axis[d].out_stride;
                    left /= pass[k].axis[d].m;
                }
            one_array(&w);
        }
    }
    out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    out->constant_requests = out->flops = -1;
}

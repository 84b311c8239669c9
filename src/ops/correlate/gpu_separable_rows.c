/* SPDX-License-Identifier: Apache-2.0
 * gpu_separable_rows.c - the production rows of a list of two masks, one of them along rows, by strips: both masks in one launch. */
#include <string.h>

#include "ops/correlate/gpu_pair.h"

KERNEL_TEXT(gpu_separable2d);

enum { LONGEST = 35, LONG = 13, REACH = 224 /* elements beside an output, which take up a part of every tile */ };

typedef tess_correlate_pair pair;

int tess_correlate_gpu_finest(const tess_array *in, const tess_array *out) {
    for (int d = 0; d < in->ndim; d++)
        if (in->stride[d] == in->itemsize && out->stride[d] == out->itemsize && in->shape[d] > 1)
            return d;
    return -1;
}

int tess_correlate_gpu_row(const tess_correlate_mask *masks, int count, const tess_array *in, const tess_array *out, int *colours) {
    const int finest = tess_correlate_gpu_finest(in, out);
    int row = -1;
    *colours = -1;
    for (int k = 0; k < count && finest >= 0; k++) {
        const int d = masks[k].axes[0];
        if (d == finest)
            return finest;
        if (in->stride[d] == in->shape[finest] * in->itemsize && out->stride[d] == in->shape[finest] * out->itemsize && in->shape[d] > 1)
            row = d;
    }
    *colours = row < 0 ? -1 : finest;
    return row;
}

void tess_correlate_gpu_axes(tess_correlate_pass *pass, const tess_array *in, const tess_array *out, int row, int colours) {
    pass->group = colours >= 0 ? in->shape[colours] : 1;
    pass->row = tess_correlate_gpu_axis(row, colours);
    pass->row_last = true;
    pass->from = in->type;
    pass->to = out->type;
    pass->inputs = in->count;
    pass->outputs = out->count;
    for (int d = 0; d < in->ndim; d++)
        if (d != colours)
            pass->axis[pass->ndim++] = (tess_correlate_axis){in->shape[d], out->shape[d], in->stride[d], out->stride[d], 1, 0};
}

/* Masks number `first` and the next of the list, from one array to another. */
bool tess_correlate_pair_between(pair *two, const tess_correlate_problem *p, int first, const tess_array *in, const tess_array *out, bool whole,
                                 const char **why) {
    const tess_correlate_mask *masks = p->masks + first;
    memset(two, 0, sizeof *two);
    two->whole = whole;
    *why = "takes a list of two masks, one of them along rows without gaps";
    int colours;
    const int x = tess_correlate_gpu_row(masks, 2, in, out, &colours);
    two->rows = masks[0].axes[0] == x ? 0 : 1;
    if (x < 0 || masks[two->rows].axes[0] != x || masks[0].axes[0] == masks[1].axes[0])
        return false;
    two->pass = (tess_correlate_pass){.masked = masks[two->rows].shape[0] > 1 ? 2 : 1, /* the row axis is the last */
                                      .order = {tess_correlate_gpu_axis(masks[!two->rows].axes[0], colours), tess_correlate_gpu_axis(x, colours)},
                                      .taps = masks[0].taps + masks[1].taps,
                                      .size = p->passes[first].size + p->passes[first + 1].size};
    tess_correlate_gpu_axes(&two->pass, in, out, x, colours);
    for (int k = 0; k < 2; k++) {
        tess_correlate_axis *axis = &two->pass.axis[two->pass.order[k == two->rows]];
        axis->width = masks[k].shape[0];
        axis->before = masks[k].before[0];
    }
    return tess_correlate_frame_of(&two->frame, p, &two->pass, 1, why) && (!whole || tess_correlate_frame_whole(&two->frame, why));
}

bool tess_correlate_pair_of(pair *two, const tess_problem *base, bool whole, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    *why = "takes a list of two masks, one of them along rows without gaps";
    return !p->fft && !p->direct && p->count == 2 && p->passes_count == 2 && tess_correlate_pair_between(two, p, 0, &p->in, &p->out, whole, why);
}

typedef separable2d_shape shape;

/* So many threads stand along the rows, those whose columns lie beyond the end included. */
static int64_t threads_of(const tess_correlate_frame *f, int64_t threads, int64_t columns, int64_t margin) {
    return tess_ceil_div(f->x.m, threads * columns - margin) * threads;
}

/* Columns first, where arithmetic binds or elements are narrow (as measured: sums of f32 from f32 above 17 taps, up to 31, which leave registers for 12 warps):
 * blocks whose warps wait for their neighbours only, as wide as 12 warps or cut so that the rows' tiles want the fewest of them. */
static bool set_apart(shape *s, const pair *two, int64_t work, int64_t margin, const tess_gpu_device *device) {
    enum { WARPS = 12, SCHEDULERS = 4, MEETINGS = 2 };
    const tess_correlate_frame *f = &two->frame;
    const int64_t bytes = s->columns * f->in; /* a thread copies its own */
    if (bytes < 4 || bytes > 16 || margin > 32 * s->columns || !two->whole || two->rows == 0 || f->y.width > 31 ||
        f->y.width < (work == 8 ? 12 : 10) || (work == 4 && f->in == 4 && f->y.width <= 17))
        return false;
    /* Elements that stand beyond a row's ends would be loaded one by one, each waited for. */
    if ((f->boundary != TESS_BOUNDARY_ZERO && f->boundary != TESS_BOUNDARY_CONSTANT) || f->x.n % s->columns != 0)
        return false;
    int64_t least = INT64_MAX;
    shape a = *s;
    for (int64_t n = tess_ceil_div(f->x.m, 32 * WARPS * s->columns - margin), last = n + 4; n <= last; n++) {
        const int64_t threads = up_to(tess_ceil_div(tess_ceil_div(f->x.m, n) + margin, s->columns), 32), blocks = WARPS * 32 / threads;
        const int64_t warps = blocks * threads / 32, rounds = tess_ceil_div(warps, SCHEDULERS) + (warps <= 2 * SCHEDULERS); /* fewer hide less */
        if (blocks < 1 || threads * s->columns <= margin || (n > 1 && threads < 96)) /* narrower ones were not measured */
            continue;
        const int64_t cost = n * threads * rounds * 64 / warps;
        if (cost < least) {
            least = cost;
            a.threads = threads;
            a.blocks = blocks;
        }
    }
    const int64_t row = a.threads * a.columns;
    a.shared = a.turn * row * (a.stages * f->in + 2 * MEETINGS * work);
    a.finished = row - margin;
    a.apart = true;
    if (least == INT64_MAX || a.shared > device->shared_block_optin || a.blocks * (a.shared + (1 << 10)) > device->shared_sm)
        return false;
    *s = a;
    return true;
}

/* Tiles of a row that want the fewest threads, as measured with 7 taps; among equals the widest, of narrow elements the narrowest. */
static int64_t threads_for(const tess_correlate_frame *f, const shape *s, int64_t margin) {
    enum { MOST = 288, FEW = 128 /* of one tile of several at least */, TRIED = 8 };
    const int64_t first = tess_ceil_div(f->x.m, MOST * s->columns - margin), last = tess_ceil_div(f->x.m, FEW * s->columns - margin);
    int64_t best = s->threads, least = INT64_MAX;
    for (int64_t n = first; n <= tess_min64(last, first + TRIED); n++) {
        const int64_t threads = tess_max64(64, up_to(tess_ceil_div(tess_ceil_div(f->x.m, n) + margin, s->columns), 32)), all = n * threads;
        if ((n == 1 || threads >= FEW) && (all < least || (all == least && f->in < 4))) {
            least = all;
            best = threads;
        }
    }
    return best;
}

shape tess_correlate_separable2d_of(const pair *two, int64_t work, const tess_gpu_device *device) {
    const tess_correlate_frame *f = &two->frame;
    const int64_t wide = work / 4, before = f->x.before * f->pass->group, after = (f->x.width - 1) * f->pass->group - before;
    shape s = {.columns = 4, .turn = wide == 2 ? 2 : 4, .threads = f->y.width > 20 ? 128 : wide == 2 ? 256 : 192, .stages = 3};
    if (f->in == 1 && two->rows != 0 && f->y.width <= 20)
        s.threads = 256;
    if (two->rows == 0 && wide == 1 && f->y.width > 20)
        s.threads = 64;
    if (!two->whole && wide == 1 && f->y.width <= 9)
        s.turn = 2;
    if (wide == 2) /* lanes 16 bytes apart between the passes: 32 would meet in the banks of shared memory */
        s.columns = tess_max64(2, tess_correlate_columns_full(f));
    while (s.threads > 64 && s.threads * s.columns / 2 >= f->x.m + before + after)
        s.threads = s.threads == 192 ? 128 : s.threads / 2;
    const int64_t vector = 16 / f->in, unit = tess_max64(s.columns, two->whole && f->in >= 4 ? 2 * vector : vector),
                  margin = two->rows == 0 ? 0 : up_to(before, unit) + up_to(after, unit);
    if (two->whole && two->rows != 0 && wide == 1 && f->y.width < LONG)
        s.threads = threads_for(f, &s, margin);
    /* A row of 512 columns by 33 taps is one tile of 160 threads, or one and a little more of 128. */
    const bool fitted = two->whole && two->rows != 0 && wide == 1 && s.threads >= 128 && s.threads <= 192 && f->y.width >= LONG &&
                        8 * threads_of(f, 160, s.columns, margin) <= 7 * threads_of(f, s.threads, s.columns, margin);
    if (fitted)
        s.threads = 160;
    const int64_t row = s.threads * s.columns, ring = two->rows == 0
                                                          ? tess_correlate_frame_ring(f, two->whole, row, s.columns, before, after, 0)
                                                          : tess_correlate_frame_ring(f, two->whole, row, s.columns, 0, 0, up_to(before, unit));
    s.finished = row - margin;
    const int64_t held = tess_max64(f->x.width - 1, tess_min64(before + after, 6)) / 2; /* of a window: one over pixels is read as it is wanted */
    int64_t registers = (s.columns * f->y.width + s.turn * (s.columns + held)) * wide + 24;
    if (wide == 1 && f->y.width > 20) /* more warps serve better than windows that stay in registers */
        registers = s.columns * f->y.width + 44;
    else if (fitted && f->y.width <= 17) /* as compiled: room for three blocks */
        registers = 112;
    s.blocks = tess_max64(1, tess_min64(65536 / (s.threads * up_to(registers, 8)), 2048 / s.threads));
    s.shared = s.stages * s.turn * ring * f->in + (two->rows == 0 ? 0 : 2 * s.turn * row * work) +
               (two->whole ? 0 : s.threads * s.turn * s.columns * f->out);
    const bool apart = set_apart(&s, two, work, margin, device);
    const int64_t columns = tess_ceil_div(f->x.m, s.finished) * f->arrays, waves = apart || f->y.width > 20 ? 1 : 2, at_once = device->sms * s.blocks;
    int64_t strips = tess_max64(1, waves * at_once / columns), least = INT64_MAX;
    for (int64_t n = 1; (fitted || apart) && at_once > 0 && columns > at_once && n <= 8;
         n++) { /* many images: the last wave of blocks fullest, as in strip2d */
        const int64_t turns = tess_ceil_div(columns * n, at_once) * (tess_ceil_div(f->y.m, n) + f->y.width - 1 + s.stages * s.turn);
        if (turns < least)
            least = turns, strips = n;
    }
    s.height = tess_max64(tess_ceil_div(f->y.m, strips), tess_min64(f->y.m, 2 * f->y.width));
    return s;
}

static bool strip_takes(const pair *two, int64_t work, const char **why) {
    static const tess_gpu_device none;
    *why = "takes two masks of at most 35 taps (f64: 17), over pixels of few colours";
    const int64_t longest = work == 8 ? LONGEST / 2 : LONGEST;
    if (two->frame.x.width > longest || two->frame.y.width > longest || (two->frame.x.width - 1) * two->pass.group > REACH / (work / 4) ||
        two->frame.x.m < 1 || two->frame.y.m < 1 || two->frame.arrays < 1)
        return false;
    shape s = tess_correlate_separable2d_of(two, work, &none);
    return s.shared <= 96 << 10;
}

static bool takes(const tess_problem *base, bool whole, const char **why) {
    pair two;
    return tess_correlate_pair_of(&two, base, whole, why) && strip_takes(&two, work_size(base), why);
}

static void lay_strip(const tess_correlate_problem *p, const pair *two, int first, const tess_gpu_device *device, tess_gpu_layout *layout, bool whole,
                      const tess_correlate_ends *ends) {
    shape s = tess_correlate_separable2d_of(two, (int64_t)tess_type_size(p->work), device);
    tess_gpu_unit(layout, &gpu_separable2d);
    tess_correlate_frame_options(layout, p->work, &two->frame, whole);
    tess_gpu_option(layout, "-DKY=%d", (int)two->frame.y.width);
    tess_gpu_option(layout, "-DROWS_FIRST=%d", two->rows == 0);
    tess_gpu_option(layout, "-DAPART=%d", s.apart);
    tess_gpu_option(layout, "-DV=%d", (int)s.columns);
    tess_gpu_option(layout, "-DTURN=%d", (int)s.turn);
    tess_gpu_option(layout, "-DSTAGES=%d", (int)s.stages);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)s.threads);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s.blocks);
    tess_gpu_step *step = tess_gpu_launch_folding(layout, "separable2d", tess_ceil_div(two->frame.x.m, s.finished),
                                                  tess_ceil_div(two->frame.y.m, s.height), two->frame.arrays, (int)s.threads, s.shared);
    tess_gpu_pass_pointer(layout, step, ends->from, ends->from_at);
    tess_gpu_pass_pointer(layout, step, ends->to, ends->to_at);
    tess_correlate_frame_pass(layout, step, &two->frame);
    tess_gpu_pass_i32(layout, step, (int32_t)s.height);
    tess_gpu_pass(layout, step, p->passes[first + two->rows].weights, p->passes[first + two->rows].size);
    tess_gpu_pass(layout, step, p->passes[first + !two->rows].weights, p->passes[first + !two->rows].size);
}

static void lay_as(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout, bool whole) {
    const char *why;
    pair two;
    tess_correlate_pair_of(&two, base, whole, &why); /* true, because `fits` was */
    lay_strip(tess_correlate_gpu_of(base), &two, 0, device, layout, whole, &(tess_correlate_ends){TESS_GPU_IN, TESS_GPU_OUT, 0, 0});
}

bool tess_correlate_separable2d_carries(const tess_correlate_problem *p, int first, const tess_array *in, const tess_array *out, bool whole,
                                        const char **why) {
    pair two;
    return tess_correlate_pair_between(&two, p, first, in, out, whole, why) && strip_takes(&two, (int64_t)tess_type_size(p->work), why);
}

void tess_correlate_separable2d_lay(const tess_correlate_problem *p, int first, const tess_array *in, const tess_array *out, bool whole,
                                    const tess_gpu_device *device, tess_gpu_layout *layout, const tess_correlate_ends *ends) {
    const char *why;
    pair two;
    tess_correlate_pair_between(&two, p, first, in, out, whole, &why); /* true, because `carries` was */
    lay_strip(p, &two, first, device, layout, whole, ends);
}

/* ---- the rows of separable2d ---- */

static void lay_separable2d(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) { lay_as(base, device, layout, true); }
static void lay_separable2d_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_as(base, device, layout, false);
}

#define ROW(name, whole)                                                                                              \
    bool tess_correlate_##name##_fits(const tess_problem *base, const char **why) { return takes(base, whole, why); } \
    const tess_gpu_row tess_correlate_##name = {.headers = tess_correlate_frame_headers,                              \
                                                .production = true,                                                   \
                                                .least_arch = 80,                                                     \
                                                .lay_out = lay_##name,                                                \
                                                .predict = tess_correlate_predict_##name}
ROW(separable2d, true);
ROW(separable2d_odd, false);

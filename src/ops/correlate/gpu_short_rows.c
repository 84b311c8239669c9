/* SPDX-License-Identifier: Apache-2.0
 * gpu_short_rows.c - the production row of arrays with an axis so short that a thread has all of it (gpu_short_rows.cu): which axis that is, along which one lanes go, how many rows a
 * thread has, whole images and planes of a block. Lists of two masks, and of three over volumes, are one pass, others as many as masks. */
#include "ops/correlate/gpu_short_rows.h"

#include <stdlib.h>
#include <string.h>

KERNEL_TEXT(gpu_short_rows);

enum {
    LONGEST = 128 /* registers that a row's elements or outputs have */,
    MOST_APART = 16 /* elements of an axis that is not the finest */,
    BODY = 3200 /* multiply-adds: 5 x 5 taps for the longest row are quicker than any other row, which many more would hardly be */,
    HELD_WIDE = 40 /* registers that the outputs of a thread's rows have, or that a list has between its masks */,
    HELD_NARROW = 64 /* the same of elements of 1 and 2 bytes, of which few are under way */,
    HELD_FIRST = 160 /* all in all where taps along rows come first */,
    HELD_LIST = 192 /* of a list over volumes, with a row and its sums across planes */,
    THREADS = 128,
    MOST_ROWS = 16 /* of a thread, in a stack */,
    LEAST_BLOCKS = 256 /* of threads with several rows */,
    ROOM = 48 << 10,
    PLANES_THREADS = 256 /* of blocks of planes, whose halo is read again by the next */,
    WHOLE_THREADS = 512 /* of blocks that must have whole volumes */,
    PLANES_ROOM = 96 << 10,
    PLANES_BYTES = 256 /* of a row of wide elements up to which volumes have no quicker row */,
    PLANES_LIST_BYTES = 192 /* the same of a list of threes */,
    PLANES_FEW = 48 /* columns from which on few volumes have a quicker row */,
    PLANES_FEW_LIST = 40 /* the same of a list */,
    PLANES_LANES = 48 /* columns from which on lists over narrow elements go to `lanes3d` where that takes them */,
    PLANES_WIDE = 80 /* columns up to which volumes of narrow elements have none by one mask */,
    PLANES_NARROW = 32 /* columns up to which wide elements have THREADS there, too: five such blocks are more than two */,
    AGAIN = 32 /* columns up to which lists whose sums across planes are made again often have no quicker row over narrow elements */,
    AGAIN_BYTES = 128 /* of a row from which on they have one over wide elements */,
    PARAMETERS = 4000,
    AXIS = INT32_MAX / 2,
    FEW = 1 << 16 /* outputs */,
    FEW_WIDE = 1 << 20 /* of wide lists of narrow elements, and of volumes */,
    FLAT = 32 /* columns from which on `flat` has fewer lanes without work, where images are long */,
    WIDE = 64 /* columns from which on rows of vectors have lanes enough for narrow elements */,
    WIDE_LIST = 77 /* those of a list */
};

typedef tess_correlate_short_shape short_shape;

static int64_t in_size(const short_shape *s) { return (int64_t)tess_type_size(s->pass->from); }
static int64_t out_size(const short_shape *s) { return (int64_t)tess_type_size(s->pass->to); }
static int64_t columns_in(const short_shape *s) { return s->row.n * s->group; }
static int64_t columns_out(const short_shape *s) { return s->row.m * s->group; }
bool tess_correlate_short_is_batch(const short_shape *s, int d) {
    return d != s->row_axis && d != s->line_axis && d != s->plane_axis && d != s->stack_axis;
}

/* Elements and outputs that follow each other where a line is one of a run. */
static int64_t side_in(const short_shape *s) { return s->apart ? 1 : columns_in(s); }
static int64_t side_out(const short_shape *s) { return s->apart ? 1 : columns_out(s); }

/* Rows of that axis (-1: of pixels' elements), if they are short, and without gaps or apart. */
static bool rows_of(short_shape *s, int d, bool apart) {
    const tess_correlate_pass *pass = s->pass;
    const int64_t most = apart ? MOST_APART : LONGEST;
    s->row_axis = d;
    s->row = d < 0 ? (tess_correlate_axis){pass->group, pass->group, in_size(s), out_size(s), 1, 0} : pass->axis[d];
    s->group = d == pass->row ? pass->group : 1;
    s->apart = apart;
    if (columns_in(s) > most || columns_out(s) > most || s->row.n < 1 || s->row.m < 1)
        return false;
    if (apart)
        return d >= 0 && pass->group == 1 && s->row.in_stride % in_size(s) == 0 && s->row.out_stride % out_size(s) == 0;
    return (s->row.n == 1 && s->row.m == 1 && s->group == 1) ||
           (s->row.in_stride == s->group * in_size(s) && s->row.out_stride == s->group * out_size(s));
}

/* Whether axis d's steps are so many lines, as many as axis `of` ends, in and out. */
static bool is_behind(const short_shape *s, int d, const tess_correlate_axis *of, int64_t lines) {
    const tess_correlate_axis *a = &s->pass->axis[d];
    return of->n == of->m && a->in_stride == lines * s->line.in_stride && a->out_stride == lines * s->line.out_stride;
}

/* The longest axis whose steps are whole lines, where all other masked ones are short, but for one whose steps are whole images of such lines, in the order of volumes. */
static bool lines_of(short_shape *s) {
    const tess_correlate_pass *pass = s->pass;
    s->line_axis = s->plane_axis = -1;
    for (int d = 0; d < pass->ndim; d++)
        if (d != s->row_axis && pass->axis[d].in_stride == side_in(s) * in_size(s) && pass->axis[d].out_stride == side_out(s) * out_size(s) &&
            (s->line_axis < 0 || pass->axis[d].m > pass->axis[s->line_axis].m))
            s->line_axis = d;
    if (s->line_axis < 0)
        return false;
    s->line = pass->axis[s->line_axis];
    for (int k = 0; k < pass->masked; k++)
        if (tess_correlate_short_is_batch(s, pass->order[k])) {
            const int d = pass->order[k], last = pass->order[pass->masked - 1];
            const bool ordered = k == 0 && (pass->masked < 3 || pass->order[1] == s->line_axis) && (s->row.width == 1 || last == s->row_axis);
            if (s->apart || !ordered || pass->axis[d].n != pass->axis[d].m || !is_behind(s, d, &s->line, s->line.n))
                return false;
            s->plane_axis = d;
        }
    return true;
}

/* Images of few lines, whose ends most windows would meet, and volumes. */
static void stack_of(short_shape *s) {
    const tess_correlate_pass *pass = s->pass;
    const bool volumes = s->plane_axis >= 0;
    if (volumes) {
        s->plane = pass->axis[s->plane_axis];
        s->images = s->plane.n;
        s->stack = true;
    }
    for (int d = 0; d < pass->ndim; d++)
        if (tess_correlate_short_is_batch(s, d) && !s->apart && (volumes || (s->line.width > 1 && s->line.n <= THREADS)) &&
            is_behind(s, d, volumes ? &s->plane : &s->line, s->line.n * s->images)) {
            s->stack_axis = d;
            s->images *= pass->axis[d].m;
            s->stack = true;
            return;
        }
}

/* A masked one, if there is one, without gaps if there is one. */
static bool axes_of(short_shape *s) {
    const tess_correlate_pass *pass = s->pass;
    for (int apart = 0; apart < 2; apart++)
        for (int k = pass->masked - 1; k >= 0; k--)
            if ((pass->group == 1 || pass->order[k] == pass->row) && rows_of(s, pass->order[k], apart) && lines_of(s))
                return true;
    return rows_of(s, pass->group > 1 ? -1 : pass->ndim - 1, false) && lines_of(s);
}

static int64_t weights_of(const short_shape *s) {
    return s->list ? s->row.width + s->line.width + (s->plane_axis >= 0 ? s->plane.width : 0) : s->row.width * s->line.width * s->plane.width;
}

/* Bytes of struct rows of gpu_short_rows.cu. */
static int64_t parameters(const short_shape *s, tess_type work) {
    return 16 + 40 + 24 * (s->batch + 1) + 16 + weights_of(s) * (int64_t)tess_type_size(work);
}

/* The largest power of two up to 16 that divides so many bytes. */
static int64_t aligned(int64_t bytes, int64_t most) { return bytes % 16 ? tess_min64(most, bytes & -bytes) : most; }

/* ---- the shape of a block ---- */

/* Lines that a block of a stack has a whole number of. */
static int64_t unit_of(const short_shape *s) { return s->line.n * (s->plane_axis >= 0 && s->halo == 0 ? s->plane.n : 1); }

/* Lines that a block makes, and those that it brings. */
int64_t tess_correlate_short_whole(const short_shape *s) {
    const int64_t lines = s->threads * s->rows;
    return s->stack ? lines / unit_of(s) * unit_of(s) : lines;
}
int64_t tess_correlate_short_most(const short_shape *s) { return s->threads * s->rows + (s->halo > 0 ? 2 * s->halo * s->line.n : s->line.width - 1); }

static int64_t shared_of(const short_shape *s) {
    const int64_t lines = s->threads * s->rows, all = tess_correlate_short_most(s) + s->stack, runs_in = s->apart ? columns_in(s) : 1,
                  runs_out = s->apart ? columns_out(s) : 1, pad = s->apart ? 0 : 16,
                  in = all * side_in(s) * in_size(s) + (s->read == 16 ? tess_ceil_div(all, s->rows) * pad : 0) + 15,
                  out = lines * side_out(s) * out_size(s) + s->threads * pad;
    return tess_max64(runs_in * up_to(in, 16), runs_out * up_to(out, 16));
}

/* Threads of a block: of a stack as many as leave the fewest without a line of a whole image; of long images fewer for short ones. Of volumes a halo counts like half as many planes. */
static bool threads_of(short_shape *s, int64_t most, int64_t halo) {
    const int64_t room = s->plane_axis >= 0 ? PLANES_ROOM : ROOM;
    int64_t best = 0, used = 0;
    s->halo = halo;
    for (s->threads = most; s->threads >= 32; s->threads -= 32) {
        if (shared_of(s) > room || (s->threads == 96 && !s->stack)) /* for long images not measured */
            continue;
        const int64_t lines = s->threads * s->rows, whole = tess_correlate_short_whole(s),
                      share = whole * whole * THREADS * THREADS / (lines * (whole + halo * s->line.n + (whole == 0))); /* of lines that do not idle */
        if (share > used) {
            best = s->threads;
            used = share;
        }
    }
    s->threads = best;
    while (s->threads > 32 && !s->stack && s->line.m <= s->threads * s->rows / 2)
        s->threads /= 2;
    s->shared = best ? shared_of(s) : 0;
    return best > 0;
}

/* Rows of a thread: the more, the fewer are read again, and the more bytes are under way. Of a long image an odd number: lanes that read rows of an odd number of words meet no bank twice then. Of a
 * stack so many that no thread has rows of two images, and that blocks are enough for all multiprocessors. */
static bool rows_fit(const short_shape *s, tess_type work) {
    const bool stack = s->stack;
    const int64_t words = tess_max64(1, (int64_t)tess_type_size(work) / 4), kl = s->line.width, in = columns_in(s) * words,
                  out = columns_out(s) * words, taps = weights_of(s),
                  each = tess_max64(s->list ? columns_in(s) : 0, columns_out(s)) * taps * (tess_is_complex(work) ? 4 : 1),
                  held = in_size(s) < 4 ? HELD_NARROW : HELD_WIDE, most = kl > 1 ? held : held / 2;
    if (stack && s->rows > 1 && (s->line.n % s->rows || s->images * s->line.n / (THREADS * s->rows) < LEAST_BLOCKS))
        return false;
    if (s->list && s->plane_axis >= 0 && ((s->rows + 2) * in > HELD_LIST || columns_in(s) * s->plane.width * (s->rows + kl - 1) > BODY))
        return false;
    return (s->rows == 1 || s->rows * tess_max64(stack || s->list ? in : 0, out) <= most) && s->rows * each <= BODY &&
           (!s->row_first || s->list || (s->rows + kl - 1) * in + s->rows * out <= HELD_FIRST);
}

/* Blocks of whole volumes where two of them have room, and by `wrap`, whose planes meet those at the other end; else of planes with what mirrors and masks reach on either side. */
static bool planes_of(short_shape *s, tess_boundary boundary) {
    const int64_t before = llabs(s->plane.before), after = llabs(s->plane.width - 1 - s->plane.before), lines = s->line.n * s->plane.n;
    const int64_t most = in_size(s) < 4 || columns_out(s) > PLANES_NARROW ? PLANES_THREADS : THREADS;
    if (s->plane_axis < 0)
        return threads_of(s, THREADS, 0);
    if (boundary == TESS_BOUNDARY_WRAP)
        return threads_of(s, WHOLE_THREADS, 0);
    return (2 * lines <= PLANES_THREADS * s->rows && threads_of(s, most, 0)) || threads_of(s, most, tess_max64(before, after));
}

static bool shape_of(short_shape *s, tess_type work, tess_boundary boundary) {
    static const int64_t odd[] = {15, 9, 7, 5, 3, 1};
    const int64_t words = tess_max64(1, (int64_t)tess_type_size(work) / 4);
    if (columns_in(s) * words > LONGEST || columns_out(s) * words > LONGEST)
        return false;
    const int64_t most = s->stack ? tess_min64(s->line.n, MOST_ROWS) : TESS_COUNT(odd);
    for (int64_t i = 0; i < most; i++) {
        s->rows = s->stack ? most - i : odd[i];
        if (rows_fit(s, work))
            return planes_of(s, boundary);
    }
    return false;
}

static int64_t blocks_of(const short_shape *s) { return tess_ceil_div(s->line.m * s->images, tess_correlate_short_whole(s)); }

bool tess_correlate_short_of(short_shape *s, const tess_correlate_problem *p, const tess_correlate_pass *pass, const char **why) {
    *s = (short_shape){.pass = pass, .plane = {1, 1, 0, 0, 1, 0}, .arrays = 1, .stack_axis = -1, .plane_axis = -1, .images = 1};
    *why = "needs a masked axis, or pixels, of few elements that follow each other, and rows of them without gaps along the only other masked axis, "
           "or images of such rows, or volumes of these in that order";
    if (pass->inputs < 1 || !axes_of(s))
        return false;
    stack_of(s);
    if (s->row.width > 1 && s->line.width > 1)
        s->row_first = pass->order[0] == s->row_axis;
    s->list = !p->direct && pass->masked > 1;
    if (s->list && (s->plane_axis >= 0) != (pass->masked > 2)) /* of two masks, those are along planes and in them */
        return false;
    *why = "takes elements that are summed as what they are, or in a real type";
    if (tess_is_complex(p->work) && pass->from != p->work)
        return false;
    *why = "needs fewer arrays, or shorter axes";
    s->read = aligned(s->apart ? in_size(s) : columns_in(s) * in_size(s), 16);
    s->write = s->apart ? aligned(s->row.out_stride, 16) : 16;
    for (int d = 0; d < pass->ndim; d++)
        if (tess_correlate_short_is_batch(s, d)) {
            s->batch++;
            s->read = aligned(pass->axis[d].in_stride, s->read);
            s->write = aligned(pass->axis[d].out_stride, s->write);
            if (TESS_MUL_OVERFLOWS(s->arrays, pass->axis[d].m, &s->arrays))
                return false;
        }
    if (s->line.n * s->images > AXIS || s->line.n > AXIS || s->line.m > AXIS || s->images > AXIS || s->line.width > AXIS || s->plane.width > BODY ||
        llabs(s->plane.before) > AXIS / LONGEST || llabs(s->line.before) > AXIS || s->row.width > BODY || llabs(s->row.before) > AXIS / LONGEST)
        return false;
    *why = "needs elements and results that lie at multiples of their size";
    if (s->read < in_size(s) || s->write < out_size(s))
        return false;
    *why = "takes masks of few enough taps for its registers, the instruction cache and parameters";
    if (s->line.width > BODY || weights_of(s) > BODY || parameters(s, p->work) > PARAMETERS || !shape_of(s, p->work, p->boundary))
        return false;
    if (s->stack) /* a block begins behind the whole images of the ones before */
        s->write = aligned(tess_correlate_short_whole(s) * columns_out(s) * out_size(s), s->write);
    *why = "needs fewer arrays, or shorter axes";
    if (s->arrays > INT32_MAX / tess_max64(1, blocks_of(s)))
        return false;
    *why = "needs a constant that the input's type can hold";
    return tess_correlate_gpu_is_element(p, pass->from);
}

const tess_correlate_pass *tess_correlate_short_passes(const tess_correlate_problem *p, tess_correlate_pass *both, int *count) {
    const char *why;
    short_shape s;
    *count = 1;
    if (p->direct)
        return p->direct;
    bool apart = p->count == p->passes_count && (p->count == 2 || p->count == 3);
    for (int k = 1; apart && k < p->count; k++)
        apart = p->masks[k].axes[0] != p->masks[k - 1].axes[0] && p->masks[k].axes[0] != p->masks[0].axes[0];
    if (apart && tess_correlate_lay_list(both, p, p->masks, p->count) && tess_correlate_short_of(&s, p, both, &why))
        return both;
    *count = p->passes_count;
    return p->passes;
}

bool tess_correlate_short_rows_fits(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int64_t all = 0;
    short_shape s;
    tess_correlate_pass both;
    int count;
    if (!tess_correlate_gpu_chains(base, why))
        return false;
    const tess_correlate_pass *pass = tess_correlate_short_passes(p, &both, &count);
    for (int k = 0; k < count; k++, all += parameters(&s, p->work) + 512)
        if (!tess_correlate_short_of(&s, p, &pass[k], why))
            return false;
    *why = "takes lists of at most 12 masks over arrays of few axes";
    return count <= TESS_GPU_STEPS && count <= TESS_GPU_UNITS && all <= TESS_GPU_ARENA;
}

/* Whether rows of a volume are long enough for bricks, for threads that march through planes or for lists in parts, as measured (notes-gpu.md): few volumes are few blocks, and the sums across planes
 * of a list are made again for each of a window's rows. */
static bool others_take_volumes(const tess_problem *base, const short_shape *s) {
    const bool wide = in_size(s) >= 4;
    const char *why;
    const int64_t columns = columns_out(s), bytes = columns * in_size(s), again = s->plane.width * s->line.width;
    if (s->pass->outputs < FEW_WIDE && columns >= (s->list ? PLANES_FEW_LIST : PLANES_FEW))
        return true;
    if (!s->list)
        return wide ? bytes > PLANES_BYTES : columns > PLANES_WIDE;
    if (!wide)
        return again > 25 || (again > 9 && s->read < 4) || columns > (again <= 15 ? WIDE : AGAIN) ||
               (columns >= PLANES_LANES && tess_correlate_lanes3d_fits(base, &why));
    return again <= 9 ? bytes > PLANES_LIST_BYTES : again > 25 || bytes >= AGAIN_BYTES || s->stack_axis < 0;
}

/* Whether rows of that many columns are long enough for lanes side by side, as measured (notes-gpu.md). */
static bool others_are_quicker(const tess_problem *base, const short_shape *s, int count) {
    const int64_t columns = columns_out(s);
    const bool narrow = s->line.width > 1 && in_size(s) < 4;
    const char *why;
    if (s->plane_axis >= 0)
        return others_take_volumes(base, s);
    if (count > 1)
        return columns > WIDE || (columns == WIDE && narrow);
    if (s->list)
        return narrow && ((columns >= WIDE_LIST && s->group == 1) || (columns >= WIDE && s->pass->outputs < FEW_WIDE));
    if (columns == LONGEST && !s->stack && (in_size(s) >= 4 || s->row.width <= 3))
        return true;
    if (narrow && columns > WIDE && s->group == 1)
        return true;
    if (narrow && columns >= WIDE && (in_size(s) == 1 || s->pass->taps > 9) && tess_correlate_patch_fits(base, &why))
        return true;
    if (columns < FLAT || (s->stack && (columns <= WIDE || s->read > in_size(s))))
        return false;
    return tess_correlate_flat_fits(base, &why) && tess_correlate_flat_pays(base, &why);
}

bool tess_correlate_short_rows_pays(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *other;
    short_shape s;
    bool along = false;
    tess_correlate_pass both;
    int count;
    const tess_correlate_pass *pass = tess_correlate_short_passes(p, &both, &count);
    for (int k = 0; k < count; k++) {
        *why = "few outputs, or many arrays of few rows";
        if (!tess_correlate_short_of(&s, p, &pass[k], &other) || pass[k].outputs < FEW ||
            (s.line.m * s.images < s.threads * s.rows &&
             s.row.m >= s.row.width)) /* rows of fewer than the mask has are worse off with any other (measured: 50000 x 5 x 216 by 7 x 7) */
            return false;
        *why = "few rows, but more than the mask has";
        if (s.apart && s.row.m > s.row.width)
            return false;
        *why = "rows long enough for lanes side by side";
        if (others_are_quicker(base, &s, count))
            return false;
        along = along || s.row.width > 1;
    }
    *why = "no mask runs along the short rows";
    return along;
}

static void lay_pass(tess_gpu_layout *layout, const tess_correlate_problem *p, int k, int count, const tess_correlate_pass *pass,
                     const int64_t *between) {
    short_shape s;
    const char *why;
    tess_correlate_short_of(&s, p, pass, &why); /* true, because `fits` was */
    tess_gpu_unit(layout, &gpu_short_rows);
    tess_correlate_gpu_types(layout, p, pass);
    const struct {
        const char *name;
        int64_t value;
    } options[] = {{"-DNS=%d", columns_in(&s)},
                   {"-DMS=%d", columns_out(&s)},
                   {"-DGROUP=%d", s.group},
                   {"-DKS=%d", s.row.width},
                   {"-DBEFORE=%d", s.row.before},
                   {"-DKL=%d", s.line.width},
                   {"-DSHORT_FIRST=%d", s.row_first},
                   {"-DLIST=%d", s.list},
                   {"-DEDGE=%d", p->boundary},
                   {"-DR=%d", s.rows},
                   {"-DTHREADS=%d", s.threads},
                   {"-DREAD=%d", s.read},
                   {"-DWRITE=%d", s.write},
                   {"-DAPART=%d", s.apart},
                   {"-DSTACK=%d", s.stack ? s.line.n : 0},
                   {"-DKZ=%d", s.plane.width},
                   {"-DBEFORE_Z=%d", s.plane.before},
                   {"-DDEPTH=%d", s.plane.n},
                   {"-DHALO=%d", s.halo},
                   {"-DBATCH=%d", s.batch}};
    for (int i = 0; i < TESS_COUNT(options); i++)
        tess_gpu_option(layout, options[i].name, (int)options[i].value);
    layout->alignment = tess_max64(layout->alignment, tess_max64(s.read, s.write));
    int64_t block[PARAMETERS / 8 + 2] = {0}, *at = block;
    memcpy(at, &p->work_constant, tess_type_size(p->work));
    at += p->work == tess_f32 || p->work == tess_c64 ? 1 : 2;
    *at++ = s.line.n * s.images;
    *at++ = s.line.m * s.images;
    *at++ = s.line.before;
    *at++ = s.apart ? s.row.in_stride / in_size(&s) : 0;
    *at++ = s.apart ? s.row.out_stride / out_size(&s) : 0;
    for (int d = pass->ndim - 1; d >= 0; d--)
        if (tess_correlate_short_is_batch(&s, d)) {
            *at++ = pass->axis[d].m;
            *at++ = tess_correlate_gpu_in(pass, d);
            *at++ = tess_correlate_gpu_out(pass, d);
        }
    at += 3;
    at += p->work == tess_c128 && (at - block) % 2; /* weights lie at multiples of their size */
    tess_gpu_step *step = tess_gpu_launch_folding(layout, "short_rows", blocks_of(&s), 1, s.arrays, (int)s.threads, s.shared);
    tess_correlate_gpu_ends(layout, step, k, count, between);
    char *weights = (char *)at;
    if (s.list) {
        const bool volumes = s.plane_axis >= 0;
        const tess_correlate_pass *each[] = {&p->passes[volumes ? 2 : !s.row_first], &p->passes[volumes ? 1 : s.row_first], &p->passes[0]};
        for (int i = 0; i < 2 + volumes; weights += each[i++]->size)
            memcpy(weights, each[i]->weights, each[i]->size);
    } else {
        memcpy(weights, pass->weights, pass->size);
        weights += pass->size;
    }
    tess_gpu_pass(layout, step, block, (size_t)up_to(weights - (char *)block, 8));
}

static void lay_short_rows(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int64_t between[2];
    tess_correlate_pass both;
    int count;
    (void)device;
    const tess_correlate_pass *pass = tess_correlate_short_passes(p, &both, &count);
    tess_correlate_gpu_between(layout, p, count, between);
    for (int k = 0; k < count; k++)
        lay_pass(layout, p, k, count, &pass[k], between);
}

const tess_gpu_row tess_correlate_short_rows = {.headers = tess_correlate_number_headers,
                                                .production = true,
                                                .least_arch = 80,
                                                .lay_out = lay_short_rows,
                                                .predict = tess_correlate_predict_short_rows};

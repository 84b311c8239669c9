/* SPDX-License-Identifier: Apache-2.0
 * cpu_fused.c - a column mask and then a row mask over an image, in one walk:
 * correlate/separable for the commonest of lists.
 *
 * The column pass reads memory and the row pass writes it, and neither keeps
 * memory busy while the other runs. So they take turns tile by tile: six rows
 * of sums by some columns go into rows between the passes, and what has become
 * complete of these is taken through the row mask at once, while it is in the
 * first-level cache. Rows of other types are converted once, into a ring that
 * holds as many as a group of six output rows meets.
 *
 * Columns near the ends of a row wait until the whole row between the passes is
 * there, because any of it may stand there as a ghost cell.
 *
 * Short masks of as many taps each roll along the rows instead (roll.h): rows between
 * the passes are then made at their ends only. */
#include <string.h>

#include "core/parallel.h"
#include "ops/correlate/fused.h"
#include "ops/correlate/march.h"
#include "ops/correlate/rolling.h"
#include "ops/correlate/window_kernels.h"
#include "ops/correlate/window_rings.h"
#include "simd/simd.h"

/* Bytes: a line; how far ahead lines are asked for; sums of a march that are under way. */
enum {
    LINE = TESS_ROLL_LINE,
    NEAR = 1024,
    WAITING = (TESS_MARCH_DEEP - 1) * TESS_FUSED_ROWS * TESS_VECTOR_BYTES,
    LEAST_ROWS = 32, /* of a piece: at its front it does rows of the first mask again that its neighbour does */
};

const tess_window_kernels *TESS_ISA_NAME(tess_correlate_window_kernels)(bool f32);
const tess_roll_kernels *TESS_ISA_NAME(tess_correlate_roll_kernels)(bool f32);
const tess_roll_kernels *TESS_ISA_NAME(tess_correlate_woven_kernels)(bool f32);
const tess_march_kernels *TESS_ISA_NAME(tess_correlate_march_kernels)(void);

typedef struct job {
    const tess_correlate_problem *problem;
    const tess_correlate_pass *column, *row;
    tess_correlate_fused fused;
    tess_correlate_source source, between; /* of input rows; of rows between the passes */
    tess_row_storer store;
    const tess_window_kernels *kernels;
    const char *in;
    char *out, *scratch;
    int64_t width, length;  /* bytes of an element of the work type; elements of an
                            output row */
    int64_t inside, beyond; /* output columns that meet no ghost cell of the row pass */
    int64_t in_stride, out_row, out_stride;
    int64_t source_bytes; /* of an element of the input */
    bool ask;             /* rows of the input that come next are asked for: their elements lie one after another */
    bool out_ready, stream, rings;
    tess_window_tile tile, narrow; /* of columns */
    tess_march march;              /* long row masks follow the columns, instead of rings; NULL: they do not */
    int64_t tall;                  /* output rows of a group */
    int64_t most;                  /* the same, or those of a tile: input rows that so many meet stand in the table, then as many that come next */
    tess_rolling rolling;
} job;

/* What a thread keeps from one group of rows to the next. */
typedef struct walk {
    const char **rows; /* input rows that a group meets, then those of the next group */
    char *scratch;
    int64_t made;               /* extended input rows up to this one are in the ring */
    bool ghost_made, ends_made; /* row of ghost cells; those at the ends of rows between, where they are the constant */
} walk;

/* Extended row e of the input: where the boundary says that it is. */
static const char *input_row(const job *j, walk *w, int64_t e) {
    const int64_t at = tess_boundary_index(j->problem->boundary, j->column->axis[0].n, e);
    char *ghost = w->scratch + j->fused.ghost;
    if (at >= 0 && j->fused.in_place)
        return j->in + at * j->in_stride;
    if (at >= 0) {
        const int64_t turn = e % j->fused.met;
        char *copy = w->scratch + j->fused.copies + (turn < 0 ? turn + j->fused.met : turn) * j->fused.row_bytes;
        if (e >= w->made)
            tess_correlate_gather(&j->source, copy, j->in + at * j->in_stride, 0, j->fused.length);
        return copy;
    }
    if (!w->ghost_made)
        tess_correlate_gather(&j->source, ghost, NULL, 0, j->fused.length);
    w->ghost_made = true;
    return ghost;
}

/* For a group of rows: a tile may be taller than the group, and what it makes of the last row again is not looked at. */
static void find_rows(const job *j, walk *w, int64_t y) {
    const int64_t first = y - j->column->axis[0].before, met = j->tall + j->column->axis[0].width - 1;
    const int64_t most = j->most + j->column->axis[0].width - 1;
    for (int64_t i = 0; i < met; i++)
        w->rows[i] = input_row(j, w, first + i);
    w->made = tess_max64(w->made, first + met);
    for (int64_t i = met; i < most; i++)
        w->rows[i] = w->rows[met - 1];
    for (int64_t i = 0; i < j->most; i++) {
        const int64_t at = tess_boundary_index(j->problem->boundary, j->column->axis[0].n, first + met + i);
        w->rows[most + i] = at >= 0 && j->ask ? j->in + at * j->in_stride : w->rows[met - 1];
    }
}

/* Which lines a tile at x asks for. Where rows are read in place, those that its group is the first to meet, NEAR bytes further on, and where these end, the
 * first of the next group's: a line then waits for some tiles in the second-level cache, not for a whole group, in which others may take its place. Rows that
 * will be copied are asked for a group ahead, and so are the ends of those along which sums roll. */
static void ask_ahead(const job *j, const walk *w, int64_t r, int64_t x, tess_window_call *call) {
    const int64_t new_rows = r + j->column->axis[0].width - 1, bytes = j->fused.length * j->source_bytes;
    const int64_t at = x * j->source_bytes, near = j->fused.in_place && !j->rolling.roll ? tess_min64(NEAR, bytes) : bytes;
    const bool here = at + near < bytes;
    call->ahead = w->rows + new_rows + (here ? 0 : j->most);
    call->ahead_at = at + near - (here ? 0 : bytes);
}

/* Columns x .. of the rows between the passes from row r on, as many as a tile has, until one end; returns
 * where it ended. The last tile of a row begins earlier. */
static int64_t column_tile(const job *j, const walk *w, int64_t r, int64_t x, int64_t until) {
    const tess_window_kernels *k = j->kernels;
    const int64_t columns = until - x > 2 * k->lanes ? k->wide * k->lanes : k->lanes;
    x = tess_min64(x, j->fused.length - columns);
    tess_window_call call = {.rows = w->rows + r,
                             .planes = 1,
                             .wy = j->column->axis[0].width,
                             .wx = 1,
                             .at = x * j->source.width,
                             .ahead_bytes = columns * j->source_bytes,
                             .columns = j->column->columns,
                             .out = w->scratch + j->fused.between + r * j->fused.row_bytes + (j->fused.left + x) * j->width,
                             .out_stride = j->fused.row_bytes,
                             .between = true};
    ask_ahead(j, w, r, x, &call);
    (columns == k->lanes ? j->narrow : j->tile)(&call);
    return x + columns;
}

/* Output columns x .. x + count - 1 of all rows of the group, from a tile of
 * `columns`. */
static void row_tiles(const job *j, const walk *w, char *out, int64_t x, int64_t count, int64_t columns, bool stream) {
    const tess_window_kernels *k = j->kernels;
    const tess_window_tile tile = columns == k->lanes ? k->point : k->line;
    char *sums = w->scratch + j->fused.sums;
    const char *from = w->scratch + j->fused.between + (j->fused.left + x - j->row->axis[1].before * j->row->group) * j->width;
    const bool direct = j->out_ready && count == columns;
    tess_window_call call = {.rows = &from,
                             .ahead = &from,
                             .planes = 1,
                             .wy = 1,
                             .wx = j->row->axis[1].width,
                             .step = j->row->group * j->width,
                             .weights = j->row->weights,
                             .stream = direct && stream,
                             .between = !direct};
    for (int r = 0; r < j->tall; r++, from += j->fused.row_bytes) {
        char *to = out + r * j->out_row + x * j->out_stride;
        call.out = direct ? to : sums;
        tile(&call);
        if (!direct)
            j->store(to, j->out_stride, sums, count);
    }
}

/* Columns from .. to - 1, when what they meet of the row between the passes is there. A tile may begin earlier, where it would reach beyond the row:
 * what lies behind that might be anything, and denormal numbers are slow. */
static void row_stretch(const job *j, const walk *w, char *out, int64_t from, int64_t to) {
    const tess_window_kernels *k = j->kernels;
    for (int64_t x = from; x < to;) {
        const int64_t columns = to - x > 2 * k->lanes && !j->rolling.roll ? k->line_vectors * k->lanes : k->lanes;
        const int64_t first = x + columns > j->length ? tess_max64(j->length - columns, 0) : x, count = tess_min64(to - first, columns);
        row_tiles(j, w, out, first, count, columns, false);
        x = first + count;
    }
}

/* The ghost cells at both ends of the rows between the passes. */
static void row_ends(const job *j, walk *w) {
    const int64_t before = tess_max64(j->row->axis[1].before * j->row->group, 0), length = j->fused.length;
    char *between = w->scratch + j->fused.between + j->fused.left * j->width;
    if (w->ends_made)
        return;
    for (int r = 0; r < j->tall; r++, between += j->fused.row_bytes) {
        tess_correlate_gather(&j->between, between - before * j->width, between, -before, before);
        tess_correlate_gather(&j->between, between + length * j->width, between, length, j->fused.right);
    }
    w->ends_made = j->problem->boundary == TESS_BOUNDARY_CONSTANT;
}

/* Output columns from *done on, as far as the rows between the passes are made: x columns. *steps: those done of a march that began at j->inside. */
static void march_on(const job *j, const walk *w, char *out, void *waiting, int64_t *steps, int64_t *done, int64_t x) {
    const tess_window_kernels *k = j->kernels;
    const int64_t taps = j->row->axis[1].width, deep = tess_ceil_div(taps, k->lanes), vector = k->lanes * j->width;
    const int64_t from = j->inside - j->row->axis[1].before, met = (x - from + 1) / k->lanes - 1; /* a step meets two vectors but for an element */
    const int64_t until = tess_min64(met, (j->beyond - j->inside) / k->lanes + deep - 1);
    if (until <= *steps)
        return;
    const tess_march_call march = {.x = w->scratch + j->fused.between + (j->fused.left + from) * j->width + *steps * vector,
                                   .out = out + j->inside * j->width + (*steps - deep + 1) * vector,
                                   .waiting = waiting,
                                   .weights = j->row->weights,
                                   .hop = j->fused.row_bytes,
                                   .out_hop = j->out_row,
                                   .steps = until - *steps,
                                   .last_taps = taps - (deep - 1) * k->lanes,
                                   .unborn = deep - 1 - *steps,
                                   .stream = j->stream};
    j->march(&march);
    *steps = until;
    *done = j->inside + tess_max64(until - deep + 1, 0) * k->lanes;
}

/* A group of rows by tiles. */
static void tiled_group(const job *j, walk *w, char *out) {
    const tess_window_kernels *k = j->kernels;
    const tess_correlate_axis *across = &j->row->axis[1];
    const int64_t columns = k->line_vectors * k->lanes, reach = (across->width - 1 - across->before) * j->row->group;
    const char *between = w->scratch + j->fused.between + j->fused.left * j->width;
    int64_t done = j->inside, steps = 0;
    char waiting[WAITING] __attribute__((aligned(64))) = {0};
    for (int64_t x = 0; x < j->fused.length;) {
        x = column_tile(j, w, 0, x, j->fused.length);
        if (j->march)
            march_on(j, w, out, waiting, &steps, &done, x);
        for (; !j->rings && !j->march && done + columns <= j->beyond && done + columns + reach <= x; done += columns)
            row_tiles(j, w, out, done, columns, columns, j->stream);
    }
    row_ends(j, w);
    for (int r = 0; j->rings && !j->march && r < k->tall; r++, between += j->fused.row_bytes) { /* a long mask: the whole row at once */
        const tess_window_line line = {.x = between + (j->inside - across->before) * j->width,
                                       .out = out + r * j->out_row + j->inside * j->width,
                                       .weights = j->row->weights,
                                       .taps = across->width,
                                       .width = j->width,
                                       .count = j->beyond - j->inside,
                                       .stream = j->stream};
        done = j->inside + tess_window_rings(k, &line);
    }
    row_stretch(j, w, out, 0, j->inside);
    row_stretch(j, w, out, done, j->length);
}

/* Columns from .. to - 1 of all rows between the passes of a group that may be taller than a tile. */
static void columns_at_end(const job *j, const walk *w, int64_t from, int64_t to) {
    for (int64_t r = 0, next = 0; next < j->tall; r = tess_min64(next, j->tall - j->kernels->tall)) {
        for (int64_t x = from; x < to;)
            x = column_tile(j, w, r, x, to);
        next = r + j->kernels->tall;
    }
}

/* A group of rows whose sums roll along. */
static void rolled_group(const job *j, walk *w, char *out) {
    const tess_rolling *roll = &j->rolling;
    const bool direct = j->out_ready || roll->narrow;
    const int64_t lanes = LINE / j->width, piece = direct ? roll->to - roll->from : roll->piece / j->width;
    char *between = w->scratch + j->fused.between + j->fused.left * j->width, *sums = w->scratch + j->fused.sums;
    columns_at_end(j, w, 0, roll->made);
    columns_at_end(j, w, roll->made_at_last, j->fused.length);
    row_ends(j, w);
    const char *const *met = w->rows + j->column->axis[0].width - 1, *const *next = met + j->most; /* this group meets them first; the next group */
    for (int64_t r = 0; r < j->tall && roll->near; r++)
        for (int64_t b = 0; b < NEAR; b += LINE)
            tess_prefetch_l2(next[r] + b);
    tess_roll_call call = {.rows = w->rows,
                           .ahead = roll->near ? met : next,
                           .step = lanes * j->source.width,
                           .ahead_step = lanes * j->source_bytes,
                           .column = j->column->weights,
                           .row = j->row->weights,
                           .hop = j->row->group * j->width,
                           .reach = roll->reach,
                           .edge_stride = j->fused.row_bytes,
                           .out = sums,
                           .out_stride = TESS_FUSED_SUMS,
                           .out_step = LINE,
                           .narrow = roll->narrow,
                           .between = true};
    for (int64_t x = roll->from, count; x < roll->to; x += count) {
        const int64_t at = roll->at + x - roll->from;
        count = tess_min64(roll->to - x, piece);
        call.at = at * j->source.width;
        call.ahead_at = at * j->source_bytes + (roll->near ? NEAR : 0);
        call.steps = count / lanes;
        call.first = roll->left && x == roll->from ? between - roll->reach * LINE : NULL;
        call.last = roll->right && x + count == roll->to ? between + j->fused.length * j->width : NULL;
        if (direct) {
            call.out = out + x * j->out_stride;
            call.out_stride = j->out_row;
            call.out_step = lanes * j->out_stride;
            call.stream = j->stream;
            call.between = false;
        }
        roll->roll(&call);
        for (int r = 0; !direct && r < j->tall; r++)
            j->store(out + r * j->out_row + x * j->out_stride, j->out_stride, sums + r * TESS_FUSED_SUMS, count);
    }
    row_stretch(j, w, out, 0, roll->from);
    row_stretch(j, w, out, roll->to, j->length);
}

static void one_group(const job *j, walk *w, int64_t y) {
    find_rows(j, w, y);
    (j->rolling.roll ? rolled_group : tiled_group)(j, w, j->out + y * j->out_row);
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    const job *j = argument;
    char *scratch = j->scratch + (size_t)worker * j->fused.scratch;
    const int64_t tall = j->tall, rows = j->column->axis[0].m;
    walk w = {.rows = (const char **)(void *)scratch, .scratch = scratch, .made = INT64_MIN};
    for (int64_t g = begin; g < end; g++)
        one_group(j, &w, g * tall);
    if (end == rows / tall && rows % tall != 0) /* the last group begins earlier */
        one_group(j, &w, rows - tall);
}

static void find_kernels(job *j) {
    const tess_window_kernels *k = j->kernels;
    const tess_march_kernels *marches = TESS_ISA_NAME(tess_correlate_march_kernels)();
    const int64_t deep = tess_ceil_div(j->row->axis[1].width, k->lanes);
    j->tile = j->fused.bytes ? k->bytes : k->tile;
    j->narrow = j->fused.bytes ? k->narrow_bytes : k->narrow;
    if (marches->rows != k->tall)
        return;
    j->tile = j->fused.bytes ? marches->columns_u8 : j->width == 4 ? marches->columns_f32 : marches->columns_f64;
    if (j->rings && deep <= TESS_MARCH_DEEP)
        j->march = j->width == 4 ? marches->f32[deep] : marches->f64[deep];
}

tess_status TESS_ISA_NAME(tess_correlate_fused_passes)(const tess_correlate_problem *problem, const tess_correlate_fused *fused, const tess_run *run);
tess_status TESS_ISA_NAME(tess_correlate_fused_passes)(const tess_correlate_problem *problem, const tess_correlate_fused *fused,
                                                       const tess_run *run) {
    const tess_correlate_pass *column = &problem->passes[0], *row = &problem->passes[1];
    const tess_correlate_axis *across = &row->axis[1];
    job j = {.problem = problem,
             .column = column,
             .row = row,
             .fused = *fused,
             .in = tess_correlate_input(problem, run),
             .out = run->out,
             .scratch = run->workspace};
    tess_correlate_source_of(&j.source, problem, column, run->slot);
    tess_correlate_source_of(&j.between, problem, row, run->slot);
    j.kernels = TESS_ISA_NAME(tess_correlate_window_kernels)(problem->work == tess_f32);
    j.store = tess_storer(run->slot, problem->work, row->to);
    j.width = j.source.width;
    if (fused->bytes) { /* what is gathered of the input are ghost cells */
        j.source.width = 1;
        j.source.constant.u64 = (uint8_t)problem->work_constant.f32;
    }
    j.source_bytes = (int64_t)tess_type_size(column->from);
    j.ask = j.source.stride == j.source_bytes;
    j.length = across->m * row->group;
    j.in_stride = column->axis[0].in_stride;
    j.out_row = row->axis[0].out_stride;
    j.out_stride = row->group > 1 ? (int64_t)tess_type_size(row->to) : across->out_stride;
    j.out_ready = row->to == problem->work && j.out_stride == j.width;
    j.rings = j.out_ready && row->group == 1 && tess_window_rings_pay(j.kernels, across->width);
    find_kernels(&j);
    const int64_t phase = (int64_t)(((uintptr_t)0 - (uintptr_t)j.out) % 64), line = 64 / j.width;
    j.stream = j.out_ready && phase % j.width == 0 && j.out_row % 64 == 0 && tess_correlate_goes_past(problem, j.width);
    j.inside = tess_max64(across->before, 0) * row->group;
    if (j.stream) /* from the start of a line of output on */
        j.inside += (phase / j.width + line - j.inside % line) % line;
    j.inside = tess_min64(j.inside, j.length);
    j.beyond = tess_max64(tess_min64((across->n - (across->width - 1 - across->before)) * row->group, j.length), j.inside);
    j.tall = j.most = j.kernels->tall;
    if (tess_rolling_of(&j.rolling, problem, fused, TESS_ISA_NAME(tess_correlate_roll_kernels)(problem->work == tess_f32),
                        TESS_ISA_NAME(tess_correlate_woven_kernels)(problem->work == tess_f32), j.stream ? phase / j.width : 0)) {
        j.tall = j.rolling.tall;
        j.most = tess_max64(j.tall, j.most);
    }
    const int64_t groups = column->axis[0].m / j.tall;
    const int64_t least = tess_min64(groups / (8 * (int64_t)run->threads), LEAST_ROWS / j.tall);
    return tess_parallel_guided(run->context, run->threads, groups, tess_max64(1, least), task, &j);
}

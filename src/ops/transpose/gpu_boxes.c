/* SPDX-License-Identifier: Apache-2.0
 * gpu_boxes.c - the row transpose/boxes: boxes of as many axes as make long runs on both sides, where the fastest ones are short; its launch (gpu_boxes.cu).
 *
 * A chain of axes is what lies without a gap from the fastest one on: one of in, another of out. A box takes some axes of each, the last of them a stretch only. */
#include <stdio.h>

#include "ops/transpose/gpu_boxes.h"

extern const char tess_kernel_transpose_gpu_boxes_cu[];
static const tess_gpu_text gpu_boxes = {"transpose/gpu_boxes.cu", tess_kernel_transpose_gpu_boxes_cu};

enum {
    SMALL = 16 << 10,
    LARGE = 32 << 10, /* bytes of a box */
    ROOM = 46 << 10,  /* of shared memory */
    TABLES = 2048     /* rows, lines, places in a line, at most */
};

static int chain_of(const transpose_gpu_boxes *b, int side, int *chain) {
    int length = 0;
    for (int64_t step = b->size;;) {
        int next = -1;
        for (int d = 0; d < b->ndim; d++)
            if (b->stride[side][d] == step && b->shape[d] > 1)
                next = d;
        if (next < 0)
            return length;
        chain[length++] = next;
        step *= b->shape[next];
    }
}

static bool among(const int *chain, int length, int axis) {
    for (int i = 0; i < length; i++)
        if (chain[i] == axis)
            return true;
    return false;
}

/* Elements of axis `axis` in a box: about `wanted`, in boxes of about the same length that begin at sectors if runs do. */
static int64_t stretch(const transpose_gpu_boxes *b, int axis, int64_t wanted, int64_t run) {
    const int64_t all = b->shape[axis], whole = 32 / tess_gcd(32, run * b->size);
    if (wanted >= all)
        return all;
    const int64_t each = tess_ceil_div(all, tess_ceil_div(all, tess_max64(wanted, 1)));
    return each >= 2 * whole ? tess_min64(tess_ceil_div(each, whole) * whole, all) : each;
}

/* The box of the first `in` and `out` axes of the chains that has about `bytes` bytes; false: it does not fit. */
static bool box_of(transpose_gpu_boxes *b, int in, int out, int64_t bytes) {
    int64_t inner = 1, in_run = 1, out_run = 1;
    b->used[TRANSPOSE_IN] = in;
    b->used[TRANSPOSE_OUT] = out;
    b->a = b->chain[TRANSPOSE_IN][in - 1];
    b->b = b->chain[TRANSPOSE_OUT][out - 1];
    b->common = b->a == b->b;
    b->free_a = !among(b->chain[TRANSPOSE_OUT], out, b->a);
    b->free_b = !among(b->chain[TRANSPOSE_IN], in, b->b);
    for (int d = 0; d < b->ndim; d++)
        b->extent[d] = 1;
    for (int side = TRANSPOSE_IN; side <= TRANSPOSE_OUT; side++)
        for (int i = 0; i < b->used[side]; i++) {
            const int axis = b->chain[side][i];
            const bool cut = axis == b->a ? b->free_a || b->common : axis == b->b && b->free_b;
            if (i < b->used[side] - 1)
                *(side == TRANSPOSE_IN ? &in_run : &out_run) *= b->shape[axis];
            if (cut || b->extent[axis] != 1)
                continue;
            b->extent[axis] = b->shape[axis];
            if (b->shape[axis] > bytes / b->size / inner)
                return false;
            inner *= b->shape[axis];
        }
    const int64_t left = bytes / b->size / inner;
    if (left < 1)
        return false;
    int64_t along_a = b->common ? left : b->free_a ? 1 : b->shape[b->a], along_b = b->common ? left : b->free_b ? 1 : b->shape[b->b];
    if (b->free_a && b->free_b) {
        while (along_a * along_a * in_run < left * out_run) /* runs of about the same length */
            along_a++;
        along_a = tess_min64(tess_max64(along_a, left / b->shape[b->b]), tess_min64(left, b->shape[b->a]));
        along_b = left / along_a;
    } else if (b->free_a) {
        along_a = left;
    } else if (b->free_b) {
        along_b = left;
    }
    if (b->common || b->free_a)
        b->extent[b->a] = stretch(b, b->a, along_a, b->common ? out_run : in_run);
    if (b->free_b)
        b->extent[b->b] = stretch(b, b->b, along_b, out_run);
    b->in_run = in_run;
    b->out_run = out_run;
    b->in_runs = b->out_runs = 1;
    for (int i = 0; i < out; i++)
        if (b->chain[TRANSPOSE_OUT][i] != b->b && !among(b->chain[TRANSPOSE_IN], in, b->chain[TRANSPOSE_OUT][i]))
            b->in_runs *= b->shape[b->chain[TRANSPOSE_OUT][i]];
    for (int i = 0; i < in; i++)
        if (b->chain[TRANSPOSE_IN][i] != b->a && !among(b->chain[TRANSPOSE_OUT], out, b->chain[TRANSPOSE_IN][i]))
            b->out_runs *= b->shape[b->chain[TRANSPOSE_IN][i]];
    b->table = out_run * (b->common ? 1 : b->extent[b->b]);
    b->rows = b->in_runs * (b->free_b ? b->extent[b->b] : 1);
    b->lines = b->out_runs * (b->free_a ? b->extent[b->a] : 1);
    b->in_bytes = in_run * b->extent[b->a] * b->size;
    b->out_bytes = out_run * b->extent[b->b] * b->size;
    b->pitch = tess_ceil_div(b->in_bytes + 16 - b->size, 16) * 16 + 16;
    return b->table <= TABLES && b->rows <= TABLES && b->lines <= TABLES && (b->pitch + 2) * b->rows + b->lines * 16 + b->table * 4 + 32 <= ROOM;
}

/* What part of the speed of a copy may be expected, by sectors that are cut, by boxes that are not whole, by how much a block has. */
static double worth_of(const transpose_gpu_boxes *b, int64_t bytes) {
    const double in = (double)b->in_bytes, out = (double)b->out_bytes, all = in * (double)b->rows;
    double whole = 1;
    for (int d = 0; d < b->ndim; d++)
        whole *= (double)b->shape[d] / (double)(tess_ceil_div(b->shape[d], b->extent[d]) * b->extent[d]);
    return 2 / ((in + 24) / in + (out + 40) / out) * (bytes == SMALL ? 1 : 0.96) * (0.5 + whole / 2) * all / (all + 400);
}

/* Whether every line of out begins at a whole word, if the first one does, and is a number of them. */
static bool whole_words(const transpose_gpu_boxes *b) {
    int64_t rest = b->out_bytes;
    for (int d = 0; d < b->ndim; d++)
        if (!among(b->chain[TRANSPOSE_OUT], b->used[TRANSPOSE_OUT], d))
            rest |= b->stride[TRANSPOSE_OUT][d];
    return rest % b->word == 0;
}

/* Clocks of a multiprocessor for the words of a box: about 38 instructions each and 8 for an element, 15 for one of a word that is not whole, which keeps a warp; and
 * wavefronts of shared memory, of the first warps of a box whose rows begin at vectors. The shorter of both is hidden for the most part. */
static double clocks(const transpose_gpu_boxes *b) {
    const int64_t e = b->word / b->size, along = 32 / b->across, turns = tess_ceil_div(tess_ceil_div(b->out_bytes + 32 - b->size, b->word), along),
                  all = turns * tess_ceil_div(b->lines, b->across), count = tess_min64(all, 8);
    tess_gpu_shared_cost cost = {0};
    for (int64_t n = 0; n < count; n++)
        for (int64_t k = 0; k < e; k++) {
            int32_t at[32];
            for (int64_t lane = 0; lane < 32; lane++) {
                const int64_t line = n / turns * b->across + lane / along, x = (n % turns * along + lane % along) * e + k;
                at[lane] = line < b->lines && x * b->size < b->out_bytes ? (int32_t)tess_transpose_gpu_boxes_spot(b, line, x, NULL) : -1;
            }
            tess_gpu_shared_request(&cost, at, (int)b->size, false);
        }
    const double edges = whole_words(b) || e == 1 ? 0 : turns > 2 ? 2.0 / (double)turns : 1;
    const double issue = (double)all * (38 + 8 * (double)e + edges * 15 * (double)e) / 4;
    const double shared = (double)all * (cost.wavefronts / (double)count + (double)e + 1);
    return issue > shared ? issue + shared / 4 : shared + issue / 4;
}

int64_t tess_transpose_gpu_boxes_line(const transpose_gpu_boxes *b, int64_t row) { return row * b->pitch + (b->spread ? row / 8 * 16 : 0); }

/* The axes by which rows, lines and places in a line are counted, fastest first: their sizes, and where a step along each leads: in in, in out, from row to row and in
 * a row. */
typedef struct steps {
    int count;
    int64_t size[TESS_MAX_NDIM], in[TESS_MAX_NDIM + 1], out[TESS_MAX_NDIM + 1], row[TESS_MAX_NDIM], at[TESS_MAX_NDIM];
} steps;
typedef enum counted { ROWS_OF_IN, LINES_OF_OUT, PLACES } counted;
static void steps_of(steps *s, const transpose_gpu_boxes *b, counted what) {
    const int side = what == LINES_OF_OUT ? TRANSPOSE_IN : TRANSPOSE_OUT;
    int64_t rows = 1;
    s->count = 0;
    for (int i = 0; i < b->used[side]; i++) {
        const int axis = b->chain[side][i];
        const bool other = among(b->chain[!side], b->used[!side], axis);
        if (what == PLACES ? b->common && axis == b->b : other)
            continue;
        s->size[s->count] = b->extent[axis];
        s->in[s->count] = b->stride[TRANSPOSE_IN][axis];
        s->out[s->count] = b->stride[TRANSPOSE_OUT][axis];
        const bool in_row = side == TRANSPOSE_IN || other; /* a step of in's chain is one in a row */
        s->at[s->count] = in_row ? b->stride[TRANSPOSE_IN][axis] : 0;
        s->row[s->count++] = in_row ? 0 : rows;
        rows *= in_row ? 1 : b->extent[axis];
    }
    s->in[s->count] = s->out[s->count] = 0;
}

typedef struct leads {
    int64_t in, out, row, at;
} leads;
static leads lead_to(const transpose_gpu_boxes *b, counted what, int64_t number) {
    leads to = {0};
    steps s;
    steps_of(&s, b, what);
    for (int i = 0; i < s.count; number /= s.size[i++]) {
        const int64_t digit = number % s.size[i];
        to.in += digit * s.in[i];
        to.out += digit * s.out[i];
        to.row += digit * s.row[i];
        to.at += digit * s.at[i];
    }
    return to;
}

int64_t tess_transpose_gpu_boxes_spot(const transpose_gpu_boxes *b, int64_t line, int64_t element, const int64_t *skip) {
    const leads place = lead_to(b, PLACES, element % b->table);
    return tess_transpose_gpu_boxes_line(b, place.row) + (skip ? skip[place.row] : 0) + place.at + lead_to(b, LINES_OF_OUT, line).at +
           element / b->table * b->in_run * b->size;
}
int64_t tess_transpose_gpu_boxes_from(const transpose_gpu_boxes *b, int64_t row) { return lead_to(b, ROWS_OF_IN, row).in; }
int64_t tess_transpose_gpu_boxes_to(const transpose_gpu_boxes *b, int64_t line) { return lead_to(b, LINES_OF_OUT, line).out; }

void tess_transpose_gpu_boxes_arrange(transpose_gpu_boxes *b) {
    const int64_t pitch = b->pitch - 16;
    transpose_gpu_boxes best = *b;
    double least = 1e30;
    for (int64_t word = tess_max64(4, b->size); word <= 16; word *= 2)
        for (int64_t across = 1; 32 / across * word >= 32; across *= 2) /* a sector of each line, or more */
            for (int i = 0; i < 4; i++) {
                b->word = word;
                b->across = across;
                b->pitch = pitch + i % 2 * 16;
                b->spread = i / 2;
                const double cost = clocks(b);
                if (cost < least * 0.97) {
                    least = cost;
                    best = *b;
                }
            }
    *b = best;
}

bool tess_transpose_gpu_boxes_of(const tess_problem *base, transpose_gpu_boxes *b, const char **why) {
    const transpose_problem *p = (const transpose_problem *)base;
    *why = "works between two arrays, not in place";
    if (p->place != TRANSPOSE_ELSEWHERE)
        return false;
    *why = "needs two axes, one without gaps in each array, and steps that are whole elements";
    if (p->ndim < 2)
        return false;
    const int64_t piece = tess_transpose_gpu_piece(p, true);
    *b = (transpose_gpu_boxes){.ndim = p->ndim, .size = piece > p->size ? piece : p->size, .low = 0};
    int64_t rest = p->first[TRANSPOSE_IN] | p->first[TRANSPOSE_OUT], high = 0;
    for (int d = 0; d < b->ndim; d++) {
        const bool pieces = d == b->ndim - 1 && b->size > p->size; /* of a last axis that stays */
        b->shape[d] = pieces ? p->shape[d] * p->size / b->size : p->shape[d];
        for (int side = TRANSPOSE_IN; side <= TRANSPOSE_OUT; side++) {
            b->stride[side][d] = pieces ? b->size : p->stride[side][d];
            rest |= b->stride[side][d];
        }
        const int64_t reach = (b->shape[d] - 1) * b->stride[TRANSPOSE_IN][d];
        *(reach < 0 ? &b->low : &high) += reach;
    }
    b->high = high + b->size;
    if (rest % b->size != 0)
        return false;
    for (int side = TRANSPOSE_IN; side <= TRANSPOSE_OUT; side++)
        if ((b->length[side] = chain_of(b, side, b->chain[side])) == 0)
            return false;
    transpose_gpu_boxes best = *b;
    for (int in = 1; in <= b->length[TRANSPOSE_IN]; in++)
        for (int out = 1; out <= b->length[TRANSPOSE_OUT]; out++)
            for (int64_t bytes = SMALL; bytes <= LARGE; bytes += LARGE - SMALL)
                if (box_of(b, in, out, bytes) && (b->worth = worth_of(b, bytes)) > best.worth)
                    best = *b;
    *why = "needs axes of which some fill at most 46 KiB";
    *b = best;
    if (b->worth <= 0)
        return false;
    b->blocks = 1;
    for (int d = 0; d < b->ndim; d++)
        if (b->extent[d] < b->shape[d]) {
            b->axis[b->axes++] = d;
            b->blocks *= tess_ceil_div(b->shape[d], b->extent[d]);
        }
    *why = "needs fewer than 2^31 boxes";
    return b->blocks < INT32_MAX;
}

bool tess_transpose_gpu_boxes_fit(const tess_problem *base, const char **why) {
    transpose_gpu_boxes b;
    return tess_transpose_gpu_boxes_of(base, &b, why);
}

bool tess_transpose_gpu_boxes_pay(const tess_problem *base, const char **why) {
    const transpose_problem *p = (const transpose_problem *)base;
    transpose_gpu_joined joined;
    transpose_gpu_boxes b;
    transpose_plane m;
    tess_transpose_plane_of(&m, p, false);
    *why = "needs axes that are short on one side";
    /* As measured: rows of in of u8 below 96 bytes, of 2 bytes below 128, of 4 below 160 are no tiles' matter, whatever those of out are. */
    const bool p_short = m.p_size * p->size < (p->size == 1   ? 96
                                               : p->size == 4 ? 160
                                                              : 128) &&
                         (p->size <= 4 || m.p_size < 32),
               q_short = m.q_size < 32 && m.q_size * p->size < 128;
    if (!p_short && !q_short)
        return false;
    *why = "where rows are joined to long ones, tiles are faster";
    const char *no;
    if (tess_transpose_gpu_joined_pays(base, &no) && tess_transpose_gpu_joined_of(base, &joined, &no) && joined.plane.p_size * p->size >= 192 &&
        joined.plane.q_size * p->size >= 192)
        return false;
    *why = "runs that stay together have rows of their own";
    if (tess_transpose_gpu_last_stays(p) && (tess_transpose_gpu_short_runs_pay(base, &no) || p->shape[p->ndim - 1] * p->size >= 64))
        return false;
    if (!tess_transpose_gpu_boxes_of(base, &b, why))
        return false;
    *why = "needs runs of 64 bytes on both sides, in as many boxes as a card takes at a time";
    return b.in_bytes >= 64 && b.out_bytes >= 64 && b.blocks >= 256;
}

/* -DROW_SIZES=3,4 and the like. */
static void pass_numbers(tess_gpu_layout *layout, const char *what, const char *which, int count, const int64_t *numbers) {
    char text[24 * TESS_MAX_NDIM] = "0", *at = text;
    for (int i = 0; i < count; i++)
        at += snprintf(at, (size_t)(text + sizeof text - at), i > 0 ? ",%d" : "%d", (int)numbers[i]);
    tess_gpu_option(layout, "-D%s_%s=%s", what, which, text);
}
static void pass_list(tess_gpu_layout *layout, const char *what, const steps *s, const int64_t *rows, const int64_t *at) {
    tess_gpu_option(layout, "-D%s_AXES=%d", what, s->count);
    pass_numbers(layout, what, "SIZES", s->count, s->size);
    if (rows)
        pass_numbers(layout, what, "ROWS", s->count, rows);
    if (at)
        pass_numbers(layout, what, "STEPS", s->count, at);
}

static void lay_boxes(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const transpose_problem *p = (const transpose_problem *)base;
    int64_t block[4 + 5 * (TESS_MAX_NDIM + 1)] = {0}, *at = block;
    const char *why;
    transpose_gpu_boxes b;
    (void)device;
    if (!tess_transpose_gpu_boxes_of(base, &b, &why))
        return;
    tess_transpose_gpu_boxes_arrange(&b);
    int counts[2] = {-1, -1};
    *at++ = b.low;
    *at++ = b.high;
    *at++ = b.shape[b.a];
    *at++ = b.shape[b.b];
    for (int side = -1; side <= TRANSPOSE_OUT; side++, at++)
        for (int i = 0; i < b.axes; i++) {
            const int d = b.axis[i];
            *at++ = side < 0 ? tess_ceil_div(b.shape[d], b.extent[d]) : b.extent[d] * b.stride[side][d];
            counts[0] = d == b.a ? i : counts[0];
            counts[1] = d == b.b ? i : counts[1];
        }
    steps rows, lines, spots;
    steps_of(&rows, &b, ROWS_OF_IN);
    steps_of(&lines, &b, LINES_OF_OUT);
    steps_of(&spots, &b, PLACES);
    for (int i = 0; i <= rows.count; i++)
        *at++ = rows.in[i];
    for (int i = 0; i <= lines.count; i++)
        *at++ = lines.out[i];
    tess_gpu_unit(layout, &gpu_boxes);
    tess_gpu_option(layout, "-DSIZE=%d", (int)b.size);
    tess_gpu_option(layout, "-DWORD=%d", (int)b.word);
    tess_gpu_option(layout, "-DLONG_A=%d", (int)b.extent[b.a]);
    tess_gpu_option(layout, "-DLONG_B=%d", (int)b.extent[b.b]);
    tess_gpu_option(layout, "-DIN_RUN=%d", (int)b.in_run);
    tess_gpu_option(layout, "-DIN_RUNS=%d", (int)b.in_runs);
    tess_gpu_option(layout, "-DOUT_RUN=%d", (int)b.out_run);
    tess_gpu_option(layout, "-DOUT_RUNS=%d", (int)b.out_runs);
    tess_gpu_option(layout, "-DFREE_A=%d", b.free_a);
    tess_gpu_option(layout, "-DFREE_B=%d", b.free_b);
    tess_gpu_option(layout, "-DCOMMON=%d", b.common);
    tess_gpu_option(layout, "-DTABLE=%d", (int)b.table);
    tess_gpu_option(layout, "-DA_AXIS=%d", counts[0]);
    tess_gpu_option(layout, "-DB_AXIS=%d", counts[1]);
    tess_gpu_option(layout, "-DPITCH=%d", (int)b.pitch);
    tess_gpu_option(layout, "-DSPREAD=%d", (int)b.spread);
    tess_gpu_option(layout, "-DACROSS=%d", (int)b.across);
    tess_gpu_option(layout, "-DTHREADS=%d", TRANSPOSE_GPU_BOXES_THREADS);
    tess_gpu_option(layout, "-DAXES=%d", b.axes);
    pass_list(layout, "ROW", &rows, NULL, NULL);
    pass_list(layout, "LINE", &lines, NULL, lines.at);
    pass_list(layout, "SPOT", &spots, spots.row, spots.at);
    const int64_t room = tess_transpose_gpu_boxes_line(&b, b.rows - 1) + b.pitch + b.lines * 16 + tess_ceil_div(b.table * 4, 16) * 16;
    tess_gpu_step *step = tess_gpu_launch_of(layout, "turn_boxes", b.blocks, 1, 1, TRANSPOSE_GPU_BOXES_THREADS, room);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, p->first[TRANSPOSE_IN]);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, p->first[TRANSPOSE_OUT]);
    tess_gpu_pass(layout, step, block, (size_t)(at - block) * sizeof *block);
    layout->alignment = b.size;
}

const tess_gpu_row tess_transpose_gpu_boxes_row = {
    .headers = tess_transpose_gpu_headers, .production = true, .least_arch = 80, .lay_out = lay_boxes, .predict = tess_transpose_predict_boxes};

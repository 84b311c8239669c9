/* SPDX-License-Identifier: Apache-2.0
 * layout.c - the words with which a row writes down its launches. Whatever does not fit sets `full`; the plan then fails, and nothing is cut
 * silently. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/engine.h"
#include "gpu/row.h"

static int keep(tess_gpu_layout *layout, const void *bytes, size_t size, size_t alignment) {
    size_t at = (layout->used + alignment - 1) / alignment * alignment;
    if (at + size > sizeof layout->arena) {
        layout->full = true;
        return 0;
    }
    memcpy(layout->arena + at, bytes, size);
    layout->used = at + size;
    return (int)at;
}

void tess_gpu_unit(tess_gpu_layout *layout, const tess_gpu_text *text) {
    if (layout->units == TESS_GPU_UNITS) {
        layout->full = true;
        return;
    }
    layout->unit[layout->units++].text = text;
}

TESS_PRINTF(3, 0) static void add_option(tess_gpu_layout *layout, int unit, const char *format, va_list arguments) {
    char option[TESS_GPU_ARENA];
    const int length = vsnprintf(option, sizeof option, format, arguments), n = unit < 0 ? TESS_GPU_OPTIONS : layout->unit[unit].options;
    if (length < 0 || (size_t)length >= sizeof option || n == TESS_GPU_OPTIONS) {
        layout->full = true;
        return;
    }
    layout->unit[unit].option[n] = layout->arena + keep(layout, option, (size_t)length + 1, 1);
    layout->unit[unit].options++;
}

void tess_gpu_option(tess_gpu_layout *layout, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_option(layout, layout->units - 1, format, arguments);
    va_end(arguments);
}

TESS_PRINTF(3, 4) static void option_of(tess_gpu_layout *layout, int unit, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_option(layout, unit, format, arguments);
    va_end(arguments);
}

tess_gpu_step *tess_gpu_launch_of(tess_gpu_layout *layout, const char *entry, int64_t grid_x, int64_t grid_y, int64_t grid_z, int block,
                                  int64_t shared) {
    if (layout->steps == TESS_GPU_STEPS || layout->units == 0) {
        layout->full = true;
        layout->steps = layout->steps ? layout->steps - 1 : 0; /* the plan fails; a step that can be written to is still owed */
    }
    tess_gpu_step *step = &layout->step[layout->steps++];
    *step = (tess_gpu_step){.unit = layout->units - 1, .entry = entry, .grid = {{grid_x, grid_y, grid_z}, {block, 1, 1}, shared}};
    return step;
}

tess_gpu_step *tess_gpu_launch_folding(tess_gpu_layout *layout, const char *entry, int64_t grid_x, int64_t grid_y, int64_t grid_z, int block,
                                       int64_t shared) {
    tess_gpu_step *step = tess_gpu_launch_of(layout, entry, grid_x, grid_y, grid_z, block, shared);
    step->folds = true;
    return step;
}

static void fold(tess_gpu_layout *layout, tess_gpu_step *step) {
    int64_t *blocks = step->grid.grid, all;
    if (TESS_MUL_OVERFLOWS(blocks[0], blocks[1], &all) || TESS_MUL_OVERFLOWS(all, blocks[2], &all) || all > INT32_MAX || all == 0)
        return; /* too many in all: the plan says so */
    option_of(layout, step->unit, "-DFOLD_X=%lldu", (long long)blocks[0]);
    option_of(layout, step->unit, "-DFOLD_Y=%lldu", (long long)blocks[1]);
    blocks[0] = all;
    blocks[1] = blocks[2] = 1;
    step->folded = true;
}

void tess_gpu_fold(tess_gpu_layout *layout, const int most[3]) {
    for (tess_gpu_step *step = layout->step; step < layout->step + layout->steps; step++)
        if (step->folds && (step->grid.grid[1] > most[1] || step->grid.grid[2] > most[2]))
            fold(layout, step);
}

void tess_gpu_fold_alike(tess_gpu_layout *layout, const tess_gpu_layout *other) {
    for (int s = 0; s < layout->steps && s < other->steps; s++)
        if (layout->step[s].folds && !layout->step[s].folded && other->step[s].folded)
            fold(layout, &layout->step[s]);
}

static void add(tess_gpu_layout *layout, tess_gpu_step *step, tess_gpu_argument argument) {
    if (step->arguments == TESS_GPU_ARGUMENTS)
        layout->full = true;
    else
        step->argument[step->arguments++] = argument;
}

void tess_gpu_pass_pointer(tess_gpu_layout *layout, tess_gpu_step *step, tess_gpu_place place, int64_t offset) {
    add(layout, step, (tess_gpu_argument){.place = place, .offset = offset});
}

void tess_gpu_fill_constant(tess_gpu_step *step, const char *variable, tess_gpu_place place, int64_t offset, int64_t size) {
    step->variable = variable;
    step->content = (tess_gpu_argument){.place = place, .offset = offset, .size = (int)size};
}

void tess_gpu_pass_ticket(tess_gpu_layout *layout, tess_gpu_step *step) {
    layout->full = layout->full || layout->ticket;
    layout->ticket = true;
    layout->ticket_room = tess_gpu_reserve(layout, 4);
    add(layout, step, (tess_gpu_argument){.place = TESS_GPU_TICKET});
}

void tess_gpu_pass_turn(tess_gpu_layout *layout, tess_gpu_step *step) { add(layout, step, (tess_gpu_argument){.place = TESS_GPU_TURN}); }

void tess_gpu_pass(tess_gpu_layout *layout, tess_gpu_step *step, const void *value, size_t size) {
    add(layout, step, (tess_gpu_argument){.place = TESS_GPU_VALUE, .at = keep(layout, value, size, 16), .size = (int)size});
}

void tess_gpu_pass_i64(tess_gpu_layout *layout, tess_gpu_step *step, int64_t value) { tess_gpu_pass(layout, step, &value, sizeof value); }

void tess_gpu_pass_i32(tess_gpu_layout *layout, tess_gpu_step *step, int32_t value) { tess_gpu_pass(layout, step, &value, sizeof value); }

int64_t tess_gpu_reserve(tess_gpu_layout *layout, int64_t size) {
    int64_t at = tess_ceil_div(layout->workspace, 256) * 256;
    layout->workspace = at + size;
    return at;
}

void tess_gpu_want_mark(tess_gpu_layout *layout) {
    layout->full = layout->full || layout->workspace;
    layout->mark = true;
    layout->zeroed = tess_gpu_reserve(layout, 16) + 16;
    layout->result = 8;
}

int64_t tess_gpu_data(tess_gpu_layout *layout, const void *content, size_t size) {
    int64_t at = tess_ceil_div(layout->data_size, 256) * 256;
    if (layout->pieces == TESS_GPU_PIECES) {
        layout->full = true;
        return 0;
    }
    layout->piece[layout->pieces].content = content;
    layout->piece[layout->pieces].size = size;
    layout->piece[layout->pieces++].at = at;
    layout->data_size = at + (int64_t)size;
    return at;
}

void tess_gpu_constant_data(tess_gpu_layout *layout, const char *variable, const void *content, size_t size) {
    unsigned char hash[TESS_SHA256_SIZE];
    char hex[TESS_SHA256_TEXT];
    tess_sha256 state;
    if (layout->constants == TESS_GPU_UNITS) {
        layout->full = true;
        return;
    }
    tess_sha256_start(&state);
    tess_sha256_add_field(&state, content, size);
    tess_sha256_end(&state, hash);
    tess_sha256_text(hash, hex);
    tess_gpu_option(layout, "-DCONTENT_OF_%s=0x%s", variable, hex);
    layout->constant[layout->constants].unit = layout->units - 1;
    layout->constant[layout->constants].variable = variable;
    layout->constant[layout->constants].content = content;
    layout->constant[layout->constants++].size = size;
}

tess_gpu_prediction tess_gpu_no_prediction(void) {
    tess_gpu_prediction none;
#define X(name) none.name = -1;
    TESS_GPU_PREDICTION_LIST(X)
#undef X
    return none;
}

int tess_gpu_rung(const tess_strategy *row) { return row->gpu ? row->gpu->rung : 0; }

bool tess_gpu_production(const tess_strategy *row) { return row->gpu && row->gpu->production; }

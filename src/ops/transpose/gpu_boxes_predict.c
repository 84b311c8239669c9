/* SPDX-License-Identifier: Apache-2.0
 * gpu_boxes_predict.c - what transpose/boxes will count: every box is walked, warp by warp and request by request, if there are not too many. */
#include <stdlib.h>

#include "ops/transpose/gpu_boxes.h"

enum { MOST = 256, THREADS = TRANSPOSE_GPU_BOXES_THREADS };

typedef struct box {
    const transpose_gpu_boxes *b;
    tess_gpu_prediction *sum;
    int64_t in, out, low, high; /* addresses of the box's first element on either side, of what exists of in */
    int64_t rows, lines, in_bytes, out_bytes;
    int64_t *skip; /* of each row */
} box;

static void bring(const box *x) {
    const transpose_gpu_boxes *b = x->b;
    const int64_t vectors = tess_ceil_div(b->in_bytes + 16 - b->size, 16);
    for (int64_t first = 0; first < x->rows * vectors; first += 32) {
        int64_t begin[32], from[32], to[32], ask[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t n = first + lane;
            from[lane] = to[lane] = begin[lane] = -1;
            if (n >= x->rows * vectors)
                continue;
            const int64_t row = n / vectors, at = x->in + tess_transpose_gpu_boxes_from(b, row);
            begin[lane] = at - at % 16 + n % vectors * 16;
            if (begin[lane] >= x->low && begin[lane] + 16 <= x->high && begin[lane] < at + x->in_bytes) {
                from[lane] = begin[lane];
                to[lane] = tess_transpose_gpu_boxes_line(b, row) + n % vectors * 16;
            }
        }
        tess_gpu_count_copies(x->sum, 1, from, to);
        for (int64_t i = 0; i < 16; i += b->size) {
            for (int lane = 0; lane < 32; lane++) {
                ask[lane] = to[lane] = -1;
                if (begin[lane] < 0 || (begin[lane] >= x->low && begin[lane] + 16 <= x->high))
                    continue;
                const int64_t n = first + lane, row = n / vectors, at = x->in + tess_transpose_gpu_boxes_from(b, row);
                if (begin[lane] + i < at || begin[lane] + i >= at + x->in_bytes)
                    continue;
                ask[lane] = begin[lane] + i;
                to[lane] = tess_transpose_gpu_boxes_line(b, row) + n % vectors * 16 + i;
            }
            tess_gpu_count_global(x->sum, 1, ask, b->size, false);
            tess_gpu_count_shared(x->sum, 1, to, b->size, true);
        }
    }
}

/* Numbers below `count`, a lane each: 4 bytes, or 8 and 8 as the compiler has what a line takes. */
static void make_table(const box *x, int64_t at, int64_t count, int64_t bytes) {
    for (int64_t first = 0; first < count; first += 32) {
        int64_t to[32];
        for (int lane = 0; lane < 32; lane++)
            to[lane] = first + lane < count ? at + (first + lane) * bytes : -1;
        tess_gpu_count_shared(x->sum, 1, to, bytes, true);
    }
}

static void put(const box *x) {
    const transpose_gpu_boxes *b = x->b;
    const int64_t e = b->word / b->size, along = 32 / b->across, words = tess_ceil_div(b->out_bytes + 32 - b->size, b->word),
                  turns = tess_ceil_div(words, along), length = x->out_bytes / b->size;
    const int64_t lines = tess_transpose_gpu_boxes_line(b, b->rows - 1) + b->pitch, table = lines + b->lines * 16;
    if (b->table == 1) {
        int64_t only[32];
        for (int lane = 0; lane < 32; lane++)
            only[lane] = table;
        tess_gpu_count_shared(x->sum, THREADS / 32, only, 4, false);
    }
    for (int64_t n = 0; n < tess_ceil_div(x->lines, b->across) * turns; n++) {
        int64_t first[32], line[32], to[32], at[32], entry[32], word[32], run[32];
        for (int lane = 0; lane < 32; lane++) {
            line[lane] = n / turns * b->across + lane / along;
            run[lane] = line[lane] < x->lines ? line[lane] : -1;
            to[lane] = line[lane] < x->lines ? x->out + tess_transpose_gpu_boxes_to(b, line[lane]) : -1;
            first[lane] = ((n % turns * along + lane % along) * b->word - (to[lane] < 0 ? 0 : to[lane] % 32)) / b->size;
            run[lane] = run[lane] < 0 ? -1 : lines + run[lane] * 16;
        }
        tess_gpu_count_shared(x->sum, 1, run, 16, false);
        for (int pass = 0; pass < 2; pass++)
            for (int64_t k = 0; k < e; k++) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t one = first[lane] + k;
                    const bool whole = first[lane] >= 0 && first[lane] + e <= length, there = pass == 0 ? whole : !whole && one >= 0 && one < length;
                    const bool is = to[lane] >= 0 && there;
                    at[lane] = is ? tess_transpose_gpu_boxes_spot(b, line[lane], one, x->skip) : -1;
                    entry[lane] = is && b->table > 1 ? table + one % b->table * 4 : -1;
                    word[lane] = is ? to[lane] + one * b->size : -1;
                }
                tess_gpu_count_shared(x->sum, 1, entry, 4, false);
                tess_gpu_count_shared(x->sum, 1, at, b->size, false);
                if (pass == 1 || k == 0)
                    tess_gpu_count_global(x->sum, 1, word, pass == 0 ? b->word : b->size, true);
            }
    }
}

void tess_transpose_predict_boxes(const tess_problem *base, tess_gpu_prediction *out) {
    const transpose_problem *p = (const transpose_problem *)base;
    transpose_gpu_boxes b;
    const char *why;
    if (!tess_transpose_gpu_boxes_of(base, &b, &why))
        return;
    tess_transpose_gpu_boxes_arrange(&b);
    int64_t *skip = calloc((size_t)b.rows, sizeof *skip);
    if (b.blocks > MOST || !skip) {
        out->flops = 0;
        free(skip);
        return;
    }
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    for (int64_t block = 0; block < b.blocks; block++) {
        const int64_t in = TESS_GPU_ORIGIN + p->first[TRANSPOSE_IN];
        box x = {
            .b = &b, .sum = out, .in = in, .out = TESS_GPU_ORIGIN + p->first[TRANSPOSE_OUT], .low = in + b.low, .high = in + b.high, .skip = skip};
        int64_t number = block, along_a = b.extent[b.a], along_b = b.extent[b.b];
        for (int i = b.axes - 1; i >= 0; i--) {
            const int d = b.axis[i];
            const int64_t count = tess_ceil_div(b.shape[d], b.extent[d]), first = number % count * b.extent[d];
            number /= count;
            x.in += first * b.stride[TRANSPOSE_IN][d];
            x.out += first * b.stride[TRANSPOSE_OUT][d];
            if (d == b.a)
                along_a = tess_min64(along_a, b.shape[d] - first);
            if (d == b.b)
                along_b = tess_min64(along_b, b.shape[d] - first);
        }
        x.rows = b.in_runs * (b.free_b ? along_b : 1);
        x.lines = b.out_runs * (b.free_a ? along_a : 1);
        x.in_bytes = b.in_run * along_a * b.size;
        x.out_bytes = b.out_run * along_b * b.size;
        for (int64_t row = 0; row < b.rows; row++)
            skip[row] = (x.in + tess_transpose_gpu_boxes_from(&b, row)) % 16;
        const int64_t lines = tess_transpose_gpu_boxes_line(&b, b.rows - 1) + b.pitch;
        bring(&x);
        make_table(&x, lines, b.lines, 16);
        make_table(&x, lines + b.lines * 16, b.table, 4);
        put(&x);
        out->barriers += THREADS / 32;
    }
    free(skip);
}

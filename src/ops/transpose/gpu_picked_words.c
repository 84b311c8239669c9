/* SPDX-License-Identifier: Apache-2.0
 * gpu_picked_words.c - the row transpose/picked_words: bytes and 16-bit elements near each other in in, rows of out without gaps; its launch (gpu_picked_words.cu), and what it counts. */
#include <stdlib.h>

#include "ops/transpose/gpu_predict.h"

extern const char tess_kernel_transpose_gpu_picked_words_cu[];
static const tess_gpu_text gpu_picked_words = {"transpose/gpu_picked_words.cu", tess_kernel_transpose_gpu_picked_words_cu};

enum { THREADS = 256 };

typedef struct picked {
    transpose_plane plane;
    int64_t size, words;      /* of in that a word of out may touch */
    int64_t wide, each, high; /* threads along a row, words of a thread, rows of a block */
} picked;

/* The last of four words that `skew` bytes before the elements begin, in elements of `size` bytes `apart`. */
static int64_t last_word(const picked *s, int64_t skew) { return (skew + (4 / s->size - 1) * llabs(s->plane.q_in) + s->size - 1) / 4; }

/* The widest rows of a block of which at most an eighth is not there. */
static void fit_rows(picked *s) {
    const int64_t words = tess_ceil_div(s->plane.q_size * s->size, 4);
    s->each = s->words > 2 ? 4 : 8;
    s->wide = THREADS;
    while (s->each * s->wide > 32 && tess_ceil_div(words, s->each * s->wide) * s->each * s->wide - words > words / 8) {
        if (s->wide > 32)
            s->wide /= 2;
        else
            s->each /= 2;
    }
    s->high = THREADS / s->wide;
}

static bool picked_of(const tess_problem *base, picked *s, const char **why) {
    const transpose_problem *p = (const transpose_problem *)base;
    transpose_plane *m = &s->plane;
    *why = "works between two arrays, not in place";
    if (p->place != TRANSPOSE_ELSEWHERE)
        return false;
    *why = "needs an axis, and elements of 1 or 2 bytes";
    if (p->ndim == 0 || p->size > 2)
        return false;
    tess_transpose_plane_of(m, p, false);
    tess_transpose_gpu_rows_beside(m);
    *why = "needs steps that are whole elements";
    s->size = p->size;
    if (!tess_transpose_gpu_whole_steps(p, m, s->size))
        return false;
    *why = "needs rows of out without gaps, whose elements lie so near each other in in that four of its words have those of one";
    if (m->q_out != s->size || m->q_in == 0 || m->q_size < 2 || llabs(m->q_in) > 16)
        return false;
    s->words = last_word(s, 4 - s->size) + 1;
    if (s->words > 4)
        return false;
    fit_rows(s);
    return true;
}

bool tess_transpose_gpu_picked_words_fit(const tess_problem *base, const char **why) {
    picked s;
    return picked_of(base, &s, why);
}

bool tess_transpose_gpu_picked_words_pay(const tess_problem *base, const char **why) {
    picked s;
    if (!picked_of(base, &s, why))
        return false;
    *why = "needs rows of 128 bytes, as many of them as a block takes, and elements that lie apart or backwards";
    return s.plane.q_in != s.size && s.plane.q_size * s.size >= 128 && (s.plane.p_size >= s.high || s.plane.q_size * s.size >= 4 * THREADS);
}

static int64_t tiles_of_row(const picked *s) { return tess_ceil_div(s->plane.q_size + 4 / s->size - 1, s->wide * s->each * 4 / s->size); }

static void lay_picked_words(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const char *why;
    picked s;
    (void)device;
    if (!picked_of(base, &s, &why))
        return;
    transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    m.plane = s.plane;
    const int64_t more[] = {s.plane.p_in / s.size};
    tess_gpu_unit(layout, &gpu_picked_words);
    tess_gpu_option(layout, "-DSIZE=%d", (int)s.size);
    tess_gpu_option(layout, "-DBATCH=%d", s.plane.ndim);
    tess_gpu_option(layout, "-DSTEP=(%d)", (int)s.plane.q_in);
    tess_gpu_option(layout, "-DWIDE=%d", (int)s.wide);
    tess_gpu_option(layout, "-DEACH=%d", (int)s.each);
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, "picked_words", tess_ceil_div(s.plane.p_size, s.high) * tiles_of_row(&s) * s.plane.count, 1, 1, THREADS, 0);
    tess_transpose_gpu_pass(layout, step, &m, more, TESS_COUNT(more));
    layout->alignment = s.size;
}

/* 32 words of the row that begins at byte `in` and byte `out`, from word `first` on. */
static void count_words(tess_gpu_prediction *sum, double times, const picked *s, int64_t in, int64_t out, int64_t first) {
    const int64_t step = s->plane.q_in, apart = llabs(step), e = 4 / s->size;
    int64_t load[4][32], store[32], single[4][32], to[4][32];
    for (int lane = 0; lane < 32; lane++) {
        const int64_t q = (first + lane) * e - out % 4 / s->size, low = in + (step > 0 ? q : q + e - 1) * step, skew = low & 3,
                      last = last_word(s, skew);
        const int64_t before = tess_ceil_div(skew, apart), behind = tess_ceil_div(4 * (last + 1) - skew - s->size, apart) - (e - 1);
        const bool whole = q >= (step > 0 ? before : behind) && q <= s->plane.q_size - e - (step > 0 ? behind : before);
        for (int64_t w = 0; w < 4; w++) {
            const bool there = !whole && w < e && q + w >= 0 && q + w < s->plane.q_size;
            load[w][lane] = whole && w < s->words ? low - skew + 4 * (w < s->words - 1 ? w : last) : -1;
            single[w][lane] = there ? in + (q + w) * step : -1;
            to[w][lane] = there ? out + (q + w) * s->size : -1;
        }
        store[lane] = whole ? out + q * s->size : -1;
    }
    for (int w = 0; w < 4; w++) {
        tess_gpu_count_global(sum, times, load[w], 4, false);
        tess_gpu_count_global(sum, times, single[w], s->size, false);
        tess_gpu_count_global(sum, times, to[w], s->size, true);
    }
    tess_gpu_count_global(sum, times, store, 4, true);
}

/* 32 words of out are whole sectors on either side, so those in the middle of a row count alike. */
void tess_transpose_predict_picked_words(const tess_problem *base, tess_gpu_prediction *out) {
    const char *why;
    picked s;
    if (!picked_of(base, &s, &why))
        return;
    const transpose_plane *m = &s.plane;
    transpose_gpu_matrices of = tess_transpose_gpu_matrices_of(base);
    of.plane = s.plane;
    const transpose_gpu_places begin = tess_transpose_gpu_places_of(&of);
    const int64_t groups = tiles_of_row(&s) * s.wide * s.each / 32;
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    for (int place = 0; place < 32 * 32; place++)
        for (tess_gpu_kind i = {0}; begin.times[place / 32][place % 32] > 0 && tess_gpu_next_kind(&i, m->p_size, 0, 0, 32);)
            for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, groups, 1, tess_min64(groups, s.wide * s.each / 32 + 2), 1);)
                count_words(out, begin.times[place / 32][place % 32] * i.times * j.times, &s, TESS_GPU_ORIGIN + place / 32 + i.at * m->p_in,
                            TESS_GPU_ORIGIN + place % 32 + i.at * m->p_out, j.at * 32);
}

const tess_gpu_row tess_transpose_gpu_picked_words_row = {.headers = tess_transpose_gpu_headers,
                                                          .production = true,
                                                          .least_arch = 80,
                                                          .lay_out = lay_picked_words,
                                                          .predict = tess_transpose_predict_picked_words};

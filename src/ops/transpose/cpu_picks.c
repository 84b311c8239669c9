/* SPDX-License-Identifier: Apache-2.0
 * cpu_picks.c - rows of out whose elements lie near each other in in, but not as they are wanted: every second or third one, backwards, again and again, three of four.
 *
 *     in    r g b a r g b a r g b a ...         one vector, or two, hold whole groups
 *     out   b g r b g r b g r ...               a permute of their bytes is the next piece of the row, stored with what is too much: the next piece writes over it
 *
 * One element at a time is a load and a store each. What moves where is the same from piece to piece, so there is one table (AVX-512 VBMI; else elements go one by one). Of a
 * few columns, which lie in the same lines, some KiB are done before more of the source is read. Large results go past the caches, in whole lines. */
#include <string.h>

#include "ops/transpose/picks.h"
#include "ops/transpose/put_lines.h"

tess_status TESS_ISA_NAME(tess_transpose_picks)(const tess_problem *base, const tess_run *run);

/* Rows of out that are made together; bytes of each that are made at a time, and between two of them on their way past the caches. */
enum {
    ROWS = 16,
    STAGE = 1024,
    APART = LINE + STAGE + LINE,
    NEAR = 8192 /* bytes of the source */,
    AHEAD = 8192,
    IN_CACHE = 2 << 20 /* bytes of out */
};

typedef struct picks {
    transpose_picks form;
    int64_t size, p_in, p_out;
    int64_t first;                 /* bytes from the first item of a piece to the lowest byte that a piece needs */
    int64_t piece;                 /* items that are made before the next row's */
    int64_t ahead;                 /* bytes to what is asked for meanwhile: the processor stops by itself where stores come between the loads */
    uint64_t low, high;            /* bytes of two vectors that a piece needs */
    int16_t from[VECTOR_OF_PICKS]; /* where an element comes from, in bytes from the first item */
    _Alignas(64) uint8_t table[VECTOR_OF_PICKS]; /* the same of bytes, from the lowest one */
} picks;

/* Bytes begin .. end-1, as a mask of those from `at` on. */
TESS_INLINE uint64_t bytes_of(int64_t begin, int64_t end, int64_t at) {
    const int64_t a = tess_min64(tess_max64(begin - at, 0), 64), b = tess_min64(tess_max64(end - at, a), 64);
    const uint64_t below = b == 64 ? ~0ull : (1ull << b) - 1, before = a == 64 ? ~0ull : (1ull << a) - 1;
    return below & ~before;
}

#if defined(__AVX512VBMI__)
#include <immintrin.h>

/* Whole pieces of a row, from one vector or two, asked for ahead or not; the number of their items. */
TESS_INLINE int64_t pieces(const picks *s, const char *in, char *out, int64_t n, bool two, bool ask) {
    const transpose_picks *f = &s->form;
    const int64_t each = f->each, bytes = f->bytes, last = n * bytes - 64;
    const __m512i table = _mm512_load_si512(s->table);
    int64_t k = 0;
    for (; k + each <= n && k * bytes <= last; k += each, in += each * f->step) {
        const __m512i a = two ? _mm512_loadu_si512(in) : _mm512_maskz_loadu_epi8(s->low, in);
        if (ask)
            tess_prefetch_l2(in + s->ahead);
        if (ask && two)
            tess_prefetch_l2(in + s->ahead + 64);
        _mm512_storeu_si512(out + k * bytes,
                            two ? _mm512_permutex2var_epi8(a, table, _mm512_maskz_loadu_epi8(s->high, in + 64)) : _mm512_permutexvar_epi8(table, a));
    }
    return k;
}

/* n times the same item. */
static void fill(const picks *s, const char *in, char *out, int64_t n) {
    const __m512i a = _mm512_maskz_loadu_epi8(s->low, in + s->first), b = _mm512_maskz_loadu_epi8(s->high, in + s->first + 64);
    const __m512i same = _mm512_permutex2var_epi8(a, _mm512_load_si512(s->table), b);
    const int64_t all = n * s->form.bytes, piece = s->form.each * s->form.bytes;
    int64_t done = 0;
    for (; done + 64 <= all; done += piece)
        _mm512_storeu_si512(out + done, same);
    if (done < all && piece == 64 && all > 64) /* what ends a row ends a piece */
        _mm512_storeu_si512(out + all - 64, same);
    else
        for (; done < all; done += piece)
            _mm512_mask_storeu_epi8(out + done, bytes_of(0, tess_min64(piece, all - done), 0), same);
}

/* n items. Nothing beside the bytes between the first and the last element of a piece is read. */
static void row(const picks *s, const char *in, char *out, int64_t n) {
    const transpose_picks *f = &s->form;
    const int64_t each = f->each, bytes = f->bytes;
    const bool ask = s->ahead != 0;
    int64_t k;
    if (f->step == 0) {
        fill(s, in, out, n);
        return;
    }
    in += s->first;
    if (s->high == 0)
        k = ask ? pieces(s, in, out, n, false, true) : pieces(s, in, out, n, false, false);
    else
        k = ask ? pieces(s, in, out, n, true, true) : pieces(s, in, out, n, true, false);
    in += k * f->step;
    for (; k < n; k += each, in += each * f->step) {
        const int64_t items = tess_min64(each, n - k), begin = f->step < 0 ? -(each - items) * f->step : 0,
                      end = begin + f->span + (items - 1) * (f->step < 0 ? -f->step : f->step);
        const __m512i a = _mm512_maskz_loadu_epi8(bytes_of(begin, end, 0), in), b = _mm512_maskz_loadu_epi8(bytes_of(begin, end, 64), in + 64);
        _mm512_mask_storeu_epi8(out + k * bytes, bytes_of(0, items * bytes, 0), _mm512_permutex2var_epi8(a, _mm512_load_si512(s->table), b));
    }
}
#else
static void row(const picks *s, const char *in, char *out, int64_t n) {
    const transpose_picks *f = &s->form;
    for (int64_t k = 0; k < n; k += f->each) {
        const int64_t bytes = tess_min64(f->each, n - k) * f->bytes;
        for (int64_t b = 0; b < bytes; b += s->size)
            tess_copy_run(out + k * f->bytes + b, in + k * f->step + s->from[b / s->size], s->size);
    }
}
#endif

static void block(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const picks *s = argument;
    (void)p;
    (void)q;
    for (int64_t done = 0, n; done < nq; done += n) {
        n = tess_min64(nq - done, s->piece);
        for (int64_t i = 0; i < np; i++)
            row(s, in + i * s->p_in + done * s->form.step, out + i * s->p_out + done * s->form.bytes, n);
    }
}

static void block_past(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const picks *s = argument;
    const int64_t bytes = s->form.bytes;
    _Alignas(64) char stage[ROWS * APART];
    int64_t waits[ROWS] = {0};
    (void)p;
    (void)q;
    for (int64_t done = 0, n; done < nq; done += n) {
        n = tess_min64(nq - done, s->piece);
        for (int64_t i = 0; i < np; i++) {
            row(s, in + i * s->p_in + done * s->form.step, stage + i * APART + LINE, n);
            waits[i] = tess_put_lines(out + i * s->p_out + done * bytes, stage + i * APART, waits[i], n * bytes, done + n == nq);
        }
    }
}

tess_status TESS_ISA_NAME(tess_transpose_picks)(const tess_problem *base, const tess_run *run) {
    enum { BLOCK = 1 << 16 /* bytes of a row of out */ };
    const transpose_problem *problem = (const transpose_problem *)base;
    picks s = {.size = problem->size};
    transpose_plane plane;
    transpose_problem items = *problem;
    tess_index at;
    tess_transpose_picks_of(&s.form, problem);
    const transpose_picks *f = &s.form;
    const bool large = problem->base.bytes / 2 >= TRANSPOSE_LARGE && f->step != 0 && f->count * f->bytes >= STAGE;
    s.first = f->lowest + (f->step < 0 ? (f->each - 1) * f->step : 0);
    tess_index_start(&at, f->axes, items.shape + items.ndim - f->axes, 1,
                     (int64_t(*)[TESS_MAX_NDIM])(items.stride[TRANSPOSE_IN] + items.ndim - f->axes), 0);
    for (int64_t b = 0; b < f->bytes; b += s.size, tess_index_next(&at))
        for (int64_t k = 0; k < f->each; k++) {
            s.from[(k * f->bytes + b) / s.size] = (int16_t)(at.offset[0] + (k * f->step));
            for (int64_t i = 0; i < s.size; i++)
                s.table[k * f->bytes + b + i] = (uint8_t)(at.offset[0] + k * f->step - s.first + i);
        }
    const int64_t step = f->step < 0 ? -f->step : f->step, length = f->count * step, width = f->span + (f->each - 1) * step;
    s.low = bytes_of(0, width, 0);
    s.high = bytes_of(0, width, 64);
    s.ahead = length < 2 * AHEAD || problem->base.bytes / 2 < IN_CACHE ? 0 : f->step < 0 ? -AHEAD : AHEAD;
    items.ndim -= f->axes;
    tess_transpose_plane_of(&plane, &items, false);
    s.p_in = plane.p_in;
    s.p_out = plane.p_out;
    s.piece = tess_max64(f->each, tess_min64(large ? STAGE / f->bytes : INT64_MAX, NEAR / tess_max64(f->bytes, f->step < 0 ? -f->step : f->step)));
    const int64_t apart = plane.p_in < 0 ? -plane.p_in : plane.p_in;
    return tess_transpose_blocks(problem, run, &plane, apart < NEAR && f->step != 0 ? ROWS : 1, BLOCK / f->bytes, 1, f->bytes,
                                 large ? block_past : block, &s);
}

/* SPDX-License-Identifier: Apache-2.0
 * cpu_tiles.c - tiles of one cache line a side, transposed in registers.
 *
 * The rung below (blocked) loads and stores single elements. Here a strip one line wide is walked DOWN a band of rows: every step loads N lines,
 * transposes them in registers and stores N lines, and each row of the destination grows by consecutive lines. Lines are asked for ahead, into L2: the
 * processor's own prefetchers do not see a pattern that takes one line from each page. How far ahead is what binds where memory is slow to answer, so a
 * cursor walks the same tiles two or more strips before them, from strip to strip and block to block; where that helps, two lines side by side of a row are
 * asked for together. Large results are stored past the caches, always in whole lines:
 *   - when every row of the destination starts on a line, as they leave the registers, of small elements several tiles at once (pipeline.h);
 *   - else shifted together in registers (pipeline.h, too), or by way of a buffer of the strip in L1, from which every destination row is given its own whole
 * lines. The rows of the last incomplete line are transposed again with the next band, so that no line is written twice.
 *
 * Bands are low. Rows a power of two apart share a few sets of the caches, and so do the rows of the destination: bands of 128 rows took one and a
 * half to two and a half times as long as those below (Xeon model 207, 8192 x 8192). What is ahead must fit the sets too: strips of low bands do, side by
 * side, a strip of high ones does not. */
#include "core/maker.h"
#include "ops/transpose/relay.h"
#include "simd/tile.h"

tess_status TESS_ISA_NAME(tess_transpose_tiles)(const tess_problem *base, const tess_run *run);
transpose_turn TESS_ISA_NAME(tess_transpose_turn);
transpose_turn_groups TESS_ISA_NAME(tess_transpose_turn_groups);

/* Blocks to the one whose lines narrow matrices ask for; rows that the processor follows by itself. */
enum { NARROW_AHEAD = 4, STREAMS = 8 };
enum { STAGE_MOST = 512, PAGE = 4096, WIDE = 2 * PAGE, NARROW = PAGE, MATRICES = 256 << 10 };
/* Rows that are a multiple of ONE_SET bytes apart put a column of lines into one set of L2: of those, few can be on their way. HALF_SET: of a Zen 5's, which has
 * half as many sets and twice the ways. */
enum { ONE_SET = 128 << 10, HALF_SET = 64 << 10, FEW_AHEAD = 48 };

typedef struct strips {
    int64_t src_step, dst_step; /* bytes between rows of the source, rows of the destination */
    int64_t q_size;
    bool stream;      /* all rows of the destination start on a line, and the result is large */
    bool ahead;       /* the source is large: ask for lines ahead */
    int64_t next;     /* bytes from a block of the source to the one that is turned after it */
    int64_t distance; /* rows from a tile to the one whose lines are asked for */
    int64_t side;     /* lines of a row that are asked for together */
    int64_t matrix_p; /* 0, or a block is several matrices, of so many elements a row and q_size rows */
    int64_t next_out; /* bytes between those in the destination */
} strips;

/* A walk over the same tiles some way ahead, `side` strips together, and on into the next ones and the next block. w: which of them, in elements. */
typedef struct cursor {
    const char *src;
    int64_t c, r, w;
} cursor;

/* N: elements of a line. K: of a lane. */
#define STRIPS(S)                                                                                                                           \
    TILE_OF(S, false)                                                                                                                       \
    NEAR_TILE_OF(S)                                                                                                                         \
    static TESS_NOINLINE void small_tile_##S(char *dst, int64_t dst_step, const char *src, int64_t src_step) {                              \
        small_tile_generic(S, dst, dst_step, src, src_step);                                                                                \
    }                                                                                                                                       \
    TESS_INLINE void move_##S(char *dst, const char *src) {                                                                                 \
        uint8_t v[S];                                                                                                                       \
        memcpy(v, src, S);                                                                                                                  \
        memcpy(dst, v, S);                                                                                                                  \
    }                                                                                                                                       \
    enum { N_##S = 64 / S, K_##S = 16 / S };                                                                                                \
                                                                                                                                            \
    /* The next tile of the walk, its last byte's lines: those of the first one came with the strip before. */                              \
    TESS_INLINE const char *ahead_##S(cursor *at, const strips *s, int64_t np, int64_t nq) {                                                \
        const char *line = at->src + tess_min64(at->r, nq - N_##S) * s->src_step + tess_min64(at->c + at->w, np - N_##S) * S + 63;          \
        at->w += N_##S;                                                                                                                     \
        if (at->w >= s->side * N_##S) {                                                                                                     \
            at->w = 0;                                                                                                                      \
            at->r += N_##S;                                                                                                                 \
        }                                                                                                                                   \
        if (at->r >= nq) {                                                                                                                  \
            at->r = 0;                                                                                                                      \
            at->c += s->side * N_##S;                                                                                                       \
        }                                                                                                                                   \
        if (at->c >= np) {                                                                                                                  \
            at->c = 0;                                                                                                                      \
            at->src += s->next;                                                                                                             \
        }                                                                                                                                   \
        return line;                                                                                                                        \
    }                                                                                                                                       \
    TESS_INLINE cursor cursor_##S(const strips *s, const char *src, int64_t np, int64_t nq) {                                               \
        cursor at = {src, 0, 0, 0};                                                                                                         \
        for (int64_t tiles = s->ahead ? s->distance / N_##S : 0; tiles > 0; tiles--)                                                        \
            ahead_##S(&at, s, np, nq);                                                                                                      \
        return at;                                                                                                                          \
    }                                                                                                                                       \
                                                                                                                                            \
    /* Too narrow for a tile in one direction at least. */                                                                                  \
    static void narrow_##S(const strips *s, const char *src, char *dst, int64_t np, int64_t nq) {                                           \
        if (np >= K_##S && nq >= K_##S) {                                                                                                   \
            for (int64_t r = 0; s->ahead && nq > STREAMS && r < nq; r++)                                                                    \
                for (int64_t at = 0; at < np * S; at += 64)                                                                                 \
                    tess_prefetch_l2(src + NARROW_AHEAD * s->next + r * s->src_step + at);                                                  \
            for (int64_t c = 0; c < np; c += K_##S) {                                                                                       \
                c = tess_min64(c, np - K_##S);                                                                                              \
                for (int64_t r = 0; r < nq; r += K_##S) {                                                                                   \
                    r = tess_min64(r, nq - K_##S);                                                                                          \
                    small_tile_##S(dst + c * s->dst_step + r * S, s->dst_step, src + r * s->src_step + c * S, s->src_step);                 \
                }                                                                                                                           \
            }                                                                                                                               \
            return;                                                                                                                         \
        }                                                                                                                                   \
        for (int64_t c = 0; c < np; c++)                                                                                                    \
            for (int64_t r = 0; r < nq; r++)                                                                                                \
                move_##S(dst + c * s->dst_step + r * S, src + r * s->src_step + c * S);                                                     \
    }                                                                                                                                       \
                                                                                                                                            \
    /* In the caches. */                                                                                                                    \
    static void near_##S(const strips *s, const char *src, char *dst, int64_t np, int64_t nq) {                                             \
        for (int64_t c = 0; c < np; c += N_##S) {                                                                                           \
            c = tess_min64(c, np - N_##S); /* the last strip, and the last tile below, may repeat a part of the one before */               \
            for (int64_t r = 0; r < nq; r += N_##S) {                                                                                       \
                r = tess_min64(r, nq - N_##S);                                                                                              \
                near_tile_##S(dst + c * s->dst_step + r * S, s->dst_step, src + r * s->src_step + c * S, s->src_step);                      \
            }                                                                                                                               \
        }                                                                                                                                   \
    }                                                                                                                                       \
                                                                                                                                            \
    static void direct_##S(const void *argument, const char *src, char *dst, int64_t p, int64_t np, int64_t q, int64_t nq) {                \
        const strips *s = argument;                                                                                                         \
        (void)p;                                                                                                                            \
        (void)q;                                                                                                                            \
        if (np < N_##S || nq < N_##S) {                                                                                                     \
            narrow_##S(s, src, dst, np, nq);                                                                                                \
            return;                                                                                                                         \
        }                                                                                                                                   \
        if (!s->ahead) {                                                                                                                    \
            near_##S(s, src, dst, np, nq);                                                                                                  \
            return;                                                                                                                         \
        }                                                                                                                                   \
        cursor at = cursor_##S(s, src, np, nq);                                                                                             \
        for (int64_t c = 0; c < np; c += N_##S) {                                                                                           \
            c = tess_min64(c, np - N_##S);                                                                                                  \
            for (int64_t r = 0; r < nq; r += N_##S) {                                                                                       \
                bool whole = r + N_##S <= nq;                                                                                               \
                r = whole ? r : nq - N_##S;                                                                                                 \
                tile_##S(dst + c * s->dst_step + r * S, s->dst_step, src + r * s->src_step + c * S, s->src_step, ahead_##S(&at, s, np, nq), \
                         s->stream && whole);                                                                                               \
            }                                                                                                                               \
        }                                                                                                                                   \
    }

/* Rows of the destination that begin anywhere. */
#define STAGED(S, STAGED_BAND)                                                                                                        \
    static void staged_##S(const void *argument, const char *src, char *dst, int64_t p, int64_t np, int64_t q, int64_t nq) {          \
        const strips *s = argument;                                                                                                   \
        /* The last band may be up to N - 1 rows higher; 64 bytes between the rows keep them from meeting in one set of the cache. */ \
        enum { PITCH = STAGED_BAND * S + 3 * 64 };                                                                                    \
        _Alignas(64) char stage[N_##S * PITCH];                                                                                       \
        (void)p;                                                                                                                      \
        if (np < N_##S || nq < N_##S) {                                                                                               \
            narrow_##S(s, src, dst, np, nq);                                                                                          \
            return;                                                                                                                   \
        }                                                                                                                             \
        bool first = q == 0, last = q + nq == s->q_size;                                                                              \
        int64_t before = first ? 0 : N_##S, rows = nq + before;                                                                       \
        cursor at = cursor_##S(s, src, np, nq);                                                                                       \
        for (int64_t c = 0; c < np; c += N_##S) {                                                                                     \
            c = tess_min64(c, np - N_##S);                                                                                            \
            for (int64_t r = 0; r < rows; r += N_##S) {                                                                               \
                r = tess_min64(r, rows - N_##S);                                                                                      \
                tile_##S(stage + r * S, PITCH, src + (r - before) * s->src_step + c * S, s->src_step,                                 \
                         s->ahead && r >= before ? ahead_##S(&at, s, np, nq) : NULL, false);                                          \
            }                                                                                                                         \
            for (int64_t j = 0; j < N_##S; j++) {                                                                                     \
                char *row = dst + (c + j) * s->dst_step;                                                                              \
                int64_t begin = first ? 0 : -(int64_t)((uintptr_t)row & 63);                                                          \
                int64_t end = last ? nq * S : nq * S - (int64_t)((uintptr_t)(row + nq * S) & 63);                                     \
                tess_stream_copy(row + begin, stage + j * PITCH + before * S + begin, end - begin);                                   \
            }                                                                                                                         \
        }                                                                                                                             \
    }

#include "ops/transpose/pipeline.h"

STRIPS(1)
STRIPS(2)
STRIPS(4)
STRIPS(8)
STRIPS(16)
TOGETHER(1, 2)
TOGETHER(2, 4)
TOGETHER(4, 2)
TOGETHER(8, 4)
PIPED(1, 2)
PIPED(2, 4)
PIPED(4, 2)
PIPED(8, 4)
#if TESS_SHIFTS
SHIFTED(1, 2)
SHIFTED(2, 4)
SHIFTED(4, 2)
SHIFTED(8, 4)
#define ODD(S, band, distance, staged_band, staged_distance) \
    { shifted_##S, band, distance, 1 }
#else
STAGED(1, 384)
STAGED(2, 256)
STAGED(4, 128)
STAGED(8, 64)
#define ODD(S, band, distance, staged_band, staged_distance) \
    { staged_##S, staged_band, staged_distance, 1 }
#endif
STAGED(16, 64)

/* Rows of the source in a band, how many rows before their turn lines are asked for, and how many lines of a row together. */
typedef struct kernel {
    transpose_block block;
    int64_t band, distance, side;
} kernel;
static const struct {
    kernel direct, odd;  /* results that stay in the caches, and those whose rows begin anywhere */
    kernel lines, low;   /* those whose rows begin at lines; where rows of the source are a multiple of `apart` bytes apart */
    int64_t apart, rows; /* rows: of the source, of the tiles that are turned at once */
} kernels[17] = {
    [1] = {{direct_1, 64, 64, 1}, ODD(1, 512, 256, 384, 128), {piped_1, 256, 512, 2}, {piped_1, 128, 384, 2}, 8 * PAGE, ROWS_1},
    [2] = {{direct_2, 64, 96, 1}, ODD(2, 512, 256, 256, 192), {piped_2, 256, 512, 2}, {piped_2, 128, 320, 2}, PAGE, ROWS_2},
    [4] = {{direct_4, 48, 112, 1}, ODD(4, 512, 192, 128, 192), {piped_4, 96, 256, 2}, {piped_4, 64, 192, 2}, ONE_SET, ROWS_4},
    [8] = {{direct_8, 24, 80, 1}, ODD(8, 256, 256, 64, 128), {piped_8, 96, 192, 2}, {piped_8, 64, 160, 2}, PAGE, ROWS_8},
    [16] = {{direct_16, 16, 64, 1}, {staged_16, 64, 112, 1}, {direct_16, 16, 64, 1}, {direct_16, 16, 64, 1}, PAGE, 4},
};

/* On a Zen 3 and a Zen 5, of results whose rows begin at lines: lower bands of wider blocks (notes-cpu.md). few_4: on a Zen 5, of elements of 4 bytes in at most FEW_ROWS
 * rows that share sets of L2, no more of them than a set has ways. Elements of 1 and 16 bytes, and of 4 where rows of the destination share sets, too, are as quick
 * by the table above. */
enum { WIDE_BLOCK = 4 * PAGE, FEW_ROWS = 64 };
static const kernel wide[17] = {[2] = {piped_2, 128, 320, 2}, [4] = {piped_4, 32, 128, 2}, [8] = {piped_8, 32, 128, 2}};
static const kernel few_4 = {direct_4, 16, 128, 2};

/* How results past the caches whose rows begin at lines are made; *width: bytes of a block's rows. */
static const kernel *lines_kernel(const transpose_plane *plane, int64_t size, int64_t *width) {
    const kernel *k = plane->q_in % kernels[size].apart == 0 ? &kernels[size].low : &kernels[size].lines;
    if (tess_cpu_keeps_few_places() && wide[size].block && (size != 4 || plane->p_out % HALF_SET != 0)) {
        *width = WIDE_BLOCK;
        const bool few = size == 4 && tess_cpu_is_zen5() && plane->q_in % HALF_SET == 0 && plane->q_size <= FEW_ROWS && plane->p_size * size >= PAGE;
        return few ? &few_4 : &wide[size];
    }
    *width = k->side > 1 ? NARROW : WIDE;
    return k;
}

void TESS_ISA_NAME(tess_transpose_turn)(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t np, int64_t nq, int64_t size,
                                        bool ahead) {
    enum { ROWS = 64 };
    strips s = {.src_step = src_step, .dst_step = dst_step, .q_size = nq, .ahead = ahead, .side = 1};
    if (TESS_ISA_NAME(tess_transpose_turn_groups)(dst, dst_step, src, src_step, np, nq, size))
        return;
    if (size <= 16 && kernels[size].direct.block) {
        s.distance = kernels[size].direct.distance;
        s.next = ROWS * src_step;
        for (int64_t q = 0, n; q < nq; q += n) {
            n = nq - q < 2 * ROWS ? nq - q : ROWS;
            kernels[size].direct.block(&s, src + q * src_step, dst + q * size, 0, np, q, n);
        }
        return;
    }
    for (int64_t p = 0; p < np; p++)
        for (int64_t q = 0; q < nq; q++)
            tess_copy_run(dst + p * dst_step + q * size, src + q * src_step + p * size, size);
}

/* Matrices in the order in which the source has them: of rows shorter than a page several lie in one, and addresses of pages are what a processor finds few
 * of at a time. */
static void by_source(transpose_plane *plane) {
    for (int i = 1; i < plane->ndim; i++) {
        const int64_t size = plane->shape[i], in = plane->stride[TRANSPOSE_IN][i], out = plane->stride[TRANSPOSE_OUT][i];
        int d = i;
        for (; d > 0 && tess_max64(plane->stride[TRANSPOSE_IN][d - 1], -plane->stride[TRANSPOSE_IN][d - 1]) < tess_max64(in, -in); d--) {
            plane->shape[d] = plane->shape[d - 1];
            plane->stride[TRANSPOSE_IN][d] = plane->stride[TRANSPOSE_IN][d - 1];
            plane->stride[TRANSPOSE_OUT][d] = plane->stride[TRANSPOSE_OUT][d - 1];
        }
        plane->shape[d] = size;
        plane->stride[TRANSPOSE_IN][d] = in;
        plane->stride[TRANSPOSE_OUT][d] = out;
    }
}

tess_status TESS_ISA_NAME(tess_transpose_tiles)(const tess_problem *base, const tess_run *run) {
    const transpose_problem *problem = (const transpose_problem *)base;
    transpose_problem other;
    transpose_plane plane;
    tess_transpose_plane_of(&plane, problem, false);
    if (plane.p_in < 0) { /* rows of the source are read from the other end, and those of the destination follow each other upwards */
        other = *problem;
        other.first[TRANSPOSE_IN] += (plane.p_size - 1) * plane.p_in;
        other.first[TRANSPOSE_OUT] += (plane.p_size - 1) * plane.p_out;
        plane.p_in = -plane.p_in;
        plane.p_out = -plane.p_out;
        problem = &other;
    }
    bool big = problem->base.bytes / 2 >= TRANSPOSE_LARGE,
         lines = ((uintptr_t)(run->out + problem->first[TRANSPOSE_OUT]) & 63) == 0 && plane.p_out % 64 == 0;
    for (int d = 0; d < plane.ndim; d++)
        lines &= plane.stride[TRANSPOSE_OUT][d] % 64 == 0;
    strips s = {.src_step = plane.q_in, .dst_step = plane.p_out, .q_size = plane.q_size, .stream = big && lines, .ahead = big};
#if TESS_VECTOR_BYTES == 64
    if (s.stream && tess_transpose_relays(problem, &plane, run->threads))
        return TESS_ISA_NAME(tess_transpose_relay)(problem, run, &plane);
#endif
    const bool odd = big && !lines && plane.q_size * problem->size >= STAGE_MOST;
    int64_t width = WIDE;
    const kernel *k = odd ? &kernels[problem->size].odd : s.stream ? lines_kernel(&plane, problem->size, &width) : &kernels[problem->size].direct;
    width /= problem->size;
    const int64_t apart = plane.ndim > 0 ? plane.stride[TRANSPOSE_IN][plane.ndim - 1] : 0;
    if (big && !odd && (s.stream || apart >= PAGE || apart <= -PAGE) && plane.p_size * problem->size < PAGE)
        by_source(&plane);
    s.side = k->side;
    s.distance = k->distance;
    if (k->side == 1 && plane.q_in % ONE_SET == 0)
        s.distance = tess_min64(s.distance, FEW_AHEAD);
    s.next = k->band < plane.q_size ? k->band * plane.q_in
             : width < plane.p_size ? width * problem->size
             : plane.ndim > 0       ? plane.stride[TRANSPOSE_IN][plane.ndim - 1]
                                    : 0;
    const bool small = k->block == kernels[problem->size].lines.block && k->band >= plane.q_size && width >= plane.p_size &&
                       plane.q_size % kernels[problem->size].rows == 0;
    if (k->side > 1 && small && plane.ndim > 0) { /* several matrices to a block */
        const int64_t matrix = plane.p_size * plane.q_size * problem->size;
        const int last = --plane.ndim;
        s.matrix_p = plane.p_size;
        s.next_out = plane.stride[TRANSPOSE_OUT][last];
        plane.count /= plane.shape[last];
        plane.p_size = 1;
        plane.q_size = plane.shape[last];
        plane.q_in = s.next;
        plane.q_out = s.next_out;
        return tess_transpose_blocks(problem, run, &plane, 1, tess_max64(1, MATRICES / matrix), 1, matrix, k->block, &s);
    }
    return tess_transpose_blocks(problem, run, &plane, width, k->band, 64 / problem->size, problem->size, k->block, &s);
}

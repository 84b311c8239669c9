/* SPDX-License-Identifier: Apache-2.0
 * leaf_beside.c - sums of elements whose order runs across memory and comes back to a line only after a leaf or more: the leaves of many lines are folded side by
 * side, each element where it lies.
 *
 *     memory, 16 rows or more          order of the elements
 *     | a0 b0 c0 d0 ..                 | a0 a1 a2 .. aK b0 b1 ..
 *     | a1 b1 c1 d1 ..        row r, element c has number r K + c
 *
 * Element c of each row is added to sum c % 256 of that row. Those are the lanes of the row's leaves, turned around by a number of places that is the row's own; but
 * halving adds what lies 128, 64, .. places apart, whichever comes first, so that the result does not notice. A row's leaves end at other elements than its neighbour's:
 * there the row's sums are taken out and begin anew. A leaf that ends in the next row ends in the same sums, since beyond its last element a row is read on in that next
 * row. What a row adds up before its first leaf begins is thrown away: it is the end of the row before. 16 sums of each row at a time, so that they lie in L1 while a
 * leaf's 8192 elements pass. */
#include <string.h>

#include "core/parallel.h"
#include "ops/reduce/leaves.h"

enum {
    LINE = 64,
    PAGE = 4096,
    SUMS = 16,                                   /* lanes at a time */
    MOST_ROWS = REDUCE_BESIDE * LINE / 4,        /* of f32 */
    STATE = REDUCE_LANES * REDUCE_BESIDE * LINE, /* bytes of the sums of all rows */
    ENDED = (MOST_ROWS + 1) * REDUCE_LANES * 4,  /* of those that were taken out, and of the last leaf's */
    A_THREAD = STATE + ENDED + REDUCE_LANES * 4  /* f64: half as many rows, and the last leaf */
};

typedef struct beside_job {
    const leaves_job *leaves;
    const char *base;
    char *room, *values; /* of the leaves, of type acc */
    int64_t rows, k, at_once;
    bool near; /* pieces that follow one another fit L1 together: they do not lie a multiple of a page apart */
} beside_job;

/* Rows row .. row + rows - 1, and the first whose leaves are not another block's. */
typedef struct block {
    const beside_job *job;
    char *state, *ended;
    int64_t row, own, rows, last; /* last: the byte at which the last line begins */
    int lines;
    char spare[REDUCE_BESIDE * LINE];                   /* in place of what would be read beyond the last element of all */
    int64_t first[MOST_ROWS];                           /* where a row's first leaf begins; the others follow every 8192 elements */
    int16_t by_turn[MOST_ROWS], from[REDUCE_TERMS + 1]; /* rows in the order of first / 256, and where those of each begin */
} block;

static int64_t columns_of(const reduce_problem *p) { return p->size[0] > 0 ? p->k / p->size[0] : 0; }

static bool folds_beside(const reduce_problem *p) {
    for (int d = 1; d < p->rank; d++)
        if (p->stride[0][d] % p->in.itemsize != 0)
            return false;
    return reduce_sums_across(p) && columns_of(p) >= REDUCE_LEAF;
}

int64_t tess_reduce_beside_size(const reduce_problem *p) { return folds_beside(p) ? A_THREAD : 0; }

/* Where elements c .. c + n - 1 of the block's first row lie; beyond the last one, those of the next row. */
static void find(block *b, int64_t c, int n, const char **to) {
    const reduce_problem *p = b->job->leaves->p;
    const char *base = b->job->base + b->row * p->in.itemsize;
    const int64_t bytes = b->rows * p->in.itemsize;
    tess_index index;
    tess_index_start(&index, p->rank - 1, p->size + 1, 1, (int64_t(*)[TESS_MAX_NDIM])(p->stride[0] + 1), c % b->job->k);
    for (int i = 0; i < n; i++, c++) {
        to[i] = base + index.offset[0] + (c < b->job->k ? 0 : p->in.itemsize);
        if (c >= b->job->k && b->job->leaves->end - to[i] < bytes) {
            memcpy(b->spare, to[i], (size_t)(bytes - p->in.itemsize));
            to[i] = b->spare;
        }
        tess_index_next(&index);
    }
}

/* Sums begin .. end - 1 of the 16 from `sums` on, of one row: to its others that were taken out, and 0. */
#define TAKE(type)                                         \
    for (int64_t i = begin; i < end; i++) {                \
        ((type *)to)[sums + i] = ((type *)from)[i * step]; \
        ((type *)from)[i * step] = 0;                      \
    }
static void take(const block *b, int64_t row, int64_t slot, int64_t sums, int64_t begin, int64_t end) {
    const int64_t size = b->job->leaves->p->in.itemsize, step = b->lines * LINE / size, whole = (b->lines - 1) * LINE / size;
    const int64_t place = row < whole ? row : whole + row - b->last / size;
    char *from = b->state + (sums * step + place) * size, *to = b->ended + slot * REDUCE_LANES * size;
    begin = tess_max64(begin, 0);
    if (size == 4) {
        TAKE(float)
    } else {
        TAKE(double)
    }
}

/* Those of a leaf that ends before element `end` of a window: sums from that one's on end a turn earlier. */
static void take_at(const block *b, int64_t row, int64_t slot, int64_t sums, int64_t end, int64_t turn) {
    const int64_t cut = end % REDUCE_LANES - sums;
    if (turn == end / REDUCE_LANES)
        take(b, row, slot, sums, cut, SUMS);
    else if (turn == end / REDUCE_LANES + 1)
        take(b, row, slot, sums, 0, tess_min64(SUMS, cut));
}

/* The leaf of a row that begins at its element `begin`. */
static void store(const block *b, int64_t row, int64_t slot, int64_t begin) {
    const leaves_job *job = b->job->leaves;
    const reduce_problem *p = job->p;
    char *sums = b->ended + slot * REDUCE_LANES * p->in.itemsize;
    job->kernels->lane->halve_add[p->acc](sums, REDUCE_LANES);
    memcpy(b->job->values + ((b->row + row) * b->job->k + begin) / REDUCE_LEAF * p->in.itemsize, sums, (size_t)p->in.itemsize);
}

/* Elements w * 8192 .. of all rows, by those that go to sums `sums` .. + 15. */
static void pass(block *b, int64_t window, int64_t sums, int64_t turns) {
    const beside_job *job = b->job;
    const leaves_job *leaves = job->leaves;
    const char *piece[2][SUMS];
    const int64_t c = window * REDUCE_LEAF + sums, k = job->k, size = leaves->p->in.itemsize;
    const int64_t final = b->row + b->rows == job->rows && k / REDUCE_LEAF == window ? k % REDUCE_LEAF : -1; /* where the last leaf of all ends */
    find(b, c, SUMS, piece[0]);
    for (int64_t turn = 0; turn <= turns; turn++) {
        for (int64_t i = b->from[tess_max64(0, turn - 1)]; turn > 0 && i < b->from[turn]; i++)
            take_at(b, b->by_turn[i], b->by_turn[i], sums, b->first[b->by_turn[i]], turn);
        for (int64_t i = b->from[turn]; turn < REDUCE_TERMS && i < b->from[turn + 1]; i++)
            if (final < 0 || b->by_turn[i] < b->rows - 1 || b->first[b->rows - 1] <= final)
                take_at(b, b->by_turn[i], b->by_turn[i], sums, b->first[b->by_turn[i]], turn);
        if (final >= 0)
            take_at(b, b->rows - 1, MOST_ROWS * 4 / size, sums, final, turn);
        if (turn == turns || turn == REDUCE_TERMS)
            break;
        /* the next turn's, or the next pass's first */
        const int64_t next = turn + 1 < turns ? c + (turn + 1) * REDUCE_LANES : sums + SUMS < REDUCE_LANES ? c + SUMS : (window + 1) * REDUCE_LEAF;
        find(b, next, SUMS, piece[(turn + 1) % 2]);
        leaves->kernels->beside->add[leaves->p->acc](b->state + sums * b->lines * LINE, piece[turn % 2], piece[(turn + 1) % 2], SUMS, b->lines,
                                                     b->last, job->near);
    }
}

static void fold(block *b) {
    const beside_job *job = b->job;
    const int64_t k = job->k, size = job->leaves->p->in.itemsize;
    int64_t end = k;
    memset(b->from, 0, sizeof b->from);
    for (int64_t r = 0; r < b->rows; r++) {
        b->first[r] = (REDUCE_LEAF - (b->row + r) * (k % REDUCE_LEAF) % REDUCE_LEAF) % REDUCE_LEAF;
        b->from[b->first[r] / REDUCE_LANES + 1]++;
        if (b->row + r + 1 < job->rows)
            end = tess_max64(end, k + (REDUCE_LEAF - (k - b->first[r]) % REDUCE_LEAF) % REDUCE_LEAF);
    }
    for (int turn = 0; turn < REDUCE_TERMS; turn++)
        b->from[turn + 1] = (int16_t)(b->from[turn + 1] + b->from[turn]);
    int16_t at[REDUCE_TERMS];
    memcpy(at, b->from, sizeof at);
    for (int64_t r = 0; r < b->rows; r++)
        b->by_turn[at[b->first[r] / REDUCE_LANES]++] = (int16_t)r;
    memset(b->state, 0, (size_t)(REDUCE_LANES * b->lines * LINE));
    for (int64_t window = 0; window * REDUCE_LEAF <= end; window++) {
        const int64_t left = end - window * REDUCE_LEAF, turns = tess_min64(REDUCE_TERMS, left / REDUCE_LANES + 1);
        for (int64_t sums = 0; sums < REDUCE_LANES; sums += SUMS)
            pass(b, window, sums, turns);
        for (int64_t r = b->own; r < b->rows; r++) {
            const int64_t begin = (window - 1) * REDUCE_LEAF + b->first[r];
            if (begin >= 0 && begin < k && (begin + REDUCE_LEAF <= k || b->row + r + 1 < job->rows))
                store(b, r, r, begin);
        }
    }
    if (b->row + b->rows == job->rows) {
        const int64_t first = b->first[b->rows - 1], rest = (k - first) % REDUCE_LEAF;
        if (rest > 0)
            store(b, b->rows - 1, MOST_ROWS * 4 / size, k - rest);
    }
}

static void blocks(void *argument, int64_t begin, int64_t end, int number) {
    const beside_job *job = argument;
    const int64_t size = job->leaves->p->in.itemsize, line = LINE / size;
    block b = {.job = job, .state = job->room + number * A_THREAD};
    b.ended = b.state + STATE;
    for (int64_t at = begin; at < end; at++) {
        const int64_t row = at * job->at_once;
        b.rows = tess_max64(line, tess_min64(job->at_once, job->rows - row));
        b.row = tess_min64(row, job->rows - b.rows);
        b.own = row - b.row;
        b.lines = (int)tess_ceil_div(b.rows, line);
        b.last = (b.rows - line) * size;
        fold(&b);
    }
}

tess_status tess_reduce_beside(const leaves_job *job, const char *base, char *values) {
    const reduce_problem *p = job->p;
    beside_job own = {.leaves = job,
                      .base = base,
                      .room = job->run->workspace,
                      .values = values,
                      .rows = p->size[0],
                      .k = columns_of(p),
                      .near = p->stride[0][p->rank - 1] % PAGE != 0,
                      .at_once = REDUCE_BESIDE * LINE / p->in.itemsize};
    return tess_parallel(job->run->context, job->run->threads, tess_ceil_div(own.rows, own.at_once), 1, blocks, &own);
}

/* SPDX-License-Identifier: Apache-2.0
 * gpu_inplace_predict.c - what the transposes in place will count: a tile of each kind is walked, warp by warp and request by request.
 *
 * Where tiles are taken as they lie (gpu_columns.cuh), one is as another if both begin at the same places of a line of 128 bytes and it is as far from the matrix's ends. Predicted for arrays that begin
 * at a line. */
#include "ops/transpose/gpu_predict.h"

enum { LINE = 128, KINDS = 10, MOST_PLACES = 4 };

static const transpose_problem *of(const tess_problem *problem) { return (const transpose_problem *)problem; }

/* Bytes; low to high: what a matrix takes of the array. */
typedef struct tile {
    int64_t from, to, from_step, to_step, rows, columns, low, high;
} tile;

typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    int64_t size, side; /* of an element, of a tile */
    int threads, align;
    int64_t room; /* byte of shared memory at which the tile begins */
} walk;

/* ---- gpu_squares.cuh, gpu_inplace_vectors.cu: rows of whole vectors ---- */

static void by_vectors(const walk *w, const tile *t) {
    const int64_t v = 16 / w->size, row = w->side / v;
    const transpose_gpu_squares whole = {w->side, w->side};
    transpose_gpu_cost cost = {{0, 0, 0}, {0, 0, 0}};
    int64_t at[32];
    for (int64_t first = 0; first < row * row; first += 32)
        for (int64_t i = 0; i < v; i++) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t p = (first + lane) % row * v, q = (first + lane) / row * v;
                at[lane] = p < t->columns && q < t->rows ? t->from + (q + i) * t->from_step + p * w->size : -1;
            }
            tess_gpu_count_global(w->sum, w->times, at, 16, false);
        }
    for (int64_t first = 0; first < w->side * row; first += 32) {
        for (int lane = 0; lane < 32; lane++) {
            const int64_t p = (first + lane) / row, b = (first + lane) % row;
            at[lane] = p < t->columns && b * v < t->rows ? t->to + p * t->to_step + b * 16 : -1;
        }
        tess_gpu_count_global(w->sum, w->times, at, 16, true);
    }
    tess_transpose_walk_squares(&cost, &whole, w->size, t->columns, t->rows);
    w->sum->shared_st_requests += w->times * cost.store.requests;
    w->sum->shared_st_wavefronts += w->times * cost.store.wavefronts;
    w->sum->shared_st_conflicts += w->times * cost.store.conflicts;
    w->sum->shared_ld_requests += w->times * cost.load.requests;
    w->sum->shared_ld_wavefronts += w->times * cost.load.wavefronts;
    w->sum->shared_ld_conflicts += w->times * cost.load.conflicts;
}

/* ---- gpu_columns.cuh: rows that begin anywhere ---- */

static int64_t vectors_of_row(const walk *w) { return tess_ceil_div(w->side * w->size + 16 - w->size, 16); }

/* Row r of the tile, from its first vector on. */
static int64_t row_in_tile(const walk *w, int64_t r) {
    const int64_t v = 16 / w->size, nv = vectors_of_row(w);
    return w->room + r / v * (v * nv + 1) * 16 + r % v * nv * 16;
}

static void take(const walk *w, const tile *t) {
    const int64_t nv = vectors_of_row(w), all = w->side * nv;
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int left = 0; left < 2; left++)
            for (int64_t j = 0; j * w->threads < all; j++) {
                int64_t at[32], to[32], copy[32], load[32], store[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t over = all - thread - lane,
                                  turn = tess_gpu_turn_of(over > 0 ? tess_ceil_div(over, w->threads) : 0, 4, true, left, j);
                    const int64_t n = thread + lane + turn * w->threads, r = n / nv, row = t->from + r * t->from_step;
                    at[lane] = row / 16 * 16 + n % nv * 16;
                    to[lane] = row_in_tile(w, r) + n % nv * 16;
                    if (turn < 0 || r >= t->rows || at[lane] >= row + t->columns * w->size)
                        at[lane] = -1;
                    copy[lane] = at[lane] >= t->low && at[lane] + 16 <= t->high ? at[lane] : -1;
                }
                tess_gpu_count_copies(w->sum, w->times, copy, to);
                for (int64_t e = 0; e < 16; e += w->size) {
                    for (int lane = 0; lane < 32; lane++) {
                        const int64_t byte = at[lane] + e;
                        const bool there = at[lane] >= 0 && copy[lane] < 0 && byte >= t->low && byte + w->size <= t->high;
                        load[lane] = there ? byte : -1;
                        store[lane] = there ? to[lane] + e : -1;
                    }
                    tess_gpu_count_global(w->sum, w->times, load, w->size, false);
                    tess_gpu_count_shared(w->sum, w->times, store, w->size, true);
                }
            }
}

/* Where element q of row p of the turned tile lies. */
static int64_t place_of(const walk *w, const tile *t, int64_t p, int64_t q) {
    return row_in_tile(w, q) + (t->from + q * t->from_step) % 16 + p * w->size;
}

/* Rows of the turned tile, in pieces of 32 words; `each` elements of a word. */
static void words(const walk *w, const tile *t, int64_t each) {
    const int64_t pieces = tess_ceil_div(w->side + w->align / w->size - 1, 32 * each);
    for (int64_t p = 0; p < t->columns; p++) {
        const int64_t row = t->to + p * t->to_step, before = row % 16 / w->size + row % w->align / 16 * (16 / w->size);
        for (int64_t k = 0; k < pieces; k++) {
            int64_t q[32], load[32], store[32];
            for (int lane = 0; lane < 32; lane++) {
                q[lane] = (k * 32 + lane) * each - before;
                q[lane] = q[lane] >= 0 && q[lane] + each <= t->rows ? q[lane] : -1;
                store[lane] = q[lane] >= 0 ? row + q[lane] * w->size : -1;
            }
            for (int64_t e = 0; e < each; e++) {
                for (int lane = 0; lane < 32; lane++)
                    load[lane] = q[lane] >= 0 ? place_of(w, t, p, q[lane] + e) : -1;
                tess_gpu_count_shared(w->sum, w->times, load, w->size, false);
            }
            tess_gpu_count_global(w->sum, w->times, store, each * w->size, true);
        }
    }
}

/* What lies before a row's first whole word, and behind its last. */
static void ends(const walk *w, const tile *t, int64_t each) {
    const int64_t all = t->columns * 2 * (each - 1);
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int left = 0; left < 2; left++)
            for (int64_t j = 0; j * w->threads < all; j++) {
                int64_t load[32], store[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t over = all - thread - lane,
                                  turn = tess_gpu_turn_of(over > 0 ? tess_ceil_div(over, w->threads) : 0, 2, true, left, j);
                    const int64_t n = thread + lane + turn * w->threads, p = n / (2 * each - 2), s = n % (2 * each - 2), row = t->to + p * t->to_step;
                    const int64_t before = (4 - row % 4) % 4 / w->size, behind = t->rows > before ? (t->rows - before) % each : 0;
                    const int64_t q = s < each - 1 ? s : t->rows - 1 - (s - (each - 1));
                    const bool there = turn >= 0 && (s < each - 1 ? s < before && s < t->rows : s - (each - 1) < behind);
                    load[lane] = there ? place_of(w, t, p, q) : -1;
                    store[lane] = there ? row + q * w->size : -1;
                }
                tess_gpu_count_shared(w->sum, w->times, load, w->size, false);
                tess_gpu_count_global(w->sum, w->times, store, w->size, true);
            }
}

static void by_columns(const walk *w, const tile *t) {
    const int64_t each = w->size < 4 ? 4 / w->size : 1;
    take(w, t);
    words(w, t, each);
    if (each > 1)
        ends(w, t, each);
}

/* ---- pairs of tiles of square matrices ---- */

/* The first tile, the last one, and between them by place. */
static int kind_of(int64_t i, int64_t tiles) { return i == tiles - 1 ? KINDS - 1 : i == 0 ? 0 : 1 + (int)((i - 1) % (KINDS - 2)); }

typedef struct pair_kind {
    double times;
    int64_t i, j; /* one of them */
} pair_kind;

static void one_pair(walk *w, const transpose_problem *p, int64_t matrix, int64_t i, int64_t j, bool vectors) {
    const int64_t step = p->rows * p->size, down = i * w->side, across = j * w->side;
    tile upper = {.from_step = step, .to_step = step, .low = TESS_GPU_ORIGIN + matrix * p->rows * step};
    upper.high = upper.low + p->rows * step;
    upper.from = upper.low + down * step + across * p->size;
    upper.to = upper.low + across * step + down * p->size;
    upper.rows = tess_min64(w->side, p->rows - down);
    upper.columns = tess_min64(w->side, p->rows - across);
    tile lower = upper;
    lower.from = upper.to;
    lower.to = upper.from;
    lower.rows = upper.columns;
    lower.columns = upper.rows;
    w->room = 0;
    (vectors ? by_vectors : by_columns)(w, &upper);
    w->room = vectors ? w->side * w->side * w->size : tess_transpose_gpu_columns_room(w->side, w->size);
    if (i != j)
        (vectors ? by_vectors : by_columns)(w, &lower);
    w->sum->barriers += w->times * w->threads / 32;
}

static void predict_pairs(const transpose_problem *p, tess_gpu_prediction *out, const transpose_gpu_pairs *use, bool vectors) {
    walk w = {.sum = out, .size = p->size, .side = use->tile, .threads = use->threads, .align = use->align};
    const int64_t tiles = tess_ceil_div(p->rows, use->tile), place = LINE / tess_gcd(LINE, p->rows * p->rows * p->size);
    pair_kind kinds[KINDS][KINDS][2] = {0};
    if (tess_min64(place, p->batch) > MOST_PLACES) {
        out->barriers = (double)(tiles * (tiles + 1) / 2 * p->batch) * use->threads / 32;
        out->flops = 0;
        return;
    }
    for (int64_t i = 0; i < tiles; i++)
        for (int64_t j = i; j < tiles; j++) {
            pair_kind *kind = &kinds[kind_of(i, tiles)][kind_of(j, tiles)][i == j];
            *kind = (pair_kind){kind->times + 1, i, j};
        }
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    for (tess_gpu_kind matrix = {0}; tess_gpu_next_kind(&matrix, p->batch, 0, 0, place);)
        for (int k = 0; k < KINDS * KINDS * 2; k++) {
            const pair_kind *kind = &kinds[k / 2 / KINDS][k / 2 % KINDS][k % 2];
            w.times = kind->times * matrix.times;
            if (kind->times > 0)
                one_pair(&w, p, matrix.at, kind->i, kind->j, vectors);
        }
}

void tess_transpose_predict_exchange_vectors(const tess_problem *base, tess_gpu_prediction *out) {
    predict_pairs(of(base), out, tess_transpose_gpu_pairs_by_vectors(of(base), out->device), true);
}

static void add(tess_gpu_prediction *sum, const tess_gpu_prediction *one) {
#define X(name) sum->name = sum->name < 0 || one->name < 0 ? -1 : sum->name + one->name;
    TESS_GPU_PREDICTION_LIST(X)
#undef X
}

void tess_transpose_predict_exchange(const tess_problem *base, tess_gpu_prediction *out) {
    const transpose_problem *p = of(base);
    if (p->place == TRANSPOSE_SQUARE) {
        predict_pairs(p, out, tess_transpose_gpu_pairs_by_columns(p, out->device), false);
        return;
    }
    const transpose_gpu_matrices m = tess_transpose_gpu_rectangles_of(p, 0);
    tess_gpu_prediction back = tess_gpu_no_prediction();
    transpose_gpu_records r;
    if (tess_transpose_gpu_records_for(&m, &r))
        tess_transpose_predict_records_matrices(&m, &r, out);
    else
        tess_transpose_predict_launch(&m, out);
    tess_transpose_predict_launch_copy(p->in.count * p->in.itemsize, &back);
    add(out, &back);
}

/* ---- gpu_inplace_runs.cu ---- */

void tess_transpose_predict_exchange_runs(const tess_problem *base, tess_gpu_prediction *out) {
    enum { MOST = 1 << 22 };
    const transpose_problem *p = of(base);
    const int64_t unit = p->in.itemsize, pieces = p->size / unit, count = p->batch * p->rows * p->columns * pieces;
    const bool square = p->place == TRANSPOSE_SQUARE;
    if (count > MOST)
        return;
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    for (int64_t first = 0; first < count; first += 32) {
        int64_t here[32], there[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t n = first + lane, at = n / pieces, column = at % p->columns, row = at / p->columns % p->rows,
                          matrix = at / p->columns / p->rows;
            const bool moves = n < count && (!square || row < column);
            here[lane] = moves ? n * unit : -1;
            there[lane] = moves ? (((matrix * p->columns + column) * p->rows + row) * pieces + n % pieces) * unit : -1;
        }
        tess_gpu_count_global(out, square ? 1 : 2, here, unit, false); /* what was turned is copied back */
        tess_gpu_count_global(out, 1, there, unit, true);
        tess_gpu_count_global(out, 1, here, unit, true);
        if (square)
            tess_gpu_count_global(out, 1, there, unit, false);
    }
}

/* ---- gpu_inplace_bands.cu ---- */

static bool keeps(const transpose_problem *p, const transpose_gpu_bands *b, int64_t row, int64_t band) {
    return (row * p->rows + tess_min64((band + 1) * b->tile, p->rows) - 1) / p->columns >= band * b->tile;
}

/* Tiles across, the last of whose rows of the result is `row`: in how many bands it is kept. They are the first ones. */
static int64_t bands_kept(const transpose_problem *p, const transpose_gpu_bands *b, int64_t across) {
    const int64_t row = tess_min64((across + 1) * b->tile, p->columns) - 1;
    int64_t band = 0;
    while (band < b->down && keeps(p, b, row, band))
        band++;
    return band;
}

/* back_bands: bytes begin to end of a row. */
static void copy_back(const walk *w, int64_t begin, int64_t end) {
    int64_t at[32], store[32];
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, tess_ceil_div(end - begin / 16 * 16, 512), 1, 1, 1);) {
        for (int lane = 0; lane < 32; lane++) {
            at[lane] = begin / 16 * 16 + n.at * 512 + lane * 16;
            store[lane] = at[lane] >= begin && at[lane] + 16 <= end ? at[lane] : -1;
        }
        tess_gpu_count_global(w->sum, w->times * n.times, store, 16, true);
        for (int64_t e = 0; e < 16; e += w->size) {
            for (int lane = 0; lane < 32; lane++) {
                const bool whole = at[lane] >= begin && at[lane] + 16 <= end;
                store[lane] = !whole && at[lane] + e >= begin && at[lane] + e < end ? at[lane] + e : -1;
            }
            tess_gpu_count_global(w->sum, w->times * n.times, store, w->size, true);
        }
    }
}

/* Not predicted: how often blocks look whether the bands that they wait for have been read, which are loads. */
void tess_transpose_predict_exchange_bands(const tess_problem *base, tess_gpu_prediction *out) {
    const transpose_problem *p = of(base);
    const transpose_gpu_bands b = tess_transpose_gpu_bands_of(p);
    const int64_t all = p->rows * p->columns * p->size, place = LINE / tess_gcd(LINE, all), alike = b.vectors ? 1 : KINDS - 2;
    walk w = {.sum = out, .size = p->size, .side = b.tile, .threads = b.threads, .align = b.align, .room = 16};
    const double warps = b.threads / 32, blocks = (double)(b.down * b.across * p->batch);
    if (tess_min64(place, p->batch) > MOST_PLACES)
        return;
    tess_gpu_count_from_zero(out);
    out->global_st_requests = out->global_st_sectors = (double)b.across;        /* how much of each row is kept */
    out->shared_st_requests = out->shared_st_wavefronts = blocks;               /* a block's number */
    out->shared_ld_requests = out->shared_ld_wavefronts = blocks * (warps + 1); /* and once more by who counts */
    out->barriers = 3 * blocks * warps;
    for (int64_t j = 0; j < b.across; j++)
        out->barriers -= (double)(bands_kept(p, &b, j) * p->batch) * warps; /* what is kept waits for nothing */
    for (tess_gpu_kind matrix = {0}; tess_gpu_next_kind(&matrix, p->batch, 0, 0, place);) {
        tile t = {.from_step = p->columns * p->size, .to_step = p->rows * p->size, .low = TESS_GPU_ORIGIN + matrix.at * all};
        t.high = t.low + all;
        for (tess_gpu_kind i = {0}; tess_gpu_next_kind(&i, b.down, 1, 1, alike);)
            for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, b.across, 1, 1, alike);) {
                t.from = t.low + i.at * b.tile * t.from_step + j.at * b.tile * p->size;
                t.to = t.low + j.at * b.tile * t.to_step + i.at * b.tile * p->size;
                t.rows = tess_min64(b.tile, p->rows - i.at * b.tile);
                t.columns = tess_min64(b.tile, p->columns - j.at * b.tile);
                w.times = matrix.times * i.times * j.times;
                (b.vectors ? by_vectors : by_columns)(&w, &t);
            }
        for (int64_t j = 0; j < b.across; j++) {
            const int64_t kept = tess_min64(bands_kept(p, &b, j) * b.tile, p->rows) * p->size;
            for (tess_gpu_kind row = {0}; tess_gpu_next_kind(&row, tess_min64(b.tile, p->columns - j * b.tile), 0, 0, 32);) {
                const int64_t begin = t.low + (j * b.tile + row.at) * t.to_step;
                w.times = matrix.times * row.times;
                copy_back(&w, begin, begin + kept);
            }
        }
    }
    out->global_ld_requests = out->global_ld_sectors = out->constant_requests = -1;
}

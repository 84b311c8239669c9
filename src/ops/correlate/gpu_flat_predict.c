/* SPDX-License-Identifier: Apache-2.0
 * gpu_flat_predict.c - what correlate/flat will count: a band of each kind of an image is walked, for each place at which images begin.
 *
 * Where rows end moves on from band to band, so ends of rows are walked for each of them. Predicted for arrays that begin at a line. */
#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_ring_predict.h"

enum { LINE = FRAME_LINE, SECTOR = 32, UNROLLED = 4, ON_THE_WAY = 8 };

/* The names of gpu_flat.cu; elements. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    flat_shape s;
    int64_t row, v, size, left, right, skew, vector, back, low_read, high_read, used_from, used_to, met_from, met_to /* bytes */, step, pitch, sides,
        ends, beside, columns;
    bool tiled, on_the_way;
    int64_t lead, end, low, high, column, begin; /* of a block */
    int64_t in, out;                             /* where the image begins */
    double flops;
    bool beyond; /* some rows of outputs are not there */
} walk;

static int64_t down_to(int64_t n, int64_t step) { return n >= 0 ? n / step * step : -up_to(-n, step); }

/* ---- elements on their way in ---- */

/* Byte of the element that stands i elements behind the image's first, -1: a constant. */
static int64_t element_at(const walk *w, int64_t i) {
    const int64_t y = (i + 8 * w->row) / w->row - 8, at = tess_correlate_frame_resolve(w->f, y, w->f->y.n);
    return at < 0 ? -1 : w->in + (at * w->row + (i - y * w->row)) * w->size;
}

/* Loops of a block: turn number j of a warp's lanes among things that threads take in turn, of which there are `count`, -1: the lane has none. The compiler takes `at_a_time` turns at a
 * time, and those left over before. */
static void turns_of(const walk *w, int64_t thread, int64_t count, int64_t at_a_time, bool left, int64_t j, int64_t *turn) {
    for (int lane = 0; lane < 32; lane++) {
        const int64_t over = count - thread - lane;
        turn[lane] = tess_gpu_turn_of(over > 0 ? tess_ceil_div(over, w->s.threads) : 0, at_a_time, true, left, j);
    }
}
/* So many that all turns of the longest lane are among them. */
static int64_t most_turns(const walk *w, int64_t count) { return tess_ceil_div(count, w->s.threads); }

/* Elements from place `from` on, before `to`, one a thread. */
static void bring_elements(const walk *w, int64_t from, int64_t to) {
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int left = 1; left >= 0; left--)
            for (int64_t j = 0; j < most_turns(w, to - from); j++) {
                int64_t load[32], store[32], turn[32];
                turns_of(w, thread, to - from, UNROLLED, left, j, turn);
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t p = from + thread + lane + turn[lane] * w->s.threads;
                    load[lane] = turn[lane] < 0 ? -1 : element_at(w, p - w->lead);
                    store[lane] = turn[lane] < 0 ? -1 : (p - w->low) * w->size;
                }
                tess_gpu_count_global(w->sum, w->times, load, w->size, false);
                tess_gpu_count_shared(w->sum, w->times, store, w->size, true);
            }
}

/* Vectors of `each` elements, of which number i comes from place from(i) and goes to vector number i of those at byte `to`: through registers some at a time, or as copies. */
static void bring_vectors(const walk *w, int64_t count, int64_t each, int64_t (*from)(const walk *w, int64_t i), int64_t to) {
    const int64_t held = w->on_the_way ? ON_THE_WAY : 1, at_a_time = w->tiled ? 1 : w->on_the_way ? 2 : UNROLLED, bytes = each * w->size;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int left = 1; left >= 0; left--)
            for (int64_t j = 0; j < most_turns(w, count); j++)
                for (int64_t k = 0; k < held; k++) {
                    int64_t load[32], store[32];
                    for (int lane = 0; lane < 32; lane++) {
                        const int64_t over = count - thread - lane,
                                      turn = tess_gpu_turn_of(over > 0 ? tess_ceil_div(over, held * w->s.threads) : 0, at_a_time, true, left, j),
                                      i = thread + lane + (turn * held + k) * w->s.threads;
                        load[lane] = turn < 0 || i >= count ? -1 : w->in + (from(w, i) - w->lead) * w->size;
                        store[lane] = turn < 0 || i >= count ? -1 : to + i * bytes;
                    }
                    if (w->on_the_way || bytes < 16)
                        tess_gpu_count_global(w->sum, w->times, load, bytes, false);
                    else
                        tess_gpu_count_copies(w->sum, w->times, load, store);
                    if (w->on_the_way)
                        tess_gpu_count_shared(w->sum, w->times, store, bytes, true);
                }
}

static int64_t first_vector(const walk *w) { return tess_max64(w->low, up_to(w->lead, w->vector)); }
static int64_t vector_of(const walk *w, int64_t i) { return first_vector(w) + i * w->vector; }

static void bring(const walk *w) {
    const int64_t from = first_vector(w), to = tess_max64(from, tess_min64(w->high, w->end / w->vector * w->vector)),
                  below = (w->f->y.width - 1 - w->f->y.before) * w->row + w->right,
                  needed = tess_max64(to, tess_min64(w->high, up_to(w->end + below, w->vector))), zeros = (w->high - needed) / w->vector;
    bring_vectors(w, (to - from) / w->vector, w->vector, vector_of, (from - w->low) * w->size);
    bring_elements(w, w->low, from);
    bring_elements(w, to, needed);
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int left = 1; left >= 0; left--)
            for (int64_t j = 0; j < most_turns(w, zeros); j++) {
                int64_t store[32], turn[32];
                turns_of(w, thread, zeros, UNROLLED, left, j, turn);
                const int64_t bytes = w->size > 1 && !left && j % UNROLLED == 0 ? 8 : 16; /* of four the compiler lays the first down by halves */
                for (int64_t b = 0; b < 16; b += bytes) {
                    for (int lane = 0; lane < 32; lane++)
                        store[lane] = turn[lane] < 0 ? -1 : (needed - w->low) * w->size + (thread + lane + turn[lane] * w->s.threads) * 16 + b;
                    tess_gpu_count_shared(w->sum, w->times, store, bytes, true);
                }
            }
}

static int64_t vector_of_tile(const walk *w, int64_t i) {
    const int64_t across = w->pitch / w->v;
    return w->low + i / across * w->step + i % across * w->v;
}

/* A copy for each lane, of that row, -1: none, and column. */
static void copy_lanes(const walk *w, const int64_t *row, const int64_t *column) {
    int64_t load[32], store[32];
    for (int lane = 0; lane < 32; lane++) {
        load[lane] = row[lane] < 0 ? -1 : w->in + (w->low + row[lane] * w->step + column[lane] - w->lead) * w->size;
        store[lane] = row[lane] < 0 ? -1 : (row[lane] * w->pitch + column[lane]) * w->size;
    }
    if (w->v * w->size < 16)
        tess_gpu_count_global(w->sum, w->times, load, w->v * w->size, false);
    else
        tess_gpu_count_copies(w->sum, w->times, load, store);
}

/* A tile that lies in the image, by copies: a lane's column of rows, then what stands beside. */
static void copy_inside(const walk *w, int64_t rows) {
    const int64_t more = w->pitch / w->v - w->s.tile;
    int64_t row[32], column[32];
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t i = thread / w->s.tile; i < rows; i += w->s.down) {
            for (int lane = 0; lane < 32; lane++)
                row[lane] = i, column[lane] = (thread % w->s.tile + lane) * w->v;
            copy_lanes(w, row, column);
        }
    for (int64_t first = 0; first < rows * more; first += 32) {
        for (int lane = 0; lane < 32; lane++) {
            row[lane] = first + lane < rows * more ? (first + lane) / more : -1;
            column[lane] = (w->s.tile + (first + lane) % more) * w->v;
        }
        copy_lanes(w, row, column);
    }
}

/* Of a tile, row by row: whole lanes' vectors. */
static void bring_tile(const walk *w) {
    const int64_t rows = w->s.steps * w->s.down + w->f->y.width - 1, count = rows * w->pitch / w->v,
                  needed = w->end + (w->f->y.width - 1 - w->f->y.before) * w->row + w->right;
    if (w->low >= w->lead && w->low + (rows - 1) * w->step + w->pitch <= w->end) {
        if (w->on_the_way)
            bring_vectors(w, count, w->v, vector_of_tile, 0);
        else
            copy_inside(w, rows);
        return;
    }
    for (int64_t first = 0; first < count; first += 32) {
        int64_t load[32], store[32], from[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t p = vector_of_tile(w, first + lane);
            load[lane] = first + lane < count && p >= w->lead && p + w->v <= w->end ? w->in + (p - w->lead) * w->size : -1;
            store[lane] = (first + lane) * w->v * w->size;
        }
        if (w->v * w->size == 16)
            tess_gpu_count_copies(w->sum, w->times, load, store);
        else
            tess_gpu_count_global(w->sum, w->times, load, w->v * w->size, false);
        for (int64_t i = 0; i < w->v; i++) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t p = vector_of_tile(w, first + lane) + i;
                const bool mine = first + lane < count && load[lane] < 0;
                from[lane] = mine && p < needed ? element_at(w, p - w->lead) : -1;
                to[lane] = mine ? store[lane] + i * w->size : -1;
            }
            tess_gpu_count_global(w->sum, w->times, from, w->size, false);
            tess_gpu_count_shared(w->sum, w->times, to, w->size, true);
        }
    }
}

/* ---- sums ---- */

/* Place of the first output of a thread, -1: it has none; the bytes of shared memory from which it reads. */
static int64_t place_of(const walk *w, int64_t thread, int64_t *room) {
    const int64_t strip = thread / w->s.tile, lane = thread % w->s.tile, place = w->begin + strip * w->s.steps * w->step + lane * w->v;
    *room = (w->tiled ? strip * w->s.steps * w->pitch + lane * w->v : place - w->back - w->low + w->low_read) * w->size;
    return strip < w->s.down && place < w->end && (!w->tiled || w->column + lane * w->v < w->step) ? place : -1;
}

/* Whether a vector of a row, from byte `at` on, is met by the mask's last row alone. */
static bool is_for_last(const walk *w, int64_t at, int64_t each) {
    for (int64_t ky = 0; ky < w->f->y.width - 1; ky++) {
        const int64_t from = w->met_from - ky * w->skew * w->size, to = w->met_to - ky * w->skew * w->size;
        if (from / 4 * 4 < at + each && up_to(to, 4) > at)
            return false;
    }
    return true;
}

/* Where one word of a vector is used, it is loaded alone; what the mask's last row alone meets is loaded where that makes a result (not of parts of bytes). */
static void read_rows(const walk *w) {
    const int64_t each = w->v * w->size, rows = w->s.steps + w->f->y.width - 1;
    for (int64_t b = 0; b < (w->high_read - w->low_read) * w->size; b += each) {
        const int64_t first = tess_max64(w->used_from / 4 * 4, b), used = tess_min64(up_to(w->used_to, 4), b + each) - first,
                      at_byte = used == 4 ? first : b, bytes = used == 4 ? 4 : each;
        for (int64_t thread = 0; thread < w->s.threads && used > 0; thread += 32)
            for (int64_t i = !w->s.raised && is_for_last(w, b, each) ? w->f->y.width - 1 : 0; i < rows; i++) {
                int64_t at[32], room;
                for (int lane = 0; lane < 32; lane++)
                    at[lane] = place_of(w, thread + lane, &room) < 0 ? -1 : room + i * w->pitch * w->size + at_byte;
                tess_gpu_count_shared(w->sum, w->times, at, bytes, false);
            }
    }
}

static void store_rows(walk *w) {
    const int64_t size = w->f->out, v = w->v, head = w->lead / v * v, last = w->end / v * v, partial = 0;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32) {
        int64_t place[32], to[32], from[32], room;
        for (int lane = 0; lane < 32; lane++)
            place[lane] = place_of(w, thread + lane, &room);
        for (int64_t i = 0; i < w->s.steps; i++) {
            int64_t part[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t at = place[lane] + i * w->step - w->lead, most = w->end - w->lead - v;
                const bool mine = place[lane] >= 0, whole = mine && at >= 0 && at <= most;
                to[lane] = whole ? w->out + at * size : -1;
                w->beyond = w->beyond || (mine && at >= most + v);
                part[lane] = mine && !whole && at > -v && at < most + v ? partial + (at < 0 ? 0 : v * size) : -1;
            }
            tess_gpu_count_global(w->sum, w->times, to, v * size, true);
            tess_gpu_count_shared(w->sum, w->times, part, v * size, true);
        }
        for (int64_t i = 0; i < v; i++) { /* one lane each, if any */
            for (int lane = 0; lane < 32; lane++) {
                const int64_t at = head + i;
                const bool mine = place[lane] >= 0 && w->lead > head && place[lane] == head && at >= w->lead;
                from[lane] = mine ? partial + i * size : -1;
                to[lane] = mine ? w->out + (at - w->lead) * size : -1;
            }
            tess_gpu_count_shared(w->sum, w->times, from, size, false);
            tess_gpu_count_global(w->sum, w->times, to, size, true);
        }
        for (int64_t i = 0; i < w->end - last; i++) {
            for (int lane = 0; lane < 32; lane++) {
                const bool mine =
                    place[lane] >= 0 && last >= place[lane] && last < place[lane] + w->s.steps * w->step && (last - place[lane]) % w->step == 0;
                from[lane] = mine ? partial + (v + i) * size : -1;
                to[lane] = mine ? w->out + (last + i - w->lead) * size : -1;
            }
            tess_gpu_count_shared(w->sum, w->times, from, size, false);
            tess_gpu_count_global(w->sum, w->times, to, size, true);
        }
    }
}

/* ---- ends of rows ---- */

/* Outputs of each lane, -1 = none, by the boundary's rule, from the array. */
static void mend_one(const walk *w, const int64_t *y, const int64_t *x) {
    const tess_correlate_frame *f = w->f;
    int64_t at[32];
    bool any = false;
    for (int lane = 0; lane < 32; lane++)
        any = any || y[lane] >= 0;
    if (!any)
        return;
    for (int64_t ky = 0; ky < f->y.width; ky++)
        for (int64_t kx = 0; kx < f->x.width; kx++) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t row = y[lane] < 0 ? -1 : tess_correlate_frame_resolve(f, y[lane] - f->y.before + ky, f->y.n),
                              column = tess_correlate_frame_resolve_x(f, x[lane] + kx * f->pass->group - w->left);
                at[lane] = row < 0 || column < 0 ? -1 : w->in + (row * w->row + column) * w->size;
            }
            tess_gpu_count_global(w->sum, w->times, at, w->size, false);
        }
    for (int lane = 0; lane < 32; lane++) {
        at[lane] = y[lane] < 0 ? -1 : w->out + (y[lane] * w->row + x[lane]) * f->out;
        w->sum->flops += y[lane] < 0 ? 0 : w->times * w->flops;
    }
    tess_gpu_count_global(w->sum, w->times, at, f->out, true);
}

static void mend_tile(const walk *w) {
    const int64_t wide = tess_min64(w->s.tile * w->v, w->step - w->column);
    for (int64_t first = 0; first < w->s.steps * w->s.down * w->ends; first += 32) {
        int64_t y[32], x[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t number = first + lane, from = w->begin + number / tess_max64(w->ends, 1) * w->step,
                          end = (from + wide - 1 - w->lead + w->right) / w->row, flat = end * w->row - w->right + number % tess_max64(w->ends, 1),
                          i = flat + w->lead;
            const bool mine = number < w->s.steps * w->s.down * w->ends && i >= tess_max64(from, w->lead) && i < tess_min64(from + wide, w->end);
            y[lane] = mine ? flat / w->row : -1;
            x[lane] = mine ? flat % w->row : 0;
        }
        mend_one(w, y, x);
    }
}

/* A thread's ends of rows: which, and whether all that they meet is in shared memory. */
typedef struct mended {
    bool right, quick;
    int64_t x, y, end, first, least;
    int64_t column[4 * FLAT_WIDEST + 16];
} mended;

static mended mended_of(const walk *w, int64_t number, int64_t from, int64_t to) {
    const tess_correlate_frame *f = w->f;
    mended m = {.right = w->left == 0 || number % tess_max64(w->sides, 1) == 1, .least = w->row};
    int64_t most = 0;
    m.x = m.right ? w->row - w->beside : 0;
    const int64_t least = (from - m.x - w->beside + w->row) / w->row;
    m.end = (to - m.x + w->row - 1) / w->row;
    m.y = tess_max64(tess_min64(least + number / tess_max64(w->sides, 1) * w->s.mended, m.end - w->s.mended), least);
    m.first = (m.y - f->y.before) * w->row + w->lead - w->low;
    for (int64_t c = 0; c < w->columns; c++) {
        m.column[c] = tess_correlate_frame_resolve_x(f, m.x - w->left + c);
        m.least = m.column[c] < 0 ? m.least : tess_min64(m.least, m.column[c]);
        most = tess_max64(most, m.column[c]);
    }
    m.quick = m.y + w->s.mended <= m.end && m.first + m.least >= 0 && m.first + (w->s.mended + f->y.width - 2) * w->row + most < w->high - w->low;
    return m;
}

static void mend_rows(const walk *w) {
    const tess_correlate_frame *f = w->f;
    const int64_t from = tess_max64(w->begin - w->lead, 0), to = tess_min64(w->begin + w->s.steps * w->s.down * w->step, w->end) - w->lead,
                  groups = ((to - from) / w->row + 1 + w->s.mended) / w->s.mended;
    for (int64_t first = 0; first < groups * w->sides; first += 32) {
        mended m[32];
        bool mine[32];
        int64_t at[32], y[32], x[32], most = 0;
        for (int lane = 0; lane < 32; lane++) {
            mine[lane] = first + lane < groups * w->sides;
            if (mine[lane])
                m[lane] = mended_of(w, first + lane, from, to);
            if (mine[lane] && !m[lane].quick)
                most = tess_max64(most, tess_min64(w->s.mended, m[lane].end - m[lane].y) * w->beside);
            w->sum->flops += mine[lane] && m[lane].quick ? w->times * w->flops * (double)(w->s.mended * w->beside) : 0;
        }
        for (int64_t i = 0; i < w->s.mended + f->y.width - 1; i++)
            for (int64_t c = 0; c < w->columns; c++) {
                for (int lane = 0; lane < 32; lane++)
                    at[lane] =
                        mine[lane] && m[lane].quick ? (m[lane].first + tess_max64(m[lane].column[c], m[lane].least) + i * w->row) * w->size : -1;
                tess_gpu_count_shared(w->sum, w->times, at, w->size, false);
            }
        for (int64_t o = 0; o < w->s.mended; o++)
            for (int64_t b = 0; b < w->beside; b++) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t place = mine[lane] ? (m[lane].y + o) * w->row + m[lane].x + b : -1;
                    at[lane] = mine[lane] && m[lane].quick && place >= from && place < to ? w->out + place * f->out : -1;
                }
                tess_gpu_count_global(w->sum, w->times, at, f->out, true);
            }
        for (int64_t o = 0; o < most; o++) {
            for (int lane = 0; lane < 32; lane++) {
                y[lane] = -1;
                x[lane] = 0;
                if (!mine[lane] || m[lane].quick || o >= tess_min64(w->s.mended, m[lane].end - m[lane].y) * w->beside)
                    continue;
                const int64_t row = m[lane].y + o / w->beside, column = m[lane].x + o % w->beside, place = row * w->row + column;
                y[lane] = place >= from && place < to ? row : -1;
                x[lane] = column;
            }
            mend_one(w, y, x);
        }
    }
}

/* ---- all of them ---- */

static walk walk_of(const tess_correlate_frame *f, const flat_shape *s, tess_gpu_prediction *out) {
    walk w = {.sum = out, .f = f, .s = *s, .row = f->x.n, .v = s->outputs, .size = f->in, .left = before(f), .right = after(f)};
    const int64_t skewed = (f->y.width - 1) * (s->lanes * w.v - w.row), away = up_to(f->y.before * w.row, w.v) - f->y.before * w.row;
    w.tiled = s->tile < s->lanes;
    w.vector = 16 / w.size;
    w.back = up_to(f->y.before * w.row, w.v);
    w.low_read = down_to(away - w.left - tess_max64(0, skewed), w.v);
    w.high_read = up_to(away + w.v + w.right + tess_max64(0, -skewed), w.v);
    w.step = s->lanes * w.v;
    w.pitch = w.tiled ? up_to(s->tile * w.v + w.high_read - w.low_read - w.v, w.v) : w.step;
    w.sides = (w.left > 0) + (w.right > 0);
    w.ends = w.left + w.right;
    w.beside = w.tiled ? 1 : tess_max64(tess_max64(w.left, w.right), 1);
    w.columns = w.beside + w.left + w.right;
    const int64_t least = (away - w.left - tess_max64(0, skewed) - w.low_read) * w.size,
                  most = least + (w.left + w.v + w.right + (skewed < 0 ? -skewed : skewed)) * w.size;
    w.used_from = least;
    w.used_to = s->bytes ? tess_min64(most - w.left - w.right - 1 + 4 * groups_of(f), (w.high_read - w.low_read) * w.size) : most;
    w.skew = s->lanes * w.v - w.row;
    w.met_from = (away - w.left - w.low_read) * w.size;
    w.met_to = w.met_from + (w.v + (s->bytes ? 4 * groups_of(f) - 1 : w.left + w.right)) * w.size;
    w.on_the_way = w.size > 1 && f->x.width <= 3 && f->y.width <= 3;
    w.flops = s->bytes ? 0 : (double)(2 * f->x.width * f->y.width);
    return w;
}

/* The block at that place of the grid, of an image that begins `lead` elements behind a vector. */
static void set_block(walk *w, int64_t x, int64_t band) {
    const int64_t span = w->s.steps * w->s.down * w->step;
    w->column = x * w->s.tile * w->v;
    w->begin = band * span + w->column;
    w->end = w->f->y.n * w->row + w->lead;
    w->low = w->begin - w->back + w->low_read;
    w->low = w->tiled ? w->low : down_to(w->low, w->vector);
    w->high = up_to(w->begin - w->back + span + (w->f->y.width - 1) * w->step - w->v + w->high_read, w->vector);
}

/* All but the ends of rows. */
static void one_block(walk *w) {
    int64_t lanes = 0, room;
    (w->tiled ? bring_tile : bring)(w);
    read_rows(w);
    store_rows(w);
    for (int64_t thread = 0; thread < w->s.threads; thread++)
        lanes += place_of(w, thread, &room) >= 0;
    w->sum->flops += w->times * (double)(lanes * w->s.steps * w->v) * w->flops;
    w->sum->barriers += w->times * (double)(2 * w->s.threads / 32);
}

/* How many of a tiled image's blocks from number x of a band on count alike, 0: this one only like itself. Blocks side by side lie whole lines apart; where an image begins and ends and
 * whether rows are there changes with the ends of rows, which lie in, or near, the rows of few blocks of a band. */
static int64_t alike(const walk *w, int64_t x, int64_t across) {
    enum { NEAR = 256 /* elements: more than what masks reach over, vectors and what rows move on by */ };
    const int64_t tile = w->s.tile * w->v;
    int64_t count = across - 1 - x; /* the last one may be narrower */
    if (tile * w->size % LINE != 0 || tile * w->f->out % LINE != 0)
        return 0;
    for (int64_t r = 0; r < w->s.steps * w->s.down + w->f->y.width - 1; r++) {
        const int64_t from = w->low - w->lead + r * w->step - NEAR, to = from + w->pitch + 2 * NEAR,
                      next = -down_to(-from, w->row); /* the first end of a row from there on */
        count = tess_min64(count, next > to ? (next - to - 1) / tile + 1 : 0);
    }
    return count;
}

/* Blocks of a band side by side, of images that are `times` many: all but the ends of rows, or these. */
static void one_band(walk *w, int64_t band, double times, bool ends) {
    const int64_t across = tess_ceil_div(w->s.lanes, w->s.tile);
    for (int64_t x = 0, count; x < across; x += tess_max64(count, 1)) {
        set_block(w, x, band);
        count = w->tiled && x > 0 ? alike(w, x, across) : 0;
        w->times = times * (double)tess_max64(count, 1);
        if (!ends)
            one_block(w);
        else if (!w->tiled)
            mend_rows(w);
        else if (count == 0)
            mend_tile(w);
    }
}

/* Bands inside count alike but for where rows end in them. */
static void one_image(walk *w, double times) {
    const int64_t span = w->s.steps * w->s.down * w->step, period = LINE / tess_gcd(LINE, tess_gcd(span * w->size, span * w->f->out));
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, w->s.bands, 2, 3, period);)
        one_band(w, n.at, times * n.times, false);
    for (int64_t band = 0; band < w->s.bands; band++)
        one_band(w, band, times, true);
}

void tess_correlate_predict_flat(const tess_problem *base, tess_gpu_prediction *out) {
    tess_correlate_frame f;
    flat_shape s;
    const char *why;
    double in[LINE];
    tess_correlate_flat_of(&s, &f, base, &why); /* true, because `fits` was */
    walk w = walk_of(&f, &s, out);
    tess_correlate_frame_places(&f, false, in);
    tess_gpu_count_from_zero(out);
    for (int i = 0; i < LINE; i++) {
        w.lead = i % 16 / f.in;
        w.in = TESS_GPU_ORIGIN + i;
        w.out = TESS_GPU_ORIGIN + i / f.in * f.out;
        if (in[i] > 0)
            one_image(&w, in[i]);
    }
    for (int b = 0; b < f.batch; b++) { /* results may begin elsewhere in a sector than elements do */
        const tess_correlate_axis *axis = &f.pass->axis[f.batch_axis[b]];
        if ((axis->in_stride / f.in * f.out - axis->out_stride) % SECTOR)
            out->global_st_sectors = -1;
    }
    out->constant_requests = -1;
    if (f.in == 2 ||
        f.pass->group > s.outputs) /* of some masks the compiler loads words of a row, and not vectors; of far taps no more than is used */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    /* In which rows of the mask the compiler has conversions is its own, and so is whether an output's last terms are added where it is stored: those of rows that are not there are not. */
    if (!s.bytes && (w.beyond || (tess_correlate_frame_conversions(&f, tess_f32, 1) > 0 && !s.raised)))
        out->flops = -1;
}

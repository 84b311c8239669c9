/* SPDX-License-Identifier: Apache-2.0
 * gpu_moments_predict.c - what reduce/tree_moments will count: a block of each kind is walked, warp by warp and word by word.
 *
 * A block is as another one whose tiles have as many rows and columns, begin at the same place of a line and lie as far apart, as their results do of a sector. Predicted for arrays that begin at a line, of at most 2^24 tiles; of
 * shared memory, no stores where the compiler may join those of a thread's neighbours. Flops: none, for what the compiler makes of elements that are not there is its own. */
#include "ops/reduce/gpu_reduce.h"

enum { MOST = 320 /* tiles of a block: its threads at most */ };

typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const reduce_problem *p;
    tess_reduce_gpu_moments_shape s;
    int64_t size, neighbours, positions, tile_threads, lanes, each, tall, leaves, width;
    int64_t first, here;       /* of a set's leaves the launch's first one, and how many it has */
    int64_t origin, low, high; /* the first element; where the array begins and ends */
    bool straight;             /* a look is code without a branch: threads without elements do not load their means */
    int64_t node, words;       /* bytes of a node in the workspace, words in which it is copied */
} walk;

/* The tiles of a block: so many, each of so many rows of so many columns; where they begin, and the results of their first columns. */
typedef struct block {
    int64_t tiles, rows, across, from[MOST], to[MOST];
} block;

static int64_t in_of(const walk *w, int64_t set) { return tess_reduce_gpu_place(w->p->kept_size, w->p->kept_stride[0], w->p->kept - 1, set); }
static int64_t out_of(const walk *w, int64_t set) { return tess_reduce_gpu_place(w->p->kept_size, w->p->kept_stride[1], w->p->kept - 1, set); }

static void tile_of(const walk *w, int64_t unit, block *b, int64_t i) {
    const int64_t column = unit % w->s.strips * w->s.across, leaf = w->first + unit / w->s.strips % w->here, set = unit / w->s.strips / w->here;
    b->across = tess_min64(w->s.across, w->width - column);
    b->rows = tess_min64(w->tall, w->p->k - leaf * REDUCE_LEAF);
    b->from[i] = w->origin + in_of(w, set) + leaf * REDUCE_LEAF * w->p->stride[0][0] + column * w->size;
    b->to[i] = w->leaves > 1 ? ((set * w->width + column) * w->leaves + leaf) * w->node
                             : tess_reduce_gpu_below(w->p, 1) + out_of(w, set) + column * w->p->kept_stride[1][w->p->kept - 1];
}

/* The VECTOR bytes of each lane: where they lie, negative: it has none, where they go, and of which those from begin to end are wanted. */
typedef struct vectors {
    int64_t at[32], to[32], begin[32], end[32];
} vectors;

static void put(const walk *w, const vectors *v, bool inside) {
    const int64_t vector = w->s.vector;
    int64_t from[32], to[32];
    bool whole[32];
    for (int lane = 0; lane < 32; lane++) {
        whole[lane] = inside || (v->at[lane] >= w->low && v->at[lane] + vector <= w->high);
        from[lane] = v->at[lane] >= 0 && whole[lane] ? v->at[lane] : -1;
    }
    if (vector == 16)
        tess_gpu_count_copies(w->sum, w->times, from, v->to);
    else
        tess_gpu_count_global(w->sum, w->times, from, vector, false);
    for (int64_t i = 0; i < vector; i += w->size) {
        for (int lane = 0; lane < 32; lane++) {
            const bool here = v->at[lane] >= 0 && !whole[lane];
            from[lane] = here && v->at[lane] + i >= v->begin[lane] && v->at[lane] + i < v->end[lane] ? v->at[lane] + i : -1;
            to[lane] = here ? v->to[lane] + i : -1;
        }
        tess_gpu_count_global(w->sum, w->times, from, w->size, false);
        tess_gpu_count_shared(w->sum, w->times, to, w->size, true);
    }
}

/* Rows that are copied from byte `from` to byte `to` of shared memory. */
typedef struct region {
    int64_t from, to, rows, bytes;
    bool inside;
} region;

static region region_of(const walk *w, const block *b, int64_t tile) {
    const int64_t step = w->p->stride[0][0], last = (b->rows - 1) * step, from = b->from[tile];
    region r = {from, tile * w->s.tile, tess_min64(b->rows, w->s.shared * w->lanes), b->across * w->size, !w->s.shifted};
    r.inside |= from + tess_min64(last, 0) - w->low >= w->s.vector - 1 && w->high - from - tess_max64(last, 0) - r.bytes >= w->s.vector - 1;
    return r;
}

/* A warp's threads: their tiles' numbers, -1: none, and what they are in them. */
typedef struct threads {
    int64_t tile[32], t[32], at[32]; /* at: the first position */
} threads;

/* Turn number j of the loop that has as many vectors at a time as it is unrolled, or of that for those left over: thread t's of a region. False: it has none. */
static bool vector_of(const walk *w, const region *r, int64_t t, bool left, int64_t j, vectors *v, int lane) {
    const int64_t vector = w->s.vector, pitch = w->s.pitch, at_a_time = r->inside ? 4 : 1, before = w->s.shifted ? r->from % vector : 0;
    if (w->s.run) {
        const int64_t end = before + r->rows * pitch, at = t * vector, span = w->tile_threads * vector,
                      turn = tess_gpu_turn_of(at < end ? tess_ceil_div(end - at, span) : 0, at_a_time, true, left, j);
        v->at[lane] = r->from - before + at + turn * span;
        v->to[lane] = r->to + at + turn * span;
        v->begin[lane] = r->from;
        v->end[lane] = r->from - before + end;
        return turn >= 0;
    }
    const int64_t each = w->s.shifted ? (w->s.across * w->size + vector - 2) / vector + 1 : w->s.across * w->size / vector,
                  at_once = w->tile_threads / each;
    const int64_t row = t / each, in_row = t % each * vector,
                  turn = row < at_once ? tess_gpu_turn_of(row < r->rows ? tess_ceil_div(r->rows - row, at_once) : 0, at_a_time, true, left, j) : -1;
    const int64_t lies = r->from + (row + turn * at_once) * w->p->stride[0][0], shift = w->s.shifted ? lies % vector : 0;
    v->at[lane] = lies + in_row - shift;
    v->to[lane] = r->to + before + (row + turn * at_once) * pitch + in_row - shift;
    v->begin[lane] = lies;
    v->end[lane] = lies + r->bytes;
    return turn >= 0 && in_row < shift + r->bytes;
}

/* A warp copies the rows that its threads take, some turns at once, or a thread its words. */
static void bring_own(const walk *w, const block *b, int64_t thread) {
    const bool own = w->s.vector == w->s.word;
    const int64_t copies = w->s.across * w->size / w->s.vector, rows = 32 * w->neighbours / w->s.across, at_once = own ? 1 : 32 / (rows * copies);
    for (int64_t turn = 0; turn * w->s.rows < b->rows; turn += at_once) {
        vectors v;
        for (int lane = 0; lane < 32; lane++) {
            const int64_t first = own ? (thread + lane) / copies : thread / 32 * rows + lane / copies % rows + lane / (copies * rows) * w->s.rows,
                          row = first + turn * w->s.rows, in_row = (own ? thread + lane : lane) % copies * w->s.vector;
            v.at[lane] = row < b->rows ? b->from[0] + row * w->p->stride[0][0] + tess_min64(in_row, b->across * w->size - w->s.vector) : -1;
            v.to[lane] = row * w->s.pitch + in_row;
            v.begin[lane] = v.end[lane] = 0;
        }
        put(w, &v, true);
    }
}

/* Threads whose tiles' surroundings are the array's go together, and the others. */
static void bring(const walk *w, const block *b, const threads *t) {
    const int64_t most = tess_ceil_div(w->tall * w->s.pitch + 32, w->s.vector); /* of a tile's vectors */
    for (int turn = 0; turn < 4; turn++)
        for (int64_t j = 0; j <= most / w->tile_threads + 4; j++) {
            vectors v;
            bool some = false;
            for (int lane = 0; lane < 32; lane++) {
                const int64_t tile = t->tile[lane];
                const region r = tile >= 0 ? region_of(w, b, tile) : (region){0};
                const bool has = tile >= 0 && r.inside == (turn < 2) && vector_of(w, &r, t->t[lane], turn % 2, j, &v, lane);
                v.at[lane] = has ? v.at[lane] : -1;
                some |= has;
            }
            if (some)
                put(w, &v, turn < 2);
        }
}

/* The words that a thread keeps, and those of one look, where they are there. */
static void keep(const walk *w, const block *b, const threads *t) {
    const int64_t rounds = tess_ceil_div(w->tall, w->lanes), step = w->p->stride[0][0];
    for (int64_t i = 0; i < (rounds - w->s.shared) * w->each; i++) {
        int64_t load[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t row = w->s.shared * w->lanes + i * w->s.rows + t->at[lane] / w->s.across, column = t->at[lane] % w->s.across;
            const bool there = t->tile[lane] >= 0 && column < b->across && row < b->rows;
            load[lane] = there ? b->from[t->tile[lane]] + row * step + column * w->size : -1;
        }
        tess_gpu_count_global(w->sum, w->times, load, w->s.word, false);
    }
}

static void look(const walk *w, const block *b, const threads *t, bool second) {
    const int64_t rounds = tess_ceil_div(w->tall, w->lanes), in_shared = rounds > w->s.shared ? w->s.shared * w->each : INT64_MAX,
                  end = b->rows * w->s.across;
    for (int64_t n = second ? w->s.stay * w->each : 0; (w->s.walk || n < in_shared) && n * w->positions < end + w->neighbours - 1; n++) {
        int64_t load[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t tile = t->tile[lane], at = t->at[lane];
            const bool there = tile >= 0 && (w->s.run || w->s.walk || at % w->s.across < b->across) && at + n * w->positions < end;
            const int64_t place = w->s.run ? at * w->size : at / w->s.across * w->s.pitch + at % w->s.across * w->size;
            const int64_t shift = w->s.shifted && tile >= 0 ? b->from[tile] % w->s.vector : 0;
            load[lane] = there ? tile * w->s.tile + shift + place + n * w->s.rows * w->s.pitch : -1;
        }
        tess_gpu_count_shared(w->sum, w->times, load, w->s.word, false);
    }
}

static int64_t circle(const walk *w, int64_t at) { return at < 0 ? at + w->positions : at; }
static int64_t in_room(const walk *w, int64_t row, int64_t column) { return row * (w->s.across | 1) + column; }

/* Sums, or counts, of `size` bytes go to shared memory. */
static void lay_down(const walk *w, const threads *t, int64_t thread, int64_t size) {
    for (int64_t v = 0; v < w->neighbours; v++) {
        int64_t store[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t tile = (thread + lane) / w->tile_threads, at = circle(w, t->at[lane] + v);
            store[lane] = tile < w->s.at_once ? (in_room(w, tile * w->s.rows + at / w->s.across, at % w->s.across)) * size : -1;
        }
        tess_gpu_count_shared(w->sum, w->times, store, size, true);
    }
}

/* for_columns() of a look, and what it does with what threads have in the end. */
static void columns(const walk *w, const block *b, int64_t thread, bool second) {
    const int64_t met = tess_min64(w->s.rows, 8), meet = w->s.rows / met, count = w->s.at_once * w->s.across;
    for (int64_t i = thread; i < tess_ceil_div(count * meet, 32) * 32; i += w->s.threads) {
        int64_t at[32], mean[32], out[32];
        bool there[32], stored[32]; /* the thread has a column in the end; its result is one */
        for (int lane = 0; lane < 32; lane++) {
            const int64_t c = (i + lane) / meet;
            there[lane] = (i + lane) % meet == 0 && c < count;
            stored[lane] = there[lane] && c / w->s.across < b->tiles && c % w->s.across < b->across;
            mean[lane] = (second ? stored[lane] : there[lane]) ? c * 8 : -1;
            out[lane] = stored[lane]
                            ? b->to[c / w->s.across] + c % w->s.across * (w->leaves > 1 ? w->leaves * w->node : w->p->kept_stride[1][w->p->kept - 1])
                            : -1;
        }
        for (int field = 0; field < (w->p->omit ? 2 : 1); field++)
            for (int64_t m = 0; m < met; m++) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t c = tess_min64((i + lane) / meet, count - 1), g = (i + lane) % meet;
                    at[lane] = in_room(w, c / w->s.across * w->s.rows + g + m * meet, c % w->s.across) * (field ? 4 : 8);
                    if (meet == 1 && !(second ? stored[lane] : there[lane])) /* where nothing is shuffled the compiler loads when it is wanted */
                        at[lane] = -1;
                }
                tess_gpu_count_shared(w->sum, w->times, at, field ? 4 : 8, false);
            }
        if (!(w->s.exact && b->rows == w->tall) && (!second || w->leaves > 1)) /* a result has no mean in it */
            tess_gpu_count_shared(w->sum, w->times, mean, 8, !second);
        for (int64_t word = 0; second && word < (w->leaves > 1 ? w->words : 1); word++) {
            tess_gpu_count_global(w->sum, w->times, out, w->leaves > 1 ? 8 : w->p->out.itemsize, true);
            for (int lane = 0; lane < 32; lane++)
                out[lane] += out[lane] >= 0 ? 8 : 0;
        }
    }
}

static void one_block(const walk *all, double times, const block *b) {
    walk one = *all;
    const walk *w = &one;
    one.times = times;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32) {
        threads t;
        int64_t mean[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t tile = (thread + lane) / w->tile_threads;
            t.tile[lane] = tile < b->tiles ? tile : -1;
            t.t[lane] = (thread + lane) % w->tile_threads;
            t.at[lane] = t.t[lane] * w->neighbours;
            if (w->s.shifted && w->neighbours > 1 && t.tile[lane] >= 0)
                t.at[lane] -= b->from[tile] % w->s.word / w->size;
        }
        if (w->s.walk) {
            bring_own(w, b, thread);
        } else {
            bring(w, b, &t);
            keep(w, b, &t);
        }
        if (w->s.exact && b->rows == w->tall) { /* one look, which is both */
            look(w, b, &t, false);
            lay_down(w, &t, thread, 8);
            columns(w, b, thread, true);
            w->sum->barriers += 2 * w->times;
            continue;
        }
        for (int second = 0; second < 2; second++) {
            for (int64_t v = 0; second && v < w->neighbours; v++) {
                for (int lane = 0; lane < 32; lane++)
                    mean[lane] = t.tile[lane] >= 0 && (!w->straight || w->s.run || w->s.walk || t.at[lane] % w->s.across < b->across)
                                     ? (t.tile[lane] * w->s.across + circle(w, t.at[lane] + v) % w->s.across) * 8
                                 : w->straight ? -1
                                               : 0;
                tess_gpu_count_shared(w->sum, w->times, mean, 8, false);
            }
            look(w, b, &t, second);
            lay_down(w, &t, thread, 8);
            if (w->p->omit && !second)
                lay_down(w, &t, thread, 4);
            columns(w, b, thread, second);
        }
        w->sum->barriers += 4 * w->times;
    }
}

/* Whether two blocks count alike. */
static bool alike(const block *a, const block *b) {
    if (a->tiles != b->tiles || a->rows != b->rows || a->across != b->across)
        return false;
    for (int64_t i = 0; i < a->tiles; i++)
        if ((a->from[i] - b->from[i]) % 128 != 0 || a->from[i] - a->from[0] != b->from[i] - b->from[0] || (a->to[i] - b->to[i]) % 32 != 0 ||
            a->to[i] - a->to[0] != b->to[i] - b->to[0])
            return false;
    return true;
}

/* The launch of a part. */
static void one_launch(const walk *all, const tess_reduce_gpu_moments_part *part) {
    enum { KINDS = 32 };
    walk w = *all;
    const int64_t tiles = w.p->outputs / w.width * part->leaves * part->s.strips, step = w.p->stride[0][0];
    w.s = part->s;
    w.first = part->first;
    w.here = part->leaves;
    w.tall = part->tall;
    w.lanes = tess_reduce_gpu_lanes(part->k);
    w.each = w.lanes / w.s.rows;
    w.neighbours = w.s.word / w.size;
    w.positions = w.s.rows * w.s.across;
    w.tile_threads = w.positions / w.neighbours;
    const int64_t held = tess_min64(w.each, 4) * w.neighbours, unrolled = held < 8 ? 8 / held : 1;
    w.straight = w.tall % w.s.rows == 0 && part->last == w.tall && w.tall / w.lanes <= unrolled + 1 && !(w.s.shifted && w.neighbours > 1);
    struct kinds {
        block of[KINDS];
        double times[KINDS];
    } list;
    int count = 0;
    for (int64_t first = 0; first < tiles; first += w.s.at_once) {
        block *b = &list.of[count];
        b->tiles = tess_min64(w.s.at_once, tiles - first);
        bool edge = false;
        for (int64_t i = 0; i < b->tiles; i++)
            tile_of(&w, first + i, b, i);
        const int64_t last = (b->rows - 1) * step;
        for (int64_t i = 0; w.s.shifted && i < b->tiles; i++)
            edge |= b->from[i] + tess_min64(last, 0) - w.low < 16 || w.high - b->from[i] - tess_max64(last, 0) - b->across * w.size < 16;
        int k = 0;
        while (k < count && !edge && !alike(b, &list.of[k]))
            k++;
        if (edge || (k == count && k == KINDS - 1)) {
            one_block(&w, 1, b);
        } else if (k == count) {
            list.times[count++] = 1;
        } else {
            list.times[k]++;
        }
    }
    for (int k = 0; k < count; k++)
        one_block(&w, list.times[k], &list.of[k]);
}

void tess_reduce_predict_moments(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    walk w = {.sum = out, .times = 1, .p = p, .size = p->in.itemsize, .leaves = tess_ceil_div(p->k, REDUCE_LEAF), .width = p->kept_size[p->kept - 1]};
    tess_reduce_gpu_walk nodes;
    tess_reduce_gpu_moments_part parts[2];
    const int count = tess_reduce_gpu_moments_parts(p, out->device, parts);
    if (p->outputs / w.width * w.leaves * parts->s.strips > 1 << 24) /* they are gone through one by one */
        return;
    tess_reduce_gpu_count_begin(&nodes, p, out);
    w.node = nodes.node;
    w.words = nodes.words;
    w.origin = w.low = w.high = TESS_REDUCE_GPU_ORIGIN + tess_reduce_gpu_below(p, 0);
    w.high += w.size;
    *(p->stride[0][0] < 0 ? &w.low : &w.high) += (p->k - 1) * p->stride[0][0];
    for (int d = 0; d < p->kept; d++)
        *(p->kept_stride[0][d] < 0 ? &w.low : &w.high) += (p->kept_size[d] - 1) * p->kept_stride[0][d];
    for (int i = 0; i < count; i++)
        one_launch(&w, &parts[i]);
    if (w.leaves > 1)
        tess_reduce_gpu_count_leaves(&nodes, p->outputs, w.leaves);
    tess_reduce_gpu_count_end(&nodes, p, true);
    if (parts->s.word > w.size)
        out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = -1;
}

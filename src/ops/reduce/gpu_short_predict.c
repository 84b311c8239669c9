/* SPDX-License-Identifier: Apache-2.0
 * gpu_short_predict.c - what reduce/tree_short will count: one stretch of rows for each place that stretches have within a line, and for each warp of a block, is walked,
 * request by request.
 *
 * Predicted for rows that all follow one another and arrays that begin at a line. Flops are left out: what the compiler makes of lanes without elements is its own. */
#include "ops/reduce/gpu_reduce.h"

typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const reduce_problem *p;
    tess_reduce_gpu_shape s;
} walk;

static int spot(const walk *w, int64_t byte) { return (int)(w->s.pad ? byte + byte / 128 * 16 : byte); }

/* A request for `size` bytes at each lane's byte of global memory, -1: none, in rising order. */
static void global(const walk *w, const int64_t *byte, int64_t size, bool store) {
    int64_t last = -1;
    int sectors = 0;
    for (int lane = 0; lane < 32; lane++)
        for (int64_t sector = byte[lane] / 32; byte[lane] >= 0 && sector <= (byte[lane] + size - 1) / 32; sector++)
            if (sector != last) {
                last = sector;
                sectors++;
            }
    *(store ? &w->sum->global_st_requests : &w->sum->global_ld_requests) += (sectors > 0) * w->times;
    *(store ? &w->sum->global_st_sectors : &w->sum->global_ld_sectors) += sectors * w->times;
}

static void shared(const walk *w, const int64_t *byte, int64_t size, bool store) {
    tess_gpu_shared_cost cost = {0, 0, 0};
    int32_t address[32];
    for (int lane = 0; lane < 32; lane++)
        address[lane] = byte[lane] < 0 ? -1 : spot(w, byte[lane]);
    tess_gpu_shared_request(&cost, address, (int)size, store);
    *(store ? &w->sum->shared_st_requests : &w->sum->shared_ld_requests) += cost.requests * w->times;
    *(store ? &w->sum->shared_st_wavefronts : &w->sum->shared_ld_wavefronts) += cost.wavefronts * w->times;
    *(store ? &w->sum->shared_st_conflicts : &w->sum->shared_ld_conflicts) += cost.conflicts * w->times;
}

/* Elements from byte `from` to `to`, of which those from `begin` to `end` are there, one by one. */
static void put(const walk *w, int64_t origin, int64_t from, int64_t to, int64_t begin, int64_t end) {
    const int64_t size = w->p->in.itemsize;
    for (; from < to; from += 32 * size) {
        int64_t load[32], store[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = from + lane * size;
            store[lane] = at < to ? at : -1;
            load[lane] = at < to && at >= begin && at < end ? origin + at : -1;
        }
        global(w, load, size, false);
        shared(w, store, size, true);
    }
}

/* A copy of 16 bytes of each lane past the first-level cache, both sides rising: a sector for each pair of a line of the source and a sector of the destination. */
static void copies(const walk *w, const int64_t *from, const int64_t *to) {
    int64_t line = -1, sector = -1;
    int sectors = 0;
    for (int lane = 0; lane < 32; lane++)
        if (from[lane] >= 0 && (from[lane] / 128 != line || to[lane] / 32 != sector)) {
            line = from[lane] / 128;
            sector = to[lane] / 32;
            sectors++;
        }
    w->sum->global_ld_requests += (sectors > 0) * w->times;
    w->sum->global_ld_sectors += sectors * w->times;
}

/* gpu_stage.cuh; the stretch's first element lies `before` bytes after `origin`, a multiple of 16, and comes to byte `tile` of shared memory. */
static void stage(const walk *w, int64_t tile, int64_t origin, int64_t before, int64_t all) {
    for (int u = 0; u <= w->s.tile / 512; u++) {
        int64_t from[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = (u * 32 + lane) * 16;
            from[lane] = at >= before && at + 16 <= all ? origin + at : -1;
            to[lane] = tile + spot(w, at);
        }
        copies(w, from, to);
    }
    const bool filled = w->s.packed || w->s.words || w->s.by_blocks || w->s.moments;
    if (before)
        put(w, origin, filled ? 0 : before, filled ? 16 : tess_min64(16, all), before, all);
    if (all % 16 && (all > 16 || !before))
        put(w, origin, all / 16 * 16, filled ? tess_ceil_div(all, 16) * 16 : all, 0, all);
}

/* Words of the rows from byte `begin` on, as gpu_tree_short.cu's PACKED takes them. */
static void packed_words(const walk *w, int64_t first, int64_t begin, int64_t here) {
    (void)first;
    const int64_t bytes = w->p->k * w->p->in.itemsize, turns = tess_ceil_div((bytes + 6) / 4, w->s.group);
    for (int64_t turn = 0; turn < turns; turn++) {
        int64_t load[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t row = lane / w->s.group, byte = begin + row * bytes, word = byte / 4 + lane % w->s.group + turn * w->s.group;
            load[lane] = row < here && word <= (byte + bytes - 1) / 4 ? 4 * word : -1;
        }
        shared(w, load, 4, false);
    }
}

/* Vectors of the rows from byte `begin` on, as gpu_group.cuh takes them; `first`: the stretch's first byte, of whose row threads without one of moments have the elements. */
static void vectors(const walk *w, int64_t first, int64_t begin, int64_t here) {
    const reduce_problem *p = w->p;
    const tess_reduce_gpu_shape *s = &w->s;
    for (int look = 0; look < (p->kind == REDUCE_VAR && !s->hold ? 2 : 1); look++)
        for (int64_t base = 0; base < p->k; base += REDUCE_LANES)
            for (int m = 0; m < s->each / s->vector; m++) {
                int64_t load[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t row = lane / s->group, number = base + (m * s->group + lane % s->group) * s->vector;
                    const int64_t at = row < here                                               ? begin + row * p->k * p->in.itemsize
                                       : p->kind == REDUCE_VAR || tess_reduce_gpu_rounds(p) > 1 ? first
                                                                                                : -1;
                    load[lane] = at >= 0 && number < p->k ? at + number * p->in.itemsize : -1;
                }
                shared(w, load, s->vector * p->in.itemsize, false);
            }
}

/* Words of the rows from byte `begin` on, as gpu_short_moments.cuh takes them; `first` as above. */
static void moment_words(const walk *w, int64_t first, int64_t begin, int64_t here) {
    const tess_reduce_gpu_shape *s = &w->s;
    const int64_t bytes = w->p->k * w->p->in.itemsize, all = tess_ceil_div(bytes, 4), mine = tess_ceil_div(all, s->group);
    const bool shifted = s->reads == 0, one = s->group == 1; /* a word is put together from two; a thread that has all of them loads each once */
    const int64_t width = one && s->reads > 4 ? s->reads : 4;
    for (int look = 0; look < (s->hold ? 1 : 2); look++)
        for (int64_t q = 0; q < mine + (shifted && one); q += width / 4)
            for (int part = 0; part < (shifted && !one ? 2 : 1); part++) {
                int64_t load[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t row = lane / s->group, byte = row < here ? begin + row * bytes : first, j = q * s->group + lane % s->group;
                    const int64_t at = shifted ? tess_min64(byte / 4 * 4 + 4 * (j + part), (byte + bytes - 1) / 4 * 4) : byte + 4 * j;
                    load[lane] = j < all || (shifted && one) ? at : -1;
                }
                shared(w, load, width, false);
            }
}

/* As many rows as fill words, from number `first` on, of those of the stretch: gpu_tree_words.cu's loads, and stores of words where all of a thread's rows are there and results lie side by side. */
static void some_rows(const walk *w, int64_t first, int64_t before, int64_t round, int64_t here) {
    const reduce_problem *p = w->p;
    const int64_t size = p->in.itemsize, each = 4 / size, last = (before + here * p->k * size - 1) / 4, step = p->kept_stride[1][0];
    int64_t at[32];
    for (int whole = 1; whole >= 0; whole--) /* threads that store words go first */
        for (int64_t i = 0; i <= p->k; i++) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t row = round + lane * each;
                const bool mine = row < here && (step == size && row + each <= here) == whole;
                at[lane] = mine ? 4 * tess_min64(before / 4 + (round / each + lane) * p->k + i, last) : -1;
            }
            shared(w, at, 4, false);
        }
    for (int64_t r = -1; r < each; r++) { /* words, then what is left */
        for (int lane = 0; lane < 32; lane++) {
            const int64_t row = round + lane * each;
            const bool whole = step == size && row + each <= here;
            at[lane] = r < 0 ? (whole ? (first + row) * step : -1) : !whole && row + r < here ? (first + row + r) * step : -1;
        }
        global(w, at, r < 0 ? 4 : size, true);
    }
}

/* A warp's stretch of `here` rows, the first of which is number `first`; tile: where in shared memory. */
static void one_stretch(const walk *w, int64_t tile, int64_t first, int64_t here) {
    const reduce_problem *p = w->p;
    const int64_t bytes = p->k * p->in.itemsize, from = first * bytes, before = from % 16, at_once = 32 / w->s.group;
    stage(w, tile, from - before, before, before + here * bytes);
    for (int64_t round = 0; w->s.words && round < here; round += 128 / p->in.itemsize)
        some_rows(w, first, before, round, here);
    if (w->s.words)
        return;
    for (int64_t round = 0; round < here; round += at_once) {
        int64_t store[32];
        if (!w->s.by_blocks)
            (w->s.packed ? packed_words : w->s.moments ? moment_words : vectors)(w, before, before + round * bytes, here - round);
        for (int lane = 0; lane < 32; lane++) {
            const int64_t row = round + lane / w->s.group;
            store[lane] = row < here && lane % w->s.group == 0 ? (first + row) * p->kept_stride[1][0] : -1;
        }
        global(w, store, p->out.itemsize, true);
    }
}

void tess_reduce_predict_short(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    walk w = {.sum = out, .p = p};
    if (p->kept != 1 || p->kept_stride[1][0] < 0 || (p->kind == REDUCE_ARG && p->k == 1)) /* the compiler knows the place of one element */
        return;
#define X(name) out->name = 0;
    TESS_GPU_PREDICTION_LIST(X)
#undef X
    out->flops = out->constant_requests = -1;
    tess_reduce_gpu_short_shape(p, &w.s);
    const int64_t stretch = tess_reduce_gpu_stretch(p, &w.s), whole = p->outputs / stretch, rest = p->outputs % stretch;
    const int64_t turn = 128 / tess_gcd(128, tess_gcd(stretch * p->k * p->in.itemsize, stretch * p->kept_stride[1][0]));
    const int64_t period = tess_max64(turn, w.s.warps), room = tess_reduce_gpu_room(&w.s); /* powers of two */
    for (int64_t i = 0; i < period && i < whole; i++) {
        w.times = (double)((whole - i + period - 1) / period);
        one_stretch(&w, i % w.s.warps * room, i * stretch, stretch);
    }
    w.times = 1;
    if (rest)
        one_stretch(&w, whole % w.s.warps * room, whole * stretch, rest);
    if (w.s.by_blocks) { /* where a place is looked for depends on the values */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
        out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = -1;
    }
}

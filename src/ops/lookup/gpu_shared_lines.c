/* SPDX-License-Identifier: Apache-2.0
 * gpu_shared_lines.c - the row lookup/shared_lines: many lines of a table by the same indices, each in shared memory; its launch, and what it counts. */
#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_shared_lines);

enum {
    THREADS = 512,
    STRETCH = 16 << 10 /* bytes of lines that go together */,
    STRETCH_LOOKED_UP = 48 << 10 /* where each has many more indices than entries */,
    MOST_LINES = 8,
    MOST_BYTES = (227 << 10) - 32,
    BLOCKS_THAT_FILL = 1024,
    LOOKUPS_OF_ENTRY = 4 /* in a block: lines that come to several blocks come often */,
    HALF = 112 << 10 /* bytes, of which a multiprocessor holds one block */
};

typedef struct shape {
    lookup_gpu_shape by;       /* groups and turns of a block's threads; served: lines of a block */
    int64_t line, room, turns; /* elements from line to line of the table, bytes of shared memory, turns of a block */
    int64_t parts;             /* blocks of the same lines */
} shape;

static bool looked_up_often(const lookup_problem *p) { return p->at.count >= LOOKUPS_OF_ENTRY * p->n; }

static shape shape_of(const lookup_problem *p) {
    const int64_t step = tess_lookup_stride(&p->outer, LOOKUP_FROM), bytes = p->n * p->size,
                  stretch = looked_up_often(p) ? STRETCH_LOOKED_UP : STRETCH;
    shape s = {
        .by = tess_lookup_gpu_beside(p, bytes > HALF ? 2 * THREADS : THREADS, looked_up_often(p) ? 16 : 16 / tess_max64(p->size, p->index.itemsize)),
        .line = step / p->size};
    while (s.by.threads > 128 && s.by.threads * s.by.v * s.by.groups > p->at.count)
        s.by.threads /= 2;
    const int64_t turns = tess_lookup_gpu_turns(p, &s.by), turn = tess_ceil_div(p->at.count, turns);
    s.turns = tess_min64(turns, tess_ceil_div(LOOKUPS_OF_ENTRY * p->n, turn));
    s.parts = tess_ceil_div(turns, s.turns);
    if (step >= bytes && step <= bytes + bytes / 4)
        s.by.served = tess_lookup_gpu_share(p, tess_min64(MOST_LINES, stretch / step), s.parts, BLOCKS_THAT_FILL);
    while (s.turns < turns && tess_ceil_div(p->outer.count, s.by.served) * tess_ceil_div(turns, 2 * s.turns) >= 2 * BLOCKS_THAT_FILL)
        s.turns *= 2;
    s.parts = tess_ceil_div(turns, s.turns);
    s.room = ((s.by.served - 1) * step * (s.by.served > 1) + bytes + 30) / 16 * 16;
    return s;
}

bool tess_lookup_gpu_shared_lines_fit(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    if (!tess_lookup_gpu_vectors_fit(base, why))
        return false;
    *why = "needs lines of a table, without gaps, of at most 227 KiB";
    return p->outer.ndim == 1 && p->step == p->size && p->n * p->size <= MOST_BYTES;
}

/* Through the cache a lookup takes a sector of its own from L2. Measured: f32[8192][16384] by 2048 indices 0.146 ms for 0.159, by 1024 0.141 for 0.107. */
bool tess_lookup_gpu_shared_lines_pay(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    const int64_t bytes = p->n * p->size;
    *why = "needs lines for every multiprocessor, of at least 2 KiB, and for each at least 512 indices and one for 32 bytes; or some lines of at "
           "most 48 KiB "
           "with four indices for each entry and 2^18 lookups in all";
    return (p->outer.count >= 256 && bytes >= 2 << 10 && p->at.count >= 512 && p->at.count * 32 >= bytes) ||
           (p->outer.count > 1 && bytes <= STRETCH_LOOKED_UP && p->at.count >= 512 && looked_up_often(p) && p->outer.count * p->at.count >= 1 << 18);
}

static bool has_room(const shape *s, const tess_gpu_device *device) { return !device || s->room <= device->shared_block_optin; }

static void lay_shared_lines(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    if (!has_room(&s, device)) {
        tess_lookup_gpu_lay_vectors(base, device, layout);
        return;
    }
    const int64_t lines[] = {p->n,        p->step,        p->at.count, s.parts, s.line, tess_lookup_stride(&p->outer, LOOKUP_OUT) / p->size,
                             s.by.served, p->outer.count, s.turns};
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, &gpu_shared_lines);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DV=%d", (int)s.by.v);
    tess_gpu_option(layout, "-DGROUPS=%d", (int)s.by.groups);
    tess_gpu_option(layout, "-DTHREADS=%d", s.by.threads);
    tess_gpu_option(layout, "-DBLOCKS=%d",
                    (int)tess_max64(1, tess_min64((s.by.v > 4 ? 1024 : 1536) / s.by.threads, (228 << 10) / (s.room + (1 << 10)))));
    tess_gpu_option(layout, "-DSKEW=%d", s.by.skew);
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, "shared_lines", tess_ceil_div(p->outer.count, s.by.served) * s.parts, 1, 1, s.by.threads, s.room);
    tess_lookup_gpu_pass_call(layout, step, p, lines, sizeof lines);
    layout->alignment = tess_lookup_gpu_alignment(p, &s.by);
}

void tess_lookup_gpu_count_copy(tess_gpu_prediction *sum, double times, int64_t at, int64_t bytes, int64_t size) {
    const int64_t skew = at % 16, begin = skew > 0, end = (skew + bytes) / 16;
    const int64_t before = skew > 0 ? tess_min64(16 - skew, bytes) : 0, behind = bytes - before - tess_max64(0, end - begin) * 16;
    int64_t load[32], store[32];
    for (int64_t first = begin; first < end; first += 32) {
        for (int64_t lane = 0; lane < 32; lane++) {
            store[lane] = first + lane < end ? (first + lane) * 16 : -1;
            load[lane] = store[lane] < 0 ? -1 : TESS_GPU_ORIGIN + at - skew + store[lane];
        }
        tess_gpu_count_copies(sum, times, load, store);
    }
    if (before + behind == 0)
        return;
    for (int64_t lane = 0; lane < 32; lane++) {
        const int64_t b = lane * size < before ? lane * size : lane * size - before + bytes - behind;
        store[lane] = lane * size < before + behind ? skew + b : -1;
        load[lane] = store[lane] < 0 ? -1 : TESS_GPU_ORIGIN + at + b;
    }
    tess_gpu_count_global(sum, times, load, size, false);
    tess_gpu_count_shared(sum, times, store, size, true);
}

/* What lookups cost in shared memory depends on the indices. */
void tess_lookup_gpu_predict_shared_lines(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    if (!has_room(&s, out->device))
        return;
    const int64_t v = s.by.v, held = s.by.served, groups = tess_ceil_div(p->outer.count, held), pieces = tess_ceil_div(v * p->index.itemsize, 16);
    const int64_t count = p->at.count, whole = count / v, rest = count % v, lines = p->outer.count, step = s.line * p->size;
    const int64_t out_step = tess_lookup_stride(&p->outer, LOOKUP_OUT);
    tess_gpu_count_from_zero(out);
    out->constant_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    for (int64_t first = 0; first < 128 && first < groups;
         first++) { /* where a block's lines begin in a line of 128 bytes comes again after so many */
        const int64_t at = (first * held * step % 128 + 128) % 128, last = groups - 1;
        const int64_t bytes = (held - 1) * step + p->n * p->size, fewer = (lines - last * held - 1) * step + p->n * p->size;
        tess_lookup_gpu_count_copy(out, (double)((last - first + 127) / 128 * s.parts), at, bytes, p->size);
        if (last % 128 == first)
            tess_lookup_gpu_count_copy(out, (double)s.parts, at, fewer, p->size);
    }
    out->barriers = (double)(groups * s.parts * s.by.threads / 32);
    if (s.by.skew) {
        out->global_ld_requests = out->global_ld_sectors = out->global_st_requests = out->global_st_sectors = out->shared_ld_requests = -1;
        return;
    }
    /* a block asks for the vectors of its turns and of the one behind them */
    const int64_t turn = s.by.groups * s.by.threads, turns = tess_lookup_gpu_turns(p, &s.by);
    for (int64_t t = 0; t < turns; t++) {
        const int64_t times = t > 0 && t % s.turns == 0 ? 2 : 1, here = tess_max64(0, tess_min64(turn, whole - t * turn));
        out->global_ld_requests += (double)(groups * times * tess_ceil_div(here, 32) * pieces);
        out->global_ld_sectors += (double)(groups * times * tess_ceil_div(here * v * p->index.itemsize, 32));
    }
    out->global_ld_requests += (double)(lines * rest);
    out->global_ld_sectors = pieces > 1 ? -1 : out->global_ld_sectors + (double)(lines * rest);
    out->global_st_requests = (double)(lines * (tess_ceil_div(whole, 32) + rest));
    out->global_st_sectors = tess_gpu_run_sectors(lines, 0, out_step, 32 * v * p->size) * (double)(whole / 32) +
                             tess_gpu_run_sectors(lines, 0, out_step, whole % 32 * v * p->size) + (double)(lines * rest);
    out->shared_ld_requests = (double)(lines * (whole * v / 32 + rest));
    if (whole % (s.by.groups * s.by.threads) != 0) /* whether threads behind the last whole vector look up is the compiler's choice */
        out->shared_ld_requests = -1;
}

const tess_gpu_row tess_lookup_gpu_shared_lines = {.headers = tess_lookup_gpu_headers,
                                                   .production = true,
                                                   .least_arch = 80,
                                                   .lay_out = lay_shared_lines,
                                                   .predict = tess_lookup_gpu_predict_shared_lines,
                                                   .finish = tess_lookup_gpu_finish};

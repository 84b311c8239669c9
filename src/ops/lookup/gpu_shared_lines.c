/* SPDX-License-Identifier: Apache-2.0
 * gpu_shared_lines.c - the row lookup/shared_lines: many lines of a table by the same indices, each in shared memory; its launch, and what it counts. */
#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_shared_lines);

enum {
    THREADS = 512,
    STRETCH = 16 << 10 /* bytes of lines that go together */,
    MOST_LINES = 8,
    MOST_BYTES = (227 << 10) - 32,
    BLOCKS_THAT_FILL = 1024,
    HALF = 112 << 10 /* bytes, of which a multiprocessor holds one block */
};

typedef struct shape {
    int64_t v, groups, threads, held; /* lookups a vector, vectors a thread and turn, threads, lines of a block */
    int64_t line, room, blocks;       /* elements from line to line of the table, bytes of shared memory, blocks */
} shape;

static int64_t outer_stride(const lookup_problem *p, int side) { return p->outer.ndim ? p->outer.stride[side][0] : 0; }

static shape shape_of(const lookup_problem *p) {
    const int64_t step = outer_stride(p, LOOKUP_FROM), bytes = p->n * p->size;
    shape s = {.v = tess_lookup_gpu_vector(p), .threads = bytes > HALF ? 2 * THREADS : THREADS, .held = 1, .line = step / p->size};
    s.groups = s.v >= 4 ? 1 : 2;
    while (s.threads > 128 && s.threads * s.v * s.groups > p->at.count)
        s.threads /= 2;
    if (step >= bytes && step <= bytes + bytes / 4)
        while (s.held < MOST_LINES && 2 * s.held * step <= STRETCH && p->outer.count >= 2 * s.held * BLOCKS_THAT_FILL)
            s.held *= 2;
    s.room = ((s.held - 1) * step * (s.held > 1) + bytes + 30) / 16 * 16;
    s.blocks = tess_ceil_div(p->outer.count, s.held);
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
    *why = "needs lines for every multiprocessor, of at least 2 KiB, and for each at least 512 indices and one for 32 bytes";
    return p->outer.count >= 256 && p->n * p->size >= 2 << 10 && p->at.count >= 512 && p->at.count * 32 >= p->n * p->size;
}

static bool has_room(const shape *s, const tess_gpu_device *device) { return !device || s->room <= device->shared_block_optin; }

static void lay_shared_lines(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    if (!has_room(&s, device)) {
        tess_lookup_gpu_lay_vectors(base, device, layout);
        return;
    }
    const int64_t turns = tess_ceil_div(p->at.count, s.v * s.groups * s.threads);
    const int64_t lines[] = {p->n, p->step, p->at.count, turns, s.line, outer_stride(p, LOOKUP_OUT) / p->size, p->outer.count};
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, &gpu_shared_lines);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_gpu_option(layout, "-DV=%d", (int)s.v);
    tess_gpu_option(layout, "-DGROUPS=%d", (int)s.groups);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)s.threads);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)tess_max64(1, tess_min64(1536 / s.threads, (228 << 10) / (s.room + (1 << 10)))));
    tess_gpu_option(layout, "-DHELD=%d", (int)s.held);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "shared_lines", s.blocks, 1, 1, s.threads, s.room);
    tess_lookup_gpu_pass_call(layout, step, p, lines, sizeof lines);
    layout->alignment = tess_max64(p->size, s.v * tess_max64(p->size, p->index.itemsize));
}

/* The lines of `times` blocks that begin at byte `at`, brought to shared memory. */
static void count_copy(tess_gpu_prediction *sum, double times, int64_t at, int64_t bytes, int64_t size) {
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
    const int64_t count = p->at.count, whole = count / s.v, rest = count % s.v, lines = p->outer.count, step = s.line * p->size;
    const int64_t out_step = outer_stride(p, LOOKUP_OUT);
    tess_gpu_count_from_zero(out);
    out->constant_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    for (int64_t first = 0; first < 128 && first < s.blocks;
         first++) { /* where a block's lines begin in a line of 128 bytes comes again after so many */
        const int64_t at = (first * s.held * step % 128 + 128) % 128, last = s.blocks - 1;
        const int64_t bytes = (s.held - 1) * step + p->n * p->size, fewer = (lines - last * s.held - 1) * step + p->n * p->size;
        count_copy(out, (double)((last - first + 127) / 128), at, bytes, p->size);
        if (last % 128 == first)
            count_copy(out, 1, at, fewer, p->size);
    }
    out->global_ld_requests += (double)(s.blocks * tess_ceil_div(whole, 32) + lines * rest);
    out->global_ld_sectors += (double)(s.blocks * tess_ceil_div(whole * s.v * p->index.itemsize, 32) + lines * rest);
    out->global_st_requests = (double)(lines * (tess_ceil_div(whole, 32) + rest));
    out->global_st_sectors = tess_gpu_run_sectors(lines, 0, out_step, 32 * s.v * p->size) * (double)(whole / 32) +
                             tess_gpu_run_sectors(lines, 0, out_step, whole % 32 * s.v * p->size) + (double)(lines * rest);
    out->shared_ld_requests = (double)(lines * (whole * s.v / 32 + rest));
    if (whole % (s.groups * s.threads) != 0) /* whether threads behind the last whole vector look up is the compiler's choice */
        out->shared_ld_requests = -1;
    out->barriers = (double)(s.blocks * s.threads / 32);
}

const tess_gpu_row tess_lookup_gpu_shared_lines = {.headers = tess_lookup_gpu_headers,
                                                   .production = true,
                                                   .least_arch = 80,
                                                   .lay_out = lay_shared_lines,
                                                   .predict = tess_lookup_gpu_predict_shared_lines,
                                                   .finish = tess_lookup_gpu_finish};

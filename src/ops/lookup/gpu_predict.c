/* SPDX-License-Identifier: Apache-2.0
 * gpu_predict.c - what the production rows of lookups will count, whatever the indices are, as long as they lie inside the table.
 *
 * Which sectors of the table a lookup wants depends on its index: of loads the requests alone are predicted, of loads from shared memory too. Predicted for arrays that begin at a
 * sector. Flops of interpolations are left out: what the compiler makes of them is its own. */
#include "ops/lookup/gpu_lookup.h"

static const lookup_problem *of(const tess_problem *problem) { return (const lookup_problem *)problem; }

/* Nothing but these rows' requests for global memory. */
static void begin(tess_gpu_prediction *out, const lookup_problem *p) {
    tess_gpu_count_from_zero(out);
    out->global_ld_sectors = out->constant_requests = -1;
    if (p->interpolation != TESS_INTERPOLATE_NONE)
        out->flops = -1;
}

/* ---- GROUPS items a thread, 256 apart: gpu_elements.cu, gpu_points.cu, gpu_slice_vectors.cu ---- */

/* Behind the last item it is moved again. reads: requests for an item's index and its entries; compact: items of `size` bytes follow each other in out. */
static void predict_items(tess_gpu_prediction *out, int64_t items, int64_t reads, int64_t size, bool compact) {
    enum { GROUPS = 4 };
    const int64_t warps = tess_ceil_div(items, 256 * GROUPS) * 256 * GROUPS / 32, whole = items / 32, rest = items % 32;
    out->global_ld_requests += (double)(warps * reads);
    out->global_st_requests += (double)warps;
    if (compact)
        out->global_st_sectors += (double)(whole * size + tess_ceil_div(rest * size, 32) + warps - whole - (rest > 0));
    else
        out->global_st_sectors = -1;
}

/* Whether the axes of out are its elements in a row, as they are numbered. */
static bool is_compact(const lookup_problem *p) {
    const lookup_axes *axes[] = {&p->inner, &p->at, &p->outer};
    int64_t step = p->size;
    for (int i = 0; i < 3; i++)
        for (int d = axes[i]->ndim - 1; d >= 0; step *= axes[i]->shape[d--])
            if (axes[i]->stride[LOOKUP_OUT][d] != step)
                return false;
    return true;
}

static int64_t items_of(const lookup_problem *p) { return p->outer.count * p->at.count * p->inner.count; }

void tess_lookup_gpu_predict_elements(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = of(base);
    const int64_t piece = tess_min64(p->table.itemsize, p->size), items = items_of(p) * (p->size / piece);
    if (items <= 1 || p->n == 0) /* one item: the compiler sees that a thread's four are the same */
        return;
    begin(out, p);
    predict_items(out, items, 2, piece, is_compact(p));
}

static int64_t entries_of_point(const lookup_problem *p) {
    return p->interpolation == TESS_INTERPOLATE_CUBIC ? 4 : p->interpolation == TESS_INTERPOLATE_LINEAR ? 2 : 1;
}

void tess_lookup_gpu_predict_points(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = of(base);
    if (items_of(p) == 0 || p->n == 0 || p->at.ndim == 0) /* one point: the compiler reads it once for all four items of a thread */
        return;
    begin(out, p);
    predict_items(out, items_of(p), 1 + entries_of_point(p), p->size, is_compact(p));
}

/* Among positions: a step for each bit of their number, then the two around the place, and their entries. */
void tess_lookup_gpu_predict_between(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = of(base);
    int64_t steps = 0;
    if (items_of(p) == 0 || p->at.ndim == 0)
        return;
    for (int64_t n = p->n; n > 0; n /= 2)
        steps++;
    begin(out, p);
    predict_items(out, items_of(p), 1 + steps + 4, p->size, is_compact(p));
}

void tess_lookup_gpu_predict_slice_vectors(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = of(base);
    const int64_t size = tess_lookup_gpu_slice_vector(p);
    begin(out, p);
    predict_items(out, items_of(p) * p->size / size, 2, size, true);
}

/* ---- lines of vectors: gpu_lines.cuh ---- */

/* Vectors of a line by warps, of which V entries each are read: also where none is whole, unless (`late`) the compiler asks that first. */
static int64_t warps_of_line(const lookup_problem *p, const lookup_gpu_shape *s, bool late) {
    const int64_t block = s->groups * s->threads;
    return late ? tess_ceil_div(p->at.count / s->v, 32) : tess_ceil_div(p->at.count, s->v * block) * block / 32;
}

/* reads: requests for an entry, to global memory. Of lines that begin between vectors, most is left out. */
static void predict_lines(tess_gpu_prediction *out, const lookup_problem *p, const lookup_gpu_shape *s, int64_t reads) {
    const int64_t v = s->v, count = p->at.count, rest = count % v, lines = p->outer.count, groups = tess_ceil_div(lines, s->served);
    const int64_t warps = warps_of_line(p, s, false), vectors = tess_ceil_div(count / v, 32), pieces = tess_ceil_div(v * p->index.itemsize, 16);
    const int64_t step = p->outer.ndim ? p->outer.stride[LOOKUP_OUT][0] : 0, each = 32 * v * p->size, last = count / v % 32 * v * p->size;
    if (s->skew) {
        out->global_ld_requests = out->global_st_requests = out->global_st_sectors = -1;
        return;
    }
    out->global_ld_requests += (double)(groups * vectors * pieces + lines * (warps * v * reads + rest * (1 + reads)));
    out->global_st_requests += (double)(lines * (vectors + rest));
    out->global_st_sectors +=
        tess_gpu_run_sectors(lines, 0, step, each) * (double)(count / v / 32) + tess_gpu_run_sectors(lines, 0, step, last) + (double)(lines * rest);
}

void tess_lookup_gpu_predict_vectors(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = of(base);
    const lookup_gpu_shape s = tess_lookup_gpu_vectors_shape(p);
    begin(out, p);
    predict_lines(out, p, &s, 1);
}

/* A first launch makes the records. Whether threads behind a line's last whole vector read records is the compiler's choice, by types, method and policy: where there are
 * such, requests of loads are left out. */
void tess_lookup_gpu_predict_prepared(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = of(base);
    const lookup_gpu_shape s = tess_lookup_gpu_prepared_shape(p);
    const int64_t size = tess_lookup_gpu_record_size(p), records = p->n * p->outer.count, parts = tess_ceil_div(size, 16);
    begin(out, p);
    predict_lines(out, p, &s, parts);
    out->global_ld_requests += (double)(tess_ceil_div(records, 32) * entries_of_point(p));
    if (warps_of_line(p, &s, true) != warps_of_line(p, &s, false))
        out->global_ld_requests = -1;
    if (s.skew) {
        out->global_ld_requests = -1;
        return;
    }
    out->global_st_requests += (double)(tess_ceil_div(records, 32) * parts);
    out->global_st_sectors += parts == 1 ? (double)tess_ceil_div(records * size, 32) : (double)(records * parts);
}

/* A first launch makes records and buckets; how many lookups go on from their first record depends on the coordinates: requests of loads are left out. */
void tess_lookup_gpu_predict_search(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = of(base);
    const lookup_gpu_shape s = tess_lookup_gpu_search_shape(p);
    begin(out, p);
    predict_lines(out, p, &s, 0);
    const int64_t records = p->n * p->outer.count, buckets = tess_lookup_gpu_search_buckets(p);
    out->global_st_requests += (double)(2 * tess_ceil_div(records, 32) + tess_ceil_div(buckets, 32));
    out->global_st_sectors += (double)(2 * records + tess_ceil_div(buckets * 4, 32));
    out->global_ld_requests = -1;
}

/* ---- with shared memory ---- */

/* What loads of entries from shared memory cost depends on the indices. */
static void shared_loads(tess_gpu_prediction *out, double requests) {
    out->shared_ld_requests = requests;
    out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
}

void tess_lookup_gpu_predict_shared_bytes(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = of(base);
    const lookup_gpu_shape s = tess_lookup_gpu_alone(p, 1, LOOKUP_GPU_LINE_THREADS);
    const int64_t v = tess_lookup_gpu_vector(p), blocks = tess_ceil_div(p->at.count, v * s.threads), rest = p->at.count % v;
    begin(out, p);
    predict_lines(out, p, &s, 0);
    out->global_ld_sectors = (double)(tess_ceil_div(p->at.count / v * v, 32) + rest);
    for (int first = 0; first < 256; first += 32) {
        int64_t load[32], store[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t value = p->index.type == tess_i8 ? (int8_t)(first + lane) : first + lane;
            int64_t at = value;
            if (p->outside == TESS_OUTSIDE_CLIP)
                at = tess_max64(0, tess_min64(value, p->n - 1));
            if (p->outside == TESS_OUTSIDE_WRAP)
                at = (value % p->n + p->n) % p->n;
            const bool inside = at >= 0 && at < p->n;
            load[lane] = inside ? ((int64_t)1 << 40) + at * p->step : -1;
            store[lane] = first + lane;
        }
        tess_gpu_count_global(out, (double)blocks, load, 1, false);
        tess_gpu_count_shared(out, (double)blocks, store, 1, true);
    }
    shared_loads(out, (double)(warps_of_line(p, &s, !tess_lookup_gpu_checks_bytes(p)) * v + rest));
    out->barriers = (double)(blocks * s.threads / 32);
}

/* Where all of the table is in shared memory, no lookup goes anywhere else. */
void tess_lookup_gpu_predict_resident(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = of(base);
    const lookup_gpu_resident r = tess_lookup_gpu_resident_of(p, out->device);
    const int64_t v = tess_lookup_gpu_vector(p), count = p->at.count, rest = count % v, vectors = tess_ceil_div(count / v, 32),
                  copies = r.held * p->size / 16;
    begin(out, p);
    out->global_ld_requests = (double)(vectors + r.blocks * tess_ceil_div(copies, 32) + (rest > 0));
    out->global_ld_sectors = (double)(tess_ceil_div(count / v * v * p->index.itemsize, 32) + r.blocks * tess_ceil_div(copies, 2) + (rest > 0));
    out->global_st_requests = (double)(vectors + (rest > 0));
    out->global_st_sectors = (double)(tess_ceil_div(count / v * v * p->size, 32) + (rest > 0));
    out->barriers = (double)(r.blocks * r.threads / 32);
    for (int64_t first = 0; first < copies; first += 32) {
        int64_t store[32];
        for (int lane = 0; lane < 32; lane++)
            store[lane] = first + lane < copies ? (first + lane) * 16 : -1;
        tess_gpu_count_shared(out, (double)r.blocks, store, 16, true);
    }
    shared_loads(out, (double)(vectors * v + (rest > 0)));
    if (r.held < p->n)
        out->global_ld_requests = out->global_ld_sectors = out->shared_ld_requests = -1;
}

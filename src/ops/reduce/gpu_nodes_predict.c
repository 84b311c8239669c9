/* SPDX-License-Identifier: Apache-2.0
 * gpu_nodes_predict.c - what the formulas of the tree's rows share: where outputs begin, neighbours, and how a launch's nodes are paired in the end (gpu_finish.cuh).
 *
 * Nodes of 16 and 24 bytes are copied as words of 8, those that hold a complex double as words of 16. */
#include <stdlib.h>

#include "ops/reduce/gpu_reduce.h"

int64_t tess_reduce_gpu_place(const int64_t *size, const int64_t *stride, int axes, int64_t number) {
    int64_t at = 0;
    for (int d = axes - 1; d > 0; d--) {
        at += number % size[d] * stride[d];
        number /= size[d];
    }
    return axes > 0 ? at + number * stride[0] : 0;
}

int64_t tess_reduce_gpu_below(const reduce_problem *p, int of) {
    int64_t bytes = 0;
    for (int d = 0; d < p->kept; d++)
        bytes += tess_max64(0, -p->kept_stride[of][d]) * (p->kept_size[d] - 1);
    for (int d = 0; d < p->rank && of == 0; d++)
        bytes += tess_max64(0, -p->stride[0][d]) * (p->size[d] - 1);
    return bytes;
}

void tess_reduce_gpu_spread(double *times, const int64_t *size, const int64_t *stride, int axes) {
    for (int d = 0; d < axes; d++) {
        double next[32] = {0};
        for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, size[d], 0, 0, 32 / tess_gcd(32, llabs(stride[d])));)
            for (int i = 0; i < 32; i++)
                next[(i + n.at * stride[d]) & 31] += times[i] * n.times;
        for (int i = 0; i < 32; i++)
            times[i] = next[i];
    }
}

void tess_reduce_gpu_places(const reduce_problem *p, int of, int axes, double *times) {
    const int64_t first = tess_reduce_gpu_below(p, of) % 32;
    for (int i = 0; i < 32; i++)
        times[i] = i == first;
    tess_reduce_gpu_spread(times, p->kept_size, p->kept_stride[of], axes);
}

void tess_reduce_gpu_count_neighbours(const tess_reduce_gpu_walk *w, int64_t at, int64_t count, int64_t size) {
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, tess_ceil_div(count, 32), 1, 1, 1);) {
        int64_t load[32];
        for (int lane = 0; lane < 32; lane++)
            load[lane] = n.at * 32 + lane < count ? at + (n.at * 32 + lane) * size : -1;
        tess_gpu_count_global(w->sum, w->times * n.times, load, size, false);
    }
}

void tess_reduce_gpu_count_singles_shared(const tess_reduce_gpu_walk *w, double loads, double stores) {
    w->sum->shared_ld_requests += w->times * loads;
    w->sum->shared_ld_wavefronts += w->times * loads;
    w->sum->shared_st_requests += w->times * stores;
    w->sum->shared_st_wavefronts += w->times * stores;
}
void tess_reduce_gpu_count_singles_stored(const tess_reduce_gpu_walk *w, double stores) {
    w->sum->global_st_requests += w->times * stores;
    w->sum->global_st_sectors += w->times * stores;
}

void tess_reduce_gpu_count_nodes(const tess_reduce_gpu_walk *w, int threads, int64_t count, int64_t each) {
    for (int64_t thread = 0; thread < threads; thread += 32)
        for (int64_t i = 0; i < each; i++) {
            int64_t load[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t n = (thread + lane) * each + i;
                load[lane] = n < count ? TESS_REDUCE_GPU_ORIGIN + n * w->node : -1;
            }
            tess_gpu_count_global(w->sum, w->times * (double)w->words, load, w->node / w->words, false);
        }
}

void tess_reduce_gpu_count_paired(const tess_reduce_gpu_walk *w, int threads, int64_t count) {
    int64_t each = 8, at[32];
    while (each * threads < count)
        each *= 2;
    tess_reduce_gpu_count_nodes(w, threads, count, each);
    if (threads == 32 || tess_ceil_div(count, each) <= 32)
        return;
    for (int64_t word = 0; word < w->words; word++) {
        for (int lane = 0; lane < 32; lane++)
            at[lane] = lane < threads / 32 ? lane * w->node + word * (w->node / w->words) : -1;
        tess_gpu_count_shared(w->sum, w->times, at, w->node / w->words, false);
    }
    tess_reduce_gpu_count_singles_shared(w, 0, (double)(threads / 32 * w->words));
    w->sum->barriers += w->times * threads / 32;
}

void tess_reduce_gpu_count_finish(const tess_reduce_gpu_walk *w, int64_t count) {
    if (count <= 256)
        tess_reduce_gpu_count_nodes(w, 32, count, 8);
    else
        tess_reduce_gpu_count_paired(w, 256, count);
    tess_reduce_gpu_count_singles_stored(w, 1);
}

void tess_reduce_gpu_count_leaves(tess_reduce_gpu_walk *w, int64_t outputs, int64_t leaves) {
    int64_t left = leaves;
    if (leaves > TESS_REDUCE_GPU_PAIRED) {
        for (tess_gpu_kind group = {0}; tess_gpu_next_kind(&group, tess_ceil_div(leaves, 256), 0, 1, 1);) {
            w->times = (double)outputs * group.times;
            tess_reduce_gpu_count_nodes(w, 32, tess_min64(256, leaves - group.at * 256), 8);
            tess_reduce_gpu_count_singles_stored(w, (double)w->words);
        }
        left = tess_ceil_div(leaves, 256);
    }
    w->times = (double)outputs;
    tess_reduce_gpu_count_finish(w, left);
}

void tess_reduce_gpu_count_begin(tess_reduce_gpu_walk *w, const reduce_problem *p, tess_gpu_prediction *out) {
    *w = (tess_reduce_gpu_walk){.sum = out, .times = 1, .size = p->in.itemsize, .node = tess_reduce_gpu_node_size(p)};
    const bool pair = tess_is_complex(p->in.type) && p->acc == tess_c128 && (p->kind == REDUCE_SUM || p->kind == REDUCE_PROD);
    w->words = tess_ceil_div(w->node, pair ? 16 : 8);
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
}

void tess_reduce_gpu_count_end(const tess_reduce_gpu_walk *w, const reduce_problem *p, bool shared) {
    tess_gpu_prediction *out = w->sum;
    out->flops = tess_reduce_gpu_predict_flops(p);
    if (shared)
        return;
    out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = -1;
}

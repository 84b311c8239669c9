/* SPDX-License-Identifier: Apache-2.0
 * leaf_abreast.c - sums over a slow and the last axis at once, outputs between them: the leaves of neighbouring outputs grow abreast, in the order of memory.
 *
 *     memory      | run of a | run of b | run of c | ..      outputs a, b, c, ..
 *                 | next of a| next of b| next of c| ..
 *
 * One output after the other reads a run here and the next one far from it, and memory rests between them. Here a run of each output of a block is added to that one's 256
 * lanes, which L1 holds for all of them, so that what is read is as long as the block is wide. A run goes on at the lane where the one before it ended, around the lanes as
 * often as it is long; leaves of all outputs end with the same element. */
#include <stdlib.h>
#include <string.h>

#include "core/maker.h"
#include "core/parallel.h"
#include "ops/reduce/leaves.h"
#include "ops/reduce/walk.h"
#include "simd/simd.h"

/* Runs longer than LONGEST a processor follows by itself. Of a block PIECE bytes follow one another, if FEWEST to MOST outputs have as many. Lanes in L1 and pieces of 10 KiB:
 * f32 runs of 50, 100, 400 elements 24, 21, 30 GB/s, where twice the outputs have 24, 15, 30 and half of them 18, 20, 30 (Zen 5). */
enum { LINE = 64, LONGEST = 32 << 10, PIECE = 10 << 10, FEWEST = 16, MOST = 64 };
enum { LEAST = 4 /* outputs of a thread */, FAR = 8 << 20 /* bytes of an array of which the runs to come are asked for */ };

typedef struct abreast_job {
    const leaves_job *leaves;
    const reduce_beside_kernels *kernels;
    int64_t width, at_once, blocks; /* outputs along the last kept axis, in a block, and blocks of them */
} abreast_job;

/* The outputs of a block; number: of elements that were taken of each. */
typedef struct block {
    const abreast_job *job;
    char *lanes;
    tess_value *nodes; /* `depth` rows of one for each output */
    int64_t outputs, step, number, depth;
} block;

static int64_t set_bytes(const reduce_problem *p) { return REDUCE_SET_LANES * p->in.itemsize; }

static int64_t outputs_at_once(const reduce_problem *p, int threads) {
    const int64_t width = p->kept_size[p->kept - 1], rows = p->outputs / width;
    int64_t most = tess_max64(FEWEST, tess_min64(MOST, PIECE / (p->size[p->rank - 1] * p->in.itemsize)));
    while (threads > 1 && most > LEAST && rows * tess_ceil_div(width, most) < 2 * threads)
        most /= 2;
    return tess_ceil_div(width, tess_ceil_div(width, most));
}

/* Rows of nodes: one for each bit of the number of leaves, and one that comes. */
static int64_t most_depth(const reduce_problem *p) {
    int64_t depth = 1;
    for (int64_t leaves = tess_ceil_div(p->k, REDUCE_LEAF); leaves > 0; leaves /= 2)
        depth++;
    return depth;
}

int64_t tess_reduce_abreast_size(const reduce_problem *p, int threads) {
    const int last = p->rank - 1;
    const int64_t size = p->in.itemsize;
    if (!reduce_sums_as_they_lie(p) || last < 1 || p->kept == 0 || p->k == 0 || p->outputs < LEAST * (int64_t)threads ||
        p->kept_size[p->kept - 1] < LEAST)
        return 0;
    if (p->stride[0][last] != size || p->size[last] * size < LINE || p->size[last] * size > LONGEST)
        return 0;
    if (llabs(p->kept_stride[0][p->kept - 1]) >= llabs(p->stride[0][last - 1]))
        return 0;
    const int64_t bytes = outputs_at_once(p, threads) * (set_bytes(p) + most_depth(p) * (int64_t)sizeof(tess_value));
    return (bytes + LINE - 1) / LINE * LINE;
}

/* n elements of each output, the first one's at `run`, within a leaf; ahead: bytes to what is asked for meanwhile, or 0. */
static void add(const block *b, const char *run, int64_t n, int64_t ahead) {
    const leaves_job *leaves = b->job->leaves;
    const reduce_problem *p = leaves->p;
    void (*around)(void *, const char *, int64_t, int64_t, int64_t, int64_t, int64_t) = b->job->kernels->around[p->acc];
    const int64_t size = p->in.itemsize, lane = b->number % REDUCE_LANES, furthest = tess_max64(0, (b->outputs - 1) * b->step);
    const bool reads_on = leaves->end - (run + furthest) >= n * size + LINE;
    const int64_t most = reads_on ? n : tess_max64(0, n - LINE / size);
    around(b->lanes, run, b->step, b->outputs, lane, most, ahead);
    for (int64_t j = 0; !reads_on && j < b->outputs; j++) { /* nothing is read behind the last element of all */
        char spare[2 * LINE] = {0};
        memcpy(spare, run + j * b->step + most * size, (size_t)((n - most) * size));
        around(b->lanes + j * set_bytes(p), spare, 0, 1, (lane + most) % REDUCE_LANES, n - most, 0);
    }
}

/* The outputs' leaf number `leaf` becomes a node of each. */
static void end_leaf(block *b, int64_t leaf) {
    const leaves_job *leaves = b->job->leaves;
    const tess_type acc = leaves->p->acc;
    const int merges = reduce_merges_after(leaf);
    tess_value *nodes = b->nodes + b->depth * b->outputs;
    for (int64_t j = 0; j < b->outputs; j++) {
        char *lanes = b->lanes + j * set_bytes(leaves->p);
        tess_value value = {0};
        leaves->kernels->lane->halve_add[acc](lanes, REDUCE_LANES);
        memcpy(&value, lanes, tess_type_size(acc));
        for (int i = 1; i <= merges; i++)
            value = tess_reduce_value_add(acc, nodes[j - i * b->outputs], value);
        nodes[j - merges * b->outputs] = value;
    }
    b->depth += 1 - merges;
}

static void finish(const block *b, char *out, int64_t out_step) {
    const leaves_job *leaves = b->job->leaves;
    const reduce_problem *p = leaves->p;
    for (int64_t j = 0; j < b->outputs; j++) {
        reduce_node node;
        tess_reduce_node_empty(p, &node);
        node.count = p->k;
        node.value = b->nodes[(b->depth - 1) * b->outputs + j];
        for (int64_t level = b->depth - 2; level >= 0; level--)
            node.value = tess_reduce_value_add(p->acc, b->nodes[level * b->outputs + j], node.value);
        const tess_value value = tess_reduce_node_finish(p, &node);
        leaves->storer(out + j * out_step, out_step, &value, 1);
    }
}

/* following: where the next block begins, or NULL. */
static void fold(block *b, const char *base, const char *following) {
    const reduce_problem *p = b->job->leaves->p;
    const int64_t size = p->in.itemsize;
    const bool asks = p->base.bytes >= FAR;
    const char *run, *next = following;
    int64_t m, next_m = 0;
    reduce_walk walk;
    b->number = b->depth = 0;
    reduce_walk_start(&walk, p, base, 0, p->k);
    for (bool more = reduce_walk_next(&walk, &run, &m); more; run = next, m = next_m) {
        more = reduce_walk_next(&walk, &next, &next_m);
        next = more ? next : following;
        for (int64_t done = 0, n; done < m; done += n) {
            n = tess_min64(m - done, REDUCE_LEAF - b->number % REDUCE_LEAF);
            if (b->number % REDUCE_LEAF == 0)
                memset(b->lanes, 0, (size_t)(b->outputs * set_bytes(p)));
            add(b, run + done * size, n, asks && next ? next - run : 0);
            b->number += n;
            if (b->number % REDUCE_LEAF == 0 || b->number == p->k)
                end_leaf(b, (b->number - 1) / REDUCE_LEAF);
        }
    }
}

static void place(const abreast_job *job, int64_t at, int64_t *in, int64_t *out) {
    reduce_task_place(job->leaves->p, at / job->blocks * job->width + at % job->blocks * job->at_once, in, out);
}

static void blocks(void *argument, int64_t begin, int64_t end, int number) {
    const abreast_job *job = argument;
    const reduce_problem *p = job->leaves->p;
    const int last = p->kept - 1;
    const int threads = job->leaves->run->threads;
    block b = {.job = job, .step = p->kept_stride[0][last]};
    b.lanes = (char *)job->leaves->run->workspace + number * tess_reduce_abreast_size(p, threads);
    b.nodes = (tess_value *)(void *)(b.lanes + job->at_once * set_bytes(p));
    int64_t in_offset, out_offset, in_next = 0, out_next = 0;
    place(job, begin, &in_offset, &out_offset);
    for (int64_t at = begin; at < end; at++, in_offset = in_next, out_offset = out_next) {
        const char *in = job->leaves->run->in;
        if (at + 1 < end)
            place(job, at + 1, &in_next, &out_next);
        b.outputs = tess_min64(job->at_once, job->width - at % job->blocks * job->at_once);
        fold(&b, in + in_offset, at + 1 < end ? in + in_next : NULL);
        finish(&b, job->leaves->run->out + out_offset, p->kept_stride[1][last]);
    }
}

/* From memory a Zen 5 reads by vectors of half a line a seventh quicker, in L3 as much slower. */
static const reduce_kernels *reading_kernels(const leaves_job *job) {
    enum { PAST = 32 << 20 }; /* bytes: its L3 */
    const bool halves = job->run->slot == TESS_SLOT_AVX512 && tess_cpu_is_zen5() && job->p->base.bytes > PAST;
    return halves ? tess_reduce_kernels_for(TESS_SLOT_AVX2) : job->kernels;
}

tess_status tess_reduce_abreast(const leaves_job *job) {
    const reduce_problem *p = job->p;
    abreast_job own = {.leaves = job, .width = p->kept_size[p->kept - 1], .at_once = outputs_at_once(p, job->run->threads)};
    own.kernels = reading_kernels(job)->beside;
    own.blocks = tess_ceil_div(own.width, own.at_once);
    return tess_parallel(job->run->context, job->run->threads, p->outputs / own.width * own.blocks, 1, blocks, &own);
}

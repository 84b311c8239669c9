/* SPDX-License-Identifier: Apache-2.0
 * slab.c - a part of a reduction, between compact arrays. Three ways to cut:
 *
 * Along a kept axis: outputs from .. to - 1. The reduced axes keep their order, and with it the tree its bits.
 *
 * Along the axis of segments, where there is no such kept axis: whole segments, as many as fit, of all outputs. The tree of a segment depends on its own
 * length alone.
 *
 * Along the reduced axes, where there is no kept axis or one output is too large: leaves from .. to - 1 of the outputs' trees, output after output. A
 * leaf is a function of its 8192 elements alone, so each part is a small problem whose outputs are leaves; they come back as records, and here they are
 * paired as the tree pairs them, whatever the parts were. Variances, places and counts go the same way, because their leaves merge by the same tree. The
 * last leaf of an output, which may be shorter, is a part of its own. Exact sums have no tree: their records are long accumulators, which merge in any
 * order. */
#include "ops/reduce/offsets.h"
#include "ops/reduce/superaccumulator.h"

#include <math.h>
#include <string.h>

enum { BY_OUTPUT, BY_LEAF, BY_SEGMENT };

static int64_t leaves_of(const reduce_problem *p) { return tess_ceil_div(p->k, REDUCE_LEAF); }

static int64_t record_bytes(const reduce_problem *p) {
    return p->exact ? (p->acc == tess_c128 ? 2 : 1) * REDUCE_EXACT_WORDS * 8 : (int64_t)sizeof(reduce_record);
}

static void cut_leaves(const reduce_problem *p, tess_cut *cut) {
    if (TESS_MUL_OVERFLOWS(p->outputs, leaves_of(p), &cut->rows)) {
        cut->rows = 0;
        return;
    }
    cut->way = BY_LEAF;
    cut->row = (double)(tess_min64(p->k, REDUCE_LEAF) * p->in.itemsize + record_bytes(p));
}

/* Bytes that segments of so many elements in all take, in and out. */
static double segment_bytes(const reduce_problem *p, int64_t segments, int64_t elements) {
    return (double)p->outputs * ((double)tess_max64(elements, 1) * (double)p->in.itemsize + (double)segments * (double)p->out.itemsize);
}

/* Segments have lengths of their own: a part has room for the mean of each of its segments, or for the longest. least: bytes of a part otherwise. */
static void cut_segments(const reduce_problem *p, double least, tess_cut *cut) {
    const double longest = segment_bytes(p, 1, p->longest);
    if (p->rank != 1 || p->segments < 2 || longest > least)
        return;
    cut->way = BY_SEGMENT;
    cut->rows = p->segments;
    cut->row = segment_bytes(p, p->segments, p->offsets[p->segments] - p->offsets[0]) / (double)p->segments;
    cut->fixed = longest > cut->row ? longest - cut->row : 0;
}

void tess_reduce_cut(const tess_problem *base, int64_t most, tess_cut *cut) {
    const reduce_problem *p = (const reduce_problem *)base;
    double row[TESS_MAX_NDIM], fixed[TESS_MAX_NDIM] = {0};
    if (p->kept + p->rank > TESS_MAX_NDIM || p->in.count == 0)
        return;
    for (int d = 0; d < p->kept; d++)
        row[d] = p->kept_size[d] < 2 ? INFINITY : base->bytes / (double)p->kept_size[d];
    cut->axis = p->kept > 0 ? tess_cut_axis(p->kept, p->kept_stride[0], row, fixed, most) : -1;
    const double least = cut->axis < 0 ? INFINITY : row[cut->axis];
    if (least > (double)most / 2 && p->offsets)
        cut_segments(p, least, cut);
    else if (least > (double)most / 2)
        cut_leaves(p, cut);
    if (cut->rows > 0 || cut->axis < 0)
        return;
    cut->way = BY_OUTPUT;
    cut->rows = p->kept_size[cut->axis];
    cut->row = row[cut->axis];
}

/* The input: all axes, kept and reduced, in an order good to walk. */
static void lay_in(reduce_problem *part, tess_array *host) {
    int64_t *strides[2 * TESS_MAX_NDIM], given[2 * TESS_MAX_NDIM] = {0}, sizes[2 * TESS_MAX_NDIM], step = part->in.itemsize;
    int order[2 * TESS_MAX_NDIM], n = 0;
    for (int d = 0; d < part->kept; d++, n++) {
        strides[n] = &part->kept_stride[0][d];
        sizes[n] = part->kept_size[d];
    }
    for (int d = 0; d < part->rank; d++, n++) {
        strides[n] = &part->stride[0][d];
        sizes[n] = part->size[d];
    }
    for (int i = 0; i < n; i++)
        given[i] = *strides[i];
    tess_array_walk_order(order, n, given);
    host->ndim = n;
    host->count = 1;
    for (int k = n - 1; k >= 0; k--) {
        host->shape[k] = sizes[order[k]];
        host->stride[k] = given[order[k]];
        host->count *= sizes[order[k]];
        *strides[order[k]] = step;
        step *= sizes[order[k]];
    }
    part->in = *host;
    for (int k = 0; k < n; k++)
        part->in.stride[k] = *strides[order[k]];
}

/* The output: the kept axes and, among them by its step, the one of segments. */
static void lay_out(reduce_problem *part, tess_array *host) {
    int64_t *strides[TESS_MAX_NDIM + 1], step = part->out.itemsize;
    int n = 0;
    for (int d = 0; d <= part->kept; d++) {
        if (part->offsets && n == d && (d == part->kept || part->kept_stride[1][d] < part->segment_stride)) {
            strides[n] = &part->segment_stride;
            host->shape[n++] = part->segments;
        }
        if (d < part->kept) {
            strides[n] = &part->kept_stride[1][d];
            host->shape[n++] = part->kept_size[d];
        }
    }
    host->ndim = n;
    host->count = part->outputs * part->segments;
    for (int d = n - 1; d >= 0; d--) {
        host->stride[d] = *strides[d];
        *strides[d] = step;
        step *= host->shape[d];
    }
    part->out = *host;
    for (int d = 0; d < n; d++)
        part->out.stride[d] = *strides[d];
}

static void outputs_slab(const tess_problem *base, const tess_cut *cut, int64_t from, int64_t to, tess_slab *slab, reduce_problem *part) {
    const reduce_problem *p = (const reduce_problem *)base;
    int axis = cut->axis;
    part->base.elements *= (double)(to - from) / (double)p->kept_size[axis];
    part->base.bytes *= (double)(to - from) / (double)p->kept_size[axis];
    part->kept_size[axis] = to - from;
    part->outputs = p->outputs / p->kept_size[axis] * (to - from);
    slab->host[TESS_ARRAY_IN] = p->in;
    slab->host[TESS_ARRAY_OUT] = p->out;
    slab->offset[TESS_ARRAY_IN] = from * p->kept_stride[0][axis];
    slab->offset[TESS_ARRAY_OUT] = from * p->kept_stride[1][axis];
    lay_in(part, &slab->host[TESS_ARRAY_IN]);
    lay_out(part, &slab->host[TESS_ARRAY_OUT]);
}

/* The first element of segments from segment number `from` on; those without elements get one that nobody takes. */
static int64_t segments_begin(const reduce_problem *p, int64_t from) { return tess_min64(p->offsets[from], p->k - 1); }

/* Where the part of segments from .. to - 1 ends: as many as its room allows. */
static int64_t segments_end(const reduce_problem *p, const tess_cut *cut, int64_t from, int64_t to) {
    const double room = (double)(to - from) * cut->row + cut->fixed;
    int64_t end = from + 1;
    while (end < to && segment_bytes(p, end + 1 - from, p->offsets[end + 1] - segments_begin(p, from)) <= room)
        end++;
    return end;
}

/* A part's own copy of the offsets of its segments. */
static tess_status copy_offsets(reduce_problem *part, const reduce_problem *p, int64_t first, int64_t segments) {
    const size_t size = (size_t)(segments + 1) * sizeof *p->offsets;
    part->segments = segments;
    part->offsets = tess_reduce_offsets_make(p->base.context, segments);
    if (!part->offsets)
        return TESS_ERR_MEMORY;
    memcpy(part->offsets, p->offsets + first, size);
    return TESS_OK;
}

static void segments_slab(const reduce_problem *p, int64_t from, tess_slab *slab, reduce_problem *part) {
    const int64_t begin = segments_begin(p, from);
    slab->kind[0] = from + 1; /* with offsets of its own */
    part->longest = 0;
    for (int64_t i = 0; i <= part->segments; i++) {
        part->offsets[i] -= begin;
        part->longest = i > 0 ? tess_max64(part->longest, part->offsets[i] - part->offsets[i - 1]) : 0;
    }
    part->size[0] = part->k = tess_max64(part->offsets[part->segments], 1);
    part->base.elements *= (double)part->k / (double)p->k;
    part->base.bytes = segment_bytes(p, part->segments, part->k);
    slab->host[TESS_ARRAY_IN] = p->in;
    slab->host[TESS_ARRAY_OUT] = p->out;
    slab->offset[TESS_ARRAY_IN] = begin * p->stride[0][0];
    slab->offset[TESS_ARRAY_OUT] = from * p->segment_stride;
    lay_in(part, &slab->host[TESS_ARRAY_IN]);
    lay_out(part, &slab->host[TESS_ARRAY_OUT]);
}

/* Whole leaves of one output, or its shorter last one: one axis of leaves, one of their elements. */
static void leaves_slab(const reduce_problem *p, tess_slab *slab, reduce_problem *part) {
    const int64_t leaves = leaves_of(p), rest = p->k % REDUCE_LEAF, size = p->in.itemsize;
    const int64_t whole = leaves - (rest > 0), number = slab->from % leaves;
    const bool last = number == whole;
    const int64_t count = last ? 1 : tess_min64(slab->to - slab->from, whole - number), k = last ? rest : REDUCE_LEAF;
    slab->to = slab->from + count;
    slab->first = number;
    slab->kind[0] = k;
    slab->pieces = slab->collected = true;
    part->records = true;
    part->kept = part->rank = 1;
    part->kept_size[0] = part->outputs = count;
    part->kept_stride[0][0] = k * size;
    part->kept_stride[1][0] = record_bytes(p);
    part->size[0] = part->k = part->longest = k;
    part->stride[0][0] = size;
    part->base.elements = (double)(count * k);
    part->base.bytes = (double)(count * k * size);
    const int64_t elements[] = {count * k}, words[] = {count * record_bytes(p) / 8};
    part->in = tess_array_compact(NULL, p->in.type, 1, elements);
    part->in.device = p->in.device;
    slab->host[TESS_ARRAY_IN] = part->in;
    slab->host[TESS_ARRAY_OUT] = tess_array_compact(NULL, tess_u64, 1, words);
}

tess_status tess_reduce_slab(const tess_problem *base, const tess_cut *cut, int64_t from, int64_t to, tess_slab *slab) {
    const reduce_problem *p = (const reduce_problem *)base;
    reduce_problem *part;
    TESS_TRY(tess_problem_make((void **)&part, base->context, base->op, sizeof *part));
    *part = *p;
    slab->problem = &part->base;
    slab->to = cut->way == BY_SEGMENT ? segments_end(p, cut, from, to) : to;
    if (p->offsets) {
        const bool some = cut->way == BY_SEGMENT;
        const tess_status status = copy_offsets(part, p, some ? from : 0, some ? slab->to - from : p->segments);
        if (status != TESS_OK) {
            tess_problem_free(&part->base);
            slab->problem = NULL;
            return status;
        }
    }
    if (cut->way == BY_LEAF)
        leaves_slab(p, slab, part);
    else if (cut->way == BY_SEGMENT)
        segments_slab(p, from, slab, part);
    else
        outputs_slab(base, cut, from, to, slab, part);
    return TESS_OK;
}

/* Elements of one output by their numbers: the largest box of the reduced axes that begins there, without passing the slab's end. */
void tess_reduce_piece(const tess_problem *base, const tess_cut *cut, const tess_slab *slab, int64_t at, tess_array *host, int64_t *offset) {
    const reduce_problem *p = (const reduce_problem *)base;
    int64_t first = slab->first * REDUCE_LEAF + at, left = host->count - at, inner = p->k, place[TESS_MAX_NDIM], rest = first;
    tess_index output;
    int axis = 0;
    (void)cut;
    tess_index_start(&output, p->kept, p->kept_size, 1, (int64_t(*)[TESS_MAX_NDIM])p->kept_stride, slab->from / leaves_of(p));
    *offset = output.offset[0];
    for (int d = p->rank - 1; d >= 0; d--) {
        place[d] = rest % p->size[d];
        rest /= p->size[d];
        *offset += place[d] * p->stride[0][d];
    }
    for (; axis < p->rank; axis++) { /* the slowest axis on which the box is whole below and has a step to go */
        inner /= p->size[axis];
        if (first % inner == 0 && left >= inner)
            break;
    }
    host->ndim = p->rank - axis;
    host->count = 1;
    for (int d = axis; d < p->rank; d++) {
        host->shape[d - axis] = d == axis ? tess_min64(left / inner, p->size[d] - place[d]) : p->size[d];
        host->stride[d - axis] = p->stride[0][d];
        host->count *= host->shape[d - axis];
    }
}

static reduce_node node_of(const reduce_problem *p, const reduce_record *record, int64_t number) {
    reduce_node node;
    uint32_t word[2] = {(uint32_t)record->a, (uint32_t)record->b};
    tess_reduce_node_empty(p, &node);
    node.count = record->count;
    switch (p->kind) {
    case REDUCE_SUM:
    case REDUCE_PROD:
        if (p->acc == tess_f32 || p->acc == tess_c64)
            memcpy(&node.value, word, p->acc == tess_f32 ? 4 : 8);
        else
            memcpy(&node.value, record, p->acc == tess_c128 ? 16 : 8);
        break;
    case REDUCE_COUNT: node.value.u64 = record->a; break;
    case REDUCE_EXTREME:
    case REDUCE_ARG:
        node.key = (int64_t)record->a;
        if (p->kind == REDUCE_ARG && (int64_t)record->b >= 0)
            node.index = (int64_t)record->b + number * REDUCE_LEAF;
        break;
    case REDUCE_VAR:
        memcpy(&node.mean, &record->a, 8);
        memcpy(&node.m2, &record->b, 8);
        break;
    }
    return node;
}

/* What gpu_exact.cu leaves of a leaf: for each part its limbs, what is not finite, how many elements counted. */
static void merge_exact(exact_sum *sum, const reduce_problem *p, const char *record) {
    enum { IS_NAN = 1, PLUS = 2, MINUS = 4 };
    exact_sum leaf;
    tess_reduce_exact_start(&leaf);
    for (int k = 0; k < (p->acc == tess_c128 ? 2 : 1); k++, record += REDUCE_EXACT_WORDS * 8) {
        int64_t rest[2];
        memcpy(leaf.part[k].limb, record, sizeof leaf.part[k].limb);
        memcpy(rest, record + sizeof leaf.part[k].limb, sizeof rest);
        leaf.part[k].nan = rest[0] & IS_NAN;
        leaf.part[k].infinity[0] = rest[0] & PLUS;
        leaf.part[k].infinity[1] = rest[0] & MINUS;
        leaf.count = rest[1];
    }
    tess_reduce_exact_merge(sum, &leaf);
}

static void put_output(const reduce_problem *p, int64_t number, const tess_value *value, char *out) {
    tess_index place;
    tess_index_start(&place, p->kept, p->kept_size, 2, (int64_t(*)[TESS_MAX_NDIM])p->kept_stride, number);
    tess_storer(TESS_SLOT_BASELINE, p->result, p->out.type)(out + place.offset[1], p->out.itemsize, value, 1);
}

_Static_assert(sizeof(exact_sum) <= sizeof(reduce_pairing), "the state of one execution");

static void collect_exact(const reduce_problem *p, const tess_slab *slab, const char *results, exact_sum *sum, char *out) {
    const int64_t leaves = leaves_of(p);
    for (int64_t i = 0; i < slab->to - slab->from; i++)
        merge_exact(sum, p, results + i * record_bytes(p));
    if (slab->first + slab->to - slab->from < leaves)
        return;
    tess_value value = tess_reduce_exact_finish(sum, p);
    put_output(p, slab->from / leaves, &value, out);
    tess_reduce_exact_start(sum);
}

tess_status tess_reduce_collect(const tess_problem *base, const tess_cut *cut, const tess_slab *slab, const char *results, void *state, char *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    reduce_pairing *s = state;
    const int64_t leaves = leaves_of(p);
    (void)cut;
    if (p->exact) {
        collect_exact(p, slab, results, state, out);
        return TESS_OK;
    }
    for (int64_t i = 0; i < slab->to - slab->from; i++) {
        const int64_t number = slab->first + i;
        reduce_record record;
        memcpy(&record, results + i * (int64_t)sizeof record, sizeof record);
        s->stack[s->depth++] = node_of(p, &record, number);
        for (int merges = reduce_merges_after(number); merges > 0; merges--, s->depth--)
            tess_reduce_node_merge(p, &s->stack[s->depth - 2], &s->stack[s->depth - 1]);
    }
    if (slab->first + slab->to - slab->from < leaves)
        return TESS_OK;
    for (; s->depth > 1; s->depth--)
        tess_reduce_node_merge(p, &s->stack[s->depth - 2], &s->stack[s->depth - 1]);
    tess_value value = tess_reduce_node_finish(p, &s->stack[0]);
    s->depth = 0;
    put_output(p, slab->from / leaves, &value, out);
    return TESS_OK;
}

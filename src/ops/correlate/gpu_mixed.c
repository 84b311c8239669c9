/* SPDX-License-Identifier: Apache-2.0
 * gpu_mixed.c - the production row of lists that no other row takes as a whole, as where one axis is shorter than its mask: masks by themselves or with their neighbours in the list, each such part by the
 * row of this table that takes it, arrays of the type that sums are made in between them. Of all ways to part the list the one that should take least. */
#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_parts.h"

typedef struct part {
    tess_correlate_problem sums;
    tess_correlate_pass passes[TESS_PART_PASSES];
} part;

typedef struct mixed {
    int parts, first[TESS_PART_PASSES + 1]; /* masks of a part: first[k] to first[k + 1] - 1 */
    const tess_strategy *row[TESS_PART_PASSES];
    int64_t bytes; /* of an array between parts, the largest */
    double costs;  /* picoseconds an output */
} mixed;

/* The array before mask number k, laid as the output is. */
static bool lay_before(tess_array *array, const tess_correlate_problem *p, int k, int64_t *bytes) {
    *array = k == 0 ? p->in : p->out;
    *bytes = 0;
    if (k == 0 || k == p->count)
        return true;
    array->type = p->work;
    array->itemsize = (int32_t)tess_type_size(p->work);
    memcpy(array->shape, p->in.shape, (size_t)p->in.ndim * sizeof *array->shape);
    for (int before = 0; before < k; before++)
        array->shape[p->masks[before].axes[0]] = p->out.shape[p->masks[before].axes[0]];
    array->count = 1;
    for (int d = 0; d < array->ndim; d++)
        if (TESS_MUL_OVERFLOWS(array->count, array->shape[d], &array->count))
            return false;
    return tess_correlate_part_lay_like(array, &p->out, bytes);
}

/* Masks from .. to - 1 as a problem of their own. */
static bool part_of(part *one, const tess_correlate_problem *p, int from, int to, int64_t *bytes) {
    tess_correlate_problem *s = &one->sums;
    int64_t before;
    *s = *p;
    s->count = to - from;
    s->masks = p->masks + from;
    s->direct = s->count == 1 ? &p->passes[from] : NULL;
    s->passes = s->count == 1 ? NULL : &p->passes[from];
    s->passes_count = s->count == 1 ? 0 : s->count;
    s->packed = NULL;
    s->packed_passes = NULL;
    return lay_before(&s->in, p, from, &before) && lay_before(&s->out, p, to, bytes) && tess_correlate_lay_again(s, one->passes, one->passes);
}

/* One way to part the list: bit k - 1 is set where a part begins with mask k. */
static bool try_way(mixed *m, const tess_correlate_problem *p, int way) {
    *m = (mixed){0};
    for (int k = 1; k <= p->count; k++)
        if (k == p->count || way >> (k - 1) & 1)
            m->first[++m->parts] = k;
    for (int i = 0; i < m->parts; i++) {
        part one;
        int64_t bytes;
        if (!part_of(&one, p, m->first[i], m->first[i + 1], &bytes))
            return false;
        m->row[i] = tess_gpu_part_row(&one.sums.base, tess_correlate_gpu_rows, CORRELATE_GPU_ROWS, &tess_correlate_mixed, &tess_correlate_turned);
        if (!m->row[i])
            return false;
        m->bytes = tess_max64(m->bytes, bytes);
        m->costs += tess_correlate_part_costs(&one.sums, m->row[i]);
    }
    return true;
}

static bool mixed_of(mixed *least, const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    *why = "takes lists of two to four masks, over arrays with elements";
    if (p->fft || p->direct || p->count < 2 || p->count > TESS_PART_PASSES || p->passes_count != p->count || p->in.count == 0 || p->out.count == 0)
        return false;
    *why = "takes an input that is finest along the output's finest axis";
    const int finest = tess_correlate_part_finest(&p->out);
    if (finest < 0 || tess_correlate_part_finest(&p->in) != finest)
        return false;
    *why = "found no rows for the list's parts";
    least->parts = 0;
    for (int way = 1; way < 1 << (p->count - 1); way++) {
        mixed m;
        if (try_way(&m, p, way) && (least->parts == 0 || m.costs < least->costs))
            *least = m;
    }
    return least->parts > 0;
}

static bool takes(const tess_problem *base, bool whole, const char **why) {
    (void)whole;
    mixed m;
    return mixed_of(&m, base, why);
}

bool tess_correlate_mixed_pays(const tess_problem *base, const char **why) {
    enum { FEW = 1 << 20 /* outputs: launches cost more than what they save */ };
    static const double GAIN = 1.1; /* estimates are not that good */
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    mixed m;
    if (!mixed_of(&m, base, why)) /* true, because `fits` was */
        return false;
    *why = "of few elements, or about as quick by bricks";
    return p->out.count >= FEW && (tess_correlate_list_is_narrow(p) || GAIN * m.costs < tess_correlate_part_costs_brick(p));
}

static void lay_mixed(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    int64_t between[2] = {0}, bytes;
    mixed m;
    mixed_of(&m, base, &why); /* true, because `fits` was */
    for (int i = 0; i < tess_min64(2, m.parts - 1); i++)
        between[i] = tess_gpu_reserve(layout, m.bytes);
    for (int i = 0; i < m.parts; i++) {
        part one;
        part_of(&one, p, m.first[i], m.first[i + 1], &bytes);
        const bool first = i == 0, last = i == m.parts - 1;
        const tess_gpu_ends ends = {first ? TESS_GPU_IN : TESS_GPU_WORKSPACE, last ? TESS_GPU_OUT : TESS_GPU_WORKSPACE,
                                    first ? 0 : between[(i - 1) & 1], last ? 0 : between[i & 1]};
        tess_gpu_lay_part(&one.sums.base, m.row[i], device, layout, &ends);
    }
}

static void predict_mixed(const tess_problem *base, tess_gpu_prediction *out) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const tess_gpu_prediction asked = *out;
    const char *why;
    mixed m;
    mixed_of(&m, base, &why); /* true, because `fits` was */
    for (int i = 0; i < m.parts; i++) {
        part one;
        int64_t bytes;
        part_of(&one, p, m.first[i], m.first[i + 1], &bytes);
        tess_correlate_part_predict(&one.sums.base, m.row[i], i == 0, &asked, out);
    }
}

ROW(mixed, takes, true, .predict = predict_mixed);

/* SPDX-License-Identifier: Apache-2.0
 * reduce_segments.h - what the tests of segments on GPUs share: lengths, a problem, and its comparison with the reference by every row that takes it. */
#ifndef TESS_TESTS_REDUCE_SEGMENTS_H
#define TESS_TESTS_REDUCE_SEGMENTS_H
#include "gpu_rows.h"
#include "hard_sums.h"
#include "ops/reduce/reduce.h"

static tess_context *context;
static tess_engine engine;
static int ran[64], rests[64];

enum { MOST_SEGMENTS = 600 };

typedef struct lengths {
    int64_t count, offset[MOST_SEGMENTS + 1];
} lengths;

typedef struct work {
    tess_reduction operation;
    tess_type in, out;
    tess_nan nan;
    bool exact;
    int ndim, axis;
    int64_t shape[3];
    int layout,
        fill; /* fill 4: segments of each kind of hard_sums.h; 5: few values; 6: far_values; 7: as 4, of modest magnitudes; 8 and more: near_halves, less 8 */
} work;

static inline void compare(const work *w, const lengths *l, uint64_t *random) {
    static int number;
    if (gpu_test_spared(engine, number++, 5, 5))
        return;
    hostile_array in, expected, out;
    int64_t out_shape[3], size = l->count + 1;
    int axis = w->axis;
    const DLTensor offsets = tess_view((void *)(uintptr_t)l->offset, tess_i64, 1, &size, NULL);
    tess_reduce_options options = {
        .struct_size = sizeof options, .nan = w->nan, .ddof = 1, .exact = w->exact, .axes = &axis, .naxes = 1, .offsets = &offsets};
    for (int d = 0; d < w->ndim; d++)
        out_shape[d] = d == axis ? l->count : w->shape[d];
    const bool hard = w->fill == 4 || w->fill == 7;
    hostile_make(&in, random, w->in, w->ndim, w->shape, w->layout);
    if (w->fill == 5)
        few_values(&in, random);
    else if (w->fill == 6)
        far_values(&in, random);
    else if (w->fill >= 8)
        near_halves(&in, l->offset[0], w->fill - 8);
    else
        hostile_fill(&in, random, hard ? 1 : w->fill);
    for (int64_t line = 0, step = axis == 0 && w->ndim == 2 ? w->shape[1] : 1; hard && line < (w->ndim == 2 ? w->shape[1 - axis] : 1); line++)
        for (int64_t s = 0; s < l->count; s++)
            hard_elements_of(&in, (step > 1 ? line : line * w->shape[axis]) + l->offset[s] * step, step, l->offset[s + 1] - l->offset[s],
                             (int)((s + line) % HARD_SUMS), hostile_between(random, 0, 1) ? 24 : 53, w->fill == 7, random);
    uint64_t again = *random;
    hostile_make(&expected, random, w->out, w->ndim, out_shape, w->layout);
    options.call.strategy = "reduce/reference";
    assert_tess_ok(tess_reduce(context, w->operation, &in.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    for (int r = -1; r < tess_reduce_op.gpu_count; r++) {
        if (r >= 0 && gpu_test_rests(engine, ran[r], 6, &rests[r]))
            continue;
        uint64_t same = again; /* the layout of `expected` */
        const char *name = r < 0 ? NULL : tess_reduce_op.gpu_rows[r].name;
        hostile_make(&out, &same, w->out, w->ndim, out_shape, w->layout);
        options.call.strategy = name;
        const tess_status status = tess_reduce(context, w->operation, &in.tensor, &out.tensor, &options);
        if (status == TESS_OK) {
            if (r >= 0)
                ran[r]++;
            if (memcmp(out.block, expected.block, out.block_size))
                fail_msg("%s differs: %s of %s to %s, axis %d of %d, %lld segments%s", name ? name : "the chosen row",
                         tess_reduction_name(w->operation), tess_type_name(w->in), tess_type_name(w->out), w->axis, w->ndim, (long long)l->count,
                         w->exact ? ", exact" : "");
        } else if (r < 0 || status != TESS_ERR_STRATEGY) {
            fail_msg("%s: %s", name ? name : "choosing", tess_detail());
        }
        hostile_free(&out);
    }
    hostile_free(&expected);
    hostile_free(&in);
}

/* Segments of 0 to `most` - 1 elements, but for those few that are given; `empty` allowed or not. Returns where they end. */
static inline int64_t make(lengths *l, uint64_t *random, int64_t begin, int64_t count, int64_t most, bool empty, const int64_t *given, int few) {
    l->count = count;
    l->offset[0] = begin;
    for (int64_t i = 0; i < count; i++) {
        int64_t n = hostile_between(random, 0, most - 1);
        if (i % 3 == 1 && i / 3 < few)
            n = given[i / 3];
        l->offset[i + 1] = l->offset[i] + (n || empty ? n : 1);
    }
    return l->offset[count];
}

/* Number 0: a line with gaps, 1: the lines of a matrix, 2: its columns, with gaps. */
static inline void compare_as(work *w, const lengths *l, int64_t end, int number, uint64_t *random) {
    w->ndim = number ? 2 : 1;
    w->axis = number == 1;
    w->shape[0] = number == 1 ? 2 : end + 3;
    w->shape[1] = number == 1 ? end + 3 : 3;
    w->layout = number == 1 ? HOSTILE_COMPACT : HOSTILE_STRIDED;
    compare(w, l, random);
}

/* exact: of the rows of exact sums, else of the others. */
static inline void segments_were_compared(bool exact) {
    for (int r = 0; r < tess_reduce_op.gpu_count; r++) {
        const char *name = tess_reduce_op.gpu_rows[r].name;
        const bool wanted = strstr(name, "segments") || strstr(name, "stretches") || strstr(name, "strips") || strstr(name, "prefixes") ||
                            strcmp(name, "reduce/tree_lanes") == 0;
        if (wanted && exact == (strstr(name, "exact") != NULL) && ran[r] < (engine == TESS_ENGINE_VIRTUAL ? 2 : 10))
            fail_msg("%s was compared %d times only", name, ran[r]);
    }
}

#endif

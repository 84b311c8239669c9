/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_axes_gpu.c - proves: along axes that do not follow one another every GPU row that takes them gives the reference's bytes: axes of fewer elements than a step of 256 and of more, of one leaf and
 * several, three of them, backwards, and none at all; sums, places, variances and complex elements. On a card when there is one, else on the virtual GPU. */
#include "gpu_rows.h"
#include "ops/reduce/reduce.h"

static tess_context *context;
static tess_engine engine;
static const char *const rows[] = {"reduce/tree_leaves", "reduce/tree_lanes", "reduce/tree_rows", "reduce/tree_columns"};
static int ran[TESS_COUNT(rows)];

typedef struct layout {
    int ndim;
    int64_t shape[6], gap[6]; /* gap: of an axis, elements that its view leaves out, -1 for each second one backwards */
    int naxes, axes[3];
} layout;

static const layout layouts[] = {{3, {5, 3, 700}, {0}, 2, {0, 2}},                       /* within a leaf; an axis longer than a step */
                                 {3, {70, 2, 257}, {0, 0, 3}, 2, {0, 2}},                /* three leaves, an axis of a step and one */
                                 {3, {9001, 3, 2}, {0}, 2, {0, 2}},                      /* pairs */
                                 {3, {1000, 2, 3}, {0, 1, 0}, 2, {0, 2}},                /* a step ends an axis each time */
                                 {5, {31, 2, 13, 2, 23}, {0}, 3, {0, 2, 4}},             /* a step ends two at once */
                                 {5, {3, 2, 11, 3, 512}, {0, 0, 0, 0, 5}, 3, {0, 2, 4}}, /* two steps */
                                 {4, {2, 40, 3, 128}, {0, 0, 0, -1}, 2, {1, 3}},         /* backwards, half a step */
                                 {5, {300, 1, 2, 3, 5}, {0, 0, 1, 0, 0}, 3, {0, 2, 4}},  /* fewer than a step in the two fast axes */
                                 {3, {2, 3, 20001}, {0}, 2, {0, 2}},                     /* an axis longer than a leaf */
                                 {3, {5, 3, 4096}, {0}, 2, {0, 2}},        /* runs of vectors: half a leaf, so that a leaf has whole ones */
                                 {3, {3, 2, 9008}, {0, 0, 16}, 2, {0, 2}}, /* longer than a leaf, with gaps */
                                 {3, {1100, 2, 16}, {0}, 2, {0, 2}},       /* a vector or a few; leaves that are not whole */
                                 {3, {130, 70, 6}, {0}, 2, {0, 2}},        /* vectors of two and single elements, outputs that fill warps */
                                 {5, {7, 2, 9, 3, 96}, {0, 0, 0, 0, 32}, 3, {0, 2, 4}},   /* three axes */
                                 {4, {7, 2, 50, 132}, {0}, 2, {0, 2}},                    /* outputs side by side: vectors, the last strip narrower */
                                 {4, {3, 2, 3001, 33}, {0}, 2, {0, 2}},                   /* two leaves, single columns */
                                 {5, {31, 2, 3, 11, 512}, {0, 0, 0, 1, 0}, 3, {0, 2, 3}}, /* three axes, several strips */
                                 {4, {40, 1, 21, 64}, {0, 0, -1, 0}, 2, {0, 2}},          /* backwards */
                                 {4, {2000, 1, 2, 48}, {0}, 2, {0, 2}},                   /* fewer than a step of any kind in the fast axis */
                                 {3, {3, 2, 8192}, {0}, 2, {0, 2}},                       /* runs that are leaves */
                                 {5, {2, 2, 3, 1, 16384}, {0, 0, 0, 0, 4}, 3, {0, 2, 4}}, /* two leaves, along three axes */
                                 {5, {3, 2, 7, 1, 1024}, {0, 0, 0, 0, 8}, 3, {0, 2, 4}},  /* three axes, two of which end at once */
                                 {3, {33, 2, 256}, {0}, 2, {0, 2}},                       /* a run a step */
                                 {3, {5, 2, 12544}, {0}, 2, {0, 2}},                      /* eight leaves, all but one whole */
                                 {4, {75, 1, 2, 784}, {0, 0, 0, 8}, 2, {0, 3}},           /* the same of shorter runs, with gaps */
                                 {3, {8, 2, 8192}, {0}, 2, {0, 2}},                       /* all whole */
                                 {5, {2, 2, 2, 2, 24576}, {0, 0, 0, 0, 16}, 3, {0, 2, 4}},
                                 {2, {2, 60001}, {0, 3}, 1, {1}}, /* the same along one axis */
                                 {3, {4, 3, 0}, {0}, 2, {0, 2}}};

typedef struct work {
    tess_reduction operation;
    tess_type in, out;
    tess_nan nan;
    int fill;
} work;
enum { INFINITE = 3 }; /* a fill: half floats, one of them infinite, in the upper half of a word */

static const work works[] = {{TESS_SUM, tess_f32, tess_f32, TESS_NAN_PROPAGATE, 1},    {TESS_MEAN, tess_f16, tess_f32, TESS_NAN_OMIT, 2},
                             {TESS_ARGMAX, tess_f32, tess_i64, TESS_NAN_PROPAGATE, 1}, {TESS_MAX, tess_u8, tess_u8, TESS_NAN_PROPAGATE, 1},
                             {TESS_VAR, tess_f32, tess_f32, TESS_NAN_PROPAGATE, 1},    {TESS_VAR, tess_f16, tess_f32, TESS_NAN_OMIT, 2},
                             {TESS_STD, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1},     {TESS_VAR, tess_f64, tess_f64, TESS_NAN_PROPAGATE, 1},
                             {TESS_VAR, tess_f16, tess_f32, TESS_NAN_PROPAGATE, 1},    {TESS_VAR, tess_f16, tess_f32, TESS_NAN_PROPAGATE, INFINITE},
                             {TESS_VAR, tess_bf16, tess_f32, TESS_NAN_PROPAGATE, 1},   {TESS_VAR, tess_i16, tess_f64, TESS_NAN_PROPAGATE, 1},
                             {TESS_SUM, tess_c64, tess_c64, TESS_NAN_PROPAGATE, 1}};

static void compare(const layout *l, const work *w, uint64_t *random) {
    hostile_array memory, expected, out;
    int64_t kept[6], shape[6], steps[6], all = 1, outputs = 1, begin = 0;
    int n = 0;
    for (int d = 0; d < l->ndim; d++)
        shape[d] = l->shape[d];
    for (int d = l->ndim - 1; d >= 0; d--) {
        const bool backwards = l->gap[d] < 0;
        bool reduced = false;
        steps[d] = backwards ? -2 * all : all;
        begin += backwards ? 2 * all * (shape[d] - 1) : 0;
        all *= backwards ? 2 * shape[d] : shape[d] + l->gap[d];
        for (int a = 0; a < l->naxes; a++)
            reduced |= l->axes[a] == d;
        if (!reduced) {
            kept[n++] = shape[d];
            outputs *= shape[d];
        }
    }
    for (int d = 0; d < n / 2; d++) {
        const int64_t other = kept[d];
        kept[d] = kept[n - 1 - d];
        kept[n - 1 - d] = other;
    }
    if (w->fill == INFINITE) { /* and not where vectors begin */
        begin++;
        all++;
    }
    hostile_make(&memory, random, w->in, 1, &all, HOSTILE_COMPACT);
    hostile_fill(&memory, random, w->fill == INFINITE ? 1 : w->fill);
    if (w->fill == INFINITE && all > 0)
        *(uint16_t *)hostile_element(&memory, (all / 2) | 1) = 0xfc00;
    DLTensor in = memory.tensor;
    in.ndim = l->ndim;
    in.shape = shape;
    in.strides = steps;
    in.byte_offset += (uint64_t)(begin * (int64_t)tess_type_size(w->in));
    tess_reduce_options options = {.struct_size = sizeof options, .nan = w->nan, .ddof = 1, .axes = l->axes, .naxes = l->naxes};
    uint64_t again = 5;
    hostile_make(&expected, &again, w->out, n, kept, HOSTILE_COMPACT);
    options.call.strategy = "reduce/reference";
    const tess_status possible = tess_reduce(context, w->operation, &in, &expected.tensor, &options);
    options.call.engine = engine;
    for (int r = -1; possible == TESS_OK && r < tess_reduce_op.gpu_count; r++) {
        const char *name = r < 0 ? NULL : tess_reduce_op.gpu_rows[r].name;
        again = 5;
        hostile_make(&out, &again, w->out, n, kept, HOSTILE_COMPACT);
        options.call.strategy = name;
        const tess_status status = tess_reduce(context, w->operation, &in, &out.tensor, &options);
        if (status == TESS_OK) {
            for (int i = 0; i < TESS_COUNT(rows); i++)
                ran[i] += r >= 0 && strcmp(name, rows[i]) == 0;
            for (int64_t i = 0; i < outputs; i++)
                if (memcmp(hostile_element(&out, i), hostile_element(&expected, i), tess_type_size(w->out)))
                    fail_msg("%s: layout %d, %s of %s, output %lld differs", name ? name : "the chosen row", (int)(l - layouts),
                             tess_reduction_name(w->operation), tess_type_name(w->in), (long long)i);
        } else if (r < 0 || status != TESS_ERR_STRATEGY) {
            fail_msg("%s: layout %d: %s", name ? name : "choosing", (int)(l - layouts), tess_detail());
        }
        hostile_free(&out);
    }
    hostile_free(&expected);
    hostile_free(&memory);
}

/* A quarter of the layouts: on a card each takes a minute and more, nearly all of it the compiler's. */
static void compare_quarter(int quarter) {
    uint64_t random = 1;
    for (int l = quarter; l < TESS_COUNT(layouts); l += 4)
        for (int w = 0; w < TESS_COUNT(works); w++)
            if (!gpu_test_spared(engine, l + w, 5, 6))
                compare(&layouts[l], &works[w], &random);
}
static void first_quarter(void **state) {
    (void)state;
    compare_quarter(0);
}
static void second_quarter(void **state) {
    (void)state;
    compare_quarter(1);
}
static void third_quarter(void **state) {
    (void)state;
    compare_quarter(2);
}
static void last_quarter(void **state) {
    (void)state;
    compare_quarter(3);
}

static void all_ran(void **state) {
    (void)state;
    for (int i = 0; i < TESS_COUNT(rows); i++)
        assert_true(ran[i] >= (engine == TESS_ENGINE_VIRTUAL ? 3 : 10));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_quarter), cmocka_unit_test(second_quarter), cmocka_unit_test(third_quarter),
                                       cmocka_unit_test(last_quarter), cmocka_unit_test(all_ran)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

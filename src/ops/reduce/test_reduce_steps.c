/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_steps.c - proves: arrays whose elements lie apart, backwards or in another order of axes give the reference's bytes along each axis, over both and over
 * two of three: every operation and type, by the row that is chosen and by those that put elements straight; on every instruction set. */
#include "cpu_contexts.h"

#include "core/dtype.h"
#include "core/maker.h"
#include "reduce_layouts.h"

static int ran;

static const tess_reduction operations[] = {TESS_SUM, TESS_MEAN,   TESS_VAR,    TESS_NORM1,         TESS_NORM2, TESS_MAX,      TESS_PROD,
                                            TESS_MIN, TESS_ARGMAX, TESS_ARGMIN, TESS_COUNT_NONZERO, TESS_ANY,   TESS_NORM_INF, TESS_ALL};
static const tess_type types[] = {tess_u8,  tess_i8,  tess_bool, tess_u16, tess_i16, tess_f16, tess_bf16, tess_u32,
                                  tess_i32, tess_f32, tess_u64,  tess_i64, tess_f64, tess_c64, tess_c128};

static tess_type result_of(tess_reduction operation, tess_type in) {
    switch (operation) {
    case TESS_ARGMAX:
    case TESS_ARGMIN:
    case TESS_COUNT_NONZERO: return tess_i64;
    case TESS_ANY:
    case TESS_ALL: return tess_bool;
    case TESS_MAX:
    case TESS_MIN: return in;
    case TESS_NORM_INF: return tess_f64;
    case TESS_SUM:
    case TESS_PROD: return tess_is_complex(in) ? tess_c128 : tess_is_float(in) ? tess_f64 : tess_i64;
    case TESS_MEAN: return tess_is_complex(in) ? tess_c128 : tess_f64;
    default: return tess_f64;
    }
}

/* False where the operation does not take the type. */
static bool compare(tess_context *context, tess_reduction operation, tess_type type, tess_nan nan, const layout *l, int fill, uint64_t *random) {
    hostile_array memory, expected, out;
    laid_out at = lay_out(l);
    hostile_make(&memory, random, type, 1, &at.all, HOSTILE_COMPACT);
    hostile_fill(&memory, random, fill);
    const uint64_t again = *random;
    const int form = at.all % 2 ? HOSTILE_COMPACT : HOSTILE_STRIDED;
    hostile_make(&expected, random, result_of(operation, type), at.left, at.kept, form);
    const DLTensor in = laid_out_view(&at, hostile_element(&memory, 0), type);
    tess_reduce_options options = {.struct_size = sizeof options, .nan = nan, .axes = l->axes, .naxes = l->count};
    options.call.strategy = "reduce/reference";
    const bool taken = tess_reduce(context, operation, &in, &expected.tensor, &options) == TESS_OK;
    for (int r = 0; taken && r < 3; r++) {
        static const char *const rows[] = {NULL, "reduce/columns", "reduce/gather"};
        uint64_t same = again; /* the layout of `expected` */
        options.call.strategy = rows[r];
        hostile_make(&out, &same, result_of(operation, type), at.left, at.kept, form);
        const tess_status status = tess_reduce(context, operation, &in, &out.tensor, &options);
        if (r != 1)
            assert_int_equal(status, TESS_OK);
        if (status == TESS_OK && memcmp(out.block, expected.block, out.block_size))
            fail_msg("%s: %s of %s, %lld x %lld x %lld, steps %lld, %lld, %lld, %d axes from %d, nan %d, fill %d", rows[r] ? rows[r] : "chosen",
                     tess_reduction_name(operation), tess_type_name(type), (long long)l->shape[0], (long long)l->shape[1], (long long)l->shape[2],
                     (long long)l->step[0], (long long)l->step[1], (long long)l->step[2], l->count, l->axes[0], (int)nan, fill);
        ran += status == TESS_OK;
        hostile_free(&out);
    }
    hostile_free(&expected);
    hostile_free(&memory);
    return taken;
}

/* Every operation on every type; lengths, steps and axes in turn. */
static void every_kind(void **state) {
    (void)state;
    static const layout layouts[] = {
        {{1, 40, 70}, {0, 140, 2}, {1}, 1},                /* every second column */
        {{1, 40, 70}, {0, 140, 2}, {2}, 1},                /* ... along it */
        {{1, 300, 33}, {0, -33, -1}, {1}, 1},              /* backwards */
        {{1, 33, 300}, {0, -300, -1}, {2}, 1},             /* ... along it */
        {{1, 33, 300}, {0, -300, -1}, {1, 2}, 2},          /* ... all of it */
        {{2, 530, 20}, {530 * 60, -60, 3}, {1}, 1},        /* a channel of three, rows backwards */
        {{2, 25, 90}, {25 * 270, 270, -3}, {2}, 1},        /* columns backwards */
        {{1, 17, 2100}, {0, -4200, -2}, {2}, 1},           /* more than a piece */
        {{1, 9000, 19}, {0, 38, -2}, {1}, 1},              /* more than a leaf */
        {{3, 20, 70}, {7, 21 * 7, 21 * 7 * 20}, {2}, 1},   /* further apart along the axis than across */
        {{30, 40, 20}, {1, 30, 30 * 40}, {0, 1, 2}, 3},    /* the first axis is the fastest: over all axes */
        {{30, 40, 20}, {1, 30, 30 * 40}, {0, 2}, 2},       /* two of them */
        {{90, 131, 3}, {1, 90, 90 * 131}, {0, 1}, 2},      /* the two fastest */
        {{300, 70, 2}, {-1, 300, 300 * 70}, {0, 1}, 2},    /* the fastest backwards */
        {{3, 80, 70}, {-5700, 1, 80}, {0, 1, 2}, 3},       /* the second axis is the fastest */
        {{20, 2, 50}, {1, 2000, -40}, {0, 2}, 2},          /* with gaps */
        {{1, 64, 64}, {0, 0, 2}, {1}, 1},                  /* one row again and again */
        {{1, 64, 64}, {0, 64, 0}, {1}, 1},                 /* one column again and again */
        {{150, 1, 200}, {5, 0, 5 * 150}, {0, 2}, 2},       /* five apart along the faster axis */
        {{1, 5000, 3}, {0, 1, 5000}, {1, 2}, 2},           /* long columns, and few */
        {{1, 40, 1200}, {0, 2 * 1300, 2}, {1}, 1},         /* several blocks of columns */
        {{6, 60, 20}, {60 * 20 + 13, 20, 1}, {0, 1}, 2},   /* runs of narrow rows, of fewer than the tree has lanes */
        {{40, 250, 3}, {-250 * 3 - 1, 3, 1}, {0, 1}, 2},   /* ... of more than a leaf */
        {{5, 301, 17}, {301 * 17 + 40, 17, 1}, {0, 1}, 2}, /* ... each of more than the lanes */
        {{1, 2500, 5}, {0, 5, 1}, {1}, 1},                 /* one run, lanes as many as fill some lines */
        {{1, 12, 20}, {0, 9 * 20, 9}, {1}, 1},             /* far apart */
        {{1, 12, 430}, {0, 7 * 430, 7}, {2}, 1},           /* every seventh element of a row */
        {{1, 30, 100}, {0, 6 * 100, 6}, {1}, 1},           /* ... every sixth column */
        {{1, 5, 2049}, {0, 3 * 2049, 3}, {2}, 1},          /* one element more than a piece */
    };
    uint64_t random = 1;
    int number = 0;
    for (int o = 0; o < TESS_COUNT(operations); o++)
        for (int t = 0; t < TESS_COUNT(types); t++)
            for (int i = 0; i < TESS_COUNT(layouts); i++, number++) {
                if (hostile_spared(number, 6))
                    continue;
                tess_cpu_pretend_zen(3 + number % 3);
                if (!compare(contexts[number % context_count], operations[o], types[t], (tess_nan)(number % 4 == 1), &layouts[i], number / 5 % 2,
                             &random))
                    break;
            }
    assert_true(ran > (TESS_SANITIZED ? 1000 : 3000));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_many_gpu.c - proves: where a launch has more blocks along y or z than a grid takes, they are folded into one line of blocks, and the outputs have the reference's bits: bands of rows and
 * arrays side by side, each kernel that folds. A card takes 65535; the library is told 1 here, so that small arrays ask for more. And which rows many small arrays, and many short rows, are given to. */
#include "correlate_parts.h"

static tess_context *context;
static tess_engine engine;

#define FLAT \
    {0, 1, 2}, { 0, 1, 2 }

static const struct {
    const char *row;
    part_case c;
} cases[] = {
    {"patch", {F32, 3, {3, 80, 64}, 2, {1, 2}, {3, 3}, false, FLAT, 0, 0}},
    {"patch", {U8, 3, {3, 90, 64}, 2, {1, 2}, {5, 3}, false, FLAT, 0, 0}},
    {"patch", {F16, 3, {9, 16, 16}, 2, {1, 2}, {3, 3}, false, FLAT, 0, 0}},
    {"patch_odd", {F32, 3, {3, 80, 61}, 2, {1, 2}, {3, 5}, false, FLAT, 1, 0}},
    {"patch_bytes", {tess_u8, tess_i8, tess_u8, 3, {3, 80, 64}, 2, {1, 2}, {3, 3}, false, FLAT, 0, 0}},
    {"patch_bytes_odd", {tess_u8, tess_i8, tess_u8, 3, {3, 80, 61}, 2, {1, 2}, {3, 3}, false, FLAT, 1, 0}},
    {"strip2d", {F32, 3, {3, 150, 64}, 2, {1, 2}, {7, 7}, false, FLAT, 0, 0}},
    {"strip2d_odd", {F16, 3, {3, 150, 67}, 2, {1, 2}, {3, 9}, false, FLAT, 1, 0}},
    {"flat", {F32, 3, {3, 120, 61}, 2, {1, 2}, {3, 3}, false, FLAT, 0, 0}},
    {"flat", {U8, 3, {2, 40, 1100}, 2, {1, 2}, {7, 7}, false, FLAT, 0, 0}},
    {"patch_separable", {F32, 3, {3, 120, 64}, 2, {1, 2}, {5, 5}, true, FLAT, 0, 0}},
    {"patch_separable", {U8, 3, {3, 120, 128}, 2, {1, 2}, {5, 5}, true, FLAT, 0, 0}},
    {"patch_separable_odd", {U8, 3, {3, 120, 127}, 2, {1, 2}, {5, 5}, true, FLAT, 1, 0}},
    {"patch_separable_odd", {F16, 3, {3, 120, 127}, 2, {1, 2}, {3, 3}, true, FLAT, 0, 0}},
    {"separable2d", {F32, 3, {3, 120, 64}, 2, {1, 2}, {11, 11}, true, FLAT, 0, 0}},
    {"separable2d_odd", {F32, 3, {3, 120, 61}, 2, {1, 2}, {11, 11}, true, FLAT, 1, 0}},
    {"short_rows", {F32, 3, {5, 900, 6}, 2, {1, 2}, {3, 3}, false, FLAT, 0, 0}},
    {"short_rows", {U8, 3, {5, 700, 8}, 2, {1, 2}, {3, 3}, true, FLAT, 0, 0}},
    {"brick", {F32, 4, {3, 9, 20, 40}, 3, {1, 2, 3}, {3, 3, 3}, false, {0, 1, 2, 3}, {0, 1, 2, 3}, 0, 0}},
    {"brick", {F32, 3, {3, 90, 40}, 2, {1, 2}, {3, 3}, false, {0, 2, 1}, {0, 1, 2}, 0, 0}},
    {"brick", {tess_c64, tess_f32, tess_c64, 3, {3, 90, 33}, 2, {1, 2}, {3, 3}, true, FLAT, 0, 0}},
    {"brick_odd", {tess_f64, tess_f64, tess_f64, 4, {3, 9, 20, 37}, 3, {1, 2, 3}, {3, 2, 3}, false, {0, 1, 2, 3}, {0, 1, 2, 3}, 1, 0}},
};

/* What the library takes for the first device's limits. */
static int *grid_of_device(void) {
    tess_gpu *gpu;
    assert_tess_ok(tess_gpu_get_engine(&gpu, context, engine));
    assert_tess_ok(tess_gpu_open(gpu));
    return gpu->devices[0].grid;
}

static void folded(void **state) {
    (void)state;
    int *grid = grid_of_device();
    const int before[3] = {grid[0], grid[1], grid[2]};
    uint64_t random = 71;
    grid[1] = grid[2] = 1;
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        char row[64];
        snprintf(row, sizeof row, "correlate/%s", cases[i].row);
        int ran = 0;
        for (int k = 0; k < 3; k++)
            ran +=
                parts_compare(context, engine, row, &cases[i].c, (tess_boundary[]){TESS_BOUNDARY_ZERO, TESS_BOUNDARY_REFLECT, TESS_BOUNDARY_WRAP}[k],
                              k == 1 ? TESS_EXTENT_VALID : TESS_EXTENT_SAME, &random);
        if (ran == 0)
            fail_msg("case %d: %s takes none", i, row);
    }
    memcpy(grid, before, sizeof before);
}

typedef struct pick {
    tess_type type;
    int ndim;
    int64_t shape[4];
    int masked; /* axes, from the second on */
    int64_t width;
    bool list;
    const char *row;
} pick;

/* A plan that nothing executes, of arrays with nothing behind them. */
static tess_plan *plan_of(const pick *of) {
    static char memory[16];
    static const float weights[125] = {1};
    int64_t shape[4], widths[] = {of->width, of->width, of->width};
    int axes[] = {1, 2, 3};
    memcpy(shape, of->shape, sizeof shape);
    DLTensor in = tess_view(memory, of->type, of->ndim, shape, NULL), mask[3];
    const DLTensor *masks[] = {&mask[0], &mask[1], &mask[2]};
    for (int k = 0; k < 3; k++)
        mask[k] = tess_view((void *)(uintptr_t)weights, tess_f32, of->list ? 1 : of->masked, widths, NULL);
    const tess_correlate_options options = {
        .struct_size = sizeof options, .axes = axes, .naxes = of->masked, .boundary = TESS_BOUNDARY_REFLECT, .call.engine = engine};
    tess_plan *plan;
    assert_tess_ok(tess_plan_correlate(&plan, context, &in, masks, of->list ? of->masked : 1, &in, &options));
    return plan;
}

/* Launches of more than 65535 arrays, or bands of rows: the row, and that all blocks stand in one line. */
static void many_arrays(void **state) {
    (void)state;
    static const pick picks[] = {
        {tess_u8, 4, {70000, 48, 48, 3}, 2, 3, false, "patch"},          {tess_f32, 4, {70000, 48, 48, 3}, 2, 3, false, "flat"},
        {tess_u8, 4, {70000, 48, 48, 3}, 2, 5, true, "patch_separable"}, {tess_f32, 4, {70000, 48, 48, 3}, 2, 9, true, "separable2d"},
        {tess_f32, 4, {70000, 8, 32, 32}, 3, 5, false, "brick"},         {tess_f32, 2, {1000000, 3000}, 1, 9, false, "patch"}};
    for (int i = 0; i < TESS_COUNT(picks); i++) {
        tess_plan *plan = plan_of(&picks[i]);
        const tess_gpu_layout *layout = &((const tess_gpu_plan *)plan->prepared)->layout;
        for (int s = 0; s < layout->steps; s++)
            if (layout->step[s].grid.grid[0] <= 65535 || layout->step[s].grid.grid[1] != 1 || layout->step[s].grid.grid[2] != 1)
                fail_msg("case %d: launch %d has %lld x %lld x %lld blocks", i, s, (long long)layout->step[s].grid.grid[0],
                         (long long)layout->step[s].grid.grid[1], (long long)layout->step[s].grid.grid[2]);
        gpu_test_chosen(plan, picks[i].row, i);
    }
}

/* What many short rows and many small arrays are given to (gpu_narrow.c), and few of them. */
static void small_arrays(void **state) {
    (void)state;
    static const pick picks[] = {{tess_f32, 2, {335544, 200}, 1, 9, false, "tile1d"},
                                 {tess_f32, 2, {600, 100}, 1, 9, false, "patch"},
                                 {tess_u8, 2, {322638, 208}, 1, 9, false, "tile1d"},
                                 {tess_u8, 2, {131072, 512}, 1, 9, false, "patch"},
                                 {tess_u8, 2, {524288, 128}, 1, 3, false, "patch"},
                                 {tess_f16, 2, {67108, 1000}, 1, 9, false, "tile1d"},
                                 {tess_u8, 2, {333874, 201}, 1, 9, false, "tile1d_odd"},
                                 {tess_u8, 2, {1048576, 64}, 1, 9, false, "short_rows"},
                                 {tess_f32, 4, {16384, 16, 16, 16}, 3, 3, false, "short_rows"},
                                 {tess_f32, 4, {75, 96, 96, 96}, 3, 3, false, "march3d"},
                                 {tess_u8, 4, {2048, 32, 32, 32}, 3, 5, false, "brick"},
                                 {tess_f32, 4, {16384, 16, 16, 16}, 3, 9, true, "mixed"},
                                 {tess_u8, 4, {4854, 24, 24, 24}, 3, 3, true, "short_rows"},
                                 {tess_f32, 4, {606, 48, 48, 48}, 3, 5, true, "separable3d"},
                                 {tess_f32, 3, {8192, 64, 128}, 2, 5, true, "short_rows"},
                                 {tess_u8, 4, {9709, 48, 48, 3}, 2, 5, true, "patch_separable"},
                                 {tess_f32, 3, {262144, 16, 16}, 2, 5, true, "short_rows"},
                                 {tess_f32, 4, {9709, 48, 48, 3}, 2, 3, false, "flat"},
                                 {tess_u8, 4, {28532, 28, 28, 3}, 2, 3, false, "short_rows"},
                                 {tess_u8, 4, {9709, 48, 48, 3}, 2, 3, false, "patch"},
                                 {tess_f16, 3, {16384, 64, 64}, 2, 3, false, "short_rows"},
                                 {tess_f16, 3, {16384, 64, 64}, 2, 5, false, "patch"},
                                 {tess_u8, 4, {200, 64, 64, 64}, 3, 3, false, "short_rows"},
                                 {tess_f32, 4, {40, 80, 80, 80}, 3, 3, false, "march3d"},
                                 {tess_f32, 4, {1, 64, 64, 64}, 3, 3, false, "march3d"},
                                 {tess_f16, 4, {4000, 16, 16, 16}, 3, 3, true, "short_rows"},
                                 {tess_f32, 4, {400, 48, 48, 48}, 3, 3, true, "short_rows"},
                                 {tess_f32, 4, {400, 20, 20, 20}, 3, 5, true, "short_rows"},
                                 {tess_u8, 4, {8000, 7, 21, 23}, 3, 5, true, "mixed"},
                                 {tess_f32, 4, {2000, 16, 16, 16}, 3, 9, true, "mixed"},
                                 {tess_u8, 4, {200, 64, 64, 64}, 3, 3, true, "lanes3d"},
                                 {tess_u8, 4, {800, 40, 40, 40}, 3, 3, true, "short_rows"}};
    for (int i = 0; i < TESS_COUNT(picks); i++)
        gpu_test_chosen(plan_of(&picks[i]), picks[i].row, i);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(folded), cmocka_unit_test(many_arrays), cmocka_unit_test(small_arrays)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

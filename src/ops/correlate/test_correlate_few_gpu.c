/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_few_gpu.c - proves: over few rows or planes, fewer than the mask has taps along them, every row that takes the problem has the reference's bits: by every boundary that turns
 * back, where the mask reaches just to the other end; and that those rows take them. */
#include "correlate_parts.h"
#include "ops/correlate/correlate.h"

static tess_context *context;
static tess_engine engine;
static int ran;

static const part_case cases[] = {
    {F32, 2, {4, 1040}, 2, {0, 1}, {5, 5}, false, {0, 1}, {0, 1}, 0, 0},
    {U8, 2, {4, 2080}, 2, {0, 1}, {5, 3}, false, {0, 1}, {0, 1}, 0, 0},
    {F16, 2, {3, 1043}, 2, {0, 1}, {4, 3}, false, {0, 1}, {0, 1}, 0, 0},
    {tess_u8, tess_i8, tess_u8, 2, {5, 1553}, 2, {0, 1}, {7, 3}, false, {0, 1}, {0, 1}, 0, 0},
    {F32, 2, {6, 777}, 2, {0, 1}, {9, 5}, false, {0, 1}, {0, 1}, 0, 0},
    {F32, 3, {4, 37, 520}, 3, {0, 1, 2}, {7, 3, 3}, false, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {U8, 3, {3, 40, 1041}, 3, {0, 1, 2}, {5, 3, 3}, false, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {F32, 3, {31, 3, 264}, 3, {0, 1, 2}, {3, 4, 3}, false, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {F32, 3, {9, 4, 264}, 3, {1, 2, 0}, {5, 3, 3}, false, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {F32, 3, {3, 41, 300}, 2, {0, 1}, {5, 7}, false, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {U8, 2, {6, 2048}, 2, {0, 1}, {9, 9}, false, {0, 1}, {0, 1}, 0, 0},
    {F16, 3, {5, 3, 264}, 3, {0, 1, 2}, {7, 4, 5}, false, {0, 1, 2}, {0, 1, 2}, 0, 0},
    {U8, 3, {4, 95, 3}, 2, {0, 1}, {5, 5}, false, {0, 1, 2}, {0, 1, 2}, 0, 0},
};

static bool is_another(const tess_strategy *row) {
    static const char *const others[] = {"correlate/brick",   "correlate/brick_odd", "correlate/wide",
                                         "correlate/general", "correlate/turned",    "correlate/mixed"};
    for (int i = 0; i < TESS_COUNT(others); i++)
        if (strcmp(row->name, others[i]) == 0)
            return true;
    return !row->gpu->production;
}

static void few_rows_and_planes(void **state) {
    (void)state;
    uint64_t random = 613;
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int boundary = TESS_BOUNDARY_NEAREST; boundary <= TESS_BOUNDARY_WRAP; boundary++) {
            if (gpu_test_spared(engine, i + boundary, 2, 10))
                continue;
            for (int r = 0; r < tess_correlate_op.gpu_count; r++)
                if (!is_another(&tess_correlate_op.gpu_rows[r]))
                    ran += parts_compare(context, engine, tess_correlate_op.gpu_rows[r].name, &cases[i], (tess_boundary)boundary, TESS_EXTENT_SAME,
                                         &random);
        }
    if (ran < (TESS_SANITIZED ? 4 : 40))
        fail_msg("rows ran %d times", ran);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_rows_and_planes)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

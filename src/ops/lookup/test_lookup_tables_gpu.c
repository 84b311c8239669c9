/* SPDX-License-Identifier: Apache-2.0
 * test_lookup_tables_gpu.c - proves: tables one behind the other that the same indices or coordinates look up give the reference's bytes and sentence by every row of a GPU, wherever
 * their lines of out begin in a vector, however many of them a block has, and however its part of the indices ends; so do longer slices at coordinates; what the rows predict is counted. On a card when there is one. */
#include "lookup_gpu_rows.h"

typedef struct tables {
    tess_type table, index, out;
    int64_t lines, n, count, gap /* elements behind a line of out */;
} tables;

static void compare_tables(uint64_t *random, const tables *t, tess_interpolation interpolation, tess_outside outside, bool good) {
    hostile_array table, index, out;
    const int64_t table_shape[] = {t->lines, t->n}, out_shape[] = {t->lines, t->count + t->gap};
    const tess_lookup_options options = {.outside = outside, .fill = -3.25, .axis = 1, .interpolation = interpolation};
    hostile_make(&table, random, t->table, 2, table_shape, HOSTILE_COMPACT);
    hostile_make(&index, random, t->index, 1, &t->count, HOSTILE_COMPACT);
    hostile_make(&out, random, t->out, 2, out_shape, HOSTILE_COMPACT);
    hostile_fill(&table, random, 1);
    out.shape[1] = t->count;
    table.tensor.byte_offset = table.tensor.byte_offset / 16 * 16; /* others take another row */
    index.tensor.byte_offset = index.tensor.byte_offset / 16 * 16;
    out.tensor.byte_offset = out.tensor.byte_offset / 16 * 16;
    if (interpolation)
        set_reals(random, &index, t->n, good);
    else
        set_integers(random, &index, t->n, good);
    compare(&table, &index, &out, options);
    free_case(&table, &index, &out);
}

/* Elements and indices of every size; a few vectors, several turns of a block, several blocks. */
static void by_indices(void **state) {
    (void)state;
    uint64_t random = 51;
    static const tables cases[] = {{tess_f16, tess_i32, tess_f16, 5, 40, 9001, 0},  {tess_u8, tess_u16, tess_u8, 13, 76, 20003, 0},
                                   {tess_u8, tess_i64, tess_u8, 3, 50, 7001, 0},    {tess_f32, tess_u8, tess_f32, 9, 256, 8003, 0},
                                   {tess_f64, tess_i32, tess_f64, 4, 19, 4999, 0},  {tess_u8, tess_u8, tess_u8, 6, 100, 33333, 5},
                                   {tess_f32, tess_i64, tess_f32, 2, 300, 5, 1},    {tess_i16, tess_i64, tess_i16, 7, 9, 1000, 3},
                                   {tess_f16, tess_u16, tess_f16, 8, 3, 65536, 0},  {tess_c64, tess_i16, tess_c64, 3, 37, 2600, 1},
                                   {tess_c128, tess_i32, tess_c128, 3, 7, 1025, 0}, {tess_u8, tess_i32, tess_u8, 40, 15, 1, 0}};
    for (int i = 0; i < 2 * TESS_COUNT(cases); i++)
        compare_tables(&random, &cases[i % TESS_COUNT(cases)], TESS_INTERPOLATE_NONE, (tess_outside)((i + i / TESS_COUNT(cases)) % 4), i % 3 == 0);
}

static void by_coordinates(void **state) {
    (void)state;
    uint64_t random = 52;
    static const tables cases[] = {{tess_f32, tess_f32, tess_f32, 5, 40, 2003, 0},   {tess_u8, tess_f16, tess_u8, 17, 58, 4001, 0},
                                   {tess_u8, tess_f64, tess_u8, 3, 50, 1999, 1},     {tess_f16, tess_f64, tess_f16, 7, 70, 1001, 0},
                                   {tess_f64, tess_f32, tess_f64, 4, 3, 777, 0},     {tess_i8, tess_f32, tess_i8, 16, 9, 2000, 0},
                                   {tess_f64, tess_f64, tess_f32, 2, 30, 1025, 0},   {tess_f32, tess_bf16, tess_i16, 9, 12, 3, 0},
                                   {tess_c64, tess_f32, tess_c64, 3, 11, 515, 0},    {tess_f32, tess_f16, tess_c128, 3, 20, 601, 0},
                                   {tess_i32, tess_f16, tess_i32, 12, 131, 2666, 0}, {tess_u16, tess_f32, tess_u8, 4, 1, 130, 2}};
    for (int i = 0; i < 3 * TESS_COUNT(cases); i++)
        compare_tables(&random, &cases[i % TESS_COUNT(cases)], (tess_interpolation)(1 + (i + i / TESS_COUNT(cases)) % 3),
                       (tess_outside)((i / 3 + i / TESS_COUNT(cases)) % 4), i % 4 == 0);
}

typedef struct resized {
    tess_type table, index, out;
    int64_t lines, n, count, width, gap; /* width: elements of a slice; gap: elements behind it, or slices behind a line */
} resized;

/* between_lines: where the gap is. The number of the case says how: every method and policy comes. */
static void compare_resized(uint64_t *random, const resized *c, int number, bool between_lines) {
    hostile_array table, index, out;
    const bool flat = between_lines && c->width == 1;
    const int64_t behind = between_lines ? c->gap : 0, beside = between_lines ? 0 : c->gap;
    const int64_t table_shape[] = {c->lines, c->n + behind, c->width + beside}, out_shape[] = {c->lines, c->count + behind, c->width + beside};
    const tess_lookup_options options = {
        .outside = (tess_outside)(number % 4), .fill = -3.25, .axis = 1, .interpolation = (tess_interpolation)(1 + number % 3)};
    hostile_make(&table, random, c->table, 3 - flat, table_shape, HOSTILE_COMPACT);
    hostile_make(&index, random, c->index, 1, &c->count, HOSTILE_COMPACT);
    hostile_make(&out, random, c->out, 3 - flat, out_shape, HOSTILE_COMPACT);
    hostile_fill(&table, random, 1);
    table.shape[1] = c->n;
    out.shape[1] = c->count;
    if (!flat)
        table.shape[2] = out.shape[2] = c->width;
    if (!between_lines) { /* others take another row */
        table.tensor.byte_offset = table.tensor.byte_offset / 16 * 16;
        index.tensor.byte_offset = index.tensor.byte_offset / 16 * 16;
        out.tensor.byte_offset = out.tensor.byte_offset / 16 * 16;
    }
    set_reals(random, &index, c->n, number % 5 == 0);
    compare(&table, &index, &out, options);
    free_case(&table, &index, &out);
}

/* Slices without gaps behind the axis: lanes of a few and of whole warps, several pieces, vectors or single elements, lines of them; complex ones. */
static void slices_at_coordinates(void **state) {
    (void)state;
    uint64_t random = 53;
    static const resized cases[] = {{tess_f32, tess_f32, tess_f32, 1, 61, 50, 25, 0},   {tess_u8, tess_f32, tess_u8, 9, 10, 7, 667, 0},
                                    {tess_i8, tess_f32, tess_i8, 1, 95, 40, 282, 0},    {tess_f32, tess_f64, tess_f32, 2, 20, 9, 5000, 4},
                                    {tess_f16, tess_f32, tess_f16, 1, 56, 200, 7, 0},   {tess_u16, tess_f32, tess_u16, 3, 7, 7, 564, 2},
                                    {tess_f64, tess_f16, tess_f64, 3, 4, 30, 7, 1},     {tess_c64, tess_f32, tess_c64, 2, 9, 11, 37, 0},
                                    {tess_c128, tess_f64, tess_c128, 1, 9, 20, 16, 1},  {tess_f32, tess_bf16, tess_c64, 2, 5, 13, 12, 0},
                                    {tess_u8, tess_f32, tess_f32, 1, 3, 17, 4096, 16},  {tess_f64, tess_f32, tess_u8, 2, 1, 5, 8, 0},
                                    {tess_u8, tess_f64, tess_u8, 1, 400, 130, 1024, 0}, {tess_i32, tess_f32, tess_i32, 4, 40, 3, 4, 0}};
    for (int k = 0; k < TESS_COUNT(cases); k++)
        for (int turn = 0; turn < 3; turn++)
            compare_resized(&random, &cases[k], k + 5 * turn, false);
}

/* Lines without gaps in them by the same coordinates: one to a block and several, with gaps between lines, elements that begin between vectors, slices of one element to 16. */
static void lines_at_coordinates(void **state) {
    (void)state;
    uint64_t random = 54;
    static const resized cases[] = {{tess_f32, tess_f32, tess_f32, 300, 61, 50, 1, 0},    {tess_u8, tess_f32, tess_u8, 260, 37, 45, 3, 0},
                                    {tess_u8, tess_f32, tess_u8, 2100, 25, 41, 1, 1},     {tess_i16, tess_f16, tess_i16, 270, 33, 32, 1, 0},
                                    {tess_f16, tess_f32, tess_f16, 2060, 9, 35, 2, 0},    {tess_f64, tess_f64, tess_f64, 257, 20, 33, 3, 2},
                                    {tess_u8, tess_f32, tess_f32, 4, 90, 700, 3, 0},      {tess_c64, tess_f32, tess_c64, 9, 30, 40, 1, 1},
                                    {tess_bf16, tess_f32, tess_bf16, 11, 300, 301, 5, 0}, {tess_f32, tess_f64, tess_u16, 13, 70, 333, 16, 1},
                                    {tess_i8, tess_f32, tess_i8, 5, 4001, 1300, 4, 0},    {tess_f32, tess_f32, tess_f32, 7, 2, 64, 1, 0}};
    int lines = 0;
    while (tess_lookup_op.gpu_rows[lines].applicable != tess_lookup_gpu_line_points_fit)
        lines++;
    const int before = ran[lines];
    all_cases = true;
    for (int k = 0; k < TESS_COUNT(cases); k++)
        for (int turn = 0; turn < 3; turn++)
            compare_resized(&random, &cases[k], k + 5 * turn, true);
    all_cases = false;
    assert_int_equal(ran[lines] - before, 3 * TESS_COUNT(cases));
}

/* No index points inside, so that all of a thread's are seen to once more, which a compiler got wrong where a thread had two (notes-gpu.md). */
static void nothing_inside(void **state) {
    (void)state;
    uint64_t random = 55;
    static const struct {
        tess_type table, index;
        int64_t lines;
    } kinds[] = {{tess_f32, tess_f64, 9}, {tess_f32, tess_f64, 1}, {tess_f32, tess_f32, 9}, {tess_f64, tess_f32, 1}, {tess_f64, tess_f64, 9},
                 {tess_u8, tess_f16, 9},  {tess_u8, tess_f16, 1},  {tess_f32, tess_i32, 9}, {tess_f32, tess_i64, 1}, {tess_f64, tess_i32, 9},
                 {tess_f64, tess_i64, 1}, {tess_u8, tess_i16, 9},  {tess_f16, tess_i64, 9}};
    for (int i = 0; i < 2 * TESS_COUNT(kinds); i++) {
        hostile_array table, index, out;
        const int k = i / 2, real = kinds[k].index >= tess_f16;
        const int64_t n = 12, count = 242, table_shape[] = {kinds[k].lines, n}, out_shape[] = {kinds[k].lines, count};
        const tess_lookup_options options = {.outside = i % 2 ? TESS_OUTSIDE_WRAP : TESS_OUTSIDE_ERROR,
                                             .axis = 1,
                                             .interpolation = real ? (tess_interpolation)(1 + i % 3) : TESS_INTERPOLATE_NONE};
        hostile_make(&table, &random, kinds[k].table, 2, table_shape, HOSTILE_COMPACT);
        hostile_make(&index, &random, kinds[k].index, 1, &count, HOSTILE_COMPACT);
        hostile_make(&out, &random, kinds[k].table, 2, out_shape, HOSTILE_COMPACT);
        hostile_fill(&table, &random, 1);
        for (int64_t j = 0; j < count; j++)
            real ? set_real(&index, j, -7.25 - (double)(j % 5)) : set_integer(&index, j, j % 2 ? -1 - j % 29 : n + j % 31);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
}

static void rows_count_as_predicted(void **state) {
    (void)state;
    static const counted_case cases[] = {{tess_f32, tess_i32, 2, {5, 33}, 9000, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_f16, tess_i32, 2, {9, 33}, 20480, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_FILL},
                                         {tess_f16, tess_i32, 2, {3, 33}, 5003, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_CLIP},
                                         {tess_u8, tess_u16, 2, {13, 76}, 20000, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_CLIP},
                                         {tess_f64, tess_u8, 2, {4, 90}, 1501, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_WRAP},
                                         {tess_f32, tess_f32, 2, {5, 33}, 4096, 1, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_ERROR},
                                         {tess_u8, tess_f16, 2, {5, 33}, 2048, 1, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_CLIP},
                                         {tess_u8, tess_f16, 2, {5, 33}, 2051, 1, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_CLIP},
                                         {tess_f32, tess_f32, 3, {3, 20, 36}, 31, 1, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_CLIP},
                                         {tess_u8, tess_f32, 3, {2, 9, 282}, 33, 1, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_FILL},
                                         {tess_f64, tess_f64, 2, {30, 9}, 101, 0, TESS_INTERPOLATE_NEAREST, TESS_OUTSIDE_ERROR},
                                         {tess_f32, tess_f32, 2, {300, 70}, 70, 1, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_CLIP},
                                         {tess_u8, tess_f32, 3, {260, 40, 3}, 35, 1, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_FILL},
                                         {tess_u8, tess_f32, 2, {2100, 50}, 37, 1, TESS_INTERPOLATE_NEAREST, TESS_OUTSIDE_ERROR}};
    int compared[32] = {0};
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    gpu_counts_begin(context);
    for (int k = 0; k < TESS_COUNT(cases); k++)
        count_case(&cases[k], k, NULL, compared);
    gpu_counts_end(context);
    for (int r = 0; r < tess_lookup_op.gpu_count; r++)
        if ((tess_lookup_op.gpu_rows[r].applicable == tess_lookup_gpu_vectors_fit ||
             tess_lookup_op.gpu_rows[r].applicable == tess_lookup_gpu_shared_lines_fit ||
             tess_lookup_op.gpu_rows[r].applicable == tess_lookup_gpu_line_points_fit ||
             tess_lookup_op.gpu_rows[r].applicable == tess_lookup_gpu_point_slices_fit) &&
            compared[r] == 0)
            fail_msg("%s: no prediction was compared", tess_lookup_op.gpu_rows[r].name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_indices),           cmocka_unit_test(by_coordinates), cmocka_unit_test(slices_at_coordinates),
        cmocka_unit_test(lines_at_coordinates), cmocka_unit_test(nothing_inside), cmocka_unit_test(rows_count_as_predicted)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}

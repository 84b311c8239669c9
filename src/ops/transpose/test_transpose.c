/* SPDX-License-Identifier: Apache-2.0
 * test_transpose.c - proves that the reference follows the definition (against index arithmetic written here), and that every row gives its bytes for
 * every instruction set, thread counts 1 to 8, all element sizes, hostile layouts and odd sizes; that nothing beside out is written; and that arguments which
 * make no sense are refused with the status the header names. */
#include "transpose_contexts.h"

#include <sys/mman.h>

/* The definition, by index arithmetic of its own. */
static void expect_definition(const hostile_array *in, const hostile_array *out, const int *perm) {
    int64_t count = hostile_count(out);
    int ndim = out->tensor.ndim;
    for (int64_t i = 0; i < count; i++) {
        int64_t at[TESS_MAX_NDIM], rest = i, number = 0;
        for (int d = ndim - 1; d >= 0; d--) {
            at[perm[d]] = rest % out->shape[d];
            rest /= out->shape[d];
        }
        for (int d = 0; d < ndim; d++)
            number = number * in->shape[d] + at[d];
        if (memcmp(hostile_element(out, i), hostile_element(in, number), (size_t)out->itemsize) != 0)
            fail_msg("element %lld of out is not element %lld of in", (long long)i, (long long)number);
    }
}

static void clear(hostile_array *a) { memset(a->block, HOSTILE_POISON, a->block_size); }

/* Runs every row that says it can on every context, and compares. Returns how many rows ran. */
static int every_row(const hostile_array *in, hostile_array *out, const int *perm) {
    int ran = 0;
    for (int r = 0; r < tess_transpose_op.count; r++)
        for (int c = 0; c < context_count; c++) {
            const char *name = tess_transpose_op.rows[r].name;
            tess_report report = {.struct_size = sizeof report};
            tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = in->tensor.ndim};
            options.call.strategy = name;
            options.call.report = &report;
            clear(out);
            tess_status status = tess_transpose(contexts[c], &in->tensor, &out->tensor, &options);
            if (status == TESS_ERR_STRATEGY) {
                assert_non_null(strstr(tess_detail(), "cannot run here"));
                break;
            }
            if (status != TESS_OK)
                fail_msg("%s: %s", name, tess_detail());
            assert_string_equal(report.strategy, name);
            expect_definition(in, out, perm);
            assert_true(hostile_intact(out));
            assert_true(hostile_intact(in));
            ran += c == 0;
        }
    return ran;
}

static void random_perm(uint64_t *random, int *perm, int ndim) {
    for (int d = 0; d < ndim; d++)
        perm[d] = d;
    for (int d = 1; d < ndim; d++) {
        int other = (int)hostile_between(random, 0, d);
        perm[d] = perm[other];
        perm[other] = d;
    }
}

static void one_case(uint64_t *random, tess_type type, int ndim, const int64_t *shape, const int *perm, int in_layout, int out_layout, int least) {
    hostile_array in, out;
    int64_t out_shape[TESS_MAX_NDIM];
    for (int d = 0; d < ndim; d++)
        out_shape[d] = shape[perm[d]];
    hostile_make(&in, random, type, ndim, shape, in_layout);
    hostile_make(&out, random, type, ndim, out_shape, out_layout);
    hostile_fill(&in, random, 2);
    assert_true(every_row(&in, &out, perm) >= least);
    hostile_free(&in);
    hostile_free(&out);
}

static void random_layouts(void **state) {
    (void)state;
    uint64_t random = 11;
    static const int64_t most[] = {1, 2000, 80, 18, 8, 5, 4};
    for (int round = 0; round < 400; round++) {
        int ndim = (int)hostile_between(&random, 0, 6), perm[6];
        int64_t shape[6];
        for (int d = 0; d < ndim; d++)
            shape[d] = hostile_between(&random, hostile_between(&random, 0, 40) ? 1 : 0, most[ndim]);
        random_perm(&random, perm, ndim);
        one_case(&random, sized[round % 5], ndim, shape, perm, round / 5 % 2, round / 10 % 2, 3);
    }
}

/* The same of an array whose last axis is walked from its end. */
static void backward_case(uint64_t *random, tess_type type, int64_t rows, int64_t columns, int least) {
    static const int swapped[] = {1, 0};
    hostile_array in, out;
    hostile_make(&in, random, type, 2, (int64_t[]){rows, columns}, HOSTILE_COMPACT);
    hostile_make(&out, random, type, 2, (int64_t[]){columns, rows}, HOSTILE_COMPACT);
    hostile_fill(&in, random, 2);
    in.strides[1] = -1;
    in.tensor.byte_offset += (uint64_t)((columns - 1) * in.itemsize);
    assert_true(every_row(&in, &out, swapped) >= least);
    hostile_free(&in);
    hostile_free(&out);
}

/* Both sides of every tile, band and block edge, for the rows that tile. */
static void edges_of_tiles(void **state) {
    (void)state;
    uint64_t random = 12;
    static const int64_t sides[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 257};
    static const int swapped[] = {1, 0};
    for (int t = 0; t < 5; t++)
        for (int a = 0; a < TESS_COUNT(sides); a++)
            for (int b = 0; b < TESS_COUNT(sides); b++) {
                if ((a + b + t) % 3 != 0)
                    continue;
                int64_t shape[] = {sides[a], sides[b]};
                one_case(&random, sized[t], 2, shape, swapped, HOSTILE_COMPACT, HOSTILE_COMPACT, shape[0] > 1 && shape[1] > 1 ? 4 : 3);
                if ((a + b + t) % 6 == 0)
                    backward_case(&random, sized[t], sides[a], sides[b], shape[0] > 1 && shape[1] > 1 ? 4 : 3);
            }
}

/* Small arrays one after another: of every size about those of one vector and of two, so many that some, one and none are left over. */
static void small_arrays(void **state) {
    (void)state;
    uint64_t random = 23;
    static const int64_t shapes[][3] = {{2, 2, 1}, {4, 3, 1},  {3, 7, 1}, {8, 4, 1},  {8, 8, 1},  {5, 13, 1}, {7, 9, 1},
                                        {2, 3, 5}, {11, 6, 1}, {4, 4, 4}, {3, 43, 1}, {16, 8, 1}, {9, 31, 1}};
    static const int perms[][4] = {{0, 2, 1, 3}, {0, 3, 2, 1}, {0, 3, 1, 2}};
    for (int i = 0; i < TESS_COUNT(shapes); i++)
        for (int64_t count = 2; count < 40; count += 1 + count / 5)
            for (int t = 0; t < 5; t++)
                if ((i + count + t) % 4 != 3)
                    one_case(&random, sized[t], 4, (int64_t[]){count, shapes[i][0], shapes[i][1], shapes[i][2]},
                             perms[(i + t) % (shapes[i][2] > 1 ? 3 : 2)], HOSTILE_COMPACT, HOSTILE_COMPACT, 2);
}

/* Many short axes: blocks over several of them, one of which is cut anywhere. */
static void many_axes(void **state) {
    (void)state;
    uint64_t random = 27;
    for (int round = 0; round < 60; round++) {
        int64_t shape[12];
        int perm[12], ndim = (int)hostile_between(&random, 5, 12);
        for (int64_t d = 0, left = 30000; d < ndim; left /= shape[d++])
            shape[d] = hostile_between(&random, 1, left < 8 ? 1 : d == round % ndim ? 40 : 4);
        random_perm(&random, perm, ndim);
        one_case(&random, sized[round % 5], ndim, shape, perm, round % 3 == 0, round % 4 == 0, 3);
    }
}

/* b x n x c elements, every k-th of a row's, from its end or from its start, of which each has its c neighbours, these backwards or not. */
static void picked_case(uint64_t *random, tess_type type, int64_t b, int64_t n, int64_t c, int64_t k, int backwards, const int *perm, int least) {
    hostile_array in, out;
    const int64_t shape[] = {b, n, c};
    hostile_make(&in, random, type, 2, (int64_t[]){b, n * k + c}, HOSTILE_COMPACT);
    hostile_make(&out, random, type, 3, (int64_t[]){shape[perm[0]], shape[perm[1]], shape[perm[2]]}, HOSTILE_COMPACT);
    in.tensor.ndim = 3;
    memcpy(in.shape, shape, sizeof shape);
    in.strides[0] = n * k + c;
    in.strides[1] = backwards & 1 ? -k : k;
    in.strides[2] = backwards & 2 ? -1 : 1;
    in.tensor.byte_offset += (uint64_t)((backwards & 1 ? (n - 1) * k : 0) + (backwards & 2 ? c - 1 : 0)) * (uint64_t)in.itemsize;
    hostile_fill(&in, random, 2);
    assert_true(every_row(&in, &out, perm) >= least);
    hostile_free(&in);
    hostile_free(&out);
}

/* Rows that permutes of bytes make: steps from 0 on, as far as two vectors reach, and farther; pieces that are whole and that are not; a few columns together. */
static void picks(void **state) {
    (void)state;
    uint64_t random = 31;
    static const int64_t lengths[] = {1, 2, 5, 21, 31, 32, 33, 63, 64, 65, 127, 200};
    static const int same[] = {0, 1, 2}, planes[] = {2, 0, 1}, rows[] = {0, 2, 1};
    for (int t = 0; t < 5; t++)
        for (int64_t k = 0; k <= 9; k++)
            for (int i = 0; i < TESS_COUNT(lengths); i++) {
                const int64_t c = 1 + (i + t) % 4, near = k <= 64 / (int64_t)tess_type_size(sized[t]);
                const int *perm = i % 3 == 0 ? same : i % 3 == 1 ? planes : rows;
                if ((i + k + t) % 2 == 0)
                    picked_case(&random, sized[t], 1 + i % 3, lengths[i], c, k, (int)(i + k) % 4, perm,
                                lengths[i] > 1 && near && perm != same ? 4 : 3);
            }
    for (int64_t k = 3; k < 70; k += 6) /* columns of bytes, more than are made together */
        picked_case(&random, tess_u8, 2, 150, k, k, (int)k % 4, planes, 3);
}

/* Nothing is read before the first element and behind the last: memory there is nobody's. Rows of every length from either end. */
static void edges_of_memory(void **state) {
    (void)state;
    enum { PAGE = 4096, MOST = 400 };
    char *const memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *const page = memory + PAGE;
    assert_true(memory != MAP_FAILED && mprotect(memory, PAGE, PROT_NONE) == 0 && mprotect(page + PAGE, PAGE, PROT_NONE) == 0);
    for (int i = 0; i < PAGE; i++)
        page[i] = (char)(i * 37 + i / 256);
    static const int same[] = {0};
    for (int64_t n = 2; n <= MOST; n++)
        for (int64_t step = 2; step <= 9; step += 1 + step / 3)
            for (int way = 0; way < 4; way++) { /* at the page's start or end, forwards or backwards */
                unsigned char out[MOST];
                const int64_t span = (n - 1) * step + 1, strides[] = {way & 1 ? -step : step},
                              start = (way & 2 ? PAGE - span : 0) + (way & 1 ? span - 1 : 0);
                DLTensor from = tess_view(page + start, tess_u8, 1, &n, (int64_t *)(uintptr_t)strides), to = tess_view(out, tess_u8, 1, &n, NULL);
                tess_transpose_options options = {.struct_size = sizeof options, .perm = same, .nperm = 1, .call.strategy = "transpose/picks"};
                assert_tess_ok(tess_transpose(contexts[(n + step) % context_count], &from, &to, &options));
                for (int64_t i = 0; i < n; i++)
                    assert_int_equal((char)out[i], page[start + i * strides[0]]);
            }
    munmap(memory, 3 * PAGE);
}

/* Runs of 3 bytes are turned as words, a vector of them at a time: sizes about those, rows at the same and at other places of a line. */
static void runs_of_three(void **state) {
    (void)state;
    uint64_t random = 19;
    static const int64_t sides[] = {42, 43, 44, 63, 64, 65, 79, 80, 81, 95, 96, 128, 129, 192, 193, 257, 320};
    static const int swapped[] = {1, 0, 2};
    for (int a = 0; a < TESS_COUNT(sides); a++)
        for (int b = 0; b < TESS_COUNT(sides); b++)
            if ((a + b) % 2 == 0 || a == b)
                one_case(&random, tess_u8, 3, (int64_t[]){sides[a], sides[b], 3}, swapped, HOSTILE_COMPACT, HOSTILE_COMPACT, 2);
    for (int odd = 0; odd < 2; odd++) { /* past the caches */
        const int64_t rows = 1700, columns = 1728 - 27 * odd, bytes = rows * columns * 3;
        char *in = malloc((size_t)bytes), *out = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64), *expected = malloc((size_t)bytes);
        assert_true(in && out && expected && bytes >= 8 << 20);
        for (int64_t i = 0; i < bytes; i++)
            in[i] = (char)hostile_random(&random);
        for (int64_t i = 0; i < columns; i++)
            for (int64_t j = 0; j < rows; j++)
                for (int k = 0; k < 3; k++)
                    expected[(i * rows + j) * 3 + k] = in[(j * columns + i) * 3 + k];
        DLTensor from = tess_view(in, tess_u8, 3, (int64_t[]){rows, columns, 3}, NULL),
                 to = tess_view(out, tess_u8, 3, (int64_t[]){columns, rows, 3}, NULL);
        for (int c = 0; c < context_count; c++) {
            tess_transpose_options options = {.struct_size = sizeof options, .perm = swapped, .nperm = 3, .call.strategy = "transpose/runs"};
            memset(out, HOSTILE_POISON, (size_t)bytes);
            assert_tess_ok(tess_transpose(contexts[c], &from, &to, &options));
            assert_true(memcmp(out, expected, (size_t)bytes) == 0);
        }
        free(in);
        free(out);
        free(expected);
    }
}

static void broadcast_and_long_inputs(void **state) {
    (void)state;
    uint64_t random = 14;
    for (int round = 0; round < 60; round++) {
        hostile_array in, out;
        int64_t n = hostile_between(&random, 1, 90), m = hostile_between(&random, 1, 90), shape[] = {n, m}, out_shape[] = {m, n};
        hostile_make(&in, &random, sized[round % 5], 2, shape, HOSTILE_COMPACT);
        hostile_make(&out, &random, sized[round % 5], 2, out_shape, round % 2);
        hostile_fill(&in, &random, 2);
        in.strides[round / 2 % 2] = 0;
        if (round % 7 == 0)
            in.strides[0] = in.strides[1] = 0;
        static const int perm[] = {1, 0};
        for (int c = 0; c < context_count; c++)
            for (int r = 0; r < tess_transpose_op.count; r++) {
                tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = 2};
                options.call.strategy = tess_transpose_op.rows[r].name;
                clear(&out);
                if (tess_transpose(contexts[c], &in.tensor, &out.tensor, &options) == TESS_ERR_STRATEGY)
                    continue;
                expect_definition(&in, &out, perm);
                assert_true(hostile_intact(&out));
            }
        hostile_free(&in);
        hostile_free(&out);
    }
    /* Planes to pixels and back. */
    for (int round = 0; round < 40; round++) {
        static const int planes[] = {0, 2, 1};
        int64_t length = hostile_between(&random, 1, round % 10 ? 700 : 9000), group = hostile_between(&random, 2, 5);
        one_case(&random, sized[round % 5], 3, (int64_t[]){3, length, group}, planes, HOSTILE_COMPACT, HOSTILE_COMPACT,
                 group < 5 && length > 1 ? 4 : 2);
        one_case(&random, sized[round % 5], 3, (int64_t[]){3, group, length}, planes, HOSTILE_COMPACT, HOSTILE_COMPACT,
                 group < 5 && length > 1 ? 4 : 2);
    }
    /* Runs long enough to be cut, and short ones between moving axes. */
    static const int perm[] = {1, 0, 2};
    one_case(&random, tess_f32, 3, (int64_t[]){3, 2, 40000}, perm, HOSTILE_COMPACT, HOSTILE_COMPACT, 3);
    one_case(&random, tess_u8, 3, (int64_t[]){2, 3, 65537 * 2}, perm, HOSTILE_COMPACT, HOSTILE_COMPACT, 3);
    one_case(&random, tess_u8, 3, (int64_t[]){3, 2, 65537}, perm, HOSTILE_COMPACT, HOSTILE_COMPACT, 3);
    one_case(&random, tess_c128, 3, (int64_t[]){2, 2, 4096 + 67}, perm, HOSTILE_COMPACT, HOSTILE_COMPACT, 3);
    for (int64_t run = 1; run < 40; run += 1 + run / 9)
        one_case(&random, sized[run % 3], 3, (int64_t[]){27, 21, run}, perm, HOSTILE_COMPACT, HOSTILE_COMPACT, 2);
}

static void rank_64(void **state) {
    (void)state;
    uint64_t random = 15;
    int64_t shape[64];
    int perm[64];
    for (int d = 0; d < 64; d++)
        shape[d] = d % 13 == 0 ? 3 : 1;
    for (int round = 0; round < 20; round++) {
        random_perm(&random, perm, 64);
        one_case(&random, sized[round % 5], 64, shape, perm, HOSTILE_COMPACT, round % 2, 2);
    }
}

static void refusals(void **state) {
    (void)state;
    float a[12], b[12];
    DLTensor in = tess_view(a, tess_f32, 2, (int64_t[]){3, 4}, NULL), out = tess_view(b, tess_f32, 2, (int64_t[]){4, 3}, NULL);
    static const int twice[] = {0, 0}, beyond[] = {0, 2}, fine[] = {-1, -2};
    tess_transpose_options options = {.struct_size = sizeof options, .perm = twice, .nperm = 2};
    assert_tess_fails(tess_transpose(NULL, &in, &out, &options), TESS_ERR_AXIS);
    options.perm = beyond;
    assert_tess_fails(tess_transpose(NULL, &in, &out, &options), TESS_ERR_AXIS);
    options.perm = fine;
    options.nperm = 1;
    assert_tess_fails(tess_transpose(NULL, &in, &out, &options), TESS_ERR_AXIS);
    options.nperm = 2;
    assert_tess_ok(tess_transpose(NULL, &in, &out, &options));
    options.perm = NULL;
    assert_tess_fails(tess_transpose(NULL, &in, &out, &options), TESS_ERR_ARGUMENT);
    options.nperm = 0;
    assert_tess_ok(tess_transpose(NULL, &in, &out, &options));
    DLTensor wrong = tess_view(b, tess_i32, 2, (int64_t[]){4, 3}, NULL);
    assert_tess_fails(tess_transpose(NULL, &in, &wrong, NULL), TESS_ERR_TYPE);
    wrong = tess_view(b, tess_f32, 2, (int64_t[]){3, 4}, NULL);
    assert_tess_fails(tess_transpose(NULL, &in, &wrong, NULL), TESS_ERR_SHAPE);
    wrong = tess_view(b, tess_f32, 1, (int64_t[]){12}, NULL);
    assert_tess_fails(tess_transpose(NULL, &in, &wrong, NULL), TESS_ERR_SHAPE);
    wrong = tess_view(b, tess_f32, 2, (int64_t[]){4, 3}, (int64_t[]){1, 1});
    assert_tess_fails(tess_transpose(NULL, &in, &wrong, NULL), TESS_ERR_OVERLAP);
    wrong = tess_view(NULL, tess_f32, 2, (int64_t[]){4, 3}, NULL);
    assert_tess_fails(tess_transpose(NULL, &in, &wrong, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_transpose(NULL, NULL, &out, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_transpose(NULL, &in, NULL, NULL), TESS_ERR_ARGUMENT);
    /* Interleaved memory is no overlap: the even elements into the odd ones. */
    float both[24];
    in = tess_view(both, tess_f32, 2, (int64_t[]){3, 4}, (int64_t[]){8, 2});
    out = tess_view(both + 1, tess_f32, 2, (int64_t[]){4, 3}, (int64_t[]){6, 2});
    for (int i = 0; i < 24; i++)
        both[i] = (float)i;
    assert_tess_ok(tess_transpose(NULL, &in, &out, NULL));
    assert_true(both[0] == 0 && both[2] == 2 && both[1] == 0 && both[3] == 8 && both[7] == 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_layouts), cmocka_unit_test(edges_of_tiles),
        cmocka_unit_test(small_arrays),   cmocka_unit_test(many_axes),
        cmocka_unit_test(picks),          cmocka_unit_test(edges_of_memory),
        cmocka_unit_test(runs_of_three),  cmocka_unit_test(broadcast_and_long_inputs),
        cmocka_unit_test(rank_64),        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

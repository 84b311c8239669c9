/* SPDX-License-Identifier: Apache-2.0
 * test_transpose.c - proves that the reference follows the definition (against index arithmetic written here), and that every row gives its bytes for
 * every instruction set, thread counts 1 to 8, all element sizes, hostile layouts, odd sizes and, in place, squares, rectangles and batches; that
 * nothing beside out is written; and that arguments which make no sense are refused with the status the header names. */
#include "hostile.h"

#include "core/cpu.h"
#include "ops/transpose/transpose.h"

static const tess_type sized[] = {tess_u8, tess_f16, tess_f32, tess_c64, tess_c128}; /* 1, 2, 4, 8, 16 bytes */

enum { CONTEXTS = 5 };
static tess_context *contexts[CONTEXTS]; /* every instruction set that this machine has, with thread counts from 1 to 8 */
static int context_count;

static int open_contexts(void **state) {
    static const struct {
        tess_isa isa;
        int threads;
    } settings[CONTEXTS] = {{TESS_ISA_BASELINE, 1}, {TESS_ISA_BASELINE, 8}, {TESS_ISA_AVX2, 3}, {TESS_ISA_AVX512, 2}, {TESS_ISA_NEON, 5}};
    static const tess_isa_slot slots[CONTEXTS] = {TESS_SLOT_BASELINE, TESS_SLOT_BASELINE, TESS_SLOT_AVX2, TESS_SLOT_AVX512, TESS_SLOT_NEON};
    (void)state;
    for (int i = 0; i < CONTEXTS; i++) {
        tess_context_options options = {.struct_size = sizeof options, .threads = settings[i].threads, .isa = settings[i].isa};
        if (tess_cpu_has_slot(slots[i]) && tess_open(&contexts[context_count++], &options) != TESS_OK)
            return -1;
    }
    return 0;
}
static int close_contexts(void **state) {
    (void)state;
    while (context_count > 0)
        tess_close(contexts[--context_count]);
    return 0;
}

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
        one_case(&random, sized[round % 5], ndim, shape, perm, round / 5 % 2, round / 10 % 2, 2);
    }
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
                one_case(&random, sized[t], 2, shape, swapped, HOSTILE_COMPACT, HOSTILE_COMPACT, shape[0] > 1 && shape[1] > 1 ? 3 : 2);
            }
}

/* rows x columns turned by one strategy, out `offset` bytes behind a line, on every context. */
static void turned(uint64_t *random, tess_type type, int64_t rows, int64_t columns, int offset, const char *strategy) {
    int64_t size = (int64_t)tess_type_size(type), bytes = rows * columns * size;
    char *in = aligned_alloc(64, (size_t)(bytes + 191) / 64 * 64), *out = aligned_alloc(64, (size_t)(bytes + 191) / 64 * 64);
    assert_non_null(in);
    assert_non_null(out);
    for (int64_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t bits = hostile_random(random);
        memcpy(in + i, &bits, 8);
    }
    DLTensor from = tess_view(in, type, 2, (int64_t[]){rows, columns}, NULL), to = tess_view(out, type, 2, (int64_t[]){columns, rows}, NULL);
    to.byte_offset = (uint64_t)offset;
    for (int c = 0; c < context_count; c++) {
        tess_transpose_options options = {.struct_size = sizeof options};
        options.call.strategy = strategy;
        memset(out, HOSTILE_POISON, (size_t)bytes + 128);
        assert_tess_ok(tess_transpose(contexts[c], &from, &to, &options));
        const char *o = out + offset;
        for (int64_t i = 0; i < columns; i++)
            for (int64_t j = 0; j < rows; j++)
                if (memcmp(o + (i * rows + j) * size, in + (j * columns + i) * size, (size_t)size) != 0)
                    fail_msg("%s, %lld x %lld of %lld bytes: [%lld, %lld] differs", strategy, (long long)rows, (long long)columns, (long long)size,
                             (long long)i, (long long)j);
        for (int64_t i = 0; i < 128; i++) {
            const char *outside = i < offset ? out + i : out + bytes + i;
            assert_int_equal((unsigned char)*outside, HOSTILE_POISON);
        }
    }
    free(in);
    free(out);
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
        char *in = malloc((size_t)bytes), *out = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
        assert_true(in && out && bytes >= 8 << 20);
        for (int64_t i = 0; i < bytes; i++)
            in[i] = (char)hostile_random(&random);
        DLTensor from = tess_view(in, tess_u8, 3, (int64_t[]){rows, columns, 3}, NULL),
                 to = tess_view(out, tess_u8, 3, (int64_t[]){columns, rows, 3}, NULL);
        for (int c = 0; c < context_count; c++) {
            tess_transpose_options options = {.struct_size = sizeof options, .perm = swapped, .nperm = 3, .call.strategy = "transpose/runs"};
            memset(out, HOSTILE_POISON, (size_t)bytes);
            assert_tess_ok(tess_transpose(contexts[c], &from, &to, &options));
            for (int64_t i = 0; i < columns; i++)
                for (int64_t j = 0; j < rows; j++)
                    assert_true(memcmp(out + (i * rows + j) * 3, in + (j * columns + i) * 3, 3) == 0);
        }
        free(in);
        free(out);
    }
}

/* Large results: stores past the caches, straight to aligned rows and by way of the staging buffer to others. */
static void large_results(void **state) {
    (void)state;
    uint64_t random = 13;
    for (int t = 0; t < 5; t++) {
        static const int64_t side[] = {3072, 2112, 1472, 1088, 768}; /* over 8 MiB each, lines of 64 bytes */
        assert_true(side[t] * side[t] * (int64_t)tess_type_size(sized[t]) >= 8 << 20);
        turned(&random, sized[t], side[t], side[t], 0, "transpose/tiles");
        turned(&random, sized[t], side[t] + 37, side[t] + 101, 3, "transpose/tiles");
    }
}

/* Results past the caches that are as high as a few tiles, and as some bands, with rows left over: where tiles are done several at once, each number of them, and
 * each remainder, ends another way. Rows of out that begin at lines without filling the last one, too. */
static void tiles_left_over(void **state) {
    (void)state;
    uint64_t random = 23;
    static const int64_t lines[] = {8, 9, 10, 11, 12, 13, 15, 16, 17, 23, 32, 33, 40, 65, 97}, beside[] = {0, 1, 3, 31, 63};
    for (int t = 0; t < 5; t++)
        for (int k = 0; k < TESS_COUNT(lines); k++) {
            const int64_t size = (int64_t)tess_type_size(sized[t]), left = beside[k % TESS_COUNT(beside)] / size;
            const int64_t rows = lines[k] * 64 / size + left, columns = (4 << 20) / (rows * size) + 1 + 7 * k;
            turned(&random, sized[t], rows, columns, left == 0 ? 0 : k % 2 ? 0 : 5, "transpose/tiles");
        }
    for (int t = 0; t < 5; t++) {
        const int64_t size = (int64_t)tess_type_size(sized[t]), rows = 37 * 64 / size - 3 / size - 1, columns = 1791, pitch = 37 * 64 / size;
        char *in = malloc((size_t)(rows * columns * size)), *out = aligned_alloc(64, (size_t)(columns * pitch * size));
        assert_true(in && out);
        for (int64_t i = 0; i < rows * columns * size; i++)
            in[i] = (char)hostile_random(&random);
        int64_t strides[] = {pitch, 1};
        DLTensor from = tess_view(in, sized[t], 2, (int64_t[]){rows, columns}, NULL),
                 to = tess_view(out, sized[t], 2, (int64_t[]){columns, rows}, strides);
        for (int c = 0; c < context_count; c++) {
            tess_transpose_options options = {.struct_size = sizeof options, .call.strategy = "transpose/tiles"};
            memset(out, HOSTILE_POISON, (size_t)(columns * pitch * size));
            assert_tess_ok(tess_transpose(contexts[c], &from, &to, &options));
            for (int64_t i = 0; i < columns; i++)
                for (int64_t j = 0; j < pitch; j++)
                    if (j < rows)
                        assert_true(memcmp(out + (i * pitch + j) * size, in + (j * columns + i) * size, (size_t)size) == 0);
                    else
                        assert_int_equal((unsigned char)out[(i * pitch + j) * size], HOSTILE_POISON);
        }
        free(in);
        free(out);
    }
}

/* Past the caches, rows of the source a page and a way of the second-level cache apart: bands are lower there. */
static void rows_that_share_sets(void **state) {
    (void)state;
    uint64_t random = 29;
    for (int t = 0; t < 5; t++)
        for (int64_t pitch = 4096; pitch <= 128 << 10; pitch *= 32) {
            const int64_t size = (int64_t)tess_type_size(sized[t]), lines = (6 << 20) / (pitch * 64 / size) + 1;
            turned(&random, sized[t], lines * 64 / size, pitch / size, 0, "transpose/tiles");
        }
}

/* Past the caches, a batch whose axes lie in another order in out than in in, with rows of in shorter than a page and longer. */
static void batches_reversed(void **state) {
    (void)state;
    uint64_t random = 31;
    static const int reversed[] = {4, 3, 2, 1, 0};
    for (int t = 0; t < 5; t++)
        for (int k = 0; k < 2; k++) {
            const int64_t size = (int64_t)tess_type_size(sized[t]), q = 256 / size, p = (k ? 4100 : 900) / size + 5,
                          rest = (4 << 20) / (256 * 30 * p) + 1;
            int64_t shape[] = {q, 5, rest, 6, p}, turned_shape[] = {p, 6, rest, 5, q}, bytes = q * 30 * rest * p * size;
            char *in = aligned_alloc(64, (size_t)bytes), *out = aligned_alloc(64, (size_t)bytes);
            assert_true(in && out && bytes >= 4 << 20);
            for (int64_t i = 0; i + 8 <= bytes; i += 8) {
                uint64_t bits = hostile_random(&random);
                memcpy(in + i, &bits, 8);
            }
            DLTensor from = tess_view(in, sized[t], 5, shape, NULL), to = tess_view(out, sized[t], 5, turned_shape, NULL);
            for (int c = 0; c < context_count; c++) {
                tess_transpose_options options = {.struct_size = sizeof options, .perm = reversed, .nperm = 5, .call.strategy = "transpose/tiles"};
                memset(out, HOSTILE_POISON, (size_t)bytes);
                assert_tess_ok(tess_transpose(contexts[c], &from, &to, &options));
                const char *o = out;
                for (int64_t e = 0; e < p; e++)
                    for (int64_t d = 0; d < 6; d++)
                        for (int64_t b = 0; b < rest; b++)
                            for (int64_t a = 0; a < 5; a++)
                                for (int64_t i = 0; i < q; i++, o += size)
                                    if (memcmp(o, in + ((((i * 5 + a) * rest + b) * 6 + d) * p + e) * size, (size_t)size) != 0)
                                        fail_msg("%lld bytes: [%lld, %lld, %lld, %lld, %lld] differs", (long long)size, (long long)e, (long long)d,
                                                 (long long)b, (long long)a, (long long)i);
            }
            free(in);
            free(out);
        }
}

/* Groups of 2 to 4: whole vectors and what is left over of them, planes that begin anywhere in a line, results that stay in the caches and that do not. */
static void pixels_and_planes(void **state) {
    (void)state;
    uint64_t random = 19;
    static const int64_t planes[] = {1, 63, 4096, 4159, 70001, 4200064, 4300007}; /* bytes; from 4 MiB on in all a result goes past the caches */
    for (int t = 0; t < 4; t++)
        for (int64_t group = 2; group <= 4; group++)
            for (int k = 0; k < TESS_COUNT(planes); k++) {
                int64_t n = planes[k] / (int64_t)tess_type_size(sized[t]) / (k > 4 ? group : 1) + 5; /* more than a group, which is the short axis */
                turned(&random, sized[t], n, group, k % 3, "transpose/groups");
                turned(&random, sized[t], group, n, k % 3, "transpose/groups");
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
                 round % 5 < 4 && group < 5 && length > 1 ? 4 : 2);
        one_case(&random, sized[round % 5], 3, (int64_t[]){3, group, length}, planes, HOSTILE_COMPACT, HOSTILE_COMPACT,
                 round % 5 < 4 && group < 5 && length > 1 ? 4 : 2);
    }
    /* Runs long enough to be cut, and short ones between moving axes. */
    static const int perm[] = {1, 0, 2};
    one_case(&random, tess_f32, 3, (int64_t[]){3, 2, 40000}, perm, HOSTILE_COMPACT, HOSTILE_COMPACT, 3);
    one_case(&random, tess_u8, 3, (int64_t[]){2, 3, 65537 * 2}, perm, HOSTILE_COMPACT, HOSTILE_COMPACT, 3);
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

/* In place: batch x rows x columns x run becomes batch x columns x rows x run. */
static void in_place(const int64_t *shape4, tess_type type, uint64_t *random, const char *expected) {
    int64_t size = (int64_t)tess_type_size(type), count = shape4[0] * shape4[1] * shape4[2] * shape4[3], bytes = count * size;
    static const int perm[] = {0, 2, 1, 3};
    unsigned char *before = malloc((size_t)bytes + 1), *block = malloc((size_t)bytes + 256);
    assert_non_null(before);
    assert_non_null(block);
    for (int64_t i = 0; i < bytes; i++)
        before[i] = (unsigned char)(hostile_random(random) >> 13);
    int64_t shape[4] = {shape4[0], shape4[1], shape4[2], shape4[3]}, out_shape[4] = {shape[0], shape[2], shape[1], shape[3]};
    int64_t offset = hostile_between(random, 1, 100);
    DLTensor in = tess_view(block, type, 4, shape, NULL), out = tess_view(block, type, 4, out_shape, NULL);
    in.byte_offset = out.byte_offset = (uint64_t)offset;
    bool ran = false;
    for (int r = -1; r < tess_transpose_op.count; r++)
        for (int c = 0; c < context_count; c++) {
            tess_report report = {.struct_size = sizeof report};
            tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = 4};
            options.call.strategy = r < 0 ? NULL : tess_transpose_op.rows[r].name;
            options.call.report = &report;
            memset(block, HOSTILE_POISON, (size_t)bytes + 256);
            memcpy(block + offset, before, (size_t)bytes);
            tess_status status = tess_transpose(contexts[c], &in, &out, &options);
            if (r >= 0 && status == TESS_ERR_STRATEGY)
                break;
            assert_tess_ok(status);
            if (expected && r < 0)
                assert_string_equal(report.strategy, expected);
            ran = true;
            int64_t run = shape[3] * size;
            for (int64_t b = 0; b < shape[0]; b++)
                for (int64_t i = 0; i < shape[1]; i++)
                    for (int64_t j = 0; j < shape[2]; j++)
                        if (memcmp(block + offset + ((b * shape[2] + j) * shape[1] + i) * run, before + ((b * shape[1] + i) * shape[2] + j) * run,
                                   (size_t)run) != 0)
                            fail_msg("%s: %lld x %lld x %lld x %lld of %lld bytes: [%lld, %lld, %lld] is wrong", report.strategy, (long long)shape[0],
                                     (long long)shape[1], (long long)shape[2], (long long)shape[3], (long long)size, (long long)b, (long long)j,
                                     (long long)i);
            for (int64_t i = 0; i < 256; i++)
                assert_int_equal(block[i < offset ? i : bytes + i], HOSTILE_POISON);
        }
    assert_true(ran);
    free(before);
    free(block);
}

static void in_place_squares(void **state) {
    (void)state;
    uint64_t random = 16;
    static const int64_t sides[] = {1, 2, 3, 5, 16, 17, 31, 32, 64, 65, 100, 127, 128, 130, 200, 257};
    for (int s = 0; s < TESS_COUNT(sides); s++)
        for (int t = 0; t < 5; t++)
            in_place((int64_t[]){t == 1 ? 3 : 1, sides[s], sides[s], 1}, sized[t], &random, sides[s] > 1 ? "transpose/inplace_square" : NULL);
    for (int64_t run = 2; run < 30; run += 3)
        in_place((int64_t[]){2, 19, 19, run}, sized[run % 5], &random, "transpose/inplace_square");
    in_place((int64_t[]){500, 4, 4, 1}, tess_f32, &random, "transpose/inplace_square");
    in_place((int64_t[]){1, 700, 700, 1}, tess_u8, &random, "transpose/inplace_square");
    in_place((int64_t[]){1, 1501, 1501, 1}, tess_f32, &random, "transpose/inplace_square"); /* from 16 MiB on lines are asked for ahead */
    in_place((int64_t[]){2, 1500, 1500, 1}, tess_i16, &random, "transpose/inplace_square");
}

static void in_place_rectangles(void **state) {
    (void)state;
    uint64_t random = 17;
    for (int64_t m = 1; m <= 24; m++) /* every pair of small sizes; elements of 2000 bytes and more take the passes, the others the copy */
        for (int64_t n = 1; n <= 24; n++)
            in_place((int64_t[]){1 + (m + n) % 2, m, n, (m * n) % 3 == 0 ? 1 + 40000 / (m * n) : 1 + m % 5}, sized[(m + n) % 3], &random, NULL);
    static const int64_t pairs[][2] = {{1, 5000},  {5000, 1},  {2, 20011},  {20011, 2},  {97, 1009}, {1009, 97}, {256, 512}, {512, 256},
                                       {360, 240}, {240, 360}, {127, 1270}, {1270, 127}, {333, 334}, {3, 30000}, {30000, 3}, {128, 4096}};
    for (int p = 0; p < TESS_COUNT(pairs); p++)
        for (int t = 0; t < 5; t++)
            in_place((int64_t[]){1, pairs[p][0], pairs[p][1], 1}, sized[t], &random,
                     pairs[p][0] > 1 && pairs[p][1] > 1 ? "transpose/inplace_rectangular" : NULL);
    /* More than is copied out: rows and columns left over or not, cut one way or both, cycles in parts, elements in slices. */
    static const int64_t large[][3] = {{520, 530, 1},  {512, 640, 1},  {640, 513, 1},  {3, 100003, 1}, {100003, 3, 1}, {4, 70000, 1}, {1030, 1090, 1},
                                       {150, 170, 13}, {140, 150, 25}, {20, 30, 1030}, {3, 5, 40000},  {2, 3, 90000},  {7, 9000, 5},  {9000, 7, 5}};
    for (int p = 0; p < TESS_COUNT(large); p++)
        in_place((int64_t[]){1 + p % 2, large[p][0], large[p][1], large[p][2]}, sized[p % 5 == 3 || large[p][2] > 1000 ? 0 : p % 5], &random,
                 "transpose/inplace_rectangular");
    for (int t = 0; t < 4; t++)
        in_place((int64_t[]){1, 1100 >> t / 2, 1057 >> t / 2, 1}, sized[t], &random, "transpose/inplace_rectangular");
    in_place((int64_t[]){9, 300, 260, 1}, tess_f32, &random, "transpose/inplace_rectangular"); /* matrices enough for a thread each */
    in_place((int64_t[]){3, 200, 300, 3}, tess_u8, &random, "transpose/inplace_rectangular");
    in_place((int64_t[]){2, 90, 70, 5}, tess_f32, &random, "transpose/inplace_rectangular");
    in_place((int64_t[]){2, 300, 7, 100}, tess_f64, &random, "transpose/inplace_rectangular");
}

static void in_place_plans(void **state) {
    (void)state;
    float data[2][3 * 4], other[12];
    DLTensor in = tess_view(data, tess_f32, 3, (int64_t[]){2, 3, 4}, NULL), out = tess_view(data, tess_f32, 3, (int64_t[]){2, 4, 3}, NULL);
    static const int batch[] = {0, 2, 1}, reversed[] = {2, 1, 0}, same[] = {0, 1, 2};
    tess_transpose_options options = {.struct_size = sizeof options, .perm = batch, .nperm = 3};
    tess_plan *plan;
    assert_tess_ok(tess_plan_transpose(&plan, NULL, &in, &out, &options));
    assert_tess_fails(tess_execute(plan, data, NULL, other, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_execute(plan, data, NULL, NULL, NULL), TESS_ERR_ARGUMENT);
    for (int i = 0; i < 24; i++)
        data[i / 12][i % 12] = (float)i;
    assert_tess_ok(tess_execute(plan, data, NULL, data, NULL));
    assert_true(data[0][1] == 4 && data[0][3] == 1 && data[1][1] == 16);
    tess_plan_free(plan);
    /* Three groups that move, a layout with gaps, another first element. */
    DLTensor turned = tess_view(data, tess_f32, 3, (int64_t[]){4, 3, 2}, NULL);
    options.perm = reversed;
    assert_tess_fails(tess_transpose(NULL, &in, &turned, &options), TESS_ERR_OVERLAP);
    DLTensor gaps = tess_view(data, tess_f32, 2, (int64_t[]){3, 3}, (int64_t[]){4, 1}),
             out3 = tess_view(data, tess_f32, 2, (int64_t[]){3, 3}, (int64_t[]){4, 1});
    assert_tess_fails(tess_transpose(NULL, &gaps, &out3, NULL), TESS_ERR_OVERLAP);
    options.perm = same;
    options.nperm = 2;
    float kept[24];
    memcpy(kept, data, sizeof kept);
    assert_tess_ok(tess_transpose(NULL, &gaps, &out3, &options)); /* nothing moves */
    assert_memory_equal(kept, data, sizeof kept);
    DLTensor shifted = tess_view(&data[0][1], tess_f32, 2, (int64_t[]){3, 3}, NULL), square = tess_view(data, tess_f32, 2, (int64_t[]){3, 3}, NULL);
    assert_tess_fails(tess_transpose(NULL, &square, &shifted, NULL), TESS_ERR_OVERLAP);
    /* Planned elsewhere, run in place. */
    DLTensor nowhere = tess_view(NULL, tess_f32, 2, (int64_t[]){3, 3}, NULL);
    assert_tess_ok(tess_plan_transpose(&plan, NULL, &nowhere, &nowhere, NULL));
    assert_tess_fails(tess_execute(plan, data, NULL, data, NULL), TESS_ERR_OVERLAP);
    assert_tess_ok(tess_execute(plan, data, NULL, other, NULL));
    tess_plan_free(plan);
}

/* The header's bound on scratch for rectangles in place. */
static void scratch_is_bounded(void **state) {
    (void)state;
    uint64_t random = 18;
    char byte;
    tess_context *context;
    tess_context_options one = {.struct_size = sizeof one, .threads = 1};
    assert_tess_ok(tess_open(&context, &one));
    for (int round = 0; round < 300; round++) {
        int64_t m = hostile_between(&random, 1, 1 << hostile_between(&random, 1, 20)),
                n = hostile_between(&random, 1, 1 << hostile_between(&random, 1, 20));
        int64_t run = hostile_between(&random, 1, 1 << hostile_between(&random, 0, 12));
        DLTensor in = tess_view(&byte, sized[round % 5], 3, (int64_t[]){m, n, run}, NULL),
                 out = tess_view(&byte, sized[round % 5], 3, (int64_t[]){n, m, run}, NULL);
        static const int perm[] = {1, 0, 2};
        tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = 3};
        tess_plan *plan;
        assert_tess_ok(tess_plan_transpose(&plan, context, &in, &out, &options)); /* never executed: the memory is not there */
        const double matrix = (double)m * (double)n * (double)run * (double)tess_type_size(sized[round % 5]), each = matrix / 256;
        const double bound = matrix <= 1 << 18 ? matrix + 64 : matrix / 7 + (1 << 20) + (each > 4 << 20 ? each : 4 << 20);
        assert_true((double)tess_plan_workspace(plan) <= bound);
        if (m == n)
            assert_int_equal(tess_plan_workspace(plan), 0);
        tess_plan_free(plan);
    }
    tess_close(context);
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
        cmocka_unit_test(random_layouts),   cmocka_unit_test(edges_of_tiles),     cmocka_unit_test(runs_of_three),
        cmocka_unit_test(large_results),    cmocka_unit_test(tiles_left_over),    cmocka_unit_test(rows_that_share_sets),
        cmocka_unit_test(batches_reversed), cmocka_unit_test(pixels_and_planes),  cmocka_unit_test(broadcast_and_long_inputs),
        cmocka_unit_test(rank_64),          cmocka_unit_test(in_place_squares),   cmocka_unit_test(in_place_rectangles),
        cmocka_unit_test(in_place_plans),   cmocka_unit_test(scratch_is_bounded), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

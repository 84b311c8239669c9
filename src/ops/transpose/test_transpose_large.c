/* SPDX-License-Identifier: Apache-2.0
 * test_transpose_large.c - proves that results which go past the caches have every byte in its place and nothing beside it: rows that begin at lines and anywhere, the
 * ends of tiles, bands and groups, batches in another order, for every instruction set and all element sizes. */
#include "core/maker.h"
#include "ops/transpose/relay.h"
#include "transpose_contexts.h"

/* Two blocks of memory of which out's is to become the other, elements, gaps and what lies around them. */
typedef struct blocks {
    char *in, *out, *expected;
    int64_t size, bytes; /* of an element, of out and expected */
} blocks;

/* Random elements; no byte of expected is an element yet. */
static blocks begin(uint64_t *random, int64_t size, int64_t elements, int64_t bytes) {
    const int64_t in_bytes = (elements * size + 63) / 64 * 64, out_bytes = (bytes + 63) / 64 * 64;
    blocks b = {aligned_alloc(64, (size_t)in_bytes), aligned_alloc(64, (size_t)out_bytes), malloc((size_t)bytes), size, bytes};
    assert_true(b.in && b.out && b.expected);
    for (int64_t i = 0; i < in_bytes; i += 8) {
        uint64_t bits = hostile_random(random);
        memcpy(b.in + i, &bits, 8);
    }
    memset(b.expected, HOSTILE_POISON, (size_t)bytes);
    return b;
}
static void expect(blocks *b, int64_t out_byte, int64_t in_element) {
    hostile_set(b->expected + out_byte, b->in + in_element * b->size, (int)b->size);
}

/* Transposed on every context, as on a Zen 3, 4 and 5, which have ways of their own (core/maker.h), with every byte of out compared. */
static void end(blocks *b, const DLTensor *from, const DLTensor *to, tess_transpose_options options) {
    options.struct_size = sizeof options;
    for (int n = 0; n < 3 * context_count; n++) {
        const int c = n % context_count;
        tess_cpu_pretend_zen(3 + n / context_count);
        memset(b->out, HOSTILE_POISON, (size_t)b->bytes);
        assert_tess_ok(tess_transpose(contexts[c], from, to, &options));
        if (memcmp(b->out, b->expected, (size_t)b->bytes) == 0)
            continue;
        int64_t at = 0;
        while (b->out[at] == b->expected[at])
            at++;
        fail_msg("%s, context %d, %lld x %lld of %lld bytes: byte %lld of out differs", options.call.strategy, c, (long long)from->shape[0],
                 (long long)from->shape[1], (long long)b->size, (long long)(at - (int64_t)to->byte_offset));
    }
    free(b->in);
    free(b->out);
    free(b->expected);
}

/* rows x columns turned by one strategy, out `offset` bytes behind a line, on every context. back: each row of in from its end on. */
static void turned_from(uint64_t *random, tess_type type, int64_t rows, int64_t columns, int offset, const char *strategy, bool back) {
    const int64_t size = (int64_t)tess_type_size(type), strides[] = {columns, back ? -1 : 1};
    blocks b = begin(random, size, rows * columns, rows * columns * size + 128);
    DLTensor from = tess_view(b.in, type, 2, (int64_t[]){rows, columns}, (int64_t *)(uintptr_t)strides),
             to = tess_view(b.out, type, 2, (int64_t[]){columns, rows}, NULL);
    from.byte_offset = back ? (uint64_t)((columns - 1) * size) : 0;
    to.byte_offset = (uint64_t)offset;
    for (int64_t i = 0; i < columns; i++)
        for (int64_t j = 0; j < rows; j++)
            expect(&b, offset + (i * rows + j) * size, j * columns + (back ? columns - 1 - i : i));
    end(&b, &from, &to, (tess_transpose_options){.call.strategy = strategy});
}
static void turned(uint64_t *random, tess_type type, int64_t rows, int64_t columns, int offset, const char *strategy) {
    turned_from(random, type, rows, columns, offset, strategy, false);
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
        turned_from(&random, sized[t], side[t], side[t] - 5, 0, "transpose/tiles", true);
        turned_from(&random, sized[t], side[t] + 37, side[t] + 101, 3, "transpose/tiles", true);
    }
}

/* Runs that are cut, of any length, on their way past the caches. */
static void long_runs(void **state) {
    (void)state;
    static const int kept[] = {1, 0, 2};
    uint64_t random = 19;
    for (int t = 0; t < 5; t++) {
        const int64_t size = (int64_t)tess_type_size(sized[t]), run = (3 << 19) / size + 1 + 100 * t, offset = t % 2 ? 3 : 0, runs = 6;
        int64_t shape[] = {2, 3, run}, out_shape[] = {3, 2, run};
        assert_true(runs * run * size >= 8 << 20);
        blocks b = begin(&random, size, runs * run, runs * run * size + 128);
        DLTensor from = tess_view(b.in, sized[t], 3, shape, NULL), to = tess_view(b.out, sized[t], 3, out_shape, NULL);
        to.byte_offset = (uint64_t)offset;
        for (int64_t i = 0; i < runs; i++)
            memcpy(b.expected + offset + (i % 3 * 2 + i / 3) * run * size, b.in + i * run * size, (size_t)(run * size));
        end(&b, &from, &to, (tess_transpose_options){.perm = kept, .nperm = 3, .call.strategy = "transpose/runs"});
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
            if (hostile_spared(t + k, 6))
                continue;
            const int64_t size = (int64_t)tess_type_size(sized[t]), left = beside[k % TESS_COUNT(beside)] / size;
            const int64_t rows = lines[k] * 64 / size + left, columns = (4 << 20) / (rows * size) + 1 + 7 * k;
            turned(&random, sized[t], rows, columns, left == 0 ? 0 : k % 2 ? 0 : 5, "transpose/tiles");
        }
    for (int t = 0; t < 5; t++) {
        const int64_t size = (int64_t)tess_type_size(sized[t]), rows = 37 * 64 / size - 3 / size - 1, columns = 1791, pitch = 37 * 64 / size;
        blocks b = begin(&random, size, rows * columns, columns * pitch * size);
        int64_t strides[] = {pitch, 1};
        DLTensor from = tess_view(b.in, sized[t], 2, (int64_t[]){rows, columns}, NULL),
                 to = tess_view(b.out, sized[t], 2, (int64_t[]){columns, rows}, strides);
        for (int64_t i = 0; i < columns; i++)
            for (int64_t j = 0; j < rows; j++)
                expect(&b, (i * pitch + j) * size, j * columns + i);
        end(&b, &from, &to, (tess_transpose_options){.call.strategy = "transpose/tiles"});
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
            int64_t shape[] = {q, 5, rest, 6, p}, turned_shape[] = {p, 6, rest, 5, q}, bytes = q * 30 * rest * p * size, at = 0;
            assert_true(bytes >= 4 << 20);
            blocks b = begin(&random, size, bytes / size, bytes);
            DLTensor from = tess_view(b.in, sized[t], 5, shape, NULL), to = tess_view(b.out, sized[t], 5, turned_shape, NULL);
            for (int64_t e = 0; e < p; e++)
                for (int64_t d = 0; d < 6; d++)
                    for (int64_t c = 0; c < rest; c++)
                        for (int64_t a = 0; a < 5; a++)
                            for (int64_t i = 0; i < q; i++, at += size)
                                expect(&b, at, (((i * 5 + a) * rest + c) * 6 + d) * p + e);
            end(&b, &from, &to, (tess_transpose_options){.perm = reversed, .nperm = 5, .call.strategy = "transpose/tiles"});
        }
}

/* Larger than the third-level cache: blocks by way of buffers (cpu_relay.c), with rows and columns left over, rows of in read from their end, rows of out with gaps
 * between them; and a batch in another order, of bands that end where the next matrix begins. */
static void by_way_of_buffers(void **state) {
    (void)state;
    uint64_t random = 43;
    const int threads = tess_threads(contexts[0]);
    for (int t = 2; t < 5; t++) {
        for (int c = 0; c < context_count; c++)
            assert_tess_ok(tess_set_threads(contexts[c], t < 4 ? 1 : 2)); /* elements of 16 bytes alone go so by several threads */
        const int64_t size = (int64_t)tess_type_size(sized[t]), line = 64 / size, rows = 2 * RELAY_ROWS + line + 5,
                      pitch = (rows + line - 1) / line * line, columns = RELAY_LEAST / (rows * size) + 1 + 3 * (128 / size) / 2;
        blocks b = begin(&random, size, rows * columns, columns * pitch * size);
        const int64_t strides[] = {columns, -1}, apart[] = {pitch, 1};
        DLTensor from = tess_view(b.in, sized[t], 2, (int64_t[]){rows, columns}, (int64_t *)(uintptr_t)strides),
                 to = tess_view(b.out, sized[t], 2, (int64_t[]){columns, rows}, (int64_t *)(uintptr_t)apart);
        from.byte_offset = (uint64_t)((columns - 1) * size);
        for (int64_t i = 0; i < columns; i++)
            for (int64_t j = 0; j < rows; j++)
                expect(&b, (i * pitch + j) * size, j * columns + columns - 1 - i);
        end(&b, &from, &to, (tess_transpose_options){.call.strategy = "transpose/tiles"});

        static const int order[] = {2, 0, 3, 1};
        const int64_t q = RELAY_ROWS + 16, p = RELAY_LEAST / (2 * 3 * q * size) + 9;
        assert_true(p * size >= RELAY_ROW);
        b = begin(&random, size, 2 * 3 * q * p, 2 * 3 * q * p * size);
        from = tess_view(b.in, sized[t], 4, (int64_t[]){3, q, 2, p}, NULL);
        to = tess_view(b.out, sized[t], 4, (int64_t[]){2, 3, p, q}, NULL);
        int64_t at = 0;
        for (int64_t c = 0; c < 2; c++)
            for (int64_t a = 0; a < 3; a++)
                for (int64_t i = 0; i < p; i++)
                    for (int64_t j = 0; j < q; j++, at += size)
                        expect(&b, at, ((a * q + j) * 2 + c) * p + i);
        end(&b, &from, &to, (tess_transpose_options){.perm = order, .nperm = 4, .call.strategy = "transpose/tiles"});
    }
    for (int c = 0; c < context_count; c++)
        assert_tess_ok(tess_set_threads(contexts[c], threads));
}

/* Groups of 2 to 16: whole vectors and what is left over of them, planes that begin anywhere in a line, results that stay in the caches and that do not. */
static void pixels_and_planes(void **state) {
    (void)state;
    uint64_t random = 19;
    static const int64_t planes[] = {1, 63, 4096, 4159, 70001, 4200064, 4300007}; /* bytes; from 4 MiB on in all a result goes past the caches */
    for (int t = 0; t < 5; t++)
        for (int64_t group = 2; group <= 16; group++)
            for (int k = 0; k < TESS_COUNT(planes); k++) {
                const int64_t n =
                    planes[k] / (int64_t)tess_type_size(sized[t]) / (k > 4 ? group : 1) + 17; /* more than a group, which is the short axis */
                if (group > 4 && (k == 2 || (k > 4 && (k + group + t) % 4 != 1)))             /* each takes a second */
                    continue;
                if (hostile_spared(t + group + k, 6))
                    continue;
                turned(&random, sized[t], n, group, k % 3, "transpose/groups");
                turned(&random, sized[t], group, n, k % 3, "transpose/groups");
            }
}

/* n x h x w x c to c x n x w x h, and back: blocks of groups by planes, with rows and columns left over; long groups, whose blocks are lower and narrower. */
static void pictures_turned(void **state) {
    (void)state;
    static const int apart[] = {3, 0, 2, 1}, together[] = {1, 3, 2, 0};
    static const int64_t sides[][3] = {{2, 67, 131}, {1, 300, 517}, {3, 5, 1031}, {1, 1030, 9}};
    uint64_t random = 47;
    for (int t = 0; t < 5; t++)
        for (int64_t group = 2; group <= 16; group++) {
            if (hostile_spared(t + group, 4))
                continue;
            const int64_t *side = sides[(t + group) % TESS_COUNT(sides)], n = side[0], h = side[1], w = side[2],
                          size = (int64_t)tess_type_size(sized[t]);
            const int64_t count = n * h * w * group, offset = group % 3 * size;
            int64_t pixels[] = {n, h, w, group}, planes[] = {group, n, w, h};
            blocks b = begin(&random, size, count, count * size + 128), back = begin(&random, size, count, count * size + 128);
            for (int64_t c = 0, at = 0; c < group; c++)
                for (int64_t a = 0; a < n; a++)
                    for (int64_t x = 0; x < w; x++)
                        for (int64_t y = 0; y < h; y++, at++) {
                            const int64_t pixel = ((a * h + y) * w + x) * group + c;
                            expect(&b, offset + at * size, pixel);
                            expect(&back, offset + pixel * size, at);
                        }
            DLTensor from = tess_view(b.in, sized[t], 4, pixels, NULL), to = tess_view(b.out, sized[t], 4, planes, NULL);
            to.byte_offset = (uint64_t)offset;
            end(&b, &from, &to, (tess_transpose_options){.perm = apart, .nperm = 4, .call.strategy = "transpose/turned_groups"});
            from = tess_view(back.in, sized[t], 4, planes, NULL);
            to = tess_view(back.out, sized[t], 4, pixels, NULL);
            to.byte_offset = (uint64_t)offset;
            end(&back, &from, &to, (tess_transpose_options){.perm = together, .nperm = 4, .call.strategy = "transpose/turned_groups"});
        }
}

/* Short runs whose rows change places, (1, 0, 2): rows of out that begin at lines, or anywhere, so that ends of lines wait from one piece of a row to the next. */
static void short_runs(void **state) {
    (void)state;
    uint64_t random = 37;
    static const struct {
        tess_type type;
        int64_t rows, columns, run;
        int offset;
    } cases[] = {{tess_u8, 1728, 1700, 3, 0}, {tess_u8, 1701, 1703, 3, 5}, {tess_u8, 1701, 1728, 3, 0}, {tess_u8, 1100, 1111, 7, 1},
                 {tess_f32, 848, 849, 3, 0},  {tess_f32, 851, 848, 3, 2},  {tess_i16, 601, 603, 13, 0}};
    static const int swapped[] = {1, 0, 2};
    for (int k = 0; k < TESS_COUNT(cases); k++) {
        const int64_t rows = cases[k].rows, columns = cases[k].columns, run = cases[k].run, size = (int64_t)tess_type_size(cases[k].type);
        assert_true(rows * columns * run * size >= 8 << 20);
        blocks b = begin(&random, size, rows * columns * run, rows * columns * run * size + 128);
        DLTensor from = tess_view(b.in, cases[k].type, 3, (int64_t[]){rows, columns, run}, NULL),
                 to = tess_view(b.out, cases[k].type, 3, (int64_t[]){columns, rows, run}, NULL);
        to.byte_offset = (uint64_t)cases[k].offset;
        for (int64_t i = 0; i < columns; i++)
            for (int64_t j = 0; j < rows; j++)
                for (int64_t e = 0; e < run; e++)
                    expect(&b, cases[k].offset + ((i * rows + j) * run + e) * size, (j * columns + i) * run + e);
        end(&b, &from, &to, (tess_transpose_options){.perm = swapped, .nperm = 3, .call.strategy = "transpose/runs"});
    }
}

/* Past the caches, rows picked from in: each k-th element, from the end on or not, and c beside it, to planes that begin anywhere. */
static void picks(void **state) {
    (void)state;
    uint64_t random = 41;
    static const int planes[] = {2, 0, 1};
    static const int64_t steps[] = {1, 2, 3, 5, 7}, beside[] = {1, 1, 2, 5, 3};
    for (int t = 0; t < 5; t++)
        for (int k = 0; k < TESS_COUNT(steps); k++) {
            const int64_t size = (int64_t)tess_type_size(sized[t]), step = steps[k], c = beside[k], rows = 3,
                          n = (4 << 20) / (size * rows * c) + 29 + k, pitch = n * step + c, offset = k % 3;
            const bool back = (k + t) % 2 == 0;
            if (size * step > 64)
                continue;
            blocks b = begin(&random, size, rows * pitch, rows * n * c * size + 128);
            const int64_t strides[] = {pitch, back ? -step : step, 1};
            DLTensor from = tess_view(b.in, sized[t], 3, (int64_t[]){rows, n, c}, (int64_t *)(uintptr_t)strides),
                     to = tess_view(b.out, sized[t], 3, (int64_t[]){c, rows, n}, NULL);
            from.byte_offset = back ? (uint64_t)((n - 1) * step * size) : 0;
            to.byte_offset = (uint64_t)offset;
            for (int64_t e = 0; e < c; e++)
                for (int64_t r = 0; r < rows; r++)
                    for (int64_t i = 0; i < n; i++)
                        expect(&b, offset + ((e * rows + r) * n + i) * size, r * pitch + (back ? n - 1 - i : i) * step + e);
            end(&b, &from, &to, (tess_transpose_options){.perm = planes, .nperm = 3, .call.strategy = "transpose/picks"});
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_results),     cmocka_unit_test(long_runs),
        cmocka_unit_test(tiles_left_over),   cmocka_unit_test(rows_that_share_sets),
        cmocka_unit_test(batches_reversed),  cmocka_unit_test(by_way_of_buffers),
        cmocka_unit_test(pixels_and_planes), cmocka_unit_test(pictures_turned),
        cmocka_unit_test(short_runs),        cmocka_unit_test(picks),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}

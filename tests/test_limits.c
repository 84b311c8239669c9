/* SPDX-License-Identifier: Apache-2.0
 * test_limits.c - single passes of the loops behind the limits: each gives a rate, reads and writes what it says and nothing beside it, and bad arguments are sentences. */
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

enum { LAST = TESS_LIMIT_F64_FLOPS, SIZE = 64 << 20, EDGE = 4096 };

static void every_limit_has_a_rate(void **state) {
    (void)state;
    tess_context *context;
    char *block = malloc(2 * SIZE);
    assert_non_null(block);
    memset(block, 1, 2 * SIZE);
    for (int threads = 1; threads <= 2; threads++) {
        assert_tess_ok(tess_open(&context, &(tess_context_options){.struct_size = sizeof(tess_context_options), .threads = threads}));
        for (int what = 0; what <= LAST; what++) {
            double rate = 0;
            bool random = what == TESS_LIMIT_RANDOM_READS, flops = what >= TESS_LIMIT_F32_FLOPS;
            char *aligned = block + (-(uintptr_t)block & 63);
            assert_tess_ok(tess_time_limit(context, (tess_limit)what, flops ? NULL : aligned + SIZE / 2, flops ? NULL : aligned,
                                           flops    ? 0
                                           : random ? SIZE
                                                    : SIZE / 2,
                                           &rate));
            assert_true(rate > 1e6 && rate < 1e15);
        }
        tess_close(context);
    }
    free(block);
}

/* Arrays that begin anywhere, with sizes that are no whole number of pages, between bytes that must stay. */
static void passes_stay_inside(void **state) {
    (void)state;
    static const tess_limit writes[] = {TESS_LIMIT_WRITE, TESS_LIMIT_PLAIN_WRITE, TESS_LIMIT_COPY, TESS_LIMIT_PLAIN_COPY};
    static const size_t sizes[] = {4096 + 63, 3 * 4096 + 1000, (4 << 20) + 5 * 4096, 9 << 20};
    for (int k = 0; k < 4; k++)
        for (int t = 0; t < 4; t++)
            for (size_t shift = 0; shift < 64; shift += 21) {
                size_t bytes = sizes[t] + EDGE;
                char *to = malloc(bytes + 2 * EDGE), *from = malloc(bytes);
                double rate;
                assert_true(to && from);
                memset(to, 0x5a, bytes + 2 * EDGE);
                for (size_t i = 0; i < bytes; i++)
                    from[i] = (char)(i * 7 + 1);
                assert_tess_ok(tess_time_limit(NULL, writes[k], to + EDGE + shift, from, sizes[t], &rate));
                for (size_t i = 0; i < EDGE; i++)
                    assert_true(to[i] == 0x5a && to[EDGE + shift + sizes[t] + i] == 0x5a);
                char *first = to + EDGE + shift, *source = from + (-(uintptr_t)from & 63);
                first += -(uintptr_t)first & 63;
                if (k >= 2) /* what was copied is the source */
                    assert_memory_equal(first, source, 4096);
                else
                    assert_memory_not_equal(first, "\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a", 8);
                free(to);
                free(from);
            }
}

static void bad_arguments(void **state) {
    (void)state;
    static _Alignas(64) char array[8192];
    double rate = 7;
    assert_tess_fails(tess_time_limit(NULL, (tess_limit)-1, array, array, sizeof array, &rate), TESS_ERR_ARGUMENT);
    assert_true(rate == 0); /* what a failing call would have returned is 0 */
    tess_limits limits = {.struct_size = sizeof limits, .threads = 7, .read_bytes_per_s = 7};
    assert_tess_fails(tess_measure_limits(NULL, -1, &limits), TESS_ERR_ARGUMENT);
    assert_true(limits.struct_size == sizeof limits && limits.threads == 0 && limits.read_bytes_per_s == 0);
    assert_tess_fails(tess_time_limit(NULL, (tess_limit)(LAST + 1), array, array, sizeof array, &rate), TESS_ERR_ARGUMENT);
    assert_non_null(strstr(tess_detail(), "what is 10, the limits are 0 and 9"));
    assert_tess_fails(tess_time_limit(NULL, TESS_LIMIT_COPY, array, NULL, sizeof array, &rate), TESS_ERR_ARGUMENT);
    assert_string_equal(tess_detail(), "from is NULL");
    assert_tess_fails(tess_time_limit(NULL, TESS_LIMIT_WRITE, NULL, array, sizeof array, &rate), TESS_ERR_ARGUMENT);
    assert_string_equal(tess_detail(), "to is NULL");
    assert_tess_fails(tess_time_limit(NULL, TESS_LIMIT_READ, NULL, array, sizeof array, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_time_limit(NULL, TESS_LIMIT_READ, NULL, array, 4095, &rate), TESS_ERR_SIZE);
    assert_tess_fails(tess_time_limit(NULL, TESS_LIMIT_READ, NULL, array + 1, 4096, &rate), TESS_ERR_SIZE);
    assert_tess_ok(tess_time_limit(NULL, TESS_LIMIT_READ, NULL, array, 4096, &rate));
    assert_tess_fails(tess_time_limit(NULL, TESS_LIMIT_RANDOM_READS, NULL, array, sizeof array, &rate), TESS_ERR_SIZE);
    assert_tess_fails(tess_time_limit(NULL, TESS_LIMIT_CACHED_READ, NULL, array, sizeof array, &rate), TESS_ERR_SIZE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_limit_has_a_rate), cmocka_unit_test(passes_stay_inside),
                                       cmocka_unit_test(bad_arguments)};
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}

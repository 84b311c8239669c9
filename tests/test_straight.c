/* SPDX-License-Identifier: Apache-2.0
 * test_straight.c - proves: elements that lie apart, backwards or on each other come out one after the other as they are, of every size and step, at odd addresses, of
 * every length around those of pieces and vectors, on every instruction set; what lies between them and behind the row is neither needed nor touched. */
#include "hostile.h"

#include <sys/mman.h>

#include "core/cpu.h"
#include "core/straight.h"

enum { PAGE = 1 << 16, ROOM = 4 * PAGE }; /* a page of any machine */

/* Elements between two pages that cannot be read: one byte too far on either side ends the test. */
static void every_step(void **state) {
    (void)state;
    static const int64_t steps[] = {-7, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17},
                         lengths[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 127, 200, 513, 1030, 2100};
    char *fenced = mmap(NULL, ROOM + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(fenced != MAP_FAILED);
    assert_int_equal(mprotect(fenced, PAGE, PROT_NONE), 0);
    assert_int_equal(mprotect(fenced + PAGE + ROOM, PAGE, PROT_NONE), 0);
    char *low = fenced + PAGE, *to = malloc(16 * 2200), *expected = malloc(16 * 2200);
    uint64_t random = 1;
    for (int64_t i = 0; i < ROOM; i++)
        low[i] = (char)hostile_random(&random);
    for (int slot = 0; slot < TESS_SLOTS; slot++)
        for (int64_t size = 1; tess_cpu_has_slot((tess_isa_slot)slot) && size <= 16; size *= 2)
            for (int s = 0; s <= TESS_COUNT(steps); s++)
                for (int l = 0; l < TESS_COUNT(lengths); l++)
                    for (int at_end = 0; at_end < 2; at_end++) {
                        const int64_t n = lengths[l],
                                      stride = s < TESS_COUNT(steps) ? steps[s] * size : 2 * size + 1; /* no whole number of elements */
                        const int64_t reach = n > 0 ? (n - 1) * llabs(stride) + size : 0;
                        if (reach > ROOM)
                            continue;
                        const char *first = at_end ? low + ROOM - reach : low, *from = stride < 0 && n > 0 ? first + reach - size : first;
                        memset(to, HOSTILE_POISON, 16 * 2200);
                        memset(expected, HOSTILE_POISON, 16 * 2200);
                        for (int64_t i = 0; i < n; i++)
                            memcpy(expected + 1 + i * size, from + i * stride, (size_t)size);
                        tess_straightener_for((tess_isa_slot)slot, size)(to + 1, from, stride, n);
                        if (memcmp(to, expected, 16 * 2200) != 0)
                            fail_msg("%s: %lld elements of %lld bytes, %lld bytes apart", tess_slot_name((tess_isa_slot)slot), (long long)n,
                                     (long long)size, (long long)stride);
                    }
    free(to);
    free(expected);
    munmap(fenced, ROOM + 2 * PAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

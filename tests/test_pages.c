/* SPDX-License-Identifier: Apache-2.0
 * test_pages.c - whether an array lies in huge pages (core/pages.h): never of ordinary ones, of huge ones where the kernel says so itself; and that extremes and their
 * places are the same in both. */
#define MOST_BYTES ((size_t)20 << 20)
#include <sys/mman.h>

#include "hostile.h"

#include "core/pages.h"

enum { HUGE_PAGE = 2 << 20 };

static char *mapped(bool huge) {
    char *p = mmap(NULL, MOST_BYTES + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    p += -(uintptr_t)p & (HUGE_PAGE - 1);
    madvise(p, MOST_BYTES, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    for (size_t i = 0; i < MOST_BYTES; i += 4096)
        p[i] = 1;
    return p;
}

/* AnonHugePages of the mapping that p lies in, in bytes; -1: not to be had. */
static long long anonymous_huge(const char *p) {
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[256];
    unsigned long long from, to, amount;
    bool here = false;
    long long found = -1;
    while (file && found < 0 && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
            here = (uintptr_t)p >= from && (uintptr_t)p < to;
        else if (here && sscanf(line, "AnonHugePages: %llu", &amount) == 1)
            found = (long long)amount * 1024;
    }
    if (file)
        fclose(file);
    return found;
}

static void kinds_of_pages(void **state) {
    char *ordinary = mapped(false), *huge = mapped(true);
    (void)state;
    assert_false(tess_in_huge_pages(ordinary, MOST_BYTES));
    assert_false(tess_in_huge_pages(huge, 4096)); /* too few to look at */
    const long long there = anonymous_huge(huge + MOST_BYTES / 2);
    const bool says = tess_in_huge_pages(huge, MOST_BYTES);
    if (there == 0)
        assert_false(says);
    print_message("note: %lld of %zu bytes are in huge pages, and the kernel %s\n", there, MOST_BYTES, says ? "says so" : "does not say it");
    madvise(huge + MOST_BYTES / 2 / HUGE_PAGE * HUGE_PAGE, HUGE_PAGE, MADV_DONTNEED); /* a hole where a sample lies */
    assert_false(tess_in_huge_pages(huge, MOST_BYTES));
}

/* Greatest, least and their places of integers: in both kinds of pages, near the end of an array that is long enough to be looked at. */
static void same_results(void **state) {
    static const tess_reduction operations[] = {TESS_MAX, TESS_MIN, TESS_ARGMAX, TESS_ARGMIN};
    tess_context *context;
    (void)state;
    assert_tess_ok(tess_open(&context, NULL));
    for (int huge = 0; huge < 2; huge++) {
        int32_t *in = (int32_t *)(void *)mapped(huge);
        int64_t n = (int64_t)(MOST_BYTES / sizeof *in) - 3;
        for (int64_t i = 0; i < n; i++)
            in[i] = (int32_t)(i * 2654435761u % 1000003) - 500000;
        in[n - 2] = INT32_MAX - 1;
        in[n - 77] = in[n - 5] = INT32_MIN;
        for (int o = 0; o < (int)TESS_COUNT(operations); o++) {
            const bool place = operations[o] == TESS_ARGMAX || operations[o] == TESS_ARGMIN;
            int64_t at = -1;
            int32_t value = 0;
            DLTensor from = tess_view(in, tess_i32, 1, &n, NULL);
            DLTensor to = place ? tess_view(&at, tess_i64, 0, NULL, NULL) : tess_view(&value, tess_i32, 0, NULL, NULL);
            assert_tess_ok(tess_reduce(context, operations[o], &from, &to, NULL));
            if (place)
                assert_int_equal(at, operations[o] == TESS_ARGMAX ? n - 2 : n - 77);
            else
                assert_int_equal(value, operations[o] == TESS_MAX ? INT32_MAX - 1 : INT32_MIN);
        }
    }
    tess_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds_of_pages), cmocka_unit_test(same_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 * pages.c - whether an array lies in huge pages, by the kernel's own word.
 *
 * Loops over ordinary pages ask for a page to come, so that its translation is at hand (simd/touch.h); over huge pages some of them lose 3 to 4 % by that. The
 * kernel says which pages are huge since Linux 6.7: ioctl PAGEMAP_SCAN on /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst). Its structures are
 * spelt out here, since headers of distributions are older than their kernels. */
#include "core/pages.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#if defined(__linux__)
/* struct pm_scan_arg and struct page_region of linux/fs.h. */
typedef struct scan {
    uint64_t size, flags, start, end, walk_end, regions, region_count, most_pages;
    uint64_t inverted, wanted, any_wanted, returned;
} scan;
typedef struct region {
    uint64_t start, end, categories;
} region;
enum { HUGE = 1 << 6 };

static bool huge(int file, uintptr_t from, uintptr_t to) {
    region found = {0};
    scan s = {.size = sizeof s, .start = from, .end = to, .regions = (uintptr_t)&found, .region_count = 1, .wanted = HUGE, .returned = HUGE};
    return ioctl(file, _IOWR('f', 16, scan), &s) == 1 && found.start <= from && found.end >= to;
}

bool tess_in_huge_pages(const void *p, size_t bytes) {
    enum { PAGE = 4096, SAMPLES = 3 };
    const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool all = file >= 0 && bytes >= 2 * PAGE;
    for (size_t i = 1; all && i <= SAMPLES; i++) {
        const uintptr_t page = ((uintptr_t)p + bytes / (SAMPLES + 1) * i) / PAGE * PAGE;
        all = huge(file, page, page + PAGE);
    }
    if (file >= 0)
        close(file);
    return all;
}
#else
bool tess_in_huge_pages(const void *p, size_t bytes) {
    (void)p;
    (void)bytes;
    return false;
}
#endif

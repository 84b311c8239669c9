/* SPDX-License-Identifier: Apache-2.0
 * pages.h - whether an array lies in huge pages (pages.c). */
#ifndef TESS_CORE_PAGES_H
#define TESS_CORE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether three samples of the bytes from p on lie in huge pages. False where nobody can tell: before Linux 6.7, on other systems, where /proc is missing. Some
 * 15 microseconds: for arrays that take milliseconds. Nothing but the choice of what to ask for ahead may depend on it. */
bool tess_in_huge_pages(const void *p, size_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * status.h - failing with a sentence: tess_fail stores it for tess_detail and returns the status. */
#ifndef TESS_CORE_STATUS_H
#define TESS_CORE_STATUS_H

#include "core/base.h"

enum { TESS_DETAIL_SIZE = 2048 }; /* of a sentence with its 0; room for the log of a kernel compiler */

/* Returns status. The sentence names the argument, its value and the limit; no final full stop, no newline.
 * Who tries what may fail without failing itself copies tess_detail() before and puts it back with tess_fail(TESS_OK, "%s", copy). */
tess_status tess_fail(tess_status status, const char *format, ...) TESS_PRINTF(2, 3);

#define TESS_TRY(expression)                            \
    do {                                                \
        tess_status tess_try_status_ = (expression);    \
        if (TESS_UNLIKELY(tess_try_status_ != TESS_OK)) \
            return tess_try_status_;                    \
    } while (0)

/* Copies the caller's options over zeroed ones of our size, by struct_size. what: "correlate options". */
tess_status tess_options_copy(void *to, size_t size, const void *from, const char *what);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * wisdom.h - the shipped layer of wisdom: lines as `tessera tune` writes them, a comment line before each group naming machine and date; and the files of
 * the user's. */
#ifndef TESS_CORE_WISDOM_H
#define TESS_CORE_WISDOM_H

#include <limits.h>

#include "core/context.h"

extern const char tess_wisdom_shipped[];

enum { TESS_WISDOM_FILE_LIMIT = 16 << 20 }; /* bytes: a hundred thousand lines */

/* The user's path, in a caller's buffer; false when there is none (no home, or too long), for which no_default has the sentence. */
bool tess_wisdom_default_path(char *buffer, size_t size);
tess_status tess_wisdom_no_default(void);
/* The file's text, 0 at its end; *size is what to free. */
tess_status tess_wisdom_read_file(tess_context *context, const char *path, char **text, size_t *size);
/* Makes the folders above a file; what cannot be made shows when the file is written. */
void tess_wisdom_make_folder(const char *path);
/* The lock of the file's folder, to be closed; -1 where there is none to be had within a second: then writers go on without it. */
int tess_wisdom_lock_folder(const char *path);
/* A link's target in `path`, made where it is not there yet: the link stays, and folder and lock are those of the file that is written. */
tess_status tess_wisdom_resolve(const char **path, char target[PATH_MAX]);
/* Written beside and renamed; a character device in place. */
tess_status tess_wisdom_write_file(const char *path, const char *text, size_t length);

#endif

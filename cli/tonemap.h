/* SPDX-License-Identifier: Apache-2.0
 * tonemap.h - tables made from words, for the images that they index. */
#ifndef TESS_CLI_TONEMAP_H
#define TESS_CLI_TONEMAP_H

#include "io/io.h"

/* Whether the text is a tone map and not the name of a file: gamma:, invert, levels:, threshold:. */
bool cli_is_tonemap(const char *text);
/* A table with an entry for each value of `type` (u8 or u16). On failure the sentence points at the character. */
bool cli_tonemap(tess_io_array *table, const char *text, tess_type type, tess_io_message *message);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * transpose_contexts.h - what the tests of transposes run on: elements of every size, in the contexts of cpu_contexts.h. */
#ifndef TESS_TESTS_TRANSPOSE_CONTEXTS_H
#define TESS_TESTS_TRANSPOSE_CONTEXTS_H

#include "cpu_contexts.h"
#include "hostile.h"

#include "ops/transpose/transpose.h"

static const tess_type sized[] = {tess_u8, tess_f16, tess_f32, tess_c64, tess_c128}; /* 1, 2, 4, 8, 16 bytes */

#endif

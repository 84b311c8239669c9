/* SPDX-License-Identifier: Apache-2.0
 * strategies.c - the table: one row a strategy. */
#include "ops/transpose/transpose.h"
const tess_op tess_transpose_op = {.name = "transpose"};

/* SPDX-License-Identifier: Apache-2.0
 * strategies.c - the table: one row a strategy. */
#include "ops/reduce/reduce.h"
const tess_op tess_reduce_op = {.name = "reduce"};

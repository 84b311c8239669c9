/* SPDX-License-Identifier: Apache-2.0
 * strategies.c - the table: one row a strategy. */
#include "ops/correlate/correlate.h"
const tess_op tess_correlate_op = {.name = "correlate"};

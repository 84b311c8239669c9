/* SPDX-License-Identifier: Apache-2.0
 * strategies.c - the table: one row a strategy. */
#include "ops/lookup/lookup.h"
const tess_op tess_lookup_op = {.name = "lookup"};
